"""`python -m bench.distribution_functions`: distribution functions and quantiles, beside SciPy and, if installed, JAX and CuPy.

SciPy computes in one thread of the host, also where ours are on a GPU. JAX has quantiles where TensorFlow Probability is
installed, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import special

import gpustats as gs

from .peers import JAX, CuPy, GPUStats, Peer, SciPy
from .report import DIFFERENCE, RATIO, TIMES, TIMES_NOTE, Report, Row, Table, attempt, cell, options, size

NOTE = TIMES_NOTE + """\
rate: numbers computed in the time enqueued. difference: the largest one from SciPy in float64 at 10,000 of the numbers,
relative to the value. Parameters are numbers, or, in "arrays", one set for each number.
"""
COLUMNS = TIMES | {"rate / 1e9/s": cell("rate", "{:.3g}", 1e-9)} | RATIO | DIFFERENCE

PARAMETERS = {"gamma": (2.5, 1.0), "beta": (2.0, 5.0), "student_t": (5.0, 0.0, 1.0)}
FUNCTIONS = ("cdf", "sf", "ppf")


@dataclass(frozen=True)
class Case:
    """A function of N draws of a density, or of N probabilities.

    Attributes
    ----------
    density : str
    function : {"cdf", "sf", "ppf"}
    n : int
    dtype : {"float32", "float64"}
    arrays : bool
        Whether each number has parameters of its own.
    """

    density: str
    function: str
    n: int
    dtype: str
    arrays: bool = False

    @property
    def title(self) -> str:
        inside = "arrays" if self.arrays else ", ".join(f"{p:g}" for p in PARAMETERS[self.density])
        return f"{self.density}.{self.function}({inside}), N={self.n:.0e} f{self.dtype[-2:]}".replace("e+0", "e")

    def data(self) -> list[Any]:
        """The numbers, of shape (N,), and the parameters."""
        rng, p = np.random.default_rng(12), PARAMETERS[self.density]
        parameters: list[Any] = list(p)
        if self.arrays:
            factors = {"gamma": (1, 0), "beta": (1, 1), "student_t": (1, 0, 0)}[self.density]
            parameters = [v * rng.uniform(0.5, 2, self.n) ** f for v, f in zip(p, factors, strict=True)]
        draws = {
            "gamma": lambda a, b: rng.gamma(a, 1 / b, self.n),
            "beta": lambda a, b: rng.beta(a, b, self.n),
            "student_t": lambda nu, mu, sigma: mu + sigma * rng.standard_t(nu, self.n),
        }[self.density]
        x = rng.random(self.n) if self.function == "ppf" else draws(*parameters)
        return [v.astype(self.dtype) if np.ndim(v) else v for v in (x, *parameters)]


def cases(n: int) -> list[Case]:
    found = [Case(d, f, n, t) for d in PARAMETERS for f in FUNCTIONS for t in ("float32", "float64")]
    return found + [Case(d, f, n, "float64", arrays=True) for d in PARAMETERS for f in FUNCTIONS]


# -- Each library as a good user of it writes them: (density, function) -> a function of the numbers and the parameters.


def of_gpustats(peer: Peer, density: str, function: str) -> Callable[..., Any]:
    return getattr(gs.densities[density], function)


def of_scipy(peer: Peer, density: str, function: str) -> Callable[..., Any]:
    s = special
    return {
        ("gamma", "cdf"): lambda x, a, b: s.gammainc(a, b * x),
        ("gamma", "sf"): lambda x, a, b: s.gammaincc(a, b * x),
        ("gamma", "ppf"): lambda q, a, b: s.gammaincinv(a, q) / b,
        ("beta", "cdf"): lambda x, a, b: s.betainc(a, b, x),
        ("beta", "sf"): lambda x, a, b: s.betaincc(a, b, x),
        ("beta", "ppf"): lambda q, a, b: s.betaincinv(a, b, q),
        ("student_t", "cdf"): lambda x, nu, mu, sigma: s.stdtr(nu, (x - mu) / sigma),
        ("student_t", "sf"): lambda x, nu, mu, sigma: s.stdtr(nu, (mu - x) / sigma),
        ("student_t", "ppf"): lambda q, nu, mu, sigma: mu + sigma * s.stdtrit(nu, q),
    }[density, function]


def by_incomplete_functions(xp: Any, s: Any) -> dict[tuple[str, str], Callable[..., Any]]:
    """The functions of a library that has NumPy's functions, `xp`, and some of scipy.special's, `s`."""

    def student_sf(x, nu, mu, sigma):
        t = (x - mu) / sigma
        tail = 0.5 * s.betainc(0.5 * nu, 0.5, nu / (nu + t * t))
        return xp.where(t > 0, tail, 1 - tail)

    def student_ppf(q, nu, mu, sigma):
        x = s.betaincinv(0.5 * nu, 0.5, 2 * xp.minimum(q, 1 - q))
        return mu + sigma * xp.sign(q - 0.5) * xp.sqrt(nu * (1 - x) / x)

    return {
        ("gamma", "cdf"): lambda x, a, b: s.gammainc(a, b * x),
        ("gamma", "sf"): lambda x, a, b: s.gammaincc(a, b * x),
        ("gamma", "ppf"): lambda q, a, b: s.gammaincinv(a, q) / b,
        ("beta", "cdf"): lambda x, a, b: s.betainc(a, b, x),
        ("beta", "sf"): lambda x, a, b: s.betainc(b, a, 1 - x),
        ("beta", "ppf"): lambda q, a, b: s.betaincinv(a, b, q),
        ("student_t", "cdf"): lambda x, nu, mu, sigma: student_sf(-x, nu, -mu, sigma),
        ("student_t", "sf"): student_sf,
        ("student_t", "ppf"): student_ppf,
    }


class JAXSpecial:
    """Functions of scipy.special in JAX: its own, and the quantiles of TensorFlow Probability."""

    def __init__(self, jax: Any):
        from jax.scipy import special as own

        self.gammainc, self.gammaincc, self.betainc = own.gammainc, own.gammaincc, own.betainc

    @staticmethod
    def gammaincinv(a, q):
        from tensorflow_probability.substrates import jax as tfp

        return tfp.math.igammainv(a, q)

    @staticmethod
    def betaincinv(a, b, q):
        from tensorflow_probability.substrates import jax as tfp

        return tfp.math.betaincinv(a, b, q)


def of_jax(peer: Peer, density: str, function: str) -> Callable[..., Any]:
    f = by_incomplete_functions(peer.jax.numpy, JAXSpecial(peer.jax))[density, function]
    return peer.jax.jit(lambda x, *p: f(x, *(peer.jax.numpy.asarray(v, x.dtype) for v in p)))


def of_cupy(peer: Peer, density: str, function: str) -> Callable[..., Any]:
    from cupyx.scipy import special as s

    return by_incomplete_functions(peer.cupy, s)[density, function]


def has(peer: Peer, function: str) -> bool:
    """True if a library has all that a function needs."""
    return not (isinstance(peer, JAX) and function == "ppf" and find_spec("tensorflow_probability") is None)


PEERS: dict[type[Peer], Callable[[Peer, str, str], Callable[..., Any]]] = {
    GPUStats: of_gpustats, SciPy: of_scipy, JAX: of_jax, CuPy: of_cupy,
}  # fmt: skip


def bound(peer: Peer, case: Case) -> Callable[[], object]:
    """A function that starts the work, its data in place."""
    put = np.asarray if isinstance(peer, SciPy) else peer.put
    arguments = [put(v) if np.ndim(v) else v for v in case.data()]
    f = PEERS[type(peer)](peer, case.density, case.function)
    return lambda: f(*arguments)


def difference(case: Case, found: np.ndarray) -> float:
    """The largest difference from SciPy at some of the numbers, relative to the value."""
    some = slice(0, 10_000)
    arguments = [np.asarray(v, float)[some] if np.ndim(v) else v for v in case.data()]
    want = of_scipy(SciPy(False), case.density, case.function)(*arguments)
    return float(np.max(np.abs(found[some] - want) / np.maximum(np.abs(want), 1e-30)))


def measured(report: Report, case: Case, peer: Peer) -> Row:
    """Times of one library, its rate, and the difference of its numbers from SciPy's."""
    call = bound(peer, case)
    apart = difference(case, np.asarray(peer.host(call()), float))
    times = report.measure(call, peer)
    return times | {"difference": apart, "rate": case.n / times["enqueued_us"] * 1e6}


def main(argv: list[str] | None = None) -> int:
    parser = options("distribution_functions", __doc__)
    parser.add_argument("--n", type=size, help="numbers; default: 1e7, on a CPU 1e6")
    args = parser.parse_args(argv)
    report = Report(args)
    peers = report.peers(PEERS)
    for case in report.wanted(cases(report.default(args.n, gpu=10**7, cpu=10**6, quick=10**4))):
        for peer in (p for p in peers if has(p, case.function)):
            row = attempt({"work": case.title, "peer": peer.name, "time": "enqueued_us"}, measured, report, case, peer)
            report.rows.append(row)
            said = row.get("error") or f"{row['enqueued_us']:,.0f} µs, difference {row['difference']:.0e}"
            print(f"{case.title}  {peer.name}  {said}", flush=True)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
