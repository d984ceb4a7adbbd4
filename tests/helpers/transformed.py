"""A user's density to transform, and how near results have to come."""

import numpy as np
from references import errors

# A user's density, whose parameters have names that a transform might want for itself.
FRECHET = """
// fisher_tippett: the Fréchet distribution
// x: positive    log_mass: positive, shape    at: positive, scale
real fisher_tippett_logpdf(real x, real log_mass, real at)
{
    real log_z = log(x / at);
    return log(log_mass / at) - (1 + log_mass) * log_z - exp(-log_mass * log_z);
}
real fisher_tippett_logcdf(real x, real log_mass, real at)
{
    return -exp(-log_mass * log(x / at));
}
"""


def assert_close(got, want, dtype=np.float64, factor=1.0):
    assert np.shape(got) == np.shape(want) and got.dtype == dtype
    assert errors(got, want).max() <= factor * (1e-12 if dtype == np.float64 else 1e-5)
