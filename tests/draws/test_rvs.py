"""What `rvs` promises beside the distribution of its draws: streams, shapes, types, errors."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from references_draws import CONTINUOUS, DISCRETE, DISTRIBUTIONS, VECTOR, N
from thorough import THOROUGH, double_first, some

import gpustats as gs

inf = np.inf
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
ORDINARY = {name: sets[1 if name == "triangular" else 0] for name, sets in (CONTINUOUS | DISCRETE | VECTOR).items()}

ORDINARY |= {"bernoulli": (0.3,), "geometric": (0.3,), "discrete_uniform": (-3, 7), "poisson": (30,), "poisson_log": (3,),
             "binomial": (100, 0.4), "zero_inflated_poisson": (0.3, 2), "categorical_logit": ([-1, 2, 1],),
             "beta_binomial": (2, 3, 100), "dirichlet": ([1, 2, 3],), "multinomial": (20, [0.2, 0.3, 0.5]),
             "dirichlet_multinomial": (20, [1, 2, 3]), "multivariate_hypergeometric": (20, [10, 20, 30]),
             "negative_binomial": (100, 3), "categorical": ([0.2, 0.3, 0.5],), "mvnormal": ([0, 1], np.eye(2)),
             "mv_student_t": (5, [0, 1], np.eye(2))}  # fmt: skip
for _name in ("normal_inverse_gamma", "stick_breaking_weights", "zero_sum_normal"):
    del ORDINARY[_name]  # no parameter tells the length of its vectors

STORED = Path(__file__).with_name("draws.json")


def draws_to_store(name, dtype):
    """A few draws from the middle of a stream."""
    rng = gs.Generator(2026)
    rng.take(1_000_003)
    kind = None if gs.densities[name].discrete else dtype
    return gs.densities[name].rvs(*ORDINARY[name], size=5, rng=rng, dtype=kind)


@pytest.mark.parametrize("name", some(ORDINARY, 2))
@double_first
@pytest.mark.parametrize("layout", ["device", pytest.param("gpu", marks=THOROUGH)], indirect=True)
def test_draws_are_the_same_on_every_device(name, dtype, layout):
    """To rounding, those that a CPU once made: the numbers that a seed stands for stay what they are."""
    stored = json.loads(STORED.read_text())[np.dtype(dtype).name]
    assert name in stored, f"{name} has no draws in {STORED}: PYTHONPATH=.:tests/helpers python {__file__} stores some"
    want = stored[name]
    got = draws_to_store(name, dtype)
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.abs(want).max())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_density_has_stored_draws(dtype):
    stored = json.loads(STORED.read_text())[dtype]
    missing = sorted(set(ORDINARY) - set(stored))
    assert not missing, f"{missing} have no draws in {STORED}: PYTHONPATH=.:tests/helpers python {__file__} stores some"


#: One for each way of drawing: from one uniform number, from one normal number, from attempts, from several numbers.
KINDS = ["cauchy", "normal", "gamma", "wald", "geometric", "poisson", "binomial", "categorical", "dirichlet", "multinomial"]


@pytest.mark.parametrize("name", some(ORDINARY))
def test_draws_in_parts_are_those_of_one_call(name):
    rvs, parameters = gs.densities[name].rvs, ORDINARY[name]
    whole = rvs(*parameters, size=5000, rng=7)
    rng = gs.Generator(7)
    parts = [rvs(*parameters, size=n, rng=rng) for n in (1, 1000, 2, 0, 3997)]
    # A search of many steps, which on GPUs does not round alike in calls of all sizes.
    rtol = 1e-7 if name == "gauss_hypergeometric" else 0
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=rtol)
    assert len(np.unique(whole, axis=0)) > 1


@pytest.mark.parametrize("name", KINDS)
def test_float32_draws_in_parts(name):
    if gs.densities[name].discrete:
        return
    whole = gs.densities[name].rvs(*ORDINARY[name], size=5000, rng=7, dtype=np.float32)
    rng = gs.Generator(7)
    parts = [gs.densities[name].rvs(*ORDINARY[name], size=n, rng=rng, dtype=np.float32) for n in (1, 1000, 2, 3997)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def stretched(parameters, shapes):
    """Each parameter, repeated to an array of a shape."""
    return [np.broadcast_to(p, shape + np.shape(p)).copy() for p, shape in zip(parameters, shapes)]


@pytest.mark.parametrize("name", some(KINDS, 5))
@pytest.mark.parametrize("shapes", [[(7,)], [(40, 7)], [(40, 1), (7,)], [(40, 7), ()]], ids=str)
def test_equal_parameters_in_arrays_change_nothing(name, shapes):
    parameters = [np.asarray(p, float) for p in ORDINARY[name]]
    want = gs.densities[name].rvs(*parameters, size=(40, 7), rng=3)
    got = gs.densities[name].rvs(*stretched(parameters, shapes * len(parameters)), size=(40, 7), rng=3)
    np.testing.assert_array_equal(got, want)


def test_each_place_has_its_own_parameters():
    mu, sigma = np.array([[0.0], [1e6]]), np.array([1e-3, 1.0, 10.0])
    x = gs.normal.rvs(mu, sigma, size=(20_000, 2, 3), rng=1)
    np.testing.assert_allclose(x.mean(0), mu + 0 * sigma, atol=0.3)
    np.testing.assert_allclose(x.std(0), sigma + 0 * mu, rtol=0.03)
    counts = gs.categorical.rvs([[1.0, 0, 0], [0, 0, 1.0]], size=(50, 2), rng=1)
    np.testing.assert_array_equal(counts, [[0, 2]] * 50)
    shares = gs.dirichlet.rvs(np.array([[1e6, 1.0, 1.0], [1.0, 1.0, 1e6]]), rng=1)
    np.testing.assert_array_equal(shares.argmax(1), [0, 2])


def test_powers_that_overflow():
    """A zeta distribution whose exponent leaves only 1, and Weibull's whose power alone overflows."""
    assert (gs.zipf.rvs(np.float32(3134893), size=100, rng=1) == 1).all()
    x = gs.weibull.rvs(0.003, 1e-250, size=200, rng=1)
    assert np.isfinite(x).all() and (x > 1).any()


def test_streams():
    draw = lambda rng: gs.normal.rvs(0.0, 1.0, size=1000, rng=rng)  # noqa: E731
    np.testing.assert_array_equal(draw(5), draw(gs.Generator(5)))
    np.testing.assert_array_equal(draw(np.random.default_rng(5)), draw(np.random.default_rng(5)))
    others = [draw(5), draw(6), draw([5, 6]), draw(None), draw(None), *map(draw, gs.Generator(5).spawn(2)),
              draw(gs.Generator(5).jumped())]  # fmt: skip
    correlations = np.corrcoef(others) - np.eye(len(others))
    assert np.abs(correlations).max() < 0.2
    with pytest.raises(TypeError, match="rng must be a seed"):
        draw("seed")


def test_neighbouring_draws_are_independent():
    for name in ("normal", "cauchy", "gamma"):
        parameters = ORDINARY[name]
        u = DISTRIBUTIONS[name](*parameters).cdf(gs.densities[name].rvs(*parameters, size=N, rng=1))
        for lag in (1, 2, 3, 4, 63, 64, 128):
            assert abs(np.corrcoef(u[lag:], u[:-lag])[0, 1]) < 5 / np.sqrt(N)


def test_shapes_are_those_of_numpy():
    numpys = np.random.default_rng(1)
    vector, column = np.zeros(4), np.zeros((3, 1))
    for mu in (0.0, vector, column):
        for sigma in (1.0, vector + 1, column + 1):
            for size in (None, (3, 4), (2, 3, 4), (2, 1, 3, 4), (0, 3, 4)):
                assert gs.normal.rvs(mu, sigma, size=size).shape == np.shape(numpys.normal(mu, sigma, size)), (mu, sigma, size)
    for size, shape in [(None, ()), ((), ()), (0, (0,)), (5, (5,)), (np.int64(5), (5,)), ([2, 3], (2, 3)), ((3, 0), (3, 0))]:
        assert gs.poisson.rvs(3.0, size=size).shape == shape
        assert gs.dirichlet.rvs([1.0, 2.0], size=size).shape == (*shape, 2)
        assert gs.multinomial.rvs(3, [0.5, 0.5], size=size).shape == (*shape, 2)
    assert gs.multinomial.rvs(np.ones((4, 1)), np.full((3, 2), 0.5)).shape == (4, 3, 2)
    assert gs.normal.rvs(np.zeros(0), 1.0).shape == (0,)


def test_types():
    single, double = np.float32([1, 2]), np.array([1.0, 2.0])
    assert gs.gamma.rvs(single, single).dtype == gs.gamma.rvs(single, 1.0).dtype == np.float32
    assert gs.gamma.rvs(double, single).dtype == gs.gamma.rvs(1, 2).dtype == np.float64
    assert gs.gamma.rvs(double, 1.0, dtype="float32").dtype == gs.dirichlet.rvs(single).dtype == np.float32
    assert gs.poisson.rvs(single).dtype == gs.poisson.rvs(double, dtype=np.int64).dtype == np.int64
    assert gs.multinomial.rvs(3, single / 3).dtype == np.int64
    with pytest.raises(TypeError, match="float32 or float64"):
        gs.gamma.rvs(1.0, 1.0, dtype=int)
    with pytest.raises(TypeError, match="whole numbers"):
        gs.poisson.rvs(1.0, dtype=float)


def test_float32_probabilities():
    """They sum to one within the rounding of their own type, not of that in which draws are made."""
    p = np.float32([1 / 3, 2 / 3])
    assert abs(p.sum(dtype=float) - 1) > np.sqrt(np.finfo(float).eps)
    for given in (p, gs.to_device(p)):
        assert (gs.to_host(gs.multinomial.rvs(3, given, size=9)).sum(1) == 3).all()
        assert (gs.to_host(gs.categorical.rvs(given, size=9)) >= 0).all()


def test_the_order_of_parameters_and_names():
    want = gs.gamma.rvs(2.0, 3.0, size=5, rng=1)
    np.testing.assert_array_equal(gs.gamma.rvs(beta=3.0, alpha=2.0, size=5, rng=1), want)
    np.testing.assert_array_equal(gs.gamma.rvs(2.0, beta=3.0, size=5, rng=1), want)
    with pytest.raises((TypeError, ValueError), match="beta"):
        gs.gamma.rvs(2.0)


@pytest.mark.parametrize("name", KINDS)
def test_out(name):
    density, parameters = gs.densities[name], ORDINARY[name]
    want = density.rvs(*parameters, size=(6, 5), rng=2)
    for out in (np.empty_like(want), np.empty((2, *want.shape), want.dtype)[1]):
        assert density.rvs(*parameters, rng=2, out=out) is out
        np.testing.assert_array_equal(out, want)
        assert density.rvs(*parameters, size=(6, 5), rng=2, out=out) is out
    on_device = density.rvs(*parameters, size=(6, 5), rng=3, device=True)
    assert not isinstance(on_device, np.ndarray)
    assert on_device.dtype == want.dtype and on_device.shape == want.shape
    assert density.rvs(*parameters, rng=2, out=on_device) is on_device
    np.testing.assert_array_equal(gs.to_host(on_device), want)


def test_float32_out():
    out = np.empty(7, np.float32)
    gs.gamma.rvs(2.0, 3.0, rng=2, out=out)
    np.testing.assert_array_equal(out, gs.gamma.rvs(2.0, 3.0, size=7, rng=2, dtype="float32"))


def test_out_that_does_not_fit():
    with pytest.raises(ValueError, match="shape"):
        gs.normal.rvs(0.0, 1.0, size=3, out=np.empty(4))
    with pytest.raises(ValueError, match=r"\(3,\)"):
        gs.normal.rvs(np.zeros(4), 1.0, out=np.empty(3))
    with pytest.raises(ValueError, match="shape"):
        gs.dirichlet.rvs([1.0, 2.0], out=np.empty((4, 3)))
    with pytest.raises(ValueError, match="contiguous"):
        gs.normal.rvs(0.0, 1.0, out=np.empty((3, 4)).T)
    with pytest.raises(TypeError, match="int"):
        gs.normal.rvs(0.0, 1.0, out=np.empty(3, int))
    with pytest.raises(TypeError, match="float32"):
        gs.normal.rvs(0.0, 1.0, dtype="float64", out=np.empty(3, np.float32))
    with pytest.raises(TypeError, match="int64"):
        gs.poisson.rvs(1.0, out=np.empty(3))
    with pytest.raises(TypeError, match="list"):
        gs.normal.rvs(0.0, 1.0, out=[0.0])


def test_parameters_on_the_device():
    mu = np.array([0.0, 100.0])
    x = gs.normal.rvs(gs.to_device(mu), 1.0, size=(5, 2), rng=4)
    assert not isinstance(x, np.ndarray)
    np.testing.assert_array_equal(gs.to_host(x), gs.normal.rvs(mu, 1.0, size=(5, 2), rng=4))
    bad = gs.to_device(np.array([-1.0, 1.0]))  # not read back to be checked
    np.testing.assert_array_equal(np.isnan(gs.to_host(gs.exponential.rvs(bad))), [True, False])
    assert (gs.to_host(gs.poisson.rvs(bad)) < 0).tolist() == [True, False]
    assert np.isnan(gs.to_host(gs.dirichlet.rvs(bad))).all()


@pytest.mark.parametrize("size", [-1, 1.5, (2, -3), "many", (2, None)], ids=str)
def test_bad_sizes(size):
    with pytest.raises(ValueError, match="size must be"):
        gs.normal.rvs(0.0, 1.0, size=size)


def test_sizes_that_do_not_fit_the_parameters():
    for size in (5, (4, 3), ()):
        with pytest.raises(ValueError, match=r"size .* mu \(4,\)"):
            gs.normal.rvs(np.zeros(4), 1.0, size=size)
    with pytest.raises(ValueError, match="shape"):
        gs.normal.rvs(np.zeros(4), np.ones(3))


BAD = [
    ("normal", "sigma", (0.0, -1.0)), ("normal", "mu", (np.nan, 1.0)), ("normal", "sigma", (0.0, np.array([[1.0, 2], [0, 1]]))),
    ("gamma", "alpha", (0.0, 1.0)), ("poisson", "mu", (-1.0,)), ("binomial", "n", (1.5, 0.5)), ("binomial", "p", (3, 1.1)),
    ("dirichlet", "a", ([1.0, -1.0],)), ("dirichlet", "a", (np.ones((3, 2)) * [[1], [1], [0]],)),
    ("categorical", "p", ([0.5, 0.6],)), ("multinomial", "p", (3, [0.5, np.nan])),
    ("ordered_logit", "cutpoints", (0.0, [1.0, 1.0])),
]  # fmt: skip


@pytest.mark.parametrize("name,parameter,parameters", BAD, ids=[f"{n}-{p}-{i}" for i, (n, p, _) in enumerate(BAD)])
def test_parameters_outside_their_domains(name, parameter, parameters):
    with pytest.raises(ValueError, match=f"^{parameter} must be"):
        gs.densities[name].rvs(*parameters, size=None)


if __name__ == "__main__":  # stores the draws of densities that have none, or anew those of the names given
    values = json.loads(STORED.read_text())
    for dtype in (np.float64, np.float32):
        known = values[np.dtype(dtype).name]
        found = {n: draws_to_store(n, dtype).tolist() for n in ORDINARY if n not in known or n in sys.argv[1:]}
        values[np.dtype(dtype).name] = {n: found.get(n, known.get(n)) for n in ORDINARY}
    text = json.dumps(values)
    for name in ORDINARY:
        text = text.replace(f'"{name}":', f'\n"{name}":')
    STORED.write_text(text.replace(" \n", "\n") + "\n")
