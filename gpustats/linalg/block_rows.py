"""Block rows of lower triangles too large for one device, which lie on several devices by turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..evaluation.placement import moved
from ..evaluation.results import written
from ..runtime import thresholds
from ..runtime.base import Device, Runtime
from ..runtime.types import DType
from .matrix import Matrix
from .provider import Provider

#: Rows of a block, about: as many as let a device multiply blocks about as fast as larger matrices.
MOST_BLOCK_ROWS = thresholds.LINALG_MOST_BLOCK_ROWS.value
#: Rounds, at least, in which each device gets two blocks, so that all have work until shortly before the end.
LEAST_ROUNDS = thresholds.LINALG_LEAST_ROUNDS.value
TILE = 32  # rows of a block are a multiple of it


def require_type(runtimes: Sequence[Runtime], dtype: DType) -> None:
    """Check of the devices' types: ValueError where a device does not compute with such numbers."""
    for runtime in runtimes:
        if dtype.itemsize == 8 and not runtime.device.double:
            raise ValueError(f"{runtime.device} computes in float32 only: pass float32 arrays, or leave it out of devices")


def ends_of_blocks(n: int, devices: int) -> list[int]:
    """Ends of the blocks of rows of a triangle of n rows that so many devices share: equal blocks, in whole rounds."""
    rounds = max(-(-n // (2 * devices * MOST_BLOCK_ROWS)), LEAST_ROUNDS)
    count = min(2 * devices * rounds, n // TILE)
    return [n * k // count // TILE * TILE for k in range(1, count)] + [n] * (n > 0)


@dataclass(frozen=True)
class BlockRow:
    """Rows of a lower triangle, from the first column to the last that the triangle has there."""

    number: int  # number of the block, from the top
    place: int  # the number of the device on which it lies
    rows: slice  # the rows; also the columns of the square on the diagonal
    # (rows, columns up to the end of the square on the diagonal). What lies above the diagonal belongs to nobody.
    whole: Matrix

    @property
    def before(self) -> slice:
        """Columns before the square on the diagonal."""
        return slice(0, self.rows.start)

    @property
    def left(self) -> Matrix:
        """Matrix of the columns before the square on the diagonal, of which the first block has none."""
        return self.whole[:, self.before]

    @property
    def diagonal(self) -> Matrix:
        """Square on the diagonal."""
        return self.whole[:, self.rows]


class BlockRows:
    """Lower triangle of a square matrix, in blocks of rows that lie on several devices by turns.

    Of the blocks, the first device has the first, the second the second, and so on to the last, which has the next one, too;
    then back: so all have as many rows, and as much to do. All devices together have memory for half a matrix, and each for two
    blocks that it gets from others.

    Parameters
    ----------
    providers : sequence of Provider
        Provider of each device; a device may be there several times.
    n : int
        Rows of the matrix.

    Raises
    ------
    MemoryError
        Where the blocks do not fit the devices.
    """

    def __init__(self, providers: Sequence[Provider], n: int, dtype: DType) -> None:
        self.providers, self.n, self.dtype = list(providers), n, np.dtype(dtype)
        ends = ends_of_blocks(n, len(self.providers))
        rows = [slice(first, end) for first, end in zip([0, *ends], ends, strict=False)]
        self._refuse_too_large(rows)
        self.blocks: list[BlockRow] = []  # from the top
        for number, block in enumerate(rows):
            place = self._place(number)
            whole = self.providers[place].empty(block.stop - block.start, block.stop, self.dtype)
            self.blocks.append(BlockRow(number, place, block, whole))
        self._room = max((block.stop - block.start for block in rows), default=0) * n
        self._rooms: dict[tuple[int, int], Matrix] = {}  # by device and turn: room for blocks of others
        self._turn = 0

    def _place(self, number: int) -> int:
        """Place of a block's device."""
        count = len(self.providers)
        place = number % (2 * count)
        return place if place < count else 2 * count - 1 - place

    def _refuse_too_large(self, rows: Sequence[slice]) -> None:
        """Check of memory: MemoryError where blocks, with room for two of other devices, do not fit on a device."""
        needed: Counter[Device] = Counter()
        for number, block in enumerate(rows):
            device = self.providers[self._place(number)].runtime.device
            needed[device] += self.dtype.itemsize * (block.stop - block.start) * block.stop
        total = f"the lower triangle of {self.n} x {self.n} numbers of {self.dtype} takes {needed.total() / 2**30:.3g} GiB"
        several = len(self.providers) > 1  # one alone has room for blocks only where derivatives are computed
        rooms = several * 2 * self.dtype.itemsize * self.n * max((block.stop - block.start for block in rows), default=0)
        for device, nbytes in needed.items():
            if nbytes + rooms > device.memory:
                raise MemoryError(
                    f"{total}, {nbytes / 2**30:.3g} GiB of them on {device.id}, which has {device.memory / 2**30:.3g} GiB, and "
                    f"needs {rooms / 2**30:.3g} GiB for blocks of others: name more devices"
                )

    def write(self, block: BlockRow, numbers: np.ndarray) -> None:
        """Copy numbers of the host into a block."""
        if isinstance(block.whole.memory.array, np.ndarray):
            block.whole.view[0] = numbers
        else:
            self.providers[block.place].runtime.fill([(block.whole.flat, np.ascontiguousarray(numbers).reshape(-1))])

    def read(self, block: BlockRow) -> np.ndarray:
        """Numbers of a block, on the host."""
        found: np.ndarray = written(self.providers[block.place].runtime, block.whole.flat)
        return found.reshape(block.whole.shape)

    def spread(self, block: BlockRow, own: bool = False) -> Callable[[], list[Matrix]]:
        """Start to copy a block to all devices, after what the calling thread has started on them.

        Parameters
        ----------
        own : bool
            Whether the block's own device gets a copy, too, because the block is going to change.

        Returns
        -------
        callable
            Has all devices wait for the copies, and returns these, one for each device: until the second next call of `spread`
            they stay what they are. It must be called, and the block must stay as it is until then.
        """
        self._turn = 1 - self._turn
        source, found, waits = self.providers[block.place], list[Matrix](), list[Callable[[], None]]()
        for place, provider in enumerate(self.providers):
            if place == block.place and not own:
                found.append(block.whole)
                continue
            found.append(self._copy(place, *block.whole.shape))
            if place == block.place:
                source.copy(block.whole, found[-1])
            else:
                waits.append(source.runtime.send(block.whole.flat, provider.runtime, found[-1].flat))

        def arrived() -> list[Matrix]:
            for wait in waits:
                wait()
            return found

        return arrived

    def _copy(self, place: int, rows: int, columns: int) -> Matrix:
        """Room on a device for a block of another device."""
        key = place, self._turn
        if key not in self._rooms:
            self._rooms[key] = self.providers[place].empty(1, self._room, self.dtype)
        return Matrix(self._rooms[key].memory, rows, columns, columns)

    def replicated(self, numbers: np.ndarray) -> list[Matrix]:
        """Copies of a matrix of the host on all devices."""
        return [
            Matrix.over(p.runtime, moved(p.runtime, np.array(numbers, self.dtype, order="C"))) for p in self.providers
        ]
