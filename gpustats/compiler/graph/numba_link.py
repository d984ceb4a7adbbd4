"""Calls of gpustats by code that Numba compiles: through a C function pointer, not through Numba's object mode."""

from __future__ import annotations

import ctypes
import functools
import math
import threading
import time
import warnings
from _thread import interrupt_main
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.link.numba.dispatch.basic import numba_funcify, numba_njit

from ...evaluation.by_code import Evaluation
from ...runtime.foreign import from_any_thread
from .machine import Programs, is_possible, machine
from .ops import ArrayOp, LogLikelihood

# Draws are a call of Python's in any case, so object mode costs nothing there.
warnings.filterwarnings("ignore", message=r"Numba will use object mode to run DensityRV\{")

_FAILED = "the evaluation of a gpustats {} failed; the RuntimeWarning that came before this tells why"
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


class Bridge:
    """Function of arrays as a C function.

    The function takes a list of arrays of `ndims` dimensions, and returns a list of arrays, or of numbers; its name is for
    warnings. `dtypes` has the places of arrays that come as they are, in these types and with their strides; all others are
    float64 and contiguous. `numbers` are the places of arrays of one number, which come as numbers of Python's. `evaluation`
    returns the evaluation by compiled code alone: see `machine.Programs`.
    """

    def __init__(
        self, function: Callable[[list[Any]], Sequence[Any]], ndims: Sequence[int], name: str,
        dtypes: Mapping[int, str] | None = None, numbers: Sequence[int] = (),
        evaluation: Callable[[Sequence[Any]], Evaluation | None] | None = None,
    ):  # fmt: skip
        self._function, self._name, self.dtypes, self.numbers = function, name, dict(dtypes or {}), tuple(numbers)
        self._n = len(ndims)
        self._arrays = [(i, ndim) for i, ndim in enumerate(ndims) if i not in self.numbers]
        self._first_array = int(bool(self.numbers))
        self._first_extent = self._first_array + len(self._arrays)
        self._first_stride = self._first_extent + sum(ndim for _, ndim in self._arrays)
        self._layout = ctypes.c_int64 * (self._first_stride + sum(ndims[i] for i in self.dtypes))
        self._numbers = ctypes.c_double * len(self.numbers)
        self.programs = None if evaluation is None else self._programs(evaluation)
        self.callback = _CALLBACK(from_any_thread(self._evaluate))  # has to live as long as the code that calls it

    def _programs(self, evaluation: Callable[[Sequence[Any]], Evaluation | None]) -> Programs:
        slots = {i: (0, place) for place, i in enumerate(self.numbers)}  # numbers lie together
        slots |= {i: (self._first_array + place, 0) for place, (i, _) in enumerate(self._arrays)}
        in_order = [slots[i] for i in range(self._n)]
        return Programs(evaluation, in_order, self._first_extent, self._first_stride - self._first_extent)

    def _evaluate(self, layout: int, out: int) -> int:
        """Status of an evaluation: 1 for success, 0 for an error, which ctypes returns.

        `layout` has the address of the numbers, if there are any, the addresses of the arrays, their extents, and strides.
        """
        try:
            began = time.perf_counter()
            layout_ = self._layout.from_address(layout)[:]
            arguments: list[Any] = [None] * self._n
            if self.numbers:
                numbers = self._numbers.from_address(layout_[0])
                for i, number in zip(self.numbers, numbers, strict=True):
                    arguments[i] = number
            at, strides = self._first_extent, self._first_stride
            for (i, ndim), address in zip(self._arrays, layout_[self._first_array :], strict=False):
                shape = tuple(layout_[at : at + ndim])
                at += ndim
                if i in self.dtypes:
                    arguments[i] = _as_it_is(address, shape, tuple(layout_[strides : strides + ndim]), self.dtypes[i])
                    strides += ndim
                else:
                    arguments[i] = _array(address, shape)
            to = out
            for result in self._function(arguments):
                if isinstance(result, float):
                    ctypes.c_double.from_address(to).value = result
                    to += 8
                    continue
                if result.size == 1:
                    ctypes.c_double.from_address(to).value = result.item()
                else:
                    _array(to, result.shape)[...] = result
                to += 8 * result.size
            if self.programs is not None:
                self.programs.offer(arguments, layout_, time.perf_counter() - began)
            return 1
        except KeyboardInterrupt:  # it cannot pass through compiled code: it comes again when that has returned
            try:
                return self._evaluate(layout, out)
            finally:
                threading.Timer(0.01, interrupt_main).start()
        except Exception as error:
            warnings.warn(f"{self._name}: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)
        return 0


def _array(address: int, shape: tuple[int, ...]) -> np.ndarray:
    size = math.prod(shape)
    if size == 1:
        return np.array(ctypes.c_double.from_address(address).value).reshape(shape)
    if not size:
        return np.empty(shape)
    memory: Any = (ctypes.c_double * size).from_address(address)
    return np.frombuffer(memory).reshape(shape)


def _as_it_is(address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str) -> np.ndarray:
    if not math.prod(shape):
        return np.empty(shape, dtype)
    span = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)) + np.dtype(dtype).itemsize
    memory: Any = (ctypes.c_char * span).from_address(address)
    return np.ndarray(shape, dtype, memory, 0, strides)


def compiled(bridge: Bridge, node: Apply) -> Callable:
    """Numba function that calls a bridge, for a node whose inputs are a0, a1, …"""
    op, ndims = node.op, ndims_of(node)
    n = len(ndims)
    inputs = ", ".join(f"a{i}" for i in range(n))
    arrays = [i for i in range(n) if i not in bridge.numbers]
    shapes = [tuple(f"a{i}.shape[{axis}]" for axis in range(ndim)) for i, ndim in enumerate(ndims)]
    extents = [extent for i in arrays for extent in shapes[i]]
    lines = [f"def call({inputs}):"]
    converted = [i for i in arrays if i not in bridge.dtypes]
    extents += [f"a{i}.strides[{axis}]" for i in bridge.dtypes for axis in range(ndims[i])]
    lines += [f"    a{i} = a{i}.astype(np.float64)" for i in converted if node.inputs[i].type.dtype != "float64"]
    lines += [f"    a{i} = np.ascontiguousarray(a{i})" for i in converted if ndims[i]]
    addresses = [f"a{i}.ctypes.data" for i in arrays]
    if bridge.numbers:
        lines += [f"    numbers = np.empty({len(bridge.numbers)})"]
        lines += [f"    numbers[{k}] = a{i}[{', '.join('0' * ndims[i]) or '()'}]" for k, i in enumerate(bridge.numbers)]
        addresses.insert(0, "numbers.ctypes.data")
    layout = [*addresses, *extents]
    lines += [f"    layout = np.empty({len(layout)}, np.int64)"]
    lines += [f"    layout[{k}] = {number}" for k, number in enumerate(layout)]
    sizes = []
    for i, shape in enumerate(op.shapes(shapes, functools.partial(_broadcast, ndims))):
        lines += [f"    shape{i} = ({''.join(f'{extent}, ' for extent in shape)})"]
        lines += [f"    size{i} = {' * '.join(f'shape{i}[{axis}]' for axis in range(len(shape))) or '1'}"]
        sizes.append(f"size{i}")
    lines += [f"    out = np.empty({' + '.join(sizes)})"]
    call, scope = "callback(layout.ctypes.data, out.ctypes.data) != 1", dict[str, Any]()
    if bridge.programs is not None and is_possible():
        call = f"not evaluated({bridge.programs.table.ctypes.data}, layout.ctypes.data, out.ctypes.data) and {call}"
        scope["evaluated"] = machine()
    lines += [f"    if {call}:", "        raise RuntimeError(FAILED)"]
    alive = [*(f"a{i}" for i in arrays), *(["numbers"] if bridge.numbers else [])]
    lines += [f"    layout[0] = {name}.size" for name in alive]  # Numba frees what is not used any more: they live until here
    results, start = [], "0"
    for i, output in enumerate(node.outputs):
        stop = f"{start} + size{i}"
        result = f"out[{start}:{stop}].reshape(shape{i})"
        results.append(f"{result}.astype(np.bool_)" if output.type.dtype == "bool" else result)
        start = stop
    lines += [f"    return {', '.join(results)}"]
    scope |= {"np": np, "callback": bridge.callback, "FAILED": _FAILED.format(op.noun), "bridge": bridge}
    exec("\n".join(lines), scope)
    return numba_njit(scope["call"])


def _broadcast(ndims: Sequence[int], ranks: Sequence[int]) -> tuple[str, ...]:
    """Shape to which the leading axes of inputs broadcast, of which so many are others."""
    batch = [n - rank for n, rank in zip(ndims, ranks, strict=True)]
    ndim, shape = max(batch), []
    for axis in range(ndim):
        extent = "1"
        for i, n in enumerate(batch):
            own_axis = axis - (ndim - n)  # this axis among the input's own
            if own_axis >= 0:
                extent = f"(a{i}.shape[{own_axis}] if a{i}.shape[{own_axis}] != 1 else {extent})"
        shape.append(extent)
    return tuple(shape)


def ndims_of(node: Apply) -> list[int]:
    return [v.type.ndim for v in node.inputs]


@numba_funcify.register(ArrayOp)
def _array_op(op: ArrayOp, node: Apply, **kwargs: Any) -> Callable:
    return compiled(Bridge(op.evaluate, ndims_of(node), str(op)), node)


@numba_funcify.register(LogLikelihood)
def _log_likelihood(op: LogLikelihood, node: Apply, **kwargs: Any) -> Callable:
    def alone(arrays: Sequence[np.ndarray]) -> Evaluation | None:
        return op.by_code([a.shape for a in arrays], op.places)

    return compiled(Bridge(op.evaluate, ndims_of(node), str(op), evaluation=alone), node)
