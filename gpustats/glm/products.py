"""Products with the columns of a design matrix, where the matrix lies."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.results import as_host
from ..rows.assembly import Design, members
from ..rows.column_products import ColumnProducts, Matrix
from ..runtime.types import Array, Doubles

if TYPE_CHECKING:
    from .design_matrix import DesignMatrix


class DesignProducts(ColumnProducts):
    """Products with the columns of a design matrix, (N, k)."""

    def __init__(self, design: DesignMatrix):
        super().__init__(Matrix(design.values, design.n_rows, design.columns, design.dtype, design.lanes), design.runtime)
        self._design = design
        self._last: tuple[Callable[[], Array | None], Doubles] = lambda: None, np.zeros(0)

    def gram(self, weights: Array, other: Design) -> Doubles:
        assert other is self
        return self.weighted(weights)

    def times(self, weights: Array) -> Doubles:
        return self._once(weights)[:-1]

    def total(self, weights: Array) -> float:
        """Sum of an array (N,), which may lie on the device."""
        return float(self._once(weights)[-1])

    def _once(self, weights: Array) -> Doubles:
        """Products of the columns with an array, and its sum: one pass for both, which are asked for one after the other."""
        before, sums = self._last
        if before() is not weights:
            sums = self.with_total(weights)
            self._last = weakref.ref(weights), sums
        return sums

    def by_group(self, weights: Array, groups: np.ndarray, n: int) -> Doubles:
        found: Doubles = members(as_host(self._runtime, weights), groups, n).T @ self._on_host
        return found

    @functools.cached_property
    def _on_host(self) -> np.ndarray:
        return self._design.on_host()
