"""Tables that a program makes again and again: each has the numbers of its own call, whatever was planned for the first."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

import gpustats as gs
from gpustats.evaluation.pointwise import Pointwise
from gpustats.runtime import choose

LIKE = stats.norm.logpdf


@pytest.fixture
def placed(monkeypatch):
    """How often arguments have been placed from scratch."""
    calls, original = [], Pointwise.place
    monkeypatch.setattr(Pointwise, "place", lambda self, *args: calls.append(1) or original(self, *args))
    return calls


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shapes", [
    ((9, 1), (4,), (4,)), ((9,), (), ()), ((9,), (9,), ()), ((1, 9), (4, 1), ()), ((9, 1), (4,), (1,)),
    ((5001, 1), (4,), (4,)), ((5001,), (5001,), ()),
])  # fmt: skip
def test_other_numbers(shapes, dtype, rng, placed):
    density = gs.Density(gs.normal.definition)  # with plans of its own
    for i in range(4):
        x, mu, sigma = (rng.normal(size=s).astype(dtype) if s else rng.normal() for s in shapes)
        sigma = np.exp(sigma) if np.ndim(sigma) else float(np.exp(sigma))
        got = density.logpdf(x, mu, sigma) if i % 2 else density.logpdf(x, mu=mu, sigma=sigma)
        assert got.dtype == dtype
        rtol, atol = (1e-12, 0) if dtype == "float64" else (1e-5, 1e-6)
        np.testing.assert_allclose(got, LIKE(x, mu, sigma), rtol=rtol, atol=atol)
    assert len(placed) == 1


@pytest.mark.parametrize("n, arrays", [(9, 1), (5001, 2)])
def test_small_arrays_travel_together(n, arrays, rng, monkeypatch):
    density, runtime, calls = gs.Density(gs.normal.definition), choose.get(), []
    memory, passed = runtime.memory, runtime.passed
    monkeypatch.setattr(runtime, "memory", lambda array: calls.append(array) or memory(array))
    monkeypatch.setattr(runtime, "passed", lambda array: calls.append(array) or passed(array))
    x, mu = rng.normal(size=(n, 1)), rng.normal(size=4)
    first = density.logpdf(x, mu, np.ones(4))
    del calls[:]
    np.testing.assert_array_equal(density.logpdf(x, mu, np.ones(4)), first)
    assert len({id(array) for array in calls}) == arrays  # some devices pass an array by the way of others


def test_what_differs_in_more_than_its_numbers(rng, placed):
    x, mu = rng.normal(size=(6, 1)), rng.normal(size=3)
    apart = np.hstack([x, x])[:, 1:]
    for its in (x, x[::2], x.astype("float32"), x[:1], x[:0], x.tolist(), x.astype(int), apart):
        for _ in range(2):
            given = np.asarray(its, float)
            np.testing.assert_allclose(gs.normal.logpdf(its, mu, 1.5), LIKE(given, mu, 1.5), rtol=1e-5)
    with pytest.raises(ValueError, match="do not broadcast"):
        gs.normal.logpdf(x, rng.normal(size=(2, 3)), 1.5)
    with pytest.raises(ValueError, match="normal needs sigma"):
        gs.normal.logpdf(x, mu)
    assert np.isnan(gs.normal.logpdf(x, mu, -1.0)).all() and np.isfinite(gs.normal.logpdf(x, mu, 1.0)).all()


def test_results_are_not_shared(rng):
    x, mu = rng.normal(size=(6, 1)), rng.normal(size=3)
    first = gs.normal.logpdf(x, mu, 1.0)
    kept = first.copy()
    gs.normal.logpdf(x, mu, 2.0)
    np.testing.assert_array_equal(first, kept)


def test_device_arrays(rng):
    x, mu = rng.normal(size=(64, 1)), rng.normal(size=3)
    on_device = gs.to_device(x)
    for _ in range(3):
        got = gs.normal.logpdf(on_device, mu, 1.5)
        assert type(got) is type(on_device)
        np.testing.assert_allclose(gs.to_host(got), LIKE(x, mu, 1.5), rtol=1e-12)
    part = gs.normal.logpdf(on_device[1:], mu, 1.5)  # begins elsewhere in memory
    np.testing.assert_allclose(gs.to_host(part), LIKE(x[1:], mu, 1.5), rtol=1e-12)


def test_threads(rng):
    x = rng.normal(size=(500, 1))

    def work(number):
        mu = np.full(3, float(number))
        return all(np.array_equal(gs.normal.logpdf(x, mu, 1.0), LIKE(x, mu)) or
                   np.allclose(gs.normal.logpdf(x, mu, 1.0), LIKE(x, mu), rtol=1e-12) for _ in range(50))  # fmt: skip

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
