"""Functions and methods by their names in other languages and packages: for hints."""

from __future__ import annotations

#: What functions of SciPy, R, Stan and Python are called in device functions.
IN_C = {
    "pi": "PI", "gamma": "tgamma", "ln": "log", **dict.fromkeys(("sqr", "square"), "x * x"),
    **dict.fromkeys(("max", "maximum"), "fmax"), **dict.fromkeys(("min", "minimum"), "fmin"),
    **dict.fromkeys(("power", "float_power"), "pow"), "absolute": "fabs", "mod": "fmod",
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    "clip": "fmin(fmax(x, low), high)",
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

#: What stands in C for a function that it does not have.
FORMS_OF_C = {
    **dict.fromkeys(("where", "ifelse", "iif"), "condition ? a : b"),
    **dict.fromkeys(("sum", "prod", "mean", "range", "dot", "cumsum"), "a loop, for (int i = 0; i < dim; i++) …"),
    **dict.fromkeys(("len", "length", "size"), "dim"),
    **dict.fromkeys(("float", "double", "float64", "float32"), "(real) before the number"),
}

#: Words of Python and R between the parts of an expression or a statement -> what C writes.
WORDS_OF_C = {"and": "&&", "or": "||", "not": "!", "is": "==", "elif": "else if", "if": "condition ? a : b", "in": "a loop"}

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
