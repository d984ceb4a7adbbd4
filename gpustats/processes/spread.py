"""Covariance matrix of a Gaussian process on several devices, each with a part of the lower triangle."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from ..evaluation.placement import empty, moved
from ..evaluation.results import as_host, written
from ..linalg import distributed
from ..linalg.block_rows import BlockRow, BlockRows, require_type
from ..linalg.matrix import Matrix
from ..linalg.provider import Provider
from ..linalg.providers import provider_of
from ..runtime.base import Runtime
from ..runtime.cached import cached_property
from ..runtime.types import Array
from .expression import Expression
from .factor import Factorised, Summary, summarise
from .hyperparameters import Hyperparameters
from .observations import Observations
from .pairs import SUMS, Pairs, Slots
from .parameters import Parameters
from .slopes import Slopes


class Part:
    """Kernels, points and hyperparameters of one device, beside its rows of the matrix.

    Attributes
    ----------
    provider : Provider
    pairs : Pairs
    x : (n, p) array
        All points, as the device's kernels read them.
    values : Hyperparameters
    """

    def __init__(self, provider: Provider, pairs: Pairs, x: Array, values: Hyperparameters) -> None:
        self.provider, self.pairs, self.x = provider, pairs, x
        self.values = copy.copy(values)
        self.values.scales = None  # those of another device


class Spread:
    """Observations on several devices, with the kernels of a covariance function there.

    Parameters
    ----------
    runtimes : sequence of Runtime
        Devices, one of which has the data already.
    lift, student_t
        As for `Solver`.
    """

    def __init__(
        self, covariance: Expression, data: Observations, runtimes: Sequence[Runtime], lift: float, student_t: bool
    ) -> None:
        require_type(runtimes, data.dtype)
        self._covariance, self._data, self._lift, self._student_t = covariance, data, lift, student_t
        self.runtimes = list(runtimes)
        if data.runtime not in self.runtimes:
            named = ", ".join(runtime.device.id for runtime in runtimes)
            raise ValueError(
                f"x or y lies on {data.runtime.device.id}, and devices names {named}: name that, too, or pass NumPy arrays, "
                "see gs.to_host"
            )
        self.lead, self.ids = self.runtimes.index(data.runtime), [runtime.device.id for runtime in self.runtimes]
        self._x = {r: data.x if r is data.runtime else moved(r, data.host_x) for r in self.runtimes}
        self._pairs: dict[tuple[Runtime, tuple[str, ...]], Pairs] = {}

    def factor(self, parameters: Parameters) -> SpreadFactor:
        """Factor of the covariance matrix at some parameters."""
        data, values = self._data, parameters.hyperparameters
        vectors = tuple(values.vectors)
        for runtime in self.runtimes:
            if (runtime, vectors) not in self._pairs:
                self._pairs[runtime, vectors] = Pairs(self._covariance, runtime, data.dtype, data.columns, vectors)
        parts = [Part(provider_of(r), self._pairs[r, vectors], self._x[r], values) for r in self.runtimes]
        residual = (data.y - np.asarray(parameters.mean)).astype(data.dtype)
        return SpreadFactor(parts, self.lead, residual, parameters.noise, self._lift, self._student_t)


class SpreadFactor(Factorised):
    """Cholesky factor of a covariance matrix of which several devices have blocks of rows; see `BlockRows`.

    Parameters
    ----------
    parts : sequence of Part
        One for each device.
    lead : int
        The number of the device that makes predictions.
    residual : (n,) ndarray
    noise : float or (n,) ndarray
        Added to the diagonal.
    """

    at_once = 8  # products with a block of rows are short, and devices wait for one another

    def __init__(
        self, parts: Sequence[Part], lead: int, residual: np.ndarray, noise: float | np.ndarray, lift: float, student_t: bool
    ) -> None:
        self._parts, self._lead, first = parts, lead, parts[lead]
        self.provider, self.pairs, self.x, self.values = first.provider, first.pairs, first.x, first.values
        self.runtime, self.n, self.lift, self.student_t, self.spent = first.pairs.runtime, len(residual), lift, student_t, False
        self._l = BlockRows([part.provider for part in parts], self.n, self.pairs.dtype)
        for block in self._l.blocks:
            self._fill(block, noise)
        self._infos = distributed.potrf(self._l)
        self._z = self._l.replicated(residual.reshape(-1, 1))
        distributed.solve(self._l, self._z)
        self.z = self._z[lead]
        self._summaries = [self._summarised(block) for block in self._l.blocks]

    def _fill(self, block: BlockRow, noise: float | np.ndarray) -> None:
        """Compute a block of rows on its device."""
        part = self._parts[block.place]
        pairs, x = part.pairs, part.x[block.rows]
        if block.number:
            pairs.matrix(block.left, x, part.x[block.before], part.values)
        added = moved(pairs.runtime, noise[block.rows].astype(pairs.dtype)) if isinstance(noise, np.ndarray) else noise
        pairs.matrix(block.diagonal, x, x, part.values, added, self.lift, lower=True)

    def _summarised(self, block: BlockRow) -> Array:
        """Start the kernel for the `Summary` of a block on the diagonal; returns the array of its numbers."""
        pairs, info = self._parts[block.place].pairs, self._infos[block.number]
        out = empty(pairs.runtime, len(Summary._fields), np.float64)
        handle, start = pairs.at(out)
        summarise(pairs, handle, info, block.diagonal, self._z[block.place][block.rows, :], False, start)
        if isinstance(info, np.ndarray):  # which the kernel reads
            pairs.runtime.synchronize()
        return out

    @cached_property
    def summary(self) -> Summary:
        summaries = [
            Summary(*written(self._parts[block.place].pairs.runtime, numbers))
            for block, numbers in zip(self._l.blocks, self._summaries, strict=True)
        ]
        failed = [block.rows.start + int(one.minor) for block, one in zip(self._l.blocks, summaries, strict=True) if one.minor]
        with np.errstate(all="ignore"):
            totals = [(one.log_determinant, one.squares) for one in summaries]
            log_determinant, squares = np.sum(totals, 0) if totals else (0.0, 0.0)
            weight = self.n / np.float64(squares) if self.student_t else 1.0
        return Summary(failed[0] if failed else 0, float(log_determinant), float(squares), float(weight))

    def rows(self, xs: Array) -> Matrix:
        """Rows k(xs, x) l'⁻¹, (m, n), on the device that makes predictions."""
        m, host = xs.shape[0], None
        rows = self.provider.empty(m, self.n, self.pairs.dtype)
        if not self.n:
            return rows
        columns, new = [], []  # of each device, the former of all points once they are solved for
        for part in self._parts:
            runtime = part.pairs.runtime
            if runtime is not self.runtime and host is None:
                host = as_host(self.runtime, xs)
            new.append(xs if runtime is self.runtime else moved(runtime, host))
            columns.append(part.provider.empty(self.n, m, self.pairs.dtype))
        for block in self._l.blocks:
            part, place = self._parts[block.place], block.place
            part.pairs.matrix(columns[place][block.rows, :], part.x[block.rows], new[place], part.values)
        distributed.solve(self._l, columns)
        self.provider.copy(columns[self._lead].T, rows)
        return rows

    def slopes(self) -> Slopes:
        return SpreadSlopes(self)

    def inverse(self) -> tuple[BlockRows, np.ndarray]:
        """Lower triangle of (K + noise)⁻¹, which takes the place of the factor, and alpha = (K + noise)⁻¹ r, (n, 1)."""
        self.spent = True
        distributed.trtri(self._l)
        alpha = distributed.transposed_product(self._l, self._z)
        distributed.gram(self._l)
        return self._l, alpha


class SpreadSlopes(Slopes):
    """Derivatives where the inverse lies in blocks of rows on several devices."""

    def __init__(self, factor: SpreadFactor) -> None:
        self._parts, self._lift, self._weight = factor._parts, factor.lift, factor.summary.weight
        self._inverse, self._host_alpha = factor.inverse()
        self._alpha = self._inverse.replicated(self._host_alpha)

    def alpha(self) -> np.ndarray:
        return self._host_alpha.reshape(-1)

    def in_hyperparameters(self, wrt: Sequence[str]) -> tuple[dict[str, Array], float, np.ndarray]:
        n, dtype, started = self._inverse.n, self._inverse.dtype, []
        runtimes = [part.pairs.runtime for part in self._parts]
        diagonals = [empty(runtime, n, dtype) for runtime in runtimes]
        weights = [moved(runtime, np.array([self._weight])) for runtime in runtimes]
        vectors = self._parts[0].values.vectors
        slots = Slots(self._parts[0].pairs.code, self._parts[0].pairs.layout, vectors, wrt)
        for block in self._inverse.blocks:
            part, place, end = self._parts[block.place], block.place, block.rows.stop
            started.append(
                _start_sums(
                    part.pairs, part.x[:end], part.values, block.whole, self._alpha[place].memory.array, weights[place], slots,
                    self._lift, diagonals[place],
                )  # fmt: skip
            )
        sums = [
            [written(runtimes[block.place], its).sum(0) for its in found]
            for block, found in zip(self._inverse.blocks, started, strict=True)
        ]
        totals = [np.sum(its, 0, keepdims=True) for its in zip(*sums, strict=True)]
        diagonal, parts = np.empty(n, dtype), [written(r, d) for r, d in zip(runtimes, diagonals, strict=True)]
        for block in self._inverse.blocks:
            diagonal[block.rows] = parts[block.place][block.rows]
        return *slots.of_one(totals, vectors), diagonal

    def in_points(self) -> np.ndarray:
        """Derivatives in the points; the inverse becomes -2 W."""
        inverse, alpha = self._inverse, self._alpha
        total = np.zeros((inverse.n, self._parts[0].pairs.columns))
        for block in inverse.blocks:
            part, own = self._parts[block.place], alpha[block.place]
            pairs, runtime, x = part.pairs, part.pairs.runtime, part.x[block.rows]
            part.provider.gemm(-self._weight, own[block.rows, :], own[: block.rows.stop, :].T, 1.0, block.whole)
            square = pairs.cross_gradient(x, x, part.values, block.diagonal, self._lift)
            total[block.rows] += written(runtime, square)
            if block.number:
                before = part.x[block.before]
                total[block.before] += written(runtime, pairs.cross_gradient(x, before, part.values, block.left))
                turned = part.provider.empty(*block.left.T.shape, inverse.dtype)
                part.provider.copy(block.left.T, turned)
                total[block.rows] += written(runtime, pairs.cross_gradient(before, x, part.values, turned))
        return total.astype(inverse.dtype)


def _start_sums(
    pairs: Pairs, x: Array, values: Hyperparameters, inverse: Matrix, alpha: Array, weight: Array, slots: Slots, lift: float,
    diagonal: Array,
) -> list[Array]:  # fmt: skip
    """Start the sums of `Pairs.gradient` over the last rows of a triangle; other arguments are as there.

    Parameters
    ----------
    x : (n, columns) array
        The points up to the last row.
    inverse : Matrix
        Last rows of the triangle, (m, n).
    alpha : (n, 1) array
    diagonal : array
        Its numbers n - m to n - 1 become those of W.

    Returns
    -------
    list of (blocks, slots.count) array
        The sums of each pass, to be summed over the blocks of threads.
    """
    kernel = pairs.kernel(SUMS, wrt=slots.wrt, strip=True)
    tile, n = pairs.layout.tile, x.shape[0]
    tiles = -(-n // tile)
    blocks = min(tiles * -(-inverse.rows // tile), pairs.most_blocks)
    points, numbers = pairs.operands(x, x, values)
    found = []
    for first in slots.passes:
        found.append(empty(pairs.runtime, (blocks, slots.count), np.float64))
        kernel(
            (blocks, 1), *pairs.at(found[-1]), *pairs.at(diagonal), inverse.handle, inverse.offset, inverse.stride,
            *pairs.at(alpha), *pairs.at(weight), lift, tiles, first, n - inverse.rows, *points, *numbers,
        )  # fmt: skip
    pairs.finish()
    return found
