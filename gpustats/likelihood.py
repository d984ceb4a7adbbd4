"""A density bound to data on a device."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import arrays
from .placement import device_of
from .pointwise import Pointwise

if TYPE_CHECKING:
    from .density import Density
    from .pointwise import SumPlan
    from .runtime.base import Device

_NUMBERS = (float, int, np.float64, np.float32)


class _Plan(NamedTuple):
    """A sum over the data for parameters that are numbers."""

    launch: SumPlan
    data: tuple[Any, ...]  # what the kernel takes for the observations
    alive: list[Any]


class Likelihood:
    """The log-likelihood of parameters, given data that stay on a device.

    Parameters
    ----------
    density : Density
    x : array_like
        Observations: (N,), or (N, d) where one observation is a vector. They are moved to the default device once; a device
        array is used where it lies.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> likelihood = gs.Likelihood(gs.normal, np.array([-1.0, 0.0, 2.0]))
    >>> round(likelihood(mu=0.0, sigma=1.0), 4)
    -5.2568
    >>> likelihood(np.array([[0.0], [1.0]]), 1.0).round(4)  # K parameter sets: shape (K, 1)
    array([-5.2568, -5.7568])
    """

    def __init__(self, density: Density, x: Any):
        self.density = density
        self._function = density.log_density
        observation = self._function.arguments[0]
        x = arrays.as_array(x, observation.name)
        if isinstance(x, float):
            x = np.array([x])
        if x.ndim <= observation.rank:
            raise ValueError(
                f"{observation.name} has shape {tuple(x.shape)}: a likelihood takes "
                f"{'an array of shape (N,)' if not observation.rank else 'vectors as an array of shape (N, d)'}"
            )
        runtime = device_of([x], [observation.name])
        if not arrays.is_device_array(x):
            dtype = arrays.result_dtype([x])
            x = np.array(x, dtype) if runtime.host_visible else runtime.to_device(np.ascontiguousarray(x, dtype))
        self._runtime, self.x = runtime, x
        #: how many numbers make a call that `_scalars` serves; -1: none do
        self._n_scalars = len(density.parameters) if x.ndim == 1 and type(self._function) is Pointwise else -1
        self._plans: dict[Any, _Plan] = {}

    @property
    def device(self) -> Device:
        """Where the data lie."""
        return self._runtime.device

    @property
    def parameters(self) -> Sequence[str]:
        return self.density.parameters

    def __repr__(self) -> str:
        return f"<likelihood of {self.density.name} for x {tuple(self.x.shape)} {self.x.dtype} on {self.device.id}>"

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
        if (numbers := self._numbers(args, kwargs)) is not None:
            return float(self._sums(self._function, None, numbers)[0])
        function = self._function.given(kwargs)
        return function.sum([self.x, *function.bind(args, kwargs, missing=1)], self._runtime)

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
        numbers = self._numbers(args, kwargs)
        function = self._function.given(kwargs)
        gradient = function.gradient(wrt)
        if function.arguments[0].name in gradient.wrt:
            raise ValueError(f"wrt: {function.arguments[0].name} is the data of this likelihood, not a parameter")
        if numbers is not None and not gradient.vectors:
            value, *derivatives = self._sums(gradient.summed, gradient.wrt, numbers).tolist()
            return value, dict(zip(gradient.wrt, derivatives, strict=True))
        return gradient([self.x, *function.bind(args, kwargs, missing=1)], self._runtime)

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
        function = self._function.given(kwargs)
        return function.hessian(wrt)([self.x, *function.bind(args, kwargs, missing=1)], self._runtime)

    # -- the call that a sampler makes thousands of times: everything but the numbers is decided once

    def _numbers(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[float] | None:
        """The parameters where all are numbers, else None."""
        if kwargs and len(args) + len(kwargs) == self._n_scalars:
            try:
                args = (*args, *(kwargs[n] for n in self.density.parameters[len(args) :]))
            except KeyError:
                return None
        elif len(args) != self._n_scalars or kwargs:
            return None
        if all(type(v) in _NUMBERS for v in args):
            return args
        if all(type(v) in _NUMBERS or (type(v) is np.ndarray and not v.ndim and v.dtype.kind in "fiu") for v in args):
            return [float(v) for v in args]
        return None

    def _sums(self, function: Pointwise, key: Any, numbers: Sequence[float]) -> np.ndarray:
        """What `function` sums, at these parameters: a view, to be read at once."""
        if (plan := self._plans.get(key)) is None:
            placement = function.place("loglik", [self.x, *map(float, numbers)], self._runtime)
            if not placement.pattern.n_rows:
                return np.zeros(1 if key is None else 1 + len(key))
            plan = _Plan(function.sum_plan(placement), placement.placed[0].values, placement.alive)
            self._plans[key] = plan
        return plan.launch.fetch((*plan.data, *numbers))
