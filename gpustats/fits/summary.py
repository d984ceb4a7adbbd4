"""Tables of estimates, as text and as data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..display import html
from .hypotheses import width_of

MOST_SETS = 20  # data sets in a table; of more the first and the last
MOST_SHOWN = 4  # elements of a parameter in one line


class Columns(NamedTuple):
    """Columns of a table of estimates."""

    estimate: np.ndarray
    error: np.ndarray
    z: np.ndarray
    p: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def columns(values: np.ndarray, errors: np.ndarray, level: float) -> Columns:
    """Columns of a table of estimates: with their errors, z, its p-value, and the ends of an interval."""
    from scipy.special import ndtr

    width = width_of(level) * errors
    with np.errstate(divide="ignore", invalid="ignore"):
        z = values / errors
    return Columns(values, errors, z, 2 * ndtr(-np.abs(z)), values - width, values + width)


def frame_of(values: Any, index: Sequence[Any] | None, names: Sequence[str] | None = None) -> Any:
    """Data frame of pandas with these labels of rows and names of columns."""
    try:
        import pandas
    except ImportError:
        raise ImportError("a data frame is one of pandas: pip install pandas") from None
    return pandas.DataFrame(values, index=index, columns=names)


def in_short(fit: Any, without_errors: str) -> str:
    """Estimates in one line, with standard errors unless something says why they are `without_errors`."""
    if np.ndim(fit.log_likelihood):
        fine, n = int(np.sum(fit.converged)), fit.log_likelihood.size
        return f"<estimates of {', '.join(fit.free)} of {fit.density} for {n} data sets, {fine} of them converged>"
    errors: Mapping[str, Any] = {} if without_errors else fit.standard_errors
    parameters = ", ".join(
        f"{n}={_short(v, errors.get(n))}" if np.ndim(v) == 0 or (n in fit.free and np.size(v) <= MOST_SHOWN)
        else f"{n} of shape {np.shape(v)}" if n in fit.free else f"{n} given"
        for n, v in fit.parameters.items()
    )  # fmt: skip
    told = [parameters, *filter(None, [without_errors]), f"log-likelihood {fit.log_likelihood:.6g}", fit.message]
    return f"<estimates of {fit.density}: {'; '.join(told)}>"


def _short(value: Any, error: Any) -> str:
    """Number with its error, where there is one, or several of them in brackets."""
    if np.ndim(value) == 0:
        return f"{value:.6g}" + ("" if error is None else f" ± {error:.2g}")
    errors = [None] * np.size(value) if error is None else np.ravel(error)
    return f"[{', '.join(_short(v, e) for v, e in zip(np.ravel(value), errors, strict=True))}]"


@dataclass(frozen=True)
class Table:
    """Table of estimates, before it is text or HTML."""

    title: str
    facts: Mapping[str, str]  #: two by two, an even number
    end: str  #: of the search, in words
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    before: Sequence[Sequence[str]] = ()  #: a table above, its head first, whose first two columns are names

    def __str__(self) -> str:
        lines = _aligned([self.head, *self.rows], 1)
        above = [line.rstrip() for line in _aligned(self.before, 2)]
        rule = max(len(lines[0]), 60)
        told = [f"{name}: {value}" for name, value in self.facts.items()]
        left = max(map(len, told[::2])) + 4
        pairs = [f"{a.ljust(left)}{b}" for a, b in zip(told[::2], told[1::2], strict=True)]
        return "\n".join([
            self.title, "=" * rule, *pairs, f"search: {self.end}", "-" * rule, *above, *["-" * rule] * bool(above),
            lines[0].rstrip(), "-" * rule, *(line.rstrip() for line in lines[1:]), "=" * rule,
        ])  # fmt: skip

    def _repr_html_(self) -> str:
        above = [html.table(self.before[1:], self.before[0], True)] if self.before else []
        told = html.facts({**self.facts, "search": self.end})
        return html.card(self.title, told, *above, html.table(self.rows, self.head, True))


def table(
    title: str, facts: Mapping[str, str], end: str, labels: Sequence[str], values: np.ndarray, errors: np.ndarray, level: float,
    before: Sequence[Sequence[str]] = (),
) -> Table:  # fmt: skip
    """Table of `Estimates.summary`: `facts` two by two, the search's `end`, rows `before` the table itself."""
    own = columns(values, errors, level)
    tail = f"{(1 - level) / 2:.4g}"
    head = ["", "estimate", "std err", "z", "P>|z|", f"[{tail}", f"{(1 + level) / 2:.4g}]"]
    rows = []
    for i in html.ends(len(values)):
        if i == html.GAP:
            rows.append([html.left_out(len(values)), *[""] * 6])
            continue
        cells = list(map(number, (values[i], errors[i], own.lower[i], own.upper[i])))
        rows.append([labels[i], *cells[:2], f"{own.z[i]:.3f}", f"{own.p[i]:.3f}", *cells[2:]])
    return Table(title, facts, end, head, rows, before)


def of_data_sets(fit: Any) -> str:
    """HTML of estimates for many data sets: a row for each, of more than one axis those of the flattened array."""
    n = np.size(fit.log_likelihood)
    names = [name for name in fit.free if np.shape(fit.parameters[name]) == np.shape(fit.log_likelihood)]
    flat = [(np.ravel(fit.parameters[name]), np.ravel(fit.standard_errors[name])) for name in names]
    labels = range(n) if fit.groups is None else fit.groups
    fine, logliks = np.ravel(fit.converged), np.ravel(fit.log_likelihood)
    rows: list[list[object]] = []
    for i in html.ends(n, MOST_SETS):
        if i == html.GAP:
            rows.append([html.left_out(n, MOST_SETS)])
            continue
        cells = (f"{number(v[i])} ± {e[i]:.2g}" for v, e in flat)
        rows.append([labels[i], *cells, number(logliks[i]), "" if fine[i] else "not converged"])
    head = ["data set", *names, "log-likelihood", ""]
    told = html.facts({"data sets": f"{n:,}", "converged": f"{int(fine.sum()):,}"})
    return html.card(fit.density, told, html.table(rows, head, True))


def number(v: float) -> str:
    """Number in a table."""
    return f"{v:.4f}" if 1e-3 <= abs(v) < 1e5 or v == 0 else f"{v:.3e}"


def _aligned(rows: Sequence[Sequence[str]], names: int) -> list[str]:
    """Lines of text of some rows, of which as many first columns are names."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(w) if c < names else cell.rjust(w) for c, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]  # fmt: skip
