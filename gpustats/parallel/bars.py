"""Progress bars: in a terminal, and in a notebook one output that changes in its place."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

MESSAGE_INTERVAL = 0.1  # seconds between two messages to a notebook, which would else pile up


@contextlib.contextmanager
def bar(n: int, shown: bool) -> Iterator[Callable[[int], None]]:
    """Function to call with the number of items newly done, of n; a bar shows them if `shown`."""
    if not shown:
        yield lambda more: None
        return
    from rich import get_console

    with (_in_a_notebook if get_console().is_jupyter else _in_a_terminal)(n) as advance:
        yield advance


@contextlib.contextmanager
def _in_a_terminal(n: int) -> Iterator[Callable[[int], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) as progress:
        task = progress.add_task("", total=n)
        yield lambda more: progress.advance(task, more)


@contextlib.contextmanager
def _in_a_notebook(n: int) -> Iterator[Callable[[int], None]]:
    """Bar in a notebook, where Rich would need ipywidgets, whose bars no saved notebook has."""
    from IPython.display import HTML, display

    done, said = 0, time.monotonic()

    def drawn() -> HTML:
        return HTML(f'<progress value="{done}" max="{n}"></progress> {done} of {n}')

    def advance(more: int) -> None:
        nonlocal done, said
        done += more
        if time.monotonic() > said + MESSAGE_INTERVAL:
            said = time.monotonic()
            output.update(drawn())

    output = display(drawn(), display_id=True)
    try:
        yield advance
    finally:
        output.update(drawn())
