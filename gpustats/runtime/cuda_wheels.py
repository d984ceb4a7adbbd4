"""NVIDIA's wheels of this environment, and what to do where they and the driver do not go together."""

from __future__ import annotations

import re
from importlib import metadata

#: The least versions of NVIDIA's driver for Linux, by the major version of CUDA.
DRIVERS = {12: "525", 13: "580"}
NO_DRIVER = "install NVIDIA's driver; in a container, run it with `docker run --gpus all`"
#: The oldest devices that gpustats computes on, by their compute capability.
LEAST_CAPABILITY = (5, 0)

_NAME = re.compile(r"cuda-bindings|nvidia-(?:cublas|cusolver|cuda-nvrtc)(?:-cu\d+)?")


def installed() -> dict[str, str]:
    """Versions of the wheels of CUDA that gpustats uses, by their names."""
    found = {(d.metadata["Name"] or "").lower().replace("_", "-"): d.version for d in metadata.distributions()}
    return {name: version for name, version in sorted(found.items()) if _NAME.fullmatch(name)}


def majors() -> dict[int, list[str]]:
    """Wheels of each major version of CUDA, as "name version"."""
    by_major: dict[int, list[str]] = {}
    for name, version in installed().items():
        suffix = re.search(r"-cu(\d+)$", name)
        # Without a suffix, NVRTC and the bindings have CUDA's own version, and the libraries of CUDA 13 have theirs.
        own = int(version.partition(".")[0]) if "nvrtc" in name or name == "cuda-bindings" else 13
        by_major.setdefault(int(suffix[1]) if suffix else own, []).append(f"{name} {version}")
    return by_major


def mixed() -> str:
    """Words on an environment whose wheels are of several major versions of CUDA; "" where they are not."""
    by_major = majors()
    if len(by_major) < 2:
        return ""
    each = "; ".join(f"CUDA {major}: {', '.join(names)}" for major, names in sorted(by_major.items()))
    return (
        f"this environment has wheels of {len(by_major)} versions of CUDA ({each}). Install one of them anew: "
        "pip install --force-reinstall 'gpustats[cuda12]' or 'gpustats[cuda13]', and uninstall what is named for the other"
    )


def text(version: int) -> str:
    """Version as people write it: 13000 is 13.0."""
    return f"{version // 1000}.{version % 1000 // 10}"


def too_old(driver: int, wheels: int) -> str:
    """Words on a driver that is older than the wheels."""
    ours, major = wheels // 1000, driver // 1000
    with_older = f"pip install 'gpustats[cuda{major}]', or " if major in DRIVERS else ""
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
            "pip install 'gpustats[cuda12]', whose NVRTC compiles for 5.0 or later"
        )
    return ""
