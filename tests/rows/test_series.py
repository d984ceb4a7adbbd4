"""Sequence models: values and gradients are those of statsmodels, of SciPy, and of what is written here from the formulas.

References go through complex numbers, so that a step of 1e-30 times i gives their derivatives to all digits.
"""

import copy
import math
import pickle

import mpmath as mp
import numpy as np
import pytest
from parts import in_parts
from scipy import special
from statsmodels.tsa.statespace.exponential_smoothing import ExponentialSmoothing
from statsmodels.tsa.statespace.sarimax import SARIMAX
from statsmodels.tsa.statespace.structural import UnobservedComponents
from thorough import double_first, some

import gpustats as gs

LOG_2PI = np.log(2 * np.pi)


def size(a):
    """The absolute value, with a derivative in complex numbers."""
    return -a if a.real < 0 else a


# -- Gaussian series, by their covariance matrices


def gaussian(y, mean, cov):
    """Logarithm of the density of the numbers that are there."""
    seen = ~np.isnan(y)
    d, cov = (y - mean)[seen], cov[np.ix_(seen, seen)]
    lower = np.zeros_like(cov)  # of Cholesky's factor, without conjugates
    for j in range(len(d)):
        lower[j, j] = np.sqrt(cov[j, j] - lower[j, :j] @ lower[j, :j])
        lower[j + 1 :, j] = (cov[j + 1 :, j] - lower[j + 1 :, :j] @ lower[j, :j]) / lower[j, j]
    z = np.linalg.solve(lower, d)
    return -0.5 * (z @ z + len(d) * LOG_2PI) - np.log(np.diag(lower)).sum()


def arma11(y, mu, phi, theta, sigma):
    lag = abs(np.subtract.outer(np.arange(len(y)), np.arange(len(y))))
    first = (1 + phi * theta) * (phi + theta) / (1 - phi**2)
    powers = np.array([1, 1, *(phi ** (k - 1) for k in range(2, len(y)))])[lag]
    cov = np.where(lag == 0, (1 + 2 * phi * theta + theta**2) / (1 - phi**2), first * powers)
    return gaussian(y, mu, sigma**2 * cov)


def local_linear_trend(y, sigma, sigma_level, sigma_slope, level, level_sd, slope, slope_sd):
    t = np.arange(len(y))
    first, both = np.minimum.outer(t, t), np.multiply.outer(t, t)
    steps = [[sum((min(a, b) - 1 - j + abs(a - b)) * (min(a, b) - 1 - j) for j in range(min(a, b))) for a in t] for b in t]
    cov = sigma**2 * np.eye(len(y)) + level_sd**2 + sigma_level**2 * first + slope_sd**2 * both
    return gaussian(y, level + slope * t, cov + sigma_slope**2 * np.array(steps))


# -- volatility


def normal_of(y, mu, h):
    return -0.5 * (LOG_2PI + np.log(h) + (y - mu) ** 2 / h)


def t_of(y, mu, h, nu):
    constant = special.loggamma((nu + 1) / 2) - special.loggamma(nu / 2) - 0.5 * np.log(np.pi * (nu - 2) * h)
    return constant - (nu + 1) / 2 * np.log(1 + (y - mu) ** 2 / (h * (nu - 2)))


def gjr_garch(y, mu, omega, alpha, gamma, beta, variance, *nu):
    h, total = variance, 0
    for x in y:
        news = (alpha + gamma / 2) * h if np.isnan(x) else (alpha + gamma * (x < np.real(mu))) * (x - mu) ** 2
        total += 0 if np.isnan(x) else t_of(x, mu, h, *nu) if nu else normal_of(x, mu, h)
        h = omega + news + beta * h
    return total


def egarch(y, mu, omega, alpha, gamma, beta, variance, *nu):
    log_h, total, expected = np.log(variance), 0, np.sqrt(2 / np.pi)
    if nu:
        ratio = np.exp(special.loggamma((nu[0] + 1) / 2) - special.loggamma(nu[0] / 2))
        expected = 2 * np.sqrt((nu[0] - 2) / np.pi) * ratio / (nu[0] - 1)
    for x in y:
        z, h = (x - mu) / np.exp(log_h / 2), np.exp(log_h)
        total += 0 if np.isnan(x) else t_of(x, mu, h, *nu) if nu else normal_of(x, mu, h)
        log_h = omega + beta * log_h + (0 if np.isnan(x) else alpha * (size(z) - expected) + gamma * z)
    return total


def smoothing(y, alpha, beta, level, trend, sigma):
    total = 0
    for x in y:
        level = level + trend
        if not np.isnan(x):
            total += normal_of(x, level, sigma**2)
            level, trend = level + alpha * (x - level), trend + beta * (x - level)
    return total


# -- events


def hawkes(times, end, mu, alpha, beta):
    rates = [mu + alpha * beta * np.exp(-beta * (t - times[:i])).sum() for i, t in enumerate(times)]
    return np.log(rates).sum() - mu * end - alpha * (1 - np.exp(-beta * (end - times))).sum()


def weibull(start, stop, event, x, shape, scale, coef):
    hazard = shape / scale * (stop / scale) ** (shape - 1) * np.exp(coef * x)
    risk = np.exp(coef * x) * ((stop / scale) ** shape - (start / scale) ** shape)
    return (event * np.log(hazard) - risk).sum()


def piecewise(start, stop, event, x, first, second, rate_0, rate_1, rate_2, coef):
    def risk(t):
        if t <= first.real:
            return rate_0 * t
        if t <= second.real:
            return rate_0 * first + rate_1 * (t - first)
        return rate_0 * first + rate_1 * (second - first) + rate_2 * (t - second)

    total = 0
    for a, b, e, c in zip(start, stop, event, x):
        hazard = rate_0 if b <= first.real else rate_1 if b <= second.real else rate_2
        total += e * (np.log(hazard) + coef * c) - np.exp(coef * c) * (risk(b) - risk(a))
    return total


def renewal(y, reproduction, mean, sd, *alpha):
    with mp.workdps(50):
        shape, rate = mp.mpmathify(mean / sd) ** 2, mp.mpmathify(mean) / mp.mpmathify(sd) ** 2
        below = [mp.gammainc(shape, 0, s * rate, regularized=True) for s in range(31)]
        weights = [(b - a) / below[-1] for a, b in zip(below, below[1:])]
        total = mp.mpf(0)
        for t in range(1, len(y)):
            m = reproduction * mp.fsum(w * int(c) for w, c in zip(weights, y[t - 1 :: -1] if t > 1 else y[:1]))
            k = int(y[t])
            if alpha:
                a = mp.mpmathify(alpha[0])
                total += mp.loggamma(k + a) - mp.loggamma(a) + a * mp.log(a / (m + a)) + k * mp.log(m / (m + a))
            else:
                total += k * mp.log(m) - m
            total -= mp.loggamma(k + 1)
        return complex(total)


# -- choices


def log_expit(a):
    return -np.log(1 + np.exp(-a))


def rescorla_wagner(choice, reward, alpha, beta):
    v, total = 0, 0
    for c, r in zip(choice, reward):
        total += 0 if np.isnan(c) else log_expit(beta * v if c else -beta * v)
        v = v + (0 if np.isnan(r) else alpha * (r - v))
    return total


def q_learning(choice, reward, alpha, beta):
    q, total = [0, 0], 0
    for c, r in zip(choice, reward):
        if not np.isnan(c):
            total += beta * q[int(c)] - np.log(np.exp(beta * q[0]) + np.exp(beta * q[1]))
            q[int(c)] = q[int(c)] + (0 if np.isnan(r) else alpha * (r - q[int(c)]))
    return total


def drift_diffusion(choice, time, reward, rate, drift, alpha, tau, beta):
    q, total, k = [0, 0], 0, np.arange(1, 60)
    for c, x, r in zip(choice, time, reward):
        t, v, w = x - tau, drift * (q[1] - q[0]), beta
        v, w = (-v, 1 - w) if c else (v, w)
        terms = k * np.sin(k * np.pi * w) * np.exp(-((k * np.pi / alpha) ** 2) * t / 2)
        total += np.log(np.pi / alpha**2 * terms.sum()) - v * alpha * w - v**2 * t / 2
        q[int(c)] = q[int(c)] + rate * (r - q[int(c)])
    return total


def hidden_markov(y, initial, p_01, p_10, mu_0, mu_1, sigma_0, sigma_1):
    w, total = np.array([1 - initial, initial]), 0
    move = np.array([[1 - p_01, p_01], [p_10, 1 - p_10]])
    for x in y:
        if not np.isnan(x):
            logs = np.array([normal_of(x, mu_0, sigma_0**2), normal_of(x, mu_1, sigma_1**2)])
            top = logs.real.max()
            w = w * np.exp(logs - top)
            total += top + np.log(w.sum())
            w = w / w.sum()
        w = w @ move
    return total


# -- data


def series_of(rng, n):
    return {"y": 0.3 + rng.normal(size=n).cumsum() * 0.3 + rng.normal(size=n)}


def choices_of(rng, n):
    return {"choice": rng.integers(0, 2, n).astype(float), "reward": rng.normal(0.3, 1, n)}


def responses_of(rng, n):
    its = choices_of(rng, n)
    return {"choice": its["choice"], "time": rng.uniform(0.5, 2.5, n), "reward": its["reward"]}


def times_of(rng, n):
    return {"times": np.cumsum(rng.exponential(1.0, n))}


def counts_of(rng, n):
    return {"y": rng.poisson(6, n) + 1.0}


def intervals_of(rng, n):
    ends = np.cumsum(rng.exponential(0.5, n))
    return {"start": np.append(0, ends[:-1]), "stop": ends, "event": rng.integers(0, 2, n) * 1.0, "x": rng.normal(size=n)}


ARMA = {"mu": 0.2, "phi": 0.7, "theta": 0.4, "sigma": 1.1}
GARCH = {"mu": 0.1, "omega": 0.05, "alpha": 0.1, "gamma": 0.08, "beta": 0.8, "variance": 1.2}
LEVEL = {"sigma": 0.8, "sigma_level": 0.3, "level": 0.1, "level_sd": 2.0}
TREND = {"sigma": 0.8, "sigma_level": 0.3, "sigma_slope": 0.1, "level": 0.1, "level_sd": 2.0, "slope": -0.05, "slope_sd": 0.7}
HIDDEN = {"initial": 0.3, "p_01": 0.1, "p_10": 0.2, "mu_0": -0.5, "mu_1": 1.0, "sigma_0": 0.7, "sigma_1": 1.6}
SMOOTHING = {"alpha": 0.4, "beta": 0.15, "level": 0.2, "trend": 0.05, "sigma": 1.2}
RATES = {"first": 0.7, "second": 2.1, "rate_0": 0.5, "rate_1": 1.4, "rate_2": 0.9, "coef": 0.3}


def without(parameters, *names):
    return {n: v for n, v in parameters.items() if n not in names}


#: Model -> its reference, data, and parameters.
CASES = {
    "ar1": (lambda y, mu, phi, sigma: arma11(y, mu, phi, 0, sigma), series_of, without(ARMA, "theta")),
    "ma1": (lambda y, mu, theta, sigma: arma11(y, mu, 0, theta, sigma), series_of, without(ARMA, "phi")),
    "arma11": (arma11, series_of, ARMA),
    "local_level": (lambda y, *p: local_linear_trend(y, *p[:2], 0, *p[2:], 0, 0), series_of, LEVEL),
    "local_linear_trend": (local_linear_trend, series_of, TREND),
    "garch": (lambda y, mu, omega, alpha, *p: gjr_garch(y, mu, omega, alpha, 0, *p), series_of, without(GARCH, "gamma")),
    "garch_t": (
        lambda y, mu, omega, alpha, *p: gjr_garch(y, mu, omega, alpha, 0, *p), series_of, without(GARCH, "gamma") | {"nu": 5.5}
    ),
    "gjr_garch": (gjr_garch, series_of, GARCH),
    "gjr_garch_t": (gjr_garch, series_of, GARCH | {"nu": 5.5}),
    "egarch": (egarch, series_of, GARCH),
    "egarch_t": (egarch, series_of, GARCH | {"nu": 5.5}),
    "exponential_smoothing": (
        lambda y, alpha, level, sigma: smoothing(y, alpha, 0, level, 0, sigma), series_of, without(SMOOTHING, "beta", "trend")
    ),
    "exponential_smoothing_trend": (smoothing, series_of, SMOOTHING),
    "hawkes_exponential": (hawkes, times_of, {"end": 60.0, "mu": 0.4, "alpha": 0.6, "beta": 1.3}),
    "weibull_counting_process": (weibull, intervals_of, {"shape": 1.4, "scale": 0.9, "coef": 0.3}),
    "piecewise_counting_process": (piecewise, intervals_of, RATES),
    "renewal_equation": (renewal, counts_of, {"reproduction": 1.2, "mean": 5.0, "sd": 2.5}),
    "renewal_equation_negative_binomial": (renewal, counts_of, {"reproduction": 1.2, "mean": 5.0, "sd": 2.5, "alpha": 4.0}),
    "rescorla_wagner": (rescorla_wagner, choices_of, {"alpha": 0.3, "beta": 2.0}),
    "q_learning": (q_learning, choices_of, {"alpha": 0.3, "beta": 2.0}),
    "drift_diffusion_learning": (
        drift_diffusion, responses_of, {"rate": 0.3, "drift": 0.8, "alpha": 1.3, "tau": 0.2, "beta": 0.45}
    ),
    "hidden_markov": (hidden_markov, series_of, HIDDEN),
}  # fmt: skip
WITH_MISSING = [n for n, (_, data, _) in CASES.items() if data in (series_of, choices_of)]
LENGTHS = (1, 2, 24, 11, 40)


def drawn(name, seed=3, missing=False, lengths=LENGTHS):
    """Sequences of each argument; if `missing`, some have no first number, and others none in the middle."""
    rng, found = np.random.default_rng(seed), {}
    for n in lengths:
        its = CASES[name][1](rng, n)
        for values in its.values() if missing else ():
            values[rng.random(n) < 0.3] = np.nan
            values[: rng.integers(0, 3)] = np.nan
        for argument, values in its.items():
            found.setdefault(argument, []).append(values)
    return found


def rows_of(name, data, dtype=np.float64, missing=False):
    cast = {n: [np.asarray(v, dtype) for v in its] for n, its in data.items()}
    return gs.Rows(getattr(gs.series, name), **{n: gs.sequences(its, missing=missing) for n, its in cast.items()})


def reference(name, data, parameters):
    """Value of each sequence, and the gradient of their sum."""
    function = CASES[name][0]

    def terms(values):
        return np.array([function(*its, *map(complex, values)) for its in zip(*data.values())])

    def slope(name):
        step = 1e-30 * (abs(parameters[name]) or 1)
        return terms((parameters | {name: parameters[name] + 1j * step}).values()).imag.sum() / step

    return terms(parameters.values()).real, {name: slope(name) for name in parameters}


def assert_equal(name, data, parameters, dtype=np.float64, missing=False, rtol=1e-10):
    rows = rows_of(name, data, dtype, missing)
    rtol = rtol if dtype == np.float64 else 1e-4
    exact = {n: [np.asarray(v, dtype).astype(float) for v in its] for n, its in data.items()}
    terms, slopes = reference(name, exact, parameters)
    np.testing.assert_allclose(rows.terms(**parameters), terms, rtol=rtol, atol=rtol)
    value, gradient = rows.value_and_grad(**parameters)
    np.testing.assert_allclose(value, terms.sum(), rtol=rtol)
    scale = max(1, max(map(abs, slopes.values())) / 100)
    np.testing.assert_allclose([gradient[n] for n in slopes], list(slopes.values()), rtol=rtol, atol=rtol * scale)


def test_every_model_has_a_reference():
    assert sorted(CASES) == sorted(gs.series)
    for name, (_, data, parameters) in CASES.items():
        model = gs.series[name]
        assert (model.sequences, model.parameters) == (tuple(data(np.random.default_rng(1), 3)), tuple(parameters))


@double_first
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, dtype):
    assert_equal(name, drawn(name), CASES[name][2], dtype)


@pytest.mark.parametrize("name", WITH_MISSING)
def test_missing_numbers(name):
    assert_equal(name, drawn(name, missing=True), CASES[name][2], missing=True)


IN_LOOPS = [n for n in CASES if "counting_process" not in n]  # the others return from within theirs


@pytest.mark.parametrize("name", some(IN_LOOPS))
def test_in_parts(name, monkeypatch):
    in_parts(monkeypatch, 3)
    missing = name in WITH_MISSING
    rows = rows_of(name, drawn(name, missing=missing), missing=missing)
    assert "parts of 3 steps at most" in rows.explain(**CASES[name][2])
    assert_equal(name, drawn(name, missing=missing), CASES[name][2], missing=missing)


def logs_of_steps(y, mu, phi, sigma):
    """Terms of an autoregression one by one: near 1 the covariance matrix is singular."""
    share = (1 - phi) * (1 + phi)
    first = normal_of((y[0] - mu) / sigma, 0, 1 / share)
    return first + normal_of((y[1:] - mu - phi * (y[:-1] - mu)) / sigma, 0, 1).sum() - len(y) * np.log(sigma)


EXTREME = [
    ("ar1", {"phi": 1 - 1e-12}), ("ar1", {"phi": -1 + 1e-9}), ("ar1", {"phi": 0.0}), ("ar1", {"sigma": 1e-90}),
    ("ma1", {"theta": -1.0}), ("ma1", {"theta": 30.0}), ("ma1", {"theta": 0.0}), ("arma11", {"phi": 0.0, "theta": 0.0}),
    ("arma11", {"phi": -0.4}), ("local_level", {"sigma_level": 0.0, "level_sd": 0.0}), ("local_level", {"sigma": 1e-3}),
    ("local_linear_trend", {"sigma_slope": 0.0, "sigma_level": 0.0, "slope_sd": 1e-8}), ("garch", {"variance": 1e-140}),
    ("garch", {"alpha": 0.0, "beta": 0.0}), ("garch_t", {"nu": 2 + 1e-6}), ("garch_t", {"nu": 1e7}),
    ("gjr_garch", {"gamma": -0.1}), ("egarch", {"beta": 0.0, "variance": 1e-4}), ("egarch_t", {"nu": 1e6}),
    ("hawkes_exponential", {"alpha": 0.0}), ("hawkes_exponential", {"beta": 1e-8}), ("hawkes_exponential", {"beta": 1e5}),
    ("rescorla_wagner", {"alpha": 1.0, "beta": -200.0}), ("q_learning", {"alpha": 0.0}), ("hidden_markov", {"p_01": 1e-200}),
    ("hidden_markov", {"mu_1": 40.0, "sigma_1": 0.1}), ("hidden_markov", {"mu_0": -60.0, "sigma_0": 0.05, "initial": 1e-9}),
    ("weibull_counting_process", {"shape": 0.05}), ("renewal_equation", {"sd": 0.3}), ("renewal_equation", {"mean": 30.0}),
]  # fmt: skip


@pytest.mark.parametrize("name, at", EXTREME)
def test_extreme_parameters(name, at, monkeypatch):
    if "phi" in at and name == "ar1":
        monkeypatch.setitem(CASES, "ar1", (logs_of_steps, *CASES["ar1"][1:]))
    rtol = 1e-8 if at.get("nu", 0) > 1e5 else 1e-10  # the reference subtracts large logarithms
    assert_equal(name, drawn(name), CASES[name][2] | at, rtol=rtol)


OUTSIDE = [
    ("ar1", {"phi": 1.0}), ("ar1", {"phi": -1.5}), ("ar1", {"sigma": 0.0}), ("arma11", {"phi": 2.0}),
    ("garch", {"alpha": -0.1}), ("garch_t", {"nu": 2.0}), ("gjr_garch", {"gamma": -0.2}), ("egarch", {"variance": -1.0}),
    ("rescorla_wagner", {"alpha": 1.1}), ("hawkes_exponential", {"end": 1.0}), ("hidden_markov", {"p_01": -0.1}),
    ("local_level", {"sigma": -1.0}),
    ("piecewise_counting_process", {"first": 3.0}), ("renewal_equation", {"mean": 0.0}), ("ma1", {"mu": np.nan}),
]  # fmt: skip


@pytest.mark.parametrize("name, at", OUTSIDE)
def test_outside_of_the_domain_of_a_parameter(name, at):
    assert np.isnan(rows_of(name, drawn(name), np.float64)(**CASES[name][2] | at))


@pytest.mark.parametrize("missing", [(), (0,), (0, 1), (1,), (0, 2, 3), (4, 5, 29)])
@pytest.mark.parametrize("known", ["known", "approximate", "diffuse"])
@pytest.mark.parametrize("trend", [False, True])
def test_levels_of_statsmodels(trend, known, missing):
    sizes = {"sigma": 0.8, "sigma_level": 0.3} | ({"sigma_slope": 0.1} if trend else {})
    y = drawn("local_level", lengths=(30,))["y"][0]
    y[list(missing)] = np.nan
    kind, n_states = ("local linear trend", 2) if trend else ("local level", 1)
    theirs = UnobservedComponents(y, kind, use_exact_diffuse=known == "diffuse")
    theirs.ssm.tolerance = 0  # it would stop to update variances that hardly change
    mean = [0.3, -0.1] if known == "known" else [0, 0]
    sd = {"known": [1.5, 0.4], "approximate": [1e3, 1e3], "diffuse": [np.inf, np.inf]}[known]
    if known == "known":
        theirs.ssm.initialize_known(np.array(mean[:n_states]), np.diag(np.square(sd[:n_states])))
        theirs.loglikelihood_burn = 0
    start = {"level": mean[0], "level_sd": sd[0]} | ({"slope": mean[1], "slope_sd": sd[1]} if trend else {})
    name = "local_linear_trend" if trend else "local_level"
    rows = rows_of(name, {"y": [y]}, missing=True)
    value, gradient = rows.value_and_grad(**sizes, **start)
    variances = np.square(list(sizes.values()))
    if known == "approximate":  # it leaves out the terms of the first numbers, as many as there are states
        assert theirs.loglikelihood_burn == n_states
        first = rows_of(name, {"y": [y[:n_states]]}, missing=True)(**sizes, **start)
        np.testing.assert_allclose(value - first, theirs.loglike(variances), rtol=1e-9)
        return
    np.testing.assert_allclose(value, theirs.loglike(variances), rtol=1e-10)
    slopes = theirs.score(variances, method="approx", approx_complex_step=True) * 2 * np.array(list(sizes.values()))
    np.testing.assert_allclose([gradient[n] for n in sizes], slopes, rtol=1e-8, atol=1e-9)


def test_models_of_statsmodels():
    y = drawn("ar1", missing=True, lengths=(80,))["y"][0]
    for name, order, at in (("ar1", (1, 0, 0), [0.7]), ("ma1", (0, 0, 1), [0.4]), ("arma11", (1, 0, 1), [0.7, 0.4])):
        theirs = SARIMAX(y - 0.2, order=order).loglike([*at, 1.21])
        np.testing.assert_allclose(rows_of(name, {"y": [y]}, missing=True)(0.2, *at, 1.1), theirs, rtol=1e-10)
    y, known = y[~np.isnan(y)], {"initialization_method": "known", "initial_level": 0.2, "concentrate_scale": False}
    theirs = ExponentialSmoothing(y, **known).loglike([0.4, 1.44])
    np.testing.assert_allclose(rows_of("exponential_smoothing", {"y": [y]})(0.4, 0.2, 1.2), theirs, rtol=1e-10)
    theirs = ExponentialSmoothing(y, trend=True, initial_trend=0.05, **known).loglike([0.4, 0.15, 1.44])
    ours = rows_of("exponential_smoothing_trend", {"y": [y]})(0.4, 0.15, 0.2, 0.05, 1.2)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@double_first
@pytest.mark.parametrize("name", ["ar1", "garch", "rescorla_wagner", "hidden_markov"])
def test_a_long_sequence(name, dtype):
    n, parameters = 100_000, CASES[name][2]
    y = np.random.default_rng(8).normal(size=n).astype(dtype)
    data = {"y": [y]} if name != "rescorla_wagner" else {"choice": [np.asarray(y > 0, dtype)], "reward": [y]}
    function = logs_of_steps if name == "ar1" else CASES[name][0]
    wanted = function(*(np.asarray(its[0], float) for its in data.values()), *parameters.values())
    np.testing.assert_allclose(rows_of(name, data, dtype)(**parameters), wanted, rtol=1e-10 if dtype == np.float64 else 1e-4)


def test_a_row_function_calls_a_model():
    """Of two series each, which share a variance; with a stationary variance of the first number."""
    source = """
    real pair(const real *a, const real *b, int n, real omega, real alpha, real beta)
    {
        real variance = omega / (1 - alpha - beta);
        return garch_loglik(a, n, 0, omega, alpha, beta, variance) + garch_loglik(b, n, 0, omega, alpha, beta, variance);
    }"""
    a, b = drawn("garch")["y"], drawn("garch", seed=5)["y"]
    value, gradient = gs.Rows(source, a=gs.sequences(a), b=gs.sequences(b)).value_and_grad(0.1, 0.1, 0.8)

    def total(omega, alpha, beta):
        return sum(gjr_garch(y, 0, omega, alpha, 0, beta, omega / (1 - alpha - beta)) for y in a + b)

    np.testing.assert_allclose(value, total(0.1, 0.1, 0.8), rtol=1e-12)
    slopes = [total(0.1 + 1e-30j, 0.1, 0.8), total(0.1, 0.1 + 1e-30j, 0.8), total(0.1, 0.1, 0.8 + 1e-30j)]
    np.testing.assert_allclose(list(gradient.values()), np.imag(slopes) * 1e30, rtol=1e-10)


def test_parameters_of_rows_and_groups():
    data = drawn("q_learning")
    n, parameters = len(LENGTHS), {"alpha": np.array([0.1, 0.6]), "beta": np.linspace(0.5, 3, len(LENGTHS))}
    group = np.arange(n) % 2
    its = {name: gs.sequences(values) for name, values in data.items()}
    rows = gs.Rows(gs.series.q_learning, **its, alpha=gs.gather(group), beta=gs.per_row())
    each = zip(*data.values(), parameters["alpha"][group], parameters["beta"])
    wanted = [q_learning(*its) for its in each]
    np.testing.assert_allclose(rows.terms(**parameters), wanted, rtol=1e-12)
    again = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(again.terms(**parameters), rows.terms(**parameters))


@pytest.mark.parametrize("name, data, message", [
    ("q_learning", {"choice": [[0, 1], [1, 2]], "reward": [[1, 1], [1, 1]]}, "sequence 1 of choice is not unit at place 1"),
    ("q_learning", {"choice": [[0.5, 1]], "reward": [[1, 1]]}, "sequence 0 of choice is not integer at place 0"),
    ("hawkes_exponential", {"times": [[1, 2], [1, 3, 2]]}, "sequence 1 of times is not ordered"),
    ("hawkes_exponential", {"times": [[-1, 2]]}, "sequence 0 of times is not nonnegative at place 0"),
    ("renewal_equation", {"y": [[3, 4], [2.5, 1]]}, "1 of y is not integer at place 0: y is to be integer nonnegative"),
])  # fmt: skip
def test_data_outside_of_their_domains(name, data, message):
    with pytest.raises(ValueError, match=message):
        rows_of(name, data)


def test_the_mapping():
    assert list(gs.series) == sorted(gs.series) and {"garch", "ar1"} <= set(dir(gs.series)) and "garch" in gs.series
    assert gs.series["ar1"] is gs.series.ar1 and "ar1" not in gs.densities and not hasattr(gs, "ar1")
    assert repr(gs.series.ar1) == "<gpustats.series.ar1(y; mu, phi, sigma)>" and "sequence models: ar1" in repr(gs.series)
    assert all(m.description and m.reference and "// model: " in m.source for m in gs.series.values())
    assert set(gs.series.garch.domains.values()) == {"vector", "real", "nonnegative", "positive"}
    with pytest.raises(AttributeError, match="'grach': did you mean garch"):
        gs.series.grach  # noqa: B018
    with pytest.raises(KeyError, match="did you mean ar1"):
        gs.series["ar"]
    assert pickle.loads(pickle.dumps(gs.series.garch)).source == gs.series.garch.source
    assert copy.copy(gs.series.garch).name == "garch"


def test_a_registered_model():
    model = gs.register("""
    // local_mean: numbers around one mean
    // y: vector, series    mu: real, mean    sigma: positive, standard deviation
    real local_mean_loglik(const real *y, int count, real mu, real sigma)
    {
        real sum = 0;
        for (int t = 0; t < count; t++) sum += normal_logpdf(y[t], mu, sigma);
        return sum;
    }""", replace=True)
    assert model is gs.series.local_mean and model.parameters == ("mu", "sigma")
    rows = gs.Rows(model, y=gs.sequences([[1.0, 2.0], [0.5]]))
    assert math.isclose(rows(0.2, 1.5), gs.normal.loglik(np.array([1.0, 2.0, 0.5]), 0.2, 1.5), rel_tol=1e-13)
    assert math.isnan(rows(0.2, -1.5))


@pytest.mark.parametrize("declared, message", [
    ("real own_loglik(real mu, real sigma) { return mu; }", "must take its sequences first"),
    ("real own_loglik(const real *y, real mu, int n) { return mu; }", "must take its sequences first"),
    ("int own_loglik(const real *y, int n, real mu) { return 1; }", "must return a `real`"),
])  # fmt: skip
def test_what_is_no_model(declared, message):
    with pytest.raises(gs.DeviceFunctionError, match=message):
        gs.register(declared)


@pytest.mark.parametrize("name", some(sorted(CASES), 4))
def test_second_derivatives(name):
    """They are those of the gradient, by central differences."""
    data, parameters = drawn(name, lengths=(9, 1, 14)), CASES[name][2]
    rows, free = rows_of(name, data), [n for n in parameters if n not in ("first", "second")]

    def slopes(at):
        return np.array(list(rows.value_and_grad(**at, wrt=free)[1].values()))

    steps = {n: 1e-5 * abs(parameters[n]) for n in free}
    wanted = [(slopes(parameters | {n: parameters[n] + h}) - slopes(parameters | {n: parameters[n] - h})) / (2 * h)
              for n, h in steps.items()]  # fmt: skip
    found = rows.hessian(**parameters, wrt=free)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * np.abs(wanted).max())
