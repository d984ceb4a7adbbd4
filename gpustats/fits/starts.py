"""Starting values for any density: of many guesses those with the largest likelihood, on a sample of the observations.

Which combinations of guesses serve a density is found out on a few data sets; all data sets choose among these.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from ..evaluation.pointwise import Pointwise
from ..runtime.base import Runtime
from ..runtime.types import Array, Values
from .guesses import guesses
from .model import Model
from .observations import UPPER, Rectangle

SAMPLE_OBSERVATIONS = 64  # of a data set on which guesses are tried; of few data sets more
SAMPLE_DATA_SETS = 8  # on which all combinations are tried
CORNER_OBSERVATIONS = 8  # at which corners are sought
CHOSEN_COMBINATIONS = 5  # that are tried on every data set


class Trials:
    """The log-likelihoods of combinations of guesses, on samples of the data sets, which lie on the host."""

    def __init__(self, function: Pointwise, sample: Rectangle, runtime: Runtime):
        self.function, self.sample, self.runtime = function, sample, runtime

    def loglik(self, sets: np.ndarray, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Sums (C, n) over the samples of the data sets of n numbers, for C combinations (C, n) of parameters."""
        shape, part = next(iter(values.values())).shape, self.sample[sets]
        own = {name: np.ascontiguousarray(v).reshape(-1, 1) for name, v in values.items()}
        times = shape[0], 1
        columns = {n: np.tile(v, times) if isinstance(v, np.ndarray) and len(v) > 1 else v for n, v in part.columns.items()}
        return self._sums(np.tile(part.x, times), {**columns, **own}).reshape(shape)

    def loglik_of_all(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Sums (C, G) over the samples of all data sets, for C combinations (C, G) of parameters, one after another."""
        x, n = self.sample.x, len(next(iter(values.values())))
        x = x if self.runtime.host_visible or not self.runtime.device.double else self.runtime.to_device(x)
        each = [{name: np.ascontiguousarray(v[i])[:, None] for name, v in values.items()} for i in range(n)]
        return np.stack([self._sums(x, {**self.sample.columns, **own}) for own in each])

    def _sums(self, x: Array, columns: Mapping[str, Values]) -> np.ndarray:
        arguments = [x, *(columns[name] for name in self.function.argument_names[1:])]
        if not self.runtime.device.double:
            arguments = [np.asarray(v, np.float32) if np.ndim(v) else v for v in arguments]
        return np.asarray(self.function.sum(arguments, self.runtime)).reshape(-1)


class Tries:
    """Guesses of the free parameters of each data set of a rectangle, tried on samples of them.

    `free` are these parameters and the words of their domains, `begin` user's values of some of them. `outermost`: the samples
    are to have the outermost observations.
    """

    def __init__(
        self, model: Model, rectangle: Rectangle, free: Mapping[str, frozenset[str]], begin: Mapping[str, np.ndarray],
        runtime: Runtime, outermost: bool = False,
    ):  # fmt: skip
        self.free, self.begin, self.model, self.runtime = dict(free), begin, model, runtime
        sample = rectangle.sample(max(SAMPLE_OBSERVATIONS, 512 // len(rectangle.which)), model.definition.discrete)
        if outermost and UPPER not in rectangle.columns:
            sample.x[:, 0], sample.x[:, -1] = rectangle.outermost()
        self._guesses = guesses(free, sample.x, {n: v[rectangle.which] for n, v in begin.items()})
        self._trials = Trials(model.log_density, sample, runtime)

    def beside(self, known: Mapping[str, np.ndarray]) -> Tries:
        """Tries with some of the parameters known."""
        if not known:
            return self
        made = copy.copy(self)
        made.free = {n: words for n, words in self.free.items() if n not in known}
        made._guesses = {n: g for n, g in self._guesses.items() if n not in known}
        made._trials = Trials(self.model.log_density, self._trials.sample.beside(known), self.runtime)
        return made

    def best(self) -> np.ndarray:
        """Best combinations of guesses for each of G data sets, best first: (G, C, P), nan where there is no likelihood."""
        found, n_sets = self._guesses, len(self._trials.sample.which)
        if not found:
            return np.empty((n_sets, 1, 0))
        numbers = _combinations(list(found.values()))
        few = np.unique(np.linspace(0, n_sets - 1, min(SAMPLE_DATA_SETS, n_sets)).astype(int))
        tried = _or_nothing(self._trials.loglik(few, {n: g[:, few][numbers[:, i]] for i, (n, g) in enumerate(found.items())}))
        order = np.argsort(-tried, axis=0, kind="stable")[: 2 * CHOSEN_COMBINATIONS]
        # The best of each of the data sets first, then the second of each, and so on.
        chosen = list(dict.fromkeys(order.ravel().tolist()))[: CHOSEN_COMBINATIONS if n_sets > 1 else 4 * CHOSEN_COMBINATIONS]
        everywhere = np.arange(n_sets)
        values = np.stack([g[numbers[chosen, i]] for i, g in enumerate(found.values())], axis=-1)  # (C, G, P)
        tried = tried[chosen]
        if len(few) < n_sets:
            tried = _or_nothing(self._trials.loglik_of_all({name: values[..., i] for i, name in enumerate(found)}))
        order = np.argsort(-tried, axis=0, kind="stable").T  # (G, C)
        best = values[order, everywhere[:, None]]
        return np.where(np.isfinite(tried.T[everywhere[:, None], order])[..., None], best, np.nan)

    def corners(self, best: np.ndarray) -> list[int]:
        """Numbers of the parameters in which an observation's likelihood has a corner or a pole at that observation.

        There the slope jumps, by as much however near to the observation the slopes on both sides are taken: where the
        likelihood is smooth, by less and less. Slopes are compared at some observations of one data set, and at the best
        guesses for it.
        """
        trials, names, middle = self._trials, list(self.free), len(best) // 2
        guessed, x = best[middle][np.isfinite(best[middle]).all(-1)], trials.sample.x[middle]
        if self.model.definition.discrete or not names or not len(guessed) or not np.isfinite(x).all() or not np.ptp(x) > 0:
            return []
        step = 1e-3 * float(x.std())
        places = np.unique(((np.arange(CORNER_OBSERVATIONS) + 0.5) / CORNER_OBSERVATIONS * x.size).astype(int))
        columns = trials.sample.columns
        own = {n: v[min(middle, len(v) - 1)][:, None] if isinstance(v, np.ndarray) else v for n, v in columns.items()}
        own = {n: v[places] if isinstance(v, np.ndarray) and len(v) > 1 else v for n, v in own.items()}
        alone = Trials(trials.function, Rectangle(np.arange(len(places)), x[places, None], own), trials.runtime)
        moves = step * np.array([-2, -1, 1, 2, -0.02, -0.01, 0.01, 0.02])
        shape = len(names), len(names), 8, len(guessed), len(places)
        values = np.broadcast_to(guessed.T[:, None, None, :, None], shape).copy()
        for i in range(len(names)):
            values[i, i] = x[places] + moves[:, None, None]
        of_all = {n: v.reshape(-1, len(places)) for n, v in zip(names, values, strict=True)}
        logliks = alone.loglik(np.arange(len(places)), of_all).reshape(values.shape[1:])
        with np.errstate(invalid="ignore"):
            slopes = np.diff(logliks, axis=1)[:, [0, 2, 4, 6]] / np.array([1, 1, 0.01, 0.01])[:, None, None]
            far, near = np.abs(slopes[:, 1] - slopes[:, 0]), np.abs(slopes[:, 3] - slopes[:, 2])
            jumps = (near > 0.05 * far) & (near > 1e-6 * (1e-3 + np.abs(logliks[:, 4])))
        return np.flatnonzero(jumps.any((-2, -1))).tolist()

    def ends(self) -> dict[str, int]:
        """Parameters that are an end of the support, and best at the outermost observation: -1 for a lower, 1 for an upper end.

        With such a parameter at the smallest observation there is a likelihood, beyond it there is none, and before it the
        likelihood falls, whatever the other parameters are. So it is for the bounds of uniform distributions, but not for those
        of a triangular one, whose density is 0 there.
        """
        trials, found = self._trials, self._guesses
        middle = np.array([len(trials.sample.which) // 2])
        x, ends = trials.sample.x[middle[0]], {}
        for name in found:
            others = [n for n in found if n != name]
            numbers = _combinations([found[n] for n in others])
            numbers = np.random.default_rng(0).permutation(numbers)[:256]
            values = {n: found[n][:, middle][numbers[:, i]] for i, n in enumerate(others)}
            for side, outermost in ((-1, x.min()), (1, x.max())):
                if not np.isfinite(outermost):
                    continue
                width = 0.0 if "positive" in self.free[name] else 1e-3 * float(x.max() - x.min())
                step = 1.0 if "integer" in self.free[name] else 1e-6 * max(abs(float(outermost)), width)
                at, beyond, before = (
                    trials.loglik(middle, {**values, name: np.full((len(numbers), 1), outermost + side * by)})[:, 0]
                    for by in (0.0, -step, step)
                )
                possible = np.isfinite(before)
                nothing = np.isneginf(beyond).any() and not np.isfinite(beyond).any()
                if nothing and possible.any() and np.isfinite(at[possible]).all():
                    lost = at[possible] - before[possible]
                    if lost.max() > 0 and (lost >= -1e-9 * np.abs(at[possible])).all():
                        ends[name] = side
        return ends


def _combinations(found: Sequence[np.ndarray]) -> np.ndarray:
    """Combinations (C, P) of the numbers of guesses for P parameters."""
    combinations = list(itertools.product(*(range(len(g)) for g in found)))
    return np.array(combinations, int).reshape(len(combinations), len(found))


def _or_nothing(tried: np.ndarray) -> np.ndarray:
    """Log-likelihoods, -inf where there is none."""
    return np.where(np.isfinite(tried), tried, -np.inf)
