"""GLMs as a fit maximises them: starting values, derivatives, scores of observations, and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.arguments import elements_inside
from ..evaluation.results import as_host
from ..fits.bound_density import sample_of, start_in
from ..fits.estimates import Estimates
from ..fits.predictions import Prediction
from ..fits.problem import Expanded, Named, Problem, number_of
from ..parallel.rows import chunks, largest, read
from ..rows.sparse_matrix import is_sparse
from ..runtime.cached import cached_property
from ..runtime.types import Doubles, Shape, Value
from .data import Named as NamedTerm
from .data import as_numpy, table_shape
from .family import COEFFICIENTS, DESIGN, INTERCEPT, OBSERVATIONS, OFFSET, WEIGHTS
from .names import Names
from .new_data import new_data
from .new_observations import told
from .predictions import predicted


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

    @cached_property
    def _data(self) -> dict[str, Value]:
        """Observations and weights, where there are any."""
        glm = self._glm
        if glm._pieces is None and not glm._on_rows:
            columns = {OBSERVATIONS: glm._data.y, WEIGHTS: glm._data.weights}
            return {n: as_host(glm._runtime, c.array) for n, c in columns.items() if c is not None}
        return {n: v for n, v in glm._held().items() if n in (OBSERVATIONS, WEIGHTS)}

    @cached_property
    def n_observations(self) -> float:
        if (weights := self._data.get(WEIGHTS)) is None:
            return float(self.n_rows)
        return sum(number_of(read(weights, *rows, WEIGHTS)) for rows in chunks(self.n_rows, 1 << 20))

    def check(self) -> None:
        """ValueError where there are no observations, or weights are not numbers of these."""
        if not self.n_observations:
            raise ValueError(f"{'weights are all 0' if self.n_rows else 'y has no observations'}: there is nothing to fit")

    @cached_property
    def _n_outcomes(self) -> int:
        """Number of elements of a linear predictor that is a vector."""
        return int(largest(self._data[OBSERVATIONS], 0, OBSERVATIONS)) + 1

    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        glm = self._glm
        self.check()
        outcomes = (self._n_outcomes,) if self._vector else ()
        if COEFFICIENTS in given and self._vector:
            outcomes = np.shape(given[COEFFICIENTS])[-1:]
        shapes = {COEFFICIENTS: (glm._columns, *outcomes), INTERCEPT: (*[glm.n_groups] * (glm.n_groups is not None), *outcomes)}
        shapes |= {t.name: table_shape(t) for t in glm._terms}
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
        if not fit.converged:
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

    def complaint(self) -> str:
        held, y = self._glm._held(), self._family.density.log_density.arguments[0]
        for rows in chunks(self.n_rows, 1 << 20):
            for name in (OBSERVATIONS, DESIGN, OFFSET):
                if name not in held or is_sparse(held[name]):
                    continue
                values = as_numpy(read(held[name], *rows, name))
                fine = np.isfinite(values) & (elements_inside(y, values) if name == OBSERVATIONS else True)
                if len(bad := np.argwhere(~fine)):
                    value, row = values[tuple(bad[0])], rows[0] + bad[0][0]
                    if name == OBSERVATIONS and not np.isnan(value):
                        return f"y of {self._family.density.name} must be {y.domain}, and {value:g} at row {row} is not"
                    return f"{name} has {value} in row {row}: leave such rows out"
        return super().complaint()

    def score_sums(self, values: Named, wrt: Sequence[str], clusters: np.ndarray | None, n_clusters: int) -> Doubles:
        more = {} if clusters is None else {"clusters": clusters}
        found: Doubles = self._glm._score_sums(**values, wrt=tuple(wrt), n_clusters=n_clusters, **more)
        return found

    @property
    def formula(self) -> str | None:  # type: ignore[override]
        found: str | None = self._glm.formula
        return found

    @property
    def formula_terms(self) -> Mapping[str, tuple[str, Sequence[int]]]:  # type: ignore[override]
        design = self._names.design
        return {} if design is None else {n: (COEFFICIENTS, places) for n, places in design.places.items()}

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

    def predict(
        self, estimates: Estimates, X: ArrayLike, *, offset: ArrayLike | None = None,
        groups: ArrayLike | Mapping[str, ArrayLike] | None = None, new_groups: bool = False, noise: bool = False,
    ) -> Prediction:  # fmt: skip
        """Predictions for new rows: X (M, k), their offset, and their groups as `GLM` takes them, or a frame for a formula."""
        if new_groups:
            raise ValueError("new_groups=True is of random effects, and nothing tells the effects of new groups in a table")
        if estimates.covariance is None:
            raise NotImplementedError(f"predictions with errors from {len(estimates.labels)} parameters: 5,000 at most")
        glm, tables = self._glm, list(self._glm._terms)
        if glm.n_groups is not None and np.ndim(estimates[INTERCEPT]):
            tables.append(NamedTerm(INTERCEPT, None, glm.n_groups - 1))
        found = predicted(self._family, estimates, new_data(glm, estimates, tables, X, offset, groups))
        return told(found, X, self._family, estimates, noise)
