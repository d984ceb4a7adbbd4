"""Mixtures and statistics by label."""

import numpy as np
from scipy import special, stats
from simulator import close, kernel_shape

import gpustats as gs


@kernel_shape
def mixture(dtype, rng):
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
        likeliest = mixed.predict(log_weights, *parameters)
        close(shares[np.arange(len(x)), likeliest], shares.max(1), dtype)
        value, gradient = mixed.value_and_grad(log_weights, *parameters)
        close(value, want.sum(), dtype)
        close(gradient["log_weights"], shares.sum(0), dtype)

    x = rng.normal(size=41).astype(dtype)
    for sets in (3, 19, 65):  # whose gradients one thread takes for each row, several do, and a second pass does
        mu = rng.normal(size=sets).astype(dtype)
        check(gs.normal, x, stats.norm.logpdf(x[:, None], mu, 1.5), mu, 1.5)
    log_weights, means = (rng.normal(size=(3, 4)).astype(dtype) for _ in "ab")
    values, slopes = gs.Mixture(gs.normal, x).sums_of_sets(
        {"mu": means, "sigma": np.full_like(means, 1.5), "log_weights": log_weights}, ["log_weights"]
    )
    terms = stats.norm.logpdf(x[:, None], means[:, None].astype(float), 1.5) + log_weights[:, None]
    close(values, special.logsumexp(terms, 2).sum(1), dtype)
    close(slopes["log_weights"], special.softmax(terms, 2).sum(1), dtype)
    check(gs.normal, x[:3], stats.norm.logpdf(x[:3, None], mu[:3], 1.5), mu[:3], 1.5)
    y, a = rng.dirichlet(np.ones(3), 33).astype(dtype), rng.uniform(1, 3, (5, 3)).astype(dtype)
    check(gs.dirichlet, y, np.log(y) @ (a.T - 1) + special.gammaln(a.sum(-1)) - special.gammaln(a).sum(-1), a)
    for dim, sets in ((3, 17), (17, 2)):  # groups of sets; several blocks of a matrix
        x, mu = rng.normal(size=(20, dim)).astype(dtype), rng.normal(size=(sets, dim)).astype(dtype)
        cov = np.stack([np.diag(d) for d in rng.uniform(1, 2, (sets, dim))]).astype(dtype)
        terms = stats.norm.logpdf(x[:, None], mu, np.sqrt(np.diagonal(cov, axis1=1, axis2=2))).sum(-1)
        check(gs.mvnormal, x, terms, mu, cov)


@kernel_shape
def label_statistics(dtype, rng):
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
