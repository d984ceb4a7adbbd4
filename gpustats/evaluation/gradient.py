"""Sums of a device function over the observations together with their derivatives: one pass over the data."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels.code import PER_ROW, KernelCode, Operand
from ..language.device_function import Argument
from ..rewriting.differentiate import VALUE, derivative, derivative_name, gradient
from ..runtime import arrays
from .broadcasting import Shape
from .pointwise import Pointwise, output

if TYPE_CHECKING:
    from ..language.nodes import Function
    from ..runtime.base import Runtime
    from .placement import Placement


def differentiable(arguments: Sequence[Argument]) -> tuple[str, ...]:
    """Names of the arguments that are not whole numbers."""
    return tuple(a.name for a in arguments if "integer" not in a.words)


def chosen(function: Pointwise, wrt: str | Collection[str] | None) -> tuple[str, ...]:
    """The arguments with respect to which derivatives are wanted: all parameters where `wrt` is None."""
    can = differentiable(function.arguments)
    if wrt is None:
        return tuple(n for n in can if n != function.arguments[0].name)
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    for name in names:
        known = [a.name for a in function.arguments]
        if name not in known:
            raise ValueError(f"wrt: {function.name} has no argument {name!r}; its arguments are {', '.join(known)}")
        if name not in can:
            raise ValueError(f"wrt: {name} of {function.name} takes whole numbers only, so there is no derivative in it")
        if names.count(name) > 1:
            raise ValueError(f"wrt names {name} twice")
    return names


class Summed(Pointwise):
    """A function with several results, which are summed over the rows or, where they are wanted for each row, written.

    Parameters
    ----------
    inner : Pointwise
        Gives the arguments.
    function : Function
        Takes these arguments; has several results.
    results : sequence of (str, str)
        Names of the results that are wanted, and the argument that each is the derivative with respect to ("" for the
        value): a derivative with respect to an argument that has a value for each row is written for each row.
    """

    def __init__(
        self, inner: Pointwise, function: Function, functions: dict[str, Function], results: Sequence[tuple[str, str]]
    ):
        super().__init__(inner.name, function, inner.arguments, functions, inner.source)
        self.results = tuple((r, self._names[self._public.index(a)] if a else "") for r, a in results)

    def _split(self, operands: Sequence[Operand]) -> tuple[list[str], list[str]]:
        """The results that are summed, and those that are written for each row."""
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
        self, values: Sequence[Any], runtime: Runtime | None
    ) -> tuple[Placement, dict[str, np.ndarray], dict[str, Any]]:
        """The sums, each of one number a set, and what is written for each row: (groups of sets, rows)."""
        placement = self.place("loglik", values, runtime)
        runtime, pattern = placement.runtime, placement.pattern
        if not math.prod(pattern.shape):
            return placement, {r: np.zeros(pattern.n_sets) for r, _ in self.results}, {}
        plan = self.sum_plan(placement)
        sums, rows = self._split([p.operand for p in placement.placed])
        written, handles = {}, []
        for name in rows:
            native = arrays.is_device_array(values[self._names.index(dict(self.results)[name])])
            written[name], *handle = output(runtime, (plan.grid[0], pattern.n_rows), placement.dtype, native)
            handles += handle
        table = plan.fetch([*handles, *placement.values]).reshape(pattern.n_sets, len(sums))
        return placement, {name: table[:, i].copy() for i, name in enumerate(sums)}, written


class Gradient:
    """The derivatives of a summed function.

    Parameters
    ----------
    function : Pointwise
        What is summed.
    wrt : sequence of str
        Names of arguments.
    """

    def __init__(self, function: Pointwise, wrt: Sequence[str]):
        self.function, self.wrt = function, tuple(wrt)
        ranks = {a.name: a.rank for a in function.arguments}
        self.scalars = tuple(n for n in wrt if not ranks[n])
        self.vectors = tuple(n for n in wrt if ranks[n])
        functions = dict(function.functions)
        internal = dict(zip(function._public, function._names, strict=True))
        together = gradient(function.function, [internal[n] for n in self.scalars], functions)
        results = [(VALUE, ""), *((derivative_name(internal[n]), n) for n in self.scalars)]
        self.summed = Summed(function, together, functions, results)
        self._names = {n: derivative_name(internal[n]) for n in self.scalars}
        self._components = {n: derivative_of(function, n) for n in self.vectors}

    def __call__(self, values: Sequence[Any], runtime: Runtime | None = None) -> tuple[Any, dict[str, Any]]:
        """The sums over the last axis, and the derivatives of the sum of these, each shaped like its argument."""
        placement, sums, rows = self.summed.evaluate(values, runtime)
        runtime, shape = placement.runtime, placement.pattern.shape
        batch = self.function.batch_shapes(values)[0]
        index = {n: i for i, n in enumerate(self.function._public)}
        gradients = {}
        for name in self.wrt:
            i = index[name]
            native = arrays.is_device_array(values[i])
            if not math.prod(shape):
                result = np.zeros(np.shape(values[i]))
            elif name in self.vectors:
                result = self._vector(name, values, batch, shape, placement)
            elif self._names[name] in rows:
                result = _reduced_rows(runtime, rows[self._names[name]], shape, batch[i], native)
            else:
                result = reduced(sums[self._names[name]].reshape(*shape[:-1], 1), batch[i])
            if native != arrays.is_device_array(result):  # another argument may lie elsewhere
                result = runtime.to_device(np.asarray(result)) if native else runtime.to_host(result)
            gradients[name] = float(result) if isinstance(values[i], float) else result
        value = sums[VALUE].reshape(shape[:-1])
        if shape[:-1] and any(arrays.is_device_array(v) for v in values[1:]):
            return runtime.to_device(value), gradients
        return (value if shape[:-1] else float(value[()])), gradients

    def kernel_source(self, dtype: str, dialect: str) -> str:
        """The source of the kernel for many observations and sets of parameters; see `Density.kernel_source`."""
        shown = self.summed if self.scalars or not self.vectors else self._components[self.vectors[0]]
        return shown.kernel_source("loglik", dtype, dialect)

    def _vector(self, name: str, values: Sequence[Any], batch: Sequence[Shape], shape: Shape, placement: Placement) -> Any:
        """The derivative with respect to a vector: one of its elements is one more axis of the parameter sets."""
        i, ranks = self.function._public.index(name), [a.rank for a in self.function.arguments]
        per_row = bool(batch[i]) and batch[i][-1] > 1
        dim = placement.dim
        own = (*batch[i], dim)
        component = np.arange(dim, dtype=placement.dtype)
        if per_row:  # terms are not summed: a table of rows × elements
            grown = [_with_axis(v, rank, -1) for v, rank in zip(values, ranks, strict=True)]
            table = self._components[name].table([*grown, component])
            if tuple(table.shape) == own:
                return table
            host = placement.runtime.to_host(table) if arrays.is_device_array(table) else table
            return reduced(np.moveaxis(host, -1, 0), batch[i], lead=1).transpose(*range(1, len(own)), 0)
        grown = [_with_axis(v, rank, -2) for v, rank in zip(values, ranks, strict=True)]
        sums = self._components[name].sum([*grown, component[:, None]], placement.runtime)
        host = placement.runtime.to_host(sums) if arrays.is_device_array(sums) else sums
        moved = np.moveaxis(np.asarray(host).reshape(*shape[:-1], dim), -1, 0)[..., None]
        return np.ascontiguousarray(np.moveaxis(reduced(moved, batch[i], lead=1), 0, -1))


class Hessian:
    """The second derivatives of a summed function with respect to scalar parameters.

    Parameters
    ----------
    function : Pointwise
        What is summed.
    wrt : sequence of str
        Names of parameters.
    """

    def __init__(self, function: Pointwise, wrt: Sequence[str]):
        ranks = {a.name: a.rank for a in function.arguments}
        if vectors := [n for n in wrt if ranks[n]]:
            raise ValueError(f"the Hessian is for scalar parameters: {', '.join(vectors)} of {function.name} is a vector")
        self.function, self.wrt = function, tuple(wrt)
        functions = dict(function.functions)
        internal = [function._names[function._public.index(n)] for n in wrt]
        first = gradient(function.function, internal, functions)
        second = gradient(first, internal, functions)
        self._places = [(i, j) for i in range(len(wrt)) for j in range(i + 1)]
        names = [derivative_name(internal[j], derivative_name(internal[i])) for i, j in self._places]
        self.summed = Summed(function, second, functions, [(n, wrt[i]) for n, (i, _) in zip(names, self._places, strict=True)])

    def __call__(self, values: Sequence[Any], runtime: Runtime | None = None) -> np.ndarray:
        """One matrix for each set of parameters."""
        for name, shape in zip(self.function._public[1:], self.function.batch_shapes(values)[0][1:], strict=True):
            if name in self.wrt and shape and shape[-1] > 1:
                raise ValueError(
                    f"{name} has shape {shape}, one value for each observation: the Hessian is for scalars, or K sets of "
                    "shape (K, 1); leave it out of wrt"
                )
        placement, sums, _ = self.summed.evaluate(values, runtime)
        result = np.zeros((placement.pattern.n_sets, len(self.wrt), len(self.wrt)))
        for (name, _), (i, j) in zip(self.summed.results, self._places, strict=True):
            result[:, i, j] = result[:, j, i] = sums[name]
        return result.reshape(*placement.pattern.shape[:-1], len(self.wrt), len(self.wrt))


def derivative_of(function: Pointwise, name: str) -> Pointwise:
    """The derivative with respect to one argument; of a vector, to the element that another argument tells."""
    functions = dict(function.functions)
    made = derivative(function.function, function._names[function._public.index(name)], functions)
    arguments = function.arguments
    if next(a for a in arguments if a.name == name).rank:
        if "component" in function._public:
            raise ValueError(f"{function.name} has an argument `component` already")
        arguments = (*arguments, Argument("component", "nonnegative integer"))
    return Pointwise(function.name, made, arguments, functions, function.source, function.defaults)


def _with_axis(value: Any, rank: int, place: int) -> Any:
    """`value` with a new axis of length 1 at `place` of its batch axes."""
    if isinstance(value, float):
        return value
    shape = tuple(value.shape)
    batch, core = shape[: len(shape) - rank], shape[len(shape) - rank :]
    if place == -1:
        return value.reshape(*batch, 1, *core)
    return value.reshape(*batch[:-1], 1, *batch[-1:], *core) if batch else value


def reduced(sums: np.ndarray, shape: Shape, lead: int = 0) -> np.ndarray:
    """`sums`, added up along the axes along which an argument of `shape` does not vary."""
    missing = sums.ndim - lead - len(shape)
    sums = sums.sum(axis=tuple(range(lead, lead + missing)))
    axes = tuple(lead + i for i, n in enumerate(shape) if n == 1 and sums.shape[lead + i] != 1)
    return sums.sum(axis=axes, keepdims=True) if axes else sums


def _reduced_rows(runtime: Runtime, rows: Any, shape: Shape, wanted: Shape, native: bool) -> Any:
    """What was written for each row, added up over the sets to the shape of the argument."""
    if rows.shape[0] * rows.shape[1] == math.prod(wanted):
        if native or isinstance(rows, np.ndarray):
            return rows.reshape(wanted)
        host = np.empty(rows.shape, rows.dtype)
        runtime.download(rows, host)
        return host.reshape(wanted)
    host = rows if isinstance(rows, np.ndarray) else runtime.to_host(rows)
    if host.shape[0] == math.prod(shape[:-1]):
        return reduced(host.reshape(shape), wanted)
    return host.sum(axis=0).reshape(wanted)  # the sums of groups of sets that share the rows
