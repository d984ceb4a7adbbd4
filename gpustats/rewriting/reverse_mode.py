"""Reverse-mode differentiation of one device function that goes through sequences, from source to source.

A first sweep computes the value and stores, for each turn of a loop or for some, the variables with which the turn begins. A
second one goes back: it computes each turn anew, and adds up the derivatives in its variables. So the cost is that of a few
evaluations, however many parameters there are. Other loops, such as those within a turn, become functions, whose derivatives
in the variables that they take are computed forward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..language import nodes as lang
from ..language.names import numbered_name
from ..language.nodes import (
    INT,
    OUTPUT,
    REAL,
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
from .derivative_rules import ONE, ZERO, add, is_number, multiply
from .forward_mode import VALUE, Differentiator, derivative_name, results_of
from .inlined import NotInlined, inlined
from .swept_items import Branch, Inner, Item, Let, Loop, perhaps_unused
from .swept_values import NoSweep, Values, renamed
from .turns import Checkpoints, Stored, whole_of

SWEEP = "_sweep_"  # in the names of functions that are made here, and stay whole in kernels
TAPE, CHECKPOINT = "tape", "checkpoint"  # beginnings of the names of the parameters where turns are stored

Gradient: TypeAlias = Callable[[Function, Sequence[str], MutableMapping[str, Function]], Function]


def sweep(
    function: Function, wrt: Sequence[str], functions: MutableMapping[str, Function], gradient: Gradient,
    checkpoints: bool = False,
) -> Function:  # fmt: skip
    """Function that returns the results of ``gradient(function, wrt, functions)``, and takes tapes behind the parameters.

    A tape, `real *`, has room for a number for each element of the sequences. Where vectors are in `wrt`, the derivatives in
    their elements are stored in parameters by `steps_name`; the result by the name of their derivative is 1, by which these
    are to be multiplied, as others would be by the chain rule. With `checkpoints`, a tape has `numbers_of_checkpoints`.
    `NoSweep` where the function has no loop over sequences, or returns from one.
    """
    if any(isinstance(n, Return) for s in function.body[:-1] for n in lang.walk(s)):
        try:
            function = inlined(function, lambda name: None)  # with its return at the end
        except NotInlined:
            raise NoSweep from None
    return _Sweep(function, tuple(wrt), functions, gradient, checkpoints).run()


class _Sweep(Values):
    def __init__(
        self, function: Function, wrt: tuple[str, ...], functions: MutableMapping[str, Function], gradient: Gradient,
        checkpoints: bool,
    ):  # fmt: skip
        super().__init__(function, wrt, functions)
        self.gradient, self.checkpoints = gradient, checkpoints
        self.numbers: dict[str, int] = {}  # the last ones that `Differentiator` has given
        self.tapes: list[str] = []

    def run(self) -> Function:
        body, last = self.function.body[:-1], self.function.body[-1]
        if not isinstance(last, Return) or self.function.results:
            raise NoSweep
        items, names = self.items(body, {p.name: p.name for p in self.function.parameters})
        if not any(isinstance(item, Loop) for item in items) and not self.vectors:
            raise NoSweep
        value = self.let("result", REAL, self.with_elements(renamed(last.value, names), items), VALUE)
        self.adjoints: dict[str, str] = {}
        self.unused = perhaps_unused([*items, value])
        numbers = [p for p in self.wrt if p not in self.vectors]
        for p in numbers:
            self.adjoint(p)
        back = self.reversed([*items, value], {value.name: ONE})
        forth = list(self.forward([*items, value]))
        name = f"{self.function.name}{SWEEP}{'_'.join(self.wrt)}"
        name += "_with_checkpoints" * self.checkpoints
        while name in self.functions:
            name += "_"
        results: dict[str, Expression] = {VALUE: Name(value.name, REAL), **{derivative_name(v): ONE for v in self.vectors}}
        results |= {derivative_name(p): Name(self.adjoints[p], REAL) for p in numbers}
        parameters = (*self.function.parameters, *(Parameter(p, OUTPUT) for p in (*self.vectors.values(), *self.tapes)))
        made = Function(name, parameters, (), f"{name}_results", results_of(self.function, self.wrt))
        returned = rules.flat_at_infinity(self.function, results, VALUE)
        begun: list[Statement] = [_of_zeros(output) for output in self.vectors.values()]
        begun += [Declare(REAL, a, ZERO) for a in self.adjoints.values()]
        end = Return(Call(made.maker, tuple(returned[r] for r in made.results), made.type))
        made = replace(made, body=(*forth, *begun, *back, end))
        self.functions[name] = made
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
                    yield If(item.condition, tuple(sides[0]), tuple(sides[1]), shipped=False)
                case Loop():
                    for state, first, _ in item.states:
                        yield Declare(self.types[state], state, Name(first, self.types[first]))
                    if item.checkpoints is not None:
                        yield from item.checkpoints.begun()
                        stored = item.checkpoints.put(item.stored)
                    else:
                        stored = [put for state in item.stored for put in state.put(item.turns.here)]
                    yield replace(item.loop, body=(*stored, *self.turn(item)))
                case Inner():
                    type = item.function.type
                    yield Declare(type, item.struct, Call(item.function.name, tuple(item.arguments), type))
                    for output, own in item.outputs:
                        members = [lang.Member(Name(item.struct, type), r) for r in own]
                        yield Declare(output.type, output.name, whole_of(*members) if output.type == INT else members[0])

    def turn(self, loop: Loop) -> list[Statement]:
        """Statements that compute a turn of a loop."""
        return [*self.forward(loop.items), *self.ends(loop, {state for state, *_ in loop.states})]

    def ends(self, loop: Loop, states: set[str]) -> list[Statement]:
        """Statements that give some states of a loop their values at the end of a turn."""
        ends = [(state, last) for state, _, last in loop.states if last != state and state in states]
        return [Assign(state, self.types[state], Name(last, self.types[state])) for state, last in ends]

    def again(self, loop: Loop, states: set[str]) -> tuple[Statement, ...]:
        """Statements that compute some states of a loop at the end of a turn."""
        return _needed(list(self.forward(loop.items)), self.ends(loop, states))

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
                    if isinstance(item.value, lang.Index) and item.value.array.name in self.vectors:
                        out.append(self.stored(item.value, Name(self.adjoint(item.name), REAL)))
                    elif item.name in (seeds or {}):
                        out += self.back(item.value, (seeds or {})[item.name])
                    elif self.is_active(item.name):
                        out += self.back(item.value, Name(self.adjoint(item.name), REAL), item.name in self.unused)
                case Branch():
                    out += self.back_branch(item)
                case Loop():
                    out += self.back_loop(item)
                case Inner():
                    out += self.back_inner(item)
        return out

    def stored(self, element: lang.Index, adjoint: Expression) -> Statement:
        """Statement that adds to what is stored for an element of a vector."""
        place = Name(self.vectors[element.array.name], OUTPUT)
        return lang.Store(place, element.subscript, add(lang.Index(place, element.subscript), adjoint))

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
        own.used, own.numbers = self.fresh.used, self.numbers
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
        return [If(item.condition, *sides, shipped=False)] if any(sides) else []

    def back_inner(self, item: Inner) -> list[Statement]:
        function, given = item.function, zip(item.function.parameters, item.arguments, strict=True)
        inputs = [(p.name, a.name) for p, a in given if self.is_active(a.name)]
        outputs = [(output.name, own[0]) for output, own in item.outputs if self.is_active(output.name)]
        if not inputs or not outputs:
            return []
        wrt = tuple(p for p, _ in inputs)
        name = numbered_name(f"{function.name}_grad", self.functions, "_")
        made = self.functions[name] = Differentiator(function, wrt, name, self.functions, self.gradient).run()
        tapes = [p.name for p in made.parameters if p.type == OUTPUT]
        self.tapes += [tape for tape in tapes if tape not in self.tapes]
        struct = Name(self.fresh("through"), made.type)
        call = Call(made.name, (*item.arguments, *(Name(tape, OUTPUT) for tape in tapes)), made.type)
        out: list[Statement] = [Declare(made.type, struct.name, call)]
        for p, variable in inputs:
            for output, r in outputs:
                adjoint, partial = Name(self.adjoint(output), REAL), lang.Member(struct, derivative_name(p, r))
                by = _unless_zero(adjoint, partial) if output in self.unused else multiply(adjoint, partial)
                out.append(self.increased(variable, by))
        return out

    def back_loop(self, item: Loop) -> list[Statement]:
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
        read = _read(body)
        again: tuple[Statement, ...] = ()
        if self.checkpoints:  # with the states of which those are made that are read
            while read != (read := read | _read(again := self.again(item, read))):
                pass
        prefix = f"{CHECKPOINT if self.checkpoints else TAPE}_of_{self.function.name}"  # unlike those of functions within
        for stored in (Name(state, self.types[state]) for state, *_ in item.states if state in read):
            tapes = tuple(self.fresh(prefix) for _ in range(1 + (stored.type == INT)))
            self.tapes += tapes
            item.stored.append(Stored(stored, tapes))
        if self.checkpoints and item.stored:
            names = (Name(self.fresh(n), INT) for n in ("every", "left", "next"))
            item.checkpoints = Checkpoints(item.turns, *names)
            back: list[Statement] = [item.checkpoints.back(item.stored, again, body, self.fresh)]
        else:
            back = [item.turns.back([*(state.take(item.turns.here) for state in item.stored), *body])]
        for state, value, _ in states:
            if self.is_active(value):
                back.append(self.increased(value, Name(self.adjoint(state), REAL)))
        return back


def _read(statements: Sequence[Statement]) -> set[str]:
    """Names that statements read."""
    return set().union(*map(lang.names_in, statements))


def _of_zeros(output: str) -> For:
    """Loop that stores 0 for each element of the sequences."""
    here = Name("place_of_zero", INT)
    next_one = Assign(here.name, INT, Binary("+", here, lang.Number("1", INT), INT))
    store = lang.Store(Name(output, OUTPUT), here, ZERO)
    first = Declare(INT, here.name, lang.Number("0", INT))
    return For(first, Binary("<", here, Name("dim", INT), INT), next_one, (store,))


def _unless_zero(adjoint: Expression, partial: Expression) -> Expression:
    """Product of a derivative in a value and one of the value, 0 where the first is."""
    made, plain = multiply(adjoint, partial), partial.operand if isinstance(partial, lang.Unary) else partial
    return made if isinstance(plain, lang.Number) else Conditional(Binary("!=", adjoint, ZERO, INT), made, ZERO, REAL)


def _declared(items: Sequence[Item]) -> list[str]:
    """Names of the values of items, but for those within branches."""
    found: list[str] = []
    for item in items:
        if isinstance(item, Let):
            found.append(item.name)
        elif isinstance(item, Branch):
            found += [name for name, *_ in item.joined]
        elif isinstance(item, Inner):
            found += [output.name for output, _ in item.outputs]
    return found


def _needed(computed: Sequence[Statement], used: Sequence[Statement]) -> tuple[Statement, ...]:
    """Statements, the first of them only where others need what they compute."""
    wanted = _read(used)
    wanted |= {n.name for s in used for n in lang.walk(s) if isinstance(n, Assign)}
    kept: list[Statement] = []
    for s in reversed(computed):
        made = {n.name for n in lang.walk(s) if isinstance(n, Declare | Assign)}
        if made & wanted:
            kept.append(s)
            wanted |= made | {n.name for n in lang.walk(s) if isinstance(n, Name)}
    return (*reversed(kept), *used)
