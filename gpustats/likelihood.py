"""A density bound to data on a device."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .evaluation.broadcasting import broadcast
from .evaluation.gradient import gradient_of, hessian_of
from .evaluation.placement import device_of
from .evaluation.pointwise import Pointwise
from .evaluation.results import output
from .evaluation.sums import LOGLIK
from .parallel.devices import example
from .parallel.divide import divide
from .parallel.pieces import Data, Options, Pieces, in_memory, in_pieces
from .parallel.rows import added, added_with_gradients, as_rows
from .runtime import arrays

if TYPE_CHECKING:
    from .density import Density
    from .evaluation.sums import SumPlan
    from .runtime.base import Device, Runtime

_NUMBERS = (float, int, np.float64, np.float32)


class _NumberPlan(NamedTuple):
    """A sum over the data for parameters of certain kinds."""

    launch: SumPlan
    data: tuple[Any, ...]  # what the kernel takes for the observations
    alive: list[Any]
    rows: int  # how many derivatives are written for each observation


class BoundDensity:
    """A density, and observations on a device.

    Parameters
    ----------
    density : Density
    x : array_like
        (N,), or (N, d) where one observation is a vector.
    """

    def __init__(self, density: Density, x: Any):
        self._bind(in_memory({"x": self._observations(density, x)})["x"])

    def _observations(self, density: Density, x: Any) -> Any:
        """The observations as an array, of a shape that the density takes."""
        self.density, self._function = density, density.log_density
        observation = self._function.arguments[0]
        x = as_rows(x, observation.name)
        if isinstance(x, float):
            x = np.array([x])
        if len(x.shape) <= observation.rank:
            raise ValueError(
                f"{observation.name} has shape {tuple(x.shape)}: a {type(self).__name__.lower()} takes "
                f"{'an array of shape (N,)' if not observation.rank else 'vectors as an array of shape (N, d)'}"
            )
        return x

    def _bind(self, x: Any, runtime: Runtime | None = None, own: bool = False) -> None:
        """Put the observations on a device; `own`: nobody changes them, so that they need no copy where a kernel sees them."""
        runtime = runtime or device_of([x], [self._function.arguments[0].name])
        self._native = arrays.is_device_array(x)  # as it came
        if not self._native:
            dtype = arrays.result_dtype([x])
            if not runtime.host_visible:
                x = runtime.to_device(np.ascontiguousarray(x, dtype))
            else:
                x = np.ascontiguousarray(x, dtype) if own else np.array(x, dtype)
        self._runtime, self.x = runtime, x

    @property
    def device(self) -> Device:
        """Where the data lie."""
        return self._runtime.device

    @property
    def parameters(self) -> Sequence[str]:
        return self.density.parameters

    def __repr__(self) -> str:
        kind, x = type(self).__name__.lower(), self.x
        return f"<{kind} of {self.density.name} for x {tuple(x.shape)} {x.dtype} on {self.device.id}>"


class Likelihood(BoundDensity):
    """The log-likelihood of parameters, given data that stay on a device.

    Parameters
    ----------
    density : Density
    x : array_like
        Observations: (N,), or (N, d) where one observation is a vector. They are moved to the default device once; a device
        array is used where it lies.
    devices, client, memory, chunk : optional
        How to divide the observations where one device is not enough: see `gpustats.parallel`.

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
        self, density: Density, x: Any, *, devices: Any = None, client: Any = None, memory: int | None = None,
        chunk: int | None = None,
    ):  # fmt: skip
        x = self._observations(density, x)
        options = Options(devices, client, memory, chunk)
        elsewhere = devices is not None or client is not None
        runtime = None if elsewhere else device_of([x], [self._function.arguments[0].name])
        self.x, self._pieces = x, None
        if len(x.shape) == 1 + self._function.arguments[0].rank:
            row = math.prod(x.shape[1:]) * arrays.result_dtype([x]).itemsize
            self._pieces = divide(self, Data({"x": x}, x.shape[0], row), options, runtime)
        elif options != Options():
            raise ValueError(f"x has shape {tuple(x.shape)}: only observations along one axis are divided")
        if self._pieces is None:
            self._bind(in_memory({"x": x})["x"], runtime)

    def _bind(self, x: Any, runtime: Runtime | None = None, own: bool = False) -> None:
        super()._bind(x, runtime, own)
        self._row = tuple(self.x.shape)
        numbers = type(self._function) is Pointwise and not any(a.rank for a in self._function.arguments)
        #: how many parameters make a call that `_evaluate` serves; -1: none do
        self._n_plain = len(self.density.parameters) if numbers and self.x.ndim == 1 and len(self.x) else -1
        self._plans: dict[Any, _NumberPlan] = {}

    @property
    def device(self) -> Device:
        """Where the data lie, if on one device."""
        if self._pieces is not None:
            raise AttributeError(f"the data lie in pieces: {self._pieces.where}")
        return self._runtime.device

    def __repr__(self) -> str:
        if self._pieces is None:
            return super().__repr__()
        x = self.x
        return f"<likelihood of {self.density.name} for x {tuple(x.shape)} {x.dtype} on {self._pieces.where}>"

    @in_pieces(added)
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The summed log-density.

        Parameters
        ----------
        *parameters : array_like
            In the density's order, or by name: scalars, one for each observation (N,), or K sets (K, 1).

        Returns
        -------
        float or (K,) ndarray
            In float64.
        """
        if (plain := self._plain(args, kwargs)) is not None:
            return float(self._evaluate(self._function, None, plain)[0][0])
        function = self._function.for_arguments(kwargs)
        return function.sum([self.x, *function.bind(args, kwargs, missing=1)], self._runtime)

    @in_pieces(added_with_gradients)
    def value_and_grad(self, *args: Any, wrt: str | Collection[str] | None = None, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """The summed log-density and its derivatives, in one pass over the data.

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
        plain = self._plain(args, kwargs)
        function = self._function.for_arguments(kwargs)
        gradient = gradient_of(function, wrt)
        if function.arguments[0].name in gradient.wrt:
            raise ValueError(f"wrt: {function.arguments[0].name} is the data of this likelihood, not a parameter")
        if plain is not None and not gradient.vectors:
            sums, rows = self._evaluate(gradient.summed, gradient.wrt, plain)
            value, *totals = sums.tolist()
            by_row = {n for n, v in zip(self.density.parameters, plain, strict=True) if type(v) is np.ndarray}
            return value, {n: (rows if n in by_row else totals).pop(0) for n in gradient.wrt}
        return gradient([self.x, *function.bind(args, kwargs, missing=1)], self._runtime)

    @in_pieces(added)
    def hessian(self, *args: Any, wrt: str | Collection[str] | None = None, **kwargs: Any) -> np.ndarray:
        """The matrix of second derivatives, in one pass over the data.

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
        function = self._function.for_arguments(kwargs)
        return hessian_of(function, wrt)([self.x, *function.bind(args, kwargs, missing=1)], self._runtime)

    # -- as a model that is evaluated in pieces: see `parallel.pieces.Divisible`

    def _row_axes(self, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[str], dict[str, int]]:
        kwargs = {n: v for n, v in kwargs.items() if n != "wrt"}
        function = self._function.for_arguments(kwargs)
        values = function.bind(args, kwargs, missing=1)
        names, x = [a.name for a in function.arguments], self.x
        n_rows = x.shape[0]
        batch = function.batch_shapes([np.broadcast_to(0.0, x.shape), *values])[0]
        broadcast(names, batch)
        axes = {
            a.name: -1 - a.rank
            for a, shape in zip(function.arguments[1:], batch[1:], strict=True)
            if shape and shape[-1] == n_rows > 1
        }
        return names[1:], axes

    def _recipe(self) -> Callable[..., Likelihood]:
        return functools.partial(Likelihood, self.density)

    def _piece(self, data: Mapping[str, np.ndarray], runtime: Runtime) -> Likelihood:
        piece = Likelihood.__new__(Likelihood)
        piece.density, piece._function, piece._pieces = self.density, self._function, None
        piece._bind(data["x"], runtime, own=not isinstance(data["x"], np.memmap))  # a file is read now, not by the kernel
        return piece

    def _trial(self) -> tuple[Any, ...]:
        dim = self.x.shape[-1]
        return tuple(example(a, dim) for a in self._function.arguments[1:])

    # -- the call that a sampler makes thousands of times: everything but the numbers is decided once

    def _plain(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        """The parameters where each is a number, or an array with one for each observation as a kernel takes it; else None."""
        if kwargs and len(args) + len(kwargs) == self._n_plain:
            try:
                args = (*args, *(kwargs[n] for n in self.density.parameters[len(args) :]))
            except KeyError:
                return None
        elif len(args) != self._n_plain or kwargs:
            return None
        if all(type(v) in _NUMBERS for v in args):
            return args
        found: list[Any] = []
        for v in args:
            if type(v) in _NUMBERS:
                found.append(v)
            elif type(v) is not np.ndarray:
                return None
            elif not v.ndim and v.dtype.kind in "fiu":
                found.append(float(v))
            elif v.shape == self._row and v.size > 1 and v.dtype == self.x.dtype and v.flags.c_contiguous:
                found.append(v)
            else:
                return None
        return found

    def _evaluate(self, function: Pointwise, key: Any, args: Sequence[Any]) -> tuple[np.ndarray, list[np.ndarray]]:
        """What `function` sums at these parameters, a view to be read at once, and what it writes for each observation."""
        kinds = "".join("r" if type(v) is np.ndarray else "1" for v in args)
        runtime = self._runtime
        if (plan := self._plans.get((key, kinds))) is None:
            values = [self.x, *(v if k == "r" else float(v) for v, k in zip(args, kinds, strict=True))]
            placement = function.place(LOGLIK, values, runtime)
            rows = function.written(placement.operands)
            plan = _NumberPlan(function.sum_plan(placement), placement.arguments[0].values, placement.alive, len(rows))
            self._plans[key, kinds] = plan
        written, given = [], list(plan.data)
        for v, kind in zip(args, kinds, strict=True):
            if kind == "r":
                handle, offset = runtime.memory(v)
                given += (handle, offset // v.itemsize, 0)
            else:
                given.append(v)
        out: list[Any] = []
        for _ in range(plan.rows):
            array, *handle = output(runtime, self._row, self.x.dtype, False)
            written.append(array)
            out += handle
        sums = plan.launch.fetch((*out, *given))
        if written and not runtime.host_visible:
            for i, array in enumerate(written):
                written[i] = np.empty(self._row, self.x.dtype)
                runtime.download(array, written[i])
        return sums, written
