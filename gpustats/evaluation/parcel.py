"""Parcels: small host arrays that travel to a device in one copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import Handle

_PADDING = np.zeros(4, np.uint8)


class Parcel:
    """Host arrays by name, of 4- and 8-byte numbers, each of which begins at a multiple of 8 bytes.

    Attributes
    ----------
    alive : list
        Objects that the caller holds until the kernels that read the arrays are done.
    """

    def __init__(self) -> None:
        self._pieces: list[np.ndarray] = []
        self._places: dict[str, tuple[int, int]] = {}  # first byte, bytes a number
        self._size = 0
        self.alive: list[Any] = []

    def add(self, name: str, array: np.ndarray) -> None:
        """Put in a contiguous array."""
        self._places[name] = self._size, array.itemsize
        self._pieces.append(array.reshape(-1).view(np.uint8))
        self._size += array.nbytes
        if self._size % 8:
            self._pieces.append(_PADDING)
            self._size += 4

    def send(self, runtime: Runtime) -> dict[str, tuple[Handle, int]]:
        """Place of each array on the device: a handle, and the offset behind it in numbers of the array's type."""
        if not self._places:
            return {}
        together = self._pieces[0] if len(self._pieces) == 1 else np.concatenate(self._pieces)
        handle = runtime.passed(together)
        self.alive += [together, handle]
        return {name: (handle, start // itemsize) for name, (start, itemsize) in self._places.items()}
