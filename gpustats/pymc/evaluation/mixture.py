"""From PyTensor's arrays to a mixture on a device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ...draws.discrete import sample_discrete
from ...draws.generator import Generator
from ...evaluation.gradient import reduced
from ...mixtures.mixture import Mixture
from .density import Evaluator, Formula, in_one_process

_WEIGHTS = "log_weights"


class MixtureFormula(Formula):
    """A mixture of components of one density.

    Its arguments are the observation, the logarithms of the weights, and the density's parameters with an axis of components
    in front of those of a value, whose length may be 1.

    Parameters
    ----------
    component : Formula
    """

    def __init__(self, component: Formula):
        self.component = component
        self.density, self.kind, self.words = component.density, component.kind, component.words
        self.name = f"{component.name}_mixture"
        observation, *parameters = component.names
        if _WEIGHTS in parameters:
            raise ValueError(f"{component.name} has a parameter called {_WEIGHTS!r}, as a mixture has itself: rename it")
        self.names = (observation, _WEIGHTS, *parameters)
        self.key = ("mixture", *component.key)
        self.ranks = (component.ranks[0], 1, *(r + 1 for r in component.ranks[1:]))
        self.domains = (component.domains[0], "vector", *component.domains[1:])
        of_sets = {0: "(k)", 1: "(k,d)", 2: "(k,d,d)"}
        self.cores = (component.cores[0], "(k)", *(of_sets[r] for r in component.ranks[1:]))
        moved = [i + 1 if i else 0 for i in component.differentiable]
        self.differentiable = tuple(sorted([1, *moved]))

    def of_kind(self, kind: str) -> Formula:
        return MixtureFormula(self.component.of_kind(kind))

    def evaluator(self, known: Mapping[int, np.ndarray]) -> Evaluator:
        return MixtureEvaluator(self, known)

    def __reduce__(self) -> tuple:
        return MixtureFormula, (self.component,)


class MixtureEvaluator(Evaluator):
    """A mixture's values, sums, gradients and draws at arguments of which some never change.

    With one set of components for all observations, a `gpustats.Mixture` does it. Where the components or their weights vary,
    from one observation to the next or over further axes, the densities of all components are written.
    """

    formula: MixtureFormula

    def __init__(self, formula: MixtureFormula, known: Mapping[int, np.ndarray]):
        super().__init__(formula, known)
        self._component = formula.component.evaluator({})
        self._bound: Mixture | None = None

    @in_one_process
    def table(self, values: Sequence[np.ndarray]) -> np.ndarray:
        arguments = self._merge(values)
        if not self._one_set(arguments):
            return logsumexp(self._terms(arguments)[0], axis=-1)
        mixture, (weights, *by_place), by_name = self._call(arguments)
        shape = np.broadcast_shapes(*(self._batch(v, i) for i, v in enumerate(arguments)))
        return np.asarray(mixture.logpdf(weights, *by_place, **by_name)).reshape(shape)

    @in_one_process
    def sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        arguments = self._merge(values)
        if not self._one_set(arguments):
            total = logsumexp(self._terms(arguments)[0], axis=-1)
            return [np.asarray(total.sum()), *(self.weighted(values, np.ones(total.shape), wrt) if wrt else ())]
        mixture, (weights, *by_place), by_name = self._call(arguments)
        if not wrt:
            return [np.asarray(mixture.loglik(weights, *by_place, **by_name))]
        names = [self.formula.names[i] for i in wrt]
        value, gradients = mixture.value_and_grad(weights, *by_place, wrt=names, **by_name)
        return [np.asarray(value), *(np.reshape(gradients[n], arguments[i].shape) for i, n in zip(wrt, names, strict=True))]

    @in_one_process
    def weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        arguments = self._merge(values)
        terms, given = self._terms(arguments)
        with np.errstate(invalid="ignore"):  # where all components have a density of 0
            shares = np.where(terms == -np.inf, 0.0, np.exp(terms - logsumexp(terms, axis=-1, keepdims=True)))
        shares = shares * np.reshape(weight, (*np.shape(weight), 1))
        ranks = self.formula.component.ranks
        shape = np.broadcast_shapes(*(v.shape[: v.ndim - r] for v, r in zip(given, ranks, strict=True)))
        inner = [i - 1 if i else 0 for i in wrt if i != 1]
        # The derivative of the mixture is that of its components, each times its share.
        found = iter(self._component.weighted(given, reduced(shares, shape), tuple(inner)) if inner else ())
        return [np.reshape(reduced(shares, arguments[1].shape) if i == 1 else next(found), arguments[i].shape) for i in wrt]

    @in_one_process
    def draws(
        self, parameters: Sequence[np.ndarray], size: tuple[int, ...], length: int | None, rng: Generator
    ) -> np.ndarray:
        """Of parameters that begin with the weights themselves: the components first, then from each of them."""
        weights, *rest = parameters
        rows = np.broadcast_to(weights, (*size, weights.shape[-1])) if weights.ndim > 1 else weights
        labels = np.asarray(sample_discrete(rows, size=None if weights.ndim > 1 else size, rng=rng))
        ranks = self.formula.component.ranks[1:]
        result = None
        for k in range(weights.shape[-1]):
            mine = labels == k
            own = [_rows_of(_component(p, k, r), r, mine) for p, r in zip(rest, ranks, strict=True)]
            drawn = self._component.draws(own, (np.count_nonzero(mine),), length, rng)
            if result is None:
                result = np.empty(size + drawn.shape[1:], drawn.dtype)
            result[mine] = drawn
        assert result is not None
        return result

    # -- arguments

    def _batch(self, value: np.ndarray, i: int) -> tuple[int, ...]:
        return value.shape[: value.ndim - self.formula.ranks[i]]

    def _one_set(self, arguments: Sequence[np.ndarray]) -> bool:
        return self.formula.kind == "logpdf" and all(
            math.prod(self._batch(v, i)) == 1 for i, v in enumerate(arguments) if i
        )

    def _call(self, arguments: Sequence[np.ndarray]) -> tuple[Mixture, list[np.ndarray], dict[str, Any]]:
        """The mixture of all observations; the weights and the parameters that it takes by place; those by name."""
        x, *sets = arguments
        mixture = self._bound
        if mixture is None:
            mixture = Mixture(self.formula.density, x.reshape(-1, *x.shape[x.ndim - self.formula.ranks[0] :]))
            if 0 in self.known:
                self._bound = mixture
        ranks = self.formula.ranks[1:]
        weights, *parameters = (v.reshape(v.shape[v.ndim - r :]) for v, r in zip(sets, ranks, strict=True))
        by_place, by_name = self._component.passed(parameters)
        return mixture, [weights, *by_place], by_name

    def _terms(self, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
        """For each component, along the last axis, the logarithm of its weighted density; and what the component takes."""
        x, weights, *parameters = arguments
        given = [np.expand_dims(x, x.ndim - self.formula.ranks[0]), *parameters]
        return np.where(weights == -np.inf, -np.inf, weights + self._component.table(given)), given


def _component(parameter: np.ndarray, k: int, rank: int) -> np.ndarray:
    """The parameter of one component; those of all may be the same."""
    axis = parameter.ndim - rank - 1
    return parameter.take(k if parameter.shape[axis] > 1 else 0, axis)


def _rows_of(parameter: np.ndarray, rank: int, mine: np.ndarray) -> np.ndarray:
    """The parameters of some draws, where each draw has its own."""
    core = parameter.shape[parameter.ndim - rank :]
    return np.broadcast_to(parameter, mine.shape + core)[mine] if parameter.ndim > rank else parameter
