"""`python -m bench.fits`: maximum likelihood for many data sets at once, beside SciPy, which takes one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

import gpustats as gs

from .peers import GPUStats, Peer, SciPy
from .report import RATIO, Columns, Report, Row, Table, attempt, cell, options

NOTE = """\
waited: all fits with their standard errors, from data on the host to estimates (median). SciPy, which has no standard errors,
fits so many of the data sets; its time is that of all of them at this rate. difference: the largest of estimates, in standard
errors. lost: the largest by which a log-likelihood is smaller than SciPy's. failed: data sets whose search has not converged.
"""
COLUMNS: Columns = {
    "waited / ms": cell("waited_ms"), "data sets": cell("sets", "{:,d}"), **RATIO, "difference": cell("difference", "{:.0e}"),
    "lost": cell("lost", "{:.0e}"), "failed": cell("failed", "{:,d}"),
}  # fmt: skip

#: Density -> its parameters, and SciPy's fit in our parametrisation.
DENSITIES: dict[str, tuple[tuple[float, ...], Callable[[np.ndarray], tuple[float, ...]]]] = {
    "gamma": ((2.5, 1.5), lambda x: (lambda a, _, scale: (a, 1 / scale))(*stats.gamma.fit(x, floc=0))),
    "weibull": ((0.8, 100.0), lambda x: (lambda c, _, scale: (c, scale))(*stats.weibull_min.fit(x, floc=0))),
    "student_t": ((4.0, 1.0, 2.0), stats.t.fit),
}


@dataclass(frozen=True)
class Case:
    """Data sets (G, N) of a density."""

    density: str
    n_sets: int
    n: int

    @property
    def title(self) -> str:
        return f"{self.density}, {self.n_sets:,} × {self.n:,}"

    def data(self) -> np.ndarray:
        return gs.densities[self.density].rvs(*DENSITIES[self.density][0], size=(self.n_sets, self.n), rng=17)


def ours(report: Report, case: Case, x: np.ndarray, theirs: np.ndarray, peer: Peer) -> Row:
    """Row of gpustats: all data sets, and the difference of some estimates from SciPy's."""
    density = gs.densities[case.density]
    fit = density.fit(x)
    some = slice(len(theirs))
    estimates, errors = (np.stack(list(v.values()), -1)[some] for v in (fit.parameters, fit.standard_errors))
    lost = [density.loglik(x[g], *theirs[g]) - fit.log_likelihood[g] for g in range(len(theirs))]
    found = {"difference": np.nanmax(np.abs(estimates - theirs) / errors, initial=0), "lost": max(0, *lost)}
    found |= {"failed": int(np.sum(~fit.converged)), "sets": case.n_sets}
    return found | {"waited_ms": report.measure(lambda: density.fit(x), peer)["waited_us"] / 1e3}


def scipys(report: Report, case: Case, x: np.ndarray, theirs: np.ndarray, peer: Peer) -> Row:
    """Row of SciPy: some of the data sets, one after another."""
    fit = DENSITIES[case.density][1]
    waited = report.measure(lambda: [fit(data) for data in x[: len(theirs)]], peer)["waited_us"] / 1e3
    return {"waited_ms": waited * case.n_sets / len(theirs), "sets": len(theirs)}


def rows(report: Report, case: Case, peers: list[Peer], sample: int) -> list[Row]:
    x = case.data()
    theirs = np.array([DENSITIES[case.density][1](data) for data in x[:sample]])
    measured: dict[type[Peer], Callable[..., Row]] = {GPUStats: ours, SciPy: scipys}
    row: dict[str, Any] = {"work": case.title, "time": "waited_ms"}
    return [attempt(row | {"peer": p.name}, measured[type(p)], report, case, x, theirs, p) for p in peers]


def main(argv: list[str] | None = None) -> int:
    parser = options("fits", __doc__)
    parser.add_argument("--sample", type=int, help="data sets that SciPy fits (default: 20)")
    args = parser.parse_args(argv)
    report = Report(args)
    sample = report.default(args.sample, gpu=20, cpu=20, quick=2)
    sizes = report.default(None, gpu=[(10_000, 1000)], cpu=[(10_000, 1000)], quick=[(50, 100)])
    peers = report.peers([GPUStats, SciPy])
    for case in report.wanted([Case(density, *size) for density in DENSITIES for size in sizes]):
        report.rows += rows(report, case, peers, sample)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
