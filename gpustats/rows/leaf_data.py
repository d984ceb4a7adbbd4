"""Data of leaves: taken apart from them, put together with them again, and the number of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..parallel.ragged import Ragged
from .leaves import Column, Dot, Gather, Leaf, PerRow, Sequences, SparseDot, StepGather

if TYPE_CHECKING:
    from ..runtime.types import Array, Value


def taken_apart(leaves: Mapping[str, Leaf]) -> tuple[dict[str, Array], dict[str, Leaf]]:
    """Data of leaves, each by a name of its own, and the leaves without their data."""
    data: dict[str, Array] = {}
    without: dict[str, Leaf] = {}
    for name, leaf in leaves.items():
        match leaf:
            case Column():
                data[name], without[name] = leaf.numbers, replace(leaf, numbers=None)
            case Sequences():
                data[name] = Ragged(leaf.numbers, leaf.offsets)
                without[name] = replace(leaf, numbers=None, offsets=None, keys=None)
            case Dot():
                data[name], without[name] = leaf.X, replace(leaf, X=None)
            case SparseDot():
                data |= {f"{name}.{part}": entries for part, entries in leaf.X.parts().items()}
                without[name] = replace(leaf, X=leaf.X.without_entries())
            case StepGather():
                data |= {f"{name}.{axis}": Ragged(index, leaf.offsets) for axis, index in enumerate(leaf.indices)}
                without[name] = replace(leaf, indices=(None,) * len(leaf.indices), offsets=None)
            case Gather():
                data |= {f"{name}.{axis}": index for axis, index in enumerate(leaf.indices)}
                without[name] = replace(leaf, indices=(None,) * len(leaf.indices))
            case _:
                without[name] = leaf
    return data, without


def put_together(leaves: Mapping[str, Leaf], data: Mapping[str, Array]) -> dict[str, Value]:
    """Arguments as a user gives them, from leaves without data and data of these or other rows: reverses `taken_apart`."""
    made: dict[str, Leaf | Array] = {}
    for name, leaf in leaves.items():
        match leaf:
            case Column():
                made[name] = data[name]
            case Sequences():
                its: Ragged = data[name]
                whole = leaf.order is not None and leaf.order.size == its.numbers.size
                made[name] = replace(
                    leaf, numbers=its.numbers, offsets=its.offsets, order=leaf.order if whole else None
                )
            case Dot():
                made[name] = replace(leaf, X=data[name])
            case SparseDot():
                made[name] = replace(leaf, X=leaf.X.of_parts(data[f"{name}.columns"], data.get(f"{name}.values")))
            case StepGather():
                parts = (data[f"{name}.{axis}"] for axis in range(len(leaf.indices)))
                made[name] = Gather(leaf.of, tuple(Sequences(None, part.numbers, part.offsets) for part in parts))
            case Gather():
                made[name] = replace(leaf, indices=tuple(data[f"{name}.{axis}"] for axis in range(len(leaf.indices))))
            case PerRow():
                made[name] = leaf
    return made


def number_of_rows(leaves: Mapping[str, Leaf]) -> int | None:
    """Number of rows of the data, None where no leaf tells; ValueError where leaves differ."""
    found: dict[str, int] = {}
    for name, leaf in leaves.items():
        match leaf:
            case Column():
                found[name] = leaf.numbers.shape[0]
            case Gather():
                lengths = {f"index {i} of {name}": index.shape[0] for i, index in enumerate(leaf.indices)}
                found |= {what.replace("index 0", "the index"): length for what, length in lengths.items()}
            case Sequences() | StepGather():
                found[name] = leaf.lengths.size
            case Dot() | SparseDot():
                found[f"X of {name}"] = leaf.X.shape[0]
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{n} {length}" for n, length in found.items())
        raise ValueError(f"the data must have the same number of rows: {listed}")
    return next(iter(found.values()), None)
