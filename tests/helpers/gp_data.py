"""Data for Gaussian processes."""

import numpy as np


def data(rng, n=60, p=2, dtype=np.float64):
    x = rng.normal(size=(n, p))
    return x.astype(dtype), (np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=n)).astype(dtype)
