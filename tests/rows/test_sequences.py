"""Rows that are sequences: their sums and derivatives are those of a loop in NumPy, of statsmodels and of mpmath."""

import pickle

import mpmath as mp
import numpy as np
import pytest
from thorough import double_first

import gpustats as gs

RNG = np.random.default_rng(48)
PERSON = """
// choice, reward: what a person did, and what it brought
__device__ real person(const real *choice, const real *reward, int n, real rate, real weight)
{
    real value = 0, loglik = 0;
    for (int t = 0; t < n; t++) {
        loglik += bernoulli_logit_logpmf(choice[t], weight * value);
        value += rate * (reward[t] - value);
    }
    return loglik;
}"""
LENGTHS = {
    "alike": [7] * 40, "ragged": [1, 2, 31, 3000, 5], "one": [9], "rising": list(range(1, 90)),
    "many": RNG.integers(1, 60, 700).tolist(),
}  # fmt: skip


def drawn(lengths, dtype=np.float64):
    choices = [RNG.integers(0, 2, n).astype(dtype) for n in lengths]
    return choices, [RNG.random(n).astype(dtype) for n in lengths]


def of_person(choice, reward, rate, weight):
    value, total = 0.0, 0.0
    for c, r in zip(choice.astype(float), reward.astype(float), strict=True):
        total += c * weight * value - np.logaddexp(0, weight * value)
        value += rate * (r - value)
    return total


def slopes(function, *at):
    """Derivatives by complex numbers' sister, mpmath's central differences."""
    return [mp.diff(function, at, tuple(int(i == k) for i in range(len(at)))) for k in range(len(at))]


@double_first
@pytest.mark.parametrize("name", LENGTHS)
def test_values_and_derivatives(name, dtype):
    choices, rewards = drawn(LENGTHS[name], dtype)
    rows = gs.Rows(PERSON, choice=gs.sequences(choices), reward=gs.sequences(rewards))
    terms = np.array([of_person(c, r, 0.3, 2.0) for c, r in zip(choices, rewards, strict=True)])
    rtol = 1e-12 if dtype == np.float64 else 2e-4
    np.testing.assert_allclose(rows.terms(0.3, 2.0), terms, rtol=rtol, atol=rtol)
    value, gradient = rows.value_and_grad(0.3, 2.0)
    np.testing.assert_allclose(value, terms.sum(), rtol=rtol)

    def total(rate, weight):
        return sum(of_person(c, r, rate, weight) for c, r in zip(choices, rewards, strict=True))

    h = 1e-6
    wanted = [(total(0.3 + h, 2.0) - total(0.3 - h, 2.0)) / (2 * h), (total(0.3, 2.0 + h) - total(0.3, 2.0 - h)) / (2 * h)]
    np.testing.assert_allclose(list(gradient.values()), wanted, rtol=max(1e-6, rtol), atol=1e-5)


@pytest.mark.parametrize("n", [1, 3, 6, 17, 70])
def test_sequences_of_one_length(n):
    """They lie side by side in any number, as those do of which one is shorter: the same to the last digits."""
    rng = np.random.default_rng(n)
    y, level = rng.normal(size=(n, 9)), rng.normal(size=n)
    given = dict(sigma=0.7, sigma_level=0.4, level=level, level_sd=1.5)
    even, odd = (
        gs.Rows(gs.series.local_level, y=gs.sequences([*y, y[0, :k]]), level=gs.per_row()) for k in (9, 2)
    )
    given["level"] = np.append(level, level[0])
    (value, slopes), (others, their_slopes) = even.value_and_grad(**given), odd.value_and_grad(**given)
    terms, their_terms = even.terms(**given), odd.terms(**given)
    np.testing.assert_allclose(terms[:-1], their_terms[:-1], rtol=1e-13)
    np.testing.assert_allclose(value - terms[-1], others - their_terms[-1], rtol=1e-12)
    np.testing.assert_allclose(slopes["level"][:-1], their_slopes["level"][:-1], rtol=1e-12)
    found, wanted = even.steps(**given, outputs="smoothed_level"), odd.steps(**given, outputs="smoothed_level")
    np.testing.assert_allclose(found["smoothed_level"][: 9 * n], wanted["smoothed_level"][: 9 * n], rtol=1e-12)
    np.testing.assert_allclose(found["smoothed_level"][-9:], found["smoothed_level"][:9], rtol=1e-13)


def test_derivatives_to_the_last_digits():
    choice, reward = drawn([25])

    def total(rate, weight):
        value, found = mp.mpf(0), mp.mpf(0)
        for c, r in zip(choice[0], reward[0], strict=True):
            found += c * weight * value - mp.log1p(mp.exp(weight * value))
            value += rate * (r - value)
        return found

    rows = gs.Rows(PERSON, choice=gs.sequences(choice), reward=gs.sequences(reward))
    with mp.workdps(60):
        first = [float(s) for s in slopes(total, mp.mpf(0.3), mp.mpf(2))]
        at = mp.mpf(0.3), mp.mpf(2)
        second = [[float(mp.diff(total, at, n)) for n in line] for line in [[(2, 0), (1, 1)], [(1, 1), (0, 2)]]]
    _, gradient = rows.value_and_grad(0.3, 2.0)
    np.testing.assert_allclose(list(gradient.values()), first, rtol=1e-13)
    np.testing.assert_allclose(rows.hessian(0.3, 2.0), second, rtol=1e-12)
    product = rows.hessp({"rate": 0.5, "weight": -1.0}, 0.3, 2.0)
    np.testing.assert_allclose(list(product.values()), np.array(second) @ [0.5, -1.0], rtol=1e-12)


@pytest.mark.parametrize("name", ["ragged", "many"])
def test_parameters_of_rows_and_groups(name):
    choices, rewards = drawn(LENGTHS[name])
    n, h = len(choices), 1e-6
    group = RNG.integers(0, 3, n)
    rate, weight, weights = RNG.random(n), RNG.normal(size=4), RNG.random(n)
    rows = gs.Rows(
        PERSON, choice=gs.sequences(choices), reward=gs.sequences(rewards), rate=gs.per_row(), weight=gs.gather(group),
        weights=weights,
    )  # fmt: skip

    def terms(rate, weight):
        return weights * [of_person(*its) for its in zip(choices, rewards, rate, weight[group], strict=True)]

    value, gradient = rows.value_and_grad(rate, weight)
    np.testing.assert_allclose(value, terms(rate, weight).sum(), rtol=1e-12)
    np.testing.assert_allclose(rows.terms(rate, weight), terms(rate, weight), rtol=1e-12, atol=1e-12)
    by_row = (terms(rate + h, weight) - terms(rate - h, weight)) / (2 * h)
    np.testing.assert_allclose(gradient["rate"], by_row, rtol=1e-6, atol=1e-7)
    by_group = np.bincount(group, (terms(rate, weight + h) - terms(rate, weight - h)) / (2 * h), 4)
    np.testing.assert_allclose(gradient["weight"], by_group, rtol=1e-6, atol=1e-7)
    alone = gs.Rows(PERSON, choice=gs.sequences(choices), reward=gs.sequences(rewards), weight=gs.gather(group))
    found = alone.terms(0.4, weight)  # rows stand by groups
    np.testing.assert_allclose(found * weights, terms(np.full(n, 0.4), weight), rtol=1e-12, atol=1e-12)


def test_sets_of_parameters():
    choices, rewards = drawn(LENGTHS["many"])
    rows = gs.Rows(PERSON, choice=gs.sequences(choices), reward=gs.sequences(rewards))
    rate = RNG.random((3, 4))
    value, gradient = rows.value_and_grad(rate, 2.0)
    each = [rows.value_and_grad(r, 2.0) for r in rate.ravel()]
    np.testing.assert_array_equal(value.ravel(), [v for v, _ in each])
    np.testing.assert_array_equal(gradient["rate"].ravel(), [g["rate"] for _, g in each])


def test_forms_of_the_same_data():
    """A list, offsets, keys in any order, and a table."""
    choices, rewards = drawn([3, 1, 2])
    lists = gs.Rows(PERSON, choice=gs.sequences(choices), reward=gs.sequences(rewards))
    flat, offsets = [np.concatenate(c) for c in (choices, rewards)], [0, 3, 4, 6]
    of_offsets = gs.Rows(PERSON, choice=gs.sequences(flat[0], offsets), reward=gs.sequences(flat[1], offsets))
    keys, mixed = np.array(["a", "a", "a", "b", "c", "c"]), np.array([4, 3, 0, 1, 5, 2])
    by = [gs.sequences(f[mixed], by=keys[mixed]) for f in flat]
    of_keys = gs.Rows(PERSON, choice=by[0], reward=by[1])
    assert by[0].keys.tolist() == ["a", "b", "c"] and by[0].lengths.tolist() == [3, 1, 2]
    in_keys_order = [f.numbers for f in by]
    np.testing.assert_array_equal(in_keys_order[0][[3]], flat[0][[3]])
    for rows in (of_offsets, pickle.loads(pickle.dumps(lists))):
        np.testing.assert_array_equal(rows.terms(0.3, 2.0), lists.terms(0.3, 2.0))
    assert of_keys.terms(0.3, 2.0)[1] == lists.terms(0.3, 2.0)[1]
    table = RNG.integers(0, 2, (5, 4))
    of_table = gs.Rows(PERSON, choice=gs.sequences(table), reward=gs.sequences(table * 0.5))
    np.testing.assert_allclose(of_table.terms(0.3, 2.0)[2], of_person(table[2], table[2] * 0.5, 0.3, 2.0), rtol=1e-13)


def test_a_helper_goes_through_the_sequence():
    source = """
    __device__ real mean_of(const real *y, int n) { real s = 0; for (int t = 0; t < n; t++) s += y[t]; return s / n; }
    __device__ real spread(const real *y, int length, real scale)
    {
        real mean = mean_of(y, length), total = 0, last = y[length - 1];
        for (int t = length - 1; t >= 0; t--)
            total += (y[t] - mean) * (y[t] - mean);
        return scale * total + last;
    }"""
    y = [RNG.normal(size=n) for n in LENGTHS["ragged"]]
    rows = gs.Rows(source, y=gs.sequences(y))
    np.testing.assert_allclose(rows.terms(2.0), [2 * n.var() * n.size + n[-1] for n in y], rtol=1e-12)


def test_places_outside_of_a_sequence_are_its_ends():
    source = "__device__ real ends(const real *y, int n, real a) { return y[-1 + n - n] + a * y[n + 3]; }"
    y = [np.arange(1.0, n + 1) for n in (3, 1, 2)]
    np.testing.assert_array_equal(gs.Rows(source, y=gs.sequences(y)).terms(10.0), [31, 11, 21])


@pytest.mark.parametrize("make, message", [
    (lambda: gs.sequences(np.arange(4.0), [0, 2, 1, 4]), "fall from 2 to 1 at sequence 1"),
    (lambda: gs.sequences(np.arange(4.0), [0, 2, 2, 4]), "sequence 1 is empty"),
    (lambda: gs.sequences(np.arange(4.0), [0, 5]), "from 0 to the number of values, 4"),
    (lambda: gs.sequences(np.arange(4.0), [0, -1, 4]), "fall from 0 to -1 at sequence 0"),
    (lambda: gs.sequences(np.arange(4.0), np.array([0, 2**63 + 5, 4], np.uint64)), "fall from 9223372036854775813 to 4"),
    (lambda: gs.sequences(np.arange(4.0), [0.0, 4.0]), "offsets must be whole numbers, and has dtype float64"),
    (lambda: gs.sequences(np.arange(4.0), [0, None]), "offsets must be whole numbers, and has None at place 1"),
    (lambda: gs.sequences(np.arange(4.0), []), "offsets has no numbers"),
    (lambda: gs.sequences(np.arange(4.0), 4), r"offsets has shape \(\)"),
    (lambda: gs.sequences(np.zeros((2, 2)), [0, 4]), r"values has shape \(2, 2\), and must have one axis"),
    (lambda: gs.sequences(np.zeros((2, 3, 4))), r"values has shape \(2, 3, 4\): a table has two axes"),
    (lambda: gs.sequences([[[1, 2], [3]]]), r"sequence 0 is \[\[1, 2\], \[3\]\], whose parts have several lengths"),
    (lambda: gs.sequences([[1, np.nan], [2.0]]), "sequence 0 has nan at place 1"),
    (lambda: gs.sequences([[1, 2], [2, 3, 3]], increasing=True), "sequence 1 does not increase at place 2"),
    (lambda: gs.sequences(np.arange(4.0)), "sequence 0 has shape"),
    (lambda: gs.sequences(np.arange(4.0), by=[0, 1]), "by has 2 keys for 4 numbers"),
    (lambda: gs.sequences(np.arange(2.0), by=[0, np.nan]), "by has nan at place 1"),
    (lambda: gs.sequences(np.arange(2.0), by=np.array(["2020-01-01", "NaT"], "M8[D]")), "by has NaT at place 1"),
    (lambda: gs.sequences(np.arange(2.0), by=["a", None]), "by has None at place 1: each number needs a key"),
    (lambda: gs.sequences(np.arange(2.0), by=["a", np.nan]), "by has nan at place 1"),
    (lambda: gs.sequences(np.arange(3.0), by=["a", "b", 7]), "by has 'a' at place 0 and 7 at place 2, which have no order"),
    (lambda: gs.sequences([[1, np.nan, 1]], missing=True, increasing=True), "sequence 0 does not increase at place 2"),
    (lambda: gs.sequences([np.array([200, 100], np.uint8)], increasing=True), "sequence 0 does not increase at place 1"),
    (lambda: gs.sequences(np.arange(4.0), [0, 4], by=[0] * 4), "not with both"),
    (lambda: gs.Rows(PERSON, choice=gs.sequences([[1, 1], [1]]), reward=gs.sequences([[1, 1], [1, 2]])),
     "of row 1, choice has 1 numbers and reward has 2"),
    (lambda: gs.Rows(PERSON, choice=gs.sequences([[1, 1], [1]]), reward=gs.sequences([[1, 1]])), "same number of rows"),
    (lambda: gs.Rows(gs.series.q_learning, choice=gs.sequences([[1, 1], [1]])), "choice is a sequence, and reward must be"),
    (lambda: gs.Rows(gs.normal, x=gs.sequences([[1.0]])), "declare it `const real"),
    (lambda: gs.Rows(PERSON, choice=[[1, 1], [1]], reward=[[1, 1], [1]]), r"give sequences as gs.sequences\(choice\)"),
    (lambda: gs.Rows(gs.normal, x=[1.0], weights=gs.sequences([[1.0]])), "weights must be a column of data"),
])  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("values, message", [
    ([[1.0], ["2"]], "sequence 1 has dtype <U1, and a sequence has real numbers"),
    ([["x" * 9000]], "^sequence 0 has dtype <U9000, and a sequence has real numbers$"),
    ([[1j]], "sequence 0 has dtype complex128"),
    ([np.array(["2020-01-01"], "M8[D]")], r"sequence 0 has dtype datetime64\[D\].* such as hours since the first"),
    ([np.array([1.5, "x" * 9000], object)], "^sequence 0 has 'x{12}[.]{3}x{13}' at place 1, and a sequence has real numbers$"),
    (np.array([[1.5, "b"]], object), r"values has 'b' at place \(0, 1\)"),
    (np.zeros(2, [("a", "f8")]), "has dtype"),
    (3.0, "values is 3.0: give a list of arrays, a table"),
    (np.array(3.0), r"values is array\(3.\): give a list"),
    ("abc", "values is 'abc': give a list"),
    ({"a": [1.0]}, "values is {'a': .1.0.}: give a list"),
], ids=str)  # fmt: skip
def test_what_are_no_numbers(values, message):
    with pytest.raises(TypeError, match=message):
        gs.sequences(values)


TOTAL = """
__device__ real total(const real *y, int n, real a)
{
    real s = 0;
    for (int t = 0; t < n; t++)
        s += y[t];
    return a * s;
}"""


def test_numbers_of_any_kind(tmp_path):
    """Types, orders of bytes and forms of arrays: their sums are those of NumPy."""
    mapped = np.memmap(tmp_path / "y", np.float64, "w+", shape=5)
    mapped[:] = np.arange(5)
    several = {
        "bool": np.array([True, False, True, True, False]), "uint8": np.array([250, 251, 252, 0, 1], np.uint8),
        "int64": np.array([2**40, -(2**35), 1, 2, 3]), "uint64": np.array([2**63, 1, 2, 3, 4], np.uint64),
        "float16": np.array([0.5, 1, 2, 3, 4], np.float16), "longdouble": np.arange(5, dtype=np.longdouble),
        "big-endian": np.arange(5, dtype=">f8"), "strided": np.arange(10.0)[::-2], "read-only": np.broadcast_to(1.5, (5,)),
        "mapped": mapped, "objects": np.array([1, 2.5, np.float32(3), True, 2**70], object), "list": [1, 2.0, 3, True, 5],
    }  # fmt: skip
    for name, y in several.items():
        made = gs.sequences(y, np.array([0, 2, 5], ">u2"))
        wanted = [np.sum(np.asarray(part, float)) for part in (y[:2], y[2:])]
        np.testing.assert_allclose(gs.Rows(TOTAL, y=made).terms(1.0), wanted, rtol=1e-15, err_msg=name)
    assert gs.sequences(np.arange(5, dtype=">f4"), [0, 5]).numbers.dtype == np.float32
    assert gs.sequences([]).lengths.size == 0
    assert gs.Rows(TOTAL, y=gs.sequences([])).value_and_grad(2.0) == (0.0, {"a": 0.0})
    assert gs.sequences(v for v in ([1], [2, 3])).lengths.tolist() == [1, 2]


def test_columns_of_data_frames():
    pd = pytest.importorskip("pandas")
    offsets = [0, 2, 3]
    for dtype in ("Float64", "Int64", "boolean", "float64[pyarrow]", "int64[pyarrow]"):
        try:
            column = pd.Series([1, 0, None], dtype=dtype, index=[7, 5, 3])
        except ImportError:  # pyarrow
            continue
        np.testing.assert_array_equal(gs.sequences(column, offsets, missing=True).numbers, [1, 0, np.nan])
        with pytest.raises(ValueError, match="sequence 1 has nan at place 0"):
            gs.sequences(column, offsets)
        np.testing.assert_array_equal(gs.sequences(column[:2], pd.Series([0, 2])).numbers, [1, 0])
    with pytest.raises(TypeError, match="values has '1' at place 0"):
        gs.sequences(pd.Series(["1", "2"]), [0, 2])
    with pytest.raises(ValueError, match="offsets must be whole numbers, and has nan at place 1"):
        gs.sequences(column, pd.Series([0, None], dtype="Int64"))
    for keys in (pd.Series(["b", "a", "b"], dtype="category"), pd.array(["b", "a", "b"], dtype="string"), ["b", "a", "b"]):
        found = gs.sequences([1.0, 2.0, 3.0], by=keys)
        assert found.keys.tolist() == ["a", "b"] and found.numbers.tolist() == [2, 1, 3]
    days = pd.Series(pd.to_datetime(["2020-01-02", None], utc=True))
    gaps = [pd.Series(["b", None], dtype="category"), pd.array(["b", None], dtype="string"), days]
    for keys in (*gaps, pd.array([1, None], dtype="Int64")):
        with pytest.raises(ValueError, match="by has .* at place 1: each number needs a key"):
            gs.sequences([1.0, 2.0], by=keys)
    lists = gs.sequences(pd.Series([[1.0, 2.0], [3.0]]))
    assert lists.lengths.tolist() == [2, 1]
    table = gs.sequences(pd.DataFrame({"a": [1, 2], "b": pd.array([3, None], dtype="Int64")}), missing=True)
    np.testing.assert_array_equal(table.numbers, [1, 3, 2, np.nan])


@pytest.mark.parametrize("module", ["polars", "pyarrow", "xarray", "jax.numpy"])
def test_columns_of_other_libraries(module):
    library = pytest.importorskip(module)
    make = {"polars": "Series", "xarray": "DataArray"}.get(module, "array")
    column = getattr(library, make)([1.0, 2.0, np.nan])
    made = gs.sequences(column, getattr(library, make)([0, 2, 3]), missing=True)
    np.testing.assert_array_equal(made.numbers, [1, 2, np.nan])
    assert made.lengths.tolist() == [2, 1]
    if module in ("polars", "pyarrow"):
        assert gs.sequences(getattr(library, make)([[1.0, 2.0], [3.0]])).lengths.tolist() == [2, 1]
        with pytest.raises(ValueError, match="by has None at place 1"):
            gs.sequences([1.0, 2.0], by=getattr(library, make)(["a", None]))


def test_times_with_gaps_increase():
    y = [[1.0, np.nan, 2.0], [np.nan, 0.5, np.nan, np.nan, 0.6], [np.nan]]
    assert gs.sequences(y, missing=True, increasing=True).lengths.tolist() == [3, 5, 1]


def test_sequences_without_numbers():
    """Windows in which nothing happened: the Hawkes process has a likelihood there, and an element is nan."""
    times, end = [[], [1.0, 2.0], [], [0.5]], np.array([3.0, 4.0, 1.0, 2.0])
    rows = gs.Rows(gs.series.hawkes_exponential, times=gs.sequences(times, empty=True), end=end)
    some = gs.Rows(gs.series.hawkes_exponential, times=gs.sequences([times[1], times[3]]), end=end[[1, 3]])
    terms = rows.terms(0.5, 0.3, 1.2)
    np.testing.assert_array_equal(terms[[1, 3]], some.terms(0.5, 0.3, 1.2))
    np.testing.assert_allclose(terms[[0, 2]], [-1.5, -0.5], rtol=1e-14)
    value, gradient = rows.value_and_grad(0.5, 0.3, 1.2)
    np.testing.assert_allclose(value, terms.sum(), rtol=1e-14)
    of_some = some.value_and_grad(0.5, 0.3, 1.2)[1]
    np.testing.assert_allclose(list(gradient.values()), [of_some["mu"] - 4, of_some["alpha"], of_some["beta"]], rtol=1e-13)
    nothing = gs.Rows(gs.series.hawkes_exponential, times=gs.sequences([[], []], empty=True), end=[2.0, 1.0])
    assert nothing.value_and_grad(0.5, 0.3, 1.2) == (-1.5, {"mu": -3.0, "alpha": 0.0, "beta": 0.0})
    source = "__device__ real ends(const real *y, int n, real a) { return isnan(y[0]) && isnan(y[n - 1]) ? -1 : a * n; }"
    made = gs.Rows(source, y=gs.sequences(np.arange(3.0), [0, 0, 1, 1, 3, 3], empty=True))
    np.testing.assert_array_equal(made.terms(5.0), [-1, 5, -1, 10, -1])


def test_missing_numbers():
    source = """
    __device__ real seen(const real *y, int n, real mu)
    {
        real loglik = 0;
        for (int t = 0; t < n; t++)
            if (!isnan(y[t]))
                loglik += normal_logpdf(y[t], mu, 1);
        return loglik;
    }"""
    y = [np.array([1.0, np.nan, 2.0]), np.array([np.nan]), np.array([0.5])]
    value, gradient = gs.Rows(source, y=gs.sequences(y, missing=True)).value_and_grad(0.2)
    seen = np.concatenate(y)[~np.isnan(np.concatenate(y))]
    np.testing.assert_allclose(value, gs.normal.logpdf(seen, 0.2, 1.0).sum(), rtol=1e-13)
    np.testing.assert_allclose(gradient["mu"], (seen - 0.2).sum(), rtol=1e-13)


def test_sequences_keep_their_numbers():
    """Whoever changes an array later changes no model; rows of a data frame are sequences, as those of a table are."""
    y = np.arange(1.0, 5.0)
    rows = gs.Rows(TOTAL, y=gs.sequences(y, [0, 1, 4]))
    y[:] = 0
    np.testing.assert_array_equal(rows.terms(1.0), [1, 9])
    frame = pytest.importorskip("pandas").DataFrame({"first": [1.0, 2.0, 3.0], "second": [10.0, 20.0, 30.0]})
    np.testing.assert_array_equal(gs.Rows(TOTAL, y=gs.sequences(frame)).terms(1.0), [11, 22, 33])
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    with pytest.raises(TypeError, match="values is masked"):
        gs.sequences(masked, [0, 2])
    with pytest.raises(TypeError, match="sequence 1 is masked"):
        gs.sequences([[1.0], masked])
