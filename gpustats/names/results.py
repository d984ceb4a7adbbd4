"""What the results of a fit are called in other packages: for hints."""

from __future__ import annotations

from collections.abc import Collection

#: Name of an attribute or method in statsmodels, R, SciPy or scikit-learn -> what it is of `gpustats.Estimates`.
ELSEWHERE = {
    **dict.fromkeys(("params", "coef", "coefs", "coefficients", "coef_", "intercept_", "fixef", "values"), "parameters"),
    **dict.fromkeys(("weights_", "means_", "covariances_", "precisions_"), "parameters"),
    "x": "estimates",
    **dict.fromkeys(("bse", "se", "std_errors", "stderr"), "standard_errors"),
    **dict.fromkeys(("conf_int", "confint", "confidence_interval"), "interval()"),
    **dict.fromkeys(("pvalues", "tvalues", "zvalues"), "to_frame()"),
    **dict.fromkeys(("cov_params", "vcov", "cov", "normalized_cov_params"), "covariance"),
    **dict.fromkeys(("llf", "logLik", "loglik"), "log_likelihood"),
    "AIC": "aic",
    "BIC": "bic",
    "nobs": "n_observations",
    "success": "converged",
    "nit": "n_iterations",
    "fittedvalues": "predict(X).mean",
    **dict.fromkeys(("wald_test", "wald_test_terms"), "wald()"),
    "get_prediction": "predict(X).to_frame()",
    "get_robustcov_results": "robust()",
    **dict.fromkeys(("ranef", "random_effects"), "random_effects_to_frame()"),
}

#: Name of a method or attribute of scikit-learn's mixtures, of mclust or flexmix -> the method of `gpustats.Mixture`.
OF_MIXTURES = {
    **dict.fromkeys(("labels", "labels_", "fit_predict", "classify", "classification", "cluster", "clusters"), "predict"),
    **dict.fromkeys(
        ("predict_proba", "proba", "probabilities", "responsibility", "posterior", "membership", "z"), "responsibilities"
    ),
    "score_samples": "logpdf",
    "score": "loglik",
}


def called_here(name: str, known: Collection[str]) -> str:
    """What a result is called here, of the names that estimates have; "" where nothing is known of it."""
    found = ELSEWHERE.get(name, "")
    return found if found.partition("(")[0] in known else ""
