"""Pieces of HTML for notebooks. Every text that is put in is escaped, but for pieces made here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence

MOST_NUMBERS = 6  # of an array that is shown
MOST_ROWS, GAP = 60, -1  # rows of a table at most, and what stands for those that are left out: see `ends`


class Html(str):
    """Piece of HTML, which is put in as it is."""


def text(value: object) -> Html:
    """Text as HTML; a piece of HTML stays as it is."""
    return value if isinstance(value, Html) else Html(html.escape(str(value)))


def code(value: object) -> Html:
    """Text of a program or a formula, with its line breaks."""
    return Html(f'<code style="white-space:pre-wrap">{text(value)}</code>')


def element(name: str, *parts: object) -> Html:
    """Element of HTML with these parts."""
    return Html(f"<{name}>{''.join(map(text, parts))}</{name}>")


def table(rows: Iterable[Sequence[object]], head: Sequence[object] = (), numbers: bool = False) -> Html:
    """Table; the first cell of each row is its label, others are aligned to the right if they are `numbers`."""
    rows = list(rows)
    columns = max([len(head), *map(len, rows)], default=0)
    left = ' style="text-align:left"'  # Jupyter's style aligns to the right what says nothing
    whole, each = (' style="text-align:right"', "") if numbers else ("", left)
    lines = []
    for name, all_cells in (*([("th", head)] if head else []), *(("td", row) for row in rows)):
        first, *others = all_cells
        others += [""] * (columns - 1 - len(others))
        cells = "".join(f"<{name}{each}>{text(cell)}</{name}>" for cell in others)
        lines.append(f"<tr><th{left}>{text(first)}</th>{cells}</tr>")
    return Html(f"<table{whole}>{''.join(lines)}</table>")


def ends(n: int, most: int = MOST_ROWS) -> list[int]:
    """Places of the rows of a long table that are shown: of more than `most` the first and the last, with GAP between."""
    return list(range(n)) if n <= most else [*range(most // 2), GAP, *range(n - most // 2, n)]


def left_out(n: int, most: int = MOST_ROWS) -> str:
    """Words in the place of GAP."""
    return f"… {n - 2 * (most // 2):,} more"


def facts(named: Mapping[str, object]) -> Html:
    """Table of names and what is known of them; those with an empty text are left out."""
    return table([(name, value) for name, value in named.items() if str(value)])


def card(title: object, *parts: object) -> str:
    """Representation of an object: its title in bold, and its parts below."""
    return str(element("div", element("p", element("strong", title)), *parts))


def shape_of(array: object) -> str:
    """Shape and type of an array, in words: "(5, 2) float64"; the text of anything else."""
    shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
    return str(array) if shape is None or dtype is None or not shape else f"{tuple(shape)} {dtype}"


class Shown:
    """Object that notebooks show as a table of what is known of it."""

    def _facts(self) -> Mapping[str, object]:
        """Names and texts, or pieces of HTML, in the order in which they are shown: by default its attributes."""
        return {n: f"{v:,}" if type(v) is int else v for n, v in vars(self).items()}

    def _title(self) -> str:
        """Words above the table."""
        return type(self).__name__

    def _repr_html_(self) -> str:
        return card(self._title(), facts(self._facts()))


class Record(Shown):
    """Dataclass of numbers and arrays, of which text and HTML have the shapes where they are large."""

    def _facts(self) -> Mapping[str, object]:
        return {n: short(v) for n, v in vars(self).items()}

    def __repr__(self) -> str:
        return f"<{self._title()}: {', '.join(f'{n} {text}' for n, text in self._facts().items())}>"


def short(value: object) -> str:
    """Numbers in short: those of a small array, and the shape of a large one; of a dictionary, each of its values."""
    if isinstance(value, Mapping):
        return ", ".join(f"{n}={short(v)}" for n, v in value.items())
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple):
        return f"of {len(value)}"
    size: int = getattr(value, "size", 1)
    return shape_of(value) if size > MOST_NUMBERS or not size else str(value).replace("\n", "")
