"""Formulas of densities, covariance functions and sequence models as TeX, from their trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable
from typing import Any

from gpustats.language.formula import BINDING_FUNCTIONS, Definition, parse

GREEK = set("alpha beta gamma delta epsilon zeta eta theta kappa mu nu xi rho sigma tau phi chi psi omega pi".split())
SYMBOLS = {"lam": r"\lambda", "inf": r"\infty", "cov": r"\Sigma", **{name: rf"\{name}" for name in GREEK}}
FUNCTIONS = {
    **{name: rf"\{name}" for name in "log sin cos tan sinh cosh tanh det min max zeta phi Gamma Phi".split()},
    **{name: rf"\mathrm{{{name}}}" for name in "asinh atan erf erfc B".split()}, "I": "I", "K": "K", "F": "F", "H": "H",
    **{name: rf"\mathrm{{{name}}}" for name in "Normal StudentT Bernoulli Poisson NegativeBinomial Wiener".split()},
}  # fmt: skip
NOTES = {  # on what not every reader knows by its letter
    "phi Phi": r"{math}`\phi` and {math}`\Phi` are the standard normal density and distribution function",
    "phi": r"{math}`\phi` is the standard normal density",
    "Phi": r"{math}`\Phi` is the standard normal distribution function",
    "B": r"{math}`\mathrm{B}` is the beta function", "zeta": r"{math}`\zeta` is Riemann's zeta function",
    "I": "{math}`I` is the modified Bessel function of the first kind",
    "K": "{math}`K` is the modified Bessel function of the second kind",
    "hyp2f1": "{math}`{}_2F_1` is Gauss's hypergeometric function",
}  # fmt: skip
OPERATORS = {
    ast.Lt: "<", ast.LtE: r"\le", ast.Gt: ">", ast.GtE: r"\ge", ast.Eq: "=", ast.NotEq: r"\ne", ast.Add: "+", ast.Sub: "-",
    ast.And: r"\text{ and }", ast.Or: r"\text{ or }",
}  # fmt: skip
DOMAINS = {
    "real": r"x \in \mathbb{R}", "nonnegative": r"x \ge 0", "positive": "x > 0", "unit": r"0 \le x \le 1",
    "integer": r"x \in \mathbb{Z}", "nonnegative integer": r"x = 0, 1, 2, \dots", "positive integer": r"x = 1, 2, \dots",
    "vector": r"x \in \mathbb{R}^{\mathrm{dim}}", "nonnegative integer vector": r"x_i = 0, 1, 2, \dots",
    "simplex": r"x_i \ge 0, \; \sum_i x_i = 1",
}  # fmt: skip
CONDITION, SUM, NEGATIVE, PRODUCT, POWER, ATOM = range(6)  #: how closely an expression holds together


def brackets(text: str) -> str:
    return rf"\left({text}\right)"


def letter(name: str) -> tuple[str, list[str]]:
    """The letter or the word of a name, and its subscripts: of ``alpha_1``, ``mu2`` and ``x_points``."""
    head, *rest = name.split("_")
    if (numbered := re.fullmatch(r"([a-zA-Z]+)(\d+)", head)) is not None:
        head, rest = numbered[1], [numbered[2], *rest]
    word = SYMBOLS.get(head) or (head if len(head) == 1 else rf"\mathrm{{{head}}}")
    return word, [r if r.isdigit() or len(r) == 1 else rf"\mathrm{{{r}}}" for r in rest]


def symbol(name: str, *indices: str) -> str:
    """A name in a formula, with indices."""
    if name == "euler_gamma":
        return r"\gamma"
    word, below = letter(name)
    return word + (f"_{{{', '.join([*below, *indices])}}}" if below or indices else "")


def without_sign(node: ast.expr) -> ast.expr | None:
    """A product or a quotient that begins with a minus, without it; None where it does not."""
    if isinstance(node, ast.UnaryOp):
        return node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        if (left := without_sign(node.left)) is not None:
            return ast.BinOp(left, node.op, node.right)
    return None


def over_and_under(node: ast.expr) -> tuple[ast.expr, ast.expr | None]:
    """The numerator of a product of quotients, ``a / b * c / d``, and its denominator, if it has one."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div))):
        return node, None
    over, under = over_and_under(node.left)
    if isinstance(node.op, ast.Mult):
        return ast.BinOp(over, ast.Mult(), node.right), under
    return over, node.right if under is None else ast.BinOp(under, ast.Mult(), node.right)


def ends_openly(node: ast.expr) -> bool:
    """Whether what is written behind would seem to belong to its last part, a sum or a case."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, (ast.Div, ast.Pow)):
        return ends_openly(node.right)
    if isinstance(node, ast.UnaryOp):
        return ends_openly(node.operand)
    return isinstance(node, ast.IfExp) or (isinstance(node, ast.Call) and node.func.id in ("Sum", "Product"))


class Printer:
    """Prints the trees of one formula.

    Parameters
    ----------
    vectors : collection of str
        Those arguments that are vectors.
    """

    def __init__(self, vectors: Collection[str]):
        self.vectors = vectors
        self.small = 0  # in an exponent, where a quotient is a / b

    def of(self, node: ast.expr, least: int = CONDITION) -> str:
        """The tree in brackets if it holds together less closely than `least`."""
        text, closeness = getattr(self, type(node).__name__)(node)
        return text if closeness >= least else brackets(text)

    def raised(self, node: ast.expr) -> str:
        """The tree as an exponent or an index."""
        self.small += 1
        try:
            return self.of(node)
        finally:
            self.small -= 1

    def left(self, node: ast.expr, least: int) -> str:
        """The tree where something is written behind it."""
        return brackets(self.of(node)) if ends_openly(node) else self.of(node, least)

    def Constant(self, node: ast.Constant) -> tuple[str, int]:
        if isinstance(node.value, complex):
            return ("" if node.value == 1j else f"{node.value.imag:g}") + r"\mathrm{i}", PRODUCT
        return f"{node.value:g}", ATOM

    def Name(self, node: ast.Name) -> tuple[str, int]:
        return symbol(node.id), ATOM

    def Subscript(self, node: ast.Subscript) -> tuple[str, int]:
        return symbol(node.value.id, self.raised(node.slice)), ATOM

    def UnaryOp(self, node: ast.UnaryOp) -> tuple[str, int]:
        return f"-{self.of(node.operand, PRODUCT)}", NEGATIVE

    def BinOp(self, node: ast.BinOp) -> tuple[str, int]:
        if isinstance(node.op, (ast.Add, ast.Sub)):
            right = self.of(node.right, PRODUCT if isinstance(node.op, ast.Sub) else SUM)
            right = brackets(right) if right.startswith("-") else right
            return f"{self.left(node.left, SUM)} {OPERATORS[type(node.op)]} {right}", SUM
        if (positive := without_sign(node)) is not None:
            return f"-{self.of(positive, PRODUCT)}", NEGATIVE
        if isinstance(node.op, ast.Pow):
            return self.power(node), POWER
        if isinstance(node.op, ast.MatMult):
            return self.matrices(node), PRODUCT
        if isinstance(node.op, ast.Div):
            return self.quotient(node), PRODUCT if self.small else POWER
        left, right = self.left(node.left, PRODUCT), self.of(node.right, PRODUCT)
        between = r"\cdot" if right[0].isdigit() else r"\,"
        return rf"{left} {between} {right}", PRODUCT

    def quotient(self, node: ast.BinOp) -> str:
        top, below = over_and_under(node)
        if self.small:
            return f"{self.left(top, PRODUCT)} / {self.of(below, POWER)}"
        return rf"\frac{{{self.of(top)}}}{{{self.of(below)}}}"

    def power(self, node: ast.BinOp) -> str:
        base, exponent = node.left, self.raised(node.right)
        if isinstance(base, ast.Call) and base.func.id in FUNCTIONS:
            return self.called(base, f"^{{{exponent}}}")
        return f"{self.of(base, ATOM)}^{{{exponent}}}"

    def matrices(self, node: ast.BinOp) -> str:
        factors = [node.right]
        while isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.MatMult):
            node = node.left
            factors.insert(0, node.right)
        is_vector = any(isinstance(n, ast.Name) and n.id in self.vectors for n in ast.walk(node.left))
        first = self.of(node.left, ATOM) + (r"^{\top}" if is_vector else "")
        return r" \, ".join([first, *(self.of(f, POWER) for f in factors)])

    def BoolOp(self, node: ast.BoolOp) -> tuple[str, int]:
        return OPERATORS[type(node.op)].join(self.of(v) for v in node.values), CONDITION

    def Compare(self, node: ast.Compare) -> tuple[str, int]:
        rest = (f"{OPERATORS[type(op)]} {self.of(v, SUM)}" for op, v in zip(node.ops, node.comparators, strict=True))
        return " ".join([self.of(node.left, SUM), *rest]), CONDITION

    def IfExp(self, node: ast.IfExp) -> tuple[str, int]:
        rows, last = [], node
        while isinstance(last, ast.IfExp):
            rows.append(rf"{self.of(last.body)} & \text{{if }} {self.of(last.test)}")
            last = last.orelse
        rows.append(rf"{self.of(last)} & \text{{otherwise}}")
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}", CONDITION

    def Call(self, node: ast.Call) -> tuple[str, int]:
        name, arguments = node.func.id, node.args
        if name in BINDING_FUNCTIONS:
            return self.binding(name, *arguments), PRODUCT
        if name == "exp" and len(ast.unparse(arguments[0])) <= 16:
            return f"e^{{{self.raised(arguments[0])}}}", POWER
        if name == "factorial":
            return f"{self.of(arguments[0], ATOM)}!", POWER
        if name == "inv":
            return f"{self.of(arguments[0], ATOM)}^{{-1}}", POWER
        return self.called(node), ATOM

    def called(self, node: ast.Call, power: str = "") -> str:
        """A function's value, or its power."""
        name, arguments = node.func.id, [self.of(a) for a in node.args]
        match name:
            case "abs":
                return rf"\left|{arguments[0]}\right|"
            case "floor":
                return rf"\left\lfloor {arguments[0]} \right\rfloor"
            case "sqrt":
                return rf"\sqrt{{{arguments[0]}}}"
            case "binomial":
                return rf"\binom{{{arguments[0]}}}{{{arguments[1]}}}"
            case "hyp2f1":
                return rf"{{}}_2F_1\left({arguments[0]}, {arguments[1]}; {arguments[2]}; {arguments[3]}\right)"
            case "I" | "K":
                return rf"{name}_{{{self.raised(node.args[0])}}}{power}{brackets(arguments[1])}"
        return FUNCTIONS.get(name, rf"\{name}") + power + brackets(", ".join(arguments))

    def binding(self, name: str, body: ast.expr, variable: ast.expr, *ends: ast.expr) -> str:
        over, inside = self.of(variable), self.of(body, PRODUCT)
        if name == "Integral":
            return rf"\int_{{{self.raised(ends[0])}}}^{{{self.raised(ends[1])}}} {inside} \, \mathrm{{d}}{over}"
        sign = r"\sum" if name == "Sum" else r"\prod"
        if not ends:
            return rf"{sign}_{{{over}}} {inside}"
        return rf"{sign}_{{{over} = {self.raised(ends[0])}}}^{{{self.raised(ends[1])}}} {inside}"

    def definition(self, one: Definition) -> str:
        """What a name stands for."""
        if isinstance(one.value, ast.Call) and one.value.func.id == "Root":
            equation, _, low, high = one.value.args
            if isinstance(equation, ast.BinOp) and isinstance(equation.op, ast.Sub):
                equation, zero = equation.left, self.of(equation.right)
            else:
                zero = "0"
            return f"{self.of(equation)} = {zero}, \\; {self.of(low)} < {symbol(one.name)} < {self.of(high)}"
        return f"{symbol(one.name, *([one.index] if one.index else []))} = {self.of(one.value)}"


def support(domain: str, test: ast.expr | None, printer: Printer) -> str:
    """Where x lies, by its domain and the condition of the formula; "" where there is nothing to say."""
    within = DOMAINS.get(" ".join(w for w in domain.split() if w != "real") or "real", "")
    if test is None:
        return within
    of_x = isinstance(test, ast.Compare) and ast.unparse(test.left) == "x" and len(test.ops) == 1
    if domain.endswith(" integer") and of_x and isinstance(test.ops[0], (ast.Lt, ast.LtE)):
        last = test.comparators[0]
        last = ast.BinOp(last, ast.Sub(), ast.Constant(1)) if isinstance(test.ops[0], ast.Lt) else last
        first = within.partition(",")[0]
        return f"{first}, 1" if ast.unparse(last) == "1" else rf"{first}, \dots, {printer.of(last)}"
    between = isinstance(test, ast.Compare) and ast.unparse(test.comparators[0]) == "x"
    return printer.of(test) if domain == "real" or between else rf"{within}, \; {printer.of(test)}"


def equations(source: str) -> list[str]:
    """The equations of a sequence model, from the entry `model` of its comment."""
    found, lines = "", iter(re.findall(r"^// ?(.*)$", source.partition("__device__")[0], re.MULTILINE))
    for line in lines:
        if line.startswith("model: "):
            found = line.removeprefix("model: ")
        elif found and re.match(r"[a-z]+: |$", line):
            break
        elif found:
            found += f"    {line}"
    return re.split(r"\s{2,}", found)


def equation(text: str) -> str:
    """A line such as ``y[t] ~ Normal(mu, sigma)``."""
    left, relation, right = re.split(r" ([~=]) ", text, maxsplit=1)
    printer, sides = Printer(()), (ast.parse(side, mode="eval").body for side in (left, right))
    told = [", ".join(printer.of(e) for e in (side.elts if isinstance(side, ast.Tuple) else [side])) for side in sides]
    return " ".join([told[0], {"~": r"\sim", "=": "="}[relation], told[1]])


def notes(trees: list[ast.expr]) -> str:
    """A sentence on the functions in some trees."""
    called = {n.func.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    if {"phi", "Phi"} <= called:
        called = called - {"phi", "Phi"} | {"phi Phi"}
    said = [note for name, note in NOTES.items() if name in called]
    return f"Here {' and '.join(said)}." if said else ""


def in_lines(definitions: Iterable[str]) -> list[str]:
    """Definitions behind one another, as many in a line as there is place for on a page."""
    lines: list[str] = []
    for one in definitions:
        if lines and len(lines[-1]) + len(one) < 230:
            lines[-1] += rf", \qquad {one}"
        else:
            lines.append(one)
    return lines


def counts(trees: list[ast.expr], vectors: Collection[str]) -> bool:
    """Whether it matters which component of a vector is the first."""
    taken = [n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Subscript) and n.value.id in vectors]
    return any(not isinstance(n.slice, ast.Name) or n.slice.id == "x" for n in taken)


def shown(thing: Any, domains: dict[str, str]) -> list[str]:
    """The lines of a page with the formula of a density or a covariance function; none where there is no formula.

    Parameters
    ----------
    thing : Density or Covariance
    domains : dict
        Argument -> domain, what stands before the parameters first.
    """
    if not thing.formula:
        return []
    formula = parse(thing.formula, [*domains, "dim"])
    value, definitions = formula.value, formula.definitions
    printer = Printer({name for name, domain in domains.items() if {"vector", "simplex", "ordered"} & {*domain.split()}})
    head, where = f"k({', '.join(map(symbol, domains))})", ""
    if "x" in domains:
        given = "".join([r" \mid ", ", ".join(map(symbol, thing.parameters))] if thing.parameters else [])
        head = rf"\mathrm{{P}}(X = x{given})" if thing.discrete else f"f(x{given})"
        zero = isinstance(value, ast.IfExp) and isinstance(value.orelse, ast.Constant) and value.orelse.value == 0
        where = support(domains["x"], value.test if zero else None, printer)
        value = value.body if zero else value
    said = [f"for {{math}}`{where}`"] * bool(where) + ["where"] * bool(definitions)
    lines = ["```{math}", f"{head} = {printer.of(value)}", "```", ""]
    lines += [f"{', '.join(said)}{'' if definitions else '.'}", ""] if said else []
    for line in in_lines(map(printer.definition, definitions)):
        lines += ["```{math}", line, "```", ""]
    trees = [formula.value, *(d.value for d in definitions)]
    said = [notes(trees), "Components are numbered from 0." if counts(trees, printer.vectors) else ""]
    return lines + ([" ".join(filter(None, said)), ""] if any(said) else [])
