"""Random programs of the language of device functions, well typed: statements and helpers around the `expressions`.

Loops end, but for those of a helper whose calls are guarded. Apart from this a program may do whatever the language allows.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from .expressions import DOMAINS, HELPERS, VECTOR_DOMAINS, Expressions, binary, call, real, whole
from .tree import (
    INT,
    REAL,
    VECTOR,
    Assign,
    Block,
    Call,
    Cast,
    Declare,
    Element,
    For,
    Function,
    If,
    Parameter,
    Program,
    Return,
    Unary,
    Variable,
    While,
    walk,
)


class Generator(Expressions):
    """Makes one program."""

    # -- statements

    def body(self, count: int, depth: int) -> tuple:
        """Statements of a scope that is open already."""
        return tuple(s for _ in range(count) if self.size > 0 for s in self.statement(depth))

    def block(self, count: int, depth: int, *last: Callable[[], Any]) -> tuple:
        """Statements of a scope of their own; the last ones are made where the names of this scope are known."""
        self.scopes.append({})
        made = (*self.body(count, depth), *(make() for make in last))
        self.scopes.pop()
        return made

    def statement(self, depth: int) -> list[Any]:
        kinds = ["declare", "assign", "if", "for", "while", "whole", "block", "return", "late", "sum"]
        kind = self.random.choices(kinds, [30, 20, 12, 7, 5, 10, 2, 5, 3, 6])[0]
        if depth <= 0 and kind not in ("declare", "assign", "whole"):
            kind = "assign"
        match kind:
            case "assign":
                return [self.assignment()]
            case "if":
                then = self.block(self.random.randint(1, 2), depth - 1)
                otherwise = self.block(self.random.randint(1, 2), depth - 1) if self.chance(0.5) else ()
                return [If(self.condition(2), then, otherwise)]
            case "return":
                return [If(self.condition(2), self.block(self.random.randint(0, 1), depth - 1, self.last))]
            case "for":
                return [self.loop(depth)]
            case "while":
                return self.loop_until(depth)
            case "sum" if vectors := self.visible(VECTOR):
                return self.sum_of(self.random.choice(vectors))
            case "whole":
                value = self.whole(3)
                return [Declare(INT, self.declared(INT, value), value)]
            case "late":
                values = self.real(2), self.real(2)
                condition = self.condition(2)
                name = self.declared(REAL, (condition, *values))
                return [Declare(REAL, name), If(condition, *((Assign(name, REAL, "", v),) for v in values))]
            case "block":
                return [Block(self.block(2, depth - 1))]
        value = self.real(3)
        return [Declare(REAL, self.declared(REAL, value), value)]

    def declared(self, type: str, value: Any = ()) -> str:
        """A new variable; `value` is what it is initialised with, where it hides nothing."""
        name = self.fresh(tuple(getattr(n, "name", getattr(n, "vector", "")) for n in walk(value)))
        self.scopes[-1][name] = type
        return name

    def assignment(self) -> Any:
        names = self.assignable(REAL)
        wholes = self.assignable(INT)
        if wholes and (self.chance(0.25) or not names):
            operator = self.one_of("", "+", "-", "+")
            return Assign(self.random.choice(wholes), INT, operator, whole(1) if self.chance(0.6) else self.whole(2))
        if not names:
            value = self.real(3)
            return Declare(REAL, self.declared(REAL, value), value)
        operator = self.one_of("", "", "+", "-", "*", "/")
        value = self.real(3) if operator != "/" else self.one_of(real("2.0"), call("cosh", call("sin", self.real(2))))
        return Assign(self.random.choice(names), REAL, operator, value)

    def loop(self, depth: int) -> For:
        down = self.chance(0.2)
        bounds = [whole(self.random.randint(1, 4)), self.positive_remainder(self.whole(1), 4)]
        bound = Variable("dim", INT) if "dim" in self.visible(INT) and self.chance(0.5) else self.random.choice(bounds)
        self.scopes.append({})
        name = self.declared(INT, bound)
        self.fixed.add(name)
        i = Variable(name, INT)
        if down:
            start, condition = binary("-", bound, whole(1)), binary(">=", i, whole(0))
        else:
            start, condition = whole(self.random.randrange(2)), binary(self.one_of("<", "<", "<="), i, bound)
        if self.chance(0.15):
            condition = binary("&&", condition, self.condition(1))
        step = Assign(name, INT, "-" if down else "+", whole(1 if self.chance(0.9) else 2))
        leaves = (lambda: If(self.condition(1), (self.last(),)),) if self.chance(0.2) else ()
        # What is declared in the body hides nothing that the loop counts by: assignments there see the names of outside.
        bound_names = {n.name for n in (bound,) if isinstance(n, Variable)} - {"dim"}
        added = bound_names - self.fixed
        self.fixed |= added
        body = self.block(self.random.randint(1, 2), depth - 1, *leaves)
        self.fixed -= added
        self.scopes.pop()
        self.fixed.discard(name)
        return For(name, start, condition, step, body)

    def loop_until(self, depth: int) -> list[Any]:
        """A counter, and a loop that also ends by it."""
        name = self.declared(INT)
        self.fixed.add(name)
        counter = Variable(name, INT)
        condition = binary("&&", self.condition(1), binary("<", counter, whole(self.random.randint(2, 6))))
        body = self.block(self.random.randint(1, 2), depth - 1, lambda: Assign(name, INT, "+", whole(1)))
        return [Declare(INT, name, whole(0)), While(condition, body)]

    def sum_of(self, vector: str) -> list[Any]:
        """The sum of a vector's elements."""
        element = Variable(vector, VECTOR)
        total = self.declared(REAL, element)
        self.scopes.append({})
        name = self.declared(INT, (element, Variable(total, REAL)))
        i = Variable(name, INT)
        self.fixed.add(name)
        term = binary(self.one_of("+", "*"), Element(vector, i), self.real(2))
        self.scopes.pop()
        self.fixed.discard(name)
        loop = For(name, whole(0), binary("<", i, Variable("dim", INT)), Assign(name, INT, "+", whole(1)),
                   (Assign(total, REAL, "+", term),))  # fmt: skip
        return [Declare(REAL, total, whole(0) if self.chance(0.5) else real("0.0")), loop]

    def last(self) -> Return:
        e = self.real(2) if self.type == REAL else self.whole(2)
        if self.type == REAL and self.chance(0.04):
            e = self.one_of(Unary("-", Variable("INFINITY", REAL), REAL), Variable("NAN", REAL))
        return Return(e)

    # -- functions

    def make_function(self, name: str, type: str, parameters: tuple[Parameter, ...], statements: int) -> Function:
        self.type = type
        scope = {p.name: p.type for p in parameters}
        if VECTOR in scope.values():
            scope["dim"] = INT
        self.scopes, self.fixed = [scope], set()
        body = self.body(statements, 2)
        e = self.real(4) if type == REAL else self.whole(3)
        for variable in self.random.sample(
            names := self.visible(REAL), min(len(names), 3)
        ):  # so that most of it counts
            e = binary(
                self.one_of("+", "-"), e, self.one_of(Variable(variable, REAL), call("tanh", Variable(variable, REAL)))
            )
        return Function(name, type, parameters, (*body, Return(e if e.type == type else Cast(type, e))))

    def helper(self, vectors: bool) -> Function:
        self.scopes = [{}]
        types = [self.one_of(REAL, REAL, REAL, INT) for _ in range(self.random.randint(1, 3))]
        if vectors and self.chance(0.5):
            types.insert(self.random.randrange(len(types) + 1), VECTOR)
        parameters = tuple(Parameter(self.declared(t), t) for t in types)
        name = self.random.choice([n for n in HELPERS if n not in [f.name for f in self.helpers]])
        self.size = self.random.randint(3, 30)
        return self.make_function(name, REAL if self.chance(0.8) else INT, parameters, self.random.randint(0, 3))

    def converging(self) -> Function:
        """A helper that never ends for some arguments: calls of it are guarded."""
        v, q, n = Variable("v", REAL), Variable("q", REAL), Variable("n", REAL)
        body = (
            Declare(REAL, "n", real("0.0")),
            While(binary(">", v, real("0.01")), (Assign("v", REAL, "*", q), Assign("n", REAL, "+", binary("*", v, v)))),
            Return(n),
        )
        return Function("converging", REAL, (Parameter("v", REAL), Parameter("q", REAL)), body)

    def program(self, name: str) -> Program:
        observed = VECTOR if self.chance(0.12) else REAL
        types = [observed] + [VECTOR if self.chance(0.12) else REAL for _ in range(self.random.randint(1, 4))]
        vectors = VECTOR in types
        for _ in range(self.one_of(0, 0, 1, 1, 2, 3)):
            self.helpers.append(self.helper(vectors))
        self.scopes = [{}]
        parameters = [Parameter("x", types[0], self.random.choice(VECTOR_DOMAINS if observed == VECTOR else DOMAINS))]
        for t in types[1:]:
            chosen = self.random.choice(VECTOR_DOMAINS if t == VECTOR else DOMAINS)
            parameters.append(Parameter(self.fresh(tuple(p.name for p in parameters)), t, chosen))
        self.size = self.random.randint(10, 110)
        density = self.make_function(f"{name}_logpdf", REAL, tuple(parameters), self.random.randint(0, 6))
        guarded: tuple[Function, ...] = ()
        numbers = [p for p in parameters[1:] if p.type == REAL]
        if numbers and self.chance(0.06):
            guarded = (self.converging(),)
            q = Variable(self.random.choice(numbers).name, REAL)
            inside = binary("&&", binary(">", q, real("0.0")), binary("<", q, real("0.9")))
            returned = Return(Call("converging", (real("3.0"), q), REAL))
            density = Function(density.name, REAL, density.parameters, (If(inside, (returned,)), *density.body))
        return Program(name, (*guarded, *self.helpers, density))


def program_of(seed: int) -> Program:
    """The program of a seed."""
    return Generator(Random(seed)).program(f"fuzz{seed}")
