"""Compilation of CUDA C++ to machine code by NVRTC, NVIDIA's compiler as a library."""

from __future__ import annotations

import functools
from typing import Any

from ..errors import CompileError, NoDeviceError
from . import cuda_wheels

OPTIONS = ["--std=c++14"]  # and nothing that loosens the arithmetic


def compile(source: str, arch: str) -> bytes:
    """Machine code (cubin) of `source` for `arch`, such as ``sm_90``.

    Raises
    ------
    CompileError
        Where the source is wrong, with the compiler's words.
    NoDeviceError
        Without a compiler.
    """
    found, reason = version()
    if found is None:
        cure = "pip install 'gpustats[cuda12]' or 'gpustats[cuda13]', after the driver's version, brings it"
        raise NoDeviceError(f"there is no CUDA compiler, NVRTC ({reason}): {cuda_wheels.mixed() or cure}")
    from cuda.bindings import nvrtc

    return _nvrtc(nvrtc, source, [f"--gpu-architecture={arch}", *OPTIONS])


def version() -> tuple[tuple[int, int] | None, str]:
    """Version of NVRTC; where it is not found, None and why."""
    try:
        from cuda.bindings import nvrtc

        _, major, minor = nvrtc.nvrtcVersion()  # finds the library only now
    except Exception as error:  # ImportError, or whatever the search for the library raises
        return None, cuda_wheels.first_line(error)
    return (major, minor), ""


@functools.cache
def least_capability() -> int | None:
    """Least compute capability that NVRTC compiles for, ten times, such as 75; None where there is no NVRTC."""
    if version()[0] is None:
        return None
    from cuda.bindings import nvrtc

    return int(min(nvrtc.nvrtcGetSupportedArchs()[1]))


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
