"""In the place of ``cuda.bindings.driver``, as far as gpustats asks for it: a driver whose contexts can be lost.

Memory is the host's. Streams do their work at the last moment, when somebody waits for it: what is written over before is lost.
``sick`` holds the contexts in which calls fail, with ``code``; ``refuses`` says that no new one can be made. ``calls`` has the
name and the arguments of each call, and ``launches`` the grids of kernels.
"""

import contextlib
import ctypes
import enum
import functools
import importlib
import os
import sys
import threading
import types

import numpy as np


class CUresult(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701
    CUDA_ERROR_LAUNCH_FAILED = 719


FINE, FULL = CUresult.CUDA_SUCCESS, CUresult.CUDA_ERROR_OUT_OF_MEMORY
WRONG, NONE = CUresult.CUDA_ERROR_INVALID_HANDLE, CUresult.CUDA_ERROR_INVALID_CONTEXT
TEXTS = {700: b"an illegal memory access was encountered", 719: b"unspecified launch failure",
         701: b"too many resources requested for launch"}  # fmt: skip
NON_BLOCKING, LEGACY, NAMES = 1, 1, ("cuda", "cuda.bindings", "cuda.bindings.driver")
MODULES = (
    "cuda", "cuda_commands", "cuda_devices", "cuda_driver", "cuda_kernel", "cuda_memory", "cuda_modules", "cuda_peers",
    "cuda_times", "passing", "pycuda_arrays", "registered", "staging", "thread_state",
)  # fmt: skip
ALL, CONTEXT_OF = sys.maxsize, 1


class Failure(Exception):
    """A call's code, which the caller gets in its answer."""


class Handle:
    """As the bindings have it: equal to one of its kind with the same number, and to no number."""

    made = 0

    def __init__(self, number=None, **parts):
        if number is None:
            Handle.made += 1
            number = 1000 + Handle.made
        self.number = number
        self.__dict__.update(parts)

    def __int__(self):
        return self.number

    def __eq__(self, other):
        return type(self) is type(other) and self.number == other.number

    def __hash__(self):
        return self.number


class Context(Handle):
    pass


class Stream(Handle):
    """Work that waits, as functions, each with what the other streams had to do before it."""

    def put(self, work):
        with lock:
            self.waiting.append((work, before(self)))

    def end(self):
        return self.done + len(self.waiting)

    def run(self, end=ALL):
        with lock:
            while self.waiting and self.done < end:
                work, others = self.waiting.pop(0)
                self.done += 1
                for other, place in others:
                    other.run(place)
                work()


class Event(Handle):
    def run(self):
        for stream, end in self.places:
            stream.run(end)


class Thread(threading.local):
    context = Context(0)


def reset():
    """As at a program's start."""
    global sick, refuses, code, devices, capacity, used, calls, launches, page_locked, memory, handles, lock, thread, primary
    global on_call, registered, lockable
    sick, refuses, code, devices = set(), False, CUresult.CUDA_ERROR_ILLEGAL_ADDRESS, 1
    capacity, used = 1 << 33, 0  # bytes of a device's memory
    calls, launches, page_locked = [], [], []  # page_locked: the sizes of what was allocated
    memory, handles, primary = {}, {}, {}
    registered, lockable = {}, 1 << 33  # address -> bytes of the host's memory; the most that the system locks
    on_call = None  # called with the name of each call before it
    lock, thread = threading.RLock(), Thread()


reset()
functions = {}


def call(function):
    """A function of the driver: it answers with a code and what it made, and notes that it was called."""

    @functools.wraps(function)
    def called(*args):
        calls.append((function.__name__, *args))
        if on_call is not None:
            on_call(function.__name__)
        try:
            found = function(*args)
        except Failure as failure:
            return failure.args[0], None
        return (FINE, *found) if isinstance(found, tuple) else (FINE,) if found is None else (FINE, found)

    functions[function.__name__] = called
    return called


def count(name):
    """How often a function was called."""
    return sum(made[0] == name for made in calls)


def current():
    """The current context, which works."""
    context = thread.context
    if not int(context):
        raise Failure(NONE)
    if context in sick:
        raise Failure(code)
    return context


def known(handle):
    """An object by its handle; the default stream of the current context by 0 and 1."""
    number = int(handle)
    if number in (0, LEGACY):
        current()
        made = Stream(LEGACY, context=thread.context, flags=0, done=0, waiting=[])
        return handles.setdefault((int(thread.context), LEGACY), made)
    if number not in handles:
        raise Failure(WRONG)
    found = handles[number]
    if found.context in sick:
        raise Failure(code)
    return found


def keep(made):
    handles[int(made)] = made
    return made


def before(stream):
    """What is done before the work that is put into a stream: the default stream and those that wait for it are in order."""
    default = handles.get((int(stream.context), LEGACY))
    if stream is default:
        others = [s for s in list(handles.values()) if isinstance(s, Stream) and s.context == stream.context and not s.flags]
    else:
        others = [] if stream.flags or default is None else [default]
    return [(other, other.end()) for other in others if other is not stream]


def move(target, source, nbytes):
    ctypes.memmove(int(target), int(source), nbytes)


# Start and devices


@call
def cuInit(flags): ...


@call
def cuDriverGetVersion():
    return CUDA_VERSION


CUDA_VERSION = 13000


@call
def cuGetErrorString(error):
    return TEXTS.get(int(error), CUresult(error).name.encode())


@call
def cuDeviceGetCount():
    return devices


@call
def cuDeviceGet(number):
    return Handle(number)


@call
def cuDeviceGetName(length, device):
    return b"a GPU".ljust(length, b"\0")


@call
def cuDeviceTotalMem(device):
    return 1 << 33


@call
def cuDeviceGetAttribute(attribute, device):
    return {"MAJOR": 9, "MINOR": 0}.get(attribute.rpartition("_")[2], 1024)


@call
def cuDeviceCanAccessPeer(device, other):
    return 1


# Contexts


@call
def cuDevicePrimaryCtxRetain(device):
    return primary.setdefault(int(device), Context(device=int(device)))


@call
def cuCtxCreate(parameters, flags, device):
    if refuses:
        raise Failure(code)
    thread.context = Context(device=int(device))
    return thread.context


@call
def cuCtxGetCurrent():
    return thread.context


@call
def cuCtxSetCurrent(context):
    thread.context = context


@call
def cuCtxGetDevice():
    return Handle(current().device)


@call
def cuCtxSynchronize():
    context = current()
    for stream in [s for s in list(handles.values()) if isinstance(s, Stream) and s.context == context]:
        stream.run()


@call
def cuCtxEnablePeerAccess(context, flags): ...


# Streams and events


@call
def cuStreamCreate(flags):
    return keep(Stream(context=current(), flags=flags, done=0, waiting=[]))


@call
def cuStreamSynchronize(stream):
    known(stream).run()


@call
def cuStreamQuery(stream):
    stream = known(stream)
    stream.run(stream.done + 1)  # so that who asks again and again sees an end
    if stream.waiting:
        raise Failure(CUresult.CUDA_ERROR_NOT_READY)


@call
def cuStreamWaitEvent(stream, event, flags):
    event = known(event)
    places = event.places  # as it is now: the event may be recorded again
    known(stream).put(lambda: [other.run(end) for other, end in places])


@call
def cuEventCreate(flags):
    return keep(Event(context=current(), places=[]))


@call
def cuEventRecord(event, stream):
    event, stream = known(event), known(stream)
    if event.context != stream.context:
        raise Failure(WRONG)
    with lock:
        event.places = [*before(stream), (stream, stream.end())]


@call
def cuEventSynchronize(event):
    known(event).run()


@call
def cuEventDestroy(event):
    del handles[int(known(event))]


@call
def cuEventElapsedTime(start, end):
    return 1.0


# Memory


def block(nbytes):
    made = np.empty(max(nbytes, 1), np.uint8)
    memory[made.ctypes.data] = made, current()
    return made.ctypes.data


@call
def cuMemAlloc(nbytes):
    global used
    with lock:
        if used + nbytes > capacity:
            raise Failure(FULL)
        made = Handle(block(nbytes))
        used += nbytes
        return made


@call
def cuMemFree(pointer):
    global used
    cuCtxSynchronize()
    with lock:
        used -= memory.pop(int(pointer))[0].size


@call
def cuMemGetInfo():
    current()
    return capacity - used, capacity


@call
def cuPointerGetAttribute(attribute, pointer):
    found = [context for address, (made, context) in memory.items() if address <= pointer < address + made.size]
    if not found or found[0] in sick:
        raise Failure(CUresult.CUDA_ERROR_INVALID_VALUE)
    return found[0] if attribute == CONTEXT_OF else found[0].device


@call
def cuMemHostAlloc(nbytes, flags):
    page_locked.append(nbytes)
    return block(nbytes)


@call
def cuMemHostRegister(pointer, nbytes, flags):
    current()
    if pointer in registered or sum(registered.values()) + nbytes > lockable:
        raise Failure(FULL)
    registered[pointer] = nbytes


@call
def cuMemHostUnregister(pointer):
    current()
    if registered.pop(pointer, None) is None:
        raise Failure(CUresult.CUDA_ERROR_INVALID_VALUE)


@call
def cuMemcpyHtoDAsync(target, source, nbytes, stream):
    known(stream).put(lambda: move(target, source, nbytes))


@call
def cuMemcpyDtoHAsync(target, source, nbytes, stream):
    known(stream).put(lambda: move(target, source, nbytes))


@call
def cuMemcpyDtoDAsync(target, source, nbytes, stream):
    known(stream).put(lambda: move(target, source, nbytes))


@call
def cuMemcpyPeerAsync(target, to, source, context, nbytes, stream):
    known(stream).put(lambda: move(target, source, nbytes))


@call
def cuMemsetD32Async(target, value, n, stream):
    numbers = np.full(n, value, np.uint32)
    known(stream).put(lambda: move(target, numbers.ctypes.data, numbers.nbytes))


# Kernels


@call
def cuModuleLoadData(cubin):
    return Handle(context=current())


@call
def cuModuleGetFunction(module, name):
    return keep(Handle(context=current(), name=name.decode()))


@call
def cuFuncGetAttribute(attribute, function):
    return 0


@call
def cuLaunchKernel(function, x, y, z, threads, ty, tz, shared, stream, parameters, extra):
    if known(function).context != current() or known(stream).context != current():
        raise Failure(WRONG)
    known(stream).put(lambda: launches.append((x, y)))


@call
def cuLaunchKernelEx(config, function, parameters, extra):
    x, y = (ctypes.c_uint * 2).from_address(config)
    stream = known(ctypes.c_void_p.from_address(config + 32).value)
    if known(function).context != stream.context:
        raise Failure(WRONG)
    stream.put(lambda: launches.append((x, y)))


#: Addresses of functions for compiled code, and how many arguments they take.
COMPILED = dict(
    cuPointerGetAttribute=3, cuCtxSetCurrent=1, cuStreamSynchronize=1, cuMemcpyHtoDAsync=4, cuMemcpyDtoHAsync=4,
    cuLaunchKernelEx=4,
)  # fmt: skip


@functools.cache
def compiled(name):
    def function(*args):
        if name == "cuPointerGetAttribute":  # it writes what it finds where it is told
            failed, found = functions[name](*args[1:])
            if not failed:
                kind = ctypes.c_void_p if args[1] == CONTEXT_OF else ctypes.c_int
                kind.from_address(args[0]).value = int(found)
            return int(failed)
        values = [Context(args[0], device=0)] if name == "cuCtxSetCurrent" else args
        return int(functions[name](*values)[0])

    return ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int64] * COMPILED[name])(function)


@call
def cuGetProcAddress(name, version, flags):
    return ctypes.cast(compiled(name.decode()), ctypes.c_void_p).value, 0


class Names:
    """Constants, each of which is its own name."""

    def __getattr__(self, name):
        return name


def driver():
    """The module in the place of the bindings."""
    made = types.ModuleType(NAMES[-1])
    made.__dict__.update(
        functions, CUresult=CUresult, CUDA_VERSION=CUDA_VERSION, CU_MEMHOSTALLOC_PORTABLE=1, CU_MEMHOSTALLOC_DEVICEMAP=2,
        CU_MEMHOSTREGISTER_PORTABLE=1,
        CUstream_flags=types.SimpleNamespace(CU_STREAM_NON_BLOCKING=NON_BLOCKING), CUdevice_attribute=Names(),
        CUevent_flags=types.SimpleNamespace(CU_EVENT_DISABLE_TIMING=2), CUfunction_attribute=Names(),
        CUpointer_attribute=types.SimpleNamespace(
            CU_POINTER_ATTRIBUTE_CONTEXT=CONTEXT_OF, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL=9
        ),
    )  # fmt: skip
    return made


def modules():
    """The packages of the bindings, by their names."""
    made = [types.ModuleType(name) for name in NAMES[:-1]]
    made[0].bindings, made[1].driver = made[1], driver()
    return dict(zip(NAMES, [*made, made[1].driver]))


def install():
    """Let gpustats find it, and nothing that the cache or the compiler would do."""
    os.environ.pop("GPUSTATS_ARRAYS", None)
    sys.modules.update(modules())
    from gpustats.runtime import cache, nvrtc

    cache.load, cache.store = lambda key: None, lambda key, data: None
    nvrtc.compile = lambda source, arch: b""


@contextlib.contextmanager
def in_place(monkeypatch):
    """The rooms of gpustats that know CUDA, anew with this driver, by their names; afterwards they are as before."""
    import gpustats.runtime as package
    from gpustats.runtime import cache, choose, nvrtc

    reset()
    for name in MODULES:
        monkeypatch.delitem(sys.modules, f"{package.__name__}.{name}", raising=False)
        monkeypatch.delattr(package, name, raising=False)
    for name, made in modules().items():
        monkeypatch.setitem(sys.modules, name, made)
    monkeypatch.setattr(cache, "load", lambda key: None)
    monkeypatch.setattr(cache, "store", lambda key, data: None)
    monkeypatch.setattr(nvrtc, "compile", lambda source, arch: b"")
    monkeypatch.delenv("GPUSTATS_ARRAYS", raising=False)
    for name in ("_automatic", "_default"):
        monkeypatch.setattr(choose, name, None)
    choose._backend.cache_clear()
    try:
        yield types.SimpleNamespace(**{n: importlib.import_module(f"{package.__name__}.{n}") for n in MODULES})
    finally:
        choose._backend.cache_clear()
        for name in MODULES:  # what monkeypatch does not undo: it was not there
            sys.modules.pop(f"{package.__name__}.{name}", None)
            if hasattr(package, name):
                delattr(package, name)
