"""Likelihood of a Gaussian mixed model, the random effects being integrated out, and by REML the fixed ones, too.

Its parameters are the coefficients φ of fixed effects, the residual standard deviation σ, and θ: the lower triangles of the
factors of the random effects' covariances, relative to σ and on the scale of columns whose mean square is 1.
"""

from __future__ import annotations

import copy
import math
from typing import NamedTuple

import numpy as np

from ..fits.refused import LEAST_EIGENVALUE
from ..runtime.types import Doubles
from .elimination import Elimination
from .sums import Sums
from .terms import Factors

LOG_2PI = math.log(2 * math.pi)
STEP = 1e-4  # of the differences of first derivatives in θ


class Profiled(NamedTuple):
    """Log-likelihood at the best σ and φ for θ, its derivatives in θ, and these."""

    value: float
    gradient: Doubles
    sigma: float
    fixed: Doubles


class Point(NamedTuple):
    """Log-likelihood and its derivatives in (φ, σ, θ), the second ones where they are wanted."""

    value: float
    gradient: Doubles
    hessian: Doubles | None


class Marginal:
    """Likelihood of the observations, from sums over the rows.

    Parameters
    ----------
    sums : Sums
    factors : Factors
    """

    def __init__(self, sums: Sums, factors: Factors):
        self.factors, self.n = factors, sums.weight
        #: sums over the rows of the products of the columns of each random grouping
        self.products = [sums.products(grouping) for grouping in range(len(factors.widths))]
        #: root mean squares of the columns of each random grouping, by which they are divided; and of each element of θ
        diagonals = [np.diagonal(products) for products in self.products]
        self.column_scales = scales = [np.where(d > 0, np.sqrt(d / max(sums.weight, 1e-300)), 1.0) for d in diagonals]
        self.scales = np.array([scales[g][i] for g, i in zip(factors.groupings, factors.rows, strict=True)])
        self._sums = sums.scaled(scales)
        self.size = len(sums.ends) - 1  # number of fixed effects
        self._given(False, np.full(self.size, np.nan))

    @property
    def deviation(self) -> float:
        """Root mean square of the observations."""
        return math.sqrt(self._sums.ends[-1, -1] / self.n)

    def turn(self, free: np.ndarray) -> Doubles:
        """Elements of θ by coordinates of a search, (p, p): of factors on columns that are orthogonal.

        Terms with elements that are not `free` keep theirs. Coordinates on the diagonal have the signs of the elements.
        """
        found = np.eye(len(free))
        for term in self.factors.terms:
            at, m = self.factors.slices[term.parameter], term.size
            unit = 1 / self.column_scales[term.grouping][term.places]
            products = self.products[term.grouping][term.places, term.places] * np.outer(unit, unit) / self.n
            if m == 1 or not free[at].all() or len(collinear(products)):
                continue
            # lower triangular T with T' T = products: Z L = (Z T⁻¹) (T L)
            inverse = np.linalg.inv(np.linalg.cholesky(products[::-1, ::-1]).T[::-1, ::-1])
            rows, columns = np.tril_indices(m)
            found[at, at] = inverse[np.ix_(rows, rows)] * (columns[:, None] == columns)
        return found

    def given(self, reml: bool, known: Doubles) -> Marginal:
        """The same likelihood for `known` fixed effects, (f,), nan for free ones, which are integrated out by REML."""
        made = copy.copy(self)
        made._given(reml, known)
        return made

    def _given(self, reml: bool, known: Doubles) -> None:
        self.reml, self._known, free = reml, known, np.isnan(known)
        self.free = np.flatnonzero(free)
        self.df = self.n - (len(self.free) if reml else 0)
        #: from the free fixed effects and the observations to all, the known effects being subtracted from these
        self._reduce = np.zeros((self.size + 1, len(self.free) + 1))
        self._reduce[self.free, range(len(self.free))] = 1.0
        self._reduce[:-1, -1], self._reduce[-1, -1] = np.where(free, 0.0, -known), 1.0

    def eliminated(self, theta: Doubles) -> Elimination:
        """Sums without the random effects."""
        return self._sums.eliminated(self.factors.matrices(theta))

    def profiled(self, theta: Doubles, sigma: float | None = None) -> Profiled:
        """Log-likelihood at the best φ, and the best σ unless it is given."""
        found = self.eliminated(theta)
        normal = self._reduce.T @ found.normal @ self._reduce
        inverse, own, left = _solved(normal)
        best = math.sqrt(left / self.df) if sigma is None else sigma
        value = found.logdet + self.df * (LOG_2PI + 2 * math.log(best)) + left / best**2
        away = np.append(-own, 1.0)
        of_normal = np.outer(away, away) / best**2
        if self.reml:
            value -= _logdet(inverse)
            of_normal[:-1, :-1] += inverse
        bars = found.gradient(self._reduce @ of_normal @ self._reduce.T)
        fixed = self._known.copy()
        fixed[self.free] = own
        return Profiled(-value / 2, -self.factors.gathered(bars) / 2, best, fixed)

    def best_fixed(self, found: Elimination) -> tuple[Doubles, Doubles]:
        """Inverse (f, f) of the products of free fixed effects' columns in the metric of V⁻¹, and all fixed effects."""
        inverse, own, _ = _solved(self._reduce.T @ found.normal @ self._reduce)
        fixed = self._known.copy()
        fixed[self.free] = own
        return inverse, fixed

    def covariance(self, found: Elimination) -> Doubles:
        """Covariance of all fixed effects given the factors, in units of σ², (f, f); 0 for those that are known."""
        inverse, spread = self.best_fixed(found)[0], np.zeros((self.size, self.size))
        spread[np.ix_(self.free, self.free)] = inverse
        return spread

    def at(self, fixed: Doubles, sigma: float, theta: Doubles, second: bool) -> Point:
        """Log-likelihood and derivatives; by REML, `fixed` is not looked at, and derivatives in it are 0."""
        value, gradient, hessian = self._first(fixed, sigma, theta)
        if not second:
            return Point(value, gradient, None)
        behind = self.size + 1
        for k in range(len(theta)):
            unit = np.zeros(len(theta))
            unit[k] = STEP * max(abs(theta[k]), 1.0)
            up, down = (self._first(fixed, sigma, theta + s * unit)[1] for s in (1, -1))
            hessian[behind + k] = (up - down) / (2 * unit[k])
        own = hessian[behind:, behind:]
        hessian[behind:, behind:] = (own + own.T) / 2
        hessian[:behind, behind:] = hessian[behind:, :behind].T
        return Point(value, gradient, hessian)

    def _first(self, fixed: Doubles, sigma: float, theta: Doubles) -> tuple[float, Doubles, Doubles]:
        """Log-likelihood, its first derivatives, and second ones, but for those in θ."""
        found, f = self.eliminated(theta), self.size
        gradient, hessian = np.zeros(f + 1 + len(theta)), np.zeros((f + 1 + len(theta), f + 1 + len(theta)))
        value = found.logdet
        if self.reml:
            normal = self._reduce.T @ found.normal @ self._reduce
            inverse, own, left = _solved(normal)
            value -= _logdet(inverse)
            away = np.append(-own, 1.0)
            of_normal = np.outer(away, away) / sigma**2
            of_normal[:-1, :-1] += inverse
            of_normal = self._reduce @ of_normal @ self._reduce.T
        else:
            away = np.append(-fixed, 1.0)
            along = found.normal @ away
            left = float(away @ along)
            of_normal = np.outer(away, away) / sigma**2
            gradient[:f] = along[:-1] / sigma**2
            hessian[:f, :f] = -found.normal[:-1, :-1] / sigma**2
            hessian[:f, f] = hessian[f, :f] = -2 * along[:-1] / sigma**3
        value += self.df * (LOG_2PI + 2 * math.log(sigma)) + left / sigma**2
        gradient[f] = -self.df / sigma + left / sigma**3
        hessian[f, f] = self.df / sigma**2 - 3 * left / sigma**4
        gradient[f + 1 :] = -self.factors.gathered(found.gradient(of_normal)) / 2
        return -value / 2, gradient, hessian

    def collinear(self) -> np.ndarray:
        """Numbers of the free fixed effects whose columns depend on one another; none where they do not."""
        products = self._sums.ends[np.ix_(self.free, self.free)]
        return self.free[collinear(products)]


def collinear(products: Doubles, least: float = LEAST_EIGENVALUE) -> np.ndarray:
    """Numbers of the columns that depend on one another, by the products of all; none where they do not.

    `least` is the smallest eigenvalue of products, scaled to a diagonal of 1, that columns have which do not.
    """
    diagonal = np.diagonal(products)
    if (diagonal <= 0).any():
        return np.flatnonzero(diagonal <= 0)
    unit = 1 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(products * np.outer(unit, unit))
    if not len(values) or values[0] >= least * max(1.0, len(values) / 10):
        return np.zeros(0, int)
    sizes = np.abs(vectors[:, 0])
    return np.flatnonzero(sizes >= 0.05 * sizes.max())


def _solved(normal: Doubles) -> tuple[Doubles, Doubles, float]:
    """Inverse of the products of the columns, the best coefficients, and what is left of the observations' squares."""
    columns, right = normal[:-1, :-1], normal[:-1, -1]
    with np.errstate(divide="ignore", invalid="ignore"):  # nan is left
        unit = 1 / np.sqrt(np.diagonal(columns))
        scaled = columns * np.outer(unit, unit)
    lower = np.linalg.cholesky(scaled)
    root = np.linalg.solve(lower, np.diag(unit))
    inverse = root.T @ root
    along = root @ right
    left = float(normal[-1, -1] - along @ along)
    if not left > 1e-14 * abs(float(normal[-1, -1])):
        raise np.linalg.LinAlgError("no residuals are left")
    return inverse, root.T @ along, left


def _logdet(matrix: Doubles) -> float:
    return float(np.linalg.slogdet(matrix)[1])
