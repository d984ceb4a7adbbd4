"""Compilation of CUDA C++ to machine code: through NVRTC, the compiler as a library, or else through nvcc."""

from __future__ import annotations

import os
import shutil
import warnings
from typing import Any

from ..errors import CompileError, NoDeviceError

OPTIONS = ["--std=c++14"]  # and nothing that loosens the arithmetic


def compile(source: str, arch: str) -> bytes:
    """Machine code (cubin) of `source` for `arch`, such as ``sm_90``."""
    found, reason = version()
    if found is None:
        return _nvcc(source, arch, reason)
    from cuda.bindings import nvrtc

    return _nvrtc(nvrtc, source, [f"--gpu-architecture={arch}", *OPTIONS])


def version() -> tuple[tuple[int, int] | None, str]:
    """Version of NVRTC; where it is not found, None and why."""
    try:
        from cuda.bindings import nvrtc

        _, major, minor = nvrtc.nvrtcVersion()  # finds the library only now
    except Exception as error:  # ImportError, or whatever the search for the library raises
        return None, str(error)
    return (major, minor), ""


def _nvrtc(nvrtc: Any, source: str, options: list[str]) -> bytes:
    def call(function: Any, *args: Any) -> Any:
        error, *values = function(*args)
        if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(f"{function.__name__}: {error.name}")
        return values[0] if values else None

    program = call(nvrtc.nvrtcCreateProgram, source.encode(), b"kernel.cu", 0, [], [])
    try:
        try:
            call(nvrtc.nvrtcCompileProgram, program, len(options), [option.encode() for option in options])
        except RuntimeError as error:
            log = bytearray(call(nvrtc.nvrtcGetProgramLogSize, program))
            call(nvrtc.nvrtcGetProgramLog, program, log)
            raise CompileError(log.decode(errors="replace").rstrip("\0\n") or str(error), source) from None
        cubin = bytearray(call(nvrtc.nvrtcGetCUBINSize, program))
        call(nvrtc.nvrtcGetCUBIN, program, cubin)
        return bytes(cubin)
    finally:
        call(nvrtc.nvrtcDestroyProgram, program)


def find_nvcc() -> str | None:
    """Path of nvcc: on PATH, or where CUDA toolkits usually lie."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [os.environ.get("PATH", ""), *(os.path.join(home, "bin") for home in homes if home)]
    return shutil.which("nvcc", path=os.pathsep.join(places))


def _nvcc(source: str, arch: str, reason: str) -> bytes:
    from pycuda.compiler import compile
    from pycuda.driver import CompileError as Rejected

    nvcc = find_nvcc()
    if nvcc is None:
        raise NoDeviceError(
            f"no CUDA compiler. NVRTC: {reason}. nvcc: not on PATH.\n"
            "pip install 'gpustats[cuda12]' or 'gpustats[cuda13]', after the version of the NVIDIA driver, brings NVRTC"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whatever nvcc prints although it succeeds
            cubin: bytes = compile(source, nvcc, options=list(OPTIONS), no_extern_c=True, arch=arch, cache_dir=False)
            return cubin
    except Rejected as error:
        raise CompileError(str(error.stderr or error), source) from None
