"""From PyTensor's arrays to the marginal likelihood of a Gaussian process on a device."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...draws.generator import Generator
from ...evaluation.gradient import reduced
from ...gp import Covariance, MarginalLikelihood
from ...gp.expression import require_inside
from ...gp.parameters import MEAN, SIGMA
from ...language.printer import Printer
from .density import Evaluator, Formula, in_one_process

OBSERVATIONS, POINTS = "y", "x"


class GPFormula(Formula):
    """The density of observations of a Gaussian process: a vector with an element for each point.

    Its arguments are the observations, the points, the noise's standard deviation, the mean, and the hyperparameters of the
    covariance function.

    Parameters
    ----------
    covariance : Covariance
    vectors : tuple of str
        The arguments beside observations and points that are vectors.
    jitter : float
        See `gpustats.gp.MarginalLikelihood`.
    """

    single = frozenset({POINTS})

    def __init__(self, covariance: Covariance, vectors: Sequence[str] = (), jitter: float = 0.0):
        self.covariance, self.vectors, self.jitter = covariance, tuple(vectors), float(jitter)
        self.name, self.kind, self.words = "gp_marginal", "logpdf", frozenset({"real", "vector"})
        code = Printer("float64")
        functions = "".join(code.function(f) for _, f in sorted(covariance.functions.items()))
        text = f"{covariance.source}\0{functions}\0{covariance.inputs}"
        self.key = ("gp", *self.vectors, str(self.jitter), hashlib.sha256(text.encode()).hexdigest())
        by_row = {n: "(n)" if n in self.vectors else "()" for n in (SIGMA, MEAN)}
        of_columns = {n: "(p)" if n in self.vectors else "()" for n in covariance.parameters}
        arguments = {OBSERVATIONS: "(n)", POINTS: "(n,p)", **by_row, **of_columns}
        self.names, self.cores = tuple(arguments), tuple(arguments.values())
        self.ranks = tuple({"()": 0, "(n,p)": 2}.get(core, 1) for core in self.cores)
        self.domains = ("vector", "vector", "nonnegative", "real", *covariance.domains.values())
        self.differentiable = tuple(range(len(self.names)))

    def of_kind(self, kind: str) -> Formula:
        raise NotImplementedError("the observations of a Gaussian process have no distribution function that is computed")

    def evaluator(self, known: Mapping[int, np.ndarray]) -> Evaluator:
        return GPEvaluator(self, known)

    def __reduce__(self) -> tuple:
        return GPFormula, (self.covariance, self.vectors, self.jitter)


class GPEvaluator(Evaluator):
    """A Gaussian process' log-densities, gradients and draws at arguments of which some never change.

    The log-density is -inf where the covariance matrix is not positive definite, and nan outside the domains.
    """

    formula: GPFormula

    def __init__(self, formula: GPFormula, known: Mapping[int, np.ndarray]):
        self.formula, self.known = formula, dict(known)
        self.free = tuple(i for i in range(len(formula.names)) if i not in self.known)
        self._bound: MarginalLikelihood | None = None

    @in_one_process
    def table(self, values: Sequence[np.ndarray]) -> np.ndarray:
        arguments, ranks = self._merge(values), self.formula.ranks
        shape, places = self._sets(arguments)
        rows = ([_at(v, r, shape, place) for v, r in zip(arguments, ranks, strict=True)] for place in places)
        return np.array([self._evaluate(given, ())[0] for given in rows]).reshape(shape)

    @in_one_process
    def sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        return self._added(self._merge(values), None, wrt)

    @in_one_process
    def weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        return self._added(self._merge(values), weight, wrt)[1:]

    @in_one_process
    def draws(
        self, parameters: Sequence[np.ndarray], size: tuple[int, ...], length: int | None, rng: Generator
    ) -> np.ndarray:
        """Of the prior and the noise: of a process without data, at new points."""
        ranks = self.formula.ranks[1:]
        cores = [p.shape[p.ndim - r :] for p, r in zip(parameters, ranks, strict=True)]
        alone = all(p.size == math.prod(core) for p, core in zip(parameters, cores, strict=True))
        if alone:  # of one process all at once
            parameters = [p.reshape(core) for p, core in zip(parameters, cores, strict=True)]
        result = np.empty((*size, cores[0][0]))
        for place in np.ndindex(*(() if alone else size)):
            rows = (_at(p, r, size, place) for p, r in zip(parameters, ranks, strict=True))
            given = dict(zip(self.formula.names[1:], rows, strict=True))
            x, sigma, mean = (given.pop(n) for n in (POINTS, SIGMA, MEAN))
            process = MarginalLikelihood(self.formula.covariance, x[:0], x[:0, 0])
            out = result[place]
            out[...] = process.draw(x, out.size // len(x), rng, noise=sigma, mean_xs=mean, **given).reshape(out.shape)
        return result

    # -- arguments

    def _sets(self, arguments: Sequence[np.ndarray]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
        """The shape of the leading axes together, and the places in it: there is one evaluation for each."""
        batch = [v.shape[: v.ndim - r] for v, r in zip(arguments, self.formula.ranks, strict=True)]
        shape = np.broadcast_shapes(*batch)
        return shape, list(np.ndindex(*shape))

    def _added(self, arguments: Sequence[np.ndarray], weight: np.ndarray | None, wrt: tuple[int, ...]) -> list[np.ndarray]:
        """The sum over all sets, each times its weight, and its derivatives."""
        shape, places = self._sets(arguments)
        ranks = self.formula.ranks
        factors = np.broadcast_to(1.0 if weight is None else weight, shape)
        total = 0.0
        slopes = [np.zeros((*shape, *arguments[i].shape[arguments[i].ndim - ranks[i] :])) for i in wrt]
        for place in places:
            rows = [_at(v, r, shape, place) for v, r in zip(arguments, ranks, strict=True)]
            value, found = self._evaluate(rows, wrt)
            total += factors[place] * value
            for slope, derivative in zip(slopes, found, strict=True):
                slope[place] = factors[place] * derivative
        return [np.asarray(total), *(np.asarray(reduced(s, arguments[i].shape)) for s, i in zip(slopes, wrt, strict=True))]

    def _evaluate(self, rows: Sequence[np.ndarray], wrt: tuple[int, ...]) -> tuple[float, list[Any]]:
        """The log-density of one set of arguments, and its derivatives in some."""
        formula = self.formula
        names = [formula.names[i] for i in wrt]
        given = dict(zip(formula.names, rows, strict=True))
        if not self._inside(given):
            return math.nan, [np.full(rows[i].shape, np.nan) for i in wrt]
        y, x = given.pop(OBSERVATIONS), given.pop(POINTS)
        if y.shape != x.shape[:1]:
            raise ValueError(f"y has shape {y.shape}, and x {x.shape}: y must have an element for each row of x")
        # y counts by its distance from the mean alone. So the points are bound, and not the observations, which may be random.
        given[MEAN] = np.asarray(given[MEAN] - y, np.float64)
        ml = self._bound
        if ml is None:
            ml = MarginalLikelihood(formula.covariance, x, np.zeros(len(x), x.dtype), jitter=formula.jitter)
            if formula.names.index(POINTS) in self.known:
                self._bound = ml
        by_row = {OBSERVATIONS, MEAN} & set(names)
        wanted = [n for n in names if n not in by_row] + [MEAN] * bool(by_row)
        try:
            if not wrt:
                return ml(**given), []
            value, found = ml.value_and_grad(**given, wrt=wanted)
        except np.linalg.LinAlgError:
            return -math.inf, [np.zeros(rows[i].shape) for i in wrt]
        if by_row:
            found[OBSERVATIONS] = -found[MEAN]
            if MEAN not in formula.vectors:
                found[MEAN] = found[MEAN].sum()
        return value, [found[n] for n in names]

    def _inside(self, given: Mapping[str, np.ndarray]) -> bool:
        """Whether everything lies in its domain, and is finite."""
        sigma = given[SIGMA]
        if not ((sigma >= 0) & np.isfinite(sigma)).all() or not all(np.isfinite(given[n]).all() for n in (OBSERVATIONS, MEAN)):
            return False
        try:
            for argument in self.formula.covariance.arguments:
                for value in given[argument.name].reshape(-1):
                    require_inside(argument, value)
        except ValueError:
            return False
        return True


def _at(value: np.ndarray, rank: int, shape: tuple[int, ...], place: tuple[int, ...]) -> np.ndarray:
    """One of the sets that a parameter has along leading axes, which broadcast to `shape`."""
    core = value.shape[value.ndim - rank :]
    return value if value.ndim == rank else np.broadcast_to(value, shape + core)[place]
