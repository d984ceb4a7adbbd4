"""Columns scaled by lengthscales of all data, from separable fits to block Latin hypercubes."""

import pickle

import numpy as np
import pytest
from references_local import P

import gpustats as gs
from gpustats.gp.local import blhs
from gpustats.gp.local.scaling import subsamples

FEW = dict(size=60, replicates=3)


@pytest.fixture
def plane(rng):
    """Responses that vary fast along the first column, slowly along the second, and not along the third."""
    X, XX = rng.uniform(size=(900, 3)), rng.uniform(size=(40, 3))
    f = lambda x: np.sin(25 * x[:, 0]) + x[:, 1]  # noqa: E731
    return X, f(X), XX, f(XX)


def test_a_subsample_is_a_latin_hypercube_of_blocks(rng):
    X, size = rng.uniform(size=(4000, 2)), 300
    m = int(4000 / size)  # of intervals of a column, and of blocks
    ends = np.quantile(X, np.arange(1, m) / m, axis=0)
    found = subsamples(X, size, 20, rng)
    assert found.shape == (20, size) and all((np.diff(rows) > 0).all() for rows in found)
    hypercubes = 0
    for rows in found:
        first, second = (np.searchsorted(ends[:, k], X[rows, k], side="right") for k in range(2))
        blocks = {(int(a), int(b)) for a, b in zip(first, second)}
        assert m - 1 <= len(blocks) <= 3 * m  # of one hypercube, or of two or three where that has too few points
        hypercubes += len({a for a, _ in blocks}) == len({b for _, b in blocks}) == len(blocks)
    assert 4 <= hypercubes  # half of them have points enough
    np.testing.assert_array_equal(subsamples(X[:50], 50, 2, rng), [np.arange(50)] * 2)


def test_lengthscales_are_those_that_data_were_drawn_with(rng):
    X, lengths = rng.uniform(size=(300, 2)), np.array([0.1, 0.6])
    K = gs.rbf(X, amplitude=1.0, lengthscale=lengths) + 1e-6 * np.eye(300)
    y, options = np.linalg.cholesky(K) @ rng.normal(size=300), dict(size=80, replicates=4, g=1e-5)
    found = blhs(X, y, **options)
    np.testing.assert_allclose(np.sqrt(found / 2), lengths, rtol=0.4)  # d is 2 l²
    np.testing.assert_array_equal(blhs(X, y, **options), found)
    assert (blhs(X, y, **options, rng=5) != found).any()


@pytest.mark.parametrize("options", [{}, {"method": "nn"}, {"separable": True}, {"joint": True}], ids=str)
def test_results_do_not_depend_on_units(plane, options):
    X, y, XX, _ = plane
    factors = np.array([1.0, 100.0, 1e-4])
    lengths, theirs = blhs(X, y, **FEW), blhs(factors * X, 1e4 * y + 1e6, **FEW)
    np.testing.assert_allclose(theirs, factors**2 * lengths, rtol=1e-9)
    want, got = gs.LocalGP(X, y, prescale=lengths), gs.LocalGP(factors * X, 1e4 * y + 1e6, prescale=theirs)
    want, got = want.predict(XX, end=15, **options), got.predict(factors * XX, end=15, **options)
    np.testing.assert_array_equal(got.indices, want.indices)
    np.testing.assert_allclose(got.d, want.d, rtol=1e-4)  # in units of the scaled columns
    np.testing.assert_allclose((got.mean - 1e6) / 1e4, want.mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(got.scale / 1e4, want.scale, rtol=1e-5)


def test_what_varies_little_is_far_less(plane):
    X, y, XX, truth = plane
    plain, scaled = (gs.LocalGP(X, y, prescale=p).predict(XX, end=20).mean for p in (False, blhs(X, y, **FEW)))
    assert np.mean((scaled - truth) ** 2) < 0.1 * np.mean((plain - truth) ** 2)


def test_lengthscales_by_default(plane):
    X, y, *_ = plane
    np.testing.assert_array_equal(gs.LocalGP(X[:40], y[:40], prescale=True).prescaling, blhs(X[:40], y[:40]))


def test_lengthscales_that_are_given(data):
    X, y, XX = data
    lengths = np.array([0.5, 2.0, 10.0])
    gp, by_hand = gs.LocalGP(X, y, prescale=lengths), gs.LocalGP(X / np.sqrt(lengths), y)
    for ours in (gp, pickle.loads(pickle.dumps(gp))):
        got, want = ours.predict(XX, end=15), by_hand.predict(XX / np.sqrt(lengths), end=15)
        for name in ("indices", "mean", "scale", "d"):
            np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
    np.testing.assert_array_equal(gp.prescaling, lengths)
    assert by_hand.prescaling is None and P == 3


def test_errors(data):
    X, y, _ = data
    for wrong in ([1.0, 2.0], [1.0, 0.0, 1.0], [1.0, np.nan, 1.0], 3.0):
        with pytest.raises(ValueError, match=r"prescale = .*3 positive and finite lengthscales"):
            gs.LocalGP(X, y, prescale=wrong)
    with pytest.raises(ValueError, match=r"X has shape \(.*\) and y \(2,\)"):
        blhs(X, y[:2])
    with pytest.raises(ValueError, match="it takes 3 points"):
        blhs(X, y, size=2)
    with pytest.raises(ValueError, match="X"):
        blhs(np.where(np.arange(3) == 1, np.nan, X), y)
