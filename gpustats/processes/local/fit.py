"""Local maximum-likelihood estimates and predictions, one block of threads a location, or a set of references."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...kernels.template import Template
from ...runtime.base import Runtime
from ...runtime.types import Array
from .correlation import Correlation
from .defaults import Parameter
from .layout import FitProblem, blocks_within, fit_layout, joint_layout

FIT, JOINT = Template.beside(__file__, "fit"), Template.beside(__file__, "joint")


class Fitted(NamedTuple):
    """Device arrays with a row for each location."""

    # (m,) float64, mean and scale of the response at the location, a Student-t with n degrees of freedom
    mean: Array
    scale: Array
    loglik: Array  # (m,) float64, the log-likelihood of the design's responses at d and g, without the priors
    d: Array  # (m, 1) or (m, p) float64
    g: Array  # (m,) float64
    # (m,) int32, the number of evaluations of the likelihood; negative where that was not enough to find the maximum, and 0
    # where the matrix of correlations is not positive definite
    status: Array

    @classmethod
    def empty(cls, runtime: Runtime, count: int, lengthscales: int) -> Fitted:
        shapes = dict.fromkeys(cls._fields, (count,)) | {"d": (count, lengthscales)}
        return cls(*(runtime.empty(s, np.int32 if n == "status" else np.float64) for n, s in shapes.items()))


class Joint(NamedTuple):
    """Device arrays with a row for each set."""

    # (S, m) float64, mean of the responses at the references, a multivariate Student-t with n degrees of freedom
    mean: Array
    covariance: Array  # (S, m, m) float64, its scale matrix, the squared scales on its diagonal


class LocalFit:
    """Estimates and predictions for locations whose designs are known.

    Parameters
    ----------
    runtime : Runtime
        With float64.
    X : (N, p) device array of float64
    y : (N,) device array of float64
    n : int
        Points of a design.
    chosen : int, optional
        Arguments of `fit_layout`, to choose another layout.

    Notes
    -----
    For each location this maximises, over the logarithms of what is estimated,

        -log|K| / 2 - n / 2 log(y' K^-1 y / 2) + sum of (a - 1) log t - b t over each estimated t,

    the log-likelihood with the amplitude integrated out and gamma priors, by projected BFGS steps from d and g as given. Where
    responses have noise that the nugget does not have there are several maxima: the search is made again from where a look at
    other lengthscales promises one, and from where one of several is far shorter than the others; the best counts. Then the
    response at x is Student-t with n degrees of freedom, mean k' K^-1 y and squared scale
    y' K^-1 y (1 + g - k' K^-1 k) / n, of the process without noise y' K^-1 y (1 - k' K^-1 k) / n.
    """

    def __init__(
        self, runtime: Runtime, X: Array, y: Array, correlation: Correlation, n: int, separable: bool = False, **chosen: int
    ):
        self.runtime, self.X, self.y, self.source = runtime, X, y, correlation.source()
        self.n, self.separable, self._chosen = n, separable, chosen

    def run(
        self, locations: Array, designs: Array, d: Array, g: Array, of_d: Parameter, of_g: Parameter, noise: bool = True
    ) -> Fitted:
        """Estimates and predictions for some locations, by one kernel.

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
        noise : bool
            Whether scales are those of observations, with the nugget, rather than those of the process.
        """
        m, p = locations.shape
        out = Fitted.empty(self.runtime, m, d.shape[1])
        if not m:
            return out
        problem = FitProblem(self.n, p, self.separable, of_d.mle, of_g.mle)
        layout = fit_layout(self.runtime.device, problem, **self._chosen)
        kernel = FIT.kernel(
            self.runtime, "local_fit", layout.threads, 8 * layout.shared, dtype="float64", problem=problem, layout=layout,
            correlation=self.source,
        )  # fmt: skip
        blocks = min(m, layout.blocks)
        work = self.runtime.scratch(8 * max(layout.work * blocks, 1))
        arrays = (out.mean, out.scale, out.loglik, out.d, out.g, out.status, self.X, self.y, locations, designs, d, g)
        handles = [v for a in arrays for v in self.runtime.memory(a)]
        constant = math.lgamma(self.n / 2) - self.n / 2 * math.log(2 * math.pi)
        estimated = [of.bounds_and_prior(count) for of, count in ((of_d, d.shape[1]), (of_g, 1)) if of.mle]
        limits = [self.runtime.passed(np.ascontiguousarray(np.concatenate(estimated, 1)))] if estimated else []
        kernel((blocks, 1), *handles, work, m, constant, float(noise), *limits)
        return out

    def joint(self, references: Array, designs: Array, d: Array, g: Array, noise: bool) -> Joint:
        """Joint predictions for some sets of references, by one kernel.

        Parameters
        ----------
        references : (S, m, p) device array of float64
        designs, noise
            As for `run`, one design for each set.
        d, g
            Lengthscales and nuggets of the sets, as for `run`.

        Notes
        -----
        With the correlations K of the design and k between it and the references, the mean is k' K^-1 y and the scale matrix
        y' K^-1 y (C + g I - k' K^-1 k) / n: equations (1) and (2) of Gramacy, Niemi & Weiss (2014) for several locations.
        """
        runtime, n, (sets, m, p) = self.runtime, self.n, references.shape
        out = Joint(runtime.empty((sets, m), np.float64), runtime.empty((sets, m, m), np.float64))
        if not sets * m:
            return out
        layout = joint_layout(runtime.device, n, p)
        kernel = JOINT.kernel(
            runtime, "local_joint", layout.threads, 8 * layout.shared, dtype="float64", layout=layout, n=n, dim=p,
            separable=p > 1 and self.separable, correlation=self.source,
        )  # fmt: skip
        reals = layout.scratch(n, m)
        blocks = blocks_within(runtime, layout.blocks, sets, 8 * reals)
        operands = [value for a in (*out, self.X, self.y, references, designs, d, g) for value in runtime.memory(a)]
        kernel((blocks, 1), *operands, runtime.scratch(8 * reals * blocks), reals, sets, m, float(noise))
        return out
