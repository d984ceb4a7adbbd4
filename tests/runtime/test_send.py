"""Copies from one device to another."""

import types

import cuda_stand_in
import numpy as np
import pytest

from gpustats.runtime import choose


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

    def _new(self, kind):
        number = 1000 + len(self.streams) + len(self.events)
        kind[number] = None if kind is self.events else []
        return 0, number

    def _add(self, stream, *what):
        self.streams.setdefault(stream, []).append(what)
        return (0,)

    def cuStreamCreate(self, flags):
        assert flags == 1
        return self._new(self.streams)

    def cuEventCreate(self, flags):
        return self._new(self.events)

    def cuEventRecord(self, event, stream):
        return self._add(stream, "record", event)

    def cuStreamWaitEvent(self, stream, event, flags):
        return self._add(stream, "wait", event)

    def cuEventDestroy(self, event):
        return (0,)

    def cuDeviceGet(self, number):
        return 0, number

    def cuDeviceCanAccessPeer(self, one, other):
        return 0, self.can

    def cuCtxEnablePeerAccess(self, context, flags):
        self.enabled.append(context)
        return (0,)

    def cuMemcpyPeerAsync(self, target, to, source, context, nbytes, stream):
        return self._add(stream, "copy", target, to, source, context, nbytes)

    def cuMemcpyDtoDAsync(self, target, source, nbytes, stream):
        return self._add(stream, "copy", target, source, nbytes)

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
        self.number, self.context, self._stream = number, 70 + number, stream

    def reenter(self):
        return False

    def state(self):
        return types.SimpleNamespace(stream=self._stream)


@pytest.fixture
def peers(monkeypatch):
    """The room of these copies, and a function that has it and its calls use a driver."""
    with cuda_stand_in.in_place(monkeypatch) as rooms:

        def use(driver):
            monkeypatch.setattr(rooms.cuda_peers, "cu", driver)
            for name in ("cuStreamCreate", "cuEventCreate"):
                monkeypatch.setattr(rooms.cuda_driver.cu, name, getattr(driver, name))
            return driver

        yield rooms.cuda_peers, use


@pytest.mark.parametrize("can", [0, 1])
@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("order", [list, lambda streams: streams[::-1]], ids=["first", "last"])
def test_cuda_copies_are_in_order_with_kernels(same, can, order, peers):
    """After what was started before on both devices, before what is started after the wait, whichever stream is ahead."""
    room, use = peers
    made, source = use(Driver(can)), Runtime(0, 5)
    to = source if same else Runtime(1, 6)
    streams = {5, 5 if same else 6}
    for stream in streams:
        made._add(stream, "before")
    arrays = [types.SimpleNamespace(ptr=ptr, nbytes=48) for ptr in (100, 200)]
    wait = room.send(source, arrays[0], to, arrays[1])
    for stream in streams:
        made._add(stream, "beside")
    wait()
    for stream in streams:
        made._add(stream, "after")
    made.run(order)
    names = [name for name, *_ in made.done]
    assert names.count("before") == names[: names.index("copy")].count("before") == len(streams)
    assert names.count("after") == names[names.index("copy") :].count("after") == len(streams)
    assert ("copy", 200, 100, 48) in made.done if same else ("copy", 200, 71, 100, 70, 48) in made.done
    assert made.enabled == ([] if same or not can else [71])


def test_an_error_of_the_driver_is_told(peers):
    room, use = peers
    made = Driver(1)
    made.cuStreamCreate = lambda flags: (cuda_stand_in.CUresult.CUDA_ERROR_INVALID_VALUE, None)
    use(made)
    runtime, array = Runtime(0, 3), types.SimpleNamespace(ptr=8, nbytes=8)
    with pytest.raises(Exception, match="CUDA_ERROR_INVALID_VALUE"):
        room.send(runtime, array, runtime, array)
