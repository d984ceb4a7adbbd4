"""PyMC's random variables in classes derived from PyMC's, for which a log-density is registered here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pymc.distributions.distribution import SymbolicRandomVariable
from pymc.distributions.shape_utils import _change_dist_size
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace

from .types import TensorVariable


class DerivedRV(SymbolicRandomVariable):
    """Random variable of PyMC's in a class of its own; the class derives from this one, then from PyMC's."""

    properties: ClassVar[tuple[str, ...]] = ()  # attributes that the class takes beside the graph

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        resize = _change_dist_size.dispatch(cls.__bases__[-1])

        @_change_dist_size.register(cls)
        def resized(op: DerivedRV, dist: TensorVariable, new_size: object, expand: bool = False) -> TensorVariable:
            return cls._derived(resize(op, dist, new_size, expand))

    @classmethod
    def rv_op(cls, *args: object, **kwargs: object) -> TensorVariable:
        """Random variable, by the arguments that PyMC's takes."""
        return cls._derived(super().rv_op(*args, **kwargs))

    @classmethod
    def _derived(cls, variable: TensorVariable) -> TensorVariable:
        node = variable.owner
        op, inputs = node.op, [v.type() for v in node.op.inner_inputs]
        if isinstance(op, cls):
            return variable
        given = {n: getattr(op, n) for n in cls.properties}
        return cls(inputs, inner_outputs(op, inputs), extended_signature=op.extended_signature, **given)(*node.inputs)


def inner_outputs(op: OpFromGraph, inputs: Sequence[Variable]) -> Sequence[Variable]:
    """Outputs of an operation that is made of a graph, as its graph computes them from these inputs."""
    given = dict(zip(op.inner_inputs, inputs, strict=True))
    if hasattr(op.fgraph, "bind"):  # PyTensor 3
        return op.fgraph.bind(given)
    return clone_replace(op.inner_outputs, given)
