"""Triangular systems and inverses, and their reverse modes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..runtime.types import Array, Shape
from . import blocked
from .blocked import FULL, LOWER
from .call import MatrixCall, as_column, matrix_shape, stack_shape, take
from .matrix import INFINITE, ZERO_ON_DIAGONAL, Matrix
from .products import only, sum_to


def solve_triangular(a: Array, b: Array, trans: int | str = 0, lower: bool = True, *, where: str = "auto") -> Array:
    """Solution x of a x = b with a triangular a. As `scipy.linalg.solve_triangular`, but for `lower`, here the default.

    Parameters
    ----------
    a : array_like, (..., n, n)
        The other triangle is not read.
    b : array_like, (n,) or (..., n, m)
        A vector only where it has one axis. Leading axes broadcast with those of a.
    trans : {0, 1, 2, "N", "T", "C"}
        0 or "N": a x = b; else a' x = b.
    lower : bool
        Whether a is lower or upper triangular.
    where : {"auto", "host", "device"}
        As for `matmul`.

    Returns
    -------
    ndarray, or a device array where a or b is one
        Shaped like b, with the broadcast leading axes.

    Raises
    ------
    ValueError
        Shapes that do not fit, nan or infinite numbers in a. Those in b make the columns nan that they reach.
    numpy.linalg.LinAlgError
        A zero on the diagonal.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.linalg.solve_triangular(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([2.0, 3.0]))
    array([1., 2.])
    """
    a, b = take(a=a, b=b)
    return solved(a, b, lower, [transposes(trans) == lower], where)


def inv_triangular(a: Array, lower: bool = True, *, where: str = "auto") -> Array:
    """Inverse of a triangular matrix.

    Parameters
    ----------
    a : array_like, (..., n, n)
        The other triangle is not read.
    lower : bool
    where : {"auto", "host", "device"}
        As for `matmul`.

    Returns
    -------
    ndarray or device array, (..., n, n)
        With zeros in the other triangle.

    Raises
    ------
    ValueError, numpy.linalg.LinAlgError
        As `solve_triangular`.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.linalg.inv_triangular(np.array([[2.0, 0.0], [1.0, 1.0]]))
    array([[ 0.5,  0. ],
           [-0.5,  1. ]])
    """
    (a,) = take(a=a)
    shape = matrix_shape(a, "a", square=True)
    n, stack = shape[-1], shape[:-2]
    batch = math.prod(stack)
    call = MatrixCall({"a": a}, batch * n**3 / 3, batch * n * n, where=where)
    out = call.result(shape)
    if batch * n:
        provider, source = call.provider, call.operand(a, stack)
        found = provider.examine_triangle(source if lower else source.T)
        inverse = out if lower else provider.empty(n, n, call.dtype, batch)
        provider.lower(source if lower else source.T, inverse)
        provider.invert(inverse)
        if not lower:
            provider.copy(inverse.T, out)
        refuse(call, found, lower)
    return call.deliver(out, shape)


def solve_triangular_grad(
    a: Array, x: Array, x_bar: Array, trans: int | str = 0, lower: bool = True, *, where: str = "auto"
) -> tuple[Array, Array]:
    """Reverse mode of a x = b: a' b̄ = x̄ and ā = -b̄ x', of which only the triangle counts.

    With `trans`, a' x = b: a b̄ = x̄ and ā = -x b̄'.

    Parameters
    ----------
    a : array_like, (..., n, n)
    x : array_like, (n,) or (..., n, m)
        What `solve_triangular` has returned; a has no axes along which x was not broadcast.
    x_bar : array_like
        The derivative of a number in x, of its shape.
    trans, lower
        As for `solve_triangular`.

    Returns
    -------
    a_bar : (..., n, n)
        The derivative in a, with zeros in the other triangle; summed over the axes along which a was broadcast.
    b_bar
        The derivative in b, shaped like x.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> a_bar, b_bar = gs.linalg.solve_triangular_grad(np.array([[2.0]]), np.array([3.0]), np.array([1.0]))
    >>> float(a_bar[0, 0]), float(b_bar[0])
    (-1.5, 0.5)
    """
    a, x, x_bar = take(a=a, x=x, x_bar=x_bar)
    flip = transposes(trans)
    shape, stack, n, m, vector = solution_shapes(a, x, x_bar)
    a_shape, batch = tuple(a.shape), math.prod(stack)
    call = MatrixCall({"a": a, "x": x, "x_bar": x_bar}, 3.0 * batch * n * n * m, a.size + x.size, where=where)
    if not batch * n * m:
        return call.zeros(a_shape), call.zeros(shape)
    a_bar = call.result(a_shape)
    provider, solution = call.provider, call.operand(as_column(x) if vector else x, stack)
    b_bar = copied(call, as_column(x_bar) if vector else x_bar, stack)
    factor, _ = lower_operand(call, a, lower, stack)
    provider.solve(factor if flip == lower else factor.T, b_bar)
    left, right = (solution, b_bar) if flip else (b_bar, solution)
    if not lower:
        left, right = right, left  # the transpose of what counts
    summed = a_shape[:-2] != stack
    product = a_bar if lower and not summed else provider.empty(n, n, call.dtype, batch)
    if batch == 1:
        blocked.lower_product(provider, -1.0, left, right.T, 0.0, product)
    else:
        provider.gemm(-1.0, left, right.T, 0.0, product)
    if summed:
        product = sum_to(call, product, stack, a_shape)
    provider.lower(product, product)
    if not lower:
        provider.copy(product.T, a_bar)
    return call.deliver(a_bar if not lower else product, a_shape), call.deliver(b_bar, shape)


def inv_triangular_grad(inverse: Array, inverse_bar: Array, lower: bool = True, *, where: str = "auto") -> Array:
    """Reverse mode of c = a⁻¹: ā = -c' c̄ c', of which only the triangle counts.

    Parameters
    ----------
    inverse, inverse_bar : array_like, (..., n, n)
        What `inv_triangular` has returned, and the derivative of a number in it. Their other triangles are not read.
    lower : bool

    Returns
    -------
    ndarray or device array, (..., n, n)
        With zeros in the other triangle.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.linalg.inv_triangular_grad(np.array([[0.5]]), np.array([[1.0]]))
    array([[-0.25]])
    """
    inverse, inverse_bar = take(inverse=inverse, inverse_bar=inverse_bar)
    shape = matrix_shape(inverse, "inverse", square=True)
    if tuple(inverse_bar.shape) != shape:
        raise ValueError(f"inverse_bar has shape {tuple(inverse_bar.shape)}, but inverse has {shape}")
    n, stack = shape[-1], shape[:-2]
    batch = math.prod(stack)
    call = MatrixCall({"inverse": inverse, "inverse_bar": inverse_bar}, 2.0 * batch * n**3, batch * n * n, where=where)
    out = call.result(shape)
    if batch * n:
        provider, kind, other = call.provider, *((LOWER, blocked.UPPER) if lower else (blocked.UPPER, LOWER))
        c, adjoint = call.operand(inverse, stack), call.operand(inverse_bar, stack)
        half = provider.empty(n, n, call.dtype, batch)
        adjoint = blocked.triangle(provider, adjoint, kind)
        blocked.multiply(provider, 1.0, c.T, other, adjoint, FULL, 0.0, half)
        blocked.multiply(provider, -1.0, half, FULL, c.T, other, 0.0, out)
        out = only(call, out, kind, shape)
    return call.deliver(out, shape)


# What the functions share


def transposes(trans: int | str) -> bool:
    """True if the argument `trans`, as SciPy writes it, asks for the transpose."""
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    return trans not in (0, "N")


def system_shapes(a: Array, b: Array, name: str = "b") -> tuple[Shape, Shape, int, int, bool]:
    """Shape of a solution, its leading axes, n, m, and whether it is a vector."""
    a_shape = matrix_shape(a, "a", square=True)
    n, vector = a_shape[-1], len(getattr(b, "shape", ())) == 1
    b_shape = (*b.shape, 1) if vector else matrix_shape(b, name)
    if b_shape[-2] != n:
        raise ValueError(f"{name} has shape {tuple(b.shape)}, but a has {a_shape}: {name} must have {n} rows")
    stack = stack_shape(a=a_shape, **{name: b_shape})
    m = b_shape[-1]
    return (*stack, n) if vector else (*stack, n, m), stack, n, m, vector


def solution_shapes(a: Array, x: Array, x_bar: Array) -> tuple[Shape, Shape, int, int, bool]:
    """Shapes of a solution x, as `system_shapes` has them; the derivative in x must have x's shape."""
    found = system_shapes(a, x, "x")
    if tuple(x_bar.shape) != found[0] or tuple(x.shape) != found[0]:
        raise ValueError(f"x has shape {tuple(x.shape)} and x_bar {tuple(x_bar.shape)}, but the solution has {found[0]}")
    return found


def solved(a: Array, b: Array, lower: bool, steps: Sequence[bool], where: str, name: str = "a") -> Array:
    """Solution by the lower triangle from a, in one or several steps; each says whether the triangle is transposed in it."""
    shape, stack, n, m, vector = system_shapes(a, b)
    batch = math.prod(stack)
    call = MatrixCall({name: a, "b": b}, float(len(steps)) * batch * n * n * m, batch * n * m, where=where)
    if not batch * n * m:
        return call.deliver(call.result((*stack, n, m)), shape)
    factor, found = lower_operand(call, a, lower, stack)
    x = copied(call, as_column(b) if vector else b, stack)
    for transposed in steps:
        call.provider.solve(factor.T if transposed else factor, x)
    refuse(call, found, lower)
    return call.deliver(x, shape)


def copied(call: MatrixCall, b: Array, stack: Shape) -> Matrix:
    """Copy of a right-hand side, in the memory of a result."""
    source = call.operand(b, stack)
    out = call.result((*stack, *source.shape))
    call.provider.copy(source, out)
    return out


def lower_operand(call: MatrixCall, a: Array, lower: bool, stack: Shape) -> tuple[Matrix, Array]:
    """Lower triangle from a, or from its transpose where it is not `lower`, and the findings of `examine_triangle`.

    Nothing is copied where it lies so already.
    """
    source = call.operand(a, stack)
    own = source.batches(0, 1) if source.batch_stride == 0 else source  # one for all is examined and copied once
    own = own if lower else own.T
    found = call.provider.examine_triangle(own)
    if own.transposed:
        stored = call.provider.empty(own.rows, own.rows, own.dtype, own.batch)
        call.provider.lower(own, stored, "keep")
        own = stored
    if own.batch != source.batch:
        own = Matrix(own.memory, *own.shape, own.stride, own.start, False, source.batch, 0)
    return own, found


def refuse(call: MatrixCall, found: Array, lower: bool) -> None:
    """Raise the error for a triangle in which `examine_triangle` has found a fault."""
    code = int(call.provider.read(found)[0])
    if code == INFINITE:
        raise ValueError(f"a has nan or infinite numbers in its {'lower' if lower else 'upper'} triangle")
    if code == ZERO_ON_DIAGONAL:
        raise np.linalg.LinAlgError("singular: a has a zero on its diagonal")
