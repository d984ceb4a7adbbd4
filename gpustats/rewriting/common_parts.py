"""Common subexpressions: costly parts that occur more than once become variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..language.nodes import REAL, Binary, Call, Conditional, Declare, Expression, Name, Number, parts, rebuild
from .termination import Termination


def common_parts(
    expressions: Sequence[Expression], fresh: Callable[[str], str], termination: Termination
) -> tuple[list[Declare], list[Expression]]:
    """Declarations of the common parts of `expressions`, and the expressions in terms of them.

    They are evaluated one after another, with nothing assigned to in between. `fresh` makes of a prefix a name that is not
    used yet, and `termination` tells what may be evaluated where a condition keeps it from being.
    """
    certain = _certain(expressions)
    uses = _uses(expressions)
    costs: dict[Expression, int] = {}
    declarations: list[Declare] = []
    replaced: dict[Expression, Expression] = {}

    def rewrite(e: Expression) -> Expression:
        if isinstance(e, (Name, Number)):
            return e
        if (known := replaced.get(e)) is not None:
            return known
        new: Expression = rebuild(e, rewrite)
        if uses[e] > 1 and e.type == REAL and _cost(e, costs) >= _LEAST_COST and (e in certain or termination.is_certain(e)):
            name = fresh("t")
            declarations.append(Declare(REAL, name, new))
            new = Name(name, REAL)
        replaced[e] = new
        return new

    return declarations, [rewrite(e) for e in expressions]


def _certain(expressions: Sequence[Expression]) -> set[Expression]:
    """Parts, but for names and numbers, that are evaluated whatever the conditions are."""
    found: set[Expression] = set()

    def mark(e: Expression) -> None:
        if isinstance(e, (Name, Number)) or e in found:
            return
        found.add(e)
        lazy = isinstance(e, Conditional) or (isinstance(e, Binary) and e.operator in ("&&", "||"))
        for i, child in enumerate(parts(e)):
            if not lazy or i == 0:
                mark(child)

    for e in expressions:
        mark(e)
    return found


def _uses(expressions: Sequence[Expression]) -> dict[Expression, int]:
    """Number of uses of each part but for names and numbers; the inside of a repeated part counts once."""
    uses: dict[Expression, int] = {}

    def count(e: Expression) -> None:
        if isinstance(e, (Name, Number)):
            return
        uses[e] = n = uses.get(e, 0) + 1
        if n == 1:
            for child in parts(e):
                count(child)

    for e in expressions:
        count(e)
    return uses


_LEAST_COST = 3  # what an expression must cost at least to be worth a variable


def _cost(e: Expression, known: dict[Expression, int]) -> int:
    """Number of operations of `e`, up to `_LEAST_COST`, which a call, a conditional or a division costs alone."""
    if isinstance(e, (Name, Number)):
        return 0
    if e not in known:
        dear = isinstance(e, (Call, Conditional)) or (isinstance(e, Binary) and e.operator == "/")
        own = _LEAST_COST if dear else isinstance(e, Binary)
        known[e] = min(own + sum(_cost(child, known) for child in parts(e)), _LEAST_COST)
    return known[e]
