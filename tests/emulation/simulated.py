"""Criteria of sequential designs: sums over references."""

import functools

import numpy as np
from simulator import kernel_shape

import gpustats as gs
from gpustats.gp import Emulator, MarginalLikelihood, Prediction


@kernel_shape
def sequential_designs(dtype, rng):
    """Sums over references of one block and of several turns, with derivatives; points that come later."""
    n, m, r = 37, 3, 34
    x, z, at = (rng.normal(size=(k, 2)).astype(dtype) for k in (n, m, r))
    y = rng.normal(size=n).astype(dtype)
    e = Emulator(MarginalLikelihood(gs.rbf, x[:35], y[:35], student_t=True), amplitude=1.2, lengthscale=1.5, sigma=0.7)
    e.update(x[35:], y[35:])

    def k(a, b):
        return 1.44 * np.exp(-0.5 * ((a[:, None].astype(float) - b) ** 2).sum(-1) / 2.25)

    inverse = np.linalg.inv(k(x, x) + 0.49 * np.eye(n))
    c = k(z, at) - k(z, x) @ inverse @ k(x, at)
    v = 1.44 + 0.49 - np.diag(k(z, x) @ inverse @ k(x, z))
    scale2 = y @ inverse @ y.astype(float) / n
    near = functools.partial(np.testing.assert_allclose, rtol=1e-9 if dtype == np.float64 else 2e-3)
    alc, slopes = e.alc(z, at, grad=True)
    near(alc, n / (n - 2) * scale2 * (c**2).mean(1) / v)
    _, in_values = e.ieci(z, 0.0, at, grad=True)
    p = e.predict(at)
    left = np.sqrt(p.scale.astype(float) ** 2 - scale2 * c**2 / v[:, None])
    near(e.ieci(z, 0.0, at), [Prediction(p.mean.astype(float), s, df=n).expected_improvement(0.0).mean() for s in left])
    assert slopes.shape == in_values.shape == (m, 2) and np.isfinite([slopes, in_values]).all()
    own = p.scale.astype(float) ** 2
    near(e.mspe(z, at, wrt=()), (n + 1) / (n - 1) * (own.mean() - scale2 * (c**2).mean(1) / v))
    assert np.isfinite([e.mspe(z, at), e.fish(z)]).all()
    e.expected_improvement(z, 0.0, grad=True)
