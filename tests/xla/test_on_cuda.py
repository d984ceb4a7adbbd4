"""Calls of XLA on GPUs, here of devices that are made up: each call has the work done by the device of its stream."""

import ctypes

import numpy as np
import pytest

from gpustats.runtime.replay import Command, Enqueued

numba = pytest.importorskip("numba")
pytest.importorskip("jax")
pytest.importorskip("cuda.bindings")

from gpustats.runtime import cuda_driver  # noqa: E402
from gpustats.xla import frames, on_cuda  # noqa: E402

CONTEXTS = {101: 11, 102: 12, 103: 13, 201: 12}  # of streams
N_GIVEN, N_FOUND = 2, 3


def c_function(function, n_arguments, result=ctypes.c_int):
    made = ctypes.CFUNCTYPE(result, *[ctypes.c_int64] * n_arguments)(function)
    return made, ctypes.cast(made, ctypes.c_void_p).value


def written(place, value):
    ctypes.c_int64.from_address(place).value = value
    return 0


def words(size, **at):
    found = np.zeros(size, np.int64)
    for place, value in at.items():
        found[getattr(frames, place)] = value
    return found


class Device:
    """Device whose work notes with which stream and which buffers it was started."""

    def __init__(self, context, started, result=0):
        self.places, self.started = np.zeros(3, np.int64), started
        self.function, address = c_function(lambda k: started.append((context, k, *self.places)) or result, 1)
        stream, given, found = ([self.places.ctypes.data + 8 * i] for i in range(3))
        self.work = Enqueued([Command(address, (7,)), Command(address, (8,))], stream, given, found, context, [self])


@pytest.fixture
def run(monkeypatch):
    """Function of a program, a stream and a number of lines, as XLA calls that of `on_cuda`."""
    registered, alive = [], []
    context_of, address = c_function(lambda stream, place: written(place, CONTEXTS[stream]), 2)
    alive.append(context_of)
    monkeypatch.setattr(cuda_driver, "address", {"cuStreamGetCtx": address}.__getitem__)
    monkeypatch.setattr(frames, "register", lambda name, platform, function, traits: registered.append(function))
    on_cuda.register.__wrapped__()
    compiled = numba.njit(registered[0])

    def called(program, stream, n_lines=1):
        get_stream, get = c_function(lambda its: written(its + 8 * 3, stream), 1, ctypes.c_int64)
        create_error, create = c_function(lambda error: error, 1, ctypes.c_int64)
        api = words(16, GET_STREAM=get, CREATE_ERROR=create)
        lengths = [np.array([n_lines * n]) for n in (N_GIVEN, N_FOUND)]
        buffers = [words(8, DATA=d, RANK=1, LENGTHS=its.ctypes.data) for d, its in zip((1000, 5000), lengths)]
        ends = [np.array([b.ctypes.data]) for b in buffers]
        values = [np.array([program.place]), np.array([program.token])]
        scalars = [np.array([0, v.ctypes.data]) for v in values]
        attributes = np.array([s.ctypes.data for s in scalars])
        alike = {"API": api, "ARGUMENTS": ends[0], "RESULTS": ends[1], "ATTRIBUTES": attributes}
        frame = words(32, **{name: its.ctypes.data for name, its in alike.items()})
        alive.extend([get_stream, create_error])
        return compiled(frame.ctypes.data)

    return called


def test_the_device_of_the_stream_does_the_work(run):
    started = []
    devices = [Device(context, started) for context in (11, 12, 13)]
    program = on_cuda.program([d.work for d in devices], N_GIVEN, N_FOUND, 8)
    for stream in (102, 101, 103, 201, 101):
        assert run(program, stream, 2) == 0
        lines = [(stream, 1000, 5000), (stream, 1000 + 8 * N_GIVEN, 5000 + 8 * N_FOUND)]
        assert started == [(CONTEXTS[stream], k, *line) for line in lines for k in (7, 8)]
        started.clear()


def test_a_device_without_a_copy(run):
    started = []
    program = on_cuda.program([Device(context, started).work for context in (11, 13)], N_GIVEN, N_FOUND, 8)
    for stream in (102, 201):
        assert run(program, stream) == frames.ELSEWHERE
    assert not started
    assert run(program, 103) == 0  # the next call is free to work
    assert len(started) == 2


def test_a_copy_that_fails(run):
    started = []
    devices = [Device(11, started), Device(12, started, result=719)]
    program = on_cuda.program([d.work for d in devices], N_GIVEN, N_FOUND, 8)
    assert [run(program, stream) for stream in (102, 101, 102)] == [frames.FAILED, 0, frames.FAILED]
