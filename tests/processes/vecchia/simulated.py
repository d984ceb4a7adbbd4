"""The densities of points given their neighbours."""

import dataclasses

import numpy as np
from references_vecchia import loglik, predictions
from simulator import kernel_shape

import gpustats as gs
from gpustats.gp import Vecchia
from gpustats.runtime import choose


@kernel_shape
def vecchia(dtype, rng):
    """A thread for each row of a matrix or for several of them, several points abreast; in shared memory and in global."""
    runtime = choose.get()
    whole = runtime.device
    bound = dict(rtol=1e-9, atol=1e-9) if dtype == np.float64 else dict(rtol=2e-3, atol=2e-3)
    for n, p, m, shared_memory in ((11, 2, 5, whole.shared_memory), (33, 1, 31, 2000), (6, 9, 3, whole.shared_memory)):
        runtime.device = dataclasses.replace(whole, shared_memory=shared_memory)
        x, y = rng.normal(size=(n, p)).astype(dtype), rng.normal(size=n).astype(dtype)
        new = rng.normal(size=(3, p)).astype(dtype)
        v = Vecchia(gs.rbf, x, y, neighbours=m, ordering="random")
        x, y, order, neighbours = x.astype(float), y.astype(float), v.order, v.neighbours
        sets = dict(amplitude=np.array([[1.2], [0.8]]), lengthscale=rng.uniform(1.0, 2.0, (2, p)))
        sigma, mean = rng.uniform(0.5, 1.0, n), rng.normal(size=n) / 5

        def k(a, b, amplitude, lengthscale):
            return amplitude**2 * np.exp(-0.5 * (((a[:, None] - b) / lengthscale) ** 2).sum(-1))

        def value(amplitude, lengthscale, sigma, mean, k=k, x=x, y=y, order=order, neighbours=neighbours):
            noise = np.diag(np.broadcast_to(sigma**2, len(x)))
            return loglik(k(x, x, amplitude, lengthscale) + noise, y - mean, order, neighbours)

        both = dict(sigma=0.7, mean=0.1), dict(sigma=sigma, mean=mean)
        for given in both if m < 30 else both[1:]:  # where each takes long
            values, gradient = v.value_and_grad(**sets, **given)
            at = [{"amplitude": sets["amplitude"][s, 0], "lengthscale": sets["lengthscale"][s], **given} for s in (0, 1)]
            np.testing.assert_allclose(values, [value(**one) for one in at], **bound)
            for name in (*sets, *given):
                element = np.arange(np.size(at[0][name])) == np.size(at[0][name]) - 1
                change = (1e-5 * element).reshape(np.shape(at[0][name]))
                slopes = [(value(**{**o, name: o[name] + change}) - value(**{**o, name: o[name] - change})) / 2e-5 for o in at]
                found = np.ravel(gradient[name][..., -1] if np.ndim(gradient[name]) else gradient[name])
                near = dict(rtol=max(bound["rtol"], 1e-6), atol=max(bound["atol"], 1e-6))
                np.testing.assert_allclose(found, slopes if name in sets else np.sum(slopes), **near)
        found = v.predict(new, **at[0], noise=0.3, mean_xs=0.2, neighbours=min(m, 4))
        nearest = np.argsort(((new.astype(float)[:, None] - x) ** 2).sum(-1), 1)[:, : min(m, 4)]
        own = {n: at[0][n] for n in sets}
        across, prior = k(new.astype(float), x, **own), np.full(3, own["amplitude"] ** 2)
        means, variances = predictions(k(x, x, **own) + np.diag(sigma**2), y - mean, across, prior, nearest)
        np.testing.assert_allclose(found.mean, means + 0.2, **bound)
        np.testing.assert_allclose(found.variance, variances + 0.09, **bound)
    runtime.device = whole
