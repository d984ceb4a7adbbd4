"""Sheets: the data of all leaves on a device, with their rows in one order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.placement import at
from ..runtime.host_memory import contiguous
from .leaves import Column, Dot, Gather, Leaf, PerRow, Scalar
from .segments import Segments

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from .binding import Binding

_TYPES = {"float64": "double", "float32": "float", "int32": "int", "uint8": "unsigned char"}
LONGEST = {"cpu": 1 << 14, "gpu": 1 << 12}  # rows of a segment


@dataclass
class KernelLeaf:
    """A leaf as the template has it.

    Attributes
    ----------
    name, c_type : str
        Of the argument, in C.
    value : callable
        The C for the argument in the row that it takes the C for.
    declared, begun : list of str
        What the kernel takes for it, and the statements at its beginning.
    by_segment : bool
        Whether all rows of a segment have the same value.
    columns : int
        Of a dot product, else 0.
    parameter : str
        What it is made of; "" for data.
    values : list
        What the kernel takes, with names of parameters where their place in the array of parameters stands, and with a name
        and a number where an extent of a table does.
    """

    name: str
    c_type: str
    value: Callable[[str], str]
    declared: list[str] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)
    by_segment: bool = False
    columns: int = 0
    parameter: str = ""
    values: list[Any] = field(default_factory=list)

    @property
    def here(self) -> str:
        return f"{self.name}_here"


class Groups:
    """The rows by what elements of a table they have.

    Parameters
    ----------
    indices : sequence of (N,) int32 array
        The place of each row, for each axis of the table.
    runtime : Runtime

    Attributes
    ----------
    places : tuple of arrays
        The elements of the table that stand for the groups, as NumPy's advanced indexing takes them.
    segments : Segments
    """

    def __init__(self, indices: Sequence[np.ndarray], runtime: Runtime):
        n = int(indices[0].max(initial=-1)) + 1
        self.places: tuple[Any, ...]
        if len(indices) == 1 and n <= 2 * len(indices[0]) + 1000:
            groups, self.places = indices[0], (slice(0, n),)
        else:
            found, groups = np.unique(np.stack(indices), axis=1, return_inverse=True)
            groups, n, self.places = groups.reshape(-1), found.shape[1], tuple(found.astype(np.intp))
        self.segments = Segments(groups, n, runtime, LONGEST[runtime.device.type])


class Sheet:
    """The data of all leaves, with their rows in one order.

    Parameters
    ----------
    bound : Binding
    runtime : Runtime
    indices : sequence of (N,) int32 array
        Those of a table: rows of the same element of it stand together. Where there are none, the rows stand as they came.

    Attributes
    ----------
    groups : Groups or None
    leaves : list of KernelLeaf
        Of all arguments that are not numbers.
    indices : list
        What a kernel takes for the indices of all tables.
    """

    def __init__(self, bound: Binding, runtime: Runtime, indices: Sequence[np.ndarray] = ()):
        self.runtime, self.dtype = runtime, bound.dtype
        self.groups = Groups(indices, runtime) if indices else None
        self._order = self.groups.segments.order if self.groups else None
        self._alive: list[Any] = []
        self._known: list[tuple[np.ndarray, int]] = []
        self.indices: list[Any] = []
        self.leaves: list[KernelLeaf] = []
        for name, leaf in bound.leaves.items():
            if isinstance(leaf, Scalar):
                continue
            made = self._leaf(name, leaf, bound.types[name], bound.made_of.get(name, ""))
            if isinstance(leaf, Gather):
                made.by_segment = [id(a) for a in leaf.indices] == [id(a) for a in indices]
            self.leaves.append(made)

    def _leaf(self, name: str, leaf: Leaf, c_type: str, parameter: str) -> KernelLeaf:
        made = KernelLeaf(name, c_type, lambda n: f"({c_type}){name}_column[{n}]", parameter=parameter)
        if isinstance(leaf, Column):
            made.declared, made.values = self._columns(f"{name}_column", leaf.numbers)
            made.begun = [f"{name}_column += {name}_column_offset;"]
            return made
        made.declared, made.values = [f"index_t {name}_start"], [parameter]
        if isinstance(leaf, Dot):
            made.columns = leaf.X.shape[1]
            declared, values = self._columns(f"{name}_columns", leaf.X.T.astype(self.dtype, copy=False))
            made.declared += declared
            made.values += values
            made.begun = [f"{name}_columns += {name}_columns_offset;"]
        elif isinstance(leaf, Gather):
            place = f"(index_t)index{self._index(leaf.indices[0])}[%s]"
            for axis, index in enumerate(leaf.indices[1:], 1):
                made.declared.append(f"int {name}_extent{axis}")
                made.values.append((parameter, axis))
                place = f"({place}) * {name}_extent{axis} + index{self._index(index)}[%s]"
            made.value = lambda n: f"parameters[{name}_start + {place.replace('%s', n)}]"
        elif isinstance(leaf, PerRow):
            made.values = [(parameter, "row", leaf.offset)]
            row = "{}"
            if self._order is not None:
                row = f"index{self._index(self._order_as_index)}[{{}}]"
            made.value = lambda n: f"parameters[{name}_start + {row.format(n)}]"
        return made

    @property
    def _order_as_index(self) -> np.ndarray:
        """The place of each row before it was moved, which is itself to be moved with its row: a row's number."""
        assert self._order is not None
        if not hasattr(self, "_numbers"):
            self._numbers = np.arange(len(self._order), dtype=np.int32)
        return self._numbers

    def _index(self, index: np.ndarray) -> int:
        """The number of an index among those that the kernel takes."""
        for known, number in self._known:
            if known is index:
                return number
        self._known.append((index, len(self._known)))
        self.indices += self._placed(index)
        return len(self._known) - 1

    def _columns(self, name: str, numbers: np.ndarray) -> tuple[list[str], list[Any]]:
        c_type = _TYPES[numbers.dtype.name]
        return [f"GLOBAL const {c_type} *RESTRICT {name}", f"index_t {name}_offset"], self._placed(numbers)

    def _placed(self, numbers: np.ndarray) -> list[Any]:
        """An array as a kernel takes it, its last axis in the order of the rows; nobody else changes it."""
        if self._order is not None:
            numbers = numbers[..., self._order]
        host = contiguous(numbers, numbers.dtype, copy=self._order is None)
        array = host if self.runtime.host_visible else self.runtime.to_device(host)
        handle, offset = at(self.runtime, array)
        self._alive += [array, handle]
        return [handle, offset]
