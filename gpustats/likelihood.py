"""Density bound to data on a device.

What users call and the parts of a call are one module: a method is a line or two, and what it says of itself.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .density import Density
from .display.html import Shown, shape_of
from .distribution.given import check_density
from .evaluation.arguments import check_wrt
from .evaluation.broadcasting import FOR_SUMS, broadcast
from .evaluation.compiled import RepeatedSum, Replayable
from .evaluation.gradient import Gradient, gradient_of, hessian_of
from .evaluation.kinds import Plans, in_order, kind_of
from .evaluation.placement import device_of
from .evaluation.pointwise import Pointwise
from .evaluation.repeated import RepeatedCall
from .evaluation.repeated_sum import repeated_sum
from .evaluation.results import as_host
from .evaluation.set_by_set import SetBySet
from .fits.bound_density import LikelihoodProblem
from .fits.fittable import Fittable
from .frames.columns import names_of_columns
from .parallel.devices import example
from .parallel.divide import divide
from .parallel.pieces import Data, Options, Pieces, in_memory, in_pieces
from .parallel.remade import Remade
from .parallel.rows import added, added_with_gradients, as_rows
from .rows.along import Along
from .rows.leaves import per_row
from .rows.model import Rows, rows_on
from .runtime import arrays
from .runtime.base import Device, Runtime
from .runtime.host_memory import HostRows, contiguous
from .runtime.types import Array, Shape, Value


class BoundDensity(Remade, Shown):
    """Density with observations, (N,), or (N, d) where one observation is a vector, on a device."""

    _columns: tuple[str, ...] = ()  # names of the elements of a vector, where the data had some

    def __init__(self, density: Density, x: ArrayLike):
        self._bind(in_memory({"x": self._observations(density, x)})["x"])

    def _observations(self, density: Density, x: Value) -> Any:
        """Observations as an array, of a shape that the density takes."""
        check_density(density, type(self).__name__, f"{type(self).__name__}(density, x)")
        self._density, self._function = density, density.log_density
        observation = self._function.arguments[0]
        self._columns = names_of_columns(x) if observation.rank else ()
        x = as_rows(x, observation.name)
        if isinstance(x, float):
            x = np.array([x])
        if len(x.shape) <= observation.rank:
            raise ValueError(
                f"{observation.name} has shape {tuple(x.shape)}: a {type(self).__name__.lower()} takes "
                f"{'an array of shape (N,)' if not observation.rank else 'vectors as an array of shape (N, d)'}"
            )
        return x

    def _bind(self, x: Value, runtime: Runtime | None = None, own: bool = False) -> None:
        """Put the observations on a device; `own`: nobody changes them, so that they need no copy where a kernel sees them."""
        runtime = runtime or device_of([x], [self._function.arguments[0].name])
        self._native = arrays.is_device_array(x)  # as it came
        if not self._native:
            dtype, own = arrays.result_dtype([x]), own or isinstance(x, HostRows)  # what is read is nobody else's
            if runtime.host_visible:
                x = contiguous(np.asarray(x), dtype, copy=not own)
            else:
                x = runtime.to_device(x, dtype)
        self._runtime, self._x = runtime, x

    @property
    def density(self) -> Density:
        """Density of one observation."""
        return self._density

    @property
    def x(self) -> Any:
        """Observations, where they lie."""
        return self._x

    @x.setter
    def x(self, value: Value) -> None:
        name = type(self).__name__
        raise AttributeError(
            f"the data of a {name.lower()} stay what they are: make a new one, gpustats.{name}(density, x)"
        )

    @property
    def device(self) -> Device:
        """Device on which the data lie."""
        return self._runtime.device

    @property
    def parameters(self) -> Sequence[str]:
        return self._density.parameters

    # -- as a model that travels: see `parallel.remade`

    def _recipe(self) -> Callable[..., Any]:
        return functools.partial(type(self), self._density)

    def _kept(self) -> dict[str, object]:
        return {"_columns": self._columns}

    def _held(self) -> dict[str, Value]:
        return {"x": self._x if self._native else as_host(self._runtime, self._x)}

    def _facts(self) -> Mapping[str, object]:
        density, x = self._density, self._function.arguments[0]
        return {
            "density": f"{density.name}({', '.join(density.domains)})", x.name: shape_of(self._x),
            "parameters": ", ".join(self.parameters), "data": self._place(),
        }  # fmt: skip

    def __repr__(self) -> str:
        return self._shown(self.device.id)

    def _shown(self, where: str) -> str:
        """What it is, of which data, and where they lie."""
        kind, x = type(self).__name__.lower(), self._x
        return f"<{kind} of {self._density.name} for x {tuple(x.shape)} {x.dtype} on {where}>"


class Likelihood(BoundDensity, Replayable, Fittable):
    """Log-likelihood of parameters, given data that stay on a device.

    Parameters
    ----------
    density : Density
    x : array_like
        Observations: (N,), or (N, d) where one observation is a vector, of which a data frame has the names in tables of fits.
        They are moved to the default device once; a device array is used where it lies.
    same_bits : bool
        Whether a set of parameters gets the bits that it gets alone, whatever other sets are in the call, as samplers need that
        are to repeat. Each set then takes a pass of its own over the data.
    devices, client, memory, chunk : optional
        Division of the observations where one device is not enough: see `gpustats.parallel`.

    Notes
    -----
    A parameter is one number for all observations; an array whose last axis is that of the observations, (N,), with a number
    for each; or K sets, (K, 1), of which each gives a sum of its own. The shape alone tells which: an array (K,) is never K
    sets, also where K is N. Where an observation is a vector, (d,) is the vector of all, (N, d) that of each observation, and
    (K, 1, d) those of K sets.

    A likelihood can be pickled, copied, and sent to other processes: there the data are moved to the default device.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> likelihood = gs.Likelihood(gs.normal, np.array([-1.0, 0.0, 2.0]))
    >>> round(likelihood(mu=0.0, sigma=1.0), 4)
    -5.2568
    >>> likelihood(np.array([[0.0], [1.0]]), 1.0).round(4)  # K parameter sets: shape (K, 1)
    array([-5.2568, -5.7568])
    """

    _pieces: Pieces | None

    def __init__(
        self, density: Density, x: ArrayLike, *, same_bits: bool = False, devices: Any = None, client: Any = None,
        memory: int | None = None, chunk: int | None = None,
    ):  # fmt: skip
        self._same_bits = bool(same_bits)
        data = self._x = self._observations(density, x)
        options = self._options = Options(devices, client, memory, chunk)
        elsewhere = devices is not None or client is not None
        runtime = None if elsewhere else device_of([data], [self._function.arguments[0].name])
        self._pieces = None
        if len(data.shape) == 1 + self._function.arguments[0].rank:
            row = math.prod(data.shape[1:]) * arrays.result_dtype([data]).itemsize
            self._pieces = divide(self, Data({"x": data}, data.shape[0], row), options, runtime)
        elif self._same_bits:
            raise ValueError(f"x has shape {tuple(data.shape)}: same_bits= is for observations along one axis")
        elif options != Options():
            raise ValueError(f"x has shape {tuple(data.shape)}: only observations along one axis are divided")
        if self._pieces is None:
            self._bind(in_memory({"x": data})["x"], runtime)

    def _bind(self, x: Value, runtime: Runtime | None = None, own: bool = False) -> None:
        super()._bind(x, runtime, own)
        of_numbers = type(self._function) is Pointwise and not any(a.rank for a in self._function.arguments)
        self._repeats = of_numbers and len(self._x.shape) == 1 and self._x.shape[0] > 0
        if self._native:  # kernels must read the user's array itself, not what a copy of it had in the first call
            self._repeats &= self._x.dtype == arrays.result_dtype([self._x]) and arrays.is_contiguous(self._x)
        self._calls: Plans[RepeatedCall[tuple[float, dict[str, Value]]] | None] = Plans()
        self._over_rows: Plans[Rows | None] = Plans()

    @property
    def device(self) -> Device:
        """Device on which the data lie, if on one device."""
        if self._pieces is not None:
            raise AttributeError(f"the data lie in pieces: {self._pieces.where}")
        return self._runtime.device

    def __repr__(self) -> str:
        return self._shown(self.device.id if self._pieces is None else self._pieces.where)

    def _shown(self, where: str) -> str:
        rows = tuple(self._x.shape[: len(self._x.shape) - self._function.arguments[0].rank])
        by_set = ", ".join(("K", *("1" for _ in rows)))
        each = f"parameters: numbers, {rows} by observation, or ({by_set}) for K sets"
        return f"{super()._shown(where).removesuffix('>')}; {each}>"

    @in_pieces(added)
    def __call__(self, *args: ArrayLike, **kwargs: ArrayLike) -> Any:
        """Sum of the log-density over the data.

        Parameters
        ----------
        *parameters : array_like
            In the density's order, or by name: scalars, one for each observation (N,), or K sets (K, 1): see the class.

        Returns
        -------
        float or (K,) ndarray
            In float64.
        """
        if (finish := self._start_repeated(args, kwargs, False)) is not None:
            return finish()[0]
        if (sets := self._set_by_set(args, kwargs)) is not None:
            return sets.values([self(**own) for own in sets])
        function = self._function.for_arguments(kwargs)
        return function.sum([self._x, *function.bind(args, kwargs, missing=1)], self._runtime)

    @in_pieces(added_with_gradients)
    def value_and_grad(
        self, *args: ArrayLike, wrt: str | Collection[str] | None = None, **kwargs: ArrayLike
    ) -> tuple[Value, dict[str, Value]]:
        """Sum of the log-density and its derivatives, in one pass over the data.

        Parameters
        ----------
        *parameters : array_like
            As for a call.
        wrt : str or collection of str, optional
            Names of parameters; by default all but those that are whole numbers.

        Returns
        -------
        value : float or (K,) ndarray
        gradient : dict
            Name -> derivative of the sum of all values, shaped like that parameter.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> likelihood = gs.Likelihood(gs.normal, np.array([-1.0, 0.0, 2.0]))
        >>> value, gradient = likelihood.value_and_grad(0.0, 1.0)
        >>> gradient
        {'mu': 1.0, 'sigma': 2.0}
        """
        if (finish := self._start_repeated(args, kwargs, True, wrt)) is not None:
            return finish()
        function = self._function.for_arguments(kwargs)
        gradient = self._gradient(function, wrt)
        if (sets := self._set_by_set(args, kwargs)) is not None:
            found = [self.value_and_grad(**own, wrt=gradient.wrt) for own in sets]
            return sets.values([value for value, _ in found]), sets.gradient([slopes for _, slopes in found], gradient.wrt)
        return gradient([self._x, *function.bind(args, kwargs, missing=1)], self._runtime)

    @in_pieces(added)
    def hessian(self, *args: ArrayLike, wrt: str | Collection[str] | None = None, **kwargs: ArrayLike) -> np.ndarray:
        """Matrix of second derivatives, in one pass over the data.

        Parameters
        ----------
        *parameters : array_like
            Scalars, or K sets (K, 1).
        wrt : str or collection of str, optional
            Names of scalar parameters, in the order of the rows of the matrix; by default all but those that are whole numbers.

        Returns
        -------
        (P, P) or (K, P, P) ndarray

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> gs.Likelihood(gs.normal, np.array([-1.0, 0.0, 2.0])).hessian(mu=0.0, sigma=1.0)
        array([[ -3.,  -2.],
               [ -2., -12.]])
        """
        if (sets := self._set_by_set(args, kwargs)) is not None:
            return sets.values([self.hessian(**own, wrt=wrt) for own in sets])
        function = self._function.for_arguments(kwargs)
        return hessian_of(function, wrt)([self._x, *function.bind(args, kwargs, missing=1)], self._runtime)

    def _set_by_set(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> SetBySet | None:
        """Sets of parameters that are evaluated one by one; None where there is one, or they may be evaluated together."""
        if not self._same_bits:
            return None
        sets = SetBySet(self._function.for_arguments(kwargs), self._x.shape[0], args, kwargs)
        return sets if sets.lead else None

    def _problem(self) -> LikelihoodProblem:
        return LikelihoodProblem(self)

    def _gradient(self, function: Pointwise, wrt: str | Collection[str] | None) -> Gradient:
        """Derivatives of the summed log-density; ValueError where those in the data are among them."""
        gradient = gradient_of(function, wrt)
        if function.arguments[0].name in gradient.wrt:
            raise ValueError(f"wrt: {function.arguments[0].name} is the data of this likelihood, not a parameter")
        return gradient

    # -- as a model that is evaluated in pieces: see `parallel.pieces.Divisible`

    def _start(self, method: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Callable[[], Any] | None:
        if method == "__call__":
            finish = self._start_repeated(args, kwargs, False)
            return None if finish is None else lambda: finish()[0]
        if method == "value_and_grad":
            given = {n: v for n, v in kwargs.items() if n != "wrt"}
            return self._start_repeated(args, given, True, kwargs.get("wrt"))
        return None

    def _row_axes(
        self, method: str, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> tuple[Sequence[str], dict[str, int]]:
        kwargs = {n: v for n, v in kwargs.items() if n != "wrt"}
        function = self._function.for_arguments(kwargs)
        values = function.bind(args, kwargs, missing=1)
        names, x = [a.name for a in function.arguments], self._x
        n_rows = x.shape[0]
        batch = function.batch_shapes([np.broadcast_to(0.0, x.shape), *values])[0]
        broadcast(names, batch, FOR_SUMS)
        axes = {
            a.name: -1 - a.rank
            for a, shape in zip(function.arguments[1:], batch[1:], strict=True)
            if shape and shape[-1] == n_rows > 1
        }
        return names[1:], axes

    def _recipe(self) -> Callable[..., Likelihood]:
        return functools.partial(Likelihood, self._density, same_bits=self._same_bits)

    def _held(self) -> dict[str, Value]:
        return super()._held() if self._pieces is None else self._pieces.held()

    def _piece(self, data: Mapping[str, np.ndarray | HostRows], runtime: Runtime) -> Likelihood:
        piece = Likelihood.__new__(Likelihood)
        piece._density, piece._function, piece._pieces = self._density, self._function, None
        piece._same_bits = self._same_bits
        piece._bind(data["x"], runtime, own=True)
        return piece

    def _places(self) -> Mapping[str, Array] | None:
        return None if self._runtime.host_visible else {"x": self._x}

    def _trial(self) -> tuple[Any, ...]:
        dim = self._x.shape[-1]
        return tuple(example(a, dim) for a in self._function.arguments[1:])

    # -- the call that a sampler makes thousands of times: everything but the numbers is decided once

    @property
    def differentiable(self) -> tuple[str, ...]:
        """Names of the parameters in which there are derivatives."""
        return check_wrt(self._function.name, self._function.arguments, None)

    def compiled(self, arguments: Mapping[str, Value], wrt: Sequence[str], n_sets: int | None = None) -> RepeatedSum | None:
        in_their_order = in_order(self._density.parameters, (), arguments)
        if self._pieces is not None or not self._repeats or in_their_order is None:
            return None
        if n_sets is not None:
            if self._same_bits or any(np.size(value) != n_sets for value in in_their_order) or (rows := self._rows()) is None:
                return None
            return rows.compiled({n: np.reshape(v, n_sets) for n, v in arguments.items()}, wrt, n_sets)
        repeated = self._repeated(in_their_order, bool(wrt), wrt)
        return None if repeated is None else repeated.compiled(in_their_order)

    def along(self, names: Collection[str]) -> Replayable | None:
        if self._pieces is not None or not self._repeats or self._rows() is None:
            return None

        def rows(shapes: Mapping[str, Shape]) -> Rows:
            made = self._rows(*[n for n, shape in shapes.items() if shape])
            assert made is not None
            return made

        return Along(rows, names, {n: n for n in self.parameters}, self.parameters)

    def _rows(self, *by_row: str) -> Rows | None:
        """The same sum over rows, one launch of which takes many sets; None where parameters are whole numbers.

        Parameters `by_row` have a number for each observation.
        """
        return self._over_rows.plan(by_row, self._new_rows, by_row)

    def _new_rows(self, by_row: Sequence[str]) -> Rows | None:
        x, whole = self._function.arguments[0], [a.name for a in self._function.arguments if "integer" in a.words]
        if any(name != x.name for name in whole):
            return None
        with contextlib.suppress(ValueError):  # whole numbers that are none, for which there is a value all the same
            return rows_on(self._runtime, self._function, None, {x.name: self._x, **{n: per_row() for n in by_row}})
        return None

    def _start_repeated(
        self, args: Sequence[Value], kwargs: Mapping[str, Value], derivatives: bool, wrt: str | Collection[str] | None = None
    ) -> Callable[[], tuple[float, dict[str, Value]]] | None:
        """Start a repeated call.

        Returns a function that waits for the sum and the derivatives; None where the call is not of this kind.
        """
        if not self._repeats or (arguments := in_order(self._density.parameters, args, kwargs)) is None:
            return None
        repeated = self._repeated(arguments, derivatives, wrt)
        return None if repeated is None else repeated.start(arguments)

    def _repeated(
        self, arguments: Sequence[Value], derivatives: bool, wrt: str | Collection[str] | None
    ) -> RepeatedCall[tuple[float, dict[str, Value]]] | None:
        """Repeated sum, with derivatives in `wrt` or with none, for calls that differ in numbers alone; else None."""
        if (kind := kind_of(arguments)) is None:
            return None
        wrt = wrt if wrt is None or isinstance(wrt, str) else tuple(wrt)
        return self._calls.plan((derivatives, wrt, kind), self._new_repeated, arguments, derivatives, wrt)

    def _new_repeated(
        self, arguments: Sequence[Value], derivatives: bool, wrt: str | Collection[str] | None
    ) -> RepeatedCall[tuple[float, dict[str, Value]]] | None:
        gradient = self._gradient(self._function, wrt) if derivatives else None
        row, dtype = tuple(self._x.shape), self._x.dtype
        for value in arguments:
            if type(value) is not np.ndarray:
                continue  # a number
            if not value.ndim and (value.dtype == arrays.result_dtype([value]) or value.dtype.kind in "iu"):
                continue
            if value.shape != row or row == (1,) or value.dtype != dtype:
                return None
        function, names = (self._function, ()) if gradient is None else (gradient.summed, gradient.wrt)
        return repeated_sum(function, self._runtime, self._x, arguments, self._density.parameters, names)

