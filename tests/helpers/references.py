"""What a density is tested against: an accurate reference, and the arguments at which the two are compared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mpmath
import numpy as np


@dataclass(frozen=True)
class Reference:
    """An accurate log-density and the arguments to test it at.

    logpdf(x, *parameters): the reference, elementwise over float64 arrays
    parameters(rng, n): random ordinary parameters, as a tuple of arrays of length n
    observations(rng, parameters): observations inside the support, the tails included, one for each set of parameters
    extreme: tuples (x, *parameters): edges of the support, infinite x, far tails, huge and tiny parameters
    invalid: tuples of parameters for which the density is nan
    rtol64, rtol32: the largest error allowed, relative to max(1, |reference|)
    float32: whether the density is tested in single precision at all
    reason: why a tolerance differs from the default, if it does
    scipy(x, *parameters): scipy.stats' log-density, where it has one: less accurate, but written by others

    What follows is known of the families of `families.py`; tables beside this file have it of the others.

    tails(x, *parameters): (P(X <= x), P(X > x)) for x inside the support, as functions of mpmath numbers
    ends: the support's ends, numbers or functions of the parameters; of whole numbers the one before the first, and the last
    theirs(*parameters): scipy.stats' distribution, or what has its methods `cdf` and `stats`
    drawn: tuples of parameters at which draws are compared with `theirs`
    digits: with how many the tails are evaluated
    """

    logpdf: Callable
    parameters: Callable
    observations: Callable
    extreme: Sequence[tuple] = ()
    invalid: Sequence[tuple] = ()
    rtol64: float = 1e-12
    rtol32: float = 1e-5
    float32: bool = True
    reason: str = ""
    scipy: Callable | None = None
    tails: Callable | None = None
    ends: tuple = (-np.inf, np.inf)
    theirs: Callable | None = None
    drawn: Sequence[tuple] = ()
    digits: int = 60

    def rtol(self, dtype):
        return self.rtol64 if dtype == np.float64 else self.rtol32

    def random(self, rng, n, dtype=np.float64):
        """n random tuples (x, *parameters), as arrays of `dtype`."""
        parameters = self.parameters(rng, n)
        x = self.observations(rng, parameters)
        return tuple(np.asarray(a, float).astype(dtype) for a in (x, *parameters))

    def derivative(self, args, wrt):
        """A derivative of `logpdf` at each of the n tuples `args`, arrays of shape (n,) or (n, d): see `derivative`."""
        return np.array([derivative(self.logpdf.__wrapped__, row, wrt) for row in rows_of(args)])

    def gradient(self, args, wrt):
        """The derivative in argument number `wrt`, in each component of it where it is a vector: shaped like it."""
        shape = np.shape(args[wrt])
        if len(shape) == 1:
            return self.derivative(args, [wrt])
        return np.stack([self.derivative(args, [(wrt, i)]) for i in range(shape[1])], -1)

    def extremes(self, dtype=np.float64):
        """The extreme tuples that `dtype` can represent, as arrays."""
        kept = [row for row in self.extreme if representable(row, dtype)]
        return tuple(np.array(column, float).astype(dtype) for column in zip(*kept))


def rows_of(args):
    """The tuples of numbers, and of lists of numbers, that arrays of the same length hold."""
    return list(zip(*(np.asarray(a, float).tolist() for a in args)))


def representable(row, dtype):
    """Whether no argument overflows, or underflows to a subnormal number (which a device may flush to 0)."""
    info = np.finfo(dtype)
    a = np.abs(np.concatenate([np.ravel(value) for value in row]).astype(float))
    return bool(np.all((a == 0) | ~np.isfinite(a) | ((a >= info.tiny) & (a <= info.max))))


def errors(got, want, dtype=None):
    """Error of each value of `got`, relative to max(1, |want|): 0 for equal infinities, inf where only one is finite.

    A reference beyond the range of the dtype counts as infinite.
    """
    got = np.asarray(got)
    with np.errstate(over="ignore", invalid="ignore"):
        want = np.asarray(want, float)
        infinite = np.isinf(want.astype(dtype or got.dtype))
        error = np.abs(got.astype(float) - want) / np.maximum(1, np.abs(want))
    error = np.where(infinite, np.where(got == np.sign(want) * np.inf, 0.0, np.inf), error)
    return np.where(np.isnan(want) & np.isnan(got), 0.0, np.where(np.isnan(error), np.inf, error))


def derivative_errors(got, want, floor):
    """Error of each derivative, relative to its size, or to `floor` times a typical one where it is smaller than that.

    A derivative changes its sign where the terms that it is the sum of cancel, and keeps their rounding errors there.
    """
    got, want = np.asarray(got, float), np.asarray(want)
    size = np.abs(want)
    typical = np.median(size[size > 1e-30]) if (size > 1e-30).any() else 1.0
    error = np.abs(got - want) / np.maximum(size, floor * typical)
    return np.where(np.isnan(error), np.inf, error)


def exactly(function, digits=60):
    """Makes of a function of mpmath numbers one of float64 arrays, evaluated at `digits` digits."""

    @functools.wraps(function)
    def elementwise(*args):
        arrays = np.broadcast_arrays(*(np.asarray(a, float) for a in args))
        with mpmath.workdps(digits):
            values = [float(function(*map(mpmath.mpf, row))) for row in zip(*(a.ravel().tolist() for a in arrays))]
        return np.array(values).reshape(arrays[0].shape)

    return elementwise


def log_uniform(rng, low, high, size):
    """Random numbers between low and high whose logarithm is uniform."""
    return np.exp(rng.uniform(np.log(low), np.log(high), size))


def derivative(function, row, wrt, direction=0, digits=60):
    """A partial derivative of a function of mpmath numbers and of lists of them, to more digits than float64 has.

    row: the arguments, numbers and lists of numbers
    wrt: the indices of the arguments to differentiate with respect to, one after another; (i, j): element j of argument i
    direction: 0: differences centred at the row; 1, -1: from above and from below, at the edge of a domain
    """
    slots = list(dict.fromkeys(wrt))

    def along(*values):
        moved = [list(map(mpmath.mpf, a)) if isinstance(a, (list, tuple)) else mpmath.mpf(a) for a in row]
        for slot, value in zip(slots, values):
            if isinstance(slot, tuple):
                moved[slot[0]][slot[1]] = value
            else:
                moved[slot] = value
        return function(*moved)

    with mpmath.workdps(digits):
        start = tuple(mpmath.mpf(row[s[0]][s[1]] if isinstance(s, tuple) else row[s]) for s in slots)
        orders = tuple(wrt.count(s) for s in slots)
        return float(mpmath.diff(along, start, orders, direction=direction))
