"""Elements of tables that steps of sequences gather, and sequences of whole numbers: values and slopes are those of JAX."""

import pickle

import numpy as np
import pytest
from pieces import same
from thorough import double_first, some

import gpustats as gs
from gpustats.runtime import choose

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy

RNG = np.random.default_rng(77)
LENGTHS = [1, 40, 3, 17, *RNG.integers(1, 12, 30).tolist()]
T, N, ITEMS = sum(LENGTHS), len(LENGTHS), 23
OFFSETS = np.append(0, np.cumsum(LENGTHS))
PERSON = np.repeat(np.arange(N), LENGTHS)
ITEM, OTHER = RNG.integers(0, ITEMS, T), RNG.integers(0, ITEMS, T)
RIGHT, Y = RNG.integers(0, 2, T), RNG.normal(size=T)
WEIGHTS = RNG.uniform(0.5, 2, N)
LEARNER = """
__device__ real learner(const real *y, const real *effect, int n, real rate, real scale)
{
    real h = 0.1, loglik = 0;
    for (int t = 0; t < n; t++) {
        loglik += normal_logpdf(y[t], h + effect[t], scale);
        if (y[t] > 0)
            h += rate * (effect[t] * effect[t] - h);
        else
            h *= 0.9;
    }
    return loglik + h;
}"""


THERE = np.arange(max(LENGTHS)) < np.array(LENGTHS)[:, None]


def padded(values):
    found = np.zeros(THERE.shape, values.dtype)
    found[THERE] = values
    return found


def total(table, rate, scale, item=ITEM, weights=1.0):
    def step(h, now):
        y, effect, there = now
        density = -0.5 * ((y - h - effect) / scale) ** 2 - jnp.log(scale) - 0.5 * np.log(2 * np.pi)
        after = jnp.where(y > 0, h + rate * (effect**2 - h), h * 0.9)
        return jnp.where(there, after, h), jnp.where(there, density, 0)

    h, terms = jax.lax.scan(step, jnp.full(N, 0.1), (padded(Y).T, table[padded(item)].T, THERE.T))
    return (weights * (terms.sum(0) + h)).sum()


def sequences(values, dtype=None):
    return gs.sequences(values if dtype is None else values.astype(dtype), OFFSETS)


def compared(found, wanted, names, rtol=1e-11):
    np.testing.assert_allclose(found[0], wanted[0], rtol=rtol)
    assert list(found[1]) == names
    for name, slope in zip(names, wanted[1], strict=True):
        np.testing.assert_allclose(found[1][name], slope, rtol=rtol, atol=rtol * np.abs(slope).max(), err_msg=name)


@double_first
def test_a_table_and_numbers(dtype):
    rows = gs.Rows(LEARNER, y=sequences(Y, dtype), effect=gs.gather(sequences(ITEM)))
    table = RNG.normal(size=ITEMS + 4)  # the last elements of which no step has
    wanted = jax.value_and_grad(total, (0, 1, 2))(table, 0.3, 1.5)
    compared(rows.value_and_grad(table, 0.3, 1.5), wanted, ["effect", "rate", "scale"], 1e-11 if dtype == np.float64 else 2e-4)
    np.testing.assert_array_equal(rows.value_and_grad(table, 0.3, 1.5, wrt="effect")[1]["effect"][ITEMS:], 0)


def test_numbers_of_the_rows_and_weights():
    rows = gs.Rows(LEARNER, y=sequences(Y), effect=gs.gather(sequences(ITEM)), rate=gs.per_row(), weights=WEIGHTS)
    table, rate = RNG.normal(size=ITEMS), RNG.uniform(size=N)
    wanted = jax.value_and_grad(lambda *given: total(*given, weights=WEIGHTS), (0, 1, 2))(table, rate, 1.5)
    compared(rows.value_and_grad(table, rate, 1.5), wanted, ["effect", "rate", "scale"])
    np.testing.assert_allclose(rows.terms(table, rate, 1.5).sum(), wanted[0], rtol=1e-12)


def test_domains_are_looked_at_in_each_call():
    source = "// effect: positive vector    scale: positive\n" + LEARNER
    rows = gs.Rows(source, y=sequences(Y), effect=gs.gather(sequences(ITEM)))
    table = RNG.uniform(0.1, 1, ITEMS)
    wanted = jax.value_and_grad(total, (0, 1, 2))(table, 0.3, 1.5)
    compared(rows.value_and_grad(table, 0.3, 1.5), wanted, ["effect", "rate", "scale"])
    outside = np.where(np.arange(ITEMS) == ITEM[0], -1, table)
    assert np.isnan(rows(outside, 0.3, 1.5)) and np.isnan(rows.value_and_grad(outside, 0.3, 1.5)[1]["effect"][ITEM[0]])
    terms = rows.terms(outside, 0.3, 1.5)
    np.testing.assert_array_equal(np.isnan(terms), np.bincount(PERSON, ITEM == ITEM[0]) > 0)


def test_sets_of_parameters():
    rows = gs.Rows(LEARNER, y=sequences(Y), effect=gs.gather(sequences(ITEM)))
    table, rate = RNG.normal(size=(3, ITEMS)), RNG.uniform(size=3)
    value, gradient = rows.value_and_grad(table, rate, 1.5)
    for i in range(3):
        own = rows.value_and_grad(table[i], rate[i], 1.5)
        assert value[i] == own[0]
        np.testing.assert_array_equal(gradient["effect"][i], own[1]["effect"])
    scales = [rows.value_and_grad(*own, 1.5)[1]["scale"] for own in zip(table, rate, strict=True)]
    np.testing.assert_allclose(gradient["scale"], sum(scales), rtol=1e-12)
    shared = rows.value_and_grad(table[0], rate, 1.5)[1]["effect"]
    np.testing.assert_allclose(shared, sum(rows.value_and_grad(table[0], r, 1.5)[1]["effect"] for r in rate), rtol=1e-12)


PAIRS = """
__device__ real pairs(const int *first_won, const real *one, const real *other, const real *before, int n, real tie)
{
    real loglik = 0;
    for (int t = 0; t < n; t++) {
        real d = one[t] - other[t] + (t > 0 ? before[t - 1] * before[t - 1] : tie);
        loglik += log_expit(first_won[t] == 1 ? d : -d);
    }
    return loglik;
}"""


def test_several_elements_of_one_table():
    item, other = sequences(ITEM), sequences(OTHER)
    leaves = dict(one=gs.gather(item, of="skill"), other=gs.gather(other, of="skill"), before=gs.gather(item, of="skill"))
    rows = gs.Rows(PAIRS, first_won=sequences(RIGHT), **leaves)
    begins = np.isin(np.arange(T), OFFSETS[:-1])

    def of_pairs(skill, tie):
        d = skill[ITEM] - skill[OTHER] + jnp.where(begins, tie, skill[np.roll(ITEM, 1)] ** 2)
        return -jnp.logaddexp(0, jnp.where(RIGHT == 1, -d, d)).sum()

    skill = RNG.normal(size=ITEMS)
    compared(rows.value_and_grad(skill, 0.2), jax.value_and_grad(of_pairs, (0, 1))(skill, 0.2), ["skill", "tie"])


def test_tables_of_two_axes_and_steps_that_share_a_table_with_rows():
    source = """
    __device__ real both(const real *y, const real *effect, int n, real own)
    {
        real s = 0;
        for (int t = 0; t < n; t++) s += sin(y[t] * effect[t]) * own;
        return s;
    }"""
    season, group = RNG.integers(0, 4, T), RNG.integers(0, 3, N)
    rows = gs.Rows(source, y=sequences(Y), effect=gs.gather(group, sequences(season)), own=gs.per_row())
    table, own = RNG.normal(size=(3, 5)), RNG.normal(size=N)
    wanted = jax.value_and_grad(lambda a, b: (jnp.sin(Y * a[group[PERSON], season]) * b[PERSON]).sum(), (0, 1))(table, own)
    compared(rows.value_and_grad(table, own), wanted, ["effect", "own"])
    flat = RNG.normal(size=4)
    rows = gs.Rows(source, y=sequences(Y), effect=gs.gather(sequences(season), of="b"), own=gs.gather(group, of="b"))
    wanted = jax.value_and_grad(lambda b: (jnp.sin(Y * b[season]) * b[group][PERSON]).sum(), (0,))(flat)
    compared(rows.value_and_grad(flat), wanted, ["b"])


def test_large_tables():
    """Derivatives in more elements than lie beside the sums."""
    place = RNG.integers(0, 200_000, T)
    rows = gs.Rows(LEARNER, y=sequences(Y), effect=gs.gather(sequences(place)))
    table = RNG.normal(size=200_000)
    wanted = jax.value_and_grad(lambda *given: total(*given, item=place), (0, 1, 2))(jnp.asarray(table), 0.3, 1.5)
    compared(rows.value_and_grad(table, 0.3, 1.5), wanted, ["effect", "rate", "scale"])


def test_many_steps_of_few_elements():
    """Sums over the steps of an element in several segments."""
    y, place = RNG.normal(size=(400, 120)), RNG.integers(0, 2, (400, 120))
    source = """
    __device__ real squares(const real *y, const real *a, int n)
    { real s = 0; for (int t = 0; t < n; t++) s += (y[t] - a[t]) * (y[t] - a[t]); return s; }"""
    rows = gs.Rows(source, y=gs.sequences(y), a=gs.gather(gs.sequences(place)))
    a = np.array([0.3, -0.2])
    wanted = np.bincount(place.ravel(), -2 * (y - a[place]).ravel())
    np.testing.assert_allclose(rows.value_and_grad(a)[1]["a"], wanted, rtol=1e-12)


@pytest.mark.parametrize("options", some([dict(chunk=9), dict(devices=2)], 2), ids=str)
def test_in_pieces(options):
    leaves = dict(y=sequences(Y), effect=gs.gather(sequences(ITEM)), rate=gs.per_row())
    whole = gs.Rows(LEARNER, **leaves)
    if "devices" in options:
        options = dict(devices=[choose.get()] * 2)
    divided = gs.Rows(LEARNER, **leaves, **options)
    given = dict(effect=RNG.normal(size=ITEMS), rate=RNG.uniform(size=N), scale=1.5)
    same(divided.value_and_grad(**given), whole.value_and_grad(**given))
    same(divided.terms(**given), whole.terms(**given))
    for model in (whole, divided):
        assert pickle.loads(pickle.dumps(model))(**given) == model(**given)
    with pytest.raises(ValueError, match="the index of effect goes up to 22"):
        divided(**given | dict(effect=np.zeros(5)))


def test_programs_of_jax():
    rows = gs.Rows(LEARNER, y=sequences(Y), effect=gs.gather(sequences(ITEM)))
    function, table = gs.as_jax(rows), RNG.normal(size=ITEMS)
    value, slopes = jax.jit(jax.value_and_grad(lambda e, r: function(effect=e, rate=r, scale=1.5), (0, 1)))(table, 0.3)
    compared((value, dict(zip(("effect", "rate"), slopes, strict=True))),
             jax.value_and_grad(total, (0, 1))(table, 0.3, 1.5), ["effect", "rate"])  # fmt: skip


def test_second_derivatives():
    rows = gs.Rows(LEARNER, y=sequences(Y), effect=gs.gather(sequences(ITEM)))
    table = RNG.normal(size=ITEMS)
    wanted = jax.hessian(total, (1, 2))(table, 0.3, 1.5)
    np.testing.assert_allclose(rows.hessian(table, 0.3, 1.5), wanted, rtol=1e-10)
    with pytest.raises(ValueError, match="effect is gathered by steps: there are no products with second derivatives"):
        rows.hessp({"rate": 1.0}, table, 0.3, 1.5)


def test_rows_without_steps():
    source = """
    __device__ real some(const real *a, int n, real b)
    { real s = b; for (int t = 0; t < n; t++) s += a[t] * b; return s; }"""
    rows = gs.Rows(source, a=gs.gather(gs.sequences([[], [1, 0], [], [1]], empty=True)))
    value, gradient = rows.value_and_grad(np.array([3.0, 5.0]), 2.0)
    assert value == 8 + 6 + 10 + 10
    np.testing.assert_array_equal(gradient["a"], [2, 4])
    assert gradient["b"] == 4 + 13
    nothing = gs.Rows(source, a=gs.gather(gs.sequences([[], []], empty=True)))
    value, gradient = nothing.value_and_grad(np.array([3.0, 5.0]), 2.0)
    assert (value, gradient["b"]) == (4, 2) and not gradient["a"].any()


def test_a_function_without_a_loop():
    source = "__device__ real ends(const real *a, int n, real b) { return a[0] * exp(b * a[n - 1]); }"
    rows = gs.Rows(source, a=gs.gather(sequences(ITEM)))
    first, last, a = ITEM[OFFSETS[:-1]], ITEM[OFFSETS[1:] - 1], RNG.normal(size=ITEMS)
    wanted = jax.value_and_grad(lambda a, b: (a[first] * jnp.exp(b * a[last])).sum(), (0, 1))(a, 0.4)
    compared(rows.value_and_grad(a, 0.4), wanted, ["a", "b"])


QUESTION = gs.sequences([[0, 1, 2], [2, 0]])
TWICE = """
__device__ real inner(const real *a, int n) { real s = 0; for (int t = 0; t < n; t++) s += a[t]; return s; }
__device__ real twice(const real *a, int n, real b) { return inner(a, n) * inner(a, n) + b; }"""
COUNTS = "__device__ real counts(const int *k, int n, real a) { return a * k[0]; }"


@pytest.mark.parametrize("make, message", [
    (lambda: gs.gather(gs.sequences([[0, -1]])), "effect: an index is -1 in sequence 0 at place 1; places count from 0"),
    (lambda: gs.gather(gs.sequences([[0], [0, -2]])), "effect: an index is -2 in sequence 1 at place 1"),
    (lambda: gs.gather(gs.sequences([[0.0, 1.0]])), "effect: an index is of dtype float64; it must be sequences of whole"),
    (lambda: gs.gather(QUESTION, gs.sequences([[1, 2]])), "effect: the sequences of its indices must have the same lengths"),
    (lambda: gs.gather([0, 1, 2], QUESTION), "effect: an index has 3 rows, and there are 2 sequences"),
    (lambda: gs.gather(gs.sequences([[0, 1], [2, 0]])), "of row 0, y has 3 numbers and effect has 2"),
])  # fmt: skip
def test_bad_indices(make, message):
    with pytest.raises(ValueError, match=message):
        gs.Rows(LEARNER, y=gs.sequences([[1.0, 2.0, 3.0], [4.0, 5.0]]), effect=make())


def test_other_bad_input():
    rows = gs.Rows(LEARNER, y=gs.sequences([[1.0, 2.0, 3.0], [4.0, 5.0]]), effect=gs.gather(QUESTION))
    with pytest.raises(ValueError, match="the index of effect goes up to 2, in sequence 0: axis 0 of the table must have 3"):
        rows(np.zeros(2), 0.3, 1.5)
    with pytest.raises(ValueError, match="each step gathers it: declare it `const real"):
        gs.Rows(LEARNER, y=gs.sequences([[1.0, 2.0, 3.0], [4.0, 5.0]]), effect=gs.gather(QUESTION), rate=gs.gather(QUESTION))
    twice = gs.Rows(TWICE, a=gs.gather(QUESTION))
    assert twice([1.0, 2.0, 3.0], 1.0) == 36 + 16 + 2
    with pytest.raises(gs.DeviceFunctionError, match="derivatives in the elements of a need it in one function alone"):
        twice.value_and_grad([1.0, 2.0, 3.0], 1.0)
    assert twice.value_and_grad([1.0, 2.0, 3.0], 1.0, wrt="b")[1] == {"b": 2}


def test_sequences_of_whole_numbers():
    source = """
    __device__ int twice(const int *k, int n, int t) { return 2 * k[t]; }
    __device__ real counts(const int *k, const real *y, int n, real a)
    {
        real value[3] = {0, a, a * a}, s = 0;
        for (int t = 0; t < n; t++) s += value[k[t]] * y[t] + twice(k, n, t) / 2;
        return s;
    }"""
    k = RNG.integers(0, 3, T)
    for numbers in (k, k.astype(float), k.astype(np.uint8)):
        rows = gs.Rows(source, k=sequences(numbers), y=sequences(Y))
        value, gradient = rows.value_and_grad(0.7)
        np.testing.assert_allclose(value, np.sum(0.7**k * (k > 0) * Y) + k.sum(), rtol=1e-12)
        np.testing.assert_allclose(gradient["a"], np.sum((k == 1) * Y + 1.4 * (k == 2) * Y), rtol=1e-12)


@pytest.mark.parametrize("numbers, message", [
    ([[1], [2, 1.5]], "sequence 1 of k is no whole number of int at place 1: k is `const int"),
    ([[2**31, 1]], "sequence 0 of k is no whole number of int at place 0"),
    ([np.array([2**24 + 2], np.float32)], "sequence 0 of k is no whole number of int at place 0"),
])  # fmt: skip
def test_what_are_no_whole_numbers(numbers, message):
    with pytest.raises(ValueError, match=message):
        gs.Rows(COUNTS, k=gs.sequences(numbers))


def test_more_that_are_no_whole_numbers():
    with pytest.raises(ValueError, match="sequence 0 of k is no whole number of int at place 1"):
        gs.Rows(COUNTS, k=gs.sequences([[1, np.nan]], missing=True))
    with pytest.raises(ValueError, match=r"k is `const int \*`: give it as gs.sequences"):
        gs.Rows(COUNTS, k=gs.gather(QUESTION))
    for source, message in {
        "real f(const int *k, int n) { k[0] = 1; return 0; }": "k is not to be written: it is a `const int",
        "real g(const real *y, int n) { return 0; } real f(const int *k, int n) { return g(k, n); }": "g wants a `const real",
        "real g(const int *y, int n) { return 0; } real f(const real *k, int n) { return g(k, n); }": "g wants a `const int",
    }.items():
        with pytest.raises(gs.DeviceFunctionError, match=message):
            gs.Rows(source, k=gs.sequences([[1]]))
    with pytest.raises(gs.DeviceFunctionError, match="k must be `const real .`: `const int .` is for sequences"):
        gs.register("real never_logpdf(const int *k, int dim) { return k[0]; }")
