"""Second derivatives of a model of rows in all of its parameters, and the scores of single rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ..evaluation.pointwise import Pointwise
from ..evaluation.second_order import second_order
from ..fits.bordered import Bordered
from ..language.device_function import Argument
from ..runtime.types import Doubles, Shape
from .assembly import assembled, score_products, score_sums
from .leaves import Column, Dot, Gather, Leaf, PerRow, Scalar, Sequences, SparseDot, StepGather
from .matrix_layout import BorderedLayout
from .number_arguments import NumberArguments
from .parameters import shape_of
from .row_parts import HostDesign, Part, SparseDesign, design_of, index_of, part_of
from .tasks import Pair

if TYPE_CHECKING:
    from .binding import Binding, RowFunction
    from .on_device import OnDevice

#: Functions of a row as functions of numbers, by the length of vectors: pieces of a model share them, and their derivatives.
_FUNCTIONS: WeakKeyDictionary[RowFunction, dict[int, Pointwise]] = WeakKeyDictionary()
#: Elements of the tables of one grouping from which on these are blocks.
LEAST_IN_BLOCKS = 300
ROWS_AT_ONCE = 1 << 20  # whose derivatives are in memory


def reason_against(bound: Binding) -> str:
    """Why there are no second derivatives by row; "" where there are."""
    for name, leaf in bound.leaves.items():
        if isinstance(leaf, Sequences | StepGather):
            return f"{name} is made of sequences"
    return ""


def blocks_of(bound: Binding, shapes: Mapping[str, Shape]) -> tuple[str, ...]:
    """Parameters that are tables of the largest grouping of the rows, if they are large, of those with `shapes`."""
    sizes = {n: math.prod(shape) for n, shape in shapes.items()}
    groupings: dict[Any, list[str]] = {}
    for name, parameter in bound.parameters.items():
        keys = set[Any]()
        for leaf in parameter.leaves.values():
            if isinstance(leaf, Gather):
                keys.add(tuple(map(id, leaf.indices)))
            elif isinstance(leaf, PerRow):
                keys.add(leaf.offset)
        if name in shapes and len(keys) == 1:
            groups = shapes[name][:-1] if parameter.of_vectors else shapes[name]
            groupings.setdefault((keys.pop(), groups), []).append(name)
    best = max(groupings.values(), key=lambda names: sum(sizes[n] for n in names), default=[])
    return tuple(best) if sum(sizes[n] for n in best) >= LEAST_IN_BLOCKS else ()


class SecondDerivatives:
    """Second derivatives of a model of rows whose arguments are numbers, on one device."""

    def __init__(self, bound: Binding, own: OnDevice):
        self.bound, self.runtime, self._own = bound, own.runtime, own
        self._arguments: dict[int, NumberArguments] = {}
        self._designs: dict[int, HostDesign | SparseDesign] = {}

    def hessian(self, values: Sequence[Any], names: Sequence[str], blocks: Sequence[str]) -> Bordered:
        """Matrix of second derivatives in the elements of parameters, one after another; those of `blocks` by groups."""
        made = _Call(self, values, names)
        layout = BorderedLayout(made.size, made.places(blocks))
        second: dict[Pair, Any] = self._own.found("second_of_pairs", names, values)[0]
        return assembled(made.parts(slice(None)), second, layout)

    def score_sums(
        self, values: Sequence[Any], names: Sequence[str], clusters: np.ndarray | None, n_clusters: int
    ) -> Doubles:
        """Sums over rows: see `Problem.score_sums`."""
        made, weights = _Call(self, values, names), self.bound.leaves.get("weights")
        total = np.zeros((made.size if clusters is None else n_clusters, made.size))
        for first in range(0, made.n_rows, ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            parts, slopes = made.parts(rows), made.first_by_row(rows)
            slopes = {c: np.asarray(f, float) for c, f in slopes.items()}
            if clusters is None:
                own = np.asarray(weights.numbers[rows], float) if isinstance(weights, Column) else None
                total += score_products(parts, slopes, BorderedLayout(made.size), own).border
            else:
                total += score_sums(parts, slopes, made.size, clusters[rows], n_clusters)
        return total

    def function(self, length: int) -> tuple[Pointwise, NumberArguments]:
        """Function of a row as one of numbers."""
        if length not in self._arguments:
            self._arguments[length] = NumberArguments.of(self.bound, length)
        arguments, known = self._arguments[length], _FUNCTIONS.setdefault(self.bound.row, {})
        if length not in known:
            row = arguments.row
            own = [Argument(p.name) for p in row.function.parameters if p.name != "dim"]
            known[length] = Pointwise(row.name, row.function, own, row.functions, row.source)
        return known[length], arguments

    def design(self, leaf: Dot | SparseDot) -> HostDesign | SparseDesign:
        """Design matrix of a leaf."""
        if id(leaf.X) not in self._designs:
            self._designs[id(leaf.X)] = design_of(leaf)
        return self._designs[id(leaf.X)]


class _Call:
    """Derivatives at some values of the parameters."""

    def __init__(self, model: SecondDerivatives, values: Sequence[Any], names: Sequence[str]):
        bound = model.bound
        if why := reason_against(bound):
            raise NotImplementedError(f"second derivatives by row: {why}, for which there is `hessian` in numbers alone")
        packing, self.n_rows = bound.packing(values)
        if packing.lead:
            raise ValueError("second derivatives in coefficients and tables are for one set of parameters, not for several")
        self._model, self._bound = model, bound
        self._values = {n: np.asarray(v, float) for n, v in zip(bound.parameters, values, strict=True)}
        self._function, self._arguments = model.function(bound.length({n: shape_of(v) for n, v in self._values.items()}))
        self._starts, self.size = dict[str, int](), 0
        for name in names:
            self._starts[name] = self.size
            self.size += self._values[name].size
        made_of = self._arguments.made_of
        self._moving = [c for c in self._arguments.leaves if made_of.get(c) in self._starts]

    def places(self, names: Sequence[str]) -> np.ndarray | None:
        """Places of the elements of tables with a row for each group, (groups, elements)."""
        if not names:
            return None
        n = {n: self._values[n].size // self._width(n) for n in names}
        own = [self._starts[name] + np.arange(self._values[name].size).reshape(n[name], -1) for name in names]
        return np.concatenate(own, 1)

    def _width(self, name: str) -> int:
        return self._values[name].shape[-1] if self._bound.parameters[name].of_vectors else 1

    def parts(self, rows: slice) -> dict[str, list[Part]]:
        """Parts of the arguments in which there are derivatives, for some rows."""
        return {c: [self._part(c, self._arguments.leaves[c], rows)] for c in self._moving}

    def _part(self, argument: str, leaf: Leaf, rows: slice) -> Part:
        name = self._arguments.made_of[argument]
        return part_of(leaf, self._values[name].shape, self._starts[name], self.n_rows, self._model.design, rows)

    def first_by_row(self, rows: slice) -> dict[str, np.ndarray]:
        """Derivatives of some rows in the arguments that move."""
        given, n = list[Any](), len(range(*rows.indices(self.n_rows)))
        for c, leaf in self._arguments.leaves.items():
            value = self._given(c, leaf, rows)
            value = np.broadcast_to(value, n) if c in self._moving else value
            given.append(value if isinstance(value, float) else np.ascontiguousarray(value, self._bound.dtype))
        return second_order(self._function, given, self._moving, self._moving, self._model.runtime, False).first

    def _given(self, argument: str, leaf: Leaf, rows: slice) -> Any:
        """Values of an argument."""
        if isinstance(leaf, Column):
            return np.asarray(leaf.numbers[rows])
        value = self._values[self._arguments.made_of[argument]]
        own = value[..., leaf.element] if leaf.elements else value
        match leaf:
            case Scalar():
                return float(own)
            case Dot() | SparseDot():
                return self._model.design(leaf).X[rows] @ own
            case Gather() | PerRow():
                return own.ravel()[index_of(leaf, value.shape, self.n_rows, rows)]
        raise AssertionError(leaf)
