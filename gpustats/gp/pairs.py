"""A covariance function over all pairs of points on a device: matrices, and the sums that derivatives are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..evaluation.placement import at, empty, moved
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
        lower: bool = False,
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

        Returns
        -------
        source, name of the kernel
        """
        found = self.derivatives(wrt, points=which == _POINTS)
        text = _COVARIANCE.source_of(
            found.code, "covariance", layout, dtype, dialect, which=which, noise=noise, lower=lower, columns=self.columns,
            measures=self.measures, inputs=self.of_inputs, wanted=found.wanted, sums=list(found.sums.values()),
            slopes=found.slopes,
        )  # fmt: skip
        return text, "covariance" if which == _MATRIX else f"covariance_{which}"

    def derivatives(self, wrt: Sequence[str], points: bool = False) -> Derivatives:
        """The function with its derivatives in some hyperparameters, and in the points where these are wanted."""
        inputs = self.covariance.inputs
        sums = [n for n in wrt if not any(m.scaled == n for m in self.measures)]
        wanted = [k for k, m in enumerate(self.measures) if m.scaled and m.scaled in wrt]
        slopes = [i.name for i, k in zip(inputs, self.of_inputs, strict=True) if k in wanted or points]
        code, results = self.covariance.code((*sums, *slopes))
        return Derivatives(code, {n: results[n] for n in sums}, wanted, [results.get(i.name, "") for i in inputs])


def over_cubes(numerators: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Numerators by the cubes of values, which themselves may be beyond what numbers can be."""
    return numerators / values / values / values


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
        self._code = PairsCode(covariance, columns, vectors)
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
        vectors = tuple(n for n in wrt if n in values.vectors)
        sums = tuple(n for n in wrt if n not in values.vectors)
        kernel = self._kernel(_SUMS, wrt=(*sums, *vectors))
        chunk, scaled = self.layout.chunk, [m for m in self._code.measures if m.scaled in vectors]
        n, tile = x.shape[0], self.layout.tile
        tiles = -(-n // tile)
        device = self.runtime.device
        blocks = min(tiles * (tiles + 1) // 2, device.compute_units * (1 if device.type == "cpu" else 8))
        slots = len(sums) + 1 + chunk * len(scaled)
        diagonal = self._empty(n)
        points, numbers = self._operands(x, x, values)
        by_column: dict[Measure, list[np.ndarray]] = {m: [] for m in scaled}
        total = np.empty(0)
        for first in range(0, self.columns if scaled else 1, chunk):
            result = self.runtime.result(8 * blocks * slots)
            kernel(
                (blocks, 1), result.handle, *self.at(diagonal), inverse.handle, inverse.offset, inverse.stride,
                *self.at(alpha), *self.at(weight), lift, tiles, first, *points, *numbers,
            )  # fmt: skip
            found = self.runtime.fetch(result).view(np.float64).reshape(blocks, slots).sum(0)
            if first == 0:
                total = found
            for k, measure in enumerate(scaled):
                by_column[measure].append(found[len(sums) + 1 + k * chunk :][:chunk])
        gradient: dict[str, Any] = {n: float(total[k]) for k, n in enumerate(sums)}
        for name in vectors:
            gradient[name] = np.zeros(self.columns)
        for measure, parts in by_column.items():
            moments = np.concatenate(parts)[: self.columns]
            if measure.columns is not None:
                moments = np.where(np.isin(np.arange(self.columns), measure.columns), moments, 0)
            gradient[measure.scaled] += over_cubes(-2 * moments, values.vectors[measure.scaled])
        return gradient, float(total[len(sums)]), diagonal

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
            measures = self._code.measures
            values.scales = self._unscaled
            if any(m.scaled for m in measures):
                scales = np.ones((len(measures), self.columns), self.dtype)
                for row, measure in zip(scales, measures, strict=True):
                    if measure.scaled:
                        row[:] = 1 / values.vectors[measure.scaled]
                values.scales = moved(self.runtime, scales)
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
