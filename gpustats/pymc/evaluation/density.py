"""From PyTensor's arrays to a density on a device: what the Ops compute, whichever linker calls them."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from ...density import Density
from ...draws.generator import Generator
from ...elliptical.density import SCALES
from ...evaluation.gradient import gradient_of, reduced
from ...evaluation.pointwise import Pointwise
from ...language.device_function import Argument
from ...language.printer import Printer
from ...likelihood import Likelihood
from ...runtime import choose
from ...runtime.transfers import to_device
from . import forked


class Formula:
    """A density, or its distribution function, as a part of a graph.

    Two are equal where everything that they compute is, whatever process they were made in.

    Parameters
    ----------
    density : Density
    names : sequence of str, optional
        Its arguments by the names by which they are given, the observation first: a covariance matrix has several.
    kind : {"logpdf", "logcdf", "logsf"}

    Attributes
    ----------
    words : frozenset of str
        Of the observation's domain.
    ranks, cores : tuple
        For each argument the number of its axes that belong to one value, and these axes as NumPy writes them: ``"(d,d)"``.
    differentiable : tuple of int
        The arguments that are not whole numbers.
    """

    single: frozenset[str] = frozenset()  #: arguments that are computed in float32 where they are constants of that type

    def __init__(self, density: Density, names: Sequence[str] = (), kind: str = "logpdf"):
        self.density, self.name, self.kind = density, density.name, kind
        self.names = tuple(names) or tuple(density.domains)
        code = Printer("float64")
        functions = "".join(code.function(f) for _, f in sorted(self.function.functions.items()))
        self.key = (*self.names, kind, hashlib.sha256(f"{density.source}\0{functions}".encode()).hexdigest())
        domains = density.domains
        arguments = [Argument(n, domains["cov"] if n in SCALES else domains[n]) for n in self.names]
        self.words = arguments[0].words
        self.domains = tuple(a.domain for a in arguments)
        self.ranks = tuple(a.rank for a in arguments)
        self.cores = tuple(("()", "(d)", "(d,d)")[r] for r in self.ranks)
        self.differentiable = tuple(i for i, a in enumerate(arguments) if "integer" not in a.words)

    def of_kind(self, kind: str) -> Formula:
        """The distribution function of the same arguments, or the survival function."""
        return Formula(self.density, self.names, kind)

    def evaluator(self, known: Mapping[int, np.ndarray]) -> Evaluator:
        """What computes it, at arguments of which these are known."""
        return Evaluator(self, known)

    @functools.cached_property
    def function(self) -> Pointwise:
        """What is evaluated, of these arguments in this order."""
        density = self.density
        of_kind = {"logpdf": "log_density", "logcdf": "log_cdf", "logsf": "log_sf"}[self.kind]
        return getattr(density, of_kind).for_arguments(self.names)

    def __repr__(self) -> str:
        return self.name if self.kind == "logpdf" else f"{self.name}_{self.kind}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __deepcopy__(self, memo: Any) -> Formula:
        return self

    def __reduce__(self) -> tuple:
        density = self.density
        return _restore, (self.key, density.definition, density._functions, density.defaults, self.names, self.kind)


_restored: WeakValueDictionary[tuple, Formula] = WeakValueDictionary()  # so that equal graphs share compiled kernels


def _restore(key: tuple, definition: Any, functions: Any, defaults: Any, names: tuple[str, ...], kind: str) -> Formula:
    formula = _restored.get(key)
    if formula is None:
        formula = _restored[key] = Formula(Density(definition, functions, defaults), names, kind)
    return formula


class _Plan(NamedTuple):
    """How arrays of certain shapes are passed on."""

    shapes: list[tuple[int, ...] | None]  # each argument's; None: a float
    likelihood: Likelihood | None
    known: dict[int, Any]


def in_one_process(method: Callable) -> Callable:
    """A method that the worker of a forked process runs for it."""

    @functools.wraps(method)
    def routed(self: Any, *arguments: Any) -> Any:
        return forked.call(self, method.__name__, *arguments) if forked.elsewhere() else method(self, *arguments)

    return routed


class Evaluator:
    """A density's values, sums, gradients and draws at arguments of which some never change.

    The known ones are put on the device when first needed. An evaluator serves several threads; it is never pickled.

    Parameters
    ----------
    formula : Formula
    known : mapping
        Index of an argument -> its array.
    """

    def __init__(self, formula: Formula, known: Mapping[int, np.ndarray]):
        self.formula, self.known = formula, dict(known)
        self.free = tuple(i for i in range(len(formula.names)) if i not in self.known)
        self._by_name = formula.names != tuple(formula.density.domains)
        self._plans: dict[tuple, _Plan] = {}

    # -- what the Ops ask for

    @in_one_process
    def table(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """The log-density at every point."""
        function = self.formula.function
        return np.asarray(function.table(function.bind(self._merge(values), {})), np.float64)

    @in_one_process
    def sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        """[the sum, its gradient for each of wrt]"""
        shapes = tuple([v.shape for v in values])
        plan = self._plans.get(shapes)
        if plan is None:
            plan = self._plans[shapes] = self._plan(shapes)
        arguments: list[Any] = [None] * len(self.formula.names)
        for i, value in plan.known.items():
            arguments[i] = value
        for i, value in zip(self.free, values, strict=True):
            shape = plan.shapes[i]
            arguments[i] = value.item() if shape is None else value.reshape(shape)
        names, function = self.formula.names, self.formula.function
        wanted = tuple([names[i] for i in wrt])
        if plan.likelihood is not None:
            by_place, by_name = self.passed(arguments[1:])
            if not wrt:
                return [_summed(plan.likelihood(*by_place, **by_name))]
            value, gradients = plan.likelihood.value_and_grad(*by_place, wrt=wanted, **by_name)
        elif not wrt:
            return [_summed(function.sum(function.bind(arguments, {})))]
        else:
            value, gradients = gradient_of(function, wanted)(function.bind(arguments, {}))
        shape_of = dict(zip(self.free, shapes, strict=True))
        return [_summed(value), *[np.asarray(gradients[names[i]]).reshape(shape_of[i]) for i in wrt]]

    @in_one_process
    def weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        """Gradients, for each of wrt, of the sum of weight × log-density."""
        arguments, ranks = self._merge(values), self.formula.ranks
        shape = np.broadcast_shapes(*(v.shape[: v.ndim - r] for v, r in zip(arguments, ranks, strict=True)))
        # Where every observation has parameters of its own, the gradients of the sum are those of its terms.
        rows = [
            np.broadcast_to(v, shape + v.shape[v.ndim - r :]).reshape(-1, *v.shape[v.ndim - r :])
            for v, r in zip(arguments, ranks, strict=True)
        ]
        names = [self.formula.names[i] for i in wrt]
        function = self.formula.function
        _, gradients = gradient_of(function, tuple(names))(function.bind(rows, {}))
        result = []
        for i, name in zip(wrt, names, strict=True):
            core = arguments[i].shape[arguments[i].ndim - ranks[i] :]
            terms = np.asarray(gradients[name]).reshape(shape + core)
            result.append(reduced(terms * np.reshape(weight, np.shape(weight) + (1,) * ranks[i]), arguments[i].shape))
        return result

    @in_one_process
    def draws(
        self, parameters: Sequence[np.ndarray], size: tuple[int, ...], length: int | None, rng: Generator
    ) -> np.ndarray:
        """Random draws of shape `size` and the axis of a vector, whose `length` is told where the parameters do not tell."""
        density = self.formula.density
        out = None if length is None else np.empty((*size, length), np.int64 if density.discrete else np.float64)
        by_place, by_name = self.passed(parameters)
        return density.rvs(*by_place, size=size, rng=rng, out=out, **by_name)

    # -- arguments

    def passed(self, parameters: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """How a density takes them: those by place, and those by name."""
        return ((), dict(zip(self.formula.names[1:], parameters, strict=True))) if self._by_name else (parameters, {})

    def _merge(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        given = self.known | dict(zip(self.free, values, strict=True))
        return [given[i] for i in range(len(given))]

    def _plan(self, shapes: Sequence[tuple[int, ...]]) -> _Plan:
        """Decide once for the arguments' shapes how they are passed on: one row of numbers wherever that is possible."""
        given = {i: v.shape for i, v in self.known.items()} | dict(zip(self.free, shapes, strict=True))
        ranks = self.formula.ranks
        batch = {i: s[: len(s) - ranks[i]] for i, s in given.items()}
        full = np.broadcast_shapes(*batch.values())
        single = {i for i, b in batch.items() if math.prod(b) == 1}
        flat = all(i in single or b == full for i, b in batch.items())
        passed: list[tuple[int, ...] | None] = []
        for i in range(len(given)):
            core = given[i][len(batch[i]) :]
            if i in single and (flat or ranks[i] == 0):
                passed.append(core or None)
            else:
                passed.append((-1, *core) if flat else given[i])
        known: dict[int, Any] = {}
        for i, value in self.known.items():
            shape = passed[i]
            known[i] = value.item() if shape is None else np.ascontiguousarray(value.reshape(shape))
            if i and i not in single and flat and not choose.get().host_visible:
                known[i] = to_device(known[i])
        likelihood = None
        if 0 in known and self.formula.kind == "logpdf":
            x = known.pop(0)
            likelihood = Likelihood(self.formula.density, np.reshape(x, (1, *np.shape(x))) if 0 in single else x)
        return _Plan(passed, likelihood, known)


def _summed(value: Any) -> np.ndarray:
    return np.asarray(value if isinstance(value, float) else value.sum())
