"""Calls of linear algebra: the arguments as matrices where the call is computed, and the results as the caller gets them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..evaluation.placement import as_read, device_of, gather
from ..runtime import arrays
from ..runtime.base import Runtime
from ..runtime.types import Array, DType, Shape
from . import where as placement_rule
from .matrix import Matrix
from .provider import Provider


def matrix_shape(value: Array, name: str, square: bool = False) -> Shape:
    """Shape of an argument that is a matrix, or a stack of matrices along its leading axes."""
    shape = tuple(getattr(value, "shape", ()))
    if len(shape) < 2 or (square and shape[-1] != shape[-2]):
        wanted = (
            "a square matrix or a stack of them, (..., n, n)" if square else "a matrix or a stack of them, (..., m, n)"
        )
        raise ValueError(f"{name} has shape {shape}, but must be {wanted}")
    return shape


def take(**values: Array) -> list[Array]:
    """Arguments as arrays where they lie; TypeError for types that gpustats does not compute with."""
    return [arrays.as_array(value, name) for name, value in values.items()]


def stack_shape(**shapes: Shape) -> Shape:
    """Shape that stacks of matrices broadcast to: their leading axes, as in `numpy.linalg`."""
    try:
        return np.broadcast_shapes(*(shape[:-2] for shape in shapes.values()))
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"stacks of matrices that do not broadcast along their leading axes: {listed}") from None


def as_column(vector: Array) -> Array:
    """Matrix of one column, from a vector."""
    if arrays.is_device_array(vector) and not arrays.is_contiguous(vector):
        vector = gather(device_of([vector], ["vector"]), vector, np.dtype(vector.dtype))
    return vector.reshape(*vector.shape, 1)


class MatrixCall:
    """Call of linear algebra: the place where it is computed, its operands there, and its results.

    Parameters
    ----------
    values : dict
        The arguments by name, as `take` returns them.
    flops : float
        Operations of the call.
    numbers : int
        Numbers in the results.
    kind : {"gemm", "potrf"}
        Kind of most operations: those of a product, independent of one another, or of a factorisation.
    where : {"auto", "host", "device"}
    """

    def __init__(
        self, values: dict[str, Array], flops: float, numbers: int, kind: str = "gemm", where: str = "auto"
    ) -> None:
        arguments = list(values.values())
        self.dtype: DType = arrays.result_dtype(arguments)
        self.native = any(map(arrays.is_device_array, arguments))  # then the results are device arrays, too
        on_device = device_of(arguments, list(values)) if self.native else None
        moved = (sum(v.size for v in arguments) + numbers) * self.dtype.itemsize
        self.provider: Provider = placement_rule.choose(on_device, self.dtype, flops, moved, kind, where)
        self.runtime: Runtime | None = self.provider.runtime  # None: the host alone
        if self.runtime is not None and self.dtype.itemsize == 8 and not self.runtime.device.double:
            raise ValueError(f"{self.runtime.device} computes in float32 only: pass float32 arrays")

    def operand(self, array: Array, stack: Shape = (), row_major: bool = False) -> Matrix:
        """Argument where the call is computed, broadcast to a stack of matrices.

        The operand may be the caller's memory, so it is only to be read. With `row_major`, it is not `transposed`.
        """
        shape = tuple(array.shape)
        batch = math.prod(stack)
        if shape[:-2] != stack and math.prod(shape[:-2]) != 1:
            shape = stack + shape[-2:]
        matrix = self._matrix(array, shape, row_major)
        if matrix.batch != batch:  # one for all
            matrix.batch, matrix.batch_stride = batch, 0
        return matrix

    def _matrix(self, array: Array, shape: Shape, row_major: bool) -> Matrix:
        """Matrices of an array in the shape that it is broadcast to, copied only where they have to be."""
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
            array = as_read(self.runtime, array, self.dtype, None if tuple(array.shape) == shape else shape)
        matrix = Matrix.over(self.runtime, array)
        return matrix.T if flipped else matrix

    def result(self, shape: Shape) -> Matrix:
        """Memory for a result, of the kind that the caller gets."""
        if self.native:
            assert self.runtime is not None
            return Matrix.over(self.runtime, self.runtime.empty(shape, self.dtype))
        return self.provider.empty(shape[-2], shape[-1], self.dtype, math.prod(shape[:-2]))

    def zeros(self, shape: Shape) -> Array:
        """Zeros for a result that is a sum over nothing, as the caller gets it."""
        zeros = np.zeros(shape, self.dtype)
        if not self.native:
            return zeros
        assert self.runtime is not None
        return self.runtime.to_device(zeros)

    def deliver(self, matrix: Matrix, shape: Sequence[int]) -> Array:
        """Array of a matrix that `result` gave, as the caller gets it, in this shape."""
        array, shape = matrix.memory.array, tuple(shape)
        if not self.native and not self.provider.on_host:
            assert self.runtime is not None
            array = self.runtime.to_host(array)
        return array if array.shape == shape else array.reshape(shape)

    def log_determinant(self, factor: Matrix, stack: Shape) -> Array:
        """Logarithm of the determinant of l l' for each factor l of a stack, as the caller gets it, float64."""
        some = factor.batch and factor.rows
        numbers = self.provider.log_determinant(factor) if some else np.zeros(factor.batch)
        if not self.native:
            return self.provider.read(numbers).reshape(stack)[()]
        if isinstance(numbers, np.ndarray):
            assert self.runtime is not None
            numbers = self.runtime.to_device(numbers)
        return numbers.reshape(stack)
