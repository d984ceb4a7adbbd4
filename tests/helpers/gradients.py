"""Which densities have derivatives, and these derivatives at one set of parameters."""

import pytest
from references_all import REFERENCES

import gpustats as gs


def differentiable(density):
    """Names of all arguments that have derivatives, the observation included."""
    return tuple(name for name, domain in density.domains.items() if "integer" not in domain.split())


SMOOTH = [name for name in REFERENCES if differentiable(gs.densities[name])]
each_density = pytest.mark.parametrize("name", SMOOTH)


def gradient(name, *args):
    """The gradient in everything that can be differentiated; elementwise where all arguments have as many rows."""
    density = gs.densities[name]
    return density.loglik_and_grad(*args, wrt=differentiable(density))[1]
