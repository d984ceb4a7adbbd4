"""Observations of a Gaussian process in a graph: from PyTensor's arrays to the marginal likelihood and draws on a device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...draws.generator import Generator
from ...evaluation.gradient import reduced
from ...gp import Covariance, MarginalLikelihood
from ...gp.expression import require_inside
from ...gp.parameters import MEAN, SIGMA
from .batches import common_batch, core_of, values_at
from .density import digest
from .forked import survives_fork
from .formula import Evaluator, Formula, FormulaArgument, LogFunction

OBSERVATIONS, POINTS = "y", "x"


class GPFormula(Formula):
    """The log-density of observations of a Gaussian process: a vector with an element for each point.

    Its arguments are the observations, the points, the noise's standard deviation, the mean, and the hyperparameters of the
    covariance function.

    Parameters
    ----------
    covariance : Covariance
    vectors : sequence of str
        The arguments beside observations and points that are vectors.
    jitter : float
        See `gpustats.gp.MarginalLikelihood`.
    """

    def __init__(self, covariance: Covariance, vectors: Sequence[str] = (), jitter: float = 0.0):
        self.covariance, self.vectors, self.jitter = covariance, tuple(vectors), float(jitter)
        arguments = [
            FormulaArgument(OBSERVATIONS, "(n)", "real vector"),
            FormulaArgument(POINTS, "(n,p)", "vector", single=True),
            FormulaArgument(SIGMA, "(n)" if SIGMA in self.vectors else "()", "nonnegative"),
            FormulaArgument(MEAN, "(n)" if MEAN in self.vectors else "()", "real"),
            *(FormulaArgument(n, "(p)" if n in self.vectors else "()", d) for n, d in covariance.domains.items()),
        ]
        key = ("gp", *self.vectors, str(self.jitter), digest(f"{covariance.source}\0{covariance.inputs}", covariance.functions))
        super().__init__("gp_marginal", arguments, key, discrete=False)

    def of_kind(self, kind: LogFunction) -> Formula:
        raise NotImplementedError("the observations of a Gaussian process have no distribution function that is computed")

    def evaluator(self, known: Mapping[int, np.ndarray]) -> GPEvaluator:
        return GPEvaluator(self, known)

    def __reduce__(self) -> tuple:
        return GPFormula, (self.covariance, self.vectors, self.jitter)


class GPEvaluator(Evaluator):
    """A Gaussian process' log-densities, gradients and draws, at arrays of which some never change.

    The log-density is nan outside the domains, and where the covariance matrix is not positive definite. Arguments with leading
    axes are several sets, and each set is one evaluation on the device.
    """

    formula: GPFormula

    def __init__(self, formula: GPFormula, known: Mapping[int, np.ndarray]):
        super().__init__(formula, known)
        self._points_stay = formula.names.index(POINTS) in self.known
        self._likelihood: MarginalLikelihood | None = None  # bound to the points, where these never change

    @survives_fork
    def table(self, values: Sequence[np.ndarray]) -> np.ndarray:
        arguments = self.all_arguments(values)
        batch = common_batch(arguments, self.formula.ranks)
        sets = (self._set_at(arguments, batch, place) for place in np.ndindex(*batch))
        return np.array([self._value_and_gradients(one, ())[0] for one in sets]).reshape(batch)

    @survives_fork
    def sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        arguments = self.all_arguments(values)
        return self._weighted_sum(arguments, 1.0, wrt)

    @survives_fork
    def weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        return self._weighted_sum(self.all_arguments(values), weight, wrt)[1:]

    @survives_fork
    def draws(
        self, parameters: Sequence[np.ndarray], size: tuple[int, ...], length: int | None, rng: Generator
    ) -> np.ndarray:
        """As `Evaluator.draws`: from the prior and the noise, at the points among the parameters."""
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

    def _set_at(
        self, arguments: Sequence[np.ndarray], batch: tuple[int, ...], place: tuple[int, ...]
    ) -> dict[str, np.ndarray]:
        """One of the sets of arguments, by names."""
        names, ranks = self.formula.names, self.formula.ranks
        if not batch:
            return dict(zip(names, arguments, strict=True))
        return {n: values_at(v, r, batch, place) for n, v, r in zip(names, arguments, ranks, strict=True)}

    def _weighted_sum(
        self, arguments: Sequence[np.ndarray], weight: np.ndarray | float, wrt: tuple[int, ...]
    ) -> list[np.ndarray]:
        """The sum of all sets' log-densities, each times its weight, and its derivatives."""
        ranks, names = self.formula.ranks, [self.formula.names[i] for i in wrt]
        batch = common_batch(arguments, ranks)
        weights = np.broadcast_to(weight, batch)
        total: Any = 0.0
        slopes = [np.zeros((*batch, *core_of(arguments[i], ranks[i]))) for i in wrt]
        for place in np.ndindex(*batch):
            value, gradients = self._value_and_gradients(self._set_at(arguments, batch, place), names)
            total += weights[place] * value
            for slope, name in zip(slopes, names, strict=True):
                slope[place] = weights[place] * gradients[name]
        return [np.asarray(total), *(np.asarray(reduced(s, arguments[i].shape)) for s, i in zip(slopes, wrt, strict=True))]

    def _value_and_gradients(self, one: Mapping[str, np.ndarray], wrt: Sequence[str]) -> tuple[float, Mapping[str, Any]]:
        """The log-density of one set of arguments, and its derivatives in some."""
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
        """The marginal likelihood of observations 0 at the points."""
        likelihood = self._likelihood
        if likelihood is None:
            formula = self.formula
            likelihood = MarginalLikelihood(formula.covariance, x, np.zeros(len(x), x.dtype), jitter=formula.jitter)
            if self._points_stay:
                self._likelihood = likelihood
        return likelihood

    def _inside_domains(self, one: Mapping[str, np.ndarray]) -> bool:
        """Whether every argument is finite and lies in its domain."""
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
