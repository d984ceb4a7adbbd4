"""Many sets of coefficients at once, through products of matrices."""

import numpy as np
import pytest
from scipy import special, stats
from thorough import double_first, some

import gpustats as gs
from gpustats.glm import kernel
from gpustats.glm.task import Computation

SETS = (1, 2, 3, 8, 9, 16, 17, 40)


@pytest.fixture
def device(multiplying, monkeypatch):
    """A device all of whose kernels must be those that multiply matrices."""
    monkeypatch.setattr(kernel, "layout_for", lambda *_: pytest.fail("another kernel"))
    return multiplying.device


def logistic(rng, n, k, dtype=float):
    X, y = rng.normal(size=(n, k)).astype(dtype), rng.integers(0, 2, n)
    return X, y, gs.GLM(gs.bernoulli_logit, y, X)


def parameters(rng, sets, k, dtype=float):
    return (rng.normal(size=(sets, k)) / np.sqrt(k)).astype(dtype), rng.normal(size=(sets, 1)).astype(dtype)


def check(got, want, dtype=float):
    rtol = 1e-12 if dtype is float else 1e-6
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.abs(want).max())


@double_first
@pytest.mark.parametrize("n, k", some([(1, 1), (33, 3), (70, 8), (130, 17), (64, 50), (90, 65), (5, 129), (20, 200)], 2))
def test_values_and_gradients(device, n, k, dtype, rng):
    X, y, glm = logistic(rng, n, k, dtype)
    for sets in (2, 20):
        beta, alpha = parameters(rng, sets, k, dtype)
        value, gradient = glm.value_and_grad(beta, alpha)
        eta = beta.astype(float) @ X.T.astype(float) + alpha
        slope = y - special.expit(eta)
        check(value, special.log_expit(np.where(y, eta, -eta)).sum(1), dtype)
        check(gradient["beta"], slope @ X.astype(float), dtype)
        check(gradient["alpha"], slope.sum(1, keepdims=True), dtype)
        check(glm(beta, alpha), value, dtype)
        np.testing.assert_allclose(glm.linear_predictor(beta, alpha), eta, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("k", [5, 150])
def test_a_set_has_the_same_bits_among_any_others(device, k, rng):
    _, _, glm = logistic(rng, 300, k)
    beta, alpha = parameters(rng, max(SETS), k)
    value, gradient = glm.value_and_grad(beta, alpha)
    for sets in SETS:
        for start in {0, max(SETS) - sets}:
            here = slice(start, start + sets)
            found = glm.value_and_grad(beta[here], alpha[here])
            np.testing.assert_array_equal(found[0], value[here])
            for name in gradient:
                np.testing.assert_array_equal(found[1][name], gradient[name][here])
    copies = glm.value_and_grad(np.repeat(beta[:1], 11, 0), np.repeat(alpha[:1], 11, 0))
    np.testing.assert_array_equal(copies[0], np.repeat(value[:1], 11))
    np.testing.assert_array_equal(copies[1]["beta"], np.repeat(gradient["beta"][:1], 11, 0))


@pytest.mark.parametrize("worst", [np.nan, np.inf, -np.inf, 1e300])
def test_what_is_not_finite_stays_in_its_set(device, worst, rng):
    _, _, glm = logistic(rng, 45, 6)
    beta, alpha = parameters(rng, 12, 6)
    value, gradient = glm.value_and_grad(beta, alpha)
    beta[5, 2], alpha[9] = worst, worst
    found = glm.value_and_grad(beta, alpha)
    others = np.delete(np.arange(12), [5, 9])
    np.testing.assert_array_equal(found[0][others], value[others])
    np.testing.assert_array_equal(found[1]["beta"][others], gradient["beta"][others])
    assert not np.isfinite(found[0][[5, 9]]).any() or worst == 1e300


def test_what_is_not_finite_in_a_row_reaches_all_sets_in_its_columns(device, rng):
    X, y, _ = logistic(rng, 45, 6)
    X[44, 1] = np.inf
    beta, alpha = np.abs(parameters(rng, 3, 6)[0]), np.zeros((3, 1))
    y[44] = 1  # eta is inf, the density 1, the slope 0
    value, gradient = gs.GLM(gs.bernoulli_logit, y, X).value_and_grad(beta, alpha)
    without = gs.GLM(gs.bernoulli_logit, y[:44], X[:44]).value_and_grad(beta, alpha)
    check(value, without[0])
    assert np.isnan(gradient["beta"][:, 1]).all()
    kept = [0, 2, 3, 4, 5]
    check(gradient["beta"][:, kept], without[1]["beta"][:, kept])


def test_offsets_weights_groups_and_parameters_by_set(device, rng):
    n, k, sets = 77, 4, 10
    X, groups = rng.normal(size=(n, k)), rng.integers(0, 5, n)
    offset, weights = rng.normal(size=n), rng.uniform(0, 2, n)
    beta, alpha, sigma = rng.normal(size=(sets, k)), rng.normal(size=(sets, 5)), rng.uniform(1, 2, (sets, 1))
    y = rng.normal(size=n)
    glm = gs.GLM(gs.normal_identity, y, X, offset=offset, weights=weights, groups=groups)
    value, gradient = glm.value_and_grad(beta, alpha, sigma)
    mean = beta @ X.T + alpha[:, groups] + offset
    check(value, (weights * stats.norm.logpdf(y, mean, sigma)).sum(1))
    slope = weights * (y - mean) / sigma**2
    check(gradient["beta"], slope @ X)
    check(gradient["alpha"], np.stack([slope[:, groups == g].sum(1) for g in range(5)], 1))
    check(gradient["sigma"], (weights * ((y - mean) ** 2 / sigma**3 - 1 / sigma)).sum(1, keepdims=True))
    by_row = rng.uniform(1, 2, (sets, n))
    value, gradient = gs.GLM(gs.normal_identity, y, X).value_and_grad(beta, 0.5, by_row)
    z = (y - beta @ X.T - 0.5) / by_row
    check(value, stats.norm.logpdf(z).sum(1) - np.log(by_row).sum(1))
    check(gradient["sigma"], (z * z - 1) / by_row)
    check(gradient["beta"], (z / by_row) @ X)


def test_counts(device, rng):
    X, y = rng.normal(size=(50, 3)), rng.poisson(3.0, 50)
    beta = rng.normal(size=(30, 3)) / 2
    value, gradient = gs.GLM(gs.poisson_log, y, X).value_and_grad(beta, 1.0)
    eta = beta @ X.T + 1
    check(value, stats.poisson.logpmf(y, np.exp(eta)).sum(1))
    check(gradient["beta"], (y - np.exp(eta)) @ X)


def test_layouts_of_a_number_of_columns_add_in_the_same_order(device):
    for columns in (1, 20, 50, 100, 200):
        computation = Computation(columns, 1, False, sums=("value",), gradient=True)
        for itemsize in (4, 8):
            made = [kernel.layout_of(device, computation, itemsize, sets, True, True) for sets in SETS]
            assert len({(m.tile, m.lanes, m.row_blocks(device, 10**6)) for m in made}) == 1
