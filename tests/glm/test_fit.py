"""Fits of GLMs, beside statsmodels: families and links, errors, tests, predictions, groups, pieces, fits that do not exist."""

import dataclasses
import pickle

import numpy as np
import pytest

import gpustats as gs

sm = pytest.importorskip("statsmodels.api")
F, L = sm.families, sm.families.links
N, K = 700, 3


def data(rng, offset=False):
    X = rng.normal(size=(N, K))
    shift = rng.normal(size=N) / 3 if offset else None
    return X, X @ [0.5, -0.4, 0.2] + 0.3 + (0 if shift is None else shift), shift


FAMILIES = {
    "bernoulli_logit": (lambda rng, e: rng.binomial(1, 1 / (1 + np.exp(-e))), F.Binomial()),
    "bernoulli_probit": (lambda rng, e: (e + rng.normal(size=N) > 0) * 1.0, F.Binomial(L.Probit())),
    "bernoulli_cloglog": (lambda rng, e: rng.binomial(1, -np.expm1(-np.exp(e))), F.Binomial(L.CLogLog())),
    "poisson_log": (lambda rng, e: rng.poisson(np.exp(e + 3)), F.Poisson()),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_families_and_links(name):
    """Estimates, errors by information, HC0 and clusters, log-likelihood, criteria, and a likelihood ratio."""
    rng = np.random.default_rng(list(FAMILIES).index(name))
    X, eta, shift = data(rng, offset=True)
    draw, family = FAMILIES[name]
    y, clusters = draw(rng, eta).astype(float), rng.integers(0, 30, N)
    fit = gs.GLM(gs.densities[name], y, X, offset=shift).fit()
    model = sm.GLM(y, np.c_[X, np.ones(N)], family=family, offset=shift)
    theirs = model.fit(method="newton", tol=1e-14)
    hessian = model.hessian(theirs.params)
    np.testing.assert_allclose(fit.estimates, theirs.params, rtol=1e-9)
    np.testing.assert_allclose(fit.covariance, -np.linalg.inv(hessian), rtol=1e-8)
    np.testing.assert_allclose([fit.log_likelihood, fit.aic], [theirs.llf, theirs.aic], rtol=1e-12)
    np.testing.assert_allclose(fit.bic, theirs.bic_llf, rtol=1e-12)
    assert fit.converged and fit.labels == ("beta[0]", "beta[1]", "beta[2]", "alpha")
    scores = model.score_obs(theirs.params)
    bread = -np.linalg.inv(hessian)
    np.testing.assert_allclose(fit.robust().covariance, bread @ scores.T @ scores @ bread, rtol=1e-7)
    sums = np.array([scores[clusters == g].sum(0) for g in range(30)])
    wanted = bread @ sums.T @ sums @ bread
    np.testing.assert_allclose(fit.clustered(clusters, correction=False).covariance, wanted, rtol=1e-7)
    corrected = fit.clustered(clusters.astype(str).tolist()).covariance
    np.testing.assert_allclose(corrected, wanted * 30 / 29 * (N - 1) / (N - 4), rtol=1e-7)
    restricted = gs.GLM(gs.densities[name], y, X, offset=shift).fit(fixed={"beta": [np.nan, np.nan, 0.0]})
    ratio = fit.likelihood_ratio(restricted)
    small = sm.GLM(y, np.c_[X[:, :2], np.ones(N)], family=family, offset=shift).fit(method="newton", tol=1e-14)
    np.testing.assert_allclose(ratio.statistic, 2 * (theirs.llf - small.llf), rtol=1e-7)
    assert ratio.df == 1 and restricted.n_parameters == 3 and restricted["beta"][2] == 0
    assert np.isnan(restricted.standard_errors["beta"][2])


def test_robust_and_clustered_errors_of_statsmodels():
    rng = np.random.default_rng(7)
    X, eta, _ = data(rng)
    y, clusters = rng.binomial(1, 1 / (1 + np.exp(-eta))), rng.integers(0, 25, N)
    fit = gs.GLM(gs.bernoulli_logit, y, X).fit()
    model = sm.GLM(y, np.c_[X, np.ones(N)], family=F.Binomial())
    np.testing.assert_allclose(fit.robust().errors, model.fit(tol=1e-14, cov_type="HC0").bse, rtol=1e-9)
    theirs = model.fit(tol=1e-14, cov_type="cluster", cov_kwds={"groups": clusters})
    np.testing.assert_allclose(fit.clustered(clusters).errors, theirs.bse, rtol=1e-9)
    joint = fit.clustered(clusters).wald(["beta[0] = 0.5", "beta[1] + 2 * beta[2]"])
    wanted = theirs.wald_test((np.array([[1.0, 0, 0, 0], [0, 1, 2, 0]]), np.array([0.5, 0])), scalar=True)
    np.testing.assert_allclose([joint.statistic, joint.p], [wanted.statistic, wanted.pvalue], rtol=1e-8)
    assert joint.df == 2
    np.testing.assert_allclose(fit.interval(0.9)["alpha"], sm_interval(fit, 3), rtol=1e-12)
    assert "HC0" in fit.robust().summary() and "beta[2]" in fit.summary()


@pytest.mark.parametrize("kind", ["dense", "sparse", "groups", "pieces"])
def test_robust_errors_of_weights_are_those_of_repeated_rows(kind):
    from scipy import sparse

    rng = np.random.default_rng(14)
    X, eta, _ = data(rng)
    y, clusters, g = rng.poisson(np.exp(eta)).astype(float), rng.integers(0, 9, N), rng.integers(0, 4, N)
    weights = rng.integers(0, 4, N)

    def fit(rows, weights=None):
        more = {"groups": {"g": g[rows]}} if kind == "groups" else {"chunk": 100} if kind == "pieces" else {}
        own = sparse.csr_array(X[rows]) if kind == "sparse" else X[rows]
        fixed = {"g": [0.0, np.nan, np.nan, np.nan]} if kind == "groups" else {}
        return gs.GLM(gs.poisson_log, y[rows], own, weights=weights, **more).fit(fixed=fixed)

    repeated = np.repeat(np.arange(N), weights)
    found, wanted = fit(np.arange(N), weights), fit(repeated)
    np.testing.assert_allclose(found.robust().errors, wanted.robust().errors, rtol=1e-9)
    np.testing.assert_allclose(found.clustered(clusters).errors, wanted.clustered(clusters[repeated]).errors, rtol=1e-9)
    if kind == "dense":
        some = weights > 0
        model = sm.GLM(y[some], np.c_[X, np.ones(N)][some], family=F.Poisson(), freq_weights=weights[some])
        np.testing.assert_allclose(found.robust().errors, model.fit(tol=1e-14, cov_type="HC0").bse, rtol=1e-9)


def sm_interval(fit, i):
    from scipy import stats

    return stats.norm(fit.estimates[i], fit.errors[i]).ppf([0.05, 0.95])


def test_parameters_of_the_density_and_many_columns():
    """A normal regression's scale is estimated, from data far from where the search begins; weights count rows."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 70))
    y, w = rng.normal(1e5 + X @ rng.normal(size=70) * 100, 300.0), rng.integers(1, 4, N)
    fit = gs.GLM(gs.normal_identity, y, X, weights=w).fit()
    rows = np.repeat(np.arange(N), w)
    theirs = sm.OLS(y[rows], np.c_[X, np.ones(N)][rows]).fit()
    n = len(rows)
    np.testing.assert_allclose(fit.estimates[:-1], theirs.params, rtol=1e-8)
    np.testing.assert_allclose(fit.errors[:-1], theirs.bse * np.sqrt((n - 71) / n), rtol=1e-7)
    np.testing.assert_allclose(fit["sigma"], np.sqrt(theirs.ssr / n), rtol=1e-9)
    np.testing.assert_allclose(fit.standard_errors["sigma"], fit["sigma"] / np.sqrt(2 * n), rtol=1e-7)
    assert fit.n_observations == n
    negative = rng.negative_binomial(3.0, 3 / (3 + np.exp(X[:, :2].sum(1) / 2))).astype(float)
    fit = gs.GLM(gs.negative_binomial_log, negative, X[:, :2]).fit()
    theirs = sm.NegativeBinomial(negative, np.c_[X[:, :2], np.ones(N)]).fit(disp=0, method="newton", tol=1e-13)
    np.testing.assert_allclose([*fit.estimates[:3], 1 / fit["phi"]], theirs.params, rtol=1e-6)
    np.testing.assert_allclose(fit.errors[:3], theirs.bse[:3], rtol=1e-5)


def test_the_hessian_is_that_of_differences():
    """Intercepts of groups and slopes of named terms are a sparse matrix; float32 is one of float32."""
    rng = np.random.default_rng(3)
    X, g, Z = rng.normal(size=(90, 2)), rng.integers(0, 4, 90), rng.normal(size=(90, 2))
    y = rng.poisson(1.0, 90).astype(float)
    cases = [
        (gs.GLM(gs.poisson_log, y, X, groups=g), {"beta": rng.normal(size=2) / 4, "alpha": rng.normal(size=4) / 4}),
        (gs.GLM(gs.negative_binomial_log, y, X, groups={"a": g, "s": (g % 3, Z)}), {
            "beta": rng.normal(size=2) / 4, "alpha": 0.1, "phi": 2.0, "a": rng.normal(size=4) / 4,
            "s": rng.normal(size=(3, 2)) / 4,
        }),
        (gs.GLM(gs.categorical_logit, y.clip(0, 2), X), {"beta": rng.normal(size=(2, 3)) / 4, "alpha": rng.normal(size=3)}),
        (gs.GLM(gs.ordered_logit, y.clip(0, 2), X), {
            "beta": rng.normal(size=2), "alpha": 0.1, "cutpoints": np.array([-0.5, 0.4]),
        }),
    ]  # fmt: skip
    for glm, values in cases:
        found = glm.hessian(**values)
        found = found if isinstance(found, np.ndarray) else found.toarray()
        np.testing.assert_allclose(found, differences(glm, values), rtol=1e-6, atol=1e-6)
    single = gs.GLM(gs.poisson_log, y, X.astype(np.float32)).hessian(np.zeros(2), 0.1, wrt="beta")
    np.testing.assert_allclose(single, -(X.T * np.exp(0.1)) @ X, rtol=1e-5)
    with pytest.raises(ValueError, match="one set of coefficients"):
        gs.GLM(gs.poisson_log, y, X).hessian(np.zeros((3, 2)))


def differences(glm, values, step=1e-5):
    names = list(values)

    def gradient(moved):
        _, slopes = glm.value_and_grad(**moved, wrt=names)
        return np.concatenate([np.ravel(slopes[n]) for n in names])

    columns = []
    for name in names:
        for i in range(np.size(values[name])):
            ends = []
            for sign in (-1, 1):
                own = np.array(values[name], float)
                own.flat[i] += sign * step
                ends.append(gradient({**values, name: own if own.ndim else float(own)}))
            columns.append((ends[1] - ends[0]) / (2 * step))
    return np.array(columns)


def test_intercepts_of_many_groups():
    """Blocks for the groups: as a regression with a column for each, also with named terms, whose predictions need them."""
    rng = np.random.default_rng(4)
    n, many = 3000, 310
    g, X = np.r_[np.arange(many), rng.integers(0, many, n - many)], rng.normal(size=(n, 2))
    y = rng.poisson(np.exp(rng.normal(size=many)[g] / 2 + X @ [0.3, -0.2] + 2)).astype(float)
    fit = gs.GLM(gs.poisson_log, y, X, groups=g).fit()
    theirs = sm.GLM(y, np.c_[X, np.eye(many)[g]], family=F.Poisson()).fit(tol=1e-14)
    np.testing.assert_allclose(fit.estimates, theirs.params, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.errors, theirs.bse, rtol=1e-8)
    named = gs.GLM(gs.poisson_log, y, X, groups={"a": g}).fit(fixed={"alpha": 0.0})
    np.testing.assert_allclose(named["a"], fit["alpha"], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(named.robust().standard_errors["a"], fit.robust().standard_errors["alpha"], rtol=1e-7)
    new = named.predict(X[:4], groups={"a": g[:4]})
    wanted = theirs.get_prediction(np.c_[X, np.eye(many)[g]][:4])
    np.testing.assert_allclose([new.mean, new.mean_errors], [wanted.predicted, wanted.se], rtol=1e-6)
    with pytest.raises(ValueError, match="groups of a has 310, which the fit has not seen"):
        named.predict(X[:1], groups={"a": np.array([310])})


def test_predictions():
    rng = np.random.default_rng(5)
    X, eta, shift = data(rng, offset=True)
    y = rng.poisson(np.exp(eta)).astype(float)
    fit = gs.GLM(gs.poisson_log, y, X, offset=shift).fit()
    theirs = sm.GLM(y, np.c_[X, np.ones(N)], family=F.Poisson(), offset=shift).fit(tol=1e-14)
    new = fit.predict(X[:5], offset=shift[:5])
    wanted = theirs.get_prediction(np.c_[X, np.ones(N)][:5], offset=shift[:5])
    np.testing.assert_allclose([new.mean, new.mean_errors], [wanted.predicted, wanted.se], rtol=1e-7)
    np.testing.assert_allclose(new.linear_predictor_errors, wanted.linpred.se if hasattr(wanted, "linpred") else
                               np.sqrt(np.einsum("ni,ij,nj->n", np.c_[X, np.ones(N)][:5], fit.covariance,
                                                 np.c_[X, np.ones(N)][:5])), rtol=1e-7)  # fmt: skip
    assert new.interval().shape == (5, 2)
    with pytest.raises(ValueError, match=r"X has shape \(2, 2\), and must have the 3 columns"):
        fit.predict(np.zeros((2, 2)))


def test_pieces_and_float32():
    rng = np.random.default_rng(6)
    X, eta, _ = data(rng)
    y, clusters = rng.binomial(1, 1 / (1 + np.exp(-eta))).astype(float), rng.integers(0, 9, N)
    whole = gs.GLM(gs.bernoulli_logit, y, X).fit()
    pieces = gs.GLM(gs.bernoulli_logit, y, X, chunk=300, memory=20_000)
    fit = pieces.fit()
    np.testing.assert_allclose(fit.estimates, whole.estimates, rtol=1e-10)
    np.testing.assert_allclose(fit.covariance, whole.covariance, rtol=1e-9)
    for kind in ("robust", "clustered"):
        given = (clusters,) if kind == "clustered" else ()
        np.testing.assert_allclose(getattr(fit, kind)(*given).errors, getattr(whole, kind)(*given).errors, rtol=1e-9)
    single = gs.GLM(gs.bernoulli_logit, y, X.astype(np.float32)).fit()
    np.testing.assert_allclose(single.estimates, whole.estimates, atol=1e-5)
    np.testing.assert_allclose(single.errors, whole.errors, rtol=1e-5)


def test_outcomes_of_several_kinds():
    """The first outcome's coefficients are known; cutpoints ascend."""
    rng = np.random.default_rng(8)
    X, eta, _ = data(rng)
    y = rng.integers(0, 3, N)
    free = np.full((K, 3), np.nan)
    free[:, 0] = 0
    fit = gs.GLM(gs.categorical_logit, y, X).fit(fixed={"beta": free, "alpha": [0, np.nan, np.nan]})
    theirs = sm.MNLogit(y, np.c_[X, np.ones(N)]).fit(disp=0, tol=1e-14)
    np.testing.assert_allclose(fit["beta"][:, 1:], theirs.params[:K], rtol=1e-8)
    np.testing.assert_allclose(fit.standard_errors["beta"][:, 1:], theirs.bse[:K], rtol=1e-8)
    ordered = np.digitize(eta + rng.logistic(size=N), [-1, 0, 2.0])
    fit = gs.GLM(gs.ordered_logit, ordered, X).fit(fixed={"alpha": 0.0})
    cut = np.r_[-np.inf, fit["cutpoints"], np.inf]
    upper, lower = (1 / (1 + np.exp(-(cut[ordered + s] - X @ fit["beta"]))) for s in (1, 0))
    np.testing.assert_allclose(fit.log_likelihood, np.log(upper - lower).sum(), rtol=1e-12)
    density = upper * (1 - upper) - lower * (1 - lower)
    np.testing.assert_allclose((density / (upper - lower)) @ X, 0, atol=1e-8)
    assert fit.n_parameters == K + 3 and (np.diff(fit["cutpoints"]) > 0).all()
    new = fit.predict(X[:1])
    slopes = np.zeros(K + 3)
    for i in range(K + 3):
        ends = []
        for step in (-1e-6, 1e-6):
            moved = fit.estimates + step * (np.arange(K + 3) == i)
            ends.append((1 / (1 + np.exp(moved[K:] - X[0] @ moved[:K]))).sum())  # the mean: the sum of P(y > category)
        slopes[i] = (ends[1] - ends[0]) / 2e-6
    np.testing.assert_allclose(new.mean, ends[0], rtol=1e-5)
    np.testing.assert_allclose(new.mean_errors, np.sqrt(slopes @ fit.covariance @ slopes), rtol=1e-5)


def test_priors_are_penalties():
    """A normal prior is ridge: the minimum of SciPy's search on the penalised likelihood."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(9)
    X, eta, _ = data(rng)
    y = rng.binomial(1, 1 / (1 + np.exp(-eta))).astype(float)
    fit = gs.GLM(gs.bernoulli_logit, y, X).fit(priors={"beta": gs.normal(0.0, 0.1)})

    def lost(theta):
        e = X @ theta[:3] + theta[3]
        return np.logaddexp(0, e).sum() - y @ e + 0.5 * (theta[:3] ** 2).sum() / 0.01

    best = minimize(lost, np.zeros(4), tol=1e-14).x
    np.testing.assert_allclose(fit.estimates, best, atol=1e-5)
    p = 1 / (1 + np.exp(-(X @ fit["beta"] + fit["alpha"])))
    Z = np.c_[X, np.ones(N)]
    information = (Z.T * (p * (1 - p))) @ Z + np.diag([100, 100, 100, 0])
    np.testing.assert_allclose(fit.covariance, np.linalg.inv(information), rtol=1e-8)


def test_fits_that_do_not_exist():
    rng = np.random.default_rng(10)
    X, eta, _ = data(rng)
    y = rng.binomial(1, 1 / (1 + np.exp(-eta))).astype(float)
    separated = np.c_[X, (y == 1) & (rng.uniform(size=N) < 0.1)]
    with pytest.raises(gs.NoMaximumError, match=r"has no maximum: .* beta\[3\] \(column 3 of X\).*priors=") as endless:
        gs.GLM(gs.bernoulli_logit, y, separated).fit()
    again = pickle.loads(pickle.dumps(endless.value))
    assert isinstance(again, ValueError) and again.parameters == {"beta"} and str(again) == str(endless.value)
    with pytest.raises(ValueError, match=r"has no maximum: .* beta\[1\] \(column 1 of X\).*priors="):
        gs.GLM(gs.bernoulli_logit, (X[:, 1] > 0.1).astype(float), X).fit()
    assert gs.GLM(gs.bernoulli_logit, y, separated).fit(priors={"beta": gs.normal(0.0, 3.0)}).converged
    with pytest.raises(ValueError, match=r"nothing tells beta\[[03]\] \(column . of X\), beta\[[03]\] \(column . of X\) apart"):
        gs.GLM(gs.bernoulli_logit, y, np.c_[X, -2 * X[:, 0]]).fit()
    with pytest.raises(ValueError, match=r"nothing tells (alpha, beta\[3\].*|beta\[3\].*, alpha) apart.*fixed="):
        gs.GLM(gs.bernoulli_logit, y, np.c_[X, np.ones(N)]).fit()
    for exact, columns in ((X @ [1.0, 2.0, 3.0], X), (np.round(X[:, 0]), np.round(X)), (np.ones(N), X)):
        with pytest.raises(ValueError, match="it grows for ever as sigma nears 0, as where the observations are fitted"):
            gs.GLM(gs.normal, exact, columns, eta="mu").fit()
    with pytest.raises(ValueError, match=r"no maximum: .* alpha\[1\]"):
        gs.GLM(gs.bernoulli_logit, np.where(np.arange(N) % 3 == 1, 0.0, y), X, groups=np.arange(N) % 3).fit()


def test_bad_arguments():
    rng = np.random.default_rng(11)
    X, eta, _ = data(rng)
    glm = gs.GLM(gs.negative_binomial_log, rng.poisson(np.exp(eta)).astype(float), X)
    for given, error, words in [
        ({"fixed": {"gamma": 1.0}}, ValueError, "fixed: GLM of .* has no parameter 'gamma'; .* beta, alpha, phi"),
        ({"start": {"phi": -1.0}}, ValueError, "phi of GLM of negative_binomial_log must be positive, and -1 is not"),
        ({"start": {"beta": np.zeros(2)}}, ValueError, r"beta has shape \(2,\), and must have \(3,\)"),
        ({"start": {"alpha": 3.0}, "bounds": {"alpha": (0, 1)}}, ValueError, "alpha starts at 3, outside of its bounds"),
        ({"bounds": {"alpha": (1, 0)}}, ValueError, "lowest alpha must be below the highest"),
        ({"bounds": {"alpha": 1}}, ValueError, "bounds: alpha has 1, and must have"),
        ({"start": {"alpha": "a"}}, TypeError, "start: alpha must be a number"),
        ({"start": {"alpha": 1.0}, "fixed": {"alpha": 1.0}}, ValueError, "alpha is fixed, so it has no start"),
        ({"priors": {"beta": 1.0}}, TypeError, "the prior of beta must be a density"),
        ({"fixed": {"beta": np.zeros(3), "alpha": 0.0, "phi": 1.0}}, ValueError, "nothing to fit"),
        ({"max_iterations": -1}, ValueError, "max_iterations"),
        ({"priors": {"beta": gs.normal(np.zeros(2), 1.0)}}, ValueError, r"prior of beta: mu has shape \(2,\), and beta has"),
        ({"priors": {"beta": gs.gamma(2.0, 1.0)}}, ValueError, "the priors have no density at the start"),
    ]:
        with pytest.raises(error, match=words):
            glm.fit(**given)
    fit = glm.fit()
    told = [("beta[7]", r"no 'beta\[7\]' was estimated"), ("beta[0] * beta[1]", "not linear"), ("3 = 2", "no parameter")]
    for wrong, words in told:
        with pytest.raises(ValueError, match=words):
            fit.wald(wrong)
    with pytest.raises(ValueError, match=r"clusters has shape \(2,\)"):
        fit.clustered([0, 1])
    for missing in ([None, *"ab" * (N // 2)][:N], np.where(np.arange(N) == 0, np.nan, np.arange(N) % 3)):
        with pytest.raises(ValueError, match="clusters has no label in 1 row, first in row 0"):
            fit.clustered(missing)
    dates = np.datetime64("2020-01-01") + np.arange(N) % 3
    np.testing.assert_array_equal(fit.clustered(dates).errors, fit.clustered(np.arange(N) % 3).errors)
    with pytest.raises(ValueError, match="two at least"):
        fit.clustered(np.zeros(N))
    with pytest.raises(ValueError, match="the larger fit"):
        fit.likelihood_ratio(fit)
    assert not glm.fit(max_iterations=1).converged
    with pytest.raises(ValueError, match="y has no observations"):
        gs.GLM(gs.poisson_log, np.zeros(0), np.zeros((0, 2))).fit()
    for y, more, words in [
        (np.zeros(N), {"weights": np.zeros(N)}, "weights are all 0"), (np.zeros(N), {"weights": -np.ones(N)}, "not negative"),
        (np.full(N, 0.5), {}, "y of poisson_log must be nonnegative integer, and 0.5 at row 0 is not"),
        (np.where(np.arange(N) == 7, np.nan, 1.0), {}, "y has nan in row 7"),
        (np.zeros(N), {"offset": np.where(np.arange(N) == 7, np.inf, 1.0)}, "offset has inf in row 7"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            gs.GLM(gs.poisson_log, y, X, **more).fit()
    one = gs.GLM(gs.poisson_log, np.array([3.0]), np.array([[2.0]])).fit(fixed={"alpha": 0.0})
    np.testing.assert_allclose(one["beta"], np.log(3) / 2)


def test_bounds_and_profile_intervals():
    """Estimates at bounds are those of SciPy; ends of a profile have the likelihood that they should, as SciPy maximises it."""
    from scipy.optimize import minimize
    from scipy.stats import chi2

    rng = np.random.default_rng(12)
    X, eta, _ = data(rng)
    y = rng.binomial(1, 1 / (1 + np.exp(-eta)))[:60].astype(float)
    glm = gs.GLM(gs.bernoulli_logit, y, X[:60])
    fit = glm.fit(bounds={"beta": (0.0, 0.3)})

    def lost(theta):
        e = X[:60] @ theta[:3] + theta[3]
        return np.logaddexp(0, e).sum() - y @ e

    best = minimize(lost, np.zeros(4), bounds=[(0, 0.3)] * 3 + [(None, None)], tol=1e-14)
    np.testing.assert_allclose(fit.estimates, best.x, atol=1e-5)
    at_end = (fit["beta"] == 0) | (fit["beta"] == 0.3)
    assert at_end.any() and (np.isnan(fit.standard_errors["beta"]) == at_end).all() and "at a bound" in fit.message
    fit = glm.fit()
    for end in fit.interval(method="profile", parameters="beta[1]")["beta[1]"]:
        rest = minimize(lambda t, end=end: lost(np.array([t[0], end, t[1], t[2]])), np.zeros(3), tol=1e-12)
        np.testing.assert_allclose(2 * (fit.log_likelihood + rest.fun), chi2(1).ppf(0.95), rtol=1e-6)


def test_a_device_with_memory_of_its_own(monkeypatch):
    """Arrays on a device that the host does not see, in tiles of a GPU: the same estimates and errors."""
    from gpustats.runtime import choose

    rng = np.random.default_rng(13)
    X, eta, _ = data(rng)
    y, groups, clusters = rng.poisson(np.exp(eta)).astype(float), rng.integers(0, 5, N), rng.integers(0, 9, N)

    def fits():
        for given in ({"weights": np.full(N, 1.5)}, {"groups": groups}):
            fit = gs.GLM(gs.poisson_log, y, X, **given).fit()
            yield np.concatenate([fit.estimates, fit.errors, fit.robust().errors, fit.clustered(clusters).errors])

    wanted, runtime = list(fits()), choose.get()
    monkeypatch.setattr(runtime, "device", dataclasses.replace(runtime.device, type="gpu", warp=32, compute_units=2))
    monkeypatch.setattr(runtime, "host_visible", False)
    for found, want in zip(fits(), wanted, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-9)
