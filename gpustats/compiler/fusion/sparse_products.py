"""Products of sparse matrices and coefficients in graphs, as rows read them."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.sparse.math import Dot, StructuredDot, TrueDot
from pytensor.sparse.type import SparseTensorType
from pytensor.tensor.math import Dot as DenseDot

from ...rows.sparse_matrix import SparseMatrix, sparse_matrix

NOT_SHARED = "a product with a sparse matrix that is none of data, or whose coefficients differ between rows"
NOT_CONSTANT = "a sparse matrix that may change: take it as a constant, pytensor.sparse.as_sparse_variable(X)"

#: Matrices of constants, which several sums may have in common, by the identity of SciPy's and whether it is transposed.
_matrices: dict[tuple[int, bool], SparseMatrix] = {}


def is_sparse(v: Variable) -> bool:
    """True if a variable is a sparse matrix."""
    return isinstance(v.type, SparseTensorType)


def outputs_of_product(node: Apply, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
    """Output of a product with a sparse matrix of data at these inputs, as long as that tells; None of other operations."""
    if not isinstance(node.op, Dot | StructuredDot | TrueDot | DenseDot) or not any(map(is_sparse, inputs)):
        return None
    left, right = (v.data.shape if is_sparse(v) and isinstance(v, Constant) else v.type.shape for v in inputs)
    kind = node.outputs[0].type
    return Apply(node.op, list(inputs), [kind.clone(shape=(*left[:-1], *right[1:]))()]).outputs


def design_of(constant: Constant, transposed: bool) -> SparseMatrix:
    """Matrix of a constant, or its transpose; the same object each time."""
    given = constant.data
    key = id(given), transposed
    if key not in _matrices:
        matrix = given.T if transposed else given
        _matrices[key] = sparse_matrix(matrix.astype(np.float64, copy=False), constant.name or "X")
        weakref.finalize(given, _matrices.pop, key, None)
    return _matrices[key]


def rows_of(matrix: SparseMatrix, rows: np.ndarray) -> SparseMatrix:
    """Matrix of some rows, which may come several times."""
    parts = matrix.parts()
    return matrix.of_parts(parts["columns"].taken(rows), parts["values"].taken(rows) if "values" in parts else None)
