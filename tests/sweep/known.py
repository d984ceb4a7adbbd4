"""What a search may find and is as it should be, each with its reason."""

from __future__ import annotations

#: (property, function) -> densities, and why
KNOWN = {
    ("nothing_lies_beyond_the_support", "logpdf"): (
        {"cardioid", "von_mises", "wrapped_cauchy", "wrapped_normal"},
        "a density of angles is that of the same angle beyond its support, too",
    ),
}


def is_known(density: str, property: str, ending: str) -> bool:
    return density in KNOWN.get((property, ending), ((), ""))[0]
