"""Calls from threads that Python did not start: nutpie's chains, and those in which JAX calls the host."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from typing import Any

from . import base


class _Thread(threading.local):
    """Record of the calling thread: whether Python started it.

    A thread that Python did not start gets a state for the time of one callback, and loses with it all that is thread-local:
    its queue of work and its memory on the device, at a time when Python 3.11 can free neither. Here its state is made to stay
    until the process ends. (To hand the evaluation to a thread of Python's own would cost more than most evaluations.)
    """

    def __init__(self) -> None:
        own = [t.ident for t in threading.enumerate() if not isinstance(t, threading._DummyThread)]
        self.of_python = threading.get_ident() in own
        if not self.of_python:
            ctypes.pythonapi.PyGILState_Ensure()


_thread = _Thread()


def from_any_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrapper of a function that uses devices, for threads that Python did not start."""

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:
        if _thread.of_python:
            return function(*arguments)
        try:
            return function(*arguments)
        finally:
            for runtime in base.in_use():
                runtime.leave_thread()

    return called
