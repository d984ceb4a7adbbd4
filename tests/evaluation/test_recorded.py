"""Calls from Python that have the device do again what their thread has recorded: bits, numbers, threads, forks, refusals."""

import gc
import multiprocessing
import threading
import weakref

import numpy as np
import pytest
from thorough import double_first

import gpustats as gs
from gpustats.evaluation import repeated
from gpustats.runtime import choose

N = 200


def likelihood(rng, dtype):
    x = rng.normal(size=N).astype(dtype)
    return lambda: gs.Likelihood(gs.student_t, x), lambda m: m.value_and_grad(rng.uniform(2, 9), rng.normal(), sigma=1.5)


def glm(rng, dtype):
    X, y = rng.normal(size=(N, 5)).astype(dtype), rng.integers(0, 2, N)
    group = rng.integers(0, 4, N)
    return (
        lambda: gs.GLM(gs.bernoulli_logit, y, X, groups=group),
        lambda m: m.value_and_grad(rng.normal(size=5), alpha=rng.normal(size=4)),
    )


def glm_of_outcomes(rng, dtype):
    """The coefficients travel in another order than theirs."""
    X, y = rng.normal(size=(N, 4)).astype(dtype), rng.integers(0, 3, N)
    make = lambda: gs.GLM(gs.categorical_logit, y, X)  # noqa: E731
    return make, lambda m: m.value_and_grad(rng.normal(size=(4, 3)), rng.normal(size=3))


def glm_of_sets(rng, dtype):
    X, y = rng.normal(size=(N, 4)).astype(dtype), rng.integers(0, 2, N)
    make = lambda: gs.GLM(gs.bernoulli_logit, y, X)  # noqa: E731
    return make, lambda m: m.value_and_grad(rng.normal(size=(3, 4)), rng.normal(size=(3, 1)))


def rows(rng, dtype):
    y, group = rng.normal(size=N).astype(dtype), rng.integers(0, 4, N)
    X = rng.normal(size=(N, 2)).astype(dtype)
    text = "real f(real y, real a, real eta, real s) { return normal_logpdf(y, a + eta, s); }"
    return (
        lambda: gs.Rows(text, y=y, a=gs.gather(group), eta=gs.dot(X)),
        lambda m: m.value_and_grad(a=rng.normal(size=4), eta=rng.normal(size=2), s=rng.uniform(1, 2)),
    )


def rows_of_sets(rng, dtype, a=(3, 4), eta=(3, 2), s=(3,)):
    y, group = rng.normal(size=N).astype(dtype), rng.integers(0, 4, N)
    X = rng.normal(size=(N, 2)).astype(dtype)
    text = "real f(real y, real a, real eta, real s) { return normal_logpdf(y, a + eta, s); }"
    return (
        lambda: gs.Rows(text, y=y, a=gs.gather(group), eta=gs.dot(X)),
        lambda m: m.value_and_grad(a=rng.normal(size=a), eta=rng.normal(size=eta), s=rng.uniform(1, 2, s)),
    )


def rows_of_sets_that_share(rng, dtype):
    return rows_of_sets(rng, dtype, a=(4,), s=())


def rows_of_a_grid_of_sets(rng, dtype):
    return rows_of_sets(rng, dtype, a=(2, 3, 4), eta=(2, 3, 2), s=(2, 3))


def rows_with_tables_on_the_device(rng, dtype):
    """Which lie elsewhere in each call; the derivatives stay there."""
    y, group = rng.normal(size=N).astype(dtype), rng.integers(0, 4, N)
    make = lambda: gs.Rows(gs.normal, x=y, mu=gs.gather(group), sigma=gs.per_row())  # noqa: E731
    return make, lambda m: m.value_and_grad(
        mu=gs.to_device(rng.normal(size=4).astype(dtype)), sigma=gs.to_device(rng.uniform(1, 2, N).astype(dtype))
    )


def rows_with_derivatives_by_row(rng, dtype):
    y = rng.normal(size=N).astype(dtype)
    make = lambda: gs.Rows(gs.normal, x=y, mu=gs.per_row())  # noqa: E731
    return make, lambda m: m.value_and_grad(mu=rng.normal(size=N), sigma=rng.uniform(1, 2))


def mixture(rng, dtype):
    x = rng.normal(size=N).astype(dtype)
    weights = np.log([0.25, 0.75]).astype(dtype)
    return lambda: gs.Mixture(gs.normal, x), lambda m: m.value_and_grad(weights, rng.normal(size=2).astype(dtype), 1.5)


MOVING = [rows_with_tables_on_the_device, rows_with_derivatives_by_row]
MODELS = [
    likelihood, glm, glm_of_outcomes, glm_of_sets, rows, rows_of_sets, rows_of_sets_that_share, rows_of_a_grid_of_sets, mixture,
    *MOVING,
]  # fmt: skip


@pytest.fixture
def recordings(monkeypatch):
    """What is recorded, and how often it is started."""
    made = []
    original = repeated._Recorded.start

    def start(self, *arguments):
        made.append(weakref.ref(self))
        return original(self, *arguments)

    monkeypatch.setattr(repeated._Recorded, "start", start)
    return made


def equal(found, want):
    np.testing.assert_array_equal(found[0], want[0])
    assert list(found[1]) == list(want[1])
    for name, derivative in want[1].items():
        assert type(found[1][name]) is type(derivative)
        np.testing.assert_array_equal(found[1][name], derivative)


@double_first
@pytest.mark.parametrize("build", MODELS, ids=lambda b: b.__name__)
def test_the_same_bits_as_one_by_one(build, dtype, recordings):
    if choose.get().recording(1, 1, lambda given, found: None) is None:
        pytest.skip("this device records nothing")
    if build in MOVING and not choose.get().moves:
        pytest.skip("this device records no arrays that lie elsewhere in each call")
    rng, again = np.random.default_rng(1), np.random.default_rng(1)
    make, call = build(rng, dtype)
    same, its = build(again, dtype)
    model = make()
    for i in range(repeated.UNRECORDED_CALLS + 4):
        equal(call(model), its(same()))
        assert len(recordings) == max(i + 1 - repeated.UNRECORDED_CALLS, 0)


def test_what_was_found_stays(rng):
    """The next call uses the same memory."""
    make, call = glm(rng, np.float64)
    model = make()
    found = [call(model) for _ in range(6)]
    kept = [(value, {n: g.copy() for n, g in gradient.items()}) for value, gradient in found]
    call(model)
    for got, want in zip(found, kept, strict=True):
        equal(got, want)


def test_numbers_that_are_not_plain(rng):
    model = gs.Likelihood(gs.normal, rng.normal(size=N))
    want = model.value_and_grad(2.0, 1.0)
    for _ in range(5):
        for number in (2, np.float32(2), np.float64(2)):
            equal(model.value_and_grad(number, 1.0), want)
        equal(model.value_and_grad(np.array(2.0), 1.0), model.value_and_grad(np.array(2.0), 1.0))
        assert np.isnan(model(np.nan, 1.0)) and np.isnan(model(0.0, -1.0))
        with pytest.raises(OverflowError):
            model.value_and_grad(10**400, 1.0)
        equal(model.value_and_grad(2.0, 1.0), want)
    single = gs.Likelihood(gs.normal, np.ones(3, np.float32))
    assert [single(1e300, 1.0) for _ in range(5)] == [-np.inf] * 5


def test_threads(recordings):
    """Each has a recording of its own; all share a model."""
    rng = np.random.default_rng(1)
    x, points = rng.normal(size=N), rng.normal(size=40)
    model = gs.Likelihood(gs.normal, x)
    want, found = [model.value_and_grad(p, 1.5) for p in points], {}

    def work(name):
        found[name] = [model.value_and_grad(p, 1.5) for p in points]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for its in found.values():
        for got, expected in zip(its, want, strict=True):
            equal(got, expected)
    assert len(found) == 4
    assert len(recordings) in (0, 5 * (len(points) - repeated.UNRECORDED_CALLS))


@pytest.mark.parametrize("build", MODELS, ids=lambda b: b.__name__)
def test_a_recording_goes_with_its_model_and_its_thread(build, rng, recordings):
    """At once: it holds memory of the device."""
    make, call = build(rng, np.float64)

    def work():
        model = make()
        for _ in range(4):
            call(model)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    gc.collect()
    gc.disable()
    try:
        work()
    finally:
        gc.enable()
    assert [its() for its in recordings] == [None] * len(recordings)


def test_what_the_driver_refuses_is_started_one_by_one(rng, monkeypatch):
    model = gs.Likelihood(gs.normal, rng.normal(size=N))
    want = [model.value_and_grad(0.1, 1.5) for _ in range(4)]
    monkeypatch.setattr(repeated._Recorded, "start", lambda self, *arguments: False)
    equal(model.value_and_grad(0.1, 1.5), want[-1])


def test_data_that_change_where_they_lie(rng):
    """A device array is read in each call."""
    x = gs.to_device(rng.normal(size=N))
    model = gs.Likelihood(gs.normal, x)
    for _ in range(5):
        host = gs.to_host(x)
        np.testing.assert_allclose(model(0.0, 1.0), gs.normal.loglik(host, 0.0, 1.0), rtol=1e-12)
        choose.get().fill([(x, host + 1.0)])


def in_a_child(model, queue):
    try:
        queue.put(("found", model.value_and_grad(0.1, 1.5)))
    except RuntimeError as error:
        queue.put(("error", str(error)))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_gets_an_error(rng):
    model = gs.Likelihood(gs.normal, rng.normal(size=N))
    for _ in range(4):
        model.value_and_grad(0.1, 1.5)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=in_a_child, args=(model, queue))
    process.start()
    kind, what = queue.get()
    process.join(20)
    assert kind == "error" and "was forked" in what and process.exitcode == 0
