"""Observations of a Gaussian process in a graph: from PyTensor's arrays to the marginal likelihood and draws on a device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...draws.generator import Generator
from ...evaluation.compiled import RepeatedSum
from ...evaluation.gradient import reduced
from ...processes.covariance import Covariance
from ...processes.expression import require_inside
from ...processes.marginal import MarginalLikelihood
from ...processes.parameters import MEAN, SIGMA
from ...processes.vecchia import Vecchia
from .batches import along_one_axis, batch_of, common_batch, core_of, values_at
from .density import digest
from .formula import Evaluator, Formula, FormulaArgument, LogFunction

OBSERVATIONS, POINTS = "y", "x"


class GPFormula(Formula):
    """Log-density of observations of a Gaussian process: a vector with an element for each point.

    Its arguments are the observations, the points, the noise's standard deviation, the mean, and the hyperparameters of the
    covariance function. `vectors` are the arguments beside observations and points that are vectors; for `jitter` see
    `gpustats.gp.MarginalLikelihood`.
    """

    name = "gp_marginal"

    def __init__(self, covariance: Covariance, vectors: Sequence[str] = (), jitter: float = 0.0, *more: str):
        self.covariance, self.vectors, self.jitter = covariance, tuple(vectors), float(jitter)
        arguments = [
            FormulaArgument(OBSERVATIONS, "(n)", "real vector"),
            FormulaArgument(POINTS, "(n,p)", "vector", single=True),
            FormulaArgument(SIGMA, "(n)" if SIGMA in self.vectors else "()", "nonnegative"),
            FormulaArgument(MEAN, "(n)" if MEAN in self.vectors else "()", "real"),
            *(FormulaArgument(n, "(p)" if n in self.vectors else "()", d) for n, d in covariance.domains.items()),
        ]
        source = digest(f"{covariance.source}\0{covariance.inputs}", covariance.functions)
        key = (self.name, *more, *self.vectors, str(self.jitter), source)
        super().__init__(self.name, arguments, key, discrete=False)

    def of_kind(self, kind: LogFunction) -> Formula:
        raise NotImplementedError("the observations of a Gaussian process have no distribution function that is computed")

    def evaluator(self, known: Mapping[int, np.ndarray]) -> GPEvaluator:
        return GPEvaluator(self, known)

    def __reduce__(self) -> tuple:
        return GPFormula, (self.covariance, self.vectors, self.jitter)


class GPEvaluator(Evaluator):
    """Log-densities of a Gaussian process, their gradients, and draws, at arrays of which some never change.

    The log-density is nan outside the domains, and where the covariance matrix is not positive definite. Arguments with leading
    axes are several sets: of few observations one launch, else each set is an evaluation of its own.
    """

    formula: GPFormula

    def __init__(self, formula: GPFormula, known: Mapping[int, np.ndarray]):
        super().__init__(formula, known)
        self._points = formula.names.index(POINTS)  # their place
        self._points_stay = self._points in self.known
        self._likelihood: MarginalLikelihood | None = None  # bound to the points, where these never change

    def table(self, values: Sequence[np.ndarray]) -> np.ndarray:
        arguments = self.all_arguments(values)
        batch = common_batch(arguments, self.formula.ranks)
        return self._of_sets(arguments, batch, ())[0].reshape(batch)

    def sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        arguments = self.all_arguments(values)
        return self._weighted_sum(arguments, 1.0, wrt)

    def sums_of_sets(self, values: Sequence[np.ndarray], n_sets: int, wrt: tuple[int, ...]) -> list[np.ndarray] | None:
        shapes = [v.shape[1:] for v in values]
        if not self._one_process(shapes, wrt):
            return None
        of_sets = self.known | dict(zip(self.free, values, strict=True))
        names, x = self.formula.names, self.known[self._points]
        rows = {names[i]: a.reshape(n_sets if i in self.free else 1, -1) for i, a in of_sets.items() if i != self._points}
        if (found := self._of_rows(x, rows, n_sets, [names[i] for i in wrt], several=True)) is None:
            return None
        totals, slopes = found
        return [totals, *(slopes[names[i]].reshape(of_sets[i].shape) for i in wrt)]

    def compiled(
        self, shapes: Sequence[tuple[int, ...]], wrt: tuple[int, ...], n_sets: int | None = None
    ) -> RepeatedSum | None:
        if not self._one_process(shapes, wrt):
            return None
        arguments, names, lines = self.all_arguments([np.ones(shape) for shape in shapes]), self.formula.names, n_sets or 1
        rows = {n: np.broadcast_to(a.reshape(-1), (lines, a.size)) for n, a in zip(names, arguments, strict=True)}
        del rows[POINTS]
        found = self._likelihood_at(self.known[self._points]).compiled(rows, [names[i] for i in wrt], n_sets)
        return found and found.fix({names[i]: value for i, value in self.known.items() if i != self._points})

    def weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        return self._weighted_sum(self.all_arguments(values), weight, wrt)[1:]

    def draws(self, parameters: Sequence[np.ndarray], size: tuple[int, ...], length: int | None, rng: Generator) -> np.ndarray:
        """Draws from the prior and the noise, as `Evaluator.draws` gives them, at the points among the parameters."""
        ranks = self.formula.ranks[1:]
        cores = [core_of(p, r) for p, r in zip(parameters, ranks, strict=True)]
        one_process = all(p.size == math.prod(core) for p, core in zip(parameters, cores, strict=True))
        if one_process:  # all of its draws at once
            parameters = [p.reshape(core) for p, core in zip(parameters, cores, strict=True)]
        result = np.empty((*size, cores[0][0]))
        for place in np.ndindex(*(() if one_process else size)):
            values = (values_at(p, r, size, place) for p, r in zip(parameters, ranks, strict=True))
            hyperparameters = dict(zip(self.formula.names[1:], values, strict=True))
            x, sigma, mean = (hyperparameters.pop(n) for n in (POINTS, SIGMA, MEAN))
            prior = MarginalLikelihood(self.formula.covariance, x[:0], x[:0, 0])
            out = result[place]
            drawn = prior.draw(x, out.size // len(x), rng, noise=sigma, mean_xs=mean, **hyperparameters)
            out[...] = drawn.reshape(out.shape)
        return result

    def _one_process(self, shapes: Sequence[tuple[int, ...]], wrt: tuple[int, ...]) -> bool:
        """True if arguments of these shapes are of one process, at points that never change."""
        by_place = {i: v.shape for i, v in self.known.items()} | dict(zip(self.free, shapes, strict=True))
        one = all(len(by_place[i]) == rank for i, rank in enumerate(self.formula.ranks))
        return one and self._points_stay and self._points not in wrt

    def _set_at(self, arguments: Sequence[np.ndarray], batch: tuple[int, ...], place: tuple[int, ...]) -> dict[str, np.ndarray]:
        """Set of arguments at a place, by names."""
        names, ranks = self.formula.names, self.formula.ranks
        if not batch:
            return dict(zip(names, arguments, strict=True))
        return {n: values_at(v, r, batch, place) for n, v, r in zip(names, arguments, ranks, strict=True)}

    def _weighted_sum(
        self, arguments: Sequence[np.ndarray], weight: np.ndarray | float, wrt: tuple[int, ...]
    ) -> list[np.ndarray]:
        """Sum of all sets' log-densities, each times its weight, and its derivatives."""
        ranks, names = self.formula.ranks, self.formula.names
        batch = common_batch(arguments, ranks)
        values, slopes = self._of_sets(arguments, batch, [names[i] for i in wrt])
        weights = np.broadcast_to(weight, batch).reshape(-1)
        results = [np.asarray(weights @ values)]
        for i in wrt:
            argument = arguments[i]
            slope = (weights[:, None] * slopes[names[i]]).reshape(batch + core_of(argument, ranks[i]))
            results.append(np.asarray(reduced(slope, argument.shape)))
        return results

    def _of_sets(
        self, arguments: Sequence[np.ndarray], batch: tuple[int, ...], wrt: Sequence[str]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Log-densities of all sets, and their derivatives, a row for each set: from one launch where that can be."""
        ranks, names, n_sets = self.formula.ranks, self.formula.names, math.prod(batch)
        x = arguments[self._points]
        if POINTS not in wrt and x.ndim == 2:
            rows = {
                n: along_one_axis(a, r, batch_of(a, r) and batch).reshape(-1, math.prod(core_of(a, r)))
                for n, a, r in zip(names, arguments, ranks, strict=True) if n != POINTS
            }  # fmt: skip
            if (found := self._of_rows(x, rows, n_sets, wrt, several=bool(batch))) is not None:
                return found
        values = np.empty(n_sets)
        cores = {n: math.prod(core_of(a, r)) for n, a, r in zip(names, arguments, ranks, strict=True)}
        slopes = {n: np.empty((n_sets, cores[n])) for n in wrt}
        for k, place in enumerate(np.ndindex(*batch)):
            values[k], gradients = self._value_and_gradients(self._set_at(arguments, batch, place), wrt)
            for name in wrt:
                slopes[name][k] = np.ravel(gradients[name])
        return values, slopes

    def _of_rows(
        self, x: np.ndarray, rows: dict[str, np.ndarray], n_sets: int, wrt: Sequence[str], several: bool
    ) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
        """Log-densities of sets and their derivatives at these points, as from `GaussianProcess.sums_of_sets`."""
        return self._likelihood_at(x).sums_of_sets(rows, n_sets, wrt, several=several)

    def _value_and_gradients(self, one: Mapping[str, np.ndarray], wrt: Sequence[str]) -> tuple[float, Mapping[str, Any]]:
        """Log-density of one set of arguments, and its derivatives in some."""
        nowhere = math.nan, {n: np.full(one[n].shape, np.nan) for n in wrt}
        if not self._inside_domains(one):
            return nowhere
        parameters = dict(one)
        y, x = parameters.pop(OBSERVATIONS), parameters.pop(POINTS)
        if y.shape != x.shape[:1]:
            raise ValueError(f"y has shape {y.shape}, and x {x.shape}: y must have an element for each row of x")
        # y counts by its distance from the mean alone. So the points are bound, and not the observations, which may be random.
        parameters[MEAN] = np.asarray(parameters[MEAN] - y, np.float64)
        likelihood = self._likelihood_at(x)
        try:
            if not wrt:
                return likelihood(**parameters), {}
            by_row = {OBSERVATIONS, MEAN} & set(wrt)
            wanted = [n for n in wrt if n not in by_row] + [MEAN] * bool(by_row)
            value, gradients = likelihood.value_and_grad(**parameters, wrt=wanted)
        except np.linalg.LinAlgError:
            return nowhere
        if by_row:
            gradients[OBSERVATIONS] = -gradients[MEAN]
            if MEAN not in self.formula.vectors:
                gradients[MEAN] = gradients[MEAN].sum()
        return value, gradients

    def _likelihood_at(self, x: np.ndarray) -> MarginalLikelihood:
        """Marginal likelihood of observations 0 at the points."""
        likelihood = self._likelihood
        if likelihood is None:
            formula = self.formula
            likelihood = MarginalLikelihood(formula.covariance, x, np.zeros(len(x), x.dtype), jitter=formula.jitter)
            if self._points_stay:
                self._likelihood = likelihood
        return likelihood

    def _inside_domains(self, one: Mapping[str, np.ndarray]) -> bool:
        """True if every argument is finite and lies in its domain."""
        sigma = one[SIGMA]
        if not ((sigma >= 0) & np.isfinite(sigma)).all() or not all(np.isfinite(one[n]).all() for n in (OBSERVATIONS, MEAN)):
            return False
        try:
            for argument in self.formula.covariance.arguments:
                for value in one[argument.name].reshape(-1):
                    require_inside(argument, value)
        except ValueError:
            return False
        return True


class VecchiaFormula(GPFormula):
    """Log-density of a Gaussian process by Vecchia's approximation, at points that never change.

    For neighbours, ordering and scales see `gpustats.gp.Vecchia`.
    """

    name = "gp_vecchia"

    def __init__(
        self, covariance: Covariance, vectors: Sequence[str], jitter: float, neighbours: int, ordering: Any, scales: Any
    ):
        self.neighbours, self.ordering, self.scales = neighbours, ordering, scales
        of_arrays = (a if a is None or isinstance(a, str) else np.asarray(a).tobytes().hex() for a in (ordering, scales))
        super().__init__(covariance, vectors, jitter, str(neighbours), *map(str, of_arrays))

    def evaluator(self, known: Mapping[int, np.ndarray]) -> VecchiaEvaluator:
        return VecchiaEvaluator(self, known)

    def __reduce__(self) -> tuple:
        options = self.neighbours, self.ordering, self.scales
        return VecchiaFormula, (self.covariance, self.vectors, self.jitter, *options)


class VecchiaEvaluator(GPEvaluator):
    """Evaluator of Vecchia's approximation: all sets from one launch, however many observations there are.

    Draws are those of the exact process.
    """

    formula: VecchiaFormula

    def __init__(self, formula: VecchiaFormula, known: Mapping[int, np.ndarray]):
        super().__init__(formula, known)
        self._vecchia: Vecchia | None = None

    def compiled(
        self, shapes: Sequence[tuple[int, ...]], wrt: tuple[int, ...], n_sets: int | None = None
    ) -> RepeatedSum | None:
        return None

    def _of_rows(
        self, x: np.ndarray, rows: dict[str, np.ndarray], n_sets: int, wrt: Sequence[str], several: bool
    ) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
        y = rows.pop(OBSERVATIONS)
        if y.shape[1] != len(x):
            raise ValueError(f"y has {y.shape[1]} elements, and x {len(x)} rows: y must have an element for each row of x")
        place = self.formula.names.index(OBSERVATIONS)
        bound = place in self.known and self.known[place].ndim == 1
        if self._vecchia is None:
            formula = self.formula
            self._vecchia = Vecchia(
                formula.covariance, x, y[0].astype(x.dtype) if bound else np.zeros(len(x), x.dtype), formula.neighbours,
                formula.ordering, scales=formula.scales, jitter=formula.jitter,
            )  # fmt: skip
        one_mean = rows[MEAN].shape[1] == 1
        if not bound:  # y counts by its distance from the mean alone
            rows[MEAN] = rows[MEAN] - y
        values, slopes = self._vecchia.sums_of_sets(rows, n_sets, wrt)
        if one_mean and MEAN in wrt:
            slopes[MEAN] = slopes[MEAN].sum(1, keepdims=True)
        return values, slopes
