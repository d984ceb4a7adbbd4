"""Random numbers that statements draw: how many words of a stream they take, where that does not depend on what is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from ..language import nodes as lang
from ..language.nodes import DRAWS, REAL, For, If, Resolve, Return, Statement

WORDS = 4  # of a block


class VaryingDraws(Exception):
    """Statements whose number of random numbers varies; the message names a function that draws them."""


def drawn_in(statements: Sequence[Statement], resolve: Resolve) -> tuple[str, ...]:
    """Kinds of the random numbers that statements draw, in their order: the functions of `DRAWS`, as kernels call them."""
    found: list[str] = []
    for s in statements:
        calls = lang.draws(s)
        if not calls:
            continue
        if isinstance(s, If) and not lang.draws(s.condition):
            sides = {drawn_in(side, resolve) for side in (s.then, s.otherwise)}
            if len(sides) > 1:
                raise VaryingDraws(calls[0].function)
            found += sides.pop()
            continue
        value = getattr(s, "value", None)
        if isinstance(s, If | For) or value is None or len(calls) > 1 or _is_chosen(value):
            raise VaryingDraws(calls[0].function)
        found += _kinds(calls[0], resolve)
    return tuple(found)


def _kinds(call: lang.Call, resolve: Resolve) -> tuple[str, ...]:
    if call.function in DRAWS.values():
        return (call.function,)
    function = resolve(call.function)
    if function is None or function.type != REAL:
        raise VaryingDraws(call.function)
    if any(isinstance(n, Return) for s in function.body[:-1] for n in lang.walk(s)):
        raise VaryingDraws(call.function)
    try:
        return drawn_in(function.body, resolve)
    except VaryingDraws:
        raise VaryingDraws(call.function) from None


def _is_chosen(value: lang.Expression) -> bool:
    """True if a condition within an expression decides whether it draws."""
    for n in lang.walk(value):
        if isinstance(n, lang.Conditional) and (lang.draws(n.then) or lang.draws(n.otherwise)):
            return True
        if isinstance(n, lang.Binary) and n.operator in ("&&", "||") and lang.draws(n.right):
            return True
    return False


def blocks_of(kinds: Sequence[str], double: bool) -> int:
    """Blocks of words that numbers of some kinds take from a fresh one on.

    As ``generator.mako`` takes them: of float64 a uniform number has two words, or the one that is left behind a normal number,
    which has three of one block; of float32 they have one and two.
    """
    blocks = left = 0
    for kind in kinds:
        normal = kind == DRAWS["normal"]
        if double:
            left = 0 if normal and left < 3 else left
            words = 3 if normal else 1 if left == 1 else 2
        else:
            words = 2 if normal else 1
        for _ in range(words):
            if not left:
                blocks, left = blocks + 1, WORDS
            left -= 1
    return blocks
