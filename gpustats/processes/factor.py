"""Cholesky factor of the covariance matrix of some points on a device, and predictions and derivatives from this factor."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..evaluation.placement import empty, moved
from ..evaluation.results import written
from ..kernels.template import Template
from ..linalg import blocked
from ..linalg.matrix import Matrix
from ..linalg.provider import Provider
from ..linalg.providers import provider_of
from ..runtime.base import Kernel, Runtime
from ..runtime.cached import cached_property
from ..runtime.types import Array, Handle
from .expression import Expression
from .hyperparameters import Hyperparameters
from .observations import Observations
from .pairs import Pairs
from .parameters import MEAN, SIGMA, Parameters, X, Y
from .slopes import InverseSlopes, Slopes

LOG_2PI = math.log(2 * math.pi)
NO_SCALE = "y equals the mean everywhere: there is no scale to integrate out (student_t)"
#: Room for the factor, its inverse and smaller arrays, in matrices: with less memory, the inverse takes the factor's place.
MATRICES_IN_MEMORY = 2.5
#: Least number of rows for which an extended factor has room.
SPARE_ROWS = 64
_FACTOR = Template.beside(__file__, "factor")


class Summary(NamedTuple):
    """Log-determinant and sum of squares of a factor and a residual."""

    minor: int  # the order of the first leading minor that is not positive definite, or 0
    log_determinant: float  # logarithm of the determinant of K + noise
    squares: float  # r' (K + noise)⁻¹ r
    # factor of alpha alpha' in the derivative in the matrix: n / squares where a scale is integrated out, else 1
    weight: float


def summarise(pairs: Pairs, out: Handle, info: Array, l: Matrix, z: Matrix, student_t: bool, start: int = 0) -> None:  # noqa: E741
    """Start the kernel that writes the `Summary` of each factor of a batch.

    Parameters
    ----------
    out : handle
        Where the summaries go, one after another: numbers of float64, from `start` on.
    info : int32 array
        Status from `Provider.potrf`.
    l, z : Matrix
        The factors, and l⁻¹ r for their residuals r, (n, 1) or (1, n) each, whose numbers are neighbours.
    """
    kernel = _kernel(pairs, "marginal_summary")
    kernel(
        (l.batch, 1), out, start, *pairs.at(info), l.handle, l.offset, l.batch_stride, l.stride, z.handle, z.offset,
        z.batch_stride, l.rows, int(student_t),
    )  # fmt: skip


def _kernel(pairs: Pairs, name: str) -> Kernel:
    threads = min(256, pairs.runtime.device.max_threads)
    return _FACTOR.kernel(pairs.runtime, name, threads, dtype=pairs.dtype.name, threads=threads)


def log_density(n: int, log_determinant: Array, squares: Array, student_t: bool) -> Array:
    """Log-density of n residuals r, from the log-determinant and r' (K + noise)⁻¹ r; inf where there is no scale."""
    constant = log_determinant + n * LOG_2PI
    if not student_t:
        return -0.5 * (squares + constant)
    with np.errstate(divide="ignore"):
        return math.lgamma(n / 2) - 0.5 * (constant + n * np.log(squares / 2))


class Factorised(ABC):
    """Cholesky factor l of a covariance matrix with noise, K + noise = l l', at n points: likelihood and predictions."""

    at_once = 1  # usual chunks of new points in one chunk here
    provider: Provider
    pairs: Pairs
    runtime: Runtime  # of the device on which predictions are made
    n: int
    x: Array  # the points, (n, p), as kernels of that device read them
    values: Hyperparameters
    z: Matrix  # l⁻¹ r for a residual r, (n, 1), on that device
    lift: float  # factor of the diagonal of K
    student_t: bool  # whether a factor tau² of the matrix is integrated out, whose prior density is 1 / tau²
    spent: bool  # whether the inverse has taken the place of l, which is no more

    @property
    @abstractmethod
    def summary(self) -> Summary:
        """Numbers of the factor and the residual, once the kernels are done."""

    @abstractmethod
    def rows(self, xs: Array) -> Matrix:
        """Rows k(xs, x) l'⁻¹ of new points xs, (m, n)."""

    @abstractmethod
    def slopes(self) -> Slopes:
        """Derivatives of the log-density by way of the inverse matrix."""

    @property
    def scale2(self) -> float:
        """Squared scale by which all variances of predictions are multiplied."""
        return self.summary.squares / self.n if self.student_t else 1.0

    @property
    def df(self) -> int | None:
        """Degrees of freedom of predictions, or None where they are normal."""
        return self.n if self.student_t else None

    def loglik(self) -> float:
        """Log-density of the residual, nan where the matrix is not positive definite."""
        minor, log_determinant, squares, _ = self.summary
        if minor:
            return math.nan
        if self.student_t and squares == 0:
            raise ValueError(NO_SCALE)
        return float(log_density(self.n, log_determinant, squares, self.student_t))

    def not_positive_definite(self, parameters: object) -> np.linalg.LinAlgError:
        """Error for parameters at which there is no log-density."""
        minor = self.summary.minor
        where = f"its leading minor of order {minor} is not" if minor else "it is singular or too large"
        return np.linalg.LinAlgError(
            f"the covariance matrix of {self.n} points is not positive definite: {where}, at {parameters}; "
            f"take a larger sigma, or give a jitter such as {np.finfo(self.pairs.dtype).eps * 1e4:.0e}"
        )

    def gradient(self, data: Observations, parameters: Parameters, wrt: Sequence[str]) -> dict[str, Array]:
        """Derivatives of the log-density in hyperparameters, ``"sigma"``, ``"mean"``, ``"x"`` and ``"y"``, like these.

        With R = K + diag(sigma²) and alpha = R⁻¹ (y - mean), the derivative in R is W = (weight alpha alpha' - R⁻¹) / 2, with
        the factor's weight. `data` are its points and responses, at least one, `parameters` those at which R was computed.
        """
        if not wrt:
            return {}  # and no inverse
        slopes = self.slopes()
        own = [n for n in wrt if n in self.pairs.covariance.parameters]
        found: dict[str, Array] = {}
        if own or SIGMA in wrt:
            of_own, trace, diagonal = slopes.in_hyperparameters(own)
            found |= of_own
            if SIGMA in wrt:
                one = isinstance(parameters.sigma, float)
                found[SIGMA] = 2 * parameters.sigma * (trace if one else diagonal.astype(float))
        if MEAN in wrt or Y in wrt:
            slope = self.summary.weight * slopes.alpha()
            found[MEAN] = float(slope.sum(dtype=float)) if isinstance(parameters.mean, float) else slope.astype(float)
            found[Y] = data.like_y(-slope)
        if X in wrt:
            found[X] = data.like_x(slopes.in_points())
        return {n: found[n] for n in wrt}

    def predict(self, xs: Array, mean: Array, scale: Array, noise: Array, scale2: float) -> None:
        """Add what the data tell to the `mean` at new points; `scale` becomes the root of scale2 * (variance + noise).

        Parameters
        ----------
        xs : (m, p) array
        mean, scale, noise : (m,) array
            As kernels read and write them.
        """
        prior, rows = self.pairs.diagonal(xs, self.values), self.rows(xs)
        kernel, at = _kernel(self.pairs, "marginal_prediction"), self.pairs.at
        kernel(
            (xs.shape[0], 1), *at(mean), *at(scale), *at(prior), *at(noise), rows.handle, rows.offset, rows.stride,
            self.z.handle, self.z.offset, self.n, scale2,
        )  # fmt: skip
        self.pairs.finish()  # before `prior` and `rows` go

    def covariance(self, xs: Array, noise: Array, scale2: float) -> Matrix:
        """Covariance of new points given the data, with noise on its diagonal, times scale2: (m, m)."""
        out = self.provider.empty(xs.shape[0], xs.shape[0], self.pairs.dtype)
        self.pairs.matrix(out, xs, xs, self.values, noise)
        if self.n:
            self.provider.syrk(-scale2, self.rows(xs), scale2, out)
            self.provider.lower(out, out, "mirror")
        return out


class Factor(Factorised):
    """Cholesky factor l of a covariance matrix with noise, K + noise = l l', at n points, and z = l⁻¹ r for a residual r.

    Work is enqueued; only `summary` waits for it. In all there is one matrix n x n, and `inverse` makes another, with a quarter
    of one to work in, unless memory is short.

    Parameters
    ----------
    x : (n, p) array
        As kernels read it.
    residual : (n,) ndarray
    noise : float or (n,) ndarray
        Added to the diagonal.
    lift : float
        Factor of the diagonal, before noise is added.
    student_t
        As for `Factorised`.
    """

    def __init__(
        self, provider: Provider, pairs: Pairs, x: Array, residual: np.ndarray, values: Hyperparameters,
        noise: float | np.ndarray, lift: float, student_t: bool,
    ) -> None:  # fmt: skip
        self.provider, self.pairs, self.x, self.values, self.lift = provider, pairs, x, values, lift
        self.student_t, self.spent = student_t, False
        self.runtime, self.n = pairs.runtime, x.shape[0]
        self.l = self._room = provider.empty(self.n, self.n, pairs.dtype)
        self.z = Matrix.over(self.runtime, moved(self.runtime, np.array(residual, pairs.dtype).reshape(-1, 1)))
        self._summary: Array = None
        if not self.n:
            return
        if not isinstance(noise, float):
            noise = moved(self.runtime, noise.astype(pairs.dtype))
        only_lower = provider.reads_above(self.l) != "mirror"
        pairs.matrix(self.l, x, x, values, noise, lift, lower=only_lower)
        info = provider.potrf(self.l)
        provider.trsm(self.l, self.z, left=True)
        self._summarise(info)

    def _summarise(self, info: Array) -> None:
        """Start the kernel for the `summary`; `info`: the order of the first leading minor that is not positive definite."""
        self.__dict__.pop("summary", None)
        self._summary = empty(self.runtime, len(Summary._fields), np.float64)
        handle, start = self.pairs.at(self._summary)
        summarise(self.pairs, handle, info, self.l, self.z, self.student_t, start)
        if isinstance(info, np.ndarray):  # which the kernel reads
            self.runtime.synchronize()

    def extend(self, x: Array, residual: np.ndarray, noise: float | np.ndarray) -> None:
        """Add k points as further rows of l, by O(k n² + k³) operations.

        Parameters
        ----------
        x : (n + k, p) array
            All points, the present and the new ones, as kernels read them.
        residual : (k,) ndarray
        noise : float or (k,) ndarray

        Raises
        ------
        numpy.linalg.LinAlgError
            Where the matrix is not positive definite with them. Then all is as before.
        """
        provider, pairs, n, total = self.provider, self.pairs, self.n, x.shape[0]
        old, new = slice(0, n), slice(n, total)
        if total > self._room.rows:  # more than is needed now, so that most points need no copy
            room = provider.empty(*(total + max(total // 8, SPARE_ROWS),) * 2, pairs.dtype)
            if n:
                provider.copy(self.l, room[old, old])
            self._room = room
        z = provider.empty(total, 1, pairs.dtype)
        further = moved(self.runtime, np.array(residual, pairs.dtype).reshape(-1, 1))
        provider.copy(Matrix.over(self.runtime, further), z[new, :])
        rows, corner = self._room[new, old], self._room[new, new]
        if not isinstance(noise, float):
            noise = moved(self.runtime, noise.astype(pairs.dtype))
        pairs.matrix(corner, x[new], x[new], self.values, noise, self.lift)
        if n:
            provider.copy(self.z, z[old, :])
            pairs.matrix(rows, x[new], self.x, self.values)
            provider.trsm(self.l.T, rows, left=False)
            provider.syrk(-1.0, rows, 1.0, corner)
            provider.gemm(-1.0, rows, self.z, 1.0, z[new, :])
            provider.lower(corner, corner, provider.reads_above(corner))
        info = provider.potrf(corner)
        if minor := int(provider.read(info)[0]):
            raise np.linalg.LinAlgError(
                f"the covariance matrix is not positive definite with point {minor - 1} of the {total - n} new ones: is it "
                f"known already? Take a larger sigma, or give a jitter such as {np.finfo(pairs.dtype).eps * 1e4:.0e}"
            )
        provider.trsm(corner, z[new, :], left=True)
        self.x, self.z, self.n, self.l = x, z, total, self._room[slice(0, total), slice(0, total)]
        self._summarise(info)

    @cached_property
    def summary(self) -> Summary:
        """Numbers of the factor and the residual, as the kernels wrote them."""
        if not self.n:
            return Summary(0, 0.0, 0.0, 1.0)
        minor, *numbers = written(self.runtime, self._summary)
        return Summary(int(minor), *map(float, numbers))

    @property
    def weight(self) -> Array:
        """Weight in the `summary`, (1,), as kernels read it."""
        return self._summary[Summary._fields.index("weight") :]

    def inverse(self, keep: bool = False) -> tuple[Matrix, Matrix]:
        """Vector alpha = (K + noise)⁻¹ r, (n, 1), and the lower triangle of (K + noise)⁻¹ = l⁻ᵀ l⁻¹.

        Where the device's memory is for fewer than `MATRICES_IN_MEMORY`, the inverse takes the place of the factor, unless the
        factor is to be kept.
        """
        provider, dtype = self.provider, self.pairs.dtype
        self.spent = not keep and MATRICES_IN_MEMORY * dtype.itemsize * self.n**2 > self.runtime.device.memory
        inverse = self.l if self.spent else provider.empty(self.n, self.n, dtype)
        alpha = provider.empty(self.n, 1, dtype)
        provider.lower(self.l, inverse)
        provider.trtri(inverse)
        provider.gemm(1.0, inverse.T, self.z, 0.0, alpha)
        blocked.gram(provider, inverse)
        return alpha, inverse

    def slopes(self) -> Slopes:
        alpha, inverse = self.inverse()
        return InverseSlopes(self.provider, self.pairs, self.x, self.values, inverse, alpha, self.weight, self.lift)

    def rows(self, xs: Array) -> Matrix:
        """Rows k(xs, x) l'⁻¹ of new points xs, (m, n)."""
        rows = self.provider.empty(xs.shape[0], self.n, self.pairs.dtype)
        if self.n:
            self.pairs.matrix(rows, xs, self.x, self.values)
            self.provider.trsm(self.l.T, rows, left=False)
        return rows

    def weigh(self, rows: Matrix, times: np.ndarray, more: np.ndarray) -> None:
        """Set rows[i] = times[i] rows[i] + more[i] z', for (m, n) rows such as the method `rows` returns, and (m,) numbers."""
        if not self.n:
            return
        kernel, at = _kernel(self.pairs, "marginal_weights"), self.pairs.at
        times, more = (moved(self.runtime, a.astype(self.pairs.dtype)) for a in (times, more))
        kernel(
            (rows.rows, 1), rows.handle, rows.offset, rows.stride, self.z.handle, self.z.offset, *at(times), *at(more), self.n
        )  # fmt: skip
        self.pairs.finish()

    def products(self, a: Matrix, b: Matrix) -> np.ndarray:
        """Scalar products of the rows of two matrices, (m, n): (m,) of float64."""
        out = empty(self.runtime, a.rows, np.float64)
        kernel = _kernel(self.pairs, "marginal_products")
        kernel((a.rows, 1), *self.pairs.at(out), a.handle, a.offset, a.stride, b.handle, b.offset, b.stride, a.columns)
        return written(self.runtime, out)


class Solver:
    """Factorisation of the covariance matrices of a process, on the device of its observations.

    Parameters
    ----------
    lift, student_t
        As for `Factor`.
    """

    def __init__(self, covariance: Expression, data: Observations, lift: float, student_t: bool) -> None:
        self._covariance, self._data, self._lift, self._student_t = covariance, data, lift, student_t
        self.provider = provider_of(data.runtime)
        self._pairs: dict[tuple[str, ...], Pairs] = {}  # by the names of the lengthscales that are vectors
        self._pairs_for(())  # errors of the columns that the covariance is a function of

    def _pairs_for(self, vectors: tuple[str, ...]) -> Pairs:
        if vectors not in self._pairs:
            data = self._data
            self._pairs[vectors] = Pairs(self._covariance, data.runtime, data.dtype, data.columns, vectors)
        return self._pairs[vectors]

    def factor(self, parameters: Parameters) -> Factor:
        """Factor of the covariance matrix at some parameters."""
        data, values = self._data, parameters.hyperparameters
        pairs, residual = self._pairs_for(tuple(values.vectors)), data.y - np.asarray(parameters.mean)
        return Factor(self.provider, pairs, data.x, residual, values, parameters.noise, self._lift, self._student_t)
