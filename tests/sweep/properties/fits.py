"""Fits of draws."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..batch import FITTED, Batch
from . import Suspicion, holds

SETS_OF_FITS = 2


@holds
def fits_reach_the_truth(b: Batch) -> Iterator[Suspicion]:
    """What a fit says of its likelihood is so at its estimates, and no less than at the parameters that the data come from."""
    if b.dtype == np.float32 or any("integer" in a.words for a in b.subject.density.definition.arguments[1:]):
        return
    good = np.flatnonzero(np.all([(np.abs(p) < 1e3) & (np.abs(p) > 1e-2) for p in b.parameters], axis=0)[:, 0])
    seed = np.floor(b.rng.random((len(b.q), 1)) * 1000)
    score = np.zeros(seed.shape)
    score[b.rng.permutation(good)[:SETS_OF_FITS]] = 2
    yield Suspicion(FITTED, seed, score)
