"""Products with the columns of a design matrix, where the matrix lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.results import as_host
from ..rows.column_products import ColumnProducts, Matrix
from ..rows.row_parts import Design, members
from ..runtime.cached import cached_property
from ..runtime.types import Array, Doubles

if TYPE_CHECKING:
    from .design_matrix import DesignMatrix


class DesignProducts(ColumnProducts):
    """Products with the columns of a design matrix, (N, k)."""

    def __init__(self, design: DesignMatrix):
        super().__init__(Matrix(design.values, design.n_rows, design.columns, design.dtype, design.lanes), design.runtime)
        self._design = design

    def gram(self, weights: Array, other: Design) -> Doubles:
        assert other is self
        return self.weighted(weights)

    def by_group(self, weights: Array, groups: np.ndarray, n: int) -> Doubles:
        found: Doubles = members(as_host(self._runtime, weights), groups, n).T @ self._on_host
        return found

    @cached_property
    def _on_host(self) -> np.ndarray:
        return self._design.on_host()
