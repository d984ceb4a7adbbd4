"""Terms by step: the conditional log-densities of statsmodels, of mpmath, and of what is written here from the formulas."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from statsmodels.tsa.regime_switching.markov_regression import MarkovRegression
from statsmodels.tsa.statespace.sarimax import SARIMAX
from statsmodels.tsa.statespace.structural import UnobservedComponents
from thorough import double_first, some

import gpustats as gs

RNG = np.random.default_rng(90)
LENGTHS = [1, 40, 3, 200]


def series(missing=True):
    y = [np.cumsum(RNG.normal(size=n)) / 3 for n in LENGTHS]
    for v in y[1:] if missing else ():
        v[RNG.integers(0, v.size, v.size // 5)] = np.nan
    return y


def of_rows(model, y, *parameters, **leaves):
    """Terms of a model, checked against its sums."""
    rows = gs.Rows(model, y=gs.sequences(y, missing=True), **leaves)
    found = rows.terms_by_step(*parameters)
    np.testing.assert_allclose(np.add.reduceat(found, np.cumsum([0, *map(len, y[:-1])])), rows.terms(*parameters), rtol=1e-12)
    return found


def exact(model):
    """Model of statsmodels whose filter takes no variance for one that has converged, and leaves no number out."""
    model.ssm.tolerance = model.ssm.loglikelihood_burn = 0
    return model


def close(found, wanted):
    np.testing.assert_allclose(found, np.concatenate(wanted), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("phi, theta", [(0.6, 0.4), (-0.9, 0.0), (0.0, 0.7)])
def test_arma(phi, theta):
    y, wanted = series(), []
    for v in y:
        model = exact(SARIMAX(v - 0.2, order=(1, 0, 1)))
        wanted.append(model.loglikeobs([phi, theta, 0.49]))
    close(of_rows(gs.series.arma11, y, 0.2, phi, theta, 0.7), wanted)
    if theta == 0:
        close(of_rows(gs.series.ar1, y, 0.2, phi, 0.7), wanted)
    if phi == 0:
        close(of_rows(gs.series.ma1, y, 0.2, theta, 0.7), wanted)
    assert np.array_equal(of_rows(gs.series.ar1, y, 0.2, phi, 0.7) == 0, np.isnan(np.concatenate(y)))


def test_local_level_and_trend():
    y, level, trend = series(), [], []
    for v in y:
        model = exact(UnobservedComponents(v, "llevel"))
        model.ssm.initialize_known(np.array([0.3]), np.array([[4.0]]))
        level.append(model.loglikeobs([0.25, 0.09]))
        model = exact(UnobservedComponents(v, "lltrend"))
        model.ssm.initialize_known(np.array([0.3, 0.1]), np.diag([4.0, 0.01]))
        trend.append(model.loglikeobs([0.25, 0.09, 0.04]))
    close(of_rows(gs.series.local_level, y, 0.5, 0.3, 0.3, 2.0), level)
    close(of_rows(gs.series.local_linear_trend, y, 0.5, 0.3, 0.2, 0.3, 2.0, 0.1, 0.1), trend)


def test_hidden_markov_chain_of_statsmodels():
    y = series(missing=False)[-1]
    model = MarkovRegression(y, 2, switching_variance=True)
    wanted = model.loglikeobs([0.9, 0.2, -0.5, 1.0, 0.6, 1.4], transformed=True)
    found = of_rows(gs.series.hidden_markov, [y], 1 / 3, 0.1, 0.2, -0.5, 1.0, np.sqrt(0.6), np.sqrt(1.4))
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_hidden_markov_chain_to_the_last_digits():
    y, mu, sigma, odds = RNG.normal(size=12) * 2, [-1.0, 0.3, 1.5], 0.7, RNG.normal(size=6)
    with mp.workdps(40):
        e = iter(odds)
        rows = [[mp.mpf(1) if i == j else mp.exp(mp.mpf(next(e))) for j in range(3)] for i in range(3)]
        move = [[v / sum(row) for v in row] for row in rows]
        state, before, wanted = [mp.mpf(1) / 3] * 3, mp.mpf(0), []
        for v in y:
            joint = [s * mp.npdf(v, m, sigma) for s, m in zip(state, mu, strict=True)]
            wanted.append(float(mp.log(sum(joint)) - before))
            before = mp.log(sum(joint))
            state = [sum(joint[i] * move[i][j] for i in range(3)) for j in range(3)]
    found = of_rows(gs.hidden_markov(3, gs.normal, shared=["sigma"]), [y], *mu, sigma, *odds)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_garch():
    y, wanted, omega, alpha, beta = series(), [], 0.1, 0.2, 0.7
    for v in y:
        h, own = 1.3, np.zeros(v.size)
        for t, x in enumerate(v):
            news = h if np.isnan(x) else (x - 0.1) ** 2
            own[t] = 0 if np.isnan(x) else stats.norm.logpdf(x, 0.1, np.sqrt(h))
            h = omega + alpha * news + beta * h
        wanted.append(own)
    close(of_rows(gs.series.garch, y, 0.1, omega, alpha, beta, 1.3), wanted)


@pytest.mark.parametrize("name", some(sorted(set(gs.series) - {"hawkes_exponential", "smoothed_by_half"}), 2))
def test_all_models_of_series(name):
    """Their terms add up; a term is the logarithm of the ratio of likelihoods of prefixes."""
    model, n = gs.series[name], 9
    data = {s: RNG.uniform(0.1, 2, n) for s in model.sequences}
    data |= {s: RNG.integers(0, 2, n) + 1.0 * ("nonnegative" in model.domains[s])
             for s in model.sequences if "integer" in model.domains[s]}  # fmt: skip
    if "start" in data:
        data |= {"start": np.arange(n) / 2, "stop": np.arange(n) / 2 + 0.4}
    given = {"unit": 0.4, "positive": 1.7, "nonnegative": 0.05}
    values = {p: 5.0 if p == "nu" else given.get(model.domains[p].split()[0], 0.3) for p in model.parameters}
    values |= {"second": 2.5} if "second" in values else {}
    rows = gs.Rows(model, **{s: gs.sequences([v]) for s, v in data.items()})
    prefixes = gs.Rows(model, **{s: gs.sequences([v[: i + 1] for i in range(n)]) for s, v in data.items()}).terms(**values)
    assert np.isfinite(prefixes).all()
    found = rows.terms_by_step(**values)
    np.testing.assert_allclose(found, np.diff(prefixes, prepend=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.sum(), rows(**values), rtol=1e-12)


OWN = {
    "constants by the number of elements": ("""
    real f(const real *y, int n, real a)
    {
        real sum = 0;
        for (int t = 0; t < n; t++) sum += (y[t] - a) * (y[t] - a);
        return -0.5 * sum - n * HALF_LOG_2PI;
    }""", lambda y, a: stats.norm.logpdf(y, a)),
    "a product of all elements": ("""
    real f(const real *y, int n, real a)
    {
        real now = 1;
        for (int t = 0; t < n; t++) now *= exp(-a * fabs(y[t]));
        return log(now) + a;
    }""", lambda y, a: -a * abs(y) + a * (np.arange(y.size) == 0)),
    "elements left out on both sides": ("""
    real f(const real *y, int n, real a)
    {
        real sum = 0;
        int count = 0;
        for (int t = 1; t < n - 1; t++) {
            sum += y[t] * y[t - 1];
            if (y[t] > 0) count += 1;
        }
        return a * sum + 2 * a * count + 0.5;
    }""", lambda y, a: a * np.array([(0 < t < y.size - 1) and y[t] * y[t - 1] + 2 * (y[t] > 0) for t in range(y.size)])
     + 0.5 * (np.arange(y.size) == 0)),
    "a choice by a parameter": ("""
    // a: positive
    real f(const real *y, int n, real a)
    {
        if (a > 100) return NAN;
        real sum = 0;
        for (int t = 0; t < n; t++) sum += y[t];
        return a > 1 ? sum : a * sum;
    }""", lambda y, a: y * min(a, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_functions_of_ones_own(name):
    source, term = OWN[name]
    y = [RNG.normal(size=n) for n in (5, 1, 2, 12)]
    for a in (0.7, 1.9):
        close(of_rows(source, y, a), [term(v, a) for v in y])
    weights = np.array([0.5, 0, 2, 1])
    close(of_rows(source, y, 0.7, weights=weights), [w * term(v, 0.7) for w, v in zip(weights, y, strict=True)])


def test_nan_where_parameters_are_wrong():
    rows = gs.Rows(OWN["a choice by a parameter"][0], y=gs.sequences([[1.0, 2.0], [3.0]]))
    found = rows.terms_by_step(np.array([0.5, -1.0, 101.0]))
    np.testing.assert_array_equal(found, [[0.5, 1, 1.5], [np.nan] * 3, [np.nan] * 3])


@double_first
def test_sets_rows_groups_and_keys(dtype):
    lengths = RNG.integers(1, 30, 60)
    y = [RNG.normal(size=n).astype(dtype) for n in lengths]
    mu, sigma = RNG.normal(size=(2, 60)).astype(dtype), RNG.uniform(0.5, 2, 3).astype(dtype)
    group = RNG.integers(0, 3, 60)
    keys = np.repeat(np.arange(60), lengths)
    mixed = np.argsort(np.concatenate([np.sort(RNG.random(n)) for n in lengths]))
    flat = np.concatenate(y)[mixed]
    rows = gs.Rows(gs.series.ar1, y=gs.sequences(flat, by=keys[mixed]), mu=gs.per_row(), sigma=gs.gather(group))
    found, wanted = rows.terms_by_step(mu, 0.5, sigma), np.empty((2, flat.size))
    for k in range(2):
        own = []
        for m, s, v in zip(mu[k].astype(float), sigma[group].astype(float), y, strict=True):
            z = v.astype(float) - m
            first = stats.norm.logpdf(z[:1], 0, s / np.sqrt(0.75))
            own.append(np.append(first, stats.norm.logpdf(z[1:], 0.5 * z[:-1], s)))
        wanted[k] = np.concatenate(own)[mixed]
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-12 if dtype == np.float64 else 2e-5, atol=1e-5 * (dtype == np.float32))


def test_nothing_cancels():
    """The millionth term has the digits of the first."""
    y = np.where(np.arange(10**6) % 2, 1e3, 1e-3)
    rows = gs.Rows("""
    real f(const real *y, int n, real sigma)
    {
        real loglik = 0;
        for (int t = 0; t < n; t++) loglik += normal_logpdf(y[t], 0, sigma);
        return loglik;
    }""", y=gs.sequences([y]))
    np.testing.assert_allclose(rows.terms_by_step(0.5), stats.norm.logpdf(y, 0, 0.5), rtol=1e-14)


@pytest.mark.parametrize("source, reason", [
    ("for (int t = 0; t < n; t++) s += y[t]; return a * s / n;", "its value is no sum over the steps"),
    ("for (int t = 0; t < n; t++) s += y[t]; return exp(s);", "its value is no sum over the steps"),
    ("real z = 1; for (int t = 0; t < n; t++) { s += y[t]; z *= y[t]; } return s * z;", "its value is no sum over the steps"),
    ("for (int t = 0; t < n; t++) s += y[t]; return s > 0 ? s : 1;", "its value is no sum over the steps"),
    ("real z = 0; for (int t = 0; t < n; t++) { s += y[t]; z = y[t]; } if (z > 0) s = 1; return s;", "its value is no sum"),
    ("for (int t = 0; t < n; t++) s += y[t]; for (int t = 0; t < n; t++) s += y[t]; return s;", "more than once"),
    ("for (int t = 0; t < n; t++) { if (y[t] > 9) return NAN; s += y[t]; } return s;", "returns from within its loop"),
    ("return y[0] + a;", "no loop"),
])  # fmt: skip
def test_other_functions_are_refused(source, reason):
    rows = gs.Rows(f"real f(const real *y, int n, real a) {{ real s = 0; {source} }}", y=gs.sequences([[1.0, 2.0]]))
    with pytest.raises(ValueError, match=f"f has no terms by step, as .*{reason}.*: declare an output, `real "):
        rows.terms_by_step(1.0)


def test_rows_that_are_no_sequences():
    with pytest.raises(ValueError, match="normal has no sequences, and so no steps"):
        gs.Rows(gs.normal, x=np.arange(3.0)).terms_by_step(0.0, 1.0)
