"""Parameters of a model of rows: their shapes, and the packing of a call's numbers for the device."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..evaluation.results import as_host
from ..parallel.rows import largest
from ..runtime.replay import Given
from ..runtime.types import DType, Handle, Shape
from .leaves import Column, Dot, Gather, Leaf, PerRow, Scalar

if TYPE_CHECKING:
    from ..runtime.base import Runtime

MOST_BY_VALUE = 16  # numbers that a kernel takes one by one
LEAST_SENT_ALONE = 2048  # numbers of a parameter that travels by itself; smaller ones are copied together before

Place = tuple[Handle, int, int]  # memory, the first number in it, and how far the numbers of the next set lie away


@dataclass
class Parameter:
    """Parameter with the leaves that take values from it.

    Attributes
    ----------
    name : str
    leaves : dict
        Argument of the function, as the user knows it -> leaf.
    vectors : collection of str
        The arguments that are vectors.
    """

    name: str
    leaves: dict[str, Leaf]
    vectors: Collection[str] = ()

    def __post_init__(self) -> None:
        kinds = {self._like(leaf) + " of vectors" * (a in self.vectors): a for a, leaf in self.leaves.items()}
        if len(kinds) > 1:
            listed = ", ".join(f"{what} for {argument}" for what, argument in kinds.items())
            raise ValueError(f"{self.name} is one parameter, and cannot be {listed}")
        self.leaf = next(iter(self.leaves.values()))

    @staticmethod
    def _like(leaf: Leaf) -> str:
        match leaf:
            case Gather():
                return f"{leaf.kind} of {len(leaf.indices)} axes"
            case Dot():
                return f"{leaf.X.shape[1]} {leaf.kind}"
        return leaf.kind

    @property
    def rank(self) -> int:
        """Number of axes of the parameter's value."""
        own = len(self.leaf.indices) if isinstance(self.leaf, Gather) else 0 if isinstance(self.leaf, Scalar) else 1
        return own + self.of_vectors

    @property
    def of_vectors(self) -> bool:
        """True if the leaves are vectors: their elements are the last axis."""
        return any(a in self.vectors for a in self.leaves)

    @property
    def first(self) -> int:
        """Row of the first element, counted from the first row, of a parameter with numbers of the rows."""
        return min(leaf.offset for leaf in self.leaves.values() if isinstance(leaf, PerRow))

    def length(self, n_rows: int) -> int:
        """Number of elements of a parameter with numbers of the rows."""
        return n_rows + max(leaf.offset for leaf in self.leaves.values() if isinstance(leaf, PerRow)) - self.first

    @functools.cached_property
    def _largest(self) -> dict[str, tuple[int, ...]]:
        """Largest place in each axis of a table, by argument, -1 where there are no rows."""
        gathers = {a: leaf for a, leaf in self.leaves.items() if isinstance(leaf, Gather)}
        return {a: tuple(int(largest(index, -1, a)) for index in leaf.indices) for a, leaf in gathers.items()}

    def example_shape(self, n_rows: int, length: int) -> Shape:
        """Shape that a value may have, where vectors have some length."""
        own: Shape = ()
        match self.leaf:
            case Dot():
                own = self.leaf.X.shape[1:]
            case PerRow():
                own = (self.length(n_rows),)
            case Gather():
                own = tuple(1 + max(axis) for axis in zip(*self._largest.values(), strict=True))
        return own + (length,) * self.of_vectors

    def check(self, shape: Shape, n_rows: int) -> None:
        """Check of a value's shape: ValueError where the leaves need another one."""
        core = shape[len(shape) - self.rank :]
        if len(shape) < self.rank:
            axes = "one axis" if self.rank == 1 else f"{self.rank} axes"
            what = "a vector" if isinstance(self.leaf, Scalar) else self.leaf.kind + " of vectors" * self.of_vectors
            raise ValueError(f"{self.name} is {what}, and has {axes} at least: its shape is {shape}")
        match self.leaf:
            case Dot() if core[:1] != (k := self.leaf.X.shape[1:]):
                place = "last axis but one" if self.of_vectors else "last axis"
                raise ValueError(f"{self.name} has shape {shape}: its {place} must have the {k[0]} columns of X")
            case PerRow() if core != (n := (self.length(n_rows),)):
                raise ValueError(f"{self.name} has shape {shape}: its last axis must have {n[0]} numbers, for {n_rows} rows")
            case Gather():
                self._check_table(shape, core)

    def _check_table(self, shape: Shape, core: Shape) -> None:
        for argument, places in self._largest.items():
            for axis, place in enumerate(places):
                if place >= core[axis]:
                    raise ValueError(
                        f"{self.name} has shape {shape}, and the index of {argument} goes up to {place}: "
                        f"axis {axis} of the table must have {place + 1} elements at least"
                    )


class Packing:
    """Packing of the parameters, of the same shapes in all calls of a kind, for the way to the device.

    Parameters
    ----------
    parameters : mapping
    shapes : sequence of tuple of int
        Shapes of the values, in the order of the parameters.
    on_device : collection of str
        The parameters that are device arrays, as kernels read them.
    n_rows : int
    dtype : dtype
        Type of the computation.
    together : bool
        Whether all of them travel in one array, however many there are.

    Attributes
    ----------
    together : bool
    lead : tuple of int
        The shape of the stack of sets of parameters; () where there is one set, and no stack.
    n_sets : int
    shapes, cores : dict
        Parameter -> the shape in which it comes, and that of one value of it.
    on_device : collection of str
    by_value : bool
        Whether a kernel takes numbers by value; else they come first in the array in which all small parameters travel.
    n_by_value : int
        Number of parameters that a kernel takes by value.
    width : int
        Number of elements of a set in that array.
    """

    def __init__(
        self, parameters: Mapping[str, Parameter], shapes: Sequence[Shape], on_device: Collection[str], n_rows: int,
        dtype: DType, together: bool = False,
    ):  # fmt: skip
        self.together = together
        self.shapes, self.on_device, self.dtype = dict(zip(parameters, shapes, strict=True)), on_device, dtype
        for name, parameter in parameters.items():
            parameter.check(self.shapes[name], n_rows)
        leads = {n: self.shapes[n][: len(self.shapes[n]) - p.rank] for n, p in parameters.items()}
        try:
            self.lead = np.broadcast_shapes(*leads.values())
        except ValueError:
            listed = ", ".join(f"{n} {self.shapes[n]}" for n, its in leads.items() if its)
            raise ValueError(f"the sets of parameters must go together by NumPy's rules: {listed}") from None
        self.n_sets = math.prod(self.lead)
        self.cores = {n: self.shapes[n][len(self.shapes[n]) - p.rank :] for n, p in parameters.items()}
        numbers = [n for n, p in parameters.items() if isinstance(p.leaf, Scalar)]
        self.by_value = not (together or self.lead) and sum(math.prod(self.cores[n]) for n in numbers) <= MOST_BY_VALUE
        self._places = {n: i for i, n in enumerate(parameters)}
        self._by_value = numbers if self.by_value else []
        large = [n for n in parameters if n in on_device or math.prod(self.cores[n]) >= LEAST_SENT_ALONE]
        self._alone = [] if together else [n for n in large if n not in numbers]
        self._parts: list[tuple[int, slice, Shape]] = []
        self._starts: dict[str, int] = {}
        self.n_by_value = sum(math.prod(self.cores[n]) for n in self._by_value)
        self.width = 0
        for name in (*numbers, *(n for n in parameters if n not in numbers)):
            if name in self._by_value or name in self._alone:
                continue
            size = math.prod(self.cores[name])
            self._starts[name] = self.width
            self._parts.append((self._places[name], slice(self.width, self.width + size), (*leads[name], size)))
            self.width += size

    def sent(self, runtime: Runtime, values: Sequence[Any]) -> Sent:
        """Parameters of a call on the device."""
        dtype, alive = self.dtype, list[Any]()
        numbers: list[float] = []
        for name in self._by_value:
            value = values[self._places[name]]
            numbers += [value] if type(value) is float else value.reshape(-1).tolist()
        if dtype.itemsize == 4:
            with np.errstate(over="ignore"):
                numbers = np.asarray(numbers, dtype).tolist()
        places: dict[str, Place] = {}
        if self.width:
            packed = np.empty((*self.lead, self.width), dtype)
            for i, place, shape in self._parts:
                value = values[i]
                packed[..., place] = value if type(value) is float else value.reshape(shape)
            handle = runtime.passed(packed)
            alive += [packed, handle]
            places = self._places_behind(handle, 0)
        for name in self._alone:
            value = values[self._places[name]]
            by_set = len(self.shapes[name]) > len(self.cores[name])
            if by_set and self.shapes[name] != self.lead + self.cores[name]:
                value = np.broadcast_to(as_host(runtime, value), self.lead + self.cores[name])
            if type(value) is np.ndarray:
                value = np.ascontiguousarray(value, dtype)
            handle, offset = runtime.memory(value)
            alive += [value, handle]
            places[name] = handle, offset // dtype.itemsize, math.prod(self.cores[name]) if by_set else 0
        return Sent(numbers, places, alive)

    def given(self, handle: Handle) -> Sent:
        """Parameters of a call that is recorded, which lie one after another at a handle: see `places`."""
        return Sent([Given(i) for i in range(self.n_by_value)], self._places_behind(handle, self.n_by_value), [])

    def _places_behind(self, handle: Handle, first: int) -> dict[str, Place]:
        places = {n: (handle, first + start, self.width) for n, start in self._starts.items()}
        return {**places, "": (handle, first, self.width)}

    def places(self) -> dict[str, np.ndarray] | None:
        """Places of the parameters in the one array of all; None where they travel apart, or are a stack of sets."""
        if self._alone or self.lead:
            return None
        found, start = dict[str, np.ndarray](), 0
        for name in (*self._by_value, *self._starts):
            found[name] = np.arange(start, start := start + math.prod(self.cores[name]))
        return {n: found[n] for n in self.shapes}


class Sent(NamedTuple):
    """Parameters of a call on the device.

    Attributes
    ----------
    numbers : list of float or Given
        Numbers that kernels take by value.
    places : dict
        Parameter -> where it lies; "" -> where what are numbers begin, where a kernel takes these from an array.
    alive : list
        Objects that the caller holds until the kernels are done.
    """

    numbers: Sequence[float | Given]
    places: dict[str, Place]
    alive: list[Any]


def parameters_of(leaves: Mapping[str, Leaf], vectors: Collection[str] = ()) -> dict[str, Parameter]:
    """Parameters of the leaves, in the order of the function's arguments."""
    found: dict[str, dict[str, Leaf]] = {}
    for argument, leaf in leaves.items():
        if not isinstance(leaf, Column):
            found.setdefault(leaf.of or argument, {})[argument] = leaf
    return {name: Parameter(name, its, vectors) for name, its in found.items()}


def shape_of(value: Any) -> Shape:
    """Shape of a parameter's value in a call."""
    return () if type(value) is float else tuple(value.shape)


def along_of(parameter: str) -> str:
    """Name of the components of a direction in a parameter; none of a user's, since it is no name in C."""
    return f"{parameter}'"
