"""Mixture in a graph: from PyTensor's arrays to its sums, gradients and draws on a device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ...draws.discrete import sample_discrete
from ...draws.generator import Generator
from ...evaluation.compiled import RepeatedSum
from ...evaluation.gradient import reduced
from ...mixtures.mixture import Mixture
from .batches import batch_of, common_batch, core_of, values_at
from .density import DensityFormula
from .formula import Evaluator, Formula, FormulaArgument, LogFunction

_WEIGHTS = "log_weights"
#: a parameter's core -> the same with an axis of components
_CORES_OF_COMPONENTS = {"()": "(k)", "(d)": "(k,d)", "(d,d)": "(k,d,d)"}


class MixtureFormula(Formula):
    """Log-density of a mixture of components of one density, or its distribution function.

    Its arguments are the observation, the logarithms of the weights, and the density's parameters with an axis of components
    in front of those of a value, whose length may be 1.
    """

    def __init__(self, component: DensityFormula):
        self.component, self.density = component, component.density
        observation, *parameters = component.arguments
        if _WEIGHTS in component.names[1:]:
            raise ValueError(f"{component.name} has a parameter called {_WEIGHTS!r}, as a mixture has itself: rename it")
        weights = FormulaArgument(_WEIGHTS, "(k)", "vector")
        of_components = [a._replace(core=_CORES_OF_COMPONENTS[a.core]) for a in parameters]
        key = ("mixture", *component.key)
        super().__init__(
            f"{component.name}_mixture", [observation, weights, *of_components], key, component.discrete, component.kind
        )

    def of_kind(self, kind: LogFunction) -> MixtureFormula:
        return MixtureFormula(self.component.of_kind(kind))

    def evaluator(self, known: Mapping[int, np.ndarray]) -> MixtureEvaluator:
        return MixtureEvaluator(self, known)

    def __reduce__(self) -> tuple:
        return MixtureFormula, (self.component,)


class MixtureEvaluator(Evaluator):
    """Log-densities of a mixture, its sums, gradients and draws, at arrays of which some never change.

    With one set of components for all observations, a `gpustats.Mixture` has the answers. Where the components or their weights
    vary, from one observation to the next or over further axes, the densities of all components are written.
    """

    formula: MixtureFormula

    def __init__(self, formula: MixtureFormula, known: Mapping[int, np.ndarray]):
        super().__init__(formula, known)
        self._component = formula.component.evaluator({})
        self._mixture: Mixture | None = None  # bound to the observations, where these never change

    def table(self, values: Sequence[np.ndarray]) -> np.ndarray:
        arguments = self.all_arguments(values)
        if not self._one_set(arguments):
            return self._table_of_varying(arguments)
        mixture, by_place, by_name = self._mixture_and_parameters(arguments)
        return np.asarray(mixture.logpdf(*by_place, **by_name)).reshape(common_batch(arguments, self.formula.ranks))

    def sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        arguments = self.all_arguments(values)
        if self._one_set(arguments):
            return self._sums_of_one_set(arguments, wrt)
        table = self._table_of_varying(arguments)
        return [np.asarray(table.sum()), *(self._weighted(arguments, np.ones(table.shape), wrt) if wrt else ())]

    def weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        return self._weighted(self.all_arguments(values), weight, wrt)

    def refuses(self, values: Sequence[np.ndarray], terms: np.ndarray | None = None) -> bool:
        """True if parameters are invalid, as `Evaluator.refuses` tells; invalid weights have no logarithm."""
        return bool(np.isnan(self.all_arguments(values)[1]).any()) or super().refuses(values, terms)

    def draws(self, parameters: Sequence[np.ndarray], size: tuple[int, ...], length: int | None, rng: Generator) -> np.ndarray:
        """Draws of a mixture, as `Evaluator.draws` gives them, of parameters that begin with the weights themselves.

        The component of each draw comes first, then all draws from each component.
        """
        weights, *component_parameters = parameters
        rows = np.broadcast_to(weights, (*size, weights.shape[-1])) if weights.ndim > 1 else weights
        labels = np.asarray(sample_discrete(rows, size=None if weights.ndim > 1 else size, rng=rng))
        ranks = self.formula.component.ranks[1:]
        result = None
        for k in range(weights.shape[-1]):
            chosen = labels == k
            by_parameter = zip(component_parameters, ranks, strict=True)
            values = [values_at(_of_component(p, k, r), r, size, chosen) for p, r in by_parameter]
            drawn = self._component.draws(values, (int(np.count_nonzero(chosen)),), length, rng)
            if result is None:
                result = np.empty(size + drawn.shape[1:], drawn.dtype)
            result[chosen] = drawn
        assert result is not None
        return result

    # -- one set of components for all observations

    def _one_set(self, arguments: Sequence[np.ndarray]) -> bool:
        """True if there is one set of weights and parameters, and the log-density is asked for."""
        sets = zip(arguments[1:], self.formula.ranks[1:], strict=True)
        return self.formula.kind is LogFunction.LOGPDF and all([math.prod(batch_of(v, r)) == 1 for v, r in sets])

    def _sums_of_one_set(self, arguments: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        mixture, by_place, by_name = self._mixture_and_parameters(arguments)
        if not wrt:
            return [np.asarray(mixture.loglik(*by_place, **by_name))]
        names = [self.formula.names[i] for i in wrt]
        value, gradients = mixture.value_and_grad(*by_place, wrt=names, **by_name)
        return [np.asarray(value), *[np.reshape(gradients[n], arguments[i].shape) for i, n in zip(wrt, names, strict=True)]]

    def compiled(
        self, shapes: Sequence[tuple[int, ...]], wrt: tuple[int, ...], n_sets: int | None = None
    ) -> RepeatedSum | None:
        arguments = self.all_arguments([np.ones(shape) for shape in shapes])
        if 0 not in self.known or not self._one_set(arguments):
            return None
        mixture, (weights, *parameters), by_name = self._mixture_and_parameters(arguments)
        if by_name:
            return None
        names = self.formula.names
        given = dict(zip(names[1:], (weights, *parameters), strict=True))
        if n_sets is not None:
            given = {n: np.broadcast_to(v, (n_sets, *np.shape(v))) for n, v in given.items()}
        found = mixture.compiled(given, [names[i] for i in wrt], n_sets)
        return found and found.fix({names[i]: value for i, value in self.known.items() if i})

    def sums_of_sets(self, values: Sequence[np.ndarray], n_sets: int, wrt: tuple[int, ...]) -> list[np.ndarray] | None:
        one = self.all_arguments([v[0] for v in values])
        if 0 not in self.known or not self._one_set(one):
            return None
        mixture, (weights, *parameters), by_name = self._mixture_and_parameters(one)
        if by_name or any(np.ndim(p) > 1 for p in parameters):
            return None
        of_sets = self.known | dict(zip(self.free, values, strict=True))
        given = {}
        for i, name in enumerate(self.formula.names[1:], 1):
            lines = of_sets[i].reshape(-1 if i in self.free else 1, *core_of(one[i], 1))
            given[name] = np.broadcast_to(lines, (n_sets, len(weights)))
        names = [self.formula.names[i] for i in wrt]
        if (found := mixture.sums_of_sets(given, names)) is None:
            return None
        totals, slopes = found
        results = [totals]
        for i, name in zip(wrt, names, strict=True):
            slope = slopes[name]
            if one[i].size == 1:  # which all components share
                slope = slope.sum(1)
            results.append(slope.reshape(n_sets, *one[i].shape))
        return results

    def _mixture_and_parameters(self, arguments: Sequence[np.ndarray]) -> tuple[Mixture, list[Any], dict[str, Any]]:
        """Mixture of all observations, and its methods' arguments by place, the weights first, and by name."""
        x, *sets = arguments
        mixture = self._mixture
        if mixture is None:
            mixture = Mixture(self.formula.density, x.reshape(-1, *core_of(x, self.formula.ranks[0])))
            if 0 in self.known:
                self._mixture = mixture
        weights, *parameters = [v.reshape(core_of(v, r)) for v, r in zip(sets, self.formula.ranks[1:], strict=True)]
        parameters = [v.item() if v.shape == (1,) else v for v in parameters]  # that all components share
        by_place, by_name = self.formula.component.as_call(parameters)
        return mixture, [weights, *by_place], by_name

    # -- components or weights that vary

    def _component_arguments(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Arguments of the component's density.

        Their last leading axis is the components', of length 1 in observations.
        """
        x, _, *parameters = arguments
        return [np.expand_dims(x, x.ndim - self.formula.ranks[0]), *parameters]

    def _weighted_densities(self, arguments: Sequence[np.ndarray]) -> np.ndarray:
        """Logarithm of each component's density times its weight, with components along the last axis."""
        weights = arguments[1]
        return np.where(weights == -np.inf, -np.inf, weights + self._component.table(self._component_arguments(arguments)))

    def _table_of_varying(self, arguments: Sequence[np.ndarray]) -> np.ndarray:
        return logsumexp(self._weighted_densities(arguments), axis=-1)

    def _weighted(self, arguments: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        """Derivatives of the sum of weight × log-density.

        The derivative of a mixture is that of its components, each times its share of the density.
        """
        terms, of_component = self._weighted_densities(arguments), self._component_arguments(arguments)
        with np.errstate(invalid="ignore"):  # where all components have a density of 0
            shares = np.where(terms == -np.inf, 0.0, np.exp(terms - logsumexp(terms, axis=-1, keepdims=True)))
        shares = shares * np.reshape(weight, (*np.shape(weight), 1))
        batch = common_batch(of_component, self.formula.component.ranks)
        in_component = tuple(i - 1 if i else 0 for i in wrt if i != 1)  # where the component has these: it has no weights
        found = iter(self._component.weighted(of_component, reduced(shares, batch), in_component) if in_component else ())
        return [np.reshape(reduced(shares, arguments[1].shape) if i == 1 else next(found), arguments[i].shape) for i in wrt]


def _of_component(parameter: np.ndarray, k: int, rank: int) -> np.ndarray:
    """Parameter of one component; all components may share it."""
    axis = parameter.ndim - rank - 1
    return parameter.take(k if parameter.shape[axis] > 1 else 0, axis)
