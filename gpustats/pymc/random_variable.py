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

from ..draws.generator import as_generator
from ..language.kinds import DENSITY
from ..language.library import folder, library
from .evaluation.density import Evaluator, Formula
from .graph.ops import LogDensity
from .points import POINTS, between, of_domain

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
        ``random(rng, *parameters, size)``; by default the device draws.
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

    @property
    def _length(self) -> int | None:
        """That of a vector, where the parameters do not tell."""
        return next((int(n) for n in self.output_sig if n.isdigit()), None)

    def rng_fn(self, rng: np.random.Generator, *args: Any) -> np.ndarray:
        *parameters, size = args
        parameters = [np.asarray(p, np.float64) for p in parameters]
        if size is None:
            ranks = self.formula.ranks[1:]
            size = np.broadcast_shapes(*(p.shape[: p.ndim - r] for p, r in zip(parameters, ranks, strict=True)))
        size = tuple(int(n) for n in size)
        if self.random is not None:
            return self.random(rng, *parameters, size=size)
        try:
            return _evaluator(self.formula).draws(parameters, size, self._length, as_generator(rng))
        except NotImplementedError as error:
            raise NotImplementedError(f"{error}{self._hint()}") from None

    def _hint(self) -> str:
        """What else can be done where a density has no sampler."""
        return (
            "; or give a sampler in Python, gpustats.pymc.distribution(density, "
            f"random=lambda rng, {', '.join(self.formula.names[1:])}, size: …)"
        )


@functools.lru_cache(1024)
def _evaluator(formula: Formula) -> Evaluator:
    """What draws: one for equal formulas, which a worker of this process knows by then."""
    return formula.evaluator({})


@functools.lru_cache(1024)
def _is_built_in(formula: Formula) -> bool:
    """Whether it is the density that gpustats ships under this name, and not one that replaced it."""
    name = formula.name
    return name in library.built_in(DENSITY) and formula.density.source == (folder() / f"{name}.cu").read_text(encoding="utf-8")


def signature_of(formula: Formula) -> str:
    """The axes of the parameters and of the observation that belong to one value, as NumPy writes them."""
    return f"{','.join(formula.cores[1:])}->{formula.cores[0]}"


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


def bounds_of(formula: Formula) -> tuple[int | None, int | None]:
    """Which parameters are the lower and the upper bound of the observation."""
    names, called = formula.names[1:], BOUNDS.get(formula.density.name, ("lower", "upper"))
    lower, upper = (names.index(n) if n in names else None for n in called)
    return lower, upper


@_default_transform.register(DensityRV)
def default_transform(op: DensityRV, rv: Variable) -> Any:
    words = op.formula.words
    if op.formula.density.discrete:
        return None
    if op.formula.density.name in _CIRCULAR:
        return transforms.circular
    bounds = bounds_of(op.formula)
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
    return pt.broadcast_to(point_of(op.formula, params, shape[-1:]), shape)


def point_of(formula: Formula, parameters: Sequence[Any], core: tuple) -> Any:
    """A starting point, before it is broadcast; `core` is the shape of a vector."""
    if _is_built_in(formula):
        return POINTS[formula.name](*parameters)
    ends = zip(bounds_of(formula), (-np.inf, np.inf), strict=True)
    lower, upper = (infinite if i is None else parameters[i] for i, infinite in ends)
    return between(of_domain(formula.words, core), lower, upper)
