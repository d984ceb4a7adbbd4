"""The kernel of a mixture that is shown of any density."""

from __future__ import annotations

from typing import Any

from .mixture import MIXTURE
from .terms import weighted_term


def _source(what: Any, dtype: str, dialect: str) -> str:
    return weighted_term(getattr(what, "log_density", what)).shown_for(MIXTURE, dtype, dialect)


SHOWN = {"mixture": _source}
