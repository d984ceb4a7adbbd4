"""Covariance function at several sets of hyperparameters, over all pairs of the same points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..linalg.matrix import Matrix
from ..runtime import thresholds
from ..runtime.types import Array, Handle
from .pairs import MATRIX, SUMS, Pairs, Slots

BLOCKS_OF_A_SET = thresholds.PROCESSES_BLOCKS_OF_A_SET.value  # of threads, which share the sums of one of several sets

#: Where the numbers and the scales of several sets lie: two handles, with the place behind each, in numbers.
Places = Sequence[tuple[Handle, int]]


class PairSets:
    """Covariance function at several sets of hyperparameters, for all pairs among the same points on a device.

    Parameters
    ----------
    x : (n, columns) array
    wrt : sequence of str
        Names of the hyperparameters in which there are derivatives.
    """

    def __init__(self, pairs: Pairs, x: Array, n_sets: int, wrt: Sequence[str]) -> None:
        self._pairs, self._x, self._n_sets = pairs, x, n_sets
        self._slots = Slots(pairs.code, pairs.layout, pairs.vectors, wrt)
        self._tiles = -(-x.shape[0] // pairs.layout.tile)
        self._blocks = min(self._tiles * (self._tiles + 1) // 2, BLOCKS_OF_A_SET)
        self._shape = len(self._slots.passes), n_sets, self._blocks, self._slots.count
        self.n_sums = math.prod(self._shape)  # that the kernels of derivatives write

    def given(self, values: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and scales that kernels read for values of hyperparameters, (sets, 1), or (sets, columns) for a vector.

        Returns
        -------
        numbers : (sets, hyperparameters) ndarray
        scales : (sets, measures, columns) ndarray
            The factors of the coordinates; of no sets, where none are vectors.
        """
        pairs, ones = self._pairs, np.ones(self._n_sets)
        numbers = [ones if n in pairs.vectors else values[n][:, 0] for n in pairs.covariance.parameters]
        scales = pairs.code.scales({n: values[n] for n in pairs.vectors}) if pairs.vectors else np.empty((0, 0, 0))
        return np.stack(numbers, 1), scales

    def matrix(self, out: Matrix, given: Places, noise: tuple[Handle, int], stride: int, lift: float) -> None:
        """Lower triangles of out = k(x, x), times `lift` on the diagonal, where noise is added.

        Parameters
        ----------
        out : Matrix
            A batch of them.
        given : sequence of tuple
            Where the numbers and the scales lie.
        noise : tuple
            Where noise lies.
        stride : int
            Its numbers for a set: 1, or one for each row.
        """
        kernel = self._pairs.kernel(MATRIX, noise="value" if stride == 1 else "row", lower=True, several=True)
        points, numbers = self._operands(given)
        grid = self._tiles, self._tiles * self._n_sets
        kernel(grid, out.handle, out.offset, out.stride, out.batch_stride, *points, lift, *noise, stride, *numbers)

    def sums(
        self, out: tuple[Handle, int], diagonal: Array, inverse: Matrix, alpha: Matrix, weights: tuple[Handle, int],
        stride: int, given: Places, lift: float,
    ) -> None:  # fmt: skip
        """Start the kernels that write the sums for `derivatives`.

        Parameters
        ----------
        out : tuple
            Where the sums go: a handle, and the place behind it, in numbers.
        diagonal : (sets, n) array
            Output for the diagonal of each W, see `Pairs.gradient`.
        inverse : Matrix
            A batch of them.
        alpha : Matrix
            A batch of (n, 1).
        weights : tuple
            Where the weights of alpha lie, in float64; that of a set `stride` numbers behind that of the one before.
        given, lift
            As for `matrix`.
        """
        pairs, (points, numbers) = self._pairs, self._operands(given)
        kernel, (_, *shape) = pairs.kernel(SUMS, wrt=self._slots.wrt, several=True), self._shape
        for k, first in enumerate(self._slots.passes):
            kernel(
                (self._blocks, self._n_sets), out[0], out[1] + k * math.prod(shape), *pairs.at(diagonal), inverse.handle,
                inverse.offset, inverse.stride, inverse.batch_stride, alpha.handle, alpha.offset, *weights, stride,
                lift, self._tiles, first, *points, *numbers,
            )  # fmt: skip

    def derivatives(
        self, sums: np.ndarray, values: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Derivatives, (sets, 1) or (sets, columns) like the values, and the trace of W of each set, (sets,)."""
        found = sums.reshape(self._shape).sum(2)
        return self._slots.derivatives(list(found), {n: values[n] for n in self._pairs.vectors})

    def _operands(self, given: Places) -> tuple[list[Array | int], list[Handle | int]]:
        """Kernel arguments for the points and the factors of their coordinates, and for the hyperparameters."""
        pairs, ((handle, start), scales), (n, columns) = self._pairs, given, self._x.shape
        count, at = len(pairs.covariance.parameters), pairs.at(self._x)
        of_scales = [*scales, len(pairs.code.measures) * columns] if pairs.vectors else [*pairs.at(pairs.unscaled), 0]
        return [*at, n, *at, n, *of_scales], [one for k in range(count) for one in (handle, start + k, count)]
