"""Parameters that travel to a device while the kernels of earlier calls still run."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import gpustats as gs


def check(seed):
    """Many calls in a row, none of them waited for, whose parameters pass through the same memory several times."""
    rng, dim, sets = np.random.default_rng(seed), 64, 8
    x = rng.normal(size=(50, dim))
    on_device = gs.to_device(x[:, None])
    means, variances = rng.normal(size=(40, sets, dim)), rng.uniform(1, 2, size=(40, sets, dim))
    tables = []
    for mean, variance in zip(means, variances):
        mean, cov = mean.copy(), variance[:, :, None] * np.eye(dim)
        tables.append(gs.mvnormal.logpdf(on_device, mean, cov))
        mean[:], cov[:] = np.nan, np.nan  # a caller may use them again
    for table, mean, variance in zip(tables, means, variances):
        terms = (x[:, None] - mean) ** 2 / variance + np.log(2 * np.pi * variance)
        np.testing.assert_allclose(gs.to_host(table), -0.5 * terms.sum(-1), rtol=1e-12)


def test_a_sequence_of_calls():
    check(1)


def test_threads():
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(check, range(4)))
