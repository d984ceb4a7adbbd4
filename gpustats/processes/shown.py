"""Kernels over pairs of points that are shown of any covariance function, with a number for each hyperparameter."""

from __future__ import annotations

import numpy as np

from ..kernels.layout import REFERENCE_DEVICES
from . import sets
from .expression import Expression
from .pairs import PairsCode, layout_for
from .parameters import SIGMA

#: Columns of the points in a kernel that is shown.
COLUMNS = 8


def _matrix(covariance: Expression, dtype: str, dialect: str) -> str:
    layout = layout_for(REFERENCE_DEVICES[dialect], COLUMNS)
    return PairsCode(covariance, COLUMNS, ()).source("matrix", layout, dtype, dialect, noise="value")[0]


def _gradient(covariance: Expression, dtype: str, dialect: str) -> str:
    layout = layout_for(REFERENCE_DEVICES[dialect], COLUMNS)
    return PairsCode(covariance, COLUMNS, ()).source("sums", layout, dtype, dialect, wrt=covariance.parameters)[0]


def _marginal(covariance: Expression, dtype: str, dialect: str) -> str:
    layout = sets.layout_for(REFERENCE_DEVICES[dialect], np.dtype(dtype).itemsize, COLUMNS)
    return sets.SetsCode(covariance, COLUMNS, (), (*covariance.parameters, SIGMA)).source(layout, dtype, dialect)


KIND = "covariance"
SHOWN = {"covariance": _matrix, "covariance_gradient": _gradient, "marginal": _marginal}
