"""The incomplete gamma and beta functions and their inverses, against mpmath, in both precisions."""

import mpmath as mp
import numpy as np
import pytest
from references import derivative, exactly, log_uniform
from references_functions import log_beta_p, log_gamma_p, log_gamma_q
from scipy import special
from thorough import THOROUGH, double_first, some

import gpustats as gs
from gpustats.testing import evaluate_device

N = 25
RNG = np.random.default_rng(21)
EACH_DTYPE = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def gamma_arguments():
    """Shapes and values where each formula is used, where formulas meet, and far tails."""
    shape = np.r_[log_uniform(RNG, 1e-10, 1, N), log_uniform(RNG, 0.5, 50, N), log_uniform(RNG, 15, 1000, N)]
    x = shape * np.r_[log_uniform(RNG, 1e-10, 1e10, N), log_uniform(RNG, 0.01, 20, N), log_uniform(RNG, 0.4, 2.5, N)]
    central, integer = log_uniform(RNG, 15, 1e5, N), RNG.integers(1, 30, N)
    x = np.r_[x, np.abs(central + np.sqrt(central) * RNG.normal(0, 3, N)), integer * log_uniform(RNG, 0.1, 10, N)]
    return np.r_[shape, central, integer, 1, 1, 5, 1e-10, 20.001], np.r_[x, 1.5, 1e-30, 5, 1.4999, 20.001]


def beta_arguments():
    """Shapes, and probabilities of which the smaller one is exact."""
    a, b = (np.r_[log_uniform(RNG, 1e-10, 1, N), log_uniform(RNG, 0.3, 80, N), RNG.integers(1, 30, N)] for _ in range(2))
    logit = np.r_[RNG.normal(0, 8, N), RNG.normal(0, 3, N), RNG.normal(0, 1.5, N)]
    large, other = log_uniform(RNG, 100, 1500, 20), log_uniform(RNG, 100, 1500, 20)
    central = np.log(large / other) + RNG.normal(0, 3, 20) * np.sqrt(1 / large + 1 / other)
    a, b, logit = np.r_[a, large, 1100, 3, 1e-3], np.r_[b, other, 1200, 1e7, 2], np.r_[logit, central, -0.1, -16, 0.3]
    smaller = 1 / (1 + np.exp(np.abs(logit)))
    return a, b, np.where(logit < 0, smaller, -smaller)


def both(share, dtype):
    """x and 1 - x, where `share` is x, or, if negative, x - 1 in the sense that -share is 1 - x."""
    x = np.where(share > 0, share, 1 + share.astype(float)).astype(dtype)
    return x, np.where(share > 0, 1 - share.astype(float), -share).astype(dtype)


def exact_share(share):
    return share if share > 0 else 1 + share


#: name: (arguments, reference, what the device function is given)
FUNCTIONS = {
    "log_gamma_p": (gamma_arguments(), log_gamma_p, lambda a, x: (a, x)),
    "log_gamma_q": (gamma_arguments(), log_gamma_q, lambda a, x: (a, x)),
    "log_beta_p": (
        beta_arguments(), lambda a, b, s: log_beta_p(a, b, exact_share(s)), lambda a, b, s: (a, b, *both(s, s.dtype)),
    ),
}


def errors(got, want, dtype):
    """Relative errors in EPSILON, per digit before the point of the logarithm of what may be small."""
    info = np.finfo(dtype)
    size = np.abs(want)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(got.astype(float) - want) / (size * np.maximum(1, np.abs(np.log(size)))) / info.eps
    return np.where((size < info.tiny) | (size > info.max), 0, np.where(np.isnan(error), np.inf, error))


@EACH_DTYPE
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, dtype):
    arguments, reference, given = FUNCTIONS[name]
    arguments = [a.astype(dtype) for a in arguments]
    error = errors(evaluate_device(name, *given(*arguments), dtype=dtype), exactly(reference)(*arguments), dtype)
    worst = np.argmax(error)
    assert error[worst] <= 40, f"{name}{tuple(float(a[worst]) for a in arguments)} is off by {error[worst]:.1f}"


@EACH_DTYPE
@pytest.mark.parametrize("name", some(FUNCTIONS, 2))
def test_derivatives(name, dtype):
    """In every argument; those of a logarithm that is large are ratios of numbers whose logarithms are large."""
    arguments, reference, given = FUNCTIONS[name]
    some = [a.astype(dtype)[::4] for a in arguments]
    values = given(*some)
    letters = "abcd"[: len(values)]
    density = gs.register(
        f"real rule_logpdf(real x, {', '.join(f'real {c}' for c in letters)}) {{ return {name}({', '.join(letters)}); }}",
        replace=True,
    )
    value, gradient = density.loglik_and_grad(np.zeros((1, 1), dtype), *(v[:, None] for v in values))
    rows = list(zip(*(a.astype(float).tolist() for a in some)))
    if name == "log_beta_p":
        gradient["c"] = gradient["c"] - gradient.pop("d")  # for x + y = 1
    for i, letter in enumerate(gradient):
        want = np.array([derivative(reference, row, [i]) for row in rows])
        error = errors(gradient[letter].ravel(), want, dtype) / np.maximum(1, np.abs(value.astype(float)))
        worst = np.argmax(error)
        assert error[worst] <= 60, f"d{name}/d{letter} at {rows[worst]} is off by {error[worst]:.1f}"


@EACH_DTYPE
def test_shapes_of_which_one_is_far_larger(dtype):
    """Where the terms of the continued fraction grow for long, more than three standard deviations from the mean."""
    a = np.repeat([900.0, 8e4, 1.5e7], 8)
    b, z = a * 10.0 ** RNG.uniform(2, 7, 24), np.tile([-6, -4, -3.3, -3.02, 3.02, 3.3, 4, 6], 3)
    x = (a / (a + b) * (1 + z / np.sqrt(a))).astype(dtype)
    a, b = a.astype(dtype), b.astype(dtype)
    got = evaluate_device("log_beta_p", a, b, x, (1 - x.astype(float)).astype(dtype))
    want = np.log(special.betainc(*(v.astype(float) for v in (a, b, x))))
    np.testing.assert_allclose(got, want, rtol=1e-11 if dtype == np.float64 else 1e-3, atol=1e-15)


def test_derivative_in_one_argument():
    """A function's own derivative is the whole gradient then, and has the name of it."""
    density = gs.register("real rule_logpdf(real x, real a, real b) { return log_gamma_q(a, b); }", replace=True)
    _, alone = density.loglik_and_grad([0.0], 2.5, 1.7, wrt="b")
    _, together = density.loglik_and_grad([0.0], 2.5, 1.7)
    assert alone["b"] == pytest.approx(together["b"], rel=1e-14)
    assert alone["b"] == pytest.approx(derivative(log_gamma_q, (2.5, 1.7), [1]), rel=1e-14)


def smaller_probabilities(dtype):
    smallest = 1e-300 if dtype == np.float64 else 1e-35
    return np.r_[log_uniform(RNG, smallest, 0.5, N), RNG.uniform(0, 0.5, N), 0.5].astype(dtype)


@EACH_DTYPE
@pytest.mark.parametrize("upper", [False, True])
def test_gamma_quantile(upper, dtype):
    """The error of a quantile is a step of Newton's method."""
    p = smaller_probabilities(dtype)
    a = np.r_[log_uniform(RNG, 1e-3, 30, N), log_uniform(RNG, 0.1, 1e3, N), 1].astype(dtype)
    x = evaluate_device("gamma_quantile", a, *((1 - p, p) if upper else (p, 1 - p)), dtype=dtype)
    log_tail = log_gamma_q if upper else log_gamma_p

    def error(a, p, x):
        log_slope = a * mp.log(x) - x - mp.loggamma(a) - log_tail(a, x)  # of the logarithm in log(x)
        return (log_tail(a, x) - mp.log(p)) * mp.exp(-log_slope)

    inside = x > np.finfo(dtype).tiny
    assert inside.mean() > 0.5 and np.all(p[~inside] < 0.5)
    errors = np.abs(exactly(error)(a[inside], p[inside], x[inside]))
    assert (errors / np.maximum(1, np.abs(np.log(x[inside].astype(float))))).max() <= 40 * np.finfo(dtype).eps


@EACH_DTYPE
def test_beta_quantile(dtype):
    p = smaller_probabilities(dtype)
    a, b = (np.r_[log_uniform(RNG, 1e-3, 30, N), log_uniform(RNG, 0.1, 1e3, N), 1].astype(dtype) for _ in range(2))
    logit = evaluate_device("beta_quantile_logit", a, b, p, 1 - p, dtype=dtype)

    def error(a, b, p, logit):
        x = 1 / (1 + mp.exp(-logit))
        tail = mp.betainc(a, b, 0, x, regularized=True)
        return (tail - p) * mp.beta(a, b) / x**a / (1 - x) ** b

    errors = np.abs(exactly(error, 100)(a, b, p, logit)) / np.maximum(1, np.abs(logit))
    assert errors.max() <= 40 * np.finfo(dtype).eps
    mirrored = evaluate_device("beta_quantile_logit", b, a, 1 - p, p, dtype=dtype)
    np.testing.assert_allclose(mirrored, -logit, rtol=20 * np.finfo(dtype).eps, atol=20 * np.finfo(dtype).eps)


def remaining_steps(name, shapes, q, dtype):
    """How far one more step leads from a quantile, relative to it, where it is finite and a normal number."""
    letters = "ab"[: len(shapes)]
    step = f"{name.removesuffix('_logit')}_step({', '.join(letters)}, log_probability(p, q), log_probability(q, p), x)"
    density = gs.register(
        f"real rest_logpdf(real p, {', '.join(f'real {c}' for c in letters)}, real q)"
        f"{{ real x = {name}({', '.join(letters)}, p, q), least = {0 if shapes[1:] else np.finfo(dtype).tiny}; "
        f"return x < least ? 0 : fabs({step} - x) / (fabs(x) + {len(shapes) - 1}); }}",
        replace=True,
    )
    arguments = [np.concatenate([v, v]).astype(dtype) for v in shapes]
    p, q = np.r_[q, 1 - q].astype(dtype), np.r_[1 - q, q].astype(dtype)
    rest = density.logpdf(p, *arguments, q)
    return arguments, p, np.where(np.isfinite(rest) & (p > 0) & (q > 0), rest, 0)


@THOROUGH
@EACH_DTYPE
@pytest.mark.parametrize("name, count", [("gamma_quantile", 1), ("beta_quantile_logit", 2)])
def test_quantiles_take_enough_steps(name, count, dtype):
    """Their number is fixed, so the worst of very many places counts."""
    n = 50_000
    widest = 1e6 if dtype == np.float64 else 1e3
    shapes = [np.r_[log_uniform(RNG, 1e-2, widest, n), log_uniform(RNG, 0.3, 30, n)] for _ in range(count)]
    q = np.r_[log_uniform(RNG, 1e-200 if dtype == np.float64 else 1e-20, 0.5, n), RNG.uniform(0, 0.5, n)]
    arguments, p, rest = remaining_steps(name, shapes, RNG.permutation(q), dtype)
    error = rest * np.sqrt(1 + np.min(arguments, 0)) / np.finfo(dtype).eps
    worst = np.argmax(error)
    assert error[worst] <= 5000, f"{name} at {[float(a[worst]) for a in arguments]}, p = {p[worst]} is off by {rest[worst]:.1e}"


@THOROUGH
@EACH_DTYPE
def test_student_quantiles_are_those_of_beta_variables(dtype):
    """One step leads from a start of their own to all digits, from 3 degrees of freedom on."""
    density = gs.register(
        "real rest_logpdf(real q, real a, real p)"
        "{ return student_quantile(a, p, q, 1) / exp(-0.5 * beta_quantile_logit(a, 0.5, q, p)) - 1; }",
        replace=True,
    )
    n, small = 50_000, 1e-300 if dtype == np.float64 else 1e-36
    a = np.r_[log_uniform(RNG, 1, 10, n), log_uniform(RNG, 1.5, 1e6, n), np.full(n, 1.5)].astype(dtype)
    q = np.r_[log_uniform(RNG, small, 1, n), RNG.uniform(0.01, 0.99, n), 1 - log_uniform(RNG, 1e-12, 1, n)].astype(dtype)
    q = RNG.permutation(q[(q > 0) & (q < 1)])
    rest = np.abs(density.logpdf(q, a[: len(q)], 1 - q))
    error = rest / (30 + np.abs(np.log(q))) / np.finfo(dtype).eps
    worst = np.argmax(error)
    assert error[worst] <= 2, f"a = {a[worst]}, q = {q[worst]} is off by {rest[worst]:.1e}"


def gamma_quantile(a, p):
    return mp.findroot(lambda x: mp.gammainc(a, 0, x, regularized=True) - p, a)


def root_of_gamma_quantile(a, p):
    return 2 * (p * mp.gamma(1 + a)) ** (1 / (a * (1 + a)))  # where the quantile is tiny


def beta_quantile_logit(a, b, p):
    def short_of(logit):
        return mp.betainc(a, b, 0, 1 / (1 + mp.exp(-logit)), regularized=True) - p

    return mp.findroot(short_of, mp.log(a / b))


def student_quantile(a, q):
    return mp.exp(-beta_quantile_logit(a, mp.mpf(0.5), q) / 2)


@THOROUGH
@pytest.mark.parametrize(
    "source, reference, ranges",
    [
        ("gamma_quantile(a, b, 1 - b)", gamma_quantile, [(1, 20), (0.1, 0.9)]),
        ("gamma_quantile_power(a, b, 1 - b, 1 / (1 + a), 2)", root_of_gamma_quantile, [(0.001, 0.02), (0.1, 0.9)]),
        ("beta_quantile_logit(a, b, c, 1 - c)", beta_quantile_logit, [(1, 9), (1, 9), (0.1, 0.9)]),
        ("student_quantile(a, 1 - b, b, 1)", student_quantile, [(1.5, 9), (0.1, 0.9)]),
    ],
)
def test_derivatives_of_quantiles(source, reference, ranges):
    """First and second ones: the search itself is not differentiated, but the last two steps of it are."""
    letters = "abc"[: len(ranges)]
    density = gs.register(
        f"real rule_logpdf(real x, {', '.join(f'real {c}' for c in letters)}) {{ return {source}; }}", replace=True
    )
    points = np.array([RNG.uniform(*r, 2) for r in ranges])
    likelihood = gs.Likelihood(density, [0.0])
    _, firsts = likelihood.value_and_grad(*points[..., None])
    seconds = likelihood.hessian(*points[..., None])
    for i, a in enumerate(letters):
        want = [derivative(reference, row, [i]) for row in points.T.tolist()]
        np.testing.assert_allclose(firsts[a].ravel(), want, rtol=1e-11, err_msg=a)
        for j in range(i + 1):
            want = [derivative(reference, row, [i, j]) for row in points.T.tolist()]
            np.testing.assert_allclose(seconds[:, i, j], want, rtol=1e-8, atol=1e-10, err_msg=f"{a}{letters[j]}")


@double_first
@pytest.mark.parametrize(
    "name, args, want",
    [
        ("log_gamma_p", (2, 0), -np.inf),
        ("log_gamma_p", (2, np.inf), 0),
        ("log_gamma_p", (0, 3), 0),
        ("log_gamma_p", (np.inf, 3), -np.inf),
        ("log_gamma_p", (-1, 3), np.nan),
        ("log_gamma_p", (1, -3), np.nan),
        ("log_gamma_p", (np.nan, 3), np.nan),
        ("log_gamma_p", (3, np.nan), np.nan),
        ("log_gamma_p", (1, 0.5), np.log(-np.expm1(-0.5))),
        ("log_gamma_p", (1e30, 1e30), np.log(0.5)),
        ("log_gamma_q", (2, 0), 0),
        ("log_gamma_q", (2, np.inf), -np.inf),
        ("log_gamma_q", (0, 3), -np.inf),
        ("log_gamma_q", (np.inf, 3), 0),
        ("log_gamma_q", (-1, 3), np.nan),
        ("log_gamma_q", (3, np.nan), np.nan),
        ("log_gamma_q", (1, 700), -700),
        ("log_gamma_q", (1, 1e30), -1e30),
        ("log_gamma_q", (1, 1e-30), -1e-30),
        ("log_beta_p", (2, 3, 0, 1), -np.inf),
        ("log_beta_p", (2, 3, 1, 0), 0),
        ("log_beta_p", (0, 3, 0.5, 0.5), 0),
        ("log_beta_p", (2, 0, 0.5, 0.5), -np.inf),
        ("log_beta_p", (np.inf, 3, 0.5, 0.5), -np.inf),
        ("log_beta_p", (2, np.inf, 0.5, 0.5), 0),
        ("log_beta_p", (-2, 3, 0.5, 0.5), np.nan),
        ("log_beta_p", (2, np.nan, 0.5, 0.5), np.nan),
        ("log_beta_p", (2, 3, np.nan, np.nan), np.nan),
        ("log_beta_p", (2, 3, -0.5, 1.5), np.nan),
        ("log_beta_p", (1, 1, 1e-30, 1), np.log(1e-30)),
        ("log_beta_p", (1, 1, 1, 1e-30), -1e-30),
        ("log_beta_p", (1e8, 1e8, 0.5, 0.5), np.log(0.5)),
        ("gamma_quantile", (2, 0, 1), 0),
        ("gamma_quantile", (2, 1, 0), np.inf),
        ("gamma_quantile", (1, 0.5, 0.5), np.log(2)),
        ("gamma_quantile", (1e-3, 1e-20, 1), 0),
        ("gamma_quantile", (2, -0.5, 1.5), np.nan),
        ("gamma_quantile", (np.nan, 0.5, 0.5), np.nan),
        ("beta_quantile_logit", (2, 3, 0, 1), -np.inf),
        ("beta_quantile_logit", (2, 3, 1, 0), np.inf),
        ("beta_quantile_logit", (1, 1, 0.25, 0.75), -np.log(3)),
        ("beta_quantile_logit", (0.01, 1, 1e-20, 1), 100 * np.log(1e-20)),
        ("beta_quantile_logit", (1, 0.01, 1, 1e-20), -100 * np.log(1e-20)),
        ("beta_quantile_logit", (2, 3, 1.5, -0.5), np.nan),
        ("beta_quantile_logit", (2, 3, np.nan, np.nan), np.nan),
    ],
)
def test_limits(name, args, want, dtype):
    got = evaluate_device(name, *(np.array([a], dtype) for a in args), dtype=dtype)[0]
    np.testing.assert_allclose(got, want, rtol=16 * np.finfo(dtype).eps)
