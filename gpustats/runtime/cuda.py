"""CUDA devices, through PyCUDA."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import threading
from collections.abc import Callable

import numpy as np
import pycuda.driver as drv
from numpy.typing import DTypeLike
from pycuda.tools import clear_context_caches

from ..errors import CompileError, DeviceLostError
from . import cache, cuda_peers, nvrtc, thresholds
from .base import Result, Runtime, nbytes_of
from .cuda_commands import Refused, commands, driver, launches, starting
from .cuda_devices import count, describe, only_one
from .cuda_devices import devices as devices
from .cuda_kernel import CUDAKernel
from .host_memory import Copies, HostRows
from .host_pool import HostPool
from .passing import HALF_BYTES
from .replay import Recording, Replay, Start
from .staging import LARGE_RESULT, Copiers, Staging
from .thread_state import Stacks, ThreadState
from .types import Array, DType, Handle, Shape
from .waiting import end_calls

HOST_MEMORY = 4 << 30  # the most bytes of the host's memory kept for large results
#: Numbers that kernels write to the host's memory; more are copied there.
MOST_MAPPED_NUMBERS = thresholds.RUNTIME_MOST_MAPPED_NUMBERS.value

_COPY = """
extern "C" __global__ void copy(const double2 *source, double2 *target, long long n) {
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        target[i] = source[i];
}
"""

_lock = threading.RLock()
_runtimes: dict[int, CUDARuntime] = {}
_lost: set[int] = set()  # numbers of devices that were lost in this process


def runtime(number: int) -> CUDARuntime:
    """Runtime of the process for the device ``cuda:<number>``."""
    with _lock:
        if number not in _runtimes:
            count()
            _runtimes[number] = CUDARuntime(number, _new_context(number) if number in _lost else None)
        return _runtimes[number]


def _new_context(number: int) -> drv.Context:
    """New context beside a lost one. Most drivers make none in the same process."""
    before, context = drv.Context.get_current(), None
    try:
        context = drv.Device(number).make_context()
        try:
            drv.memset_d8(drv.mem_alloc(8), 0, 8)
            drv.Context.synchronize()
        finally:
            drv.Context.pop()
    except drv.Error as error:
        if context is None and before is not None:
            # PyCUDA has taken it off the driver's stack and not off its own, and aborts where the two differ at the end.
            driver().cuCtxPushCurrent_v2(ctypes.c_void_p(before.handle))
        raise DeviceLostError(
            f"cuda:{number} was lost, and the driver makes no new context that works ({error}): start a new process"
        ) from None
    return context


def from_array(array: Array) -> CUDARuntime:
    """Runtime of the device on which the memory behind a ``__cuda_array_interface__`` lies."""
    if len(_runtimes) == 1 and only_one() and not _lost:
        return _runtimes[0]
    pointer = array.__cuda_array_interface__["data"][0]
    if not pointer or (only_one() and not _lost):
        return runtime(0)
    ordinal, context, library = ctypes.c_int(), ctypes.c_void_p(), driver()
    code = library.cuPointerGetAttribute(ctypes.byref(ordinal), 9, ctypes.c_uint64(pointer))  # 9: DEVICE_ORDINAL
    if code and not _lost:
        raise ValueError(f"the array's memory at {pointer:#x} is none that CUDA knows")
    if code or ordinal.value in _lost:
        new = _runtimes.get(ordinal.value)
        code = code or library.cuPointerGetAttribute(ctypes.byref(context), 1, ctypes.c_uint64(pointer))  # 1: CONTEXT
        if code or new is None or context.value != new.context.handle:
            raise DeviceLostError("the array lies in a context that is lost: make it anew")
    return runtime(ordinal.value)


_threads = Stacks()


@atexit.register
def _close() -> None:
    end_calls()
    if any(runtime.local is not _threads for runtime in _runtimes.values()):
        # In a forked child no context can be popped any more, only abandoned.
        while (context := drv.Context.get_current()) is not None:
            context.detach()
    elif _runtimes or _lost:
        clear_context_caches()
        _threads.stack.close()


class CUDARuntime(Runtime):
    """CUDA device, in the context that was current when it was first asked for, else in the primary one (PyTorch's)."""

    dialect = "cuda"
    host_visible = False
    _error = drv.Error

    def __init__(self, number: int, context: drv.Context | None = None) -> None:
        self.device, self._number = describe(number), number
        device = drv.Device(number)
        if context is None:
            current = drv.Context.get_current()
            adopt = current is not None and drv.Context.get_device() == device
            context = current if adopt else device.retain_primary_context()
        self.context = context
        self.arch = "sm_{}{}".format(*device.compute_capability())
        self._l2 = device.get_attribute(drv.device_attribute.L2_CACHE_SIZE)
        self.local = _threads
        self._compiling = threading.Lock()
        self._modules: dict[str, drv.Module] = {}
        self._kernels: dict[tuple[str, str, int, int], CUDAKernel] = {}
        self.host_pool, self.copiers = HostPool(HOST_MEMORY), Copiers(self._with_staging)
        super().__init__()

    def leave_thread(self) -> None:
        super().leave_thread()
        if self.local is _threads:  # not in a forked child
            self.local.stack.leave()  # PyCUDA aborts the process where a thread ends with a context that is current

    def _is_lost(self, error: BaseException) -> bool:
        if not isinstance(error, drv.Error) or isinstance(error, drv.MemoryError):
            return False
        try:
            self.local.stack.activate(self)
            drv.Context.synchronize()
        except drv.Error:
            return True
        return False

    def _forget(self) -> None:
        with _lock:
            if _runtimes.get(self._number) is self:
                del _runtimes[self._number]
            _lost.add(self._number)

    def state(self) -> ThreadState:
        """State of the calling thread, with the context current."""
        stack = self.local.stack
        if stack.active is not self:
            with self.watch:
                stack.activate(self)
        state: ThreadState = stack.state
        return state

    def reenter(self) -> bool:
        """Make the context current again if the user's code has pushed another since; return whether it had."""
        self.state()
        if drv.Context.get_current() == self.context:
            return False
        self.local.stack.activate(self)
        return True

    # Kernels

    def kernel(self, source: str, name: str, threads: int, shared: int = 0) -> CUDAKernel:
        key = (source, name, threads, shared)
        if key not in self._kernels:
            self.state()
            module = self._module(source)
            try:
                function = module.get_function(name)
            except drv.MemoryError:  # the driver loads a kernel when it is first asked for
                raise MemoryError(f"the device has no memory left for the kernel {name}") from None
            except drv.Error as error:
                raise self.lost_by(error) or CompileError(f'no kernel {name}: is it extern "C"?', source) from None
            self._kernels[key] = CUDAKernel(self, function, source, name, threads, shared)
        return self._kernels[key]

    def _module(self, source: str) -> drv.Module:
        with self._compiling:
            if source not in self._modules:
                key = cache.key("cuda", source, *nvrtc.OPTIONS, self.arch, self.device.driver)
                module, cubin = None, cache.load(key)
                if cubin is not None:
                    with contextlib.suppress(drv.Error):
                        module = drv.module_from_buffer(cubin)
                if module is None:
                    cubin = nvrtc.compile(source, self.arch)
                    with self.watch:
                        module = drv.module_from_buffer(cubin)
                    cache.store(key, cubin)
                self._modules[source] = module
            return self._modules[source]

    # Memory

    def _allocate(self, nbytes: int) -> Handle:
        self.reenter()
        if nbytes > self.device.memory:
            raise self._too_large(nbytes)
        state = self.state()
        try:
            handle = state.pool.allocate(max(nbytes, 8))
        except drv.MemoryError:
            raise self._too_large(nbytes) from None
        except drv.Error as error:
            raise self.lost_by(error) or error from None
        if state.alive is not None:
            state.alive.append(handle)
        return handle

    def empty(self, shape: int | Shape, dtype: DTypeLike) -> Array:
        from pycuda.gpuarray import GPUArray

        nbytes = nbytes_of(shape, dtype)
        return GPUArray(shape, dtype, allocator=self._allocate, gpudata=None if nbytes else self._allocate(0))

    def to_device(self, array: np.ndarray | HostRows, dtype: DType | None = None) -> Array:
        native = self.empty(array.shape, dtype or array.dtype)
        if native.nbytes:
            self._upload((native.gpudata, array, native.dtype))
        return native

    def fill(self, copies: Copies) -> None:
        self._upload(*((native.gpudata, source, native.dtype) for native, source in copies))

    def _upload(self, *copies: tuple[Handle, np.ndarray | HostRows, DType]) -> None:
        state = self.state()
        with self.watch, state:
            state.staging.to_device(*((int(handle), array, dtype) for handle, array, dtype in copies))

    def _with_staging(self, work: Callable[[Staging], None]) -> None:
        state = self.state()
        with self.watch, state:
            work(state.staging)

    def to_host(self, native: Array) -> np.ndarray:
        if not native.flags.c_contiguous:
            self.synchronize()
            with self.watch, self.state():
                host: np.ndarray = native.get()
            return host
        shape, dtype = tuple(native.shape), native.dtype
        out = np.empty(shape, dtype) if native.nbytes < LARGE_RESULT else self.host_pool.empty(shape, dtype)
        self.download(native, out)
        return out

    def send(self, source: Array, to: Runtime, target: Array) -> Callable[[], None]:
        return (cuda_peers.send if isinstance(to, CUDARuntime) else Runtime.send)(self, source, to, target)

    def is_native(self, obj: object) -> bool:
        from pycuda.gpuarray import GPUArray

        return isinstance(obj, GPUArray)

    def memory(self, array: Array) -> tuple[Handle, int]:
        if isinstance(array, np.ndarray):
            handle = self._allocate(array.nbytes)
            if array.size:
                self._upload((handle, array, array.dtype))
            return handle, 0
        if self.is_native(array):  # PyCUDA's arrays name no stream
            return array.ptr, 0
        interface = array.__cuda_array_interface__
        if interface.get("stream") not in (None, 1):  # another library's stream may still be writing
            with self.watch, self.state():
                drv.Context.synchronize()
        return interface["data"][0], 0

    def passed(self, array: np.ndarray) -> Handle:
        state = self.state()
        if state.alive is not None or not 0 < array.nbytes <= HALF_BYTES:  # what is recorded is done again later
            return self.memory(array)[0]
        handle = self._allocate(array.nbytes)
        with self.watch:
            state.passing.to_device(int(handle), array.reshape(-1).view(np.uint8))
        return handle

    def scratch(self, nbytes: int) -> Handle:
        return self._allocate(nbytes)

    def zeroed_counters(self, n: int) -> Handle:
        state = self.state()
        if state.counters[0] < n:
            size = max(2 * state.counters[0], n, 256)
            self.reenter()
            with self.watch:
                handle = drv.mem_alloc(4 * size)
                drv.memset_d32_async(handle, 0, size, state.stream)
            state.counters = (size, handle)
        return state.counters[1]

    def result(self, nbytes: int) -> Result:
        state = self.state()
        if nbytes not in state.results:
            if state.result is None or state.result[0] < nbytes:
                size = max(2 * nbytes, 4096)
                with self.watch:
                    view = drv.pagelocked_empty(size, np.uint8, mem_flags=drv.host_alloc_flags.DEVICEMAP)
                state.result, state.results = (size, view), {}
            view = state.result[1]
            state.results[nbytes] = Result(int(view.base.get_device_pointer()), view[:nbytes])
        return state.results[nbytes]

    def fetch(self, result: Result) -> np.ndarray:
        self.synchronize()
        return result.view

    def replay(self, n_given: int, n_found: int, start: Start, dtype: DTypeLike = np.float64) -> Replay | None:
        state, stream = self.state(), drv.Stream()
        with self.watch, state.recording(stream) as alive:
            given = drv.pagelocked_zeros(max(n_given, 1), dtype)
            found = drv.pagelocked_zeros(max(n_found, 1), np.float64, mem_flags=drv.host_alloc_flags.DEVICEMAP)
            at = self._allocate(given.nbytes)
            to = int(found.base.get_device_pointer()) if n_found <= MOST_MAPPED_NUMBERS else self._allocate(found.nbytes)
            try:
                start(at, to)
            except Refused:
                return None
            stream.synchronize()  # for what makes counters 0
        to_device = (given, int(at)) if any(a is at for kernel in state.recorded for a in kernel.arguments) else None
        from_device = (found, int(to)) if n_found > MOST_MAPPED_NUMBERS else None
        made = launches(stream, state.recorded, given, to_device, from_device, alive)
        return Replay(given, found, commands(self.context, stream, made, alive), alive)

    def recording(self, n_given: int, n_found: int, start: Start, dtype: DTypeLike = np.float64) -> Recording | None:
        state, result = self.state(), self.result(8 * max(n_found, 1))
        with self.watch, state.recording(state.stream) as alive:
            given = drv.pagelocked_zeros(max(n_given, 1), dtype)
            at = self._allocate(given.nbytes)
            try:
                start(at, result.handle)
            except Refused:
                return None
        to_device = (given, int(at)) if any(a is at for kernel in state.recorded for a in kernel.arguments) else None
        made = launches(state.stream, state.recorded, given, to_device, None, alive)
        alive.append(result)
        return Recording(given, result.view.view(np.float64), starting(self.state, state.recorded, made), alive)

    def download(self, native_or_handle: Array | Handle, out: np.ndarray) -> None:
        state = self.state()
        if not out.flags.c_contiguous:
            raise ValueError("the array to download into is not C-contiguous")
        if not out.size:
            return
        if state.unknown:
            self.synchronize()  # Ctrl-C has no effect on the copy
        address: Handle = getattr(native_or_handle, "gpudata", native_or_handle)
        with self.watch, state:
            state.staging.to_host(int(address), out)

    # Time

    def synchronize(self) -> None:
        state = self.state()
        try:  # what `watch` does, in less time
            state.wait()
        except drv.Error as error:
            raise self.lost_by(error) or error from None

    def elapsed(self, function: Callable[[], object], repeat: int = 10) -> list[float]:
        stream = self.state().stream
        with self.watch:
            events = [(drv.Event(), drv.Event()) for _ in range(repeat)]
            for start, end in events:
                start.record(stream)
                function()
                end.record(stream)
            events[-1][1].synchronize()
        return [end.time_since(start) * 1e-3 for start, end in events]

    def bandwidth(self) -> float:
        nbytes: int = min(max(8 * self._l2, 256 << 20), self.device.memory // 8) // 8192 * 8192
        source, target, stream = self.scratch(nbytes), self.scratch(nbytes), self.state().stream
        kernel = self.kernel(_COPY, "copy", 256)
        blocks = 16 * self.device.compute_units
        times = self.elapsed(lambda: drv.memcpy_dtod_async(target, source, nbytes, stream), 8)
        times += self.elapsed(lambda: kernel((blocks, 1), source, target, nbytes // 16), 8)
        return 2 * nbytes / min(times)

    def free_memory(self) -> int | None:
        self.state()
        with self.watch:
            return int(drv.mem_get_info()[0])

    def release(self) -> None:
        state = self.state()
        with self.watch:
            state.release()
