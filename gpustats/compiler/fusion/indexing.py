"""Elements of arrays by index, and arrays some elements of which are set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.subtensor import indices_from_subtensor
from pytensor.tensor.type import TensorType

from .along import At, Entry, evenly, picked, read
from .expression import Expression
from .joined import chosen_by
from .reader import Reader, reads
from .scalar_ops import UnknownLength, Unsupported


@reads("Subtensor", "AdvancedSubtensor", "AdvancedSubtensor1")
def of_index(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    source, where = node.inputs[0], index_of(node)
    entries = _indexed(reader, source, where, at)
    varying = [(axis, e) for axis, e in enumerate(entries) if isinstance(e, Expression)]
    if not varying:
        return reader.visit(source, tuple(entries))  # type: ignore[arg-type]
    if len(varying) > 1:
        raise Unsupported("several indices that parameters decide")
    ((axis, number),) = varying
    extent = reader.short(source, axis)
    number = _from_start(reader, number, extent)

    def option(i: int) -> Callable[[], Expression]:
        return lambda: reader.visit(source, tuple(i if a == axis else e for a, e in enumerate(entries)))  # type: ignore[misc]

    return chosen_by(reader, number, [(i, option(i)) for i in range(extent)])


def _from_start(reader: Reader, number: Expression, extent: int) -> Expression:
    """Index from the start of an axis; the row is -inf where there is no such element."""
    end = reader.expressions.number(float(extent))
    from_end = reader.expressions.make("{} < 0.0", number, whole=True)
    number = reader.expressions.choice(from_end, reader.expressions.make("{} + {}", number, end), number)
    reader.require(reader.expressions.make("{} >= 0.0 && {} < {}", number, number, end, whole=True))
    return number


def _indexed(reader: Reader, source: Variable, where: Sequence[slice | Variable], at: At) -> list[Entry | Expression]:
    """Position of an indexed element in its array."""
    arrays = [axis for axis, i in enumerate(where) if not isinstance(i, slice)]
    ndim = max((i.type.ndim for i in where if not isinstance(i, slice)), default=0)
    rest: list[Entry] = list(at)
    lead: list[Entry] = []
    if ndim:
        consecutive = arrays[-1] - arrays[0] == len(arrays) - 1
        first = sum(isinstance(i, slice) for i in where[: arrays[0]]) if consecutive else 0
        lead, rest = rest[first : first + ndim], rest[:first] + rest[first + ndim :]
    remaining = iter(rest)
    entries: list[Entry | Expression] = []
    for axis in range(source.type.ndim):
        index = where[axis] if axis < len(where) else slice(None)
        extent = source.type.shape[axis]
        if isinstance(index, slice):
            a = next(remaining)
            if extent is None and ((index.start or 0) < 0 or (index.step or 1) < 0):
                raise UnknownLength(f"a part of {source.type} that is counted from an end which only the call tells")
            start, _, step = index.indices(2**62 if extent is None else extent)
            entries.append(start + step * a if isinstance(a, int) else a.scaled(step, start))
            continue
        position = lead[ndim - index.type.ndim :]
        position = [0 if s == 1 else a for a, s in zip(position, index.type.shape, strict=True)]
        if (found := reader.array_of(index, position)) is not None:
            places, its = found
            if (places < 0).any():
                if extent is None:
                    raise UnknownLength(f"an index of {source.type} from its end, which only the call tells")
                places = np.where(places < 0, places + extent, places)
            entries.append(picked(places, its, reader.name_of(places)))
        else:
            entries.append(reader.visit(index, tuple(position)))
    return entries


def index_of(node: Apply, values: int = 1) -> list[slice | Variable]:
    """Index along each axis of the indexed array: a slice of whole numbers, or a variable.

    The index follows the first inputs of the node, as many as `values`.
    """
    listed = getattr(node.op, "idx_list", None)
    inputs: Sequence[Any] = node.inputs[values:]
    if listed is not None:
        inputs = indices_from_subtensor(inputs, listed)
    indices: list[Any] = []
    for index in inputs:
        if isinstance(index, slice):
            indices.append(slice(*(_number(v) for v in (index.start, index.stop, index.step))))
        elif isinstance(index, Constant) and isinstance(index.data, slice):
            indices.append(index.data)
        elif isinstance(index, Variable) and isinstance(index.type, TensorType):
            indices += _of_array(index)
        elif isinstance(index, Variable) and hasattr(index.type, "dtype"):  # a scalar
            indices.append(pt.constant(index.data) if isinstance(index, Constant) else pt.tensor_from_scalar(index))
        else:
            raise Unsupported(f"an index of {index}")
    return indices


def _of_array(index: Variable) -> list[Variable]:
    if index.type.dtype != "bool":
        return [index]
    if not isinstance(index, Constant):
        raise Unsupported("a choice of elements that parameters decide")
    return [pt.constant(places) for places in np.nonzero(index.data)]


def _number(v: Variable | int | None) -> int | None:
    if v is None or isinstance(v, int):
        return v
    if isinstance(v, Constant):
        return None if v.data is None else int(np.asarray(v.data))
    raise UnknownLength("a slice whose ends only the call tells")


@reads("IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1")
def of_replaced(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    """Element of an array a part of which is set, or added to."""
    array, part, *_ = node.inputs
    shape = array.type.shape
    if any(s is None for s in (*shape, *part.type.shape)):
        raise UnknownLength(f"an array some elements of which are set, as long as only the call tells: {array.type}")
    where = index_of(node, values=2)
    if any(reader.follows_from_steps(i) for i in node.inputs[2:]):
        return _of_chosen(reader, node, where, at)
    index = tuple(_known(i) for i in where)
    inside = np.arange(math.prod(shape)).reshape(shape)[index]  # elements that are set, in the order of the part's
    if np.unique(inside).size != inside.size:
        raise Unsupported("an array whose elements are set several times")
    of_part = np.full(shape, -1)
    of_part.flat[inside] = np.arange(inside.size).reshape(inside.shape)
    part_of_row = np.broadcast_to(read(of_part, at), (reader.n,))
    before = reader.expressions.real(reader.visit(array, at))
    is_set = part_of_row >= 0
    if not is_set.any():
        return before
    key = ("part", node, *(a if isinstance(a, int) else a.key for a in at))
    row, shape_of_part = [evenly(0, 1, reader.n)], inside.shape
    places = np.unravel_index(np.maximum(part_of_row, 0), shape_of_part) if shape_of_part else ()
    place = tuple(picked(p, row, (*key, axis)) for axis, p in enumerate(places))
    after = reader.expressions.real(reader.visit(part, reader.under(part, place)))
    if not node.op.set_instead_of_inc:
        after = reader.expressions.make("{} + {}", before, after)
    return after if is_set.all() else reader.expressions.choice(reader.truth(("set", *key), is_set), after, before)


def _of_chosen(reader: Reader, node: Apply, where: Sequence[slice | Variable], at: At) -> Expression:
    """Element of an array of which a step of a scan sets, or adds to, what an index chooses."""
    array, part, *_ = node.inputs
    arrays = [axis for axis, i in enumerate(where) if isinstance(i, Variable)]
    ndim = max(where[axis].type.ndim for axis in arrays)  # type: ignore[union-attr]
    each = [axis for axis in arrays if _is_each(where[axis], array.type.shape[axis])]  # type: ignore[arg-type]
    if ndim > 1 or (ndim and not each) or any(i != slice(None) for i in where if isinstance(i, slice)):
        raise Unsupported("an array of which each step sets several elements")
    along = [at[axis] for axis in each[:1]]
    expressions, conditions = reader.expressions, list[Expression]()
    for axis in arrays:
        index, extent = where[axis], array.type.shape[axis]
        assert isinstance(index, Variable) and extent is not None
        if ndim and axis == each[0]:
            continue
        position = tuple(along if index.type.ndim else ())
        if (found := reader.array_of(index, position)) is not None:
            numbers, its = read(*found), at[axis]
            is_it = np.where(numbers < 0, numbers + extent, numbers) == (its if isinstance(its, int) else its.places)
            key = ("chosen", node, axis, *(a if isinstance(a, int) else a.key for a in at))
            conditions.append(reader.truth(key, np.broadcast_to(is_it, reader.n)))
            continue
        if not isinstance(at[axis], int):
            raise Unsupported("an array of which each step sets several elements")
        number = _from_start(reader, reader.visit(index, position), extent)
        conditions.append(expressions.make("{} == {}", number, expressions.number(float(at[axis])), whole=True))  # type: ignore[arg-type]
    inside = [a for axis, a in enumerate(at) if axis not in arrays]
    lead = arrays[0] if arrays[-1] - arrays[0] == len(arrays) - 1 else 0
    inside[lead:lead] = along
    before = expressions.real(reader.visit(array, at))
    after = expressions.real(reader.visit(part, reader.under(part, tuple(inside))))
    if not node.op.set_instead_of_inc:
        after = expressions.make("{} + {}", before, after)
    return expressions.choice(expressions.folded("{} && {}", conditions, whole=True), after, before)


def _is_each(index: Variable, extent: int | None) -> bool:
    """True if an index is 0, 1, ... up to the end of an axis."""
    return isinstance(index, Constant) and index.type.ndim == 1 and np.array_equal(index.data, np.arange(extent or 0))


def _known(index: slice | Variable) -> slice | np.ndarray | int:
    """Index along an axis as NumPy takes it."""
    if isinstance(index, slice):
        return index
    if not isinstance(index, Constant):
        raise Unsupported("an array some elements of which are set, which only the call tells")
    places = np.asarray(index.data)
    return places if places.ndim else int(places)


@reads("ExtractDiag")
def of_diagonal(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    """Element of a diagonal, which is the last axis."""
    op, source = node.op, node.inputs[0]
    axes, (*others, place) = [a % source.type.ndim for a in (op.axis1, op.axis2)], at
    rest = iter(others)
    starts = dict(zip(axes, (max(-op.offset, 0), max(op.offset, 0)), strict=True))

    def along(axis: int) -> Entry:
        if axis not in starts:
            return next(rest)
        return place + starts[axis] if isinstance(place, int) else place.scaled(1, starts[axis])

    return reader.visit(source, tuple(along(axis) for axis in range(source.type.ndim)))
