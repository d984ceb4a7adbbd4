"""Indices of vectors: none reads or writes beside its vector, and those of plain loops stay as they are written."""

import numpy as np
import pytest

import gpustats as gs
from gpustats.language import bounds

AT = "real at_logpdf(const real *x, real k, int dim) {{ {} }}"


def printed(body):
    return gs.register(AT.format(body), replace=True).kernel_source("table", "float64", "cuda")


@pytest.mark.parametrize(
    "body",
    [
        "return k * x[0] + x[dim - 1];",
        "real s = 0; for (int i = 0; i < dim; i++) s += k * x[i]; return s;",
        "real s = 0; for (int i = 1; dim > 1 && i < dim; i += 2) s += k * x[i]; return s;",
        "real s = 0; for (int i = dim - 1; i >= 0; i--) s += k * x[i]; return s;",
        "real s = 0; for (int i = 0; i < dim; i++) for (int j = i + 1; j < dim; j++) s += k * x[i] * x[j]; return s;",
        "real s = 0; for (int i = 0; i < dim; i++) for (int j = 0; j <= i; j++) if (k > 0) s += x[i] * x[j]; return s;",
        "real s = 0; int i = 0; for (i = 0; i < dim; i++) s += k * x[i]; return s;",
    ],
)
def test_plain_indices_stay(body):
    assert "min(max(" not in printed(body)


@pytest.mark.parametrize(
    "body",
    [
        "return x[(int)k];",
        "return x[1] + k;",
        "return k + x[dim];",
        "return k + x[dim - 2];",
        "real s = 0; for (int i = 0; i <= dim; i++) s += k * x[i]; return s;",
        "real s = 0; for (int i = 0; i < dim; i++) s += k * x[i + 1]; return s;",
        "real s = 0; for (int i = 0; i < dim; i++) { i += 1; s += k * x[i]; } return s;",
        "real s = 0; for (int i = (int)k; i < dim; i++) s += k * x[i]; return s;",
        "real s = 0; for (int i = dim; i >= 0; i--) s += k * x[i]; return s;",
        "real s = 0; for (int i = 1; i < dim; i += 2147483647) s += k * x[i]; return s;",
        "real s = 0; for (int i = dim - 1; i < 2147483647; i -= 1) { s += x[i]; if (s > k) return s; } return s;",
        "real s = 0; for (int i = 0; k > 0 || i < dim; i++) s += x[i]; return s;",
        "real s = 0; int i = 0; while (i < dim) { i++; s += k * x[i]; } return s;",
        "real s = 0; for (int i = 0; x[i] > k && i < dim; i++) s += x[i]; return s;",
        "real s = 0; int i; for (i = 0; i < dim; i++) s += x[i]; return s + k * x[i];",
    ],
)
def test_others_are_kept_within(body):
    assert "min(max(" in printed(body)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_nearest_element_is_read(rng, layout, dtype):
    """Beside each vector of a table lies another: reading it went unnoticed."""
    density = gs.register(AT.format("return x[(int)k];"))
    x = rng.normal(size=(40, 5)).astype(dtype)
    for k in [0, 4, -1, -7, 5, 1e9, -1e9, 2.0]:
        want = x[:, int(np.clip(k, 0, 4))]
        np.testing.assert_array_equal(density.logpdf(x, k), want)
        assert density.loglik(x, k) == pytest.approx(want.astype(float).sum(), rel=1e-6)
    k = np.array([-3.0, 1.0, 99.0], dtype)
    np.testing.assert_array_equal(density.logpdf(x[:, None], k), x[:, [0, 1, 4]])


@pytest.mark.parametrize(
    "body, place",
    [
        ("int k = (int)x; return k >= 0 ? p[k + 1] * a : 0;", [1, 0]),
        ("int k = (int)x; return k <= 0 ? p[-k] * a : 0;", [0, 0]),
        ("int k = (int)x; return k > 0 ? p[2 * k] * a : 0;", [0, 0]),
        ("int k = (int)x; int j = k; j += 5; return k >= 0 ? p[j] * a : 0;", [4, 0]),
        ("int k = (int)x; int j = k; j++; return k >= 0 ? p[j] * a : 0;", [1, 0]),
        ("real s = 0; for (int i = 1; s == 0 && i != 0; i *= 65536) s = i == 1 ? 0 : p[i]; return x * 0 + s * a;", [4, 4]),
    ],
)  # fmt: skip
def test_no_index_is_taken_for_one_that_cannot_be_less_than_zero(layout, body, place):
    """Whole numbers wrap around. C leaves that open, and what follows from it: that k + 1 is above 0 if k is."""
    density = gs.register(f"real at_logpdf(real x, real a, const real *p, int dim) {{ {body} }}", replace=True)
    p, x = np.arange(1.0, 6.0), np.array([0.0, 1e10])
    sign = -1 if "-k" in body else 1
    want = np.where(x * (1 if "k > 0" in body else 0) + 1 > 1, p[place], 0 if "k > 0" in body else p[place])
    np.testing.assert_array_equal(density.logpdf(sign * x, 2.0, p), 2 * want)
    assert density.loglik(sign * x, 2.0, p) == 2 * want.sum()


@pytest.mark.parametrize("told", ["dim + 3", "100", "-5", "(int)k"])
def test_helpers_are_told_no_wrong_length(rng, told):
    density = gs.register(f"""
    real total(const real *v, int dim) {{ real s = 0; for (int i = 0; i < dim; i++) s += v[i]; return s + v[dim - 1]; }}
    real at_logpdf(const real *x, real k, int dim) {{ return total(x, {told}) + 0 * k; }}
    """)
    x, k = rng.normal(size=(40, 5)), 3.0
    n = {"dim + 3": 5, "100": 5, "-5": 0, "(int)k": 3}[told]
    np.testing.assert_allclose(density.logpdf(x, k), x[:, :n].sum(1) + x[:, max(n - 1, 0)], rtol=1e-13)


def test_a_helper_may_be_told_that_there_is_no_element(rng):
    """As a sum of none has it; a density's vectors have one."""
    density = gs.register("""
    real total(const real *v, int dim) { real s = 0; for (int i = 0; i < dim; i++) s += v[i]; return s; }
    real at_logpdf(const real *x, real k, int dim) { return total(x, (int)k); }
    """)
    x = rng.normal(size=(40, 5))
    for k in range(6):
        np.testing.assert_allclose(density.logpdf(x, float(k)), x[:, :k].sum(1), rtol=1e-13, atol=1e-15)


def test_a_length_that_the_observation_tells(rng):
    density = gs.register("""
    real total(const real *v, int dim) { real s = 0; for (int i = 0; i < dim; i++) s += v[i]; return s; }
    real at_logpdf(real x, const real *p, int dim) { return total(p, (int)x) * exp(p[0]); }
    """)
    p, x = rng.normal(size=(3, 4)), np.arange(5.0)
    want = np.array([[q[:n].sum() * np.exp(q[0]) for q in p] for n in range(5)])
    np.testing.assert_allclose(density.logpdf(x[:, None], p), want, rtol=1e-13, atol=1e-15)


def test_a_helper_that_is_told_of_no_element_reads_none_before_the_vector():
    density = gs.register("""
    real last(const real *v, int dim) { real s = 0; for (int i = dim - 1; i < dim; i++) s += v[i]; return s; }
    real at_logpdf(const real *x, real k, int dim) { return last(x, (int)k); }
    """)
    x = np.arange(1.0, 13.0).reshape(4, 3)
    np.testing.assert_array_equal(density.logpdf(x, 0.0), x[:, 0])
    np.testing.assert_array_equal(density.logpdf(x, 2.0), x[:, 1])


def test_a_variable_named_like_the_length_of_vectors():
    density = gs.register("real at_logpdf(real x, real a) { int dim = (int)x; return log(a + dim) * x * a; }")
    x, a = np.arange(4.0), np.array([1.0, 2.5])
    np.testing.assert_allclose(density.logpdf(x[:, None], a), np.log(a + x[:, None]) * x[:, None] * a, rtol=1e-14)


def test_nothing_is_written_beside_a_vector():
    gs.register("""
    real spill_logpdf(const real *x, real k, int dim) { return k * x[0]; }
    void spill_sample(rng_t *rng, real k, real *x, int dim)
    {
        for (int i = 0; i < dim; i++) x[i] = k;
        x[(int)k] = uniform(rng);
        x[dim + 3] = 2 + uniform(rng);
    }
    """)
    out = np.full((10, 4), 7.0)
    gs.spill.rvs(-5.0, size=8, rng=1, out=out[1:9])
    assert (out[[0, 9]] == 7).all()
    assert (out[1:9, 1:3] == -5).all() and (out[1:9, 0] < 1).all() and (out[1:9, 3] > 2).all()


MISTAKEN = """
real total(const real *v, int dim)
{
    real s = 0;
    for (int i = 0; i < dim; i++)
        s += v[i];
    return s;
}

real at_logpdf(const real *x, real k, int dim)
{
    return x[(int)k] + total(x, dim + 1) - total(x, dim);
}
"""


def test_indices_that_may_lie_outside_are_listed():
    functions = gs.register(MISTAKEN).definition.functions.values()
    assert [place for f in functions for place in bounds.not_plain(f)] == [
        (12, 12, "the index of x"), (12, 24, "the length told to at_total"),
    ]  # fmt: skip
    assert not list(bounds.not_plain(gs.normal.definition.density))


def test_what_is_read_outside_is_nan_where_mistakes_are_searched(rng, monkeypatch):
    monkeypatch.setattr(bounds, "CHECKS_INDICES", True)
    x, k = rng.normal(size=(3, 4)), np.array([0.0, 4.0, -1.0])
    density = gs.register(AT.format("return x[(int)k];"))
    np.testing.assert_array_equal(density.logpdf(x, k), [x[0, 0], np.nan, np.nan])
    assert np.isnan(gs.Likelihood(density, x)(k=4.0)) and gs.Likelihood(density, x)(k=3.0) == pytest.approx(x[:, 3].sum())
    assert np.isnan(gs.register(MISTAKEN, replace=True).logpdf(x, 0.0)).all()
    gs.register("""
    real spill_logpdf(const real *x, real k, int dim) { return k * x[0]; }
    void spill_sample(rng_t *rng, real k, real *x, int dim) { for (int i = 0; i <= dim; i++) x[i] = k; }
    """)
    np.testing.assert_array_equal(gs.spill.rvs(2.0, size=2, rng=1, out=np.empty((2, 3))), [[2, 2, np.nan]] * 2)
