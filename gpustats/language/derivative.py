"""Derivatives that a text asks for: `derivative(f(t, y, slopes, k), y);` writes those of the array that `f` writes."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass

from . import nodes as lang

#: Name of the statement, as users write it.
DERIVATIVE = "derivative"

Gradient = Callable[[lang.Function, Sequence[str], MutableMapping[str, lang.Function]], lang.Function]
_gradient: list[Gradient] = []


@dataclass(frozen=True)
class Derivative(lang.Node):
    """Call of a function that writes to an array, which gets derivatives of its elements with respect to a variable instead."""

    call: lang.Call
    wrt: lang.Name


def differentiate_by(gradient: Gradient) -> None:
    """Let texts ask for derivatives, which differentiation computes: it stands above the language."""
    _gradient[:] = [gradient]


def gradient_of(
    function: lang.Function, wrt: Sequence[str], functions: MutableMapping[str, lang.Function]
) -> lang.Function:
    """Function that returns the results of `function`, then the derivatives of the first in `wrt`, of the second, …"""
    (gradient,) = _gradient
    known = set(functions)
    made = gradient(function, wrt, functions)
    if made.name not in known:
        del functions[made.name]  # it will be written out
    return made
