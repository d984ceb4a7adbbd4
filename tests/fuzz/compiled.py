"""The same C, compiled by gcc: a second reference, which tells whether the interpreter itself is right."""

from __future__ import annotations

import ctypes
import functools
import math
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .interpreter import CONSTANTS, Point
from .numbers import GCC_LACKS
from .tree import VECTOR, Call, Program, text_of, walk

_SHIMS = """\
#include <limits.h>
#include <math.h>
#include <stdlib.h>
typedef double real;
#define __device__ static
static int gcc_index(int i, int dim) { return i > dim - 1 ? dim - 1 : i < 0 ? 0 : i; }
static int gcc_int(double x) { return x != x ? 0 : x >= INT_MAX ? INT_MAX : x <= INT_MIN ? INT_MIN : (int)x; }
static int gcc_quotient(int a, int b) { return b == 0 ? 0 : (int)((long long)a / b); }
static int gcc_rest(int a, int b) { return b == 0 ? a : (int)((long long)a % b); }
""" + "".join(f"#define {name} {value!r}\n" for name, value in CONSTANTS.items() if math.isfinite(value))


@functools.cache
def available() -> bool:
    return shutil.which("gcc") is not None


def compiled(program: Program) -> Callable[[Point, int], float] | None:
    """The density as a function of a point inside its domains and of `dim`; None where gcc does not know what it calls."""
    if not available() or any(isinstance(n, Call) and n.function in GCC_LACKS for n in walk(program)):
        return None
    f = program.density
    text = _SHIMS + text_of(program, spelled_out=True)
    start = text.rindex(f"__device__ real {f.name}(")
    text = text[:start] + text[start:].replace("__device__ ", "", 1)
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "program.c"), Path(folder, "program.so")
        source.write_text(text)
        command = ["gcc", "-w", "-O0", "-ffp-contract=off", "-fwrapv", "-shared", "-fPIC", "-o", library, source, "-lm"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        loaded = ctypes.CDLL(str(library))
    function = loaded[f.name]
    function.restype = ctypes.c_double

    def evaluate(point: Point, dim: int) -> float:
        given = [point[p.name] for p in f.parameters]
        arguments = [
            np.array(v, float).ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            if p.type == VECTOR
            else ctypes.c_double(v)
            for p, v in zip(f.parameters, given)
        ]
        return function(*arguments, *[ctypes.c_int(dim)] * f.of_vectors)

    return evaluate
