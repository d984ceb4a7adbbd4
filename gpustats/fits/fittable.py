"""Densities with a fit: their parameters by maximum likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..evaluation.pointwise import Pointwise
    from ..language.device_function import DeviceFunction
    from ..runtime.base import Device
    from ..runtime.types import Values
    from .estimates import Estimates


class Fittable(ABC):
    """Distribution with a log-density, and perhaps a distribution function, from which its parameters are estimated."""

    definition: DeviceFunction

    @property
    @abstractmethod
    def log_density(self) -> Pointwise: ...

    def fit(
        self, x: Values | None = None, *, fixed: Mapping[str, Values] | None = None,
        start: Mapping[str, Values] | None = None, weights: Values | None = None, lower: Values | None = None,
        upper: Values | None = None, groups: ArrayLike | None = None, max_iterations: int = 200,
        devices: str | Sequence[str | Device] | None = None,
    ) -> Estimates:  # fmt: skip
        """Estimates of the parameters by maximum likelihood, for one data set or for many at once.

        Parameters
        ----------
        x : array_like or scipy.stats.CensoredData
            Observations: (N,); (..., N) for a data set in each row; or a list of arrays of different lengths.
        fixed : dict, optional
            Known parameters, by name: numbers, or arrays that broadcast to x. Whole numbers must be known, unless they are an
            end of the support; those with a default are, unless they have a start.
        start : dict, optional
            Where the search begins, for some others: numbers, or one for each data set.
        weights : array_like, optional
            Number of times that each observation counts; broadcasts to x. One that counts 0 times may be anything, also nan.
        lower, upper : array_like, optional
            Instead of x: the ends of an interval, which belong to it, in which each observation is known to lie. Equal ends
            are the observation itself, infinite ones none. The density needs a distribution function.
        groups : (N,) array_like, optional
            Labels of data sets: observations x (N,) of one label are a data set.
        max_iterations : int
            Steps after which a search ends.
        devices : "all" or sequence of str or Device, optional
            Over which the data sets are divided: ``"all"`` (every GPU of CUDA, else of OpenCL, else the CPU), or a list. The
            data lie on the host. A device takes a piece of 256 data sets or more, and the next one when it is done. The pieces
            do not depend on the devices: any number of one kind finds the same bits, which are those of a call without
            `devices` to rounding.

        Returns
        -------
        Estimates
            With ``parameters``, ``standard_errors``, ``covariance``, ``converged`` and so on; it can be unpacked.

        Raises
        ------
        ValueError
            Also where no parameters are found at which there is a likelihood.
        NotImplementedError
            For vectors; for intervals without a distribution function.

        Notes
        -----
        Newton's method with exact derivatives and damping, in float64, on the logarithms of positive parameters and the log
        odds of those in [0, 1]. All data sets take each step in one launch. A parameter that is an end of the support, as of
        `uniform`, is estimated by the outermost observation.

        Examples
        --------
        >>> import gpustats as gs
        >>> x = gs.gamma.rvs(2.5, 1.5, size=1000, rng=1)
        >>> fit = gs.gamma.fit(x)
        >>> round(fit["alpha"], 2), round(fit.standard_errors["alpha"], 2), fit.converged
        (2.41, 0.1, True)
        >>> alpha, beta = gs.gamma.fit(x.reshape(100, 10))  # 100 data sets of 10 observations
        >>> alpha.shape
        (100,)
        """
        from .fit import fit
        from .model import Model

        model = Model(self.log_density, self.definition)
        return fit(model, x, fixed, start, weights, lower, upper, groups, max_iterations, devices)
