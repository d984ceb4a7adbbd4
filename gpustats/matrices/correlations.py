"""The distribution of Lewandowski, Kurowicka & Joe (LKJ) of correlation matrices, and of factors of covariance matrices."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..draws.generator import Rng
from ..runtime.types import Size, Values
from .distribution import SQUARE, UNIT_TOLERANCE, Argument, MatrixDistribution, Normals, Terms, dimension
from .factors import Array, Factor, as_matrix, gram


class _LKJ(MatrixDistribution):
    """Distribution whose draws are of a size that no parameter tells."""

    def rvs(  # type: ignore[override]
        self, *parameters: Values, n: int, size: Size = None, rng: Rng = None, **named: Values
    ) -> Array:
        """Random draws.

        Parameters
        ----------
        *parameters : array_like
            As for `logpdf`.
        n : int
            Number of correlated variables.
        size, rng
            As for `MatrixDistribution.rvs`.

        Returns
        -------
        ndarray, (*size, n, n)
        """
        return self._sampled(parameters, named, size, rng, n=dimension(n))


class LKJCorr(_LKJ):
    """Correlation matrices whose density is a power of their determinant; uniform where eta is 1.

    logpdf(x, eta): x is a correlation matrix, (..., n, n), whose diagonal is 1 within 0.00001 (float32: 0.00035); eta > 0.
    It is the density of the numbers below the diagonal. `rvs` takes ``n``, too.

    Notes
    -----
    Source: Lewandowski, Kurowicka & Joe (2009), Generating random correlation matrices based on vines and extended onion
    method, whose onion `rvs` peels.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> round(gs.lkj_corr.pdf(np.array([[1.0, 0.3], [0.3, 1.0]]), 1.0), 4)  # a correlation uniform between -1 and 1
    0.5
    >>> gs.lkj_corr.rvs(2.0, n=4, size=10, rng=1).shape
    (10, 4, 4)
    """

    name = "lkj_corr"
    arguments = (Argument("x", SQUARE), Argument("eta"))
    requirements = "eta must be positive, and n a whole number, at least 1"

    def _valid(self, eta: Array) -> Array:
        return (eta > 0) & np.isfinite(eta)

    def _terms(self, wrt: tuple[str, ...], x: Array, eta: Array) -> Terms:
        n, fx, eta = x.shape[-1], Factor(x), eta.astype(float)
        ones = np.abs(np.diagonal(x, axis1=-2, axis2=-1) - 1).max(-1, initial=0) <= UNIT_TOLERANCE[x.dtype]
        gradient = {}
        if "x" in wrt:
            gradient["x"] = as_matrix(eta - 1) * fx.inverse * (1 - np.eye(n))
        if "eta" in wrt:
            gradient["eta"] = fx.logdet + _log_constant_slope(eta, n)
        return Terms((eta - 1) * fx.logdet + _log_constant(eta, n), self._valid(eta), fx.sound & ones, gradient)

    def _draw(self, normals: Normals, shape: tuple[int, ...], eta: Array, n: int) -> Array:
        x = gram(_onion(normals, shape, eta, n))
        x[..., np.arange(n), np.arange(n)] = 1
        return x

    def mean(self, eta: Values, *, n: int) -> Array:
        """Mean, the unit matrix, (..., n, n)."""
        return np.broadcast_to(np.eye(n), (*np.shape(eta), n, n)).copy()


class LKJCholeskyCov(_LKJ):
    """Cholesky factors of covariance matrices: correlations as `lkj_corr`, standard deviations exponential of rate lam.

    logpdf(x, eta, lam): x is lower triangular with a positive diagonal, (..., n, n); eta and lam > 0. It is the density of the
    numbers on and below the diagonal; those above are not read. The standard deviations, independent of one another and of
    the correlations, are the lengths of the rows of x. `rvs` takes ``n``, too.

    Notes
    -----
    Source: Lewandowski, Kurowicka & Joe (2009). With the row i of x in spherical coordinates, the density of its direction
    is that of a row of the factor of the correlations.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.lkj_cholesky_cov.rvs(2.0, 1.0, n=3, size=10, rng=1).shape
    (10, 3, 3)
    """

    name = "lkj_cholesky_cov"
    arguments = (Argument("x", SQUARE), Argument("eta"), Argument("lam"))
    requirements = "eta and lam must be positive, and n a whole number, at least 1"

    def _valid(self, eta: Array, lam: Array) -> Array:
        return (eta > 0) & np.isfinite(eta) & (lam > 0) & np.isfinite(lam)

    def _terms(self, wrt: tuple[str, ...], x: Array, eta: Array, lam: Array) -> Terms:
        n, x, eta, lam = x.shape[-1], np.tril(x).astype(float), eta.astype(float), lam.astype(float)
        diagonal = np.diagonal(x, axis1=-2, axis2=-1)
        inside = (diagonal > 0).all(-1) & np.isfinite(x).all((-2, -1))
        x = np.where(as_matrix(inside), x, np.eye(n))
        diagonal, length = np.diagonal(x, axis1=-2, axis2=-1), np.sqrt((x * x).sum(-1))
        # The logarithm of the density of the factor of the correlations is this weighted sum of those on its diagonal,
        # and that of the volume, from lengths and numbers left of the diagonal to those of x, is theirs - i log(length).
        place = np.arange(n)
        weight = (n - place + 2 * eta[..., None] - 3) * (place > 0)
        log_ratio = np.log(diagonal / length)
        value = (
            ((weight + (place > 0)) * log_ratio - place * np.log(length)).sum(-1) + _log_constant(eta, n)
            + n * np.log(lam) - lam * length.sum(-1)
        )  # fmt: skip
        gradient = {}
        if "x" in wrt:
            along = -(weight + 1 * (place > 0) + place) / length - lam[..., None]
            gradient["x"] = (along / length)[..., None] * x
            on_diagonal = (weight + (place > 0)) / diagonal
            gradient["x"][..., place, place] += on_diagonal
        if "eta" in wrt:
            gradient["eta"] = 2 * (log_ratio * (place > 0)).sum(-1) + _log_constant_slope(eta, n)
        if "lam" in wrt:
            gradient["lam"] = n / lam - length.sum(-1)
        return Terms(value, self._valid(eta, lam), inside, gradient)

    def _draw(self, normals: Normals, shape: tuple[int, ...], eta: Array, lam: Array, n: int) -> Array:
        lengths = normals.of("exponential", (*shape, n), np.broadcast_to(lam, shape)[..., None])
        return lengths[..., None] * _onion(normals, shape, eta, n)


def _log_constant(eta: Array, n: int) -> Array:
    """The logarithm of the density of correlation matrices where their determinant is 1."""
    k = np.arange(1, n)
    parts = special.gammaln(eta[..., None] + 0.5 * (n - 1 - k)) - special.gammaln(eta[..., None] + 0.5 * (n - 1))
    return -(parts.sum(-1) + 0.25 * n * (n - 1) * np.log(np.pi))


def _log_constant_slope(eta: Array, n: int) -> Array:
    k = np.arange(1, n)
    parts = special.digamma(eta[..., None] + 0.5 * (n - 1 - k)) - special.digamma(eta[..., None] + 0.5 * (n - 1))
    return -parts.sum(-1)


def _onion(normals: Normals, shape: tuple[int, ...], eta: Array, n: int) -> Array:
    """Factors of correlation matrices, (*shape, n, n). Row i is a point of a sphere: its first i numbers have a random
    direction, and a squared length with a beta distribution."""
    factor = np.zeros((*shape, n, n))
    factor[..., 0, 0] = 1
    if n == 1:
        return factor
    place = np.arange(1, n)
    eta = np.broadcast_to(eta, shape)[..., None]
    square = normals.of("beta", (*shape, n - 1), 0.5 * place, eta + 0.5 * (n - 1 - place))
    direction = np.tril(normals.normal(*shape, n - 1, n - 1))
    direction /= np.sqrt((direction * direction).sum(-1, keepdims=True))
    factor[..., 1:, :-1] = np.sqrt(square)[..., None] * direction
    factor[..., place, place] = np.sqrt(1 - square)
    return factor


lkj_corr, lkj_cholesky_cov = LKJCorr(), LKJCholeskyCov()
