"""Functions of short vectors as functions of numbers: a number for each element, and a statement for each turn of a loop.

The values of whole numbers are followed from statement to statement; so loops over the elements, and all that depends on the
number of elements, go. An index that is not known chooses among the elements.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from ..errors import DeviceFunctionError
from . import nodes as lang
from .names import UnusedNames, unlike_others
from .nodes import INT, REAL, Assign, Call, Expression, For, Function, If, Name, Number, Statement, Unary

MOST_UNROLLED_TURNS = 4096  # of the loops of a function, all together
_INT_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def element_name(vector: str, i: int) -> str:
    """Name of the parameter that stands for element `i` of a vector."""
    return f"{vector}_{i}"


def unrolled(function: Function, dim: int, functions: MutableMapping[str, Function]) -> Function:
    """Function with `dim` numbers in the place of each vector, all of one length, and without the parameter ``dim``.

    Of `functions`, all that it calls, those that are made on the way are added. DeviceFunctionError where a loop takes too
    many turns, or another function is told a length that depends on data.
    """
    return Unroller(functions).of(function, dim)


def number_of(e: Expression) -> int | None:
    """Value of a whole number that is written out."""
    match e:
        case Number(type="int"):
            return int(e.text)
        case Unary(operator="-", operand=Number(type="int") as n):
            return -int(n.text)
    return None


def written(value: int) -> Expression:
    """Literal of a whole number."""
    number = Number(str(abs(value)), INT)
    return Unary("-", number, INT) if value < 0 else number


@dataclass
class Place:
    """Place for statements, and the state there: known values of whole numbers, and new names of variables."""

    known: dict[str, int]
    names: dict[str, str]
    out: list[Statement] = field(default_factory=list)

    def inner(self) -> Place:
        return Place(self.known.copy(), self.names.copy())


class Unknown(Exception):
    """Loop whose turns depend on data."""


class Unroller:
    """Maker of functions of numbers, each of which is made once."""

    def __init__(self, functions: MutableMapping[str, Function]):
        self.functions = functions
        self.made: dict[tuple[str, int], Function] = {}

    def of(self, function: Function, dim: int) -> Function:
        if (function.name, dim) not in self.made:
            self.made[function.name, dim] = Unrolling(self, function, dim).run()
        return self.made[function.name, dim]


class Unrolling:
    """Unrolling of one function."""

    def __init__(self, unroller: Unroller, function: Function, dim: int):
        self.unroller, self.function, self.dim = unroller, function, dim
        self.fresh = UnusedNames({p.name for p in function.parameters} | set(lang.called(function)))
        self.declared: set[str] = set()
        self.elements: dict[str, list[str]] = {}
        self.turns = 0

    def run(self) -> Function:
        parameters: list[lang.Parameter] = []
        for p in self.function.parameters:
            if p.type == lang.VECTOR:
                names = [self.fresh(element_name(p.name, i)) for i in range(self.dim)]
                self.elements[p.name] = names
                parameters += [lang.Parameter(n, REAL) for n in names]
            elif p.name != "dim":
                parameters.append(p)
        place = Place({"dim": self.dim}, {})
        self.block(self.function.body, place)
        name = f"{self.function.name}_{self.dim}"
        made = replace(self.function, name=name, parameters=tuple(parameters), body=tuple(place.out))
        made = unlike_others(made, self.unroller.functions.get)
        self.unroller.functions[made.name] = made
        return made

    # -- statements

    def block(self, statements: Sequence[Statement], place: Place) -> None:
        for s in statements:
            self.statement(s, place)

    def statement(self, s: Statement, place: Place) -> None:
        match s:
            case lang.Declare():
                value = None if s.value is None else self.folded(s.value, place)
                name = s.name if s.name not in self.declared else self.fresh(s.name)
                self.declared.add(s.name)
                self.fresh.used.add(name)
                place.names[s.name] = name
                self.learn(s.name, s.type, value, place)
                place.out.append(replace(s, name=name, value=value))
            case Assign():
                value = self.folded(s.value, place)
                self.learn(s.name, s.type, value, place)
                place.out.append(replace(s, name=place.names.get(s.name, s.name), value=value))
            case If():
                self.branch(s, place)
            case For():
                self.loop(s, place)
            case _:
                place.out.append(lang.rebuild(s, lambda e: self.folded(e, place)))

    def learn(self, name: str, type: str, value: Expression | None, place: Place) -> None:
        """Note the value of a whole number from here on."""
        found = number_of(value) if value is not None and type == INT else None
        if found is None:
            place.known.pop(name, None)
        else:
            place.known[name] = found

    def branch(self, s: If, place: Place) -> None:
        condition = self.folded(s.condition, place)
        if (known := number_of(condition)) is not None:
            self.block(s.then if known else s.otherwise, place)
            return
        sides = place.inner(), place.inner()
        for side, statements in zip(sides, (s.then, s.otherwise), strict=True):
            self.block(statements, side)
        then, otherwise = sides
        # Behind a side that always returns, what the other one knows holds.
        ends = [bool(side.out) and isinstance(side.out[-1], lang.Return) for side in sides]
        if ends[0] and not ends[1]:
            place.known = otherwise.known
        elif ends[1] and not ends[0]:
            place.known = then.known
        else:
            place.known = dict(then.known.items() & otherwise.known.items())
        place.out.append(If(condition, tuple(then.out), tuple(otherwise.out), shipped=s.shipped))

    def loop(self, s: For, place: Place) -> None:
        turns = self.turns
        trial = place.inner()
        try:
            self.by_turns(s, trial)
        except Unknown:
            self.turns = turns
            self.as_loop(s, place)
            return
        place.known, place.names = trial.known, trial.names
        place.out += trial.out

    def by_turns(self, s: For, place: Place) -> None:
        """Write out a loop of known turns, one after another."""
        if s.start is None or s.start.type != INT or s.start.value is None:
            raise Unknown
        name, own = s.start.name, isinstance(s.start, lang.Declare)
        first = self.folded(s.start.value, place)
        if own and any(isinstance(n, Assign) and n.name == name for part in s.body for n in lang.walk(part)):
            place.names[name] = self.fresh(name)
            place.out.append(lang.Declare(INT, place.names[name], first))
        self.learn(name, INT, first, place)
        while True:
            condition = number_of(self.folded(s.condition, place))
            if condition is None or name not in place.known:
                raise Unknown
            if not condition:
                break
            self.turns += 1
            if self.turns > MOST_UNROLLED_TURNS:
                self.refuse_turns(s)
            self.block(s.body, place)
            if s.step is None or name not in place.known:
                raise Unknown
            self.learn(s.step.name, INT, self.folded(s.step.value, place), place)
        if own:
            del place.known[name]
        else:
            place.out.append(Assign(place.names.get(name, name), INT, written(place.known[name])))

    def refuse_turns(self, s: For) -> NoReturn:
        turns = f"more than {MOST_UNROLLED_TURNS} turns"
        message = f"{self.function.name}: loops over the elements of short vectors take {turns}"
        raise DeviceFunctionError(message, s.line, s.column)

    def as_loop(self, s: For, place: Place) -> None:
        """Keep a loop whose turns depend on data; variables that it changes are unknown in it and behind it."""
        inside = place.inner()
        start: list[Statement] = []
        if s.start is not None:
            head = inside.inner()
            self.statement(s.start, head)
            *before, last = head.out
            place.out += before
            start, inside.names = [last], head.names
        changed = [n.name for part in (s.step, *s.body) if part for n in lang.walk(part) if isinstance(n, Assign)]
        for name in (*changed, *([s.start.name] if s.start is not None else [])):
            inside.known.pop(name, None)
            place.known.pop(name, None)
        known = inside.known.copy()
        condition = self.folded(s.condition, inside, aside=False)
        step = None
        if s.step is not None:
            step = Assign(
                inside.names.get(s.step.name, s.step.name), s.step.type, self.folded(s.step.value, inside, aside=False)
            )
        inside.known = known
        self.block(s.body, inside)
        first = start[0] if start else None
        place.out.append(replace(s, start=first, condition=condition, step=step, body=tuple(inside.out)))  # type: ignore[arg-type]

    # -- expressions

    def folded(self, e: Expression, place: Place, aside: bool = True) -> Expression:
        """Expression `e` with known values put in; `aside`: a statement may be put before that of `e`."""
        match e:
            case Name():
                if e.name in place.known:
                    return written(place.known[e.name])
                return replace(e, name=place.names.get(e.name, e.name))
            case lang.Index():
                return self.element(e, place, aside)
            case lang.Conditional():
                condition = self.folded(e.condition, place, aside)
                if (known := number_of(condition)) is not None:
                    return self.folded(e.then if known else e.otherwise, place, aside)
                return replace(
                    e, condition=condition, then=self.folded(e.then, place, aside),
                    otherwise=self.folded(e.otherwise, place, aside),
                )  # fmt: skip
            case lang.Binary(operator="&&" | "||"):
                left = self.folded(e.left, place, aside)
                if (known := number_of(left)) is not None and bool(known) == (e.operator == "||"):
                    return written(int(bool(known)))
                right = self.folded(e.right, place, aside)
                if known is not None and (other := number_of(right)) is not None:
                    return written(int(bool(other)))
                return replace(e, left=left, right=right)
            case Call() if (callee := self.unroller.functions.get(e.function)) and any(
                p.type == lang.VECTOR for p in callee.parameters
            ):
                return self.called(e, callee, place, aside)
        return _computed(lang.rebuild(e, lambda child: self.folded(child, place, aside)))

    def element(self, e: lang.Index, place: Place, aside: bool) -> Expression:
        names = self.elements[e.array.name]
        subscript = self.folded(e.subscript, place, aside)
        if (known := number_of(subscript)) is not None:
            return Name(names[min(max(known, 0), len(names) - 1)], REAL) if names else Name("NAN", REAL)
        if aside and not isinstance(subscript, Name):
            name = self.fresh("place")
            place.out.append(lang.Declare(INT, name, subscript))
            subscript = Name(name, INT)
        found: Expression = Name(names[-1], REAL)
        for i, element in reversed(list(enumerate(names[:-1]))):
            found = lang.Conditional(lang.Binary("==", subscript, written(i), INT), Name(element, REAL), found, REAL)
        return found

    def called(self, e: Call, callee: Function, place: Place, aside: bool) -> Expression:
        """Call of another function of vectors."""
        given = dict(zip((p.name for p in callee.parameters), e.arguments, strict=True))
        dim = number_of(self.folded(given["dim"], place, aside))
        if dim is None or not 0 <= dim <= self.dim:
            message = f"{self.function.name} tells {e.function} a length of short vectors that depends on data"
            raise DeviceFunctionError(message, e.line, e.column)
        arguments: list[Expression] = []
        for p in callee.parameters:
            argument = given[p.name]
            if p.type == lang.VECTOR:
                assert isinstance(argument, Name)
                arguments += [Name(n, REAL) for n in self.elements[argument.name][:dim]]
            elif p.name != "dim":
                arguments.append(self.folded(argument, place, aside))
        return replace(e, function=self.unroller.of(callee, dim).name, arguments=tuple(arguments))


def _computed(e: Expression) -> Expression:
    """Literal of a whole number that is computed from literals."""
    match e:
        case lang.Binary(type="int"):
            left, right = number_of(e.left), number_of(e.right)
            if left is not None and right is not None:
                if e.operator in _INT_OPERATIONS:
                    return written(int(_INT_OPERATIONS[e.operator](left, right)))
                if e.operator in ("/", "%") and right > 0 <= left:
                    return written(left // right if e.operator == "/" else left % right)
        case Unary(operator="!", type="int") if (known := number_of(e.operand)) is not None:
            return written(int(not known))
        case Unary(operator="-", type="int") if (known := number_of(e.operand)) is not None:
            return written(-known)
        case lang.Cast(type="int") if (known := number_of(e.operand)) is not None:
            return written(known)
        case Call(function="min" | "max", type="int"):
            values = [number_of(a) for a in e.arguments]
            if None not in values:
                return written((min if e.function == "min" else max)(v for v in values if v is not None))
    return e
