"""Clean-up once an object is gone: by a thread, because the garbage collector may come while any lock is held."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue

#: Seconds for which Ctrl-C waits for what other threads are at, such as a piece that is read: what takes longer ends unseen.
PATIENCE = 1.0

_jobs: SimpleQueue[tuple[Callable[..., object], tuple[object, ...]]] = SimpleQueue()


def once_gone(owner: object, function: Callable[..., object], *arguments: object) -> None:
    """Call a function soon after an object is gone, in another thread; not at the end of Python."""
    _start()
    weakref.finalize(owner, _jobs.put, (function, arguments)).atexit = False


@functools.cache
def _start() -> None:
    threading.Thread(target=_serve, args=(_jobs,), name="gpustats-closing", daemon=True).start()


def _serve(jobs: SimpleQueue[tuple[Callable[..., object], tuple[object, ...]]]) -> None:
    while True:
        function, arguments = jobs.get()
        with contextlib.suppress(Exception):  # nobody waits for it
            function(*arguments)
        del function, arguments


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start.cache_clear)  # a forked child has no such thread
