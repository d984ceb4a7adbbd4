"""Intervals of new observations, beside statsmodels', simulations and exact quantiles; tables of predictions."""

import pickle

import numpy as np
import pytest

import gpustats as gs
from gpustats.glm.new_observations import Mixed

scipy_stats = pytest.importorskip("scipy.stats")
sm = pytest.importorskip("statsmodels.api")
N = 60


def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    return rng, X, 0.4 + X @ [0.8, -0.5]


@pytest.mark.parametrize(("density", "eta"), [("normal", "mu"), ("normal_identity", "eta")])
def test_least_squares_of_statsmodels(density, eta):
    """With the sigma of maximum likelihood and normal quantiles theirs are the same; so they are with theirs, up to both."""
    rng, X, mean = data(1)
    y, new = mean + rng.normal(size=N), 3 * rng.normal(size=(7, 2))
    fit = gs.GLM(gs.densities[density], y, X, eta=eta).fit()
    model, theirs = sm.OLS(y, np.c_[X, np.ones(N)]), np.c_[new, np.ones(7)]
    known = model.fit(cov_type="fixed scale", cov_kwds={"scale": fit["sigma"] ** 2}, use_t=False)
    found, columns = fit.predict(new, noise=True), ["obs_ci_lower", "obs_ci_upper"]
    for level in (0.95, 0.5):
        wanted = known.get_prediction(theirs).summary_frame(alpha=1 - level)
        np.testing.assert_allclose(found.interval(level), wanted[columns], rtol=1e-7)
    half = np.diff(model.fit().get_prediction(theirs).summary_frame()[columns])[:, 0]
    ratio = np.sqrt(N / (N - 3)) * scipy_stats.t.ppf(0.975, N - 3) / scipy_stats.norm.ppf(0.975)
    np.testing.assert_allclose(np.diff(found.interval())[:, 0] * ratio, half, rtol=1e-7)
    plain = fit.predict(new)
    np.testing.assert_array_equal([found.mean, found.mean_errors], [plain.mean, plain.mean_errors])
    assert found.noise and not plain.noise and "intervals with noise" in repr(found) and "without noise" in repr(plain)
    assert (np.diff(plain.interval()) < np.diff(found.interval())).all()


@pytest.mark.parametrize("p", [0.0005, 0.025, 0.5, 0.9])
@pytest.mark.parametrize("error", [0.0, 0.02, 0.3, 3.0, 12.0])
def test_a_density_whose_mixture_is_known(error, p):
    """Log-normal variables with a normal mu are log-normal: with errors that are a small, and a large part of the noise."""
    mu, errors = np.linspace(-3, 3, 5), error * np.linspace(0.5, 1, 5)
    found = Mixed(gs.log_normal, "mu", {"sigma": 0.3}, False, mu, errors)(p)
    scale = np.hypot(0.3, errors)
    np.testing.assert_allclose((np.log(found) - mu) / scale, scipy_stats.norm.ppf(p), atol=3e-6)


FAMILIES = {
    "poisson_log": (lambda rng, e: rng.poisson(np.exp(e)), {}),
    "gamma_log": (lambda rng, e: rng.gamma(2.5, np.exp(e) / 2.5), {"nu": 2.5}),
    "bernoulli_logit": (lambda rng, e: rng.binomial(1, 1 / (1 + np.exp(-e))), {}),
    "binomial_logit": (lambda rng, e: rng.binomial(40, 1 / (1 + np.exp(-e))), {"n": 40}),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_simulated_observations(name):
    """Observations of linear predictors drawn around the estimated ones lie within intervals as often as these say."""
    rng, X, eta = data(list(FAMILIES).index(name))
    draw, known = FAMILIES[name]
    fit = gs.GLM(gs.densities[name], draw(rng, eta).astype(float), X).fit(fixed=known)
    new = fit.predict([[0.0, 0.0], [2.5, -1.5]], noise=True)
    drawn = draw(rng, new.linear_predictor + new.linear_predictor_errors * rng.normal(size=(400_000, 2)))
    for level in (0.5, 0.95):
        low, high = new.interval(level).T
        below, above = (drawn < low).mean(0), (drawn > high).mean(0)
        tail = (1 - level) / 2
        if name == "gamma_log":
            np.testing.assert_allclose([below, above], tail, atol=0.003)
        else:  # the narrowest ends that leave out no more
            assert (below < tail + 0.003).all() and (above < tail + 0.003).all()
            assert ((drawn <= low).mean(0) > tail - 0.003).all() and ((drawn >= high).mean(0) > tail - 0.003).all()


def test_robust_errors_and_copies():
    """The errors are those of the estimates that predict; predictions can be pickled."""
    rng, X, mean = data(3)
    fit = gs.GLM(gs.normal, mean + rng.normal(size=N), X, eta="mu").fit()
    found = fit.robust().predict(X[:3], noise=True)
    half = scipy_stats.norm.ppf(0.975) * np.hypot(fit["sigma"], found.linear_predictor_errors)
    np.testing.assert_allclose(found.interval(), np.stack([found.mean - half, found.mean + half], 1), rtol=1e-12)
    assert not np.allclose(found.mean_errors, fit.predict(X[:3]).mean_errors, rtol=1e-3)
    counts = gs.GLM(gs.poisson_log, rng.poisson(np.exp(mean)), X).fit().predict(X[:3], noise=True)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(counts)).interval(), counts.interval())


def test_what_has_no_intervals_of_observations():
    rng, X, eta = data(4)
    several = gs.GLM(gs.categorical_logit, rng.integers(0, 3, N), X).fit(
        fixed={"beta": [[0.0, np.nan, np.nan]] * 2, "alpha": [0.0, np.nan, np.nan]}
    )
    with pytest.raises(NotImplementedError, match="noise=True: eta of categorical_logit is a vector"):
        several.predict(X, noise=True)
    counts = gs.GLM(gs.binomial_logit, rng.binomial(9, 0.5, N).astype(float), X).fit(fixed={"n": np.full(N, 9.0)})
    with pytest.raises(NotImplementedError, match="noise=True: n has a value for each observation of the fit"):
        counts.predict(X, noise=True)
    alone = gs.register("""
// bell: normal density with a precision, and nothing beside it
// x: real    mu: real    tau: positive, precision
real bell_logpdf(real x, real mu, real tau)
{ return 0.5 * log(tau) - HALF_LOG_2PI - 0.5 * tau * (x - mu) * (x - mu); }
""", replace=True)
    with pytest.raises(NotImplementedError, match="noise=True: bell has no quantiles; with a distribution function, bell_cdf"):
        gs.GLM(alone, eta + rng.normal(size=N), X, eta="mu").fit().predict(X, noise=True)
    with pytest.raises(ValueError, match="level must be between 0 and 1, not 1"):
        gs.GLM(gs.poisson_log, rng.poisson(np.exp(eta)), X).fit().predict(X, noise=True).interval(1)


def test_tables():
    """With the labels of the rows of a data frame, where it is one of pandas; of outcomes, where there are several."""
    pandas = pytest.importorskip("pandas")
    rng, X, mean = data(5)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    fit = gs.GLM(gs.normal, mean + rng.normal(size=N), frame, eta="mu").fit()
    new = frame[3:6].set_axis(["Ann", "Bo", "Cy"])
    for noise in (False, True):
        found = fit.predict(new, noise=noise)
        table = found.to_frame(0.8)
        assert list(table.index) == ["Ann", "Bo", "Cy"] and list(table) == ["mean", "error", "lower", "upper"]
        np.testing.assert_array_equal(table, np.c_[found.mean, found.mean_errors, found.interval(0.8)])
        assert "Bo" in found._repr_html_() and ("of observations" if noise else "not of observations") in found._repr_html_()
    assert list(fit.predict(X[:2]).to_frame().index) == [0, 1] == list(fit.predict({"a": [1, 2], "b": [0, 0]}).to_frame().index)
    several = gs.GLM(gs.categorical_logit, rng.integers(0, 3, N), X).fit(
        fixed={"beta": [[0.0, np.nan, np.nan]] * 2, "alpha": [0.0, np.nan, np.nan]}
    )
    found = several.predict(new.rename(columns=str))
    table = found.to_frame()
    assert table.loc[("Bo", 2), "linear_predictor"] == found.linear_predictor[1, 2] and table.shape == (9, 4)
