"""Ragged rows: each has as many numbers as it likes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..runtime.types import Array, Shape


@dataclass(frozen=True, eq=False)
class Ragged:
    """Numbers of rows one after another: row n has those from `offsets[n]` up to `offsets[n + 1]`."""

    numbers: np.ndarray
    offsets: np.ndarray

    @property
    def shape(self) -> Shape:
        return (self.offsets.size - 1,)

    def __getitem__(self, rows: slice) -> Ragged:
        first, end, _ = rows.indices(self.shape[0])
        ends = self.offsets[first : end + 1]
        return Ragged(self.numbers[ends[0] : ends[-1]], ends - ends[0])

    def taken(self, rows: np.ndarray) -> Ragged:
        """Rows by their numbers, in their order."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths)
        return Ragged(self.numbers[places], offsets)


def one_after_another(parts: Sequence[Array]) -> Array:
    """Rows of several parts, as one array or as ragged rows."""
    if not isinstance(parts[0], Ragged):
        return np.concatenate(parts)
    ends = np.cumsum([0, *(part.numbers.size for part in parts)])
    offsets = [part.offsets[:-1] + end for part, end in zip(parts, ends, strict=False)]
    return Ragged(np.concatenate([part.numbers for part in parts]), np.concatenate([*offsets, ends[-1:]]))
