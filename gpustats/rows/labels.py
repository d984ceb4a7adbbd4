"""Labels of the places in tables and of coefficients, where users have labels for indices and data frames for matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from .leaves import Dot, Gather, Leaf


def axes_of(leaf: Leaf) -> Sequence[Sequence[str]]:
    """Labels along the axes of the parameter of a leaf; none where they are numbers."""
    if isinstance(leaf, Gather):
        return [[] if labels is None else labels.tolist() for labels in leaf.labels]
    return [leaf.names] if isinstance(leaf, Dot) else []


def with_common_labels(leaves: Mapping[str, Leaf]) -> dict[str, Leaf]:
    """Leaves in which all indices of a table's axis have the same labels, of which each may have had some."""
    found, tables = dict(leaves), dict[str, dict[str, Gather]]()
    for name, leaf in leaves.items():
        if isinstance(leaf, Gather):
            tables.setdefault(leaf.of or name, {})[name] = leaf
    for table, gathers in tables.items():
        for axis in range(min(len(g.indices) for g in gathers.values())):
            given = [g.labels[axis] for g in gathers.values() if g.labels[axis] is not None]
            if not given:
                continue
            if len(given) < len(gathers):
                raise ValueError(f"{table} is gathered by labels and by numbers: give labels for all of an axis or for none")
            if all(np.array_equal(given[0], labels) for labels in given[1:]):
                continue
            common = np.unique(np.concatenate(given))
            for name in gathers:
                found[name] = _among(found[name], axis, common)
    return found


def _among(leaf: Leaf, axis: int, common: np.ndarray) -> Leaf:
    """Leaf whose places along an axis are those of its labels among other ones, in ascending order."""
    assert isinstance(leaf, Gather)
    labels, indices = list(leaf.labels), list(leaf.indices)
    indices[axis] = np.searchsorted(common, labels[axis]).astype(np.int32)[indices[axis]]
    labels[axis] = common
    return replace(leaf, indices=tuple(indices), labels=tuple(labels))
