"""Errors of a compiler about a kernel: the lines of the user's own source that they tell."""

import numpy as np

import gpustats as gs
from gpustats.errors import CompileError
from gpustats.evaluation.diagnosis import explained, without_samplers
from gpustats.runtime import choose

SOURCE = """// two: real x
__device__ real two_sample(rng_t *rng, real mu)
{
    if (uniform(rng) < 0.5) { return mu; }
    return -mu;
}
__device__ real two_logpdf(real x, real mu)
{
    return x + mu + undeclared;
}
"""


def test_a_sampler_is_not_blamed():
    error = explained(CompileError("a log", "a kernel"), choose.get(), "two", SOURCE, {}, {}.get)
    assert error.line == 9 and "undeclared" in str(error)


def test_samplers_become_empty_lines():
    text = without_samplers(SOURCE)
    assert text.count("\n") == SOURCE.count("\n") and "rng" not in text and "two_logpdf" in text


def test_a_function_of_a_value_may_call_special_functions():
    """Also those that the density itself does not call."""
    x = np.array([0.5, 2.0])
    found = gs.exponential.log_density.map("softened", "log1pexp({})")(x, 1.5)
    np.testing.assert_allclose(found, np.logaddexp(0, gs.exponential.logpdf(x, 1.5)), rtol=1e-14)
