"""Sums over data in calls of one kind, of which a sampler makes thousands."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .pointwise import Pointwise
from .repeated import Kept, KeptPlaces, RepeatedCall, Result, Results, Work
from .slots import Number, Rows, Slots
from .sums import LOGLIK

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import Handle, KernelValue, Value


def repeated_sum(
    function: Pointwise, runtime: Runtime, x: Value, arguments: Sequence[Value], names: Sequence[str], wrt: Sequence[str]
) -> RepeatedCall[tuple[float, dict[str, Value]]]:
    """Repeated call of the sum of a function over data, and of its derivatives.

    Parameters
    ----------
    function : Pointwise
        Function of numbers; with several results, where derivatives are wanted.
    runtime : Runtime
    x : ndarray or device array
        The observations, (N,).
    arguments : sequence
        The parameters of one of the calls: numbers, or arrays with one for each observation.
    names : sequence of str
        Names of the parameters.
    wrt : sequence of str
        The parameters in which the function's results but the first are derivatives.
    """
    values = [x, *(v if np.ndim(v) else float(v) for v in arguments)]
    placement = function.place(LOGLIK, values, runtime)
    taken: list[KernelValue] = [*placement.arguments[0].values]
    for i, value in enumerate(values[1:]):
        taken += [Number(i)] if isinstance(value, float) else [Rows(i), 0]
    sums = function.sum_launch(placement)
    by_row = [n for n, v in zip(names, arguments, strict=True) if np.ndim(v)]
    results, n_sums, n_kept = list[Result](), itertools.count(1), itertools.count()
    for name in wrt:
        if name in by_row:
            results.append(Result(name, np.arange(x.shape[0])[None], x.shape, kept=next(n_kept)))
        else:
            results.append(Result(name, np.array([[next(n_sums)]])))
    kept = [Kept(placement.pattern.shape, placement.dtype)] * next(n_kept)

    def launch(found: Handle, taken: list[KernelValue], rows: KeptPlaces) -> None:
        sums.launch(found, 0, [*itertools.chain(*rows), *taken])

    alive = x, placement.alive[:1]  # whose memory the kernel reads: x, or the copy of it that was placed first
    slots = Slots(runtime, placement.dtype, taken)
    work, read = Work(sums.n_sums, launch), Results(results)
    return RepeatedCall(slots, work, read, names, results=read, kept=kept, alive=alive)
