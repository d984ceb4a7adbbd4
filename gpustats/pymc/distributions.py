"""PyMC distributions of densities."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pymc.distributions import transforms
from pymc.distributions.continuous import bounded_cont_transform
from pymc.distributions.distribution import Continuous, Discrete, Distribution, _support_point
from pymc.distributions.transforms import _default_transform
from pymc.logprob.abstract import _logccdf, _logcdf, _logprob
from pymc.pytensorf import constant_fold
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.random.op import RandomVariable

from ..density import Density, densities
from ..elliptical import SCALES
from ..library import library
from . import numba_link, rewriting  # noqa: F401  they register themselves
from .built_in import BUILT_IN
from .evaluate import Formula
from .ops import LogDensity

#: PyMC's names where they are not the density's in CamelCase.
NAMES = {"mvnormal": "MvNormal", "ordered_logit": "OrderedLogistic"}
#: Parameters that bound the observation; those named lower and upper do without an entry.
BOUNDS = {"pareto": ("m", None)}
_CIRCULAR = {"von_mises"}
#: What `Distribution.dist` and the class itself take.
_RESERVED = frozenset(
    "name rng dims initval observed total_size transform default_transform shape size dtype return_next_rng".split()
)


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
            name=formula.name, signature=signature or _signature(formula), inplace=inplace,
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
    name = formula.name
    return name in library.built_in and formula == Formula(densities[name], formula.names)


def _signature(formula: Formula) -> str:
    cores = ["()", "(d)", "(d,d)"]
    observation, *parameters = formula.ranks
    return f"{','.join(cores[r] for r in parameters)}->{cores[observation]}"


def class_name(name: str) -> str:
    """PyMC's name of a density: student_t -> StudentT."""
    return NAMES.get(name) or "".join(part.capitalize() for part in name.split("_"))


# ---- what PyMC asks of a random variable


@_logprob.register(DensityRV)
def _logp(op: DensityRV, values: Sequence[Variable], rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return LogDensity(op.formula)(values[0], *params)


@_logcdf.register(DensityRV)
def _logcdf_of(op: DensityRV, value: Variable, rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return LogDensity(op.formula.of_kind("logcdf"))(value, *params)


@_logccdf.register(DensityRV)
def _logsf_of(op: DensityRV, value: Variable, rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return LogDensity(op.formula.of_kind("logsf"))(value, *params)


@_default_transform.register(DensityRV)
def _transform(op: DensityRV, rv: Variable) -> Any:
    words = op.formula.words
    if op.formula.density.discrete:
        return None
    if op.name in _CIRCULAR:
        return transforms.circular
    lower, upper = BOUNDS.get(op.name, ("lower", "upper"))
    names = op.formula.names
    first = 1  # the inputs of a random variable are (rng, size, *parameters), the names (observation, *parameters)
    bounds = tuple(names.index(n) + first if n in names else None for n in (lower, upper))
    if bounds != (None, None):
        return bounded_cont_transform(op, rv, bounds)
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
        point = _point_of_domain(op.formula.words, shape[-1:])
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


# ---- the classes that users call


class _OfDensity(Distribution):
    """What the classes made of densities share."""

    formula: Formula

    @classmethod
    def dist(cls, *args: Any, **kwargs: Any) -> Any:
        names = cls.formula.names[1:]
        own = {n: kwargs.pop(n) for n in list(kwargs) if n not in _RESERVED}
        scale = next((n for n in own if n in SCALES), None)
        if scale is not None and "cov" in names:
            names = tuple(scale if n == "cov" else n for n in names)
        density = cls.formula.name
        if len(args) > len(names):
            raise ValueError(f"{density} takes {len(names)} parameters ({', '.join(names)}), not {len(args)}")
        given = {**cls.formula.density.defaults, **dict(zip(names, args, strict=False))}
        for name, value in own.items():
            if name not in names:
                raise ValueError(f"{density} has no parameter {name!r}; its parameters are {', '.join(names)}")
            if name in names[: len(args)]:
                raise ValueError(f"{density}: {name} is given twice")
            given[name] = value
        if lacking := [n for n in names if n not in given]:
            raise ValueError(f"{density} needs {', '.join(lacking)}; its parameters are {', '.join(names)}")
        parameters = [_as_parameter(given[n]) for n in names]
        return _variant(cls, names, kwargs.get("shape"))._dist(parameters, **kwargs)

    @classmethod
    def _dist(cls, parameters: list[Variable], **kwargs: Any) -> Any:
        return super().dist(parameters, **kwargs)


def _as_parameter(value: Any) -> Variable:
    """PyTensor makes a float16 of the constant 0.5, and would compute with that."""
    variable = pt.as_tensor_variable(value)
    return pt.constant(np.asarray(value, pytensor.config.floatX)) if isinstance(variable, Constant) else variable


def _variant(cls: type[_OfDensity], names: tuple[str, ...], shape: Any) -> type[_OfDensity]:
    """The class for a covariance given by another name, or for vectors whose length only the shape tells."""
    formula = cls.formula if names == cls.formula.names[1:] else Formula(cls.formula.density, (cls.formula.names[0], *names))
    signature = _signature(formula)
    if formula.ranks[0] and not any(formula.ranks[1:]):
        try:
            (length,) = constant_fold([pt.as_tensor(shape).reshape((-1,))[-1]])
            signature = f"{signature.partition('->')[0]}->({int(length)})"
        except (ValueError, TypeError, NotImplementedError):
            raise ValueError(
                f"no parameter of {formula.name} tells the length of its vectors: pass shape=(…, length) with numbers"
            ) from None
    op = cls.rv_op
    if formula == op.formula and signature == op.signature:
        return cls
    return _make(formula, op.random, signature)


@functools.lru_cache(1024)
def _make(formula: Formula, random: Callable | None, signature: str | None = None) -> type[_OfDensity]:
    density = formula.density
    parameters = "\n".join(
        f"{name} : tensor_like\n    {domain}" for name, domain in zip(formula.names[1:], formula.domains[1:], strict=True)
    )
    return type(
        class_name(formula.name),
        (_OfDensity, Discrete if density.discrete else Continuous),
        {
            "__doc__": f"{density.description}\n\nParameters\n----------\n{parameters}\n",
            "__module__": "gpustats.pymc",
            "formula": formula,
            "rv_op": DensityRV(formula, random, signature),
        },
    )


def distribution(density: Density, *, random: Callable | None = None) -> type[Distribution]:
    """The PyMC distribution of a density.

    Parameters
    ----------
    density : Density
        Built in, registered by `gpustats.register`, or made by a transform.
    random : callable, optional
        ``random(rng, *parameters, size)`` draws an array of shape `size` (and the vector's axis) with a
        `numpy.random.Generator`. Built-in densities have one; predictive draws need one.

    Returns
    -------
    subclass of pymc.Distribution
        Called as ``D("y", *parameters, observed=, dims=, shape=, …)``, parameters in the density's order or by name, or as
        ``D.dist(*parameters, shape=)``. The default transform of a free variable follows from the domain of the
        observation: log, logodds, simplex, ordered, and the interval between parameters named lower and upper.

    Examples
    --------
    >>> import pymc as pm, gpustats as gs, gpustats.pymc as gpm
    >>> lomax = gs.register('''
    ... // lomax: Pareto distribution that starts at zero
    ... // x: nonnegative    alpha: positive, shape    scale: positive
    ... __device__ real lomax_logpdf(real x, real alpha, real scale)
    ... {
    ...     return log(alpha / scale) - (alpha + 1) * log1p(x / scale);
    ... }
    ... ''', replace=True)
    >>> Lomax = gpm.distribution(lomax, random=lambda rng, alpha, scale, size: scale * rng.pareto(alpha, size))
    >>> float(pm.logp(Lomax.dist(2.0, scale=3.0), 1.0).eval().round(6))
    -1.268511
    """
    for name in density.parameters:
        if name in _RESERVED:
            raise ValueError(f"{density.name} has a parameter called {name!r}, which PyMC uses itself: rename it")
    return _make(Formula(density), random)
