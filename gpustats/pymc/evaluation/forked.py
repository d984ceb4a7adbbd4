"""Evaluations in a process that was forked from one that had used a device.

A driver does not survive a fork, and PyMC's own sampler forks its chains where the platform lets it. Such a process has its
evaluations done by a fresh one of its own, through a pair of pipes.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from typing import Any

from ...runtime import base, choose

_device: str | None = None  # the device of the parent, where this process was forked from one that had used it
_worker: _Worker | None = None
_lock = threading.Lock()


def _in_child() -> None:
    global _device, _worker, _lock
    _device = choose.get().device.id if base.in_use() else None
    _worker, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def elsewhere() -> bool:
    """Whether this process has to leave its evaluations to another."""
    return _device is not None


class _Worker:
    """A fresh Python process that evaluates."""

    def __init__(self, device: str) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        command = [sys.executable, "-c", "from gpustats.pymc.evaluation.forked import serve; serve()"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._known: dict[int, Any] = {}  # evaluators are kept alive, so that no other gets the number of one
        self._send(device)

    def _send(self, message: Any) -> None:
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin, pickle.HIGHEST_PROTOCOL)
        self._process.stdin.flush()

    def __call__(self, evaluator: Any, method: str, arguments: tuple) -> Any:
        key = id(evaluator)
        made = None if key in self._known else (evaluator.formula, evaluator.known)
        self._known[key] = evaluator
        self._send((key, made, method, arguments))
        assert self._process.stdout is not None
        result, error = pickle.load(self._process.stdout)
        if error is not None:
            raise error
        return result


def call(evaluator: Any, method: str, *arguments: Any) -> Any:
    """evaluator.method(*arguments), done by this process's worker."""
    global _worker
    with _lock:
        if _worker is None:
            assert _device is not None
            _worker = _Worker(_device)
        return _worker(evaluator, method, arguments)


def serve() -> None:
    """What the worker runs: requests come through its standard input."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a driver prints must not mix with the replies
    choose.use(pickle.load(requests))
    evaluators: dict[int, Any] = {}
    while True:
        try:
            key, made, method, arguments = pickle.load(requests)
        except EOFError:
            return
        try:
            if made is not None:
                formula, known = made
                evaluators[key] = formula.evaluator(known)
            reply: tuple[Any, Exception | None] = (getattr(evaluators[key], method)(*arguments), None)
        except Exception as error:
            reply = (None, error)
        pickle.dump(reply, replies, pickle.HIGHEST_PROTOCOL)
        replies.flush()
