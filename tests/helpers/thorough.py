"""What `make test` leaves to `make thorough`: what takes long, or is found for another density, type, layout or mode."""

import numpy as np
import pytest

THOROUGH = pytest.mark.thorough


def some(values, every=3):
    """Values of one parameter, or tuples of those of several, of which `make test` takes the first of so many."""
    sets = [v if isinstance(v, tuple) else (v,) for v in values]
    return [pytest.param(*v, marks=[THOROUGH] * (i % every > 0)) for i, v in enumerate(sets)]


double_first = pytest.mark.parametrize(
    "dtype", [np.float64, pytest.param(np.float32, marks=THOROUGH)], ids=["float64", "float32"]
)
