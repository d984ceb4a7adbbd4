"""PyMC distributions that are truncated or censored at bounds: one density, whose sum takes one evaluation."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.shape_utils import rv_size_is_none
from pymc.distributions.transforms import Transform
from pymc.distributions.truncated import _truncated
from pymc.util import check_dist_not_registered
from pytensor.graph.basic import Apply, Constant, Variable

from ..compiler.evaluation.density import DensityFormula
from ..compiler.evaluation.formula import Formula, LogFunction
from ..compiler.graph.types import TensorLike, TensorVariable, Variables
from ..density import Density, densities
from ..transforms import Censor, Truncate
from .counterparts import is_built_in
from .ends import Ends, ends_of, interval
from .parameters import as_parameter
from .random_variable import DensityRV, inside, point_of, random_variable


class BoundedRV(DensityRV):
    """Random variable of a density between bounds, which starts where that of the density itself does, if it can."""

    __props__ = ("formula", "base", "dtype", "inplace")

    def __init__(self, formula: Formula, base: Formula, dtype: str | None = None, inplace: bool = False):
        self.base = base
        super().__init__(formula, dtype=dtype, inplace=inplace)

    def default_transform(self) -> Transform | None:
        if self.formula.discrete:
            return None
        least, most = _ends(self.base)

        def ends(parameters: Sequence[Variable]) -> Ends:
            lower, upper = ends_of(self.formula, parameters)
            return least if lower is None else lower, most if upper is None else upper

        return interval(ends)

    def support_point(self, size: Variable, parameters: Variables) -> Variable:
        n, shape = len(self.base.arguments) - 1, self._infer_shape(size, parameters)
        return pt.broadcast_to(inside(self.formula, parameters, point_of(self.base, parameters[:n], shape)), shape)


def between(
    transform: Callable[..., Density], node: Apply, lower: TensorLike | None, upper: TensorLike | None, **kwargs: object
) -> TensorVariable:
    """Random variable of the density that `Truncate` or `Censor` makes of that of a node's random variable.

    Raises
    ------
    NotImplementedError
        Where there is no such density.
    """
    _, size, *parameters = node.inputs
    formula = node.op.formula
    if not isinstance(formula, DensityFormula) or formula.kind is not LogFunction.LOGPDF or node.op.ndim_supp:
        raise NotImplementedError
    least, most = _ends(formula) if transform is Truncate else (None, None)
    bounds = {"lower": _bound(lower, -1, least, formula), "upper": _bound(upper, 1, most, formula)}
    finite_bounds = {n: v for n, v in bounds.items() if v is not None}
    density = formula.density
    if not finite_bounds:
        bounded = density
    elif transform is Truncate and density.name == "normal" and is_built_in(density):  # accurate in windows far out as well
        bounded, infinite = densities["truncated_normal"], {"lower": pt.constant(-np.inf), "upper": pt.constant(np.inf)}
        finite_bounds = infinite | finite_bounds
    else:
        try:
            bounded = _made(transform, formula, tuple(finite_bounds))
        except ValueError as error:
            raise NotImplementedError from error
    values = [*parameters, *map(as_parameter, finite_bounds.values())]
    if kwargs.get("size") is None and kwargs.get("shape") is None and not rv_size_is_none(size):
        kwargs["size"] = pt.broadcast_shape(node.outputs[1], *values[len(parameters) :])
    return random_variable(BoundedRV(DensityFormula(bounded), formula), values, **kwargs)


def _ends(formula: Formula) -> tuple[float | None, float | None]:
    """Ends of the observation's domain, None where there is none."""
    words = formula.observation.words
    return 0.0 if words & {"positive", "nonnegative", "unit"} else None, 1.0 if "unit" in words else None


def _bound(value: TensorLike | None, side: int, end: float | None, formula: Formula) -> Variable | None:
    """Bound as a variable; None where it is infinite, or not within the `end` of the observation's domain on its side."""
    if value is None:
        return None
    bound = pt.as_tensor_variable(value)
    if isinstance(bound, Constant) and (side * bound.data >= (np.inf if end is None else side * end)).all():
        return None
    if formula.discrete and bound.dtype.startswith("float"):
        return pt.ceil(bound) if side < 0 else pt.floor(bound)
    return bound


@functools.lru_cache(256)
def _made(transform: Callable[..., Density], formula: DensityFormula, bounds: tuple[str, ...]) -> Density:
    """Density that a transform makes, of which a call gives the bounds."""
    return transform(formula.density, **dict.fromkeys(bounds, 0))


@_truncated.register(DensityRV)
def _truncate(
    op: DensityRV, lower: TensorLike | None, upper: TensorLike | None, size: Variable, *inputs: Variable
) -> TensorVariable:
    return between(Truncate, op.make_node(*inputs), lower, upper, size=size)


class Censored(pm.Censored):
    @classmethod
    def dist(
        cls, dist: Variable, lower: TensorLike | None = -np.inf, upper: TensorLike | None = np.inf, **kwargs: object
    ) -> TensorVariable:
        if isinstance(dist, Variable) and dist.owner is not None and isinstance(dist.owner.op, DensityRV):
            check_dist_not_registered(dist)
            try:
                return between(Censor, dist.owner, lower, upper, **kwargs)
            except NotImplementedError:
                pass
        return pm.Censored.dist(dist, lower=lower, upper=upper, **kwargs)
