"""Logits of a reference alternative, which are 0: coefficients of 0 in the product with data that has the other logits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytensor.tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.basic import Alloc
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.math import Dot

from .alternatives import FEWEST_ALTERNATIVES
from .frozen import rebuilt
from .joined import axis_and_parts
from .sparse_products import is_sparse


def as_products(variable: Variable) -> Variable:
    """Graph in which columns of 0 beside a product X @ B are columns of B, so that all are one product.

    Few columns stay as they are: a row function reads each by itself.
    """

    def joined(node: Apply, of: dict[Variable, Variable]) -> Sequence[Variable] | None:
        is_matrix = type(node.op).__name__ == "Join" and node.outputs[0].type.ndim == 2
        if not is_matrix or (node.outputs[0].type.shape[1] or 0) < FEWEST_ALTERNATIVES:
            return None
        axis, parts = axis_and_parts(node)
        parts = [of.get(v, v) for v in parts]
        products = [v for v in parts if _is_product(v)]
        zeros = [v.type.shape[1] for v in parts if _is_zero(v)]
        if axis % 2 != 1 or len(products) != 1 or len(zeros) != len(parts) - 1 or None in zeros:
            return None
        X, coefficients = products[0].owner.inputs
        n, widths = coefficients.type.shape[0], iter(zeros)
        columns = [coefficients if v is products[0] else pt.zeros((n, next(widths))) for v in parts]
        return [pt.dot(X, pt.concatenate(columns, axis=1))]

    return rebuilt(variable, joined)


def _is_product(v: Variable) -> bool:
    """True if a variable is a product of a matrix of data and coefficients, whose number is known."""
    if v.owner is None or not isinstance(v.owner.op, Dot) or any(map(is_sparse, v.owner.inputs)):
        return False
    X, coefficients = v.owner.inputs
    return isinstance(X, Constant | SharedVariable) and coefficients.type.ndim == 2 and coefficients.type.shape[0] is not None


def _is_zero(v: Variable) -> bool:
    if v.owner is not None and isinstance(v.owner.op, Alloc | DimShuffle):
        return _is_zero(v.owner.inputs[0])
    return isinstance(v, Constant) and not np.any(v.data)
