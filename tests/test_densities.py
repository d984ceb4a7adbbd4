"""Every density against its reference, at ordinary and extreme arguments, in both precisions."""

import numpy as np
import pytest
import references_continuous
import references_discrete
import references_vector
from references import errors

import gpustats as gs
from gpustats.library import library

REFERENCES = references_continuous.REFERENCES | references_discrete.REFERENCES | references_vector.REFERENCES
ELLIPTICAL = {"mvnormal", "mv_student_t"}  # in test_elliptical.py
N = 100

each_density = pytest.mark.parametrize("name", REFERENCES)
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def assert_close(got, want, rtol, args):
    assert got.shape == want.shape
    error = errors(got, want)
    worst = np.argmax(error)
    assert error[worst] <= rtol, f"{got[worst]} for {want[worst]} at {[a[worst].tolist() for a in args]}"


def rows(tuples):
    """The columns of `tuples` as arrays."""
    return [np.array(column, float) for column in zip(*tuples)]


def test_every_built_in_density_has_a_reference():
    densities = {name for name in library.built_in if library.get(name).arguments}
    assert densities == REFERENCES.keys() | ELLIPTICAL


@each_density
def test_the_names_are_those_of_the_reference(name):
    density, parameters = gs.densities[name], REFERENCES[name].parameters(np.random.default_rng(0), 1)
    assert len(density.parameters) == len(parameters)
    assert density.name == name and density.description and density.reference
    assert getattr(gs, name) is density


@each_density
@each_dtype
def test_random_points(name, dtype, rng):
    reference = REFERENCES[name]
    args = reference.random(rng, N, dtype)
    got = gs.densities[name].logpdf(*args)
    assert got.dtype == dtype
    assert_close(got, reference.logpdf(*args), reference.rtol(dtype), args)


@each_density
@each_dtype
def test_extreme_points(name, dtype):
    reference = REFERENCES[name]
    for length in {np.shape(row[-1]) for row in reference.extreme}:  # vectors of different lengths go apart
        args = rows(row for row in reference.extreme if np.shape(row[-1]) == length)
        with np.errstate(over="ignore", under="ignore"):
            args = [a.astype(dtype) for a in args]
        fits = representable_rows(reference, length, dtype)
        args = [a[fits] for a in args]
        got = gs.densities[name].logpdf(*args)
        assert_close(got, reference.logpdf(*args), reference.rtol(dtype), args)


def representable_rows(reference, length, dtype):
    from references import representable

    return [representable(row, dtype) for row in reference.extreme if np.shape(row[-1]) == length]


@pytest.mark.parametrize("name", [name for name, reference in REFERENCES.items() if reference.scipy])
def test_scipy_agrees(name, rng):
    reference = REFERENCES[name]
    args = reference.random(rng, N)
    np.testing.assert_allclose(gs.densities[name].logpdf(*args), reference.scipy(*args), rtol=1e-6, atol=1e-6)


@each_density
def test_invalid_parameters_give_nan(name):
    """Whatever x is: in the support or outside."""
    reference = REFERENCES[name]
    x = next(x for x, *_ in reference.extreme if np.all(np.isfinite(x)))
    parameters = rows(reference.invalid)
    for observation in (x, np.negative(np.abs(x)) - 1.5):
        got = gs.densities[name].logpdf(np.asarray(observation, float), *parameters)
        wrong = [row for row, value in zip(reference.invalid, got) if not np.isnan(value)]
        assert not wrong, f"x = {observation}"


@each_density
def test_nan_observations_give_nan(name, rng):
    x, *parameters = REFERENCES[name].random(rng, N)
    x[np.arange(N), *[rng.integers(n, size=N) for n in x.shape[1:]]] = np.nan
    assert np.isnan(gs.densities[name].logpdf(x, *parameters)).all()


OUTSIDE = {"positive": [-1.5], "nonnegative": [-1.5], "unit": [-0.5, 1.5], "integer": [0.5]}


@each_density
def test_observations_outside_the_domain_give_minus_infinity(name, rng):
    density = gs.densities[name]
    domain = next(iter(density.domains.values())).replace("simplex", "unit vector").split()
    values = [value for word in domain for value in OUTSIDE.get(word, [])]
    x, *parameters = REFERENCES[name].random(rng, len(values))
    x[(slice(None),) + (0,) * (x.ndim - 1)] = values
    assert (density.logpdf(x, *parameters) == -np.inf).all()
    assert (density.pdf(x, *parameters) == 0).all()


@each_density
def test_the_density_is_the_exponential(name, rng):
    density = gs.densities[name]
    args = REFERENCES[name].random(rng, N)
    log = density.logpdf(*args)
    np.testing.assert_allclose(density.pdf(*args), np.exp(log), rtol=1e-15 * (10 + np.abs(log[np.isfinite(log)]).max()))
    assert density.discrete == (name in references_discrete.REFERENCES or "integer" in density.domains["x"] or name == "x")


@each_density
def test_tables_and_sums_are_made_of_the_same_terms(name, rng):
    """However the work is shared among rows and sets."""
    density = gs.densities[name]
    x, *parameters = REFERENCES[name].random(rng, N)
    sets = [p[:7] for p in parameters]
    table = density.logpdf(x[:, None], *sets)
    terms = density.logpdf(*[np.repeat(a[:, None], 7, 1) for a in (x,)], *[np.broadcast_to(p, (N, *p.shape)) for p in sets])
    np.testing.assert_allclose(table, terms, rtol=1e-12, atol=1e-12)
    sums = density.loglik(x, *[p[:, None] for p in sets])
    np.testing.assert_allclose(sums, terms.sum(0), rtol=1e-12, atol=1e-12)
