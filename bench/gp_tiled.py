"""`python -m bench.gp_tiled`: the exact marginal likelihood of a Gaussian process whose matrix several devices share.

Points: uniform on a line, in random order, n / 100 lengthscales long. The covariance function is Matérn's with ν = 1/2, with
noise: a Markov process, whose likelihood a Kalman filter finds exactly, with its derivatives, in O(n), however large n is.
"""

from __future__ import annotations

import cmath
import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import gpustats as gs
from gpustats.runtime import choose

from .peers import GPUStats
from .report import Columns, Report, Row, Table, attempt, cell, options, size, timed

NOTE = """\
One call each (up to n = 20,000 the best of three), float64; x and y in place, kernels compiled. rate: n³/3 operations over the
time of a value, n³ over that of a value with its three derivatives. differs: from a Kalman filter's exact likelihood and
derivatives (complex steps), relative. gpustats: the whole matrix on one device; others: `devices=`, blocks of rows of the lower
triangle. held: memory that all devices together took.
"""
POINT = {"amplitude": 1.3, "lengthscale": 0.8, "sigma": 0.3}
#: Points up to which one device takes the whole matrix, with the inverse: on a GPU, on a CPU.
MOST_DENSE_POINTS = {True: 60_000, False: 4_000}
SHORT_POINTS = 20_000  # points up to which the best of several calls counts
COMPLEX_STEP = 1e-30


@dataclass(frozen=True)
class Case:
    """Work of one row: n points."""

    n: int

    @property
    def title(self) -> str:
        return f"n={self.n:,}"


@lru_cache(maxsize=2)
def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in random order, and noisy observations of a function."""
    rng = np.random.default_rng(23)
    x = rng.uniform(0, max(n / 100, 1) * POINT["lengthscale"], n)
    return x, np.sin(x) + 0.5 * np.cos(3.1 * x) + 0.3 * rng.normal(size=n)


def filtered(x: np.ndarray, y: np.ndarray, amplitude: complex, lengthscale: complex, sigma: complex) -> complex:
    """Log-likelihood by a Kalman filter, of complex parameters, too."""
    order = np.argsort(x)
    steps, observed = [0.0, *np.diff(x[order]).tolist()], y[order].tolist()
    prior, noise = amplitude * amplitude, sigma * sigma
    mean: complex = 0.0
    spread: complex = prior
    squares: complex = 0.0
    logarithms: complex = 0.0
    for step, value in zip(steps, observed, strict=True):
        decay = cmath.exp(-step / lengthscale)
        mean *= decay
        spread = prior + decay * decay * (spread - prior)
        total, error = spread + noise, value - mean
        squares += error * error / total
        logarithms += cmath.log(total)
        mean += spread / total * error
        spread *= noise / total
    return -0.5 * (squares + logarithms + len(observed) * math.log(2 * math.pi))


@lru_cache(maxsize=2)
def exact(n: int) -> tuple[float, dict[str, float]]:
    """Log-likelihood and its derivatives."""
    x, y = data(n)
    found = {name: filtered(x, y, **{**POINT, name: POINT[name] + 1j * COMPLEX_STEP}) for name in POINT}
    return found["sigma"].real, {name: value.imag / COMPLEX_STEP for name, value in found.items()}


def tell(case: Case, name: str, what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {case.title}, {name}: {what}", flush=True)


def release(used: Sequence[Any]) -> None:
    """Release the unused memory of devices."""
    gc.collect()
    for runtime in used:
        runtime.release()


def measured(case: Case, name: str, devices: list[str] | None, with_gradient: bool) -> Row:
    """Seconds of a value, and of a value with derivatives, and the errors of both."""
    used = [choose.get()] if devices is None else choose.several(devices)
    evaluated(Case(min(case.n, 2500)), name, devices, with_gradient)  # compiles
    release(used)
    free = [runtime.free_memory() for runtime in used]
    made = evaluated(case, name, devices, with_gradient)
    if None not in free:  # what was let go is kept for the next call
        made["held"] = sum(before - runtime.free_memory() for before, runtime in zip(free, used, strict=True))
    release(used)
    return made


def evaluated(case: Case, name: str, devices: list[str] | None, with_gradient: bool) -> Row:
    """Seconds and differences of one evaluation."""
    (x, y), (want, slopes) = data(case.n), exact(case.n)
    ml = gs.gp.MarginalLikelihood(gs.matern12, x, y, **({} if devices is None else {"devices": devices}))
    times = 3 if case.n <= SHORT_POINTS else 1
    value, seconds = min((timed(lambda: again(ml, ml.__call__)) for _ in range(times)), key=lambda its: its[1])
    made: Row = {"value_s": seconds, "rate": case.n**3 / 3 / seconds, "value": value, "exact": want}
    made["difference"] = abs(value / want - 1)
    tell(case, name, f"value {seconds:.3f} s, {made['rate'] * 1e-12:.1f} TFLOP/s, {value!r}, exact {want!r}")
    if with_gradient:
        tries = (timed(lambda: again(ml, ml.value_and_grad)) for _ in range(times))
        (_, found), seconds = min(tries, key=lambda its: its[1])
        difference = max(abs(found[key] / slopes[key] - 1) for key in slopes)
        made |= {"gradient_s": seconds, "gradient_rate": case.n**3 / seconds, "gradient_difference": difference}
        said = f"value + gradient {seconds:.3f} s, {made['gradient_rate'] * 1e-12:.1f} TFLOP/s, differs {difference:.0e}"
        tell(case, name, said)
    return made


def again(ml: Any, call: Callable[..., Any]) -> Any:
    """Result of a call that uses nothing of the one before."""
    ml._local.last = None, None
    return call(**POINT)


def ways(report: Report, case: Case, devices: Sequence[str], dense: int) -> Iterator[tuple[str, list[str] | None]]:
    """Names and devices with which a case is measured."""
    if case.n <= dense:
        yield GPUStats.name, None
    for count in sorted({1, len(devices)}):
        yield f"{GPUStats.name}, {count} device{'s' * (count > 1)} in blocks", list(devices[:count])


def fits(n: int, devices: Sequence[str]) -> bool:
    """True if the devices have memory for the blocks of a triangle of n rows."""
    room = sum(runtime.device.memory for runtime in choose.several(devices))
    return 8 * n * n / 2 * 1.1 + len(devices) * 2 * 2048 * 8 * n < room


COLUMNS: Columns = {
    "value / s": cell("value_s"), "rate / TFLOP/s": cell("rate", "{:.1f}", 1e-12), "differs": cell("difference", "{:.0e}"),
    "value + gradient / s": cell("gradient_s"), "its rate / TFLOP/s": cell("gradient_rate", "{:.1f}", 1e-12),
    "derivatives differ": cell("gradient_difference", "{:.0e}"), "held / GB": cell("held", "{:.0f}", 1e-9),
}  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    parser = options("gp_tiled", __doc__)
    parser.add_argument("--n", type=size, action="append", help="points, repeatable; default: 2e4, 6e4, 1e5 (CPU: 2e3)")
    parser.add_argument("--devices", default="all", help='"all" (default), or several with commas between them')
    parser.add_argument("--dense", type=size, help="points up to which one device takes the whole matrix, too")
    parser.add_argument("--no-gradient", action="store_true", help="values only")
    parser.add_argument("--one", action="store_true", help="leave out the first device alone, in blocks")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no work that would go on for longer in all")
    args = parser.parse_args(argv)
    start, rate = time.perf_counter(), None
    given = args.devices if args.devices == "all" else args.devices.split(",")
    devices = [runtime.device.id for runtime in choose.several(given)]
    args.device = args.device or devices[0]
    report = Report(args, devices)
    dense = MOST_DENSE_POINTS[report.gpu] if args.dense is None else args.dense
    for case in map(Case, report.default(args.n, gpu=[20_000, 60_000, 100_000], cpu=[2_000], quick=[500])):
        for name, used in ways(report, case, devices, dense):
            if (args.one and used is not None and len(used) == 1 < len(devices)) or not fits(case.n, used or devices[:1]):
                continue
            expected = 0 if rate is None else case.n**3 * (1 / 3 if args.no_gradient else 4 / 3) / rate / len(used or [1])
            if time.perf_counter() - start + expected > args.seconds:
                tell(case, name, f"left out, for it may take {expected:.0f} s")
                continue
            tell(case, name, "begins")
            row = {"work": case.title, "n": case.n, "peer": name, "time": "value_s", "devices": used}
            row = attempt(row, measured, case, name, used, not args.no_gradient)
            rate = row["rate"] / len(used or [1]) if "rate" in row else rate
            report.keep(row, COLUMNS, NOTE)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
