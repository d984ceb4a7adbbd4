"""`python -m bench.boxes`: probabilities of boxes of multivariate normal vectors, many at once, beside SciPy, box by box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

import gpustats as gs
from gpustats.transforms.box_probability import SHIFTS, Probability

from .peers import GPUStats, Peer, SciPy
from .report import RATIO, Columns, Report, Row, Table, attempt, cell, options

TOLERANCE = 1e-5  # absolute, which SciPy's default is: three standard errors
NOTE = """\
waited: a box, from bounds on the host to probabilities there (median of calls over all boxes). SciPy has so many of them.
difference: the largest between the two, absolute; told: the largest standard error that gpustats tells. The boxes are
distribution functions at draws of the distribution, to an absolute error of 1e-5 (three standard errors), SciPy's default.
"""
COLUMNS: Columns = {
    "waited / µs a box": cell("waited_us"), "boxes": cell("boxes", "{:,d}"), **RATIO,
    "difference": cell("difference", "{:.0e}"), "told": cell("told", "{:.0e}"),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Boxes in `dim` dimensions."""

    dim: int
    boxes: int

    @property
    def title(self) -> str:
        return f"{self.dim} dimensions"

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Upper bounds, and the covariance matrix."""
        rng = np.random.default_rng(self.dim)
        root = rng.normal(size=(self.dim, self.dim + 2))
        cov = root @ root.T
        return rng.multivariate_normal(np.zeros(self.dim), cov, size=self.boxes), cov


def ours(x: np.ndarray, cov: np.ndarray) -> Probability:
    mean, points = np.zeros(len(cov)), 1_000_000 * len(cov) // SHIFTS
    return gs.box_probability(-np.inf, x, mean, cov, rtol=TOLERANCE / 3, atol=TOLERANCE / 3, points=points)


def theirs(x: np.ndarray, cov: np.ndarray) -> np.ndarray:
    return np.atleast_1d(stats.multivariate_normal.cdf(x, np.zeros(len(cov)), cov))


def rows(report: Report, case: Case, peers: list[Peer], sample: int) -> list[Row]:
    x, cov = case.data()

    def row(peer: Peer) -> Row:
        if isinstance(peer, SciPy):
            return {"boxes": sample, "waited_us": report.measure(lambda: theirs(x[:sample], cov), peer)["waited_us"] / sample}
        found = ours(x, cov)
        probabilities = np.exp(found.log)
        made = {"boxes": len(x), "told": float((probabilities * found.error).max())}
        made["difference"] = float(np.abs(probabilities[:sample] - theirs(x[:sample], cov)).max())
        return made | {"waited_us": report.measure(lambda: ours(x, cov), peer)["waited_us"] / len(x)}

    return [attempt({"work": case.title, "peer": p.name, "time": "waited_us"}, row, p) for p in peers]


def main(argv: list[str] | None = None) -> int:
    parser = options("boxes", __doc__)
    parser.add_argument("--sample", type=int, help="boxes that SciPy has (default: 100)")
    args = parser.parse_args(argv)
    report = Report(args)
    sample = report.default(args.sample, gpu=100, cpu=100, quick=5)
    boxes = report.default(None, gpu=[20_000], cpu=[1_000], quick=[10])[0]
    peers = report.peers([GPUStats, SciPy])
    for case in report.wanted(Case(dim, boxes) for dim in ((2, 3) if report.quick else (2, 3, 5, 10, 20))):
        report.rows += rows(report, case, peers, sample)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
