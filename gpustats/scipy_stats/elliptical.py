"""Elliptical distributions as in SciPy: the normal one and Student's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ..density import Density, densities
from ..draws.generator import Rng
from ..evaluation.results import as_shape
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host
from ..runtime.types import Array, Doubles, Size, Values
from ..transforms.box_probability import SHIFTS, box_probability
from ..transforms.tilting import is_symmetric
from .multivariate import FrozenMultivariate, Location, WithDensity, squeezed


@runtime_checkable
class Covariance(Protocol):
    """Interface of scipy.stats.Covariance."""

    covariance: np.ndarray


#: Scale matrix, a multiple of the unit one, or a diagonal.
Scale: TypeAlias = ArrayLike | Covariance

#: Eigenvalues of a scale matrix that are taken for 0, relative to the largest.
_SINGULAR_EIGENVALUE = 1e6 * np.finfo(float).eps


def _vector_and_matrix(
    names: tuple[str, str], vector: Location, matrix: Scale | None, allow_singular: bool = False
) -> tuple[Doubles, Doubles]:
    """Location and scale matrix, either of which may be left out; an error where they do not go together."""
    if isinstance(matrix, Covariance):  # which is known to be one
        matrix, allow_singular = matrix.covariance, True
    matrix = np.asarray(1.0 if matrix is None else matrix, float)
    if vector is None:
        vector = np.zeros(matrix.shape[-1] if matrix.ndim else 1)
    vector = np.atleast_1d(np.asarray(vector, float))
    if vector.ndim != 1:
        raise ValueError(f"{names[0]} must be a vector, not of shape {vector.shape}")
    if matrix.ndim < 2:
        matrix = matrix * np.eye(len(vector))
    if matrix.shape != (len(vector),) * 2:
        raise ValueError(f"{names[1]} has shape {matrix.shape}, where {names[0]} has {vector.shape}")
    if not is_symmetric(matrix):
        raise np.linalg.LinAlgError(f"{names[1]} must be symmetric and positive definite")
    if not _is_positive_definite(matrix):
        if not allow_singular:
            raise np.linalg.LinAlgError(f"{names[1]} must be symmetric and positive definite, unless allow_singular is given")
        values = np.linalg.eigvalsh(matrix)
        if values[0] < -_SINGULAR_EIGENVALUE * np.abs(values).max():
            raise ValueError(f"{names[1]} must be symmetric and positive semidefinite")
    return vector, matrix


def _is_positive_definite(matrix: Doubles) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


class _Subspace:
    """Space around its location in which a distribution lies whose scale matrix may be singular.

    Attributes
    ----------
    scale : ndarray (r, r)
        The scale matrix along the axes of the space; the whole matrix where it is regular.
    axes : ndarray (d, r), or None
        Orthogonal directions; None where the matrix is regular.
    """

    def __init__(self, matrix: Doubles, allow_singular: bool = False):
        """Find the space; `allow_singular`: leave out directions of little variance, even of a positive definite matrix."""
        self.scale, self.axes = matrix, None
        if not allow_singular and _is_positive_definite(matrix):
            return
        values, vectors = np.linalg.eigh(matrix)
        least = _SINGULAR_EIGENVALUE * np.abs(values).max(initial=0.0)
        kept = values > least
        if not kept.all():
            self.scale, self.axes = np.diag(values[kept]), vectors[:, kept]
            self._across, self._width = vectors[:, ~kept], 1e3 * least

    def density(self, method: str, of: Density, x: Values, *parameters: Array) -> Array:
        """Density or its logarithm at x; the last of the parameters is the location."""
        *first, location = parameters
        if self.axes is None:
            return getattr(of, method)(_observations(x, len(location)), *first, location, self.scale)
        deviation = _observations(to_host(x), len(location)) - location
        inside = np.linalg.norm(deviation @ self._across, axis=-1) <= self._width
        along = deviation @ self.axes
        r = along.shape[-1]
        log = of.logpdf(along, *first, np.zeros(r), self.scale) if r else np.zeros(along.shape[:-1])
        log = np.where(np.isnan(deviation).any(-1), np.nan, np.where(inside, log, -np.inf))[()]
        return log if method == "logpdf" else np.exp(log)

    def draws(self, of: Density, size: Size, rng: Rng, *parameters: Array) -> Array:
        """Draws, of which the parameters are as in `density`."""
        *first, location = parameters
        if self.axes is None:
            return of.rvs(*first, location, self.scale, size=size, rng=rng)
        r = self.axes.shape[1]
        along = of.rvs(*first, np.zeros(r), self.scale, size=size, rng=rng) if r else np.zeros((*as_shape(size), 0))
        return location + along @ self.axes.T

    @property
    def log_det(self) -> float:
        """Log-determinant of the scale matrix along the axes."""
        return float(np.linalg.slogdet(self.scale)[1])


def _components(dimensions: ArrayLike, dim: int) -> np.ndarray:
    """Numbers of components, of which those below 0 are counted from the end; ValueError where they are none."""
    given = np.atleast_1d(np.asarray(dimensions))
    if given.ndim != 1 or not given.size:
        raise ValueError(f"dimensions must be the numbers of some components, not {dimensions!r}")
    kept = np.where(given < 0, given + dim, given)
    if kept.dtype.kind not in "iu" or ((kept < 0) | (kept >= dim)).any() or len(np.unique(kept)) < len(kept):
        raise ValueError(f"dimensions must be different whole numbers between {-dim} and {dim - 1}, not {dimensions!r}")
    return kept


def _seed(random_state: Rng) -> int:
    """Seed of a lattice's shifts."""
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return int(random_state or 0)
    draw = getattr(random_state, "integers", None) or random_state.randint  # type: ignore[union-attr]
    return int(draw(2**31))


def _log_probability(
    x: Values, location: Doubles, matrix: Doubles, lower_limit: ArrayLike | None, df: float, points: int, atol: float,
    rtol: float, rng: Rng,
) -> tuple[Array, Array]:  # fmt: skip
    """Logarithm of the absolute value of a distribution function, and its sign; `points` are weighed at most.

    The sign is negative where an odd number of bounds are in the wrong order.
    """
    x = np.asarray(_observations(to_host(x), len(location)), float)
    lower = np.full(len(location), -np.inf) if lower_limit is None else np.asarray(lower_limit, float)
    lower, upper = np.broadcast_arrays(lower, x)
    log, _ = box_probability(
        np.minimum(lower, upper), np.maximum(lower, upper), location, matrix, df, allow_singular=True,
        points=max(1, int(points) // SHIFTS), atol=atol, rtol=rtol, rng=_seed(rng),
    )  # fmt: skip
    return log, (-1.0) ** (upper < lower).sum(-1)


def _observations(x: Values, dim: int) -> Array:
    """Vectors of a length along the last axis; of length 1, numbers are vectors, too."""
    if is_device_array(x):
        return x
    x = np.asarray(x, float)
    return x[..., None] if x.ndim == 0 or (dim == 1 and x.ndim == 1) else x


class _Elliptical(WithDensity):
    """Elliptical distribution whose scale matrix may be singular."""

    def attributes(self, **given: Values) -> dict[str, Array]:
        options = {n: given.pop(n) for n in self.options if n in given}
        values = dict(zip(self._order, self._processed(**given), strict=True))
        matrix, allowed = values[self._order[-2]], values["allow_singular"]
        return {**values, "allow_singular": bool(allowed) or not _is_positive_definite(matrix), **options}

    def _of(self, *first: float) -> tuple[Density, tuple[float, ...]]:
        """Density, and its parameters before the location."""
        return self.density, first

    def _at(self, method: str, x: Values, args: Sequence[Values], kwds: Mapping[str, Values]) -> Array:
        """Density or its logarithm; see `_Subspace.density`."""
        *first, location, matrix, allow_singular = self._given(args, kwds)
        density, own = self._of(*first)
        return _Subspace(matrix, allow_singular).density(method, density, x, *own, location)

    def pdf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Density at vectors along the last axis of x; arguments as for `logpdf`."""
        return self._at("pdf", x, args, kwds)

    def logpdf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Logarithm of the density at vectors along the last axis of x.

        Of a singular matrix it is the density in the space in which the distribution lies, and -inf outside of that.
        """
        return self._at("logpdf", x, args, kwds)

    def _drawn(self, given: Sequence[Array], size: Size, random_state: Rng) -> Array:
        *first, location, matrix, _ = given
        density, own = self._of(*first)
        generator = self._generator(random_state)
        return _Subspace(matrix).draws(density, () if size is None else size, generator, *own, location)

    def marginal(self, dimensions: ArrayLike, *args: Values, **kwds: Values) -> FrozenMultivariate:
        """Distribution of some of the components, given by their numbers; further arguments are the parameters."""
        *first, location, matrix, allow_singular = self._given(args, kwds)
        kept = _components(dimensions, len(location))
        return self(location[kept], matrix[np.ix_(kept, kept)], *first, allow_singular)


class MultivariateNormal(_Elliptical):
    name, of, parameters = "multivariate_normal", "mvnormal", ("mean", "cov", "allow_singular")
    options = ("maxpts", "abseps", "releps")
    _order = parameters

    def _processed(self, mean: Location = None, cov: Scale = 1, allow_singular: bool = False) -> tuple[Doubles, Doubles, bool]:
        return *_vector_and_matrix(("mean", "cov"), mean, cov, allow_singular), allow_singular

    def logcdf(self, *args: Any, **kwds: Any) -> Array:
        """Logarithm of `cdf`, complex where bounds in the wrong order make that negative."""
        log, sign = self._log_cdf(*args, **kwds)
        return log if np.all(sign > 0) else log + np.where(sign < 0, 1j * np.pi, 0)

    def cdf(self, *args: Any, **kwds: Any) -> Array:
        """Probability of vectors between `lower_limit` and x, by `gpustats.box_probability`.

        Parameters
        ----------
        x : array_like (..., d)
        mean, cov, allow_singular
            As for the density.
        maxpts : int, optional
            The points that are weighed at most.
        abseps, releps : float
            Absolute and relative errors either of which will do; 1e-5 by default.
        lower_limit : array_like (..., d), optional
            By its name only, as is `rng`.
        rng : optional
            As `random_state` of draws; the same points each time where none is given.
        """
        log, sign = self._log_cdf(*args, **kwds)
        return np.exp(log) * sign

    def _log_cdf(
        self, x: Values, mean: Location = None, cov: Scale = 1, allow_singular: bool = False, maxpts: int | None = None,
        abseps: float = 1e-5, releps: float = 1e-5, *, lower_limit: ArrayLike | None = None, rng: Rng = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        mean, cov, _ = self._processed(mean, cov, allow_singular)
        points = maxpts or 1_000_000 * len(mean)
        return _log_probability(x, mean, cov, lower_limit, np.inf, points, abseps / 3, releps / 3, rng)

    def rvs(self, mean: Location = None, cov: Scale = 1, size: Size = 1, random_state: Rng = None) -> Array:
        """Draws, without axes of length 1 unless `cov` is a scipy.stats.Covariance."""
        draws = self._drawn(self._processed(mean, cov, True), size, random_state)
        return draws if isinstance(cov, Covariance) else squeezed(draws)

    def entropy(self, mean: Location = None, cov: Scale = 1) -> Array:
        """Entropy in nats."""
        space = _Subspace(self._processed(mean, cov, True)[1])
        return np.float64(0.5 * (len(space.scale) * (1 + np.log(2 * np.pi)) + space.log_det))

    def fit(self, x: Values, fix_mean: Location = None, fix_cov: Scale | None = None) -> tuple[Doubles, Doubles]:
        """Mean and covariance matrix by maximum likelihood, of observations (N, d)."""
        x = np.asarray(to_host(x), float)
        if x.ndim != 2:
            raise ValueError(f"x has shape {x.shape}: it must be (N, d)")
        mean = x.mean(0) if fix_mean is None else np.atleast_1d(np.asarray(fix_mean, float))
        if mean.shape != x.shape[1:]:
            raise ValueError(f"fix_mean has shape {mean.shape}, where x has {x.shape}")
        if fix_cov is not None:
            return mean, _vector_and_matrix(("fix_mean", "fix_cov"), mean, fix_cov)[1]
        centred = x - mean
        return mean, centred.T @ centred / len(x)


class MultivariateT(_Elliptical):
    name, of, parameters = "multivariate_t", "mv_student_t", ("loc", "shape", "df", "allow_singular")
    _order = ("df", "loc", "shape", "allow_singular")

    def _processed(
        self, loc: Location = None, shape: Scale = 1, df: float | None = 1, allow_singular: bool = False
    ) -> tuple[float, Doubles, Doubles, bool]:
        df = 1 if df is None else df
        if not df > 0:
            raise ValueError(f"df must be positive, not {df}")
        return float(df), *_vector_and_matrix(("loc", "shape"), loc, shape, allow_singular), allow_singular

    def _of(self, *first: float) -> tuple[Density, tuple[float, ...]]:
        """Density, and the degrees of freedom; with infinitely many the normal density without them."""
        return (self.density, first) if np.isfinite(first[0]) else (densities["mvnormal"], ())

    def cdf(
        self, x: Values, loc: Location = None, shape: Scale = 1, df: float | None = 1, allow_singular: bool = False, *,
        maxpts: int | None = None, lower_limit: ArrayLike | None = None, random_state: Rng = None,
    ) -> Array:  # fmt: skip
        """Probability of vectors between `lower_limit` and x; see `multivariate_normal.cdf`."""
        df, loc, shape, _ = self._processed(loc, shape, df, allow_singular)
        log, sign = _log_probability(x, loc, shape, lower_limit, df, maxpts or 1_000_000, 3e-6, 3e-6, random_state)
        return np.exp(log) * sign

    def rvs(
        self, loc: Location = None, shape: Scale = 1, df: float | None = 1, size: Size = 1, random_state: Rng = None
    ) -> Array:
        """Draws, without axes of length 1."""
        return squeezed(self._drawn(self._processed(loc, shape, df, True), size, random_state))

    def entropy(self, loc: Location = None, shape: Scale = 1, df: float | None = 1) -> Array:
        """Entropy in nats."""
        df, _, shape, _ = self._processed(loc, shape, df, True)
        space = _Subspace(shape)
        d, a = len(space.scale), 0.5 * df
        if np.isinf(df):
            return np.float64(0.5 * (d * (1 + np.log(2 * np.pi)) + space.log_det))
        # Kotz & Nadarajah (2004), ch. 1. Where a is large, nothing may cancel in digamma(a + d / 2) - digamma(a), nor in
        # log Gamma(a + d / 2) - log Gamma(a) - d / 2 log(a).
        odd, r = d % 2, 1 / a
        if a < 40:
            slope, growth = special.digamma(a + 0.5) - special.digamma(a), np.log(special.poch(a, 0.5) / np.sqrt(a))
        else:
            slope = r / 2 + r**2 / 8 - r**4 / 64 + r**6 / 128 - 17 * r**8 / 2048
            growth = -r / 8 + r**3 / 192 - r**5 / 640 + 17 * r**7 / 14336
        steps = 0.5 * odd + np.arange(d // 2)
        slope, growth = odd * slope + np.sum(1 / (a + steps)), odd * growth + np.sum(np.log1p(steps * r))
        return np.float64(0.5 * (d * np.log(2 * np.pi) + space.log_det) - growth + (a + 0.5 * d) * slope)
