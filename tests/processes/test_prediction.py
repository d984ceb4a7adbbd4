"""Predictions of Gaussian processes, and draws."""

import mpmath as mp
import numpy as np
import pytest
from gp_data import data
from markup import shown
from scipy import integrate, stats

import gpustats as gs
from gpustats.gp import MarginalLikelihood, Prediction
from gpustats.processes import factor, posterior
from gpustats.runtime import choose

LEAF = 16  # so that small matrices are cut in blocks, too


def test_predictions_in_chunks(provider, rng, monkeypatch):
    x, y = data(rng)
    ml, values = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=1.2, lengthscale=0.8, sigma=0.3)
    new = rng.normal(size=(300, 2))
    whole = ml.predict(new, **values)
    monkeypatch.setattr(posterior, "CHUNK_BYTES", 1)
    parts = ml.predict(new, **values)
    np.testing.assert_allclose(parts.mean, whole.mean, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(parts.scale, whole.scale, rtol=1e-12)


def test_predictions_use_the_last_factor(rng, monkeypatch):
    x, y = data(rng)
    ml, values = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=1.2, lengthscale=[0.8, 0.9], sigma=0.3)
    owner, made = type(factor.provider_of(choose.get())), []
    plain = owner.potrf
    monkeypatch.setattr(owner, "potrf", lambda self, a: made.append(a.rows) or plain(self, a))
    ml.value_and_grad(**values)
    ml.predict(x[:3], **values)
    ml.predict(x[:4], **{**values, "lengthscale": np.array([0.8, 0.9])}, cov=True)
    assert made == [60]
    ml.predict(x[:3], **{**values, "sigma": 0.31})
    assert made == [60, 60]


@pytest.mark.parametrize("student_t", [False, True])
def test_short_of_memory(student_t, provider, rng, monkeypatch):
    """The same numbers where the inverse takes the place of the factor, and predictions from a new factor."""
    x, y = data(rng)
    ml, values = MarginalLikelihood(gs.rbf, x, y, student_t=student_t), dict(amplitude=1.2, lengthscale=[0.8, 0.9], sigma=0.3)
    wrt = [*values, "x", "y"]
    (want, slopes), prediction = ml.value_and_grad(**values, wrt=wrt), ml.predict(x[:3], **values)
    monkeypatch.setattr(factor, "MATRICES_IN_MEMORY", np.inf)
    for _ in range(2):
        value, gradient = ml.value_and_grad(**values, wrt=wrt)
        assert value == want
        for name in wrt:
            np.testing.assert_array_equal(gradient[name], slopes[name])
        np.testing.assert_array_equal(ml.predict(x[:3], **values).scale, prediction.scale)


def test_prior_means(rng):
    """As a number, as values, as a function."""
    x, y = data(rng)
    values, new = dict(amplitude=1.2, lengthscale=0.8, sigma=0.3), rng.normal(size=(5, 2))

    def trend(at):
        return 2 + at[:, 0]

    residuals = MarginalLikelihood(gs.rbf, x, y - trend(x))
    want = residuals.predict(new, **values)
    by_function = MarginalLikelihood(gs.rbf, x, y, mean=trend)
    plain = MarginalLikelihood(gs.rbf, x, y)
    np.testing.assert_allclose(by_function(**values), residuals(**values), rtol=1e-12)
    for got in (by_function.predict(new, **values), plain.predict(new, **values, mean=trend(x), mean_xs=trend(new))):
        np.testing.assert_allclose(got.mean, want.mean + trend(new), rtol=1e-11)
        np.testing.assert_allclose(got.scale, want.scale, rtol=1e-11)
    shifted = MarginalLikelihood(gs.rbf, x, y - 3).predict(new, **values).mean
    np.testing.assert_allclose(plain.predict(new, **values, mean=3.0).mean, 3 + shifted, rtol=1e-11)
    with pytest.raises(ValueError, match="give the prior mean at xs"):
        plain.predict(new, **values, mean=trend(x))


def test_draws(provider, rng):
    x, y = data(rng)
    values, new = dict(amplitude=1.2, lengthscale=0.8, sigma=0.3), rng.normal(size=(6, 2))
    for student_t in (False, True):
        ml = MarginalLikelihood(gs.rbf, x, y, student_t=student_t)
        p = ml.predict(new, **values, cov=True)
        draws = ml.draw(new, 40_000, 1, **values)
        error = p.scale / np.sqrt(len(draws))
        assert (np.abs(draws.mean(0) - p.mean) < 5 * error).all()
        np.testing.assert_allclose(np.cov(draws.T), p.covariance, atol=0.05 * p.covariance.max())
        cdf = stats.norm(p.mean[0], p.scale[0]).cdf if not student_t else stats.t(60, p.mean[0], p.scale[0]).cdf
        assert stats.kstest(draws[:, 0], cdf).pvalue > 1e-3
        np.testing.assert_array_equal(ml.draw(new, 3, 1, **values), draws[:3])
    assert ml.draw(new, rng=2, **values).shape == (6,)
    line = np.linspace(0, 1, 200)  # nearly singular
    ml = MarginalLikelihood(gs.rbf, line[::20], np.sin(6 * line[::20]))
    paths = ml.draw(line, 2, 3, amplitude=1.0, lengthscale=0.3, sigma=1e-3)
    np.testing.assert_allclose(paths[:, ::20], np.tile(np.sin(6 * line[::20]), (2, 1)), atol=0.01)


def test_noise_of_predictions(rng):
    x, y = data(rng)
    ml, values = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=1.2, lengthscale=0.8, sigma=rng.uniform(0.2, 0.4, 60))
    base = ml.predict(x[:3], **values).variance
    np.testing.assert_allclose(ml.predict(x[:3], **values, noise=0.5).variance, base + 0.25)
    np.testing.assert_allclose(ml.predict(x[:3], **values, noise=[0.5, 0.0, 1.0]).variance, base + [0.25, 0, 1])
    with pytest.raises(ValueError, match=r"give that of new ones as noise, \(3,\)"):
        ml.predict(x[:3], **values, noise=True)


def integral(best, mean, scale, df):
    """E max(best - Y, 0) by its definition."""
    distribution = stats.norm(mean, scale) if df is None else stats.t(df, mean, scale)
    return integrate.quad(distribution.cdf, -np.inf, best, epsabs=0, epsrel=1e-11)[0]


@pytest.mark.parametrize("df", [None, 3, 40])
def test_expected_improvement(df):
    mean, scale = np.array([0.0, 1.0, 2.5, -1.0]), np.array([1.0, 0.2, 3.0, 0.5])
    p = Prediction(mean, scale, df=df)
    want = [integral(0.3, m, s, df) for m, s in zip(mean, scale)]
    np.testing.assert_allclose(p.expected_improvement(0.3), want, rtol=1e-8)
    mirrored = Prediction(-mean, scale, df=df).expected_improvement(-0.3, maximize=True)
    np.testing.assert_array_equal(mirrored, p.expected_improvement(0.3))
    np.testing.assert_allclose(p.expected_improvement(mean + 1.0)[2], integral(3.5, 2.5, 3.0, df), rtol=1e-8)


def test_expected_improvement_far_from_any():
    for u in (-38.0, -30.01, -29.99, -25.0, -3.0, 0.0, 8.0):
        with mp.workdps(50):
            want = float(u * mp.ncdf(u) + mp.npdf(u))
        assert Prediction(np.zeros(1), np.ones(1)).expected_improvement(u)[0] == pytest.approx(want, rel=1e-12)
        for df in (10, 150, 250, 5000):
            with mp.workdps(50):
                nu, a = mp.mpf(df), mp.mpf(u)
                density = mp.gamma((nu + 1) / 2) / mp.gamma(nu / 2) / mp.sqrt(nu * mp.pi) * (1 + a * a / nu) ** (-(nu + 1) / 2)
                tail = mp.betainc(nu / 2, 0.5, 0, nu / (nu + a * a), regularized=True) / 2
                want = float(a * (tail if u < 0 else 1 - tail) + (nu + a * a) / (nu - 1) * density)
            got = Prediction(np.zeros(1), np.ones(1), df=df).expected_improvement(u)[0]
            assert got == pytest.approx(want, rel=1e-8, abs=1e-300)


def test_expected_improvement_of_what_is_known_or_not():
    scale = np.array([0.0, 0.0, np.nan, np.inf, 1.0])
    p = Prediction(np.array([1.0, -1.0, 0.0, 0.0, np.nan]), scale)
    np.testing.assert_array_equal(p.expected_improvement(0.5), [0, 1.5, np.nan, np.inf, np.nan])
    assert Prediction(np.zeros(2), np.ones(2), df=1).expected_improvement(0.0).tolist() == [np.inf, np.inf]
    on_device = Prediction(gs.to_device(np.zeros(3, np.float32)), gs.to_device(np.ones(3, np.float32)))
    found = on_device.expected_improvement(0.0)
    assert type(found) is type(on_device.mean) and found.dtype == np.float32
    np.testing.assert_allclose(gs.to_host(found), 1 / np.sqrt(2 * np.pi), rtol=1e-6)


def test_predictions_say_whether_the_noise_is_in(rng):
    x, y = data(rng, 30)
    given = dict(amplitude=1.0, lengthscale=0.5, sigma=0.1)
    exact, near = MarginalLikelihood(gs.rbf, x, y), gs.gp.Vecchia(gs.rbf, x, y, neighbours=5)
    emulator, local = gs.gp.Emulator(exact, **given), gs.LocalGP(x, y)
    calls = [
        lambda **noise: exact.predict(x[:6], **given, **noise), lambda **noise: near.predict(x[:6], **given, **noise),
        lambda **noise: emulator.predict(x[:6], **noise), lambda **noise: local.predict(x[:6], end=10, **noise),
        lambda **noise: local.predict(x[:6], end=10, joint=True, **noise),
    ]  # fmt: skip
    for call in calls:
        plain, noisy = call(), call(noise=True)
        assert not plain.noise and "of the process" in repr(plain) and "without noise" in repr(plain)
        assert noisy.noise and "of observations" in repr(noisy) and "with noise" in repr(noisy)
        assert len(repr(noisy)) < 150 and "(6,) float64" in repr(noisy)
        assert (noisy.scale > plain.scale).all()
        assert "in: of observations" in shown(noisy).texts and "not in: of the process" in shown(plain).texts
    assert exact.predict(x[:6], noise=0.3, **given).noise and not exact.predict(x[:6], noise=0.0, **given).noise
    assert "with covariances" in repr(exact.predict(x[:6], cov=True, **given))


def test_markup_of_predictions():
    many = Prediction(np.zeros(100_000), np.ones(100_000), noise=True)
    assert {"(100000,) float64", "95 % intervals, the first 200"} <= set(shown(many).texts)
    assert "svg" in shown(many).elements and "svg" not in shown(Prediction(np.zeros(1), np.ones(1))).elements
    one = Prediction(gs.to_device(np.zeros(3)), gs.to_device(np.ones(3)), df=4)
    assert {"Student-t, 4 degrees of freedom", "(3,) float64"} <= set(shown(one).texts)
