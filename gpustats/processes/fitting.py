"""Maximum likelihood, and maximum a posteriori, for the hyperparameters of a Gaussian process."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..display.bars import Advance, bar
from ..distribution.frozen import Frozen
from ..evaluation.arguments import elements_inside
from ..language.device_function import Argument
from ..runtime.types import Array

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

Values = dict[str, float | np.ndarray]
Bounds = tuple[float, float]  # lowest, highest
Seed = int | np.random.Generator | None  # as for `numpy.random.default_rng`
Evaluated = tuple[float, np.ndarray] | None  # what is maximised and its derivatives; None where it is not there
LogPrior = Callable[[Values], tuple[float, Mapping[str, float | np.ndarray]]]
START_SPREAD = 1.5  # standard deviation of random starts around the given one, in logarithms


class Maximum(NamedTuple):
    """Hyperparameters that a search has found: all values by name, the log-likelihood there without a prior, SciPy's result."""

    values: Values
    loglik: float
    result: OptimizeResult


class _Search:
    """Conversion between values by name and the vector of numbers that a search varies."""

    def __init__(
        self, start: Mapping[str, ArrayLike], domains: Mapping[str, str], fixed: Collection[str],
        bounds: Mapping[str, Bounds], log: bool,
    ) -> None:  # fmt: skip
        if not start:
            raise ValueError(f"start is empty: it must have values of {', '.join(domains)}, by name")
        self.start = {n: np.array(v, np.float64) for n, v in start.items()}
        self._arguments = [Argument(n, domains[n]) for n in start]
        if missing := [n for n in (*fixed, *bounds) if n not in start]:
            raise ValueError(f"{missing[0]} is to be fixed or bounded, but start has no {missing[0]}")
        self.free = [n for n in start if n not in fixed]
        if not self.free:
            raise ValueError("everything is fixed: there is nothing to fit")
        self.logs = {n for n in self.free if log and set(domains[n].split()) & {"positive", "nonnegative"}}
        for name in self.logs:
            if not (self.start[name] > 0).all():
                raise ValueError(
                    f"{name} starts at {self.start[name]}: its logarithm is sought, so it must be positive, or fixed"
                )
        self.bounds = [self._limits(n, bounds.get(n)) for n in self.free for _ in range(self.start[n].size)]

    def _limits(self, name: str, bounds: Bounds | None) -> Bounds:
        if bounds is None:
            return -np.inf, np.inf
        low, high = bounds
        if not (low <= high and (name not in self.logs or high > 0)):
            positive = ", and positive" if name in self.logs else ""
            raise ValueError(f"the bounds of {name} are {bounds}: they must be (lowest, highest){positive}")
        if name in self.logs:
            low, high = (np.log(b) if b > 0 else -np.inf for b in (low, high))
        return low, high

    def vector(self, values: Mapping[str, ArrayLike], derivative: Mapping[str, ArrayLike] | None = None) -> np.ndarray:
        """Vector of the searched numbers at `values`; or, for a derivative in the values, the derivative in these numbers."""
        parts = []
        for name in self.free:
            value = np.ravel(values[name])
            if derivative is None:
                parts.append(np.log(value) if name in self.logs else value)
            else:
                slope = np.broadcast_to(np.ravel(derivative.get(name, 0.0)), value.shape)
                parts.append(slope * value if name in self.logs else slope)
        return np.concatenate(parts)

    def inside(self, values: Values) -> bool:
        """True if all values are finite, and in their domains."""
        given = [(a, np.asarray(values[a.name])) for a in self._arguments]
        return all((np.isfinite(v) & elements_inside(a, v)).all() for a, v in given)

    def values(self, vector: np.ndarray) -> Values:
        found, at = dict(self.start), 0
        for name in self.free:
            size, shape = self.start[name].size, self.start[name].shape
            part = vector[at : at + size].reshape(shape)
            with np.errstate(over="ignore"):
                found[name] = np.exp(part) if name in self.logs else part.copy()
            at += size
        return {n: v if v.ndim else float(v) for n, v in found.items()}

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """Random point between the bounds, or near the start."""
        near = self.vector(self.start)
        spread = np.concatenate([
            np.full(self.start[n].size, START_SPREAD) if n in self.logs
            else START_SPREAD * np.maximum(np.abs(np.ravel(self.start[n])), 1)
            for n in self.free
        ])  # fmt: skip
        point = near + spread * rng.normal(size=near.shape)
        low, high = np.array(self.bounds).T
        bounded = np.isfinite(low) & np.isfinite(high)
        point[bounded] = rng.uniform(low[bounded], high[bounded])
        return np.clip(point, low, high)


class _Priors:
    """Log-density of the priors: frozen densities by name, and the user's own function."""

    def __init__(self, search: _Search, priors: Mapping[str, Frozen], log_prior: LogPrior | None) -> None:
        for name, prior in priors.items():
            if name not in search.free:
                raise ValueError(f"there is a prior for {name}, which is not searched for: that is {', '.join(search.free)}")
            if not isinstance(prior, Frozen) or prior.density.discrete:
                raise TypeError(f"the prior of {name} must be a density with its parameters, such as gs.gamma(2.0, 1.0)")
        self._priors, self._log_prior = priors, log_prior

    def __call__(self, sets: Sequence[Values], strict: bool) -> list[tuple[float, Values]]:
        """Log-density of each of several sets of values, and its derivatives.

        An error in the user's function is raised if `strict`, else the density is 0.
        """
        found = [self._written(values, strict) for values in sets]
        for name, prior in self._priors.items():
            x = prior.density.log_density.argument_names[0]
            totals, slopes = prior.loglik_and_grad(np.stack([np.ravel(values[name]) for values in sets]), wrt=x)
            for k, (total, gradient) in enumerate(found):
                slope = slopes[x][k].reshape(np.shape(sets[k][name]))
                found[k] = total + float(totals[k]), gradient | {name: gradient.get(name, 0.0) + slope}
        return found

    def _written(self, values: Values, strict: bool) -> tuple[float, Values]:
        """Log-density of the user's function, and its derivatives."""
        if self._log_prior is None:
            return 0.0, {}
        try:
            total, slopes = self._log_prior(values)
        except (np.linalg.LinAlgError, ValueError):
            if strict:
                raise
            return -np.inf, {}
        return total, dict(slopes)


def maximise(
    value_and_grad: Callable[..., tuple[Array, dict[str, Array]]], start: Mapping[str, ArrayLike],
    domains: Mapping[str, str], *, fixed: Collection[str], bounds: Mapping[str, Bounds], priors: Mapping[str, Frozen],
    log_prior: LogPrior | None = None, method: str = "L-BFGS-B", log: bool = True, restarts: int = 0, rng: Seed = None,
    options: Mapping[str, object] | None = None, progress: bool = False,
) -> Maximum:  # fmt: skip
    """Search for hyperparameters, as `GaussianProcess.fit` has it.

    `value_and_grad` takes values by name, also several sets of them, and ``wrt``.
    """
    with bar(None, progress, "evaluations") as advance:
        return _maximised(
            value_and_grad, _Search(start, domains, fixed, bounds, log), bool(bounds), priors, log_prior, method, restarts, rng,
            dict(options or {}), advance,
        )  # fmt: skip


def _maximised(
    value_and_grad: Callable[..., tuple[Array, dict[str, Array]]], search: _Search, bounded: bool, priors: Mapping[str, Frozen],
    log_prior: LogPrior | None, method: str, restarts: int, rng: Seed, options: dict[str, object], advance: Advance,
) -> Maximum:  # fmt: skip
    """Best of all searches."""
    from scipy.optimize import minimize

    of_priors = _Priors(search, priors, log_prior)
    best: tuple[float, Values, float] | None = None  # objective, values, log-likelihood

    def finished(
        values: Values, loglik: float, gradient: Mapping[str, ArrayLike], prior: float, slopes: Mapping[str, ArrayLike]
    ) -> Evaluated:
        """Objective, and its derivatives in the numbers that are searched for."""
        nonlocal best
        if not np.isfinite(total := loglik + prior):
            return None
        if best is None or total > best[0]:
            best = total, values, loglik
        advance(1, f"log-likelihood {best[2]:.6g}")
        return total, search.vector(values, gradient) + search.vector(values, slopes)

    def evaluate(vector: np.ndarray) -> Evaluated:
        values = search.values(vector)
        loglik, gradient = value_and_grad(**values, wrt=search.free)
        return finished(values, loglik, gradient, *of_priors([values], strict=True)[0])

    def evaluate_all(vectors: Sequence[np.ndarray]) -> list[Evaluated]:
        """Objective and derivatives for several vectors, by one call; None where there is no likelihood."""
        sets = [search.values(vector) for vector in vectors]
        valid = [k for k, values in enumerate(sets) if search.inside(values)]
        found: list[Evaluated] = [None] * len(sets)
        if valid:
            stacked = {n: np.stack([np.ravel(sets[k][n]) for k in valid]) for n in search.free}
            logliks, gradient = value_and_grad(**(search.start | stacked), wrt=search.free)
            known = [(k, place) for place, k in enumerate(valid) if np.isfinite(logliks[place])]
            of_known = of_priors([sets[k] for k, _ in known], strict=False) if known else []
            for (k, place), prior in zip(known, of_known, strict=True):
                slopes = {n: gradient[n][place] for n in search.free}
                found[k] = finished(sets[k], float(logliks[place]), slopes, *prior)
        return found

    def once(evaluated: Callable[[np.ndarray], Evaluated], vector: np.ndarray) -> OptimizeResult:
        """Run one search; a vector without a likelihood counts a little more than the worst one so far, as a wall."""
        seen = [0.0]

        def objective(vector: np.ndarray) -> tuple[float, np.ndarray]:
            if (found := evaluated(vector)) is None:
                return max(seen) + 1 + abs(max(seen)), np.zeros(len(vector))
            seen.append(-found[0])
            return -found[0], -found[1]

        limited = search.bounds if bounded else None
        return minimize(objective, vector, jac=True, method=method, bounds=limited, options=options)

    def alone(vector: np.ndarray) -> Evaluated:
        try:
            return evaluate(vector)
        except (np.linalg.LinAlgError, ValueError):
            return None

    first = np.clip(search.vector(search.start), *np.array(search.bounds).T)
    if evaluate(first) is None:  # its errors are the caller's
        raise ValueError(f"the prior density is 0 at the start: {search.values(first)}")
    generator = np.random.default_rng(rng)
    points = [search.random(generator) for _ in range(restarts)]
    points = [point for point, found in zip(points, evaluate_all(points), strict=True) if found is not None]
    results = side_by_side(once, [first, *points], evaluate_all) if points else [once(alone, first)]
    assert best is not None
    return Maximum(best[1], best[2], min(results, key=lambda r: float(r.fun)))


def side_by_side(
    search: Callable[[Callable[[np.ndarray], Evaluated], np.ndarray], OptimizeResult], starts: Sequence[np.ndarray],
    evaluate_all: Callable[[Sequence[np.ndarray]], Sequence[Evaluated]],
) -> list[OptimizeResult]:  # fmt: skip
    """Results of ``search(evaluate, start)`` for each start; points that several searches ask for are evaluated together.

    Searches run in threads of their own, evaluations in the calling one.
    """
    asked: queue.SimpleQueue[tuple[int, np.ndarray | None]] = queue.SimpleQueue()  # None: the search has ended
    answers: list[queue.SimpleQueue[Evaluated | BaseException]] = [queue.SimpleQueue() for _ in starts]
    found: dict[int, OptimizeResult | BaseException] = {}

    def run(k: int) -> None:
        def evaluate(point: np.ndarray) -> Evaluated:
            asked.put((k, point))
            answer = answers[k].get()
            if isinstance(answer, BaseException):
                raise answer
            return answer

        try:
            found[k] = search(evaluate, starts[k])
        except BaseException as error:
            found[k] = error
        asked.put((k, None))

    for k in range(len(starts)):
        threading.Thread(target=run, args=(k,), daemon=True).start()
    going, waiting = len(starts), dict[int, np.ndarray]()
    try:
        while going:
            k, point = asked.get()
            if point is None:
                going -= 1
            else:
                waiting[k] = point
            if waiting and len(waiting) == going:
                order = sorted(waiting)
                for k, answer in zip(order, evaluate_all([waiting.pop(k) for k in order]), strict=True):
                    answers[k].put(answer)
    except BaseException as error:
        for answer_queue in answers:  # so that no search waits for ever
            answer_queue.put(error)
        raise
    results = []
    for k in range(len(starts)):
        if isinstance(one := found[k], BaseException):
            raise one
        results.append(one)
    return results
