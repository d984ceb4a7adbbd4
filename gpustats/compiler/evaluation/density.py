"""Density in a graph: from PyTensor's arrays to the sums, gradients and draws on a device, for every linker."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ...density import Density
from ...draws.generator import Generator
from ...elliptical.density import SCALES
from ...evaluation.compiled import RepeatedSum
from ...evaluation.gradient import gradient_of, reduced
from ...evaluation.kinds import Plans
from ...evaluation.pointwise import Pointwise
from ...language.device_function import Argument
from ...language.printer import Printer
from ...likelihood import Likelihood
from ...runtime import choose
from ...runtime.transfers import to_device
from .batches import Shape, batch_of, common_batch, core_of
from .formula import Evaluator, Formula, FormulaArgument, LogFunction

#: the axes of a number, a vector and a matrix
_CORES = ("()", "(d)", "(d,d)")


class DensityFormula(Formula):
    """Log-density of a distribution, its distribution function, its quantile function or its mean.

    A quantile takes a probability in the place of the observation. The mean is a function of the parameters alone. `names` are
    the arguments by the names that a call gives, the observation first: a covariance matrix has several.
    """

    def __init__(self, density: Density, names: Sequence[str] = (), kind: LogFunction = LogFunction.LOGPDF):
        self.density = density
        self._named = names = tuple(names) or tuple(density.domains)
        domains = density.domains
        arguments = [Argument(n, domains["cov"] if n in SCALES else domains[n]) for n in names]
        #: the function of these arguments, in this order, that is evaluated
        function = density.log_density if kind is LogFunction.LOGPDF else density.function(kind.value)
        self.function: Pointwise = function.for_arguments(names)
        super().__init__(
            density.name,
            [
                FormulaArgument(a.name, _CORES[a.rank], a.domain, "integer" not in a.words)
                for a in arguments[kind is LogFunction.MEAN :]
            ],
            (*names, kind.value, digest(density.source, self.function.functions)),
            density.discrete,
            kind,
        )
        self.passed_by_name = names != tuple(domains)

    def of_kind(self, kind: LogFunction) -> DensityFormula:
        return DensityFormula(self.density, self._named, kind)

    def evaluator(self, known: Mapping[int, np.ndarray]) -> DensityEvaluator:
        return DensityEvaluator(self, known)

    def as_call(self, parameters: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """Parameters as methods of a density take them: those by place, and those by name."""
        return ((), dict(zip(self.names[1:], parameters, strict=True))) if self.passed_by_name else (parameters, {})

    def __reduce__(self) -> tuple:
        density = self.density
        return _restored, (self.key, density.definition, density._functions, density.defaults, self._named, self.kind)


def digest(source: str, functions: Mapping[str, Any]) -> str:
    """Digest of a source, equal for equal sources with equal device functions."""
    code = Printer("float64")
    printed = "".join(code.function(f) for _, f in sorted(functions.items()))
    return hashlib.sha256(f"{source}\0{printed}".encode()).hexdigest()


_unpickled: WeakValueDictionary[tuple, DensityFormula] = WeakValueDictionary()  # so that equal graphs share compiled kernels


def _restored(
    key: tuple, definition: Any, functions: Any, defaults: Any, names: tuple[str, ...], kind: LogFunction
) -> DensityFormula:
    formula = _unpickled.get(key)
    if formula is None:
        formula = _unpickled[key] = DensityFormula(Density(definition, functions, defaults), names, kind)
    return formula


class DensityEvaluator(Evaluator):
    """Values of a density, its sums, gradients and draws, at arrays of which some never change."""

    formula: DensityFormula

    def __init__(self, formula: DensityFormula, known: Mapping[int, np.ndarray]):
        super().__init__(formula, known)
        self._plans: Plans[_SumForShapes] = Plans()

    def table(self, values: Sequence[np.ndarray]) -> np.ndarray:
        function = self.formula.function
        return np.asarray(function.table(function.bind(self.all_arguments(values), {})), np.float64)

    def sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        shapes = tuple([v.shape for v in values])
        return self._plans.plan(shapes, _SumForShapes, self, shapes)(values, wrt)

    def sums_of_sets(self, values: Sequence[np.ndarray], n_sets: int, wrt: tuple[int, ...]) -> list[np.ndarray] | None:
        shapes = tuple([v.shape[1:] for v in values])
        return self._plans.plan(shapes, _SumForShapes, self, shapes).of_sets(values, n_sets, wrt)

    def compiled(self, shapes: Sequence[Shape], wrt: tuple[int, ...], n_sets: int | None = None) -> RepeatedSum | None:
        return self._plans.plan(tuple(shapes), _SumForShapes, self, shapes).compiled(wrt, n_sets)

    def weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        # Where every observation has parameters of its own, the derivatives of the sum are those of its terms.
        arguments, names, ranks = self.all_arguments(values), self.formula.names, self.formula.ranks
        batch = common_batch(arguments, ranks)
        cores = [core_of(v, r) for v, r in zip(arguments, ranks, strict=True)]
        rows = [np.broadcast_to(v, batch + core).reshape(-1, *core) for v, core in zip(arguments, cores, strict=True)]
        function = self.formula.function
        _, gradients = gradient_of(function, tuple([names[i] for i in wrt]))(function.bind(rows, {}))
        result = []
        for i in wrt:
            terms = np.asarray(gradients[names[i]]).reshape(batch + cores[i])
            factors = np.reshape(weight, np.shape(weight) + (1,) * ranks[i])
            result.append(reduced(terms * factors, arguments[i].shape))
        return result

    def draws(self, parameters: Sequence[np.ndarray], size: tuple[int, ...], length: int | None, rng: Generator) -> np.ndarray:
        density = self.formula.density
        out = None if length is None else np.empty((*size, length), np.int64 if density.discrete else np.float64)
        by_place, by_name = self.formula.as_call(parameters)
        return density.rvs(*by_place, size=size, rng=rng, out=out, **by_name)


class _SumForShapes:
    """Sum of log-densities at arrays of certain shapes, for which everything but the numbers is decided.

    A sampler asks for it thousands of times. The shapes are those of the arrays that a call takes.
    """

    def __init__(self, evaluator: DensityEvaluator, shapes: Sequence[Shape]):
        formula, known = evaluator.formula, evaluator.known
        self._formula = formula
        by_place = {i: v.shape for i, v in known.items()} | dict(zip(evaluator.free, shapes, strict=True))
        passed = shapes_passed([by_place[i] for i in range(len(by_place))], formula.ranks)
        self._shape_of_gradient = dict(zip(evaluator.free, shapes, strict=True))
        self._free = [(i, passed[i]) for i in evaluator.free]
        self._arguments: list[Any] = [None] * len(passed)  # of a call, but for those that differ from call to call
        for i, value in known.items():
            self._arguments[i] = _as_passed(value, passed[i], on_device=i > 0)
        self._likelihood: Likelihood | None = None  # bound to the observations, where these never change
        if 0 in known and formula.kind is LogFunction.LOGPDF:
            one = math.prod(batch_of(known[0], formula.ranks[0])) == 1
            x = self._arguments[0]
            self._likelihood = Likelihood(formula.density, np.reshape(x, (1, *np.shape(x))) if one else x)

    def __call__(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        """Sum and derivatives, as `Evaluator.sums` gives them."""
        arguments = self._arguments.copy()
        for (i, shape), value in zip(self._free, values, strict=True):
            arguments[i] = value.item() if shape is None else value.reshape(shape)
        names = tuple([self._formula.names[i] for i in wrt])
        evaluate = self._by_function if self._likelihood is None else self._by_likelihood
        value, gradients = evaluate(arguments, names)
        total = np.asarray(value if isinstance(value, float) else value.sum())
        shapes = self._shape_of_gradient
        return [total, *[np.asarray(gradients[n]).reshape(shapes[i]) for n, i in zip(names, wrt, strict=True)]]

    def of_sets(self, values: Sequence[np.ndarray], n_sets: int, wrt: tuple[int, ...]) -> list[np.ndarray] | None:
        """Sums and derivatives of sets of parameters, as `Evaluator.sums_of_sets` gives them."""
        if self._likelihood is None:
            return None
        arguments = self._arguments.copy()
        for (i, shape), value in zip(self._free, values, strict=True):
            rows = () if shape is not None and shape[:1] == (-1,) else (1,)
            arguments[i] = value.reshape(n_sets, *rows, *(shape or ()))
        names, shapes = tuple([self._formula.names[i] for i in wrt]), self._shape_of_gradient
        total, gradients = self._by_likelihood(arguments, names)
        found = [np.asarray(gradients[n]).reshape(n_sets, *shapes[i]) for n, i in zip(names, wrt, strict=True)]
        return [np.array(np.broadcast_to(total, n_sets)), *found]

    def compiled(self, wrt: tuple[int, ...], n_sets: int | None) -> RepeatedSum | None:
        """Sum by compiled code: see `Evaluator.compiled`."""
        names, arguments, free = self._formula.names, self._arguments.copy(), dict(self._free)
        if self._likelihood is None or self._formula.passed_by_name:
            return None
        for i, shape in free.items():
            arguments[i] = 1.0 if shape is None else np.ones(self._shape_of_gradient[i]).reshape(shape)
        fixed = {n: a for i, (n, a) in enumerate(zip(names, arguments, strict=True)) if i and i not in free}
        if n_sets is not None:
            arguments = [np.broadcast_to(a, (n_sets, *np.shape(a))) for a in arguments]
        given = dict(zip(names[1:], arguments[1:], strict=True))
        found = self._likelihood.compiled(given, [names[i] for i in wrt], n_sets)
        return found and found.fix(fixed)

    def _by_likelihood(self, arguments: Sequence[Any], wrt: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
        likelihood = self._likelihood
        assert likelihood is not None
        by_place, by_name = self._formula.as_call(arguments[1:])
        if not wrt:
            return likelihood(*by_place, **by_name), {}
        return likelihood.value_and_grad(*by_place, wrt=wrt, **by_name)

    def _by_function(self, arguments: Sequence[Any], wrt: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
        function = self._formula.function
        bound = function.bind(arguments, {})
        return gradient_of(function, wrt)(bound) if wrt else (function.sum(bound), {})


def shapes_passed(shapes: Sequence[Shape], ranks: Sequence[int]) -> list[Shape | None]:
    """Shapes in which arrays are passed on to a sum: with one axis of rows wherever that is possible; None for a number."""
    batches = [s[: len(s) - r] for s, r in zip(shapes, ranks, strict=True)]
    full = np.broadcast_shapes(*batches)
    one_axis = all(math.prod(b) == 1 or b == full for b in batches)
    passed: list[Shape | None] = []
    for shape, batch, rank in zip(shapes, batches, ranks, strict=True):
        core = shape[len(batch) :]
        if math.prod(batch) == 1 and (one_axis or not rank):
            passed.append(core or None)
        else:
            passed.append((-1, *core) if one_axis else shape)
    return passed


def _as_passed(value: np.ndarray, shape: Shape | None, on_device: bool) -> Any:
    """Array that never changes, in the shape in which it is passed on; `on_device`: with its rows on the device."""
    if shape is None:
        return value.item()
    array = np.ascontiguousarray(value.reshape(shape))
    return to_device(array) if on_device and shape[:1] == (-1,) and not choose.get().host_visible else array
