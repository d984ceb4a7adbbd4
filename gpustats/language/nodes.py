"""The small language that device functions are written in: expressions, statements, functions, and how they print as C.

Every transformation of a device function (domain checks, separation of parameter-only work, transforms) works on these
immutable nodes, never on text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace

REAL, INT, VECTOR = "real", "int", "vector"  # VECTOR: `const real *`, indexed by 0 .. dim-1
RNG, OUTPUT, VOID = "rng", "output", "void"  # of samplers: `rng_t *`, `real *` for the vector that one draws, its result

# Math functions of C99 that CUDA and OpenCL both have: name -> (types of the arguments, type of the result).
MATH: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(
        "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor lgamma log log10 log1p "
        "log2 rint round sin sinh sqrt tan tanh tgamma trunc".split(),
        ((REAL,), REAL),
    ),
    **dict.fromkeys(
        "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder".split(), ((REAL, REAL), REAL)
    ),
    **dict.fromkeys("isfinite isinf isnan".split(), ((REAL,), INT)),
    "fma": ((REAL, REAL, REAL), REAL),
    "ldexp": ((REAL, INT), REAL),
    "abs": ((INT,), INT),
}

# What samplers draw, each with `rng_t *` as its only argument: name -> its name in a kernel.
DRAWS = {"uniform": "rng_uniform", "normal": "rng_normal", "exponential": "rng_exponential"}

#: What a sampler says of a condition that rarely holds: a kernel may put off the draws for which it does.
UNLIKELY = "unlikely"

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
    """Anything in the source, with the place in the user's text that it comes from."""

    line: int = field(default=0, compare=False, kw_only=True)
    column: int = field(default=0, compare=False, kw_only=True)


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
    """A value that was computed ahead of time: a member of the struct `owner`."""

    owner: str
    name: str
    type: str


@dataclass(frozen=True)
class Member(Node):
    """One of the results of a function that has several."""

    value: Expression
    name: str
    type: str = REAL


Expression = Number | Name | Call | Unary | Binary | Conditional | Cast | Index | Field | Member


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
    """`array[subscript] = value`."""

    array: Name
    subscript: Expression
    value: Expression


@dataclass(frozen=True)
class Perform(Node):
    """A call of a function that returns nothing."""

    call: Expression


@dataclass(frozen=True)
class If(Node):
    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True)
class For(Node):
    start: Declare | Assign | None
    condition: Expression
    step: Assign | None
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Return(Node):
    value: Expression


Statement = Declare | Assign | Store | Perform | If | For | Return


@dataclass(frozen=True)
class Parameter(Node):
    name: str
    type: str


@dataclass(frozen=True)
class Function(Node):
    """A device function: `type name(parameters) { body }`.

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


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below `node`."""
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (v for v in value if isinstance(v, Node))


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, outermost first."""
    yield node
    for child in children(node):
        yield from walk(child)


def rebuild(node, change: Callable):
    """A copy of `node` with each direct child `c` replaced by `change(c)`."""
    new = {}
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(value, Node):
            new[f.name] = change(value)
        elif isinstance(value, tuple) and any(isinstance(v, Node) for v in value):
            new[f.name] = tuple(change(v) if isinstance(v, Node) else v for v in value)
    return replace(node, **new) if new else node


def called(node: Node) -> list[str]:
    """Names of the functions called in `node`, in order of first appearance, without repeats."""
    return list(dict.fromkeys(n.function for n in walk(node) if isinstance(n, Call)))


def draws(node: Node) -> list[Call]:
    """The calls in `node` that take numbers from a stream."""
    return [n for n in walk(node) if isinstance(n, Call) and any(a.type == RNG for a in n.arguments)]


# ---- printing

_PRECEDENCE = {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
_UNARY = 7


@dataclass(frozen=True)
class Printer:
    """Prints nodes as C in which `real` is `dtype`; the same text serves CUDA and OpenCL.

    Parameters
    ----------
    dtype : {"float64", "float32"}
        Decides the suffix of floating literals.
    space : dict
        Address space (a macro of the preludes) of each vector argument, by name.
    """

    dtype: str = "float64"
    space: dict[str, str] = field(default_factory=dict)

    def expression(self, e: Expression, outer: int = 0) -> str:
        """`e` as C, in parentheses where it binds less tightly than `outer`."""
        match e:
            case Number():
                return e.text + ("f" if e.type == REAL and self.dtype == "float32" else "")
            case Name():
                return e.name
            case Field():
                return f"{e.owner}.{e.name}"
            case Member():
                return f"{self.expression(e.value)}.{e.name}"
            case Index():
                return f"{e.array.name}[{self.expression(e.subscript)}]"
            case Call(function=function) if function == UNLIKELY:
                return self.expression(e.arguments[0], outer)
            case Call():
                return f"{e.function}({', '.join(self.argument(e, i) for i in range(len(e.arguments)))})"
            case Cast():
                text, level = f"({e.type}){self.expression(e.operand, _UNARY)}", _UNARY
            case Unary():
                operand = self.expression(e.operand, _UNARY)
                text, level = e.operator + (f"({operand})" if operand[0] == e.operator else operand), _UNARY
            case Binary():
                level = _PRECEDENCE[e.operator]
                left, right = self.expression(e.left, level), self.expression(e.right, level + 1)
                text = f"{left} {e.operator} {right}"
            case Conditional():
                parts = (self.expression(e.condition, 1), self.expression(e.then, 1), self.expression(e.otherwise))
                text, level = "{} ? {} : {}".format(*parts), 0
        return f"({text})" if level < outer or (level == 0 and outer > 0) else text

    def argument(self, call: Call, i: int) -> str:
        """Argument `i`, cast where overloaded math functions would be ambiguous."""
        e = call.arguments[i]
        text = self.expression(e)
        # INFINITY and NAN are floats in OpenCL, whatever `real` is.
        unsure = e.type == INT or any(isinstance(n, Name) and n.name in ("INFINITY", "NAN") for n in walk(e))
        if call.function in MATH and MATH[call.function][0][i] == REAL and unsure:
            return f"(real)({text})"
        return text

    def statement(self, s: Statement, indent: str = "    ") -> str:
        match s:
            case Declare():
                value = "" if s.value is None else f" = {self.expression(s.value)}"
                return f"{indent}{s.type} {s.name}{value};\n"
            case Assign():
                return f"{indent}{self.assignment(s)};\n"
            case Return():
                return f"{indent}return {self.expression(s.value)};\n"
            case Store():
                return f"{indent}{s.array.name}[{self.expression(s.subscript)}] = {self.expression(s.value)};\n"
            case Perform():
                return f"{indent}{self.expression(s.call)};\n"
            case If():
                text = f"{indent}if ({self.expression(s.condition)}) {self.block(s.then, indent)}"
                if s.otherwise:
                    text = text.rstrip("\n") + f" else {self.block(s.otherwise, indent)}"
                return text
            case For():
                start = self.statement(s.start, "").strip().rstrip(";") if s.start else ""
                step = self.assignment(s.step) if s.step else ""
                head, body = f"{indent}for ({start}; {self.expression(s.condition)}; {step}) ", self.block(s.body, indent)
                if streams := {a.name for call in draws(s) for a in call.arguments if isinstance(a, Name) and a.type == RNG}:
                    # Every turn begins with fresh words: so the compiler knows how many there are, and tests nothing.
                    drop = "".join(f"{name}->left = 0;\n" for name in sorted(streams))
                    return f"{head}{{\n{indent}    {drop}{body[2:]}{indent}{drop}"
                return head + body
        raise AssertionError(s)

    def assignment(self, s: Assign) -> str:
        value = s.value
        if isinstance(value, Binary) and value.operator in "+-*/" and value.left == Name(s.name, s.type):
            if value.right == Number("1", INT) and value.operator in "+-":
                return s.name + value.operator * 2
            return f"{s.name} {value.operator}= {self.expression(value.right)}"
        return f"{s.name} = {self.expression(value)}"

    def block(self, statements: tuple[Statement, ...], indent: str) -> str:
        return "{\n" + "".join(self.statement(s, indent + "    ") for s in statements) + indent + "}\n"

    def parameter(self, p: Parameter) -> str:
        if p.type == VECTOR:
            return f"{self.space.get(p.name, 'GLOBAL')} const real *{p.name}"
        if p.type == OUTPUT:
            return f"GLOBAL real *{p.name}"
        if p.type == RNG:
            return f"rng_t *{p.name}"
        return f"{p.type} {p.name}"

    def results(self, f: Function) -> str:
        """The struct in which `f` returns several results."""
        members = "".join(f"    real {name};\n" for name in f.results)
        parameters = ", ".join(f"real {name}" for name in f.results)
        body = "".join(f"    results.{name} = {name};\n" for name in f.results)
        return (
            f"typedef struct {{\n{members}}} {f.type};\n\n"
            f"DEVICE {f.type} {f.maker}({parameters})\n{{\n    {f.type} results;\n{body}    return results;\n}}\n\n"
        )

    def function(self, f: Function) -> str:
        head = f"DEVICE {f.type} {f.name}({', '.join(map(self.parameter, f.parameters))})\n"
        return head + self.block(f.body, "")
