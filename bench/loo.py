"""`python -m bench.loo`: leave-one-out cross-validation of rows in pieces, beside ArviZ with a table of log-likelihoods.

The models have groups, each with an intercept of its own, and draws around the truth as a posterior of so many rows has them.
ArviZ gets the first rows, whose table NumPy and SciPy compute.
"""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

import gpustats as gs
from gpustats.comparison.elpd import is_old

from .peers import GPUStats, Peer
from .report import RATIO, Columns, Report, Row, Table, attempt, cell, options, size

NOTE = """\
seconds: of a call (the second one), from data, draws and a model to a result; ArviZ's with its table. a row: that over the
number of rows, by which the two are compared. host: the most memory that the process has taken so far, with data and draws.
difference: the largest of a row's elpd, of those that both have.
"""
COLUMNS: Columns = {
    "rows": cell("rows", "{:,d}"), "seconds": cell("seconds"), "a row / µs": cell("row_us"), **RATIO,
    "host / GB": cell("host_gb", "{:.2f}"), "difference": cell("difference", "{:.0e}"),
}  # fmt: skip
CHAINS = 4


class ArviZ(Peer):
    name = "ArviZ"
    asynchronous = False


@dataclass(frozen=True)
class Case:
    """Rows of groups, as a text of C, and their table by NumPy."""

    title: str
    text: str
    outcome: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    table: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # of outcomes, means, scales


CASES = [
    Case(
        "Gaussian, groups",
        "real row(real y, real x, real a, real b, real sigma) { return normal_logpdf(y, a + b * x, sigma); }",
        lambda rng, eta: eta + rng.normal(size=eta.size), stats.norm.logpdf,
    ),
    Case(
        "logistic, groups",
        "real row(int y, real x, real a, real b) { return bernoulli_logit_logpmf(y, a + b * x); }",
        lambda rng, eta: (rng.random(eta.size) < special.expit(eta)).astype(np.uint8),
        lambda y, eta, sigma: special.log_expit(np.where(y, eta, -eta)),
    ),
]  # fmt: skip


class Problem:
    """Data of a case and draws of its posterior."""

    def __init__(self, case: Case, n: int, n_draws: int, n_groups: int):
        rng, lead = np.random.default_rng(17), (CHAINS, n_draws // CHAINS)
        self.case, self.group, self.x = case, rng.integers(0, n_groups, n), rng.normal(size=n)
        a, error = rng.normal(size=n_groups), 1 / np.sqrt(n)
        self.y = case.outcome(rng, a[self.group] + self.x / 2)
        self.draws = {
            "a": a + error * np.sqrt(n_groups) * rng.normal(size=(*lead, n_groups)),
            "b": 0.5 + error * rng.normal(size=lead), "sigma": np.exp(error * rng.normal(size=lead)),
        }  # fmt: skip
        self.n_draws = n_draws

    def ours(self) -> Any:
        rows = gs.Rows(self.case.text, y=self.y, x=self.x, a=gs.gather(self.group))
        return gs.loo(rows, {n: self.draws[n] for n in rows.parameters}, r_eff=1.0)

    def theirs(self, n: int) -> Any:
        """Result of ArviZ for the first n rows."""
        a, b, sigma = self.draws.values()
        eta = a[..., self.group[:n]] + b[..., None] * self.x[:n]
        table = {"y": self.case.table(self.y[:n], eta, sigma[..., None])}
        if is_old():
            import arviz

            return arviz.loo(arviz.from_dict(posterior=self.draws, log_likelihood=table), pointwise=True, reff=1.0)
        import arviz_base
        import arviz_stats

        data = arviz_base.from_dict({"posterior": self.draws, "log_likelihood": table})
        return arviz_stats.loo(data, pointwise=True, reff=1.0)


def by_row(found: Any) -> np.ndarray:
    values: np.ndarray = (found.loo_i if is_old() else found.elpd_i).values
    return values


def measured(report: Report, problem: Problem, peer: Peer, few: int, kept: dict[str, np.ndarray]) -> Row:
    n = problem.y.size if isinstance(peer, GPUStats) else few

    def call() -> Any:
        with warnings.catch_warnings(action="ignore"):
            return problem.ours() if isinstance(peer, GPUStats) else problem.theirs(few)

    kept[peer.name] = by_row(call())[:few]
    seconds = report.measure(call, peer)["waited_us"] / 1e6
    row: Row = {"rows": n, "seconds": seconds, "row_us": seconds / n * 1e6}
    row["host_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    if len(kept) > 1:
        row["difference"] = float(np.abs(kept["gpustats"] - kept[peer.name]).max())
    return row


def main(argv: list[str] | None = None) -> int:
    parser = options("loo", __doc__)
    parser.add_argument("--n", type=size, help="number of rows (default: 2,600,000, on a CPU 100,000)")
    parser.add_argument("--draws", type=size, help="of the posterior (default: 4,000)")
    parser.add_argument("--groups", type=size, help="default: 17")
    parser.add_argument("--few", type=size, help="rows of ArviZ's table (default: 5,000)")
    args = parser.parse_args(argv)
    report = Report(args)
    n = report.default(args.n, gpu=2_600_000, cpu=100_000, quick=300)
    n_draws = report.default(args.draws, gpu=4000, cpu=4000, quick=200)
    n_groups = report.default(args.groups, gpu=17, cpu=17, quick=5)
    few = min(report.default(args.few, gpu=5000, cpu=5000, quick=100), n)
    peers = report.peers([GPUStats, ArviZ])
    for case in report.wanted(CASES):
        problem, kept = Problem(case, n, n_draws, n_groups), dict[str, np.ndarray]()
        title = f"{case.title}, {n:,} rows × {n_draws:,} draws"
        row: dict[str, Any] = {"work": title, "time": "row_us"}
        report.rows += [attempt(row | {"peer": p.name}, measured, report, problem, p, few, kept) for p in peers]
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
