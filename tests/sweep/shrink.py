"""Makes a wrong value's inputs small: ordinary numbers, few digits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

Point = tuple[float, ...]


def shrunk(point: Point, fails: Callable[[Point], bool], seconds: float) -> Point:
    """The simplest point found that fails; `fails` says whether one does."""
    end = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for i, value in enumerate(point):
            for simple in simpler(value):
                if time.monotonic() > end:
                    break
                other = (*point[:i], simple, *point[i + 1 :])
                if fails(other):
                    point, progress = other, True
                    break
    return point


def simpler(value: float) -> Iterator[float]:
    """Numbers that are simpler than a number, the simplest ones first."""
    if not math.isfinite(value) or value in (0, 1):
        return
    candidates = [1.0, 2.0, 0.5, -1.0, 0.0]
    if value:
        candidates += [float(f"{value:.{digits}e}") for digits in (0, 1, 2)]
        exponent = math.floor(math.log10(abs(value)))
        candidates += [math.copysign(float(f"1e{exponent}"), value)]
    seen = weight(value)
    for candidate in sorted(set(candidates), key=weight):
        if candidate != value and weight(candidate) < seen:
            yield candidate


def weight(value: float) -> tuple[int, float]:
    """How long a number is written, and how far from 1 it lies."""
    return len(repr(value)) + (value < 0), abs(math.log10(abs(value))) if value and math.isfinite(value) else 0.0
