"""Calls of XLA that do a device's work again: compiled code, which takes neither Python's lock nor a step in Python.

XLA calls a function of C with the description of a call: its buffers and its attributes, as ``xla/ffi/api/c_api.h`` of
jaxlib has it. One such function of ours serves all work. The attributes of a call name a `program`: a list of whole
numbers that says where the work takes its numbers, what starts it, and where it leaves its results.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import secrets
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..runtime.intrinsics import (
    MOST_ARGUMENTS,
    called,
    exchanged,
    float_at,
    int_at,
    pointer_from,
    set_float,
    set_int,
    set_single,
    single_at,
)

if TYPE_CHECKING:
    import jax

    from ..runtime.replay import Replay

TARGET = "gpustats_sum"  # name of the function for XLA
MOST_PROGRAMS = 1 << 16  # of a process, which keeps them: XLA tells nobody when it drops what it has compiled


class Head(NamedTuple):
    """Whole numbers with which a program begins. Behind them stand the calls that do the work."""

    token: int  # number that no other program has, nor one of another process
    lock: int  # 1 while a thread has the work done
    given: int  # address of the numbers that the device takes
    found: int  # address of those that it leaves, float64
    n_given: int
    n_found: int
    itemsize: int  # bytes of a number that the device takes
    n_calls: int


PLACE = Head(*range(len(Head._fields)))  # of each number in a program

_table = np.zeros(MOST_PROGRAMS, np.int64)  # addresses of the programs
_kept: list[tuple[np.ndarray, Replay]] = []
_lock = threading.Lock()


def _in_child() -> None:
    """Know no program in a forked process, where the device does not work."""
    _table[...] = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


class Program(NamedTuple):
    """Program as the attributes of a call name it."""

    place: int
    token: int

    @classmethod
    def of(cls, replay: Replay) -> Program:
        """Program of work that can be done again, which is for nobody else from now on.

        Raises
        ------
        RuntimeError
            Where there are too many.
        """
        token = secrets.randbits(62) + 1
        head = Head(
            token, 0, replay.given.ctypes.data, replay.found.ctypes.data, replay.given.size, replay.found.size,
            replay.given.itemsize, len(replay.commands),
        )  # fmt: skip
        calls = [(c.function, *c.arguments, *[0] * (MOST_ARGUMENTS - len(c.arguments))) for c in replay.commands]
        program = np.array([*head, *(number for call in calls for number in call)], np.int64)
        with _lock:
            place = len(_kept)
            if place == MOST_PROGRAMS:
                raise RuntimeError(
                    f"this process has {MOST_PROGRAMS} functions of XLA for other shapes or data, and no room for more: "
                    "make each function once, by gs.as_jax, and use it again"
                )
            _kept.append((program, replay))
            _table[place] = program.ctypes.data
        return cls(place, token)

    def __call__(self, given: jax.Array, n_found: int) -> jax.Array:
        """Numbers that the work leaves, (n_found,), for those that it takes, (n_given,); `jax.vmap` adds axes before."""
        import jax

        register()
        found = jax.ShapeDtypeStruct((n_found,), given.dtype)
        call = jax.ffi.ffi_call(TARGET, found, vmap_method="broadcast_all")
        return call(given, place=np.int64(self.place), token=np.int64(self.token))


@functools.cache
def register() -> None:
    """Make the function known to XLA.

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
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(_compiled(major + (minor << 32)).ctypes), platform="cpu")


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
    )
]


@functools.cache
def _compiled(version: int) -> Any:
    """Function of C for a version of the interface, major + minor 2³²."""
    import numba

    table, n_programs = _table.ctypes.data, MOST_PROGRAMS
    unknown, other, failed = map(ctypes.addressof, _ERRORS)
    step_aside: int = ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0
    token_, lock_, given_, found_, n_given_, n_found_, itemsize_, n_calls_ = PLACE
    first_call, words = len(PLACE), 1 + MOST_ARGUMENTS
    # Places, counted in eight bytes, in the structures of c_api.h.
    extension_, api_, arguments_, results_, attributes_ = 1, 2, 9, 14, 20  # XLA_FFI_CallFrame
    type_, data_, rank_, lengths_ = 2, 3, 4, 5  # XLA_FFI_Buffer
    create_ = 6  # XLA_FFI_Api: the function that makes an error
    double, metadata = 12, 1  # XLA_FFI_DataType_F64, XLA_FFI_Extension_Metadata
    low = 0xFFFFFFFF

    def run(frame: Any) -> Any:
        extension = int_at(frame, extension_)
        if extension != 0 and int_at(extension, 1) & low == metadata:
            set_int(int_at(extension, 3), 3, version)
            return 0
        attributes, create = int_at(frame, attributes_), int_at(int_at(frame, api_), create_)
        place, token = int_at(int_at(int_at(attributes, 0), 1), 0), int_at(int_at(int_at(attributes, 1), 1), 0)
        program = int_at(table, place) if 0 <= place < n_programs else 0
        if program == 0 or int_at(program, token_) != token:
            return pointer_from(create, unknown)
        source, target = int_at(int_at(frame, arguments_), 0), int_at(int_at(frame, results_), 0)
        given, found = int_at(program, given_), int_at(program, found_)
        n_given, n_found, itemsize = int_at(program, n_given_), int_at(program, n_found_), int_at(program, itemsize_)
        doubles, n, n_left = int_at(source, type_) & low == double, 1, 1
        for axis in range(int_at(source, rank_)):
            n *= int_at(int_at(source, lengths_), axis)
        for axis in range(int_at(target, rank_)):
            n_left *= int_at(int_at(target, lengths_), axis)
        n_sets = n // n_given
        if n != n_sets * n_given or n_left != n_sets * n_found:
            return pointer_from(create, other)
        take, leave = int_at(source, data_), int_at(target, data_)
        while exchanged(program + 8 * lock_, 1) != 0:
            called(step_aside, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        errors = 0
        for i in range(n_sets):
            for k in range(n_given):
                number = float_at(take, i * n_given + k) if doubles else single_at(take, i * n_given + k)
                if itemsize == 8:
                    set_float(given, k, number)
                else:
                    set_single(given, k, number)
            for k in range(int_at(program, n_calls_)):
                at = first_call + words * k
                errors += 0 != called(
                    int_at(program, at), int_at(program, at + 1), int_at(program, at + 2), int_at(program, at + 3),
                    int_at(program, at + 4), int_at(program, at + 5), int_at(program, at + 6), int_at(program, at + 7),
                    int_at(program, at + 8), int_at(program, at + 9),
                )  # fmt: skip
            for k in range(n_found):
                if doubles:
                    set_float(leave, i * n_found + k, float_at(found, k))
                else:
                    set_single(leave, i * n_found + k, float_at(found, k))
        exchanged(program + 8 * lock_, 0)
        return pointer_from(create, failed) if errors else 0

    return numba.cfunc(numba.types.int64(numba.types.int64))(run)
