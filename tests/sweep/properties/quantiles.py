"""Quantiles beside the distribution functions that they invert."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..batch import Batch
from . import Suspicion, holds, relative
from .tails import rounding


@holds
def quantiles_invert(b: Batch) -> Iterator[Suspicion]:
    """cdf(ppf(q)) = q and sf(isf(q)) = q; of whole numbers, the smallest at which it is reached."""
    for quantile, tail, sign in (("ppf", "cdf", 1), ("isf", "sf", -1)):
        if not b.subject.has(quantile, tail):
            continue
        q = b.q.astype(float)
        x = b(quantile, b.q)
        p = b.wide(tail, x)
        allowed = 20 * b.tolerance * q * np.maximum(1, np.abs(np.log(q))) + b.tiny
        if b.discrete:
            before = b.wide(tail, x - 1)
            late, early = sign * (q - p), sign * (before - q)
            score = np.maximum(late, early) / allowed
            score = np.where(np.isnan(score) | (np.abs(x) > 0.5 / b.eps), 0, score)
        else:
            score = relative(p, q, allowed + 4 * rounding(b, x) + np.where(np.isfinite(x), 0, q))
            at_end = (x == b("lower")) | (x == b("upper")) | ~np.isfinite(x)
            edge = np.where(at_end & (np.abs(x) < np.inf), np.nextafter(x, b("ppf", 0.5)), x)
            between = at_end & ((b.wide(tail, edge) - q) * (p - q) <= 0)
            score = np.where(between, 0, score)
        yield Suspicion(quantile, b.q, score)
        yield Suspicion(tail, x, score)


@holds
def quantiles_are_monotone(b: Batch) -> Iterator[Suspicion]:
    """ppf never falls, isf never rises."""
    for ending, sign in (("ppf", 1), ("isf", -1)):
        if not b.subject.has(ending):
            continue
        x = b.wide(ending, b.q)
        fall = np.nan_to_num(-sign * np.diff(x, axis=1), nan=0, posinf=np.inf)
        slack = 10 * b.tolerance * np.maximum(np.abs(x[:, 1:]), b.tiny)
        score = np.zeros(x.shape)
        score[:, 1:] = fall / slack
        score[:, :-1] = np.maximum(score[:, :-1], fall / slack)
        yield Suspicion(ending, b.q, score)
