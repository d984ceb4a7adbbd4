"""Probabilities of boxes, against integrals over one variable and SciPy's."""

import numpy as np
import pytest
from scipy import special, stats
from thorough import THOROUGH

import gpustats as gs
from gpustats.transforms.lattice import prime_below, rank_1_lattice

inf = np.inf


def equicorrelated(dim, rho=0.5):
    return np.full((dim, dim), rho) + (1 - rho) * np.eye(dim)


def log_cdf(upper, rho):
    """By the trapezoidal rule over the variable that elements correlated by rho share, given which they are independent."""
    shared = np.linspace(-60, 10, 40_001)
    z = (upper - np.sqrt(rho) * shared[:, None]) / np.sqrt(1 - rho)
    terms = stats.norm.logpdf(shared) + stats.norm.logcdf(z).sum(-1)
    return special.logsumexp(terms) + np.log(shared[1] - shared[0])


def agrees(found, want):
    """Six standard errors: they are estimated from 12 means."""
    np.testing.assert_array_less(abs(found.log - want), 6 * found.error + 1e-12 * np.maximum(1, np.abs(want)))


@pytest.mark.parametrize("dim", [1, 2, 4, 10])
def test_many_boxes_near_and_far(dim):
    rng = np.random.default_rng(dim)
    upper = rng.normal(size=(6, dim)) - np.array([0, 0, 1, 5, 15, 35])[:, None]
    found = gs.box_probability(-inf, upper, np.zeros(dim), equicorrelated(dim))
    agrees(found, [log_cdf(u, 0.5) for u in upper])
    assert found.log.shape == (6,) and (found.error <= 1e-3).all()


def test_boxes_do_not_depend_on_others():
    rng = np.random.default_rng(0)
    upper, means = rng.normal(size=(5, 1, 3)), rng.normal(size=(4, 3))
    covs = np.array([np.cov(rng.normal(size=(3, 9))) for _ in range(4)])
    found = gs.box_probability(-2.0, upper, means, covs)
    assert found.log.shape == (5, 4)
    for i, j in ((0, 0), (4, 1), (2, 3)):
        alone = gs.box_probability(-2.0, upper[i, 0], means[j], covs[j])
        assert alone.log == found.log[i, j] and alone.error == found.error[i, j]


def test_against_scipy():
    rng = np.random.default_rng(3)
    cov = np.cov(rng.normal(size=(4, 12)))
    lower, upper = rng.normal(size=(2, 5, 4))
    lower, upper = np.minimum(lower, upper) - 0.5, np.maximum(lower, upper)
    upper[0, 1], lower[1, 2] = inf, -inf
    found = gs.box_probability(lower, upper, np.full(4, 0.1), cov)
    want = stats.multivariate_normal.cdf(upper, np.full(4, 0.1), cov, lower_limit=lower, abseps=1e-6, releps=1e-6, rng=1)
    np.testing.assert_allclose(np.exp(found.log), want, atol=5e-6, rtol=5e-4)


@pytest.mark.parametrize("df", [0.7, 3, 40])
def test_student(df):
    """Each element alone is Student's; orthants do not depend on the degrees of freedom."""
    d = 3
    orthant = gs.box_probability(-inf, np.zeros(d), np.zeros(d), equicorrelated(d), df)
    agrees(orthant, np.log(1 / (d + 1)))
    x = np.array([-8.0, -1.0, 0.3, 4.0])
    upper = np.full((4, d), inf)
    upper[:, 1] = x
    found = gs.box_probability(-inf, upper, np.full(d, 0.2), 4 * equicorrelated(d), df)
    agrees(found, stats.t.logcdf(x, df, 0.2, 2.0))
    generic = gs.box_probability([-1, -2.0, -inf], [0.5, 1.0, 0.7], np.zeros(d), equicorrelated(d, 0.2), df)
    want = mp_student(np.array([-1, -2.0, -inf]), np.array([0.5, 1.0, 0.7]), 0.2, df)
    agrees(generic, want)


def mp_student(lower, upper, rho, df):
    """By Gauss-Legendre quadrature over the variable that elements share and the radius."""
    t, w = np.polynomial.legendre.leggauss(200)
    shared, weight = 9 * t, 9 * w * stats.norm.pdf(9 * t)
    u, v = 0.5 * (t + 1), 0.5 * w
    radius = np.sqrt(stats.chi2.ppf(u, df) / df)
    a, b = ((x * radius[:, None, None] - np.sqrt(rho) * shared[:, None]) / np.sqrt(1 - rho) for x in (lower, upper))
    inner = np.prod(stats.norm.cdf(b) - stats.norm.cdf(a), -1)
    return np.log(v @ inner @ weight)


def test_special_boxes():
    lower, upper = [[0, 0], [1, 0], [-inf, -inf], [np.nan, 0]], [[0, 1], [0, 1], [inf, inf], [1, 1]]
    found = gs.box_probability(lower, upper, np.zeros(2), np.eye(2))
    np.testing.assert_allclose(found.log, [-inf, -inf, 0, np.nan], atol=1e-15)
    np.testing.assert_allclose(found.error, [0, 0, 0, np.nan], atol=1e-15)
    none = gs.box_probability(np.zeros((0, 2)), 1.0, np.zeros(2), np.eye(2))
    assert none.log.shape == (0,)
    narrow = gs.box_probability([0.3], [0.3 + 1e-9], np.zeros(1), np.eye(1))
    np.testing.assert_allclose(narrow.log, np.log(stats.norm.pdf(0.3 + 5e-10) * ((0.3 + 1e-9) - 0.3)), rtol=1e-13)
    independent = gs.box_probability([-1, 2, -40.0], [1, inf, -38], np.zeros(3), np.diag([1.0, 4.0, 1.0]))
    want = np.log(stats.norm.cdf(1) - stats.norm.cdf(-1)) + stats.norm.logsf(1) + stats.norm.logcdf(-38)
    np.testing.assert_allclose(independent.log, want, rtol=1e-12)
    assert independent.error < 1e-12


def test_singular_matrices():
    """Elements that others determine are conditions on these."""
    loadings = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    cov = loadings @ loadings.T
    upper = np.array([1.0, 0.5, 0.8, 0.4])
    with pytest.raises(ValueError, match="cov must be positive definite"):
        gs.box_probability(-inf, upper, np.zeros(4), cov)
    found = gs.box_probability(-inf, upper, np.zeros(4), cov, allow_singular=True, points=1 << 17)

    def in_the_plane(radius):
        x = np.linspace(-9, 0.4 * radius, 20_001)
        return np.trapezoid(stats.norm.pdf(x) * stats.norm.cdf(np.minimum(0.5 * radius, 0.8 * radius - x)), x)

    np.testing.assert_allclose(np.exp(found.log), in_the_plane(1.0), rtol=1e-3)
    student = gs.box_probability(-inf, upper, np.zeros(4), cov, 3.0, allow_singular=True, points=1 << 17)
    radii = np.sqrt(stats.chi2.ppf((np.arange(400) + 0.5) / 400, 3.0) / 3.0)
    np.testing.assert_allclose(np.exp(student.log), np.mean([in_the_plane(r) for r in radii]), rtol=1e-3)
    zero = gs.box_probability([-inf, -1], [0.0, 1.0], np.zeros(2), np.diag([1.0, 0.0]), allow_singular=True)
    np.testing.assert_allclose(zero.log, np.log(0.5), rtol=1e-12)
    with pytest.raises(ValueError, match="cov must be positive semidefinite"):
        gs.box_probability(-inf, [0, 0], np.zeros(2), [[1.0, 2.0], [2.0, 1.0]], allow_singular=True)


def test_scales_of_elements():
    """Each element has a unit of its own; constants are conditions, which hold at their bounds, too."""
    shape = np.array([[1, 0.5, 0.2], [0.5, 1, 0.3], [0.2, 0.3, 1]])
    upper, units = np.array([0.3, -0.5, 1.0]), np.array([1e-12, 1.0, 1e12])
    agrees(
        gs.box_probability(-inf, upper * units, np.zeros(3), shape * np.outer(units, units)),
        gs.box_probability(-inf, upper, np.zeros(3), shape).log,
    )
    constant = np.diag([1.0, 0.0])
    found = gs.box_probability(-inf, [[1, 0], [1, 1], [1, -1e-6]], np.zeros(2), constant, allow_singular=True)
    np.testing.assert_allclose(np.exp(found.log), [stats.norm.cdf(1), stats.norm.cdf(1), 0], rtol=1e-12)
    np.testing.assert_allclose(gs.box_probability(0, 1, [0.0], [[0.0]], allow_singular=True).log, 0, atol=1e-15)
    with pytest.raises(ValueError, match="cov must be symmetric"):
        gs.box_probability(0, 1, np.zeros(2), [[1e-20, 1e-21], [5e-21, 1e-20]])


@THOROUGH
def test_errors_are_told_where_few_points_count():
    """Far in Student's tails, one point of all counts; elsewhere weights are far smaller than their squares can be."""
    far = gs.box_probability(-inf, [-45.0], [0.0], [[1.0]], 200.0)
    assert far.error > 0.5
    narrow = [[1, -0.9999], [-0.9999, 1]]
    tiny, other = (gs.box_probability(-inf, [-0.2, -0.2], np.zeros(2), narrow, rng=i) for i in (0, 1))
    assert 0 < tiny.error < 1e-4 and abs(tiny.log - other.log) < 10 * tiny.error
    rare = gs.box_probability(-inf, [35.2] + [inf] * 7, np.zeros(8), equicorrelated(8, 0.6), 2.0, rtol=1e-5, points=1 << 17)
    assert abs(rare.log - stats.t.logcdf(35.2, 2)) < 6 * rare.error
    np.testing.assert_allclose(gs.box_probability(-inf, [-1e10], [0.0], [[1.0]]).log, -5e19, rtol=1e-15)


def test_tolerances():
    upper = np.zeros(6)
    rough = gs.box_probability(-inf, upper, np.zeros(6), equicorrelated(6), rtol=1e-2)
    fine = gs.box_probability(-inf, upper, np.zeros(6), equicorrelated(6), rtol=1e-5, points=1 << 17)
    assert fine.error < 1e-5 < rough.error < 1e-2
    agrees(fine, np.log(1 / 7))
    agrees(gs.box_probability(-inf, upper, np.zeros(6), equicorrelated(6), rtol=0, atol=1e-4), np.log(1 / 7))
    other = gs.box_probability(-inf, upper, np.zeros(6), equicorrelated(6), rtol=1e-2, rng=1)
    assert other.log != rough.log


def test_lattices_fill_cubes():
    """Polynomials that are folded are integrated with errors that fall off like 1 / n^2."""
    error = []
    for n in (prime_below(250), prime_below(4000)):
        z = rank_1_lattice(n, 3)
        u = abs(2 * (np.arange(n)[:, None] * z / n + [0.1, 0.2, 0.3]) % 2 - 1)
        assert len(np.unique(u, axis=0)) == n
        error.append(abs(np.prod(1 + 0.5 * (u - 0.5), 1).mean() - 1))
    assert error[0] < 1e-4 and error[1] < error[0] / 50


@pytest.mark.parametrize(
    "args, message",
    [
        ((0, 1, 0.0, [[1.0]]), r"mu has shape \(\): it must be \(..., d\)"),
        ((0, 1, [0.0, 0.0], np.eye(3)), r"cov has shape \(3, 3\), where mu has \(2,\)"),
        ((0, [1, 1, 1], [0.0, 0.0], np.eye(2)), r"upper has shape \(3,\), where mu has \(2,\)"),
        ((0, 1, [0.0, inf], np.eye(2)), "mu must be finite"),
        ((0, 1, [0.0, 0.0], [[1, 0.5], [0.2, 1]]), "cov must be symmetric"),
        ((0, 1, [0.0, 0.0], [[1, 2], [2, 1]]), "cov must be positive definite"),
        ((0, 1, [0.0, 0.0], np.eye(2), 0), "df must be a positive number, not 0"),
        ((np.zeros((3, 2)), np.ones((2, 2)), [0.0, 0.0], np.eye(2)), r"leading axes do not fit: lower \(3,\), upper \(2,\)"),
    ],
)
def test_mistakes(args, message):
    with pytest.raises(ValueError, match=message):
        gs.box_probability(*args)


@pytest.mark.parametrize(
    ("options", "message"),
    [(dict(points=0), "points must be a positive whole number, not 0"), (dict(rtol=-1), "must not be negative")],
)
def test_mistakes_in_options(options, message):
    with pytest.raises(ValueError, match=message):
        gs.box_probability(0, 1, [0.0], [[1.0]], **options)
