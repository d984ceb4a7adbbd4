"""Kernel of a mixture that is shown of any density."""

from __future__ import annotations

from typing import Any

from ..evaluation.pointwise import log_density_of
from .kernels import MIXTURE
from .terms import weighted_term


def _source(what: Any, dtype: str, dialect: str) -> str:
    return weighted_term(log_density_of(what)).shown_for(MIXTURE, dtype, dialect)


SHOWN = {"mixture": _source}
