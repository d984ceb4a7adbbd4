"""Marginal likelihoods at several sets of hyperparameters, whose covariance matrices are factorised as one batch."""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.arguments import elements_inside
from ..evaluation.parcel import Parcel
from ..evaluation.repeated import KeptPlaces, RepeatedCall, Work
from ..evaluation.results import as_host
from ..evaluation.slots import Packed, Slots
from ..language.device_function import Argument
from ..linalg.kernels import KernelProvider
from ..linalg.matrix import Matrix, PlacedMemory
from ..runtime import thresholds
from .expression import Expression
from .factor import Summary, log_density, summarise
from .hyperparameters import require_scaled
from .observations import Observations
from .pair_sets import PairSets
from .pairs import Pairs
from .parameters import MEAN, SIGMA, Y

if TYPE_CHECKING:
    from ..runtime.base import Device
    from ..runtime.types import Handle

#: Observations: for more, a vendor's library is faster with one matrix after another.
MOST_OBSERVATIONS = thresholds.PROCESSES_MOST_IN_BATCH.value
MOST_SETS_AT_ONCE = thresholds.PROCESSES_MOST_SETS_AT_ONCE.value  # of a batch
#: Shares of the device's memory that the matrices of a batch may take, and up to which they are kept for the next batch.
BATCH_MEMORY_SHARE, KEPT_MEMORY_SHARE = 1 / 8, 1 / 64
WEIGHT_PLACE, SUMMARY_WIDTH = Summary._fields.index("weight"), len(Summary._fields)


def pays(device: Device, n: int) -> bool:
    """True if the matrices of several sets, of n rows, are factorised as one batch, whatever the number of sets."""
    return device.type == "gpu" and 0 < n <= MOST_OBSERVATIONS


class Batch:
    """Marginal likelihoods of one Gaussian process at sets of parameters, their matrices factorised as one batch.

    A set's bits do not depend on the other sets.

    Parameters
    ----------
    covariance : Expression
    data : Observations
    student_t : bool
    lift : float
        Factor of the diagonal.
    """

    def __init__(self, covariance: Expression, data: Observations, student_t: bool, lift: float) -> None:
        self.covariance, self.data, self.student_t, self.lift = covariance, data, student_t, lift
        self.provider = KernelProvider(data.runtime, alike=True)
        self._pairs: dict[tuple[str, ...], Pairs] = {}  # by the names of the lengthscales that are vectors
        self._local = threading.local()  # .last: the kind of the thread's last batch, and its plan

    def __call__(
        self, values: Mapping[str, np.ndarray], n_sets: int, wrt: Sequence[str]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Log marginal likelihoods and their derivatives, with the arguments and results of a call of `Sets`."""
        given = {Y: self.data.y.astype(np.float64).reshape(1, -1), **values}
        names = Y, SIGMA, MEAN, *self.covariance.parameters
        given = {n: np.broadcast_to(given[n], (n_sets, given[n].shape[1])) for n in names}
        memory, each = self.data.runtime.device.memory, 2 * self.data.dtype.itemsize * self.data.n**2
        at_once = min(max(int(BATCH_MEMORY_SHARE * memory) // each, 1), MOST_SETS_AT_ONCE)
        parts = []
        for first in range(0, n_sets, at_once):
            part = {n: a[first : first + at_once] for n, a in given.items()}
            plan = self._plan(part, tuple(wrt), recorded=at_once * each < KEPT_MEMORY_SHARE * memory)
            parts.append(plan(part))
        found = np.concatenate([part for part, _ in parts])
        slopes = {n: np.concatenate([part[n] for _, part in parts]) for n in wrt}
        wrong = ~(self._inside(given) & (np.isfinite(found) | np.isposinf(found)))
        for numbers in (found, *slopes.values()):
            numbers[wrong] = np.nan
        return found, slopes

    def _inside(self, given: Mapping[str, np.ndarray]) -> np.ndarray:
        """Mask of the sets that lie in the domains of all arguments."""
        arguments = [Argument(Y), Argument(MEAN), Argument(SIGMA, "nonnegative"), *self.covariance.arguments]
        checks = [(np.isfinite(given[a.name]) & elements_inside(a, given[a.name])).all(1) for a in arguments]
        return functools.reduce(np.logical_and, checks)

    def _plan(self, given: Mapping[str, np.ndarray], wrt: tuple[str, ...], recorded: bool) -> _Plan:
        """Plan of a batch; a thread keeps its last one for batches of the same kind."""
        kind = wrt, tuple(a.shape for a in given.values())
        last_kind, plan = getattr(self._local, "last", (None, None))
        if plan is None or kind != last_kind:
            self._local.last = None, None  # its memory goes to the next
            vectors = tuple(n for n in self.covariance.parameters if given[n].shape[1] > 1)
            for name in vectors:
                require_scaled(self.covariance, name)
            if vectors not in self._pairs:
                data = self.data
                self._pairs[vectors] = Pairs(self.covariance, data.runtime, data.dtype, data.columns, vectors)
            plan = _Plan(self, self._pairs[vectors], given, wrt, recorded)
            self._local.last = kind, plan
        return plan


class _Plan:
    """Kernels and memory of one thread for batches of one kind.

    The variances of the noise, the residuals, the hyperparameters, and the factors of the coordinates travel to the device.
    The summaries of the factors come back, and the sums that derivatives are made of.
    """

    def __init__(self, model: Batch, pairs: Pairs, given: Mapping[str, np.ndarray], wrt: Sequence[str], recorded: bool) -> None:
        self._model, self._pairs, self._wrt = model, pairs, wrt
        self._n_sets, self._of_row = given[SIGMA].shape
        own = [n for n in wrt if n in model.covariance.parameters]
        self._has_sums, self._has_slope = bool(own) or SIGMA in wrt, MEAN in wrt or Y in wrt
        self._sets = PairSets(pairs, model.data.x, self._n_sets, own)
        self._alpha = self._diagonals = None
        parcel = Parcel(model.data.dtype)
        self._starts = [parcel.add(i, a.size) for i, a in enumerate(self._arguments(given))]
        n_found = SUMMARY_WIDTH * self._n_sets + self._has_sums * self._sets.n_sums
        self._call = RepeatedCall(
            Slots(model.data.runtime, parcel.dtype, [Packed()], parcel), Work(n_found, self._launch),
            lambda numbers, kept: numbers.copy(), most_recorded=parcel.width if recorded else -1,
        )  # fmt: skip

    def _arguments(self, given: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        with np.errstate(all="ignore"):  # the values will tell
            return [given[SIGMA] ** 2, given[Y] - given[MEAN], *self._sets.given(given)]

    def __call__(self, given: Mapping[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Log marginal likelihoods, and their derivatives."""
        model, n_sets, n = self._model, self._n_sets, self._model.data.n
        found = self._call(self._arguments(given))
        minor, log_determinant, squares, weight = found[: SUMMARY_WIDTH * n_sets].reshape(n_sets, SUMMARY_WIDTH).T
        values = np.where(minor == 0, log_density(n, log_determinant, squares, model.student_t), np.nan)
        slopes: dict[str, np.ndarray] = {}
        if self._has_sums:
            with np.errstate(all="ignore"):
                slopes, traces = self._sets.derivatives(found[SUMMARY_WIDTH * n_sets :], given)
                if SIGMA in self._wrt:
                    of_sigma = as_host(model.data.runtime, self._diagonals) if self._of_row > 1 else traces[:, None]
                    slopes[SIGMA] = 2 * given[SIGMA] * of_sigma
        if self._has_slope:
            slope = weight[:, None] * as_host(model.data.runtime, self._alpha).reshape(n_sets, n).astype(float)
            slopes |= {MEAN: slope if given[MEAN].shape[1] > 1 else slope.sum(1, keepdims=True), Y: -slope}
        return values, {name: slopes[name] for name in self._wrt}

    def _launch(self, found: Handle, taken: Sequence[Any], kept: KeptPlaces) -> None:
        """Start all kernels of a batch."""
        model, n_sets, lift, (handle,) = self._model, self._n_sets, self._model.lift, taken
        provider, data, n, dtype = model.provider, model.data, model.data.n, model.data.dtype
        noise, residuals, *of_sets = ((handle, start) for start in self._starts)
        room = provider.empty(n + 1, n, dtype, n_sets)  # the factor, and below it the residuals, which become z'
        l, z = room[:n, :], room[n:, :]  # noqa: E741
        self._sets.matrix(l, of_sets, noise, self._of_row, lift)
        provider.copy(Matrix(PlacedMemory(*residuals, dtype), 1, n, n, batch=n_sets, batch_stride=n), z)
        info = provider.potrf(room)
        summarise(self._pairs, found, info, l, z, model.student_t)
        if not self._wrt:
            return
        alpha, inverse = (provider.empty(n, columns, dtype, n_sets) for columns in (1, n))
        provider.trtri(l)
        provider.gemm(1.0, l.T, z.T, 0.0, alpha, a_triangle="upper")
        self._alpha = alpha.memory.array
        if self._has_sums:
            provider.syrk(1.0, l.T, 0.0, inverse, a_triangle="upper")
            self._diagonals = data.runtime.empty((n_sets, n), dtype)
            sums = found, SUMMARY_WIDTH * n_sets
            self._sets.sums(sums, self._diagonals, inverse, alpha, (found, WEIGHT_PLACE), SUMMARY_WIDTH, of_sets, lift)
