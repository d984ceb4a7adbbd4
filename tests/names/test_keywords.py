"""Keyword arguments that fits do not have: what they are called, or what may be meant."""

import inspect

import numpy as np
import pytest

import gpustats as gs
from gpustats.names.keywords import ELSEWHERE

X = np.arange(1.0, 6.0)
COUNTS, DESIGN = np.array([1.0, 2.0, 6.0, 9.0]), np.array([[0.0], [1.0], [2.0], [3.0]])
MODELS = {
    "Density": gs.gamma,
    "Likelihood": gs.Likelihood(gs.normal, X),
    "Rows": gs.Rows(gs.normal, x=X),
    "GLM": gs.GLM(gs.poisson_log, COUNTS, DESIGN),
    "Mixture": gs.Mixture(gs.normal, X),
    "MarginalLikelihood": gs.gp.MarginalLikelihood(gs.rbf, X, X),
    "Vecchia": gs.gp.Vecchia(gs.rbf, X, X, neighbours=2),
}


def told(model, name):
    """What an error says of an argument, behind the method and the argument."""
    owner = type(model).__name__
    with pytest.raises(TypeError, match=rf"^{owner}.fit has no argument '{name}'") as error:
        model.fit(**{name: 1})
    return str(error.value).partition(f"'{name}'")[2]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_misspelled_and_unknown_arguments(model):
    assert told(model, "strat") == ": did you mean start?"
    assert told(model, "verbose") == ": here it is progress"
    assert told(model, "zzz") == f"; its arguments are {', '.join(inspect.signature(model.fit).parameters)}"


def test_abbreviations():
    """Letters of a name in their order, from the beginning of one of its words on."""
    for name in ("maxitr", "max_it", "iters"):
        assert told(MODELS["GLM"], name) == ": did you mean max_iterations?"
    for name in ("xit", "tol", "bo", "sdnuob"):
        assert told(MODELS["GLM"], name).startswith("; its arguments are random, ")


def test_effects_that_are_integrated_out():
    rows = gs.Rows(gs.normal, x=X, mu=gs.gather([0, 0, 1, 1, 1]))
    marginal = gs.LaplaceMarginal(rows, {"mu": gs.normal(0.0, "tau")})
    assert told(marginal, "max_iteration") == ": did you mean max_iterations?"


@pytest.mark.parametrize(
    ("model", "name", "advice"),
    [
        ("Density", "floc", "here it is fixed"),
        ("Density", "data", "here it is x"),
        ("Density", "sample_weight", "here it is weights"),
        ("Density", "bounds", "gpustats.Likelihood(density, x).fit has it"),
        ("Density", "alpha", "it is a parameter, so write start={'alpha': …}, or use fixed= where it is known"),
        ("GLM", "REML", "did you mean reml?"),
        ("GLM", "maxiter", "here it is max_iterations"),
        ("GLM", "beta", "it is a parameter, so write start={'beta': …}, or use fixed= where it is known"),
        ("Mixture", "n_components", "here it is components"),
        ("Mixture", "random_state", "here it is rng"),
        ("MarginalLikelihood", "max_iterations", "here it is options={'maxiter': …}"),
        ("MarginalLikelihood", "n_restarts_optimizer", "here it is restarts"),
        ("Vecchia", "lengthscale", "it is a parameter, so write start={'lengthscale': …}, or use fixed= where it is known"),
    ],
)
def test_arguments_of_other_packages_and_parameters(model, name, advice):
    assert told(MODELS[model], name) == f": {advice}"


def test_every_name_leads_to_an_argument_of_some_fit():
    known = {name for model in MODELS.values() for name in inspect.signature(model.fit).parameters}
    assert {own.partition("=")[0] for of_name in ELSEWHERE.values() for own in of_name} <= known


def test_what_is_known_is_taken_and_errors_of_python_stay():
    assert MODELS["GLM"].fit(max_iterations=50).converged
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        MODELS["GLM"].fit(X)
