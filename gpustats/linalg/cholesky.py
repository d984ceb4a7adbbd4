"""Cholesky factorisation, solutions and determinants by its factor, and their reverse modes."""

from __future__ import annotations

import math

import numpy as np

from ..runtime.arrays import is_device_array
from ..runtime.choose import Devices
from ..runtime.types import Array, Shape
from . import blocked, distributed
from .blocked import LOWER, UPPER
from .call import MatrixCall, as_column, matrix_shape, take
from .matrix import ASYMMETRIC, INFINITE, Matrix, asymmetry_tolerance
from .products import sum_to
from .triangular import copied, lower_operand, refuse, solution_shapes, solved


def cholesky(a: Array, *, where: str = "auto", devices: Devices | None = None) -> Array:
    """Lower triangular matrix l with a positive diagonal for which a = l l'.

    Parameters
    ----------
    a : array_like, (..., n, n)
        Symmetric, positive definite. a_ij and a_ji may differ by the root of the precision (1.5e-8, float32: 3.5e-4)
        relative to \\|a_ij\\| + sqrt(\\|a_ii a_jj\\|); the lower triangle counts.
    where : {"auto", "host", "device"}
        Where a NumPy array is factorised; by default where it takes less time.
    devices : "all" or sequence of str, optional
        Devices that share one matrix of the host, too large for one of them: each has some rows of the lower triangle.

    Returns
    -------
    ndarray, or a device array where a is one, (..., n, n)
        With zeros above the diagonal.

    Raises
    ------
    numpy.linalg.LinAlgError
        Not positive definite: names the first leading minor that is not, and the matrix of a stack.
    ValueError
        No square matrices, nan or infinite numbers, not symmetric; with `devices`, several matrices or one on a device.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 10.0]]))
    array([[2., 0.],
           [1., 3.]])
    >>> gs.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 10.0]]), devices="all")
    array([[2., 0.],
           [1., 3.]])
    """
    (a,) = take(a=a)
    shape = matrix_shape(a, "a", square=True)
    call = _call(a, 1 / 3, shape, where, devices)
    out = call.result(shape)
    if out.batch and out.rows:
        _factorise(call, a, out, devices)
    return call.deliver(out, shape)


def _call(a: Array, flops: float, shape: Shape, where: str, devices: Devices | None = None) -> MatrixCall:
    if devices is not None:
        if where != "auto":
            raise ValueError(f"where={where!r} and devices={devices!r}: leave one of them out")
        if len(shape) != 2:
            raise ValueError(f"a has shape {shape}: several devices share one matrix, (n, n)")
        if is_device_array(a):
            raise ValueError("a lies on a device: leave out devices, or bring it to the host with gs.to_host")
        where = "host"
    return MatrixCall({"a": a}, flops * math.prod(shape) * shape[-1], math.prod(shape), "potrf", where)


def _factorise(call: MatrixCall, a: Array, out: Matrix, devices: Devices | None = None) -> None:
    """Factorisation into out; raises an error where there is none."""
    provider = call.provider
    found = provider.lower_if_symmetric(call.operand(a, tuple(a.shape[:-2])), out, provider.reads_above(out))
    if devices is None:
        info = provider.factor(out)
    else:
        _refuse_matrix(call, found, a)
        info = distributed.factor(out, devices)
    _refuse_matrix(call, found, a)
    failed = provider.read(info)
    if failed.any():
        place = int(np.flatnonzero(failed)[0])
        raise np.linalg.LinAlgError(
            f"a{_in_stack(a, place)} is not positive definite: its leading minor of order {failed[place]} is not"
        )


def _in_stack(a: Array, place: int) -> str:
    """Index of a matrix in its stack, as it stands behind the stack's name."""
    leading = tuple(a.shape[:-2])
    return f"[{', '.join(map(str, np.unravel_index(place, leading)))}]" if leading else ""


def _refuse_matrix(call: MatrixCall, found: Array, a: Array) -> None:
    """Raise the error for the fault that `lower_if_symmetric` has found in a. The host looks for the place."""
    code = int(call.provider.read(found)[0])
    if code not in (ASYMMETRIC, INFINITE):
        return
    host = call.provider.read(a)
    numbers = np.ascontiguousarray(host, call.dtype).reshape(-1, *host.shape[-2:])
    for place, matrix in enumerate(numbers):
        name = f"a{_in_stack(a, place)}"
        if not np.isfinite(matrix).all():
            i, j = np.argwhere(~np.isfinite(matrix))[0]
            raise ValueError(f"{name} has nan or infinite numbers, the first at [{i}, {j}]: {matrix[i, j]}")
        root = np.sqrt(np.abs(np.diag(matrix)))
        allowed = asymmetry_tolerance(call.dtype) * (np.abs(matrix) + root[:, None] * root)
        apart = np.tril(np.abs(matrix - matrix.T) > allowed)
        if apart.any():
            i, j = np.argwhere(apart)[0]
            raise ValueError(
                f"{name} is not symmetric: [{i}, {j}] is {matrix[i, j]} and [{j}, {i}] is {matrix[j, i]}; "
                "take (a + a.T) / 2 if they should be equal"
            )


def cholesky_grad(l: Array, l_bar: Array, *, where: str = "auto") -> Array:  # noqa: E741
    """Reverse mode of `cholesky`: ā = ½ l⁻ᵀ M l⁻¹, M being the lower triangle of l' l̄ mirrored above the diagonal.

    Large matrices are cut in halves until nearly all work is in products (Murray 2016).

    Parameters
    ----------
    l : array_like, (..., n, n)
        What `cholesky` has returned.
    l_bar : array_like, (..., n, n)
        The derivative of a number in l. What lies above the diagonals is not read.

    Returns
    -------
    ndarray or device array, (..., n, n)
        Symmetric to the last bit, and such that the number changes by the sum of ``a_bar * da`` for a symmetric da.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.linalg.cholesky_grad(np.array([[2.0]]), np.array([[1.0]]))  # the derivative of sqrt(4)
    array([[0.25]])
    """
    l, l_bar = take(l=l, l_bar=l_bar)  # noqa: E741
    shape = matrix_shape(l, "l", square=True)
    if tuple(getattr(l_bar, "shape", ())) != shape:
        raise ValueError(f"l_bar has shape {tuple(getattr(l_bar, 'shape', ()))}, but l has {shape}")
    n, stack = shape[-1], shape[:-2]
    call = MatrixCall({"l": l, "l_bar": l_bar}, 2 / 3 * math.prod(shape) * n, math.prod(shape), where=where)
    out = call.result(shape)
    if out.batch and n:
        provider = call.provider
        factor, adjoint = call.operand(l, stack, row_major=True), call.operand(l_bar, stack)
        if provider.takes_small(factor):
            provider.lower(adjoint, out)
            provider.small_cholesky_grad(factor, out)
        else:
            work = provider.empty(n, n, call.dtype, out.batch)
            provider.lower(adjoint, work)
            blocked.CholeskyReverse(provider, factor, work, out).run()
    return call.deliver(out, shape)


def logdet(a: Array, *, where: str = "auto", devices: Devices | None = None) -> Array:
    """Logarithm of the determinant of a symmetric, positive definite matrix.

    Parameters
    ----------
    a : array_like, (..., n, n)
        As for `cholesky`, which it goes by; with its errors.
    where, devices
        As for `cholesky`.

    Returns
    -------
    float, ndarray or device array, (...)
        float64.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> float(gs.linalg.logdet(np.eye(3) * np.e))
    3.0
    """
    (a,) = take(a=a)
    shape = matrix_shape(a, "a", square=True)
    n, stack = shape[-1], shape[:-2]
    call = _call(a, 1 / 3, shape, where, devices)
    factor = call.provider.empty(n, n, call.dtype, math.prod(stack))
    if factor.batch and n:
        _factorise(call, a, factor, devices)
    return call.log_determinant(factor, stack)


def cho_logdet(l: Array, *, where: str = "auto") -> Array:  # noqa: E741
    """Logarithm of the determinant of l l', twice the sum of the logarithms on the diagonal of l.

    Parameters
    ----------
    l : array_like, (..., n, n)
        What `cholesky` has returned.

    Returns
    -------
    float, ndarray or device array, (...)
        float64.
    """
    (l,) = take(l=l)  # noqa: E741
    shape = matrix_shape(l, "l", square=True)
    call = MatrixCall({"l": l}, 0.0, 0, where=where)
    return call.log_determinant(call.operand(l, shape[:-2], row_major=True), shape[:-2])


def cho_solve(l: Array, b: Array, *, where: str = "auto") -> Array:  # noqa: E741
    """Solution x of l l' x = b, where l is a Cholesky factor.

    Parameters
    ----------
    l : array_like, (..., n, n)
        What `cholesky` has returned; the numbers above its diagonal are not read.
    b : array_like, (n,) or (..., n, m)

    Returns
    -------
    ndarray, or a device array where l or b is one
        Shaped like b, with the broadcast leading axes.

    Raises
    ------
    ValueError, numpy.linalg.LinAlgError
        As `solve_triangular`.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.linalg.cho_solve(np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([4.0, 2.0]))
    array([1., 0.])
    """
    l, b = take(a=l, b=b)  # noqa: E741
    return solved(l, b, True, [False, True], where, "l")


def cho_solve_grad(l: Array, x: Array, x_bar: Array, *, where: str = "auto") -> tuple[Array, Array]:  # noqa: E741
    """Reverse mode of x = a⁻¹ b with a = l l': b̄ = a⁻¹ x̄ and ā = -½ (b̄ x' + x b̄').

    Parameters
    ----------
    l : array_like, (..., n, n)
    x : array_like, (n,) or (..., n, m)
        What `cho_solve` has returned.
    x_bar : array_like
        The derivative of a number in x, of its shape.

    Returns
    -------
    a_bar : (..., n, n)
        The derivative in a, symmetric: the number changes by the sum of ``a_bar * da`` for a symmetric da. Summed over the
        axes along which l was broadcast.
    b_bar
        The derivative in b, shaped like x.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> a_bar, b_bar = gs.linalg.cho_solve_grad(np.array([[2.0]]), np.array([3.0]), np.array([1.0]))
    >>> float(a_bar[0, 0]), float(b_bar[0])
    (-0.75, 0.25)
    """
    l, x, x_bar = take(l=l, x=x, x_bar=x_bar)  # noqa: E741
    shape, stack, n, m, vector = solution_shapes(l, x, x_bar)
    l_shape, batch = tuple(l.shape), math.prod(stack)
    call = MatrixCall({"l": l, "x": x, "x_bar": x_bar}, 4.0 * batch * n * n * m, l.size + x.size, where=where)
    if not batch * n * m:
        return call.zeros(l_shape), call.zeros(shape)
    a_bar = call.result(l_shape)
    provider, solution = call.provider, call.operand(as_column(x) if vector else x, stack)
    b_bar = copied(call, as_column(x_bar) if vector else x_bar, stack)
    factor, _ = lower_operand(call, l, True, stack)
    provider.solve(factor, b_bar)
    provider.solve(factor.T, b_bar)
    product = a_bar if l_shape[:-2] == stack else provider.empty(n, n, call.dtype, batch)
    provider.gemm(-0.5, b_bar, solution.T, 0.0, product)
    provider.gemm(-0.5, solution, b_bar.T, 1.0, product)
    if product is not a_bar:
        product = sum_to(call, product, stack, l_shape)
    provider.lower(product, product, "mirror")
    return call.deliver(product, l_shape), call.deliver(b_bar, shape)


def cho_inverse(l: Array, *, where: str = "auto") -> Array:  # noqa: E741
    """Inverse l⁻ᵀ l⁻¹ of a matrix whose Cholesky factor is l; also the derivative of the matrix's `logdet`.

    Parameters
    ----------
    l : array_like, (..., n, n)
        What `cholesky` has returned; the numbers above its diagonal are not read.

    Returns
    -------
    ndarray or device array, (..., n, n)
        Symmetric to the last bit.

    Raises
    ------
    ValueError, numpy.linalg.LinAlgError
        As `solve_triangular`.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.linalg.cho_inverse(np.array([[2.0]]))
    array([[0.25]])
    """
    (l,) = take(a=l)  # noqa: E741
    shape = matrix_shape(l, "l", square=True)
    n, stack = shape[-1], shape[:-2]
    call = MatrixCall({"l": l}, 2 / 3 * math.prod(shape) * n, math.prod(shape), where=where)
    out = call.result(shape)
    if out.batch and n:
        provider, source = call.provider, call.operand(l, stack)
        found = provider.examine_triangle(source)
        inverse = provider.empty(n, n, call.dtype, out.batch)
        provider.lower(source, inverse)
        provider.invert(inverse)
        blocked.multiply(provider, 1.0, inverse.T, UPPER, inverse, LOWER, 0.0, out)
        provider.lower(out, out, "mirror")
        refuse(call, found, True)
    return call.deliver(out, shape)
