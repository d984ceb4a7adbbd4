"""Calls of a GLM that differ in their numbers only: see `evaluation.repeated`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.repeated import KernelValues, Number, Packed, Part, Scratch, SumReplay
from ..evaluation.starter import Starter
from ..runtime.types import DType, Handle, Shape
from .call import GLMCall, Values
from .computation import Route
from .family import COEFFICIENTS, DESIGN, INTERCEPT
from .groups import Groups
from .kernel import Launch
from .task import Quantity, Task


class _Result(NamedTuple):
    """Place of a derivative among the sums, and its shape.

    Attributes
    ----------
    columns : slice or None
        Place among the sums of each set; None: among the sums by group.
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
    """True if a `RepeatedCall` can be made of a call.

    A repeatable call computes sums, also over groups, but nothing for each row; each argument has one set or all of them, and
    an argument that the call does not give is a number.

    Parameters
    ----------
    call : GLMCall
    wrt : sequence of str
        Names of the arguments in which derivatives are wanted.
    names : sequence of str
        Names of the arguments that the call gives, in its order.
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
    """Sum and derivatives for other numbers in arguments of the same shapes. Threads may share it.

    Parameters
    ----------
    call, wrt, names
        As for `repeatable`.
    """

    def __init__(self, call: GLMCall, wrt: Sequence[str], names: Sequence[str]):
        data, arguments = call.data, call.arguments
        task, weights = Task.of_derivatives(arguments, wrt), call.weights()
        plan = call.plan(task, weights)
        self._dtype, self._launch = data.dtype, plan.launch
        self._data = data  # whose memory the kernel reads
        self._lead, self._sizes = arguments.lead, (arguments.n_sets, data.sizes.n_rows, arguments.outcomes)
        self._groups = data.groups if task.rows else None
        self._n_by_group = arguments.n_sets * self._groups.n * arguments.outcomes if self._groups else 0
        slopes = Scratch(math.prod(self._sizes) * data.dtype.itemsize)  # of the rows, which are then added up by group
        parts, taken = _packing(call, names)
        values = call.kernel_values(plan, taken, (slopes, 0) * len(task.rows), weights)
        self._values, self._names = KernelValues(data.runtime, data.dtype, values, parts), names
        self._results = [_result(call, task, name) for name in wrt]
        slopes_at = self._values.scratch[0] if task.rows else -1
        self._kernels = _Kernels(plan.launch, self._groups, slopes_at, data.dtype, self._sizes)
        self._n_left = plan.launch.n_left
        self._starter = Starter(
            data.runtime, data.dtype, self._values, self._n_left + self._n_by_group, self._kernels.leave
        )

    def start(self, values: Sequence[Any]) -> Callable[[], tuple[Any, dict[str, Any]]]:
        """Start a call with other numbers; returns the wait for value and derivatives."""
        wait = self._starter.start(values)
        return lambda: self._found(wait())

    def _found(self, left: np.ndarray) -> tuple[Any, dict[str, Any]]:
        """Value and derivatives, from the numbers of the kernels."""
        n_sets, n = self._sizes[0], self._n_left
        sums, by_group = self._launch.sums(left[:n]).reshape(n_sets, -1), left[n : n + self._n_by_group].reshape(n_sets, -1)
        gradients: dict[str, Any] = {}
        for name, columns, shape, by_set, transposed in self._results:
            found = by_group if columns is None else sums[:, columns]
            if shape is None and found.size == 1:
                gradients[name] = found.item()
                continue
            if shape is None:
                gradients[name] = float(found.sum(1).sum())  # in the order of `results`
                continue
            if not by_set and n_sets > 1:
                found = found.sum(0)
            found = found.reshape(shape)
            gradients[name] = (found.swapaxes(-1, -2) if transposed else found).copy()
        value = sums[:, 0].reshape(self._lead).copy() if self._lead else sums.item(0)
        return value, gradients

    def replay(self, values: Sequence[Any]) -> SumReplay | None:
        """Replay of such calls in compiled code; None where they need Python, as for a stack of sets of parameters."""
        if self._lead or not self._launch.n_sums:
            return None
        launch, n_found = self._launch, self._launch.n_sums + self._n_by_group
        derivatives = {}
        for name, columns, shape, _, transposed in self._results:
            places = np.arange(launch.n_sums)[columns] if columns is not None else np.arange(launch.n_sums, n_found)
            if transposed and shape is not None:
                places = places.reshape(shape).swapaxes(-1, -2).ravel()
            elements = np.zeros(len(places), int) if shape is None else np.arange(len(places))
            derivatives[name] = [(elements, places)]
        return self._values.replay(self._names, values, n_found, self._kernels.sum, derivatives)


class _Kernels(NamedTuple):
    """Kernels of a call.

    Attributes
    ----------
    launch : Launch
    groups : Groups or None
        Where the slopes of the rows are added up by group: the rows of each.
    slopes : int
        The place of these slopes in what the kernel takes.
    dtype : dtype
    sizes : tuple of int
        Sets, rows, outcomes.
    """

    launch: Launch
    groups: Groups | None
    slopes: int
    dtype: DType
    sizes: tuple[int, int, int]

    def leave(self, out: Handle, taken: list[Any]) -> None:
        """Start the kernels that write to `out` the partial sums, which the host adds up, then the sums of groups."""
        self.launch.leave(out, taken)
        self._add_groups(out, self.launch.n_left, taken)

    def sum(self, out: Handle, taken: list[Any]) -> None:
        """Start the kernels that write to `out` the sums, then the sums of groups."""
        self.launch.start(out, taken)
        self._add_groups(out, self.launch.n_sums, taken)

    def _add_groups(self, out: Handle, place: int, taken: list[Any]) -> None:
        if self.groups is not None:
            self.groups.add((taken[self.slopes], 0), self.dtype, *self.sizes, out, place)


def _packing(call: GLMCall, names: Sequence[str]) -> tuple[list[Part], dict[str, Values]]:
    """Parts of the one array in which arguments travel, and the kernel's values for each argument."""
    arguments = call.arguments
    taken: dict[str, Values] = {n: (a.value,) for n, a in arguments.by_name.items()}  # defaults, where a call gives none
    parts: list[Part] = []
    start = 0
    for i, name in enumerate(names):
        argument = arguments[name]
        if argument.kind is Route.VALUE:
            taken[name] = (Number(i),)
        elif argument.kind is not Route.ABSENT:
            size = argument.value.size
            transposed = name == COEFFICIENTS and arguments.family.vector
            parts.append(Part(i, start, start + size, transposed))
            taken[name] = (Packed(), start, size // arguments.n_sets if argument.n_sets > 1 else 0)
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
