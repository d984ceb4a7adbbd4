"""A source owns its functions: whatever others are called, each call means the function that its author saw."""

import pickle

import numpy as np
import pytest
from scipy import stats
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.language.library import library
from gpustats.testing import evaluate_device

X = np.array([0.5, 1.0, 2.5])


def test_helpers_of_two_densities():
    gs.register("real bar_x(real x) { return x; } real foo_logpdf(real x) { return 10 * bar_x(x); }")
    gs.register("real x(real x) { return 100 * x; } real foo_bar_logpdf(real x) { return x(x); }")
    calls = gs.register("real baz_logpdf(real x) { return foo_logpdf(x) + 1000 * foo_bar_logpdf(x); }")
    np.testing.assert_array_equal(calls.logpdf(X), 100010 * X)


def test_helpers_stay_beside_functions_of_special():
    first = gs.register("real gamma(real x) { return 7 * x; } real special_log_logpdf(real x) { return gamma(x); }")
    other = gs.register("real expit(real x) { return 3 * x; } real log_logpdf(real x) { return expit(x); }")
    uses = gs.register("real uses_logpdf(real x) { return log_gamma(x) + log_expit(x); }")
    np.testing.assert_array_equal(first.logpdf(X), 7 * X)
    np.testing.assert_array_equal(other.logpdf(X), 3 * X)
    for density, slope in ((first, 7.0), (other, 3.0)):
        np.testing.assert_array_equal(density.loglik_and_grad(X, wrt="x")[1]["x"], np.full(3, slope))
    from scipy.special import gammaln, log_expit

    np.testing.assert_allclose(uses.logpdf(X), gammaln(X) + log_expit(X), rtol=1e-12)


def test_helpers_stay_beside_shipped_functions():
    """Whether or not the shipped source has been read yet."""
    mine = gs.register("real t_logger(real x) { return x; } real student_logpdf(real x) { return t_logger(x); }")
    more = gs.register("real mine_logpdf(real x) { return student_logpdf(x) + student_t_logpdf(x, 3, 0, 1); }")
    np.testing.assert_allclose(more.logpdf(X), X + stats.t.logpdf(X, 3), rtol=1e-12)
    np.testing.assert_array_equal(mine.logpdf(X), X)


def test_helpers_are_no_ones_but_their_sources():
    gs.register("real weight(real x) { return x; } real owner_logpdf(real x) { return weight(x); }")
    with pytest.raises(gs.DeviceFunctionError, match="unknown function owner_weight"):
        gs.register("real other_logpdf(real x) { return owner_weight(x); }")
    assert evaluate_device("owner_weight", 2.0) == 2


def test_a_helper_with_and_without_the_densitys_name():
    density = gs.register("""
    real part(real x) { return x; }
    real own_part(real x) { return 10 * part(x); }
    real own_logpdf(real x) { return own_part(x) + part(x); }
    """)
    np.testing.assert_array_equal(density.logpdf(X), 11 * X)


WRAPS = """
real again_logpdf(real x, real m) { return 2 * again_logpdf(x, m) + 1; }
real again_logcdf(real x, real m) { return again_logcdf(x, m); }
"""
PLAIN = """
// x: nonnegative    m: positive
real helper(real x, real m) { return -x * m; }
real again_logpdf(real x, real m) { return log(m) + helper(x, m); }
real again_logcdf(real x, real m) { return log1mexp(helper(x, m)); }
"""


@THOROUGH
def test_a_replacement_may_call_what_it_replaces(rng):
    old = gs.register(PLAIN)
    new = gs.register(WRAPS, replace=True)
    newest = gs.register(WRAPS, replace=True)
    assert gs.densities["again"] is newest
    want = stats.expon.logpdf(X, scale=0.5)
    for density, value in ((old, want), (new, 2 * want + 1), (newest, 4 * want + 3)):
        np.testing.assert_allclose(density.logpdf(X, 2.0), value, rtol=1e-12)
        total, gradient = density.loglik_and_grad(X, 2.0)
        assert total == pytest.approx(value.sum())
        factor = {old: 1, new: 2, newest: 4}[density]
        assert gradient["m"] == pytest.approx(factor * (3 / 2 - X.sum()))
        assert gs.Likelihood(density, X)(2.0) == pytest.approx(value.sum())
        sent = pickle.loads(pickle.dumps(density))
        np.testing.assert_array_equal(sent.logpdf(X, 2.0), density.logpdf(X, 2.0))
        np.testing.assert_allclose(density.cdf(X, 2.0), stats.expon.cdf(X, scale=0.5), rtol=1e-12)
        draws = density.rvs(2.0, size=10000, rng=1)
        assert stats.kstest(draws, stats.expon(scale=0.5).cdf).pvalue > 1e-4
        truncated = gs.transforms.Truncate(density, upper=1.0)
        mass = stats.expon.logcdf(1, scale=0.5)
        np.testing.assert_allclose(truncated.logpdf(X, 2.0), np.where(X <= 1, value - mass, -np.inf), rtol=1e-12)
        mixture = gs.Mixture(density, X)
        terms = np.log([[0.5], [0.5]]) + np.stack([value, density.logpdf(X, 3.0)])
        assert mixture.loglik(np.log([0.5, 0.5]), np.array([2.0, 3.0])) == pytest.approx(np.logaddexp(*terms).sum())


def test_replacements_that_call_each_other():
    a = gs.register("real a_logpdf(real x) { return b_logpdf(x) + 1; }".replace("b_logpdf(x)", "x"))
    b = gs.register("real b_logpdf(real x) { return a_logpdf(x) + 10; }")
    a2 = gs.register("real a_logpdf(real x) { return b_logpdf(x) + 100; }", replace=True)
    b2 = gs.register("real b_logpdf(real x) { return a_logpdf(x) + 1000; }", replace=True)
    assert [d.logpdf(0.0) for d in (a, b, a2, b2)] == [1, 11, 111, 1111]
    assert gs.register("real c_logpdf(real x) { return a_logpdf(x); }").logpdf(0.0) == 111


def test_shipped_densities_stay_what_they_are():
    gs.register("// x: nonnegative integer\nreal poisson_logpmf(real x, real mu) { return 5; }", replace=True)
    gs.register("real normal_logpdf(real x, real mu, real sigma) { return 2 * normal_logpdf(x, mu, sigma); }", replace=True)
    want = np.log(0.5) + stats.poisson.logpmf([1, 2], 3.0)
    np.testing.assert_allclose(gs.zero_inflated_poisson.logpmf([1, 2], 0.5, 3.0), want, rtol=1e-12)
    assert gs.densities["poisson"].logpmf(1, 3.0) == 5
    np.testing.assert_allclose(gs.densities["normal"].logpdf(X, 0, 1), 2 * stats.norm.logpdf(X), rtol=1e-12)


def test_the_same_text_makes_the_same_kernel():
    first = gs.register(PLAIN)
    gs.register(PLAIN.replace("-x * m", "-m * x"), replace=True)
    again = gs.register(PLAIN, replace=True)
    assert first.kernel_source("table") == again.kernel_source("table")
    assert gs.densities["again"] is again and "again_2" not in again.kernel_source("table")


def test_covariances_of_one_name():
    text = "// amplitude: positive\nreal twin_cov(real sqdist, real amplitude) { return amplitude * exp(-sqdist); }"
    first = gs.register(text)
    second = gs.register(text.replace("exp(-sqdist)", "exp(-2 * sqdist)").replace("amplitude", "size"), replace=True)
    x = np.array([[0.0], [1.0]])
    np.testing.assert_allclose((first + second)(x, amplitude=1.0, size=3.0)[0, 1], np.exp(-1) + 3 * np.exp(-2), rtol=1e-12)


def test_derivatives_of_composed_covariances():
    """Each is a function that gpustats has written."""
    rbf, slow = gs.rbf, gs.rbf.rename(amplitude="slow", lengthscale="l")
    rough = gs.matern52.rename(amplitude="a", lengthscale="b")
    first, second = (rbf * gs.constant.rename(amplitude="c")).derivative(), (slow * rough).derivative()
    x, values = np.array([[0.0], [0.7]]), np.linspace(0.5, 1.5, 7)
    given = dict(zip(first.parameters + second.parameters, values, strict=False))
    apart = [d(x, **{n: given[n] for n in d.parameters}) for d in (first, second)]
    np.testing.assert_allclose((first + second)(x, **given), apart[0] + apart[1], rtol=1e-12)


def test_covariances_of_two_processes():
    text = "// amplitude: positive\nreal twin_cov(real sqdist, real amplitude) { return amplitude * exp(-sqdist); }"
    sent = pickle.loads(pickle.dumps(gs.register(text)))
    library._functions.clear()
    here = gs.register(text.replace("amplitude", "size").replace("-sqdist", "-2 * sqdist"), replace=True)
    with pytest.raises(ValueError, match="different functions twin_cov"):
        sent + here


TAKEN = {
    "checked": "real logpdf_checked(real x) { return x; } real f_logpdf(real x, real m) { return m * logpdf_checked(x); }",
    "evaluate": "real logpdf_evaluate(real m) { return m; } real logpdf_prepare_set(real m) { return log(exp(m)); } "
    "real f_logpdf(real x, real m) { return x * logpdf_evaluate(m) + 0 * logpdf_prepare_set(m); }",
    "set": "real logpdf_set(real m) { return m; } real f_logpdf(real x, real m) { return x * logpdf_set(m) + 0 * log(m); }",
    "derivative": "real logpdf_checked_d_x(real x) { return x; } real logpdf_d_m(real x) { return x; }"
    "real f_logpdf(real x, real m) { return logpdf_d_m(logpdf_checked_d_x(x)) * m; }",
    "gradient": "real logpdf_grad_x_m(real x) { return x; } real logpdf_grad_m_(real x) { return x; }"
    "real f_logpdf(real x, real m) { return logpdf_grad_m_(logpdf_grad_x_m(x)) * m; }",
    "exp": "real logpdf_checked_exp(real x) { return x; } real f_logpdf(real x, real m) { return logpdf_checked_exp(x) * m; }",
    "everywhere": "real logcdf_everywhere(real x) { return -exp(-x); } real short_of(real x) { return logcdf_everywhere(x); }"
    "real logcdf_logsf_(real x) { return short_of(x); }"
    "real sample(real x) { return logcdf_logsf_(x); } real cov(real x) { return sample(x); }"
    "real f_logpdf(real x, real m) { return x * m; } real f_logcdf(real x, real m) { return cov(x) * m; }",
    "parameter": "real m(real x) { return x; } real f_logpdf(real x, real m) { real f_m = x; return f_m * m; }",
    "local": "real g(real x) { return x; }"
    "real f_logpdf(real x, real f_g) { real f_logpdf_row = f_g; return g(x) * f_logpdf_row; }",
    "derivative of a helper": "real m_y(real x) { return x; } real f_logpdf(real x, real m) { real m_y = x; return m_y * m; }",
    "tag": "real inner(real x, real a) { return x * log(exp(a)); } real inner_ms(real x, real a) { return x * log(exp(a)); }"
    "real f_logpdf(real x, real m) { return inner(x + 0 * m, m) + 0 * inner_ms(x + m, m); }",
    "part": "real part_2(real x) { return x; }"
    "real f_logpdf(real x, real m) { return 0 * part_2(x) + " + 80 * "(0 * x + " + "x * m" + 80 * ")" + "; }",
    "other's": "real f_logpdf(real x, real normal_logpdf) { return x * normal_logpdf + 0 * laplace_logpdf(x, 0, 1); }",
}  # fmt: skip


@pytest.mark.parametrize("name", some(TAKEN, 4))
def test_names_that_gpustats_makes_itself(name):
    density = gs.register(TAKEN[name])
    parameter = density.parameters[0]
    np.testing.assert_allclose(density.logpdf(X, 2.0), 2 * X, rtol=1e-12)
    np.testing.assert_allclose(density.pdf(X[:, None], np.array([1.0, 2.0])), np.exp(X[:, None] * [1, 2]), rtol=1e-12)
    value, gradient = density.loglik_and_grad(X, 2.0, wrt=("x", parameter))
    assert value == pytest.approx(8)
    assert gradient[parameter] == pytest.approx(4)
    np.testing.assert_allclose(gradient["x"], 2, rtol=1e-12)
    np.testing.assert_allclose(gs.transforms.Grad(density, parameter)(X, 2.0), X, rtol=1e-12)
    if name == "everywhere":
        np.testing.assert_allclose(density.cdf(X, 1.0), np.exp(-np.exp(-X)), rtol=1e-12)
        np.testing.assert_allclose(density.logsf(X, 1.0), np.log1p(-np.exp(-np.exp(-X))), rtol=1e-11)
        assert stats.kstest(density.rvs(1.0, size=10000, rng=1), lambda x: np.exp(-np.exp(-x))).pvalue > 1e-4


@pytest.mark.parametrize(
    "stem, helper",
    some([tuple(words.split()) for words in (
        "get global_id", "atomic add", "make int2", "convert uint", "mixture add", "rng uniform", "native sin", "M PI",
        "add threads", "words of", "_ _", "special expit", "own get", "normal logpdf_checked", "vload half",
    )]),
)  # fmt: skip
def test_names_that_mean_something_to_compilers(stem, helper):
    stem = stem if stem not in ("special", "normal") else f"{stem}_own"
    text = f"real {helper}(real x, real m) {{ return x * m; }}\n"
    density = gs.register(text + f"real {stem}_logpdf(real x, real m) {{ return {helper}(x, m); }}")
    np.testing.assert_array_equal(density.logpdf(X[:, None], np.array([2.0, 3.0])), X[:, None] * [2, 3])
    assert density.loglik_and_grad(X, 2.0)[1]["m"] == 4
    assert gs.Mixture(density, X).loglik(np.log([0.5, 0.5]), np.array([2.0, 2.0])) == pytest.approx(8)
