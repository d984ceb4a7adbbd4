"""The local_fit shape: local maximum-likelihood estimates and predictions, one block of threads a location."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ...evaluation.placement import at
from ...kernels import code as codegen
from ...kernels.layout import REFERENCE_DEVICES
from . import layout
from .correlation import Correlation

if TYPE_CHECKING:
    from ...runtime.base import Kernel, Runtime
    from .defaults import Parameter



@dataclass(frozen=True)
class Shape:
    """What a kernel computes; the template knows it as ``shape``.

    Attributes
    ----------
    n, p : int
        Points of a design, and columns of X.
    separable : bool
        Whether there is a lengthscale for each column.
    estimate_d, estimate_g : bool
        Whether lengthscales and the nugget are estimated.
    """

    n: int
    p: int
    separable: bool = False
    estimate_d: bool = True
    estimate_g: bool = False

    #: The search ends where no derivative in a logarithm is larger, but for those that point beyond a bound; or where a step
    #: changes the objective by no more than rounding does.
    TOLERANCE: ClassVar[float] = 1e-6
    MOST_EVALUATIONS: ClassVar[int] = 100

    @property
    def lengthscales(self) -> int:
        return self.p if self.separable else 1

    @property
    def estimated(self) -> int:
        """How many numbers are estimated for each location."""
        return self.lengthscales * self.estimate_d + self.estimate_g


class Fitted(NamedTuple):
    """Device arrays with a row for each location.

    Attributes
    ----------
    mean, scale : (m,) float64
        Of the Student-t with n degrees of freedom that the response at the location has.
    loglik : (m,) float64
        The log-likelihood of the design's responses at d and g, without the priors.
    d : (m, 1) or (m, p) float64
    g : (m,) float64
    status : (m,) int32
        The number of evaluations of the likelihood; negative where that was not enough to find the maximum, and 0 where the
        matrix of correlations is not positive definite.
    """

    mean: Any
    scale: Any
    loglik: Any
    d: Any
    g: Any
    status: Any

    @classmethod
    def empty(cls, runtime: Runtime, count: int, lengthscales: int) -> Fitted:
        shapes = dict.fromkeys(cls._fields, (count,)) | {"d": (count, lengthscales)}
        return cls(*(runtime.empty(s, np.int32 if n == "status" else np.float64) for n, s in shapes.items()))


class Fit:
    """Estimates and predictions for locations whose designs are known.

    Parameters
    ----------
    runtime : Runtime
        With float64.
    X : (N, p) device array of float64
    y : (N,) device array of float64
    correlation : Correlation
    n : int
        Points of a design.
    separable : bool
    chosen : int, optional
        What `layout.fit` takes to choose another layout.

    Notes
    -----
    For each location this maximises, over the logarithms of what is estimated,

        -log|K| / 2 - n / 2 log(y' K^-1 y / 2) + sum of (a - 1) log t - b t over each estimated t,

    the log-likelihood with the amplitude integrated out and gamma priors, by projected BFGS steps from d and g as given; then
    the response at x is Student-t with n degrees of freedom, mean k' K^-1 y and squared scale
    y' K^-1 y (1 + g - k' K^-1 k) / n.
    """

    def __init__(
        self, runtime: Runtime, X: Any, y: Any, correlation: Correlation, n: int, separable: bool = False, **chosen: int
    ):
        self.runtime, self.X, self.y, self.source = runtime, X, y, correlation.source()
        self.n, self.separable, self._chosen = n, separable, tuple(chosen.items())

    def run(self, locations: Any, designs: Any, d: Any, g: Any, of_d: Parameter, of_g: Parameter) -> Fitted:
        """Start the kernel for some locations.

        Parameters
        ----------
        locations : (m, p) device array of float64
        designs : (m, n) device array of int32
            Rows of X. With one that is negative, a location's results are nan.
        d : (m, 1) device array of float64, or (m, p) if separable
            Where the search for the maximum starts, or the values if they are not estimated.
        g : (m,) device array of float64
        of_d, of_g : Parameter
            Whether lengthscales and nuggets are estimated, their bounds and priors; `start` does not count.
        """
        m, p = locations.shape
        out = Fitted.empty(self.runtime, m, d.shape[1])
        if not m:
            return out
        shape = Shape(self.n, p, self.separable, of_d.mle, of_g.mle)
        kernel, chosen = _compiled(self.runtime, shape, self.source, self._chosen)
        blocks = min(m, chosen.blocks)
        work = self.runtime.scratch(8 * max(chosen.work * blocks, 1))
        arrays = (out.mean, out.scale, out.loglik, out.d, out.g, out.status, self.X, self.y, locations, designs, d, g)
        handles = [v for a in arrays for v in at(self.runtime, a)]
        constant = math.lgamma(self.n / 2) - self.n / 2 * math.log(2 * math.pi)
        kernel((blocks, 1), *handles, work, m, constant, *of_d.bounds_and_prior, *of_g.bounds_and_prior)
        return out


@functools.lru_cache
def _compiled(
    runtime: Runtime, shape: Shape, correlation: str, given: tuple[tuple[str, int], ...]
) -> tuple[Kernel, layout.FitLayout]:
    chosen = layout.fit(runtime.device, shape, **dict(given))
    source = _source(shape, correlation, chosen, runtime.dialect)
    return runtime.kernel(source, "local_fit", chosen.threads, 8 * chosen.shared), chosen


def _source(shape: Shape, correlation: str, chosen: layout.FitLayout, dialect: str) -> str:
    return codegen.render_plain("gp/local/fit", "float64", dialect, shape=shape, layout=chosen, correlation=correlation)


def kernel_source(correlation: Correlation, dialect: str) -> str:
    """The source for points of 8 columns, designs of 50 and an estimated lengthscale; see `Covariance.kernel_source`."""
    shape = Shape(50, 8, False, True, False)
    return _source(shape, correlation.source(), layout.fit(REFERENCE_DEVICES[dialect], shape), dialect)
