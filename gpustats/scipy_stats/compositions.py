"""SciPy's distributions of proportions and of counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ..density import densities
from ..draws.generator import Rng
from ..runtime.transfers import to_host
from ..runtime.types import Array, Doubles, Size, Values
from .multivariate import WithDensity, WithMass, checked_counts


class Dirichlet(WithDensity):
    name, of, parameters = "dirichlet", "dirichlet", ("alpha",)

    def _processed(self, alpha: ArrayLike) -> tuple[Doubles]:
        alpha = np.asarray(alpha, float)
        if alpha.ndim != 1 or not np.all(alpha > 0):
            raise ValueError(f"alpha must be a vector of positive numbers, not {alpha}")
        return (alpha,)

    def _observations(self, x: Values, alpha: Doubles) -> Doubles:
        """Proportions along the last axis.

        SciPy has the proportions of a category in a row; the last row may be left out.
        """
        x = np.asarray(to_host(x), float)
        if x.ndim not in (1, 2) or len(x) not in (len(alpha) - 1, len(alpha)):
            raise ValueError(f"x has shape {x.shape}: it must be (K,) or (K, N), K = {len(alpha)}, or one fewer than K")
        if len(x) < len(alpha):
            x = np.concatenate([x, [1 - x.sum(0)]])
        if not np.all((x >= 0) & (x <= 1)) or np.any(abs(x.sum(0) - 1) > 1e-9):
            raise ValueError("x must be proportions: not negative, with a sum of 1 along the first axis")
        if np.any((x.T == 0) & (alpha < 1)):
            raise ValueError("x must not be 0 where alpha is less than 1: the density is infinite")
        return np.ascontiguousarray(x.T)

    def pdf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Density at x, proportions along the first axis."""
        return self._at("pdf", x, args, kwds)

    def mean(self, alpha: ArrayLike) -> Array:
        """Mean of the proportions."""
        (alpha,) = self._processed(alpha)
        return np.squeeze(alpha / alpha.sum())[()]

    def var(self, alpha: ArrayLike) -> Array:
        """Variances of the proportions."""
        mean, total = self.mean(alpha), np.sum(alpha)
        return np.squeeze(mean * (1 - mean) / (total + 1))[()]

    def cov(self, alpha: ArrayLike) -> Array:
        """Covariance matrix of the proportions."""
        mean, total = self.mean(alpha), np.sum(alpha)
        return (np.diag(mean) - np.outer(mean, mean)) / (total + 1)

    def entropy(self, alpha: ArrayLike) -> Array:
        """Entropy in nats."""
        (alpha,) = self._processed(alpha)
        total = alpha.sum()
        log_beta = special.gammaln(alpha).sum() - special.gammaln(total)
        return log_beta + (total - len(alpha)) * special.digamma(total) - np.sum((alpha - 1) * special.digamma(alpha))

    def rvs(self, alpha: ArrayLike, size: Size = 1, random_state: Rng = None) -> Array:
        """Draws, proportions along the last axis."""
        return self._draws(self._processed(alpha), () if size is None else size, random_state)


class Multinomial(WithMass):
    name, of, parameters = "multinomial", "multinomial", ("n", "p")

    def _processed(self, n: ArrayLike, p: ArrayLike) -> tuple[Doubles, Doubles]:
        """Trials and probabilities; the last probability is what the others leave."""
        given = np.asarray(p)
        rounding = 50 * float(np.finfo(given.dtype if given.dtype.kind == "f" else float).eps)
        p = np.array(given, float)
        rest = 1 - p[..., :-1].sum(-1)
        p[..., -1] = np.where(abs(p.sum(-1) - 1) > rounding, rest, p[..., -1])
        return np.asarray(n, float), p

    def mean(self, n: ArrayLike, p: ArrayLike) -> Array:
        """Mean of the counts; nan where parameters are no probabilities or no number of trials."""
        n, p = self._valid(n, p)
        return n[..., None] * p

    def cov(self, n: ArrayLike, p: ArrayLike) -> Array:
        """Covariance matrices of the counts."""
        n, p = self._valid(n, p)
        return _covariance(n, p)

    def entropy(self, n: ArrayLike, p: ArrayLike) -> Array:
        """Entropy in nats, by the sums over the counts of each outcome."""
        n, p = self._valid(n, p)
        shape = np.broadcast_shapes(n.shape, p.shape[:-1])
        n, p = np.broadcast_to(n, shape), np.broadcast_to(p, (*shape, p.shape[-1]))
        x = np.arange(1.0, np.nan_to_num(n).max(initial=0) + 1)
        mass = np.asarray(densities["binomial"].pmf(x, n[..., None, None], p[..., None]))
        of_counts = np.sum(mass * special.gammaln(x + 1), axis=(-2, -1))
        return (n * special.entr(p).sum(-1) - special.gammaln(n + 1) + of_counts)[()]

    def _valid(self, n: ArrayLike, p: ArrayLike) -> tuple[Doubles, Doubles]:
        """Number of trials n, nan where n or p lies outside of its domain, and the probabilities."""
        n, p = self._processed(n, p)
        fine = (n >= 0) & (n == np.floor(n)) & np.all((p >= 0) & (p <= 1), -1)
        return np.where(fine, n, np.nan), p

    def rvs(self, n: ArrayLike, p: ArrayLike, size: Size = None, random_state: Rng = None) -> Array:
        """Draws, counts along the last axis."""
        return self._counts(self._processed(n, p), size, random_state)


class DirichletMultinomial(WithMass):
    name, of, parameters = "dirichlet_multinomial", "dirichlet_multinomial", ("alpha", "n")
    _order = ("n", "alpha")

    def _processed(self, alpha: ArrayLike, n: ArrayLike) -> tuple[Doubles, Doubles]:
        alpha, n = np.asarray(alpha, float), np.asarray(n, float)
        if not alpha.ndim or not np.all(alpha > 0):
            raise ValueError(f"alpha must be positive numbers along its last axis, not {alpha}")
        if not np.all((n >= 0) & (n == np.floor(n))):
            raise ValueError(f"n must be whole numbers that are not negative, not {n}")
        return n, alpha

    def _observations(self, x: Values, *given: Array) -> Array:
        return checked_counts(super()._observations(x))

    def mean(self, alpha: ArrayLike, n: ArrayLike) -> Array:
        """Mean of the counts."""
        n, alpha = self._processed(alpha, n)
        return n[..., None] * alpha / alpha.sum(-1, keepdims=True)

    def cov(self, alpha: ArrayLike, n: ArrayLike) -> Array:
        """Covariance matrices of the counts."""
        n, alpha = self._processed(alpha, n)
        total = alpha.sum(-1)
        return _covariance(n * (n + total) / (1 + total), alpha / total[..., None])

    def var(self, alpha: ArrayLike, n: ArrayLike) -> Array:
        """Variances of the counts, the diagonals of the covariance matrices."""
        return np.diagonal(self.cov(alpha, n), axis1=-2, axis2=-1).copy()


class MultivariateHypergeometric(WithMass):
    name, of, parameters = "multivariate_hypergeom", "multivariate_hypergeometric", ("m", "n")
    _order = ("n", "m")

    def _processed(self, m: ArrayLike, n: ArrayLike) -> tuple[Doubles, Doubles]:
        m, n = np.asarray(m, float), np.asarray(n, float)
        if not m.ndim:
            raise ValueError(f"m must be numbers of objects along its last axis, not {m}")
        return n, m

    def _shares(self, m: ArrayLike, n: ArrayLike) -> tuple[Doubles, Doubles, Doubles]:
        """Sample size n, the shares of each kind and the number of objects, nan where n or m lies outside of its domain."""
        n, m = self._processed(m, n)
        total = m.sum(-1)
        fine = (n >= 0) & (n <= total) & (n == np.floor(n)) & ((m >= 0) & (m == np.floor(m))).all(-1)
        total = np.where(fine, total, np.nan)
        return np.where(fine, n, np.nan), m / np.maximum(total, 1)[..., None], total

    def mean(self, m: ArrayLike, n: ArrayLike) -> Array:
        """Mean of the counts."""
        n, p, _ = self._shares(m, n)
        return n[..., None] * p

    def cov(self, m: ArrayLike, n: ArrayLike) -> Array:
        """Covariance matrices of the counts."""
        n, p, total = self._shares(m, n)
        with np.errstate(invalid="ignore"):  # of one object there is nothing to vary
            return _covariance(np.where(total == 1, 0, n * (total - n) / (total - 1)), p)

    def var(self, m: ArrayLike, n: ArrayLike) -> Array:
        """Variances of the counts, the diagonals of the covariance matrices."""
        return np.diagonal(self.cov(m, n), axis1=-2, axis2=-1).copy()

    def rvs(self, m: ArrayLike, n: ArrayLike, size: Size = None, random_state: Rng = None) -> Array:
        """Draws, counts along the last axis."""
        return self._counts(self._processed(m, n), size, random_state)


def _covariance(factor: Doubles, p: Doubles) -> Array:
    """Covariance matrices of counts: multiples of those of one draw with probabilities p."""
    return factor[..., None, None] * (p[..., None] * np.eye(p.shape[-1]) - p[..., None] * p[..., None, :])
