"""`python -m bench.field.matern_fields`: estimates and predictions of Matérn fields at a million locations, as KAUST's
competition.

Recipe: a stationary Gaussian process of mean 0 with a Matérn covariance at a million locations of the unit square, nine
of ten to learn from, the others to predict; covariance parameters are estimated, then the rest is predicted. Locations
are places of a lattice of 4 √n by 4 √n, drawn without replacement, so that fields are drawn exactly, by circulant
embedding. Variance 1, ν = 1/2 and 3/2, lengthscales 0.1 / 3 and 0.1 / 4.75 (correlations of 0.05 at a distance of 0.1),
and measurement errors with a standard deviation of 0.1: the competition's own data were made by ExaGeoStat with other
values, and their errors do not compare with these. What compares is how near predictions come to those with the true
parameters, and how long that takes.

Source: Huang, Abdulah, Sun, Ltaief, Keyes & Genton (2021), Competition on spatial statistics for large datasets, Journal
of Agricultural, Biological and Environmental Statistics 26, 580-595.

Method here: Vecchia's approximation of 30 neighbours, by maximum likelihood, ν known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import gpustats as gs

from ..report import Columns, Report, Row, Table, attempt, cell, options, size, timed
from . import grids

NOTE = """\
setup: order and neighbours. fit: to the largest likelihood from a start that is wrong by a factor of two; iterations: of
L-BFGS-B. predictions: of one location in ten. rmse: of predictions of observations; truth's: the same with the true
parameters; more: by how much the first is larger. Estimates are those of the amplitude, the lengthscale and the standard
deviation of errors, over the true ones.
"""
COLUMNS: Columns = {
    "setup / s": cell("setup_s", "{:.2f}"), "fit / s": cell("seconds", "{:.2f}"), "iterations": cell("iterations", "{:d}"),
    "predictions / s": cell("predictions_s", "{:.2f}"), "rmse": cell("rmse", "{:.5f}"), "truth's": cell("truth_rmse", "{:.5f}"),
    "more": cell("excess", "{:.3f} %", 100),
    "covered": cell("coverage", "{:.1f} %", 100),
    "estimates over truth": lambda row: ", ".join(f"{value:.3f}" for value in row["relative"].values()),
}  # fmt: skip
NOISE = 0.1
FIELDS = {0.5: (gs.matern12, 0.1 / 3), 1.5: (gs.matern32, 0.1 / 4.75 * 3**0.5)}  # ν: covariance, lengthscale


@dataclass(frozen=True)
class Case:
    """Field of n locations."""

    nu: float
    n: int

    @property
    def title(self) -> str:
        return f"ν={self.nu:g}, n={self.n:,}"

    @property
    def truth(self) -> dict[str, float]:
        return {"amplitude": 1.0, "lengthscale": FIELDS[self.nu][1], "sigma": NOISE}

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Locations (n, 2) and observations."""
        rng, side = np.random.default_rng(7), 4 * round(self.n**0.5)
        field = grids.drawn((side, side), (1 / side, 1 / side), grids.matern(self.nu, 1.0, FIELDS[self.nu][1]), rng)
        places = rng.choice(side * side, self.n, replace=False)
        return np.column_stack(np.divmod(places, side)) / side, field.ravel()[places] + NOISE * rng.standard_normal(self.n)


def measured(case: Case, neighbours: int) -> Row:
    x, y = case.data()
    cov, truth, learned = FIELDS[case.nu][0], case.truth, len(x) * 9 // 10
    gs.gp.Vecchia(cov, x[:500], y[:500], neighbours).fit(truth, errors=False)  # compiles
    v, setup = timed(lambda: gs.gp.Vecchia(cov, x[:learned], y[:learned], neighbours))
    fit, seconds = timed(lambda: v.fit({name: 2 * value for name, value in truth.items()}, errors=False))
    found, predictions = timed(lambda: v.predict(x[learned:], noise=True, **fit.values))
    at_truth: Any = v.predict(x[learned:], noise=True, **truth)
    truth_rmse = float(np.sqrt(np.mean((y[learned:] - at_truth.mean) ** 2)))
    row = grids.scores(y[learned:], found.mean, found.scale, *found.interval(0.95))
    return row | {
        "n": case.n, "setup_s": setup, "seconds": seconds, "predictions_s": predictions, "iterations": fit.n_iterations,
        "truth_rmse": truth_rmse, "excess": row["rmse"] / truth_rmse - 1,
        "relative": {name: float(fit.values[name]) / value for name, value in truth.items()},
    }  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    parser = options("field.matern_fields", __doc__.split("\n\n")[0])
    parser.add_argument("--n", type=size, action="append", help="locations, repeatable; default: 1e6, on a CPU 20,000")
    parser.add_argument("--nu", type=float, action="append", choices=[*FIELDS], help="repeatable; default: both")
    parser.add_argument("--neighbours", type=int, default=30, help="default: 30")
    args = parser.parse_args(argv)
    report = Report(args)
    sizes = report.default(args.n, gpu=[10**6], cpu=[20_000], quick=[400])
    for case in report.wanted([Case(nu, n) for n in sizes for nu in args.nu or FIELDS]):
        row: Row = {"work": case.title, "peer": "gpustats", "time": "seconds"}
        report.rows.append(attempt(row, measured, case, args.neighbours))
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
