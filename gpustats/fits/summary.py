"""Table of estimates in text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .estimates import Estimates

MOST_ROWS = 60  # of a table; of more estimates the first and the last


def table(estimates: Estimates, level: float) -> str:
    """Text of the table of `Estimates.summary`."""
    from scipy.special import ndtr, ndtri

    values, errors = estimates.estimates, estimates.errors
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
        rows.append([estimates.labels[i], *cells[:2], f"{z[i]:.3f}", f"{p[i]:.3f}", *cells[2:]])
    widths = [max(len(row[c]) for row in rows) for c in range(7)]
    lines = ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
             for row in rows]  # fmt: skip
    rule = max(len(lines[0]), 60)
    facts = [
        ("observations", f"{estimates.n_observations:.10g}", "log-likelihood", f"{estimates.log_likelihood:.6g}"),
        ("free parameters", str(estimates.n_parameters), "AIC", f"{estimates.aic:.6g}"),
        ("errors by", estimates.errors_by, "BIC", f"{estimates.bic:.6g}"),
    ]
    left = max(len(a) + 2 + len(b) for a, b, _, _ in facts) + 4
    told = [f"{f'{a}: {b}'.ljust(left)}{c}: {d}" for a, b, c, d in facts]
    return "\n".join([
        estimates.density, "=" * rule, *told, f"search: {estimates.message}", "-" * rule, lines[0].rstrip(), "-" * rule,
        *(line.rstrip() for line in lines[1:]), "=" * rule,
    ])  # fmt: skip
