"""Functions as values that never change, as reverse sweeps take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..language import nodes as lang
from ..language.nodes import Call, Conditional, Expression, For, Function, Name
from .turns import Checkpoints, Stored, Turns


@dataclass
class Let:
    """Variable that is given its only value."""

    name: str
    type: str
    value: Expression


@dataclass
class Branch:
    """Condition, what is done where it holds and where not, and the variables whose values come from there."""

    condition: Expression
    then: list[Item]
    otherwise: list[Item]
    joined: list[tuple[str, str, str, str]] = field(default_factory=list)  # name, type, value on either side


@dataclass
class Loop:
    """Loop over elements of the sequences; a variable of `states` keeps its value from turn to turn."""

    loop: For
    turns: Turns
    items: list[Item]
    states: list[tuple[str, str, str]]  # name, first value, value at the end of a turn
    stored: list[Stored] = field(default_factory=list)  # the states that are stored
    checkpoints: Checkpoints | None = None  # where those of some turns are


@dataclass
class Inner:
    """Call of a function that is a loop of any other kind; `outputs` are the variables that it changes, and their results."""

    function: Function
    arguments: list[Name]
    struct: str  # variable for what the function returns
    outputs: list[tuple[Name, tuple[str, ...]]]


Item: TypeAlias = Let | Branch | Loop | Inner

_CHOOSING = ("fmax", "fmin", "fdim")  # functions that may not use an argument


def perhaps_unused(items: Sequence[Item]) -> set[str]:
    """Variables that a branch, a conditional or the end of a loop may leave unused, and what only such are made of."""
    made: dict[str, set[str]] = {}  # variable -> those that it is made of
    found: set[str] = set()
    used: set[str] = set()  # outside of loops, or in a branch around them

    def look(items: Sequence[Item], in_branch: bool, in_loop: bool) -> None:
        for item in items:
            match item:
                case Let():
                    its = lang.names_in(item.value)
                    made.setdefault(item.name, set()).update(its)
                    found.update(its if in_branch else _chosen(item.value))
                    used.update(() if in_loop else its)
                case Branch():
                    look([*item.then, *item.otherwise], True, in_loop)
                    for _, _, *values in item.joined:
                        found.update(values)
                        used.update(() if in_loop else values)
                case Inner():
                    its = frozenset(a.name for a in item.arguments)
                    for output, _ in item.outputs:
                        made.setdefault(output.name, set()).update(its)
                    found.update(its if in_branch else ())
                    used.update(() if in_loop else its)
                case Loop():
                    look(item.items, in_branch, True)
                    for state, first, last in item.states:
                        made.setdefault(state, set()).update((first, last))
                        used.add(first)

    look(items, False, False)
    states = {state for item in _loops(items) for state, *_ in item.states}
    found |= states - used  # whose last values are not used
    left = list(found)
    while left:
        new = made.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def _loops(items: Sequence[Item]) -> Iterator[Loop]:
    for item in items:
        if isinstance(item, Loop):
            yield item
        elif isinstance(item, Branch):
            yield from _loops([*item.then, *item.otherwise])


def _chosen(e: Expression) -> set[str]:
    """Names in parts of an expression that it may not use."""
    found: set[str] = set()
    for n in lang.walk(e):
        if isinstance(n, Conditional):
            found |= lang.names_in(n.then) | lang.names_in(n.otherwise)
        elif isinstance(n, Call) and n.function in _CHOOSING:
            found |= lang.names_in(n)
    return found
