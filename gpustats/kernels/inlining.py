"""Inlining: functions of a kernel that are too large to be written out wherever they are called.

Compilers are told to inline all functions, since Intel's vectorises no calls. But helpers that each call the last one twice
would double with each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..language import nodes as lang
from ..language.nodes import Node
from ..language.printer import Printer, endless_functions

#: Nodes of a function that is inlined, with all that is inlined in it. Second derivatives of built-in densities have 6,000.
LARGEST_INLINED = 8_000


def inlined_sizes(functions: Iterable[tuple[str, Sequence[Node]]]) -> dict[str, int]:
    """Nodes of each function, with all that is inlined in it; of names and bodies, callees first."""
    sizes: dict[str, int] = {}
    for name, body in functions:
        nodes = [n for s in body for n in lang.walk(s)]
        called = (sizes.get(n.function, 0) for n in nodes if isinstance(n, lang.Call))
        sizes[name] = len(nodes) + sum(size for size in called if size <= LARGEST_INLINED)
    return sizes


def printer(
    functions: Iterable[tuple[str, Sequence[Node]]], dtype: str = "float64", space: Mapping[str, str] | None = None,
    stride: int = 1,
) -> Printer:  # fmt: skip
    """Printer of a kernel's functions (names and bodies, callees first), which knows the functions that are not inlined.

    `space` has the address space of vector arguments, by name, where it is not that of global memory, `stride` the distance of
    their elements.
    """
    functions = list(functions)
    large = frozenset(name for name, size in inlined_sizes(functions).items() if size > LARGEST_INLINED)
    return Printer(dtype, dict(space or {}), large, endless_functions(functions), stride)
