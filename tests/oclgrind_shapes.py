"""Runs every kernel shape once and compares with SciPy; test_oclgrind.py runs this on Oclgrind, a simulator that checks
every access. The first argument is the type of device that kernels are laid out for.
"""

import dataclasses
import functools
import sys

import numpy as np
from local_references import greedy_design, mspe_design
from scipy import special, stats

import gpustats as gs
from gpustats.elliptical import density as elliptical_module
from gpustats.gp import MarginalLikelihood
from gpustats.gp.local.correlation import Correlation
from gpustats.gp.local.defaults import darg, garg
from gpustats.gp.local.design import Design
from gpustats.gp.local.fit import Fit
from gpustats.gp.local.nearest import Nearest
from gpustats.kernels.template import prelude
from gpustats.linalg import small, triangles
from gpustats.linalg.kernels import KernelProvider
from gpustats.linalg.provider import ASYMMETRIC, SOUND, Matrix
from gpustats.runtime import choose

rng = np.random.default_rng(0)
N = 300


def close(got, want, dtype):
    got, want = (gs.to_host(got) if hasattr(got, "get") else np.asarray(got)), np.asarray(want)
    assert got.shape == want.shape, (got.shape, want.shape)
    rtol = 1e-11 if dtype == np.float64 else 3e-5
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.abs(want).max())


def scalar(dtype):
    x = rng.normal(size=N + 1).astype(dtype)
    for sets in (1, 3, 8, 20):
        mu, sigma = rng.normal(size=sets).astype(dtype), rng.uniform(1, 2, sets).astype(dtype)
        for rows in (x, x[:N], x[:5]):  # of odd and of even length, wide loads or none
            want = stats.norm.logpdf(rows[:, None], mu, sigma)
            close(gs.normal.logpdf(rows[:, None], mu, sigma), want, dtype)
            close(gs.normal.logpdf(rows, mu[:, None], sigma[:, None]), want.T, dtype)
            close(gs.normal.loglik(rows, mu[:, None], sigma[:, None]), want.sum(0), dtype)
    close(gs.normal.logpdf(x, x / 2, 2.0), stats.norm.logpdf(x, x / 2, 2), dtype)
    close(gs.normal.loglik(x, x / 2, 2.0), stats.norm.logpdf(x, x / 2, 2).sum(), dtype)
    close(gs.normal.pdf(x, 0.0, 1.0), stats.norm.pdf(x), dtype)
    alpha = rng.uniform(1, 3, 8).astype(dtype)
    y = np.exp(x)
    want = stats.gamma.logpdf(y[:, None], alpha, scale=0.5)
    close(gs.gamma.logpdf(y[:, None], alpha, 2.0), want, dtype)
    close(gs.gamma.loglik(y, alpha[:, None], 2.0), want.sum(0), dtype)
    counts = rng.poisson(3, N).astype(dtype)  # work that depends on the observation alone
    want = stats.poisson.logpmf(counts[:, None], alpha)
    close(gs.poisson.logpmf(counts[:, None], alpha), want, dtype)
    close(gs.poisson.loglik(counts, alpha[:, None]), want.sum(0), dtype)


def many_blocks(dtype):
    """Sums and tables that more blocks share than one."""
    x = rng.normal(size=5000).astype(dtype)
    close(gs.normal.loglik(x, 0.0, 1.0), stats.norm.logpdf(x).sum(), dtype)
    mu = np.arange(9).astype(dtype)
    close(gs.normal.loglik(x[:2500], mu[:, None], 1.0), stats.norm.logpdf(x[:2500], mu[:, None]).sum(1), dtype)


def vectors(dtype):
    for dim in (3, 4):
        x, a = rng.dirichlet(np.ones(dim), 130).astype(dtype), rng.uniform(1, 3, (5, dim)).astype(dtype)
        normalise = special.gammaln(a.sum(-1)) - special.gammaln(a).sum(-1)
        want = (np.log(x)[:, None] * (a - 1)).sum(-1) + normalise
        close(gs.dirichlet.logpdf(x[:, None], a), want, dtype)
        close(gs.dirichlet.logpdf(x, a[0]), want[:, 0], dtype)
        close(gs.dirichlet.loglik(x, a[:, None]), want.sum(0), dtype)
    p = np.array([[0.25, 0.25, 0.5], [0.125, 0.5, 0.375]], dtype)
    y = rng.integers(0, 3, 130).astype(dtype)
    close(gs.categorical.logpmf(y[:, None], p), np.log(p[:, y.astype(int)]).T, dtype)
    close(gs.categorical.loglik(y, p[:, None]), np.log(p[:, y.astype(int)]).sum(1), dtype)


def elliptical(dtype):
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


def elliptical_large(dtype):
    """One matrix that the device's linear algebra factors."""
    elliptical_module.LARGE = 1
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


def gradients(dtype):
    """Sums of several results, for numbers, several sets and a value for each observation."""
    x = rng.normal(size=N + 1).astype(dtype)
    names = ("x", "mu", "sigma")

    def check(x, mu, sigma):
        value, got = gs.normal.loglik_and_grad(x, mu, sigma, wrt=names)
        full = np.broadcast_shapes(np.shape(x), np.shape(mu), np.shape(sigma))
        close(value, stats.norm.logpdf(x, mu, sigma).sum(-1), dtype)
        z = np.broadcast_to((x - np.asarray(mu, float)) / sigma, full)
        for name, terms, own in zip(names, (-z / sigma, z / sigma, (z * z - 1) / sigma), (x, mu, sigma), strict=True):
            axes = tuple(i for i, n in enumerate((1,) * (len(full) - np.ndim(own)) + np.shape(own)) if n == 1)
            close(got[name], terms.sum(axes).reshape(np.shape(own)), dtype)

    for rows in (x, x[:N], x[:5]):
        for sets in (1, 3, 8):
            check(rows, rng.normal(size=(sets, 1)).astype(dtype), rng.uniform(1, 2, (sets, 1)).astype(dtype))
        check(rows, 0.5, 2.0)
        check(rows, rows / 2, 2.0)
        check(rows, rng.normal(size=(3, 1)).astype(dtype), 1 + rows**2)
    check(rng.normal(size=3000).astype(dtype), 0.5, 2.0)  # more blocks than one
    shares = rng.dirichlet(np.ones(3), 130).astype(dtype)
    for a in (rng.uniform(1, 3, (5, 1, 3)), rng.uniform(1, 3, (130, 3))):
        a = a.astype(dtype)
        _, got = gs.dirichlet.loglik_and_grad(shares, a)
        terms = np.log(shares.astype(float)) + special.digamma(a.sum(-1, keepdims=True)) - special.digamma(a)
        close(got["a"], terms.sum(-2, keepdims=True) if a.ndim == 3 else terms, dtype)


def elliptical_gradients(dtype):
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


def mixture(dtype):
    """The density of a mixture, draws of labels, responsibilities, for one group of parameter sets and for several."""

    def check(density, x, terms, *parameters):
        log_weights = np.log(rng.dirichlet(np.ones(terms.shape[1]))).astype(dtype)
        terms = terms.astype(float) + log_weights
        want = special.logsumexp(terms, 1)
        mixed = gs.Mixture(density, x)
        close(mixed.loglik(log_weights, *parameters), want.sum(), dtype)
        close(mixed.logpdf(log_weights, *parameters), want, dtype)
        shares = np.exp(terms - want[:, None])
        close(mixed.responsibilities(log_weights, *parameters), shares, dtype)
        labels = mixed.assign(log_weights, *parameters, rng=1)
        assert (shares[np.arange(len(x)), labels] > 1e-6).all()
        close(mixed.value_and_grad(log_weights, *parameters)[1]["log_weights"], shares.sum(0), dtype)

    x = rng.normal(size=81).astype(dtype)
    for sets in (3, 65):
        mu = rng.normal(size=sets).astype(dtype)
        check(gs.normal, x, stats.norm.logpdf(x[:, None], mu, 1.5), mu, 1.5)
    check(gs.normal, x[:3], stats.norm.logpdf(x[:3, None], mu[:3], 1.5), mu[:3], 1.5)
    y, a = rng.dirichlet(np.ones(3), 33).astype(dtype), rng.uniform(1, 3, (5, 3)).astype(dtype)
    check(gs.dirichlet, y, np.log(y) @ (a.T - 1) + special.gammaln(a.sum(-1)) - special.gammaln(a).sum(-1), a)
    for dim, sets in ((3, 17), (17, 2)):  # groups of sets; several blocks of a matrix
        x, mu = rng.normal(size=(20, dim)).astype(dtype), rng.normal(size=(sets, dim)).astype(dtype)
        cov = np.stack([np.diag(d) for d in rng.uniform(1, 2, (sets, dim))]).astype(dtype)
        terms = stats.norm.logpdf(x[:, None], mu, np.sqrt(np.diagonal(cov, axis1=1, axis2=2))).sum(-1)
        check(gs.mvnormal, x, terms, mu, cov)


def samples(dtype):
    """Draws from shared words and from words of their own, of numbers, whole numbers and vectors."""
    kind = np.dtype(dtype).name
    z = gs.normal.rvs(0.0, 1.0, size=N, rng=1, dtype=kind)
    start = gs.Generator(1)
    parts = [gs.normal.rvs(0.0, 1.0, size=n, rng=start, dtype=kind) for n in (3, 64, N - 67)]  # from the middle of a tile
    np.testing.assert_array_equal(np.concatenate(parts), z)
    mu = rng.normal(size=(N // 4, 4)).astype(dtype)
    close(gs.normal.rvs(mu, 1.0, rng=1), mu + z.reshape(-1, 4), dtype)
    close(gs.normal.rvs(mu[0], 1.0, size=(N // 4, 4), rng=1), mu[0] + z.reshape(-1, 4), dtype)
    close(gs.normal.rvs(mu[:4, :1], 1.0, size=(4, N // 4), rng=1), mu[:4, :1] + z.reshape(4, -1), dtype)
    alpha = rng.uniform(0.5, 3, 4).astype(dtype)
    want = np.stack([gs.gamma.rvs(a, 1.0, size=N, rng=1, dtype=kind).reshape(-1, 4)[:, i] for i, a in enumerate(alpha)], 1)
    close(gs.gamma.rvs(alpha, np.ones(1, dtype), size=(N // 4, 4), rng=1), want, dtype)
    assert (gs.binomial.rvs([5, 1000], 0.3, size=(50, 2), rng=1) <= [5, 1000]).all()
    assert (gs.geometric.rvs(0.3, size=N, rng=1) >= 1).all()
    close(gs.dirichlet.rvs(np.ones((70, 3), dtype), rng=1).sum(-1), np.ones(70, dtype), dtype)
    assert (gs.multinomial.rvs(9, np.full(3, 1 / 3), size=70, rng=1).sum(-1) == 9).all()
    for dim in (2, 5):
        z = gs.mvnormal.rvs(np.zeros(dim), np.eye(dim), size=90, rng=1, dtype=kind)
        root = np.tril(rng.normal(size=(3, dim, dim)), -1) + 2 * np.eye(dim)
        mean = rng.normal(size=(3, dim))
        got = gs.mvnormal.rvs(mean, scale_tril=root, size=(30, 3), rng=1, dtype=kind)
        want = mean + np.einsum("kij,nkj->nki", root, z.reshape(30, 3, dim).astype(float))
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def gather(dtype):
    x = rng.normal(size=(30, 8)).astype(dtype)
    device = gs.to_device(x)
    close(gs.normal.logpdf(device.T, 0.0, 1.0), stats.norm.logpdf(x.T), dtype)
    close(gs.normal.logpdf(device[::2, 1:], device[0, 1:], 1.0), stats.norm.logpdf(x[::2, 1:], x[0, 1:]), dtype)


def discrete_draws(dtype):
    for n in (1, 5, 16, 30, 64, 70, 520):
        weights = rng.random((20, n)).astype(dtype)
        hot = np.eye(n, dtype=dtype)[rng.integers(0, n, 20)]
        for size in (None, 3):
            for call in (dict(weights=weights), dict(log_weights=np.log(weights))):
                labels = gs.sample_discrete(**call, size=size, rng=1)
                assert labels.min() >= 0 and labels.max() < n
            labels = gs.sample_discrete(hot, size=size, rng=1).reshape(20, -1)
            assert (labels == hot.argmax(1)[:, None]).all()
    assert gs.sample_discrete(weights[0], size=100, rng=1).shape == (100,)


def label_statistics(dtype):
    for shape, n_labels in (((), 3), ((2,), 3), ((3,), 70), ((15,), 4), ((30,), 20)):
        x, labels = rng.normal(size=(150, *shape)).astype(dtype), rng.integers(-1, n_labels + 1, 150)
        count, mean, scatter = gs.label_statistics(x, labels, n_labels)
        for k in range(n_labels):
            own = x[labels == k].astype(float)
            assert count[k] == len(own)
            if len(own):
                own = own.reshape(len(own), -1)
                y = own - own.mean(0)
                close(mean[k], own.mean(0).reshape(shape), np.float64)
                close(scatter[k], (y.T @ y).reshape(shape * 2), np.float64)


def held(array):
    """A copy on the device, and the matrix that it is."""
    native = choose.get().to_device(array)
    return native, Matrix.over(choose.get(), native)


def factors(n, batch, dtype):
    """Positive definite matrices and their Cholesky factors."""
    root = rng.normal(size=(batch, n, n))
    a = (root @ root.swapaxes(1, 2) / n + np.eye(n)).astype(dtype)
    return a, np.linalg.cholesky(a.astype(float))


def linalg_blocked(dtype):
    """Products in tiles, large, small and narrow, and in parts; triangles of one block and of several."""
    provider = KernelProvider(choose.get())
    for m, n, k in ((130, 20, 9), (33, 35, 18), (40, 3, 17), (3, 20, 17), (3, 4, 5), (9, 9, 600)):
        a, b, c = (rng.normal(size=(2, *shape)).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        got, matrix = held(c)
        provider.gemm(2.0, held(a)[1], held(np.ascontiguousarray(b.swapaxes(1, 2)))[1].T, 0.5, matrix)
        close(got, 2 * (a.astype(float) @ b) + 0.5 * c, dtype)
    a = rng.normal(size=(50, 9)).astype(dtype)
    got, matrix = held(np.zeros((50, 50), dtype))
    provider.syrk(1.0, held(a)[1], 0.0, matrix)
    close(got, np.tril(a.astype(float) @ a.T), dtype)
    for n, batch in ((5, 2), (40, 1), (70, 1)):
        a, lower = factors(n, batch, dtype)
        got, matrix = held(a)
        assert (provider.read(provider.potrf(matrix)) == 0).all()
        close(np.tril(gs.to_host(got)), lower, dtype)
        b = rng.normal(size=(batch, n, 11)).astype(dtype)
        for l_seen, seen in ((matrix, lower), (matrix.T, lower.swapaxes(1, 2))):
            x, side = held(b)
            provider.trsm(l_seen, side, left=True)
            close(x, np.linalg.solve(seen, b.astype(float)), dtype)
            x, side = held(np.ascontiguousarray(b.swapaxes(1, 2)))
            provider.trsm(l_seen, side, left=False)
            close(x, np.linalg.solve(seen.swapaxes(1, 2), b.astype(float)).swapaxes(1, 2), dtype)
        provider.trtri(matrix)
        close(np.tril(gs.to_host(got)), np.linalg.inv(lower), dtype)


def linalg_small(dtype):
    """A matrix to a thread, in registers and in shared memory, and a matrix to a block; the last block not full."""
    runtime = choose.get()
    for n in (1, 3, 8, 13, 40):
        a, lower = factors(n, 67 if n < 9 else 9, dtype)
        got, matrix = held(a)
        info = runtime.to_host(small.cholesky(runtime, matrix))
        assert (info == 0).all()
        close(np.tril(gs.to_host(got)), lower, dtype)
        seed = rng.normal(size=lower.shape).astype(dtype)
        derivative, seeds = held(seed)
        small.cholesky_grad(runtime, matrix, seeds)
        phi, inverse = np.tril(lower.swapaxes(1, 2) @ np.tril(seed.astype(float))), np.linalg.inv(lower)
        phi[:, range(n), range(n)] /= 2
        want = inverse.swapaxes(1, 2) @ phi @ inverse
        close(derivative, (want + want.swapaxes(1, 2)) / 2, dtype)
        for columns in (1, 9):
            b = rng.normal(size=(len(a), n, columns)).astype(dtype)
            x, side = held(b)
            small.solve_triangular(runtime, matrix.T, side, left=True)
            close(x, np.linalg.solve(lower.swapaxes(1, 2), b.astype(float)), dtype)
        small.inv_triangular(runtime, matrix)
        close(np.tril(gs.to_host(got)), inverse, dtype)


def linalg_triangles(dtype):
    """Passes over matrices of one tile and of several, parts of larger ones, batches, as they lie and transposed."""
    runtime = choose.get()
    provider = KernelProvider(runtime)
    for n in (5, 70):
        a = rng.normal(size=(2, n + 3, n + 2)).astype(dtype)
        whole, part = a.astype(float), (slice(1, n + 1), slice(2, n + 2))
        source = held(a)[1][part]
        for seen, numbers in ((source, whole[:, *part]), (source.T, whole[:, *part].swapaxes(1, 2))):
            got, matrix = held(a)
            provider.copy(seen, matrix[:n, :n])
            want = whole.copy()
            want[:, :n, :n] = numbers
            close(got, want, dtype)
            for upper in ("zero", "mirror", "keep"):
                got, matrix = held(a)
                provider.lower(seen, matrix[part], upper)
                lower = np.tril(numbers)
                above = {"zero": 0, "mirror": np.tril(numbers, -1).swapaxes(1, 2), "keep": np.triu(whole[:, *part], 1)}
                want = whole.copy()
                want[:, *part] = lower + above[upper]
                close(got, want, dtype)
            assert provider.read(provider.lower_if_symmetric(seen, held(a)[1][part])) == ASYMMETRIC
            assert provider.read(provider.examine_triangle(seen)) == SOUND
        got, matrix = held(a)
        provider.identity(matrix[:n, :n])
        close(gs.to_host(got)[:, :n, :n], np.stack([np.eye(n)] * 2), dtype)
        got, matrix = held(a)
        provider.symmetrise(matrix[part])
        mean = (whole[:, *part] + whole[:, *part].swapaxes(1, 2)) / 2
        close(gs.to_host(got)[:, *part], mean, dtype)
        spd, lower = factors(n, 2, dtype)
        assert provider.read(provider.lower_if_symmetric(held(spd)[1], held(spd)[1])) == SOUND
        value = triangles.log_determinant(runtime, held(lower.astype(dtype))[1])
        np.testing.assert_allclose(gs.to_host(value), np.linalg.slogdet(spd.astype(float))[1], rtol=1e-4)


def glm(dtype):
    """Rows in tiles and rows read in place; numbers and vectors as linear predictors; values by set, row and group."""

    def logit(n, k, sets, groups=None, **given):
        X, y = rng.normal(size=(n, k)).astype(dtype), rng.integers(0, 2, n)
        beta = (rng.normal(size=(*sets, k)) / np.sqrt(k)).astype(dtype)
        alpha = rng.normal(size=(*sets, 1 if groups is None else groups.max() + 1)).astype(dtype)
        model = gs.GLM(gs.bernoulli_logit, y, X, groups=groups, **given)
        value, gradient = model.value_and_grad(beta, alpha)
        eta = beta.astype(float) @ X.T.astype(float) + (alpha if groups is None else alpha[..., groups])
        slope = y - special.expit(eta)
        close(value, special.log_expit(np.where(y, eta, -eta)).sum(-1), dtype)
        close(gradient["beta"], slope @ X.astype(float), dtype)
        if groups is None:
            close(gradient["alpha"], slope.sum(-1, keepdims=True), dtype)
        else:
            close(gradient["alpha"], np.stack([slope[..., groups == g].sum(-1) for g in range(groups.max() + 1)], -1), dtype)
        if n == 130:
            close(model(beta, alpha), value, dtype)
            close(model.linear_predictor(beta, alpha), eta, dtype)
        if n == 70:
            close(model.logpdf(beta, alpha), special.log_expit(np.where(y, eta, -eta)), dtype)

    for n, k, sets in ((1, 1, ()), (70, 6, (3,)), (130, 7, ()), (9, 65, (3,)), (2, 1101, ())):
        logit(n, k, sets, **(dict(offset=np.zeros(n), weights=np.ones(n)) if sets else {}))
    logit(40, 3, (20,))
    runtime = choose.get()
    whole = runtime.device
    runtime.device = dataclasses.replace(whole, shared_memory=8192)  # too little for the rows, or for the coefficients, too
    for k, sets in ((1100, ()), (1101, (2,))):
        logit(2, k, sets)
    runtime.device = whole
    logit(600, 2, (2,), groups=np.r_[np.zeros(550, int), np.arange(50) % 7])
    X, beta = rng.normal(size=(50, 4)).astype(dtype), rng.normal(size=(3, 4)).astype(dtype)
    y, sigma = rng.normal(size=50).astype(dtype), rng.uniform(1, 2, (3, 50)).astype(dtype)
    value, gradient = gs.GLM(gs.normal_identity, y, X).value_and_grad(beta, 0.0, sigma)
    z = (y - beta.astype(float) @ X.T.astype(float)) / sigma
    close(value, (-0.5 * z * z - np.log(sigma * np.sqrt(2 * np.pi))).sum(-1), dtype)
    close(gradient["beta"], (z / sigma) @ X.astype(float), dtype)
    close(gradient["sigma"], (z * z - 1) / sigma, dtype)
    cutpoints = np.sort(rng.normal(size=(3, 50, 2)), -1).astype(dtype)
    got = gs.GLM(gs.ordered_logit, np.zeros(50), X).value_and_grad(beta, 0.0, cutpoints, wrt="beta")
    eta = cutpoints[..., 0] - beta.astype(float) @ X.T.astype(float)
    close(got[0], special.log_expit(eta).sum(-1), dtype)
    close(got[1]["beta"], -special.expit(-eta) @ X.astype(float), dtype)
    y, groups = rng.integers(0, 3, 50), np.arange(50) % 5
    beta, alpha = rng.normal(size=(2, 4, 3)).astype(dtype), rng.normal(size=(2, 5, 3)).astype(dtype)
    value, gradient = gs.GLM(gs.categorical_logit, y, X, groups=groups).value_and_grad(beta, alpha)
    eta = X.astype(float) @ beta.astype(float) + alpha[:, groups]
    slope = np.eye(3)[y] - special.softmax(eta, -1)
    close(value, np.take_along_axis(special.log_softmax(eta, -1), y[None, :, None], -1).sum((1, 2)), dtype)
    close(gradient["beta"], X.T.astype(float) @ slope, dtype)
    close(gradient["alpha"], np.stack([slope[:, groups == g].sum(1) for g in range(5)], 1), dtype)


def covariance(dtype):
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


def local_nearest(dtype):
    """All points and those within a sample's distance, and where the sample says nothing: all at the same distance."""
    runtime = choose.get()
    uniform = rng.uniform(size=(4200, 2))
    grid, equal = np.round(4 * uniform[:90]), np.ones((4200, 1))
    for X, k, start in ((uniform, 20, 3), (grid, 33, 33), (equal, 70, 2), (uniform[:3], 5, 4)):
        x = rng.uniform(size=(3, X.shape[1]))
        got = gs.to_host(Nearest(runtime, X, "device").find(runtime.to_device(x), k, start))
        distances = sum((X[:, e] - x[:, e, None]) ** 2 for e in range(X.shape[1]))
        want = np.argsort(distances, axis=1, kind="stable")[:, :k]
        n = want.shape[1]
        np.testing.assert_array_equal(got[:, : min(start, n)], want[:, :start])
        np.testing.assert_array_equal(np.sort(got[:, :n]), np.sort(want))
        assert (got[:, n:] == -1).all()


def local_design(dtype):
    """Candidates' numbers in shared and in global memory; whole rounds of the threads, and not; nan; both criteria."""
    runtime = choose.get()
    X, x = rng.uniform(size=(150, 2)), rng.uniform(size=(3, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1]
    x[1] = np.nan
    candidates = np.argsort(((x[:, None] - X) ** 2).sum(-1), axis=1).astype(np.int32)
    whole = runtime.device
    for shared_memory, k, separable, mspe in (
        (whole.shared_memory, 150, False, False), (8000, 150, True, False), (2400, 128, False, False),
        (whole.shared_memory, 150, False, True), (10000, 40, False, True),
    ):  # fmt: skip
        runtime.device = dataclasses.replace(whole, shared_memory=shared_memory)
        d = np.tile([0.5, 0.7], (3, 1)) if separable else np.full(3, 0.5)
        first = np.ascontiguousarray(candidates[:, :k])
        arrays = [runtime.to_device(a) for a in (X, x, first, d, np.full(3, 1e-3))]
        search = Design(runtime, arrays[0], Correlation(), separable, runtime.to_device(y) if mspe else None)
        got = gs.to_host(search.search(*arrays[1:], start=3, end=8))
        assert (got[1] == -1).all()
        for i in (0, 2):
            given = x[i], first[i], d[i], 1e-3, 3, 8
            np.testing.assert_array_equal(got[i], mspe_design(X, y, *given) if mspe else greedy_design(X, *given))
    runtime.device = whole


def local_fit(dtype):
    """Estimates of lengthscales, nuggets, both and neither; matrices in shared and in global memory; nan; a singular matrix."""
    runtime = choose.get()
    X, y, x = rng.uniform(size=(40, 2)), rng.normal(size=40), rng.uniform(size=(4, 2))
    X[39] = X[38]
    n, whole = 17, runtime.device
    designs = np.argsort(((x[:, None] - X[:38]) ** 2).sum(-1), axis=1)[:, :n].astype(np.int32)
    designs[2, 3], designs[3, :2] = -1, [38, 39]
    for of_d, of_g, separable, near in ((0, 0, 0, 1), (0, 1, 1, 0), (1, 0, 0, 1), (1, 1, 1, 1), (1, 0, 1, 0), (0, 0, 0, 0)):
        priors = darg({"mle": bool(of_d)}, X), garg({"mle": bool(of_g)}, y)
        runtime.device = whole if near else dataclasses.replace(whole, shared_memory=2048)
        d, g = np.full((4, 1 + separable), 0.3), np.array([1e-2, 1e-2, 1e-2, 1e-2 if of_g else 0])
        arrays = [runtime.to_device(a) for a in (X, y, x, designs, d, g)]
        found = Fit(runtime, *arrays[:2], Correlation(), n, bool(separable)).run(*arrays[2:], *priors)
        mean, scale, _, d, g, status = (runtime.to_host(a) for a in found)
        assert np.isnan(mean[2]) and status[3] == 0 if not of_g else (status[:2] > 1).all()
        for i in range(2):
            Z, k = X[designs[i]], np.exp(-((x[i] - X[designs[i]]) ** 2 / d[i]).sum(-1))
            K = np.exp(-((Z[:, None] - Z) ** 2 / d[i]).sum(-1)) + g[i] * np.eye(n)
            solved = np.linalg.solve(K, np.c_[k, y[designs[i]]])
            close(mean[i], solved[:, 0] @ y[designs[i]], np.float64)
            close(scale[i], np.sqrt(y[designs[i]] @ solved[:, 1] * (1 + g[i] - k @ solved[:, 0]) / n), np.float64)
    runtime.device = whole


MISTAKES = """
KERNEL(64) race(GLOBAL real *out)
{
    SHARED_ARRAY(real, shared, 64);
    shared[THREAD] = THREAD;
    out[THREAD] = shared[63 - THREAD];
}

KERNEL(64) stray(GLOBAL real *out)
{
    out[THREAD + 1] = 0;
}
"""


def mistake(name, dtype):
    """What Oclgrind must report."""
    runtime = choose.get()
    _, out = runtime.host_result((64,), dtype)  # pooled memory is longer than what was asked for
    source = prelude(np.dtype(dtype).name, "opencl") + MISTAKES
    runtime.kernel(source, name, 64)((1, 1), out)


def race(dtype):
    mistake("race", dtype)


def stray(dtype):
    mistake("stray", dtype)


if __name__ == "__main__":
    layouts, shapes, dtype = sys.argv[1], sys.argv[2], getattr(np, sys.argv[3])
    runtime = choose.get("oclgrind")
    if layouts == "gpu":  # the same kernels as a GPU runs them: shared memory, wide loads
        runtime.device = dataclasses.replace(runtime.device, type="gpu", warp=32, compute_units=2)
    gs.use(runtime)
    globals()[shapes](dtype)
    runtime.synchronize()
    print("done")
