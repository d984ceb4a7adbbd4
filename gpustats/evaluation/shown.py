"""Kernels that are shown of any density, and of any function that a transform made of one."""

from __future__ import annotations

from .gradient import gradient_of
from .pointwise import log_density_of
from .sums import LOGLIK
from .table import TABLE

SHOWN = {
    "table": lambda what, dtype, dialect: log_density_of(what).shown_for(TABLE, dtype, dialect),
    "loglik": lambda what, dtype, dialect: log_density_of(what).shown_for(LOGLIK, dtype, dialect),
    "gradient": lambda what, dtype, dialect: gradient_of(log_density_of(what)).shown(dtype, dialect),
}
