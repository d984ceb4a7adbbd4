"""Sums of a device function over the observations together with their derivatives: one pass over the data."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ..kernels.code import PER_ROW, KernelCode, Operand
from ..language.nodes import Function
from ..rewriting.differentiate import gradient
from ..rewriting.forward_mode import VALUE, derivative_name
from ..runtime.arrays import is_device_array
from ..runtime.base import Runtime
from ..runtime.types import Value
from .arguments import check_wrt
from .broadcasting import Shape
from .placement import Placement
from .pointwise import Pointwise
from .results import as_host, like, output
from .sums import LOGLIK


def gradient_of(function: Pointwise, wrt: str | Collection[str] | None = None) -> Gradient:
    """Gradient: the sum of a function and its derivatives with respect to some arguments, by default all parameters."""
    known: dict[Any, Gradient] = function.made["gradient"]
    key = wrt if wrt is None or isinstance(wrt, str) else tuple(wrt)
    if (found := known.get(key)) is None:
        names = check_wrt(function.name, function.arguments, wrt)
        found = known.get(names) or differentiated(function, names)
        known[key] = known[names] = found
    return found


def hessian_of(function: Pointwise, wrt: str | Collection[str] | None = None) -> Hessian:
    """Hessian: second derivatives of the sum of a function with respect to scalar parameters, by default all."""
    known: dict[Any, Hessian] = function.made["hessian"]
    names = check_wrt(function.name, function.arguments, wrt)
    if names not in known:
        known[names] = twice_differentiated(function, names)
    return known[names]


@functools.singledispatch
def differentiated(function: Pointwise, wrt: tuple[str, ...]) -> Gradient:
    """Gradient of a function; other kinds of functions have gradients of their own."""
    return Gradient(function, wrt)


@functools.singledispatch
def twice_differentiated(function: Pointwise, wrt: tuple[str, ...]) -> Hessian:
    """Hessian of a function; other kinds of functions have Hessians of their own, or none."""
    return Hessian(function, wrt)


class Summed(Pointwise):
    """Function with several results, which are summed over the rows or, where they are wanted for each row, written.

    `inner` gives the arguments. `results` are the names of those that are wanted, each with the argument that it is the
    derivative with respect to ("" for the value): a derivative with respect to an argument that has a value for each row is
    written for each row.
    """

    def __init__(
        self, inner: Pointwise, function: Function, functions: dict[str, Function], results: Sequence[tuple[str, str]]
    ):
        super().__init__(inner.name, function, inner.arguments, functions, inner.source)
        self.results = tuple((r, self.c_name(a) if a else "") for r, a in results)

    def _split(self, operands: Sequence[Operand]) -> tuple[list[str], list[str]]:
        """Results that are summed, and results that are written for each row."""
        per_row = {o.name for o in operands if o.role == PER_ROW}
        return [r for r, a in self.results if a not in per_row], [r for r, a in self.results if a in per_row]

    def code(self, operands: Sequence[Operand]) -> KernelCode:
        sums, rows = self._split(operands)
        return KernelCode(self.function, operands, self.functions.get, (), sums, rows)

    def n_sums(self, operands: Sequence[Operand]) -> int:
        return len(self._split(operands)[0])

    def written(self, operands: Sequence[Operand]) -> list[str]:
        return self._split(operands)[1]

    def evaluate(
        self, values: Sequence[Value], runtime: Runtime | None
    ) -> tuple[Placement, dict[str, np.ndarray], dict[str, Any]]:
        """Sums, each of one number a set, and results that are written for each row: (groups of sets, rows)."""
        placement = self.place(LOGLIK, values, runtime)
        runtime, pattern = placement.runtime, placement.pattern
        if not math.prod(pattern.shape):
            return placement, {r: np.zeros(pattern.n_sets) for r, _ in self.results}, {}
        launch = self.sum_launch(placement)
        sums, rows = self._split(placement.operands)
        written, handles = {}, []
        for name in rows:
            native = is_device_array(values[self.c_names.index(dict(self.results)[name])])
            written[name], *handle = output(runtime, (launch.grid[0], pattern.n_rows), placement.dtype, native)
            handles += handle
        table = launch.fetch([*handles, *placement.values]).reshape(pattern.n_sets, len(sums))
        return placement, {name: table[:, i].copy() for i, name in enumerate(sums)}, written


class Gradient:
    """Derivatives of a summed function with respect to the arguments `wrt`."""

    def __init__(self, function: Pointwise, wrt: Sequence[str]):
        self.function, self.wrt = function, tuple(wrt)
        ranks = {a.name: a.rank for a in function.arguments}
        self.scalars = tuple(n for n in wrt if not ranks[n])
        self.vectors = tuple(n for n in wrt if ranks[n])
        functions = dict(function.functions)
        together = gradient(function.function, [function.c_name(n) for n in self.scalars], functions)
        self._results = {n: derivative_name(function.c_name(n)) for n in self.scalars}
        self.summed = Summed(function, together, functions, [(VALUE, ""), *((r, n) for n, r in self._results.items())])
        self._components = {n: function.derivative(n) for n in self.vectors}

    def __call__(self, values: Sequence[Value], runtime: Runtime | None = None) -> tuple[Value, dict[str, Value]]:
        """Sums over the last axis, and the derivatives of the sum of these, each shaped like its argument."""
        placement, sums, rows = self.summed.evaluate(values, runtime)
        runtime, shape = placement.runtime, placement.pattern.shape
        batch = self.function.batch_shapes(values)[0]
        index = {n: i for i, n in enumerate(self.function.argument_names)}
        gradients = {}
        for name in self.wrt:
            i = index[name]
            native = is_device_array(values[i])
            if not math.prod(shape):
                result = np.zeros(np.shape(values[i]))
            elif name in self.vectors:
                result = self._vector(name, values, batch, shape, placement)
            elif self._results[name] in rows:
                result = _reduced_rows(runtime, rows[self._results[name]], shape, batch[i], native)
            else:
                result = reduced(sums[self._results[name]].reshape(*shape[:-1], 1), batch[i])
            gradients[name] = like(runtime, result, values[i])  # another argument may lie elsewhere
        value = sums[VALUE].reshape(shape[:-1])
        if shape[:-1] and any(is_device_array(v) for v in values[1:]):
            return runtime.to_device(value), gradients
        return (value if shape[:-1] else float(value[()])), gradients

    def shown(self, dtype: str, dialect: str) -> str:
        """Source of the kernel for many observations and sets of parameters; see `Density.kernel_source`."""
        summed = self.summed if self.scalars or not self.vectors else self._components[self.vectors[0]]
        return summed.shown_for(LOGLIK, dtype, dialect)

    def _vector(self, name: str, values: Sequence[Value], batch: Sequence[Shape], shape: Shape, placement: Placement) -> Any:
        """Derivative with respect to a vector, whose elements are one more axis of the parameter sets."""
        i, ranks = self.function.argument_names.index(name), [a.rank for a in self.function.arguments]
        per_row = bool(batch[i]) and batch[i][-1] > 1
        dim = placement.dim
        own = (*batch[i], dim)
        component = np.arange(dim, dtype=placement.dtype)
        if per_row:  # terms are not summed: a table of rows × elements
            grown = [_with_axis(v, rank, -1) for v, rank in zip(values, ranks, strict=True)]
            table = self._components[name].table([*grown, component])
            if tuple(table.shape) == own:
                return table
            host = as_host(placement.runtime, table)
            return reduced(np.moveaxis(host, -1, 0), batch[i], lead=1).transpose(*range(1, len(own)), 0)
        grown = [_with_axis(v, rank, -2) for v, rank in zip(values, ranks, strict=True)]
        sums = self._components[name].sum([*grown, component[:, None]], placement.runtime)
        host = as_host(placement.runtime, sums)
        moved = np.moveaxis(np.asarray(host).reshape(*shape[:-1], dim), -1, 0)[..., None]
        return np.ascontiguousarray(np.moveaxis(reduced(moved, batch[i], lead=1), 0, -1))


class Hessian:
    """Second derivatives of a summed function with respect to scalar parameters."""

    def __init__(self, function: Pointwise, wrt: Sequence[str]):
        ranks = {a.name: a.rank for a in function.arguments}
        if vectors := [n for n in wrt if ranks[n]]:
            raise ValueError(f"the Hessian is for scalar parameters: {', '.join(vectors)} of {function.name} is a vector")
        self.function, self.wrt = function, tuple(wrt)
        functions = dict(function.functions)
        internal = [function.c_name(n) for n in wrt]
        first = gradient(function.function, internal, functions)
        second = gradient(first, internal, functions)
        self._places = [(i, j) for i in range(len(wrt)) for j in range(i + 1)]
        names = [derivative_name(internal[j], derivative_name(internal[i])) for i, j in self._places]
        self.summed = Summed(function, second, functions, [(n, wrt[i]) for n, (i, _) in zip(names, self._places, strict=True)])

    def __call__(self, values: Sequence[Value], runtime: Runtime | None = None) -> np.ndarray:
        """Matrix of second derivatives for each set of parameters."""
        for name, shape in zip(self.function.argument_names[1:], self.function.batch_shapes(values)[0][1:], strict=True):
            if name in self.wrt and shape and shape[-1] > 1:
                raise ValueError(
                    f"{name} has shape {shape}, one value for each observation: the Hessian is for scalars, or K sets of "
                    "shape (K, 1); leave it out of wrt"
                )
        if self.wrt:
            placement, sums, _ = self.summed.evaluate(values, runtime)
        else:  # an empty matrix, for which there is nothing to sum
            placement, sums = self.function.place(LOGLIK, values, runtime), {}
        result = np.zeros((placement.pattern.n_sets, len(self.wrt), len(self.wrt)))
        for (name, _), (i, j) in zip(self.summed.results, self._places, strict=True):
            result[:, i, j] = result[:, j, i] = sums[name]
        return result.reshape(*placement.pattern.shape[:-1], len(self.wrt), len(self.wrt))


def _with_axis(value: Value, rank: int, place: int) -> Any:
    """Argument `value` with a new axis of length 1 at `place` of its batch axes."""
    if isinstance(value, float):
        return value
    shape = tuple(value.shape)
    batch, core = shape[: len(shape) - rank], shape[len(shape) - rank :]
    if place == -1:
        return value.reshape(*batch, 1, *core)
    return value.reshape(*batch[:-1], 1, *batch[-1:], *core) if batch else value


def reduced(sums: np.ndarray, shape: Shape, lead: int = 0) -> np.ndarray:
    """Array `sums`, added up along the axes along which an argument of `shape` does not vary."""
    missing = sums.ndim - lead - len(shape)
    sums = sums.sum(axis=tuple(range(lead, lead + missing)))
    axes = tuple(lead + i for i, n in enumerate(shape) if n == 1 and sums.shape[lead + i] != 1)
    return sums.sum(axis=axes, keepdims=True) if axes else sums


def _reduced_rows(runtime: Runtime, rows: Any, shape: Shape, wanted: Shape, native: bool) -> Any:
    """Results written for each row, added up over the sets to the shape of the argument."""
    if rows.shape[0] * rows.shape[1] == math.prod(wanted):
        if native or isinstance(rows, np.ndarray):
            return rows.reshape(wanted)
        return runtime.downloaded(rows, rows.shape, rows.dtype).reshape(wanted)
    host = as_host(runtime, rows)
    if host.shape[0] == math.prod(shape[:-1]):
        return reduced(host.reshape(shape), wanted)
    return host.sum(axis=0).reshape(wanted)  # the sums of groups of sets that share the rows
