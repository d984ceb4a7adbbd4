"""The local_joint shape: the joint distributions of sets of references, each given its design."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...evaluation.placement import at
from ...kernels.template import Template
from ...runtime.types import Array
from .correlation import Correlation
from .layout import blocks_within, joint_layout

if TYPE_CHECKING:
    from ...runtime.base import Runtime

JOINT = Template.beside(__file__, "joint")


class Joint(NamedTuple):
    """Device arrays with a row for each set.

    Attributes
    ----------
    mean : (S, m) float64
        Mean of the responses at the references, a multivariate Student-t with n degrees of freedom.
    covariance : (S, m, m) float64
        Its scale matrix, the squared scales on its diagonal.
    """

    mean: Array
    covariance: Array


def joint_predictions(
    runtime: Runtime, X: Array, y: Array, correlation: Correlation, references: Array, designs: Array, d: Array, g: Array,
    noise: bool, **chosen: int,
) -> Joint:  # fmt: skip
    """Joint predictions for some sets of references, by one kernel.

    Parameters
    ----------
    runtime : Runtime
        With float64.
    X : (N, p) device array of float64
    y : (N,) device array of float64
    references : (S, m, p) device array of float64
    designs : (S, n) device array of int32
        Rows of X. With one that is negative, a set's results are nan.
    d : (S, 1) or, with a lengthscale for each column, (S, p) device array of float64
    g : (S,) device array of float64
        Nuggets.
    noise : bool
        Whether variances are those of observations, with the nugget, rather than those of the process.
    chosen : int, optional
        Arguments of `joint_layout`, to choose another layout.

    Notes
    -----
    With the correlations K of the design and k between it and the references, the mean is k' K^-1 y and the scale matrix
    y' K^-1 y (C + g I - k' K^-1 k) / n: equations (1) and (2) of Gramacy, Niemi & Weiss (2014) for several locations.
    """
    (sets, m, p), n = references.shape, designs.shape[1]
    out = Joint(runtime.empty((sets, m), np.float64), runtime.empty((sets, m, m), np.float64))
    if not sets * m:
        return out
    layout = joint_layout(runtime.device, n, p, **chosen)
    kernel = JOINT.kernel(
        runtime, "local_joint", layout.threads, 8 * layout.shared, dtype="float64", layout=layout, n=n, dim=p,
        separable=p > 1 and d.shape[1] == p, correlation=correlation.source(),
    )  # fmt: skip
    reals = layout.scratch(n, m)
    blocks = blocks_within(runtime, layout.blocks, sets, 8 * reals)
    operands = [value for a in (*out, X, y, references, designs, d, g) for value in at(runtime, a)]
    kernel((blocks, 1), *operands, runtime.scratch(8 * reals * blocks), reals, sets, m, float(noise))
    return out
