"""Fused sums in compiled functions: data that change, compiled code, copies, processes, and where nothing is fused."""

import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from modes import QUICK
from pymc.pytensorf import rewrite_pregrad
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import toposort
from scipy.special import logsumexp, softmax
from thorough import THOROUGH

import gpustats.pymc as gpm

N = 300


def fused_nodes(function):
    return [n for n in toposort(function.maker.fgraph.outputs) if type(n.op).__name__ == "Fused"]


def log_posterior(model, mode):
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    function.set_extra_values({})
    return function


@pytest.fixture
def with_data(rng):
    with pm.Model() as model:
        x, group = pm.Data("x", rng.normal(size=N)), pm.Data("group", rng.integers(0, 6, N))
        y = pm.Data("y", rng.normal(size=N))
        a = pm.Normal("a", shape=6)
        pm.Normal("observed", a[group] * x, pm.HalfNormal("s"), observed=y)
    return model


def check(model, plain, ours, x):
    (want, slope), (got, our_slope) = plain(x), ours(x)
    np.testing.assert_allclose(got, want, rtol=1e-11)
    np.testing.assert_allclose(our_slope, slope, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", [QUICK, pytest.param("NUMBA", marks=THOROUGH)])
def test_data_that_change(with_data, mode, rng):
    """Their numbers, and how many there are: the rows of a call are those of the data at the time of the call."""
    plain = log_posterior(with_data, QUICK)
    with gpm.fused(min_rows=10):
        ours = log_posterior(with_data, mode)
    assert len(fused_nodes(ours._pytensor_function)) == 1
    point = rng.normal(size=7)
    for n in (N, 40, 0):
        check(with_data, plain, ours, point)
        new = {"x": rng.normal(size=n), "group": rng.integers(0, 6, n), "y": rng.normal(size=n)}
        with with_data:
            pm.set_data(new)
        check(with_data, plain, ours, point)
        with with_data:
            pm.set_data({"y": new["y"] + 1})
        check(with_data, plain, ours, point)


def test_a_table_of_another_length(rng):
    """A free variable whose length only the call tells."""
    group = rng.integers(0, 6, N)
    a, y = pt.dvector("a"), rng.normal(size=N)
    with gpm.fused(min_rows=10):
        total = rewrite_pregrad(pt.sqr(a[group] - y).sum())
    function = pytensor.function([a], [total, *pt.grad(total, [a])], mode=QUICK)
    assert len(fused_nodes(function)) == 1
    for length in (6, 9):
        point = rng.normal(size=length)
        value, slope = function(point)
        residuals = point[group] - y
        np.testing.assert_allclose(value, (residuals**2).sum(), rtol=1e-12)
        np.testing.assert_allclose(slope, np.bincount(group, 2 * residuals, length), rtol=1e-11)


@THOROUGH
@pytest.mark.parametrize("mode", [QUICK, "NUMBA"])
def test_a_length_that_only_a_call_has(mode, rng):
    """The elements of a short axis of each row; where there are too many to be written out, PyTensor computes the sum."""
    centre, y = pt.dvector("centre"), rng.normal(size=N)
    with gpm.fused(min_rows=10):
        total = rewrite_pregrad(pt.logsumexp(-pt.sqr(y[:, None] - centre), axis=-1).sum())
    function = pytensor.function([centre], [total, *pt.grad(total, [centre])], mode=mode)
    assert len(fused_nodes(function)) == 1
    for length in (3, 1, 70):
        point = rng.normal(size=length)
        value, slope = function(point)
        distance = y[:, None] - point
        logs = -(distance**2)
        np.testing.assert_allclose(value, logsumexp(logs, axis=-1).sum(), rtol=1e-11)
        np.testing.assert_allclose(slope, (softmax(logs, axis=-1) * 2 * distance).sum(0), rtol=1e-9, atol=1e-11)


def test_minibatches_are_left_alone(rng):
    x, y = rng.normal(size=N), rng.normal(size=N)
    with pm.Model() as model:
        part = pm.Minibatch(x, y, batch_size=100)
        pm.Normal("y", pm.Normal("a") * part[0], 1.0, observed=part[1], total_size=N)
    with gpm.fused(min_rows=10):
        assert not fused_nodes(log_posterior(model, QUICK)._pytensor_function)
        (term,) = gpm.explain(model).terms
    assert not term.is_fused and "Minibatch" in term.reason


def simple(rng):
    x, y = rng.normal(size=N), rng.normal(size=N)
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("a") + pm.Normal("b") * x, pm.HalfNormal("s"), observed=y)
    return model


def test_only_what_is_used_is_computed(rng):
    model = simple(rng)
    with gpm.fused(min_rows=10):
        graph = rewrite_pregrad(model.logp())
    value = pytensor.function(model.value_vars, graph, mode=QUICK)
    in_a = pytensor.function(model.value_vars, [graph, pt.grad(graph, model.value_vars[0])], mode=QUICK)
    assert [len(n.op.wrt) for n in fused_nodes(value)] == [0]
    assert [len(n.op.wrt) for n in fused_nodes(in_a)] == [1]
    point = [0.3, -0.2, 0.1]
    want = model.compile_logp(mode=QUICK)(dict(zip(("a", "b", "s_log__"), point, strict=True)))
    np.testing.assert_allclose(value(*point), want, rtol=1e-12)


def test_copies_and_pickles(rng):
    model = simple(rng)
    with gpm.fused(min_rows=10):
        graph = rewrite_pregrad(model.logp())
    function = pytensor.function(model.value_vars, [graph, *pt.grad(graph, model.value_vars)], mode=QUICK)
    again = pickle.loads(pickle.dumps(function))
    for other in (again, function.copy()):
        for got, want in zip(other(0.3, -0.2, 0.1), function(0.3, -0.2, 0.1), strict=True):
            np.testing.assert_array_equal(got, want)


def test_many_points_at_once(rng):
    model = simple(rng)
    with gpm.fused(min_rows=10):
        graph = rewrite_pregrad(model.logp())
    several = {v: pt.tensor(v.name, shape=(4,)) for v in model.value_vars}
    function = pytensor.function(list(several.values()), vectorize_graph(graph, several), mode=QUICK)
    one = pytensor.function(model.value_vars, graph, mode=QUICK)
    points = rng.normal(size=(3, 4))
    np.testing.assert_allclose(function(*points), [one(*p) for p in points.T], rtol=1e-11)


@THOROUGH
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sampler", ["pymc", "nutpie"])
def test_the_posterior_is_the_same(rng, sampler):
    pytest.importorskip("nutpie")
    model = simple(rng)
    found = []
    for on in (True, False):
        with model, gpm.fused(on, min_rows=10):
            trace = pm.sample(
                200, tune=200, chains=2, cores=2, random_seed=1, progressbar=False, nuts_sampler=sampler,
                compute_convergence_checks=False,
            )  # fmt: skip
        posterior = trace.posterior
        found.append([posterior[name].values for name in ("a", "b", "s")])
    for ours, theirs in zip(*found, strict=True):
        assert abs(ours.mean() - theirs.mean()) < 5 * theirs.std() / np.sqrt(50)
        np.testing.assert_allclose(ours.std(), theirs.std(), rtol=0.25)


@THOROUGH
def test_maximum_a_posteriori(rng):
    model = simple(rng)
    with model:
        want = pm.find_MAP(progressbar=False)
        with gpm.fused(min_rows=10):
            got = pm.find_MAP(progressbar=False)
    for name in ("a", "b", "s"):
        np.testing.assert_allclose(got[name], want[name], rtol=1e-4, atol=1e-5)


def test_data_in_single_precision(rng):
    """They are read as they are, and computed with in float64."""
    y = rng.normal(size=N).astype(np.float32)
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("a"), 1.0, observed=y)
    with gpm.fused(min_rows=10):
        ours = log_posterior(model, QUICK)
    assert fused_nodes(ours._pytensor_function)
    for a in (0.1, 3.7):
        want = -0.5 * ((y.astype(float) - a) ** 2).sum() - N * np.log(2 * np.pi) / 2 - a**2 / 2 - np.log(2 * np.pi) / 2
        np.testing.assert_allclose(ours(np.array([a]))[0], want, rtol=1e-12)


@THOROUGH
@pytest.mark.optimised
def test_the_environment():
    """Models are fused where gpustats.pymc is imported, without another word."""
    code = """
    import numpy as np, pymc as pm, gpustats.pymc
    from pytensor.graph.traversal import toposort
    with pm.Model() as model:
        pm.StudentT("y", nu=4, mu=pm.Normal("a"), sigma=1.0, observed=np.arange(1_000_000.0))
    function = model.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")._pytensor_function
    print([type(n.op).__name__ for n in toposort(function.maker.fgraph.outputs)].count("Fused"))
    """
    for value, number in (("1", "1"), ("0", "0")):
        environment = {**os.environ, "GPUSTATS_FUSE": value}
        ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=environment, capture_output=True, text=True)
        assert ran.stdout.split()[-1:] == [number], ran.stderr


@THOROUGH
def test_nothing_is_fused_outside(rng):
    model = simple(rng)
    with gpm.fused(min_rows=10):
        with gpm.fused(False):
            assert not fused_nodes(log_posterior(model, QUICK)._pytensor_function)
        with gpm.fused(min_rows=N + 1):
            assert not fused_nodes(log_posterior(model, QUICK)._pytensor_function)
        assert fused_nodes(log_posterior(model, QUICK)._pytensor_function)
        plain = pytensor.function(model.value_vars, model.logp())
        assert not fused_nodes(plain)  # an ordinary compilation does not ask for it
    assert not fused_nodes(log_posterior(model, QUICK)._pytensor_function)
    gpm.fuse(min_rows=10)
    try:
        assert fused_nodes(log_posterior(model, QUICK)._pytensor_function)
    finally:
        gpm.fuse(False)
    assert not fused_nodes(log_posterior(model, QUICK)._pytensor_function)
