"""Reverse-mode differentiation of one device function that goes through sequences, from source to source.

A first sweep computes the value and stores, for each turn of a loop, the variables with which the turn begins. A second one
goes back: it computes each turn anew, and adds up the derivatives in its variables. So the cost is that of a few evaluations,
however many parameters there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..language import nodes as lang
from ..language.bounds import elements
from ..language.names import numbered_name
from ..language.nodes import (
    INT,
    OUTPUT,
    REAL,
    VECTOR,
    Assign,
    Binary,
    Call,
    Conditional,
    Declare,
    Expression,
    For,
    Function,
    If,
    Name,
    Parameter,
    Return,
    Statement,
)
from . import derivative_rules as rules
from .activity import Activity
from .derivative_rules import ONE, ZERO, add, is_number, multiply
from .forward_mode import VALUE, Differentiator, derivative_name, results_of
from .swept_items import Branch, Item, Let, Loop, perhaps_unused

SWEEP = "_sweep_"  # in the names of functions that are made here, and stay whole in kernels
TAPE = "tape"  # beginning of the names of the parameters where turns are stored, and of no others

Gradient: TypeAlias = Callable[[Function, Sequence[str], MutableMapping[str, Function]], Function]


class NoSweep(Exception):
    """Function that a reverse sweep is not for."""


def sweep(function: Function, wrt: Sequence[str], functions: MutableMapping[str, Function], gradient: Gradient) -> Function:
    """Function that returns the results of ``gradient(function, wrt, functions)``, and takes tapes behind the parameters.

    A tape, `real *`, has room for a number for each element of the sequences. `NoSweep` where the function has no loop over
    sequences, or does in it more than assignments and branches.
    """
    return _Sweep(function, tuple(wrt), functions, gradient).run()


class _Sweep:
    def __init__(
        self, function: Function, wrt: tuple[str, ...], functions: MutableMapping[str, Function], gradient: Gradient
    ):  # fmt: skip
        self.function, self.wrt, self.functions, self.gradient = function, wrt, functions, gradient
        self.activity = Activity(function, wrt)
        written = {n.name for n in lang.walk(function) if isinstance(n, Declare | Assign)}
        self.used = {p.name for p in function.parameters} | written | set(lang.called(function))
        self.numbers: dict[str, int] = {}  # the last ones that `Differentiator` has given
        self.types = {p.name: p.type for p in function.parameters}
        self.origin = {p.name: p.name for p in function.parameters}  # variable -> the one of the function that it is a value of
        self.tapes: list[str] = []

    def fresh(self, prefix: str) -> str:
        name = numbered_name(prefix, self.used, "_")
        self.used.add(name)
        return name

    def run(self) -> Function:
        body, last = self.function.body[:-1], self.function.body[-1]
        vectors_alone = all(p.name not in self.wrt for p in self.function.parameters if p.type == VECTOR)
        if not isinstance(last, Return) or self.function.results or not vectors_alone:
            raise NoSweep
        items, names = self.items(body, {p.name: p.name for p in self.function.parameters})
        if not any(isinstance(item, Loop) for item in items):
            raise NoSweep
        value = self.let("result", REAL, _renamed(last.value, names), VALUE)
        self.adjoints: dict[str, str] = {}
        self.unused = perhaps_unused([*items, value])
        back: list[Statement] = []
        for p in self.wrt:
            self.adjoint(p)
        back += self.reversed([*items, value], {value.name: ONE})
        forth = list(self.forward([*items, value]))
        name = f"{self.function.name}{SWEEP}{'_'.join(self.wrt)}"
        while name in self.functions:
            name += "_"
        results = {VALUE: Name(value.name, REAL), **{derivative_name(p): Name(self.adjoints[p], REAL) for p in self.wrt}}
        parameters = (*self.function.parameters, *(Parameter(tape, OUTPUT) for tape in self.tapes))
        made = Function(name, parameters, (), f"{name}_results", results_of(self.function, self.wrt))
        returned = rules.flat_at_infinity(self.function, results, VALUE)
        begun = [Declare(REAL, a, ZERO) for a in self.adjoints.values()]
        end = Return(Call(made.maker, tuple(returned[r] for r in made.results), made.type))
        made = replace(made, body=(*forth, *begun, *back, end))
        self.functions[name] = made
        return made

    # -- the function as values that never change

    def let(self, prefix: str, type: str, value: Expression, origin: str) -> Let:
        made = Let(self.fresh(prefix), type, value)
        self.types[made.name], self.origin[made.name] = type, origin
        return made

    def items(
        self, body: Sequence[Statement], names: dict[str, str], in_loop: bool = False
    ) -> tuple[list[Item], dict[str, str]]:
        """Items of statements, and what the names of variables stand for behind them; `names` is that before them."""
        found: list[Item] = []
        names = dict(names)
        for s in body:
            match s:
                case Declare(value=None):
                    self.types[s.name] = s.type
                    names.pop(s.name, None)
                case Declare(type="real" | "int") | Assign():
                    self.types.setdefault(s.name, s.type)
                    made = self.let(s.name, s.type, _renamed(s.value, names), s.name)
                    names[s.name] = made.name
                    found.append(made)
                case If():
                    found.append(self.branch(s, names, in_loop))
                case For() if not in_loop:
                    found.append(self.loop(s, names))
                case _:
                    raise NoSweep
        return found, names

    def branch(self, s: If, names: dict[str, str], in_loop: bool) -> Branch:
        made = Branch(_renamed(s.condition, names), [], [])
        made.then, then = self.items(s.then, names, in_loop)
        made.otherwise, otherwise = self.items(s.otherwise, names, in_loop)
        outer = {n.name for n in lang.walk(s) if isinstance(n, Assign)}
        inner = {n.name for n in lang.walk(s) if isinstance(n, Declare)}
        for name in sorted(outer - inner):
            if name not in then or name not in otherwise:
                continue  # it has no value on one side, and is not read behind
            joined = self.fresh(name)
            self.types[joined], self.origin[joined] = self.types[name], name
            made.joined.append((joined, self.types[name], then[name], otherwise[name]))
            names[name] = joined
        return made

    def loop(self, s: For, names: dict[str, str]) -> Loop:
        if elements(s) is None:
            raise NoSweep
        assert isinstance(s.start, Declare)
        assigned = {n.name for part in s.body for n in lang.walk(part) if isinstance(n, Assign)}
        kept = sorted(name for name in assigned if name in names)
        if any(self.types[name] != REAL for name in kept):
            raise NoSweep
        inside, states = dict(names), []
        inside[s.start.name] = s.start.name
        for name in kept:
            state = self.fresh(name)
            self.types[state], self.origin[state] = REAL, name
            states.append((state, names[name]))
            inside[name] = state
        items, after = self.items(s.body, inside, in_loop=True)
        made = Loop(s, items, [(state, first, after[n]) for n, (state, first) in zip(kept, states, strict=True)])
        for name, (state, _) in zip(kept, states, strict=True):
            names[name] = state
        return made

    # -- the first sweep

    def forward(self, items: Sequence[Item]) -> Iterator[Statement]:
        """Statements that compute the items."""
        for item in items:
            match item:
                case Let():
                    yield Declare(item.type, item.name, item.value)
                case Branch():
                    for name, type, *_ in item.joined:
                        yield Declare(type, name, None)
                    sides = [list(self.forward(side)) for side in (item.then, item.otherwise)]
                    for k, side in enumerate(sides):
                        side += [Assign(name, type, Name(values[k], type)) for name, type, *values in item.joined]
                    yield If(item.condition, tuple(sides[0]), tuple(sides[1]))
                case Loop():
                    for state, first, _ in item.states:
                        yield Declare(REAL, state, Name(first, self.types[first]))
                    assert isinstance(item.loop.start, Declare)
                    here = Name(item.loop.start.name, INT)
                    stored: list[Statement] = [
                        lang.Store(Name(tape, OUTPUT), here, Name(state, REAL)) for state, tape in item.tapes.items()
                    ]
                    body = [*stored, *self.forward(item.items)]
                    body += [Assign(state, REAL, Name(last, REAL)) for state, _, last in item.states if last != state]
                    yield replace(item.loop, body=tuple(body))

    # -- the second sweep

    def is_active(self, name: str) -> bool:
        return self.types.get(name) == REAL and bool(self.activity.directions.get(self.origin.get(name, name)))

    def adjoint(self, name: str) -> str:
        """Variable for the derivative in a variable."""
        if name not in self.adjoints:
            self.adjoints[name] = self.fresh(f"a_{name}")
        return self.adjoints[name]

    def increased(self, name: str, by: Expression) -> Statement:
        adjoint = self.adjoint(name)
        return Assign(adjoint, REAL, add(Name(adjoint, REAL), by))

    def reversed(self, items: Sequence[Item], seeds: dict[str, Expression] | None = None) -> list[Statement]:
        """Statements that go back through items; `seeds` are derivatives in some variables that are known."""
        out: list[Statement] = []
        for item in reversed(items):
            match item:
                case Let():
                    if item.name in (seeds or {}):
                        out += self.back(item.value, (seeds or {})[item.name])
                    elif self.is_active(item.name):
                        out += self.back(item.value, Name(self.adjoint(item.name), REAL), item.name in self.unused)
                case Branch():
                    out += self.back_branch(item)
                case Loop():
                    out += self.back_loop(item)
        return out

    def back(self, e: Expression, adjoint: Expression, unused: bool = False) -> list[Statement]:
        """Statements that add what a value, with a derivative in it, brings to the variables that it is made of.

        `unused`: nothing may use the value; then it brings nothing, even where its own derivatives are infinite.
        """
        names = {n.name: n.type for n in lang.walk(e) if isinstance(n, Name) and n.name in self.types}
        names |= {n.array.name: n.array.type for n in lang.walk(e) if isinstance(n, lang.Index)}
        active = tuple(n for n in names if self.is_active(n))
        if not active:
            return []
        around = Function("of_one", tuple(Parameter(n, self.types.get(n, t)) for n, t in names.items()), (Return(e),))
        own = Differentiator(around, active, "of_one", self.functions, self.gradient)
        own.used, own.numbers = self.used, self.numbers
        value = own.lifted(e)
        partials = [own.d(value, n) for n in active]
        products = [_unless_zero(adjoint, p) if unused else multiply(adjoint, p) for p in partials]
        shared = own.shared(products)
        self.tapes += [t for t in own.tapes if t not in self.tapes]
        given = zip(active, partials, shared, strict=True)
        return [*own.out, *(self.increased(n, by) for n, partial, by in given if not is_number(partial, 0))]

    def back_branch(self, item: Branch) -> list[Statement]:
        sides = list[tuple[Statement, ...]]()
        for k, its in enumerate((item.then, item.otherwise)):
            joined = [(name, values[k]) for name, _, *values in item.joined if self.is_active(name)]
            own = [n for n in _declared(its) if self.is_active(n)]
            passed = [self.increased(value, Name(self.adjoint(name), REAL)) for name, value in joined if self.is_active(value)]
            inner = [*passed, *self.reversed(its)]
            if not inner:
                sides.append(())
                continue
            begun = [Declare(REAL, self.adjoints.pop(n), ZERO) for n in own if n in self.adjoints]
            sides.append(_needed([*self.forward(its), *begun], inner))
        return [If(item.condition, *sides)] if any(sides) else []

    def back_loop(self, item: Loop) -> list[Statement]:
        loop = item.loop
        assert isinstance(loop.start, Declare) and isinstance(loop.condition, Binary) and loop.start.value is not None
        states = [its for its in item.states if self.is_active(its[0])]
        passed: list[Statement] = []
        for state, _, end in states:  # from the end of the turn to what its last values are made of
            if end != state:
                passed += [self.increased(end, Name(self.adjoint(state), REAL))] if self.is_active(end) else []
                passed.append(Assign(self.adjoint(state), REAL, ZERO))
        own = [n for n in _declared(item.items) if self.is_active(n)]
        inner = [*passed, *self.reversed(item.items)]
        begun = [Declare(REAL, self.adjoints.pop(n), ZERO) for n in own if n in self.adjoints]
        body = _needed([*self.forward(item.items), *begun], inner)
        read = {n.name for s in body for n in lang.walk(s) if isinstance(n, Name)}
        here, restored = Name(loop.start.name, INT), list[Statement]()
        for state, *_ in item.states:
            if state in read:
                tape = self.fresh(TAPE)
                self.tapes.append(tape)
                item.tapes[state] = tape
                restored.append(Assign(state, REAL, lang.Index(Name(tape, OUTPUT), here)))
        last = loop.condition.right
        first = Declare(INT, here.name, Binary("-", last, lang.Number("1", INT), INT))
        down = Assign(here.name, INT, Binary("-", here, lang.Number("1", INT), INT))
        back: list[Statement] = [For(first, Binary(">=", here, loop.start.value, INT), down, (*restored, *body))]
        for state, value, _ in states:
            if self.is_active(value):
                back.append(self.increased(value, Name(self.adjoint(state), REAL)))
        return back


def _unless_zero(adjoint: Expression, partial: Expression) -> Expression:
    """Product of a derivative in a value and one of the value, 0 where the first is."""
    made, plain = multiply(adjoint, partial), partial.operand if isinstance(partial, lang.Unary) else partial
    return made if isinstance(plain, lang.Number) else Conditional(Binary("!=", adjoint, ZERO, INT), made, ZERO, REAL)


def _renamed(e: Expression | None, names: dict[str, str]) -> Expression:
    """Expression with the values that names stand for."""
    assert e is not None

    def rename(node: Expression) -> Expression:
        if isinstance(node, Name):
            return replace(node, name=names.get(node.name, node.name))
        return lang.rebuild(node, rename)

    return rename(e)


def _declared(items: Sequence[Item]) -> list[str]:
    """Names of the values of items, but for those within branches."""
    found: list[str] = []
    for item in items:
        if isinstance(item, Let):
            found.append(item.name)
        elif isinstance(item, Branch):
            found += [name for name, *_ in item.joined]
    return found


def _needed(computed: Sequence[Statement], used: Sequence[Statement]) -> tuple[Statement, ...]:
    """Statements, the first of them only where others need what they compute."""
    wanted = {n.name for s in used for n in lang.walk(s) if isinstance(n, Name)}
    wanted |= {n.name for s in used for n in lang.walk(s) if isinstance(n, Assign)}
    kept: list[Statement] = []
    for s in reversed(computed):
        made = {n.name for n in lang.walk(s) if isinstance(n, Declare | Assign)}
        if made & wanted:
            kept.append(s)
            wanted |= made | {n.name for n in lang.walk(s) if isinstance(n, Name)}
    return (*reversed(kept), *used)
