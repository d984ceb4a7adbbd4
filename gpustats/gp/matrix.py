"""Covariance functions over all pairs of points on a device: matrices, and the sums that derivatives are made of."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.placement import at, gather, target_of
from ..kernels import code as codegen
from ..kernels.layout import REFERENCE_DEVICES, Layout
from ..linalg.matrix import Matrix
from ..runtime import arrays
from .covariance import LENGTHSCALE, Covariance, check

if TYPE_CHECKING:
    from ..runtime.base import Device, Kernel, Runtime


@dataclass(frozen=True)
class CovarianceLayout(Layout):
    """The constants of the kernels over pairs of points.

    `tile` is the rows and the columns of pairs that a block takes at once, `chunk` the columns of the points in shared memory.
    """

    @property
    def step(self) -> int:
        """Rows of pairs that the block's threads take side by side."""
        return self.threads // self.tile

    @property
    def pairs(self) -> int:
        """Of a thread."""
        return self.tile // self.step


def layout_for(device: Device, columns: int) -> CovarianceLayout:
    """The layout for points of so many columns."""
    chunk = min(columns, 8)
    if device.type == "cpu" or device.max_threads < 256:
        return CovarianceLayout(32, tile=32, chunk=chunk)
    return CovarianceLayout(256, tile=32, chunk=chunk)


@dataclass(frozen=True)
class Measure:
    """What is taken of two points once, though several inputs may see it."""

    kind: str
    columns: tuple[int, ...] | None
    scaled: str  # the hyperparameter by whose elements coordinates are divided


class Hyperparameters:
    """The values of a covariance function's hyperparameters.

    Parameters
    ----------
    covariance : Covariance
    columns : int
        Of the points.
    values : mapping
        Name -> number; a lengthscale may be a vector with a value for each column.

    Attributes
    ----------
    numbers : dict
        What the function takes: 1 for a vector, as the coordinates have been divided by it.
    vectors : dict
        Name -> (columns,) ndarray.
    """

    def __init__(self, covariance: Covariance, columns: int, values: Mapping[str, Any]) -> None:
        check_names(covariance, values)
        self.numbers: dict[str, float] = {}
        self.vectors: dict[str, np.ndarray] = {}
        self.scales: Any = None  # where `Pairs` has put the vectors
        scaling = {i.lengthscale for i in covariance.inputs}
        for argument in covariance.arguments:
            name, value = argument.name, np.asarray(values[argument.name], np.float64)
            if value.ndim == 0:
                check(argument, float(value))
                self.numbers[name] = float(value)
                continue
            if name not in scaling:
                raise ValueError(f"{name} has shape {value.shape}: it must be a number")
            if value.shape != (columns,):
                raise ValueError(
                    f"{name} has shape {value.shape}: it must be a number, or ({columns},) for points of {columns} columns"
                )
            for element in value:
                check(argument, float(element))
            self.vectors[name] = value
            self.numbers[name] = 1.0
        for name in self.vectors:
            _require_scaled(covariance, name)


def check_names(covariance: Covariance, given: Collection[str]) -> None:
    """ValueError unless these are the covariance function's hyperparameters."""
    has = f"its hyperparameters are {', '.join(covariance.parameters)}"
    if unknown := [n for n in given if n not in covariance.parameters]:
        raise ValueError(f"{covariance.name} has no hyperparameter {unknown[0]!r}; {has}")
    if lacking := [n for n in covariance.parameters if n not in given]:
        raise ValueError(f"{covariance.name} needs {', '.join(lacking)}; {has}")


@functools.lru_cache
def _require_scaled(covariance: Covariance, name: str) -> None:
    """ValueError unless the inputs count only relative to the lengthscale `name`."""
    from ..evaluation.pointwise import Pointwise
    from ..language.device_function import Argument

    inputs = [i for i in covariance.inputs if i.lengthscale == name]
    given = [*(i.name for i in covariance.inputs), *covariance.parameters]
    function = Pointwise(covariance.name, covariance.function, [Argument(n) for n in given], covariance.functions)
    at = np.array([0.3, 1.1, 2.7])
    plain = {n: at * (1 + 0.1 * k) for k, n in enumerate(given)}
    whole = {a.name: np.ceil(plain[a.name]) for a in covariance.arguments if "integer" in a.words}
    unit = {a.name: plain[a.name] / 8 for a in covariance.arguments if "unit" in a.words}
    plain |= whole | unit
    scaled = plain | {name: 2 * plain[name]} | {i.name: 4 * plain[i.name] for i in inputs}
    one, other = (np.asarray(function(*(v[n] for n in given))) for v in (plain, scaled))
    if not np.allclose(one, other, rtol=1e-9, atol=0, equal_nan=True):
        raise ValueError(
            f"{name} of {covariance.name} must be a number: it is no function of {inputs[0].kind} / {LENGTHSCALE}**2, so the "
            "columns cannot be divided by one lengthscale each"
        )


class PairsCode:
    """The kernels of a covariance function over pairs of points, as sources.

    Parameters
    ----------
    covariance : Covariance
    columns : int
        Of the points.
    vectors : sequence of str
        Names of the lengthscales that are vectors.

    Attributes
    ----------
    measures : list of Measure
        What is taken of two points.
    """

    def __init__(self, covariance: Covariance, columns: int, vectors: Sequence[str]) -> None:
        self.covariance, self.columns = covariance, columns
        for i in covariance.inputs:
            if i.columns is not None and max(i.columns) >= columns:
                raise ValueError(
                    f"{covariance.name} is a function of column {max(i.columns)}, but the points have {columns} columns"
                )
        seen = [Measure(i.kind, i.columns, i.lengthscale if i.lengthscale in vectors else "") for i in covariance.inputs]
        self.measures = list(dict.fromkeys(seen))
        self._inputs = [self.measures.index(m) for m in seen]

    def source(
        self, which: str, layout: CovarianceLayout, dtype: str, dialect: str, wrt: Sequence[str] = (), noise: str = "",
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
        source, name of the entry
        """
        covariance = self.covariance
        sums = [n for n in wrt if not any(m.scaled == n for m in self.measures)]
        wanted = [k for k, m in enumerate(self.measures) if m.scaled and m.scaled in wrt]
        slopes = [i.name for i, k in zip(covariance.inputs, self._inputs, strict=True) if k in wanted or which == "points"]
        code, results = covariance.code((*sums, *slopes))
        text = codegen.render(
            "gp/covariance", "covariance", code, layout, dtype, dialect, which=which, noise=noise, lower=lower,
            columns=self.columns, measures=self.measures, inputs=self._inputs, wanted=wanted, sums=[results[n] for n in sums],
            slopes=[results.get(i.name, "") for i in covariance.inputs],
        )  # fmt: skip
        return text, "covariance" if which == "matrix" else f"covariance_{which}"


def kernel_source(covariance: Covariance, shape: str, dtype: str, dialect: str) -> str:
    """The source for points of 8 columns with a number for each hyperparameter; see `Covariance.kernel_source`."""
    layout, code = layout_for(REFERENCE_DEVICES[dialect], 8), PairsCode(covariance, 8, ())
    if shape == "covariance":
        return code.source("matrix", layout, dtype, dialect, noise="value")[0]
    return code.source("sums", layout, dtype, dialect, wrt=covariance.parameters)[0]


class Pairs:
    """A covariance function at points on a device.

    Parameters
    ----------
    covariance : Covariance
    runtime : Runtime
    dtype : dtype
    columns : int
        Of the points.
    vectors : sequence of str
        Names of the lengthscales that are vectors.
    """

    def __init__(self, covariance: Covariance, runtime: Runtime, dtype: np.dtype, columns: int, vectors: Sequence[str]) -> None:
        self.covariance, self.runtime, self.dtype, self.columns = covariance, runtime, dtype, columns
        self._code = PairsCode(covariance, columns, vectors)
        self.measures = self._code.measures
        self.layout = layout_for(runtime.device, columns)
        self._kernels: dict[Any, Kernel] = {}
        self._unscaled = self.empty(1)  # for kernels that read no scales

    def place(self, values: Hyperparameters) -> tuple[Any, list[float]]:
        """What kernels take for the hyperparameters: an array, which `values` keeps alive, and numbers."""
        if values.scales is None:
            if any(m.scaled for m in self.measures):
                scales = np.ones((len(self.measures), self.columns), self.dtype)
                for row, measure in zip(scales, self.measures, strict=True):
                    if measure.scaled:
                        row[:] = 1 / values.vectors[measure.scaled]
                values.scales = placed(self.runtime, scales)
            else:
                values.scales = self._unscaled
        return values.scales, [values.numbers[n] for n in self.covariance.parameters]

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
        kernel = self._kernel("matrix", noise=kind, lower=lower)
        tile = self.layout.tile
        grid = -(-out.columns // tile), -(-out.rows // tile)
        scales, numbers = self.place(values)
        kernel(grid, out.handle, out.offset, out.stride, *self._points(x, y, scales), *more, *numbers)
        self._finish()

    def diagonal(self, x: Any, values: Hyperparameters) -> Any:
        """k(x_i, x_i): a device array (n,), or a NumPy array where the memory is the host's."""
        out = self.empty(x.shape[0])
        kernel = self._kernel("diagonal")
        scales, numbers = self.place(values)
        kernel((-(-x.shape[0] // self.layout.threads), 1), *self.at(out), *self._points(x, x, scales), *numbers)
        self._finish()
        return out

    def gradient(
        self, x: Any, values: Hyperparameters, inverse: Matrix, alpha: Any, weight: float, wrt: Sequence[str], lift: float = 1.0
    ) -> tuple[dict[str, Any], float, Any]:
        """The sums over all i, j of W_ij dk(x_i, x_j) / dθ, where W = (weight alpha alpha' - inverse) / 2.

        Parameters
        ----------
        inverse : Matrix
            Its lower triangle counts.
        alpha : device array, or ndarray where the memory is the host's, (n,)
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
        kernel = self._kernel("sums", wrt=(*sums, *vectors))
        chunk, scaled = self.layout.chunk, [m for m in self.measures if m.scaled in vectors]
        n, tile = x.shape[0], self.layout.tile
        tiles = -(-n // tile)
        device = self.runtime.device
        blocks = min(tiles * (tiles + 1) // 2, device.compute_units * (1 if device.type == "cpu" else 8))
        slots = len(sums) + 1 + chunk * len(scaled)
        diagonal = self.empty(n)
        scales, numbers = self.place(values)
        by_column: dict[Measure, list[np.ndarray]] = {m: [] for m in scaled}
        total = np.empty(0)
        for first in range(0, self.columns if scaled else 1, chunk):
            result = self.runtime.result(8 * blocks * slots)
            kernel(
                (blocks, 1), result.handle, *self.at(diagonal), inverse.handle, inverse.offset, inverse.stride,
                *self.at(alpha), weight, lift, tiles, first, *self._points(x, x, scales), *numbers,
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
            gradient[measure.scaled] += -2 * moments / values.vectors[measure.scaled] ** 3
        return gradient, float(total[len(sums)]), diagonal

    def points_gradient(
        self, x: Any, values: Hyperparameters, inverse: Matrix, alpha: Any, weight: float, lift: float = 1.0
    ) -> Any:
        """The derivative of what `gradient` sums in the points: a device array or ndarray, (n, columns).

        Both triangles of `inverse` are read.
        """
        out = self.empty(tuple(x.shape))
        kernel = self._kernel("points")
        scales, numbers = self.place(values)
        for first in range(0, self.columns, self.layout.chunk):
            kernel(
                (-(-x.shape[0] // self.layout.tile), 1), *self.at(out), inverse.handle, inverse.offset, inverse.stride,
                *self.at(alpha), weight, lift, first, *self._points(x, x, scales), *numbers,
            )  # fmt: skip
        self._finish()
        return out

    def empty(self, shape: Any) -> Any:
        """An array that kernels write: a NumPy array where the memory is the host's."""
        return empty(self.runtime, shape, self.dtype)

    def _finish(self) -> None:
        """Where kernels work in the host's memory, the host goes on with what they have done."""
        if self.runtime.host_visible:
            self.runtime.synchronize()

    def at(self, array: Any) -> tuple[Any, int]:
        """What kernels take for an array: its memory, and where it begins there, in numbers."""
        return at(self.runtime, array)

    def _points(self, x: Any, y: Any, scales: Any) -> list[Any]:
        return [*self.at(x), x.shape[0], *self.at(y), y.shape[0], *self.at(scales)]

    def _kernel(self, which: str, **options: Any) -> Kernel:
        key = which, *options.values()
        if key not in self._kernels:
            code = self._code.source(which, self.layout, self.dtype.name, self.runtime.dialect, **options)
            self._kernels[key] = self.runtime.kernel(*code, self.layout.threads)
        return self._kernels[key]


def covariance_matrix(covariance: Covariance, x: Any, x2: Any, values: Mapping[str, Any]) -> Any:
    """See `Covariance.__call__`."""
    given = [points(x, "x")] + ([] if x2 is None else [points(x2, "x2")])
    if len(given) == 2 and given[0].shape[1] != given[1].shape[1]:
        raise ValueError(f"x has {given[0].shape[1]} columns, and x2 {given[1].shape[1]}: they must have the same")
    runtime, dtype = target_of(given, ["x", "x2"][: len(given)], None)
    hyperparameters = Hyperparameters(covariance, given[0].shape[1], values)
    pairs = Pairs(covariance, runtime, dtype, given[0].shape[1], tuple(hyperparameters.vectors))
    native = any(arrays.is_device_array(a) for a in given)
    moved = [on_device(runtime, a, dtype) for a in given]
    shape = moved[0].shape[0], moved[-1].shape[0]
    out = runtime.empty(shape, dtype)
    if 0 not in shape:
        pairs.matrix(Matrix.over(runtime, out), moved[0], moved[-1], hyperparameters)
    return out if native else runtime.to_host(out)


def empty(runtime: Runtime, shape: Any, dtype: Any) -> Any:
    """An array that kernels write: a NumPy array where they see the host's memory."""
    return np.empty(shape, dtype) if runtime.host_visible else runtime.empty(shape, dtype)


def placed(runtime: Runtime, array: np.ndarray) -> Any:
    """An array where kernels read and write it: itself where they see the host's memory, else a copy."""
    return array if runtime.host_visible else runtime.to_device(array)


def points(x: Any, name: str) -> Any:
    """Points as an array (n, p)."""
    x = arrays.as_array(x, name)
    shape = tuple(getattr(x, "shape", ()))
    if len(shape) == 1:
        return x.reshape(-1, 1)
    if len(shape) != 2 or not shape[1]:
        raise ValueError(f"{name} has shape {shape}: it must be (n, p), points in rows, or (n,)")
    return x


def on_device(runtime: Runtime, array: Any, dtype: np.dtype) -> Any:
    """An array as kernels read it: C-contiguous, of this type; a NumPy array where the memory is the host's."""
    if arrays.is_device_array(array):
        same = array.dtype == dtype and arrays.is_contiguous(array)
        return array if same else gather(runtime, array, dtype)
    return placed(runtime, np.ascontiguousarray(array, dtype))
