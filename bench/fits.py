"""`python -m bench.fits`: maximum likelihood for many data sets at once, beside SciPy, which takes one after another; and
regressions from numbers to a table with errors, beside statsmodels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

import gpustats as gs

from .peers import GPUStats, Peer, SciPy, Statsmodels
from .report import RATIO, Columns, Report, Row, Table, attempt, cell, options, timed

NOTE = """\
waited: all fits with their standard errors, from data on the host to estimates (median). SciPy, which has no standard errors,
fits so many of the data sets; its time is that of all of them at this rate. difference: the largest of estimates, in standard
errors. lost: the largest by which a log-likelihood is smaller than SciPy's. failed: data sets whose search has not converged.
A regression is one data set, from arrays on the host to the table of estimates with their standard errors; differences are from
statsmodels' GLM. "robust" is such a table by HC0.
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


@dataclass(frozen=True)
class Regression:
    """Logistic regression of N rows on k columns and an intercept; `robust`: with errors by HC0."""

    n: int
    k: int
    robust: bool = False

    @property
    def title(self) -> str:
        return f"logistic regression{', robust' * self.robust}, {self.n:,} × {self.k}"

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(17)
        X = rng.normal(size=(self.n, self.k))
        eta = X @ rng.normal(size=self.k) / np.sqrt(self.k) + 0.3
        return (rng.uniform(size=self.n) < 1 / (1 + np.exp(-eta))).astype(float), X


def regressed(report: Report, case: Regression, data: tuple[np.ndarray, np.ndarray], theirs: Any, peer: Peer) -> Row:
    """Row of gpustats: a model of the arrays, its fit, and the table."""
    y, X = data

    def work() -> Any:
        fit = gs.GLM(gs.bernoulli_logit, y, X).fit()
        fit = fit.robust() if case.robust else fit
        return fit, fit.summary()

    fit, _ = work()
    params, errors, loglik = theirs
    difference = float(np.max(np.abs(fit.estimates - params) / errors))
    found = {"difference": difference, "lost": max(0.0, loglik - fit.log_likelihood)}
    found |= {"failed": int(not fit.converged), "sets": 1}
    return found | {"waited_ms": report.measure(work, peer)["waited_us"] / 1e3}


def regression_of_statsmodels(y: np.ndarray, X: np.ndarray, robust: bool) -> Any:
    """Fit of statsmodels' GLM, whose table is made."""
    import statsmodels.api as sm

    model = sm.GLM(y, np.column_stack([X, np.ones(len(y))]), family=sm.families.Binomial())
    fit = model.fit(cov_type="HC0" if robust else "nonrobust")
    fit.summary()
    return fit


def regression_rows(report: Report, case: Regression, peers: list[Peer]) -> list[Row]:
    data = case.data()
    fit, seconds = timed(lambda: regression_of_statsmodels(*data, case.robust))
    theirs = np.asarray(fit.params), np.asarray(fit.bse), float(fit.llf)
    found = []
    for peer in peers:
        row: dict[str, Any] = {"work": case.title, "time": "waited_ms", "peer": peer.name}
        if isinstance(peer, GPUStats):
            found.append(attempt(row, regressed, report, case, data, theirs, peer))
        else:
            found.append(row | {"waited_ms": 1e3 * seconds, "sets": 1})
    return found


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
    large = report.default(None, gpu=[(1_000_000, 50)], cpu=[(1_000_000, 50)], quick=[(2000, 4)])
    cases: list[Case | Regression] = [Case(density, *size) for density in DENSITIES for size in sizes]
    cases += [Regression(*size, robust) for size in large for robust in (False, True)]
    for case in report.wanted(cases):
        if isinstance(case, Regression):
            report.rows += regression_rows(report, case, report.peers([GPUStats, Statsmodels]))
        else:
            report.rows += rows(report, case, report.peers([GPUStats, SciPy]), sample)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
