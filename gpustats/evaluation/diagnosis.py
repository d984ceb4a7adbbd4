"""Messages of a compiler about a kernel, told of the lines that the user wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ..errors import CompileError, CompilerCrash, DeviceFunctionError
from ..kernels.code import callees_first
from ..kernels.sines import kept_apart
from ..kernels.template import prelude
from ..language.nodes import Function
from ..language.printer import Printer
from ..runtime.base import Runtime


def explained(
    error: CompileError, runtime: Runtime, name: str, source: str, functions: Mapping[str, Function],
    resolve: Callable[[str], Function | None],
) -> Exception:  # fmt: skip
    """Compiler's error about the user's own lines, where it also rejects these as they stand; else the error itself.

    `error` is that of the generated kernel, `name` the density's, `source` the text that the user wrote; `functions` are all
    that it calls, by their names, and `resolve` finds one.
    """
    if isinstance(error, CompilerCrash):
        return CompilerCrash(error.log, source)
    called = [f for f in callees_first(list(functions.values()), resolve) if not f.name.startswith(f"{name}_")]
    called = [f for f in called if not f.results]
    printer = Printer("float64")
    functions_called = kept_apart([*called, *functions.values()]) + "\n".join(map(printer.function, called))
    text = prelude("float64", runtime.dialect, functions_called) + functions_called
    text += "".join(f"#define {f.name.removeprefix('special_')} {f.name}\n" for f in called)
    written = re.sub(r"\b__device__\b", "DEVICE", without_samplers(source))
    text += f'#line 1 "snippet"\n{written}\nKERNEL(1) nothing(int n) {{}}\n'
    try:
        runtime.kernel(text, "nothing", 1)
    except CompileError as own:
        place = re.search(r"snippet[:(](\d+)(?:[:,](\d+))?[^\n]*error: *([^\n]*)", own.log)
        if place:
            line, column = int(place[1]), int(place[2]) if place[2] else None
            return DeviceFunctionError(f"{runtime.device.id}'s compiler: {place[3]}", line, column, source)
    return error


def without_samplers(source: str) -> str:
    """Source in which the functions of a stream of random numbers are empty lines: no kernel of a density has them."""
    while begin := re.search(r"\b(?:__device__\s+)?\w+\s+\w+\s*\(\s*rng_t\b[^{;]*\{", source):
        depth, end = 1, begin.end()
        while depth and end < len(source):
            depth += {"{": 1, "}": -1}.get(source[end], 0)
            end += 1
        source = source[: begin.start()] + "\n" * source.count("\n", begin.start(), end) + source[end:]
    return source
