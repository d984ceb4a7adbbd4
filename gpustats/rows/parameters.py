"""The parameters of a model of rows: their shapes, and how the numbers of a call travel to the device."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..runtime import arrays
from ..runtime.transfers import to_host
from ..runtime.types import DType, Shape
from .leaves import Column, Dot, Gather, Leaf, PerRow, Scalar


@dataclass
class Parameter:
    """A parameter, and the leaves that are made of it.

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
        """How many axes a value of it has."""
        own = len(self.leaf.indices) if isinstance(self.leaf, Gather) else 0 if isinstance(self.leaf, Scalar) else 1
        return own + self.of_vectors

    @property
    def of_vectors(self) -> bool:
        """Whether its leaves are vectors: their elements are the last axis."""
        return any(a in self.vectors for a in self.leaves)

    @property
    def first(self) -> int:
        """Of numbers of the rows: which one the first element is, counted from that of the first row."""
        return min(leaf.offset for leaf in self.leaves.values() if isinstance(leaf, PerRow))

    def length(self, n_rows: int) -> int:
        """Of numbers of the rows: how many elements it has."""
        return n_rows + max(leaf.offset for leaf in self.leaves.values() if isinstance(leaf, PerRow)) - self.first

    def example_shape(self, n_rows: int, length: int) -> Shape:
        """A shape that a value may have, where vectors have some length."""
        own: Shape = ()
        match self.leaf:
            case Dot():
                own = self.leaf.X.shape[1:]
            case PerRow():
                own = (self.length(n_rows),)
            case Gather():
                gathers = [leaf for leaf in self.leaves.values() if isinstance(leaf, Gather)]
                axes = zip(*(leaf.indices for leaf in gathers), strict=True)
                own = tuple(1 + max(int(index.max(initial=0)) for index in axis) for axis in axes)
        return own + (length,) * self.of_vectors

    def check(self, shape: Shape, n_rows: int) -> None:
        """ValueError where a value has another shape than its leaves need."""
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
        for argument, leaf in self.leaves.items():
            assert isinstance(leaf, Gather)
            for axis, index in enumerate(leaf.indices):
                if index.size and (largest := int(index.max())) >= core[axis]:
                    raise ValueError(
                        f"{self.name} has shape {shape}, and the index of {argument} goes up to {largest}: "
                        f"axis {axis} of the table must have {largest + 1} elements at least"
                    )


@dataclass
class Packed:
    """The numbers of a call.

    Attributes
    ----------
    lead : tuple of int
        The shape of the sets of parameters; () where there is one.
    numbers : ndarray
        (sets, numbers of a set).
    starts : dict
        Parameter -> where its numbers begin in a set.
    shapes, cores : dict
        Parameter -> the shape in which it came, and that of one value of it.
    """

    lead: Shape
    numbers: np.ndarray
    starts: dict[str, int]
    shapes: dict[str, Shape]
    cores: dict[str, Shape]


def parameters_of(leaves: Mapping[str, Leaf], vectors: Collection[str] = ()) -> dict[str, Parameter]:
    """The parameters that leaves are made of, in the order of the function's arguments."""
    found: dict[str, dict[str, Leaf]] = {}
    for argument, leaf in leaves.items():
        if not isinstance(leaf, Column):
            found.setdefault(leaf.of or argument, {})[argument] = leaf
    return {name: Parameter(name, its, vectors) for name, its in found.items()}


def packed(parameters: Mapping[str, Parameter], values: Sequence[Any], n_rows: int, dtype: DType) -> Packed:
    """The numbers of a call as one array: parameters that are numbers come first.

    Parameters
    ----------
    parameters : mapping
    values : sequence
        Those of the parameters, in their order.
    n_rows : int
    dtype : dtype
        What the kernel computes in.
    """
    hosts: list[np.ndarray] = []
    shapes: dict[str, Shape] = {}
    for (name, parameter), value in zip(parameters.items(), values, strict=True):
        found = arrays.as_array(value, name)
        host = to_host(found) if arrays.is_device_array(found) else np.asarray(found)
        parameter.check(host.shape, n_rows)
        hosts.append(host)
        shapes[name] = host.shape
    leads = {n: shapes[n][: len(shapes[n]) - p.rank] for n, p in parameters.items()}
    try:
        lead = np.broadcast_shapes(*leads.values())
    except ValueError:
        listed = ", ".join(f"{n} {shapes[n]}" for n, its in leads.items() if its)
        raise ValueError(f"the sets of parameters must go together by NumPy's rules: {listed}") from None
    starts, start = dict[str, int](), 0
    cores = {n: shapes[n][len(shapes[n]) - p.rank :] for n, p in parameters.items()}
    for name in sorted(cores, key=lambda n: not isinstance(parameters[n].leaf, Scalar)):
        starts[name] = start
        start += math.prod(cores[name])
    numbers = np.empty((*lead, start), dtype)
    for name, host in zip(cores, hosts, strict=True):
        size = math.prod(cores[name])
        numbers[..., starts[name] : starts[name] + size] = host.reshape(*leads[name], size)
    return Packed(lead, numbers.reshape(math.prod(lead), start), starts, shapes, cores)
