"""Correlation matrices of given eigenvalues."""

import numpy as np
import pytest
from scipy import stats

import gpustats as gs


@pytest.mark.parametrize(
    "eigs", [[1.0], [0.3, 1.7], [2.0, 0.0], [1.0, 1.0, 1.0], [0, 0, 3], [1e-9, 0.5, 1.2, 2.3 - 1e-9], np.arange(40) / 19.5],
    ids=lambda e: str(len(e)),
)  # fmt: skip
def test_they_are_correlations_of_these_eigenvalues(eigs):
    x = gs.random_correlation.rvs(eigs, size=(2, 50), rng=1)
    n = len(eigs)
    assert x.shape == (2, 50, n, n) and (np.diagonal(x, axis1=-2, axis2=-1) == 1).all()
    assert np.array_equal(x, x.swapaxes(-1, -2)) and np.abs(x).max() < 1 + 1e-12
    np.testing.assert_allclose(np.linalg.eigvalsh(x), np.broadcast_to(np.sort(eigs), (2, 50, n)), atol=1e-13 * n)


def test_draws_are_scipys():
    eigs = [0.1, 0.4, 1.5, 2.0]
    ours = gs.random_correlation.rvs(eigs, size=2000, rng=1)
    theirs = np.array([stats.random_correlation.rvs(eigs, random_state=i) for i in range(600)])
    for i, j in zip(*np.triu_indices(4, 1)):
        assert stats.ks_2samp(ours[:, i, j], theirs[:, i, j]).pvalue > 1e-4
    assert gs.random_correlation.rvs(eigs).shape == (4, 4)


@pytest.mark.parametrize("eigs", [[[1.0]], [], [1.0, 2.0], [-1.0, 3.0], [np.nan, 1.0]], ids=str)
def test_mistakes(eigs):
    with pytest.raises(ValueError, match="eigs"):
        gs.random_correlation.rvs(eigs)
