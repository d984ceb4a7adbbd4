"""Marginal likelihoods at several sets of hyperparameters, whose covariance matrices are factorised as one batch."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.arguments import elements_inside
from ..evaluation.placement import empty, moved
from ..evaluation.results import written
from ..language.device_function import Argument
from ..linalg.kernels import KernelProvider
from ..linalg.matrix import Matrix
from .expression import Expression
from .factor import Summary, log_density, summarise
from .hyperparameters import require_scaled
from .observations import Observations
from .pairs import Pairs, PairSets
from .parameters import MEAN, SIGMA, Y

if TYPE_CHECKING:
    from ..runtime.base import Device

MOST = 2048  # observations: for more, a vendor's library is faster with one matrix after another
SHARE = 8  # of the device's memory, a part in so many is for the matrices of a batch
AT_ONCE = 256  # sets of a batch, at most


def pays(device: Device, n: int) -> bool:
    """Whether the matrices of several sets, of n rows, are to be a batch. The number of sets does not count, as in `sets`."""
    return device.type == "gpu" and 0 < n <= MOST


class Batch:
    """The marginal likelihoods of one Gaussian process at sets of parameters, where their matrices are a batch.

    A set's bits do not depend on the other sets.

    Parameters
    ----------
    covariance : Expression
    data : Observations
    student_t : bool
    lift : float
        By which the diagonal is multiplied.
    """

    def __init__(self, covariance: Expression, data: Observations, student_t: bool, lift: float) -> None:
        self._covariance, self._data, self._student_t, self._lift = covariance, data, student_t, lift
        self._provider = KernelProvider(data.runtime, alike=True)
        self._pairs: dict[tuple[str, ...], Pairs] = {}  # by the names of the lengthscales that are vectors

    def __call__(
        self, values: Mapping[str, np.ndarray], n_sets: int, wrt: Sequence[str]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The log marginal likelihoods, and their derivatives: arguments and results are those of a call of `Sets`."""
        covariance, data = self._covariance, self._data
        given = {Y: data.y.astype(np.float64).reshape(1, -1), **values}
        vectors = tuple(n for n in covariance.parameters if given[n].shape[1] > 1)
        for name in vectors:
            require_scaled(covariance, name)
        pairs = self._pairs.get(vectors)
        if pairs is None:
            pairs = self._pairs[vectors] = Pairs(covariance, data.runtime, data.dtype, data.columns, vectors)
        given = {n: np.broadcast_to(given[n], (n_sets, given[n].shape[1])) for n in (Y, SIGMA, MEAN, *covariance.parameters)}
        each = 2 * data.dtype.itemsize * data.n**2
        at_once = min(max(data.runtime.device.memory // (SHARE * each), 1), AT_ONCE)
        parts = [
            self._part(pairs, {n: a[first : first + at_once] for n, a in given.items()}, wrt)
            for first in range(0, n_sets, at_once)
        ]
        found = np.concatenate([part for part, _ in parts])
        slopes = {n: np.concatenate([part[n] for _, part in parts]) for n in wrt}
        wrong = ~(self._inside(given) & (np.isfinite(found) | np.isposinf(found)))
        found[wrong] = np.nan
        for slope in slopes.values():
            slope[wrong] = np.nan
        return found, slopes

    def _inside(self, given: Mapping[str, np.ndarray]) -> np.ndarray:
        """Which sets lie in the domains of all arguments."""
        arguments = [Argument(Y), Argument(MEAN), Argument(SIGMA, "nonnegative"), *self._covariance.arguments]
        checks = [(np.isfinite(given[a.name]) & elements_inside(a, given[a.name])).all(1) for a in arguments]
        return functools.reduce(np.logical_and, checks)

    def _part(
        self, pairs: Pairs, given: Mapping[str, np.ndarray], wrt: Sequence[str]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """What a call finds, of as many sets as there is memory for."""
        provider, data, dtype = self._provider, self._data, self._data.dtype
        runtime, n, n_sets = data.runtime, data.n, len(given[SIGMA])
        own = [name for name in wrt if name in self._covariance.parameters]
        with np.errstate(all="ignore"):  # the values will tell
            noise = moved(runtime, (given[SIGMA] ** 2).astype(dtype))
            residuals = moved(runtime, (given[Y] - given[MEAN]).astype(dtype).reshape(n_sets, n, 1))
            of_sets = PairSets(pairs, data.x, {name: given[name] for name in self._covariance.parameters})
        l, z = provider.empty(n, n, dtype, n_sets), Matrix.over(runtime, residuals)  # noqa: E741
        of_sets.matrix(l, noise, given[SIGMA].shape[1] > 1, self._lift)
        info = provider.potrf(l)
        provider.trsm(l, z, left=True)
        summaries = empty(runtime, 4 * n_sets, np.float64)
        summarise(pairs, summaries, info, l, z, self._student_t)
        slopes: dict[str, np.ndarray] = {}
        if wrt:
            alpha, inverse = provider.empty(n, 1, dtype, n_sets), provider.empty(n, n, dtype, n_sets)
            provider.trtri(l)
            provider.gemm(1.0, l.T, z, 0.0, alpha, a_triangle="upper")
            provider.syrk(1.0, l.T, 0.0, inverse, a_triangle="upper")
            if own or SIGMA in wrt:
                weights = summaries[Summary._fields.index("weight") :]
                found = of_sets.gradient(inverse, alpha.memory.array, weights, len(Summary._fields), own, self._lift)
                slopes, traces, diagonals = found
                if SIGMA in wrt:
                    by_row = given[SIGMA].shape[1] > 1
                    slopes[SIGMA] = 2 * given[SIGMA] * (written(runtime, diagonals) if by_row else traces[:, None])
            if MEAN in wrt or Y in wrt:
                weight = written(runtime, summaries).reshape(n_sets, -1)[:, Summary._fields.index("weight")]
                slope = weight[:, None] * written(runtime, alpha.memory.array).reshape(n_sets, n).astype(float)
                slopes |= {MEAN: slope if given[MEAN].shape[1] > 1 else slope.sum(1, keepdims=True), Y: -slope}
        minor, log_determinant, squares, _ = written(runtime, summaries).reshape(n_sets, -1).T
        values = np.where(minor == 0, log_density(n, log_determinant, squares, self._student_t), np.nan)
        return values, {name: slopes[name] for name in wrt}
