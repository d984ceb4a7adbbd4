"""Derivatives of third order of functions of a row, by which marginal likelihoods have theirs."""

import numpy as np
from scipy import stats
from simulator import close, kernel_shape

import gpustats as gs


@kernel_shape
def curvature(dtype, rng):
    """Effects of two groupings and coefficients in normal rows: value and slopes are those of a normal distribution."""
    n, g, k = 150, rng.integers(0, 20, 150), rng.integers(0, 3, 150)
    X, y = rng.normal(size=(n, 2)).astype(dtype), rng.normal(size=n).astype(dtype)
    rows = gs.Rows(
        "real row(real y, real eta, real u, real v, real m, real s) { return normal_logpdf(y, m + eta + u + v, s); }",
        y=y, eta=gs.dot(X, of="beta"), u=gs.gather(g), v=gs.gather(k),
    )  # fmt: skip
    priors = {"u": gs.normal(0.0, "tau"), "v": gs.normal(0.0, 1.0), "beta": gs.normal(0.0, 1.0)}
    value, slopes = gs.LaplaceMarginal(rows, priors).value_and_grad(m=0.3, s=0.8, tau=0.5)
    same = (g[:, None] == g).astype(float)
    K = 0.8**2 * np.eye(n) + 0.5**2 * same + (k[:, None] == k) + X.astype(float) @ X.T
    close(value, stats.multivariate_normal(np.full(n, 0.3), K).logpdf(y), dtype)
    weights = np.linalg.solve(K, y - 0.3)
    of_K = (np.outer(weights, weights) - np.linalg.inv(K)) / 2
    close(slopes["m"], weights.sum(), dtype)
    close(slopes["s"], 1.6 * np.trace(of_K), dtype)
    close(slopes["tau"], (of_K * same).sum(), dtype)
