"""Variables that a sum over rows is computed from, where only a call tells how long some of them are."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors, toposort
from pytensor.tensor.type import TensorType

from .frozen import Frozen
from .scalar_ops import NoData, UnknownLength, Unsupported
from .sparse_products import is_sparse


def sources_of(term: Variable, data: Mapping[Variable, np.ndarray]) -> tuple[list[Variable], int]:
    """Last variables before those that have an element for each row, and the least number of rows.

    `Unsupported` where there are no data, or something whose length does not follow from the shapes of what it is computed
    from.
    """
    frozen = Frozen(term, data)
    most_data = max((_size(v) for v in ancestors([frozen.variable]) if isinstance(v, Constant)), default=0)
    n_rows = _size(term) if _size(term) > 1 else most_data
    if most_data < max(n_rows, 2):
        raise NoData("a sum without data")
    if any(isinstance(scan, UnknownLength) for scan in frozen.scans.values()):
        raise Unsupported("a scan of as many steps as only the call tells")
    by_row, from_open = set[Variable](), set[Variable]()
    for node in toposort([frozen.variable]):
        if any(v in from_open or not _is_known(v) for v in node.inputs):
            from_open.update(node.outputs)
        elif not all(map(_is_known, node.outputs)):
            raise Unsupported(f"the operation {type(node.op).__name__}, whose result is as long as only the call tells")
        if any(v in by_row or _size(v) >= n_rows for v in (*node.inputs, *node.outputs)):
            by_row.update(node.outputs)
    sources: dict[Variable, None] = {}
    stack, seen = [frozen.variable], set[Variable]()
    while stack:
        v = stack.pop()
        if v in seen or isinstance(v, Constant):
            continue
        seen.add(v)
        is_array = isinstance(v.type, TensorType)
        if v.owner is not None and (v in by_row or not is_array):
            stack += reversed(v.owner.inputs)
        elif is_array:
            sources[frozen.original(v)] = None
        else:
            raise Unsupported(f"what only the call tells: {v.type}")
    return list(sources), n_rows


def _is_known(v: Variable) -> bool:
    return not isinstance(v.type, TensorType) or None not in v.type.shape


def _size(v: Variable) -> int:
    """Least number of elements of a variable; 0 of a sparse matrix."""
    return math.prod(extent or 1 for extent in v.type.shape) if isinstance(v.type, TensorType) and not is_sparse(v) else 0
