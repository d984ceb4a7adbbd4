"""Arrays of a function's own, `real a[4]` or `real a[3][3]`, as variables: one for each element.

Nothing else has to know of them. Loops over the elements are written out, and an index that only a call tells chooses among
the elements, of which it takes the nearest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from . import nodes as lang
from .bounds import length
from .derivative import Derivative, gradient_of
from .kinds import is_helper
from .names import UnusedNames
from .nodes import INT, REAL, Assign, Binary, Call, Conditional, Expression, For, Function, Name, Statement
from .unrolling import MOST_UNROLLED_TURNS, Place, Unroller, Unrolling, element_name, number_of, written

ARRAY = "array"  # type of the name of such an array
MOST_ELEMENTS = 256  # of an array, each of which is a variable
MOST_WITHIN = 20  # functions that write to arrays, one within the other


@dataclass(frozen=True)
class DeclareArray(lang.Node):
    """Declaration of an array, of one or two axes; without `values`, its elements have none yet."""

    name: str
    sizes: tuple[int, ...]
    values: tuple[Expression, ...] | None


def without_arrays(
    body: Sequence[Statement | DeclareArray | Derivative], used: set[str], callees: Mapping[str, Function],
    refuse: Callable[[lang.Node, str], NoReturn],
) -> tuple[tuple[Statement, ...], list[Function], dict[str, str]]:  # fmt: skip
    """Statements of a function without arrays, the functions that were made for it, and the names of the elements.

    `used` are the names that the function has, to which those of the elements are added; `callees` the functions that it calls,
    by their names; `refuse` gets a mistake. The names of the elements are those of variables -> as users know them.
    """
    functions = dict(callees)
    unrolling = Arrays(Unroller(functions), used, refuse)
    place = Place({}, {})
    unrolling.block(body, place)  # type: ignore[arg-type]
    return tuple(place.out), [f for n, f in functions.items() if n not in callees], unrolling.written


class Arrays(Unrolling):
    """Arrays of a function as variables."""

    def __init__(self, unroller: Unroller, used: set[str], refuse: Callable[[lang.Node, str], NoReturn]):
        super().__init__(unroller, Function("", (), ()), 0)
        self.fresh, self.refuse = UnusedNames(used), refuse
        self.inlining = 0  # functions within which this is, one in the other
        self.written: dict[str, str] = {}

    # -- statements

    def statement(self, s: Statement | DeclareArray | Derivative, place: Place) -> None:
        match s:
            case DeclareArray():
                self.declare(s, place)
            case Derivative():
                self.derivative(s, place)
            case lang.Store() if s.array.name in self.elements:
                self.store(s, place)
            case lang.Perform(call=Call() as call) if (callee := self.writer(call)) is not None:
                self.written_out(call, callee, place)
            case lang.Declare() if self.inlining:
                value = None if s.value is None else self.folded(s.value, place)
                name = self.fresh(s.name)
                place.names[s.name] = name
                self.learn(s.name, s.type, value, place)
                place.out.append(lang.Declare(s.type, name, value, line=s.line, column=s.column))
            case _:
                super().statement(s, place)

    def declare(self, s: DeclareArray, place: Place) -> None:
        names = [self.fresh(element_name(s.name, i)) for i in range(math.prod(s.sizes))]
        for i, name in enumerate(names):
            at = f"[{i}]" if len(s.sizes) == 1 else f"[{i // s.sizes[1]}][{i % s.sizes[1]}]"
            self.written[name] = s.name + at
            value = None if s.values is None else self.folded(s.values[i], place)
            place.out.append(lang.Declare(REAL, name, value, line=s.line, column=s.column))
        self.elements[s.name] = names

    def store(self, s: lang.Store, place: Place) -> None:
        self.refuse_outside(s, place)
        names, value = self.elements[s.array.name], self.folded(s.value, place)
        subscript = self.folded(s.subscript, place)
        at = {"line": s.line, "column": s.column}
        if (known := number_of(subscript)) is not None:
            place.out.append(Assign(names[self.within(s, known)], REAL, value, **at))
            return
        subscript = self.kept(subscript, INT, place)
        value = self.kept(value, REAL, place)
        for i, name in enumerate(names):
            here = Conditional(_is_element(subscript, i, len(names)), value, Name(name, REAL, **at), REAL)
            place.out.append(Assign(name, REAL, here, **at))

    def writer(self, call: Call) -> Function | None:
        """Function that is called, if it writes to arrays."""
        callee = self.unroller.functions.get(call.function)
        return callee if callee is not None and callee.type == lang.VOID else None

    def written_out(self, call: Call, callee: Function, place: Place) -> None:
        """Write out a function that writes to arrays, in the place of its call."""
        before, within = self.elements, Place({}, {}, place.out)
        mine = dict(before)
        for p, argument in zip(callee.parameters, call.arguments, strict=True):
            if isinstance(argument, Name) and argument.name in before:
                mine[p.name] = before[argument.name]
            elif p.type in (lang.VECTOR, lang.OUTPUT):
                if p.type == lang.OUTPUT:
                    self.refuse(call, f"{callee.name} writes to {p.written or p.name}: that must be an array of your own")
                assert isinstance(argument, Name)
                mine.pop(p.name, None)
                within.names[p.name] = place.names.get(argument.name, argument.name)
            else:
                self.argument(p, argument, call, place, within)
        self.elements, self.inlining = mine, self.inlining + 1
        if self.inlining > MOST_WITHIN:
            self.refuse(call, f"more than {MOST_WITHIN} functions that write to arrays call one another here")
        self.block(callee.body, within)
        self.elements, self.inlining = before, self.inlining - 1

    def argument(self, p: lang.Parameter, argument: Expression, call: Call, place: Place, within: Place) -> None:
        """Declare a number that a function is given, which is written out `within`."""
        value, name = self.folded(argument, place), self.fresh(p.name)
        within.names[p.name] = name
        self.learn(p.name, p.type, value, within)
        place.out.append(lang.Declare(p.type, name, value, line=call.line, column=call.column))

    def derivative(self, s: Derivative, place: Place) -> None:
        """Write out the derivatives of a function that writes to an array, which become the elements of that array."""
        call, callee = s.call, self.unroller.functions[s.call.function]
        given = list(zip(callee.parameters, call.arguments, strict=True))
        written = [a for p, a in given if p.type == lang.OUTPUT]
        inputs = [a for p, a in given if p.type != lang.OUTPUT]
        if len(written) > 1:
            self.refuse(s, f"the function writes to {len(written)} arrays: derivatives are of functions that write to one")
        target = self.own(written[0], callee, call)
        if s.wrt not in inputs or any(_mentions(a, {s.wrt.name}) for a in inputs if a != s.wrt):
            self.refuse(s, f"{s.wrt.name} must be an argument of the function itself, and in no other one")
        if any(self.elements.get(a.name) is target for a in inputs if isinstance(a, Name)):
            self.refuse(s, "the function reads the array that is to get its derivatives: give it another one")
        n_wrt = len(self.own(s.wrt, callee, call)) if s.wrt.type in (ARRAY, lang.VECTOR, lang.OUTPUT) else 1
        if len(target) % n_wrt:
            many = f"the derivatives in the {n_wrt} elements of {s.wrt.name}"
            self.refuse(s, f"the array that gets {many} has {len(target)} elements, which is no multiple")
        function, names, wrt = self.of_numbers(s, callee, len(target) // n_wrt)
        made = gradient_of(function, wrt, self.unroller.functions)
        within = Place({}, {}, place.out)
        for p, argument in given:
            if p.type == lang.OUTPUT:
                continue
            if isinstance(argument, Name) and argument.name in self.elements:
                within.names |= dict(zip(names[p.name], self.elements[argument.name], strict=True))
            elif p.type == lang.VECTOR:
                assert isinstance(argument, Name)
                within.names[p.name] = place.names.get(argument.name, argument.name)
            else:
                self.argument(p, argument, call, place, within)
        *body, last = made.body
        assert isinstance(last, lang.Return) and isinstance(last.value, Call)
        before, self.elements, self.inlining = self.elements, {}, self.inlining + 1
        self.block(body, within)
        for name, value in zip(target, last.value.arguments[len(function.results) :], strict=True):
            place.out.append(Assign(name, REAL, self.folded(value, within), line=s.line, column=s.column))
        self.elements, self.inlining = before, self.inlining - 1

    def of_numbers(self, s: Derivative, callee: Function, n_results: int) -> tuple[Function, dict[str, list[str]], list[str]]:
        """Function that returns the elements which `callee` writes, with numbers in the place of the arrays that it is given.

        With it come the names of the numbers, for each array, and of those in whose directions the derivatives are.
        """
        inner = Arrays(self.unroller, {p.name for p in callee.parameters} | set(lang.called(callee)), self.refuse)
        inner.inlining, parameters, wrt, place = 1, list[lang.Parameter](), list[str](), Place({}, {})
        for p, a in zip(callee.parameters, s.call.arguments, strict=True):
            if p.type == lang.OUTPUT:
                inner.declare(DeclareArray(p.name, (n_results,), None), place)
                results = inner.elements[p.name]
                continue
            if isinstance(a, Name) and a.name in self.elements:
                own = inner.elements[p.name] = [inner.fresh(element_name(p.name, i)) for i in range(len(self.elements[a.name]))]
                parameters += [lang.Parameter(name, REAL) for name in own]
            else:
                own = [p.name]
                parameters.append(p)
                if p.type == INT:
                    inner.learn(p.name, INT, self.folded(a, place, aside=False), place)
            wrt += own * (a == s.wrt)
        inner.block(callee.body, place)
        made = Function(f"{callee.name}_of_numbers", tuple(parameters), (), f"{callee.name}_results", tuple(results))
        end = lang.Return(Call(made.maker, tuple(Name(r, REAL) for r in results), made.type))
        arrays = {n: names for n, names in inner.elements.items() if names is not results}
        return replace(made, body=(*place.out, end)), arrays, wrt

    def own(self, array: Expression, callee: Function, call: Call) -> list[str]:
        """Elements of an array that is given to a function to write to."""
        if not isinstance(array, Name) or array.name not in self.elements:
            self.refuse(call, f"{callee.name} must be given arrays of your own here")
        return self.elements[array.name]

    def kept(self, e: Expression, type: str, place: Place) -> Expression:
        """Expression in a variable of its own, for use in several places."""
        if isinstance(e, Name) or number_of(e) is not None:
            return e
        name = self.fresh("kept")
        place.out.append(lang.Declare(type, name, e))
        return Name(name, type)

    def within(self, node: lang.Node, i: int) -> int:
        """Place of an element, as it was written out."""
        array = node.array  # type: ignore[attr-defined]
        size = len(self.elements[array.name])
        if not 0 <= i < size:
            self.refuse(node, f"{array.name} has {size} elements, and here it is asked for that at place {i}")
        return i

    def refuse_outside(self, node: lang.Index | lang.Store, place: Place) -> None:
        """Refuse a place outside of one of two axes."""
        match node.subscript:
            case Binary(left=Binary(left=Call(function="min") as row), right=Call(function="min") as column):
                for bounded in (row, column):
                    within, last = bounded.arguments
                    assert isinstance(within, Call)
                    known, most = number_of(self.folded(within.arguments[0], place, aside=False)), number_of(last)
                    if known is not None and most is not None and not 0 <= known <= most:
                        what = f"{most + 1} elements along an axis, and here it is asked for that at place {known}"
                        self.refuse(node, f"{node.array.name} has {what}")

    def refuse_turns(self, s: For) -> NoReturn:
        turns = f"more than {MOST_UNROLLED_TURNS} turns"
        self.refuse(s, f"loops over the places of arrays take {turns}: write this one with `while`, which stays a loop")

    def loop(self, s: For, place: Place) -> None:
        """Write out a loop whose variable tells the place of an element; keep any other."""
        if self.tells_places(s):
            super().loop(s, place)
        else:
            self.as_loop(s, place)

    def tells_places(self, loop: For) -> bool:
        """True if a loop's variable, or what its body makes of it, is in the place of an array's element, or a length."""
        if loop.start is None:
            return False
        within = [n for s in loop.body for n in lang.walk(s)]
        dependent, before = {loop.start.name}, 0
        while len(dependent) != before:
            before = len(dependent)
            for n in within:
                if isinstance(n, lang.Declare | Assign) and n.type == INT and _mentions(n.value, dependent):
                    dependent.add(n.name)
        places = [n.subscript for n in within if isinstance(n, lang.Index | lang.Store) and n.array.name in self.elements]
        calls = [n for n in within if isinstance(n, Call)]
        of_arrays = [n for n in calls if any(isinstance(a, Name) and a.name in self.elements for a in n.arguments)]
        arguments = [a for n in of_arrays for a in n.arguments]
        return any(_mentions(e, dependent) for e in (*places, *arguments))

    # -- expressions

    def element(self, e: lang.Index, place: Place, aside: bool) -> Expression:
        if e.array.name not in self.elements:
            return lang.rebuild(e, lambda child: self.folded(child, place, aside))
        self.refuse_outside(e, place)
        names, subscript = self.elements[e.array.name], self.folded(e.subscript, place, aside)
        at = {"line": e.line, "column": e.column}
        if (known := number_of(subscript)) is not None:
            return Name(names[self.within(e, known)], REAL, **at)
        subscript = self.kept(subscript, INT, place) if aside else subscript
        found: Expression = Name(names[-1], REAL, **at)
        for i in reversed(range(len(names) - 1)):
            found = Conditional(_up_to(subscript, i), Name(names[i], REAL, **at), found, REAL)
        return found

    def called(self, e: Call, callee: Function, place: Place, aside: bool) -> Expression:
        """Call of a function of vectors: with arrays it is one of numbers."""
        vectors = [a for p, a in zip(callee.parameters, e.arguments, strict=True) if p.type == lang.VECTOR]
        own = [a for a in vectors if isinstance(a, Name) and a.name in self.elements]
        if not own:
            found = lang.rebuild(e, lambda child: self.folded(child, place, aside))
            return self.of_given(found, callee) if self.inlining else found
        if len(own) < len(vectors):
            self.refuse(e, f"{callee.name} cannot take an array of your own together with a vector that is given")
        told = next(a for p, a in zip(callee.parameters, e.arguments, strict=True) if p.name == "dim")
        size = number_of(self.folded(told, place, aside))
        for array in own:
            if size is None or not 0 <= size <= len(self.elements[array.name]):
                have = len(self.elements[array.name])
                self.refuse(e, f"the length of {array.name} must be a number that is written out, of at most {have}")
        self.dim = max(map(len, self.elements.values()))
        return super().called(e, callee, place, aside)

    def of_given(self, e: Call, callee: Function) -> Call:
        """Call that a function which is written out makes with vectors that are given: its length is at most theirs."""
        at = [p.name for p in callee.parameters].index("dim")
        bounded = length(e.arguments[at], 0 if is_helper(callee.name) else 1, False)
        return replace(e, arguments=(*e.arguments[:at], bounded, *e.arguments[at + 1 :]))


def place_of_two(row: Expression, column: Expression, sizes: tuple[int, ...]) -> Expression:
    """Place among all elements, one row after another, of that nearest to a row and a column."""
    row, column = (
        Call("min", (Call("max", (e, written(0)), INT), written(size - 1)), INT)
        for e, size in zip((row, column), sizes, strict=True)
    )
    return Binary("+", Binary("*", row, written(sizes[1]), INT), column, INT)


def _up_to(subscript: Expression, i: int) -> Expression:
    return Binary("<=", subscript, written(i), INT)


def _is_element(subscript: Expression, i: int, size: int) -> Expression:
    """Condition that element i of so many is the nearest to the place."""
    if i == 0:
        return _up_to(subscript, 0)
    return Binary("==" if i < size - 1 else ">=", subscript, written(i), INT)


def _mentions(e: Expression | None, names: set[str]) -> bool:
    return e is not None and any(isinstance(n, Name) and n.name in names for n in lang.walk(e))


def callees_of(functions: Iterable[Function], resolve: lang.Resolve) -> list[Function]:
    """Functions that some functions call, directly or through others."""
    found: dict[str, Function] = {}
    left = list(functions)
    while left:
        for name in lang.called(left.pop()):
            if name not in found and (function := resolve(name)) is not None:
                found[name] = function
                left.append(function)
    return list(found.values())
