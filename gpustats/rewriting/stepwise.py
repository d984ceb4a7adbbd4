"""Functions of sequences, step by step: what begins, what goes through some of the elements, and what makes the value.

A function whose only loop goes through its sequences hands a state from turn to turn, and adds up what no turn reads. Told
apart, the turns can be computed in other ways than one after another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..language import nodes as lang
from ..language.bounds import elements
from ..language.liveness import names_in, needed, needed_in_loop
from ..language.names import UnusedNames
from ..language.nodes import (
    INT,
    REAL,
    VECTOR,
    Assign,
    Binary,
    Call,
    Cast,
    Declare,
    Expression,
    For,
    Function,
    If,
    Name,
    Number,
    Parameter,
    Resolve,
    Return,
    Statement,
)
from . import derivative_rules as rules
from .inlined import NotInlined, inlined
from .termination import Termination


class NotStepwise(Exception):
    """Function that does not go through its sequences in one loop; the message says why."""


@dataclass(frozen=True)
class Stepwise:
    """Function of sequences in three.

    Attributes
    ----------
    start : Function or None
        Takes what the function takes; returns the `state` before the first turn. None where there is no state.
    steps : Function
        Takes what the function takes, then the `bounds`, two `int`, and a state; goes through those elements from the first
        bound up to the second one, which it leaves out, that the function goes through. It returns the state behind them, and
        of each of the `sums` the part that these elements bring.
    finish : Function
        Takes what the function takes, then the state behind the last element and the sums; returns the function's value.
    state, sums : tuple of str
        Names of the parameters for the state, all `real`, and of what is added up.
    whole : tuple of str
        Those of the state that are whole numbers, whose derivatives are 0.
    bounds : tuple of str
    first, left_out : int
        Elements before the first one, and behind the last one, that the function goes through.
    """

    start: Function | None
    steps: Function
    finish: Function
    state: tuple[str, ...]
    sums: tuple[str, ...]
    whole: tuple[str, ...]
    bounds: tuple[str, str]
    first: int
    left_out: int


def stepwise(function: Function, resolve: Resolve) -> Stepwise:
    """A function of sequences, step by step; `resolve` finds the functions that it calls. `NotStepwise` for other functions."""
    try:
        whole = inlined(function, lambda name: through_sequences(name, resolve))
    except NotInlined:
        raise NotStepwise("it returns from within its loop, or a condition decides whether it is gone through") from None
    return _Splitter(whole, resolve).run()


def through_sequences(name: str, resolve: Resolve) -> Function | None:
    """Function of a name, if it goes through sequences itself or has another one do it."""
    found = resolve(name)
    if found is None or all(p.type != VECTOR for p in found.parameters):
        return None
    loops = any(isinstance(n, For) for s in found.body for n in lang.walk(s))
    return found if loops or any(through_sequences(n, resolve) for s in found.body for n in lang.called(s)) else None


def of_results(function: Function, results: Sequence[str]) -> Function:
    """Function of several results that computes some of these only."""
    *body, end = function.body
    assert isinstance(end, Return) and isinstance(end.value, Call)
    values = tuple(v for v, r in zip(end.value.arguments, function.results, strict=True) if r in results)
    name = f"{function.name}_alone"
    made = replace(function, name=name, type=f"{name}_results", results=tuple(r for r in function.results if r in results))
    return replace(made, body=needed([*body, Return(Call(made.maker, values, made.type))], ())[0])


class _Splitter:
    def __init__(self, function: Function, resolve: Resolve):
        self.function = function
        self.fresh = UnusedNames.within(function)
        self.before, self.loop, self.behind = _around_the_loop(function.body, Termination(resolve))

    def run(self) -> Stepwise:
        before, loop = self.before, self.loop
        types = {n.name: n.type for s in before for n in lang.walk(s) if isinstance(n, Declare)}
        read_behind = needed(self.behind, ())[1]
        changed = {n.name for s in loop.body for n in lang.walk(s) if isinstance(n, Assign)}
        changed &= types.keys() & needed_in_loop(loop, read_behind)[1]
        added = {name for name in changed if _is_added_up(name, loop.body)}
        own = {self.fresh(f"{n}_before"): Name(n, type) for n, type in types.items() if n in changed - added}
        own_sums = {self.fresh(f"{n}_added"): Name(n, type) for n, type in types.items() if n in added & read_behind}
        if not own and not own_sums:
            raise NotStepwise("nothing is read of what its loop computes")
        begin, end = self.fresh("begin"), self.fresh("end")
        start = self.made("start", (), with_values(before, own.values()), own) if own else None
        taken = [Assign(v.name, v.type, of_type(v.type, p)) for p, v in own.items()]
        zero = [Assign(v.name, v.type, Number("0", INT)) for v in own_sums.values()]
        assert isinstance(loop.start, Declare) and isinstance(loop.condition, Binary)
        first, left_out = elements(loop) or (0, 0)
        limit = Call("min", (Name(end, INT), loop.condition.right), INT)
        first_turn = replace(loop.start, value=at_least(Name(begin, INT), first))
        some = replace(loop, start=first_turn, condition=replace(loop.condition, right=limit))
        more = [Parameter(begin, INT), Parameter(end, INT), *(Parameter(p, REAL) for p in own)]
        steps = self.made("steps", more, [*before, *taken, *zero, some], own | own_sums)
        taken += [Assign(v.name, v.type, Binary("+", v, of_type(v.type, p), v.type)) for p, v in own_sums.items()]
        finish = self.made("finish", [Parameter(p, REAL) for p in own | own_sums], _with(self.function.body, loop, taken))
        whole = tuple(p for p, v in own.items() if v.type == INT)
        return Stepwise(start, steps, finish, tuple(own), tuple(own_sums), whole, (begin, end), first, left_out)

    def made(
        self, suffix: str, more: Sequence[Parameter], body: Sequence[Statement], results: Mapping[str, Name] | None = None
    ) -> Function:
        """Function that takes what this one does, and more; it returns variables as results, or what the body does."""
        f = self.function
        made = Function(f"{f.name}_{suffix}", (*f.parameters, *more), tuple(body), f.type, f.results)
        if results:
            made = returning(made, results)
        return replace(made, body=needed(made.body, ())[0])


def returning(function: Function, results: Mapping[str, Name]) -> Function:
    """Function that returns variables, as results of these names."""
    made = replace(function, type=f"{function.name}_results", results=tuple(results))
    values = tuple(v if v.type == REAL else Cast(REAL, v) for v in results.values())
    return replace(made, body=(*function.body, Return(Call(made.maker, values, made.type))))


def _around_the_loop(body: tuple[Statement, ...], termination: Termination) -> tuple[list[Statement], For, list[Statement]]:
    """Statements before the one loop through sequences, wherever branches have it, the loop, and the statements behind it."""
    through = [loop for loop in loops_in(body) if elements(loop) is not None]
    if not through:
        raise NotStepwise("it has no loop `for (int t = 0; t < n; t++)` through its sequences")
    before, behind, loop, inner = list[Statement](), list[Statement](), through[-1], body
    while True:
        at = next(i for i, s in enumerate(inner) if _holds(s, loop))
        if inner is not body and not termination.is_certain(*inner[:at]):  # it is computed whether the condition holds or not
            raise NotStepwise("what stands before its loop, within a branch, may take any time")
        before, behind, here = [*before, *inner[:at]], [*inner[at + 1 :], *behind], inner[at]
        if here is loop:
            break
        assert isinstance(here, If)
        inner = here.then if any(_holds(s, loop) for s in here.then) else here.otherwise
    if any("dim" in names_in(other.start, other.condition) for other in loops_in([*before, *behind])):
        raise NotStepwise("it goes through its sequences more than once")
    return before, loop, behind


def _holds(s: Statement, loop: For) -> bool:
    return any(n is loop for n in lang.walk(s))


def loops_in(statements: Sequence[Statement]) -> Iterator[For]:
    """Loops that do not stand within another one."""
    for s in statements:
        if isinstance(s, For):
            yield s
        elif isinstance(s, If):
            yield from loops_in((*s.then, *s.otherwise))


def _is_added_up(name: str, body: Sequence[Statement]) -> bool:
    """True if all that is done to a variable is that something is added to it."""
    reads = sum(isinstance(n, Name) and n.name == name for s in body for n in lang.walk(s))
    writes = [n for s in body for n in lang.walk(s) if isinstance(n, Assign) and n.name == name]
    return reads == len(writes) and all(("+", Name(name, n.type)) in rules.terms(n.value) for n in writes)


def with_values(statements: Sequence[Statement], variables: Iterable[Name]) -> list[Statement]:
    """Statements in which some variables have a value from their declaration on."""
    names = {v.name for v in variables}
    return [
        replace(s, value=Number("0", INT)) if isinstance(s, Declare) and s.value is None and s.name in names else s
        for s in statements
    ]


def _with(statements: Sequence[Statement], loop: For, instead: Sequence[Statement]) -> tuple[Statement, ...]:
    """Statements with others in the place of a loop."""
    found: list[Statement] = []
    for s in statements:
        if s is loop:
            found += instead
        elif isinstance(s, If):
            found.append(replace(s, then=_with(s.then, loop, instead), otherwise=_with(s.otherwise, loop, instead)))
        else:
            found.append(s)
    return tuple(found)


def of_type(type: str, parameter: str) -> Expression:
    """Value of a `real` parameter in a type."""
    return Name(parameter, REAL) if type == REAL else Cast(type, Name(parameter, REAL))


def at_least(e: Expression, least: int) -> Expression:
    """Whole number that is `e`, or the least that it may be."""
    return Call("max", (e, Number(str(least), INT)), INT) if least else e
