"""Coordinates of a search: one vector for the parameters of a model, in which any numbers are inside their domains."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..runtime.types import Doubles, Shape
from .bordered import Bordered
from .scales import IDENTITY, scale_of
from .symmetric import Symmetric

if TYPE_CHECKING:
    import scipy.sparse


class Chart(Protocol):
    """Coordinates of one parameter."""

    elementwise: bool  # whether each element has a coordinate of its own

    @property
    def same(self) -> bool:
        """True if the elements are the coordinates."""

    @property
    def longest(self) -> float:
        """Step beyond which a quadratic model says nothing."""

    def to(self, value: Doubles) -> Doubles:
        """Coordinates, (p,), of a value."""

    def back(self, point: Doubles) -> Doubles:
        """Value at coordinates."""

    def jacobian(self, point: Doubles) -> Doubles:
        """Derivatives of the elements, in C order: (size,) where each has its own coordinate, else (size, p)."""

    def curvature(self, point: Doubles, gradient: Doubles) -> Doubles:
        """Sum of the elements' second derivatives times `gradient`, (size,): (p,) or (p, p)."""


@dataclass(frozen=True)
class Elements:
    """Coordinates of numbers of a domain, each by itself: logarithms, log odds, or the numbers themselves."""

    words: Collection[str]
    shape: tuple[int, ...]
    elementwise = True

    @property
    def same(self) -> bool:
        return scale_of(self.words) is IDENTITY

    @property
    def longest(self) -> float:
        return scale_of(self.words).longest

    def to(self, value: Doubles) -> Doubles:
        with np.errstate(divide="ignore", invalid="ignore"):
            return scale_of(self.words).to(value.ravel())

    def _back(self, point: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        with np.errstate(over="ignore", under="ignore"):
            return scale_of(self.words).back(point)

    def back(self, point: Doubles) -> Doubles:
        return self._back(point)[0].reshape(self.shape)

    def jacobian(self, point: Doubles) -> Doubles:
        return self._back(point)[1]

    def curvature(self, point: Doubles, gradient: Doubles) -> Doubles:
        return gradient * self._back(point)[2]


class Ascending:
    """Coordinates of ascending numbers: the first, and the logarithms of the differences."""

    elementwise, same, longest = False, False, 3.0

    def to(self, value: Doubles) -> Doubles:
        return np.concatenate([value[:1], np.log(np.diff(value))])

    def back(self, point: Doubles) -> Doubles:
        return np.cumsum(np.concatenate([point[:1], np.exp(point[1:])]))

    def jacobian(self, point: Doubles) -> Doubles:
        found: Doubles = np.tri(len(point)) * np.concatenate([np.ones(min(len(point), 1)), np.exp(point[1:])])
        return found

    def curvature(self, point: Doubles, gradient: Doubles) -> Doubles:
        behind = np.cumsum(gradient[::-1])[::-1] * np.exp(point)
        return np.diag(np.concatenate([np.zeros(min(len(point), 1)), behind[1:]]))


class LogWeights:
    """Coordinates of logarithms of weights that add up to 1: their differences from the last."""

    elementwise, same, longest = False, False, 3.0

    def to(self, value: Doubles) -> Doubles:
        found: Doubles = value[:-1] - value[-1]
        return found

    def back(self, point: Doubles) -> Doubles:
        whole = np.append(point, 0.0)
        top = whole.max()
        found: Doubles = whole - top - np.log(np.exp(whole - top).sum())
        return found

    def jacobian(self, point: Doubles) -> Doubles:
        weights = np.exp(self.back(point))
        found: Doubles = (np.eye(len(weights)) - weights)[:, :-1]
        return found

    def curvature(self, point: Doubles, gradient: Doubles) -> Doubles:
        weights = np.exp(self.back(point))[:-1]
        found: Doubles = -gradient.sum() * (np.diag(weights) - np.outer(weights, weights))
        return found


class Weights(LogWeights):
    """Coordinates of weights that add up to 1: the differences of their logarithms from the last."""

    def to(self, value: Doubles) -> Doubles:
        return super().to(np.log(value))

    def back(self, point: Doubles) -> Doubles:
        found: Doubles = np.exp(super().back(point))
        return found

    def jacobian(self, point: Doubles) -> Doubles:
        weights = self.back(point)
        found: Doubles = (np.diag(weights) - np.outer(weights, weights))[:, :-1]
        return found

    def curvature(self, point: Doubles, gradient: Doubles) -> Doubles:
        w, each = self.back(point), np.eye(len(point) + 1)
        apart = each[:, :, None] - w[None, :, None]
        bend = w[:, None, None] * (apart * apart.swapaxes(1, 2) - w[None, :, None] * (each - w)[None])
        found: Doubles = np.tensordot(gradient, bend, 1)[:-1, :-1]
        return found


@dataclass(frozen=True)
class Covariances:
    """Coordinates of positive definite matrices, (..., d, d): Cholesky factors with the logarithms of their diagonals."""

    shape: tuple[int, ...]
    elementwise, same, longest = False, False, 3.0

    def _factors(self, point: Doubles) -> Doubles:
        d = self.shape[-1]
        rows, columns = np.tril_indices(d)
        found = np.zeros((*self.shape[:-2], d, d))
        found[..., rows, columns] = point.reshape(*self.shape[:-2], -1)
        each = range(d)
        found[..., each, each] = np.exp(found[..., each, each])
        return found

    def to(self, value: Doubles) -> Doubles:
        d = self.shape[-1]
        try:
            factors = np.linalg.cholesky(value)
        except np.linalg.LinAlgError:
            raise ValueError("a covariance matrix at the start is not positive definite") from None
        each = range(d)
        factors[..., each, each] = np.log(factors[..., each, each])
        found: Doubles = np.ravel(factors[..., *np.tril_indices(d)]).astype(float)
        return found

    def back(self, point: Doubles) -> Doubles:
        factors = self._factors(point)
        found: Doubles = factors @ factors.swapaxes(-1, -2)
        return found

    def jacobian(self, point: Doubles) -> Doubles:
        factors, d = self._factors(point).reshape(-1, *self.shape[-2:]), self.shape[-1]
        rows, columns = np.tril_indices(d)
        p = len(rows)
        found = np.zeros((len(factors), d, d, len(factors), p))
        for g, factor in enumerate(factors):
            for k, (i, j) in enumerate(zip(rows, columns, strict=True)):
                slope = factor[i, i] if i == j else 1.0
                found[g, i, :, g, k] += slope * factor[:, j]
                found[g, :, i, g, k] += slope * factor[:, j]
        return found.reshape(len(factors) * d * d, -1)

    def curvature(self, point: Doubles, gradient: Doubles) -> Doubles:
        factors, d = self._factors(point).reshape(-1, *self.shape[-2:]), self.shape[-1]
        slopes = gradient.reshape(-1, d, d)
        slopes = slopes + slopes.swapaxes(1, 2)
        rows, columns = np.tril_indices(d)
        p = len(rows)
        found = np.zeros((len(factors), p, len(factors), p))
        for g, factor in enumerate(factors):
            own = np.where(rows == columns, factor[rows, columns], 1.0)
            bend = slopes[g][rows[:, None], rows] * (columns[:, None] == columns) * np.outer(own, own)
            straight = (slopes[g] @ factor)[rows, columns] * own * (rows == columns)
            found[g, :, g] = bend + np.diag(straight)
        return found.reshape(len(factors) * p, -1)


def chart_of(words: Collection[str], shape: tuple[int, ...]) -> Chart:
    """Coordinates of a parameter of some domain and shape."""
    if "covariance" in words and len(shape) >= 2:
        return Covariances(shape)
    if len(shape) == 1 and shape[0]:
        if "logarithms" in words:
            return LogWeights()
        if "simplex" in words:
            return Weights()
        if {"ordered", "increasing"} & set(words) and shape[0] > 1:
            return Ascending()
    return Elements(words, shape)


def labels_of(name: str, shape: Shape, axes: Sequence[Sequence[object]] = ()) -> list[str]:
    """Names of the elements of a parameter by their places, such as ``beta[0]``, or by names along the axes."""
    return [f"{name}[{', '.join(place)}]" for place in places_of(shape, axes)] if shape else [name]


def places_of(shape: Shape, axes: Sequence[Sequence[object]]) -> Iterator[tuple[str, ...]]:
    """Places of elements in C order: by names along the axes, and by numbers where there are none."""
    whole = [*axes, *[()] * len(shape)]
    filled = [[*map(str, names[:n]), *map(str, range(len(names), n))] for names, n in zip(whole, shape, strict=False)]
    return itertools.product(*filled)


class Coordinates:
    """Coordinates (p,) of all parameters together, one after another.

    Parameters
    ----------
    values : mapping
        Name -> value, whose shape counts.
    domains : mapping
        Name -> words of its domain.
    named : function
        Names of the elements of a parameter, of its name and shape.
    """

    def __init__(
        self, values: Mapping[str, Doubles], domains: Mapping[str, Collection[str]],
        named: Callable[[str, Shape], Sequence[str]] = labels_of,
    ):  # fmt: skip
        self._named = named
        self.shapes = {n: np.shape(v) for n, v in values.items()}
        self.charts = {n: chart_of(domains.get(n, ()), shape) for n, shape in self.shapes.items()}
        sizes = {n: int(np.prod(shape)) for n, shape in self.shapes.items()}
        lengths = {n: len(self.charts[n].to(np.asarray(values[n], float))) for n in values}
        self.elements, self.points = _slices(sizes), _slices(lengths)
        self.size, self.n_elements = sum(lengths.values()), sum(sizes.values())
        self.elementwise = all(c.elementwise for c in self.charts.values())
        self._bent = {n: c for n, c in self.charts.items() if not c.same}

    def to(self, values: Mapping[str, Any]) -> Doubles:
        """Coordinates of values."""
        parts = [chart.to(np.asarray(values[n], float)) for n, chart in self.charts.items()]
        return np.concatenate(parts) if parts else np.zeros(0)

    def back(self, point: Doubles) -> dict[str, Doubles]:
        """Values at a point, by name."""
        return {n: chart.back(point[self.points[n]]) for n, chart in self.charts.items()}

    @property
    def longest(self) -> Doubles:
        """Longest step in each coordinate."""
        return np.concatenate([np.full(s.stop - s.start, self.charts[n].longest) for n, s in self.points.items()])

    def gradient(self, point: Doubles, gradient: Doubles) -> Doubles:
        """Derivatives in the coordinates, of derivatives in the elements."""
        if not self._bent:
            return gradient
        found = np.empty(self.size)
        for name, chart in self.charts.items():
            own, slopes = gradient[self.elements[name]], chart.jacobian(point[self.points[name]])
            found[self.points[name]] = own * slopes if chart.elementwise else own @ slopes
        return found

    def hessian(self, point: Doubles, gradient: Doubles, hessian: Symmetric) -> Symmetric:
        """Second derivatives in the coordinates, of derivatives in the elements."""
        if not self._bent:
            return hessian
        if self.elementwise:
            slopes, bends = np.ones(self.size), np.zeros(self.size)
            for name, chart in self._bent.items():
                at, own = self.points[name], gradient[self.elements[name]]
                slopes[at], bends[at] = chart.jacobian(point[at]), chart.curvature(point[at], own)
            return hessian.scaled(slopes).plus_diagonal(bends)
        if not hessian.is_dense:
            raise NotImplementedError("groups beside parameters whose elements depend on one another")
        jacobian = self.jacobian(point)
        made = (jacobian.T @ (jacobian.T @ hessian.toarray()).T).T
        for name, chart in self.charts.items():
            at = self.points[name]
            bend = chart.curvature(point[at], gradient[self.elements[name]])
            made[at, at] += np.diag(bend) if chart.elementwise else bend
        return Bordered.dense(made)

    def jacobian(self, point: Doubles) -> scipy.sparse.csr_array:
        """Derivatives of the elements in the coordinates, (elements, p)."""
        import scipy.sparse

        parts = []
        for name, chart in self.charts.items():
            own = chart.jacobian(point[self.points[name]])
            parts.append(scipy.sparse.diags_array(own) if chart.elementwise else scipy.sparse.csr_array(own))
        return scipy.sparse.csr_array(scipy.sparse.block_diag(parts))

    def slopes(self, point: Doubles) -> Doubles:
        """Derivatives of the elements, each in its own coordinate, where all are elementwise."""
        return np.concatenate([chart.jacobian(point[self.points[n]]) for n, chart in self.charts.items()])

    def labels(self) -> list[str]:
        """Names of the elements."""
        return [label for name, shape in self.shapes.items() for label in self._named(name, shape)]


def _slices(lengths: Mapping[str, int]) -> dict[str, slice]:
    ends = list(itertools.accumulate(lengths.values()))
    return {n: slice(end - length, end) for (n, length), end in zip(lengths.items(), ends, strict=True)}
