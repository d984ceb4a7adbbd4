"""Density bound to data, as a fit maximises its log-likelihood."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..parallel.rows import is_stored, read
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host
from ..runtime.types import Doubles, Shape
from .bordered import Bordered
from .coordinates import labels_of
from .problem import Expanded, Named, Problem

#: Observations on which a search begins.
SAMPLE = 4096


def start_in(words: Collection[str]) -> float:
    """Number inside of a domain at which a search may begin."""
    if "unit" in words:
        return 0.5
    return 1.0 if {"positive", "nonnegative"} & set(words) else 0.0


def sample_of(x: Any) -> np.ndarray:
    """Some observations, on the host, from all over the data: runs of them where they are read by slices."""
    return samples_of(x)[0]


def samples_of(*arrays: Any) -> list[np.ndarray]:
    """Numbers of the same rows of several arrays: see `sample_of`."""
    n = arrays[0].shape[0]
    if not any(map(is_stored, arrays)):
        parts = [x if is_device_array(x) else x[:: max(n // SAMPLE, 1)] for x in arrays]
        found = [np.asarray(to_host(part) if is_device_array(part) else part) for part in parts]
        return [np.asarray(part[:: max(len(part) // SAMPLE, 1)], float) for part in found]
    runs = 16
    firsts = np.unique(np.linspace(0, max(n - SAMPLE // runs, 0), runs).astype(int)).tolist()
    return [np.concatenate([read(x, f, min(f + SAMPLE // runs, n), "x") for f in firsts]).astype(float) for x in arrays]


class LikelihoodProblem(Problem):
    """Likelihood of a density as a fit maximises it; see `gpustats.Likelihood`."""

    def __init__(self, likelihood: Any):
        self._likelihood, density = likelihood, likelihood.density
        self._arguments = density.log_density.arguments[1:]
        self.name = density.name
        self.domains = {a.name: a.words for a in self._arguments}
        self._x = likelihood.x
        if len(self._x.shape) != 1 + density.log_density.arguments[0].rank:
            raise ValueError(f"x has shape {tuple(self._x.shape)}: a fit of a likelihood takes one data set")
        self.n_rows, self.n_observations = self._x.shape[0], float(self._x.shape[0])
        self.single = self._x.dtype == np.float32

    def labels(self, name: str, shape: Shape) -> Sequence[str]:
        return labels_of(name, shape, [self._likelihood._columns] * len(shape))

    def exact_in(self, wrt: Sequence[str]) -> bool:
        return not any(a.rank for a in self._arguments if a.name in wrt)

    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        if not self.n_rows:
            raise ValueError("x has no observations: there is nothing to fit")
        if all(a.name in given for a in self._arguments):
            return {a.name: given[a.name] for a in self._arguments}
        sample, density = sample_of(self._x), self._likelihood.density
        defaults = {n: np.asarray(v, float) for n, v in density.defaults.items()}
        found = {n: given.get(n, v) for n, v in defaults.items()} | dict(given)
        if not any(a.rank for a in (density.log_density.arguments[0], *self._arguments)):
            fit = density.fit(sample, fixed={n: float(v) for n, v in found.items()}) if len(found) < len(self.domains) else None
            best = fit.parameters if fit is not None else {}
            return {a.name: np.asarray(found.get(a.name, best.get(a.name)), float) for a in self._arguments}
        return {a.name: found[a.name] if a.name in found else moment_start(a, sample) for a in self._arguments}

    def expand(self, values: Named, wrt: Sequence[str], second: bool) -> Expanded:
        value, slopes = self._likelihood.value_and_grad(**values, wrt=tuple(wrt))
        gradient = np.concatenate([np.ravel(slopes[n]).astype(float) for n in wrt])
        if not second:
            return Expanded(float(value), gradient)
        return Expanded(float(value), gradient, Bordered.dense(self._likelihood.hessian(**values, wrt=tuple(wrt))))

    def score_sums(self, values: Named, wrt: Sequence[str], clusters: np.ndarray | None, n_clusters: int) -> Doubles:
        n, dtype = self.n_rows, np.dtype(self._x.dtype)
        wide = {
            name: np.ascontiguousarray(np.broadcast_to(np.asarray(v, dtype), (n, *np.shape(v)))) if name in wrt else v
            for name, v in values.items()
        }
        _, slopes = self._likelihood.value_and_grad(**wide, wrt=tuple(wrt))
        scores = np.concatenate([np.reshape(np.asarray(slopes[name], float), (n, -1)) for name in wrt], 1)
        return sums_of_scores(scores, clusters, n_clusters)


def moment_start(argument: Any, sample: np.ndarray) -> np.ndarray:
    """Start of a parameter of a density of vectors, by the moments of a sample (n, d)."""
    d, words = sample.shape[1], argument.words
    if "covariance" in words:
        spread = np.atleast_2d(np.cov(sample.T, bias=True))
        return spread + 1e-6 * np.diag(np.diagonal(spread).clip(1e-12))
    if argument.rank == 1:
        if "simplex" in words:
            return np.full(d, 1 / d)
        return sample.mean(0) if words <= {"vector", "real"} else np.full(d, start_in(words))
    if argument.rank:
        raise ValueError(f"{argument.name} is a matrix: give start={{{argument.name!r}: …}}")
    return np.asarray(start_in(words))


def sums_of_scores(scores: Doubles, clusters: np.ndarray | None, n_clusters: int) -> Doubles:
    """Result of `Problem.score_sums` for the scores of all observations, (N, P)."""
    if clusters is None:
        return scores.T @ scores
    return np.stack([np.bincount(clusters, own, n_clusters) for own in scores.T], 1)
