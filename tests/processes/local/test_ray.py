"""Searches for designs along rays and gradients: against the search among all candidates."""

import dataclasses

import numpy as np
import pytest
from references_local import check, fixed, matrix
from scipy.spatial import cKDTree
from thorough import some

import gpustats as gs
from gpustats.processes.local.correlation import Correlation
from gpustats.processes.local.design import Design
from gpustats.processes.local.ray import RaySearch
from gpustats.runtime import choose


def variance(X, x, rows, d, g):
    """What is left of the variance at x."""
    k = matrix(X[rows], x[None], d)[:, 0]
    return 1 + g - k @ np.linalg.solve(matrix(X[rows], X[rows], d) + g * np.eye(len(rows)), k)


def search(X, x, candidates, d, g, start, end, opt=False, rays=2, **chosen):
    runtime = choose.get()
    arrays = [runtime.to_device(np.ascontiguousarray(a)) for a in (X, x, candidates.astype(np.int32), d, g)]
    box = runtime.to_device(np.stack([X.min(0), X.max(0)]))
    found = RaySearch(runtime, arrays[0], Correlation(), np.ndim(d) == 2, box, rays, opt, **chosen)
    return runtime.to_host(found.search(*arrays[1:], start, end))


@pytest.mark.parametrize("opt, most", [(False, 1.02), (True, 1.01)])
@pytest.mark.parametrize("separable", some([True, False]))
def test_nearly_as_much_variance_is_reduced(layout, opt, most, separable, rng):
    X, x, g = rng.uniform(size=(4000, 2)), rng.uniform(size=(30, 2)), np.full(30, 1e-3)
    d = np.tile([0.05, 0.2], (30, 1)) if separable else np.full(30, 0.1)
    near = cKDTree(X).query(x, 300)[1]
    got = search(X, x, near, d, g, 6, 30, opt)
    runtime = layout
    arrays = [runtime.to_device(a) for a in (X, x, near.astype(np.int32), d, g)]
    want = runtime.to_host(Design(runtime, arrays[0], Correlation(), separable).search(*arrays[1:], 6, 30))
    left, least, nearest = (np.array([variance(X, x[i], rows[i], d[i], 1e-3) for i in range(30)])
                            for rows in (got, want, near[:, :30]))  # fmt: skip
    assert (left / least).mean() < most < (nearest / least).mean()
    for row, candidates in zip(got, near):
        assert len(set(row)) == 30 and set(row) <= set(candidates) and (row[:6] == candidates[:6]).all()


@pytest.mark.parametrize("opt", [False, True])
def test_designs_depend_on_the_location_alone(opt, layout, rng):
    X, x, d, g = rng.normal(size=(500, 3)), rng.normal(size=(7, 3)), np.full(7, 2.0), np.full(7, 1e-4)
    near = cKDTree(X).query(x, 200)[1]
    want = search(X, x, near, d, g, 4, 20, opt)
    np.testing.assert_array_equal(search(X, x, near, d, g, 4, 20, opt, threads=32), want)
    np.testing.assert_array_equal(search(X, x[3:4], near[3:4], d[:1], g[:1], 4, 20, opt), want[3:4])
    mixed = near.copy()
    ordered = 20 + 2 + 4  # the order of those that are farther away does not matter, but where distances are equal
    mixed[:, ordered:] = mixed[:, :ordered - 1 : -1]
    np.testing.assert_array_equal(search(X, x, mixed, d, g, 4, 20, opt), want)
    moved = search(1e3 * X + 2.0**20, 1e3 * x + 2.0**20, near, 1e6 * d, g, 4, 20, opt)
    assert (moved == want).mean() > 0.9  # rounding moves trial points


@pytest.mark.parametrize("opt", [False, True])
def test_all_candidates_nan_equal_points_and_no_nugget(opt, layout, rng):
    X = np.r_[rng.uniform(size=(25, 2)), np.full((5, 2), 0.4)]
    x, d, g = rng.uniform(size=(4, 2)), np.full(4, 0.3), np.array([1e-4, 1e-4, 1e-4, 0.0])
    x[1], x[2] = np.nan, X[7]
    near = np.argsort(((X - x[:, None]) ** 2).sum(-1), 1, kind="stable")
    near[1] = -1
    got = search(X, x, near, d, g, 3, 30, opt)
    assert (got[1] == -1).all() and all(sorted(got[i]) == list(range(30)) for i in (0, 2, 3))
    assert search(X, x[:0], near[:0], d[:0], g[:0], 3, 30, opt).shape == (0, 30)
    with pytest.raises(ValueError, match="start = 4, end = 3"):
        search(X, x, near, d, g, 4, 3, opt)


@pytest.mark.parametrize("method", ["ray", "opt"])
def test_predictions(layout, data, method):
    X, y, XX = data
    gp = gs.LocalGP(X, y)
    p = gp.predict(XX, end=25, close=150, method=method, d=fixed(0.4), g=1e-3, rays=3)
    check(p, X, y, XX)
    best = gp.predict(XX, end=25, close=150, d=fixed(0.4), g=1e-3)
    assert np.abs(p.mean - best.mean).max() < 0.06
    both = gp.predict(XX, end=25, method=("nn", method), separable=True)
    assert both.d.shape == (7, 3) and (both.indices != p.indices).any()


def test_matrices_beyond_shared_memory(like_a_gpu, rng):
    X, x, d, g = rng.normal(size=(300, 3)), rng.normal(size=(4, 3)), np.full(4, 2.0), np.full(4, 1e-4)
    near, device = cKDTree(X).query(x, 100)[1], like_a_gpu.device
    with gs.use(like_a_gpu):
        want = search(X, x, near, d, g, 4, 20, True)
        like_a_gpu.device = dataclasses.replace(device, shared_memory=8000)
        try:
            np.testing.assert_array_equal(search(X, x, near, d, g, 4, 20, True), want)
        finally:
            like_a_gpu.device = device


def test_errors(data):
    X, y, XX = data
    gp = gs.LocalGP(X, y)
    with pytest.raises(ValueError, match="method = 'ray' searches around one location: use joint = False"):
        gp.predict(XX, end=20, method="ray", joint=True)
    with pytest.raises(ValueError, match="rays = 0"):
        gp.predict(XX, end=20, method="ray", rays=0)
    with pytest.raises(ValueError, match="rays = 1.5: it must be a whole number"):
        gp.predict(XX, end=20, method="ray", rays=1.5)
