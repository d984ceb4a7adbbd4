"""Translation of the syntax of device functions into nodes: declarations and statements."""

from __future__ import annotations

import math

from pycparser import c_ast

from . import nodes as lang
from .assignment import with_values
from .bounds import within_bounds
from .depth import flat
from .derivative import DERIVATIVE, Derivative
from .expressions import Expressions
from .kinds import is_helper
from .local_arrays import ARRAY, MOST_ELEMENTS, DeclareArray, callees_of, without_arrays
from .nodes import INT, OUTPUT, REAL, RNG, VECTOR, VOID, Expression, Function, Statement
from .syntax import (
    STEP_OPERATORS,
    WHOLE_VECTOR,
    Syntax,
    assigned,
    called,
    length_of_vectors,
    mentioned,
    spelled,
    type_of,
)


class Translator(Expressions):
    """Translator of one function, which checks names and types."""

    # -- declarations

    def function(self, node: Syntax) -> Function:
        declaration = node.decl
        self.helper = is_helper(declaration.name)
        result = declaration.type.type
        nothing = getattr(getattr(result, "type", None), "names", None) == ["void"]
        self.result = VOID if nothing else type_of(self.source, result, declaration)
        if self.result not in (REAL, INT, VOID):
            self.fail(declaration, "a device function returns a `real` or an `int`")
        self.scopes, self.whole = [{}], {}
        self.functions += [f.name for name in called(node.body) if (f := self.resolve(name)) is not None]
        self.used.update(self.functions)
        self.length = length_of_vectors(declaration) if self.helper else ""
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
            if whole := kind == WHOLE_VECTOR:
                kind = VECTOR
                if not self.helper:
                    self.fail(p, f"{p.name} must be `const real *`: `const int *` is for sequences")
            parameters.append(lang.Parameter(self.declare(p, p.name, kind), kind, written=p.name, whole=whole, **self.at(p)))
            if whole:
                self.whole_vectors.add(parameters[-1].name)
            if kind in (REAL, INT) and "const" in p.quals and p.name not in self.whole:
                self.fixed.add(parameters[-1].name)
        types = [p.type for p in parameters]
        self.writes = self.helper and self.result == VOID and OUTPUT in types and RNG not in types
        by_step = self.helper and self.result == REAL and VECTOR in types  # then it may have outputs
        if (VECTOR in types or OUTPUT in types) and not self.writes and not any(p.name == "dim" for p in parameters):
            self.fail(declaration, "a function of vectors needs their length, `int dim`"
                      + ", or another `int` behind them" * self.helper)
        if OUTPUT in types and RNG not in types and not self.writes and not by_step:
            written = declaration.type.args.params[types.index(OUTPUT)]
            self.fail(written, f"{written.name} is not to be written: declare it `const real *{written.name}`")
        if not by_step and ((self.result == VOID) != (OUTPUT in types) or (types.count(OUTPUT) > 1 and not self.writes)):
            self.fail(declaration, "a function writes one vector, `real *`, and then returns `void`; or it writes none")
        body = (*self.copies(node.body), *self.block(node.body))
        if self.result != VOID and not _returns(body):
            self.fail(declaration, f"{declaration.name} can reach its end without a `return`")
        if self.writes:
            return Function(self.name, tuple(parameters), body, VOID, (), **self.at(declaration))
        if self.sizes:
            callees = self.callees | {f.name: f for f in callees_of(self.callees.values(), self.in_kernels)}
            body, self.made, elements = without_arrays(body, self.used, callees, self.fail)
            self.written |= elements
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
                if isinstance(node.type, c_ast.ArrayDecl):
                    return [self.array(node)]  # type: ignore[list-item]  # it is replaced behind the last statement
                kind = type_of(self.source, node.type, node)
                if kind not in (REAL, INT):
                    self.fail(node, "pointers of your own are not supported: declare an array, `real a[4]`")
                if node.storage:
                    self.fail(node, f"{node.name} cannot be `{node.storage[0]}`: a function keeps nothing from call to call")
                self.refuse_outer(node)
                value = None if node.init is None else self.convert(node, self.value(node.init), kind)
                made = lang.Declare(kind, self.declare(node, node.name, kind), value, **at)
                if "const" in node.quals:
                    self.fixed.add(made.name)
                return [made]
            case c_ast.DeclList():
                return [s for d in node.decls for s in self.statement(d)]
            case c_ast.Assignment(lvalue=c_ast.ArrayRef()):
                return [self.store(node, node.lvalue, node.op[:-1], self.value(node.rvalue))]
            case c_ast.UnaryOp(expr=c_ast.ArrayRef()) if node.op in STEP_OPERATORS:
                return [self.store(node, node.expr, node.op[-1], lang.Number("1", INT))]
            case c_ast.Assignment() | c_ast.UnaryOp():
                return [self.assignment(node)]
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=[c_ast.FuncCall() as call, variable])) if (
                name == DERIVATIVE
            ):
                return [self.derivative(node, call, variable)]  # type: ignore[list-item]  # likewise
            case c_ast.FuncCall():
                call = self.call(node)
                if call.type != VOID:
                    self.fail(node, "a call without use of its result has no effect here")
                return [lang.Perform(call, **at)]
            case c_ast.If():
                otherwise = self.block(node.iffalse) if node.iffalse is not None else ()
                return [lang.If(self.value(node.cond), self.block(node.iftrue), otherwise, shipped=self.shipped, **at)]
            case c_ast.While():
                return [lang.For(None, self.value(node.cond), None, self.block(node.stmt), shipped=self.shipped, **at)]
            case c_ast.For():
                self.scopes.append({})
                if isinstance(node.init, c_ast.DeclList) and len(node.init.decls) > 1:
                    self.fail(node, "declare one loop variable")
                start = self.statement(node.init)[0] if node.init is not None else None
                if node.cond is None:
                    self.fail(node, "a loop needs a condition")
                step = self.assignment(node.next) if node.next is not None else None
                condition, body = self.value(node.cond), self.block(node.stmt)
                loop = lang.For(start, condition, step, body, shipped=self.shipped, **at)  # type: ignore[arg-type]
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

    def refuse_outer(self, node: Syntax) -> None:
        """Refuse a declaration whose values are made of an outer variable of the same name."""
        outer = node.name not in self.scopes[-1] and any(node.name in scope for scope in self.scopes)
        if outer and node.init is not None and (own := mentioned(node.init, node.name)):
            self.fail(own, f"{node.name} is here, in C, the new variable without a value, not the outer {node.name}: "
                           "give the new one another name")  # fmt: skip

    def array(self, node: Syntax) -> DeclareArray:
        """Declaration of an array."""
        sizes, inner = list[int](), node.type
        while isinstance(inner, c_ast.ArrayDecl):
            size = None if inner.dim is None else self.written_out(self.number(inner.dim))
            if size is None or size < 1:
                self.fail(node, f"the size of {node.name} must be written out, such as `real {node.name}[4]`")
            sizes.append(size)
            inner = inner.type
        if type_of(self.source, inner, node) != REAL or len(sizes) > 2:
            self.fail(node, f"{node.name} must be an array of `real` of one axis or two")
        count = math.prod(sizes)
        if count > MOST_ELEMENTS:
            self.fail(node, f"{node.name} has {count} elements: each is a variable, and {MOST_ELEMENTS} are the most")
        if "const" in node.quals or "const" in getattr(inner, "quals", ()):
            self.fail(node, f"{node.name} is `const`: leave that out of arrays")
        values: tuple[Expression, ...] | None = None
        if node.init is not None:
            if not isinstance(node.init, c_ast.InitList):
                self.fail(node, f"give {node.name} its values in braces")
            self.refuse_outer(node)
            rows = node.init.exprs if len(sizes) == 2 else [node.init]
            if any(not isinstance(row, c_ast.InitList) for row in rows) and len(sizes) == 2:
                rows = [node.init] if len(node.init.exprs) == 1 else self.fail(node, f"give each row of {node.name} braces")
            width = sizes[-1]
            if len(rows) > (sizes[0] if len(sizes) == 2 else 1) or any(len(row.exprs) > width for row in rows):
                self.fail(node, f"there are more values than {node.name} has elements")
            zero = lang.Number("0.0", REAL)
            given = [[self.convert(node, self.value(e), REAL) for e in row.exprs] for row in rows]
            given += [[]] * (count // width - len(given))
            values = tuple(v for row in given for v in (*row, *[zero] * (width - len(row))))
        name = self.declare(node, node.name, ARRAY)
        self.sizes[name] = tuple(sizes)
        return DeclareArray(name, tuple(sizes), values, **self.at(node))

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
        if variable.type == ARRAY:
            self.fail(node, f"{target.name} is an array: assign to its elements")
        if variable.type not in (REAL, INT):
            self.fail(node, f"{target.name} is a pointer and cannot be assigned to")
        if variable.name in self.fixed:
            self.fail(node, f"{target.name} is `const` and cannot be assigned to")
        if operator:
            value = self.binary(node, operator, variable, value)
        return lang.Assign(variable.name, variable.type, self.convert(node, value, variable.type), **self.at(node))

    def derivative(self, node: Syntax, call: Syntax, variable: Syntax) -> Derivative:
        made, wrt = self.call(call), self.expression(variable)
        if not isinstance(made, lang.Call) or made.type != VOID or RNG in (a.type for a in made.arguments):
            self.fail(call, f"{DERIVATIVE} is of a function that writes to an array, `real *`")
        if not isinstance(wrt, lang.Name) or wrt.type not in (REAL, VECTOR, OUTPUT, ARRAY):
            self.fail(variable, f"{DERIVATIVE} is with respect to a variable, a `real` or an array")
        return Derivative(made, wrt, **self.at(node))

    def store(self, node: Syntax, target: Syntax, operator: str, value: Expression) -> lang.Store:
        element = self.expression(target)
        if isinstance(element, lang.Cast):
            self.fail(node, f"{target.name.name} is not to be written: it is a `const int *`")
        assert isinstance(element, lang.Index)
        if element.array.type not in (OUTPUT, ARRAY):
            self.fail(node, f"{target.name.name} is not to be written: it is a `const real *`")
        if operator:
            value = self.binary(node, operator, element, value)
        return lang.Store(element.array, element.subscript, self.convert(node, value, REAL), **self.at(node))


def _returns(statements: tuple[Statement, ...]) -> bool:
    """True if every way through `statements` ends in a return."""
    for s in statements:
        if isinstance(s, lang.Return):
            return True
        if isinstance(s, lang.If) and s.otherwise and _returns(s.then) and _returns(s.otherwise):
            return True
    return False
