"""Which functions of a kernel are too large to be written out wherever they are called.

Compilers are told to inline all functions, since Intel's vectorises no calls. But helpers that each call the last one twice
would double with each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..language import nodes as lang
from ..language.nodes import Node

#: Nodes of a function that is inlined, with all that is inlined in it. Second derivatives of built-in densities have 6,000.
LARGEST = 8_000


def inlined_sizes(functions: Iterable[tuple[str, Sequence[Node]]]) -> dict[str, int]:
    """Nodes of each function, with all that is inlined in it.

    Parameters
    ----------
    functions : iterable of (str, sequence of Node)
        Names and bodies, callees first.
    """
    sizes: dict[str, int] = {}
    for name, body in functions:
        nodes = [n for s in body for n in lang.walk(s)]
        called = (sizes.get(n.function, 0) for n in nodes if isinstance(n, lang.Call))
        sizes[name] = len(nodes) + sum(size for size in called if size <= LARGEST)
    return sizes


def large_functions(functions: Iterable[tuple[str, Sequence[Node]]]) -> set[str]:
    """Names of the functions that are not to be inlined, of these (names and bodies, callees first)."""
    return {name for name, size in inlined_sizes(functions).items() if size > LARGEST}
