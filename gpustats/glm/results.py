"""Results of a call of a GLM, from the sums and rows of its kernel: values, and derivatives like its arguments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..evaluation.gradient import gradient_of, reduced
from ..evaluation.placement import gather
from ..evaluation.results import as_host, deliver, like
from ..runtime.types import Array, Value
from .arguments import Arguments, GLMArgument, Route
from .data import Column, GLMData
from .family import COEFFICIENTS, DESIGN, INTERCEPT, OBSERVATIONS
from .launch import Evaluated, Launcher
from .task import PREDICTOR_ALONE, VALUE_BY_ROW, Quantity, Task


class Evaluator:
    """Evaluator of a GLM by the kernels of this folder; each method takes the arguments of a call, checked."""

    def __init__(self, launcher: Launcher):
        self._launcher, self._data = launcher, launcher.data

    def value_and_grad(
        self, arguments: Arguments, wrt: Sequence[str], weights: Column | None = None
    ) -> tuple[Value, dict[str, Value]]:
        """The summed log-density and its derivatives in the arguments `wrt`.

        The `weights` stand for those of the data, by default these.
        """
        weights, task, lead = weights or self._data.weights, task_of(arguments, wrt), arguments.lead
        evaluated = self._launcher.run_task(arguments, task, weights)
        derivatives = _Derivatives(self._data, arguments, task, weights, evaluated)
        found = {name: derivatives.like_argument(name) for name in wrt}
        value = evaluated.sums[:, task.column(Quantity.VALUE)]
        return (value.reshape(lead).copy() if lead else float(value[0])), found

    def logpdf(self, arguments: Arguments) -> Array:
        """The log-density of each row."""
        return self._by_row(arguments, VALUE_BY_ROW, Quantity.VALUE)

    def linear_predictor(self, arguments: Arguments) -> Array:
        """The linear predictor of each row."""
        return self._by_row(arguments, PREDICTOR_ALONE, Quantity.PREDICTOR, *[arguments.outcomes] * arguments.family.vector)

    def on_host(self) -> dict[str, np.ndarray]:
        """Data on the host, in the type of the computation."""
        return self._data.on_host()

    def _by_row(self, arguments: Arguments, task: Task, quantity: Quantity, *core: int) -> Array:
        data = self._data
        rows = self._launcher.run_task(arguments, task, data.weights if task.of_density else None).rows[quantity]
        return deliver(data.runtime, rows.reshape(*arguments.lead, data.sizes.n_rows, *core), arguments.native)


def task_of(arguments: Arguments, wrt: Sequence[str]) -> Task:
    """Task for the value, and for the sums and rows that give the derivatives in `wrt`."""
    kinds, ranks = arguments.kinds, arguments.family.ranks
    numbers = [n for n in wrt if ranks.get(n) == 0]
    vectors = [n for n in wrt if ranks.get(n)]
    by_row = [n for n in numbers if kinds[n] is Route.ROW] + [OBSERVATIONS] * (OBSERVATIONS in wrt)
    shared_intercept = kinds[INTERCEPT] not in (Route.ROW, Route.GROUP)
    slope_rows = DESIGN in wrt or (INTERCEPT in wrt and not shared_intercept)
    return Task(
        sums=(Quantity.VALUE, *(n for n in numbers if n not in by_row)),
        # A vector's derivative is evaluated at the linear predictor, after the kernel.
        rows=(*[Quantity.SLOPE] * slope_rows, *[Quantity.PREDICTOR] * bool(vectors), *by_row),
        slope_sums=INTERCEPT in wrt and shared_intercept,
        gradient=COEFFICIENTS in wrt,
    )


class _Derivatives:
    """Derivatives of a call's value, from the results of the kernel for the task; `weights` are those of the rows in this call.
    """

    def __init__(self, data: GLMData, arguments: Arguments, task: Task, weights: Column | None, evaluated: Evaluated):
        self._data, self._arguments, self._task, self._weights = data, arguments, task, weights
        self._sums, self._rows = evaluated

    def like_argument(self, name: str) -> Value:
        """Derivative in an argument as a number, NumPy or device array, as the argument is; in data as beta is."""
        result, runtime = self._derivative(name), self._data.runtime
        if name in (DESIGN, OBSERVATIONS):
            return like(runtime, result, self._arguments[COEFFICIENTS].value)
        argument = self._arguments[name].value
        return like(runtime, result.reshape(() if isinstance(argument, float) else argument.shape), argument)

    def _derivative(self, name: str) -> Array:
        if name == COEFFICIENTS:
            return self._in_coefficients()
        if name == INTERCEPT:
            return self._in_intercept()
        if name == DESIGN:
            return self._in_design(self._rows[Quantity.SLOPE])
        if name == OBSERVATIONS:
            return self._by_row(self._rows[name], GLMArgument(self._data.y.array, Route.ROW, (), ())).reshape(-1)
        argument = self._arguments[name]
        if argument.core:
            return self._in_vector(name)
        if argument.kind is Route.ROW:
            return self._by_row(self._rows[name], argument)
        return self._added(self._sums[:, self._task.column(name)], argument)

    # -- sums and rows of all sets, added up over the sets that share an argument

    def _added(self, sums: np.ndarray, argument: GLMArgument, *axes: int) -> np.ndarray:
        """Sums for an argument, each with some `axes`, added up over the sets that share the argument."""
        lead, axes = self._arguments.lead, axes or (1,)
        found = sums.reshape(*lead, *axes)
        return found.copy() if argument.lead == lead else reduced(found, (*argument.lead, *axes))

    def _by_row(self, rows: Array, argument: GLMArgument) -> Array:
        """Derivative by row, added up over the sets that share the argument."""
        if argument.n_sets == self._arguments.n_sets:
            return rows
        found = self._added(as_host(self._data.runtime, rows), argument, self._data.sizes.n_rows, *argument.core)
        return found.astype(self._data.dtype, copy=False)

    # -- derivatives in the kinds of arguments

    def _in_coefficients(self) -> np.ndarray:
        arguments, vector = self._arguments, self._arguments.family.vector
        sums = self._sums[:, self._task.gradient_columns(arguments.outcomes)]
        by_outcome = [arguments.outcomes] * vector
        found = self._added(sums, arguments[COEFFICIENTS], *by_outcome, self._data.sizes.columns)
        return np.ascontiguousarray(found.swapaxes(-1, -2)) if vector else found

    def _in_intercept(self) -> Array:
        alpha, outcomes = self._arguments[INTERCEPT], self._arguments.outcomes
        if alpha.kind is Route.ROW:
            return self._by_row(self._rows[Quantity.SLOPE], alpha)
        if alpha.kind is Route.GROUP:
            groups, data = self._data.groups, self._data
            assert groups is not None
            slopes, n_sets = self._rows[Quantity.SLOPE], self._arguments.n_sets
            sums = groups.sums(slopes, data.dtype, n_sets, data.sizes.n_rows, outcomes)
            return self._added(sums, alpha, groups.n, *alpha.core)
        sums = self._sums[:, self._task.slope_columns(outcomes)]
        return self._added(sums, alpha, 1, outcomes) if alpha.core else self._added(sums.sum(1), alpha)

    def _in_design(self, slopes: Array) -> Array:
        """Derivative in X: the slopes of all sets and outcomes times their coefficients."""
        from .. import linalg  # NumPy's and the device's libraries take long to import

        data, arguments = self._data, self._arguments
        n_rows, k, n_sets = data.sizes.n_rows, data.sizes.columns, arguments.n_sets
        if not n_rows * n_sets:
            return np.zeros((n_rows, k), data.dtype)
        beta = arguments[COEFFICIENTS]
        host = np.broadcast_to(as_host(data.runtime, beta.value), (*arguments.lead, *beta.core)).astype(data.dtype)
        host = np.ascontiguousarray(host.swapaxes(-1, -2) if arguments.family.vector else host).reshape(-1, k)
        by_set = slopes.reshape(n_sets, n_rows, arguments.outcomes)
        if isinstance(slopes, np.ndarray):
            return linalg.matmul(by_set.transpose((1, 0, 2)).reshape(n_rows, -1), host)
        if n_sets > 1:
            by_set = gather(data.runtime, by_set.transpose((1, 0, 2)), data.dtype)
        return linalg.matmul(by_set.reshape(n_rows, -1), data.runtime.to_device(host))

    def _in_vector(self, name: str) -> np.ndarray:
        """Derivative in a vector parameter: that of the density, at the linear predictor that the kernel has written."""
        data, arguments, family = self._data, self._arguments, self._arguments.family
        rows = (*arguments.lead, data.sizes.n_rows)
        values = {n: arguments[n].value for n in family.parameters}
        values[family.eta] = self._rows[Quantity.PREDICTOR].reshape(rows)
        given = [data.y.array, *(values[n] for n in family.density.parameters)]
        if self._weights is not None:
            weights = self._weights.array
            given.append(weights.reshape(rows) if self._weights.by_set else weights)
        term = family.term(self._weights is not None)
        found: np.ndarray = gradient_of(term, (name,))(given, data.runtime)[1][name]
        return found
