"""The multivariate normal and Student t distributions."""

import dataclasses

import mpmath as mp
import numpy as np
import pytest
from references import errors
from references_elliptical import (
    BAD,
    DTYPES,
    RTOL,
    assert_close,
    cases_of,
    covariances,
    each_name,
    parameters,
    reference,
)
from scipy import stats

import gpustats as gs
from gpustats.elliptical.whiten import LARGE_MATRIX
from gpustats.evaluation.table import TABLE

DIMS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 128]


def table(name, x, given):
    return np.stack([reference(name, x, **{n: v[k] for n, v in given.items()}) for k in range(len(given["mu"]))], -1)


@cases_of(DIMS, [1, 8, 17, 33, 128])
def test_tables_and_sums(name, dim, dtype, rng):
    x = rng.normal(size=(37, dim)).astype(dtype)
    given = {n: v.astype(dtype) for n, v in parameters(name, rng, 3, dim).items()}
    want = table(name, x, given)
    density = gs.densities[name]
    assert_close(density.logpdf(x[:, None], **given), want, dtype)
    sums = density.loglik(x, **{n: v[:, None] for n, v in given.items()})
    assert sums.dtype == np.float64 and errors(sums, want.sum(0)).max() <= RTOL[dtype]


@each_name
@pytest.mark.parametrize("sets", [1, 2, 5, 16, 70])
def test_many_sets(name, sets, rng):
    x, given = rng.normal(size=(513, 5)), parameters(name, rng, sets, 5)
    density, want = gs.densities[name], table(name, x, given)
    assert_close(density.logpdf(x[:, None], **given), want, np.float64)
    transposed = {n: v[:, None] for n, v in given.items()}
    assert_close(density.logpdf(x, **transposed), want.T, np.float64)
    np.testing.assert_allclose(density.loglik(x, **transposed), want.sum(0), rtol=1e-12)
    np.testing.assert_allclose(gs.Likelihood(density, x)(**transposed), want.sum(0), rtol=1e-12)


@each_name
def test_every_way_to_give_the_covariance(name, rng):
    x, given = rng.normal(size=(20, 6)), parameters(name, rng, 4, 6)
    want = table(name, x, given)
    cov = given.pop("cov")
    for scale in ({"cov": cov}, {"scale_tril": np.linalg.cholesky(cov)}, {"precision": np.linalg.inv(cov)}):
        assert_close(gs.densities[name].logpdf(x[:, None], **given, **scale), want, np.float64, 10)
        shapes = {n: v[:, None] for n, v in (given | scale).items()}
        np.testing.assert_allclose(gs.densities[name].loglik(x, **shapes), want.sum(0), rtol=1e-11)
        np.testing.assert_allclose(gs.densities[name].pdf(x[:, None], **given, **scale), np.exp(want), rtol=1e-10)


@each_name
def test_parameters_shared_by_some(name, rng):
    x, given = rng.normal(size=(20, 4)), parameters(name, rng, 3, 4)
    density = gs.densities[name]
    one = {n: v[0] for n, v in given.items()}
    assert_close(density.logpdf(x, **one), reference(name, x, **one), np.float64)
    assert_close(density.logpdf(x[0], **one), reference(name, x[0], **one)[0], np.float64)
    assert density.loglik(x, **one) == pytest.approx(reference(name, x, **one).sum(), rel=1e-12)
    for shared in given:
        mixed = {n: np.broadcast_to(v[0], v.shape) if n == shared else v for n, v in given.items()}
        passed = {n: v[0] if n == shared else v for n, v in given.items()}
        assert_close(density.logpdf(x[:, None], **passed), table(name, x, mixed), np.float64)


@each_name
def test_pairs(name, rng):
    """A mean, or everything, of its own for each observation."""
    x, given = rng.normal(size=(11, 4)), parameters(name, rng, 11, 4)
    density, want = gs.densities[name], np.diagonal(table(name, x, given))
    assert_close(density.logpdf(x, **given), want, np.float64)
    assert_close(density.logpdf(x[None], **given), want[None], np.float64)
    means = {n: v if n == "mu" else v[0] for n, v in given.items()}
    same = {n: v if n == "mu" else np.broadcast_to(v[0], v.shape) for n, v in given.items()}
    want = np.diagonal(table(name, x, same))
    assert_close(density.logpdf(x, **means), want, np.float64)
    np.testing.assert_allclose(density.loglik(x, **means), want.sum(), rtol=1e-12)


@each_name
def test_device_arrays(name, rng):
    x, given = rng.normal(size=(20, 4)), parameters(name, rng, 3, 4)
    want = table(name, x, given)
    there = {n: gs.to_device(v) for n, v in given.items()}
    for args in (there, given):
        out = gs.densities[name].logpdf(gs.to_device(x[:, None]), **args)
        assert type(out) is type(there["mu"])
        assert_close(gs.to_host(out), want, np.float64)
    columns = {n: gs.to_device(v[:, None]) for n, v in given.items()}
    np.testing.assert_allclose(gs.to_host(gs.densities[name].loglik(x, **columns)), want.sum(0), rtol=1e-12)


@each_name
def test_strides_and_types(name, rng):
    x, given = rng.integers(-3, 4, (20, 4)), parameters(name, rng, 3, 4)
    want = table(name, x, given)
    density = gs.densities[name]
    assert_close(density.logpdf(x[:, None], **given), want, np.float64)
    columns = {n: np.asfortranarray(v) for n, v in given.items()}
    assert_close(density.logpdf(np.asfortranarray(x)[::-1, None], **columns), want[::-1], np.float64)


@each_name
def test_empty(name, rng):
    given = parameters(name, rng, 3, 4)
    density = gs.densities[name]
    assert density.logpdf(np.empty((0, 1, 4)), **given).shape == (0, 3)
    assert density.logpdf(np.zeros((5, 1, 4)), **{n: v[:0] for n, v in given.items()}).shape == (5, 0)
    assert (density.loglik(np.empty((0, 4)), **{n: v[:, None] for n, v in given.items()}) == np.zeros(3)).all()


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_covariance_gives_nan(kind):
    matrices = np.array([*BAD[kind], np.eye(2)])
    x = np.array([[0.0, 0.0], [1.0, 2.0]])
    got = gs.mvnormal.logpdf(x[:, None], mu=np.zeros(2), **{kind: matrices})
    assert np.isnan(got[:, :-1]).all()
    np.testing.assert_allclose(got[:, -1], stats.multivariate_normal.logpdf(x, [0, 0]), rtol=1e-14)
    sums = gs.mvnormal.loglik(x, mu=np.zeros(2), **{kind: matrices[:, None]})
    assert np.isnan(sums[:-1]).all() and np.isfinite(sums[-1])


def test_invalid_parameters_and_observations():
    mu, cov = np.zeros(2), np.eye(2)
    assert np.isnan(gs.mvnormal.logpdf([np.nan, 0.0], mu, cov)) and np.isnan(
        gs.mvnormal.logpdf([0.0, 0.0], [np.nan, 0], cov)
    )
    assert np.isnan(gs.mv_student_t.logpdf(mu, [-1.0, 0.0, np.nan], mu, cov)).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
@pytest.mark.parametrize("dim", [2, 50])
def test_many_degrees_of_freedom(dim, dtype):
    x, nu = np.full(dim, 1.5, dtype), np.array([1e-3, 30, 1e3, 1e5, 1e7, 1e12, np.inf], dtype)
    got = gs.mv_student_t.logpdf(x, nu, np.zeros(dim, dtype), np.eye(dim, dtype=dtype))
    with mp.workdps(60):
        distance = mp.mpf(2.25) * dim
        want = [
            mp.loggamma((v + dim) / 2) - mp.loggamma(v / 2) - dim * mp.log(v * mp.pi) / 2
            - (v + dim) / 2 * mp.log1p(distance / v)
            for v in map(mp.mpf, nu[:-1].tolist())
        ]  # fmt: skip
        want.append(-(dim * mp.log(2 * mp.pi) + distance) / 2)
        assert_close(got, np.array(want, float), dtype)


def test_ill_scaled_matrices(rng):
    """Scales from 1e-8 to 1e8, correlated: against mpmath."""
    scale = np.array([1e-8, 1e-3, 1.0, 1e4, 1e8])
    correlation = 0.5 * np.eye(5) + 0.5
    cov = scale[:, None] * correlation * scale
    x = rng.normal(size=(8, 5)) * scale
    with mp.workdps(50):
        exact, logdet = mp.matrix(cov.tolist()), mp.log(mp.det(mp.matrix(cov.tolist())))
        rows = [mp.matrix(row.tolist()) for row in x]
        want = [float(-(5 * mp.log(2 * mp.pi) + logdet + (r.T * mp.lu_solve(exact, r))[0]) / 2) for r in rows]
    assert_close(gs.mvnormal.logpdf(x, np.zeros(5), cov), np.array(want), np.float64, 10)
    assert_close(gs.mvnormal.logpdf(x, np.zeros(5), scale_tril=np.linalg.cholesky(cov)), np.array(want), np.float64, 10)


@pytest.mark.parametrize("condition", [1e4, 1e8])
def test_ill_conditioned_matrices(condition, rng):
    """The error grows like the condition number, not its square."""
    dim = 12
    q = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    values = np.geomspace(1, 1 / condition, dim)
    cov = (q * values) @ q.T
    cov = (cov + cov.T) / 2
    x = rng.normal(size=(8, dim)) * np.sqrt(values) @ q.T
    with mp.workdps(50):
        exact = mp.matrix(cov.tolist())
        logdet = mp.log(mp.det(exact))
        want = [float(-(dim * mp.log(2 * mp.pi) + logdet + (r.T * mp.lu_solve(exact, r))[0]) / 2)
                for r in (mp.matrix(row.tolist()) for row in x)]  # fmt: skip
    got = gs.mvnormal.logpdf(x, np.zeros(dim), cov)
    assert errors(got, np.array(want)).max() <= 20 * condition * np.finfo(float).eps


@pytest.mark.parametrize(
    "given, message",
    [
        ({"mu": np.zeros(2)}, "needs cov"),
        ({"mu": np.zeros(2), "cov": np.eye(2), "precision": np.eye(2)}, "precision"),
        ({"mu": np.zeros(2), "cov": 1.0}, "cov must be a matrix"),
        ({"mu": np.zeros(2), "scale_tril": 1.0}, "scale_tril must be a matrix"),
        ({"mu": np.zeros(2), "cov": np.ones(2)}, "cov must be a matrix"),
        ({"mu": 0.0, "cov": np.eye(2)}, "mu must be a vector"),
        ({"mu": np.zeros(3), "cov": np.eye(2)}, r"mu has shape \(3,\)"),
        ({"mu": np.zeros(2), "cov": np.eye(3)}, r"cov has shape \(3, 3\)"),
        ({"mu": np.zeros(2), "precision": np.ones((2, 3))}, r"has shape \(2, 3\)"),
        ({"mu": np.zeros((3, 2)), "cov": np.ones((4, 2, 2))}, "do not broadcast"),
    ],
)
def test_wrong_arguments(given, message):
    for method in (gs.mvnormal.logpdf, gs.mvnormal.loglik, gs.mvnormal.pdf):
        with pytest.raises(ValueError, match=message):
            method(np.zeros((5, 1, 2)), **given)


def test_sums_of_several_sets_are_told_how_to_lie():
    likelihood, means = gs.Likelihood(gs.mvnormal, np.zeros((4, 3))), np.zeros((5, 3))
    for call in (likelihood, likelihood.value_and_grad):
        with pytest.raises(ValueError, match=r"do not broadcast: x \(4,\), mu \(5,\), .*for the sums of K .* \(K, 1\)"):
            call(means, np.eye(3))
    with pytest.raises(ValueError, match=r"do not broadcast: .*for a table of N observations"):
        gs.mvnormal.logpdf(np.zeros((4, 3)), means, np.eye(3))
    assert likelihood(means[:, None], np.eye(3)).shape == (5,)


def test_a_users_own_elliptical_density(rng):
    """A multivariate Laplace-like kernel, and its exponential."""
    density = gs.register(
        """
        // mv_exponential_power: a function of the distance alone
        // x: vector    mu: vector    cov: covariance    beta: positive
        real mv_exponential_power_logpdf(real sqdist, real logdet, real beta, int dim)
        {
            return -0.5 * (logdet + pow(sqdist, beta)) + dim;
        }
        """
    )
    assert density.parameters == ("mu", "cov", "beta")
    x, cov, beta = rng.normal(size=(9, 3)), covariances(rng, 2, 3), np.array([0.5, 1.5])
    distance = np.einsum("ni,kij,nj->nk", x, np.linalg.inv(cov), x)
    want = -0.5 * (np.linalg.slogdet(cov)[1] + distance**beta) + 3
    assert_close(density.logpdf(x[:, None], np.zeros(3), cov, beta), want, np.float64, 10)
    assert_close(density.pdf(x[:, None], np.zeros(3), cov, beta), np.exp(want), np.float64, 10)


# Matrices that the device's linear algebra factors
@pytest.mark.parametrize("scale", ["cov", "scale_tril", "precision"])
def test_large_matrices_that_are_none(scale, rng):
    """They make their own set nan, as small ones do, and raise nothing."""
    dim = LARGE_MATRIX + 5
    cov, x = covariances(rng, 4, dim), rng.normal(size=(3, dim))
    given = {"cov": cov, "scale_tril": np.linalg.cholesky(cov), "precision": np.linalg.inv(cov)}[scale]
    given = given if scale == "scale_tril" else (given + given.swapaxes(-1, -2)) / 2
    given[0, 7, 7] *= -1
    given[1, 2, 9] += 0.1 * given[1, 2, 2]  # above the diagonal only
    given[2, 9, 2] = np.nan
    mu = np.zeros(dim)
    got = gs.mvnormal.logpdf(x[:, None], mu=mu, **{scale: given})
    assert np.isnan(got[:, :3]).all()
    assert_close(got[:, 3], reference("mvnormal", x, mu, cov[3]), np.float64, 10)
    for matrix in given[:3]:
        value, gradient = gs.mvnormal.loglik_and_grad(x, mu=mu, **{scale: matrix})
        assert np.isnan(value) and np.isnan(gradient["mu"]).all()
    x, mu, slightly = (a.astype(np.float32) for a in (x, mu, given[3]))  # symmetric as far as float32 can tell
    if scale != "scale_tril":
        slightly[1, 0] = np.nextafter(slightly[1, 0], np.float32(1), dtype=np.float32)
    got = gs.to_host(gs.mvnormal.logpdf(gs.to_device(x), mu=mu, **{scale: gs.to_device(slightly)}))
    assert_close(got, reference("mvnormal", x, mu, cov[3]), np.float32, 10)


def test_shapes_without_a_kernel_are_refused():
    """Else their launch would start a kernel that takes other arguments."""
    function = gs.mvnormal.log_density
    other = dataclasses.replace(TABLE, name="best")
    with pytest.raises(NotImplementedError, match="mvnormal is a function of a squared distance.* none of the shape best"):
        function.shown_for(other, "float64", "opencl")
