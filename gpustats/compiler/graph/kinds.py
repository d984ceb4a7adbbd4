"""PyMC's random variables in classes derived from PyMC's, for which a log-density is registered here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymc.distributions.distribution import SymbolicRandomVariable
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace


def as_kind(kind: type[SymbolicRandomVariable], variable: Any, **properties: Any) -> Any:
    """Random variable of PyMC's in a derived class.

    Parameters
    ----------
    kind : type
    variable : TensorVariable
        Random variable of a base of this class.
    **properties
        What the class takes beside the graph.
    """
    node = variable.owner
    op = node.op
    inputs = [v.type() for v in op.inner_inputs]
    made = kind(inputs, inner_outputs(op, inputs), extended_signature=op.extended_signature, **properties)
    return made(*node.inputs)


def inner_outputs(op: Any, inputs: Sequence[Variable]) -> Sequence[Variable]:
    """Outputs of an operation that is made of a graph, as its graph computes them from these inputs."""
    given = dict(zip(op.inner_inputs, inputs, strict=True))
    if hasattr(op.fgraph, "bind"):  # PyTensor 3
        return op.fgraph.bind(given)
    return clone_replace(op.inner_outputs, given)
