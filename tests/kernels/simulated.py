"""Tables and sums of densities of numbers and of vectors, and sums with their derivatives."""

import numpy as np
from scipy import special, stats
from simulator import close, kernel_shape

import gpustats as gs

N = 300


@kernel_shape
def scalar(dtype, rng):
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


@kernel_shape
def many_blocks(dtype, rng):
    """Sums and tables that more blocks share than one."""
    x = rng.normal(size=8500).astype(dtype)
    for n in (700, 2500, 8500):  # one row of a thread at once, or several
        close(gs.student_t.loglik(x[:n], 4.0, 0.0, 1.0), stats.t.logpdf(x[:n], 4.0).sum(), dtype)
    x = x[:5000]
    close(gs.normal.loglik(x, 0.0, 1.0), stats.norm.logpdf(x).sum(), dtype)
    mu = np.arange(9).astype(dtype)
    close(gs.normal.loglik(x[:2500], mu[:, None], 1.0), stats.norm.logpdf(x[:2500], mu[:, None]).sum(1), dtype)


@kernel_shape
def vectors(dtype, rng):
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


@kernel_shape
def gradients(dtype, rng):
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
