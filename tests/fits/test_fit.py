"""`Density.fit`: estimates, standard errors and searches that fail, against SciPy, statsmodels and closed forms."""

import copy
import pickle

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize, special, stats
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.fits import fit as fit_module
from gpustats.runtime import choose

#: Density, its parameters, SciPy's distribution, what SciPy holds fixed, and SciPy's estimates in our parametrisation.
PEERS = {
    "normal": ((-3.0, 0.1), stats.norm, {}, lambda m, s: (m, s)),
    "gamma": ((2.5, 1.5), stats.gamma, dict(floc=0), lambda a, _, s: (a, 1 / s)),
    "beta": ((2.0, 0.7), stats.beta, dict(floc=0, fscale=1), lambda a, b, *_: (a, b)),
    "weibull": ((0.8, 100.0), stats.weibull_min, dict(floc=0), lambda c, _, s: (c, s)),
    "log_normal": ((3.0, 0.5), stats.lognorm, dict(floc=0), lambda s, _, m: (np.log(m), s)),
    "gumbel": ((-3.0, 2.0), stats.gumbel_r, {}, lambda m, b: (m, b)),
    "cauchy": ((3.0, 20.0), stats.cauchy, {}, lambda m, b: (m, b)),
    "student_t": ((4.0, 100.0, 3.0), stats.t, {}, lambda n, m, s: (n, m, s)),
    "wald": ((2.0, 5.0), stats.invgauss, dict(floc=0), lambda m, _, s: (m * s, s)),
    "laplace": ((10.0, 0.3), stats.laplace, {}, lambda m, b: (m, b)),
    "pareto": ((1.2, 0.01), stats.pareto, dict(floc=0), lambda a, _, m: (a, m)),
    "uniform": ((-3.0, 1.0), stats.uniform, {}, lambda a, w: (a, a + w)),
}


@pytest.mark.parametrize("name", some(PEERS))
def test_estimates_are_scipys(name):
    """Each data set has a likelihood at least that of SciPy's estimates, and these estimates where SciPy has found them."""
    parameters, peer, known, ours = PEERS[name]
    density = gs.densities[name]
    x = density.rvs(*parameters, size=(4, 151), rng=5)
    fit = density.fit(x)
    assert fit.converged.all() and fit.free == density.parameters
    for g in range(len(x)):
        want = ours(*peer.fit(x[g], **known))
        more = fit.log_likelihood[g] - density.loglik(x[g], *want)
        assert more >= -1e-9 * abs(fit.log_likelihood[g])
        if more > 1e-4:  # SciPy has not found the maximum
            continue
        errors = np.array([fit.standard_errors[n][g] for n in density.parameters])
        distance = np.abs(np.array([v[g] for v in fit]) - want)
        assert (distance <= np.where(np.isnan(errors), 1e-9, 0.01 * errors)).all(), (list(fit), want)
        np.testing.assert_allclose(fit.log_likelihood[g], density.loglik(x[g], *(v[g] for v in fit)), rtol=1e-12)


def test_standard_errors_are_statsmodels():
    x = gs.negative_binomial.rvs(5.0, 2.0, size=500, rng=1)
    want = sm.NegativeBinomial(x, np.ones(500)).fit(disp=0, method="newton", tol=1e-12, maxiter=200)
    fit = gs.negative_binomial_log.fit(x)
    eta, dispersion = want.params
    np.testing.assert_allclose([fit["eta"], 1 / fit["phi"]], [eta, dispersion], rtol=1e-7)
    errors = [fit.standard_errors["eta"], fit.standard_errors["phi"] / fit["phi"] ** 2]
    np.testing.assert_allclose(errors, want.bse, rtol=1e-5)
    np.testing.assert_allclose([fit.log_likelihood, fit.aic, fit.bic], [want.llf, want.aic, want.bic], rtol=1e-9)
    assert fit.n_observations == 500


def test_the_covariance_is_the_inverse_of_the_observed_information():
    x = gs.gamma.rvs(2.5, 1.5, size=300, rng=2)
    fit = gs.gamma.fit(x)
    information = -gs.Likelihood(gs.gamma, x).hessian(*fit)
    np.testing.assert_allclose(fit.covariance, np.linalg.inv(information), rtol=1e-9)
    np.testing.assert_allclose(list(fit.standard_errors.values()), np.sqrt(np.diag(fit.covariance)), rtol=1e-12)


def test_one_data_set_is_fitted_as_among_many():
    x = gs.gamma.rvs(2.5, 1.5, size=(2, 5, 40), rng=3)
    fit = gs.gamma.fit(x)
    assert fit["alpha"].shape == (2, 5) and fit.covariance.shape == (2, 5, 2, 2) and fit.message.shape == (2, 5)
    one = gs.gamma.fit(x[1, 3])
    assert type(one["alpha"]) is float and type(one.converged) is bool and one.message == "converged"
    np.testing.assert_allclose([v[1, 3] for v in fit], list(one), rtol=1e-12)
    np.testing.assert_allclose(fit.covariance[1, 3], one.covariance, rtol=1e-10)


def test_estimates_are_unpacked_shown_and_copied():
    x = [1.0, 2.0, 4.0]
    mu, sigma = fit = gs.normal.fit(x)
    np.testing.assert_allclose([mu, sigma], stats.norm.fit(x), rtol=1e-12)
    assert len(fit) == 2 and fit["mu"] == mu
    assert (
        repr(fit)
        == "<estimates of normal: mu=2.33333 ± 0.72, sigma=1.24722 ± 0.51; log-likelihood -4.91956; converged>"
    )
    assert repr(gs.normal.fit([x, x])) == "<estimates of mu, sigma of normal for 2 data sets, 2 of them converged>"
    assert pickle.loads(pickle.dumps(fit)).parameters == copy.copy(fit).parameters == fit.parameters


def test_known_parameters_and_starts(rng):
    x = gs.student_t.rvs(4.0, 1.0, 2.0, size=400, rng=4)
    nu, mu, sigma = stats.t.fit(x, f0=4.0)
    fit = gs.student_t.fit(x, fixed={"nu": 4.0}, start={"mu": 30.0, "sigma": 0.1})
    assert fit.free == ("mu", "sigma") and fit["nu"] == 4.0 and fit.covariance.shape == (2, 2)
    np.testing.assert_allclose(list(fit), [nu, mu, sigma], rtol=1e-4)
    trials = rng.integers(1, 30, 200)
    successes = rng.binomial(trials, 0.3)
    fit = gs.binomial.fit(successes, fixed={"n": trials})
    share = successes.sum() / trials.sum()
    np.testing.assert_allclose(fit["p"], share, rtol=1e-12)
    np.testing.assert_allclose(fit.standard_errors["p"], np.sqrt(share * (1 - share) / trials.sum()), rtol=1e-9)
    shared = gs.normal.fit(np.stack([x, x + 1]), fixed={"mu": np.array([[1.0], [2.0]])})  # one for each data set
    np.testing.assert_allclose(shared["sigma"], np.sqrt(np.mean((x - 1) ** 2)), rtol=1e-12)


def test_weights_are_frequencies(rng):
    x, weights = gs.gamma.rvs(2.5, 1.5, size=60, rng=6), rng.integers(0, 4, 60)
    fit, want = gs.gamma.fit(x, weights=weights), gs.gamma.fit(np.repeat(x, weights))
    np.testing.assert_allclose(list(fit), list(want), rtol=1e-10)
    np.testing.assert_allclose(fit.covariance, want.covariance, rtol=1e-7)
    assert fit.n_observations == want.n_observations == weights.sum()
    fit, want = (
        gs.laplace.fit(x, weights=weights),
        gs.laplace.fit(np.repeat(x, weights)),
    )  # with the covariance of scores
    np.testing.assert_allclose(list(fit.standard_errors.values()), list(want.standard_errors.values()), rtol=0.1)
    np.testing.assert_allclose(gs.uniform.fit(x, weights=(x < 2.0))["upper"], x[x < 2.0].max(), rtol=0)


@THOROUGH
def test_data_sets_of_several_lengths(rng):
    sizes = [200, 3, 31, 33, 64, 5, 150]
    parts = [
        gs.negative_binomial.rvs(5.0, 2.0, size=n, rng=i) + (n < 10) * np.arange(n) ** 2 for i, n in enumerate(sizes)
    ]
    fit = gs.negative_binomial.fit(parts)
    each = [gs.negative_binomial.fit(part) for part in parts]
    for name in ("mu", "alpha"):
        np.testing.assert_allclose(fit[name], [one[name] for one in each], rtol=1e-7)
        np.testing.assert_allclose(fit.standard_errors[name], [one.standard_errors[name] for one in each], rtol=1e-6)
    assert fit.n_observations.tolist() == sizes and fit.groups is None
    order = rng.permutation(sum(sizes))
    labels = np.repeat(["g", "f", "e", "d", "c", "b", "a"], sizes)[order]
    grouped = gs.negative_binomial.fit(np.concatenate(parts)[order], groups=labels)
    assert grouped.groups.tolist() == ["a", "b", "c", "d", "e", "f", "g"]
    np.testing.assert_allclose(grouped["mu"][::-1], fit["mu"], rtol=1e-9)
    np.testing.assert_allclose(grouped.log_likelihood[::-1], fit.log_likelihood, rtol=1e-12)
    weighted = gs.negative_binomial.fit(parts, weights=[2.0 * np.ones(n) for n in sizes])
    np.testing.assert_allclose(weighted.log_likelihood, 2 * fit.log_likelihood, rtol=1e-9)


OWN = """
// lomax2: Pareto distribution of the second kind
// x: nonnegative    shape: positive    scale: positive
real lomax2_logpdf(real x, real shape, real scale)
{ return log(shape / scale) - (shape + 1) * log1p(x / scale); }
"""


def test_densities_of_users_and_of_transforms():
    density = gs.register(OWN, replace=True)
    x = stats.lomax.rvs(3.0, scale=2.0, size=2000, random_state=np.random.default_rng(7))
    shape, _, scale = stats.lomax.fit(x, floc=0)
    fit = density.fit(x)
    assert density.loglik(x, *fit) >= density.loglik(x, shape, scale) - 1e-9
    np.testing.assert_allclose(list(fit), [shape, scale], rtol=1e-2)
    y = gs.normal.rvs(0.5, 1.0, size=3000, rng=8)
    y = y[y > 0]
    truncated = gs.transforms.Truncate(gs.normal, lower=0.0)
    fit = truncated.fit(y)
    assert fit.free == ("mu", "sigma") and fit["lower"] == 0.0
    slopes = gs.Likelihood(truncated, y).value_and_grad(*fit, wrt=("mu", "sigma"))[1]
    assert max(map(abs, slopes.values())) < 1e-6
    shifted = gs.transforms.LocScale(gs.exponential).fit(y, fixed={"lam": 1.0})
    np.testing.assert_allclose([shifted["loc"], shifted["scale"]], [y.min(), y.mean() - y.min()], rtol=1e-12)


def test_ends_of_the_support():
    x = gs.discrete_uniform.rvs(-3, 12, size=(50, 30), rng=9)
    fit = gs.discrete_uniform.fit(x)
    np.testing.assert_array_equal([fit["lower"], fit["upper"]], [x.min(1), x.max(1)])
    assert fit.converged.all() and np.isnan(fit.standard_errors["lower"]).all()
    np.testing.assert_allclose(fit.log_likelihood, -30 * np.log(np.ptp(x, axis=1) + 1))
    fit = gs.uniform.fit(x[0], fixed={"lower": -10.0})
    assert (fit["lower"], fit["upper"], fit.free) == (-10.0, x[0].max(), ("upper",))


@THOROUGH
def test_a_search_that_finds_no_maximum_says_so(rng):
    steady = rng.binomial(20, 0.5, size=(3, 80))  # varies less than Poisson counts
    fit = gs.negative_binomial.fit(steady)
    assert not fit.converged.any() and np.isnan(fit.covariance).all()
    assert all("towards the end of a parameter's domain" in m for m in fit.message)
    np.testing.assert_allclose(fit["mu"], steady.mean(1), rtol=1e-6)
    few = gs.gamma.fit(gs.gamma.rvs(2.5, 1.5, size=100, rng=1), start={"alpha": 1e4}, max_iterations=2)
    assert not few.converged and "max_iterations" in few.message and few.n_iterations == 2
    shifted = gs.transforms.LocScale(gs.gamma).fit(gs.gamma.rvs(0.5, 1.0, size=50, rng=2) + 3, fixed={"scale": 1.0})
    assert (
        not shifted.converged and "leaves the support" in shifted.message
    )  # it is unbounded at the smallest observation


def test_one_bad_data_set_does_not_harm_the_others():
    x = gs.gamma.rvs(2.5, 1.5, size=(4, 50), rng=1)
    x[1, 7], x[2, 3] = -1.0, np.nan
    fit = gs.gamma.fit(x)
    assert fit.converged.tolist() == [True, False, False, True]
    assert np.isnan(fit["alpha"]).tolist() == [False, True, True, False]
    assert "no starting values" in fit.message[1]
    np.testing.assert_allclose(fit["alpha"][3], gs.gamma.fit(x[3])["alpha"], rtol=1e-9)


@pytest.mark.parametrize("kind", some(["rows", "lists", "groups", "ends", "kinks", "far from the sample"], 2))
def test_several_devices_find_the_same_bits(kind, rng, monkeypatch):
    x, density, options = rng.gamma(2.5, 1.5, (40, 30)), gs.gamma, {}
    if kind == "rows":
        options = dict(weights=rng.integers(0, 3, (40, 30)), start={"beta": rng.uniform(0.5, 2, 40)})
    elif kind == "lists":
        x = [x[0, :10], x[1], x[2, :3], *x[3:]]
    elif kind == "groups":
        x, options = x.ravel(), dict(groups=rng.integers(0, 25, x.size))
    elif kind == "ends":
        density = gs.uniform
    elif kind == "kinks":
        density = gs.laplace
    else:  # observation 1 of 200 is in no sample, and has no likelihood where the search begins
        density, x, options = gs.generalized_pareto, rng.gamma(2.5, 1.5, (40, 200)), dict(fixed={"mu": 0.0}, start={"xi": -0.5})
        x[::3, 1] = 400.0
    handed_out, searched = [], fit_module._searched
    monkeypatch.setattr(fit_module, "_searched", lambda *job: handed_out.append(job[1:3]) or searched(*job))
    monkeypatch.setattr(fit_module, "FEWEST_DATA_SETS", 7)
    one, several = (density.fit(x, **options, devices=[choose.get()] * n) for n in (1, 3))
    assert {end - first for first, end in handed_out} > {7}  # and what is left
    for name in ("covariance", "log_likelihood", "n_observations", "n_iterations", "message"):
        np.testing.assert_array_equal(getattr(several, name), getattr(one, name), err_msg=name)
    whole = density.fit(x, **options)
    np.testing.assert_array_equal(several.message, whole.message)
    rtol = 1e-4 if kind == "far from the sample" else 1e-9  # of searches that do not converge
    for name in one.free:
        np.testing.assert_array_equal(several[name], one[name])
        np.testing.assert_allclose(several[name], whole[name], rtol=rtol)


def test_devices_of_other_layouts_agree(like_a_gpu, monkeypatch):
    x = gs.gamma.rvs(2.5, 1.5, size=(20, 30), rng=1)
    want = gs.gamma.fit(x)
    monkeypatch.setattr(fit_module, "FEWEST_DATA_SETS", 4)
    found = gs.gamma.fit(x, devices=[choose.get(), like_a_gpu])
    np.testing.assert_allclose(list(found), list(want), rtol=1e-9)
    assert gs.gamma.fit(x[0], devices="all")["alpha"] == pytest.approx(want["alpha"][0], rel=1e-9)
    with pytest.raises(ValueError, match="x is on a device already, and not divided: pass NumPy arrays"):
        gs.gamma.fit(gs.to_device(x), devices="all")
    with pytest.raises(ValueError, match="devices is empty"):
        gs.gamma.fit(x, devices=[])


def test_types_and_places_of_data():
    x = gs.gamma.rvs(2.5, 1.5, size=(3, 700), rng=1).astype(np.float32)
    want = gs.gamma.fit(x.astype(float))
    for given in (x, gs.to_device(x), gs.to_device(x.astype(float)), x.tolist(), tuple(x), np.asfortranarray(x)):
        np.testing.assert_allclose(gs.gamma.fit(given)["alpha"], want["alpha"], rtol=1e-9)
    device = gs.gamma.fit(gs.to_device(x[0]), weights=np.ones(700))
    np.testing.assert_allclose(device["alpha"], want["alpha"][0], rtol=1e-9)
    assert type(device["alpha"]) is float


@pytest.mark.parametrize(
    "density, x, options, message",
    [
        ("gamma", [1.0, -2.0], {}, "no values of alpha, beta .*must be nonnegative, and -2 is not"),
        ("gamma", [1.0, np.nan], {}, "a nan in x"),
        ("gamma", [], {}, r"x has shape \(0,\): there are no observations"),
        ("gamma", 3.0, {}, "x is one number"),
        (
            "gamma",
            [1.0, 2.0],
            dict(fixed={"k": 1.0}),
            "fixed: gamma has no parameter 'k'; its parameters are alpha, beta",
        ),
        ("gamma", [1.0, 2.0], dict(start={"a": 1.0}), "start: gamma has no parameter 'a'"),
        ("gamma", [1.0, 2.0], dict(start={"beta": 1.0}, fixed={"beta": 1.0}), "beta is fixed, so it has no start"),
        ("gamma", [1.0, 2.0], dict(start={"beta": [1.0, 2.0]}), r"start of beta has shape \(2,\)"),
        ("gamma", [1.0, 2.0], dict(fixed={"alpha": 1.0, "beta": 1.0}), "nothing to fit"),
        ("gamma", [1.0, 2.0], dict(weights=[1.0, 2.0, 3.0]), r"weights has shape \(3,\), .* x, \(2,\)"),
        ("gamma", [1.0, 2.0], dict(weights=[1.0, -1.0]), "weights must be finite and not negative"),
        ("gamma", [[1.0], [2.0]], dict(weights=[[1.0], [0.0]]), "weights of data set 1 are all 0"),
        ("gamma", [1.0, 2.0], dict(groups=[1, 1, 2]), r"groups has shape \(3,\), x has \(2,\)"),
        ("gamma", [1.0, 2.0], dict(lower=[1.0, 2.0]), "x, or lower and upper"),
        ("gamma", None, {}, "fit takes observations x"),
        ("normal", None, dict(lower=[1.0, 2.0], upper=[2.0, 1.0]), "lower must not lie above upper"),
        ("gamma", [[1.0, 2.0], [1.0], []], {}, r"x\[2\] is empty"),
        ("gamma", [], dict(groups=[]), "x is empty"),
        ("normal", [1.0, np.inf], {}, "an infinite number in x"),
        ("gamma", [1.0, 2.0], dict(start={"alpha": -1.0}), "start: alpha must be positive, and -1 is not"),
        ("gamma", [1.0, 2.0], dict(start={"alpha": np.inf}), "start: alpha must be positive, and inf is not"),
        ("gamma", [1.0, 2.0], dict(start={"alpha": "one"}), "start of alpha must be a number, .* not 'one'"),
        ("gamma", [1.0, 2.0], dict(start=[1.0, 2.0]), r"start must be a dict .* such as {'alpha': 1.0}"),
        ("gamma", [1.0, 2.0], dict(fixed={"beta": [1.0, np.nan]}), "fixed: beta must be positive, and nan is not"),
        ("binomial", [1.0, 2.0], dict(fixed={"n": 2.5}), "fixed: n must be nonnegative integer, and 2.5 is not"),
        ("gamma", [1.0, 2.0], dict(max_iterations=1.5), "max_iterations must be a whole number"),
        ("weibull", None, dict(lower=[-3.0, 1.0], upper=[-1.0, 2.0]), "must be nonnegative, and nothing between -3 and -1 is"),
        ("kumaraswamy", None, dict(lower=[0.5, 1.5], upper=[0.7, 2.0]), "nothing between 1.5 and 2 is"),
        ("weibull", None, dict(lower=[-np.inf], upper=[np.inf]), "no interval has a finite end"),
        ("binomial", [1.0, 2.0], {}, r"n of binomial takes whole numbers only: give it, fixed={'n': …}"),
        ("dirichlet", [[0.5, 0.5]], {}, "x, a of dirichlet is a vector"),
        ("mvnormal", [[0.5, 0.5]], {}, "x, mu, cov of mvnormal is a vector"),
    ],
)
def test_what_is_wrong_is_said(density, x, options, message):
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=message):
        gs.densities[density].fit(x, **options)


@pytest.mark.parametrize("name, x", [("normal", [2.0]), ("gamma", [2.0, 2.0, 2.0]), ("uniform", [2, 2])])
def test_observations_that_are_equal(name, x):
    fit = gs.densities[name].fit(x)
    assert not fit.converged and "all of them are equal" in fit.message


def test_starts_are_found_where_few_parameters_have_a_likelihood():
    """The outermost of many observations decide, which samples of them rarely have."""
    x = gs.triangular.rvs(lower=-1.0, c=0.5, upper=3.0, size=20_000, rng=3)
    fit = gs.triangular.fit(x, fixed={"c": 0.5})
    assert fit.converged and fit.log_likelihood >= gs.triangular.loglik(x, lower=-1.0, c=0.5, upper=3.0)


@pytest.mark.parametrize("name, size", [pytest.param("double_gamma", 100, marks=THOROUGH), ("double_weibull", 60)])
def test_the_best_of_many_maxima_is_found(name, size):
    """Such a likelihood has a maximum between any two observations near its middle."""
    density = gs.densities[name]
    x = np.stack([density.rvs(2.0, 0.0, 1.0, size=size, rng=i) for i in range(6)])
    fit = density.fit(x)
    assert fit.converged.all()
    for start in np.linspace(-0.5, 0.5, 9):
        other = density.fit(x, start=dict(zip(density.parameters, (2.0, start, 1.0), strict=True)))
        assert (fit.log_likelihood >= other.log_likelihood - 1e-7).all()


def test_a_fit_does_not_end_at_a_saddle():
    """The likelihood is symmetric in beta and n, and its maximum rarely lies where both are equal."""
    x = np.stack([gs.beta_negative_binomial.rvs(3.0, 2.0, 5.0, size=300, rng=i) for i in range(4)])
    fit, other = gs.beta_negative_binomial.fit(x), gs.beta_negative_binomial.fit(x, start=dict(alpha=3.0, beta=1.5, n=6.0))
    assert fit.converged.all() and (abs(fit["beta"] / fit["n"] - 1) > 0.1).any()
    np.testing.assert_allclose(fit.log_likelihood, other.log_likelihood, rtol=1e-10)


def test_the_log_likelihood_is_that_at_the_estimates():
    """Of log(c / 2) - log(x) - c * abs(log(x / sigma)) the maximum lies at the median, a kink."""
    x = np.stack([gs.log_laplace.rvs(1.3, 2.0, size=60, rng=i) for i in range(100, 110)])
    fit = gs.log_laplace.fit(x)
    y, middle = np.log(x), np.median(np.log(x), axis=-1)
    c = 1 / np.mean(abs(y - middle[:, None]), axis=-1)
    assert fit.converged.all()
    np.testing.assert_allclose(fit["c"], c, rtol=1e-7)
    np.testing.assert_allclose(fit.log_likelihood, 60 * (np.log(c / 2) - 1) - y.sum(-1), rtol=1e-9)
    there = [gs.log_laplace.loglik(*row) for row in zip(x, *fit, strict=True)]
    np.testing.assert_allclose(there, fit.log_likelihood, rtol=1e-12)


def test_a_search_goes_on_beside_a_cusp():
    """With mu at an observation, where the likelihood has a cusp, sigma is a formula of beta, which is sought alone."""
    def log_likelihood(beta, distances):
        sigma = (beta * np.mean(distances**beta)) ** (1 / beta)
        return len(distances) * (np.log(beta / (2 * sigma)) - special.gammaln(1 / beta) - 1 / beta)

    for seed in (2, 5):
        x = stats.gennorm.rvs(0.9, 2, 3, size=60, random_state=np.random.default_rng(seed))
        fit = gs.generalized_normal.fit(x)
        distances = abs(x - fit["mu"])
        best = optimize.minimize_scalar(lambda b, d: -log_likelihood(b, d), (0.5, 0.8, 1.2), args=(distances,), tol=1e-10)
        assert fit.converged and fit.log_likelihood == pytest.approx(-best.fun, rel=1e-9)


def test_a_likelihood_without_a_maximum_along_a_ridge_is_named():
    """With alpha the density comes to that of a Gumbel distribution, mu + sigma log(alpha) being its place."""
    x = gs.generalized_logistic.rvs(5.0, 0.0, 1.0, size=60, rng=0)
    for most in (22, 200):  # steps, with which the search is on its way, or at its end
        fit = gs.generalized_logistic.fit(x, max_iterations=most)
        assert not fit.converged and "towards the end of a parameter's domain" in fit.message
    assert "more steps are needed" in gs.generalized_logistic.fit(x, max_iterations=3).message


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("skew_cauchy", (0.3, 0.0, 1.0)), ("double_weibull", (2.0, 0.0, 1.0)),
        pytest.param("double_gamma", (2.0, 0.0, 1.0), marks=THOROUGH),
    ],
)  # fmt: skip
def test_units_do_not_matter(name, parameters):
    density = gs.densities[name]
    x = density.rvs(*parameters, size=80, rng=1)
    shape, mu, sigma = density.fit(x)
    for scale, shift in ((1e-8, 0.0), (1e6, 0.0), (1e8, 0.0), (1.0, 1e6)):
        fit = density.fit(shift + scale * x)
        assert fit.converged
        rtol = 1e-7 if not shift else 1e-6
        np.testing.assert_allclose(list(fit), [shape, shift + scale * mu, scale * sigma], rtol=rtol)


def test_observations_of_weight_0_count_nothing_whatever_they_are():
    want = gs.gamma.fit([1.0, 2.0, 4.0])
    fit = gs.gamma.fit([np.nan, 1.0, 2.0, -3.0, 4.0, np.inf], weights=[0, 1, 1, 0, 1, 0])
    np.testing.assert_allclose([*fit, fit.log_likelihood, fit.n_observations], [*want, want.log_likelihood, 3], rtol=1e-10)


def test_a_file_is_read_in_pieces(tmp_path):
    """Estimates and errors of a file are SciPy's, and those of the data in memory; known numbers and weights of each row."""
    x = gs.gamma.rvs(2.5, 1.5, size=20_000, rng=3)
    np.save(tmp_path / "x.npy", x)
    fit = gs.gamma.fit(np.load(tmp_path / "x.npy", mmap_mode="r"), memory=40_000)
    alpha, _, scale = stats.gamma.fit(x, floc=0)
    np.testing.assert_allclose(fit.estimates, [alpha, 1 / scale], rtol=1e-4)
    whole = gs.gamma.fit(x)
    np.testing.assert_allclose([*fit.estimates, *fit.errors], [*whole.estimates, *whole.errors], rtol=1e-8)
    again = pickle.loads(pickle.dumps(fit)).interval(method="profile")["alpha"]
    np.testing.assert_allclose(again, gs.Likelihood(gs.gamma, x).fit().interval(method="profile")["alpha"], rtol=1e-8)
    assert "pieces" in repr(fit.fitted.objective.problem.data) and fit.n_observations == 20_000
    n = np.random.default_rng(0).integers(3, 9, 5000)
    y, w = np.random.default_rng(1).binomial(n, 0.3), np.arange(5000) % 3
    fit = gs.binomial.fit(y, fixed={"n": n}, weights=w, memory=40_000)
    np.testing.assert_allclose(fit["p"], (w * y).sum() / (w * n).sum(), rtol=1e-10)
    for density, given, error, words in (
        (gs.uniform, {}, NotImplementedError, "lower of uniform is an end of the support"),
        (gs.normal, {"groups": w}, ValueError, "memory is for one data set"),
        (gs.mvnormal, {}, NotImplementedError, "is a vector"),
        (gs.normal, {"weights": w}, ValueError, r"weights of observations has shape \(5000,\)"),
    ):
        with pytest.raises(error, match=words):
            density.fit(x, memory=40_000, **given)
    with pytest.raises(NotImplementedError, match="gpustats.Likelihood"):
        fit.robust()
    with pytest.raises(ValueError, match=r"x has shape \(2, 10000\).*one data set"):
        gs.gamma.fit(x.reshape(2, -1), memory=40_000)
