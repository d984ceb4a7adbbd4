"""Densities of gpustats within a model: calls of their functions of C."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from pytensor.graph.basic import Apply

from ...density import densities
from ...evaluation.arguments import elements_inside
from ...language.device_function import Argument
from ...rewriting.checks import inside
from ..evaluation.formula import FormulaArgument, LogFunction
from ..graph.ops import LogDensity
from .along import At
from .expression import Expression
from .reader import Reader, reads
from .scalar_ops import Unsupported


@reads("LogDensity")
def of_log_density(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    """The log-density of a row; -inf where a parameter lies outside its domain, or the observation."""
    formula = node.op.formula
    arguments = [reader.made.real(reader.visit(v, reader.under(v, at))) for v in node.inputs]
    call = f"{_name(node.op)}({', '.join(['{}'] * len(arguments))})"
    value = reader.made.make(call, *arguments)
    pairs = zip(formula.arguments, arguments, strict=True)
    tests = [
        reader.made.make(inside(a.words, "{0}"), e, whole=True)
        for a, e in pairs if a.words - {"real"} and not _is_certain(reader, a, e)
    ]  # fmt: skip
    if not tests:
        return value
    reader.checked_rows = True
    return reader.made.choice(reader.made.folded("{} && {}", tests, whole=True), value, reader.made.number(-math.inf))


def _name(op: LogDensity) -> str:
    """What the function of C is called."""
    density = getattr(op.formula, "density", None)
    if density is None or density.name not in densities or densities[density.name].source != density.source:
        raise Unsupported(f"{op.formula!r}, which is not a registered density")
    if op.known or any(op.formula.ranks):
        raise Unsupported(f"{op.formula!r}, which is not a density of numbers")
    if op.formula.kind is LogFunction.LOGPDF:
        return f"{density.name}_{'logpmf' if density.discrete else 'logpdf'}"
    return f"{density.name}_{op.formula.kind.value}"


def _is_certain(reader: Reader, argument: FormulaArgument, value: Expression) -> bool:
    """Whether a number, or all of a column of data, lies in a domain."""
    numbers: Sequence | np.ndarray | None = next(
        (a.numbers[0] for a, e in reader.arguments.items() if e is value and a.kind == "data"), None
    )
    if numbers is None and not value.arguments:
        try:
            numbers = [float(value.form.strip("()"))]
        except ValueError:
            return False
    return numbers is not None and bool(np.all(elements_inside(Argument(argument.name, argument.domain), np.asarray(numbers))))
