"""Mode of the effects given parameters, and the normal approximation around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..fits.bordered import Bordered
from ..fits.climb import MOST_NAMED, Point, climb, most_moved
from ..fits.symmetric import Symmetric, SymmetricFactor
from ..linalg.threads import as_many_as_free
from ..rows.matrix_layout import MatrixLayout
from ..runtime.types import Doubles
from .effects import Effects
from .rows_term import Term, Values

#: Part of a diagonal element that is left when the others are eliminated, below which nothing tells effects apart.
LEAST_PIVOT = 1e-11
MOST_STEPS = 200
#: Distance of the mode, in standard errors, from where derivatives were last computed, up to which the integral is right to
#: rounding, relative to the value.
NEARBY = 1e-14
MOST_DENSE_EIGENVALUES = 1000  # rows of a matrix whose eigenvectors are computed


@dataclass(frozen=True)
class Mode:
    """Effects at which what is integrated is largest.

    Attributes
    ----------
    effects : (d,) ndarray
    value : float
        Logarithm of what is integrated, there.
    factor : SymmetricFactor
        Of the second derivatives with their sign changed.
    """

    effects: Doubles
    value: float
    factor: SymmetricFactor

    @property
    def log_integral(self) -> float:
        """Laplace's approximation of the logarithm of the integral over the effects."""
        return self.value + 0.5 * len(self.effects) * math.log(2 * math.pi) - 0.5 * self.factor.log_det


class NoMode(Exception):
    """No mode was found, or there is none; the text says why."""


class Search:
    """Search for modes.

    Parameters
    ----------
    effects : Effects
    terms : sequence of Term
    layout : Layout
    single : bool
        Whether terms are computed in float32.
    """

    def __init__(self, effects: Effects, terms: Sequence[Term], layout: MatrixLayout[Symmetric], single: bool):
        self._effects, self._terms, self._layout, self._single = effects, terms, layout, single

    def expanded(self, vector: Doubles, parameters: Values) -> Point:
        """Logarithm of what is integrated, and its derivatives in the effects."""
        values = {**parameters, **self._effects.by_name(vector)}
        layout = self._layout.ready(lambda own: [term.expanded(values, own) for term in self._terms])
        first, *others = (term.expanded(values, layout) for term in self._terms)
        total = sum(others, start=first)
        assert total.hessian is not None
        return Point(total.value, total.gradient, total.hessian)

    def mode(self, parameters: Values, start: Doubles) -> Mode:
        """Mode from a start; NoMode where there is none."""

        def evaluate(vector: Doubles) -> Point:
            return self.expanded(vector, parameters)

        begin = evaluate(start)
        if not begin.finite:
            raise NoMode(f"the log-likelihood is {begin.value} where the search begins, or its derivatives are not finite")
        d = self._effects.size
        endless = np.full(d, np.inf)
        with as_many_as_free(self._layout.work):
            climbed = climb(
                evaluate, start, pinned=np.zeros(d, bool), low=-endless, high=endless, longest=endless, limit=MOST_STEPS,
                single=self._single, begin=begin,
            )  # fmt: skip
        information = -climbed.found.hessian
        factor = information.factor()
        if climbed.runaway is not None:
            raise NoMode(f"it grows for ever in the direction of {self._listed(most_moved(climbed.runaway))}")
        if factor is None or factor.least_pivot < LEAST_PIVOT:
            raise NoMode(self._level(information))
        if not climbed.converged:
            raise NoMode(f"the search for the mode has {climbed.message}")
        found = climbed.found
        distance = math.sqrt(found.gradient @ factor.solve(found.gradient))
        if distance > NEARBY * (1 + abs(found.value)) and not self._single:
            found = evaluate(climbed.point)
            factor = (-found.hessian).factor()
        if factor is None:
            raise NoMode(self._level(-found.hessian))
        return Mode(climbed.point, found.value, factor)

    def _level(self, information: Symmetric) -> str:
        """Why a matrix of second derivatives, with its sign changed, is not positive definite."""
        diagonal = information.diagonal()
        if (bad := np.flatnonzero(~(diagonal > 0))).size:
            return f"it does not bend down in {self._listed(bad[:MOST_NAMED])}"
        scaled, direction = information.scaled(1 / np.sqrt(diagonal)), np.zeros(information.size)
        if information.size <= MOST_DENSE_EIGENVALUES:
            direction = np.linalg.eigh(scaled.toarray())[1][:, 0]
        elif isinstance(scaled, Bordered) and scaled.block_places.size:
            least, along = np.linalg.eigh(scaled.blocks)
            worst = int(least[:, 0].argmin())
            direction[scaled.block_places[worst]] = along[worst, :, 0]
        else:
            return "nothing tells some of them apart"
        return f"nothing tells {self._listed(most_moved(direction))} apart, or it bends upward there"

    def _listed(self, places: Sequence[int] | np.ndarray) -> str:
        return ", ".join(self._effects.label(int(i)) for i in places)
