"""Tables of elliptical densities of one kind: a kernel factors the matrices, and one goes through the observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..evaluation.parcel import QUAD, Parcel
from ..evaluation.repeated import Kept, KeptPlaces, RepeatedCall, Work
from ..evaluation.repeated_table import slots_of
from ..evaluation.slots import Scratch, Slots
from ..kernels.code import PER_ROW, PER_SET
from ..runtime.arrays import is_device_array

if TYPE_CHECKING:
    from ..evaluation.placement import Placement
    from ..evaluation.repeated_table import TableLaunch
    from ..runtime.types import Array, Handle, KernelValue, Value
    from .whiten import Matrices


def repeated_table(
    placement: Placement, launch: TableLaunch, matrices: Matrices, values: Sequence[Value], order: Sequence[int],
    strides: Sequence[int],
) -> RepeatedCall[Array]:  # fmt: skip
    """Repeated call of a table, for arguments like `values`.

    Parameters
    ----------
    placement : Placement
        Rows and sets of the call; its arguments need not lie anywhere.
    launch : TableLaunch
    matrices : Matrices
        Small ones, which blocks factor.
    values : sequence
    order : sequence of int
        Places among the values of the observations, of the matrices, of the means, and of the scalars in the kernel's order.
    strides : sequence of int
        Of each of these, the distance of one set's numbers from the next's.
    """
    parcel, blocks = Parcel(placement.dtype, step=QUAD), matrices.blocks()
    roles = [PER_ROW, *[PER_SET] * (len(order) - 1)]
    lie = [slots_of(parcel, i, values[i], r, s) for i, r, s in zip(order, roles, strides, strict=True)]
    rows, (*matrix, _), *others = lie
    kernel, grid, before, behind = launch

    def start(found: Handle, taken: list[KernelValue], kept: KeptPlaces) -> None:
        factors, handle, offset, *rest = taken
        blocks.start(factors, handle, offset)
        packed, logdets = matrices.factors_at(factors)
        kernel(grid, *kept[0], *before, *rest[:3], *packed, *rest[3:6], *logdets, *rest[6:], *behind)

    taken = [Scratch(matrices.nbytes), *matrix, *rows, *(slot for slots in others for slot in slots)]
    table = Kept(placement.pattern.shape, placement.dtype, any(map(is_device_array, values)))
    slots = Slots(placement.runtime, placement.dtype, taken, parcel)
    return RepeatedCall(slots, Work(0, start), lambda numbers, kept: kept[0], kept=[table])
