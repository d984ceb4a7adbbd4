"""Fits of models of rows: beside regressions of statsmodels and SciPy's searches; second derivatives in all leaves."""

import numpy as np
import pytest
import scipy.sparse
from scipy import optimize, stats

import gpustats as gs

MODEL = "real f(real y, real eta, real a, real h, real sigma) { return normal_logpdf(y, eta + a + h, sigma); }"


def additive(rng, n=900, groups=20, weights=None, **options):
    X, g, i = rng.normal(size=(n, 2)), np.r_[np.arange(groups), rng.integers(0, groups, n - groups)], rng.integers(0, 3, n)
    a, h = rng.normal(size=groups), np.array([0.0, 0.5, -0.5])
    y = rng.normal(X @ [0.5, -1.0] + a[g] + h[i], 0.7)
    rows = gs.Rows(MODEL, y=y, eta=gs.dot(X, of="beta"), a=gs.gather(g), h=gs.gather(i), weights=weights, **options)
    return rows, y, np.c_[X, np.eye(groups)[g], np.eye(3)[i][:, 1:]], g


FIRST_IS_KNOWN = {"h": [0.0, np.nan, np.nan]}


def test_tables_and_coefficients():
    """Estimates and errors of a regression on dummies: by information, HC0 and clusters; its scale begins at 1 by itself."""
    sm = pytest.importorskip("statsmodels.api")
    rows, y, design, g = additive(np.random.default_rng(0))
    fit = rows.fit(fixed=FIRST_IS_KNOWN)
    theirs = sm.OLS(y, design).fit()
    n, p = design.shape
    np.testing.assert_allclose(fit.estimates[:-1], theirs.params, rtol=1e-9)
    np.testing.assert_allclose(fit["sigma"], np.sqrt(theirs.ssr / n), rtol=1e-9)
    np.testing.assert_allclose(fit.errors[:-1], theirs.bse * np.sqrt((n - p) / n), rtol=1e-8)
    np.testing.assert_allclose(fit.log_likelihood, theirs.llf, rtol=1e-12)
    np.testing.assert_allclose(fit.robust().errors[:-1], theirs.get_robustcov_results("HC0").bse, rtol=1e-8)
    clusters = theirs.get_robustcov_results("cluster", groups=g % 7, use_correction=False)
    np.testing.assert_allclose(fit.clustered(g % 7, correction=False).errors[:-1], clusters.bse, rtol=1e-8)
    pieces = additive(np.random.default_rng(0), chunk=400, memory=55_000)[0].fit(fixed=FIRST_IS_KNOWN)
    np.testing.assert_allclose(pieces.estimates, fit.estimates, rtol=1e-9)
    np.testing.assert_allclose(pieces.robust().errors, fit.robust().errors, rtol=1e-8)
    with pytest.raises(ValueError, match=r"nothing tells h\[.*a\[.* apart.*fixed=\{'[ah]\[\d+\]'.*priors=\{'[ah]': gs\."):
        rows.fit()


def test_blocks_of_many_groups_are_as_a_dense_matrix():
    """Errors from blocks of a table and of vectors of a table, with a coupled border, are those of the inverse."""
    rng = np.random.default_rng(1)
    rows = additive(rng, 2000, 400)[0]
    fit = rows.fit(fixed=FIRST_IS_KNOWN)
    H = rows.hessian(**fit.parameters, wrt=("beta", "a", "h", "sigma"))
    assert scipy.sparse.issparse(H) and H.nnz < 400 * 14
    free = np.flatnonzero(fit.fitted.free)
    wanted = np.sqrt(np.diag(np.linalg.inv(-H.toarray()[np.ix_(free, free)])))
    np.testing.assert_allclose(fit.errors, wanted, rtol=1e-8)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), wanted, rtol=1e-8)
    n, groups = 1500, 200
    g, x = np.r_[np.repeat(np.arange(groups), 3), rng.integers(0, groups, n - 3 * groups)], rng.normal(size=(n, 2))
    y = rng.normal((x * rng.normal(size=(groups, 2))[g]).sum(1), 0.5)
    text = """real f(real y, const real *x, const real *slope, real sigma, int dim) {
        real sum = 0;
        for (int i = 0; i < dim; i++) sum += x[i] * slope[i];
        return normal_logpdf(y, sum, sigma); }"""
    fit = gs.Rows(text, y=y, x=x, slope=gs.gather(g)).fit(start={"slope": np.zeros((groups, 2)), "sigma": 1.0})
    for k in (0, 7):
        own = g == k
        best = np.linalg.lstsq(x[own], y[own], rcond=None)[0]
        np.testing.assert_allclose(fit["slope"][k], best, rtol=1e-7, atol=1e-9)
        spread = fit["sigma"] * np.sqrt(np.diag(np.linalg.inv(x[own].T @ x[own])))
        np.testing.assert_allclose(fit.standard_errors["slope"][k], spread, rtol=1e-7)
    g[g == 5] = 6
    g[0] = 5  # a group of one row, which tells one of its two slopes
    with pytest.raises(ValueError, match=r"nothing tells slope\[5, 0\], slope\[5, 1\] apart"):
        gs.Rows(text, y=y, x=x, slope=gs.gather(g)).fit(start={"slope": np.zeros((groups, 2)), "sigma": 1.0})


def test_a_hundred_thousand_groups():
    """No matrix of all groups is formed; a prior makes up for groups with one row."""
    rng = np.random.default_rng(2)
    n, groups = 300_000, 100_000
    g = np.r_[np.arange(groups), rng.integers(0, groups, n - groups)]
    y = rng.normal(rng.normal(size=groups)[g], 0.5)
    rows = gs.Rows("real f(real y, real a) { return normal_logpdf(y, a, 0.5); }", y=y, a=gs.gather(g))
    fit = rows.fit(priors={"a": gs.normal(0.0, 1.0)})
    counts = np.bincount(g)
    np.testing.assert_allclose(fit["a"], np.bincount(g, y) / 0.25 / (counts / 0.25 + 1), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.standard_errors["a"], 1 / np.sqrt(counts / 0.25 + 1), rtol=1e-8)
    assert fit.covariance is None and "more" in fit.summary()
    with pytest.raises(NotImplementedError, match="5,000 at most"):
        fit.robust()


def differences(rows, values, names):
    """Second derivatives as differences of gradients."""

    def gradient(theta):
        ends = np.cumsum([0, *(np.size(values[m]) for m in names)])
        given = {m: theta[a:b].reshape(np.shape(values[m])) for m, a, b in zip(names, ends[:-1], ends[1:], strict=True)}
        _, slopes = rows.value_and_grad(**values | given)
        return np.concatenate([np.ravel(slopes[m]) for m in names])

    at = np.concatenate([np.ravel(values[m]) for m in names])
    return np.array([(gradient(at + 1e-5 * e) - gradient(at - 1e-5 * e)) / 2e-5 for e in np.eye(len(at))])


def test_groups_and_designs_are_summed_on_the_device():
    """Tables of two groupings, one with an element that no row has, and coefficients of two designs: the same bits twice."""
    rng = np.random.default_rng(8)
    n, X, Z, g, i = 700, *(rng.normal(size=(700, k)) for k in (5, 2)), rng.integers(0, 12, 700), rng.integers(0, 3, 700)
    text = """real f(real y, real eta, real zeta, real a, real b, real h, real s)
    { return normal_logpdf(y, eta + a + b * eta + h, exp(s + zeta + 0.1 * a * h)); }"""
    rows = gs.Rows(
        text, y=rng.normal(size=n), eta=gs.dot(X, of="beta"), zeta=gs.dot(Z, of="gamma"), a=gs.gather(g), b=gs.gather(g),
        h=gs.gather(i),
    )  # fmt: skip
    sizes = {"beta": 5, "gamma": 2, "a": 13, "b": 13, "h": 3}
    values = {name: 0.3 * rng.normal(size=size) for name, size in sizes.items()} | {"s": 0.2}
    names = ("a", "beta", "s", "h", "gamma", "b")
    H = rows.hessian(**values, wrt=names)
    np.testing.assert_allclose(H.toarray(), differences(rows, values, names), rtol=1e-6, atol=1e-5)
    assert np.array_equal(H.toarray(), rows.hessian(**values, wrt=names).toarray())


def test_hessian_of_all_leaves():
    """Numbers of the rows' own, tables of two axes, vectors, weights: as differences of gradients."""
    rng = np.random.default_rng(3)
    n, w = 30, rng.uniform(0.5, 2, 30)
    i, j, X = rng.integers(0, 3, n), rng.integers(0, 2, n), rng.normal(size=(n, 2))
    text = """real f(real y, real eta, real m, real own, const real *c, int dim)
    { return normal_logpdf(y, eta + m * own + c[0], exp(c[1] + 0.1 * m)); }"""
    rows = gs.Rows(text, weights=w, y=rng.normal(size=n), eta=gs.dot(X, of="beta"), m=gs.gather(i, j), own=gs.per_row())
    values = {"beta": rng.normal(size=2), "m": rng.normal(size=(3, 2)), "own": rng.normal(size=n), "c": rng.normal(size=2) / 3}
    names = ("c", "m", "own", "beta")
    H = rows.hessian(**values, wrt=names).toarray()

    np.testing.assert_allclose(H, differences(rows, values, names), rtol=1e-6, atol=1e-6)
    assert isinstance(rows.hessian(**values, wrt=("beta", "c")), np.ndarray)
    with pytest.raises(ValueError, match="one set of parameters"):
        rows.hessian(**values | {"c": np.zeros((3, 2))}, wrt=names)
    pieces = gs.Rows(gs.normal, x=np.zeros(90), mu=gs.per_row(), chunk=30, memory=600)
    with pytest.raises(NotImplementedError, match="mu has a number for each row, and the rows lie in pieces"):
        pieces.fit(priors={"mu": gs.normal(0.0, 1.0)})


def test_sequences():
    """A model of sequences has exact second derivatives in numbers: as SciPy maximises it."""
    rng = np.random.default_rng(4)
    y = [rng.normal(size=20).cumsum() * 0.1 + rng.normal(size=20) for _ in range(30)]
    text = """real ar(const real *y, int n, real mu, real phi, real sigma) {
        real sum = 0;
        for (int t = 1; t < n; t++) sum += normal_logpdf(y[t], mu + phi * (y[t - 1] - mu), sigma);
        return sum; }"""
    rows = gs.Rows(text, y=gs.sequences(y))
    fit = rows.fit(start={"mu": 0.0, "phi": 0.2, "sigma": 1.0})
    now, before = np.concatenate([v[1:] for v in y]), np.concatenate([v[:-1] for v in y])
    slope, intercept = np.polyfit(before, now, 1)
    np.testing.assert_allclose([fit["phi"], fit["mu"]], [slope, intercept / (1 - slope)], rtol=1e-8)
    np.testing.assert_allclose(fit["sigma"], np.std(now - slope * before - intercept), rtol=1e-8)
    np.testing.assert_allclose(fit.covariance, np.linalg.inv(-rows.hessian(**fit.parameters)), rtol=1e-7, atol=1e-12)
    with pytest.raises(NotImplementedError, match="made of sequences"):
        fit.robust()
    by_person = gs.Rows(text, y=gs.sequences(y), mu=gs.per_row()).fit(
        start={"mu": np.zeros(30), "phi": 0.2, "sigma": 1.0}, priors={"mu": gs.normal(0.0, 1.0)}
    )
    assert by_person.converged and by_person.standard_errors["mu"].shape == (30,)


def test_domains_bounds_and_float32():
    """Positive parameters of a density stay positive; a bound holds; float32 finds the same to its precision."""
    rng = np.random.default_rng(5)
    x, g = rng.gamma(2.0, 0.5, 800), rng.integers(0, 2, 800)
    rows = gs.Rows(gs.gamma, x=x, beta=gs.gather(g))
    fit = rows.fit()

    def lost(theta):
        return -stats.gamma.logpdf(x, np.exp(theta[0]), scale=np.exp(-theta[1:])[g]).sum()

    best = np.exp(optimize.minimize(lost, np.zeros(3), tol=1e-12).x)
    np.testing.assert_allclose([fit["alpha"], *fit["beta"]], best, rtol=1e-4)
    assert -lost(np.log([fit["alpha"], *fit["beta"]])) >= -lost(np.log(best)) - 1e-9
    limited = rows.fit(bounds={"beta": (None, [1.0, 10.0])})
    assert limited["beta"][0] == 1.0 and np.isnan(limited.standard_errors["beta"][0])
    single = gs.Rows(gs.gamma, x=x.astype(np.float32), beta=gs.gather(g)).fit()
    np.testing.assert_allclose([single["alpha"], *single["beta"]], [fit["alpha"], *fit["beta"]], rtol=1e-4)
    with pytest.raises(ValueError, match="alpha of gamma must be positive, and -1 is not"):
        rows.fit(start={"alpha": -1.0})
    with pytest.raises(ValueError, match="nan among the data"):
        gs.Rows(gs.gamma, x=np.array([1.0, np.nan])).fit()
