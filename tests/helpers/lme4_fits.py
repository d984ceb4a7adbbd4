"""Data sets of lme4 and its fits of them, which tests/mixed/lme4.R has written."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "mixed" / "data"


def table(name):
    """Columns of a data set: numbers, and codes of labels in the order in which R sorts them."""
    with open(DATA / f"{name}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return {n: np.array([row[n] for row in rows]) for n in rows[0]}


def codes(labels):
    numbers = np.char.isdigit(labels).all()
    return np.unique(labels.astype(int) if numbers else labels, return_inverse=True)[1]


def numbers(fit):
    """Quantities of one of lme4's fits."""
    found = defaultdict(list)
    with open(DATA / "lme4.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["fit"] == fit:
                found[row["quantity"]].append(float(row["value"]))
    return {n: np.array(v) for n, v in found.items()}


def theta(fit):
    """Relative factors in lme4's order."""
    scale = fit["sigma"] if fit.residual else 1.0
    parts = [np.reshape(fit[t.parameter], (t.size, t.size)).T[np.triu_indices(t.size)] for t in fit.terms]
    return np.concatenate(parts) / scale


def fixed_effects(fit):
    names = [n for n in ("alpha", "beta") if n in fit.free]
    return (np.concatenate([np.ravel(v[n]) for n in names]) for v in (fit.parameters, fit.standard_errors))


def check(fit, wanted, close=2e-5):
    effects, errors = fixed_effects(fit)
    np.testing.assert_allclose(effects, wanted["fixed"], rtol=close)
    np.testing.assert_allclose(errors, wanted["fixed_errors"], rtol=close)
    np.testing.assert_allclose(theta(fit), wanted["theta"], rtol=close, atol=close)
    criteria = [wanted[n][0] for n in ("loglik", "aic", "bic")]
    np.testing.assert_allclose([fit.log_likelihood, fit.aic, fit.bic], criteria, rtol=1e-8)
    if fit.residual:
        np.testing.assert_allclose(fit["sigma"], wanted["sigma"][0], rtol=close)
    for term in fit.terms:
        for what, own in (("modes", fit.random_effects), ("errors", fit.random_effects_errors)):
            if (name := f"{what}.{term.name}") in wanted:
                scale = np.abs(wanted[name]).max() + 1e-9
                np.testing.assert_allclose(own[term.name].ravel()[:12], wanted[name], atol=2 * close * scale)
    assert fit.converged
