"""Draws of labels."""

import numpy as np
import pytest
from references_mixture import EXAMPLES, covariances, normal, weights
from scipy import special, stats
from thorough import some

import gpustats as gs


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", some([1, 2, 5, 70], 2))
def test_frequencies_of_labels(k, dtype, rng):
    points, parameters, table = normal(rng, 4, k, dtype)
    log_weights, n = weights(rng, k, dtype), 30_000
    labels = gs.Mixture(gs.normal, np.repeat(points, n)).assign(log_weights, *parameters, rng=k)
    assert labels.dtype == np.int32 and labels.shape == (4 * n,)
    for own, terms in zip(labels.reshape(4, n), table + log_weights, strict=True):
        expected = n * special.softmax(terms)
        counts = np.bincount(own, minlength=k)
        often = expected > 10
        got = np.append(counts[often], counts[~often].sum())
        want = np.append(expected[often], expected[~often].sum())
        chi2 = ((got - want)[want > 0] ** 2 / want[want > 0]).sum()
        assert stats.chi2.sf(chi2, max(1, often.sum())) > 1e-5


def test_labels_of_vectors(rng):
    mu, n = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]]), 30_000
    log_weights, cov = np.log([0.5, 0.25, 0.25]), covariances(rng, 3, 2)
    x = np.tile([0.5, 0.5], (n, 1))
    labels = gs.Mixture(gs.mvnormal, x).assign(log_weights, mu, cov, rng=2)
    shares = gs.Mixture(gs.mvnormal, x[:1]).responsibilities(log_weights, mu, cov)[0]
    assert stats.chisquare(np.bincount(labels, minlength=3), n * shares / shares.sum()).pvalue > 1e-5


@pytest.mark.parametrize("name", ["normal", "mvnormal"])
def test_draws_depend_on_the_seed_and_the_number_of_the_draw(name, rng):
    x, parameters, _ = EXAMPLES[name](rng, 1001, 6, np.float64)
    log_weights, density = weights(rng, 6), gs.densities[name]
    labels = gs.Mixture(density, x).assign(log_weights, *parameters, rng=7)
    assert np.array_equal(gs.Mixture(density, x).assign(log_weights, *parameters, rng=7), labels)
    assert not np.array_equal(gs.Mixture(density, x).assign(log_weights, *parameters, rng=8), labels)
    generator = gs.Generator(7)
    parts = [gs.Mixture(density, part).assign(log_weights, *parameters, rng=generator) for part in (x[:333], x[333:])]
    assert np.array_equal(np.concatenate(parts), labels)
    again = gs.Mixture(density, x)
    assert not np.array_equal(again.assign(log_weights, *parameters), again.assign(log_weights, *parameters))


def test_labels_are_independent(rng):
    """Neighbouring observations, and the draws of neighbouring components, share nothing."""
    n = 100_000
    labels = gs.Mixture(gs.normal, np.zeros(n)).assign(np.zeros(8), np.zeros(8), 1.0, rng=1)
    assert stats.chisquare(np.bincount(8 * labels[:-1] + labels[1:], minlength=64)).pvalue > 1e-5
