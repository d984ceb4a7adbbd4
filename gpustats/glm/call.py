"""One call of a GLM: its arguments in the kernel's terms, and the kernel's launch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..evaluation.kinds import Plans
from ..evaluation.parcel import sent_together
from ..evaluation.placement import as_read, at, device_of
from ..evaluation.results import as_host, output
from ..runtime import arrays
from ..runtime.types import Array, KernelValue, Value
from .arguments import Arguments, GLMArgument
from .computation import Route
from .data import Column, GLMData
from .family import COEFFICIENTS, INTERCEPT, OBSERVATIONS, WEIGHTS
from .plan import Plan, plan_of
from .task import Quantity, Task

#: Kernel's values for an argument: a number; or a handle, an offset, and the distance to the next set's values.
Values = tuple[KernelValue, ...]


class Evaluated(NamedTuple):
    """Results of a kernel.

    Attributes
    ----------
    sums : ndarray
        (sets, columns): see `Task`.
    rows : dict
        Values for each row, (sets, N) or, where the quantity has outcomes, (sets, N, C).
    """

    sums: np.ndarray
    rows: dict[Quantity | str, Array]


class GLMCall:
    """One call of a GLM.

    Parameters
    ----------
    data : GLMData
    arguments : Arguments
    plans : Plans
        Plans of the model.
    """

    def __init__(self, data: GLMData, arguments: Arguments, plans: Plans[Plan]):
        self.data, self.arguments, self._plans = data, arguments, plans
        for name, argument in arguments.by_name.items():
            value = argument.value
            if arrays.is_device_array(value) and device_of([value], [name]) is not data.runtime:
                raise ValueError(f"the data lie on {data.runtime.device.id}, and an argument on another device: move it")

    def plan(self, task: Task, weights: Column | None) -> Plan:
        """The kernel for a task."""
        return plan_of(self._plans, task, self.arguments, self.data, weights)

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

        Parameters
        ----------
        operands : sequence of str
            Arguments of the kernel's device function but the linear predictor.
        arguments : mapping
            Kernel's values for each argument of the call.
        rows : sequence
            Kernel's values for the results of each row.
        weights : Column or None
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


class _RowResults:
    """Memory for the values that a kernel writes for each row.

    Attributes
    ----------
    rows : dict
        Quantity or name of an argument -> array.
    values : list
        Kernel's values for the rows.
    """

    def __init__(self, call: GLMCall, task: Task):
        self.rows: dict[Quantity | str, Array] = {}
        self.values: list[KernelValue] = []
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
    """Arguments of a call on the device; this object keeps their memory alive.

    Attributes
    ----------
    values : dict
        Kernel's values for each argument.
    """

    def __init__(self, call: GLMCall):
        self._data, self._arguments = call.data, call.arguments
        self._alive: list[object] = []
        self.values: dict[str, Values] = {}
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
