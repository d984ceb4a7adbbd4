"""Derivatives of graphs, in variables on which a graph may not depend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.gradient import DisconnectedType, Lop, grad
from pytensor.graph.basic import Variable


def gradients(total: Variable, wrt: Sequence[Variable]) -> list[Variable]:
    """Gradients of a number in variables."""
    found: Any = grad(total, list(wrt), disconnected_inputs="ignore") if wrt else []
    return found


def pulled_back(outputs: Sequence[Variable], cotangents: Sequence[Variable], wrt: Sequence[Variable]) -> list[Variable]:
    """Derivatives in variables, from those in the outputs, of which some may be disconnected."""
    pairs = zip(outputs, cotangents, strict=True)
    connected = [(v, c) for v, c in pairs if not isinstance(c.type, DisconnectedType)]
    found: Any = Lop([v for v, _ in connected], list(wrt), [c for _, c in connected], disconnected_inputs="ignore")
    return found
