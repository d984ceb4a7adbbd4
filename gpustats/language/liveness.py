"""Liveness: the statements of a function that matter for some variables, and the variables on whose values they rely."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from . import nodes as lang
from .nodes import Assign, Declare, For, If, Node, Statement


def needed(statements: Sequence[Statement], after: Collection[str]) -> tuple[tuple[Statement, ...], frozenset[str]]:
    """Those of the statements that the variables `after`, which are read behind them, need; and what is read of those before.

    Each variable is declared once.
    """
    kept, live = list[Statement](), frozenset(after)
    written: set[str] = set()  # in statements that are kept
    for s in reversed(statements):
        match s:
            case Declare() if s.name in live:
                live = (live - {s.name}) | names_in(s.value)
            case Declare() if s.name in written:
                s = replace(s, value=None)
            case Assign() if s.name in live:
                live = (live - {s.name}) | names_in(s.value)
            case Declare() | Assign():
                continue
            case If():
                (then, by_then), (otherwise, by_otherwise) = needed(s.then, live), needed(s.otherwise, live)
                if not then and not otherwise:
                    continue
                s = replace(s, then=then, otherwise=otherwise)
                live = by_then | by_otherwise | names_in(s.condition)
            case For():
                matters = bool(needed((*s.body, *([s.step] if s.step else [])), live)[0])
                if not matters and (not isinstance(s.start, Assign) or s.start.name not in live):
                    continue
                if matters:
                    body, live = needed_in_loop(s, live)
                    s = replace(s, body=body)
                if s.start is not None:
                    live = (live - {s.start.name}) | names_in(s.start.value)
                s = s if matters else s.start  # type: ignore[assignment]  # an assignment then
            case _:  # a return, or what writes to memory
                live |= names_in(s)
        kept.append(s)
        written |= {n.name for n in lang.written(s) if isinstance(n, Assign)}
    return tuple(reversed(kept)), live


def needed_in_loop(loop: For, after: Collection[str]) -> tuple[tuple[Statement, ...], frozenset[str]]:
    """Statements of a loop's body that matter, and the variables on which the loop relies once it has begun: see `needed`."""
    step = () if loop.step is None else (loop.step,)
    live = frozenset(after) | names_in(loop.condition)
    while True:
        kept, before = needed((*loop.body, *step), live)
        if before <= live:
            return tuple(s for s in kept if s is not loop.step), live
        live |= before


def names_in(*nodes: Node | None) -> frozenset[str]:
    """Names that are read in nodes."""
    return frozenset().union(*(lang.names_in(node) for node in nodes if node is not None))
