"""Arrays of PyCUDA, for programs that work with PyCUDA: the only room that knows this library.

`GPUArray` is taken wherever a device array is. Results are such arrays, too, where a program asks for it by
``gs.use("cuda", arrays="pycuda")`` or the environment's ``GPUSTATS_ARRAYS``, and where a context of PyCUDA was current when
gpustats was first asked for the device. The memory is ours; PyCUDA's own calls, arithmetic among them, want a context on the
stack of contexts that PyCUDA keeps for each thread, and end the process where a thread ends before its stack is empty.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from ..errors import NoDeviceError
from .types import Array, DType, Shape

if TYPE_CHECKING:
    from .cuda_memory import Block

PYCUDA, OWN = "pycuda", "gpustats"
KINDS = (OWN, PYCUDA)  # of arrays


def checked_kind(kind: str) -> str:
    """Kind of arrays, if it is one and its library is there.

    Raises
    ------
    ValueError, NoDeviceError
    """
    if kind not in KINDS:
        raise ValueError(f"arrays = {kind!r}: it is 'gpustats' or 'pycuda'")
    if kind == PYCUDA:
        _library()
    return kind


def default() -> str:
    """Kind of the arrays of results in a program that has not asked for one."""
    if kind := os.environ.get("GPUSTATS_ARRAYS", ""):
        return checked_kind(kind)
    driver = sys.modules.get("pycuda.driver")
    return PYCUDA if driver is not None and driver.Context.get_current() is not None else OWN


def is_gpuarray(value: object) -> bool:
    arrays = sys.modules.get("pycuda.gpuarray")  # who has such an array has imported it
    return arrays is not None and isinstance(value, arrays.GPUArray)


def new(runtime: Any, block: Block, shape: Shape, dtype: DType) -> Array:
    """GPUArray over a block of memory, C-contiguous."""
    holder, gpuarray = _library()
    pushed = _thread.enter(runtime.number)
    try:
        return gpuarray(shape, dtype, gpudata=holder(block, int(runtime.state().stream)))
    finally:
        del pushed  # it is popped now in a thread that Python has not started


def holder_of(array: Array) -> Any:
    """Holder of an array's memory, if it is ours; None for memory of PyCUDA's own, whose work is on the default stream."""
    holder, gpuarray = _library()
    while isinstance(array, gpuarray):  # a view's memory is that of the array below it
        array = array.gpudata if array.base is None else array.base
    return array if isinstance(array, holder) else None


def _library() -> tuple[Any, Any]:
    """Class of what holds the memory of an array, and that of arrays."""
    global _classes
    if _classes is None:
        try:
            import pycuda.driver as drv
            from pycuda.gpuarray import GPUArray
        except ImportError as error:
            raise NoDeviceError(
                f"arrays='pycuda' needs PyCUDA, which does not load ({error}): pip install 'gpustats[pycuda]'"
            ) from error

        class Holder(drv.PointerHolderBase):  # type: ignore[misc]
            """Memory of an array, as PyCUDA takes it, and the stream of the thread that made the array."""

            def __init__(self, owner: Block, stream: int) -> None:
                super().__init__()
                self.owner, self.stream = owner, stream

            def get_pointer(self) -> int:
                return self.owner.address

        _classes = Holder, GPUArray
    return _classes


_classes: tuple[Any, Any] | None = None


class _Pushed:
    """Primary context of a device on PyCUDA's stack of the calling thread, until the thread ends and this object with it."""

    def __init__(self, number: int) -> None:
        import pycuda.driver as drv

        self._process, self._driver = os.getpid(), drv
        drv.init()
        self._context = drv.Device(number).retain_primary_context()
        self._context.push()

    def __del__(self) -> None:
        if os is not None and self._process == os.getpid() and self._driver.Context.get_current() == self._context:
            self._driver.Context.pop()


class _Thread(threading.local):
    """Context that a thread has pushed, if it has."""

    pushed: _Pushed | None = None

    def enter(self, number: int) -> _Pushed | None:
        """Have a context of PyCUDA be current: that of the program, else the primary one of a device.

        It stays current while the thread runs. In a thread that Python has not started it does so while what is returned
        lives: nobody sees when such a thread ends.
        """
        if sys.modules["pycuda.driver"].Context.get_current() is not None:
            return None
        pushed = _Pushed(number)
        if not isinstance(threading.current_thread(), threading._DummyThread):
            self.pushed = pushed
        return pushed


_thread = _Thread()


@atexit.register
def _leave_main() -> None:
    _thread.pushed = None
