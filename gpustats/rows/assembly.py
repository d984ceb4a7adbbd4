"""Second derivatives of a sum over rows in the elements of its parameters, made of those of a row in its arguments.

An argument of a row depends on parameters linearly: it is a number, an element of a table, or a product with a row of a design
matrix. So the matrix is a sum of J' diag(f) J' over pairs of arguments, f being a second derivative for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..fits.bordered import MOST_DENSE, Bordered, in_blocks
from ..linalg.threads import as_many_as_free
from ..runtime.cached import cached_property
from ..runtime.types import Array, Doubles

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


@dataclass(frozen=True, eq=False)
class Summed:
    """Second derivatives in a pair of arguments with one part each, summed over the rows to those in the elements."""

    numbers: Doubles  # of two elements of one grouping those of the same group, (n,), else a matrix


class Layout:
    """Places of P elements in a matrix: in its border, or in the blocks of the groups of one grouping.

    `blocks` has the elements of each group, (G, m): tables whose elements are those of the groups in their order.
    """

    def __init__(self, size: int, blocks: np.ndarray | None = None):
        self.blocks = np.zeros((0, 0), int) if blocks is None else np.asfortranarray(blocks)
        self.size, in_border = size, np.ones(size, bool)
        in_border[self.blocks] = False
        self.border = np.flatnonzero(in_border)
        if len(self.border) > MOST_DENSE:
            raise NotImplementedError(
                f"second derivatives in {len(self.border)} parameters beside {len(self.blocks)} groups: {MOST_DENSE} at most; "
                "fix some of them, or integrate them out"
            )
        self.in_border = np.full(size, -1)
        self.in_border[self.border] = np.arange(len(self.border))
        #: place of each element of the first group -> its number in the block
        self.members = {int(place): i for i, place in enumerate(self.blocks[0])} if self.blocks.size else {}

    def empty(self) -> Bordered:
        """Matrix of zeros, with the numbers of all groups side by side: there are many groups of few elements."""
        (g, m), r = self.blocks.shape, len(self.border)
        blocks, coupling = np.zeros((g, m, m), order="F"), np.zeros((g, m, r), order="F")
        return Bordered(np.zeros((r, r)), self.border, blocks, coupling, self.blocks)

    def add_diagonal(self, found: Bordered, rows: np.ndarray, columns: np.ndarray, diagonal: Doubles) -> None:
        """Add numbers (n,) at n places, those of the elements of two tables of one grouping."""
        if not len(rows):
            return
        in_border = self.in_border[rows[0]] >= 0, self.in_border[columns[0]] >= 0
        if all(in_border):
            found.border[self.in_border[rows], self.in_border[columns]] += diagonal
        elif not any(in_border):
            (group, member), (_, other) = self._in_blocks(rows), self._in_blocks(columns)
            found.blocks[group, member, other] += diagonal
        elif in_border[1]:
            found.coupling[*self._of_each(rows), self.in_border[columns]] += diagonal

    def add_matrix(self, found: Bordered, rows: np.ndarray, columns: np.ndarray, matrix: Doubles) -> None:
        """Add a matrix (n, n') at the places of its rows and columns."""
        if not len(rows) or not len(columns) or self.in_border[columns[0]] < 0:
            return  # the coupling of a column in a block is that of its row
        if self.in_border[rows[0]] >= 0:
            found.border[np.ix_(self.in_border[rows], self.in_border[columns])] += matrix
            return
        group, member = self._in_blocks(rows)
        if isinstance(member, int):
            found.coupling[:, member][:, _run(self.in_border[columns])] += matrix
        else:
            found.coupling[group[:, None], member[:, None], self.in_border[columns]] += matrix

    def _in_blocks(self, places: np.ndarray) -> tuple[Any, Any]:
        """Groups of elements, and their numbers in the blocks: a slice and one number for an element of each group."""
        member = self.members.get(int(places[0]))
        if member is not None and len(places) == len(self.blocks) and np.array_equal(places, self.blocks[:, member]):
            return slice(None), member
        return self._of_each(places)

    def _of_each(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Group of each element, and its number in the block."""
        group, member = self._where
        return group[places], member[places]

    @cached_property
    def _where(self) -> tuple[np.ndarray, np.ndarray]:
        """Group of each of all elements, and its number in the block, or -1."""
        return in_blocks(len(self.in_border), self.blocks)


class _Derivative:
    """Derivative in one argument or in two, by row or summed already, whose sums are made once.

    Parameters
    ----------
    numbers : (N,) array, Summed or float
    columns : Design, optional
        Matrix that lies where the array does.
    """

    def __init__(self, numbers: Any, columns: Design | None):
        self.numbers, self._columns = numbers, columns

    @cached_property
    def _with_total(self) -> Doubles:
        assert self._columns is not None
        return self._columns.with_total(self.numbers)

    def total(self) -> float:
        """Sum over the rows."""
        on_host = isinstance(self.numbers, np.ndarray) or np.ndim(self.numbers) == 0
        return float(np.sum(self.numbers, dtype=float) if on_host else self._with_total[-1])

    def times(self, design: Design) -> Doubles:
        """Products with the columns of a matrix, (k,)."""
        return (self._with_total if design is self._columns else design.with_total(self.numbers))[:-1]


def assembled(
    arguments: Mapping[str, Sequence[Part]], second: Mapping[tuple[str, str], Any], layout: Layout,
    columns: Design | None = None,
) -> Bordered:  # fmt: skip
    """Second derivatives in the elements.

    Parameters
    ----------
    arguments : mapping
        Name -> parts, whose sum the argument is.
    second : mapping
        Pair of arguments -> second derivative: (N,), or `Summed`, or its sum where both are numbers of all rows.
    layout : Layout
    columns : Design, optional
        Matrix that lies where the derivatives do, if these are device arrays.
    """
    found = layout.empty()
    for (a, b), numbers in second.items():
        derivative = _Derivative(numbers, columns)
        for i, left in enumerate(arguments[a]):
            for j, right in enumerate(arguments[b]):
                if a != b:
                    _add(found, layout, left, right, derivative, both=True)
                elif j >= i:
                    _add(found, layout, left, right, derivative, both=j > i)
    return found


def assembled_gradient(
    arguments: Mapping[str, Sequence[Part]], first: Mapping[str, Any], size: int, columns: Design | None = None
) -> Doubles:
    """First derivatives in the elements, (P,), of those in the arguments, (N,) or their sums."""
    found = np.zeros(size)
    for name, parts in arguments.items():
        derivative = _Derivative(first[name], columns)
        for part in parts:
            match part:
                case Number():
                    found[part.place] += derivative.total()
                case Element():
                    found[part.places] += _sums(part.index, first[name], len(part.places))
                case Product():
                    found[part.places] += derivative.times(part.design)
    return found


def _add(found: Bordered, layout: Layout, left: Part, right: Part, derivative: _Derivative, both: bool) -> None:
    """Add the part of a pair, and its transpose if `both`."""
    numbers = derivative.numbers
    if isinstance(numbers, Summed):
        summed = numbers.numbers
    elif isinstance(left, Element) and isinstance(right, Element) and left.key == right.key:
        summed = _sums(left.index, numbers, len(left.places))
    else:
        summed = _product(left, right, derivative)
    add_summed(found, layout, left, right, summed, both)


def add_summed(found: Bordered, layout: Layout, left: Part, right: Part, summed: Doubles, both: bool) -> None:
    """Add the second derivatives in the elements of two parts, and their transpose if `both`.

    `summed` are (n, n'), or (n,) where the parts are elements of two tables of one grouping.
    """
    add = layout.add_diagonal if summed.ndim == 1 else layout.add_matrix
    add(found, left.places, right.places, summed)
    if both:
        add(found, right.places, left.places, summed.T)


def _product(left: Part, right: Part, derivative: _Derivative) -> Doubles:
    """J' diag(f) J' of two parts."""
    f = derivative.numbers
    match left, right:
        case Number(), Number():
            return np.array([[derivative.total()]])
        case Number(), _:
            return _product(right, left, derivative).T
        case Product(), Number():
            return derivative.times(left.design)[:, None]
        case Product(), Product():
            return left.design.gram(f, right.design)
        case Element(), Number():
            return _sums(left.index, f, len(left.places))[:, None]
        case Element(), Product():
            return right.design.by_group(f, left.index, len(left.places))
        case Product(), Element():
            return _product(right, left, derivative).T
        case Element(), Element():
            n = len(left.places), len(right.places)
            return _sums(left.index.astype(np.int64) * n[1] + right.index, f, n[0] * n[1]).reshape(n)
    raise AssertionError


def _sums(index: np.ndarray, numbers: Array, n: int) -> Doubles:
    """Sums (n,) of numbers by their places."""
    return np.bincount(index, numbers, n).astype(float, copy=False)


def _run(places: np.ndarray) -> slice | np.ndarray:
    """Places as a slice, where they stand one after another."""
    run = bool((np.diff(places) == 1).all())
    return slice(int(places[0]), int(places[-1]) + 1) if run else places


def members(weights: Array, groups: np.ndarray, n: int) -> Any:
    """Sparse matrix (N, n) with a weight in each row, in the column of its group."""
    import scipy.sparse

    starts = np.arange(len(groups) + 1)
    return scipy.sparse.csr_array((np.asarray(weights, float), groups, starts), shape=(len(groups), n))


def score_products(
    arguments: Mapping[str, Sequence[Part]], first: Mapping[str, np.ndarray], layout: Layout, weights: np.ndarray | None
) -> Bordered:
    """Sum over observations of the products of their scores.

    `first` are derivatives (N,) in the arguments, on the host, of rows that are as many observations as `weights` say.
    """
    names, single = list(first), first
    if weights is not None:
        times = np.where(weights > 0, weights, 1.0)
        single = {n: f / times for n, f in first.items()}
    pairs = {(a, b): first[a] * single[b] for i, a in enumerate(names) for b in names[: i + 1]}
    return assembled(arguments, pairs, layout)


def score_sums(
    arguments: Mapping[str, Sequence[Part]], first: Mapping[str, np.ndarray], size: int, clusters: np.ndarray, n: int
) -> Doubles:
    """Sums of the rows' scores in each of n clusters, (n, P)."""
    found = np.zeros((n, size))
    for name, parts in arguments.items():
        for part in parts:
            match part:
                case Number():
                    found[:, part.place] += np.bincount(clusters, first[name], n)
                case Element():
                    size = len(part.places)
                    flat = np.bincount(clusters.astype(np.int64) * size + part.index, first[name], n * size)
                    found[:, part.places] += flat.reshape(n, -1)
                case Product():
                    found[:, part.places] += part.design.by_group(first[name], clusters, n)
    return found
