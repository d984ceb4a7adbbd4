"""Generalised linear mixed models: GLMs of any density whose random effects are integrated out by Laplace's method."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..density import densities
from ..errors import NoMaximumError
from ..fits.estimates import Estimates
from ..fits.maximum import maximise
from ..fits.predictions import Prediction
from ..fits.problem import Expanded, Named, Problem
from ..linalg.threads import as_many_as_free
from ..marginals.effects import Effects
from ..marginals.mode import Mode
from ..marginals.model import LaplaceMarginal, approximated, mode_moves
from ..mixed.estimates import MixedEstimates, of_components
from ..mixed.linear import factor_covariances, triangular
from ..mixed.marginal import collinear
from ..mixed.predictions import NewRows, new_rows
from ..mixed.search import sides
from ..mixed.terms import Term
from ..runtime.types import Doubles, Shape
from .data import Named as NamedTerm
from .family import COEFFICIENTS, INTERCEPT, WEIGHTS
from .new_data import new_data
from .new_observations import told
from .on_rows import PRODUCT, parameter, rows_of, term_of
from .on_rows import Term as RowTerm
from .predictions import mean_of
from .problem import GLMProblem

#: Factor at which a search leaves 0, where its slope tells nothing, and how often it may.
AWAY, MOST_ROUNDS = 1e-2, 3
STEP = 1e-4  # of differences of predictions
MULTIPLICATIONS = 1 << 30  # of a search, about


class LaplaceGLM(Problem):
    """GLM with random effects, as a fit maximises it: effects are b = L u, u being standard normal and integrated out.

    Parameters
    ----------
    glm : GLM
    plain : Problem
        The GLM without random effects.
    terms : sequence of Term
        The random ones.
    named : sequence of Named
        All terms of the GLM.
    fixed : mapping
        Known values by name. Those with a value for each row are columns of the data.
    """

    def __init__(
        self, glm: Any, plain: GLMProblem, terms: Sequence[Term], named: Sequence[NamedTerm], fixed: Mapping[str, np.ndarray]
    ):
        self._glm, self.terms, self._plain = glm, tuple(terms), plain
        self.name, self.single, self.formula, self.formula_terms = plain.name, plain.single, plain.formula, plain.formula_terms
        self.n_observations = self._plain.n_observations
        by_row = [n for n in glm._family.parameters if n in fixed and fixed[n].shape == (glm.n_rows,)]
        #: parameters of the density with a value for each row
        self.columns = {n: fixed[n] for n in by_row}
        random = {t.name: t for t in terms}
        words = {n: w for n, w in self._plain.domains.items() if n not in random and n not in self.columns}
        self.domains: dict[str, Collection[str]] = {INTERCEPT: set(), **words} | {t.parameter: set[str]() for t in terms}
        self.domains = {n: self.domains[n] for n in (COEFFICIENTS, INTERCEPT, *self.domains)}
        held = dict(glm._held())
        #: names in the rows of the elements of each parameter, (…,), and of the random effects of each term
        self._in_rows = {COEFFICIENTS: PRODUCT, INTERCEPT: INTERCEPT}
        self._in_rows |= {n: parameter(n) for n in glm._family.parameters if n not in self.columns}
        self._tables, self._elements, self.effects = dict[str, list[str]](), dict[str, list[str]](), dict[str, list[str]]()
        indices, made = dict[Any, Any](), list[tuple[NamedTerm, RowTerm]]()
        for i, own in enumerate(named):
            index, term = np.asarray(held[own.index_name]), term_of(i, own)
            # so that terms of the same groups share them
            held[own.index_name] = indices.setdefault((index.shape, index.tobytes()), index)
            if own.name in random:
                m = own.columns or 1
                term = term._replace(factors=tuple(f"factor{i}_{a}_{b}" for a, b in zip(*np.tril_indices(m), strict=True)))
                self.effects[own.name], self._elements[random[own.name].parameter] = list(term.tables), list(term.factors)
            else:
                self._tables[own.name] = list(term.tables)
            made.append((own, term))
        by_row_leaves = {parameter(n): np.asarray(v, glm._dtype) for n, v in self.columns.items()}
        self._rows = rows_of(glm._family, glm._runtime, held, made, by_row_leaves)
        prior = densities["normal"](0.0, 1.0)
        priors = {t: prior for tables in self.effects.values() for t in tables}
        start = {t: np.zeros(random[n].levels) for n, tables in self.effects.items() for t in tables}
        self.marginal = LaplaceMarginal(self._rows, priors, start=start)

    def exact_in(self, wrt: Sequence[str]) -> bool:
        return False

    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Estimates without random effects, whose scale is 1 where their columns are."""
        found = dict(given)
        for term in self.terms:
            if term.parameter not in found:
                found[term.parameter] = np.reshape(np.diag(1 / self._scales(term)), term.shape)
            if np.shape(found[term.parameter]) != term.shape:
                raise ValueError(f"{term.parameter} has shape {np.shape(found[term.parameter])}, and must have {term.shape}")
        plain = {n: v for n, v in found.items() if n in self._plain.domains} | self.columns
        return found | {n: v for n, v in self._plain.starts(plain).items() if n in self.domains}

    def _scales(self, term: Term) -> Doubles:
        """Root mean squares of the columns of a term."""
        if term.columns is None:
            return np.ones(1)
        own = next(t for t in self._glm._terms if t.name == term.name)
        squares = np.mean(np.square(self._glm._held()[own.columns_name], dtype=float), 0)
        return np.where(squares > 0, np.sqrt(squares), 1.0)

    def values(self, values: Named) -> dict[str, Any]:
        """Values of the parameters of the marginal likelihood."""
        found = {r: values[n] for n, r in self._in_rows.items()}
        for name, tables in self._tables.items():
            columns = np.reshape(values[name], (np.shape(values[name])[0], -1))
            found |= {t: columns[:, c] for c, t in enumerate(tables)}
        for term in self.terms:
            own = np.reshape(values[term.parameter], (term.size, term.size))[np.tril_indices(term.size)]
            found |= dict(zip(self._elements[term.parameter], own.astype(float).tolist(), strict=True))
        return {n: found[n] for n in self.marginal.parameters}

    def expand(self, values: Named, wrt: Sequence[str], second: bool) -> Expanded:
        names = [r for n in wrt for r in self._names(n)]
        value, slopes = self.marginal.value_and_grad(**self.values(values), wrt=names)
        gradient = list[np.ndarray]()
        for name in wrt:
            if name in self._elements:
                m = len(np.atleast_1d(values[name]))
                own = np.zeros((m, m))
                own[np.tril_indices(m)] = [slopes[r] for r in self._elements[name]]
                gradient.append(own.ravel())
            elif name in self._tables:
                gradient.append(np.stack([slopes[r] for r in self._tables[name]], -1).ravel())
            else:
                gradient.append(np.ravel(slopes[self._in_rows[name]]))
        return Expanded(float(value), np.concatenate(gradient).astype(float))

    def _names(self, name: str) -> list[str]:
        """Names in the rows of the elements of a parameter."""
        return self._elements.get(name) or self._tables.get(name) or [self._in_rows[name]]

    # -- predictions

    def predict(
        self, estimates: Estimates, X: ArrayLike, *, offset: ArrayLike | None = None,
        groups: ArrayLike | Mapping[str, ArrayLike] | None = None, new_groups: bool = False, noise: bool = False,
    ) -> Prediction:  # fmt: skip
        """Predictions for new rows with the modes of their groups' effects; without groups, of the fixed effects alone.

        The errors are those of parameters, with which the modes move, and of the effects around these.
        """
        glm, values = self._glm, estimates.parameters
        tables = [t for t in glm._terms if t.name in self._tables]
        new = new_data(glm, estimates, tables, X, offset, groups, self.terms, new_groups)
        of_terms = {t.name: new_rows([t], new.random, len(new.X), new_groups)[0] for t in self.terms if new.random is not None}

        def predictor(values: Named, units: Named) -> Doubles:
            """Linear predictor without the offset, of effects b = L u: linear in `values` and in `units`, the u."""
            found: Doubles = new.X @ values[COEFFICIENTS] + values[INTERCEPT]
            for name, (index, columns) in new.tables.items():
                found += (np.reshape(values[name], (len(np.atleast_1d(values[name])), -1))[index] * columns).sum(1)
            for term in self.terms if of_terms else ():
                index, columns = of_terms[term.name]
                effects = units[term.name] @ self._factor(term, values).T
                found += np.where(index < 0, 0.0, (effects[index] * columns).sum(1))
            return found

        units, variance = self._units(*self._approximated(values)), self._around(values, of_terms, len(new.X))
        eta, factors = predictor(values, units) + new.offset, {t.parameter: values[t.parameter] for t in self.terms}
        zeros, at = {n: np.zeros(np.shape(v)) for n, v in values.items()}, 0
        slopes = np.zeros((len(eta), len(estimates.labels)))
        for name in estimates.free:
            for place, free in np.ndenumerate(np.reshape(self._free(estimates, name), np.shape(values[name]))):
                if free:
                    direction = {**zeros, name: zeros[name].copy()}
                    direction[name][place] = 1.0
                    slopes[:, at] = predictor(direction, units)
                    if of_terms:
                        slopes[:, at] += predictor({**zeros, **factors}, self._units_move(values, direction, estimates.free))
                    at += 1
        covariance = np.nan_to_num(np.asarray(estimates.covariance))
        errors = np.sqrt((variance + np.einsum("ni,ij,nj->n", slopes, covariance, slopes)).clip(0))
        if self.columns or (mean := mean_of(glm._family, estimates, eta)) is None:
            return told(Prediction(eta, errors, None, None), X, glm._family, estimates, noise)
        steps = STEP * np.maximum(np.abs(eta), 1)
        ends = [mean_of(glm._family, estimates, eta + sign * steps) for sign in (1, -1)]
        spread = np.abs((ends[0] - ends[1]) / (2 * steps)) * errors
        return told(Prediction(eta, errors, mean, spread), X, glm._family, estimates, noise)

    def _free(self, estimates: Estimates, name: str) -> np.ndarray:
        """Mask of the elements of a parameter that were estimated."""
        assert estimates.fitted is not None
        found: np.ndarray = estimates.fitted.free[estimates.fitted.objective.coordinates.elements[name]]
        return found

    def _around(self, values: Named, rows: Mapping[str, NewRows], n: int) -> Doubles:
        """Variances of linear predictors by those of the random effects given the parameters."""
        if not rows:
            return np.zeros(n)
        mode, effects = self._approximated(values)
        found, parts = np.zeros(n), list[tuple[np.ndarray, Doubles]]()
        for term in self.terms:
            index, columns = rows[term.name]
            units = columns @ self._factor(term, values)
            found += np.where(index < 0, (units**2).sum(1), 0.0)
            parts.append((self._places(term, effects)[index], np.where(index[:, None] < 0, 0.0, units)))
        return found + mode.factor.variances(parts)

    # -- estimates

    def away_from_zero(self, found: Estimates) -> dict[str, Any] | None:
        """Parameters from which the likelihood grows again, where a search ended at factors of 0; None where it does not.

        The likelihood is even in a column of a factor: where that is 0 its slope is, too, whatever lies beside. Where a column
        is 0 on the diagonal alone, the search may have come there from the wrong side: that of the other signs below.
        """
        values, left = dict(found.parameters), False
        for term in self.terms:
            if term.parameter not in found.free:
                continue
            factor = np.array(np.reshape(values[term.parameter], (term.size, term.size)), float)
            free = self._free(found, term.parameter).reshape(factor.shape)
            for k in np.flatnonzero((np.diagonal(factor) == 0) & np.diagonal(free)):
                for turned in sides(factor[:, k], free[:, k]):
                    moved = factor.copy()
                    moved[:, k] = turned
                    moved[k, k] = AWAY / self._scales(term)[k]
                    trial = {**values, term.parameter: moved.reshape(term.shape)}
                    slopes = self.expand(trial, (term.parameter,), False).gradient
                    if slopes[k * term.size + k] > 0:
                        values, factor, left = trial, moved, True
                        break
        return {n: v for n, v in values.items() if n in found.free} if left else None

    def estimates(self, found: Estimates) -> MixedEstimates:
        """Estimates with the modes of the random effects."""
        fitted, parameters = found.fitted, found.parameters
        assert fitted is not None and found.covariance is not None
        behind = [t.parameter for t in self.terms if t.parameter in found.free]
        elements = fitted.objective.coordinates.elements
        first = int(fitted.free[: elements[behind[0]].start].sum()) if behind else 0
        of_factors = factor_covariances(behind, parameters, fitted.free, found.covariance, first)
        mode, effects = self._approximated(parameters)
        units, modes, spreads = self._units(mode, effects), dict[str, Doubles](), dict[str, Doubles]()
        inverse = mode.factor.selected_inverse()
        for term in self.terms:
            factor, places = self._factor(term, parameters), self._places(term, effects)
            own = inverse.at(places[:, :, None], places[:, None, :])
            modes[term.name] = units[term.name] @ factor.T
            spreads[term.name] = np.einsum("ia,gab,ib->gi", factor, own, factor)
        components = of_components(self.terms, parameters, of_factors, modes, spreads)
        kept = {f.name: getattr(found, f.name) for f in fields(Estimates)}
        kept["message"] = found.message.replace(" at a bound", "") + components.pop("remark")
        labels = dict(zip(fitted.objective.coordinates.labels(), fitted.free.tolist(), strict=True))
        return MixedEstimates(**kept, **components, elements=labels, levels=dict(self._glm._names.levels))

    def _approximated(self, values: Named) -> tuple[Mode, Effects]:
        """Mode of the effects u at values of the parameters, and their places."""
        return approximated(self.marginal, self.values(values))

    def _units(self, mode: Mode, effects: Effects) -> dict[str, Doubles]:
        """Modes of the effects u of each term, (G, m)."""
        return {t.name: mode.effects[self._places(t, effects)] for t in self.terms}

    def _units_move(self, values: Named, direction: Named, names: Collection[str]) -> dict[str, Doubles]:
        """Derivatives of these as the parameters `names` move in a direction."""
        along, own = self.values(direction), {r for n in names for r in self._names(n)}
        moves = mode_moves(self.marginal, self.values(values), {n: v for n, v in along.items() if n in own})
        return {t.name: np.stack([moves[u] for u in self.effects[t.name]], -1) for t in self.terms}

    def _factor(self, term: Term, values: Named) -> Doubles:
        return np.reshape(values[term.parameter], (term.size, term.size)).astype(float)

    def _places(self, term: Term, effects: Effects) -> np.ndarray:
        """Places of a term's effects among all, (G, m)."""
        return np.stack([effects.places(u) for u in self.effects[term.name]], -1)

    def labels(self, name: str, shape: Shape) -> Sequence[str]:
        found: Sequence[str] = self._glm._names.mixed_labels(name, shape, self.domains, self.terms)
        return found

    def described(self, label: str) -> str:
        return self._plain.described(label)


def generalised_fit(
    glm: Any, plain: GLMProblem, random: Collection[str], start: dict[str, Any], fixed: dict[str, Any], bounds: dict[str, Any],
    priors: dict[str, Any], max_iterations: int, progress: bool,
) -> MixedEstimates:  # fmt: skip
    """Estimates of a GLM whose terms `random` are random effects: see `Fitting.fit`."""
    if glm._pieces is not None:
        raise NotImplementedError("random effects of other densities than the normal one are for rows that lie on one device")
    if glm._family.vector:
        raise NotImplementedError(f"{glm._family.eta} of {glm._family.density.name} is a vector: random effects take a number")
    named = list(glm._terms) or [NamedTerm(INTERCEPT, None, glm.n_groups - 1)]
    terms = [
        Term(t.name, t.columns, t.largest + 1, i, 0, glm._names.slopes.get(t.name, ()))
        for i, t in enumerate(named) if t.name in random
    ]  # fmt: skip
    for term, own in zip(terms, (t for t in named if t.name in random), strict=True):
        _check_term(term, own, glm._held(), term.parameter in {*priors, *fixed})
    problem = LaplaceGLM(glm, plain, terms, named, {n: np.asarray(v, float) for n, v in fixed.items()})
    known, limits = triangular(terms, {n: v for n, v in fixed.items() if n not in problem.columns}, bounds)
    begin = _without_effects(problem, plain, start, fixed, bounds, priors, max_iterations) | start
    with as_many_as_free(MULTIPLICATIONS):
        for _ in range(MOST_ROUNDS):
            found = maximise(problem, begin, known, limits, priors, max_iterations, progress)
            if (moved := problem.away_from_zero(found)) is None:
                break
            begin = moved
        return problem.estimates(found)


def _check_term(term: Term, own: NamedTerm, held: Mapping[str, Any], told: bool) -> None:
    """ValueError where the rows tell nothing of the effects' covariance, and nothing else has `told` it."""
    index = np.asarray(held[own.index_name])
    counted = index if WEIGHTS not in held else index[np.asarray(held[WEIGHTS]) > 0]
    term.check_groups(bool(len(counted)) and bool((counted == counted[0]).all()), told)
    if term.columns is not None and not told:
        columns = np.asarray(held[own.columns_name], float)
        term.check_columns(collinear(columns.T @ columns))


def _without_effects(
    problem: LaplaceGLM, plain: GLMProblem, start: Mapping[str, Any], fixed: Mapping[str, Any], bounds: Mapping[str, Any],
    priors: Mapping[str, Any], max_iterations: int,
) -> dict[str, Any]:  # fmt: skip
    """Estimates of the free parameters of the model without random effects; none where there is no maximum."""
    own_start, known, own_bounds, own_priors = (
        {n: v for n, v in given.items() if n in plain.domains} for given in (start, fixed, bounds, priors)
    )
    if INTERCEPT not in known:
        own_start.setdefault(INTERCEPT, 0.0)
    for term in problem.terms:
        if term.name != INTERCEPT:
            known[term.name] = np.zeros((term.levels, *term.shape[1:]))
    try:
        found = maximise(plain, own_start, known, own_bounds, own_priors, max_iterations, False)
    except NoMaximumError as endless:
        if endless.parameters <= {COEFFICIENTS, INTERCEPT}:  # then it grows there whatever the effects of groups are, too
            raise
        return {}
    except ValueError:
        return {}
    return {n: found[n] for n in found.free if n in problem.domains and np.all(np.isfinite(found[n]))}
