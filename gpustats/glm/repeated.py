"""Calls of a GLM that differ in their numbers only: see `evaluation.repeated`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..evaluation.parcel import Parcel
from ..evaluation.repeated import KeptPlaces, RepeatedCall, Result, Results, Work
from ..evaluation.slots import Number, Packed, Scratch, Slots
from ..runtime.types import Array, DType, Handle, Value
from .arguments import Arguments, Route
from .family import COEFFICIENTS, DESIGN, INTERCEPT
from .launch import Launcher, Values
from .results import task_of
from .task import Quantity, Task


def repeatable(arguments: Arguments, wrt: Sequence[str], names: Sequence[str]) -> bool:
    """True if a `repeated` call can be made of a call with such arguments.

    A repeatable call computes sums, also over groups, but nothing for each row; each argument has one set or all of them, and
    an argument that the call does not give is a number.

    Parameters
    ----------
    arguments : Arguments
    wrt : sequence of str
        Names of the arguments in which derivatives are wanted.
    names : sequence of str
        Names of the arguments that the call gives, in its order.
    """
    by_group = arguments.kinds[INTERCEPT] is Route.GROUP and DESIGN not in wrt
    return (
        task_of(arguments, wrt).rows in ((), (Quantity.SLOPE,) * by_group)
        and arguments.n_sets > 0
        and Route.ROW not in arguments.kinds.values()
        and all(a.lead in ((), arguments.lead) for a in arguments.by_name.values())
        and arguments[COEFFICIENTS].lead == arguments.lead
        and all(n in names or isinstance(a.value, float) for n, a in arguments.by_name.items())
    )


def repeated(
    launcher: Launcher, arguments: Arguments, wrt: Sequence[str], names: Sequence[str]
) -> RepeatedCall[tuple[Value, dict[str, Value]]]:
    """Repeated call of the sum and its derivatives, for arguments like these: see `repeatable`.

    The slopes of the rows, where there are groups, are added up by group on the device.
    """
    data, task = launcher.data, task_of(arguments, wrt)
    weights, runtime, dtype = data.weights, data.runtime, data.dtype
    kernel, operands = launcher.plan(arguments, task, weights)
    sizes, groups = (arguments.n_sets, data.sizes.n_rows, arguments.outcomes), data.groups if task.rows else None
    n_by_group = arguments.n_sets * groups.n * arguments.outcomes if groups else 0
    parcel, taken = _packed(arguments, names, dtype)
    slopes = (Scratch(math.prod(sizes) * dtype.itemsize), 0) * len(task.rows)
    by_set = [i for i, name in enumerate(names) if arguments[name].n_sets > 1]
    slots = Slots(runtime, dtype, launcher.kernel_values(arguments, operands, taken, slopes, weights), parcel, by_set)

    def add_groups(found: Handle, place: int, values: list[Value]) -> None:
        if groups is not None:
            groups.add((values[slots.scratch[0]], 0), dtype, *sizes, found, place)

    def leave(found: Handle, values: list[Value], kept: KeptPlaces) -> None:
        kernel.leave(found, values)
        add_groups(found, kernel.n_left, values)

    def sum_up(found: Handle, values: list[Value], kept: KeptPlaces) -> None:
        kernel.start(found, values)
        add_groups(found, kernel.n_sums, values)

    sums = np.arange(kernel.n_sums).reshape(arguments.n_sets, -1)
    by_group = np.arange(kernel.n_sums, kernel.n_sums + n_by_group).reshape(arguments.n_sets, -1)
    results = Results(
        [_result(arguments, task, name, sums, by_group) for name in wrt], sums[:, 0],
        arguments.lead or None,
    )  # fmt: skip

    def read(left: np.ndarray, kept: Sequence[Array]) -> tuple[Value, dict[str, Value]]:
        if not kernel.on_host:
            return results(left)
        added = kernel.sums(left[: kernel.n_left]).reshape(-1)
        return results(added if groups is None else np.concatenate([added, left[kernel.n_left :]]))

    return RepeatedCall(
        slots, Work(kernel.n_left + n_by_group, leave), read, names, results=results,
        summed=Work(kernel.n_sums + n_by_group, sum_up), alive=data,
    )  # fmt: skip


def _packed(arguments: Arguments, names: Sequence[str], dtype: DType) -> tuple[Parcel, dict[str, Values]]:
    """Parcel of the arguments of a call, and the kernel's values for each argument."""
    parcel = Parcel(dtype)
    taken: dict[str, Values] = {n: (a.value,) for n, a in arguments.by_name.items()}  # defaults, where a call gives none
    for i, name in enumerate(names):
        argument = arguments[name]
        if argument.kind is Route.VALUE:
            taken[name] = (Number(i),)
        elif argument.kind is not Route.ABSENT:
            size = argument.value.size
            start = parcel.add(i, size, transposed=name == COEFFICIENTS and arguments.family.vector)
            taken[name] = (Packed(), start, size // arguments.n_sets if argument.n_sets > 1 else 0)
    return parcel, taken


def _result(arguments: Arguments, task: Task, name: str, by_set: np.ndarray, by_group: np.ndarray) -> Result:
    """Derivative in an argument, from the places of all sums, and of all sums over groups, of each set."""
    argument, outcomes = arguments[name], arguments.outcomes
    shape = None if isinstance(argument.value, float) else tuple(argument.value.shape)
    if name == COEFFICIENTS:
        places = by_set[:, task.gradient_columns(outcomes)]
        if arguments.family.vector:  # the kernel has an outcome's coefficients side by side
            places = places.reshape(len(places), outcomes, -1).swapaxes(-1, -2).reshape(len(places), -1)
    elif name != INTERCEPT:
        places = by_set[:, task.column(name), None]
    else:
        places = by_group if argument.kind is Route.GROUP else by_set[:, task.slope_columns(outcomes)]
    return Result(name, places, shape)
