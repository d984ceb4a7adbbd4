"""OpenCL devices, through PyOpenCL."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pyopencl as cl
from numpy.typing import DTypeLike

from ..display.bars import COMPILING, told_if_slow
from ..errors import CompileError, DeviceLostError
from . import cache, opencl_commands
from .base import Device, Result, Runtime, in_use, nbytes_of
from .cached import cached_property
from .host_memory import LARGE_COPY, Copies, HostRows, available, contiguous
from .host_pool import HostPool
from .opencl_devices import SUSPICIOUS_ERRORS, cl_devices, describe, failing
from .opencl_devices import devices as devices
from .opencl_kernel import OpenCLKernel
from .opencl_thread import InFlight, OpenCLThreads, host_buffers
from .replay import Recording, Replay, Start
from .types import Array, DType, Handle, Shape
from .waiting import Calls

VERBOSE_OPTION = "-cl-nv-verbose"  # NVIDIA's compiler then tells how many registers a kernel takes

_COPY = """
__kernel void copy(__global const double4 *source, __global double4 *target) {
    target[get_global_id(0)] = source[get_global_id(0)];
}
"""

_lock = threading.RLock()
_runtimes: dict[int, OpenCLRuntime] = {}  # by device number
_adopted: dict[int, OpenCLRuntime] = {}  # by the user's context
_lost: set[int] = set()  # numbers of devices that were lost in this process


def runtime(number: int) -> OpenCLRuntime:
    """Runtime of the process for the device ``opencl:<number>``."""
    device = cl_devices()[number]
    with _lock:
        if number not in _runtimes:
            if number in _lost and (reason := failing(device)):
                raise DeviceLostError(
                    f"opencl:{number} was lost, and the driver makes no new context that works ({reason}): start a new process"
                )
            _runtimes[number] = OpenCLRuntime(cl.Context([device]), device, describe(device, f"opencl:{number}"))
        return _runtimes[number]


def from_array(array: Array) -> OpenCLRuntime:
    """Runtime for the context in which a `pyopencl.array.Array` lies: gpustats' own, or one made around the user's."""
    context = array.context
    with _lock:
        for ours in (*_runtimes.values(), *_adopted.values()):
            if ours.context == context:
                return ours
    for known in in_use():
        if isinstance(known, OpenCLRuntime) and known.lost and known.context == context:
            return known  # whose calls say that the array is gone
    device = array.queue.device if array.queue is not None else context.devices[0]
    every = cl_devices()
    number = every.index(device) if device in every else len(every)
    with _lock:
        ours = _adopted[context.int_ptr] = OpenCLRuntime(context, device, describe(device, f"opencl:{number}"))
    if (
        array.queue is not None
        and not array.queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    ):
        ours.local.thread.work_on(array.queue)  # PyOpenCL refuses to mix arrays of several queues
    return ours


class OpenCLRuntime(Runtime):
    """Device of an OpenCL context."""

    dialect = "opencl"
    _error = cl.Error

    def __init__(self, context: cl.Context, device: cl.Device, description: Device) -> None:
        self.device, self.context, self.cl_device = description, context, device
        self.in_flight = InFlight()
        self._host_buffer = host_buffers(self.in_flight)
        self.local = OpenCLThreads(self)
        self._compiling = threading.Lock()
        self._programs: dict[str, cl.Program] = {}
        self._registers: dict[str, dict[str, int]] = {}  # source -> kernel -> registers of a thread, where the compiler tells
        self._kernels: dict[tuple[str, str, int], OpenCLKernel] = {}
        self.host_pool = HostPool(description.memory // 8)
        self.host_visible = description.type == "cpu" and self._shares_memory()
        super().__init__()

    def _shares_memory(self) -> bool:
        """True if a buffer over NumPy's memory is that memory, also where it is not aligned."""
        probe = np.zeros(5)[1:]
        handle = self.over(probe)
        cl.enqueue_fill_buffer(self.local.thread.queue, handle, np.ones(1), 0, probe.nbytes).wait()
        return bool((probe == 1).all())

    def _is_lost(self, error: BaseException) -> bool:
        if getattr(error, "code", None) not in SUSPICIOUS_ERRORS:
            return False
        with Calls():
            return failing(self.cl_device, self.context) is not None

    def _forget(self) -> None:
        self.in_flight.last = None  # a lost device computes nothing that memory is to be kept for
        with _lock:
            for known in (_runtimes, _adopted):
                for key in [key for key, runtime in known.items() if runtime is self]:
                    del known[key]
                    if known is _runtimes:
                        _lost.add(key)

    # Kernels

    def kernel(self, source: str, name: str, threads: int, shared: int = 0) -> OpenCLKernel:
        key = (source, name, threads)
        if key not in self._kernels:
            with self.local.thread:
                program = self._program(source)
                try:
                    made = OpenCLKernel(self, program, source, name, threads)
                    made.registers = self._registers.get(source, {}).get(name)
                except cl.Error as error:
                    raise self.lost_by(error) or CompileError(f"no kernel {name}: {error}", source) from None
                self._kernels[key] = made
        return self._kernels[key]

    def _program(self, source: str) -> cl.Program:
        with self._compiling:
            if source not in self._programs:
                key = cache.key("opencl", source, self._options, *self._identity)
                program = self._from_binary(cache.load(key))
                if program is None:
                    from . import compiler  # rarely needed

                    binary = compiler.compiled(self.cl_device, source, self._options)
                    program = self._from_binary(binary) or told_if_slow(COMPILING)(self._from_source)(source)
                    cache.store(key, program.binaries[0])
                self._programs[source] = program
                if VERBOSE_OPTION in self._options:
                    self._registers[source] = self._registers_of(program, cache.key("registers", key))
            return self._programs[source]

    def _registers_of(self, program: cl.Program, key: str) -> dict[str, int]:
        """Registers of a thread of each kernel: the compiler tells them when it compiles, and the disk later."""
        log = program.get_build_info(self.cl_device, cl.program_build_info.LOG)  # type: ignore[no-untyped-call]
        told = re.findall(r"entry function '(\w+)'.*?Used (\d+) registers", log or "", re.DOTALL)
        if not told:
            return {name: int(n) for name, n in map(str.split, (cache.load(key) or b"").decode().splitlines())}
        cache.store(key, "\n".join(map(" ".join, told)).encode())
        return {name: int(n) for name, n in told}

    @cached_property
    def _identity(self) -> tuple[str, ...]:
        """Names of all that a compiled kernel depends on beside its source: device, driver, platform, processor."""
        device, processor = self.cl_device, ""
        if self.device.type == "cpu":  # a folder shared by several machines must not mix their instruction sets
            with contextlib.suppress(OSError, StopIteration):
                lines = Path("/proc/cpuinfo").read_text().splitlines()
                processor = next(line for line in lines if line.startswith(("flags", "Features")))
        return device.name, device.driver_version, device.platform.name, device.platform.version, processor

    @cached_property
    def _options(self) -> str:
        """Options of the compiler: nothing that loosens the arithmetic."""
        device, options = self.cl_device, "-cl-std=CL1.2"
        if device.platform.name.strip() == "Intel(R) OpenCL" and os.environ.get("GPUSTATS_OPTIMISE") == "0":
            from .compiler import WITHOUT_OPTIMISATION

            options += f" {WITHOUT_OPTIMISATION}"
        if self.device.type == "gpu" and device.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT:
            options += " -cl-fp32-correctly-rounded-divide-sqrt"  # else x / (x + y) may exceed 1
        with contextlib.suppress(cl.Error, AttributeError):  # each exists on NVIDIA's devices only
            capability = f"{device.compute_capability_major_nv}{device.compute_capability_minor_nv}"
            options += f" -D NVIDIA={capability} {VERBOSE_OPTION}"
        return options

    def _from_binary(self, binary: bytes | None) -> cl.Program | None:
        if binary:
            with contextlib.suppress(cl.Error), warnings.catch_warnings(action="ignore"):  # compilers chat
                program = cl.Program(self.context, [self.cl_device], [binary])
                program.build(self._options)
                return program
        return None

    def _from_source(self, source: str) -> cl.Program:
        program = cl.Program(self.context, source)
        try:
            with warnings.catch_warnings(action="ignore"):
                program.int_ptr  # noqa: B018  makes the program at once, which keeps PyOpenCL's own disk cache out
                program.build(self._options, [self.cl_device])
        except cl.Error as error:
            if lost := self.lost_by(error):
                raise lost from None
            log = program.get_build_info(self.cl_device, cl.program_build_info.LOG)  # type: ignore[no-untyped-call]
            raise CompileError(log or str(error), source) from None
        return program

    # Memory

    def over(self, array: np.ndarray) -> cl.Buffer:
        access = cl.mem_flags.READ_WRITE if array.flags.writeable else cl.mem_flags.READ_ONLY
        try:  # what `watch` does, in less time
            return self._host_buffer(self.context, access | cl.mem_flags.USE_HOST_PTR, hostbuf=array)
        except cl.Error as error:
            raise self.lost_by(error) or error from None

    def _buffer(self, nbytes: int) -> cl.Buffer:
        with self.watch:
            return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, nbytes)

    @cached_property
    def _nothing(self) -> cl.Buffer:
        """Buffer in the place of an array without elements."""
        return self._buffer(8)

    def _check(self, nbytes: int) -> None:
        """Refuse memory that a CPU lacks: it would grant more than there is and kill the process later."""
        if nbytes > self.device.memory:
            raise self._too_large(nbytes)
        free = self.free_memory() if nbytes > LARGE_COPY else None
        if free is None or nbytes <= free:
            return
        self.release()
        if nbytes > (self.free_memory() or 0):
            raise self._too_large(nbytes)

    def _allocate(self, nbytes: int) -> Handle:
        self._check(nbytes)
        thread = self.local.thread
        try:
            handle = thread.pool.allocate(max(nbytes, 8))
        except (cl.MemoryError, cl.LogicError, cl.RuntimeError, MemoryError, OverflowError) as error:
            raise self.lost_by(error) or self._too_large(nbytes) from None
        if thread.alive is not None:
            thread.alive.append(handle)
        return handle

    def empty(self, shape: int | Shape, dtype: DTypeLike) -> Array:
        from pyopencl.array import Array as CLArray

        data = self._allocate(nbytes_of(shape, dtype))
        return CLArray(self.local.thread.queue, shape, dtype, data=data, allocator=self.local.thread.pool)

    def to_device(self, array: np.ndarray | HostRows, dtype: DType | None = None) -> Array:
        native = self.empty(array.shape, dtype or array.dtype)
        self.fill([(native, array)] if native.size else [])
        return native

    def fill(self, copies: Copies) -> None:
        for native, source in copies:
            self._copy(native.base_data, contiguous(np.asarray(source), native.dtype), dst_offset=native.offset)

    def to_host(self, native: Array) -> np.ndarray:
        self._wait_for(native)
        if not native.flags.forc and native.size:  # a view with gaps: the host gets all that it reaches over
            reach = native.dtype.itemsize + sum((n - 1) * s for n, s in zip(native.shape, native.strides, strict=True))
            raw = np.empty(reach, np.uint8)
            self._copy(raw, native.base_data, src_offset=native.offset)
            return np.ndarray(native.shape, native.dtype, raw, strides=native.strides).copy()
        if native.nbytes < LARGE_COPY or not native.flags.c_contiguous:
            thread = self.local.thread
            host: np.ndarray
            with self.watch, thread:
                thread.wait()
                host = native.get(thread.queue)
            return host
        out = self.host_pool.empty(native.shape, native.dtype)
        self.download(native, out)
        return out

    def is_native(self, obj: object) -> bool:
        from pyopencl.array import Array as CLArray

        return isinstance(obj, CLArray)

    def _copy(self, target: Array | Handle, source: Array | Handle, **where: int) -> None:
        """Copy between the memories of a device (`where` in it) and the host, after the calling thread's kernels; wait."""
        self.local.thread.wait(partial(cl.enqueue_copy, self.local.thread.queue, target, source, **where))

    def _wait_for(self, array: Array) -> None:
        """Wait for other queues that may still be writing the array."""
        thread = self.local.thread
        other = array.queue is not None and array.queue != thread.queue
        if other or array.events:
            with self.watch, thread:
                if other:
                    array.queue.finish()
                for event in array.events:
                    event.wait()

    def memory(self, array: Array) -> tuple[Handle, int]:
        if not isinstance(array, np.ndarray):
            self._wait_for(array)
            return (array.base_data, array.offset // array.dtype.itemsize) if array.size else (self._nothing, 0)
        if not array.size:
            return self._nothing, 0
        if not (array.flags.c_contiguous and array.flags.aligned):
            self._check(array.nbytes)
            array = np.array(array, order="C")
        if self.host_visible:
            return self.over(array), 0
        handle = self._allocate(array.nbytes)
        self._copy(handle, array)
        return handle, 0

    def passed(self, array: np.ndarray) -> Handle:
        if not self.host_visible or not array.size or self.local.thread.alive is not None:  # what is recorded is read again
            return self.memory(array)[0]
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR  # the array may go while kernels read the copy
        try:
            return self._host_buffer(self.context, flags, hostbuf=np.ascontiguousarray(array))
        except cl.Error as error:
            raise self.lost_by(error) or error from None

    def scratch(self, nbytes: int) -> Handle:
        return self._allocate(nbytes)

    def zeroed_counters(self, n: int) -> Handle:
        local = self.local.thread
        if local.counters[0] < n:
            size = max(2 * local.counters[0], n, 256)
            handle = self._buffer(4 * size)
            with self.watch:
                cl.enqueue_fill_buffer(local.queue, handle, np.zeros(1, np.int32), 0, 4 * size)
            local.counters = (size, handle)
        return local.counters[1]

    def result(self, nbytes: int) -> Result:
        local = self.local.thread
        if nbytes not in local.results:
            if local.result is None or local.result[0] < nbytes:
                size = max(2 * nbytes, 4096)
                view = self.host_pool.empty((size,), np.uint8)
                handle = self.over(view) if self.host_visible else self._buffer(size)
                local.result, local.results = (size, handle, view), {}
            _, handle, view = local.result
            local.results[nbytes] = Result(handle, view[:nbytes])
        result: Result = local.results[nbytes]
        return result

    def fetch(self, result: Result) -> np.ndarray:
        if self.host_visible:
            self.local.thread.wait()
        else:
            self._copy(result.view, result.handle)
        return result.view

    def host_result(self, shape: int | Shape, dtype: DTypeLike) -> tuple[np.ndarray, Handle]:
        if not self.host_visible:
            return super().host_result(shape, dtype)
        self._check(nbytes_of(shape, dtype))
        array = self.host_pool.empty(shape if isinstance(shape, tuple) else (shape,), dtype)
        return array, self.over(array) if array.size else self._nothing

    def replay(self, n_given: int, n_found: int, start: Start, dtype: DTypeLike = np.float64) -> Replay | None:
        return opencl_commands.replay(self, n_given, n_found, start, dtype) if self.host_visible else None

    def recording(self, n_given: int, n_found: int, start: Start, dtype: DTypeLike = np.float64) -> Recording | None:
        return opencl_commands.recording(self, n_given, n_found, start, dtype) if self.host_visible else None

    def download(self, native_or_handle: Array | Handle, out: np.ndarray) -> None:
        if not out.size:
            return
        offset = 0
        if self.is_native(native_or_handle):
            self._wait_for(native_or_handle)
            native_or_handle, offset = native_or_handle.base_data, native_or_handle.offset
        self._copy(out, native_or_handle, src_offset=offset)

    def synchronize(self) -> None:
        self.local.thread.wait()

    def bandwidth(self) -> float:
        nbytes = min(max(8 * self.cl_device.global_mem_cache_size, 128 << 20), self.device.memory // 8) // 8192 * 8192
        source, target = self.scratch(nbytes), self.scratch(nbytes)
        queue, threads = self.local.thread.queue, min(256, self.device.max_threads)
        cl.enqueue_fill_buffer(queue, source, np.ones(1), 0, nbytes)  # pages never written all lie on the same memory
        kernel = self.kernel(_COPY, "copy", threads) if self.device.double else None
        times = self.elapsed(lambda: cl.enqueue_copy(queue, target, source), 8)
        if kernel is not None:
            times += self.elapsed(lambda: kernel((nbytes // 32 // threads, 1), source, target), 8)
        return 2 * nbytes / min(times)

    def free_memory(self) -> int | None:
        return available() if self.device.type == "cpu" else None

    def release(self) -> None:
        self.local.thread.pool.free_held()
        self.host_pool.release()
