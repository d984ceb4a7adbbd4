"""Distributions of matrices against scipy.stats, differences, and distributions that follow from them."""

import itertools

import numpy as np
import pytest
from scipy import integrate, stats

import gpustats as gs

inf, nan = np.inf, np.nan


def definite(rng, *shape):
    root = rng.normal(size=(*shape, shape[-1] + 2))
    return root @ root.swapaxes(-1, -2)


def shapes_of(rng, *stack, m=3, n=2):
    return rng.normal(size=(*stack, m, n)), definite(rng, *stack, m), definite(rng, *stack, n)


#: name -> (x, *parameters) from a generator, scipy.stats' log-density of them
CASES = {
    "wishart": (lambda rng: (definite(rng, 3), 4.5, definite(rng, 3)), lambda x, nu, V: stats.wishart(nu, V).logpdf(x)),
    "inverse_wishart": (
        lambda rng: (definite(rng, 3), 4.5, definite(rng, 3)), lambda x, nu, V: stats.invwishart(nu, V).logpdf(x)
    ),
    "matrix_normal": (
        lambda rng: (rng.normal(size=(3, 2)), *shapes_of(rng)), lambda x, mu, U, V: stats.matrix_normal(mu, U, V).logpdf(x)
    ),
    "matrix_t": (
        lambda rng: (rng.normal(size=(3, 2)), 4.5, *shapes_of(rng)),
        lambda x, nu, mu, U, V: stats.matrix_t(mu, U, V, nu).logpdf(x),
    ),
}  # fmt: skip
each = pytest.mark.parametrize("name", CASES)


@each
def test_scipy_agrees(name, rng):
    make, theirs = CASES[name]
    for _ in range(5):
        args = make(rng)
        np.testing.assert_allclose(getattr(gs, name).logpdf(*args), theirs(*args), rtol=1e-10)
    one = {"wishart": (2.0, [[3.0]]), "inverse_wishart": (2.0, [[3.0]]), "matrix_normal": ([[1.0]], [[2.0]], [[3.0]]),
           "matrix_t": (2.0, [[1.0]], [[2.0]], [[3.0]])}[name]  # fmt: skip
    np.testing.assert_allclose(getattr(gs, name).logpdf([[0.7]], *one), theirs(np.array([[0.7]]), *one), rtol=1e-10)


@each
def test_stacks_broadcast(name, rng):
    make, _ = CASES[name]
    sets = [make(rng) for _ in range(3)]
    x, *parameters = (np.stack([np.asarray(s[i]) for s in sets]) for i in range(len(sets[0])))
    distribution = getattr(gs, name)
    table = distribution.logpdf(x[:, None], *parameters)
    want = [[distribution.logpdf(a, *p) for p in zip(*parameters)] for a in x]
    np.testing.assert_allclose(table, want, rtol=1e-12)
    np.testing.assert_allclose(distribution.loglik(x[:, None], *parameters), np.sum(want), rtol=1e-12)
    single = distribution.logpdf(x.astype(np.float32), *parameters)
    assert single.dtype == np.float32 and distribution.logpdf(x[:0], *(p[:1] for p in parameters)).shape == (0,)
    strided = np.repeat(x, 2, 0)[::2].swapaxes(-1, -2).copy().swapaxes(-1, -2)
    np.testing.assert_array_equal(distribution.logpdf(strided, *parameters), np.diagonal(table))


@pytest.mark.parametrize("name", [*CASES, "lkj_corr", "lkj_cholesky"])
def test_derivatives(name, rng):
    """By differences; a symmetric matrix changes on both sides of its diagonal."""
    distribution = getattr(gs, name)
    if name.startswith("lkj"):
        x = getattr(gs, name).rvs([0.7, 2.5], 4, rng=1)
        args = [x, np.array([[0.7], [2.5]])]
    else:
        sets = [CASES[name][0](rng) for _ in range(2)]
        args = [np.stack([np.asarray(s[i]) for s in sets]) for i in range(len(sets[0]))]
        args[1] = args[1][:, None]  # sums over both
    names = ("x", *distribution.parameters)
    value, gradient = distribution.loglik_and_grad(*args, wrt=names)
    assert value == pytest.approx(distribution.loglik(*args), rel=1e-13)
    symmetric = {"x": name in ("wishart", "inverse_wishart", "lkj_corr"), "U": True, "V": True}
    for i, argument in enumerate(names):
        assert gradient[argument].shape == np.shape(args[i])
        matrix = argument in distribution.matrices
        for place in np.ndindex(np.shape(args[i])):
            mirrored = (*place[:-2], place[-1], place[-2]) if matrix and symmetric.get(argument) else place
            on_diagonal = matrix and place[-1] == place[-2]
            if (name == "lkj_corr" and on_diagonal) or (name == "lkj_cholesky" and argument == "x"):
                continue
            h = 1e-5 * max(1, abs(args[i][place]))
            ends = []
            for sign in (1, -1):
                moved = [np.array(a, float) for a in args]
                moved[i][place] += sign * h
                if mirrored != place:
                    moved[i][mirrored] += sign * h
                ends.append(distribution.loglik(*moved))
            want = (ends[0] - ends[1]) / (2 * h)
            got = gradient[argument][place] * (1 if mirrored == place else 2)
            assert got == pytest.approx(want, rel=2e-6, abs=2e-6), (argument, place)


def test_derivatives_of_a_cholesky_factor():
    """In its diagonal alone; the rows' lengths are 1."""
    L = gs.lkj_cholesky.rvs(1.5, 4, rng=1)
    gradient = gs.lkj_cholesky.loglik_and_grad(L, 1.5, wrt="x")[1]["x"]
    np.testing.assert_allclose(gradient, np.diag(np.array([0, 3, 2, 1]) / np.diag(L)), rtol=1e-13)


def test_values_that_are_none(rng):
    V, x = definite(rng, 3, 3), definite(rng, 3, 3)
    x[1] = -x[1]
    V[2, 0, 0] = -1
    np.testing.assert_array_equal(np.isfinite(gs.wishart.logpdf(x, 5.0, V)), [True, False, False])
    assert gs.wishart.logpdf(x, 5.0, V)[1] == -inf and np.isnan(gs.wishart.logpdf(x, 5.0, V)[2])
    assert np.isnan(gs.wishart.logpdf(x[0], [2.0, nan, -1], V[0])).all() and np.isnan(gs.wishart.logpdf(nan * x[0], 5.0, V[0]))
    apart = x[0].copy()
    apart[0, 1] += 1
    assert gs.wishart.logpdf(apart, 5.0, V[0]) == -inf and np.isnan(gs.wishart.logpdf(x[0], 5.0, apart))
    value, gradient = gs.wishart.loglik_and_grad(x, 5.0, V)
    assert np.isnan(value) and np.isfinite(gradient["V"][0]).all() and np.isnan(gradient["V"][1:]).all()
    mu, U, W = shapes_of(rng)
    infinite = np.full((3, 2), inf)
    assert gs.matrix_normal.logpdf(infinite, mu, U, W) == -inf == gs.matrix_t.logpdf(infinite, 3, mu, U, W)
    assert np.isnan(gs.matrix_t.logpdf(mu, 0.0, mu, U, W)) and np.isnan(gs.matrix_normal.logpdf(mu, mu * inf, U, W))
    assert gs.lkj_corr.logpdf(2 * np.eye(2), 1.0) == -inf and np.isnan(gs.lkj_corr.logpdf(np.eye(2), 0.0))
    for off in ([[1, 0.6], [0.6, 0.8]], [[1, 0], [0.6, -0.8]], [[1, 0], [0.6, 0.9]]):
        assert gs.lkj_cholesky.logpdf(off, 1.0) == -inf


@pytest.mark.parametrize("eta", [0.5, 1.0, 3.0])
def test_the_densities_of_correlations_integrate_to_one(eta):
    plane = integrate.quad(lambda r: np.exp(gs.lkj_corr.logpdf([[1, r], [r, 1]], eta)), -1, 1)[0]
    assert plane == pytest.approx(1, rel=1e-7)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    a, b = nodes[:, None, None], nodes[None, :, None]  # of three correlations, the third one within what the others leave it
    room = np.sqrt((1 - a**2) * (1 - b**2))
    c = a * b + room * nodes
    R = np.stack(np.broadcast_arrays(1 + 0 * c, a, b, a, 1, c, b, c, 1), -1).reshape(60, 60, 60, 3, 3)
    density = gs.lkj_corr.pdf(R, eta) * room
    total = np.einsum("ijk,i,j,k", density, weights, weights, weights)
    assert total == pytest.approx(1, rel=1e-2 if eta < 1 else 1e-4)


def test_the_factor_has_the_density_of_its_matrix():
    """Up to the Jacobian of R = L L', the product of L_kk^(n - k)."""
    L = gs.lkj_cholesky.rvs(2.0, 4, size=5, rng=2)
    jacobian = (np.log(np.diagonal(L, axis1=-2, axis2=-1)) * (3 - np.arange(4))).sum(-1)
    want = gs.lkj_corr.logpdf(L @ L.swapaxes(-1, -2), 2.0) + jacobian
    np.testing.assert_allclose(gs.lkj_cholesky.logpdf(L, 2.0), want, rtol=1e-11)


# ---- draws

N = 20_000


def probable(x, cdf):
    return stats.kstest(x, cdf).pvalue > 1e-4


def test_wishart_draws(rng):
    V, nu = definite(rng, 3), 4.5
    x = gs.wishart.rvs(nu, V, size=N, rng=1)
    root = np.linalg.inv(np.linalg.cholesky(V))
    white = root @ x @ root.T
    for i in range(3):
        assert probable(white[:, i, i], stats.chi2(nu).cdf)
    inverse = np.linalg.inv(white)
    assert all(probable(1 / inverse[:, i, i], stats.chi2(nu - 2).cdf) for i in range(3))
    theirs = stats.wishart(nu, V).rvs(N, random_state=1)
    assert stats.ks_2samp(np.linalg.slogdet(x)[1], np.linalg.slogdet(theirs)[1]).pvalue > 1e-4
    assert stats.ks_2samp(x[:, 0, 1], theirs[:, 0, 1]).pvalue > 1e-4
    np.testing.assert_allclose(x.mean(0), gs.wishart.mean(nu, V), atol=0.1 * np.abs(V).max())


def test_inverse_wishart_draws(rng):
    V, nu = definite(rng, 3), 5.5
    x = gs.inverse_wishart.rvs(nu, V, size=N, rng=1)
    theirs = stats.invwishart(nu, V).rvs(N, random_state=1)
    for i, j in itertools.combinations_with_replacement(range(3), 2):
        assert stats.ks_2samp(x[:, i, j], theirs[:, i, j]).pvalue > 1e-4
    np.testing.assert_allclose(gs.inverse_wishart.mean(nu, V), stats.invwishart(nu, V).mean())


@pytest.mark.parametrize("name", ["matrix_normal", "matrix_t"])
def test_draws_of_rows_and_columns(name, rng):
    _, *parameters = CASES[name][0](rng)
    x = getattr(gs, name).rvs(*parameters, size=N, rng=1)
    theirs = stats.matrix_normal(*parameters) if name == "matrix_normal" else stats.matrix_t(*parameters[1:], parameters[0])
    theirs = theirs.rvs(N, random_state=1)
    for i, j in np.ndindex(3, 2):
        assert stats.ks_2samp(x[:, i, j], theirs[:, i, j]).pvalue > 1e-4
        assert stats.ks_2samp(x[:, i, j] + x[:, 0, 1], theirs[:, i, j] + theirs[:, 0, 1]).pvalue > 1e-4


@pytest.mark.parametrize("n, eta", [(2, 1.0), (4, 0.5), (5, 3.0)])
def test_correlations_are_beta(n, eta):
    R = gs.lkj_corr.rvs(eta, n, size=N, rng=1)
    assert (np.abs(R) <= 1).all() and (R == R.swapaxes(-1, -2)).all() and (R[:, range(n), range(n)] == 1).all()
    shape = eta + n / 2 - 1
    for i, j in itertools.combinations(range(n), 2):
        assert probable(R[:, i, j], stats.beta(shape, shape, loc=-1, scale=2).cdf)
    assert np.isfinite(gs.lkj_corr.logpdf(R[:100], eta)).all()
    L = gs.lkj_cholesky.rvs(eta, n, size=N, rng=1)
    np.testing.assert_allclose(L @ L.swapaxes(-1, -2), R, atol=1e-14)


@pytest.mark.parametrize("name", ["orthogonal", "special_orthogonal", "unitary"])
def test_rotations(name):
    q = getattr(gs, name).rvs(3, size=N, rng=1)
    np.testing.assert_allclose(q @ q.conj().swapaxes(-1, -2), np.broadcast_to(np.eye(3), q.shape), atol=1e-12)
    det = np.linalg.det(q)
    if name == "unitary":
        assert probable(np.angle(det), stats.uniform(-np.pi, 2 * np.pi).cdf)
        assert probable(np.abs(q[:, 0, 0]) ** 2, stats.beta(1, 2).cdf)
        return
    assert np.allclose(det, 1) if name == "special_orthogonal" else abs(det.mean()) < 0.04
    for i, j in np.ndindex(3, 3):
        assert probable(q[:, i, j], stats.uniform(-1, 2).cdf)
    if name == "special_orthogonal":
        assert probable(np.trace(q, axis1=1, axis2=2), trace_cdf)
    group = getattr(gs, name)
    assert group.rvs(1, rng=1).shape == (1, 1) and group.rvs(2, size=(0, 3), rng=1).shape == (0, 3, 2, 2)


def trace_cdf(t):
    """Of a uniform rotation: the trace is 1 + 2 cos(angle), the angle's density (1 - cos(angle)) / pi."""
    angle = np.arccos(np.clip((t - 1) / 2, -1, 1))
    return 1 - (angle - np.sin(angle)) / np.pi


@pytest.mark.parametrize(
    "name, args",
    [("wishart", (4.0, np.eye(2))), ("matrix_t", (3.0, np.zeros((2, 3)), np.eye(2), np.eye(3))), ("lkj_corr", (2.0, 3)),
     ("orthogonal", (3,))],
)  # fmt: skip
def test_draws_in_parts_are_those_of_one_call(name, args):
    rvs = getattr(gs, name).rvs
    whole, rng = rvs(*args, size=100, rng=7), gs.Generator(7)
    parts = [rvs(*args, size=n, rng=rng) for n in (1, 60, 0, 39)]
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-12, atol=1e-14)
    assert len(np.unique(whole.reshape(100, -1), axis=0)) == 100
    np.testing.assert_allclose(rvs(*args, size=(10, 10), rng=7).reshape(whole.shape), whole, rtol=1e-12, atol=1e-14)


def test_parameters_of_draws_broadcast(rng):
    V = definite(rng, 4, 2)
    x = gs.wishart.rvs(np.array([[3.0], [30.0]]), V, size=(5000, 2, 4), rng=1)
    np.testing.assert_allclose(x.mean(0), np.array([3.0, 30.0])[:, None, None, None] * V, rtol=0.3, atol=0.3)
    assert gs.wishart.rvs([3.0, 4.0], V[:2], rng=1).shape == (2, 2, 2) and gs.wishart.rvs(3.0, V[0], rng=1).shape == (2, 2)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: gs.wishart.logpdf(np.ones((2, 3)), 3.0, np.eye(3)), r"x has shape \(2, 3\): it must be \(..., n, n\)"),
        (lambda: gs.wishart.logpdf(np.eye(2), 3.0, np.eye(3)), r"matrices of one shape .* x has \(2, 2\), V has \(3, 3\)"),
        (lambda: gs.wishart.logpdf(np.eye(2), [3.0, 4, 5], np.stack([np.eye(2)] * 2)), r"leading axes do not .*nu has \(3,\)"),
        (lambda: gs.wishart.logpdf(np.eye(2), 3.0), "wishart needs V"),
        (lambda: gs.wishart.logpdf(np.eye(2), 3.0, W=1), "no parameter 'W'"),
        (lambda: gs.wishart.logpdf(np.zeros((0, 0)), 3.0, np.zeros((0, 0))), "n at least 1"),
        (lambda: gs.wishart.rvs(1.0, np.eye(3)), "nu must be more than n - 1"),
        (lambda: gs.wishart.rvs(5.0, -np.eye(3)), "V must be symmetric and positive definite"),
        (lambda: gs.wishart.rvs([5.0, 6], np.eye(3), size=3), r"size \(3,\) does not fit the shape of the parameters, \(2,\)"),
        (lambda: gs.matrix_normal.logpdf(np.ones((3, 2)), np.ones((3, 2)), np.eye(2), np.eye(2)), r"U \(3, 3\) and V \(2, 2\)"),
        (lambda: gs.matrix_normal.rvs(np.ones((3, 2)), np.eye(2), np.eye(2)), r"they must be \(m, n\), \(m, m\), \(n, n\)"),
        (lambda: gs.matrix_t.rvs(0.0, np.ones((3, 2)), np.eye(3), np.eye(2)), "nu must be positive"),
        (lambda: gs.lkj_corr.rvs(0.0, 3), "eta must be positive"),
        (lambda: gs.orthogonal.rvs(0), "n must be a positive whole number, not 0"),
        (lambda: gs.wishart.loglik_and_grad(np.eye(2), 3.0, np.eye(2), wrt="W"), "wrt: 'W'"),
    ],
)
def test_mistakes(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_types_that_are_no_numbers():
    with pytest.raises(TypeError, match="V has dtype complex128"):
        gs.wishart.logpdf(np.eye(2), 3.0, 1j * np.eye(2))
    with pytest.raises(TypeError, match="nu has dtype <U1"):
        gs.wishart.logpdf(np.eye(2), "a", np.eye(2))


def test_modes_and_means(rng):
    V = definite(rng, 3)
    for distribution in (gs.wishart, gs.inverse_wishart):
        mode = distribution.mode(6.0, V)
        there = distribution.logpdf(mode, 6.0, V)
        for _ in range(5):
            step = rng.normal(size=(3, 3)) * 1e-3 * np.abs(mode).max()
            assert distribution.logpdf(mode + step + step.T, 6.0, V) <= there
    assert np.isnan(gs.inverse_wishart.mean(3.5, V)).all() and np.isnan(gs.wishart.mode(3.0, V)).all()
    assert gs.matrix_normal.mean(np.ones((2, 1)), np.eye(2), np.ones((4, 1, 1))).shape == (4, 2, 1)
