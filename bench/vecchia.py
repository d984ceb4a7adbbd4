"""`python -m bench.vecchia`: Gaussian processes by Vecchia's approximation, of up to a million points on a square.

The covariance function is Matérn's with ν = 3/2, a lengthscale for each column, and noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

import gpustats as gs

from .peers import GPUStats
from .report import Columns, Report, Row, Table, cell, options, size, timed

NOTE = """\
setup: the order and the neighbours, once. value, gradient: of one call in amplitude, lengthscales and noise; median of 5.
rate: of the n (m³ / 3 + 4 m²) operations of the factorisations and substitutions alone. predictions: of as many points, search
included. NumPy: the value by batched factorisations of the same matrices on all cores; difference: from that, relative.
"""
POINT: dict[str, Any] = {"amplitude": 1.1, "lengthscale": np.array([0.1, 0.15]), "sigma": 0.2}
GOALS = {1_000_000: 1.0}  # seconds of a gradient in float64, on an NVIDIA H200


@dataclass(frozen=True)
class Case:
    """Work of one row: n points, m neighbours."""

    n: int
    m: int
    dtype: str

    @property
    def title(self) -> str:
        return f"n={self.n:,} m={self.m} f{self.dtype[-2:]}"


def by_hand(x: np.ndarray, y: np.ndarray, neighbours: np.ndarray, chunk: int = 4096) -> float:
    """Log-likelihood by NumPy."""
    total = 0.0
    for first in range(0, len(x), chunk):
        own, near = np.arange(first, min(first + chunk, len(x))), neighbours[first : first + chunk]
        members = np.column_stack([near, own])
        at = x[members] / POINT["lengthscale"]
        r = np.sqrt(3 * ((at[:, :, None] - at[:, None]) ** 2).sum(-1))
        K = POINT["amplitude"] ** 2 * (1 + r) * np.exp(-r) + POINT["sigma"] ** 2 * np.eye(members.shape[1])
        lacks = members < 0
        K[lacks[:, :, None] | lacks[:, None]] = 0
        K += lacks[:, :, None] * np.eye(members.shape[1])
        factor = np.linalg.cholesky(K)
        z = np.linalg.solve(factor, np.where(lacks, 0, y[members])[:, :, None])[:, -1, 0]
        total -= (np.log(factor[:, -1, -1]) + 0.5 * z * z + 0.5 * np.log(2 * np.pi)).sum()
    return float(total)


def row(case: Case, goals: dict[int, float], compare: bool) -> Row:
    rng = np.random.default_rng(0)
    x, new = (rng.uniform(size=(case.n, 2)).astype(case.dtype) for _ in range(2))
    y = (np.sin(9 * x[:, 0]) * np.cos(7 * x[:, 1]) + 0.2 * rng.normal(size=case.n)).astype(case.dtype)
    v, setup = timed(lambda: gs.gp.Vecchia(gs.matern32, x, y, case.m))
    v(**POINT), v.value_and_grad(**POINT), v.predict(new[:9], **POINT)  # compiles
    value = median(timed(lambda: v(**POINT))[1] for _ in range(5))
    gradient = median(timed(lambda: v.value_and_grad(**POINT))[1] for _ in range(5))
    operations = case.n * (case.m**3 / 3 + 4 * case.m**2)
    made = {
        "work": case.title, "peer": GPUStats.name, "time": "gradient_s", "n": case.n, "m": case.m, "setup_s": setup,
        "value_s": value, "gradient_s": gradient, "rate": operations / gradient, "goal": goals.get(case.n),
        "predictions_s": timed(lambda: v.predict(new, **POINT))[1],
    }  # fmt: skip
    if compare:
        want, seconds = timed(lambda: by_hand(x.astype(float), y.astype(float), v.neighbours))
        made |= {"by_hand_s": seconds, "difference": abs(v(**POINT) / want - 1)}
    return made


COLUMNS: Columns = {
    "setup / s": cell("setup_s", "{:.2f}"), "value / s": cell("value_s"), "gradient / s": cell("gradient_s"),
    "goal": cell("goal", "≤ {:.0f}"), "rate / TFLOP/s": cell("rate", "{:.3g}", 1e-12),
    "predictions / s": cell("predictions_s", "{:.2f}"), "NumPy's value / s": cell("by_hand_s", "{:.2f}"),
    "difference": cell("difference", "{:.0e}"),
}  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    parser = options("vecchia", __doc__)
    parser.add_argument("--n", type=size, action="append", help="points, repeatable; default: 1e4 to 1e6 (CPU: 1e5)")
    parser.add_argument("--m", type=int, action="append", help="neighbours, repeatable; default: 30")
    parser.add_argument("--dtype", action="append", choices=("float32", "float64"), help="repeatable; default: float64")
    args = parser.parse_args(argv)
    report = Report(args)
    sizes = report.default(args.n, gpu=[10_000, 100_000, 1_000_000], cpu=[10_000, 100_000], quick=[500])
    cases = [Case(n, m, dtype) for dtype in args.dtype or ["float64"] for m in args.m or [30] for n in sizes]
    for case in report.wanted(cases):
        report.rows.append(row(case, GOALS if report.gpu and case.m == 30 else {}, compare=case.n <= 100_000))
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
