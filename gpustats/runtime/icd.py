"""OpenCL drivers that the loader sees.

Intel's CPU runtime comes as wheels that register it nowhere. The loader can be told of more drivers by a folder of
``.icd`` files, which then replaces the system's own folder, so that one has to be copied into it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

PLACEHOLDER = "anaconda1anaconda2anaconda3"  # in the files that Intel's wheels bring, which name no place that is there
SYSTEM = (Path("/etc/OpenCL/vendors"), Path(sys.prefix) / "etc" / "OpenCL" / "vendors")


def intel_runtime() -> Path | None:
    """Path of the CPU runtime of the wheel intel-opencl-rt, None where it is not installed."""
    try:
        files = metadata.files("intel-opencl-rt") or []
    except metadata.PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files if file.name == "libintelocl.so")
    return next((path.resolve() for path in paths if path.exists()), None)


def missing() -> str | None:
    """Reason why Intel's runtime, although installed, does not load."""
    if intel_runtime() is None:
        return None
    try:
        metadata.distribution("intel-cmplr-lib-rt")
    except metadata.PackageNotFoundError:
        return "intel-opencl-rt is installed, but cannot load without intel-cmplr-lib-rt"
    return None


def registered() -> Iterator[Path]:
    """Files by which drivers are registered with the loader."""
    given = os.environ.get("OCL_ICD_VENDORS")
    for place in [Path(given)] if given else SYSTEM:
        if place.suffix == ".icd" and place.is_file():
            yield place
        elif place.is_dir():
            yield from sorted(place.glob("*.icd"))


@contextlib.contextmanager
def visible() -> Iterator[None]:
    """Context in which the loader's first look at the drivers finds those from wheels too.

    The environment is as before afterwards: a child process finds its own way.
    """
    runtime = intel_runtime()
    if runtime is None or os.environ.get("OCL_ICD_VENDORS"):
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        # Read as text: a driver may be named by its library's name alone, for the linker to find.
        drivers = [file.read_text() for file in registered()]
        for number, driver in enumerate([*drivers, str(runtime)]):
            Path(folder, f"{number}.icd").write_text(driver)
        os.environ["OCL_ICD_VENDORS"] = folder
        try:
            yield
        finally:
            del os.environ["OCL_ICD_VENDORS"]
