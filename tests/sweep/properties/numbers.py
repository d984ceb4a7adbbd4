"""Numbers, not nan, wherever parameters go together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..batch import Batch
from . import Suspicion, holds
from .tails import observations


@holds
def values_are_numbers(b: Batch) -> Iterator[Suspicion]:
    """Every function is a number at every x, and every q."""
    x = observations(b)
    for ending in ("ppf", "isf"):
        if b.subject.has(ending):
            yield Suspicion(ending, b.q, np.where(np.isnan(b(ending, b.q)), np.inf, 0))
    for ending in ("logpdf", "cdf", "sf", "logcdf", "logsf"):
        if b.subject.has(ending):
            yield Suspicion(ending, x, np.where(np.isnan(b(ending, x)), np.inf, 0))


@holds
def values_are_right(b: Batch) -> Iterator[Suspicion]:
    """What no comparison shows: some values go to the judge as they are."""
    x = observations(b)
    for ending, first in (("logpdf", x), ("logcdf", x), ("logsf", x), ("ppf", b.q), ("isf", b.q)):
        if b.subject.has(ending):
            score = np.zeros(first.shape)
            if score.size:
                score.ravel()[b.rng.integers(score.size)] = 2
            yield Suspicion(ending, first, score)
