"""Functions and methods by their names in other languages and packages: for hints."""

from __future__ import annotations

#: What functions of SciPy, R, Stan and Python are called in device functions.
IN_C = {
    "max": "fmax", "min": "fmin", "pi": "PI", "gamma": "tgamma", "ln": "log", "sqr": "x * x",
    **dict.fromkeys(("gammaln", "loggamma"), "log_gamma"),
    **dict.fromkeys(("betaln", "log_beta"), "lbeta"),
    **dict.fromkeys(("sigmoid", "inv_logit", "plogis", "logistic"), "expit"),
    **dict.fromkeys(("softplus", "log1p_exp"), "log1pexp"),
    "psi": "digamma",
    **dict.fromkeys(("ndtr", "Phi", "pnorm", "normcdf"), "exp(log_ndtr(x))"),
    **dict.fromkeys(("normal_lcdf", "std_normal_lcdf"), "log_ndtr"),
    **dict.fromkeys(("qnorm", "inv_Phi"), "ndtri"),
    "lchoose": "log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1)",
}

#: What methods of distributions in PyTorch, JAX, PyMC and others are called here.
METHODS = {
    **dict.fromkeys(("log_prob", "logp", "lpdf", "lpmf"), "logpdf"),
    "prob": "pdf",
    **dict.fromkeys(("sample", "draw", "random", "rsample"), "rvs"),
    **dict.fromkeys(("icdf", "quantile", "quantiles"), "ppf"),
    "lcdf": "logcdf",
    **dict.fromkeys(("survival", "ccdf"), "sf"),
    "lccdf": "logsf",
    "variance": "var",
    "stddev": "std",
    "expectation": "expect",
}
