"""Mixtures of densities, bound to data on a device."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..density import Density
from ..draws.generator import as_generator
from ..evaluation.arguments import check_wrt
from ..evaluation.compiled import RepeatedSum, Replayable
from ..evaluation.gradient import gradient_of
from ..evaluation.kinds import Plans, in_order, kind_of
from ..evaluation.placement import Placement, as_read
from ..evaluation.pointwise import Pointwise
from ..evaluation.repeated import RepeatedCall
from ..evaluation.results import as_host, deliver, output
from ..evaluation.sums import SumLaunch, adder_of
from ..kernels.layout import power_of_two, row_blocks
from ..likelihood import BoundDensity
from ..rows.along import Along
from ..runtime.arrays import is_contiguous, is_device_array, result_dtype
from ..runtime.transfers import to_host
from ..runtime.types import Array, Value
from .fitting import Fitting
from .kernels import MIXTURE, SOFTMAX, softmax_layout
from .on_rows import along
from .one_pass import MOST_COMPONENTS, WEIGHTS, one_pass
from .terms import as_sets, bound, shares, weighted_term

#: Repeated call of the summed log-density and its derivatives, that in the log-weights first.
_OnePass: TypeAlias = "RepeatedCall[tuple[Value, dict[str, Value]]]"

_LABEL = np.dtype(np.int32)


class _MixtureCall(NamedTuple):
    """Arguments of a call."""

    terms: Pointwise  # the function of them whose exp is summed
    values: list[Value]  # the observations, the parameters, log_weights
    placement: Placement
    native: bool  # whether any of them came as a device array


class Mixture(BoundDensity, Fitting, Replayable):
    """Density of a mixture of K components of one family at data that stay on a device.

    At an observation x it is ``sum_k exp(log_weights[k]) f(x; parameters[k])``. The N × K densities are never written but for
    `responsibilities`.

    Parameters
    ----------
    density : Density
        Density of one component.
    x : array_like
        Observations: (N,), or (N, d) where one observation is a vector. They are moved to the default device once; a device
        array is used where it lies.

    Notes
    -----
    All methods take ``log_weights``, an array of shape (K,) that is not normalised here, and the density's parameters in their
    order, or by name: each has one value for all components, or K of them along its first axis, as in (K,) for numbers,
    (K, d) for vectors and (K, d, d) for matrices. Where the weight of a component is 0 (``log_weights`` is -inf), its
    parameters do not matter, even if they are invalid. Else invalid parameters give nan, as an observation that is nan does;
    an observation outside the support of all components gives -inf.

    It can be pickled, copied, and sent to other processes: there the data are moved to the default device.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> mixture = gs.Mixture(gs.normal, np.array([-1.0, 0.0, 5.0]))
    >>> log_weights, mu = np.log([0.75, 0.25]), np.array([0.0, 4.0])
    >>> round(mixture.loglik(log_weights, mu, sigma=1.0), 4)
    -5.7183
    >>> mixture.responsibilities(log_weights, mu, sigma=1.0).round(4)
    array([[1.000e+00, 0.000e+00],
           [9.999e-01, 1.000e-04],
           [0.000e+00, 1.000e+00]])
    >>> mixture.predict(log_weights, mu, sigma=1.0)
    array([0, 0, 1], dtype=int32)
    >>> mixture.assign(log_weights, mu, sigma=1.0, rng=1)
    array([0, 0, 1], dtype=int32)
    """

    def __init__(self, density: Density, x: ArrayLike):
        super().__init__(density, x)
        dims = 1 + self._function.arguments[0].rank
        if len(self._x.shape) != dims:
            raise ValueError(
                f"{self._function.arguments[0].name} has shape {tuple(self._x.shape)}: a mixture takes observations of shape "
                f"{'(N, d)' if dims > 1 else '(N,)'}"
            )
        self._terms = weighted_term(self._function)
        self._scalar = type(self._function) is Pointwise and not any(a.rank for a in self._function.arguments)
        self._calls: Plans[_OnePass | None] = Plans()
        self._of_types = {np.dtype(self._x.dtype): self._x}

    @property
    def argument_names(self) -> tuple[str, ...]:
        """Names of what all methods take, in their order: the weights, and the density's parameters."""
        return (WEIGHTS, *self._density.parameters)

    @property
    def differentiable(self) -> tuple[str, ...]:
        """Names of the arguments in which there are derivatives."""
        return (WEIGHTS, *check_wrt(self._function.name, self._function.arguments, None))

    # -- what users call

    def loglik(self, log_weights: ArrayLike, *args: ArrayLike, **kwargs: ArrayLike) -> float:
        """The summed log-density.

        Parameters
        ----------
        log_weights : (K,) array_like
        *parameters : array_like
            In the density's order, or by name: see the notes of the class.

        Returns
        -------
        float
            The sum runs in float64, in an order that is always the same; over nothing it is 0.

        Raises
        ------
        ValueError
            Where a parameter has neither one value nor K, or names are unknown or missing.
        """
        if (at_once := self._at_once(log_weights, args, kwargs, ())) is not None:
            return at_once[0]
        call = self._call(log_weights, args, kwargs)
        return self._launch(call)[0] if call.placement.pattern.n_rows else 0.0

    __call__ = loglik

    def logpdf(self, log_weights: ArrayLike, *args: ArrayLike, **kwargs: ArrayLike) -> Array:
        """The log-density of the mixture at each observation; arguments as for `loglik`.

        Returns
        -------
        (N,) ndarray, or the kind of device array that came in
            float32 where all arrays are float32, else float64.
        """
        call = self._call(log_weights, args, kwargs)
        return self._rows(call, "rows", call.placement.dtype)

    logpmf = logpdf

    def assign(self, log_weights: ArrayLike, *args: ArrayLike, rng: Any = None, **kwargs: ArrayLike) -> Array:
        """Draw the component of each observation from its responsibilities.

        Parameters
        ----------
        log_weights, *parameters
            As for `loglik`.
        rng : int, gpustats.Generator, numpy.random.Generator or None
            A seed or a generator; None takes one of the process's own. Each observation is one draw of it, so that calls with
            parts of the data, one after the other, draw what one call with all of them does.

        Returns
        -------
        (N,) ndarray of int32, or the kind of device array that came in
            -1 where the mixture's density is nan or 0.

        Notes
        -----
        A component takes the place of the one drawn so far with the probability that is its share of their sum. That takes a
        random number of 32 bits for each, whatever the type of the data: a component with a share below 1e-10 is never drawn.
        """
        call = self._call(log_weights, args, kwargs)
        stream = as_generator(rng).take(call.placement.pattern.n_rows)
        return self._rows(call, "labels", _LABEL, stream)

    def predict(self, log_weights: ArrayLike, *args: ArrayLike, **kwargs: ArrayLike) -> Array:
        """The most probable component of each observation, the first of several; arguments as for `loglik`.

        Returns
        -------
        (N,) ndarray of int32, or the kind of device array that came in
            The largest of the `responsibilities`; -1 where the mixture's density is nan or 0.
        """
        return self._rows(self._call(log_weights, args, kwargs), "likeliest", _LABEL)

    def responsibilities(self, log_weights: ArrayLike, *args: ArrayLike, **kwargs: ArrayLike) -> Array:
        """The probability of each component at each observation; arguments as for `loglik`.

        Returns
        -------
        (N, K) ndarray, or the kind of device array that came in
            float32 where all arrays are float32, else float64. nan where the mixture's density is nan or 0.
        """
        call = self._call(log_weights, args, kwargs)
        placement, runtime = call.placement, self._runtime
        shape, dtype = placement.pattern.shape, placement.dtype
        if not math.prod(shape):
            return self._nothing(call, shape, dtype)
        table, handle, offset = output(runtime, shape, dtype, call.native)
        call.terms.launch_table(placement, handle, offset)
        chosen = softmax_layout(runtime.device, dtype.itemsize, power_of_two(shape[1]))
        softmax = SOFTMAX.kernel(runtime, "softmax", chosen.threads, dtype=dtype.name, layout=chosen)
        softmax((1, row_blocks(runtime.device, chosen, shape[0], 1)), handle, offset, *shape)
        return deliver(runtime, table, call.native)

    def value_and_grad(
        self, log_weights: ArrayLike, *args: ArrayLike, wrt: str | Collection[str] | None = None, **kwargs: ArrayLike
    ) -> tuple[float, dict[str, Value]]:
        """The summed log-density and its derivatives.

        Parameters
        ----------
        log_weights, *parameters
            As for `loglik`.
        wrt : str or collection of str, optional
            Names of parameters, ``"log_weights"``, or the observation; by default all but the observation and parameters that
            are whole numbers.

        Returns
        -------
        value : float
        gradient : dict
            Name -> derivative, shaped like that argument: float64 but for that in the observations, a device array where the
            argument is one. That in ``log_weights`` is the sum of the responsibilities of each component. That of a
            covariance or precision matrix is symmetric: with respect to symmetric changes.

        Notes
        -----
        Components that contribute nothing to the density at an observation, and observations where it is 0, add nothing to
        the derivatives. nan at one observation makes the derivatives nan.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> mixture = gs.Mixture(gs.normal, np.array([-1.0, 0.0, 5.0]))
        >>> value, gradient = mixture.value_and_grad(np.log([0.75, 0.25]), mu=np.array([0.0, 4.0]), sigma=1.0)
        >>> gradient["log_weights"].round(4), gradient["mu"].round(4)
        (array([1.9999, 1.0001]), array([-0.9999,  0.9995]))
        """
        function = self._function.for_arguments(kwargs)
        if (at_once := self._at_once(log_weights, args, kwargs, wrt)) is not None:
            return at_once
        wanted = (wrt,) if isinstance(wrt, str) else wrt
        names = check_wrt(
            function.name, function.arguments, None if wanted is None else [n for n in wanted if n != "log_weights"]
        )
        call = self._call(log_weights, args, kwargs)
        n_rows, dtype = call.placement.pattern.n_rows, call.placement.dtype
        if n_rows:
            value, totals = self._launch(call, "rows", dtype)
        else:
            value, totals = 0.0, np.zeros(0, dtype)
        x, *parameters = call.values
        ranks = [a.rank for a in call.terms.arguments[1:]]
        sets = [as_sets(self._runtime, v, rank) for v, rank in zip(parameters, ranks, strict=True)]
        share = shares(self._terms).for_arguments(kwargs)
        counts, found = gradient_of(share, names or (share.arguments[-2].name,))([x, *sets, totals], self._runtime)
        given = dict(zip((a.name for a in function.arguments), call.values, strict=False))
        gradient = {n: g if isinstance(g, float) else g.reshape(given[n].shape) for n, g in found.items() if n in names}
        observation = function.arguments[0].name
        if observation in gradient and not self._native:  # the data came from the host
            gradient[observation] = to_host(gradient[observation])
        if wanted is None or "log_weights" in wanted:
            counts = as_host(self._runtime, counts)
            native = is_device_array(parameters[-1])
            gradient = {"log_weights": self._runtime.to_device(counts) if native else counts, **gradient}
        return value, gradient

    # -- the call that a sampler makes thousands of times: everything but the numbers is decided once

    def _at_once(
        self, log_weights: Value, args: Sequence[Value], kwargs: Mapping[str, Value], wrt: str | Collection[str] | None
    ) -> tuple[float, dict[str, Value]] | None:
        """Value and derivatives by `one_pass`; None where it does not take such a call."""
        if (parameters := in_order(self._density.parameters, args, kwargs)) is None:
            return None
        arguments = (*parameters, log_weights)
        wanted = wrt if wrt is None or isinstance(wrt, str) else tuple(wrt)
        if (repeated := self._one_pass(arguments, wanted)) is None:
            return None
        value, found = repeated(arguments)
        if wanted is not None and WEIGHTS not in wanted:
            del found[WEIGHTS]
        return value, found

    def compiled(self, arguments: Mapping[str, Value], wrt: Sequence[str], n_sets: int | None = None) -> RepeatedSum | None:
        names = (*self._density.parameters, WEIGHTS)
        if (in_their_order := in_order(names, (), arguments)) is None:
            return None
        if n_sets is None:
            one_pass = self._one_pass(in_their_order, tuple(wrt))
            return None if one_pass is None else one_pass.compiled(in_their_order)
        shapes, k = {n: v.shape[1:] for n, v in zip(names, in_their_order, strict=True)}, in_their_order[-1].shape[1:]
        if len(k) != 1 or any(shape not in ((), (1,), k) for shape in shapes.values()):
            return None
        lines = [np.broadcast_to(np.reshape(v, (n_sets, -1)), (n_sets, *k)) for v in in_their_order]
        one_pass = self._of_sets(dict(zip(names, lines, strict=True)), wrt)
        made = None if one_pass is None else one_pass.compiled(lines)
        return made and made.of_numbers([n for n, shape in shapes.items() if shape != k])

    def along(self, names: Collection[str]) -> Along | None:
        return along(self._density, self._x, self._runtime, names) if self._scalar else None

    def sums_of_sets(
        self, arguments: Mapping[str, np.ndarray], wrt: Sequence[str]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
        """Sums for sets of parameters, and the derivatives for each component, from one launch.

        Parameters
        ----------
        arguments : mapping
            Name of each parameter, and ``"log_weights"`` -> (sets, K) ndarray.
        wrt : sequence of str
            Names of the parameters in which derivatives are wanted; that in ``"log_weights"`` is always there.

        Returns
        -------
        values : (sets,) ndarray
        gradient : dict
            Name -> (sets, K) ndarray. Instead of both, None where each set takes a call of its own.
        """
        repeated = self._of_sets(arguments, wrt)
        return None if repeated is None else repeated([arguments[n] for n in (*self._density.parameters, WEIGHTS)])

    def _of_sets(self, arguments: Mapping[str, np.ndarray], wrt: Sequence[str]) -> _OnePass | None:
        """Repeated call of sets of parameters, all of them arrays of (sets, K); None where there is none."""
        in_their_order = in_order((*self._density.parameters, WEIGHTS), (), arguments)
        if not self._scalar or in_their_order is None:
            return None
        kind = tuple(wrt), in_their_order[-1].shape
        return self._calls.plan(kind, self._new_one_pass, in_their_order, list(wrt), True)

    def _one_pass(self, arguments: Sequence[Value], wanted: str | Sequence[str] | None) -> _OnePass | None:
        """Repeated call like that of these arguments, the weights the last; None where there is none."""
        if not self._scalar or (kind := kind_of(arguments)) is None:
            return None
        return self._calls.plan((wanted, kind), self._new_one_pass, arguments, wanted)

    def _new_one_pass(
        self, arguments: Sequence[Value], wanted: str | Sequence[str] | None, of_sets: bool = False
    ) -> _OnePass | None:
        *parameters, weights = [a[0] for a in arguments] if of_sets else arguments
        self._call(weights, parameters, {})  # finds what is wrong with them
        dtype = result_dtype([self._x, *(arrays := [a for a in arguments if type(a) is np.ndarray])])
        if wanted is not None:
            wanted = [n for n in ((wanted,) if isinstance(wanted, str) else wanted) if n != WEIGHTS]
        wrt = check_wrt(self._function.name, self._function.arguments, wanted) if wanted != [] else []
        if (
            len(weights) > MOST_COMPONENTS or self._function.arguments[0].name in wrt or not self._x.shape[0]
            or any(a.shape[-1:] != weights.shape for a in arrays)
            or (self._native and not (is_contiguous(self._x) and self._x.dtype == dtype))  # a user's array may change
        ):  # fmt: skip
            return None
        x, n_sets = self._of_type(dtype), len(arguments[-1]) if of_sets else None
        return one_pass(self._terms, self._runtime, x, arguments, wrt, n_sets)

    def _of_type(self, dtype: np.dtype) -> Array:
        """Observations in the type of a call; a copy in another type stays for further calls."""
        if dtype not in self._of_types:
            self._of_types[dtype] = as_read(self._runtime, self._x, dtype)
        return self._of_types[dtype]

    # -- one call

    def _call(self, log_weights: Value, args: Sequence[Value], kwargs: Mapping[str, Value]) -> _MixtureCall:
        function, terms = self._function.for_arguments(kwargs), self._terms.for_arguments(kwargs)
        parameters = function.bind(args, kwargs, missing=1)
        values = bound(function, self._x, log_weights, parameters)
        placement = terms.place(MIXTURE, values, self._runtime)
        return _MixtureCall(terms, values, placement, self._native or any(map(is_device_array, values[1:])))

    def _rows(self, call: _MixtureCall, kind: str, dtype: np.dtype, stream: Sequence[int] = ()) -> Any:
        n_rows = call.placement.pattern.n_rows
        if not n_rows:
            return self._nothing(call, (0,), dtype)
        return deliver(self._runtime, self._launch(call, kind, dtype, stream)[1], call.native)

    def _launch(self, call: _MixtureCall, kind: str = "", dtype: Any = None, stream: Sequence[int] = ()) -> tuple[float, Any]:
        """Sum over the observations, and the kernel's values for each, as `MIXTURE.outputs` says, on the kernel's device."""
        terms, placement = call.terms, call.placement
        runtime, pattern = placement.runtime, placement.pattern
        kernel, chosen = terms.kernel(MIXTURE, placement, (kind,) if kind else ())
        blocks = row_blocks(runtime.device, chosen, pattern.n_rows, 1, kernel.registers)
        dim = (placement.dim,) if terms.function.has_dim else ()
        plan = SumLaunch(runtime, kernel, adder_of(runtime, chosen.threads, blocks, 1), (1, blocks), pattern.n_rows, 1, 1, dim)
        result, *handle = output(runtime, (pattern.n_rows,), dtype, call.native) if kind else (None,)
        return float(plan.fetch([pattern.n_sets, *handle, *stream, *placement.values])[0]), result

    def _nothing(self, call: _MixtureCall, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return self._runtime.empty(shape, dtype) if call.native else np.empty(shape, dtype)
