"""Sums over data in calls of one kind, which a sampler makes thousands of times: everything but the numbers is decided once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .pointwise import Pointwise
from .repeated import KernelValues, Number, Rows, SumReplay, aligned
from .results import as_host, output
from .sums import LOGLIK

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import Handle


class RepeatedSum:
    """The sums of a function over the data in calls of one kind: its parameters are numbers, or have one for each observation.

    Parameters
    ----------
    function : Pointwise
        Of numbers; with several results, where derivatives are wanted.
    runtime : Runtime
    x : ndarray or device array
        The observations, (N,).
    arguments : sequence
        The parameters of one of the calls.
    names : sequence of str
        Those of the parameters.

    Attributes
    ----------
    by_row : set of str
        The parameters with one number for each observation.
    """

    def __init__(self, function: Pointwise, runtime: Runtime, x: Any, arguments: Sequence[Any], names: Sequence[str]):
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
        self.by_row = {n for n, v in zip(names, arguments, strict=True) if np.ndim(v)}

    def start(self, arguments: Sequence[Any]) -> Callable[[], tuple[np.ndarray, list[np.ndarray]]]:
        """Start them; what waits gives the sums, a view to be read at once, and what is written for each observation."""
        taken, alive = self._values.of(arguments)
        written, places = [], list[Any]()
        for _ in range(self._n_written):
            array, *place = output(self._runtime, self._shape, self._dtype, False)
            written.append(array)
            places += place
        wait = self._plan.start([*places, *taken])

        def finish() -> tuple[np.ndarray, list[np.ndarray]]:
            sums = wait()
            alive.clear()  # which the kernel may have been reading
            return sums, [as_host(self._runtime, array) for array in written]

        return finish

    def replay(self, arguments: Sequence[Any], wrt: Sequence[str]) -> SumReplay | None:
        """What lets compiled code make such calls, with derivatives in `wrt`; None where that cannot be."""
        if self._n_written and self._dtype.itemsize == 4:  # kernels write what rows have of their own in single precision
            return None
        first, step = aligned(self._plan.n_sums), aligned(self._plan.n_rows)

        def start(found: Handle, taken: list[Any]) -> None:
            rows = (v for i in range(self._n_written) for v in (found, first + i * step))
            self._plan.launch(found, 0, [*rows, *taken])

        sums, rows, derivatives = itertools.count(1), itertools.count(first, step), {}
        for name in wrt:
            elements = np.arange(self._sizes[name])
            derivatives[name] = [(elements, elements + next(rows if name in self.by_row else sums))]
        return self._values.replay(self._names, arguments, first + self._n_written * step, start, derivatives)
