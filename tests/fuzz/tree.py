"""The programs: trees of C, made by `grammar`, run by `interpreter`. They print as C here, and are taken apart for `shrink`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

REAL, INT, VECTOR = "real", "int", "vector"


# ---- expressions; each has a `type`


@dataclass(frozen=True)
class Literal:
    text: str
    type: str


@dataclass(frozen=True)
class Variable:
    name: str
    type: str


@dataclass(frozen=True)
class Unary:
    operator: str  # "-" or "!"
    operand: Any
    type: str


@dataclass(frozen=True)
class Binary:
    operator: str
    left: Any
    right: Any
    type: str


@dataclass(frozen=True)
class Conditional:
    condition: Any
    then: Any
    otherwise: Any
    type: str


@dataclass(frozen=True)
class Cast:
    type: str
    operand: Any


@dataclass(frozen=True)
class Call:
    """Of a math function, or of one defined earlier in the program; a vector is handed on with its length, `dim`."""

    function: str
    arguments: tuple
    type: str


@dataclass(frozen=True)
class Element:
    vector: str
    index: Any
    type: str = REAL


Expression = Literal | Variable | Unary | Binary | Conditional | Cast | Call | Element


# ---- statements


@dataclass(frozen=True)
class Declare:
    type: str
    name: str
    value: Any = None


@dataclass(frozen=True)
class Assign:
    name: str
    type: str
    operator: str  # "" or one of + - * /
    value: Any


@dataclass(frozen=True)
class If:
    condition: Any
    then: tuple
    otherwise: tuple = ()


@dataclass(frozen=True)
class For:
    name: str
    start: Any
    condition: Any
    step: Any  # an Assign
    body: tuple


@dataclass(frozen=True)
class While:
    condition: Any
    body: tuple


@dataclass(frozen=True)
class Block:
    body: tuple


@dataclass(frozen=True)
class Return:
    value: Any


Statement = Declare | Assign | If | For | While | Block | Return


# ---- functions and programs


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str
    domain: str = ""


@dataclass(frozen=True)
class Function:
    name: str
    type: str
    parameters: tuple[Parameter, ...]  # without `dim`, which follows where there is a vector
    body: tuple

    @property
    def of_vectors(self) -> bool:
        return any(p.type == VECTOR for p in self.parameters)


@dataclass(frozen=True)
class Program:
    """A density: helpers, and the last function, whose first parameter is the observation."""

    name: str
    functions: tuple[Function, ...]

    @property
    def density(self) -> Function:
        return self.functions[-1]

    def __str__(self) -> str:
        return text_of(self)


# ---- taking apart

Path = tuple[Any, ...]


def sites(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every node and every tuple of nodes below `node`, the outer ones first, with the way to it."""
    yield path, node
    if isinstance(node, tuple):
        for i, child in enumerate(node):
            yield from sites(child, (*path, i))
    elif is_dataclass(node):
        for f in fields(node):
            child = getattr(node, f.name)
            if isinstance(child, tuple) or is_dataclass(child):
                yield from sites(child, (*path, f.name))


def walk(node: Any) -> Iterator[Any]:
    """All nodes of a tree."""
    return (n for _, n in sites(node) if not isinstance(n, tuple))


def changed(node: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """`node` with what lies at the end of `path` changed."""
    if not path:
        return change(node)
    first, *rest = path
    if isinstance(node, tuple):
        return (*node[:first], changed(node[first], tuple(rest), change), *node[first + 1 :])
    return replace(node, **{first: changed(getattr(node, first), tuple(rest), change)})


def size(node: Any) -> int:
    return sum(1 for _ in walk(node))


# ---- C

_LEVEL = {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}


@dataclass(frozen=True)
class Text:
    """Prints trees as C with no more parentheses than C needs.

    `spelled_out`: for other compilers, with functions for what C leaves open and gpustats does not: indices outside of their
    vectors, casts of what is no `int`, divisions of whole numbers by 0.
    """

    of_vectors: frozenset[str] = frozenset()  # functions that take `dim`
    spelled_out: bool = False

    def expression(self, e: Any, outer: int = 0) -> str:
        match e:
            case Literal():
                return e.text
            case Variable():
                return e.name
            case Element():
                index = self.expression(e.index)
                return f"{e.vector}[{f'gcc_index({index}, dim)' if self.spelled_out else index}]"
            case Call():
                given = [self.expression(a) for a in e.arguments] + ["dim"] * (e.function in self.of_vectors)
                return f"{e.function}({', '.join(given)})"
            case Cast(type="int") if self.spelled_out and e.operand.type == REAL:
                return f"gcc_int({self.expression(e.operand)})"
            case Binary(operator="/" | "%", type="int") if self.spelled_out:
                name = "quotient" if e.operator == "/" else "rest"
                return f"gcc_{name}({self.expression(e.left)}, {self.expression(e.right)})"
            case Cast():
                text, level = f"({e.type}){self.expression(e.operand, 7)}", 7
            case Unary():
                operand = self.expression(e.operand, 7)
                text, level = e.operator + (f"({operand})" if operand.startswith(e.operator) else operand), 7
            case Binary():
                level = _LEVEL[e.operator]
                text = f"{self.expression(e.left, level)} {e.operator} {self.expression(e.right, level + 1)}"
            case Conditional():
                parts = self.expression(e.condition, 1), self.expression(e.then), self.expression(e.otherwise)
                text, level = "{} ? {} : {}".format(*parts), 0
        return f"({text})" if level < outer else text

    def assignment(self, s: Assign) -> str:
        if s.type == INT and s.operator in ("+", "-") and s.operator and s.value == Literal("1", INT):
            return s.name + 2 * s.operator
        return f"{s.name} {s.operator}= {self.expression(s.value)}"

    def statement(self, s: Any, indent: str) -> str:
        match s:
            case Declare():
                return f"{indent}{s.type} {s.name}{'' if s.value is None else f' = {self.expression(s.value)}'};\n"
            case Assign():
                return f"{indent}{self.assignment(s)};\n"
            case Return():
                return f"{indent}return {self.expression(s.value)};\n"
            case If():
                otherwise = f"{indent}else {self.block(s.otherwise, indent)}" if s.otherwise else ""
                return f"{indent}if ({self.expression(s.condition)}) {self.block(s.then, indent)}{otherwise}"
            case For():
                head = f"int {s.name} = {self.expression(s.start)}; {self.expression(s.condition)}; {self.assignment(s.step)}"
                return f"{indent}for ({head}) {self.block(s.body, indent)}"
            case While():
                return f"{indent}while ({self.expression(s.condition)}) {self.block(s.body, indent)}"
            case Block():
                return indent + self.block(s.body, indent)
        raise AssertionError(s)

    def block(self, statements: tuple, indent: str) -> str:
        return "{\n" + "".join(self.statement(s, indent + "    ") for s in statements) + indent + "}\n"

    def function(self, f: Function) -> str:
        declared = [f"const real *{p.name}" if p.type == VECTOR else f"{p.type} {p.name}" for p in f.parameters]
        return f"__device__ {f.type} {f.name}({', '.join(declared + ['int dim'] * f.of_vectors)})\n{self.block(f.body, '')}"


def text_of(program: Program, spelled_out: bool = False) -> str:
    """A program as C, with the comment that gives its domains."""
    printer = Text(frozenset(f.name for f in program.functions if f.of_vectors), spelled_out)
    domains = "    ".join(f"{p.name}: {p.domain}" for p in program.density.parameters)
    return f"// {program.name}: random\n// {domains}\n" + "\n".join(map(printer.function, program.functions))
