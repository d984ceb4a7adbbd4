"""Foreign functions of XLA: how compiled code reads the description of a call, and how XLA gets to know a function.

XLA calls a function of C with the description of a call: its buffers and its attributes, as ``xla/ffi/api/c_api.h`` of
jaxlib has it. The constants below are places in its structures, counted in eight bytes.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from ..runtime.intrinsics import int_at, pointer_from, set_int

EXTENSION, API, CONTEXT, ARGUMENTS, RESULTS, ATTRIBUTES = 1, 2, 3, 9, 14, 20  # XLA_FFI_CallFrame
TYPE, DATA, RANK, LENGTHS = 2, 3, 4, 5  # XLA_FFI_Buffer
CREATE_ERROR, GET_STREAM = 6, 10  # XLA_FFI_Api
VERSION, TRAITS = 3, 4  # XLA_FFI_Metadata
METADATA = 1  # XLA_FFI_Extension_Metadata
DOUBLE = 12  # XLA_FFI_DataType_F64
CAPTURED = 1  # XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE
LOW = 0xFFFFFFFF


class _ErrorArguments(ctypes.Structure):
    """Structure `XLA_FFI_Error_Create_Args`."""

    _fields_ = [
        ("size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("message", ctypes.c_char_p), ("code", ctypes.c_int),
    ]  # fmt: skip


_FAILED_PRECONDITION, _INTERNAL = 9, 13  # kinds of errors
_ERRORS = [
    _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, message, code)
    for message, code in (
        (b"gpustats: this was compiled in another process, before a fork or in a cache on disk", _FAILED_PRECONDITION),
        (b"gpustats: this was compiled for other work, with buffers of other lengths", _FAILED_PRECONDITION),
        (b"gpustats: the device did not do its work: gpustats doctor tells whether it is well", _INTERNAL),
        (
            b"gpustats: the arguments are on another device than the data: jax.device_put moves them, "
            b"and gs.as_jax takes copies of the model on further devices",
            _FAILED_PRECONDITION,
        ),
    )
]
UNKNOWN, OTHER, FAILED, ELSEWHERE = map(ctypes.addressof, _ERRORS)
STEP_ASIDE: int = ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0


@numba.njit
def is_asked(frame: int, version: int, traits: int) -> bool:
    """True if XLA asks what the function is, and has its answer."""
    extension = int_at(frame, EXTENSION)
    if extension == 0 or int_at(extension, 1) & LOW != METADATA:
        return False
    metadata = int_at(extension, 3)
    set_int(metadata, VERSION, version)
    set_int(metadata, TRAITS, (int_at(metadata, TRAITS) & ~LOW) | traits)
    return True


@numba.njit
def attribute(frame: int, i: int) -> int:
    """Attribute of a call, in the order of their names."""
    return int_at(int_at(int_at(int_at(frame, ATTRIBUTES), i), 1), 0)


@numba.njit
def length(buffer: int) -> int:
    """Number of numbers of a buffer."""
    n = 1
    for axis in range(int_at(buffer, RANK)):
        n *= int_at(int_at(buffer, LENGTHS), axis)
    return n


@numba.njit
def failure(frame: int, error: int) -> int:
    """What a function returns that fails with one of the errors."""
    return pointer_from(int_at(int_at(frame, API), CREATE_ERROR), error)


def register(name: str, platform: str, run: Callable[[Any], Any], traits: int = 0) -> None:
    """Make a function of the description of a call known to XLA.

    Raises
    ------
    ImportError
        Where the interface of this jaxlib is another one.
    """
    import jax

    text = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h").read_text(encoding="utf-8")
    major, minor = (int(re.search(rf"#define XLA_FFI_API_{part} (\d+)", text)[1]) for part in ("MAJOR", "MINOR"))  # type: ignore[index]
    if major != 0:
        raise ImportError(f"jaxlib has version {major}.{minor} of XLA's interface for foreign functions: gpustats knows 0")
    version, own = major + (minor << 32), numba.njit(run)

    def function(frame: Any) -> Any:
        return 0 if is_asked(frame, version, traits) else own(frame)

    compiled = numba.cfunc(numba.types.int64(numba.types.int64))(function)
    _kept.append(compiled)
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(compiled.ctypes), platform=platform)


_kept: list[Any] = []
