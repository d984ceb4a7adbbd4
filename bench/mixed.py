"""`python -m bench.mixed`: mixed models from numbers to a table with errors, beside R's lme4 and statsmodels."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gpustats as gs

from .peers import GPUStats, Peer, Statsmodels
from .report import RATIO, Columns, Report, Row, Table, attempt, cell, options, timed

NOTE = """\
waited: a fit with its standard errors, from arrays on the host to the table (median; other libraries: once). lme4's time is
that of lmer or glmer, from a data frame. difference: the largest of fixed effects from gpustats, in standard errors.
log-likelihood: the restricted one of linear models.
"""
COLUMNS: Columns = {
    "waited / ms": cell("waited_ms"), **RATIO, "difference": cell("difference", "{:.0e}"),
    "log-likelihood": cell("loglik", "{:.4f}"),
}  # fmt: skip
TWO = ("crossed", "nested", "moving")  # kinds with intercepts of two groupings
SCRIPT = Path(__file__).with_suffix(".R")


@dataclass(frozen=True)
class Case:
    """Model of N rows and k columns.

    `kind` is "slopes", an intercept and a slope for each of the groups; intercepts of two groupings, "crossed", "nested", or
    "moving", in which each group has rows in a few near ones of the others; or "logistic", intercepts and outcomes that are 0
    or 1.
    """

    kind: str
    n: int
    groups: int
    others: int = 0
    k: int = 5

    @property
    def title(self) -> str:
        beside = f" + {self.others:,}" if self.others else ""
        return f"{self.kind}, {self.n:,} rows, {self.groups:,}{beside} groups"

    def data(self) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(17)
        X, g = rng.normal(size=(self.n, self.k)), rng.integers(0, self.groups, self.n).astype(np.int32)
        h = rng.integers(0, max(self.others, 1), self.n).astype(np.int32)
        if self.kind in ("nested", "moving"):
            near = g.astype(np.int64) * self.others // self.groups + h % {"nested": 1, "moving": 5}[self.kind]
            h = (near % self.others).astype(np.int32)
        eta = X @ np.linspace(-1, 1, self.k) + 0.5 + 0.5 * rng.normal(size=self.groups)[g]
        if self.kind == "slopes":
            eta += 0.3 * X[:, 0] * rng.normal(size=self.groups)[g]
        if self.kind in TWO:
            eta += 0.4 * rng.normal(size=self.others)[h]
        if self.kind == "logistic":
            y = (rng.uniform(size=self.n) < 1 / (1 + np.exp(-eta))).astype(float)
        else:
            y = eta + rng.normal(size=self.n)
        return {"X": X, "y": y, "g": g, "h": h}


class Lme4(Peer):
    """R's lme4, in a process of its own."""

    name = "lme4"
    asynchronous = False

    def __init__(self, gpu: bool):
        command = shutil.which("Rscript")
        if command is None or subprocess.run([command, "-e", "library(lme4)"], capture_output=True).returncode:
            raise ImportError("no Rscript with lme4")
        self.command = command


def fitted(case: Case, data: dict[str, np.ndarray]) -> Any:
    """Fit of gpustats, whose table is made."""
    X, g = data["X"], data["g"]
    groups: dict[str, Any] = {"g": g}
    if case.kind == "slopes":
        groups["g"] = g, np.column_stack([np.ones(case.n), X[:, 0]])
    if case.kind in TWO:
        groups["h"] = data["h"]
    density, eta = (gs.bernoulli_logit, "eta") if case.kind == "logistic" else (gs.normal, "mu")
    fit = gs.GLM(density, data["y"], X, eta=eta, groups=groups).fit(random=tuple(groups))
    fit.summary()
    return fit


def ours(report: Report, case: Case, data: dict[str, np.ndarray], fit: Any, peer: Peer) -> Row:
    waited = report.measure(lambda: fitted(case, data), peer)["waited_us"] / 1e3
    return {"waited_ms": waited, "loglik": float(fit.log_likelihood)}


def difference(case: Case, fit: Any, fixed: np.ndarray) -> float:
    """Largest difference of fixed effects, the intercept first, in standard errors."""
    own, errors = (np.append(v["alpha"], v["beta"]) for v in (fit.parameters, fit.standard_errors))
    return float(np.max(np.abs(own - fixed) / errors))


def lme4s(report: Report, case: Case, data: dict[str, np.ndarray], fit: Any, peer: Peer) -> Row:
    assert isinstance(peer, Lme4)
    with tempfile.TemporaryDirectory() as folder:
        columns = {f"x{i}": column for i, column in enumerate(data["X"].T)}
        for name, values in (columns | {n: data[n] for n in ("y", "g", "h")}).items():
            np.ascontiguousarray(values).tofile(Path(folder) / name)
        given = [peer.command, str(SCRIPT), folder, str(case.n), str(case.k), case.kind]
        found = subprocess.run(given, capture_output=True, text=True, check=True).stdout.split()
    seconds, loglik, *fixed = map(float, found)
    return {"waited_ms": 1e3 * seconds, "loglik": loglik, "difference": difference(case, fit, np.array(fixed))}


def statsmodels(report: Report, case: Case, data: dict[str, np.ndarray], fit: Any, peer: Peer) -> Row:
    from statsmodels.regression.mixed_linear_model import MixedLM

    X = np.column_stack([np.ones(case.n), data["X"]])
    found, seconds = timed(lambda: MixedLM(data["y"], X, data["g"], exog_re=X[:, :2]).fit())
    return {
        "waited_ms": 1e3 * seconds, "loglik": float(found.llf),
        "difference": difference(case, fit, np.asarray(found.fe_params)),
    }  # fmt: skip


MEASURED: dict[type[Peer], Callable[..., Row]] = {GPUStats: ours, Lme4: lme4s, Statsmodels: statsmodels}


def rows(report: Report, case: Case, peers: list[Peer]) -> list[Row]:
    data = case.data()
    fit = fitted(case, data)
    row: dict[str, Any] = {"work": case.title, "time": "waited_ms"}
    able = {Statsmodels: case.kind == "slopes" and case.n <= 100_000, Lme4: case.kind != "logistic" or case.n <= 100_000}
    measured = [p for p in peers if able.get(type(p), True)]
    return [attempt(row | {"peer": p.name}, MEASURED[type(p)], report, case, data, fit, p) for p in measured]


def main(argv: list[str] | None = None) -> int:
    report = Report(options("mixed", __doc__).parse_args(argv))
    large = [
        Case("slopes", 100_000, 5000), Case("slopes", 1_000_000, 5000), Case("crossed", 100_000, 2000, 300, k=1),
        Case("nested", 1_000_000, 200_000, 30_000, k=1), Case("moving", 1_000_000, 200_000, 30_000, k=1),
        Case("crossed", 5_000_000, 23_000, 2000, k=1), Case("logistic", 100_000, 5000), Case("logistic", 1_000_000, 5000),
    ]  # fmt: skip
    quick = [
        Case("slopes", 500, 20), Case("crossed", 500, 20, 5, k=1), Case("moving", 500, 20, 5, k=1), Case("logistic", 500, 20),
    ]
    for case in report.wanted(report.default(None, gpu=large, cpu=large, quick=quick)):
        report.rows += rows(report, case, report.peers([GPUStats, Lme4, Statsmodels]))
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
