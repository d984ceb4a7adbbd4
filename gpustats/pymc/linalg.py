"""Linear algebra of `gpustats.linalg` in PyTensor graphs: for models with a covariance matrix of their own.

>>> import numpy as np, pytensor.tensor as pt, gpustats.pymc as gpm
>>> a, b = np.array([[4.0, 2.0], [2.0, 10.0]]), np.array([4.0, 11.0])
>>> l = gpm.linalg.cholesky(a)
>>> gpm.linalg.solve_triangular(l, b).eval()
array([2., 3.])
>>> round(float(gpm.linalg.cho_logdet(l).eval()), 4)
3.5835

Leading axes are stacks that broadcast. All is computed in float64, where that takes less time: on the device, or by LAPACK.
What PyTensor's functions of these names give nan for is nan here too: a matrix that is not positive definite has a nan
factor, which makes a log-density nan, and a sampler rejects the step.

Gradients are of first order. That in a symmetric matrix is symmetric, half of it for a_ij and half for a_ji, where PyTensor's
`cholesky` has it all in the lower triangle; in what the matrix is a function of they agree.
"""

from __future__ import annotations

import pytensor.tensor as pt
from pytensor.graph.basic import Variable

from ..compiler.graph.linear_algebra import Cholesky, SolveTriangular
from ..compiler.graph.types import TensorLike, TensorVariable
from ..linalg.triangular import transposes

__all__ = ["cho_logdet", "cho_solve", "cholesky", "logdet", "solve_triangular"]


def cholesky(a: TensorLike, on_error: str = "nan") -> TensorVariable:
    """Cholesky factor of a symmetric matrix: the lower triangular l with a positive diagonal for which a = l l'.

    Parameters
    ----------
    a : tensor_like, (..., n, n)
        Symmetric, to what `gpustats.linalg.cholesky` takes for it; ValueError when it is evaluated, where it is not.
    on_error : {"nan", "raise"}
        Result for a matrix that is not positive definite, or has nan or infinite numbers: nan, as in PyTensor, or an
        error (`numpy.linalg.LinAlgError`, ValueError).

    Returns
    -------
    TensorVariable, (..., n, n)
        Factor with zeros above the diagonal.

    Examples
    --------
    >>> import gpustats.pymc as gpm
    >>> gpm.linalg.cholesky([[4.0, 2.0], [2.0, 10.0]]).eval()
    array([[2., 0.],
           [1., 3.]])
    """
    return pt.as_tensor_variable(Cholesky(on_error).make_node(a).outputs[0])


def solve_triangular(
    a: TensorLike, b: TensorLike, trans: int | str = 0, lower: bool = True, b_ndim: int | None = None
) -> TensorVariable:
    """Solution x of a x = b with a triangular a.

    Parameters
    ----------
    a : tensor_like, (..., n, n)
        Triangular matrix; the other triangle is not read.
    b : tensor_like, (..., n) or (..., n, m)
    trans : {0, 1, 2, "N", "T", "C"}
        0 or "N": a x = b; else a' x = b.
    lower : bool
        Whether a is lower or upper triangular.
    b_ndim : {1, 2}, optional
        Whether b has vectors or matrices along its last axes; by default vectors only where it has one axis.

    Returns
    -------
    TensorVariable
        Shaped like b, with the broadcast leading axes; nan where a is singular, or has nan or infinite numbers.

    Examples
    --------
    >>> import gpustats.pymc as gpm
    >>> gpm.linalg.solve_triangular([[2.0, 0.0], [1.0, 1.0]], [2.0, 3.0]).eval()
    array([1., 2.])
    """
    right = pt.as_tensor_variable(b)
    vector = _is_vector(right, b_ndim)
    columns = pt.expand_dims(right, -1) if vector else right
    x = pt.as_tensor_variable(SolveTriangular(transposes(trans), bool(lower)).make_node(a, columns).outputs[0])
    return pt.squeeze(x, -1) if vector else x


def _is_vector(b: Variable, b_ndim: int | None) -> bool:
    if b_ndim not in (None, 1, 2):
        raise ValueError(f"b_ndim must be 1 or 2, not {b_ndim!r}")
    if b.type.ndim < (b_ndim or 1):
        raise ValueError(f"b has {b.type.ndim} dimensions, but must have at least {b_ndim or 1}")
    return (b_ndim or min(b.type.ndim, 2)) == 1


def cho_solve(l: TensorLike, b: TensorLike, b_ndim: int | None = None) -> TensorVariable:  # noqa: E741
    """Solution x of l l' x = b, where l is a Cholesky factor.

    Parameters
    ----------
    l : tensor_like, (..., n, n)
        Factor that `cholesky` has returned.
    b, b_ndim
        As for `solve_triangular`.

    Examples
    --------
    >>> import gpustats.pymc as gpm
    >>> gpm.linalg.cho_solve([[2.0, 0.0], [1.0, 3.0]], [4.0, 2.0]).eval()
    array([1., 0.])
    """
    return solve_triangular(l, solve_triangular(l, b, b_ndim=b_ndim), trans="T", b_ndim=b_ndim)


def logdet(a: TensorLike, on_error: str = "nan") -> TensorVariable:
    """Logarithm of the determinant of a symmetric, positive definite matrix.

    Where the Cholesky factor is wanted too, `cho_logdet` of that one saves a second reverse mode of the factorisation.

    Parameters
    ----------
    a, on_error
        As for `cholesky`.

    Returns
    -------
    TensorVariable, (...)

    Examples
    --------
    >>> import gpustats.pymc as gpm
    >>> round(float(gpm.linalg.logdet([[2.0, 0.0], [0.0, 3.0]]).eval()), 4)
    1.7918
    """
    return cho_logdet(cholesky(a, on_error))


def cho_logdet(l: TensorLike) -> TensorVariable:  # noqa: E741
    """Logarithm of the determinant of l l', twice the sum of the logarithms on the diagonal of l.

    Parameters
    ----------
    l : tensor_like, (..., n, n)
        Factor that `cholesky` has returned.

    Returns
    -------
    TensorVariable, (...)

    Examples
    --------
    >>> import gpustats.pymc as gpm
    >>> round(float(gpm.linalg.cho_logdet([[2.0, 0.0], [1.0, 3.0]]).eval()), 4)
    3.5835
    """
    return 2 * pt.log(pt.diagonal(pt.as_tensor_variable(l), axis1=-2, axis2=-1)).sum(-1)
