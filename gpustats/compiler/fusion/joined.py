"""Arrays that are joined from others, or have another shape than these."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable

from .along import Along, At, Entry, evenly, picked
from .expression import Expression
from .reader import MOST_IN_ROW, Argument, Reader, reads
from .scalar_ops import UnknownLength, Unsupported


@reads("MakeVector")
def of_vector(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    (place,) = at
    return among(reader, place, [functools.partial(reader.visit, v, ()) for v in node.inputs])


@reads("Join")
def of_join(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    axis, parts = axis_and_parts(node)
    axis %= len(at)
    extents = [v.type.shape[axis] for v in parts]
    if any(e is None for e in extents):
        raise UnknownLength("joined arrays whose lengths only the call tells")
    starts = np.concatenate([[0], np.cumsum(extents)])
    place = at[axis]
    if isinstance(place, int):
        part = int(np.searchsorted(starts, place, "right")) - 1
        return reader.visit(parts[part], (*at[:axis], place - int(starts[part]), *at[axis + 1 :]))
    part_of_row = np.searchsorted(starts, place.places, "right") - 1
    present = np.unique(part_of_row)
    chosen: Expression | None = None
    for part in present[::-1]:
        low, high = int(starts[part]), int(extents[part]) - 1
        inside = _moved(reader, place, low, high, ("part", int(part), low, high))
        value = reader.visit(parts[part], (*at[:axis], inside, *at[axis + 1 :]))
        if chosen is None:
            chosen = value
        else:
            in_part = reader.truth(("which", place.key, low, high), (part_of_row == part))
            chosen = reader.expressions.choice(in_part, value, chosen)
    assert chosen is not None
    return chosen


def axis_and_parts(node: Apply) -> tuple[int, Sequence[Variable]]:
    """Axis along which arrays are joined, and the arrays: in PyTensor 3, and in PyTensor 2, whose axis is an input."""
    if hasattr(node.op, "axis"):
        return int(node.op.axis), node.inputs
    if not isinstance(node.inputs[0], Constant):
        raise Unsupported("arrays that are joined along an axis that only the call tells")
    return int(np.asarray(node.inputs[0].data)), node.inputs[1:]


def _moved(reader: Reader, place: Along, low: int, high: int, key: tuple) -> Entry:
    """Positions in a part that begins at `low`; those of other parts are at its ends."""
    if high == 0:
        return 0
    if place.start is not None and place.step == 1 and place.start >= low and place.start - low + reader.n - 1 <= high:
        return evenly(place.start - low, 1, reader.n)

    def used() -> np.ndarray:
        inside = (place.places >= low) & (place.places - low <= high)
        return inside if place.used is None else inside & place.used()

    return Along(("moved", place.key, *key), lambda: np.clip(place.places - low, 0, high), used=used)


def among(reader: Reader, place: Entry, options: Sequence[Callable[[], Expression]]) -> Expression:
    """Option that a number chooses, which may differ between rows."""
    if isinstance(place, int):
        return options[place]()
    if len(options) > MOST_IN_ROW:
        raise Unsupported(f"one of {len(options)} values by the row")
    present = [int(i) for i in np.unique(place.places)]
    number = reader.argument(
        ("index", place.key), "index", lambda name: Argument(name, "data", numbers=(place.places.astype(np.int32),))
    )
    return chosen_by(reader, number, [(i, options[i]) for i in present])


def chosen_by(reader: Reader, number: Expression, options: Sequence[tuple[int, Callable[[], Expression]]]) -> Expression:
    found = options[-1][1]()
    for i, option in reversed(options[:-1]):
        equal = reader.expressions.make("{} == {}", number, reader.expressions.number(float(i)), whole=True)
        found = reader.expressions.choice(equal, option(), found)
    return found


@reads("Reshape")
def of_reshape(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    source, shape = node.inputs[0], node.outputs[0].type.shape
    inner = source.type.shape
    if any(s is None for s in (*shape, *inner)):
        raise UnknownLength("a new shape that only the call tells")
    if [s for s in shape if s != 1] == [s for s in inner if s != 1]:
        kept = iter([a for a, s in zip(at, shape, strict=True) if s != 1])
        return reader.visit(source, tuple(0 if s == 1 else next(kept) for s in inner))
    places = np.arange(math.prod(shape)).reshape(shape)
    flat = picked(places, at, shape)
    entries: list[Entry] = []
    for axis, extent in enumerate(inner):
        below = math.prod(inner[axis + 1 :])
        if isinstance(flat, int):
            entries.append(flat // below % extent)
        elif extent == 1:
            entries.append(0)
        elif below == 1 and axis == 0:
            entries.append(flat)
        else:
            entries.append(_part_of(flat, below, extent))
    return reader.visit(source, tuple(entries))


def _part_of(flat: Along, below: int, extent: int) -> Along:
    return Along(("part of", flat.key, below, extent), lambda: flat.places // below % extent, used=flat.used)
