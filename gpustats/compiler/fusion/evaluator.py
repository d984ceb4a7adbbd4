"""Sum over rows in a graph: from PyTensor's arrays to the value and gradients on a device, for every linker."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from numpy.typing import ArrayLike
from pytensor.compile.mode import Mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace

from ...evaluation.by_code import Evaluation, evaluation_of
from ...rows.model import Rows
from ...rows.parameters import along_of
from ...runtime.cached import cached_property
from ..evaluation.batches import along_one_axis, common_batch, core_of, fill
from ..evaluation.forked import survives_fork
from ..graph.gradients import gradients, pulled_back
from .along import Pick, of_each, part_of
from .alternatives import ChoiceModel
from .program import Program, program_of
from .scalar_ops import Unsupported
from .settings import fused

if TYPE_CHECKING:
    from pytensor.compile.function.types import Function  # PyTensor 3 has it elsewhere

MOST_FITS = 2  # data sets, whose programs are kept: two functions may share an evaluator and have data of their own
NO_SECOND = "the sum is differentiated twice, and is none over rows by a function of ours"
WITHOUT_COMPILER = Mode("py", "fast_run").excluding("fusion")  # for what is seldom evaluated


class RowsEvaluator:
    """Sum over rows and its gradients, at arrays of its inputs and of data that may change.

    `inner_inputs` are the variables of the term that is summed: its inputs, then the data, whose arrays are `data` now.
    Where there is no program yet, or the data or the shapes of the inputs are not those for which it was made, one is made
    of the same graph. Several devices may share the rows.
    """

    def __init__(
        self, inner_inputs: Sequence[Variable], inner_term: Variable, data: Sequence[np.ndarray],
        program: Program | None = None, devices: Sequence[str] | None = None,
    ):  # fmt: skip
        self._devices = devices
        self.inner_inputs, self.inner_term, self.program = list(inner_inputs), inner_term, program
        self.n_inputs = len(self.inner_inputs) - len(data)
        self._ones = [(1,) * v.type.ndim for v in self.inner_inputs]
        self._data = [np.array(d) for d in data]  # those of the program
        self._shared: list[SharedVariable] = []  # the variables that hold the data, in the process where they were made
        self._fits: tuple[_Fit, ...] = ()  # the latest first; replaced as a whole, since threads share the evaluator
        if program is not None:
            by = _ByRows(program, range(self.n_inputs), devices)
            self._fits = (_Fit(program.shapes, self._data, self._data, by, program.shapes, program),)
        self._lock = threading.Lock()

    @classmethod
    def of(
        cls, inputs: Sequence[Variable], term: Variable, data: Sequence[Any], program: Program | None = None,
        devices: Sequence[str] | None = None,
    ) -> RowsEvaluator:  # fmt: skip
        """Evaluator of the sum of a term as a function of these inputs, with these shared variables as data."""
        variables = [*inputs, *data]
        inner_inputs = [v.type(v.name) for v in variables]
        (inner,) = clone_replace([term], dict(zip(variables, inner_inputs, strict=True)), rebuild_strict=False)
        evaluator = cls(inner_inputs, inner, [v.get_value(borrow=True) for v in data], program, devices)
        evaluator._shared = list(data)
        return evaluator

    def __reduce__(self) -> tuple:
        return type(self), (self.inner_inputs, self.inner_term, self._data, self.program, self._devices)

    def as_held(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Arrays of a call from compiled code, with those of shared variables as the arrays that these hold."""
        held = [v.container.storage[0] for v in self._shared]
        data = [
            mine if isinstance(mine, np.ndarray) and _is_same_memory(mine, a) else a
            for mine, a in zip(held, arrays[self.n_inputs :], strict=True)
        ] if held else arrays[self.n_inputs :]
        return [*arrays[: self.n_inputs], *data]

    @survives_fork
    def sums(self, arrays: Sequence[Any], wrt: tuple[int, ...]) -> Sequence[Any]:
        """Sum over rows, then its derivatives in the inputs at the places `wrt`.

        Inputs of one element may be numbers of Python's, and then the derivatives in them are.
        """
        inputs, data = arrays[: self.n_inputs], arrays[self.n_inputs :]
        fit = self._fit_of(self.shapes_of(inputs), data)
        if not isinstance(fit.by, _ByRows):
            return fit.by.sums(self._as_arrays(inputs), data, wrt)
        results = fit.by.sums(inputs, data, wrt)
        if fit.by.invalid(results[0]):
            return self._exactly.sums(self._as_arrays(inputs), data, wrt)
        return results

    @survives_fork
    def sums_of_sets(self, arrays: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        """Sums for sets of parameters, and their derivatives in the inputs at the places `wrt`.

        Inputs may have further leading axes, which broadcast: those of the sets. All results have them.
        """
        inputs, data = arrays[: self.n_inputs], arrays[self.n_inputs :]
        ranks = [v.type.ndim for v in self.inner_inputs[: self.n_inputs]]
        lead, cores = common_batch(inputs, ranks), list(map(core_of, inputs, ranks))
        n_sets = math.prod(lead)
        of_sets = [a.ndim > rank or i in wrt for i, (a, rank) in enumerate(zip(inputs, ranks, strict=True))]
        sets = [along_one_axis(a, r, lead) if has_sets else a for a, r, has_sets in zip(inputs, ranks, of_sets, strict=True)]
        by = self._fit_of(tuple(cores), data).by
        if isinstance(by, _ByRows) and n_sets:
            results = by.sums_of_sets(sets, of_sets, n_sets, wrt)
            # -inf is -inf; PyTensor tells what the derivatives are there.
            one_by_one = np.flatnonzero(by.invalid(results[0])) if wrt else np.empty(0, int)
        else:
            results = [np.empty(n_sets), *(np.empty((n_sets, *cores[i])) for i in wrt)]
            one_by_one = np.arange(n_sets)

        def alone(k: int) -> Sequence[ArrayLike]:
            return self.sums([*(a[k] if has_sets else a for a, has_sets in zip(sets, of_sets, strict=True)), *data], wrt)

        fill(results, one_by_one, alone)
        return [a.reshape(lead + a.shape[1:]) for a in results]

    def by_code(
        self, shapes: tuple[tuple[int, ...], ...], wrt: tuple[int, ...], n_sets: int | None = None, *,
        along: tuple[int, ...] = (), data: Sequence[np.ndarray] = (),
    ) -> Evaluation | None:  # fmt: skip
        """Evaluation of `sums` by compiled code, for inputs of these shapes and for data that stay; None where it cannot.

        With `n_sets`, of `sums_of_sets`: each input has a further first axis, of sets. With `along`, of `along`: components of
        a direction in the inputs at these places are given behind all inputs.
        """
        by = self._fit_of(shapes[: self.n_inputs], data).by
        return by.by_code(shapes, wrt, n_sets, along) if isinstance(by, _ByRows) else None

    def along(self, arrays: Sequence[Any], wrt: tuple[int, ...], *, along: tuple[int, ...]) -> Sequence[Any]:
        """The sum's derivative in a direction, then derivatives of that, at arrays of inputs, the direction, and data."""
        n = self.n_inputs
        inputs, direction, data = arrays[:n], arrays[n : n + len(along)], arrays[n + len(along) :]
        by = self._fit_of(self.shapes_of(inputs), data).by
        if not isinstance(by, _ByRows):
            raise NotImplementedError(NO_SECOND)
        return by.along(inputs, dict(zip(along, direction, strict=True)), wrt)

    def shapes_of(self, inputs: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
        """Shapes of inputs, of which some may be numbers of Python's."""
        return tuple([self._ones[i] if type(a) is float else a.shape for i, a in enumerate(inputs)])

    @cached_property
    def _exactly(self) -> _ByPyTensor:
        """PyTensor's function of the sum and its derivatives, for invalid parameters."""
        return _ByPyTensor(self.inner_inputs, self.inner_term, WITHOUT_COMPILER)

    def _as_arrays(self, inputs: Sequence[Any]) -> list[np.ndarray]:
        """Inputs in the types of PyTensor's variables: compiled code gives all as float64."""
        given = zip(self.inner_inputs, self._ones, inputs, strict=False)
        return [np.full(ones, a, v.type.dtype) if type(a) is float else np.asarray(a, v.type.dtype) for v, ones, a in given]

    def _fit_of(self, shapes: tuple[tuple[int, ...], ...], data: Sequence[np.ndarray]) -> _Fit:
        """Evaluator of the sum for inputs of these shapes and for these data."""
        for fit in self._fits:
            if shapes == fit.shapes and all([a is b for a, b in zip(data, fit.seen, strict=True)]):
                return fit
        with self._lock:
            known = next((fit for fit in self._fits if fit.suits(shapes, data)), None)
            if known is None:
                copies = [np.array(d) for d in data]
                new = _Fit(shapes, list(data), copies, self._fitted(shapes, copies), shapes)
            else:
                new = known._replace(shapes=shapes, seen=list(data))
            others = [fit for fit in self._fits if fit is not known]
            self._fits = (new, *others[: MOST_FITS - 1])
            return new

    def _fitted(self, shapes: Sequence[tuple[int, ...]], arrays: Sequence[np.ndarray]) -> _ByRows | _OfComputed | _ByPyTensor:
        inputs, data = self.inner_inputs[: self.n_inputs], self.inner_inputs[self.n_inputs :]
        try:
            program = program_of(
                self.inner_term, dict(zip(data, arrays, strict=True)), dict(zip(inputs, shapes, strict=True)), hoist=False
            )
        except Unsupported:
            return _ByPyTensor(self.inner_inputs, self.inner_term)
        if set(program.inputs) <= set(inputs):
            return _ByRows(program, [inputs.index(v) for v in program.inputs], self._devices)
        return _OfComputed(program, self.inner_inputs, self._devices)


class _Fit(NamedTuple):
    """Evaluator of a sum for inputs of certain shapes and certain data."""

    shapes: Sequence[tuple[int | None, ...]]  #: of the inputs of the last call
    seen: Sequence[np.ndarray]  #: data of the last call: where they are the same arrays again, nobody compares them
    data: Sequence[np.ndarray]  #: copies of the data
    by: _ByRows | _OfComputed | _ByPyTensor
    all_shapes: Sequence[tuple[int | None, ...]]  #: of all inputs for which `by` evaluates the sum, None for any extent
    program: Program | None = None  #: tells whether an extent is large enough

    def suits(self, shapes: Sequence[tuple[int, ...]], data: Sequence[np.ndarray]) -> bool:
        reaches = self.program is None or self.program.reaches_within(shapes)
        return reaches and all(map(_fits, shapes, self.all_shapes)) and all(map(_are_equal, data, self.data))


def _are_equal(a: np.ndarray, b: np.ndarray) -> bool:
    """True if two arrays have the same numbers, of which 0 and -0 are two."""
    if a.shape != b.shape or not np.array_equal(a, b):
        return False
    return a.dtype.kind != "f" or np.array_equal(np.signbit(a), np.signbit(b))


def _is_same_memory(a: np.ndarray, b: np.ndarray) -> bool:
    return a.ctypes.data == b.ctypes.data and a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype


def _fits(shape: tuple[int, ...], known: tuple[int | None, ...]) -> bool:
    return len(shape) == len(known) and all(k is None or s == k for s, k in zip(shape, known, strict=True))


class _ByRows:
    """Sum by a program; each of the program's inputs has a place among the arrays of a call."""

    def __init__(self, program: Program, places: Sequence[int], devices: Sequence[str] | None):
        self._program, self._devices = program, devices
        self._parameters = [(p.name, places[p.input], p.pick) for p in program.parameters]
        self._rows: Rows | ChoiceModel | None = None
        self._of: dict[tuple[int, ...], tuple[list[str], list[list[tuple[str, tuple]]]]] = {}

    def invalid(self, value: Any) -> Any:
        """True where the sum, or sums, may be of invalid parameters."""
        program = self._program
        return (program.checked_rows and value == -math.inf) | (program.invalid_is_nan and value != value)

    def _names(self, wrt: tuple[int, ...]) -> tuple[Rows | ChoiceModel, list[str], list[list[tuple[str, tuple]]]]:
        """Model of the rows, the parameters that the inputs at the places `wrt` are made into, and each input's own."""
        if self._rows is None:
            self._rows = self._program.model(self._devices)
        if wrt not in self._of:
            names = [name for name, i, _ in self._parameters if i in wrt]
            self._of[wrt] = names, [[(name, pick) for name, i, pick in self._parameters if i == place] for place in wrt]
        return self._rows, *self._of[wrt]

    def sums(self, inputs: Sequence[Any], data: Sequence[np.ndarray], wrt: tuple[int, ...]) -> Sequence[Any]:
        rows, names, parts = self._names(wrt)
        values = {name: part_of(inputs[i], pick) for name, i, pick in self._parameters}
        if not names:
            return [float(rows(**values)), *(_zeros(inputs[i]) for i in wrt)]
        value, gradients = rows.value_and_grad(wrt=names, **values)
        return [value, *[_gradient(inputs[i], picks, gradients) for i, picks in zip(wrt, parts, strict=True)]]

    def sums_of_sets(
        self, inputs: Sequence[np.ndarray], of_sets: Sequence[bool], n_sets: int, wrt: tuple[int, ...]
    ) -> list[np.ndarray]:
        """Sums, (n_sets,), and derivatives, (n_sets, …).

        `of_sets` tells for each input whether its first axis is that of the sets.
        """
        rows, names, parts = self._names(wrt)
        values = {
            name: part_of(inputs[i], of_each(pick), n_sets) if of_sets[i] else part_of(inputs[i], pick)
            for name, i, pick in self._parameters
        }
        value, gradients = rows.value_and_grad(wrt=names, **values) if names else (rows(**values), {})
        parts = [[(name, of_each(pick)) for name, pick in picks] for picks in parts]
        slopes = [_gradient(inputs[i], picks, gradients) for i, picks in zip(wrt, parts, strict=True)]
        return [np.array(np.broadcast_to(value, n_sets)), *slopes]

    def along(self, inputs: Sequence[Any], direction: dict[int, Any], wrt: tuple[int, ...]) -> Sequence[Any]:
        rows, names, parts = self._names(wrt)
        if not isinstance(rows, Rows):
            raise NotImplementedError(NO_SECOND)
        values = {name: part_of(inputs[i], pick) for name, i, pick in self._parameters}
        components = {along_of(name): part_of(direction[i], pick) for name, i, pick in self._parameters if i in direction}
        found = rows.along([name for name, i, _ in self._parameters if i in direction])
        if found is None:
            raise NotImplementedError(NO_SECOND)
        value, products = found.value_and_grad(wrt=names, **values, **components)
        return [value, *[_gradient(inputs[i], picks, products) for i, picks in zip(wrt, parts, strict=True)]]

    def by_code(
        self, shapes: Sequence[tuple[int, ...]], wrt: tuple[int, ...], n_sets: int | None, along: tuple[int, ...] = ()
    ) -> Evaluation | None:
        """Evaluation by compiled code of the sum and of its derivatives in some inputs: see `RowsEvaluator.by_code`.

        Or of the sum's derivative in a direction, whose components in the inputs at the places `along` are behind all inputs.
        """
        rows, names, parts = self._names(wrt)
        lead = () if n_sets is None else (n_sets,)
        stacks = [np.zeros((*lead, *shape)) for shape in shapes]

        def part(i: int, pick: Pick) -> Any:
            return part_of(stacks[i], pick if n_sets is None else of_each(pick), n_sets)

        values = {name: part(i, pick) for name, i, pick in self._parameters}
        behind = {i: len(shapes) - len(along) + k for k, i in enumerate(along)}
        direction = {along_of(name): part(behind[i], pick) for name, i, pick in self._parameters if i in behind}
        if not along:
            made = rows.compiled(values, names, n_sets)
        else:
            made = rows.compiled_product(values, direction) if isinstance(rows, Rows) else None
        if made is None:
            return None
        of_inputs = [np.arange(math.prod(shape)).reshape(shape) for shape in shapes]
        places = {name: np.ravel(of_inputs[i][... if pick == (...,) else pick]) for name, i, pick in self._parameters}
        inputs = [(i, name, places[name]) for name, i, _ in self._parameters]
        inputs += [(behind[i], along_of(name), places[name]) for name, i, _ in self._parameters if i in behind]
        outputs, start = list[tuple[str, np.ndarray]](), 1
        for i, picks in zip(wrt, parts, strict=True):
            outputs += [(name, start + places[name]) for name, _ in picks]
            start += math.prod(shapes[i])
        return evaluation_of(made, inputs, outputs, start)


def _zeros(like: Any) -> Any:
    return 0.0 if type(like) is float else np.zeros(like.shape)


def _gradient(at: Any, parts: Sequence[tuple[str, tuple]], gradients: dict[str, Any]) -> Any:
    """Derivative in an input, from the derivatives in its parts."""
    if type(at) is float:
        return float(gradients[parts[0][0]]) if len(parts) == 1 else float(sum(gradients[name] for name, _ in parts))
    if len(parts) == 1 and np.size(gradients[parts[0][0]]) == at.size:
        return np.asarray(gradients[parts[0][0]], np.float64).reshape(at.shape)
    total = np.zeros(at.shape)
    for name, pick in parts:
        if pick == (...,):
            total += np.reshape(gradients[name], at.shape)
        else:
            total[pick] += gradients[name]
    return total


class _OfComputed:
    """Sum by a program whose inputs PyTensor computes from `inputs`: those of the call, then the data."""

    def __init__(self, program: Program, inputs: Sequence[Variable], devices: Sequence[str] | None):
        self._program, self._inputs = program, inputs
        self._by_rows = _ByRows(program, range(len(program.inputs)), devices)
        self._floats = tuple(i for i, v in enumerate(program.inputs) if v.type.dtype.startswith("float"))
        self._compute = pytensor.function(inputs, program.inputs, on_unused_input="ignore")
        self._pullbacks: dict[tuple[int, ...], Function] = {}
        self._lock = threading.Lock()  # PyTensor's functions serve one thread at a time

    def sums(self, inputs: Sequence[np.ndarray], data: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        with self._lock:
            found = self._compute(*inputs, *data)
            value, *gradients = self._by_rows.sums(found, data, self._floats if wrt else ())
            return [value, *self._pullback(wrt)(*inputs, *data, *gradients)] if wrt else [value]

    def _pullback(self, wrt: tuple[int, ...]) -> Function:
        if wrt not in self._pullbacks:
            of = [self._program.inputs[i] for i in self._floats]
            cotangents = [v.type() for v in of]
            found = pulled_back(of, cotangents, [self._inputs[i] for i in wrt])
            self._pullbacks[wrt] = pytensor.function([*self._inputs, *cotangents], found, on_unused_input="ignore")
        return self._pullbacks[wrt]


class _ByPyTensor:
    """Sum as PyTensor computes it."""

    def __init__(self, inputs: Sequence[Variable], term: Variable, mode: Mode | None = None):
        self._inputs, self._total, self._mode = inputs, pt.sum(term), mode
        self._functions: dict[tuple[int, ...], Function] = {}
        self._lock = threading.Lock()

    def sums(self, inputs: Sequence[np.ndarray], data: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        with self._lock:
            if wrt not in self._functions:
                self._functions[wrt] = self._compiled(wrt)
            return [np.array(found, np.float64) for found in self._functions[wrt](*inputs, *data)]

    def _compiled(self, wrt: tuple[int, ...]) -> Function:
        slopes = gradients(self._total, [self._inputs[i] for i in wrt])
        with fused(False):  # else a value without slopes would be fused as a log-posterior is, and again in what that asks
            return pm.compile(self._inputs, [self._total, *slopes], mode=self._mode, on_unused_input="ignore")
