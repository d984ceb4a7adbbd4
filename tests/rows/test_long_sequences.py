"""Few long sequences in parts: the same as step by step, and as statsmodels and complex steps have it."""

import numpy as np
import pytest
from parts import in_parts, step_by_step
from random_sequences import Writer
from statsmodels.tsa.statespace.structural import UnobservedComponents
from thorough import double_first, some

import gpustats as gs
from gpustats.rows import evaluator, parts

HEAD = "__device__ real own(const real *y, int n, real a, real b)\n{ "
AR = HEAD + """real x = b, loglik = 0;
    for (int t = 0; t < n; t++) { loglik += normal_logpdf(y[t], x, 1.5); x = a * x + b * y[t]; } return loglik; }"""
LEVEL = {"sigma": 0.8, "sigma_level": 0.3, "level": 0.1, "level_sd": 2.0}
AR1 = {"mu": 0.1, "phi": 0.8, "sigma": 1.1}
TREND = LEVEL | {"sigma_slope": 0.1, "level_sd": np.inf, "slope": 0.0, "slope_sd": np.inf}


def walks(lengths, seed=3):
    rng = np.random.default_rng(seed)
    return [0.3 * rng.normal(size=n).cumsum() + rng.normal(size=n) for n in lengths]


def both(monkeypatch, function, y, parameters, span=4, wrt=None, **leaves):
    """Models of sequences step by step and in parts; they must agree."""
    given = {"y": gs.sequences(y, missing=True), **leaves}
    step_by_step(monkeypatch)
    slow = gs.Rows(function, **given)
    wanted, slopes = slow.value_and_grad(**parameters, wrt=wrt)
    in_parts(monkeypatch, span)
    rows = gs.Rows(function, **given)
    value, gradient = rows.value_and_grad(**parameters, wrt=wrt)
    rtol = 1e-12 if slow._bound.dtype == np.float64 else 1e-4
    np.testing.assert_allclose(value, wanted, rtol=rtol)
    np.testing.assert_allclose(rows(**parameters), wanted, rtol=rtol)
    size = np.nan_to_num(np.abs(list(slopes.values()))).max(initial=0)
    np.testing.assert_allclose(list(gradient.values()), list(slopes.values()), rtol=rtol, atol=rtol * size)
    return rows


def rounds(rows, parameters):
    """Rounds in which the states are found, and the number of sequences gone through step by step."""
    values = [float(parameters[n]) for n in rows.parameters]
    packing, _ = rows._bound.packing(values)
    return rows._own.evaluator(0).in_parts(rows.parameters, packing).rounds(packing).start(values)()


@pytest.mark.parametrize("model, parameters", [("local_level", LEVEL), ("local_linear_trend", TREND)])
def test_short_and_long_ones_together(model, parameters, monkeypatch):
    lengths = (1, 2, 31, 100_000)
    rows = both(monkeypatch, gs.series[model], walks(lengths), parameters, span=32)
    found, left = rounds(rows, parameters)
    assert len(lengths) < found < 6 * len(lengths) and not left
    assert "3128 parts of 32 steps at most" in rows.explain(**parameters)


@pytest.mark.parametrize("trend", [False, True])
def test_levels_of_statsmodels(trend, monkeypatch):
    (y,) = walks((3000,))
    y[[0, 7, *range(1000, 1300)]] = np.nan
    theirs = UnobservedComponents(y, "local linear trend" if trend else "local level", use_exact_diffuse=True)
    theirs.ssm.tolerance = 0  # it would stop to update variances that hardly change
    in_parts(monkeypatch, 7)
    parameters = TREND if trend else LEVEL | {"level_sd": np.inf}
    rows = gs.Rows(gs.series.local_linear_trend if trend else gs.series.local_level, y=gs.sequences([y], missing=True))
    names = [n for n in parameters if n.startswith("sigma")]
    sd = np.array([parameters[n] for n in names])
    value, gradient = rows.value_and_grad(**parameters)
    assert not rounds(rows, parameters)[1]
    np.testing.assert_allclose(value, theirs.loglike(sd**2), rtol=1e-11)
    slopes = theirs.score(sd**2, method="approx", approx_complex_step=True) * 2 * sd
    np.testing.assert_allclose([gradient[n] for n in names], slopes, rtol=1e-8)


@pytest.mark.parametrize("a", [0.5, -0.9, 1.0, 1.01, -1.01])
def test_autoregressions_that_forget_nothing(a, monkeypatch):
    (y,) = walks((500,))
    in_parts(monkeypatch, 8)
    rows = gs.Rows(AR, y=gs.sequences([y]))

    def total(a, b):
        x, loglik = b, 0.0
        for v in y:
            loglik, x = loglik - 0.5 * (v - x) ** 2 / 1.5**2 - np.log(1.5 * np.sqrt(2 * np.pi)), a * x + b * v
        return loglik

    value, gradient = rows.value_and_grad(a, 0.2)
    assert rounds(rows, {"a": a, "b": 0.2}) == (2, 0)  # the states are linear in those before
    np.testing.assert_allclose(value, total(a, 0.2), rtol=1e-12)
    slopes = [total(a + 1e-30j, 0.2).imag / 1e-30, total(a, 0.2 + 1e-30j).imag / 1e-30]
    np.testing.assert_allclose(list(gradient.values()), slopes, rtol=1e-11)


@pytest.mark.parametrize("n_states", some([2, 3, 4]))
def test_hidden_markov_models(n_states, monkeypatch):
    text, rng = gs.hidden_markov(n_states, gs.normal), np.random.default_rng(n_states)
    names = gs.Rows(text, y=gs.sequences([[1.0]])).parameters
    parameters = {n: rng.uniform(0.5, 1.5) if n.startswith("sigma") else rng.normal() for n in names}
    (y,) = walks((20_000,))
    y[rng.random(y.size) < 0.1] = np.nan
    y[4000:5000] = np.nan
    rows = both(monkeypatch, text, [y], parameters, span=32)
    assert rounds(rows, parameters)[0] < 6


BODIES = {
    "nonlinear": "real x = a, s = 0; for (int t = 0; t < n; t++) { x = tanh(a * x + b * y[t]); s += x * x; } return s;",
    "last value": "real x = a; for (int t = 0; t < n; t++) x = 0.9 * x + b * y[t]; return log1p(x * x) * a;",
    "no state": "real s = 0; for (int t = 1; t < n; t++) s += normal_logpdf(y[t], a * y[t - 1], b); return s;",
    "neighbours": """real x = 0, s = 0; for (int t = 1; t < n - 1; t++) { x = a * x + y[t - 1] - y[t + 1]; s += b * x; }
        return s;""",
    "parameters before": """real x = exp(a), c = x * b, s = 0; for (int t = 0; t < n; t++) { x = 0.5 * x + c; s += x * y[t]; }
        return s / (1 + a * a) + x;""",
    "array": """real x[3] = {a, b, 0}; for (int t = 0; t < n; t++) { int k = t % 3; x[k] = 0.5 * x[k] + 0.2 * x[0] + y[t]; }
        return x[0] * x[1] + x[2];""",
    "whole number": """int k = -1; real s = 0; for (int t = 0; t < n; t++) { if (y[t] > 1) k = t; s += a * (t - k) + b; }
        return s;""",
    "count": "int k = 0; real s = 0; for (int t = 0; t < n; t++) { k += y[t] > 0; s += a * y[t] / (b + k); } return s;",
    "maximum": "real top = a; for (int t = 0; t < n; t++) top = fmax(top, b * y[t]); return top * top;",
    "early end": "if (a > 5) return b; real x = a; for (int t = 0; t < n; t++) x = 0.8 * x + y[t]; return x * b;",
    "variance that never settles": """real v = 1e6, s = 0; for (int t = 0; t < n; t++) { v = v * a / (v + a); s += log(v) * b; }
        return s;""",
    "infinite at first": """real m = -INFINITY, s = 0; for (int t = 0; t < n; t++) { m = fmax(m - a, y[t]); s += b * m; }
        return s;""",
    "infinite slope at first": """real x = 0, s = 0; for (int t = 0; t < n; t++) { s += b * x; x = sqrt(0.3 * x) + a * a; }
        return s;""",
}  # fmt: skip


@pytest.mark.parametrize("name", some(BODIES))
def test_functions_of_all_kinds(name, monkeypatch):
    parameters = {"a": 0.7, "b": 0.4}
    rows = both(monkeypatch, HEAD + BODIES[name] + " }", walks((1, 2, 700, 3, 64)), parameters)
    assert not rounds(rows, parameters)[1]
    both(monkeypatch, HEAD + BODIES[name] + " }", walks((1, 2, 700)), parameters, wrt="b")
    both(monkeypatch, HEAD + BODIES[name] + " }", walks((700,)), {"a": 6.0, "b": 0.4}, wrt="a")


@pytest.mark.parametrize("seed", some(range(24), 6))
def test_random_functions(seed, monkeypatch):
    parameters = dict(zip("ab", np.random.default_rng(seed).normal(size=2), strict=True))
    both(monkeypatch, Writer(seed).source(), walks((1, 2, 40, 301), seed), parameters, span=5)


LEFT = {
    "chaos": "real x = 0.3, s = 0; for (int t = 0; t < n; t++) { s += b * x * y[t]; x = 3.9 * x * (1 - x); } return s * a;",
    "cycle": "int k = 1; real s = 0; for (int t = 0; t < n; t++) { k = (3 * k + 1) % 7; s += a * y[t] / (b + k); } return s;",
    "nan": "real x = a; for (int t = 0; t < n; t++) x = t == 100 ? NAN : 0.5 * x; return x * b;",
    "overflow": "real x = a; for (int t = 0; t < n; t++) x = x * x * 2; return x * b;",
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_states_that_are_not_found(name, monkeypatch):
    (y,) = walks((400,))
    step_by_step(monkeypatch)
    wanted, slopes = gs.Rows(HEAD + LEFT[name] + " }", y=gs.sequences([y])).value_and_grad(0.7, 0.4)
    in_parts(monkeypatch)
    rows = gs.Rows(HEAD + LEFT[name] + " }", y=gs.sequences([y]))
    value, gradient = rows.value_and_grad(0.7, 0.4)
    np.testing.assert_allclose(value, wanted, rtol=1e-13)
    np.testing.assert_allclose(list(gradient.values()), list(slopes.values()), rtol=1e-12)
    assert rounds(rows, {"a": 0.7, "b": 0.4}) == (parts.MOST_ROUNDS, 1)
    assert "1 sequences gone through step by step" in rows.explain(0.7, 0.4)


@double_first
def test_missing_numbers_where_parts_begin(dtype, monkeypatch):
    (y,) = walks((2000,))
    y[np.arange(0, 2000, 16)] = np.nan
    y[:70] = y[640:1200] = np.nan
    for model, parameters in (
        ("local_level", LEVEL | {"level_sd": np.inf}), ("ar1", AR1),
        ("garch", {"mu": 0.1, "omega": 0.05, "alpha": 0.1, "beta": 0.8, "variance": 1.2}),
    ):  # fmt: skip
        rows = both(monkeypatch, gs.series[model], [y.astype(dtype)], parameters, span=16)
        assert not rounds(rows, parameters)[1]


def test_whole_numbers_that_a_float_does_not_have(monkeypatch):
    source = HEAD + """int k = 20000001; real s = 0;
        for (int t = 0; t < n; t++) { s += a * y[t] * (k % 7) + b; k = 20000001 + t; } return s; }"""
    y = np.random.default_rng(8).normal(size=200).astype(np.float32)
    step_by_step(monkeypatch)
    wanted, _ = gs.Rows(source, y=gs.sequences([y])).value_and_grad(0.7, 0.4)
    in_parts(monkeypatch)
    rows = gs.Rows(source, y=gs.sequences([y]))
    np.testing.assert_allclose(rows.value_and_grad(0.7, 0.4)[0], wanted, rtol=1e-5)
    assert "1 sequences gone through step by step" in rows.explain(0.7, 0.4)


def test_outside_of_the_domain(monkeypatch):
    in_parts(monkeypatch)
    (y,) = walks((400,))
    for model, parameters in (("ar1", (0.1, 1.2, 1.0)), ("ar1", (0.1, 0.9, -1.0)), ("garch", (0.0, 0.1, -0.1, 0.8, 1.0))):
        value, gradient = gs.Rows(gs.series[model], y=gs.sequences([y])).value_and_grad(*parameters)
        assert np.isnan(value) and all(map(np.isnan, gradient.values()))


OWN = """__device__ real own(const real *y, int n, real a, real b, real c, real d, int k)
{ real x = c, s = 0; for (int t = 0; t < n; t++) { x = a * x + b * d; s += (y[t] - x) * (y[t] - x) / k; } return s; }"""


@pytest.mark.parametrize("sets", some([((),), ((3,),), ((2, 2),)], 2))
def test_what_sequences_have_of_their_own(sets, monkeypatch):
    """Weights, columns, numbers of the rows, tables by group of one axis and of two; sets of parameters."""
    rng, n = np.random.default_rng(4), 6
    its = walks((300, 20, 1, 77, 300, 5))
    leaves = {
        "weights": rng.random(n), "b": gs.gather(np.array([0, 1, 1, 0, 2, 1])), "c": gs.per_row(), "k": np.arange(1, n + 1),
        "d": gs.gather(np.array([0, 1, 0, 1, 0, 1]), np.array([0, 0, 0, 1, 1, 0])),
    }  # fmt: skip
    shapes = {"a": (), "b": (3,), "c": (n,), "d": (2, 2)}
    given = {name: rng.uniform(0.2, 0.7, (*sets, *shape)) for name, shape in shapes.items()} | {"a": 0.7}
    step_by_step(monkeypatch)
    wanted, slopes = gs.Rows(OWN, y=gs.sequences(its), **leaves).value_and_grad(**given)
    in_parts(monkeypatch)
    rows = gs.Rows(OWN, y=gs.sequences(its), **leaves)
    assert "parts of 4 steps" in rows.explain(**given)
    value, gradient = rows.value_and_grad(**given)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    np.testing.assert_allclose(rows(**given), wanted, rtol=1e-12)
    for name, slope in slopes.items():
        np.testing.assert_allclose(gradient[name], slope, rtol=1e-11, err_msg=name)


def test_sets_have_the_numbers_of_each(monkeypatch):
    in_parts(monkeypatch)
    rows = gs.Rows(gs.series.local_level, y=gs.sequences(walks((700, 50)), missing=True))
    rng = np.random.default_rng(9)
    sd = {n: rng.uniform(0.1, 2, (3, 2)) for n in ("sigma", "sigma_level")}
    value, gradient = rows.value_and_grad(**sd, level=0.1, level_sd=np.array([[np.inf, 2.0]]))
    for i in np.ndindex(3, 2):
        own, slopes = rows.value_and_grad(**{n: v[i] for n, v in sd.items()}, level=0.1, level_sd=(np.inf, 2.0)[i[1]])
        np.testing.assert_allclose(value[i], own, rtol=1e-14)  # on GPUs, kernels of several sets may round otherwise
        np.testing.assert_allclose([gradient[n][i] for n in sd], [slopes[n] for n in sd], rtol=1e-13)


def test_repeated_calls_are_equal(monkeypatch):
    in_parts(monkeypatch)
    rows = gs.Rows(gs.series.local_level, y=gs.sequences(walks((5000, 77))))
    first = rows.value_and_grad(**LEVEL)
    other = rows.value_and_grad(**LEVEL | {"sigma": 0.9})
    for _ in range(5):  # some of them recorded
        assert rows.value_and_grad(**LEVEL) == first
        assert rows.value_and_grad(**LEVEL | {"sigma": 0.9}) == other
    assert gs.Rows(gs.series.local_level, y=gs.sequences(walks((5000, 77)))).value_and_grad(**LEVEL) == first


def test_terms_are_step_by_step(monkeypatch):
    y = walks((600, 50))
    step_by_step(monkeypatch)
    slow = gs.Rows(gs.series.local_level, y=gs.sequences(y))
    in_parts(monkeypatch)
    np.testing.assert_array_equal(gs.Rows(gs.series.local_level, y=gs.sequences(y)).terms(**LEVEL), slow.terms(**LEVEL))


@pytest.mark.parametrize("model, parameters", some([("local_level", LEVEL), ("local_linear_trend", TREND), ("ar1", AR1)]))
def test_second_derivatives(model, parameters, monkeypatch):
    y, names = walks((600, 50)), [n for n, v in parameters.items() if np.isfinite(v)]
    step_by_step(monkeypatch)
    slow = gs.Rows(gs.series[model], y=gs.sequences(y))
    in_parts(monkeypatch)
    rows = gs.Rows(gs.series[model], y=gs.sequences(y))
    wanted = slow.hessian(**parameters, wrt=names)
    found = rows.hessian(**parameters, wrt=names)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11 * np.abs(wanted).max())
    np.testing.assert_array_equal(found, found.T)
    direction = dict.fromkeys(names, 0.5)
    there, here = slow.hessp(direction, **parameters), rows.hessp(direction, **parameters)
    np.testing.assert_allclose([here[n] for n in names], [there[n] for n in names], rtol=1e-10)
    stacks = {n: np.full(2, v) for n, v in parameters.items()}
    np.testing.assert_allclose(rows.hessian(**stacks, wrt=names), [wanted] * 2, rtol=1e-11, atol=1e-11 * np.abs(wanted).max())


def test_compiled_code(monkeypatch):
    jax = pytest.importorskip("jax")
    y = walks((600, 50))
    in_parts(monkeypatch)
    rows = gs.Rows(gs.series.local_level, y=gs.sequences(y))
    function = gs.as_jax(rows)
    with jax.enable_x64(True):
        value, gradient = jax.value_and_grad(lambda p: function(**p))(LEVEL)
    wanted, slopes = rows.value_and_grad(**LEVEL)
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    np.testing.assert_allclose([gradient[n] for n in LEVEL], [slopes[n] for n in LEVEL], rtol=1e-13)


TWICE = """real m = 0, s = 0; for (int t = 0; t < n; t++) m += a * y[t]; for (int t = 0; t < n; t++) s += m * y[t];
    return s * b; }"""


def test_reasons(monkeypatch):
    y = gs.sequences(walks((600, 50)))
    model = gs.Rows(AR, y=y)
    assert "a sequence in each thread" in model.explain(0.5, 0.1)
    in_parts(monkeypatch)
    monkeypatch.setattr(evaluator, "MOST_STORED", 1e-15)
    assert "too much memory" in gs.Rows(AR, y=y).explain(np.array([0.5, 0.6]), 0.1)
    monkeypatch.undo()
    in_parts(monkeypatch)
    assert "more than once" in gs.Rows(HEAD + TWICE, y=y).explain(0.5, 0.1)
    assert "do not take a" in gs.Rows(AR, y=y, a=gs.dot(np.ones((2, 3)))).explain(np.ones(3), 0.1)
    monkeypatch.setattr(parts, "MOST_SEQUENCES", 1)
    assert "there are 2 sequences" in gs.Rows(AR, y=y).explain(0.5, 0.1)
    monkeypatch.setattr(parts, "MOST_SEQUENCES", 2)
    monkeypatch.setattr(parts, "MOST_STATE", 0)
    assert "hands 1 numbers on" in gs.Rows(AR, y=y).explain(0.5, 0.1)
    monkeypatch.setattr(parts, "LEAST_STEPS", {"cpu": 601, "gpu": 601})
    assert "the longest has 600 numbers" in gs.Rows(AR, y=y).explain(0.5, 0.1)
    assert gs.Rows(gs.normal, x=np.ones(3)).explain(0.0, 1.0) == "rows in threads side by side"
