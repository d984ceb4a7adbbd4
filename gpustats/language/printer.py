"""Printer of functions as C: one text for CUDA and OpenCL, in the macros of the preludes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from . import nodes as lang
from .bounds import LAST_INDEX, counted, written_out
from .nodes import INT, MATH, REAL, RNG, Binary, Call, Cast, Expression, For, Name, Node, Number, Unary, draws

_PRECEDENCE = {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
_COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
_UNARY = 7
# Intel's OpenCL compiler takes both sides of a branch for one where each has a loop that ends for all threads at once; or where
# a loop stands in one, the other calls functions, and both give constants. So all loops that do not just count, and the
# branches that hold loops without a plain end, are told that they are the thread's own matter.
_ANY_THREAD = "THREAD < 65536"
# It also computes wrong numbers, now and then, where a loop with branches ends at different turns for the threads of a vector.
# So users' loops are printed as LOOP, which ends for all of them at once. Those of gpustats itself are tested as they are, and
# faster with an end for each thread.
# Where both sides of a branch have branches of their own, and give what all threads share, such as literals, all threads may
# get what one of them takes; so they may where a later condition is the same as that of such a branch. Therefore a choice
# between numbers and variables is printed as EITHER, which is no branch to it, and what users' branches assign or return as
# VARYING, which each thread has for itself.
#: Stands at the head of a loop that may take any number of turns.
ENDLESS_MARK = "// until the condition fails"

#: The functions of whole_numbers.mako, which stand for what C leaves open.
WHOLE_NUMBERS = ("to_int", "int_sum", "int_difference", "int_product", "int_quotient", "int_remainder", "int_abs")
_INT_FUNCTIONS = {"+": "int_sum", "-": "int_difference", "*": "int_product", "/": "int_quotient", "%": "int_remainder"}


def _is_plain(e: Binary) -> bool:
    """True if C defines the result of an operation with whole numbers, whatever their values are."""
    if e.operator in ("/", "%"):
        return isinstance(e.right, Number) and int(e.right.text) > 0
    if e.operator not in _INT_FUNCTIONS or e == LAST_INDEX or written_out(e) is not None:
        return True
    return _is_small(e.left) and _is_small(e.right)


def _is_small(e: Expression) -> bool:
    """True if a whole number is one of a few literals, or a truth value."""
    match e:
        case Number():
            return len(e.text) < 4
        case lang.Conditional():
            return _is_small(e.then) and _is_small(e.otherwise)
    return isinstance(e, (Unary, Binary)) and e.operator in ("!", "&&", "||", *_COMPARISONS)


def _is_leaf(e: Expression) -> bool:
    """True if an expression is a number or a variable, or the negative of one."""
    return isinstance(e.operand if isinstance(e, Unary) and e.operator == "-" else e, (Number, Name))


def _as_whole(condition: Expression) -> Expression:
    """Condition as a whole number, which it must be in OpenCL."""
    return Binary("!=", condition, Number("0", INT), INT) if condition.type == REAL else condition


@dataclass(frozen=True)
class Printer:
    """Printer of nodes as C in which `real` is `dtype`; the same text serves CUDA and OpenCL."""

    dtype: str = "float64"  # "float64" or "float32": decides the suffix of floating literals
    #: address space (a macro of the preludes) of each vector argument, by name
    space: dict[str, str] = field(default_factory=dict)
    large: frozenset[str] = frozenset()  # names of functions that are not inlined
    endless: frozenset[str] = frozenset()  # names of functions that run a loop without a plain end: see `endless_functions`
    stride: int = 1  # distance in memory of the elements of vectors

    def kind(self, function: str) -> str:
        """Macro before the declaration of a function."""
        return "LARGE" if function in self.large else "DEVICE"

    def expression(self, e: Expression, outer: int = 0) -> str:
        """Text of `e` in C, in parentheses where it binds less tightly than `outer`."""
        match e:
            case Number():
                return e.text + ("f" if e.type == REAL and self.dtype == "float32" else "")
            case Name():
                return e.name
            case lang.Field():
                return f"{e.owner}.{e.name}"
            case lang.Member():
                return f"{self.expression(e.value)}.{e.name}"
            case lang.Index():
                return self.element(e)
            case Call(function=function) if function in (lang.LIKELY, lang.UNLIKELY):
                return self.expression(e.arguments[0], outer)
            case Call(function="abs"):
                return f"int_abs({self.expression(e.arguments[0])})"
            case Call():
                return f"{e.function}({', '.join(self.argument(e, i) for i in range(len(e.arguments)))})"
            case Cast(type="int") if e.operand.type == REAL:
                return f"to_int({self.expression(e.operand)})"
            case Cast():
                text, level = f"({e.type}){self.expression(e.operand, _UNARY)}", _UNARY
            case Unary(operator="-", type="int") if written_out(e) is None:
                return f"int_difference(0, {self.expression(e.operand)})"
            case Unary():
                operand = self.expression(e.operand, _UNARY)
                text, level = e.operator + (f"({operand})" if operand[0] == e.operator else operand), _UNARY
            case Binary(type="int") if not _is_plain(e):
                return f"{_INT_FUNCTIONS[e.operator]}({self.expression(e.left)}, {self.expression(e.right)})"
            case Binary():
                level = _PRECEDENCE[e.operator]
                compares = e.operator in _COMPARISONS  # compilers doubt a < b < c, though it means (a < b) < c
                left, right = self.expression(e.left, level + compares), self.expression(e.right, level + 1)
                text = f"{left} {e.operator} {right}"
            case lang.Conditional(type="real" | "int") if _is_leaf(e.then) and _is_leaf(e.otherwise):
                parts = map(self.expression, (_as_whole(e.condition), e.then, e.otherwise))
                return f"{'EITHER' if e.type == REAL else 'EITHER_INT'}({', '.join(parts)})"
            case lang.Conditional(condition=Call(function=lang.LIKELY | lang.UNLIKELY)) if e.type == REAL and self.ends(e):
                return f"CHOICE({', '.join(map(self.expression, (e.condition, e.then, e.otherwise)))})"
            case lang.Conditional():
                head = self.condition(_as_whole(e.condition), 1, e.then, e.otherwise)
                text, level = f"{head} ? {self.expression(e.then, 1)} : {self.expression(e.otherwise)}", 0
        return f"({text})" if level < outer or (level == 0 and outer > 0) else text

    def element(self, e: lang.Index | lang.Store) -> str:
        """Text of an element of a vector."""
        if self.stride == 1:
            return f"{e.array.name}[{self.expression(e.subscript)}]"
        return f"{e.array.name}[{self.stride} * (index_t){self.expression(e.subscript, _UNARY)}]"

    def condition(self, condition: Expression, outer: int, *sides: Node) -> str:
        """Text of the condition of a branch, which binds less tightly than `outer`."""
        if self.endless and any(_is_endless(side, self.endless) for side in sides):
            return self.of_thread(condition)
        return self.expression(condition, outer)

    def ends(self, e: Expression) -> bool:
        """True if `e` ends whatever its variables are, since it has loops in functions of gpustats itself alone."""
        return not any(f in self.endless and not f.startswith("special_") for f in lang.called(e))

    def of_thread(self, condition: Expression) -> str:
        return f"{self.expression(condition, _PRECEDENCE['&&'])} && {_ANY_THREAD}"

    def argument(self, call: Call, i: int) -> str:
        """Text of argument `i`, cast where overloaded math functions would be ambiguous."""
        e = call.arguments[i]
        text = self.expression(e)
        # INFINITY and NAN are floats in OpenCL, whatever `real` is.
        unsure = e.type == INT or not lang.names_in(e).isdisjoint(("INFINITY", "NAN"))
        if call.function in MATH and MATH[call.function][0][i] == REAL and unsure:
            return f"(real)({text})"
        return text

    def statement(self, s: lang.Statement, indent: str = "    ", branch: bool = False) -> str:
        """Text of a statement; `branch`: it stands in one."""
        match s:
            case lang.Assign(value=value) | lang.Return(value=value) if branch:
                head = "return" if isinstance(s, lang.Return) else f"{s.name} ="
                return f"{indent}{head} {self.varying(value)};\n"
            case lang.Declare():
                given = "" if s.value is None else f" = {self.expression(s.value)}"
                if s.value is None and s.type not in (REAL, INT):  # a struct that gets its value in a branch
                    given = " = {0}"
                return f"{indent}{s.type} {s.name}{given};\n"
            case lang.Assign():
                return f"{indent}{self.assignment(s)};\n"
            case lang.Return():
                return f"{indent}return {self.expression(s.value)};\n"
            case lang.Store():
                return f"{indent}{self.element(s)} = {self.expression(s.value)};\n"
            case lang.Perform():
                return f"{indent}{self.expression(s.call)};\n"
            case lang.If():
                condition = self.condition(s.condition, 0, *s.then, *s.otherwise)
                text = f"{indent}if ({condition}) {self.block(s.then, indent, not s.shipped)}"
                if s.otherwise:
                    text = text.rstrip("\n") + f" else {self.block(s.otherwise, indent, not s.shipped)}"
                return text
            case For():
                uneven = not (s.shipped or draws(s) or _is_even(s))
                body, step = s.body, self.assignment(s.step, counted(s)) if s.step else ""
                if uneven and s.step and not (_counts(s) and counted(s) and isinstance(s.start, lang.Declare)):
                    body, step = (*body, s.step), ""  # LOOP steps on where the condition has failed
                start = self.statement(s.start, "").strip().rstrip(";") if s.start else ""
                condition = self.expression(s.condition)
                if not (draws(s) or _counts(s)):
                    condition = self.of_thread(s.condition)
                head = f"LOOP({start}, {condition}, {step})" if uneven else f"for ({start}; {condition}; {step})"
                head, text = f"{indent}{head} ", self.block(body, indent, branch)
                if not counted(s):
                    text = f"{{  {ENDLESS_MARK}{text[1:]}"
                if streams := {a.name for call in draws(s) for a in call.arguments if isinstance(a, Name) and a.type == RNG}:
                    # Every turn begins with fresh words: so the compiler knows how many there are, and tests nothing.
                    drop = "".join(f"{name}->left = 0;\n" for name in sorted(streams))
                    first, rest = text.split("\n", 1)
                    return f"{head}{first}\n{indent}    {drop}{rest}{indent}{drop}"
                return head + text
        raise AssertionError(s)

    def varying(self, e: Expression) -> str:
        """Text of what a branch leaves: a number, or several results, as VARYING."""
        if e.type not in (REAL, INT):
            if not isinstance(e, Call):
                return self.expression(e)
            return f"{e.function}({', '.join(map(self.varying, e.arguments))})"
        return f"{'VARYING' if e.type == REAL else 'VARYING_INT'}({self.expression(e)})"

    def assignment(self, s: lang.Assign, counts: bool = False) -> str:
        """Text of an assignment; `counts`: the step of a loop that just counts, and so comes to no end of `int`."""
        value = s.value
        steps = "+-*/" if value.type == REAL else "+-" if counts else ""
        if isinstance(value, Binary) and value.operator in steps and value.left == Name(s.name, s.type):
            if value.right == Number("1", INT) and value.operator in "+-":
                return s.name + value.operator * 2
            return f"{s.name} {value.operator}= {self.expression(value.right)}"
        return f"{s.name} = {self.expression(value)}"

    def block(self, statements: tuple[lang.Statement, ...], indent: str, branch: bool = False) -> str:
        return "{\n" + "".join(self.statement(s, indent + "    ", branch) for s in statements) + indent + "}\n"

    def parameter(self, p: lang.Parameter) -> str:
        if p.type == lang.VECTOR:
            return f"{self.space.get(p.name, 'GLOBAL')} const real *{p.name}"
        if p.type == lang.OUTPUT:
            return f"GLOBAL real *{p.name}"
        if p.type == RNG:
            return f"rng_t *{p.name}"
        return f"{p.type} {p.name}"

    def results(self, f: lang.Function) -> str:
        """Struct in which `f` returns several results."""
        members = "".join(f"    real {name};\n" for name in f.results)
        parameters = ", ".join(f"real {name}" for name in f.results)
        body = "".join(f"    results.{name} = {name};\n" for name in f.results)
        return (
            f"typedef struct {{\n{members}}} {f.type};\n\n"
            f"DEVICE {f.type} {f.maker}({parameters})\n{{\n    {f.type} results;\n{body}    return results;\n}}\n\n"
        )

    def function(self, f: lang.Function) -> str:
        head = f"{self.kind(f.name)} {f.type} {f.name}({', '.join(map(self.parameter, f.parameters))})\n"
        return head + self.block(f.body, "")


def _is_even(loop: For) -> bool:
    """True if a loop plainly takes as many turns for each thread."""
    numbers = [loop.start and loop.start.value, isinstance(loop.condition, Binary) and loop.condition.right]
    return _counts(loop) and counted(loop) and all(e and written_out(e) is not None for e in numbers)


def _counts(loop: For) -> bool:
    """True if a loop ends where its variable reaches a limit, and only there."""
    condition, step = loop.condition, loop.step
    return (
        isinstance(condition, Binary) and condition.operator in _COMPARISONS
        and step is not None and condition.left == Name(step.name, step.type)
    )  # fmt: skip


def endless_functions(functions: Iterable[tuple[str, Sequence[Node]]]) -> frozenset[str]:
    """Names of the functions, of those given (names and bodies, callees first), that run a loop without a plain end."""
    endless: set[str] = set()
    for name, body in functions:
        if any(_is_endless(s, endless) for s in body):
            endless.add(name)
    return frozenset(endless)


def _is_endless(node: Node, functions: Set[str]) -> bool:
    """True if a node runs a loop without a plain end, itself or in one of `functions`."""
    loops = (n for n in lang.statements(node) if isinstance(n, For))
    return not functions.isdisjoint(lang.called(node)) or any(not (counted(n) or draws(n)) for n in loops)
