"""Models of rows in pieces: over devices, in a stream and on a cluster they give what they give in one piece."""

import copy
import pickle

import numpy as np
import pytest
from pieces import memmap, same
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.runtime import choose

N = 1501
SOURCE = "real row(real y, real eta, real a, real b, real h, real s) { return normal_logpdf(y, eta + a * b + h, s); }"
PIECES = [dict(chunk=400), dict(memory=60_000), dict(devices=2), dict(devices=2, chunk=333)]  # the chosen device, twice


def made(source, leaves, options):
    if "devices" in options:
        options = options | dict(devices=[choose.get()] * options["devices"])
    return gs.Rows(source, **leaves, **options)


@pytest.fixture
def leaves(rng):
    i, j = rng.integers(0, 40, N), rng.integers(0, 3, N)
    return dict(
        y=rng.normal(size=N), eta=gs.dot(rng.normal(size=(N, 2)), of="beta"), a=gs.gather(i), b=gs.gather(i, j),
        h=gs.per_row(), weights=rng.uniform(size=N),
    )  # fmt: skip


@pytest.fixture
def given(rng):
    return dict(beta=rng.normal(size=2), a=rng.normal(size=40), b=rng.normal(size=(40, 3)), h=rng.normal(size=N), s=1.5)


@pytest.mark.parametrize("options", some(PIECES), ids=str)
def test_pieces(leaves, given, options):
    whole, divided = gs.Rows(SOURCE, **leaves), made(SOURCE, leaves, options)
    assert "pieces of" in repr(divided) or "rows), " in repr(divided)
    for method in ("__call__", "value_and_grad", "terms", "hessian"):
        same(getattr(divided, method)(**given), getattr(whole, method)(**given))
    same(divided.value_and_grad(**given, wrt="b"), whole.value_and_grad(**given, wrt="b"))
    for direction in ({n: np.ones_like(v) for n, v in given.items()}, dict(h=given["h"])):
        same(divided.hessp(direction, **given), whole.hessp(direction, **given))
    in_order = [given[name] for name in divided.parameters]
    same(divided.value_and_grad(*in_order), whole.value_and_grad(**given))
    with pytest.raises(AttributeError, match="the data lie in pieces"):
        divided.device  # noqa: B018


def test_sets_in_pieces(leaves, given, rng):
    given |= dict(a=rng.normal(size=(2, 1, 40)), s=rng.uniform(1, 2, 3))
    whole, divided = gs.Rows(SOURCE, **leaves), gs.Rows(SOURCE, **leaves, chunk=500)
    same(divided.terms(**given), whole.terms(**given))
    value, gradient = divided.value_and_grad(**given)
    assert value.shape == (2, 3) and gradient["h"].shape == (N,)
    same((value, gradient), whole.value_and_grad(**given))


def test_the_same_pieces_give_the_same_bits(leaves, given):
    even = {n: v[:-1] for n, v in leaves.items() if isinstance(v, np.ndarray)}
    given = dict(eta=given["beta"][0], a=given["a"][0], b=given["b"][0, 0], h=given["h"][:-1], s=given["s"])
    one, two = (made(SOURCE, even | dict(h=gs.per_row()), way) for way in (dict(chunk=N // 2), dict(devices=2)))
    assert one(**given) == two(**given) == two(**given)
    for name, derivative in one.value_and_grad(**given)[1].items():
        np.testing.assert_array_equal(two.value_and_grad(**given)[1][name], derivative)


def test_vectors_in_pieces(rng):
    source = """real row(real y, const real *mu, const real *w, int dim)
    { real t = 0; for (int i = 0; i < dim; i++) t += w[i] * (y - mu[i]); return -t * t; }"""
    leaves = dict(y=rng.normal(size=90), w=rng.normal(size=(90, 3)), mu=gs.gather(rng.integers(0, 5, 90)))
    mu = rng.normal(size=(5, 3))
    whole = gs.Rows(source, **leaves).value_and_grad(mu)
    for options in PIECES:
        same(made(source, leaves, options).value_and_grad(mu), whole)


@THOROUGH
def test_travels(leaves, given):
    for options in ({}, *PIECES):
        rows = made(SOURCE, leaves, options)
        for other in (pickle.loads(pickle.dumps(rows)), copy.copy(rows), copy.deepcopy(rows)):
            same(other.value_and_grad(**given), rows.value_and_grad(**given))
            assert repr(other).split(" on ")[0] == repr(rows).split(" on ")[0]


@THOROUGH
def test_a_cluster(leaves, given):
    distributed = pytest.importorskip("distributed")
    whole = gs.Rows(SOURCE, **leaves)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        divided = gs.Rows(SOURCE, **leaves, client=client)
        same(divided.value_and_grad(**given), whole.value_and_grad(**given))
        same(divided.terms(**given), whole.terms(**given))


def test_what_cannot_be_divided(rng):
    y = rng.normal(size=100)
    source = "real row(real y, real a, real b) { return normal_logpdf(y, a, exp(b)); }"
    with pytest.raises(ValueError, match="rows that share elements of h with other rows cannot be divided"):
        gs.Rows(source, y=y, a=gs.per_row(of="h"), b=gs.per_row(of="h", offset=1), chunk=50)
    with pytest.raises(ValueError, match="without data there are no rows to divide"):
        gs.Rows(source, y=gs.per_row(), chunk=50)
    with pytest.raises(ValueError, match="chunk must be a positive number of rows"):
        gs.Rows(source, y=y, chunk=0)
    for name in ("weights", "devices", "chunk"):
        with pytest.raises(ValueError, match=f"call the argument {name} of the function otherwise"):
            gs.Rows(f"real row(real y, real {name}) {{ return y * {name}; }}", y=y)


def test_errors_name_the_rows_of_the_user(leaves, given):
    divided = gs.Rows(SOURCE, **leaves, chunk=400)
    with pytest.raises(ValueError, match=r"h has shape \(1500,\): its last axis must have 1501 numbers"):
        divided(**given | dict(h=np.zeros(1500)))
    with pytest.raises(ValueError, match="the index of a goes up to 39"):
        divided(**given | dict(a=np.zeros(39)))


@pytest.mark.parametrize("kind", ["memmap", "hdf5", "dask"])
@pytest.mark.parametrize("options", some([{}, *PIECES]), ids=str)
def test_arrays_that_are_read_by_slices(kind, options, leaves, given, tmp_path):
    whole = gs.Rows(SOURCE, **leaves)

    def stored(name, array):
        if kind == "memmap":
            return memmap(tmp_path, name, array)
        if kind == "dask":
            return pytest.importorskip("dask.array").from_array(array, chunks=(700, *array.shape[1:]))
        return pytest.importorskip("h5py").File(tmp_path / f"{name}.h5", "w").create_dataset(name, data=array)

    ways = dict(
        y=stored("y", leaves["y"]), eta=gs.dot(stored("X", leaves["eta"].X), of="beta"), h=gs.per_row(),
        a=gs.gather(stored("i", leaves["a"].indices[0])), weights=stored("weights", leaves["weights"]),
        b=gs.gather(stored("i2", leaves["b"].indices[0]), stored("j", leaves["b"].indices[1])),
    )  # fmt: skip
    rows = made(SOURCE, ways, options)
    same(rows.value_and_grad(**given), whole.value_and_grad(**given))
    same(rows.terms(**given), whole.terms(**given))
    with pytest.raises(ValueError, match="the index of a goes up to 39"):
        rows(**given | dict(a=np.zeros(39)))
    bad = leaves["a"].indices[0].copy()
    bad[1400] = -3
    with pytest.raises(ValueError, match=r"a, from row 0 on: an index is -3 at row 1400"):
        made(SOURCE, ways | dict(a=gs.gather(stored("bad", bad))), options)


# -- sequences

PERSON = """
real person(const real *choice, const real *reward, int n, real rate, real weight, real shift)
{
    real value = shift, loglik = 0;
    for (int t = 0; t < n; t++) {
        loglik += bernoulli_logit_logpmf(choice[t], weight * value);
        value += rate * (reward[t] - value);
    }
    return loglik;
}"""
OF_SEQUENCES = [dict(chunk=60), dict(memory=100_000), dict(devices=2), dict(devices=3, memory=90_000)]


@pytest.fixture
def people(rng):
    """Sequences one of which has a third of all numbers, and some none."""
    lengths = rng.integers(0, 40, 200)
    lengths[150] = 2000
    offsets = np.append(0, np.cumsum(lengths))
    choice, reward = rng.integers(0, 2, offsets[-1]), rng.random(offsets[-1])
    return dict(
        choice=gs.sequences(choice, offsets, empty=True), reward=gs.sequences(reward, offsets, empty=True),
        rate=gs.per_row(), weight=gs.gather(rng.integers(0, 4, 200)), weights=rng.uniform(size=200),
    )  # fmt: skip


@pytest.mark.parametrize("options", some(OF_SEQUENCES), ids=str)
def test_sequences_in_pieces(options, people, rng):
    whole, divided = gs.Rows(PERSON, **people), made(PERSON, people, options)
    given = dict(rate=rng.uniform(size=200), weight=rng.normal(size=4), shift=0.3)
    for method in ("__call__", "value_and_grad", "terms", "hessian"):
        same(getattr(divided, method)(**given), getattr(whole, method)(**given))
    direction = {n: np.ones_like(v) for n, v in given.items()}
    same(divided.hessp(direction, **given), whole.hessp(direction, **given))
    sets = given | dict(shift=rng.normal(size=3), rate=rng.uniform(size=(3, 200)))
    same(divided.value_and_grad(**sets), whole.value_and_grad(**sets))
    for other in (pickle.loads(pickle.dumps(divided)), copy.deepcopy(divided)):
        assert other(**given) == divided(**given)
        assert repr(other) == repr(divided)


def test_pieces_of_sequences_are_balanced_by_their_steps(people):
    lengths, ranges = people["choice"].lengths, made(PERSON, people, dict(devices=2))._pieces.ranges
    steps = [lengths[slice(*rows)].sum() for rows in ranges]
    assert len(steps) == 2 and max(steps) < 0.7 * sum(steps)  # halves of the rows would have a quarter and three
    ranges = gs.Rows(PERSON, **people, memory=100_000)._pieces.ranges
    assert (150, 151) in ranges and [first for first, _ in ranges[1:]] == [end for _, end in ranges[:-1]]
    short = [lengths[slice(*rows)].sum() for rows in ranges if rows != (150, 151)]
    assert max(short) < 1000
    with pytest.raises(ValueError, match="2 pieces of 1 rows take .* bytes of the device, and memory=60000: allow more memory"):
        gs.Rows(PERSON, **people, memory=60_000)


def test_steps_are_of_sequences_on_one_device():
    source = """
    real last(const real *y, {}int n, real a, real *twice)
    {{ for (int t = 0; t < n; t++) twice[t] = 2 * y[t]; return a; }}"""
    y = gs.sequences(np.arange(6.0), by=[1, 0, 1, 0, 0, 1])
    whole = gs.Rows(source.format(""), y=y)
    for rows in (whole, pickle.loads(pickle.dumps(whole))):
        np.testing.assert_array_equal(rows.steps(1.0)["twice"], 2 * np.arange(6.0))  # in the order in which they came
    divided = gs.Rows(source.format(""), y=y, chunk=1)
    assert divided(3.0) == 6
    with pytest.raises(ValueError, match="numbers of each step are of sequences on one device, and these lie in pieces"):
        divided.steps(1.0)
    with pytest.raises(ValueError, match="outputs by step are of functions of sequences and numbers, and v is a vector"):
        gs.Rows(source.format("const real *v, "), y=y).steps([1.0, 2.0], 1.0)


@THOROUGH
def test_sequences_on_a_cluster(people, rng):
    distributed = pytest.importorskip("distributed")
    given = dict(rate=rng.uniform(size=200), weight=rng.normal(size=4), shift=0.3)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        divided = gs.Rows(PERSON, **people, client=client)
        same(divided.value_and_grad(**given), gs.Rows(PERSON, **people).value_and_grad(**given))
        same(divided.terms(**given), gs.Rows(PERSON, **people).terms(**given))
