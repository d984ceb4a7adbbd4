"""Draws by step: of hidden states given the numbers, against their exact joint distributions; and of numbers from the models.

Seeds are fixed; tests of distributions fail at p-values below 1e-4.
"""

import itertools

import numpy as np
import pytest
from scipy import stats
from thorough import double_first

import gpustats as gs

LEAST_P = 1e-4
DRAWS = 20_000


def is_normal(z):
    assert stats.kstest(np.ravel(z), "norm").pvalue > LEAST_P
    assert stats.kstest(np.sum(np.square(z), -1), "chi2", (np.shape(z)[-1],)).pvalue > LEAST_P


def of_gaussian(draws, mean, cov):
    """Check of draws, (K, n), of a vector of normal numbers."""
    spread, axes = np.linalg.eigh(cov)
    used = spread > 1e-12 * spread.max()
    z = (draws - mean) @ axes[:, used] / np.sqrt(spread[used])
    is_normal(z)
    np.testing.assert_allclose(np.cov(z.T).reshape(used.sum(), -1), np.eye(used.sum()), atol=5 * np.sqrt(2 / len(draws)))
    np.testing.assert_allclose((draws - mean) @ axes[:, ~used], 0, atol=1e-6)


def posterior(y, states, cov, mean, sigma):
    """Mean and covariance of states, of which `states` gives those that are seen in noise, given numbers."""
    seen = ~np.isnan(y)
    H = states[seen]
    gain = cov @ H.T @ np.linalg.inv(H @ cov @ H.T + sigma**2 * np.eye(seen.sum()))
    return mean + gain @ (y[seen] - H @ mean), cov - gain @ H @ cov


def from_precision(y, steps, variances, sigma):
    """Mean and covariance of states, of which the first of each time is seen in noise, given numbers.

    `steps` maps them to the errors of their steps, of some variances; nothing else is known of them.
    """
    H = np.eye(steps.shape[1])[:: steps.shape[1] // y.size][~np.isnan(y)]
    cov = np.linalg.inv(steps.T / variances @ steps + H.T @ H / sigma**2)
    return cov @ H.T @ y[~np.isnan(y)] / sigma**2, cov


Y = np.array([0.3, np.nan, 1.0, 0.2, np.nan, 1.7])
N = Y.size


def repeated(value):
    return np.full(DRAWS, value)


@pytest.mark.parametrize("sigma, sigma_level, level_sd", [(0.5, 0.3, 2.0), (0.5, 0.0, 1.0), (0.0, 0.4, 1.0)])
def test_levels(sigma, sigma_level, level_sd):
    rows = gs.Rows(gs.series.local_level, y=gs.sequences([Y], missing=True))
    drawn = rows.draws(repeated(sigma), sigma_level, 0.4, level_sd, rng=3)
    t = np.arange(N)
    cov = level_sd**2 + sigma_level**2 * np.minimum.outer(t, t)
    of_gaussian(drawn["drawn_level"], *posterior(Y, np.eye(N), cov, np.full(N, 0.4), sigma))
    of_gaussian(drawn["simulated"], np.full(N, 0.4), cov + sigma**2 * np.eye(N))


def test_levels_that_may_be_anywhere():
    y = np.append(np.nan, Y)
    drawn = gs.Rows(gs.series.local_level, y=gs.sequences([y], missing=True)).draws(repeated(0.5), 0.3, 0.0, np.inf, rng=4)
    of_gaussian(drawn["drawn_level"], *from_precision(y, np.diff(np.eye(N + 1), axis=0), 0.09, 0.5))
    assert np.isnan(drawn["simulated"]).all()
    y = np.append(np.nan, Y[:5])
    given = repeated(0.5), 0.3, 0.2, 0.0, np.inf, 0.0, np.inf
    drawn = gs.Rows(gs.series.local_linear_trend, y=gs.sequences([y], missing=True)).draws(*given, rng=5)
    steps = np.zeros((10, 12))
    for t in range(5):
        steps[2 * t, 2 * t : 2 * t + 3], steps[2 * t + 1, 2 * t + 1 : 2 * t + 4] = [-1, -1, 1], [-1, 0, 1]
    both = np.stack([drawn["drawn_level"], drawn["drawn_slope"]], -1).reshape(DRAWS, 12)
    of_gaussian(both, *from_precision(y, steps, np.tile([0.09, 0.04], 5), 0.5))
    assert np.isnan(drawn["simulated"]).all()


@pytest.mark.parametrize("sigma, sigma_level, sigma_slope, level_sd, slope_sd", [
    (0.5, 0.3, 0.2, 2.0, 1.0), (0.5, 0.0, 0.2, 2.0, 1.0), (0.5, 0.3, 0.0, 2.0, 0.0),
])  # fmt: skip
def test_trends(sigma, sigma_level, sigma_slope, level_sd, slope_sd):
    y = np.append(Y[:4], [np.nan, 0.9])
    rows = gs.Rows(gs.series.local_linear_trend, y=gs.sequences([y], missing=True))
    drawn = rows.draws(repeated(sigma), sigma_level, sigma_slope, 0.4, level_sd, 0.1, slope_sd, rng=5)
    T, n = np.array([[1.0, 1.0], [0.0, 1.0]]), y.size
    inputs, states = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 2 * n))  # what is drawn, and how states are made of it
    inputs[range(2 * n), range(2 * n)] = [v**2 for v in [level_sd, slope_sd, *[sigma_level, sigma_slope] * (n - 1)]]
    for i, j in itertools.product(range(n), repeat=2):
        if j <= i:
            states[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = np.linalg.matrix_power(T, i - j)
    cov, mean = states @ inputs @ states.T, states @ np.append([0.4, 0.1], np.zeros(2 * n - 2))
    H = np.eye(2 * n)[::2]
    both = np.stack([drawn["drawn_level"], drawn["drawn_slope"]], -1).reshape(DRAWS, 2 * n)
    exact, wanted = posterior(y, H, cov, mean, sigma)
    of_gaussian(drawn["simulated"], H @ mean, H @ cov @ H.T + sigma**2 * np.eye(n))
    of_gaussian(both, exact, (wanted + wanted.T) / 2)


def paths(y, initial, move, log_density):
    """Probabilities of all paths of states given numbers, by the number of the path."""
    k, found = len(initial), []
    for path in itertools.product(range(k), repeat=len(y)):
        p = initial[path[0]] * move[path[:-1], path[1:]].prod()
        found.append(p * np.exp(sum(log_density(v)[s] for v, s in zip(y, path, strict=True) if not np.isnan(v))))
    return np.array(found) / sum(found)


def of_paths(states, k, probabilities):
    """Check of draws of paths, (K, n)."""
    numbers = (states @ k ** np.arange(states.shape[1])[::-1]).astype(int)
    counts = np.bincount(numbers, minlength=probabilities.size)
    wanted = probabilities * len(states)
    common = wanted > 5
    observed, expected = np.append(counts[common], counts[~common].sum()), np.append(wanted[common], wanted[~common].sum())
    used = expected > 0
    assert stats.chisquare(observed[used], expected[used]).pvalue > LEAST_P


def test_two_hidden_states():
    y, move, initial = np.array([0.3, np.nan, -1.0, 2.0, 0.5]), np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.6, 0.4])
    rows = gs.Rows(gs.series.hidden_markov, y=gs.sequences([y], missing=True))
    drawn = rows.draws(repeated(0.4), 0.1, 0.3, -0.5, 1.0, 0.6, 1.4, rng=6)
    of_paths(drawn["drawn_state"], 2, paths(y, initial, move, lambda v: stats.norm.logpdf(v, [-0.5, 1.0], [0.6, 1.4])))
    of_mixture(drawn["simulated"], initial, move, lambda x, s: stats.norm.cdf(x, [-0.5, 1.0][s], [0.6, 1.4][s]))


def of_mixture(simulated, initial, move, cdf):
    """Check of numbers from a chain, by the distributions of the first and of the last number."""
    state = initial
    for t in range(simulated.shape[1]):
        if t in (0, simulated.shape[1] - 1):
            mixture = lambda x: sum(p * cdf(x, s) for s, p in enumerate(state))  # noqa: B023, E731
            assert stats.kstest(simulated[:, t], mixture).pvalue > LEAST_P
        state = state @ move


def test_three_hidden_states_of_any_density():
    log_odds, y = np.array([[0, -1.0, 0.3], [0.5, 0, -2.0], [-1.0, -0.5, 0]]), np.array([0.3, 2.5, np.nan, -1.0])
    move = np.exp(log_odds)
    move /= move.sum(1, keepdims=True)
    given = [-1.0, 0.5, 2.0, repeated(0.7), *log_odds[~np.eye(3, dtype=bool)]]
    rows = gs.Rows(gs.hidden_markov(3, gs.normal, shared=["sigma"]), y=gs.sequences([y], missing=True))
    drawn, mu = rows.draws(*given, rng=7), np.array([-1.0, 0.5, 2.0])
    of_paths(drawn["drawn_state"], 3, paths(y, np.full(3, 1 / 3), move, lambda v: stats.norm.logpdf(v, mu, 0.7)))
    of_mixture(drawn["simulated"], np.full(3, 1 / 3), move, lambda x, s: stats.norm.cdf(x, mu[s], 0.7))


SERIES = {
    "ar1": (0.2, 0.7, 0.5), "ma1": (0.2, 0.6, 0.5), "arma11": (0.2, 0.7, 0.4, 0.5), "exponential_smoothing": (0.3, 1.0, 0.5),
    "exponential_smoothing_trend": (0.3, 0.1, 1.0, 0.1, 0.5), "garch": (0.1, 0.1, 0.2, 0.7, 1.3),
    "gjr_garch": (0.1, 0.1, 0.1, 0.2, 0.7, 1.3), "egarch": (0.1, 0.1, 0.3, -0.2, 0.8, 1.3),
    "garch_t": (0.1, 0.1, 0.2, 0.7, 1.3, 5.0), "gjr_garch_t": (0.1, 0.1, 0.1, 0.2, 0.7, 1.3, 5.0),
    "egarch_t": (0.1, 0.1, 0.3, -0.2, 0.8, 1.3, 5.0),
}  # fmt: skip


@pytest.mark.parametrize("name", SERIES)
def test_series_from_the_models(name):
    """Errors of the model's own forecasts are independent, and of its distribution."""
    model, given = gs.series[name], SERIES[name]
    simulated = gs.Rows(model, y=gs.sequences(np.zeros((2000, 20)))).draws(*given, rng=8)["simulated"].reshape(2000, 20)
    ahead = {n: v.reshape(2000, 20) for n, v in gs.Rows(model, y=gs.sequences(simulated)).steps(*given).items()}
    if "conditional_variance" in ahead:
        z = (simulated - given[0]) / np.sqrt(ahead["conditional_variance"])
    else:
        z = (simulated - ahead["forecast"]) / ahead.get("forecast_sd", given[-1])
    if name.endswith("_t"):
        z = stats.norm.ppf(stats.t.cdf(z * np.sqrt(5 / 3), 5))
    is_normal(z)
    assert abs(np.mean(z[:, 1:] * z[:, :-1])) < 5 / np.sqrt(z.size)


@pytest.mark.parametrize("name, more, law", [
    ("renewal_equation", [], lambda m: stats.poisson(m)),
    ("renewal_equation_negative_binomial", [3.0], lambda m: stats.nbinom(3.0, 3 / (3 + m))),
])  # fmt: skip
def test_infections(name, more, law):
    y = np.zeros((1000, 15))
    y[:, 0] = 10
    simulated = gs.Rows(gs.series[name], y=gs.sequences(y)).draws(1.3, 3.0, 1.0, *more, rng=9)["simulated"].reshape(1000, 15)
    assert (simulated[:, 0] == 10).all()
    expected = gs.Rows(gs.series[name], y=gs.sequences(simulated)).steps(1.3, 3.0, 1.0, *more)["expected"].reshape(1000, 15)
    x, m = simulated[:, 1:].ravel(), expected[:, 1:].ravel()
    u = law(m).cdf(x - 1) + np.random.default_rng(1).random(x.size) * law(m).pmf(x)
    assert stats.kstest(u, "uniform").pvalue > LEAST_P


def test_choices():
    rng = np.random.default_rng(2)
    choice, reward = rng.integers(0, 2, (500, 30)), rng.random((500, 30))
    given = dict(choice=gs.sequences(choice), reward=gs.sequences(reward))
    for name in ("rescorla_wagner", "q_learning"):
        rows = gs.Rows(gs.series[name], **given)
        values = rows.steps(0.3, 2.0)
        eta = 2 * values["value"] if name == "rescorla_wagner" else 2 * (values["value_1"] - values["value_0"])
        p, drawn = 1 / (1 + np.exp(-eta)), rows.draws(0.3, 2.0, rng=10)["simulated_choice"]
        assert set(drawn) == {0.0, 1.0}
        for few in np.array_split(np.argsort(p), 10):
            spread = np.sqrt((p[few] * (1 - p[few])).sum())
            assert abs((drawn[few] - p[few]).sum()) < 4 * spread
    one, reward = gs.sequences(np.ones((1, 5000))), gs.sequences([np.append(1.0, np.full(4999, np.nan))], missing=True)
    rows = gs.Rows(gs.series.drift_diffusion_learning, choice=one, time=one, reward=reward)
    drawn = rows.draws(0.5, 1.4, 1.2, 0.2, 0.4, rng=11)
    signed = np.where(drawn["simulated_choice"] == 1, drawn["simulated_time"], -drawn["simulated_time"])[1:]
    assert stats.ks_2samp(signed, gs.wiener.rvs(1.2, 0.2, 0.4, 1.4 * 0.5, size=20_000, rng=12)).pvalue > LEAST_P


WALK = """
// sigma: positive
real walk(const real *y, int n, real sigma, rng_t *stream, real *level, real *drawn, real *u)
{
    real now = 0, loglik = 0;
    for (int t = 0; t < n; t++) {
        loglik += normal_logpdf(y[t], now, sigma);
        level[t] = now;
        now = y[t];
    }
    for (int t = 0; t < n; t++) {
        u[t] = uniform(stream);
        drawn[t] = level[t] + sigma * normal(stream);
    }
    return loglik;
}"""


def test_draws_stay_as_they_are():
    """A seed gives the same draws with the next version."""
    rows = gs.Rows(gs.series.local_level, y=gs.sequences([[1.0, 1.4, 0.7]]))
    drawn = rows.draws(0.5, 0.2, 0.0, 2.0, rng=1)
    np.testing.assert_allclose(drawn["drawn_level"], [1.480025876, 1.548518982, 1.472909347], rtol=1e-8)
    np.testing.assert_allclose(drawn["simulated"], [-0.25176102, -0.70859648, -0.9657209], rtol=1e-7)


@double_first
def test_seeds(dtype):
    """A draw depends on the seed, the set and the row alone; two generators' draws have nothing in common."""
    rng = np.random.default_rng(3)
    lengths = rng.integers(1, 40, 200)
    y = [rng.normal(size=n).astype(dtype) for n in lengths]
    rows = gs.Rows(WALK, y=gs.sequences(y))
    assert gs.series.local_level.drawn == ("drawn_level", "simulated") and gs.series.hawkes_exponential.drawn == ()
    assert rows.outputs == ("level", "drawn", "u") and list(rows.steps(0.5)) == ["level"]
    first = rows.draws(0.5, rng=1)
    assert list(first) == ["drawn", "u"] and first["u"].dtype == dtype
    assert stats.kstest(first["u"].astype(float), "uniform").pvalue > LEAST_P
    several = rows.draws(np.array([0.5, 2.0]), rng=1)
    grouped = gs.Rows(WALK, y=gs.sequences(y), sigma=gs.gather(rng.integers(0, 3, 200))).draws(np.full(3, 0.5), rng=1)
    generator = gs.Generator(1)
    for name, numbers in first.items():
        np.testing.assert_array_equal(rows.draws(0.5, rng=1)[name], numbers)
        np.testing.assert_array_equal(several[name][0], numbers)
        np.testing.assert_array_equal(grouped[name], numbers)
    np.testing.assert_array_equal(rows.draws(0.5, rng=generator)["u"], first["u"])
    following = rows.draws(0.5, rng=generator)["u"]
    assert not np.intersect1d(following, first["u"]).size
    np.testing.assert_array_equal(following, several["u"][1])
    np.testing.assert_array_equal(rows.draws(0.5, rng=1, outputs=["level", "drawn", "u"])["u"], first["u"])
    np.testing.assert_array_equal(rows.draws(0.5, outputs="level")["level"], rows.steps(0.5)["level"])  # not drawn
    assert rows.draws(0.5, outputs=()) == {}
    assert np.unique(first["u"]).size > 0.999 * first["u"].size


def test_sets_in_parts(monkeypatch):
    """More sets than the device has memory for give what they give at once."""
    y, rng = [np.arange(3.0), np.arange(2.0)], np.random.default_rng(4)
    rows, sigma = gs.Rows(WALK, y=gs.sequences(y), weights=[1.0, 2.0]), rng.uniform(0.5, 1, (3, 7))
    calls = (lambda: rows.steps(sigma), lambda: rows.draws(sigma, rng=1), lambda: {"": rows.terms_by_step(sigma)})
    wanted = [call() for call in calls]
    bytes_of_two = 2 * 2 * 2 * 5 * 8
    monkeypatch.setattr("gpustats.rows.by_step.MOST_TAKEN", (bytes_of_two + 0.5) / rows.device.memory)
    for call, whole in zip(calls, wanted, strict=True):
        for name, numbers in call().items():
            assert numbers.shape == (3, 7, 5)
            np.testing.assert_array_equal(numbers, whole[name])


def test_wrong_parameters_and_mistakes():
    rows = gs.Rows(WALK, y=gs.sequences([[1.0, 2.0]]))
    assert np.isnan(rows.draws(-1.0, rng=1)["drawn"]).all()
    np.testing.assert_allclose(rows(0.5), stats.norm.logpdf([1, 1], 0, 0.5).sum(), rtol=1e-13)
    with pytest.raises(ValueError, match="outputs: drawn is drawn: `draws` gives it"):
        rows.steps(0.5, outputs="drawn")
    with pytest.raises(ValueError, match="outputs: 'level2' is none of level, drawn, u"):
        rows.draws(0.5, outputs="level2")
    with pytest.raises(ValueError, match="hawkes_exponential has no draws: it needs a stream"):
        gs.Rows(gs.series.hawkes_exponential, times=gs.sequences([[1.0, 2.0]])).draws(3.0, 1.0, 0.5, 1.0)
    with pytest.raises(ValueError, match="walk has no sequences"):
        gs.Rows(WALK, y=np.zeros((3, 2))).draws(1.0)
    with pytest.raises(TypeError, match="rng must be a seed"):
        rows.draws(0.5, rng=1.5)
    with pytest.raises(gs.DeviceFunctionError, match="the value is made of random numbers, rng: only outputs"):
        gs.Rows("real f(const real *y, int n, real a, rng_t *rng, real *o) { o[0] = a; return normal(rng); }",
                y=gs.sequences([[1.0]]))  # fmt: skip
    with pytest.raises(gs.DeviceFunctionError, match="f draws random numbers: it may do so only for outputs by step"):
        gs.Rows("real f(const real *y, int n, real a, rng_t *rng) { return a * normal(rng); }", y=gs.sequences([[1.0]]))
