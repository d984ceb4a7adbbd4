"""Syntax of device functions, as pycparser has it, from their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

from pycparser import c_ast, c_parser

from ..errors import DeviceFunctionError
from ..names.functions import FORMS_OF_C, WORDS_OF_C
from .nodes import INT, OUTPUT, REAL, RNG, VECTOR

Syntax = Any  #: a node of pycparser's tree, none of which says what it consists of
STEP_OPERATORS = ("++", "--", "p++", "p--")
POWER_ADVICE = "for a power write pow(a, b), for a square a * a"
#: Types of other languages, of which the parser takes the name for that of a variable.
_NO_TYPES = ("bool", "boolean", "auto", "var", "let", "vector", "scalar", "number")


def fail(source: str, node: Syntax, message: str) -> NoReturn:
    """Refuse `source` with a message about `node`."""
    coord = getattr(node, "coord", node)
    raise DeviceFunctionError(
        message, line=getattr(coord, "line", None), column=getattr(coord, "column", None), source=source
    )


#: A comment of C, of either kind.
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def syntax_tree(source: str) -> list[Syntax]:
    """Nodes of the top level, as pycparser has them; comments and `__device__` become blanks, so that positions stay."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())  # noqa: E731
    text = re.sub(r"\b(__device__|__host__|__forceinline__|__inline__)\b", blank, COMMENT.sub(blank, source))
    if (opening := text.find("/*")) >= 0:
        line, column = text.count("\n", 0, opening) + 1, opening - text.rfind("\n", 0, opening)
        raise DeviceFunctionError("this comment is never closed: write */ at its end", line, column, source)
    if directive := re.search(r"^[ \t]*#.*$", text, re.M):
        line = text.count("\n", 0, directive.start()) + 1
        raise DeviceFunctionError("preprocessor directives are not supported", line=line, column=1, source=source)
    functions, error = _parsed(text)
    if error is not None:
        line, column, message = _likely_mistake(text, *error) or error
        raise DeviceFunctionError(message, line=line, column=column, source=source)
    if not functions:
        raise DeviceFunctionError("there is no function in it", line=1, column=1, source=source)
    return functions


_Error = tuple[int, int, str]  # the line, the column, the message


def _parsed(text: str) -> tuple[list[Syntax], _Error | None]:
    """Nodes of the top level, or the parser's error."""
    parser = c_parser.CParser()
    prefix = 'typedef double real; typedef int rng_t;\n#line 1 "snippet"\n'
    try:
        return parser.parse(prefix + text).ext[2:], None  # behind the types of the prefix
    except c_parser.ParseError as error:
        return [], _parse_error_position(parser, str(error), text)


def _likely_mistake(text: str, line: int, column: int, message: str) -> _Error | None:
    """Likely mistake where the parser stops, if it is known: a semicolon that is missing, a power."""
    lines = text.split("\n")
    stop = sum(len(above) + 1 for above in lines[: line - 1]) + column - 1
    if re.search(r"\*\s*$", text[:stop]) and text.startswith("*=", stop):
        return line, column, f"{message.split(':')[0]}: {POWER_ADVICE}"
    if told := _of_another_language(text[:stop], text[stop:]):
        return line, column, f"{message.split(': ')[0]}: {told}"
    before = text[:stop].rstrip()
    if text[stop : stop + 1] == "}" or "\n" in text[len(before) : stop]:
        _, error = _parsed(f"{before};{text[len(before) :]}")
        if error is None or error[:2] > (line, column):  # the parser understands more
            at = before.count("\n") + 1, len(before) - before.rfind("\n")
            return *at, f"{message.split(':')[0]}: is a ; missing here?"
    return None


def _of_another_language(before: str, behind: str) -> str:
    """Advice where the parser stops at, or behind, what other languages write; "" where it is nothing of that."""
    stopped = re.match(r"\w*", behind)
    word, last = stopped[0] if stopped else "", re.search(r"(\w*)\s*$", before)
    previous = last[1] if last else ""
    if behind.startswith("::"):
        return "functions have their names alone, without a namespace"
    if previous in ("if", "while") and word:
        return f"conditions stand in brackets, {previous} (…)"
    if previous == "for" and word:
        return "write for (int i = 0; i < n; i++)"
    if previous in _NO_TYPES and word:
        return "a declaration begins with `real` or `int`"
    if re.search(r"\belif\s*\([^;{}]*\)\s*$", before):
        return "write else if for elif"
    if behind.startswith(f"{word}(") and word in FORMS_OF_C:
        return f"write {FORMS_OF_C[word]}"
    if previous in ("not", "elif"):
        word = previous
    elif word == "if" and re.search(r"(^|[;{}\n])\s*$", before):  # a statement
        return ""
    return f"write {WORDS_OF_C[word]} for {word}" if word in WORDS_OF_C else ""


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


def plain_text(source: str) -> str:
    """Text with line feeds at the ends of its lines, whatever the editor wrote there, and without a byte-order mark."""
    return source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def deepest(source: str) -> tuple[int, int]:
    """Line and column of the most deeply nested bracket."""
    level = most = 0
    place = 1, 1
    text = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), source)
    for i, line in enumerate(text.split("\n"), 1):
        for k, character in enumerate(line, 1):
            level += (character in "({") - (character in ")}")
            if level > most:
                most, place = level, (i, k)
    return place


def called(node: Syntax) -> set[str]:
    """Names of the functions that a piece of a function calls."""
    return {part.name.name for part in _walk(node) if isinstance(part, c_ast.FuncCall) and isinstance(part.name, c_ast.ID)}


def assigned(node: Syntax) -> set[str]:
    """Names of the variables that a piece of a function assigns to."""
    found = set()
    for part in _walk(node):
        target = part.lvalue if isinstance(part, c_ast.Assignment) else part.expr if isinstance(part, c_ast.UnaryOp) else None
        if isinstance(target, c_ast.ID) and (not isinstance(part, c_ast.UnaryOp) or part.op in STEP_OPERATORS):
            found.add(target.name)
    return found


def mentioned(node: Syntax, variable: str) -> Syntax | None:
    """First mention of a variable in a piece of a function, None where there is none."""
    functions = [part.name for part in _walk(node) if isinstance(part, c_ast.FuncCall)]
    names = [part for part in _walk(node) if isinstance(part, c_ast.ID) and part.name == variable]
    places = [name for name in names if not any(name is function for function in functions)]
    return min(places, key=lambda place: (place.coord.line, place.coord.column), default=None)


def _walk(node: Syntax) -> Iterator[Syntax]:
    waiting = [node]
    while waiting:
        yield (node := waiting.pop())
        waiting += [child for _, child in node.children()]


def spelled(node: Syntax) -> str:
    """Name of a kind of node in messages."""
    names = {
        "DoWhile": "do … while", "Switch": "switch", "Goto": "goto", "Break": "break",
        "Continue": "continue", "FuncCall": "a call without use of its result", "StructRef": "a struct member",
        "ExprList": "the comma operator", "Assignment": "an assignment", "Pragma": "#pragma", "Label": "a label",
    }  # fmt: skip
    return names.get(type(node).__name__, type(node).__name__)


def type_of(source: str, node: Syntax, what: Syntax) -> str:
    """Type of a declarator: `real`, `int`, or a kind of pointer."""
    names = tuple(getattr(getattr(node, "type", None), "names", ()))
    if isinstance(node, c_ast.PtrDecl) or isinstance(node, c_ast.ArrayDecl):
        pointed = getattr(getattr(node.type, "type", None), "names", None)
        if pointed == ["rng_t"]:
            return RNG
        pointed_at, fixed = type_of(source, node.type, what), "const" in node.type.quals
        if pointed_at == REAL:
            return VECTOR if fixed else OUTPUT
        if pointed_at == INT and fixed:
            return WHOLE_VECTOR
        wanted = "`const real *`, for sequences `const int *`, and in samplers `real *` and `rng_t *`"
        fail(source, what, f"the only pointers are {wanted}")
    if names == ("rng_t",):
        fail(source, what, "a sampler takes its stream as `rng_t *`")
    aliases = {("real",): REAL, ("int",): INT, ("float",): None, ("double",): None}
    kind = aliases.get(names)
    if kind is None:
        hint = ": write `real`" if names in aliases else ": there are `real`, `int` and `const real *`"
        fail(source, what, f"type '{' '.join(names) or type(node).__name__}' is not supported{hint}")
    return kind


#: What `type_of` calls `const int *`: a vector whose elements are read as whole numbers.
WHOLE_VECTOR = "whole vector"


def length_of_vectors(declaration: Syntax) -> str:
    """Name of the first `int` behind a vector, which has the length where none is called dim; else nothing."""
    behind, found = False, ""
    for p in declaration.type.args.params if declaration.type.args else ():
        if getattr(p, "name", None) == "dim":
            return ""
        if isinstance(getattr(p, "type", None), c_ast.PtrDecl | c_ast.ArrayDecl):
            behind = True
        elif behind and not found and getattr(getattr(p.type, "type", None), "names", None) == ["int"]:
            found = p.name or ""
    return found
