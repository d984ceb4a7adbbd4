"""Arrays of numbers in a CUDA device's memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from . import dlpack
from .types import DType, Shape

LEGACY_STREAM = 1  # the default stream, as __cuda_array_interface__ and DLPack name it


class Flags(NamedTuple):
    """Orders in which an array's numbers lie without gaps."""

    c_contiguous: bool
    f_contiguous: bool


#: What an array is indexed by.
_KEYS = slice, int, np.integer, type(None), type(Ellipsis)


class DeviceArray:
    """Array in the memory of a CUDA device: shape, type, views, and copies to the host; no arithmetic.

    CuPy, PyTorch, JAX and Numba take it without a copy, by ``__cuda_array_interface__`` or DLPack: ``cupy.asarray(a)``,
    ``torch.from_dlpack(a)``, ``jax.dlpack.from_dlpack(a)``. NumPy gets a copy: ``a.get()`` or ``np.asarray(a)``.

    Attributes
    ----------
    shape, strides : tuple of int
        Lengths of the axes, and bytes from one number to the next along each.
    dtype : numpy.dtype
    ptr : int
        Address of the first number on the device.
    device : Device

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> a = gs.to_device(np.arange(6.0).reshape(2, 3))
    >>> a.shape, a[1].get()  # doctest: +SKIP
    ((2, 3), array([3., 4., 5.]))
    """

    __slots__ = ("__weakref__", "_flags", "_owner", "_runtime", "_stream", "dtype", "ptr", "shape", "strides")
    __array_priority__ = 100

    def __init__(
        self, runtime: Any, owner: object, ptr: int, shape: Shape, dtype: DType, strides: Shape | None = None,
        stream: int = LEGACY_STREAM,
    ) -> None:  # fmt: skip
        self._runtime, self._owner, self._stream = runtime, owner, stream
        self.ptr, self.shape, self.dtype = ptr, shape, dtype
        self._flags = Flags(True, True) if strides is None and len(shape) < 2 else None
        self.strides = c_strides(shape, dtype.itemsize) if strides is None else strides

    # What it is

    @property
    def device(self) -> Any:
        return self._runtime.device

    @property
    def runtime(self) -> Any:
        """Runtime of the device on which it lies."""
        return self._runtime

    @property
    def stream(self) -> int:
        """Handle of the stream on which the array was made."""
        return self._stream

    @property
    def owner(self) -> object:
        """Object that the memory belongs to, which the array keeps alive."""
        return self._owner

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def flags(self) -> Flags:
        if self._flags is None:
            gaps = [
                all(n < 2 or stride == expected for n, stride, expected in zip(self.shape, self.strides, strides, strict=True))
                for strides in (c_strides(self.shape, self.itemsize), c_strides(self.shape[::-1], self.itemsize)[::-1])
            ]
            self._flags = Flags(*(without or not self.size for without in gaps))
        return self._flags

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<gpustats array of {self.dtype}, shape {self.shape}, on {self._runtime.device.id}>"

    def __bool__(self) -> bool:
        return bool(self.get()) if self.size == 1 else self._no_truth()

    def _no_truth(self) -> bool:
        raise ValueError(f"an array of shape {self.shape} has no truth value: copy it to the host by get()")

    # Views

    @property
    def T(self) -> DeviceArray:
        """View with the axes in reverse order."""
        return self.transpose()

    def transpose(self, axes: Sequence[int] | None = None) -> DeviceArray:
        """View with the axes in another order, by default the reverse one."""
        given = range(self.ndim)[::-1] if axes is None else axes
        order = [axis + self.ndim if axis < 0 else axis for axis in given]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"axes = {axes}: an array of shape {self.shape} has each of its axes once")
        return self._view(self.ptr, tuple(self.shape[i] for i in order), tuple(self.strides[i] for i in order))

    def __getitem__(self, key: Any) -> DeviceArray:
        """View of a part, by whole numbers, slices, ``...`` and ``None``."""
        keys = list(key) if isinstance(key, tuple) else [key]
        if wrong := [k for k in keys if isinstance(k, bool) or not isinstance(k, _KEYS)]:
            raise IndexError(f"a device array is indexed by whole numbers, slices, ... and None, not by {wrong[0]!r}")
        if keys.count(Ellipsis) > 1:
            raise IndexError("an index has one ... at most")
        if (given := sum(k is not None and k is not Ellipsis for k in keys)) > self.ndim:
            raise IndexError(f"{given} indices for an array with {self.ndim} axes")
        place = keys.index(Ellipsis) if Ellipsis in keys else len(keys)
        keys[place : place + 1] = [slice(None)] * (self.ndim - given)
        ptr, shape, strides, axis = self.ptr, list[int](), list[int](), 0
        for k in keys:
            if k is None:
                shape, strides = [*shape, 1], [*strides, 0]
                continue
            n, stride, axis = self.shape[axis], self.strides[axis], axis + 1
            if isinstance(k, slice):
                start, stop, step = k.indices(n)
                length = len(range(start, stop, step))
                ptr += start * stride if length else 0
                shape, strides = [*shape, length], [*strides, stride * step]
            elif -n <= k < n:
                ptr += int(k) % n * stride
            else:
                raise IndexError(f"index {k} is out of bounds for an axis of {n}")
        return self._view(ptr, tuple(shape), tuple(strides))

    def reshape(self, *shape: int | Sequence[int], order: str = "C") -> DeviceArray:
        """View in another shape, of which one length may be -1. The numbers lie in C order without gaps."""
        wanted = tuple(map(int, shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape))  # type: ignore[arg-type]
        if order != "C" or not self.flags.c_contiguous:
            raise ValueError("a device array is reshaped in C order where its numbers lie so: copy it first")
        if wanted.count(-1) == 1:
            rest = math.prod(n for n in wanted if n != -1)  # no length follows of it where it is 0
            wanted = tuple(self.size // rest if n == -1 and rest else n for n in wanted)
        if math.prod(wanted) != self.size or any(n < 0 for n in wanted):
            raise ValueError(f"an array of shape {self.shape} has no shape {wanted}")
        return self._view(self.ptr, wanted, None)

    def ravel(self) -> DeviceArray:
        """View with one axis."""
        return self.reshape(-1)

    def view(self, dtype: DTypeLike) -> DeviceArray:
        """View of the same bytes as another type. The numbers of the last axis lie without gaps."""
        made = np.dtype(dtype)
        if made.itemsize == self.itemsize:
            shape, strides = self.shape, self.strides
        elif self.shape and self.strides[-1] == self.itemsize and self.shape[-1] * self.itemsize % made.itemsize == 0:
            shape = (*self.shape[:-1], self.shape[-1] * self.itemsize // made.itemsize)
            strides = (*self.strides[:-1], made.itemsize)
        else:
            raise ValueError(f"an array of {self.dtype} of shape {self.shape} has no view as {made}")
        return DeviceArray(self._runtime, self._owner, self.ptr, shape, made, strides, self._stream)

    def _view(self, ptr: int, shape: Shape, strides: Shape | None) -> DeviceArray:
        return DeviceArray(self._runtime, self._owner, ptr, shape, self.dtype, strides, self._stream)

    # Copies

    def get(self) -> np.ndarray:
        """Copy on the host, a NumPy array, once the calling thread's work is done."""
        host: np.ndarray = self._runtime.to_host(self)
        return host

    def item(self) -> float | int:
        """Number of an array that has one."""
        if self.size != 1:
            raise ValueError(f"an array of shape {self.shape} is no number")
        return self.get().item()  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return float(self.item())

    def set(self, array: Any) -> None:
        """Copy of a NumPy array of this shape into the memory, whose numbers lie in C order."""
        source = np.asarray(array)
        if source.shape != self.shape or not self.flags.c_contiguous:
            raise ValueError(f"an array of shape {source.shape} cannot be set into one of shape {self.shape}, or with gaps")
        self._runtime.fill([(self, source)])

    # Other libraries

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("NumPy sees no memory of a device without a copy")
        return np.asarray(self.get(), dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.ptr if self.size else 0, False), "version": 3,
            "strides": None if self.flags.c_contiguous else self.strides, "stream": self._stream,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self._runtime.number

    def __dlpack__(
        self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None, copy: bool | None = None,
    ) -> object:  # fmt: skip
        """Capsule of DLPack, whose numbers are there for what the stream does next.

        Parameters
        ----------
        stream : int, optional
            Handle of the stream that will read; None, 0 and 1: the default stream; -1: nobody waits.
        """
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"the array lies on {self._runtime.device.id}: copy it to the host by get()")
        if copy:
            raise BufferError("a device array gives its own memory, and no copy")
        if stream != -1:
            self._runtime.let_wait(stream or LEGACY_STREAM, self._stream)
        return dlpack.capsule(self, self.ptr, self.shape, self.strides, self.dtype, self._runtime.number)


def c_strides(shape: Shape, itemsize: int) -> Shape:
    """Bytes from one number to the next along each axis, in C order without gaps."""
    strides = []
    for n in reversed(shape):
        strides.append(itemsize)
        itemsize *= max(n, 1)
    return tuple(reversed(strides))
