"""What C allows and OpenCL does not."""

import numpy as np

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
