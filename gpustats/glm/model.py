"""The log-likelihood of a generalised linear model, bound to data on a device."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.placement import device_of, gather
from ..parallel.devices import example
from ..parallel.divide import divide
from ..parallel.pieces import Data, Options, in_memory, in_pieces
from ..parallel.rows import added, added_gradients, added_with_gradients, as_rows, joined, largest
from ..runtime import arrays
from ..runtime.transfers import to_host
from .call import Call
from .design_matrix import DesignMatrix
from .family import COEFFICIENTS, DESIGN, GROUPS, INTERCEPT, OBSERVATIONS, OFFSET, WEIGHTS, Family
from .groups import Groups
from .repeated import Repeated, kinds_of

if TYPE_CHECKING:
    from ..density import Density
    from ..runtime.base import Device, Runtime
    from .kernel import Launch


class GLM:
    """The log-likelihood of a generalised linear model whose data stay on a device.

    The observations have the density ``f(y[n]; eta[n], …)`` with the linear predictor ``eta[n] = X[n] @ beta + alpha +
    offset[n]``. The value and all derivatives come from one reading of X.

    Parameters
    ----------
    density : Density
        Built in, registered, or made by a transform, with a parameter that is the linear predictor: a number, or a vector with
        an element for each of C outcomes, as ``categorical_logit`` has.
    y : (N,) array_like
        Observations.
    X : (N, k) array_like
        The design matrix, float32 or float64 (everything is then computed in that type, sums in float64), in row- or
        column-major order. It is moved to the default device once; a device array in row-major order is used where it lies on
        a GPU.
    eta : str
        Name of the density's parameter that is the linear predictor.
    offset : (N,) array_like, optional
        Added to the linear predictor.
    weights : (N,) array_like, optional
        Nonnegative; how often each observation counts.
    groups : (N,) array_like of int, optional
        The group of each observation, from 0 to G - 1. Then the intercept ``alpha`` may have a value for each group.
    n_groups : int, optional
        The number of groups G; by default the largest of `groups` plus one.
    devices, client, memory, chunk : optional
        How to divide the rows where one device is not enough: see `gpustats.parallel`.

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

    def __init__(
        self, density: Density, y: Any, X: Any, *, eta: str = "eta", offset: Any = None, weights: Any = None,
        groups: Any = None, n_groups: int | None = None, devices: Any = None, client: Any = None, memory: int | None = None,
        chunk: int | None = None,
    ):  # fmt: skip
        self.density, self._family = density, Family(density, eta)
        given = {OBSERVATIONS: y, DESIGN: X, OFFSET: offset, WEIGHTS: weights, GROUPS: groups}
        data = {n: as_rows(v, n) for n, v in given.items() if v is not None}
        if arrays.is_device_array(data.get(GROUPS)):
            data[GROUPS] = to_host(data[GROUPS])
        if len(getattr(data[DESIGN], "shape", ())) != 2:
            raise ValueError(f"X must be a matrix, (N, k); it has shape {getattr(data[DESIGN], 'shape', ())}")
        n, self._columns = data[DESIGN].shape
        if not self._columns:
            raise ValueError(f"X has shape {(n, 0)}: a GLM needs a column")
        for name, value in data.items():
            if name not in (DESIGN, GROUPS) and getattr(value, "shape", ()) != (n,):
                raise ValueError(f"{name} has shape {getattr(value, 'shape', ())}, and X has {n} rows: it must be ({n},)")
        self._dtype = arrays.result_dtype([data[DESIGN]])
        self.n_rows, self.n_groups = n, None if groups is None else _count(data[GROUPS], n, n_groups)
        self._plans_by_size: dict[Any, dict[Any, Any]] = {}
        elsewhere = devices is not None or client is not None
        runtime = None if elsewhere else device_of(list(data.values()), list(data))
        self._runtime: Any = runtime  # None: the pieces have theirs
        row = (self._columns + len(data) - 1 - (GROUPS in data)) * self._dtype.itemsize + 8 * (GROUPS in data)
        self._pieces = divide(self, Data(data, n, row), Options(devices, client, memory, chunk), runtime)
        if self._pieces is None:
            assert runtime is not None
            self._bind(in_memory(data), runtime)

    def _bind(self, data: Mapping[str, Any], runtime: Runtime) -> None:
        """Put the data on a device."""
        if self._dtype.itemsize == 8 and not runtime.device.double:
            raise ValueError(f"{runtime.device} computes in float32 only: pass X in float32")
        self._runtime = runtime
        self._design = DesignMatrix(data[DESIGN], runtime, self._dtype)
        self._data = {n: self._moved(v) for n, v in data.items() if n not in (DESIGN, GROUPS)}
        self._groups: Groups | None = None
        if self.n_groups is not None:
            self._groups = Groups(_group_numbers(data[GROUPS], self.n_groups), self.n_groups, runtime)
        # What is planned for some rows is good for as many others: pieces of the same model share it.
        size = runtime, self.n_rows, self._design.aligned
        self._plans: dict[Any, tuple[Launch, list[str]]] = self._plans_by_size.setdefault(size, {})
        self._repeated: dict[Any, Repeated | None] = {}

    @property
    def device(self) -> Device:
        """Where the data lie, if on one device."""
        if self._pieces is not None:
            raise AttributeError(f"the data lie in pieces: {self._pieces.where}")
        return self._runtime.device

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what the methods take, in their order."""
        return (COEFFICIENTS, INTERCEPT, *self._family.parameters)

    def __repr__(self) -> str:
        where = self._runtime.device.id if self._pieces is None else self._pieces.where
        return f"<GLM of {self.density.name} for X ({self.n_rows}, {self._columns}) {self._dtype} on {where}>"

    # -- what users call

    @in_pieces(added)
    def __call__(self, beta: Any, alpha: Any = 0.0, *args: Any, **kwargs: Any) -> Any:
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
        self, beta: Any, alpha: Any = None, *args: Any, wrt: str | Collection[str] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The summed log-density and its derivatives.

        Parameters
        ----------
        beta, alpha, *parameters : array_like
            See the notes of the class.
        wrt : str or collection of str, optional
            Of ``"beta"``, ``"alpha"``, names of the density's other parameters, ``"X"`` and ``"y"``. By default the
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
        self, factors: Any, beta: Any, alpha: Any = 0.0, *args: Any, wrt: Collection[str], **kwargs: Any
    ) -> dict[str, Any]:
        """The derivatives of the sum of the log-densities times `factors`, (N,) or (S, N); otherwise as `value_and_grad`."""
        return Call(self, beta, alpha, args, kwargs).value_and_grad(self._wrt(wrt, True), factors)[1]

    @in_pieces(joined("logpdf"))
    def logpdf(self, beta: Any, alpha: Any = 0.0, *args: Any, **kwargs: Any) -> Any:
        """The log-density of each observation; arguments as for a call.

        Returns
        -------
        (N,) or (S, N) ndarray, or a device array where beta is one
        """
        return Call(self, beta, alpha, args, kwargs).by_rows("value")

    logpmf = logpdf

    @in_pieces(joined("linear_predictor"))
    def linear_predictor(self, beta: Any, alpha: Any = 0.0) -> Any:
        """``X @ beta + alpha + offset``.

        Returns
        -------
        (N,) or (S, N) ndarray, or a device array where beta is one
            With a last axis of outcomes where the linear predictor is a vector.
        """
        return Call(self, beta, alpha, (), None).by_rows("eta")

    def rvs(self, beta: Any, alpha: Any = 0.0, *args: Any, rng: Any = None, **kwargs: Any) -> Any:
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
        own = Call(self, beta, alpha, args, kwargs).values
        own = {n: own[n] for n in self._family.parameters}
        return self.density.rvs(**own, **{self._family.eta: self.linear_predictor(beta, alpha)}, rng=rng)

    # -- as a model that is evaluated in pieces: see `parallel.pieces.Divisible`

    def _row_axes(self, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[str], dict[str, int]]:
        names, vector = list(self.parameters), self._family.vector
        axes = {OBSERVATIONS: 0, DESIGN: 0, "logpdf": -1, "linear_predictor": -1 - vector}
        own = {n: v for n, v in kwargs.items() if n not in ("wrt", "factors")}
        if method == "weighted_gradients":
            names.insert(0, "factors")
            factors = args[0] if args else kwargs["factors"]
            if np.shape(factors)[-1:] != (self.n_rows,):
                raise ValueError(f"factors has shape {np.shape(factors)}: it must be ({self.n_rows},) or (S, {self.n_rows})")
            axes["factors"], args = -1, args[1:]
        call = self._call(method == "linear_predictor", *args, **own)
        for name, a in call.arguments.items():
            kind = call.kinds.get(name)
            if a.by_row and kind != "group":
                axes[name] = -1 - len(a.core)
                if name == INTERCEPT and self.n_groups is not None:
                    raise ValueError("alpha has a value for each row: leave out groups where the rows are divided")
        return names, axes

    def _call(self, alone: bool, beta: Any, alpha: Any = 0.0, *args: Any, **kwargs: Any) -> Call:
        return Call(self, beta, alpha, args, None if alone else kwargs)

    def _recipe(self) -> Callable[..., GLM]:
        return functools.partial(GLM, self.density, eta=self._family.eta, n_groups=self.n_groups)

    def _piece(self, data: Mapping[str, np.ndarray], runtime: Runtime) -> GLM:
        piece = copy.copy(self)
        piece._pieces, piece.n_rows = None, len(data[DESIGN])
        piece._bind(data, runtime)
        return piece

    def _trial(self) -> tuple[Any, ...]:
        beta = np.zeros((self._columns, 3) if self._family.vector else self._columns)
        arguments = {a.name: a for a in self.density.log_density.arguments}
        return (beta, 0.0, *(example(arguments[n], 3) for n in self._family.parameters))

    # -- the pieces of a call

    def _value_and_grad(
        self, wrt: str | Collection[str] | None, beta: Any, alpha: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        values = (beta, 0.0 if alpha is None else alpha, *args, *kwargs.values())
        kinds = kinds_of(values)
        key = kinds, alpha is None, tuple(kwargs), wrt if wrt is None or isinstance(wrt, str) else tuple(wrt)
        if kinds is not None and (known := self._repeated.get(key)) is not None:
            return known(values)
        names = self._wrt(wrt, alpha is not None)
        call = Call(self, beta, alpha, args, kwargs)
        if kinds is not None and key not in self._repeated:
            in_order = [COEFFICIENTS, INTERCEPT, *self._family.parameters[: len(args)], *kwargs]
            self._repeated[key] = Repeated(call, names, in_order) if Repeated.suits(call, names, in_order) else None
        return call.value_and_grad(names)

    def _wrt(self, wrt: str | Collection[str] | None, intercept: bool) -> tuple[str, ...]:
        can = [n for n in self.parameters if n not in self._family.whole]
        if wrt is None:
            return tuple(n for n in can if n != INTERCEPT or intercept)
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        for name in names:
            if name not in (allowed := [*can, DESIGN, *{OBSERVATIONS} - self._family.whole]):
                raise ValueError(f"wrt: {name!r} is none of {', '.join(allowed)}")
            if names.count(name) > 1:
                raise ValueError(f"wrt names {name} twice")
        return names

    def _moved(self, value: Any) -> Any:
        """An array as kernels read it, on the device or in memory that it sees."""
        if arrays.is_device_array(value):
            same = value.dtype == self._dtype and arrays.is_contiguous(value)
            return value if same else gather(self._runtime, value, self._dtype)
        value = np.array(value, self._dtype, order="C")
        return value if self._runtime.host_visible else self._runtime.to_device(value)

    def _given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The density's parameters by their names."""
        names, defaults = self._family.parameters, self.density.defaults
        if len(args) > len(names):
            raise ValueError(
                f"beyond beta and alpha, the GLM takes {len(names)} parameters ({', '.join(names)}), not {len(args)}"
            )
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                raise ValueError(f"the GLM has no parameter {name!r}; its parameters are {', '.join(self.parameters)}")
            if name in given:
                raise ValueError(f"{name} is given twice")
            given[name] = value
        given = {**{n: defaults[n] for n in names if n in defaults}, **given}
        if lacking := [n for n in names if n not in given]:
            raise ValueError(f"the GLM needs {', '.join(lacking)}; its parameters are {', '.join(self.parameters)}")
        return {n: given[n] for n in names}


def _count(groups: Any, n: int, n_groups: int | None) -> int:
    """The number of groups; where it is not given, all numbers are read."""
    shape, dtype = getattr(groups, "shape", ()), np.dtype(getattr(groups, "dtype", float))
    if tuple(shape) != (n,) or dtype.kind not in "iu":
        raise ValueError(
            f"groups has shape {tuple(shape)} and dtype {dtype}: it must be ({n},) whole numbers, one for each row"
        )
    return int(largest(groups, -1)) + 1 if n_groups is None else n_groups


def _group_numbers(groups: Any, n_groups: int) -> np.ndarray:
    numbers = np.asarray(groups)
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= 2**31 - 1):
        raise ValueError("groups must be numbered from 0; numpy.unique(…, return_inverse=True) numbers them")
    if numbers.max(initial=-1) >= n_groups:
        raise ValueError(f"groups has the number {numbers.max()}, and n_groups={n_groups} must be larger than all of them")
    return numbers
