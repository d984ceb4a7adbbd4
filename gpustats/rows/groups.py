"""Groups of rows, or of steps of sequences, that share elements of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .layout import longest_segment
from .segments import Segments

if TYPE_CHECKING:
    from ..evaluation.repeated import Elements
    from ..runtime.base import Runtime
    from .leaves import Gather


class Groups:
    """Groups of rows that share elements of a table; `indices` has the place of each row, (N,), for each axis of the table."""

    def __init__(self, indices: Sequence[np.ndarray], runtime: Runtime):
        n = int(indices[0].max(initial=-1)) + 1
        #: the elements of the table that stand for the groups, as NumPy's advanced indexing takes them
        self.places: tuple[slice | np.ndarray, ...]
        if len(indices) == 1 and n <= 2 * len(indices[0]) + 1000:
            groups, self.places = indices[0], (slice(0, n),)
        else:
            found, groups = np.unique(np.stack(indices), axis=1, return_inverse=True)
            groups, n, self.places = groups.reshape(-1), found.shape[1], tuple(found.astype(np.intp))
        self.segments = Segments(groups, n, runtime, longest_segment(runtime.device, len(groups), n))

    def elements(self, leaf: Gather) -> Elements:
        """Elements of a leaf's table: places by the groups of rows, or the place that all rows share, for each axis."""
        places = dict(zip(map(id, leaf.varying), self.places, strict=True))
        return tuple(places[id(index)] if id(index) in places else int(index[0]) for index in leaf.indices)
