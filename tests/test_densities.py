"""Every density against its reference, at ordinary and extreme arguments, in both precisions."""

import numpy as np
import pytest
from references import errors, representable
from references_all import REFERENCES
from scipy import special
from stored import stored
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library

ELLIPTICAL = {"mvnormal", "mv_student_t"}  # in test_elliptical.py
N = 100

#: Whose references are integrals and long sums
LONG = {
    "conway_maxwell_poisson", "delaporte", "fisher_noncentral_hypergeometric", "generalized_hyperbolic", "kolmogorov_smirnov",
    "kolmogorov_smirnov_one_sided", "landau", "normal_inverse_gaussian", "polya_aeppli", "skellam", "stable",
    "studentized_range", "tweedie",
}  # fmt: skip

each_density = pytest.mark.parametrize("name", REFERENCES)
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
#: Kernels of every third density are compiled as users' are, which takes five times as long, and in `make thorough` all.
OPTIMISED = pytest.mark.optimised
in_both_types = pytest.mark.parametrize("name, dtype", [
    *(pytest.param(name, np.float64, marks=[OPTIMISED] * (i % 3 == 0)) for i, name in enumerate(REFERENCES)),
    *some([(name, np.float32) for name in REFERENCES], 12),
    *(
        pytest.param(name, np.float64, marks=[OPTIMISED, THOROUGH], id=f"{name}-optimised")
        for i, name in enumerate(REFERENCES) if i % 3
    ),
])  # fmt: skip


def assert_close(got, want, rtol, args):
    assert got.shape == want.shape
    error = errors(got, want)
    worst = np.argmax(error)
    assert error[worst] <= rtol, f"{got[worst]} for {want[worst]} at {[a[worst].tolist() for a in args]}"


def reference_at(name, args):
    """The reference's logarithms of the density."""
    logpdf = REFERENCES[name].logpdf
    if name not in LONG:
        return logpdf(*args)
    return stored(name, "logpdf", lambda *row: logpdf(*map(np.array, row)).item(), args)


def columns(tuples):
    """The columns of a table of tuples, as arrays."""
    return [np.array(column, float) for column in zip(*tuples)]


def test_every_built_in_density_has_a_reference():
    assert set(library.built_in(DENSITY)) == REFERENCES.keys() | ELLIPTICAL


@each_density
def test_the_names_are_those_of_the_reference(name):
    density, parameters = gs.densities[name], REFERENCES[name].parameters(np.random.default_rng(0), 1)
    assert len(density.parameters) == len(parameters)
    assert density.name == name and density.description and density.reference
    assert getattr(gs, name) is density


@in_both_types
def test_random_points(name, dtype, rng):
    reference = REFERENCES[name]
    args = reference.random(rng, N, dtype)
    got = gs.densities[name].logpdf(*args)
    assert got.dtype == dtype
    assert_close(got, reference_at(name, args), reference.rtol(dtype), args)


@in_both_types
def test_extreme_points(name, dtype):
    reference = REFERENCES[name]
    tuples = [row for row in reference.extreme if representable(row, dtype)]
    for shape in {np.shape(row[-1]) for row in tuples}:  # vectors of different lengths go apart
        args = [a.astype(dtype) for a in columns(row for row in tuples if np.shape(row[-1]) == shape)]
        got = gs.densities[name].logpdf(*args)
        assert_close(got, reference_at(name, args), reference.rtol(dtype), args)


@pytest.mark.parametrize("name", [name for name, reference in REFERENCES.items() if reference.scipy])
def test_scipy_agrees(name, rng):
    reference = REFERENCES[name]
    args = reference.random(rng, N)
    np.testing.assert_allclose(gs.densities[name].logpdf(*args), reference.scipy(*args), rtol=1e-6, atol=1e-6)


@each_density
def test_invalid_parameters_give_nan(name):
    """Whatever x is: in the support or outside."""
    reference = REFERENCES[name]
    x = np.array(next(x for x, *_ in reference.extreme if np.all(np.isfinite(x))), float)
    for observation in (x, -2 - np.floor(np.abs(x))):
        same = np.broadcast_to(observation, (len(reference.invalid), *x.shape))  # one for each: the kernel of other tests
        values = gs.densities[name].logpdf(same, *columns(reference.invalid))
        wrong = [row for row, value in zip(reference.invalid, values) if not np.isnan(value)]
        assert not wrong, f"x = {observation}"


@each_density
def test_nan_observations_give_nan(name, rng):
    x, *parameters = REFERENCES[name].random(rng, N)
    x[np.arange(N), *[rng.integers(n, size=N) for n in x.shape[1:]]] = np.nan
    assert np.isnan(gs.densities[name].logpdf(x, *parameters)).all()


OUTSIDE = {"positive": [-1.5], "nonnegative": [-1.5], "unit": [-0.5, 1.5], "integer": [0.5], "simplex": [-0.5, 1.5]}


@each_density
def test_observations_outside_the_domain_give_minus_infinity(name, rng):
    density = gs.densities[name]
    values = [value for word in density.domains["x"].split() for value in OUTSIDE.get(word, [])]
    x, *parameters = REFERENCES[name].random(rng, N)
    for value in values:
        outside = x.copy()
        outside[(slice(None),) + (0,) * (x.ndim - 1)] = value
        assert (density.logpdf(outside, *parameters) == -np.inf).all()


@pytest.mark.parametrize("name", ["normal", "gamma", "poisson", "dirichlet"])
@each_dtype
def test_the_density_is_the_exponential(name, dtype, rng):
    density = gs.densities[name]
    args = REFERENCES[name].random(rng, N, dtype)
    log = density.logpdf(*args)
    pdf = density.pdf(*args)
    assert pdf.dtype == dtype
    np.testing.assert_allclose(pdf, np.exp(log), rtol=8 * np.finfo(dtype).eps * np.abs(log).max())
    assert (density.pmf(*args) == pdf).all() and (density.logpmf(*args) == log).all()


@pytest.mark.parametrize("name", some(REFERENCES, 12))
def test_tables_and_sums_have_the_same_terms(name, rng):
    """However the work is shared among observations and sets of parameters."""
    density = gs.densities[name]
    x, *parameters = REFERENCES[name].random(rng, N)
    sets = [p[:3] for p in parameters]  # as many as in test_gradients.py: the same kernels
    want = np.stack([density.logpdf(x, *[np.broadcast_to(p[k], (N, *p.shape[1:])) for p in sets]) for k in range(3)])
    np.testing.assert_allclose(density.logpdf(x[:, None], *sets), want.T, rtol=1e-12, atol=1e-12)
    sums = density.loglik(x, *[p[:, None] for p in sets])
    np.testing.assert_allclose(sums, want.sum(1), rtol=1e-12, atol=1e-12)


def test_parameters_that_do_not_go_together_wherever_x_is():
    values = gs.discrete_uniform.logpmf([0.5, 2.0, np.inf, 0.5], 5, [1, 1, 1, 6])
    np.testing.assert_array_equal(values, [np.nan, np.nan, np.nan, -np.inf])


def test_subnormal_observations():
    x = 5e-324
    log_x = np.log(x)
    np.testing.assert_allclose(gs.gamma.logpdf(x, 112.76, 0.5), -83695.39926623030039, rtol=1e-14)
    want = 81.334 * log_x - special.betaln(82.334, 116.567)
    np.testing.assert_allclose(gs.beta.logpdf(x, 82.334, 116.567), want, rtol=1e-14)
    np.testing.assert_allclose(gs.triangular.logpdf(x, 0.0, 1e10, 1e9), np.log(2) - 19 * np.log(10) + log_x, rtol=1e-14)
