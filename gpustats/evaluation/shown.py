"""The kernels that are shown of any density, and of any function that a transform made of one."""

from __future__ import annotations

from typing import Any

from .gradient import gradient_of
from .sums import LOGLIK
from .table import TABLE


def _function(what: Any) -> Any:
    """The function itself, or the log-density of a density."""
    return getattr(what, "log_density", what)


SHOWN = {
    "table": lambda what, dtype, dialect: _function(what).shown_for(TABLE, dtype, dialect),
    "loglik": lambda what, dtype, dialect: _function(what).shown_for(LOGLIK, dtype, dialect),
    "gradient": lambda what, dtype, dialect: gradient_of(_function(what)).shown(dtype, dialect),
}
