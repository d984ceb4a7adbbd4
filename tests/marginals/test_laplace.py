"""Marginal likelihoods by Laplace's method: beside normal distributions, where it is exact, integrals, and differences."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from scipy import integrate, stats
from thorough import THOROUGH

import gpustats as gs
from gpustats.marginals import blocks
from gpustats.marginals.model import mode_moves

NORMAL = "real f(real y, real x, real a, real b, real u, real s) { return normal_logpdf(y, a + b * x + u, s); }"
COUNTS = "real f(real y, real a, real u) { return poisson_log_logpmf(y, a + u); }"


def counts(y, group, effects, **options):
    rows = gs.Rows(COUNTS, y=np.asarray(y, float), u=gs.gather(np.asarray(group, int)))
    return gs.LaplaceMarginal(rows, effects, **options)


def differences(function, parameters, step=1e-3):
    """Derivatives of a function of named parameters, of matrices along symmetric directions."""
    found = {}
    for name, value in parameters.items():
        value = np.asarray(value, float)
        found[name] = np.zeros(value.shape)
        for place in np.ndindex(value.shape):
            along = np.zeros(value.shape)
            along[place] = step
            along = (along + along.T) / 2
            near = [function(**{**parameters, name: (value + k * along)[()]}) for k in (-3, -2, -1, 1, 2, 3)]
            found[name][place] = np.dot(near, [-1, 9, -45, 45, -9, 1]) / (60 * step)
    return found


def test_normal_rows_are_exact():
    """Value, gradient, modes and covariance of a model of normal rows are those of normal distributions."""
    rng = np.random.default_rng(1)
    g, x = np.r_[np.arange(7), rng.integers(0, 7, 43)], rng.normal(size=50)
    y = rng.normal(x + rng.normal(size=7)[g])
    marginal = gs.LaplaceMarginal(gs.Rows(NORMAL, y=y, x=x, u=gs.gather(g)), {"u": gs.normal(0.0, "tau")})
    assert marginal.parameters == ("a", "b", "s", "tau") and marginal.effects == ("u",)
    theta = {"a": 0.3, "b": 0.8, "s": 0.9, "tau": 0.7}
    same = (g[:, None] == g).astype(float)
    K = theta["s"] ** 2 * np.eye(50) + theta["tau"] ** 2 * same
    apart = y - theta["a"] - theta["b"] * x
    value, slopes = marginal.value_and_grad(**theta)
    assert value == pytest.approx(stats.multivariate_normal(np.zeros(50), K).logpdf(apart), rel=1e-13)
    assert value == marginal(*theta.values())
    weights = np.linalg.solve(K, apart)
    of_K = (np.outer(weights, weights) - np.linalg.inv(K)) / 2
    wanted = [weights.sum(), weights @ x, 2 * theta["s"] * np.trace(of_K), 2 * theta["tau"] * (of_K * same).sum()]
    assert list(slopes.values()) == pytest.approx(wanted, rel=1e-11)
    Z, tau2 = np.eye(7)[g], theta["tau"] ** 2
    np.testing.assert_allclose(marginal.modes(**theta)["u"], tau2 * Z.T @ weights, rtol=1e-11)
    covariance = tau2 * np.eye(7) - tau2**2 * Z.T @ np.linalg.solve(K, Z)
    np.testing.assert_allclose(marginal.covariance(**theta), covariance, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(marginal.standard_errors(**theta)["u"], np.sqrt(np.diag(covariance)), rtol=1e-11)


def test_covariance_of_rows_is_a_parameter():
    """Vectors of a table with a covariance matrix, fitted: the largest likelihood of normal distributions of the groups."""
    rng = np.random.default_rng(2)
    n_groups, x = 40, np.tile([-1.0, 0.0, 1.0, 2.0], 40)
    g, Z = np.repeat(np.arange(40), 4), np.column_stack([np.ones(160), x])
    b = rng.multivariate_normal([0, 0], [[1.0, 0.4], [0.4, 0.5]], n_groups)
    y = rng.normal((Z * b[g]).sum(1), 0.5)
    text = """real f(real y, const real *z, const real *u, real s, int dim) {
        real mean = 0;
        for (int i = 0; i < dim; i++) mean += z[i] * u[i];
        return normal_logpdf(y, mean, s); }"""
    marginal = gs.LaplaceMarginal(gs.Rows(text, y=y, z=Z, u=gs.gather(g)), {"u": gs.mvnormal(np.zeros(2), "Sigma")})

    def exact(s, Sigma):
        own = Z[:4] @ Sigma @ Z[:4].T + s**2 * np.eye(4)
        return stats.multivariate_normal(np.zeros(4), own).logpdf(y.reshape(-1, 4)).sum()

    theta = {"s": 0.6, "Sigma": np.array([[0.8, 0.1], [0.1, 0.6]])}
    value, slopes = marginal.value_and_grad(**theta)
    assert value == pytest.approx(exact(**theta), rel=1e-12)
    for name, wanted in differences(exact, theta).items():
        np.testing.assert_allclose(slopes[name], wanted, rtol=1e-8, atol=1e-8)
    fit = marginal.fit()
    assert fit.converged and fit.log_likelihood == pytest.approx(exact(**fit.parameters), rel=1e-12)
    for slope in differences(exact, fit.parameters).values():
        np.testing.assert_allclose(slope, 0, atol=2e-4)
    draws = marginal.draws(**fit.parameters, size=4000, rng=1)["u"]
    assert draws.shape == (4000, 40, 2)
    covariance = marginal.covariance(**fit.parameters)[:4, :4]
    np.testing.assert_allclose(np.cov(draws[:, :2].reshape(4000, 4).T), covariance, atol=0.1 * covariance.max())
    np.testing.assert_allclose(draws.mean(0), marginal.modes(**fit.parameters)["u"], atol=0.05)
    assert np.isnan(marginal(s=0.6, Sigma=-np.eye(2)))


def test_how_modes_move():
    """Derivatives of the modes in numbers, coefficients and the covariance of a prior, against differences."""
    rng = np.random.default_rng(9)
    g, X = rng.integers(0, 5, 60), rng.normal(size=(60, 2))
    y = rng.poisson(np.exp(0.3 * X[:, 0] + rng.normal(size=5)[g]))
    rows = gs.Rows(
        "real f(real y, real a, real eta, real u, real v, real x) { return poisson_log_logpmf(y, a + eta + u + v * x); }",
        y=y, x=X[:, 1], eta=gs.dot(X, of="beta"), u=gs.gather(g), v=gs.gather(g),
    )  # fmt: skip
    marginal = gs.LaplaceMarginal(rows, {"u": gs.normal(0.0, "tau"), "v": gs.mvnormal(np.zeros(5), "S")})
    theta = {"a": 0.2, "beta": np.array([0.3, -0.1]), "tau": 0.8, "S": np.eye(5) * 0.3 + 0.1}
    along = rng.normal(size=(5, 5))
    directions = {"a": 1.0, "beta": np.array([0.5, 2.0]), "tau": -1.0, "S": along + along.T}
    found = mode_moves(marginal, theta, directions)

    def modes(step):
        values = marginal.modes(**{n: v + step * directions[n] for n, v in theta.items()})
        return np.concatenate([values["u"], values["v"]])

    wanted = (8 * (modes(1e-3) - modes(-1e-3)) - (modes(2e-3) - modes(-2e-3))) / 12e-3
    np.testing.assert_allclose(np.concatenate([found["u"], found["v"]]), wanted, rtol=1e-6, atol=1e-8)


def test_integral_of_large_counts():
    """Of many counts the integral over an effect is nearly that of a normal density."""
    y = np.array([310.0, 290.0, 305.0, 420.0, 433.0])
    marginal = counts(y, [0, 0, 0, 1, 1], {"u": gs.normal(0.0, "tau")})
    value = 0.0
    for own in (y[:3], y[3:]):
        def density(u, own=own):
            return np.exp(stats.poisson(np.exp(5.5 + u)).logpmf(own).sum() + stats.norm(0, 0.5).logpdf(u) + 20)
        value += np.log(integrate.quad(density, -0.5, 1.2, epsabs=0, epsrel=1e-12)[0]) - 20
    assert marginal(a=5.5, tau=0.5) == pytest.approx(value, abs=2e-3)
    assert marginal(a=5.5, tau=0.5) != pytest.approx(value, abs=1e-6)


def models(rng):
    """Marginal likelihoods of effects of all kinds, and values of their parameters."""
    n, g, k = 80, np.r_[np.arange(6), rng.integers(0, 6, 74)], np.r_[np.arange(5), rng.integers(0, 5, 75)]
    x, y = rng.normal(size=n), rng.poisson(1.5, n).astype(float)
    X = rng.normal(size=(n, 3))
    vectors = gs.Rows(
        """real f(real y, real x, real a, const real *u, const real *z, int dim) {
            real e = a + 0.2 * x;
            for (int i = 0; i < dim; i++) e += u[i] * z[i];
            return poisson_log_logpmf(y, e); }""",
        y=y, x=x, weights=rng.uniform(0.5, 2, n), u=gs.gather(g), z=np.column_stack([np.ones(n), x]),
    )  # fmt: skip
    yield "vectors of a table", gs.LaplaceMarginal(vectors, {"u": gs.mvnormal(np.zeros(2), "Sigma")}), {
        "a": 0.1, "Sigma": np.array([[0.5, 0.1], [0.1, 0.3]])
    }  # fmt: skip
    crossed = gs.Rows(
        """real f(real y, real x, real a, real u, real v, real w, real t)
        { return poisson_log_logpmf(y, a + 0.2 * x + u * (1 + 0.1 * v) + v * t + w * x); }""",
        y=y, x=x, u=gs.gather(g), v=gs.gather(k), w=gs.gather(k),
    )  # fmt: skip
    priors = {"u": gs.student_t(5.0, 0.0, "tau"), "v": gs.normal(0.0, 1.0), "w": gs.normal(0.0, "tau")}
    yield "crossed tables", gs.LaplaceMarginal(crossed, priors), {"a": 0.1, "t": 0.3, "tau": 0.6}
    for name, design in (("coefficients", X), ("sparse coefficients", scipy.sparse.csr_array(X * (X > 0)))):
        rows = gs.Rows(
            "real f(real y, real a, real u, real e, real n) { return poisson_log_logpmf(y, a * (1 + e * u) + u + e + n); }",
            y=y, u=gs.gather(g), e=gs.dot(design, of="beta"),
        )  # fmt: skip
        priors = {"u": gs.normal(0.0, "tau"), "beta": gs.normal(0.0, "s"), "n": gs.normal(0.0, 1.0)}
        yield name, gs.LaplaceMarginal(rows, priors), {"a": 0.1, "s": 0.3, "tau": 0.6}
    rows = gs.Rows(
        "real f(real y, real a, real u, real e) { return poisson_log_logpmf(y, a + u + e); }",
        y=y, u=gs.gather(g, k), e=gs.per_row(),
    )  # fmt: skip
    priors = {"u": gs.normal(0.0, "tau"), "e": gs.normal(0.0, "s")}
    yield "numbers of the rows", gs.LaplaceMarginal(rows, priors), {"a": 0.1, "s": 0.3, "tau": 0.6}
    likelihood = gs.Rows(COUNTS, y=y, u=gs.per_row(of="h"))
    walk = gs.Rows(gs.normal, x=gs.per_row(of="h", offset=1), mu=gs.per_row(of="h"))
    first = gs.Rows("real first(real x) { return normal_logpdf(x, 0, 1); }", x=gs.gather(np.array([0]), of="h"))
    yield "a random walk", gs.LaplaceMarginal([likelihood, walk, first], "h"), {"a": 0.1, "sigma": 0.3}


NAMES = [
    "vectors of a table", "crossed tables", "coefficients", "sparse coefficients", "numbers of the rows", "a random walk"
]  # fmt: skip
FEW = NAMES[:2]


@pytest.mark.parametrize("least", [4, 1000])
@pytest.mark.parametrize("name", [n if n in FEW else pytest.param(n, marks=pytest.mark.thorough) for n in NAMES])
def test_gradient(name, least, monkeypatch):
    """Derivatives are those of the value, with effects in blocks and in a dense matrix."""
    monkeypatch.setattr(blocks, "LEAST_IN_BLOCKS", least)
    marginal, theta = next((m, t) for n, m, t in models(np.random.default_rng(3)) if n == name)
    value, slopes = marginal.value_and_grad(**theta)
    assert slopes.keys() == set(marginal.parameters) == theta.keys()
    for parameter, wanted in differences(marginal, theta).items():
        np.testing.assert_allclose(slopes[parameter], wanted, rtol=1e-6, atol=1e-6)
    assert marginal.value_and_grad(**theta)[0] == pytest.approx(value, rel=1e-13)


def test_blocks_are_as_a_dense_matrix(monkeypatch):
    found = []
    for least in (4, 1000):
        monkeypatch.setattr(blocks, "LEAST_IN_BLOCKS", least)
        _, marginal, theta = list(models(np.random.default_rng(3)))[1]
        assert bool(marginal._search._layout.blocks.size) == (least == 4)
        value, slopes = marginal.value_and_grad(**theta)
        found.append(np.r_[value, list(slopes.values()), marginal.covariance(**theta).ravel()])
        drawn = marginal.draws(**theta, size=3000, rng=1)
        elements = np.concatenate(list(drawn.values()), 1)
        np.testing.assert_allclose(np.cov(elements.T), marginal.covariance(**theta), atol=0.05)
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)


def test_many_coefficients_stand_in_a_row_together():
    """As many as groups would be eliminated one by one."""
    rng = np.random.default_rng(14)
    X, y = rng.normal(size=(50, 20)), rng.normal(size=50)
    wanted = stats.multivariate_normal(np.zeros(50), np.eye(50) + 0.49 * X @ X.T).logpdf(y)
    for design in (X, scipy.sparse.csr_array(X)):
        rows = gs.Rows("real f(real y, real e) { return normal_logpdf(y, e, 1); }", y=y, e=gs.dot(design, of="beta"))
        found = gs.LaplaceMarginal(rows, {"beta": gs.normal(0.0, "tau")})(tau=0.7)
        assert found == pytest.approx(wanted, rel=1e-12)


SLOW = [pytest.param(name, marks=THOROUGH) for name in ("coefficients", "sparse coefficients")]


@pytest.mark.parametrize("chosen", ["crossed tables", "numbers of the rows", *SLOW])
def test_sparse_matrices_are_as_dense_ones(monkeypatch, chosen):
    for i, (name, bordered, theta) in enumerate(models(np.random.default_rng(4))):
        if name != chosen:
            continue
        value, slopes = bordered.value_and_grad(**theta)
        with monkeypatch.context() as patched:
            patched.setattr(blocks, "few_meet", lambda *_: True)
            patched.setattr(blocks, "LEAST_IN_BLOCKS", 5)
            sparse = list(models(np.random.default_rng(4)))[i][1]
            assert isinstance(sparse._search._layout, blocks.SparseLayout)
            found, of_sparse = sparse.value_and_grad(**theta)
        assert found == pytest.approx(value, rel=1e-12)
        for n, slope in slopes.items():
            np.testing.assert_allclose(of_sparse[n], slope, rtol=1e-8, atol=1e-10)
        wanted = bordered.covariance(**theta)
        np.testing.assert_allclose(sparse.covariance(**theta), wanted, rtol=1e-8, atol=1e-12)
        errors = np.concatenate([np.ravel(own) for own in sparse.standard_errors(**theta).values()])
        np.testing.assert_allclose(errors, np.sqrt(np.diag(wanted)), rtol=1e-8)
        drawn = np.concatenate([own.reshape(4000, -1) for own in sparse.draws(**theta, size=4000, rng=1).values()], 1)
        np.testing.assert_allclose(np.cov(drawn.T), wanted, atol=0.1 * np.diag(wanted).max())


def test_many_crossed_groups():
    """6,000 and 5,500 groups, of which few meet: the normal likelihood, by SciPy's sparse factorisation."""
    rng = np.random.default_rng(12)
    n, g = 20_000, np.arange(20_000) % 6000
    h = np.unique((g * 5500 // 6000 + rng.integers(0, 3, n)) % 5500, return_inverse=True)[1]
    y = rng.normal(rng.normal(size=6000)[g] + rng.normal(size=5500)[h])
    rows = gs.Rows("real f(real y, real u, real v) { return normal_logpdf(y, u + v, 1); }", y=y, u=gs.gather(g), v=gs.gather(h))
    marginal = gs.LaplaceMarginal(rows, {"u": gs.normal(0.0, "s"), "v": gs.normal(0.0, "t")})

    def by_scipy(s, t):
        ones = np.ones(n)
        Z = scipy.sparse.hstack([scipy.sparse.csr_array((s * ones, g, np.arange(n + 1)), shape=(n, 6000)),
                                 scipy.sparse.csr_array((t * ones, h, np.arange(n + 1)), shape=(n, 5500))])  # fmt: skip
        A = scipy.sparse.linalg.splu((Z.T @ Z + scipy.sparse.eye_array(11_500)).tocsc())
        along = Z.T @ y
        squares, log_det = y @ y - along @ A.solve(along), np.log(np.abs(A.U.diagonal())).sum()
        return -(n * np.log(2 * np.pi) + log_det + squares) / 2

    value, slopes = marginal.value_and_grad(s=0.9, t=1.2)
    assert value == pytest.approx(by_scipy(0.9, 1.2), rel=1e-12)
    near = differences(by_scipy, {"s": 0.9, "t": 1.2})
    assert [slopes["s"], slopes["t"]] == pytest.approx([float(near["s"]), float(near["t"])], rel=1e-6)


def test_a_long_random_walk():
    """20,000 steps: the likelihood is that of a Kalman filter."""
    rng = np.random.default_rng(13)
    y = rng.normal(np.cumsum(rng.normal(0, 0.5, 20_000)), 1.0)
    likelihood = gs.Rows(gs.normal, x=y, mu=gs.per_row(of="level"))
    same = gs.gather(np.zeros(19_999, int), of="step")
    walk = gs.Rows(gs.normal, x=gs.per_row(of="level", offset=1), mu=gs.per_row(of="level"), sigma=same)
    first = gs.Rows("real first(real x) { return normal_logpdf(x, 0, 10); }", x=gs.gather(np.array([0]), of="level"))
    marginal = gs.LaplaceMarginal([likelihood, walk, first], "level")
    mean, variance, wanted = 0.0, 100.0, 0.0
    for i, value in enumerate(y):
        variance += 0.25 * (i > 0)
        total = variance + 1.0
        wanted -= 0.5 * (np.log(2 * np.pi * total) + (value - mean) ** 2 / total)
        mean, variance = mean + variance / total * (value - mean), variance / total
    assert marginal(sigma=1.0, step=np.array([0.5])) == pytest.approx(wanted, rel=1e-12)


def test_fit_of_a_random_walk():
    """A local level of normal numbers: as statsmodels has it by a Kalman filter."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(8)
    y = rng.normal(np.cumsum(rng.normal(0, 0.5, 60)), 1.0)
    likelihood = gs.Rows(gs.normal, x=y, mu=gs.per_row(of="level"), sigma=gs.gather(np.zeros(60, int), of="noise"))
    walk = gs.Rows(
        "// step: positive\nreal walk(real here, real before, real step) { return normal_logpdf(here, before, step); }",
        here=gs.per_row(of="level", offset=1), before=gs.per_row(of="level"),
    )  # fmt: skip
    first = gs.Rows("real first(real x) { return normal_logpdf(x, 0, 10); }", x=gs.gather(np.array([0]), of="level"))
    marginal = gs.LaplaceMarginal([likelihood, walk, first], "level")
    fit = marginal.fit(start={"noise": [0.8], "step": 0.4})
    theirs = sm.tsa.UnobservedComponents(y, "local level")
    theirs.ssm.initialize_known(np.zeros(1), np.full((1, 1), 100.0))
    theirs.loglikelihood_burn = 0
    assert fit.n_observations == 60
    assert fit.log_likelihood == pytest.approx(theirs.loglike([fit["noise"][0] ** 2, fit["step"] ** 2]), rel=1e-9)
    smoothed = theirs.smooth([fit["noise"][0] ** 2, fit["step"] ** 2]).smoothed_state[0]
    np.testing.assert_allclose(marginal.modes(**fit.parameters)["level"], smoothed, rtol=1e-7, atol=1e-8)


def test_scale_of_zero():
    """A scale of 0 multiplies effects of scale 1: what is left is the likelihood without them, and slopes are exact."""
    rng = np.random.default_rng(4)
    y, g, x = rng.integers(0, 2, 60), np.arange(60) % 9, rng.normal(size=60)
    rows = gs.Rows(
        "real f(real y, real x, real a, real b, real tau, real u) { return bernoulli_logit_logpmf(y, a + b * x + tau * u); }",
        y=y, x=x, u=gs.gather(g),
    )  # fmt: skip
    marginal, theta = gs.LaplaceMarginal(rows, {"u": gs.normal(0.0, 1.0)}), {"a": 0.3, "b": -0.5, "tau": 0.0}
    value, slopes = marginal.value_and_grad(**theta)
    alone, its = rows.value_and_grad(u=np.zeros(9), **theta, wrt=("a", "b"))
    assert value == pytest.approx(alone, rel=1e-14) and slopes["tau"] == 0
    assert [slopes["a"], slopes["b"]] == pytest.approx([its["a"], its["b"]], rel=1e-12)
    fit = marginal.fit(bounds={"tau": (0.0, None)}, start={"tau": 0.5})
    assert fit["tau"] >= 0 and fit.converged


def test_value_does_not_depend_on_what_came_before():
    rng = np.random.default_rng(5)
    y, g = rng.poisson(3.0, 200), np.arange(200) % 30
    marginal, fresh = (counts(y, g, {"u": gs.normal(0.0, "tau")}) for _ in range(2))
    for a in (3.0, -5.0, 1.01):
        marginal(a=a, tau=2.0)
    there, anew = marginal.value_and_grad(a=1.0, tau=0.5), fresh.value_and_grad(a=1.0, tau=0.5)
    assert there[0] == pytest.approx(anew[0], rel=1e-13)
    assert list(there[1].values()) == pytest.approx(list(anew[1].values()), rel=1e-9)


def test_rows_in_pieces():
    """Crossed effects and coefficients of rows that do not fit in memory are as those of rows that do."""
    rng = np.random.default_rng(6)
    n, found = 600, []
    data = {"y": rng.poisson(2.0, n).astype(float), "u": gs.gather(np.arange(n) % 40), "v": gs.gather(np.arange(n) // 7 % 5)}
    data["e"] = gs.dot(rng.normal(size=(n, 2)), of="beta")
    for options in ({}, {"chunk": 100, "memory": 20_000}):
        rows = gs.Rows(
            "real f(real y, real u, real v, real e, real a) { return poisson_log_logpmf(y, a + u + v + e); }", **data, **options
        )
        priors = {"u": gs.normal(0.0, "tau"), "v": gs.normal(0.0, 1.0), "beta": gs.normal(0.0, 1.0)}
        marginal = gs.LaplaceMarginal(rows, priors)
        value, slopes = marginal.value_and_grad(a=0.4, tau=0.3)
        found.append([value, *slopes.values(), *marginal.modes(a=0.4, tau=0.3)["beta"]])
    assert rows._pieces is not None
    assert found[1] == pytest.approx(found[0], rel=1e-11)


def test_odd_rows():
    """Groups seen once or never, no rows, float32, invalid parameters, pickles."""
    y, g, theta = [1, 2, 0, 3.0], [0, 0, 1, 2], {"a": 0.1, "tau": 0.5}
    prior = {"u": gs.normal(0.0, "tau")}
    marginal = counts(y, g, prior)
    value = marginal(**theta)
    assert counts(y, g, prior, start={"u": np.zeros(5)})(**theta) == pytest.approx(value, rel=1e-13)
    assert counts([], [], prior)(**theta) == 0
    assert counts([], [], prior, start={"u": np.zeros(2)})(**theta) == pytest.approx(0, abs=1e-14)
    rows = gs.Rows(COUNTS, y=np.array(y, np.float32), u=gs.gather(np.array(g)))
    assert gs.LaplaceMarginal(rows, prior)(**theta) == pytest.approx(value, rel=1e-5)
    assert np.isnan(marginal(a=np.nan, tau=0.5)) and np.isnan(marginal(a=0.1, tau=-1.0))
    nowhere, slopes = marginal.value_and_grad(a=0.1, tau=-1.0)
    assert np.isnan([nowhere, *slopes.values()]).all()
    again = pickle.loads(pickle.dumps(marginal))
    assert again(**theta) == value and repr(again) == repr(marginal)
    assert repr(marginal) == "<f: u (3,) integrated out by Laplace's method, parameters a, tau>"
    assert marginal.draws(a=0.1, tau=np.ones((2, 3)), size=4, rng=1)["u"].shape == (2, 3, 4, 3)
    of_arrays = counts(y, g, {"u": gs.normal(np.array([0.0, 0.1, 0.2]), "tau")})
    shifted = gs.Rows(
        "real f(real y, real m, real a, real u) { return poisson_log_logpmf(y, a + u + m); }",
        y=np.array(y), m=np.array([0.0, 0.1, 0.2])[g], u=gs.gather(np.array(g)),
    )  # fmt: skip
    assert of_arrays(**theta) == pytest.approx(gs.LaplaceMarginal(shifted, prior)(**theta), rel=1e-12)


def test_effects_without_a_prior():
    """What has a mode needs none; what has none is told by name."""
    y, g = [1, 2, 0, 3.0], [0, 0, 1, 2]
    alone = counts([2.0, 4.0], [0, 0], "u")
    assert alone(a=0.0) == pytest.approx(stats.poisson(3.0).logpmf([2, 4]).sum() + np.log(2 * np.pi / 6) / 2, rel=1e-12)
    separated = counts(y, g, ["u"])
    assert np.isnan(separated(a=0.1))
    for ask in (separated.fit, lambda: separated.modes(a=0.1), lambda: separated.draws(a=0.1)):
        with pytest.raises(ValueError, match=r"grows for ever in the direction of u\[1\]; a prior gives one, \{'u': gs.normal"):
            ask()
    rows = gs.Rows(
        "real f(real y, real u, real v) { return normal_logpdf(y, u + v, 1); }",
        y=np.array(y), u=gs.gather(np.array(g)), v=gs.gather(np.array([0, 1, 0, 1])),
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"nothing tells .*u\[.*v\[.* apart"):
        gs.LaplaceMarginal(rows, ["u", "v"]).modes()
    assert np.isfinite(gs.LaplaceMarginal(rows, {"u": gs.normal(0.0, 1.0), "v": None})())


def test_bad_input():
    y, g, prior = [1, 2, 0, 3.0], [0, 0, 1, 2], {"u": gs.normal(0.0, "tau")}
    marginal, rows_of_three = counts(y, g, prior), counts(y, g, {"u": gs.mvnormal(np.zeros(3), "S")})
    for error, words, ask in (
        (ValueError, "no parameter 'taau'; its parameters are a, tau", lambda: marginal(a=0.1, taau=1.0)),
        (ValueError, r"a has shape \(3,\), and must be a number: one set", lambda: marginal(a=np.zeros(3), tau=1.0)),
        (ValueError, "'v'; their parameters are a, u", lambda: counts(y, g, "v")),
        (ValueError, "effects has no names", lambda: counts(y, g, {})),
        (TypeError, "prior of u must be a density with its parameters", lambda: counts(y, g, {"u": 1.0})),
        (TypeError, "of real numbers, or gs.mvnormal, not poisson", lambda: counts(y, g, {"u": gs.poisson(2.0)})),
        (ValueError, "sigma is 'u', an effect", lambda: counts(y, g, {"u": gs.normal(0.0, "u")})),
        (ValueError, r"mu has shape \(2,\), and u has \(3,\)", lambda: counts(y, g, {"u": gs.normal(np.zeros(2), 1.0)})),
        (ValueError, r"mu has shape \(2,\), and must have \(3,\)", lambda: counts(y, g, {"u": gs.mvnormal(np.zeros(2), "S")})),
        (ValueError, "must have 3 elements at least", lambda: counts(y, g, prior, start={"u": np.zeros(2)})),
        (ValueError, "start: 'a' is no effect", lambda: counts(y, g, prior, start={"a": 0.0})),
        (ValueError, r"S has shape \(2, 2\), and must have \(3, 3\)", lambda: rows_of_three(S=np.eye(2), a=0.0)),
        (ValueError, r"do not go together: a \(2,\), tau \(3,\)", lambda: marginal.draws(a=np.zeros(2), tau=np.ones(3))),
        (ValueError, "nothing to fit", lambda: counts(y, g, {"u": gs.normal(0.0, 1.0), "a": gs.normal(0.0, 1.0)}).fit()),
        (TypeError, "rows must be gs.Rows", lambda: gs.LaplaceMarginal("f", "u")),
        (AttributeError, "'tau' is the name of a parameter", lambda: gs.normal(0.0, "tau").logpdf(1.0)),
    ):
        with pytest.raises(error, match=words):
            ask()
    text = "real f(const real *y, int n, real u) { real s = 0; for (int i = 0; i < n; i++) s += y[i] * u; return s; }"
    sequences = gs.Rows(text, y=gs.sequences([[1.0, 2.0], [2.0]]), u=gs.per_row())
    with pytest.raises(NotImplementedError, match="y is made of sequences"):
        gs.LaplaceMarginal(sequences, "u")
    wide = gs.dot(scipy.sparse.eye_array(2, 5001, format="csr"), of="b")
    many = gs.Rows("real f(real y, real e) { return normal_logpdf(y, e, 1); }", y=np.zeros(2), e=wide)
    with pytest.raises(NotImplementedError, match="in 5,001 effects and 5,001 others, which all stand in rows together"):
        gs.LaplaceMarginal(many, {"b": gs.normal(0.0, 1.0)})()
    with pytest.raises(NotImplementedError, match="u has a number for each row, and the rows lie in pieces"):
        gs.LaplaceMarginal(gs.Rows(COUNTS, y=np.ones(1000), u=gs.per_row(), chunk=100, memory=10_000), "u")


def test_fits_have_the_labels_of_the_data():
    """Parameters that are no effects bear the names of columns and labels, as in fits of the rows alone."""
    rng = np.random.default_rng(5)
    X, herd = {"age": rng.normal(size=40), "dose": rng.normal(size=40)}, np.array(["b", "a", "c", "d"])[np.arange(40) % 4]
    year, y = np.array(["old", "new"])[np.arange(40) // 20], rng.normal(size=40) + np.arange(40) % 4
    text = "real f(real y, real eta, real u, real of_year, real s) { return normal_logpdf(y, eta + u + of_year, s); }"
    rows = gs.Rows(text, y=y, eta=gs.dot(X, of="beta"), u=gs.gather(herd), of_year=gs.gather(year))
    fit = gs.LaplaceMarginal(rows, {"u": gs.normal(0.0, "tau")}).fit()
    assert fit.labels == ("beta[age]", "beta[dose]", "of_year[new]", "of_year[old]", "s", "tau")
    assert fit["beta[dose]"] == fit.parameters["beta"][1]
