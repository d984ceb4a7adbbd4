"""`python -m bench.scale`: the time of a call on G GPUs, from what one and two took, as docs/scale.md has it.

The model: T(G) = T(1) / G + c (g - 1) + d H. The work divides; each further of the g GPUs of a host, of which it has 8, adds c,
for launches, copies and the wait for the last; on more hosts than one, each of these H adds d, for the tasks of a Dask cluster.
That launches of further devices cost the host as much as those of the second is the worst that was seen, not a law.

c is read from one pair of results with one and two GPUs, and the others of its kind are predicted; d likewise from one size of
local processes on two cores, by themselves and by two workers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
A_HOST = 8  # GPUs
H100, H200 = 72e9, 135e9  # bytes of memory that data may take
GPUS = 1, 2, 8, 64, 512
UNITS = {"us": 1e-6, "s": 1.0, "seconds": 1.0}


@cache
def rows(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["rows"]
    return found


def seconds(name: str, work: str, peer: str = "gpustats", key: str = "seconds") -> float:
    """Seconds of a row that was measured."""
    (row,) = (row for row in rows(name) if (row["work"], row["peer"]) == (work, peer))
    time: float = row[key] * UNITS[key.rpartition("_")[2]]
    return time


@dataclass(frozen=True)
class Pair:
    """Work that one GPU did, and two.

    Attributes
    ----------
    work : str
    one, two : float
        Seconds.
    size : float
        What c is proportional to.
    """

    work: str
    one: float
    two: float
    size: float = 1.0

    @property
    def cost(self) -> float:
        """c, for a size of one."""
        return (self.two - self.one / 2) / self.size


@dataclass(frozen=True)
class Kind:
    """Work of one kind: the pair from which c is read, and those that are predicted."""

    name: str
    known: Pair
    others: tuple[Pair, ...] = ()

    def on(self, gpus: int, one: float, size: float = 1.0, cluster: float = 0.0) -> float:
        """Seconds on so many GPUs of work that takes `one` on one; `cluster`: d."""
        if gpus == 1:
            return one
        hosts = math.ceil(gpus / A_HOST)
        return one / gpus + self.known.cost * size * (min(gpus, A_HOST) - 1) + (cluster * hosts if hosts > 1 else 0.0)


def sums() -> Kind:
    """Log-likelihoods with their gradients in a few numbers."""
    paths = "paths-2-x-nvidia-h200-cuda"
    works = "Likelihood: Student t, N=1e8", "GLM: logistic regression, k=50, N=1e7"
    known, other = (
        Pair(work, *(seconds(paths, work, peer, "waited_us") for peer in ("gpustats", "gpustats, 2 devices"))) for work in works
    )
    return Kind("sums over rows", known, (other,))


def local() -> Kind:
    """Local processes, whose predictions are divided."""
    names = "local-gp-nvidia-h200-cuda", "local-gp-2-x-nvidia-h200-cuda"
    pairs = [_local(row["work"], names) for row in rows(names[0])]
    large = [f"{name}-200000-locations" for name in names]
    pairs += [_local(row["work"], large) for row in rows(large[0])]
    known, *others = pairs
    return Kind("local processes", known, tuple(others))


def _local(work: str, names: Sequence[str]) -> Pair:
    one, two = (seconds(name, work) for name in names)
    return Pair(f"local processes, {work.partition(' n=')[0]}", one, two)


def exact() -> Kind:
    """Exact processes, whose matrix is divided into blocks of rows; c is proportional to the points."""
    name = "gp-tiled-2-x-nvidia-h200-cuda"
    peers = "gpustats, 1 device in blocks", "gpustats, 2 devices in blocks"
    pairs = [
        Pair(f"exact process, n={n:,}", *(seconds(name, f"n={n:,}", peer, "value_s") for peer in peers), n)
        for n in (60_000, 20_000, 100_000, 180_000)
    ]
    return Kind("exact processes", pairs[0], tuple(pairs[1:]))


def cluster() -> tuple[float, float, float]:
    """Seconds that a cluster adds for each of two workers, and the time by them that is predicted and was measured.

    From local processes of 8,000 points; the prediction is for 16,000.
    """
    names = "local-gp-amd-epyc-opencl", "local-gp-amd-epyc-opencl-2-workers"
    small, large = ([seconds(name, work) for name in names] for work in ("N=8,000 n=46 N'=338", "N=16,000 n=48 N'=507"))
    added = (small[1] - small[0]) / 2
    return added, large[0] + 2 * added, large[1]


def checks() -> Iterator[tuple[str, float, float]]:
    """Work, and its seconds on two GPUs as they are predicted and as they were measured."""
    for kind in (sums(), local(), exact()):
        for pair in kind.others:
            yield pair.work, kind.on(2, pair.one, pair.size), pair.two
    yield "local processes by two workers on two cores, N=16,000", *cluster()[1:]


def predictions() -> Iterator[tuple[str, list[float | None]]]:
    """Work, and its seconds on `GPUS`; None where memory does not suffice, or where work does not go to several hosts."""
    d, by_row, near, matrix = cluster()[0], sums(), local(), exact()
    likelihood, glm = by_row.known, by_row.others[0]
    for work, pair, times, held in (
        ("logistic regression, k=50, N=1e7", glm, 1, 51 * 8e7),
        ("logistic regression, k=50, N=1e9", glm, 100, 51 * 8e9),
        ("Student t, N=1e10", likelihood, 100, 8e10),
    ):
        yield work, [by_row.on(g, times * pair.one, cluster=d) if held < g * H100 else None for g in GPUS]
    for work, pair, times in (("1,024,000", near.others[-2], 1), ("10,000,000", near.others[-1], 50)):
        yield f"local processes, N={work} at as many", [near.on(g, times * pair.one, cluster=d) for g in GPUS]
    largest = matrix.others[-1]
    for n in (180_000, 400_000):
        one, held = largest.one * (n / largest.size) ** 3, 4 * n * n  # a triangle of float64
        yield f"exact process, n={n:,}", [matrix.on(g, one, n) if held < g * H200 and g <= A_HOST else None for g in GPUS]


def said(time: float | None) -> str:
    if time is None:
        return ""
    unit, factor = next(((u, f) for u, f in (("s", 1.0), ("ms", 1e-3)) if time >= f), ("µs", 1e-6))
    number = time / factor
    return f"{number:,.0f} {unit}" if number >= 99.5 else f"{number:.3g} {unit}"


def tables() -> list[str]:
    """Tables of docs/scale.md, as Markdown: checks, and predictions."""
    checked = ["| work on two | predicted | measured | off by |", "| --- | ---: | ---: | ---: |"]
    checked += [f"| {work} | {said(p)} | {said(m)} | {round(100 * (p / m - 1)):+d} % |" for work, p, m in checks()]
    predicted = [f"| work | {' | '.join(f'{g:,}' for g in GPUS)} |", f"| --- |{' ---: |' * len(GPUS)}"]
    predicted += [f"| {work} | {' | '.join(map(said, times))} |" for work, times in predictions()]
    return ["\n".join(checked), "\n".join(predicted)]


def main() -> int:
    print("\n\n".join(tables()))
    for kind in (sums(), local(), exact()):
        print(f"{kind.name}: c = {said(kind.known.cost * kind.known.size)}, from {kind.known.work}")
    print(f"d = {said(cluster()[0])}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
