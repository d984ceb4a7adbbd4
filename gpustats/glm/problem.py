"""GLM as a fit maximises it: its likelihood, starting values, names, and predictions."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.results import as_host
from ..fits.bound_density import sample_of, start_in
from ..fits.estimates import Estimates
from ..fits.predictions import Prediction
from ..fits.problem import Expanded, Named, Problem
from ..parallel.rows import as_rows, chunks, largest, read
from ..runtime.types import Doubles, Shape, Value
from .data import as_numpy
from .family import COEFFICIENTS, DESIGN, INTERCEPT, OBSERVATIONS, OFFSET, WEIGHTS
from .names import Names

ROWS_PREDICTED = 1 << 14  # at once
#: Relative step of the differences of means, which have no derivatives.
MEAN_STEP = 1e-5


class GLMProblem(Problem):
    """GLM as a fit maximises it."""

    def __init__(self, glm: Any):
        self._glm, family = glm, glm._family
        self._family = family
        self._names: Names = glm._names
        self.name = f"GLM of {family.density.name}"
        words = {a.name: a.words for a in family.density.log_density.arguments}
        self.domains = {n: words.get(n, set()) if n in family.parameters else set() for n in glm.parameters}
        self.n_rows = glm.n_rows
        self._vector = family.vector
        self.single = np.dtype(glm._dtype).itemsize == 4

    @functools.cached_property
    def _data(self) -> dict[str, Value]:
        """Observations and weights, where there are any."""
        glm = self._glm
        if glm._pieces is None and not glm._on_rows:
            columns = {OBSERVATIONS: glm._data.y, WEIGHTS: glm._data.weights}
            return {n: as_host(glm._runtime, c.array) for n, c in columns.items() if c is not None}
        return {n: v for n, v in glm._held().items() if n in (OBSERVATIONS, WEIGHTS)}

    @functools.cached_property
    def n_observations(self) -> float:  # type: ignore[override]
        if (weights := self._data.get(WEIGHTS)) is None:
            return float(self.n_rows)
        return sum(float(np.sum(read(weights, *rows, WEIGHTS), dtype=float)) for rows in chunks(self.n_rows, 1 << 20))

    @functools.cached_property
    def _n_outcomes(self) -> int:
        """Number of elements of a linear predictor that is a vector."""
        return int(largest(self._data[OBSERVATIONS], 0, OBSERVATIONS)) + 1

    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        glm = self._glm
        if not self.n_rows:
            raise ValueError("y has no observations: there is nothing to fit")
        outcomes = (self._n_outcomes,) if self._vector else ()
        if COEFFICIENTS in given and self._vector:
            outcomes = np.shape(given[COEFFICIENTS])[-1:]
        shapes = {COEFFICIENTS: (glm._columns, *outcomes), INTERCEPT: (*[glm.n_groups] * (glm.n_groups is not None), *outcomes)}
        shapes |= {t.name: (t.largest + 1, *([] if t.columns is None else [t.columns])) for t in glm._terms}
        defaults = {n: np.asarray(v, float) for n, v in self._family.density.defaults.items()}
        defaults = {**self._without_columns(), **defaults}
        found = {}
        for name in self.domains:
            own = given.get(name, defaults.get(name))
            if own is None:
                own = np.zeros(shapes[name]) if name in shapes else self._start(name)
            elif name in shapes and own.ndim == 0 and name != INTERCEPT:
                own = np.full(shapes[name], float(own))
            if name == COEFFICIENTS and own.shape != shapes[name]:
                raise ValueError(f"beta has shape {own.shape}, and must have {shapes[name]}")
            if name in {t.name for t in glm._terms} and (own.ndim != len(shapes[name]) or own.shape[1:] != shapes[name][1:]):
                raise ValueError(f"{name} has shape {own.shape}, and must have {shapes[name]}")
            found[name] = own
        return found

    def _without_columns(self) -> dict[str, np.ndarray]:
        """Intercept and parameters of a density of any numbers, without columns: these may be far from 0 and 1."""
        density, family = self._family.density, self._family
        if "real" not in density.log_density.arguments[0].words or any(a.rank for a in density.log_density.arguments):
            return {}
        try:
            fit = density.fit(sample_of(self._data[OBSERVATIONS]))
        except ValueError:  # which the search from elsewhere tells in its own words
            return {}
        found = {n: np.asarray(fit[n], float) for n in family.parameters} | {INTERCEPT: np.asarray(fit[family.eta], float)}
        by_group = INTERCEPT if self._glm.n_groups is not None else ""
        return {n: v for n, v in found.items() if np.isfinite(v) and n != by_group}

    def _start(self, name: str) -> np.ndarray:
        """Value of a parameter of the density at which a search may begin."""
        words = self.domains[name]
        if not self._family.ranks[name]:
            return np.asarray(start_in(words))
        if "ordered" in words:
            return np.linspace(-1.0, 1.0, max(int(largest(self._data[OBSERVATIONS], 1, OBSERVATIONS)), 1))
        raise ValueError(f"{name} is a vector, whose length only a value tells: give start={{{name!r}: …}}")

    def expand(self, values: Named, wrt: Sequence[str], second: bool) -> Expanded:
        found: Expanded = self._glm._expanded(**values, wrt=tuple(wrt))
        return found

    def score_sums(self, values: Named, wrt: Sequence[str], clusters: np.ndarray | None, n_clusters: int) -> Doubles:
        more = {} if clusters is None else {"clusters": clusters}
        found: Doubles = self._glm._score_sums(**values, wrt=tuple(wrt), n_clusters=n_clusters, **more)
        return found

    @property
    def formula(self) -> str | None:  # type: ignore[override]
        found: str | None = self._glm.formula
        return found

    @property
    def known(self) -> Named:  # type: ignore[override]
        """Of formulas: an intercept that they do not have, also beside cutpoints, and coefficients of the first outcome."""
        design = self._names.design
        if design is None:
            return {}
        cutpoints = any("ordered" in words for words in self.domains.values())
        without = {INTERCEPT: 0.0} if cutpoints or not design.intercept else {}
        if cutpoints and self._names.columns == ("Intercept",):
            without[COEFFICIENTS] = 0.0
        if not self._vector:
            return without
        first = np.append(0.0, np.full(self._n_outcomes - 1, np.nan))
        return {COEFFICIENTS: np.tile(first, (self._glm._columns, 1)), INTERCEPT: first} | without

    def labels(self, name: str, shape: Shape) -> Sequence[str]:
        return self._names.labels(name, shape, self.domains)

    def described(self, label: str) -> str:
        if self._names.columns:
            return label
        column = label.partition("[")[2].rstrip("]").split(",")[0]
        return f"{label} (column {column} of X)" if label.startswith(f"{COEFFICIENTS}[") else label

    # -- predictions

    def predict(
        self, estimates: Estimates, X: ArrayLike, *, offset: ArrayLike | None = None,
        groups: ArrayLike | Mapping[str, ArrayLike] | None = None,
    ) -> Prediction:  # fmt: skip
        """Predictions for new rows: X (M, k), their offset, and their groups as `GLM` takes them, or a frame for a formula."""
        if estimates.covariance is None:
            raise NotImplementedError(f"predictions with errors from {len(estimates.labels)} parameters: 5,000 at most")
        X, offset, groups = self._names.new_rows(X, offset, groups)
        X, glm = np.asarray(as_numpy(as_rows(X, DESIGN)), float), self._glm
        if X.ndim != 2 or X.shape[1] != glm._columns:
            raise ValueError(f"X has shape {X.shape}, and must have the {glm._columns} columns of the fit")
        given = {} if groups is None else dict(groups) if isinstance(groups, Mapping) else {INTERCEPT: groups}
        self._check_groups(given, estimates, len(X))
        shift = np.zeros(len(X)) if offset is None else np.asarray(offset, float)
        if shift.shape != (len(X),):
            raise ValueError(f"{OFFSET} has shape {shift.shape}, and X has {len(X)} rows: it must be ({len(X)},)")
        outcomes = estimates[COEFFICIENTS].shape[1] if self._vector else 1
        found = [self._predicted(estimates, X, shift, given, c) for c in range(outcomes)]
        if self._vector:
            return Prediction(np.stack([f[0] for f in found], -1), np.stack([f[1] for f in found], -1), None, None)
        return Prediction(*found[0])

    def _check_groups(self, given: Mapping[str, Any], estimates: Estimates, n: int) -> None:
        needed = {t.name: t.columns for t in self._glm._terms}
        if self._glm.n_groups is not None and np.ndim(estimates[INTERCEPT]) and INTERCEPT not in needed:
            needed[INTERCEPT] = None
        if given.keys() != needed.keys():
            listed = ", ".join(needed) or "none"
            raise ValueError(f"groups has {', '.join(given) or 'none'}, and the fit has groups for {listed}")
        for name, value in given.items():
            index, Z = value if needed[name] is not None else (value, None)
            index, levels = np.asarray(index), np.shape(estimates[name])[0]
            if index.shape != (n,) or index.dtype.kind not in "iu":
                raise ValueError(f"groups of {name} must be ({n},) whole numbers, not {index.dtype} of shape {index.shape}")
            if index.size and (index.min() < 0 or index.max() >= levels):
                unseen = index[(index < 0) | (index >= levels)][0]
                raise ValueError(f"groups of {name} has {unseen}, which the fit has not seen: its groups are 0 to {levels - 1}")
            if Z is not None and np.shape(Z) != (n, needed[name]):
                raise ValueError(f"columns of groups of {name} have shape {np.shape(Z)}, and must have ({n}, {needed[name]})")

    def _predicted(
        self, estimates: Estimates, X: np.ndarray, shift: np.ndarray, groups: Mapping[str, Any], c: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Linear predictor of an outcome, the mean, and their standard errors."""
        slopes = np.zeros((len(X), sum(np.size(estimates[n]) for n in estimates.free)))
        eta, places, at = shift.copy(), dict[str, int](), 0
        for name in estimates.free:
            places[name], at = at, at + np.size(estimates[name])
        for name in (COEFFICIENTS, INTERCEPT, *(t.name for t in self._glm._terms)):
            value = np.asarray(estimates[name])
            columns, elements = self._columns_of(name, value, X, groups, c)
            eta += (columns * value.ravel()[elements]).sum(1)
            if name in places:
                np.put_along_axis(slopes, places[name] + np.broadcast_to(elements, columns.shape), columns, 1)
        assert estimates.fitted is not None
        covariance, free = np.asarray(estimates.covariance), estimates.fitted.free
        covariance = np.where(np.isnan(covariance), 0.0, covariance)  # what is at a bound stays there
        errors = _spread(slopes[:, free], covariance)
        if self._vector or (mean := self.mean(estimates, eta)) is None:
            return eta, errors, None, None
        step = MEAN_STEP * np.maximum(np.abs(eta), 1)
        slope = (self.mean(estimates, eta + step) - self.mean(estimates, eta - step)) / (2 * step)
        of_mean = slopes * slope[:, None]
        for name in self._family.parameters:
            value = np.asarray(estimates[name], float)
            for i in range(value.size if name in places else 0):
                wide = MEAN_STEP * max(abs(value.flat[i]), 1e-3)
                unit = wide * (np.arange(value.size) == i).reshape(value.shape)
                up, down = (self.mean(estimates, eta, {name: (value + s * unit)[()]}) for s in (1, -1))
                of_mean[:, places[name] + i] = (up - down) / (2 * wide)
        return eta, errors, mean, _spread(of_mean[:, free], covariance)

    def _columns_of(
        self, name: str, value: np.ndarray, X: np.ndarray, groups: Mapping[str, Any], c: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Columns (M, m) by which elements of a parameter count in the linear predictor, and the numbers of the elements."""
        ones = np.ones((len(X), 1))
        if name == COEFFICIENTS:
            return X, np.arange(X.shape[1])[None] * (value.size // X.shape[1]) + c
        width = value.shape[-1] if self._vector and value.ndim and value.shape[-1] > 1 else 1
        if name not in groups:
            return ones, np.full((1, 1), c if width > 1 else 0)
        index, Z = groups[name] if isinstance(groups[name], tuple) else (groups[name], None)
        index = np.asarray(index)[:, None]
        if Z is None:
            return ones, index * width + (c if width > 1 else 0)
        return np.asarray(Z, float), index * value.shape[1] + np.arange(value.shape[1])

    def mean(self, estimates: Estimates, eta: np.ndarray, changed: Mapping[str, Value] | None = None) -> Any:
        """Mean of the density at linear predictors; None where it has none."""
        values = {n: estimates[n] for n in self._family.parameters} | dict(changed or {})
        try:
            return np.asarray(self._family.density.mean(**{self._family.eta: eta}, **values), float)
        except (AttributeError, NotImplementedError):
            return None


def _spread(slopes: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Standard errors of linear functions of the estimates."""
    found = np.empty(len(slopes))
    for first in range(0, len(slopes), ROWS_PREDICTED):
        own = slopes[first : first + ROWS_PREDICTED]
        found[first : first + ROWS_PREDICTED] = np.sqrt(np.einsum("ni,ni->n", own @ covariance, own).clip(0))
    return found
