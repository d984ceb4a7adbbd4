"""SciPy's distributions of matrices, against scipy.stats."""

import numpy as np
import pytest
from scipy import special, stats

from gpustats import scipy_stats as st

V = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.7]])
U, MEAN = np.array([[1.5, -0.4], [-0.4, 0.8]]), np.arange(6.0).reshape(3, 2)


def compare(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-10)
    assert np.shape(got) == np.shape(want)


@pytest.mark.parametrize("name", ["wishart", "invwishart"])
def test_covariances(name):
    ours, theirs = getattr(st, name), getattr(stats, name)
    x = np.moveaxis(stats.wishart.rvs(5, V, size=4, random_state=1), 0, -1)
    for given in (x, x[..., 0], x[..., :1]):
        compare(ours.logpdf(given, 6.5, V), theirs.logpdf(given, 6.5, V))
        compare(ours(6.5, V).pdf(given), theirs(6.5, V).pdf(given))
    compare(ours.logpdf([0.5, 2.0], 3, 1.5), theirs.logpdf([0.5, 2.0], 3, 1.5))
    compare(ours.logpdf(2.0, 4, V), theirs.logpdf(2.0, 4, V))
    for number in ("mean", "mode", "var"):
        compare(getattr(ours(7.5, V), number)(), getattr(theirs(7.5, V), number)())
    draws = ours.rvs(12.0, V, size=20_000, random_state=1)
    assert draws.shape == (20_000, 3, 3) and abs(draws.mean(0) / theirs.mean(12.0, V) - 1).max() < 0.2
    np.testing.assert_array_equal(draws, ours(12.0, V).rvs(20_000, random_state=np.random.RandomState(1)))
    assert ours.rvs(4, V).shape == (3, 3) and np.ndim(ours.rvs(4, 1.0)) == 0


def test_entropies():
    """SciPy's of the inverse distribution is wrong: that of a Wishart matrix follows by a change of variables."""
    p, half = len(V), 0.5 * 7.5 - 0.5 * np.arange(3)
    log_det = special.digamma(half).sum() + p * np.log(2) - np.linalg.slogdet(V)[1]  # its mean, of a Wishart matrix
    compare(st.wishart(7.5, V).entropy(), stats.wishart(7.5, V).entropy())
    compare(st.invwishart(7.5, V).entropy(), stats.wishart.entropy(7.5, np.linalg.inv(V)) - (p + 1) * log_det)
    compare(st.invwishart.entropy(7.5, 2.0), stats.invwishart.entropy(7.5, 2.0))


def test_no_mean():
    assert st.invwishart.var(6.0, V) is None and stats.invwishart.var(6.0, V) is None
    assert st.invwishart.mean(3.0, V) is None and st.wishart.mode(2.5, V) is None
    assert stats.invwishart.mean(3.0, V) is None and stats.wishart.mode(2.5, V) is None


@pytest.mark.parametrize("parameters", [(MEAN, V, U), (MEAN, 2.0, [1.0, 3.0]), (None, V, U)])
def test_tables(parameters, rng):
    x = rng.normal(size=(4, 3, 2))
    ours, theirs = st.matrix_normal(*parameters), stats.matrix_normal(*parameters)
    for given in (x, x[0]):
        compare(ours.logpdf(given), theirs.logpdf(given))
        compare(ours.pdf(given), theirs.pdf(given))
    compare(ours.entropy(), theirs.entropy())
    assert st.matrix_normal.rvs(rowcov=V).shape == (3, 1) and st.matrix_normal.rvs().shape == (1, 1)
    assert ours.rvs().shape == (3, 2) and ours.rvs(5, random_state=1).shape == (5, 3, 2)
    if hasattr(stats, "matrix_t"):  # of SciPy 1.17
        ours, theirs = st.matrix_t(*parameters, 4.5), stats.matrix_t(*parameters, 4.5)
        for given in (x, x[0]):
            compare(ours.logpdf(given), theirs.logpdf(given))
    assert st.matrix_t(*parameters, 4.5).rvs(5, random_state=1).shape == (5, 3, 2)


@pytest.mark.parametrize("name", ["ortho_group", "special_ortho_group", "unitary_group"])
def test_groups(name):
    one, several = getattr(st, name).rvs(3, random_state=1), getattr(st, name)(3).rvs(5, random_state=1)
    assert one.shape == (3, 3) and several.shape == (5, 3, 3)
    np.testing.assert_allclose(several @ several.conj().swapaxes(1, 2), np.broadcast_to(np.eye(3), (5, 3, 3)), atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: st.wishart(2.0, V), "df must be a number greater than 2, not 2.0"),
        (lambda: st.wishart(5.0, np.ones((2, 3))), r"scale has shape \(2, 3\)"),
        (lambda: st.wishart.logpdf(np.eye(2), 5.0, V), r"x has shape \(2, 2\)"),
        (lambda: st.matrix_normal(MEAN, U, V), r"rowcov has shape \(2, 2\): it must be \(3, 3\)"),
        (lambda: st.ortho_group.rvs(0), "dim must be a positive whole number"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_random_correlations():
    eigs = [0.1, 0.4, 1.5, 2.0]
    ours = st.random_correlation(eigs)
    one, several = ours.rvs(random_state=1), st.random_correlation.rvs(eigs, random_state=2, size=1500)
    assert one.shape == (4, 4) and several.shape == (1500, 4, 4)
    theirs = np.array([stats.random_correlation.rvs(eigs, random_state=i) for i in range(500)])
    for i, j in ((0, 1), (0, 3), (2, 3)):
        assert stats.ks_2samp(several[:, i, j], theirs[:, i, j]).pvalue > 1e-4
    for wrong, message in (([1.0], "at least two"), ([0.5, 1.0], "whose sum is 2 within"), ([-1.0, 3.0], "not negative")):
        with pytest.raises(ValueError, match=message):
            st.random_correlation.rvs(wrong)


def test_random_tables():
    row, col = [10, 4, 7], [5, 6, 3, 7]
    ours, theirs = st.random_table(row, col), stats.random_table(row, col)
    x = theirs.rvs(6, random_state=1).reshape(2, 3, 3, 4)
    x[0, 0, 0, 0] += 1
    for given in (x, x[1, 0]):
        compare(ours.logpmf(given), theirs.logpmf(given))
        compare(ours.pmf(given), theirs.pmf(given))
    compare(ours.mean(), theirs.mean())
    assert ours.rvs().shape == (3, 4) and ours.rvs((2, 5), random_state=1).shape == (2, 5, 3, 4)
    for call, message in (
        (lambda: st.random_table([1, 2], [4]), "row and col must have the same sum, not 3 and 4"),
        (lambda: ours.logpmf(-x), "whole numbers that are not negative"),
        (lambda: st.random_table.rvs(row, col, method="other"), "method must be None"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
