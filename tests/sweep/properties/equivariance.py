"""Location and scale: x + a, and x times b, with the parameters that move along, which are found out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..batch import OF_NUMBERS, Batch, Subject
from ..parameters import sets
from . import Suspicion, holds, relative

ORDINARY = 24  # sets at which it is found out what moves along
LOGARITHMS = ("logpdf", "logcdf", "logsf", "cdf", "sf")


def moving(subject: Subject, kind: str) -> tuple[int, ...] | None:
    """For "shift" which parameters are shifted with x, for "scale" by which power of the factor each is multiplied; or None."""
    if kind not in subject.moving:
        subject.moving[kind] = _found(subject, kind)
    return subject.moving[kind]


def _found(subject: Subject, kind: str) -> tuple[int, ...] | None:
    density, rng = subject.density, np.random.default_rng(1)
    columns = sets(density, rng, 40 * ORDINARY, np.float64)
    if not columns or not subject.has("ppf") or (density.discrete and kind == "scale"):
        return None
    tame = np.all([(np.abs(c) < 50) & ((np.abs(c) > 0.02) | (c == 0)) for c in columns], axis=0)
    columns = tuple(c[tame][:ORDINARY] for c in columns)
    x = subject("ppf", np.resize([0.2, 0.7], len(columns[0])), *columns, dtype=np.float64)
    before = subject("logpdf", x, *columns, dtype=np.float64)
    integer = ["integer" in a.words for a in density.definition.arguments]
    moves = (0, 1) if kind == "shift" else (0, 1, -1)
    for choice in itertools.product(moves, repeat=len(columns)):
        if any(move and whole for move, whole in zip(choice, integer[1:])) and not (kind == "shift" and density.discrete):
            continue
        own = x + 2 if kind == "shift" else x * 2
        moved = [c + 2 * m if kind == "shift" else c * 2.0**m for c, m in zip(columns, choice)]
        after = subject("logpdf", own, *moved, dtype=np.float64) + (0 if kind == "shift" else np.log(2))
        good = np.isfinite(before) & np.isfinite(x)
        same = np.abs(after - before)[good] < 1e-8 * np.maximum(1, np.abs(before[good]))
        if len(same) >= 8 and same.mean() > 0.8:  # not of intervals that are narrow, which rounding changes
            return choice
    return None


@holds
def shifts_do_not_matter(b: Batch) -> Iterator[Suspicion]:
    """What is shifted, x and the parameters of location, gives the same values, and quantiles that are shifted, too."""
    choice = moving(b.subject, "shift")
    if choice is None:
        return
    unit = 2.0 ** (-10 if b.dtype == np.float64 else -4)
    integer = ["integer" in a.words for a in b.subject.density.definition.arguments[1:]]
    largest = 27 if b.dtype == np.float64 else 15
    d = (b.rng.choice([-1, 1], (len(b.q), 1)) * 2.0 ** b.rng.integers(0, largest, (len(b.q), 1))).astype(b.dtype)
    base = [p if not m else np.round(p % 64) if whole else np.round(p % 64 / unit) * unit
            for p, m, whole in zip(b.parameters, choice, integer)]  # fmt: skip
    moved = [p + d if m else p for p, m in zip(base, choice)]
    before, after = b.at(*base), b.at(*moved)
    x = np.round(before("ppf", b.q) / unit) * unit
    yield from _compared(before, after, x, lambda x: x + d, lambda x: x - d, 0.0 * d, d)


@holds
def units_do_not_matter(b: Batch) -> Iterator[Suspicion]:
    """What is multiplied by a power of two, x and the parameters of scale, gives values that are divided by it."""
    choice = moving(b.subject, "scale")
    if choice is None or not any(choice):
        return
    largest = 60 if b.dtype == np.float64 else 20
    factor = 2.0 ** b.rng.integers(-largest, largest, (len(b.q), 1)).astype(b.dtype)
    moved = [p * factor ** np.asarray(m, b.dtype) for p, m in zip(b.parameters, choice)]
    log = np.log(factor.astype(float))
    yield from _compared(b, b.at(*moved), b("ppf", b.q), lambda x: x * factor, lambda x: x / factor, log, 0 * factor)


def _compared(
    base: Batch, moved: Batch, x: np.ndarray, there: Any, back: Any, log: np.ndarray, shift: np.ndarray
) -> Iterator[Suspicion]:
    """All functions before and after: `there` moves x, `log` is the logarithm of the factor, `shift` what is added."""
    b, subject, size, q = base, base.subject, np.abs(shift.astype(float)), base.q
    good = np.isfinite(x) & (back(there(x)) == x) & np.isfinite(there(x))
    tiny = (np.abs(there(x)) > 1e3 * b.tiny) | (x == 0)
    for ending in LOGARITHMS:
        if subject.has(ending):
            value, other = base.wide(ending, x), moved.wide(ending, there(x))
            other = other + (log if ending == "logpdf" else 0)
            size_of = np.maximum(1, np.abs(value)) if ending.startswith("log") else np.abs(value) * 30
            allowed = 20 * b.tolerance * size_of + b.tiny
            score = np.where(good & tiny, relative(other, value, allowed), 0)
            score = np.where(good & tiny & (np.isnan(other) != np.isnan(value)), np.inf, score)
            yield Suspicion(ending, there(x), score, moved.parameters)
            yield Suspicion(ending, x, score, base.parameters)
    middle = base.wide("isf", 0.25) - base.wide("ppf", 0.25) if subject.has("isf") else 0
    for ending in ("ppf", "isf"):
        if subject.has(ending):
            value, other = base.wide(ending, q), back(moved.wide(ending, q))
            allowed = 4 * b.tolerance * np.maximum(np.abs(value), middle) + 4 * b.eps * size + b.tiny
            score = np.where(np.isfinite(there(value)), relative(other, value, allowed), 0)
            yield Suspicion(ending, q, score, moved.parameters)
            yield Suspicion(ending, q, score, base.parameters)
    deviation = base.wide("std") if subject.has("std") else np.sqrt(base.wide("var")) if subject.has("var") else middle
    unit = 2e-8 if b.dtype == np.float64 else 2e-4
    fine = 10 * b.eps * (size + np.abs(base.wide("ppf", 0.5))) / deviation
    for ending in ("mean", "var", "skewness", "kurtosis", "entropy"):
        if ending in subject.numbers:
            value, other = base.wide(ending), moved.wide(ending)
            other = back(other) if ending == "mean" else other / np.exp(2 * log) if ending == "var" else other
            other = other - log if ending == "entropy" else other
            size_of = deviation if ending == "mean" else np.abs(value) if ending == "var" else np.maximum(1, np.abs(value))
            score = np.where(fine < 1e-3, relative(other, value, size_of * (unit + 10 * fine)), 0)
            yield Suspicion(ending, 0.5, score, moved.parameters)
            yield Suspicion(ending, 0.5, score, base.parameters)


assert set(LOGARITHMS) < set(OF_NUMBERS)
