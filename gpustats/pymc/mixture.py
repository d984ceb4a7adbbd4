"""The PyMC distribution of a mixture of one density's components."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pymc.distributions import transforms
from pymc.distributions.dist_math import check_parameters
from pytensor.graph.basic import Variable

from ..density import Density
from .evaluation.density import DensityFormula
from .evaluation.formula import FormulaArgument, LogFunction
from .evaluation.mixture import MixtureFormula
from .parameters import as_parameter, parameters_of, sized_signature, take_parameters
from .random_variable import DensityRV, FormulaDistribution, bounds_of, point_of


class Mixture(FormulaDistribution):
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
        values = parameters_of(density, args, take_parameters(kwargs))
        component = DensityFormula(density, (next(iter(density.domains)), *values))
        weights = as_parameter(w)
        if not weights.type.ndim:
            raise ValueError("w must have a last axis of components, (..., K); it is one number")
        parameters = [_of_components(a, values[a.name], weights) for a in component.arguments[1:]]
        formula = MixtureFormula(component)
        made = _class_of(formula, sized_signature(formula, kwargs.get("shape")))
        return made._of_variables([weights, *parameters], **kwargs)


def _of_components(argument: FormulaArgument, value: Variable, weights: Variable) -> Variable:
    """The parameter with an axis of components, of length 1 where there was none."""
    name, rank = argument.name, argument.rank
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

    def log_probability(self, kind: LogFunction, value: Variable, parameters: Sequence[Any]) -> Any:
        weights, *rest = parameters
        sum_to_one = pt.all(pt.isclose(weights.sum(axis=-1), 1))
        checked: Any = check_parameters(weights, pt.all(weights >= 0), sum_to_one, msg="w >= 0, sum(w) == 1")
        return super().log_probability(kind, value, [pt.log(checked), *rest])

    def default_transform(self, rv: Variable) -> Any:
        lower, upper = bounds_of(self.formula)
        if self.formula.discrete or (lower, upper) == (None, None):
            return super().default_transform(rv)

        def widest_interval(*inputs: Any) -> tuple:
            """Of all components, from the random variable's inputs, where the parameters come after rng and size."""
            least = None if lower is None else inputs[lower + 2].min(axis=-1)
            return least, None if upper is None else inputs[upper + 2].max(axis=-1)

        return transforms.Interval(bounds_fn=widest_interval)

    def support_point(self, size: Variable, parameters: Sequence[Any]) -> Variable:
        """The components' points, weighted."""
        weights, *rest = parameters
        shape = self._infer_shape(size, parameters)
        points = point_of(self.formula.component, rest, shape[-1:])
        rank = self.formula.observation.rank
        if points.type.ndim == rank:  # the same for all components
            points = pt.expand_dims(points, 0)
        point = (pt.shape_padright(weights, rank) * points).sum(axis=-1 - rank)
        return pt.broadcast_to(pt.round(point) if self.formula.discrete else point, shape)


@functools.lru_cache(1024)
def _class_of(formula: MixtureFormula, signature: str) -> type[Mixture]:
    return type("Mixture", (Mixture,), {"__module__": "gpustats.pymc", "rv_op": MixtureRV(formula, None, signature)})
