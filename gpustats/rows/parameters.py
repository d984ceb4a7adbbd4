"""Parameters of a model of rows: their shapes, and the packing of a call's numbers for the device."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.parcel import Parcel
from ..evaluation.slots import Number, Packed, Rows, Slots
from ..parallel.rows import largest
from ..runtime import thresholds
from ..runtime.cached import cached_property
from ..runtime.types import DType, KernelValue, Shape, Value
from .leaves import Column, Dot, Gather, Leaf, PerRow, Scalar, Sequences, SparseDot, StepGather, place_of_step

if TYPE_CHECKING:
    from ..runtime.base import Runtime

MOST_BY_VALUE = thresholds.ROWS_MOST_BY_VALUE.value  # numbers that a kernel takes one by one
#: Numbers of a parameter that travels by itself; smaller ones are copied together before.
LEAST_SENT_ALONE = thresholds.ROWS_LEAST_SENT_ALONE.value


@dataclass
class Parameter:
    """Parameter with the leaves that take values from it."""

    name: str
    leaves: dict[str, Leaf]  # argument of the function, as the user knows it -> leaf
    vectors: Collection[str] = ()  # the arguments that are vectors

    def __post_init__(self) -> None:
        kinds = {self._like(leaf) + " of vectors" * (a in self.vectors): a for a, leaf in self.leaves.items()}
        if len(kinds) > 1:
            listed = ", ".join(f"{what} for {argument}" for what, argument in kinds.items())
            raise ValueError(f"{self.name} is one parameter, and cannot be {listed}")
        self.leaf = next(iter(self.leaves.values()))

    @staticmethod
    def _like(leaf: Leaf) -> str:
        match leaf:
            case Gather() | StepGather():
                return f"{leaf.kind} of {len(leaf.indices)} axes"
            case Dot() | SparseDot():
                return f"{leaf.X.shape[1]} {leaf.kind}"
        return leaf.kind

    @property
    def rank(self) -> int:
        """Number of axes of the parameter's value."""
        if isinstance(self.leaf, Gather | StepGather):
            return len(self.leaf.indices) + self.of_vectors
        return (not isinstance(self.leaf, Scalar)) + self.of_vectors

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

    @cached_property
    def _largest(self) -> dict[str, tuple[int, ...]]:
        """Largest place in each axis of a table, by argument, -1 where there are no rows."""
        gathers = {a: leaf for a, leaf in self.leaves.items() if isinstance(leaf, Gather | StepGather)}
        return {a: tuple(int(largest(index, -1, a)) for index in leaf.indices) for a, leaf in gathers.items()}

    def example_shape(self, n_rows: int, length: int) -> Shape:
        """Shape that a value may have, where vectors have some length."""
        own: Shape = ()
        match self.leaf:
            case Dot() | SparseDot():
                own = self.leaf.X.shape[1:]
            case PerRow():
                own = (self.length(n_rows),)
            case Gather() | StepGather():
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
            case Dot() | SparseDot() if core[:1] != (k := self.leaf.X.shape[1:]):
                place = "last axis but one" if self.of_vectors else "last axis"
                raise ValueError(f"{self.name} has shape {shape}: its {place} must have the {k[0]} columns of X")
            case PerRow() if core != (n := (self.length(n_rows),)):
                raise ValueError(f"{self.name} has shape {shape}: its last axis must have {n[0]} numbers, for {n_rows} rows")
            case Gather() | StepGather():
                self._check_table(shape, core)

    def _check_table(self, shape: Shape, core: Shape) -> None:
        for argument, places in self._largest.items():
            for axis, place in enumerate(places):
                if place >= core[axis]:
                    where = self._where(argument, axis)
                    raise ValueError(
                        f"{self.name} has shape {shape}, and the index of {argument} goes up to {place}{where}: "
                        f"axis {axis} of the table must have {place + 1} elements at least"
                    )


    def _where(self, argument: str, axis: int) -> str:
        """Words for the sequence in which the largest index stands."""
        leaf = self.leaves[argument]
        if not isinstance(leaf, StepGather):
            return ""
        return f", in sequence {place_of_step(leaf.offsets, int(leaf.indices[axis].argmax()))[0]}"


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

    Attributes
    ----------
    lead : tuple of int
        The shape of the stack of sets of parameters; () where there is one set, and no stack.
    n_sets : int
    shapes, cores : dict
        Parameter -> the shape in which it comes, and that of one value of it.
    on_device : collection of str
    by_value : bool
        Whether a kernel takes numbers by value; else they come first in the array in which all small parameters travel.
    n_by_value : int
        Number of values that a kernel takes by value: the first of the slots.
    at : dict
        Parameter -> its handle, its offset and the distance between sets among the slots; "" -> those of all numbers, where a
        kernel takes these from an array.
    """

    def __init__(
        self, parameters: Mapping[str, Parameter], shapes: Sequence[Shape], on_device: Collection[str], n_rows: int,
        dtype: DType,
    ):  # fmt: skip
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
        sizes = {n: math.prod(core) for n, core in self.cores.items()}
        numbers = [n for n, p in parameters.items() if isinstance(p.leaf, Scalar)]
        away = [n for n in numbers if n in on_device]
        self.by_value = not self.lead and not away and sum(sizes[n] for n in numbers) <= MOST_BY_VALUE
        by_value, place = numbers if self.by_value else [], {n: i for i, n in enumerate(parameters)}
        alone = [n for n in parameters if n not in numbers and (n in on_device or sizes[n] >= LEAST_SENT_ALONE)]
        together = [n for n in (*numbers, *(n for n in parameters if n not in numbers)) if n not in (*by_value, *alone)]
        self._parcel, self.at = Parcel(dtype, self.lead), dict[str, slice]()
        self._by_set, self._native = [place[n] for n in alone if leads[n]], [place[n] for n in away]
        starts = {n: self._parcel.add(place[n], sizes[n], leads[n]) for n in together}
        self._slots: list[KernelValue] = [Number(place[n], element) for n in by_value for element in range(sizes[n])]
        self.n_by_value = len(self._slots)
        for name, start in [("", 0), *starts.items()] if starts else []:
            self._add(name, Packed(), start, self._parcel.width)
        for name in alone:
            own, stack = self.shapes[name], self.lead + self.cores[name]
            by_set = len(own) > len(self.cores[name])
            self._add(name, Rows(place[name], stack if by_set and own != stack else None), sizes[name] if by_set else 0)

    def _add(self, name: str, *slots: KernelValue) -> None:
        """Add the slots of a parameter, which stand for three values."""
        first = self.n_by_value + 3 * len(self.at)
        self.at[name] = slice(first, first + 3)
        self._slots += slots

    def slots(self, runtime: Runtime) -> Slots:
        """Slots of the parameters on a device."""
        return Slots(runtime, self.dtype, self._slots, self._parcel, self._by_set, self._native)


def parameters_of(leaves: Mapping[str, Leaf], vectors: Collection[str] = ()) -> dict[str, Parameter]:
    """Parameters of the leaves, in the order of the function's arguments."""
    found: dict[str, dict[str, Leaf]] = {}
    for argument, leaf in leaves.items():
        if not isinstance(leaf, Column | Sequences):
            found.setdefault(leaf.of or argument, {})[argument] = leaf
    return {name: Parameter(name, its, vectors) for name, its in found.items()}


def shape_of(value: Value) -> Shape:
    """Shape of a parameter's value in a call."""
    return () if type(value) is float else tuple(value.shape)


def along_of(parameter: str) -> str:
    """Name of the components of a direction in a parameter; none of a user's, since it is no name in C."""
    return f"{parameter}'"
