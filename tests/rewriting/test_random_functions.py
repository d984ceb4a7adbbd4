"""Derivatives of whole functions of random shape, against mpmath."""

import random

import mpmath as mp
import numpy as np
import pytest
from references import derivative
from references_functions import FUNCTIONS
from thorough import THOROUGH

import gpustats as gs
from gpustats.language import nodes as lang
from gpustats.language.device_function import parse
from gpustats.language.library import SPECIAL, library


class Interpreter:
    """Evaluates parsed functions in mpmath numbers: what C means, told a second time.

    largest: the largest number that came up
    """

    OPERATORS = {
        "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / mp.mpf(b),
        "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
    }  # fmt: skip

    def __init__(self, functions):
        self.functions, self.largest = functions, 0

    def call(self, name, args):
        if name in self.functions:
            function = self.functions[name]
            return self.run(function.body, dict(zip([p.name for p in function.parameters], args)))
        name = name.removeprefix(SPECIAL + "_")
        return not mp.isinf(args[0]) if name == "isfinite" else FUNCTIONS[name][0](*map(mp.mpf, args))

    def run(self, body, values):
        """What the statements return; None where they come to their end."""
        for s in body:
            returned = None
            match s:
                case lang.Declare() | lang.Assign():
                    values[s.name] = self.value(s.value, values)
                case lang.If():
                    returned = self.run(s.then if self.value(s.condition, values) else s.otherwise, values)
                case lang.For():
                    self.run([s.start], values)
                    while returned is None and self.value(s.condition, values):
                        returned = self.run(s.body, values)
                        self.run([s.step], values)
                case lang.Return():
                    returned = self.value(s.value, values)
            if returned is not None:
                return returned

    def value(self, e, values):
        result = self.result(e, values)
        self.largest = max(self.largest, abs(result))
        return result

    def result(self, e, values):
        match e:
            case lang.Number():
                return int(e.text) if e.type == lang.INT else mp.mpf(float(e.text))
            case lang.Name():
                return mp.pi + 0 if e.name == "PI" else values[e.name]
            case lang.Call():
                return self.call(e.function, [self.value(a, values) for a in e.arguments])
            case lang.Unary():
                operand = self.value(e.operand, values)
                return not operand if e.operator == "!" else -operand
            case lang.Binary("&&"):
                return self.value(e.left, values) and self.value(e.right, values)
            case lang.Binary("||"):
                return self.value(e.left, values) or self.value(e.right, values)
            case lang.Binary():
                return self.OPERATORS[e.operator](self.value(e.left, values), self.value(e.right, values))
            case lang.Conditional():
                return self.value(e.then if self.value(e.condition, values) else e.otherwise, values)
            case lang.Cast():
                operand = self.value(e.operand, values)
                return int(operand) if e.type == lang.INT else mp.mpf(operand)
        raise AssertionError(e)


class Writer:
    """Writes functions at random, in all that the language has.

    random: where the choices come from
    helpers: names of the functions written so far, and how many numbers they take
    reals, ints, own: the names in scope; `own` can be assigned to
    """

    def __init__(self, random):
        self.random, self.helpers = random, []
        self.reals, self.ints, self.own = [], [], []

    def source(self):
        """A density of x, a and b, and the functions that it calls."""
        text = ""
        for name in ["first", "second"][: self.random.randrange(3)]:
            parameters = ["p", "q"][: self.random.randint(1, 2)]
            text += self.function(name, parameters, own=parameters[:1])  # arguments can be assigned to in C
            self.helpers.append((name, len(parameters)))
        return text + self.function("random_logpdf", ["x", "a", "b"], own=[])

    def function(self, name, parameters, own):
        self.reals, self.ints, self.own = parameters, [], own
        lines = self.block(2, self.random.randint(2, 3))
        result = " + ".join([self.expression(3), *self.own])
        declared = ", ".join(f"real {p}" for p in parameters)
        return "\n".join([f"real {name}({declared})", "{", *lines, f"return {result};", "}", ""])

    def block(self, depth, count):
        """Lines of `count` statements."""
        return [line for _ in range(count) for line in self.statement(depth)]

    def inner_block(self, depth, loop=None):
        """A block with a scope of its own, in which a name may stand for another variable than outside."""
        before = self.reals, self.ints, self.own
        self.reals, self.ints, self.own = map(list, before)
        self.ints += [loop] if loop else []
        lines = []
        if self.own and self.random.random() < 0.3:
            name = self.own[0]
            self.reals.remove(name)  # C has it in scope as soon as it is declared
            lines = [f"real {name} = {self.expression(2)};"]
            self.reals.append(name)
        lines += self.block(depth - 1, self.random.randint(1, 2))
        self.reals, self.ints, self.own = before
        return lines

    def statement(self, depth):
        kind = self.random.choice(["real", "int", "assign", "assign", "return", "if", "if", "for"])
        if kind == "int":
            value, name = self.condition(2), f"k{len(self.ints)}"
            self.ints = [*self.ints, name]
            return [f"int {name} = {value};"]
        if kind == "assign" and self.own:
            name = self.random.choice(self.own)
            operator = self.random.choice(["=", "+=", "-=", "*="])
            return [f"{name} {operator} {'cos' * (operator == '*=')}({self.expression(3)});"]
        if kind == "if" and depth:
            lines = [f"if ({self.condition(1)}) {{", *self.inner_block(depth)]
            return [*lines, *(["} else {", *self.inner_block(depth)] if self.random.random() < 0.5 else []), "}"]
        if kind == "for" and depth:
            i = f"i{depth}"
            return [f"for (int {i} = 0; {i} < {self.random.randint(1, 3)}; {i}++) {{", *self.inner_block(depth, i), "}"]
        if kind == "return":
            return [f"if ({self.condition(0)} && {self.condition(0)}) return {self.expression(2)};"]
        value, name = self.expression(3), f"v{len(self.reals)}"
        self.reals, self.own = [*self.reals, name], [*self.own, name]
        return [f"real {name} = {value};"]

    def condition(self, depth):
        kind = self.random.choice(["compare", "compare", "compare", "&&", "||", "not", "int", "finite"])
        if kind in ("&&", "||") and depth:
            return f"({self.condition(depth - 1)} {kind} {self.condition(depth - 1)})"
        if kind == "not" and depth:
            return f"!({self.condition(depth - 1)})"
        if kind == "int" and self.ints:
            return self.random.choice(self.ints)
        if kind == "finite":
            return f"isfinite({self.expression(depth)})"
        return f"({self.expression(depth)} {self.random.choice(['<', '>', '<=', '>='])} {self.expression(depth)} + 0.1)"

    def expression(self, depth):
        def part():
            return self.expression(depth - 1)

        if not depth or self.random.random() < 0.15:
            others = [*self.ints, "0.75", "2", "-1.5", "PI"]
            return self.random.choice(self.reals if self.reals and self.random.random() < 0.8 else others)
        kind = self.random.choice(["sum", "product", "quotient", "minus", "choice", "cast", "helper", *["call"] * 6])
        if kind == "sum":
            return f"({part()} {self.random.choice('+-')} {part()})"
        if kind == "product":
            return f"{part()} * {part()}"
        if kind == "quotient":
            return f"({part()}) / (1.5 + fabs({part()}))"
        if kind == "minus":
            return f"-({part()})"
        if kind == "choice":
            return f"({self.condition(depth - 1)} ? {part()} : {part()})"
        if kind == "cast":
            return f"(real)(int)(2.3 * sin({part()}))"
        if kind == "helper" and self.helpers:
            name, count = self.random.choice(self.helpers)
            return f"{name}({', '.join(part() for _ in range(count))})"
        name = self.random.choice(list(FUNCTIONS))
        inside = (f"{(a + b) / 2:.3f} + {(b - a) / 2:.3f} * sin({part()})" for a, b in FUNCTIONS[name][1:])
        return f"{name}({', '.join(inside)})"


@THOROUGH
@pytest.mark.parametrize("seed", range(24))
def test_random_functions(seed):
    source = Writer(random.Random(seed)).source()
    interpreter = Interpreter(parse(source, library.resolve).functions)

    def meaning(*row):
        return interpreter.call("random_logpdf", row)

    args = np.random.default_rng(seed).normal(0, 1.5, (3, 5))
    rows = args.T.tolist()
    want = np.array([[derivative(meaning, row, [i], digits=40) for row in rows] for i in range(3)])
    values = [float(meaning(*map(mp.mpf, row))) for row in rows]
    assert interpreter.largest < 1000, "too large for a comparison: rounding errors grow as well"
    density = gs.register(source)
    np.testing.assert_allclose(density.logpdf(*args), values, rtol=1e-9, atol=1e-9)
    value, got = density.loglik_and_grad(*args, wrt=("x", "a", "b"))
    np.testing.assert_allclose(value, sum(values), rtol=1e-9, atol=1e-9)
    size = 1 + np.abs(want).max()
    np.testing.assert_allclose([got[name] for name in "xab"], want, rtol=1e-8, atol=1e-9 * size, err_msg=source)
