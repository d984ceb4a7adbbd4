"""Kernels that are shown of covariance functions, with a number for each hyperparameter; local ones of one distance."""

from __future__ import annotations

import numpy as np

from ..kernels.layout import REFERENCE_DEVICES
from . import sets
from .expression import Expression
from .local.correlation import Correlation
from .local.design import DESIGN
from .local.fit import FIT, JOINT
from .local.layout import FitProblem, design_layout, fit_layout, joint_layout, ray_layout
from .local.ray import RAY
from .pairs import PairsCode, layout_for
from .parameters import SIGMA
from .vecchia.conditionals import LIKELIHOOD, VecchiaCode
from .vecchia.layout import layout_for as vecchia_layout

#: Columns of the points in a kernel that is shown, and neighbours of each.
COLUMNS, NEIGHBOURS = 8, 30
#: Candidates of a local design, and points of it.
CANDIDATES, POINTS = 1000, 50


def _matrix(covariance: Expression, dtype: str, dialect: str) -> str:
    layout = layout_for(REFERENCE_DEVICES[dialect], COLUMNS)
    return PairsCode(covariance, COLUMNS, ()).source("matrix", layout, dtype, dialect, noise="value")[0]


def _gradient(covariance: Expression, dtype: str, dialect: str) -> str:
    layout = layout_for(REFERENCE_DEVICES[dialect], COLUMNS)
    return PairsCode(covariance, COLUMNS, ()).source("sums", layout, dtype, dialect, wrt=covariance.parameters)[0]


def _marginal(covariance: Expression, dtype: str, dialect: str) -> str:
    layout = sets.layout_for(REFERENCE_DEVICES[dialect], np.dtype(dtype).itemsize, COLUMNS)
    return sets.SetsCode(covariance, COLUMNS, (), (*covariance.parameters, SIGMA)).source(layout, dtype, dialect)


def _vecchia(covariance: Expression, dtype: str, dialect: str) -> str:
    layout = vecchia_layout(REFERENCE_DEVICES[dialect], np.dtype(dtype).itemsize, NEIGHBOURS, COLUMNS)
    code = VecchiaCode(covariance, COLUMNS, NEIGHBOURS, wrt=(*covariance.parameters, SIGMA))
    return code.source(LIKELIHOOD, layout, dtype, dialect)


def _design(covariance: Expression, dtype: str, dialect: str) -> str:
    """Source of the search for designs by the reduction of variance, in float64, with rows in float32, whatever the type."""
    layout = design_layout(REFERENCE_DEVICES[dialect], COLUMNS, CANDIDATES, POINTS, narrow=True)
    correlation = Correlation(covariance).source()
    return DESIGN.source(
        "float64", dialect, layout=layout, correlation=correlation, dim=COLUMNS, separable=False, mspe=False, several=False
    )


def _fit(covariance: Expression, dtype: str, dialect: str) -> str:
    """Source for estimates of a lengthscale, and predictions, in float64 whatever the type."""
    problem = FitProblem(POINTS, COLUMNS)
    layout = fit_layout(REFERENCE_DEVICES[dialect], problem)
    return FIT.source("float64", dialect, problem=problem, layout=layout, correlation=Correlation(covariance).source())


def _ray(covariance: Expression, dtype: str, dialect: str) -> str:
    """Source of the search for designs along rays, in float64 whatever the type."""
    layout = ray_layout(REFERENCE_DEVICES[dialect], COLUMNS, CANDIDATES, POINTS, COLUMNS)
    correlation = Correlation(covariance).source()
    return RAY.source(
        "float64", dialect, layout=layout, correlation=correlation, dim=COLUMNS, separable=False, rays=COLUMNS, opt=False
    )


def _joint(covariance: Expression, dtype: str, dialect: str) -> str:
    """Source for joint predictions for sets of references, in float64 whatever the type."""
    layout = joint_layout(REFERENCE_DEVICES[dialect], POINTS, COLUMNS)
    correlation = Correlation(covariance).source()
    return JOINT.source("float64", dialect, layout=layout, correlation=correlation, n=POINTS, dim=COLUMNS, separable=False)


KIND = "covariance"
SHOWN = {
    "covariance": _matrix, "covariance_gradient": _gradient, "marginal": _marginal, "local_design": _design,
    "local_fit": _fit, "local_joint": _joint, "local_ray": _ray, "vecchia": _vecchia,
}  # fmt: skip
