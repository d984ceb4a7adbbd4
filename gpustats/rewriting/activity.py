"""Which variables of a function have derivatives, and in which directions: differentiation leaves all others as they are."""

from __future__ import annotations

from collections.abc import Sequence

from ..language.nodes import (
    INT,
    REAL,
    VECTOR,
    Assign,
    Binary,
    Call,
    Conditional,
    Declare,
    Expression,
    Function,
    Index,
    Name,
    Number,
    parts,
    walk,
)
from .derivative_rules import RULES, is_number


class Activity:
    """The variables of a function that depend on the parameters in whose directions it is differentiated.

    Parameters
    ----------
    function : Function
    wrt : tuple of str
        Names of its parameters: the directions.

    Attributes
    ----------
    constant : set of str
        Variables that are made of 0 and NAN only: they are their own derivatives.
    stable : set of str
        Names whose values never change: parameters that are not assigned to, variables that are written once.
    directions : dict
        Name of a variable -> the directions in which it has a derivative. Names made by the differentiation are added.
    """

    def __init__(self, function: Function, wrt: tuple[str, ...]):
        self.wrt = frozenset(wrt)
        written = [n for n in walk(function) if isinstance(n, (Declare, Assign))]
        names = [n.name for n in written]
        parameters = {p.name for p in function.parameters}
        self.stable = (parameters - set(names)) | {n for n in names if names.count(n) == 1 and n not in parameters}
        self.constant = _constant_variables(written, parameters)
        self.directions = {p.name: {p.name} for p in function.parameters if p.name in wrt and p.type != VECTOR}
        self._spread(written)

    def _spread(self, written: Sequence[Declare | Assign]) -> None:
        """Carry directions from variables to those that are made of them, until nothing changes."""
        while True:
            before = {n: set(directions) for n, directions in self.directions.items()}
            for n in written:
                if n.value is not None and n.type != INT:
                    self.directions.setdefault(n.name, set()).update(self.of(n.value))
            if self.directions == before:
                return

    def of(self, e: Expression) -> set[str]:
        """The directions in which `e` has a derivative."""
        match e:
            case Name():
                if e.name == "NAN":
                    return set(self.wrt)
                return {e.name} & self.wrt if e.type == VECTOR else self.directions.get(e.name, set())
            case Index():
                return {e.array.name} & self.wrt
            case Conditional():
                return self.of(e.then) | self.of(e.otherwise)
            case Call() if RULES.get(e.function) == "0":
                return set()
        if e.type == INT:
            return set()
        found: set[str] = set()
        for child in parts(e):
            found |= self.of(child)
        return found


def _constant_variables(written: Sequence[Declare | Assign], parameters: set[str]) -> set[str]:
    found = {n.name for n in written if n.type == REAL} - parameters
    while True:
        wrong = {n.name for n in written if n.value is not None and not _is_constant(n.value, found)}
        if not found & wrong:
            return found
        found -= wrong


def _is_constant(e: Expression, names: set[str]) -> bool:
    """Whether `e` is made of 0, NAN and the variables `names` only."""
    match e:
        case Number():
            return is_number(e, 0)
        case Name():
            return e.name == "NAN" or e.name in names
        case Conditional():
            return _is_constant(e.then, names) and _is_constant(e.otherwise, names)
        case Binary():
            return e.operator == "+" and _is_constant(e.left, names) and _is_constant(e.right, names)
    return False
