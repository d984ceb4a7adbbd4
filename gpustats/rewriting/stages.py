"""Functions that write outputs by step, in stages: a loop through the sequences each, one after another.

Within a stage the elements can be gone through in parts, from the state that is handed from turn to turn: see `stepwise`. What
a stage writes, the next ones may read, as if it were data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..language import nodes as lang
from ..language.bounds import without_bounds
from ..language.liveness import names_in, needed, needed_in_loop
from ..language.names import UnusedNames
from ..language.nodes import (
    INT,
    OUTPUT,
    REAL,
    RNG,
    Assign,
    Binary,
    Call,
    Declare,
    Expression,
    For,
    Function,
    If,
    Index,
    Name,
    Number,
    Parameter,
    Resolve,
    Return,
    Statement,
    Store,
)
from .activity import Activity
from .derivative_rules import ONE, ZERO
from .inlined import NotInlined, inlined
from .random_words import VaryingDraws, drawn_in
from .stepwise import NotStepwise, at_least, loops_in, of_type, returning, through_sequences, with_values
from .termination import Termination
from .turns import Turns


@dataclass(frozen=True)
class Stage:
    """Stage of a function of sequences.

    Attributes
    ----------
    start : Function or None
        Takes what the function takes, and the state of the stage `before`; returns the `state` before the first turn, and
        writes outputs that are written before the loop. None where there is nothing to do.
    steps : Function or None
        Takes what the function takes, then the `bounds`, two `int`, and a state; goes through the elements from the first bound
        up to the second one, counted from the side at which the loop begins, and returns the state behind them.
    write : Function
        The same, and writes the outputs of these elements.
    state, before : tuple of str
        Names of the parameters for the state, all `real`, and for that of the stage before.
    whole : tuple of str
        Those of the state that are whole numbers.
    bounds : tuple of str
    left_out : tuple of int
        Elements that the loop leaves out, on the side at which it begins and on the other one.
    drawn_before, drawn : tuple of str
        Kinds of the random numbers that are drawn before the loop, behind that of the stage before, and in each of its turns.
    """

    start: Function | None
    steps: Function | None
    write: Function
    state: tuple[str, ...]
    whole: tuple[str, ...]
    bounds: tuple[str, str]
    before: tuple[str, ...] = ()
    left_out: tuple[int, int] = (0, 0)
    drawn_before: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()


def stages(function: Function, resolve: Resolve) -> list[Stage]:
    """Stages of a function that writes outputs by step; `NotStepwise` for those that have none, with the reason."""
    try:
        whole = inlined(function, lambda name: through_sequences(name, resolve))
    except NotInlined:
        raise NotStepwise("it returns from within a loop, or calls others where a condition decides it") from None
    written = needed([*whole.body[:-1], Return(ZERO)], ())[0]  # whatever its value is
    return _Stages(replace(whole, body=written, type=REAL, results=()), resolve).run()


@dataclass
class _Part:
    """Loop through sequences, and the statements before it that are not those of all parts."""

    before: list[Statement]
    loop: For
    turns: Turns


class _Stages:
    def __init__(self, function: Function, resolve: Resolve):
        self.function, self.resolve, self.fresh = function, resolve, UnusedNames.within(function)
        self.common: list[Statement] = []  # statements that every stage may go through again
        self.parts = self._parts()
        self.types = {n.name: n.type for s in self._straight() for n in lang.walk(s) if isinstance(n, Declare)}
        self.begin, self.end = self.fresh("begin"), self.fresh("end")
        self.names = {n: self.fresh(f"{n}_before") for n in self.types}  # parameters for the variables, as a state

    def run(self) -> list[Stage]:
        live, states = frozenset[str](), list[list[str]]()
        for i, part in reversed(list(enumerate(self.parts))):
            live = needed_in_loop(part.loop, live)[1] | names_in(part.loop.condition)
            changed = self._changed(i)
            states.insert(0, [n for n in self.types if n in live & changed])
            live = needed(part.before, live)[1]
        made, before, begun = list[Stage](), list[str](), False
        for i, state in enumerate(states):
            made.append(stage := self._stage(i, before, state))
            before = state
            if stage.drawn_before and begun:  # of a block that the first ones begin
                raise NotStepwise("it draws random numbers before and behind a loop that draws none")
            begun = (begun or bool(stage.drawn_before)) and not stage.drawn
        return made

    # -- the parts

    def _parts(self) -> list[_Part]:
        inner, found, guards = list(self.function.body), list[_Part](), list[Expression]()
        loops = [loop for loop in loops_in(inner) if "dim" in names_in(loop.start, loop.condition)]
        if not loops:
            raise NotStepwise("it has no loop through its sequences")
        before, certain = list[Statement](), Termination(self.resolve)
        while not any(s is loops[0] for s in inner):  # branches around all loops
            at = next(i for i, s in enumerate(inner) if any(n is loops[0] for n in lang.walk(s)))
            branch = inner[at]
            assert isinstance(branch, If)
            side = branch.then if any(n is loops[0] for s in branch.then for n in lang.walk(s)) else branch.otherwise
            within = Name(self.fresh("within"), INT)
            condition = branch.condition if side is branch.then else lang.Unary("!", branch.condition, INT)
            before += [*inner[:at], Declare(INT, within.name, condition)]
            guards.append(within)
            inner = list(side)
        if guards and not certain.is_certain(*before):
            raise NotStepwise("what stands before its loops, within a branch, may take any time")
        for s in inner:
            if not any(s is loop for loop in loops):
                before.append(s)
                continue
            assert isinstance(s, For)
            turns = Turns.of(s)
            if turns is None:
                raise NotStepwise("it goes through its sequences otherwise than step by step")
            found.append(_Part(before, self._guarded(s, turns), turns))
            before = []
        if len(found) < len(loops):
            raise NotStepwise("a condition decides which of its loops are gone through")
        if guards and not certain.is_certain(*(s for part in found for s in part.before)):
            raise NotStepwise("what stands between its loops, within a branch, may take any time")
        if _stores(before):
            raise NotStepwise("it writes behind its last loop")
        self.within: list[Expression] = guards
        return self._with_common(found)

    def _guarded(self, loop: For, turns: Turns) -> For:
        """Loop whose outputs are those of a turn alone: read once, and stored from variables."""
        stored = list(dict.fromkeys(n.array.name for s in loop.body for n in lang.walk(s) if isinstance(n, Store)))
        body = tuple(loop.body)
        for name in stored:
            places = {n.subscript for s in body for n in lang.walk(s) if isinstance(n, Index | Store) and n.array.name == name}
            given = any(Name(name, OUTPUT) in n.arguments for s in body for n in lang.walk(s) if isinstance(n, Call))
            if len(places) > 1 or given or not _is_of_turn(next(iter(places)), turns.here):
                raise NotStepwise(f"a turn of its loops may read, of {self._written(name)}, what another one writes")
            body = self._of_turn(name, places.pop(), body)
        return replace(loop, body=body)

    def _of_turn(self, output: str, place: Expression, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Statements of a turn with a variable in the place of an output's number."""
        here, array = Name(self.fresh(f"{output}_here"), REAL), Name(output, OUTPUT)

        def read(node: lang.Node) -> lang.Node:
            if isinstance(node, Index) and node.array == array:
                return here
            return lang.rebuild(node, read)

        def written(statements: Sequence[Statement]) -> tuple[Statement, ...]:
            made = list[Statement]()
            for s in statements:
                match s:
                    case Store() if s.array == array:
                        made += [Assign(here.name, REAL, read(s.value)), Store(array, place, here)]  # type: ignore[arg-type]
                    case If():
                        head = lang.rebuild(replace(s, then=(), otherwise=()), read)
                        made.append(replace(head, then=written(s.then), otherwise=written(s.otherwise)))
                    case For():
                        start = lang.rebuild(replace(s, body=()), read)
                        made.append(replace(start, body=written(s.body)))
                    case _:
                        made.append(read(s))  # type: ignore[arg-type]
            return tuple(made)

        return Declare(REAL, here.name, Index(array, place)), *written(body)

    def _written(self, name: str) -> str:
        return next(p.written or p.name for p in self.function.parameters if p.name == name)

    def _with_common(self, parts: list[_Part]) -> list[_Part]:
        """Parts without the statements that depend on parameters alone, which go to those of all parts."""
        first = parts[0]
        others = {p.name for p in self.function.parameters if p.type in (OUTPUT, RNG)}
        cut = next((i for i, s in enumerate(first.before) if names_in(s) & others), len(first.before))
        self.common, first.before = first.before[:cut], first.before[cut:]
        if names_in(*self.within) & {n.name for s in first.before for n in lang.walk(s) if isinstance(n, Declare)}:
            raise NotStepwise("random numbers, or outputs, decide whether its loops are gone through")
        assigned = {n.name for s in self._of(parts) for n in lang.walk(s) if isinstance(n, Assign)}
        changed = {n.name for part in parts for s in part.before for n in lang.walk(s) if isinstance(n, Declare)}
        changed |= assigned | others
        for part in parts:
            for s in list(part.before):
                if isinstance(s, Declare) and s.value and s.name not in assigned and not names_in(s.value) & changed:
                    part.before.remove(s)
                    self.common.append(s)
                    changed.discard(s.name)
        return parts

    @staticmethod
    def _of(parts: Sequence[_Part]) -> list[Statement]:
        return [s for part in parts for s in (*part.before, part.loop)]

    def _straight(self) -> list[Statement]:
        return [*self.common, *(s for part in self.parts for s in part.before)]

    def _changed(self, i: int) -> set[str]:
        """Variables that have other values in stage `i` than the statements of all stages give them."""
        some = self._of(self.parts[: i + 1])
        return {n.name for s in some for n in lang.walk(s) if isinstance(n, Declare | Assign)}

    # -- a stage

    def _stage(self, i: int, before: Sequence[str], state: Sequence[str]) -> Stage:
        part, suffix = self.parts[i], f"stage{i}"
        if structs := [n for n in state if self.types[n] not in (REAL, INT)]:
            raise NotStepwise(f"its loops hand {structs[0]} on, which is no number")
        own = {self.names[n]: Name(n, self.types[n]) for n in state}
        taken = {self.names[n]: Name(n, self.types[n]) for n in before}
        body = with_values([*self._variables(i), *_set(taken), *self._if_within(part.before)], own.values())
        start = self._made(f"{suffix}_start", taken, body, own) if own or _stores(part.before) else None
        left_out, some = self._some(part)
        try:
            drawn_before, drawn = (drawn_in(statements, self.resolve) for statements in (part.before, part.loop.body))
        except VaryingDraws as error:
            raise NotStepwise(f"a step may draw any number of random numbers, by {error}") from None
        body = [*self._variables(i + 1), *_set(own), *self._if_within([some])]
        write = self._made(f"{suffix}_write", own, body, own, self._bounds)
        steps = None
        if own:
            steps = self._made(f"{suffix}_steps", own, _without_stores(body), own, self._bounds, drawn)
            self._refuse_draws(steps, own)
        whole = tuple(p for p, v in own.items() if v.type == INT)
        return Stage(
            start, steps, write, tuple(own), whole, (self.begin, self.end), tuple(taken), left_out, drawn_before, drawn
        )

    def _if_within(self, statements: Sequence[Statement]) -> list[Statement]:
        """Statements of which those that write do so only within the branches around the loops."""
        if not self.within:
            return list(statements)
        inside: Expression = self.within[0]
        for guard in self.within[1:]:
            inside = Binary("&&", inside, guard, INT)
        return [If(inside, (s,), ()) if _stores([s]) else s for s in statements]

    @property
    def _bounds(self) -> list[Parameter]:
        return [Parameter(self.begin, INT), Parameter(self.end, INT)]

    def _variables(self, i: int) -> list[Statement]:
        """Statements of all stages, and declarations of the other variables of those before stage `i`."""
        some = (n for part in self.parts[:i] for s in part.before for n in lang.walk(s))
        return [*self.common, *(Declare(n.type, n.name, None) for n in some if isinstance(n, Declare))]

    def _some(self, part: _Part) -> tuple[tuple[int, int], For]:
        """Elements that a loop leaves out, and the loop through those between the bounds."""
        turns, begin, end, dim = part.turns, Name(self.begin, INT), Name(self.end, INT), Name("dim", INT)
        assert isinstance(turns.first, Number)
        low = int(turns.first.text)
        high = int(turns.end.right.text) if isinstance(turns.end, Binary) and isinstance(turns.end.right, Number) else 0
        first: Expression
        behind: Expression
        if turns.rises:
            first, behind = at_least(begin, low), Call("min", (end, turns.end), INT)
            return (low, high), turns.within(first, behind, True, part.loop.body)
        first = Call("max", (Binary("-", dim, end, INT), turns.first), INT)
        behind = Binary("-", dim, at_least(begin, high), INT)
        return (high, low), turns.within(first, behind, False, part.loop.body)

    def _made(
        self, suffix: str, more: Mapping[str, Name], body: Sequence[Statement], results: Mapping[str, Name],
        bounds: Sequence[Parameter] = (), drawn: Sequence[str] = (),
    ) -> Function:  # fmt: skip
        """Function that takes what this one does, and more, and returns variables; if it draws, it draws all of `drawn`."""
        f, name = self.function, f"{self.function.name}_{suffix}"
        parameters = (*f.parameters, *bounds, *(Parameter(p, REAL) for p in more))
        made = Function(name, parameters, (), REAL)
        if not results:
            return replace(made, body=needed([*body, Return(ZERO)], ())[0])
        made = returning(made, results)
        body = [*body, *made.body]
        found = needed(body, ())[0]
        if drawn and any(map(lang.draws, found)):
            all_drawn = {n.name for s in body for n in lang.walk(s) if isinstance(n, Declare | Assign) and lang.draws(n)}
            found = needed(body, all_drawn)[0]
        return replace(made, body=found)

    def _refuse_draws(self, steps: Function, own: Mapping[str, Name]) -> None:
        """Refuse random numbers whose distribution depends on the state: how they move with it is not known."""
        activity = Activity(steps, tuple(p for p, v in own.items() if v.type == REAL))
        for call in (c for s in steps.body for c in lang.draws(s)):
            if any(map(activity.of, call.arguments)):
                raise NotStepwise(f"what {call.function} draws depends on the step before")


def _stores(statements: Sequence[Statement]) -> bool:
    return any(isinstance(n, Store) for s in statements for n in lang.walk(s))


def _set(parameters: Mapping[str, Name]) -> list[Statement]:
    return [Assign(v.name, v.type, of_type(v.type, p)) for p, v in parameters.items()]


def _without_stores(statements: Sequence[Statement]) -> list[Statement]:
    found = list[Statement]()
    for s in statements:
        if isinstance(s, If):
            s = replace(s, then=tuple(_without_stores(s.then)), otherwise=tuple(_without_stores(s.otherwise)))
        elif isinstance(s, For):
            s = replace(s, body=tuple(_without_stores(s.body)))
        if not isinstance(s, Store):
            found.append(s)
    return found


def _is_of_turn(place: Expression, here: Name) -> bool:
    """True if a place is the element of a turn, or a neighbour: so that no two parts have it in common."""
    place = without_bounds(place)
    if isinstance(place, Binary) and place.operator in ("+", "-") and place.right == ONE:
        place = place.left
    return place == here
