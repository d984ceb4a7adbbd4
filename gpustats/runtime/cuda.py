"""CUDA devices, through NVIDIA's own bindings of the driver."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from cuda.bindings import driver as cu
from numpy.typing import DTypeLike

from ..errors import CompileError, DeviceLostError, NoDeviceError
from . import cuda_commands, cuda_devices, cuda_driver, cuda_peers, cuda_times, pycuda_arrays
from .base import Result, Runtime, nbytes_of
from .cuda_devices import describe
from .cuda_devices import devices as devices
from .cuda_driver import DriverError, OutOfMemory, address_of, checked, new_event
from .cuda_kernel import CUDAKernel
from .cuda_memory import Block, page_locked
from .cuda_modules import Modules
from .device_array import LEGACY_STREAM, DeviceArray
from .host_memory import Copies, HostRows
from .passing import HALF_BYTES, together
from .pycuda_arrays import PYCUDA
from .registered import HostResults
from .replay import Enqueued, Recording, Replay, Start
from .staging import Copiers, Staging
from .thread_state import ThreadState, ThreadStates
from .types import Array, DType, Handle, Shape
from .unusable import forked_from

_lock = threading.RLock()
_runtimes: dict[int, CUDARuntime] = {}
_lost: set[int] = set()  # numbers of devices that were lost in this process


def runtime(number: int) -> CUDARuntime:
    """Runtime of the process for the device ``cuda:<number>``."""
    with _lock:
        if number not in _runtimes:
            cuda_driver.start()
            if cuda_driver.forked():
                raise RuntimeError(forked_from(f"cuda:{number}"))
            if reason := cuda_devices.unusable(number):
                raise NoDeviceError(reason)
            _runtimes[number] = CUDARuntime(number, _new_context(number) if number in _lost else None)
        return _runtimes[number]


def _new_context(number: int) -> Any:
    """New context beside a lost one. Most drivers make none in the same process."""
    kind: tuple[None, ...] = (None,) if cu.CUDA_VERSION >= 13000 else ()
    before = checked(cu.cuCtxGetCurrent())
    try:
        context = checked(cu.cuCtxCreate(*kind, 0, checked(cu.cuDeviceGet(number))))
        checked(cu.cuMemFree(checked(cu.cuMemAlloc(8))))
        cuda_driver.synchronize_context()
    except DriverError as error:
        raise DeviceLostError(
            f"cuda:{number} was lost, and the driver makes no new context that works ({error}): start a new process"
        ) from None
    finally:
        cu.cuCtxSetCurrent(before)
    return context


def from_array(array: Array) -> CUDARuntime:
    """Runtime of the device on which the memory behind a ``__cuda_array_interface__`` lies."""
    only_one = cuda_driver.count() == 1 and not _lost
    pointer = array.__cuda_array_interface__["data"][0]
    if not pointer or only_one:
        return runtime(0)
    attribute = cu.CUpointer_attribute
    number = cuda_driver.pointer_attribute(attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer, ctypes.c_int)
    if number is None and not _lost:
        raise ValueError(f"the array's memory at {pointer:#x} is none that CUDA knows")
    if number is None or number in _lost:
        new = _runtimes.get(number)
        context = cuda_driver.pointer_attribute(attribute.CU_POINTER_ATTRIBUTE_CONTEXT, pointer, ctypes.c_void_p)
        if new is None or context != int(new.context):
            raise DeviceLostError("the array lies in a context that is lost: make it anew")
    return runtime(number)


_threads = ThreadStates()


class CUDARuntime(Runtime):
    """CUDA device, in the context that was current when it was first asked for, else in the primary one, as other libraries.

    Parameters
    ----------
    number : int
    context : CUcontext, optional
        A context of our own.
    """

    dialect = "cuda"
    host_visible, moves = False, True
    _error = DriverError

    def __init__(self, number: int, context: Any = None) -> None:
        self.device, self.number = describe(number), number
        device = checked(cu.cuDeviceGet(number))
        if context is None:
            context = checked(cu.cuCtxGetCurrent())
            if not int(context) or int(checked(cu.cuCtxGetDevice())) != int(device):
                context = checked(cu.cuDevicePrimaryCtxRetain(device))
        self.context = context
        self.arch = "sm_{}{}".format(*cuda_devices.capability(number))
        self._l2 = cuda_devices.attribute_of(number, cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
        self.local = _threads
        self.states: list[ThreadState] = []  # of all threads, also of those that have ended
        self.free_states: list[ThreadState] = []
        self.free_streams: list[Any] = []  # of replays that are gone
        self._modules = Modules(self)
        self._kernels: dict[tuple[str, str, int, int], CUDAKernel] = {}
        self.results, self.copiers = HostResults(self.reenter), Copiers(self._with_staging)
        self.arrays = pycuda_arrays.default()
        super().__init__()

    def _is_lost(self, error: BaseException) -> bool:
        if not isinstance(error, DriverError) or isinstance(error, OutOfMemory):
            return False
        try:
            self.local.activate(self)
            cuda_driver.synchronize_context()
        except DriverError:
            return True
        return False

    def _forget(self) -> None:
        with _lock:
            if _runtimes.get(self.number) is self:
                del _runtimes[self.number]
            _lost.add(self.number)
            page_locked.clear()

    def state(self) -> ThreadState:
        """State of the calling thread, with the context current."""
        local = self.local
        if local.active is not self:
            with self.watch:
                local.activate(self)
        state: ThreadState = local.state
        return state

    def reenter(self) -> bool:
        """Make the context current again if another library has made its own current since; return whether it had."""
        self.state()
        if checked(cu.cuCtxGetCurrent()) == self.context:
            return False
        self.local.activate(self)
        return True

    # Kernels

    def kernel(self, source: str, name: str, threads: int, shared: int = 0) -> CUDAKernel:
        key = (source, name, threads, shared)
        if key not in self._kernels:
            self.state()
            module = self._modules.of(source)
            try:
                function = checked(cu.cuModuleGetFunction(module, name.encode()))
                self._kernels[key] = CUDAKernel(self, function, source, name, threads, shared)
            except OutOfMemory:  # the driver loads a kernel when it is first asked for
                raise MemoryError(f"the device has no memory left for the kernel {name}") from None
            except DriverError as error:
                raise self.lost_by(error) or CompileError(f'no kernel {name}: is it extern "C"?', source) from None
        return self._kernels[key]

    # Memory

    def _allocate(self, nbytes: int) -> Block:
        if nbytes > self.device.memory:
            raise self._too_large(nbytes)
        state = self.state()
        try:
            block = state.pool.allocate(nbytes)
        except OutOfMemory:
            raise self._too_large(nbytes) from None
        except DriverError as error:
            raise self.lost_by(error) or error from None
        if state.alive is not None:
            state.alive.append(block)
        return block

    def release_all(self) -> None:
        """Give the driver what the pools of all threads keep."""
        for state in list(self.states):
            state.pool.release()

    def empty(self, shape: int | Shape, dtype: DTypeLike) -> Array:
        block = self._allocate(nbytes_of(shape, dtype))
        lengths = shape if isinstance(shape, tuple) else (int(shape),)
        if self.arrays == PYCUDA:
            return pycuda_arrays.new(self, block, lengths, np.dtype(dtype))
        return DeviceArray(self, block, block.address, lengths, np.dtype(dtype), None, int(self.state().stream))

    def give(self, arrays: str) -> None:
        self.arrays = pycuda_arrays.checked_kind(arrays)

    def over(self, owner: object, pointer: int, shape: Shape, dtype: DType, strides: Shape | None) -> Array:
        """Array over another library's memory, which it keeps alive."""
        return DeviceArray(self, owner, pointer, tuple(shape), dtype, None if strides is None else tuple(strides))

    def to_device(self, array: np.ndarray | HostRows, dtype: DType | None = None) -> Array:
        native = self.empty(array.shape, dtype or array.dtype)
        if native.nbytes:
            self.fill([(native, array)])
        return native

    def fill(self, copies: Copies) -> None:
        self._upload(*((native.ptr, source, native.dtype) for native, source in copies))

    def _upload(self, *copies: tuple[int, np.ndarray | HostRows, DType]) -> None:
        state = self.state()
        with self.watch, state:
            state.staging.to_device(*copies)

    def _with_staging(self, work: Callable[[Staging], None]) -> None:
        state = self.state()
        with self.watch, state:
            work(state.staging)

    def results_to_device(self, found: Sequence[np.ndarray]) -> list[Array]:
        if self.arrays == PYCUDA or sum(array.nbytes for array in found) > HALF_BYTES // 2:
            return [self.to_device(array) for array in found]
        data, starts = together(found)
        block, stream = self._allocate(data.nbytes), int(self.state().stream)
        self._pass(block.address, data)
        places = zip(starts, found, strict=True)
        return [DeviceArray(self, block, block.address + i, a.shape, a.dtype, None, stream) for i, a in places]

    def to_host(self, native: Array) -> np.ndarray:
        shape, dtype = tuple(native.shape), native.dtype
        self._follow(native)
        if native.flags.c_contiguous or not native.size:
            return self.downloaded(native.ptr, shape, dtype)
        steps = [(n - 1) * s for n, s in zip(shape, native.strides, strict=True)]
        first = sum(step for step in steps if step < 0)  # a view with gaps: the host gets all that it reaches over
        reach = np.empty(sum(map(abs, steps)) + dtype.itemsize, np.uint8)
        self.download(native.ptr + first, reach)
        return np.ndarray(shape, dtype, reach, -first, native.strides).copy()

    def to_hosts(self, natives: Sequence[Array]) -> list[np.ndarray]:
        if sum(native.nbytes for native in natives) > HALF_BYTES or not all(native.flags.c_contiguous for native in natives):
            return super().to_hosts(natives)
        for native in natives:
            self._follow(native)
        state = self.state()
        with self.watch:
            self.reenter()
            arriving = state.passing.to_hosts(natives)
        self.synchronize()
        return [place.copy() for place in arriving]

    def send(self, source: Array, to: Runtime, target: Array) -> Callable[[], None]:
        return cuda_peers.send(self, source, to, target) if isinstance(to, CUDARuntime) else super().send(source, to, target)

    def is_native(self, obj: object) -> bool:
        return isinstance(obj, DeviceArray) or pycuda_arrays.is_gpuarray(obj)

    def memory(self, array: Array) -> tuple[Handle, int]:
        if self.is_native(array):
            self._follow(array)
            return array.ptr, 0
        if isinstance(array, np.ndarray):
            return self.passed(array), 0
        interface = array.__cuda_array_interface__
        stream = interface.get("stream")
        if stream not in (None, LEGACY_STREAM):  # another library's stream may still be writing
            self.let_wait(self.state().stream, stream)
        return interface["data"][0], 0

    def _follow(self, array: Array) -> None:
        """Have the calling thread's next work follow that of the thread that made an array."""
        state, made = self.state(), array if type(array) is DeviceArray else pycuda_arrays.holder_of(array)
        if made is not None and made.stream not in (LEGACY_STREAM, state.number):
            if isinstance(made.owner, Block):
                made.owner.shared = True
            if cu.cuStreamQuery(made.stream)[0]:
                self.let_wait(state.stream, made.stream)

    def let_wait(self, stream: Any, other: Any) -> None:
        """Have a stream wait for what another one has to do until now. Both are handles, or numbers of DLPack."""
        if int(stream) != int(other):
            with self.watch:
                self.reenter()
                event = new_event()
                checked(cu.cuEventRecord(event, other))
                checked(cu.cuStreamWaitEvent(stream, event, 0))
                checked(cu.cuEventDestroy(event))

    def passed(self, array: np.ndarray) -> Handle:
        state, block = self.state(), self._allocate(array.nbytes)
        if state.alive is not None or array.nbytes > HALF_BYTES:  # what is recorded is done again later, by whichever thread
            self._upload((block.address, array, array.dtype))
        elif array.size:
            self._pass(block.address, array)
        return block

    def _pass(self, pointer: int, array: np.ndarray) -> None:
        state = self.state()
        with self.watch:
            state.passing.to_device(pointer, array.reshape(-1).view(np.uint8))

    def scratch(self, nbytes: int) -> Handle:
        return self._allocate(nbytes)

    def zeroed_counters(self, n: int) -> Handle:
        state = self.state()
        if state.counters[0] < n:
            size = max(2 * state.counters[0], n, 256)
            block = self._allocate(4 * size)
            with self.watch:
                checked(cu.cuMemsetD32Async(block.address, 0, size, state.stream))
            state.counters = (size, block)
        return state.counters[1]

    def result(self, nbytes: int) -> Result:
        state = self.state()
        if nbytes not in state.results:
            if state.result is None or state.result.nbytes < nbytes:
                with self.watch:
                    self.reenter()
                    checked(cu.cuStreamSynchronize(state.stream))  # kernels may still write to the one before
                    state.result, state.results = page_locked.empty(max(2 * nbytes, 4096), np.uint8), {}
            state.results[nbytes] = Result(address_of(state.result), state.result[:nbytes])
        return state.results[nbytes]

    def fetch(self, result: Result) -> np.ndarray:
        self.synchronize()
        return result.view

    def replay(self, n_given: int, n_found: int, start: Start, dtype: DTypeLike = np.float64) -> Replay | None:
        with self.watch:
            self.reenter()
            return cuda_commands.replay(self, n_given, n_found, start, dtype)

    def enqueued(self, n_given: int, n_found: int, start: Start, dtype: DTypeLike = np.float64) -> Enqueued | None:
        with self.watch:
            self.reenter()
            return cuda_commands.enqueued(self, n_given, n_found, start, dtype)

    def recording(self, n_given: int, n_found: int, start: Start, dtype: DTypeLike = np.float64) -> Recording | None:
        with self.watch:
            self.reenter()
            return cuda_commands.recording(self, n_given, n_found, start, dtype)

    def download(self, native_or_handle: Array | Handle, out: np.ndarray) -> None:
        if not out.flags.c_contiguous:
            raise ValueError("the array to download into is not C-contiguous")
        self._receive(native_or_handle, out, False)

    def downloaded(self, native_or_handle: Array | Handle, shape: Shape, dtype: DTypeLike) -> np.ndarray:
        out, registered = self.results.empty(shape, dtype)
        self._receive(native_or_handle, out, registered)
        return out

    def _receive(self, native_or_handle: Array | Handle, out: np.ndarray, registered: bool) -> None:
        state = self.state()
        if not out.size:
            return
        if state.unknown:
            self.synchronize()  # Ctrl-C has no effect on the copy
        pointer: Handle = getattr(native_or_handle, "ptr", native_or_handle)
        with self.watch, state:
            state.staging.to_host(int(pointer), out, registered)

    # Time

    def synchronize(self) -> None:
        state = self.state()
        try:  # what `watch` does, in less time
            state.wait()
        except DriverError as error:
            raise self.lost_by(error) or error from None

    def elapsed(self, function: Callable[[], object], repeat: int = 10) -> list[float]:
        stream = self.state().stream
        with self.watch:
            self.reenter()
            return cuda_times.elapsed(stream, function, repeat)

    def bandwidth(self) -> float:
        return cuda_times.bandwidth(self, min(max(8 * self._l2, 256 << 20), self.device.memory // 8))

    def free_memory(self) -> int | None:
        with self.watch:
            self.reenter()
            return int(checked(cu.cuMemGetInfo())[0])

    def release(self) -> None:
        with self.watch:
            self.reenter()
            self.state().pool.release()
