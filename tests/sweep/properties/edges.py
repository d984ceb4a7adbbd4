"""At the ends of the support, and beyond them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..batch import Batch
from . import Suspicion, holds

BEYOND = {"logpdf": (-np.inf, -np.inf), "cdf": (0, 1), "sf": (1, 0), "logcdf": (-np.inf, 0), "logsf": (0, -np.inf)}


@holds
def nothing_lies_beyond_the_support(b: Batch) -> Iterator[Suspicion]:
    """Beyond its ends, also at infinity, the tails are 0 and 1; at its ends they are, too, unless there is a probability."""
    lower, upper = b("lower"), b("upper")
    for below, end in ((True, lower), (False, upper)):
        away = np.asarray(-np.inf if below else np.inf, b.dtype)
        size = np.abs(lower) + np.abs(upper) if not b.discrete else 0  # an end may be rounded
        next_one = end + (-1 if below else 1) * (1 if b.discrete else 8 * b.eps * size + b.tiny)
        last = np.where(np.isfinite(end), away, end)
        points = [last, np.where(np.isfinite(next_one), next_one, last), np.where(np.isfinite(end), end + away / 2, last)]
        x = np.concatenate([*points, *([] if b.discrete else [end])], axis=1)
        for ending, values in BEYOND.items():
            if not b.subject.has(ending):
                continue
            got, right = b.wide(ending, x), values[not below]
            wrong = got != right
            if ending == "logpdf":
                wrong[:, 3:] = False  # at an end a density may be anything
                wrong &= np.isfinite(x) | (np.isnan(got))
            yield Suspicion(ending, x, np.where(wrong, np.inf, 0))
