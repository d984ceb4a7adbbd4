"""How much there is to do for a long function: about twice as much for one of twice the length."""

import sys

import pytest
from thorough import THOROUGH

from gpustats.evaluation.gradient import gradient_of
from gpustats.evaluation.pointwise import Pointwise
from gpustats.kernels.code import PER_ROW, PER_SET, KernelCode, Operand
from gpustats.language.device_function import parse
from gpustats.language.library import library
from gpustats.language.printer import Printer
from gpustats.rewriting.checks import checked


def parameters(n, body):
    names = [f"p{i}" for i in range(n)]
    declared = ", ".join(f"real {name}" for name in names)
    return f"real long_logpdf(real x, {declared}) {{ {body(names)} }}"


LONG = {
    "a sum of many parameters": lambda n: parameters(
        n, lambda names: "return " + " + ".join(f"{p} * sin(x - {p})" for p in names) + ";"
    ),
    "many parameters, one after another": lambda n: parameters(
        n, lambda names: "real s = 0;" + "".join(f"s += exp(-{p} * x);" for p in names) + "return -s * s;"
    ),
    "many statements": lambda n: "real long_logpdf(real x, real m) { real s = 0;" + "".join(
        f"real v{i} = exp(-m * {i}.5) * x; s += v{i};" for i in range(n)
    ) + "return -s * s; }",
    "a chain of statements": lambda n: "real long_logpdf(real x, real m) { real v0 = x - m;" + "".join(
        f"real v{i + 1} = sin(v{i}) + x * m;" for i in range(n)
    ) + f"return -v{n}; }}",
    "one variable, assigned many times": lambda n: "real long_logpdf(real x, real m) { real s = x - m;" + "".join(
        "s = s * 0.5 + m;" for _ in range(n)
    ) + "return -s * s; }",
    "values without their signs, of an element": lambda n: "real long_logpdf(real x, const real *p, int dim) { return "
    + n // 4 * "fabs(" + "x * p[0]" + n // 4 * ")" + "; }",
    "helpers that call the last one twice": lambda n: "real h0(real x, real m) { return sin(x - m); }\n" + "".join(
        f"real h{i + 1}(real x, real m) {{ return h{i}(x, m) + h{i}(x + 1, m); }}\n" for i in range(n)
    ) + f"real long_logpdf(real x, real m) {{ return h{n}(x, m); }}",
}  # fmt: skip


def work(source):
    """How many functions are called to differentiate and separate a density, and how long the C of the result is."""
    definition = parse(source, library.resolve)
    functions = library.closure(definition.functions.values())
    function = checked(definition.density, definition.arguments, functions.get)
    count = 0

    def count_calls(frame, event, argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_calls)
    try:
        summed = gradient_of(Pointwise("long", function, definition.arguments, functions)).summed
        operands = [Operand(n, PER_SET if i else PER_ROW) for i, n in enumerate(summed.c_names)]
        code = KernelCode(summed.function, operands, summed.functions.get)
        printer = Printer()
        text = code.separated.print(printer) + "".join(map(printer.function, code.whole_functions))
    finally:
        sys.setprofile(before)
    return count, len(text)


@THOROUGH
@pytest.mark.parametrize("kind", LONG)
def test_twice_the_length_is_about_twice_the_work(kind):
    n = 8 if kind.startswith("helpers") else 40
    work(LONG[kind](2))  # what is read once
    (work_once, text_once), (work_twice, text_twice) = (work(LONG[kind](k)) for k in (n, 2 * n))
    assert text_twice < 2.4 * text_once
    assert work_twice < 2.8 * work_once
