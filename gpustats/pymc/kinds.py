"""PyMC's random variables as ones of classes derived from PyMC's, for which a log-density is registered here."""

from __future__ import annotations

from typing import Any

from pymc.distributions.distribution import SymbolicRandomVariable


def as_kind(kind: type[SymbolicRandomVariable], variable: Any, **properties: Any) -> Any:
    """A random variable of PyMC's as one of a derived class.

    Parameters
    ----------
    kind : type
    variable : TensorVariable
        Of a base of this class.
    **properties
        What the class takes beside the graph.
    """
    node = variable.owner
    op = node.op
    made = kind(op.inner_inputs, op.inner_outputs, extended_signature=op.extended_signature, **properties)
    return made(*node.inputs)
