"""Tables of estimates, as text and as data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

MOST_ROWS = 60  # of a table; of more estimates the first and the last


class Columns(NamedTuple):
    """Columns of a table of estimates."""

    estimate: np.ndarray
    error: np.ndarray
    z: np.ndarray
    p: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def columns(values: np.ndarray, errors: np.ndarray, level: float) -> Columns:
    """Columns of a table of estimates: with their errors, z, its p-value, and the ends of an interval."""
    from scipy.special import ndtr, ndtri

    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level!r}")
    width = float(ndtri((1 + level) / 2)) * errors
    with np.errstate(divide="ignore", invalid="ignore"):
        z = values / errors
    return Columns(values, errors, z, 2 * ndtr(-np.abs(z)), values - width, values + width)


def frame_of(values: Any, index: Sequence[Any], names: Sequence[str] | None = None) -> Any:
    """Data frame of pandas with these labels of rows and names of columns."""
    try:
        import pandas
    except ImportError:
        raise ImportError("a data frame is one of pandas: pip install pandas") from None
    return pandas.DataFrame(values, index=index, columns=names)


def table(
    title: str, facts: Mapping[str, str], end: str, labels: Sequence[str], values: np.ndarray, errors: np.ndarray, level: float,
    before: Sequence[str] = (),
) -> str:
    """Text of the table of `Estimates.summary`: `facts` two by two, the search's `end`, lines `before` the table itself."""
    own = columns(values, errors, level)
    tail = f"{(1 - level) / 2:.4g}"
    head = ["", "estimate", "std err", "z", "P>|z|", f"[{tail}", f"{(1 + level) / 2:.4g}]"]
    places = list(range(len(values)))
    if len(values) > MOST_ROWS:
        places = [*places[: MOST_ROWS // 2], -1, *places[-MOST_ROWS // 2 :]]
    rows = [head]
    for i in places:
        if i < 0:
            rows.append([f"… {len(values) - MOST_ROWS} more", *[""] * 6])
            continue
        numbers = values[i], errors[i], own.lower[i], own.upper[i]
        cells = [f"{v:.4f}" if 1e-3 <= abs(v) < 1e5 or v == 0 else f"{v:.3e}" for v in numbers]
        rows.append([labels[i], *cells[:2], f"{own.z[i]:.3f}", f"{own.p[i]:.3f}", *cells[2:]])
    widths = [max(len(row[c]) for row in rows) for c in range(7)]
    lines = ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
             for row in rows]  # fmt: skip
    rule = max(len(lines[0]), 60)
    told = [f"{name}: {value}" for name, value in facts.items()]
    left = max(map(len, told[::2])) + 4
    pairs = [f"{a.ljust(left)}{b}" for a, b in zip(told[::2], told[1::2], strict=True)]
    above = [*before, "-" * rule] if before else []
    return "\n".join([
        title, "=" * rule, *pairs, f"search: {end}", "-" * rule, *above, lines[0].rstrip(), "-" * rule,
        *(line.rstrip() for line in lines[1:]), "=" * rule,
    ])  # fmt: skip
