"""Maximum likelihood, and maximum a posteriori, for the hyperparameters of a Gaussian process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

Values = dict[str, Any]
SPREAD = 1.5  # standard deviation of random starts around the given one, in logarithms


@dataclass(frozen=True)
class Fit:
    """The hyperparameters that a search has found.

    Attributes
    ----------
    values : dict
        Name -> float or ndarray, those that were fixed, too: ``ml.predict(xs, **fit.values)``.
    loglik : float
        The log marginal likelihood there, without a prior.
    result : scipy.optimize.OptimizeResult
        Of the best search, in the numbers that it searched for: logarithms of positive values.
    """

    values: Values
    loglik: float
    result: OptimizeResult


class _Search:
    """Between the values by name and the vector of numbers that is searched for."""

    def __init__(
        self, start: Mapping[str, Any], domains: Mapping[str, str], fixed: Collection[str], bounds: Mapping[str, Any], log: bool
    ) -> None:
        self.start = {n: np.array(v, np.float64) for n, v in start.items()}
        if missing := [n for n in (*fixed, *bounds) if n not in start]:
            raise ValueError(f"{missing[0]} is to be fixed or bounded, but start has no {missing[0]}")
        self.free = [n for n in start if n not in fixed]
        if not self.free:
            raise ValueError("everything is fixed: there is nothing to fit")
        self.logs = {n for n in self.free if log and set(domains[n].split()) & {"positive", "nonnegative"}}
        for name in self.logs:
            if not (self.start[name] > 0).all():
                raise ValueError(f"{name} starts at {start[name]}: its logarithm is sought, so it must be positive, or fixed")
        self.bounds = [self._limits(n, bounds.get(n)) for n in self.free for _ in range(self.start[n].size)]

    def _limits(self, name: str, bounds: tuple[float, float] | None) -> tuple[float, float]:
        if bounds is None:
            return -np.inf, np.inf
        low, high = bounds
        if not (low <= high and (name not in self.logs or high > 0)):
            positive = ", and positive" if name in self.logs else ""
            raise ValueError(f"the bounds of {name} are {bounds}: they must be (lowest, highest){positive}")
        if name in self.logs:
            low, high = (np.log(b) if b > 0 else -np.inf for b in (low, high))
        return low, high

    def vector(self, values: Mapping[str, Any], derivative: Mapping[str, Any] | None = None) -> np.ndarray:
        """The numbers for some values, or, given the derivatives in these, those in the numbers."""
        parts = []
        for name in self.free:
            value = np.ravel(values[name])
            if derivative is None:
                parts.append(np.log(value) if name in self.logs else value)
            else:
                slope = np.broadcast_to(np.ravel(derivative.get(name, 0.0)), value.shape)
                parts.append(slope * value if name in self.logs else slope)
        return np.concatenate(parts)

    def values(self, vector: np.ndarray) -> Values:
        found, at = dict(self.start), 0
        for name in self.free:
            size, shape = self.start[name].size, self.start[name].shape
            part = vector[at : at + size].reshape(shape)
            found[name] = np.exp(part) if name in self.logs else part.copy()
            at += size
        return {n: v if v.ndim else float(v) for n, v in found.items()}

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """A point between the bounds, or near the start."""
        near = self.vector(self.start)
        spread = np.concatenate([
            np.full(self.start[n].size, SPREAD) if n in self.logs else SPREAD * np.maximum(np.abs(np.ravel(self.start[n])), 1)
            for n in self.free
        ])  # fmt: skip
        point = near + spread * rng.normal(size=near.shape)
        low, high = np.array(self.bounds).T
        bounded = np.isfinite(low) & np.isfinite(high)
        point[bounded] = rng.uniform(low[bounded], high[bounded])
        return np.clip(point, low, high)


def maximise(
    value_and_grad: Callable[..., tuple[float, dict[str, Any]]], start: Mapping[str, Any], domains: Mapping[str, str], *,
    fixed: Collection[str], bounds: Mapping[str, Any], log_prior: Callable | None, method: str, log: bool, restarts: int,
    rng: Any, options: Mapping[str, Any] | None,
) -> Fit:  # fmt: skip
    """See `MarginalLikelihood.fit`; `value_and_grad` takes values by name and ``wrt``."""
    from scipy.optimize import minimize

    search = _Search(start, domains, [fixed] if isinstance(fixed, str) else fixed, bounds, log)
    best: tuple[float, Values, float] | None = None  # objective, values, log-likelihood

    def evaluate(vector: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        with np.errstate(over="ignore"):
            values = search.values(vector)
        loglik, gradient = value_and_grad(**values, wrt=search.free)
        total, slope = loglik, search.vector(values, gradient)
        if log_prior is not None:
            prior, of_prior = log_prior(values)
            total, slope = total + prior, slope + search.vector(values, of_prior)
        if best is None or total > best[0]:
            best = total, values, loglik
        return total, slope

    def once(vector: np.ndarray) -> OptimizeResult:
        """One search. Where there is no likelihood it meets a wall, a little higher than all that it has seen."""
        seen = [0.0]

        def objective(vector: np.ndarray) -> tuple[float, np.ndarray]:
            try:
                total, slope = evaluate(vector)
            except (np.linalg.LinAlgError, ValueError):
                return max(seen) + 1 + abs(max(seen)), np.zeros(len(vector))
            seen.append(-total)
            return -total, -slope

        limited = search.bounds if bounds else None
        return minimize(objective, vector, jac=True, method=method, bounds=limited, options=dict(options or {}))

    first = np.clip(search.vector(search.start), *np.array(search.bounds).T)
    evaluate(first)  # its errors are the caller's
    results, generator = [once(first)], np.random.default_rng(rng)
    for _ in range(restarts):
        point = search.random(generator)
        try:
            evaluate(point)
        except (np.linalg.LinAlgError, ValueError):  # nothing to start from
            continue
        results.append(once(point))
    assert best is not None
    return Fit(best[1], best[2], min(results, key=lambda r: float(r.fun)))
