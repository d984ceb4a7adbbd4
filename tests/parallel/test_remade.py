"""Models that are pickled, copied, and sent to other processes."""

import copy
import multiprocessing
import os
import pickle

import numpy as np
import pytest
from pieces import memmap
from runtimes import IDS, run
from thorough import some

import gpustats as gs
from gpustats.runtime import choose

N, K, G = 1003, 4, 5
HERE = IDS[0] if IDS else "cpu"

WAYS = {"pickle": lambda model: pickle.loads(pickle.dumps(model)), "copy": copy.copy, "deepcopy": copy.deepcopy}


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


@pytest.fixture
def x(rng):
    return rng.normal(size=N)


def same_bits(one, other):
    """Whether results are equal to the bit, of the same kinds, and lie on the same device."""
    assert type(one) is type(other)
    if isinstance(one, tuple):
        for a, b in zip(one, other, strict=True):
            same_bits(a, b)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        same_bits(tuple(one.values()), tuple(other.values()))
    else:
        one, other = gs.to_host(one), gs.to_host(other)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def same_model(one, other, *args, methods=("__call__", "value_and_grad"), **kwargs):
    assert type(one) is type(other) and repr(one).replace("int64", "float64") == repr(other).replace("int64", "float64")
    assert one is not other
    for method in methods:
        same_bits(getattr(one, method)(*args, **kwargs), getattr(other, method)(*args, **kwargs))


OPTIONS = [
    {}, dict(chunk=100), dict(chunk=100, memory=300 * 8), dict(memory=300 * 8), dict(devices=[HERE] * 3),
    dict(devices=[HERE] * 2, chunk=100, memory=300 * 8),
]  # fmt: skip


@pytest.mark.parametrize("options", some(OPTIONS))
def test_likelihood(way, x, options):
    likelihood = gs.Likelihood(gs.normal, x, **options)
    for _ in range(2):  # before and after it was used
        same_model(way(likelihood), likelihood, 0.1, 1.2, methods=("__call__", "value_and_grad", "hessian"))
    same_model(way(likelihood), likelihood, np.array([[0.1], [0.4]]), 1.2)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_other_types_and_devices(layout, way, x, dtype):
    for options in ({}, dict(chunk=300, memory=1000 * 8)):
        likelihood = gs.Likelihood(gs.normal, (4 * x).astype(dtype), **options)
        same_model(way(likelihood), likelihood, 0.1, 1.2)


def test_vectors(way, rng):
    likelihood = gs.Likelihood(gs.mvnormal, rng.normal(size=(N, 3)))
    same_model(way(likelihood), likelihood, np.zeros(3), np.eye(3))


@pytest.mark.parametrize("kind", [np.asarray, gs.to_device])
def test_data_on_a_device(layout, way, x, kind):
    """They lie on the default device again, and results with them."""
    likelihood, mixture = gs.Likelihood(gs.normal, kind(x)), gs.Mixture(gs.normal, kind(x))
    same_model(way(likelihood), likelihood, 0.1, 1.2)
    arguments = np.log([0.3, 0.7]), np.array([0.0, 1.0]), 1.0
    methods = ("loglik", "logpdf", "responsibilities", "value_and_grad")
    same_model(way(mixture), mixture, *arguments, methods=methods)
    same_bits(way(mixture).assign(*arguments, rng=1), mixture.assign(*arguments, rng=1))


def test_deep_copies_are_independent(x):
    on_device = gs.to_device(x)
    likelihood = gs.Likelihood(gs.normal, on_device)
    shared, own = copy.copy(likelihood), copy.deepcopy(likelihood)
    before = likelihood(0.0, 1.0)
    on_device[:] = 0.0
    assert likelihood(0.0, 1.0) == shared(0.0, 1.0) != before == own(0.0, 1.0)


@pytest.mark.parametrize("options", some(OPTIONS, 6))
def test_glm(way, rng, options):
    dtype = np.float64 if options else np.float32
    X, offset, weights = rng.normal(size=(N, K)).astype(dtype), rng.normal(size=N), rng.uniform(size=N)
    for data in (dict(offset=offset, weights=weights, groups=rng.integers(0, G - 1, N), n_groups=G), {}):
        memory = {"memory": 300 * 70} if "memory" in options else {}
        glm = gs.GLM(gs.poisson_log, rng.poisson(1.0, N), X, **data, **(options | memory))
        alpha = rng.normal(size=G) if data else 0.3
        same_model(way(glm), glm, 0.1 * rng.normal(size=K), alpha, methods=("__call__", "value_and_grad", "logpdf"))
    data = {n: gs.to_device(v) if n != "groups" else v for n, v in data.items()}
    if not options:
        glm = gs.GLM(gs.normal, gs.to_device(offset), gs.to_device(X), eta="mu", weights=gs.to_device(weights))
        same_model(way(glm), glm, rng.normal(size=K), 0.1, 1.5)


def test_glm_laid_out_for_a_gpu(way, rng, like_a_gpu):
    with gs.use(like_a_gpu):
        glm = gs.GLM(gs.categorical_logit, rng.integers(0, 3, N), rng.normal(size=(N, K)), groups=rng.integers(0, G, N))
        same_model(way(glm), glm, rng.normal(size=(K, 3)), 0.2)


def test_gaussian_processes(way, x, rng):
    points, hyperparameters = rng.normal(size=(40, 2)), dict(amplitude=1.0, lengthscale=0.5, sigma=0.3)
    for kind in (np.asarray, gs.to_device):
        ml = gs.gp.MarginalLikelihood(gs.rbf, kind(points), kind(x[:40]), student_t=True, jitter=1e-9)
        ml(**hyperparameters)
        other = way(ml)
        assert repr(other) == repr(ml)
        wrt = ("x", "y", "sigma")
        same_bits(other.value_and_grad(**hyperparameters, wrt=wrt), ml.value_and_grad(**hyperparameters, wrt=wrt))
        same_bits(other.predict(points[:3], **hyperparameters).mean, ml.predict(points[:3], **hyperparameters).mean)
    gp = gs.LocalGP(points, x[:40])
    found, want = (model.predict(points[:3], end=10, close=20) for model in (way(gp), gp))
    same_bits(found.mean, want.mean)


def test_what_belongs_to_them(way, x):
    """Also after they were used, so that there are kernels to leave behind."""
    samplers = gs.normal, gs.gamma, gs.transforms.Truncate(gs.normal, -1.0, 1.0)
    for density in samplers:
        density.rvs(1.0, 2.0, size=3, rng=1)
        same_bits(way(density).rvs(1.0, 2.0, size=5, rng=1), density.rvs(1.0, 2.0, size=5, rng=1))
        assert way(density.sampler).arguments == density.sampler.arguments
    same_bits(way(gs.transforms.Exp(gs.normal))(x, 0.0, 1.0), gs.normal.pdf(x, 0.0, 1.0))
    same_bits(
        way(gs.mvnormal).logpdf(np.ones(2), np.zeros(2), np.eye(2)),
        gs.mvnormal.logpdf(np.ones(2), np.zeros(2), np.eye(2)),
    )
    assert way(gs.mvnormal).definition.kind is gs.mvnormal.definition.kind
    rng = gs.Generator(3)
    gs.uniform.rvs(0.0, 1.0, size=2, rng=rng)
    other = way(rng)
    same_bits(gs.uniform.rvs(0.0, 1.0, size=2, rng=other), gs.uniform.rvs(0.0, 1.0, size=2, rng=rng))
    same_bits(
        way(gs.rbf)(x[:5, None], amplitude=1.0, lengthscale=2.0), gs.rbf(x[:5, None], amplitude=1.0, lengthscale=2.0)
    )
    device_map = gs.parallel.DeviceMap([HERE, HERE])
    assert way(device_map)._runtimes == device_map._runtimes


files_tell = pytest.mark.skipif(not hasattr(os, "preadv"), reason="files are read through memory on Windows")


@files_tell
@pytest.mark.parametrize(
    "options", some([{}, dict(chunk=100, memory=300 * 8), dict(devices=[HERE] * 2, chunk=100, memory=300 * 8)], 2)
)
def test_files_travel_by_their_path(tmp_path, way, x, options):
    mapped = memmap(tmp_path, "x", np.tile(x, 20))
    for array in (mapped, mapped[5:], mapped[::2]):
        likelihood = gs.Likelihood(gs.normal, array, **options)
        if options:
            assert len(pickle.dumps(likelihood)) < min(30_000, array.nbytes)
        same_model(way(likelihood), likelihood, 0.1, 1.2)


@files_tell
def test_a_file_that_changes_on_the_way(tmp_path, x):
    text = pickle.dumps(gs.Likelihood(gs.normal, memmap(tmp_path, "x", x), chunk=100, memory=300 * 8))
    os.utime(tmp_path / "x", ns=(0, 10**9))
    with pytest.raises(RuntimeError, match=r"x: the file .* has changed since the model was made"):
        pickle.loads(text)
    (tmp_path / "x").unlink()
    with pytest.raises(FileNotFoundError, match="x"):
        pickle.loads(text)


def test_arrays_of_other_libraries(way, tmp_path, x):
    da, zarr = pytest.importorskip("dask.array"), pytest.importorskip("zarr")
    for stored in (da.from_array(x, chunks=70), zarr.create_array(tmp_path / "x.zarr", data=x, chunks=(70,))):
        likelihood = gs.Likelihood(gs.normal, stored, chunk=100, memory=300 * 8)
        same_model(way(likelihood), likelihood, 0.1, 1.2)


def test_hdf5(tmp_path, x):
    stored = pytest.importorskip("h5py").File(tmp_path / "x.h5", "w").create_dataset("x", data=x)
    likelihood = gs.Likelihood(gs.normal, stored, chunk=100, memory=300 * 8)
    for way in (copy.copy, copy.deepcopy):
        same_model(way(likelihood), likelihood, 0.1, 1.2)
    with pytest.raises(TypeError, match="h5py objects cannot be pickled"):
        pickle.dumps(likelihood)


def test_what_users_register_travels_with_its_source(tmp_path, x):
    mine = gs.register(
        "real sharp_root(real t) { return sqrt(1 + t * t); }\n"
        "real sharp_logpdf(real x, real mu) { return -sharp_root(x - mu); }"
    )
    likelihood, glm = gs.Likelihood(mine, x), gs.GLM(mine, x, x[:, None], eta="mu")
    mixture = gs.Mixture(mine, x)
    arguments = np.log([0.5, 0.5]), np.array([0.0, 1.0])
    expected = likelihood(0.5), glm(np.ones(1)), mixture(*arguments)
    (tmp_path / "models").write_bytes(pickle.dumps((likelihood, glm, mixture, arguments)))
    code = f"""
    import pickle, numpy as np
    likelihood, glm, mixture, arguments = pickle.load(open({str(tmp_path / "models")!r}, "rb"))
    print(likelihood(0.5).hex(), glm(np.ones(1)).hex(), mixture(*arguments).hex())
    """
    assert run(code).split() == [value.hex() for value in expected]


def test_the_default_device(x, like_a_gpu):
    """Wherever the data lay."""
    with gs.use(like_a_gpu):
        text = pickle.dumps(gs.Likelihood(gs.normal, gs.to_device(x)))
    assert pickle.loads(text)._runtime is choose.get()
    with gs.use(like_a_gpu):
        assert pickle.loads(text)._runtime is like_a_gpu


def value_and_grad(model):
    return model.value_and_grad(0.1, 1.2)


def test_spawned_processes(x, tmp_path):
    models = [
        gs.Likelihood(gs.normal, x), gs.Likelihood(gs.normal, gs.to_device(x)),
        gs.Likelihood(gs.normal, memmap(tmp_path, "x", x), chunk=100, memory=300 * 8),
    ]  # fmt: skip
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for model, found in zip(models, pool.map(value_and_grad, models), strict=True):
            same_bits(found, value_and_grad(model))


def test_joblib(x):
    joblib = pytest.importorskip("joblib")
    likelihood = gs.Likelihood(gs.normal, x)
    for found in joblib.Parallel(n_jobs=2)(joblib.delayed(value_and_grad)(likelihood) for _ in range(3)):
        same_bits(found, value_and_grad(likelihood))
