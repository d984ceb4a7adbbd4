"""Calls of XLA on the CPU: they write the numbers of a `Replay`, run its commands, and read what these leave."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from ..runtime.intrinsics import exchanged, float_at, int_at, set_float, set_single, single_at
from ..runtime.replay import Replay
from . import frames
from .calls import TARGET, Program, failures, lock, program_of, words
from .frames import failure, length


class Head(NamedTuple):
    """Whole numbers with which a program begins. Behind them stand the commands."""

    token: int
    lock: int  # 1 while a thread has the work done
    given: int  # address of the numbers that the device takes
    found: int  # address of those that it leaves, float64
    n_given: int
    n_found: int
    itemsize: int  # bytes of a number that the device takes
    n_calls: int


PLACE = Head(*range(len(Head._fields)))  # of each number in a program


def program(replay: Replay) -> Program:
    """Program of a replay."""
    given, found = replay.given, replay.found

    def numbers(token: int) -> list[int]:
        addresses = given.ctypes.data, found.ctypes.data
        head = Head(token, 0, *addresses, given.size, found.size, given.itemsize, len(replay.commands))
        return [*head, *words(replay.commands)]

    return Program.of(numbers, replay, register)


@functools.cache
def register() -> None:
    """Make the function known to XLA: see `frames.register`."""
    _, lock_, given_, found_, n_given_, n_found_, itemsize_, n_calls_ = PLACE
    first = len(PLACE)

    def run(frame: Any) -> Any:
        program = program_of(frame)
        if program == 0:
            return failure(frame, frames.UNKNOWN)
        source, target = int_at(int_at(frame, frames.ARGUMENTS), 0), int_at(int_at(frame, frames.RESULTS), 0)
        given, found = int_at(program, given_), int_at(program, found_)
        n_given, n_found, itemsize = int_at(program, n_given_), int_at(program, n_found_), int_at(program, itemsize_)
        doubles, n = int_at(source, frames.TYPE) & frames.LOW == frames.DOUBLE, length(source)
        n_lines = n // n_given
        if n != n_lines * n_given or length(target) != n_lines * n_found:
            return failure(frame, frames.OTHER)
        take, leave = int_at(source, frames.DATA), int_at(target, frames.DATA)
        lock(program + 8 * lock_)
        errors = 0
        for i in range(n_lines):
            for k in range(n_given):
                number = float_at(take, i * n_given + k) if doubles else single_at(take, i * n_given + k)
                if itemsize == 8:
                    set_float(given, k, number)
                else:
                    set_single(given, k, number)
            errors += failures(program, first, int_at(program, n_calls_))
            for k in range(n_found):
                if doubles:
                    set_float(leave, i * n_found + k, float_at(found, k))
                else:
                    set_single(leave, i * n_found + k, float_at(found, k))
        exchanged(program + 8 * lock_, 0)
        return failure(frame, frames.FAILED) if errors else 0

    frames.register(TARGET, "cpu", run)
