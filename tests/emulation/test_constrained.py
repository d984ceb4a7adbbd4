"""Minima under constraints: the augmented Lagrangian against integrals, and problems with known solutions."""

import numpy as np
import pytest
from lagp_data import CANDIDATES, X
from scipy import integrate, special, stats
from thorough import THOROUGH

import gpustats as gs
from gpustats.emulation import constrained
from gpustats.emulation.lagrangian import Lagrangian, first_penalty
from gpustats.gp import minimize


def toy(x):
    """The constraints of Gramacy et al. (2016), section 1: with x1 + x2, the minimum is 0.5998 at (0.1954, 0.4044)."""
    a, b = x
    return 1.5 - a - 2 * b - 0.5 * np.sin(2 * np.pi * (a**2 - 2 * b)), a**2 + b**2 - 1.5


def test_expectation_and_improvement_by_integrals():
    lagrangian = Lagrangian(np.array([0.7, -0.4]), 0.3, np.array([False, True]))
    mean, scale = np.array([[0.2, -0.5, 0.3], [0.1, 2.0, 0.0]]), np.array([[0.0, 0.8, 0.5], [0.3, 0.4, 1.2]])
    one = Lagrangian(np.array([0.7]), 0.3, np.array([False]))
    normal = special.ndtri(stats.qmc.Sobol(3, rng=1).random(1 << 14))
    for i in range(2):
        integrals = 0.0
        for j, equal in enumerate((False, True)):
            c = stats.norm(mean[i, 1 + j], scale[i, 1 + j])
            part = Lagrangian(lagrangian.multipliers[j : j + 1], 0.3, np.array([equal]))
            integrals += c.expect(lambda t, part=part: part.value(np.zeros(1), [np.atleast_1d(t)])[0], epsabs=1e-10)
        got = lagrangian.expectation(mean[:, 0], mean[:, 1:], scale[:, 1:])[i]
        np.testing.assert_allclose(got, mean[i, 0] + integrals, rtol=1e-7)

        def gain(t, i=i):
            c = mean[i, 1] + scale[i, 1] * t
            value = 0.1 + 0.7 * c + max(c, 0) ** 2 / 0.6
            return max(0.4 - value, 0) * stats.norm.pdf(t)

        want = integrate.quad(gain, -10, 10, epsabs=1e-9, limit=500)[0]
        known = np.array([[0.1, mean[i, 1]]]), np.array([[0.0, scale[i, 1]]])
        np.testing.assert_allclose(one.improvement(0.4, *known, normal[:, :2]), want, rtol=2e-3, atol=1e-6)
        slack = Lagrangian(np.array([0.7]), 0.3, np.array([False]), slack=True)
        c = stats.norm(mean[i, 1], scale[i, 1])
        integral = c.expect(lambda t, part=slack: part.value(np.zeros(1), [np.atleast_1d(t)])[0], epsabs=1e-10)
        got = slack.expectation(mean[:, 0], mean[:, 1:2], scale[:, 1:2])[i]
        np.testing.assert_allclose(got, mean[i, 0] + integral, rtol=1e-7)
    certain = lagrangian.expectation(np.zeros(1), np.array([[-1.0, 0.5]]), np.zeros((1, 2)))
    np.testing.assert_allclose(certain, lagrangian.value(np.zeros(1), np.array([[-1.0], [0.5]])), rtol=1e-14)
    # no constraint: expected improvement of normal distributions
    plain, none = gs.gp.Prediction(mean[1:, 0], scale[1:, 0]), np.empty(0)
    got = Lagrangian(none, 1.0, none.astype(bool)).improvement(0.2, mean[1:, :1], scale[1:, :1], normal[:, :1])
    np.testing.assert_allclose(got, plain.expected_improvement(0.2), rtol=1e-3)


def test_slack_variables_are_the_best_there_are():
    c, s, (multiplier, other, penalty) = np.linspace(-1, 1, 21), np.linspace(0, 9, 90001)[:, None], (0.7, -0.4, 0.3)
    least = (multiplier * (c + s) + (c + s) ** 2 / (2 * penalty)).min(0)
    equation = other * c**2 + c**4 / (2 * penalty)
    lagrangian = Lagrangian(np.array([multiplier, other]), penalty, np.array([False, True]), slack=True)
    np.testing.assert_allclose(lagrangian.value(c**3, [c, c**2]), c**3 + least + equation, atol=1e-8)
    certain = lagrangian.expectation(c**3, np.stack([c, c**2], axis=1), np.zeros((21, 2)))
    np.testing.assert_allclose(certain, c**3 + least + equation, atol=1e-8)


def test_lagp():
    """Expectations and expected improvements of laGP 1.5-9, whose Monte Carlo has a million draws.

    X and cand of `lagp_data`; c1 <- 1.5-X[,1]-2*X[,2]-0.5*sin(2*pi*(X[,1]^2-2*X[,2])); c2 <- X[,1]*X[,2]-.25
    g1 <- newGP(X, c1, .5, .01); g2 <- newGP(X, c2, .5, .01); f <- newGP(X, rowSums(X), 1, .01); set.seed(1)
    laGP:::alGP(cand, f, 1, c(g1,g2), c(1,1), c(.7,.2), 1/(2*.3), 1.2, equal=c(FALSE,TRUE), N=1e6)
    """
    c = np.c_[1.5 - X[:, 0] - 2 * X[:, 1] - 0.5 * np.sin(2 * np.pi * (X[:, 0] ** 2 - 2 * X[:, 1])), X[:, 0] * X[:, 1] - 0.25]
    found = []
    for y, d in ((X.sum(1), 1.0), (c[:, 0], 0.5), (c[:, 1], 0.5)):
        ml = gs.gp.MarginalLikelihood(gs.rbf.fix(amplitude=1.0), X, y, student_t=True)
        found.append(ml.predict(CANDIDATES, noise=True, lengthscale=np.sqrt(d / 2), sigma=0.1))
    mean, scale = np.stack([p.mean for p in found], 1), np.stack([p.scale for p in found], 1)
    lagrangian = Lagrangian(np.array([0.7, 0.2]), 0.3, np.array([False, True]))
    expected = [0.6828057510, 1.6366468947, 1.1820276291, 0.5236489562]
    np.testing.assert_allclose(lagrangian.expectation(mean[:, 0], mean[:, 1:], scale[:, 1:]), expected, rtol=2e-3)
    normal = special.ndtri(stats.qmc.Sobol(3, rng=1).random(1 << 13))
    improved = [0.74521281678, 0.08591823666, 0.14116249796, 0.67639475995]
    np.testing.assert_allclose(lagrangian.improvement(1.2, mean, scale, normal), improved, rtol=5e-3)


def test_multipliers_and_penalties():
    equal = np.array([False, False, True])
    before = Lagrangian(np.array([1.0, 0.2, -0.5]), 0.5, equal)
    f, c = np.array([1.0, 3.0]), np.array([[0.1, -0.3, 0.005], [-1.0, -1.0, 0.0]])
    violated = np.array([[True, False, False], [False] * 3])
    after = before.next(f, c, ~violated.any(1), violated)
    np.testing.assert_allclose(after.multipliers, [1.2, 0.0, -0.49])
    assert after.penalty == 0.25
    assert before.next(f, c, np.ones(2, bool), np.zeros((2, 3), bool)).penalty == 0.5
    none = np.array([[True, False, False], [True, True, False]])
    after = before.next(f, np.abs(c), ~none.any(1), none)
    np.testing.assert_array_equal(after.multipliers, 0)
    assert after.penalty == 0.25  # 0.1² / 2 is less than half of the penalty before
    assert first_penalty(np.array([[0.0, 0.0], [0.3, 0.4], [2.0, 0.0]])) == pytest.approx(0.125)
    assert first_penalty(np.zeros((3, 2))) == first_penalty(np.zeros((3, 0))) == 0.5


@THOROUGH
def test_the_toy_problem():
    asked = []
    found = minimize(
        lambda x: asked.append(x) or toy(x), [(0, 1), (0, 1)], objective=lambda x: x.sum(1), end=34, candidates=500, rng=1
    )
    assert 0.5997 < found.fun < 0.603 and max(toy(found.x)) <= 0
    np.testing.assert_allclose(found.x, [0.1954, 0.4044], atol=0.05)
    np.testing.assert_array_equal(found.points, asked)
    np.testing.assert_allclose(found.objectives, found.points.sum(1), rtol=1e-14)
    np.testing.assert_array_equal(found.constraints, [toy(x) for x in asked])
    np.testing.assert_array_equal(found.valid, (found.constraints <= 0).all(1))
    best = [min(found.objectives[: t + 1][found.valid[: t + 1]], default=np.inf) for t in range(34)]
    np.testing.assert_array_equal(found.progress, best)
    assert found.multipliers.shape == (24, 2) and found.penalties.shape == (24,)
    assert [e.n for e in found.emulators] == [34, 34]


@pytest.mark.parametrize("criterion", ["lagrangian", "feasibility"])
def test_constraints_that_are_known(criterion):
    """They cost no run and no emulator, and stand behind the others."""
    options = dict(objective=lambda x: x.sum(1), candidates=300, rng=1, end=24, criterion=criterion)
    found = minimize(
        lambda x: toy(x)[0], [(0, 1), (0, 1)], known=lambda x: np.c_[(x**2).sum(1) - 1.5, x[:, 0] - x[:, 1] / 3],
        equal=[0, 0, 1], tolerance=0.02, **options,
    )  # fmt: skip
    assert len(found.emulators) == 1
    a, b = found.points.T
    want = np.c_[[toy(x) for x in found.points], a - b / 3]
    np.testing.assert_allclose(found.constraints, want, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(found.valid, (want[:, :2] <= 0).all(1) & (np.abs(want[:, 2]) <= 0.02))
    line = np.linspace(0, 1, 10001)  # x1 = x2 / 3, and the least sum of both by which the other constraints are met
    least = min(4 / 3 * b for b in line if max(toy([b / 3, b])) <= 0)
    assert least - 0.06 < found.fun < least + 0.06
    one = minimize(lambda x: [], [(0, 1), (0, 1)], known=lambda x: 0.5 - x[:, 0], **options | dict(end=14))
    assert one.emulators == () and one.constraints.shape == (14, 1) and one.x[0] >= 0.5


def test_units_do_not_matter():
    """Of the coordinates, the objective and the constraints, but for rounding; given points come first."""
    given = [[0.9, 0.9], [0.5, 0.6]]
    options = dict(x=given, start=8, end=14, candidates=100, rng=5)
    one = minimize(lambda x: (x.sum(), toy(x)), [(0, 1), (0, 1)], **options)
    other = minimize(
        lambda x: (7 + 100 * (x[0] / 10 + x[1] - 5), [1e-3 * v for v in toy([x[0] / 10, x[1] - 5])]), [(0, 10), (5, 6)],
        **options | dict(x=[[9.0, 5.9], [5.0, 5.6]]),
    )  # fmt: skip
    np.testing.assert_allclose(one.points[:2], given, rtol=1e-14)
    np.testing.assert_allclose(other.points[:12] / [10, 1] - [0, 5], one.points[:12], atol=1e-4)


def test_feasibility(monkeypatch):
    """The toy problem by the other criterion, and that by its definition."""
    seen = []
    plain = constrained.by_feasibility
    monkeypatch.setattr(constrained, "by_feasibility", lambda *a: seen.append((a, a[0].least, plain(*a).copy())) or plain(*a))
    found = minimize(
        lambda x: (x.sum(), [*toy(x), x[0] - 0.2]), [(0, 1), (0, 1)], equal=[False, False, True], end=18, candidates=300, rng=1,
        criterion="feasibility", tolerance=0.05,
    )  # fmt: skip
    assert found.multipliers.shape == (0, 3) and found.penalties.size == 0 and len(seen) == 8
    assert found.fun < 0.68 and abs(found.x[0] - 0.2) <= 0.05
    for (runs, mean, scale), least, scores in (seen[0], seen[-1]):
        c = stats.norm(mean[:, 1:] * runs.of_c, scale[:, 1:] * runs.of_c)
        want = c.cdf(0)[:, 0] * c.cdf(0)[:, 1] * (c.cdf(0.05) - c.cdf(-0.05))[:, 2]
        if np.isfinite(least):
            f = gs.gp.Prediction(mean[:, 0] * runs.of_f, scale[:, 0] * runs.of_f)
            want *= f.expected_improvement(least) / runs.of_f
        np.testing.assert_allclose(np.exp(scores), want, rtol=1e-9, atol=1e-300)


@THOROUGH
def test_an_equation_and_a_given_covariance():
    """The point nearest to (1, 1) on a circle."""
    found = minimize(
        lambda x: (((x - 1) ** 2).sum(), [x @ x - 0.5, x[0] - 0.9]), [(0, 1), (0, 1)], equal=[True, False], end=26, rng=2,
        cov=gs.matern52, priors={}, candidates=400, tolerance=0.01,
    )  # fmt: skip
    np.testing.assert_allclose(found.x, [0.5, 0.5], atol=0.06)
    assert abs(found.x @ found.x - 0.5) <= 0.01 and len(found.emulators) == 3


def test_no_constraints_and_none_that_can_be_met():
    found = minimize(lambda x: ((x[0] - 0.3) ** 2 + np.sin(9 * x[0]) / 5, []), [(0, 1)], start=4, end=12, rng=3, candidates=100)
    grid = np.linspace(0, 1, 10001)
    assert found.fun == pytest.approx(((grid - 0.3) ** 2 + np.sin(9 * grid) / 5).min(), abs=2e-3)
    assert found.valid.all() and found.constraints.shape == (12, 0)
    never = minimize(lambda x: (x[0], 1 + x[0]), [(0, 1)], start=4, end=8, rng=3, candidates=100)
    assert never.x is None and never.fun == np.inf and not never.valid.any() and (never.multipliers == 0).all()


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(bounds=[(1, 0)]), "the lower number of each pair first"),
        (dict(bounds=[0, 1]), r"bounds has shape \(2,\)"),
        (dict(x=[[2.0]]), "within the bounds"),
        (dict(start=10, end=10), "start = 10"),
        (dict(function=lambda x: 1.0), "the objective and the constraints, two things"),
        (dict(function=lambda x: (np.nan, [1.0])), "must be a finite number"),
        (dict(objective=lambda x: x, function=lambda x: x), r"objective returned shape \(1, 1\)"),
        (dict(equal=[True, False]), "equal has shape"),
        (dict(known=lambda x: x[0, 0]), r"known returned shape \(\) for 1 points: it must be \(1,\) or \(1, k\)"),
        (dict(criterion="best"), "there are 'lagrangian' and 'feasibility'"),
        (dict(cov=gs.periodic), "must have an amplitude and a lengthscale"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(ValueError, match=message):
        minimize(**dict(function=lambda x: (x[0], [x[0]]), bounds=[(0, 1)], start=3, end=5) | options)
