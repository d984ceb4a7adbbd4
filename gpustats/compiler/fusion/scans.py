"""Scans: what each output of a scan begins with, and the graph of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pytensor.compile.mode import optdb
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.graph.traversal import toposort
from pytensor.tensor.type import TensorType

from .scalar_ops import UnknownLength, Unsupported
from .settings import fused

Copy = Callable[[Sequence[Variable], Mapping[Variable, Variable]], list[Variable]]


@dataclass(frozen=True, eq=False)
class Track:
    """Output of a scan: element `n_first` + t along its first axis is what step t makes."""

    new: Variable  #: in the graph of a step
    n_first: int  #: number of elements that there are before the steps
    buffer: Variable | None = None  #: array whose first elements these are


@dataclass(frozen=True, eq=False)
class Scanned:
    """Scan with the graph of a step, in which what the steps share is as it is outside."""

    n_steps: int
    tracks: list[Track]  #: by output
    sequences: dict[Variable, Variable]  #: variable of a step -> what has an element for each step
    #: variable of a step -> the output that it is of, and how many elements it lies behind the new one
    before: dict[Variable, tuple[int, int]]


def scanned(node: Apply, inputs: Sequence[Variable], copy: Copy) -> Scanned:
    """Scan of these inputs; `copy` makes a graph of a step for variables of these types."""
    op, info = node.op, node.op.info
    if info.n_mit_mot:
        raise Unsupported("a scan that is the derivative of another one")
    if info.as_while:
        raise Unsupported("a scan that ends by a condition")
    if info.n_untraced_sit_sot:
        raise Unsupported("a scan with random draws, or with what it does not keep")
    if any(type(inner.op).__name__ == "Scan" for inner in op.fgraph.apply_nodes):
        raise Unsupported("a scan within a scan")
    if not isinstance(inputs[0], Constant):
        raise UnknownLength("a scan of as many steps as only the call tells")
    n_steps = int(np.asarray(inputs[0].data))
    if n_steps < 1:
        raise Unsupported("a scan without steps")
    inner, outputs = _stable(op)
    given: dict[Variable, Variable] = dict(zip(op.inner_non_seqs(inner), op.outer_non_seqs(inputs), strict=True))
    sequences: dict[Variable, Variable] = {}
    before: dict[Variable, tuple[int, int]] = {}
    for own, outer in zip(op.inner_seqs(inner), op.outer_seqs(inputs), strict=True):
        given[own] = _element(own, outer)
        sequences[given[own]] = outer
    taps = [*info.mit_sot_in_slices, *info.sit_sot_in_slices]
    buffers = [*op.outer_mitsot(inputs), *op.outer_sitsot(inputs)]
    states = iter([*op.inner_mitsot(inner), *op.inner_sitsot(inner)])
    firsts = [-min(its) for its in taps]
    for output, (its, buffer) in enumerate(zip(taps, buffers, strict=True)):
        if buffer.type.shape[0] is None:
            raise UnknownLength("a scan of as many steps as only the call tells")
        if max(its) >= 0 or buffer.type.shape[0] != n_steps + firsts[output]:
            raise Unsupported("a scan that keeps some of its steps only")
        for tap in its:
            own = next(states)
            given[own] = _element(own, buffer)
            before[given[own]] = output, -tap
    for length in op.outer_nitsot(inputs):
        if not isinstance(length, Constant) or int(np.asarray(length.data)) != n_steps:
            raise Unsupported("a scan that keeps some of its steps only")
    new = copy(outputs, given)
    tracks = [Track(v, n, b) for v, n, b in zip(new[: len(taps)], firsts, buffers, strict=True)]
    tracks += [Track(v, 0) for v in new[len(taps) :]]
    return Scanned(n_steps, tracks, sequences, before)


def shapes_of(node: Apply, inputs: Sequence[Variable], found: Scanned | None) -> list[tuple[int | None, ...]]:
    """Shapes of the outputs of a scan of these inputs."""
    op, info = node.op, node.op.info
    shapes = [v.type.shape if isinstance(v.type, TensorType) else () for v in node.outputs]
    if info.as_while or info.n_mit_mot:
        return shapes
    buffers = [*op.outer_mitsot(inputs), *op.outer_sitsot(inputs)]
    for output, buffer in enumerate(buffers):
        shapes[output] = buffer.type.shape
    for output, length in enumerate(op.outer_nitsot(inputs), len(buffers)):
        if isinstance(length, Constant):
            inner = shapes[output][1:] if found is None else found.tracks[output].new.type.shape
            shapes[output] = (int(np.asarray(length.data)), *inner)
    return shapes


def _stable(op: HasInnerGraph) -> tuple[list[Variable], list[Variable]]:
    """Inputs and outputs of a step, as they are compiled: without what overflows or loses digits."""
    of: dict[Variable, Variable] = {v: v.type(v.name) for v in op.inner_inputs}
    for node in toposort(op.inner_outputs):  # node by node, as PyTensor 3 has no copies of them
        copy = Apply(node.op, [of.get(v, v) for v in node.inputs], [v.type(v.name) for v in node.outputs])
        of.update(zip(node.outputs, copy.outputs, strict=True))
    fgraph = FunctionGraph([of[v] for v in op.inner_inputs], [of.get(v, v) for v in op.inner_outputs], clone=False)
    with fused(False):
        optdb.query(RewriteDatabaseQuery(include=("canonicalize", "stabilize"))).rewrite(fgraph)
    return fgraph.inputs, fgraph.outputs


def _element(own: Variable, outer: Variable) -> Variable:
    """Variable of a step for an element of an array along its first axis."""
    return TensorType(own.type.dtype, outer.type.shape[1:])(own.name or outer.name)
