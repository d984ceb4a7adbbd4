"""Exact search for the nearest of many points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...kernels.layout import power_of_two
from ...kernels.template import Template
from ...parallel.rows import chunks
from ...runtime.base import Runtime
from ...runtime.cached import cached_property
from ...runtime.types import Array
from .layout import blocks_within, nearest_layout
from .points import Points

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

_NEAREST = Template.beside(__file__, "nearest")


class Nearest:
    """Search for the rows of X that are nearest to locations, in Euclidean distance.

    Parameters
    ----------
    runtime : Runtime
        Device that computes in float64.
    X : (N, p) float64
        NumPy or device array, or points. A row with a nan is farther away than all others.
    method : {"auto", "device", "tree"}
        Distances to all rows on the device, or a k-d tree of SciPy on the host. Both find the same rows.
    rows : int, optional
        Number of rows of X that the device holds, twice: some are read while it works on others. All of them if None.
    chosen : int, optional
        Arguments of `nearest_layout`, to choose another layout.

    Raises
    ------
    ValueError
        X is no matrix with rows and columns; a tree of numbers that are not finite.

    Notes
    -----
    Distances are sums of squares in the order of the columns; rows at the same distance are in the order of their numbers.
    On the device a fixed sample of X gives each location a distance within which there are at least k rows, almost surely,
    and not many more: a single pass collects these, and the k-th of them is found digit by digit. Where there are fewer, or too
    many, all of X is gone through that way. Where X passes in parts, those that were found among the rows before join in.

    Examples
    --------
    >>> import numpy as np
    >>> from gpustats.runtime import choose
    >>> runtime = choose.get()
    >>> X = np.arange(10.0)[:, None]
    >>> found = Nearest(runtime, X).find(runtime.to_device(np.array([[3.2], [8.0]])), 3, start=3)
    >>> runtime.to_host(found)
    array([[3, 4, 2],
           [8, 7, 9]], dtype=int32)
    """

    def __init__(self, runtime: Runtime, X: Array, method: str = "auto", rows: int | None = None, **chosen: int) -> None:
        if method not in ("auto", "device", "tree"):
            raise ValueError(f"method = {method!r}: there are 'auto', 'device' and 'tree'")
        self.runtime, self._chosen = runtime, chosen
        X = X if isinstance(X, np.ndarray | Points) else runtime.to_host(X)
        if len(X.shape) != 2 or not all(X.shape) or X.shape[0] >= 2**31:
            raise ValueError(f"X has shape {X.shape}: it must be (N, p), with 1 <= N < 2**31 rows and a column")
        self.X = X if isinstance(X, Points) else Points(np.ascontiguousarray(X, np.float64))
        self.method, self._ranges, self._samples = method, chunks(len(X), rows or len(X)), dict[int, Array]()
        if method == "tree" and not self._finite:
            raise ValueError("method = 'tree': X has numbers that are not finite")

    @cached_property
    def _finite(self) -> bool:
        return all(np.isfinite(part).all() for part in self.X.parts())

    @cached_property
    def _whole(self) -> np.ndarray:
        return np.asarray(self.X)

    def _by_columns(self, rows: np.ndarray) -> Array:
        """Rows on the device, so that neighbouring threads read neighbouring numbers."""
        return self.runtime.to_device(np.ascontiguousarray(rows.T))

    @cached_property
    def _points(self) -> Array:
        return self._by_columns(self._whole)

    def _sample(self, n: int) -> Array:
        """Sample of n rows of X on the device, always the same."""
        if n not in self._samples:
            self._samples[n] = self._by_columns(self.X[_rows_of_sample(len(self.X), n)])
        return self._samples[n]

    def _part(self, first: int, end: int, n_sample: int) -> tuple[Array, Array]:
        """Rows of X, and a sample of them, on the device, where all rows stay if they fit."""
        if len(self._ranges) == 1:
            return self._points, self._sample(n_sample)
        part = self.X.part(first, end)
        return self._by_columns(part), self._by_columns(part[_rows_of_sample(len(part), n_sample)])

    def find(self, locations: Array, k: int, start: int = 0, out: Array = None) -> Array:
        """Nearest k rows of each location.

        Parameters
        ----------
        locations : (m, p) or (m, r, p) device array of float64
            With r references each, of which the nearest counts.
        start : int
            Number of the nearest that come first, in the order of their distances. The order of the others is not defined.
        out : (m, k) device array of int32, optional

        Returns
        -------
        (m, k) device array of int32
            `out`. -1 where there are no more rows, and everywhere for a location that is not finite.
        """
        runtime = self.runtime
        if not 0 <= start <= k:
            raise ValueError(f"start = {start}, k = {k}: it needs 0 <= start <= k")
        m, dim, several = locations.shape[0], locations.shape[-1], len(locations.shape) == 3
        if dim != self.X.shape[1]:
            raise ValueError(f"locations have shape {locations.shape}, but X {self.X.shape}")
        out = runtime.empty((m, k), np.int32) if out is None else out
        if not (m and k):
            return out
        if self._uses_tree(k):
            on_host = runtime.to_host(locations)
            find = self._find_around_sets if several else self._find_in_tree
            out.set(find(on_host, k))
            return out
        start, parts = max(start, 1), len(self._ranges) > 1
        best = runtime.empty((m, k), np.float64) if parts else None  # the distances of `out`, whose bits are in their order
        layout = nearest_layout(runtime.device, dim, m, **self._chosen)
        kernel = _NEAREST.kernel(
            runtime, "local_nearest", layout.threads, dtype="float64", layout=layout, dim=dim, several=several, parts=parts
        )
        for first, end in self._ranges:
            n = end - first
            n_sample, rank, capacity = sample_of(n, min(k, n))
            capacity += k if parts else 0  # for those before
            words = layout.scratch(capacity, start)
            blocks = blocks_within(runtime, layout.blocks, -(-m // layout.locations), 8 * words)
            points, sample = self._part(first, end, n_sample)
            kernel(
                (blocks, 1), *runtime.memory(out), *(runtime.memory(a)[0] for a in (points, sample if n_sample else points)),
                *runtime.memory(locations), runtime.scratch(8 * words * blocks), words, m, n, n_sample, rank, k, start,
                capacity, *locations.shape[1:-1], *((*runtime.memory(best), first) if parts else ()),
            )  # fmt: skip
        return out

    def _uses_tree(self, k: int) -> bool:
        """True if a tree searches: where it leaves out nearly all points, as measured on two cores against cKDTree."""
        if self.method != "auto" or len(self._ranges) > 1:
            return self.method == "tree"
        n, dim = self.X.shape
        return n >= 200 * k and dim <= 5 and self.runtime.device.type == "cpu" and self._finite

    @cached_property
    def _tree(self) -> cKDTree:
        from scipy.spatial import cKDTree

        return cKDTree(self._whole)

    def _find_in_tree(self, locations: np.ndarray, k: int) -> np.ndarray:
        (n, dim), found = self.X.shape, np.full((len(locations), k), -1, np.int32)
        left = np.flatnonzero(np.isfinite(locations).all(1))
        wanted, asked = min(k, n), min(k + 8, n)
        while left.size:
            x = locations[left]
            rows = self._tree.query(x, asked, workers=-1)[1].reshape(-1, asked)
            distances = np.zeros(rows.shape)
            for e in range(dim):
                distances += (self._whole[rows, e] - x[:, e, None]) ** 2
            mixed = (np.diff(distances) <= 0).any(1)  # the tree takes no heed of row numbers, and rounds in its own way
            order = np.lexsort((rows[mixed], distances[mixed]))
            rows[mixed] = np.take_along_axis(rows[mixed], order, 1)
            distances[mixed] = np.take_along_axis(distances[mixed], order, 1)
            # Of the rows at the last distance some may be missing.
            whole = (distances[:, wanted - 1] < distances[:, -1] * (1 - 1e-12)) | (asked == n)
            found[left[whole], :wanted] = rows[whole, :wanted]
            left, asked = left[~whole], min(2 * asked, n)
        return found

    def _find_around_sets(self, sets: np.ndarray, k: int) -> np.ndarray:
        """Rows nearest to any reference of each set, chosen from the rows nearest to each reference."""
        m, references, dim = sets.shape
        rows = self._find_in_tree(sets.reshape(-1, dim), k).reshape(m, references, k)
        found = np.full((m, k), -1, np.int32)
        for i in np.flatnonzero(np.isfinite(sets).all((1, 2))):
            near = np.unique(rows[i][rows[i] >= 0])
            distances = np.zeros((references, len(near)))
            for e in range(dim):
                distances += (self._whole[near, e] - sets[i, :, e, None]) ** 2
            order = np.argsort(distances.min(0), kind="stable")[:k]
            found[i, : len(order)] = near[order]
        return found


def _rows_of_sample(n: int, size: int) -> np.ndarray:
    return np.random.default_rng(size).choice(n, size, replace=False)


def sample_of(n: int, k: int) -> tuple[int, int, int]:
    """Size of a sample of n rows, the rank in it that bounds the k nearest rows, and the number of rows to have room for.

    The sample's row of this rank, in the order of distances, has the k nearest rows within its distance. Size 0: collect all
    rows.

    The number of the sample's rows among the k nearest has a mean of k n_sample / n and about that variance.
    """
    size = power_of_two(int(2 * (9.0 * k * n) ** (1 / 3)))  # about the least work in all
    size = min(max(size, 1024), 16384)
    share = size / n
    rank = math.ceil(k * share + 4 * math.sqrt(k * share) + 6)
    capacity = math.ceil((rank + 5 * math.sqrt(rank)) / share)
    if 4 * size > n or 2 * capacity > n:
        return 0, 0, n
    return size, rank, max(capacity, size)
