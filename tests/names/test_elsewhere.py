"""Names and parameters of the densities in Stan and PyMC."""

import inspect
import re

import numpy as np
import pytest
from scipy import stats

import gpustats as gs
from gpustats.names import pymc, stan
from gpustats.names.lines import lines_of

#: Stan's distributions as its reference defines them, in terms of scipy.stats.
OF_STAN = {
    "beta": lambda a, b: stats.beta(a, b), "beta_proportion": lambda m, k: stats.beta(m * k, (1 - m) * k),
    "beta_binomial": lambda n, a, b: stats.betabinom(n, a, b), "bernoulli": lambda p: stats.bernoulli(p),
    "bernoulli_logit": lambda eta: stats.bernoulli(1 / (1 + np.exp(-eta))), "binomial": lambda n, p: stats.binom(n, p),
    "binomial_logit": lambda n, eta: stats.binom(n, 1 / (1 + np.exp(-eta))), "cauchy": lambda m, s: stats.cauchy(m, s),
    "chi_square": lambda nu: stats.chi2(nu), "discrete_range": lambda a, b: stats.randint(a, b + 1),
    "double_exponential": lambda m, s: stats.laplace(m, s), "exponential": lambda b: stats.expon(scale=1 / b),
    "exp_mod_normal": lambda m, s, rate: stats.exponnorm(1 / (rate * s), m, s),
    "frechet": lambda a, s: stats.invweibull(a, scale=s),
    "gamma": lambda a, b: stats.gamma(a, scale=1 / b), "gumbel": lambda m, b: stats.gumbel_r(m, b),
    "hypergeometric": lambda n, a, b: stats.hypergeom(a + b, a, n),
    "inv_chi_square": lambda nu: stats.invgamma(nu / 2, scale=0.5),
    "inv_gamma": lambda a, b: stats.invgamma(a, scale=b), "logistic": lambda m, s: stats.logistic(m, s),
    "loglogistic": lambda a, b: stats.fisk(b, scale=a), "lognormal": lambda m, s: stats.lognorm(s, scale=np.exp(m)),
    "neg_binomial": lambda a, b: stats.nbinom(a, b / (b + 1)),
    "neg_binomial_2": lambda m, phi: stats.nbinom(phi, phi / (m + phi)),
    "neg_binomial_2_log": lambda eta, phi: stats.nbinom(phi, phi / (np.exp(eta) + phi)),
    "normal": lambda m, s: stats.norm(m, s),
    "pareto": lambda low, a: stats.pareto(a, scale=low), "pareto_type_2": lambda m, s, a: stats.lomax(a, m, s),
    "poisson": lambda rate: stats.poisson(rate), "poisson_log": lambda eta: stats.poisson(np.exp(eta)),
    "rayleigh": lambda s: stats.rayleigh(scale=s),
    "scaled_inv_chi_square": lambda nu, s: stats.invgamma(nu / 2, scale=nu * s * s / 2),
    "skew_normal": lambda m, s, a: stats.skewnorm(a, m, s), "student_t": lambda nu, m, s: stats.t(nu, m, s),
    "uniform": lambda a, b: stats.uniform(a, b - a), "von_mises": lambda m, k: stats.vonmises(k, m),
    "weibull": lambda a, s: stats.weibull_min(a, scale=s),
}  # fmt: skip
#: Their parameters, and those whose lines the page on Stan and other tests have: categories and vectors.
OF_STANS = {"theta": 0.3, "N": 9.0, "l": 1.0, "u": 6.0, "a": 12.0, "b": 9.0, "y_min": 0.7}
WITHOUT = {"categorical", "categorical_logit", "dirichlet", "multi_normal", "multi_normal_cholesky", "multi_normal_prec",
           "multi_student_t", "ordered_logistic", "ordered_probit"}  # fmt: skip


@pytest.mark.parametrize("line", [n for n in lines_of(stan.DISTRIBUTIONS) if n.name not in WITHOUT], ids=lambda line: line.name)
def test_names_in_stan(line):
    given = {n: OF_STANS.get(n, 0.6 + 0.4 * i) for i, n in enumerate(line.parameters.split(", "))}
    if line.name == "uniform":
        given |= {"beta": 5.0}
    known = {n.replace("lambda", "lambda_"): v for n, v in given.items()} | {"x": 2.0}
    values = eval(f"dict({re.sub(r'(?<![a-z])lambda', 'lambda_', line.values)})", known)
    x = eval(line.at or "x", known)
    theirs, ours = OF_STAN[line.name](*given.values()), gs.densities[line.density](**values)
    points = (2.0, 3.0)
    if line.density in ("bernoulli", "bernoulli_logit", "beta"):
        points = (1.0, 0.0) if "bernoulli" in line.name else (0.5, 0.9)
    for point in points:
        log_density = theirs.logpmf if hasattr(theirs.dist, "pmf") else theirs.logpdf
        np.testing.assert_allclose(ours.logpdf(point + x - 2.0), log_density(point), rtol=1e-9)


def test_names_in_stan_of_vectors_and_categories():
    """Their parameters are those of the densities, where these have them by such names."""
    for line in lines_of(stan.DISTRIBUTIONS):
        told = {part.partition("=")[0] for part in line.values.split(", ")}
        assert told <= {*gs.densities[line.density].parameters, "scale_tril", "precision"}


def test_parameters_in_pymc():
    pm = pytest.importorskip("pymc")
    for name in gs.densities:
        if theirs := pymc.class_name(name) in pymc.DISTRIBUTIONS and pymc.class_name(name):
            taken = inspect.signature(getattr(pm, theirs).dist).parameters
            assert {pymc.PARAMETERS.get(name, {}).get(p, p) for p in gs.densities[name].parameters} <= {*taken}


def test_a_name_of_stan_is_a_hint():
    with pytest.raises(AttributeError, match="Stan's double_exponential is gpustats.laplace"):
        gs.double_exponential  # noqa: B018
