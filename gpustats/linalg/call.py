"""The arguments of a call as matrices where it is computed, and its results as the caller gets them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.placement import device_of, gather
from ..runtime import arrays
from . import where as placement_rule
from .matrix import Matrix
from .provider import Provider

if TYPE_CHECKING:
    from ..runtime.base import Runtime

Shape = tuple[int, ...]


def matrix_shape(value: Any, name: str, square: bool = False) -> Shape:
    """The shape of an argument that is a matrix, or a stack of them along its leading axes."""
    shape = tuple(getattr(value, "shape", ()))
    if len(shape) < 2 or (square and shape[-1] != shape[-2]):
        wanted = (
            "a square matrix or a stack of them, (..., n, n)" if square else "a matrix or a stack of them, (..., m, n)"
        )
        raise ValueError(f"{name} has shape {shape}, but must be {wanted}")
    return shape


def take(**values: Any) -> list[Any]:
    """The arguments as arrays where they lie; TypeError for what gpustats does not compute with."""
    return [arrays.as_array(value, name) for name, value in values.items()]


def stack_shape(**shapes: Shape) -> Shape:
    """The shape that stacks of matrices broadcast to: their leading axes, as in `numpy.linalg`."""
    try:
        return np.broadcast_shapes(*(shape[:-2] for shape in shapes.values()))
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"stacks of matrices that do not broadcast along their leading axes: {listed}") from None


def as_columns(vector: Any) -> Any:
    """A vector as a matrix of one column."""
    if not isinstance(vector, np.ndarray) and not arrays.is_contiguous(vector):
        vector = gather(device_of([vector], ["vector"]), vector, np.dtype(vector.dtype))
    return vector.reshape(*vector.shape, 1)


class Call:
    """One call: where it is computed, its operands there, and its results back.

    Parameters
    ----------
    values : dict
        The arguments by name, as `take` returns them.
    flops : float
        Operations of the call.
    numbers : int
        Of the results.
    kind : {"gemm", "potrf"}
        What most of them are like: independent of one another, or not.
    where : {"auto", "host", "device"}

    Attributes
    ----------
    provider : Provider
    runtime : Runtime or None
        None: the host alone.
    dtype : dtype
    native : bool
        Whether the results are device arrays: where an argument is one.
    """

    def __init__(
        self, values: dict[str, Any], flops: float, numbers: int, kind: str = "gemm", where: str = "auto"
    ) -> None:
        given = list(values.values())
        self.dtype = arrays.result_dtype(given)
        self.native = any(map(arrays.is_device_array, given))
        on_device = device_of(given, list(values)) if self.native else None
        moved = (sum(v.size for v in given) + numbers) * self.dtype.itemsize
        self.provider: Provider = placement_rule.choose(on_device, self.dtype, flops, moved, kind, where)
        self.runtime: Runtime | None = self.provider.runtime
        if self.runtime is not None and self.dtype.itemsize == 8 and not self.runtime.device.double:
            raise ValueError(f"{self.runtime.device} computes in float32 only: pass float32 arrays")

    def operand(self, array: Any, stack: Shape = (), row_major: bool = False) -> Matrix:
        """An argument, broadcast to a stack of matrices. It may be the caller's memory: only to be read.

        With `row_major`, it is no `transposed` one.
        """
        shape = tuple(array.shape)
        batch = math.prod(stack)
        if shape[:-2] != stack and math.prod(shape[:-2]) != 1:
            shape = stack + shape[-2:]
        lies = self._lie(array, shape, row_major)
        if lies.batch != batch:  # one for all
            lies.batch, lies.batch_stride = batch, 0
        return lies

    def _lie(self, array: Any, shape: Shape, row_major: bool) -> Matrix:
        flipped = False
        if isinstance(array, np.ndarray):
            array = np.broadcast_to(np.asarray(array, self.dtype), shape)
            flipped = not row_major and not array.flags.c_contiguous and array.swapaxes(-1, -2).flags.c_contiguous
            array = array.swapaxes(-1, -2) if flipped else np.asarray(array, order="C")
            if not self.provider.on_host:
                assert self.runtime is not None
                array = self.runtime.to_device(array)
        else:
            assert self.runtime is not None
            if array.shape != shape or array.dtype != self.dtype or not arrays.is_contiguous(array):
                array = gather(self.runtime, array, self.dtype, shape)
        matrix = Matrix.over(self.runtime, array)
        return matrix.T if flipped else matrix

    def writable(self, array: Any, stack: Shape = ()) -> Matrix:
        """A copy of an argument, row-major."""
        source = self.operand(array, stack)
        target = self.provider.empty(source.rows, source.columns, self.dtype, source.batch)
        if source.batch and source.rows and source.columns:
            self.provider.copy(source, target)
        return target

    def result(self, shape: Shape) -> Matrix:
        """Memory for a result, of the kind that the caller gets."""
        if self.native:
            assert self.runtime is not None
            return Matrix.over(self.runtime, self.runtime.empty(shape, self.dtype))
        return self.provider.empty(shape[-2], shape[-1], self.dtype, math.prod(shape[:-2]))

    def zeros(self, shape: Shape) -> Any:
        """A result that is a sum over nothing, as the caller gets it."""
        zeros = np.zeros(shape, self.dtype)
        if not self.native:
            return zeros
        assert self.runtime is not None
        return self.runtime.to_device(zeros)

    def deliver(self, matrix: Matrix, shape: Sequence[int]) -> Any:
        """What `result` gave, in this shape."""
        array, shape = matrix.memory.array, tuple(shape)
        if not self.native and not self.provider.on_host:
            assert self.runtime is not None
            array = self.runtime.to_host(array)
        return array if array.shape == shape else array.reshape(shape)

    def log_determinant(self, factor: Matrix, stack: Shape) -> Any:
        """That of each l l', as the caller gets it, float64."""
        whole = factor.batch and factor.rows
        return self._small(self.provider.log_determinant(factor) if whole else np.zeros(factor.batch), stack)

    def _small(self, numbers: Any, shape: Shape) -> Any:
        if not self.native:
            return self.provider.read(numbers).reshape(shape)[()]
        if isinstance(numbers, np.ndarray):
            assert self.runtime is not None
            numbers = self.runtime.to_device(numbers)
        return numbers.reshape(shape)
