"""Covariance functions and their sums over pairs of points, against scikit-learn and finite differences."""

import pickle

import numpy as np
import pytest
from sklearn.gaussian_process import kernels
from thorough import some

import gpustats as gs
from gpustats.linalg.matrix import Matrix
from gpustats.processes.hyperparameters import Hyperparameters
from gpustats.processes.pairs import Pairs
from gpustats.runtime import choose

SPECTRAL = """
// spectral: a cosine under a Gaussian window, one component of a spectral mixture
// sqdist: nonnegative    amplitude: positive    scale: positive    frequency: nonnegative
// source: Wilson & Adams (2013), eq. 12
__device__ real spectral_cov(real sqdist, real amplitude, real scale, real frequency)
{
    return amplitude * amplitude * exp(-0.5 * sqdist / (scale * scale)) * cos(2 * PI * frequency * sqrt(sqdist));
}
"""
# name -> values for points of 3 columns, and scikit-learn's kernel (without the squared amplitude)
CASES = {
    "rbf": (dict(lengthscale=0.7), kernels.RBF(0.7)),
    "matern12": (dict(lengthscale=[0.7, 1.0, 3.0]), kernels.Matern([0.7, 1.0, 3.0], nu=0.5)),
    "matern32": (dict(lengthscale=[0.7, 1.0, 3.0]), kernels.Matern([0.7, 1.0, 3.0], nu=1.5)),
    "matern52": (dict(lengthscale=0.9), kernels.Matern(0.9, nu=2.5)),
    "rational_quadratic": (dict(lengthscale=0.7, alpha=0.3), kernels.RationalQuadratic(0.7, 0.3)),
    "periodic": (dict(lengthscale=0.7, period=1.3), kernels.ExpSineSquared(0.7, 1.3)),
    "constant": ({}, kernels.ConstantKernel(1.0)),
}


def composed():
    """A sum of products of functions of some columns."""
    local = gs.rbf.on(0, 1) * gs.periodic.fix(amplitude=1.0).on(2).rename(lengthscale="rough")
    return local + gs.linear.rename(lengthscale="slope")


COMPOSED = dict(amplitude=2.0, lengthscale=[0.5, 0.6, 1.0], rough=0.8, period=2.0, slope=[3.0, 2.0, 1.0])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equals_sklearn(name, dtype, rng):
    values, kernel = CASES[name]
    cov, bound = getattr(gs, name), 1e-12 if dtype == np.float64 else 2e-5
    for n, m in ((70, 45), (1, 1), (33, 2)):
        x, y = rng.normal(size=(n, 3)).astype(dtype), rng.normal(size=(m, 3)).astype(dtype)
        for got, want in ((cov(x, y, amplitude=1.5, **values), kernel(x, y)), (cov(x, amplitude=1.5, **values), kernel(x))):
            assert got.dtype == dtype
            np.testing.assert_allclose(got, 1.5**2 * want, rtol=bound, atol=bound)


def test_linear(rng):
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(7, 2))
    np.testing.assert_allclose(gs.linear(x, y, lengthscale=2.0), x @ y.T / 4, rtol=1e-12, atol=1e-14)
    by_column = gs.linear(x, y, lengthscale=[2.0, 3.0])
    np.testing.assert_allclose(by_column, x @ np.diag([1 / 4, 1 / 9]) @ y.T, rtol=1e-12, atol=1e-14)


def test_composed(rng):
    x, y = rng.normal(size=(70, 3)), rng.normal(size=(45, 3))
    local = kernels.RBF([0.5, 0.6])(x[:, :2], y[:, :2]) * kernels.ExpSineSquared(0.8, 2.0)(x[:, 2:], y[:, 2:])
    want = 4 * local + x @ np.diag([1 / 9, 1 / 4, 1.0]) @ y.T
    np.testing.assert_allclose(composed()(x, y, **COMPOSED), want, rtol=1e-12, atol=1e-13)
    assert composed().parameters == ("amplitude", "lengthscale", "rough", "period", "slope")


def test_kinds_of_points(rng):
    x = rng.normal(size=(9, 2))
    want = gs.rbf(x, amplitude=1.0, lengthscale=1.0)
    for same in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x.tolist()):
        np.testing.assert_array_equal(gs.rbf(same, amplitude=1.0, lengthscale=1.0), want)
    device = gs.rbf(gs.to_device(x), amplitude=1.0, lengthscale=1.0)
    assert not isinstance(device, np.ndarray)
    np.testing.assert_array_equal(gs.to_host(device), want)
    np.testing.assert_array_equal(gs.rbf([0.0, 2.0], amplitude=2.0, lengthscale=1.0)[0], 4 * np.exp([0.0, -2.0]))
    assert gs.rbf(x[:0], x, amplitude=1.0, lengthscale=1.0).shape == (0, 9)
    assert np.isnan(gs.rbf([np.nan, 1.0], amplitude=1.0, lengthscale=1.0)).tolist() == [[True, True], [True, False]]


def test_registered(rng):
    cov = gs.register(SPECTRAL)
    x = rng.normal(size=(20, 2))
    r = np.sqrt(((x[:, None] - x) ** 2).sum(-1))
    want = 4 * np.exp(-0.5 * (r / 0.8) ** 2) * np.cos(2 * np.pi * 0.3 * r)
    np.testing.assert_allclose(cov(x, amplitude=2.0, scale=0.8, frequency=0.3), want, rtol=1e-11, atol=1e-12)
    assert "spectral" in gs.covariances and gs.covariances["spectral"] is cov
    both = cov.rename(amplitude="wave") + gs.rbf
    got = both(x, wave=2.0, scale=0.8, frequency=0.3, amplitude=0.5, lengthscale=1.0)
    np.testing.assert_allclose(got, want + 0.25 * np.exp(-0.5 * r**2), rtol=1e-11, atol=1e-12)


def test_derivatives_as_matrices(rng):
    """`Grad` of a sum of products, in every hyperparameter; its second derivative; that in the squared distance."""
    grad, x = gs.transforms.Grad, rng.normal(size=(6, 2))
    seasonal = gs.periodic.fix(amplitude=1.0).on(1).rename(lengthscale="rough")
    cov = gs.rbf.on(0) * seasonal + gs.linear.rename(lengthscale="slope")
    values = dict(amplitude=1.3, lengthscale=0.7, rough=0.4, period=1.7, slope=2.0)
    for name in cov.parameters:
        up, down = (cov(x, **{**values, name: values[name] + h}) for h in (1e-6, -1e-6))
        np.testing.assert_allclose(grad(cov, name)(x, **values), (up - down) / 2e-6, rtol=1e-6, atol=1e-8)
    squares = ((x[:, None] - x) ** 2).sum(-1)
    twice = grad(grad(gs.rbf, "amplitude"), "amplitude")(x, amplitude=2.0, lengthscale=1.5)
    np.testing.assert_allclose(twice, 2 * np.exp(-squares / 4.5), rtol=1e-12)
    slope = grad(gs.matern32)(x, amplitude=1.0, lengthscale=0.8)
    np.testing.assert_allclose(slope, -1.5 / 0.64 * np.exp(-np.sqrt(3 * squares) / 0.8), rtol=1e-12)
    scaled = grad(gs.rbf, "amplitude")(x, amplitude=1.0, lengthscale=[1.0, 2.0])
    np.testing.assert_allclose(scaled, 2 * gs.rbf(x, amplitude=1.0, lengthscale=[1.0, 2.0]), rtol=1e-12)
    with pytest.raises(ValueError, match="no argument 'tau'; its arguments are sqdist, amplitude, lengthscale"):
        grad(gs.rbf, "tau")


def test_pickles(rng):
    x = rng.normal(size=(5, 3))
    for cov, values in ((gs.rbf, dict(amplitude=1.0, lengthscale=2.0)), (composed(), COMPOSED)):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(cov))(x, **values), cov(x, **values))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: gs.rbf + gs.matern12, "both have a hyperparameter 'amplitude'"),
        (lambda: gs.rbf.rename(width="w"), "rbf has no hyperparameter 'width'"),
        (lambda: gs.rbf.rename(lengthscale="amplitude"), "same name"),
        (lambda: gs.rbf.rename(lengthscale="a b"), "cannot be the name"),
        (lambda: gs.rbf.rename(lengthscale="short"), "a word of C cannot be the name of a hyperparameter: short"),
        (lambda: gs.rbf.fix(amplitude=-1.0), "amplitude is -1.0: it must be positive"),
        (lambda: gs.rbf.on(0, 0), "different numbers"),
        (lambda: gs.rbf.on(0).on(1), "chosen already"),
        (lambda: gs.rbf.on(3)(np.zeros((2, 2)), amplitude=1.0, lengthscale=1.0), "column 3, but the points have 2"),
        (lambda: gs.rbf(np.zeros(2), amplitude=1.0), "rbf needs lengthscale"),
        (lambda: gs.rbf(np.zeros(2), amplitude=1.0, lengthscale=1.0, nu=2.0), "no hyperparameter 'nu'"),
        (lambda: gs.rbf(np.zeros(2), amplitude=1.0, lengthscale=np.nan), "lengthscale is nan"),
        (lambda: gs.rbf(np.zeros((2, 2)), amplitude=1.0, lengthscale=[1.0, 2.0, 3.0]), r"\(2,\) for points of 2 columns"),
        (lambda: gs.rbf(np.zeros((2, 2)), amplitude=[1.0, 1.0], lengthscale=1.0), "amplitude has shape"),
        (lambda: gs.periodic(np.zeros((2, 2)), amplitude=1.0, lengthscale=[1.0, 1.0], period=1.0), "must be a number"),
        (lambda: gs.rbf(np.zeros((2, 2)), np.zeros((2, 3)), amplitude=1.0, lengthscale=1.0), "2 columns, and x2 3"),
        (lambda: gs.rbf(np.zeros((2, 2, 2)), amplitude=1.0, lengthscale=1.0), r"x has shape \(2, 2, 2\)"),
    ],
)  # fmt: skip
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_sums_are_not_of_anything_else():
    with pytest.raises(TypeError, match="covariance functions, not int"):
        gs.rbf + 1


SUMS = [
    (gs.rbf, 70, 3, dict(amplitude=1.5, lengthscale=0.7)),
    (gs.rbf, 70, 11, dict(amplitude=1.5, lengthscale=np.linspace(0.7, 3, 11))),
    (gs.matern12, 33, 2, dict(amplitude=1.5, lengthscale=[0.7, 1.2])),
    (gs.matern32, 5, 1, dict(amplitude=1.5, lengthscale=0.7)),
    (gs.matern52, 1, 2, dict(amplitude=1.5, lengthscale=[0.7, 1.2])),
    (gs.linear, 40, 3, dict(lengthscale=[1.0, 2.0, 3.0])),
    (gs.periodic, 40, 2, dict(amplitude=1.0, lengthscale=0.8, period=1.3)),
    (gs.rational_quadratic, 40, 2, dict(amplitude=1.0, lengthscale=0.8, alpha=1.3)),
    (composed(), 50, 3, COMPOSED),
]


@pytest.mark.parametrize("cov, n, p, values", some(SUMS, 2), ids=[f"{s[0].name}-{s[1]}-{s[2]}" for s in SUMS])
def test_sums_of_derivatives(cov, n, p, values, rng):
    """The derivatives of sum(W * K) by finite differences, with a diagonal that counts more often."""
    x, symmetric, alpha = rng.normal(size=(n, p)), rng.normal(size=(n, n)), rng.normal(size=n)
    symmetric, weight, lift = symmetric + symmetric.T, 1.7, 1.3
    W = 0.5 * (weight * np.outer(alpha, alpha) - symmetric)
    counted = W * np.where(np.eye(n), lift, 1)
    runtime, given = choose.get(), Hyperparameters(cov, p, values)
    pairs = Pairs(cov, runtime, np.dtype(float), p, tuple(given.vectors))
    own = x, alpha, np.array([weight])
    if not runtime.host_visible:
        own = tuple(map(runtime.to_device, own))
    at = own[0], given, Matrix.over(runtime, runtime.to_device(symmetric)), *own[1:]
    gradient, trace, diagonal = pairs.gradient(*at, cov.parameters, lift)
    np.testing.assert_allclose(trace, np.trace(W), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(gs.to_host(diagonal), np.diag(W), rtol=1e-12)

    def slope(function, value, step=1e-6):
        value = np.asarray(value, float)
        steps = [step * np.eye(value.size)[i].reshape(value.shape) for i in range(value.size)]
        return np.reshape([(function(value + h) - function(value - h)) / (2 * step) for h in steps], value.shape)

    scale = max(1.0, *(np.abs(g).max() for g in gradient.values()))
    for name in cov.parameters:
        want = slope(lambda v, name=name: (counted * cov(x, **{**values, name: v})).sum(), values[name])
        np.testing.assert_allclose(gradient[name], want, rtol=1e-6, atol=2e-8 * scale)
    got, i = gs.to_host(pairs.points_gradient(at[0], *at, lift)), n // 2

    def moved(row):
        return (counted * cov(np.concatenate([x[:i], row[None], x[i + 1 :]]), **values)).sum()

    np.testing.assert_allclose(got[i], slope(moved, x[i]), rtol=1e-6, atol=2e-7 * scale)
    again = pairs.gradient(*at, cov.parameters, lift)[0]
    assert all(np.array_equal(again[n], gradient[n]) for n in gradient)
