"""Random variables of formulas, with the log-probabilities, transforms and starting points that PyMC asks them for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pymc.distributions import transforms
from pymc.distributions.distribution import Distribution, _support_point, support_point
from pymc.distributions.moments.means import _mean, mean
from pymc.distributions.transforms import _default_transform
from pymc.logprob.abstract import _icdf, _logccdf, _logcdf, _logprob
from pymc.logprob.basic import icdf
from pytensor.graph.basic import Variable
from pytensor.ifelse import ifelse
from pytensor.tensor.random.op import RandomVariable

from ..compiler.evaluation.batches import common_batch
from ..compiler.evaluation.density import DensityFormula
from ..compiler.evaluation.formula import Evaluator, Formula, LogFunction
from ..compiler.graph.guard import guarded
from ..compiler.graph.quantiles import means, quantiles
from ..compiler.graph.types import SymbolicShape, TensorVariable, Variables
from ..draws.generator import as_generator
from ..language import domains
from ..names.pymc import class_name
from .counterparts import counterpart
from .ends import ends_of, has_ends, interval


class DensityRV(RandomVariable):
    """Random variable of a formula's observation.

    ``random(rng, *parameters, size)`` draws; by default the device does. `signature` is another than the formula's where that
    leaves the length of a vector open.
    """

    __props__: Any = ("formula", "random", "signature", "dtype", "inplace")

    def __init__(
        self, formula: Formula, random: Callable[..., np.ndarray] | None = None, signature: str | None = None,
        dtype: str | None = None, inplace: bool = False,
    ):  # fmt: skip
        self.formula, self.random = formula, random
        camel = class_name(formula.name)
        self._print_name = (camel, rf"\operatorname{{{camel}}}")
        super().__init__(
            name=formula.name, signature=signature or formula.signature, inplace=inplace,
            dtype=dtype or ("int64" if formula.discrete else "floatX"),
        )  # fmt: skip

    def __str__(self) -> str:
        return f"DensityRV{{{self.name}}}"

    @property
    def _length(self) -> int | None:
        """Length of an observed vector, where the parameters do not tell it."""
        return next((int(n) for n in self.output_sig if n.isdigit()), None)

    def rng_fn(self, rng: np.random.Generator, *args: Any) -> np.ndarray:
        *parameters, size = args
        parameters = [np.asarray(p, np.float64) for p in parameters]
        if size is None:
            size = common_batch(parameters, self.formula.ranks[1:])
        size = tuple(int(n) for n in size)
        if self.random is not None:
            return self.random(rng, *parameters, size=size)
        try:
            return _evaluator(self.formula).draws(parameters, size, self._length, as_generator(rng))
        except NotImplementedError as error:
            call = f"gpustats.pymc.distribution(density, random=lambda rng, {', '.join(self.formula.names[1:])}, size: …)"
            hint = f"; or give a sampler in Python, {call}" if isinstance(self.formula, DensityFormula) else ""
            raise NotImplementedError(f"{error}{hint}") from None

    def _outcome(self, parameters: Variables) -> tuple[Formula, Variables]:
        """Formula of one observation's density, and its parameters, which these tell."""
        return self.formula, parameters

    # -- what PyMC asks for

    def log_probability(self, kind: LogFunction, value: TensorVariable, parameters: Variables) -> Variable:
        """Log-density at a value, or the logarithm of the distribution function or the survival function."""
        if kind is self.formula.kind:
            return guarded(self.formula, value, *parameters)
        formula, own = self._outcome(parameters)
        return guarded(formula.of_kind(kind), value, *own)

    def quantile(self, value: TensorVariable, parameters: Variables) -> Variable:
        """Inverse of the distribution function."""
        formula, own = self._outcome(parameters)
        return quantile_of(formula, value, own)

    def mean(self, size: Variable, parameters: Variables) -> Variable:
        """Expected value."""
        return mean_of(*self._outcome(parameters), self._infer_shape(size, parameters))

    def default_transform(self) -> transforms.Transform | None:
        """Transform of a free variable, which follows from the domain of the observation; or None."""
        formula, words = self.formula, self.formula.observation.words
        if formula.discrete:
            return None
        if formula.density.name in _TRANSFORMS:
            return _TRANSFORMS[formula.density.name]
        if has_ends(formula):
            return interval(functools.partial(ends_of, formula))
        if "simplex" in words:
            return transforms.simplex
        if "ordered" in words:
            return transforms.ordered
        chosen = transforms.log if words & {"positive", "nonnegative"} else transforms.logodds if "unit" in words else None
        return chosen if chosen is None or not formula.observation.rank else _OverVectors(chosen)

    def support_point(self, size: Variable, parameters: Variables) -> Variable:
        """Point where a sampler starts."""
        shape = self._infer_shape(size, parameters)
        return pt.broadcast_to(point_of(*self._outcome(parameters), shape), shape)


_logprob.register(DensityRV, lambda op, xs, rng, size, *p, **_: op.log_probability(LogFunction.LOGPDF, *xs, p))
_logcdf.register(DensityRV, lambda op, x, rng, size, *p, **_: op.log_probability(LogFunction.LOGCDF, x, p))
_logccdf.register(DensityRV, lambda op, x, rng, size, *p, **_: op.log_probability(LogFunction.LOGSF, x, p))
_icdf.register(DensityRV, lambda op, q, rng, size, *p, **_: op.quantile(q, p))
_mean.register(DensityRV, lambda op, rv, rng, size, *p: op.mean(size, p))
_support_point.register(DensityRV, lambda op, rv, rng, size, *p: op.support_point(size, p))
_default_transform.register(DensityRV, lambda op, rv: op.default_transform())


def random_variable(op: DensityRV, parameters: Sequence[Variable], **kwargs: object) -> TensorVariable:
    """Random variable of an operation with these parameters; the keywords are those that PyMC has for all distributions."""
    return _distribution_of(op).dist(parameters, **kwargs)


@functools.lru_cache(1024)
def _distribution_of(op: DensityRV) -> type[Distribution]:
    return type(op.name, (Distribution,), {"rv_op": op})


@functools.lru_cache(1024)
def _evaluator(formula: Formula) -> Evaluator:
    """Evaluator that draws: one for equal formulas, so that a worker process gets it once."""
    return formula.evaluator({})


# -- densities


class _OverVectors(transforms.Transform):
    """Elementwise transform of vectors, with one log-determinant for each vector."""

    def __init__(self, inner: transforms.Transform):
        self.inner, self.name = inner, inner.name

    def forward(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        return self.inner.forward(value, *inputs)

    def backward(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        return self.inner.backward(value, *inputs)

    def log_jac_det(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        return self.inner.log_jac_det(value, *inputs).sum(axis=-1)


class _PositiveLast(transforms.Transform):
    """Transform of vectors whose last element is positive, by its logarithm."""

    name = "log_last"

    def forward(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        return value[..., -1].set(pt.log(value[..., -1]))

    def backward(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        return value[..., -1].set(pt.exp(value[..., -1]))

    def log_jac_det(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        return value[..., -1]


#: Transforms and starting points that no domain tells.
_TRANSFORMS = {
    "normal_inverse_gamma": _PositiveLast(), "von_mises": transforms.circular,
    "zero_sum_normal": transforms.ZeroSumTransform((-1,)),
}  # fmt: skip
_STARTING_POINTS = {
    "normal_inverse_gamma": lambda mu, lam, alpha, beta: pt.stack(pt.broadcast_arrays(mu, beta / (alpha + 1)), axis=-1),
}


def quantile_of(formula: Formula, value: TensorVariable, parameters: Sequence[Variable]) -> Variable:
    """Inverse of a density's distribution function."""
    try:
        return quantiles(formula, value, *parameters)
    except NotImplementedError:
        return icdf(counterpart(formula, parameters), value, warn_rvs=False)


def mean_of(formula: Formula, parameters: Sequence[Variable], shape: SymbolicShape) -> TensorVariable:
    """Expected values of a density, of a shape: PyMC's where PyMC has its distribution, else by the density's functions."""
    try:
        return mean(counterpart(formula, parameters, size=shape[: len(shape) - formula.observation.rank]))
    except NotImplementedError:
        return pt.broadcast_to(means(formula, parameters), shape)


def point_of(formula: Formula, parameters: Sequence[Variable], shape: SymbolicShape) -> TensorVariable:
    """Starting point of a density for variables of a shape, to which it may have to be broadcast."""
    size, core = shape[: len(shape) - formula.observation.rank], shape[-1:]
    try:
        return support_point(counterpart(formula, parameters, size=size))
    except NotImplementedError:
        known = _STARTING_POINTS.get(formula.density.name)
        point = _typical(formula, parameters) if known is None else known(*parameters)
        if point is None:
            point = pt.as_tensor(domains.point_of(formula.observation.words, pt, core[0] if core else None))
        return inside(formula, parameters, point)


def _typical(formula: Formula, parameters: Sequence[Variable]) -> TensorVariable | None:
    """Mean that a density's source writes, where it is finite, else the median; None where there is neither.

    Discrete densities start at the median, which is a whole number.
    """
    center: Any = None
    if formula.density.definition.role("mean") is not None and not formula.discrete:
        center = means(formula, parameters)
    try:
        median = quantiles(formula, 0.5, *parameters)
    except NotImplementedError:
        return center
    if center is None:
        return median
    finite = pt.lt(pt.abs(center), np.inf)  # the median may take a search, and so is found only where it is wanted
    chosen: Any = ifelse(pt.all(finite), center, pt.switch(finite, center, median))
    return chosen


def inside(formula: Formula, parameters: Sequence[Variable], point: TensorVariable) -> TensorVariable:
    """Point well between a density's ends: `point` itself, else the ends' middle, or a little inside the only one."""
    ends = zip(ends_of(formula, parameters), (-np.inf, np.inf), strict=True)
    lower, upper = (infinite if end is None else end for end, infinite in ends)
    finite_lower, finite_upper = pt.invert(pt.isinf(lower)), pt.invert(pt.isinf(upper))
    one_sided = pt.switch(finite_lower, lower + 1, upper - 1)
    other = pt.switch(finite_lower & finite_upper, (lower + upper) / 2, one_sided)
    return pt.switch((point > lower) & (point < upper), point, other)
