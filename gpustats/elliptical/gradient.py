"""Derivatives of sums of elliptical densities.

With y = x - mu, and the derivatives s and r of the device function in the squared distance y' cov⁻¹ y and in log det cov, they
are 2 s cov⁻¹ y in x, -2 s cov⁻¹ y in mu, and r cov⁻¹ - s cov⁻¹ y y' cov⁻¹ in cov. So those in the parameters follow from the
sums of r, s y and s y y' over the observations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..evaluation.gradient import Gradient, differentiated, reduced, twice_differentiated
from ..evaluation.results import as_host, like
from ..evaluation.sums import LOGLIK
from ..language.nodes import Call, Return, walk
from ..language.printer import Printer
from ..rewriting.differentiate import VALUE, derivative_name, gradient
from ..runtime.arrays import is_device_array
from ..runtime.cached import cached_property
from .density import Elliptical, checked_density
from .inverses import CovarianceMatrices
from .scatter import scatter
from .whiten import LARGE_MATRIX

if TYPE_CHECKING:
    from ..evaluation.placement import Placement
    from ..language.nodes import Function
    from ..runtime.base import Runtime
    from ..runtime.types import Array, Doubles

_CHUNK_ROWS = 1 << 16  # observations that the host works on at a time


class _Case:
    """Arguments of a call, and the way in which the derivatives in vectors and in the matrix are had.

    Parameters
    ----------
    vectors : sequence of str
        The arguments of vectors and matrices in which derivatives are wanted.
    values : sequence
        Values of the function's arguments.

    Attributes
    ----------
    by_rows : list of str
        Arguments whose derivatives the host makes of the slopes s that the device writes for each observation.
    by_sums : list of str
        Arguments whose derivatives follow from sums over the observations, which the device adds: see `scatter`.
    by_products : list of str
        The matrix, where there are few long observations: products of these with one matrix are less work than products
        of matrices.
    """

    def __init__(self, function: Elliptical, vectors: Sequence[str], values: Sequence[Array], runtime: Runtime | None):
        batch, dim = function.batch_shapes(values)
        arguments = function.arguments
        self.x, self.scale = arguments[0].name, function.scale
        self.values = {a.name: v for a, v in zip(arguments, values, strict=True)}
        self.batch = {a.name: s for a, s in zip(arguments, batch, strict=True)}
        self.shapes = {a.name: (*self.batch[a.name], *(dim,) * a.rank) for a in arguments}
        self.placement = function.place(LOGLIK, values, runtime)
        pattern = self.placement.pattern
        self.runtime, self.lead, self.full = self.placement.runtime, pattern.shape[:-1], pattern.shape or (1,)
        in_pairs = pattern.n_rows < self.full[-1]  # every observation is a set
        self.sets = self.full if in_pairs else (*self.full[:-1], 1)
        self.by_rows = [n for n in vectors if n == self.x or in_pairs or (n == "mu" and self.varies_by_row(n))]
        self.by_sums = [n for n in vectors if n not in self.by_rows]
        self.by_products: list[str] = []
        few = 2 * self.full[-1] < dim and math.prod(self.full) == self.full[-1]
        if self.scale in self.by_sums and dim >= LARGE_MATRIX and few:
            self.by_rows, self.by_sums = [n for n in vectors if n != self.scale], []
            self.by_products = [self.scale]

    def varies_by_row(self, name: str) -> bool:
        """True if the argument has a value for each observation."""
        shape = self.batch[name]
        return bool(shape) and shape[-1] > 1

    @cached_property
    def matrices(self) -> CovarianceMatrices:
        return CovarianceMatrices(self.scale, self.on_host(self.scale))

    def on_host(self, name: str) -> np.ndarray:
        return as_host(self.runtime, self.values[name])

    def from_sums(self, moments: np.ndarray, logdet: np.ndarray) -> dict[str, np.ndarray]:
        """Derivatives in the mean and in the matrix from the sums of s [1; y] [1; y]' and of r, for each set."""
        found = {}
        if "mu" in self.by_sums:
            found["mu"] = reduced(-2 * _times(self.matrices.precision, moments[..., 1:, 0]), self.shapes["mu"])
        if self.scale in self.by_sums:
            products = reduced(moments[..., 1:, 1:], self.shapes[self.scale])
            found[self.scale] = self.matrices.derivative(products, reduced(logdet, self.batch[self.scale]))
        return found

    def from_products(self, slopes: np.ndarray, logdet: np.ndarray) -> dict[str, np.ndarray]:
        """Derivative in the only matrix from the observations, all together, and their slopes."""
        y = np.subtract(self.on_host(self.x), self.on_host("mu"), dtype=np.float64).reshape(-1, self.placement.dim)
        matrix = self.matrices.derivative_of_rows(y, slopes.reshape(-1, 1), logdet.item())
        return {self.scale: matrix.reshape(self.shapes[self.scale])}

    def from_rows(self, slopes: np.ndarray, logdet: np.ndarray) -> dict[str, np.ndarray]:
        """Derivatives that the host adds up, or writes, from each observation and its slope."""
        totals = {n: np.zeros((*(1,) * (len(self.full) - len(self.batch[n])), *self.shapes[n])) for n in self.by_rows}
        _add_rows(totals, self.x, self.on_host(self.x), self.on_host("mu"), self.matrices.precision, slopes)
        found = {n: total.reshape(self.shapes[n]) for n, total in totals.items()}
        if self.scale in found:
            found[self.scale] = self.matrices.derivative(found[self.scale], reduced(logdet, self.batch[self.scale]))
        return found


class EllipticalGradient(Gradient):
    """Derivatives of a summed elliptical density.

    Parameters
    ----------
    function : Elliptical
        Function that is summed.
    wrt : sequence of str
        Names of arguments.
    """

    function: Elliptical

    def __init__(self, function: Elliptical, wrt: Sequence[str]):
        self.function, self.wrt = function, tuple(wrt)
        ranks = {a.name: a.rank for a in function.arguments}
        self.scalars = tuple(n for n in wrt if not ranks[n])
        self.vectors = tuple(n for n in wrt if ranks[n])
        functions = dict(function.functions)
        together = gradient(function.function, ["sqdist", "logdet", *self.scalars], functions)
        sums = [VALUE, *(derivative_name(n) for n in ("logdet", *self.scalars))]
        self._plain, self._with_slopes = (
            function.variant(together, functions, sums=sums, rows=rows)
            for rows in ([], [derivative_name("sqdist")])
        )
        self._slope = _constant_slope(function, functions)

    def shown(self, dtype: str, dialect: str) -> str:
        return (self._with_slopes if self._slope is None else self._plain).shown_for(LOGLIK, dtype, dialect)

    def __call__(self, values: Sequence[Array], runtime: Runtime | None = None) -> tuple[Array, dict[str, Array]]:
        case = _Case(self.function, self.vectors, values, runtime)
        if math.prod(case.placement.pattern.shape):
            value, gradients = self._evaluate(case)
        else:
            value, gradients = np.zeros(case.lead), {n: np.zeros(case.shapes[n]) for n in self.wrt}
        for name, result in gradients.items():
            if case.varies_by_row(name):
                result = result.astype(case.placement.dtype, copy=False)
            gradients[name] = like(case.runtime, result, case.values[name])
        if case.lead and any(map(is_device_array, values[1:])):
            return case.runtime.to_device(value), gradients
        return (value if case.lead else float(value)), gradients

    def _evaluate(self, case: _Case) -> tuple[np.ndarray, dict[str, Array]]:
        """Sums, and their derivatives as host arrays."""
        sums, moments, slopes = self._launch(case.placement, bool(case.by_rows or case.by_products), bool(case.by_sums))
        value, logdet, *scalars = (column.reshape(case.sets) for column in sums.T)
        found = {n: reduced(d, case.batch[n]) for n, d in zip(self.scalars, scalars, strict=True)}
        if case.by_sums:
            moments = moments.reshape(*case.sets, *moments.shape[1:])
            if slopes is None:
                moments = self._slope * moments + 0 * logdet[..., None, None]  # nan where parameters are invalid
            found |= case.from_sums(moments, logdet)
        if case.by_products or case.by_rows:
            slopes = case.runtime.to_host(slopes).reshape(case.full)
        if case.by_products:
            found |= case.from_products(slopes, logdet)
        if case.by_rows:
            found |= case.from_rows(slopes, logdet)
        return value.sum(-1).reshape(case.lead), {n: found[n] for n in self.wrt}

    def _launch(self, placement: Placement, by_rows: bool, by_sums: bool) -> tuple[np.ndarray, np.ndarray, Array]:
        """Sums of each set; sums of s [1; y] [1; y]'; slopes s for each set and row, on the device.

        The products are not multiplied by s, and s is not there, where it is a constant and not wanted for each row.
        """
        runtime, pattern, dim, dtype = placement.runtime, placement.pattern, placement.dim, placement.dtype
        terms = self._with_slopes if by_rows or (by_sums and self._slope is None) else self._plain
        sums_launch = terms.sum_launch(placement)
        n_sums = sums_launch.n_sets * sums_launch.n_sums
        result = runtime.result(8 * (n_sums + by_sums * sums_launch.n_sets * (dim + 1) ** 2))
        x, factors, means, *others = (a.values for a in placement.arguments)
        slopes, weights = None, None
        if terms.rows:
            slopes = runtime.empty((pattern.n_sets, pattern.n_rows), dtype)
            weights = (*runtime.memory(slopes), pattern.n_rows)
        written = weights[:2] if weights else ()
        sums_launch.launch(result.handle, 0, [*x, *factors, *means, *written, *(v for values in others for v in values)])
        if by_sums:
            scatter(runtime, dtype, dim, pattern.n_rows, pattern.n_sets, x, means, weights, result.handle, n_sums)
        numbers = runtime.fetch(result).view(np.float64).copy()
        sums = numbers[:n_sums].reshape(sums_launch.n_sets, sums_launch.n_sums)
        return sums, numbers[n_sums:].reshape(-1, dim + 1, dim + 1), slopes


def _add_rows(
    totals: Mapping[str, np.ndarray], x: str, observations: np.ndarray, means: np.ndarray, precision: np.ndarray,
    slopes: np.ndarray,
) -> None:  # fmt: skip
    """Add to `totals` the derivatives in the observations `x` and in their means, and the sums of s y y' for the matrices.

    All have as many batch axes as `slopes`, with a length of 1 where they are sums.
    """
    full, dim = slopes.shape, observations.shape[-1]
    shared = precision.ndim == 2 or precision.shape[-3] == 1  # by all observations of a sum
    observations, means = (np.broadcast_to(a, (*full, dim)) for a in (observations, means))
    precision = np.broadcast_to(precision, (*full, dim, dim))
    for k in np.ndindex(full[:-1]):
        for start in range(0, full[-1], _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            y = np.subtract(observations[k][rows], means[k][rows], dtype=np.float64)
            weighted = slopes[k][rows, None] * y
            outward = 2 * (weighted @ precision[k][0] if shared else _times(precision[k][rows], weighted))
            for name, total in totals.items():
                here = total[tuple(i if n > 1 else 0 for i, n in zip(k, total.shape, strict=False))]
                if name == x or name == "mu":
                    term = outward if name == x else -outward
                elif len(here) == 1:
                    term = (weighted.T @ y)[None]
                else:
                    term = weighted[:, :, None] * y[:, None, :]
                if len(here) == 1:
                    here += term.sum(0)
                else:
                    here[rows] += term


def _constant_slope(function: Elliptical, functions: dict[str, Function]) -> float | None:
    """Derivative of the density in the squared distance, where it is a number, as for the normal distribution."""
    density = function.definition.density
    if function.function != checked_density(function.definition, function.functions):
        return None
    made = gradient(density, ["sqdist"], functions)
    returned = [node.value for node in walk(made) if isinstance(node, Return)]
    place = made.results.index(derivative_name("sqdist"))
    texts = {Printer().expression(v.arguments[place]) if isinstance(v, Call) else "" for v in returned}
    try:
        (text,) = texts
        return float(text)
    except ValueError:  # several, or none that is a number
        return None


def _times(matrices: Doubles, vectors: Doubles) -> Doubles:
    products: Doubles = matrices @ vectors[..., None]
    return products[..., 0]


differentiated.register(Elliptical, EllipticalGradient)


@twice_differentiated.register(Elliptical)
def _refused(function: Elliptical, wrt: tuple[str, ...]) -> NoReturn:
    raise ValueError(
        f"the Hessian is for densities of scalar parameters, and {function.name} has a mean vector and a covariance matrix: "
        "take differences of value_and_grad"
    )
