"""The random variable of a density, and what PyMC asks of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pymc.distributions import transforms
from pymc.distributions.continuous import bounded_cont_transform
from pymc.distributions.distribution import _support_point
from pymc.distributions.transforms import _default_transform
from pymc.logprob.abstract import _logccdf, _logcdf, _logprob
from pytensor.graph.basic import Variable
from pytensor.tensor.random.op import RandomVariable

from ..library import folder, library
from .built_in import BUILT_IN, between
from .evaluate import Formula
from .ops import LogDensity

#: PyMC's names where they are not the density's in CamelCase.
NAMES = {"mvnormal": "MvNormal", "ordered_logit": "OrderedLogistic"}
#: Parameters that bound the observation; those named lower and upper do without an entry.
BOUNDS = {"pareto": ("m", None)}
_CIRCULAR = {"von_mises"}


class DensityRV(RandomVariable):
    """The random variable of a density.

    Parameters
    ----------
    formula : Formula
    random : callable, optional
        ``random(rng, *parameters, size)``.
    signature : str, optional
        As NumPy writes it: ``"(),()->()"``.
    """

    __props__: Any = ("formula", "random", "signature", "dtype", "inplace")

    def __init__(
        self, formula: Formula, random: Callable | None = None, signature: str | None = None, dtype: str | None = None,
        inplace: bool = False,
    ):  # fmt: skip
        self.formula, self.random = formula, random
        camel = class_name(formula.name)
        self._print_name = (camel, rf"\operatorname{{{camel}}}")
        super().__init__(
            name=formula.name, signature=signature or signature_of(formula), inplace=inplace,
            dtype=dtype or ("int64" if formula.density.discrete else "floatX"),
        )  # fmt: skip

    def __str__(self) -> str:
        return f"DensityRV{{{self.name}}}"

    def rng_fn(self, rng: np.random.Generator, *args: Any) -> np.ndarray:
        *parameters, size = args
        ranks = self.formula.ranks[1:]
        if size is None:
            shapes = (np.shape(p)[: np.ndim(p) - r] for p, r in zip(parameters, ranks, strict=True))
            size = np.broadcast_shapes(*shapes)
        random = self.random
        if random is None and _is_built_in(self.formula):
            random = BUILT_IN[self.name].random
            parameters = [_as_cov(n, p) for n, p in zip(self.formula.names[1:], parameters, strict=True)]
        if random is None:
            raise NotImplementedError(
                f"no random draws of {self.name}: give a sampler, gpustats.pymc.distribution(density, "
                f"random=lambda rng, {', '.join(self.formula.names[1:])}, size: …)"
            )
        return random(rng, *(np.asarray(p, np.float64) for p in parameters), size=tuple(int(n) for n in size))


def _as_cov(name: str, matrix: Any) -> Any:
    if name == "scale_tril":
        return matrix @ np.swapaxes(matrix, -1, -2)
    return np.linalg.inv(matrix) if name == "precision" else matrix


@functools.lru_cache(1024)
def _is_built_in(formula: Formula) -> bool:
    """Whether it is the density that gpustats ships under this name, and not one that replaced it."""
    name = formula.name
    return name in library.built_in and formula.density.source == (folder() / f"{name}.cu").read_text(encoding="utf-8")


def signature_of(formula: Formula) -> str:
    """The axes of the parameters and of the observation that belong to one value, as NumPy writes them."""
    cores = ["()", "(d)", "(d,d)"]
    observation, *parameters = formula.ranks
    return f"{','.join(cores[r] for r in parameters)}->{cores[observation]}"


def class_name(name: str) -> str:
    """PyMC's name of a density: student_t -> StudentT."""
    return NAMES.get(name) or "".join(part.capitalize() for part in name.split("_"))


@_logprob.register(DensityRV)
def _logp(op: DensityRV, values: Sequence[Variable], rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return LogDensity(op.formula)(values[0], *params)


@_logcdf.register(DensityRV)
def _logcdf_of(op: DensityRV, value: Variable, rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return LogDensity(op.formula.of_kind("logcdf"))(value, *params)


@_logccdf.register(DensityRV)
def _logsf_of(op: DensityRV, value: Variable, rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return LogDensity(op.formula.of_kind("logsf"))(value, *params)


def _bounds(op: DensityRV) -> tuple[int | None, int | None]:
    """Which parameters are the lower and the upper bound of the observation."""
    names = op.formula.names[1:]
    lower, upper = (names.index(n) if n in names else None for n in BOUNDS.get(op.name, ("lower", "upper")))
    return lower, upper


@_default_transform.register(DensityRV)
def _transform(op: DensityRV, rv: Variable) -> Any:
    words = op.formula.words
    if op.formula.density.discrete:
        return None
    if op.name in _CIRCULAR:
        return transforms.circular
    bounds = _bounds(op)
    if bounds != (None, None):
        return bounded_cont_transform(op, rv, tuple(None if i is None else i + 2 for i in bounds))  # after rng and size
    if "simplex" in words:
        return transforms.simplex
    if "ordered" in words:
        return transforms.ordered
    chosen = transforms.log if words & {"positive", "nonnegative"} else transforms.logodds if "unit" in words else None
    return chosen if chosen is None or not op.formula.ranks[0] else _OverVectors(chosen)


class _OverVectors(transforms.Transform):
    """An elementwise transform of vectors: one log determinant for each."""

    def __init__(self, inner: Any):
        self.inner, self.name = inner, inner.name

    def forward(self, value: Any, *inputs: Any) -> Any:
        return self.inner.forward(value, *inputs)

    def backward(self, value: Any, *inputs: Any) -> Any:
        return self.inner.backward(value, *inputs)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        return self.inner.log_jac_det(value, *inputs).sum(axis=-1)


@_support_point.register(DensityRV)
def _point(op: DensityRV, rv: Variable, rng: Variable, size: Variable, *params: Any) -> Any:
    shape = op._infer_shape(size, params)
    if _is_built_in(op.formula):
        point = BUILT_IN[op.name].point(*params)
    else:
        ends = zip(_bounds(op), (-np.inf, np.inf), strict=True)
        lower, upper = (infinite if i is None else params[i] for i, infinite in ends)
        point = between(_point_of_domain(op.formula.words, shape[-1:]), lower, upper)
    return pt.broadcast_to(point, shape)


def _point_of_domain(words: frozenset[str], core: tuple) -> Any:
    """A point inside a domain."""
    if "simplex" in words:
        return pt.ones(core) / core[0]
    if "ordered" in words:
        return pt.arange(core[0]) - (core[0] - 1) / 2
    if "unit" in words:
        return pt.constant(1 if "integer" in words else 0.5)
    return pt.constant(1.0 if words & {"positive", "nonnegative"} else 0.0)
