"""Stiff differential equations in row functions: order, error and sensitivities of Rosenbrock methods, against SciPy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.rows.rosenbrock import METHODS

BOTH = pytest.mark.parametrize("method", ["rodas4", "rodas5p"])

# -- the published coefficients


def of_book(method):
    """Coefficients of a Rosenbrock method as the order conditions have them: alpha, beta with its diagonal, b."""
    s = len(method.alpha)
    a, c = np.zeros((s, s)), np.zeros((s, s))
    for i, (row, other) in enumerate(zip(method.a, method.c, strict=True)):
        a[i, : len(row)], c[i, : len(other)] = row, other
    gamma = np.linalg.inv(np.eye(s) / method.gamma - c)
    weights = a[-1] + np.eye(s)[-1]
    return a @ gamma, gamma, weights @ gamma, a[-1] @ gamma


@BOTH
def test_order_conditions(method):
    """Hairer and Wanner (1996), section IV.7: those of order 4; of the solution beside it those of order 3."""
    its = METHODS[method]
    alpha, gamma, b, other = of_book(its)
    beta = alpha + gamma
    np.testing.assert_allclose(alpha.sum(1), its.alpha, atol=2e-13)
    np.testing.assert_allclose(gamma.sum(1), its.gammas, atol=2e-13)
    x, z = alpha.sum(1), beta.sum(1)
    conditions = [(1, 1), (z, 1 / 2), (x**2, 1 / 3), (beta @ z, 1 / 6)]
    fourth = [(x**3, 1 / 4), (x * (alpha @ z), 1 / 8), (beta @ x**2, 1 / 12), (beta @ beta @ z, 1 / 24)]
    for left, right in conditions + fourth:
        np.testing.assert_allclose((b * left).sum(), right, atol=3e-12)
    for left, right in conditions:
        np.testing.assert_allclose((other * left).sum(), right, atol=3e-12)


@BOTH
def test_order_of_convergence(method):
    """Fixed steps of the coefficients: halved steps divide the error by two to the order."""
    its = METHODS[method]

    def f(t, y):
        return np.array([-3 * y[0] + np.sin(3 * t) * y[1], y[0] * y[1] - 5 * y[1] ** 2 + t])

    def solution(n):
        y, h, s = np.array([1.0, 0.5]), 1 / n, len(its.alpha)
        for t in np.arange(n) * h:
            jacobian = np.stack([f(t, y + 1e-30j * e).imag / 1e-30 for e in np.eye(2)], 1)
            slope, u = np.array([3 * np.cos(3 * t) * y[1], 1.0]), np.zeros((s, 2))
            for i in range(s):
                rate = f(t + its.alpha[i] * h, y + its.a[i] @ u[:i]) + its.c[i] @ u[:i] / h + its.gammas[i] * h * slope
                u[i] = np.linalg.solve(np.eye(2) / (h * its.gamma) - jacobian, rate)
            y = y + its.a[-1] @ u[:-1] + u[-1]
        return y

    exact = solve_ivp(f, (0, 1), [1.0, 0.5], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    errors = [abs(solution(n) - exact).max() for n in (8, 16, 32)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders.min() > its.order - 0.4, orders


# -- classical problems


def along(rates, ks, y, end, d_ks, d_y, rtol):
    """States at the end, and their derivatives in a direction of the parameters and of the first states, by SciPy's Radau.

    `rtol` is of its steps, and far below the error that is compared.
    """
    n = len(y)

    def augmented(t, z):
        moved = rates(t, z[:n] + 1e-40j * z[n:], np.asarray(ks) + 1e-40j * np.asarray(d_ks))
        return np.concatenate([np.real(moved), np.imag(moved) / 1e-40])

    found = solve_ivp(augmented, (0, end), [*y, *d_y], method="Radau", rtol=rtol, atol=rtol * 1e-4).y[:, -1]
    return found[:n], found[n:]


def last_state(name, n, parameters):
    """Row function: element `which` of the states at the end; the first states are numbers as well."""
    first = [f"y{i}" for i in range(n)]
    declared, given = ", ".join(f"real {p}" for p in (*first, *parameters)), "".join(f", {p}" for p in parameters)
    return f"""
    __device__ real at(real end, int which, {declared})
    {{
        real y[{n}] = {{{", ".join(first)}}};
        {name}_advance(0, end, y{given});
        return y[which];
    }}"""


ROBERTSON = """
__device__ void robertson(real t, const real *y, real *rate, real k1, real k2, real k3)
{
    rate[0] = -k1 * y[0] + k3 * y[1] * y[2];
    rate[2] = k2 * y[1] * y[1];
    rate[1] = -rate[0] - rate[2];
}"""
VAN_DER_POL = """
__device__ void oscillator(real t, const real *y, real *rate, real mu)
{
    rate[0] = y[1];
    rate[1] = mu * mu * ((1 - y[0] * y[0]) * y[1]) - mu * mu * y[0];
}"""  # time in units of mu
HIRES = """
// growth of plants with light: Hairer and Wanner (1996), section IV.1
__device__ void hires(real t, const real *y, real *rate, real k, real big)
{
    real v = big * y[5] * y[7];
    rate[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + k;
    rate[1] = 1.71 * y[0] - 8.75 * y[1];
    rate[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
    rate[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
    rate[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6];
    rate[5] = -v + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
    rate[6] = v - 1.81 * y[6];
    rate[7] = -v + 1.81 * y[6];
}"""


def robertson(t, y, ks):
    a, b = -ks[0] * y[0] + ks[2] * y[1] * y[2], ks[1] * y[1] ** 2
    return np.array([a, -a - b, b])


def van_der_pol(t, y, ks):
    return np.array([y[1], ks[0] ** 2 * ((1 - y[0] ** 2) * y[1] - y[0])])


def hires(t, y, ks):
    v = ks[1] * y[5] * y[7]
    return np.array([
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + ks[0], 1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4], 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6], -v + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
        v - 1.81 * y[6], -v + 1.81 * y[6],
    ])  # fmt: skip


PROBLEMS = {
    "robertson": (ROBERTSON, robertson, ["k1", "k2", "k3"], [0.04, 3e7, 1e4], [1.0, 0.0, 0.0], 1e5),
    "oscillator": (VAN_DER_POL, van_der_pol, ["mu"], [1000.0], [2.0, 0.0], 0.8),
    "hires": (HIRES, hires, ["k", "big"], [0.0007, 280.0], [1, 0, 0, 0, 0, 0, 0, 0.0057], 321.8122),
}


@pytest.mark.parametrize("name, method, rtol", [
    ("robertson", "rodas4", 1e-4), ("robertson", "rodas5p", 1e-7),
    pytest.param("robertson", "rodas5p", 1e-10, marks=THOROUGH), pytest.param("oscillator", "rodas4", 1e-6, marks=THOROUGH),
    ("oscillator", "rodas5p", 1e-9), ("hires", "rodas4", 1e-5), pytest.param("hires", "rodas5p", 1e-8, marks=THOROUGH),
])  # fmt: skip
def test_classical_problems(name, method, rtol):
    """Errors of all states and of their derivatives in a direction are of the order of those that are asked for."""
    text, rates, parameters, ks, y, end = PROBLEMS[name]
    source = text + gs.ode_steps(name, len(y), parameters, method=method, rtol=rtol, atol=rtol * 1e-6)
    which = np.arange(len(y))
    rows = gs.Rows(source + last_state(name, len(y), parameters), end=np.full(len(y), end), which=which, y0=gs.per_row(),
                   **{p: gs.per_row() for p in parameters})  # fmt: skip
    given = {"y0": np.full(len(y), y[0]), **{f"y{i}": v for i, v in enumerate(y) if i}}
    given |= {p: np.full(len(y), k) for p, k in zip(parameters, ks, strict=True)}
    d_ks, d_y = [k * np.cos(i) for i, k in enumerate(ks)], [0.5, *[0.0] * (len(y) - 1)]
    wanted, slopes = along(rates, ks, y, end, d_ks, d_y, rtol / 100)
    found = rows.terms(**given)
    error = 5 * rtol
    np.testing.assert_allclose(found, wanted, rtol=error)
    _, gradient = rows.value_and_grad(**given)
    by = gradient["y0"] * d_y[0] + sum(gradient[p] * d for p, d in zip(parameters, d_ks, strict=True))
    scale = np.abs(slopes) + np.abs(wanted)
    np.testing.assert_array_less(np.abs(by - slopes) / scale, 20 * error)


@pytest.mark.parametrize("name", some(PROBLEMS))
@pytest.mark.parametrize("method, rtol", [("rodas4", 1e-4), ("rodas5p", 1e-8)])
def test_numbers_of_steps(name, method, rtol):
    """At most three times those of SciPy's Radau, whose steps are of order 5 and cost more. Explicit ones are far more."""
    text, rates, parameters, ks, y, end = PROBLEMS[name]
    found = solve_ivp(lambda t, y: rates(t, y, ks), (0, end), y, method="Radau", rtol=rtol, atol=rtol * 1e-6)
    given = dict(rtol=rtol, atol=rtol * 1e-6, max_steps=3 * len(found.t))
    source = text + gs.ode_steps(name, len(y), parameters, method=method, **given) + last_state(name, len(y), parameters)
    rows = gs.Rows(source, end=np.array([end]), which=np.array([0]))
    np.testing.assert_allclose(rows(*y, *ks), found.y[0, -1], rtol=100 * rtol)
    source = text + gs.ode_steps(name, len(y), parameters, **given) + last_state(name, len(y), parameters)
    assert np.isnan(gs.Rows(source, end=np.array([end]), which=np.array([0]))(*y, *ks))


@pytest.mark.parametrize("method, rtol", some([("rodas4", 1e-8), ("rodas5p", 1e-9)], 2))
def test_jumps(method, rtol):
    """Van der Pol's oscillator through two jumps; the derivative grows a million times in them, and shrinks again."""
    text, rates, _, ks, y, _ = PROBLEMS["oscillator"]
    source = text + gs.ode_steps("oscillator", 2, ["mu"], method=method, rtol=rtol, atol=1e-14)
    rows = gs.Rows(source + last_state("oscillator", 2, ["mu"]), end=np.array([2.0]), which=np.array([0]))
    value, gradient = rows.value_and_grad(2.0, 0.0, 1000.0)
    np.testing.assert_allclose(value, 1.706167732170483, rtol=1e-7)  # Hairer and Wanner's test set
    np.testing.assert_allclose(gradient["y0"], along(rates, ks, y, 2.0, [0.0], [1.0, 0.0], 1e-7)[1][0], rtol=5e-3)


def test_float32():
    text, rates, parameters, ks, y, end = PROBLEMS["robertson"]
    source = text + gs.ode_steps("robertson", 3, parameters, method="rodas4", rtol=1e-4, atol=1e-9)
    ends = np.array([1e2, 1e5] * 3, np.float32)
    rows = gs.Rows(source + last_state("robertson", 3, parameters), end=ends, which=np.repeat([0, 1, 2], 2))
    found = rows.terms(*y, *ks)
    wanted = np.stack([along(rates, ks, y, end, [0, 0, 0], [0, 0, 0], 1e-8)[0] for end in (1e2, 1e5)], 1).ravel()
    np.testing.assert_allclose(found, wanted, rtol=2e-3)


@BOTH
@pytest.mark.parametrize("n", [1, 2, 5, pytest.param(16, marks=THOROUGH)])
def test_linear_systems(n, method):
    """Random matrices with rates of 0.1 to 1e6, against the matrix exponential and its derivative."""
    rng = np.random.default_rng(n)
    vectors = np.linalg.qr(rng.normal(size=(n, n)))[0] + 0.1 * rng.normal(size=(n, n))
    matrix = vectors @ np.diag(-(10 ** rng.uniform(-1, 6, n))) @ np.linalg.inv(vectors)
    rows_of = [" + ".join(f"{v!r} * y[{j}]" for j, v in enumerate(row)) for row in matrix.tolist()]
    text = "\n".join(f"rate[{i}] = {'k * (' if i == 0 else '('}{row});" for i, row in enumerate(rows_of))
    source = f"__device__ void linear(real t, const real *y, real *rate, real k) {{ {text} }}"
    source += gs.ode_steps("linear", n, ["k"], method=method, rtol=1e-9, atol=1e-12)
    first = rng.normal(size=n)
    source += last_state("linear", n, ["k"])
    rows = gs.Rows(source, end=np.full(n, 2.0), which=np.arange(n), k=gs.per_row())
    given = {**{f"y{i}": v for i, v in enumerate(first)}, "k": np.full(n, 1.2)}

    def exact(k):
        scaled = matrix * np.where(np.arange(n) == 0, k, 1)[:, None]
        return expm(2 * scaled) @ first

    np.testing.assert_allclose(rows.terms(**given), exact(1.2), rtol=1e-6, atol=1e-8)
    _, gradient = rows.value_and_grad(**given, wrt="k")
    slopes = (exact(1.2 + 1e-4) - exact(1.2 - 1e-4)) / 2e-4
    np.testing.assert_allclose(gradient["k"], slopes, rtol=1e-5, atol=1e-6)


FORCED = """
// Prothero and Robinson's problem: the solution is cos(w t) from cos(0), whatever the rate k
__device__ void forced(real t, const real *y, real *rate, real k, real w)
{
    rate[0] = -k * (y[0] - cos(w * t)) - w * sin(w * t);
}
"""


@BOTH
def test_rates_that_depend_on_the_time_and_functions_of_times(method):
    source = FORCED + gs.ode_steps("forced", 1, ["k", "w"], method=method, rtol=1e-8) + """
    __device__ real at(real start, real length, real k, real w)
    {
        real y[1] = {cos(w * start)};
        forced_advance(start, start + length, y, k, w);
        return y[0];
    }"""
    starts, length, w = np.array([0.0, 1.5, -2.0, 3.0]), 1.25, 1.7
    rows = gs.Rows(source, start=starts)
    ends = starts + length
    np.testing.assert_allclose(rows.terms(length, 1e6, w), np.cos(w * ends), atol=1e-6)
    _, gradient = rows.value_and_grad(length, 1e6, w)
    np.testing.assert_allclose(gradient["length"], (-w * np.sin(w * ends)).sum(), rtol=1e-6)
    np.testing.assert_allclose(gradient["w"], (-ends * np.sin(w * ends)).sum(), rtol=1e-6)
    np.testing.assert_allclose(gradient["k"], 0, atol=1e-9)
    back = gs.Rows(source, start=starts)  # a mild system, back in time
    np.testing.assert_allclose(back.terms(-length, 2.0, w), np.cos(w * (starts - length)), atol=1e-5)
    _, gradient = rows.value_and_grad(0.0, 1e6, w)  # no step at all
    np.testing.assert_allclose(gradient["length"], (-w * np.sin(w * starts)).sum(), rtol=1e-9, atol=1e-9)


def test_second_derivatives():
    text, _, parameters, ks, y, _ = PROBLEMS["robertson"]
    source = text + gs.ode_steps("robertson", 3, parameters, method="rodas4", rtol=1e-9, atol=1e-14) + """
    __device__ real at(real end, real a, real b)
    {
        real y[3] = {1, 0, 0};
        robertson_advance(0, end, y, 0.04 * exp(a), 3e7 * exp(b), 1e4);
        return log(y[0]);
    }"""
    rows = gs.Rows(source, end=np.array([40.0]))
    found = rows.hessian(0.1, -0.2)
    slopes = [[list(rows.value_and_grad(0.1 + s * (i == 0), -0.2 + s * (i == 1))[1].values()) for s in (1e-3, -1e-3)]
              for i in range(2)]  # fmt: skip
    np.testing.assert_allclose(found, [np.subtract(*pair) / 2e-3 for pair in slopes], rtol=3e-6)


def test_few_steps_and_steps_that_come_to_nothing():
    """Steps follow the slow part of a solution; nan where they are too many, or the solution ends."""
    source = FORCED + gs.ode_steps("forced", 1, ["k", "w"], method="rodas4", rtol=1e-5, max_steps=60) + """
    __device__ real at(real end, real k) { real y[1] = {2}; forced_advance(0, end, y, k, 1); return y[0]; }"""
    np.testing.assert_allclose(gs.Rows(source, end=np.array([5.0])).terms(1e9), np.cos(5.0), atol=1e-4)
    assert np.isnan(gs.Rows(source, end=np.array([100.0])).terms(1.0))
    source = "__device__ void grow(real t, const real *y, real *rate, real a) { rate[0] = a * y[0] * y[0]; }"
    source += gs.ode_steps("grow", 1, ["a"], method="rodas5p")
    source += "__device__ real last(real end, real a) { real y[1] = {1}; grow_advance(0, end, y, a); return y[0]; }"
    rows = gs.Rows(source, end=np.array([0.5, 2.0]))
    found = rows.terms(1.0)
    np.testing.assert_allclose(found[0], 2.0, rtol=1e-6)
    assert np.isnan(found[1]) and np.isnan(rows(np.nan))


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_stages_outside_of_the_domain_of_the_rates(method):
    """Where a trial step leaves the domain of a root, a smaller one is taken."""
    source = "__device__ void drain(real t, const real *y, real *rate, real k) { rate[0] = -k * sqrt(y[0]); }"
    source += gs.ode_steps("drain", 1, ["k"], method=method)
    source += "__device__ real at(real end, real k) { real y[1] = {1}; drain_advance(0, end, y, k); return y[0]; }"
    found = gs.Rows(source, end=np.array([1.0, 1.99])).terms(1.0)
    np.testing.assert_allclose(found, [0.25, 0.005**2], rtol=1e-5)
