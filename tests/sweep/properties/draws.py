"""Draws beside the distribution function."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..batch import DRAWN, DRAWS, Batch
from . import Suspicion, holds

SETS_OF_DRAWS, LARGEST = 3, 3.2  # and how far the shares may lie apart, times sqrt(DRAWS): once in a billion times


@holds
def draws_are_distributed(b: Batch) -> Iterator[Suspicion]:
    """As many lie below a number as its probability tells: the judge draws anew, and compares at the number that is worst."""
    if not b.subject.has("cdf", "sf"):
        return
    rows = b.rng.permutation(len(b.q))[:SETS_OF_DRAWS]
    x, score = np.zeros((len(b.q), 1)), np.zeros((len(b.q), 1))
    for row in rows:
        one = b.at(*(p[row : row + 1] for p in b.parameters))
        one.q = b.q[row : row + 1]
        drawn = np.sort(b.subject.drawn([float(p[0, 0]) for p in one.parameters], b.dtype, int(b.rng.integers(2**31))))
        values, last = np.unique(drawn, return_index=True)
        share = np.append(last[1:], len(drawn)) / len(drawn)
        apart = np.abs(share - one.wide("cdf", values[None])[0]) * np.sqrt(DRAWS)
        apart[np.isnan(values)] = np.inf
        worst = int(np.nanargmax(np.where(np.isnan(apart), 0, apart)))
        x[row], score[row] = values[worst], apart[worst] / LARGEST
    yield Suspicion(DRAWN, x, score)
