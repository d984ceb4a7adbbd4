"""`python -m bench.differential_equations`: log-likelihoods of many patients and reactors, with their gradients.

A patient's drug in two compartments is solved in closed form and in steps; Robertson's reactors are stiff. A thread of gpustats
goes through the observations of one, with derivatives beside the states. diffrax solves all equations at once (`jax.vmap`), and
differentiates back through its steps; it is measured where it is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gpustats as gs

from .peers import JAX, GPUStats, Peer
from .report import DIFFERENCE, RATIO, TIMES, TIMES_NOTE, Report, Row, Table, attempt, difference, options, size

NOTE = TIMES_NOTE + """\
Tolerances are 1e-6 relative to each state, and 1e-9 absolute. difference: of the value, relative to it, and of each derivative,
relative to the largest, from those of the first row.
"""
COLUMNS = TIMES | RATIO | DIFFERENCE
RTOL, ATOL = 1e-6, 1e-9


@dataclass(frozen=True)
class Case:
    """System of differential equations that is observed.

    Attributes
    ----------
    title : str
    name, rates : str
        Name and text of the function of the rates.
    parameters : dict
        Those of the rates, in their order.
    seen : str
        What is observed of the states y, in C and in Python.
    start : tuple
        States at time 0; `x` is a number of the row.
    last : float
        Time of the last of all observations.
    in_jax : callable
        ``in_jax(y, **parameters)`` gives the rates.
    methods : dict
        Peer -> method of `gpustats.ode_steps`, or "closed"; the first one is that of "gpustats".
    solver : str
        Solver of diffrax.
    """

    title: str
    name: str
    rates: str
    parameters: dict[str, float]
    seen: str
    start: tuple[float | str, ...]
    last: float
    in_jax: Callable[..., list[Any]]
    methods: dict[str, str]
    solver: str


def two_compartments(y: Any, CL: Any, V: Any, Q2: Any, V2: Any) -> list[Any]:
    flow = Q2 / V * y[0] - Q2 / V2 * y[1]
    return [-CL / V * y[0] - flow, flow]


def robertson(y: Any, k1: Any, k2: Any, k3: Any) -> list[Any]:
    first, last = -k1 * y[0] + k3 * y[1] * y[2], k2 * y[1] * y[1]
    return [first, -first - last, last]


CASES = [
    Case(
        "two compartments", "drug",
        """
        __device__ void drug(real t, const real *y, real *rate, real CL, real V, real Q2, real V2)
        {
            real flow = Q2 / V * y[0] - Q2 / V2 * y[1];
            rate[0] = -CL / V * y[0] - flow;
            rate[1] = flow;
        }""",
        {"CL": 1.2, "V": 4.0, "Q2": 2.5, "V2": 11.0}, "y[0] / V", ("x", 0.0), 24.0, two_compartments,
        {"gpustats": "closed", "gpustats, dopri5": "dopri5", "gpustats, rodas5p": "rodas5p"}, "Dopri5",
    ),
    Case(
        "Robertson's reactors", "reactor",
        """
        __device__ void reactor(real t, const real *y, real *rate, real k1, real k2, real k3)
        {
            rate[0] = -k1 * y[0] + k3 * y[1] * y[2];
            rate[2] = k2 * y[1] * y[1];
            rate[1] = -rate[0] - rate[2];
        }""",
        {"k1": 0.04, "k2": 3e7, "k3": 1e4}, "y[0]", ("x", 0.0, 0.0), 1000.0, robertson,
        {"gpustats": "rodas4", "gpustats, rodas5p": "rodas5p"}, "Kvaerno5",
    ),
]  # fmt: skip


def observations(case: Case, n: int, length: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(15)
    time = np.sort(rng.uniform(0.01, 1, (n, length)) ** 2, axis=1) * case.last
    return {"time": time, "seen": rng.uniform(0, 1, (n, length)), "x": rng.uniform(0.5, 1.5, n)}


# -- Each library as a good user of it writes the work: (peer, case, data) -> a function that starts it, which returns the value
# -- and the derivatives in the order of the parameters.


class Own(GPUStats):
    """Peer for one of the methods of gpustats."""

    methods = "gpustats, dopri5", "gpustats, rodas5p"

    def __init__(self, gpu: bool, name: str):
        super().__init__(gpu)
        self.name = name


def with_gpustats(peer: GPUStats, case: Case, data: dict[str, np.ndarray]) -> Callable[[], tuple[Any, ...]]:
    method, n, names = case.methods[peer.name], len(case.start), list(case.parameters)
    if method == "closed":
        text = gs.compartment_steps(n, name=case.name)
    else:
        text = case.rates + gs.ode_steps(case.name, n, names, method=method, rtol=RTOL, atol=ATOL)
    rows = gs.Rows(
        text + f"""
        __device__ real row(const real *time, const real *seen, int n, real x, {", ".join(f"real {name}" for name in names)})
        {{
            real y[{n}] = {{{", ".join(map(str, case.start))}}}, before = 0, loglik = 0;
            for (int i = 0; i < n; i++) {{
                {case.name}_advance(before, time[i], y, {", ".join(names)});
                loglik += normal_logpdf(seen[i], {case.seen}, 0.2);
                before = time[i];
            }}
            return loglik;
        }}""", time=gs.sequences(data["time"]), seen=gs.sequences(data["seen"]), x=data["x"],
    )  # fmt: skip

    def call() -> tuple[Any, ...]:
        value, gradient = rows.value_and_grad(**case.parameters)
        return value, *gradient.values()

    return call


class Diffrax(JAX):
    """Peer for diffrax, with the controller of steps that it advises."""

    name = "diffrax"

    def __init__(self, gpu: bool):
        super().__init__(gpu)
        import diffrax

        self.diffrax = diffrax


def with_diffrax(peer: Diffrax, case: Case, data: dict[str, np.ndarray]) -> Callable[[], tuple[Any, ...]]:
    jax, jnp, diffrax = peer.jax, peer.jax.numpy, peer.diffrax
    observed = {name: peer.put(numbers) for name, numbers in data.items()}
    parameters = {name: peer.put(value) for name, value in case.parameters.items()}
    term = diffrax.ODETerm(lambda t, y, given: jnp.stack(case.in_jax(y, **given)))
    controller = diffrax.PIDController(rtol=RTOL, atol=ATOL)

    def of_row(given: dict[str, Any], row: dict[str, Any]) -> Any:
        start = jnp.stack([row["x"] if v == "x" else jnp.asarray(v) for v in case.start])
        found = diffrax.diffeqsolve(
            term, getattr(diffrax, case.solver)(), 0.0, row["time"][-1], None, start, given, max_steps=4096,
            saveat=diffrax.SaveAt(ts=row["time"]), stepsize_controller=controller,
        )  # fmt: skip
        expected = eval(case.seen, {"y": found.ys.T, **given})
        z = (row["seen"] - expected) / 0.2
        return (-0.5 * z * z).sum() - row["seen"].size * (jnp.log(0.2) + 0.5 * jnp.log(2 * jnp.pi))

    work = jax.jit(jax.value_and_grad(lambda given, rows: jax.vmap(of_row, (None, 0))(given, rows).sum()))

    def call() -> tuple[Any, ...]:
        value, gradient = work(parameters, observed)
        return value, *(gradient[name] for name in parameters)

    return call


def rows(report: Report, case: Case, peers: list[Peer], n: int, length: int) -> list[Row]:
    """Rows of a case: one for each library and method."""
    data = observations(case, n, length)
    expected = np.array(with_gpustats(GPUStats(report.gpu), case, data)())

    def measured(peer: Peer) -> Row:
        call = with_diffrax(peer, case, data) if isinstance(peer, Diffrax) else with_gpustats(peer, case, data)
        found = np.array([np.asarray(number, float) for number in call()])
        return {"difference": difference(found, expected)} | report.measure(call, peer)

    made = []
    for peer in peers:
        if isinstance(peer, Diffrax) or peer.name in case.methods:
            work = f"{case.title}, {n:,} × {length:,}"
            row = {"work": work, "peer": peer.name, "time": "waited_us", "n": n, "length": length}
            made.append(attempt(row, measured, peer))
    return made


def main(argv: list[str] | None = None) -> int:
    parser = options("differential_equations", __doc__)
    parser.add_argument("--n", type=size, help="number of patients (default: 10,000, on a CPU 500)")
    parser.add_argument("--length", type=size, help="number of observations of each (default: 10)")
    args = parser.parse_args(argv)
    report = Report(args)
    n = report.default(args.n, gpu=10_000, cpu=500, quick=20)
    length = report.default(args.length, gpu=10, cpu=10, quick=4)
    first, *others = report.peers([GPUStats, Diffrax])
    peers = [first, *(Own(report.gpu, name) for name in Own.methods), *others]
    for case in report.wanted(CASES):
        report.rows += rows(report, case, peers, n, length)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
