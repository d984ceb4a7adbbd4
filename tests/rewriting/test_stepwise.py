"""Functions of sequences in three: start, steps of any number of elements at a time, and finish make what the function does."""

import math
import operator

import numpy as np
import pytest
from random_sequences import Writer
from thorough import some

import gpustats as gs
from gpustats.language import nodes as lang
from gpustats.rewriting.stepwise import NotStepwise, stepwise
from gpustats.rows.binding import Binding

OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": lambda a, b: a / b if b else math.nan, "<": operator.lt,
    ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "%": math.fmod,
}  # fmt: skip
MATH = {
    "isnan": math.isnan, "exp": math.exp, "tanh": math.tanh, "fabs": abs, "log1p": math.log1p, "fmax": max, "fmin": min,
    "min": min, "max": max, "log": math.log, "sqrt": math.sqrt, "isinf": math.isinf, "weighted": operator.mul,
}  # fmt: skip
CONSTANTS = {"NAN": math.nan, "HALF_LOG_2PI": 0.5 * math.log(2 * math.pi)}


class Returned(Exception):
    """End of a function, with its value."""


class Interpreter:
    """Evaluates functions in floats: what C means."""

    def __init__(self, functions):
        self.functions = functions

    def call(self, function, arguments):
        """Value of a function, or its several values as a list."""
        try:
            self.run(function.body, dict(zip([p.name for p in function.parameters], arguments, strict=True)))
        except Returned as end:
            return end.args[0]

    def run(self, body, values):
        for s in body:
            match s:
                case lang.Declare(value=None):
                    values.pop(s.name, None)  # and whoever reads it fails
                case lang.Declare() | lang.Assign():
                    values[s.name] = self.value(s.value, values)
                case lang.If():
                    self.run(s.then if self.value(s.condition, values) else s.otherwise, values)
                case lang.For():
                    self.run([s.start] if s.start else [], values)
                    while self.value(s.condition, values):
                        self.run([*s.body, *([s.step] if s.step else [])], values)
                case lang.Return():
                    raise Returned(self.value(s.value, values))

    def value(self, e, values):
        match e:
            case lang.Number():
                return int(e.text) if e.type == lang.INT else float(e.text)
            case lang.Name():
                return CONSTANTS[e.name] if e.name in CONSTANTS else values[e.name]
            case lang.Index():
                return float(values[e.array.name][self.value(e.subscript, values)])
            case lang.Cast():
                return (int if e.type == lang.INT else float)(self.value(e.operand, values))
            case lang.Unary():
                operand = self.value(e.operand, values)
                return not operand if e.operator == "!" else -operand
            case lang.Conditional():
                return self.value(e.then if self.value(e.condition, values) else e.otherwise, values)
            case lang.Binary(operator="&&" | "||"):
                left = self.value(e.left, values)
                return self.value(e.right, values) if bool(left) == (e.operator == "&&") else left
            case lang.Binary(operator="/", type="int"):
                return math.trunc(self.value(e.left, values) / self.value(e.right, values))
            case lang.Binary():
                return OPERATORS[e.operator](self.value(e.left, values), self.value(e.right, values))
            case lang.Call():
                arguments = [self.value(a, values) for a in e.arguments]
                if e.function.startswith("make_"):
                    return arguments
                own = self.functions.get(e.function)
                return self.call(own, arguments) if own else MATH[e.function.removeprefix("special_")](*arguments)
        raise AssertionError(e)


def bound(source, names=("y",), **more):
    return Binding(source, None, {n: gs.sequences([np.ones(2)]) for n in names} | more).row


def given(row, y, parameters):
    """Arguments of a function of one sequence, in their order."""
    left = iter(parameters)
    return [y if p.type == lang.VECTOR else len(y) if p.name == "dim" else next(left) for p in row.function.parameters]


def in_steps(row, split, y, parameters, cuts):
    """Value of a function through its steps, from one cut to the next."""
    run, n, own = Interpreter(row.functions), len(y), given(row, y, parameters)
    state = run.call(split.start, own) if split.start else []
    sums = [0.0] * len(split.sums)
    ends = [split.first, *sorted(c for c in cuts if split.first < c < n - split.left_out), n - split.left_out]
    for begin, end in zip(ends, ends[1:]):
        found = run.call(split.steps, [*own, begin, end, *state])
        state = found[: len(state)]
        sums = [a + b for a, b in zip(sums, found[len(state) :], strict=True)]
    return run.call(split.finish, [*own, *state, *sums])


def check(source, parameters, rng, lengths=(1, 2, 3, 17)):
    row = bound(source)
    split = stepwise(row.function, row.functions.get)
    for n in lengths:
        y = rng.normal(size=n)
        wanted = Interpreter(row.functions).call(row.function, given(row, y, parameters))
        for cuts in ((), range(n), rng.integers(0, n, 3)):
            found = in_steps(row, split, y, parameters, cuts)
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13, err_msg=source)
    return split


@pytest.mark.parametrize("seed", some(range(60), 6))
def test_random_functions(seed):
    rng = np.random.default_rng(seed)
    split = check(Writer(seed).source(), rng.normal(size=2), rng)
    assert split.sums


BODIES = {  # statements -> state, whole, sums
    "real s = 0; for (int t = 0; t < n; t++) s += a * y[t]; return s * b;": ((), (), ("s",)),
    "real s = 0; for (int t = 0; t < n; t++) s = s + a - y[t] - b; return s;": ((), (), ("s",)),
    "real s = 0; for (int t = 0; t < n; t++) s = s + s * a; return s;": (("s",), (), ()),
    "real s = 0, h = a; for (int t = 0; t < n; t++) { s += h; h = b * s; } return s;": (("s", "h"), (), ()),
    "real s = 0; for (int t = 0; t < n; t++) { if (s < 3) s += y[t]; } return s;": (("s",), (), ()),
    "real h = a, g = 2; for (int t = 0; t < n; t++) { g = h * y[t]; h = g + b; } return h;": (("h",), (), ()),
    "real h = a, g; for (int t = 0; t < n; t++) { g = h * y[t]; h = g + b; } return h + g;": (("h", "g"), (), ()),
    "real h = a; for (int t = 0; t < n; t++) h = b; h = a; return h + y[0] * 0;": None,
    "int k = 0, c = 0; real s = 0; for (int t = 0; t < n; t++) { c += 2; if (y[t] > 0) k = t; s += k * a; } return s + c;": (
        ("k",), ("k",), ("c", "s"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_state_and_sums(body):
    source = "__device__ real of_sequence(const real *y, int n, real a, real b) { " + body + " }"
    if BODIES[body] is None:
        with pytest.raises(NotStepwise, match="nothing is read"):
            check(source, (0.4, -0.7), np.random.default_rng(5))
        return
    split = check(source, (0.4, -0.7), np.random.default_rng(5))
    state, whole, sums = BODIES[body]
    assert {n.removesuffix("_before") for n in split.state} == set(state)
    assert {n.removesuffix("_before") for n in split.whole} == set(whole)
    assert {n.removesuffix("_added") for n in split.sums} == set(sums)


REFUSED = {
    "return a * y[0] + b;": "no loop",
    "real s = 0; for (int t = n - 1; t >= 0; t--) s += y[t]; return s * a * b;": "no loop",
    "real s = 0; int t = 0; while (t < n) { s += y[t]; t += 1; } return s * a * b;": "no loop",
    "real s = 0; for (int t = 0; t < n; t += 2) s += y[t]; return s * a * b;": "no loop",
    "real s = 0; for (int t = 0; t < n; t++) { if (y[t] > a) return b; s += y[t]; } return s;": "returns from within",
    """real m = 0, s = 0; for (int t = 0; t < n; t++) m += y[t]; for (int t = 0; t < n; t++) s += m * y[t];
    return a * s * b;""": "more than once",
    """real m = 0, s = 0; for (int t = n - 1; t >= 0; t--) m += y[t]; for (int t = 0; t < n; t++) s += m * y[t];
    return a * s * b;""": "more than once",
    "real s = 0; for (int t = 0; t < n; t++) for (int r = 0; r < n; r++) s += a; return 0 * s + b;": None,
    """real s = 0; if (a > 0) { real c = a; while (c < b) c = c * 2; for (int t = 0; t < n; t++) s += c; }
    return s;""": "may take any time",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_other_functions_are_refused(body):
    source = "__device__ real of_sequence(const real *y, int n, real a, real b) { " + body + " }"
    if REFUSED[body] is None:
        check(source, (0.4, -0.7), np.random.default_rng(5), (1, 3))
    else:
        row = bound(source)
        with pytest.raises(NotStepwise, match=REFUSED[body]):
            stepwise(row.function, row.functions.get)


def test_functions_that_are_called():
    source = """
    __device__ real inner(const real *y, int n, real c)
    {
        if (c < 0) return -1;
        real h = c, s = 0;
        for (int t = 0; t < n; t++) { s += h * y[t]; h = 0.5 * h + c; }
        return s;
    }
    __device__ real of_sequence(const real *y, int n, real a, real b) { return a * inner(y, n, b * b) + b; }"""
    rng = np.random.default_rng(8)
    split = check(source, (0.4, -0.7), rng)
    assert len(split.state) == len(split.sums) == 1
    assert check(source.replace("b * b", "b"), (0.4, -0.7), rng).state  # it returns before the loop, which is computed anyway


def test_models_of_series():
    """Those that are one loop; with the checks of their domains and a weight around them."""
    rng, apart = np.random.default_rng(11), {}
    names = "ar1 local_level garch exponential_smoothing_trend ma1 arma11 local_linear_trend hidden_markov"
    for name in names.split():
        model = gs.series[name]
        row = Binding(model, [2.0], {n: gs.sequences([np.ones(3)]) for n in model.sequences}).row
        split = stepwise(row.function, row.functions.get)
        parameters = rng.uniform(0.1, 0.9, len(model.parameters) + 1)
        y = rng.normal(size=25)
        y[[0, 7, 8]] = np.nan
        wanted = Interpreter(row.functions).call(row.function, given(row, y, parameters))
        assert np.isfinite(wanted)
        apart[name] = len(split.state), len(split.whole)
        np.testing.assert_allclose(in_steps(row, split, y, parameters, (1, 7, 8, 9, 20)), wanted, rtol=1e-12)
    assert apart["ar1"] == (3, 1) and apart["garch"] == (1, 0) and apart["hidden_markov"] == (2, 0)
