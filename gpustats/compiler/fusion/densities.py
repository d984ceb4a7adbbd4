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
    """Log-density of a row, whose parameters have to lie in their domains; -inf where the observation does not."""
    formula = node.op.formula
    arguments = [reader.expressions.real(reader.visit(v, reader.under(v, at))) for v in node.inputs]
    call = f"{_name(node.op)}({', '.join(['{}'] * len(arguments))})"
    value = reader.expressions.make(call, *arguments)
    for i, (argument, number) in enumerate(zip(formula.arguments, arguments, strict=True)):
        if not argument.words - {"real"} or _is_certain(reader, argument, number):
            continue
        lies_inside = reader.expressions.make(inside(argument.words, "{0}"), number, whole=True)
        if i:
            reader.require(lies_inside)
        else:
            value = reader.expressions.choice(lies_inside, value, reader.expressions.number(-math.inf))
    return value


def _name(op: LogDensity) -> str:
    """Name of the function of C."""
    density = getattr(op.formula, "density", None)
    if density is None or density.name not in densities or densities[density.name].source != density.source:
        raise Unsupported(f"{op.formula!r}, which is not a registered density")
    if op.known or any(op.formula.ranks):
        raise Unsupported(f"{op.formula!r}, which is not a density of numbers")
    if op.formula.kind is LogFunction.LOGPDF:
        return f"{density.name}_{'logpmf' if density.discrete else 'logpdf'}"
    return f"{density.name}_{op.formula.kind.value}"


def _is_certain(reader: Reader, argument: FormulaArgument, value: Expression) -> bool:
    """True if a number, or every number of a column of data, lies in a domain."""
    numbers: Sequence | np.ndarray | None = next(
        (a.numbers[0] for a, e in reader.arguments.items() if e is value and a.kind == "data"), None
    )
    if numbers is None and not value.arguments:
        try:
            numbers = [float(value.form.strip("()"))]
        except ValueError:
            return False
    return numbers is not None and bool(np.all(elements_inside(Argument(argument.name, argument.domain), np.asarray(numbers))))
