"""Uniform directions: their density on circles, spheres and beyond, and their draws."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import gpustats as gs

inf, nan = np.inf, np.nan


@pytest.mark.parametrize("n", [1, 2, 3, 7, 200])
def test_density(n):
    """One over the area, which is that of a von Mises-Fisher distribution without concentration, too."""
    x = gs.uniform_direction.rvs(n, size=(2, 3), rng=1)
    area = 2 * mp.pi ** (mp.mpf(n) / 2) / mp.gamma(mp.mpf(n) / 2)
    got = gs.uniform_direction.logpdf(x)
    np.testing.assert_allclose(got, np.full((2, 3), -float(mp.log(area))), rtol=1e-13)
    if n > 1:
        np.testing.assert_allclose(gs.von_mises_fisher.logpdf(x, x[0, 0], 0.0), got, rtol=1e-11)
    single = gs.uniform_direction.logpdf(x.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, got, rtol=1e-6)


def test_outside():
    x = np.array([[0.6, 0.8], [0.6, 0.9], [inf, 0.0], [nan, 1.0]])
    np.testing.assert_array_equal(gs.uniform_direction.logpdf(x), [-np.log(2 * np.pi), -inf, -inf, nan])
    assert gs.uniform_direction.logpdf(x[:0]).shape == (0,)
    np.testing.assert_array_equal(gs.uniform_direction.logpdf(gs.to_device(x[:2])), [-np.log(2 * np.pi), -inf])
    with pytest.raises(ValueError, match=r"x of uniform_direction has shape \(\), but must be vectors"):
        gs.uniform_direction.logpdf(1.0)
    with pytest.raises(ValueError, match="n is 2.5"):
        gs.uniform_direction.rvs(2.5)


def test_draws():
    x = gs.uniform_direction.rvs(4, size=20_000, rng=1)
    np.testing.assert_allclose((x * x).sum(-1), 1, rtol=1e-14)
    for i in range(4):
        assert stats.kstest(x[:, i] ** 2, stats.beta(0.5, 1.5).cdf).pvalue > 1e-4
    assert np.abs(x.mean(0)).max() < 5 * 0.5 / np.sqrt(len(x))
    assert set(gs.uniform_direction.rvs(1, size=50, rng=1).ravel()) == {-1.0, 1.0}
    assert gs.uniform_direction.rvs(3).shape == (3,) and gs.uniform_direction.rvs(3, size=0).shape == (0, 3)
