"""Draws from boxes, and probabilities of boxes."""

import numpy as np
from simulator import kernel_shape

import gpustats as gs


@kernel_shape
def boxes(dtype, rng):
    for dim in (1, 3, 7):
        cov = np.full((dim, dim), 0.5) + 0.5 * np.eye(dim)
        orthant = gs.TruncatedMvNormal(np.zeros(dim), cov, 0.0, np.inf)
        x = orthant.rvs(50, rng=1, dtype=dtype)
        assert x.dtype == dtype and x.shape == (50, dim) and (x >= 0).all()
        np.testing.assert_allclose(np.exp(orthant.log_probability(64).log), 1 / (dim + 1), rtol=0.02)
        for df in (np.inf, 3.0):
            found = gs.box_probability(np.zeros((3, dim)), np.inf, np.zeros(dim), cov, df, points=64, rtol=0)
            np.testing.assert_allclose(np.exp(found.log), 1 / (dim + 1), rtol=0.05)
