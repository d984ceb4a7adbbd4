"""Distributions of matrices: of covariances, of correlations, of tables, of rotations, and of directions.

Leading axes of observations and of parameters broadcast, and each stack of matrices is factorised at once, by
`gpustats.linalg`: on the device where that takes less time.

>>> import numpy as np, gpustats as gs
>>> x = gs.wishart.rvs(5.0, np.eye(2), size=1000, rng=1)
>>> gs.wishart.logpdf(x, 5.0, np.eye(2)).shape
(1000,)
"""

from .contingency import random_table
from .correlations import lkj_cholesky_cov, lkj_corr
from .covariances import inverse_wishart, wishart
from .distribution import MatrixDistribution
from .groups import ortho_group, special_ortho_group, uniform_direction, unitary_group
from .spectra import random_correlation
from .tables import matrix_normal, matrix_t

__all__ = [
    "MatrixDistribution", "inverse_wishart", "lkj_cholesky_cov", "lkj_corr", "matrix_normal", "matrix_t", "ortho_group",
    "random_correlation", "random_table", "special_ortho_group", "uniform_direction", "unitary_group", "wishart",
]  # fmt: skip
