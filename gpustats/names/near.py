"""Names near to one that is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterable

SHORTEST = 3  # letters of an abbreviation


def abbreviated(name: str, known: Iterable[str]) -> list[str]:
    """Those of some names that a name is short for: one of their words begins as it does, and has its letters in its order."""
    letters = name.replace("_", "")
    return [own for own in known if len(letters) >= SHORTEST and _is_short_for(letters, own)]


def _is_short_for(letters: str, name: str) -> bool:
    words = name.split("_")
    rests = ("".join(words[i:]) for i in range(len(words)))
    return any(rest[0] == letters[0] and _in_order(letters, rest) for rest in rests if rest)


def _in_order(letters: str, text: str) -> bool:
    left = iter(text)
    return all(c in left for c in letters)


def did_you_mean(
    name: str, known: Iterable[str], most: int = 3, how_near: float = 0.6, shown: Callable[[str], str] = repr
) -> str:
    """Question about the names that are near to one that is not known; "" where none is."""
    import difflib  # not needed before the first mistake

    near = difflib.get_close_matches(name, list(known), most, how_near)
    return f"did you mean {' or '.join(map(shown, near))}?" if near else ""
