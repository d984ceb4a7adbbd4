"""Parts of a row's arguments: the elements of parameters that they are made of, for `assembly`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.types import Shape
from .assembly import Element, HostDesign, Number, Part, Product, SparseDesign
from .leaves import Dot, Gather, Leaf, PerRow, Scalar, SparseDot


def index_of(leaf: Gather | PerRow, shape: Shape, n_rows: int, rows: slice = slice(None)) -> np.ndarray:
    """Element of a table of some shape for each row."""
    if isinstance(leaf, PerRow):
        return np.arange(*rows.indices(n_rows), dtype=np.int64) + leaf.offset
    if not n_rows:
        return np.zeros(0, int)
    index: np.ndarray = np.ravel_multi_index([np.asarray(i[rows]) for i in leaf.indices], shape[: len(leaf.indices)])
    return index


def _grouping(leaf: Gather | PerRow, shape: Shape) -> Any:
    """Key of the grouping of the rows by their elements of a table."""
    if isinstance(leaf, PerRow):
        return "rows", leaf.offset
    return tuple(map(id, leaf.indices)), shape[: len(leaf.indices)]


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
            places = start + np.arange(int(np.prod(shape)) // width) * width + element
            return Element(places, lambda: index_of(leaf, shape, n_rows, rows), _grouping(leaf, shape))
    raise AssertionError(leaf)


def design_of(leaf: Dot | SparseDot) -> HostDesign | SparseDesign:
    """Design matrix of a leaf."""
    return HostDesign(leaf.X) if isinstance(leaf, Dot) else SparseDesign(leaf.X.as_scipy())
