"""Terms of a function of sequences by step: what each step adds to the function's value.

For a log-likelihood they are the conditional log-densities, each given the numbers before.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import replace

from ..language import nodes as lang
from ..language.names import UnusedNames
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
    Member,
    Name,
    Number,
    Parameter,
    Return,
    Statement,
    Store,
)
from .derivative_rules import ONE, ZERO
from .stages import Stage
from .stepwise import NotStepwise, Stepwise, of_results, returning, stepwise

TERM = "term"
#: What a number behind the loop is made of: neither the state nor what was added up; the state, or the number of elements; what
#: was added up, times what is neither, and terms of the state; anything else. Of a sum it is the largest of those of its terms.
FREE, STATE, SUMS, OTHER = range(4)
_DIM = Name("dim", INT)


def terms_by_step(function: Function, functions: MutableMapping[str, Function]) -> tuple[Function, Stage]:
    """Function with an output more, the last of its parameters, to which it writes the terms; and that as a stage.

    Those of all steps add up to the function's value. A term is the value for the numbers up to the step less that up to the
    one before: what is added up begins at 0 with each, so that nothing cancels. It is 0 for numbers that the loop leaves out,
    and what no step brings is part of the first. `functions` are all that it calls; those that are made are added.
    `NotStepwise` where the value is no such sum.
    """
    parts = stepwise(function, functions.get)
    if _End(parts).of_value() == OTHER:
        raise NotStepwise("its value is no sum over the steps")
    writer = _Writer(function, parts)
    write, made = writer.write(), writer.whole()
    while made.name in functions:
        made = replace(made, name=f"{made.name}_")
    alone = of_results(parts.steps, parts.state) if parts.state else None
    functions.update({f.name: f for f in (parts.start, parts.steps, parts.finish, write, alone) if f is not None})
    return made, Stage(parts.start, alone, write, parts.state, parts.whole, parts.bounds)


class _Writer:
    """Maker of the functions that write the terms."""

    def __init__(self, function: Function, parts: Stepwise):
        self.function, self.parts = function, parts
        fresh = UnusedNames({p.name for p in function.parameters} | {*parts.state, *parts.bounds})
        self.states = {s: Name(fresh(s), REAL) for s in parts.state}
        self.t = Name(fresh("t"), INT)
        self.base, self.here, self.after = (Name(fresh(n), REAL) for n in ("base", "here", "after"))
        self.now, self.begun = Name(fresh("now"), parts.steps.type), fresh("begun")
        self.term = Parameter(fresh(TERM), OUTPUT, written=TERM)

    def called(self, part: Function, more: Sequence[Expression], dim: Expression = _DIM) -> Call:
        own = (dim if p.name == "dim" else Name(p.name, p.type) for p in self.function.parameters)
        return Call(part.name, (*own, *more), part.type)

    def upto(self, end: Expression, added: Sequence[Expression]) -> Call:
        """Value for the elements before one, with the state there."""
        return self.called(self.parts.finish, [*self.states.values(), *added], end)

    def write(self) -> Function:
        """Function that writes the terms of the elements between two bounds, from the state there; it returns that behind."""
        parts, t, now, here, base, after = self.parts, self.t, self.now, self.here, self.base, self.after
        next_one, nothing = Binary("+", t, ONE, INT), [ZERO] * len(parts.sums)
        step: tuple[Statement, ...] = (
            Declare(now.type, now.name, self.called(parts.steps, [t, next_one, *self.states.values()])),
            *(Assign(v.name, REAL, Member(now, s)) for s, v in self.states.items()),
            Declare(REAL, after.name, self.upto(next_one, [Member(now, s) for s in parts.sums])),
            Assign(here.name, REAL, Binary("+", here, Binary("-", after, base, REAL), REAL)),
            Assign(base.name, REAL, self.upto(next_one, nothing)),
        )
        limit = Binary("-", _DIM, Number(str(parts.left_out), INT), INT)
        inside = Binary("&&", Binary(">=", t, Number(str(parts.first), INT), INT), Binary("<", t, limit, INT), INT)
        body: tuple[Statement, ...] = (
            Declare(REAL, here.name, Conditional(Binary("==", t, ZERO, INT), base, ZERO, REAL)),
            *(step if not parts.first and not parts.left_out else (If(inside, step, ()),)),
            Store(Name(self.term.name, OUTPUT), t, here),
        )
        begin, end = (Name(n, INT) for n in parts.bounds)
        behind = Call("min", (end, _DIM), INT)
        loop = For(Declare(INT, t.name, begin), Binary("<", t, behind, INT), Assign(t.name, INT, next_one), body)
        first: Expression = begin
        if parts.first:  # up to there no element has brought anything
            first = Conditional(Binary("<=", begin, Number(str(parts.first), INT), INT), ZERO, begin, INT)
        begun = [Declare(REAL, v.name, Name(s, REAL)) for s, v in self.states.items()]
        begun.append(Declare(REAL, base.name, self.upto(first, nothing)))
        more = [*(Parameter(n, INT) for n in parts.bounds), *(Parameter(n, REAL) for n in parts.state)]
        parameters = (*self.function.parameters, *more, self.term)
        made = Function(f"{self.function.name}_{TERM}s_of_some", parameters, (*begun, loop))
        return returning(made, self.states) if self.states else replace(made, body=(*made.body, Return(ZERO)))

    def whole(self) -> Function:
        """Function that writes all terms."""
        parts, write, body = self.parts, self.write(), list[Statement]()
        if parts.start is not None:
            first = Name(self.begun, parts.start.type)
            body.append(Declare(first.type, first.name, self.called(parts.start, ())))
            body += [Declare(REAL, v.name, Member(first, s)) for s, v in self.states.items()]
        own = [Name(p.name, p.type) for p in self.function.parameters]
        given: list[Expression] = [*own, ZERO, _DIM, *self.states.values(), Name(self.term.name, OUTPUT)]
        body += [Declare(write.type, self.now.name, Call(write.name, tuple(given), write.type)), Return(ZERO)]
        return Function(f"{self.function.name}_{TERM}s", (*self.function.parameters, self.term), tuple(body))


class _End:
    """End of a function of sequences, and what its variables are made of."""

    def __init__(self, parts: Stepwise):
        self.finish, self.sums = parts.finish, parts.sums
        self.known = {"dim": STATE, **dict.fromkeys(parts.state, STATE), **dict.fromkeys(parts.sums, SUMS)}
        self.value = FREE

    def of_value(self) -> int:
        self.block(self.finish.body, FREE)
        return self.value

    def block(self, statements: Sequence[Statement], under: int) -> None:
        """Follow statements; `under`: what the conditions are made of that decide whether they are executed."""
        for s in statements:
            match s:
                case Declare(value=None):
                    self.known[s.name] = FREE
                case Declare() | Assign():
                    assert s.value is not None
                    before = FREE if isinstance(s, Declare) else self.known.get(s.name, FREE)  # whose value it may keep
                    self.known[s.name] = _chosen(under, max(self.of(s.value), before))
                case If():
                    for side in (s.then, s.otherwise):
                        self.block(side, max(under, self.of(s.condition)))
                case For():
                    self.loop(s, under)
                case Return():
                    self.value = max(self.value, _chosen(under, self.of(s.value)))
                case _:
                    self.value = OTHER

    def loop(self, s: For, under: int) -> None:
        before = None
        while before != self.known:
            before = dict(self.known)
            self.block([s.start] if s.start is not None else [], under)
            self.block((*s.body, *([s.step] if s.step is not None else [])), max(under, self.of(s.condition)))

    def of(self, e: Expression) -> int:
        match e:
            case Name():
                return self.known.get(e.name, FREE)
            case Binary(operator="+" | "-"):
                return max(self.of(e.left), self.of(e.right))
            case Binary(operator="*"):
                return _product(self.of(e.left), self.of(e.right))
            case Binary(operator="/", type="real"):
                return _product(self.of(e.left), self.of(e.right)) if self.of(e.right) < SUMS else OTHER
            case Call(function="special_weighted"):
                return _product(*map(self.of, e.arguments))
            case lang.Unary(operator="-") | lang.Cast(type="real"):
                return self.of(e.operand)
            case lang.Cast(operand=Name(name=name)) if name in self.sums:
                return SUMS  # of whole numbers
            case Conditional():
                return _chosen(self.of(e.condition), max(self.of(e.then), self.of(e.otherwise)))
        found = [self.of(part) for part in lang.parts(e)]
        return max(found, default=FREE) if SUMS not in found else OTHER


def _product(one: int, other: int) -> int:
    return OTHER if max(one, other) == SUMS and min(one, other) != FREE else max(one, other)


def _chosen(condition: int, value: int) -> int:
    """What a number is made of that is used where a condition holds."""
    if condition == FREE:
        return value
    return OTHER if SUMS in (condition, value) else max(condition, value)
