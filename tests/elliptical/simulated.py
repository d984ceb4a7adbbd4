"""Elliptical densities with small matrices and large ones, and their derivatives."""

from unittest import mock

import numpy as np
from scipy import stats
from simulator import close, kernel_shape

import gpustats as gs
from gpustats.elliptical import whiten as elliptical_module


@kernel_shape
def elliptical(dtype, rng):
    for dim, sets in ((17, 1), (9, 8), (2, 3)):
        root = np.tril(rng.normal(size=(sets, dim, dim)) / dim) + np.eye(dim)
        cov = (root @ root.swapaxes(-1, -2)).astype(dtype)
        mu, x = rng.normal(size=(sets, dim)).astype(dtype), rng.normal(size=(37, dim)).astype(dtype)
        want = np.stack([stats.multivariate_normal.logpdf(x, *p) for p in zip(mu.astype(float), cov.astype(float))], -1)
        close(gs.mvnormal.logpdf(x[:, None], mu, cov), want, dtype)
        close(gs.mvnormal.logpdf(x, mu[:, None], cov[:, None]), want.T, dtype)
        close(gs.mvnormal.loglik(x, mu[:, None], cov[:, None]), want.sum(0), dtype)
    close(
        gs.mvnormal.logpdf(x[:, None], mu, scale_tril=np.linalg.cholesky(cov.astype(float)).astype(dtype)), want, dtype
    )
    close(gs.mvnormal.logpdf(x[:, None], mu, precision=np.linalg.inv(cov.astype(float)).astype(dtype)), want, dtype)
    close(gs.mvnormal.logpdf(x[:3], mu, cov), np.diagonal(want[:3]), dtype)
    want = np.stack([stats.multivariate_t.logpdf(x, *p, 5) for p in zip(mu.astype(float), cov.astype(float))], -1)
    close(gs.mv_student_t.logpdf(x[:, None], 5.0, mu, cov), want, dtype)
    close(gs.mv_student_t.loglik(x, 5.0, mu[:, None], cov[:, None]), want.sum(0), dtype)


@kernel_shape
@mock.patch.object(elliptical_module, "LARGE_MATRIX", 1)
def elliptical_large(dtype, rng):
    """One matrix that the device's linear algebra factors."""
    for dim in (17, 9):
        root = np.tril(rng.normal(size=(dim, dim)) / dim) + np.eye(dim)
        cov = (root @ root.T).astype(dtype)
        x = rng.normal(size=(5, dim)).astype(dtype)
        want = stats.multivariate_normal.logpdf(x, cov=cov.astype(float))
        mu = np.zeros(dim, dtype)
        close(gs.mvnormal.logpdf(x, mu, gs.to_device(cov)), want, dtype)
        close(gs.mvnormal.logpdf(x, mu, scale_tril=np.linalg.cholesky(cov.astype(float)).astype(dtype)), want, dtype)
        close(gs.mvnormal.logpdf(x, mu, precision=np.linalg.inv(cov.astype(float)).astype(dtype)), want, dtype)
        cov[0, 1] += 1
        assert np.isnan(gs.mvnormal.logpdf(x, mu, cov)).all()


@kernel_shape
def elliptical_gradients(dtype, rng):
    for dim, sets, rows in ((2, 1, 600), (6, 3, 40), (17, 2, 40), (33, 1, 40)):
        root = np.tril(rng.normal(size=(sets, 1, dim, dim)) / dim) + np.eye(dim)
        cov = (root @ root.swapaxes(-1, -2)).astype(dtype)
        mu, x = rng.normal(size=(sets, 1, dim)).astype(dtype), rng.normal(size=(rows, dim)).astype(dtype)
        inverse = np.linalg.inv(cov.astype(float))
        y = x - mu.astype(float)
        z = y @ inverse[:, 0]
        distance = (y * z).sum(-1, keepdims=True)
        for name, others, weight in (("mvnormal", (), 1 + 0 * distance), ("mv_student_t", (5.0,), (5 + dim) / (5 + distance))):
            value, got = gs.densities[name].loglik_and_grad(x, *others, mu, cov, wrt=("x", "mu", "cov"))
            logpdf = stats.multivariate_t.logpdf if others else stats.multivariate_normal.logpdf
            exact = zip(mu[:, 0].astype(float), cov[:, 0].astype(float))
            close(value, [logpdf(x, m, c, *others).sum() for m, c in exact], dtype)
            close(got["x"], -(weight * z).sum(0), dtype)
            close(got["mu"], (weight * z).sum(1, keepdims=True), dtype)
            in_cov = ((weight * z).swapaxes(1, 2) @ z)[:, None] - rows * inverse
            close(got["cov"], in_cov / 2, dtype)
