"""Words by which readers search for what is public under another name: entries of the index, which the search ranks first."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

KEYWORDS = {
    "gpustats.fits.estimates.Estimates": "standard errors, confidence intervals, maximum likelihood, robust errors, AIC, BIC",
    "gpustats.fits.hypotheses.Test": "Wald test, likelihood ratio test, p values",
    "gpustats.fits.predictions.Prediction": "prediction intervals, new observations",
    "gpustats.GLM": "logistic regression, Poisson regression, regression, generalised linear models",
    "gpustats.mixed.estimates.MixedEstimates": "random effects, mixed models, variance components",
    "gpustats.Rows": "hierarchical models, groups, multilevel models",
    "gpustats.Mixture": "mixture models, EM algorithm, responsibilities",
    "gpustats.loo": "leave-one-out cross-validation, Pareto k, model comparison",
    "gpustats.LaplaceMarginal": "Laplace approximation, integrated effects",
    "gpustats.Generator": "random numbers, seeds",
    "gpustats.gp.MarginalLikelihood": "Gaussian process regression, kriging",
    "gpustats.pymc.fused": "speeding up PyMC, unmodified PyMC models",
    "gpustats.use": "choosing a device, selecting a GPU",
}


def add(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    if name in KEYWORDS:
        lines += ["", f".. index:: ! {KEYWORDS[name].replace(', ', ', ! ')}", ""]  # the search ranks main entries first


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", add, priority=950)  # behind numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
