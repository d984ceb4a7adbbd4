"""Software and drivers that a machine has for gpustats, and commands that install the rest."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import gpustats as gs

from ..runtime import cuda_wheels, icd, nvrtc

PCI_DEVICES = Path("/sys/bus/pci/devices")
NVIDIA_VENDOR, DISPLAY_CLASS = "0x10de", "0x03"  # PCI numbers; the second begins those of graphics processors
CUDA_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
NO_CUDA_DEVICE = 100  # the driver's error CUDA_ERROR_NO_DEVICE
CAPABILITY = (75, 76)  # the driver's attributes of a device: major and minor compute capability
OPTIONAL_EXTRAS = ("pymc", "dask")  # extras beside those that bring a device

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*(?:\[[^\]]*\])?\s*\(?(?P<versions>[^;()]*)\)?\s*(?:;\s*(?P<marker>.*))?")


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
    if cuda(findings, required):  # who computes on a GPU needs no runtime for the CPU
        findings.lacks = [lack for lack in findings.lacks if lack.extra != "cpu"]
    for extra in OPTIONAL_EXTRAS:
        wanted = any(version_of(requirement.name) for requirement in required.get(extra, []))
        if wanted and (missing := [why for why in map(unmet, required.get(extra, [])) if why]):
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
        if icd.PLACEHOLDER in library and icd.intel_runtime():  # which gpustats shows to the loader by itself
            continue
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


def cuda(findings: Findings, required: dict[str, list[Requirement]]) -> bool:
    """Look for NVIDIA's driver, its devices, the wheels, and PyCUDA where it is installed; True if nothing is missing."""
    driver, why, cards = cuda_driver()
    bindings, card = version_of(cuda_wheels.BINDINGS), nvidia_card()
    library = mapped("libcuda")
    if driver or card or bindings or library:  # else nobody misses it
        findings.add("NVIDIA driver", f"CUDA {cuda_wheels.text(driver)}" if driver else "", library if driver else why)
    lacking = wheels(findings) if driver or card else []
    pycuda(findings)
    if driver is None:
        if card:
            words = f"an NVIDIA GPU is there, and its driver is not: {cuda_wheels.no_driver(why)}"
            findings.lack("cuda13", words, comment([] if bindings else cuda_wheels.cure(13)))
        return False
    if not cards:
        if card or "CUDA_VISIBLE_DEVICES" in os.environ:
            findings.lack("cuda13", cuda_wheels.no_device(driver), comment([]))
        return False
    cures = cuda_wheels.cure_for(driver, [capability for _, capability in cards])
    extra = "cuda13" if "cuda13" in cures[-1] else "cuda12"
    if bindings and (needed := cuda_wheels.cuda_of(bindings)) // 1000 > driver // 1000:
        findings.lack(extra, cuda_wheels.too_old(driver, needed), "\n".join(cures))
        return False
    of_bindings = f"cuda{numbers(bindings)[0]}" if bindings else extra
    names = (cuda_wheels.BINDINGS, "nvmath-python")
    missing = [why for r in required.get(of_bindings, []) if r.name in names and (why := unmet(r))]
    missing += lacking if bindings else []
    missing += [words for words in [cuda_wheels.mixed(driver)] if words]
    if missing:
        findings.lack(extra, "; ".join(missing), "\n".join(cures))
    weak = [cuda_wheels.too_weak(*card, nvrtc.least_capability()) for card in cards]
    if all(weak):
        findings.lack(extra, "; ".join(weak), "\n".join(cures) if any("pip" in words for words in weak) else comment([]))
    return not missing and not all(weak)


def comment(commands: list[str]) -> str:
    """Cure that begins with what the words on the lack say."""
    return "\n".join([*commands, "gpustats doctor   # after that"])


def wheels(findings: Findings) -> list[str]:
    """Look for the bindings and the libraries; returns what is missing of the latter."""
    missing = []
    installed = cuda_wheels.loaded()
    for name in (cuda_wheels.BINDINGS, "nvmath-python"):
        findings.add(name, version_of(name))
    for name, title in cuda_wheels.LIBRARIES.items():
        wheel = next((f"{wheel} {version}" for wheel, version in installed.items() if name in wheel), "")
        path, why = cuda_wheels.library(name)
        findings.add(title, (wheel.rpartition(" ")[2] or "found") if path else "", path or why)
        if not path:
            missing.append(f"{title} is not found: {why}")
    return missing


def pycuda(findings: Findings) -> None:
    """Look for PyCUDA, whose arrays gpustats takes, and which it does not need."""
    if version := version_of("pycuda"):
        why = pycuda_fails()
        findings.add("PyCUDA (optional)", "" if why else version, why)


def cuda_driver() -> tuple[int | None, str, list[tuple[str, tuple[int, int]]]]:
    """Version of CUDA that the driver serves, such as 13000, or None and why; names and compute capabilities of devices."""
    try:
        library: Any = ctypes.CDLL(CUDA_LIBRARY)
    except OSError:
        return None, f"there is no {CUDA_LIBRARY}", []
    number = ctypes.c_int()
    status = library.cuInit(0)
    if status not in (0, NO_CUDA_DEVICE) or library.cuDriverGetVersion(ctypes.byref(number)):
        return None, f"{CUDA_LIBRARY} is there and does not start: CUDA's error {status}", []
    version, cards = number.value, []
    if status or library.cuDeviceGetCount(ctypes.byref(number)):
        return version, "", []
    name = ctypes.create_string_buffer(128)
    for device in range(number.value):
        handle, found = ctypes.c_int(), []
        library.cuDeviceGet(ctypes.byref(handle), device)
        library.cuDeviceGetName(name, len(name), handle)
        for attribute in CAPABILITY:
            library.cuDeviceGetAttribute(ctypes.byref(number), attribute, handle)
            found.append(number.value)
        cards.append((name.value.decode(), (found[0], found[1])))
    return version, "", cards


def nvidia_card() -> bool:
    """True if the machine has a graphics processor of NVIDIA's, as Linux tells."""
    with contextlib.suppress(OSError):
        for card in PCI_DEVICES.iterdir():
            vendor, kind = (card / "vendor").read_text().strip(), (card / "class").read_text()
            if vendor == NVIDIA_VENDOR and kind.startswith(DISPLAY_CLASS):
                return True
    return False


def pycuda_fails() -> str:
    """Reason why PyCUDA's compiled part does not load; "" where it does."""
    try:
        import pycuda.driver  # noqa: F401
    except Exception as error:
        return str(error)
    return ""
