"""Arrays on a device, as kernels take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..runtime.host_memory import contiguous

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import Array, Handle


class Placed:
    """Arrays of an object that lie on a device as long as this does; nobody else changes them.

    Attributes
    ----------
    arrays : list of array
        In the order in which they came.
    """

    def __init__(self, runtime: Runtime):
        self._runtime, self.arrays, self._handles = runtime, list["Array"](), list["Handle"]()

    def __call__(self, array: np.ndarray) -> tuple[Handle, int]:
        """Kernel's arguments for an array."""
        on_host = self._runtime.host_visible
        self.arrays.append(contiguous(array, array.dtype) if on_host else self._runtime.to_device(array))
        handle, offset = self._runtime.memory(self.arrays[-1])
        self._handles.append(handle)
        return handle, offset

    def whole(self, array: np.ndarray) -> tuple[Handle, int]:
        """Kernel's arguments for an array of whole numbers, which kernels take as `int`."""
        return self(np.ascontiguousarray(array, np.int32))
