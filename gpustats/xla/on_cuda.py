"""Calls of XLA on GPUs: they put the work of an `Enqueued` on XLA's stream, and do not wait for it.

Kernels read XLA's own buffers, and write to them. XLA may capture the call in a graph.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..runtime.intrinsics import called, exchanged, int_at, pointer_from, set_int
from ..runtime.replay import Enqueued
from . import frames
from .calls import TARGET, Program, failures, lock, program_of, words
from .frames import failure, length


class Head(NamedTuple):
    """Whole numbers with which a program begins. Behind them stand the addresses of the places for the stream, for what is
    given and for what is found, then the commands.
    """

    token: int
    other: int  # address of the program of the same work on another device; 0 where there is none
    lock: int  # 1 while a thread puts the work on a stream
    size: int  # structure XLA_FFI_Stream_Get_Args, of four numbers
    extension: int
    execution: int
    stream: int
    context: int  # in which the work is done
    own: int  # that of the stream
    n_given: int
    n_found: int
    itemsize: int  # bytes of a number that the device takes
    n_streams: int
    n_takes: int
    n_leaves: int
    n_calls: int


PLACE = Head(*range(len(Head._fields)))  # of each number in a program


def program(works: Sequence[Enqueued], n_given: int, n_found: int, itemsize: int) -> Program:
    """Program of work that takes so many numbers of so many bytes, and leaves so many of float64.

    `works` are the same work, each on a device of its own.
    """
    others = [np.empty(0, np.int64)]

    def numbers(token: int, work: Enqueued, other: int) -> list[int]:
        lengths = len(work.streams), len(work.given), len(work.found), len(work.commands)
        head = Head(token, other, 0, 32, 0, 0, 0, work.context, 0, n_given, n_found, itemsize, *lengths)
        return [*head, *work.streams, *work.given, *work.found, *words(work.commands)]

    def all_numbers(token: int) -> list[int]:
        first, *further = works
        address = 0
        for work in further:
            others.append(np.array(numbers(token, work, address), np.int64))
            address = others[-1].ctypes.data
        return numbers(token, first, address)

    return Program.of(all_numbers, (works, others), register)


@functools.cache
def register() -> None:
    """Make the function known to XLA: see `frames.register`."""
    from ..runtime.cuda_driver import address

    context_of = address("cuStreamGetCtx")
    place, first = PLACE, len(PLACE)

    def run(frame: Any) -> Any:
        program = program_of(frame)
        if program == 0:
            return failure(frame, frames.UNKNOWN)
        source, target = int_at(int_at(frame, frames.ARGUMENTS), 0), int_at(int_at(frame, frames.RESULTS), 0)
        n_given, n_found = int_at(program, place.n_given), int_at(program, place.n_found)
        n, n_left = length(source), length(target)
        n_lines = n // n_given
        if n != n_lines * n_given or (n_left != n_lines * n_found and n_left != 2 * n_lines * n_found):  # halves of them
            return failure(frame, frames.OTHER)
        take, leave = int_at(source, frames.DATA), int_at(target, frames.DATA)
        lock(program + 8 * place.lock)
        set_int(program, place.execution, int_at(frame, frames.CONTEXT))
        error = pointer_from(int_at(int_at(frame, frames.API), frames.GET_STREAM), program + 8 * place.size)
        stream, errors = int_at(program, place.stream), 0
        if error == 0:
            errors = called(context_of, stream, program + 8 * place.own, 0, 0, 0, 0, 0, 0, 0)
        own = int_at(program, place.own)
        exchanged(program + 8 * place.lock, 0)
        if error != 0:
            return error
        if errors != 0:
            return failure(frame, frames.FAILED)
        while program != 0 and int_at(program, place.context) != own:
            program = int_at(program, place.other)
        if program == 0:
            return failure(frame, frames.ELSEWHERE)
        lock(program + 8 * place.lock)
        n_streams, n_takes = int_at(program, place.n_streams), int_at(program, place.n_takes)
        n_leaves, n_calls = int_at(program, place.n_leaves), int_at(program, place.n_calls)
        for k in range(n_streams):
            set_int(int_at(program, first + k), 0, stream)
        for i in range(n_lines):
            for k in range(n_takes):
                set_int(int_at(program, first + n_streams + k), 0, take + i * n_given * int_at(program, place.itemsize))
            for k in range(n_leaves):
                set_int(int_at(program, first + n_streams + n_takes + k), 0, leave + i * n_found * 8)
            errors += failures(program, first + n_streams + n_takes + n_leaves, n_calls)
        exchanged(program + 8 * place.lock, 0)
        return failure(frame, frames.FAILED) if errors else 0

    frames.register(TARGET, "CUDA", run, traits=frames.CAPTURED)
