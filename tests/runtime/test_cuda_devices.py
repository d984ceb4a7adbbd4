"""CUDA devices that cannot be used, on a stand-in for the driver: what is wrong, with versions, and the cure."""

import cuda_stand_in
import numpy as np
import pytest

import gpustats as gs
from gpustats.runtime import choose, nvrtc


@pytest.fixture
def rooms(monkeypatch):
    with cuda_stand_in.in_place(monkeypatch) as rooms:
        yield rooms


def refused(*words):
    """Both where the device is asked for and where one is looked for."""
    _, reasons = choose.look(("cuda",))
    with pytest.raises((gs.NoDeviceError, ValueError)) as raised:
        gs.use("cuda:0")
    for text in (str(raised.value), *reasons):
        assert all(word in text for word in words), text
    assert reasons


def test_a_device(rooms):
    (device,), reasons = choose.look(("cuda",))
    assert (device.id, device.name, device.driver, device.double, reasons) == ("cuda:0", "a GPU", "CUDA 13.0", True, [])
    assert device.products and device.cluster == 8 and choose.get("cuda:0").arch == "sm_90"


def test_no_driver(rooms, monkeypatch):
    def fails(flags):
        raise RuntimeError("libcuda.so.1 is not found\nin many words")

    monkeypatch.setattr(rooms.cuda_driver.cu, "cuInit", fails)
    refused("NVIDIA driver", "libcuda.so.1 is not found", "install")


@pytest.mark.parametrize("driver, cure", [(12040, "gpustats[cuda12]"), (11080, "580")])
def test_a_driver_older_than_the_wheels(rooms, monkeypatch, driver, cure):
    monkeypatch.setattr(rooms.cuda_driver.cu, "cuDriverGetVersion", lambda: (0, driver))
    refused(f"CUDA {driver // 1000}.{driver % 1000 // 10}", "CUDA 13.0", cure)


def test_a_newer_driver_will_do(rooms, monkeypatch):
    monkeypatch.setattr(rooms.cuda_driver.cu, "cuDriverGetVersion", lambda: (0, 14010))
    assert choose.get("cuda:0").device.driver == "CUDA 14.1"


def test_no_device(rooms, monkeypatch):
    monkeypatch.setattr(cuda_stand_in, "devices", 0)
    refused("CUDA 13.0", "no")


@pytest.mark.parametrize("capability, least, words", [
    ((3, 7), 30, ("3.7", "5.0")), ((6, 1), 75, ("6.1", "7.5", "gpustats[cuda12]")), ((7, 0), 75, ("7.0", "7.5")),
])  # fmt: skip
def test_a_device_too_old(rooms, monkeypatch, capability, least, words):
    monkeypatch.setattr(rooms.cuda_devices, "capability", lambda number: capability)
    monkeypatch.setattr(nvrtc, "least_capability", lambda: least)
    refused("a GPU", *words)


def test_a_device_too_old_beside_one_that_will_do(rooms, monkeypatch):
    monkeypatch.setattr(cuda_stand_in, "devices", 2)
    monkeypatch.setattr(rooms.cuda_devices, "capability", lambda number: ((3, 7), (9, 0))[number])
    assert [device.id for device in choose.look(("cuda",))[0]] == ["cuda:1"]
    assert choose.get("cuda").device.id == "cuda:1"


def test_an_array_of_another_library_on_the_second_device(rooms, monkeypatch):
    monkeypatch.setattr(cuda_stand_in, "devices", 2)
    there = choose.get("cuda:1").to_device(np.zeros(5))

    class Theirs:
        __cuda_array_interface__ = there.__cuda_array_interface__

    assert choose.for_array(Theirs()).device.id == "cuda:1"
    Theirs.__cuda_array_interface__ = there.__cuda_array_interface__ | {"data": (64, False)}
    with pytest.raises(ValueError, match="0x40 is none that CUDA knows"):
        choose.for_array(Theirs())
