"""Copies from one device to another."""

import ctypes
import types

import numpy as np
import pytest

from gpustats.runtime import choose, cuda_peers


@pytest.fixture
def there(request):
    return request.getfixturevalue("like_a_gpu")


def array_of(runtime, numbers, native):
    return runtime.to_device(numbers) if native or not runtime.host_visible else numbers.copy()


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("way", ["there", "back", "around", "home"])
def test_a_part_of_an_array(way, native, there):
    """Nothing beside it changes."""
    here = choose.get()
    source, to = {"there": (here, there), "back": (there, here), "around": (there, there), "home": (here, here)}[way]
    numbers = np.arange(20.0)
    given, target = array_of(source, numbers, native), array_of(to, np.zeros(20), native)
    source.send(given[3:9], to, target[10:16])()
    got = target if isinstance(target, np.ndarray) else to.to_host(target)
    np.testing.assert_array_equal(got, np.r_[np.zeros(10), numbers[3:9], np.zeros(4)])


class Driver:
    """In the place of CUDA's driver: streams are lists of what waits in them, and work is done where they are run."""

    def __init__(self, can):
        self.streams, self.events, self.done, self.enabled, self.can = {}, {}, [], [], can

    def _new(self, place, kind):
        number = 1000 + len(self.streams) + len(self.events)
        place._obj.value = number
        kind[number] = None if kind is self.events else []
        return 0

    def cuStreamCreate(self, place, flags):
        assert flags == 1
        return self._new(place, self.streams)

    def cuEventCreate(self, place, flags):
        return self._new(place, self.events)

    def _add(self, stream, *what):
        self.streams.setdefault(stream.value, []).append(what)
        return 0

    def cuEventRecord(self, event, stream):
        return self._add(stream, "record", event.value)

    def cuStreamWaitEvent(self, stream, event, flags):
        return self._add(stream, "wait", event.value)

    def cuEventDestroy_v2(self, event):
        return 0

    def cuDeviceCanAccessPeer(self, place, one, other):
        place._obj.value = self.can
        return 0

    def cuCtxEnablePeerAccess(self, context, flags):
        self.enabled.append(context.value)
        return 0

    def cuMemcpyPeerAsync(self, target, to, source, context, nbytes, stream):
        return self._add(stream, "copy", target.value, to.value, source.value, context.value, nbytes.value)

    def cuMemcpyDtoDAsync_v2(self, target, source, nbytes, stream):
        return self._add(stream, "copy", target.value, source.value, nbytes.value)

    def run(self, order):
        """Do what waits, as far as events allow, the streams by turns in an order."""
        recorded, places = set(), dict.fromkeys(self.streams, 0)
        while any(places[s] < len(its) for s, its in self.streams.items()):
            before = dict(places)
            for stream in order(list(self.streams)):
                its = self.streams[stream]
                if places[stream] == len(its):
                    continue
                kind, *what = its[places[stream]]
                if kind == "wait" and what[0] not in recorded:
                    continue
                if kind == "record":
                    recorded.add(what[0])
                elif kind != "wait":
                    self.done.append((kind, *what))
                places[stream] += 1
            assert places != before, "streams wait for one another"


class Runtime:
    """What a copy sees of one."""

    def __init__(self, number, stream):
        self.device, self.context = types.SimpleNamespace(id=f"cuda:{number}"), types.SimpleNamespace(handle=70 + number)
        self._stream = None if stream is None else types.SimpleNamespace(handle=stream)

    def reenter(self):
        return False

    def state(self):
        return types.SimpleNamespace(stream=self._stream)


@pytest.mark.parametrize("can", [0, 1])
@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("order", [list, lambda streams: streams[::-1]], ids=["first", "last"])
def test_cuda_copies_are_in_order_with_kernels(same, can, order, monkeypatch):
    """After what was started before on both devices, before what is started after the wait, whichever stream is ahead."""
    made = Driver(can)
    monkeypatch.setattr(cuda_peers, "driver", lambda: made)
    cuda_peers._bus.cache_clear()
    source = Runtime(0, 5)
    to = source if same else Runtime(1, 6)
    streams = {5, 5 if same else 6}
    for stream in streams:
        made._add(ctypes.c_void_p(stream), "before")
    arrays = [types.SimpleNamespace(ptr=ptr, nbytes=48) for ptr in (100, 200)]
    wait = cuda_peers.send(source, arrays[0], to, arrays[1])
    for stream in streams:
        made._add(ctypes.c_void_p(stream), "beside")
    wait()
    for stream in streams:
        made._add(ctypes.c_void_p(stream), "after")
    made.run(order)
    names = [name for name, *_ in made.done]
    assert names.count("before") == names[: names.index("copy")].count("before") == len(streams)
    assert names.count("after") == names[names.index("copy") :].count("after") == len(streams)
    assert ("copy", 200, 100, 48) in made.done if same else ("copy", 200, 71, 100, 70, 48) in made.done
    assert made.enabled == ([] if same or not can else [71])
    cuda_peers._bus.cache_clear()


def test_an_error_of_the_driver_is_told(monkeypatch):
    made = Driver(1)
    made.cuStreamCreate = lambda place, flags: 2
    monkeypatch.setattr(cuda_peers, "driver", lambda: made)
    cuda_peers._bus.cache_clear()
    runtime, array = Runtime(0, None), types.SimpleNamespace(ptr=8, nbytes=8)
    with pytest.raises(RuntimeError, match="copy between CUDA devices failed: error 2 of cuStreamCreate"):
        cuda_peers.send(runtime, array, runtime, array)
