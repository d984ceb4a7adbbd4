"""Separation by dependence: it moves work out of the inner loop, and never changes a result."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from runtimes import run
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.kernels.separate import separate
from gpustats.kernels.separated import ROW, SET
from gpustats.language.device_function import parse
from gpustats.language.library import library
from gpustats.language.printer import Printer


def separated(body, arguments="real x, real a, real b", sets=("a", "b"), helpers=""):
    """(what is computed once a set, once a row, for every entry) of a function, as C."""
    function = parse(f"{helpers} real f_logpdf({arguments}) {{ {body} }}", library.resolve)
    resolve = lambda name: function.functions.get(name) or library.resolve(name)  # noqa: E731
    names = [p.name for p in function.density.parameters if p.name != "dim"]
    parts = separate(function.density, {n: SET if n in sets else ROW for n in names}, resolve)
    text = parts.print(Printer())
    pieces = {name: "" for name in ("prepare_set", "prepare_row", "evaluate")}
    for piece in text.split("DEVICE ")[1:]:
        head, _, code = piece.partition("{")
        pieces[next(name for name in pieces if name in head)] += code.partition("\n//")[0]  # up to the next part's comment
    return tuple(pieces.values())


def test_parameters_and_observations_are_separated():
    per_set, per_row, rest = separated("return lgamma(a) + exp(x) * sqrt(b) - log(a * x);")
    assert "lgamma(a)" in per_set and "sqrt(b)" in per_set and "x" not in per_set
    assert "exp(x)" in per_row and "a" not in per_row.replace("real", "").replace("return", "")
    assert "lgamma" not in rest and "sqrt" not in rest and "exp" not in rest and "log(" in rest


def test_equal_subexpressions_are_computed_once():
    per_set, _, rest = separated("return x * log(a) + (x > 0 ? log(a) : 2 - x * log(a));")
    assert per_set.count("log(a)") == 1 and "log" not in rest


def test_loops_over_parameters_move_whole():
    body = "real s = 0; for (int i = 0; i < 5; i++) s += pow(a, i); return s * x;"
    per_set, _, rest = separated(body)
    assert "for" in per_set and "pow" in per_set and "for" not in rest


def test_loops_over_vectors_move_whole():
    body = "real s = 0; for (int i = 0; i < dim; i++) s += exp(a[i]); return x - log(s);"
    per_set, _, rest = separated(body, "real x, const real *a, int dim", ("a",))
    assert "log(s)" in per_set and "for" not in rest and "log" not in rest


def test_loops_over_vector_observations_move_too():
    body = "real s = 0; for (int i = 0; i < dim; i++) s += log(x[i]); return a * s;"
    _, per_row, rest = separated(body, "const real *x, real a, int dim", ("a",))
    assert "log(x[i])" in per_row and "for" not in rest


def test_loops_whose_end_the_data_decide_run_ahead_behind_their_guard():
    body = "if (a > dim) return 0; real s = 0; for (int i = 0; i < (int)a; i++) s += p[i]; return x * s;"
    per_set, _, rest = separated(body, "real x, real a, const real *p, int dim", ("a", "p"))
    assert "p[" in per_set.partition("if (!(a > dim))")[2] and "p[" not in rest


def test_loops_over_both_stay_and_lose_what_they_can():
    body = "real s = 0; for (int i = 0; i < 5; i++) s += x * a + exp(a) * i; return s;"
    per_set, _, rest = separated(body)
    assert "exp(a)" in per_set and "for" in rest and "exp" not in rest


def test_variables_that_depend_on_both_stay():
    per_set, per_row, rest = separated("real t = log(a); t += x; t *= log(b); return t * log(a);")
    assert "t +=" in rest and "t *=" in rest and "+=" not in per_set + per_row
    assert "log(b)" in per_set


def test_reassigned_variables_keep_their_order():
    assert separated_value(
        "real t = log(a); real s = t * x; t = log(b); return s + t;", 2.0, 3.0, 5.0
    ) == pytest.approx(2 * np.log(3) + np.log(5))


def separated_value(body, x, a, b):
    density = gs.register(f"real f_logpdf(real x, real a, real b) {{ {body} }}", replace=True)
    return density.logpdf(np.full((3, 1), x), np.full(2, a), b)[0, 0]


def test_early_returns_stay_while_work_after_them_moves():
    body = "if (a < 0) return log(x); real t = lgamma(a); return t * x;"
    per_set, _, rest = separated(body)
    assert "return" in rest.partition("lgamma")[0] and "lgamma(a)" in per_set
    assert separated_value(body, 2.0, -1.0, 0.0) == pytest.approx(np.log(2))
    assert separated_value(body, 2.0, 3.5, 0.0) == pytest.approx(2 * 1.2009736023470743)


def test_conditions_on_parameters_are_evaluated_once():
    per_set, _, rest = separated("if (exp(a) > 2 && b < 1) return x; return -x;")
    assert "exp(a)" in per_set and "exp" not in rest


def test_places_that_the_data_decide_are_read_where_they_are_known():
    per_set, per_row, rest = separated("return log(p[(int)x]);", "real x, const real *p, int dim", ("p",))
    assert "p[" in rest and "p[" not in per_set + per_row
    per_set, per_row, rest = separated(
        "return x < 0 ? 0 : log(p[(int)a]) * x;", "real x, real a, const real *p, int dim", ("a", "p")
    )
    assert "log(p[min(max(" in per_set and "p[" not in rest  # a may lie outside p where x < 0: it reads its nearest element


def test_helpers_and_densities_are_separated_in_turn():
    helpers = "real inner(real x, real s) { return x / s - log(s) + lgamma(x); }"
    per_set, per_row, rest = separated("return a * inner(x, b);", helpers=helpers)
    assert (
        "log(s)" in per_set
        and "lgamma(x)" in per_row
        and "log" not in rest.replace("logpdf", "")
        and "lgamma" not in rest
    )


SERIES = "real series(real q) { real s = 0, t = 1; while (t > 1e-12) { s += t; t *= q; } return s; }"
#: A helper that has no end at q = 1, behind a condition that keeps it from being called there: 2 m x at q = 0.5, 0 at q = 1.
GUARDS = {
    "branch": "real y = 0; if (q < 1) y = series(q) * m; return y * x;",
    "branch of a local": "if (q < 1) { real y = series(q); return y * x * m; } return 0;",
    "statements of a branch": "real y = 0; if (q < 1) { real t = q; while (t < 1) t *= 2; y = 2 * t * m; } return y * x;",
    "nested branches": "if (m > 0) if (q < 1) { if (m > -1) return series(q) * x * m; } return 0;",
    "choice": "return (q < 1 ? series(q) : 0) * x * m;",
    "choice of mixed values": "return q < 1 ? series(q) * x * m : 0;",
    "and": "return q < 1 && series(q) * x > 0 ? 2 * m * x : 0;",
    "or": "return q >= 1 || series(q) * x < 0 ? 0 : 2 * m * x;",
    "early return": "if (q >= 1) return 0; return series(q) * x * m;",
    "early returns": "if (m < 0) return 1; else if (q >= 1) return 0; return series(q) * x * m;",
    "loop behind a return":
        "if (q >= 1) return 0; real s = 0, t = 1; for (int i = 0; t > 1e-12; i++) { s += t; t *= q; } return s * x * m;",
    "name of a condition": "int open = q < 1; real y = 0; if (open) y = series(q) * x * m; return y;",
    "reassigned condition": "real r = q; if (r >= 1) return 0; r = 0; real s = series(q) + r; return s * x * m;",
    "a value in each branch":
        "real y; if (q >= 1) return 0; if (q > 0.25) y = series(q); else y = 1; real z = y * m; return z * x;",
    "condition on both": "if (q * x < x) return series(q) * x * m; return 0;",
    "turn of a loop": "real y = 0; for (int i = 0; i < (q < 1 ? 1 : 0); i++) y += series(q) * x * m; return y;",
    "helper": "return q < 1 ? both(x, q) * m : 0;",
    "helper with a guard": "return guarding(x, q) * m;",
    "argument of a helper": "return q < 1 ? plain(x * m, series(q)) : 0;",
    "argument of a helper, condition on both": "return q * x < x ? plain(x * m, series(q)) : 0;",
    "arguments within arguments": "return q * x < x ? plain(x, plain(m, series(q))) : 0;",
}
HELPERS = f"""{SERIES}
real both(real x, real q) {{ return series(q) * x; }}
real plain(real x, real y) {{ return x * y * exp(log(y) - log(y)); }}
real guarding(real x, real q) {{ if (q >= 1) return 0; return both(x, q); }}"""


def test_what_one_stage_must_not_compute_may_get_into_the_other():
    density = gs.register("""
    // f: what it takes is checked first, and the loop stays behind that check
    // x: positive vector    a: real
    real same(const real *x, real y, int dim) { int n = 0; while (n > 0) n++; return y; }
    real f_logpdf(const real *x, real a, int dim) { real y = same(x, 1.0, dim); return a * y; }
    """)
    x, a = np.array([[1.0, 2.0], [-1.0, 2.0]]), np.array([3.0, 4.0])
    np.testing.assert_array_equal(density.logpdf(x[:, None], a), [[3, 4], [-np.inf, -np.inf]])


@pytest.mark.parametrize("kind", some(GUARDS, 4))
def test_what_may_have_no_end_stays_behind_its_guards(kind):
    function = parse(f"{HELPERS} real f_logpdf(real x, real q, real m) {{ {GUARDS[kind]} }}", library.resolve)
    parts = separate(function.density, {"x": ROW, "q": SET, "m": SET}, function.functions.get).print(Printer())
    ahead = [part for part in parts.split("DEVICE ") if "_prepare_" in part.partition("{")[0] and "both" not in part[:9]]
    outermost = re.findall(r"^    (?:\S.*(?:f_series|f_both_prepare_set)\(|for).*", "".join(ahead), re.M)
    assert all(re.search(r"\?|&&|\|\|", line) for line in outermost)
    density = gs.register(f"{HELPERS} real f_logpdf(real x, real q, real m) {{ {GUARDS[kind]} }}", replace=True)
    x, q = np.array([0.5, 1.5, 3.0]), np.array([0.5, 1.0])
    want = np.stack([x, 0 * x], 1)
    np.testing.assert_allclose(density.logpdf(x[:, None], q, 0.5), want, rtol=1e-11)
    np.testing.assert_allclose(density.logpdf(x, q[:, None], 0.5), want.T, rtol=1e-11)
    np.testing.assert_allclose(density.logpdf(x[:2], q, 0.5), [0.5, 0], rtol=1e-11)
    value, gradient = density.loglik_and_grad(x, q[:, None], 0.5, wrt=("q", "m"))
    np.testing.assert_allclose(value, [5, 0], rtol=1e-11)
    if kind not in ("and", "or"):
        np.testing.assert_allclose(gradient["q"][:, 0], [10, 0], rtol=1e-9)
    np.testing.assert_allclose(gradient["m"], 10, rtol=1e-9)


@THOROUGH
def test_derivatives_end_where_no_set_of_parameters_lets_the_loop_run():
    """Intel's compiler ran the loop all the same where what its branch leaves out was read without a value."""
    code = f"""
    import numpy as np
    import gpustats as gs

    density = gs.register('{SERIES}'
        'real f_logpdf(real x, real q) {{ if (q > 0 && q < 1) {{ return series(q); }} return -x * q; }}')
    print(*density.loglik_and_grad(np.array([0.5, 1.5]), 1.0, wrt="q"))
    value, gradient = density.loglik_and_grad(np.array([0.5, 1.5]), np.array([[0.5], [2.0]]), wrt="q")
    print(*np.round(value, 6), *np.round(gradient["q"][:, 0], 6))
    """
    assert run(code, seconds=120).splitlines() == ["-2.0 {'q': -2.0}", "4.0 -4.0 8.0 -2.0"]


def test_what_is_computed_behind_guards_has_a_value_anyway():
    per_set, _, _ = separated(GUARDS["a value in each branch"], "real x, real q, real m", ("q", "m"), HELPERS)
    assert "real y = 0;" in per_set and "_set set = {0};" in per_set
    for kind, body in GUARDS.items():
        density = gs.register(f"{HELPERS} real f_logpdf(real x, real q, real m) {{ {body} }}", replace=True)
        declared = re.findall(r"^    \w+_results call\w*;", density.kernel_source("gradient"), re.M)
        assert not declared, f"{kind}: {declared}"


def test_what_may_have_no_end_moves_with_its_guards():
    for body in ("if (q >= 1) return 0; return series(q) * x;", "return q < 1 ? series(q) * x : x;"):
        per_set, _, rest = separated(body, "real x, real q", ("q",), SERIES)
        assert "series" in per_set and "series" not in rest
    per_set, per_row, rest = separated("return q < 1 ? series(x) * q : q;", "real x, real q", ("q",), SERIES)
    assert "for" not in per_set + per_row and "for" in rest
    per_set, _, rest = separated("return series(q) * x;", "real x, real q", ("q",), SERIES)
    assert "series" in per_set and "if" not in per_set and "series" not in rest


def test_loops_that_end_move_out_of_branches():
    for loop in ("int i = 0; i < 8; i++", "int i = dim; i > 0; i--", "int i = 0; i < 1000 && s < a; i += 2"):
        helper = f"real sums(real a, int dim) {{ real s = 0; for ({loop}) s += a / 2; return s; }}"
        body = "return x[0] > 1 ? x[0] * sums(a, dim) : 0;"
        per_set, _, rest = separated(body, "const real *x, real a, int dim", ("a",), helper)
        assert "sums" in per_set and "sums" not in rest


def test_outside_of_the_domains_nothing_runs_that_has_an_end_inside():
    density = gs.register(
        f"// f: a series\n// x: positive    q: positive\n{SERIES}\n"
        "real f_logpdf(real x, real q) { return series(1 / (1 + q)) - series(1 / (1 + x)); }"
        "real f_logsf(real x, real q) { return -x * series(1 / (1 + q)) / (1 + 1 / q); }", replace=True,
    )  # fmt: skip
    x, q = np.array([-1.0, 0.0, 1.0, np.nan]), np.array([-1.0, 0.0, 1.0, np.nan])
    want = np.full((4, 4), np.nan)
    want[:3, 2] = -np.inf, -np.inf, 0
    np.testing.assert_array_equal(density.logpdf(x[:, None], q), want)
    value, gradient = density.loglik_and_grad(x[2:3], q[:, None], wrt="q")
    np.testing.assert_array_equal(value, want[2])
    np.testing.assert_allclose(gradient["q"][:, 0], [np.nan, np.nan, -1, np.nan], rtol=1e-9)
    np.testing.assert_allclose(density.cdf(x[:3, None], q)[:, 2], [0, 0, 1 - np.exp(-1)], rtol=1e-11)
    assert np.isnan(density.cdf(1.0, -1.0))
    draws = gs.to_host(density.rvs(gs.to_device(q), size=(4,), rng=1))
    assert np.isnan(draws[[0, 1, 3]]).all() and draws[2] > 0
    mixture = gs.Mixture(density, x[2:3])
    assert mixture.loglik(np.log([0.5, 0.5]), q[2] * np.ones(2)) == 0
    assert np.isnan(mixture.loglik(np.log([0.5, 0.5]), np.array([1.0, -1.0])))


def test_what_two_branches_share_stays_behind_their_conditions():
    density = gs.register(
        f"{SERIES}\nreal f_logpdf(real x, real q, real m)"
        "{ return q < 1 ? (x > 1 ? sin(m * series(q)) : cos(m * series(q))) : m; }", replace=True,
    )  # fmt: skip
    _, gradient = density.loglik_and_grad(np.array([0.5, 1.5]), np.array([[0.5], [1.0]]), np.full((2, 1), 0.5), wrt="m")
    np.testing.assert_allclose(gradient["m"][:, 0], [2 * np.cos(1) - 2 * np.sin(1), 2], rtol=1e-9)


@pytest.mark.parametrize("loop", ["while (t > 1e-12)", "for (int i = 0; i < 1000 && t > 1e-12; i++)"])
def test_loops_on_both_sides_of_a_branch(loop):
    """Intel's compiler would take one side for all observations where the loops end together for them."""
    sides = (f"real s = 0, t = 1; {loop} {{ s += t; t *= q; }} y = {start} + s * x;" for start in (3, 5))
    body = "real y; if (x > 1) {{ {} }} else {{ {} }} return y;".format(*sides)
    density = gs.register(f"real f_logpdf(real x, real q) {{ {body} }}", replace=True)
    x = np.array([0.5, 1.5, 0.25, 2.0, 3.0])
    np.testing.assert_allclose(density.logpdf(x, 0.5), np.where(x > 1, 3, 5) + 2 * x, rtol=1e-11)


@pytest.mark.parametrize("result", ["1.0", "v"])
def test_a_loop_on_one_side_of_a_branch_and_calls_on_the_other(result):
    """Intel's compiler would take the side with the loop for all sets of parameters where one of them does."""
    density = gs.register(
        f"""
        real loop(real v, real q) {{ while (v > 1) {{ v *= q; }} return {result}; }}
        real called(real u)
        {{
            real r = 0;
            for (int i = 0; i < (int)u; i++) {{ r = u * u; }}
            if (r > 0.25) {{ r *= exp(-r); }}
            return r;
        }}
        real f_logpdf(real x, real q, real m, real z)
        {{
            if (q < 1) return loop(3, q);
            real w = called(m);
            return x + w + (1 + called(q)) - tanh(z);
        }}
        """, replace=True,
    )  # fmt: skip
    x, q, m, z = np.arange(5.0), np.array([0.75, 0.25, 1.5]), np.array([3.0, 2, 2]), np.array([1.0, 1, 4])
    other = x + 4 * np.exp(-4) + 1 + 2.25 * np.exp(-2.25) - np.tanh(4)
    ends = np.ones(2) if result == "1.0" else np.array([3 * 0.75**4, 0.75])
    want = np.column_stack([np.tile(ends, (5, 1)), other])
    np.testing.assert_allclose(density.logpdf(x[:, None], q, m, z), want, rtol=1e-14)
    np.testing.assert_allclose(density.logpdf(x, q[:, None], m[:, None], z[:, None]), want.T, rtol=1e-14)


@pytest.mark.parametrize("helper, call", [
    ("real part(real e, const real *m, int dim) { return e * exp(m[0]) + m[dim - 1]; }", "part(a, x, dim)"),
    ("real part(real e, const real *x, const real *b, int dim) { return e * exp(x[0]) + b[2]; }", "part(a, x, x, dim)"),
    ("real part(real e, const real *b, const real *x, int dim) { return e * exp(b[0]) + x[2]; }", "part(a, x, x, dim)"),
])  # fmt: skip
def test_helpers_have_names_of_their_own_for_vectors(helper, call, layout):
    """GPUs read the vectors of observations from shared memory, which is another type in OpenCL."""
    text = f"{helper}\nreal f_logpdf(const real *x, real a, int dim) {{ return {call}; }}"
    density = gs.register(text, replace=True)
    x, a = np.random.default_rng(0).normal(size=(50, 3)), np.arange(4.0)
    np.testing.assert_allclose(density.logpdf(x[:, None], a), a * np.exp(x[:, :1]) + x[:, 2:], rtol=1e-13)


def test_one_function_separated_in_several_ways():
    density = gs.register(
        """
        real inner(real x, real s) { return exp(x) + sqrt(s); }
        real middle(real x, real s) { return inner(x, s); }
        real f_logpdf(real x, real a)
        {
            real mixed = x + a;
            return inner(x, a) + middle(x, a) + inner(mixed, a) + inner(mixed, 4) + inner(a, x) + inner(0, a);
        }
        """
    )
    x, a = np.array([[1.0], [2.0], [3.0]]), np.array([4.0, 9.0])
    want = 2 * (np.exp(x) + np.sqrt(a)) + 2 * np.exp(x + a) + np.sqrt(a) + 2 + np.exp(a) + np.sqrt(x) + 1 + np.sqrt(a)
    np.testing.assert_allclose(density.logpdf(x, a), want, rtol=1e-14)


@pytest.mark.parametrize("name", ["normal", "gamma", "student_t", "negative_binomial", "beta"])
def test_built_in_densities_leave_no_parameter_work_to_the_entries(name):
    source = gs.densities[name].kernel_source("table", "float64", "cuda")
    evaluate = source[source.index(f"{name}_log{'pmf' if gs.densities[name].discrete else 'pdf'}_evaluate(") :]
    evaluate = evaluate[: evaluate.index("\n}\n")]
    assert "lgamma" not in evaluate and "log_gamma" not in evaluate and "log(sigma" not in evaluate
    assert "// Whatever depends on the parameters alone: once per block." in source


# ---- random programs, as C and as Python; every value in them is exact


class Program:
    """Writes the same random function in both languages."""

    def __init__(self, draw):
        self.draw, self.count = draw, 0

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def expression(self, names, depth=2):
        kind = self.pick("name", "number") if depth == 0 else self.pick(
            "name", "sum", "product", "sum", "negative", "function", "choice"
        )  # fmt: skip
        if kind == "name":
            name = self.pick(*names)
            return name, name
        if kind == "number":
            number = self.pick("0.5", "1.5", "2.0", "3", "1")
            return number, number
        left, right = (self.expression(names, depth - 1) for _ in range(2))
        if kind == "sum":
            operator = self.pick("+", "-")
            return tuple(f"({a} {operator} {b})" for a, b in zip(left, right))
        if kind == "product":
            return tuple(f"({a} * {b})" for a, b in zip(left, right))
        if kind == "negative":
            return tuple(f"(-{a})" for a in left)
        if kind == "function":
            c, python = self.pick(("fmax", "max"), ("fmin", "min"))
            return f"{c}({left[0]}, {right[0]})", f"{python}({left[1]}, {right[1]})"
        c, python = self.condition(names)
        return f"({c} ? {left[0]} : {right[0]})", f"({left[1]} if {python} else {right[1]})"

    def condition(self, names):
        (a, pa), (b, pb) = (self.expression(names, 0) for _ in range(2))
        operator = self.pick("<", ">", "<=", ">=", "==", "!=")
        c, python = f"{a} {operator} {b}", f"{pa} {operator} {pb}"
        if self.draw(st.booleans()):
            (a, pa), word = self.expression(names, 0), self.pick(("&&", "and"), ("||", "or"))
            return f"({c} {word[0]} !({a} > 1))", f"({python} {word[1]} not ({pa} > 1))"
        return f"({c})", f"({python})"

    def whole(self, names):
        """An expression of small whole numbers, so that no product of several is ever rounded."""
        c, python = self.expression(names)
        return f"floor(fmax(fmin({c}, 9), -9))", f"floor(max(min({python}, 9), -9))"

    def block(self, names, indent, depth, length):
        """Statements, which may assign to the variables among `names` that begin with v."""
        names, c, python, pad = list(names), "", "", "    " * indent
        for _ in range(self.draw(st.integers(1, length))):
            mine = [n for n in names if n[0] == "v"]
            kind = self.pick("declare", "assign", "add", "if", "for", "return")
            if kind == "declare" or (kind in ("assign", "add") and not mine):
                value = self.whole(names)
                self.count += 1
                names.append(f"v{self.count}")
                c, python = c + f"{pad}real {names[-1]} = {value[0]};\n", python + f"{pad}{names[-1]} = {value[1]}\n"
            elif kind == "assign":
                name, value = self.pick(*mine), self.whole(names)
                c, python = c + f"{pad}{name} = {value[0]};\n", python + f"{pad}{name} = {value[1]}\n"
            elif kind == "add":
                name, value = self.pick(*mine), self.expression(names, 0)
                c, python = c + f"{pad}{name} += {value[0]};\n", python + f"{pad}{name} += {value[1]}\n"
            elif depth == 0:
                continue
            elif kind == "return":
                condition, value = self.condition(names), self.expression(names)
                c += f"{pad}if ({condition[0]}) return {value[0]};\n"
                python += f"{pad}if {condition[1]}: return {value[1]}\n"
            elif kind == "if":
                condition = self.condition(names)
                then, otherwise = (self.block(names, indent + 1, depth - 1, 2) for _ in range(2))
                c += f"{pad}if ({condition[0]}) {{\n{then[0]}{pad}}} else {{\n{otherwise[0]}{pad}}}\n"
                python += f"{pad}if {condition[1]}:\n{then[1]}{pad}else:\n{otherwise[1]}"
            else:
                bound = self.pick(("3", "3"), ("(int)fmin(fabs(a), 3)", "int(min(abs(a), 3))"), ("(int)x", "int(x)"))
                i = f"i{depth}"
                inside = self.block([*names, i], indent + 1, depth - 1, 2)
                c += f"{pad}for (int {i} = 0; {i} < {bound[0]}; {i}++) {{\n{inside[0]}{pad}}}\n"
                python += f"{pad}for {i} in range({bound[1]}):\n{inside[1]}"
        return c, python + f"{pad}pass\n", names

    def function(self, head, python_head, names):
        c, python, names = self.block(names, 1, 2, 5)
        value = self.whole(names)
        return f"{head}\n{{\n{c}    return {value[0]};\n}}\n", f"{python_head}:\n{python}    return {value[1]}\n"


@st.composite
def programs(draw):
    program = Program(draw)
    helper = program.function("real helper(real x, real a)", "def helper(x, a)", ["x", "a"])
    c, python, names = program.block(["x", "a", "b"], 1, 2, 5)
    calls = [f"helper({program.pick(*names)}, {program.pick(*names)})" for _ in range(2)]
    value = program.expression(names)
    c_value, python_value = (f"return {calls[0]} + {v} - {calls[1]}" for v in value)
    c = f"{helper[0]}\nreal random_logpdf(real x, real a, real b)\n{{\n{c}    {c_value};\n}}\n"
    python = f"{helper[1]}\ndef function(x, a, b):\n{python}    {python_value}\n"
    return c, python


POINTS = np.array([-2.0, -0.5, 0.0, 1.0, 1.5, 3.0])
ROLES = [roles for roles in itertools.product(("value", "row", "set"), repeat=3) if roles[0] != "value"]


@THOROUGH
@settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
)
@given(programs(), st.sampled_from(ROLES))
def test_random_programs_compute_what_python_does(program, roles):
    c, python = program
    scope = {"floor": np.floor}
    exec(python, scope)
    density = gs.register(c, replace=True)
    kinds = {"value": np.array(1.5), "row": POINTS, "set": POINTS[:5, None]}
    args = [kinds[role] for role in roles]
    want = np.vectorize(scope["function"], otypes=[float])(*np.broadcast_arrays(*args))
    np.testing.assert_array_equal(
        density.logpdf(*(a.T for a in np.atleast_2d(*args))), np.atleast_2d(want).T, err_msg=c
    )
    np.testing.assert_array_equal(density.loglik(*args), want.sum(-1), err_msg=c)
