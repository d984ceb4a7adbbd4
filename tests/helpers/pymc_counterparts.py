"""PyMC's own distributions for the built-in densities, and parameters at which the two are compared."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

#: density -> function of its parameters that makes PyMC's distribution; for all others it has the same names
COUNTERPARTS = {
    "bernoulli_cloglog": lambda eta, **k: pm.Bernoulli.dist(p=-pt.expm1(-pt.exp(eta)), **k),
    "bernoulli_logit": lambda eta, **k: pm.Bernoulli.dist(logit_p=eta, **k),
    "bernoulli_probit": lambda eta, **k: pm.Bernoulli.dist(p=0.5 * pt.erfc(-eta / np.sqrt(2)), **k),
    "beta_logit": lambda eta, phi, **k: pm.Beta.dist(mu=pt.sigmoid(eta), nu=phi, **k),
    "binomial_logit": lambda n, eta, **k: pm.Binomial.dist(n=n, logit_p=eta, **k),
    "categorical_logit": lambda eta, **k: pm.Categorical.dist(logit_p=eta, **k),
    "gamma_log": lambda eta, nu, **k: pm.Gamma.dist(alpha=nu, beta=nu * pt.exp(-eta), **k),
    "negative_binomial_log": lambda eta, phi, **k: pm.NegativeBinomial.dist(mu=pt.exp(eta), alpha=phi, **k),
    "normal_identity": lambda eta, sigma, **k: pm.Normal.dist(mu=eta, sigma=sigma, **k),
    "ordered_logit": lambda eta, cutpoints, **k: pm.OrderedLogistic.dist(eta=eta, cutpoints=cutpoints, **k),
    "poisson_log": lambda eta, **k: pm.Poisson.dist(mu=pt.exp(eta), **k),
    "student_t_identity": lambda nu, eta, sigma, **k: pm.StudentT.dist(nu=nu, mu=eta, sigma=sigma, **k),
    "mv_student_t": lambda nu, mu, cov, **k: pm.MvStudentT.dist(nu=nu, mu=mu, scale=cov, **k),
}

COV = np.array([[2.0, 0.3, -0.4], [0.3, 1.0, 0.2], [-0.4, 0.2, 1.5]])
CORNERS = np.array([0.1, 0.2, 0.3, 0.4])
FIVE = np.linspace(0.8, 1.7, 5)  # a parameter with a value for each of five observations; at 1, PyMC's Beta loses a derivative

#: density -> parameters: numbers, and arrays with a value for each of five observations
PARAMETERS = {
    "asymmetric_laplace": (1.3, FIVE, 0.7),
    "bernoulli": (FIVE / 2,),
    "bernoulli_cloglog": (FIVE - 1.5,),
    "bernoulli_logit": (FIVE,),
    "bernoulli_probit": (FIVE - 1.5,),
    "beta": (1.7, FIVE),
    "beta_binomial": (12, FIVE, 2.5),
    "beta_logit": (FIVE, 3.7),
    "binomial": (12, FIVE / 2),
    "binomial_logit": (np.arange(12, 17), 0.4),
    "categorical": (CORNERS,),
    "categorical_logit": (np.array([0.3, -1.2, 0.8, 0.1]),),
    "cauchy": (0.5, FIVE),
    "chi_squared": (3 * FIVE,),
    "dirichlet": (5 * CORNERS,),
    "discrete_uniform": (-3, 8),
    "ex_gaussian": (0.3, FIVE, 1.1),
    "exponential": (FIVE,),
    "gamma": (2.3, FIVE),
    "gamma_log": (FIVE, 2.3),
    "geometric": (FIVE / 3,),
    "gumbel": (FIVE, 1.2),
    "half_cauchy": (1.3,),
    "half_normal": (FIVE,),
    "half_student_t": (4.2, FIVE),
    "inverse_gamma": (3.1, FIVE),
    "kumaraswamy": (FIVE, 2.2),
    "laplace": (0.3, FIVE),
    "log_normal": (FIVE, 0.7),
    "logistic": (FIVE, 1.3),
    "logit_normal": (0.4, FIVE),
    "moyal": (0.3, FIVE),
    "multinomial": (12, CORNERS),
    "mv_student_t": (4.5, np.array([0.1, -0.5, 1.0]), COV),
    "mvnormal": (np.array([0.1, -0.5, 1.0]), COV),
    "negative_binomial": (FIVE * 3, 2.2),
    "negative_binomial_log": (FIVE, 2.2),
    "normal": (FIVE, 1.4),
    "normal_identity": (FIVE, 1.4),
    "ordered_logit": (FIVE, np.array([-1.0, 0.3, 1.5])),
    "pareto": (2.4, 1.2),
    "poisson": (FIVE * 3,),
    "poisson_log": (FIVE,),
    "rice": (1.4, FIVE),
    "skew_normal": (0.3, FIVE, 1.9),
    "student_t": (4.2, 0.3, FIVE),
    "student_t_identity": (4.2, FIVE, 0.7),
    "triangular": (-1.0, 0.4, 2.5),
    "truncated_normal": (0.3, FIVE, -1.0, 2.0),
    "uniform": (-1.0, 2.5),
    "von_mises": (0.3, FIVE),
    "wald": (1.3, FIVE),
    "weibull": (1.7, FIVE),
    "zero_inflated_binomial": (0.7, 12, FIVE / 2),
    "zero_inflated_negative_binomial": (0.7, FIVE * 3, 2.2),
    "zero_inflated_poisson": (0.7, FIVE * 3),
}


def counterpart(density, class_name, parameters, **kwargs):
    """PyMC's distribution of a density with these parameters, in its order."""
    if density.name in COUNTERPARTS:
        return COUNTERPARTS[density.name](*parameters, **kwargs)
    return getattr(pm, class_name).dist(**dict(zip(density.parameters, parameters)), **kwargs)
