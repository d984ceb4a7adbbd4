"""Second derivatives of densities."""

import mpmath as mp
import numpy as np
import pytest
from gradients import REFERENCES, differentiable
from references import derivative, derivative_errors
from thorough import some

import gpustats as gs

TWICE = [
    "student_t", "gamma", "beta", "weibull", "von_mises", "skew_normal", "binomial", "poisson_log", "negative_binomial",
    "zero_inflated_poisson",
]  # fmt: skip


@pytest.mark.parametrize("name", some(TWICE, 8))
def test_second_derivatives(name, rng):
    """Mixed and pure ones, each by differentiating twice."""
    density, reference = gs.densities[name], REFERENCES[name]
    args, names = reference.random(rng, 20), list(density.domains)
    wrt = [names.index(n) for n in differentiable(density)]
    for i in wrt:
        once = gs.transforms.Grad(density, names[i])
        error = derivative_errors(once(*args), reference.gradient(args, i), 1e-3)
        assert error.max() <= 1e-11, f"d/d{names[i]}"
        for j in wrt[wrt.index(i) :]:
            error = derivative_errors(gs.transforms.Grad(once, names[j])(*args), reference.derivative(args, [i, j]), 1e-3)
            worst = np.argmax(error)
            assert error[worst] <= 1e-9, f"d/d{names[i]} d/d{names[j]} at {[a[worst].tolist() for a in args]}"


@pytest.mark.parametrize(
    "name", some(["normal", "student_t", "gamma", "negative_binomial", "beta", "poisson_log", "skew_normal"], 2)
)
def test_hessians(name, rng):
    density, reference = gs.densities[name], REFERENCES[name]
    x, *parameters = reference.random(rng, 8)
    sets = np.array([[p[k] for p in parameters] for k in range(2)])  # (K, P)
    want = np.zeros((2, len(parameters), len(parameters)))
    size = want.copy()
    for k, i, j in np.ndindex(want.shape):
        each = reference.derivative([x, *(np.full(8, v) for v in sets[k])], [i + 1, j + 1])
        want[k, i, j], size[k, i, j] = each.sum(), np.abs(each).sum()
    likelihood = gs.Likelihood(density, x)
    several = likelihood.hessian(*sets.T[:, :, None])
    one = likelihood.hessian(*sets[0].tolist())
    assert several.shape == want.shape and one.shape == want.shape[1:]
    assert (np.abs(several - want) <= 1e-10 * size).all()
    assert (np.abs(one - want[0]) <= 1e-10 * size[0]).all()
    np.testing.assert_array_equal(one, one.T)
    some = likelihood.hessian(*sets[0].tolist(), wrt=density.parameters[-1])
    np.testing.assert_allclose(some, one[-1:, -1:], rtol=1e-12)


@pytest.mark.parametrize(
    "name, row",
    [
        ("logistic", (0.5, 0.5, 2)),
        ("student_t", (0.5, 3, 0.5, 2)),
        ("cauchy", (0.5, 0.5, 2)),
        ("skew_normal", (0.5, 3, 0.5, 2)),
        ("ex_gaussian", (1, 0, 1, 1)),
        ("von_mises", (0.5, 0.5, 2)),
        ("bernoulli_logit", (1, 0)),
    ],
)
def test_hessians_where_two_formulas_meet(name, row):
    """At the peak of a symmetric density, or where a function changes from one side to the other."""
    got = gs.Likelihood(gs.densities[name], [float(row[0])]).hessian(*row[1:])
    indices = range(1, len(row))
    want = [[derivative(REFERENCES[name].logpdf.__wrapped__, row, [i, j]) for j in indices] for i in indices]
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-12)


SNIPPET = """
// dose_response: a count that rises and levels off with a dose, in a few steps
// x: real    dose: positive    slope: real    top: positive
real leveled(real dose, real slope, real top)
{
    real level = 0;
    for (int i = 1; i <= 4; i++) {
        if (slope * dose > i) level += top / i;
        else level += tanh(slope * dose / i);
    }
    return level;
}
real softened(real u, real top)
{
    if (u < 0) return exp(u) * top;
    return top + log1p(u);
}
real dose_response_logpdf(real x, real dose, real slope, real top)
{
    real mean = softened(leveled(dose, slope, top) - 1, top), u = x - mean;
    real width = top > 2 ? sqrt(top) : top;
    u = u / width;
    if (fabs(u) > 3) return -3 * fabs(u) - log(width);
    return -0.5 * u * u - log(width);
}
"""


def dose_response(x, dose, slope, top):
    level = 0
    for i in range(1, 5):
        level += top / i if slope * dose > i else mp.tanh(slope * dose / i)
    u = level - 1
    u = x - (mp.exp(u) * top if u < 0 else top + mp.log1p(u))
    width = mp.sqrt(top) if top > 2 else top
    u = u / width
    return -(3 * abs(u) if abs(u) > 3 else u * u / 2) - mp.log(width)


def test_a_users_snippet(rng):
    """With a loop, branches, helper functions, early returns and a variable that changes its value."""
    density = gs.register(SNIPPET)
    args = rng.normal(0, 5, 60), rng.uniform(0.1, 3, 60), rng.normal(0, 1.5, 60), rng.uniform(0.5, 4, 60)
    rows = list(zip(*(a.tolist() for a in args)))
    names = ("x", "dose", "slope", "top")
    _, got = density.loglik_and_grad(*args, wrt=names)
    for i, name in enumerate(names):
        want = [derivative(dose_response, row, [i]) for row in rows]
        np.testing.assert_allclose(got[name], want, rtol=1e-10, atol=1e-12)
    twice = gs.transforms.Grad(gs.transforms.Grad(density, "slope"), "top")(*args)
    np.testing.assert_allclose(twice, [derivative(dose_response, row, [2, 3]) for row in rows], rtol=1e-9, atol=1e-11)
    hessian = gs.Likelihood(density, args[0]).hessian(1.3, 0.8, 2.5)
    want = [[sum(derivative(dose_response, (v, 1.3, 0.8, 2.5), [i, j]) for v in args[0]) for j in (1, 2, 3)] for i in (1, 2, 3)]
    np.testing.assert_allclose(hessian, want, rtol=1e-9, atol=1e-9)


def test_grad_is_elementwise_and_broadcasts(rng):
    x, mu = rng.normal(size=(20, 1)), rng.normal(size=3)
    grad = gs.transforms.Grad(gs.normal, "mu")
    np.testing.assert_allclose(grad(x, mu, 2.0), (x - mu) / 4, rtol=1e-14)
    np.testing.assert_allclose(gs.transforms.Grad(gs.normal)(x, mu, 2.0), (mu - x) / 4, rtol=1e-14)
    pdf = gs.transforms.Grad(gs.transforms.Exp(gs.normal), "mu")
    np.testing.assert_allclose(pdf(x, mu, 2.0), gs.normal.pdf(x, mu, 2.0) * (x - mu) / 4, rtol=1e-13)
    for wrong in ("scale", "x_"):
        with pytest.raises(ValueError, match=wrong):
            gs.transforms.Grad(gs.normal, wrong)
    with pytest.raises(ValueError, match="x"):
        gs.transforms.Grad(gs.poisson, "x")
