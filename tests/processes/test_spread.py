"""Marginal likelihoods whose matrix several devices share: the numbers of one device, and those of a Markov process."""

import dataclasses
import pickle

import numpy as np
import pytest
from gp_data import data
from scipy import stats
from thorough import some

import gpustats as gs
from bench import gp_tiled
from gpustats.gp import Emulator, MarginalLikelihood
from gpustats.processes import spread
from gpustats.runtime import choose

POINT = dict(amplitude=1.2, lengthscale=[0.8, 1.5], sigma=0.3)


@pytest.fixture(params=["all", "twice", "different"])
def devices(request):
    """All that there are, often one, one that is named twice, and three with memories of their own."""
    here = choose.get()
    if request.param == "all":
        return choose.several("all") if here in choose.several("all") else [here]
    if request.param == "different":
        other = request.getfixturevalue("like_a_gpu")
        return [here, other, other]
    return [here] * 2


def close(found, want, bound=1e-12):
    np.testing.assert_allclose(found, want, rtol=bound, atol=bound * np.abs(want).max(initial=1e-3))


def alike(ml, spread, point, bound=1e-12):
    """The same value and derivatives in everything."""
    wrt = [*point, "x", "y"]
    (want, slopes), (value, gradient) = (m.value_and_grad(**point, wrt=wrt) for m in (ml, spread))
    close(value, want, bound)
    assert spread(**point) == value
    for name in wrt:
        assert np.shape(gradient[name]) == np.shape(slopes[name]) and type(gradient[name]) is type(slopes[name])
        close(gradient[name], slopes[name], 20 * bound)


@pytest.mark.parametrize("n", some([1, 2, 33, 130], 2))
def test_numbers_of_one_device(n, devices, rng):
    """Fewer points than rows of a block, one block and a row more, several."""
    x, y = data(rng, n)
    mean, sigma = rng.normal(size=n), rng.uniform(0.3, 0.6, n)
    ml, spread = MarginalLikelihood(gs.rbf, x, y), MarginalLikelihood(gs.rbf, x, y, devices=devices)
    alike(ml, spread, POINT)
    alike(ml, spread, {**POINT, "sigma": sigma, "mean": mean})
    new = rng.normal(size=(9, 2))
    one, several = (m.predict(new, **POINT, noise=True, cov=True) for m in (ml, spread))
    for name in ("mean", "scale", "covariance"):
        close(getattr(several, name), getattr(one, name))
    close(spread.draw(new, 4, rng=1, **POINT), ml.draw(new, 4, rng=1, **POINT), 1e-9)


KINDS = dict(jitter=dict(jitter=0.1), student_t=dict(student_t=True), mean=dict(mean=lambda x: x[:, 0]))


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_kinds_of_processes(options, devices, rng):
    """A sum with a scalar product, for which a jitter counts in the derivatives in the points."""
    x, y = data(rng, 100)
    cov = gs.linear.rename(lengthscale="slope") + gs.matern52
    point = dict(slope=[1.5, 2.0], amplitude=0.8, lengthscale=0.6, sigma=0.3)
    alike(MarginalLikelihood(cov, x, y, **options), MarginalLikelihood(cov, x, y, **options, devices=devices), point)


def test_float32(devices, rng):
    x, y = data(rng, 100, dtype=np.float32)
    ml, spread = MarginalLikelihood(gs.rbf, x, y), MarginalLikelihood(gs.rbf, x, y, devices=devices)
    alike(ml, spread, POINT, 1e-4)
    assert spread.predict(x[:3], **POINT).mean.dtype == np.float32


def test_the_exact_likelihood_of_a_markov_process(devices, rng):
    """That of the bench, whose Kalman filter is held against the normal density, and whose derivatives are exact."""
    x, y = gp_tiled.data(150)
    point = gp_tiled.POINT
    value, gradient = MarginalLikelihood(gs.matern12, x, y, devices=devices).value_and_grad(**point)
    want, slopes = gp_tiled.exact(150)
    K = point["amplitude"] ** 2 * np.exp(-np.abs(x[:, None] - x) / point["lengthscale"]) + point["sigma"] ** 2 * np.eye(150)
    close(want, stats.multivariate_normal.logpdf(y, np.zeros(150), K))
    close(value, want)
    for name in point:
        close(gradient[name], slopes[name], 1e-11)


def test_sets_of_parameters(devices, rng):
    x, y = data(rng, 70)
    ml, spread = MarginalLikelihood(gs.rbf, x, y), MarginalLikelihood(gs.rbf, x, y, devices=devices)
    point = dict(amplitude=rng.uniform(1, 2, (3, 1)), lengthscale=0.8, sigma=0.3)
    (want, slopes), (value, gradient) = (m.value_and_grad(**point) for m in (ml, spread))
    close(value, want)
    for name in point:
        close(gradient[name], slopes[name], 1e-11)


def test_values_of_sets_take_no_inverse(rng, monkeypatch):
    ml = MarginalLikelihood(gs.rbf, *data(rng, 70), devices=[choose.get().device.id])
    point = dict(amplitude=rng.uniform(1, 2, (3, 1)), lengthscale=0.8, sigma=0.3)
    want, _ = ml.value_and_grad(**point)
    monkeypatch.setattr(spread.SpreadFactor, "slopes", None)  # which take the inverse
    np.testing.assert_array_equal(ml(**point), want)


@pytest.mark.parametrize("n", [3, 70, 100])
def test_not_positive_definite(n, devices, rng):
    """The error of one device, with the row: the last point is the first one, without noise."""
    x, y = rng.uniform(0, n, (n, 1)), rng.normal(size=n)
    x[-1] = x[0]
    point, messages = dict(amplitude=1.0, lengthscale=0.1, sigma=np.r_[np.full(n - 1, 0.1), 0.0]), []
    point["sigma"][0] = 0
    for options in ({}, dict(devices=devices)):
        ml = MarginalLikelihood(gs.matern12, x, y, **options)
        with pytest.raises(np.linalg.LinAlgError) as caught:
            ml.value_and_grad(**point)
        messages.append(str(caught.value))
        assert np.isfinite(ml(**{**point, "sigma": 0.1}))  # and then goes on
    assert messages[0] == messages[1]
    assert f"minor of order {n} is not" in messages[1]


@pytest.mark.parametrize("sigma", [1e200, 1e-200])
def test_too_large_and_too_small(sigma, devices, rng):
    x, messages = np.repeat(rng.uniform(size=(40, 1)), 2, 0), []
    for options in ({}, dict(devices=devices)):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            MarginalLikelihood(gs.rbf, x, x[:, 0], **options)(amplitude=1.0, lengthscale=0.5, sigma=sigma)
        messages.append(str(caught.value))
    assert messages[0].partition(":")[0] == messages[1].partition(":")[0]


def test_nothing_to_integrate_out(devices, rng):
    x, _ = data(rng, 40)
    ml = MarginalLikelihood(gs.rbf, x, np.zeros(40), student_t=True, devices=devices)
    with pytest.raises(ValueError, match="there is no scale to integrate out"):
        ml(**POINT)


def test_no_observations(devices):
    ml = MarginalLikelihood(gs.rbf, np.zeros((0, 2)), np.zeros(0), devices=devices)
    assert ml(**POINT) == 0
    assert ml.value_and_grad(**POINT)[1]["amplitude"] == 0
    close(ml.predict(np.zeros((2, 2)), **POINT).scale, [1.2, 1.2])


def test_copies_fits_and_emulators(rng):
    here = choose.get()
    x, y = data(rng, 40)
    ml = MarginalLikelihood(gs.rbf, x, y, devices=[here, here])
    assert f"on {here.device.id}, {here.device.id}>" in repr(ml)
    copy = pickle.loads(pickle.dumps(ml))
    assert repr(copy) == repr(ml) and copy(**POINT) == ml(**POINT)
    start, fixed = dict(amplitude=1.0, lengthscale=1.0, sigma=0.3), ["sigma"]
    found, want = (m.fit(start, fixed=fixed).values for m in (ml, MarginalLikelihood(gs.rbf, x, y)))
    for name in start:
        close(found[name], want[name], 1e-6)
    emulator = Emulator(ml, **POINT)
    emulator.update(x[:1] + 0.1, y[:1])
    assert repr(emulator.likelihood).endswith(f"{here.device.id}, {here.device.id}>")


def test_device_arrays(rng):
    here = choose.get()
    x, y = data(rng, 40)
    ml = MarginalLikelihood(gs.rbf, here.to_device(x), here.to_device(y), devices=[here, here])
    close(ml(**POINT), MarginalLikelihood(gs.rbf, x, y)(**POINT))
    new = here.to_device(x[:3])
    close(here.to_host(ml.predict(new, **POINT).mean), MarginalLikelihood(gs.rbf, x, y).predict(x[:3], **POINT).mean)


def test_arrays_of_the_second_device(like_a_gpu, rng):
    """It makes the predictions."""
    x, y = data(rng, 40)
    ml = MarginalLikelihood(gs.rbf, like_a_gpu.to_device(x), y, devices=[choose.get(), like_a_gpu])
    alone = MarginalLikelihood(gs.rbf, x, y)
    assert ml.device is like_a_gpu.device
    value, gradient = ml.value_and_grad(**POINT, wrt="x")
    close(value, alone(**POINT))
    close(like_a_gpu.to_host(gradient["x"]), alone.value_and_grad(**POINT, wrt="x")[1]["x"], 1e-11)
    found = ml.predict(like_a_gpu.to_device(x[:3]), **POINT, cov=True)
    close(like_a_gpu.to_host(found.covariance), alone.predict(x[:3], **POINT, cov=True).covariance)


def test_arrays_of_another_device(like_a_gpu, rng):
    x, y = data(rng, 40)
    with pytest.raises(ValueError, match=r"x or y lies on .*, and devices names .*: name that, too, or pass NumPy arrays"):
        MarginalLikelihood(gs.rbf, like_a_gpu.to_device(x), y, devices=[choose.get()])


def test_what_is_too_large_names_the_cure(rng, monkeypatch):
    here = choose.get()
    ml = MarginalLikelihood(gs.rbf, np.zeros((1000, 2)), np.zeros(1000))
    monkeypatch.setattr(here, "device", dataclasses.replace(here.device, memory=5_000_000))
    cure = rf"matrix of 1000 points is too large: asked .*devices=\['{here.device.id}'\] takes half"
    with pytest.raises(MemoryError, match=cure):
        ml(**POINT)
    spread = MarginalLikelihood(gs.rbf, rng.normal(size=(1000, 2)), np.zeros(1000), devices=[here.device.id])
    assert np.isfinite(spread(**POINT))


def test_no_devices(rng):
    with pytest.raises(ValueError, match="devices is empty"):
        MarginalLikelihood(gs.rbf, *data(rng, 5), devices=[])
    for wrong in ([0], 1, [""], [None]):
        with pytest.raises(ValueError, match="is no device, such as 'cuda:0'"):
            MarginalLikelihood(gs.rbf, *data(rng, 5), devices=wrong)
