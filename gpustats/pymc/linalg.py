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

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.replace import _vectorize_node
from pytensor.tensor.utils import broadcast_static_dim_lengths

from ..linalg.triangular import transposes
from .evaluation.linalg import linear_algebra
from .graph.ops import FLOAT

__all__ = ["cho_logdet", "cho_solve", "cholesky", "logdet", "solve_triangular"]


class StackOp(Op):
    """An Op on stacks of matrices, which have all as many leading axes: they broadcast."""

    def stacks(self, *inputs: Any) -> list[Variable]:
        """The inputs as float64 variables with as many axes each."""
        variables = [pt.cast(pt.as_tensor_variable(v), FLOAT) for v in inputs]
        for variable in variables:
            if variable.type.ndim < 2:
                raise ValueError(
                    f"{self}: {variable} has {variable.type.ndim} dimensions, but must be a matrix or a stack of them"
                )
        ndim = max(v.type.ndim for v in variables)
        return [pt.shape_padleft(v, ndim - v.type.ndim) if v.type.ndim < ndim else v for v in variables]

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """The outputs."""
        raise NotImplementedError

    def extents(self) -> list[Any]:
        """For each output the number of the input whose shape it has, or "broadcast": of the last one's matrices, stacked."""
        raise NotImplementedError

    def perform(self, node: Apply, inputs: Sequence[np.ndarray], outputs: Any) -> None:
        for storage, value in zip(outputs, self.evaluate(inputs), strict=True):
            storage[0] = value

    def infer_shape(self, *args: Any) -> list[tuple]:  # PyTensor 2 passes the graph as well
        node, shapes = args[-2:]
        return [_broadcast(node, shapes) if like == "broadcast" else shapes[like] for like in self.extents()]

    def pullback(self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable]) -> list:
        raise NotImplementedError(
            f"this graph asks for second derivatives, of which {self} has none: take pt.linalg's functions"
        )

    def L_op(self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable]) -> list:
        return self.pullback(inputs, outputs, cotangents)  # its name in PyTensor 2


def _broadcast(node: Apply, shapes: Sequence[Sequence[Any]]) -> tuple:
    """The leading axes of all inputs, and the matrices of the last one."""
    fixed = [
        tuple(n if m is None else m for n, m in zip(s, v.type.shape, strict=True))[:-2]
        for s, v in zip(shapes, node.inputs, strict=True)
    ]
    leading = tuple(pt.broadcast_shape(*fixed, arrays_are_shapes=True)) if fixed[0] else ()
    return (*leading, *shapes[-1][-2:])


@_vectorize_node.register(StackOp)
def _vectorize(op: StackOp, node: Apply, *inputs: Any) -> Apply:
    return op.make_node(*inputs)


class Cholesky(StackOp):
    """The lower Cholesky factors.

    Parameters
    ----------
    on_error : {"nan", "raise"}
    """

    __props__ = ("on_error",)

    def __init__(self, on_error: str = "nan"):
        if on_error not in ("nan", "raise"):
            raise ValueError(f"on_error must be 'nan' or 'raise', not {on_error!r}")
        self.on_error = on_error

    def make_node(self, *inputs: Any) -> Apply:
        (a,) = self.stacks(*inputs)
        return Apply(self, [a], [a.type()])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return [linear_algebra.cholesky(arrays[0], self.on_error)]

    def extents(self) -> list[Any]:
        return [0]

    def pullback(self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable]) -> list:
        return CholeskyGrad().make_node(outputs[0], cotangents[0]).outputs


class CholeskyGrad(StackOp):
    """The reverse mode of `Cholesky`: from the factors and the derivatives in them those in the matrices."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        l, l_bar = self.stacks(*inputs)  # noqa: E741
        return Apply(self, [l, l_bar], [l.type()])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return [linear_algebra.cholesky_grad(*arrays)]

    def extents(self) -> list[Any]:
        return [0]


class SolveTriangular(StackOp):
    """Solutions of triangular systems.

    Parameters
    ----------
    trans, lower
        As for `solve_triangular`.
    """

    __props__ = ("trans", "lower")

    def __init__(self, trans: bool = False, lower: bool = True):
        self.trans, self.lower = trans, lower

    def make_node(self, *inputs: Any) -> Apply:
        a, b = self.stacks(*inputs)
        try:
            leading = [
                broadcast_static_dim_lengths(pair) for pair in zip(a.type.shape[:-2], b.type.shape[:-2], strict=True)
            ]
        except ValueError:
            shapes = f"a {a.type.shape} and b {b.type.shape}"
            raise ValueError(
                f"{self}: stacks of matrices that do not broadcast along their leading axes: {shapes}"
            ) from None
        return Apply(self, [a, b], [pt.TensorType(FLOAT, shape=(*leading, *b.type.shape[-2:]))()])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return [linear_algebra.solve_triangular(*arrays, self.trans, self.lower)]

    def extents(self) -> list[Any]:
        return ["broadcast"]

    def pullback(self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable]) -> list:
        return SolveTriangularGrad(self.trans, self.lower).make_node(*inputs, outputs[0], cotangents[0]).outputs


class SolveTriangularGrad(SolveTriangular):
    """The reverse mode of `SolveTriangular`: from a, b, the solutions and the derivatives in them those in a and b."""

    def make_node(self, *inputs: Any) -> Apply:
        a, b, x, x_bar = self.stacks(*inputs)
        return Apply(self, [a, b, x, x_bar], [a.type(), b.type()])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return linear_algebra.solve_triangular_grad(*arrays, self.trans, self.lower)

    def extents(self) -> list[Any]:
        return [0, 1]

    pullback = StackOp.pullback


def cholesky(a: Any, on_error: str = "nan") -> Variable:
    """The lower triangular l with a positive diagonal for which a = l l'.

    Parameters
    ----------
    a : tensor_like, (..., n, n)
        Symmetric, to what `gpustats.linalg.cholesky` takes for it; ValueError when it is evaluated, where it is not.
    on_error : {"nan", "raise"}
        What becomes of a matrix that is not positive definite, or has nan or infinite numbers: nan, as in PyTensor, or an
        error (`numpy.linalg.LinAlgError`, ValueError).

    Returns
    -------
    TensorVariable, (..., n, n)
        With zeros above the diagonal.

    Examples
    --------
    >>> import gpustats.pymc as gpm
    >>> gpm.linalg.cholesky([[4.0, 2.0], [2.0, 10.0]]).eval()
    array([[2., 0.],
           [1., 3.]])
    """
    return Cholesky(on_error).make_node(a).outputs[0]


def solve_triangular(a: Any, b: Any, trans: int | str = 0, lower: bool = True, b_ndim: int | None = None) -> Variable:
    """The x of a x = b with a triangular a.

    Parameters
    ----------
    a : tensor_like, (..., n, n)
        The other triangle is not read.
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
    b = pt.as_tensor_variable(b)
    vector = _is_vector(b, b_ndim)
    columns = pt.expand_dims(b, -1) if vector else b
    (x,) = SolveTriangular(transposes(trans), bool(lower)).make_node(a, columns).outputs
    return pt.squeeze(x, -1) if vector else x


def _is_vector(b: Variable, b_ndim: int | None) -> bool:
    if b_ndim not in (None, 1, 2):
        raise ValueError(f"b_ndim must be 1 or 2, not {b_ndim!r}")
    if b.type.ndim < (b_ndim or 1):
        raise ValueError(f"b has {b.type.ndim} dimensions, but must have at least {b_ndim or 1}")
    return (b_ndim or min(b.type.ndim, 2)) == 1


def cho_solve(l: Any, b: Any, b_ndim: int | None = None) -> Variable:  # noqa: E741
    """The x of l l' x = b, where l is a Cholesky factor.

    Parameters
    ----------
    l : tensor_like, (..., n, n)
        What `cholesky` has returned.
    b, b_ndim
        As for `solve_triangular`.

    Examples
    --------
    >>> import gpustats.pymc as gpm
    >>> gpm.linalg.cho_solve([[2.0, 0.0], [1.0, 3.0]], [4.0, 2.0]).eval()
    array([1., 0.])
    """
    return solve_triangular(l, solve_triangular(l, b, b_ndim=b_ndim), trans="T", b_ndim=b_ndim)


def logdet(a: Any, on_error: str = "nan") -> Variable:
    """The logarithm of the determinant of a symmetric, positive definite matrix.

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


def cho_logdet(l: Any) -> Variable:  # noqa: E741
    """The logarithm of the determinant of l l', twice the sum of the logarithms on the diagonal of l.

    Parameters
    ----------
    l : tensor_like, (..., n, n)
        What `cholesky` has returned.

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


from .graph import numba_link  # noqa: E402, F401  which needs what stands above, and registers itself
