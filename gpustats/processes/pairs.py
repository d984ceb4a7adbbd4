"""Covariance function over all pairs of points on a device: matrices, and the sums that derivatives are made of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.placement import empty, moved
from ..kernels.code import PER_SET, VALUE, KernelCode
from ..kernels.layout import Layout
from ..kernels.template import Template
from ..linalg.matrix import Matrix
from ..runtime.base import Device, Kernel, Runtime
from ..runtime.types import Array, Handle, Shape
from .expression import Expression
from .hyperparameters import Hyperparameters

_COVARIANCE = Template.beside(__file__, "covariance")
MATRIX, DIAGONAL, SUMS, POINTS = "matrix", "diagonal", "sums", "points"  # the template's kernels


@dataclass(frozen=True)
class PairsLayout(Layout):
    """Constants of the kernels over pairs of points.

    `tile` is the rows and the columns of pairs that a block takes at once, `chunk` the columns of the points in shared memory.
    """

    @property
    def step(self) -> int:
        """Rows of pairs that a block's threads take side by side."""
        return self.threads // self.tile

    @property
    def pairs(self) -> int:
        """Number of pairs of a thread."""
        return self.tile // self.step


def layout_for(device: Device, columns: int) -> PairsLayout:
    """Layout for points of so many columns."""
    small = device.type == "cpu" or device.max_threads < 256
    return PairsLayout(threads=32 if small else 256, tile=32, chunk=min(columns, 8))


@dataclass(frozen=True)
class Measure:
    """Squared distance or scalar product of two points, computed once for all inputs equal to it."""

    kind: str  # as that of an `Input`
    columns: tuple[int, ...] | None
    scaled: str  # the hyperparameter by whose elements coordinates are divided, or ""

    def term(self, a: str, b: str, scale: str) -> str:
        """C term that a column adds to the measure, from the points' coordinates a and b, and the factor of both if scaled."""
        if self.kind == "dot":
            return f"{a} * {b}{f' * {scale} * {scale}' if self.scaled else ''}"
        part = f"({a} - {b}){f' * {scale}' if self.scaled else ''}"
        return f"({part}) * ({part})"

    def counts(self, column: str) -> str:
        """C condition that a column counts, where not all do; else empty."""
        return " || ".join(f"{column} == {i}" for i in self.columns or ())


class Derivatives(NamedTuple):
    """Code of a covariance function with its derivatives, and the names of these."""

    code: KernelCode
    sums: dict[str, str]  # hyperparameter -> the derivative in it among the function's results
    wanted: list[int]  # the measures that are scaled by vectors in which derivatives are wanted
    slopes: list[str]  # the derivative in each input among the results, or ""


class PairsCode:
    """Sources of the kernels of a covariance function over pairs of points.

    Parameters
    ----------
    columns : int
        Number of columns of the points.
    vectors : sequence of str
        Names of the lengthscales that are vectors.
    """

    def __init__(self, covariance: Expression, columns: int, vectors: Sequence[str]) -> None:
        self.covariance, self.columns = covariance, columns
        for i in covariance.inputs:
            if i.columns is not None and max(i.columns) >= columns:
                raise ValueError(
                    f"{covariance.name} is a function of column {max(i.columns)}, but the points have {columns} columns"
                )
        seen = [Measure(i.kind, i.columns, i.lengthscale if i.lengthscale in vectors else "") for i in covariance.inputs]
        self.measures = list(dict.fromkeys(seen))  # each computed once
        self.of_inputs = [self.measures.index(m) for m in seen]  # the number of each input's measure

    def source(
        self, which: str, layout: PairsLayout, dtype: str, dialect: str, wrt: Sequence[str] = (), noise: str = "",
        lower: bool = False, several: bool = False, strip: bool = False,
    ) -> tuple[str, str]:  # fmt: skip
        """Source of one kernel, and the kernel's name.

        Parameters
        ----------
        which : {"matrix", "diagonal", "sums", "points"}
        wrt : sequence of str
            Names of hyperparameters, for ``"sums"``.
        noise : {"", "value", "row"}
            Noise on the diagonal of a ``"matrix"``, added after a factor: none, a number, one for each row.
        lower : bool
            Whether tiles above its diagonal are left out.
        several : bool
            Whether a ``"matrix"``, or ``"sums"``, are those of several sets of hyperparameters.
        strip : bool
            Whether ``"sums"`` are over the last rows of a triangle.
        """
        found = self.derivatives(wrt, which == POINTS, PER_SET if several else VALUE)
        text = _COVARIANCE.source_of(
            found.code, "covariance", layout, dtype, dialect, which=which, noise=noise, lower=lower, several=several,
            strip=strip, at_set="at_set" if several else "0", columns=self.columns, measures=self.measures,
            inputs=self.of_inputs, wanted=found.wanted, sums=list(found.sums.values()), slopes=found.slopes,
        )  # fmt: skip
        return text, "covariance" if which == MATRIX else f"covariance_{which}"

    def derivatives(self, wrt: Sequence[str], points: bool = False, role: str = VALUE) -> Derivatives:
        """Code of the function with its derivatives in some hyperparameters, and in the points where these are wanted."""
        inputs = self.covariance.inputs
        sums = [n for n in wrt if not any(m.scaled == n for m in self.measures)]
        wanted = [k for k, m in enumerate(self.measures) if m.scaled and m.scaled in wrt]
        slopes = [i.name for i, k in zip(inputs, self.of_inputs, strict=True) if k in wanted or points]
        code, results = self.covariance.code((*sums, *slopes), role)
        return Derivatives(code, {n: results[n] for n in sums}, wanted, [results.get(i.name, "") for i in inputs])

    def scales(self, vectors: Mapping[str, np.ndarray]) -> np.ndarray:
        """Factors of the coordinates at sets of lengthscales, (sets, columns) each: (sets, measures, columns)."""
        scales = np.ones((len(next(iter(vectors.values()))), len(self.measures), self.columns))
        for k, measure in enumerate(self.measures):
            if measure.scaled:
                scales[:, k] = 1 / vectors[measure.scaled]
        return scales


def over_cubes(numerators: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Numerators divided by the cubes of values; the cubes themselves may overflow or vanish."""
    return numerators / values / values / values


class Slots:
    """Order of the sums for derivatives that a block writes, for a chunk of the columns of the points in each pass.

    Parameters
    ----------
    code : PairsCode
    layout : PairsLayout
    vectors : collection of str
        Names of the lengthscales that are vectors.
    wrt : sequence of str
        Names of hyperparameters.
    """

    def __init__(self, code: PairsCode, layout: PairsLayout, vectors: Collection[str], wrt: Sequence[str]) -> None:
        self._sums, self._vectors = ([n for n in wrt if (n in vectors) == given] for given in (False, True))
        self._scaled = [m for m in code.measures if m.scaled in self._vectors]
        self._columns, self._chunk = code.columns, layout.chunk
        self.wrt = (*self._sums, *self._vectors)  # in the order in which the kernel has them
        self.count = len(self._sums) + 1 + layout.chunk * len(self._scaled)  # sums of a block
        self.passes = range(0, code.columns if self._scaled else 1, layout.chunk)  # the first column of each chunk

    def derivatives(
        self, found: Sequence[np.ndarray], vectors: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Derivatives, (sets, 1) or (sets, columns), and the traces, (sets,).

        Parameters
        ----------
        found : sequence of (sets, count) ndarray
            The numbers of each pass, summed over the blocks.
        vectors : mapping
            Name -> (sets, columns) ndarray.
        """
        n_sums = len(self._sums)
        gradient = {n: found[0][:, k, None] for k, n in enumerate(self._sums)}
        gradient |= {n: np.zeros((len(found[0]), self._columns)) for n in self._vectors}
        for k, measure in enumerate(self._scaled):
            first = n_sums + 1 + k * self._chunk
            moments = np.concatenate([part[:, first : first + self._chunk] for part in found], 1)[:, : self._columns]
            if measure.columns is not None:
                moments = np.where(np.isin(np.arange(self._columns), measure.columns), moments, 0)
            gradient[measure.scaled] += over_cubes(-2 * moments, vectors[measure.scaled])
        return gradient, found[0][:, n_sums]

    def of_one(
        self, found: Sequence[np.ndarray], vectors: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, float | np.ndarray], float]:
        """Derivatives and trace of one set of hyperparameters: numbers, and (columns,) for vectors."""
        by_set, trace = self.derivatives(found, {n: v[None] for n, v in vectors.items()})
        return {n: v[0] if n in vectors else v.item() for n, v in by_set.items()}, trace.item()


class Pairs:
    """Covariance function at points on a device.

    Parameters
    ----------
    columns : int
        Number of columns of the points.
    vectors : sequence of str
        Names of the lengthscales that are vectors.
    """

    def __init__(self, covariance: Expression, runtime: Runtime, dtype: np.dtype, columns: int, vectors: Sequence[str]) -> None:
        self.covariance, self.runtime, self.dtype, self.columns = covariance, runtime, dtype, columns
        self.vectors, self.code = tuple(vectors), PairsCode(covariance, columns, vectors)
        self.layout = layout_for(runtime.device, columns)
        self._kernels: dict[tuple[object, ...], Kernel] = {}
        self.unscaled = self._empty(1)  # for kernels that read no scales

    def matrix(
        self, out: Matrix, x: Array, y: Array, values: Hyperparameters, noise: float | Array | None = None,
        lift: float = 1.0, lower: bool = False,
    ) -> None:  # fmt: skip
        """Matrix of covariances, out = k(x, y).

        Parameters
        ----------
        noise : float or (n,) array, optional
            Added to the diagonal, after that is multiplied by `lift`.
        lower : bool
            Whether only tiles on the diagonal and below it are written.
        """
        kind = "" if noise is None else "value" if isinstance(noise, float) else "row"
        more: list[float | Handle] = [] if noise is None else [lift, noise] if kind == "value" else [lift, *self.at(noise)]
        kernel = self.kernel(MATRIX, noise=kind, lower=lower)
        tile = self.layout.tile
        grid = -(-out.columns // tile), -(-out.rows // tile)
        points, numbers = self.operands(x, y, values)
        kernel(grid, out.handle, out.offset, out.stride, *points, *more, *numbers)
        self.finish()

    def diagonal(self, x: Array, values: Hyperparameters) -> Array:
        """Diagonal k(x_i, x_i): a device array (n,), or a NumPy array where the memory is the host's."""
        out = self._empty(x.shape[0])
        kernel = self.kernel(DIAGONAL)
        points, numbers = self.operands(x, x, values)
        kernel((-(-x.shape[0] // self.layout.threads), 1), *self.at(out), *points, *numbers)
        self.finish()
        return out

    def gradient(
        self, x: Array, values: Hyperparameters, inverse: Matrix, alpha: Array, weight: Array, wrt: Sequence[str],
        lift: float = 1.0,
    ) -> tuple[dict[str, Array], float, Array]:  # fmt: skip
        """Sums over all i, j of W_ij dk(x_i, x_j) / dθ, where W = (weight alpha alpha' - inverse) / 2.

        Parameters
        ----------
        inverse : Matrix
            Its lower triangle counts.
        alpha : device array, or ndarray where the memory is the host's, (n,)
        weight : array of float64, (1,)
            As kernels read it, so that nobody waits for what another kernel has found.
        wrt : sequence of str
            Names of hyperparameters.
        lift : float
            Weight of the pairs on the diagonal.

        Returns
        -------
        gradient : dict
            Name -> float, or (columns,) ndarray for a vector.
        trace : float
            Trace of W.
        diagonal : device array or ndarray, (n,)
            Diagonal of W.
        """
        slots = Slots(self.code, self.layout, values.vectors, wrt)
        kernel = self.kernel(SUMS, wrt=slots.wrt)
        n, tiles = x.shape[0], -(-x.shape[0] // self.layout.tile)
        blocks = min(tiles * (tiles + 1) // 2, self.most_blocks)
        diagonal = self._empty(n)
        points, numbers = self.operands(x, x, values)
        found = []
        for first in slots.passes:
            result = self.runtime.result(8 * blocks * slots.count)
            kernel(
                (blocks, 1), result.handle, 0, *self.at(diagonal), inverse.handle, inverse.offset, inverse.stride,
                *self.at(alpha), *self.at(weight), lift, tiles, first, *points, *numbers,
            )  # fmt: skip
            found.append(self.runtime.fetch(result).view(np.float64).reshape(1, blocks, slots.count).sum(1))
        return *slots.of_one(found, values.vectors), diagonal

    def points_gradient(
        self, x: Array, y: Array, values: Hyperparameters, inverse: Matrix, alpha: Array, weight: Array, lift: float
    ) -> Array:
        """Derivative in the points y of the sums over i of `gradient`, for k(x_i, y_j): like y, (m, columns).

        Other arguments are as there; numbers of `inverse` on both sides of its diagonal count.
        """
        out = self._empty(tuple(y.shape))
        kernel = self.kernel(POINTS)
        points, numbers = self.operands(x, y, values)
        for first in range(0, self.columns, self.layout.chunk):
            kernel(
                (-(-y.shape[0] // self.layout.tile), 1), *self.at(out), inverse.handle, inverse.offset, inverse.stride,
                *self.at(alpha), *self.at(weight), lift, first, *points, *numbers,
            )  # fmt: skip
        self.finish()
        return out

    def cross_gradient(self, x: Array, y: Array, values: Hyperparameters, negative: Matrix, lift: float = 1.0) -> Array:
        """Derivatives in the points y of the sums over i of -negative_ij k(x_i, y_j): like y, (m, columns).

        Parameters
        ----------
        x, y : (n, columns) and (m, columns) array
        negative : Matrix
            (n, m).
        lift : float
            Weight of numbers on the diagonal.
        """
        none = moved(self.runtime, np.zeros(max(x.shape[0], y.shape[0]), self.dtype))
        return self.points_gradient(x, y, values, negative, none, moved(self.runtime, np.zeros(1)), lift)

    @property
    def most_blocks(self) -> int:
        """Largest number of blocks of threads that divide sums over all pairs."""
        device = self.runtime.device
        return device.compute_units * (1 if device.type == "cpu" else 8)

    def at(self, array: Array) -> tuple[Handle, int]:
        """Kernel arguments for an array: its memory, and its beginning there, in numbers."""
        return self.runtime.memory(array)

    # -- the pieces of a launch

    def _empty(self, shape: int | Shape) -> Array:
        return empty(self.runtime, shape, self.dtype)

    def operands(self, x: Array, y: Array, values: Hyperparameters) -> tuple[list[Handle | int], list[float]]:
        """Kernel arguments for points with the vectors that scale them, and for the hyperparameters."""
        points = [*self.at(x), x.shape[0], *self.at(y), y.shape[0], *self.at(self._scales(values))]
        return points, [values.numbers[n] for n in self.covariance.parameters]

    def _scales(self, values: Hyperparameters) -> Array:
        """Factors of the coordinates, a row for each measure, as an array that `values` keeps alive."""
        if values.scales is None:
            values.scales = self.unscaled
            if self.vectors:
                scales = self.code.scales({n: v[None] for n, v in values.vectors.items()})
                values.scales = moved(self.runtime, scales[0].astype(self.dtype))
        return values.scales

    def finish(self) -> None:
        """Wait for kernels that work in the host's memory."""
        if self.runtime.host_visible:
            self.runtime.synchronize()

    def kernel(self, which: str, **options: Any) -> Kernel:
        """Compiled kernel of a kind: `PairsCode.source` lists the options."""
        key = which, *options.values()
        if key not in self._kernels:
            source, name = self.code.source(which, self.layout, self.dtype.name, self.runtime.dialect, **options)
            self._kernels[key] = self.runtime.kernel(source, name, self.layout.threads)
        return self._kernels[key]
