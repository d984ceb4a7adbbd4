"""Form of a source that defines a covariance function, and the checks of it."""

from __future__ import annotations

from ..language.kinds import Kind
from ..language.nodes import VECTOR, Function

#: Arguments of a covariance function for two points: their squared distance, and their scalar product.
INPUTS = ("sqdist", "dot")


def _fault(function: Function) -> str:
    names = [p.name for p in function.parameters]
    inputs = [n for n in names if n in INPUTS]
    if not inputs or names[: len(inputs)] != inputs:
        return (
            f"{function.name} must take what it sees of two points first: sqdist, their squared distance, or dot, their scalar "
            "product, or both"
        )
    vectors = [p.name for p in function.parameters if p.type == VECTOR]
    return f"{function.name} must take numbers, but {vectors[0]} is a vector" if vectors else ""


COVARIANCE = Kind("covariance function", "covariance functions", ("cov",), file_ending="_cov", fault=_fault)
