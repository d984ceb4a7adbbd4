"""Separation of a device function by what its parts depend on.

A table of N observations × K parameter sets evaluates a function N·K times, but much of it depends on the parameters
alone (``log(sigma)``) or on the observation alone (``lgamma(x + 1)``). `separate` splits a function into three:

* ``prepare_set``: whatever depends on the parameters only, evaluated once per parameter set;
* ``prepare_row``: whatever depends on the observation only, evaluated once per observation;
* ``evaluate``: the rest, which sees the results of the other two as the structs ``set`` and ``row``.

No arithmetic is re-ordered: statements and subexpressions move whole. Device functions are pure, so evaluating a part
ahead of time, even one that a branch would have skipped, changes no result. Calls of other device functions are separated
in turn, each with members of its own in the caller's structs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..language import nodes as lang
from ..language.nodes import VECTOR, Expression, Function, Node, Statement
from ..language.printer import Printer

CONST, SET, ROW, BOTH = 0, 1, 2, 3  # what a value depends on: bits for parameters and observations
_OWNER = {SET: "set", ROW: "row"}
_PARTS = ("prepare_set", "prepare_row", "evaluate", "set", "row")
_ABOUT = {
    SET: "what depends on the parameters alone, computed once for each set of them.",
    ROW: "what depends on the observation alone, computed once for each.",
}


@dataclass
class Stage:
    """What is computed ahead for one parameter set, or for one observation."""

    struct: str
    function: str
    members: dict[str, str] = field(default_factory=dict)  # name -> C type
    computed: list[Statement | tuple[str, Expression]] = field(default_factory=list)  # in order; tuple: member = value


@dataclass
class Separated:
    """A function in three parts; see the module's docstring.

    Attributes
    ----------
    stages : dict
        SET and ROW -> Stage; a stage without members is left out of the printed code.
    arguments : dict
        SET, ROW, BOTH -> the parameters that ``prepare_set``, ``prepare_row`` and ``evaluate`` take, in order, beside the
        structs.
    inner : list of Separated
        The separated functions that this one calls, to be printed before it.
    """

    source: Function
    name: str
    levels: dict[str, int]
    stages: dict[int, Stage]
    body: tuple[Statement, ...] = ()
    arguments: dict[int, tuple[lang.Parameter, ...]] = field(default_factory=dict)
    inner: list[Separated] = field(default_factory=list)

    @property
    def evaluate(self) -> str:
        return f"{self.name}_evaluate"

    def parts(self) -> list[Node]:
        """Every piece of code in it, for finding what it calls."""
        own: list[Node] = list(self.body)
        for stage in self.stages.values():
            own += [c[1] if isinstance(c, tuple) else c for c in stage.computed]
        return own

    def print(self, printer: Printer, printed: set[str] | None = None) -> str:
        """The structs and functions as C, those of `inner` first, without those in `printed`."""
        printed = set() if printed is None else printed
        if self.name in printed:
            return ""
        printed.add(self.name)
        text = "".join(part.print(printer, printed) for part in self.inner)
        for level, stage in self.stages.items():
            if not stage.members:
                continue
            members = "".join(f"    {kind} {name};\n" for name, kind in stage.members.items())
            text += f"// {self.source.name}: {_ABOUT[level]}\ntypedef struct {{\n{members}}} {stage.struct};\n\n"
            owner, parameters = _OWNER[level], ", ".join(map(printer.parameter, self.arguments[level]))
            text += f"DEVICE {stage.struct} {stage.function}({parameters})\n{{\n    {stage.struct} {owner};\n"
            for item in stage.computed:
                if isinstance(item, tuple):
                    text += f"    {owner}.{item[0]} = {printer.expression(item[1])};\n"
                else:
                    text += printer.statement(item)
            text += f"    return {owner};\n}}\n\n"
        structs = [f"{s.struct} {_OWNER[level]}" for level, s in self.stages.items() if s.members]
        parameters = ", ".join([*structs, *map(printer.parameter, self.arguments[BOTH])])
        text += f"// {self.source.name}: what depends on both, from what was computed ahead.\n"
        return text + f"DEVICE {self.source.type} {self.evaluate}({parameters})\n{printer.block(self.body, '')}\n"


def separate(
    function: Function, levels: Mapping[str, int], find: Callable[[str], Function | None]
) -> Separated:
    """Separate `function` by what its parameters are.

    Parameters
    ----------
    function : Function
    levels : mapping
        SET, ROW or BOTH for each parameter but ``dim``.
    find : callable
        Name -> the device function to be separated where it is called, None for those that stay whole.
    """
    return _Separator(function, dict(levels), find).run()


def _assigned(statements: Iterable[Node]) -> list[str]:
    return [n.name for s in statements for n in lang.walk(s) if isinstance(n, (lang.Assign, lang.Declare))]


class _Separator:
    def __init__(self, function: Function, levels: dict[str, int], find: Callable[[str], Function | None]):
        self.function, self.find = function, find
        self.parameters = {p.name: p for p in function.parameters}
        self.levels = {n: levels.get(n, CONST) for n in self.parameters}
        tag = "".join("csrm"[self.levels[n]] for n in self.parameters if n != "dim")
        plain = tag[:1] == "r" and set(tag[1:]) <= {"s"}
        name = function.name if plain else f"{function.name}_{tag}"
        while any(find(f"{name}_{part}") for part in _PARTS):  # a user's own function
            name += "_"
        self.result = Separated(
            function, name, self.levels,
            {SET: Stage(f"{name}_set", f"{name}_prepare_set"), ROW: Stage(f"{name}_row", f"{name}_prepare_row")},
        )  # fmt: skip
        self.available = {n: level for n, level in self.levels.items() if level in (SET, ROW)}  # name -> stage
        self.replacements: dict[Expression | tuple[int, str, Expression], lang.Field] = {}

    # -- what depends on what

    def level(self, e: Node, names: Mapping[str, int], places: Mapping[str, int] | None = None) -> int:
        """What `e` depends on, given the same of names; `places`: that of names in subscripts, where it differs."""
        if isinstance(e, lang.Name):
            return names.get(e.name, CONST)
        if isinstance(e, lang.Index) and self.level(e.subscript, places or names) != CONST:
            return BOTH  # never read ahead at a place that the data decide
        level = CONST
        for child in lang.children(e):
            level |= self.level(child, names, places)
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
                inside = control
                loop = [part for part in (s.start, *s.body, s.step) if part is not None]
                for _ in range(2):
                    for inner in loop:
                        visit(inner, inside)
                    inside |= self.level(s.condition, names)

        while True:
            before = dict(names)
            for s in self.function.body:
                visit(s, CONST)
            if names == before:
                return names

    def hoisted_statements(self) -> dict[int, int]:
        """Positions of the statements of the outermost block that move as a whole -> SET or ROW."""
        body = self.function.body
        base = SET if SET in self.levels.values() else ROW  # where constants go
        mentioned = [{n.name for n in lang.walk(s) if isinstance(n, (lang.Name, lang.Assign, lang.Declare))} for s in body]
        shared = {n for names in mentioned for n in names if sum(n in others for others in mentioned) > 1}
        forced: set[str] = set()
        while True:
            names = self.variable_levels(forced)
            # Constants that several statements share are made in one stage; others go where their statement goes.
            local = {n: level or base for n, level in names.items() if n not in self.levels and n in shared}
            places, names = names, {**names, **local}
            moved: dict[int, int] = {}
            for i, s in enumerate(body):
                written = _assigned([s])
                level = self.level(s, names, places)
                for n in written:
                    level |= names[n]
                if written and level in (SET, ROW) and not any(isinstance(n, lang.Return) for n in lang.walk(s)):
                    moved[i] = level
            stuck = {n for i, s in enumerate(body) if i not in moved for n in _assigned([s])}
            for i in moved:  # a variable that is read before its last assignment moved away must stay
                for n in _assigned([body[i]]):
                    readers = (j for j in range(i) if j not in moved)
                    if any(isinstance(m, lang.Name) and m.name == n for j in readers for m in lang.walk(body[j])):
                        stuck.add(n)
            stuck = {n for n in stuck if names[n] != BOTH}
            if not stuck:
                return moved
            forced |= stuck

    # -- the move

    def run(self) -> Separated:
        moved = self.hoisted_statements()
        for i, level in moved.items():
            s = self.function.body[i]
            self.result.stages[level].computed.append(s)
            for n in lang.walk(s):
                if isinstance(n, lang.Declare):
                    self.available[n.name] = level
        self.kinds = {n.name: n.type for s in self.function.body for n in lang.walk(s) if isinstance(n, lang.Declare)}
        self.kinds |= {p.name: p.type for p in self.function.parameters}
        counts = _assigned(self.function.body)
        self.once = {n for n in counts if counts.count(n) == 1}
        rest = (s for i, s in enumerate(self.function.body) if i not in moved)
        self.result.body = tuple(t for s in rest for t in self.rewrite_statement(s))
        self.collect_arguments()
        return self.result

    def stage_of(self, e: Expression) -> int:
        """SET or ROW where `e` can be computed in that stage, CONST where anywhere, else BOTH."""
        level = CONST
        for n in lang.walk(e):
            if isinstance(n, lang.Name) and n.name in self.kinds and n.name != "dim":
                level |= self.available.get(n.name, BOTH)
            elif isinstance(n, lang.Index) and any(
                isinstance(m, lang.Name) and m.name != "dim" for m in lang.walk(n.subscript)
            ):
                level |= BOTH
            if level == BOTH:
                break
        return level

    def member(self, level: int, name: str, kind: str, value: Expression) -> lang.Field:
        stage = self.result.stages[level]
        if name not in stage.members:
            stage.members[name] = kind
            stage.computed.append((name, value))
        return lang.Field(_OWNER[level], name, kind)

    def fresh(self, level: int, prefix: str) -> str:
        members = self.result.stages[level].members
        return next(n for i in itertools.count() if (n := f"{prefix}{i}") not in members and n not in self.kinds)

    def rewrite(self, e: Expression) -> Expression:
        """`e` with everything that is computed ahead replaced by members of `set` and `row`."""
        if isinstance(e, lang.Name):
            if e.name in self.kinds and e.type != VECTOR and (level := self.available.get(e.name)):
                return self.member(level, e.name, e.type, lang.Name(e.name, e.type))
            return e
        if e in self.replacements:
            return self.replacements[e]
        if isinstance(e, (lang.Number, lang.Field)):
            return e
        level = self.stage_of(e)
        negated_name = isinstance(e, lang.Unary) and isinstance(e.operand, lang.Name)
        if level in (SET, ROW) and not negated_name:
            self.replacements[e] = self.member(level, self.fresh(level, "c"), e.type, e)
            return self.replacements[e]
        if isinstance(e, lang.Call) and (callee := self.find(e.function)) and level != CONST:
            return self.rewrite_call(e, callee)
        if isinstance(e, lang.Index):
            return lang.Index(e.array, self.rewrite(e.subscript))
        rebuilt: Expression = lang.rebuild(e, self.rewrite)
        return rebuilt

    def rewrite_call(self, e: lang.Call, callee: Function) -> Expression:
        """A call whose arguments depend on both: its own parameter-only and row-only parts move ahead as well."""
        given = {}
        for p, a in zip(callee.parameters, e.arguments, strict=True):
            given[p.name] = (a, (self.stage_of(a) or SET) if p.name != "dim" else CONST)
        separated = separate(callee, {n: level for n, (_, level) in given.items()}, self.find)
        if all(separated.name != s.name for s in self.result.inner):
            self.result.inner.append(separated)
        arguments: list[Expression] = []
        for level, stage in separated.stages.items():
            if stage.members:
                ahead = lang.Call(stage.function, tuple(given[p.name][0] for p in separated.arguments[level]), stage.struct)
                place = (level, separated.name, e)
                if place not in self.replacements:
                    name = self.fresh(level, callee.name.partition("_log")[0] + "_")
                    self.replacements[place] = self.member(level, name, stage.struct, ahead)
                arguments.append(self.replacements[place])
        for p in separated.arguments[BOTH]:
            a = given[p.name][0]
            arguments.append(a if p.type == VECTOR else self.rewrite(a))
        return lang.Call(separated.evaluate, tuple(arguments), e.type)

    def rewrite_statement(self, s: Statement) -> list[Statement]:
        if isinstance(s, lang.Declare) and s.value is not None and s.name in self.once:
            level = self.stage_of(s.value)
            if level in (SET, ROW):  # in a branch: computed ahead all the same
                self.result.stages[level].computed.append(s)
                self.available[s.name] = level
                return []
        if isinstance(s, lang.If):
            then = tuple(t for inner in s.then for t in self.rewrite_statement(inner))
            otherwise = tuple(t for inner in s.otherwise for t in self.rewrite_statement(inner))
            return [lang.If(self.rewrite(s.condition), then, otherwise)]
        if isinstance(s, lang.For):
            start = self.rewrite_plain(s.start) if s.start else None
            body = tuple(t for inner in s.body for t in self.rewrite_statement(inner))
            return [lang.For(start, self.rewrite(s.condition), self.rewrite_plain(s.step) if s.step else None, body)]  # type: ignore[arg-type]
        return [self.rewrite_plain(s)]

    def rewrite_plain(self, s: Statement) -> Statement:
        if isinstance(s, lang.Assign):
            return lang.Assign(s.name, s.type, self.rewrite(s.value))
        rebuilt: Statement = lang.rebuild(s, self.rewrite)
        return rebuilt

    def collect_arguments(self) -> None:
        """Which parameters each of the three functions takes."""
        result = self.result
        for level, stage in result.stages.items():
            nodes: list[Node] = [c[1] if isinstance(c, tuple) else c for c in stage.computed]
            result.arguments[level] = self.used_in(nodes)
        result.arguments[BOTH] = self.used_in(result.body)

    def used_in(self, nodes: Iterable[Node]) -> tuple[lang.Parameter, ...]:
        used = {n.name for s in nodes for n in lang.walk(s) if isinstance(n, lang.Name)}
        return tuple(p for n, p in self.parameters.items() if n in used)
