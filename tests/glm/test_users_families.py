"""Generalised linear models of densities that users write or transform."""

import numpy as np
from references_glm import TERMS, complex_steps, expit, predictor
from scipy import stats

import gpustats as gs

N, K, S, C, G = 43, 5, 4, 3, 6  # rows, columns, sets of coefficients, outcomes, groups

BENT = """
real horner(real z, const real *c, int dim)
{
    real sum = 0;
    for (int i = dim - 1; i >= 0; i--)
        sum = sum * z + c[i];
    return sum;
}

// bent: normal around a polynomial of the linear predictor
// x: real    eta: real    c: vector, coefficients    total: positive, precision
real bent_logpdf(real x, real eta, const real *c, real total, int dim)
{
    real z = x - horner(eta, c, dim);
    return 0.5 * log(total) - HALF_LOG_2PI - 0.5 * total * z * z;
}
"""

SOFTMAX = """
real largest(const real *v, int dim)
{
    real found = -INFINITY;
    for (int i = 0; i < dim; i++)
        found = fmax(found, v[i]);
    return found;
}

// choice: a category, whose scores are divided by a temperature
// x: nonnegative integer    eta: vector    temperature: positive
real choice_logpmf(real x, const real *eta, real temperature, int dim)
{
    if (x >= dim) return -INFINITY;
    real top = largest(eta, dim), sum = 0;
    for (int i = 0; i < dim; i++)
        sum += exp((eta[i] - top) / temperature);
    return (eta[(int)x] - top) / temperature - log(sum);
}
"""


def test_a_users_family(rng):
    bent = gs.register(BENT)
    X, y, weights, groups = rng.normal(size=(N, K)), rng.normal(size=N), rng.uniform(0, 2, N), rng.integers(0, 3, N)
    groups[0] = 2
    glm = gs.GLM(bent, y, X, weights=weights, groups=groups)
    given = {"beta": rng.normal(size=(S, K)) / 3, "alpha": rng.normal(size=3), "c": rng.normal(size=4)}
    given["total"] = rng.uniform(1, 2, N)

    def total(beta, alpha, c, total):
        eta = predictor(X, beta, alpha, np.zeros(N), groups, False)
        z = y - sum(c[i] * eta**i for i in range(4))
        return ((0.5 * np.log(total / (2 * np.pi)) - 0.5 * total * z * z) * weights).sum(-1)

    value, gradient = glm.value_and_grad(**given)
    np.testing.assert_allclose(value, total(**given), rtol=1e-12)
    for name in given:
        want = complex_steps(lambda a, name=name: total(**{**given, name: a}).sum(), given[name])
        np.testing.assert_allclose(gradient[name], want, rtol=1e-10, atol=1e-10 * np.abs(want).max())


def test_a_users_family_of_vectors(layout, rng):
    choice = gs.register(SOFTMAX)
    X, y = rng.normal(size=(N, K)), rng.integers(0, C, N)
    beta, alpha, temperature = rng.normal(size=(S, K, C)), rng.normal(size=(S, 1, C)), rng.uniform(1, 2, (S, 1))
    value, gradient = gs.GLM(choice, y, X).value_and_grad(beta, alpha, temperature)

    def total(beta, alpha, temperature):
        eta = predictor(X, beta, alpha, np.zeros(N), None, True) / temperature[..., None]
        return TERMS["categorical_logit"](y, eta).sum(-1)

    everything = {"beta": beta, "alpha": alpha, "temperature": temperature}
    np.testing.assert_allclose(value, total(**everything), rtol=1e-12)
    for name in everything:
        want = complex_steps(lambda a, name=name: total(**{**everything, name: a}).sum(), everything[name])
        np.testing.assert_allclose(gradient[name], want, rtol=1e-10, atol=1e-10)


def test_the_predictor_by_another_name(rng):
    X, y, beta = rng.normal(size=(N, K)), rng.normal(size=N), rng.normal(size=K)
    got = gs.GLM(gs.normal, y, X, eta="mu").value_and_grad(beta, 0.5, sigma=2.0)
    want = gs.GLM(gs.normal_identity, y, X).value_and_grad(beta, 0.5, sigma=2.0)
    assert got[0] == want[0]
    for name in want[1]:
        np.testing.assert_array_equal(got[1][name], want[1][name])
    np.testing.assert_allclose(got[0], stats.norm.logpdf(y, X @ beta + 0.5, 2).sum(), rtol=1e-13)


def test_a_transformed_density(rng):
    X, beta = rng.normal(size=(N, K)), rng.normal(size=K)
    y = np.abs(rng.normal(size=N))
    halves = gs.transforms.Truncate(gs.normal, 0, None)
    value, gradient = gs.GLM(halves, y, X, eta="mu").value_and_grad(beta, 0.5, sigma=2.0)
    eta = X @ beta + 0.5
    np.testing.assert_allclose(value, stats.truncnorm.logpdf(y, -eta / 2, np.inf, eta, 2).sum(), rtol=1e-12)
    slope = (y - eta) / 4 - stats.norm.pdf(eta / 2) / stats.norm.cdf(eta / 2) / 2
    np.testing.assert_allclose(gradient["alpha"], slope.sum(), rtol=1e-10)
    np.testing.assert_allclose(gradient["beta"], slope @ X, rtol=1e-10)


def test_weights_of_both_kinds(rng):
    """Of the density, where the weight is a parameter, and of the GLM."""
    X, y, beta, own, weight = rng.normal(size=(N, K)), rng.integers(0, 2, N), rng.normal(size=K), *rng.uniform(0, 2, (2, N))
    glm = gs.GLM(gs.transforms.Weighted(gs.bernoulli_logit), y, X, weights=own)
    value, gradient = glm.value_and_grad(beta, 0.5, weight=weight)
    terms = TERMS["bernoulli_logit"](y, X @ beta + 0.5)
    np.testing.assert_allclose(value, (terms * own * weight).sum(), rtol=1e-13)
    np.testing.assert_allclose(gradient["beta"], ((y - expit(X @ beta + 0.5)) * own * weight) @ X, rtol=1e-11)
    np.testing.assert_allclose(gradient["weight"], terms * own, rtol=1e-12)


def test_names_of_the_kernels_own_variables(rng):
    """A user's parameter may be called as anything in the kernel."""
    X, y, beta, groups = rng.normal(size=(N, K)), rng.normal(size=N), rng.normal(size=K), rng.integers(0, 2, N)
    alpha = rng.normal(size=2)
    eta = X @ beta + alpha[groups] + 1
    names = ["partial", "n", "offset", "groups", "rows", "s", "eta_out"]
    declared = ", ".join(f"real {name}" for name in ["x", "eta", *names, "weight", "component"])
    body = f"return {' + '.join(names)} - weight * component * (x - eta);"
    density = gs.register(f"real odd_logpdf({declared}) {{ {body} }}")
    glm = gs.GLM(density, y, X, offset=np.ones(N), groups=groups, weights=np.full(N, 2.0))
    given = dict.fromkeys(glm.parameters[2:], 0.5) | {"weight": np.full(N, 3.0), "s": np.arange(N) / N}
    value, gradient = glm.value_and_grad(beta, alpha, **given)
    want = 2 * (6 * 0.5 + given["s"] - 1.5 * (y - eta)).sum()
    np.testing.assert_allclose(value, want, rtol=1e-12)
    np.testing.assert_allclose(gradient["weight"], -(y - eta), rtol=1e-12)
    np.testing.assert_allclose(gradient["component"], -6 * (y - eta).sum(), rtol=1e-12)
    np.testing.assert_allclose(gradient["beta"], 3 * X.sum(0), rtol=1e-11)
    assert gradient["partial"] == 2 * N
