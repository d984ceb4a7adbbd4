"""Starting points of free variables of a user's own densities: PyTensor expressions of a point well inside the support."""

from __future__ import annotations

import pytensor.tensor as pt

from ..compiler.graph.types import SymbolicShape, TensorVariable
from ..language.domains import point_of


def between(point: TensorVariable, lower: TensorVariable | float, upper: TensorVariable | float) -> TensorVariable:
    """Point that is well inside an interval: `point` itself, else the interval's middle, or a little inside its only bound."""
    finite_lower, finite_upper = pt.invert(pt.isinf(lower)), pt.invert(pt.isinf(upper))
    one_sided = pt.switch(finite_lower, lower + 1, upper - 1)
    inside = pt.switch(finite_lower & finite_upper, (lower + upper) / 2, one_sided)
    return pt.switch((point > lower) & (point < upper), point, inside)


def of_domain(words: frozenset[str], core: SymbolicShape) -> TensorVariable:
    """Point inside a domain; `core` is the shape of a vector."""
    return pt.as_tensor(point_of(words, pt, core[0] if core else None))
