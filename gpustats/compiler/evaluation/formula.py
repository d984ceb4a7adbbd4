"""Log-densities as PyTensor's Ops know them: the arguments of a formula, and its evaluator at arrays."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from ...density import Density
from ...draws.generator import Generator
from ...evaluation.arguments import require
from ...evaluation.compiled import RepeatedSum
from ...language.device_function import Argument
from .batches import fill
from .forked import survives_fork


class LogFunction(Enum):
    """Function of a distribution that a formula computes."""

    LOGPDF = "logpdf"
    LOGCDF = "logcdf"
    LOGSF = "logsf"
    QUANTILE = "ppf"
    MEAN = "mean"


class FormulaArgument(NamedTuple):
    """Argument of a formula: the observation, or a parameter."""

    name: str
    core: str  #: axes that belong to one value, as NumPy writes them: ``"()"`` for numbers, ``"(d)"`` for vectors
    domain: str  #: as the comment of a device function has it, such as ``"positive"``
    differentiable: bool = True  #: whether there is a derivative in it; there is none in whole numbers
    single: bool = False  #: whether a constant in float32 is computed with in float32

    @property
    def rank(self) -> int:
        """Number of axes that belong to one value."""
        return 0 if self.core == "()" else 1 + self.core.count(",")

    @property
    def words(self) -> frozenset[str]:
        """Words of the domain."""
        return frozenset(self.domain.split())


class Formula(ABC):
    """Log-density, or the logarithm of a distribution function, as a part of a graph.

    Two formulas are equal where everything that they compute is, whatever process they were made in: as the `key` tells, for
    formulas of one class. Their name is that in errors, and in graphs that are printed. The arguments begin with the
    observation; `discrete` says whether observations are whole numbers.
    """

    density: Density  #: that of an observation or of a mixture's component; a Gaussian process has none

    def __init__(
        self, name: str, arguments: Sequence[FormulaArgument], key: tuple[str, ...], discrete: bool,
        kind: LogFunction = LogFunction.LOGPDF,
    ):
        self.name, self.arguments, self.key, self.discrete, self.kind = name, tuple(arguments), key, discrete, kind
        self.names = tuple(a.name for a in self.arguments)
        self.ranks = tuple(a.rank for a in self.arguments)  # numbers of axes of one value of each argument
        #: the places of the arguments in which there are derivatives
        self.differentiable = tuple(i for i, a in enumerate(self.arguments) if a.differentiable)

    @property
    def observation(self) -> FormulaArgument:
        return self.arguments[0]

    @property
    def signature(self) -> str:
        """Axes of one value of each parameter and of the observation, as NumPy writes them: ``"(),()->()"``."""
        return f"{','.join(a.core for a in self.arguments[1:])}->{self.observation.core}"

    @abstractmethod
    def of_kind(self, kind: LogFunction) -> Formula:
        """Formula of another function of the same distribution and arguments."""

    @abstractmethod
    def evaluator(self, known: Mapping[int, np.ndarray]) -> Evaluator:
        """Evaluator for which some arguments, by their places, never change."""

    def __repr__(self) -> str:
        return self.name if self.kind is LogFunction.LOGPDF else f"{self.name}_{self.kind.value}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __deepcopy__(self, memo: object) -> Formula:
        return self


class Evaluator(ABC):
    """Values, sums, gradients and draws of a formula, at arrays of which some never change.

    Those are `known`, by the places of their arguments, and put on the device when first needed; `free` are the places of the
    others, for each of which the methods take an array. An evaluator serves several threads.

    Of invalid parameters the device makes nan. Only where there is nan, a second look tells whether it comes of such parameters
    or of arguments that are nan themselves: so that it costs nothing where all is well.

    What a class of evaluators computes on a device survives a fork.
    """

    def __init_subclass__(cls) -> None:
        for name in {"table", "sums", "sums_of_sets", "weighted", "draws"} & vars(cls).keys():
            setattr(cls, name, survives_fork(getattr(cls, name)))

    def __init__(self, formula: Formula, known: Mapping[int, np.ndarray]):
        self.formula, self.known = formula, dict(known)
        self.free = tuple(i for i in range(len(formula.arguments)) if i not in self.known)

    def __reduce__(self) -> tuple:
        return type(self), (self.formula, self.known)

    @abstractmethod
    def table(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Log-density at every point."""

    @abstractmethod
    def sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        """Sum of the log-densities, then its derivative in each of the arguments at the places `wrt`."""

    @abstractmethod
    def weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        """Derivatives, in each of the arguments at the places `wrt`, of the sum of weight × log-density."""

    @abstractmethod
    def draws(self, parameters: Sequence[np.ndarray], size: tuple[int, ...], length: int | None, rng: Generator) -> np.ndarray:
        """Random draws of shape `size` and the axis of a vector, whose `length` is told where the parameters do not tell it."""

    # -- as PyMC takes invalid parameters: for all observations at once

    def checked_table(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Log-density at every point, then whether all parameters are valid."""
        terms = self.table(values)
        return [terms, np.array(not (np.isnan(terms).any() and self.refuses(values, terms)))]

    def checked_sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        """Sum, whether all parameters are valid, and derivatives: -inf and zeros where parameters are invalid."""
        result = self.sums(values, wrt)
        if math.isnan(result[0]) and self.refuses(values):
            return [np.array(-np.inf), np.array(False), *map(np.zeros_like, result[1:])]
        result.insert(1, np.array(True))
        return result

    def compiled(
        self, shapes: Sequence[tuple[int, ...]], wrt: tuple[int, ...], n_sets: int | None = None
    ) -> RepeatedSum | None:
        """The `sums` for arrays of these shapes by compiled code, by the arguments' names; None where only Python can.

        With `n_sets`, the `sums_of_sets`: the shapes are those of one set.
        """
        return None

    def sums_of_sets(self, values: Sequence[np.ndarray], n_sets: int, wrt: tuple[int, ...]) -> list[np.ndarray] | None:
        """Sums and derivatives, as from `sums`, for arrays with a first axis of sets of parameters, which all results have.

        None where each set takes a call of its own.
        """
        return None

    def checked_sums_of_sets(self, values: Sequence[np.ndarray], n_sets: int, wrt: tuple[int, ...]) -> list[np.ndarray]:
        """Checked sums, as from `checked_sums`, for arrays with a first axis of sets of parameters, which all results have."""
        found = self.sums_of_sets(values, n_sets, wrt)
        if found is None:
            shapes = [values[self.free.index(i)].shape[1:] for i in wrt]
            found, others = [np.empty(n_sets), *(np.empty((n_sets, *s)) for s in shapes)], np.arange(n_sets)
        else:
            others = np.flatnonzero(np.isnan(found[0]))
        found.insert(1, np.ones(n_sets, bool))
        fill(found, others, lambda k: self.checked_sums([v[k] for v in values], wrt))
        return found

    def checked_weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        """Derivatives of the weighted sum: zeros where parameters are invalid."""
        gradients = self.weighted(values, weight, wrt)
        if any(np.isnan(g).any() for g in gradients) and self.refuses(values):
            return [np.zeros_like(g) for g in gradients]
        return gradients

    def refuses(self, values: Sequence[np.ndarray], terms: np.ndarray | None = None) -> bool:
        """True if parameters are invalid: outside their domains, or without a log-density although no argument is nan.

        `terms` is their `table`, where it is known.
        """
        arguments = self.all_arguments(values)
        if not all(map(_inside_domain, self.formula.arguments[1:], arguments[1:])):
            return True
        without = np.isnan(self.table(values) if terms is None else terms)
        for array, rank in zip(arguments, self.formula.ranks, strict=True):
            given = np.isnan(array)
            without = without & ~given.any(axis=tuple(range(given.ndim - rank, given.ndim)))
        return bool(without.any())

    def all_arguments(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Arguments in their order: those that never change, and `values`."""
        by_place = self.known | dict(zip(self.free, values, strict=True))
        return [by_place[i] for i in range(len(by_place))]


def _inside_domain(argument: FormulaArgument, value: np.ndarray) -> bool:
    """True if all values of a parameter lie in its domain; where that is all real numbers, nan does not matter."""
    if argument.words <= {"real", "vector"}:
        return True
    try:
        require(Argument(argument.name, argument.domain), value)
    except ValueError:
        return False
    return True
