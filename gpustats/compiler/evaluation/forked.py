"""Evaluations in a process that was forked from one that had used a device.

A driver does not survive a fork, and PyMC's own sampler forks its chains where the platform lets it. Such a process has its
evaluations done by a fresh one of its own, through a pair of pipes.
"""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from ...runtime import base, choose

_device: str | None = None  # the device of the parent, where this process was forked from one that had used it
_worker: _Worker | None = None  # of this process, if it was forked
_lock = threading.Lock()


def _in_child() -> None:
    global _device, _worker, _lock
    _device = choose.chosen().device.id if base.in_use() else None
    _worker, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def survives_fork(method: Callable) -> Callable:
    """Method of an evaluator that in a forked process is run by that process's worker.

    The worker gets the evaluator pickled, when it runs one of its methods for the first time.
    """

    @functools.wraps(method)
    def routed(self: Any, *arguments: Any) -> Any:
        return method(self, *arguments) if _device is None else _by_worker(self, method.__name__, arguments)

    return routed


def _by_worker(evaluator: Any, method: str, arguments: tuple) -> Any:
    """Result of evaluator.method(*arguments), run by this process's worker."""
    global _worker
    with _lock:
        if _worker is None:
            assert _device is not None
            _worker = _Worker(_device)
        return _worker(evaluator, method, arguments)


class _Worker:
    """Fresh Python process that evaluates for this one."""

    def __init__(self, device: str) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        command = [sys.executable, "-c", "from gpustats.compiler.evaluation.forked import serve; serve()"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._sent: dict[int, Any] = {}  # by their ids: evaluators are kept alive, so that no other gets the id of one
        self._send(device)

    def _send(self, message: Any) -> None:
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin, pickle.HIGHEST_PROTOCOL)
        self._process.stdin.flush()

    def __call__(self, evaluator: Any, method: str, arguments: tuple) -> Any:
        key = id(evaluator)
        self._send((key, None if key in self._sent else evaluator, method, arguments))
        self._sent[key] = evaluator
        assert self._process.stdout is not None
        result, error = pickle.load(self._process.stdout)
        if error is not None:
            raise error
        return result


def serve() -> None:
    """Loop of the worker: requests come through its standard input, replies go through its standard output."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a driver prints must not mix with the replies
    choose.use(pickle.load(requests))
    evaluators: dict[int, Any] = {}
    while True:
        try:
            key, evaluator, method, arguments = pickle.load(requests)
        except EOFError:
            return
        try:
            if evaluator is not None:
                evaluators[key] = evaluator
            reply: tuple[Any, Exception | None] = (getattr(evaluators[key], method)(*arguments), None)
        except Exception as error:
            reply = (None, error)
        pickle.dump(reply, replies, pickle.HIGHEST_PROTOCOL)
        replies.flush()
