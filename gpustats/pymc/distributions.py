"""PyMC distributions of densities, and the log-density as a PyTensor variable."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
from pymc.distributions.distribution import Continuous, Discrete, Distribution
from pytensor.graph.basic import Variable

from ..compiler.evaluation.density import DensityFormula
from ..compiler.graph.guard import guarded
from ..compiler.graph.types import TensorLike, TensorVariable
from ..density import Density
from ..names.pymc import class_name
from . import interval  # noqa: F401  (it declares what truncates)
from .parameters import keyword_of, parameters_of, sized_signature, take_parameters
from .random_variable import DensityRV, random_variable


class _DensityDistribution(Distribution):
    """Base of the classes that `distribution` makes."""

    formula: DensityFormula

    @classmethod
    def dist(cls, *args: TensorLike, **kwargs: object) -> TensorVariable:
        density = cls.formula.density
        own = {keyword_of(n): n for n in density.parameters}
        parameters = parameters_of(density, args, {own.get(n, n): v for n, v in take_parameters(kwargs).items()})
        op = _variant(cls.rv_op, tuple(parameters), kwargs.get("shape"))
        return random_variable(op, list(parameters.values()), **kwargs)


def of_length(density: Density, parameters: Sequence[Variable], length: TensorLike, **kwargs: object) -> TensorVariable:
    """Random variable of a density of vectors, of a length that no parameter tells: a number, or a variable that is one."""
    return random_variable(_variant(distribution(density).rv_op, density.parameters, (length,)), parameters, **kwargs)


def _variant(op: DensityRV, names: tuple[str, ...], shape: object) -> DensityRV:
    """Operation for parameters of these names.

    Its vectors have the length that `shape` has where nothing else tells it.
    """
    formula = op.formula
    if names != formula.names[1:]:
        formula = DensityFormula(formula.density, (formula.names[0], *names))
    signature = sized_signature(formula, shape)
    return op if formula == op.formula and signature == op.signature else DensityRV(formula, op.random, signature)


@functools.lru_cache(1024)
def _make(formula: DensityFormula, random: Callable[..., np.ndarray] | None) -> type[Distribution]:
    density = formula.density
    parameters = "\n".join(f"{keyword_of(a.name)} : tensor_like\n    {a.domain}" for a in formula.arguments[1:])
    return type(
        class_name(formula.name),
        (_DensityDistribution, Discrete if density.discrete else Continuous),
        {
            "__doc__": f"{density.description}\n\nParameters\n----------\n{parameters}\n",
            "__module__": "gpustats.pymc",
            "formula": formula,
            "rv_op": DensityRV(formula, random),
        },
    )


def distribution(density: Density, *, random: Callable[..., np.ndarray] | None = None) -> type[Distribution]:
    """PyMC distribution of a density.

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
        ``D.dist(*parameters, shape=)``. A parameter whose name PyMC takes for itself has an underscore behind it: ``shape_=``.
        The default transform of a free variable follows from the domain of the observation: log, logodds, simplex, ordered,
        and the interval between parameters named lower and upper.

    Examples
    --------
    >>> import pymc as pm, gpustats as gs, gpustats.pymc as gpm
    >>> pareto2 = gs.register('''
    ... // pareto2: Pareto distribution that starts at zero
    ... // x: nonnegative    alpha: positive, shape    scale: positive
    ... __device__ real pareto2_logpdf(real x, real alpha, real scale)
    ... {
    ...     return log(alpha / scale) - (alpha + 1) * log1p(x / scale);
    ... }
    ... __device__ real pareto2_sample(rng_t *rng, real alpha, real scale)
    ... {
    ...     return scale * expm1(exponential(rng) / alpha);
    ... }
    ... ''', replace=True)
    >>> Pareto2 = gpm.distribution(pareto2)
    >>> float(pm.logp(Pareto2.dist(2.0, scale=3.0), 1.0).eval().round(6))
    -1.268511
    >>> draws = pm.draw(Pareto2.dist(2.0, scale=3.0, shape=100_000), random_seed=1)
    >>> bool(abs((draws > 3.0).mean() - 0.25) < 0.01)
    True
    """
    return _make(DensityFormula(density), random)


def log_density(density: Density, *arguments: TensorLike) -> TensorVariable:
    """Log-density as a PyTensor variable, differentiable in everything that is not a whole number.

    Parameters
    ----------
    density : Density
    *arguments : tensor_like
        The observation and the parameters, in the density's order.

    Examples
    --------
    >>> import gpustats as gs
    >>> from gpustats.pymc import log_density
    >>> log_density(gs.normal, [-1.0, 0.0, 2.0], 0.0, 1.0).eval().round(4)
    array([-1.4189, -0.9189, -2.9189])
    """
    return guarded(DensityFormula(density), *arguments)
