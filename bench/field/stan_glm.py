"""`python -m bench.field.stan_glm`: Stan's own examples for GPUs, a logistic regression and a Gaussian process.

Recipe: n rows of k standard normal columns, of which two matter, 3 x1 - 2 x2 + 1 being the log odds: the value of
``bernoulli_logit_glm`` with its gradient in the intercept and k coefficients. And n points on a line, of a process with a
squared exponential covariance and noise: the marginal likelihood with its gradient in three hyperparameters, which in
Stan is the Cholesky factor with its reverse mode.

Source: Češnovar, Bronder, Sluga, Demšar, Ciglarič, Talts & Štrumbelj (2020), GPU-based parallel computation support for
Stan, arXiv:1907.01063, sections 4.1 and 4.2. Stan's column: Stan Math 5.3.0 with its OpenCL backend, measured in November
2026 on an NVIDIA H200, data resident on the device; of the process, the factor with its reverse mode alone.

The whole chain, by NUTS: ``python -m bench.logistic_regression`` and ``python -m bench.gp``, with the paper's data and
models. An author of Stan times ``bernoulli_logit_glm_lpmf`` with ``cmdstan``'s profiles, ``STAN_OPENCL=TRUE``, on the
same sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

import gpustats as gs

from ..peers import GPUStats
from ..report import Columns, Report, Row, Table, attempt, cell, options, size

#: Milliseconds by Stan Math 5.3.0, OpenCL, on an NVIDIA H200.
PUBLISHED = {
    ("GLM", 10**6, 50): 5.0, ("GLM", 10**6, 200): 5.2, ("GLM", 10**5, 100): 2.7, ("GLM", 10**4, 100): 2.3,
    ("process", 1024, 1): 20.8, ("process", 2048, 1): 37.9, ("process", 4096, 1): 73.2,
}  # fmt: skip
NOTE = """\
A value with its gradient, waited for (median), float64. Stan: Stan Math 5.3.0 with its OpenCL backend, measured in
November 2026 on an NVIDIA H200; of the process, the Cholesky factor with its reverse mode alone.
"""
COLUMNS: Columns = {
    "ms": cell("waited_us", "{:,.3f}", 1e-3), "Stan, H200 / ms": cell("published_ms", "{:.1f}"),
    "× ours": lambda row: f"{1e3 * row['published_ms'] / row['waited_us']:.1f}" if row.get("published_ms") else "",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A GLM of n rows and k columns, or a process of n points."""

    kind: str
    n: int
    k: int = 1

    @property
    def title(self) -> str:
        return f"logistic regression, {self.n:,} × {self.k}" if self.kind == "GLM" else f"Gaussian process, n={self.n:,}"

    def call(self) -> Callable[[], Any]:
        """Function that computes the value and the gradient."""
        rng = np.random.default_rng(17)
        if self.kind == "GLM":
            X = rng.normal(size=(self.n, self.k))
            y = (rng.random(self.n) < special.expit(3 * X[:, 0] - 2 * X[:, 1] + 1)).astype(float)
            model, beta = gs.GLM(gs.bernoulli_logit, y, X), rng.normal(size=self.k) / 10
            return lambda: model.value_and_grad(beta, 0.5)
        x = np.linspace(-10, 10, self.n)
        process = gs.gp.MarginalLikelihood(gs.rbf, x, np.sin(x) + 0.3 * rng.normal(size=self.n))
        return lambda: process.value_and_grad(amplitude=1.0, lengthscale=1.2, sigma=0.3)


def measured(report: Report, case: Case) -> Row:
    call = case.call()
    call()
    return report.measure(call, GPUStats(report.gpu)) | {"published_ms": PUBLISHED.get((case.kind, case.n, case.k))}


def main(argv: list[str] | None = None) -> int:
    parser = options("field.stan_glm", __doc__.split("\n\n")[0])
    parser.add_argument("--most", type=size, help="most rows or points (default: all cases, on a CPU 1e5, 1,024)")
    args = parser.parse_args(argv)
    report = Report(args)
    most = {"GLM": report.default(args.most, gpu=10**6, cpu=10**5, quick=1000),
            "process": report.default(args.most, gpu=4096, cpu=1024, quick=100)}  # fmt: skip
    found = dict.fromkeys(Case(kind, min(n, most[kind]), k) for kind, n, k in PUBLISHED)
    for case in report.wanted(found):
        report.rows.append(attempt({"work": case.title, "peer": "gpustats", "time": "waited_us"}, measured, report, case))
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
