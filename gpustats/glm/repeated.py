"""The call that a sampler makes thousands of times: everything but the numbers is decided once."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels.code import PER_SET, VALUE
from .family import COEFFICIENTS, DESIGN, INTERCEPT

if TYPE_CHECKING:
    from .call import Call

_NUMBERS = (float, int, np.float64, np.float32)


def kinds_of(values: Sequence[Any]) -> tuple[Any, ...] | None:
    """What calls have in common that differ in the numbers only; None where an argument is neither number nor NumPy array."""
    found: list[Any] = []
    for v in values:
        if type(v) in _NUMBERS:
            found.append(None)
        elif type(v) is np.ndarray and v.dtype.char in "df":
            found.append(v.shape)
        else:
            return None
    return tuple(found)


class _Hole(Enum):
    """Places in what the kernel takes that each call fills."""

    ARRAY = "the array that travels"
    SLOPES = "derivatives for each row, which are summed by group"


class _Number(NamedTuple):
    """A place for a number that is an argument."""

    argument: int


class Repeated:
    """The sum and its derivatives for arguments of the shapes that `call` has.

    Parameters
    ----------
    call : Call
        One that `suits`.
    wrt : sequence of str
        Names of arguments.
    names : sequence of str
        Those that a call gives, in its order.
    """

    def __init__(self, call: Call, wrt: Sequence[str], names: Sequence[str]):
        self._runtime, self._dtype = call.runtime, call.dtype
        kinds, task, weights = call.kinds, call.task(wrt), call.weights()
        self._launch, order = call.plan(task, weights)
        self._groups = call.glm._groups if task.rows else None
        self._rows = call.n_sets, call.glm.n_rows, call.outcomes
        self._lead, self._alive = call.lead, weights
        self._parts: list[tuple[int, int, int, bool]] = []  # (argument, where it lies in the array, whether transposed)
        self._size = 0  # of the array that travels
        places: dict[str, tuple[Any, ...]] = {n: (v,) for n, v in call.values.items()}  # defaults, where a call gives none
        for i, name in enumerate(names):
            a = call.arguments[name]
            if name == COEFFICIENTS or kinds[name] in (PER_SET, "group"):
                flipped = name == COEFFICIENTS and call.family.vector
                places[name] = _Hole.ARRAY, self._size, a.value.size // call.n_sets if math.prod(a.lead) > 1 else 0
                self._parts.append((i, self._size, self._size + a.value.size, flipped))
                self._size += a.value.size
            elif kinds[name] == VALUE:
                places[name] = (_Number(i),)
        self._values = call.kernel_values(order, places, (_Hole.SLOPES, 0) * len(task.rows), weights)
        self._numbers = [(place, v.argument) for place, v in enumerate(self._values) if isinstance(v, _Number)]
        self._handles = [place for place, v in enumerate(self._values) if v is _Hole.ARRAY]
        self._slopes = [place for place, v in enumerate(self._values) if v is _Hole.SLOPES]
        self._n_grouped = call.n_sets * self._groups.n * call.outcomes if self._groups else 0
        self._results = [self._result(call, name, task) for name in wrt]

    @staticmethod
    def suits(call: Call, wrt: Sequence[str], names: Sequence[str]) -> bool:
        """Whether there are sums only, also over groups, each argument has one set or all of them, and defaults are numbers."""
        grouped = call.kinds[INTERCEPT] == "group" and DESIGN not in wrt
        return (
            call.task(wrt).rows in ((), ("slope",) * grouped)
            and call.n_sets > 0
            and set(call.kinds.values()) <= {"", VALUE, PER_SET, "group"}
            and all(a.lead in ((), call.lead) for a in call.arguments.values())
            and all(n in names or isinstance(v, float) for n, v in call.values.items())
            and call.arguments[COEFFICIENTS].lead == call.lead
        )

    def __call__(self, values: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
        """The value and the derivatives at other numbers."""
        given = self._values.copy()
        for place, i in self._numbers:
            given[place] = values[i].item() if type(values[i]) is np.ndarray else float(values[i])
        handle, _ = self._runtime.memory(packed := self._packed(values))
        for place in self._handles:
            given[place] = handle
        n_sets, n_rows, outcomes = self._rows
        then = None
        if groups := self._groups:
            slopes = self._runtime.scratch(n_sets * n_rows * outcomes * self._dtype.itemsize)
            given[self._slopes[0]] = slopes
            then = functools.partial(groups.add, (slopes, 0), self._dtype, *self._rows)
        sums, grouped = (a.reshape(n_sets, -1) for a in self._launch.fetch(given, self._n_grouped, then))
        del packed  # which the kernel may have been reading
        gradients: dict[str, Any] = {}
        for name, columns, shape, own, flipped in self._results:
            found = grouped if columns is None else sums[:, columns]
            if shape is None:
                gradients[name] = float(found.sum())
                continue
            if not own and n_sets > 1:
                found = found.sum(0)
            found = found.reshape(shape)
            gradients[name] = found.swapaxes(-1, -2).copy() if flipped else found.copy()
        value = sums[:, 0].reshape(self._lead).copy() if self._lead else sums.item(0)
        return value, gradients

    def _packed(self, values: Sequence[Any]) -> np.ndarray:
        """The arrays that travel, as one; a new one for each call, because threads share this object."""
        packed = np.empty(self._size, self._dtype)
        for i, start, end, flipped in self._parts:
            value = values[i]
            packed[start:end] = (value.swapaxes(-1, -2) if flipped else value).reshape(-1)
        return packed

    def _result(self, call: Call, name: str, task: Any) -> tuple[str, slice | None, Any, bool, bool]:
        """(name, columns of the sums, shape of the result or None for a number, whether for each set, whether transposed).

        Columns are None for what is summed by group.
        """
        a, n_terms = call.arguments[name], len(task.sums)
        n_sums = n_terms + call.outcomes * task.slope_sums
        if name == COEFFICIENTS:
            vector = call.family.vector
            shape = (*a.value.shape[:-2], *a.value.shape[:-3:-1]) if vector else a.value.shape
            return name, slice(n_sums, None), shape, True, vector
        columns: slice | None = slice(n_terms, n_sums)
        if name != INTERCEPT:
            columns = slice(task.sums.index(name), task.sums.index(name) + 1)
        if isinstance(a.value, float):
            return name, columns, None, False, False
        if name == INTERCEPT and call.kinds[name] == "group":
            columns = None
        return name, columns, a.value.shape, a.lead == call.lead and bool(a.lead), False
