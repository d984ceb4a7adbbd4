"""Parts of a marginal likelihood: the models of rows and the priors, with the effects and parameters that they have."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..distribution.frozen import Frozen
from ..fits.bound_density import start_in
from ..rows.fitting import RowsProblem
from ..rows.leaves import Column
from ..rows.model import Rows
from ..rows.second_derivatives import reason_against
from ..runtime.types import Shape
from .blocks import layout_of
from .effects import Effects
from .mode import Search
from .normal_rows import NormalRows
from .priors import prior_term
from .rows_term import RowsTerm, Term


class Parts:
    """Parts of a marginal likelihood, from the arguments of `gpustats.LaplaceMarginal`.

    Attributes
    ----------
    rows : tuple of Rows
    priors : dict
        Effect -> its prior or None.
    effects : Effects
    terms : list of Term
    domains : dict
        Parameter -> words of its domain.
    ranks : dict
        Parameter -> number of its axes.
    covariances : dict
        Parameter that is a covariance matrix -> number of its rows.
    """

    def __init__(
        self, rows: Rows | Sequence[Rows], effects: Mapping[str, Frozen | None] | Collection[str],
        start: Mapping[str, Any] | None,
    ):  # fmt: skip
        self.rows = (rows,) if isinstance(rows, Rows) else tuple(rows)
        self.priors = dict(effects) if isinstance(effects, Mapping) else dict.fromkeys(_names(effects))
        self._check()
        self.name = " and ".join(dict.fromkeys(model._bound.row.name for model in self.rows))
        self.problems = [RowsProblem(model) for model in self.rows]
        self.effects = Effects(self._starts(dict(start or {})))
        self.terms: list[Term] = [
            RowsTerm(model, self.effects, problem.domains) for model, problem in zip(self.rows, self.problems, strict=True)
        ]
        self.terms += [prior_term(n, prior, self.effects) for n, prior in self.priors.items() if prior is not None]
        self.domains: dict[str, frozenset[str]] = {}
        for term in self.terms:
            for name, words in term.domains.items():
                if name not in self.effects.shapes:
                    self.domains[name] = self.domains.get(name, frozenset()) | frozenset(words)
        of_rows = [term for term in self.terms if isinstance(term, NormalRows)]
        self.covariances = {term.covariance: term.width for term in of_rows if isinstance(term.covariance, str)}
        self.ranks = {n: 2 if "covariance" in words else 0 for n, words in self.domains.items()}
        for model in self.rows:
            self.ranks |= {n: p.rank for n, p in model._bound.parameters.items() if n in self.domains}

    def search(self) -> Search:
        """Search for modes of the effects."""
        return Search(self.effects, self.terms, layout_of(self.effects, self.terms), self.single)

    @property
    def single(self) -> bool:
        """True if some rows are computed in float32."""
        return any(problem.single for problem in self.problems)

    def without_mode(self, why: str) -> str:
        """Words for an error where there is no mode."""
        lacking = [n for n, prior in self.priors.items() if prior is None]
        cure = f"; a prior gives one, {{{lacking[0]!r}: gs.normal(0.0, 'tau')}}" if lacking else ""
        return f"the effects of {self.name} have no mode given the parameters: {why}{cure}"

    def _check(self) -> None:
        if not self.rows or not all(isinstance(model, Rows) for model in self.rows):
            raise TypeError("rows must be gs.Rows, or several of them")
        known = list(dict.fromkeys(n for model in self.rows for n in model.parameters))
        if not self.priors:
            raise ValueError(f"effects has no names: it must have some of {', '.join(known)}")
        for name in self.priors:
            if name not in known:
                raise ValueError(f"effects: the rows have no parameter {name!r}; their parameters are {', '.join(known)}")
        for model in self.rows:
            if why := reason_against(model._bound):
                raise NotImplementedError(f"{why}: effects are integrated out of rows of numbers and vectors")
            model._refuse_own_rows([n for n in self.priors if n in model.parameters])

    def _starts(self, given: dict[str, Any]) -> dict[str, np.ndarray]:
        """Value of each effect at which searches begin."""
        if unknown := given.keys() - self.priors.keys():
            raise ValueError(f"start: {unknown.pop()!r} is no effect; the effects are {', '.join(self.priors)}")
        found = dict[str, np.ndarray]()
        for name in self.priors:
            own = [model for model in self.rows if name in model.parameters]
            shapes = [shape for model in own if (shape := self._shape(name, model)) is not None]
            if name in given:
                found[name] = np.array(given[name], float)
                if not np.isfinite(found[name]).all():
                    raise ValueError(f"start: {name} has a number that is not finite")
            elif not shapes:
                raise ValueError(f"nothing tells the shape of {name}: give start={{{name!r}: …}}")
            else:
                shape = tuple(max(axis) for axis in zip(*shapes, strict=True))
                words = next(problem.domains[name] for problem in self.problems if name in problem.domains)
                found[name] = np.full(shape, start_in(words))
            for model in own:
                parameter = model._bound.parameters[name]
                if found[name].ndim != parameter.rank:
                    raise ValueError(f"start: {name} has shape {found[name].shape}, and must have {parameter.rank} axes")
                if model.n_rows is not None:
                    parameter.check(found[name].shape, model.n_rows)
        return found

    def _shape(self, name: str, model: Rows) -> Shape | None:
        """Shape of an effect, where rows tell it."""
        parameter, bound = model._bound.parameters[name], model._bound
        known = any(n in bound.vectors and isinstance(leaf, Column) for n, leaf in bound.leaves.items())
        if model.n_rows is None or (parameter.of_vectors and not known):
            return None
        return parameter.example_shape(model.n_rows, bound.example_length)


def _names(effects: Collection[str]) -> tuple[str, ...]:
    return (effects,) if isinstance(effects, str) else tuple(effects)
