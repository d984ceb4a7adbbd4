"""scipy.stats' distributions by the names and parameters of densities."""

import numpy as np
from scipy import stats

SCIPY = {
    "normal": stats.norm,
    "half_normal": lambda sigma: stats.halfnorm(scale=sigma),
    "log_normal": lambda mu, sigma: stats.lognorm(sigma, scale=np.exp(mu)),
    "truncated_normal": lambda mu, sigma, a, b: stats.truncnorm((a - mu) / sigma, (b - mu) / sigma, mu, sigma),
    "ex_gaussian": lambda mu, sigma, nu: stats.exponnorm(nu / sigma, mu, sigma),
    "wald": lambda mu, lam: stats.invgauss(mu / lam, scale=lam),
    "laplace": stats.laplace,
    "asymmetric_laplace": lambda kappa, mu, b: stats.laplace_asymmetric(kappa, mu, 1 / b),
    "logistic": stats.logistic,
    "gumbel": stats.gumbel_r,
    "moyal": stats.moyal,
    "cauchy": stats.cauchy,
    "half_cauchy": lambda beta: stats.halfcauchy(scale=beta),
    "exponential": lambda lam: stats.expon(scale=1 / lam),
    "weibull": lambda alpha, beta: stats.weibull_min(alpha, scale=beta),
    "pareto": lambda alpha, m: stats.pareto(alpha, scale=m),
    "uniform": lambda lower, upper: stats.uniform(lower, upper - lower),
    "triangular": lambda lower, c, upper: stats.triang((c - lower) / (upper - lower), lower, upper - lower),
    "geometric": stats.geom,
    "discrete_uniform": lambda lower, upper: stats.randint(lower, upper + 1),
    "bernoulli": stats.bernoulli,
}
