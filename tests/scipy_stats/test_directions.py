"""SciPy's distributions of directions, against scipy.stats."""

import numpy as np
import pytest
from scipy import stats

from gpustats import scipy_stats as st

MU = np.array([0.6, 0.0, -0.8])


def compare(got, want, rtol=1e-11):
    np.testing.assert_allclose(got, want, rtol=rtol)
    assert np.shape(got) == np.shape(want)


@pytest.mark.parametrize("kappa", [0.3, 7.0, 1e4])
def test_von_mises_fisher(kappa, rng):
    ours, theirs = st.vonmises_fisher(MU, kappa), stats.vonmises_fisher(MU, kappa)
    x = stats.vonmises_fisher.rvs(MU, kappa, 6, random_state=1).reshape(2, 3, 3)
    for given in (x, x[0], x[0, 0]):
        compare(ours.logpdf(given), theirs.logpdf(given), 1e-9)
        compare(ours.pdf(given), theirs.pdf(given), 1e-9)
    compare(ours.entropy(), theirs.entropy(), 1e-9)
    draws = ours.rvs(4000, random_state=1)
    assert draws.shape == (4000, 3) and ours.rvs().shape == (1, 3)
    for got, want in zip(st.vonmises_fisher.fit(draws), stats.vonmises_fisher.fit(draws), strict=True):
        compare(got, want, 1e-6)
    assert stats.ks_2samp(draws @ MU, theirs.rvs(4000, random_state=2) @ MU).pvalue > 1e-4


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_uniform(dim):
    draws = st.uniform_direction.rvs(dim, size=(2, 2000), random_state=1)
    assert draws.shape == (2, 2000, dim) and st.uniform_direction(dim).rvs().shape == (dim,)
    np.testing.assert_allclose((draws**2).sum(-1), 1, rtol=1e-14)
    theirs = stats.uniform_direction.rvs(dim, size=4000, random_state=1)
    assert stats.ks_2samp(draws[..., 0].ravel(), theirs[:, 0]).pvalue > 1e-4
    assert st.uniform_direction(dim).dim == dim


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: st.vonmises_fisher([1.0, 1.0], 2.0), "mu must be a vector of length 1"),
        (lambda: st.vonmises_fisher(MU, 0), "kappa must be a positive number, not 0: with 0 it is uniform_direction"),
        (lambda: st.vonmises_fisher(MU, 1).logpdf([1.0, 0.0]), r"x has shape \(2,\): it must be \(..., 3\)"),
        (lambda: st.vonmises_fisher(MU, 1).logpdf([1.0, 1.0, 0.0]), "x must be vectors of length 1"),
        (lambda: st.vonmises_fisher.fit(MU), r"x has shape \(3,\): it must be \(N, dim\)"),
        (lambda: st.uniform_direction(0), "dim must be a positive whole number, not 0"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
