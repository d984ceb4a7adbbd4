"""Calls of XLA that do a device's work again: compiled code, which takes neither Python's lock nor a step in Python.

One function of ours for each platform serves all work. The attributes of a call name a `program`: a list of whole numbers that
says where the work takes its numbers, what starts it, and where it leaves its results.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np

from ..runtime.intrinsics import MOST_ARGUMENTS, called, exchanged, int_at
from ..runtime.replay import Command
from .frames import STEP_ASIDE, attribute

if TYPE_CHECKING:
    import jax

TARGET = "gpustats_sum"  # name of the functions for XLA
MOST_PROGRAMS = 1 << 16  # of a process, which keeps them: XLA tells nobody when it drops what it has compiled

_table = np.zeros(MOST_PROGRAMS, np.int64)  # addresses of the programs
_kept: list[tuple[np.ndarray, object]] = []
_lock = threading.Lock()


def _in_child() -> None:
    """Know no program in a forked process, where the device does not work."""
    _table[...] = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)

_ADDRESS = _table.ctypes.data
TOKEN = 0  # place in a program of the number that no other program has, nor one of another process


@numba.njit
def program_of(frame: int) -> int:
    """Address of the program that a call names; 0 where it is not of this process."""
    place, token = attribute(frame, 0), attribute(frame, 1)
    program = int_at(_ADDRESS, place) if 0 <= place < MOST_PROGRAMS else 0
    return program if program != 0 and int_at(program, TOKEN) == token else 0


@numba.njit
def lock(place: int) -> None:
    """Wait until no other thread has the lock at an address, and take it."""
    while exchanged(place, 1) != 0:
        called(STEP_ASIDE, 0, 0, 0, 0, 0, 0, 0, 0, 0)


@numba.njit
def failures(program: int, first: int, n_calls: int) -> int:
    """Number of a program's commands that fail; all are run, from the place of the first on."""
    found = 0
    for k in range(n_calls):
        at = first + (1 + MOST_ARGUMENTS) * k
        found += 0 != called(
            int_at(program, at), int_at(program, at + 1), int_at(program, at + 2), int_at(program, at + 3),
            int_at(program, at + 4), int_at(program, at + 5), int_at(program, at + 6), int_at(program, at + 7),
            int_at(program, at + 8), int_at(program, at + 9),
        )  # fmt: skip
    return found


class Program(NamedTuple):
    """Program as the attributes of a call name it."""

    place: int
    token: int
    register: Callable[[], None]

    @classmethod
    def of(cls, numbers: Callable[[int], Sequence[int]], work: object, register: Callable[[], None]) -> Program:
        """Program of work, which is for nobody else from now on.

        Parameters
        ----------
        numbers : callable
            Makes the program, from its token.
        work : object
            What the program names.
        register : callable
            Makes the function that runs it known to XLA.

        Raises
        ------
        RuntimeError
            Where there are too many.
        """
        token = secrets.randbits(62) + 1
        program = np.array(numbers(token), np.int64)
        with _lock:
            place = len(_kept)
            if place == MOST_PROGRAMS:
                raise RuntimeError(
                    f"this process has {MOST_PROGRAMS} functions of XLA for other shapes or data, and no room for more: "
                    "make each function once, by gs.as_jax, and use it again"
                )
            _kept.append((program, work))
            _table[place] = program.ctypes.data
        return cls(place, token, register)

    def __call__(self, given: jax.Array, found: jax.ShapeDtypeStruct) -> jax.Array:
        """Numbers that the work leaves, for those that it takes."""
        import jax

        self.register()
        spread: Any = jax.typeof(given)  # by `jax.shard_map`, over some axes of a mesh
        call: Any = jax.ffi.ffi_call(TARGET, spread.update(shape=found.shape, dtype=found.dtype, weak_type=False))
        result: jax.Array = call(given, place=np.int64(self.place), token=np.int64(self.token))
        return result


def words(commands: Sequence[Command]) -> list[int]:
    """Commands in a program: each a function, and its arguments."""
    calls = ((c.function, *c.arguments, *[0] * (MOST_ARGUMENTS - len(c.arguments))) for c in commands)
    return [number for call in calls for number in call]
