"""Draws from rows of weights: frequencies, nasty rows, and what they may depend on."""

import dataclasses

import numpy as np
import pytest
from scipy import stats
from thorough import double_first, some

import gpustats as gs
from gpustats.draws.generator import Generator
from gpustats.runtime import choose

SIZES = [1, 2, 7, 16, 17, 64, 65, 600, 1000, 100_000]


def weights_of(rng, n, dtype):
    """Weights of very different sizes, a few of them 0."""
    weights = rng.gamma(0.5, size=n).astype(dtype)
    weights[rng.random(n) < 0.2] = 0
    weights[rng.integers(n)] = 1
    return weights


def log_of(weights):
    with np.errstate(divide="ignore"):
        return np.log(weights)


def assert_drawn_from(draws, weights):
    """A chi-squared test of the frequencies, rare categories taken together."""
    expected = weights / weights.sum(dtype=float) * draws.size
    counts = np.bincount(draws.ravel(), minlength=len(weights))
    assert counts[weights == 0].sum() == 0
    n_cells = min(len(weights), 200)
    cell = np.minimum((expected.cumsum() - expected / 2) * n_cells / draws.size, n_cells - 1).astype(int)
    counts, expected = np.bincount(cell, counts), np.bincount(cell, expected)
    counts, expected = counts[expected > 5], expected[expected > 5]
    if len(counts) > 1:
        assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-4


@pytest.fixture
def gpu_layouts(monkeypatch):
    """Kernels as a GPU runs them."""
    runtime = choose.get()
    monkeypatch.setattr(runtime, "device", dataclasses.replace(runtime.device, type="gpu", warp=32))


@double_first
@pytest.mark.parametrize("n", some(SIZES, 6))
def test_frequencies(n, dtype, rng):
    weights = weights_of(rng, n, dtype)
    size = 100_000 if n < 2000 else 20_000
    assert_drawn_from(gs.sample_discrete(weights, size=size, rng=1), weights)
    log_weights = log_of(weights)
    for offset in (0, 1e4, -1e4):
        draws = gs.sample_discrete(log_weights=log_weights + dtype(offset), size=size, rng=2)
        assert_drawn_from(draws, np.exp(log_weights + dtype(offset) - dtype(offset)))


@pytest.mark.parametrize("n", [5, 16, 60, 300, 700])
def test_one_draw_a_row(n, rng):
    weights = weights_of(rng, n, np.float64)
    draws = gs.sample_discrete(np.broadcast_to(weights, (5, 4001, n)), rng=3)
    assert draws.shape == (5, 4001) and draws.dtype == np.int32
    assert_drawn_from(draws, weights)


@double_first
@pytest.mark.parametrize("n", [1, 3, 16, 33, 64, 500, 1025])
def test_the_layout_does_not_matter(n, dtype, rng, request):
    log_weights = rng.normal(scale=3, size=(300, n)).astype(dtype)
    calls = [dict(log_weights=log_weights), dict(weights=np.exp(log_weights)), dict(log_weights=log_weights, size=(2, 5))]
    here = [gs.sample_discrete(**call, rng=4) for call in calls]
    request.getfixturevalue("gpu_layouts")
    for call, expected in zip(calls, here):
        assert (gs.sample_discrete(**call, rng=4) != expected).mean() <= 1e-3  # rounding may differ


@pytest.mark.parametrize("n", [4, 100, 1500])
def test_reproducible_and_continued(n, rng):
    weights = rng.random((50, n))
    whole = gs.sample_discrete(weights, size=3, rng=5)
    assert (gs.sample_discrete(weights, size=3, rng=5) == whole).all()
    assert (gs.sample_discrete(weights, size=3, rng=6) != whole).any()
    generator = Generator(5)
    parts = [gs.sample_discrete(part, size=3, rng=generator) for part in (weights[:20], weights[20:])]
    assert (np.concatenate(parts) == whole).all()


@double_first
@pytest.mark.parametrize("n", SIZES)
def test_one_hot(n, dtype, rng):
    places = np.array([0, n - 1, n // 2, *rng.integers(0, n, 7)])
    for value in (1, np.finfo(dtype).tiny, np.finfo(dtype).max):
        weights = np.zeros((10, n), dtype)
        weights[np.arange(10), places] = value
        assert (gs.sample_discrete(weights, size=20, rng=1) == places[:, None]).all()
        assert (gs.sample_discrete(log_weights=log_of(weights), size=20, rng=1) == places[:, None]).all()


def test_shapes(rng):
    weights = rng.random((2, 3, 4))
    assert gs.sample_discrete(weights).shape == (2, 3)
    assert gs.sample_discrete(weights, size=5).shape == (2, 3, 5)
    assert gs.sample_discrete(weights, size=(5, 1)).shape == (2, 3, 5, 1)
    assert gs.sample_discrete(weights, size=0).shape == (2, 3, 0)
    assert gs.sample_discrete(weights[:0]).shape == (0, 3)
    assert gs.sample_discrete(weights[:0, :, :0]).shape == (0, 3)
    assert np.ndim(gs.sample_discrete(weights[0, 0])) == 0
    assert gs.sample_discrete([1, 0], size=2).tolist() == [0, 0]


def test_arrays_of_all_kinds(rng):
    weights = rng.random((40, 30))
    host = gs.sample_discrete(weights.T[::2], rng=7)
    assert (gs.sample_discrete(np.ascontiguousarray(weights.T[::2]), rng=7) == host).all()
    device = gs.sample_discrete(gs.to_device(weights).T[::2], rng=7)
    assert not isinstance(device, np.ndarray) and device.dtype == np.int32
    assert (gs.to_host(device) == host).all()


@pytest.mark.parametrize("n", [3, 90, 2000])
@pytest.mark.parametrize(
    "bad, name, words",
    [
        (-1.0, "weights", "negative"), (np.nan, "weights", "nan"), (np.inf, "weights", "inf"), (1e308, "weights", "overflows"),
        (0.0, "weights", "no positive"), (np.nan, "log_weights", "nan"), (np.inf, "log_weights", "inf"),
        (-np.inf, "log_weights", "no positive"),
    ],
)  # fmt: skip
def test_bad_rows(bad, name, words, n, rng):
    rows = rng.random((3, 2, n))
    rows[1, 1] = bad if bad in (0, -np.inf, 1e308) else rows[1, 1]
    rows[1, 1, n // 2] = bad
    rows[2, 0] = rows[1, 1]
    with pytest.raises(ValueError, match=rf"{name}\[1, 1\].*{words}|sum of {name}\[1, 1\] {words}"):
        gs.sample_discrete(**{name: rows})
    labels = gs.to_host(gs.sample_discrete(**{name: gs.to_device(rows)}, size=3))
    assert ((labels == -1).all(-1) == [[False, False], [False, True], [True, False]]).all() and labels[0].min() >= 0


def test_errors():
    with pytest.raises(ValueError, match="either weights or log_weights"):
        gs.sample_discrete()
    with pytest.raises(ValueError, match="either weights or log_weights"):
        gs.sample_discrete([1.0], log_weights=[0.0])
    with pytest.raises(ValueError, match="axis of categories"):
        gs.sample_discrete(1.0)
    with pytest.raises(ValueError, match=r"shape \(3, 0\)"):
        gs.sample_discrete(np.ones((3, 0)))
    with pytest.raises(ValueError, match="negative"):
        gs.sample_discrete([1.0], size=-1)
    with pytest.raises(ValueError, match="whole number"):
        gs.sample_discrete([1.0], size=1.5)
