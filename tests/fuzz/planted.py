"""Faults that are planted in gpustats, in a child process, to test whether the comparison finds them and makes them small."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any


def _rule(name: str, text: str) -> None:
    from gpustats.rewriting import derivative_rules

    derivative_rules.RULES[name] = text


def _wrong_derivative() -> None:
    """The derivative of tanh forgets a factor."""
    _rule("tanh", "da")


def _wrong_parentheses() -> None:
    """a - (b - c) is printed as a - b - c."""
    from gpustats.language import printer
    from gpustats.language.nodes import Binary

    right = printer.Printer.expression

    def wrong(self: Any, e: Any, outer: int = 0) -> str:
        if isinstance(e, Binary) and e.operator == "-":
            return right(self, e, 0 if outer == 6 else outer)
        return right(self, e, outer)

    printer.Printer.expression = wrong  # type: ignore[method-assign]


def _when_tanh(act: Callable[[], None]) -> Callable[[], None]:
    """Something that happens when a function that calls tanh is printed."""

    def plant() -> None:
        from gpustats.language.printer import Printer

        right = Printer.function

        def wrong(self: Any, f: Any) -> str:
            text = right(self, f)
            if "tanh(" in text:
                act()
            return text

        Printer.function = wrong  # type: ignore[method-assign]

    return plant


PLANTS: dict[str, Callable[[], None]] = {
    "derivative": _wrong_derivative,
    "parentheses": _wrong_parentheses,
    "crash": _when_tanh(lambda: os.kill(os.getpid(), signal.SIGSEGV)),
    "hang": _when_tanh(lambda: time.sleep(10_000)),
}
