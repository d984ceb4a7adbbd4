"""Names near to one that is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def did_you_mean(
    name: str, known: Iterable[str], most: int = 3, how_near: float = 0.6, shown: Callable[[str], str] = repr
) -> str:
    """Question about the names that are near to one that is not known; "" where none is."""
    import difflib  # not needed before the first mistake

    near = difflib.get_close_matches(name, list(known), most, how_near)
    return f"did you mean {' or '.join(map(shown, near))}?" if near else ""
