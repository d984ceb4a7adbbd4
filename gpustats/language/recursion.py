"""Deep recursion, for which Python has memory enough, but which it refuses unless it is told."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_before = _inside = 0  # the limit, which is that of all threads, without those that are inside


def deeply(compute: Callable[[], T], calls: int) -> T:
    """What `compute` returns, where need be with so many calls within one another: it must be able to begin anew."""
    try:
        return compute()
    except RecursionError:
        pass
    with _limit(calls):
        return compute()


@contextlib.contextmanager
def _limit(calls: int) -> Iterator[None]:
    global _before, _inside
    with _lock:
        if not _inside:
            _before = sys.getrecursionlimit()
        _inside += 1
        sys.setrecursionlimit(max(sys.getrecursionlimit(), calls))
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                sys.setrecursionlimit(_before)
