"""Linear mixed models against the density of a normal vector, which SciPy has, on random unbalanced data; odd and bad input."""

import pickle

import numpy as np
import pytest
from mixed_data import data
from scipy import linalg, sparse, stats
from thorough import THOROUGH

import gpustats as gs
from gpustats.mixed.coupling import Coupling


def blocks(groups):
    """Columns of all effects of a term's groups, (N, G, m)."""
    index, Z = groups if isinstance(groups, tuple) else (groups, np.ones((len(groups), 1)))
    return np.eye(index.max() + 1)[index][:, :, None] * np.asarray(Z, float)[:, None]


def covariance(fit, groups, n):
    """Covariance of the observations."""
    found = fit["sigma"] ** 2 * np.eye(n)
    for name, sigma in fit.variance_components.items():
        Z = blocks(groups[name])
        found += np.einsum("agi,ij,bgj->ab", Z, sigma, Z)
    return found


def loglik(fit, X, y, groups):
    """Log-likelihood at the estimates, restricted where the fit is by REML."""
    F = np.column_stack([X, np.ones(len(y))]).astype(float)
    V, effects = covariance(fit, groups, len(y)), np.append(fit["beta"], fit["alpha"])
    value = stats.multivariate_normal(F @ effects, V).logpdf(y)
    if fit.reml:
        value += len(effects) / 2 * np.log(2 * np.pi) - np.linalg.slogdet(F.T @ linalg.solve(V, F))[1] / 2
    return value


@pytest.mark.parametrize("reml", [True, False], ids=["reml", "ml"])
@pytest.mark.parametrize("random", [("g",), ("g", "h")], ids=["one", "two"])
def test_likelihood_modes_and_errors(reml, random):
    rng = np.random.default_rng(3)
    X, y, groups = data(rng)
    fit = gs.GLM(gs.normal, y, X, eta="mu", groups={n: groups[n] for n in random}).fit(random=random, reml=reml)
    assert fit.log_likelihood == pytest.approx(loglik(fit, X, y, groups), rel=1e-10)
    F, V = np.column_stack([X, np.ones(len(y))]), covariance(fit, groups, len(y))
    gls = np.linalg.inv(F.T @ linalg.solve(V, F))
    effects = gls @ F.T @ linalg.solve(V, y)
    np.testing.assert_allclose(np.append(fit["beta"], fit["alpha"]), effects, rtol=1e-7)
    errors = np.append(fit.standard_errors["beta"], fit.standard_errors["alpha"])
    np.testing.assert_allclose(errors, np.sqrt(np.diag(gls)), rtol=1e-7)
    for name in random:
        Z, sigma = blocks(groups[name]), fit.variance_components[name]
        modes = np.einsum("ij,agj,a->gi", sigma, Z, linalg.solve(V, y - F @ effects))
        np.testing.assert_allclose(fit.random_effects[name].reshape(modes.shape), modes, atol=1e-6)
        left = [sigma - sigma @ Z[:, g].T @ linalg.solve(V, Z[:, g]) @ sigma for g in range(Z.shape[1])]
        spread = np.sqrt([np.diag(c) for c in left])
        np.testing.assert_allclose(fit.random_effects_errors[name].reshape(modes.shape), spread, rtol=1e-6)


@pytest.mark.parametrize("reml", [True, pytest.param(False, marks=THOROUGH)], ids=["reml", "ml"])
def test_maximum_and_its_errors(reml):
    """No other factor is better, and the errors are those of differences of the likelihood."""
    rng = np.random.default_rng(4)
    X, y, groups = data(rng, 200)
    glm = gs.GLM(gs.normal, y, X, eta="mu", groups=groups)
    fit = glm.fit(random=("g", "h"), reml=reml)
    names = [i for i, label in enumerate(fit.labels) if label.partition("[")[0] in ("sigma", "chol_g", "chol_h")]
    best = fit.estimates[names]

    def value(point):
        """Log-likelihood at variance parameters, at the best fixed effects."""
        factor = np.array([[point[1], 0.0], [point[2], point[3]]])
        known = {"sigma": point[0], "chol_g": factor, "chol_h": point[4]}
        F, V = np.column_stack([X, np.ones(len(y))]), point[0] ** 2 * np.eye(len(y))
        for n, s in (("g", factor @ factor.T), ("h", np.array([[known["chol_h"] ** 2]]))):
            V += np.einsum("agi,ij,bgj->ab", blocks(groups[n]), s, blocks(groups[n]))
        information = F.T @ linalg.solve(V, F)
        effects = linalg.solve(information, F.T @ linalg.solve(V, y))
        found = stats.multivariate_normal(F @ effects, V).logpdf(y)
        return found - np.linalg.slogdet(information)[1] / 2 * reml

    assert all(value(best * (1 + 1e-3 * s * u)) < value(best) for u in np.eye(5) for s in (1, -1))
    steps = 1e-3 * np.maximum(np.abs(best), 0.02)

    def second(i, j):
        a, b = steps[i] * np.eye(5)[i], steps[j] * np.eye(5)[j]
        corners = (value(best + s * a + t * b) * s * t for s in (1, -1) for t in (1, -1))
        return sum(corners) / (4 * steps[i] * steps[j])

    wanted = np.linalg.inv([[-second(i, j) for j in range(5)] for i in range(5)])
    np.testing.assert_allclose(fit.covariance[np.ix_(names, names)], wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())
    assert fit.variance_errors["h"][0, 0] == pytest.approx(2 * fit["chol_h"] * fit.standard_errors["chol_h"])


def test_fixed_start_bounds_and_priors():
    rng = np.random.default_rng(5)
    X, y, groups = data(rng)
    glm = gs.GLM(gs.normal, y, X, eta="mu", groups={"h": groups["h"]})
    free = glm.fit(random="h", reml=False)
    known = glm.fit(random="h", reml=False, fixed={"sigma": 2.0, "chol_h": 0.5, "alpha": 1e3})
    assert known["sigma"] == 2.0 and known["chol_h"] == 0.5 and known.labels == ("beta[0]", "beta[1]")
    assert known.log_likelihood == pytest.approx(loglik(known, X, y, groups), rel=1e-10)
    part = glm.fit(random="h", fixed={"beta": [1.5, np.nan]})
    assert part["beta"][0] == 1.5 and part.labels[0] == "beta[1]" and np.isnan(part.standard_errors["beta"][0])
    alone = gs.GLM(gs.normal, y - 1.5 * X[:, 0], X[:, 1:], eta="mu", groups={"h": groups["h"]}).fit(random="h")
    assert part.log_likelihood == pytest.approx(alone.log_likelihood) and part["beta"][1] == pytest.approx(alone["beta"][0])
    bounded = glm.fit(random="h", bounds={"chol_h": (0.0, 0.5 * free["chol_h"])}, reml=False)
    assert bounded["chol_h"] == pytest.approx(0.5 * free["chol_h"]) and np.isnan(bounded.standard_errors["chol_h"])
    ridge = glm.fit(random="h", reml=False, priors={"beta": gs.normal(0.0, 1e-3)})
    assert np.abs(ridge["beta"]).max() < 1e-2 < np.abs(free["beta"]).max()
    begun = glm.fit(random="h", reml=False, start={"chol_h": 5.0, "beta": [0.0, 0.0], "sigma": 3.0})
    np.testing.assert_allclose(begun.estimates, free.estimates, rtol=1e-6)
    with pytest.raises(ValueError, match="beta is integrated out by REML"):
        glm.fit(random="h", priors={"beta": gs.normal(0.0, 1.0)})


def test_priors_tell_collinear_columns_apart():
    """The largest posterior density, as SciPy has it, and the errors of predictions with it; also of more columns than rows."""
    rng = np.random.default_rng(12)
    X, y, groups = data(rng)
    index, prior = groups["h"], {"beta": gs.normal(0.0, 2.0)}
    wide = rng.normal(size=(12, 15))
    for n, columns, known in ((90, np.column_stack([X, X[:, 0]]), {}), (12, wide, {"sigma": 2.0})):
        glm = gs.GLM(gs.normal, y[:n], columns, eta="mu", groups={"h": index[:n]})
        fit = glm.fit(random="h", reml=False, priors=prior, fixed=known)
        F = np.column_stack([columns, np.ones(n)])
        V, ridge = covariance(fit, {"h": index[:n]}, n), np.diag([0.25] * columns.shape[1] + [0.0])
        inverse = np.linalg.inv(F.T @ linalg.solve(V, F) + ridge)
        np.testing.assert_allclose(np.append(fit["beta"], fit["alpha"]), inverse @ F.T @ linalg.solve(V, y[:n]), atol=1e-6)
        alone = fit.predict(columns)
        np.testing.assert_allclose(alone.mean_errors, np.sqrt(np.einsum("ni,ij,nj->n", F, inverse, F)), rtol=1e-6)
    with pytest.raises(ValueError, match="12 observations cannot tell 16 fixed effects and a variance: .*, or fix sigma"):
        glm.fit(random="h", reml=False, priors=prior)


def test_groups_without_a_name_and_fixed_tables():
    rng = np.random.default_rng(6)
    X, y, groups = data(rng)
    named = gs.GLM(gs.normal, y, X, eta="mu", groups={"h": groups["h"]}).fit(random="h")
    unnamed = gs.GLM(gs.normal, y, X, eta="mu", groups=groups["h"]).fit(random="alpha")
    np.testing.assert_allclose(unnamed.random_effects["alpha"], named.random_effects["h"], rtol=1e-6)
    assert unnamed["chol_alpha"] == pytest.approx(named["chol_h"]) and unnamed["alpha"] == pytest.approx(named["alpha"])
    table = gs.GLM(gs.normal, y, X, eta="mu", groups=groups).fit(random="g", fixed={"alpha": 0.0})
    dummies = np.column_stack([X, np.eye(4)[groups["h"]]])
    wide = gs.GLM(gs.normal, y, dummies, eta="mu", groups={"g": groups["g"]}).fit(random="g", fixed={"alpha": 0.0})
    np.testing.assert_allclose(np.append(table["beta"], table["h"]), wide["beta"], rtol=1e-8)
    np.testing.assert_allclose(np.append(*[table.standard_errors[n] for n in ("beta", "h")]), wide.standard_errors["beta"])
    assert table.log_likelihood == pytest.approx(wide.log_likelihood)
    new = table.predict(X[:5], groups={"g": (groups["g"][0][:5], groups["g"][1][:5]), "h": groups["h"][:5]})
    same = wide.predict(dummies[:5], groups={"g": (groups["g"][0][:5], groups["g"][1][:5])})
    np.testing.assert_allclose(new.mean_errors, same.mean_errors, rtol=1e-6)


def test_errors_of_predictions():
    """Those of Henderson's equations, of which the inverse is written out; a new group has the variance of its effects."""
    rng = np.random.default_rng(7)
    X, y, groups = data(rng)
    glm = gs.GLM(gs.normal, y, X, eta="mu", groups=groups)
    fit = glm.fit(random=("g", "h"), reml=False)
    parts = [np.column_stack([X, np.ones(len(y))]), *(blocks(groups[n]).reshape(len(y), -1) for n in ("g", "h"))]
    penalty = [np.zeros((3, 3)), *(np.kron(np.eye(blocks(groups[n]).shape[1]), np.linalg.inv(fit.variance_components[n]))
                                   for n in ("g", "h"))]  # fmt: skip
    W = np.column_stack(parts)
    inverse = np.linalg.inv(W.T @ W / fit["sigma"] ** 2 + linalg.block_diag(*penalty))
    wanted = np.sqrt(np.einsum("ni,ij,nj->n", W, inverse, W))
    new = fit.predict(X, groups=groups)
    np.testing.assert_allclose(new.mean_errors, wanted, rtol=1e-6)
    half = stats.norm.ppf(0.95) * np.hypot(wanted, fit["sigma"])  # observations of groups that are known
    ends = np.stack([new.mean - half, new.mean + half], 1)
    np.testing.assert_allclose(fit.predict(X, groups=groups, noise=True).interval(0.9), ends, rtol=1e-6)
    F = parts[0][:3]
    alone = fit.predict(X[:3])
    np.testing.assert_allclose(alone.mean_errors, np.sqrt(np.einsum("ni,ij,nj->n", F, inverse[:3, :3], F)), rtol=1e-6)
    index, Z = groups["g"]
    unseen = {"g": (np.full(3, 99), Z[:3]), "h": np.full(3, 50)}
    with pytest.raises(ValueError, match="groups of g has 99, which the fit has not seen: its groups are 0 to 6"):
        fit.predict(X[:3], groups=unseen)
    of_new = fit.predict(X[:3], groups=unseen, new_groups=True)
    np.testing.assert_allclose(of_new.mean, alone.mean)
    more = np.einsum("ni,ij,nj->n", Z[:3], fit.variance_components["g"], Z[:3]) + fit.variance_components["h"][0, 0]
    np.testing.assert_allclose(of_new.mean_errors**2, alone.mean_errors**2 + more, rtol=1e-6)


@pytest.mark.parametrize("m", [1, 2])
def test_a_coupling_on_the_device(m):
    rng = np.random.default_rng(11)
    coupling, solver, inner = rng.normal(size=(9, m, 5)), rng.normal(size=(m, m, 9)), rng.normal(size=(5, 5))
    inner += inner.T
    rows = np.einsum("ijg,gjr->gir", solver, coupling)
    for on_device in (False, True):
        made = Coupling(coupling, on_device)
        np.testing.assert_allclose(made.gram(solver), np.einsum("gir,gis->rs", rows, rows), rtol=1e-12, atol=1e-12)
        wanted = np.einsum("gir,rs,gjs->ijg", coupling, inner, coupling)
        np.testing.assert_allclose(made.quadratic(inner), wanted, rtol=1e-12, atol=1e-12)


def test_float32_pieces_pickles():
    rng = np.random.default_rng(8)
    X, y, groups = data(rng, 400)
    whole = gs.GLM(gs.normal, y, X, eta="mu", groups=groups).fit(random=("g", "h"))
    divided = gs.GLM(gs.normal, y, X, eta="mu", groups=groups, memory=30_000, chunk=100).fit(random=("g", "h"))
    np.testing.assert_allclose(divided.estimates, whole.estimates, rtol=1e-6)
    small = {"g": (groups["g"][0], groups["g"][1].astype("f4")), "h": groups["h"]}
    single = gs.GLM(gs.normal, y.astype("f4") - 1000, X.astype("f4"), eta="mu", groups=small).fit(random=("g", "h"))
    np.testing.assert_allclose(single["beta"], whole["beta"], rtol=1e-3)
    again = pickle.loads(pickle.dumps(whole))
    assert again.summary() == whole.summary()
    np.testing.assert_array_equal(again.predict(X, groups=groups).mean, whole.predict(X, groups=groups).mean)


def test_groups_with_few_rows():
    """Groups seen once, or never, and with more effects than rows."""
    rng = np.random.default_rng(9)
    X, y, _ = data(rng, 60)
    index = np.r_[np.arange(40), np.arange(20)] + 3
    fit = gs.GLM(gs.normal, y, X, eta="mu", groups={"g": index}).fit(random="g")
    assert fit.log_likelihood == pytest.approx(loglik(fit, X, y, {"g": index}), rel=1e-10)
    assert (fit.random_effects["g"][:3] == 0).all()
    np.testing.assert_allclose(fit.random_effects_errors["g"][:3], fit["chol_g"])
    slopes = (rng.integers(0, 25, 60), np.column_stack([np.ones(60), X, X[:, :1] ** 2]))
    wide = gs.GLM(gs.normal, y, X, eta="mu", groups={"g": slopes}).fit(random="g")
    assert wide.log_likelihood == pytest.approx(loglik(wide, X, y, {"g": slopes}), rel=1e-9) and wide.converged


def test_columns_far_from_0():
    """The same likelihood, until rounding leaves too little of it: then the fit says why."""
    rng = np.random.default_rng(13)
    x, g, effects = rng.normal(size=120), rng.integers(0, 12, 120), rng.normal(size=(12, 2))
    y = effects[g, 0] + (1 + effects[g, 1]) * x + rng.normal(size=120)

    def fit(shift):
        Z = np.column_stack([np.ones(120), x + shift])
        return gs.GLM(gs.normal, y, Z[:, 1:], eta="mu", groups={"g": (g, Z)}).fit(random="g")

    wanted = fit(0.0).log_likelihood
    assert fit(100.0).log_likelihood == pytest.approx(wanted, rel=1e-9)
    assert fit(1e4).log_likelihood == pytest.approx(wanted, rel=1e-7)
    far = fit(1e5)
    assert not far.converged and "columns of g nearly depend on one another" in far.message


def test_bad_input():
    rng = np.random.default_rng(10)
    X, y, groups = data(rng)

    def glm(y=y, X=X, groups=groups, **more):
        return gs.GLM(gs.normal, y, X, eta="mu", groups=groups, **more)

    with pytest.raises(ValueError, match="random has 'county', and the GLM has groups for g, h"):
        glm().fit(random="county")
    with pytest.raises(ValueError, match="reml=True is of models with random effects"):
        glm(groups=None).fit(reml=True)
    with pytest.raises(ValueError, match=r"nothing tells beta\[0\] \(column 0 of X\), beta\[1\] \(column 1 of X\) apart"):
        glm(X=X[:, [0, 0]], groups={"g": groups["g"]}).fit(random="g")
    with pytest.raises(ValueError, match="X has a number in column 1 that is not finite"):
        glm(X=np.where(np.arange(2) == 1, np.nan, X)).fit(random="g")
    with pytest.raises(ValueError, match="y or offset has a number that is not finite"):
        glm(y=np.r_[np.nan, y[1:]]).fit(random="g")
    with pytest.raises(ValueError, match="a column of groups has a number that is not finite"):
        glm(groups={"g": (groups["g"][0], np.full((90, 1), np.inf))}).fit(random="g")
    with pytest.raises(ValueError, match="there is nothing to fit"):
        glm(y[:0], X[:0], {"g": np.zeros(0, int)}).fit(random="g")
    with pytest.raises(ValueError, match="g has 90 random intercepts for 90 observations"):
        glm(groups={"g": np.arange(90)}).fit(random="g")
    with pytest.raises(ValueError, match="2 observations cannot tell 3 fixed effects"):
        glm(y[:2], X[:2], {"g": np.zeros(2, int)}).fit(random="g")
    with pytest.raises(ValueError, match="g has rows of one group alone"):
        glm(groups={"g": np.ones(90, int)}).fit(random="g")
    assert glm(groups={"g": np.ones(90, int)}).fit(random="g", fixed={"chol_g": 1.0}).converged
    with pytest.raises(ValueError, match="g has 90 random intercepts for 90 observations"):
        glm(groups={"g": (np.arange(90), np.column_stack([np.ones(90), X[:, 0]]))}).fit(random="g")
    with pytest.raises(ValueError, match=r"nothing tells the effects g\[0\], g\[1\] of g apart: columns"):
        glm(groups={"g": (groups["g"][0], np.ones((90, 2)))}).fit(random="g")
    with pytest.raises(ValueError, match="2 observations cannot tell 7 fixed.*for random, random=\\('g', 'h'\\)"):
        glm(y[:2], X[:2], {"g": np.arange(2), "h": np.array([0, 3])}).fit(random="g")
    with pytest.raises(ValueError, match="weights must be finite and not negative"):
        glm(weights=-np.ones(90)).fit(random="g")
    with pytest.raises(ValueError, match="the effects of groups fit the observations without residuals"):
        glm(y=rng.normal(size=4)[groups["h"]], groups={"h": groups["h"]}).fit(random="h")
    with pytest.raises(ValueError, match="y has a standard deviation of about 1e.100: give it in other units"):
        glm(y=1e100 * rng.normal(size=90)).fit(random="g")
    with pytest.raises(ValueError, match="sigma of GLM of normal must be positive, and 0 is not"):
        glm(groups={"h": groups["h"]}).fit(random="h", fixed={"sigma": 0.0})
    with pytest.raises(ValueError, match="fixed: chol_g has -1 on its diagonal"):
        glm(groups={"g": groups["g"][0]}).fit(random="g", fixed={"chol_g": -1.0})
    with pytest.raises(ValueError, match="the fixed effects fit the observations without residuals"):
        glm(y=X @ [1.0, 2.0], groups={"g": groups["g"]}).fit(random="g")
    with pytest.raises(ValueError, match="no parameter 'chol_h'"):
        glm(groups={"g": groups["g"]}).fit(random="g", start={"chol_h": 1.0})
    with pytest.raises(ValueError, match="chol_g has shape"):
        glm(groups={"g": groups["g"]}).fit(random="g", start={"chol_g": np.ones(3)})
    with pytest.raises(NotImplementedError, match="effects of 300,001 of .*take effects of groups as random"):
        many = {"g": np.append(np.arange(89), 300_000), "h": np.arange(90) * 50}
        glm(groups=many).fit(random="g")
    with pytest.raises(NotImplementedError, match="5,343 fixed effects: 5,000 at most"):
        glm(groups={"g": groups["g"], "h": np.arange(90) * 60}).fit(random="g")
    with pytest.raises(NotImplementedError, match="X is sparse"):
        glm(X=sparse.csr_array(X)).fit(random="g")
    fit = glm().fit(random="g", fixed={"h": np.zeros(4)})
    with pytest.raises(ValueError, match="groups has g, and the fit has groups for h, g"):
        fit.predict(X, groups={"g": groups["g"]})
    with pytest.raises(NotImplementedError, match="no scores of single observations"):
        fit.robust()
