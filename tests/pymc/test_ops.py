"""Data that change, and Ops in other threads and processes."""

import copy
import ctypes
import pickle
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from thorough import THOROUGH

pm = pytest.importorskip("pymc")
import cloudpickle  # noqa: E402
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import QUICK  # noqa: E402
from pymc_models import PARETO2, POINT, Y, difference, normal_model, sample, value_and_gradient  # noqa: E402
from pymc_parameters import COV  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402
from gpustats.compiler.evaluation import forked  # noqa: E402
from gpustats.compiler.evaluation.density import DensityEvaluator, DensityFormula  # noqa: E402
from gpustats.compiler.graph.ops import LogDensity, LogLikelihood  # noqa: E402
from gpustats.pymc.random_variable import DensityRV  # noqa: E402
from gpustats.runtime import choose  # noqa: E402


@pytest.fixture(autouse=True)
def double_precision():
    """PyTensor makes float16 of constants such as 0.5, and PyMC computes with them."""
    with pytensor.config.change_flags(cast_policy="numpy+floatX"):
        yield


def test_data_that_change():
    results = []
    for distributions in (gpm, pm):
        with pm.Model() as model:
            data, covariate = pm.Data("data", Y[:50]), pm.Data("covariate", np.arange(50.0))
            slope = pm.Normal("slope")
            distributions.Normal("y", slope * covariate, np.float64(1.7), observed=data)
        function = value_and_gradient(model, QUICK)
        results.append([function(np.array([0.1]))])
        for new in (Y[50:], Y[20:80]):  # of the same length, and of another
            with model:
                pm.set_data({"data": new, "covariate": np.sqrt(np.arange(len(new)))})
            results[-1].append(function(np.array([0.1])))
    for got, want in zip(*results):
        assert difference(got[0], want[0]) < 1e-12 and difference(got[1], want[1]) < 1e-12


def test_evaluator_keeps_what_is_known_on_the_device(monkeypatch):
    """On a device with memory of its own, constants are copied there once."""
    from gpustats.compiler.evaluation import density as evaluate
    from gpustats.runtime import choose

    copies = []
    monkeypatch.setattr(choose.get(), "host_visible", False)
    monkeypatch.setattr(evaluate, "to_device", lambda array: copies.append(array) or gs.to_device(array))
    evaluator = DensityEvaluator(DensityFormula(gs.normal), {0: Y, 1: np.linspace(0, 1, 100)})
    for sigma in (1.0, 2.0):
        total, gradient = evaluator.sums([np.array(sigma)], (2,))
        value, want = gs.normal.loglik_and_grad(Y, np.linspace(0, 1, 100), sigma)
        assert total == pytest.approx(value, rel=1e-12)
        assert gradient == pytest.approx(want["sigma"], rel=1e-12) and gradient.shape == ()
    assert len(copies) == 1
    evaluator = DensityEvaluator(DensityFormula(gs.mvnormal), {1: Y[:90].reshape(30, 3), 2: COV})
    x = np.zeros((30, 3))
    (_, gradient) = evaluator.sums([x], (0,))
    assert isinstance(gradient, np.ndarray)
    assert difference(gradient, gs.mvnormal.loglik_and_grad(x, Y[:90].reshape(30, 3), COV, wrt="x")[1]["x"]) < 1e-12


def test_evaluator_serves_several_threads():
    evaluator = DensityEvaluator(DensityFormula(gs.normal), {0: Y})
    want = [evaluator.sums([np.array(m), np.array(1.0)], (1,))[0] for m in range(4)]
    got = [[] for _ in range(4)]

    def work(m):
        got[m] += [evaluator.sums([np.array(m), np.array(1.0)], (1,))[0] for _ in range(50)]

    threads = [threading.Thread(target=work, args=(m,)) for m in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(value == w for values, w in zip(got, want) for value in values)
    assert [len(g) for g in got] == [50] * 4


def test_ops_are_equal_by_what_they_compute():
    assert LogDensity(DensityFormula(gs.normal)) == LogDensity(DensityFormula(gs.normal))
    assert LogDensity(DensityFormula(gs.normal)) != LogDensity(DensityFormula(gs.laplace))
    assert LogLikelihood(DensityFormula(gs.normal), (1,)) != LogLikelihood(DensityFormula(gs.normal), (2,))
    assert DensityRV(DensityFormula(gs.normal)) == gpm.distribution(gs.normal).rv_op
    for copied in (copy.deepcopy, lambda op: pickle.loads(pickle.dumps(op))):
        op = LogLikelihood(DensityFormula(gs.normal), (1,))
        assert op.evaluator and copied(op) == op and hash(copied(op)) == hash(op)


def test_models_and_functions_are_pickled():
    model = normal_model(gpm, Y)
    logp = model.compile_logp(mode=QUICK)
    want = logp({"mu": 2.5, "sigma_log__": 0.5})
    again = cloudpickle.loads(cloudpickle.dumps(model))
    assert again.compile_logp(mode=QUICK)({"mu": 2.5, "sigma_log__": 0.5}) == want
    for other in (cloudpickle.loads(cloudpickle.dumps(logp)), copy.deepcopy(logp)):
        assert other({"mu": 2.5, "sigma_log__": 0.5}) == want


@THOROUGH
def test_unpickled_elsewhere(tmp_path):
    """A fresh process opens the device itself, and needs no registration of the density."""
    density = gs.transforms.Weighted(gs.register(PARETO2))
    op = LogLikelihood(DensityFormula(density), (1,), [(0, pt.constant(np.arange(1.0, 6.0)))])
    values = [np.array(2.0), np.array(3.0), np.array(0.5)]
    want = op.evaluator.sums(values, (1,))
    (tmp_path / "op").write_bytes(cloudpickle.dumps((op, values)))
    code = """
    import sys, cloudpickle
    op, values = cloudpickle.load(open(sys.argv[1], "rb"))
    print(*op.evaluator.sums(values, (1,)))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "op")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [float(v) for v in out.split()] == pytest.approx([float(v) for v in want], rel=1e-14)


def test_evaluation_for_a_forked_process(monkeypatch):
    """Its worker gives the same bits, and its errors."""
    evaluator = DensityEvaluator(DensityFormula(gs.normal), {0: Y})
    values = [np.array(2.0), np.array(1.5)]
    want, drawn = evaluator.sums(values, (1, 2)), sample("normal", (5,), seed=1)
    monkeypatch.setattr(forked, "_device", choose.get().device.id)
    try:
        for _ in range(2):
            assert evaluator.sums(values, (1, 2)) == want
        assert np.array_equal(evaluator.table(values), gs.normal.logpdf(Y, 2.0, 1.5))
        with pytest.raises(ValueError, match="shapes do not broadcast"):
            evaluator.table([np.zeros(3), np.array(1.5)])
        assert np.array_equal(sample("normal", (5,), seed=1), drawn)
    finally:
        forked._worker._process.stdin.close()
        assert forked._worker._process.wait(10) == 0
        forked._worker = None


def test_threads_that_python_did_not_start(monkeypatch):
    """What is thread-local lasts from one callback to the next, and the device is told that they may end."""
    from gpustats.compiler.graph.numba_link import Bridge

    left, seen, local = [], [], threading.local()
    runtime = choose.get()
    monkeypatch.setattr(runtime, "leave_thread", lambda: left.append(threading.get_ident()))

    def function(arrays):
        local.calls = getattr(local, "calls", 0) + 1
        seen.append((threading.get_ident(), local.calls))
        return [arrays[0] + 1]

    bridge, value, out = Bridge(function, [0], "bridge"), np.array(2.0), np.empty(1)
    layout = np.array([value.ctypes.data])
    libc = ctypes.CDLL(None)
    start = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    twice = start(lambda _: [bridge.callback(layout.ctypes.data, out.ctypes.data) for _ in range(2)] and None)
    thread = ctypes.c_ulong()
    assert libc.pthread_create(ctypes.byref(thread), None, twice, None) == 0
    assert libc.pthread_join(thread, None) == 0
    assert out[0] == 3
    (first, one), (second, two) = seen
    assert (one, two) == (1, 2) and left == [first, second] != [threading.get_ident()] * 2
    assert bridge.callback(layout.ctypes.data, out.ctypes.data) == 1
    assert len(left) == 2


@THOROUGH
def test_an_interrupt_under_numba_comes_through(monkeypatch):
    function, evaluate, calls = value_and_gradient(normal_model(gpm, Y), "NUMBA"), DensityEvaluator.sums, []

    def interrupted(self, values, wrt):
        calls.append(wrt)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return evaluate(self, values, wrt)

    monkeypatch.setattr(DensityEvaluator, "sums", interrupted)
    with pytest.raises(KeyboardInterrupt):
        function(POINT)
        time.sleep(5)
    assert len(calls) == 2


def test_copies_of_arguments_live_under_numba_until_the_call_is_over(monkeypatch):
    mu, evaluate = pt.vector("mu"), DensityEvaluator.checked_sums

    def among_other_work(self, values, wrt):
        held = [np.full(v.shape, 7.0) for v in values for _ in range(100)]  # takes memory that has been freed
        return evaluate(self, values, wrt) if held else None

    monkeypatch.setattr(DensityEvaluator, "checked_sums", among_other_work)
    total = gpm.log_density(gs.normal, Y, mu[::2], 1.0).sum()
    function = pytensor.function([mu], total, mode="NUMBA")
    point = np.linspace(-1, 1, 2 * len(Y))
    np.testing.assert_allclose(function(point), gs.normal.logpdf(Y, point[::2], 1.0).sum(), rtol=1e-12)


def test_failures_under_numba_are_told(monkeypatch):
    function = value_and_gradient(normal_model(gpm, Y), "NUMBA")
    assert np.isfinite(function(POINT)[0])

    def fail(self, values, wrt):
        raise MemoryError("no room")

    monkeypatch.setattr(DensityEvaluator, "sums", fail)
    with (
        pytest.warns(RuntimeWarning, match=r"LogLikelihood\{normal\}: MemoryError: no room"),
        pytest.raises(RuntimeError, match="evaluation of a gpustats density failed"),
    ):
        function(POINT)
