"""Nearest points and local designs: against sorting in NumPy, k-d trees, and the paper's formulas as they stand there."""

import dataclasses

import numpy as np
import pytest
from references_local import greedy_design, mspe_design
from scipy.spatial import cKDTree
from thorough import some

import gpustats as gs
from gpustats.kernels.layout import REFERENCE_DEVICES
from gpustats.processes.local.correlation import Correlation
from gpustats.processes.local.design import CLUSTERED, Design, is_narrow_enough
from gpustats.processes.local.layout import cluster_layout
from gpustats.processes.local.nearest import Nearest, sample_of
from gpustats.runtime import choose
from gpustats.runtime.signature import signature_of


@pytest.fixture
def runtime():
    return choose.get()


def sorted_rows(X, x, k):
    """The k nearest rows for each location, by distance and number."""
    distances = np.zeros((len(x), len(X)))
    for column in range(X.shape[1]):
        distances += (X[:, column] - x[:, None, column]) ** 2
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


def find(runtime, X, x, k, start, **given):
    return runtime.to_host(Nearest(runtime, X, **given).find(runtime.to_device(x), k, start))


def assert_nearest(got, want, start):
    rows = want.shape[1]
    np.testing.assert_array_equal(got[:, : min(start, rows)], want[:, :start])
    np.testing.assert_array_equal(np.sort(got[:, :rows]), np.sort(want))
    assert (got[:, rows:] == -1).all()


@pytest.mark.parametrize("method", ["device", "tree", "auto"])
@pytest.mark.parametrize("p", some([1, 2, 3, 8, 20], 2))
@pytest.mark.parametrize(
    "n,k,start", some([(1, 1, 1), (1, 3, 2), (10, 4, 0), (100, 100, 7), (5000, 50, 50), (20000, 1000, 6), (7000, 6000, 6)])
)
def test_nearest(method, p, n, k, start, runtime, rng):
    X, x = rng.uniform(size=(n, p)), rng.uniform(size=(11, p))
    assert_nearest(find(runtime, X, x, k, start, method=method), sorted_rows(X, x, k), start)


@pytest.mark.parametrize("method", ["device", "tree"])
@pytest.mark.parametrize("p,k", [(1, 40), (2, 300), (3, 1000)])
def test_nearest_of_a_grid_by_the_lower_row(method, p, k, runtime, rng):
    X = np.round(7 * rng.uniform(size=(20000, p))) / 10  # many equal points, and equal distances, not all of them exact
    x = np.round(7 * rng.uniform(size=(9, p))) / 10
    assert_nearest(find(runtime, X, x, k, 10, method=method), sorted_rows(X, x, k), 10)


@pytest.mark.parametrize("method", ["device", "tree"])
def test_nearest_of_equal_points(method, runtime):
    X, x = np.full((20000, 2), 0.3), np.array([[0.3, 0.3], [7.0, -1.0]])
    np.testing.assert_array_equal(np.sort(find(runtime, X, x, 700, 5, method=method)), np.tile(np.arange(700), (2, 1)))


def test_nearest_where_the_sample_misleads(runtime, rng):
    """Nearly all points lie together, those that are wanted elsewhere; and the other way round."""
    X = np.r_[rng.normal(size=(60, 3)) + 50, rng.normal(size=(30000, 3))]
    assert sample_of(len(X), 200)[0]
    x = np.r_[np.full((2, 3), 50.0), np.zeros((2, 3)), np.full((1, 3), 25.0)]
    assert_nearest(find(runtime, X, x, 200, 70, method="device"), sorted_rows(X, x, 200), 70)


def test_nearest_where_none_has_to_be_first(runtime, rng):
    """The first row at the location itself: the first of all points in their order."""
    X = rng.uniform(size=(5000, 2))
    for k in (1, 30):
        assert_nearest(find(runtime, X, X[:2].copy(), k, 0, method="device"), sorted_rows(X, X[:2], k), 0)


@pytest.mark.parametrize("rows", [1, 40, 3000])
def test_nearest_among_parts(rows, runtime, rng):
    """Parts with fewer rows than are wanted and with more; in the order of their distances, and with equal ones; not finite."""
    n = 90 if rows < 50 else 9000
    far = np.r_[rng.normal(size=(60, 2)) + 50, rng.normal(size=(n, 2))]
    x = np.r_[rng.uniform(size=(3, 2)), [[50.0, 50.0], [np.nan, 0.0]]]
    for X in (rng.uniform(size=(n, 2)), np.sort(rng.uniform(size=(n, 2)), axis=0), np.round(7 * rng.uniform(size=(n, 2))), far):
        for k, start in ((70, 6), (200, 200)):
            got = find(runtime, X, x, k, start, method="device", rows=rows)
            assert_nearest(got[:4], sorted_rows(X, x[:4], k), start)
            assert (got[4] == -1).all()


def test_nearest_as_cKDTree(runtime, rng):
    X, x = rng.normal(size=(30000, 4)), rng.normal(size=(50, 4))
    want = cKDTree(X).query(x, 30)[1]
    np.testing.assert_array_equal(find(runtime, X, x, 30, 30, method="device"), want)
    np.testing.assert_array_equal(find(runtime, np.asfortranarray(X), x, 30, 30, method="tree"), want)


def test_nearest_not_finite(runtime, rng):
    X, x = rng.uniform(size=(9000, 2)), rng.uniform(size=(6, 2))
    x[1, 0], x[4, 1] = np.nan, np.inf
    fine = np.isfinite(x).all(1)
    for method in ("device", "tree"):
        got = find(runtime, X, x, 20, 5, method=method)
        assert (got[~fine] == -1).all()
        assert_nearest(got[fine], sorted_rows(X, x[fine], 20), 5)
    X[3] = np.nan  # farther away than all others
    assert not (find(runtime, X, x, 20, 5) == 3).any()
    got = find(runtime, X[:10], x[fine], 10, 10)
    assert (got[:, -1] == 3).all()
    with pytest.raises(ValueError, match="not finite"):
        Nearest(runtime, X, "tree")


def test_nearest_of_nothing_and_mistakes(runtime):
    X = np.ones((5, 2))
    assert find(runtime, X, np.ones((0, 2)), 3, 2).shape == (0, 3)
    assert find(runtime, X, np.ones((4, 2)), 0, 0).shape == (4, 0)
    with pytest.raises(ValueError, match=r"\(4, 3\).*\(5, 2\)"):
        find(runtime, X, np.ones((4, 3)), 3, 2)
    with pytest.raises(ValueError, match="start = 4, k = 3"):
        find(runtime, X, np.ones((4, 2)), 3, 4)
    with pytest.raises(ValueError, match=r"\(0, 2\)"):
        Nearest(runtime, np.ones((0, 2)))
    with pytest.raises(ValueError, match="'kd'"):
        Nearest(runtime, X, "kd")


def designs(runtime, X, x, candidates, d, g, start, end, correlation=None, y=None, **chosen):
    separable = np.ndim(d) == 2
    arrays = [runtime.to_device(np.ascontiguousarray(a)) for a in (X, x, candidates.astype(np.int32), d, g)]
    y = None if y is None else runtime.to_device(y)
    design = Design(runtime, arrays[0], correlation or Correlation(), separable, y, **chosen)
    return runtime.to_host(design.search(*arrays[1:], start, end))


@pytest.mark.parametrize(
    "p,n,end,g", some([(1, 40, 12, 1e-2), (2, 150, 30, 1e-4), (3, 500, 25, 1e-6), (8, 300, 40, 1e-4), (20, 130, 20, 0.1)])
)
@pytest.mark.parametrize("separable", [False, True])
def test_design(p, n, end, g, separable, runtime, rng):
    X, x, g = rng.uniform(size=(n, p)), rng.uniform(size=(5, p)), g * rng.uniform(1, 2, 5)
    d = p * rng.uniform(0.2, 0.6, size=(5, p) if separable else 5)
    for k in (n, end, (n + end) // 2):
        candidates = sorted_rows(X, x, k)
        candidates[:, 4:] = candidates[:, :3:-1]  # the order of the others does not matter
        got = designs(runtime, X, x, candidates, d, g, 4, end)
        want = [greedy_design(X, *of_one, 4, end) for of_one in zip(x, candidates, d, g)]
        np.testing.assert_array_equal(got, want)


def test_design_of_another_covariance(runtime, rng):
    X, x = rng.uniform(size=(200, 2)), rng.uniform(size=(4, 2))
    candidates, d, g = sorted_rows(X, x, 200), np.full(4, 0.7), np.full(4, 1e-4)

    def matern(r2):
        z = np.sqrt(5 * 2 * r2)
        return (1 + z + z * z / 3) * np.exp(-z)

    got = designs(runtime, X, x, candidates, d, g, 6, 25, Correlation(gs.matern52))
    np.testing.assert_array_equal(got, [greedy_design(X, x[i], candidates[i], 0.7, 1e-4, 6, 25, matern) for i in range(4)])


@pytest.mark.parametrize("mspe", [False, True])
def test_design_does_not_depend_on_the_layout_or_other_locations(mspe, runtime, rng):
    X, x = rng.normal(size=(400, 3)), rng.normal(size=(7, 3))
    candidates, d, g = sorted_rows(X, x, 300), np.full(7, 2.0), np.full(7, 1e-5)
    y = np.sin(X.sum(1)) if mspe else None
    want = designs(runtime, X, x, candidates, d, g, 6, 60, y=y)
    layouts = [dict(threads=16, unroll=2), dict(threads=32, unroll=1), dict(per_unit=3)]
    if runtime.device.cluster > 1 and not mspe:
        layouts += [dict(parts=parts) for parts in (1, 2, 8)]
    for chosen in layouts:
        np.testing.assert_array_equal(designs(runtime, X, x, candidates, d, g, 6, 60, y=y, **chosen), want)
    one = designs(runtime, X, x[4:5], candidates[4:5], d[:1], g[:1], 6, 60, y=y)
    np.testing.assert_array_equal(one, want[4:5])


@pytest.mark.parametrize(
    "p,n,end,g,theta",
    [(1, 40, 12, 1e-2, 0.1), (2, 100, 20, 1e-4, 0.5), (2, 80, 12, 1e-4, 3.0), (3, 80, 15, 0.1, 0.3), (8, 60, 20, 1e-3, 4.0)],
)
def test_mspe_design(p, n, end, g, theta, runtime, rng):
    X, x = rng.uniform(size=(n, p)), rng.uniform(size=(3, p))
    y = np.sin(5 * X[:, 0]) + X.sum(1) ** 2 - 1 + 0.1 * rng.normal(size=n)
    candidates, d, g = sorted_rows(X, x, n), theta * rng.uniform(0.8, 1.2, 3), np.full(3, g)
    got = designs(runtime, X, x, candidates, d, g, 5, end, y=y)
    want = [mspe_design(X, y, x[i], candidates[i], d[i], g[i], 5, end) for i in range(3)]
    np.testing.assert_array_equal(got, want)


def test_mspe_design_of_another_covariance(runtime, rng):
    X, x = rng.uniform(size=(80, 2)), rng.uniform(size=(3, 2))
    y = np.sin(5 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=80)
    candidates, d, g = sorted_rows(X, x, 80), np.full(3, 0.7), np.full(3, 1e-3)

    def root(r2):
        return np.sqrt(6 * np.where(r2 == 0, 1e-300, r2))

    def matern(r2):
        return (1 + root(r2)) * np.exp(-root(r2))

    def slope(r2):
        return -3 * np.exp(-root(r2))

    got = designs(runtime, X, x, candidates, d, g, 6, 15, Correlation(gs.matern32), y)
    want = [mspe_design(X, y, x[i], candidates[i], 0.7, 1e-3, 6, 15, matern, slope) for i in range(3)]
    np.testing.assert_array_equal(got, want)


def test_mspe_design_of_nothing_to_explain(runtime, rng):
    """Responses of 0 leave the variance; a nan makes no design, unless it is not chosen."""
    X, x = rng.uniform(size=(60, 2)), rng.uniform(size=(3, 2))
    candidates, d, g, y = sorted_rows(X, x, 60), np.full(3, 0.7), np.full(3, 1e-3), np.zeros(60)
    want = designs(runtime, X, x, candidates, d, g, 4, 15)
    np.testing.assert_array_equal(designs(runtime, X, x, candidates, d, g, 4, 15, y=y), want)
    y = np.sin(5 * X[:, 0])
    y[candidates[1, 0]] = np.nan
    got = designs(runtime, X, x, candidates, d, g, 4, 15, y=y)
    assert (got[1] == -1).all()
    with pytest.raises(ValueError, match="start = 2"):
        designs(runtime, X, x, candidates, d, g, 2, 15, y=y)
    with pytest.raises(ValueError, match="separable"):
        designs(runtime, X, x, candidates, np.full((3, 2), 0.7), g, 4, 15, y=y)


def test_equal_points_are_taken_by_the_lower_row(runtime, rng):
    X = np.repeat(rng.uniform(size=(60, 2)), 2, axis=0)
    x = rng.uniform(size=(3, 2))
    candidates = np.tile(rng.permutation(120), (3, 1))
    got = designs(runtime, X, x, candidates, np.full(3, 0.1), np.full(3, 1e-3), 1, 12)
    for row in got:
        row = list(row[1:])
        assert all(r - 1 in row[:i] or r - 1 == candidates[0, 0] for i, r in enumerate(row) if r % 2)


def test_design_far_from_the_origin(runtime, rng):
    X, x = rng.uniform(size=(100, 2)), rng.uniform(size=(3, 2))
    X, x = np.round(X * 2**20) / 2**20, np.round(x * 2**20) / 2**20  # so that moving them is exact
    candidates, d, g = sorted_rows(X, x, 100), np.full(3, 0.3), np.full(3, 1e-4)
    want = designs(runtime, X, x, candidates, d, g, 6, 25)
    np.testing.assert_array_equal(designs(runtime, X + 2.0**30, x + 2.0**30, candidates, d, g, 6, 25), want)


def test_design_without_a_nugget(runtime, rng):
    """Equal points say nothing once one of them is known; no step divides by 0."""
    X = np.r_[rng.uniform(size=(30, 2)), np.tile(rng.uniform(size=(1, 2)), (30, 1))]
    x = X[[40]] + 0.01
    candidates = sorted_rows(X, x, 60)
    (got,) = designs(runtime, X, x, candidates, np.full(1, 0.5), np.zeros(1), 3, 12)
    assert len(set(got)) == 12 and (got[3:] < 30).all()


def test_design_of_nan(runtime, rng):
    X, x = rng.uniform(size=(50, 2)), rng.uniform(size=(6, 2))
    candidates, d, g = sorted_rows(X, x, 50), np.full(6, 0.5), np.full(6, 1e-4)
    want = designs(runtime, X, x, candidates, d, g, 3, 10)
    unused = next(r for r in candidates[5] if r not in want)
    X[unused], x[1, 1], d[2], g[3] = np.nan, np.nan, np.nan, np.nan
    candidates[4, 20] = -1
    got = designs(runtime, X, x, candidates, d, g, 3, 10)
    assert (got[1:4] == -1).all() and unused not in got
    np.testing.assert_array_equal(got[0], want[0])
    assert (designs(runtime, X, x, candidates, d, g, 3, 3)[1:4] == -1).all()
    X[candidates[0, 0]] = np.nan
    assert (designs(runtime, X, x, candidates, d, g, 3, 10)[0] == -1).all()
    assert (designs(runtime, X[:10], x, candidates[:, :1] * 0 + np.arange(10), d, g, 3, 10)[0] >= -1).all()


def test_design_of_nothing_and_mistakes(runtime):
    X, x, candidates = np.ones((5, 2)), np.ones((2, 2)), np.tile(np.arange(5), (2, 1))
    assert designs(runtime, X, x[:0], candidates[:0], np.ones(0), np.ones(0), 1, 3).shape == (0, 3)
    for start, end in ((0, 3), (4, 3), (2, 6)):
        with pytest.raises(ValueError, match=f"start = {start}, end = {end}"):
            designs(runtime, X, x, candidates, np.ones(2), np.ones(2), start, end)


@pytest.mark.parametrize("p, d, g", some([(2, 0.05, 1e-4), (3, 0.1, 1e-5), (8, 0.6, 1e-4)], 2))
@pytest.mark.parametrize("moved", some([1e5, 0.0]))
def test_design_with_rows_in_float32(p, d, g, moved, runtime, rng):
    """The same designs, also of points far from 0; of 300 one may be another one."""
    X, x = rng.uniform(size=(3000, p)) + moved, rng.uniform(size=(300, p)) + moved
    candidates = cKDTree(X).query(x, 150)[1]
    given = runtime, X, x, candidates, np.full(300, d), np.full(300, g), 6, 30
    assert (designs(*given, narrow=True) != designs(*given)).any(1).sum() <= 1
    one, many = (designs(runtime, X, x[:9], candidates[:9], np.full(9, d), np.full(9, g), 6, 30, narrow=True, **chosen)
                 for chosen in ({}, {"threads": 16, "unroll": 2}))  # fmt: skip
    np.testing.assert_array_equal(one, many)


def test_when_rows_are_in_float32(runtime, layout):
    """Where bytes count, and neither tiny nuggets nor tiny lengthscales need more digits."""
    d, g, gpu = np.full((3, 1), 0.5), np.full(3, 1e-4), runtime.device.type != "cpu"
    assert is_narrow_enough(runtime, 1000, 50, d, g) == gpu and is_narrow_enough(runtime, 6000, 60, d, g)
    for tiny in ((d, np.array([1e-4, 1e-6])), (np.array([[1e-13]]), g)):
        assert not is_narrow_enough(runtime, 6000, 60, *tiny)


#: As an NVIDIA H200 has it.
WITH_CLUSTERS = dataclasses.replace(REFERENCE_DEVICES["cuda"], shared_memory=232448, max_threads=1024, cluster=8)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(
    "dim, k, end",
    [(1, 1, 1), (2, 33, 2), (3, 700, 12), (8, 1000, 50), (8, 3848, 58), (8, 5772, 60), (20, 1050, 50), (8, 8192, 3)],
)
def test_a_cluster_has_room_for_all_candidates(dim, k, end, narrow):
    layout = cluster_layout(WITH_CLUSTERS, dim, k, end, narrow)
    if layout is None:
        assert not narrow and 8 * k * (end - 1) > 7 * 232448
        return
    assert layout.threads % 32 == 0 and layout.threads <= 1024 and layout.threads * layout.parts >= k
    assert layout.wide + layout.chunk * layout.chunks >= end - 1 and layout.told % 2 == layout.before % 2 == 0
    assert 8 * layout.shared + 12 * layout.threads // 32 <= 232448
    fewer = layout.parts // 2
    assert not fewer or -(-k // fewer) > 800 or 16 * -(-k // fewer) * layout.chunks > 232448 - 16384
    source = CLUSTERED.source(
        "float64", "cuda", layout=layout, correlation=Correlation().source(), dim=dim, separable=narrow
    )  # fmt: skip
    assert signature_of(source, "local_design") == "Pq" * 6 + "iii"


def test_no_clusters_where_there_is_no_room():
    assert cluster_layout(WITH_CLUSTERS, 8, 8193, 3) is None
    assert cluster_layout(WITH_CLUSTERS, 8, 19480, 66, True) is None
    assert [cluster_layout(WITH_CLUSTERS, 60, k, 20).parts for k in (100, 400, 1600)] == [1, 2, 8]  # coordinates in registers
    assert cluster_layout(WITH_CLUSTERS, 180, 100, 20, True) is None
    assert cluster_layout(dataclasses.replace(WITH_CLUSTERS, cluster=1), 8, 100, 20) is None
