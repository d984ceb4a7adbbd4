"""Tables of log-likelihoods, in memory and in files."""

import numpy as np
import pytest
import zarr
from scipy import stats

import gpustats as gs


def test_tables():
    """In the order of the rows, though a model by groups has another; in float32; and in a file."""
    rng = np.random.default_rng()
    g, y = rng.integers(0, 5, 200), rng.normal(size=200)
    rows = gs.Rows(gs.normal, x=y, mu=gs.gather(g))
    draws = {"mu": rng.normal(size=(2, 30, 5)), "sigma": 1 + rng.random((2, 30))}
    want = stats.norm.logpdf(y, draws["mu"][..., g], draws["sigma"][..., None])
    np.testing.assert_allclose(gs.log_likelihood(rows, draws, chunk=60), want, rtol=1e-12)
    found = gs.log_likelihood(rows, draws, dtype="float32")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, want, rtol=1e-6)
    stored = zarr.create_array(zarr.storage.MemoryStore(), shape=want.shape, chunks=(2, 30, 60), dtype="float32")
    assert gs.log_likelihood(rows, draws, out=stored, chunk=60) is stored
    np.testing.assert_array_equal(stored[:], found)
    with pytest.raises(ValueError, match=r"out has shape \(3,\), and the table \(2, 30, 200\)"):
        gs.log_likelihood(rows, draws, out=np.empty(3))
