"""Arrays that are read by slices and turn out not to be what they declare."""

import numpy as np
import pytest
from pieces import same

import gpustats as gs

da = pytest.importorskip("dask.array")

N = 1000
OPTIONS = [{}, dict(chunk=100, memory=400 * 8), dict(chunk=70, memory=300 * 8)]


@pytest.fixture
def x(rng):
    return rng.normal(size=N)


def second(x, made):
    """A Dask array whose second chunk is `made` of it."""

    def changed(chunk, block_info=None):
        return made(chunk) if block_info[0]["chunk-location"][0] == 1 else chunk

    return da.from_array(x, chunks=(100, *x.shape[1:])).map_blocks(changed, dtype=x.dtype, meta=np.empty(0))


WRONG = {
    "shorter": (lambda c: c[:-10], r"x: the chunk \(1,\) of this Dask array has shape \(90,\)"),
    "longer": (
        lambda c: np.append(c, c[:10]),
        r"has shape \(110,\) and dtype float64: declared were \(100,\) and float64",
    ),
    "empty": (lambda c: c[:0], r"has shape \(0,\)"),
    "of another type": (lambda c: c.astype("f4"), r"has shape \(100,\) and dtype float32"),
    "complex": (lambda c: c + 1j, "dtype complex128"),
    "of more axes": (lambda c: c[:, None], r"has shape \(100, 1\)"),
    "no array": (lambda c: 1.0, r"has shape \(\)"),
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", WRONG)
def test_chunks_that_are_not_as_declared(x, kind, options):
    made, message = WRONG[kind]
    with pytest.raises(ValueError, match=message):
        gs.Likelihood(gs.normal, second(x, made), **options)(0.0, 1.0)


def test_longer_and_shorter_chunks_that_make_up_for_one_another(x):
    def changed(chunk, block_info=None):
        place = block_info[0]["chunk-location"][0]
        return chunk[:-10] if place == 1 else np.append(chunk, chunk[:10]) if place == 2 else chunk

    wrong = da.from_array(x, chunks=100).map_blocks(changed, dtype=float)
    for options in OPTIONS:
        with pytest.raises(ValueError, match="of this Dask array has shape"):
            gs.Likelihood(gs.normal, wrong, **options)(0.0, 1.0)


def test_delayed_chunks(x):
    import dask

    def made(chunk):
        return da.from_delayed(dask.delayed(lambda: chunk)(), (100,), float)

    right = da.concatenate([made(x[i : i + 100]) for i in range(0, N, 100)])
    wrong = da.concatenate([made(x[i : i + 99]) for i in range(0, N, 100)])
    for options in OPTIONS:
        same(gs.Likelihood(gs.normal, right, **options)(0.0, 1.0), gs.Likelihood(gs.normal, x)(0.0, 1.0))
        with pytest.raises(ValueError, match=r"has shape \(99,\)"):
            gs.Likelihood(gs.normal, wrong, **options)(0.0, 1.0)


def test_masked_chunks(x):
    for change, message in (
        (lambda c: np.ma.masked_less(c, 0.0), "x: the chunk .* is masked: fill its gaps"),
        (np.ma.array, ""),
    ):
        masked = second(x, change)
        if message:
            with pytest.raises(TypeError, match=message):
                gs.Likelihood(gs.normal, masked, chunk=70, memory=300 * 8)(0.0, 1.0)
        else:
            same(gs.Likelihood(gs.normal, masked)(0.0, 1.0), gs.Likelihood(gs.normal, x)(0.0, 1.0))


def test_sizes_that_are_unknown(x):
    positive = da.from_array(x, chunks=100)
    positive = positive[positive > 0]
    for make in (gs.Likelihood, gs.Mixture, lambda d, x: gs.GLM(d, x, np.ones((N, 1)), eta="mu")):
        with pytest.raises(
            ValueError, match=r"chunks of unknown sizes, its shape is \(nan,\): call its method compute_chunk_sizes"
        ):
            make(gs.normal, positive)
    rows = da.from_array(np.stack([x, x], 1), chunks=(100, 2))
    with pytest.raises(ValueError, match=r"X has chunks of unknown sizes, its shape is \(nan, 2\)"):
        gs.GLM(gs.normal, x, rows[rows[:, 0] > 0], eta="mu", chunk=10)
    known = positive.compute_chunk_sizes()
    for options in OPTIONS:
        same(gs.Likelihood(gs.normal, known, **options)(0.0, 1.0), gs.Likelihood(gs.normal, x[x > 0])(0.0, 1.0))


def test_empty_chunks(x):
    chunked = da.from_array(x, chunks=((0, 300, 0, 0, 700, 0),))
    for options in OPTIONS:
        same(gs.Likelihood(gs.normal, chunked, **options)(0.0, 1.0), gs.Likelihood(gs.normal, x)(0.0, 1.0))
    assert gs.Likelihood(gs.normal, da.from_array(x[:0], chunks=10), chunk=10)(0.0, 1.0) == 0.0


def test_glm(x, rng):
    X = rng.normal(size=(N, 3))
    y, stored = da.from_array(x, chunks=130), da.from_array(X, chunks=(170, 2))
    for options in ({}, dict(chunk=90, memory=400 * 32)):
        glm = gs.GLM(gs.normal, y, stored, eta="mu", **options)
        same(
            glm.value_and_grad(np.ones(3), sigma=1.0),
            gs.GLM(gs.normal, x, X, eta="mu").value_and_grad(np.ones(3), sigma=1.0),
        )
        wrong = stored.map_blocks(lambda c: c[:-1], dtype=float)
        with pytest.raises(ValueError, match=r"X: the chunk \(\d, \d\) of this Dask array has shape"):
            gs.GLM(gs.normal, y, wrong, eta="mu", **options)(np.ones(3), sigma=1.0)


class Stored:
    """An array that gives other rows than it declares."""

    dtype, shape = np.dtype(float), (N,)

    def __init__(self, change):
        self.change = change

    def __getitem__(self, rows):
        return self.change(np.zeros(N)[rows])


@pytest.mark.parametrize("options", OPTIONS)
def test_other_arrays(options):
    assert gs.Likelihood(gs.normal, Stored(lambda a: a), **options)(0.0, 1.0) == pytest.approx(
        -N * np.log(2 * np.pi) / 2
    )
    for change in (lambda a: a[:-1], lambda a: np.append(a, 0.0), lambda a: a.astype(np.float32), lambda a: a[:, None]):
        with pytest.raises(ValueError, match=r"x.* has shape .* declared were"):
            gs.Likelihood(gs.normal, Stored(change), **options)(0.0, 1.0)
