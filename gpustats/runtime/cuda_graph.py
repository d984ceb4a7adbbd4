"""What a stream has done, as a graph that one call of the driver's does again."""

from __future__ import annotations

import ctypes
import functools
import sys
import weakref
from collections.abc import Callable
from typing import Any

from .replay import Command

RELAXED = 2  # memory may be allocated while a stream is captured


@functools.cache
def driver() -> ctypes.CDLL:
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


class Graph:
    """The work that a function starts on a stream.

    Parameters
    ----------
    stream : pycuda.driver.Stream
        Not the default one.
    work : callable

    Raises
    ------
    RuntimeError
        Where the driver refuses.
    """

    def __init__(self, stream: Any, work: Callable[[], None]) -> None:
        self._stream = stream
        on, graph, self._graph = ctypes.c_void_p(stream.handle), ctypes.c_void_p(), ctypes.c_void_p()
        _check(driver().cuStreamBeginCapture_v2(on, RELAXED))
        try:
            work()
        finally:
            code = driver().cuStreamEndCapture(on, ctypes.byref(graph))
        _check(code)
        try:
            _check(driver().cuGraphInstantiateWithFlags(ctypes.byref(self._graph), graph, ctypes.c_ulonglong(0)))
        finally:
            driver().cuGraphDestroy(graph)
        weakref.finalize(self, driver().cuGraphExecDestroy, self._graph).atexit = False

    def commands(self, context: Any) -> list[Command]:
        """The calls that do the work again, in whichever thread, and wait for it."""
        self._popped = ctypes.c_void_p()
        stream, graph = self._stream.handle, self._graph.value or 0
        return [
            _command("cuCtxPushCurrent_v2", int(context.handle)),
            _command("cuGraphLaunch", graph, stream),
            _command("cuStreamSynchronize", stream),
            _command("cuCtxPopCurrent_v2", ctypes.addressof(self._popped)),
        ]


def _command(name: str, *arguments: int) -> Command:
    return Command(ctypes.cast(getattr(driver(), name), ctypes.c_void_p).value or 0, arguments)


def _check(code: int) -> None:
    if code:
        raise RuntimeError(f"the driver made no graph of a stream's work: error {code}")
