"""One call of a GLM: its kernel, its arguments in the kernel's terms, and the launch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..evaluation.kinds import Plans
from ..evaluation.parcel import sent_together
from ..evaluation.placement import as_read, at, device_of
from ..evaluation.results import as_host, output
from ..runtime import arrays
from ..runtime.types import Array, KernelValue, Value
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


class GLMCall:
    """One call of a GLM, with the plans of the model."""

    def __init__(self, data: GLMData, arguments: Arguments, plans: Plans[Plan]):
        self.data, self.arguments, self._plans = data, arguments, plans
        for name, argument in arguments.by_name.items():
            value = argument.value
            if arrays.is_device_array(value) and device_of([value], [name]) is not data.runtime:
                raise ValueError(f"the data lie on {data.runtime.device.id}, and an argument on another device: move it")

    def plan(self, task: Task, weights: Column | None) -> Plan:
        """Kernel for a task; pieces of a model with as many rows on the same device share kernels."""
        data, arguments = self.data, self.arguments
        own = [n for n, a in arguments.by_name.items() if a.kind is Route.ROW and a.lead and n != INTERCEPT]
        if weights is not None and weights.by_set:
            own.append(WEIGHTS)
        kind = (
            data.runtime, data.sizes.n_rows, data.design.aligned, task, *arguments.kinds.values(), tuple(own), arguments.n_sets,
            bool(arguments.lead), arguments.outcomes, weights is None,
        )  # fmt: skip
        return self._plans.plan(kind, self._new_plan, task, weights is not None, own)

    def _new_plan(self, task: Task, weighted: bool, own: Sequence[str]) -> Plan:
        """Plan of a task; `own`: arguments of the density with values for each row that differ between sets."""
        data, arguments, family = self.data, self.arguments, self.arguments.family
        codes, names = self._codes(task, weighted), family.names(weighted)
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
            bool(arguments.lead), data.design.aligned,
        )  # fmt: skip
        return launch, codes.operands

    def _codes(self, task: Task, weighted: bool) -> Codes:
        """Device functions that the kernel evaluates for each row and set."""
        arguments, family = self.arguments, self.arguments.family
        if not task.of_density:
            return predictor_alone(family.vector)
        roles = {n: arguments.kinds[n].value for n in family.parameters} | {OBSERVATIONS: Route.ROW.value}
        if weighted:
            roles[WEIGHTS] = Route.ROW.value
        wrt = [q for q in (*task.sums, *task.rows) if isinstance(q, str)]
        return family.codes(roles, wrt, task.slopes)

    def weights(self, factors: Value | None = None) -> Column | None:
        """The weights of the observations, times `factors`, (N,) or (*lead, N), if there are any."""
        data, weights = self.data, self.data.weights
        if factors is None:
            return weights
        factors = np.asarray(factors if weights is None else factors * as_host(data.runtime, weights.array), data.dtype)
        if factors.ndim > 1:
            factors = np.broadcast_to(factors, (*self.arguments.lead, data.sizes.n_rows)).reshape(self.arguments.n_sets, -1)
        return data.column(factors)

    def run(self, task: Task, weights: Column | None = None) -> Evaluated:
        """Start the kernel for a task and wait for its sums; values for each row may still be under way."""
        arguments, results = self.arguments, _RowResults(self, task)
        if not arguments.n_sets:
            columns = task.n_columns(arguments.outcomes, self.data.sizes.columns)
            return Evaluated(np.zeros((0, columns)), results.rows)
        (launch, operands), runtime = self.plan(task, weights), self.data.runtime
        on_device = _DeviceArguments(self)
        values = self.kernel_values(operands, on_device.values, results.values, weights)
        result = runtime.result(8 * max(launch.n_left, 1))
        launch.leave(result.handle, values)
        left = runtime.fetch(result).view(np.float64)[: launch.n_left]
        sums = launch.sums(left).reshape(arguments.n_sets, -1).copy()
        del on_device  # which the kernel may have been reading
        return Evaluated(sums, results.rows)

    def kernel_values(
        self, operands: Sequence[str], arguments: Mapping[str, Values], rows: Sequence[KernelValue], weights: Column | None
    ) -> list[KernelValue]:
        """Arguments of the kernel, in its order.

        `operands` are the arguments of the kernel's device function but the linear predictor. `arguments` has the kernel's
        values for each argument of the call, `rows` those for the results of each row.
        """
        data, alpha = self.data, self.arguments.kinds[INTERCEPT]
        # all sets' coefficients lie one after another
        values: list[KernelValue] = [*data.design.values, *arguments[COEFFICIENTS][:2]]
        if alpha is not Route.ABSENT:
            values += arguments[INTERCEPT]
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
                values += arguments[name]
        if operands and (dim := self.arguments.dim) is not None:
            values.append(dim)
        return values


def _in_c(quantity: Quantity | str, codes: Codes) -> str:
    return quantity.value if isinstance(quantity, Quantity) else codes.derivatives[quantity]


class _RowResults:
    """Memory for the values that a kernel writes for each row."""

    def __init__(self, call: GLMCall, task: Task):
        self.rows: dict[Quantity | str, Array] = {}  # quantity or name of an argument -> array
        self.values: list[KernelValue] = []  # kernel's values for the rows
        data, arguments = call.data, call.arguments
        for quantity in task.rows:
            # Derivatives stay on the device until it is known what they are added up to.
            for_user = quantity in (Quantity.VALUE, Quantity.PREDICTOR)
            native = arguments.native if for_user else not data.runtime.host_visible
            by_outcome = quantity in (Quantity.PREDICTOR, Quantity.SLOPE)
            shape = (arguments.n_sets, data.sizes.n_rows, *[arguments.outcomes] * by_outcome)
            self.rows[quantity], *place = output(data.runtime, shape, data.dtype, native)
            self.values += place


class _DeviceArguments:
    """Arguments of a call on the device; this object keeps their memory alive."""

    def __init__(self, call: GLMCall):
        self._data, self._arguments = call.data, call.arguments
        self._alive: list[object] = []
        self.values: dict[str, Values] = {}  # kernel's values for each argument
        small, strides, runtime = dict[str, np.ndarray](), dict[str, int](), call.data.runtime
        for name, argument in call.arguments.by_name.items():
            if argument.kind in (Route.ABSENT, Route.VALUE):
                self.values[name] = (self._number(argument),)
                continue
            array, stride = self._as_read(name, argument)
            if argument.kind is Route.SET and isinstance(array, np.ndarray):
                small[name] = array
                strides[name] = stride
            else:
                handle, offset = at(runtime, array)
                self._alive += [array, handle]
                self.values[name] = (handle, offset, stride)
        sent, alive = sent_together(runtime, small)
        self.values |= {n: (*place, strides[n]) for n, place in sent.items()}
        self._alive += alive

    def _number(self, argument: GLMArgument) -> float:
        value = argument.value
        return value if isinstance(value, float) else float(as_host(self._data.runtime, value).reshape(()))

    def _as_read(self, name: str, argument: GLMArgument) -> tuple[Array, int]:
        """Array that the kernel reads, with values for all sets or one that they share, and the distance between sets."""
        arguments, value, stride = self._arguments, argument.value, 0
        shape = argument.batch + argument.core
        if name == COEFFICIENTS or argument.n_sets > 1:
            shape = (*arguments.lead, *argument.batch[len(argument.lead) :], *argument.core)
            stride = math.prod(shape) // arguments.n_sets
        if name == COEFFICIENTS and arguments.family.vector:  # those of one outcome side by side
            value, shape = as_host(self._data.runtime, value).swapaxes(-1, -2), (*shape[:-2], shape[-1], shape[-2])
        broadcast = None if tuple(value.shape) == shape else shape
        return as_read(self._data.runtime, value, self._data.dtype, broadcast), stride
