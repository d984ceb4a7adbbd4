"""PyMC distributions of densities: the classes that users call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pymc.distributions.distribution import Continuous, Discrete, Distribution
from pymc.pytensorf import constant_fold
from pytensor.graph.basic import Constant, Variable

from ..density import Density
from ..elliptical.density import SCALES
from .evaluation.density import Formula
from .random_variable import DensityRV, class_name, signature_of

#: What `Distribution.dist` and the class itself take.
RESERVED = frozenset(
    "name rng dims initval observed total_size transform default_transform shape size dtype return_next_rng".split()
)


class _OfDensity(Distribution):
    """What the classes made of densities share."""

    formula: Formula

    @classmethod
    def dist(cls, *args: Any, **kwargs: Any) -> Any:
        given = parameters_of(cls.formula, args, {n: kwargs.pop(n) for n in list(kwargs) if n not in RESERVED})
        return _variant(cls, tuple(given), kwargs.get("shape"))._dist(list(given.values()), **kwargs)

    @classmethod
    def _dist(cls, parameters: list[Variable], **kwargs: Any) -> Any:
        return super().dist(parameters, **kwargs)


def parameters_of(formula: Formula, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Variable]:
    """The parameters, in their order, by the names by which they are given."""
    names, density = formula.names[1:], formula.name
    scale = next((n for n in kwargs if n in SCALES), None)
    if scale is not None and "cov" in names:
        names = tuple(scale if n == "cov" else n for n in names)
    if len(args) > len(names):
        raise ValueError(f"{density} takes {len(names)} parameters ({', '.join(names)}), not {len(args)}")
    given = {**formula.density.defaults, **dict(zip(names, args, strict=False))}
    for name, value in kwargs.items():
        if name not in names:
            raise ValueError(f"{density} has no parameter {name!r}; its parameters are {', '.join(names)}")
        if name in names[: len(args)]:
            raise ValueError(f"{density}: {name} is given twice")
        given[name] = value
    if lacking := [n for n in names if n not in given]:
        raise ValueError(f"{density} needs {', '.join(lacking)}; its parameters are {', '.join(names)}")
    return {n: as_parameter(given[n]) for n in names}


def as_parameter(value: Any) -> Variable:
    """PyTensor makes a float16 of the constant 0.5, and would compute with that."""
    variable = pt.as_tensor_variable(value)
    return pt.constant(np.asarray(value, pytensor.config.floatX)) if isinstance(variable, Constant) else variable


def _variant(cls: type[_OfDensity], names: tuple[str, ...], shape: Any) -> type[_OfDensity]:
    """The class for a covariance given by another name, or for vectors whose length only the shape tells."""
    formula = cls.formula if names == cls.formula.names[1:] else Formula(cls.formula.density, (cls.formula.names[0], *names))
    signature = sized_signature(formula, shape)
    op = cls.rv_op
    if formula == op.formula and signature == op.signature:
        return cls
    return _make(formula, op.random, signature)


def sized_signature(formula: Formula, shape: Any) -> str:
    """The signature, with the length of vectors where only the shape tells it."""
    signature = signature_of(formula)
    parameters, _, observation = signature.partition("->")
    if "d" in parameters or observation == "()":
        return signature
    try:
        (length,) = constant_fold([pt.as_tensor(shape).reshape((-1,))[-1]])
        return f"{parameters}->({int(length)})"
    except (ValueError, TypeError, NotImplementedError):
        raise ValueError(
            f"no parameter of {formula.name} tells the length of its vectors: pass shape=(…, length) with numbers"
        ) from None


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
        `numpy.random.Generator`. Needed for predictive draws of a density that `Density.rvs` does not draw: whose source has
        neither a function ``name_sample`` nor a distribution function.

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
    ... __device__ real lomax_sample(rng_t *rng, real alpha, real scale)
    ... {
    ...     return scale * expm1(exponential(rng) / alpha);
    ... }
    ... ''', replace=True)
    >>> Lomax = gpm.distribution(lomax)
    >>> float(pm.logp(Lomax.dist(2.0, scale=3.0), 1.0).eval().round(6))
    -1.268511
    >>> draws = pm.draw(Lomax.dist(2.0, scale=3.0), draws=100_000, random_seed=1)
    >>> bool(abs((draws > 3.0).mean() - 0.25) < 0.01)
    True
    """
    for name in density.parameters:
        if name in RESERVED:
            raise ValueError(f"{density.name} has a parameter called {name!r}, which PyMC uses itself: rename it")
    return _make(Formula(density), random)
