"""Names in kernels: of users' functions, where others have taken theirs, and of gpustats' own, which hide nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from .nodes import Assign, Declare, Function, Resolve, called, walk

#: What functions of OpenCL, of CUDA and of the templates begin with: `get_global_id`, `make_int2`, `mixture_add`.
_BUILT_IN = re.compile(
    "(abs|add|as|async|atom|atomic|bitfield|cl|clock|convert|correlation|cuda|curvature|dot|enqueue|fast|find|get|half|highest|"
    "intel|is|load|log_of|mad|make|mem|mixture|mul|native|normal_of|normals|nothing|nv|own|pick|radius|read|retain|release|"
    "results|rhadd|hadd|rng|set|slope|special|start|sub|sum|tile|to|total|uniform_of|value|vec|vload|vstore|wait|weight|"
    "whole|words|work|write)_"
)


# Identifiers that are harmless in C but mean something to a CUDA or an OpenCL compiler, or in the kernels around a function.
_RESERVED = frozenset(
    "half kernel global local private constant generic event sampler image read_only write_only read_write uniform pipe "
    "bool true false new delete class template typename this operator public protected friend virtual namespace using "
    "try catch throw and or not xor bitand bitor and_eq or_eq xor_eq not_eq compl explicit export mutable asm vec_step "
    "alignas alignof concept requires constexpr const_cast static_cast dynamic_cast reinterpret_cast decltype noexcept "
    "nullptr static_assert thread_local typeid wchar_t char short long unsigned signed float double size_t index_t real "
    "int set row out draw once rng_t word_t words_t philox factors means GLOBAL SHARED DEVICE KERNEL RESTRICT UNROLL THREAD "
    "LARGE BLOCK_X BLOCK_Y BLOCKS_X BLOCKS_Y threadIdx get_local_id sin_apart cos_apart rows labels mixture to_int int_sum "
    "int_difference int_product int_quotient int_remainder int_abs "
    "min max ordinary_quotient branchless_exp branchless_log branchless_log1p log_of_sum unix linux i386 co_await co_return "
    "co_yield constinit consteval typeof "
    "typeof_unqual I".split()
)

# Macros, types and functions: CLK_LOCAL_MEM_FENCE, _Imaginary, image2d_t.
_MACRO_OR_TYPE = re.compile(r"[A-Z][A-Z0-9_]+|M_\w+|cuda\w+|(rng|special)_\w+|_.*|.*__.*|.*_t")


def means_something(name: str) -> bool:
    """True if a name that users may give a variable means something else in a kernel."""
    return name in _RESERVED or _MACRO_OR_TYPE.fullmatch(name) is not None


def printed_names(
    name: str, functions: Sequence[str], endings: Sequence[str], taken: Callable[[str], bool] | None
) -> dict[str, str]:
    """Names in kernels of the functions of a source, which share a prefix, given at "".

    The prefix is `name`, that of the distribution, unless a name is taken then. `functions` are called as the user calls them.
    No helper's name gets one of the `endings` of functions that others may call. `taken` says whether another function has a
    name in kernels.
    """
    first = name
    if taken is not None and (_BUILT_IN.match(name + "_") or name.startswith("_") or name.isupper()):
        first = f"own_{name}"  # macros and built-in functions of compilers
    for number in itertools.count(1):
        prefix, found = first if number == 1 else f"{first}_{number}", dict[str, str]()
        for function in sorted(functions, key=lambda f: not f.startswith(f"{name}_")):  # a helper gives way
            printed = f"{prefix}_{function.removeprefix(name + '_')}"
            used = {*found.values(), *(f"{prefix}_{ending}" for ending in endings if function != f"{name}_{ending}")}
            found.setdefault(function, fresh_name(printed, used))
        if taken is None or not any(map(taken, found.values())):
            break
    return {**found, "": prefix}


def fresh_name(name: str, used: Container[str]) -> str:
    """Unused name: `name`, with as many underscores behind it as it takes to differ from all in `used`."""
    while name in used:
        name += "_"
    return name


def numbered_name(name: str, used: Container[str], separator: str = "") -> str:
    """Unused name: `name`, or the first free one of ``name2``, ``name3``, …"""
    found, number = name, 2
    while found in used:
        found, number = f"{name}{separator}{number}", number + 1
    return found


class UnusedNames:
    """Unused names, each given once: see `numbered_name`.

    Parameters
    ----------
    used : set of str
        Names that are taken, to which those that are given are added.
    separator : str, optional
    """

    def __init__(self, used: set[str], separator: str = "_"):
        self.used, self._separator = used, separator

    @classmethod
    def within(cls, function: Function) -> UnusedNames:
        """Names that a function may take for further variables."""
        written = {n.name for n in walk(function) if isinstance(n, Declare | Assign)}
        return cls({p.name for p in function.parameters} | written | set(called(function)))

    def __call__(self, name: str) -> str:
        found = numbered_name(name, self.used, self._separator)
        self.used.add(found)
        return found


def unlike_others(made: Function, resolve: Resolve) -> Function:
    """Generated function, under a longer name where another function has its own."""
    while (known := resolve(made.name)) is not None and known != made:
        made = replace(made, name=f"{made.name}_")
    return made
