"""Derivative of a marginal likelihood in a direction, as a model: its own derivatives are the Hessian times the direction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import linalg

from ..evaluation.compiled import Replayable
from ..evaluation.pointwise import Pointwise
from ..language.derived import resolve_in
from ..language.device_function import Argument, parse
from ..language.names import unlike_others
from ..rows.leaves import per_row
from ..rows.model import Rows, rows_on
from ..rows.parameters import along_of
from .covariance import Covariance
from .observations import Observations
from .pairs import PairsCode
from .parameters import MEAN, SIGMA, Parameters

WEIGHT = "pair_weight"


class AlongMarginal(Replayable):
    """Derivative of a log marginal likelihood in a direction. Its parameters are those of the likelihood, then the direction's.

    With R the covariance matrix of the observations, r their residual, and alpha = R⁻¹ r, the likelihood's derivative is
    W = (w alpha alpha' - R⁻¹) / 2 in R, and -w alpha in r; w is 1, or n / r' alpha where a scale is integrated out. The
    derivatives of these in the direction, and the second ones of the covariance function, make the product of the Hessian.
    The matrices are the host's.

    Parameters
    ----------
    cov : Covariance
    data : Observations
    lift : float
        Factor of the diagonal of K, before the noise is added.
    student_t : bool
        Whether a scale of the whole matrix is integrated out.
    names : collection of str
        Parameters in which the direction has components; the others are 0.
    """

    def __init__(self, cov: Covariance, data: Observations, lift: float, student_t: bool, names: Collection[str]):
        self._cov, self._data, self._lift, self._student_t = cov, data, lift, student_t
        self._own = *cov.parameters, SIGMA, MEAN
        self._directions = {along_of(n): n for n in self._own if n in names}
        self._pairs: dict[tuple[str, ...], Rows] = {}

    @property
    def parameters(self) -> Sequence[str]:
        return *self._own, *self._directions

    @property
    def differentiable(self) -> Sequence[str]:
        return self._own

    def __call__(self, **arguments: Any) -> float:
        """Derivative in the direction."""
        return self.value_and_grad(wrt=(), **arguments)[0]

    def value_and_grad(self, *, wrt: Sequence[str], **arguments: Any) -> tuple[float, dict[str, Any]]:
        """Derivative in the direction, and the components of the product in some parameters."""
        moved = {of: np.asarray(arguments[name], float) for name, of in self._directions.items()}
        return _AtValues(self, arguments).along(moved, wrt)

    def hessian(self, wrt: Sequence[str], **arguments: Any) -> np.ndarray:
        """Second derivatives in the elements of parameters that directions have, one after another, (P, P)."""
        at, columns = _AtValues(self, arguments), list[np.ndarray]()
        shapes = {n: np.shape(arguments[n]) for n in wrt}
        for name in wrt:
            for place in np.ndindex(shapes[name]):
                moved = {n: np.zeros(shape) for n, shape in shapes.items()}
                moved[name][place] = 1.0
                _, product = at.along(moved, wrt)
                columns.append(np.concatenate([np.ravel(product[n]) for n in wrt]))
        found = np.array(columns)
        return (found + found.T) / 2

    def _over_pairs(self, vectors: tuple[str, ...]) -> Rows:
        """Sum over pairs of points, the lower triangle, of weights times covariances."""
        if vectors not in self._pairs:
            code = PairsCode(self._cov, self._data.columns, vectors)
            x, (i, j) = self._data.host_x.astype(np.float64), np.tril_indices(self._data.n)
            leaves: dict[str, Any] = {WEIGHT: per_row()}
            for k, measure in enumerate(code.measures):
                parts = x[i] * x[j] if measure.kind == "dot" else np.square(x[i] - x[j])
                if measure.columns is not None:
                    parts = np.where(np.isin(np.arange(x.shape[1]), measure.columns), parts, 0.0)
                leaves[f"part{k}"] = parts if measure.scaled else parts.sum(1)
            self._pairs[vectors] = rows_on(self._data.runtime, _row_function(self._cov, code, vectors), None, leaves)
        return self._pairs[vectors]


class _AtValues:
    """Likelihood at some values of its parameters, with its derivatives in any direction."""

    def __init__(self, model: AlongMarginal, arguments: Mapping[str, Any]):
        data, n = model._data, model._data.n
        self._arguments, self._student_t = arguments, model._student_t
        given = Parameters.of(model._cov, data.columns, n, {name: arguments[name] for name in model._own}, ())
        self._values = {name: np.asarray(v) for name, v in given.hyperparameters.by_name.items()}
        self._noise = np.broadcast_to(given.sigma, n)
        self._pairs = _OfPairs(model._over_pairs(tuple(given.hyperparameters.vectors)), self._values, n, model._lift)
        self._factor = linalg.cho_factor(self._pairs.covariances() + np.diag(np.square(self._noise)), lower=True)
        residual = data.y - np.broadcast_to(given.mean, n)
        alpha = self._alpha = linalg.cho_solve(self._factor, residual)
        self._inverse = _inverse(self._factor[0])
        self._square = float(residual @ alpha)
        self._weight = n / self._square if self._student_t else 1.0
        self._slope = (self._weight * np.outer(alpha, alpha) - self._inverse) / 2

    def along(self, moved: Mapping[str, np.ndarray], wrt: Sequence[str]) -> tuple[float, dict[str, Any]]:
        """Derivative in a direction, and the product of the Hessian with it in some parameters."""
        alpha, weight, slope, noise, n = self._alpha, self._weight, self._slope, self._noise, len(self._alpha)
        noise_change = np.broadcast_to(moved.get(SIGMA, 0.0), n)
        change_in_mean = np.broadcast_to(moved.get(MEAN, 0.0), n)
        direction = {name: d for name, d in moved.items() if name in self._values}
        cov_change, second = self._pairs.along(direction, slope)
        change = cov_change + np.diag(2 * noise * noise_change)
        found = float(np.sum(slope * change) + weight * (alpha @ change_in_mean))
        if not wrt:
            return found, {}

        alpha_change = -linalg.cho_solve(self._factor, change_in_mean + change @ alpha)
        square_change = -2 * (alpha @ change_in_mean) - alpha @ change @ alpha
        weight_change = -weight * square_change / self._square if self._student_t else 0.0
        crossed = np.outer(alpha, alpha_change)
        slope_change = weight_change * np.outer(alpha, alpha) + weight * (crossed + crossed.T)
        slope_change += self._inverse @ change @ self._inverse
        slope_change /= 2
        of_sigma = 2 * (noise_change * np.diag(slope) + noise * np.diag(slope_change))
        of_mean = weight_change * alpha + weight * alpha_change
        products = {name: first + second.get(name, 0.0) for name, first in self._pairs.slopes(slope_change).items()}
        shapes = {name: np.shape(self._arguments[name]) for name in wrt}
        for name, by_row in ((SIGMA, of_sigma), (MEAN, of_mean)):
            products[name] = by_row if shapes.get(name) and np.prod(shapes[name]) == n else by_row.sum()
        return found, {name: np.reshape(products[name], shape) for name, shape in shapes.items()}


def _inverse(factor: np.ndarray) -> np.ndarray:
    """Inverse of the matrix whose lower Cholesky factor is given."""
    lower = np.tril(linalg.lapack.dpotri(factor, lower=1)[0])
    return lower + np.tril(lower, -1).T


class _OfPairs:
    """Covariances of all pairs of n points at some hyperparameters, and what their derivatives contribute."""

    def __init__(self, rows: Rows, values: dict[str, np.ndarray], n: int, lift: float):
        self._rows, self._values, self._triangle = rows, values, np.tril_indices(n)
        self._n, self._lift = n, lift

    def covariances(self) -> np.ndarray:
        return self._matrix(self._rows.value_and_grad(wrt=WEIGHT, **self._given(np.eye(self._n)))[1][WEIGHT])

    def along(self, direction: Mapping[str, Any], weights: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """Derivative of the matrix in a direction, and the derivatives of its sum with weights, by hyperparameter."""
        if not direction:
            return np.zeros((self._n, self._n)), {}
        found = self._rows.hessp(direction, **self._given(weights))
        return self._matrix(found.pop(WEIGHT)), found

    def slopes(self, weights: np.ndarray) -> dict[str, Any]:
        """Derivatives of the sum of the matrix with weights, by hyperparameter."""
        return self._rows.value_and_grad(wrt=list(self._values), **self._given(weights))[1]

    def _given(self, weights: np.ndarray) -> dict[str, Any]:
        both = weights + weights.T
        both[np.diag_indices(self._n)] *= self._lift / 2
        return {WEIGHT: both[self._triangle], **self._values}

    def _matrix(self, lower: Any) -> np.ndarray:
        found = np.zeros((self._n, self._n))
        found[self._triangle] = lower
        found += np.tril(found, -1).T
        found[np.diag_indices(self._n)] *= self._lift
        return found


def _row_function(cov: Covariance, code: PairsCode, vectors: Collection[str]) -> Pointwise:
    """Function of a pair of points: a weight times their covariance."""
    names = {n: f"own{i}" for i, n in enumerate(cov.parameters)}
    declared, body, inputs = [f"real {WEIGHT}"], list[str](), {}
    arguments = [Argument(WEIGHT)]
    for k, measure in enumerate(code.measures):
        arguments.append(Argument(f"part{k}", "vector" if measure.scaled else "real"))
        declared.append(f"{'const real *' if measure.scaled else 'real '}part{k}")
        if measure.scaled:
            scale = f"{names[measure.scaled]}[c]"
            body += [f"real seen{k} = 0;", f"for (int c = 0; c < dim; c++) seen{k} += part{k}[c] / ({scale} * {scale});"]
    for argument in cov.arguments:
        name = argument.name
        arguments.append(Argument(name, "vector" if name in vectors else argument.domain))
        declared.append(f"{'const real *' if name in vectors else 'real '}{names[name]}")
    for its, k in zip(cov.inputs, code.of_inputs, strict=True):
        inputs[its.name] = f"{'seen' if code.measures[k].scaled else 'part'}{k}"
    values = [*(inputs[i.name] for i in cov.inputs), *("1.0" if n in vectors else names[n] for n in cov.parameters)]
    functions = {**cov.functions, cov.function.name: cov.function}
    declared += ["int dim"] * bool(vectors)
    resolve = resolve_in(functions)
    text = f"real pair_covariance({', '.join(declared)})\n{{\n" + "\n".join(
        [*body, f"return {WEIGHT} * {cov.function.name}({', '.join(values)});"]
    ) + "\n}\n"  # fmt: skip
    made = unlike_others(parse(text, resolve, name="pair").functions["pair_covariance"], resolve)
    return Pointwise(cov.name, made, arguments, functions, cov.source)
