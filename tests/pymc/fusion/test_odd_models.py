"""Models that are easily misread, and points where they are invalid, at a kink or nan: fused they are what they were."""

import sys
import threading

import mpmath as mp
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.pytensorf import rewrite_pregrad
from pytensor.graph.traversal import toposort
from runtimes import needs_cpu
from thorough import some

import gpustats.pymc as gpm

N = 60
REFERENCE = pytensor.compile.Mode("py", "fast_run").excluding("fusion")
rng = np.random.default_rng(7)
X, T, Y = rng.normal(size=(N, 3)), rng.uniform(0.5, 5, N), rng.normal(size=N)
GROUP, BINARY = rng.integers(0, 6, N), rng.integers(0, 2, N)
TABLE = Y.reshape(12, 5)


def normal(mean, sigma=1.0, observed=Y):
    pm.Normal("y", mean, sigma, observed=observed)


def joins_that_end_at_different_rows():
    a, b, c, d = map(pm.Normal, "abcd")
    normal(pt.concatenate([a * T[:20], b * T[20:]]) + pt.concatenate([c * X[:40, 0], d * X[40:, 1]]))


def two_lags():
    h = pm.Normal("h", shape=N)
    normal(h - 0.5 * pt.concatenate([[0.0], h[:-1]]) - 0.2 * pt.concatenate([[0.0, 0.0], h[:-2]]))


def two_shapes_of_one_variable():
    z = pm.Normal("z", shape=336)
    normal(z.reshape((8, 42))[GROUP, 3] * 2 + z.reshape((14, 24))[GROUP, 3])


def part_of_the_columns():
    z = pm.Normal("z", shape=(12, 6))
    normal(z[:, 1:] - z[:, :5] ** 2, observed=TABLE)


def part_of_the_rows():
    model = pm.modelcontext(None)
    model.add_coords({"time": range(14), "unit": range(5)})
    z = pm.Normal("z", dims=("time", "unit"))
    normal(z[2:] * z[:12], observed=TABLE)


def rate_that_may_be_negative():
    pm.ZeroInflatedPoisson("y", 0.5, pm.Normal("a", 0.1) * X[:, 0] + 0.5, observed=(X[:, 0] > 0) * 3)


def check_within_a_choice():
    valid = pm.logp(pm.Normal.dist(0, pm.Normal("a", initval=0.1) * X[:, 0]), Y)
    pm.Potential("p", pt.switch(X[:, 0] > 0, valid, 0.0).sum())


def check_of_more_axes_than_rows():
    s = pm.Normal("s", 1, 0.4, shape=(12, 5, 5))
    pm.Mixture("y", w=np.ones(5) / 5, comp_dists=pm.Normal.dist(0, s * 1.0), observed=TABLE)


def scale_of_zero():
    scales = pt.maximum(pm.Normal("scales", shape=3, initval=[0.5, -2.0, 1.0]), 0.0)
    pm.NormalMixture("y", pm.Dirichlet("w", np.ones(3)), [-1.0, 0.0, 1.0], sigma=scales, observed=Y)


def condition_of_all_rows():
    b = pm.Normal("b")
    normal(pt.switch(pt.all(b * X[:, 0] > -0.1), b * T, 1.0))


def condition_of_any_row():
    b = pm.Normal("b")
    normal(pt.switch(pt.any(b * X[:, 0] > 0.5), b * T, 1.0))


def index_from_the_end():
    k = pm.DiscreteUniform("k", 0, 3, shape=N, initval=GROUP % 4)
    a = pm.Normal("a", shape=4)
    normal(a[-k] + a[k - 3])


def bits():
    k = pm.DiscreteUniform("k", 0, 3, shape=6, initval=[0, 1, 2, 3, 2, 1])
    normal((pt.bitwise_and(k[GROUP], BINARY) + pt.bitwise_or(k[GROUP], BINARY + 1)) * pm.Normal("a"))


def truth_values_that_are_counted():
    b = pm.Normal("b")
    normal(((b * T > 0) * 1 + (T > 2)) * 1.5 * b)


def remainder_of_multiples():
    b = pm.Normal("b", 1, initval=1.0)
    normal((b * np.round(T * 10) / 10) % 0.1 * b + (-b * T) % 0.7)


def clipped():
    b, missing = pm.Normal("b"), np.where(BINARY == 1, np.nan, Y)
    pm.Potential("p", pt.switch(pt.isnan(pt.clip(b * T * missing, -1, 1)), 1.0, b * T).sum())


def larger_of_two():
    b, missing = pm.Normal("b"), np.where(BINARY == 1, np.nan, Y)
    pm.Potential("p", pt.switch(pt.isnan(pt.maximum(b * T, missing)), 1.0, b * T).sum())
    pm.Potential("q", pt.switch(pt.isnan(pt.minimum(missing, b * T)), 1.0, b * X[:, 0]).sum())


def kinks():
    b = pm.Normal("b", initval=0.0)
    normal(pt.maximum(b * T, 0.0) + pt.minimum(0.0, b * X[:, 0]) + pt.clip(b * T, 0.0, 1.0) + pt.sgn(b * T) * b)


def observations_without_density():
    pm.HalfNormal("y", pt.exp(pm.Normal("a") * T), observed=np.where(BINARY, T, -1.0))


def whole_numbers_beyond_floating_point():
    k = pm.DiscreteUniform("k", 0, 3, shape=6, initval=[0, 1, 2, 3, 2, 1])
    large = 2**53 + 2 * np.arange(N) + 1
    normal((large + k[GROUP] - 2**53) * 0.01 * pm.Normal("a"))


MODELS = [
    joins_that_end_at_different_rows, two_lags, two_shapes_of_one_variable, part_of_the_columns, part_of_the_rows,
    rate_that_may_be_negative, check_within_a_choice, check_of_more_axes_than_rows, scale_of_zero, condition_of_all_rows,
    condition_of_any_row, index_from_the_end, bits, truth_values_that_are_counted, remainder_of_multiples, clipped,
    larger_of_two, kinks, observations_without_density, whole_numbers_beyond_floating_point,
]  # fmt: skip


def log_posterior(model, mode):
    total = rewrite_pregrad(model.logp())
    gradients = pytensor.grad(total, model.continuous_value_vars, disconnected_inputs="ignore")
    return pm.compile(model.value_vars, [total, *gradients], mode=mode, on_unused_input="ignore")


def pair(model):
    """The log-posterior with its gradient, and the same with sums fused."""
    with gpm.fused(min_rows=0):
        ours = log_posterior(model, "FAST_COMPILE")
    return log_posterior(model, REFERENCE), ours


def points(model, number=3):
    start = model.initial_point(random_seed=1)
    values = [np.asarray(start[v.name]) for v in model.value_vars]
    yield values
    draws = np.random.default_rng(3)
    for _ in range(number):
        yield [v + 0.4 * draws.normal(size=v.shape) if v.dtype.kind == "f" else v for v in values]


@pytest.mark.parametrize("write", some(MODELS, 12), ids=lambda f: f.__name__)
def test_values_and_gradients(write):
    with pm.Model() as model:
        write()
    plain, ours = pair(model)
    for point in points(model):
        with np.errstate(all="ignore"):
            for found, wanted in zip(ours(*point), plain(*point), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_some_of_these_are_fused():
    def is_fused(write):
        with pm.Model() as model:
            write()
        with gpm.fused(min_rows=0):
            function = log_posterior(model, "FAST_COMPILE")
        return "Fused" in [type(node.op).__name__ for node in toposort(function.maker.fgraph.outputs)]

    assert all(map(is_fused, [two_lags, part_of_the_rows, rate_that_may_be_negative, index_from_the_end, kinks]))


def test_index_out_of_range():
    with pm.Model() as model:
        k = pm.DiscreteUniform("k", 0, 9, shape=N, initval=GROUP + 4)
        normal(pm.Normal("a", shape=4)[k])
    for function in pair(model):
        with pytest.raises(IndexError):
            function(*next(points(model)))


@pytest.mark.parametrize("changed, value", [("seen", np.ones(1)), ("x", np.ones(1))])
def test_data_of_one_row_are_not_repeated(changed, value):
    with pm.Model() as model:
        normal(pm.Normal("a") * pm.Data("x", T), observed=pm.Data("seen", Y))
    functions = pair(model)
    with model:
        pm.set_data({changed: value})
    for function in functions:
        with pytest.raises(ValueError, match="(?i)broadcast|incompatible shape"):
            function(0.5)


def test_data_of_one_column(rng):
    with pm.Model() as model:
        normal(pt.dot(pm.Data("x", rng.normal(size=(N, 1))), pm.Normal("b", shape=1)))
    plain, ours = pair(model)
    np.testing.assert_allclose(ours([0.3])[1], plain([0.3])[1], rtol=1e-12)


def test_zero_of_the_other_sign():
    with pm.Model() as model:
        normal(pm.Normal("a") * pt.arctan2(pm.Data("x", np.zeros(N)), -1.0) * T)
    plain, ours = pair(model)
    before = ours(0.3)[0]
    with model:
        pm.set_data({"x": -np.zeros(N)})
    assert ours(0.3)[0] == pytest.approx(float(plain(0.3)[0]), rel=1e-12) != before


def test_two_data_sets_in_two_threads(rng):
    """Functions that share a sum, each with data of its own, do not get the other's."""
    x = rng.normal(size=600)
    with pm.Model() as model:
        normal(pm.Normal("a") * pm.Data("x", x), observed=rng.normal(size=600))
    with gpm.fused(min_rows=0):
        total = rewrite_pregrad(model.logp())
    outputs = [total, pytensor.grad(total, model.value_vars[0])]
    functions = [
        pytensor.function(model.value_vars, outputs, givens={model["x"]: pytensor.shared(data)}, mode="FAST_COMPILE")
        for data in (x, 3 * x)
    ]
    wanted, wrong = [f(0.3) for f in functions], []
    assert not np.allclose(*wanted)

    def evaluate(function, its):
        for _ in range(300):
            wrong.extend([found] for found in [function(0.3)] if not np.array_equal(found, its))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=evaluate, args=both) for both in zip(functions, wanted, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


def test_categories_far_from_their_variable():
    """Where the difference of two logistic functions cancels in PyMC's formula: mpmath is the judge."""
    eta, cutpoints, category = pt.dvector("eta"), np.array([-1.0, -0.999, 2.0]), rng.integers(0, 4, N)
    logp = pm.logp(pm.OrderedLogistic.dist(eta[GROUP], cutpoints), category).sum()
    with gpm.fused(min_rows=10):
        total = rewrite_pregrad(logp)
    at = np.array([-30.0, -8.0, -1.0, 3.0, 14.0, 25.0])
    got = pm.compile([eta], [total, pt.grad(total, eta)], mode="FAST_COMPILE")(at)

    def exact(values):
        edges = [-mp.inf, *map(mp.mpf, cutpoints), mp.inf]
        rows = [(edges[c] - values[g], edges[c + 1] - values[g]) for g, c in zip(GROUP, category, strict=True)]
        return mp.fsum(mp.log(1 / (1 + mp.exp(-high)) - 1 / (1 + mp.exp(-low))) for low, high in rows)

    with mp.workdps(50):
        np.testing.assert_allclose(got[0], float(exact(list(map(mp.mpf, at)))), rtol=1e-13)
        for i in range(6):
            moved = [[mp.mpf(a) + (k == i) * step for k, a in enumerate(at)] for step in (mp.mpf("1e-20"), -mp.mpf("1e-20"))]
            np.testing.assert_allclose(got[1][i], float((exact(moved[0]) - exact(moved[1])) / mp.mpf("2e-20")), rtol=1e-11)


NAMES = """
weights devices memory client chunk wrt self function dim rng row rows for if auto inline offsetof int real half kernel lambda
PI NAN E I t0 term_row log normal_logpdf min α 0a a_log__ _ __x α::β
""".split()


@pytest.mark.parametrize("name", some(["a b", *NAMES], 6))
def test_names_that_mean_something_elsewhere(name):
    with pm.Model() as model:
        normal(pm.Normal(name, shape=6)[GROUP] * pm.HalfNormal(f"{name}_1"))
    with gpm.fused(min_rows=10):
        graph = rewrite_pregrad(model.logp())
    values = {v: np.linspace(-1, 1, 7)[: 6 if v.type.ndim else 1].reshape(v.type.shape) for v in model.value_vars}
    (node,) = (n for n in toposort([graph]) if type(n.op).__name__ == "Fused")
    assert node.op.evaluator.program.source.startswith("__device__ real")
    np.testing.assert_allclose(graph.eval(values, mode=REFERENCE), model.logp().eval(values, mode=REFERENCE), rtol=1e-12)


def test_what_could_not_be_written_in_c_is_left(monkeypatch):
    """A mistake in a program costs speed, and nothing else."""
    monkeypatch.setattr("gpustats.compiler.fusion.reader.body", lambda result: "    return 2 +;")
    with pm.Model() as model:
        normal(pm.Normal("a") * T)
    with gpm.fused(min_rows=10):
        graph = rewrite_pregrad(model.logp())
    assert not any(type(n.op).__name__ == "Fused" for n in toposort([graph]))
    assert "what could not be written in C" in str(gpm.explain(model))


@needs_cpu
def test_several_devices(rng):
    """Each has some of the rows."""
    with pm.Model() as model:
        normal(pm.Normal("a", shape=6)[GROUP] * T, pm.HalfNormal("s"))
    found = []
    for devices in (None, ["cpu", "cpu"]):
        with gpm.fused(min_rows=10, devices=devices):
            function = model.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")
        function.set_extra_values({})
        found.append(function(np.linspace(-1, 1, 7)))
    for whole, divided in zip(*found, strict=True):
        np.testing.assert_allclose(divided, whole, rtol=1e-12)
    with pytest.raises(ValueError, match="none"):
        gpm.fuse(devices=["none"])


def test_rows_of_more_numbers_than_a_kernel_takes(rng):
    with pm.Model() as model:
        tables = [pm.Normal(f"a{i}", shape=(6, 60))[GROUP] * T[:, None] for i in range(7)]
        normal(sum(pt.logsumexp(table, axis=1) for table in tables))
    (term,) = gpm.explain(model).terms
    assert not term.is_fused and term.reason == "422 numbers of each row, of which kernels take 400 at most"


@pytest.mark.parametrize("arguments, error", [
    ({"on": "no"}, TypeError), ({"on": None}, TypeError), ({"min_rows": "many"}, TypeError), ({"min_rows": 1.5}, TypeError),
    ({"min_rows": -1}, ValueError),
])  # fmt: skip
def test_bad_settings(arguments, error):
    with pytest.raises(error, match=next(iter(arguments))):
        gpm.fuse(**arguments)
    with pytest.raises(error, match=next(iter(arguments))), gpm.fused(**arguments):
        pass


def test_other_compilers_get_pytensors_own_operations(rng):
    """JAX knows none of ours: for it, sums are put back."""
    jax = pytest.importorskip("jax")
    with pm.Model() as model:
        normal(pm.Normal("a", shape=6)[GROUP] * T)
    with gpm.fused(min_rows=0):
        ours = log_posterior(model, "JAX")
    point = rng.normal(size=6)
    for found, wanted in zip(ours(point), log_posterior(model, REFERENCE)(point), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9 if jax.config.jax_enable_x64 else 1e-4)
