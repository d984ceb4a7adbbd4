"""Termination of code that a condition of the author's would have kept from being evaluated.

Device functions are pure, but where the conditions around a loop do not hold, it may be without end. Straight-line code is
harmless anywhere, and so are loops whose turns can be told from the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..language import nodes as lang
from ..language.bounds import LARGEST_INT, conjuncts, written_out
from ..language.nodes import INT, Expression, Node, Resolve

MOST_NESTED_TURNS = 1 << 16  # of all loops within one another
_ASSUMED_DIM = 128  # elements that a vector is taken to have, for counting turns


class Termination:
    """Test for code that is certain to end soon, whatever the values of its variables are.

    `resolve` finds the functions that are called; those that it does not find are harmless.
    """

    def __init__(self, resolve: Resolve):
        self._resolve = resolve
        self._turns_of: dict[str, int] = {"": 1}  # of functions

    def is_certain(self, *nodes: Node) -> bool:
        """True if all `nodes` may be evaluated whatever the conditions around them are."""
        return self._most_turns(_turns_around_calls(nodes)) <= MOST_NESTED_TURNS

    def _most_turns(self, around: Mapping[str, int]) -> int:
        """Largest number of turns of the innermost loops; more than `MOST_NESTED_TURNS` where it is unknown."""
        return max(turns * self._turns_of_function(name) for name, turns in around.items())

    def _turns_of_function(self, name: str) -> int:
        if name not in self._turns_of:
            function = self._resolve(name)
            self._turns_of[name] = 1 if function is None else self._most_turns(_turns_in(function))
        return self._turns_of[name]


def _turns_around_calls(nodes: Iterable[Node]) -> dict[str, int]:
    """Largest number of turns of the loops around a call, by the function called; "": around no call, too."""
    found = {"": 1}
    for node in nodes:
        for name, turns in _turns_in(node).items():
            found[name] = max(found.get(name, 1), turns)
    return found


@lang.kept("_turns")
def _turns_in(node: Node) -> dict[str, int]:
    if isinstance(node, Expression):
        return dict.fromkeys(lang.called(node), 1)
    turns = _turns_of_loop(node) if isinstance(node, lang.For) else 1
    return {name: turns * t for name, t in _turns_around_calls(lang.children(node)).items()}


def _turns_of_loop(loop: lang.For) -> int:
    """Largest number of turns of a loop that counts with an `int` from one bound to another, neither of them computed."""
    start, step = loop.start, loop.step
    unknown = MOST_NESTED_TURNS + 1
    if start is None or step is None or start.value is None or start.type != INT or start.name != step.name:
        return unknown
    counter, value = lang.Name(start.name, INT), step.value
    first = _bound(start.value)
    if first is None or not isinstance(value, lang.Binary) or value.operator not in ("+", "-") or value.left != counter:
        return unknown
    by = written_out(value.right)
    if by is None or by < 1 or any(s.name == start.name for s in lang.written(*loop.body)):
        return unknown
    towards = ("<", "<=") if value.operator == "+" else (">", ">=")
    for condition in conjuncts(loop.condition):
        if isinstance(condition, lang.Binary) and condition.operator in towards and condition.left == counter:
            last = _bound(condition.right) if value.operator == "-" else _most(condition.right)
            if last is not None and abs(last) + by <= LARGEST_INT:  # beyond, it would begin again
                return abs(last - first) // by + 1  # the last one being that in which the condition fails
    return unknown


def _most(e: Expression) -> int | None:
    """Upper bound of `e`: the larger side of a choice; of ``n < m ? n : m``, the smaller one, or the side that is known."""
    if not isinstance(e, lang.Conditional):
        return _bound(e)
    sides = [_most(side) for side in (e.then, e.otherwise)]
    known = [side for side in sides if side is not None]
    if e.condition == lang.Binary("<", e.then, e.otherwise, INT):
        return min(known, default=None)
    return max(known) if len(known) == 2 else None


def _bound(e: Expression) -> int | None:
    """Number that `e` stands for, where it is made of literals and `dim`."""
    if isinstance(e, lang.Name):
        return _ASSUMED_DIM if e.name == "dim" else None
    if isinstance(e, lang.Binary) and e.operator in ("+", "-"):
        left, right = _bound(e.left), _bound(e.right)
        return None if left is None or right is None else left + right if e.operator == "+" else left - right
    return written_out(e)
