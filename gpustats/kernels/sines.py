"""Sines and cosines of sines and cosines, which a compiler must be kept from joining.

Intel's OpenCL compiler joins sin(t) and cos(t) into one call. Where t is itself a sine or cosine that was so joined, it goes
on with what it has just removed, and ends the process. An operation between the two, which it cannot remove, prevents that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ..language.nodes import OUTPUT, Assign, Call, Declare, Function, Name, Node, Return, Store, called, walk

SINES = {"sin", "cos"}
_ARGUMENT = "the argument of a sine"
# x + 0 * x is x to the bit where x is finite; sin and cos of all else are nan. No compiler may simplify it: x might be -0.
SEPARATE_SINES = """\
#ifdef __OPENCL_VERSION__
// Sines of sines are kept apart: Intel's compiler fails where it joins sin(t) and cos(t), and t is such a sine or cosine.
DEVICE real sin_apart(real x)
{
    return sin(x + 0 * x);
}

DEVICE real cos_apart(real x)
{
    return cos(x + 0 * x);
}
#undef sin
#undef cos
#define sin(x) sin_apart(x)
#define cos(x) cos_apart(x)
#endif

"""


def kept_apart(functions: Sequence[Function]) -> str:
    """Text, in C, to stand before the functions; empty where none takes a sine or cosine of a sine or cosine."""
    return SEPARATE_SINES if _are_nested(functions) else ""


def _are_nested(functions: Sequence[Function]) -> bool:
    """True if the argument of a sine or cosine may be one, through variables and calls, in whatever order they run."""
    if not any(SINES.intersection(called(f)) for f in functions):
        return False
    parameters = {f.name: [p.name for p in f.parameters] for f in functions}
    parameters |= dict.fromkeys(SINES, [_ARGUMENT])
    made_of: defaultdict[str, set[str]] = defaultdict(set)  # variable or function -> those whose values are made of its own
    for f in functions:
        for n in walk(f):
            match n:
                case Declare(name=name, value=Node() as value) | Assign(name=name, value=value):
                    _add(made_of, value, name)
                case Store():
                    _add(made_of, n.value, n.array.name)
                case Return():
                    _add(made_of, n.value, f.name)
                case Call() if n.function in parameters:
                    for argument, name in zip(n.arguments, parameters[n.function], strict=True):
                        _add(made_of, argument, name)
                        if isinstance(argument, Name) and argument.type == OUTPUT:  # which the function writes
                            made_of[name].add(argument.name)
    found, left = set[str](), list(SINES)
    while left:
        new = made_of[left.pop()] - found
        found |= new
        left += new
    return _ARGUMENT in found


def _add(made_of: defaultdict[str, set[str]], value: Node, name: str) -> None:
    for n in walk(value):
        if isinstance(n, (Call, Name)):
            made_of[n.function if isinstance(n, Call) else n.name].add(name)
