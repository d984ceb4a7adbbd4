"""Outputs by step of functions of sequences: those of a loop in NumPy, in the order in which the numbers came."""

import pickle

import numpy as np
import pytest
from thorough import double_first

import gpustats as gs

RNG = np.random.default_rng(77)
PERSON = """
// choice, reward: what a person did, and what it brought
// rate: unit, learning rate
__device__ real person(const real *choice, const real *reward, int n, real rate, real weight, real *value, real *behind)
{
    real now = 0, loglik = 0, sum = 0;
    for (int t = 0; t < n; t++) {
        value[t] = now;
        loglik += bernoulli_logit_logpmf(choice[t], weight * now);
        now += rate * (reward[t] - now);
    }
    for (int t = n - 1; t >= 0; t--) {
        sum = rate * sum + value[t];
        behind[t] = sum;
    }
    return loglik;
}"""
ALONE = PERSON.replace(", real *value, real *behind", "").replace("value[t] = now;", "").replace(", sum = 0", "")
ALONE = ALONE[: ALONE.index("    for (int t = n - 1")] + "    return loglik;\n}"
LENGTHS = {
    "alike": [7] * 40, "ragged": [1, 2, 31, 3000, 5], "one": [9], "rising": list(range(1, 90)),
    "many": RNG.integers(1, 60, 700).tolist(),
}  # fmt: skip


def drawn(lengths, dtype=np.float64):
    choices = [RNG.integers(0, 2, n).astype(dtype) for n in lengths]
    return choices, [RNG.normal(size=n).astype(dtype) for n in lengths]


def of_person(reward, rate):
    """What is learned before each step, and sums of that over what comes behind, one row each."""
    value, behind, now, total = np.empty(reward.size), np.empty(reward.size), 0.0, 0.0
    for t, r in enumerate(reward.astype(float)):
        value[t] = now
        now += rate * (r - now)
    for t in reversed(range(reward.size)):
        behind[t] = total = rate * total + value[t]
    return np.stack([value, behind])


def of_all(rewards, rates):
    rates = np.broadcast_to(rates, len(rewards))
    return np.concatenate([of_person(r, rate) for r, rate in zip(rewards, rates, strict=True)], 1)


def close(found, wanted, dtype=np.float64):
    assert list(found) == ["value", "behind"] and found["value"].dtype == dtype
    rtol = 1e-13 if dtype == np.float64 else 5e-4
    np.testing.assert_allclose(np.stack(list(found.values()), -2), wanted, rtol=rtol, atol=rtol)


@double_first
@pytest.mark.parametrize("name", LENGTHS)
def test_all_layouts(name, dtype):
    choices, rewards = drawn(LENGTHS[name], dtype)
    rows = gs.Rows(PERSON, choice=gs.sequences(choices), reward=gs.sequences(rewards))
    assert rows.outputs == ("value", "behind") and rows.parameters == ("rate", "weight")
    close(rows.steps(0.3, 2.0), of_all(rewards, 0.3), dtype)
    rate = RNG.random((2, 3))
    close(rows.steps(rate, weight=1.0), np.reshape([of_all(rewards, r) for r in rate.ravel()], (2, 3, 2, -1)), dtype)


@double_first
@pytest.mark.parametrize("name", ["ragged", "many"])
def test_parameters_of_rows_and_groups(name, dtype):
    choices, rewards = drawn(LENGTHS[name], dtype)
    n = len(choices)
    group, rate, table = RNG.integers(0, 3, n), RNG.random((2, n)).astype(dtype), RNG.random(3).astype(dtype)
    given = dict(choice=gs.sequences(choices), reward=gs.sequences(rewards), weights=RNG.random(n).astype(dtype))
    own = gs.Rows(PERSON, **given, rate=gs.per_row(), weight=gs.gather(group))
    close(own.steps(rate, table), np.stack([of_all(rewards, r.astype(float)) for r in rate]), dtype)
    grouped = gs.Rows(PERSON, **given, rate=gs.gather(group))  # rows stand by groups
    close(grouped.steps(table, 1.0), of_all(rewards, table.astype(float)[group]), dtype)


def test_order_of_the_data():
    """Numbers stand as those of the first sequence came: by keys, by offsets, in a table."""
    choices, rewards = drawn([3, 1, 2, 40])
    flat, wanted = [np.concatenate(c) for c in (choices, rewards)], of_all(rewards, 0.3)
    lists = gs.Rows(PERSON, choice=gs.sequences(choices), reward=gs.sequences(rewards))
    offsets = [0, 3, 4, 6, 46]
    close(gs.Rows(PERSON, choice=gs.sequences(flat[0], offsets), reward=gs.sequences(flat[1], offsets)).steps(0.3, 1.0), wanted)
    keys = np.repeat(["c", "a", "d", "b"], [3, 1, 2, 40])
    mixed = np.argsort(np.concatenate([np.sort(RNG.random(n)) for n in (3, 1, 2, 40)]))  # keys mix, and numbers of one do not
    by = [gs.sequences(f[mixed], by=keys[mixed]) for f in flat]
    rows = gs.Rows(PERSON, choice=by[0], reward=by[1])
    close(rows.steps(0.3, 1.0), wanted[:, mixed])
    close(pickle.loads(pickle.dumps(rows)).steps(0.3, 1.0), wanted[:, mixed])
    np.testing.assert_array_equal(rows.terms(0.3, 1.0)[[2, 0]], lists.terms(0.3, 1.0)[[0, 1]])
    table = RNG.normal(size=(5, 4))
    close(gs.Rows(PERSON, choice=gs.sequences(table > 0), reward=gs.sequences(table)).steps(0.3, 1.0), of_all(list(table), 0.3))


def test_more_sets_than_blocks_along_an_axis():
    y = np.arange(3.0)
    source = "real f(const real *y, int n, real a, real *o) { for (int t = 0; t < n; t++) o[t] = a * y[t]; return a; }"
    found, a = gs.Rows(source, y=gs.sequences([y[:2], y[2:]])), np.arange(70_000.0)
    np.testing.assert_array_equal(found.steps(a)["o"], np.multiply.outer(a, y))


def test_some_outputs():
    choices, rewards = drawn([3, 8])
    rows, wanted = gs.Rows(PERSON, choice=gs.sequences(choices), reward=gs.sequences(rewards)), of_all(rewards, 0.3)
    found = rows.steps(0.3, 1.0, outputs="behind")  # made of the other one
    assert list(found) == ["behind"]
    np.testing.assert_allclose(found["behind"], wanted[1], rtol=1e-13)
    found = rows.steps(rate=0.3, weight=1.0, outputs=["behind", "value"])
    assert list(found) == ["behind", "value"]
    np.testing.assert_allclose(list(found.values()), wanted[::-1], rtol=1e-13)
    assert rows.steps(0.3, 1.0, outputs=()) == {}


def test_the_sum_and_its_derivatives_have_none():
    choices, rewards = drawn(LENGTHS["many"])
    given = dict(choice=gs.sequences(choices), reward=gs.sequences(rewards), weight=gs.per_row())
    rows, alone, weight = gs.Rows(PERSON, **given), gs.Rows(ALONE, **given), RNG.normal(size=700)
    assert rows.kernel_source() == alone.kernel_source()
    for found, wanted in zip(rows.value_and_grad(0.3, weight), alone.value_and_grad(0.3, weight), strict=True):
        np.testing.assert_equal(found, wanted)
    np.testing.assert_array_equal(rows.terms(0.3, weight), alone.terms(0.3, weight))
    np.testing.assert_array_equal(rows.hessian(0.3, weight), alone.hessian(0.3, weight))


def test_many_derivatives_beside_outputs():
    """A loop that goes back for 12 derivatives and more."""
    names = [f"c{i}" for i in range(12)]
    source = f"""
    real wave(const real *y, int n, {", ".join(f"real {name}" for name in names)}, real *level)
    {{
        real c[12] = {{{", ".join(names)}}}, now = 0, total = 0;
        for (int t = 0; t < n; t++) {{
            now = 0.5 * now + c[t % 12] * y[t];
            level[t] = now;
            total += now * now;
        }}
        return total;
    }}"""
    y, c = [RNG.normal(size=n) for n in (30, 3)], RNG.normal(size=12)
    rows, wanted, total, slope = gs.Rows(source, y=gs.sequences(y)), [], 0.0, np.zeros(12)
    for its in y:
        now, d = 0.0, np.zeros(12)
        for t, v in enumerate(its):
            now, d = 0.5 * now + c[t % 12] * v, 0.5 * d + v * np.eye(12)[t % 12]
            wanted.append(now)
            total, slope = total + now**2, slope + 2 * now * d
    np.testing.assert_allclose(rows.steps(*c)["level"], wanted, rtol=1e-12)
    value, gradient = rows.value_and_grad(*c)
    np.testing.assert_allclose([value, *gradient.values()], [total, *slope], rtol=1e-11)


def test_nan_where_nothing_is_written():
    """Where parameters lie outside of their domains, the function leaves early, or it writes to some steps only."""
    choices, rewards = drawn([3, 4])
    rows = gs.Rows(PERSON, choice=gs.sequences(choices), reward=gs.sequences(rewards))
    found = rows.steps(np.array([0.3, 1.5, np.nan]), 1.0)
    close({n: v[0] for n, v in found.items()}, of_all(rewards, 0.3))
    assert all(np.isnan(v[1:]).all() for v in found.values())
    source = """
    real odd(const real *y, int n, real a, real *o)
    {
        if (y[0] < 0) return NAN;
        real s = 0;
        for (int t = 1; t < n; t += 2) {
            s += a * y[t];
            o[t] = s;
        }
        return s;
    }"""
    found = gs.Rows(source, y=gs.sequences([[1.0, 2, 3, 4, 5], [-1, 1, 1], [1.0]])).steps(2.0)["o"]
    np.testing.assert_array_equal(found, [np.nan, 4, np.nan, 12, *[np.nan] * 5])


def test_missing_numbers_and_places_outside():
    source = """
    real held(const real *y, int n, real a, real *last, real *next)
    {
        real now = a;
        for (int t = 0; t < n; t++) {
            if (!isnan(y[t])) now = y[t];
            last[t] = now;
            next[t - 1] = now;
            next[n + 5] = -1;
        }
        return now;
    }"""
    rows = gs.Rows(source, y=gs.sequences([[np.nan, 1.0, np.nan, 3.0], [2.0, np.nan]], missing=True))
    found = rows.steps(0.5)
    np.testing.assert_array_equal(found["last"], [0.5, 1, 1, 3, 2, 2])
    np.testing.assert_array_equal(found["next"], [1, 1, 3, -1, 2, -1])  # what lies outside is written to the nearest
    np.testing.assert_array_equal(rows.terms(0.5), [3, 2])


def test_models_of_series():
    """A registered model has outputs, too, and those who call it do not see them."""
    gs.register("""
    // smoothed_by_half: a mean that follows its numbers
    // y: vector, series    rate: unit    level: vector, the mean behind each number
    // source: test
    real smoothed_by_half_loglik(const real *y, int n, real rate, real *level)
    {
        real now = 0, sum = 0;
        for (int t = 0; t < n; t++) {
            sum += normal_logpdf(y[t], now, 1);
            now += rate * (y[t] - now);
            level[t] = now;
        }
        return sum;
    }""", replace=True)
    model, y = gs.series.smoothed_by_half, [RNG.normal(size=5), RNG.normal(size=3)]
    assert model.parameters == ("rate",) and model.outputs == {"level": "the mean behind each number"}
    found = gs.Rows(model, y=gs.sequences(y)).steps(0.5)["level"]
    wanted = np.concatenate([[(0.5 ** np.arange(t + 1, 0, -1) * v[: t + 1]).sum() for t in range(v.size)] for v in y])
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    caller = gs.Rows("real half(const real *y, int n, real a) { return a * smoothed_by_half_loglik(y, n, 0.5); }",
                     y=gs.sequences(y))  # fmt: skip
    np.testing.assert_allclose(caller(2.0), 2 * gs.Rows(model, y=gs.sequences(y))(0.5), rtol=1e-14)


def test_mistakes():
    choices, rewards = drawn([3])
    given = dict(choice=gs.sequences(choices), reward=gs.sequences(rewards))
    with pytest.raises(ValueError, match="person has no outputs by step: declare some behind its numbers, such as `real"):
        gs.Rows(ALONE, **given).steps(0.3, 1.0)
    with pytest.raises(ValueError, match="normal has no outputs by step"):
        gs.Rows(gs.normal, x=rewards[0]).steps(0.3, 1.0)
    with pytest.raises(ValueError, match="outputs: 'levels' is none of value, behind"):
        gs.Rows(PERSON, **given).steps(0.3, 1.0, outputs="levels")
    with pytest.raises(ValueError, match="person needs weight"):
        gs.Rows(PERSON, **given).steps(0.3)
    table = RNG.normal(size=(4, 2))
    with pytest.raises(ValueError, match="person has no sequences, and so no steps"):
        gs.Rows(PERSON, choice=table, reward=table).steps(0.3, 1.0)
    with pytest.raises(ValueError, match="Rows has a outputs of its own"):
        gs.Rows("real f(const real *y, int n, real outputs) { return outputs * y[0]; }", y=gs.sequences([[1.0]]))
