"""Numbers that all of a scan goes into, such as a function of its last step: sums of one element."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort
from pytensor.tensor.math import Sum


def is_whole_sum(node: Apply) -> bool:
    """True if a node sums all elements of its input."""
    return isinstance(node.op, Sum) and not node.outputs[0].type.ndim and node.inputs[0].type.ndim > 0


def numbers_of_scans(outputs: Sequence[Variable]) -> list[Variable]:
    """For each scan the first number that all that is read of it goes into, unless that is a sum over rows."""
    nodes = [node for node in toposort(outputs) if type(node.op).__name__ not in ("Shape", "Shape_i")]
    uses = Counter(v for node in nodes for v in set(node.inputs)) + Counter(outputs)
    found: dict[Variable, None] = {}
    for place, scan in enumerate(nodes):
        if type(scan.op).__name__ != "Scan" or (number := _number(scan, nodes[place + 1 :], uses)) is None:
            continue
        if number.type.dtype == "float64" and number.owner is not None and not is_whole_sum(number.owner):
            found[number] = None
    return list(found)


def _number(scan: Apply, behind: Sequence[Apply], uses: Counter[Variable]) -> Variable | None:
    """First number that all uses of a scan lead to, among what the nodes behind it compute."""
    left = {v: uses[v] for v in scan.outputs if uses[v]}  # what follows from the scan -> its uses that are not seen yet
    for node in behind:
        inputs = [v for v in set(node.inputs) if v in left]
        if not inputs:
            continue
        for v in inputs:
            left[v] -= 1
            if not left[v]:
                del left[v]
        left |= {v: uses[v] for v in node.outputs if uses[v]}
        if len(left) == 1 and getattr((only := next(iter(left))).type, "ndim", 1) == 0:
            return only
    return None
