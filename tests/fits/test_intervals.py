"""Fits of observations that are known to lie in intervals, against SciPy and closed forms."""

import numpy as np
import pytest
from scipy import optimize, stats

import gpustats as gs


def recorded(x, rng):
    """Lower and upper ends: a quarter each of values, values below a number, values above one, and values in an interval."""
    lower, upper = x.copy(), x.copy()
    kind = rng.integers(0, 4, len(x))
    middle = np.median(x)
    low, high = (kind == 1) & (x < middle), (kind == 2) & (x > middle)
    lower[low], upper[low] = -np.inf, middle
    lower[high], upper[high] = middle, np.inf
    wide = kind == 3
    lower[wide], upper[wide] = np.floor(x[wide]), np.floor(x[wide]) + 1
    return lower, upper


@pytest.mark.parametrize(
    "name, parameters, peer, known, ours",
    [
        ("weibull", (1.5, 9.0), stats.weibull_min, dict(floc=0), lambda c, _, s: (c, s)),
        ("normal", (5.0, 3.0), stats.norm, {}, lambda m, s: (m, s)),
        ("gumbel", (5.0, 3.0), stats.gumbel_r, {}, lambda m, s: (m, s)),
    ],
)
def test_scipys_censored_data(name, parameters, peer, known, ours, rng):
    density = gs.densities[name]
    lower, upper = recorded(density.rvs(*parameters, size=300, rng=1), rng)
    data = stats.CensoredData.interval_censored(lower, upper)
    exact, left, right = lower == upper, np.isneginf(lower), np.isposinf(upper)
    between = ~(exact | left | right)
    data = stats.CensoredData(lower[exact], left=upper[left], right=lower[right], interval=np.c_[lower, upper][between])
    want = ours(*peer.fit(data, **known))
    fit = density.fit(data)
    assert fit.converged and fit.n_observations == 300
    np.testing.assert_allclose(list(fit), want, atol=1e-3 * min(fit.standard_errors.values()), rtol=0)
    same = density.fit(lower=lower, upper=upper)
    np.testing.assert_allclose(list(same), list(fit), rtol=1e-9)

    def loglik(*p):
        return np.log(np.where(exact, density.pdf(lower, *p), density.cdf(upper, *p) - density.cdf(lower, *p))).sum()

    np.testing.assert_allclose(fit.log_likelihood, loglik(*fit), rtol=1e-9)


def test_many_censored_data_sets_are_each_alone(rng):
    x = gs.weibull.rvs(1.5, 9.0, size=(5, 60), rng=2)
    end = np.array([6.0, 8.0, 10.0, 12.0, 30.0])[:, None]
    lower, upper = np.minimum(x, end), np.where(x > end, np.inf, x)
    fit = gs.weibull.fit(lower=lower, upper=upper)
    for g in range(5):
        one = gs.weibull.fit(lower=lower[g], upper=upper[g])
        np.testing.assert_allclose([v[g] for v in fit], list(one), rtol=1e-9)
    exposure = lower.sum(1)  # of exponential lifetimes: events over time
    events = (x <= end).sum(1)
    fit = gs.exponential.fit(lower=lower, upper=upper)
    np.testing.assert_allclose(fit["lam"], events / exposure, rtol=1e-10)
    np.testing.assert_allclose(fit.standard_errors["lam"], np.sqrt(events) / exposure, rtol=1e-8)


def test_both_ends_of_whole_numbers_belong_to_an_interval():
    lower, upper = np.array([1, 2, 4, 4, 7]), np.array([1, 3, 4, np.inf, 9])
    fit = gs.geometric.fit(lower=lower, upper=upper)

    def loss(p):
        sf = stats.geom(p).sf
        return -np.log(sf(lower - 1) - np.where(np.isinf(upper), 0, sf(upper))).sum()

    want = optimize.minimize_scalar(loss, bounds=(0.01, 0.99), options=dict(xatol=1e-10))
    np.testing.assert_allclose(fit["p"], want.x, rtol=1e-6)
    np.testing.assert_allclose(fit.log_likelihood, -want.fun, rtol=1e-10)


def test_ends_between_whole_numbers():
    fit = gs.poisson.fit(lower=[0.5, 1.2], upper=[2.5, 3.0])
    np.testing.assert_allclose(list(fit), list(gs.poisson.fit(lower=[1, 2], upper=[2, 3])), rtol=1e-9)


@pytest.mark.parametrize("name", ["normal", "poisson"])
def test_an_interval_without_ends_says_nothing(name):
    lower, upper = np.array([-np.inf, 1, 2, 3, 2]), np.array([np.inf, 2, 3, 4, np.inf])
    fit, without = (gs.densities[name].fit(lower=lower[i:], upper=upper[i:]) for i in (0, 1))
    assert fit.converged
    np.testing.assert_allclose(list(fit), list(without), rtol=1e-9)


@pytest.mark.parametrize("name, known", [("weibull", {}), ("pareto", {"m": 1.2}), ("kumaraswamy", {})])
def test_intervals_that_reach_the_end_of_the_support(name, known):
    density = gs.densities[name]
    parameters = [known.get(n, 1.7) for n in density.parameters]
    edges = np.concatenate([density(*parameters).support(), density.ppf([0.25, 0.5, 0.75], *parameters)])
    edges.sort()
    place = np.searchsorted(edges[1:-1], density.rvs(*parameters, size=200, rng=1))
    lower, upper = edges[place], edges[place + 1]
    fit = density.fit(lower=lower, upper=upper, fixed=known)
    shares = density.cdf(upper, *fit.parameters.values()) - density.cdf(lower, *fit.parameters.values())
    np.testing.assert_allclose(fit.log_likelihood, np.log(shares).sum(), rtol=1e-9)
    lower[lower == edges[0]], upper[upper == edges[-1]] = -np.inf, np.inf
    same = density.fit(lower=lower, upper=upper, fixed=known)
    assert fit.converged and same.converged
    np.testing.assert_allclose(list(fit), list(same), rtol=1e-9)
    np.testing.assert_allclose(fit.covariance, same.covariance, rtol=1e-6)


def test_a_distribution_function_is_needed():
    own = gs.register("// tailless: a density\nreal tailless_logpdf(real x, real mu) { return -cosh(x - mu); }")
    with pytest.raises(NotImplementedError, match="tailless_logcdf"):
        own.fit(lower=[0.0, 1.0], upper=[1.0, 1.0])


@pytest.mark.parametrize("h", [1e-3, 1e-9, 1e-15])
def test_narrow_intervals_are_observations(h, rng):
    z = rng.normal(0.2, 1.3, 60)
    exact, found = gs.normal.fit(z), gs.normal.fit(lower=z - h, upper=z + h)
    np.testing.assert_allclose([found["mu"], found["sigma"]], [exact["mu"], exact["sigma"]], rtol=1e-6)
    widths = np.log((z + h) - (z - h)).sum()
    np.testing.assert_allclose(found.log_likelihood, exact.log_likelihood + widths, rtol=1e-6)
