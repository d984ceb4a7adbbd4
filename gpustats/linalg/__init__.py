"""Linear algebra on the device: products, triangular systems, the Cholesky factorisation, each with its reverse mode.

Functions take NumPy arrays and return NumPy arrays, or device arrays and return device arrays; float32 stays float32, all
else is computed in float64. Leading axes are stacks of matrices that broadcast, as in `numpy.linalg`. A NumPy array is
computed where that takes less time, in the host's memory or on the device: ``where="host"`` and ``where="device"`` decide it.

The reverse modes, named ``…_grad``, take the derivative x̄ of a number in each entry of a result x and return those in the
arguments; for a symmetric argument a it is the symmetric ā for which the number changes by the sum of ``a_bar * da``.

>>> import numpy as np, gpustats as gs
>>> a = np.array([[4.0, 2.0], [2.0, 10.0]])
>>> l = gs.linalg.cholesky(a)
>>> gs.linalg.cho_solve(l, a[0])
array([1., 0.])
"""

from .cholesky import cho_inverse, cho_logdet, cho_solve, cho_solve_grad, cholesky, cholesky_grad, logdet
from .products import gram, gram_grad, lower, matmul, matmul_grad, upper
from .triangular import inv_triangular, inv_triangular_grad, solve_triangular, solve_triangular_grad

__all__ = [
    "cho_inverse", "cho_logdet", "cho_solve", "cho_solve_grad", "cholesky", "cholesky_grad", "gram", "gram_grad",
    "inv_triangular", "inv_triangular_grad", "logdet", "lower", "matmul", "matmul_grad", "solve_triangular",
    "solve_triangular_grad", "upper",
]  # fmt: skip
