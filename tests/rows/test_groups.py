"""Tables and their groups: how many there are, how large they are, and which rows they have change no number."""

import re

import numpy as np
import pytest
from scipy import stats
from thorough import some

import gpustats as gs

SOURCE = "real row(real y, real mu, real s) { return normal_logpdf(y, mu, s); }"


def groups_of(kind, n, rng):
    return {
        "one": np.zeros(n, int),
        "each its own": rng.permutation(n),
        "empty ones": 3 * rng.integers(0, 5, n) + 2,
        "large and small": np.where(rng.random(n) < 0.9, 4, rng.integers(0, 300, n)),
        "far apart": rng.choice([5, 70_000, 1_000_000], n),
    }[kind]


@pytest.mark.parametrize("kind", some(["one", "each its own", "empty ones", "large and small", "far apart"]))
@pytest.mark.parametrize("n", [1, 31, 20_000])
def test_groups(kind, n, rng, layout):
    y, index = rng.normal(size=n), groups_of(kind, n, rng)
    mu = rng.normal(size=index.max() + 3)
    rows = gs.Rows(SOURCE, y=y, mu=gs.gather(index))
    value, gradient = rows.value_and_grad(mu=mu, s=1.5)
    np.testing.assert_allclose(value, stats.norm.logpdf(y, mu[index], 1.5).sum(), rtol=1e-12)
    wanted = np.bincount(index, (y - mu[index]) / 1.5**2, len(mu))
    np.testing.assert_allclose(gradient["mu"], wanted, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(rows.terms(mu=mu, s=1.5), stats.norm.logpdf(y, mu[index], 1.5), rtol=1e-12)


def test_two_tables_that_share_an_index_share_a_pass(rng):
    n = 500
    y, index = rng.normal(size=n), rng.integers(0, 9, n)
    rows = gs.Rows(SOURCE, y=y, mu=gs.gather(index), s=gs.gather(index.copy()))
    mu, s = rng.normal(size=9), rng.uniform(1, 2, 9)
    _, gradient = rows.value_and_grad(mu=mu, s=s)
    z = (y - mu[index]) / s[index]
    np.testing.assert_allclose(gradient["mu"], np.bincount(index, z / s[index]), rtol=1e-10)
    np.testing.assert_allclose(gradient["s"], np.bincount(index, (z * z - 1) / s[index]), rtol=1e-10)
    assert len(re.findall("^KERNEL", rows.kernel_source(), re.MULTILINE)) == 1


def test_places_that_are_the_same_in_all_rows(rng, layout):
    """Columns of one table, taken one by one, and one element of another: one order of the rows."""
    y, g = rng.normal(size=300), rng.integers(0, 7, 300)
    rows = gs.Rows(
        "real row(real y, real a, real b, real c, real d) { return normal_logpdf(y, a + b * y, exp(c * d)); }", y=y,
        a=gs.gather(g, np.zeros(300, int), of="w"), b=gs.gather(g, np.full(300, 2), of="w"), c=gs.gather(g),
        d=gs.gather(np.full(300, 3)),
    )  # fmt: skip
    w, c, d = rng.normal(size=(7, 3)), rng.normal(size=7), rng.normal(size=5)
    value, gradient = rows.value_and_grad(w=w, c=c, d=d)
    sd = np.exp(c[g] * d[3])
    z = (y - w[g, 0] - w[g, 2] * y) / sd
    np.testing.assert_allclose(value, stats.norm.logpdf(z).sum() - np.log(sd).sum(), rtol=1e-12)
    by_group = [np.bincount(g, slope, 7) for slope in (z / sd, y * z / sd, (z * z - 1) * d[3])]
    np.testing.assert_allclose(gradient["w"], np.stack([by_group[0], np.zeros(7), by_group[1]], 1), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(gradient["c"], by_group[2], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(gradient["d"], [0, 0, 0, ((z * z - 1) * c[g]).sum(), 0], rtol=1e-9, atol=1e-11)
    assert len(re.findall("^KERNEL", rows.kernel_source(), re.MULTILINE)) == 2


def test_the_same_bits_each_time(rng):
    n = 50_000
    y, i, j = rng.normal(size=n), rng.integers(0, 700, n), rng.integers(0, 11, n)
    rows = gs.Rows(SOURCE, y=y, mu=gs.gather(i), s=gs.gather(j))
    given = dict(mu=rng.normal(size=700), s=rng.uniform(1, 2, 11))
    first, *others = (rows.value_and_grad(**given) for _ in range(4))
    for value, gradient in others:
        assert value == first[0] and all(np.array_equal(gradient[k], first[1][k]) for k in gradient)


def test_sets_do_not_depend_on_one_another(rng, layout):
    n = 3000
    y, i, j = rng.normal(size=n), rng.integers(0, 40, n), rng.integers(0, 3, n)
    rows = gs.Rows(
        "real row(real y, real a, real b, real h, real s) { return normal_logpdf(y, a * b + h, s); }",
        y=y, a=gs.gather(i), b=gs.gather(j), h=gs.per_row(),
    )  # fmt: skip
    a, b, h, s = rng.normal(size=(2, 5, 40)), rng.normal(size=(5, 3)), rng.normal(size=n), rng.uniform(1, 2, (2, 1))
    value, gradient = rows.value_and_grad(a=a, b=b, h=h, s=s)
    assert value.shape == (2, 5) and rows.terms(a=a, b=b, h=h, s=s).shape == (2, 5, n)
    assert all(gradient[k].shape == np.shape(v) for k, v in dict(a=a, b=b, h=h, s=s).items())
    parts = {}
    for p in range(2):
        for q in range(5):
            own, its = parts[p, q] = rows.value_and_grad(a=a[p, q], b=b[q], h=h, s=s[p, 0])
            assert own == value[p, q] and np.array_equal(its["a"], gradient["a"][p, q])
            assert rows.hessian(a=a[p, q], b=b[q], h=h, s=s[p, 0]) == rows.hessian(a=a, b=b, h=h, s=s)[p, q]
    of_b = [sum(parts[p, q][1]["b"] for p in range(2)) for q in range(5)]
    np.testing.assert_allclose(gradient["b"], of_b, rtol=1e-12)
    np.testing.assert_allclose(gradient["h"], sum(its["h"] for _, its in parts.values()), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(gradient["s"][:, 0], [sum(parts[p, q][1]["s"] for q in range(5)) for p in range(2)], rtol=1e-12)


def test_device_arrays(rng, layout):
    """Tables, coefficients and numbers of rows on the device are read there, and their derivatives stay there."""
    n = 5000
    y, i, j, X = rng.normal(size=n), rng.integers(0, 3000, n), rng.integers(0, 4, n), rng.normal(size=(n, 2))
    i[0] = 2999
    rows = gs.Rows(
        "real row(real y, real a, real b, real e, real h, real s) { return normal_logpdf(y, a * b + h + e, s); }",
        y=y, a=gs.gather(i), b=gs.gather(j), h=gs.per_row(), e=gs.dot(X, of="beta"),
    )  # fmt: skip
    for lead in ((), (2,)):
        shapes = dict(a=(*lead, 3000), b=4, h=(*lead, n), beta=2)
        given = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        value, gradient = rows.value_and_grad(**given, s=1.5)
        for names in (["a"], ["b", "h"], list(given)):
            own = {n: gs.to_device(v) if n in names else v for n, v in given.items()}
            again, found = rows.value_and_grad(**own, s=1.5)
            np.testing.assert_array_equal(again, value)
            for name, derivative in gradient.items():
                assert isinstance(found[name], np.ndarray | float) == (name not in names)
                host = gs.to_host(found[name]) if name in names else found[name]
                np.testing.assert_array_equal(host, derivative)
    wider = gs.to_device(rng.normal(size=3100))
    value, gradient = rows.value_and_grad(**given | dict(a=wider, h=given["h"][0]), s=1.5)
    assert gs.to_host(gradient["a"]).shape == (3100,) and not gs.to_host(gradient["a"])[3000:].any()
    single = gs.to_device(np.ones(3000, np.float32))
    assert gs.to_host(rows.value_and_grad(**given | dict(a=single), s=1.5)[1]["a"]).shape == (3000,)
