"""`python -m bench.logistic_regression`: NUTS for a logistic regression, end to end, beside NumPyro and plain PyMC.

Data and model are those of Češnovar et al. (section 4.1): of k standard normal variables the first two matter, and priors are
flat. 500 draws after 500 to tune, of one chain and of four.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
from scipy import special

import gpustats as gs
import gpustats.pymc as gpm

from . import charts, nuts
from .peers import GPUStats
from .report import RATIO, Columns, Report, Row, Table, cell, names, options, size

NOTE = nuts.NOTE + """\
steps: gradients for each draw. apart: the largest distance of a posterior mean from gpustats', in posterior standard
deviations; noise of the draws makes that about the root of 2 / ESS.
"""
COLUMNS: Columns = nuts.COLUMNS | RATIO | {
    "β₁, β₂, α": lambda row: ", ".join(f"{mean:.3f}" for mean in (*row["means"]["beta"][:2], *row["means"]["alpha"])),
    "apart": cell("apart", "{:.2f}"),
}


@dataclass(frozen=True)
class Case:
    """Work of one row: N observations of k variables, sampled by some chains."""

    n: int
    k: int
    chains: int

    @property
    def title(self) -> str:
        chains = f"{self.chains} chain" + "s" * (self.chains > 1)
        return f"N={self.n:,} k={self.k}, {chains}"

    def model(self) -> nuts.Model:
        rng = np.random.default_rng(17)
        X = rng.normal(size=(self.n, self.k))
        y = rng.random(self.n) < special.expit(3 * X[:, 0] - 2 * X[:, 1] + 1)
        return nuts.Model((X, y.astype(int)), build, numpyro_model)


def build(X: np.ndarray, y: np.ndarray, ours: bool) -> pm.Model:
    with pm.Model() as model:
        beta, alpha = pm.Flat("beta", shape=X.shape[1]), pm.Flat("alpha")
        if ours:
            gpm.GLM("y", gs.bernoulli_logit, X=X, beta=beta, alpha=alpha, observed=y)
        else:
            pm.Bernoulli("y", logit_p=alpha + X @ beta, observed=y)
    return model


def numpyro_model(X: Any, y: Any) -> None:
    import numpyro
    from numpyro import distributions as d

    beta = numpyro.sample("beta", d.ImproperUniform(d.constraints.real, (), X.shape[1:]))
    alpha = numpyro.sample("alpha", d.ImproperUniform(d.constraints.real, (), ()))
    numpyro.sample("y", d.BernoulliLogits(X @ beta + alpha), obs=y)


def apart(row: Row, ours: Row) -> Row:
    """Row with its distance from that of gpustats."""
    if row is not ours and "means" in row and "means" in ours:
        shifts = [np.abs(np.subtract(row["means"][v], ours["means"][v])) / ours["sds"][v] for v in row["means"]]
        row["apart"] = float(max(shift.max() for shift in shifts))
    return row


def chart(report: dict[str, Any], path: Path) -> None:
    """Chart of seconds of sampling, and of the others' times over ours, over N, as figure 6 of the paper has it."""
    widths = sorted({row["k"] for row in report["rows"]})
    seconds = {k: charts.Panel(f"k = {k}", y="seconds of sampling") for k in widths}
    ratios = {k: charts.Panel("", "N", "time / gpustats' time", ratio=True) for k in widths}
    for row in report["rows"]:
        label = f"{row['peer']}, {row['chains']} chain" + "s" * (row["chains"] > 1)
        if "sampling_s" in row:
            seconds[row["k"]].add(label, row["n"], row["sampling_s"])
        if "ratio" in row and row["peer"] != GPUStats.name:
            ratios[row["k"]].add(label, row["n"], row["ratio"])
    charts.lines(path, names(report["devices"]), [list(seconds.values()), list(ratios.values())], "row")


def main(argv: list[str] | None = None) -> int:
    parser = options("logistic_regression", __doc__)
    parser.add_argument("--n", type=size, action="append", help="observations, repeatable; default: 1e4 to 1e6 (CPU: 1e3, 1e4)")
    parser.add_argument("--k", type=int, action="append", help="variables, repeatable; default: 10, 50 (CPU: 5, 20)")
    parser.add_argument("--chains", type=int, action="append", help="repeatable; default: 1, 4")
    parser.add_argument("--draws", type=int, help="and as many to tune (default: 500)")
    parser.add_argument("--repeats", type=int, default=1, help="of each measurement; the paper has 3 (default: 1)")
    parser.add_argument("--plain-up-to", type=size, default=10**6, help="the most N × k for plain PyMC (default: 1e6)")
    args = parser.parse_args(argv)
    report = Report(args)
    sizes = report.default(args.n, gpu=[10**4, 10**5, 10**6], cpu=[10**3, 10**4], quick=[10**3])
    widths = report.default(args.k, gpu=[10, 50], cpu=[5, 20], quick=[5])
    chains = report.default(args.chains, gpu=[1, 4], cpu=[1, 4], quick=[1])
    draws = report.default(args.draws, gpu=500, cpu=500, quick=50)
    peers = report.peers(nuts.PEERS)
    for case in report.wanted([Case(n, k, c) for k, n, c in product(widths, sizes, chains)]):
        model, work = case.model(), {"work": case.title, "n": case.n, "k": case.k}
        fast = [peer for peer in peers if peer.name != "PyMC" or case.n * case.k <= args.plain_up_to]
        rows = [nuts.sampled(report, work, model, peer, draws, case.chains, args.repeats) for peer in fast]
        report.rows += [apart(row, rows[0]) for row in rows]
    return report.write(Table(report.rows, COLUMNS, NOTE), chart=chart)


if __name__ == "__main__":
    raise SystemExit(main())
