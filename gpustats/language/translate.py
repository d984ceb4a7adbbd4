"""Translation of the syntax of device functions into nodes: names and types are checked on the way."""

from __future__ import annotations

import itertools
from typing import NoReturn

from pycparser import c_ast

from . import nodes as lang
from .assignment import with_values
from .bounds import LARGEST_INT, length, nan_unless, within_bounds
from .depth import flat
from .kinds import endings
from .literals import CONSTANTS, OPERATIONS, SMALLEST_INT, advice, cut_off, literal
from .names import means_something, numbered_name
from .nodes import INT, OUTPUT, REAL, RNG, VECTOR, VOID, Expression, Function, Resolve, Statement
from .syntax import POWER_ADVICE, STEP_OPERATORS, Syntax, assigned, called, fail, mentioned, spelled, type_of


class Translator:
    """Translator of one function, which checks names and types."""

    def __init__(self, source: str, name: str, resolve: Resolve):
        self.source, self.name, self.resolve = source, name, resolve
        self.functions = [name]  # those that it calls, and itself, as they are called in kernels
        self.scopes: list[dict[str, tuple[str, str]]] = []  # user's name -> (printed name, type)
        self.used: set[str] = set()
        self.written: dict[str, str] = {}  # printed name -> user's name
        self.whole: dict[str, bool] = {}  # whole numbers that users pass, and whether they are never assigned to
        self.fixed: set[str] = set()  # variables that are never assigned to, as printed
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
        if means_something(name) or name in lang.MATH or any(name == f or name.startswith(f + "_") for f in self.functions):
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

    # -- declarations

    def function(self, node: Syntax) -> Function:
        declaration = node.decl
        self.helper = _is_helper(declaration.name)
        result = declaration.type.type
        nothing = getattr(getattr(result, "type", None), "names", None) == ["void"]
        self.result = VOID if nothing else type_of(self.source, result, declaration)
        if self.result not in (REAL, INT, VOID):
            self.fail(declaration, "a device function returns a `real` or an `int`")
        self.scopes, self.whole = [{}], {}
        self.functions += [f.name for name in called(node.body) if (f := self.resolve(name)) is not None]
        self.used.update(self.functions)
        parameters = []
        for p in declaration.type.args.params if declaration.type.args else ():
            if not isinstance(p, c_ast.Decl):
                if isinstance(p, c_ast.Typename) and getattr(p.type.type, "names", None) == ["void"]:
                    continue
                self.fail(p, "every argument needs a name")
            kind = type_of(self.source, p.type, p)
            if (p.name == "dim") != (kind == INT) and p.name == "dim":
                self.fail(p, "dim, the length of the vectors, must be an `int`")
            if kind == INT and p.name != "dim" and not self.helper:
                self.whole[p.name], kind = "const" in p.quals, REAL
            parameters.append(lang.Parameter(self.declare(p, p.name, kind), kind, written=p.name, **self.at(p)))
            if kind in (REAL, INT) and "const" in p.quals and p.name not in self.whole:
                self.fixed.add(parameters[-1].name)
        types = [p.type for p in parameters]
        if (VECTOR in types or OUTPUT in types) and not any(p.name == "dim" for p in parameters):
            self.fail(declaration, "a function of vectors needs their length as its last argument, `int dim`")
        if OUTPUT in types and RNG not in types:
            written = declaration.type.args.params[types.index(OUTPUT)]
            self.fail(written, f"{written.name} is not to be written: declare it `const real *{written.name}`")
        if (self.result == VOID) != (OUTPUT in types) or types.count(OUTPUT) > 1:
            self.fail(declaration, "a function writes one vector, `real *`, and then returns `void`; or it writes none")
        body = (*self.copies(node.body), *self.block(node.body))
        if self.result != VOID and not _returns(body):
            self.fail(declaration, f"{declaration.name} can reach its end without a `return`")
        body = flat(with_values(body, self.refuse_unset), self.used, self.fail)
        body = within_bounds(body, self.helper)
        return Function(self.name, tuple(parameters), body, self.result, (), **self.at(declaration))

    def copies(self, body: Syntax) -> list[Statement]:
        """Variables in place of parameters: where the function assigns to them, for they never change, and for whole numbers.

        Users pass these as they pass all others, and their domains are looked at before they become `int`.
        """
        parameters, changed = self.scopes[-1], assigned(body)
        self.scopes.append({})
        found: list[Statement] = []
        for name, (printed, kind) in parameters.items():
            if name in self.whole:
                value = lang.Cast(INT, lang.Name(printed, REAL, **self.at(body)), **self.at(body))
                own = self.declare(body, name, INT)
                found.append(lang.Declare(INT, own, value, **self.at(body)))
                self.fixed |= {own} if self.whole[name] else set()
            elif name in changed and kind in (REAL, INT) and printed not in self.fixed:
                argument = lang.Name(printed, kind, **self.at(body))
                found.append(lang.Declare(kind, self.declare(body, name, kind), argument, **self.at(body)))
        return found

    # -- statements

    def block(self, node: Syntax) -> tuple[Statement, ...]:
        items = (node.block_items or []) if isinstance(node, c_ast.Compound) else [node]
        self.scopes.append({})
        statements: list[Statement] = []
        for item in items:  # no generator: a chain of else if may be deep
            statements += [] if item is None else self.statement(item)
        self.scopes.pop()
        return tuple(statements)

    def statement(self, node: Syntax) -> list[Statement]:
        at = self.at(node)
        match node:
            case c_ast.Decl():
                kind = type_of(self.source, node.type, node)
                if kind not in (REAL, INT):
                    self.fail(node, "arrays and pointers of your own are not supported")
                if node.storage:
                    self.fail(node, f"{node.name} cannot be `{node.storage[0]}`: a function keeps nothing from call to call")
                outer = node.name not in self.scopes[-1] and any(node.name in scope for scope in self.scopes)
                if outer and node.init is not None and (own := mentioned(node.init, node.name)):
                    self.fail(own, f"{node.name} is here, in C, the new variable without a value, not the outer {node.name}: "
                                   "give the new one another name")  # fmt: skip
                value = None if node.init is None else self.convert(node, self.value(node.init), kind)
                made = lang.Declare(kind, self.declare(node, node.name, kind), value, **at)
                if "const" in node.quals:
                    self.fixed.add(made.name)
                return [made]
            case c_ast.DeclList():
                return [s for d in node.decls for s in self.statement(d)]
            case c_ast.Assignment(lvalue=c_ast.ArrayRef()):
                return [self.store(node)]
            case c_ast.Assignment() | c_ast.UnaryOp():
                return [self.assignment(node)]
            case c_ast.FuncCall():
                call = self.call(node)
                if call.type != VOID:
                    self.fail(node, "a call without use of its result has no effect here")
                return [lang.Perform(call, **at)]
            case c_ast.If():
                otherwise = self.block(node.iffalse) if node.iffalse is not None else ()
                return [lang.If(self.value(node.cond), self.block(node.iftrue), otherwise, **at)]
            case c_ast.While():
                return [lang.For(None, self.value(node.cond), None, self.block(node.stmt), **at)]
            case c_ast.For():
                self.scopes.append({})
                if isinstance(node.init, c_ast.DeclList) and len(node.init.decls) > 1:
                    self.fail(node, "declare one loop variable")
                start = self.statement(node.init)[0] if node.init is not None else None
                if node.cond is None:
                    self.fail(node, "a loop needs a condition")
                step = self.assignment(node.next) if node.next is not None else None
                loop = lang.For(start, self.value(node.cond), step, self.block(node.stmt), **at)  # type: ignore[arg-type]
                self.scopes.pop()
                return [loop]
            case c_ast.Return():
                if self.result == VOID:
                    self.fail(node, "a function that writes a vector has no `return`")
                if node.expr is None:
                    self.fail(node, "return needs a value")
                return [lang.Return(self.convert(node, self.value(node.expr), self.result), **at)]
            case c_ast.Compound():
                return list(self.block(node))
            case c_ast.EmptyStatement():
                return []
        self.fail(node, f"{spelled(node)} is not supported: a device function is made of declarations, assignments, "
                        "if, for, while and return")  # fmt: skip

    def assignment(self, node: Syntax) -> lang.Assign:
        if isinstance(node, c_ast.UnaryOp) and node.op in STEP_OPERATORS:
            target, operator = node.expr, node.op[-1]
            value: Expression = lang.Number("1", INT)
        elif isinstance(node, c_ast.Assignment):
            target, operator = node.lvalue, node.op[:-1]
            value = self.value(node.rvalue)
        else:
            self.fail(node, "an expression alone has no effect here")
        if not isinstance(target, c_ast.ID):
            self.fail(node, "only variables of your own can be assigned to")
        variable = self.look_up(target)
        if not isinstance(variable, lang.Name) or variable.name in (*lang.CONSTANTS, *lang.SPECIAL_CONSTANTS):
            self.fail(node, f"{target.name} is a constant and cannot be assigned to")
        if variable.type not in (REAL, INT):
            self.fail(node, f"{target.name} is a pointer and cannot be assigned to")
        if variable.name in self.fixed:
            self.fail(node, f"{target.name} is `const` and cannot be assigned to")
        if operator:
            value = self.binary(node, operator, variable, value)
        return lang.Assign(variable.name, variable.type, self.convert(node, value, variable.type), **self.at(node))

    def store(self, node: Syntax) -> lang.Store:
        element = self.expression(node.lvalue)
        assert isinstance(element, lang.Index)
        if element.array.type != OUTPUT:
            self.fail(node, f"{node.lvalue.name.name} is not to be written: it is a `const real *`")
        value: Expression = self.value(node.rvalue)
        if operator := node.op[:-1]:
            value = self.binary(node, operator, element, value)
        return lang.Store(element.array, element.subscript, self.convert(node, value, REAL), **self.at(node))

    def convert(self, node: Syntax, value: Expression, kind: str) -> Expression:
        if value.type not in (REAL, INT):
            self.fail(node, f"a {_KINDS[value.type]} stands where a number is needed")
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
                    self.fail(node, f"operator {node.op} is not supported inside an expression{hint}")
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
                array = self.expression(node.name)
                if not isinstance(array, lang.Name) or array.type not in (VECTOR, OUTPUT):
                    self.fail(node, "only a vector can be indexed")
                subscript = self.number(node.subscript)
                if subscript.type != INT:
                    self.fail(node, "an index must be an `int`: write `(int)`")
                if (place := self.written_out(subscript)) is not None and place < 0:
                    self.fail(node, f"there is no element {place}: the first is 0")
                return lang.Index(array, subscript, REAL, **at)
        self.fail(node, f"{spelled(node)} is not supported in an expression")

    def value(self, node: Syntax) -> Expression:
        """Whole expression of a statement."""
        value = self.expression(node)
        if len(lang.draws(value)) > 1:
            self.fail(node, "several draws in one expression: C does not say which comes first, so give each a statement")
        return value

    def number(self, node: Syntax) -> Expression:
        value = self.expression(node)
        if value.type not in (REAL, INT):
            self.fail(node, f"a {_KINDS[value.type]} stands where a number is needed")
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

    def call(self, node: Syntax) -> Expression:
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
            hints = {"max": "fmax", "min": "fmin", "pi": "PI", "gamma": "tgamma", "ln": "log", "sqr": "x * x"}
            hint = f": did you mean {hints[name]}?" if name in hints else ": it is neither a math function of C99, nor one"
            self.fail(node, f"unknown function {name}{hint}" + ("" if name in hints else
                      " of the special functions, nor defined above"))  # fmt: skip
        if len(arguments) != len(wanted):
            self.fail(node, f"{name} takes {len(wanted)} argument{'s' * (len(wanted) != 1)}, not {len(arguments)}")
        for a, kind in zip(arguments, wanted, strict=True):
            pointer = kind not in (REAL, INT)
            same = a.type == kind or (a.type, kind) == (OUTPUT, VECTOR) if pointer else a.type in (REAL, INT)
            if not same or (pointer and not isinstance(a, lang.Name)):
                self.fail(node, f"{name} wants a {_KINDS[kind]} here")
            self.convert(node, a, kind) if not pointer else None
        if name == "abs" and known is None and arguments[0].type == REAL:
            self.fail(node, "abs is for `int`: use fabs")
        if known is None or {VECTOR, OUTPUT}.isdisjoint(wanted):
            return lang.Call(printed, arguments, result, **self.at(node))
        place = [p.name for p in known.parameters].index("dim")
        bounded = length(arguments[place], 0 if _is_helper(known.name) else 1, self.helper)
        given = (*arguments[:place], bounded, *arguments[place + 1 :])
        return nan_unless(arguments[place], bounded, lang.Call(printed, given, result, **self.at(node)))


def _is_helper(function: str) -> bool:
    """True if a function is none that users call, whose vectors have an element at least."""
    return function.rpartition("_")[2] not in endings()


_KINDS = {REAL: "number", INT: "number", VECTOR: "vector", OUTPUT: "vector to write to, `real *`,",
          RNG: "stream, `rng_t *`,", VOID: "call of a function without a result"}  # fmt: skip


def _returns(statements: tuple[Statement, ...]) -> bool:
    """True if every way through `statements` ends in a return."""
    for s in statements:
        if isinstance(s, lang.Return):
            return True
        if isinstance(s, lang.If) and s.otherwise and _returns(s.then) and _returns(s.otherwise):
            return True
    return False
