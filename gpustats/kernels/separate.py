"""Separation of a device function by the arguments on which its parts depend.

A table of N observations × K parameter sets evaluates a function N·K times, but much of it depends on the parameters
alone (``log(sigma)``) or on the observation alone (``lgamma(x + 1)``). `separate` splits a function into three:

* ``prepare_set``: whatever depends on the parameters only, evaluated once per parameter set;
* ``prepare_row``: whatever depends on the observation only, evaluated once per observation;
* ``evaluate``: the rest, which sees the results of the other two as the structs ``set`` and ``row``.

No arithmetic is re-ordered: statements and subexpressions move whole. Device functions are pure, so evaluating a part
ahead of time, even one that a branch would have skipped, changes no result. What is not certain to end there (see
`Termination`) takes the conditions that it stands under along, or stays where these are known too late. Calls of other device
functions are separated in turn, each with members of its own in the caller's structs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from ..language import nodes as lang
from ..language.nodes import INT, VECTOR, Expression, Function, Node, Resolve, Statement
from ..rewriting.termination import Termination
from .guards import Guard, beyond, guarded, negation
from .separated import BOTH, CONST, OWNER, ROW, SET, Separated, Stage

_MOST_NUMBERS = 256  # that a function computes ahead for several functions that it calls
_CHEAP = {"ceil", "copysign", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "rint", "round", "trunc"}
_PARTS = ("prepare_set", "prepare_row", "evaluate", "set", "row")
Guards = tuple[Expression, ...]  # conditions that all hold


def separate(
    function: Function, levels: Mapping[str, int], resolve: Resolve, whole: Callable[[str], bool] = lambda name: False
) -> Separated:
    """Separate `function` by the levels, SET, ROW or BOTH, of its parameters but ``dim``.

    `whole` says whether a function, of which it is told the name, stays as it is where it is called, unless that moves a call
    out of it.
    """
    return _Separation(resolve, whole).of(function, dict(levels))


class _Separation:
    """Shared state of the separations of a function and of all that it calls; each is made once."""

    def __init__(self, resolve: Resolve, whole: Callable[[str], bool]):
        self.resolve, self.whole = resolve, whole
        self.termination = Termination(resolve)
        self._made: dict[tuple[str, tuple[int, ...], frozenset[int]], Separated] = {}

    def of(self, function: Function, levels: Mapping[str, int], held: frozenset[int] = frozenset()) -> Separated:
        """Separated `function`; only code that is certain to end goes into the stages of `held`."""
        key = (function.name, tuple(levels.get(p.name, CONST) for p in function.parameters), held)
        if key not in self._made:
            self._made[key] = _Separator(function, dict(levels), self, held).run()
        return self._made[key]


def _assigned(statements: Iterable[Node]) -> list[str]:
    return [s.name for s in lang.written(*statements)]


def _is_costly(stage: Stage) -> bool:
    """True if a stage computes more than arithmetic."""
    calls = (n for s in stage.computed for n in lang.walk(s) if isinstance(n, lang.Call))
    return any(n.type != INT and n.function not in _CHEAP for n in calls)


class _Separator:
    def __init__(self, function: Function, levels: dict[str, int], separation: _Separation, held: frozenset[int]):
        self.function, self.separation, self.held = function, separation, held
        self.parameters = {p.name: p for p in function.parameters}
        self.levels = {n: levels.get(n, CONST) for n in self.parameters}
        tag = "".join("csrm"[level] for n, level in self.levels.items() if n != "dim" or level)
        plain = tag[:1] == "r" and set(tag[1:]) <= {"s"} and not self.levels.get("dim")
        name = function.name if plain else f"{function.name}_{tag}"
        name += "".join(f"_{OWNER[level]}_whole" for level in sorted(held))
        own = () if name == function.name else (name,)
        while any(map(separation.resolve, (*own, *(f"{name}_{part}" for part in _PARTS)))):  # a user's own function
            name += "_"
            own = (name,)
        self.result = Separated(
            function, name,
            {SET: Stage(f"{name}_set", f"{name}_prepare_set"), ROW: Stage(f"{name}_row", f"{name}_prepare_row")},
        )  # fmt: skip
        self.available = {n: level for n, level in self.levels.items() if level in (SET, ROW)}  # name -> stage
        self.stages_of: dict[Expression, int] = {}
        self.replacements: dict[Expression | tuple[int, str, Expression], list[tuple[Guards, lang.Field]]] = {}
        self.certain = separation.termination.is_certain(*function.body)
        self.numbers: dict[tuple[int, str], Iterator[int]] = {}  # of new members, by stage and prefix
        self.guards: tuple[Guard, ...] = ()  # the conditions under which the current place is reached; none if all is certain

    # -- what depends on what

    def level(self, e: Node, names: Mapping[str, int]) -> int:
        """Level of `e`, given the levels of names."""
        level = CONST
        for name in lang.names_in(e):
            level |= names.get(name, CONST)
        return level

    def variable_levels(self, forced: set[str]) -> dict[str, int]:
        """Levels of all names, local variables included; flow-insensitive, to a fixed point."""
        names = {**self.levels, **dict.fromkeys(forced, BOTH)}

        def visit(s: Statement, control: int) -> None:
            if isinstance(s, (lang.Declare, lang.Assign)):
                value = CONST if s.value is None else self.level(s.value, names)
                names[s.name] = names.get(s.name, CONST) | value | control
            elif isinstance(s, lang.If):
                inside = control | self.level(s.condition, names)
                for inner in (*s.then, *s.otherwise):
                    visit(inner, inside)
            elif isinstance(s, lang.For):
                inside = control | self.level(s.condition, names)
                for part in (s.start, *s.body, s.step):
                    if part is not None:
                        visit(part, inside)

        while True:
            before = dict(names)
            for s in self.function.body:
                visit(s, CONST)
            if names == before:
                return names

    def hoisted_statements(self) -> dict[int, tuple[int, Guards]]:
        """Positions of the statements of the outermost block that move as a whole -> SET or ROW, and their guards."""
        body = self.function.body
        base = SET if SET in self.levels.values() else ROW  # where constants go
        written = [set(_assigned([s])) for s in body]
        named = [lang.names_in(s) for s in body]
        returns = [any(isinstance(n, lang.Return) for n in lang.statements(s)) for s in body]
        shared = {n for n, count in Counter(n for a, b in zip(written, named, strict=True) for n in a | b).items() if count > 1}
        forced: set[str] = set()
        while True:
            names = self.variable_levels(forced)
            # Constants that several statements share are made in one stage; others go where their statement goes.
            names |= {n: level or base for n, level in names.items() if n not in self.levels and n in shared}
            moved: dict[int, tuple[int, Guards]] = {}
            for i, s in enumerate(body):
                level = self.level(s, names)
                for n in written[i]:
                    level |= names[n]
                if not written[i] or level not in (SET, ROW) or returns[i]:
                    continue
                guards = self.guards_at(i, level, names)
                if guards is not None:
                    moved[i] = level, guards
            stuck = {n for i, s in enumerate(body) if i not in moved for n in written[i]}
            read: set[str] = set()
            for i in range(len(body)):  # a variable that is read before its last assignment moved away must stay
                if i in moved:
                    stuck |= read & written[i]
                else:
                    read |= named[i]
            stuck = {n for n in stuck if names[n] != BOTH}
            if not stuck:
                return moved
            forced |= stuck

    def guards_at(self, i: int, level: int, names: Mapping[str, int]) -> Guards | None:
        """Guards under which statement `i` of the outermost block is computed ahead; None where it must not be."""
        body = self.function.body
        if self.certain or self.separation.termination.is_certain(body[i]):
            return ()
        guards: list[Expression] = []
        for j in range(i):
            for guard in beyond(body[j]):
                if guard is None or self.level(guard, names) not in (CONST, level):
                    return None
                if lang.names_in(guard).intersection(_assigned(body[j:i])):
                    return None  # has another value by then
                guards.append(guard)
        return None if level in self.held else tuple(guards)

    # -- the move

    def compute(self, level: int, s: Statement, guards: Guards) -> None:
        """Let stage `level` compute `s`, where all `guards` hold."""
        stage = self.result.stages[level]
        stage.certain = stage.certain and (self.certain or self.separation.termination.is_certain(s))
        stage.guarded = stage.guarded or bool(guards)
        stage.computed += guarded(s, guards)

    def run(self) -> Separated:
        moved = self.hoisted_statements()
        for i, (level, guards) in moved.items():
            s = self.function.body[i]
            self.compute(level, s, guards)
            for n in lang.written(s):
                if isinstance(n, lang.Declare):
                    self.available[n.name] = level
        self.kinds = {n.name: n.type for n in lang.written(*self.function.body) if isinstance(n, lang.Declare)}
        self.kinds |= {p.name: p.type for p in self.function.parameters}
        self.once = {n for n, count in Counter(_assigned(self.function.body)).items() if count == 1}
        self.result.body = self.rewrite_block([s for i, s in enumerate(self.function.body) if i not in moved])
        self.collect_arguments()
        return self.result

    def stage_of(self, e: Expression) -> int:
        """Stage in which `e` can be computed: SET or ROW, CONST for any, else BOTH."""
        if isinstance(e, lang.Name):
            known = e.name in self.kinds and (e.name != "dim" or self.levels.get("dim") != CONST)
            return self.available.get(e.name, BOTH) if known else CONST
        if (level := self.stages_of.get(e)) is None:  # names are declared before they are used
            level = CONST
            for child in lang.parts(e):
                level |= self.stage_of(child)
            self.stages_of[e] = level
        return level

    def guards_in(self, level: int) -> Guards | None:
        """Guards of the current place, where stage `level` knows them all."""
        known = tuple(g for g in self.guards if g is not None and self.stage_of(g) in (CONST, level))
        return None if level in self.held or len(known) < len(self.guards) else known

    def guards_for(self, level: int, e: Expression) -> Guards | None:
        """Guards under which stage `level` is to compute `e`; None where it must not."""
        return () if self.certain or self.separation.termination.is_certain(e) else self.guards_in(level)

    @contextmanager
    def under(self, *guards: Guard) -> Iterator[None]:
        """Place that is reached only where `guards` hold, too."""
        before = self.guards
        if not self.certain:
            self.guards += guards
        yield
        self.guards = before

    def computed_ahead(self, key: Expression | tuple[int, str, Expression]) -> lang.Field | None:
        """Member that was made under the conditions of the current place, or under fewer."""
        found = self.replacements.get(key, ())
        return next((member for guards, member in found if self.guards[: len(guards)] == guards), None)

    def member(self, level: int, name: str, kind: str, value: Expression, guards: Guards = (), numbers: int = 1) -> lang.Field:
        stage = self.result.stages[level]
        if name not in stage.members:
            stage.members[name] = kind
            stage.numbers += numbers
            stage.inherited += numbers if kind not in (lang.REAL, lang.INT) else 0
            self.compute(level, lang.Assign(f"{OWNER[level]}.{name}", kind, value), guards)
        return lang.Field(OWNER[level], name, kind)

    def fresh(self, level: int, prefix: str) -> str:
        members = self.result.stages[level].members
        numbers = self.numbers.setdefault((level, prefix), itertools.count())
        return next(n for i in numbers if (n := f"{prefix}{i}") not in members and n not in self.kinds)

    def rewrite(self, e: Expression) -> Expression:
        """Expression `e` with everything that is computed ahead replaced by members of `set` and `row`."""
        if isinstance(e, lang.Name):
            if e.name in self.kinds and e.type != VECTOR and (level := self.available.get(e.name)):
                return self.member(level, e.name, e.type, lang.Name(e.name, e.type))
            return e
        if isinstance(e, (lang.Number, lang.Field)):
            return e
        if (found := self.computed_ahead(e)) is not None:
            return found
        level = self.stage_of(e)
        negated_name = isinstance(e, lang.Unary) and isinstance(e.operand, lang.Name)
        if level in (SET, ROW) and not negated_name and (guards := self.guards_for(level, e)) is not None:
            made = self.member(level, self.fresh(level, "c"), e.type, e, guards)
            self.replacements.setdefault(e, []).append((guards, made))
            return made
        match e:
            case lang.Call() if (callee := self.separation.resolve(e.function)) and level != CONST:
                return self.rewrite_call(e, callee)
            case lang.Index():
                return lang.Index(e.array, self.rewrite(e.subscript))
            case lang.Conditional():
                condition = self.rewrite(e.condition)
                with self.under(e.condition):
                    then = self.rewrite(e.then)
                with self.under(negation(e.condition)):
                    return lang.Conditional(condition, then, self.rewrite(e.otherwise), e.type)
            case lang.Binary(operator="&&" | "||"):
                left = self.rewrite(e.left)
                with self.under(e.left if e.operator == "&&" else negation(e.left)):
                    return lang.Binary(e.operator, left, self.rewrite(e.right), e.type)
        rebuilt: Expression = lang.rebuild(e, self.rewrite)
        return rebuilt

    def rewrite_call(self, e: lang.Call, callee: Function) -> Expression:
        """Call whose arguments depend on both levels: its own parameter-only and row-only parts move ahead as well."""
        given = {}
        for p, a in zip(callee.parameters, e.arguments, strict=True):
            level = self.stage_of(a) or (SET if p.name != "dim" else CONST)
            given[p.name] = (a, BOTH if self.guards_for(level, a) is None else level)
        levels = {n: level for n, (_, level) in given.items()}
        held: frozenset[int] = frozenset()
        while True:  # what one stage must not compute may get into the other
            separated = self.separation.of(callee, levels, held)
            more = {level for level, s in separated.stages.items() if not s.certain and self.guards_in(level) is None}
            if more <= held:
                break
            held |= more
        pays = not self.separation.whole(callee.name) or any(map(_is_costly, separated.stages.values()))
        if not pays or not all(self.has_room(level, stage) for level, stage in separated.stages.items()):
            whole: Expression = lang.rebuild(e, self.rewrite)
            return whole
        if all(separated.name != s.name for s in self.result.inner):
            self.result.inner.append(separated)
        arguments: list[Expression] = []
        for level, stage in separated.stages.items():
            if stage.members:
                arguments.append(self.struct(level, stage, separated, e, given, callee))
        for p in separated.arguments[BOTH]:
            a = given[p.name][0]
            arguments.append(a if p.type == VECTOR else self.rewrite(a))
        return lang.Call(separated.evaluate, tuple(arguments), e.type)

    def has_room(self, level: int, stage: Stage) -> bool:
        """True if a called function's stage has room beside those of others, which could double with each call."""
        own = self.result.stages[level]
        return own.numbers + stage.numbers <= _MOST_NUMBERS or (not own.inherited and stage.inherited <= _MOST_NUMBERS)

    def struct(
        self, level: int, stage: Stage, separated: Separated, e: lang.Call, given: Mapping[str, tuple[Expression, int]],
        callee: Function,
    ) -> lang.Field:  # fmt: skip
        """Member for the struct that stage `level` of a called function computes."""
        place = (level, separated.name, e)
        if (found := self.computed_ahead(place)) is not None:
            return found
        ahead = lang.Call(stage.function, tuple(given[p.name][0] for p in separated.arguments[level]), stage.struct)
        guards = self.guards_for(level, ahead) if stage.certain else self.guards_in(level)
        assert guards is not None
        name = self.fresh(level, callee.name.partition("_log")[0] + "_")
        made = self.member(level, name, stage.struct, ahead, guards, stage.numbers)
        own = self.result.stages[level]
        own.certain = own.certain and stage.certain
        self.replacements.setdefault(place, []).append((guards, made))
        return made

    def rewrite_block(self, statements: Iterable[Statement]) -> tuple[Statement, ...]:
        made: list[Statement] = []
        with self.under():
            for s in statements:
                made += self.rewrite_statement(s)
                if not self.certain:
                    self.guards += beyond(s)
        return tuple(made)

    def rewrite_statement(self, s: Statement) -> list[Statement]:
        if isinstance(s, lang.Declare) and s.value is not None and s.name in self.once:
            level = self.stage_of(s.value)
            if level in (SET, ROW) and (guards := self.guards_for(level, s.value)) is not None:  # computed ahead all the same
                self.compute(level, s, guards)
                self.available[s.name] = level
                return []
        if isinstance(s, lang.If):
            with self.under(s.condition):
                then = self.rewrite_block(s.then)
            with self.under(negation(s.condition)):
                otherwise = self.rewrite_block(s.otherwise)
            return [replace(s, condition=self.rewrite(s.condition), then=then, otherwise=otherwise)]
        if isinstance(s, lang.For):
            start = self.rewrite_plain(s.start) if s.start else None
            with self.under(None):  # there may be no turn
                body = self.rewrite_block(s.body)
            condition = self.rewrite(s.condition)
            with self.under(None):
                step = self.rewrite_plain(s.step) if s.step else None
            return [replace(s, start=start, condition=condition, step=step, body=body)]  # type: ignore[arg-type]
        return [self.rewrite_plain(s)]

    def rewrite_plain(self, s: Statement) -> Statement:
        if isinstance(s, lang.Assign):
            return lang.Assign(s.name, s.type, self.rewrite(s.value))
        rebuilt: Statement = lang.rebuild(s, self.rewrite)
        return rebuilt

    def collect_arguments(self) -> None:
        """Collect the parameters that each of the three functions takes."""
        result = self.result
        for level, stage in result.stages.items():
            result.arguments[level] = self.used_in(stage.computed)
        result.arguments[BOTH] = self.used_in(result.body)

    def used_in(self, nodes: Iterable[Node]) -> tuple[lang.Parameter, ...]:
        used = frozenset().union(*map(lang.names_in, nodes))
        return tuple(p for n, p in self.parameters.items() if n in used)
