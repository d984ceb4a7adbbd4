"""Outputs, terms and draws by step of few long sequences in parts: the same as step by step."""

import numpy as np
import pytest
from parts import in_parts, step_by_step
from statsmodels.tsa.statespace.structural import UnobservedComponents
from thorough import double_first, some

import gpustats as gs
from gpustats.rows import evaluator, parts

LEVEL = {"sigma": 0.8, "sigma_level": 0.3, "level": 0.1, "level_sd": 2.0}
MODELS = {
    "local_level": LEVEL,
    "local_linear_trend": LEVEL | {"sigma_slope": 0.1, "level_sd": np.inf, "slope": 0.0, "slope_sd": np.inf},
    "ar1": {"mu": 0.1, "phi": 0.8, "sigma": 1.1},
    "garch": {"mu": 0.1, "omega": 0.05, "alpha": 0.1, "beta": 0.8, "variance": 1.2},
    "egarch": {"mu": 0.1, "omega": 0.05, "alpha": 0.2, "gamma": -0.1, "beta": 0.9, "variance": 1.2},
    "hidden_markov": {
        "initial": 0.3, "p_01": 0.05, "p_10": 0.1, "mu_0": -0.5, "mu_1": 1.0, "sigma_0": 1.0, "sigma_1": 1.4,
    },
}  # fmt: skip


def walks(lengths, seed=3):
    rng = np.random.default_rng(seed)
    found = [0.3 * rng.normal(size=n).cumsum() + rng.normal(size=n) for n in lengths]
    found[0][rng.random(lengths[0]) < 0.1] = np.nan
    return found


def all_of(model, y, parameters, **leaves):
    """Terms, outputs and draws by step, and the model."""
    rows = gs.Rows(model, y=gs.sequences(y, missing=True), **leaves)
    found = {"term": rows.terms_by_step(**parameters), **rows.draws(**parameters, rng=1)}
    if set(rows.outputs) - set(found):
        found |= rows.steps(**parameters)
    return found, rows


def close(found, wanted, rtol=1e-11):
    assert found.keys() == wanted.keys()
    for name, numbers in wanted.items():
        size = np.abs(numbers[np.isfinite(numbers)]).max(initial=0)
        np.testing.assert_allclose(found[name], numbers, rtol=rtol, atol=rtol * size, err_msg=name)


def in_both(monkeypatch, model, y, parameters, span=8, **leaves):
    """Model in parts, whose numbers must be those of one that goes through each sequence in a thread."""
    step_by_step(monkeypatch)
    wanted, slow = all_of(model, y, parameters, **leaves)
    in_parts(monkeypatch, span)
    found, rows = all_of(model, y, parameters, **leaves)
    close(found, wanted, 1e-11 if slow._bound.dtype == np.float64 else 2e-4)
    for name, numbers in all_of(model, y, parameters, **leaves)[0].items():
        np.testing.assert_array_equal(found[name], numbers)  # to the last bit, each time
    return rows


@pytest.mark.parametrize("name", some(MODELS, 2))
def test_models_of_series(name, monkeypatch):
    rows = in_both(monkeypatch, gs.series[name], walks((700, 1, 2, 31)), MODELS[name])
    for outputs in ("terms_by_step", rows.outputs, rows._bound.drawn):
        said = rows.explain(**MODELS[name], outputs=outputs)
        assert "94 parts of 8 steps at most, side by side" in said and "step by step" not in said


def test_hidden_states_of_any_density(monkeypatch):
    text, rng = gs.hidden_markov(3, gs.normal, shared=["sigma"]), np.random.default_rng(2)
    names = gs.Rows(text, y=gs.sequences([[1.0]])).parameters
    parameters = {n: 1.2 if n == "sigma" else rng.normal() - 2 * n.startswith("log_odds") for n in names}
    rows = in_both(monkeypatch, text, walks((2000,)), parameters, span=32)
    assert "63 parts" in rows.explain(**parameters, outputs=["path", "smoothed_2"])


@double_first
def test_smoothed_levels_of_statsmodels(dtype, monkeypatch):
    (y,) = walks((3000,))
    y[1000:1300] = np.nan
    theirs = UnobservedComponents(y, "local level")
    theirs.ssm.tolerance = 0  # it would stop to update variances that hardly change
    theirs.ssm.initialize_known(np.array([0.1]), np.array([[4.0]]))
    wanted = theirs.smooth([0.64, 0.09], transformed=True)
    in_parts(monkeypatch, 7)
    found = gs.Rows(gs.series.local_level, y=gs.sequences([y.astype(dtype)], missing=True)).steps(**LEVEL)
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    assert found["smoothed_level"].dtype == dtype
    np.testing.assert_allclose(found["smoothed_level"], wanted.smoothed_state[0], rtol=rtol, atol=rtol)
    np.testing.assert_allclose(found["smoothed_level_sd"], np.sqrt(wanted.smoothed_state_cov[0, 0]), rtol=rtol)
    np.testing.assert_allclose(found["filtered_level"], wanted.filtered_state[0], rtol=rtol, atol=rtol)


HEAD = "real own(const real *y, int n, real a, real b, real *one, rng_t *rng, real *two)\n{ real s = 0; "
ENDS = " for (int t = 0; t < n; t++) s += a * y[t] + b; return s; }"
BODIES = {
    "a loop forth and back, that leave numbers out": """
        real x = a;
        for (int t = 1; t < n - 2; t++) { x = b * x + y[t - 1]; one[t] = x; }
        real z = x;
        for (int t = n - 3; t > 1; t--) { z = 0.5 * z + one[t] - one[t + 1]; two[t] = z * uniform(rng); }""",
    "numbers written before a loop": """
        one[0] = a;
        one[n - 1] = 7;
        real x = one[0];
        for (int t = 1; t < n - 1; t++) { x = tanh(b * x + y[t]); one[t] = x; }
        two[n - 1] = x + normal(rng);
        for (int t = n - 2; t >= 0; t--) two[t] = one[t + 1];""",
    "an output that is read and written again": """
        real x = 0;
        for (int t = 0; t < n; t++) { one[t] = y[t]; if (y[t] > 0) one[t] *= a; }
        for (int t = 0; t < n; t++) { x = b * x + one[t]; if (y[t] > 0.5) one[t] = x; x += one[t]; two[t] = uniform(rng); }""",
    "a branch around all of it": """
        if (a > 0.5) {
            real c = a * a, x = c;
            for (int t = 0; t < n; t++) { x = b * x + c * y[t]; one[t] = x; }
            two[0] = x;
            for (int t = n - 1; t >= 1; t--) two[t] = x * one[t] + exponential(rng);
        }""",
    "whole numbers, drawn ones, and those of kinds that take turns": """
        int k = 1, m = uniform(rng) < 0.5;
        for (int t = 0; t < n; t++) { one[t] = k; if (y[t] > 1) k = t % 5; }
        for (int t = 0; t < n; t++) {
            real u = uniform(rng), z = normal(rng), v = uniform(rng);
            m = m == 1 ? u > 0.1 : v < 0.2;
            two[t] = m + a * z + (t % 2 == 0 ? k : 0);
        }""",
    "no state": "for (int t = 0; t < n - 1; t++) { one[t + 1] = y[t] * a; two[t] = normal(rng); }",
}


@pytest.mark.parametrize("name", BODIES)
def test_functions_of_all_kinds(name, monkeypatch):
    """The last sequence has a parameter for which nothing is written where a branch is around all of it."""
    a = {"a": np.array([0.7, 0.6, 0.8, 0.9, 0.4]), "b": 0.4}
    source = HEAD + BODIES[name] + ENDS
    rows = in_both(monkeypatch, source, walks((300, 1, 2, 3, 65)), a, a=gs.per_row())
    for outputs in ("one", "two", ["one", "two"]):
        assert "side by side" in rows.explain(**a, outputs=outputs)


def test_sets_of_parameters(monkeypatch):
    y = walks((300, 40))
    stacks = LEVEL | {"sigma": np.array([[0.5], [0.8]]), "sigma_level": np.array([0.1, 0.3, 0.0])}
    rows = in_both(monkeypatch, gs.series.local_level, y, stacks, weights=[2.0, 0.5])
    found, _ = all_of(gs.series.local_level, y, stacks, weights=[2.0, 0.5])
    assert found["smoothed_level"].shape == (2, 3, 340)
    one, _ = all_of(gs.series.local_level, y, LEVEL | {"sigma_level": 0.1}, weights=[2.0, 0.5])
    for name in ("smoothed_level", "term"):
        np.testing.assert_allclose(found[name][1, 0], one[name], rtol=1e-13)
    monkeypatch.setattr(evaluator, "MOST_STORED", 1e-15)
    assert "too much memory" in rows.explain(**stacks, outputs="forecast")


def test_float32(monkeypatch):
    y = [v.astype(np.float32) for v in walks((400, 30))]
    for name in ("local_level", "hidden_markov"):
        in_both(monkeypatch, gs.series[name], y, MODELS[name])


LEFT = """real x = 0.3; for (int t = 0; t < n; t++) { one[t] = x; x = 3.9 * x * (1 - x); }
    for (int t = 0; t < n; t++) two[t] = x + normal(rng);"""


def test_states_that_are_not_found(monkeypatch):
    rows = in_both(monkeypatch, HEAD + LEFT + ENDS, walks((400, 3)), {"a": 0.7, "b": 0.4})
    assert "1 sequences gone through step by step" in rows.explain(0.7, 0.4, outputs="two")


REFUSED = {
    "for (int t = 0; t < n; t++) one[t] = y[t] + (t > 0 ? one[t - 1] : 0);": "may read, of one, what another one writes",
    "for (int t = 0; t < n; t++) one[n - 1 - t] = y[t];": "may read, of one, what another one writes",
    "for (int t = 0; t < n; t++) one[t] = gamma_sample(rng, a, 1);": "any number of random numbers, by gamma_sample",
    "for (int t = 0; t < n; t++) if (y[t] > 0) one[t] = normal(rng);": "any number of random numbers, by rng_normal",
    "for (int t = 0; t < n; t++) one[t] = y[t]; one[0] = a;": "it writes behind its last loop",
    "int t = 0; while (t < n) { one[t] = y[t]; t += 1; }": "otherwise than step by step",
    "if (a > 0) { for (int t = 0; t < n; t++) one[t] = 1; } else { for (int t = 0; t < n; t++) one[t] = y[t]; }": "a condition",
    "for (int t = 0; t < n; t++) { if (y[t] > 9) return 0; one[t] = y[t]; }": "it returns from within a loop",
    "real u = uniform(rng); if (u < 2) { for (int t = 0; t < n; t++) one[t] = y[t]; }": "decide whether its loops",
    "one[0] = y[0];": "no loop through its sequences",
    """two[0] = uniform(rng); for (int t = 0; t < n; t++) one[t] = a; two[1] = uniform(rng);
    for (int t = 2; t < n; t++) two[t] = a;""": "before and behind a loop that draws none",
    "real x = a; for (int t = 0; t < n; t++) { x = 0.5 * x + scaled(rng, x); one[t] = x; }": "depends on the step before",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_what_goes_step_by_step(body, monkeypatch):
    in_parts(monkeypatch)
    source = "real scaled(rng_t *rng, real x) { return x * uniform(rng); }\n" + HEAD + body
    source += "" if "two" in body else " for (int t = 0; t < n; t++) two[t] = normal(rng);"
    rows = gs.Rows(source + ENDS, y=gs.sequences(walks((40, 5)), missing=True))
    outputs = ["one", "two"] if "two" in body else ["one"]
    said = rows.explain(0.7, 0.4, outputs=outputs)
    assert said.startswith("a sequence in each thread") and REFUSED[body] in said
    assert np.isfinite(rows.draws(0.7, 0.4, rng=1, outputs=outputs)["one"]).any()


def test_reasons(monkeypatch):
    y = gs.sequences(walks((600, 50)), missing=True)
    said = gs.Rows(gs.series.local_level, y=y).explain(**LEVEL, outputs="forecast")
    assert "too few threads" in said or "parts are for" in said
    in_parts(monkeypatch)
    rows = gs.Rows(gs.series.local_level, y=y)
    with pytest.raises(ValueError, match="outputs: 'level' is none of forecast"):
        rows.explain(**LEVEL, outputs="level")
    monkeypatch.setattr(parts, "MOST_STATE", 2)
    assert "hands 3 numbers on" in gs.Rows(gs.series.local_level, y=y).explain(**LEVEL, outputs="forecast")
