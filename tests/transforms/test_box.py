"""Multivariate normal distributions confined to a box, against probabilities that are known and rejection by hand."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from thorough import THOROUGH

import gpustats as gs

inf = np.inf


def equicorrelated(dim, rho=0.5):
    return np.full((dim, dim), rho) + (1 - rho) * np.eye(dim)


@pytest.fixture(scope="module")
def ordinary():
    """Five correlated elements, their box, and the draws in it out of many."""
    rng = np.random.default_rng(5)
    root, mu = rng.normal(size=(5, 8)), rng.normal(size=5)
    cov = root @ root.T
    lower = mu - np.sqrt(np.diag(cov)) * rng.uniform(0, 2, 5)
    upper = lower + rng.uniform(2, 8, 5)
    upper[1], lower[3] = inf, -inf
    x = rng.multivariate_normal(mu, cov, size=1_000_000)
    inside = x[((x >= lower) & (x <= upper)).all(1)]
    return gs.TruncatedMvNormal(mu, cov, lower, upper), inside, len(inside) / len(x)


@THOROUGH
@pytest.mark.parametrize("dim", [1, 2, 3, 10, 50])
def test_orthants(dim):
    """Equally correlated by 1/2, all elements are positive with probability 1 / (d + 1)."""
    log, error = gs.TruncatedMvNormal(np.zeros(dim), equicorrelated(dim), 0.0, inf).log_probability()
    assert abs(np.exp(log) * (dim + 1) - 1) < 5 * error + 1e-14
    assert error < 1e-3


@pytest.mark.parametrize("rho", [-0.99, -0.3, 0.0, 0.7, 0.999])
def test_orthants_of_a_plane(rho):
    log, error = gs.TruncatedMvNormal([0, 0], equicorrelated(2, rho), 0, inf).log_probability()
    assert abs(np.exp(log) / (0.25 + np.arcsin(rho) / (2 * np.pi)) - 1) < 5 * error + 1e-12


def test_far_tails():
    """Of independent elements the probability is a product; draws lie behind their bounds."""
    lower, upper = np.array([10.0, 20.0, -inf, 30.0, 1e5]), np.array([inf, 21.0, -40.0, 30.5, inf])
    box = gs.TruncatedMvNormal(np.zeros(5), np.eye(5), lower, upper)
    with mp.workdps(30):
        want = sum(mp.log(mp.erfc(a / mp.sqrt(2)) / 2 - mp.erfc(b / mp.sqrt(2)) / 2)
                   for a, b in [(10, mp.inf), (20, 21), (40, mp.inf), (30, 30.5)])  # fmt: skip
        want += -mp.mpf(10) ** 10 / 2 - mp.log(mp.sqrt(2 * mp.pi) * 10**5)  # the first term of the asymptotic series
    np.testing.assert_allclose(box.log_probability().log, float(want), rtol=1e-13)
    x = box.rvs(20_000, rng=1)
    assert ((x >= lower) & (x <= upper)).all()
    for i in (0, 1, 3):
        assert stats.kstest(x[:, i], lambda v, i=i: tail(v, lower[i], upper[i])).pvalue > 1e-4
    assert stats.kstest((x[:, 4] - 1e5) * 1e5, stats.expon.cdf).pvalue > 1e-4


def tail(x, lower, upper):
    """The distribution function far in the upper tail."""
    below, here, above = (stats.norm.logsf(v) for v in (lower, x, upper))
    return np.expm1(here - below) / np.expm1(above - below)


def test_draws_are_those_of_rejection(ordinary):
    box, inside, part = ordinary
    assert abs(np.exp(box.log_probability().log) - part) < 5 * np.sqrt(part / 1_000_000)
    x = box.rvs(50_000, rng=1)
    for i in range(5):
        assert stats.ks_2samp(x[:, i], inside[:, i]).pvalue > 1e-4
        for j in range(i):
            assert stats.ks_2samp(x[:, i] * x[:, j], inside[:, i] * inside[:, j]).pvalue > 1e-4
            assert stats.ks_2samp(x[:, i] - x[:, j], inside[:, i] - inside[:, j]).pvalue > 1e-4


def test_draws_far_out_of_many_dimensions():
    """Each element, given the others, is a normal variable confined to its interval."""
    cov = equicorrelated(20, 0.3)
    lower = np.full(20, 2.0)
    x = gs.TruncatedMvNormal(np.zeros(20), cov, lower, inf).rvs(20_000, rng=3)
    precision = np.linalg.inv(cov)
    for i in (0, 7, 19):
        mean = -(np.delete(x, i, 1) @ np.delete(precision[i], i)) / precision[i, i]
        sd = 1 / np.sqrt(precision[i, i])
        assert stats.kstest(tail((x[:, i] - mean) / sd, (2 - mean) / sd, inf), stats.uniform.cdf).pvalue > 1e-4


def test_streams_and_types(ordinary):
    box = ordinary[0]
    whole = box.rvs(1000, rng=7)
    rng = gs.Generator(7)
    np.testing.assert_array_equal(np.concatenate([box.rvs(n, rng=rng) for n in (1, 0, 900, 99)]), whole)
    assert box.rvs(rng=1).shape == (5,) and box.rvs((2, 3), rng=1).shape == (2, 3, 5)
    single = box.rvs(20_000, rng=1, dtype="float32")
    assert single.dtype == np.float32 and stats.ks_2samp(single[:, 0], ordinary[1][:, 0]).pvalue > 1e-4
    on_device = box.rvs(10, rng=7, device=True)
    np.testing.assert_array_equal(gs.to_host(on_device), whole[:10])


def test_density(ordinary):
    box, inside, part = ordinary
    x = np.concatenate([inside[:5], [box.mu + 1e3]])
    want = stats.multivariate_normal.logpdf(x, box.mu, box.cov) - np.log(part)
    np.testing.assert_allclose(box.logpdf(x)[:5], want[:5], atol=5 * np.sqrt(1 / (part * 1_000_000)))
    assert box.logpdf(x)[5] == -inf and np.isnan(box.logpdf(np.full(5, np.nan)))
    assert box.logpdf(x.reshape(2, 3, 5)).shape == (2, 3)


def test_the_same_bits_every_time(ordinary):
    box = ordinary[0]
    again = gs.TruncatedMvNormal(box.mu, box.cov, box.lower, box.upper)
    assert again.log_probability() == box.log_probability()
    assert again.log_probability(rng=1).log != box.log_probability().log


@pytest.mark.parametrize(
    "args, message",
    [
        (([0, 0], np.eye(3), 0, 1), r"cov has shape \(3, 3\), and mu \(2,\)"),
        (([0, np.inf], np.eye(2), 0, 1), "mu must be a vector of finite numbers"),
        ((0.0, [[1.0]], 0, 1), r"mu must be a vector of finite numbers, shape \(d,\), not \(\)"),
        (([], np.eye(0), 0, 1), r"d at least 1"),
        (([0, 0], [[1, 0.5], [0.2, 1]], 0, 1), "cov must be symmetric"),
        (([0, 0], [[1, 2], [2, 1]], 0, 1), "cov must be positive definite"),
        (([0, 0], np.eye(2), [0, 0, 0], 1), r"lower has shape \(3,\)"),
        (([0, 0], np.eye(2), 0, [1, -1]), "the box is empty: element 1 has the bounds 0.0 and -1.0"),
        (([0, 0], np.eye(2), np.nan, 1), "the box is empty: element 0 has the bounds nan and 1.0"),
    ],
)
def test_mistakes(args, message):
    with pytest.raises(ValueError, match=message):
        gs.TruncatedMvNormal(*args)


def test_mistakes_in_calls(ordinary):
    with pytest.raises(ValueError, match=r"x has shape \(3,\): its last axis must have the length of mu, 5"):
        ordinary[0].logpdf(np.zeros(3))
    with pytest.raises(ValueError, match="points must be positive, not 0"):
        ordinary[0].log_probability(0)
    with pytest.raises(TypeError, match="dtype must be float64 or float32, not int64"):
        ordinary[0].rvs(3, dtype=int)
