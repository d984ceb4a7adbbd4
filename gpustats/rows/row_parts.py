"""Parts of a row's arguments, for `assembly`: elements of parameters, and products with the rows of a design matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..linalg.threads import as_many_as_free
from ..runtime.cached import cached_property
from ..runtime.types import Array, Doubles, Shape
from .leaves import Dot, Gather, Leaf, PerRow, Scalar, SparseDot

_BLOCK = 1 << 11  # rows of a design that are multiplied at once


class Design(Protocol):
    """Design matrix X, (N, k)."""

    columns: int

    def gram(self, weights: Array, other: Design) -> Doubles:
        """X' diag(weights) Z for another design Z, (k, k')."""

    def with_total(self, weights: Array) -> Doubles:
        """X' weights, and behind them the sum of the weights, (k + 1,)."""

    def by_group(self, weights: Array, groups: np.ndarray, n: int) -> Doubles:
        """Sums of weights times rows of X over the rows of each of n groups, (n, k)."""


class PlacedDesign(Design, Protocol):
    """Design matrix that lies where the arrays of a computation do."""

    def with_ones(self, weights: Array) -> Doubles:
        """Z' diag(weights) Z, where Z is X with a column of ones behind it, (k + 1, k + 1)."""


class HostDesign:
    """Design matrix on the host, in row-major order."""

    def __init__(self, X: np.ndarray):
        self.X, self.columns = X, X.shape[1]

    def gram(self, weights: Array, other: Design) -> Doubles:
        if not isinstance(other, HostDesign):
            return other.gram(weights, self).T
        found = np.zeros((self.columns, other.columns))
        with as_many_as_free(2 * _BLOCK * found.size):
            for first in range(0, len(self.X), _BLOCK):
                rows = slice(first, first + _BLOCK)
                found += self.X[rows].T.astype(float) @ (other.X[rows] * weights[rows, None].astype(float))
        return found

    def with_total(self, weights: Array) -> Doubles:
        return np.append(weights.astype(float) @ self.X, np.sum(weights, dtype=float))

    def by_group(self, weights: Array, groups: np.ndarray, n: int) -> Doubles:
        found: Doubles = members(weights, groups, n).T @ self.X
        return found

    def times_rows(self, rows_of: Callable[[slice], Doubles]) -> Doubles:
        """Products of each row and a row of a matrix like X, of which some are asked for at once, (N,)."""
        blocks = (slice(first, first + _BLOCK) for first in range(0, len(self.X), _BLOCK))
        return np.concatenate([np.zeros(0), *(np.einsum("nk,nk->n", self.X[rows], rows_of(rows)) for rows in blocks)])


class SparseDesign:
    """Sparse design matrix on the host, of SciPy."""

    def __init__(self, X: Any):
        self.X, self.columns = X, X.shape[1]

    def gram(self, weights: Array, other: Design) -> Doubles:
        assert isinstance(other, HostDesign | SparseDesign)
        scaled = self.X.T.multiply(weights.astype(float)[None]).tocsr() @ other.X.astype(float)
        found: Doubles = scaled if isinstance(other, HostDesign) else scaled.toarray()
        return found

    def with_total(self, weights: Array) -> Doubles:
        return np.append(self.X.T @ weights.astype(float), np.sum(weights, dtype=float))

    def by_group(self, weights: Array, groups: np.ndarray, n: int) -> Doubles:
        found: Doubles = (members(weights, groups, n).T @ self.X).toarray()
        return found

    def times_rows(self, rows_of: Callable[[slice], Doubles]) -> Doubles:
        blocks = (slice(first, first + _BLOCK) for first in range(0, self.X.shape[0], _BLOCK))
        return np.concatenate([np.zeros(0), *(self.X[rows].multiply(rows_of(rows)).sum(1) for rows in blocks)])


@dataclass(frozen=True)
class Number:
    """Part of an argument that is one element for all rows."""

    place: int  # of the element among all

    @property
    def places(self) -> np.ndarray:
        return np.array([self.place])


@dataclass(frozen=True, eq=False)
class Element:
    """Part of an argument that is an element of a table for each row."""

    places: np.ndarray  # of the elements of the table, among all
    find: Callable[[], np.ndarray]  # gives `index`, when that is asked for
    key: Any  # the same for tables of one grouping

    @cached_property
    def index(self) -> np.ndarray:
        """Each row's place in `places`, (N,)."""
        return self.find()


@dataclass(frozen=True, eq=False)
class Product:
    """Part of an argument that is a product of a design's row and coefficients."""

    places: np.ndarray  # of the coefficients, among all
    design: Design


Part = Number | Element | Product


def members(weights: Array, groups: np.ndarray, n: int) -> Any:
    """Sparse matrix (N, n) with a weight in each row, in the column of its group."""
    import scipy.sparse

    starts = np.arange(len(groups) + 1)
    return scipy.sparse.csr_array((np.asarray(weights, float), groups, starts), shape=(len(groups), n))


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
