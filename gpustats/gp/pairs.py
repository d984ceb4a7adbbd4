"""A covariance function over all pairs of points on a device: matrices, and the sums that derivatives are made of."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..evaluation.placement import at, empty, moved
from ..kernels.code import PER_SET, VALUE
from ..kernels.layout import Layout
from ..kernels.template import Template
from ..linalg.matrix import Matrix
from .expression import Expression
from .hyperparameters import Hyperparameters

if TYPE_CHECKING:
    from ..kernels.code import KernelCode
    from ..runtime.base import Device, Kernel, Runtime

_COVARIANCE = Template.beside(__file__, "covariance")
_MATRIX, _DIAGONAL, _SUMS, _POINTS = "matrix", "diagonal", "sums", "points"  # the template's kernels
BLOCKS_OF_A_SET = 64  # that share the sums of one of several sets

#: Where the numbers and the scales of several sets lie: two handles, with the place behind each, in numbers.
Given = Sequence[tuple[Any, int]]


@dataclass(frozen=True)
class PairsLayout(Layout):
    """The constants of the kernels over pairs of points.

    `tile` is the rows and the columns of pairs that a block takes at once, `chunk` the columns of the points in shared memory.
    """

    @property
    def step(self) -> int:
        """Rows of pairs that the block's threads take side by side."""
        return self.threads // self.tile

    @property
    def pairs(self) -> int:
        """Pairs of a thread."""
        return self.tile // self.step


def layout_for(device: Device, columns: int) -> PairsLayout:
    """The layout for points of so many columns."""
    small = device.type == "cpu" or device.max_threads < 256
    return PairsLayout(threads=32 if small else 256, tile=32, chunk=min(columns, 8))


@dataclass(frozen=True)
class Measure:
    """A squared distance or a scalar product of two points, computed once though several inputs may be equal to it."""

    kind: str  # as that of an `Input`
    columns: tuple[int, ...] | None
    scaled: str  # the hyperparameter by whose elements coordinates are divided, or ""

    def term(self, a: str, b: str, scale: str) -> str:
        """What a column adds to it, in C: of the points' coordinates a and b, and the factor of both where they are scaled."""
        if self.kind == "dot":
            return f"{a} * {b}{f' * {scale} * {scale}' if self.scaled else ''}"
        part = f"({a} - {b}){f' * {scale}' if self.scaled else ''}"
        return f"({part}) * ({part})"

    def counts(self, column: str) -> str:
        """Whether a column is among those that count, in C, where not all do."""
        return " || ".join(f"{column} == {i}" for i in self.columns or ())


class Derivatives(NamedTuple):
    """A covariance function with its derivatives.

    Attributes
    ----------
    code : KernelCode
    sums : dict
        Hyperparameter -> the derivative in it among the function's results.
    wanted : list of int
        The measures that are scaled by vectors in which derivatives are wanted.
    slopes : list of str
        The derivative in each input among the results, or "".
    """

    code: KernelCode
    sums: dict[str, str]
    wanted: list[int]
    slopes: list[str]


class PairsCode:
    """The kernels of a covariance function over pairs of points, as sources.

    Parameters
    ----------
    covariance : Expression
    columns : int
        Of the points.
    vectors : sequence of str
        Names of the lengthscales that are vectors.

    Attributes
    ----------
    measures : list of Measure
        What is taken of two points.
    of_inputs : list of int
        The number of each input's measure.
    """

    def __init__(self, covariance: Expression, columns: int, vectors: Sequence[str]) -> None:
        self.covariance, self.columns = covariance, columns
        for i in covariance.inputs:
            if i.columns is not None and max(i.columns) >= columns:
                raise ValueError(
                    f"{covariance.name} is a function of column {max(i.columns)}, but the points have {columns} columns"
                )
        seen = [Measure(i.kind, i.columns, i.lengthscale if i.lengthscale in vectors else "") for i in covariance.inputs]
        self.measures = list(dict.fromkeys(seen))
        self.of_inputs = [self.measures.index(m) for m in seen]

    def source(
        self, which: str, layout: PairsLayout, dtype: str, dialect: str, wrt: Sequence[str] = (), noise: str = "",
        lower: bool = False, several: bool = False,
    ) -> tuple[str, str]:  # fmt: skip
        """One kernel.

        Parameters
        ----------
        which : {"matrix", "diagonal", "sums", "points"}
        wrt : sequence of str
            Names of hyperparameters, for ``"sums"``.
        noise : {"", "value", "row"}
            What is added to the diagonal of a ``"matrix"``, after a factor: nothing, a number, one for each row.
        lower : bool
            Whether tiles above its diagonal are left out.
        several : bool
            Whether a ``"matrix"``, or ``"sums"``, are those of several sets of hyperparameters.

        Returns
        -------
        source, name of the kernel
        """
        found = self.derivatives(wrt, which == _POINTS, PER_SET if several else VALUE)
        text = _COVARIANCE.source_of(
            found.code, "covariance", layout, dtype, dialect, which=which, noise=noise, lower=lower, several=several,
            at_set="at_set" if several else "0", columns=self.columns, measures=self.measures, inputs=self.of_inputs,
            wanted=found.wanted, sums=list(found.sums.values()), slopes=found.slopes,
        )  # fmt: skip
        return text, "covariance" if which == _MATRIX else f"covariance_{which}"

    def derivatives(self, wrt: Sequence[str], points: bool = False, role: str = VALUE) -> Derivatives:
        """The function with its derivatives in some hyperparameters, and in the points where these are wanted."""
        inputs = self.covariance.inputs
        sums = [n for n in wrt if not any(m.scaled == n for m in self.measures)]
        wanted = [k for k, m in enumerate(self.measures) if m.scaled and m.scaled in wrt]
        slopes = [i.name for i, k in zip(inputs, self.of_inputs, strict=True) if k in wanted or points]
        code, results = self.covariance.code((*sums, *slopes), role)
        return Derivatives(code, {n: results[n] for n in sums}, wanted, [results.get(i.name, "") for i in inputs])

    def scales(self, vectors: Mapping[str, np.ndarray]) -> np.ndarray:
        """The factors of the coordinates at sets of lengthscales, (sets, columns) each: (sets, measures, columns)."""
        scales = np.ones((len(next(iter(vectors.values()))), len(self.measures), self.columns))
        for k, measure in enumerate(self.measures):
            if measure.scaled:
                scales[:, k] = 1 / vectors[measure.scaled]
        return scales


def over_cubes(numerators: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Numerators by the cubes of values, which themselves may be beyond what numbers can be."""
    return numerators / values / values / values


class _Slots:
    """What a block leaves of the sums that derivatives are made of, for a chunk of the columns of the points in each pass.

    Parameters
    ----------
    code : PairsCode
    layout : PairsLayout
    vectors : collection of str
        Names of the lengthscales that are vectors.
    wrt : sequence of str
        Names of hyperparameters.

    Attributes
    ----------
    wrt : tuple of str
        In the order in which the kernel has them.
    count : int
        Of the numbers of a block.
    passes : range
        The first column of each chunk.
    """

    def __init__(self, code: PairsCode, layout: PairsLayout, vectors: Collection[str], wrt: Sequence[str]) -> None:
        self._sums, self._vectors = ([n for n in wrt if (n in vectors) == given] for given in (False, True))
        self._scaled = [m for m in code.measures if m.scaled in self._vectors]
        self._columns, self._chunk, self.wrt = code.columns, layout.chunk, (*self._sums, *self._vectors)
        self.count = len(self._sums) + 1 + layout.chunk * len(self._scaled)
        self.passes = range(0, code.columns if self._scaled else 1, layout.chunk)

    def derivatives(
        self, found: Sequence[np.ndarray], vectors: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The derivatives, (sets, 1) or (sets, columns), and the traces, (sets,).

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


class Pairs:
    """A covariance function at points on a device.

    Parameters
    ----------
    covariance : Expression
    runtime : Runtime
    dtype : dtype
    columns : int
        Of the points.
    vectors : sequence of str
        Names of the lengthscales that are vectors.
    """

    def __init__(self, covariance: Expression, runtime: Runtime, dtype: np.dtype, columns: int, vectors: Sequence[str]) -> None:
        self.covariance, self.runtime, self.dtype, self.columns = covariance, runtime, dtype, columns
        self.vectors, self._code = tuple(vectors), PairsCode(covariance, columns, vectors)
        self.layout = layout_for(runtime.device, columns)
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        self._unscaled = self._empty(1)  # for kernels that read no scales

    def matrix(
        self, out: Matrix, x: Any, y: Any, values: Hyperparameters, noise: Any = None, lift: float = 1.0, lower: bool = False
    ) -> None:
        """out = k(x, y).

        Parameters
        ----------
        noise : float or (n,) array, optional
            Added to the diagonal, after that is multiplied by `lift`.
        lower : bool
            Whether only tiles on the diagonal and below it are written.
        """
        kind = "" if noise is None else "value" if isinstance(noise, float) else "row"
        more: list[Any] = [] if noise is None else [lift, noise] if kind == "value" else [lift, *self.at(noise)]
        kernel = self._kernel(_MATRIX, noise=kind, lower=lower)
        tile = self.layout.tile
        grid = -(-out.columns // tile), -(-out.rows // tile)
        points, numbers = self._operands(x, y, values)
        kernel(grid, out.handle, out.offset, out.stride, *points, *more, *numbers)
        self._finish()

    def diagonal(self, x: Any, values: Hyperparameters) -> Any:
        """k(x_i, x_i): a device array (n,), or a NumPy array where the memory is the host's."""
        out = self._empty(x.shape[0])
        kernel = self._kernel(_DIAGONAL)
        points, numbers = self._operands(x, x, values)
        kernel((-(-x.shape[0] // self.layout.threads), 1), *self.at(out), *points, *numbers)
        self._finish()
        return out

    def gradient(
        self, x: Any, values: Hyperparameters, inverse: Matrix, alpha: Any, weight: Any, wrt: Sequence[str], lift: float = 1.0
    ) -> tuple[dict[str, Any], float, Any]:
        """The sums over all i, j of W_ij dk(x_i, x_j) / dθ, where W = (weight alpha alpha' - inverse) / 2.

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
            How often the derivatives on the diagonal count.

        Returns
        -------
        gradient : dict
            Name -> float, or (columns,) ndarray for a vector.
        trace : float
            Of W.
        diagonal : device array or ndarray, (n,)
            Of W.
        """
        slots = _Slots(self._code, self.layout, values.vectors, wrt)
        kernel = self._kernel(_SUMS, wrt=slots.wrt)
        n, tiles = x.shape[0], -(-x.shape[0] // self.layout.tile)
        device = self.runtime.device
        blocks = min(tiles * (tiles + 1) // 2, device.compute_units * (1 if device.type == "cpu" else 8))
        diagonal = self._empty(n)
        points, numbers = self._operands(x, x, values)
        found = []
        for first in slots.passes:
            result = self.runtime.result(8 * blocks * slots.count)
            kernel(
                (blocks, 1), result.handle, 0, *self.at(diagonal), inverse.handle, inverse.offset, inverse.stride,
                *self.at(alpha), *self.at(weight), lift, tiles, first, *points, *numbers,
            )  # fmt: skip
            found.append(self.runtime.fetch(result).view(np.float64).reshape(1, blocks, slots.count).sum(1))
        by_set, trace = slots.derivatives(found, {n: v[None] for n, v in values.vectors.items()})
        gradient = {n: v[0] if n in values.vectors else float(v.item()) for n, v in by_set.items()}
        return gradient, float(trace.item()), diagonal

    def points_gradient(
        self, x: Any, values: Hyperparameters, inverse: Matrix, alpha: Any, weight: Any, lift: float = 1.0
    ) -> Any:
        """The derivative of what `gradient` sums in the points: a device array or ndarray, (n, columns).

        Both triangles of `inverse` are read.
        """
        return self._points(x, x, values, inverse, alpha, weight, lift)

    def cross_gradient(self, x: Any, y: Any, values: Hyperparameters, negative: Matrix) -> Any:
        """The derivatives in the points y of the sums over i of -negative_ij k(x_i, y_j): like y, (m, columns).

        Parameters
        ----------
        x, y : (n, columns) and (m, columns) array
        negative : Matrix
            (n, m).
        """
        none = moved(self.runtime, np.zeros(max(x.shape[0], y.shape[0]), self.dtype))
        return self._points(x, y, values, negative, none, moved(self.runtime, np.zeros(1)), 1.0)

    def _points(
        self, x: Any, y: Any, values: Hyperparameters, inverse: Matrix, alpha: Any, weight: Any, lift: float
    ) -> Any:
        out = self._empty(tuple(y.shape))
        kernel = self._kernel(_POINTS)
        points, numbers = self._operands(x, y, values)
        for first in range(0, self.columns, self.layout.chunk):
            kernel(
                (-(-y.shape[0] // self.layout.tile), 1), *self.at(out), inverse.handle, inverse.offset, inverse.stride,
                *self.at(alpha), *self.at(weight), lift, first, *points, *numbers,
            )  # fmt: skip
        self._finish()
        return out

    def at(self, array: Any) -> tuple[Any, int]:
        """What kernels take for an array: its memory, and where it begins there, in numbers."""
        return at(self.runtime, array)

    # -- the pieces of a launch

    def _empty(self, shape: Any) -> Any:
        return empty(self.runtime, shape, self.dtype)

    def _operands(self, x: Any, y: Any, values: Hyperparameters) -> tuple[list[Any], list[float]]:
        """What kernels take for points with the vectors by which they are scaled, and for the hyperparameters."""
        points = [*self.at(x), x.shape[0], *self.at(y), y.shape[0], *self.at(self._scales(values))]
        return points, [values.numbers[n] for n in self.covariance.parameters]

    def _scales(self, values: Hyperparameters) -> Any:
        """The factors of the coordinates, a row for each measure, as an array that `values` keeps alive."""
        if values.scales is None:
            values.scales = self._unscaled
            if self.vectors:
                scales = self._code.scales({n: v[None] for n, v in values.vectors.items()})
                values.scales = moved(self.runtime, scales[0].astype(self.dtype))
        return values.scales

    def _finish(self) -> None:
        """Where kernels work in the host's memory, the host goes on with what they have done."""
        if self.runtime.host_visible:
            self.runtime.synchronize()

    def _kernel(self, which: str, **options: Any) -> Kernel:
        key = which, *options.values()
        if key not in self._kernels:
            source, name = self._code.source(which, self.layout, self.dtype.name, self.runtime.dialect, **options)
            self._kernels[key] = self.runtime.kernel(source, name, self.layout.threads)
        return self._kernels[key]


class PairSets:
    """A covariance function at several sets of hyperparameters, for all pairs among the same points on a device.

    Parameters
    ----------
    pairs : Pairs
    x : (n, columns) array
    n_sets : int
    wrt : sequence of str
        Names of the hyperparameters in which there are derivatives.

    Attributes
    ----------
    n_sums : int
        How many numbers the kernels of derivatives leave.
    """

    def __init__(self, pairs: Pairs, x: Any, n_sets: int, wrt: Sequence[str]) -> None:
        self._pairs, self._x, self._n_sets = pairs, x, n_sets
        self._slots = _Slots(pairs._code, pairs.layout, pairs.vectors, wrt)
        self._tiles = -(-x.shape[0] // pairs.layout.tile)
        self._blocks = min(self._tiles * (self._tiles + 1) // 2, BLOCKS_OF_A_SET)
        self._shape = len(self._slots.passes), n_sets, self._blocks, self._slots.count
        self.n_sums = math.prod(self._shape)

    def given(self, values: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """What kernels read for the values of hyperparameters, (sets, 1), or (sets, columns) for a vector.

        Returns
        -------
        numbers : (sets, hyperparameters) ndarray
        scales : (sets, measures, columns) ndarray
            The factors of the coordinates; of no sets, where none are vectors.
        """
        pairs, ones = self._pairs, np.ones(self._n_sets)
        numbers = [ones if n in pairs.vectors else values[n][:, 0] for n in pairs.covariance.parameters]
        scales = pairs._code.scales({n: values[n] for n in pairs.vectors}) if pairs.vectors else np.empty((0, 0, 0))
        return np.stack(numbers, 1), scales

    def matrix(self, out: Matrix, given: Given, noise: tuple[Any, int], stride: int, lift: float) -> None:
        """The lower triangles of out = k(x, x), times `lift` on the diagonal, where noise is added.

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
        lift : float
        """
        kernel = self._pairs._kernel(_MATRIX, noise="value" if stride == 1 else "row", lower=True, several=True)
        points, numbers = self._operands(given)
        grid = self._tiles, self._tiles * self._n_sets
        kernel(grid, out.handle, out.offset, out.stride, out.batch_stride, *points, lift, *noise, stride, *numbers)

    def sums(
        self, out: tuple[Any, int], diagonal: Any, inverse: Matrix, alpha: Matrix, weights: tuple[Any, int], stride: int,
        given: Given, lift: float,
    ) -> None:  # fmt: skip
        """Start what leaves the sums of which `derivatives` are made.

        Parameters
        ----------
        out : tuple
            Where the sums go: a handle, and the place behind it, in numbers.
        diagonal : (sets, n) array
            That of each W, see `Pairs.gradient`, goes there.
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
        kernel, (_, *shape) = pairs._kernel(_SUMS, wrt=self._slots.wrt, several=True), self._shape
        for k, first in enumerate(self._slots.passes):
            kernel(
                (self._blocks, self._n_sets), out[0], out[1] + k * math.prod(shape), *pairs.at(diagonal), inverse.handle,
                inverse.offset, inverse.stride, inverse.batch_stride, alpha.handle, alpha.offset, *weights, stride,
                lift, self._tiles, first, *points, *numbers,
            )  # fmt: skip

    def derivatives(
        self, sums: np.ndarray, values: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The derivatives, (sets, 1) or (sets, columns) like the values, and the trace of W of each set, (sets,)."""
        found = sums.reshape(self._shape).sum(2)
        return self._slots.derivatives(found, {n: values[n] for n in self._pairs.vectors})

    def _operands(self, given: Given) -> tuple[list[Any], list[Any]]:
        """What kernels take for the points and the factors of their coordinates, and for the hyperparameters."""
        pairs, ((handle, start), scales), (n, columns) = self._pairs, given, self._x.shape
        count, at = len(pairs.covariance.parameters), pairs.at(self._x)
        of_scales = [*scales, len(pairs._code.measures) * columns] if pairs.vectors else [*pairs.at(pairs._unscaled), 0]
        return [*at, n, *at, n, *of_scales], [one for k in range(count) for one in (handle, start + k, count)]
