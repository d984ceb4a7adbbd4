"""Quantiles and numbers of the parameters, as sources write them and as they are derived, against scipy.stats."""

import mpmath as mp
import numpy as np
import pytest
from references_all import NUMBERS as REFERENCES
from references_cdf import CDFS, DIGITS, log, tails
from scipy import stats
from thorough import some
from together import together

import gpustats as gs
from gpustats.language.library import library

Q = np.r_[0, 1e-300, 1e-12, 0.1, 0.5, 0.7, 1 - 1e-12, 1, -0.1, 1.1, np.nan]

#: density, its parameters, scipy's distribution of them
CONTINUOUS = {
    "normal": ((3.0, 2.0), stats.norm(3, 2)),
    "gumbel": ((1e3, 2.0), stats.gumbel_r(1e3, 2)),
    "exponential": ((2.0,), stats.expon(scale=0.5)),
}


@pytest.mark.parametrize("name", some(CONTINUOUS, 2))
def test_continuous(name):
    density, (parameters, theirs) = gs.densities[name], CONTINUOUS[name]
    np.testing.assert_allclose(density.ppf(Q, *parameters), theirs.ppf(Q), rtol=1e-14)
    np.testing.assert_allclose(density.isf(Q, *parameters), theirs.isf(Q), rtol=1e-14)
    single = density.ppf(Q.astype(np.float32), *parameters)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, theirs.ppf(Q.astype(np.float32).astype(float)), rtol=1e-5)


def test_discrete():
    p, k = 0.1, np.arange(1, 300)
    np.testing.assert_array_equal(gs.geometric.ppf(Q, p), stats.geom.ppf(Q, p))
    np.testing.assert_array_equal(gs.geometric.ppf(gs.geometric.cdf(k, p), p), k)
    np.testing.assert_array_equal(gs.geometric.isf(gs.geometric.sf(k, p), p), k)
    np.testing.assert_array_equal(gs.geometric.isf([0, 1, 1e-300], p), [np.inf, 0, np.ceil(np.log(1e-300) / np.log1p(-p))])


#: distribution functions and the support of densities in closed form, whose quantiles are known for all parameters
SEARCHED = """
real searched_logpdf(real x, real a, real b) {{ return {pdf}; }}
real searched_logcdf(real x, real a, real b) {{ return {logcdf}; }}
real searched_logsf(real x, real a, real b) {{ return {logsf}; }}
real searched_lower(real a, real b) {{ return {lower}; }}
real searched_upper(real a, real b) {{ return {upper}; }}
"""
WEIBULL = dict(pdf="log(a) + xlogy(a - 1, x) - pow(x, a)", logcdf="log1mexp(-pow(x, a))", logsf="-pow(x, a)")
LOGISTIC = dict(pdf="(a - x) / b - log(b) - 2 * log1pexp((a - x) / b)", logcdf="log_expit((x - a) / b)",
                logsf="log_expit((a - x) / b)")  # fmt: skip
PARETO = dict(pdf="log(a) - (a + 1) * log(x / b) - log(b)", logcdf="log1mexp(-a * log(x / b))", logsf="-a * log(x / b)")
REFLECTED = dict(pdf="x - a", logcdf="x - a", logsf="log1mexp(x - a)")


def test_searches_that_begin_at_the_quantile(rng):
    """Where the mean is the median, but for rounding, on one side or none."""
    mu, kappa = rng.uniform(-3, 3, 500), rng.exponential(3, 500)
    for quantile in (gs.von_mises.ppf, gs.von_mises.isf):
        np.testing.assert_allclose(quantile(0.5, mu, kappa), mu, atol=1e-14)


@pytest.mark.parametrize(
    "texts, lower, upper, sets, below, above",
    [
        (WEIBULL, "0", "INFINITY", [(0.5, 1), (1, 1), (50, 1)],
         lambda q, a, b: (-np.log1p(-q)) ** (1 / a), lambda q, a, b: (-np.log(q)) ** (1 / a)),
        (LOGISTIC, "-INFINITY", "INFINITY", [(0, 1), (1e6, 1e-3), (0, 1e150), (-30, 1e3)],
         lambda q, a, b: a + b * np.log(q / (1 - q)), lambda q, a, b: a - b * np.log(q / (1 - q))),
        (PARETO, "b", "INFINITY", [(2, 1), (30, 1e5)],
         lambda q, a, b: b * np.exp(-np.log1p(-q) / a), lambda q, a, b: b * np.exp(-np.log(q) / a)),
        (REFLECTED, "-INFINITY", "a", [(0, 1), (1e3, 1)], lambda q, a, b: a + np.log(q), lambda q, a, b: a + np.log1p(-q)),
    ],
    ids=["from zero", "everywhere", "from a parameter", "up to a parameter"],
)  # fmt: skip
def test_searches(texts, lower, upper, sets, below, above, rng):
    """To the last digits of what the distribution function tells."""
    density = gs.register(SEARCHED.format(**texts, lower=lower, upper=upper))
    q = np.r_[1e-300, 1e-100, 1e-17, rng.random(20), 10 ** rng.uniform(-15, -1, 20)][:, None]
    a, b = (np.array(column, float) for column in zip(*sets))
    for got, want in [(density.ppf(q, a, b), below(q, a, b)), (density.isf(q, a, b), above(q, a, b))]:
        # Where the quantile is a sum, it cannot be better than what is added.
        scale = np.abs(want) + (np.abs(a) if texts in (LOGISTIC, REFLECTED) else 0)
        np.testing.assert_array_less(np.abs(got - want), 4e-14 * scale + 1e-320)
    ends = density.ppf([0, 1], a[0], b[0]), density.isf([1, 0], a[0], b[0]), density.support(a[0], b[0])
    np.testing.assert_array_equal(ends[0], ends[2])
    np.testing.assert_array_equal(ends[1], ends[2])


def test_numbers():
    """As scipy's; nan for invalid parameters, and shapes as NumPy has them."""
    rate = np.array([[0.5], [-1.0], [np.nan]])
    for letter, name in zip("mvsk", ("mean", "var", "skewness", "kurtosis")):
        want = stats.expon.stats(scale=2.0, moments=letter)
        np.testing.assert_allclose(getattr(gs.exponential, name)(rate), [[want], [np.nan], [np.nan]], rtol=1e-15)
        assert gs.exponential.stats(0.5, moments=letter) == getattr(gs.exponential, name)(0.5)
    assert gs.exponential.std(np.float32([4.0])).dtype == np.float32
    assert gs.exponential.entropy(lam=3.0) == pytest.approx(stats.expon.entropy(scale=1 / 3), rel=1e-15)
    assert gs.exponential.median(3.0) == gs.exponential.ppf(0.5, 3.0)
    np.testing.assert_allclose(gs.exponential.interval(0.9, 3.0), stats.expon(scale=1 / 3).interval(0.9), rtol=1e-14)
    assert gs.exponential.support(3.0) == (0, np.inf)
    assert np.isnan(gs.exponential.support(-3.0)).all()
    with pytest.raises(ValueError, match="letters out of 'mvsk'"):
        gs.exponential.stats(1.0, moments="mx")
    with pytest.raises(ValueError, match="confidence must be"):
        gs.exponential.interval(1.5, 1.0)


@pytest.mark.parametrize("dtype", some([np.float64, np.float32], 2))
def test_ends_far_away(dtype):
    """What is found near 0 keeps its digits, however far the ends of the support are, also where the density is infinite."""
    q, b = np.array([0.3, 1e-7, 0.9], dtype), np.array([[1e4], [1e10], [1e30]], dtype)
    tolerance, low = (4e-15 if dtype == np.float64 else 3e-6), q.astype(float)
    normal = gs.truncated_normal.ppf(q, dtype(0), dtype(1), -b, b)
    np.testing.assert_allclose(normal, np.broadcast_to(stats.norm.ppf(low), (3, 3)), rtol=tolerance)
    pole = gs.transforms.Truncate(gs.double_gamma, lower=dtype(-1), upper=dtype(1))
    want = stats.dgamma.ppf(low, float(dtype(0.1)))
    np.testing.assert_allclose(pole.ppf(q, dtype(0.1), dtype(0), dtype(1), -b, b)[:, :2], [want[:2]] * 3, rtol=10 * tolerance)
    upper = np.array([1e155, 1e308]) if dtype == np.float64 else b[:, 0]
    far = gs.truncated_normal.isf(dtype(0.3), dtype(0), dtype(1), -upper, upper)
    np.testing.assert_allclose(far, np.full(len(upper), stats.norm.isf(float(dtype(0.3)))), rtol=tolerance)
    one_side = gs.truncated_normal.isf(*np.array([0.5, 1, 1, -1e8, 1], dtype))  # the upper end counts beside the far lower one
    assert one_side == pytest.approx(1 + stats.norm.ppf(0.25), rel=1e-6)


def test_steep_ends_and_complements():
    """Powers that are no numbers between two bounds, and few ranks below what is nearly 1."""
    q = np.float32(0.5)
    for quantile in (gs.truncated_weibull.ppf, gs.truncated_weibull.isf):
        upper = float(np.float32(1.8))
        want = upper * np.exp(np.log(0.5) / 1e4)  # that of a power of a uniform variable
        np.testing.assert_allclose(quantile(q, *np.float32([1e4, 2, 1, 1.8])), want, rtol=1e-6)
        assert quantile(0.5, 1e4, 2.0, 1.0, upper) == pytest.approx(want, rel=1e-14)
    rank = gs.zipfian.isf(*np.float32([0.999, 0.11376876, 6.8e7]))
    assert rank == pytest.approx(28016, rel=2e-3)


def test_mean_far_away():
    """A mean that a heavy tail moves far from the median."""
    nu = 1 + 1e-9
    assert gs.noncentral_t.mean(nu, 1.0, 0.0, 1.0) > 1e8
    assert gs.noncentral_t.cdf(gs.noncentral_t.ppf(0.4, nu, 1.0, 0.0, 1.0), nu, 1.0, 0.0, 1.0) == pytest.approx(0.4, rel=1e-14)


def test_what_is_not_found():
    """A distribution function without values has no quantiles."""
    density = gs.register("""
    real lost_logpdf(real x, real a) { return -0.5 * x * x; }
    real lost_logcdf(real x, real a) { return x < a ? NAN : -exp(-x); }
    """)
    np.testing.assert_allclose(density.ppf([0.3, 0.3], [1.0, -1e300]), [np.nan, -np.log(-np.log(0.3))], rtol=1e-15)


def test_whole_numbers_beyond_the_largest_that_are_exact():
    """By the tail's leading term, Gamma(alpha + beta) / Gamma(beta) x^-alpha, and its next one."""
    alpha, beta, q = 0.1, 1e4, np.exp(-23)
    with mp.workdps(30):
        rising = mp.gammaprod([mp.mpf(alpha) + beta], [beta])
        want = (rising / mp.mpf(q)) ** (1 / mp.mpf(alpha))
    assert gs.beta_geometric.isf(q, alpha, beta) == pytest.approx(float(want), rel=1e-12)
    with mp.workdps(30):
        a = mp.mpf(1.1)
        want = [float((mp.mpf(p) * mp.zeta(a) * (a - 1)) ** (1 / (1 - a))) for p in (1e-12, 1e-20)]
    np.testing.assert_allclose(gs.zipf.isf([1e-12, 1e-20, 1e-100], 1.1), [*want, np.inf], rtol=1e-12)


#: name, arguments, by which of ppf or isf, and the value: P(a, x) is x^a / Gamma(1 + a) near 0
TINY = {
    "half_generalized_normal.ppf": ((0.05, 300.0, 1.0), 0.04990434519025914),
    "generalized_gamma.ppf": ((0.05, 1 / 300, 300.0, 1.0), 0.04990434519025916),
    "generalized_normal.ppf": ((0.5 - 2.0**-40, 300.0, 0.0, 1.0), -1.8155095018395202e-12),
    "chi.ppf": ((1e-200, 1.0), 1.2533141373155002e-200),
    "nakagami.ppf": ((1e-300, 0.6, 2.0), 2.3507478722287848e-250),
    "half_student_t.ppf": ((1e-200, np.inf, 2.0), 2.5066282746310005e-200),
    "inverse_gamma.isf": ((1e-300, 0.9, 1e-100), 2.2498065313847382e233),
    "levy.isf": ((1e-300, 0.0, 1e-300), 6.3661977236758133e299),
    "gamma.ppf": ((1e-4, 0.01, 1e-300), 5.6607381470620168e-101),
    "chi.median": ((0.01,), 8.3765552378263532e-31),
}


@pytest.mark.parametrize("name", TINY)
def test_gamma_variables_that_underflow(name):
    arguments, want = TINY[name]
    density, ending = name.split(".")
    assert getattr(gs.densities[density], ending)(*arguments) == pytest.approx(want, rel=3e-13)


def test_gamma_variables_that_underflow_in_float32():
    got = gs.chi.median(np.float32(0.01)), gs.nakagami.ppf(*np.float32([1e-30, 0.5, 1]))
    np.testing.assert_allclose(got, [8.3765422596167589e-31, 1.2533141412898557e-30], rtol=1e-5)


def test_far_tails_of_noncentral_t():
    """With one degree of freedom, P(T > t) is E(max(Z, 0)) sqrt(2 / pi) / t far away, and Z has the mean delta."""
    c = 0.8643606884608056
    assert gs.noncentral_t.isf(1e-200, 1.0, 1.0, 0.0, 1.0) == pytest.approx(c * 1e200, rel=1e-12)
    assert gs.noncentral_t.logpdf(1e160, 1.0, 1.0, 0.0, 1.0) == pytest.approx(np.log(c) - 320 * np.log(10), rel=1e-14)
    assert gs.noncentral_t.isf(*np.float32([1e-12, 0.5, 1, 0, 1])) == pytest.approx(4.936215e23, rel=1e-5)


def asymmetric_laplace_ppf(below, above, kappa):
    end = kappa**2 / (1 + kappa**2)
    return float(kappa * mp.log(below / end) if below < end else -mp.log(above / (1 - end)) / kappa)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_asymmetric_laplace(dtype):
    q, kappa = np.array([1e-20, 1e-9, 0.3, 0.5, 0.99], dtype), np.array([[1e-8, 1e-4, 0.3, 1, 1e4, 1e8]], dtype).T
    zero, one = dtype(0), dtype(1)
    got = gs.asymmetric_laplace.ppf(q, kappa, zero, one), gs.asymmetric_laplace.isf(q, kappa, zero, one)
    with mp.workdps(60):
        rows = [[(mp.mpf(float(p)), mp.mpf(float(k))) for p in q] for k in kappa[:, 0]]
        want = [[[asymmetric_laplace_ppf(p, 1 - p, k) for p, k in row] for row in rows],
                [[asymmetric_laplace_ppf(1 - p, p, k) for p, k in row] for row in rows]]  # fmt: skip
    np.testing.assert_allclose(got, want, rtol=20 * np.finfo(dtype).eps)


#: parameters, and the exponent of the distribution function near 0
NEAR_ZERO = {
    "noncentral_chi_squared": ((3.0, 2.0), 1.5),
    "noncentral_f": ((4.0, 4.0, 2.0), 2),
    "noncentral_beta": ((2.0, 3.0, 1.5), 2),
    "studentized_range": ((3.0, 10.0), 2),
}


@pytest.mark.parametrize("name", NEAR_ZERO)
def test_probabilities_of_the_smallest_numbers(name):
    """Of what quantiles return."""
    parameters, power = NEAR_ZERO[name]
    density, x = gs.densities[name], np.array([5e-324, 1e-310, 1e-300])
    got = density.logcdf(x, *parameters)
    np.testing.assert_allclose(got[1], got[2] - power * np.log(1e10), rtol=1e-11)
    np.testing.assert_allclose(got[0], got[2] + power * np.log(x[0] / x[2]), atol=power)  # the number has but one digit
    np.testing.assert_array_equal(density.sf(x, *parameters), 1)


def test_parameters_that_do_not_go_together():
    """The density refuses them, and so need not the other functions."""
    lower, upper = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    density = gs.register("""
    real flat_logpdf(real x, real lower, real upper)
    {
        if (!(lower < upper)) return NAN;
        return x < lower || x > upper ? -INFINITY : -log(upper - lower);
    }
    real flat_cdf(real x, real lower, real upper) { return (x - lower) / (upper - lower); }
    real flat_lower(real lower, real upper) { return lower; }
    real flat_upper(real lower, real upper) { return upper; }
    real flat_mean(real lower, real upper) { return 0.5 * (lower + upper); }
    """)
    for ending in ("cdf", "sf", "logcdf", "logsf", "ppf", "isf"):
        np.testing.assert_allclose(np.exp(getattr(density, ending)(0.5, lower, upper))[1:], np.nan)
    np.testing.assert_array_equal(density.mean(lower, upper), [0.5, np.nan])
    np.testing.assert_array_equal(density.support(lower, upper), [[0, np.nan], [1, np.nan]])
    np.testing.assert_allclose(density.ppf([0, 0.3, 1], 2.0, 4.0), [2, 2.6, 4], rtol=1e-15)




def distance(name, q, tail, x, row):
    """How far a number is from where the logarithm of a tail is log(q): a step of Newton's method; 0 where q is jumped over."""
    log_density = REFERENCES[name].logpdf.__wrapped__
    with mp.workdps(DIGITS.get(name, 60)):
        q, x, *row = (mp.mpf(v) for v in (q, x, *row))
        p = tails(name, x, *row)[tail]
        if gs.densities[name].discrete:
            before, slack = tails(name, x - 1, *row)[tail], 1e-13
            return 0.0 if (before < q * (1 + slack) and p >= q * (1 - slack) if tail == 0 else
                           before > q * (1 - slack) and p <= q * (1 + slack)) else float(log(p) - log(q))  # fmt: skip
        return 0.0 if p == q else float(log(p / q) * p * mp.exp(-log_density(x, *row)))  # at a median the density may be 0


NAMES = sorted(CDFS.keys() & REFERENCES.keys())
WRITTEN = [(name, "isf") for name in NAMES if library.get(name).role("isf")]  # what finds ppf finds other isf, too


@pytest.mark.parametrize("name, tail", some([*((name, "ppf") for name in NAMES), *WRITTEN], 12))
def test_of_built_in_densities(name, tail):
    """Against the references of the distribution functions, those that sources write and those that are found."""
    density, rng = gs.densities[name], np.random.default_rng(8)
    q = np.r_[10 ** rng.uniform(-30, 0, 3), rng.random(4), 1 - 10 ** rng.uniform(-9, 0, 2), 0.5]
    parameters = REFERENCES[name].parameters(rng, len(q))
    x, upper_quartile, lower_quartile, lower, upper = (
        together(name)(ending, at, *parameters)
        for ending, at in ((tail, q), ("ppf", 0.75), ("ppf", 0.25), ("lower", 0), ("upper", 0))
    )
    spread = upper_quartile - lower_quartile
    inside = np.isfinite(x) & (lower < x) & (x < upper) if not density.discrete else np.isfinite(x)
    assert inside.sum() > 5 and np.isfinite(x).all()
    for i in np.flatnonzero(inside):
        row = [float(p[i]) for p in parameters]
        size = 1 if density.discrete else max(abs(x[i]), 0 if lower[i] == 0 else spread[i])
        error = distance(name, q[i], tail == "isf", x[i], row) / size
        assert abs(error) < 1e-12, f"{tail}({q[i]}, {row}) = {x[i]} is off by {error}"


def test_what_there_is_not():
    assert hasattr(gs.normal, "cdf") and not hasattr(gs.mvnormal, "cdf") and not hasattr(gs.mvnormal, "mean")
    with pytest.raises(AttributeError, match="mvnormal has no cdf: of distributions of vectors there are pdf"):
        gs.mvnormal.cdf([0.0, 1.0], [0.0, 0.0], np.eye(2))
    refused = [
        ("real ppf", "real q, real b", r"\(q, a\)"), ("real mean", "real b", r"parameters of f_logpdf, \(a\)"),
        ("real sf", "real q, real a", r"arguments of f_logpdf, \(x, a\)"),
    ]  # fmt: skip
    for name, declared, message in refused:
        source = f"real f_logpdf(real x, real a) {{ return x; }} {name.replace(' ', ' f_')}({declared}) {{ return 0; }}"
        with pytest.raises(gs.DeviceFunctionError, match=message):
            gs.register(source)


def test_helpers_may_have_such_names():
    density = gs.register("real row_mean(real x) { return 2 * x; } real f_logpdf(real x, real a) { return -row_mean(x) * a; }")
    assert density.logpdf(1.0, 3.0) == -6 and density.name == "f"
