"""Interface of providers: the operations that all of gpustats' linear algebra is made of.

A provider has them for one kind of device: cuBLAS and cuSOLVER on CUDA (`cuda`), BLAS and LAPACK where the memory is the
host's (`host`), kernels of our own elsewhere (`kernels`); `providers` chooses. All algorithms above them are written once
(`blocked`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..evaluation.results import as_host
from ..runtime import thresholds
from ..runtime.base import Runtime
from ..runtime.types import Array, DType
from . import small
from .matrix import Matrix


class Provider(ABC):
    """Provider of five operations in place, of which all others are made, and of the passes over a matrix for these.

    All matrices of a call lie on the provider's device, have one dtype (float32 or float64) and one `batch`; no extent is 0.
    Results are not `transposed`, lie apart from the operands and, in a batch, from one another. A triangle is the lower
    one with the diagonal: what lies above the diagonal is neither read nor written, so it may hold anything. Operations
    start in the order of the calling thread and need not have finished on return. Each gives the same bits every time.

    The attribute `runtime` is None for the host alone.
    """

    #: rows of diagonal blocks that blocked algorithms leave to `trtri`, and of triangles that products take with their zeros
    leaf, dense = thresholds.LINALG_LEAF.value["kernels"], thresholds.LINALG_DENSE.value["kernels"]
    on_host = False  # whether the provider works on NumPy arrays, and has finished when an operation returns
    kernels: Provider | None = None  # whose kernels take batches of small matrices on this device; None: the host alone

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    @abstractmethod
    def empty(self, rows: int, columns: int, dtype: DType, batch: int = 1) -> Matrix:
        """New matrix, or batch, that is not initialised. The memory returns to the thread's pool with the last part of it."""

    # The five operations

    @abstractmethod
    def gemm(self, alpha: float, a: Matrix, b: Matrix, beta: float, c: Matrix) -> None:
        """Product c = alpha a b + beta c. With ``beta == 0``, the old values of c do not matter (nan neither).

        Parameters
        ----------
        a, b : Matrix
            (m, k) and (k, n); each may be `transposed`.
        c : Matrix
            (m, n).
        """

    @abstractmethod
    def syrk(self, alpha: float, a: Matrix, beta: float, c: Matrix) -> None:
        """Lower triangle of c = alpha a a' + beta c. With ``beta == 0``, the old values of c do not matter.

        Parameters
        ----------
        a : Matrix
            (n, k); may be `transposed`.
        c : Matrix
            (n, n).
        """

    @abstractmethod
    def trsm(self, l: Matrix, b: Matrix, left: bool) -> None:  # noqa: E741
        """Solution b = l⁻¹ b where `left`, else b l⁻¹.

        Parameters
        ----------
        l : Matrix
            (n, n), lower triangular, or the `transposed` of such a one. No number on its diagonal is 0.
        b : Matrix
            (n, m) where `left`, else (m, n).
        """

    @abstractmethod
    def trtri(self, l: Matrix) -> None:  # noqa: E741
        """Inverse in place of a lower triangle, l = l⁻¹. No number on its diagonal is 0.

        Parameters
        ----------
        l : Matrix
            (n, n).
        """

    @abstractmethod
    def potrf(self, a: Matrix) -> Array:
        """Factorisation in place: the lower triangle of a = its Cholesky factor l, a = l l'.

        Parameters
        ----------
        a : Matrix
            (n, n); above the diagonal as `reads_above` says.

        Returns
        -------
        int32 array of shape (batch,)
            On the provider's device (a NumPy array where it is `host_visible`): 0, or the order of the first leading minor
            that is not positive definite, counted from 1; then the triangle holds anything. It has to be read (`read`)
            before it counts, which waits for the device; so does what else is read.
        """

    def reads_above(self, a: Matrix) -> str:
        """Contents above the diagonal that `factor` takes (it leaves zeros): ``"zero"``, or ``"mirror"``, the whole matrix."""
        return "zero"

    # The same, where a batch of small matrices goes to kernels of our own (`small`), with a matrix to each thread or block

    def factor(self, a: Matrix) -> Array:
        """Factorisation: `potrf`."""
        if (kernels := self._kernels_for(a)) is None:
            return self.potrf(a)
        info = small.cholesky(kernels.runtime, a)
        if info is None:
            info = kernels.potrf(a)
        self._finish()
        return info

    def solve(self, l: Matrix, b: Matrix) -> None:  # noqa: E741
        """Solution from the left: `trsm`."""
        if (kernels := self._kernels_for(l)) is None:
            self.trsm(l, b, True)
            return
        if not small.solve_triangular(kernels.runtime, l, b):
            kernels.trsm(l, b, True)
        self._finish()

    def invert(self, l: Matrix) -> None:  # noqa: E741
        """Inversion: `trtri`."""
        if (kernels := self._kernels_for(l)) is None:
            self.trtri(l)
            return
        if not small.inv_triangular(kernels.runtime, l):
            kernels.trtri(l)
        self._finish()

    def small_cholesky_grad(self, l: Matrix, l_bar: Matrix) -> None:  # noqa: E741
        """Reverse mode of the Cholesky factorisation, in place of l_bar, where `takes_small` says so."""
        small.cholesky_grad(self.runtime, l, l_bar)
        self._finish()

    def takes_small(self, m: Matrix) -> bool:
        """True if m is a batch of small matrices, and a device has kernels for it."""
        return self._kernels_for(m) is not None

    def _kernels_for(self, m: Matrix) -> Provider | None:
        return self.kernels if m.batch > 1 and max(m.shape) <= small.MOST_ROWS else None

    def _finish(self) -> None:
        """Wait for kernels where the host goes on with their results."""
        if self.on_host:
            self.runtime.synchronize()

    def read(self, numbers: Array) -> np.ndarray:
        """Numbers on the host that `potrf` and the methods below have returned."""
        return as_host(self.runtime, numbers)

    # Passes over the numbers. They too work on batches and lay out nothing anew.

    @abstractmethod
    def copy(self, source: Matrix, target: Matrix) -> None:
        """Copy target = source, which may be `transposed` and lies apart."""

    @abstractmethod
    def lower(self, source: Matrix, target: Matrix, upper: str = "zero") -> None:
        """Lower triangle of target = that of source, which may be `transposed`, or may be the target itself.

        Above the diagonal come, after `upper`, zeros (``"zero"``), the mirror image (``"mirror"``), or nothing (``"keep"``).
        """

    @abstractmethod
    def symmetrise(self, a: Matrix) -> None:
        """Symmetric part in place: a = (a + a') / 2."""

    @abstractmethod
    def identity(self, target: Matrix) -> None:
        """Identity matrix: target = 1."""

    @abstractmethod
    def lower_if_symmetric(self, source: Matrix, target: Matrix, upper: str = "zero") -> Array:
        """Copy as by `lower`, which looks for numbers not finite or not symmetric: the worst, to `read`."""

    @abstractmethod
    def examine_triangle(self, l: Matrix) -> Array:  # noqa: E741
        """Look for numbers in a lower triangle that are not finite, and for zeros on its diagonal: the worst, to `read`."""

    @abstractmethod
    def log_determinant(self, l: Matrix) -> Array:  # noqa: E741
        """Logarithm of the determinant of each l l', twice that of the product of its diagonal, float64."""
