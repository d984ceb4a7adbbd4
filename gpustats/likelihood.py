"""A density bound to data on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arrays
from .placement import device_of
from .pointwise import Pointwise

if TYPE_CHECKING:
    from .density import Density
    from .pointwise import SumPlan
    from .runtime.base import Device

_NUMBERS = (float, int, np.float64, np.float32)


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
        self._plan: SumPlan | None = None
        #: how many numbers make a call that `_sum_scalars` serves; -1: none do
        self._scalars = len(density.parameters) if x.ndim == 1 and type(self._function) is Pointwise else -1

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
        if len(args) == self._scalars and not kwargs and all(type(v) in _NUMBERS for v in args):
            return self._sum_scalars(args)
        function = self._function.given(kwargs)
        values = function.bind(args, kwargs, missing=1)
        if len(values) == self._scalars and all(type(v) is float for v in values):
            return self._sum_scalars(values)
        return function.sum([self.x, *values], self._runtime)

    def _sum_scalars(self, values: Sequence[float]) -> float:
        """The call that a sampler makes thousands of times: everything but the numbers is decided once."""
        if self._plan is None:
            placement = self._function.place("loglik", [self.x, *map(float, values)], self._runtime)
            if not placement.pattern.n_rows:
                return 0.0
            self._data, self._alive = placement.placed[0].values, placement.alive
            self._plan = self._function.sum_plan(placement)
        return float(self._plan.fetch((*self._data, *values))[0])
