"""Active variables of a function: variables that have derivatives, and in which directions. Differentiation keeps others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..language import nodes as lang
from ..language.nodes import INT, REAL, VECTOR, Assign, Call, Conditional, Declare, Expression, Index, Name, parts
from .derivative_rules import RULES, is_number


class Activity:
    """Variables of a function that depend on the parameters in whose directions, `wrt`, it is differentiated."""

    def __init__(self, function: lang.Function, wrt: tuple[str, ...]):
        self.wrt = frozenset(wrt)
        written = lang.written(function)
        times = Counter(n.name for n in written)
        parameters = {p.name for p in function.parameters}
        #: names whose values never change: parameters that are not assigned to, variables that are written once
        self.stable = (parameters - times.keys()) | {n for n, count in times.items() if count == 1 and n not in parameters}
        #: variables that are made of 0 and NAN only: they are their own derivatives
        self.constant = _constant_variables(written, parameters)
        #: name of a variable -> the directions in which it has a derivative
        self.directions = {p.name: frozenset({p.name}) for p in function.parameters if p.name in wrt and p.type != VECTOR}
        self._known: dict[Expression, frozenset[str]] = {}
        self._spread(written)

    def _spread(self, written: Sequence[Declare | Assign]) -> None:
        """Carry directions from variables to those that are made of them, until nothing changes."""
        changed = True
        while changed:
            changed = False
            for n in written:
                if n.value is not None and n.type != INT:
                    self._known.clear()
                    before = self.directions.get(n.name)
                    self.directions[n.name] = now = (before or frozenset()) | self._found(n.value)
                    changed = changed or now != before
        self._known.clear()

    def add(self, name: str, directions: Iterable[str]) -> None:
        """Take up a variable that the differentiation makes, or makes anew."""
        if name in self.directions:
            self._known.clear()
        self.directions[name] = frozenset(directions)

    def of(self, e: Expression) -> frozenset[str]:
        """Directions in which the expression `e` has a derivative."""
        if (known := self._known.get(e)) is None:
            self._known[e] = known = self._found(e)
        return known

    def _found(self, e: Expression) -> frozenset[str]:
        match e:
            case Name():
                if e.name == "NAN":
                    return self.wrt
                return self.wrt & {e.name} if e.type == VECTOR else self.directions.get(e.name, frozenset())
            case Index():
                return self.wrt & {e.array.name}
            case Conditional():
                return self.of(e.then) | self.of(e.otherwise)
            case Call() if RULES.get(e.function) == "0":
                return frozenset()
        if e.type == INT:
            return frozenset()
        return frozenset().union(*map(self.of, parts(e)))


def _constant_variables(written: Sequence[Declare | Assign], parameters: set[str]) -> set[str]:
    found = {n.name for n in written if n.type == REAL} - parameters
    count = -1
    while len(found) != count:
        count = len(found)
        for n in written:
            if n.name in found and n.value is not None and not _is_constant(n.value, found):
                found.remove(n.name)
    return found


def _is_constant(e: Expression, names: set[str]) -> bool:
    """True if the expression `e` is made of 0, NAN and the variables `names` only."""
    match e:
        case lang.Number():
            return is_number(e, 0)
        case Name():
            return e.name == "NAN" or e.name in names
        case Conditional():
            return _is_constant(e.then, names) and _is_constant(e.otherwise, names)
        case lang.Binary():
            return e.operator == "+" and _is_constant(e.left, names) and _is_constant(e.right, names)
    return False
