"""Sequence models: values and gradients are those of statsmodels, of SciPy, and of what is written here from the formulas.

References go through complex numbers, so that a step of 1e-30 times i gives their derivatives to all digits.
"""


import numpy as np
import pytest
from scipy import special
from thorough import double_first

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
    "rescorla_wagner": (rescorla_wagner, choices_of, {"alpha": 0.3, "beta": 2.0}),
    "q_learning": (q_learning, choices_of, {"alpha": 0.3, "beta": 2.0}),
    "drift_diffusion_learning": (
        drift_diffusion, responses_of, {"rate": 0.3, "drift": 0.8, "alpha": 1.3, "tau": 0.2, "beta": 0.45}
    ),
    "hidden_markov": (hidden_markov, series_of, HIDDEN),
}  # fmt: skip
WITH_MISSING = [n for n, (_, data, _) in CASES.items() if data in (series_of, choices_of)]
LENGTHS = (1, 2, 24, 11)


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

    values, step = list(parameters.values()), 1e-30
    slopes = [terms([v + 1j * step * (i == k) for i, v in enumerate(values)]).imag.sum() / step for k in range(len(values))]
    return terms(values).real, dict(zip(parameters, slopes))


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
