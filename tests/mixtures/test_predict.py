"""The most probable component of each observation, beside scikit-learn's and SciPy's."""

import re

import numpy as np
import pytest
from references_mixture import EXAMPLES, weights
from sklearn.mixture import GaussianMixture

import gpustats as gs


@pytest.fixture
def points(rng):
    """Observations of three overlapping normals in the plane."""
    return np.concatenate([rng.normal(c, 1.0, (200, 2)) for c in ([0, 0], [2, 1], [0, 3])])


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 7, 70])
def test_the_largest_of_scipys_densities(name, dtype, k, rng):
    x, parameters, table = EXAMPLES[name](rng, 301, k, dtype)
    log_weights = weights(rng, k, dtype)
    labels = gs.Mixture(gs.densities[name], x).predict(log_weights, *parameters)
    terms = table + log_weights
    assert labels.dtype == np.int32 and labels.shape == (301,)
    sorted_terms = np.sort(terms, 1)
    clear = np.ones(301, bool) if k == 1 else sorted_terms[:, -1] - sorted_terms[:, -2] > 1e-3  # of float32, too
    assert clear.mean() > 0.8
    np.testing.assert_array_equal(labels[clear], terms.argmax(1)[clear])


def test_scikit_learns_labels(points):
    theirs = GaussianMixture(3, random_state=1).fit(points)
    mixture, own = gs.Mixture(gs.mvnormal, points), (np.log(theirs.weights_), theirs.means_, theirs.covariances_)
    np.testing.assert_array_equal(mixture.predict(*own), theirs.predict(points))
    np.testing.assert_allclose(mixture.responsibilities(*own), theirs.predict_proba(points), atol=1e-9)


def test_a_fit_labels_its_own_and_new_observations(points, rng):
    fit = gs.Mixture(gs.mvnormal, points).fit(3, rng=1)
    start = {"weights_init": np.exp(fit["log_weights"]), "means_init": fit["mu"]}
    theirs = GaussianMixture(3, **start, tol=1e-9, max_iter=500).fit(points)
    assert np.mean(fit.predict() == theirs.predict(points)) > 0.99
    new = rng.normal(1, 2, (50, 2))
    np.testing.assert_array_equal(fit.predict(new), gs.Mixture(gs.mvnormal, new).predict(**fit.parameters))


def test_observations_without_a_component():
    ties = gs.Mixture(gs.exponential, [-1.0, 0.5, np.nan, 9.0])
    np.testing.assert_array_equal(ties.predict(np.log([0.5, 0.5]), np.array([2.0, 2.0])), [-1, 0, -1, 0])  # the first of equals
    with np.errstate(divide="ignore"):
        without = np.log([0.0, 1.0])
    np.testing.assert_array_equal(ties.predict(without, np.array([-1.0, 2.0])), [-1, 1, -1, 1])
    infinite = gs.Mixture(gs.gamma, [0.0, 1.0])
    np.testing.assert_array_equal(infinite.predict(np.log([0.9, 0.1]), np.array([2.0, 0.5]), 1.0), [1, 0])
    assert gs.Mixture(gs.normal, np.zeros(0)).predict(np.zeros(2), np.zeros(2), 1.0).shape == (0,)


@pytest.mark.parametrize(
    ("name", "of_mixture", "of_fit"),
    [
        ("labels_", "it has .predict(log_weights, …)", "they have .predict()"),
        ("classify", "it has .predict(log_weights, …)", "they have .predict()"),
        ("predict_proba", "it has .responsibilities(log_weights, …)", "the mixture has .responsibilities(**fit.parameters)"),
        ("score_samples", "it has .logpdf(log_weights, …)", "the mixture has .logpdf(**fit.parameters)"),
        ("means_", "fit().parameters", "they have .parameters"),
    ],
)
def test_names_of_others(name, of_mixture, of_fit):
    mixture = gs.Mixture(gs.normal, np.array([0.0, 0.1, 0.3, 4.0, 5.0, 4.5]))
    with pytest.raises(AttributeError, match=re.escape(of_mixture)):
        getattr(mixture, name)
    with pytest.raises(AttributeError, match=re.escape(of_fit)):
        getattr(mixture.fit(2), name)
