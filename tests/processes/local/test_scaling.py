"""Columns scaled by lengthscales of all data: blocks of Latin hypercubes, and predictions whatever the units."""

import functools
import pickle

import numpy as np
import pytest
from references_local import fixed, loglik
from scipy import optimize
from thorough import THOROUGH

import gpustats as gs
from gpustats.processes.local import blhs, darg, model, points, scaling

SMALL = dict(size=60, replicates=3)  # of subsamples, so that they are fitted in no time
OPTIONS = [{}, {"separable": True}, {"method": "nn"}, {"method": "ray"}, {"joint": True}]


@pytest.fixture
def uneven(rng):
    """Data that vary much in the first column, and hardly in the others."""
    X = rng.uniform(size=(1500, 4))
    return X, np.sin(12 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * X[:, 2] ** 2, rng.uniform(0.1, 0.9, size=(40, 4))


def test_subsamples_are_points_of_blocks(rng):
    X = rng.uniform(size=(4000, 2))
    for rows in scaling.subsamples(X, 400, 3, rng):  # 10 intervals, of which each has one block
        assert len(set(rows)) == 400
        cells = {tuple(c) for c in np.minimum((10 * X[rows]).astype(int), 9)}
        assert len(cells) < 50  # of 100: blocks end at quantiles, a little beside tenths, and there may be two hypercubes
        assert {c for c, _ in cells} == {c for _, c in cells} == set(range(10))


@pytest.mark.parametrize("n, p, size", [(50, 1, 20), (50, 3, 50), (300, 12, 80), (2000, 3, 10)])
def test_subsamples_of_every_size(n, p, size, rng):
    X = np.round(rng.lognormal(size=(n, p)), 1)  # uneven, with equal numbers
    rows = scaling.subsamples(X, size, 4, rng)
    assert rows.shape == (4, size) and all(len(set(r)) == size for r in rows) and rows.min() >= 0 and rows.max() < n


@THOROUGH
def test_subsamples_of_points_that_are_read_in_parts(rng, monkeypatch):
    """The same rows, whatever the parts, and of each part no more than one at a time."""
    X = rng.uniform(size=(900, 3))
    y = np.sin(9 * X[:, 0]) + X[:, 1]
    want = scaling.subsamples(X, 60, 3, np.random.default_rng(1))
    monkeypatch.setattr(points, "ROWS_AT_ONCE", 70)

    class Stored:
        shape, dtype = X.shape, X.dtype

        def __getitem__(self, rows):
            assert len(range(*rows.indices(900))) <= 70
            return X[rows]

    np.testing.assert_array_equal(scaling.subsamples(points.Points(Stored()), 60, 3, np.random.default_rng(1)), want)
    np.testing.assert_array_equal(blhs(Stored(), y, **SMALL), blhs(X, y, **SMALL))
    monkeypatch.setattr(model, "lengthscales", functools.partial(scaling.lengthscales, **SMALL))
    gp = gs.LocalGP(Stored(), y, prescale=True, memory=1)
    np.testing.assert_array_equal(gp.prescaling, blhs(X, y, **SMALL))
    assert gp.predict(X[:3], end=8).mean.shape == (3,)


def test_lengthscales_are_those_of_maximum_likelihood(uneven):
    """Of one subsample, which all points are; rounded."""
    X, y, _ = (a[:80] for a in uneven)
    of_d, y0 = darg(None, X, separable=True), (y - y.mean()) / y.std()
    a, b = of_d.ab

    def value(t):
        d = np.exp(t)
        return -loglik(X, y0, d, 1e-3) - ((a - 1) * t - b * d).sum()

    bounds = list(zip(np.log(of_d.min), np.log(of_d.max)))
    best = optimize.minimize(value, np.log(of_d.start), method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-8})
    got = blhs(X, y, size=80, replicates=1)
    np.testing.assert_allclose(np.log2(got), best.x / np.log(2), atol=1 / 32 + 1e-4)


@THOROUGH
def test_prescaling_is_better_where_columns_differ(uneven):
    X, y, XX = uneven
    truth = np.sin(12 * XX[:, 0]) + 0.3 * XX[:, 1] + 0.1 * XX[:, 2] ** 2
    gp = gs.LocalGP(X, y, prescale=blhs(X, y, **SMALL))
    assert (gp.prescaling[1:] > 10 * gp.prescaling[0]).all()
    for options in ({}, {"method": "nn"}):
        plain, scaled = (np.mean((m.predict(XX, end=30, **options).mean - truth) ** 2) for m in (gs.LocalGP(X, y), gp))
        assert scaled < plain / 4


@THOROUGH
def test_prescaling_by_itself(uneven):
    X, y, XX = (a[:90] for a in uneven)
    gp = gs.LocalGP(X, y, prescale=True)
    np.testing.assert_array_equal(gp.prescaling, blhs(X, y))
    assert gs.LocalGP(X, y).prescaling is None


@THOROUGH
def test_units_make_no_difference(uneven):
    X, y, XX = uneven
    plain = gs.LocalGP(X, y, prescale=blhs(X, y, **SMALL))
    wanted = [plain.predict(XX, end=20, **options) for options in OPTIONS]
    factors = np.array([1.0, 100.0, 1e-4, 7.0])
    for columns, factor, shift in ((factors, 1.0, 0.0), (np.ones(4), 1e4, 0.0), (np.ones(4), 1.0, 1e6), (factors, -1e4, 1e6)):
        data = X * columns, factor * y + shift
        gp = gs.LocalGP(*data, prescale=blhs(*data, **SMALL))
        for options, want in zip(OPTIONS, wanted):
            got = gp.predict(XX * columns, end=20, **options)
            np.testing.assert_array_equal(got.indices, want.indices)
            np.testing.assert_allclose((got.mean - shift) / factor, want.mean, rtol=1e-6, atol=1e-6 * np.abs(y).max())
            np.testing.assert_allclose(got.scale / abs(factor), want.scale, rtol=1e-5)
            np.testing.assert_allclose(got.d, want.d, rtol=1e-3)


@pytest.mark.parametrize("separable", [False, True])
def test_given_lengthscales_are_columns_divided_by_their_roots(uneven, separable):
    X, y, XX = uneven
    scales = np.array([0.04, 1.0, 4.0, 9.0])
    got = gs.LocalGP(X, y, prescale=scales).predict(XX, end=20, d=fixed(0.7), g=1e-3, separable=separable)
    by_hand = gs.LocalGP(X / np.sqrt(scales), y).predict(XX / np.sqrt(scales), end=20, d=fixed(0.7), g=1e-3)
    np.testing.assert_array_equal(got.indices, by_hand.indices)
    np.testing.assert_allclose(got.mean, by_hand.mean, rtol=1e-9)
    again = pickle.loads(pickle.dumps(gs.LocalGP(X, y, prescale=scales)))
    np.testing.assert_array_equal(again.prescaling, scales)


def test_device_arrays_and_seeds(uneven):
    X, y, _ = uneven
    want = blhs(X, y, **SMALL)
    np.testing.assert_array_equal(blhs(gs.to_device(X), gs.to_device(y), **SMALL), want)
    one, other = (scaling.subsamples(X, 60, 1, np.random.default_rng(seed)) for seed in (0, 1))
    assert (one != other).any()


def test_errors(uneven):
    X, y, _ = uneven
    for wrong in ([1.0, 2.0], [1.0, 1.0, 0.0, 1.0], [1.0, 1.0, np.nan, 1.0], 2.0):
        with pytest.raises(ValueError, match="it must be True, False, or 4 positive and finite lengthscales"):
            gs.LocalGP(X, y, prescale=wrong)
    with pytest.raises(ValueError, match=r"X has shape \(1500, 4\) and y \(9,\)"):
        blhs(X, y[:9])
    with pytest.raises(ValueError, match="size = 2, replicates = 10"):
        blhs(X, y, size=2)
    with pytest.raises(ValueError, match=r"y\[1\] is nan"):
        blhs(X, np.where(np.arange(1500) == 1, np.nan, y))
