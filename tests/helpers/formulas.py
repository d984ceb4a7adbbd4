"""The values of formulas, evaluated by mpmath: as they stand, however slowly."""

from __future__ import annotations

import ast
import functools
import operator

import mpmath as mp

from gpustats.language.formula import BINDING_FUNCTIONS, parse

CONSTANTS = {"pi": lambda: +mp.pi, "inf": lambda: mp.inf, "euler_gamma": lambda: +mp.euler}
FUNCTIONS = {
    "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "abs": abs, "floor": mp.floor, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "asinh": mp.asinh, "atan": mp.atan, "erf": mp.erf, "erfc": mp.erfc,
    "Phi": mp.ncdf, "phi": mp.npdf, "factorial": mp.factorial, "det": mp.det, "inv": mp.inverse, "Gamma": mp.gammainc,
    "zeta": mp.zeta, "binomial": mp.binomial, "B": mp.beta, "I": mp.besseli, "K": mp.besselk, "hyp2f1": mp.hyp2f1,
    "min": min, "max": max,
}  # fmt: skip
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip


class _Values:
    """Evaluates the trees of one formula at one point.

    names: argument -> number, vector (a column) or matrix of mpmath
    """

    def __init__(self, names, definitions):
        self.names, self.dim = dict(names), max((v.rows for v in names.values() if isinstance(v, mp.matrix)), default=0)
        self.names["dim"] = mp.mpf(self.dim)
        self.defined = {d.name: functools.cache(functools.partial(self.definition, d)) for d in definitions}

    def definition(self, definition, *index):
        """The value of a definition, where it is asked for: on other branches it may not be a number."""
        return self.of(definition.value, **({definition.index: index[0]} if index else {}))

    def of(self, node, **bound):
        """The value of a tree, variables being bound to numbers."""
        before, self.names = self.names, {**self.names, **bound}
        try:
            return getattr(self, type(node).__name__)(node)
        finally:
            self.names = before

    def Constant(self, node):
        return mp.mpmathify(node.value)

    def Name(self, node):
        if node.id in self.names:
            return self.names[node.id]
        return (self.defined if node.id in self.defined else CONSTANTS)[node.id]()

    def Subscript(self, node):
        index = self.of(node.slice)
        return self.defined[node.value.id](index) if node.value.id in self.defined else self.names[node.value.id][int(index)]

    def UnaryOp(self, node):
        return -self.of(node.operand)

    def BinOp(self, node):
        left, right = self.of(node.left), self.of(node.right)
        if not isinstance(node.op, ast.MatMult):
            return OPERATORS[type(node.op)](left, right)
        product = (left.T if left.cols == 1 else left) * right
        return product[0] if (product.rows, product.cols) == (1, 1) else product

    def BoolOp(self, node):
        values = (self.of(v) for v in node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)

    def Compare(self, node):
        values = [self.of(v) for v in (node.left, *node.comparators)]
        return all(OPERATORS[type(op)](a, b) for op, a, b in zip(node.ops, values, values[1:]))

    def IfExp(self, node):
        return self.of(node.body if self.of(node.test) else node.orelse)

    def Call(self, node):
        name = node.func.id
        if name in BINDING_FUNCTIONS:
            body, variable = node.args[0], node.args[1].id
            low, high = (self.of(a) for a in node.args[2:]) if node.args[2:] else (mp.mpf(0), mp.mpf(self.dim - 1))
            return getattr(self, name.lower())(lambda value: self.of(body, **{variable: value}), low, high)
        if name == "Gamma" and len(node.args) == 1:
            return mp.gamma(self.of(node.args[0]))
        return FUNCTIONS[name](*(self.of(a) for a in node.args))

    def sum(self, term, low, high):
        """Of infinitely many terms, those up to where ten in a row count nothing, from 0 upwards and downwards."""
        if mp.isinf(low):
            return self.sum(term, mp.mpf(0), high) + self.sum(lambda i: term(-i), mp.mpf(1), -low)
        total, small, i = mp.mpf(0), 0, low
        while i <= high and small < 10:
            one = term(i)
            total, i = total + one, i + 1
            small = small + 1 if mp.isinf(high) and abs(one) <= mp.eps * abs(total) else 0
        return total

    def product(self, factor, low, high):
        return mp.fprod(factor(low + i) for i in range(int(high - low) + 1))

    def integral(self, integrand, low, high):
        return mp.quad(integrand, [low, 1, high] if mp.isinf(high) and low == 0 else [low, high])

    def root(self, function, low, high):
        near = (high - low) * mp.eps  # at the ends the function may be infinite
        return mp.findroot(function, (low + near, high - near), solver="bisect", maxsteps=1000, verify=False)


def value(text, names, digits=30):
    """The value of a formula.

    text: what `gpustats.language.formula.parse` takes
    names: argument -> number, or a list, or a list of lists
    """
    with mp.workdps(digits):
        formula = parse(text, [*names, "dim"])
        given = {n: mp.matrix(v) if isinstance(v, list) else mp.mpf(v) for n, v in names.items()}
        return mp.re(_Values(given, formula.definitions).of(formula.value))
