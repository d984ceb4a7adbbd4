"""Fused sums that compiled code evaluates without Python: numbers, threads, shapes, errors, and how often Python is called."""

import ctypes
import multiprocessing
import os
import threading
from dataclasses import replace

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from modes import QUICK
from pymc.pytensorf import rewrite_pregrad
from thorough import THOROUGH, some

import gpustats.pymc as gpm
from gpustats.compiler.graph import machine, numba_link
from gpustats.evaluation import by_code

N = 300
pytestmark = pytest.mark.usefixtures("by_machine")


def groups_and_slopes(rng):
    """A model with numbers, tables in two orders, and coefficients that are also a table."""
    group, item, X, y = rng.integers(0, 12, N), rng.integers(0, 5, N), rng.normal(size=(N, 5)), rng.normal(size=N)
    with pm.Model() as model:
        a, b, beta = pm.Normal("a", shape=12), pm.Normal("b", shape=5), pm.Normal("beta", shape=5)
        pm.Normal("y", a[group] * b[item] + X @ beta + beta[item] + a[3], pm.HalfNormal("s"), observed=y)
    return model


def mixture(rng):
    with pm.Model() as model:
        w, mu = pm.Dirichlet("w", np.ones(3)), pm.Normal("mu", [-1, 0, 1], 1, shape=3)
        pm.NormalMixture("y", w, mu, sigma=pm.HalfNormal("s", shape=3), observed=rng.normal(size=N))
    return model


def line(rng):
    """What Numba compiles in a second, for tests of calls."""
    x, y = rng.normal(size=(2, N))
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("a") + pm.Normal("b") * x, 1.0, observed=y)
    return model


def log_posterior(model, on=True):
    with gpm.fused(on, min_rows=100):
        function = model.logp_dlogp_function(ravel_inputs=True, mode="NUMBA" if on else QUICK)
    function.set_extra_values({})
    return function


def points(model, rng, number=6):
    start = pm.blocking.DictToArrayBijection.map(model.initial_point()).data
    return [start + 0.3 * rng.normal(size=start.size) for _ in range(number)]


@pytest.mark.parametrize("build", some([groups_and_slopes, mixture]), ids=lambda b: b.__name__)
def test_numbers(build, rng, through_python):
    model = build(rng)
    plain, ours = log_posterior(model, False), log_posterior(model)
    for x in points(model, rng):
        (want, slope), (got, our_slope) = plain(x), ours(x)
        np.testing.assert_allclose(got, want, rtol=1e-11)
        np.testing.assert_allclose(our_slope, slope, rtol=1e-9, atol=1e-11)
    assert len(through_python) == machine.CALLS_BEFORE_PROGRAM


@THOROUGH
def test_the_same_bits_as_through_python(rng, monkeypatch):
    model = groups_and_slopes(rng)
    alone, ours = points(model, rng), log_posterior(model)
    found = [ours(x) for x in alone][machine.CALLS_BEFORE_PROGRAM :]
    monkeypatch.setattr(machine, "is_possible", lambda: False)
    monkeypatch.setattr(numba_link, "is_possible", lambda: False)
    by_python = log_posterior(model)
    for (value, slope), x in zip(found, alone[machine.CALLS_BEFORE_PROGRAM :], strict=True):
        want, its = by_python(x)
        assert value == want
        np.testing.assert_array_equal(slope, its)


def test_where_parameters_are_invalid(rng, through_python):
    """-inf and nan are PyTensor's matter."""
    y, a, s = rng.normal(size=N), pt.dscalar("a"), pt.dscalar("s")
    logp = pm.logp(pm.Normal.dist(a, s * rng.uniform(1, 2, N)), y).sum()
    with gpm.fused(min_rows=100):
        total = rewrite_pregrad(logp)
    function = pm.compile([a, s], [total, *pt.grad(total, [a, s])], mode="NUMBA")
    for _ in range(machine.CALLS_BEFORE_PROGRAM + 1):
        value, *slopes = function(0.3, 1.5)
    assert len(through_python) == machine.CALLS_BEFORE_PROGRAM
    assert function(0.3, -1.0)[0] == -np.inf
    assert np.isnan(function(np.nan, 1.0)[0])
    assert len(through_python) > machine.CALLS_BEFORE_PROGRAM
    n = len(through_python)
    assert [float(v) for v in function(0.3, 1.5)] == [float(v) for v in (value, *slopes)]
    assert len(through_python) == n


def test_other_shapes(rng, through_python):
    """A program is for one length; calls of another go through Python until there is one for these."""
    group = rng.integers(0, 6, N)
    a, y = pt.dvector("a"), rng.normal(size=N)
    with gpm.fused(min_rows=10):
        total = rewrite_pregrad(pt.sqr(a[group] - y).sum())
    function = pytensor.function([a], [total, *pt.grad(total, [a])], mode="NUMBA")
    for length in (6, 9, 6):
        for _ in range(machine.CALLS_BEFORE_PROGRAM + 2):
            point = rng.normal(size=length)
            value, slope = function(point)
            residuals = point[group] - y
            np.testing.assert_allclose(value, (residuals**2).sum(), rtol=1e-12)
            np.testing.assert_allclose(slope, np.bincount(group, 2 * residuals, length), rtol=1e-11)
    assert len(through_python) == 3 * machine.CALLS_BEFORE_PROGRAM


@THOROUGH
def test_threads(rng, through_python):
    """Each has a program of its own, and ones that have ended leave theirs to others."""
    model = groups_and_slopes(rng)
    alone, ours = points(model, rng), log_posterior(model)
    function = ours._pytensor_function
    want = [[np.copy(v) for v in function(x)] for x in alone]
    copies, found = [function.copy() for _ in range(4)], {}  # PyTensor's functions serve one thread at a time

    def work(name):
        own = copies[name]
        found[name] = [[np.copy(v) for v in own(x)] for _ in range(5) for x in alone]

    for _ in range(3):
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for several in found.values():
            for got, expected in zip(several, want * 5, strict=True):
                for one, other in zip(got, expected, strict=True):
                    np.testing.assert_array_equal(one, other)
    assert len(found) == 4 and len(through_python) <= 13 * machine.CALLS_BEFORE_PROGRAM


@THOROUGH
def test_more_threads_than_there_are_programs_for(rng, monkeypatch, through_python):
    monkeypatch.setattr(machine, "MOST_THREADS", 1)  # compiled code knows of 64, of which it finds no other
    programs, ready, model = [], threading.Event(), line(rng)
    original = machine.Programs.__init__

    def kept(self, *args):
        original(self, *args)
        programs.append(self)

    monkeypatch.setattr(machine.Programs, "__init__", kept)
    ours, (x, *_) = log_posterior(model), points(model, rng)
    for _ in range(machine.CALLS_BEFORE_PROGRAM):
        want = ours(x)
    assert programs[0]._rows[:, 0].tolist() == [threading.get_native_id()]
    programs[0].table = np.append(programs[0].table, np.zeros(2, np.int64))
    thread = threading.Thread(target=lambda: [ours(x) for _ in range(4)] and ready.set())
    thread.start()
    thread.join()
    assert ready.is_set() and len(through_python) == machine.CALLS_BEFORE_PROGRAM + 4
    np.testing.assert_array_equal(ours(x)[1], want[1])


@THOROUGH
def test_an_error_of_the_driver(rng, monkeypatch, through_python):
    """The call goes through Python, which says what there is to say."""
    failing = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 700)
    address = ctypes.cast(failing, ctypes.c_void_p).value
    original = machine.Programs._program

    def spoilt(self, evaluation, replay, layout):
        commands = [c._replace(function=address) for c in replay.commands[:1]]
        return original(self, evaluation, replace(replay, commands=commands), layout)

    monkeypatch.setattr(machine.Programs, "_program", spoilt)
    model = line(rng)
    plain, ours = log_posterior(model, False), log_posterior(model)
    for x in points(model, rng):
        np.testing.assert_allclose(ours(x)[0], plain(x)[0], rtol=1e-11)
    assert len(through_python) == 6


@THOROUGH
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process(rng):
    model = line(rng)
    alone, ours = points(model, rng), log_posterior(model)
    want = [float(ours(x)[0]) for x in alone]
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=lambda: there.send([float(ours(x)[0]) for x in alone]))
    process.start()
    assert here.poll(120)
    np.testing.assert_allclose(here.recv(), want, rtol=1e-13)
    process.join()
    assert float(ours(alone[0])[0]) == want[0]


@THOROUGH
@pytest.mark.filterwarnings("ignore")
def test_sampling_calls_python_twice_a_chain(rng, through_python):
    nutpie = pytest.importorskip("nutpie")
    with gpm.fused(min_rows=100):
        compiled = nutpie.compile_pymc_model(groups_and_slopes(rng), freeze_model=True)
    fit = nutpie.sample(compiled, draws=50, tune=50, chains=2, cores=2, seed=1, progress_bar=False)
    steps = int(np.sum(np.asarray(fit.sample_stats["n_steps"])))
    assert steps > 200 and len(through_python) <= 2 * (machine.CALLS_BEFORE_PROGRAM + 6)  # some initial points may be invalid


def test_runs():
    sources, targets = np.array([3, 4, 5, 9, 0, 1]), np.array([0, 1, 2, 3, 7, 8])
    assert by_code.runs(sources, targets) == [(3, 0, 3), (9, 3, 1), (0, 7, 2)]
    assert by_code.runs(np.array([], int), np.array([], int)) == []
