"""Progress of long work: one bar at a time, in a terminal, in a notebook, or as plain text where Rich is missing.

What goes on within shown work, such as the pieces of a stream within a step of a fit, or a kernel that takes long to compile,
is told behind its bar. Threads that share the work show nothing by themselves.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Protocol

MESSAGE_INTERVAL = 0.1  # seconds between two messages to a notebook, which would else pile up
SLOW = 1.0  # seconds from which on compilation is worth a word
COMPILING = "compiling a kernel"


class Advance(Protocol):
    """Function that tells a bar how many items are newly done, and a word on them."""

    def __call__(self, more: int, note: str = "", /) -> None: ...


_asked: ContextVar[bool] = ContextVar("asked", default=False)  # whether all long work is to be shown: see `progress`
_outer: ContextVar[Bar | None] = ContextVar("outer", default=None)  # the bar that is shown


@contextlib.contextmanager
def progress() -> Iterator[None]:
    """Bars for all long work within a ``with`` block, also of calls that have no argument for one.

    Streams of data from files show the rows that they have read, searches and samplers their steps, comparisons their pieces,
    and a kernel that takes more than a second to compile is told.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> likelihood = gs.Likelihood(gs.normal, np.zeros(1000), chunk=100, memory=4000)
    >>> with gs.progress():
    ...     value = likelihood(0.0, 1.0)  # doctest: +SKIP
    """
    token = _asked.set(True)
    try:
        yield
    finally:
        _asked.reset(token)


@contextlib.contextmanager
def bar(n: int | None, shown: bool = False, what: str = "") -> Iterator[Advance]:
    """Function to call with the number of items newly done, of n, or of nobody knows how many.

    A bar shows them if `shown`, or within `progress`; within another bar, they are told behind that one.
    """
    outer = _outer.get()
    if outer is not None:
        before, within = outer.note, Bar(n, what)

        def tell(more: int, note: str = "", /) -> None:
            within.done += more
            outer.remark(f"{within} {note}".rstrip())

        try:
            yield tell
        finally:
            outer.remark(before)
    elif shown or _asked.get():
        own = _shown(n, what)
        token = _outer.set(own)
        try:
            yield own.advance
            own.finish()
        finally:
            _outer.reset(token)
            own.stop()
    else:
        yield lambda more, note="", /: None


@contextlib.contextmanager
def told_if_slow(words: str) -> Iterator[None]:
    """Tell what goes on once it has taken a second: behind the bar that is shown, or within `progress` by one of its own."""
    outer = _outer.get()
    if outer is None and not _asked.get():
        yield
        return
    before = "" if outer is None else outer.note
    made: list[Bar] = []

    def tell() -> None:
        if outer is None:
            made.append(_shown(None, words))
        else:
            outer.remark(words)

    timer = threading.Timer(SLOW, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for own in made:
            own.stop()
        if outer is not None:
            outer.remark(before)


class Bar:
    """Number of items that are done, which a subclass shows."""

    def __init__(self, n: int | None, what: str):
        self.n, self.what, self.done, self.note = n, what, 0, ""

    def __str__(self) -> str:
        of = "" if self.n is None else f" of {self.n}"
        return f"{self.what} {self.done}{of}".strip() if self.n is not None or self.done else self.what

    def advance(self, more: int, note: str = "", /) -> None:
        self.done += more
        self.note = note or self.note
        self.draw()

    def remark(self, note: str) -> None:
        """Word on what goes on now."""
        if note != self.note:
            self.note = note
            self.draw()

    def finish(self) -> None:
        """Show that nothing is left to do, where fewer items than n were enough."""
        if self.n is not None and 0 < self.done < self.n:
            self.n = self.done
            self.draw()

    def draw(self) -> None:
        """Show the present state."""

    def stop(self) -> None:
        """Show the last state, which stays."""


class _InTerminal(Bar):
    """Bar by Rich; Rich's own thread draws it."""

    def __init__(self, n: int | None, what: str):
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        super().__init__(n, what)
        count = TextColumn("{task.fields[count]}", markup=False) if n is None else MofNCompleteColumn()
        time_left = TimeElapsedColumn() if n is None else TimeRemainingColumn()
        words = (TextColumn(f"{{task.{of}}}", markup=False) for of in ("description", "fields[note]"))
        self._progress = Progress(next(words), BarColumn(), count, time_left, next(words))
        self._task = self._progress.add_task(what, total=n, note="", count="")
        self._progress.start()

    def draw(self) -> None:
        count = str(self.done) if self.n is None else ""
        self._progress.update(self._task, completed=self.done, total=self.n, note=self.note, count=count)

    def stop(self) -> None:
        self.draw()
        self._progress.stop()


class _InNotebook(Bar):
    """Bar in a notebook, where Rich would need ipywidgets, whose bars no saved notebook has."""

    def __init__(self, n: int | None, what: str):
        from IPython.display import display

        super().__init__(n, what)
        self._said, self._output = time.monotonic(), display(self._drawn(), display_id=True)

    def _drawn(self, last: bool = False) -> Any:
        from IPython.display import HTML

        from .html import text

        ends = (1, 1) if last and self.n is None else (self.done, self.n)
        place = "" if ends[1] is None else f' value="{ends[0]}" max="{ends[1]}"'
        return HTML(f"<progress{place}></progress> {text(self)} {text(self.note)}".rstrip())

    def draw(self) -> None:
        if time.monotonic() > self._said + MESSAGE_INTERVAL:
            self._said = time.monotonic()
            self._output.update(self._drawn())

    def stop(self) -> None:
        self._output.update(self._drawn(last=True))


class _Plain(Bar):
    """Line that is written over and over on a terminal's error stream; elsewhere its last state alone."""

    def __init__(self, n: int | None, what: str):
        super().__init__(n, what)
        self._said, self._longest = 0.0, 0

    def draw(self) -> None:
        if sys.stderr is not None and sys.stderr.isatty() and time.monotonic() > self._said + MESSAGE_INTERVAL:
            self._said = time.monotonic()
            self._write("\r")

    def stop(self) -> None:
        if sys.stderr is not None:
            self._write("\r" if sys.stderr.isatty() else "", "\n")

    def _write(self, before: str, behind: str = "") -> None:
        line = f"{self} {self.note}".rstrip()
        self._longest = max(self._longest, len(line))
        sys.stderr.write(before + (line.ljust(self._longest) if before else line) + behind)
        sys.stderr.flush()


def _shown(n: int | None, what: str) -> Bar:
    """Bar that suits the place; plain text where Rich is missing, and nothing where another program's bar is shown."""
    if _is_notebook():
        return _InNotebook(n, what)
    try:
        from rich.errors import LiveError
    except ImportError:
        return _Plain(n, what)
    try:
        return _InTerminal(n, what)
    except LiveError:
        return Bar(n, what)


def _is_notebook() -> bool:
    """True if what is displayed goes to a notebook, of Jupyter, Colab or Databricks."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    return shell is not None and hasattr(shell, "kernel")
