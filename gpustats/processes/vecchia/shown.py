"""Kernel of Vecchia's approximation that is shown of any covariance function, with a number for each hyperparameter."""

from __future__ import annotations

import numpy as np

from ...kernels.layout import REFERENCE_DEVICES
from ..expression import Expression
from ..parameters import SIGMA
from .conditionals import LIKELIHOOD, VecchiaCode
from .layout import layout_for

#: Columns of the points, and neighbours of each, in the kernel that is shown.
COLUMNS, NEIGHBOURS = 8, 30


def _likelihood(covariance: Expression, dtype: str, dialect: str) -> str:
    layout = layout_for(REFERENCE_DEVICES[dialect], np.dtype(dtype).itemsize, NEIGHBOURS, COLUMNS)
    code = VecchiaCode(covariance, COLUMNS, NEIGHBOURS, wrt=(*covariance.parameters, SIGMA))
    return code.source(LIKELIHOOD, layout, dtype, dialect)


KIND = "covariance"
SHOWN = {"vecchia": _likelihood}
