"""Sum of a device function with its first and second derivatives: those in what varies with the rows by row, one pass."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..rewriting.differentiate import VALUE, derivative_name, gradient
from ..runtime.arrays import is_device_array
from ..runtime.base import Runtime
from ..runtime.types import Value
from .gradient import Summed
from .pointwise import Pointwise
from .results import as_host


class SecondOrder(NamedTuple):
    """Value, and derivatives by the names of the arguments: numbers, or (N,) where one of them varies with the rows.

    These are device arrays where the arguments are.
    """

    value: float
    first: dict[str, Any]
    second: dict[tuple[str, str], Any]  # of each pair of arguments, in one of the two orders


def second_order(
    function: Pointwise, values: Sequence[Value], wrt: Collection[str], by_row: Collection[str], runtime: Runtime,
    second: bool = True,
) -> SecondOrder:  # fmt: skip
    """Sum of a function of numbers over the rows, with its derivatives.

    Parameters
    ----------
    function : Pointwise
    values : sequence
        Numbers, and arrays (N,), in the order of its arguments.
    wrt : collection of str
        Arguments that are no whole numbers.
    by_row : collection of str
        Those of `wrt` that are arrays, in which derivatives are wanted for each row.
    runtime : Runtime
    second : bool
        Whether second derivatives are wanted.
    """
    order = tuple([n for n in wrt if n not in by_row] + [n for n in wrt if n in by_row])
    known: dict[Any, Any] = function.made["second order"]
    if (order, second) not in known:
        known[order, second] = _Derivatives(function, order, second)
    made: _Derivatives = known[order, second]
    return made(values, by_row, runtime)


class _Derivatives:
    """Derivatives in some arguments, of which those that are wanted by row stand last."""

    def __init__(self, function: Pointwise, wrt: Sequence[str], second: bool):
        names, functions = [function.c_name(n) for n in wrt], dict(function.functions)
        made = gradient(function.function, names, functions)
        results = [(VALUE, ""), *((derivative_name(c), n) for c, n in zip(names, wrt, strict=True))]
        self._first = {n: derivative_name(c) for c, n in zip(names, wrt, strict=True)}
        self._second: dict[tuple[str, str], str] = {}
        if second:
            made = gradient(made, names, functions)
            for i, own in enumerate(names):
                for j in range(i + 1):
                    self._second[wrt[i], wrt[j]] = name = derivative_name(names[j], derivative_name(own))
                    results.append((name, wrt[i]))
        self._summed = Summed(function, made, functions, results)

    def __call__(self, values: Sequence[Value], by_row: Collection[str], runtime: Runtime) -> SecondOrder:
        placement, sums, rows = self._summed.evaluate(values, runtime)
        n_alone = min(placement.pattern.n_rows, 1)  # a row that is alone, or none, is summed

        native = [n for n, v in zip(self._summed.argument_names, values, strict=True) if is_device_array(v)]

        def found(result: str, names: Collection[str]) -> Any:
            if result in rows:
                row = rows[result].reshape(-1)
                return row if any(n in native for n in names if n in by_row) else as_host(runtime, row)
            number = float(sums[result][0])
            return np.full(n_alone, number) if any(n in by_row for n in names) else number

        return SecondOrder(
            float(sums[VALUE][0]),
            {n: found(result, (n,)) for n, result in self._first.items()},
            {pair: found(result, pair) for pair, result in self._second.items()},
        )
