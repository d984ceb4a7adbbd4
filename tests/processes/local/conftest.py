"""What tests of local Gaussian processes share."""

import numpy as np
import pytest
from references_local import N, P


@pytest.fixture
def data(rng):
    """X, y with noise, and locations."""
    X = rng.uniform(size=(N, P))
    y = np.sin(5 * X[:, 0]) + X[:, 1] ** 2 + 0.02 * rng.normal(size=N)
    return X, y, rng.uniform(size=(7, P))
