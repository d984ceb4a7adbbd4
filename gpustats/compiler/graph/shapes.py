"""Shapes of results in a PyTensor graph."""

from __future__ import annotations

from collections.abc import Sequence

import pytensor.tensor as pt
from pytensor.graph.basic import Apply

from .types import SymbolicShape


def broadcast_batch(node: Apply, shapes: Sequence[SymbolicShape], ranks: Sequence[int]) -> SymbolicShape:
    """Shape to which the leading axes of a node's inputs broadcast.

    Parameters
    ----------
    node : Apply
    shapes : sequence
        Shape of each input.
    ranks : sequence of int
        Number of the last axes of each input that do not count.
    """
    batches = []
    for variable, shape, rank in zip(node.inputs, shapes, ranks, strict=True):
        static = variable.type.shape  # what the graph knows for certain spares it to compare lengths
        batches.append(tuple(shape[i] if static[i] is None else static[i] for i in range(len(static) - rank)))
    return tuple(pt.broadcast_shape(*batches, arrays_are_shapes=True)) if any(batches) else ()
