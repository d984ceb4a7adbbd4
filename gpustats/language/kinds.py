"""Kinds of things that a source can define, told apart by the endings of its functions' names.

A source of ``normal_logpdf`` defines a density. Other kinds are described beside what is made of them, and added to the
table here when gpustats is imported, before any source is parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import DeviceFunctionError
from .nodes import Function


@dataclass(frozen=True)
class Kind:
    """Kind of thing that a source can define."""

    name: str  # as messages have it
    plural: str  # likewise
    endings: tuple[str, ...]  # of the names of its functions. The first one that a source has tells the arguments.
    beside: tuple[str, ...] = ()  # endings of further functions: they mean something beside one of these, and nothing alone
    file_ending: str = ""  # ending of the names of built-in files, behind the name of the thing itself
    fault: Callable[[Function], str] | None = None  # message for the author about wrong parameters of a function, or ""
    #: the kind of which this one is a special case. Then a source is of this kind if its function sees `inputs` first.
    base: Kind | None = None
    #: names of the parameters through which the function of such a special case sees the observation
    inputs: tuple[str, ...] = ()
    #: the arguments that users pass and `inputs` are made of: they are not in the signature, so the comment has to name them
    public: tuple[str, ...] = ()
    #: whether its functions take sequences, of a length that has any name, and that those who call them may tell to be 0
    of_sequences: bool = False

    def __reduce__(self) -> Any:
        return _named, (self.name,)

    def includes(self, kind: Kind | None) -> bool:
        """True if `kind` is this kind, or a special case of it."""
        return kind is not None and self in (kind, kind.base)

    def describes(self, function: Function) -> bool:
        """True if a function with one of the endings is of this kind."""
        return tuple(p.name for p in function.parameters[: len(self.inputs)]) == self.inputs


#: Endings of functions of an observation and the parameters, P(X <= x), P(X > x) and their logarithms; of the quantiles, which
#: are functions of a probability and the parameters; and of numbers that the parameters alone tell.
DISTRIBUTION_FUNCTIONS = ("logcdf", "logsf", "cdf", "sf")
QUANTILES = ("ppf", "isf")
NUMBERS = ("mean", "var", "skewness", "kurtosis", "entropy", "median", "mode", "lower", "upper")

DENSITY = Kind(
    "density", "densities", ("logpdf", "logpmf", *DISTRIBUTION_FUNCTIONS, "sample"), beside=(*QUANTILES, *NUMBERS)
)

_kinds: list[Kind] = [DENSITY]


def add_kind(kind: Kind) -> None:
    """Let sources define things of another kind."""
    if kind not in _kinds:
        _kinds.insert(_kinds.index(kind.base) if kind.base else len(_kinds), kind)  # special cases are looked for first


def _named(name: str) -> Kind:
    """Kind of a name: there is one of each, also after pickling."""
    return next(kind for kind in _kinds if kind.name == name)


def kinds() -> Sequence[Kind]:
    """Kinds of sources, special cases before the kinds that they belong to."""
    return _kinds


def endings() -> list[str]:
    """Endings of functions' names that have a meaning."""
    return list(dict.fromkeys(e for kind in _kinds for e in (*kind.endings, *kind.beside)))


def endings_of_vectors() -> list[str]:
    """Endings of the functions whose vectors have an element at least, and a length that is called dim."""
    return list(dict.fromkeys(e for kind in _kinds if not kind.of_sequences for e in (*kind.endings, *kind.beside)))


def is_helper(function: str) -> bool:
    """True if a function is none that users call, whose vectors have an element at least."""
    return function.rpartition("_")[2] not in endings_of_vectors()


def defining_endings() -> list[str]:
    """Endings of the functions that define the things: each source has one, and its name tells that of the thing."""
    return list(dict.fromkeys(e for kind in _kinds for e in kind.endings))


def distribution_name(source: str, names: Sequence[str]) -> str:
    """Name of a distribution, from the names of its functions."""
    stems = {n.rpartition("_")[0] for n in names if n.rpartition("_")[2] in defining_endings() and "_" in n}
    if len(stems) != 1:
        wanted = ", ".join(f"name_{ending}" for ending in defining_endings())
        raise DeviceFunctionError(
            f"found {'several distributions' if stems else 'no distribution'} in the functions "
            f"{', '.join(names)}: name the one that matters with an ending out of {wanted}",
            line=1, column=1, source=source,
        )  # fmt: skip
    return stems.pop()
