"""How accurate each density is: the largest errors of its functions against mpmath, as a page, docs/accuracy.md.

    python -m tests.accuracy [NAME …] [--add] [--points 12] [--out docs/accuracy.md]

Errors are found at random points, some of them far in the tails, and at the extreme points at which the density is tested. The
same points are taken each time. References are those of the tests: `helpers/references_all.py`, `helpers/references_cdf.py`.
"""

from __future__ import annotations

import argparse
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import mpmath as mp
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from references import derivative_errors, errors, rows_of  # noqa: E402
from references_all import REFERENCES  # noqa: E402
from references_cdf import CDFS, DIGITS, log, logarithms, tails  # noqa: E402

import gpustats as gs  # noqa: E402
from gpustats.language.kinds import DENSITY  # noqa: E402
from gpustats.language.library import library  # noqa: E402
from gpustats.runtime import choose  # noqa: E402
from tests.sweep import record  # noqa: E402

TYPES = (np.float64, np.float32)
#: Points at which references would take too long, by the density.
TOO_LONG = {
    "beta_binomial": lambda x, alpha, beta, n: n > 1e5,
    "skellam": lambda x, mu1, mu2: mu1 + mu2 > 1e4,
}

HEAD = """\
# How accurate the densities are

The largest error that was found of each function of each density, in float64 and in float32, and where. It is written by

    python -m tests.accuracy

which takes {points} random points for each function, the same ones each time, and the extreme points at which the density is
tested: edges of the support, far tails, huge and tiny parameters. The references are computed with mpmath, mostly to 60 digits.
Computed on {devices}.

* `logpdf`, `logcdf`, `logsf`: the error is relative to max(1, |value|).
* `ppf`, `isf`: relative to |x|, or to the distance of the quartiles where x is smaller than that and the support does not begin
  at 0. Of a discrete density, the share of the probabilities whose quantile is not the right number.
* `gradient`: the largest of the derivatives of the log-density in all its arguments, relative to the derivative, or to a
  thousandth of a typical one where it is smaller than that (a tenth in float32). At random points only.

Points of float32 are those that float32 can hold. Where parameters are much larger than the differences of numbers that they
stand for, the numbers that come in are known to no more than their last digit, and no function of them can be better. Nor can
quantiles of heavy tails: between whole numbers of 15 digits such a tail changes by less than its last digit. Below the
smallest normal number, of about 1e-38 in float32, quantiles have few digits.

| density | function | float64 | at | float32 | at |
| --- | --- | ---: | --- | ---: | --- |
"""


@dataclass
class Found:
    """The largest error of a function, and the arguments at which it was found."""

    error: float
    at: str

    def __str__(self) -> str:
        return f"{self.error:.1e} | {self.at}" if self.at else f"{self.error:.1e} |"


def points(name: str, dtype: type, n: int) -> tuple[np.ndarray, ...]:
    """Random tuples (x, *parameters), some with x far out, and the extreme ones, as arrays of numbers that `dtype` holds.

    Where the observation or a parameter is a vector, random ones only: those of other lengths need calls of their own.
    """
    reference, rng = REFERENCES[name], np.random.default_rng(zlib.crc32(name.encode()))
    args = reference.random(rng, n, np.float32)
    if any(a.ndim > 1 for a in args):
        return reference.random(rng, n, dtype)
    args = (_some_far(gs.densities[name], *args, rng=rng), *args[1:])
    if extremes := reference.extremes(dtype):
        args = tuple(np.concatenate([a.astype(dtype), e]) for a, e in zip(args, extremes))
    if name in TOO_LONG:
        args = tuple(a[~TOO_LONG[name](*args)] for a in args)
    return tuple(a.astype(dtype) for a in args)


def _some_far(density: gs.Density, x: np.ndarray, *parameters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Observations of which a third are replaced by quantiles of small probabilities of either tail."""
    if not hasattr(density, "ppf"):
        return x
    wide = [p.astype(float) for p in parameters]
    q = 10 ** rng.uniform(-30, -3, len(x))
    (lower, upper), number = density.support(*wide), np.arange(len(x))
    far = np.where(number % 6 == 0, density.ppf(q, *wide), density.isf(q, *wide)).astype(np.float32)
    return np.where((number % 3 == 0) & np.isfinite(far) & (far > lower) & (far < upper), far, x).astype(np.float32)


def largest(name: str, error: np.ndarray, columns: dict[str, np.ndarray]) -> Found:
    """The largest of the errors of points, of which the columns are the arguments."""
    worst = int(np.argmax(error))
    if not error[worst] > 0:
        return Found(0.0, "")
    return Found(float(error[worst]), ", ".join(f"{n} = {_shown(a[worst])}" for n, a in columns.items()))


def _shown(value: np.ndarray) -> str:
    if np.ndim(value):
        return "(" + ", ".join(f"{v:.4g}" for v in value) + ")"
    return f"{value:.6g}"


def log_density(name: str, dtype: type, n: int) -> Found:
    args = points(name, dtype, n)
    return largest(name, errors(gs.densities[name].logpdf(*args), REFERENCES[name].logpdf(*args)), _columns(name, args))


def tail(ending: str) -> Callable[[str, type, int], Found]:
    """The function that finds the error of ``logcdf``, or of ``logsf``."""

    def found(name: str, dtype: type, n: int) -> Found:
        args = points(name, dtype, n)
        want = np.array([_both(name, tuple(map(_hashable, row)))[ending == "logsf"] for row in rows_of(args)])
        return largest(name, errors(getattr(gs.densities[name], ending)(*args), want), _columns(name, args))

    return found


_known: dict[tuple, tuple[float, float]] = {}


def _both(name: str, row: tuple) -> tuple[float, float]:
    """Both logarithms, each computed once."""
    if (name, row) not in _known:
        _known[name, row] = logarithms(name, *(list(v) if isinstance(v, tuple) else v for v in row))
    return _known[name, row]


def _hashable(value: float | list) -> float | tuple:
    return tuple(value) if isinstance(value, list) else value


def quantile(ending: str) -> Callable[[str, type, int], Found]:
    """The function that finds the error of ``ppf``, or of ``isf``: how far x is from where the tail is q."""

    def found(name: str, dtype: type, n: int) -> Found:
        density, rng = gs.densities[name], np.random.default_rng(zlib.crc32(f"{name} {ending}".encode()))
        q = np.concatenate([10 ** rng.uniform(-30, 0, n // 2), rng.uniform(size=n - n // 2)]).astype(np.float32).astype(dtype)
        parameters = [np.asarray(p, np.float32).astype(dtype) for p in REFERENCES[name].parameters(rng, n)]
        x = getattr(density, ending)(q, *parameters)
        wide = [np.asarray(p, float) for p in parameters]
        spread = density.ppf(0.75, *wide) - density.ppf(0.25, *wide)
        lower, upper = density.support(*wide)
        inside = np.isfinite(x) & (lower < x) & (x < upper)
        error = np.zeros(n)
        for i in np.flatnonzero(inside):
            row = [float(p[i]) for p in parameters]
            if name in TOO_LONG and TOO_LONG[name](0, *row):
                continue
            size = 1 if density.discrete else max(abs(float(x[i])), 0 if lower[i] == 0 else float(spread[i]))
            error[i] = _distance(name, float(q[i]), ending == "isf", float(x[i]), row, dtype) / size
        if density.discrete:
            wrong = np.flatnonzero(error)
            return Found(len(wrong) / n, largest(name, error, {"q": q} | _columns(name, (x, *parameters))).at)
        return largest(name, error, {"q": q} | _columns(name, (x, *parameters)))

    return found


def _distance(name: str, q: float, above: bool, x: float, row: Sequence[float], dtype: type) -> float:
    """How far a number is from where a tail is q, by a step of Newton's method; of whole numbers, whether it is another."""
    with mp.workdps(DIGITS.get(name, 60)):
        q, x, *row = (mp.mpf(v) for v in (q, x, *row))
        p = tails(name, x, *row)[above]
        if gs.densities[name].discrete:
            before, slack = tails(name, x - 1, *row)[above], 4 * float(np.finfo(dtype).eps)
            fits = (before > q * (1 - slack) and p <= q * (1 + slack)) if above else (
                before < q * (1 + slack) and p >= q * (1 - slack))  # fmt: skip
            return float(not fits)
        return 0.0 if p == q else abs(float(log(p / q) * p * mp.exp(-REFERENCES[name].logpdf.__wrapped__(x, *row))))


def gradient(name: str, dtype: type, n: int) -> Found:
    """The largest error among the derivatives in all arguments."""
    density, reference = gs.densities[name], REFERENCES[name]
    args = reference.random(np.random.default_rng(zlib.crc32(name.encode())), n, np.float32)
    if any(a.ndim > 1 for a in args):
        args = reference.random(np.random.default_rng(zlib.crc32(name.encode())), n, dtype)
    args = tuple(a.astype(dtype) for a in args)
    wrt = [argument for argument, domain in density.domains.items() if "integer" not in domain.split()]
    got = density.loglik_and_grad(*args, wrt=wrt)[1]
    outside = np.isneginf(reference.logpdf(*args))
    worst = Found(0.0, "")
    for i, argument in enumerate(density.domains):
        if argument in got:
            want = np.where(outside.reshape(-1, *[1] * (args[i].ndim - 1)), 0, _derivatives(name, args, i))
            error = derivative_errors(got[argument], want, 1e-3 if dtype == np.float64 else 0.1)
            found = largest(name, error.reshape(n, -1).max(1), _columns(name, args))
            if found.error > worst.error:
                worst = Found(found.error, f"d/d{argument}, {found.at}")
    return worst


_known_derivatives: dict[tuple, np.ndarray] = {}


def _derivatives(name: str, args: Sequence[np.ndarray], i: int) -> np.ndarray:
    """Those in argument number i, computed once for both types."""
    key = name, i, *(a.astype(float).tobytes() for a in args)
    if key not in _known_derivatives:
        _known_derivatives[key] = REFERENCES[name].gradient(args, i)
    return _known_derivatives[key]


def _columns(name: str, args: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    return dict(zip(gs.densities[name].domains, args))


def functions(name: str) -> Iterator[tuple[str, Callable[[str, type, int], Found]]]:
    """The functions of a density that have a reference, by their names."""
    density = gs.densities[name]
    yield "logpdf", log_density
    if name in CDFS:
        yield from ((ending, tail(ending)) for ending in ("logcdf", "logsf"))
        if not any(a.rank for a in density.definition.arguments):
            yield from ((ending, quantile(ending)) for ending in ("ppf", "isf"))
    if any("integer" not in domain.split() for domain in density.domains.values()):
        yield "gradient", gradient


def rows(name: str, n: int) -> Iterator[str]:
    """The lines of a density in the table."""
    types = TYPES if REFERENCES[name].float32 else TYPES[:1]
    for number, (ending, find) in enumerate(functions(name)):
        found = [find(name, dtype, n) for dtype in types]
        cells = [name if number == 0 else "", f"`{ending}`", *map(str, found), *["|"] * (2 - len(types))]
        yield f"| {' | '.join(cells)} |"


def write(names: Sequence[str], n: int, out: Path, *, add: bool = False) -> None:
    """The page, written again after each density: who ends it before has those that were done.

    With ``add``, the rows of other densities stay, and the devices that they were computed on.
    """
    device = f"{choose.get().device.name}, {choose.get().device.driver}"
    if not add:
        out.write_text(HEAD.format(points=n, devices=device), encoding="utf-8")
    with np.errstate(all="ignore"):
        for name in names:
            found = list(rows(name, n))
            page, devices = read(out)
            page[name] = found
            head = HEAD.format(points=n, devices=" and on ".join(dict.fromkeys([*devices, device])))
            lines = "".join(f"{line}\n" for name in sorted(page) for line in page[name])
            out.write_text(head + lines + record.section(), encoding="utf-8")


def read(page: Path) -> tuple[dict[str, list[str]], list[str]]:
    """The rows of each density on a page, and the devices that they were computed on."""
    found: dict[str, list[str]] = {}
    text = page.read_text(encoding="utf-8")
    for line in re.findall(r"^\| .*`.*", text, re.M):
        if name := re.match(r"\| (\w+)", line):
            found[name[1]] = []
        found[list(found)[-1]].append(line)
    return found, re.search(r"^Computed on (.*)\.$", text, re.M)[1].split(" and on ")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.accuracy", description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="densities; default: all that have a reference")
    parser.add_argument("--add", action="store_true", help="keep the rows of other densities that the page has")
    parser.add_argument("--points", type=int, default=12, help="random points for each function (default: 12)")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "accuracy.md", help="default: docs/accuracy.md")
    args = parser.parse_args(argv)
    if unknown := [name for name in args.names if name not in REFERENCES]:
        parser.error(f"no reference of {unknown[0]}")
    names = args.names or sorted(REFERENCES.keys() & library.built_in(DENSITY))
    write(names, args.points, args.out, add=args.add)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
