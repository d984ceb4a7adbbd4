"""A row function and its leaves, bound to one another: what a model of rows is, before it is on a device."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.pointwise import log_density_of
from ..language import nodes as lang
from ..language.derived import resolve_in, with_argument
from ..language.library import library
from ..rewriting.checks import checked
from ..runtime import arrays
from .leaves import Column, Dot, Gather, Leaf, PerRow, Scalar, leaf_of, number_of_rows
from .parameters import parameters_of

if TYPE_CHECKING:
    from ..language.device_function import Argument
    from ..language.nodes import Function

#: What tells an order of the rows: the indices of a table, by identity; () for the order in which the data came.
Key = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RowFunction:
    """The function of a row.

    Attributes
    ----------
    name, source : str
        As the user knows it.
    function : Function
    functions : dict
        All functions that it calls, by their names.
    defaults : mapping
        Values of the arguments that a call may leave out, by their names.
    """

    name: str
    source: str
    function: Function
    functions: dict[str, Function]
    defaults: Mapping[str, Any] = field(default_factory=dict)


class Binding:
    """A function of a row, with a leaf for each of its arguments.

    Parameters
    ----------
    function, weights, leaves
        As `Rows` takes them.

    Attributes
    ----------
    row : RowFunction
    n_rows : int or None
    parameters : dict of Parameter
        By name.
    c_names : dict
        Argument -> its name in C.
    leaves, types, made_of : dict
        Argument, as in C -> leaf; its type in C; the parameter that it is made of.
    dtype : dtype
        What is computed in: float32 where all data of floating point are.
    main : tuple
        The order of the rows in which sums are taken.
    """

    def __init__(self, function: Any, weights: Any, leaves: Mapping[str, Any]):
        arguments, self.row = row_function(function)
        own = [p for p in self.row.function.parameters if p.name != "dim"]
        whole = {a.name for a, p in zip(arguments, own, strict=True) if p.type == lang.INT}
        _check(arguments, whole, leaves)
        made = {n: leaf_of(n, leaves[n], n in whole) if n in leaves else Scalar(None) for n in [a.name for a in arguments]}
        self.c_names = {n: p.name for n, p in zip(made, own, strict=True)}
        if weights is not None:
            made["weights"] = leaf_of("weights", weights, False)
            if not isinstance(made["weights"], Column):
                raise ValueError("weights must be a column of data, (N,)")
            self.row, self.c_names["weights"] = _weighted(self.row)
        self.n_rows = number_of_rows(made)
        if self.n_rows is not None and self.n_rows >= 2**31 - 1:
            raise ValueError(f"{self.n_rows} rows are more than one model takes; make several of them and add their results")
        made = _with_one_index(_from_the_first(made))
        self.parameters = parameters_of(made)
        self.leaves = {self.c_names[n]: leaf for n, leaf in made.items()}
        self.made_of = {self.c_names[a]: p.name for p in self.parameters.values() for a in p.leaves}
        self.types = {p.name: p.type for p in self.row.function.parameters}
        self.dtype = arrays.result_dtype(_floats(self.leaves.values()))
        self.main = _main_order(self.leaves.values())


def _check(arguments: Sequence[Argument], whole: Collection[str], leaves: Mapping[str, Any]) -> None:
    names = [a.name for a in arguments]
    for name in leaves:
        if name not in names:
            raise ValueError(f"the function has no argument {name!r}; its arguments are {', '.join(names)}")
    for argument in arguments:
        name = argument.name
        if argument.rank:
            raise ValueError(f"{name} is a vector; a row function takes numbers")
        if name in whole and isinstance(leaves.get(name), Leaf):
            raise ValueError(f"{name} is an int of the function: its values must be data, a column of whole numbers")
        if name in whole and name not in leaves:
            raise ValueError(f"{name} is an int of the function: give it as a column of data, {name}=…")


def row_function(function: Any) -> tuple[Sequence[Argument], RowFunction]:
    """The arguments of a row function, and what computes it."""
    if isinstance(function, str):
        definition, its = library.row_function(function)
        functions = library.closure(definition.functions.values())
        if any(a.domain != "real" for a in definition.arguments):
            made = checked(its, definition.arguments, functions.get)
            functions[its.name], its = its, made
        name = definition.name
        return definition.arguments, RowFunction(name, function, its, functions)
    pointwise = log_density_of(function)
    if not hasattr(pointwise, "function"):
        raise TypeError(f"the function of a row is a text of C or a density, not {type(function).__name__}")
    return pointwise.arguments, RowFunction(
        pointwise.name, pointwise.source, pointwise.function, pointwise.functions, pointwise.defaults
    )


def _weighted(row: RowFunction) -> tuple[RowFunction, str]:
    """A row function times a weight, and the name of that argument."""
    body = "    return weighted({argument}, {call});\n"
    made, name = with_argument(row.function, "weighted", "weight", body, resolve_in(row.functions))
    functions = {**row.functions, row.function.name: row.function, **library.closure([made])}
    return replace(row, function=made, functions=functions), name


def key_of(leaf: Gather) -> Key:
    return tuple(map(id, leaf.indices))


def _main_order(leaves: Collection[Leaf]) -> Key:
    """The order of the rows in which sums are taken: by the groups of the largest table, unless rows have their own numbers."""
    gathers = [leaf for leaf in leaves if isinstance(leaf, Gather)]
    if not gathers or any(isinstance(leaf, PerRow) for leaf in leaves):
        return ()
    return key_of(max(gathers, key=lambda leaf: max(int(index.max(initial=0)) for index in leaf.indices)))


def _from_the_first(leaves: Mapping[str, Leaf]) -> dict[str, Leaf]:
    """The leaves with the offsets of numbers of the rows counted from the first element of their parameter."""
    parameters = parameters_of(leaves)
    return {
        n: replace(leaf, offset=leaf.offset - parameters[leaf.of or n].first) if isinstance(leaf, PerRow) else leaf
        for n, leaf in leaves.items()
    }


def _with_one_index(leaves: Mapping[str, Leaf]) -> dict[str, Leaf]:
    """The leaves with one array for each of several equal indices, so that what is gathered by one is known to be."""
    known: list[np.ndarray] = []

    def one(index: np.ndarray) -> np.ndarray:
        for other in known:
            if other is index or np.array_equal(other, index):
                return other
        known.append(index)
        return index

    return {n: replace(f, indices=tuple(map(one, f.indices))) if isinstance(f, Gather) else f for n, f in leaves.items()}


def _floats(leaves: Collection[Leaf]) -> list[np.ndarray]:
    """The data that decide the type in which is computed: those of floating point."""
    found = [f.numbers if isinstance(f, Column) else f.X for f in leaves if isinstance(f, (Column, Dot))]
    return [a for a in found if a.dtype.kind == "f"]
