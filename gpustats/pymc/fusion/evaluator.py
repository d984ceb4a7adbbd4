"""A sum over rows in a graph: from PyTensor's arrays to its value and gradients on a device, whichever linker calls."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.gradient import grad
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace

from ...rows.model import Rows
from ..evaluation.forked import survives_fork
from .program import Program, program_of
from .scalar_ops import Unsupported


class RowsEvaluator:
    """A program's sum and gradients, at arrays of its inputs and of data that may change.

    Where the data have changed since the program was made, or the shapes of the inputs, another one is made of the same graph.

    Parameters
    ----------
    program : Program
    inner_inputs : sequence of Variable
        Those of `inner_term`: one for each of the program's inputs, then the data that may change.
    inner_term : Variable
        What is summed.
    data : sequence of ndarray
        The data for which the program is.
    """

    def __init__(self, program: Program, inner_inputs: Sequence[Variable], inner_term: Variable, data: Sequence[np.ndarray]):
        self.program, self.inner_inputs, self.inner_term = program, list(inner_inputs), inner_term
        self.n_inputs = len(program.inputs)
        self._data = [np.array(d) for d in data]
        self._seen: Sequence[Any] = self._data
        self._shared: list[Any] = []  # the variables that hold the data, in the process where they were made
        self._shapes: tuple | None = None
        self._fitted: _ByRows | _ByPyTensor = _ByRows(program, range(self.n_inputs))
        self._lock = threading.Lock()

    @classmethod
    def of(cls, program: Program, term: Variable, data: Sequence[Any]) -> RowsEvaluator:
        """The evaluator of a program that was made of a term with these shared variables as data."""
        variables = [*program.inputs, *data]
        own = [v.type(v.name) for v in variables]
        (inner,) = clone_replace([term], dict(zip(variables, own, strict=True)), rebuild_strict=False)
        made = cls(program, own, inner, [v.get_value(borrow=True) for v in data])
        made._shared = list(data)
        return made

    def __reduce__(self) -> tuple:
        return type(self), (self.program, self.inner_inputs, self.inner_term, self._data)

    def as_held(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The arrays of a call from compiled code, with those of shared variables as the arrays that these hold."""
        held = [v.container.storage[0] for v in self._shared]
        data = [
            mine if isinstance(mine, np.ndarray) and _is_same_memory(mine, a) else a
            for mine, a in zip(held, arrays[self.n_inputs :], strict=True)
        ] if held else arrays[self.n_inputs :]
        return [*arrays[: self.n_inputs], *data]

    @survives_fork
    def sums(self, arrays: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        """[the sum, its derivatives in the inputs at the places `wrt`]."""
        inputs, data = arrays[: self.n_inputs], arrays[self.n_inputs :]
        shapes = tuple([a.shape for a in inputs])
        if shapes != self._shapes or not all([a is b for a, b in zip(data, self._seen, strict=True)]):
            self._fit(shapes, data)
        return self._fitted.sums(inputs, data, wrt)

    def _fit(self, shapes: tuple, data: Sequence[np.ndarray]) -> None:
        """A program for inputs of these shapes and for these data, if that at hand is none."""
        with self._lock:
            known = self.program.shapes if self._shapes is None else self._shapes
            same_data = all(a.shape == b.shape and np.array_equal(a, b) for a, b in zip(data, self._data, strict=True))
            if not same_data or not all(map(_fits, shapes, known)) or not self.program.reaches_within(shapes):
                self._data = [np.array(d) for d in data]
                self._fitted = self._refitted(shapes)
            self._shapes, self._seen = shapes, list(data)

    def _refitted(self, shapes: Sequence[tuple[int, ...]]) -> _ByRows | _ByPyTensor:
        own, data = self.inner_inputs[: self.n_inputs], self.inner_inputs[self.n_inputs :]
        try:
            program = program_of(
                self.inner_term, dict(zip(data, self._data, strict=True)), dict(zip(own, shapes, strict=True))
            )
        except Unsupported:
            return _ByPyTensor(self.inner_inputs, self.inner_term)
        return _ByRows(program, [own.index(v) for v in program.inputs])


def _is_same_memory(a: np.ndarray, b: np.ndarray) -> bool:
    return a.ctypes.data == b.ctypes.data and a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype


def _fits(shape: tuple[int, ...], known: tuple[int | None, ...]) -> bool:
    return len(shape) == len(known) and all(k is None or s == k for s, k in zip(shape, known, strict=True))


class _ByRows:
    """The sum by a program.

    Parameters
    ----------
    program : Program
    places : sequence of int
        For each of its inputs, which array of a call it is.
    """

    def __init__(self, program: Program, places: Sequence[int]):
        self._program = program
        self._parameters = [(p.name, places[p.input], p.pick) for p in program.parameters]
        self._rows: Rows | None = None

    def sums(self, inputs: Sequence[np.ndarray], data: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        if self._rows is None:
            self._rows = Rows(self._program.source, **self._program.leaves)
        values = {name: _part(inputs[i], pick) for name, i, pick in self._parameters}
        names = [name for name, i, _ in self._parameters if i in wrt]
        if not names:
            return [np.asarray(self._rows(**values)), *(np.zeros(inputs[i].shape) for i in wrt)]
        value, found = self._rows.value_and_grad(wrt=names, **values)
        if self._program.checked_rows and value == -math.inf:
            return [np.asarray(value), *(np.zeros(inputs[i].shape) for i in wrt)]
        return [np.asarray(value), *(self._gradient(i, inputs[i].shape, found) for i in wrt)]

    def _gradient(self, i: int, shape: tuple[int, ...], found: dict[str, Any]) -> np.ndarray:
        own = [(name, pick) for name, input_, pick in self._parameters if input_ == i]
        if len(own) == 1 and np.size(found[own[0][0]]) == math.prod(shape):
            return np.asarray(found[own[0][0]], np.float64).reshape(shape)
        total = np.zeros(shape)
        for name, pick in own:
            if pick == (...,):
                total += np.reshape(found[name], shape)
            else:
                total[pick] += found[name]
        return total


class _ByPyTensor:
    """The sum as PyTensor computes it."""

    def __init__(self, inputs: Sequence[Variable], term: Variable):
        self._inputs, self._total = inputs, pt.sum(term)
        self._functions: dict[tuple[int, ...], Any] = {}

    def sums(self, inputs: Sequence[np.ndarray], data: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        if wrt not in self._functions:
            where = [self._inputs[i] for i in wrt]
            gradients: Any = grad(self._total, where, disconnected_inputs="ignore") if where else []
            self._functions[wrt] = pytensor.function(self._inputs, [self._total, *gradients], on_unused_input="ignore")
        return list(self._functions[wrt](*inputs, *data))


def _part(array: np.ndarray, pick: tuple[Any, ...]) -> Any:
    if pick == (...,):
        return array.reshape(-1).astype(np.float64, copy=False)
    part = array[pick]
    return part.astype(np.float64, copy=False) if part.ndim else float(part)
