"""Marginal likelihoods at sets of parameters, a block of threads for each: against SciPy, and against whole matrices."""

import numpy as np
import pytest
from gp_data import data
from scipy import stats
from thorough import some

import gpustats as gs
from gpustats.gp import MarginalLikelihood
from gpustats.processes import sets

N_SETS = 3
EVERYWHERE = dict.fromkeys(sets.MOST_FOR_ONE_SET, sets.MOST_OBSERVATIONS)
NOWHERE = dict.fromkeys(sets.MOST_FOR_ONE_SET, 0)


@pytest.fixture(autouse=True)
def by_one_block(monkeypatch):
    """Also where other kernels are faster."""
    monkeypatch.setattr(sets, "MOST_FOR_ONE_SET", EVERYWHERE)


def whole(monkeypatch):
    """From here on by kernels that share a matrix."""
    monkeypatch.setattr(sets, "MOST_FOR_ONE_SET", NOWHERE)
    monkeypatch.setattr(sets, "MOST_FOR_SEVERAL_SETS", NOWHERE)


def rbf(x, amplitude, lengthscale, sigma):
    apart = (((x[:, None] - x) / lengthscale) ** 2).sum(-1)
    return amplitude**2 * np.exp(-0.5 * apart) + np.diag(np.broadcast_to(sigma, len(x)) ** 2)


@pytest.mark.parametrize("dtype, bound", [(np.float64, 1e-10), (np.float32, 2e-5)], ids=["float64", "float32"])
@pytest.mark.parametrize("n", [1, 2, 17, 32, 33, 64, 100])
def test_equals_scipy(n, dtype, bound, rng):
    x, y = data(rng, n, 2, dtype)
    one = dict(amplitude=1.2, lengthscale=[0.8, 1.5], sigma=0.4, mean=rng.normal(size=n))
    several = dict(
        amplitude=rng.uniform(0.8, 1.5, (N_SETS, 1)), lengthscale=rng.uniform(0.5, 1.5, (N_SETS, 2)),
        sigma=rng.uniform(0.3, 0.6, (N_SETS, n)), mean=rng.normal(size=(N_SETS, 1)),
    )  # fmt: skip
    ml, where, what = MarginalLikelihood(gs.rbf, x, y), x.astype(float), y.astype(float)

    def wanted(amplitude, lengthscale, sigma, mean):
        mean = np.broadcast_to(mean, n)
        return stats.multivariate_normal.logpdf(what, mean, rbf(where, amplitude, np.asarray(lengthscale), sigma))

    want = [wanted(*(several[name][k] for name in several)) for k in range(N_SETS)]
    np.testing.assert_allclose(ml(**several), want, rtol=bound, atol=bound * n)
    value, gradient = ml.value_and_grad(**several)
    np.testing.assert_allclose(value, want, rtol=bound, atol=bound * n)
    assert {name: g.shape for name, g in gradient.items()} == {name: v.shape for name, v in several.items()}
    np.testing.assert_allclose(ml(**one), wanted(**one), rtol=bound, atol=bound * n)
    if dtype == np.float32:
        return
    step = 1e-6
    for name, at in several.items():
        for column in {0, at.shape[1] - 1}:
            change = step * (np.arange(at.shape[1]) == column)
            ends = [
                [wanted(*(v[k] + s * change * (m == name) if m == name else v[k] for m, v in several.items())) for s in (1, -1)]
                for k in range(N_SETS)
            ]
            slope = -np.diff(ends)[:, 0] / (2 * step)
            np.testing.assert_allclose(gradient[name][:, column], slope, rtol=1e-6, atol=1e-6)


COVARIANCES = {
    "sum": (gs.linear + gs.matern52.rename(lengthscale="fine"), dict(lengthscale=[1.5, 2.0], amplitude=0.8, fine=0.6), 2),
    "of columns": (
        gs.rbf.on(0, 2) * gs.matern32.on(1, 2).rename(amplitude="b", lengthscale="fine"),
        dict(amplitude=0.8, lengthscale=[1.5, 1.0, 2.0], b=0.7, fine=[0.6, 1.0, 1.0]), 3,
    ),
    "many columns": (gs.rbf, dict(amplitude=1.2, lengthscale=np.linspace(2.0, 5.0, 10)), 10),
    "periodic": (
        gs.periodic + gs.constant.rename(amplitude="level"), dict(amplitude=1.1, lengthscale=0.8, period=1.7, level=2.0), 1
    ),
}  # fmt: skip


@pytest.mark.parametrize("student_t, jitter", [(False, 0.0), (True, 0.1)])
@pytest.mark.parametrize("name", some(COVARIANCES, 2))
def test_equals_whole_matrices(name, student_t, jitter, rng, monkeypatch):
    """Values and derivatives in everything, with what all sets share among it."""
    cov, values, p = COVARIANCES[name]
    x, y = data(rng, 40, p)
    ml = MarginalLikelihood(cov, x, y, student_t=student_t, jitter=jitter)
    shared = {**values, "sigma": rng.uniform(0.2, 0.6, 40), "mean": 0.3}
    several = {n: np.atleast_1d(v) * rng.uniform(0.8, 1.2, (2, 3, 1)) for n, v in shared.items() if n != "mean"}
    several["mean"] = 0.3
    calls = [(shared, [*shared, "x", "y"]), (shared, [*shared, "y"]), (several, [*several, "y"]), (several, ["x", "sigma"])]
    found = [ml.value_and_grad(**given, wrt=wrt) for given, wrt in calls]
    assert found[2][0].shape == (2, 3) and isinstance(found[2][1]["mean"], float)
    np.testing.assert_array_equal(ml(**several), found[2][0])
    assert ml(**shared) == found[0][0] == found[1][0]
    whole(monkeypatch)
    for (value, gradient), (given, wrt) in zip(found, calls, strict=True):
        want, slopes = ml.value_and_grad(**given, wrt=wrt)
        np.testing.assert_allclose(value, want, rtol=1e-11)
        assert list(gradient) == wrt
        for n in wrt:
            assert np.shape(gradient[n]) == np.shape(slopes[n])
            np.testing.assert_allclose(gradient[n], slopes[n], rtol=1e-8, atol=1e-9 * np.abs(slopes[n]).max())


def test_a_set_does_not_depend_on_others(rng):
    x, y = data(rng, 50)
    ml = MarginalLikelihood(gs.matern32, x, y)
    given = {n: rng.uniform(0.5, 1.5, (40, size)) for n, size in (("amplitude", 1), ("lengthscale", 2), ("sigma", 1))}
    value, gradient = ml.value_and_grad(**given)
    for few in (slice(0, 1), slice(7, 9), slice(None, None, -1)):
        part, its = ml.value_and_grad(**{n: v[few] for n, v in given.items()})
        np.testing.assert_array_equal(part, value[few])
        for n in given:
            np.testing.assert_array_equal(its[n], gradient[n][few])


def test_not_positive_definite(rng):
    """nan for that set, and an error where it is the only one."""
    x, y = np.repeat(rng.normal(size=(20, 2)), 2, axis=0), rng.normal(size=40)
    for student_t in (False, True):
        ml = MarginalLikelihood(gs.rbf, x, y, student_t=student_t)
        given = dict(amplitude=1.0, lengthscale=0.8)
        value, gradient = ml.value_and_grad(**given, sigma=[[0.2], [0.0], [0.3]], wrt=["sigma"])
        np.testing.assert_array_equal(np.isnan(value), [False, True, False])
        np.testing.assert_array_equal(np.isnan(gradient["sigma"]), [[False], [True], [False]])
        np.testing.assert_array_equal(value[[0, 2]], ml(**given, sigma=[[0.2], [0.3]]))
        with pytest.raises(np.linalg.LinAlgError, match="40 points is not positive definite.*larger sigma"):
            ml(**given)
    large = MarginalLikelihood(gs.rbf, x, y)(amplitude=[[1e200], [1.0]], lengthscale=0.8, sigma=0.1)
    assert np.isnan(large[0]) and np.isfinite(large[1])


OUTSIDE = [("amplitude", -1.0), ("amplitude", np.inf), ("lengthscale", 0.0), ("lengthscale", np.inf), ("sigma", -0.1)]


@pytest.mark.parametrize("name, value", [*OUTSIDE, *((n, np.nan) for n in ("amplitude", "lengthscale", "sigma", "mean", "y"))])
def test_kernels_know_domains(name, value, rng):
    """What comes from compiled code was not looked at before; an amplitude below 0 has the covariances of one above."""
    x, y = data(rng, 6)
    ml = MarginalLikelihood(gs.rbf, x, y)
    one = np.ones((2, 1))
    rows = dict(y=np.stack([y, y]), mean=np.zeros((2, 6)), lengthscale=np.ones((2, 2)), amplitude=one, sigma=one.copy())
    rows[name][1, -1] = value
    values, _ = ml.sums_of_sets(rows, 2, [])
    assert np.isnan(values[1]) and values[0] == ml(amplitude=1.0, lengthscale=[1.0, 1.0], sigma=1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_sets", [1, 3])
def test_done_again_by_compiled_code(dtype, n_sets, rng):
    """The same bits, for other numbers in all arguments; also where the memory was another evaluation's meanwhile."""
    x, y = data(rng, 70, 2, dtype)
    ml, wrt = MarginalLikelihood(gs.rbf, x, y), ["amplitude", "lengthscale", "sigma", "mean", "y"]
    sizes = dict(amplitude=1, lengthscale=2, sigma=1, mean=70, y=70)
    rows = {n: rng.uniform(0.5, 1.5, (n_sets, size)) for n, size in sizes.items()}
    made = ml.compiled(rows, wrt, n_sets)
    if made is None or (replay := made.replay) is None:
        pytest.skip("the device does its work by calls of Python only")
    for _ in range(3):
        rows = {n: rng.uniform(0.5, 1.5, (n_sets, size)) for n, size in sizes.items()}
        values, slopes = ml.sums_of_sets(rows, n_sets, wrt, several=n_sets > 1)
        for n, value in rows.items():
            elements, places = made.arguments[n]
            replay.given[places] = value[:, elements]
        replay.run()
        np.testing.assert_array_equal(replay.found[made.values], values)
        for n in wrt:
            ((elements, places),) = made.derivatives[n]
            np.testing.assert_array_equal(replay.found[places], slopes[n][:, elements])


def test_no_scale(rng):
    x, _ = data(rng, 10)
    ml = MarginalLikelihood(gs.rbf, x, np.full(10, 2.0), student_t=True)
    for sigma in (0.1, [[0.1], [0.2]]):
        with pytest.raises(ValueError, match="no scale to integrate out"):
            ml(amplitude=1.0, lengthscale=1.0, sigma=sigma, mean=2.0)


def test_no_sets_and_no_observations(rng):
    x, y = data(rng, 5)
    given = dict(amplitude=np.ones((0, 1)), lengthscale=1.0, sigma=0.1)
    value, gradient = MarginalLikelihood(gs.rbf, x, y).value_and_grad(**given)
    assert value.shape == (0,) and gradient == {"amplitude": gradient["amplitude"], "lengthscale": 0.0, "sigma": 0.0}
    assert MarginalLikelihood(gs.rbf, x[:0], y[:0])(**{**given, "amplitude": np.ones((2, 1))}).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "wrong, message",
    [
        (dict(lengthscale=np.ones((2, 1))), r"lengthscale has shape \(2, 1\), and amplitude has \(3, 1\): it must be a number"),
        (dict(lengthscale=np.ones((3, 3))), r"must be a number or \(3, 1\), \(2,\) or \(3, 2\)"),
        (dict(sigma=np.ones((3, 4))), r"must be a number or \(3, 1\), \(5,\) or \(3, 5\)"),
        (dict(amplitude=np.ones((3, 2))), r"amplitude has shape \(3, 2\).*: it must be a number or \(3, 1\)$"),
        (dict(sigma=[[0.1], [-0.1], [0.1]]), r"sigma\[1, 0\] is -0.1: it must be nonnegative"),
        (dict(lengthscale=[0.5, 0.0]), r"lengthscale\[1\] is 0.0: it must be positive"),
        (dict(mean=np.inf), "mean is inf"),
        (dict(nu=1.0), "no hyperparameter 'nu'"),
    ],
)  # fmt: skip
def test_errors(wrong, message, rng):
    x, y = data(rng, 5)
    with pytest.raises(ValueError, match=message):
        MarginalLikelihood(gs.rbf, x, y)(**{**dict(amplitude=np.ones((3, 1)), lengthscale=1.0), **wrong})


def test_a_vector_needs_a_scaled_function(rng):
    x, y = data(rng, 5)
    cov = gs.rational_quadratic.rename(lengthscale="other", alpha="lengthscale")
    with pytest.raises(ValueError, match="lengthscale has shape|must be a number"):
        MarginalLikelihood(cov, x, y)(amplitude=1.0, other=np.ones((3, 1)), lengthscale=np.ones((3, 2)))
