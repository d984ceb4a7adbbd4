"""Single precision beside double precision."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..batch import Batch
from . import Suspicion, holds, relative
from .tails import observations


@holds
def float32_is_float64(b: Batch) -> Iterator[Suspicion]:
    """Up to what the last digits of the inputs change."""
    if b.dtype == np.float64:
        return
    wide = Batch(b.subject, np.float64, tuple(p.astype(float) for p in b.parameters), b.q.astype(float), b.end, b.rng)
    x = observations(b)
    for ending, first in (("logpdf", x), ("logcdf", x), ("logsf", x), ("ppf", b.q), ("isf", b.q)):
        if not b.subject.has(ending) or not first.size:
            continue
        first = first.astype(float)
        right, spread = wide(ending, first), 0.0
        moved = [(first * (1 + b.eps), wide.parameters)] + [
            (first, tuple(p * (1 + b.eps * (i == j)) for j, p in enumerate(wide.parameters))) for i in range(len(b.parameters))
        ]
        for own, parameters in moved:
            change = np.abs(wide.at(*parameters)(ending, own) - right)
            spread = spread + np.where(np.isfinite(change), change, 0)
        size = np.maximum(np.abs(right), b.tiny) if ending in ("ppf", "isf") else np.maximum(1, np.abs(right))
        fits = (np.abs(right) > 1e38) | (np.abs(right) < 1e-37) if ending in ("ppf", "isf") else np.zeros(right.shape, bool)
        score = relative(b.wide(ending, first), right, 2 * b.tolerance * size + 8 * spread)
        yield Suspicion(ending, first, np.where(fits | ~np.isfinite(right), 0, score))
