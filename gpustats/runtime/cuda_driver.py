"""CUDA's driver, by NVIDIA's own bindings: its start, its errors, and calls that several rooms make.

Nothing that the driver makes is destroyed here while Python runs: streams, events and memory serve others when their
owners are gone. So no object needs a context when it goes, whichever thread collects it, and none does harm in a forked child.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda.bindings import driver as cu

from ..errors import NoDeviceError
from . import cuda_wheels
from .types import Shape

NON_BLOCKING = int(cu.CUstream_flags.CU_STREAM_NON_BLOCKING)
WITHOUT_TIMING = int(cu.CUevent_flags.CU_EVENT_DISABLE_TIMING)
#: The driver's version by which `address` names its functions: the first with all of them.
_FUNCTIONS_OF = 12000


class DriverError(Exception):
    """Error of CUDA's driver.

    Attributes
    ----------
    code : CUresult
    """

    def __init__(self, code: Any, call: str = "") -> None:
        text = cu.cuGetErrorString(code)[1]
        words = text.decode() if isinstance(text, bytes) else str(text)
        super().__init__(f"{call}{': ' if call else ''}{words} ({cu.CUresult(code).name})")
        self.code = code


class OutOfMemory(DriverError, MemoryError):
    """Error of a device without enough memory, or of a host without enough that can be page-locked."""


def failed(code: Any, call: str = "") -> DriverError:
    kind = OutOfMemory if code == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY else DriverError
    return kind(code, call)


def checked(answer: tuple[Any, ...]) -> Any:
    """Result of a call of the driver, which answers with a code and what it made.

    Raises
    ------
    DriverError
    """
    if answer[0]:
        raise failed(answer[0])
    return answer[1] if len(answer) == 2 else answer[1:]


@functools.cache
def start() -> int:
    """Version of CUDA that the driver serves, such as 13000, once the driver has started.

    Raises
    ------
    NoDeviceError
        Without a driver, and with one that is too old for the bindings.
    """
    try:
        code = cu.cuInit(0)[0]
        version = int(cu.cuDriverGetVersion()[1])
    except Exception as error:  # what the bindings raise differs by their version
        raise NoDeviceError(cuda_wheels.no_driver(cuda_wheels.first_line(error))) from None
    if version and version // 1000 < cu.CUDA_VERSION // 1000:
        raise NoDeviceError(cuda_wheels.too_old(version, cu.CUDA_VERSION))
    if code and code != cu.CUresult.CUDA_ERROR_NO_DEVICE:
        raise NoDeviceError(f"the NVIDIA driver does not start ({failed(code, 'cuInit')})")
    return version


_process = os.getpid()


def forked() -> bool:
    """True in a process that was forked from one in which the driver had started."""
    return _process != os.getpid() and start.cache_info().currsize > 0


def count() -> int:
    """Number of devices."""
    start()
    code, found = cu.cuDeviceGetCount()
    return 0 if code else int(found)  # without a device, it was not initialised


@functools.cache
def address(name: str) -> int:
    """Address of one of the driver's functions, for compiled code."""
    found, _ = checked(cu.cuGetProcAddress(name.encode(), _FUNCTIONS_OF, 0))
    return int(found)


def pointer_attribute(attribute: Any, pointer: int, kind: type[ctypes._SimpleCData[Any]]) -> Any:
    """Attribute of a pointer, as a number of a type of `ctypes`; None for memory that CUDA does not know.

    The bindings before 13.5 answer 0 whenever they are asked for a pointer's device.
    """
    found, function = kind(), ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64)
    code = function(address("cuPointerGetAttribute"))(ctypes.addressof(found), int(attribute), pointer)
    return None if code else found.value or 0


def new_stream(flags: int = 0) -> Any:
    """Stream of the current context.

    Without flags it waits for the default stream, on which most libraries work, and that one for it.
    """
    return checked(cu.cuStreamCreate(flags))


class Lease:
    """Lease of something that the driver has made, which serves the next when nothing refers to the lease any more.

    Parameters
    ----------
    free : list
        Things that serve nobody.
    make : callable
        Makes one where there is none.
    """

    __slots__ = ("_free", "thing")

    def __init__(self, free: list[Any], make: Callable[[], Any]) -> None:
        try:
            self.thing = free.pop()
        except IndexError:
            self.thing = make()
        self._free = free

    def __del__(self) -> None:
        if hasattr(self, "thing"):
            self._free.append(self.thing)


def new_event(flags: int = WITHOUT_TIMING) -> Any:
    return checked(cu.cuEventCreate(flags))


def synchronize_context() -> None:
    """Wait for all work in the current context."""
    checked(cu.cuCtxSynchronize())


def address_of(array: np.ndarray) -> int:
    """Address of an array's first number, in less time than `ndarray.ctypes` takes."""
    return int(array.__array_interface__["data"][0])


def array_at(pointer: int, shape: Shape, dtype: np.dtype[Any], owner: object) -> np.ndarray:
    """NumPy array over memory of the host, which keeps the memory's owner alive."""
    return np.asarray(_Memory(pointer, shape, dtype, owner))


class _Memory:
    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, pointer: int, shape: Shape, dtype: np.dtype[Any], owner: object) -> None:
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": (pointer, False), "version": 3}
        self._owner = owner
