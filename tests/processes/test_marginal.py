"""Marginal likelihoods of Gaussian processes, against scikit-learn, SciPy, mpmath and finite differences."""

import functools
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import mpmath
import numpy as np
import pytest
from gp_data import data
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.gp import MarginalLikelihood, Vecchia
from gpustats.processes import sets
from gpustats.runtime import choose


def slope(function, value, step=1e-5):
    """The derivative by central differences."""
    value = np.asarray(value, float)
    steps = [step * np.eye(value.size)[i].reshape(value.shape) for i in range(value.size)]
    return np.reshape([(function(value + h) - function(value - h)) / (2 * step) for h in steps], value.shape)


# name -> (covariance, hyperparameters, scikit-learn's kernel, theta -> what is ours). theta are logarithms; amplitudes are
# squared there.
ONE = kernels.ConstantKernel(1.3**2)

MODELS = {
    "rbf": (gs.rbf, dict(amplitude=1.3, lengthscale=0.8), ONE * kernels.RBF(0.8), ["amplitude", "lengthscale"]),
    "ard": (gs.rbf, dict(amplitude=1.3, lengthscale=[0.8, 2.0]), ONE * kernels.RBF([0.8, 2.0]), ["amplitude", "lengthscale"]),
    "matern32": (
        gs.matern32, dict(amplitude=1.3, lengthscale=[0.8, 2.0]), ONE * kernels.Matern([0.8, 2.0], nu=1.5),
        ["amplitude", "lengthscale"],
    ),
    "matern52": (
        gs.matern52, dict(amplitude=1.3, lengthscale=0.7), ONE * kernels.Matern(0.7, nu=2.5), ["amplitude", "lengthscale"]
    ),
    "rational_quadratic": (
        gs.rational_quadratic, dict(amplitude=1.3, lengthscale=0.8, alpha=0.6), ONE * kernels.RationalQuadratic(0.8, 0.6),
        ["amplitude", "alpha", "lengthscale"],
    ),
    "periodic": (
        gs.periodic, dict(amplitude=1.3, lengthscale=0.8, period=1.7), ONE * kernels.ExpSineSquared(0.8, 1.7),
        ["amplitude", "lengthscale", "period"],
    ),
    "sum": (
        gs.rbf + gs.matern32.rename(amplitude="rough", lengthscale="fine"),
        dict(amplitude=1.3, lengthscale=2.0, rough=0.5, fine=0.3),
        ONE * kernels.RBF(2.0) + kernels.ConstantKernel(0.25) * kernels.Matern(0.3, nu=1.5),
        ["amplitude", "lengthscale", "rough", "fine"],
    ),
    "product": (
        gs.rbf * gs.periodic.fix(amplitude=1.0).rename(lengthscale="roughness"),
        dict(amplitude=1.3, lengthscale=2.0, roughness=0.9, period=1.5),
        ONE * kernels.RBF(2.0) * kernels.ExpSineSquared(0.9, 1.5), ["amplitude", "lengthscale", "roughness", "period"],
    ),
}  # fmt: skip

SIGMA = 0.3


@pytest.mark.parametrize("name", some(MODELS))
def test_equals_sklearn(name, provider, rng):
    cov, values, kernel, order = MODELS[name]
    x, y = data(rng, 70, 1 if "period" in values else 2)  # the distance in a plane has no period
    theirs = GaussianProcessRegressor(kernel + kernels.WhiteKernel(SIGMA**2), alpha=0, optimizer=None).fit(x, y)
    want, derivatives = theirs.log_marginal_likelihood(theirs.kernel_.theta, eval_gradient=True)
    ml = MarginalLikelihood(cov, x, y)
    value, gradient = ml.value_and_grad(**values, sigma=SIGMA)
    np.testing.assert_allclose(value, want, rtol=1e-10)
    assert ml(**values, sigma=SIGMA) == value
    logs = []
    for own in [*order, "sigma"]:
        half = 0.5 if own in ("amplitude", "rough", "sigma") else 1.0  # theirs are the squares
        logs += list(half * np.ravel(gradient[own] * np.asarray({**values, "sigma": SIGMA}[own])))
    np.testing.assert_allclose(logs, derivatives, rtol=1e-8, atol=1e-8)
    new = rng.normal(size=(30, x.shape[1]))
    mean, covariance = theirs.predict(new, return_cov=True)
    got = ml.predict(new, **values, sigma=SIGMA, noise=True, cov=True)
    np.testing.assert_allclose(got.mean, mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(got.covariance, covariance, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(got.variance, np.diag(covariance), rtol=1e-9, atol=1e-9)
    plain = ml.predict(new, **values, sigma=SIGMA)
    np.testing.assert_allclose(plain.variance, np.diag(covariance) - SIGMA**2, rtol=1e-8, atol=1e-9)
    assert plain.covariance is None and plain.df is None


@pytest.mark.parametrize("n", some([1, 2, 15, 16, 17, 33, 130], 2))
def test_sizes(n, provider, rng):
    """Against the multivariate normal density, with a standard deviation and a mean for each observation."""
    x, y = data(rng, n, 1)
    sigma, mean = rng.uniform(0.2, 0.6, n), rng.normal(size=n)
    given = dict(amplitude=1.1, lengthscale=0.4, sigma=sigma, mean=mean)
    want = stats.multivariate_normal.logpdf(y, mean, gs.rbf(x, amplitude=1.1, lengthscale=0.4) + np.diag(sigma**2))
    value, _ = MarginalLikelihood(gs.rbf, x, y).value_and_grad(**given)
    np.testing.assert_allclose(value, want, rtol=1e-10)


DERIVATIVES = [
    (gs.rbf, dict(amplitude=1.2, lengthscale=[0.8, 1.5])),
    (gs.linear + gs.matern52.rename(lengthscale="fine"), dict(lengthscale=[1.5, 2.0], amplitude=0.8, fine=0.6)),
]


@pytest.mark.parametrize("student_t", some([True, False]))
@pytest.mark.parametrize("jitter", some([0.1, 0.0]))
@pytest.mark.parametrize("cov, values", some(DERIVATIVES, 2), ids=["rbf", "sum"])
def test_derivatives(cov, values, jitter, student_t, provider, rng):
    """In everything, by finite differences."""
    n = 20
    x, y = data(rng, n)
    kind = dict(student_t=student_t, jitter=jitter)
    given = {**values, "sigma": rng.uniform(0.2, 0.6, n), "mean": rng.normal(size=n)}
    ml = MarginalLikelihood(cov, x, y, **kind)
    value, gradient = ml.value_and_grad(**given, wrt=[*given, "x", "y"])
    assert value == ml(**given)
    for name in given:
        want = slope(lambda v, name=name: ml(**{**given, name: v}), given[name])
        assert np.shape(gradient[name]) == np.shape(given[name])
        np.testing.assert_allclose(gradient[name], want, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        gradient["x"], slope(lambda v: MarginalLikelihood(cov, v, y, **kind)(**given), x), rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(gradient["y"], -gradient["mean"], rtol=1e-14)
    numbers = {**values, "sigma": 0.4, "mean": 0.3}
    _, gradient = ml.value_and_grad(**numbers)
    assert set(gradient) == set(numbers)
    for name in ("sigma", "mean"):
        want = slope(lambda v, name=name: ml(**{**numbers, name: float(v)}), numbers[name])
        np.testing.assert_allclose(gradient[name], want, rtol=1e-6, atol=1e-6)


def test_what_is_differentiated(rng):
    x, y = data(rng)
    ml, given = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=1.2, lengthscale=0.8)
    assert list(ml.value_and_grad(**given)[1]) == ["amplitude", "lengthscale"]
    assert list(ml.value_and_grad(**given, sigma=0.3)[1]) == ["amplitude", "lengthscale", "sigma"]
    assert list(ml.value_and_grad(**given, sigma=0.3, wrt="mean")[1]) == ["mean"]
    whole = ml.value_and_grad(**given, sigma=0.3, wrt=("sigma", "amplitude"))[1]
    assert list(whole) == ["sigma", "amplitude"]


def test_jitter_is_relative_to_the_diagonal(rng):
    x, y = data(rng)
    cov, values = gs.rbf + gs.linear.rename(lengthscale="slope"), dict(amplitude=2.0, lengthscale=0.5, slope=1.0)
    K = cov(x, **values)
    want = stats.multivariate_normal.logpdf(y, np.zeros(len(y)), K + np.diag(1e-2 * np.diag(K)))
    np.testing.assert_allclose(MarginalLikelihood(cov, x, y, jitter=1e-2)(**values), want, rtol=1e-9)


def test_student_t_is_the_integral(rng):
    """Over tau²: N(y; 0, tau² R) / tau², by quadrature in many digits."""
    x, y = data(rng, 5, 1)
    values = dict(amplitude=1.0, lengthscale=0.9, sigma=0.2)
    R = gs.rbf(x, amplitude=1.0, lengthscale=0.9) + 0.04 * np.eye(5)
    with mpmath.workdps(30):
        m, r = mpmath.matrix(R.tolist()), mpmath.matrix(y.tolist())
        psi, det = (r.T * mpmath.lu_solve(m, r))[0], mpmath.det(m)

        def normal(t):
            return (2 * mpmath.pi * t) ** (-mpmath.mpf(5) / 2) / mpmath.sqrt(det) * mpmath.exp(-psi / (2 * t))

        want = mpmath.log(mpmath.quad(lambda u: normal(mpmath.exp(u)), [-30, -5, 0, 5, 30]))
    got = MarginalLikelihood(gs.rbf, x, y, student_t=True)(**values)
    np.testing.assert_allclose(got, float(want), rtol=1e-12)


def test_student_t_predictions_are_ratios_of_likelihoods(provider, rng):
    """p(y, y*) / p(y) is the density of a Student-t distribution of y*."""
    x, y = data(rng, 9)
    values, new = dict(amplitude=1.2, lengthscale=0.9, sigma=0.3, mean=0.5), rng.normal(size=(3, 2))
    ml = MarginalLikelihood(gs.rbf, x, y, student_t=True)
    p = ml.predict(new, **values, noise=True, cov=True)
    assert p.df == 9
    for at in (-1.0, 0.2, 3.0):
        joint = [MarginalLikelihood(gs.rbf, np.vstack([x, q]), np.append(y, at), student_t=True)(**values) for q in new]
        np.testing.assert_allclose(np.array(joint) - ml(**values), stats.t.logpdf(at, 9, p.mean, p.scale), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(p.variance, p.scale**2 * 9 / 7, rtol=1e-12)
    np.testing.assert_allclose(np.diag(p.covariance), p.variance, rtol=1e-9)
    normal = MarginalLikelihood(gs.rbf, x, y).predict(new, **values, noise=True, cov=True)
    np.testing.assert_allclose(p.covariance / p.covariance[0, 0], normal.covariance / normal.covariance[0, 0], rtol=1e-8)
    np.testing.assert_allclose(p.interval(0.9)[1], stats.t.ppf(0.95, 9, p.mean, p.scale), rtol=1e-12)


def test_no_scale_to_integrate_out():
    with pytest.raises(ValueError, match="there is no scale"):
        MarginalLikelihood(gs.rbf, np.arange(3.0), np.ones(3), student_t=True)(amplitude=1.0, lengthscale=1.0, mean=1.0)
    with pytest.raises(ValueError, match="no observations"):
        MarginalLikelihood(gs.rbf, np.empty(0), np.empty(0), student_t=True)


@THOROUGH
def test_single_precision(provider, rng):
    x, y = data(rng, 100, dtype=np.float32)
    given = dict(amplitude=1.2, lengthscale=[0.8, 1.1], sigma=0.3)
    ml = MarginalLikelihood(gs.rbf, x, y)
    want, slopes = MarginalLikelihood(gs.rbf, x.astype(float), y.astype(float)).value_and_grad(**given, wrt=[*given, "x", "y"])
    got, gradient = ml.value_and_grad(**given, wrt=[*given, "x", "y"])
    np.testing.assert_allclose(got, want, rtol=1e-5)
    for name in slopes:
        np.testing.assert_allclose(gradient[name], slopes[name], rtol=2e-3, atol=2e-3 * np.abs(slopes[name]).max())
    assert gradient["x"].dtype == gradient["y"].dtype == ml.predict(x, **given).mean.dtype == np.float32


def test_device_arrays(provider, rng):
    x, y = data(rng)
    given, new = dict(amplitude=1.2, lengthscale=0.8, sigma=0.3), rng.normal(size=(7, 2))
    want = MarginalLikelihood(gs.rbf, x, y)
    ml = MarginalLikelihood(gs.rbf, gs.to_device(x), gs.to_device(y))
    value, gradient = ml.value_and_grad(**given, wrt=["amplitude", "x", "y"])
    expected, slopes = want.value_and_grad(**given, wrt=["amplitude", "x", "y"])
    assert value == expected and gradient["amplitude"] == slopes["amplitude"]
    for name in ("x", "y"):
        assert not isinstance(gradient[name], np.ndarray)
        np.testing.assert_array_equal(gs.to_host(gradient[name]), slopes[name])
    p, q = ml.predict(gs.to_device(new), **given, cov=True), want.predict(new, **given, cov=True)
    for name in ("mean", "scale", "covariance"):
        assert not isinstance(getattr(p, name), np.ndarray)
        np.testing.assert_array_equal(gs.to_host(getattr(p, name)), getattr(q, name))
    np.testing.assert_array_equal(gs.to_host(p.variance), q.variance)
    np.testing.assert_array_equal(gs.to_host(ml.draw(gs.to_device(new), 2, 1, **given)), want.draw(new, 2, 1, **given))


def test_layouts_of_arrays(rng):
    x, y = data(rng)
    given = dict(amplitude=1.2, lengthscale=0.8, sigma=0.3)
    want = MarginalLikelihood(gs.rbf, x, y)(**given)
    for other in (np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2], x.tolist()):
        assert MarginalLikelihood(gs.rbf, other, np.repeat(y, 3)[::3])(**given) == want
    kept = x.copy()
    ml = MarginalLikelihood(gs.rbf, kept, y)
    kept[:] = 0  # the data are those of the time when they were given
    assert ml(**given) == want
    flat = MarginalLikelihood(gs.rbf, x[:, 0], y)
    assert flat.value_and_grad(**given, wrt="x")[1]["x"].shape == (60,)
    assert flat(**given) == MarginalLikelihood(gs.rbf, x[:, :1], y)(**given)
    whole, real = (MarginalLikelihood(gs.rbf, a, a) for a in (np.arange(5), np.arange(5.0)))
    assert whole(**given) == real(**given)


def test_pickles(rng):
    x, y = data(rng)
    given = dict(amplitude=1.2, lengthscale=0.8, sigma=0.3)
    of_t = MarginalLikelihood(gs.rbf, x[:, 0], y, mean=2.0, student_t=True)
    for made in (MarginalLikelihood(gs.rbf, x, y, jitter=0.1), of_t):
        again = pickle.loads(pickle.dumps(made))
        assert again(**given) == made(**given) and repr(again) == repr(made)


def test_same_bits_every_time(provider, rng):
    x, y = data(rng, 150)
    ml, given = MarginalLikelihood(gs.rbf, x, y), dict(amplitude=1.2, lengthscale=0.8, sigma=0.3)
    first = ml.value_and_grad(**given)
    ml(**{**given, "sigma": 1.0})
    assert ml.value_and_grad(**given) == first


def test_threads(rng):
    """Several at a time, as chains are."""
    x, y = data(rng, 120)
    ml = MarginalLikelihood(gs.rbf, x, y)
    points = [dict(amplitude=1.2, lengthscale=0.8, sigma=s) for s in np.linspace(0.2, 1, 24)]

    def work(point):
        return ml.value_and_grad(**point), ml.predict(x[:2], **point).mean.tolist()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, points)) == [work(point) for point in points]


def test_empty():
    ml = MarginalLikelihood(gs.rbf, np.empty((0, 2)), np.empty(0))
    given = dict(amplitude=1.2, lengthscale=[1.0, 2.0], sigma=0.3)
    value, gradient = ml.value_and_grad(**given, wrt=[*given, "x", "y"])
    assert value == 0 and gradient["amplitude"] == gradient["sigma"] == 0 and gradient["lengthscale"].tolist() == [0, 0]
    assert gradient["x"].shape == (0, 2) and gradient["y"].shape == (0,)
    p = ml.predict(np.zeros((2, 2)), amplitude=1.2, lengthscale=1.0, mean=3.0, cov=True)
    np.testing.assert_allclose(p.mean, 3.0)
    np.testing.assert_allclose(p.scale, 1.2)
    np.testing.assert_allclose(p.covariance, 1.44)
    full = MarginalLikelihood(gs.rbf, np.arange(3.0), np.arange(3.0))
    none = full.predict(np.empty(0), amplitude=1.2, lengthscale=1.0, cov=True)
    assert none.mean.shape == none.scale.shape == (0,) and none.covariance.shape == (0, 0)
    assert full.draw(np.empty(0), 4, amplitude=1.2, lengthscale=1.0).shape == (4, 0)


def test_no_more_than_three_matrices(provider, rng, monkeypatch):
    """Of n x n numbers at a time, however many hyperparameters there are."""
    n, runtime = 200, choose.get()
    alive, most = [0], [0]

    def counted(make, of):
        def made(*args):
            result = make(*args)
            array, nbytes = of(result, *args)
            if nbytes >= n * n * 2:  # a quarter of a matrix
                alive[0] += nbytes
                most[0] = max(most[0], alive[0])
                weakref.finalize(array, lambda: alive.__setitem__(0, alive[0] - nbytes))
            return result

        return made

    x, y = data(rng, n)
    ml = MarginalLikelihood(gs.rbf, x, y)
    monkeypatch.setattr(runtime, "empty", counted(runtime.empty, lambda r, *a: (r, r.nbytes)))
    monkeypatch.setattr(runtime, "scratch", counted(runtime.scratch, lambda r, nbytes: (r, nbytes)))
    if runtime.host_visible:
        monkeypatch.setattr(runtime, "host_result", counted(runtime.host_result, lambda r, *a: (r[0], r[0].nbytes)))
    for sigma in (0.3, 0.4):
        ml.value_and_grad(amplitude=1.2, lengthscale=[0.8, 0.9], sigma=sigma)
        assert alive[0] == n * n * 8  # the factor, for predictions
    assert 2 * n * n * 8 <= most[0] <= 3 * n * n * 8


def test_not_positive_definite(provider, rng):
    x = np.repeat(rng.normal(size=(20, 2)), 2, axis=0)  # duplicates
    y = rng.normal(size=40)
    for kind in (dict(), dict(student_t=True)):
        ml = MarginalLikelihood(gs.rbf, x, y, **kind)
        message = r"40 points is not positive definite.*lengthscale=0.8.*larger sigma"
        for call in (ml, ml.value_and_grad, functools.partial(ml.predict, x), functools.partial(ml.draw, x)):
            with pytest.raises(np.linalg.LinAlgError, match=message):
                call(amplitude=1.0, lengthscale=0.8)
        assert np.isfinite(ml(amplitude=1.0, lengthscale=0.8, sigma=0.1))
        assert np.isfinite(MarginalLikelihood(gs.rbf, x, y, jitter=1e-8, **kind)(amplitude=1.0, lengthscale=0.8))
    with pytest.raises(np.linalg.LinAlgError, match="singular or too large|leading minor"):
        MarginalLikelihood(gs.rbf, x, y)(amplitude=1e200, lengthscale=0.8)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", [MarginalLikelihood, Vecchia])
def test_extreme_values_warn_of_nothing(make, provider, rng):
    x, y = data(rng)
    found = make(gs.rbf, x, y).value_and_grad(amplitude=1.0, lengthscale=[1e110, 1.0], sigma=0.5)[1]["lengthscale"]
    assert found[0] == 0 and np.isfinite(found[1])
    for sigma in (1e199, np.full(len(x), 1e199)):
        with pytest.raises(np.linalg.LinAlgError, match="too large"):
            make(gs.rbf, x, y)(amplitude=1.0, lengthscale=1.0, sigma=sigma)


def test_gradient_of_a_large_composite(rng):
    """Of 1,100 points, along a random direction in all hyperparameters, by finite differences of the value."""
    x, y = data(rng, 1100, 3)
    wave = gs.periodic.on(2).rename(amplitude="wave", lengthscale="shape")
    cov = gs.rbf.on(0, 1) * wave + gs.linear.rename(lengthscale="slope") + gs.matern32.rename(amplitude="b", lengthscale="fine")
    values = dict(
        amplitude=0.8, lengthscale=np.array([1.5, 1.0, 1.0]), wave=1.1, shape=0.9, period=1.7, slope=np.array([2.0, 3.0, 4.0]),
        b=0.7, fine=np.array([0.6, 1.0, 1.4]), sigma=0.4, mean=0.1,
    )  # fmt: skip
    ml = MarginalLikelihood(cov, x, y)
    _, gradient = ml.value_and_grad(**values)
    direction = {n: rng.normal(size=np.shape(v)) for n, v in values.items()}
    ends = [ml(**{n: v + step * direction[n] for n, v in values.items()}) for step in (1e-5, -1e-5)]
    slope = sum(np.sum(gradient[n] * direction[n]) for n in values)
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-5, rtol=1e-6)


@functools.cache
def ill_conditioned():
    """A model whose matrix has a condition of about 1e10; its likelihood and the derivative in sigma, of 60 digits."""
    x = np.linspace(0, 1, 25)
    y = np.sin(5 * x)
    with mpmath.workdps(60):
        K = mpmath.matrix(25, 25)
        for i in range(25):
            for j in range(25):
                K[i, j] = mpmath.exp(-((mpmath.mpf(x[i]) - mpmath.mpf(x[j])) ** 2) / (2 * mpmath.mpf(0.5) ** 2))
            K[i, i] += mpmath.mpf(2e-5) ** 2
        r = mpmath.matrix(y.tolist())
        alpha = mpmath.lu_solve(K, r)
        want = -(r.T * alpha)[0] / 2 - mpmath.log(mpmath.det(K)) / 2 - 25 * mpmath.log(2 * mpmath.pi) / 2
        of_sigma = mpmath.mpf(2e-5) * ((alpha.T * alpha)[0] - sum((K**-1)[i, i] for i in range(25)))
    return x, y, float(want), float(of_sigma)


def test_ill_conditioned(provider, monkeypatch):
    values = dict(amplitude=1.0, lengthscale=0.5, sigma=2e-5)
    x, y, want, of_sigma = ill_conditioned()
    ml, found = MarginalLikelihood(gs.rbf, x, y), []
    for most in (0, sets.MOST_OBSERVATIONS):  # by whole matrices, and by one block
        monkeypatch.setattr(sets, "MOST_FOR_ONE_SET", dict.fromkeys(sets.MOST_FOR_ONE_SET, most))
        value, gradient = ml.value_and_grad(**values)
        np.testing.assert_allclose(value, want, rtol=1e-6)
        np.testing.assert_allclose(gradient["sigma"], of_sigma, rtol=1e-4)
        found.append(value)
    assert found[0] != found[1]


def cases_of_errors():
    x, y = np.zeros((3, 2)), np.zeros(3)
    make, given = MarginalLikelihood, dict(amplitude=1.0, lengthscale=1.0)
    ml = MarginalLikelihood(gs.rbf, np.arange(6.0).reshape(3, 2), y)
    return [
        (lambda: make(gs.rbf, x, np.zeros(4)), r"y has shape \(4,\), and x 3 points"),
        (lambda: make(gs.rbf, x, np.zeros((3, 1))), r"y has shape \(3, 1\)"),
        (lambda: make(gs.rbf, np.zeros((2, 2, 2)), y), r"x has shape \(2, 2, 2\)"),
        (lambda: make(gs.rbf, [[0.0], [np.nan]], y[:2]), r"x\[1, 0\] is nan"),
        (lambda: make(gs.rbf, x, [0.0, np.inf, 1.0]), r"y\[1\] is inf"),
        (lambda: make(gs.rbf, x, y, jitter=-1.0), "jitter is -1.0"),
        (lambda: make(gs.rbf.on(2), x, y), "column 2, but the points have 2"),
        (lambda: make(gs.rbf.rename(amplitude="sigma"), x, y), "has a hyperparameter 'sigma': rename it"),
        (lambda: ml(amplitude=1.0), "rbf needs lengthscale"),
        (lambda: ml(**given, nu=1.0), "no hyperparameter 'nu'"),
        (lambda: ml(amplitude=0.0, lengthscale=1.0), "amplitude is 0.0: it must be positive"),
        (lambda: ml(**given, sigma=-0.1), "sigma is -0.1"),
        (lambda: ml(**given, sigma=np.nan), "sigma is nan"),
        (lambda: ml(**given, sigma=[1.0, 2.0]), r"sigma has shape \(2,\): it must be a number or \(3,\)"),
        (lambda: ml(**given, mean=np.zeros((3, 2))), r"mean has shape \(3, 2\)"),
        (lambda: ml.value_and_grad(**given, wrt="nu"), "'nu' is none of amplitude, lengthscale, sigma, mean, x, y"),
        (lambda: ml.value_and_grad(**given, wrt=["x", "x"]), "wrt names x twice"),
        (lambda: ml.predict(np.zeros(4), **given), "xs has 1 columns, and x 2"),
        (lambda: ml.predict(np.zeros((4, 2)), **given, noise=-1.0), "noise is -1.0"),
        (lambda: ml.predict(np.zeros((4, 2)), **given, mean_xs=np.zeros(3)), r"mean_xs has shape \(3,\)"),
        (lambda: ml.predict(np.zeros((4, 2)), **given).interval(2.0), "between 0 and 1"),
    ]


@pytest.mark.parametrize("number", range(len(cases_of_errors())))
def test_errors(number):
    call, message = cases_of_errors()[number]
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_kinds():
    with pytest.raises(TypeError, match="must be a covariance function such as gs.rbf, not Density"):
        MarginalLikelihood(gs.normal, np.zeros(2), np.zeros(2))


def test_nan_at_new_points_gives_nan(rng):
    x, y = data(rng)
    p = MarginalLikelihood(gs.rbf, x, y).predict([[0.0, 1.0], [np.nan, 0.0]], amplitude=1.0, lengthscale=1.0, sigma=0.1)
    assert np.isfinite(p.mean[0]) and np.isnan(p.mean[1]) and np.isfinite(p.scale[0]) and np.isnan(p.scale[1])
