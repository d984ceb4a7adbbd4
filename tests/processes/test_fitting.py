"""Fits of hyperparameters, against scikit-learn."""

import pickle

import numpy as np
import pytest
from gp_data import data
from markup import shown
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.gp import MarginalLikelihood


def test_fit_finds_the_optimum_of_sklearn(rng):
    x, y = data(rng, 100)
    kernel = kernels.ConstantKernel(1.0) * kernels.RBF([1.0, 1.0]) + kernels.WhiteKernel(0.1)
    theirs = GaussianProcessRegressor(kernel, alpha=0, random_state=1).fit(x, y)
    ml = MarginalLikelihood(gs.rbf, x, y)
    fit = ml.fit(dict(amplitude=1.0, lengthscale=[1.0, 1.0], sigma=0.3))
    assert fit.loglik > theirs.log_marginal_likelihood_value_ - 1e-4
    assert fit.loglik == ml(**fit.values) and fit.result.success
    _, gradient = ml.value_and_grad(**fit.values)
    assert np.abs(np.concatenate([np.ravel(gradient[n] * fit.values[n]) for n in gradient])[[0, 1, 3]]).max() < 0.05


def test_a_fit_predicts_as_its_process_does(rng):
    x, y = data(rng, 30, 1)
    for process in (MarginalLikelihood(gs.rbf, x, y), gs.gp.Vecchia(gs.rbf, x, y, neighbours=8)):
        fit = process.fit(dict(amplitude=1.0, lengthscale=1.0, sigma=0.3), errors=False, options={"maxiter": 3})
        for noise in (False, True):
            found, wanted = fit.predict(x[:4], noise=noise), process.predict(x[:4], noise=noise, **fit.values)
            np.testing.assert_array_equal(found.mean, wanted.mean)
            np.testing.assert_array_equal(found.interval(0.9), wanted.interval(0.9))
        assert (fit.predict(x[:4], noise=True).scale > fit.predict(x[:4]).scale).all()
        with pytest.raises(ValueError, match="start is empty: it must have values of amplitude, lengthscale, sigma, mean"):
            process.fit({})


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "CG", "TNC", "SLSQP"])
def test_the_end_of_a_search_is_told_in_plain_words(rng, method):
    x, y = data(rng, 20, 1)
    ml, start = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=1.0, lengthscale=1.0, sigma=0.5)
    limit = {"maxfun": 3} if method == "TNC" else {"maxiter": 1}
    short = ml.fit(start, method=method, errors=False, options=limit)
    assert short.message == "not converged: more steps are needed, options={'maxiter': …}" and not short.converged
    assert str(short.result.message) not in str(short.summary())
    fit = ml.fit(start, method="L-BFGS-B", errors=False)
    assert fit.message == "converged" and "search: converged\n" in str(fit.summary())
    bounded = ml.fit(start, bounds={"lengthscale": (1.0, 1.5)}, errors=False)
    assert bounded.message == "converged at a bound"


def test_a_search_that_is_stuck_says_so(rng):
    x, y = data(rng, 20, 1)
    ml, start = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=1.0, lengthscale=1.0, sigma=0.5)

    def prior(v):
        return -v["amplitude"], {"amplitude": 1e3}  # derivatives of something else

    fit = ml.fit(start, log_prior=prior, method="BFGS", errors=False)
    assert fit.message == "not converged: no step improves the log-likelihood"


def test_fit_with_bounds_priors_and_fixed_values(rng):
    x, y = data(rng, 50, 1)
    ml, start = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=1.0, lengthscale=1.0, sigma=0.5, mean=0.2)
    fit = ml.fit(start, fixed=["sigma"], bounds=dict(lengthscale=(0.9, 5.0)))
    assert fit.values["sigma"] == 0.5 and fit.values["lengthscale"] >= 0.9 * (1 - 1e-12) and fit.values["mean"] != 0.2

    def prior(v):
        return -0.5 * ((v["amplitude"] - 3) / 1e-3) ** 2, {"amplitude": -(v["amplitude"] - 3) / 1e-6}

    pulled = ml.fit(start, log_prior=prior)
    np.testing.assert_allclose(pulled.values["amplitude"], 3, atol=0.01)
    np.testing.assert_allclose(pulled.loglik, ml(**pulled.values))
    plain, limits = ml.fit(start), dict.fromkeys(["amplitude", "lengthscale", "sigma"], (1e-3, 9.0))
    for other in (ml.fit(start, log=False, bounds=limits), ml.fit(start, method="BFGS")):
        np.testing.assert_allclose(other.loglik, plain.loglik, atol=1e-3)


@THOROUGH
def test_fit_restarts(rng):
    """From a start in another basin, restarts find the better optimum."""
    x = np.sort(rng.uniform(0, 10, 40))
    y = np.sin(3 * x) + 0.1 * rng.normal(size=40)
    ml, start = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=0.1, lengthscale=30.0, sigma=1.0)
    ranges = dict(bounds=dict(amplitude=(0.01, 10.0), lengthscale=(0.05, 50.0), sigma=(0.01, 2.0)))
    one, many = ml.fit(start, **ranges), ml.fit(start, **ranges, restarts=8, rng=1)
    assert many.loglik > one.loglik + 20
    assert many.values == ml.fit(start, **ranges, restarts=8, rng=1).values


def test_fit_turns_back_where_there_is_no_likelihood(rng):
    """Without noise, long lengthscales have no positive definite matrix."""
    x = np.linspace(0, 1, 40)
    ml = MarginalLikelihood(gs.rbf, x, np.sin(9 * x))
    fit = ml.fit(dict(amplitude=1.0, lengthscale=0.02))
    assert fit.loglik > ml(amplitude=1.0, lengthscale=0.02) + 20
    with pytest.raises(np.linalg.LinAlgError):
        ml(amplitude=1.0, lengthscale=5.0)
    with pytest.raises(np.linalg.LinAlgError):
        ml.fit(dict(amplitude=1.0, lengthscale=5.0))


@pytest.mark.parametrize(
    "start, options, message",
    [
        (dict(amplitude=1.0, lengthscale=1.0, sigma=0.0), {}, "sigma starts at 0.0"),
        (dict(amplitude=1.0, lengthscale=1.0, nu=0.0), {}, "there is no 'nu'"),
        (dict(amplitude=1.0, lengthscale=1.0), dict(fixed=["sigma"]), "start has no sigma"),
        (dict(amplitude=1.0, lengthscale=1.0), dict(fixed=["amplitude", "lengthscale"]), "nothing to fit"),
        (dict(amplitude=1.0, lengthscale=1.0), dict(bounds=dict(amplitude=(2.0, 1.0))), "bounds of amplitude"),
        (dict(amplitude=1.0), {}, "rbf needs lengthscale"),
    ],
)
def test_fit_errors(start, options, message):
    with pytest.raises(ValueError, match=message):
        MarginalLikelihood(gs.rbf, np.arange(3.0), np.arange(3.0)).fit(start, **options)


def test_fit_with_densities_as_priors(rng):
    """As with a log-prior that is written out; of a vector for each element."""
    x, y = data(rng, 50)
    ml, start = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=1.0, lengthscale=[1.0, 1.0], sigma=0.5)
    priors = dict(lengthscale=gs.gamma(20.0, 10.0), sigma=gs.half_normal(0.05))

    def log_prior(v):
        value = (19 * np.log(v["lengthscale"]) - 10 * v["lengthscale"]).sum() - v["sigma"] ** 2 / 0.005
        return value, {"lengthscale": 19 / v["lengthscale"] - 10, "sigma": -v["sigma"] / 0.0025}

    fit, written, plain = ml.fit(start, priors=priors), ml.fit(start, log_prior=log_prior), ml.fit(start)
    of_lengthscale = {"lengthscale": priors["lengthscale"]}
    both = ml.fit(start, priors=of_lengthscale, log_prior=lambda v: (0.0, {"amplitude": -v["amplitude"]}), fixed="sigma")
    for name in start:
        np.testing.assert_allclose(fit.values[name], written.values[name], rtol=1e-3)
    np.testing.assert_allclose(fit.loglik, ml(**fit.values))
    assert fit.loglik < plain.loglik - 1 and both.values["sigma"] == 0.5 and both.values["amplitude"] < fit.values["amplitude"]
    with pytest.raises(ValueError, match="prior for sigma, which is not searched for: that is amplitude, lengthscale"):
        ml.fit(start, fixed=["sigma"], priors=priors)
    for wrong in (gs.poisson(1.0), gs.gamma):
        with pytest.raises(TypeError, match=r"prior of sigma must be a density with its parameters, such as gs.gamma"):
            ml.fit(start, priors=dict(sigma=wrong))
    with pytest.raises(ValueError, match="the prior density is 0 at the start"):
        ml.fit(start, priors=dict(sigma=gs.uniform(1.0, 2.0)))


def test_restarts_are_side_by_side(rng, monkeypatch):
    """Several searches ask for what comes next in one call, and find what each finds alone; errors reach the caller."""
    x, y = data(rng, 30, 1)
    ml, start, calls = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=1.0, lengthscale=1.0, sigma=0.5), []
    plain = ml.value_and_grad

    def counted(**values):
        calls.append(np.size(values["amplitude"]))
        return plain(**values)

    monkeypatch.setattr(ml, "value_and_grad", counted)
    fit = ml.fit(start, restarts=4, rng=1)
    sizes = [n for n in calls if n > 1]
    assert max(sizes) == 5 and len(calls) < sum(calls) / 2
    assert fit.loglik >= ml.fit(start).loglik - 1e-6

    def fails(values):
        if len(asked) > 8:
            raise KeyError("mine")
        asked.append(values)
        return 0.0, {}

    def refuses(values):
        if values["sigma"] > 0.9:
            raise ValueError("no such noise")
        return 0.0, {}

    assert ml.fit(start, restarts=4, rng=1, log_prior=refuses).values["sigma"] <= 0.9
    asked = []
    with pytest.raises(KeyError, match="mine"):
        ml.fit(start, restarts=2, rng=1, log_prior=fails)


@pytest.mark.parametrize("options", some([{}, {"student_t": True, "jitter": 1e-6}], 2))
def test_exact_second_derivatives(options, monkeypatch):
    """Two lengthscales, noise and mean: those of JAX's likelihood; errors of a fit are made of them, and near differences."""
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(3)
    x = rng.uniform(size=(30, 2))
    y = np.sin(5 * x[:, 0]) + x[:, 1] + 0.1 * rng.normal(size=30)
    ml = MarginalLikelihood(gs.rbf, x, y, **options)
    at = {"amplitude": 1.2, "lengthscale": np.array([0.3, 0.8]), "sigma": 0.1, "mean": 0.2}

    def loglik(theta):
        amplitude, scales, sigma, mean = theta[0], theta[1:3], theta[3], theta[4]
        z = x / scales
        K = amplitude**2 * jax.numpy.exp(-((z[:, None] - z[None]) ** 2).sum(-1) / 2)
        K = K + jax.numpy.diag(jax.numpy.diag(K) * options.get("jitter", 0.0) + sigma**2)
        square = (y - mean) @ jax.numpy.linalg.solve(K, y - mean)
        fit = -15 * jax.numpy.log(square) if options else -square / 2
        return fit - jax.numpy.linalg.slogdet(K)[1] / 2

    with jax.enable_x64(True):
        wanted = jax.hessian(loglik)(np.hstack(list(at.values())))
    found = ml._hessian_in(tuple(at))(at)
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())
    fit = ml.fit(at, fixed=["amplitude"])
    monkeypatch.setattr("gpustats.processes.marginal.MOST_EXACT", 0)
    by_differences = ml.fit(at, fixed=["amplitude"])
    monkeypatch.undo()
    assert fit.fitted.objective.exact and not by_differences.fitted.objective.exact
    np.testing.assert_allclose(by_differences.errors, fit.errors, rtol=1e-4)
    assert pickle.loads(pickle.dumps(fit)).fitted.objective.exact


def test_standard_errors():
    """Those of differences of the likelihood itself; a profile's ends."""
    x = np.linspace(0.0, 1.0, 40)
    ml = MarginalLikelihood(gs.rbf, x, np.sin(6 * x) + 0.1 * np.random.default_rng(0).normal(size=40))
    fit = ml.fit(dict(amplitude=1.0, lengthscale=0.3, sigma=0.1))
    names, h, unit = list(fit.free), 1e-3, np.eye(3)
    at = np.log([fit[n] for n in names])

    def loglik(u):
        return ml(**dict(zip(names, np.exp(u), strict=True)))

    def bend(a, b):
        ends = [loglik(at + h * (i * a + j * b)) * i * j for i in (-1, 1) for j in (-1, 1)]
        return sum(ends) / (4 * h * h)

    bends = np.array([[bend(a, b) for a in unit] for b in unit])
    errors = np.sqrt(np.diag(np.linalg.inv(-bends))) * np.exp(at)
    np.testing.assert_allclose(fit.errors, errors, rtol=1e-3)
    low, high = fit.interval(method="profile", parameters="sigma")["sigma"]
    rest = [ml.fit(dict(fit.values, sigma=end), fixed=["sigma"], errors=False).loglik for end in (low, high)]
    np.testing.assert_allclose(2 * (fit.loglik - np.array(rest)), 3.8414588, rtol=1e-3)
    assert "lengthscale" in fit.summary() and fit.values is fit.parameters
    assert np.isnan(ml.fit(fit.values, errors=False).standard_errors["sigma"])


def test_fits_show_their_errors_or_why_there_are_none(monkeypatch):
    rng = np.random.default_rng(3)
    x = rng.uniform(size=(30, 2))
    ml = MarginalLikelihood(gs.rbf, x, np.sin(5 * x[:, 0]) + x[:, 1] + 0.1 * rng.normal(size=30))
    start = {"amplitude": 1.2, "lengthscale": [0.3, 0.8], "sigma": 0.1}
    fit = ml.fit(start)
    errors = fit.standard_errors
    assert f"sigma={fit['sigma']:.6g} ± {errors['sigma']:.2g}" in repr(fit)
    first, second = (f"{v:.6g} ± {e:.2g}" for v, e in zip(fit["lengthscale"], errors["lengthscale"]))
    assert f"lengthscale=[{first}, {second}]" in repr(fit) and fit.errors_by == "observed information"
    assert f"{errors['sigma']:.4f}" in shown(fit).texts
    without = ml.fit(fit.values, errors=False)
    assert "no standard errors: errors=False" in repr(without) and "no standard errors: errors=False" in without.summary()
    far = {"amplitude": 30.0, "lengthscale": [0.01, 10.0], "sigma": 5.0}
    short = ml.fit(far, options={"maxiter": 1})  # where the likelihood does not bend downwards yet
    assert "the information matrix at the end of the search is not positive definite" in repr(short)
    assert np.isnan(short.errors).all() and short.errors_by in shown(short).texts
    monkeypatch.setattr(MarginalLikelihood, "_hessian_in", lambda self, wrt: lambda values: np.full((4, 4), np.nan))
    assert "are not finite" in repr(ml.fit(start))
