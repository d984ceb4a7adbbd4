"""Parts of a row's arguments: the elements of parameters that they are made of, for `assembly`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.types import Shape
from .assembly import Element, HostDesign, Number, Part, Product, SparseDesign
from .leaves import Dot, Gather, Leaf, PerRow, Scalar, SparseDot


def index_of(leaf: Gather | PerRow, shape: Shape, n_rows: int, rows: slice = slice(None)) -> tuple[np.ndarray, Any]:
    """Element of a table of some shape for each row, and the key of the grouping."""
    if isinstance(leaf, PerRow):
        each = np.arange(*rows.indices(n_rows), dtype=np.int64)
        return each + leaf.offset, ("rows", leaf.offset)
    groups = shape[: len(leaf.indices)]
    index = np.ravel_multi_index([np.asarray(i[rows]) for i in leaf.indices], groups) if n_rows else np.zeros(0, int)
    return index, (tuple(map(id, leaf.indices)), groups)


def part_of(
    leaf: Leaf, shape: Shape, start: int, n_rows: int, design: Callable[[Any], HostDesign | SparseDesign],
    rows: slice = slice(None),
) -> Part:  # fmt: skip
    """Part of an argument that is made of a parameter, whose elements begin at `start` among all, for some rows."""
    element, width = leaf.element, max(leaf.elements, 1)
    match leaf:
        case Scalar():
            return Number(start + element)
        case Dot() | SparseDot():
            whole = design(leaf)
            own = whole if rows == slice(None) else type(whole)(whole.X[rows])
            return Product(start + np.arange(leaf.X.shape[1]) * width + element, own)
        case Gather() | PerRow():
            index, key = index_of(leaf, shape, n_rows, rows)
            n = int(np.prod(shape)) // width
            return Element(start + np.arange(n) * width + element, index, key)
    raise AssertionError(leaf)


def design_of(leaf: Dot | SparseDot) -> HostDesign | SparseDesign:
    """Design matrix of a leaf."""
    return HostDesign(leaf.X) if isinstance(leaf, Dot) else SparseDesign(leaf.X.as_scipy())
