"""gpustats' numbers for a program, by several entry points, beside those that the interpreter expects.

An entry point is asked with all points at once where it writes a table, with those that are decided where it sums.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from .compiled import compiled
from .interpreter import Expected
from .numbers import NOISE, Endless
from .points import Points
from .tree import VECTOR, Program


@dataclass(frozen=True)
class Failure:
    """What went wrong with a program.

    Attributes
    ----------
    kind : str
        "value", "derivative", "refused", "compiler", "error", "crash", "hang"; "reference" where interpreter and gcc differ.
    entry : str
        The entry point.
    message : str
    """

    kind: str
    entry: str
    message: str

    def same(self, other: Failure) -> bool:
        """Whether another program goes wrong in the same way, numbers aside."""
        said = [re.sub(r"\d+|'[^'\n]*'|\n.*", "", f.message, flags=re.S) for f in (self, other)]
        return (self.kind, self.entry) == (other.kind, other.entry) and (
            self.kind not in ("refused", "error") or said[0] == said[1]
        )


@dataclass
class Outcome:
    """What came of one program: what failed, and how many numbers of each entry point were compared, or left undecided."""

    failures: list[Failure] = field(default_factory=list)
    compared: Counter[str] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Found:
    """One number that gpustats gave, and what was expected."""

    what: str
    got: float
    wanted: float
    tolerance: float

    @property
    def right(self) -> bool:
        if not math.isfinite(self.wanted):
            return self.got == self.wanted or (math.isnan(self.got) and math.isnan(self.wanted))
        return abs(self.got - self.wanted) <= self.tolerance + 1e-36  # below is where float32 ends

    def __str__(self) -> str:
        return f"{self.what} is {self.got!r}, expected {self.wanted!r} ± {self.tolerance:.1e}"


class Subject:
    """A program with its points, and what is expected there."""

    def __init__(self, program: Program, points: Points):
        self.program, self.points = program, points
        self._expected: dict[str, list[list[Expected]]] = {}
        x, *parameters = program.density.parameters
        self.names = [p.name for p in parameters]
        self.x_name, self.x = x.name, np.array(points.x, float)
        self.ranks = {p.name: int(p.type == VECTOR) for p in program.density.parameters}
        self.smooth = [p.name for p in program.density.parameters if "integer" not in p.domain.split()]

    @functools.cached_property
    def density(self) -> Any:
        import gpustats

        return gpustats.register(str(self.program), replace=True)

    def expected(self, dtype: str) -> list[list[Expected]]:
        """N × K of them."""
        if dtype not in self._expected:
            self._expected[dtype] = self.points.expected(self.program, dtype)
        return self._expected[dtype]

    def parameters(self, dtype: str) -> list[np.ndarray]:
        """Each (K,), or (K, dim)."""
        return [self.points.parameter(name).astype(dtype) for name in self.names]

    def good_rows(self, dtype: str, slopes: bool) -> list[int]:
        """Observations where the values with all sets are finite and decided, and perhaps the derivatives."""
        good = [all(_good(e, slopes) for e in row) for row in self.expected(dtype)]
        return [n for n, g in enumerate(good) if g]


def _good(e: Expected, slopes: bool) -> bool:
    return e.decided and math.isfinite(e.value) and (e.slopes_decided or not slopes)


def _sum(what: str, got: float, terms: Sequence[tuple[float, float]], dtype: str) -> Found:
    """A sum, and its terms with their tolerances."""
    unit = 2.0**-24 if dtype == "float32" else 2.0**-53
    wanted = math.fsum(v for v, _ in terms)
    return Found(
        what, float(got), wanted, math.fsum(t for _, t in terms) + NOISE * unit * math.fsum(abs(v) for v, _ in terms)
    )


# ---- entry points


def table(s: Subject, dtype: str) -> Iterator[Found | None]:
    """The log-density at every point."""
    got = s.density.logpdf(s.x.astype(dtype)[:, None], *s.parameters(dtype))
    for n, row in enumerate(s.expected(dtype)):
        for k, e in enumerate(row):
            yield (
                Found(f"logpdf {s.points.at(s.program, n, k)}", float(got[n, k]), e.value, e.tolerance)
                if e.decided
                else None
            )


def pdf(s: Subject, dtype: str) -> Iterator[Found | None]:
    """The density, by the transform Exp."""
    got = s.density.pdf(s.x.astype(dtype)[:, None], *s.parameters(dtype))
    for n, row in enumerate(s.expected(dtype)):
        for k, e in enumerate(row):
            if not e.decided or (math.isfinite(e.value) and (abs(e.value) > 60 or e.tolerance > 1)):
                yield None
                continue
            wanted = math.exp(e.value)
            unit = 2.0**-24 if dtype == "float32" else 2.0**-53
            tolerance = (
                wanted * (2 * e.tolerance + NOISE * unit * (1 + abs(e.value))) if math.isfinite(e.value) else 0.0
            )
            yield Found(f"pdf {s.points.at(s.program, n, k)}", float(got[n, k]), wanted, tolerance)


def sums(s: Subject, dtype: str) -> Iterator[Found | None]:
    """The log-likelihood of all sets, and of one set with observations that stay on the device."""
    import gpustats

    rows = s.good_rows(dtype, slopes=False)
    yield from [None] * (len(s.x) - len(rows))
    if not rows:
        return
    x, parameters, expected = s.x[rows].astype(dtype), s.parameters(dtype), s.expected(dtype)
    terms = [[(expected[n][k].value, expected[n][k].tolerance) for n in rows] for k in range(len(s.points.sets))]
    got = s.density.loglik(x, *(p[:, None] for p in parameters))
    for k, own in enumerate(terms):
        yield _sum(f"loglik of x {x.tolist()} and {s.points.sets[k]}", got[k], own, dtype)
    likelihood = gpustats.Likelihood(s.density, x)
    for k, own in enumerate(terms):  # the second call and later ones go the way of repeated calls
        given = [p[k] if p.ndim > 1 else float(p[k]) for p in parameters]
        yield _sum(f"Likelihood of x {x.tolist()} and {s.points.sets[k]}", likelihood(*given), own, dtype)


def gradient_rows(s: Subject, dtype: str) -> Iterator[Found | None]:
    """All derivatives at every point, where each row has parameters of its own."""
    expected = s.expected(dtype)
    pairs = [(n, k) for n in range(len(s.x)) for k in range(len(s.points.sets))]
    good = [(n, k) for n, k in pairs if _good(expected[n][k], slopes=True)]
    yield from [None] * (len(pairs) - len(good))
    if not good or not s.smooth:
        return
    x = s.x[[n for n, _ in good]].astype(dtype)
    parameters = [p[[k for _, k in good]] for p in s.parameters(dtype)]
    value, gradient = s.density.loglik_and_grad(x, *parameters, wrt=s.smooth)
    yield _sum(
        "loglik beside its derivatives",
        value,
        [(expected[n][k].value, expected[n][k].tolerance) for n, k in good],
        dtype,
    )
    for name in s.smooth:
        for (n, k), got in zip(good, gradient[name], strict=True):
            e, point = expected[n][k], s.points.at(s.program, n, k)
            for slope, tolerance, own in zip(e.slopes[name], e.slope_tolerances[name], np.atleast_1d(got), strict=True):
                yield Found(f"derivative in {name} at {point}", float(own), slope, tolerance)


def gradient_sets(s: Subject, dtype: str) -> Iterator[Found | None]:
    """The log-likelihoods of all sets with their derivatives: in parameters sums over observations, in x sums over sets."""
    rows = s.good_rows(dtype, slopes=True)
    yield from [None] * (len(s.x) - len(rows))
    if not rows or not s.smooth:
        return
    expected, x, sets = s.expected(dtype), s.x[rows].astype(dtype), range(len(s.points.sets))
    value, gradient = s.density.loglik_and_grad(x, *(p[:, None] for p in s.parameters(dtype)), wrt=s.smooth)
    for k in sets:
        terms = [(expected[n][k].value, expected[n][k].tolerance) for n in rows]
        yield _sum(f"loglik beside its derivatives of {s.points.sets[k]}", value[k], terms, dtype)
    for name in s.smooth:
        of_x = name == s.x_name
        for own in range(len(rows)) if of_x else sets:
            found = np.atleast_1d(gradient[name][own] if of_x or s.ranks[name] == 0 else gradient[name][own, 0])
            for i, got in enumerate(found.ravel()):
                points = [expected[rows[own]][k] for k in sets] if of_x else [expected[n][own] for n in rows]
                terms = [(e.slopes[name][i], e.slope_tolerances[name][i]) for e in points]
                yield _sum(f"sum of derivatives in {name}, its number {own}", got, terms, dtype)


def mixture(s: Subject, dtype: str) -> Iterator[Found | None]:
    """The log-density of a mixture of all sets, and its derivatives in the weights and the parameters."""
    import gpustats

    rows = s.good_rows(dtype, slopes=True)
    yield from [None] * (len(s.x) - len(rows))
    if not rows:
        return
    unit = 2.0**-24 if dtype == "float32" else 2.0**-53
    weights = np.log(np.array([0.5, 0.25, 0.25]))[: len(s.points.sets)].astype(dtype)
    expected = [s.expected(dtype)[n] for n in rows]
    made = gpustats.Mixture(s.density, s.x[rows].astype(dtype))
    values = np.array([[e.value for e in row] for row in expected]) + weights.astype(float)
    errors = np.array([[e.tolerance for e in row] for row in expected]) + NOISE * unit * (1 + abs(values))
    totals = np.logaddexp.reduce(values, axis=1)
    for n, got in enumerate(made.logpdf(weights, *s.parameters(dtype))):
        yield Found(f"mixture at {s.x[rows[n]]}", float(got), totals[n], 2 * errors[n].max())
    names = [n for n in s.smooth if n != s.x_name]
    value, gradient = made.value_and_grad(weights, *s.parameters(dtype), wrt=[*names, "log_weights"])
    yield _sum("loglik of a mixture", value, list(zip(totals, 2 * errors.max(axis=1))), dtype)
    share = np.exp(values - totals[:, None])
    unsure = share * (2 * (errors + errors.max(axis=1, keepdims=True)))  # of the shares
    for k in range(values.shape[1]):
        terms = list(zip(share[:, k], unsure[:, k]))
        yield _sum(f"derivative of a mixture in log_weights[{k}]", gradient["log_weights"][k], terms, dtype)
        for name in names:
            for i, got in enumerate(np.atleast_1d(gradient[name][k])):
                slopes = [(row[k].slopes[name][i], row[k].slope_tolerances[name][i]) for row in expected]
                terms = [(r * v, r * t + u * abs(v)) for r, u, (v, t) in zip(share[:, k], unsure[:, k], slopes)]
                yield _sum(f"derivative of a mixture in {name}, set {k}", got, terms, dtype)


def rows(s: Subject, dtype: str) -> Iterator[Found | None]:
    """Every point as a row of a model: x is data or the row's own, parameters are data and elements of tables of two orders."""
    import gpustats as gs

    expected = s.expected(dtype)
    pairs = [(n, k) for n in range(len(s.x)) for k in range(len(s.points.sets))]
    good = [(n, k) for n, k in pairs if _good(expected[n][k], slopes=True)]
    yield from [None] * (len(pairs) - len(good))
    if not good:
        return
    of_set, own = np.array([k for _, k in good]), np.arange(len(good))[::-1].copy()
    leaves: dict[str, Any] = {}
    given: dict[str, np.ndarray] = {}
    groups: dict[str, np.ndarray] = {}  # of each parameter: the element of it that a row has
    x = s.x[[n for n, _ in good]].astype(dtype)
    if s.x_name in s.smooth and not s.ranks[s.x_name] and len(s.names) % 2:
        leaves[s.x_name], given[s.x_name], groups[s.x_name] = gs.per_row(), x, own[::-1]
    else:
        leaves[s.x_name] = x
    for i, (name, value) in enumerate(zip(s.names, s.parameters(dtype), strict=True)):
        if name not in s.smooth:
            leaves[name] = value[of_set]
        else:
            groups[name] = of_set if i % 2 else own
            leaves[name], given[name] = gs.gather(groups[name]), value if i % 2 else value[of_set][own]
    model = gs.Rows(s.density, **leaves)
    terms = [(expected[n][k].value, expected[n][k].tolerance) for n, k in good]
    for (n, k), got, (value, tolerance) in zip(good, model.terms(**given), terms, strict=True):
        yield Found(f"row {s.points.at(s.program, n, k)}", float(got), value, tolerance)
    total, gradient = model.value_and_grad(**given)
    yield _sum("sum of all rows", total, terms, dtype)
    for name, of_row in groups.items():
        for group, found in enumerate(gradient[name]):
            for i, got in enumerate(np.atleast_1d(found)):
                points = [expected[n][k] for (n, k), g in zip(good, of_row, strict=True) if g == group]
                slopes = [(e.slopes[name][i], e.slope_tolerances[name][i]) for e in points]
                yield _sum(f"derivative in {name}[{group}]", got, slopes, dtype)


def reference(s: Subject, dtype: str) -> Iterator[Found | None]:
    """gcc beside the interpreter: what fails here is no fault of gpustats."""
    evaluate = compiled(s.program)
    if evaluate is None:
        return
    for n, row in enumerate(s.expected(dtype)):
        for k, e in enumerate(row):
            if not e.decided or e.slopes is None:  # also where the rules around the function give the value
                yield None
            else:
                point = s.points.at(s.program, n, k)
                yield Found(f"gcc's logpdf {point}", evaluate(point, s.points.dim), e.value, e.tolerance)


_ASKED = {f.__name__: f for f in (table, pdf, sums, gradient_rows, gradient_sets, mixture, rows)}
ENTRIES: dict[str, tuple[Callable[[Subject, str], Iterator[Found | None]], str]] = {
    f"{name} {dtype}": (f, dtype) for name, f in _ASKED.items() for dtype in ("float64", "float32")
} | {"reference": (reference, "float64")}
ALWAYS = ("reference", "table float64", "gradient_rows float64")


def drawn_entries(seed: int) -> tuple[str, ...]:
    """Those that a program is tried by: each costs the compilation of a kernel or two."""
    others = [name for name in ENTRIES if name not in ALWAYS]
    return (*ALWAYS, *Random(f"entries {seed}").sample(others, 2))


def check(program: Program, points: Points, entries: Sequence[str], note: Callable[[str], Any] = str) -> Outcome:
    """Ask gpustats for a program's numbers by some entry points, of each of which `note` is told, up to one that fails."""
    from gpustats.errors import CompileError, DeviceFunctionError

    outcome = Outcome()
    note("register")
    try:
        subject = Subject(program, points)
        subject.expected("float64"), subject.expected("float32"), subject.density
    except Endless:
        return outcome
    except DeviceFunctionError as error:
        outcome.failures.append(Failure("refused", "register", error.message))
        return outcome
    except Exception as error:
        outcome.failures.append(Failure("error", "register", f"{type(error).__name__}: {error}"))
        return outcome
    for entry in entries:
        if outcome.failures:
            break
        note(entry)
        ask, dtype = ENTRIES[entry]
        try:
            found = list(ask(subject, dtype))
        except CompileError as error:
            outcome.failures.append(Failure("compiler", entry, error.log[:1500]))
        except Exception as error:
            outcome.failures.append(Failure("error", entry, f"{type(error).__name__}: {error}"))
        else:
            outcome.undecided[entry] += found.count(None)
            numbers = [f for f in found if f is not None]
            outcome.compared[entry] += len(numbers)
            if wrong := [f for f in numbers if not f.right]:
                kind = "derivative" if "derivative" in wrong[0].what and "beside" not in wrong[0].what else "value"
                kind = "reference" if entry == "reference" else kind
                outcome.failures.append(Failure(kind, entry, f"{len(wrong)} of {len(numbers)} numbers: {wrong[0]}"))
    return outcome
