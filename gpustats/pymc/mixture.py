"""The PyMC distribution of a mixture of one density's components."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pymc.distributions import transforms
from pymc.distributions.dist_math import check_parameters
from pymc.distributions.distribution import Distribution, _support_point
from pymc.distributions.transforms import _default_transform
from pymc.logprob.abstract import _logccdf, _logcdf, _logprob
from pytensor.graph.basic import Variable

from ..density import Density
from .distributions import RESERVED, as_parameter, parameters_of, sized_signature
from .evaluation.density import Formula
from .evaluation.mixture import MixtureFormula
from .graph.ops import LogDensity
from .random_variable import DensityRV, bounds_of, default_transform, point_of


class Mixture(Distribution):
    """The distribution of a mixture of K components of one density.

    Its log-density at x is ``log(sum_k w[k] f(x; parameters[k]))``. With its gradient in the weights and the parameters of all
    components, it takes one evaluation on the device, without an array of N × K densities.

    Parameters
    ----------
    w : tensor_like (..., K)
        Weights, which sum to one.
    density : Density
        Of a component: built in, registered by `gpustats.register`, or made by a transform.
    *parameters : tensor_like
        The density's, in its order or by name, with a last axis of components: (..., K) for numbers, (..., K, d) for vectors,
        (..., K, d, d) for matrices. Without that axis (a number, a vector, a matrix) a parameter is the same for all
        components.
    **kwargs
        ``observed=``, ``shape=``, ``dims=``, …, as for every PyMC distribution.

    Raises
    ------
    ValueError
        Where a parameter has neither one set nor K, or names are unknown or missing.

    Notes
    -----
    Where weights or parameters have leading axes, mixtures differ from one observation to the next, and the N × K densities
    are written.

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats as gs, gpustats.pymc as gpm
    >>> y = np.array([-1.0, 0.0, 5.0])
    >>> with pm.Model():
    ...     w = pm.Dirichlet("w", np.ones(2))
    ...     mu = pm.Normal("mu", 0, 10, shape=2)
    ...     likelihood = gpm.Mixture("y", w, gs.normal, mu, sigma=1.0, observed=y)
    >>> components = gpm.Mixture.dist([0.75, 0.25], gs.normal, mu=[0.0, 4.0], sigma=1.0)
    >>> pm.logp(components, y).eval().round(4)
    array([-1.7066, -1.2065, -2.8052])
    """

    @classmethod
    def dist(cls, w: Any, density: Density, *args: Any, **kwargs: Any) -> Any:
        own = {n: kwargs.pop(n) for n in list(kwargs) if n not in RESERVED}
        plain = Formula(density)
        given = parameters_of(plain, args, own)
        component = Formula(density, (plain.names[0], *given))
        weights = as_parameter(w)
        if not weights.type.ndim:
            raise ValueError("w must have a last axis of components, (..., K); it is one number")
        ranks = component.ranks[1:]
        parameters = [_of_components(n, v, r, weights) for (n, v), r in zip(given.items(), ranks, strict=True)]
        formula = MixtureFormula(component)
        return _of(formula, sized_signature(formula, kwargs.get("shape")))._dist([weights, *parameters], **kwargs)

    @classmethod
    def _dist(cls, parameters: list[Variable], **kwargs: Any) -> Any:
        return super().dist(parameters, **kwargs)


def _of_components(name: str, value: Variable, rank: int, weights: Variable) -> Variable:
    """The parameter with an axis of components, of length 1 where there was none."""
    if value.type.ndim < rank:
        raise ValueError(f"{name} must be a {'vector' if rank == 1 else 'matrix'}, or one for each component")
    if value.type.ndim == rank:
        return pt.expand_dims(value, 0)
    n, n_weights = value.type.shape[-rank - 1], weights.type.shape[-1]
    if n not in (None, 1, n_weights) and n_weights is not None:
        raise ValueError(f"{name} has {n} components, and w has {n_weights}")
    return value


class MixtureRV(DensityRV):
    """The random variable of a mixture: of the weights, and the parameters of its components."""

    formula: MixtureFormula

    def _hint(self) -> str:
        return ""


@functools.lru_cache(1024)
def _of(formula: MixtureFormula, signature: str) -> type[Mixture]:
    return type("Mixture", (Mixture,), {"__module__": "gpustats.pymc", "rv_op": MixtureRV(formula, None, signature)})


def _at(formula: Formula, value: Variable, weights: Any, parameters: Sequence[Variable]) -> Variable:
    weights = check_parameters(
        weights, pt.all(weights >= 0), pt.all(pt.isclose(weights.sum(axis=-1), 1)), msg="w >= 0, sum(w) == 1"
    )
    return LogDensity(formula).make_node(value, pt.log(weights), *parameters).outputs[0]


@_logprob.register(MixtureRV)
def _logp(op: MixtureRV, values: Sequence[Variable], rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return _at(op.formula, values[0], params[0], params[1:])


@_logcdf.register(MixtureRV)
def _logcdf_of(op: MixtureRV, value: Variable, rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return _at(op.formula.of_kind("logcdf"), value, params[0], params[1:])


@_logccdf.register(MixtureRV)
def _logsf_of(op: MixtureRV, value: Variable, rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return _at(op.formula.of_kind("logsf"), value, params[0], params[1:])


@_default_transform.register(MixtureRV)
def _transform(op: MixtureRV, rv: Variable) -> Any:
    lower, upper = bounds_of(op.formula)
    if op.formula.density.discrete or (lower, upper) == (None, None):
        return default_transform(op, rv)

    def ends(*inputs: Any) -> tuple:
        """The widest interval; the parameters come after rng and size."""
        least = None if lower is None else inputs[lower + 2].min(axis=-1)
        return least, None if upper is None else inputs[upper + 2].max(axis=-1)

    return transforms.Interval(bounds_fn=ends)


@_support_point.register(MixtureRV)
def _point(op: MixtureRV, rv: Variable, rng: Variable, size: Variable, weights: Any, *params: Any) -> Any:
    """The components' points, weighted."""
    shape = op._infer_shape(size, (weights, *params))
    points = point_of(op.formula.component, params, shape[-1:])
    rank = op.formula.ranks[0]
    if points.type.ndim == rank:  # the same for all components
        points = pt.expand_dims(points, 0)
    point = (pt.shape_padright(weights, rank) * points).sum(axis=-1 - rank)
    return pt.broadcast_to(pt.round(point) if op.formula.density.discrete else point, shape)
