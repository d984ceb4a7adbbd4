"""The call that a sampler makes thousands of times: everything but the numbers is decided once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from ..runtime.types import Shape
from .call import GLMCall, Values
from .computation import Route
from .family import COEFFICIENTS, DESIGN, INTERCEPT
from .task import Quantity, Task

_NUMBERS = (float, int, np.float64, np.float32)


def shapes_of(values: Sequence[Any]) -> tuple[Shape | None, ...] | None:
    """What calls have in common that differ in their numbers only: the shapes of arrays, None for a number.

    None where an argument is neither a number nor a NumPy array of floating-point numbers: such a call is not repeated.
    """
    found: list[Shape | None] = []
    for value in values:
        if type(value) in _NUMBERS:
            found.append(None)
        elif type(value) is np.ndarray and value.dtype.char in "df":
            found.append(value.shape)
        else:
            return None
    return tuple(found)


class _Place(Enum):
    """Stands in what the kernel takes for what only a call has."""

    PARCEL = "the array in which all arrays of a call travel"
    SLOPES = "scratch memory for the slopes of the rows, which are then added up by group"


class _Number(NamedTuple):
    """Stands in what the kernel takes for an argument that is a number."""

    argument: int  # its place among the arguments


class _Part(NamedTuple):
    """An argument's part of the array in which all travel."""

    argument: int
    start: int
    end: int
    transposed: bool


class _Result(NamedTuple):
    """Where a derivative is found, and what it looks like.

    Attributes
    ----------
    columns : slice or None
        Of the sums of each set; None: it is what is summed by group.
    shape : tuple of int or None
        None for a number.
    by_set : bool
        Whether each set has its own; else those of all sets are added up.
    transposed : bool
        Whether its last axes are to be exchanged.
    """

    name: str
    columns: slice | None
    shape: Shape | None
    by_set: bool
    transposed: bool


def repeatable(call: GLMCall, wrt: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a `RepeatedCall` can be made of a call.

    It computes sums, also over groups, but nothing for each row; each argument has one set or all of them, and what a call does
    not give is a number.

    Parameters
    ----------
    call : GLMCall
    wrt : sequence of str
        Names of the arguments in which derivatives are wanted.
    names : sequence of str
        Those of the arguments that the call gives, in its order.
    """
    arguments = call.arguments
    by_group = arguments.kinds[INTERCEPT] is Route.GROUP and DESIGN not in wrt
    return (
        Task.of_derivatives(arguments, wrt).rows in ((), (Quantity.SLOPE,) * by_group)
        and arguments.n_sets > 0
        and Route.ROW not in arguments.kinds.values()
        and all(a.lead in ((), arguments.lead) for a in arguments.by_name.values())
        and arguments[COEFFICIENTS].lead == arguments.lead
        and all(n in names or isinstance(a.value, float) for n, a in arguments.by_name.items())
    )


class RepeatedCall:
    """The sum and its derivatives for other numbers in arguments of the same shapes. Threads may share it.

    Parameters
    ----------
    call, wrt, names
        As for `repeatable`.
    """

    def __init__(self, call: GLMCall, wrt: Sequence[str], names: Sequence[str]):
        data, arguments = call.data, call.arguments
        task, weights = Task.of_derivatives(arguments, wrt), call.weights()
        plan = call.plan(task, weights)
        self._runtime, self._dtype, self._launch = data.runtime, data.dtype, plan.launch
        self._data = data  # whose memory the kernel reads
        self._lead, self._sizes = arguments.lead, (arguments.n_sets, data.sizes.n_rows, arguments.outcomes)
        self._groups = data.groups if task.rows else None
        self._n_by_group = arguments.n_sets * self._groups.n * arguments.outcomes if self._groups else 0
        self._parts, taken = _packing(call, names)
        self._size = self._parts[-1].end
        self._values = call.kernel_values(plan, taken, (_Place.SLOPES, 0) * len(task.rows), weights)
        self._numbers = [(i, v.argument) for i, v in enumerate(self._values) if isinstance(v, _Number)]
        self._parcels = [i for i, v in enumerate(self._values) if v is _Place.PARCEL]
        self._slopes = [i for i, v in enumerate(self._values) if v is _Place.SLOPES]
        self._results = [_result(call, task, name) for name in wrt]

    def __call__(self, values: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
        """The value and the derivatives at other numbers."""
        taken = self._values.copy()
        for i, argument in self._numbers:
            value = values[argument]
            taken[i] = value.item() if type(value) is np.ndarray else float(value)
        handle, _ = self._runtime.memory(parcel := self._packed(values))
        for i in self._parcels:
            taken[i] = handle
        n_sets, n_rows, outcomes = self._sizes
        add_groups = None
        if groups := self._groups:
            slopes = self._runtime.scratch(n_sets * n_rows * outcomes * self._dtype.itemsize)
            taken[self._slopes[0]] = slopes
            add_groups = functools.partial(groups.add, (slopes, 0), self._dtype, *self._sizes)
        sums, by_group = self._launch.fetch(taken, self._n_by_group, add_groups)
        del parcel  # which the kernel may have been reading
        sums, by_group = sums.reshape(n_sets, -1), by_group.reshape(n_sets, -1)
        gradients: dict[str, Any] = {}
        for name, columns, shape, by_set, transposed in self._results:
            found = by_group if columns is None else sums[:, columns]
            if shape is None:
                gradients[name] = float(found.sum())
                continue
            if not by_set and n_sets > 1:
                found = found.sum(0)
            found = found.reshape(shape)
            gradients[name] = (found.swapaxes(-1, -2) if transposed else found).copy()
        value = sums[:, 0].reshape(self._lead).copy() if self._lead else sums.item(0)
        return value, gradients

    def _packed(self, values: Sequence[Any]) -> np.ndarray:
        """The arrays of a call as one; a new one for each call, because threads share this object."""
        packed = np.empty(self._size, self._dtype)
        for argument, start, end, transposed in self._parts:
            value = values[argument]
            packed[start:end] = (value.swapaxes(-1, -2) if transposed else value).reshape(-1)
        return packed


def _packing(call: GLMCall, names: Sequence[str]) -> tuple[list[_Part], dict[str, Values]]:
    """How arrays lie in the one in which they travel, and what the kernel takes for each argument."""
    arguments = call.arguments
    taken: dict[str, Values] = {n: (a.value,) for n, a in arguments.by_name.items()}  # defaults, where a call gives none
    parts: list[_Part] = []
    start = 0
    for i, name in enumerate(names):
        argument = arguments[name]
        if argument.kind is Route.VALUE:
            taken[name] = (_Number(i),)
        elif argument.kind is not Route.ABSENT:
            size = argument.value.size
            transposed = name == COEFFICIENTS and arguments.family.vector
            parts.append(_Part(i, start, start + size, transposed))
            taken[name] = (_Place.PARCEL, start, size // arguments.n_sets if argument.n_sets > 1 else 0)
            start += size
    return parts, taken


def _result(call: GLMCall, task: Task, name: str) -> _Result:
    arguments = call.arguments
    argument, outcomes = arguments[name], arguments.outcomes
    shape = None if isinstance(argument.value, float) else tuple(argument.value.shape)
    if name == COEFFICIENTS:
        assert shape is not None
        transposed = arguments.family.vector
        if transposed:  # as the kernel has them: an outcome's coefficients side by side
            shape = (*shape[:-2], shape[-1], shape[-2])
        return _Result(name, task.gradient_columns(outcomes), shape, True, transposed)
    columns: slice | None
    if name != INTERCEPT:
        columns = slice(task.column(name), task.column(name) + 1)
    elif argument.kind is Route.GROUP:
        columns = None
    else:
        columns = task.slope_columns(outcomes)
    return _Result(name, columns, shape, bool(argument.lead) and argument.lead == arguments.lead, False)
