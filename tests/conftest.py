"""What all tests share."""

import os

# Before NumPy loads it. Threads that share small matrices wait for one another most of the time, the more so where each core
# has a process of tests already.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest

import gpustats as gs
from gpustats.library import library


def pytest_collection_modifyitems(items):
    if any(device.backend == "cuda" for device in gs.devices()):
        return
    for item in items:
        if "cuda" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.fixture
def rng():
    return np.random.default_rng(2011)


@pytest.fixture(autouse=True)
def library_as_before():
    """Forget what a test registers."""
    parsed, functions, made = dict(library._parsed), dict(library._functions), dict(gs.densities._made)
    yield
    library._parsed, library._functions, gs.densities._made = parsed, functions, made
