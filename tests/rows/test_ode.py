"""Differential equations in row functions: states and sensitivities are those of SciPy's solvers and of closed forms."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import gpustats as gs

RNG = np.random.default_rng(5)
N = 12
TIMES = [np.sort(RNG.uniform(0.1, 12, n)) for n in RNG.integers(1, 9, N)]
DOSE = RNG.uniform(1, 3, N)
TWO = """
// absorption, elimination and exchange with a second compartment
__device__ void two(real t, const real *y, real *rate, real ka, real ke, real k12, real k21)
{
    rate[0] = -ka * y[0];
    rate[1] = ka * y[0] - (ke + k12) * y[1] + k21 * y[2];
    rate[2] = k12 * y[1] - k21 * y[2];
}"""
OF_TWO = """
__device__ real of_patient(const real *time, int n, real dose, real ka, real ke, real k12, real k21)
{
    real y[3] = {dose, 0, 0}, before = 0, total = 0;
    for (int i = 0; i < n; i++) {
        two_advance(before, time[i], y, ka, ke, k12, k21);
        total += (1 + i) * y[1];
        before = time[i];
    }
    return total;
}"""
AT = 1.2, 0.3, 0.4, 0.2


def of_patient(times, dose, ka, ke, k12, k21):
    """By the matrix exponential, also of complex numbers."""
    rates = np.array([[-ka, 0, 0], [ka, -(ke + k12), k21], [0, k12, -k21]])
    return sum((1 + i) * (expm(rates * t) @ [dose, 0, 0])[1] for i, t in enumerate(times))


@pytest.mark.parametrize("method, rtol, error", [("dopri5", 1e-9, 2e-8), ("dopri5", 1e-5, 3e-4), ("bs23", 1e-6, 1e-4)])
def test_a_linear_system(method, rtol, error):
    source = TWO + gs.ode_steps("two", 3, ["ka", "ke", "k12", "k21"], method=method, rtol=rtol, atol=rtol * 1e-2) + OF_TWO
    rows = gs.Rows(source, time=gs.sequences(TIMES, increasing=True), dose=DOSE)
    wanted = np.array([of_patient(t, d, *AT) for t, d in zip(TIMES, DOSE, strict=True)])
    np.testing.assert_allclose(rows.terms(*AT), wanted, rtol=error)
    value, gradient = rows.value_and_grad(*AT)
    np.testing.assert_allclose(value, wanted.sum(), rtol=error)
    for k, slope in enumerate(gradient.values()):
        moved = [a + 1e-30j * (i == k) for i, a in enumerate(AT)]
        exact = sum(of_patient(t, d, *moved).imag / 1e-30 for t, d in zip(TIMES, DOSE, strict=True))
        np.testing.assert_allclose(slope, exact, rtol=10 * error, atol=10 * error)


def test_a_system_that_is_not_linear_against_scipy():
    """Predators and prey, from a state that is a parameter; the rates depend on the time, too."""
    source = """
    __device__ void hares(real t, const real *y, real *rate, real a, real b)
    {
        real season = 1 + 0.2 * sin(t);
        rate[0] = a * season * y[0] - b * y[0] * y[1];
        rate[1] = 0.5 * b * y[0] * y[1] - y[1];
    }""" + gs.ode_steps("hares", 2, ["a", "b"], rtol=1e-10, atol=1e-12) + """
    __device__ real last(real end, real first, real a, real b)
    {
        real y[2] = {first, 1};
        hares_advance(0, end, y, a, b);
        return log(y[0]) + y[1];
    }"""
    ends = np.array([0.5, 3.0, 10.0, 0.0])

    def last(end, first, a, b):
        def rates(t, y):
            return [a * (1 + 0.2 * np.sin(t)) * y[0] - b * y[0] * y[1], 0.5 * b * y[0] * y[1] - y[1]]

        y = solve_ivp(rates, (0, end), [first, 1.0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1] if end else [first, 1]
        return np.log(y[0]) + y[1]

    rows, at = gs.Rows(source, end=ends), (1.5, 1.1, 0.8)
    np.testing.assert_allclose(rows.terms(*at), [last(e, *at) for e in ends], rtol=2e-9)
    _, gradient = rows.value_and_grad(*at)
    for k, slope in enumerate(gradient.values()):
        up, down = ([a + s * 1e-5 * (i == k) for i, a in enumerate(at)] for s in (1, -1))
        np.testing.assert_allclose(slope, sum(last(e, *up) - last(e, *down) for e in ends) / 2e-5, rtol=1e-6)
    sets = rows.value_and_grad(np.array([1.5, 0.7]), 1.1, 0.8)
    np.testing.assert_allclose(sets[0], [rows(1.5, 1.1, 0.8), rows(0.7, 1.1, 0.8)], rtol=1e-14)


def test_doses_between_observations():
    """A dose is an event: the state jumps, and the steps begin anew."""
    source = """
    __device__ void leave(real t, const real *y, real *rate, real k) { rate[0] = -k * y[0]; }
    """ + gs.ode_steps("leave", 1, ["k"]) + """
    __device__ real path(const real *time, const real *dose, int n, real k)
    {
        real y[1] = {0}, before = 0, total = 0;
        for (int i = 0; i < n; i++) {
            leave_advance(before, time[i], y, k);
            y[0] += dose[i];
            total += y[0];
            before = time[i];
        }
        return total;
    }"""  # fmt: skip
    doses = [np.where(np.arange(t.size) % 2, 0.0, 1.5) for t in TIMES]
    rows = gs.Rows(source, time=gs.sequences(TIMES), dose=gs.sequences(doses))
    wanted = [
        sum(d[:i + 1] @ np.exp(-0.4 * (t[i] - t[:i + 1])) for i in range(t.size)) for t, d in zip(TIMES, doses, strict=True)
    ]  # fmt: skip
    np.testing.assert_allclose(rows.terms(0.4), wanted, rtol=1e-7)


def test_steps_without_end_are_nan():
    """A solution that grows beyond all bounds, and one that takes more steps than are allowed."""
    source = "__device__ void grow(real t, const real *y, real *rate, real a) { rate[0] = a * y[0] * y[0]; }"
    last = "__device__ real last(real end, real a) { real y[1] = {1}; grow_advance(0, end, y, a); return y[0]; }"
    rows = gs.Rows(source + gs.ode_steps("grow", 1, ["a"]) + last, end=np.array([0.5, 2.0]))
    found = rows.terms(1.0)
    np.testing.assert_allclose(found[0], 2.0, rtol=1e-7)
    assert np.isnan(found[1])
    few = gs.Rows(source + gs.ode_steps("grow", 1, ["a"], max_steps=3) + last, end=np.array([0.01, 0.9]))
    assert np.isfinite(few.terms(1.0)[0]) and np.isnan(few.terms(1.0)[1])
    assert np.isnan(rows(np.nan))


def test_stopped_gradients():
    rows = gs.Rows("__device__ real f(real x, real a) { return a * stop_gradient(a) * x; }", x=np.array([1.0, 2.0]))
    value, gradient = rows.value_and_grad(3.0)
    assert (value, gradient["a"]) == (27.0, 9.0)


def test_functions_that_write_to_arrays():
    source = """
    __device__ void add(const real *a, const real *b, real *sum, int n)
    {
        for (int i = 0; i < n; i++)
            sum[i] = a[i] + b[i];
    }
    __device__ void turn(real angle, real *v)
    {
        real c = cos(angle), s = sin(angle), x = v[0];
        v[0] = c * x - s * v[1];
        v[1] = s * x + c * v[1];
    }
    __device__ void turn_twice(real angle, real *v)
    {
        real half[2];
        turn(angle, v);
        add(v, v, half, 2);
        turn(angle, v);
        v[1] += half[0];
    }
    __device__ real f(real x, real angle)
    {
        real c = x, v[2] = {c, 1}, w[2] = {1, c};
        turn_twice(angle, v);
        add(v, w, w, 2);
        return v[0] + 10 * v[1] + 100 * w[0] + 1000 * w[1];
    }"""
    x = np.array([0.5, -1.0])

    def f(x, angle):
        m = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        once = m @ [x, np.ones_like(x)]
        v = m @ once + np.array([0 * x, 2 * once[0]])
        w = v + [np.ones_like(x), x]
        return v[0] + 10 * v[1] + 100 * w[0] + 1000 * w[1]

    rows = gs.Rows(source, x=x)
    np.testing.assert_allclose(rows.terms(0.3), f(x, 0.3), rtol=1e-13)
    _, gradient = rows.value_and_grad(0.3)
    np.testing.assert_allclose(gradient["angle"], (f(x, 0.3 + 1e-6) - f(x, 0.3 - 1e-6)).sum() / 2e-6, rtol=1e-8)


LEAVE = "__device__ void leave(real t, const real *y, real *rate, real k) { rate[0] = -k * y[0]; }\n"


def test_back_in_time_and_not_at_all():
    source = LEAVE + gs.ode_steps("leave", 1, ["k"]) + """
    __device__ real at(real start, real end, real k) { real y[1] = {1}; leave_advance(start, end, y, k); return y[0]; }"""
    starts, end = np.array([0.0, 1.5, -2.0, 3.0]), 1.5
    rows, wanted = gs.Rows(source, start=starts), np.exp(-0.4 * (end - starts))
    np.testing.assert_allclose(rows.terms(end, 0.4), wanted, rtol=1e-7)
    _, gradient = rows.value_and_grad(end, 0.4)
    np.testing.assert_allclose(gradient["end"], (-0.4 * wanted).sum(), rtol=1e-7)
    np.testing.assert_allclose(gradient["k"], ((starts - end) * wanted).sum(), rtol=1e-6)
    assert np.isnan(rows.terms(np.nan, 0.4)).all()


@pytest.mark.parametrize("name", ["t", "step", "error", "h", "low", "high", "first", "next", "k1", "i", "taken", "span"])
def test_parameters_with_names_of_the_text(name):
    source = LEAVE + gs.ode_steps("leave", 1, [name]) + """
    __device__ real at(real end, real k) { real y[1] = {1}; leave_advance(0, end, y, k); return y[0]; }"""
    np.testing.assert_allclose(gs.Rows(source, end=np.array([2.0])).terms(0.4), np.exp(-0.8), rtol=1e-7)


@pytest.mark.parametrize("dtype, start, rtol", [(np.float32, 1000.0, 1e-4), (np.float64, 1e13, 1e-3)])
def test_first_steps_shorter_than_times_tell_apart(dtype, start, rtol):
    """From a state of zero the first step is short, and grows until it changes the time."""
    source = "__device__ void come(real t, const real *y, real *rate, real k) { rate[0] = k - 0.5 * y[0]; }"
    source += gs.ode_steps("come", 1, ["k"]) + """
    __device__ real at(real start, real k) { real y[1] = {0}; come_advance(start, start + 4, y, k); return y[0]; }"""
    found = gs.Rows(source, start=np.array([start], dtype)).terms(1.0)
    np.testing.assert_allclose(found, 2 * (1 - np.exp(-2)), rtol=rtol)


def test_rates_call_functions_of_their_states():
    source = """
    __device__ real norm_of(const real *v, int n) { real s = 0; for (int i = 0; i < n; i++) s += v[i] * v[i]; return sqrt(s); }
    __device__ void turn(real t, const real *y, real *rate, real k)
    {
        real first[2] = {y[1], -y[0]}, size = norm_of(y, 2);
        for (int i = 0; i < 2; i++)
            rate[i] = k * first[i] / size - 0.5 * y[i] / norm_of(y, 2);
    }""" + gs.ode_steps("turn", 2, ["k"]) + """
    __device__ real at(real end, real k) { real y[2] = {0, 5}; turn_advance(0, end, y, k); return norm_of(y, 2); }"""
    np.testing.assert_allclose(gs.Rows(source, end=np.array([2.0, 4.0])).terms(0.3), [4, 3], rtol=1e-7)


@pytest.mark.parametrize("make, error, message", [
    (lambda: gs.ode_steps("f", 0), ValueError, "n_states is 0.*1 to 16"),
    (lambda: gs.ode_steps("f", True), ValueError, "n_states is True"),
    (lambda: gs.ode_steps("f", 1.0), ValueError, "n_states is 1.0"),
    (lambda: gs.ode_steps("f", 1, max_steps=1.5), ValueError, "max_steps is 1.5"),
    (lambda: gs.ode_steps("f", 1, max_steps=True), ValueError, "max_steps is True"),
    (lambda: gs.ode_steps("f", 1, rtol="1e-8"), ValueError, "rtol is '1e-8'"),
    (lambda: gs.ode_steps("f", 1, ["double"]), ValueError, "parameters: double is a word of C"),
    (lambda: gs.ode_steps("for", 1), ValueError, "rates: for is a word of C"),
    (lambda: gs.ode_steps("f", 1, ["real"]), ValueError, "real is a word"),
    (lambda: gs.ode_steps("f", 1, ["PI"]), ValueError, "PI is a constant"),
    (lambda: gs.ode_steps("f", 1, ["\u00b5"]), ValueError, "no name in C"),
    (lambda: gs.ode_steps("f", 1, "ka"), TypeError, "sequence of names"),
    (lambda: gs.ode_steps(1, 1), ValueError, "rates: 1 is no name"),
    (lambda: gs.ode_steps("f", 1, method="rk4"), ValueError, "dopri5"),
    (lambda: gs.ode_steps("f", 1, rtol=0), ValueError, "rtol is 0"),
    (lambda: gs.ode_steps("f", 1, atol=np.inf), ValueError, "atol is inf"),
    (lambda: gs.ode_steps("f", 1, ["a", "a"]), ValueError, "already"),
    (lambda: gs.ode_steps("f", 1, ["y"]), ValueError, "already"), (lambda: gs.ode_steps("f g", 1), ValueError, "no name in C"),
    (lambda: gs.ode_steps("f", 1, max_steps=0), ValueError, "max_steps"),
    (lambda: gs.Rows("__device__ void w(real *v, int n) { v[0] = n; } __device__ real f(const real *y, int n, real a) "
                     "{ w(y, n); return a; }", y=gs.sequences([[1.0]])), gs.DeviceFunctionError, "wants a vector to write to"),
])  # fmt: skip
def test_mistakes(make, error, message):
    with pytest.raises(error, match=message):
        make()
