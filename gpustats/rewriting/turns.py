"""Turns of loops over sequences: their order, and loops that go through them back, with what the turns begin with restored.

A loop stores the variables with which each turn begins, or those of some turns, its checkpoints: about as many as the square
root of the number of turns. Then the turns between two checkpoints are gone through once more before the way back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..language import nodes as lang
from ..language.nodes import (
    INT,
    OUTPUT,
    REAL,
    Assign,
    Binary,
    Call,
    Cast,
    Declare,
    Expression,
    For,
    Name,
    Number,
    Statement,
)

_ONE, _ZERO, _HALF = Number("1", INT), Number("0", INT), Number("65536", INT)


@dataclass(frozen=True)
class Turns:
    """Turns of a loop that goes through elements of sequences, one after another."""

    here: Name  # the place of the element
    first: Expression  # the lowest place
    end: Expression  # behind the highest one
    rises: bool

    @classmethod
    def of(cls, loop: For) -> Turns | None:
        """Turns of a loop from a place to the end of the sequences or near it, or back; None for any other loop."""
        start, step, condition = loop.start, loop.step, loop.condition
        if not isinstance(start, Declare) or start.type != INT or start.value is None or not isinstance(condition, Binary):
            return None
        here = Name(start.name, INT)
        changed = any(isinstance(n, Assign) and n.name == here.name for part in loop.body for n in lang.walk(part))
        if changed or condition.left != here:
            return None
        if step == Assign(here.name, INT, _plus(here, _ONE)) and condition.operator == "<":
            known = isinstance(start.value, Number) and _near_end(condition.right, 0)
            return cls(here, start.value, condition.right, True) if known else None
        if step == Assign(here.name, INT, _minus(here, _ONE)) and condition.operator in (">=", ">"):
            if not isinstance(condition.right, Number) or not isinstance(start.value, Binary) or not _near_end(start.value, 1):
                return None
            assert isinstance(start.value.right, Number)
            before, above = int(start.value.right.text) - 1, condition.operator == ">"
            end = _minus(Name("dim", INT), Number(str(before), INT)) if before else Name("dim", INT)
            return cls(here, Number(str(int(condition.right.text) + above), INT), end, False)
        return None

    def back(self, body: Sequence[Statement]) -> For:
        """Loop through the same turns, the last one first."""
        return self.within(self.first, self.end, not self.rises, body)

    def within(self, first: Expression, end: Expression, rises: bool, body: Sequence[Statement]) -> For:
        """Loop through the places from `first` up to `end`."""
        if rises:
            start, condition, step = first, Binary("<", self.here, end, INT), _plus(self.here, _ONE)
        else:
            start, condition, step = _minus(end, _ONE), Binary(">=", self.here, first, INT), _minus(self.here, _ONE)
        return For(Declare(INT, self.here.name, start), condition, Assign(self.here.name, INT, step), tuple(body))


def _near_end(e: Expression, least: int) -> bool:
    """True if a whole number is the length of the sequences, or less by a number that is written out and at least `least`."""
    if e == Name("dim", INT):
        return least == 0
    shorter = isinstance(e, Binary) and e.operator == "-" and e.left == Name("dim", INT) and e.type == INT
    return shorter and isinstance(e.right, Number) and int(e.right.text) >= least  # type: ignore[union-attr]


@dataclass(frozen=True)
class Stored:
    """Variable that is stored at some places, a whole one in two parts: a `float` does not have all numbers of an `int`."""

    variable: Name
    tapes: tuple[str, ...]

    def put(self, place: Expression) -> list[Statement]:
        """Statements that store the variable."""
        values: list[Expression] = [self.variable]
        if self.variable.type == INT:
            values = list(parts_of(self.variable))
        return [lang.Store(Name(tape, OUTPUT), place, value) for tape, value in zip(self.tapes, values, strict=True)]

    def take(self, place: Expression) -> Statement:
        """Statement that gives the variable the value that was stored."""
        found = [lang.Index(Name(tape, OUTPUT), place) for tape in self.tapes]
        return Assign(self.variable.name, self.variable.type, whole_of(*found) if self.variable.type == INT else found[0])


def parts_of(whole: Expression) -> tuple[Expression, Expression]:
    """Two numbers that tell a whole number, and that a `float` has."""
    high = Binary("/", whole, _HALF, INT)
    return Cast(REAL, high), Cast(REAL, _minus(whole, Binary("*", high, _HALF, INT)))


def whole_of(high: Expression, low: Expression) -> Expression:
    """Whole number of the two numbers that tell it."""
    return _plus(Binary("*", Cast(INT, high), _HALF, INT), Cast(INT, low))


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of a loop: places of a tape behind those of the turns between two of them."""

    turns: Turns
    every: Name  # number of turns between two checkpoints
    left: Name  # turns up to the next checkpoint
    place: Name  # of the next checkpoint on the tape

    def begun(self) -> list[Statement]:
        """Statements before the first sweep through the loop."""
        root = Call("sqrt", (Cast(REAL, Name("dim", INT)),))
        values = _plus(Cast(INT, root), _ONE), _ZERO, self.every
        return [Declare(INT, name.name, value) for name, value in zip((self.every, self.left, self.place), values, strict=True)]

    def put(self, states: Sequence[Stored]) -> list[Statement]:
        """Statements at the beginning of a turn of the first sweep."""
        stores = [s for state in states for s in state.put(self.place)]
        begun = [_set(self.place, _plus(self.place, _ONE)), _set(self.left, self.every)]
        now = Binary("==", self.left, _ZERO, INT)
        return [lang.If(now, (*stores, *begun), ()), _set(self.left, _minus(self.left, _ONE))]

    def back(
        self, states: Sequence[Stored], again: Sequence[Statement], body: Sequence[Statement], fresh: Callable[[str], str]
    ) -> For:
        """Loop through the checkpoints, the last one first; `again` are the statements of a turn, `body` those on its way back.
        """
        turns, one = self.turns, Name(fresh("checkpoint_here"), INT)
        begin, to = Name(fresh("begin"), INT), Name(fresh("to"), INT)
        done = Binary("*", _minus(one, self.every), self.every, INT)  # turns before the checkpoint
        if turns.rises:
            first, last = _plus(turns.first, done), Call("min", (_plus(begin, self.every), turns.end), INT)
            at = _minus(turns.here, begin)
        else:
            first, last = _minus(turns.end, done), Call("max", (_minus(begin, self.every), turns.first), INT)
            at = _minus(_minus(begin, _ONE), turns.here)
        low, high = (begin, to) if turns.rises else (to, begin)
        forth = turns.within(low, high, turns.rises, [*(s for state in states for s in state.put(at)), *again])
        back = turns.within(low, high, not turns.rises, [*(state.take(at) for state in states), *body])
        inner: list[Statement] = [
            *(state.take(one) for state in states), Declare(INT, begin.name, first), Declare(INT, to.name, last),
            _counted(forth, turns), _counted(back, turns),
        ]  # fmt: skip
        few = Binary("&&", Binary(">=", one, _ZERO, INT), Binary(">=", one, self.every, INT), INT)
        start = Declare(INT, one.name, _minus(self.place, _ONE))
        return For(start, few, Assign(one.name, INT, _minus(one, _ONE)), tuple(inner))


def numbers_of_checkpoints(length: int) -> int:
    """Numbers on a tape for a sequence of a length: for the turns between two checkpoints, and for these."""
    return 2 * (math.isqrt(length) + 3)


def _counted(loop: For, turns: Turns) -> For:
    """Loop that says, too, that it stays within the sequences: so it plainly has an end."""
    rises = isinstance(loop.condition, Binary) and loop.condition.operator == "<"
    within = Binary("<", turns.here, turns.end, INT) if rises else Binary(">=", turns.here, turns.first, INT)
    return replace(loop, condition=Binary("&&", within, loop.condition, INT))


def _plus(a: Expression, b: Expression) -> Expression:
    return Binary("+", a, b, INT)


def _minus(a: Expression, b: Expression) -> Expression:
    return Binary("-", a, b, INT)


def _set(variable: Name, value: Expression) -> Assign:
    return Assign(variable.name, INT, value)
