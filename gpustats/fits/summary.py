"""Table of estimates in text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

MOST_ROWS = 60  # of a table; of more estimates the first and the last


def table(
    title: str, facts: Mapping[str, str], end: str, labels: Sequence[str], values: np.ndarray, errors: np.ndarray, level: float,
    before: Sequence[str] = (),
) -> str:
    """Text of the table of `Estimates.summary`: `facts` two by two, the search's `end`, lines `before` the table itself."""
    from scipy.special import ndtr, ndtri

    width = float(ndtri((1 + level) / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = values / errors
        p = 2 * ndtr(-np.abs(z))
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
        low, high = values[i] - width * errors[i], values[i] + width * errors[i]
        cells = [f"{v:.4f}" if 1e-3 <= abs(v) < 1e5 or v == 0 else f"{v:.3e}" for v in (values[i], errors[i], low, high)]
        rows.append([labels[i], *cells[:2], f"{z[i]:.3f}", f"{p[i]:.3f}", *cells[2:]])
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
