"""Separated functions, in three parts: for the parameters alone, for the observation alone, and for both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..language import nodes as lang
from ..language.nodes import Expression, Function, Node, Statement
from ..language.printer import Printer
from .guards import with_zero

CONST, SET, ROW, BOTH = 0, 1, 2, 3  # what a value depends on: bits for parameters and observations
OWNER = {SET: "set", ROW: "row"}
_ABOUT = {
    SET: "what depends on the parameters alone, computed once for each set of them.",
    ROW: "what depends on the observation alone, computed once for each.",
}


@dataclass
class Stage:
    """Code that is computed ahead for one parameter set, or for one observation."""

    struct: str
    function: str
    members: dict[str, str] = field(default_factory=dict)  # name -> C type
    computed: list[Statement] = field(default_factory=list)  # in order
    numbers: int = 0  # that the struct consists of
    inherited: int = 0  # those of them that are in structs of functions that are called
    guarded: bool = False  # whether some of it is computed only where conditions hold
    certain: bool = True  # whether it may be computed whatever the conditions are under which the function is called


def usually(condition: Expression | None, values: Mapping[str, Expression | None]) -> bool | None:
    """True if a condition usually holds, False if rarely; None where that is not known. `values`: those of variables."""
    match condition:
        case lang.Name(name=name) if name in values:
            return usually(values[name], {n: v for n, v in values.items() if n != name})
        case lang.Call(function=lang.LIKELY | "isfinite"):
            return True
        case lang.Call(function=lang.UNLIKELY | "isinf" | "isnan"):
            return False
        case lang.Binary(operator="==" | "!=", left=left, right=right):
            return (left == right) == (condition.operator == "==")
        case lang.Unary(operator="!", operand=operand):
            holds = usually(operand, values)
            return None if holds is None else not holds
    return None


@dataclass
class Separated:
    """Function in three parts, as `separate` makes it."""

    source: Function
    name: str
    stages: dict[int, Stage]  # SET and ROW -> Stage; a stage without members is left out of the printed code
    body: tuple[Statement, ...] = ()
    #: SET, ROW, BOTH -> the parameters that ``prepare_set``, ``prepare_row`` and ``evaluate`` take, in order, beside the
    #: structs
    arguments: dict[int, tuple[lang.Parameter, ...]] = field(default_factory=dict)
    inner: list[Separated] = field(default_factory=list)  # the separated functions that this one calls, to be printed before it

    @property
    def evaluate(self) -> str:
        return f"{self.name}_evaluate"

    def parts(self) -> list[Node]:
        """Nodes of all its code, for finding the functions that it calls."""
        return [*self.body, *(s for stage in self.stages.values() for s in stage.computed)]

    def usual(self, level: int, owner: str) -> Iterator[tuple[str, bool]]:
        """Conditions that stage `level` has computed into the struct `owner`, as C, and whether they usually hold."""
        stage = self.stages[level]
        assigned = lang.written(*stage.computed)
        values = {n.name: n.value for n in assigned}
        for name, kind in stage.members.items():
            holds = usually(values.get(f"{OWNER[level]}.{name}"), values) if kind == lang.INT else None
            if holds is not None:
                yield f"{owner}.{name}", holds
        for inner in self.inner:
            for name, kind in stage.members.items():
                if kind == inner.stages[level].struct:
                    yield from inner.usual(level, f"{owner}.{name}")

    def branches(self, owner: str) -> Iterator[str]:
        """Conditions on parameters alone, computed into the struct `owner`, on which statements branch, as C."""
        for n in (n for s in self.body for n in lang.walk(s)):
            if isinstance(n, lang.If) and isinstance(n.condition, lang.Field) and n.condition.owner == OWNER[SET]:
                yield f"{owner}.{n.condition.name}"
        for inner in self.inner:
            for name, kind in self.stages[SET].members.items():
                if kind == inner.stages[SET].struct:
                    yield from inner.branches(f"{owner}.{name}")

    def functions(self) -> list[tuple[str, Sequence[Node]]]:
        """Names and bodies of its parts."""
        prepared = [(stage.function, stage.computed) for stage in self.stages.values() if stage.members]
        return [*prepared, (self.evaluate, self.body)]

    def all(self) -> list[Separated]:
        """Separated function and all that it calls, callees first."""
        found: dict[str, Separated] = {}

        def visit(separated: Separated) -> None:
            if separated.name not in found:
                for inner in separated.inner:
                    visit(inner)
                found[separated.name] = separated

        visit(self)
        return list(found.values())

    def print(self, printer: Printer, printed: set[str] | None = None) -> str:
        """Text of the structs and functions in C, callees first, without those in `printed`."""
        printed = set() if printed is None else printed
        new = [separated for separated in self.all() if separated.name not in printed]
        printed.update(separated.name for separated in new)
        return "".join(separated.print_alone(printer) for separated in new)

    def print_alone(self, printer: Printer) -> str:
        """Text of its own structs and functions in C."""
        text = ""
        for level, stage in self.stages.items():
            if not stage.members:
                continue
            members = "".join(f"    {kind} {name};\n" for name, kind in stage.members.items())
            text += f"// {self.source.name}: {_ABOUT[level]}\ntypedef struct {{\n{members}}} {stage.struct};\n\n"
            owner, parameters = OWNER[level], ", ".join(map(printer.parameter, self.arguments[level]))
            kind = printer.kind(stage.function)
            zeros, computed = " = {0}" * stage.guarded, stage.computed
            if stage.guarded:  # a compiler may take a branch for taken where what it leaves out is read without a value
                computed = [with_zero(s) for s in computed]
            text += f"{kind} {stage.struct} {stage.function}({parameters})\n{{\n    {stage.struct} {owner}{zeros};\n"
            text += "".join(map(printer.statement, computed)) + f"    return {owner};\n}}\n\n"
        structs = [f"{s.struct} {OWNER[level]}" for level, s in self.stages.items() if s.members]
        parameters = ", ".join([*structs, *map(printer.parameter, self.arguments[BOTH])])
        text += f"// {self.source.name}: what depends on both, from what was computed ahead.\n"
        kind = printer.kind(self.evaluate)
        return text + f"{kind} {self.source.type} {self.evaluate}({parameters})\n{printer.block(self.body, '')}\n"
