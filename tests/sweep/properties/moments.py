"""Moments and the entropy beside another quadrature."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..batch import Batch
from . import Suspicion, holds, relative

T = np.linspace(-7.2, 7.2, 193)  # nodes: the logit of a probability is sinh(t)
MOST_NUMBERS, SETS_OF_NUMBERS = 2**18, 6  # of a discrete density that are summed, and of how many sets
LETTERS = ("mean", "var", "skewness", "kurtosis", "entropy")


@holds
def moments_are_integrals(b: Batch) -> Iterator[Suspicion]:
    """Of the quantiles, by the trapezoidal rule; what hangs on the number of nodes is not compared."""
    endings = [e for e in LETTERS if e in b.subject.numbers]
    if b.discrete or not endings or not b.subject.has("ppf", "isf"):
        return
    s = np.sinh(T)
    q = (1 / (1 + np.exp(np.abs(s))) + 0 * b.q[:, :1]).astype(b.dtype)
    x = np.where(s < 0, b.wide("ppf", q), b.wide("isf", q))
    x = np.where(q > 0, x, np.where(s < 0, x[:, 96:97], x[:, 96:97]))
    center = b.wide("ppf", 0.5)
    weight = q.astype(float) * (1 - q.astype(float)) * np.cosh(T) * (T[1] - T[0])
    y = x - center

    def integral(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        terms = np.where(weight > 0, values * weight, 0)
        fine, coarse = terms.sum(1, keepdims=True), 2 * terms[:, ::2].sum(1, keepdims=True)
        rest = np.abs(terms[:, :2]).max(1, keepdims=True) + np.abs(terms[:, -2:]).max(1, keepdims=True)
        return fine, np.abs(fine - coarse) + 100 * rest

    unit = 1e-7 if b.dtype == np.float64 else 1e-3
    mean, error = integral(y)
    var, var_error = integral((y - mean) ** 2)
    sd = np.sqrt(var)
    fine = 8 * b.eps * (1 + np.abs(center) / sd)
    found = {"mean": (center + mean, sd * (unit + fine) + error), "var": (var, var * (unit + 10 * fine) + var_error)}
    for ending, power, less in (("skewness", 3, 0), ("kurtosis", 4, 3)):
        value, own = integral(((y - mean) / sd) ** power)
        own = own + 4 * np.abs(value) * var_error / var
        found[ending] = value - less, (unit + 100 * fine) * np.maximum(1, np.abs(value)) + own
    value, own = integral(-b.wide("logpdf", x.astype(b.dtype)))
    found["entropy"] = value, unit * 10 + fine + own
    for ending in endings:
        value, allowed = found[ending]
        trusted = np.isfinite(value) & (allowed < 1e-2 * np.maximum(np.abs(value - (center if ending == "mean" else 0)), sd))
        yield Suspicion(ending, 0.5, np.where(trusted, relative(b.wide(ending), value, allowed), 0))


@holds
def moments_are_sums(b: Batch) -> Iterator[Suspicion]:
    """Of a discrete density whose probabilities are not too many."""
    endings = [e for e in LETTERS if e in b.subject.numbers]
    if not b.discrete or not endings or not b.subject.has("ppf", "isf") or b.dtype == np.float32:
        return
    first, last = b.wide("ppf", 1e-30), b.wide("isf", 1e-30)
    good = np.flatnonzero((last - first < MOST_NUMBERS)[:, 0])
    score = {e: np.zeros(first.shape) for e in endings}
    longest = good[np.argsort((first - last)[good, 0])]
    for row in dict.fromkeys([*longest[: SETS_OF_NUMBERS // 2], *b.rng.permutation(good)[: SETS_OF_NUMBERS // 2]]):
        k = np.arange(first[row, 0], last[row, 0] + 1)
        one = b.at(*(p[row : row + 1] for p in b.parameters))
        one.q = b.q[row : row + 1]
        log = one.wide("logpdf", k[None])[0]
        mass = np.exp(log)
        if not abs(mass.sum() - 1) < 1e-9:
            continue
        mean = (mass * k).sum()
        var = (mass * (k - mean) ** 2).sum()
        found = {"mean": mean, "var": var, "entropy": -(mass * np.where(mass > 0, log, 0)).sum()}
        for e, power, less in (("skewness", 3, 0), ("kurtosis", 4, 3)):
            found[e] = (mass * ((k - mean) / np.sqrt(var)) ** power).sum() - less
        for e in endings:
            got, size = float(b.wide(e)[row, 0]), max(1, abs(found[e])) if e not in ("mean", "var") else abs(found[e])
            score[e][row] = relative(np.array(got), np.array(found[e]), 1e-7 * size + 1e-12)
    for e in endings:
        yield Suspicion(e, 0.5, score[e])
