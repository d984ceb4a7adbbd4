"""`python -m bench.local_gp`: local Gaussian processes on the borehole function, table 1 of Gramacy, Niemi & Weiss (2014).

N points of a Latin hypercube are the data and N others are predicted; the designs grow with N as in the table.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.spatial import cKDTree
from scipy.stats import qmc

import gpustats as gs

from .draws import write
from .glm import Columns, render
from .peers import GPUStats
from .run import number, versions

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
GOALS = {1_024_000: 120.0}  # seconds, on an NVIDIA H200
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
    """Points, their responses, and other points to predict at."""
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


def by_hand(n: int, X: np.ndarray, XX: np.ndarray, end: int, close: int, gp: gs.LocalGP, locations: int = 16) -> dict[str, Any]:
    """ms for the search at one location, in NumPy and by gpustats, and in how many of the designs they agree."""
    x = XX[:locations]
    d = float(np.quantile(((X[:500, None] - X[500:1000]) ** 2).sum(-1), 0.1))
    _, candidates = cKDTree(X).query(x, close)
    begin = time.perf_counter()
    designs = [search_by_hand(X, x[i], candidates[i], d, 1e-4, 6, end) for i in range(locations)]
    seconds = (time.perf_counter() - begin) / locations
    fixed = {"start": d, "mle": False}
    found = gp.predict(x, start=6, end=end, close=close, d=fixed)
    many = XX[: 64 * locations]
    begin = time.perf_counter()
    gp.predict(many, start=6, end=end, close=close, d=fixed)
    ours = (time.perf_counter() - begin) / len(many)
    return {"by_hand_ms": 1e3 * seconds, "search_ms": 1e3 * ours, "agreement": float((found.indices == designs).all(1).mean())}


def row(n: int, g: float, devices: Any, client: Any, compare: bool) -> dict[str, Any]:
    """One row of the table."""
    end, close = schedule(n)
    X, y, XX = data(n)
    gp = gs.LocalGP(X, y)
    options = {"start": 6, "end": end, "close": close, "g": g, "devices": devices, "client": client}
    gp.predict(XX[:16384], **options)  # compiles
    for _ in range(2):
        begin = time.perf_counter()
        found = gp.predict(XX, **options)
        seconds = time.perf_counter() - begin
        if seconds > 10:
            break
    mse = float(np.mean((found.mean - borehole(XX)) ** 2))
    inside = np.mean(np.abs(borehole(XX) - found.mean) <= 1.96 * found.scale)
    made = {
        "work": f"N={n:,} n={end} N'={close:,}", "peer": GPUStats.name, "n": n, "end": end, "close": close,
        "seconds": seconds, "mse": mse, "coverage": float(inside),
    }  # fmt: skip
    return made | (by_hand(n, X, XX, end, close, gp) if compare else {})


def optional(key: str) -> Any:
    return lambda row: number(row[key]) if key in row else ""


COLUMNS: Columns = {
    "seconds": lambda row: f"{row['seconds']:.2f}",
    "1,536 cores": lambda row: f"{row['paper'][0]:.2f}" if "paper" in row else "",
    "10 GPUs": lambda row: f"{row['paper'][2]:.2f}" if "paper" in row else "",
    "goal": lambda row: f"≤ {row['goal']:.0f}" if "goal" in row else "",
    "mse": lambda row: f"{row['mse']:.2f}",
    "paper's mse": lambda row: f"{row['paper'][1]:.2f}, {row['paper'][3]:.2f}" if "paper" in row else "",
    "in 95 %": lambda row: f"{100 * row['coverage']:.1f} %",
    "by hand / ms": optional("by_hand_ms"),
    "ours / ms": optional("search_ms"),
    "× ours": lambda row: f"{row['by_hand_ms'] / row['search_ms']:.0f}" if "by_hand_ms" in row else "",
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.local_gp", description=__doc__.splitlines()[0])
    parser.add_argument("--device", help='such as "cuda:0", "cpu"; default: the first GPU, else CPU')
    parser.add_argument("--devices", help='"all", or several with commas between them')
    parser.add_argument("--workers", type=int, default=0, help="of a Dask cluster on this machine; default: none")
    parser.add_argument("--n", type=int, action="append", help="several times if you like; default: the table (CPU: to 16000)")
    parser.add_argument("--g", type=float, default=1e-4, help="nugget (default: 1e-4; with 1e-3 the errors are the paper's)")
    parser.add_argument("--no-search", action="store_true", help="do not search by hand")
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="default: bench/results")
    args = parser.parse_args(argv)
    if args.device:
        gs.use(args.device)
    ours = GPUStats()
    gpu = ours.device.type == "gpu"
    sizes = args.n or [n for n in PAPER if gpu or n <= 16_000]
    devices = args.devices if args.devices in (None, "all") else args.devices.split(",")
    client = None
    if args.workers:
        from dask.distributed import Client

        client = Client(n_workers=args.workers, threads_per_worker=1)
    report: dict = {"device": ours.device.name, "backend": ours.device.backend, "bandwidth": ours.runtime.bandwidth()}
    report |= {"versions": versions(), "g": args.g, "devices": args.devices, "workers": args.workers, "rows": []}
    for n in track(sizes, "measuring", console=Console(stderr=True)):
        made = row(n, args.g, devices, client, not (args.no_search or client or devices))
        made |= {"paper": PAPER[n]} if n in PAPER else {}
        made |= {"goal": GOALS[n]} if gpu and n in GOALS else {}
        report["rows"].append(made)
    if client is not None:
        client.close()
    spread = f"-{args.workers}-workers" if args.workers else "-devices" if devices else ""
    stem = args.out / f"local-gp-{ours.device.backend}-{ours.device.type}{spread}"
    write(stem, render(report, COLUMNS, NOTE), report)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
