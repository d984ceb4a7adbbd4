"""Joint predictions by local Gaussian processes: against the formulas in NumPy, and against the R package laGP."""


import numpy as np
import pytest
from references_local import LAGP, P, fixed, joint_design, joint_student
from scipy import stats
from thorough import some

import gpustats as gs
from gpustats.processes.local.nearest import Nearest
from gpustats.runtime import choose


@pytest.fixture
def paths(rng):
    """Four sets of five references, on short paths."""
    return rng.uniform(0.2, 0.8, size=(4, 1, P)) + 0.1 * np.linspace(0, 1, 5)[:, None] * rng.normal(size=(4, 1, P))


def distances(X, references):
    return ((X[:, None] - references) ** 2).sum(-1).min(1)


@pytest.mark.parametrize("method", ["device", "tree"])
@pytest.mark.parametrize("p, n, k, start, references", [(1, 30, 40, 5, 3), (2, 5000, 60, 7, 1), (3, 20000, 30, 30, 9)])
def test_nearest_to_any_of_several_references(method, p, n, k, start, references, rng):
    runtime, X, sets = choose.get(), rng.uniform(size=(n, p)), rng.uniform(size=(11, references, p))
    got = runtime.to_host(Nearest(runtime, X, method).find(runtime.to_device(sets), k, start))
    for i, found in enumerate(got):
        want = np.argsort(distances(X, sets[i]), kind="stable")[:k]
        np.testing.assert_array_equal(found[:start], want[:start])
        np.testing.assert_array_equal(np.sort(found[: len(want)]), np.sort(want))
        assert (found[len(want) :] == -1).all()


@pytest.mark.parametrize("noise", some([True, False]))
@pytest.mark.parametrize("d, separable", some([(np.array([0.2, 0.5, 3.0]), True), (0.4, False)]))
def test_predictions_follow_from_the_designs(layout, data, paths, d, separable, noise):
    X, y, _ = data
    gp = gs.LocalGP(X, y)
    p = gp.predict(paths, end=25, close=80, d=fixed(d), g=1e-3, separable=separable, joint=True, noise=noise)
    assert p.mean.shape == p.scale.shape == (4, 5) and p.covariance.shape == (4, 5, 5) and p.indices.shape == (4, 25)
    for i, references in enumerate(paths):
        candidates = np.argsort(distances(X, references))[:80]
        np.testing.assert_array_equal(p.indices[i], joint_design(X, references, candidates, d, 1e-3, 6, 25))
        mean, covariance = joint_student(X[p.indices[i]], (y - y.mean())[p.indices[i]], references, d, 1e-3, noise)
        np.testing.assert_allclose(p.mean[i], y.mean() + mean, rtol=1e-9)
        np.testing.assert_allclose(p.covariance[i], covariance * 25 / 23, rtol=1e-8, atol=1e-9 * covariance.max())
        np.testing.assert_array_equal(p.covariance[i], p.covariance[i].T)
    np.testing.assert_allclose(p.variance, np.diagonal(p.covariance, axis1=1, axis2=2), rtol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"method": "nn"}, {"separable": True, "g": {"mle": True}, "method": ("nn", "alc")}], ids=str
)
def test_a_set_of_one_reference_is_a_location(layout, data, options):
    X, y, XX = data
    gp = gs.LocalGP(X, y)
    one, joint = gp.predict(XX, end=20, **options), gp.predict(XX[:, None], end=20, joint=True, **options)
    np.testing.assert_array_equal(joint.indices, one.indices)
    for name in ("d", "g", "loglik"):
        np.testing.assert_array_equal(getattr(joint, name), getattr(one, name))
    np.testing.assert_allclose(joint.mean[:, 0], one.mean, rtol=1e-9)
    np.testing.assert_allclose(joint.covariance[:, 0, 0], one.variance, rtol=1e-7)


def test_one_set_stands_without_an_axis_of_sets(layout, data, paths):
    X, y, _ = data
    gp = gs.LocalGP(X, y)
    many, one = gp.predict(paths, end=15, joint=True), gp.predict(paths[2], end=15, joint=True)
    for name in ("mean", "scale", "covariance", "indices", "d", "loglik"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name)[2])
    native = gs.LocalGP(gs.to_device(X), gs.to_device(y)).predict(gs.to_device(paths[2]), end=15, joint=True)
    assert layout.is_native(native.covariance)
    np.testing.assert_array_equal(gs.to_host(native.covariance), one.covariance)
    assert layout.is_native(native.rvs(3, rng=1)) and np.shape(native.d) == ()


def test_units_and_devices_make_no_difference(data, paths):
    X, y, _ = data
    X, paths = (a * [1.0, 20.0, 0.1] for a in (X, paths))
    want = gs.LocalGP(X, y).predict(paths, end=15, separable=True, joint=True)
    factors = np.array([100.0, 1e-3, 2.0])
    gp = gs.LocalGP(factors * X, 1e4 * y + 3)
    got = gp.predict(factors * paths, end=15, separable=True, joint=True, devices=[gp.device.id] * 2)
    np.testing.assert_array_equal(got.indices, want.indices)
    np.testing.assert_allclose(got.mean, 1e4 * want.mean + 3, rtol=1e-6)
    np.testing.assert_allclose(got.covariance, 1e8 * want.covariance, rtol=1e-6, atol=1e2 * want.covariance.max())


def test_draws_of_paths(data, paths):
    X, y, _ = data
    p = gs.LocalGP(X, y).predict(paths, end=15, joint=True, noise=False)
    draws = p.rvs(size=(4000, 5), rng=3)
    assert draws.shape == (4000, 5, 4, 5) and p.rvs(rng=3).shape == (4, 5)
    np.testing.assert_array_equal(p.rvs(7, rng=3), p.rvs(7, rng=3))
    draws = draws.reshape(-1, 4, 5)
    for i in range(4):
        np.testing.assert_allclose(np.cov(draws[:, i].T), p.covariance[i], atol=0.1 * p.covariance[i].max())
        steps = draws[:, i, 1] - draws[:, i, 0]
        t = stats.t(p.df, p.mean[i, 1] - p.mean[i, 0], np.sqrt(_variance_of_step(p.covariance[i]) * (p.df - 2) / p.df))
        assert stats.kstest(steps, t.cdf).pvalue > 1e-4
    assert abs(np.corrcoef(draws[:, 0, 0], draws[:, 1, 0])[0, 1]) < 0.03
    with pytest.raises(ValueError, match="the design has 2 points"):
        gs.LocalGP(X, y).predict(paths, start=1, end=2, joint=True).rvs()


def _variance_of_step(c):
    return c[0, 0] + c[1, 1] - 2 * c[0, 1]


def test_without_noise(layout, data):
    """The variance of the process: that of an observation less the nugget's."""
    X, y, XX = data
    options = dict(end=20, g=1e-2, d=fixed(0.4))
    gp = gs.LocalGP(X, y)
    observed, process = gp.predict(XX, noise=True, **options), gp.predict(XX, **options)
    assert observed.noise and not process.noise
    np.testing.assert_array_equal(process.mean, observed.mean)
    for i in range(len(XX)):
        for p, noise in ((observed, True), (process, False)):
            design = p.indices[i]
            _, want = joint_student(X[design], (y - y.mean())[design], XX[i : i + 1], 0.4, 1e-2, noise)
            np.testing.assert_allclose(p.scale[i] ** 2, want[0, 0], rtol=1e-7)


def test_a_method_for_each_stage(data):
    """As laGP's aGP.seq: lengthscales of nearest points, with which the search begins."""
    X, y, XX = data
    gp = gs.LocalGP(X, y)
    first = gp.predict(XX, end=20, method="nn")
    bounds = gs.gp.local.darg(None, X)
    then = gp.predict(XX, end=20, d={"start": first.d, "min": bounds.min, "max": bounds.max, "ab": bounds.ab})
    both = gp.predict(XX, end=20, method=("nn", "alc"))
    np.testing.assert_array_equal(both.indices, then.indices)
    np.testing.assert_allclose(both.d, then.d, rtol=1e-12)


@pytest.mark.parametrize("case", range(len(LAGP)), ids=[c["case"] for c in LAGP])
def test_lagp(case):
    """Designs, means and scale matrices of laGP 1.5-9."""
    case = LAGP[case]
    X, y, references = (np.array(case[k]) for k in ("X", "y", "references"))
    given = {"start": case["d"], "mle": case["estimate"], "min": 1e-3, "max": 10.0, "ab": (1.5, 0.5)}
    p = gs.LocalGP(X, y, center=False).predict(
        references, start=6, end=12, close=40, d=given, g=1e-3, separable=case["separable"], joint=True, noise=True
    )
    assert set(p.indices) == set(case["design"]) and list(p.indices[6:]) == case["design"][6:]
    rtol = 1e-4 if case["estimate"] else 1e-8
    np.testing.assert_allclose(p.mean, case["mean"], rtol=rtol)
    np.testing.assert_allclose(p.covariance * 10 / 12, case["scale"], rtol=rtol, atol=rtol * np.max(case["scale"]))
    np.testing.assert_allclose(p.d, case["d_found"], rtol=1e-3)


def test_errors(data, paths):
    X, y, _ = data
    gp = gs.LocalGP(X, y)
    with pytest.raises(ValueError, match=r"XX has shape \(4, 5, 3\): it must be \(n, p\)"):
        gp.predict(paths, end=10)
    with pytest.raises(ValueError, match=r"XX has shape \(4, 5, 2\), and X \(300, 3\)"):
        gp.predict(paths[..., :2], end=10, joint=True)
    with pytest.raises(ValueError, match=r"XX has shape \(4, 0, 3\): a set must have a reference"):
        gp.predict(paths[:, :0], end=10, joint=True)
    with pytest.raises(ValueError, match="joint = False"):
        gp.predict(paths, end=10, joint=True, method="mspe")
    with pytest.raises(ValueError, match="stages = 2, and method = .*has one for each stage"):
        gp.predict(paths, end=10, joint=True, method=("nn", "alc"), stages=2)
    with pytest.raises(ValueError, match="'soon'"):
        gp.predict(paths, end=10, joint=True, method=("nn", "soon"))
    paths[1, 2, 0] = np.nan
    with pytest.raises(ValueError, match=r"XX\[1, 2, 0\] is nan"):
        gp.predict(paths, end=10, joint=True)
    assert gp.predict(paths[:0], end=10, joint=True).covariance.shape == (0, 5, 5)
