"""Sums over the rows of a Gaussian mixed model, those of all groupings but the largest in one dense matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..fits.bordered import Bordered
from ..runtime.cached import cached_property
from ..runtime.types import Doubles
from .bordered_elimination import BorderedElimination
from .coupling import Coupling
from .structure import Structure


@dataclass(frozen=True, eq=False)
class BorderedSums:
    """Sums over rows; see `Sums`.

    Attributes
    ----------
    structure : Structure
    matrix : Bordered
        Products of all columns with one another: the blocks are those of the largest grouping, the border has the other
        groupings, the columns of all rows and the observations.
    weight : float
        Sum of the weights.
    """

    structure: Structure
    matrix: Bordered
    weight: float

    def __add__(self, other: BorderedSums) -> BorderedSums:
        return replace(self, matrix=self.matrix + other.matrix, weight=self.weight + other.weight)

    @property
    def ends(self) -> Doubles:
        e = self.structure.ends
        return self.matrix.border[-e:, -e:]

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.matrix.blocks).all() and np.isfinite(self.matrix.border).all())

    def squares(self, grouping: int) -> Doubles:
        if not grouping:
            return np.diagonal(self.matrix.blocks, axis1=1, axis2=2)
        own = self.structure.random[grouping]
        return np.diagonal(self.matrix.border)[self._places(grouping)].reshape(own.levels, -1)

    def products(self, grouping: int) -> Doubles:
        if not grouping:
            found: Doubles = self.matrix.blocks.sum(0)
            return found
        own, its = self.structure.random[grouping], self._places(grouping)
        shape = own.levels, len(own.columns)
        return np.einsum("iaib->ab", self.matrix.border[its, its].reshape(*shape, *shape))

    def _places(self, grouping: int) -> slice:
        """Places in the border of a grouping but the largest."""
        at = sum(g.size for g in self.structure.random[1:grouping])
        return slice(at, at + self.structure.random[grouping].size)

    def scaled(self, scales: Sequence[Doubles]) -> BorderedSums:
        matrix, random = self.matrix, self.structure.random
        tiled = [np.tile(s, g.levels) for s, g in zip(scales[1:], random[1:], strict=True)]
        slopes = np.empty(matrix.size)
        slopes[matrix.places] = 1 / np.concatenate([*tiled, np.ones(self.structure.ends)])
        slopes[matrix.block_places] = 1 / scales[0]
        return replace(self, matrix=matrix.scaled(slopes))

    @cached_property
    def _coupling(self) -> Coupling:
        return Coupling(self.matrix.coupling)

    def eliminated(self, factors: Sequence[Doubles]) -> BorderedElimination:
        return BorderedElimination(self.matrix, self._coupling, factors, [g.levels for g in self.structure.random])
