"""Several devices in one call: a thread starts the kernels of all before it waits for any."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from pieces import same
from runtimes import SEARCH, error_in_a_forked_child

import gpustats as gs
from gpustats.parallel import devices as devices_module
from gpustats.runtime import choose, opencl
from gpustats.runtime.opencl_kernel import OpenCLKernel

N, K = 203, 4


@pytest.fixture
def two(like_a_gpu, monkeypatch):
    monkeypatch.setattr(devices_module, "seconds", lambda *_: 1.0)
    return [choose.get(), like_a_gpu]


@pytest.fixture
def models(two, rng):
    """Name -> the model as a whole, the same on two devices, and the parameters of a call."""
    X, x, group = rng.normal(size=(N, K)), rng.normal(size=N), rng.integers(0, 5, N)
    y, beta = rng.poisson(2.0, N), 0.1 * rng.normal(size=K)
    makers = {
        "glm": (lambda **o: gs.GLM(gs.poisson_log, y, X, **o), (beta, 0.3)),
        "grouped glm": (lambda **o: gs.GLM(gs.poisson_log, y, X, groups=group, **o), (beta, np.arange(5.0) / 9)),
        "likelihood": (lambda **o: gs.Likelihood(gs.normal, x, **o), (0.1, 1.2)),
        "rows": (lambda **o: gs.Rows(gs.normal, x=x, mu=gs.gather(group), **o), (np.arange(5.0) / 9, 1.2)),
    }
    return {name: (make(), make(devices=two), args) for name, (make, args) in makers.items()}


@pytest.fixture
def order(two, monkeypatch):
    """What is done on which device: kernels that are started, and waits for results."""
    done, launch, fetch = [], OpenCLKernel.__call__, opencl.OpenCLRuntime.fetch

    def launched(kernel, *args):
        done.append(("start", two.index(kernel._runtime)))
        launch(kernel, *args)

    def fetched(runtime, result):
        done.append(("wait", two.index(runtime)))
        return fetch(runtime, result)

    monkeypatch.setattr(OpenCLKernel, "__call__", launched)
    monkeypatch.setattr(opencl.OpenCLRuntime, "fetch", fetched)
    return done


@pytest.mark.parametrize("method", ["__call__", "value_and_grad"])
@pytest.mark.parametrize("name", ["glm", "grouped glm", "likelihood", "rows"])
def test_all_are_started_before_any_is_waited_for(models, order, name, method):
    whole, divided, args = models[name]
    same(getattr(divided, method)(*args), getattr(whole, method)(*args))
    order.clear()
    first, again = getattr(divided, method)(*args), getattr(divided, method)(*args)
    same(first, again, 0.0)
    steps = list(dict.fromkeys(order))  # a call may start several kernels on a device
    assert steps == [("start", 0), ("start", 1), ("wait", 1), ("wait", 0)]  # from the one where the thread is


def test_calls_by_name(models):
    whole, divided, (beta, alpha) = models["glm"]
    for _ in range(2):
        same(divided.value_and_grad(beta), whole.value_and_grad(beta))
        same(divided.value_and_grad(beta=beta, alpha=alpha), whole.value_and_grad(beta=beta, alpha=alpha))
        same(divided.value_and_grad(beta, alpha, wrt=["alpha"]), whole.value_and_grad(beta, alpha, wrt=["alpha"]))
        same(divided(beta, alpha=2.0), whole(beta, alpha=2.0))
    whole, divided, _ = models["likelihood"]
    for _ in range(2):
        same(divided.value_and_grad(sigma=2.0, mu=1.0), whole.value_and_grad(sigma=2.0, mu=1.0))
        same(divided.value_and_grad(1.0, 2.0, wrt="sigma"), whole.value_and_grad(1.0, 2.0, wrt="sigma"))
    with pytest.raises(ValueError, match="is the data of this likelihood"):
        divided.value_and_grad(1.0, 2.0, wrt="x")
    whole, divided, _ = models["rows"]
    table = np.ones(5)
    same(divided.value_and_grad(mu=table, sigma=2.0, wrt="mu"), whole.value_and_grad(mu=table, sigma=2.0, wrt="mu"))


def test_calls_of_many_kinds_in_turn(models, rng):
    """What is known of one kind of call is not taken for another: sets of parameters, a number for each row."""
    whole, divided, _ = models["likelihood"]
    by_row = rng.uniform(1, 2, N)
    for _ in range(2):
        for mu, sigma in ((0.1, 1.2), (by_row, 1.2), (rng.normal(size=(3, 1)), 1.2), (0.1, by_row)):
            same(divided.value_and_grad(mu, sigma), whole.value_and_grad(mu, sigma))
    with pytest.raises(ValueError, match="do not broadcast"):
        divided(np.zeros(7), 1.0)


@pytest.mark.parametrize("name", ["glm", "likelihood", "rows"])
@pytest.mark.parametrize("faulty", [0, 1])
@pytest.mark.parametrize("place", ["start", "wait"])
def test_an_error_of_one_device_leaves_the_other_at_rest(models, order, two, monkeypatch, name, faulty, place):
    _, divided, args = models[name]
    expected = divided.value_and_grad(*args)
    launch, fetch = OpenCLKernel.__call__, opencl.OpenCLRuntime.fetch
    with monkeypatch.context() as patch:

        def launched(kernel, *args):
            if kernel._runtime is two[faulty]:
                raise MemoryError("of this device")
            launch(kernel, *args)

        def fetched(runtime, result):
            found = fetch(runtime, result)
            if runtime is two[faulty]:
                raise MemoryError("of this device")
            return found

        if place == "start":
            patch.setattr(OpenCLKernel, "__call__", launched)
        else:
            patch.setattr(opencl.OpenCLRuntime, "fetch", fetched)
        order.clear()
        with pytest.raises(MemoryError, match="of this device"):
            divided.value_and_grad(*args)
        started = {device for what, device in order if what == "start"}
        assert started == {device for what, device in order if what == "wait"}
    same(divided.value_and_grad(*args), expected, 0.0)


@pytest.mark.parametrize("name", ["glm", "likelihood", "rows"])
@pytest.mark.parametrize("interrupted", [0, 1])
def test_an_interrupt_ends_the_wait(models, two, monkeypatch, name, interrupted):
    """It is not kept waiting for the other device; the next call is right, whatever the kernels that went on have written."""
    _, divided, args = models[name]
    expected, fetch, waited = divided.value_and_grad(*args), opencl.OpenCLRuntime.fetch, []
    with monkeypatch.context() as patch:

        def fetched(runtime, result):
            waited.append(two.index(runtime))
            if waited[-1] == interrupted:
                raise KeyboardInterrupt
            return fetch(runtime, result)

        patch.setattr(opencl.OpenCLRuntime, "fetch", fetched)
        with pytest.raises(KeyboardInterrupt):
            divided.value_and_grad(*args)
    assert waited == list(range(1, interrupted - 1, -1))
    same(divided.value_and_grad(*args), expected, 0.0)


def test_calls_that_cannot_be_cut_have_a_thread_for_each_device(models, two, monkeypatch):
    whole, divided, args = models["likelihood"]
    names, fetch = set(), opencl.OpenCLRuntime.fetch

    def fetched(runtime, result):
        names.add(threading.current_thread().name)
        return fetch(runtime, result)

    monkeypatch.setattr(opencl.OpenCLRuntime, "fetch", fetched)
    same(divided.hessian(*args), whole.hessian(*args))
    assert len(names) == 2
    twice = gs.Likelihood(gs.normal, whole.x, devices=two[:1] * 2)  # a thread has one place for results on each device
    names.clear()
    same(twice(*args), whole(*args))
    assert len(names) == 2


def test_threads_share_a_model(models):
    _, divided, args = models["glm"]
    expected, found = divided.value_and_grad(*args)[0], []
    calls = [lambda: divided.value_and_grad(*args)[0], lambda: divided(*args)] * 2
    threads = [threading.Thread(target=lambda call=call: found.extend(call() for _ in range(20))) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_gets_the_error_of_its_device(two):
    code = """
    import contextlib
    import numpy as np, gpustats as gs
    from gpustats.parallel import devices
    from gpustats.runtime import choose
    from layouts import like_a_gpu
    devices.seconds = lambda *_: 1.0
    kept = contextlib.ExitStack()
    other = kept.enter_context(like_a_gpu(choose.get("cpu")))
    likelihood = gs.Likelihood(gs.normal, np.zeros(1000), devices=[choose.get("cpu"), other])
    """
    path = os.pathsep.join([str(Path(__file__).parents[1] / "helpers"), SEARCH])
    error = error_in_a_forked_child(code, "likelihood(0.0, 1.0)", PYTHONPATH=path)
    assert "this process was forked from one that had already used" in error
