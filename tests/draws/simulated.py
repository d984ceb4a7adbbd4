"""Random draws, continuous and discrete."""

import numpy as np
from simulator import close, kernel_shape

import gpustats as gs

N = 300


@kernel_shape
def samples(dtype, rng):
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


@kernel_shape
def discrete_draws(dtype, rng):
    for n in (1, 5, 16, 30, 64, 70, 520):
        weights = rng.random((6, n)).astype(dtype)
        hot = np.eye(n, dtype=dtype)[rng.integers(0, n, 6)]
        for size in (None, 3):
            for call in (dict(weights=weights), dict(log_weights=np.log(weights))):
                labels = gs.sample_discrete(**call, size=size, rng=1)
                assert labels.min() >= 0 and labels.max() < n
            labels = gs.sample_discrete(hot, size=size, rng=1).reshape(6, -1)
            assert (labels == hot.argmax(1)[:, None]).all()
    assert gs.sample_discrete(weights[0], size=100, rng=1).shape == (100,)
