"""Linear mixed models: Gaussian GLMs with random effects, whose likelihood is one of sums over the rows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..fits.bordered import MOST_DENSE
from ..fits.estimates import Estimates
from ..fits.maximum import fixed_by_label
from ..fits.predictions import Prediction
from ..mixed.estimates import MixedEstimates
from ..mixed.gaussian import SIGMA, FixedEffects, GaussianProblem
from ..mixed.linear import fit_linear
from ..mixed.marginal import Marginal, collinear
from ..mixed.predictions import new_rows, predicted
from ..mixed.structure import Grouping, Structure, is_sparse
from ..mixed.sums import Sums, sums
from ..mixed.terms import Factors, Term
from ..parallel.rows import read
from ..rows.sparse_matrix import is_sparse as is_sparse_matrix
from ..runtime.types import Array, Doubles, Shape
from .data import Named, as_numpy, table_shape
from .family import COEFFICIENTS, DESIGN, INTERCEPT, OBSERVATIONS, OFFSET, WEIGHTS
from .new_data import NewData, new_data
from .new_observations import told
from .problem import GLMProblem

if TYPE_CHECKING:
    from ..runtime.base import Runtime

ROWS_AT_START = 1 << 16  # whose means are subtracted from columns
LEAST_DEVIATION = 1e-60  # of observations: fourth powers of it and of its reciprocal are numbers


class Layout(NamedTuple):
    """Parts of the linear predictor of a Gaussian mixed model."""

    structure: Structure
    terms: tuple[Term, ...]  # the random ones
    widths: tuple[int, ...]  # number of columns of each random grouping
    tables: tuple[Named, ...]  # named groups that are fixed
    columns: int  # of X

    @property
    def shapes(self) -> dict[str, Shape]:
        """Shapes of the parameters, by name."""
        fixed: dict[str, Shape] = {COEFFICIENTS: (self.columns,), INTERCEPT: (), SIGMA: ()}
        return fixed | {t.name: table_shape(t) for t in self.tables} | {t.parameter: t.shape for t in self.terms}

    def labels(self, glm: Any, name: str, shape: Shape) -> Sequence[str]:
        """Names of the elements of a parameter."""
        found: Sequence[str] = glm._names.mixed_labels(name, shape, self.shapes, self.terms)
        return found


def layout(glm: Any, random: Collection[str]) -> Layout:
    """Layout of a GLM's terms, of which some are random; those of the same groups are one grouping."""
    held: Mapping[str, Array] = glm._held()
    named = list(glm._terms) or [Named(INTERCEPT, None, glm.n_groups - 1)]
    sources, first = [(DESIGN, glm._columns)], dict[str, int]()
    for term in named:
        if term.columns is not None:
            first[term.name] = 1 + sum(width for _, width in sources)
            sources.append((term.columns_name, term.columns))
    sources.append((OBSERVATIONS, 1))
    found: list[tuple[str, list[Named]]] = []
    for term in named:
        index = term.index_name
        same = next((own for name, own in found if term.name in random and _alike(held[name], held[index])), None)
        if term.name in random and same is not None:
            same.append(term)
        elif term.name in random:
            found.append((index, [term]))

    def columns(term: Named) -> list[int]:
        return [0] if term.columns is None else list(range(first[term.name], first[term.name] + term.columns))

    def grouping(index: str, own: Sequence[Named]) -> Grouping:
        return Grouping(index, 1 + max(t.largest for t in own), tuple(c for t in own for c in columns(t)))

    found.sort(key=lambda g: -grouping(*g).size)
    groupings, terms = [grouping(*g) for g in found], list[Term]()
    for i, (_, own) in enumerate(found):
        at = 0
        for term in own:
            names = glm._names.slopes.get(term.name, ())
            terms.append(Term(term.name, term.columns, groupings[i].levels, i, at, names))
            at += term.columns or 1
    terms.sort(key=lambda t: [n.name for n in named].index(t.name))
    tables = tuple(t for t in glm._terms if t.name not in random)
    fixed = [grouping(t.index_name, [t]) for t in tables]
    structure = Structure(
        tuple(sources), tuple(groupings), tuple(fixed), (*range(1, 1 + glm._columns), 0), is_sparse(groupings, glm.n_rows)
    )
    return Layout(structure, tuple(terms), tuple(len(g.columns) for g in groupings), tables, glm._columns)


def _alike(a: Array, b: Array) -> bool:
    return a is b or (tuple(a.shape) == tuple(b.shape) and bool(np.array_equal(a[:], b[:])))


def sums_of(data: Mapping[str, Array], structure: Structure, shifts: Doubles, runtime: Runtime) -> Sums:
    """Sums over the rows of data on the host."""
    columns = {name: np.asarray(data[name]) for name, _ in structure.sources}
    columns |= {g.data: np.asarray(data[g.data]) for g in (*structure.random, *structure.tables)}
    if OFFSET in data:
        columns[OBSERVATIONS] = columns[OBSERVATIONS] - np.asarray(data[OFFSET])
    weights = data.get(WEIGHTS)
    return sums(structure, columns, None if weights is None else np.asarray(weights), shifts, runtime)


def shifts_of(data: Mapping[str, Array], structure: Structure, n_rows: int) -> Doubles:
    """Means of the first rows of the columns of X and the observations; 0 of all others."""
    rows, found = (0, min(n_rows, ROWS_AT_START)), np.zeros(structure.width)
    X, y = (as_numpy(read(data[n], *rows, n)) for n in (DESIGN, OBSERVATIONS))
    offset = as_numpy(read(data[OFFSET], *rows, OFFSET)) if OFFSET in data else 0.0
    found[1 : 1 + X.shape[1]], found[structure.observations] = X.mean(0, dtype=float), np.mean(y - offset, dtype=float)
    return np.where(np.isfinite(found), found, 0.0)


class GaussianGLM(GaussianProblem):
    """Gaussian GLM with random effects, as a fit maximises it."""

    glm: Any
    plain: GLMProblem  # the GLM without random effects
    parts: Layout

    def described(self, label: str) -> str:
        return self.plain.described(label)

    def labels(self, name: str, shape: Shape) -> Sequence[str]:
        return self.parts.labels(self.glm, name, shape)

    def predict(
        self, estimates: Estimates, X: ArrayLike, *, offset: ArrayLike | None = None,
        groups: ArrayLike | Mapping[str, ArrayLike] | None = None, new_groups: bool = False, noise: bool = False,
    ) -> Prediction:  # fmt: skip
        """Predictions for new rows with the effects of their groups; without groups, of the fixed effects alone."""
        parts = self.parts
        new = new_data(self.glm, estimates, parts.tables, X, offset, groups, parts.terms, new_groups)
        rows = () if new.random is None else new_rows(parts.terms, new.random, len(new.X), new_groups)
        mean, errors = predicted(self, estimates, self._design(new), rows)
        mean = mean + new.offset + self.effects.shift * (self.effects.intercept >= 0)
        return told(Prediction(mean, errors, mean, errors), X, self.glm._family, estimates, noise)

    def _design(self, new: NewData) -> Doubles:
        """Shifted columns of the fixed effects."""
        effects, found = self.effects, np.zeros((len(new.X), self.effects.size))
        found[:, effects.places[COEFFICIENTS]], found[:, effects.places[INTERCEPT]] = new.X, 1.0
        for name, (index, columns) in new.tables.items():
            places = effects.places[name]
            np.put_along_axis(found, places.reshape(len(places), -1)[index], columns, 1)
        return found - effects.shifts


def linear_fit(
    glm: Any, plain: GLMProblem, random: Collection[str], reml: bool, start: dict[str, Any], fixed: dict[str, Any],
    bounds: dict[str, Any], priors: dict[str, Any], max_iterations: int, progress: bool,
) -> MixedEstimates:  # fmt: skip
    """Estimates of a Gaussian GLM whose terms `random` are random effects: see `Fitting.fit`."""
    parts, held = layout(glm, random), glm._held()
    if is_sparse_matrix(held[DESIGN]):
        raise NotImplementedError("X is sparse, and linear models with random effects take arrays: X.toarray()")
    structure = parts.structure
    n_fixed = sum((t.largest + 1) * (t.columns or 1) for t in parts.tables) + parts.columns
    if n_fixed > MOST_DENSE:
        raise NotImplementedError(f"{n_fixed:,} fixed effects: {MOST_DENSE:,} at most; take the effects of groups as random")
    fixed = _known(plain.name, functools.partial(parts.labels, glm), parts.shapes, fixed)
    centred = bool(np.isnan(fixed.get(INTERCEPT, np.nan)).all())
    shifts = shifts_of(held, structure, glm.n_rows) if centred else np.zeros(structure.width)
    found: Sums = glm._sums(structure, shifts)
    _check_finite(found, parts)
    effects = _effects(parts, shifts, centred)
    marginal = Marginal(found, Factors(parts.terms, parts.widths))
    problem = GaussianGLM(plain.name, marginal, effects, fixed, reml, bounds.keys(), max_iterations, progress)
    problem.glm, problem.plain, problem.parts = glm, plain, parts
    problem.formula, problem.formula_terms, problem.levels = plain.formula, plain.formula_terms, glm._names.levels
    _check_identified(problem, found, priors)
    return fit_linear(problem, start, bounds, priors, max_iterations, progress)


def _known(
    model: str, labels: Callable[[str, Shape], Sequence[str]], shapes: Mapping[str, Shape], fixed: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Known values by the names of parameters, of `fixed`, which may have labels of elements."""
    known = {n: np.asarray(as_numpy(v), float) for n, v in fixed.items() if n in shapes}
    return known | fixed_by_label(model, labels, {n: v for n, v in fixed.items() if n not in shapes}, shapes, known)


def _effects(parts: Layout, shifts: Doubles, centred: bool) -> FixedEffects:
    """Places of the fixed effects: tables first, then the coefficients of X, then the intercept."""
    places, at = dict[str, np.ndarray](), 0
    for table in parts.tables:
        shape = table_shape(table)
        places[table.name] = at + np.arange(int(np.prod(shape))).reshape(shape)
        at += places[table.name].size
    own = {COEFFICIENTS: at + np.arange(parts.columns), INTERCEPT: np.asarray(at + parts.columns)}
    moved = np.zeros(at + parts.columns + 1)
    moved[own[COEFFICIENTS]] = shifts[1 : 1 + parts.columns]
    return FixedEffects(own | places, moved, float(shifts[-1]), at + parts.columns if centred else -1)


def _check_finite(found: Sums, parts: Layout) -> None:
    """ValueError for nan and infinite numbers among the data, by name."""
    squares = np.diagonal(found.ends)[-parts.columns - 2 :]
    for j in range(parts.columns):
        if not np.isfinite(squares[j]):
            raise ValueError(f"X has a number in column {j} that is not finite: there is no likelihood; leave such rows out")
    if not np.isfinite(squares[-1]):
        raise ValueError("y or offset has a number that is not finite: there is no likelihood; leave such rows out")
    if not found.finite:
        raise ValueError("a column of groups has a number that is not finite: there is no likelihood; leave such rows out")


def _check_identified(problem: GaussianGLM, found: Sums, priors: Mapping[str, Any]) -> None:
    """ValueError where nothing tells fixed effects apart, or random ones from the residuals."""
    free, parts = len(problem.profile.free), problem.parts
    told = {*priors, *problem.fixed}
    penalised = not priors.keys().isdisjoint(problem.effects.places)
    if found.weight <= free and not (penalised and SIGMA in told):
        names = ", ".join(map(repr, (*(t.name for t in problem.terms), *(t.name for t in parts.tables))))
        raise ValueError(
            f"{found.weight:g} observations cannot tell {free} fixed effects and a variance: leave columns of X out"
            + ", or fix sigma" * penalised
            + f", or take effects of groups for random, random=({names})" * bool(parts.tables)
        )
    if not LEAST_DEVIATION < problem.profile.deviation < 1 / LEAST_DEVIATION and problem.profile.deviation:
        raise ValueError(f"y has a standard deviation of about {problem.profile.deviation:.0e}: give it in other units")
    if len(bad := problem.profile.collinear()) and not penalised:
        labels = {int(p): label for n, places in problem.effects.places.items()
                  for p, label in zip(places.flat, problem.labels(n, places.shape), strict=True)}  # fmt: skip
        named = ", ".join(problem.described(labels[int(p)]) for p in bad[:6])
        raise ValueError(
            f"nothing tells {named} apart: columns depend on one another, as an intercept beside a column of ones. Leave one "
            "of them out, fix it, as with fixed={'alpha': 0.0}, or give a prior with reml=False, "
            "priors={'beta': gs.normal(0.0, 10.0)}"
        )
    if len(bad) or found.weight <= free:
        problem.begin_without_columns()
    try:
        problem.first.profiled(problem.factors.diagonal.astype(float))
    except np.linalg.LinAlgError:
        message = "the fixed effects fit the observations without residuals, so that there is no variance: look at y and X"
        raise ValueError(message) from None
    for term in problem.terms:
        squares = found.squares(term.grouping)[:, term.places]
        squares = squares[squares.any(1)]
        seen, constant = len(squares), (np.ptp(squares, 0) == 0).any()
        term.check_groups(seen == 1, term.parameter in told)
        if term.parameter not in told:
            term.check_columns(collinear(problem.marginal.products[term.grouping][term.places, term.places]))
        if seen >= found.weight and constant and told.isdisjoint({SIGMA, term.parameter}):
            raise ValueError(
                f"{term.name} has {seen:,} random intercepts for {found.weight:g} observations, so that nothing tells them "
                "from residuals: leave the term out, or fix sigma, as with fixed={'sigma': 1.0}"
            )
