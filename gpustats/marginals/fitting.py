"""Marginal likelihood as a fit maximises it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..fits.bound_density import start_in
from ..fits.problem import Expanded, Named, Problem
from ..runtime.types import Shape
from .mode import Mode
from .parts import Parts


class LaplaceProblem(Problem):
    """Marginal likelihood of a model of rows as a fit maximises it; derivatives of first order are exact."""

    def __init__(self, parts: Parts, mode: Callable[[Mapping[str, Any]], Mode], marginal: Any):
        self._parts, self._mode, self._marginal = parts, mode, marginal
        self.name, self.domains = parts.name, parts.domains
        self.n_observations = sum(problem.n_observations for problem in parts.problems if problem.has_data)
        self.single = parts.single

    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        parts, found = self._parts, dict(given)
        effects = parts.effects.by_name(parts.effects.start)
        for problem in (p for p in parts.problems if p.n_rows is not None):
            own = {n: v for n, v in {**found, **effects}.items() if n in problem.domains}
            found |= {n: v for n, v in problem.starts(own).items() if n not in effects}
        unknown = {n: np.asarray(start_in(words)) for n, words in parts.domains.items()}
        unknown |= {n: np.eye(m) for n, m in parts.covariances.items()}
        found = {n: np.asarray(found.get(n, unknown[n]), float) for n in parts.domains}
        self._mode(found)  # tells why there is none
        return found

    def expand(self, values: Named, wrt: Sequence[str], second: bool) -> Expanded:
        value, slopes = self._marginal.value_and_grad(**values, wrt=tuple(wrt))
        return Expanded(float(value), np.concatenate([np.ravel(slopes[n]).astype(float) for n in wrt]))

    def labels(self, name: str, shape: Shape) -> Sequence[str]:
        own = next((problem for problem in self._parts.problems if name in problem.domains), None)
        return super().labels(name, shape) if own is None else own.labels(name, shape)

    def exact_in(self, wrt: Sequence[str]) -> bool:
        return False
