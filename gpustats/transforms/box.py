"""Multivariate normal distributions confined to a box: independent draws, and the density."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..density import densities
from ..draws.generator import RANDOM, Rng, as_generator
from ..evaluation.results import Destination, as_shape
from ..kernels.layout import row_blocks
from ..kernels.template import Template
from ..runtime import choose
from ..runtime.transfers import to_host
from .box_probability import Probability, weighed
from .confined import confined_kernel
from .tilting import Tilted, is_symmetric, tilted

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ..runtime.types import Array, Size, Values

_BOX = Template.beside(__file__, "box")

#: Number of attempts at a draw before it is given up, and the rate of acceptance below which draws are refused: there one draw
#: in 10^4 would be given up.
MOST_ATTEMPTS, LEAST_ACCEPTANCE = 10_000_000, 1e-6


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

    def __init__(self, mu: Values, cov: Values, lower: Values, upper: Values):
        self.mu = _vector(mu, "mu")
        d = len(self.mu)
        self.cov = np.asarray(to_host(cov), np.float64)
        if d < 1 or self.cov.shape != (d, d):
            given = f"cov has shape {self.cov.shape}, and mu {self.mu.shape}"
            raise ValueError(f"{given}: they must be (d, d) and (d,), d at least 1")
        if not is_symmetric(self.cov):
            raise ValueError("cov must be symmetric")
        self.lower, self.upper = _bound(lower, "lower", d), _bound(upper, "upper", d)
        if not (self.lower < self.upper).all():
            at = int(np.argmin(self.lower < self.upper))
            raise ValueError(f"the box is empty: element {at} has the bounds {self.lower[at]} and {self.upper[at]}")
        self._tilted = tilted(self.cov[None], (self.lower - self.mu)[None], (self.upper - self.mu)[None])
        self._probabilities: dict[tuple[int, int], Probability] = {}

    def __repr__(self) -> str:
        return f"<gpustats.TruncatedMvNormal of {len(self.mu)} dimensions>"

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return len(self.mu)

    def log_probability(self, points: int = 1 << 14, rng: int = 0) -> Probability:
        """The logarithm of the probability that a vector before truncation lies in the box.

        Parameters
        ----------
        points : int
            Number of points of the lattice, which is weighed with 12 shifts.
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
            found = weighed(choose.get(), self._tilted, points, rng=key[1])
            self._probabilities[key] = Probability(float(found.log[0]), float(found.error[0]))
        return self._probabilities[key]

    def logpdf(self, x: Values) -> Array:
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

    def rvs(self, size: Size = None, rng: Rng = None, dtype: DTypeLike = np.float64, device: bool = False) -> Array:
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
        generator, t, n = as_generator(rng), Tilted(*(part[0] for part in self._tilted)), math.prod(shape)
        if runtime.device.double and (rate := math.exp(self.log_probability(1 << 10).log - t.largest)) < LEAST_ACCEPTANCE:
            raise ValueError(
                f"only a part of {rate:.1e} of attempts at a draw would be accepted: {LEAST_ACCEPTANCE:.0e} are needed"
            )
        destination = Destination(runtime, (*shape, self.dim), dtype, dtype, device, None)
        if n:
            bounds = np.stack([self.lower, self.upper], -1)[t.order]
            numbers = [t.factor, t.low, t.high, t.tilt, self.mu[t.order], t.scale, bounds, t.order]
            kernel, layout = confined_kernel(
                runtime, _BOX, "box_draws", dtype, before=(RANDOM,), dim=self.dim, attempts=MOST_ATTEMPTS
            )
            packed = runtime.passed(np.concatenate([np.ravel(part) for part in numbers], dtype=dtype))
            blocks, out = row_blocks(runtime.device, layout, n, 1), (destination.handle, destination.offset)
            kernel((1, blocks), *out, n, *generator.take(n), packed, 0, t.largest)
        return destination.finished()


def _vector(value: Values, name: str) -> np.ndarray:
    vector = np.asarray(to_host(value), np.float64)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise ValueError(f"{name} must be a vector of finite numbers, shape (d,), not {vector.shape}")
    return vector


def _bound(value: Values, name: str, d: int) -> np.ndarray:
    bound = np.asarray(to_host(value), np.float64)
    if bound.shape not in ((), (d,)):
        raise ValueError(f"{name} has shape {bound.shape}: it must be a number or have mu's shape, ({d},)")
    return np.broadcast_to(bound, (d,))
