"""Elliptical densities in SciPy, and parameters to compare them at."""

import numpy as np
import pytest
from references import errors
from scipy import stats
from thorough import some

DTYPES = [np.float64, np.float32]
RTOL = {np.float64: 1e-12, np.float32: 1e-5}  # for well-conditioned matrices


def covariances(rng, count, dim):
    """Matrices with a condition number of about 10."""
    q = np.linalg.qr(rng.normal(size=(count, dim, dim)))[0]
    scale = rng.uniform(0.5, 5, (count, 1, dim))
    matrices = (q * scale) @ q.swapaxes(-1, -2)
    return (matrices + matrices.swapaxes(-1, -2)) / 2


def parameters(name, rng, sets, dim):
    mu, cov = rng.normal(size=(sets, dim)), covariances(rng, sets, dim)
    return {"mu": mu, "cov": cov} if name == "mvnormal" else {"nu": rng.uniform(1, 20, sets), "mu": mu, "cov": cov}


def reference(name, x, mu, cov, nu=None):
    """log-densities at the rows of x for one set of parameters"""
    x, mu, cov = (np.asarray(a, float) for a in (x, mu, cov))
    if name == "mvnormal":
        return np.atleast_1d(stats.multivariate_normal.logpdf(x.reshape(-1, len(mu)), mu, cov))
    return np.atleast_1d(stats.multivariate_t.logpdf(x.reshape(-1, len(mu)), mu, cov, float(nu)))


def assert_close(got, want, dtype, factor=1.0):
    assert got.shape == want.shape and got.dtype == dtype
    assert errors(got, want).max(initial=0) <= factor * RTOL[dtype]


each_name = pytest.mark.parametrize("name", ["mvnormal", "mv_student_t"])


def cases_of(dims, few):
    """Every length for the normal distribution in float64; a few for the others, whose kernels take the same branches."""
    kinds = [(name, dtype) for name in ("mvnormal", "mv_student_t") for dtype in DTYPES]
    cases = [(name, dtype, dim) for name, dtype in kinds for dim in (few if (name, dtype) != kinds[0] else dims)]
    ids = [f"{name}-{np.dtype(dtype).name}-{dim}" for name, dtype, dim in cases]
    return pytest.mark.parametrize("name, dtype, dim", some(cases, 2), ids=ids)


BAD = {
    "cov": [
        [[1, 2], [2, 1]], [[1, 0.5], [0.4, 1]], [[0, 0], [0, 1]], [[-1, 0], [0, 1]],
        [[1, np.nan], [np.nan, 1]], [[1, 1], [1, 1]],
    ],
    "precision": [[[1, 2], [2, 1]], [[1, 0.5], [0.4, 1]], [[0, 0], [0, 1]], [[np.nan, 0], [0, 1]]],
    "scale_tril": [[[1, 0], [0, -1]], [[1, 0], [0, 0]], [[1, 0.5], [0, 1]], [[1, 0], [np.nan, 1]]],
}  # fmt: skip
