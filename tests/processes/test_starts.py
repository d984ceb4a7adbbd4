"""Fits that begin at values made of the data, beside those from a good start and scikit-learn's."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

import gpustats as gs
from gpustats.gp import MarginalLikelihood, Vecchia


def waves(rng, n=40):
    x = np.sort(rng.uniform(0, 10, n))
    return x, np.sin(3 * x) + 0.1 * rng.normal(size=n)


def surface(rng, n=60):
    x = rng.uniform(0, 5, (n, 2))
    return x, np.sin(x[:, 0]) * np.cos(2 * x[:, 1]) + 0.1 * rng.normal(size=n)


def assert_same(process, good):
    found, wanted = process.fit(errors=False), process.fit(good, errors=False)
    np.testing.assert_allclose(found.loglik, wanted.loglik, atol=1e-3)
    for name, value in wanted.values.items():
        np.testing.assert_allclose(found.values[name], value, rtol=5e-3)


@pytest.mark.parametrize("of_x", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("of_y", [1e-3, 1.0, 1e3])
def test_one_column_in_any_unit(of_x, of_y, rng):
    x, y = waves(rng)
    good = dict(amplitude=of_y, lengthscale=0.5 * of_x, sigma=0.1 * of_y)
    assert_same(MarginalLikelihood(gs.rbf, of_x * x, of_y * y), good)
    start, scaled = MarginalLikelihood(gs.rbf, x, y).start(), MarginalLikelihood(gs.rbf, of_x * x, of_y * y).start()
    for name, unit in dict(amplitude=of_y, lengthscale=of_x, sigma=of_y).items():
        np.testing.assert_allclose(scaled[name], unit * start[name], rtol=1e-9)


def test_two_columns_have_a_lengthscale_each(rng):
    x, y = surface(rng)
    units, good = np.array([1e-3, 1e3]), dict(amplitude=0.6, lengthscale=np.array([1.4e-3, 0.7e3]), sigma=0.1)
    assert_same(MarginalLikelihood(gs.matern52, units * x, y), good)
    assert Vecchia(gs.rbf, x, y, neighbours=8).start()["lengthscale"].shape == (2,)
    apart = gs.rbf.on(0) * gs.rbf.rename(lengthscale="other").fix(amplitude=1.0).on(1)
    assert_same(MarginalLikelihood(apart, x, y), dict(amplitude=0.6, lengthscale=1.4, other=0.7, sigma=0.1))


@pytest.mark.parametrize("cov, good", [
    (gs.linear + gs.constant, dict(lengthscale=1.0, amplitude=1.0)),
    (gs.rbf + gs.constant.rename(amplitude="offset"), dict(amplitude=1.0, lengthscale=0.5, offset=3.0)),
], ids=["line", "offset"])  # fmt: skip
def test_sums(cov, good, rng):
    x, y = waves(rng)
    assert_same(MarginalLikelihood(cov, x, y + 3 + 0.5 * x if "linear" in cov.name else y + 3), good | {"sigma": 0.1})


def test_names_of_ones_own(rng):
    """What a hyperparameter does tells where it begins, whatever it is called."""
    own = gs.register("""
    // decay: exponential covariance
    // sqdist: nonnegative    variance: positive    range: positive
    real decay_cov(real sqdist, real variance, real range) { return variance * exp(-sqrt(sqdist) / range); }
    """, replace=True)  # fmt: skip
    x, y = waves(rng)
    mine, theirs = MarginalLikelihood(own, 1e3 * x, y).start(), MarginalLikelihood(gs.matern12, 1e3 * x, y).start()
    wanted = theirs["amplitude"] ** 2, theirs["lengthscale"], theirs["sigma"]
    np.testing.assert_allclose([mine["variance"], mine["range"], mine["sigma"]], wanted)


def test_finds_the_optimum_of_sklearn_with_restarts(rng):
    x, y = waves(rng)
    kernel = kernels.ConstantKernel(1.0) * kernels.RBF(1.0) + kernels.WhiteKernel(0.1)
    theirs = GaussianProcessRegressor(kernel, alpha=0, n_restarts_optimizer=3, random_state=1).fit(x[:, None], y)
    assert MarginalLikelihood(gs.rbf, x, y).fit(errors=False).loglik > theirs.log_marginal_likelihood_value_ - 1e-4


def test_given_starts_rule(rng):
    x, y = waves(rng)
    process = MarginalLikelihood(gs.rbf, x, y)
    far = dict(amplitude=0.1, lengthscale=30.0, sigma=1.0)  # in another basin
    assert process.fit(far, errors=False).loglik < process.fit(errors=False).loglik - 10
    known = process.fit(process.start() | {"sigma": 0.2}, fixed=["sigma"], errors=False)
    assert known.values["sigma"] == 0.2
    with pytest.raises(ValueError, match=r"rbf needs lengthscale: process.start\(\) \| start has what the data suggest"):
        process.fit({"amplitude": 1.0, "sigma": 0.1})


def test_the_prior_mean_counts(rng):
    x, y = waves(rng)
    plain = MarginalLikelihood(gs.rbf, x, y).start()
    about = [MarginalLikelihood(gs.rbf, x, y + 50, mean=50.0), MarginalLikelihood(gs.rbf, x, y + x, mean=lambda p: p[:, 0])]
    for process in about:
        np.testing.assert_allclose([*process.start().values()], [*plain.values()])


def test_data_that_do_not_vary():
    for y in (np.zeros(3), np.full(3, 2.0)):
        start = MarginalLikelihood(gs.rbf, np.ones(3), y).start()
        assert all(np.isfinite(v) and v > 0 for v in start.values())


@pytest.mark.parametrize("cov, fixed, message", [
    (gs.rbf, "sigma", r"sigma is fixed, but at no value: write fit\(process.start\(\) \| {'sigma': …}, fixed=\['sigma'\]\)"),
    (gs.rbf, "nu", "there is no 'nu' to fit"),
    (gs.periodic, (), r"many maxima in period: begin near the right one, fit\(process.start\(\) \| {'period': …}\)"),
])  # fmt: skip
def test_what_the_data_do_not_tell(cov, fixed, message):
    with pytest.raises(ValueError, match=message):
        MarginalLikelihood(cov, np.arange(5.0), np.arange(5.0)).fit(fixed=fixed)
