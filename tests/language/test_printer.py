"""What C allows and OpenCL does not."""

import numpy as np
import pytest

import gpustats as gs


def test_numbers_as_conditions(layout):
    density = gs.register("""
    real condition_logpdf(real x, real a)
    {
        real y = x ? 1 : 2;
        if (a) y += x && a ? 10 : 20;
        return !x ? y + 100 : y;
    }
    """)
    got = density.logpdf(np.array([0.0, 0.5, -0.0]), np.array([[0.0], [-0.1]]))
    np.testing.assert_array_equal(got, [[102, 1, 102], [122, 11, 122]])


@pytest.mark.optimised
def test_sides_that_few_threads_of_a_vector_take(layout, rng):
    """A side that none takes is left out, one that some take is computed for all, of which each keeps its own."""
    density = gs.register("""
    real seldom_logpdf(real x, real a)
    {
        real tail = unlikely(x > 2) ? log(x) : a;
        return likely(x > a) ? (unlikely(x < 0) ? exp(x) : tail) + 1 : unlikely(isnan(a)) ? 7 : sqrt(a - x);
    }
    """)
    assert "return CHOICE(" in density.kernel_source("table")
    x = rng.normal(size=1000)
    x[:500] = np.abs(x[:500])  # vectors of one kind, and mixed ones
    for a in (np.array([-10.0, -0.5, 0.5, 10.0]), rng.normal(size=(1000, 1))):
        with np.errstate(invalid="ignore"):
            want = np.where(x[:, None] > a, np.where(x[:, None] < 0, np.exp(x)[:, None], np.where(
                x[:, None] > 2, np.log(x)[:, None], a)) + 1, np.sqrt(a - x[:, None]))  # fmt: skip
        np.testing.assert_allclose(density.logpdf(x[:, None], a), want, rtol=1e-13)


@pytest.mark.optimised
def test_a_side_that_has_no_end_elsewhere_is_computed_for_its_threads_alone():
    density = gs.register("""
    real halvings(real x) { real n = 0; while (x != 1) { x = x / 2; n += 1; } return n; }
    real endless_logpdf(real x, real a) { return unlikely(x == 8) ? halvings(x) : a; }
    """)
    assert "return CHOICE(" not in density.kernel_source("table")
    x = np.array([8.0, 3.0, 0.0, 8.0, -1.0, 5.0, 8.0, 7.0])
    np.testing.assert_array_equal(density.logpdf(x, 2.0), np.where(x == 8, 3, 2))
