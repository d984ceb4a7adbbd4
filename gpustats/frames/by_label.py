"""Numbers of parameters by name, which are found by the labels of their elements, too."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..names.near import did_you_mean

MOST_LISTED = 12  # labels in an error


class ByLabel(dict[str, Any]):
    """Numbers by the names of parameters; those of a label are looked up where there is no such name.

    Parameters
    ----------
    numbers : mapping
        Name of a parameter -> numbers.
    estimated : sequence of str
        Names of those whose elements have labels.
    labels : iterable of str, or callable
        Labels of all their elements, or what returns them.
    given : iterable of str
        Names of all parameters, also of those that were not estimated and have no numbers here.
    """

    def __init__(
        self, numbers: Mapping[str, Any], estimated: Sequence[str], labels: Iterable[str] | Callable[[], Iterable[str]],
        given: Iterable[str],
    ):  # fmt: skip
        super().__init__(numbers)
        self._estimated, self._labels, self._given = tuple(estimated), labels, tuple(given)
        if "jax" in sys.modules:
            tell_jax()

    def __missing__(self, name: str) -> Any:
        if name in self._given:
            raise KeyError(f"{name!r} was given and not estimated: it has no standard error")
        labels = list(self._labels() if callable(self._labels) else self._labels)
        if name in labels:
            return np.concatenate([np.ravel(self[n]) for n in self._estimated])[labels.index(name)].item()
        known = ", ".join(labels[:MOST_LISTED]) + ", …" * (len(labels) > MOST_LISTED)
        near = did_you_mean(str(name), [*self._given, *labels])
        told = f"{name!r} is neither a parameter, {', '.join(self._given)}, nor one of labels, {known}"
        raise KeyError(f"{told}: {near}" if near else told)


@functools.cache
def tell_jax() -> None:
    """Registration with JAX, which takes such numbers for the tree that a dict is: of classes of dict it asks to be told."""
    import jax

    def parts(numbers: ByLabel) -> tuple[list[Any], tuple[str, ...]]:
        names = tuple(sorted(numbers))
        return [numbers[n] for n in names], names

    def whole(names: tuple[str, ...], values: Sequence[Any]) -> ByLabel:
        return ByLabel(dict(zip(names, values, strict=True)), (), (), names)

    with contextlib.suppress(ValueError):  # another thread has told it meanwhile
        jax.tree_util.register_pytree_node(ByLabel, parts, whole)
