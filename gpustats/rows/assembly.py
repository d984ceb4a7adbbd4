"""Second derivatives of a sum over rows in the elements of its parameters, made of those of a row in its arguments.

An argument of a row depends on parameters linearly: it is a number, an element of a table, or a product with a row of a design
matrix. So the matrix is a sum of J' diag(f) J' over pairs of arguments, f being a second derivative for each row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..runtime.types import Doubles
from .matrix_layout import M, MatrixLayout, sums
from .row_parts import Design, Element, Number, Part, PlacedDesign, Product


@dataclass(frozen=True, eq=False)
class Summed:
    """Second derivatives in a pair of arguments with one part each, summed over the rows to those in the elements."""

    numbers: Doubles  # of two elements of one grouping those of the same group, (n,), else a matrix


class _Derivative:
    """Derivative in one argument or in two, by row or summed already, whose sums are made once.

    Parameters
    ----------
    numbers : (N,) array, Summed or float
    columns : PlacedDesign, optional
        Matrix that lies where the array does.
    """

    def __init__(self, numbers: Any, columns: PlacedDesign | None):
        self.numbers, self._columns = numbers, columns
        self._known: Doubles | None = None  # products with the columns and ones

    def _with_total(self) -> Doubles:
        if self._known is None:
            assert self._columns is not None
            self._known = self._columns.with_total(self.numbers)
        return self._known

    def total(self) -> float:
        """Sum over the rows."""
        on_host = isinstance(self.numbers, np.ndarray) or np.ndim(self.numbers) == 0
        return float(np.sum(self.numbers, dtype=float) if on_host and self._known is None else self._with_total()[-1])

    def times(self, design: Design) -> Doubles:
        """Products with the columns of a matrix, (k,)."""
        return (self._with_total() if design is self._columns else design.with_total(self.numbers))[:-1]

    def gram(self, left: Design, right: Design) -> Doubles:
        """Products of the columns of two matrices, (k, k')."""
        columns = self._columns
        if columns is None or not left is right is columns:
            return left.gram(self.numbers, right)
        whole = columns.with_ones(self.numbers)
        self._known = whole[-1]
        return whole[:-1, :-1]


def assembled(
    arguments: Mapping[str, Sequence[Part]], second: Mapping[tuple[str, str], Any], layout: MatrixLayout[M],
    columns: PlacedDesign | None = None,
) -> M:  # fmt: skip
    """Second derivatives in the elements.

    Parameters
    ----------
    arguments : mapping
        Name -> parts, whose sum the argument is.
    second : mapping
        Pair of arguments -> second derivative: (N,), or `Summed`, or its sum where both are numbers of all rows.
    layout : Layout
    columns : PlacedDesign, optional
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
    arguments: Mapping[str, Sequence[Part]], first: Mapping[str, Any], size: int, columns: PlacedDesign | None = None
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
                    found[part.places] += sums(part.index, first[name], len(part.places))
                case Product():
                    found[part.places] += derivative.times(part.design)
    return found


def _add(found: M, layout: MatrixLayout[M], left: Part, right: Part, derivative: _Derivative, both: bool) -> None:
    """Add the part of a pair, and its transpose if `both`."""
    numbers = derivative.numbers
    if isinstance(numbers, Summed):
        summed = numbers.numbers
    elif isinstance(left, Element) and isinstance(right, Element) and left.key == right.key:
        summed = sums(left.index, numbers, len(left.places))
    elif isinstance(left, Element) and isinstance(right, Element):
        layout.add_rows(found, left, right, numbers, both)
        return
    else:
        summed = _product(left, right, derivative)
    add_summed(found, layout, left, right, summed, both)


def add_summed(found: M, layout: MatrixLayout[M], left: Part, right: Part, summed: Doubles, both: bool) -> None:
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
            return derivative.gram(left.design, right.design)
        case Element(), Number():
            return sums(left.index, f, len(left.places))[:, None]
        case Element(), Product():
            return right.design.by_group(f, left.index, len(left.places))
        case Product(), Element():
            return _product(right, left, derivative).T
    raise AssertionError


def score_products(
    arguments: Mapping[str, Sequence[Part]], first: Mapping[str, np.ndarray], layout: MatrixLayout[M],
    weights: np.ndarray | None,
) -> M:  # fmt: skip
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
