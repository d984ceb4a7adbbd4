"""The examples run, with few draws."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats
from thorough import THOROUGH, some

from bench.local_gp import borehole

pm = pytest.importorskip("pymc")
pytest.importorskip("matplotlib")
statsmodels = pytest.importorskip("statsmodels.api")
pytest.importorskip("sklearn")

EXAMPLES = Path(__file__).parents[1] / "examples"
SMALL = {  # options that make an example short, and what it prints
    "calibration": (["--runs", "60", "--boreholes", "15", "--steps", "4"], "m/yr: "),
    "constrained_optimisation": (["--runs", "13", "--candidates", "100"], "the minimum is 0.5998"),
    "doctor_visits": (["--people", "30", "--draws", "5"], "persons without a visit"),
    "emulation": (["--points", "41", "--predict", "15", "--end", "20", "--close", "60"], "within 95% intervals"),
    "fertility_curves": (["--draws", "10"], "within 90% intervals"),
    "gp_regression": (["--n", "100", "--every", "4"], "log marginal likelihood"),
    "hierarchical": (["--draws", "5"], "r_hat"),
    "logistic_regression": (["--n", "1000", "--k", "4", "--draws", "25"], "r_hat"),
    "mixture_gibbs": (["--n", "2000", "--components", "20", "--sweeps", "20"], "F-measure"),
    "polya_gamma_gibbs": (["--sweeps", "30"], "maximum likelihood"),
    "robust_regression": (["--draws", "10"], "r_hat"),
}


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", some(sorted(path.stem for path in EXAMPLES.glob("*.py")), 4))
def test_example(name, tmp_path, capsys):
    picture = tmp_path / "picture.png"
    options, printed = SMALL[name]
    example(name).main([*options, "--out", str(picture)])
    assert picture.stat().st_size > 10_000
    assert printed in capsys.readouterr().out


def assert_same(ours, pymcs):
    """Two models have the same log-posterior with the same gradient."""
    functions = [m.logp_dlogp_function(ravel_inputs=True) for m in (ours, pymcs)]
    for f in functions:
        f.set_extra_values({})
    point = pm.blocking.DictToArrayBijection.map(ours.initial_point())
    point = point._replace(data=np.random.default_rng(1).normal(scale=0.3, size=point.data.shape))
    (value, gradient), (expected, derivatives) = (f(point) for f in functions)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, derivatives, rtol=1e-9, atol=1e-9)


@THOROUGH
def test_the_hierarchical_model_is_that_of_pymc():
    module = example("hierarchical")
    data = module.survey(1)
    assert_same(*(module.model(*data, on_device=on_device) for on_device in (True, False)))


@THOROUGH
def test_the_logistic_regression_is_that_of_pymc():
    module = example("logistic_regression")
    X, y, beta = module.toy_data(4000, 5)
    assert_same(*(module.model(X, y, on_device=on_device) for on_device in (True, False)))
    fit = statsmodels.GLM(y, np.column_stack([np.ones(len(y)), X]), statsmodels.families.Binomial()).fit()
    assert np.all(np.abs(fit.params - np.append(module.INTERCEPT, beta)) < 4 * fit.bse)


@THOROUGH
def test_the_polya_gamma_sampler_agrees_with_a_fit():
    module = example("polya_gamma_gibbs")
    X, y = module.affairs()
    assert X.shape == (6366, 7) and y.sum() == 2053
    draws, fit = module.gibbs(X, y, 1000, seed=2)[100:], statsmodels.Logit(y, X).fit(disp=False)
    assert np.all(np.abs(draws.mean(0) - fit.params) < 0.25 * fit.bse)
    np.testing.assert_allclose(draws.std(0), fit.bse, rtol=0.15)


@THOROUGH
@pytest.mark.parametrize("by_person", [True, False])
def test_the_model_of_doctor_visits_is_that_of_pymc(by_person):
    module = example("doctor_visits")
    visits, x, person = module.experiment(300)
    with pm.Model() as plain:
        beta, mean, phi = pm.Normal("beta", 0, 1, shape=x.shape[1]), pm.Normal("mean", 1, 1), pm.Gamma("phi", 2, 1)
        alpha = mean
        if by_person:
            spread = pm.HalfNormal("spread", 1)
            alpha = mean + (spread * pm.Normal("z", 0, 1, shape=300))[person]
        pm.NegativeBinomial("visits", mu=pm.math.exp(alpha + x @ beta), alpha=phi, observed=visits)
    assert_same(module.model(visits, x, person, by_person), plain)


def test_the_persons_of_doctor_visits():
    module = example("doctor_visits")
    visits, _, person = module.experiment()
    assert len(visits) == 20_190
    assert np.all(np.isin(np.diff(person), [0, 1]))
    years = np.bincount(person)
    assert len(years) == 5294
    assert np.isin(years, [3, 5]).mean() > 0.8  # for how long families took part
    same = np.diff(person) == 0
    assert np.corrcoef(visits[1:][same], visits[:-1][same])[0, 1] > 0.5
    assert np.corrcoef(visits[1:][~same], visits[:-1][~same])[0, 1] < 0.2


def test_the_check_of_doctor_visits():
    module = example("doctor_visits")
    visits, person = np.array([0, 3, 0, 0, 5, 1]), np.array([0, 0, 1, 1, 1, 2])
    found = module.statistics(np.stack([visits, np.zeros(6, int)]), person)
    assert found["years without a visit, %"].tolist() == [50, 100]
    assert found["persons without a visit, %"].tolist() == [0, 100]
    np.testing.assert_allclose(found["standard deviation of a person's visits"], [np.std([3, 5, 1]), 0])
    assert found["most visits in a year"].tolist() == [5, 0]


def test_boreholes():
    """The flow of both examples is that of Morris, Mitchell & Ylvisaker (1993), whose other inputs are in the middle."""
    unit = np.full((20, 8), 0.5)
    unit[:, [0, 3, 5, 6, 7]] = np.random.default_rng(5).random((20, 5))
    low, high = np.array([(0.05, 0.15), (990, 1110), (700, 820), (1120, 1680), (9855, 12045)]).T
    radius, head, lower, length, conductivity = (low + unit[:, [0, 3, 5, 6, 7]] * (high - low)).T
    want = borehole(unit)
    got = example("calibration").flow(np.c_[radius, head, length, lower, conductivity])
    np.testing.assert_allclose(got, want, rtol=1e-12)
    module = example("constrained_optimisation")
    unit[:, 5] = 0.5
    np.testing.assert_allclose(module.flow(np.c_[radius, head, length, conductivity]), borehole(unit), rtol=1e-12)
    assert 2.518 < module.cheapest() < 2.52


def test_the_posterior_of_fertility_curves():
    module, rng, n = example("fertility_curves"), np.random.default_rng(7), 5
    births, q = rng.normal(4, 1, (n, module.SEEN)), rng.normal(scale=0.5, size=(2, 4 * n + 9))
    density = module.log_posterior(births)
    value, gradient = density(q)
    curve, mean, log_spread, log_sigma = np.split(q, [4 * n, 4 * n + 4, 4 * n + 8], axis=1)
    curve = curve.reshape(2, n, 4)
    seen = stats.norm.logpdf(births, module.decline(curve, module.YEARS[: module.SEEN]), np.exp(log_sigma)[:, None])
    prior = stats.norm.logpdf(curve, mean[:, None], np.exp(log_spread)[:, None])
    np.testing.assert_allclose(value, seen.sum((1, 2)) + prior.sum((1, 2)) + log_spread.sum(1), rtol=1e-12)
    above, below = (density(q[:, None] + h * np.eye(q.shape[1]))[0] for h in (1e-5, -1e-5))
    np.testing.assert_allclose(gradient, (above - below) / 2e-5, rtol=1e-5, atol=1e-5 * np.abs(gradient).max())


def test_the_sampler_of_fertility_curves():
    module, sd = example("fertility_curves"), np.array([0.5, 1.0, 4.0])
    draws = module.hmc(
        lambda q: (-((q / sd) ** 2).sum(-1) / 2, -q / sd**2), np.zeros((50, 3)), 0.12 * sd, 100, np.random.default_rng(8)
    )  # fmt: skip
    for k in range(3):
        assert stats.kstest(draws[20::10, :, k].ravel(), stats.norm(0, sd[k]).cdf).pvalue > 1e-3


@THOROUGH
def test_the_mixture_recovers_its_components():
    module, rng = example("mixture_gibbs"), np.random.default_rng(2)
    n, shares = 3000, [0.5, 0.3, 0.15, 0.05]
    mu = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 3.0], [0.0, 7.0, -3.0], [-6.0, -6.0, 0.0]])
    truth = rng.choice(4, n, p=shares)
    root = rng.normal(size=(4, 3, 3)) / 3 + np.eye(3)
    x = (mu[truth] + np.einsum("nij,nj->ni", root[truth], rng.normal(size=(n, 3)))).astype(np.float32)
    prior = module.Prior.of(x, within=0.05)
    fit, again = (module.gibbs(x, prior, n_components=10, sweeps=sweeps, seed=3) for sweeps in (300, 60))
    assert module.adjusted_rand_score(truth, fit.labels) > 0.95
    assert module.f_measures(truth, fit.labels).min() > 0.9
    largest = np.argsort(-fit.draws[-1].log_weights)[:4]
    now = module.Components(*(a[largest] for a in fit.draws[-1]))
    for k in range(4):
        own, covariance = x[truth == k], now.scale_tril[k] @ now.scale_tril[k].T
        np.testing.assert_allclose(np.exp(now.log_weights[k]), len(own) / n, atol=0.05)
        np.testing.assert_allclose(now.mu[k], own.mean(0), atol=5 * own.std(0).max() / len(own) ** 0.5)
        np.testing.assert_allclose(covariance, np.cov(own.T), atol=8 * own.var(0).max() / len(own) ** 0.5)
    np.testing.assert_array_equal(fit.counts[:60], again.counts)
    np.testing.assert_array_equal(fit.loglik[:60], again.loglik)
    # Held-out density: with the true one as the best that there is.
    new = rng.choice(4, 2000, p=shares)
    test = mu[new] + np.einsum("nij,nj->ni", root[new], rng.normal(size=(2000, 3)))
    table = [stats.multivariate_normal.logpdf(test, mu[k], root[k] @ root[k].T) + np.log(shares[k]) for k in range(4)]
    best = special.logsumexp(table, axis=0).mean()
    assert best - 0.05 < module.log_predictive(test.astype(np.float32), fit.draws) < best + 0.02


def test_the_host_draws_of_the_mixture_have_their_distributions():
    module, rng = example("mixture_gibbs"), np.random.default_rng(4)
    d, k = 3, 20_000
    own = rng.normal(size=(40, d)) @ rng.normal(size=(d, d)) + 5
    scatter = (own - own.mean(0)).T @ (own - own.mean(0))
    prior = module.Prior(center=np.ones(d), kappa=0.5, nu=d + 4.0, scale=np.diag([1.0, 2.0, 3.0]))
    mu, factors = prior.draw_components(
        rng, np.full(k, 40), np.tile(own.mean(0), (k, 1)), np.tile(scatter, (k, 1, 1))
    )  # fmt: skip
    # The conjugate update (Murphy, 2007): of scale, by the sum of squares about the origin.
    kappa, nu = 40.5, d + 44.0
    center = (0.5 * prior.center + own.sum(0)) / kappa
    scale = prior.scale + own.T @ own + 0.5 * np.outer(prior.center, prior.center) - kappa * np.outer(center, center)
    covariances = factors @ factors.swapaxes(1, 2)
    reference = stats.invwishart(nu, scale).rvs(k, random_state=5)
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 2)):
        assert stats.ks_2samp(covariances[:, i, j], reference[:, i, j]).pvalue > 1e-3
    assert np.all(np.triu(factors, 1) == 0)
    z = (mu - center) * np.sqrt(kappa * (nu - d + 1) / np.diag(scale))
    for i in range(d):
        assert stats.kstest(z[:, i], stats.t(nu - d + 1).cdf).pvalue > 1e-3

    count, alpha = np.array([5, 0, 20, 0]), 0.7
    draws = [prior.draw_weights(rng, count, alpha) for _ in range(5000)]
    log_weights, alphas = np.array([w for w, _ in draws]), np.array([a for _, a in draws])
    np.testing.assert_allclose(special.logsumexp(log_weights, axis=1), 0, atol=1e-9)
    assert stats.kstest(np.exp(log_weights[:, 0]), stats.beta(6, alpha + 20).cdf).pvalue > 1e-3
    second = np.exp(log_weights[:, 1]) / -np.expm1(log_weights[:, 0])
    assert stats.kstest(second, stats.beta(1, alpha + 20).cdf).pvalue > 1e-3
    rate = 1 - log_weights[:, -1]  # minus the logarithms of what each piece leaves
    assert stats.kstest(alphas * rate, stats.gamma(1 + 3).cdf).pvalue > 1e-3


@THOROUGH
def test_the_mixture_of_wines_predicts_as_well_as_the_variational_one(tmp_path, capsys):
    example("mixture_gibbs").main(["--real", "--sweeps", "200", "--out", str(tmp_path / "picture.png")])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("adjusted", "log-density"))]
    numbers = [line.split()[-2:] for line in lines]
    (agreement, _), (ours, theirs) = ([float(n) for n in pair] for pair in numbers)
    assert agreement > 0.5
    assert ours > theirs - 0.1
