"""Reverse sweeps through sequences: derivatives are those of forward mode, which other tests compare with references."""

import numpy as np
import pytest
from parts import step_by_step
from thorough import some

import gpustats as gs
from gpustats.rows import evaluator, passes

RNG = np.random.default_rng(8)
LENGTHS = [1, 2, 3, 40, 17, *RNG.integers(1, 30, 30).tolist()]
Y = [RNG.normal(size=n) for n in LENGTHS]
W = [RNG.uniform(0.5, 1.5, n) for n in LENGTHS]
BODIES = {
    "accumulator": "for (int t = 0; t < n; t++) total += a * y[t] * y[t] + b * w[t]; return total;",
    "recurrence": """real h = a; for (int t = 0; t < n; t++) { total += (y[t] - h) * (y[t] - h); h = a + b * h * w[t]; }
        return total;""",
    "swap": """real p = a, q = b; for (int t = 0; t < n; t++) { real s = p; p = 0.5 * q + y[t]; q = s * c; total += p * q; }
        return total + p - q;""",
    "last value": "real h = a; for (int t = 0; t < n; t++) h = b * h + c * y[t]; return log1p(h * h);",
    "product": "real h = 1; for (int t = 0; t < n; t++) h *= a + 0.1 * tanh(b * y[t]); return h * c;",
    "branches": """real h = a; for (int t = 0; t < n; t++) {
            real g;
            if (y[t] > 0) { g = h * b; h = g + c; } else { g = a; if (w[t] > 1) h = h * 0.5; }
            total += g * w[t]; }
        return total;""",
    "conditional": """real h = a; for (int t = 0; t < n; t++) { h = y[t] > 0 ? b * h : h + c * w[t]; total += fmax(h, 0.1); }
        return total;""",
    "from the second on": """real h = a * y[0];
        for (int t = 1; t < n; t++) { total += h * w[t]; h = b * h + c * y[t - 1]; }
        return total + h;""",
    "up to the last but one": """for (int t = 0; t < n - 1; t++) total += a * y[t] * y[t + 1] * exp(-b * w[t]);
        return total + c;""",
    "two loops": """real mean = 0; for (int t = 0; t < n; t++) mean += a * y[t] / n;
        for (int t = 0; t < n; t++) { real d = b * y[t] - mean; total += d * d * c; } return total;""",
    "whole numbers": """real h = a; for (int t = 0; t < n; t++) { int k = (int)(3 * w[t]); h = h * b + k * c;
        total += h / (1 + k); } return total;""",
    "array": """real h[3] = {a, b, c}; for (int t = 0; t < n; t++) { int k = t % 3; h[k] = h[k] * 0.9 + y[t] * h[0];
        total += h[1] * h[2]; } return total;""",
    "functions": """real h = a * a; for (int t = 0; t < n; t++) {
        total += normal_logpdf(y[t], b, sqrt(h)) + gamma_logpdf(w[t], 1 + h, c * c); h = 0.1 + 0.2 * h + 0.1 * c * c; }
        return total;""",
    "a helper": "return 2 * inner(y, w, n, a, b * c) + a;",
    "a branch around": """if (y[0] > 0) { for (int t = 0; t < n; t++) total += a * y[t] + b * w[t]; } else { total = c; }
        return total;""",
    "nothing of it": "real s = 0; for (int t = 0; t < n; t++) s += y[t]; return s * a + b * c;",
    "infinite where it is not used": """real h = a; for (int t = 0; t < n; t++) { real g = log(h);
            if (h > 0) total += g * b; h = t % 3 == 1 ? 0 : h + c; }
        return total;""",
    "infinite at the end": """real h = a, g = b; for (int t = 0; t < n; t++) { total += g * y[t]; g = log(h * c);
            h = t == n - 2 ? 0 : h + 1; }
        return total;""",
    "up to the half": """real h = a; for (int t = 0; t < n - 0.5; t++) { h = b * h + y[t]; total += h * h * c; }
        return total;""",
    "a loop within": "for (int t = 0; t < n; t++) for (int s = 0; s < t; s++) total += a * y[s] * b + c; return total;",
    "a convolution": """real h = a; for (int t = 0; t < n; t++) { real sum = 0, weight = 1;
            for (int s = t; s >= 0; s--) { sum += weight * y[s] * h; weight *= b * w[s]; }
            h = tanh(sum) + 0.1 * c; total += h * h; }
        return total;""",
    "a few turns": """real h = a; for (int t = 0; t < n; t++) { real x = h;
            for (int i = 0; i < 3; i++) x -= 0.3 * (x * x * x + x - y[t] - b);
            total += x * w[t] * c; h = 0.5 * h + x; }
        return total;""",
    "until it is found": """real h = a; for (int t = 0; t < n; t++) { real x = h, step = 1; int i = 0;
            while (i < 40 && fabs(step) > 1e-9) {
                step = (x + exp(0.3 * x) - y[t] - b) / (1 + 0.3 * exp(0.3 * x)); x -= step; i++; }
            total += x * w[t] * c; h = 0.5 * h + 0.5 * x; }
        return total;""",
    "loops within loops within a branch": """real h = a; for (int t = 0; t < n; t++) { if (y[t] > 0) {
                real q = 0; for (int s = 0; s < t % 4; s++) { for (int r = 0; r <= s; r++) q += h * b; h += 0.1 * q * y[s]; }
                total += q * c; } else { h = h * 0.7 + c; } total += h; }
        return total;""",
    "what a loop counts": """real h = a; for (int t = 0; t < n; t++) { int k = 70000 * t; real x = w[t];
            while (x > 0.6) { x *= 0.9; k += 1; }
            h = b * h + c * (k % 70000); total += h * x; }
        return total;""",
    "a loop before": """real h = a; for (int i = 0; i < 50; i++) h = 0.9 * h + 0.1 * b * cos(h);
        for (int t = 0; t < n; t++) { total += h * y[t]; h = h * c + w[t]; } return total * h;""",
    "back": "for (int t = n - 1; t >= 0; t--) total = b * total + a * y[t] + c; return total;",
    "back to the second": """real h = a; for (int t = n - 2; t > 0; t--) { total += h * y[t + 1]; h = b * h + c * w[t]; }
        return total + h;""",
    "forth and back": """real h = a; for (int t = 0; t < n; t++) h = b * h + y[t];
        for (int t = n - 1; t >= 0; t--) { h = 0.5 * h * c + w[t]; total += h * h; } return total;""",
    "a whole number from turn to turn": """int k = 0; for (int t = 0; t < n; t++) { k += y[t] > 0; total += a * k * b; }
        return total + c;""",
    "a large whole number": """int k = 0; real h = a; for (int t = 0; t < n; t++) {
            k = k + 16777213; k = k > 900000000 ? k % 7 : k;
            h = b * h + c * (k % 5); total += h * y[t]; }
        return total;""",
    "a helper within": """real h = a; for (int t = 0; t < n; t++) { h = 0.5 * h + b * w[t]; total += inner(y, w, n, h, c) * h; }
        return total;""",
    "what is computed of what is not read": """real g = a, h = b; for (int t = 0; t < n; t++) {
            total += h * h * c; h = 0.6 * h + g * y[t]; g = 0.8 * g + 0.1 * w[t] * t; }
        return total;""",
    "an early end": """if (n > 5) return a * c; real h = b; if (y[0] > 1 && w[0] > 1) return a * h;
        for (int t = 0; t < n; t++) { total += h * y[t] + c; h = h * b; } return total;""",
    "overwritten": """real h = a; for (int t = 0; t < n; t++) { h = b * w[t]; h = h * h; total += h * c; } h = 3;
        return total * h;""",
}  # fmt: skip
INNER = """
__device__ real inner(const real *y, const real *w, int n, real a, real b)
{ real h = a; real s = 0; for (int t = 0; t < n; t++) { s += h * y[t]; h = b * h + 0.1 * w[t]; } return s; }"""
HEAD = "__device__ real of_row(const real *y, const real *w, int n, real a, real b, real c)\n{ real total = 0; "
REFUSED = {
    "an end within": "for (int t = 0; t < n; t++) { if (y[t] > 1.5) return a * t; total += b * y[t] + c; } return total;",
    "while": "int t = 0; while (t < n && total < 3) { total += a * w[t] + b * c; t++; } return total;",
}  # fmt: skip


def rows_of(body, least, monkeypatch, dtype=np.float64, **leaves):
    for name in ("LEAST_SWEPT", "LEAST_SWEPT_OF_LOOPS"):
        monkeypatch.setattr(passes, name, least)
    y, w = ([v.astype(dtype) for v in its] for its in (Y, W))
    return gs.Rows(INNER + HEAD + body + " }", y=gs.sequences(y), w=gs.sequences(w), **leaves)


def found(model, *arguments):
    value, gradient = model.value_and_grad(*arguments)
    passes = model._own.evaluator(0)._passes.values()
    return value, gradient, any(made.tapes or made.checkpoints for made in passes)


@pytest.mark.parametrize("checkpoints", [False, True], ids=["turns", "checkpoints"])
def test_whole_numbers_in_float32(checkpoints, monkeypatch):
    """A `float` does not have all whole numbers of an `int`."""
    if checkpoints:
        with_checkpoints(monkeypatch)
    for name in ("a large whole number", "what a loop counts"):
        there = found(rows_of(BODIES[name], 99, monkeypatch), 0.7, -0.4, 1.2)
        back = found(rows_of(BODIES[name], 1, monkeypatch, np.float32), 0.7, -0.4, 1.2)
        assert back[2]
        for parameter, slope in there[1].items():
            np.testing.assert_allclose(back[1][parameter], slope, rtol=1e-4)


def with_checkpoints(monkeypatch):
    """Have all that is stored be checkpoints."""
    stored = passes.Pass.stored
    monkeypatch.setattr(passes.Pass, "stored", lambda self, n: np.inf if self.tapes else stored(self, n))


@pytest.mark.parametrize("name, checkpoints", [*some([(n, False) for n in BODIES], 2), *some([(n, True) for n in BODIES], 4)])
def test_derivatives(name, checkpoints, monkeypatch):
    if checkpoints:
        with_checkpoints(monkeypatch)
    for arguments in ((0.7, -0.4, 1.2), (np.array([0.7, 0.2]), -0.4, np.array([1.2, 0.3]))):
        there = found(rows_of(BODIES[name], 99, monkeypatch), *arguments)
        back = found(rows_of(BODIES[name], 1, monkeypatch), *arguments)
        assert not there[2]
        np.testing.assert_allclose(back[0], there[0], rtol=1e-13)
        for parameter, slope in there[1].items():
            np.testing.assert_allclose(back[1][parameter], slope, rtol=1e-11, atol=1e-12)
    stores = "recurrence", "swap", "product", "branches", "conditional", "array", "functions", "a helper", "a convolution"
    others = "a few turns", "until it is found", "forth and back", "a large whole number", "a helper within", "a loop before"
    assert back[2] or name not in stores + others


@pytest.mark.parametrize("name", REFUSED)
def test_other_loops_are_differentiated_forward(name, monkeypatch):
    there = found(rows_of(REFUSED[name], 99, monkeypatch), 0.7, -0.4, 1.2)
    back = found(rows_of(REFUSED[name], 1, monkeypatch), 0.7, -0.4, 1.2)
    assert not back[2]
    assert back[:2] == there[:2]


def test_parameters_of_rows_groups_and_weights(monkeypatch):
    n = len(Y)
    leaves = {"a": gs.per_row(), "b": gs.gather(np.arange(n) % 4), "weights": RNG.random(n)}
    arguments = RNG.normal(size=n), RNG.normal(size=4), 1.2
    there = found(rows_of(BODIES["functions"], 99, monkeypatch, **leaves), *arguments)
    back = found(rows_of(BODIES["functions"], 1, monkeypatch, **leaves), *arguments)
    assert back[2]
    for parameter, slope in there[1].items():
        np.testing.assert_allclose(back[1][parameter], slope, rtol=1e-11, atol=1e-12)
    single = found(rows_of(BODIES["functions"], 1, monkeypatch, np.float32, a=gs.per_row()), arguments[0], 0.3, 1.2)
    double = found(rows_of(BODIES["functions"], 1, monkeypatch, a=gs.per_row()), arguments[0], 0.3, 1.2)
    for parameter, slope in double[1].items():
        np.testing.assert_allclose(single[1][parameter], slope, rtol=2e-4, atol=2e-4 * np.abs(slope).max())


def test_parameters_outside_of_their_domains_are_nan(monkeypatch):
    source = "// a: positive\n" + HEAD + BODIES["recurrence"] + " }"
    monkeypatch.setattr(passes, "LEAST_SWEPT", 1)
    model = gs.Rows(source, y=gs.sequences(Y), w=gs.sequences(W))
    value, gradient = model.value_and_grad(np.array([-1.0, 0.5]), 0.2, 1.0)
    assert np.isnan(value[0]) and np.isfinite(value[1]) and np.isfinite(gradient["a"][1])


def test_checkpoints_take_little_memory(monkeypatch):
    """Of a long sequence some hundreds of turns are stored."""
    y = [RNG.normal(size=n) for n in (40_000, 5, 30_000)]
    body = "real h = a; for (int t = 0; t < n; t++) { total += (y[t] - h) * (y[t] - h); h = a + b * h * w[t]; } return total;"
    leaves = dict(y=gs.sequences(y), w=gs.sequences([np.abs(v) / 3 for v in y]))
    monkeypatch.setattr(passes, "LEAST_SWEPT", 1)
    step_by_step(monkeypatch)
    there = found(gs.Rows(HEAD + body + " }", **leaves), 0.7, -0.4, 1.2)
    with_checkpoints(monkeypatch)
    model = gs.Rows(HEAD + body + " }", **leaves)
    back = found(model, 0.7, -0.4, 1.2)
    assert back[2] and back[0] == there[0]
    assert "differentiated backwards, with the variables of some turns stored in" in model.explain(0.7, -0.4, 1.2)
    assert "differentiated" not in model.explain(0.7, -0.4, 1.2, wrt=())
    for parameter, slope in there[1].items():
        np.testing.assert_allclose(back[1][parameter], slope, rtol=1e-12)
    made = next(made for made in model._own.evaluator(0)._passes.values() if made.checkpoints)
    assert made.stored(1) < 0.03 * made.sheet.dealt.size * 8


def test_a_device_of_little_memory_goes_forward(monkeypatch):
    monkeypatch.setattr(evaluator, "MOST_STORED", 0.0)
    model = rows_of(BODIES["recurrence"], 1, monkeypatch)
    assert model.explain(0.7, -0.4, 1.2).endswith("it is differentiated forwards")
    there = found(rows_of(BODIES["recurrence"], 99, monkeypatch), 0.7, -0.4, 1.2)
    value, gradient = model.value_and_grad(0.7, -0.4, 1.2)
    assert (value, gradient) == there[:2]


def test_many_derivatives_go_back_by_themselves():
    names = [f"c{i}" for i in range(14)]
    source = f"""
    __device__ real wave(const real *y, int n, {", ".join(f"real {name}" for name in names)})
    {{ real h = 1, c[14] = {{{", ".join(names)}}}; for (int t = 0; t < n; t++) h = tanh(h * c[t % 14] + y[t]); return h; }}"""
    rows = gs.Rows(source, y=gs.sequences(Y))
    assert found(rows, *RNG.normal(size=14))[2]
    assert "backwards, with the variables of each turn stored" in rows.explain(*range(14))
    assert "_sweep_" in rows.kernel_source() and "_sweep_" not in rows.kernel_source(wrt=names[:3])


# -- random programs


class Program:
    """Body of a function of a, b, c and the sequences, with loops and branches one within the other."""

    def __init__(self, rng):
        self.rng, self.n_names = rng, 0

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def number(self, depth=2):
        if depth == 0 or self.rng.random() < 0.2:
            return self.pick("a", "b", "c", "h", "g", "y[t]", "w[t]", "0.5", "total * 0.01", "k * 0.1", "y[t > 0 ? t - 1 : 0]")
        x, z = self.number(depth - 1), self.number(depth - 1)
        shapes = "({x} + {z})", "({x} - {z})", "sin({x} * {z})", "tanh({x})", "log1p({x} * {x})", "fmax({x}, {z})"
        return self.pick(*shapes, "({x} > {z} ? {x} : 0.3 * {z})", "{x} / (1 + {z} * {z})").format(x=x, z=z)

    def statement(self, depth):
        variable = self.pick("h", "g", "total")
        kind = self.pick("assign", "assign", "branch", "loop", "while", "whole", "local") if depth else "assign"
        self.n_names += 1
        i, block = f"i{self.n_names}", lambda: self.block(depth - 1)
        match kind:
            case "assign":
                return f"{variable} = tanh({self.number()}) + 0.5 * {self.pick('h', 'g', 'total')};"
            case "branch":
                return f"if ({self.number(1)} > {self.number(1)}) {{ {block()} }} else {{ {block()} }}"
            case "loop":
                turns = self.pick("3", "t % 3", "k % 4 + 1", "5 - t")
                return f"for (int {i} = 0; {i} < {turns}; {i}++) {{ {block()} }}"
            case "while":
                return f"int {i} = 0; while ({i} < 6 && fabs({variable}) < 0.9) {{ {i}++; {variable} += 0.2; {block()} }}"
            case "whole":
                return f"k = (k + {self.pick('t', '3', '(int)(4 * w[t])')}) % 1000;"
            case "local":
                return f"real {i} = {self.number()}; {{ {block()} }} {variable} = 0.5 * {variable} + sin({i});"

    def block(self, depth):
        return " ".join(self.statement(depth) for _ in range(self.rng.integers(1, 4)))

    def __str__(self):
        loops = "for (int t = 0; t < n; t++)", "for (int t = 1; t < n; t++)", "for (int t = n - 1; t >= 0; t--)"
        body = " ".join(f"{self.pick(*loops)} {{ {self.block(2)} h = sin(h + {self.number(1)}); total += h * g; }}"
                        for _ in range(self.rng.integers(1, 3)))  # fmt: skip
        return f"real h = a, g = b * 0.5; int k = 1; {body} return total + sin(g) * c;"


@pytest.mark.parametrize("i", some(range(8), 2))
def test_random_programs(i, monkeypatch):
    body = str(Program(np.random.default_rng([8, i])))
    there = found(rows_of(body, 99, monkeypatch), 0.7, -0.4, 1.2)
    for checkpoints in (False, True):
        if checkpoints:
            with_checkpoints(monkeypatch)
        back = found(rows_of(body, 1, monkeypatch), 0.7, -0.4, 1.2)
        assert back[2], body
        np.testing.assert_allclose(back[0], there[0], rtol=1e-12, err_msg=body)
        largest = max(map(abs, there[1].values()))
        for parameter, slope in there[1].items():
            np.testing.assert_allclose(back[1][parameter], slope, rtol=1e-9, atol=1e-10 * largest, err_msg=body)
