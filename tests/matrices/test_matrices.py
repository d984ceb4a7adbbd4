"""Distributions of matrices against scipy.stats and mpmath, gradients against differences in mpmath, draws against moments."""

import mpmath as mp
import numpy as np
import pytest
from matrices import positive_definite
from scipy import stats

import gpustats as gs
from gpustats.draws.generator import Generator

inf, nan = np.inf, np.nan
NAMES = ["wishart", "inverse_wishart", "matrix_normal", "matrix_t", "lkj_corr", "lkj_cholesky_cov"]


# ---- definitions, of mpmath matrices and numbers ---------------------------------------------------------------------


def log_multigamma(a, n):
    return mp.mpf(n * (n - 1)) / 4 * mp.log(mp.pi) + sum(mp.loggamma(a - mp.mpf(j) / 2) for j in range(n))


def logdet(a):
    return mp.log(mp.det(a))


def trace(a):
    return sum(a[i, i] for i in range(a.rows))


def wishart(x, nu, V):
    n = x.rows
    return ((nu - n - 1) / 2 * logdet(x) - trace(V**-1 * x) / 2 - nu * n / 2 * mp.log(2) - nu / 2 * logdet(V)
            - log_multigamma(nu / 2, n))  # fmt: skip


def inverse_wishart(x, nu, psi):
    n = x.rows
    return (nu / 2 * logdet(psi) - nu * n / 2 * mp.log(2) - log_multigamma(nu / 2, n) - (nu + n + 1) / 2 * logdet(x)
            - trace(psi * x**-1) / 2)  # fmt: skip


def matrix_normal(x, mu, rowcov, colcov):
    n, p = x.rows, x.cols
    square = trace(colcov**-1 * (x - mu).T * rowcov**-1 * (x - mu))
    return -(n * p * mp.log(2 * mp.pi) + p * logdet(rowcov) + n * logdet(colcov) + square) / 2


def matrix_t(x, nu, mu, row_scale, col_scale):
    n, p = x.rows, x.cols
    inner = mp.eye(n) + row_scale**-1 * (x - mu) * col_scale**-1 * (x - mu).T
    total = nu + n + p - 1
    value = log_multigamma(total / 2, n) - log_multigamma((total - p) / 2, n) - mp.mpf(n * p) / 2 * mp.log(mp.pi)
    return value - (p * logdet(row_scale) + n * logdet(col_scale) + total * logdet(inner)) / 2


def lkj_constant(eta, n):
    """Lewandowski, Kurowicka & Joe (2009), eq. 16"""
    total = mp.mpf(0)
    for k in range(1, n):
        half = eta + mp.mpf(n - k - 1) / 2
        total += (2 * eta - 2 + n - k) * (n - k) * mp.log(2) + (n - k) * mp.log(mp.beta(half, half))
    return total


def lkj_corr(x, eta):
    return (eta - 1) * logdet(x) - lkj_constant(eta, x.rows)


def lkj_cholesky_cov(x, eta, lam):
    """The density of the covariance, of the correlations times that of the standard deviations, as one of the factor.

    From the numbers of the factor to those of the covariance the volume is 2^n prod l_ii^(n - i), i = 0, …; from standard
    deviations and correlations to these it is 2^n prod s_i^n.
    """
    n = x.rows
    cov = x * x.T
    s = [mp.sqrt(cov[i, i]) for i in range(n)]
    corr = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            corr[i, j] = cov[i, j] / (s[i] * s[j])
    value = lkj_corr(corr, eta) + sum(mp.log(lam) - lam * t for t in s)
    value -= sum(mp.log(2) + n * mp.log(t) for t in s)
    return value + sum(mp.log(2) + (n - i) * mp.log(x[i, i]) for i in range(n))


EXACT = {f.__name__: f for f in (wishart, inverse_wishart, matrix_normal, matrix_t, lkj_corr, lkj_cholesky_cov)}


def correlation(rng, *shape):
    a = positive_definite(rng, *shape)
    d = np.sqrt(np.diagonal(a, axis1=-2, axis2=-1))
    c = a / d[..., None] / d[..., None, :]
    c[..., np.arange(shape[-1]), np.arange(shape[-1])] = 1
    return c


def example(name, rng, n=3, p=2, *stack):
    """Arguments, x first."""
    spd = lambda k: positive_definite(rng, *stack, k, k)  # noqa: E731
    uniform = lambda low, high: rng.uniform(low, high, stack)  # noqa: E731
    if name in ("wishart", "inverse_wishart"):
        return spd(n), uniform(n, n + 5), spd(n)
    if name in ("matrix_normal", "matrix_t"):
        tables = rng.normal(size=(*stack, n, p)), rng.normal(size=(*stack, n, p))
        return (tables[0], *((uniform(1, 9),) if name == "matrix_t" else ()), tables[1], spd(n), spd(p))
    if name == "lkj_corr":
        return correlation(rng, *stack, n, n), uniform(0.5, 4)
    return np.linalg.cholesky(spd(n)), uniform(0.5, 4), uniform(0.5, 2)


def exact(name, *args):
    with mp.workdps(50):
        return EXACT[name](*(mp.matrix(a.tolist()) if np.ndim(a) else mp.mpf(float(a)) for a in args))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n, p", [(1, 1), (2, 3), (4, 2)])
def test_against_mpmath(name, n, p, rng):
    args = example(name, rng, n, p, 4)
    want = np.array([float(exact(name, *(a[i] for a in args))) for i in range(4)])
    distribution = getattr(gs, name)
    got = distribution.logpdf(*args)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(distribution.pdf(*args), np.exp(want), rtol=1e-10)
    np.testing.assert_allclose(distribution.loglik(*args), want.sum(), rtol=1e-12)
    single = distribution.logpdf(*(a.astype(np.float32) for a in args))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, want, rtol=2e-4, atol=2e-4)  # by the condition of the matrices


def test_against_scipy(rng):
    x, nu, V = example("wishart", rng, 4)
    nu = float(nu)
    np.testing.assert_allclose(gs.wishart.logpdf(x, nu, V), stats.wishart.logpdf(x, nu, V), rtol=1e-11)
    np.testing.assert_allclose(gs.inverse_wishart.logpdf(x, nu, V), stats.invwishart.logpdf(x, nu, V), rtol=1e-11)
    x, mu, rows, columns = example("matrix_normal", rng, 4, 3)
    want = stats.matrix_normal.logpdf(x, mu, rows, columns)
    np.testing.assert_allclose(gs.matrix_normal.logpdf(x, mu, rows, columns), want, rtol=1e-11)
    if hasattr(stats, "matrix_t"):
        want = stats.matrix_t.logpdf(x, mu, rows, columns, 3.5)
        np.testing.assert_allclose(gs.matrix_t.logpdf(x, 3.5, mu, rows, columns), want, rtol=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_gradients(name, rng):
    """In all arguments, along symmetric changes where the argument is symmetric."""
    distribution, args = getattr(gs, name), example(name, rng)
    names = [a.name for a in distribution.arguments]
    value, gradient = distribution.loglik_and_grad(*args, wrt=names)
    assert value == pytest.approx(float(exact(name, *args)), rel=1e-12) and list(gradient) == names
    for i, a in enumerate(args):
        if not np.ndim(a):
            with mp.workdps(50):
                ends = [float(a * (1 + step)) for step in (2**-20, -(2**-20))]
                moved = [exact(name, *args[:i], end, *args[i + 1 :]) for end in ends]
                want = float((moved[0] - moved[1]) / (mp.mpf(ends[0]) - mp.mpf(ends[1])))
            assert gradient[names[i]] == pytest.approx(want, rel=1e-9, abs=1e-10)
            continue
        assert gradient[names[i]].shape == a.shape
        triangular, fixed = name == "lkj_cholesky_cov" and i == 0, name == "lkj_corr" and i == 0
        symmetric = a.shape[0] == a.shape[1] and np.array_equal(a, a.T)
        for j, k in np.ndindex(a.shape):
            if (triangular and k > j) or (fixed and j == k):
                assert gradient[names[i]][j, k] == 0
                continue
            want = float(slope(name, args, i, j, k, symmetric))
            got = gradient[names[i]][j, k] * (2 if symmetric and j != k else 1)
            assert got == pytest.approx(want, rel=1e-10, abs=1e-10), (names[i], j, k)


def slope(name, args, i, j, k, symmetric):
    with mp.workdps(50):
        given = [mp.matrix(a.tolist()) if np.ndim(a) else mp.mpf(float(a)) for a in args]
        h = mp.mpf(10) ** -15
        values = []
        for step in (h, -h):
            moved = given[i].copy()
            moved[j, k] += step
            if symmetric and j != k:
                moved[k, j] += step
            values.append(EXACT[name](*given[:i], moved, *given[i + 1 :]))
        return (values[0] - values[1]) / (2 * h)


@pytest.mark.parametrize("name", NAMES)
def test_broadcasting(name, rng):
    """Observations along the last of the leading axes, sets of parameters along the one before."""
    distribution = getattr(gs, name)
    x = example(name, rng, 3, 2, 5)[0]
    parameters = example(name, rng, 3, 2, 4)[1:]
    sets = [p[:, None] for p in parameters]
    table = distribution.logpdf(x, *sets)
    each = np.array([[distribution.logpdf(x[j], *(p[k] for p in parameters)) for j in range(5)] for k in range(4)])
    np.testing.assert_allclose(table, each, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(distribution.loglik(x, *sets), each.sum(1), rtol=1e-12)
    names = [a.name for a in distribution.arguments]
    _, gradient = distribution.loglik_and_grad(x, *sets, wrt=names)
    parts = [[distribution.loglik_and_grad(x[j], *(p[k] for p in parameters), wrt=names)[1] for j in range(5)]
             for k in range(4)]  # fmt: skip
    for name_of, given in zip(names, (x, *sets)):
        assert gradient[name_of].shape == given.shape
        every = np.array([[np.asarray(parts[k][j][name_of]) for j in range(5)] for k in range(4)])
        want = every.sum(0) if name_of == "x" else every.sum(1)[:, None]
        np.testing.assert_allclose(gradient[name_of], want, rtol=1e-10, atol=1e-10)
    by_name = distribution.logpdf(x, **dict(zip(distribution.parameters, sets)))
    np.testing.assert_array_equal(by_name, table)
    flipped = np.asfortranarray(x[::-1])[::-1]  # not contiguous
    np.testing.assert_allclose(distribution.logpdf(flipped, *sets), table, rtol=1e-13)


def test_outside_and_invalid():
    one, bad = np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]])
    skew = np.array([[1.0, 0.5], [0.0, 1.0]])
    x = np.stack([one, bad, skew, np.full((2, 2), nan)])
    for distribution in (gs.wishart, gs.inverse_wishart):
        got = distribution.logpdf(x, 3.0, one)
        assert np.isfinite(got[0]) and (got[1:3] == -inf).all() and np.isnan(got[3])
        assert np.isnan(distribution.logpdf(one, [1.0, 0.5, -1, nan, inf], one)).all()
        assert np.isnan(distribution.logpdf(one, 3.0, x[1:])).all()
        value, gradient = distribution.loglik_and_grad(x[:2], 3.0, one, wrt=("x", "nu"))
        assert value == -inf and (gradient["x"][1] == 0).all() and np.isfinite(gradient["nu"])
        with pytest.raises(ValueError, match="nu > n - 1"):
            distribution.rvs(0.5, one)
        with pytest.raises(ValueError, match="positive definite"):
            distribution.rvs(3.0, bad)
    got = gs.lkj_corr.logpdf(np.stack([one, 2 * one, bad]), 2.0)
    assert np.isfinite(got[0]) and (got[1:] == -inf).all()
    assert np.isnan(gs.lkj_corr.logpdf(one, [0.0, -1, nan])).all()
    got = gs.lkj_cholesky_cov.logpdf(np.stack([one, -one, 0 * one]), 2.0, 1.0)
    assert np.isfinite(got[0]) and (got[1:] == -inf).all()
    assert np.isnan(gs.matrix_normal.logpdf(one, one, bad, one)) and np.isnan(gs.matrix_t.logpdf(one, 0.0, one, one, one))


def test_mistakes():
    one = np.eye(2)
    with pytest.raises(ValueError, match=r"x of wishart has shape \(2, 3\), but must be a matrix or a stack of them"):
        gs.wishart.logpdf(np.zeros((2, 3)), 3.0, one)
    with pytest.raises(ValueError, match=r"V of wishart has shape \(3, 3\), but must be .* where n is 2, as x has it"):
        gs.wishart.logpdf(one, 3.0, np.eye(3))
    with pytest.raises(ValueError, match="leading axes do not broadcast"):
        gs.wishart.logpdf(np.stack([one] * 2), np.ones(3), one)
    with pytest.raises(TypeError, match="wishart takes x, nu, V"):
        gs.wishart.logpdf(one, 3.0)
    with pytest.raises(ValueError, match="wrt"):
        gs.wishart.loglik_and_grad(one, 3.0, one, wrt="df")
    with pytest.raises(ValueError, match="n is 0"):
        gs.lkj_corr.rvs(1.0, n=0)
    with pytest.raises(ValueError, match=r"size \(3,\) does not fit"):
        gs.wishart.rvs([3.0, 4.0], one, size=3)


# ---- draws -----------------------------------------------------------------------------------------------------------

N = 40_000


def standardised(a, b):
    """How many standard errors the mean of each number of draws a lies away from b."""
    return np.abs(a.mean(0) - b) / (a.std(0) / np.sqrt(len(a)) + 1e-12)


def test_draws_of_covariances(rng):
    V, nu = positive_definite(rng, 3, 3), 7.5
    x = gs.wishart.rvs(nu, V, size=N, rng=1)
    assert x.shape == (N, 3, 3) and standardised(x, nu * V).max() < 5
    np.testing.assert_allclose(gs.wishart.mean(nu, V), nu * V)
    # tr(V^-1 x) is chi-squared, and so is x_00 / V_00
    assert stats.kstest(np.einsum("ij,kji->k", np.linalg.inv(V), x), stats.chi2(3 * nu).cdf).pvalue > 1e-3
    assert stats.kstest(x[:, 2, 2] / V[2, 2], stats.chi2(nu).cdf).pvalue > 1e-3
    y = gs.inverse_wishart.rvs(nu, V, size=N, rng=2)
    assert standardised(y, gs.inverse_wishart.mean(nu, V)).max() < 5
    assert stats.kstest(np.einsum("ij,kji->k", V, np.linalg.inv(y)), stats.chi2(3 * nu).cdf).pvalue > 1e-3
    theirs = stats.invwishart(nu, V).rvs(N, random_state=3)
    for i, j in [(0, 0), (1, 2)]:
        assert stats.ks_2samp(y[:, i, j], theirs[:, i, j]).pvalue > 1e-3


def test_draws_of_tables(rng):
    mu, rows, columns = example("matrix_normal", rng, 2, 3)[1:]
    x = gs.matrix_normal.rvs(mu, rows, columns, size=N, rng=1)
    assert standardised(x, mu).max() < 5
    want = np.kron(rows, columns)
    assert np.abs(np.cov(x.reshape(N, -1).T) - want).max() < 0.05 * want.max()
    t = gs.matrix_t.rvs(4.0, mu, rows, columns, size=N, rng=1)
    scale = np.sqrt(np.multiply.outer(np.diag(rows), np.diag(columns)) / 4)
    for i, j in np.ndindex(2, 3):  # each number has Student's t distribution
        assert stats.kstest((t[:, i, j] - mu[i, j]) / scale[i, j], stats.t(4).cdf).pvalue > 1e-3


def test_draws_of_correlations():
    for eta, n in [(1.0, 2), (0.5, 4), (3.0, 5)]:
        x = gs.lkj_corr.rvs(eta, n=n, size=N, rng=1)
        assert x.shape == (N, n, n) and (np.diagonal(x, axis1=1, axis2=2) == 1).all() and np.array_equal(x, x.swapaxes(1, 2))
        shape = eta + (n - 2) / 2
        for i, j in [(1, 0), (n - 1, 0), (n - 1, n - 2)]:
            assert stats.kstest((1 + x[:, i, j]) / 2, stats.beta(shape, shape).cdf).pvalue > 1e-3
    factor = gs.lkj_cholesky_cov.rvs(2.0, [[0.5], [4.0]], n=3, size=(2, N), rng=1)
    deviations = np.sqrt((factor**2).sum(-1))
    for i, rate in enumerate([0.5, 4.0]):
        assert stats.kstest(deviations[i, :, 2], stats.expon(scale=1 / rate).cdf).pvalue > 1e-3
    corr = (factor @ factor.swapaxes(-1, -2)) / deviations[..., None] / deviations[..., None, :]
    assert stats.kstest((1 + corr[0, :, 2, 1]) / 2, stats.beta(2.5, 2.5).cdf).pvalue > 1e-3
    assert stats.kstest((1 + corr[0, :, 1, 0]) / 2, stats.beta(2.5, 2.5).cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", ["ortho_group", "special_ortho_group", "unitary_group"])
def test_groups(name):
    x = getattr(gs, name).rvs(3, size=(2, N // 2), rng=1).reshape(N, 3, 3)
    np.testing.assert_allclose(x @ x.conj().swapaxes(1, 2), np.broadcast_to(np.eye(3), x.shape), atol=1e-13)
    determinant = np.linalg.det(x)
    if name == "special_ortho_group":
        np.testing.assert_allclose(determinant, 1)
    elif name == "ortho_group":
        assert abs((determinant > 0).mean() - 0.5) < 5 * 0.5 / np.sqrt(N)
    # the square of one number is that of a point of the sphere
    theirs = stats.beta(1, 2) if name == "unitary_group" else stats.beta(0.5, 1)
    for i, j in np.ndindex(3, 3):
        assert stats.kstest(np.abs(x[:, i, j]) ** 2, theirs.cdf).pvalue > 1e-4
    if name != "unitary_group":
        assert standardised(x, 0).max() < 5
    with pytest.raises(ValueError, match="n is 0"):
        getattr(gs, name).rvs(0)


@pytest.mark.parametrize("draw", [
    lambda rng: gs.wishart.rvs(5.0, np.eye(3), size=4, rng=rng), lambda rng: gs.lkj_corr.rvs(2.0, n=4, size=3, rng=rng),
    lambda rng: gs.matrix_normal.rvs(np.zeros((2, 3)), np.eye(2), np.eye(3), rng=rng),
    lambda rng: gs.special_ortho_group.rvs(3, rng=rng),
])  # fmt: skip
def test_draws_are_repeated(draw):
    generator = Generator(7)
    np.testing.assert_array_equal(draw(7), draw(generator))
    assert not np.array_equal(draw(generator), draw(7))


def test_modes(rng):
    """The gradient vanishes there."""
    x, nu, V = example("wishart", rng, 3)
    for distribution in (gs.wishart, gs.inverse_wishart):
        _, gradient = distribution.loglik_and_grad(distribution.mode(nu + 3, V), nu + 3, V, wrt="x")
        np.testing.assert_allclose(gradient["x"], 0, atol=1e-10)
    assert np.isnan(gs.wishart.mode(3.5, V)).all() and np.isnan(gs.inverse_wishart.mean(3.5, V)).all()


def test_empty_stacks():
    assert gs.wishart.logpdf(np.zeros((0, 2, 2)), 3.0, np.eye(2)).shape == (0,)
    assert gs.lkj_corr.rvs(1.0, n=3, size=0, rng=1).shape == (0, 3, 3)
