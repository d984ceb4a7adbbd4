"""Products of matrices, and their reverse modes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..runtime import arrays
from ..runtime.types import Array, Shape
from . import blocked
from .blocked import FULL, LOWER, UPPER
from .call import MatrixCall, as_column, matrix_shape, stack_shape, take
from .matrix import Matrix


@dataclass(frozen=True)
class Triangular:
    """Square matrix of which only one triangle counts; numbers in the other are never read. Made by `lower`, `upper`."""

    array: Array
    kind: str


def lower(a: Array) -> Triangular:
    """Lower triangle of a square matrix (..., n, n) with its diagonal, as an operand of `matmul`. Nothing is copied.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> a = np.array([[1.0, 5.0], [2.0, 3.0]])
    >>> gs.linalg.matmul(gs.linalg.lower(a), a)
    array([[ 1.,  5.],
           [ 8., 19.]])
    """
    return _triangular(a, LOWER)


def upper(a: Array) -> Triangular:
    """Upper triangle of a square matrix (..., n, n) with its diagonal, as an operand of `matmul`. Nothing is copied."""
    return _triangular(a, UPPER)


def _triangular(a: Array, kind: str) -> Triangular:
    (array,) = take(a=a)
    matrix_shape(array, "a", square=True)
    return Triangular(array, kind)


def matmul(a: Array | Triangular, b: Array | Triangular, *, where: str = "auto") -> Array:
    """Matrix product a b.

    Parameters
    ----------
    a : array_like, (..., m, k) or (k,)
    b : array_like, (..., k, n) or (k,)
        Leading axes broadcast, and vectors are taken, as in `numpy.matmul`. Either may be `lower` (x) or `upper` (x) of a
        square x: the other half of x counts as zeros, is not read, and (beyond a block's size) not multiplied.
    where : {"auto", "host", "device"}
        Where NumPy arrays are multiplied; by default where it takes less time.

    Returns
    -------
    ndarray, float, or a device array where a or b is one
        float32 if both are, else float64.

    Raises
    ------
    ValueError
        Shapes that do not fit, arrays of two devices.
    TypeError
        Complex numbers, objects.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.linalg.matmul(np.ones((2, 3)), np.arange(3.0))
    array([3., 3.])
    """
    (a, a_kind), (b, b_kind) = _operand(a, "a"), _operand(b, "b")
    a_vector, b_vector = len(a.shape) == 1, len(b.shape) == 1
    a_shape = (1, *a.shape) if a_vector else matrix_shape(a, "a")
    b_shape = (*b.shape, 1) if b_vector else matrix_shape(b, "b")
    _require_fit(a.shape, a_shape, b.shape, b_shape)
    stack = stack_shape(a=a_shape, b=b_shape)
    (m, k), n = a_shape[-2:], b_shape[-1]
    batch = math.prod(stack)
    call = MatrixCall({"a": a, "b": b}, 2.0 * batch * m * k * n, batch * m * n, where=where)
    core = (() if a_vector else (m,)) + (() if b_vector else (n,))
    if not k:
        return call.zeros(stack + core)
    out = call.result((*stack, m, n))
    if batch * m * n:
        left = call.operand(as_column(a) if a_vector else a, stack)
        right = call.operand(as_column(b) if b_vector else b, stack)
        left = left.T if a_vector else left
        _multiply(call, left, a_kind, right, b_kind, out)
    return call.deliver(out, stack + core)


def _multiply(call: MatrixCall, a: Matrix, a_kind: str, b: Matrix, b_kind: str, out: Matrix) -> None:
    """Product out = a b. The product of two lower (upper) triangles is a triangle, too: zeros fill its other half."""
    provider = call.provider
    if a_kind == b_kind == UPPER:  # what is left zero lies below the diagonal: it comes from that of the transposes
        transposed = provider.empty(out.columns, out.rows, out.dtype, out.batch)
        _multiply(call, b.T, LOWER, a.T, LOWER, transposed)
        provider.copy(transposed.T, out)
        return
    if a_kind == b_kind == FULL and a.batch > 1 and b.batch_stride == 0 and not a.transposed and a.batch_stride:
        # one b for a stack of matrices that lie behind one another: one large product
        a = Matrix(a.memory, a.batch * a.rows, a.columns, a.stride, a.start)
        b = b.batches(0, 1)
        out = Matrix(out.memory, a.rows, out.columns, out.stride, out.start)
    blocked.multiply(provider, 1.0, a, a_kind, b, b_kind, 0.0, out)
    if a_kind == b_kind == LOWER:
        provider.lower(out, out)


def gram(a: Array, *, where: str = "auto") -> Array:
    """Gram matrix a a', of which one half is computed and mirrored.

    Parameters
    ----------
    a : array_like, (..., m, k)
    where : {"auto", "host", "device"}
        As for `matmul`.

    Returns
    -------
    ndarray or device array, (..., m, m)
        Symmetric to the last bit.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.linalg.gram(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[ 5., 11.],
           [11., 25.]])
    """
    (a,) = take(a=a)
    *leading, m, k = matrix_shape(a, "a")
    stack = tuple(leading)
    batch = math.prod(stack)
    call = MatrixCall({"a": a}, 1.0 * batch * m * m * k, batch * m * m, where=where)
    if not k:
        return call.zeros((*stack, m, m))
    out = call.result((*stack, m, m))
    if batch * m:
        operand = call.operand(a, stack)
        if batch == 1:
            call.provider.syrk(1.0, operand, 0.0, out)
        else:
            call.provider.gemm(1.0, operand, operand.T, 0.0, out)
        call.provider.lower(out, out, "mirror")
    return call.deliver(out, (*stack, m, m))


def matmul_grad(a: Array | Triangular, b: Array | Triangular, c_bar: Array, *, where: str = "auto") -> tuple[Array, Array]:
    """Reverse mode of c = a b: ā = c̄ b', b̄ = a' c̄.

    Parameters
    ----------
    a, b : array_like, (..., m, k), (..., k, n)
        The operands of `matmul`; either may be `lower` (x) or `upper` (x), and then its derivative has zeros elsewhere.
    c_bar : array_like, (..., m, n)
        The derivative of a number in c.

    Returns
    -------
    a_bar, b_bar
        The derivatives in a and in b, of their shapes: summed over the axes along which the other was broadcast.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> a_bar, b_bar = gs.linalg.matmul_grad(np.ones((2, 3)), np.ones((3, 4)), np.ones((2, 4)))
    >>> float(a_bar[0, 0]), float(b_bar[0, 0])
    (4.0, 2.0)
    """
    (a, a_kind), (b, b_kind) = _operand(a, "a"), _operand(b, "b")
    (c_bar,) = take(c_bar=c_bar)
    a_shape, b_shape, c_shape = matrix_shape(a, "a"), matrix_shape(b, "b"), matrix_shape(c_bar, "c_bar")
    _require_fit(a_shape, a_shape, b_shape, b_shape)
    stack = stack_shape(a=a_shape, b=b_shape)
    (m, k), n = a_shape[-2:], b_shape[-1]
    if c_shape != (*stack, m, n):
        raise ValueError(f"c_bar has shape {c_shape}, but a b has {(*stack, m, n)}")
    batch = math.prod(stack)
    call = MatrixCall({"a": a, "b": b, "c_bar": c_bar}, 4.0 * batch * m * k * n, a.size + b.size, where=where)
    if not batch * m * k * n:
        return call.zeros(a_shape), call.zeros(b_shape)
    left, right, adjoint = (call.operand(x, stack) for x in (a, b, c_bar))
    results = []
    for kind, shape, factors in (
        (a_kind, a_shape, (adjoint, FULL, right.T, _flip(b_kind))),
        (b_kind, b_shape, (left.T, _flip(a_kind), adjoint, FULL)),
    ):
        summed = shape[:-2] != stack
        out = call.provider.empty(shape[-2], shape[-1], call.dtype, batch) if summed else call.result(shape)
        blocked.multiply(call.provider, 1.0, *factors, 0.0, out)
        if summed:
            out = sum_to(call, out, stack, shape)
        if kind != FULL:
            out = only(call, out, kind, shape)
        results.append(call.deliver(out, shape))
    return results[0], results[1]


def gram_grad(a: Array, c_bar: Array, *, where: str = "auto") -> Array:
    """Reverse mode of c = a a': ā = (c̄ + c̄') a.

    Parameters
    ----------
    a : array_like, (..., m, k)
    c_bar : array_like, (..., m, m)
        The derivative of a number in c; it need not be symmetric.

    Returns
    -------
    ndarray or device array, (..., m, k)

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.linalg.gram_grad(np.array([[3.0]]), np.array([[1.0]]))
    array([[6.]])
    """
    a, c_bar = take(a=a, c_bar=c_bar)
    shape = matrix_shape(a, "a")
    *leading, m, k = shape
    stack = tuple(leading)
    if tuple(c_bar.shape) != (*stack, m, m):
        raise ValueError(f"c_bar has shape {tuple(c_bar.shape)}, but a a' has {(*stack, m, m)}")
    call = MatrixCall({"a": a, "c_bar": c_bar}, 4.0 * math.prod(stack) * m * m * k, a.size, where=where)
    out = call.result(shape)
    if a.size:
        operand, adjoint = call.operand(a, stack), call.operand(c_bar, stack)
        call.provider.gemm(1.0, adjoint, operand, 0.0, out)
        call.provider.gemm(1.0, adjoint.T, operand, 1.0, out)
    return call.deliver(out, shape)


def sum_to(call: MatrixCall, m: Matrix, stack: Shape, shape: Shape) -> Matrix:
    """Stack of matrices summed over the axes along which an argument of `shape` was broadcast.

    Each is a product with a row of ones, so that it works wherever a product does, in an order that is always the same.
    """
    core = shape[-2:]
    own = (1,) * (len(stack) - len(shape) + 2) + shape[:-2]
    extents = list(stack)
    for axis, (n, mine) in enumerate(zip(stack, own, strict=True)):
        if mine == n:
            continue
        before, behind = math.prod(extents[:axis]), math.prod(extents[axis + 1 :]) * math.prod(core)
        last = not any(a != b for a, b in zip(stack[axis + 1 :], own[axis + 1 :], strict=True))
        extents[axis] = 1
        out = call.result(shape) if last else call.provider.empty(core[0], core[1], call.dtype, math.prod(extents))
        ones = call.operand(np.ones((1, n), call.dtype))
        ones.batch, ones.batch_stride = before, 0
        terms = Matrix(m.memory, n, behind, behind, m.start, False, before, n * behind)
        call.provider.gemm(1.0, ones, terms, 0.0, Matrix(out.memory, 1, behind, behind, 0, False, before, behind))
        m = out
    return m


def only(call: MatrixCall, m: Matrix, kind: str, shape: Shape) -> Matrix:
    """Triangle of a result, with zeros in the other."""
    if kind == LOWER:
        call.provider.lower(m, m)
        return m
    transposed, out = call.provider.empty(m.rows, m.rows, m.dtype, m.batch), call.result(shape)
    call.provider.lower(m.T, transposed)
    call.provider.copy(transposed.T, out)
    return out


def _flip(kind: str) -> str:
    """Kind of the transpose of a matrix."""
    return {LOWER: UPPER, UPPER: LOWER}.get(kind, FULL)


def _operand(value: Array | Triangular, name: str) -> tuple[Array, str]:
    """Argument as an array, and the part of it that counts."""
    if isinstance(value, Triangular):
        return value.array, value.kind
    array = arrays.as_array(value, name)
    if isinstance(array, float):
        raise ValueError(f"{name} is a number: matmul takes vectors and matrices")
    return array, FULL


def _require_fit(a_own: Shape, a_shape: Shape, b_own: Shape, b_shape: Shape) -> None:
    """Check of shapes: ValueError where a b is not defined, in the caller's shapes: a vector without its second axis."""
    if a_shape[-1] != b_shape[-2]:
        raise ValueError(
            f"a has shape {tuple(a_own)} and b {tuple(b_own)}: the last axis of a ({a_shape[-1]}) and the "
            f"{'only' if len(b_own) == 1 else 'second last'} axis of b ({b_shape[-2]}) must be equally long"
        )
