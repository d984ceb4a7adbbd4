"""Marginal likelihoods at sets of parameters whose matrices are one batch, on a GPU or on a device that is treated as one."""

import numpy as np
import pytest
from gp_data import data
from scipy import stats
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.gp import MarginalLikelihood
from gpustats.processes import batch, sets
from gpustats.runtime import choose

NOWHERE = dict.fromkeys(sets.MOST_FOR_SEVERAL_SETS, 0)


@pytest.fixture(autouse=True)
def in_batches(request, monkeypatch):
    """However few the observations are."""
    monkeypatch.setattr(sets, "MOST_FOR_SEVERAL_SETS", NOWHERE)
    monkeypatch.setattr(sets, "MOST_FOR_ONE_SET", NOWHERE)
    gpu = choose.get() if choose.get().device.type == "gpu" else request.getfixturevalue("like_a_gpu")
    with gs.use(gpu):
        yield


COVARIANCES = {
    "sum": (gs.linear + gs.matern52.rename(lengthscale="fine"), dict(lengthscale=[1.5, 2.0], amplitude=0.8, fine=0.6), 2),
    "of columns": (
        gs.rbf.on(0, 2) * gs.matern32.on(1, 2).rename(amplitude="b", lengthscale="fine"),
        dict(amplitude=0.8, lengthscale=[1.5, 1.0, 2.0], b=0.7, fine=[0.6, 1.0, 1.0]), 3,
    ),
    "many columns": (gs.rbf, dict(amplitude=1.2, lengthscale=np.linspace(2.0, 5.0, 10)), 10),
    "numbers": (gs.periodic, dict(amplitude=1.1, lengthscale=0.8, period=1.7), 1),
}  # fmt: skip


@pytest.mark.parametrize("name, n, student_t, jitter, dtype", some([
    ("sum", 70, False, 0.0, np.float64), ("of columns", 33, True, 0.1, np.float64),
    ("many columns", 32, False, 0.0, np.float64), ("numbers", 1, False, 0.1, np.float64),
    ("numbers", 130, True, 0.0, np.float64), ("sum", 70, False, 0.0, np.float32),
], 4))  # fmt: skip
def test_equals_sets_alone(name, n, student_t, jitter, dtype, rng):
    """Values, and derivatives in everything but the points, with what all sets share among it."""
    cov, values, p = COVARIANCES[name]
    x, y = data(rng, n, p, dtype)
    ml = MarginalLikelihood(cov, x, y, student_t=student_t, jitter=jitter)
    several = {k: np.atleast_1d(v) * rng.uniform(0.8, 1.2, (2, 2, 1)) for k, v in values.items()}
    several |= {"sigma": rng.uniform(0.4, 0.8, (2, 2, n if name == "sum" else 1)), "mean": 0.3}
    wrt = [*several, "y"]
    found, gradient = ml.value_and_grad(**several, wrt=wrt)
    np.testing.assert_array_equal(ml(**several), found)
    bound = 1e-9 if dtype == np.float64 else 1e-3
    of_y = of_mean = 0
    for at in np.ndindex(2, 2):
        one = {k: v[at] if np.ndim(v) else v for k, v in several.items()}
        one = {k: v if np.size(v) > 1 else float(np.squeeze(v)) for k, v in one.items()}
        want, slopes = ml.value_and_grad(**one, wrt=wrt)
        np.testing.assert_allclose(found[at], want, rtol=bound / 100, atol=bound)
        for k in values.keys() | {"sigma"}:
            largest = np.abs(slopes[k]).max()
            np.testing.assert_allclose(gradient[k][at], np.atleast_1d(slopes[k]), rtol=bound, atol=bound * largest)
        of_y, of_mean = of_y + slopes["y"], of_mean + slopes["mean"]
    np.testing.assert_allclose(gradient["y"], of_y, rtol=bound, atol=bound * np.abs(of_y).max())
    np.testing.assert_allclose(gradient["mean"], of_mean, rtol=bound, atol=bound * np.abs(of_y).max())


def test_equals_scipy(rng):
    x, y = data(rng, 90)
    amplitude, sigma = rng.uniform(0.8, 1.5, (3, 1)), rng.uniform(0.3, 0.6, (3, 1))
    apart = ((x[:, None] - x) ** 2).sum(-1)
    want = [
        stats.multivariate_normal.logpdf(y, np.full(90, 0.2), a * a * np.exp(-0.5 * apart) + s * s * np.eye(90))
        for a, s in zip(amplitude.ravel(), sigma.ravel())
    ]
    found = MarginalLikelihood(gs.rbf, x, y)(amplitude=amplitude, lengthscale=1.0, sigma=sigma, mean=0.2)
    np.testing.assert_allclose(found, want, rtol=1e-11)


@THOROUGH
def test_a_set_does_not_depend_on_others(rng, monkeypatch):
    """Nor on how many are a batch, and on whether the batch is the thread's first of its kind."""
    x, y = data(rng, 150)
    ml = MarginalLikelihood(gs.matern32, x, y)
    given = {n: rng.uniform(0.5, 1.5, (7, size)) for n, size in (("amplitude", 1), ("lengthscale", 2), ("sigma", 1))}
    value, gradient = ml.value_and_grad(**given)
    for few in (slice(0, 1), slice(4, 6), slice(None, None, -1)):
        for _ in range(5):
            part, its = ml.value_and_grad(**{n: v[few] for n, v in given.items()})
            np.testing.assert_array_equal(part, value[few])
            for n in given:
                np.testing.assert_array_equal(its[n], gradient[n][few])
    monkeypatch.setattr(batch, "MOST_SETS_AT_ONCE", 3)
    part, its = ml.value_and_grad(**given)
    np.testing.assert_array_equal(part, value)
    np.testing.assert_array_equal(its["lengthscale"], gradient["lengthscale"])


def test_observations_of_each_set(rng):
    x, y = data(rng, 40)
    ml, ys = MarginalLikelihood(gs.rbf, x, y), rng.normal(size=(3, 40))
    one = np.ones((1, 1))
    rows = dict(y=ys, mean=0 * one, lengthscale=np.ones((1, 2)), amplitude=1.2 * one, sigma=0.4 * one)
    values, slopes = ml.sums_of_sets(rows, 3, ["y", "sigma"])
    for k in range(3):
        own = MarginalLikelihood(gs.rbf, x, ys[k])
        want, gradient = own.value_and_grad(amplitude=1.2, lengthscale=[1.0, 1.0], sigma=0.4, wrt=["y", "sigma"])
        np.testing.assert_allclose(values[k], want, rtol=1e-12)
        np.testing.assert_allclose(slopes["y"][k], gradient["y"], rtol=1e-10)
        np.testing.assert_allclose(slopes["sigma"][k], gradient["sigma"], rtol=1e-10)


def test_what_has_no_density_is_nan(rng):
    """For that set alone; also what compiled code gives, which was not looked at before."""
    x, y = np.repeat(rng.normal(size=(20, 2)), 2, axis=0), rng.normal(size=40)
    ml = MarginalLikelihood(gs.rbf, x, y)
    value, gradient = ml.value_and_grad(amplitude=1.0, lengthscale=0.8, sigma=[[0.2], [0.0], [0.3]], wrt=["sigma"])
    np.testing.assert_array_equal(np.isnan(value), [False, True, False])
    np.testing.assert_array_equal(np.isnan(gradient["sigma"]), [[False], [True], [False]])
    one = np.ones((2, 1))
    rows = dict(y=np.stack([y, y]), mean=np.zeros((2, 1)), lengthscale=np.ones((2, 2)), amplitude=one, sigma=one)
    for name, wrong in [("amplitude", -1.0), ("lengthscale", 0.0), ("sigma", -0.1), ("mean", np.nan), ("y", np.inf)]:
        given = {n: v.copy() for n, v in rows.items()}
        given[name][1, -1] = wrong
        values, slopes = ml.sums_of_sets(given, 2, ["amplitude"])
        assert np.isnan(values[1]) and np.isnan(slopes["amplitude"][1]) and np.isfinite(values[0]), name


def test_no_scale(rng):
    x, _ = data(rng, 10)
    ml = MarginalLikelihood(gs.rbf, x, np.full(10, 2.0), student_t=True)
    with pytest.raises(ValueError, match="no scale to integrate out"):
        ml(amplitude=1.0, lengthscale=1.0, sigma=[[0.1], [0.2]], mean=2.0)


def test_large_matrices_of_few_sets_are_not_kept(rng, monkeypatch):
    x, y = data(rng, 20)
    monkeypatch.setattr(batch, "KEPT_MEMORY_SHARE", 0)
    ml = MarginalLikelihood(gs.rbf, x, y)
    found = [ml(amplitude=[[1.0], [1.1]], lengthscale=1.0, sigma=0.5) for _ in range(4)]
    assert all((f == found[0]).all() for f in found)
    plan = ml._sets._batch._local.last[1]
    assert plan._call._own.recorded is None
