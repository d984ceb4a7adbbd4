"""Rows, and ranges of items, on the workers of a cluster, of which some die."""

import contextlib
import copy
import gc
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from pieces import memmap, same
from thorough import THOROUGH

import gpustats as gs

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
cluster = pytest.importorskip("gpustats.parallel.cluster")

N, K, G = 1501, 4, 5  # rows, columns, groups


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    # Dask looks so long after a death whether the worker is back, and gives up one that has died again in that moment.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
    with patient, distributed.Client(cluster) as client:
        yield client
    with contextlib.suppress(KeyError):  # Dask looks for workers that were killed
        cluster.close()


@pytest.fixture
def data(rng):
    X, offset, weights = rng.normal(size=(N, K)), rng.normal(size=N), rng.uniform(size=N)
    return dict(y=rng.poisson(2.0, N), X=X, offset=offset, weights=weights, groups=rng.integers(0, G, N))


@pytest.fixture
def both(client):
    """As many workers as before others were killed."""
    for n in range(2, 6):  # a nanny whose worker dies as it starts ends with it, which the cluster may not notice
        client.cluster.scale(n)
        with contextlib.suppress(TimeoutError):
            return client.wait_for_workers(2, timeout=30)
    raise AssertionError("no second worker")


def kill(client, address):
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)


def same_bits(one, other):
    np.testing.assert_array_equal(one[0], other[0])
    assert list(one[1]) == list(other[1])
    for name in one[1]:
        np.testing.assert_array_equal(one[1][name], other[1][name])


def held(client):
    """How many pieces the workers have."""
    return sum(client.run(lambda: len(__import__("gpustats.parallel.cluster", fromlist=["_"])._models)).values())


@pytest.mark.usefixtures("both")
class TestModels:
    @THOROUGH
    def test_glm(self, client, data, rng):
        whole, divided = gs.GLM(gs.poisson_log, **data), gs.GLM(gs.poisson_log, **data, client=client)
        assert isinstance(divided, gs.GLM) and "2 workers of tcp://" in repr(divided)
        beta, alpha = 0.1 * rng.normal(size=(3, K)), rng.normal(size=(3, G))
        for method in ("__call__", "value_and_grad", "logpdf", "linear_predictor"):
            same(getattr(divided, method)(beta, alpha), getattr(whole, method)(beta, alpha))
        np.testing.assert_array_equal(divided.rvs(beta, alpha, rng=1), whole.rvs(beta, alpha, rng=1))
        del data["groups"]
        whole, divided = gs.GLM(gs.poisson_log, **data), gs.GLM(gs.poisson_log, **data, client=client)
        same(divided.value_and_grad(beta[0], data["offset"]), whole.value_and_grad(beta[0], data["offset"]))

    def test_pieces_have_the_bits_of_those_on_one_machine(self, client, data, rng):
        near = gs.GLM(gs.poisson_log, **data, devices=["cpu"] * 2)
        far = gs.GLM(gs.poisson_log, **data, client=client, devices=["cpu"])
        assert near._pieces.ranges == far._pieces.ranges
        beta, alpha = 0.1 * rng.normal(size=K), rng.normal(size=G)
        same_bits(far.value_and_grad(beta, alpha), near.value_and_grad(beta, alpha))

    def test_a_worker_that_dies_loses_nothing(self, client, data, rng):
        divided = gs.GLM(gs.poisson_log, **data, client=client)
        beta, alpha = 0.1 * rng.normal(size=K), rng.normal(size=G)
        before = divided.value_and_grad(beta, alpha)
        kill(client, divided._pieces._homes[0])
        same_bits(divided.value_and_grad(beta, alpha), before)
        same_bits(divided.value_and_grad(beta, alpha), before)

    @THOROUGH
    def test_a_worker_that_dies_while_it_computes(self, client, rng):
        x = rng.normal(size=2_000_000)
        likelihood = gs.Likelihood(gs.student_t, x, client=client, chunk=1000)  # many pieces: a call takes a while
        before = likelihood.value_and_grad(5.0, 0.0, 1.0)
        address = likelihood._pieces._homes[1]
        pid = client.run(os.getpid, workers=[address])[address]
        timer = threading.Timer(0.05, os.kill, (pid, signal.SIGKILL))
        timer.start()
        same_bits(likelihood.value_and_grad(5.0, 0.0, 1.0), before)
        timer.join()
        same_bits(likelihood.value_and_grad(5.0, 0.0, 1.0), before)

    @THOROUGH
    def test_all_workers_die(self, client, rng):
        x = rng.normal(size=N)
        likelihood = gs.Likelihood(gs.normal, x, client=client)
        before = likelihood.value_and_grad(0.0, 1.0)
        for address in set(likelihood._pieces._homes):
            kill(client, address)
        same_bits(likelihood.value_and_grad(0.0, 1.0), before)

    @THOROUGH
    @pytest.mark.parametrize("kind", ["memmap", "zarr", "dask", "hdf5"])
    def test_data_that_are_not_in_memory(self, client, rng, tmp_path, kind):
        a = rng.normal(size=N)
        if kind == "memmap":
            x = memmap(tmp_path, "x", a)
        elif kind == "zarr":
            x = pytest.importorskip("zarr").create_array(tmp_path / "x.zarr", data=a, chunks=(200,))
        elif kind == "hdf5":
            x = pytest.importorskip("h5py").File(tmp_path / "x.h5", "w").create_dataset("x", data=a)
        else:
            x = pytest.importorskip("dask.array").from_array(a, chunks=200)
        likelihood = gs.Likelihood(gs.normal, x, client=client, chunk=100, memory=400 * 8)
        before = likelihood.value_and_grad(0.1, 1.0)
        same(before, gs.Likelihood(gs.normal, a).value_and_grad(0.1, 1.0))
        if kind in ("memmap", "dask"):
            kill(client, likelihood._pieces._homes[1])
        same_bits(likelihood.value_and_grad(0.1, 1.0), before)

    @THOROUGH
    def test_what_users_register_travels(self, client, rng):
        mine = gs.register("real pointed_logpdf(real x, real mu) {\n return -log1p(fabs(x - mu)); }")
        x = rng.normal(size=N)
        likelihood = gs.Likelihood(mine, x, client=client)
        assert likelihood(0.5) == pytest.approx(-np.log1p(np.abs(x - 0.5)).sum(), rel=1e-12)
        truncated = gs.transforms.Truncate(gs.normal, -5.0, 5.0)
        assert gs.Likelihood(truncated, x, client=client)(0.0, 1.0) == pytest.approx(truncated.loglik(x, 0.0, 1.0), rel=1e-12)

    def test_errors_are_those_of_one_machine(self, client, rng):
        likelihood = gs.Likelihood(gs.normal, rng.normal(size=N), client=client)
        with pytest.raises(ValueError, match="shapes do not broadcast"):
            likelihood(np.zeros(3), 1.0)
        with pytest.raises(ValueError, match="wrt: normal has no argument 'tau'"):
            likelihood.value_and_grad(0.0, 1.0, wrt="tau")
        with pytest.raises(TypeError, match=r"must be a distributed\.Client, not str"):
            gs.Likelihood(gs.normal, np.zeros(3), client="tcp://localhost:8786")

    def test_workers_forget(self, client, rng):
        gc.collect()
        for _ in range(50):
            if not held(client):
                break
            time.sleep(0.1)
        likelihood = gs.Likelihood(gs.normal, rng.normal(size=N), client=client)
        assert held(client) == 2
        del likelihood
        gc.collect()
        for _ in range(50):
            if not held(client):
                return
            time.sleep(0.1)
        raise AssertionError("the workers keep what nobody uses")

    def test_fewer_rows_than_workers(self, client):
        assert gs.Likelihood(gs.normal, np.empty(0), client=client)(0.0, 1.0) == 0.0
        assert gs.Likelihood(gs.normal, np.zeros(1), client=client)(0.0, 1.0) == pytest.approx(-0.918938533204672)


class Deadly:
    """Data the reading of which ends any process but the one where they were made."""

    dtype, shape = np.dtype(float), (N,)

    def __init__(self):
        self.home = os.getpid()

    def __getitem__(self, rows):
        if os.getpid() != self.home:
            os._exit(1)
        return np.zeros(N)[rows]


class Faulty(Deadly):
    """Data that cannot be read there."""

    def __getitem__(self, rows):
        if os.getpid() != self.home:
            raise OSError("the disk is gone")
        return np.zeros(N)[rows]


@pytest.mark.usefixtures("both")
class TestFaults:
    @THOROUGH
    def test_data_that_kill_every_worker(self, client, monkeypatch):
        monkeypatch.setattr(cluster, "ATTEMPTS", 2)
        with pytest.raises((ConnectionError, distributed.KilledWorker), match="is gone|died"):
            gs.Likelihood(gs.normal, Deadly(), client=client)

    def test_data_that_workers_cannot_read(self, client, monkeypatch):
        """What looks like the loss of a worker, an OSError, is told as it is once other workers have failed alike."""
        monkeypatch.setattr(cluster, "ATTEMPTS", 2)
        with pytest.raises(OSError, match="the disk is gone"):
            gs.Likelihood(gs.normal, Faulty(), client=client)

    @pytest.mark.slow
    def test_no_worker_is_left(self, client, rng, monkeypatch):
        likelihood = gs.Likelihood(gs.normal, rng.normal(size=N), client=client)
        before = likelihood(0.0, 1.0)
        monkeypatch.setattr(cluster, "WORKER_TIMEOUT", 1)
        client.cluster.scale(0)
        deadline = time.monotonic() + 30
        while client.nthreads():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        with pytest.raises(ConnectionError, match="has lost its last worker, and none came within 1 seconds"):
            likelihood(0.0, 1.0)
        with pytest.raises(ConnectionError, match="has lost its last worker, and none came within 1 seconds"):
            gs.parallel.ClusterMap(client)(squares, {"x": np.zeros(3), "delay": 0.0}, 3)
        monkeypatch.undo()
        client.cluster.scale(2)
        client.wait_for_workers(2, timeout=60)
        assert likelihood(0.0, 1.0) == before

    def test_a_file_that_changes(self, client, rng, tmp_path):
        """Neither a stream on a worker nor a worker that takes over reads what was not meant."""
        for options in (dict(chunk=100, memory=300 * 8), {}):
            likelihood = gs.Likelihood(gs.normal, memmap(tmp_path, "x", rng.normal(size=N)), client=client, **options)
            likelihood(0.0, 1.0)
            os.truncate(tmp_path / "x", 100)
            if not options:
                kill(client, likelihood._pieces._homes[0])
            with pytest.raises(RuntimeError, match="x: the file .* has changed since the model was made"):
                likelihood(0.0, 1.0)

    @THOROUGH
    def test_dask_chunks_that_are_not_as_declared(self, client, rng):
        da = pytest.importorskip("dask.array")
        x = da.from_array(rng.normal(size=N), chunks=100)
        for change in (lambda c: c[:-1], lambda c: np.append(c, c), lambda c: c.astype("f4")):
            with pytest.raises(ValueError, match=r"x: the chunk \(\d+,\) of this Dask array has shape"):
                gs.Likelihood(gs.normal, x.map_blocks(change, dtype=float), client=client)
        positive = x[x > 0]
        with pytest.raises(ValueError, match="chunks of unknown sizes"):
            gs.Likelihood(gs.normal, positive, client=client)
        positive.compute_chunk_sizes()
        same(gs.Likelihood(gs.normal, positive, client=client)(0.0, 1.0), gs.normal.loglik(positive.compute(), 0.0, 1.0))

    def test_models_travel(self, client, data, rng):
        beta, alpha = 0.1 * rng.normal(size=K), rng.normal(size=G)
        spread, whole = gs.GLM(gs.poisson_log, **data, client=client), gs.GLM(gs.poisson_log, **data)
        for other in (pickle.loads(pickle.dumps(spread)), copy.copy(spread), copy.deepcopy(spread)):
            assert repr(other) == repr(spread)
            same_bits(other.value_and_grad(beta, alpha), spread.value_and_grad(beta, alpha))
        same_bits(client.submit(lambda m: m.value_and_grad(beta, alpha), whole).result(), whole.value_and_grad(beta, alpha))


def squares(data, first, end, runtime):
    time.sleep(data["delay"])
    return {"square": data["x"][first:end] ** 2, "range": np.repeat([[first, end]], end - first, 0)}


@pytest.mark.usefixtures("both")
class TestMaps:
    def test_map(self, client, rng):
        x = rng.normal(size=40)
        for devices in (None, ["cpu", "cpu"]):
            found = gs.parallel.ClusterMap(client, devices)(squares, {"x": x, "delay": 0.0}, 40, chunk=7)
            np.testing.assert_array_equal(found["square"], x**2)
        assert gs.parallel.ClusterMap(client)(squares, {"x": x, "delay": 0.0}, 0)["range"].shape == (0, 2)

    @THOROUGH
    @pytest.mark.parametrize("n_killed", [1, 2])
    def test_workers_that_die(self, client, rng, n_killed):
        x = rng.normal(size=30)
        pids = list(client.run(os.getpid).values())[:n_killed]
        timer = threading.Timer(0.1, lambda: [os.kill(pid, signal.SIGKILL) for pid in pids])
        timer.start()
        found = gs.parallel.ClusterMap(client)(squares, {"x": x, "delay": 0.02}, 30, chunk=1)
        timer.join()
        np.testing.assert_array_equal(found["square"], x**2)
        assert found["range"][:, 0].tolist() == list(range(30))

    def test_errors_and_retries(self, client, tmp_path):
        def fails_once(data, first, end, runtime):
            if first == 2 and not data.exists():
                data.write_text("tried")
                raise RuntimeError("not now")
            return {"one": np.ones(end - first)}

        mapped = gs.parallel.ClusterMap(client)
        with pytest.raises(RuntimeError, match="not now"):
            mapped(fails_once, tmp_path / "first", 6, chunk=2)
        assert mapped(fails_once, tmp_path / "second", 6, chunk=2, retries=1)["one"].sum() == 6


@pytest.mark.usefixtures("both")
class TestLocalGP:
    @THOROUGH
    def test_a_worker_that_dies_in_the_middle(self, client, rng):
        """The result of one process, to the bit."""
        X, XX = rng.uniform(size=(2000, 3)), rng.uniform(size=(1500, 3))
        gp = gs.LocalGP(X, np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2])
        options = dict(end=20, close=100)
        want = gp.predict(XX, **options)
        address = next(iter(client.nthreads()))
        pid = client.run(os.getpid, workers=[address])[address]
        killed = []

        def kill_at_work():
            """As soon as the worker has computed a few ranges."""
            while not killed:
                if sum(a == address for who in client.who_has().values() for a in who) >= 2:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                time.sleep(0.01)

        thread = threading.Thread(target=kill_at_work)
        thread.start()
        found = gp.predict(XX, **options, client=client)
        if not killed:
            killed.append(None)
        thread.join()
        assert killed == [pid]
        for name in ("mean", "scale", "indices", "d", "loglik", "evaluations"):
            np.testing.assert_array_equal(getattr(found, name), getattr(want, name), err_msg=name)

    @THOROUGH
    def test_a_covariance_of_ones_own_travels(self, client, rng):
        mine = gs.register(
            "real travelled_cov(real sqdist, real amplitude, real lengthscale) {"
            "\n return amplitude * amplitude / (1 + sqdist / (lengthscale * lengthscale)); }",
            replace=True,
        )
        X, XX = rng.uniform(size=(200, 2)), rng.uniform(size=(30, 2))
        gp = gs.LocalGP(X, X.sum(1), cov=mine)
        found, want = (gp.predict(XX, end=10, close=40, g=1e-2, client=c) for c in (client, None))
        np.testing.assert_array_equal(found.mean, want.mean)


def test_sections_of_sections_travel(tmp_path, rng):
    from gpustats.parallel.rows import Section, as_rows

    a = rng.normal(size=20)
    x = Section(as_rows(memmap(tmp_path, "x", a), "x"), 5, 20)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(Section(x, 2, 9)))[:], a[7:14])
