"""SciPy's distributions of proportions and of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ..density import densities
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host
from .multivariate import Multivariate


class Dirichlet(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "dirichlet", "dirichlet", ("alpha",)

    def _processed(self, alpha: Any) -> np.ndarray:
        alpha = np.asarray(alpha, float)
        if alpha.ndim != 1 or not np.all(alpha > 0):
            raise ValueError(f"alpha must be a vector of positive numbers, not {alpha}")
        return alpha

    def attributes(self, **given: Any) -> dict[str, Any]:
        return {"alpha": self._processed(**given)}

    def _quantiles(self, x: Any, alpha: np.ndarray) -> np.ndarray:
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

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """Logarithm of the density at x, proportions along the first axis."""
        alpha = self._processed(alpha)
        return self.density.logpdf(self._quantiles(x, alpha), alpha)

    def pdf(self, x: Any, alpha: Any) -> Any:
        """Density at x, proportions along the first axis."""
        alpha = self._processed(alpha)
        return self.density.pdf(self._quantiles(x, alpha), alpha)

    def mean(self, alpha: Any) -> Any:
        """Mean of the proportions."""
        alpha = self._processed(alpha)
        return np.squeeze(alpha / alpha.sum())[()]

    def var(self, alpha: Any) -> Any:
        """Variances of the proportions."""
        mean, total = self.mean(alpha), np.sum(alpha)
        return np.squeeze(mean * (1 - mean) / (total + 1))[()]

    def cov(self, alpha: Any) -> Any:
        """Covariance matrix of the proportions."""
        mean, total = self.mean(alpha), np.sum(alpha)
        return (np.diag(mean) - np.outer(mean, mean)) / (total + 1)

    def entropy(self, alpha: Any) -> Any:
        """Entropy in nats."""
        alpha = self._processed(alpha)
        total = alpha.sum()
        log_beta = special.gammaln(alpha).sum() - special.gammaln(total)
        return log_beta + (total - len(alpha)) * special.digamma(total) - np.sum((alpha - 1) * special.digamma(alpha))

    def rvs(self, alpha: Any, size: Any = 1, random_state: Any = None) -> Any:
        """Draws, proportions along the last axis."""
        return self._draws((self._processed(alpha),), () if size is None else size, random_state)


class Multinomial(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "multinomial", "multinomial", ("n", "p")

    def _processed(self, n: Any, p: Any) -> tuple[Any, np.ndarray]:
        """Trials and probabilities; the last probability is what the others leave."""
        given = np.asarray(p)
        rounding = 50 * float(np.finfo(given.dtype if given.dtype.kind == "f" else float).eps)
        p = np.array(given, float)
        rest = 1 - p[..., :-1].sum(-1)
        p[..., -1] = np.where(abs(p.sum(-1) - 1) > rounding, rest, p[..., -1])
        return np.asarray(n, float), p

    def attributes(self, **given: Any) -> dict[str, Any]:
        return dict(zip(("n", "p"), self._processed(**given), strict=True))

    def logpmf(self, x: Any, n: Any, p: Any) -> Any:
        """Logarithm of the probability of counts along the last axis of x."""
        return self.density.logpmf(_counts(x), *self._processed(n, p))

    def pmf(self, x: Any, n: Any, p: Any) -> Any:
        """Probability of counts along the last axis of x."""
        return self.density.pmf(_counts(x), *self._processed(n, p))

    def mean(self, n: Any, p: Any) -> Any:
        """Mean of the counts; nan where parameters are no probabilities or no number of trials."""
        n, p = self._processed(n, p)
        return self._valid(n, p)[..., None] * p

    def cov(self, n: Any, p: Any) -> Any:
        """Covariance matrices of the counts."""
        n, p = self._processed(n, p)
        return self._valid(n, p)[..., None, None] * (p[..., None] * np.eye(p.shape[-1]) - p[..., None] * p[..., None, :])

    def entropy(self, n: Any, p: Any) -> Any:
        """Entropy in nats, by the sums over the counts of each outcome."""
        n, p = self._processed(n, p)
        n = self._valid(n, p)
        shape = np.broadcast_shapes(n.shape, p.shape[:-1])
        n, p = np.broadcast_to(n, shape), np.broadcast_to(p, (*shape, p.shape[-1]))
        x = np.arange(1.0, np.nan_to_num(n).max(initial=0) + 1)
        mass = np.asarray(densities["binomial"].pmf(x, n[..., None, None], p[..., None]))
        of_counts = np.sum(mass * special.gammaln(x + 1), axis=(-2, -1))
        return (n * special.entr(p).sum(-1) - special.gammaln(n + 1) + of_counts)[()]

    @staticmethod
    def _valid(n: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Number of trials n, nan where n or p lies outside of its domain."""
        fine = (n >= 0) & (n == np.floor(n)) & np.all((p >= 0) & (p <= 1), -1)
        return np.where(fine, n, np.nan)

    def rvs(self, n: Any, p: Any, size: Any = None, random_state: Any = None) -> Any:
        """Draws, counts along the last axis."""
        return _whole(self._draws(self._processed(n, p), size, random_state))


class DirichletMultinomial(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "dirichlet_multinomial", "dirichlet_multinomial", ("alpha", "n")

    def _processed(self, alpha: Any, n: Any) -> tuple[np.ndarray, np.ndarray]:
        alpha, n = np.asarray(alpha, float), np.asarray(n, float)
        if not alpha.ndim or not np.all(alpha > 0):
            raise ValueError(f"alpha must be positive numbers along its last axis, not {alpha}")
        if not np.all((n >= 0) & (n == np.floor(n))):
            raise ValueError(f"n must be whole numbers that are not negative, not {n}")
        return n, alpha

    def attributes(self, **given: Any) -> dict[str, Any]:
        return dict(zip(("n", "alpha"), self._processed(**given), strict=True))

    def logpmf(self, x: Any, alpha: Any, n: Any) -> Any:
        """Logarithm of the probability of counts along the last axis of x."""
        return self.density.logpmf(self._quantiles(x), *self._processed(alpha, n))

    def pmf(self, x: Any, alpha: Any, n: Any) -> Any:
        """Probability of counts along the last axis of x."""
        return self.density.pmf(self._quantiles(x), *self._processed(alpha, n))

    @staticmethod
    def _quantiles(x: Any) -> Any:
        x = _counts(x)
        if not is_device_array(x) and not np.all((x >= 0) & (x == np.floor(x))):
            raise ValueError("x must be whole numbers that are not negative")
        return x

    def mean(self, alpha: Any, n: Any) -> Any:
        """Mean of the counts."""
        n, alpha = self._processed(alpha, n)
        return n[..., None] * alpha / alpha.sum(-1, keepdims=True)

    def cov(self, alpha: Any, n: Any) -> Any:
        """Covariance matrices of the counts."""
        n, alpha = self._processed(alpha, n)
        total = alpha.sum(-1)
        p, factor = alpha / total[..., None], n * (n + total) / (1 + total)
        return factor[..., None, None] * (p[..., None] * np.eye(p.shape[-1]) - p[..., None] * p[..., None, :])

    def var(self, alpha: Any, n: Any) -> Any:
        """Variances of the counts, the diagonals of the covariance matrices."""
        return np.diagonal(self.cov(alpha, n), axis1=-2, axis2=-1).copy()


class MultivariateHypergeometric(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "multivariate_hypergeom", "multivariate_hypergeometric", ("m", "n")

    def _processed(self, m: Any, n: Any) -> tuple[np.ndarray, np.ndarray]:
        m, n = np.asarray(m, float), np.asarray(n, float)
        if not m.ndim:
            raise ValueError(f"m must be numbers of objects along its last axis, not {m}")
        return n, m

    def attributes(self, **given: Any) -> dict[str, Any]:
        return dict(zip(("n", "m"), self._processed(**given), strict=True))

    def logpmf(self, x: Any, m: Any, n: Any) -> Any:
        """Logarithm of the probability of counts along the last axis of x."""
        return self.density.logpmf(_counts(x), *self._processed(m, n))

    def pmf(self, x: Any, m: Any, n: Any) -> Any:
        """Probability of counts along the last axis of x."""
        return self.density.pmf(_counts(x), *self._processed(m, n))

    def _shares(self, m: Any, n: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sample size n, the shares of each kind and the number of objects, nan where n or m lies outside of its domain."""
        n, m = self._processed(m, n)
        total = m.sum(-1)
        fine = (n >= 0) & (n <= total) & (n == np.floor(n)) & ((m >= 0) & (m == np.floor(m))).all(-1)
        total = np.where(fine, total, np.nan)
        return np.where(fine, n, np.nan)[..., None], m / np.maximum(total, 1)[..., None], total[..., None]

    def mean(self, m: Any, n: Any) -> Any:
        """Mean of the counts."""
        n, p, _ = self._shares(m, n)
        return n * p

    def cov(self, m: Any, n: Any) -> Any:
        """Covariance matrices of the counts."""
        n, p, total = self._shares(m, n)
        with np.errstate(invalid="ignore"):  # of one object there is nothing to vary
            factor = np.where(total == 1, 0, n * (total - n) / (total - 1))
        return factor[..., None] * (p[..., None] * np.eye(p.shape[-1]) - p[..., None] * p[..., None, :])

    def var(self, m: Any, n: Any) -> Any:
        """Variances of the counts, the diagonals of the covariance matrices."""
        return np.diagonal(self.cov(m, n), axis1=-2, axis2=-1).copy()

    def rvs(self, m: Any, n: Any, size: Any = None, random_state: Any = None) -> Any:
        """Draws, counts along the last axis."""
        return _whole(self._draws(self._processed(m, n), size, random_state))


def _counts(x: Any) -> Any:
    return x if is_device_array(x) else np.asarray(x, float)


def _whole(draws: Any) -> Any:
    return draws if is_device_array(draws) else draws.astype(np.int64)
