"""Distribution functions beside one another, and beside the density."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..batch import Batch
from . import Suspicion, holds, relative


def observations(b: Batch) -> np.ndarray:
    """Quantiles of both tails, as far as they are numbers, and numbers around the mean."""
    if not b.subject.has("ppf", "isf"):
        return np.zeros((len(b.q), 0), b.dtype)
    x = [b("ppf", b.q), b("isf", b.q)]
    if all(b.subject.density.definition.role(e) for e in ("mean", "var")):  # quantiles may be wrong as the tails are
        around = b.wide("mean") + np.sqrt(b.wide("var")) * np.array([-4.0, -1.0, 0.0, 1.0, 4.0])
        lower, upper = b("lower"), b("upper")
        around = np.floor(around) if b.discrete else around
        x.append(np.where((around > lower) & (around < upper), around, x[0][:, :1]).astype(b.dtype))
    x = np.concatenate(x, axis=1)
    return np.sort(np.where(np.isfinite(x), x, b("ppf", 0.5)), axis=1)


def rounding(b: Batch, x: np.ndarray) -> np.ndarray:
    """How much the last digit of x changes the logarithm of a tail, at most, as the density tells."""
    if b.discrete:
        return np.zeros(x.shape)
    mass = np.exp(b.wide("logpdf", x)) * np.abs(x.astype(float)) * b.eps
    return np.where(np.isfinite(mass), mass, 0)


@holds
def tails_sum_to_one(b: Batch) -> Iterator[Suspicion]:
    """cdf + sf = 1."""
    if not b.subject.has("cdf", "sf"):
        return
    x = observations(b)
    score = relative(b.wide("cdf", x) + b.wide("sf", x), np.ones(x.shape), 4 * b.tolerance + rounding(b, x))
    yield Suspicion("cdf", x, score)
    yield Suspicion("sf", x, score)


@holds
def logarithms_fit(b: Batch) -> Iterator[Suspicion]:
    """exp(logcdf) = cdf, and of the other tail."""
    if not b.subject.has("cdf", "sf", "logcdf", "logsf"):
        return
    x = observations(b)
    for plain, logarithm in (("cdf", "logcdf"), ("sf", "logsf")):
        value, log = b.wide(plain, x), b.wide(logarithm, x)
        expected = np.exp(log)
        score = relative(value, expected, 4 * b.tolerance * np.maximum(1, np.abs(log)) * expected + b.tiny)
        yield Suspicion(plain, x, score)
        yield Suspicion(logarithm, x, score)


@holds
def tails_are_monotone(b: Batch) -> Iterator[Suspicion]:
    """cdf never falls, sf never rises, and both are probabilities."""
    x = observations(b)
    for ending, sign in (("cdf", 1), ("sf", -1), ("logcdf", 1), ("logsf", -1)):
        if not b.subject.has(ending) or not x.size:
            continue
        value = b.wide(ending, x)
        log = ending.startswith("log")
        fall = np.nan_to_num(-sign * np.diff(value, axis=1), nan=0, posinf=np.inf)
        slack = b.tolerance * np.maximum(np.abs(value[:, 1:]), 1e-290 if not log else 1) * 100 + b.tiny
        outside = value > (0 if log else 1 + 4 * b.eps)
        outside |= (value < 0) & (not log)
        score = np.where(outside, np.inf, 0)
        score[:, 1:] = np.maximum(score[:, 1:], fall / slack)
        score[:, :-1] = np.maximum(score[:, :-1], fall / slack)
        yield Suspicion(ending, x, score)


@holds
def slope_is_density(b: Batch) -> Iterator[Suspicion]:
    """Differences of distribution functions are the density times the difference in x, or the next probability."""
    if not b.subject.has("cdf", "sf"):
        return
    x = observations(b)
    if b.discrete:
        before, here = b.wide("cdf", x - 1), b.wide("cdf", x)
        above, after = b.wide("sf", x), b.wide("sf", x - 1)
        mass = np.exp(b.wide("logpdf", x))
        lower = here < 0.5
        found = np.where(lower, here - before, after - above)
        noise = np.where(lower, here, after) * 40 * b.tolerance * np.maximum(1, np.abs(b.wide("logpdf", x)))
        score = np.where(np.abs(x) > 0.5 / b.eps, 0, relative(found, mass, noise + mass * 1e-9 + b.tiny))
    else:
        if b.dtype == np.float32:
            return
        lower, upper = b("lower"), b("upper")
        room = np.minimum(np.where(np.isfinite(lower), x - lower, np.inf), np.where(np.isfinite(upper), upper - x, np.inf))
        pdf = np.exp(b("logpdf", x))
        tail = np.minimum(b("cdf", x), b("sf", x))
        step = np.minimum(1e-4 * np.minimum(tail / pdf, np.minimum(room, np.maximum(np.abs(x), 1e-3 * tail / pdf))), 1e300)
        a, c = x - step, x + step
        below = b("cdf", x) < b("sf", x)
        rise = np.where(below, b("cdf", c) - b("cdf", a), b("sf", a) - b("sf", c))
        noise = tail * 1e-11 * np.maximum(1, np.abs(np.log(tail))) + pdf * np.abs(x) * 1e-15
        score = relative(rise / (c - a), pdf, 1e-4 * pdf + noise / (c - a))
        score = np.where((step > 0) & (c - a > 1e-9 * np.abs(x)) & (tail > 1e-290), score, 0)
    for ending in ("logpdf", "cdf", "sf"):
        yield Suspicion(ending, x, score)
