"""Vecchia's approximation: against the exact likelihood, dense matrices, and the R package GpGp."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from gp_data import data
from references_vecchia import earlier, loglik, predictions
from runtimes import needs_cpu
from thorough import some

import gpustats as gs
from gpustats.gp import MarginalLikelihood, Vecchia
from gpustats.processes.vecchia import conditionals, model

WIGGLE = """
// vecchia_wiggle: a damped cosine
// sqdist: nonnegative    amplitude: positive    lengthscale: positive    period: positive
__device__ real vecchia_wiggle_cov(real sqdist, real amplitude, real lengthscale, real period)
{
    real r = sqrt(sqdist + 1e-20);
    return amplitude * amplitude * exp(-r / lengthscale) * cos(2 * PI * r / period);
}
"""


def cases():
    both = gs.rbf.on(0, 2) * gs.matern32.on(1, 2).rename(amplitude="b", lengthscale="fine")
    return {
        "sum": (gs.linear + gs.matern52.rename(lengthscale="fine"), dict(lengthscale=[1.5, 2.0], amplitude=0.8, fine=0.6), 2),
        "of columns": (both, dict(amplitude=0.8, lengthscale=[1.5, 1.0, 2.0], b=0.7, fine=[0.6, 1.0, 1.0]), 3),
        "many columns": (gs.rbf, dict(amplitude=1.2, lengthscale=np.linspace(2.0, 5.0, 10)), 10),
        "own": (gs.register(WIGGLE, replace=True), dict(amplitude=1.1, lengthscale=0.8, period=9.0), 1),
    }  # fmt: skip


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("name", some(["sum", "of columns", "many columns", "own"], 4))
def test_given_all_before_it_is_exact(name, by_row, rng):
    cov, values, p = cases()[name]
    n = 40
    x, y = data(rng, n, p)
    noise = dict(sigma=rng.uniform(0.3, 0.5, n), mean=rng.normal(size=n)) if by_row else dict(sigma=0.4, mean=0.2)
    values = {**values, **noise}
    exact, v = MarginalLikelihood(cov, x, y, jitter=0.01), Vecchia(cov, x, y, n - 1, jitter=0.01)
    wrt = [*values, "y"]
    (value, gradient), (want, slopes) = v.value_and_grad(**values, wrt=wrt), exact.value_and_grad(**values, wrt=wrt)
    np.testing.assert_allclose(value, want, rtol=1e-12)
    assert list(gradient) == wrt
    for key in wrt:
        assert np.shape(gradient[key]) == np.shape(slopes[key])
        np.testing.assert_allclose(gradient[key], slopes[key], rtol=1e-10, atol=1e-11)
    new = rng.normal(size=(5, p))
    found, full = (g.predict(new, **values, noise=0.1, mean_xs=0.3, **k) for g, k in ((v, dict(neighbours=n)), (exact, {})))
    np.testing.assert_allclose(found.mean, full.mean, rtol=1e-11)
    np.testing.assert_allclose(found.scale, full.scale, rtol=1e-11)


#: Of vecchia_profbeta_loglik_grad_info (GpGp 0.5.1): log-likelihood, derivatives in variance, range and nugget, mean.
GPGP = {
    "matern12": (1.0, -60.7673712360584, -28.7651666899835, 103.313933507651, -98.5312052656502, -0.00999972300789159),
    "matern32": (3.0, -11.3279407037531, -27.2368705226415, 124.575945993614, -420.557443245481, -0.0741417142474232),
    "matern52": (5.0, 1.55724734591941, -24.4476115142724, 39.0342588035151, -555.659282016269, -0.109296793526519),
}  # fmt: skip


@pytest.mark.parametrize("name", GPGP)
def test_equals_gpgp(name):
    """For 80 points in their own order, 10 neighbours, variance 1.3, range 0.25, and a nugget of 0.05 times the variance."""
    squared, want, of_variance, of_range, of_nugget, mean = GPGP[name]
    i, unit, variance, nugget = np.arange(1, 81), np.sqrt(squared), 1.3, 0.05
    x = np.column_stack([i * 0.754877666 % 1, i * 0.569840291 % 1])
    y = np.sin(5 * x[:, 0]) * np.cos(3 * x[:, 1]) + 0.1 * np.sin(37 * i)
    v = Vecchia(gs.covariances[name], x, y, 10, ordering=np.arange(80))
    amplitude, sigma = np.sqrt(variance), np.sqrt(variance * nugget)
    value, g = v.value_and_grad(amplitude=amplitude, lengthscale=0.25 * unit, sigma=sigma, mean=mean)
    np.testing.assert_allclose(value, want, rtol=1e-12)
    np.testing.assert_allclose(g["mean"], 0, atol=1e-11)  # theirs is the best
    by_variance = (g["amplitude"] / amplitude + g["sigma"] * sigma / variance) / 2
    found = [by_variance, g["lengthscale"] * unit, g["sigma"] * variance / sigma / 2]
    np.testing.assert_allclose(found, [of_variance, of_range, of_nugget], rtol=1e-11)
    if name == "matern32":
        scaled = dict(amplitude=amplitude, lengthscale=unit * np.array([0.25, 0.4]), sigma=sigma)
        np.testing.assert_allclose(v(**scaled), -4.75088008621807, rtol=1e-12)


def dense(x, amplitude, lengthscale, sigma):
    apart = (((x[:, None] - x) / lengthscale) ** 2).sum(-1)
    return amplitude**2 * np.exp(-0.5 * apart) + np.diag(np.broadcast_to(sigma, len(x)) ** 2)


@pytest.mark.parametrize("dtype, bound", [(np.float64, 1e-11), (np.float32, 3e-5)], ids=["float64", "float32"])
def test_equals_dense_matrices(dtype, bound, rng):
    """Neighbours, values, derivatives by finite differences, and predictions, in units in which columns are searched."""
    n, m = 90, 6
    x, y = data(rng, n, 2, dtype)
    v = Vecchia(gs.rbf, x, y, m, scales=[1.0, 3.0])
    wide, what = x.astype(float), y.astype(float)
    np.testing.assert_array_equal(v.neighbours, earlier(wide / [1.0, 3.0], v.order, m))
    values = dict(amplitude=1.2, lengthscale=np.array([0.8, 1.5]), sigma=0.4)

    def wanted(mean=0.3, **values):
        return loglik(dense(wide, **values), what - mean, v.order, v.neighbours)

    value, gradient = v.value_and_grad(**values, mean=0.3)
    np.testing.assert_allclose(value, wanted(**values), rtol=bound)
    np.testing.assert_allclose(v(**values, mean=0.3), value, rtol=bound)
    for name, at in (values | dict(mean=0.3)).items():
        for k in range(np.size(at)):
            change = 1e-5 * (np.arange(np.size(at)) == k).reshape(np.shape(at))
            slope = (wanted(**values | {name: at + change}) - wanted(**values | {name: at - change})) / 2e-5
            np.testing.assert_allclose(np.ravel(gradient[name])[k], slope, rtol=max(1e-7, 30 * bound))
    new = rng.normal(size=(7, 2)).astype(dtype)
    nearest = np.argsort((((new.astype(float)[:, None] - wide) / [1.0, 3.0]) ** 2).sum(-1), 1)[:, :m]
    across = 1.44 * np.exp(-0.5 * (((new.astype(float)[:, None] - wide) / values["lengthscale"]) ** 2).sum(-1))
    means, variances = predictions(dense(wide, **values), what - 0.3, across, np.full(7, 1.44), nearest)
    found = v.predict(new, **values, mean=0.3)
    assert found.mean.dtype == dtype
    np.testing.assert_allclose(found.mean, means + 0.3, rtol=bound, atol=bound)
    np.testing.assert_allclose(found.variance, variances, rtol=10 * bound, atol=bound)


def test_sets(rng, monkeypatch):
    """Each has the bits that it has alone, whatever the others are; one that is invalid is nan."""
    x, y = data(rng, 50)
    v = Vecchia(gs.rbf, x, y, 5)
    amplitude, lengthscale = rng.uniform(0.8, 1.2, (3, 1)), rng.uniform(0.8, 1.2, (3, 2))
    given = dict(amplitude=amplitude, lengthscale=lengthscale, sigma=0.3)
    value, gradient = v.value_and_grad(**given)
    ones = [v.value_and_grad(amplitude=amplitude[k, 0], lengthscale=lengthscale[k], sigma=0.3) for k in range(3)]
    np.testing.assert_array_equal(value, [one for one, _ in ones])
    np.testing.assert_array_equal(gradient["lengthscale"], [g["lengthscale"] for _, g in ones])
    np.testing.assert_allclose(gradient["sigma"], sum(g["sigma"] for _, g in ones), rtol=1e-14)
    monkeypatch.setattr(conditionals, "MOST_FETCHED_BYTES", 1)
    np.testing.assert_array_equal(v.value_and_grad(**given)[0], value)
    by_row = dict(given, sigma=rng.uniform(0.3, 0.4, (3, 50)), mean=rng.normal(size=(3, 50)))
    slopes = v.value_and_grad(**by_row)[1]
    one = v.value_and_grad(**{n: np.ravel(a[1]) if a[1].size > 1 else a[1].item() for n, a in by_row.items()})[1]
    for name in ("sigma", "mean"):
        np.testing.assert_array_equal(slopes[name][1], one[name])
    double = Vecchia(gs.rbf, np.repeat(x, 2, axis=0), np.repeat(y, 2), 5)
    found, slopes = double.value_and_grad(amplitude=1.0, lengthscale=1.0, sigma=[[0.1], [0.0], [0.2]])
    np.testing.assert_array_equal(np.isnan(found), [False, True, False])
    np.testing.assert_array_equal(np.isnan(slopes["sigma"]), [[False], [True], [False]])
    assert v(amplitude=np.ones((0, 1)), lengthscale=1.0).shape == (0,)
    for call in (double, lambda **values: double.predict(x[:3], **values)):
        with pytest.raises(np.linalg.LinAlgError, match="5 neighbours is not positive definite.*larger sigma"):
            call(amplitude=1.0, lengthscale=1.0)


def test_like_a_gpu(like_a_gpu, rng):
    """A group of threads for each point: the same numbers, but for rounding; arrays of the device in and out."""
    x, y = data(rng, 70)
    values, new = dict(amplitude=1.2, lengthscale=[0.8, 1.5], sigma=rng.uniform(0.3, 0.5, 70)), rng.normal(size=(9, 2))
    here = [Vecchia(gs.rbf, x, y, m) for m in (4, 40)]
    wrt = [*values, "mean", "y"]
    want = [(v.value_and_grad(**values, wrt=wrt), v.predict(new, **values)) for v in here]
    with gs.use(like_a_gpu):
        x, y, new = map(gs.to_device, (x, y, new))
        for v, ((value, gradient), prediction) in zip((Vecchia(gs.rbf, x, y, m) for m in (4, 40)), want, strict=True):
            assert v.device.type == "gpu"
            found, slopes = v.value_and_grad(**values, wrt=wrt)
            np.testing.assert_allclose(found, value, rtol=1e-12)
            for name in slopes:
                got = gs.to_host(slopes[name]) if name == "y" else slopes[name]
                np.testing.assert_allclose(got, gradient[name], rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(gs.to_host(v.predict(new, **values).scale), prediction.scale, rtol=1e-11)


@needs_cpu
def test_several_devices(rng):
    """The same numbers but for rounding, by row, too; more devices than points."""
    x, y = data(rng, 50)
    values = dict(amplitude=[[1.2], [0.9]], lengthscale=[0.8, 1.5], sigma=rng.uniform(0.3, 0.5, 50), mean=0.1)
    one, three = Vecchia(gs.rbf, x, y, 5), Vecchia(gs.rbf, x, y, 5, devices=3 * ["cpu"])
    wrt = [*values, "y"]
    for v in (three, pickle.loads(pickle.dumps(three))):
        (value, gradient), (want, slopes) = v.value_and_grad(**values, wrt=wrt), one.value_and_grad(**values, wrt=wrt)
        np.testing.assert_allclose(value, want, rtol=1e-13)
        for name in wrt:
            np.testing.assert_allclose(gradient[name], slopes[name], rtol=1e-11, atol=1e-12)
    given = dict(amplitude=1.2, lengthscale=0.8, sigma=0.3)
    np.testing.assert_array_equal(three.predict(x[:3], **given).mean, one.predict(x[:3], **given).mean)
    few = Vecchia(gs.rbf, x[:2], y[:2], devices=3 * ["cpu"])
    np.testing.assert_allclose(few(**given), MarginalLikelihood(gs.rbf, x[:2], y[:2])(**given), rtol=1e-13)


def test_few_points(rng):
    x, y = data(rng, 2)
    for n in (1, 2):
        given = dict(amplitude=1.2, lengthscale=0.8, sigma=0.3)
        v, exact = (make(gs.rbf, x[:n], y[:n]) for make in (Vecchia, MarginalLikelihood))
        assert v.m == n - 1
        np.testing.assert_allclose(v(**given), exact(**given), rtol=1e-13)
        np.testing.assert_allclose(v.predict(x, **given).mean, exact.predict(x, **given).mean, rtol=1e-13)
    assert v.predict(x[:0], **given).mean.shape == (0,)


def test_predictions_in_chunks(rng, monkeypatch):
    x, y = data(rng, 60)
    v, values, new = Vecchia(gs.rbf, x, y, 5), dict(amplitude=1.2, lengthscale=0.8, sigma=0.3), rng.normal(size=(20, 2))
    new[3, 1] = np.nan
    whole = v.predict(new, **values)
    np.testing.assert_array_equal(np.isnan(whole.mean), np.arange(20) == 3)
    monkeypatch.setattr(model, "NEIGHBOURS_AT_ONCE", 30)
    parts = v.predict(new, **values)
    np.testing.assert_array_equal(parts.mean, whole.mean)
    np.testing.assert_array_equal(parts.scale, whole.scale)
    with_trend = Vecchia(gs.rbf, x, y + x[:, 0], 5, mean=lambda at: at[:, 0])
    np.testing.assert_allclose(with_trend.predict(new, **values).mean, whole.mean + new[:, 0], rtol=1e-10)


def test_fit_and_pickle(rng):
    x, y = data(rng, 80, 1)
    v, exact = Vecchia(gs.rbf, x, y, 20), MarginalLikelihood(gs.rbf, x, y)
    start = dict(amplitude=1.0, lengthscale=1.0, sigma=0.5)
    fit, best = v.fit(start), exact.fit(start)
    assert exact(**fit.values) > best.loglik - 0.05
    again = pickle.loads(pickle.dumps(v))
    assert again(**start) == v(**start) and repr(again) == repr(v)
    np.testing.assert_array_equal(again.neighbours, v.neighbours)


def errors():
    x, y = np.arange(6.0).reshape(3, 2), np.zeros(3)
    v, given = Vecchia(gs.rbf, x, y), dict(amplitude=1.0, lengthscale=1.0, sigma=0.1)
    return [
        (lambda: Vecchia(gs.rbf, x[:0], y[:0]), "no observations"),
        (lambda: Vecchia(gs.rbf, x, y, 0), "neighbours = 0: it must be a whole number from 1 to 64"),
        (lambda: Vecchia(gs.rbf, x, y, 65), "neighbours = 65"),
        (lambda: Vecchia(gs.rbf, x, y, 2.5), "neighbours = 2.5"),
        (lambda: Vecchia(gs.rbf, x, y, ordering="best"), "ordering = 'best'"),
        (lambda: Vecchia(gs.rbf, x, y, scales=[1.0, 0.0]), r"scales must be \(2,\) positive numbers"),
        (lambda: Vecchia(gs.rbf, x, [0.0, np.nan, 1.0]), r"y\[1\] is nan"),
        (lambda: Vecchia(gs.rbf.on(2), x, y), "column 2, but the points have 2"),
        (lambda: v(amplitude=1.0), "rbf needs lengthscale"),
        (lambda: v(**{**given, "sigma": -1.0}), "sigma is -1.0"),
        (lambda: v.value_and_grad(**given, wrt="x"), "'x' is none of amplitude, lengthscale, sigma, mean, y"),
        (lambda: v.predict(x, **given, neighbours=65), "neighbours = 65"),
        (lambda: v.predict(x[:, :1], **given), "xs has 1 columns, and x 2"),
    ]


@pytest.mark.parametrize("number", range(13))
def test_errors(number):
    call, message = errors()[number]
    with pytest.raises(ValueError, match=message):
        call()


def test_memory_is_freed(rng):
    """What lies on the device goes with the likelihood, and does not wait for the collector of cycles."""
    v = Vecchia(gs.rbf, *data(rng), neighbours=3)
    gc.disable()
    try:
        for wrt in (None, "y"):
            v.value_and_grad(amplitude=1.0, lengthscale=0.5, sigma=0.3, wrt=wrt)
        conditionals = weakref.ref(v._conditionals)
        del v
        assert conditionals() is None
    finally:
        gc.enable()
