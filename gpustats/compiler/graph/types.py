"""Names of types in PyTensor's graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from numpy.typing import ArrayLike
from pytensor.graph.basic import Variable
from pytensor.tensor.variable import TensorVariable as TensorVariable

#: What PyTensor makes a variable of: a variable, a number, an array, or a sequence of these.
TensorLike = Variable | Sequence[Variable] | ArrayLike
#: What a user passes for a parameter; None where others tell it.
Parameter = TensorLike | None
#: Arrays in a graph, such as the inputs of an operation.
Variables = Sequence[TensorVariable]
#: Shape in a graph: a number or a variable for each axis.
SymbolicShape = tuple[int | Variable, ...]

#: What stands for the extent of an axis where shapes are computed, in a graph or in the text of compiled code.
E = TypeVar("E")
#: Extents of an array.
Extents = tuple[E, ...]
#: Of the number of each input's last axes that count as no leading ones: the extents to which the leading ones broadcast.
Batch = Callable[[Sequence[int]], Extents[E]]
