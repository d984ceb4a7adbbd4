"""`python -m bench.local_gp`: local Gaussian processes on the borehole function, table 1 of Gramacy, Niemi & Weiss (2014).

N points of a Latin hypercube are the data and N others are predicted; the designs grow with N as in the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import qmc

import gpustats as gs

from .peers import GPUStats
from .report import Columns, Report, Row, Table, cell, options, size, timed

#: N: seconds and mean squared error on 1,536 cores, then on ten GPUs with 80 cores, as the table has them.
PAPER = {
    1_000: (0.48, 4.88, 1.95, 4.63), 2_000: (0.66, 3.67, 2.96, 3.93), 4_000: (0.87, 2.35, 5.99, 2.31),
    8_000: (1.82, 1.73, 13.09, 1.74), 16_000: (4.01, 1.25, 29.48, 1.28),
    32_000: (10.02, 1.01, 67.08, 1.00),
    64_000: (28.17, 0.78, 164.27, 0.76), 128_000: (84.00, 0.60, 443.70, 0.60), 256_000: (261.90, 0.46, 1254.63, 0.46),
    512_000: (836.00, 0.35, 4015.12, 0.36), 1_024_000: (2789.81, 0.26, 13694.48, 0.27),
}  # fmt: skip
NOTE = """\
seconds: of a call (the second, unless it takes long), from points in host memory to predictions there. mse: of these.
1,536 cores, 10 GPUs: what the paper measured in 2013, on 96 nodes of 16 cores, and on 5 nodes of 2 GPUs and 16 cores.
by hand: the search for a design in NumPy, with the formulas of the paper (eq. 6 and 7) for all candidates at once, by BLAS on
all cores; ms for one location. in 95 %: true values within the 95 % intervals.
"""
GOALS = {1_024_000: 20.0}  # seconds, on an NVIDIA H200
LOWER = np.array([0.05, 100, 63070, 990, 63.1, 700, 1120, 9855])
UPPER = np.array([0.15, 50000, 115600, 1110, 116, 820, 1680, 12045])


def borehole(unit: np.ndarray) -> np.ndarray:
    """Flow through a borehole in m³/yr (Worley 1987; Morris, Mitchell & Ylvisaker 1993) for inputs in the unit cube, (N, 8)."""
    rw, r, tu, hu, tl, hl, length, kw = (LOWER + unit * (UPPER - LOWER)).T
    log_ratio = np.log(r / rw)
    return 2 * np.pi * tu * (hu - hl) / (log_ratio * (1 + 2 * length * tu / (log_ratio * rw**2 * kw) + tu / tl))


def schedule(n: int) -> tuple[int, int]:
    """Points of a design, and candidates: for each doubling of N two points more, and 1.5 times the candidates."""
    end, close = 40, 100
    while n >= 2000:
        n, end, close = n // 2, end + 2, round(1.5 * close)
    return end, close


def data(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data: points, their responses, and other points to predict at."""
    X, XX = (qmc.LatinHypercube(8, rng=np.random.default_rng(seed + i)).random(n) for i in range(2))
    return X, borehole(X), XX


def search_by_hand(X: np.ndarray, x: np.ndarray, candidates: np.ndarray, d: float, g: float, start: int, end: int) -> list[int]:
    """A local design with O(j²) operations for each candidate and step: K⁻¹ k for all of them in one product."""
    Z = np.ascontiguousarray(X[candidates].T)
    k, k_x = np.empty((end, len(candidates))), np.exp(-((Z - x[:, None]) ** 2).sum(0) / d)
    for j in range(start):
        k[j] = np.exp(-((Z - Z[:, j, None]) ** 2).sum(0) / d)
    inverse, design = np.zeros((end, end)), list(range(start))
    inverse[:start, :start] = np.linalg.inv(k[:start, :start] + g * np.eye(start))
    for j in range(start, end):
        solved = inverse[:j, :j] @ k[:j]
        v = 1 + g - np.einsum("ij,ij->j", k[:j], solved)
        reduction = (k_x - k_x[design] @ solved) ** 2 / v
        reduction[design] = -1
        new = int(reduction.argmax())
        row = solved[:, new]
        inverse[:j, :j] += np.outer(row, row / v[new])
        inverse[j, :j] = inverse[:j, j] = -row / v[new]
        inverse[j, j] = 1 / v[new]
        k[j] = np.exp(-((Z - Z[:, new, None]) ** 2).sum(0) / d)
        design.append(new)
    return [int(candidates[i]) for i in design]


def by_hand(n: int, X: np.ndarray, XX: np.ndarray, end: int, close: int, gp: gs.LocalGP, locations: int = 16) -> Row:
    """Milliseconds of the search at one location, in NumPy and by gpustats, and the share of designs that agree."""
    x = XX[:locations]
    d = float(np.quantile(((X[:500, None] - X[500:1000]) ** 2).sum(-1), 0.1))
    _, candidates = cKDTree(X).query(x, close)
    designs, seconds = timed(lambda: [search_by_hand(X, x[i], candidates[i], d, 1e-4, 6, end) for i in range(locations)])
    fixed = {"start": 6, "end": end, "close": close, "d": {"start": d, "mle": False}}
    agreement = float((gp.predict(x, **fixed).indices == designs).all(1).mean())
    many = XX[: 64 * locations]
    by_hand_ms, search_ms = 1e3 * seconds / locations, 1e3 * timed(lambda: gp.predict(many, **fixed))[1] / len(many)
    return {"by_hand_ms": by_hand_ms, "search_ms": search_ms, "search_ratio": by_hand_ms / search_ms, "agreement": agreement}


@dataclass(frozen=True)
class Case:
    """Work of one row: N points, and as many predictions, or fewer."""

    n: int
    locations: int | None = None

    @property
    def title(self) -> str:
        end, close = schedule(self.n)
        at = f" at {self.locations:,}" if self.locations else ""
        return f"N={self.n:,}{at} n={end} N'={close:,}"


def row(case: Case, g: float, devices: Any, client: Any, compare: bool) -> Row:
    """Row of the table; `compare`: with the search by hand."""
    n, (end, close) = case.n, schedule(case.n)
    X, y, XX = data(n)
    XX = XX[: case.locations]
    gp = gs.LocalGP(X, y)
    options = {"start": 6, "end": end, "close": close, "g": g, "devices": devices, "client": client, "noise": True}
    gp.predict(XX[:16384], **options)  # compiles
    for _ in range(2):
        found, seconds = timed(lambda: gp.predict(XX, **options))
        if seconds > 10:
            break
    truth = borehole(XX)
    made = {
        "work": case.title, "peer": GPUStats.name, "time": "seconds", "n": n, "locations": len(XX), "end": end, "close": close,
        "seconds": seconds, "mse": float(np.mean((found.mean - truth) ** 2)),
        "coverage": float(np.mean(np.abs(truth - found.mean) <= 1.96 * found.scale)),
    }  # fmt: skip
    if n in PAPER and case.locations is None:
        made |= dict(zip(("cores_s", "cores_mse", "gpus_s", "gpus_mse"), PAPER[n], strict=True))
    return made | (by_hand(n, X, XX, end, close, gp) if compare else {})


COLUMNS: Columns = {
    "seconds": cell("seconds", "{:.2f}"),
    "1,536 cores": cell("cores_s", "{:.2f}"),
    "10 GPUs": cell("gpus_s", "{:.2f}"),
    "goal": cell("goal", "≤ {:.0f}"),
    "mse": cell("mse", "{:.2f}"),
    "paper's mse": lambda row: f"{row['cores_mse']:.2f}, {row['gpus_mse']:.2f}" if "cores_mse" in row else "",
    "in 95 %": cell("coverage", "{:.1f} %", 100),
    "by hand / ms": cell("by_hand_ms"),
    "ours / ms": cell("search_ms"),
    "× ours": cell("search_ratio", "{:.0f}"),
}


def apart(given: dict[str, Any]) -> list[str]:
    """Options that make results of their own."""
    return [f"{given[name]} {name}" for name in ("workers", "locations") if given.get(name)]


def main(argv: list[str] | None = None) -> int:
    parser = options("local_gp", __doc__)
    parser.add_argument("--devices", help='"all", or several with commas between them')
    parser.add_argument("--workers", type=int, default=0, help="of a Dask cluster on this machine; default: none")
    parser.add_argument("--n", type=size, action="append", help="points, repeatable; default: the table (CPU: to 16000)")
    parser.add_argument("--locations", type=size, help="where to predict (default: as many as there are points)")
    parser.add_argument("--g", type=float, default=1e-4, help="nugget (default: 1e-4; with 1e-3 the errors are the paper's)")
    parser.add_argument("--no-search", action="store_true", help="do not search by hand")
    args = parser.parse_args(argv)
    devices = args.devices if args.devices in (None, "all") else args.devices.split(",")
    report = Report(args, devices, apart(vars(args)))
    sizes = report.default(args.n, gpu=list(PAPER), cpu=[n for n in PAPER if n <= 16_000], quick=[1000])
    client = None
    if args.workers:
        from dask.distributed import Client

        client = Client(n_workers=args.workers, threads_per_worker=1)
    for case in report.wanted(Case(n, args.locations) for n in sizes):
        made = row(case, args.g, devices, client, not (args.no_search or client or devices))
        if report.gpu and case.n in GOALS and case.locations is None:
            made["goal"] = GOALS[case.n]
        report.rows.append(made)
    if client is not None:
        client.close()
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
