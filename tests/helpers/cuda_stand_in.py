"""In the place of PyCUDA, as far as `gpustats.runtime.cuda` asks for it: a driver whose context can be lost.

``sick`` holds the contexts in which every call fails; ``refuses`` says that no new one can be made. Memory is the host's.
"""

import atexit
import ctypes
import sys
import threading
import types

import numpy as np


class Error(Exception):
    pass


class LogicError(Error):
    pass


class LaunchError(Error):
    pass


class OutOfMemory(Error):
    pass


sick: set = set()
refuses = False
kind, text = LogicError, "cuCtxSynchronize failed: an illegal memory access was encountered"
stack: list = []  # as PyCUDA knows it; the driver has no more than the last of it
current: list = []  # the driver's, by handle
launches: list = []
page_locked: list = []  # the sizes of what was allocated


def check():
    if not stack:
        raise LogicError("no context is current")
    if stack[-1] in sick:
        raise kind(text)


def switch():
    if stack and not current:
        raise LogicError("cuCtxPopCurrent failed: invalid device context")
    current.clear()


def aborts():
    if stack:
        print("PyCUDA ERROR: The context stack was not empty upon module cleanup.", flush=True)


class Driver:
    """As far as gpustats asks it beside PyCUDA."""

    @staticmethod
    def cuCtxPushCurrent_v2(handle):
        current.append(handle.value)


class Context:
    """The calls are those of PyCUDA; the handle is the context's number."""

    made = 0

    def __init__(self):
        Context.made += 1
        self.handle = Context.made

    def push(self):
        switch()
        current.append(self.handle)
        stack.append(self)

    @staticmethod
    def pop():
        switch()
        stack.pop()
        if stack:
            current.append(stack[-1].handle)

    @staticmethod
    def get_current():
        return stack[-1] if stack else None

    @staticmethod
    def get_device():
        return Device(0)

    @staticmethod
    def synchronize():
        check()


class Device:
    primary = None

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    @staticmethod
    def count():
        return 1

    def name(self):
        return "a GPU"

    def total_memory(self):
        return 1 << 33

    def get_attribute(self, attribute):
        return 1024

    def compute_capability(self):
        return 9, 0

    def retain_primary_context(self):
        Device.primary = Device.primary or Context()
        return Device.primary

    def make_context(self):
        if refuses:
            switch()
            raise LogicError("cuCtxCreate failed: an illegal memory access was encountered")
        made = Context()
        made.push()
        return made


class Stream:
    """It copies at the last moment, when somebody waits for that: what is written over before is lost."""

    def __init__(self, flags=0):
        self.waiting, self.done, self.lock = [], 0, threading.RLock()

    def put(self, pointer, array, to_device):
        check()
        with self.lock:
            self.waiting.append((pointer, array, to_device))

    def end(self):
        """How many copies there will have been when those that are waiting are done."""
        with self.lock:  # another thread may be between taking a copy from the waiting ones and counting it
            return self.done + len(self.waiting)

    def run(self, end):
        with self.lock:
            while self.done < end:
                pointer, array, to_device = self.waiting.pop(0)
                target, source = (pointer, array.ctypes.data) if to_device else (array.ctypes.data, pointer)
                ctypes.memmove(target, source, array.nbytes)
                self.done += 1

    def synchronize(self):
        check()
        self.run(self.end())

    def wait_for_event(self, event):
        check()
        event.synchronize()


class Event:
    def __init__(self, flags=0):
        self.stream, self.after = None, 0

    def record(self, stream=None):
        check()
        self.stream, self.after = stream, stream.end() if stream else 0

    def query(self):
        check()
        return True

    def synchronize(self):
        check()
        if self.stream is not None:
            self.stream.run(self.after)


class Function:
    shared_size_bytes, num_regs, local_size_bytes = 0, 8, 0

    def _launch_kernel(self, grid, block, arguments, shared, stream):
        check()
        launches.append(grid)


class Module:
    def get_function(self, name):
        check()
        return Function()


class Pool:
    def allocate(self, nbytes):
        return mem_alloc(nbytes)

    def free_held(self):
        pass


class Memory:
    def __init__(self, nbytes):
        self.block = np.empty(nbytes, np.uint8)

    def __int__(self):
        return self.block.ctypes.data


def mem_alloc(nbytes):
    check()
    return Memory(nbytes)


def memcpy_dtoh(out, pointer):
    check()
    ctypes.memmove(out.ctypes.data, pointer, out.nbytes)


def memcpy_htod(pointer, array):
    check()
    ctypes.memmove(pointer, array.ctypes.data, array.nbytes)


def memcpy_htod_async(pointer, array, stream):
    stream.put(pointer, array, True)


def memcpy_dtoh_async(out, pointer, stream):
    stream.put(pointer, out, False)


class PageLocked:
    def __init__(self, block):
        self.block, self.__array_interface__ = block, block.__array_interface__

    def get_device_pointer(self):
        return self.block.ctypes.data


def pagelocked_empty(shape, dtype, mem_flags=0):
    check()
    page_locked.append(shape)
    return np.asarray(PageLocked(np.empty(shape, dtype)))


def checked(*args):
    check()


class GPUArray:
    def __init__(self, shape, dtype, allocator=None, gpudata=None):
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.nbytes = int(np.prod(shape)) * self.dtype.itemsize
        self.gpudata = allocator(self.nbytes) if gpudata is None else gpudata
        self.flags = types.SimpleNamespace(c_contiguous=True)


def install():
    """Let gpustats find it, and nothing that the cache or the compiler would do."""
    driver = types.ModuleType("pycuda.driver")
    attributes = types.SimpleNamespace(
        MULTIPROCESSOR_COUNT=1, WARP_SIZE=2, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=3, MAX_THREADS_PER_BLOCK=4, L2_CACHE_SIZE=5
    )
    driver.__dict__.update(
        Error=Error, LogicError=LogicError, LaunchError=LaunchError, MemoryError=OutOfMemory, Context=Context, Device=Device,
        Event=Event, device_attribute=attributes, event_flags=types.SimpleNamespace(DISABLE_TIMING=2), init=lambda: None,
        get_driver_version=lambda: 13000, module_from_buffer=lambda cubin: Module(), mem_alloc=mem_alloc,
        memset_d8=checked, memset_d32_async=checked, memcpy_dtoh=memcpy_dtoh, memcpy_htod=memcpy_htod, Stream=Stream,
        memcpy_dtoh_async=memcpy_dtoh_async, memcpy_htod_async=memcpy_htod_async,
        pagelocked_empty=pagelocked_empty, host_alloc_flags=types.SimpleNamespace(DEVICEMAP=2),
        mem_get_info=lambda: (check(), (1 << 32, 1 << 33))[1],
    )  # fmt: skip
    tools, arrays, package = (types.ModuleType(n) for n in ("pycuda.tools", "pycuda.gpuarray", "pycuda"))
    tools.DeviceMemoryPool, tools.clear_context_caches, arrays.GPUArray = Pool, lambda: None, GPUArray
    package.driver, package.tools, package.gpuarray = driver, tools, arrays
    sys.modules.update({m.__name__: m for m in (package, driver, tools, arrays)})

    atexit.register(aborts)
    from gpustats.runtime import cache, cuda, nvrtc

    cuda.driver = lambda: Driver
    cache.load, cache.store = lambda key: None, lambda key, data: None
    nvrtc.compile = lambda source, arch: b""
