"""Deep recursion, for which Python has memory enough, but which needs a higher limit."""

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
    """Result of `compute`, which begins anew with a recursion limit of so many `calls` where it has failed for depth."""
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
