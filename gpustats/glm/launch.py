"""Launches of a GLM's kernels: the plan of each kind of call, the arguments as kernels take them, and the results' memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..evaluation.kinds import Plans
from ..evaluation.parcel import sent_together
from ..evaluation.placement import as_read, device_of
from ..evaluation.results import as_host, output
from ..runtime import arrays
from ..runtime.types import Array, KernelValue, Shape
from . import kernel
from .arguments import Arguments, GLMArgument, Route
from .data import Column, GLMData
from .family import COEFFICIENTS, INTERCEPT, OBSERVATIONS, WEIGHTS, Codes, predictor_alone
from .task import Computation, Quantity, Task

#: Kernel's values for an argument: a number; or a handle, an offset, and the distance to the next set's values.
Values = tuple[KernelValue, ...]
#: Launch of a task's kernel, and the arguments of its device function but the linear predictor, in their order.
Plan: TypeAlias = "tuple[kernel.Launch, tuple[str, ...]]"


class Evaluated(NamedTuple):
    """Results of a kernel."""

    sums: np.ndarray  # (sets, columns): see `Task`
    rows: dict[Quantity | str, Array]  # values for each row, (sets, N) or, where the quantity has outcomes, (sets, N, C)


class Launcher:
    """Launcher of a GLM's kernels on the device of its data; models with as many rows there may share the `plans`.

    If `same_bits`, what a set of parameters gets does not depend on the other sets of a call.
    """

    def __init__(self, data: GLMData, plans: Plans[Plan], same_bits: bool = False):
        self.data, self._plans, self._same_bits = data, plans, same_bits

    def run_task(self, arguments: Arguments, task: Task, weights: Column | None = None) -> Evaluated:
        """Start the kernel for a task and wait for its sums; values for each row may still be under way."""
        data, runtime = self.data, self.data.runtime
        for name, argument in arguments.by_name.items():
            if arrays.is_device_array(argument.value) and device_of([argument.value], [name]) is not runtime:
                raise ValueError(f"the data lie on {runtime.device.id}, and an argument on another device: move it")
        rows, places = _rows_of(task, arguments, data)
        if not arguments.n_sets:
            return Evaluated(np.zeros((0, task.n_columns(arguments.outcomes, data.sizes.columns))), rows)
        launch, operands = self.plan(arguments, task, weights)
        placed, alive = _placed(arguments, data)
        values = self.kernel_values(arguments, operands, placed, places, weights)
        result = runtime.result(8 * max(launch.n_left, 1))
        launch.leave(result.handle, values)
        left = runtime.fetch(result).view(np.float64)[: launch.n_left]
        sums = launch.sums(left).reshape(arguments.n_sets, -1).copy()
        del alive  # which the kernel may have been reading
        return Evaluated(sums, rows)

    def plan(self, arguments: Arguments, task: Task, weights: Column | None) -> Plan:
        """Kernel for a task; pieces of a model with as many rows on the same device share kernels."""
        data = self.data
        own = [n for n, a in arguments.by_name.items() if a.kind is Route.ROW and a.lead and n != INTERCEPT]
        if weights is not None and weights.by_set:
            own.append(WEIGHTS)
        kind = (
            data.runtime, data.sizes.n_rows, data.design.aligned, task, *arguments.kinds.values(), tuple(own), arguments.n_sets,
            bool(arguments.lead), arguments.outcomes, weights is None,
        )  # fmt: skip
        return self._plans.plan(kind, _new_plan, data, arguments, task, weights is not None, own, self._same_bits)

    def kernel_values(
        self, arguments: Arguments, operands: Sequence[str], placed: Mapping[str, Values], rows: Sequence[KernelValue],
        weights: Column | None,
    ) -> list[KernelValue]:  # fmt: skip
        """Arguments of the kernel, in its order.

        `operands` are the arguments of the kernel's device function but the linear predictor. `placed` has the kernel's
        values for each argument of the call, `rows` those for the results of each row.
        """
        data, alpha = self.data, arguments.kinds[INTERCEPT]
        # all sets' coefficients lie one after another
        values: list[KernelValue] = [*data.design.values, *placed[COEFFICIENTS][:2]]
        if alpha is not Route.ABSENT:
            values += placed[INTERCEPT]
        if alpha is Route.GROUP:
            assert data.groups is not None
            values += data.groups.values
        if data.offset is not None:
            values += data.offset.values
        values += rows
        for name in operands:
            if name == OBSERVATIONS:
                values += (*data.y.values, 0)
            elif name == WEIGHTS:
                assert weights is not None
                values += (*weights.values, data.sizes.n_rows if weights.by_set else 0)
            else:
                values += placed[name]
        if operands and (dim := arguments.dim) is not None:
            values.append(dim)
        return values


def _new_plan(
    data: GLMData, arguments: Arguments, task: Task, weighted: bool, own: Sequence[str], same_bits: bool
) -> Plan:
    """Plan of a task; `own`: arguments of the density with values for each row that differ between sets."""
    family = arguments.family
    codes, names = _codes(arguments, task, weighted), family.names(weighted)
    computation = Computation(
        data.sizes.columns,
        arguments.outcomes,
        family.vector and task.of_density,
        arguments.kinds[INTERCEPT],
        data.offset is not None,
        sums=tuple(_in_c(q, codes) for q in task.sums),
        rows=tuple(_in_c(q, codes) for q in task.rows),
        slope=codes.slope,
        slope_sums=task.slope_sums,
        gradient=task.gradient,
        own_rows=tuple(names[n] for n in own),
    )
    launch = kernel.launch(
        data.runtime, data.dtype, f"{family.density.name}_glm", computation, codes, data.sizes.n_rows, arguments.n_sets,
        bool(arguments.lead), data.design.aligned, same_bits,
    )  # fmt: skip
    return launch, codes.operands


def _codes(arguments: Arguments, task: Task, weighted: bool) -> Codes:
    """Device functions that the kernel evaluates for each row and set."""
    family = arguments.family
    if not task.of_density:
        return predictor_alone(family.vector)
    roles = {n: arguments.kinds[n].value for n in family.parameters} | {OBSERVATIONS: Route.ROW.value}
    if weighted:
        roles[WEIGHTS] = Route.ROW.value
    wrt = [q for q in (*task.sums, *task.rows) if isinstance(q, str)]
    return family.codes(roles, wrt, task.slopes)


def _in_c(quantity: Quantity | str, codes: Codes) -> str:
    return quantity.value if isinstance(quantity, Quantity) else codes.derivatives[quantity]


def _rows_of(task: Task, arguments: Arguments, data: GLMData) -> tuple[dict[Quantity | str, Array], list[KernelValue]]:
    """Arrays for the values that a kernel writes for each row, and the kernel's values for them."""
    rows, places = dict[Quantity | str, Array](), list[KernelValue]()
    for quantity in task.rows:
        # Derivatives stay on the device until it is known what they are added up to.
        for_user = quantity in (Quantity.VALUE, Quantity.PREDICTOR)
        native = arguments.native if for_user else not data.runtime.host_visible
        by_outcome = quantity in (Quantity.PREDICTOR, Quantity.SLOPE)
        shape = (arguments.n_sets, data.sizes.n_rows, *[arguments.outcomes] * by_outcome)
        rows[quantity], *place = output(data.runtime, shape, data.dtype, native)
        places += place
    return rows, places


def _placed(arguments: Arguments, data: GLMData) -> tuple[dict[str, Values], list[object]]:
    """The kernel's values for each argument, and what keeps their memory alive; arrays of the host by set travel together."""
    values, alive = dict[str, Values](), list[object]()
    small, strides, runtime = dict[str, np.ndarray](), dict[str, int](), data.runtime
    for name, argument in arguments.by_name.items():
        value = argument.value
        if argument.kind in (Route.ABSENT, Route.VALUE):
            values[name] = (value if isinstance(value, float) else float(as_host(runtime, value).reshape(())),)
            continue
        shape, strides[name] = _read_shape(arguments, name, argument)
        if name == COEFFICIENTS and arguments.family.vector:  # those of one outcome side by side
            value, shape = as_host(runtime, value).swapaxes(-1, -2), (*shape[:-2], shape[-1], shape[-2])
        array = as_read(runtime, value, data.dtype, None if tuple(value.shape) == shape else shape)
        if argument.kind is Route.SET and isinstance(array, np.ndarray):
            small[name] = array
        else:
            handle, offset = runtime.memory(array)
            alive += [array, handle]
            values[name] = (handle, offset, strides[name])
    sent, held = sent_together(runtime, small)
    return values | {n: (*place, strides[n]) for n, place in sent.items()}, alive + held


def _read_shape(arguments: Arguments, name: str, argument: GLMArgument) -> tuple[Shape, int]:
    """Shape of the array that kernels read, with values for all sets or one that they share, and the distance between sets."""
    if name != COEFFICIENTS and argument.n_sets <= 1:
        return argument.batch + argument.core, 0
    shape = (*arguments.lead, *argument.batch[len(argument.lead) :], *argument.core)
    return shape, math.prod(shape) // arguments.n_sets
