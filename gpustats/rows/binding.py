"""Row functions bound to their leaves: a model of rows before it is on a device."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from ..density import Density
from ..distribution.given import check_density
from ..evaluation.pointwise import Pointwise, log_density_of
from ..language import nodes as lang
from ..language.derived import resolve_in, with_argument
from ..language.device_function import Argument
from ..language.library import library
from ..language.nodes import Function
from ..language.outputs import drawn, writing
from ..parallel.ragged import Ragged
from ..parallel.rows import is_stored
from ..rewriting.checks import checked
from ..runtime import arrays
from ..runtime.cached import cached_property
from ..runtime.types import Array, Shape, Value
from .labels import with_common_labels
from .leaf_data import number_of_rows, put_together, taken_apart
from .leaves import (
    MOST_COLUMNS,
    Column,
    Dot,
    Gather,
    Leaf,
    PerRow,
    Scalar,
    Sequences,
    SparseDot,
    StepGather,
    leaf_of,
)
from .parameters import Packing, along_of, parameters_of, shape_of
from .sequences import MOST_PADDED, of_one_length, refuse_fractions, refuse_outside
from .series import SequenceModel
from .sparse_matrix import SparseMatrix

#: Names of a model's own arguments, beside leaves and parameters.
RESERVED_NAMES = ("weights", "devices", "client", "memory", "chunk", "wrt", "outputs", "rng")


#: What users give as the function of a row.
GivenFunction: TypeAlias = "str | Density | Pointwise | SequenceModel"


@dataclass(frozen=True, eq=False)
class RowFunction:
    """Function of a row."""

    name: str  # as the user knows it, as is the source
    source: str
    function: Function
    functions: dict[str, Function]  # all functions that it calls, by their names
    #: values of the arguments that a call may leave out, by their names
    defaults: Mapping[str, Value] = field(default_factory=dict)
    #: function as it was written, without checks and weights, if it has outputs by step
    whole: RowFunction | None = None


class Binding:
    """Function of a row, with a leaf for each of its arguments; function, weights and leaves are as `Rows` takes them.

    `like` is a binding of the same function to other rows, whose translation it shares.
    """

    def __init__(
        self, function: GivenFunction, weights: Value | None, leaves: Mapping[str, Value | Leaf], like: Binding | None = None
    ):  # fmt: skip
        self.function = function  # as it was given
        self._writing: dict[frozenset[str], RowFunction] = {}
        data = [n for n, leaf in leaves.items() if isinstance(leaf, Sequences)]
        sequences = data + [n for n, leaf in leaves.items() if isinstance(leaf, Gather) and leaf.of_steps]
        #: arguments of the function, as the user knows them, and the function
        self._given: tuple[Sequence[Argument], RowFunction] = row_function(function, data) if like is None else like._given
        arguments, self.row = self._given
        own = [p for p in self.row.function.parameters if p.name != "dim"]
        whole = {a.name for a, p in zip(arguments, own, strict=True) if p.type == lang.INT}
        self.arguments = arguments
        self.vectors = [a.name for a in arguments if a.rank]  # the arguments that are vectors, but for sequences
        _check(arguments, whole, leaves)
        made = {
            n: leaf_of(n, leaves[n], n in whole, n in self.vectors) if n in leaves else Scalar(None)
            for n in [a.name for a in arguments]
        }
        if sequences:
            self.vectors = [n for n in self.vectors if n not in sequences]
            if self.vectors and isinstance(function, SequenceModel):
                raise ValueError(f"{sequences[0]} is a sequence, and {self.vectors[0]} must be one, too")
            for a in arguments:
                if a.name in self.vectors and a.words - {"real", "vector"}:
                    raise ValueError(f"{a.name} is {a.domain}: beside sequences, vectors are looked at by the function itself")
            of_one_length(made)
            refuse_fractions(made, [a.name for a, p in zip(arguments, own, strict=True) if p.whole])
            refuse_outside(made, {a.name: a.words for a in arguments})
        self.c_names = {n: p.name for n, p in zip(made, own, strict=True)}  # argument -> its name in C
        if weights is not None:
            if isinstance(weights, Leaf):
                raise ValueError("weights must be a column of data, (N,)")
            made["weights"] = leaf_of("weights", weights)
            weighted = _weighted(self.row) if like is None else (like.row, like.c_names["weights"])
            self.row, self.c_names["weights"] = weighted
        self.n_rows = number_of_rows(made)
        if self.n_rows is not None and self.n_rows >= 2**31 - 1:
            raise ValueError(f"{self.n_rows} rows are more than one model takes; make several of them and add their results")
        self.leaves = _with_one_index(with_common_labels(_from_the_first(made)))  # argument -> its leaf
        self.parameters = parameters_of(self.leaves, self.vectors)  # by name
        #: of the computation: float32 where all data of floating point are
        self.dtype = arrays.result_dtype(_floats(self.leaves.values()))

    def over(self, data: Mapping[str, Array]) -> Binding:
        """Binding of the same function over other rows: data by the names that `taken_apart` gives them."""
        given = put_together(taken_apart(self.leaves)[1], data)
        return Binding(self.function, given.pop("weights", None), given, self)

    @property
    def outputs(self) -> dict[str, str]:
        """Names of the function's outputs by step -> their names in C."""
        parameters = self.row.whole.function.parameters if self.row.whole else ()
        return {p.written: p.name for p in parameters if p.type == lang.OUTPUT}

    @cached_property
    def drawn(self) -> list[str]:
        """Names of the outputs by step that are made of random numbers."""
        return drawn(self.row.whole.function) if self.row.whole else []

    def writing(self, outputs: Collection[str]) -> RowFunction:
        """Function of a row that writes some of its outputs by step, without weights."""
        if self.vectors:
            raise ValueError(f"outputs by step are of functions of sequences and numbers, and {self.vectors[0]} is a vector")
        key = frozenset(outputs)
        if key not in self._writing:
            whole, in_c = self.row.whole, self.outputs
            assert whole is not None
            made = replace(whole, function=writing(whole.function, [in_c[n] for n in outputs]))
            sequences = [n for n, leaf in self.leaves.items() if isinstance(leaf, Sequences)]
            self._writing[key] = _checked(made, self.arguments, sequences)
        return self._writing[key]

    @property
    def example_length(self) -> int:
        """Length that vectors may have."""
        columns = (f.numbers.shape[1] for n, f in self.leaves.items() if n in self.vectors and isinstance(f, Column))
        return next(columns, 2)

    @property
    def n_orders(self) -> int:
        """Number of orders of the rows in which the data may lie on a device at once, each with a copy of its own."""
        gathers = (leaf for leaf in self.leaves.values() if isinstance(leaf, Gather))
        by = (leaf.indices if any(map(is_stored, leaf.indices)) else leaf.varying for leaf in gathers)
        return max(1, len({tuple(map(id, indices)) for indices in by}))

    @property
    def row_bytes(self) -> int | np.ndarray:
        """Bytes of a row on a device; of each row, where these are sequences."""
        data = taken_apart(self.leaves)[0].values()
        sequences = [leaf for leaf in self.leaves.values() if isinstance(leaf, Sequences | StepGather)]
        row: int | np.ndarray = self.n_orders * sum(
            math.prod(a.shape[1:]) * a.dtype.itemsize for a in data if not isinstance(a, Ragged)
        )
        for leaf in self.leaves.values():
            if isinstance(leaf, SparseDot):
                row = row + leaf.X.row_bytes(self.dtype)
        if not sequences:
            return row
        places = np.dtype(np.int32).itemsize * 3  # of the row, its first number and its length
        steps = MOST_PADDED * self.dtype.itemsize * len(sequences) * sequences[0].lengths
        of_each: np.ndarray = row + self.n_orders * (places + np.ceil(steps).astype(np.int64))
        return of_each

    def packing(self, values: Sequence[Value], along: Sequence[str] = ()) -> tuple[Packing, int]:
        """Packing of values of these shapes, and the number of rows; ValueError where the shapes do not fit.

        `values` has all parameters, then the components of a direction in the parameters `along`.
        """
        parameters = self.parameters | {along_of(n): self.parameters[n] for n in along}
        n_rows = self.n_rows
        for parameter, value in zip(parameters.values(), values, strict=True):
            if n_rows is None and isinstance(parameter.leaf, PerRow) and (shape := shape_of(value)):
                n_rows = max(shape[-1] - parameter.length(0), 0)
        if n_rows is None:
            raise ValueError(f"{self.row.name} has no data, and no parameter tells the number of rows")
        native = {n for n, v in zip(parameters, values, strict=True) if arrays.is_device_array(v)}
        return Packing(parameters, [shape_of(v) for v in values], native, n_rows, self.dtype), n_rows

    def length(self, shapes: Mapping[str, Shape]) -> int:
        """Number of elements of the vectors, in a call with parameters of these shapes; 0 where there are no vectors."""
        found = {n: leaf.numbers.shape[1] for n, leaf in self.leaves.items() if n in self.vectors and isinstance(leaf, Column)}
        found |= {n: shapes[n][-1] for n, p in self.parameters.items() if p.of_vectors}
        if len(set(found.values())) > 1:
            listed = ", ".join(f"{n} {length}" for n, length in found.items())
            raise ValueError(f"the vectors of a row must have the same length: {listed}")
        length = next(iter(found.values()), 0)
        if found and not 0 < length <= MOST_COLUMNS:
            steps = any(isinstance(leaf, Sequences | StepGather) for leaf in self.leaves.values())
            larger = "; gs.gather(gs.sequences(…)) takes elements of larger tables" * steps
            elements = f"1 to {MOST_COLUMNS} elements, not {length}{larger}"
            raise ValueError(f"{next(iter(found))}: the vectors of a row have {elements}")
        return length


def _check(arguments: Sequence[Argument], whole: Collection[str], leaves: Mapping[str, Value | Leaf]) -> None:
    names = [a.name for a in arguments]
    if taken := [n for n in names if n in RESERVED_NAMES]:
        raise ValueError(f"Rows has a {taken[0]} of its own: call the argument {taken[0]} of the function otherwise")
    for name in leaves:
        if name not in names:
            raise ValueError(f"the function has no argument {name!r}; its arguments are {', '.join(names)}")
    for argument in arguments:
        name = argument.name
        if name in whole and isinstance(leaves.get(name), Leaf):
            raise ValueError(f"{name} is an int of the function: its values must be data, a column of whole numbers")
        if name in whole and name not in leaves:
            raise ValueError(f"{name} is an int of the function: give it as a column of data, {name}=…")


def row_function(function: GivenFunction, sequences: Collection[str] = ()) -> tuple[Sequence[Argument], RowFunction]:
    """Arguments of a row function, and the function that computes it.

    Sequences, which are data, are not checked in each call: whoever binds them does it once.
    """
    if isinstance(function, str | SequenceModel):
        if isinstance(function, str):
            if function.isidentifier():
                check_density(function, "Rows")
            definition, its = library.row_function(function)
            functions = library.closure(definition.functions.values())
        else:
            definition, its, functions = function.definition, function.function, dict(function.functions)
        made = RowFunction(definition.name, definition.source, its, functions)
        if (whole := definition.with_outputs.get(its.name)) is not None:
            functions = {**functions, **library.closure([whole])}
            made = replace(made, whole=replace(made, function=whole, functions=functions))
        return definition.arguments, _checked(made, definition.arguments, sequences)
    pointwise = log_density_of(function)
    if not hasattr(pointwise, "function"):
        wanted = "a text of C, a density or a sequence model"
        raise TypeError(f"the function of a row is {wanted}, not {type(function).__name__}")
    if matrices := [a.name for a in pointwise.arguments if a.rank > 1]:
        raise ValueError(f"{matrices[0]} is a matrix; a row function takes numbers and vectors")
    return pointwise.arguments, RowFunction(
        pointwise.name, pointwise.source, pointwise.function, pointwise.functions, pointwise.defaults
    )


def _checked(row: RowFunction, arguments: Sequence[Argument], sequences: Collection[str]) -> RowFunction:
    """Row function with the rules for numbers outside of their domains, except for sequences."""
    if all(a.domain == "real" or a.name in sequences for a in arguments):
        return row
    made = checked(row.function, arguments, row.functions.get, unchecked=sequences)
    return replace(row, function=made, functions={**row.functions, row.function.name: row.function})


def _weighted(row: RowFunction) -> tuple[RowFunction, str]:
    """Row function times a weight, and the name of the weight's argument."""
    body = "    return weighted({argument}, {call});\n"
    made, name = with_argument(row.function, "weighted", "weight", body, resolve_in(row.functions))
    functions = {**row.functions, row.function.name: row.function, **library.closure([made])}
    return replace(row, function=made, functions=functions), name


def _from_the_first(leaves: Mapping[str, Leaf]) -> dict[str, Leaf]:
    """Leaves with the offsets of numbers of the rows counted from the first element of their parameter."""
    parameters = parameters_of(leaves)
    return {
        n: replace(leaf, offset=leaf.offset - parameters[leaf.of or n].first) if isinstance(leaf, PerRow) else leaf
        for n, leaf in leaves.items()
    }


def _with_one_index(leaves: Mapping[str, Leaf]) -> dict[str, Leaf]:
    """Leaves with one array in place of several equal indices, so that tables with equal indices share their order."""
    known: list[np.ndarray] = []

    def one(index: np.ndarray) -> np.ndarray:
        for other in known:
            if other is index or (not (is_stored(other) or is_stored(index)) and np.array_equal(other, index)):
                return other
        known.append(index)
        return index

    return {n: replace(f, indices=tuple(map(one, f.indices))) if isinstance(f, Gather) else f for n, f in leaves.items()}


def _floats(leaves: Collection[Leaf]) -> list[np.ndarray | SparseMatrix]:
    """Data of floating point, which decide the type of the computation."""
    found = [f.X for f in leaves if isinstance(f, Dot | SparseDot)]
    found += [f.numbers for f in leaves if isinstance(f, Column | Sequences)]
    return [a for a in found if a.dtype.kind == "f"]
