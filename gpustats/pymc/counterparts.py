"""Random variables of PyMC for the densities that gpustats ships, for starting points, means and quantiles."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.graph.basic import Variable

from ..compiler.evaluation.formula import Formula
from ..compiler.graph.types import TensorVariable
from ..density import Density
from ..language.kinds import DENSITY
from ..language.library import library
from ..language.special import folder
from ..names.pymc import class_name

#: density -> function of its parameters that makes PyMC's random variable; for all others both have the same names. None where
#: PyMC's takes more than these, no variables, or needs what may not be installed: the density's own functions have the answers.
COUNTERPARTS: dict[str, Callable[..., TensorVariable] | None] = {
    "bernoulli_cloglog": lambda eta, **k: pm.Bernoulli.dist(p=-pt.expm1(-pt.exp(eta)), **k),
    "bernoulli_logit": lambda eta, **k: pm.Bernoulli.dist(logit_p=eta, **k),
    "bernoulli_probit": lambda eta, **k: pm.Bernoulli.dist(p=0.5 * pt.erfc(-eta / np.sqrt(2)), **k),
    "beta_logit": lambda eta, phi, **k: pm.Beta.dist(mu=pt.sigmoid(eta), nu=phi, **k),
    "binomial_logit": lambda n, eta, **k: pm.Binomial.dist(n=n, logit_p=eta, **k),
    "categorical_logit": lambda eta, **k: pm.Categorical.dist(logit_p=eta, **k),
    "gamma_log": lambda eta, nu, **k: pm.Gamma.dist(alpha=nu, beta=nu * pt.exp(-eta), **k),
    "negative_binomial_log": lambda eta, phi, **k: pm.NegativeBinomial.dist(mu=pt.exp(eta), alpha=phi, **k),
    "normal_identity": lambda eta, sigma, **k: pm.Normal.dist(mu=eta, sigma=sigma, **k),
    "poisson_log": lambda eta, **k: pm.Poisson.dist(mu=pt.exp(eta), **k),
    "polya_gamma": None,
    "student_t_identity": lambda nu, eta, sigma, **k: pm.StudentT.dist(nu=nu, mu=eta, sigma=sigma, **k),
    "garch11": None,
    "interpolated": None,
    "stick_breaking_weights": None,  # PyMC's takes the number of sticks
    "zero_sum_normal": None,  # PyMC's takes a shape
    "mvnormal": lambda mu, **k: pm.MvNormal.dist(mu, **_in_pymcs_words(k, "cov")),
    "mv_student_t": lambda nu, mu, **k: pm.MvStudentT.dist(nu, mu=mu, **_in_pymcs_words(k, "scale")),
}


def _in_pymcs_words(kwargs: dict[str, object], cov: str) -> dict[str, object]:
    """Parameters, of which a covariance matrix, its factor or its inverse has PyMC's name."""
    names = {"cov": cov, "scale_tril": "chol", "precision": "tau"}
    return {names.get(n, n): v for n, v in kwargs.items()}


def counterpart(formula: Formula, parameters: Sequence[Variable], **kwargs: object) -> TensorVariable:
    """PyMC's random variable of the distribution that a formula has with these parameters, in its order.

    Raises
    ------
    NotImplementedError
        Where the density is none of those that gpustats ships, or PyMC has none of its name.
    """
    density = formula.density
    make = _added.get(density.source)
    if make is None and is_built_in(density):
        make = known_counterpart(density.name)
    if make is None:
        raise NotImplementedError(f"no distribution of PyMC's is known to be that of {density.name}")
    return make(**dict(zip(formula.names[1:], parameters, strict=True)), **kwargs)


def known_counterpart(name: str) -> Callable[..., TensorVariable] | None:
    """Function that makes PyMC's random variable of a density that gpustats ships; None where there is none."""
    if name in COUNTERPARTS:
        return COUNTERPARTS[name]
    return getattr(getattr(pm, class_name(name), None), "dist", None)


_added: dict[str, Callable[..., TensorVariable]] = {}  # by the sources of their densities


def add_counterpart(density: Density, make: Callable[..., TensorVariable]) -> None:
    """Declare the function that makes PyMC's random variable of the distribution of a density that a transform made."""
    _added[density.source] = make


def is_built_in(density: Density) -> bool:
    """True if a density is the one that gpustats ships under its name, and not one that replaced it."""
    return density.source == _shipped(density.name)


@functools.lru_cache(1024)
def _shipped(name: str) -> str | None:
    """Source of the density that gpustats ships under a name."""
    return (folder() / f"{name}.cu").read_text(encoding="utf-8") if name in library.built_in(DENSITY) else None
