"""Covariance functions and marginal likelihoods."""

import functools
from unittest import mock

import numpy as np
from simulator import close, kernel_shape

import gpustats as gs
from gpustats.gp import MarginalLikelihood
from gpustats.processes import sets
from gpustats.runtime import choose


@kernel_shape
@mock.patch.dict(sets.MOST_FOR_ONE_SET, cpu=0, gpu=0)
def covariance(dtype, rng):
    """Pairs of points in one tile and in several, columns in one chunk and in two; factors, sums over pairs, predictions."""
    cov = gs.rbf + gs.linear.rename(lengthscale="slope")
    for n, p, scaled in ((5, 1, False), (37, 2, True), (34, 9, True)):
        x, new = rng.normal(size=(n, p)).astype(dtype), rng.normal(size=(3, p)).astype(dtype)
        y, sigma = rng.normal(size=n).astype(dtype), rng.uniform(0.5, 1.0, n)
        lengthscale = rng.uniform(1.0, 2.0, p) if scaled else 1.5
        values = dict(amplitude=1.2, lengthscale=lengthscale, slope=2.0)

        def k(a, b, lengthscale=lengthscale):
            a, b = a.astype(float), b.astype(float)
            return 1.44 * np.exp(-0.5 * (((a[:, None] - b) / lengthscale) ** 2).sum(-1)) + a @ b.T / 4

        close(cov(x, new, **values), k(x, new), dtype)
        ml = MarginalLikelihood(cov, x, y)
        for noise in (0.7, sigma):
            inverse = np.linalg.inv(k(x, x) + np.diag(np.broadcast_to(noise, n) ** 2))
            alpha = inverse @ y
            W = (np.outer(alpha, alpha) - inverse) / 2
            value, gradient = ml.value_and_grad(**values, sigma=noise, wrt=[*values, "sigma", "x", "y"])
            want = -0.5 * (y @ alpha - np.linalg.slogdet(inverse)[1] + n * np.log(2 * np.pi))
            bound = 1e-9 if dtype == np.float64 else 2e-3
            near = functools.partial(np.testing.assert_allclose, rtol=bound, atol=bound)
            near(value, want)
            near(gradient["slope"], -2 * (W * (x.astype(float) @ x.T / 4)).sum() / 2.0)
            near(gradient["y"], -alpha)
            near(gradient["sigma"], 2 * noise * np.diag(W) if np.ndim(noise) else 2 * noise * np.trace(W))
            apart = x[:, None].astype(float) - x
            local = W * (k(x, x) - x.astype(float) @ x.T / 4)
            near(gradient["amplitude"], 2 * local.sum() / 1.2)
            by_column = (local[:, :, None] * apart**2).sum((0, 1)) / np.asarray(lengthscale) ** 3
            near(gradient["lengthscale"], by_column if scaled else by_column.sum())
            near(gradient["x"], -2 * (local[:, :, None] * apart).sum(1) / np.asarray(lengthscale) ** 2 + W @ x / 2)
            found = ml.predict(new, **values, sigma=noise, cov=True)
            near(found.mean, k(new, x) @ alpha)
            near(found.covariance, k(new, new) - k(new, x) @ inverse @ k(x, new))
            near(found.variance, np.diag(found.covariance))


@kernel_shape
def strips_of_covariances(dtype, rng):
    """The last rows of a triangle that are no whole tiles, columns in one chunk and in two, a vector and a number."""
    bound = 1e-9 if dtype == np.float64 else 2e-3
    for n, p, scaled in ((37, 2, True), (34, 9, False)):
        x, y = rng.normal(size=(n, p)).astype(dtype), rng.normal(size=n).astype(dtype)
        point = dict(amplitude=1.2, lengthscale=rng.uniform(1.0, 2.0, p) if scaled else 1.5, sigma=0.7)
        one, blocks = (MarginalLikelihood(gs.rbf, x, y, devices=d).value_and_grad(**point) for d in (None, [choose.get()]))
        np.testing.assert_allclose(blocks[0], one[0], rtol=bound)
        for name in point:
            np.testing.assert_allclose(blocks[1][name], one[1][name], rtol=10 * bound, atol=10 * bound)


@kernel_shape
@mock.patch.dict(sets.MOST_FOR_SEVERAL_SETS, cpu=0, gpu=0)
def batches_of_marginals(dtype, rng):
    """Two sets of two tiles each, the second in part, with noise for all rows and for each, numbers and a vector."""
    n, bound = 35, 1e-9 if dtype == np.float64 else 2e-3
    x, y = rng.normal(size=(n, 2)).astype(dtype), rng.normal(size=n).astype(dtype)
    ml = MarginalLikelihood(gs.rbf, x, y)
    for p, rows in ((1, n), (2, 1)):
        sizes = dict(amplitude=1, lengthscale=p, sigma=rows)
        given = {name: rng.uniform(0.5, 1.0, (2, size)) for name, size in sizes.items()}
        value, gradient = ml.value_and_grad(**given)
        for k in range(2):
            one = {name: v[k] if v.shape[1] > 1 else v[k].item() for name, v in given.items()}
            want, slopes = ml.value_and_grad(**one)
            np.testing.assert_allclose(value[k], want, rtol=bound, atol=bound)
            for name in given:
                np.testing.assert_allclose(gradient[name][k], slopes[name], rtol=10 * bound, atol=10 * bound)


@kernel_shape
def marginal_sets(dtype, rng):
    """Two sets of two tiles each, the second in part."""
    n, n_sets = 35, 2
    x, y = rng.normal(size=(n, 2)).astype(dtype), rng.normal(size=n).astype(dtype)
    amplitude, lengthscale = rng.uniform(0.8, 1.2, (n_sets, 1)), rng.uniform(1.0, 2.0, (n_sets, 2))
    sigma = rng.uniform(0.5, 1.0, (n_sets, n))
    given = dict(amplitude=amplitude, lengthscale=lengthscale, sigma=sigma, mean=0.2)
    value, gradient = MarginalLikelihood(gs.rbf, x, y).value_and_grad(**given)
    bound = 1e-9 if dtype == np.float64 else 2e-3
    near = functools.partial(np.testing.assert_allclose, rtol=bound, atol=bound)
    of_mean = 0.0
    for k in range(n_sets):
        apart = x[:, None].astype(float) - x
        smooth = amplitude[k] ** 2 * np.exp(-0.5 * ((apart / lengthscale[k]) ** 2).sum(-1))
        inverse = np.linalg.inv(smooth + np.diag(sigma[k] ** 2))
        alpha = inverse @ (y.astype(float) - 0.2)
        W = (np.outer(alpha, alpha) - inverse) / 2
        near(value[k], -0.5 * ((y - 0.2) @ alpha - np.linalg.slogdet(inverse)[1] + n * np.log(2 * np.pi)))
        near(gradient["amplitude"][k], 2 * (W * smooth).sum() / amplitude[k])
        near(gradient["lengthscale"][k], ((W * smooth)[:, :, None] * apart**2).sum((0, 1)) / lengthscale[k] ** 3)
        near(gradient["sigma"][k], 2 * sigma[k] * np.diag(W))
        of_mean += alpha.sum()
    near(gradient["mean"], of_mean)
