"""Outputs by step of sequence models: forecasts, filtered and smoothed states of statsmodels, and of what is written here."""

import itertools

import numpy as np
import pytest
from scipy import stats
from statsmodels.tsa.holtwinters import ExponentialSmoothing, SimpleExpSmoothing
from statsmodels.tsa.regime_switching.markov_regression import MarkovRegression
from statsmodels.tsa.statespace.initialization import Initialization
from statsmodels.tsa.statespace.sarimax import SARIMAX
from statsmodels.tsa.statespace.structural import UnobservedComponents
from thorough import double_first, some

import gpustats as gs

RNG = np.random.default_rng(1900)
LENGTHS = [1, 40, 3, 200]


def walks(missing=True):
    y = [2 + np.cumsum(RNG.normal(size=n)) / 3 for n in LENGTHS]
    for v in y[1:] if missing else ():
        v[RNG.integers(0, v.size, v.size // 5)] = np.nan
        v[0] = np.nan
    return y


def steps(model, y, *parameters):
    return gs.Rows(model, y=gs.sequences(y, missing=True)).steps(*parameters)


def of_statsmodels(model, y, parameters, states, initialize):
    """Forecasts, filtered and smoothed states with their standard deviations, by the names of the outputs."""
    found = {}
    for v in y:
        made = UnobservedComponents(v, model)
        made.ssm.tolerance = made.ssm.loglikelihood_burn = 0
        initialize(made.ssm)
        result = made.smooth(parameters, transformed=True)
        ahead = result.filter_results
        own = {"forecast": ahead.forecasts[0], "forecast_sd": np.sqrt(ahead.forecasts_error_cov[0, 0])}
        for i, state in enumerate(states):
            for what in ("filtered", "smoothed"):
                values, cov = getattr(result, f"{what}_state"), getattr(result, f"{what}_state_cov")
                own |= {f"{what}_{state}": values[i], f"{what}_{state}_sd": np.sqrt(np.maximum(cov[i, i], 0))}
        for name, numbers in own.items():
            found.setdefault(name, []).append(numbers)
    return {name: np.concatenate(numbers) for name, numbers in found.items()}


def close(found, wanted, rtol=1e-10, atol=1e-10):
    assert set(found) == set(wanted)
    for name, numbers in wanted.items():
        np.testing.assert_allclose(found[name], numbers, rtol=rtol, atol=atol, err_msg=name)


@pytest.mark.parametrize("sigma, sigma_level, level_sd", [
    (0.5, 0.3, 2.0), (0.0, 0.3, 1.0), (0.5, 0.0, 3.0), (0.5, 0.3, 0.0), (2.0, 0.01, 100),
])  # fmt: skip
def test_local_level(sigma, sigma_level, level_sd):
    y = walks()
    wanted = of_statsmodels("llevel", y, [sigma**2, sigma_level**2], ["level"],
                            lambda ssm: ssm.initialize_known(np.array([0.3]), np.array([[level_sd**2]])))  # fmt: skip
    close(steps(gs.series.local_level, y, sigma, sigma_level, 0.3, level_sd), wanted, atol=1e-7 if sigma == 0 else 1e-9)


def test_local_level_anywhere():
    """Before the first number nothing is known; behind it all is as with exact diffuse levels."""
    y = walks()
    wanted = of_statsmodels("llevel", y, [0.25, 0.09], ["level"], lambda ssm: ssm.initialize_diffuse())
    found = steps(gs.series.local_level, y, 0.5, 0.3, 0.0, np.inf)
    seen = np.concatenate([np.cumsum(~np.isnan(v)) > 0 for v in y])
    before = np.concatenate([np.cumsum(~np.isnan(v)) - ~np.isnan(v) > 0 for v in y])
    for name in ("forecast", "filtered_level"):
        known = before if name == "forecast" else seen
        assert np.isnan(found[name][~known]).all() and np.isposinf(found[f"{name}_sd"][~known]).all()
        for n in (name, f"{name}_sd"):
            wanted[n][~known] = found[n][~known]
    close(found, wanted)
    nothing = steps(gs.series.local_level, [[np.nan, np.nan]], 0.5, 0.3, 0.0, np.inf)
    assert np.isnan(nothing["smoothed_level"]).all() and np.isposinf(nothing["smoothed_level_sd"]).all()


KNOWN = {
    "all": (0.5, 0.3, 0.1, 2.0, 0.5), "no noise": (0.0, 0.3, 0.1, 2.0, 0.5), "a fixed slope": (0.5, 0.3, 0.0, 2.0, 0.5),
    "a known slope": (0.5, 0.3, 0.0, 2.0, 0.0), "a smooth trend": (0.5, 0.0, 0.1, 2.0, 0.5),
    "a line": (0.5, 0.0, 0.0, 2.0, 0.5), "a known line": (0.5, 0.0, 0.0, 0.0, 0.0),
    "a known start": (0.5, 0.3, 0.1, 0.0, 0.0), "a wide start": (0.5, 0.3, 0.1, 50, 20),
}  # fmt: skip


@pytest.mark.parametrize("name", some(KNOWN, 2))
def test_local_linear_trend(name):
    y, (sigma, sigma_level, sigma_slope, level_sd, slope_sd) = walks(), KNOWN[name]
    wanted = of_statsmodels(
        "lltrend", y, [sigma**2, sigma_level**2, sigma_slope**2], ["level", "slope"],
        lambda ssm: ssm.initialize_known(np.array([0.3, 0.1]), np.diag([level_sd**2, slope_sd**2])),
    )  # fmt: skip
    found = steps(gs.series.local_linear_trend, y, sigma, sigma_level, sigma_slope, 0.3, level_sd, 0.1, slope_sd)
    close(found, wanted, atol=1e-6 if sigma == 0 or name == "a wide start" else 1e-9)


@pytest.mark.parametrize("level_sd, slope_sd", some([(np.inf, np.inf), (np.inf, 0.5), (2.0, np.inf), (0.0, np.inf)], 2))
@pytest.mark.parametrize("sigma_slope", [0.1, 0.0])
def test_local_linear_trend_anywhere(level_sd, slope_sd, sigma_slope):
    y = [v for v in walks() if (~np.isnan(v)).sum() > 1]

    def initialize(ssm):
        made = Initialization(2)
        for i, (value, sd) in enumerate(((0.3, level_sd), (0.1, slope_sd))):
            if np.isinf(sd):
                made.set(i, "diffuse")
            else:
                made.set(i, "known", constant=[value], stationary_cov=[[sd**2]])
        ssm.initialize(made)

    wanted = of_statsmodels("lltrend", y, [0.25, 0.09, sigma_slope**2], ["level", "slope"], initialize)
    found = steps(gs.series.local_linear_trend, y, 0.5, 0.3, sigma_slope, 0.3, level_sd, 0.1, slope_sd)
    for name in [n for n in found if not n.endswith("_sd")]:
        unknown = np.isposinf(found[f"{name}_sd"])
        assert np.array_equal(unknown, np.isnan(found[name])) and not (name.startswith("smoothed") and unknown.any())
        for n in (name, f"{name}_sd"):
            wanted[n][unknown] = found[n][unknown]
    close(found, wanted, rtol=1e-9, atol=1e-8)


def test_a_trend_that_the_numbers_do_not_tell():
    found = steps(gs.series.local_linear_trend, [[np.nan, 2.0, np.nan]], 0.5, 0.3, 0.1, 0.0, np.inf, 0.0, np.inf)
    np.testing.assert_array_equal(found["filtered_level"], [np.nan, 2, np.nan])
    assert np.isposinf(found["smoothed_slope_sd"]).all() and np.isnan(found["smoothed_slope"]).all()


@pytest.mark.parametrize("phi, theta", [(0.6, 0.4), (-0.9, 0.0), (0.0, 0.7)])
def test_arma(phi, theta):
    y, wanted = walks(), {"forecast": [], "forecast_sd": []}
    for v in y:
        model = SARIMAX(v - 0.2, order=(1, 0, 1))
        model.ssm.tolerance = 0
        result = model.filter([phi, theta, 0.49]).filter_results
        wanted["forecast"].append(0.2 + result.forecasts[0])
        wanted["forecast_sd"].append(np.sqrt(result.forecasts_error_cov[0, 0]))
    wanted = {n: np.concatenate(v) for n, v in wanted.items()}
    close(steps(gs.series.arma11, y, 0.2, phi, theta, 0.7), wanted)
    if theta == 0:
        close(steps(gs.series.ar1, y, 0.2, phi, 0.7), wanted)
    if phi == 0:
        close(steps(gs.series.ma1, y, 0.2, theta, 0.7), wanted)


@pytest.mark.parametrize("nu", some([None, 5.0, np.inf], 2))
def test_garch(nu):
    """Terms are densities with the conditional variances, and these follow from one another."""
    y, mu, omega, alpha, gamma, beta = walks(), 2.1, 0.1, 0.2, 0.1, 0.7
    flat, more, ending = np.concatenate(y), [] if nu is None else [nu], "" if nu is None else "_t"
    first = np.cumsum([0, *LENGTHS[:-1]])
    expected = stats.t.expect(abs, (nu,)) * np.sqrt((nu - 2) / nu) if nu == 5 else np.sqrt(2 / np.pi)
    for name, given in (("garch", [alpha, beta]), ("gjr_garch", [alpha, gamma, beta]), ("egarch", [alpha, gamma, beta])):
        rows = gs.Rows(gs.series[name + ending], y=gs.sequences(y, missing=True))
        (h,) = rows.steps(mu, omega, *given, 1.3, *more).values()
        d = flat - mu
        news = {"garch": alpha * np.where(np.isnan(d), h, d**2),
                "gjr_garch": np.where(np.isnan(d), (alpha + gamma / 2) * h, (alpha + gamma * (d < 0)) * d**2),
                "egarch": np.nan_to_num(alpha * (abs(d) / np.sqrt(h) - expected) + gamma * d / np.sqrt(h))}[name]  # fmt: skip
        after = np.exp(omega + news + beta * np.log(h)) if name == "egarch" else omega + news + beta * h
        wanted = np.append(1.3, after[:-1])
        wanted[first] = 1.3
        np.testing.assert_allclose(h, wanted, rtol=1e-11)
        if nu == 5:
            density = stats.t.logpdf(flat, nu, mu, np.sqrt(h * (nu - 2) / nu))
        else:
            density = stats.norm.logpdf(flat, mu, np.sqrt(h))
        terms = rows.terms(mu, omega, *given, 1.3, *more)
        np.testing.assert_allclose(terms, np.add.reduceat(np.nan_to_num(density), first), rtol=1e-10)


def test_exponential_smoothing():
    y = [v for v in walks(missing=False) if v.size > 3]
    found = steps(gs.series.exponential_smoothing, y, 0.3, 1.0, 0.5)
    fits = [SimpleExpSmoothing(v, "known", 1.0).fit(0.3, optimized=False) for v in y]
    names = {"forecast": "fittedvalues", "filtered_level": "level", "filtered_trend": "trend"}
    close(found, {n: np.concatenate([getattr(f, of) for f in fits]) for n, of in names.items() if n != "filtered_trend"})
    found = steps(gs.series.exponential_smoothing_trend, y, 0.3, 0.3 * 0.2, 1.0, 0.1, 0.5)
    fits = [ExponentialSmoothing(v, trend="add", initialization_method="known", initial_level=1.0, initial_trend=0.1)
            .fit(0.3, 0.2, optimized=False) for v in y]  # fmt: skip
    close(found, {n: np.concatenate([getattr(f, of) for f in fits]) for n, of in names.items()})


def test_values_that_are_learned():
    n = 30
    choice, reward = RNG.integers(0, 2, n).astype(float), RNG.normal(size=n)
    choice[[3, 10]], reward[[5, 10]] = np.nan, np.nan
    given = dict(choice=gs.sequences([choice], missing=True), reward=gs.sequences([reward], missing=True))
    v, q, value, values = 0.0, np.zeros(2), [], []
    for c, r in zip(choice, reward, strict=True):
        value.append((v, r - v))
        v += 0.3 * np.nan_to_num(r - v)
        error = np.nan if np.isnan(c) else r - q[int(c)]
        values.append((*q, error))
        if not np.isnan(error):
            q[int(c)] += 0.3 * error
    found = gs.Rows(gs.series.rescorla_wagner, **given).steps(0.3, 2.0)
    close(found, dict(zip(("value", "prediction_error"), np.transpose(value), strict=True)))
    wanted = dict(zip(("value_0", "value_1", "prediction_error"), np.transpose(values), strict=True))
    close(gs.Rows(gs.series.q_learning, **given).steps(0.3, 2.0), wanted)
    timed = gs.Rows(gs.series.drift_diffusion_learning, **given, time=gs.sequences([np.full(n, 1.0)]))
    close(timed.steps(0.3, 1.0, 2.0, 0.1, 0.5), wanted)


def test_events():
    times, end, mu, alpha, beta = np.sort(RNG.uniform(0, 20, 30)), 21.0, 0.5, 0.6, 1.3
    rows = gs.Rows(gs.series.hawkes_exponential, times=gs.sequences([times]))
    found = rows.steps(end, mu, alpha, beta)
    lags = times[:, None] - times
    rate = mu + alpha * beta * np.where(lags > 0, np.exp(-beta * lags), 0).sum(1)
    np.testing.assert_allclose(found["intensity"], rate, rtol=1e-11)
    upto = [mu * t + alpha * -np.expm1(-beta * np.clip(t - times, 0, None)).sum() for t in times]
    np.testing.assert_allclose(found["compensator"], np.diff(upto, prepend=0), rtol=1e-9)
    rest = mu * (end - times[-1]) + alpha * (np.exp(-beta * (times[-1] - times)) - np.exp(-beta * (end - times))).sum()
    np.testing.assert_allclose(rows(end, mu, alpha, beta), np.log(rate).sum() - found["compensator"].sum() - rest, rtol=1e-11)
    start, event, x = np.append(0, times[:-1]), RNG.integers(0, 2, 30), RNG.normal(size=30)
    given = dict(start=gs.sequences([start]), stop=gs.sequences([times]), event=gs.sequences([event]), x=gs.sequences([x]))
    found = gs.Rows(gs.series.weibull_counting_process, **given).steps(1.4, 3.0, 0.5)["expected"]
    np.testing.assert_allclose(found, np.exp(0.5 * x) * ((times / 3) ** 1.4 - (start / 3) ** 1.4), rtol=1e-10)
    found = gs.Rows(gs.series.piecewise_counting_process, **given).steps(5.0, 10.0, 0.1, 0.2, 0.3, 0.5)["expected"]

    def hazard(t):
        return 0.1 * np.minimum(t, 5) + 0.2 * np.clip(t - 5, 0, 5) + 0.3 * np.clip(t - 10, 0, None)

    np.testing.assert_allclose(found, np.exp(0.5 * x) * (hazard(times) - hazard(start)), rtol=1e-10)


def test_infections():
    y = RNG.poisson(20, 50).astype(float)
    weights = np.diff(stats.gamma.cdf(np.arange(31), (5 / 2) ** 2, scale=4 / 5))
    wanted = [1.1 * (weights[: min(t, 30)] * y[t - 1 :: -1][:30][: min(t, 30)]).sum() / weights.sum() for t in range(1, 50)]
    for name, more in (("renewal_equation", []), ("renewal_equation_negative_binomial", [3.0])):
        found = gs.Rows(gs.series[name], y=gs.sequences([y])).steps(1.1, 5.0, 2.0, *more)["expected"]
        np.testing.assert_allclose(found, [np.nan, *wanted], rtol=1e-10)


def all_paths(y, initial, move, log_density):
    """Probabilities of all states at all times given all numbers, and the most likely path, by all paths."""
    k, n = len(initial), len(y)
    smoothed, best, most = np.zeros((n, k)), (), -np.inf
    for path in itertools.product(range(k), repeat=n):
        logs = np.log(initial[path[0]]) + np.log(move[path[:-1], path[1:]]).sum()
        logs += sum(log_density(v)[s] for v, s in zip(y, path, strict=True) if not np.isnan(v))
        best, most = (path, logs) if logs > most else (best, most)
        smoothed[np.arange(n), path] += np.exp(logs)
    return smoothed / smoothed.sum(1, keepdims=True), best


def test_two_hidden_states():
    y = [np.array([0.3, np.nan, -1.0, 2.0, 1.9, -0.2]), np.array([1.0])]
    move, initial = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.6, 0.4])
    found = steps(gs.series.hidden_markov, y, 0.4, 0.1, 0.3, -0.5, 1.0, 0.6, 1.4)

    def density(v):
        return stats.norm.logpdf(v, [-0.5, 1.0], [0.6, 1.4])

    each = [all_paths(v, initial, move, density) for v in y]
    np.testing.assert_allclose(found["smoothed"], np.concatenate([s[:, 1] for s, _ in each]), rtol=1e-12)
    np.testing.assert_array_equal(found["path"], np.concatenate([path for _, path in each]))
    upto = [all_paths(v[: t + 1], initial, move, density)[0][-1, 1] for v in y for t in range(v.size)]
    np.testing.assert_allclose(found["filtered"], upto, rtol=1e-12)


@pytest.mark.parametrize("k, density, parameters, observed", [
    (2, gs.normal, dict(mu=[-0.5, 1.0], sigma=[0.6, 1.4]), [0.3, np.nan, -1.0, 2.0, 1.9, -0.2, np.nan]),
    (3, gs.normal, dict(mu=[-1.0, 0.0, 1.5], sigma=[0.6, 1.4, 0.5]), [np.nan, 0.3, np.nan, -1.0, 2.0, 1.9]),
    (4, gs.poisson, dict(mu=[0.5, 2.0, 5.0, 9.0]), [0.0, 3.0, 12.0, np.nan, 4.0]),
])  # fmt: skip
def test_hidden_states_of_any_density(k, density, parameters, observed):
    log_odds, y = RNG.normal(size=(k, k)), np.array(observed)
    np.fill_diagonal(log_odds, 0)
    move, own = np.exp(log_odds), np.concatenate(list(parameters.values()))
    move /= move.sum(1, keepdims=True)
    law = {"normal": stats.norm.logpdf, "poisson": stats.poisson.logpmf}[density.name]
    found = steps(gs.hidden_markov(k, density), [y, y[:1], y], *own, *log_odds[~np.eye(k, dtype=bool)])

    def log_density(v):
        return law(v, *map(np.array, parameters.values()))

    each = [all_paths(v, np.full(k, 1 / k), move, log_density) for v in (y, y[:1], y)]
    smoothed = np.concatenate([s for s, _ in each])
    upto = [all_paths(v[: t + 1], np.full(k, 1 / k), move, log_density)[0][-1] for v in (y, y[:1], y) for t in range(v.size)]
    for i in range(k):
        np.testing.assert_allclose(found[f"smoothed_{i}"], smoothed[:, i], rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(found[f"filtered_{i}"], np.array(upto)[:, i], rtol=1e-11, atol=1e-14)
    np.testing.assert_array_equal(found["path"], np.concatenate([path for _, path in each]))


def test_hidden_states_of_statsmodels():
    y = walks(missing=False)[-1]
    model = MarkovRegression(y, 2, switching_variance=True)
    result = model.smooth([0.9, 0.2, 1.5, 3.0, 0.6, 1.4])
    found = steps(gs.series.hidden_markov, [y], 1 / 3, 0.1, 0.2, 1.5, 3.0, np.sqrt(0.6), np.sqrt(1.4))
    np.testing.assert_allclose(found["filtered"], result.filtered_marginal_probabilities[:, 1], rtol=1e-10)
    np.testing.assert_allclose(found["smoothed"], result.smoothed_marginal_probabilities[:, 1], rtol=1e-10)


@double_first
def test_single_precision_and_many_rows(dtype):
    y = [v.astype(dtype) for v in walks() for _ in range(20)]
    found = steps(gs.series.local_level, y, 0.5, 0.3, 0.3, 2.0)
    wanted = steps(gs.series.local_level, [v.astype(float) for v in y], 0.5, 0.3, 0.3, 2.0)
    close(found, wanted, *([1e-12, 1e-12] if dtype == np.float64 else [1e-4, 1e-4]))
    assert all(v.dtype == dtype for v in found.values())


def test_parameters_outside_of_their_domains():
    found = steps(gs.series.local_level, walks(), np.array([0.5, -1.0]), 0.3, 0.3, 2.0)
    assert all(np.isnan(v[1]).all() and np.isfinite(v[0]).all() for v in found.values())
    assert np.isnan(steps(gs.series.ar1, walks(), 0.0, 1.5, 1.0)["forecast"]).all()
