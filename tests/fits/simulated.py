"""The sums of a Newton iteration, for data sets with rows of their own."""

import numpy as np
from simulator import close, kernel_shape

import gpustats as gs
from gpustats.evaluation.expansion import expansion_of


@kernel_shape
def expansion(dtype, rng):
    x, weights = rng.normal(size=(3, 70)).astype(dtype), rng.integers(0, 3, (3, 70)).astype(dtype)
    mu, sigma = rng.normal(size=(3, 1)).astype(dtype), rng.uniform(1, 2, (3, 1)).astype(dtype)
    sums = expansion_of(gs.normal.log_density, ("mu", "sigma"), True)([x, mu, sigma, weights])
    z = (x.astype(float) - mu) / sigma
    close(sums.value, (weights * (-0.5 * z * z - np.log(sigma) - 0.5 * np.log(2 * np.pi))).sum(-1), dtype)
    scores = np.stack([z / sigma, (z * z - 1) / sigma], 1)
    close(sums.gradient, (weights[:, None] * scores).sum(-1), dtype)
    close(sums.products, np.einsum("gn,gin,gjn->gij", weights, scores, scores), dtype)
    close(sums.hessian[:, 0, 1], (weights * -2 * z / sigma**2).sum(-1), dtype)
