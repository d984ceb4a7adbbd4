"""Signature of a kernel, read from its own source: nobody keeps it a second time."""

from __future__ import annotations

import re

import numpy as np

from ..errors import CompileError

#: Types of the numbers that a kernel takes by value, as CUDA C++ and OpenCL C write them, and their characters.
_NUMBERS = {"index_t": "q", "long": "q", "long long": "q", "int": "i", "double": "d", "float": "f"}
#: The characters of numbers, which are those of `struct`, and the types that hold them.
DTYPES: dict[str, type[np.generic]] = {"q": np.int64, "i": np.int32, "d": np.float64, "f": np.float32}
POINTER = "P"

_REAL = re.compile(r"\btypedef\s+(double|float)\s+real\s*;")


def signature_of(source: str, name: str) -> str:
    """Signature of a kernel: one character for each parameter.

    Parameters
    ----------
    source : str
        CUDA C++ or OpenCL C, before its macros are expanded.
    name : str
        The kernel's: it is declared by ``KERNEL(threads) name(…)``, also with ``CLUSTER_OF(blocks)`` before the name, or by
        ``void name(…)``.

    Returns
    -------
    str
        ``P`` for an array, ``q`` int64, ``i`` int32, ``d`` float64, ``f`` float32: what `struct.pack` takes.

    Raises
    ------
    CompileError
        Where there is no such kernel, or it takes something else.
    """
    declared = r"(?:\bKERNEL\([\w, ]+\)(?:\s+CLUSTER_OF\(\w+\))?|\bvoid)"
    found = re.search(rf"{declared}\s+{re.escape(name)}\s*\(([^()]*)\)\s*\{{", source)
    if found is None:
        raise CompileError(f"no kernel {name} in the source", source)
    characters = []
    for declaration in filter(None, map(str.strip, found[1].split(","))):
        type_of, _, parameter = declaration.removeprefix("const ").rpartition(" ")
        if "*" in declaration:
            characters.append(POINTER)
            continue
        if type_of == "real" and (real := _REAL.search(source)):
            type_of = real[1]
        if type_of not in _NUMBERS:
            raise CompileError(
                f"{name} takes {parameter} as {type_of or 'nothing'}: a kernel takes pointers and {', '.join(_NUMBERS)}", source
            )
        characters.append(_NUMBERS[type_of])
    return "".join(characters)
