"""Function as a multiple of one logarithm plus a rest, so that a sum over rows takes the logarithm of a product.

The weight of a logarithm must depend on the parameters alone, in every result of the function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from ..language import nodes as lang
from ..language.names import unlike_others
from ..language.nodes import REAL, Assign, Binary, Call, Expression, Function, Name, Resolve, Statement, Unary
from .derivative_rules import ONE, ZERO, add, is_number, multiply
from .inlined import NotInlined, inlined

MOST_NODES, MOST_LEVELS = 3000, 40  # of a function, and of variables that are made of one another

#: The logarithms of which several are one: of numbers, and of 1 plus the squares of numbers.
LOGARITHMS = ("log", "special_log1p_square")


@dataclass(frozen=True)
class Shared:
    """Function without its multiples of a logarithm, as `shared_logarithm` makes it."""

    #: First come the results of the original without multiples of the logarithm; then come ``argument``, of which the
    #: logarithm is to be taken, ``usual``, which is 1 where all results have their multiple of it and 0 elsewhere, and the
    #: weights.
    function: Function
    logarithm: str  # one of LOGARITHMS
    weights: dict[str, str]  # result -> the result of `function` by which the logarithm is multiplied in it


class _NotLinear(Exception):
    """Result that is not a multiple of the logarithm plus something else."""


def shared_logarithm(function: Function, by_row: Container[str], resolve: Resolve, alone: Sequence[str] = ()) -> Shared | None:
    """Function split into a multiple of a logarithm and a rest; None where it is no such sum.

    `by_row` are its parameters that differ from row to row, and `alone` are results that are wanted as they are.
    """
    try:
        flat = inlined(function, lambda name: None if name.startswith("special_") else resolve(name))
    except NotInlined:
        return None
    if sum(1 for s in flat.body for _ in lang.walk(s)) > MOST_NODES:
        return None
    varying = _varying(flat, by_row)
    calls = (n for s in flat.body for n in lang.walk(s) if isinstance(n, Call) and n.function in LOGARITHMS)
    for call in dict.fromkeys(calls):
        if lang.names_in(call) & varying:
            try:
                return _Splitter(flat, call, varying).run(resolve, alone)
            except _NotLinear:
                continue
    return None


def _varying(function: Function, by_row: Container[str]) -> set[str]:
    """Parameters and variables that may differ from row to row."""
    found = {p.name for p in function.parameters if p.name in by_row}

    def visit(statements: Sequence[Statement | None], control: bool) -> None:
        for s in statements:
            match s:
                case lang.Declare() | Assign():
                    if control or (s.value is not None and lang.names_in(s.value) & found):
                        found.add(s.name)
                case lang.If():
                    inside = control or bool(lang.names_in(s.condition) & found)
                    visit((*s.then, *s.otherwise), inside)
                case lang.For():
                    visit((s.start, s.step, *s.body), control or bool(lang.names_in(s.condition) & found))

    before = -1
    while before != len(found):
        before = len(found)
        visit(function.body, False)
    return found


class _Splitter:
    """Splitter that takes the multiples of one logarithm out of a function without calls of others."""

    def __init__(self, function: Function, call: Call, varying: set[str]):
        self.function, self.call, self.varying = function, call, varying
        self.weights: dict[str, Expression] = {}  # variable -> what the logarithm is multiplied by in it
        self.left = MOST_NODES  # of expressions in terms of the parameters
        self.conditions: dict[Expression, None] = {}  # that hold where no weight is 0 for want of them
        written = lang.written(*function.body)
        times = Counter(n.name for n in written)
        parameters = {p.name for p in function.parameters}
        self.fixed = parameters - times.keys()
        self.values = {n.name: n.value for n in written if times[n.name] == 1 and n.name not in parameters}

    def run(self, resolve: Resolve, alone: Sequence[str]) -> Shared:
        f = self.function
        *statements, last = f.body
        assert isinstance(last, lang.Return)
        body = self.block(statements)
        values: Sequence[Expression] = [last.value]
        if f.results:
            assert isinstance(last.value, Call)
            values = last.value.arguments
        names = f.results or ("value",)
        rests, weights = zip(*map(self.split, values), strict=True)
        found = {r: w for r, w in zip(names, weights, strict=True) if w is not None}
        if not found or found.keys() & set(alone):
            raise _NotLinear
        usual: Expression = ONE
        if self.conditions:
            first, *others = self.conditions
            for c in others:
                first = Binary("&&", first, c, lang.INT)
            usual = lang.Conditional(first, ONE, ZERO, REAL)
        results = (*names, "argument", "usual", *(f"weight_{r}" for r in found))
        name = f"{f.name}_shared"
        made = Function(name, f.parameters, (), f"{name}_results", results)
        value = Call(made.maker, (*rests, self.known(self.call.arguments[0]), usual, *found.values()), made.type)
        made = unlike_others(replace(made, body=(*body, lang.Return(value))), resolve)
        return Shared(made, self.call.function, {r: f"weight_{r}" for r in found})

    def holds(self, e: lang.Node) -> bool:
        """True if the expression `e` depends on the logarithm."""
        return any(n == self.call or (isinstance(n, Name) and n.name in self.weights) for n in lang.walk(e))

    def known(self, e: Expression, levels: int = MOST_LEVELS) -> Expression:
        """Expression `e` in terms of the parameters."""
        self.left -= 1
        held = e == self.call or (isinstance(e, Name) and e.name in self.weights)
        if held or not levels or self.left < 0:
            raise _NotLinear
        if isinstance(e, Name) and e.name in self.values:
            value = self.values[e.name]
            if value is None:
                raise _NotLinear
            value = self.known(value, levels - 1)
            return value if value.type == e.type else lang.Cast(e.type, value)
        if isinstance(e, Name) and e.name not in self.fixed and e.name not in (*lang.CONSTANTS, *lang.SPECIAL_CONSTANTS):
            raise _NotLinear
        rebuilt: Expression = lang.rebuild(e, lambda part: self.known(part, levels))
        return rebuilt

    def constant(self, e: Expression) -> Expression:
        """Expression `e` in terms of the parameters, if it does not vary by row; else _NotLinear."""
        if lang.names_in(e) & self.varying:
            raise _NotLinear
        return self.known(e)

    def either(self, condition: Expression, one: Expression | None, other: Expression | None) -> Expression | None:
        """Weight of the logarithm: that of `one` where `condition` holds, else that of `other`."""
        if one == other:
            return one
        condition = self.known(condition)
        if lang.names_in(condition) & self.varying:
            if one is not None and other is not None:
                raise _NotLinear
            self.conditions[condition if one is not None else Unary("!", condition, lang.INT)] = None
        return lang.Conditional(condition, one or ZERO, other or ZERO, REAL)

    def block(self, statements: Sequence[Statement]) -> list[Statement]:
        made: list[Statement] = []
        for s in statements:
            match s:
                case lang.Declare() | Assign() if s.value is not None:
                    if not self.holds(s.value):
                        self.weights.pop(s.name, None)
                        made.append(s)
                    else:
                        if s.type != REAL:
                            raise _NotLinear
                        value, weight = self.split(s.value)
                        made.append(replace(s, value=value))
                        if weight is not None:
                            self.weights[s.name] = weight
                case lang.If():
                    if self.holds(s.condition):
                        raise _NotLinear
                    before = self.weights
                    self.weights = before.copy()
                    then, one = self.block(s.then), self.weights
                    self.weights = before.copy()
                    otherwise, other = self.block(s.otherwise), self.weights
                    merged = {n: self.either(s.condition, one.get(n), other.get(n)) for n in {**one, **other}}
                    self.weights = {n: w for n, w in merged.items() if w is not None}
                    made.append(replace(s, then=tuple(then), otherwise=tuple(otherwise)))
                case _:
                    if self.holds(s):
                        raise _NotLinear
                    made.append(s)
        return made

    def split(self, e: Expression) -> tuple[Expression, Expression | None]:
        """Rest of `e` without the logarithm, and the weight of the logarithm in it."""
        if e == self.call:
            return ZERO, ONE
        if not self.holds(e):
            return e, None
        match e:
            case Name():
                return e, self.weights[e.name]
            case Unary(operator="-" | "+" as sign):
                rest, weight = self.split(e.operand)
                assert weight is not None
                return (e, weight) if sign == "+" else (_negative(rest), _negative(weight))
            case Binary(operator="+" | "-" as sign):
                (left, one), (right, other) = self.split(e.left), self.split(e.right)
                if other is not None and sign == "-":
                    other = _negative(other)
                both = add(one, other) if one is not None and other is not None else one or other
                if is_number(right, 0):
                    return left, both
                if is_number(left, 0):
                    return right if sign == "+" else _negative(right), both
                return replace(e, left=left, right=right), both
            case Binary(operator="*"):
                if self.holds(e.left):
                    rest, weight = self.split(e.left)
                    assert weight is not None
                    return _times(rest, e.right), multiply(weight, self.constant(e.right))
                rest, weight = self.split(e.right)
                assert weight is not None
                return _times(e.left, rest), multiply(self.constant(e.left), weight)
            case lang.Conditional() if not self.holds(e.condition):
                (then, one), (otherwise, other) = self.split(e.then), self.split(e.otherwise)
                return replace(e, then=then, otherwise=otherwise), self.either(e.condition, one, other)
        raise _NotLinear


def _negative(e: Expression) -> Expression:
    return e if is_number(e, 0) else Unary("-", e, REAL)


def _times(left: Expression, right: Expression) -> Expression:
    return ZERO if is_number(left, 0) or is_number(right, 0) else Binary("*", left, right, REAL)
