"""Software and drivers that a machine has for gpustats, and commands that install the rest."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import gpustats as gs

from ..runtime import icd, nvrtc

PCI_DEVICES = Path("/sys/bus/pci/devices")
NVIDIA_VENDOR, DISPLAY_CLASS = "0x10de", "0x03"  # PCI numbers; the second begins those of graphics processors
CUDA_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
PYCUDA_HEADERS = ("cuda.h", "cudaProfiler.h", "curand.h")  # what PyCUDA includes; some toolkits lack the last
OPTIONAL_EXTRAS = ("pymc", "dask")  # extras beside those that bring a device

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*(?:\[[^\]]*\])?\s*\(?(?P<versions>[^;()]*)\)?\s*(?:;\s*(?P<marker>.*))?")

#: PyCUDA is published as source. Its build wants CUDA's headers, which NVIDIA's wheels have, and two libraries by the names
#: that linkers look for, which neither these wheels nor most drivers have. What is built knows the environment's folders, so
#: it must not go to pip's cache, from which other environments would take it.
WITHOUT_TOOLKIT = """\
pip install 'nvmath-python[cu{major}]' {headers}   # CUDA's headers and libraries, with which PyCUDA is compiled
nvidia=$(python -c 'import nvidia; print(list(nvidia.__path__)[0])'); links=$(mktemp -d)
curand=$(echo "$nvidia"/*/lib/libcurand.so.10); ln -s "$curand" "$links/libcurand.so"
ln -s {driver} "$links/libcuda.so"
export CPATH=$(echo "$nvidia"/*/include | tr ' ' :) LDFLAGS="-L$links -Wl,-rpath,${{curand%/*}}"
pip install --no-cache-dir 'gpustats[cuda{major}]'"""
#: The wheels with the headers that nvmath-python does not bring: cudaProfiler.h, crt/host_config.h.
MORE_HEADERS = {
    "12": "nvidia-cuda-profiler-api-cu12 nvidia-cuda-nvcc-cu12",
    "13": "nvidia-cuda-profiler-api nvidia-cuda-crt",
}


@dataclass(frozen=True)
class Found:
    """Part of the installation that was looked for."""

    what: str
    version: str  #: "" where it is not there, or does not work
    note: str = ""  #: place of the part, or why it does not work


@dataclass(frozen=True)
class Lack:
    """Missing part of the installation, and its cure."""

    extra: str  #: of the package that needs the part: "cpu", "cuda13"; "" for the package itself
    why: str  #: the missing part
    cure: str  #: what to do: commands of a shell, but for lines that begin with #


@dataclass
class Findings:
    found: list[Found] = field(default_factory=list)
    lacks: list[Lack] = field(default_factory=list)

    def add(self, what: str, version: str, note: str = "") -> None:
        self.found.append(Found(what, version, note))

    def lack(self, extra: str, why: str, cure: str) -> None:
        self.lacks.append(Lack(extra, why, cure))


def look() -> Findings:
    """Findings that need no computation."""
    findings = Findings()
    findings.add("Python", platform.python_version(), sys.executable)
    findings.add("gpustats", gs.__version__, str(Path(gs.__file__).parent))
    required = requirements()
    packages(findings, required)
    opencl(findings)
    cuda(findings, required)
    for extra in OPTIONAL_EXTRAS:
        if missing := [why for why in map(unmet, required.get(extra, [])) if why]:
            findings.lack(extra, "; ".join(missing), install(extra))
    return findings


def install(extra: str) -> str:
    return f"pip install 'gpustats[{extra}]'"


@dataclass(frozen=True)
class Requirement:
    name: str
    least: str  #: version; "" for any


def requirements() -> dict[str, list[Requirement]]:
    """Requirements of each extra on this machine; those of the package itself under "".

    Empty where the package is not installed.
    """
    by_extra: dict[str, list[Requirement]] = {}
    try:
        lines = metadata.requires("gpustats") or []
    except metadata.PackageNotFoundError:
        return by_extra
    for line in lines:
        matched = _REQUIREMENT.match(line)
        assert matched is not None
        marker = matched["marker"] or ""
        extra = re.search(r"""extra\s*==\s*['"]([^'"]+)['"]""", marker)
        this_machine = (sys.platform, platform.machine()) if "platform_machine" in marker else ()
        if matched["name"] != "gpustats" and all(word in marker for word in this_machine):
            least = re.search(r">=\s*([\w.]+)", matched["versions"])
            requirement = Requirement(matched["name"], least[1] if least else "")
            by_extra.setdefault(extra[1] if extra else "", []).append(requirement)
    return by_extra


def unmet(requirement: Requirement) -> str:
    """Defect of a package that is needed; "" where there is none."""
    version = version_of(requirement.name)
    if not version:
        return f"{requirement.name} is not installed"
    if requirement.least and numbers(version) < numbers(requirement.least):
        return f"{requirement.name} {version} is older than {requirement.least}"
    return ""


def version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def numbers(version: str) -> tuple[int, ...]:
    """Numbers with which a version begins.

    >>> numbers("2026.1rc1") < numbers("2026.1.4")
    True
    """
    beginning = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, beginning[0].split("."))) if beginning else ()


def packages(findings: Findings, required: dict[str, list[Requirement]]) -> None:
    if not required:
        findings.add("requirements", "", "unknown: gpustats is not installed, but imported from a folder")
    for requirement in required.get("", []):
        why = unmet(requirement)
        findings.add(requirement.name, version_of(requirement.name), why)
        if why:
            least = f">={requirement.least}" if requirement.least else ""
            findings.lack("", why, f"pip install --upgrade '{requirement.name}{least}'")
    for extra in OPTIONAL_EXTRAS:
        for requirement in required.get(extra, []):
            if version := version_of(requirement.name):
                findings.add(requirement.name, version, unmet(requirement))


def opencl(findings: Findings) -> None:
    """Look for the loader, the drivers that it finds, and a runtime for the CPU."""
    try:
        from ..runtime import opencl_devices

        devices = opencl_devices.cl_devices()
    except Exception as error:  # no PyOpenCL, or whatever the loader raises where there is no driver
        devices, reason = [], str(error)
    else:
        reason = "" if devices else "no device"
    if loader := mapped("libOpenCL"):
        findings.add("OpenCL loader", "found", loader)
    for file in icd.registered():
        library = file.read_text(errors="replace").strip()
        there = not os.path.isabs(library) or os.path.exists(library)
        findings.add("OpenCL driver", "registered" if there else "", f"{file}: {library}{'' if there else ', no such file'}")
    if path := icd.intel_runtime():
        findings.add("Intel's OpenCL runtime", version_of("intel-opencl-rt"), str(path))
    platforms = {platform.name.strip(): platform.version for platform in (device.platform for device in devices)}
    for name, version in platforms.items():
        findings.add(f"OpenCL platform {name}", version)
    if not platforms:
        findings.add("OpenCL platform", "", icd.missing() or reason)
    if not any("Oclgrind" not in device.name and device.type & 2 for device in devices):  # 2: CL_DEVICE_TYPE_CPU
        by_wheel = (sys.platform, platform.machine()) in {("linux", "x86_64"), ("win32", "AMD64")}
        pocl = "apt install pocl-opencl-icd   # or conda install -c conda-forge pocl"
        why = icd.missing() or "no OpenCL runtime for the CPU"
        if icd.intel_runtime() and os.environ.get("OCL_ICD_VENDORS"):
            findings.lack("cpu", f"{why}: OCL_ICD_VENDORS hides that of the wheels", "unset OCL_ICD_VENDORS")
        else:
            findings.lack("cpu", why, install("cpu") if by_wheel else pocl)


def mapped(library: str) -> str:
    """File of a shared library that this process has loaded; "" where it has not, or the system does not tell."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/maps").read_text().splitlines():
            if library in (path := line.partition("/")[2]).rpartition("/")[2]:
                return f"/{path}"
    return ""


def cuda(findings: Findings, required: dict[str, list[Requirement]]) -> None:
    """Look for NVIDIA's driver, the compilers and PyCUDA."""
    driver, why = cuda_driver()
    findings.add("NVIDIA driver", f"CUDA {driver[0]}.{driver[1]}" if driver else "", mapped("libcuda") if driver else why)
    nvcc = nvrtc.find_nvcc()
    findings.add("CUDA toolkit (nvcc)", nvcc_version(nvcc) if nvcc else "", nvcc or "")
    version, reason = nvrtc.version()
    findings.add("NVRTC", "{}.{}".format(*version) if version else "", reason)
    pycuda = version_of("pycuda")
    broken = pycuda and pycuda_fails()
    findings.add("PyCUDA", "" if broken else pycuda, broken or "")
    findings.add("nvmath-python", version_of("nvmath-python"))
    if driver is None:
        if nvidia_card():
            findings.lack(
                "cuda13", f"an NVIDIA GPU is there, and its driver is not: {why}",
                "# install NVIDIA's driver; in a container: docker run --gpus all",
            )  # fmt: skip
        return
    extra = "cuda13" if driver[0] >= 13 else "cuda12"
    missing = [why for why in map(unmet, required.get(extra, [])) if why]
    if version and version[0] > driver[0]:
        missing.append(f"NVRTC {version[0]}.{version[1]} is newer than the driver, which has CUDA {driver[0]}.{driver[1]}")
    if broken:
        missing.append(f"PyCUDA does not load: {broken}")
    if not missing:
        return
    again = "pip uninstall -y pycuda; export PIP_NO_CACHE_DIR=1   # what was built of it does not fit\n" if broken else ""
    cure = install(extra) if pycuda and not broken else install_pycuda(extra, nvcc)
    findings.lack(extra, "; ".join(missing), again + cure)


def install_pycuda(extra: str, nvcc: str | None) -> str:
    """Commands that install an extra and compile PyCUDA, which takes the toolkit whose nvcc is the first on PATH."""
    if sys.platform == "win32":
        visual = "# with Visual Studio's C++ compiler, and CUDA's toolkit from https://developer.nvidia.com/cuda-downloads"
        return f"{visual}\n{install(extra)}"
    compiler = "" if shutil.which("g++") else "apt install g++ python3-dev   # what compiles PyCUDA\n"
    if nvcc is None or not all((Path(nvcc).parents[1] / "include" / header).exists() for header in PYCUDA_HEADERS):
        return compiler + pycuda_without_toolkit(extra[-2:], mapped("libcuda"))
    folder = "" if nvcc == shutil.which("nvcc") else f"PATH={Path(nvcc).parent}:$PATH "
    return compiler + folder + install(extra)


def pycuda_without_toolkit(major: str, driver: str = "") -> str:
    """Commands that install PyCUDA where there is no CUDA toolkit, or one without cuRAND.

    `major` is the major version of CUDA, "12" or "13", and `driver` the file of the driver's library.
    """
    driver = driver or "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
    return WITHOUT_TOOLKIT.format(major=major, driver=driver, headers=MORE_HEADERS[major])


def cuda_driver() -> tuple[tuple[int, int] | None, str]:
    """Version of CUDA that the driver has, or None and why there is none."""
    try:
        library: Any = ctypes.CDLL(CUDA_LIBRARY)
    except OSError:
        return None, f"there is no {CUDA_LIBRARY}"
    version = ctypes.c_int()
    if status := library.cuInit(0) or library.cuDriverGetVersion(ctypes.byref(version)):
        return None, f"{CUDA_LIBRARY} is there and does not start: CUDA's error {status}"
    return (version.value // 1000, version.value % 1000 // 10), ""


def nvidia_card() -> bool:
    """True if the machine has a graphics processor of NVIDIA's, as Linux tells."""
    with contextlib.suppress(OSError):
        for card in PCI_DEVICES.iterdir():
            vendor, kind = (card / "vendor").read_text().strip(), (card / "class").read_text()
            if vendor == NVIDIA_VENDOR and kind.startswith(DISPLAY_CLASS):
                return True
    return False


def nvcc_version(nvcc: str) -> str:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        printed = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=20).stdout
        if matched := re.search(r"release ([\d.]+)", printed):
            return matched[1]
    return "unknown"


def pycuda_fails() -> str:
    """Reason why PyCUDA's compiled part does not load; "" where it does."""
    try:
        import pycuda.driver  # noqa: F401
    except Exception as error:
        return str(error)
    return ""
