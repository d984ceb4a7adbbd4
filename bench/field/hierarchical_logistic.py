"""`python -m bench.field.hierarchical_logistic`: NUTS for a Bernoulli model of K groups, NumPyro's issue 2225.

Recipe: y of 100,000 rows in K groups is Bernoulli with log odds mu + tau z[group], mu ~ N(0, 1.5), tau ~ half-normal(1),
z ~ N(0, 1); one chain, 1,000 draws to tune and 2,000 that are kept. The issue's data are not published: rows lie in
groups at random here, with log odds from N(0.5, 1), so that gradients of a draw differ, and steps stand beside the
seconds.

Source: https://github.com/pyro-ppl/numpyro/issues/2225 (July 2026), one NVIDIA L4, float32. JAX 0.9.1 with NumPyro 0.20.0
took 26.76, 23.70, 18.19 and 38.16 s for K = 8, 48, 900 and 15,000, with 23.7, 28.8, 15 and 31 gradients a draw; JAX
0.10.2 with NumPyro 0.21.0 took 5,102, 1,554, 40.7 and 40.2 s, as it adds up few groups by scatters that wait for each
other.

A NumPyro author runs ``python -m bench.field.hierarchical_logistic --peer NumPyro --peer "NumPyro, plain"``.
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import models, nuts
from ..report import RATIO, Columns, Report, Row, Table, cell, options, size

#: K: seconds on an L4 by JAX 0.9.1 with NumPyro 0.20.0, gradients of a draw, and seconds by JAX 0.10.2 with NumPyro 0.21.0.
PUBLISHED = {8: (26.76, 23.66, 5101.77), 48: (23.70, 28.76, 1554.13), 900: (18.19, 15, 40.66), 15_000: (38.16, 31, 40.15)}
NOTE = nuts.NOTE + """\
L4: NumPyro's issue 2225, in float32, on an NVIDIA L4, by JAX 0.9.1 and 0.10.2; its steps: gradients of a draw there.
"""
COLUMNS: Columns = nuts.COLUMNS | RATIO | nuts.WAY | {
    "L4 / s": cell("published_s"), "its steps": cell("published_steps", "{:.1f}"),
    "L4, newer JAX / s": cell("published_newer_s"),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Model of k groups and n rows."""

    k: int
    n: int

    @property
    def title(self) -> str:
        return f"{self.k:,} groups, N={self.n:,}"

    def model(self) -> nuts.Model:
        return models.bernoulli_of(self.k, self.n)


def measured(report: Report, row: Row, case: Case, kind: type[nuts.Peer], draws: int, tune: int) -> Row:
    """Row of one library, in a process of its own."""
    return nuts.sampled(report, row, case.model(), kind(report.gpu), draws, 1, tune=tune)


def main(argv: list[str] | None = None) -> int:
    parser = options("field.hierarchical_logistic", __doc__.split("\n\n")[0])
    parser.add_argument("--n", type=size, help="rows (default: 100,000)")
    parser.add_argument("--k", type=size, action="append", help="groups, repeatable; default: 8, 48, 900, 15,000")
    parser.add_argument("--draws", type=size, help="that are kept (default: 2,000)")
    parser.add_argument("--tune", type=size, help="draws before these (default: 1,000)")
    parser.add_argument("--limit", type=float, default=600, help="seconds that a row may take (default: 600)")
    args = parser.parse_args(argv)
    report = Report(args)
    n = report.default(args.n, gpu=10**5, cpu=10**5, quick=1000)
    draws = report.default(args.draws, gpu=2000, cpu=2000, quick=20)
    tune = report.default(args.tune, gpu=1000, cpu=1000, quick=20)
    groups = report.default(args.k, gpu=list(PUBLISHED), cpu=list(PUBLISHED), quick=[8])
    for case in report.wanted([Case(k, n) for k in groups]):
        row: Row = {"work": f"{case.title}, {tune:,} + {draws:,} draws", "n": n, "k": case.k, "time": "sampling_s"}
        names = ("published_s", "published_steps", "published_newer_s")
        if (n, draws, tune) == (10**5, 2000, 1000) and case.k in PUBLISHED:
            row |= dict(zip(names, PUBLISHED[case.k], strict=True))
        for peer in nuts.suiting(report.peers(nuts.ALL_PEERS), case.model()):
            own = row | {"peer": peer.name, "chains": 1}
            report.keep(own | report.alone(args.limit, measured, report, own, case, type(peer), draws, tune), COLUMNS, NOTE)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
