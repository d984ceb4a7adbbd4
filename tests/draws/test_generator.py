"""Random streams: Philox against its authors' known answers, generators, and what draws depend on."""

import multiprocessing
import pickle
import threading

import numpy as np
import pytest

import gpustats as gs
from gpustats.draws.generator import as_generator
from gpustats.kernels.template import Template, prelude
from gpustats.runtime import choose

# Counter, key and result of philox4x32 with 10 rounds, from kat_vectors of Random123.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text):
    return [int(word, 16) for word in text.split()]


def reference(counter, key):
    """Philox4x32-10 in Python, after the paper."""
    x, (k0, k1) = list(counter), key
    for _ in range(10):
        a, c = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [c >> 32 ^ x[1] ^ k0, c % 2**32, a >> 32 ^ x[3] ^ k1, a % 2**32]
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return x


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_philox_gives_the_known_answers(dtype):
    runtime = choose.get()
    source = prelude(dtype, runtime.dialect) + Template("draws/generator.mako").functions(dtype, runtime.dialect)
    source += """
KERNEL(1) answer(GLOBAL int *out, int a, int b, int c, int d, int key0, int key1)
{
    words_t counter;
    counter.a = (word_t)a, counter.b = (word_t)b, counter.c = (word_t)c, counter.d = (word_t)d;
    const words_t words = philox(counter, (word_t)key0, (word_t)key1);
    out[0] = (int)words.a, out[1] = (int)words.b, out[2] = (int)words.c, out[3] = (int)words.d;
}
"""
    kernel = runtime.kernel(source, "answer", 1)
    for counter, key, answer in KNOWN:
        result = runtime.result(16)
        kernel((1, 1), result.handle, *np.array(words(counter) + words(key), np.uint32).view(np.int32).tolist())
        assert runtime.fetch(result).view(np.uint32).tolist() == words(answer)
        assert reference(words(counter), words(key)) == words(answer)


def expected_uniforms(generator, n, dtype):
    """What uniform draws are by the documented use of the words, in Python's whole numbers."""
    lanes, values = (2, []) if dtype == "float64" else (4, [])
    key, stream, first = generator.take(0)
    for i in range(first, first + n):
        tile, place = divmod(i, 64 * lanes)
        lane, block = divmod(place, 64)
        block += 64 * tile
        x = reference((block % 2**32, block >> 32, 0xFFFFFFFF, stream), (key % 2**32, key >> 32 & 0xFFFFFFFF))
        if dtype == "float64":
            whole = (x[2 * lane] << 32 | x[2 * lane + 1]) >> 12
            values.append((2 * whole + 1) / 2**53)
        else:
            rounded = np.float32(np.float32(x[lane]) * np.float32(2.0**-32) + np.float32(2.0**-33))
            values.append(min(rounded, np.float32(1 - 2.0**-24)))
    return np.array(values, dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 5, 300])
def test_uniform_draws_are_the_same_bits_on_every_device(dtype, n):
    for seed in (0, 1, 2**70, [1, 2, 3]):
        generator = gs.Generator(seed)
        got = gs.uniform.rvs(0.0, 1.0, size=n, rng=seed, dtype=dtype)
        np.testing.assert_array_equal(got, expected_uniforms(generator, n, dtype))
    generator = gs.Generator(7)
    generator.take(2**33 + 5)  # the number of a draw takes two words
    want = expected_uniforms(generator, n, dtype)
    np.testing.assert_array_equal(gs.uniform.rvs(0.0, 1.0, size=n, rng=generator, dtype=dtype), want)


def draws(rng, n=50):
    return gs.normal.rvs(0.0, 1.0, size=n, rng=rng)


def test_a_generator_goes_on_where_it_is():
    generator = gs.Generator(3)
    parts = [draws(generator, n) for n in (1, 7, 0, 64, 200)]
    np.testing.assert_array_equal(np.concatenate(parts), draws(3, 272))


def test_streams_differ():
    generator = gs.Generator(5)
    others = [gs.Generator(6), generator.jumped(), generator.jumped(2), *generator.spawn(3), *generator.spawn(1)]
    seen = {draws(g).tobytes() for g in [generator, *others]}
    assert len(seen) == 8
    np.testing.assert_array_equal(draws(gs.Generator(5).spawn(2)[1]), draws(gs.Generator(5).spawn(2)[1]))
    np.testing.assert_array_equal(draws(gs.Generator(5).jumped(3)), draws(gs.Generator(5).jumped().jumped(2)))


def test_seeds_are_those_of_numpy():
    sequence = np.random.SeedSequence(11)
    np.testing.assert_array_equal(draws(sequence), draws(11))
    assert not np.array_equal(draws([11, 12]), draws([12, 11]))
    for make in (np.random.default_rng, np.random.RandomState):
        np.testing.assert_array_equal(draws(make(1)), draws(make(1)))
        generator = make(1)
        assert not np.array_equal(draws(generator), draws(generator))
    for wrong in ("seed", 1.5, object()):
        with pytest.raises(TypeError, match="rng must be a seed"):
            draws(wrong)
    with pytest.raises(ValueError, match="non-negative"):
        draws(-1)


def test_without_a_seed_draws_differ():
    assert not np.array_equal(draws(None), draws(None))
    assert not np.array_equal(draws(gs.Generator()), draws(gs.Generator()))
    assert as_generator(None) is as_generator(None)


def test_a_pickled_generator_goes_on():
    generator = gs.Generator(9)
    draws(generator, 13)
    copy = pickle.loads(pickle.dumps(generator))
    np.testing.assert_array_equal(draws(copy), draws(generator))


def test_threads_share_a_generator_without_sharing_draws():
    generator, found = gs.Generator(4), []
    threads = [threading.Thread(target=lambda: found.append(draws(generator, 1000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), np.sort(draws(4, 8000)))


def _first_number(queue):
    queue.put(as_generator(None).take(1))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this platform does not fork")
def test_a_forked_child_does_not_repeat_its_parents_draws():
    own = as_generator(None).take(1)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_first_number, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    keys = {queue.get(timeout=30)[:2] for _ in children} | {own[:2]}
    for child in children:
        child.join()
    assert len(keys) == 3
