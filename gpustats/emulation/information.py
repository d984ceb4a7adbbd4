"""Fisher information of hyperparameters, from the observations so far and with one more."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..evaluation.placement import moved
from ..evaluation.results import written
from ..language.device_function import Argument
from ..language.names import fresh_name
from ..linalg.matrix import Matrix
from ..processes.expression import Expression
from ..processes.factor import Factor
from ..processes.hyperparameters import Hyperparameters
from ..processes.pairs import Pairs
from ..processes.posterior import Posterior
from ..processes.prediction import variance_of_t
from ..runtime.base import Runtime
from ..runtime.types import Array

#: Least share of the expected information that observations are taken to have given.
LEAST_SHARE = 0.01


def in_elements(covariance: Expression, name: str) -> tuple[Expression, str]:
    """The derivative of a covariance function in the logarithm of an element of a lengthscale that is a vector.

    Returns
    -------
    Expression
    str
        A further lengthscale that it takes: the element, and infinity in the places of all others. So one kernel is enough for
        the derivatives in all elements.
    """
    taken = {*covariance.parameters, *(i.name for i in covariance.inputs)}
    element = fresh_name("element", taken)
    functions, inputs, terms = dict(covariance.functions), list(covariance.inputs), list[str]()
    for i in covariance.inputs:
        if i.lengthscale != name:
            continue
        part, slope = replace(i, name=f"{i.name}_of_{element}", lengthscale=element), covariance.derivative(i.name)
        # Where two points are equal in the column, the slope counts nothing, and may be infinite.
        terms.append(f"({{{part.name}}} == 0 ? 0 : -2 * {slope.expression} * {{{part.name}}})")
        functions |= slope.functions
        inputs.append(part)
    arguments = [*covariance.arguments, Argument(element, "positive")]
    made = type(covariance)(f"d({covariance.name})/d({name})", inputs, arguments, " + ".join(terms), functions)
    return made, element


@functools.lru_cache(maxsize=64)
def _pairs(
    covariance: Expression, runtime: Runtime, dtype: np.dtype, columns: int, vectors: tuple[str, ...], name: str
) -> tuple[Pairs, str]:
    """Pairs with the derivative in a hyperparameter, and the name of the element's argument where that is a vector."""
    if name not in vectors:
        return Pairs(covariance.derivative(name), runtime, dtype, columns, vectors), ""
    slope, element = in_elements(covariance, name)
    return Pairs(slope, runtime, dtype, columns, (*vectors, element)), element


class Unknown(NamedTuple):
    """One number among the hyperparameters, p."""

    name: str
    place: int | None  # place in a vector
    # derivative of the covariance function in p
    pairs: Pairs
    values: Hyperparameters
    times: float  # Factor of this derivative. A positive p counts by its logarithm, also in all that follows.
    # Number of first derivatives of the log-likelihood on the diagonal of `Information.matrix`. The second derivative in
    # p², in units of log p, is the second one in log p less 2 first ones. For the latter, `times`, and an element by whose
    # square `pairs` divides, are differentiated, too: 1 more, and -2.
    bend: int


def unknowns(factor: Factor, names: Sequence[str]) -> list[Unknown]:
    """Numbers among the hyperparameters of some names."""
    pairs, values, found = factor.pairs, factor.values, list[Unknown]()
    for name in names:
        slope, element = _pairs(pairs.covariance, pairs.runtime, pairs.dtype, pairs.columns, pairs.vectors, name)
        if not element:
            p, words = values.numbers[name], pairs.covariance.domains[name].split()
            relative = p > 0 and bool({"positive", "nonnegative"} & set(words))
            found.append(Unknown(name, None, slope, values, p if relative else 1.0, int(relative)))
            continue
        vector = values.vectors[name]
        for i in range(len(vector)):
            own = copy.copy(values)
            only = np.where(np.arange(len(vector)) == i, vector, np.inf)
            own.numbers, own.vectors, own.scales = values.numbers | {element: 1.0}, values.vectors | {element: only}, None
            found.append(Unknown(name, i, slope, own, 1.0, 4))
    return found


class Slopes(NamedTuple):
    """The derivatives of predictions at m points in q hyperparameters."""

    mean: np.ndarray  # (m, q)
    variance: np.ndarray  # (m, q), derivatives of the logarithm of the variance of an observation
    # (m,), variance of an observation, relative to the scale that may be integrated out; infinite where nothing can be learned
    observed: np.ndarray


class Information:
    """The Fisher information of hyperparameters.

    With the covariance matrix K + noise = R, its derivatives A_i, alpha = R⁻¹ r for the residual r, and the factor's weight w,
    the log-likelihood has the derivatives (w alpha' A_i alpha - tr(R⁻¹ A_i)) / 2.

    Parameters
    ----------
    factor : Factor
        Cholesky factor of R.
    names : sequence of str
        Hyperparameters of the covariance function.

    Attributes
    ----------
    matrix : (q, q) ndarray
        Minus the second derivatives of the log-likelihood in the squares of positive hyperparameters, in units of their
        logarithms; where it is flat, or not concave, a small part of what is to be expected.
    """

    def __init__(self, factor: Factor, names: Sequence[str]) -> None:
        self._factor, self._names = factor, list(dict.fromkeys(names))
        self.unknowns = unknowns(factor, self._names)
        self._products: list[Matrix] = []  # A_i alpha
        q = len(self.unknowns)
        self._of_squares = np.zeros(q)  # alpha' A_i alpha
        self.matrix = _at_least(*self._found()) if factor.n and q else np.zeros((q, q))

    def _found(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Observed information, expected information, and the expected information at a known scale."""
        factor, provider, pairs, n = self._factor, self._factor.provider, self._factor.pairs, self._factor.n
        self._alpha, inverse = factor.inverse(keep=True)
        provider.lower(inverse, inverse, "mirror")
        alpha, weight, q = self._alpha, factor.summary.weight, len(self.unknowns)
        none = moved(factor.runtime, np.zeros(n, pairs.dtype))
        numbers = np.array([u.place is None for u in self.unknowns])
        of_slopes, of_inverse, known = np.zeros((3, q, q))
        for i, u in enumerate(self.unknowns):
            # In a vector, only derivatives in its elements are differentiated: others may have none where points meet.
            names = [name for name in self._names if u.place is not None or name not in factor.values.vectors]
            of_slopes[i] = u.times * self._summed(u.pairs, u.values, inverse, alpha.memory.array, names)
            a, half, product, solved = (provider.empty(n, columns, pairs.dtype) for columns in (n, n, 1, 1))
            u.pairs.matrix(a, factor.x, factor.x, u.values, 0.0, factor.lift)
            provider.gemm(u.times, a, alpha, 0.0, product)
            provider.gemm(1.0, inverse, product, 0.0, solved)
            self._products.append(product)
            self._of_squares[i] = factor.products(alpha.T, product.T)[0]
            # tr((R⁻¹ A_i R⁻¹ - w (s alpha' + alpha s')) A_j) / 2 with s = R⁻¹ A_i alpha is what comes of R⁻¹ and alpha.
            provider.gemm(u.times, a, inverse, 0.0, half)
            provider.gemm(1.0, inverse, half, 0.0, a)
            known[i] = -self._summed(pairs, factor.values, a, none, self._names)
            provider.gemm(-weight, solved, alpha.T, 1.0, a)
            provider.gemm(-weight, alpha, solved.T, 1.0, a)
            of_inverse[i] = -self._summed(pairs, factor.values, a, none, self._names)
        of_slopes = np.where(numbers[:, None] & ~numbers, of_slopes.T, of_slopes)
        second = (of_slopes + of_slopes.T + of_inverse + of_inverse.T) / 2
        first = self._summed(pairs, factor.values, inverse, alpha.memory.array, self._names)
        known = expected = (known + known.T) / 2
        if factor.student_t:
            traces = weight * self._of_squares - 2 * first
            second += weight**2 / (2 * n) * np.outer(self._of_squares, self._of_squares)
            expected = known - np.outer(traces, traces) / (2 * n)
        observed = np.diag([u.bend for u in self.unknowns] * first) - second
        if not np.isfinite(observed + expected).all():
            raise np.linalg.LinAlgError(
                f"the log-likelihood has no finite second derivatives in {', '.join(self._names)}: leave those out of wrt in "
                f"which {pairs.covariance.name} is not smooth"
            )
        return observed, expected, np.diag(known)

    def _summed(self, pairs: Pairs, values: Hyperparameters, inverse: Matrix, alpha: Array, names: Sequence[str]) -> np.ndarray:
        """Sums of `Pairs.gradient` for each unknown number, 0 for those not among the names."""
        factor, found = self._factor, np.zeros(len(self.unknowns))
        gradient = pairs.gradient(factor.x, values, inverse, alpha, factor.weight, names, factor.lift)[0]
        for i, u in enumerate(self.unknowns):
            if u.name in names:
                slope = gradient[u.name]
                found[i] = slope * u.times if u.place is None else slope[u.place] * factor.values.vectors[u.name][u.place]
        return found

    def with_one(self, at: Posterior) -> np.ndarray:
        """Expected information with one observation more, at each of m points: (m, q, q)."""
        factor, slopes = self._factor, self.slopes(at)
        times = factor.scale2 * (1.0 if factor.df is None else variance_of_t(factor.df))
        with np.errstate(invalid="ignore"):
            steps = slopes.mean / np.sqrt(times * slopes.observed)[:, None]
        return self.matrix + sum(c[:, :, None] * c[:, None] for c in (steps, slopes.variance / math.sqrt(2)))

    def slopes(self, at: Posterior) -> Slopes:
        """The derivatives of predictions at some points, with the noise of observations there."""
        noise = written(self._factor.runtime, at.noise).astype(float)
        parts = [self._slopes(at.xs[part], noise[part]) for part in at.parts()]
        return Slopes(*map(np.concatenate, zip(*parts, strict=True)))

    def _slopes(self, xs: Array, noise: np.ndarray) -> Slopes:
        """Derivatives of predictions at as many points as are taken at once.

        With w = R⁻¹ k(x, z), and the derivatives a of k(x, z) and A of R, the mean has the derivative a' alpha - w' A alpha,
        and the variance that of k(z, z) less (2 a - A w)' w.
        """
        factor, m, q = self._factor, xs.shape[0], len(self.unknowns)
        provider, pairs, n, runtime = factor.provider, factor.pairs, factor.n, factor.runtime
        prior = factor.lift * written(runtime, pairs.diagonal(xs, factor.values)).astype(float)
        observed, rows = prior + noise, factor.rows(xs)
        if n:
            observed -= factor.products(rows, rows)
            provider.trsm(factor.l, rows, left=False)
        mean, variance = np.zeros((m, q)), np.zeros((m, q))
        for i, u in enumerate(self.unknowns):
            variance[:, i] = u.times * factor.lift * written(runtime, u.pairs.diagonal(xs, u.values)).astype(float)
            if n:
                a, cross, of_mean = (provider.empty(r, c, pairs.dtype) for r, c in ((n, n), (m, n), (m, 1)))
                u.pairs.matrix(cross, xs, factor.x, u.values)
                provider.gemm(u.times, cross, self._alpha, 0.0, of_mean)
                provider.gemm(-1.0, rows, self._products[i], 1.0, of_mean)
                mean[:, i] = written(runtime, of_mean.memory.array).reshape(-1)
                u.pairs.matrix(a, factor.x, factor.x, u.values, 0.0, factor.lift)
                provider.gemm(-u.times, rows, a, 2 * u.times, cross)
                variance[:, i] -= factor.products(cross, rows)
        known = observed <= 16 * np.finfo(pairs.dtype).eps * prior  # but for rounding
        with np.errstate(all="ignore"):
            relative = variance / observed[:, None]
            if factor.student_t:  # the scale depends on hyperparameters, too
                relative -= self._of_squares / factor.summary.squares
        return Slopes(mean, np.where(known[:, None], 0, relative), np.where(known, np.inf, observed))


def _at_least(observed: np.ndarray, expected: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Observed information, in no direction less than `LEAST_SHARE` of the expected information.

    `scale`: the unit of rounding of the expected information, for each hyperparameter.
    """
    unit = np.sqrt(np.where(scale > 0, scale, 1))
    values, vectors = np.linalg.eigh(expected / np.outer(unit, unit))
    told = values > len(unit) * np.finfo(np.float32).eps
    to, back = vectors[:, told] / np.sqrt(values[told]), vectors[:, told] * np.sqrt(values[told])
    parts, axes = np.linalg.eigh(to.T @ (observed / np.outer(unit, unit)) @ to)
    if told.all() and parts.min() >= LEAST_SHARE:
        return observed
    root = unit[:, None] * (back @ axes) * np.sqrt(np.maximum(parts, LEAST_SHARE))
    return root @ root.T


def errors_of_mean(information: np.ndarray, slopes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sums over references j of weights_j slopes_j' information_i⁻¹ slopes_j, (m,).

    Parameters
    ----------
    information : (m, q, q) ndarray
    slopes : (r, q) ndarray
        Derivatives of means in hyperparameters.
    weights : (r,) ndarray
    """
    found, valid = np.full(len(information), np.nan), np.isfinite(information).all((1, 2))
    if not (valid.any() and np.isfinite(slopes).all()):
        return found
    values, vectors = np.linalg.eigh(information[valid])
    along = np.einsum("mik,ij,mjk->mk", vectors, (slopes.T * weights) @ slopes, vectors)
    tiny = np.finfo(float).eps * len(slopes.T)
    unknown = values <= tiny * values.max(1, keepdims=True)
    with np.errstate(all="ignore"):
        parts = np.where(unknown, np.where(along > tiny * along.max(1, keepdims=True), np.inf, 0), along / values)
    found[valid] = parts.sum(1)
    return found
