"""Sums over data in calls of one kind, of which a sampler makes thousands: everything but the numbers is decided once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .pointwise import Pointwise
from .repeated import KernelValues, Number, Rows, SumReplay, aligned
from .results import as_host, output
from .starter import Starter
from .sums import LOGLIK

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import Handle


class RepeatedSum:
    """Sums of a function over the data in calls of one kind: its parameters are numbers, or have one for each observation.

    Parameters
    ----------
    function : Pointwise
        Function of numbers; with several results, where derivatives are wanted.
    runtime : Runtime
    x : ndarray or device array
        The observations, (N,).
    arguments : sequence
        The parameters of one of the calls.
    names : sequence of str
        Names of the parameters.
    wrt : sequence of str
        The parameters in which the function's results but the first are derivatives.
    """

    def __init__(
        self, function: Pointwise, runtime: Runtime, x: Any, arguments: Sequence[Any], names: Sequence[str], wrt: Sequence[str]
    ):
        values = [x, *(v if np.ndim(v) else float(v) for v in arguments)]
        placement = function.place(LOGLIK, values, runtime)
        taken: list[Any] = [*placement.arguments[0].values]
        for i, value in enumerate(values[1:]):
            taken += [Number(i)] if isinstance(value, float) else [Rows(i), 0]
        self._runtime, self._dtype, self._shape = runtime, placement.dtype, placement.pattern.shape
        self._alive = x, placement.alive[:1]  # whose memory the kernel reads: x, or the copy of it that was placed first
        self._values = KernelValues(runtime, self._dtype, taken)
        self._plan, self._n_written = function.sum_plan(placement), len(function.written(placement.operands))
        self._names, self._sizes = names, dict(zip(names, map(np.size, arguments), strict=True))
        self._wrt, self._by_row = wrt, {n for n, v in zip(names, arguments, strict=True) if np.ndim(v)}
        plan = self._plan
        self._starter = Starter(runtime, self._dtype, self._values, plan.n_sums, lambda to, taken: plan.launch(to, 0, taken))

    def start(self, arguments: Sequence[Any]) -> Callable[[], tuple[float, dict[str, Any]]]:
        """Start a call; the function returned waits and gives the sum and the derivatives."""
        if self._n_written:
            return self._start_by_row(arguments)
        wait, wrt = self._starter.start(arguments), self._wrt

        def finish() -> tuple[float, dict[str, Any]]:
            value, *totals = wait().tolist()
            return value, dict(zip(wrt, totals, strict=True))

        return finish

    def _start_by_row(self, arguments: Sequence[Any]) -> Callable[[], tuple[float, dict[str, Any]]]:
        """Start a call whose kernel also writes derivatives for each observation."""
        taken, alive = self._values.of(arguments)
        written, places = [], list[Any]()
        for _ in range(self._n_written):
            array, *place = output(self._runtime, self._shape, self._dtype, False)
            written.append(array)
            places += place
        wait = self._plan.start([*places, *taken])

        def finish() -> tuple[float, dict[str, Any]]:
            value, *totals = wait().tolist()
            alive.clear()  # which the kernel may have been reading
            rows = [as_host(self._runtime, array) for array in written]
            return value, {n: (rows if n in self._by_row else totals).pop(0) for n in self._wrt}

        return finish

    def replay(self, arguments: Sequence[Any]) -> SumReplay | None:
        """Replay by which compiled code makes such calls; None where that cannot be."""
        if self._n_written and self._dtype.itemsize == 4:  # kernels write what rows have of their own in single precision
            return None
        first, step = aligned(self._plan.n_sums), aligned(self._plan.n_rows)

        def start(found: Handle, taken: list[Any]) -> None:
            rows = (v for i in range(self._n_written) for v in (found, first + i * step))
            self._plan.launch(found, 0, [*rows, *taken])

        sums, rows, derivatives = itertools.count(1), itertools.count(first, step), {}
        for name in self._wrt:
            elements = np.arange(self._sizes[name])
            derivatives[name] = [(elements, elements + next(rows if name in self._by_row else sums))]
        return self._values.replay(self._names, arguments, first + self._n_written * step, start, derivatives)
