"""Models by their names in statsmodels, scikit-learn, R and Stata: for hints about names that the package does not have."""

from __future__ import annotations

#: Densities of a linear predictor -> names of the models that `gpustats.GLM` makes of them.
_OF_GLM = {
    "normal_identity": ("ols", "wls", "lm", "linreg", "linear_regression", "linear_model", "least_squares", "regression"),
    "student_t_identity": ("rlm", "robust_regression"),
    "bernoulli_logit": ("logit", "logistic_regression", "logit_regression", "binary_regression"),
    "bernoulli_probit": ("probit", "probit_regression"),
    "bernoulli_cloglog": ("cloglog",),
    "binomial_logit": ("binomial_regression",),
    "poisson_log": ("poisson_regression", "poisson_regressor"),
    "negative_binomial_log": ("negative_binomial_regression", "nbreg", "glm_nb"),
    "gamma_log": ("gamma_regression", "gamma_regressor"),
    "beta_logit": ("beta_regression", "betareg", "beta_model"),
    "categorical_logit": ("mnlogit", "multinomial_logit", "multinomial_regression", "softmax_regression", "mlogit"),
    "ordered_logit": ("ordinal_regression", "ordered_model", "ologit", "polr"),
    "ordered_probit": ("oprobit",),
}
_MIXED = "gpustats.GLM.from_formula('y ~ x + (1 + x | group)', data, density).fit()"
_PROCESS = "gpustats.gp.MarginalLikelihood(gpustats.rbf, x, y).fit()"
#: Names, without their underscores, of models -> how they are written here.
_HERE = {
    **{n.replace("_", ""): f"gpustats.GLM(gpustats.{d}, y, X).fit()" for d, names in _OF_GLM.items() for n in names},
    **dict.fromkeys(("lmer", "lme", "glmer", "glmm", "mixedlm", "mixedmodel", "mixedeffects"), _MIXED),
    **dict.fromkeys(("gaussianprocess", "gaussianprocessregressor", "gpregression", "gpr", "kriging", "krige"), _PROCESS),
    **dict.fromkeys(("gaussianmixture", "gmm", "mclust"), "gpustats.Mixture(gpustats.mvnormal, x).fit(components)"),
    **dict.fromkeys(("fit", "mle", "maximumlikelihood"), "gpustats.Likelihood(density, x).fit()"),
    **dict.fromkeys(("hmm", "gaussianhmm"), "gpustats.hidden_markov(states, density)"),
}


def model_here(name: str) -> str:
    """Advice for somebody who looks for a model by its name elsewhere; "" where nothing is known of it."""
    found = _HERE.get(name.lower().replace("_", ""), "")
    return f": write {found}" if found else ""
