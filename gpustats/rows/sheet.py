"""Sheets: the data of all leaves on a device, with their rows in one order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..rewriting.differentiate import numbers_of_checkpoints
from ..runtime.base import Runtime
from ..runtime.cached import cached_property
from ..runtime.types import Array, DType, Handle, KernelValue
from .column_products import ColumnProducts, Matrix, lanes_of
from .groups import Groups
from .layout import lanes_of_sequences
from .leaf_data import number_of_rows
from .leaves import Column, Dot, Gather, Leaf, PerRow, Scalar, Sequences, SparseDot, StepGather
from .placed import Placed
from .sequences import Dealt
from .sparse_product import RowProducts, SparseProduct
from .steps import StepTable

_TYPES = {"float64": "double", "float32": "float", "int32": "int", "uint8": "unsigned char"}


@dataclass
class KernelLeaf:
    """Leaf as the template has it."""

    name: str  # of the argument, in C; then its type
    c_type: str
    numbers: str  # where its values are: a column of data, or the numbers of a parameter
    #: the C for the one in the row that it takes the C for; of a dot product for the coefficient of a column
    place: Callable[[str], str]
    by_set: bool = True  # whether each set of parameters has its own numbers
    by_segment: bool = False  # whether all rows of a segment have the same value
    is_pointer: bool = False  # whether the argument is a pointer to the place
    columns: int = 0  # number of columns of the matrix of a dot product, else 0
    matrix: str = ""  # its name, else ""

    @property
    def here(self) -> str:
        return f"{self.name}_here"

    def value(self, row: str) -> str:
        """C code for the argument in a row, or for the coefficient of a column, where the numbers are those of one set."""
        if self.is_pointer:
            return f"{self.numbers} + {self.place(row)}"
        return f"{'' if self.by_set else f'({self.c_type})'}{self.numbers}[{self.place(row)}]"

    def of_set(self, place: str) -> str:
        """C code for the number at a place, of set s of several."""
        return f"{self.numbers}[s * {self.numbers}_stride + {place}]"

    def __repr__(self) -> str:
        """Text of all that a template writes of the leaf."""
        return repr((self.name, self.c_type, self.value("n"), self.by_segment, self.columns, self.matrix))


class CheckpointPlaces(NamedTuple):
    """Places in memory of the checkpoints of sequences, in the order of the rows."""

    size: int  # of the memory
    starts: tuple[Handle, int]  # kernel's arguments for the first ones


class Sheet:
    """Data of all leaves, with their rows in one order.

    The leaves are of numbers, not of vectors, by the arguments of the function, as in C; `made_of` and `types` have the
    parameter that an argument is made of, and its type in C. `indices`, each (N,), are those of a table: rows of the same
    element stand together. Where there are none, rows with sequences stand by the lengths of these, the longest first, and
    others as they came. `lanes` threads read numbers of as many sequences at once, by default those that
    the device has for that.
    """

    def __init__(
        self, leaves: Mapping[str, Leaf], made_of: Mapping[str, str], types: Mapping[str, str], dtype: DType, runtime: Runtime,
        indices: Sequence[np.ndarray] = (), lanes: int | None = None,
    ):  # fmt: skip
        self.runtime, self.dtype, self.n_rows = runtime, dtype, number_of_rows(leaves)
        self.groups = Groups(indices, runtime) if indices else None
        self._order = self.groups.segments.order if self.groups else None
        #: places of the numbers of sequences; None where there are none
        self.dealt: Dealt | None = None
        self.starts = ""  # C name of the places of the first ones
        #: whether as many sequences lie side by side as threads read at once, and whether these have one length
        self.side_by_side = self.even = False
        self.step_tables: dict[str, StepTable] = {}  # argument -> the table that it is gathered from at each step
        self.products: dict[str, SparseProduct] = {}  # argument -> the sparse matrix that its coefficients are multiplied by
        self.n_steps = 0  # number of the numbers of a sequence of all rows
        if sequences := [leaf for leaf in leaves.values() if isinstance(leaf, Sequences | StepGather)]:
            lengths, self._first, self.n_steps = sequences[0].lengths, sequences[0], int(sequences[0].offsets[-1])
            self._order = np.argsort(-lengths, kind="stable") if self._order is None else self._order
            side = lanes or lanes_of_sequences(runtime.device, lengths.size)
            self.dealt = Dealt.of(lengths[self._order], side)
            #: rows as they stand, by their numbers, and their lengths
            self.order, self.lengths = self._order, lengths[self._order]
            if not self.groups:
                self.side_by_side = self.dealt.side == side
                self.even = np.array_equal(self.lengths, np.repeat(self.lengths[::side], side)[: lengths.size])
            self._lengths, self._starts = lengths.astype(np.int32), np.empty(lengths.size, np.int32)
            self._starts[self._order] = self.dealt.starts
        self._kept = Placed(runtime)  # which keeps arrays alive
        self._arrays: list[Array] = []  # what is placed, by identity
        self._matrices: list[tuple[np.ndarray, ColumnProducts]] = []  # of dot products
        self._names: dict[object, str] = {}
        self.declared: list[str] = []  # kernel's parameters for the leaves, in C
        self.begun: list[str] = []  # the statements at its beginning
        #: kernel's values for the leaves: a parameter's name stands for its `Place`, a name with a number for the extent of
        #: that axis, and an argument's table for what it has gathered
        self.values: list[KernelValue] = []
        #: of all arguments that are not numbers of the call
        self.leaves = [
            self._leaf(name, leaf, types[name], made_of.get(name, ""), indices)
            for name, leaf in leaves.items() if not isinstance(leaf, Scalar)
        ]  # fmt: skip
        #: C for the row, as it came, of sequences; and for the one of which results are written: where rows stand by groups,
        #: whoever reads them looks
        self.row = self.own_row = "n"
        if self.dealt:
            self.leaves.append(KernelLeaf("dim", "int", self._array(self._lengths, "index"), lambda n: n, by_set=False))
            self.row = f"{self._array(self._as_they_came, 'index')}[n]"
            if not self.groups:
                self.own_row = self.row

    def _leaf(self, name: str, leaf: Leaf, c_type: str, parameter: str, own: Sequence[np.ndarray]) -> KernelLeaf:
        if isinstance(leaf, Column):
            column = self._array(leaf.numbers, "column")
            return KernelLeaf(name, c_type, column, lambda n: n, by_set=False)
        if isinstance(leaf, Sequences):
            assert self.dealt is not None and self._order is not None
            numbers = self._array(self.dealt.dealt(leaf.numbers, leaf.offsets, self._order, self.dtype), "sequence")
            starts = self.starts = self._array(self._starts, "index")
            return KernelLeaf(name, "GLOBAL real *", numbers, lambda n: f"{starts}[{n}]", by_set=False, is_pointer=True)
        if isinstance(leaf, StepGather):
            assert self.dealt is not None and self._order is not None
            table = StepTable(leaf, parameter, self.dealt, self._order, self.dtype, self.runtime)
            self.step_tables[name], numbers = table, self._gathered(table)
            starts = self.starts = self._array(self._starts, "index")
            return KernelLeaf(name, "GLOBAL real *", numbers, lambda n: f"{starts}[{n}]", is_pointer=True)
        if isinstance(leaf, SparseDot):
            product = self.products[name] = SparseProduct.of(leaf.X, self.dtype, self.runtime)
            numbers = self._gathered(RowProducts(product, parameter, leaf))
            rows = "%s" if self._order is None else f"{self._array(self._as_they_came, 'index')}[%s]"
            return KernelLeaf(name, c_type, numbers, lambda n: rows.replace("%s", n))
        numbers, first = self._numbers(parameter), f"{leaf.element} + " if leaf.element else ""
        each = f" * {leaf.elements}" if leaf.elements else ""
        match leaf:
            case Dot():
                matrix = self._array(leaf.X, "X")
                return KernelLeaf(
                    name, c_type, numbers, lambda c: f"{first}{c}{each}", columns=leaf.X.shape[1], matrix=matrix
                )
            case Gather():
                place = f"(index_t){self._array(leaf.indices[0], 'index')}[%s]"
                for axis, index in enumerate(leaf.indices[1:], 1):
                    place = f"({place} * {self._extent(parameter, axis)} + {self._array(index, 'index')}[%s])"
                by_segment = [id(a) for a in leaf.varying] == [id(a) for a in own]
                return KernelLeaf(
                    name, c_type, numbers, lambda n: f"{first}{place.replace('%s', n)}{each}", by_segment=by_segment
                )
            case PerRow():
                row = "%s"
                if self._order is not None:
                    row = f"{self._array(self._as_they_came, 'index')}[%s]"
                return KernelLeaf(name, c_type, numbers, lambda n: f"{leaf.offset} + {row.replace('%s', n)}")
        raise AssertionError(leaf)

    @cached_property
    def places(self) -> list[KernelValue]:
        """Kernel's arguments for the place of each number of the first sequence, in the order in which they came."""
        assert self.dealt is not None
        places = self.dealt.places(self._first.offsets, self._starts).astype(np.int32)
        if isinstance(self._first, Sequences) and self._first.order is not None:
            moved, places = places, np.empty_like(places)
            places[self._first.order] = moved
        return self._placed(places, in_order=False)

    @cached_property
    def _as_they_came(self) -> np.ndarray:
        """Row numbers before the rows were put in order, to be ordered with them."""
        assert self._order is not None
        return np.arange(len(self._order), dtype=np.int32)

    @cached_property
    def checkpoints(self) -> CheckpointPlaces:
        """Places of the checkpoints of sequences."""
        assert self.dealt is not None and self._order is not None
        lengths = np.array([numbers_of_checkpoints(int(n)) for n in self._lengths[self._order]])
        dealt, starts = Dealt.side_by_side(lengths, self.dealt.side), np.empty(lengths.size, np.int32)
        starts[self._order] = dealt.starts
        handle, offset = self._placed(starts, in_order=True)
        return CheckpointPlaces(dealt.size, (handle, offset))

    def _numbers(self, parameter: str) -> str:
        """C name of the numbers of a parameter."""
        if (parameter, "numbers") not in self._names:
            name = self._names[parameter, "numbers"] = f"numbers{self._number('numbers')}"
            self.declared += [f"GLOBAL const real *RESTRICT {name}", f"index_t {name}_offset", f"index_t {name}_stride"]
            self.begun.append(f"{name} += {name}_offset + k * {name}_stride;")
            self.values.append(parameter)
        return self._names[parameter, "numbers"]

    def _gathered(self, table: StepTable | RowProducts) -> str:
        """C name of what is made of a parameter before: the elements of a table that steps have, or products of the rows."""
        kind = "steps" if isinstance(table, StepTable) else "products"
        name = self._names[table] = f"{kind}{self._number(kind)}"
        self.declared += [f"GLOBAL const real *RESTRICT {name}", f"index_t {name}_stride"]
        self.begun.append(f"{name} += k * {name}_stride;")
        self.values.append(table)
        return name

    def _extent(self, parameter: str, axis: int) -> str:
        """C name of the number of elements along an axis of a table."""
        if (parameter, axis) not in self._names:
            name = self._names[parameter, axis] = f"extent{self._number('extent')}"
            self.declared.append(f"int {name}")
            self.values.append((parameter, axis))
        return self._names[parameter, axis]

    def _array(self, numbers: np.ndarray, kind: str) -> str:
        """C name of an array, which is placed at its first use: rows first, and its columns one after another."""
        known = next((i for i, a in enumerate(self._arrays) if a is numbers), None)
        if known is None:
            known = len(self._arrays)
            self._arrays.append(numbers)
            name = self._names[known] = f"{kind}{self._number(kind)}"
            if kind == "X":
                numbers = numbers.T.astype(self.dtype, copy=False)
            self.declared += [f"GLOBAL const {_TYPES[numbers.dtype.name]} *RESTRICT {name}", f"index_t {name}_offset"]
            self.begun.append(f"{name} += {name}_offset;")
            values = self._placed(numbers, in_order=kind != "sequence")
            self.values += values
            if kind == "X":
                lanes = lanes_of(self.runtime.device, self.dtype.itemsize)
                matrix = Matrix(values, numbers.shape[1], numbers.shape[0], self.dtype, lanes, by_columns=True)
                self._matrices.append((self._arrays[known], ColumnProducts(matrix, self.runtime)))
        return self._names[known]

    def columns_of(self, X: np.ndarray) -> ColumnProducts:
        """Products of the columns of a dot product's matrix, whose rows stand as those of the sheet do."""
        return next(products for matrix, products in self._matrices if matrix is X)

    def _number(self, kind: str) -> int:
        """Number of names of a kind."""
        return sum(name.rstrip("0123456789") == kind for name in self._names.values())

    def _placed(self, numbers: np.ndarray, in_order: bool) -> list[KernelValue]:
        """Kernel's arguments for an array, its last axis in the order of the rows; nobody else changes the array."""
        if in_order and self._order is not None:
            numbers = numbers.T.take(self._order, 0).T  # the rows of a matrix as they lie
        return list(self._kept(numbers))
