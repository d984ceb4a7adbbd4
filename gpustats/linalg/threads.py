"""Threads that BLAS may take: as many as there are processors that nothing else runs on.

The threads of OpenBLAS wait for one another by spinning. Where other processes use the processors, too, each of the many waits
of a factorisation lasts until the scheduler comes round, and two threads take ten times as long as one, or fifty.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import threading
import time
from typing import Any

from ..runtime import thresholds

#: Multiplications of a routine from which on BLAS takes several threads.
LEAST_WORK = thresholds.LINALG_LEAST_WORK.value
#: Seconds for which a count of free processors holds: counting takes about 0.1 ms.
COUNT_HOLDS = thresholds.LINALG_COUNT_HOLDS.value

_NO_BOUND = contextlib.nullcontext()


def as_many_as_free(work: int) -> contextlib.AbstractContextManager[None]:
    """Context in which BLAS has no more threads than there are free processors; the old number returns after it.

    Parameters
    ----------
    work : int
        Multiplications of what is to be done. For little work, which takes one thread anyway, nothing is looked up.
    """
    if work < LEAST_WORK:
        return _NO_BOUND
    return _Bound(free.threads())


def for_triangular_systems(work: int) -> contextlib.AbstractContextManager[None]:
    """Context for triangular systems with several right sides: as `as_many_as_free`, and one thread for little work.

    BLAS divides them among all of its threads, however few they are, and these then spin for a while and disturb others. Where
    another caller is in a context, little work leaves BLAS the threads that it has for that one.
    """
    if work >= LEAST_WORK:
        return as_many_as_free(work)
    return _NO_BOUND if _Bound.entered() else _Bound(1)


class FreeProcessors:
    """Number of processors that are free for this process, counted anew when the last count is old."""

    def __init__(self) -> None:
        self._until = 0.0
        self._threads: int | None = None

    def threads(self) -> int | None:
        """Number of threads that may run at once, or None if as many as this process may have processors."""
        now = time.monotonic()
        if now >= self._until:
            self._threads = self._count()
            self._until = time.monotonic() + COUNT_HOLDS
        return self._threads

    def _count(self) -> int | None:
        all_of_them = os.cpu_count() or 1
        ours = processors_allowed()
        threads = min(ours, all_of_them - others_running())
        return max(threads, 1) if threads < all_of_them else None


free = FreeProcessors()


def processors_allowed() -> int:
    """Number of processors that this process may use at once."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _quota()
    return count if quota is None else min(count, quota)


@functools.cache
def _quota() -> int | None:
    """Number of processors that a container's quota allows, None if there is no quota."""
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
        quota, period = file.read().split()
        return max(math.ceil(int(quota) / int(period)), 1)  # ValueError where it says "max"
    return None


def others_running() -> int:
    """Number of threads that run or wait for a processor now, but for the caller and BLAS; 0 where Linux does not tell.

    Threads of BLAS go on spinning for a while after their work. They are the ones of this process that Python does not know.
    """
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            running = int(file.read().split()[3].partition("/")[0]) - 1
        return max(running - _unknown_to_python(), 0) if running > 0 else 0
    except (OSError, ValueError, IndexError):
        return 0


def _unknown_to_python() -> int:
    """Number of running threads of this process that Python has not started, nor seen."""
    known = {str(t.native_id) for t in threading.enumerate()}
    count = 0
    for thread in set(os.listdir("/proc/self/task")) - known:
        with contextlib.suppress(OSError), open(f"/proc/self/task/{thread}/stat", "rb") as file:
            count += file.read().rpartition(b") ")[2].startswith(b"R")
    return count


class _Bound:
    """Context in which BLAS has at most so many threads, divided among the callers that are in one at the same time."""

    _lock = threading.Lock()
    _inside = 0
    _changed: dict[Any, tuple[int, int]] = {}  # library -> threads that it had, and that it was given instead

    def __init__(self, threads: int | None):
        self._threads = threads

    @classmethod
    def entered(cls) -> bool:
        """True if a caller is in a context."""
        return cls._inside > 0

    def __enter__(self) -> None:
        cls = _Bound
        with cls._lock:
            inside = cls._inside + 1
            if self._threads is not None or inside > 1:
                most = max((self._threads or processors_allowed()) // inside, 1)
                for library in _libraries():
                    count = library.get_num_threads()
                    if count is not None and count > most:
                        before, _ = cls._changed.get(library, (count, 0))
                        cls._changed[library] = before, most
                        library.set_num_threads(most)
            cls._inside = inside  # last: whoever is called away before has not entered

    def __exit__(self, *_: object) -> None:
        cls = _Bound
        with cls._lock:
            cls._inside -= 1
            if not cls._inside and cls._changed:
                for library, (before, given) in cls._changed.items():
                    if library.get_num_threads() == given:  # nobody else has changed it meanwhile
                        library.set_num_threads(before)
                cls._changed = {}


def _in_child() -> None:
    """Reset the bounds in a forked process: it has one thread, which is in no context of another."""
    for library, (before, _) in _Bound._changed.items():
        library.set_num_threads(before)
    _Bound._lock, _Bound._inside, _Bound._changed = threading.Lock(), 0, {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


@functools.cache
def _libraries() -> list[Any]:
    """Libraries: NumPy's and SciPy's BLAS."""
    import scipy.linalg.cython_blas  # noqa: F401  loads them
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers
