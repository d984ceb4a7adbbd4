"""NVIDIA's wheels of this environment, and what to do where they, the driver and the devices do not go together."""

from __future__ import annotations

import os
import platform
import re
from importlib import metadata

#: The least versions of NVIDIA's driver for Linux, by the major version of CUDA.
DRIVERS = {12: "525", 13: "580"}
#: The oldest devices that gpustats computes on, by their compute capability.
LEAST_CAPABILITY = (5, 0)
BINDINGS = "cuda-bindings"
#: The libraries that gpustats calls, by the names under which NVIDIA's bindings look for them.
LIBRARIES = {"nvrtc": "NVRTC", "cublas": "cuBLAS", "cusolver": "cuSOLVER"}

_NAME = re.compile(r"cuda-bindings|nvidia-(?P<library>cublas|cusolver|cusparse|nvjitlink|cuda-nvrtc)(?:-cu(?P<major>\d+))?")
#: Wheels whose version is CUDA's own; the others without a suffix have their own version, and are of CUDA 13.
_AS_CUDA = re.compile(r"cuda-bindings|nvidia-(?:cublas|nvjitlink|cuda-nvrtc)")


def installed() -> dict[str, str]:
    """Versions of the wheels of CUDA that gpustats uses, by their names."""
    found = {(d.metadata["Name"] or "").lower().replace("_", "-"): d.version for d in metadata.distributions()}
    return {name: version for name, version in sorted(found.items()) if _NAME.fullmatch(name)}


def major_of(name: str, version: str) -> int:
    """Major version of CUDA that a wheel is of."""
    matched = _NAME.fullmatch(name)
    if matched is not None and matched["major"]:
        return int(matched["major"])
    return int(version.partition(".")[0]) if _AS_CUDA.fullmatch(name) else 13


def loaded() -> dict[str, str]:
    """Wheels from which the libraries come, and the bindings', as in `installed`.

    Where there are wheels of several versions for a library, NVIDIA's search takes the newest, whatever the bindings are of.
    """
    newest: dict[str, tuple[int, str, str]] = {}
    for name, version in installed().items():
        matched = _NAME.fullmatch(name)
        assert matched is not None
        library = matched["library"] or name
        newest[library] = max(newest.get(library, (0, "", "")), (major_of(name, version), name, version))
    return {name: version for _, name, version in newest.values()}


def mixed(driver: int | None = None) -> str:
    """Words on libraries that are of another version of CUDA than the bindings; "" where it does no harm.

    Wheels that no library is loaded from do none, such as those of a PyTorch for CUDA 12 beside gpustats[cuda13].

    Parameters
    ----------
    driver : int, optional
        The version of CUDA that the driver serves, such as 13000. Libraries that are newer than the bindings do no harm if
        the driver serves their version.
    """
    wheels = loaded()
    if BINDINGS not in wheels:
        return ""
    own, served = major_of(BINDINGS, wheels[BINDINGS]), (driver or 0) // 1000
    others = {name: major for name in wheels if (major := major_of(name, wheels[name])) != own and not own < major <= served}
    if not others:
        return ""
    major = max(others.values())
    listed = ", ".join(f"{name} {wheels[name]}" for name in others)
    return (
        f"{BINDINGS} {wheels[BINDINGS]} is of CUDA {own}, and libraries of CUDA {major} would be loaded ({listed}): "
        f"{' and then '.join(cure(own))}"
    )


def cure(major: int) -> list[str]:
    """Commands after which gpustats has the wheels of a major version of CUDA, and loads no newer ones."""
    newer = [name for name, version in installed().items() if major_of(name, version) > major and name != BINDINGS]
    return [f"pip uninstall -y {' '.join(newer)}"] * bool(newer) + [f"pip install 'gpustats[cuda{major}]'"]


def cure_for(driver: int | None, capabilities: list[tuple[int, int]]) -> list[str]:
    """Commands that install the wheels for a driver, and for devices of these compute capabilities."""
    old = any(LEAST_CAPABILITY <= capability < (7, 5) for capability in capabilities)  # which NVRTC 13 does not know
    return cure(13 if not old and (driver is None or driver >= 13000) else 12)


def cuda_of(bindings: str) -> int:
    """Version of CUDA, as the driver counts it, of which bindings are: 13050 for 13.5.0."""
    major, minor = bindings.split(".")[:2]
    return 1000 * int(major) + 10 * int(minor)


def text(version: int) -> str:
    """Version as people write it: 13000 is 13.0."""
    return f"{version // 1000}.{version % 1000 // 10}"


def no_driver(reason: str) -> str:
    """Words on a driver that does not load."""
    if "microsoft" in platform.release().lower():
        return f"the NVIDIA driver does not load ({reason}): install NVIDIA's driver in Windows, and none in WSL"
    return f"the NVIDIA driver does not load ({reason}): install it; in a container, run it with `docker run --gpus all`"


def no_device(driver: int) -> str:
    """Words on a driver that finds no device."""
    found = f"the NVIDIA driver, which serves CUDA {text(driver)}, finds no device"
    if (hidden := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return f"{found}: unset CUDA_VISIBLE_DEVICES, which is {hidden!r}"
    return f"{found}: `nvidia-smi -L` lists those of the machine; a container shows those of `docker run --gpus all`"


def too_old(driver: int, wheels: int) -> str:
    """Words on a driver that is older than the wheels."""
    ours, major = wheels // 1000, driver // 1000
    with_older = f"{' and then '.join(cure(major))}, or " if major in DRIVERS else ""
    least = f" ({DRIVERS[ours]} or later on Linux)" if ours in DRIVERS else ""
    return (
        f"the NVIDIA driver serves CUDA {text(driver)}, and the wheels in this environment are of CUDA {text(wheels)}: "
        f"{with_older}install a driver of CUDA {ours}{least}"
    )


def too_weak(name: str, capability: tuple[int, int], compiled: int | None) -> str:
    """Words on a device that is too old, or "".

    Parameters
    ----------
    compiled : int or None
        The least compute capability that NVRTC compiles for, ten times, such as 75; None where it does not tell.
    """
    has = "{}.{}".format(*capability)
    if capability < LEAST_CAPABILITY:
        least = "{}.{}".format(*LEAST_CAPABILITY)
        return f"{name} has compute capability {has}, and gpustats needs {least} or later: use NVIDIA's OpenCL driver"
    if compiled is not None and 10 * capability[0] + capability[1] < compiled:
        return (
            f"{name} has compute capability {has}, and the NVRTC in this environment compiles for {compiled / 10} or later: "
            f"{' and then '.join(cure(12))}, whose NVRTC compiles for 5.0 or later"
        )
    return ""


def library(name: str) -> tuple[str, str]:
    """File of one of `LIBRARIES`, which is loaded, and why there is none, one of which is ""."""
    try:
        from cuda import pathfinder  # it comes with the bindings

        return str(pathfinder.load_nvidia_dynamic_lib(name).abs_path), ""
    except Exception as error:  # ImportError, or what the search raises
        return "", first_line(error)


def first_line(error: Exception) -> str:
    """Beginning of what NVIDIA's search says; lists of folders follow."""
    return str(error).partition("\n")[0]
