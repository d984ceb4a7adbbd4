"""gpustats.pymc.GPMarginal against PyMC's own Gaussian processes."""

import cloudpickle
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from modes import AS_WRITTEN, QUICK
from scipy import stats
from thorough import some

import gpustats as gs
import gpustats.pymc as gpm

rng = np.random.default_rng(5)
N = 30
X = rng.normal(size=(N, 2))
Y, MEANS, SIGMAS = rng.normal(size=N), rng.normal(size=N), rng.uniform(0.3, 0.6, N)
RBF, MATERN = pm.gp.cov.ExpQuad, pm.gp.cov.Matern32


def model(likelihood):
    """Priors, and `likelihood(amplitude, lengthscale, sigma, mean)`."""
    with pm.Model() as made:
        lengthscale = pm.InverseGamma("lengthscale", 5, 5, shape=2)
        likelihood(pm.HalfNormal("amplitude"), lengthscale, pm.HalfNormal("sigma"), pm.Normal("mean"))
    return made


def of_pymc(cov, sigma, mean=None):
    process = pm.gp.Marginal(mean_func=pm.gp.mean.Constant(0.0 if mean is None else mean), cov_func=cov)
    process.marginal_likelihood("y", X=X, y=Y, sigma=sigma, jitter=0.0)


def mvnormal(cov, sigma, mean):
    pm.MvNormal("y", mean, cov(X) + pt.diag(sigma**2 * pt.ones(N)), observed=Y)


CASES = {
    "numbers": (
        lambda a, ls, s, m: gpm.GPMarginal("y", gs.rbf, X, s, m, amplitude=a, lengthscale=ls[0], observed=Y),
        lambda a, ls, s, m: of_pymc(a**2 * RBF(2, ls=ls[0]), s, m),
    ),
    "lengthscales": (
        lambda a, ls, s, m: gpm.GPMarginal("y", gs.rbf, x=X, amplitude=a, lengthscale=ls, sigma=s, observed=Y),
        lambda a, ls, s, m: of_pymc(a**2 * RBF(2, ls=ls), s),
    ),
    "by row": (
        lambda a, ls, s, m: gpm.GPMarginal(
            "y", gs.matern32, x=X, amplitude=a, lengthscale=ls, sigma=s * SIGMAS, mean=m * MEANS, observed=Y
        ),
        lambda a, ls, s, m: mvnormal(a**2 * MATERN(2, ls=ls), s * SIGMAS, m * MEANS),
    ),
    "sum": (
        lambda a, ls, s, m: gpm.GPMarginal(
            "y", gs.rbf.on(0) + gs.matern32.on(1).rename(amplitude="b", lengthscale="fine"), x=X, amplitude=a,
            lengthscale=ls[0], b=a * 0.5, fine=ls[1], sigma=s, observed=Y,
        ),
        lambda a, ls, s, m: of_pymc(
            a**2 * RBF(2, ls=ls[0], active_dims=[0]) + (0.5 * a) ** 2 * MATERN(2, ls=ls[1], active_dims=[1]), s
        ),
    ),
    "uncertain points": (
        lambda a, ls, s, m: gpm.GPMarginal(
            "y", gs.rbf, x=pm.Normal("Z", X, 0.1, shape=X.shape), amplitude=a, lengthscale=ls, sigma=s, observed=Y
        ),
        lambda a, ls, s, m: pm.MvNormal(
            "y", 0.0, a**2 * RBF(2, ls=ls).full(pm.Normal("Z", X, 0.1, shape=X.shape)) + s**2 * pt.eye(N), observed=Y
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", some(CASES, 8))
def test_equals_pymc(name):
    ours, theirs = (model(m) for m in CASES[name])
    point = {n: v + rng.normal(size=np.shape(v)) / 3 for n, v in ours.initial_point().items()}
    (value, gradient), (want, derivatives) = (
        m.compile_fn([m.logp(), m.dlogp()], mode=mode)(point) for m, mode in ((ours, QUICK), (theirs, AS_WRITTEN))
    )
    np.testing.assert_allclose(value, want, rtol=1e-10)
    np.testing.assert_allclose(gradient, derivatives, rtol=1e-7, atol=1e-7)


def test_one_evaluation():
    """The log-likelihood and all gradients come from one node, which holds the data."""
    function = model(CASES["numbers"][0]).logp_dlogp_function(ravel_inputs=True)
    nodes = [n for n in function._pytensor_function.maker.fgraph.toposort() if "Log" in type(n.op).__name__]
    assert [type(n.op).__name__ for n in nodes] == ["LogLikelihood"]
    assert [i for i, _ in nodes[0].op.known] == [0, 1]


def logp(y, x, sigma, mean, amplitude, lengthscale):
    return pm.logp(gpm.GPMarginal.dist(gs.rbf, x, sigma, mean, amplitude=amplitude, lengthscale=lengthscale), y)


def test_derivatives():
    """In everything, the observations and the points among it."""
    at = [Y[:6], X[:6], SIGMAS[:6], MEANS[:6], np.array(1.2), np.array([0.8, 1.5])]
    pytensor.gradient.verify_grad(logp, at, rng=np.random.default_rng(1), mode=AS_WRITTEN)
    at[2], at[3], at[5] = np.array(0.4), np.array(0.2), np.array(1.1)
    pytensor.gradient.verify_grad(logp, at, rng=np.random.default_rng(1), mode=AS_WRITTEN)


def test_several_sets():
    """A leading axis of observations, with a weight for each set."""
    y = np.stack([Y, -Y, 2 * Y])
    cov = 1.44 * np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(-1)) + 0.25 * np.eye(N)
    amplitude, weight = pt.dscalar("amplitude"), np.array([1.0, 2.0, -1.0])
    found = pm.logp(gpm.GPMarginal.dist(gs.rbf, X, 0.5, amplitude=amplitude, lengthscale=1.0), pt.constant(y))
    np.testing.assert_allclose(found.eval({amplitude: 1.2}), stats.multivariate_normal.logpdf(y, np.zeros(N), cov), rtol=1e-10)
    total = (found * weight).sum()
    step = 1e-6
    want = (total.eval({amplitude: 1.2 + step}) - total.eval({amplitude: 1.2 - step})) / (2 * step)
    np.testing.assert_allclose(pt.grad(total, amplitude).eval({amplitude: 1.2}), want, rtol=1e-6)


def test_invalid_parameters():
    """Where the matrix is not positive definite, and outside the domains: -inf in a model, an error elsewhere, as PyMC's."""
    amplitude, lengthscale, sigma = inputs = pt.dscalars("amplitude", "lengthscale", "sigma")
    x = np.repeat(X, 2, axis=0)
    value = pm.logp(gpm.GPMarginal.dist(gs.rbf, x, sigma, amplitude=amplitude, lengthscale=lengthscale), np.repeat(Y, 2))
    outputs = [value, *pt.grad(value, [amplitude, lengthscale, sigma])]
    in_model, elsewhere = pm.compile(inputs, outputs), pytensor.function(inputs, outputs)
    for function in (in_model, elsewhere):
        assert np.isfinite(function(1.0, 1.0, 0.1)).all()
    outside = [(-1.0, 1.0, 0.1), (1.0, np.inf, 0.1), (1.0, 0.0, 0.1), (1.0, 1.0, -0.1), (1.0, np.nan, 0.1)]
    for point in (*outside, (1.0, 1.0, 0.0)):
        assert in_model(*point) == [-np.inf, 0, 0, 0]
        with pytest.raises(pm.logprob.utils.ParameterValueError, match="gp_marginal: sigma must be nonnegative"):
            elsewhere(*point)


def test_single_precision():
    """Points in float32 stay so, and what comes out is float64."""
    ours = gpm.GPMarginal.dist(gs.rbf, X.astype(np.float32), 0.5, amplitude=1.2, lengthscale=1.0)
    theirs = gpm.GPMarginal.dist(gs.rbf, X, 0.5, amplitude=1.2, lengthscale=1.0)
    got, want = (pm.logp(v, Y).eval(mode=QUICK) for v in (ours, theirs))
    assert got.dtype == np.float64 and got != want
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_predictive_draws():
    cov = 1.44 * np.exp(-0.5 * (((X[:, None] - X) / [0.8, 1.5]) ** 2).sum(-1)) + np.diag(SIGMAS**2)
    y = gpm.GPMarginal.dist(gs.rbf, X, SIGMAS, MEANS, amplitude=1.2, lengthscale=[0.8, 1.5], size=4000)
    draws = pm.draw(y, random_seed=1, mode=QUICK)
    assert draws.shape == (4000, N)
    whitened = np.linalg.solve(np.linalg.cholesky(cov), (draws - MEANS).T)
    assert stats.kstest(whitened.ravel(), "norm").pvalue > 1e-3
    np.testing.assert_allclose(np.cov(whitened), np.eye(N), atol=0.12)
    np.testing.assert_array_equal(pm.draw(y, 2, random_seed=3, mode=QUICK), pm.draw(y, 2, random_seed=3, mode=QUICK))
    with model(CASES["lengthscales"][0]):
        drawn = pm.sample_prior_predictive(draws=5, random_seed=1, compile_kwargs={"mode": QUICK}).prior_predictive
        assert drawn["y"].shape == (1, 5, N)


def test_latent():
    """The process itself as a free variable."""
    with pm.Model() as made:
        f = gpm.GPMarginal("f", gs.rbf, X, 1e-3, amplitude=pm.HalfNormal("amplitude"), lengthscale=1.0)
        pm.Poisson("y", pt.exp(f), observed=rng.poisson(1, N))
    assert made["f"].eval(mode=QUICK).shape == (N,)
    assert np.isfinite(made.compile_dlogp()(made.initial_point())).all()


def test_pickles():
    made = model(CASES["sum"][0])
    again = cloudpickle.loads(cloudpickle.dumps(made))
    point = made.initial_point()
    assert made.compile_logp(mode=QUICK)(point) == again.compile_logp(mode=QUICK)(point)


@pytest.mark.parametrize(
    "arguments, kwargs, message",
    [
        ((gs.rbf, X), dict(amplitude=1.0), "rbf needs lengthscale"),
        ((gs.rbf, X), dict(amplitude=1.0, lengthscale=1.0, nu=1.0), "rbf has no hyperparameter 'nu'"),
        ((gs.rbf, X), dict(amplitude=[1.0, 2.0], lengthscale=1.0), "amplitude has 1 dimensions: it must be a number"),
        ((gs.rbf, X, np.ones((2, 2))), dict(amplitude=1.0, lengthscale=1.0), "sigma has 2 dimensions"),
        ((gs.rbf, np.ones((2, 2, 2))), dict(amplitude=1.0, lengthscale=1.0), "x has 3 dimensions"),
        ((gs.rbf.rename(amplitude="size"), X), dict(size=1.0, lengthscale=1.0), "hyperparameter 'size': rename it"),
    ],
)
def test_errors(arguments, kwargs, message):
    with pytest.raises(ValueError, match=message):
        gpm.GPMarginal.dist(*arguments, **kwargs)


def test_wrong_kinds():
    with pytest.raises(TypeError, match="covariance function"):
        gpm.GPMarginal.dist(gs.normal, X)


def toy(n):
    """The data of Češnovar et al. (2020), section 4.2."""
    x = rng.uniform(-10, 10, n)
    f = x + x**2 - x**3 + 100 * np.sin(2 * x)
    return x, (f - f.mean()) / f.std() + 0.1 * rng.normal(size=n)


def model_of(x, y):
    """Section 4.2's, with a prior of Betancourt (2017) for the lengthscale."""
    with pm.Model() as made:
        rho, alpha = pm.InverseGamma("rho", 8.91924, 34.5805), pm.HalfNormal("alpha", 2)
        sigma = pm.HalfNormal("sigma", 1)
        gpm.GPMarginal("y", gs.rbf, x=x, amplitude=alpha, lengthscale=rho, sigma=sigma, observed=y)
    return made


@pytest.mark.slow
def test_posterior():
    """By two samplers."""
    made = model_of(*toy(40))
    short = dict(chains=1, cores=1, random_seed=1, progressbar=False, compute_convergence_checks=False)
    means = []
    for options in (dict(draws=200, tune=200), dict(draws=500, tune=300, nuts_sampler="nutpie")):
        trace = pm.sample(model=made, **short, **options).posterior
        means.append([float(np.log(trace[n]).mean()) for n in ("rho", "alpha", "sigma")])
    np.testing.assert_allclose(*means, atol=0.25)  # posterior deviations are 0.1 to 0.4


def test_maximum_a_posteriori():
    x, y = toy(40)

    def log_prior(v):
        rho, alpha, sigma = v["lengthscale"], v["amplitude"], v["sigma"]
        value = stats.invgamma.logpdf(rho, 8.91924, scale=34.5805) - alpha**2 / 8 - sigma**2 / 2
        return value, {"lengthscale": 34.5805 / rho**2 - 9.91924 / rho, "amplitude": -alpha / 4, "sigma": -sigma}

    fit = gs.gp.MarginalLikelihood(gs.rbf, x, y).fit(dict(lengthscale=4.0, amplitude=1.0, sigma=0.5), log_prior=log_prior)
    found = pm.find_MAP(model=model_of(x, y), progressbar=False)
    ours = [fit.values[n] for n in ("lengthscale", "amplitude", "sigma")]
    np.testing.assert_allclose([float(found[n]) for n in ("rho", "alpha", "sigma")], ours, rtol=1e-3)
