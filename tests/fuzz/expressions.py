"""Random expressions of the language of device functions, well typed.

Most numbers stay near 1, as little can be compared where all is nan.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from .tree import (
    INT,
    REAL,
    VECTOR,
    Binary,
    Call,
    Cast,
    Conditional,
    Element,
    Function,
    Literal,
    Unary,
    Variable,
    walk,
)

#: Names of variables: usual ones, ones that gpustats itself gives, and ones that mean something to compilers but not to C.
NAMES = (
    "mu sigma a b c c0 c1 c2 c0_ x0 v w t s n k i j m z u value total result rate scale d_x d_mu d_a component call either "
    "bad_x bad_mu nan_x own_i inside outside x_2 a_2 a_0 c0_value common set row rows labels out half kernel global "
    "gamma e y1 at sum log_weight weight mixture sum_x to_int sin_apart int_abs shared both parameters real2 f g h0"
).split()
HELPERS = "foo bar bar_x g_value c0_f helper value_of h d_foo foo_2 checked grad gradient scaled".split()

NUMBERS = ["real", "positive", "nonnegative", "unit", "integer", "nonnegative integer", "positive integer"]
DOMAINS = ["real"] * 4 + ["positive"] + NUMBERS
VECTOR_DOMAINS = ["vector", "vector", "positive vector"]

# Functions of any number with moderate results; of a positive number; of two; all with how often they are wanted.
ANYWHERE = (
    "sin cos sin cos atan tanh erf erfc asinh cbrt fabs floor ceil trunc rint round expit log1pexp log_ndtr".split()
)
POSITIVE = "log sqrt log10 log2 log1p lgamma tgamma log_gamma digamma log sqrt".split()
GROWING = "exp sinh cosh exp2 expm1 tan".split()
OF_TWO = "fmax fmin fdim atan2 hypot copysign fmax fmin logaddexp".split()
CONSTANT_NAMES = "PI LOG_2PI HALF_LOG_2PI LOG_2 SQRT_2 EULER_GAMMA".split()


def real(text: str) -> Literal:
    return Literal(text, REAL)


def _is_of_literals(e: Any) -> bool:
    """True if an expression is made of literals alone, or is a choice with such a side."""
    if isinstance(e, Conditional):
        return _is_of_literals(e.then) or _is_of_literals(e.otherwise)
    return not any(isinstance(node, (Variable, Call, Cast, Conditional, Element)) for node in walk(e))


def whole(number: int) -> Literal:
    return Literal(str(number), INT)


def binary(operator: str, left: Any, right: Any) -> Binary:
    numbers = operator in "+-*/%"
    return Binary(operator, left, right, REAL if numbers and REAL in (left.type, right.type) else INT)


def call(name: str, *arguments: Any) -> Call:
    return Call(name, arguments, REAL)


@dataclass
class Expressions:
    """Makes expressions of the variables in sight.

    Attributes
    ----------
    random : Random
    scopes : list of dict
        Name -> type of the variables in sight.
    fixed : set of str
        Variables of loops, which keep their loop's count, and others that are not to be assigned to.
    helpers : list of Function
    size : int
        How many nodes are still to be made, about.
    """

    random: Random
    scopes: list[dict[str, str]] = field(default_factory=list)
    fixed: set[str] = field(default_factory=set)
    helpers: list[Function] = field(default_factory=list)
    size: int = 0

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    # -- names

    def fresh(self, taken: tuple[str, ...] = ()) -> str:
        """A name that the innermost scope has not; it may hide one of the scopes around it."""
        hidden = () if self.chance(0.3) else [n for scope in self.scopes for n in scope]
        unfit = {*self.scopes[-1], *self.fixed, *taken, *hidden}
        free = [n for n in NAMES if n not in unfit]
        return self.random.choice(free)

    def visible(self, type: str) -> list[str]:
        names: dict[str, str] = {}
        for scope in self.scopes:
            names |= scope
        return [n for n, t in names.items() if t == type]

    def assignable(self, type: str) -> list[str]:
        return [n for n in self.visible(type) if n not in self.fixed and n != "dim"]

    # -- expressions

    def real(self, depth: int) -> Any:
        self.size -= 1
        if depth <= 0 or self.size <= 0 or self.chance(0.12):
            return self.real_leaf()
        below = depth - 1
        kind = self.random.choices(
            [
                "arithmetic",
                "function",
                "conditional",
                "leaf",
                "helper",
                "whole",
                "minus",
                "divide",
                "two",
                "nested",
                "truth",
            ],
            [30, 22, 8, 8, 10, 5, 5, 8, 6, 4, 3],
        )[0]
        match kind:
            case "arithmetic":
                left, right = self.real(below), self.real(below) if self.chance(0.85) else self.whole(below - 1)
                if self.chance(0.1):
                    left, right = right, left
                made = binary(self.one_of("+", "-", "*", "*"), left, right)
                return made if made.type == REAL else Cast(REAL, made)
            case "function":
                return self.function(below)
            case "conditional":
                then, otherwise = self.real(below), self.real(below)
                if self.chance(0.15):
                    otherwise = self.whole(0)
                return Conditional(self.condition(below), then, otherwise, REAL)
            case "helper":
                return self.helper_call(REAL, below) or self.real(below)
            case "whole":
                return (
                    Cast(REAL, self.whole(below)) if self.chance(0.5) else binary("*", real("0.5"), self.whole(below))
                )
            case "minus":
                return Unary("-", self.real(below), REAL)
            case "divide":
                return self.quotient(below)
            case "two":
                if self.chance(0.2):
                    base = binary("+", call("fabs", self.real(below)), real("0.5"))
                    return call("pow", base, self.one_of(whole(2), real("1.5"), call("tanh", self.real(below))))
                if self.chance(0.1):
                    return call("fma", self.real(below), self.real(below), self.real(below))
                return call(self.random.choice(OF_TWO), self.real(below), self.real(below))
            case "nested":
                inner = call(self.one_of("sin", "cos"), self.real(below))
                return call(self.one_of("sin", "cos"), inner if self.chance(0.7) else binary("*", inner, real("3.0")))
            case "truth":
                return binary("*", Cast(REAL, self.condition(below)), self.real(below))
        return self.real_leaf()

    def real_leaf(self) -> Any:
        vectors, names = self.visible(VECTOR), self.visible(REAL)
        if vectors and self.chance(0.3):
            return Element(self.random.choice(vectors), self.index())
        if names and self.chance(0.75):
            return Variable(self.random.choice(names), REAL)
        if self.chance(0.1):
            return Variable(self.random.choice(CONSTANT_NAMES), REAL)
        return real(self.one_of("0.0", "1.0", "0.5", "2.0", "0.1", "3.0", "1.5", "0.25", "1e-1", "7.0", ".75", "2."))

    def function(self, depth: int) -> Any:
        e, name = self.real(depth), self.random.choice(ANYWHERE)
        kind = self.random.random()
        if kind < 0.55:
            return call(name, e)
        if kind < 0.8:
            safe = binary("+", call("fabs", e), real(self.one_of("0.5", "1.0", "0.1"))) if self.chance(0.85) else e
            return call(self.random.choice(POSITIVE), safe)
        small = self.one_of(
            call("tanh", e), call("sin", e), binary("*", real("0.25"), e), Unary("-", call("fabs", e), REAL)
        )
        return call(self.random.choice(GROWING), small)

    def quotient(self, depth: int) -> Any:
        numerator, e = self.real(depth), self.real(depth)
        kind = self.random.random()
        if kind < 0.5:
            return binary("/", numerator, binary("+", real("1.0"), binary("*", e, e)))
        if kind < 0.8:
            return binary("/", numerator, real(self.one_of("2.0", "3.0", "0.7")))
        return binary("/", numerator, e)

    def helper_call(self, type: str, depth: int) -> Any:
        hidden = {n for scope in self.scopes for n in scope}
        vectors = self.visible(VECTOR)
        fitting = [f for f in self.helpers if f.type == type and f.name not in hidden and (vectors or not f.of_vectors)]
        if not fitting:
            return None
        f = self.random.choice(fitting)
        given = {
            REAL: lambda: self.real(depth - 1) if self.chance(0.9) else self.whole(0),
            INT: lambda: self.whole(depth - 1),
        }
        arguments = [
            Variable(self.random.choice(vectors), VECTOR) if p.type == VECTOR else given[p.type]() for p in f.parameters
        ]
        return Call(f.name, tuple(arguments), type)

    def whole(self, depth: int) -> Any:
        """Of type `int`, and small."""
        self.size -= 1
        if depth <= 0 or self.size <= 0 or self.chance(0.25):
            names = self.visible(INT)
            return (
                Variable(self.random.choice(names), INT)
                if names and self.chance(0.6)
                else whole(self.random.randrange(6))
            )
        below = depth - 1
        match self.random.randrange(9):
            case 0 | 1:
                return binary(self.one_of("+", "-", "+", "*"), self.whole(below), self.whole(below))
            case 2:
                divisor = binary("+", self.positive_remainder(self.whole(below), 4), whole(1))
                e, divisor = self.whole(below), self.one_of(divisor, divisor, whole(3), self.whole(1))
                refused = _is_of_literals(e) and _is_of_literals(divisor)  # 1 / 3 is taken for a mistake
                return binary("%" if refused else self.one_of("/", "%"), e, divisor)
            case 3:
                e = self.whole(below)
                safe = binary("!=", e, whole(0))
                return Conditional(safe, binary(self.one_of("/", "%"), Variable("dim", INT), e)
                                   if "dim" in self.visible(INT) else self.whole(0), self.whole(below), INT)  # fmt: skip
            case 4 | 5:
                e = self.real(below)
                return Cast(INT, call("fmin", call("fmax", e, real("-20.0")), real("20.0")) if self.chance(0.5) else e)
            case 6:
                e = self.condition(below)
                return e if e.type == INT else Unary("!", e, INT)
            case 7:
                return self.helper_call(INT, below) or Call("abs", (self.whole(below),), INT)
        return Unary("-", self.whole(below), INT)

    def positive_remainder(self, e: Any, divisor: int) -> Any:
        return binary("%", Call("abs", (e,), INT), whole(divisor))

    def index(self) -> Any:
        """Into a vector: inside it or not. One that is plainly negative is taken for a mistake."""
        e = self.one_of(self.whole(1), self.whole(2), binary("-", self.whole(0), whole(1)))
        return e if any(isinstance(n, (Variable, Call, Cast)) for n in walk(e)) else whole(self.random.randrange(4))

    def condition(self, depth: int) -> Any:
        self.size -= 1
        compare = self.one_of("<", ">", "<=", ">=", "<", ">", "==", "!=")
        match self.random.randrange(12) if depth > 0 else self.random.randrange(5):
            case 5:
                return binary(self.one_of("&&", "||"), self.condition(depth - 1), self.condition(depth - 1))
            case 6:
                return Unary("!", self.condition(depth - 1), INT)
            case 7:
                return binary(
                    compare, self.condition(depth - 1), self.one_of(whole(1), whole(0), self.condition(depth - 1))
                )
            case 8 | 9:
                return binary(compare, self.whole(depth - 1), self.whole(depth - 1))
            case 10:
                return self.one_of(self.real(depth - 1), self.whole(depth - 1))
            case 11:
                return Unary("!", Call(self.one_of("isnan", "isinf"), (self.real(depth - 1),), INT), INT)
        return binary(compare, self.real(depth - 1), self.real(depth - 1) if depth > 1 else self.real_leaf())
