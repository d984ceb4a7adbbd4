"""Products of the design matrix with itself and with columns, where it lies: as the kernels of CPUs read it, or on a GPU."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.pointwise import Pointwise
from ..evaluation.results import as_host
from ..language.device_function import Argument, parse
from ..linalg.threads import as_many_as_free
from ..rows.assembly import Design, members
from ..runtime.types import Array, Doubles

if TYPE_CHECKING:
    from .design_matrix import DesignMatrix

_ROWS_AT_ONCE = 1 << 11  # of a CPU, so that they stay in its cache
_NUMBERS_AT_ONCE = 1 << 26  # of a GPU, which are written once more, times their weights
_ROWS_TOGETHER = 1 << 12  # of a GPU, whose products one matrix has


class LaidDesign:
    """Design matrix whose rows lie side by side in lanes, on the host."""

    def __init__(self, design: DesignMatrix):
        self.columns, self._laid, self._n = design.columns, design.laid(), design.n_rows

    def _blocks(self) -> Iterator[tuple[slice, Doubles]]:
        """Rows, and their part of X in row-major order."""
        lanes = self._laid.shape[2]
        step = max(_ROWS_AT_ONCE // lanes, 1)
        for first in range(0, -(-self._n // lanes), step):
            part = self._laid[first : first + step]
            rows = slice(first * lanes, min((first + len(part)) * lanes, self._n))
            yield rows, part.transpose(0, 2, 1).reshape(-1, self.columns)[: rows.stop - rows.start].astype(float, copy=False)

    def gram(self, weights: Array, other: Design) -> Doubles:
        assert other is self
        found = np.zeros((self.columns, self.columns))
        with as_many_as_free(2 * _ROWS_AT_ONCE * found.size):
            for rows, part in self._blocks():
                found += part.T @ (part * weights[rows, None])
        return found

    def times(self, weights: Array) -> Doubles:
        found = np.zeros(self.columns)
        for rows, part in self._blocks():
            found += weights[rows].astype(float) @ part
        return found

    def by_group(self, weights: Array, groups: np.ndarray, n: int) -> Doubles:
        found = np.zeros((n, self.columns))
        for rows, part in self._blocks():
            own = groups[rows]
            some, places = np.unique(own, return_inverse=True)
            found[some] += members(weights[rows], places, len(some)).T @ part
        return found


class DeviceDesign:
    """Design matrix in row-major order on a device."""

    def __init__(self, design: DesignMatrix):
        self.columns, self._design = design.columns, design
        self._X, self._runtime = design.as_it_came, design.runtime

    def gram(self, weights: Array, other: Design) -> Doubles:
        assert other is self
        weights = self._placed(weights)
        step = max(_NUMBERS_AT_ONCE // self.columns // _ROWS_TOGETHER * _ROWS_TOGETHER, _ROWS_TOGETHER)
        found = np.zeros((self.columns, self.columns))
        for first in range(0, self._X.shape[0], step):
            X = self._X[first : first + step]
            found += self._inner(X, _times().table([X, weights[first : first + step].reshape(-1, 1)]))
        return found

    def times(self, weights: Array) -> Doubles:
        found: Doubles = self._inner(self._placed(weights).reshape(-1, 1), self._X)[0]
        return found

    def total(self, weights: Array) -> float:
        """Sum of a device array (N,)."""
        ones = self._runtime.to_device(np.ones((weights.shape[0], 1), weights.dtype))
        return float(self._inner(weights.reshape(-1, 1), ones)[0, 0])

    def by_group(self, weights: Array, groups: np.ndarray, n: int) -> Doubles:
        found: Doubles = members(as_host(self._runtime, weights), groups, n).T @ self._on_host
        return found

    @functools.cached_property
    def _on_host(self) -> np.ndarray:
        return self._design.on_host()

    def _placed(self, weights: Array) -> Array:
        return self._runtime.to_device(weights, self._X.dtype) if isinstance(weights, np.ndarray) else weights

    def _inner(self, a: Array, b: Array) -> Doubles:
        """a' b in float64: sums over some rows on the device, over these on the host."""
        from ..linalg.products import inner  # libraries of linear algebra take long to import

        n = a.shape[0]
        whole = n // _ROWS_TOGETHER * _ROWS_TOGETHER
        found = np.zeros((a.shape[1], b.shape[1]))
        for first, end, together in ((0, whole, _ROWS_TOGETHER), (whole, n, n - whole)):
            if end > first:
                parts = (v[first:end].reshape(-1, together, v.shape[1]) for v in (a, b))
                found += as_host(self._runtime, inner(*parts)).astype(float).sum(0)
        return found


def design_of(design: DesignMatrix) -> LaidDesign | DeviceDesign:
    """Products of a design matrix where it lies."""
    return LaidDesign(design) if design.as_it_came is None else DeviceDesign(design)


@functools.cache
def _times() -> Pointwise:
    """Function of two numbers that multiplies them."""
    text = "real times(real x, real weight)\n{\n    return x * weight;\n}\n"
    function = parse(text, lambda name: None, name="times").functions["times"]
    return Pointwise("times", function, [Argument("x"), Argument("weight")], {}, text)
