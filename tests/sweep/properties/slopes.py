"""Derivatives of the log-density beside differences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..batch import SLOPE, Batch
from . import Suspicion, holds, relative
from .tails import observations

STEP = 1e-5


@holds
def derivatives_are_differences(b: Batch) -> Iterator[Suspicion]:
    """In every argument that is not a whole number; those of float32 are compared with those of float64."""
    x = observations(b)[:, ::3] if b.subject.has("ppf", "isf") else b.parameters[0] * 0 + 1
    if not x.size or not b.subject.smooth:
        return
    arguments = [a.name for a in b.subject.density.definition.arguments]
    wide = Batch(b.subject, np.float64, tuple(p.astype(float) for p in b.parameters), b.q.astype(float), b.end, b.rng)
    x = x.astype(float)
    value = wide("logpdf", x)
    for name in b.subject.smooth:
        i = arguments.index(name)
        own = x if i == 0 else np.broadcast_to(wide.parameters[i - 1], x.shape)
        got = b.wide(SLOPE + name, x)
        if b.dtype == np.float32:
            right = wide(SLOPE + name, x)
            score = relative(got, right, 1e-2 * np.abs(right) + 1e-3 * np.abs(value) / np.abs(own))
        else:
            step = STEP * np.abs(own)
            low, high = (_moved(wide, x, i, sign * STEP) for sign in (-1, 1))
            right = (high - low) / (2 * step)
            curved = np.abs(high - 2 * value + low) / step + np.abs(value) * 1e-13 / step
            score = relative(got, right, 1e-3 * np.abs(right) + curved)
        score = np.where(np.isfinite(value) & np.isfinite(right), np.where(np.isnan(got), np.inf, score), 0)
        yield Suspicion(SLOPE + name, x, score)


def _moved(b: Batch, x: np.ndarray, i: int, step: float) -> np.ndarray:
    """The log-density where argument number i is larger by a part of its size."""
    if i == 0:
        return b("logpdf", x + step * np.abs(x))
    return b.at(*(p + step * np.abs(p) * (j == i - 1) for j, p in enumerate(b.parameters)))("logpdf", x)
