"""Small pictures as inline SVG, for notebooks: no library draws them, and no script."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .html import Html

WIDTH, HEIGHT, BELOW = 260, 90, 14  # pixels; the last are those of the numbers below
COLOUR = "#2a6f97"

Numbers = Sequence[float]


def curve(x: Numbers, y: Numbers) -> Html:
    """Curve over an axis, with the space below it filled; points that are not finite are left out."""
    points = _finite(x, y)
    if len(points) < 2:
        return Html()
    place = _Place([p[0] for p in points], [0.0, *(p[1] for p in points)])
    path = " ".join(f"{place.across(a)},{place.up(b)}" for a, b in points)
    left, right = (f"{place.across(points[i][0])},{place.up(0)}" for i in (0, -1))
    return place.picture(
        f'<polygon points="{left} {path} {right}" fill="{COLOUR}" fill-opacity="0.15"></polygon>'
        f'<polyline points="{path}" fill="none" stroke="{COLOUR}" stroke-width="1.5"></polyline>'
    )


def bars(x: Numbers, y: Numbers) -> Html:
    """Line from the axis up to each point; points that are not finite are left out."""
    points = _finite(x, y)
    if not points:
        return Html()
    first, last = points[0][0], points[-1][0]
    place = _Place([first - 0.5, last + 0.5], [0.0, *(p[1] for p in points)], (first, last))
    path = " ".join(f"M{place.across(a)} {place.up(0)}V{place.up(b)}" for a, b in points)
    return place.picture(f'<path d="{path}" stroke="{COLOUR}" stroke-width="3" fill="none"></path>')


def band(middle: Numbers, low: Numbers, high: Numbers) -> Html:
    """Curve of values by their numbers, with a band around it."""
    known = [(float(i), *v) for i, v in enumerate(zip(middle, low, high, strict=True)) if all(map(math.isfinite, v))]
    if len(known) < 2:
        return Html()
    place = _Place([p[0] for p in known], [v for p in known for v in p[1:]], (known[0][0], known[-1][0]))
    line, under, over = (" ".join(f"{place.across(p[0])},{place.up(p[k])}" for p in known) for k in (1, 2, 3))
    back = " ".join(reversed(over.split(" ")))
    return place.picture(
        f'<polygon points="{under} {back}" fill="{COLOUR}" fill-opacity="0.2"></polygon>'
        f'<polyline points="{line}" fill="none" stroke="{COLOUR}" stroke-width="1.5"></polyline>'
    )


def _finite(x: Numbers, y: Numbers) -> list[tuple[float, float]]:
    return [(float(a), float(b)) for a, b in zip(x, y, strict=True) if math.isfinite(a) and math.isfinite(b)]


class _Place:
    """Place of points in a picture: `labels` are the numbers below its ends."""

    def __init__(self, x: Numbers, y: Numbers, labels: tuple[float, float] | None = None):
        self._left, self._right, self._bottom, self._top = min(x), max(x), min(y), max(y)
        self._labels = labels or (self._left, self._right)

    def across(self, x: float) -> str:
        return f"{2 + (WIDTH - 4) * (x - self._left) / ((self._right - self._left) or 1):.1f}"

    def up(self, y: float) -> str:
        share = (y - self._bottom) / ((self._top - self._bottom) or 1)
        return f"{HEIGHT - BELOW - 2 - (HEIGHT - BELOW - 4) * share:.1f}"

    def picture(self, drawn: str) -> Html:
        axis = HEIGHT - BELOW - 1
        left, right = (f"{v:.4g}" for v in self._labels)
        text = 'font-size="10" font-family="sans-serif" fill="currentColor"'
        return Html(
            f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{drawn}'
            f'<line x1="0" y1="{axis}" x2="{WIDTH}" y2="{axis}" stroke="currentColor" stroke-opacity="0.4"></line>'
            f'<text x="2" y="{HEIGHT - 3}" {text}>{left}</text>'
            f'<text x="{WIDTH - 2}" y="{HEIGHT - 3}" text-anchor="end" {text}>{right}</text></svg>'
        )
