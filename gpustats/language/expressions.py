"""Translation of names and expressions of device functions into nodes, whose types are checked on the way."""

from __future__ import annotations

import itertools
from typing import NoReturn

from pycparser import c_ast

from ..names.functions import FORMS_OF_C, IN_C
from ..names.near import did_you_mean
from . import nodes as lang
from .bounds import LARGEST_INT, length, nan_unless
from .kinds import DISTRIBUTION_FUNCTIONS, is_helper
from .literals import CONSTANTS, OPERATIONS, SMALLEST_INT, advice, cut_off, literal
from .local_arrays import ARRAY, place_of_two
from .names import means_something, numbered_name
from .nodes import INT, OUTPUT, REAL, RNG, VECTOR, VOID, Expression, Resolve
from .special import shipped_functions
from .syntax import POWER_ADVICE, Syntax, fail, spelled, type_of

_NEAR = 0.75  # how near to a known function's an unknown name must be to be taken for it


class Expressions:
    """Translator of the expressions of one function, which knows its names."""

    def __init__(self, source: str, name: str, resolve: Resolve, in_kernels: Resolve, shipped: bool):
        self.source, self.name, self.shipped = source, name, shipped
        self.resolve, self.in_kernels = resolve, in_kernels  # functions by their names for users, and as printed
        self.helper = False  # whether it is none that users call
        self.writes = False  # whether it writes to arrays of the functions that call it, in which it is written out
        self.length = ""  # name that the length of the vectors has, where it is not dim
        self.functions = [name]  # those that it calls, and itself, as they are called in kernels
        self.scopes: list[dict[str, tuple[str, str]]] = []  # user's name -> (printed name, type)
        self.used: set[str] = set()
        self.written: dict[str, str] = {}  # printed name -> user's name
        self.whole: dict[str, bool] = {}  # whole numbers that users pass, and whether they are never assigned to
        self.whole_vectors: set[str] = set()  # vectors whose elements are whole numbers, as printed
        self.fixed: set[str] = set()  # variables that are never assigned to, as printed
        self.sizes: dict[str, tuple[int, ...]] = {}  # of arrays, as printed
        self.callees: dict[str, lang.Function] = {}  # functions of vectors that it calls, as printed
        self.made: list[lang.Function] = []  # functions of numbers that stand for such
        self.values: dict[int, tuple[Expression, int]] = {}  # whole numbers that consist of literals, by their nodes' ids

    def fail(self, node: Syntax, message: str) -> NoReturn:
        fail(self.source, node, message)

    def refuse_unset(self, variable: lang.Name) -> NoReturn:
        name = self.written[variable.name]
        self.fail(variable, f"{name} may have no value here: give it one where it is declared")

    @staticmethod
    def at(node: Syntax) -> dict[str, int]:
        return {"line": node.coord.line, "column": node.coord.column} if node.coord else {}

    # -- names

    def declare(self, node: Syntax, name: str, type: str) -> str:
        if name in self.scopes[-1]:
            self.fail(node, f"{name} is declared twice")
        if name in lang.CONSTANTS or name in lang.SPECIAL_CONSTANTS:
            self.fail(node, f"{name} is a constant of gpustats: choose another name")
        if name == self.length and len(self.scopes) == 1:
            printed = "dim"
        elif means_something(name) or name in lang.MATH or any(name == f or name.startswith(f + "_") for f in self.functions):
            printed = numbered_name(f"own{name}_" if name.startswith("_") else f"{name}_", self.used, "_")
        else:
            printed = numbered_name(name, self.used, "_")
        self.used.add(printed)
        self.written[printed] = name
        self.scopes[-1][name] = (printed, type)
        return printed

    def look_up(self, node: Syntax) -> Expression:
        if node.name in lang.CONSTANTS or node.name in lang.SPECIAL_CONSTANTS:
            return lang.Name(node.name, REAL, **self.at(node))
        for scope in reversed(self.scopes):
            if node.name in scope:
                name, kind = scope[node.name]
                return lang.Name(name, kind, **self.at(node))
        if node.name in CONSTANTS:
            return CONSTANTS[node.name]
        self.fail(node, f"{node.name} is not defined here{advice(node.name)}")

    def convert(self, node: Syntax, value: Expression, kind: str) -> Expression:
        if value.type not in (REAL, INT):
            self.fail(node, f"{_KINDS[value.type]} stands where a number is needed")
        if kind == INT and value.type == REAL:
            self.fail(node, "a `real` does not become an `int` by itself: write `(int)` to cut off its fraction")
        return value

    # -- expressions

    def expression(self, node: Syntax) -> Expression:
        at = self.at(node)
        match node:
            case c_ast.Constant():
                return self.constant(node)
            case c_ast.ID():
                return self.look_up(node)
            case c_ast.FuncCall():
                return self.call(node)
            case c_ast.UnaryOp():
                if node.op not in ("-", "+", "!"):
                    hint = f": {POWER_ADVICE}" * (node.op == "*")
                    self.fail(node, f"operator {node.op.lstrip('p')} is not supported inside an expression{hint}")
                if node.op == "-" and isinstance(node.expr, c_ast.Constant) and node.expr.value == str(LARGEST_INT + 1):
                    self.values[id(SMALLEST_INT)] = SMALLEST_INT, -LARGEST_INT - 1
                    return SMALLEST_INT
                operand = self.number(node.expr)
                if node.op == "+":
                    return operand
                made = lang.Unary(node.op, operand, INT if node.op == "!" else operand.type, **at)
                if node.op == "-" and (value := self.written_out(operand)) is not None:
                    self.keep(node, made, -value)
                return made
            case c_ast.BinaryOp():
                operations = [node]
                while isinstance(node.left, c_ast.BinaryOp):  # a long sum is deep on this side
                    operations.append(node := node.left)
                found = self.number(node.left)
                for operation in reversed(operations):
                    found = self.binary(operation, operation.op, found, self.number(operation.right))
                return found
            case c_ast.TernaryOp():
                condition, then, otherwise = [self.number(n) for n in (node.cond, node.iftrue, node.iffalse)]
                kind = REAL if REAL in (then.type, otherwise.type) else INT
                return lang.Conditional(condition, then, otherwise, kind, **at)
            case c_ast.Cast():
                return lang.Cast(type_of(self.source, node.to_type.type, node), self.number(node.expr), **at)
            case c_ast.ArrayRef():
                return self.element(node)
            case c_ast.StructRef():
                self.refuse_dotted(node)
        self.fail(node, f"{spelled(node)} is not supported in an expression")

    def element(self, node: Syntax) -> lang.Index | lang.Cast:
        """Element of a vector, or of an array of one axis or two."""
        subscripts = list[Expression]()
        inner = node
        while isinstance(inner, c_ast.ArrayRef):
            subscript = self.number(inner.subscript)
            if subscript.type != INT:
                self.fail(node, "an index must be an `int`: write `(int)`")
            if (place := self.written_out(subscript)) is not None and place < 0:
                self.fail(node, f"there is no element {place}: the first is 0")
            subscripts.insert(0, subscript)
            inner = inner.name
        array = self.expression(inner)
        if not isinstance(array, lang.Name) or array.type not in (VECTOR, OUTPUT, ARRAY):
            self.fail(node, "only a vector or an array can be indexed")
        sizes = self.sizes.get(array.name, (0,))
        if len(subscripts) != len(sizes):
            self.fail(node, f"{inner.name} takes {' and '.join(['one index'] * len(sizes))}, and has {len(subscripts)}")
        at, (*rows, column) = self.at(node), subscripts
        for size, subscript in zip(sizes, subscripts, strict=True):
            if size and (place := self.written_out(subscript)) is not None and place >= size:
                self.fail(node, f"there is no element {place} along an axis of {size}")
        if rows:  # one row after another; along each axis an index takes the nearest element
            column = place_of_two(rows[0], column, sizes)
        found = lang.Index(array, column, REAL, **at)
        return lang.Cast(INT, found, **at) if array.name in self.whole_vectors else found

    def value(self, node: Syntax) -> Expression:
        """Whole expression of a statement."""
        value = self.expression(node)
        if len(lang.draws(value)) > 1:
            self.fail(node, "several draws in one expression: C does not say which comes first, so give each a statement")
        return value

    def number(self, node: Syntax) -> Expression:
        value = self.expression(node)
        if value.type not in (REAL, INT):
            self.fail(node, f"{_KINDS[value.type]} stands where a number is needed")
        return value

    def constant(self, node: Syntax) -> Expression:
        made = literal(node.type, node.value)
        if isinstance(made, str):
            self.fail(node, made)
        return lang.Number(made.text, made.type, **self.at(node))

    def written_out(self, e: Expression) -> int | None:
        """Value of a whole number that consists of literals, None for a computed number."""
        return int(e.text) if isinstance(e, lang.Number) and e.type == INT else self.values.get(id(e), (e, None))[1]

    def choices(self, e: Expression) -> list[int]:
        """Whole numbers that an expression of literals may be: those of a conditional, else one, or none."""
        sides = (e.then, e.otherwise) if isinstance(e, lang.Conditional) else (e,)
        return [value for side in sides if (value := self.written_out(side)) is not None]

    def keep(self, node: Syntax, e: Expression, value: int) -> None:
        """Note the value of a written-out whole number, which must fit an `int`."""
        if not -LARGEST_INT - 1 <= value <= LARGEST_INT:
            self.fail(node, f"this comes to {value}, which does not fit an `int`: write one of the numbers with .0")
        self.values[id(e)] = e, value

    def binary(self, node: Syntax, operator: str, left: Expression, right: Expression) -> Expression:
        kind = REAL if REAL in (left.type, right.type) else INT
        if operator in ("==", "!=", "<", ">", "<=", ">=", "&&", "||"):
            kind = INT
        elif operator == "%":
            if kind == REAL:
                self.fail(node, "% works on `int`: use fmod")
        elif operator not in "+-*/":
            self.fail(node, f"operator {operator} is not supported" + f": {POWER_ADVICE}" * (operator == "^"))
        made = lang.Binary(operator, left, right, kind, **self.at(node))
        if operator == "/" and kind == INT:
            for a, b in itertools.product(self.choices(left), self.choices(right)):
                if b == 0 or a % b:
                    self.fail(node, cut_off(a, b))
        if kind == INT and operator in "+-*/":
            one, other = self.written_out(left), self.written_out(right)
            if one is not None and other is not None:
                self.keep(node, made, OPERATIONS[operator](one, other))
        return made

    def function_meant(self, name: str) -> str:
        """Advice about a function that is not known; "" where there is none."""
        if name in FORMS_OF_C:
            return f"write {FORMS_OF_C[name]}"
        if name in IN_C:
            return f"did you mean {IN_C[name]}?"
        return did_you_mean(name, (*lang.MATH, *shipped_functions()), 1, _NEAR, str)

    def refuse_dotted(self, node: Syntax, behind: str = "") -> NoReturn:
        """Refuse a name of a module or an object, such as np.log, which C does not have; `behind`: what would follow it."""
        name, part, written = node.field.name, node.name, node.field.name
        while isinstance(part, c_ast.StructRef):
            written, part = f"{part.field.name}.{written}", part.name
        if name in DISTRIBUTION_FUNCTIONS or name in ("logpdf", "logpmf", "pdf", "pmf"):
            told = ": a density is called as normal_logpdf(x, mu, sigma) is"
        elif here := "fabs" if name == "abs" else name if name in lang.MATH or self.resolve(name) else IN_C.get(name, ""):
            told = f": write {here}{behind if here.isidentifier() else ''}"
        else:
            told = f": write {FORMS_OF_C[name]}" if name in FORMS_OF_C else advice(name)
        self.fail(node, f"{getattr(part, 'name', '…')}.{written} is not C, which has no modules and no methods{told}")

    def call(self, node: Syntax) -> Expression:
        if isinstance(node.name, c_ast.StructRef):
            self.refuse_dotted(node.name, "(…)")
        if not isinstance(node.name, c_ast.ID):
            self.fail(node, "only functions can be called")
        name = node.name.name
        arguments = tuple([self.expression(a) for a in (node.args.exprs if node.args else ())])
        known = self.resolve(name)
        if known is not None:
            wanted, result, printed = tuple(p.type for p in known.parameters), known.type, known.name
        elif name in lang.MATH:
            (wanted, result), printed = lang.MATH[name], name
        elif name in (lang.LIKELY, lang.UNLIKELY):
            wanted, result, printed = (INT,), INT, name
        elif name in lang.DRAWS:
            wanted, result, printed = (RNG,), REAL, lang.DRAWS[name]
        else:
            neither = "it is neither a math function of C99, nor one of the special functions, nor defined above"
            self.fail(node, f"unknown function {name}: {self.function_meant(name) or neither}")
        if len(arguments) != len(wanted):
            self.fail(node, f"{name} takes {len(wanted)} argument{'s' * (len(wanted) != 1)}, not {len(arguments)}")
        if name == "abs" and known is None and arguments[0].type == REAL:
            self.fail(node, "abs is for `int`: use fabs")
        wholes = [p.whole for p in known.parameters] if known is not None else [False] * len(wanted)
        for a, kind, whole in zip(arguments, wanted, wholes, strict=True):
            if isinstance(a, lang.Name) and kind == VECTOR and whole != (a.name in self.whole_vectors):
                self.fail(node, f"{name} wants a `const {'int' if whole else 'real'} *` here")
            pointer = kind not in (REAL, INT)
            writes = result == VOID and RNG not in wanted
            same = a.type == kind or (a.type in (OUTPUT, ARRAY) and kind == VECTOR) or (a.type == ARRAY and writes)
            same = (same and a.type not in (REAL, INT)) if pointer else a.type in (REAL, INT)
            if not same or (pointer and not isinstance(a, lang.Name)):
                self.fail(node, f"{name} wants {_KINDS[kind]} here")
            self.convert(node, a, kind) if not pointer else None
        if known is None or {VECTOR, OUTPUT}.isdisjoint(wanted):
            return lang.Call(printed, arguments, result, **self.at(node))
        self.callees[known.name] = known
        if result == VOID and RNG not in wanted:
            return lang.Call(printed, arguments, result, **self.at(node))
        place = [p.name for p in known.parameters].index("dim")
        if self.writes or any(a.type == ARRAY for a in arguments):  # lengths are told where it is written out
            return lang.Call(printed, arguments, result, **self.at(node))
        bounded = length(arguments[place], 0 if is_helper(known.name) else 1, self.helper)
        given = (*arguments[:place], bounded, *arguments[place + 1 :])
        return nan_unless(arguments[place], bounded, lang.Call(printed, given, result, **self.at(node)))


_KINDS = {ARRAY: "an array", REAL: "a number", INT: "a number", VECTOR: "a vector", RNG: "a stream, `rng_t *`,",
          OUTPUT: "a vector to write to, `real *`,", VOID: "a call of a function without a result"}  # fmt: skip
