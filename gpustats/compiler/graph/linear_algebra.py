"""PyTensor Ops of linear algebra: Cholesky factors, solutions of triangular systems, and the reverse mode of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.replace import _vectorize_node
from pytensor.tensor.utils import broadcast_static_dim_lengths

from ..evaluation.linalg import linear_algebra
from .ops import FLOAT, ArrayOp, as_float64
from .types import Batch, E, Extents, TensorLike, Variables


class StackOp(ArrayOp):
    """Op on stacks of matrices, whose leading axes, as many in each, broadcast."""

    noun = "matrix function"
    #: place of the input that has the shape of each output; None where an output has the shape of the last input's matrices,
    #: with the leading axes to which all inputs broadcast
    shaped_like: ClassVar[tuple[int | None, ...]]

    def stacks(self, *inputs: TensorLike) -> list[Variable]:
        """Inputs as float64 variables with as many axes each."""
        variables = [as_float64(v) for v in inputs]
        for variable in variables:
            if variable.type.ndim < 2:
                raise ValueError(
                    f"{self}: {variable} has {variable.type.ndim} dimensions, but must be a matrix or a stack of them"
                )
        ndim = max(v.type.ndim for v in variables)
        return [pt.shape_padleft(v, ndim - v.type.ndim) if v.type.ndim < ndim else v for v in variables]

    def shapes(self, of: Sequence[Extents[E]], batch: Batch[E]) -> list[Extents[E]]:
        return [(*batch([2] * len(of)), *of[-1][-2:]) if i is None else of[i] for i in self.shaped_like]

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        raise NotImplementedError(
            f"this graph asks for second derivatives, of which {self} has none: take pt.linalg's functions"
        )


@_vectorize_node.register(StackOp)
def _vectorize(op: StackOp, node: Apply, *inputs: Variable) -> Apply:
    return op.make_node(*inputs)


class Cholesky(StackOp):
    """Lower Cholesky factors of symmetric matrices; `on_error` says what becomes of one that has none: "nan" or "raise"."""

    __props__ = ("on_error",)
    shaped_like = (0,)

    def __init__(self, on_error: str = "nan"):
        if on_error not in ("nan", "raise"):
            raise ValueError(f"on_error must be 'nan' or 'raise', not {on_error!r}")
        self.on_error = on_error

    def make_node(self, *inputs: TensorLike) -> Apply:
        (a,) = self.stacks(*inputs)
        return Apply(self, [a], [a.type()])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return [linear_algebra.cholesky(arrays[0], self.on_error)]

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        return CholeskyGrad().make_node(outputs[0], cotangents[0]).outputs


class CholeskyGrad(StackOp):
    """Reverse mode of `Cholesky`: the derivative in the matrices, from the factors and the derivative in these."""

    __props__ = ()
    shaped_like = (0,)

    def make_node(self, *inputs: TensorLike) -> Apply:
        l, l_bar = self.stacks(*inputs)  # noqa: E741
        return Apply(self, [l, l_bar], [l.type()])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return [linear_algebra.cholesky_grad(*arrays)]


class SolveTriangular(StackOp):
    """Solutions x of triangular systems a x = b, or of a' x = b if `trans`; a is lower or upper triangular."""

    __props__ = ("trans", "lower")
    shaped_like: ClassVar[tuple[int | None, ...]] = (None,)

    def __init__(self, trans: bool = False, lower: bool = True):
        self.trans, self.lower = trans, lower

    def make_node(self, *inputs: TensorLike) -> Apply:
        a, b = self.stacks(*inputs)
        pairs = zip(a.type.shape[:-2], b.type.shape[:-2], strict=True)
        try:
            leading = [broadcast_static_dim_lengths(pair) for pair in pairs]
        except ValueError:
            shapes = f"a {a.type.shape} and b {b.type.shape}"
            raise ValueError(f"{self}: stacks of matrices that do not broadcast along their leading axes: {shapes}") from None
        return Apply(self, [a, b], [pt.TensorType(FLOAT, shape=(*leading, *b.type.shape[-2:]))()])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return [linear_algebra.solve_triangular(*arrays, self.trans, self.lower)]

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        return SolveTriangularGrad(self.trans, self.lower).make_node(*inputs, outputs[0], cotangents[0]).outputs


class SolveTriangularGrad(SolveTriangular):
    """Reverse mode of `SolveTriangular`: the derivatives in a and b, from a, b, solutions and the derivative in these."""

    shaped_like = (0, 1)

    def make_node(self, *inputs: TensorLike) -> Apply:
        a, b, x, x_bar = self.stacks(*inputs)
        return Apply(self, [a, b, x, x_bar], [a.type(), b.type()])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return linear_algebra.solve_triangular_grad(*arrays, self.trans, self.lower)

    pullback = StackOp.pullback
