"""From the text of device functions to their syntax, as pycparser has it."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from pycparser import c_ast, c_parser

from ..errors import DeviceFunctionError

Syntax = Any  #: a node of pycparser's tree, none of which says what it consists of
STEPS = ("++", "--", "p++", "p--")


def fail(source: str, node: Syntax, message: str) -> NoReturn:
    """Refuse `source` for what is wrong at `node`."""
    coord = getattr(node, "coord", node)
    raise DeviceFunctionError(
        message, line=getattr(coord, "line", None), column=getattr(coord, "column", None), source=source
    )


#: A comment of C, of either kind.
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def syntax_tree(source: str) -> list[Syntax]:
    """pycparser's nodes of the top level; comments and `__device__` become blanks, so that positions stay."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())  # noqa: E731
    text = re.sub(r"\b__device__\b|\binline\b|\bstatic\b", blank, COMMENT.sub(blank, source))
    if directive := re.search(r"^[ \t]*#.*$", text, re.M):
        line = text.count("\n", 0, directive.start()) + 1
        raise DeviceFunctionError("preprocessor directives are not supported", line=line, column=1, source=source)
    parser = c_parser.CParser()
    prefix = 'typedef double real; typedef int rng_t;\n#line 1 "snippet"\n'
    try:
        tree = parser.parse(prefix + text)
    except c_parser.ParseError as error:
        line, column, message = _parse_error_position(parser, str(error), source)
        raise DeviceFunctionError(message, line=line, column=column, source=source) from None
    functions: list[Syntax] = tree.ext[2:]  # behind the types of the prefix
    if not functions:
        raise DeviceFunctionError("there is no function in it", line=1, column=1, source=source)
    return functions


def _parse_error_position(parser: Any, text: str, source: str) -> tuple[int, int, str]:
    match = re.match(r"snippet:(\d+):(\d+): (.*)", text)
    if match:
        message = match[3].removeprefix("before: ")
        message = f"syntax error before '{message}'" if match[3].startswith("before: ") else match[3]
        return int(match[1]), int(match[2]), message
    message = text.split(":", 1)[-1].strip()
    tokens = getattr(getattr(parser, "_tokens", None), "_buffer", [])  # pycparser 3 names no place for some errors
    token = next((t for t in reversed(tokens) if t is not None), None)
    if token is None:
        return source.count("\n") + 1, 1, f"syntax error: {message}"
    near = "" if tokens[-1] is None else f" before '{token.value}'"
    return token.lineno, token.column, f"syntax error{near}: {message[:1].lower()}{message[1:]}"


def called(node: Syntax) -> set[str]:
    """Names of the functions that a piece of a function calls."""
    waiting, found = [node], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
            found.add(node.name.name)
        waiting += [child for _, child in node.children()]
    return found


def assigned(node: Syntax) -> set[str]:
    """Names of the variables that a piece of a function assigns to."""
    found = set().union(*(assigned(child) for _, child in node.children()))
    target = node.lvalue if isinstance(node, c_ast.Assignment) else node.expr if isinstance(node, c_ast.UnaryOp) else None
    changes = not isinstance(node, c_ast.UnaryOp) or node.op in STEPS
    return found | {target.name} if changes and isinstance(target, c_ast.ID) else found
