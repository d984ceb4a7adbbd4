"""Moments, entropies, medians, modes and supports that built-in densities write, against scipy.stats and expectations."""

import functools

import numpy as np
import pytest
from references_all import NUMBERS as REFERENCES
from references_cdf import CDFS
from references_scipy import SCIPY
from thorough import THOROUGH, some
from together import together

import gpustats as gs
from gpustats.language.kinds import NUMBERS
from gpustats.language.library import library

inf, nan = np.inf, np.nan
FORMULAS = SCIPY.keys() - {"von_mises"}  # where scipy has no formulas either, and takes long
HEAVY = {"stable"}  # whose moments are not seen from a few quantiles
SLOW = {"studentized_range"}  # an expectation is an integral over integrals over integrals
INTEGRATED = {"pearson3", "rdist"}  # scipy.stats' entropies are integrals of six digits
MOMENTS = ("mean", "var", "skewness", "kurtosis")

#: Parameters at which there are infinite or no moments, nothing is random, or a formula might lose digits, beside random ones.
SPECIAL = {
    "beta": [(1e-3, 1e3), (1e6, 1e6), (1, 1), (0.5, 1)],
    "bernoulli": [(0,), (1,), (1e-30,)],
    "binomial": [(5, 0), (5, 1), (1, 0.5), (1000, 1e-9)],
    "discrete_uniform": [(3, 3), (-5, 10)],
    "gamma": [(1e-3, 1), (1e8, 1e-5), (1, 2)],
    "geometric": [(1e-12,)],
    "half_student_t": [(6, 2), (5.5, 1), (40, 3)],
    "kumaraswamy": [(2, 3), (1.5, 1.2), (1.2, 2)],
    "inverse_gamma": [(a, 2) for a in (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 1e6)],
    "negative_binomial": [(1e-9, 3), (3, 1e4), (1e6, 0.1)],
    "pareto": [(a, 2) for a in (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 1e4)],
    "poisson": [(1e-9,), (1e9,)],
    "skew_normal": [(0, 1, 2), (1e3, 1, 2), (-1e3, 1, 2)],
    "student_t": [(nu, 1, 2) for nu in (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 1e8, inf)],
    "triangular": [(0, 2, 0), (0, 2, 2), (0, 2, 1)],
    "weibull": [(0.2, 1), (50, 1)],
}


@functools.cache
def written(name):
    """The numbers that a density's source itself writes."""
    return [n for n in NUMBERS if library.get(name).role(n)]


@functools.cache
def computed(name):
    """The parameters, and the numbers by name: all that the source writes."""
    parameters = [np.r_[p, [row[i] for row in SPECIAL.get(name, ())]]
                  for i, p in enumerate(REFERENCES[name].parameters(np.random.default_rng(3), 6))]  # fmt: skip
    return parameters, {number: together(name)(number, 0, *parameters) for number in written(name)}


def assert_equal(got, want, parameters, rtol=1e-9, atol=1e-12):
    wrong = ~np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    assert not wrong.any(), list(zip(got[wrong], np.asarray(want)[wrong], *(p[wrong] for p in parameters)))


@pytest.mark.parametrize("name", some(sorted(name for name in FORMULAS if written(name)), 12))
def test_scipy_agrees(name):
    parameters, numbers = computed(name)
    theirs = SCIPY[name](*parameters)
    with np.errstate(all="ignore"):
        for number, got in numbers.items():
            if number in MOMENTS:
                want = np.broadcast_to(theirs.stats(number[0]), got.shape)
                want = np.where(np.isinf(got) & ~np.isfinite(want), got, want)  # scipy's infinities may lack their sign
                if number in ("skewness", "kurtosis"):
                    nothing = numbers.get("var", got + 1) == 0
                    assert not np.isfinite(got[nothing]).any()  # where scipy says this and that
                    want = np.where(nothing | (np.abs(got) > 1e4), got, want)  # and loses digits there
                if name.startswith("student_t") and number == "mean":
                    want = np.where(np.isinf(want), nan, want)  # both tails are infinite: there is no mean
                assert_equal(got, want, parameters)
            elif number in ("entropy", "median"):
                assert_equal(got, getattr(theirs, number)(), parameters, rtol=1e-5 if name in INTEGRATED else 1e-9)


WITHOUT_FORMULAS = sorted(name for name in REFERENCES if name not in FORMULAS | HEAVY | SLOW and written(name))


@pytest.mark.parametrize("name", some(WITHOUT_FORMULAS, 36))
def test_expectations_agree(name):
    """Where scipy has no formulas: expectations by quadrature, or sums."""
    density, (parameters, numbers) = gs.densities[name], computed(name)
    for i in (-3, -2, -1):
        row = [float(p[i]) for p in parameters]
        for number, got in numbers.items():
            if number in (*MOMENTS, "entropy", "median"):
                np.testing.assert_allclose(
                    got[i], expected(density, row, number), rtol=1e-8, atol=1e-12, err_msg=f"{number}{row}"
                )


@functools.cache
def moments(name, *row):
    """The mean and three central moments, which several numbers are made of."""
    density = gs.densities[name]
    mean = density.expect(lambda x: x, *row)
    return mean, *(density.expect(lambda x, order=order: (x - mean) ** order, *row) for order in (2, 3, 4))


def expected(density, row, number):
    if number == "median":
        return density.ppf(0.5, *row)
    if number == "entropy":
        return density.expect(lambda x: -np.clip(density.logpdf(x, *row), -1e3, 1e3), *row)
    mean, *central = moments(density.name, *row)
    if number in ("mean", "var"):  # of which there are those of what is not random, too
        return mean if number == "mean" else central[0]
    return central[1] / central[0] ** 1.5 if number == "skewness" else central[2] / central[0] ** 2 - 3


@pytest.mark.parametrize("name", some(sorted(name for name in REFERENCES if "mode" in written(name)), 12))
def test_the_density_is_largest_at_the_mode(name):
    density, (parameters, numbers) = gs.densities[name], computed(name)
    mode = numbers["mode"]
    near = mode * np.array([[0.999], [1.001]]) if not density.discrete else mode + np.array([[-1], [1]])
    there, elsewhere = (together(name)("logpdf", x, *parameters) for x in (mode, near))
    assert np.all(np.isnan(mode) | (there >= elsewhere) | (there > 700) | np.isclose(there, elsewhere, rtol=1e-12))


@pytest.mark.parametrize("name", some(sorted(name for name in REFERENCES if {"lower", "upper"} & {*written(name)}), 6))
def test_ends_of_the_support(name):
    density, (parameters, numbers) = gs.densities[name], computed(name)
    for number, end in zip(("lower", "upper"), CDFS[name][1:]):
        if number in numbers:
            first = density.discrete and number == "lower"
            want = [float(end(*row) if callable(end) else end) + first for row in zip(*parameters)]
            np.testing.assert_allclose(numbers[number], want, rtol=1e-15)


def test_moments_that_there_are_not():
    """As of half of Student's t distribution: scipy has none to compare with."""
    nu = np.array([0.5, 1, 2, 2.5, inf])
    mean = [inf, inf, 2 * np.sqrt(2), gs.half_student_t.expect(lambda x: 2 * x, 2.5, 1), 2 * np.sqrt(2 / np.pi)]
    np.testing.assert_allclose(gs.half_student_t.mean(nu, 2.0), mean, rtol=1e-7)
    np.testing.assert_array_equal(np.isfinite(gs.half_student_t.var(nu, 2.0)), [False, False, False, True, True])


def test_moments_of_stable_distributions():
    """The location of Nolan's parametrisation 1; a variance of two normal ones, or none."""
    alpha = np.array([0.5, 1, 1.5, 2])
    mean, var = gs.stable.mean(alpha, 0.5, 1.0, 3.0), gs.stable.var(alpha, 0.5, 1.0, 3.0)
    np.testing.assert_allclose(mean, [nan, nan, 2.5, 1], rtol=1e-14)
    np.testing.assert_array_equal(var, [inf, inf, inf, 18])


@THOROUGH
def test_moments_of_the_studentized_range():
    """Those of |T| sqrt(2) where k = 2; else of the range itself: Harter (1960), Tables of range and studentized range."""
    nu, half = np.array([1.5, 2.5, 3.5, 4.5, 8, 300]), gs.half_student_t
    for number in MOMENTS:
        got, want = (getattr(d, number)(*p, nu, *q) for d, p, q in ((gs.studentized_range, (2.0,), ()), (half, (), (2**0.5,))))
        finite = np.isfinite(want)
        assert not np.isfinite(got[~finite]).any()
        np.testing.assert_allclose(got[finite], want[finite], rtol=1e-10)
    k = np.array([2.0, 3, 5, 10])
    mean, deviation = gs.studentized_range.mean(k, inf), gs.studentized_range.std(k, inf)
    np.testing.assert_allclose(mean, [1.12837917, 1.69256875, 2.32592895, 3.07750546], rtol=1e-8)
    np.testing.assert_allclose(deviation, [0.85250, 0.88837, 0.86408, 0.79705], atol=6e-6)


@pytest.mark.parametrize("name", some(sorted(REFERENCES), 9))
def test_invalid_parameters_give_nan(name):
    invalid = [np.array(column, float) for column in zip(*REFERENCES[name].invalid)]
    number = next(iter(n for n in ("lower", "mean", "mode") if n in written(name)), "upper")
    assert np.isnan(together(name)(number, 0, *invalid)).all()
