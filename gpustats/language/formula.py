"""Formulas in comments on densities and covariance functions, in an expression notation of which `ast` makes a tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass

#: The keys under which a comment gives a formula.
FORMULA_KEYS = ("density", "mass", "covariance")
CONSTANTS = frozenset({"pi", "inf", "euler_gamma"})
#: Function -> the numbers of arguments that it may have. CONTRIBUTING.md says what each is.
FUNCTIONS = {
    **dict.fromkeys("exp log sqrt abs floor sin cos tan sinh cosh tanh asinh atan Phi phi factorial det inv".split(), (1,)),
    **dict.fromkeys("min max binomial B I K".split(), (2,)), "erf": (1,), "erfc": (1,), "Gamma": (1, 2), "zeta": (1, 2),
    "hyp2f1": (4,),
}  # fmt: skip
#: Functions of an expression and the name of a variable in it; and of its first and its last value, unless it numbers the
#: components of vectors.
BINDING_FUNCTIONS = {"Sum": (2, 4), "Product": (2, 4), "Integral": (4,), "Root": (4,)}

_DEFINITION = re.compile(r"([A-Za-z]\w*)(?:\[([A-Za-z]\w*)\])? = ")
_BETWEEN = re.compile(r"\s{2,}(?=[A-Za-z]\w*(?:\[[A-Za-z]\w*\])? = )")
_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.USub, ast.And, ast.Or,
    ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Load,
)  # fmt: skip
_PARTS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp)


class FormulaError(ValueError):
    """Formula that breaks the notation, and the line of its text where it does, counted from 1."""

    def __init__(self, message: str, line: int):
        super().__init__(message)
        self.message, self.line = message, line


@dataclass(frozen=True)
class Definition:
    """Name in a formula and the expression behind it; for each value of `index`, where that is not empty."""

    name: str
    index: str
    value: ast.expr


@dataclass(frozen=True)
class Formula:
    """Tree of the value of a density, and definitions of names in it, each of which may use those before it."""

    value: ast.expr
    definitions: tuple[Definition, ...] = ()


def goes_on(text: str, line: str) -> bool:
    """True if the next line of a comment continues the formula so far."""
    return text.count("(") + text.count("[") > text.count(")") + text.count("]") or _DEFINITION.match(line) is not None


def in_lines(text: str) -> list[str]:
    """Lines of a formula, from a line of a comment: each definition begins one."""
    return _BETWEEN.split(text)


def parse(text: str, arguments: Collection[str]) -> Formula:
    """Tree of a formula.

    Parameters
    ----------
    text : str
        An expression, and definitions of names in it, ``z = (x - mu) / sigma``, from a new line each. A line goes on in the
        next one while brackets are open.
    arguments : collection of str
        The names of the arguments, and `dim` where there are vectors.

    Raises
    ------
    FormulaError
        Where it has an error of syntax, or a name that means nothing.

    Examples
    --------
    >>> parse("exp(-z**2 / 2) / sqrt(2 * pi)\\nz = x - mu", ["x", "mu"]).definitions[0].name
    'z'
    """
    known = {*arguments, *CONSTANTS}
    value, definitions = None, []
    for line, part in _parts(text):
        found = _DEFINITION.match(part)
        if value is None:  # checked behind its definitions
            value, start = _tree(part, line), line
            continue
        if found is None:
            raise FormulaError("behind its first expression, a formula has definitions such as `z = (x - mu) / sigma`", line)
        name, index = found[1], found[2] or ""
        if name in known:
            raise FormulaError(f"the formula defines {name}, which has a meaning already", line)
        tree = _tree(part[found.end() :], line)
        _check(tree, known | ({name, index} if index else set()), line)
        known.add(name)
        definitions.append(Definition(name, index, tree))
    if value is None:
        raise FormulaError("the formula is empty", 1)
    _check(value, known, start)
    return Formula(value, tuple(definitions))


def _parts(text: str) -> list[tuple[int, str]]:
    """Expression and definitions of a formula, and the line in which each begins."""
    parts: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if parts and not _DEFINITION.match(line) and goes_on(parts[-1][1], line):
            parts[-1] = parts[-1][0], f"{parts[-1][1]}\n{line}"
        elif line.strip():
            parts.append((number, line))
    return parts


def _tree(text: str, line: int) -> ast.expr:
    try:
        return ast.parse(text.strip().replace("\n", "\\\n"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = line + min((getattr(error, "lineno", 1) or 1) - 1, text.count("\n"))
        raise FormulaError(f"this is no formula: {getattr(error, 'msg', None) or error}", where) from None


def _check(node: ast.expr, known: Collection[str], line: int) -> None:
    """Refuse syntax outside the notation, and names without a meaning."""
    here = line + node.lineno - 1
    if isinstance(node, ast.Name):
        if node.id not in known:
            message = f"'{node.id}' in the formula is neither an argument nor defined there"
            raise FormulaError(f"{message}; it knows {', '.join(sorted(known))}", here)
        return
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, complex):
        return
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and not isinstance(node.slice, ast.Slice):
        inner = [node.value, node.slice]
    elif isinstance(node, ast.Call):
        inner = _arguments(node, here)
        if node.func.id in BINDING_FUNCTIONS:  # type: ignore[attr-defined]
            _check(inner[0], {*known, inner[1].id}, line)  # type: ignore[attr-defined]
            inner = inner[2:]
    elif isinstance(node, _PARTS):
        inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if wrong := [c for c in ast.iter_child_nodes(node) if not isinstance(c, (ast.expr, *_OPERATORS))]:
            raise FormulaError(f"a formula has no operator {type(wrong[0]).__name__}", here)
    else:
        raise FormulaError(f"a formula has no {ast.unparse(node)!r}", here)
    for child in inner:
        _check(child, known, line)


def _arguments(call: ast.Call, line: int) -> list[ast.expr]:
    """Arguments of a call of a known function."""
    name = call.func.id if isinstance(call.func, ast.Name) else ast.unparse(call.func)
    allowed = FUNCTIONS.get(name) or BINDING_FUNCTIONS.get(name)
    if allowed is None:
        known = ", ".join(sorted([*FUNCTIONS, *BINDING_FUNCTIONS]))
        raise FormulaError(f"a formula has no function {name}; it has {known}", line)
    if len(call.args) not in allowed or call.keywords:
        raise FormulaError(f"{name} takes {' or '.join(map(str, allowed))} arguments, not {len(call.args)}", line)
    if name in BINDING_FUNCTIONS and not isinstance(call.args[1], ast.Name):
        raise FormulaError(f"the second argument of {name} is the name of its variable, not {ast.unparse(call.args[1])}", line)
    return call.args
