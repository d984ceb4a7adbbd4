"""NVIDIA's wheels: what is said of drivers and devices that do not go with them."""

import pytest

from gpustats.runtime import cuda_wheels

NEWER = {"nvidia-cublas": "13.10.0", "nvidia-cusolver": "12.4.1", "nvidia-nvjitlink": "13.5.37"}


@pytest.fixture
def wheels(monkeypatch):
    """The wheels of an environment; a test adds."""
    versions = {}
    monkeypatch.setattr(cuda_wheels, "installed", lambda: dict(versions))
    return versions


def test_the_newest_library_is_loaded(wheels):
    wheels |= {"cuda-bindings": "12.9.10", "nvidia-cublas-cu12": "12.9.3"} | NEWER
    assert cuda_wheels.loaded() == {"cuda-bindings": "12.9.10"} | NEWER
    words = "cuda-bindings 12.9.10 is of CUDA 12, and libraries of CUDA 13 would be loaded"
    assert words in cuda_wheels.mixed() and words in cuda_wheels.mixed(12090) and cuda_wheels.mixed(13000) == ""
    wheels["cuda-bindings"] = "13.5.0"
    assert cuda_wheels.mixed() == ""


def test_cures(wheels):
    assert cuda_wheels.cure(12) == ["pip install 'gpustats[cuda12]'"]
    wheels |= {"cuda-bindings": "13.5.0"} | NEWER
    assert cuda_wheels.cure(13) == ["pip install 'gpustats[cuda13]'"]
    assert cuda_wheels.cure(12)[0] == "pip uninstall -y nvidia-cublas nvidia-cusolver nvidia-nvjitlink"


@pytest.mark.parametrize(
    "driver, capability, major", [(13000, (7, 5), 13), (None, (9, 0), 13), (12080, (9, 0), 12), (13000, (7, 0), 12)]
)
def test_the_cure_for_a_driver_and_a_device(driver, capability, major, wheels):
    assert cuda_wheels.cure_for(driver, [capability]) == [f"pip install 'gpustats[cuda{major}]'"]


def test_a_driver_too_old(wheels):
    words = cuda_wheels.too_old(12080, cuda_wheels.cuda_of("13.5.0"))
    assert "serves CUDA 12.8" in words and "of CUDA 13.5: pip install 'gpustats[cuda12]'" in words and "580 or later" in words
    assert "pip" not in cuda_wheels.too_old(11040, 13050)  # no wheels are for so old a driver


def test_a_driver_that_does_not_load(monkeypatch):
    monkeypatch.setattr(cuda_wheels.platform, "release", lambda: "6.8.0-generic")
    assert "docker run --gpus all" in cuda_wheels.no_driver("no file")
    monkeypatch.setattr(cuda_wheels.platform, "release", lambda: "5.15.153.1-microsoft-standard-WSL2")
    assert cuda_wheels.no_driver("no file").endswith("(no file): install NVIDIA's driver in Windows, and none in WSL")


def test_no_device(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert "serves CUDA 13.0, finds no device: `nvidia-smi -L`" in cuda_wheels.no_device(13000)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert cuda_wheels.no_device(13000).endswith("unset CUDA_VISIBLE_DEVICES, which is ''")


def test_devices_too_old(wheels):
    assert cuda_wheels.too_weak("H100", (9, 0), 75) == cuda_wheels.too_weak("V100", (7, 0), 50) == ""
    assert "K80 has compute capability 3.7, and gpustats needs 5.0 or later" in cuda_wheels.too_weak("K80", (3, 7), 50)
    assert "compiles for 7.5 or later: pip install 'gpustats[cuda12]'" in cuda_wheels.too_weak("V100", (7, 0), 75)
