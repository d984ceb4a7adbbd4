"""Multivariate normal distributions confined to a box: independent draws, the density, and the probability of the box."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..density import densities
from ..draws.generator import RANDOM, Generator, as_generator
from ..evaluation.results import Destination, as_shape
from ..kernels.code import KernelCode
from ..kernels.layout import Layout, row_blocks
from ..kernels.template import Template
from ..language.device_function import parse
from ..language.library import library
from ..runtime import choose
from ..runtime.transfers import to_host
from .tilting import tilted

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime

_BOX = Template.beside(__file__, "box")
_DOUBLE = np.dtype(np.float64)

#: How often a draw is attempted before it is given up, and the rate of acceptance below which draws are refused: there one draw
#: in 10^4 would be given up.
ATTEMPTS, LEAST = 10_000_000, 1e-6
#: Shifts of the lattice whose points are weighed: their spread tells the error.
SHIFTS = 12

# The standard normal number between a and b below which a part u of the probability there lies. In the upper tail all is turned
# round. Far from the middle the distance s from the nearer bound, c away, solves log(Q(c + s) / Q(c)) = log(v), where Q is the
# upper tail: Newton's steps begin at the solution for a density that falls off like exp(-x^2 / 2) alone.
_FUNCTIONS = """
real confined(real u, real a, real b)
{
    int turned = a + b > 0;
    real low = turned ? -b : a, high = turned ? -a : b, p = turned ? 1 - u : u, c = -high, z;
    if (c < 5) {
        real below = exp(log_ndtr(low));
        z = ndtri(below + p * (exp(log_ndtr(high)) - below));
    } else {
        real scaled = scaled_erfc(c / SQRT_2), width = high - low, rest = 0;
        if (width < INFINITY) rest = exp(-width * (c + 0.5 * width)) * (scaled_erfc((c + width) / SQRT_2) / scaled);
        real log_v = log(rest + p * (1 - rest)), s = -2 * log_v / (c + sqrt(c * c - 2 * log_v));
        for (int i = 0; i < 3; i++) {
            real tail = scaled_erfc((c + s) / SQRT_2);
            s += (log(tail / scaled) - s * (c + 0.5 * s) - log_v) * (tail / SQRT_2_OVER_PI);
        }
        z = -(c + fmax(s, (real)0));
    }
    z = fmin(fmax(z, low), high);
    return turned ? -z : z;
}

real log_mass(real a, real b) { return log_ndtr_difference(a, b); }
"""


class Probability(NamedTuple):
    """The logarithm of a probability, and the standard error of it as an estimate."""

    log: float
    error: float


class TruncatedMvNormal:
    """A multivariate normal distribution confined to a box, lower <= x <= upper.

    Parameters
    ----------
    mu : array_like (d,)
        Mean before truncation.
    cov : array_like (d, d)
        Covariance matrix before truncation, symmetric and positive definite.
    lower, upper : array_like (d,) or float
        Bounds of the elements; they may be infinite.

    Raises
    ------
    ValueError
        Shapes that do not fit, an empty box, nan, or a matrix that is not symmetric and positive definite.

    Notes
    -----
    Elements are drawn one after another, in an order that Gibson, Glasbey & Elston [2]_ gave, each from a normal distribution
    that is shifted and confined to what the ones before it leave of the box. A draw is accepted at a rate that its weight
    tells, so draws are independent and have exactly the distribution. The shifts are those for which the largest weight is
    smallest [1]_: boxes far in the tails, and of a hundred dimensions, are within reach. The probability is the mean weight
    over a lattice of points that is shifted at random, whose error falls off almost like the number of points.

    .. [1] Botev (2017), The normal law under linear restrictions: simulation and estimation via minimax tilting.
    .. [2] Gibson, Glasbey & Elston (1994), Monte Carlo evaluation of multivariate normal integrals and sensitivity to variate
       ordering.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> cov = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> positive = gs.TruncatedMvNormal([0.0, 0.0], cov, 0.0, np.inf)
    >>> float(round(np.exp(positive.log_probability().log), 5))                   # 1/4 + asin(1/2) / (2 pi)
    0.33333
    >>> x = positive.rvs(100_000, rng=1)
    >>> x.shape, bool((x >= 0).all())
    ((100000, 2), True)
    """

    def __init__(self, mu: Any, cov: Any, lower: Any, upper: Any):
        self.mu = _vector(mu, "mu")
        d = len(self.mu)
        self.cov = np.asarray(to_host(cov), np.float64)
        if d < 1 or self.cov.shape != (d, d):
            given = f"cov has shape {self.cov.shape}, and mu {self.mu.shape}"
            raise ValueError(f"{given}: they must be (d, d) and (d,), d at least 1")
        if not np.allclose(self.cov, self.cov.T, rtol=1e-9):
            raise ValueError("cov must be symmetric")
        self.lower, self.upper = _bound(lower, "lower", d), _bound(upper, "upper", d)
        if not (self.lower < self.upper).all():
            at = int(np.argmin(self.lower < self.upper))
            raise ValueError(f"the box is empty: element {at} has the bounds {self.lower[at]} and {self.upper[at]}")
        self._tilted = tilted(self.cov, self.lower - self.mu, self.upper - self.mu)
        self._probabilities: dict[tuple[int, int], Probability] = {}

    def __repr__(self) -> str:
        return f"<gpustats.TruncatedMvNormal of {len(self.mu)} dimensions>"

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return len(self.mu)

    def log_probability(self, points: int = 1 << 14, rng: int = 0) -> Probability:
        """The logarithm of the probability that a vector before truncation lies in the box.

        Parameters
        ----------
        points : int
            Of the lattice, which is weighed with 12 shifts.
        rng : int
            The seed of the shifts.

        Returns
        -------
        log, error : float
            With ``lower=-inf``, the logarithm of the multivariate normal's distribution function at `upper`.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> tail = gs.TruncatedMvNormal(np.zeros(30), np.full((30, 30), 0.5) + 0.5 * np.eye(30), 0.0, np.inf)
        >>> log, error = tail.log_probability()                             # known to be 1 / 31
        >>> float(round(np.exp(log) * 31, 2)), bool(error < 1e-3)
        (1.0, True)
        """
        if points < 1:
            raise ValueError(f"points must be positive, not {points}")
        key = points, int(rng)
        if key not in self._probabilities:
            self._probabilities[key] = self._weighed(*key)
        return self._probabilities[key]

    def logpdf(self, x: Any) -> Any:
        """The log-density.

        Parameters
        ----------
        x : array_like (..., d)

        Returns
        -------
        ndarray (...)
            -inf outside of the box. Its error is that of `log_probability`.
        """
        x = np.asarray(to_host(x))
        if x.shape[-1:] != (self.dim,):
            raise ValueError(f"x has shape {x.shape}: its last axis must have the length of mu, {self.dim}")
        inside = ((x >= self.lower) & (x <= self.upper)).all(-1) | np.isnan(x).any(-1)
        everywhere = densities["mvnormal"].logpdf(x, self.mu, self.cov) - self.log_probability().log
        return np.where(inside, everywhere, -np.inf)[()]

    def rvs(
        self, size: int | tuple[int, ...] | None = None, rng: Any = None, dtype: Any = np.float64, device: bool = False
    ) -> Any:
        """Independent draws.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape of the result, to which the axis of a vector is added.
        rng : optional
            As for `Density.rvs`.
        dtype : {float64, float32}
        device : bool
            Whether to return a device array of the default device.

        Raises
        ------
        ValueError
            Where fewer than one in a million attempts would be accepted.
        """
        runtime, dtype, shape = choose.get(), np.dtype(dtype), () if size is None else as_shape(size)
        if dtype.name not in ("float64", "float32"):
            raise TypeError(f"dtype must be float64 or float32, not {dtype}")
        generator, t, n = as_generator(rng), self._tilted, math.prod(shape)
        if runtime.device.double and (rate := math.exp(self.log_probability(1 << 10).log - t.largest)) < LEAST:
            raise ValueError(f"only a part of {rate:.1e} of attempts at a draw would be accepted: {LEAST:.0e} are needed")
        destination = Destination(runtime, (*shape, self.dim), dtype, dtype, device, None)
        if n:
            bounds = np.stack([self.lower, self.upper], -1)[t.order]
            numbers = [t.factor, t.low, t.high, t.tilt, self.mu[t.order], t.scale, bounds, t.order]
            _launch(runtime, dtype, self.dim, False, destination, n, generator.take(n), numbers, t.largest)
        return destination.finished()

    def _weighed(self, points: int, seed: int) -> Probability:
        runtime, t, n = choose.get(), self._tilted, SHIFTS * points
        if not runtime.device.double:
            raise ValueError(f"{runtime.device} computes in float32 only: probabilities of a box need float64")
        shifts = densities["uniform"].rvs(0.0, 1.0, size=(SHIFTS, self.dim), rng=Generator(seed))
        numbers = [t.factor, t.low, t.high, t.tilt, np.sqrt(_primes(self.dim)), shifts]
        destination = Destination(runtime, (n,), _DOUBLE, _DOUBLE, False, None)
        _launch(runtime, _DOUBLE, self.dim, True, destination, n, (points,), numbers, t.largest)
        weights = np.exp(destination.finished()).reshape(SHIFTS, points).mean(1)
        mean = weights.mean()
        with np.errstate(divide="ignore", invalid="ignore"):
            return Probability(float(t.largest + np.log(mean)), float(weights.std(ddof=1) / math.sqrt(SHIFTS) / mean))


# ---- kernels


def _launch(
    runtime: Runtime, dtype: np.dtype, dim: int, weigh: bool, destination: Destination, n: int, begin: Any, numbers: Any,
    largest: float,
) -> None:  # fmt: skip
    """Draw, or weigh, n vectors of what lies in `numbers`."""
    kernel, layout = _kernel(runtime, dtype, dim, weigh)
    blocks = row_blocks(runtime.device, layout, n, 1)
    packed = runtime.passed(np.concatenate([np.ravel(part) for part in numbers], dtype=dtype))
    kernel((1, blocks), destination.handle, destination.offset, n, *begin, packed, 0, largest)


@functools.lru_cache(256)
def _kernel(runtime: Runtime, dtype: np.dtype, dim: int, weigh: bool) -> tuple[Kernel, Layout]:
    cpu = runtime.device.type == "cpu"
    layout = Layout(64 // dtype.itemsize if cpu else min(128, runtime.device.max_threads))
    layout = Layout(layout.threads, tile=layout.threads)
    name = f"box_{'weights' if weigh else 'draws'}"
    text = source(name, layout, dtype.name, runtime.dialect, dim, weigh)
    return runtime.kernel(text, name, layout.threads), layout


def source(name: str, layout: Layout, dtype: str, dialect: str, dim: int, weigh: bool) -> str:
    """The source of the kernel."""
    made = parse(_FUNCTIONS, library.resolve, "box")
    confined, log_mass = made.functions.values()
    codes = [KernelCode(f, (), library.resolve, [p.name for p in f.parameters]) for f in (confined, log_mass)]
    return _BOX.source_of(
        codes[0], name, layout, dtype, dialect, others=codes[1:], before=(RANDOM,),
        dim=dim, weigh=weigh, attempts=ATTEMPTS,
    )  # fmt: skip


def _vector(value: Any, name: str) -> np.ndarray:
    vector = np.asarray(to_host(value), np.float64)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise ValueError(f"{name} must be a vector of finite numbers, shape (d,), not {vector.shape}")
    return vector


def _bound(value: Any, name: str, d: int) -> np.ndarray:
    bound = np.asarray(to_host(value), np.float64)
    if bound.shape not in ((), (d,)):
        raise ValueError(f"{name} has shape {bound.shape}: it must be a number or have mu's shape, ({d},)")
    return np.broadcast_to(bound, (d,))


@functools.cache
def _primes(count: int) -> np.ndarray:
    """The first `count` prime numbers."""
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % p for p in found if p * p <= number):
            found.append(number)
        number += 1
    return np.array(found, float)
