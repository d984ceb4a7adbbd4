"""Names of models in other packages, which the package does not have, and how they are written here."""

import re

import numpy as np
import pytest

import gpustats as gs
from gpustats.names.models import _HERE, _OF_GLM


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("logit", "gpustats.GLM(gpustats.bernoulli_logit, y, X).fit()"),
        ("Logit", "gpustats.GLM(gpustats.bernoulli_logit, y, X).fit()"),
        ("LogisticRegression", "gpustats.GLM(gpustats.bernoulli_logit, y, X).fit()"),
        ("probit", "gpustats.GLM(gpustats.bernoulli_probit, y, X).fit()"),
        ("binomial_regression", "gpustats.GLM(gpustats.binomial_logit, y, X).fit()"),
        ("OLS", "gpustats.GLM(gpustats.normal_identity, y, X).fit()"),
        ("poisson_regression", "gpustats.GLM(gpustats.poisson_log, y, X).fit()"),
        ("lmer", "gpustats.GLM.from_formula('y ~ x + (1 + x | group)', data, density).fit()"),
        ("GaussianProcessRegressor", "gpustats.gp.MarginalLikelihood(gpustats.rbf, x, y).fit()"),
        ("GaussianMixture", "gpustats.Mixture(gpustats.mvnormal, x).fit(components)"),
    ],
)
def test_terms_of_the_field(name, here):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': write {re.escape(here)}$"):
        getattr(gs, name)


def test_what_is_written_exists_and_no_name_hides_one():
    for here in _HERE.values():
        for path in re.findall(r"gpustats((?:\.\w+)+)", here):
            found = gs
            for part in path[1:].split("."):
                found = getattr(found, part)
    assert not {n.replace("_", "") for n in dir(gs) if n.islower()} & _HERE.keys()


@pytest.mark.parametrize("name", _OF_GLM)
def test_densities_of_a_linear_predictor(name):
    density = gs.densities[name]
    y = np.array([[1.0, 0.0], [0.0, 1.0]]) if gs.densities[name].definition.arguments[0].rank else np.array([1.0, 1.0])
    assert gs.GLM(density, y, np.ones((2, 1))).parameters
