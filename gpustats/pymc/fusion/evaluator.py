"""A sum over rows in a graph: from PyTensor's arrays to its value and gradients on a device, whichever linker calls."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.gradient import Lop, grad
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace

from ...rows.model import Rows
from ..evaluation.forked import survives_fork
from .program import Program, program_of
from .scalar_ops import Unsupported


class RowsEvaluator:
    """A sum over rows and its gradients, at arrays of its inputs and of data that may change.

    Where there is no program yet, or the data or the shapes of the inputs are not those for which it was made, one is made of
    the same graph.

    Parameters
    ----------
    inner_inputs : sequence of Variable
        Those of `inner_term`: its inputs, then the data that may change.
    inner_term : Variable
        What is summed.
    data : sequence of ndarray
        The data as they are now.
    program : Program, optional
        For these data, of these inputs.
    """

    def __init__(
        self, inner_inputs: Sequence[Variable], inner_term: Variable, data: Sequence[np.ndarray], program: Program | None = None
    ):
        self.inner_inputs, self.inner_term, self.program = list(inner_inputs), inner_term, program
        self.n_inputs = len(self.inner_inputs) - len(data)
        self._ones = [(1,) * v.type.ndim for v in self.inner_inputs]
        self._data = [np.array(d) for d in data]
        self._seen: Sequence[Any] = self._data
        self._shared: list[Any] = []  # the variables that hold the data, in the process where they were made
        self._shapes: Sequence[tuple[int | None, ...]] | None = None if program is None else program.shapes
        self._fitted: _ByRows | _OfComputed | _ByPyTensor | None = None
        if program is not None:
            self._fitted = _ByRows(program, range(self.n_inputs))
        self._lock = threading.Lock()

    @classmethod
    def of(
        cls, inputs: Sequence[Variable], term: Variable, data: Sequence[Any], program: Program | None = None
    ) -> RowsEvaluator:
        """The evaluator of the sum of a term as a function of these inputs, with these shared variables as data."""
        variables = [*inputs, *data]
        own = [v.type(v.name) for v in variables]
        (inner,) = clone_replace([term], dict(zip(variables, own, strict=True)), rebuild_strict=False)
        made = cls(own, inner, [v.get_value(borrow=True) for v in data], program)
        made._shared = list(data)
        return made

    def __reduce__(self) -> tuple:
        return type(self), (self.inner_inputs, self.inner_term, self._data, self.program)

    def as_held(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The arrays of a call from compiled code, with those of shared variables as the arrays that these hold."""
        held = [v.container.storage[0] for v in self._shared]
        data = [
            mine if isinstance(mine, np.ndarray) and _is_same_memory(mine, a) else a
            for mine, a in zip(held, arrays[self.n_inputs :], strict=True)
        ] if held else arrays[self.n_inputs :]
        return [*arrays[: self.n_inputs], *data]

    @survives_fork
    def sums(self, arrays: Sequence[Any], wrt: tuple[int, ...]) -> Sequence[Any]:
        """[the sum, its derivatives in the inputs at the places `wrt`].

        Inputs of one element may be numbers of Python's, and then the derivatives in them are.
        """
        inputs, data = arrays[: self.n_inputs], arrays[self.n_inputs :]
        shapes = tuple([self._ones[i] if type(a) is float else a.shape for i, a in enumerate(inputs)])
        if shapes != self._shapes or not all([a is b for a, b in zip(data, self._seen, strict=True)]):
            self._fit(shapes, data)
        assert self._fitted is not None
        if not isinstance(self._fitted, _ByRows):
            inputs = [np.full(self._ones[i], a) if type(a) is float else a for i, a in enumerate(inputs)]
        return self._fitted.sums(inputs, data, wrt)

    def _fit(self, shapes: Sequence[tuple[int, ...]], data: Sequence[np.ndarray]) -> None:
        """What evaluates the sum for inputs of these shapes and for these data, if that at hand does not."""
        with self._lock:
            same_data = all(a.shape == b.shape and np.array_equal(a, b) for a, b in zip(data, self._data, strict=True))
            same_shapes = self._shapes is not None and all(map(_fits, shapes, self._shapes))
            reaches = self.program is None or self.program.reaches_within(shapes)
            if self._fitted is None or not (same_data and same_shapes and reaches):
                self._data = [np.array(d) for d in data]
                self._fitted = self._refitted(shapes)
            self._shapes, self._seen = shapes, list(data)

    def _refitted(self, shapes: Sequence[tuple[int, ...]]) -> _ByRows | _OfComputed | _ByPyTensor:
        own, data = self.inner_inputs[: self.n_inputs], self.inner_inputs[self.n_inputs :]
        try:
            program = program_of(
                self.inner_term, dict(zip(data, self._data, strict=True)), dict(zip(own, shapes, strict=True)),
                hoist=self.program is not None,
            )  # fmt: skip
        except Unsupported:
            return _ByPyTensor(self.inner_inputs, self.inner_term)
        if set(program.inputs) <= set(own):
            return _ByRows(program, [own.index(v) for v in program.inputs])
        return _OfComputed(program, self.inner_inputs)


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
        self._of: dict[tuple[int, ...], tuple[list[str], list[list[tuple[str, tuple]]]]] = {}

    def sums(self, inputs: Sequence[Any], data: Sequence[np.ndarray], wrt: tuple[int, ...]) -> Sequence[Any]:
        if self._rows is None:
            self._rows = Rows(self._program.source, **self._program.leaves)
        if wrt not in self._of:
            names = [name for name, i, _ in self._parameters if i in wrt]
            self._of[wrt] = names, [[(name, pick) for name, i, pick in self._parameters if i == place] for place in wrt]
        names, own = self._of[wrt]
        values = {name: _part(inputs[i], pick) for name, i, pick in self._parameters}
        if not names:
            return [float(self._rows(**values)), *(_zeros(inputs[i]) for i in wrt)]
        value, found = self._rows.value_and_grad(wrt=names, **values)
        if value == -math.inf and self._program.checked_rows:
            return [value, *(_zeros(inputs[i]) for i in wrt)]
        return [value, *[_gradient(inputs[i], its, found) for i, its in zip(wrt, own, strict=True)]]


def _zeros(like: Any) -> Any:
    return 0.0 if type(like) is float else np.zeros(like.shape)


def _gradient(at: Any, own: Sequence[tuple[str, tuple]], found: dict[str, Any]) -> Any:
    """The derivative in an input, of those in its parts."""
    if type(at) is float:
        return float(found[own[0][0]]) if len(own) == 1 else float(sum(found[name] for name, _ in own))
    if len(own) == 1 and np.size(found[own[0][0]]) == at.size:
        return np.asarray(found[own[0][0]], np.float64).reshape(at.shape)
    total = np.zeros(at.shape)
    for name, pick in own:
        if pick == (...,):
            total += np.reshape(found[name], at.shape)
        else:
            total[pick] += found[name]
    return total


class _OfComputed:
    """The sum by a program whose inputs PyTensor computes from those of the call.

    Parameters
    ----------
    program : Program
    inputs : sequence of Variable
        What the program's inputs are computed from: the inputs of the call, then the data.
    """

    def __init__(self, program: Program, inputs: Sequence[Variable]):
        self._program, self._inputs = program, inputs
        self._by_rows = _ByRows(program, range(len(program.inputs)))
        self._floats = tuple(i for i, v in enumerate(program.inputs) if v.type.dtype.startswith("float"))
        self._compute = pytensor.function(inputs, program.inputs, on_unused_input="ignore")
        self._pullbacks: dict[tuple[int, ...], Any] = {}

    def sums(self, inputs: Sequence[np.ndarray], data: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        found = self._compute(*inputs, *data)
        value, *gradients = self._by_rows.sums(found, data, self._floats if wrt else ())
        return [value, *self._pullback(wrt)(*inputs, *data, *gradients)] if wrt else [value]

    def _pullback(self, wrt: tuple[int, ...]) -> Any:
        if wrt not in self._pullbacks:
            of = [self._program.inputs[i] for i in self._floats]
            cotangents = [v.type() for v in of]
            found: Any = Lop(of, [self._inputs[i] for i in wrt], cotangents, disconnected_inputs="ignore")
            self._pullbacks[wrt] = pytensor.function([*self._inputs, *cotangents], found, on_unused_input="ignore")
        return self._pullbacks[wrt]


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


def _part(array: Any, pick: tuple[Any, ...]) -> Any:
    if type(array) is float:
        return array
    if not pick:
        return float(array)
    if pick == (...,):
        return array.reshape(-1).astype(np.float64, copy=False)
    part = array[pick]
    return part.astype(np.float64, copy=False) if part.ndim else float(part)
