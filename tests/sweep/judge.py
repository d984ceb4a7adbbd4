"""The right value of a density's function at a point, and how much of an error the rounding of its inputs explains."""

from __future__ import annotations

import contextlib
import functools
import math
import signal
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
from references_all import REFERENCES
from references_cdf import CDFS, DIGITS, log, tails

from gpustats.language.kinds import DENSITY
from gpustats.language.library import library

from .batch import DATA, DRAWN, DRAWS, FITTED, OF_PARAMETERS, SLOPE, Subject
from .executed import Undecided, executed

SECONDS = 4.0  # that one number may take
CONDITION = 4  # times the change that an input's last digit makes
TOLERANCE = {"float64": 1e-12, "float32": 1e-5}
TAILS = {"cdf": 0, "logcdf": 0, "ppf": 0, DRAWN: 0, "sf": 1, "logsf": 1, "isf": 1}


@dataclass(frozen=True)
class Verdict:
    """What a function should have given.

    Attributes
    ----------
    right, allowed : float
        The right value, and the error that is allowed.
    error : float
        That of what came out, in units of the allowed one.
    """

    right: float
    allowed: float
    error: float


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Ends what takes longer, of the processor's time, by raising `Undecided`."""

    def stop(*_: Any) -> None:
        raise Undecided(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class Judge:
    """Knows the right values of one density.

    Parameters
    ----------
    subject : Subject
    seconds : float
        That a verdict may take.
    """

    def __init__(self, subject: Subject, seconds: float = SECONDS):
        self.subject, self.seconds, density = subject, seconds, subject.density
        name = density.name if library.built_in(DENSITY) & {density.name} else ""
        own = name and density.definition is library.get(name)
        self.reference = REFERENCES.get(name) if own else None
        self.tails = functools.partial(tails, name) if own and name in CDFS else None
        self.digits = DIGITS.get(name, 60)
        self.text_is_right = [True, True]  # of the tails below and above
        self._nodes_here: list[float] = []
        self.integer = ["integer" in a.words for a in density.definition.arguments]

    # -- the functions, of mpmath's numbers

    def log_density(self, x: Any, *parameters: Any) -> Any:
        if self.reference is not None:
            return self.reference.logpdf.__wrapped__(x, *parameters)
        return self._executed("logpdf", x, *parameters)

    def log_tail(self, above: int, x: Any, *parameters: Any) -> Any:
        if self.tails is not None:
            return log(self.tails(x, *parameters)[above])
        if not self.text_is_right[above]:
            return self._integral(above, x, parameters)
        return self._executed("logsf" if above else "logcdf", x, *parameters)

    def _believe(self, ending: str, point: Sequence[float], x: float) -> None:
        """Find out whether the text of a tail, in exact arithmetic, is what the density alone says: else that counts."""
        if self.tails is not None or ending not in TAILS:
            return
        above = TAILS[ending]
        with mp.workdps(30):
            self._nodes_here = self._nodes(point)
            exact = [mp.mpf(p) for p in point]
            if abs(self._moments(self._nodes_here, mp.mpf(0), exact, 0, False)[0] - 1) > mp.mpf(10) ** -11:
                raise Undecided("the density's integral is not found")
            self.text_is_right[above] = True
            far = self.subject.density.discrete and x > self._nodes_here[-1]  # no sum is made of what comes there
            if math.isfinite(x) and not far:
                written = self.log_tail(above, mp.mpf(x), *exact)
                integral = self._integral(above, mp.mpf(x), exact)
                self.text_is_right[above] = bool(abs(written - integral) < 1e-9 * max(1, abs(integral)) or written == integral)

    def _integral(self, above: int, x: Any, exact: Sequence[Any]) -> Any:
        """The logarithm of a tail, from x outwards up to where nothing more comes."""
        nodes = [mp.mpf(v) for v in self._nodes_here]
        if self.subject.density.discrete:
            own = [x + 1, nodes[-1]] if above else [nodes[0], x]
            return log(self._moments(own, mp.mpf(0), exact, 0, False)[0])
        outwards = [x, *(v for v in nodes if v > x)] if above else [x, *(v for v in reversed(nodes) if v < x)]
        total = mp.mpf(0)
        for a, b in zip(outwards, outwards[1:]):
            part = abs(self._moments([a, b], mp.mpf(0), exact, 0, False)[0])
            total += part
            if part < total * mp.mpf(10) ** -25:
                break
        return log(total)

    def _executed(self, ending: str, *arguments: Any) -> Any:
        density = self.subject.density
        made = density.log_density if ending == "logpdf" else density.function(ending)
        return executed(made.function, made.functions, list(arguments))

    def function(self, ending: str) -> Callable[..., Any]:
        """A function whose value is a number that rounding may change: of tails the logarithm."""
        if ending == "logpdf":
            return self.log_density
        return functools.partial(self.log_tail, TAILS[ending])

    # -- verdicts

    def examine(self, ending: str, dtype: type, point: Sequence[float], got: float) -> Verdict:
        """What a function should have given for the first argument and the parameters; raises `Undecided`."""
        try:
            with limited(self.seconds):
                if ending == FITTED:
                    return self._fit(point, got)
                of_quantile = ending in ("ppf", "isf")
                self._believe(ending, point[1:], got if of_quantile else point[0])
                if of_quantile:
                    return self._quantile(ending, dtype, point, got)
                if ending in OF_PARAMETERS:
                    return self._number(ending, dtype, point, got)
                if ending.startswith(SLOPE):
                    return self._slope(ending, dtype, point, got)
                if ending == DRAWN:
                    return self._draws(dtype, point, got)
                return self._value(ending, dtype, point, got)
        except Undecided:
            raise
        except Exception as error:
            raise Undecided(f"{type(error).__name__}: {error}") from None

    def _value(self, ending: str, dtype: type, point: Sequence[float], got: float) -> Verdict:
        info, unit = np.finfo(dtype), TOLERANCE[np.dtype(dtype).name]
        x, *parameters = point
        lower, upper = (float(self.subject(e, 0.5, *parameters, dtype=np.float64)) for e in ("lower", "upper"))
        at_end = self._is_at_end(x, lower, upper, info)
        if not lower <= x <= upper:
            beyond = {"logpdf": (-mp.inf, -mp.inf), "cdf": (0, 1), "sf": (1, 0), "logcdf": (-mp.inf, 0), "logsf": (0, -mp.inf)}
            right = mp.mpf(beyond[ending][x > upper])
            if at_end:
                raise Undecided("at an end of the support, which is rounded")
            return Verdict(float(right), 0.0, 0.0 if got == right else math.inf)
        right, spread = self._with_spread(self.function(ending), dtype, point)
        if at_end and (mp.isinf(right) or math.isinf(got)) and not self.subject.density.discrete:
            raise Undecided("at an end of the support, which is rounded")
        if ending in ("cdf", "sf"):
            value = mp.exp(right)
            allowed = value * mp.expm1(unit * max(1, abs(right)) + CONDITION * spread) + float(info.tiny)
        else:
            value, allowed = right, unit * max(1, abs(right)) + CONDITION * spread
        return _verdict(value, allowed, got, info)

    @staticmethod
    def _is_at_end(x: float, lower: float, upper: float, info: Any) -> bool:
        """Whether a number is an end of the support up to the rounding of both ends."""
        size = sum(abs(v) for v in (lower, upper) if math.isfinite(v))
        return any(abs(x - end) < 16 * float(info.eps) * size for end in (lower, upper))

    def _with_spread(self, f: Callable[..., Any], dtype: type, point: Sequence[float]) -> tuple[Any, Any]:
        """The value, which must not hang on the number of digits, and how much the inputs' last digits change it."""
        sizes = [int(math.log10(abs(v))) for v in (1, *point) if v and math.isfinite(v)]
        digits = self.digits + max(sizes)  # of sums of the largest
        with mp.workdps(digits + 25):
            again = f(*map(mp.mpf, point))
        with mp.workdps(digits):
            right = f(*map(mp.mpf, point))
            if isinstance(right, mp.mpc) or mp.isnan(right):
                raise Undecided("nan")
            if mp.isinf(right) and not mp.isinf(again) or mp.isinf(right) and self._cancels(f, point):
                raise Undecided("hangs on the number of digits")
            if right != again and abs(right - again) > mp.mpf(10) ** -14 * max(1, abs(right)):
                raise Undecided("hangs on the number of digits")
            return right, self._spread(f, dtype, point, right)

    def _cancels(self, f: Callable[..., Any], point: Sequence[float]) -> bool:
        """Whether a logarithm is that of a difference of which too few digits are left."""
        with mp.workdps(700):
            return not mp.isinf(f(*map(mp.mpf, point)))

    def _spread(self, f: Callable[..., Any], dtype: type, point: Sequence[float], right: Any) -> Any:
        if mp.isinf(right):
            return mp.mpf(0)
        info, spread = np.finfo(dtype), mp.mpf(0)
        for i, value in enumerate(point):
            if value == 0 or not math.isfinite(value) or self.integer[i]:
                continue
            changes = []
            for sign in (-1, 1):
                moved = [mp.mpf(v) for v in point]
                digit = abs(value) * float(info.eps) / 2
                moved[i] += sign * (digit if abs(value) >= info.tiny else float(info.tiny))  # devices may take 0 for less
                with contextlib.suppress(ValueError, ZeroDivisionError, ArithmeticError, mp.libmp.NoConvergence):
                    change = abs(f(*moved) - right)
                    changes += [] if mp.isnan(change) else [change]  # infinite at the last number inside the support
            spread += max(changes, default=mp.mpf(0))
        return spread

    # -- draws and fits

    def _draws(self, dtype: type, point: Sequence[float], got: float) -> Verdict:
        """The probability, from which the share of draws may differ by six standard deviations, and their rounding.

        Draws that are too small to be numbers are 0, those that are too large infinite, and others one of the nearest numbers.
        """
        info = np.finfo(dtype)
        x = float(np.clip(point[0], -info.max * (1 - info.eps), info.max * (1 - info.eps)))
        point = (x or float(info.tiny), *point[1:])
        right, spread = self._with_spread(self.function(DRAWN), dtype, point)
        p, x = mp.exp(right), dtype(point[0])
        near = [np.nextafter(x, dtype(end)) for end in (-np.inf, np.inf)]
        if abs(x) <= info.tiny:
            near.append(info.smallest_subnormal)  # devices may take 0 for less than the smallest normal number
        rounding = max(abs(self._probability(float(v), point[1:]) - p) for v in near)
        sampling = 6 * mp.sqrt(p * (1 - p) / DRAWS) + 10 / mp.mpf(DRAWS)
        return _verdict(p, sampling + rounding + CONDITION * p * spread, got, info)

    def _probability(self, x: float, parameters: Sequence[float]) -> Any:
        """That of numbers up to x, which may lie beyond the support."""
        lower, upper = (float(self.subject(e, 0.5, *parameters, dtype=np.float64)) for e in ("lower", "upper"))
        if not lower <= x < upper:
            return mp.mpf(x >= upper)
        return mp.exp(self.function(DRAWN)(mp.mpf(x), *map(mp.mpf, parameters)))

    def _fit(self, point: Sequence[float], got: float) -> Verdict:
        """The log-likelihood at the estimates, which must not be less than that at the parameters that the data come from."""
        density, (seed, *parameters) = self.subject.density, point
        x = self.subject.drawn(parameters, np.float64, int(seed), DATA)
        found = self.subject.fitted(tuple(point))
        with np.errstate(all="ignore"):
            told, true = (float(density.loglik(x, *p)) for p in (found.parameters.values(), parameters))
        if not math.isfinite(true):
            raise Undecided("data without a likelihood")
        if found.converged and true > told:
            return _verdict(mp.mpf(true), 1e-3, got, np.finfo(np.float64))
        return _verdict(mp.mpf(told), 1e-9 * max(1, abs(told)), got, np.finfo(np.float64))

    # -- derivatives

    def _slope(self, ending: str, dtype: type, point: Sequence[float], got: float) -> Verdict:
        """By differences centred at the point, relative to the derivative or to what the density's size would make of it."""
        names = [a.name for a in self.subject.density.definition.arguments]
        i, unit = names.index(ending.removeprefix(SLOPE)), 1e-10 if dtype == np.float64 else 1e-4

        lower, upper = (float(self.subject(e, 0.5, *point[1:], dtype=np.float64)) for e in ("lower", "upper"))
        info = np.finfo(dtype)
        if not lower < point[0] < upper or math.isinf(got) and self._is_at_end(point[0], lower, upper, info):
            raise Undecided("at an end of the support, or beyond it")

        def slope(*values: Any) -> Any:
            size = abs(values[i]) or mp.mpf(1)
            return mp.diff(lambda t: self.log_density(*values[:i], values[i] + t * size, *values[i + 1 :]), 0) / size

        right, spread = self._with_spread(slope, dtype, point)
        if 0 < abs(point[0]) < float(info.tiny) and (got > 0) == (right > 0):
            raise Undecided("a derivative at a number without all its digits")
        if math.isfinite(got) and abs(mp.mpf(got) - right) * (abs(point[i]) or 1) < mp.mpf(10) ** -25:
            raise Undecided("a derivative of less than the digits show")
        return _verdict(right, unit * max(abs(right), float(info.tiny) * 1e9) + CONDITION * spread, got, info)

    # -- numbers of the parameters alone

    def _number(self, ending: str, dtype: type, point: Sequence[float], got: float) -> Verdict:
        """By the density's integral over parts between quantiles, which must be 1, or by its sum."""
        if ending in ("median", "mode"):
            raise Undecided(f"{ending} is not judged")
        unit, info = 1e-8 if dtype == np.float64 else 1e-4, np.finfo(dtype)
        with mp.workdps(30):
            exact = [mp.mpf(p) for p in point]
            nodes = self._nodes(point)
            center = mp.mpf(nodes[len(nodes) // 2])
            powers = 0 if ending == "entropy" else ("mean", "var", "skewness", "kurtosis").index(ending) + 1
            if self._is_heavy(powers, exact, point):
                raise Undecided("a moment that is infinite, or whose tail counts beyond all quantiles")
            moments = self._moments(nodes, center, exact, max(powers, 2), ending == "entropy")
            if abs(moments[0] - 1) > mp.mpf(10) ** -12:
                raise Undecided("the density's integral is not found")
            scale = mp.sqrt(moments[2] - moments[1] ** 2)
            sizes = [abs(p) for p in exact if mp.isfinite(p)]
            fine = CONDITION * float(info.eps) * max([abs(center) / scale, *(1 for _ in sizes)])
            if ending == "entropy":
                return _verdict(moments[-1], unit + fine * 2, got, info)
            if ending == "mean":
                return _verdict(center + moments[1], scale * (unit + fine) + 1e-13 * abs(center), got, info)
            mean = moments[1]
            n = powers
            central = sum(mp.binomial(n, k) * moments[k] * (-mean) ** (n - k) for k in range(n + 1))
            value = central / (1 if ending == "var" else scale**powers) - (3 if ending == "kurtosis" else 0)
            return _verdict(value, (unit + 10 * fine) * (abs(value) if ending == "var" else max(1, abs(value))), got, info)

    def _is_heavy(self, powers: int, exact: list[Any], point: Sequence[float]) -> bool:
        """Whether a tail falls like a power, and so slowly that its moment is infinite or not far from it."""
        ends = (float(self.subject(e, 0.5, *point, dtype=np.float64)) for e in ("lower", "upper"))
        for sign in (s for s, end in zip((-1, 1), ends) if math.isinf(end)):
            near, far = (mp.mpf(10) ** (k * 10**6) for k in (1, 2))  # beyond what factors like exp(-a^2/2) hide
            with contextlib.suppress(ArithmeticError, ValueError):
                fall = self.log_density(sign * far, *exact) - self.log_density(sign * near, *exact)
                if not mp.isnan(fall) and fall + (powers + 1.5) * mp.log(far / near) > 0:
                    return True
        return False

    def _nodes(self, point: Sequence[float]) -> list[float]:
        """Quantiles between which the density is integrated, as far as they differ."""
        q = np.array([1e-300, 1e-150, 1e-70, 1e-40, 1e-25, 1e-16, 1e-10, 1e-6, 1e-3, 0.05, 0.25])
        columns = [np.full(len(q), p) for p in point]
        below, above = (self.subject(e, q, *columns, dtype=np.float64) for e in ("ppf", "isf"))
        ends = [self.subject(e, q[:1], *(c[:1] for c in columns), dtype=np.float64) for e in ("lower", "upper")]
        middle = self.subject("ppf", np.full(1, 0.5), *(c[:1] for c in columns), dtype=np.float64)
        found = np.concatenate([ends[0], below, middle, above[::-1], ends[1]])
        found = np.unique(found[np.isfinite(found)])
        if len(found) < 3:
            raise Undecided("no quantiles")
        return [float(v) for v in found]

    def _moments(self, nodes: list[float], center: Any, exact: list[Any], most: int, entropy: bool) -> list[Any]:
        """Means of (x - center)^k, k = 0 … most, and perhaps of the negative logarithm."""
        total = [mp.mpf(0)] * (most + 1 + entropy)
        if self.subject.density.discrete:
            if nodes[-1] - nodes[0] > 20_000:
                raise Undecided("a sum of too many terms")
            points = ((mp.mpf(x), mp.mpf(1)) for x in range(int(max(nodes[0], -1e9)), int(nodes[-1]) + 1))
        else:
            rule = _gauss_legendre(min(mp.mp.prec, 170))
            points = ((a + (b - a) * (t + 1) / 2, w * (b - a) / 2)
                      for a, b in zip(map(mp.mpf, nodes), map(mp.mpf, nodes[1:])) for t, w in rule)  # fmt: skip
        for x, w in points:
            log_density = self.log_density(x, *exact)
            mass = w * mp.exp(log_density)
            if mass:
                for k in range(most + 1):
                    total[k] += mass * (x - center) ** k
                if entropy:
                    total[-1] -= mass * log_density
        return total

    # -- quantiles

    def _quantile(self, ending: str, dtype: type, point: Sequence[float], got: float) -> Verdict:
        q, *parameters = point
        above, info, unit = TAILS[ending], np.finfo(dtype), TOLERANCE[np.dtype(dtype).name]
        lower, upper = (float(self.subject(e, 0.5, *parameters, dtype=np.float64)) for e in ("lower", "upper"))
        with mp.workdps(self.digits - int(np.log10(q))):  # a tail may be 1 less another
            wanted, exact = mp.log(mp.mpf(q)), [mp.mpf(p) for p in parameters]

            def reached(x: float) -> bool:
                own = self.log_tail(above, mp.mpf(x), *exact)
                return bool(own <= wanted if above else own >= wanted)

            right = _smallest(reached, lower, upper, got)
            if self.subject.density.discrete:
                return self._discrete(above, dtype, wanted, exact, right, got)
            x = mp.mpf(right)
            quartiles = [0.0, 0.0]
            if lower and upper and math.isfinite(right):  # else 0 is an end, and x relative to itself
                quartiles = [float(self.subject("ppf", p, *parameters, dtype=np.float64)) for p in (0.25, 0.75)]
            size = max(abs(right), np.nan_to_num(quartiles[1] - quartiles[0]))
            step = mp.mpf(size) * mp.mpf(10) ** -12
            tail = functools.partial(self.log_tail, above)
            spread = self._spread(lambda *p: tail(x, *p), dtype, parameters, tail(x, *exact)) + float(info.eps)
            slope = abs(tail(x + step, *exact) - tail(x - step, *exact)) / (2 * step) if step else mp.inf
            slack = CONDITION * spread / slope if slope and mp.isfinite(slope) else mp.mpf(0)
            if not slope:
                raise Undecided("flat")
            return _verdict(x, unit * size + slack + float(info.tiny), got, info)

    def _discrete(self, above: int, dtype: type, wanted: Any, exact: list[Any], right: float, got: float) -> Verdict:
        """One whole number is right, and another where rounding of the inputs lets its probability reach q."""
        info = np.finfo(dtype)
        tail = functools.partial(self.log_tail, above)
        if math.isfinite(got):
            here, before = tail(mp.mpf(got), *exact), tail(mp.mpf(got) - 1, *exact)
            slack = CONDITION * (self._spread(lambda *p: tail(mp.mpf(got), *p), dtype, [float(p) for p in exact], here)
                                 + 4 * float(info.eps) * max(1, abs(wanted)))  # fmt: skip
            fits = (here <= wanted + slack and before > wanted - slack) if above else (
                here >= wanted - slack and before < wanted + slack)  # fmt: skip
            if fits:
                return Verdict(right, 0.5, 0.0)
        return _verdict(mp.mpf(right), mp.mpf(0.5) + abs(right) * 4 * float(info.eps), got, info)


@functools.cache
def _gauss_legendre(precision: int) -> list[tuple[Any, Any]]:
    return mp.calculus.quadrature.GaussLegendre(mp.mp).calc_nodes(4, precision)


def _verdict(right: Any, allowed: Any, got: float, info: Any) -> Verdict:
    """That of a value; beyond the type's range it may be infinite, or the largest number."""
    if abs(right) >= float(info.max) / 2:
        fits = abs(got) >= float(info.max) / 4 and (got > 0) == (right > 0)
        return Verdict(float(right), 0.0, 0.0 if fits else math.inf)
    if mp.isinf(allowed) and not math.isnan(got):
        return Verdict(float(right), math.inf, 0.0)
    error = abs(mp.mpf(got) - right) / allowed if math.isfinite(got) else math.inf
    return Verdict(float(right), float(allowed), float(error))


def _smallest(reached: Callable[[float], bool], lower: float, upper: float, near: float) -> float:
    """The smallest double from lower to upper for which something holds, which holds for all above it: by their order."""
    low, high = _rank(lower), _rank(upper)
    if math.isfinite(near) and lower < near < upper:
        for width in (2**8, 2**32):
            a, b = _rank(near) - width, _rank(near) + width
            if low < a and not reached(_number(a)):
                low = a
            if b < high and reached(_number(b)):
                high = b
            if low == a and high == b:
                break
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(_number(middle)) else (middle, high)
    return _number(high)


def _rank(x: float) -> int:
    """The place of a double among all doubles, that of 0 being 0."""
    (bits,) = struct.unpack("<q", struct.pack("<d", x))
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _number(rank: int) -> float:
    bits = rank if rank >= 0 else -rank | (1 << 63)
    return struct.unpack("<d", struct.pack("<Q", bits))[0]
