"""Predictions of local Gaussian processes do not depend on the units of the data."""

import numpy as np
import pytest
from references_local import fixed

import gpustats as gs
from gpustats.processes.local import darg

OPTIONS = [
    dict(end=20), dict(end=20, separable=True, stages=2), dict(end=20, separable=True, g={"mle": True}),
    dict(end=12, close=60, method="mspe"),
]  # fmt: skip


def compare(got, want, size, rtol=1e-6):
    np.testing.assert_array_equal(got.indices, want.indices)
    np.testing.assert_allclose(got.mean, want.mean, rtol=rtol, atol=rtol * size)
    np.testing.assert_allclose(got.scale, want.scale, rtol=rtol)
    np.testing.assert_allclose(got.g, want.g, rtol=100 * rtol)  # where the likelihood is flat


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_responses(data, options):
    X, y, XX = data
    want = gs.LocalGP(X, y).predict(XX, **options)
    for factor, shift in ((1e4, 0.0), (1.0, 1e6), (1e-160, 0.0), (-3e160, 1e160)):
        got = gs.LocalGP(X, factor * y + shift).predict(XX, **options)
        back = got.__class__(**{**vars(got), "mean": (got.mean - shift) / factor, "scale": got.scale / abs(factor)})
        compare(back, want, np.abs(y).max())
        np.testing.assert_allclose(back.d, want.d, rtol=1e-4)
        np.testing.assert_allclose(got.loglik, want.loglik - want.df * np.log(abs(factor)), rtol=1e-6)


@pytest.mark.parametrize("options", [o for o in OPTIONS if "separable" in o], ids=str)
def test_units_of_columns(data, options):
    """Of columns in several units; see the next test for those in one."""
    X, y, XX = data
    first, factors = np.array([1.0, 20.0, 0.1]), np.array([100.0, 1e-5, 3.0])
    want, got = (gs.LocalGP(f * X, y).predict(f * XX, **options) for f in (first, factors))
    compare(got, want, np.abs(y).max())
    np.testing.assert_allclose(got.d / factors**2, want.d / first**2, rtol=1e-4)


def test_columns_in_one_unit_are_as_they_are(data):
    """The nearest points are those by plain distances, with lengthscales of their own, too."""
    X, y, XX = data
    squares = ((XX[:, None] * [1, 1, 1.3] - X * [1, 1, 1.3]) ** 2).sum(-1)
    p = gs.LocalGP(X * [1, 1, 1.3], y).predict(XX * [1, 1, 1.3], end=20, separable=True, method="nn")
    np.testing.assert_array_equal(np.sort(p.indices), np.sort(np.argsort(squares)[:, :20]))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_unit_of_all_columns(data, options):
    X, y, XX = data
    want = gs.LocalGP(X, y).predict(XX, **options)
    for factor in (1e-100, 5e-4, 1e7):
        got = gs.LocalGP(factor * X, y).predict(factor * XX, **options)
        compare(got, want, np.abs(y).max())
        np.testing.assert_allclose(got.d / factor**2, want.d, rtol=1e-4)


def test_hyperparameters_are_in_the_units_of_the_data(data):
    X, y, XX = data
    X, XX = (a * [1.0, 20.0, 0.1] for a in (X, XX))
    factors = np.array([100.0, 0.1, 3.0])
    of_d = {"start": np.array([0.2, 200.0, 0.03]), "min": np.array([0.1, 80.0, 0.02]), "max": np.array([1.0, 240.0, 0.035])}
    moved = {name: value * factors**2 for name, value in of_d.items()} | {"ab": (0, 0)}
    of_d["ab"] = (0, 0)
    want = gs.LocalGP(X, y).predict(XX, end=20, separable=True, d=of_d)
    got = gs.LocalGP(factors * X, 10 * y).predict(factors * XX, end=20, separable=True, d=moved)
    np.testing.assert_allclose(got.mean, 10 * want.mean, rtol=1e-6)
    assert (want.d >= of_d["min"] * (1 - 1e-12)).all() and (want.d <= of_d["max"] * (1 + 1e-12)).all()
    assert (np.isclose(want.d, of_d["min"]) | np.isclose(want.d, of_d["max"])).any()
    given = gs.LocalGP(factors * X, y).predict(factors * XX, end=20, separable=True, d=fixed(of_d["start"] * factors**2))
    np.testing.assert_array_equal(given.d, np.broadcast_to(of_d["start"] * factors**2, (7, 3)))


def test_a_prior_is_in_the_units_of_the_data(data):
    X, y, XX = data
    want = gs.LocalGP(X, y).predict(XX, end=12, d={"start": 0.5, "ab": (3, 9.0)})
    got = gs.LocalGP(10 * X, y).predict(10 * XX, end=12, d={"start": 50.0, "ab": (3, 0.09)})
    np.testing.assert_allclose(got.d, 100 * want.d, rtol=1e-5)
    plain = gs.LocalGP(X, y).predict(XX, end=12, d={"start": 0.5, "ab": (0, 0)})
    assert np.abs(plain.d / want.d - 1).max() > 0.01


def test_defaults_of_columns(rng):
    X = rng.normal(size=(300, 2)) * [1, 2]
    found, scaled = darg(None, X, separable=True), darg(None, X * [1e3, 1e-3], separable=True)
    np.testing.assert_allclose(scaled.start / found.start, [1e6, 1e-6], rtol=1e-9)
    np.testing.assert_allclose(scaled.ab[1] * scaled.max, found.ab[1] * found.max, rtol=1e-9)


def test_responses_around_zero(data):
    """Without centering they are, as in the paper, what the process returns to."""
    X, y, _ = data
    far = np.full((1, 3), 50.0)
    options = dict(end=10, d=fixed(0.1))
    assert abs(gs.LocalGP(X, y + 100, center=False).predict(far, **options).mean[0]) < 1e-9
    np.testing.assert_allclose(gs.LocalGP(X, y + 100).predict(far, **options).mean, 100 + y.mean())


def test_equal_responses_and_columns(data):
    X, y, XX = data
    p = gs.LocalGP(X, np.full(len(X), 3.5)).predict(XX, end=20)
    np.testing.assert_array_equal(p.mean, np.full(7, 3.5))
    flat = np.c_[X, np.full(len(X), 7.0)]
    want = gs.LocalGP(X, y).predict(XX, end=20, separable=True)
    got = gs.LocalGP(flat, y).predict(np.c_[XX, np.full(7, 7.0)], end=20, separable=True)
    np.testing.assert_array_equal(got.indices, want.indices)
    np.testing.assert_allclose(got.mean, want.mean, rtol=1e-5)


def test_columns_of_data_frames_are_found_by_their_names(data):
    pandas = pytest.importorskip("pandas")
    X, y, XX = (pandas.DataFrame(a, columns=["a", "b", "c"]) if a.ndim == 2 else a for a in data)
    gp = gs.LocalGP(X, y)
    want = gp.predict(XX, end=20).mean
    np.testing.assert_array_equal(gp.predict(XX[["c", "a", "b"]], end=20).mean, want)
    np.testing.assert_array_equal(gp.predict(XX.to_numpy(), end=20).mean, want)
    with pytest.raises(ValueError, match="XX has the columns a, b, d, and X a, b, c"):
        gp.predict(XX.rename(columns={"c": "d"}), end=20)
