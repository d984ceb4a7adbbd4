"""Local Gaussian processes of data of every kind, their defaults and their errors."""

import dataclasses
import pickle

import numpy as np
import pytest
from references_local import N, P, check, fixed
from scipy import stats
from thorough import THOROUGH

import gpustats as gs
from gpustats.processes.local import darg, garg, job, points
from gpustats.processes.local.correlation import Correlation
from gpustats.processes.local.scheme import Options, Scheme
from gpustats.runtime import choose


def test_float32(data):
    X, y, XX = (a.astype(np.float32) for a in data)
    p = gs.LocalGP(X, y).predict(XX, end=20)
    q = gs.LocalGP(X.astype(float), y.astype(float)).predict(XX.astype(float), end=20)
    assert {a.dtype for a in (p.mean, p.scale, p.d, p.g, p.loglik)} == {np.dtype(np.float32)} and q.mean.dtype == np.float64
    np.testing.assert_array_equal(p.indices, q.indices)
    np.testing.assert_array_equal(p.mean, q.mean.astype(np.float32))


def test_device_arrays(layout, data):
    X, y, XX = data
    want = gs.LocalGP(X, y).predict(XX, end=20)
    got = gs.LocalGP(gs.to_device(X), gs.to_device(y)).predict(gs.to_device(XX), end=20)
    for name in ("mean", "scale", "d", "g", "loglik", "indices", "variance"):
        value = getattr(got, name)
        assert layout.is_native(value)
        np.testing.assert_array_equal(gs.to_host(value) if name != "indices" else value.get(), getattr(want, name))
    for ends in zip(got.interval(0.9), want.interval(0.9)):
        np.testing.assert_allclose(gs.to_host(ends[0]), ends[1], rtol=1e-14)
    single = gs.LocalGP(X.astype(np.float32), y).predict(gs.to_device(XX), end=20)
    assert single.mean.dtype == np.float32 and layout.is_native(single.mean)


def test_memory_maps_and_strides(data, tmp_path):
    X, y, XX = data
    want = gs.LocalGP(X, y).predict(XX, end=10)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    wide = np.zeros((14, P))
    wide[::2] = XX
    for given in ((mapped, y, XX), (np.asfortranarray(X), y[::-1][::-1], wide[::2])):
        np.testing.assert_array_equal(gs.LocalGP(*given[:2]).predict(given[2], end=10).mean, want.mean)


@pytest.mark.parametrize("method", ["ray", "opt"])
def test_equally_near_points_that_pass_through_the_device(method, monkeypatch, rng):
    """On a lattice: the search takes the first row of X, in whatever order candidates come."""
    X = rng.permutation(np.stack(np.meshgrid(*[np.arange(9.0)] * 3), -1).reshape(-1, 3))
    y, XX = np.sin(X[:, 0]) + X[:, 1] / 10, X[:12] + 0.5
    options = dict(end=16, close=80, method=method, g=1e-2)
    want = gs.LocalGP(X, y).predict(XX, **options)
    monkeypatch.setattr(points, "ROWS_AT_ONCE", 70)
    np.testing.assert_array_equal(gs.LocalGP(X, y, memory=5_000).predict(XX, **options).indices, want.indices)
    with pytest.raises(ValueError, match="nearest = 'ball': there are 'auto', 'device' and 'tree'"):
        gs.LocalGP(X, y).predict(XX, nearest="ball")


@pytest.mark.parametrize("options", [
    dict(close=60), dict(method=("nn", "mspe"), close=60, nearest="tree"), dict(method="ray", separable=True), dict(joint=True),
], ids=str)  # fmt: skip
def test_points_that_pass_through_the_device(data, options, tmp_path, monkeypatch):
    """From memory and from a file, in parts: to the bit what is predicted where all of them are there at once."""
    X, y, XX = data
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    monkeypatch.setattr(points, "ROWS_AT_ONCE", 70)
    want = gs.LocalGP(X, y).predict(XX, end=12, **options)
    for given in (X, mapped, np.asfortranarray(X)):
        if given is mapped and options.get("nearest") == "tree":
            with pytest.raises(ValueError, match="a tree has all of X in memory"):
                gs.LocalGP(given, y, memory=1).predict(XX, end=12, **options)
            continue
        gp = pickle.loads(pickle.dumps(gs.LocalGP(given, y, memory=8 * P * 400)))
        got = gp.predict(XX, end=12, **options)
        assert gp.predict(XX[:0, None] if options.get("joint") else XX[:0], end=12, **options).mean.shape[0] == 0
        (there,) = gp._in_units(options.get("separable", False))[1]._on_devices.values()
        assert there.rows == 50 and isinstance(gp._points.rows, np.ndarray) == (given is not mapped)
        for name in ("mean", "scale", "indices", "d", "loglik"):
            np.testing.assert_array_equal(getattr(got, name), getattr(want, name))


@THOROUGH
def test_points_that_pass_through_several_devices_scaled_and_changed(data, tmp_path):
    X, y, XX = data[0][:120], data[1][:120], data[2]
    want = gs.LocalGP(X, y, prescale=True).predict(XX, end=12)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r+")
    gp = gs.LocalGP(mapped, y, prescale=True, memory=8 * P * 100)
    got = gp.predict(XX, end=12, devices=[gp.device.id] * 2)
    np.testing.assert_array_equal(got.mean, want.mean)
    mapped[0] = np.nan
    mapped.flush()
    with pytest.raises(RuntimeError, match="has changed"):
        gp.predict(XX, end=12)
    with pytest.raises(ValueError, match=r"X\[0, 0\] is nan"):
        gs.LocalGP(mapped, y, memory=1)
    with pytest.raises(ValueError, match="memory = 0"):
        gs.LocalGP(X, y, memory=0)


def test_a_covariance_of_whole_numbers(data):
    """What stands for casts is defined in kernels of templates, too."""
    X, y, XX = data
    gs.register("""
    // sqdist: nonnegative  lengthscale: positive  amplitude: positive
    real cast_cov(real sqdist, real lengthscale, real amplitude)
    {
        return amplitude * amplitude * exp(-0.5 * sqdist / (lengthscale * lengthscale)) + (int)(0 * sqdist);
    }
    """)
    got, want = (gs.LocalGP(X, y, cov=cov).predict(XX, end=20).mean for cov in (gs.cast, gs.rbf))
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_covariance_with_a_loop_on_one_side_of_a_branch(data):
    X, y, XX = data
    gs.register("""
    // sqdist: nonnegative  lengthscale: positive  amplitude: positive
    real series(real a)
    {
        real sum = 0, term = 1, n = 0;
        while (fabs(term) > 1e-17 * fabs(sum)) {
            sum += term;
            n += 1;
            term *= a / n;
        }
        return sum;
    }
    real summed_cov(real sqdist, real lengthscale, real amplitude)
    {
        real a = -0.5 * sqdist / (lengthscale * lengthscale);
        if (a > -1) return amplitude * amplitude * series(a);
        return amplitude * amplitude * exp(a);
    }
    """)
    got, want = (gs.LocalGP(X, y, cov=cov).predict(XX, end=20).mean for cov in (gs.summed, gs.rbf))
    np.testing.assert_allclose(got, want, rtol=1e-6)
    assert Correlation(gs.summed).source().count("a > -1 && THREAD <") == 2


def test_one_column(rng):
    x = np.sort(rng.uniform(size=80))
    p = gs.LocalGP(x, np.sin(9 * x)).predict(np.linspace(0.1, 0.9, 5), end=12)
    np.testing.assert_allclose(p.mean, np.sin(9 * np.linspace(0.1, 0.9, 5)), atol=1e-2)


@pytest.mark.parametrize("m", [0, 1])
def test_few_locations(data, m):
    X, y, XX = data
    p, all_of_them = (gs.LocalGP(X, y).predict(XX[:k], end=20, separable=True) for k in (m, 7))
    assert p.mean.shape == p.scale.shape == p.variance.shape == (m,) and p.d.shape == (m, P) and p.indices.shape == (m, 20)
    np.testing.assert_array_equal(p.mean, all_of_them.mean[:m])


def test_chunks_and_devices_make_no_difference(data, monkeypatch):
    X, y, XX = data
    gp = gs.LocalGP(X, y)
    want = gp.predict(XX, end=20, stages=2)
    monkeypatch.setattr(job, "CHUNK_BYTES", 4 * N * 3)  # three locations
    for more in (dict(progress=True), dict(devices=[gp.device.id] * 2)):
        got = gp.predict(XX, end=20, stages=2, **more)
        for name in ("mean", "scale", "indices", "d", "loglik"):
            np.testing.assert_array_equal(getattr(got, name), getattr(want, name))


@pytest.mark.parametrize("sizes", [(6, 6, 50), (6, 50, 50), (6, N, N), (6, N, 10 * N), (1, 2, 3)])
def test_extreme_sizes_of_designs(data, sizes):
    X, y, XX = data
    start, end, close = sizes
    p = gs.LocalGP(X, y).predict(XX[:2], start=start, end=end, close=close, d=fixed(0.2), g=1e-2)
    assert all(len(set(row)) == end for row in p.indices)
    check(p, X, y, XX[:2])


def test_few_data(rng):
    X, y = rng.uniform(size=(3, 2)), rng.normal(size=3)
    p = gs.LocalGP(X, y).predict(X, start=3, end=3, d=fixed(1.0))
    check(p, X, y, X)
    one = gs.LocalGP(X[:1], y[:1]).predict(X, start=1, end=1, d=fixed(1.0))
    check(one, X[:1], y[:1], X)
    assert np.isinf(one.variance).all()


def test_equal_points(data):
    X, y, XX = data
    X, y = np.r_[X, X[:50]], np.r_[y, y[:50] + 0.01]
    gp = gs.LocalGP(X, y)
    p = gp.predict(XX, end=40, g=1e-2)
    check(p, X, y, XX)
    same = gs.LocalGP(np.repeat(X[:20], 3, 0), np.repeat(y[:20], 3))
    with pytest.raises(np.linalg.LinAlgError, match=r"7 of 7 locations, the first of them XX\[0\].*larger nugget"):
        same.predict(XX, end=30, method="nn", g=0.0)


def test_slopes_that_are_infinite_at_equal_points(data):
    X, y, XX = data
    X, y = np.r_[X, X], np.r_[y, y + 0.1]
    p = gs.LocalGP(X, y, gs.covariances["matern12"]).predict(XX, end=30, method="nn", g=1e-1)
    assert np.isfinite(p.mean).all() and (p.evaluations > 1).all()
    check(p, X, y, XX, lambda r2: np.exp(-np.sqrt(2 * r2)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.asarray, gs.to_device])
def test_numbers_that_are_not_finite_are_refused(data, bad, kind):
    """As a `gp.MarginalLikelihood` does: a nan would make predictions nan, or, among equal distances, another design."""
    X, y, XX = (a.copy() for a in data)
    X[3, 1] = y[5] = XX[2, 0] = bad
    for arguments, place in (((X, data[1]), r"X\[3, 1\]"), ((data[0], y), r"y\[5\]")):
        with pytest.raises(ValueError, match=rf"^{place} is {bad}: leave out what is not known"):
            gs.LocalGP(*map(kind, arguments))
    gp = gs.LocalGP(*map(kind, data[:2]))
    for separable in (False, True):
        with pytest.raises(ValueError, match=rf"^XX\[2, 0\] is {bad}: leave out what is not known"):
            gp.predict(kind(XX), end=20, separable=separable)
    assert np.isfinite(gs.to_host(gp.predict(kind(np.delete(XX, 2, 0)), end=20).mean)).all()


def test_responses_of_zero(data):
    X, y, XX = data
    p = gs.LocalGP(X, 0 * y).predict(XX, end=20)
    assert (p.mean == 0).all() and (p.scale == 0).all() and (p.evaluations == 1).all()


def test_student_t(data):
    X, y, XX = data
    p = gs.LocalGP(X, y).predict(XX, end=20)
    t = stats.t(p.df, p.mean, p.scale)
    np.testing.assert_allclose(p.variance, t.var(), rtol=1e-12)
    np.testing.assert_allclose(p.interval(0.8), t.interval(0.8), rtol=1e-10)
    draws = p.rvs(size=(4000, 7), rng=3)
    assert draws.shape == (4000, 7) and p.rvs(rng=3).shape == (7,)
    assert min(stats.kstest(draws[:, i], stats.t(p.df, p.mean[i], p.scale[i]).cdf).pvalue for i in range(7)) > 1e-4
    with pytest.raises(ValueError, match="confidence = 95"):
        p.interval(95)


def test_pickle(data):
    X, y, XX = data
    gp = gs.LocalGP(X.astype(np.float32), y, gs.covariances["matern32"])
    want = gp.predict(XX, end=20)
    again = pickle.loads(pickle.dumps(gp))
    np.testing.assert_array_equal(again.predict(XX, end=20).mean, want.mean)
    assert again.predict(XX, end=20).mean.dtype == np.float32 and repr(again) == repr(gp)
    scheme = Scheme.of(Options(end=20), gp._points, gp.y)
    units, data = gp._in_units(separable=False)
    begin = units.lengthscales(np.full((7, 1), 0.5), 1)
    made = job.Job(data, scheme.within(units, P), units.points(XX), begin, np.full(7, 1e-3))
    (here, there) = (job.predictions(j, 2, 5, choose.get()) for j in (made, pickle.loads(pickle.dumps(made))))
    assert here.keys() == there.keys() and len(here["mean"]) == 3
    for name in here:
        np.testing.assert_array_equal(here[name], there[name])


def test_defaults_of_the_lengthscale(rng):
    X = rng.normal(size=(200, 2))
    squares = ((X[:, None] - X) ** 2).sum(-1)[np.triu_indices(200, 1)]
    p = darg(None, X)
    np.testing.assert_allclose((p.start, p.min, p.max), (np.quantile(squares, 0.1), squares.min() / 2, squares.max()))
    assert p.mle and p.ab[0] == 1.5
    np.testing.assert_allclose(stats.gamma.cdf(p.max, 1.5, scale=1 / p.ab[1]), 0.95)
    assert darg(0.7, X) == dataclasses.replace(p, start=0.7)
    assert darg({"max": 9.0, "ab": (2, 3)}, X) == dataclasses.replace(p, max=9.0, ab=(2.0, 3.0))
    large = rng.uniform(size=(5000, 2))
    assert darg(None, large) == darg(None, large) and darg(None, large).start == pytest.approx(0.04, rel=0.3)


def test_defaults_of_the_nugget(rng):
    y = rng.normal(3, 2, 400)
    squares = ((y - y.mean()) / y.std()) ** 2
    assert (garg(None, y).start, garg(None, y).mle, garg(0.0, y).start) == (1e-4, False, 0.0)
    p = garg({"mle": True}, y)
    np.testing.assert_allclose((p.start, p.max), (np.quantile(squares, 0.025), squares.max()))
    np.testing.assert_allclose(stats.gamma.cdf(1.0, 1.5, scale=1 / p.ab[1]), 0.95)


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(start=0), "start = 0, end = 20"),
        (dict(start=21), "start = 21, end = 20"),
        (dict(close=19), "close = 19"),
        (dict(end=N + 1), f"X has {N} rows"),
        (dict(start=6.0), "start = 6.0: it must be a whole number"),
        (dict(end=20.5), "end = 20.5: it must be a whole number"),
        (dict(close="all"), "close = 'all': it must be a whole number"),
        (dict(method="best"), "method = 'best'"),
        (dict(method="mspe", separable=True), "'mspe' has one lengthscale"),
        (dict(method="mspe", start=2), "start = 2: method = 'mspe'"),
        (dict(stages=0), "stages = 0"),
        (dict(d=-1.0), "d must be positive"),
        (dict(d=np.inf), "d must be positive"),
        (dict(g=-1e-3), "g must be nonnegative"),
        (dict(g={"start": 0.0, "mle": True}), "g must be positive"),
        (dict(d=1e9), "outside of its bounds"),
        (dict(d={"min": 2.0, "max": 1.0}), "min = 2.0 and max = 1.0"),
        (dict(d={"ab": (1.5,)}), r"d\['ab'\]"),
        (dict(d={"begin": 1.0}), "'begin'"),
        (dict(d={"mle": 1.0}), r"d\['mle'\] is 1.0"),
        (dict(d=np.full(3, 0.5)), r"d has shape \(3,\): it must be a number, or \(7,\)"),
        (dict(d=np.full((7, 2), 0.5), separable=True), r"d has shape \(7, 2\).*\(7, 3\)"),
        (dict(g=np.full(5, 1e-3)), r"g has shape \(5,\)"),
        (dict(nearest="soon"), "'soon'"),
    ],
)
def test_errors(data, given, message):
    X, y, XX = data
    with pytest.raises(ValueError, match=message):
        gs.LocalGP(X, y).predict(XX, **{"end": 20, **given})


def test_devices_without_doubles(like_a_gpu, data):
    device = like_a_gpu.device
    like_a_gpu.device = dataclasses.replace(device, double=False)
    try:
        with gs.use(like_a_gpu), pytest.raises(ValueError, match="no float64"):
            gs.LocalGP(*data[:2])
    finally:
        like_a_gpu.device = device


def test_errors_of_shapes(data):
    X, y, XX = data
    gp = gs.LocalGP(X, y)
    with pytest.raises(ValueError, match=r"XX has shape \(7, 2\), and X \(300, 3\)"):
        gp.predict(XX[:, :2], end=20)
    with pytest.raises(ValueError, match=r"XX has shape \(1, 7, 3\)"):
        gp.predict(XX[None], end=20)
    with pytest.raises(ValueError, match=r"y has shape \(299,\), and X has 300 rows"):
        gs.LocalGP(X, y[1:])
    with pytest.raises(ValueError, match=r"X has shape \(0, 3\)"):
        gs.LocalGP(X[:0], y[:0])
    equal = gs.LocalGP(np.ones((9, 2)), np.arange(9.0))
    with pytest.raises(ValueError, match="no two different points, whose distances would tell ab, max, min, start of d"):
        equal.predict(np.ones((1, 2)), start=1, end=2)
    with pytest.raises(ValueError, match="tell ab, max, min of d: give d as a dictionary with these, or with start"):
        equal.predict(np.ones((1, 2)), start=1, end=2, d=0.1)
    assert equal.predict(np.ones((1, 2)), start=1, end=2, d=fixed(0.1), g=0.5).mean.shape == (1,)


@pytest.mark.parametrize(
    "cov, message",
    [
        (lambda: gs.covariances["linear"], "must depend on one distance"),
        (lambda: gs.covariances["rbf"].on(0, 1), "must depend on one distance"),
        (lambda: gs.covariances["rbf"].fix(lengthscale=1.0), "must have the hyperparameter lengthscale"),
        (lambda: gs.covariances["rbf"].fix(amplitude=2.0), "must have the hyperparameter amplitude"),
        (lambda: gs.covariances["rational_quadratic"], "give alpha a value"),
    ],
)
def test_covariance_functions_that_do_not_fit(data, cov, message):
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        gs.LocalGP(X, y, cov())


def test_fixed_hyperparameters(data):
    X, y, XX = data
    p = gs.LocalGP(X, y, gs.covariances["rational_quadratic"].fix(alpha=2.0)).predict(XX, end=30, g=1e-3)
    check(p, X, y, XX, lambda r2: (1 + r2 / 2) ** -2)


def test_derivatives_of_correlations():
    """The functions that kernels call, by the symbols of the Gaussian."""
    of_rbf = Correlation(gs.covariances["rbf"]).source(curvature=True)
    assert all(f"real correlation{s}(real r2)" in of_rbf for s in ("", "_slope", "_curvature"))
    assert "correlation_curvature" not in Correlation().source()
