"""Text of a row function that is a loop: what stays the same, what each step computes, and what it adds to the sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...runtime.cached import cached_property
from .expression import LONGEST_EXPRESSION, Expression, filled, operations, parts_of
from .reader import Argument


@dataclass(frozen=True, eq=False)
class State:
    """Number that a row keeps from step to step, and its earlier values."""

    names: Sequence[str]  #: of the last value, of that before it, and so on
    firsts: Sequence[Expression]  #: with which they begin
    new: Expression


@dataclass(frozen=True, eq=False)
class Loop:
    """Loop of a row."""

    term: Expression  #: that a step adds
    conditions: Sequence[Expression]  #: without which the sum is -inf
    states: Sequence[State]
    when: str  #: condition of the steps that add to the sum; empty where all do
    live: Expression | None  #: the same where data tell
    data: Collection[Expression]  #: numbers of the sequences at a step

    @property
    def in_steps(self) -> list[Expression]:
        """Expressions that all steps compute."""
        return [state.new for state in self.states] + ([] if self.live is None else [self.live])

    @property
    def parts(self) -> list[Expression]:
        """Expressions of the loop and before it."""
        return [*(first for state in self.states for first in state.firsts), *self.in_steps, *self.conditions, self.term]

    @cached_property
    def order(self) -> list[Expression]:
        """Expressions and their parts, each behind its parts."""
        return parts_of(Expression("", tuple(self.parts)))[:-1]

    @cached_property
    def varying(self) -> set[int]:
        """Identities of the expressions that differ from step to step."""
        names = {name for state in self.states for name in state.names}
        found = set(map(id, self.data)) | {id(e) for e in self.order if not e.arguments and e.form in names}
        for e in self.order:
            if any(id(a) in found for a in e.arguments):
                found.add(id(e))
        return found

    def cost(self) -> tuple[int, int]:
        """Numbers of cheap operations and of calls of functions in a step."""
        return operations(e for e in self.order if id(e) in self.varying)


def loop_text(name: str, loop: Loop, arguments: Mapping[Argument, Expression]) -> str:
    """Function of a row in C."""
    sequences = [a for a in arguments if a.kind == "sequence"]
    numbers = [a for a in arguments if a.kind != "sequence"]
    listed = [*(f"const real *{a.name}" for a in sequences), "int n", *(f"real {a.name}" for a in numbers)]
    writer = _Writer(loop)
    lines = ["    real total = 0;"]
    lines += ["    int valid = 1;"] if loop.conditions else []
    lines += [f"    {line}" for line in writer.lines["before"]]
    for state in loop.states:
        firsts = zip(state.names, state.firsts, strict=True)
        lines += [f"    real {own} = {writer.text(first)};" for own, first in firsts]
    lines += ["    for (int t = 0; t < n; t++) {"]
    lines += [f"        const real {a.name}_t = {a.name}[t];" for a in sequences]
    lines += [f"        {line}" for line in writer.lines["step"]]
    lines += [f"        const real {state.names[0]}_new = {writer.text(state.new)};" for state in loop.states]
    when = loop.when if loop.live is None else writer.text(loop.live)
    inner = "            " if when else "        "
    lines += [f"        if ({when}) {{"] if when else []
    lines += [f"{inner}{line}" for line in writer.lines["term"]]
    lines += [f"{inner}valid = valid && ({writer.text(condition)});" for condition in loop.conditions]
    lines += [f"{inner}total += {writer.text(loop.term)};"]
    lines += ["        }"] if when else []
    for state in loop.states:
        values = [*state.names[::-1], f"{state.names[0]}_new"]
        lines += [f"        {own} = {value};" for own, value in zip(values, values[1:], strict=False)]
    lines += ["    }", "    return valid ? total : (-INFINITY);" if loop.conditions else "    return total;"]
    return f"__device__ real {name}({', '.join(listed)})\n{{\n" + "\n".join(lines) + "\n}\n"


class _Writer:
    """Statements for parts of a loop that are used several times, or are long: before it, in each step, and for the term."""

    def __init__(self, loop: Loop):
        order, varying = loop.order, loop.varying
        in_steps = {id(e) for e in parts_of(Expression("", tuple(loop.in_steps)))}
        uses = Counter(id(a) for e in order for a in e.arguments) + Counter(map(id, loop.parts))
        outer = {id(a) for e in order if id(e) in varying for a in e.arguments if id(a) not in varying}
        outer |= {id(e) for e in loop.parts if id(e) not in varying}
        is_conditional = bool(loop.when) or loop.live is not None
        self.lines: dict[str, list[str]] = {"before": [], "step": [], "term": []}
        self._texts: dict[int, tuple[str, bool]] = {}
        for count, e in enumerate(order):
            text = filled(e, [self._texts[id(a)] for a in e.arguments])
            if e.arguments and (uses[id(e)] > 1 or len(text) > LONGEST_EXPRESSION or id(e) in outer):
                where = "before" if id(e) not in varying else "step" if id(e) in in_steps or not is_conditional else "term"
                self.lines[where].append(f"const {'int' if e.whole else 'real'} t{count} = {text};")
                self._texts[id(e)] = f"t{count}", True
            else:
                self._texts[id(e)] = text, e.is_atom

    def text(self, e: Expression) -> str:
        return self._texts[id(e)][0]
