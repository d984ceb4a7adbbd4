"""Shapes: patterns of data movement, each solved once for every device function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..runtime.base import Kernel
from .layout import Layout
from .template import Template


class Compiled(NamedTuple):
    """Kernel of a shape for one device function."""

    kernel: Kernel
    layout: Layout


@dataclass(frozen=True, eq=False)
class Shape:
    """Pattern in which a kernel goes through observations and sets of parameters, whatever the function of them.

    The module that launches a shape's kernels owns the shape. Densities of another kind, such as elliptical ones, may have a
    template and layouts of their own for it.
    """

    name: str  # name of the shape for users, and ending of its kernels' names
    template: Template  # declares what the kernel takes, ends with the function's own arguments, and goes through the data
    pattern: Callable[..., Any]  # of the names and batch shapes of a call's arguments, …: tells what its rows and sets are
    layout: Callable[..., Layout]  # of a device, …: chooses threads and tiles for it and a function
    #: whether its kernels add up over the rows: a block leaves sums that are still to be added to those of others
    sums: bool = False
    all_sets: bool = False  # whether a block goes through all sets of parameters
    #: results that its kernels may write for each row, and the templates whose C functions that takes
    outputs: dict[str, Sequence[Template]] = field(default_factory=dict)
    _kernels: WeakKeyDictionary[Any, dict[Hashable, Compiled]] = field(default_factory=WeakKeyDictionary, repr=False)

    def before(self, outputs: Sequence[str]) -> list[Template]:
        """Templates whose C functions a kernel calls that writes `outputs`."""
        return list(dict.fromkeys(t for o in outputs for t in self.outputs[o]))

    def compiled(self, function: Any, key: Hashable, make: Callable[[], Compiled]) -> Compiled:
        """Kernel for `function` and `key`, made when it is first asked for."""
        if (known := self._kernels.get(function)) is None:
            known = self._kernels.setdefault(function, {})
        if key not in known:
            known[key] = make()
        return known[key]
