"""The log-likelihood of a generalised linear model, bound to data on a device."""

from __future__ import annotations

import dataclasses
import sys
from collections import ChainMap
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..density import Density
from ..evaluation.kinds import Plans
from ..evaluation.placement import device_of
from ..fits.objective import Prior
from ..frames.design import Design
from ..mixed.estimates import MixedEstimates
from ..parallel.divide import divide
from ..parallel.pieces import Data, Options, in_memory, in_pieces
from ..parallel.rows import added, added_gradients, added_with_gradients, joined
from ..rows.sparse_matrix import is_sparse
from ..runtime import arrays
from ..runtime.base import Device, Runtime
from ..runtime.types import Array, Value, Values
from .data import GLMData, Named, read, sizes_of
from .family import DESIGN, GROUPS, INTERCEPT, OBSERVATIONS, OFFSET, WEIGHTS, Family, knowing_formulas, predictor_of
from .fitting import Fitting
from .launch import Launcher, Plan
from .names import named
from .on_rows import Delegate
from .results import Evaluator
from .second_derivatives import SecondDerivatives
from .varying import RESERVED, Varying, check_sparse, read_terms


class GLM(Fitting):
    """The log-likelihood of a generalised linear model whose data stay on a device.

    The observations have the density ``f(y[n]; eta[n], …)`` with the linear predictor ``eta[n] = X[n] @ beta + alpha +
    offset[n]``. The value and all derivatives come from one reading of X.

    Parameters
    ----------
    density : Density
        Built in, registered, or made by a transform, with a parameter that is the linear predictor: a number, or a vector with
        an element for each of C outcomes, as ``categorical_logit`` has.
    y : (N,) array_like
        Observations. Labels are numbered from 0 in their order.
    X : (N, k) array_like, data frame, dict of columns or sparse matrix
        The design matrix, float32 or float64 (everything is then computed in that type, sums in float64), in row- or
        column-major order. It is moved to the default device once; a device array in row-major order is used where it lies on
        a GPU. Or a sparse matrix or array of SciPy, of any number of columns, whose entries alone are stored: see `dot`. Then
        groups have names, the linear predictor is a number, and parameters have no values for each observation.
    eta : str
        Name of the density's parameter that is the linear predictor.
    offset : (N,) array_like, optional
        Added to the linear predictor.
    weights : (N,) array_like, optional
        Nonnegative; how often each observation counts.
    groups : (N,) array_like of int or of labels, or mapping, optional
        The group of each observation, from 0 to G - 1, or its label. Then the intercept ``alpha`` may have a value for each
        group. Or several terms by their names, each the groups or a pair ``(groups, Z)`` of groups and columns, (N, m): each
        name becomes a parameter of all methods, behind the density's: a table (G,) of intercepts, or (G, m) of slopes,
        coefficients of the columns of Z. A column of ones gives an intercept beside slopes. A dense X and all terms' columns
        are then 64 at most.
    n_groups : int, optional
        The number of groups G; by default the largest of `groups` plus one. Of named groups the tables tell.
    same_bits : bool
        Whether a set of parameters gets the same bits in any call, also as one set without a leading axis, which a GPU
        evaluates faster otherwise. On CPUs it does anyway, and so it does among sets with a leading axis on NVIDIA's GPUs.
    devices, client, memory, chunk : optional
        Division of the rows where one device is not enough: see `gpustats.parallel`.

    Raises
    ------
    ValueError
        Where shapes do not go together, or the density has no parameter `eta`.

    Notes
    -----
    All methods take ``beta``, (k,) or (S, k) for S sets of coefficients (several chains, say, that share the pass over X), the
    intercept ``alpha``, and the density's other parameters in their order or by name. Intercept and parameters are numbers,
    (S, 1) for S sets, (N,) or (S, N) with a value for each observation; ``alpha`` with groups is (G,) or (S, G). Where the
    linear predictor is a vector, ``beta`` is (k, C) or (S, k, C), and ``alpha`` a number or (C,), (S, 1, C), (N, C), (S, N, C).

    It can be pickled, copied, and sent to other processes: there the data are moved to the default device.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> X, y = np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]]), np.array([1, 0, 1])
    >>> glm = gs.GLM(gs.bernoulli_logit, y, X)
    >>> round(glm(np.array([0.3, -0.2]), alpha=0.1), 6)
    -1.546198
    >>> value, gradient = glm.value_and_grad(np.array([0.3, -0.2]), alpha=0.1)
    >>> gradient["beta"].round(4)
    array([ 0.7799, -0.9927])
    """

    @knowing_formulas
    def __init__(
        self, density: Density, y: ArrayLike, X: Values, *, eta: str = "eta", offset: ArrayLike | None = None,
        weights: ArrayLike | None = None, groups: ArrayLike | Mapping[str, ArrayLike] | None = None,
        n_groups: int | None = None, same_bits: bool = False, devices: Any = None, client: Any = None,
        memory: int | None = None, chunk: int | None = None,
    ):  # fmt: skip
        self._family, self._same_bits = Family(density, eta), bool(same_bits)
        self._names, y, X, groups = named(self._family, y, X, groups)
        self._random: tuple[str, ...] = ()  # terms whose effects are random unless a fit says otherwise
        terms: Mapping[str, ArrayLike] = groups if isinstance(groups, Mapping) else {}
        groups = None if isinstance(groups, Mapping) else groups
        data = read({OBSERVATIONS: y, DESIGN: X, OFFSET: offset, WEIGHTS: weights, GROUPS: groups})
        self.n_rows, self._columns, self.n_groups, *_ = sizes_of(data, n_groups)
        self._dtype = arrays.result_dtype([data[DESIGN]])
        self._plans: Plans[Plan] = Plans()
        runtime = device_of(list(data.values()), list(data)) if devices is None and client is None else None
        n_numbers = self._columns + len(data.keys() - {DESIGN, GROUPS})
        row = n_numbers * self._dtype.itemsize + 8 * (GROUPS in data)
        self._terms: tuple[Named, ...] = ()
        self._options = Options(devices, client, memory, chunk)
        sparse = is_sparse(data[DESIGN])
        self._on_rows = sparse or bool(terms)  # whether a sum over rows evaluates it
        if sparse:
            check_sparse(self._family, GROUPS in data, self._options)
        if terms:
            self._terms, term_data = read_terms(terms, self._family, self.n_rows, None if sparse else self._columns, n_groups)
            data |= term_data
            row += sum(8 + (t.columns or 0) * self._dtype.itemsize for t in self._terms)
            row *= len(self._terms)  # the rows lie in the order of each term's groups
        self._pieces = None if sparse else divide(self, Data(data, self.n_rows, row), self._options, runtime)
        if self._pieces is None:
            assert runtime is not None
            self._bind(in_memory(data), runtime)

    def _bind(self, data: Mapping[str, Array], runtime: Runtime, stay: bool = True) -> None:
        """Put the data on a device; unless they `stay`, they are of a piece that may be gone after a call."""
        self._runtime = runtime
        self._calls = Plans()
        if self._on_rows:
            self._evaluator = Varying(self._family, self._terms, data, self._dtype, runtime)
            return
        self._data = GLMData(data, self._sizes, self._dtype, runtime)
        self._launcher = Launcher(self._data, self._plans, self._same_bits)
        self._evaluator = Evaluator(self._launcher)
        self._second = SecondDerivatives(self._family, self._data)
        self._delegate = Delegate(self._family, self._data) if stay else None

    @classmethod
    def from_formula(
        cls, formula: str, data: Any, density: Density, *, eta: str | None = None, offset: str | ArrayLike | None = None,
        weights: str | ArrayLike | None = None, missing: str = "raise", sparse: bool = False, dtype: DTypeLike = np.float64,
        devices: Any = None, client: Any = None, memory: int | None = None, chunk: int | None = None,
    ) -> OfFormula:  # fmt: skip
        """GLM of a formula and a data frame: ``y ~ x + C(g) + (1 + x | county)``.

        Parameters
        ----------
        formula : str
            Observations, ``~``, and terms as formulaic has them: transformations, also functions of the caller's, interactions
            ``a:b`` and ``a*b``, ``C(g, contr.sum)``, ``bs(x, 4)``, ``poly(x, 2)``, ``center(x)``, names in backquotes, and
            ``0 +`` for no intercept. Terms of groups stand in parentheses: ``(1 | g)``, ``(1 + x | g)``, nested ``(1 | g/h)``,
            combinations ``(1 | g:h)``, and ``(x || g)``, whose columns are terms by themselves.
        data : data frame of pandas or polars, Arrow table, or dict of columns
            Strings and categories are labels; those that do not occur are left out.
        density : Density
        eta : str, optional
            Name of the parameter that is the linear predictor; by default ``eta``, else ``mu``.
        offset, weights : str or (N,) array_like, optional
            Expressions of columns, or numbers.
        missing : {"raise", "drop"}
            Error about values that are missing, or fit without their rows.
        sparse : bool
            Whether the design matrix is sparse, as for categories of many labels.
        dtype : dtype
            float64 or float32, in which everything is computed.
        devices, client, memory, chunk : optional
            As for the class.

        Returns
        -------
        GLM
            Whose fits have the names of columns and labels. The intercept is ``alpha``. Terms of groups are parameters by the
            names of the groups, whose effects `fit` takes for random. Observations with labels are numbered from 0 in the order
            of these, as `repr` says.

        Raises
        ------
        ValueError
            Where the formula is not understood, a column is unknown, values are missing or infinite, or a category has one
            label.
        ImportError
            Without formulaic: ``pip install 'gpustats[formula]'``.

        Examples
        --------
        >>> import gpustats as gs
        >>> data = {"died": ["no", "no", "yes", "no", "yes", "yes"], "dose": [0.0, 1.0, 1.0, 2.0, 2.0, 3.0]}
        >>> fit = gs.GLM.from_formula("died ~ dose", data, gs.bernoulli_logit).fit()
        >>> fit.labels, fit.estimates.round(2), round(fit["dose"], 2)
        (('dose', 'Intercept'), array([ 1.39, -2.08]), 1.39)
        >>> fit.predict({"dose": [0.5]}).mean.round(2)
        array([0.2])
        """
        family = Family(density, predictor_of(density) if eta is None else eta)
        given = {n: v for n, v in ((OFFSET, offset), (WEIGHTS, weights)) if v is not None}
        design = Design(formula, {n: v for n, v in given.items() if isinstance(v, str)}, sparse, np.dtype(dtype))
        numbers = {n: v for n, v in given.items() if not isinstance(v, str)}
        caller = sys._getframe().f_back  # None where another language calls
        context = ChainMap(caller.f_locals, caller.f_globals) if caller is not None else ChainMap[str, Any]()
        rows = design.first_rows(data, numbers, missing, context, {*RESERVED, *density.parameters})
        glm = cls(density, **rows.data, eta=family.eta, devices=devices, client=client, memory=memory, chunk=chunk)
        made = cast("OfFormula", glm)
        made._names, made._random = dataclasses.replace(made._names, design=design), design.terms
        return made

    @property
    def formula(self) -> str | None:
        """The formula of the model, where it has one."""
        return None if self._names.design is None else self._names.design.formula

    @property
    def device(self) -> Device:
        """Device of the data, if they lie on one device."""
        if self._pieces is not None:
            raise AttributeError(f"the data lie in pieces: {self._pieces.where}")
        return self._runtime.device

    @property
    def defaults(self) -> Mapping[str, Value]:
        """Values of the parameters that a call may leave out."""
        return {INTERCEPT: 0.0}

    def _facts(self) -> Mapping[str, object]:
        outcomes = {f"y = {i}": repr(label) for i, label in enumerate(self._names.outcomes[:6])}
        terms = {t.name: f"{t.columns} columns" if t.columns else "intercepts" for t in self._terms}
        groups = {t.name: f"{t.largest + 1:,} groups, {terms[t.name]}" for t in self._terms}
        return {
            "density": self.density.name, "linear predictor": self._family.eta, "formula": self.formula or "",
            "X": f"({self.n_rows}, {self._columns}) {self._dtype}", **outcomes, **groups,
            "parameters": ", ".join(self.parameters), "data": self._place(),
        }  # fmt: skip

    def __repr__(self) -> str:
        where = self.device.id if self._pieces is None else self._pieces.where
        formula = "" if self.formula is None else f": {self.formula},"
        outcomes = "".join(f", y {i} is {label!r}" for i, label in enumerate(self._names.outcomes[:6]))
        X = f"X ({self.n_rows}, {self._columns}) {self._dtype}"
        return f"<GLM of {self.density.name}{formula} for {X}{outcomes} on {where}>"

    # -- what users call

    @in_pieces(added)
    def __call__(self, beta: ArrayLike, alpha: ArrayLike = 0.0, *args: ArrayLike, **kwargs: ArrayLike) -> Value:
        """The summed log-density.

        Parameters
        ----------
        beta, alpha, *parameters : array_like
            See the notes of the class.

        Returns
        -------
        float or (S,) ndarray
            In float64.
        """
        return self._value_and_grad((), beta, alpha, args, kwargs)[0]

    @in_pieces(added_with_gradients)
    def value_and_grad(
        self, beta: ArrayLike, alpha: ArrayLike | None = None, *args: ArrayLike, wrt: str | Collection[str] | None = None,
        **kwargs: ArrayLike,
    ) -> tuple[Value, dict[str, Value]]:
        """The summed log-density and its derivatives.

        Parameters
        ----------
        beta, alpha, *parameters : array_like
            See the notes of the class.
        wrt : str or collection of str, optional
            Names among ``"beta"``, ``"alpha"``, names of the density's other parameters, ``"X"`` and ``"y"``. By default the
            coefficients, the intercept if it is given, and all parameters that are not whole numbers. Only what is asked for
            is computed.

        Returns
        -------
        value : float or (S,) ndarray
        gradient : dict
            Name -> derivative of the sum of all values, shaped like that argument; float64, but for those with a value for each
            observation and that in X, which have the type of X.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 2.5])
        >>> glm = gs.GLM(gs.normal, y, X, eta="mu")
        >>> glm.value_and_grad(np.array([1.0]), sigma=1.0, wrt=("beta", "sigma"))[1]
        {'beta': array([-1.5]), 'sigma': -2.75}
        """
        return self._value_and_grad(wrt, beta, alpha, args, kwargs)

    @in_pieces(added_gradients)
    def weighted_gradients(
        self, factors: ArrayLike, beta: ArrayLike, alpha: ArrayLike = 0.0, *args: ArrayLike, wrt: Collection[str],
        **kwargs: ArrayLike,
    ) -> dict[str, Value]:
        """The derivatives of the sum of the log-densities times `factors`, (N,) or (S, N); otherwise as `value_and_grad`."""
        self._refuse_named("weighted_gradients")
        assert isinstance(self._evaluator, Evaluator)
        arguments, in_wrt = self._all_arguments(beta, alpha, *args, **kwargs), self._wrt(wrt, True)
        return self._evaluator.value_and_grad(arguments, in_wrt, self._data.weighted(factors, arguments.lead))[1]

    @in_pieces(joined("logpdf"))
    def logpdf(self, beta: ArrayLike, alpha: ArrayLike = 0.0, *args: ArrayLike, **kwargs: ArrayLike) -> Value:
        """The log-density of each observation; arguments as for a call.

        Returns
        -------
        (N,) or (S, N) ndarray, or a device array where beta is one
        """
        return self._evaluator.logpdf(self._all_arguments(beta, alpha, *args, **kwargs))

    logpmf = logpdf

    @in_pieces(joined("linear_predictor"))
    def linear_predictor(self, beta: ArrayLike, alpha: ArrayLike = 0.0, **tables: ArrayLike) -> Array:
        """Linear predictor ``X @ beta + alpha + offset``, with the terms of named groups.

        Parameters
        ----------
        beta, alpha, **tables : array_like
            See the class.

        Returns
        -------
        (N,) or (S, N) ndarray, or a device array where beta is one
            With a last axis of outcomes where the linear predictor is a vector.
        """
        return self._evaluator.linear_predictor(self._linear_arguments(beta, alpha, **tables))

    def rvs(self, beta: ArrayLike, alpha: ArrayLike = 0.0, *args: ArrayLike, rng: Any = None, **kwargs: ArrayLike) -> Value:
        """Draws of new observations at the rows of X.

        Parameters
        ----------
        beta, alpha, *parameters : array_like
            See the notes of the class.
        rng : int, gpustats.Generator, numpy.random.Generator or None
            As for `Density.rvs`.

        Returns
        -------
        (N,) or (S, N) ndarray, or a device array where beta is one
        """
        given = {n: a.value for n, a in self._all_arguments(beta, alpha, *args, **kwargs).by_name.items()}
        tables: dict[str, Value] = {t.name: given[t.name] for t in self._terms}
        own: dict[str, Value] = {n: given[n] for n in self._family.parameters}
        return self.density.rvs(**own, **{self._family.eta: self.linear_predictor(beta, alpha, **tables)}, rng=rng)


if TYPE_CHECKING:

    class OfFormula(GLM):
        """GLM of a formula, as type checkers know it: its terms in parentheses are random by default."""

        def fit(
            self, *, random: str | Collection[str] | None = None, reml: bool | None = None,
            start: Mapping[str, ArrayLike] | None = None, fixed: Mapping[str, ArrayLike] | None = None,
            bounds: Mapping[str, tuple[ArrayLike | None, ArrayLike | None]] | None = None,
            priors: Mapping[str, Prior] | None = None, max_iterations: int = 200, progress: bool = False,
        ) -> MixedEstimates: ...  # fmt: skip
