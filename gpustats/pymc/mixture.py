"""The PyMC distribution of a mixture of one density's components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.continuous import get_tau_sigma
from pymc.distributions.dist_math import check_parameters
from pymc.distributions.distribution import Distribution
from pymc.distributions.shape_utils import rv_size_is_none
from pymc.distributions.transforms import Transform
from pymc.util import check_dist_not_registered
from pytensor.graph.basic import Variable

from ..compiler.evaluation.density import DensityFormula
from ..compiler.evaluation.formula import FormulaArgument, LogFunction
from ..compiler.evaluation.mixture import MixtureFormula
from ..compiler.graph.types import SymbolicShape, TensorLike, TensorVariable, Variables
from ..density import Density, densities
from .ends import Ends, ends_of, has_ends, interval
from .parameters import as_parameter, parameters_of, sized_signature, take_parameters
from .random_variable import DensityRV, mean_of, point_of, random_variable


class Mixture(Distribution):
    """Distribution of a mixture of K components of one density.

    Its log-density at x is ``log(sum_k w[k] f(x; parameters[k]))``. With its gradient in the weights and the parameters of all
    components, it takes one evaluation on the device, without an array of N × K densities.

    Parameters
    ----------
    w : tensor_like (..., K)
        Weights, which sum to one.
    comp_dists : Density, or random variables made by ``dist``
        The density of a component: built in, registered by `gpustats.register`, or made by a transform. Or, as in PyMC, one
        random variable whose last axis is that of the components, or a list of K. Lists of different distributions become
        ``pymc.Mixture``.
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
    >>> components = gpm.Mixture.dist([0.75, 0.25], gpm.Normal.dist([0.0, 4.0], 1.0))
    >>> pm.logp(components, y).eval().round(4)
    array([-1.7066, -1.2065, -2.8052])
    """

    @classmethod
    def dist(
        cls, w: TensorLike, comp_dists: Density | Variable | Sequence[Variable], *args: TensorLike, **kwargs: object
    ) -> TensorVariable:
        if isinstance(comp_dists, Density):
            by_name = parameters_of(comp_dists, args, take_parameters(kwargs))
            component = DensityFormula(comp_dists, (next(iter(comp_dists.domains)), *by_name))
            return _mixture(w, component, list(by_name.values()), kwargs)
        found = _of_one_density(comp_dists)
        if args or found is None:
            return pm.Mixture.dist(w, comp_dists, *args, **kwargs)
        component, values, size = found
        if size is not None and kwargs.get("size") is None and kwargs.get("shape") is None:
            kwargs["size"] = size
        return _mixture(w, component, values, kwargs)


def _mixture(w: TensorLike, component: DensityFormula, values: Sequence[Variable], kwargs: dict[str, Any]) -> TensorVariable:
    """Random variable of a mixture; `kwargs` are those that PyMC has for all distributions."""
    weights = as_parameter(w)
    if not weights.type.ndim:
        raise ValueError("w must have a last axis of components, (..., K); it is one number")
    if kwargs.get("size") is not None:  # the weights may have more axes, as in PyMC
        sizes = tuple(pt.atleast_1d(kwargs["size"])), tuple(weights.shape[:-1])
        kwargs["size"] = pt.broadcast_shape(*sizes, arrays_are_shapes=True)
    parameters = [_of_components(a, v, weights) for a, v in zip(component.arguments[1:], values, strict=True)]
    formula = MixtureFormula(component)
    op = MixtureRV(formula, signature=sized_signature(formula, kwargs.get("shape")))
    return random_variable(op, [weights, *parameters], **kwargs)


def _of_one_density(
    comp_dists: Variable | Sequence[Variable],
) -> tuple[DensityFormula, Sequence[Variable], object] | None:
    """Density of all components, its parameters with an axis of components, and the size of the mixture if it is given.

    None where the components have different densities, or other ones than gpustats'.
    """
    several = isinstance(comp_dists, list | tuple)
    components: Any = comp_dists if several else [comp_dists]
    nodes = [c.owner for c in components if isinstance(c, Variable) and c.owner is not None]
    formulas = {getattr(n.op, "formula", None) for n in nodes}
    if len(nodes) != len(components) or len(formulas) != 1 or len(nodes) == several:  # PyMC warns of a list of one
        return None
    (formula,) = formulas
    if not isinstance(formula, DensityFormula) or formula.kind is not LogFunction.LOGPDF:
        return None
    for c in components:
        check_dist_not_registered(c)
    sizes = [n.inputs[1] for n in nodes if not rv_size_is_none(n.inputs[1])]
    if not several:
        return formula, nodes[0].inputs[2:], sizes[0][:-1] if sizes and sizes[0].type.shape != (1,) else None
    by_parameter = zip(*(n.inputs[2:] for n in nodes), strict=True)
    values = [_stacked(v, rank) for v, rank in zip(by_parameter, formula.ranks[1:], strict=True)]
    return formula, values, pt.broadcast_shape(*map(tuple, sizes), arrays_are_shapes=True) if sizes else None


def _stacked(values: Sequence[Variable], rank: int) -> Variable:
    """Parameter of several components, with an axis of components in front of those of one value."""
    ndim = max(v.type.ndim for v in values)
    alike = pt.broadcast_arrays(*[pt.shape_padleft(v, ndim - v.type.ndim) for v in values]) if ndim > rank else values
    return pt.stack(alike, axis=-1 - rank)


def _of_components(argument: FormulaArgument, value: Variable, weights: Variable) -> Variable:
    """Parameter with an axis of components, of length 1 where there was none."""
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
    """Random variable of a mixture: of the weights, and the parameters of its components."""

    formula: MixtureFormula

    def log_probability(self, kind: LogFunction, value: TensorVariable, parameters: Variables) -> Variable:
        weights, *rest = parameters
        sum_to_one = pt.all(pt.isclose(weights.sum(axis=-1), 1))
        checked = check_parameters(weights, pt.all(weights >= 0), sum_to_one, msg="w >= 0, sum(w) == 1")
        return super().log_probability(kind, value, [pt.log(checked), *rest])

    def default_transform(self) -> Transform | None:
        if self.formula.discrete or not has_ends(self.formula):
            return super().default_transform()

        def widest(parameters: Variables) -> Ends:
            """Interval of all components."""
            lower, upper = ends_of(self.formula, parameters)
            return None if lower is None else lower.min(axis=-1), None if upper is None else upper.max(axis=-1)

        return interval(widest)

    def quantile(self, value: TensorVariable, parameters: Variables) -> Variable:
        raise NotImplementedError(f"the quantiles of a mixture of {self.formula.component!r} are not computed")

    def support_point(self, size: Variable, parameters: Variables) -> Variable:
        shape = self._infer_shape(size, parameters)
        points = point_of(self.formula.component, parameters[1:], self._shape_of_components(shape, parameters[0]))
        point = self._weighted(parameters[0], points)
        return pt.broadcast_to(pt.round(point) if self.formula.discrete else point, shape)

    def mean(self, size: Variable, parameters: Variables) -> Variable:
        shape = self._shape_of_components(self._infer_shape(size, parameters), parameters[0])
        return self._weighted(parameters[0], mean_of(self.formula.component, parameters[1:], shape))

    def _shape_of_components(self, shape: SymbolicShape, weights: TensorVariable) -> SymbolicShape:
        """Shape of values of all components, where that of values is given."""
        batch = len(shape) - self.ndim_supp
        return (*shape[:batch], weights.shape[-1], *shape[batch:])

    def _weighted(self, weights: TensorVariable, points: TensorVariable) -> TensorVariable:
        """Weighted sum of the components' points."""
        rank = self.formula.observation.rank
        if points.type.ndim == rank:  # the same for all components
            points = pt.expand_dims(points, 0)
        return (pt.shape_padright(weights, rank) * points).sum(axis=-1 - rank)


class NormalMixture(Mixture):
    @classmethod
    def dist(  # type: ignore[override]
        cls, w: TensorLike, mu: TensorLike, sigma: TensorLike | None = None, tau: TensorLike | None = None, **kwargs: object
    ) -> TensorVariable:
        _, sigma = get_tau_sigma(tau=tau, sigma=sigma)
        return super().dist(w, densities["normal"], mu, sigma, **kwargs)
