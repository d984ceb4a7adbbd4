"""Distributions of matrices: Wishart's and its inverse, matrix normal and t, LKJ's of correlations, and random rotations."""

from .lkj import lkj_cholesky, lkj_corr
from .normal import matrix_normal, matrix_t
from .rotations import orthogonal, special_orthogonal, unitary
from .wishart import inverse_wishart, wishart

__all__ = [
    "inverse_wishart", "lkj_cholesky", "lkj_corr", "matrix_normal", "matrix_t", "orthogonal", "special_orthogonal",
    "unitary", "wishart",
]  # fmt: skip
