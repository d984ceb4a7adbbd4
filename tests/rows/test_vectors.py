"""Vectors of few elements as arguments of a row: built-in densities of vectors, loops of all kinds, and what is refused."""

import numpy as np
import pytest
from thorough import some

import gpustats as gs

#: Observations and parameters of each built-in density of vectors.
DENSITIES = {
    "categorical": lambda rng, n: (rng.integers(0, 3, n), dict(p=rng.dirichlet(np.ones(3)))),
    "categorical_logit": lambda rng, n: (rng.integers(0, 3, n), dict(eta=rng.normal(size=3))),
    "dirichlet_multinomial": lambda rng, n: (
        rng.multinomial(7, np.ones(3) / 3, n), dict(n=7.0, a=rng.gamma(2.0, size=3) + 0.2)
    ),
    "dirichlet": lambda rng, n: (rng.dirichlet(np.ones(4), n), dict(a=rng.gamma(2.0, size=4) + 0.2)),
    "garch11": lambda rng, n: (
        rng.normal(size=(n, 5)), dict(omega=0.4, alpha_1=0.2, beta_1=0.5, initial_vol=1.3)
    ),
    "interpolated": lambda rng, n: (
        rng.uniform(-1, 2.5, n),
        dict(x_points=np.array([-1.0, 0.0, 2.0, 2.5]), pdf_points=np.array([0.1, 1.0, 0.5, 2.0])),
    ),
    "multinomial": lambda rng, n: (rng.multinomial(7, np.ones(3) / 3, n), dict(n=7.0, p=rng.dirichlet(np.ones(3)))),
    "multivariate_hypergeometric": lambda rng, n: (
        rng.multivariate_hypergeometric([5, 6, 7], 8, n), dict(n=8.0, m=np.array([5.0, 6.0, 7.0]))
    ),
    "normal_inverse_gamma": lambda rng, n: (
        np.stack([rng.normal(size=n), rng.gamma(2.0, size=n)], -1), dict(mu=0.3, lam=1.5, alpha=2.5, beta=1.2)
    ),
    "zero_sum_normal": lambda rng, n: ((x := rng.normal(size=(n, 3))) - x.mean(1, keepdims=True), dict(sigma=1.7)),
    "poisson_binomial": lambda rng, n: (rng.integers(0, 5, n), dict(p=rng.random(4))),
    "stick_breaking_weights": lambda rng, n: (rng.dirichlet(np.ones(4), n), dict(alpha=1.7)),
    "von_mises_fisher": lambda rng, n: (
        (x := rng.normal(size=(n, 3))) / np.linalg.norm(x, axis=1, keepdims=True),
        dict(mu=np.array([0.6, 0.0, -0.8]), kappa=2.5),
    ),
    "ordered_logit": lambda rng, n: (rng.integers(0, 4, n), dict(eta=0.3, cutpoints=np.array([-1.0, 0.4, 1.1]))),
    "ordered_probit": lambda rng, n: (
        rng.integers(0, 4, n), dict(eta=0.3, cutpoints=np.array([-1.0, 0.4, 1.1]), sigma=1.3)
    ),
}  # fmt: skip


def of_vectors():
    known = {name: density.definition.arguments for name, density in gs.densities.items()}
    return [n for n, arguments in known.items() if {1} <= {a.rank for a in arguments} <= {0, 1}]


def test_every_built_in_density_of_vectors_is_here():
    assert set(of_vectors()) == set(DENSITIES)


@pytest.mark.parametrize("name", some(DENSITIES, 2))
def test_built_in_densities(name, rng):
    density = gs.densities[name]
    x, parameters = DENSITIES[name](rng, 200)
    rows = gs.Rows(density, x=x.astype(float))
    np.testing.assert_allclose(rows.terms(**parameters), density.logpdf(x, **parameters), rtol=1e-11, atol=1e-12)
    value, gradient = rows.value_and_grad(**parameters)
    _, wanted = density.loglik_and_grad(x.astype(float), **parameters)
    for parameter, derivative in wanted.items():
        np.testing.assert_allclose(gradient[parameter], derivative, rtol=1e-9, atol=1e-9, err_msg=parameter)
    beyond = np.inf if name in ("garch11", "normal_inverse_gamma") else -3.0
    outside = np.where(np.arange(x.size).reshape(x.shape) == 0, beyond, x)
    assert gs.Rows(density, x=outside)(**parameters) == -np.inf


@pytest.mark.parametrize("length", some([1, 2, 7, 64], 2))
def test_lengths(length, rng):
    source = """
    real largest(const real *v, int dim) { real m = v[0]; for (int i = 1; i < dim; i++) m = fmax(m, v[i]); return m; }
    real row(int y, const real *v, int dim)
    {
        real m = largest(v, dim), sum = 0;
        for (int i = 0; i < dim; i++) sum += exp(v[i] - m);
        return v[y] - m - log(sum);
    }"""
    y, v = rng.integers(0, length, 300), rng.normal(size=length)
    value, gradient = gs.Rows(source, y=y).value_and_grad(v=v)
    p = np.exp(v) / np.exp(v).sum()
    np.testing.assert_allclose(value, np.log(p)[y].sum(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gradient["v"], np.bincount(y, minlength=length) - 300 * p, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "body, wanted",
    [
        ("real s = 0; for (int i = 0; i < dim; i++) { if (v[i] > y) return s; s += v[i]; } return s;",
         lambda y, v: next((v[:i].sum() for i in range(3) if v[i] > y), v.sum())),
        ("real s = 0; for (int i = 0; i < dim; i++) for (int j = 0; j < i; j++) s += v[i] * v[j]; return s + 0 * y;",
         lambda y, v: (v.sum() ** 2 - (v * v).sum()) / 2),
        ("int k = 0; for (int i = 1; i < dim; i++) if (v[i] < v[k]) k = i; return v[k] * y;",
         lambda y, v: v.min() * y),
        ("real s = 0; int n = 0; while (n < y) { s += v[n]; n++; } return s;",
         lambda y, v: v[: int(np.ceil(y))].sum() if y > 0 else 0.0),
        ("real s = 0; for (int i = 0; i < 2 * dim; i += 2) s += v[i / 2] * (i % 4 == 0 ? 1 : y); return s;",
         lambda y, v: v[0] + v[2] + y * v[1]),
        ("int last = dim - 1; real d = v[last]; { real d = v[0]; last = last - (d > 0); } return d * v[last] + y;",
         lambda y, v: v[2] * v[2 - (v[0] > 0)] + y),
        ("return dim == 3 && v[0] < 9 ? v[dim > 2 ? 2 : 5] - y : 1.0;", lambda y, v: v[2] - y),
    ],
)  # fmt: skip
def test_statements(body, wanted, rng):
    y, v = rng.uniform(-1, 3, 40), np.array([0.4, -0.7, 1.9])
    got = gs.Rows(f"real row(real y, const real *v, int dim) {{ {body} }}", y=y).terms(v=v)
    np.testing.assert_allclose(got, [wanted(one, v) for one in y], rtol=1e-12, atol=1e-14)


def test_lengths_that_do_not_fit(rng):
    source = "real row(const real *x, const real *m, real s, int dim) { return (x[0] - m[0]) / s; }"
    rows = gs.Rows(source, x=np.ones((5, 3)))
    for match, given in (
        ("the vectors of a row must have the same length: x 3, m 2", dict(m=np.ones(2), s=1.0)),
        (r"m is a vector, and has one axis at least: its shape is \(\)", dict(m=1.0, s=1.0)),
    ):
        with pytest.raises(ValueError, match=match):
            rows(**given)
    for match, leaf, m in (
        (r"m has shape \(3, 2\): its last axis but one must have the 4 columns of X", gs.dot(np.ones((5, 4))), np.ones((3, 2))),
        (r"m is a table of vectors, and has 2 axes at least", gs.gather(np.arange(5)), np.ones(5)),
        (r"1 to 64 elements, not 65", None, np.ones(65)),
    ):
        given = {} if leaf is None else dict(m=leaf)
        with pytest.raises(ValueError, match=match):
            gs.Rows("real row(real y, const real *m, int dim) { return y * m[0]; }", y=np.ones(5), **given)(m=m)
    with pytest.raises(ValueError, match="cannot be a table of 1 axes"):
        both = dict(y=gs.gather([0, 1], of="w"), m=gs.gather([0, 1], of="w"))
        gs.Rows("real row(real y, const real *m, int dim) { return y * m[0]; }", **both)


def test_sets_of_vectors(rng):
    y, mu, s = rng.normal(size=100), rng.normal(size=(3, 4)), rng.uniform(1, 2, (3, 1))
    source = "real row(real y, const real *mu, real s, int dim) { return normal_logpdf(y, mu[0] - mu[dim - 1], s); }"
    rows = gs.Rows(source, y=y)
    value, gradient = rows.value_and_grad(mu=mu[:, None], s=s)
    assert value.shape == (3, 1) and gradient["mu"].shape == (3, 1, 4)
    for i in range(3):
        own, its = rows.value_and_grad(mu=mu[i], s=s[i, 0])
        assert own == value[i, 0] and np.array_equal(its["mu"], gradient["mu"][i, 0]) and its["s"] == gradient["s"][i, 0]
