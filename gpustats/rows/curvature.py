"""Curvature of a model of rows in some of its parameters: second derivatives, and the derivatives of their weighted sums.

A row's function plus its second derivatives, each w_ab f_ab of a pair (a, b) of its arguments with a weight, is the function of
a row itself. Its derivatives in the weights are the second derivatives, summed over the rows of each group. Its derivatives in
all else are those of the function plus the trace of a matrix times the Hessian, where the weights are the matrix' elements.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..fits.problem import Expanded
from ..fits.symmetric import Symmetric
from ..rewriting.differentiate import curved
from ..runtime.types import Doubles, Shape, Value
from .assembly import add_summed, assembled
from .evaluator import Evaluator
from .leaves import Gather, Leaf, PerRow, Scalar
from .matrix_layout import MatrixLayout
from .number_arguments import NumberArguments
from .parameters import Packing, Parameter, shape_of
from .row_parts import Element, HostDesign, Number, Part, Product, SparseDesign, design_of, part_of
from .tasks import Pair

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from .binding import Binding, RowFunction
    from .calls import Call

class Curvature:
    """Curvature of the sum over the rows in the arguments that are made of some parameters, on one device.

    Parameters
    ----------
    bound : Binding
    runtime : Runtime
    length : int
        Of the function's vectors; 0 where it has none.
    starts : mapping
        Parameter, in whose arguments there are derivatives -> place of its first element among all.
    shapes : mapping
        Shapes of the parameters.
    n_rows : int
    """

    def __init__(
        self, bound: Binding, runtime: Runtime, length: int, starts: Mapping[str, int], shapes: Mapping[str, Shape], n_rows: int
    ):  # fmt: skip
        self._bound, self._runtime, self._n_rows = bound, runtime, n_rows
        self._own, self._starts = NumberArguments.of(bound, length), dict(starts)
        self._parts = self._parts_of(shapes)
        arguments, self._weights = self._with_weights(False)
        self._leaves = {n: arguments.leaves[c] for c, n in arguments.made_of.items() if n in self._weights.values()}
        self._parameters = {**bound.parameters, **{n: Parameter(n, {n: leaf}) for n, leaf in self._leaves.items()}}
        self._shapes = {n: self._shape(shapes, *pair) for pair, n in self._weights.items()}
        self._evaluators: dict[bool, Evaluator] = {}
        self._calls: dict[Any, Call] = {}

    def _parts_of(self, shapes: Mapping[str, Shape]) -> dict[str, Part]:
        designs: dict[int, HostDesign | SparseDesign] = {}

        def design(leaf: Any) -> HostDesign | SparseDesign:
            return designs.setdefault(id(leaf.X), design_of(leaf))

        return {
            c: part_of(self._own.leaves[c], shapes[name], self._starts[name], self._n_rows, design)
            for c, name in self._own.made_of.items() if name in self._starts
        }  # fmt: skip

    def _with_weights(self, stopped: bool) -> tuple[NumberArguments, dict[Pair, str]]:
        """Arguments of the function with its second derivatives, see `curved`, and the parameter that is each pair's weight."""
        own = self._own
        row, weights = _curved(own.row, tuple(self._parts), stopped)
        leaves = {w: self._weight_leaf(*pair) for pair, w in weights.items()}
        named = {w: f"{w}'" for w in weights.values()}  # no name of a user's, since it is no name in C
        arguments = NumberArguments(row, {**own.leaves, **leaves}, {**own.made_of, **named})
        return arguments, {pair: named[w] for pair, w in weights.items()}

    def _weight_leaf(self, a: str, b: str) -> Leaf:
        """Leaf of the weight of a pair: a number, one for each group or pair of groups, or one for each row."""
        leaves = [self._own.leaves[c] for c in (a, b)]
        if all(isinstance(leaf, Scalar) for leaf in leaves):
            return Scalar(None)
        tables = self._tables(a, b)
        n = math.prod(len(self._parts[c].places) for c in tables)
        if n > self._n_rows or not all(isinstance(leaf, Gather | Scalar) for leaf in leaves):
            return PerRow(None, 0)
        return Gather(None, tuple(itertools.chain(*(leaf.indices for leaf in tables.values()))))

    def _tables(self, a: str, b: str) -> dict[str, Gather]:
        """Arguments of a pair that are elements of tables; of two tables of one grouping the first."""
        if _of_one_grouping(self._parts[a], self._parts[b]):
            b = a
        return {c: leaf for c in (a, b) if isinstance(leaf := self._own.leaves[c], Gather)}

    def _shape(self, shapes: Mapping[str, Shape], a: str, b: str) -> Shape:
        """Shape of the weights of a pair."""
        leaf = self._leaves[self._weights[a, b]]
        if not isinstance(leaf, Gather):
            return () if isinstance(leaf, Scalar) else (self._n_rows,)
        groups = (shapes[self._own.made_of[c]][: len(own.indices)] for c, own in self._tables(a, b).items())
        return tuple(itertools.chain(*groups))

    def expanded(self, values: Sequence[Value], layout: MatrixLayout[Symmetric]) -> Expanded:
        """Sum at values of all parameters, and its derivatives in the elements of the layout, in one pass over the rows."""
        nothing = {w: np.zeros(shape) if shape else 0.0 for w, shape in self._shapes.items()}
        value, slopes = self._derivatives(values, nothing, (*self._starts, *nothing), True)
        gradient, found, by_row = np.zeros(layout.size), layout.empty(), dict[Pair, Any]()
        for name, start in self._starts.items():
            gradient[start : start + slopes[name].size] = slopes[name].ravel()
        for (a, b), w in self._weights.items():
            left, right, summed = self._parts[a], self._parts[b], slopes[w]
            if isinstance(self._leaves[w], PerRow):
                by_row[a, b] = summed
            else:
                shape = (-1,) if _of_one_grouping(left, right) else (len(left.places), len(right.places))
                add_summed(found, layout, left, right, summed.reshape(shape), a != b)
        if by_row:
            found = found + assembled({a: [part] for a, part in self._parts.items()}, by_row, layout)
        return Expanded(value, gradient, found)

    def with_trace(self, values: Sequence[Value], matrix: Symmetric, wrt: Sequence[str]) -> dict[str, Doubles]:
        """Derivatives of the sum plus half the trace of a symmetric matrix, a constant one, times its second derivatives."""
        weights = {w: self._weighted_by(matrix, *pair) for pair, w in self._weights.items()}
        return self._derivatives(values, weights, wrt, False)[1]

    def _weighted_by(self, matrix: Symmetric, a: str, b: str) -> Any:
        """Weights of a pair: half the elements of J_a matrix J_b' of each row, where a pair of two arguments counts twice."""
        half, left, right, weight = 0.5 if a == b else 1.0, self._parts[a], self._parts[b], self._weights[a, b]
        if isinstance(self._leaves[weight], PerRow):
            return half * _of_rows(matrix, left, right)
        rows = left.places if _of_one_grouping(left, right) else left.places[:, None]
        found = half * matrix.at(rows, right.places)
        return found.reshape(shape) if (shape := self._shapes[weight]) else found.item()

    def _derivatives(
        self, values: Sequence[Value], weights: Mapping[str, Any], wrt: Sequence[str], stopped: bool
    ) -> tuple[float, dict[str, Doubles]]:
        """Sum with weights of second derivatives, and its derivatives; `stopped` is for `curved`."""
        given = [*values, *weights.values()]
        shapes = [shape_of(v) for v in given]
        kind = stopped, tuple(wrt), tuple(shapes)
        if kind not in self._calls:
            packing = Packing(self._parameters, shapes, (), self._n_rows, self._bound.dtype)
            self._calls[kind] = self._evaluator(stopped).value_and_derivatives(wrt, packing, self._n_rows)
        value, found = self._calls[kind].start(given)()
        of_name = dict(zip(self._parameters, shapes, strict=True))
        return float(value), {n: np.array(found[n], float).reshape(of_name[n]) for n in wrt}

    def _evaluator(self, stopped: bool) -> Evaluator:
        if stopped not in self._evaluators:
            self._evaluators[stopped] = Evaluator(self._with_weights(stopped)[0], self._bound.dtype, self._runtime)
        return self._evaluators[stopped]


def _of_one_grouping(left: Part, right: Part) -> bool:
    return isinstance(left, Element) and isinstance(right, Element) and left.key == right.key


@functools.lru_cache(maxsize=32)  # for pieces of a stream, which are made anew in each call
def _curved(row: RowFunction, wrt: Sequence[str], stopped: bool) -> tuple[RowFunction, dict[Pair, str]]:
    """Function of a row with weights, and each pair's weight: see `curved`."""
    functions = dict(row.functions)
    function, weights = curved(row.function, wrt, functions, stopped)
    return replace(row, function=function, functions=functions), weights


def _of_rows(matrix: Symmetric, left: Part, right: Part) -> Doubles:
    """Elements of J matrix J' for each row, (N,), of two parts."""
    match left, right:
        case Element(), Element():
            return matrix.at(left.places[left.index], right.places[right.index])
        case Element(), Number():
            return matrix.at(left.places[left.index], right.places)
        case Product(), Number():
            found: Doubles = _design(left).X @ matrix.at(left.places, right.places)
            return found
        case Element(), Product():
            of_elements = matrix.at(left.places[:, None], right.places)
            return _design(right).times_rows(lambda rows: of_elements[left.index[rows]])
        case Product(), Product():
            between = matrix.at(left.places[:, None], right.places)
            design = _design(left)
            return _design(right).times_rows(lambda rows: design.X[rows] @ between)
    return _of_rows(matrix, right, left)


def _design(part: Product) -> HostDesign | SparseDesign:
    assert isinstance(part.design, HostDesign | SparseDesign)
    return part.design
