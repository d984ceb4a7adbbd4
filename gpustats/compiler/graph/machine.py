"""Evaluations without Python: compiled code writes the numbers of a call, has the device do its work again, and reads.

What there is to do for an operation in a thread is a list of whole numbers, a `program`, made when the thread has called
the operation through Python. The next calls find it by the thread's number. Where there is none for the shapes of a call, or
the result is not finite, or the driver reports an error, the call goes through Python, as the first did.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types

from ...evaluation.by_code import Evaluation
from ...runtime.intrinsics import MOST_ARGUMENTS, called, float_at, int_at, pointer_from, set_float, set_single
from ...runtime.replay import Replay

MOST_THREADS = 64  # with programs of an operation at once; calls of further threads go through Python
CALLS_BEFORE_PROGRAM = 2  # of a thread through Python, behind which the thread gets a program
LONGEST_CALL = 0.02  # seconds; longer calls go through Python, so that Ctrl-C ends them at once


class Head(NamedTuple):
    """Whole numbers with which a program begins. Behind them stand the extents, the runs given, the calls, and the runs found.
    """

    given: int  # address of the numbers that the device takes
    found: int  # address of those that it leaves
    n_out: int  # numbers in all outputs
    adds: int  # 1 where the outputs begin as zeros, to which what is found is added
    first_extent: int  # place of the first extent in the layout of a call
    n_extents: int
    n_given: int
    n_calls: int
    n_found: int
    valid: int  # output that says that the parameters are valid; -1 where there is none
    itemsize: int  # bytes of a number that the device takes


PLACE = Head(*range(len(Head._fields)))  # of each number in a program


class Programs:
    """Programs of an operation, by thread.

    `evaluation` returns the `Evaluation` for inputs of the shapes of some arrays, or None where only Python can evaluate.
    `slots` are the place in the layout of a call of each input's address, and how many numbers behind that address the input
    begins: see `numba_link.Bridge`. `first_extent` is the place in the layout at which the extents begin.
    """

    def __init__(
        self, evaluation: Callable[[Sequence[Any]], Evaluation | None], slots: Sequence[tuple[int, int]],
        first_extent: int, n_extents: int,
    ):  # fmt: skip
        self._evaluation, self._slots = evaluation, slots
        self._extents = slice(first_extent, first_extent + n_extents)
        #: the addresses of functions of C that compiled code calls, then for each thread its number and its program's address.
        #: The first thread 0 ends it.
        self.table = np.concatenate([_addresses(), np.zeros(2 * MOST_THREADS, np.int64)])
        self._rows = self.table[-2 * MOST_THREADS :].reshape(MOST_THREADS, 2)
        self._calls: dict[int, tuple[tuple[int, ...], int]] = {}  # of a thread, how many with the same extents
        self._alive: list[Any] = [None] * MOST_THREADS
        self._lock = threading.Lock()
        self._given_up = not is_possible()
        _everyone.add(self)

    def offer(self, arrays: Sequence[Any], layout: Sequence[int], seconds: float) -> None:
        """Give the calling thread, which has evaluated the operation at these arrays in some seconds, a program soon."""
        if self._given_up or seconds > LONGEST_CALL:
            return
        thread, extents = threading.get_native_id(), tuple(layout[self._extents])
        known, n = self._calls.get(thread, (extents, 0))
        self._calls[thread] = extents, n = extents, n + 1 if known == extents else 1
        if n < CALLS_BEFORE_PROGRAM or n & (n - 1):  # asked for again only now and then, by threads for which there was no room
            return
        with self._lock:
            if (row := self._row(thread, extents)) is None:
                return
            evaluation = self._evaluation(arrays)
            if evaluation is None or (replay := evaluation.sum.replay) is None:
                self._given_up = True
                return
            program = self._program(evaluation, replay, layout)
            self._alive[row] = extents, evaluation, program
            self._rows[row, 1] = program.ctypes.data
            self._rows[row, 0] = thread  # last: it is found from now on

    def _row(self, thread: int, extents: tuple[int, ...]) -> int | None:
        """Row of the table for a thread that has no program for these extents.

        The row is free, or that of a thread that has ended. None where the thread has a program, or the table is full.
        """
        running = {int(p.name) for p in Path("/proc/self/task").iterdir()}
        self._calls = {t: calls for t, calls in list(self._calls.items()) if t in running}
        threads = self._rows[:, 0].tolist()
        if thread in threads and self._alive[threads.index(thread)][0] == extents:
            return None
        return next((i for i, number in enumerate(threads) if number in (0, thread) or number not in running), None)

    def _program(self, evaluation: Evaluation, replay: Replay, layout: Sequence[int]) -> np.ndarray:
        extents = layout[self._extents]
        given = [(slot, first + run.source, run.target, run.length) for (slot, first), run in
                 ((self._slots[i], run) for i, run in evaluation.given)]  # fmt: skip
        targets = np.concatenate([np.arange(r.target, r.target + r.length) for r in evaluation.found] or [np.empty(0, int)])
        n_found = evaluation.n_out - (evaluation.valid >= 0)
        adds = int(np.unique(targets).size < max(targets.size, n_found))  # also where some outputs stay 0
        calls = [(c.function, *c.arguments, *[0] * (MOST_ARGUMENTS - len(c.arguments))) for c in replay.commands]
        parts = [extents, *given, *calls, *evaluation.found]
        head = Head(
            given=replay.given.ctypes.data,
            found=replay.found.ctypes.data,
            n_out=evaluation.n_out,
            adds=adds,
            first_extent=self._extents.start,
            n_extents=len(extents),
            n_given=len(given),
            n_calls=len(calls),
            n_found=len(evaluation.found),
            valid=evaluation.valid,
            itemsize=replay.given.itemsize,
        )
        return np.array([*head, *(number for part in parts for number in part)], np.int64)

    def forget(self) -> None:
        """Drop all programs, in a forked process, where the device does not work."""
        self._rows[...], self._given_up, self._lock = 0, True, threading.Lock()


_everyone: weakref.WeakSet[Programs] = weakref.WeakSet()


def _in_child() -> None:
    for programs in list(_everyone):
        programs.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


# -- Compiled code


NUMBER_OF_FUNCTIONS = 5  # functions of C that compiled code calls


def _addresses() -> np.ndarray:
    """Addresses of the functions of C, 0 where there are none."""
    if not is_possible():
        return np.zeros(NUMBER_OF_FUNCTIONS, np.int64)
    c, python = ctypes.CDLL(None), ctypes.pythonapi
    found = c.gettid, c.memcpy, python.PyGILState_Check, python.PyEval_SaveThread, python.PyEval_RestoreThread
    return np.array([ctypes.cast(f, ctypes.c_void_p).value for f in found], np.int64)


@functools.cache
def is_possible() -> bool:
    """True if threads have numbers that C and Python tell, as on Linux."""
    return Path("/proc/self/task").is_dir() and hasattr(ctypes.CDLL(None), "gettid")


@functools.cache
def machine() -> Any:
    """Compiled function (table, layout, out) -> whether it has evaluated an operation."""
    signature = types.boolean(types.int64, types.int64, types.int64)
    try:
        return numba.njit(signature, cache=True)(_evaluated)
    except RuntimeError:  # there is no folder in which Numba may keep it
        return numba.njit(signature)(_evaluated)


def _evaluated(table: int, layout: int, out: int) -> bool:
    own_number, copy, holds, leave, enter = (
        int_at(table, 0), int_at(table, 1), int_at(table, 2), int_at(table, 3), int_at(table, 4)
    )  # fmt: skip
    thread, program = called(own_number, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0
    for row in range(MOST_THREADS):
        number = int_at(table, NUMBER_OF_FUNCTIONS + 2 * row)
        if number == thread:
            program = int_at(table, NUMBER_OF_FUNCTIONS + 2 * row + 1)
        if number == thread or number == 0:
            break
    if program == 0:
        return False
    given, found = int_at(program, PLACE.given), int_at(program, PLACE.found)
    n_out, adds, valid = int_at(program, PLACE.n_out), int_at(program, PLACE.adds), int_at(program, PLACE.valid)
    first_extent, itemsize = int_at(program, PLACE.first_extent), int_at(program, PLACE.itemsize)
    at = len(PLACE)
    for i in range(int_at(program, PLACE.n_extents)):
        if int_at(layout, first_extent + i) != int_at(program, at):
            return False
        at += 1
    for _ in range(int_at(program, PLACE.n_given)):
        source = int_at(layout, int_at(program, at)) + 8 * int_at(program, at + 1)
        target, length = given + itemsize * int_at(program, at + 2), int_at(program, at + 3)
        if itemsize == 4:
            for i in range(length):
                set_single(target, i, float_at(source, i))
        elif length == 1:
            set_float(target, 0, float_at(source, 0))
        else:
            called(copy, target, source, 8 * length, 0, 0, 0, 0, 0, 0)
        at += 4
    held, state, errors = called(holds, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 0
    if held:  # a thread of Python's: others may run while it waits
        state = pointer_from(leave, 0)
    for _ in range(int_at(program, PLACE.n_calls)):
        code = called(
            int_at(program, at), int_at(program, at + 1), int_at(program, at + 2), int_at(program, at + 3),
            int_at(program, at + 4), int_at(program, at + 5), int_at(program, at + 6), int_at(program, at + 7),
            int_at(program, at + 8), int_at(program, at + 9),
        )  # fmt: skip
        errors += code != 0
        at += 1 + MOST_ARGUMENTS
    if held:
        pointer_from(enter, state)
    if errors or not np.isfinite(float_at(found, 0)):
        return False
    if adds:
        for i in range(n_out):
            set_float(out, i, 0.0)
    for _ in range(int_at(program, PLACE.n_found)):
        source, target, length = int_at(program, at), int_at(program, at + 1), int_at(program, at + 2)
        if adds or length == 1:
            for i in range(length):
                before = float_at(out, target + i) if adds else 0.0
                set_float(out, target + i, before + float_at(found, source + i))
        else:
            called(copy, out + 8 * target, found + 8 * source, 8 * length, 0, 0, 0, 0, 0, 0)
        at += 3
    if valid >= 0:
        set_float(out, valid, 1.0)
    return True
