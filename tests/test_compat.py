"""The names of the first gpustats, against scipy.stats."""

import inspect

import numpy as np
import pytest
from scipy import stats

import gpustats as gs
from gpustats.runtime import arrays

compat = gs.compat


def normals(rng, n, k, d):
    roots = rng.normal(size=(k, d, d))
    covs = roots @ roots.swapaxes(1, 2) + np.eye(d)
    return rng.normal(size=(n, d)), rng.normal(size=(k, d)), covs, rng.dirichlet(np.ones(k))


def reference(data, means, covs, weights=None):
    columns = [np.atleast_1d(stats.multivariate_normal.logpdf(data, m, c)) for m, c in zip(means, covs)]
    return np.stack(columns, 1) + (0 if weights is None else np.log(weights))


def assert_order(array, order):
    assert array.flags.f_contiguous if order == "F" else array.flags.c_contiguous


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        ("normpdf", "x, mean, std, logged=True, get=True"),
        ("normpdf_multi", "x, means, std, logged=True, get=True"),
        ("mvnpdf", "data, mean, cov, weight=None, logged=True, get=True, order='F', datadim=None"),
        ("mvnpdf_multi", "data, means, covs, weights=None, logged=True, get=True, order='F', datadim=None"),
        ("sample_discrete", "densities, logged=False, pad=False, return_gpuarray=False"),
    ],
)
def test_arguments_are_as_they_were(function, signature):
    parameters = inspect.signature(getattr(compat, function)).parameters.values()
    assert ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters) == signature


@pytest.mark.parametrize("logged", [True, False])
@pytest.mark.parametrize("n", [0, 1, 2000])
def test_normal(n, logged, rng):
    x, means, std = rng.normal(size=n) * 3, rng.normal(size=5), rng.uniform(0.5, 4, 5)
    of = stats.norm.logpdf if logged else stats.norm.pdf
    table = compat.normpdf_multi(x, means, std, logged=logged)
    np.testing.assert_allclose(table, of(x[:, None], means, std), rtol=1e-12)
    assert_order(table, "F")
    np.testing.assert_allclose(compat.normpdf(x, 0.5, 2.5, logged), of(x, 0.5, 2.5), rtol=1e-12)


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("logged", [True, False])
@pytest.mark.parametrize(("n", "k", "d"), [(1000, 4, 3), (200, 1, 16), (1, 7, 2), (0, 2, 2), (50, 3, 25)])
def test_multivariate_normal(n, k, d, logged, weighted, order, rng):
    data, means, covs, weights = normals(rng, n, k, d)
    weights = weights if weighted else None
    want = reference(data, means, covs, weights)
    want = want if logged else np.exp(want)
    for given in (data, gs.to_device(data)):
        got = compat.mvnpdf_multi(given, list(means), list(covs), weights, logged=logged, order=order)
        assert isinstance(got, np.ndarray) and got.shape == (n, k)
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
        assert_order(got, order)
        stays = compat.mvnpdf_multi(given, means, covs, weights, logged, get=False, order=order)
        assert arrays.is_device_array(stays) and stays.shape == (n, k)
        assert_order(stays, order)
        np.testing.assert_array_equal(stays.get(), got)
    one = compat.mvnpdf(data, means[0], covs[0], None if weights is None else weights[0], logged, order=order)
    np.testing.assert_array_equal(one, got[:, 0])


def test_padded_data(rng):
    data, means, covs, _ = normals(rng, 100, 3, 5)
    padded = np.zeros((100, 16))
    padded[:, :5] = data
    want = compat.mvnpdf_multi(data, means, covs)
    for order in "FC":
        for given in (padded, gs.to_device(padded)):
            np.testing.assert_array_equal(compat.mvnpdf_multi(given, means, covs, order=order, datadim=5), want)


def test_the_type_is_that_of_the_data(rng):
    x = rng.normal(size=20).astype(np.float32)
    for get in (True, False):
        assert compat.normpdf(x, 0.0, 1.0, get=get).dtype == np.float32
        assert compat.mvnpdf(x.reshape(10, 2), [0.0, 0.0], np.eye(2), 0.5, get=get).dtype == np.float32
    assert compat.normpdf(np.arange(3), 0.0, 1.0).dtype == np.float64


def test_weights_of_zero_and_nan(rng):
    data, means, covs, _ = normals(rng, 5, 2, 2)
    data[3] = np.nan
    got = compat.mvnpdf_multi(data, means, covs, weights=[0.0, 2.0])
    assert (got[:, 0] == -np.inf).all()
    assert np.isnan(got[3, 1]) and np.isfinite(np.delete(got[:, 1], 3)).all()


@pytest.mark.parametrize("logged", [True, False])
@pytest.mark.parametrize("kind", ["ndarray", "fortran", "device"])
def test_discrete_draws(kind, logged, rng):
    p = rng.dirichlet(np.ones(6))
    rows = np.tile(np.log(p) - 900 if logged else 7 * p, (20_000, 1))
    given = {"ndarray": rows, "fortran": np.asfortranarray(rows), "device": gs.to_device(rows)}[kind]
    np.random.seed(1)  # noqa: NPY002
    labels = compat.sample_discrete(given, logged=logged)
    assert labels.shape == (20_000,) and labels.dtype == np.int32
    assert stats.chisquare(np.bincount(labels, minlength=6), 20_000 * p).pvalue > 1e-4
    assert not np.array_equal(compat.sample_discrete(given, logged, pad=True), labels)
    np.random.seed(1)  # noqa: NPY002
    on_device = compat.sample_discrete(given, logged, return_gpuarray=True)
    assert arrays.is_device_array(on_device)
    np.testing.assert_array_equal(on_device.get(), labels)


def test_labels_from_densities_that_stay_on_the_device(rng):
    """What the first gpustats was made for: the labels of a mixture's data."""
    data, means, covs, weights = normals(rng, 5000, 3, 2)
    densities = compat.mvnpdf_multi(gs.to_device(data), means, covs, weights, get=False)
    labels = compat.sample_discrete(densities, logged=True)
    shares = np.exp(densities.get() - np.logaddexp.reduce(densities.get(), 1)[:, None])
    observed = np.bincount(labels, minlength=3)
    spread = np.sqrt((shares * (1 - shares)).sum(0))
    assert (abs(observed - shares.sum(0)) < 4 * spread).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compat.normpdf(np.zeros((3, 2)), 0.0, 1.0), r"x has shape \(3, 2\): it must be \(N,\)"),
        (lambda: compat.normpdf_multi(np.zeros(3), [0.0, 1.0], [1.0]), r"as many of each: means \(2,\), std \(1,\)"),
        (lambda: compat.mvnpdf_multi(np.zeros(3), [[0.0]], [[[1.0]]]), r"data has shape \(3,\): it must be \(N, d\)"),
        (lambda: compat.mvnpdf(np.zeros((3, 2)), np.zeros(3), np.eye(3)), r"means has shape \(1, 3\).*data has shape \(3, 2\)"),
        (lambda: compat.mvnpdf(np.zeros((3, 2)), np.zeros(2), np.eye(2), weight=-1.0), "weights must not be negative"),
        (lambda: compat.mvnpdf(np.zeros((3, 2)), np.zeros(2), np.eye(2), order="A"), "order must be 'F' or 'C', not 'A'"),
        (lambda: compat.mvnpdf(np.zeros((3, 2)), np.zeros(2), np.eye(2), datadim=3), "datadim is 3, but data has shape"),
        (lambda: compat.sample_discrete(np.ones(3)), r"densities has shape \(3,\): it must be \(N, K\)"),
        (lambda: compat.sample_discrete(np.zeros((2, 3))), "no positive weight"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
