"""Tables gathered by steps: an element for each step of the sequences, and the sums of derivatives over an element's steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels.template import Template
from ..runtime.cached import cached_property
from .groups import Groups
from .placed import Placed
from .tiles import Numbers, Tiles

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import DType, Handle, KernelValue
    from .leaves import StepGather
    from .sequences import Dealt

_STEPS = Template.beside(__file__, "steps")
_THREADS = 64


class StepTable:
    """Table of which each step has an element, for sequences that lie in memory in some way.

    Parameters
    ----------
    leaf : StepGather
    parameter : str
        Name of the table.
    dealt : Dealt
    order : ndarray of int
        Rows in the order in which threads take them.
    dtype : dtype
        Type of the computation.
    runtime : Runtime
    """

    def __init__(self, leaf: StepGather, parameter: str, dealt: Dealt, order: np.ndarray, dtype: DType, runtime: Runtime):
        self.leaf, self.parameter, self.size = leaf, parameter, dealt.size
        self._dealt, self._order, self._dtype, self._runtime = dealt, order, dtype, runtime
        self._placed = Placed(runtime)  # which keeps arrays alive
        self._indices = [self._placed(dealt.dealt(index, leaf.offsets, order, np.dtype(np.int32))) for index in leaf.indices]

    @cached_property
    def groups(self) -> Groups:
        """Steps by the elements that they have."""
        return Groups(self.leaf.indices, self._runtime)

    @cached_property
    def _by_element(self) -> Tiles:
        """Sums of the steps of each element, by their places in memory."""
        starts = np.empty(self._order.size, np.int64)
        starts[self._order] = self._dealt.starts
        places, segments = self._dealt.places(self.leaf.offsets, starts), self.groups.segments
        return Tiles(
            segments.counts, segments.n, self._dtype, self._runtime, indices=places[segments.order], n_numbers=self.size
        )

    def gather(self, n_sets: int, table: Sequence[KernelValue], extents: Sequence[int]) -> Handle:
        """Start the kernel that gathers the elements of the steps, (n_sets, size); the memory for the next kernels."""
        out = self._runtime.scratch(self._dtype.itemsize * n_sets * self.size)
        if not self.size:
            return out
        kernel = _STEPS.kernel(
            self._runtime, "gather_steps", _THREADS, dtype=self._dtype.name, threads=_THREADS, axes=len(extents)
        )
        axes = [v for index, extent in zip(self._indices, extents, strict=True) for v in (*index, extent)]
        kernel((-(-self.size // _THREADS), n_sets), out, self.size, *table, *axes)
        return out

    def add(self, out: Handle, offset: int, steps: Handle, first: int, stride: int, n_sets: int) -> None:
        """Start the kernels that add up numbers of the steps of each element, to (n_sets, groups).

        The numbers of the first set begin at `first`, those of the next one lie `stride` behind.
        """
        if self.groups.segments.n:
            self._by_element.add(out, offset, Numbers(steps, first, stride), n_sets)
