"""Kernels of local Gaussian processes that are shown of a covariance function of one distance."""

from __future__ import annotations

from ...kernels.layout import REFERENCE_DEVICES
from ..expression import Expression
from .correlation import Correlation
from .design import DESIGN
from .fit import FIT, JOINT
from .layout import FitProblem, design_layout, fit_layout, joint_layout, ray_layout
from .ray import RAY

#: Columns of the points, candidates of a design, and points of it.
COLUMNS, CANDIDATES, POINTS = 8, 1000, 50


def _design(covariance: Expression, dtype: str, dialect: str) -> str:
    """Source of the search for designs by the reduction of variance, in float64, with rows in float32, whatever the type."""
    layout = design_layout(REFERENCE_DEVICES[dialect], COLUMNS, CANDIDATES, POINTS, narrow=True)
    correlation = Correlation(covariance).source()
    return DESIGN.source(
        "float64", dialect, layout=layout, correlation=correlation, dim=COLUMNS, separable=False, mspe=False,
        several=False,
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
SHOWN = {"local_design": _design, "local_fit": _fit, "local_joint": _joint, "local_ray": _ray}
