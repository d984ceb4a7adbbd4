"""Nodes of the small language that device functions are written in: expressions, statements and functions.

Every transformation of a device function (domain checks, separation of parameter-only work, transforms) works on these
immutable nodes, never on text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import is_not
from typing import Any, TypeVar, get_args

T = TypeVar("T")

REAL, INT, VECTOR = "real", "int", "vector"  # VECTOR: `const real *`, indexed by 0 .. dim-1
RNG, OUTPUT, VOID = "rng", "output", "void"  # of samplers: `rng_t *`, `real *` for the vector that one draws, its result

# Math functions of C99 that CUDA and OpenCL both have: name -> (types of the arguments, type of the result).
# And "stop_gradient", the number itself, which differentiation takes for a constant; and "quotient", which is a / b where b and
# 1 / b are normal numbers: some devices divide faster then.
MATH: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(
        "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor lgamma log log10 log1p "
        "log2 rint round sin sinh sqrt tan tanh tgamma trunc".split(),
        ((REAL,), REAL),
    ),
    **dict.fromkeys(
        "atan2 copysign fdim fmax fmin fmod hypot nextafter pow quotient remainder".split(), ((REAL, REAL), REAL)
    ),
    **dict.fromkeys("isfinite isinf isnan".split(), ((REAL,), INT)),
    "stop_gradient": ((REAL,), REAL),
    "fma": ((REAL, REAL, REAL), REAL),
    "ldexp": ((REAL, INT), REAL),
    "abs": ((INT,), INT),
}

# What samplers draw, each with `rng_t *` as its only argument: name -> its name in a kernel.
DRAWS = {"uniform": "rng_uniform", "normal": "rng_normal", "exponential": "rng_exponential"}

#: What a function says of a condition that nearly always or rarely holds: kernels may go through the other cases apart.
LIKELY, UNLIKELY = "likely", "unlikely"

# Named constants; the preludes define them in the type of `real`.
CONSTANTS = {
    "PI": "3.14159265358979323846",
    "LOG_2PI": "1.83787706640934548356",
    "HALF_LOG_2PI": "0.91893853320467274178",
    "LOG_2": "0.69314718055994530942",
    "LOG_PI": "1.14472988584940017414",
    "SQRT_2": "1.41421356237309504880",
    "SQRT_PI": "1.77245385090551602730",
    "SQRT_2_OVER_PI": "0.79788456080286535588",
    "EULER_GAMMA": "0.57721566490153286061",
}
SPECIAL_CONSTANTS = ("EPSILON", "INFINITY", "NAN")


@dataclass(frozen=True)
class Node:
    """Node of the syntax tree, with its place in the user's text."""

    line: int = field(default=0, compare=False, kw_only=True)
    column: int = field(default=0, compare=False, kw_only=True)

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling, without `kept` values such as the hash, which another process would compute otherwise."""
        return dict(fields_of(self))


@dataclass(frozen=True)
class Number(Node):
    text: str  # "0.5", "3": no suffix
    type: str


@dataclass(frozen=True)
class Name(Node):
    name: str
    type: str


@dataclass(frozen=True)
class Call(Node):
    function: str
    arguments: tuple[Expression, ...]
    type: str = REAL


@dataclass(frozen=True)
class Unary(Node):
    operator: str  # - + !
    operand: Expression
    type: str


@dataclass(frozen=True)
class Binary(Node):
    operator: str
    left: Expression
    right: Expression
    type: str


@dataclass(frozen=True)
class Conditional(Node):
    condition: Expression
    then: Expression
    otherwise: Expression
    type: str


@dataclass(frozen=True)
class Cast(Node):
    type: str
    operand: Expression


@dataclass(frozen=True)
class Index(Node):
    array: Name
    subscript: Expression
    type: str = REAL


@dataclass(frozen=True)
class Field(Node):
    """Value that was computed ahead of time: a member of the struct `owner`."""

    owner: str
    name: str
    type: str


@dataclass(frozen=True)
class Member(Node):
    """Result, by name, of a function that has several."""

    value: Expression
    name: str
    type: str = REAL


Expression = Number | Name | Call | Unary | Binary | Conditional | Cast | Index | Field | Member
_EXPRESSIONS, _LEAVES = frozenset(get_args(Expression)), frozenset([Number, Name, Field])


def kept(name: str) -> Callable[[Callable[[Any], T]], Callable[[Any], T]]:
    """Decorator by which a function of a node computes its value once, as nodes do not change. The attribute is `name`."""

    def decorate(compute: Callable[[Any], T]) -> Callable[[Any], T]:
        @functools.wraps(compute)
        def value_of(node: Node) -> T:
            try:
                known: T = node.__dict__[name]
            except KeyError:
                object.__setattr__(node, name, known := compute(node))
            return known

        return value_of

    return decorate


for _kind in _EXPRESSIONS:
    _kind.__hash__ = kept("_hash")(_kind.__hash__)  # it needs those of all parts


@dataclass(frozen=True)
class Declare(Node):
    type: str
    name: str
    value: Expression | None


@dataclass(frozen=True)
class Assign(Node):
    name: str
    type: str
    value: Expression


@dataclass(frozen=True)
class Store(Node):
    """Statement `array[subscript] = value`."""

    array: Name
    subscript: Expression
    value: Expression


@dataclass(frozen=True)
class Perform(Node):
    """Call of a function that returns nothing."""

    call: Expression


@dataclass(frozen=True)
class If(Node):
    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    shipped: bool = field(default=True, compare=False, kw_only=True)  # as in `For`; those of derivatives are not


@dataclass(frozen=True)
class For(Node):
    start: Declare | Assign | None
    condition: Expression
    step: Assign | None
    body: tuple[Statement, ...]
    shipped: bool = field(default=False, compare=False, kw_only=True)  # whether it is gpustats' own, and tested as it is


@dataclass(frozen=True)
class Return(Node):
    value: Expression


Statement = Declare | Assign | Store | Perform | If | For | Return


@dataclass(frozen=True)
class Parameter(Node):
    name: str
    type: str
    written: str = field(default="", compare=False, kw_only=True)  # as its author calls it, where that is known
    whole: bool = field(default=False, compare=False, kw_only=True)  # whether it is `const int *`: a vector of whole numbers


@dataclass(frozen=True)
class Function(Node):
    """Device function: `type name(parameters) { body }`.

    A function with several `results` returns them as the struct `type`, made by the function `make_<type>`.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    type: str = REAL
    results: tuple[str, ...] = ()

    @property
    def has_dim(self) -> bool:
        return any(p.name == "dim" for p in self.parameters)

    @property
    def maker(self) -> str:
        return f"make_{self.type}"


#: Finds a function by its name.
Resolve = Callable[[str], Function | None]

# ---- walking

N = TypeVar("N", bound=Node)


@functools.cache
def _fields(kind: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the fields of a kind of nodes, and of those that may hold nodes."""
    every = fields(kind)
    return tuple(f.name for f in every), tuple(f.name for f in every if f.type not in _PLAIN)


_PLAIN = ("str", "int", "bool", "tuple[str, ...]")  # types of fields that hold no nodes, as they are written


def fields_of(node: Node) -> list[tuple[str, Any]]:
    """Fields of `node`, by name."""
    kind: Any = type(node)
    return [(name, node.__dict__[name]) for name in _fields(kind)[0]]


@kept("_children")
def children(node: Node) -> tuple[Node, ...]:
    """Nodes directly below `node`."""
    found: list[Node] = []
    kind: Any = type(node)
    for name in _fields(kind)[1]:
        value = node.__dict__[name]
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            found += [v for v in value if isinstance(v, Node)]
    return tuple(found)


def parts(e: Expression) -> Sequence[Expression]:
    """Expressions directly below the expression `e`: all its children."""
    return children(e)  # type: ignore[return-value]


def walk(node: Node) -> Iterator[Node]:
    """Nodes of a tree: `node` and everything below it, outermost first."""
    left = [node]
    while left:
        yield (node := left.pop())
        if type(node) not in _LEAVES:
            left += children(node)[::-1]


def statements(node: Node) -> Iterator[Node]:
    """Nodes of a tree but for its expressions, outermost first: what a function executes is a small part of all that it has."""
    left = [node]
    while left:
        if type(node := left.pop()) not in _EXPRESSIONS:
            yield node
            left += children(node)[::-1]


def written(*nodes: Node) -> list[Declare | Assign]:
    """Statements in `nodes` that declare a variable or assign to one, in the order of the text."""
    return [s for node in nodes for s in statements(node) if isinstance(s, (Declare, Assign))]


@kept("_names")
def names_in(node: Node) -> frozenset[str]:
    """Names that are read in `node`."""
    if type(node) in _EXPRESSIONS:
        return frozenset(n.name for n in walk(node) if isinstance(n, Name))
    return frozenset().union(*map(names_in, children(node)))


def rebuild(node: N, change: Callable[[Any], Node]) -> N:
    """Copy of `node` with each direct child `c` replaced by `change(c)`; `node` itself if all children remain."""
    new: dict[str, Any] = {}
    kind: Any = type(node)
    for name in _fields(kind)[1]:
        value = node.__dict__[name]
        if isinstance(value, Node):
            if (changed := change(value)) is not value:
                new[name] = changed
        elif isinstance(value, tuple):
            several = tuple([change(v) if isinstance(v, Node) else v for v in value])
            if any(map(is_not, several, value)):
                new[name] = several
    return replace(node, **new) if new else node


@kept("_called")
def called(node: Node) -> tuple[str, ...]:
    """Names of the functions called in `node`, in order of first appearance, without repeats."""
    found: dict[str, None] = {}
    left, seen = [node], set[int]()
    while left:
        one = left.pop()
        if id(one) not in seen:  # derivatives have the same parts in many places
            seen.add(id(one))
            if (known := one.__dict__.get("_called")) is not None:
                found |= dict.fromkeys(known)
            elif type(one) not in _LEAVES:
                if isinstance(one, Call):
                    found.setdefault(one.function)
                left += children(one)[::-1]
    return tuple(found)


@kept("_draws")
def draws(node: Node) -> tuple[Call, ...]:
    """Calls in `node` that take numbers from a stream."""
    return tuple(n for n in walk(node) if isinstance(n, Call) and any(a.type == RNG for a in n.arguments))
