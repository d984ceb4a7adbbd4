"""Marginal likelihood of a model of rows, its effects integrated out by Laplace's method."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..density import densities
from ..distribution.frozen import Frozen
from ..draws.generator import Rng
from ..evaluation.arguments import check_wrt_among, match
from ..evaluation.results import as_shape
from ..fits.bordered import MOST_DENSE
from ..fits.fittable import Fittable
from ..fits.problem import Problem
from ..rows.model import Rows
from ..runtime import arrays
from ..runtime.transfers import to_host
from ..runtime.types import Doubles, Size, Value
from .effects import Effects
from .fitting import LaplaceProblem
from .mode import Mode, NoMode
from .parts import Parts


class LaplaceMarginal(Fittable):
    """Log marginal likelihood of models of rows: effects u are integrated out by Laplace's method.

    log ∫ exp(l(θ, u) + log p(u | θ)) du ≈ l(θ, û) + log p(û | θ) + d/2 log 2π − 1/2 log det(−H), where û is the mode of the
    d effects given the parameters θ, and H the matrix of second derivatives in them there. Where l is quadratic in u, it is
    exact.

    Parameters
    ----------
    rows : Rows or sequence of Rows
        Log-likelihood, or several that are added, which may share parameters.
    effects : mapping or collection of str
        Names of the effects, parameters of the rows: tables, coefficients, numbers. Each with its prior: a density of each
        element such as ``gs.normal(0.0, "tau")``, in which a string is the name of a parameter, a new one or one of the rows;
        or ``gs.mvnormal(mean, "Sigma")``, of each row of a table (…, m), where Sigma is a covariance matrix (m, m). None, or
        names alone: the prior is part of the rows.
    start : mapping, optional
        Values at which searches for the mode begin, by name; a table has the shape of its start. By default 0, or 1 for effects
        that are positive.

    Attributes
    ----------
    parameters : tuple of str
        Names of the parameters of a call: those of the rows that are no effects, and those of priors.
    effects : tuple of str
    ranks : dict
        Parameter -> number of its axes.

    Raises
    ------
    ValueError
        Where names are unknown or shapes do not go together.
    NotImplementedError
        For rows that are sequences or lie in pieces, and for thousands of coefficients of columns that are not sparse.

    Notes
    -----
    The search for the mode is Newton's method with damping, and begins at the last mode that was found: where there is one
    mode, results depend on that in their last digits only. Effects of the largest grouping are eliminated group by group, all
    others, as those of crossed groupings, together; where most pairs of groups have no row, as of many nested groups, and of
    chains, by a sparse factorisation. The gradient is exact: third derivatives are made of the rows' function as
    first ones are, and all passes over the rows run on their device.

    A scale may be 0 where it multiplies effects of scale 1: ``tau * u`` in the rows' function, ``gs.normal(0.0, 1.0)`` for u.

    References
    ----------
    Tierney & Kadane (1986), Accurate approximations for posterior moments and marginal densities, JASA 81, 82;
    Kristensen et al. (2016), TMB: automatic differentiation and Laplace approximation, J. Stat. Softw. 70(5).

    Examples
    --------
    Herds of cows, of which some are ill:

    >>> import numpy as np, gpustats as gs
    >>> ill, cows, herd = np.array([2, 3, 4, 0, 3, 1]), np.array([14, 12, 9, 5, 22, 18]), np.array([0, 0, 0, 1, 1, 1])
    >>> rows = gs.Rows('''
    ... real herds(real ill, real cows, real mean, real u)
    ... { return binomial_logit_logpmf(ill, cows, mean + u); }
    ... ''', ill=ill, cows=cows, u=gs.gather(herd))
    >>> marginal = gs.LaplaceMarginal(rows, {"u": gs.normal(0.0, "tau")})
    >>> marginal.parameters
    ('mean', 'tau')
    >>> value, gradient = marginal.value_and_grad(mean=-1.5, tau=0.5)
    >>> round(value, 4), round(gradient["tau"], 4)
    (-10.2778, -0.1813)
    >>> marginal.modes(mean=-1.5, tau=0.5)["u"].round(4)
    array([ 0.2704, -0.4282])
    """

    def __init__(
        self, rows: Rows | Sequence[Rows], effects: Mapping[str, Frozen | None] | Collection[str], *,
        start: Mapping[str, ArrayLike] | None = None,
    ):  # fmt: skip
        self._parts = parts = Parts(rows, effects, start)
        self._search, self._names = parts.search(), tuple(parts.domains)
        self._last: tuple[tuple[bytes, ...], Mode] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        parts = self._parts
        return _made, (parts.rows, parts.priors, parts.effects.by_name(parts.effects.start))

    def __repr__(self) -> str:
        effects = ", ".join(f"{n} {shape}" for n, shape in self._parts.effects.shapes.items())
        return f"<{self._parts.name}: {effects} integrated out by Laplace's method, parameters {', '.join(self._names)}>"

    def _facts(self) -> Mapping[str, object]:
        effects = self._parts.effects.shapes.items()
        return {
            "log-likelihood": self._parts.name, "integrated out": ", ".join(f"{n} {shape}" for n, shape in effects),
            "by": "Laplace's method", "parameters": ", ".join(self._names),
        }  # fmt: skip

    @property
    def parameters(self) -> tuple[str, ...]:
        return self._names

    @property
    def effects(self) -> tuple[str, ...]:
        return tuple(self._parts.effects.shapes)

    @property
    def ranks(self) -> Mapping[str, int]:
        """Number of axes of each parameter."""
        return self._parts.ranks

    # -- evaluation

    def __call__(self, *args: ArrayLike, **kwargs: ArrayLike) -> float:
        """Logarithm of the marginal likelihood.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: one set.

        Returns
        -------
        float
            nan where there is no mode.
        """
        try:
            return self._mode(self._values(args, kwargs)).log_integral
        except NoMode:
            return math.nan

    def value_and_grad(
        self, *args: ArrayLike, wrt: str | Collection[str] | None = None, **kwargs: ArrayLike
    ) -> tuple[float, dict[str, Any]]:
        """Logarithm of the marginal likelihood, and its derivatives.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: one set.
        wrt : str or collection of str, optional
            Names of parameters; by default all.

        Returns
        -------
        value : float
        gradient : dict
            Name -> derivative, shaped like that parameter: of a covariance matrix half of it for (i, j) and half for (j, i).
            nan where there is no mode.
        """
        values = self._values(args, kwargs)
        names = self.parameters if wrt is None else check_wrt_among(wrt, self.parameters)
        try:
            mode = self._mode(values)
        except NoMode:
            return math.nan, {n: np.full(np.shape(values[n]), np.nan) if np.ndim(values[n]) else math.nan for n in names}
        return mode.log_integral, self._gradient(values, mode, names)

    def _gradient(self, parameters: Mapping[str, Any], mode: Mode, names: Sequence[str]) -> dict[str, Any]:
        """Derivatives of the logarithm of the integral.

        With F the logarithm of what is integrated and A = -F_uu, they are those of F + tr(A⁻¹ F_uu) / 2, where A⁻¹ is constant:
        in the parameters, and in the mode, which moves by A⁻¹ F_uθ dθ.
        """
        effects, terms = self._parts.effects, self._parts.terms
        values = {**parameters, **effects.by_name(mode.effects)}
        found = {n: np.zeros(np.shape(parameters[n])) for n in names}
        of_mode, inverse = np.zeros(effects.size), mode.factor.selected_inverse()
        for term in terms:
            slopes = term.with_trace(values, inverse, (*names, *effects.shapes))
            found = {n: total + slopes.get(n, 0.0) for n, total in found.items()}
            of_mode += effects.joined(slopes)
        along = effects.by_name(mode.factor.solve(of_mode))
        for term in terms:
            slopes = term.product(values, along, names)
            found = {n: total + slopes.get(n, 0.0) for n, total in found.items()}
        return {n: v if np.ndim(v) else float(v) for n, v in found.items()}

    # -- the effects

    def modes(self, *args: ArrayLike, **kwargs: ArrayLike) -> dict[str, Any]:
        """Modes of the effects given the parameters.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: one set.

        Returns
        -------
        dict
            Name -> float or ndarray.

        Raises
        ------
        ValueError
            Where there is none.
        """
        return self._parts.effects.by_name(self._told(self._as_arrays(args, kwargs)).effects)

    def standard_errors(self, *args: ArrayLike, **kwargs: ArrayLike) -> dict[str, Any]:
        """Standard deviations of the effects given the parameters, by the normal approximation around the mode.

        Parameters and results are as for `modes`.
        """
        variances = self._told(self._as_arrays(args, kwargs)).factor.inverse_diagonal()
        return self._parts.effects.by_name(np.sqrt(variances))

    def covariance(self, *args: ArrayLike, **kwargs: ArrayLike) -> Doubles:
        """Covariance matrix of the effects given the parameters, by the normal approximation around the mode.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: one set.

        Returns
        -------
        (d, d) ndarray
            Of the elements of all effects, one after another, each in C order.
        """
        if (d := self._parts.effects.size) > MOST_DENSE:
            raise NotImplementedError(f"the covariance of {d} effects: {MOST_DENSE} at most; take standard_errors or draws")
        return self._told(self._as_arrays(args, kwargs)).factor.inverse()

    def draws(self, *args: ArrayLike, size: Size = None, rng: Rng = None, **kwargs: ArrayLike) -> dict[str, Any]:
        """Random draws of the effects given the parameters, by the normal approximation around the mode.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name. Leading axes are sets, as draws of a posterior: (draws,) or (chains, draws).
        size : int or tuple of int, optional
            Draws of each set.
        rng : optional
            Seed or generator: see `gpustats.Density.rvs`.

        Returns
        -------
        dict
            Name -> ndarray of the shape of the sets, then `size`, then the shape of the effect.

        Raises
        ------
        ValueError
            Where there is no mode.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> rows = gs.Rows(gs.normal, x=np.array([1.0, 3.0]), sigma=gs.per_row(), mu=gs.gather(np.array([0, 0])))
        >>> marginal = gs.LaplaceMarginal(rows, {"mu": gs.normal(0.0, "tau")})
        >>> marginal.draws(sigma=np.ones(2), tau=np.array([0.1, 1.0, 10.0]), rng=1)["mu"].shape
        (3, 1)
        """
        parts, more = self._parts, () if size is None else as_shape(size)
        given = self._as_arrays(args, kwargs)
        leads = {n: np.shape(v)[: np.ndim(v) - parts.ranks[n]] for n, v in given.items()}
        try:
            lead = np.broadcast_shapes(*leads.values())
        except ValueError:
            told = ", ".join(f"{n} {shape}" for n, shape in leads.items())
            raise ValueError(f"the leading axes, sets of parameters, do not go together: {told}") from None
        normals = densities["normal"].rvs(0.0, 1.0, size=(*lead, math.prod(more), parts.effects.size), rng=rng)
        found = np.empty(normals.shape)
        wide = {n: np.broadcast_to(v, lead + np.shape(v)[np.ndim(v) - parts.ranks[n] :]) for n, v in given.items()}
        for place in np.ndindex(lead):
            mode = self._told({n: v[place] for n, v in wide.items()})
            found[place] = mode.effects + mode.factor.spread(normals[place])
        return {n: np.asarray(v) for n, v in parts.effects.by_name(found.reshape(*lead, *more, -1)).items()}

    # -- how it is done

    def _as_arrays(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Any]:
        """Values of all parameters by name, on the host."""
        values = match(self._parts.name, self.parameters, args, kwargs, {}, "parameters")
        found = dict[str, Any]()
        for name, value in zip(self.parameters, values, strict=True):
            array = arrays.as_array(value, name)
            found[name] = to_host(array) if arrays.is_device_array(array) else array
        return found

    def _values(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Any]:
        return self._one_set(self._as_arrays(args, kwargs))

    def _one_set(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Values of one set: floats and arrays of float64."""
        for name, value in given.items():
            if np.ndim(value) != (rank := self._parts.ranks[name]):
                axes = "a number" if not rank else f"an array of {rank} {'axis' if rank == 1 else 'axes'}"
                raise ValueError(f"{name} has shape {np.shape(value)}, and must be {axes}: one set of parameters")
            if (m := self._parts.covariances.get(name)) and np.shape(value) != (m, m):
                raise ValueError(f"{name} has shape {np.shape(value)}, and must have {(m, m)}")
        return {n: np.asarray(v, float) if np.ndim(v) else float(v) for n, v in given.items()}

    def _mode(self, values: Mapping[str, Any]) -> Mode:
        """Mode at values of the parameters; that of the last call, where they are the same."""
        key, last, start = tuple(np.asarray(v).tobytes() for v in values.values()), self._last, self._parts.effects.start
        if last is not None and last[0] == key:
            return last[1]
        try:
            mode = self._search.mode(values, start if last is None else last[1].effects)
        except NoMode:
            if last is None:
                raise
            mode = self._search.mode(values, start)
        self._last = key, mode
        return mode

    def _told(self, values: Mapping[str, Any]) -> Mode:
        """Mode at values of one set; ValueError where there is none."""
        try:
            return self._mode(self._one_set(values))
        except NoMode as error:
            raise ValueError(self._parts.without_mode(str(error))) from None

    def _problem(self) -> Problem:
        if not self.parameters:
            raise ValueError(f"{self._parts.name} has no parameters but its effects: there is nothing to fit")
        return LaplaceProblem(self._parts, self._told, self)


def approximated(marginal: LaplaceMarginal, values: Mapping[str, Any]) -> tuple[Mode, Effects]:
    """Mode of the effects at values of all parameters by name, and their places; ValueError where there is none."""
    return marginal._told(values), marginal._parts.effects


def mode_moves(marginal: LaplaceMarginal, values: Mapping[str, Any], direction: Mapping[str, Any]) -> dict[str, Any]:
    """Derivative of the mode of each effect, by name, as parameters move in a direction: A⁻¹ F_uθ dθ."""
    mode, effects = approximated(marginal, values)
    at, names = {**values, **effects.by_name(mode.effects)}, tuple(effects.shapes)
    slopes = sum((effects.joined(term.product(at, direction, names)) for term in marginal._parts.terms), start=0.0)
    return effects.by_name(mode.factor.solve(np.asarray(slopes)))


def _made(
    rows: Sequence[Rows], effects: Mapping[str, Frozen | None], start: Mapping[str, ArrayLike]
) -> LaplaceMarginal:
    return LaplaceMarginal(rows, effects, start=start)
