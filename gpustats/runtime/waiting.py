"""Waiting for a device, so that Ctrl-C and the end of the process find each thread where it can be stopped."""

from __future__ import annotations

import _thread
import atexit
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from . import thresholds
from .types import Grid

SHORT_WAIT = thresholds.RUNTIME_SHORT_WAIT.value  # seconds; to wait so that signals arrive costs some 20 us more
MOST_COUNTED_KERNELS = 256  # more are not counted
SIGNAL_INTERVAL = 0.1  # seconds after which a wait looks for signals where the system does not end it for them (Windows)
#: Seconds for which a wait looks again and again; then it sleeps for a hundredth of what it has waited.
SPIN_TIME = thresholds.RUNTIME_SPIN_TIME.value
LONGEST_SLEEP = 0.05  # seconds of such a sleep
GRACE_PERIOD = 0.1  # seconds in which other threads end by themselves when Python ends

_lock = threading.Lock()
_everyone: list[weakref.ref[Calls]] = []
_ending: int | None = None  # the thread in which Python ends, once it does


class Calls:
    """Calls of a driver by a thread, within which Python must not end the thread: enter this for such a call.

    At its own end, Python ends each daemon thread that comes back from C. In one that comes back through C++, which the
    libraries for OpenCL and CUDA are, this ends the process ("terminate called without an active exception"). So the end waits
    until no other thread is in such a call, and who begins one then gets SystemExit, which ends the thread quietly.

    Parameters
    ----------
    for_main : bool
        Whether the calls are made in the place of the main thread, which Ctrl-C may have called away from them.
    """

    def __init__(self, for_main: bool = False) -> None:
        self.running, self.closed = 0, False
        self.thread, self.for_main = threading.current_thread(), for_main
        with _lock:
            _everyone[:] = [known for known in _everyone if known() is not None] + [weakref.ref(self)]
            self.closed = _ending is not None

    def __enter__(self) -> None:
        self.running += 1  # before it looks; the end closes before it looks: one of them sees the other
        if self.closed:
            try:
                self.refuse()
            except SystemExit:
                self.running -= 1
                raise

    def refuse(self) -> None:
        """Raise SystemExit, which ends a thread quietly, because Python ends."""
        if self.thread.ident != _ending:
            raise SystemExit("Python ends")

    def __exit__(self, *_: object) -> None:
        self.running -= 1


@atexit.register
def end_calls() -> None:
    """Refuse further calls of drivers by other threads, and wait for calls under way."""
    global _ending
    with _lock:
        _ending = _thread.get_ident()
        everyone = [calls for known in _everyone if (calls := known())]
    # A program that ends by Ctrl-C does so at once, whatever the device still computes: a signal ends the process.
    by_signal = getattr(sys, "last_type", None) is KeyboardInterrupt and not hasattr(sys, "ps1")
    for calls in everyone:
        calls.closed = True
    others = [calls for calls in everyone if calls.thread.ident != _ending]
    while any(calls.running and not (by_signal and calls.for_main) for calls in others):
        time.sleep(1e-3)
    # Who computes all the time comes to a call soon, and so to an end; others may do what they like.
    latest = time.perf_counter() + GRACE_PERIOD
    while time.perf_counter() < latest and any(calls.thread.is_alive() and not calls.for_main for calls in others):
        time.sleep(1e-3)


def on_main() -> bool:
    """True if the calling thread is the one that gets signals, and may leave a wait for them."""
    return _thread.get_ident() == threading.main_thread().ident and _ending is None


def until(done: Callable[[], bool]) -> None:
    """Ask until `done` says so. A signal ends the wait in the main thread; other threads of Python go on meanwhile."""
    start = time.perf_counter()
    while not done():
        if (waited := time.perf_counter() - start) < SPIN_TIME:
            _let_others_run()
        else:
            time.sleep(min(waited / 100, LONGEST_SLEEP))


#: Ends a thread's turn. On Linux a sleep of 0 seconds takes more than 50 us.
_let_others_run: Callable[[], None] = getattr(os, "sched_yield", lambda: time.sleep(0))


class Waiter(Calls):
    """Thread that notes which of its kernels may take long, and waits for these in another way."""

    def __init__(self) -> None:
        super().__init__()
        self.on_main = on_main()  # the only thread that signals reach, and so the only one that notes
        # Kernels in flight of which nobody knows that they are soon done: where to note it, and the grid.
        self.unknown: list[tuple[set[Grid], Grid]] = []
        self._since = 0.0

    def note(self, kernel: Any, grid: Grid) -> None:
        """Note that the main thread has started a kernel, a `base.Kernel`, unless such a grid of it is known to end soon."""
        if kernel.endless or grid not in kernel.soon:
            if not self.unknown:
                self._since = time.perf_counter()
            if len(self.unknown) < MOST_COUNTED_KERNELS:
                self.unknown.append((set() if kernel.endless else kernel.soon, grid))

    def learn(self) -> None:
        """Note which of the kernels, all of them done now, were done soon."""
        if time.perf_counter() - self._since < SHORT_WAIT:
            for soon, grid in self.unknown:
                soon.add(grid)
        self.unknown = []


class _Job:
    def __init__(self, function: Callable[[], object]) -> None:
        self.function, self.error = function, None
        self.done = _thread.allocate_lock()
        self.done.acquire()

    error: BaseException | None


class Aside:
    """Thread that waits in the place of the main one, which signals then reach: they reach no thread that is in C."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._started = False

    def wait(self, function: Callable[[], object]) -> None:
        """Call a function that waits, and wait for its return. The exception of a signal leaves the function running."""
        if not self._started:
            threading.Thread(target=self._serve, name="gpustats-wait", daemon=True).start()
            self._started = True
        job = _Job(function)
        self._jobs.put(job)
        while not job.done.acquire(timeout=SIGNAL_INTERVAL):
            pass
        if job.error is not None:
            raise job.error

    def _serve(self) -> None:
        calls = Calls(for_main=True)
        while True:
            job = self._jobs.get()
            try:
                with calls:
                    job.function()
            except BaseException as error:
                job.error = error
            job.done.release()
            del job


def keep_for_ever(*objects: object) -> None:
    """Keep objects in a forked child, at its end too: to free them, a driver might free the parent's, or end the child."""
    import ctypes

    for kept in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


_held: list[Calls | None] = []  # while the process is forked: what its threads have, which are gone in the child


def _forget_other_threads() -> None:
    global _lock
    keep_for_ever(*_held)
    _everyone.clear()
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _held.extend(known() for known in _everyone), after_in_parent=_held.clear,
        after_in_child=_forget_other_threads,
    )  # fmt: skip
