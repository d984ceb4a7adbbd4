"""Random unbalanced data of two groupings, for tests of mixed models."""

import numpy as np


def data(rng, n=90, k=2, groups=(7, 4), dtype=float):
    """X, y, and groups by name: the first have an intercept and a slope, the second an intercept."""
    X = rng.normal(size=(n, k)).astype(dtype) + 3
    g = np.minimum(rng.geometric(0.3, n) - 1, groups[0] - 1)
    h = rng.integers(0, groups[1], n)
    Z = np.column_stack([np.ones(n), 20 * rng.normal(size=n)]).astype(dtype)
    b, c = rng.normal(size=(groups[0], 2)) * [1.0, 0.05], rng.normal(size=groups[1])
    y = (1e3 + X @ np.arange(1.0, k + 1) + (Z * b[g]).sum(1) + c[h] + rng.normal(size=n)).astype(dtype)
    return X, y, {"g": (g, Z), "h": h}
