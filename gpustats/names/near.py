"""Names near to one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Question about the names that are near to one that is not known; "" where none is."""
    near = difflib.get_close_matches(name, list(known), 3)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""
