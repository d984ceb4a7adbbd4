"""Calibration: densities against scipy.stats and the R package laGP, recovered parameters, draws against quadrature."""

import math

import numpy as np
import pytest
from scipy import stats
from thorough import THOROUGH

import gpustats as gs
from gpustats.emulation.ensemble import walk
from gpustats.gp import Calibration, CalibrationDraws, Emulator, MarginalLikelihood

#: Of laGP 1.5-9: i <- 1:60; XU <- cbind((i*0.7548776662466927) %% 1, (i*0.5698402909980532) %% 1)
#: Z <- sin(6*XU[,1]*XU[,2]) + XU[,2]; X <- matrix(seq(.05,.95,length=8))
#: Y <- sin(6*X[,1]*.4) + .4 + .3*X[,1]^2 + .02*c(1,-1,2,0,-2,1,-1,0)
#: M <- aGP(XU, Z, cbind(X,u), d=list(start=.3, mle=FALSE), method="nn", end=50, verb=0); gp <- newGP(X, Y-M$mean, d, g)
#: llikGP(gp, dab=c(1.5,.7), gab=c(1.5,3)), at u and the discrepancy's d and g. The first two are minus fcalib(u, XU, Z, X, Y,
#: list(start=.3, mle=FALSE), list(start=.5, mle=TRUE, min=.01, max=10, ab=c(1.5,.7)),
#: list(start=.05, mle=TRUE, min=1e-6, max=2, ab=c(1.5,3)), methods="nn", verb=0)
LAGP = [
    (0.3, 0.4852523521754914, 0.0383324790704004, 14.8715812501973),
    (0.45, 0.4427082413480355, 0.0186224022916244, 12.1309261038691),
    (0.3, 0.5, 0.05, 14.8262339521778), (0.3, 2.0, 0.01, 11.9559953590507), (0.45, 2.0, 0.01, 9.52054918852669),
]  # fmt: skip
#: M$mean at u = 0.45
LAGP_MEAN = [
    0.585225507018, 0.911868047369, 1.187075029526, 1.373605755338, 1.451904943113, 1.409575549677, 1.250853417811,
    0.998737984818,
]  # fmt: skip


def model(x, u):
    return np.sin(6 * x * u) + u


def lagp_data():
    i = np.arange(1, 61)
    runs = np.c_[(i * 0.7548776662466927) % 1, (i * 0.5698402909980532) % 1]
    x = np.linspace(0.05, 0.95, 8)
    return runs, model(*runs.T), x, model(x, 0.4) + 0.3 * x**2 + 0.02 * np.array([1, -1, 2, 0, -2, 1, -1, 0])


def test_lagp():
    """Likelihoods of `fcalib`, with its priors of d and g taken for ours."""
    runs, z, x, y = lagp_data()
    calibration = Calibration(
        gs.LocalGP(runs, z, center=False), x, y, [(0, 1)], gs.rbf.fix(amplitude=1.0), student_t=True,
        priors={"lengthscale": None, "sigma": None}, predict=dict(method="nn", end=50, d={"start": 0.3, "mle": False}, g=1e-4),
    )  # fmt: skip
    np.testing.assert_allclose(calibration.emulate([[0.45]])[0][0], LAGP_MEAN, rtol=1e-8)  # from inverses there
    u, d, g, want = np.array(LAGP).T
    priors = stats.gamma(1.5, scale=1 / 0.7).logpdf(d) + stats.gamma(1.5, scale=1 / 3).logpdf(g)
    constant = math.lgamma(4) - 4 * math.log(2 * math.pi)  # which laGP leaves out
    got = calibration(u[:, None], lengthscale=np.sqrt(d / 2)[:, None], sigma=np.sqrt(g)[:, None])
    np.testing.assert_allclose(got - constant + priors, want, rtol=1e-8)


@pytest.fixture(scope="module")
def problem():
    """Field data of u = 0.4 with a discrepancy, some points twice, and an emulator of the model."""
    rng = np.random.default_rng(3)
    runs = rng.uniform(size=(60, 2))
    emulator = Emulator(MarginalLikelihood(gs.rbf, runs, model(*runs.T)), amplitude=1.0, lengthscale=0.4, sigma=1e-3)
    x = np.r_[np.linspace(0, 1, 12), [0.0, 1.0]]
    return emulator, x, model(x, 0.4) + 0.1 * x**2 + 0.02 * rng.normal(size=14)


def test_the_density_by_its_definition(problem, rng):
    emulator, x, y = problem
    priors = {"u": gs.beta(2.0, 3.0), "lengthscale": gs.gamma(3.0, 2.0), "sigma": gs.half_normal(0.2)}
    u, rows = rng.uniform(size=(5, 1)), dict(
        amplitude=rng.uniform(0.1, 1, (5, 1)), lengthscale=rng.uniform(0.3, 1, (5, 1)), sigma=rng.uniform(0.01, 0.1, (5, 1))
    )  # fmt: skip
    for uncertainty in (False, True):
        calibration = Calibration(emulator, x, y, [(0, 1)], priors=priors, uncertainty=uncertainty)
        want = []
        for k in range(5):
            p = emulator.predict(np.c_[x, np.full(14, u[k, 0])])
            a, length, sigma = (rows[n][k, 0] for n in ("amplitude", "lengthscale", "sigma"))
            covariance = a**2 * np.exp(-0.5 * ((x[:, None] - x) / length) ** 2) + sigma**2 * np.eye(14)
            covariance += np.diag(p.scale**2) if uncertainty else 0
            density = stats.multivariate_normal(p.mean, covariance).logpdf(y) + stats.beta(2, 3).logpdf(u[k, 0])
            density += stats.gamma(3, scale=0.5).logpdf(length) + stats.halfnorm(scale=0.2).logpdf(sigma)
            want.append(density + stats.halfnorm(scale=y.std()).logpdf(a))
        got = calibration(u, **rows)
        np.testing.assert_allclose(got, want, rtol=1e-10)
        one = calibration(u[2], **{n: a[2, 0] for n, a in rows.items()})
        assert isinstance(one, float) and one == pytest.approx(got[2], rel=1e-12)
    assert calibration([[0.5], [1.5], [-0.1]], amplitude=1.0, lengthscale=[1.0], sigma=0.1)[1:].tolist() == [-np.inf] * 2
    plain = Calibration(emulator, x, y, [(0, 1)], False, priors={"sigma": None})
    p = emulator.predict(np.c_[x, np.full(14, 0.5)])
    want = stats.norm(p.mean, np.hypot(0.1, p.scale)).logpdf(y).sum()
    np.testing.assert_allclose(plain([0.5], sigma=0.1), want, rtol=1e-12)


def test_sites_are_emulated_once(problem):
    emulator, x, y = problem
    asked = []

    def known(points):
        asked.append(points)
        return model(*points.T)

    calibration = Calibration(known, x, y, [(0, 1)])
    mean, scale = calibration.emulate([[0.4], [0.7]])
    assert asked[0].shape == (24, 2) and not scale.any()
    np.testing.assert_array_equal(mean, [model(x, 0.4), model(x, 0.7)])
    np.testing.assert_array_equal(calibration.emulate([[0.4]], [0.5])[0], [[model(0.5, 0.4)]])


@THOROUGH
@pytest.mark.parametrize("discrepancy", [True, False])
def test_the_fit_is_a_maximum(discrepancy, problem, rng):
    emulator, x, y = problem
    calibration = Calibration(emulator, x, y - (0 if discrepancy else 0.1 * x**2), [(0, 1)], discrepancy)
    fit = calibration.fit(rng=1, candidates=40)
    assert fit.u[0] == pytest.approx(0.4, abs=0.03)
    assert fit.log_posterior == pytest.approx(calibration(fit.u, **fit.values), rel=1e-12)
    assert fit.evaluations > 40
    near = {n: np.exp(np.log(v) + rng.normal(scale=0.1, size=(50, 1))) for n, v in fit.values.items()}
    others = calibration(fit.u + rng.normal(scale=0.02, size=(50, 1)), **near)
    assert (others < fit.log_posterior + 2e-3).all()
    held = calibration.fit(rng=1, candidates=20, start={"sigma": 0.05}, fixed=["sigma"], searches=1)
    assert held.values["sigma"] == 0.05 and held.log_posterior < fit.log_posterior


@THOROUGH
def test_draws_by_quadrature(problem):
    """Of u and sigma, on a grid, without a discrepancy; for a model that is known."""
    _, x, y = problem
    calibration = Calibration(lambda p: model(*p.T), x, y - 0.1 * x**2, [(0.2, 0.6)], False)
    draws = calibration.sample(150, tune=50, walkers=100, rng=2)
    u, sigma = np.meshgrid(np.linspace(0.35, 0.45, 200), np.linspace(0.005, 0.12, 300), indexing="ij")
    density = calibration(u.reshape(-1, 1), sigma=sigma.reshape(-1, 1)).reshape(u.shape)
    weights = np.exp(density - density.max())
    weights /= weights.sum()
    for got, grid in ((draws.u[..., 0], u), (draws.values["sigma"], sigma)):
        mean = (weights * grid).sum()
        sd = np.sqrt((weights * (grid - mean) ** 2).sum())
        assert got.mean() == pytest.approx(mean, abs=0.15 * sd) and got.std() == pytest.approx(sd, rel=0.15)
    assert draws.u.shape == (100, 150, 1) and 0.3 < draws.acceptance < 0.9
    level = calibration(draws.u[3, 7], sigma=draws.values["sigma"][3, 7]) + np.log(draws.values["sigma"][3, 7])
    assert draws.log_posterior[3, 7] == pytest.approx(level, rel=1e-12)


def test_draws_of_hyperparameters(problem):
    emulator, x, y = problem
    calibration = Calibration(emulator, x, y, [(0, 1)])
    fit = calibration.fit(rng=1, candidates=20, searches=1, start={"lengthscale": 0.5})
    draws = calibration.sample(3, tune=2, walkers=10, start=fit, rng=3, fixed="sigma")
    values = "amplitude", "lengthscale", "sigma"
    assert {n: a.shape for n, a in draws.values.items()} == dict.fromkeys(values, (10, 3))
    assert (draws.values["sigma"] == fit.values["sigma"]).all() and np.ptp(draws.values["amplitude"]) > 0
    assert ((draws.u > 0) & (draws.u < 1)).all()
    again = calibration.sample(3, tune=2, walkers=10, start=fit, rng=3, fixed="sigma")
    np.testing.assert_array_equal(again.u, draws.u)
    with pytest.raises(ValueError, match="walkers = 5"):
        calibration.sample(3, walkers=5, start=fit)


def test_predictions(problem):
    """Of the model and the discrepancy, by the formulas."""
    emulator, x, y = problem
    calibration = Calibration(emulator, x, y, [(0, 1)])
    u, values, xs = 0.37, dict(amplitude=0.3, lengthscale=np.array([0.6]), sigma=0.05), np.array([0.25, 1.3])
    p, q = (emulator.predict(np.c_[at, np.full(len(at), u)]) for at in (x, xs))

    def k(a, b):
        return 0.09 * np.exp(-0.5 * ((a[:, None] - b) / 0.6) ** 2)

    inverse = np.linalg.inv(k(x, x) + np.diag(0.05**2 + p.scale**2))
    found = calibration.predict(xs, [u], **values)
    np.testing.assert_allclose(found.mean, q.mean + k(xs, x) @ inverse @ (y - p.mean), rtol=1e-9)
    variance = 0.09 - np.diag(k(xs, x) @ inverse @ k(x, xs)) + q.scale**2
    np.testing.assert_allclose(found.variance, variance, rtol=1e-8)
    noisy = calibration.predict(xs, [u], noise=True, **values)
    np.testing.assert_allclose(noisy.variance, variance + 0.05**2, rtol=1e-8)
    plain = Calibration(emulator, x, y, [(0, 1)], False).predict(xs, [u], sigma=0.1, noise=True)
    np.testing.assert_allclose((plain.mean, plain.scale), (q.mean, np.hypot(q.scale, 0.1)), rtol=1e-12)


@THOROUGH
@pytest.mark.parametrize("student_t", [False, True])
def test_draws_of_reality(student_t, problem, rng):
    """Against the mean and variance of a mixture of predictions."""
    emulator, x, y = problem
    cov = gs.rbf.fix(amplitude=1.0) if student_t else gs.rbf
    calibration = Calibration(emulator, x, y, [(0, 1)], cov, student_t=student_t)
    values = dict(lengthscale=rng.uniform(0.5, 1.0, (3, 2, 1)), sigma=rng.uniform(0.02, 0.05, (3, 2)))
    values |= {} if student_t else dict(amplitude=rng.uniform(0.1, 0.3, (3, 2)))
    draws = CalibrationDraws(rng.uniform(0.3, 0.5, (3, 2, 1)), values, np.zeros((3, 2)), 0.5)
    found = calibration.draw([0.2, 1.2], draws, 600, 1, noise=True)
    each = [
        calibration.predict([0.2, 1.2], draws.u[k], noise=True, **{n: a[k] for n, a in values.items()})
        for k in np.ndindex(3, 2)
    ]
    mean = np.mean([p.mean for p in each], axis=0)
    sd = np.sqrt(np.mean([p.variance + (p.mean - mean) ** 2 for p in each], axis=0))
    assert found.shape == (600, 2)
    assert (np.abs(found.mean(0) - mean) < 5 * sd / np.sqrt(600)).all()
    np.testing.assert_allclose(found.std(0), sd, rtol=0.2)
    with pytest.raises(ValueError, match=r"u has shape \(1, 1\): it must be \(1,\)"):
        calibration.predict([0.2], [[0.4]], **{n: a[0, 0] for n, a in values.items()})


def test_walkers_find_a_normal_density(rng):
    root = np.array([[1.0, 0.0], [3.0, 0.1]])
    inverse = np.linalg.inv(root @ root.T)
    found = walk(lambda p: -0.5 * np.einsum("ni,ij,nj->n", p - 5, inverse, p - 5), rng.normal(5, 1, (100, 2)), 2000, rng)
    points = found.points[200::40].reshape(-1, 2)
    z = np.linalg.solve(root, (points - 5).T)
    for i in range(2):
        assert stats.kstest(z[i], stats.norm.cdf).pvalue > 1e-3
    assert found.acceptance > 0.5
    with pytest.raises(ValueError, match=r"the density at start\[0\]"):
        walk(lambda p: np.full(len(p), -np.inf), np.zeros((6, 1)), 3, rng)


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(bounds=[(0, 1), (0, 1)]), r"the emulator's points have 2 columns, and x and u 1 \+ 2"),
        (dict(bounds=[(1, 0)]), "the lower number of each pair first"),
        (dict(priors={"v": None}), "a prior for 'v'"),
        (dict(discrepancy=False, student_t=True), "no scale to integrate out"),
        (dict(x=[], y=[]), "no field data"),
    ],
)
def test_mistakes(options, message, problem):
    emulator, x, y = problem
    with pytest.raises(ValueError, match=message):
        Calibration(**dict(emulator=emulator, x=x, y=y, bounds=[(0, 1)]) | options)


def test_mistakes_of_calls(problem):
    emulator, x, y = problem
    calibration = Calibration(emulator, x, y, [(0, 1)])
    with pytest.raises(ValueError, match="give amplitude, lengthscale, too"):
        calibration([0.5], sigma=0.1)
    with pytest.raises(ValueError, match=r"u has shape \(2,\)"):
        calibration([0.5, 0.5], sigma=0.1)
    with pytest.raises(ValueError, match="and u has 3 sets"):
        calibration(np.zeros((3, 1)), amplitude=1.0, lengthscale=1.0, sigma=np.ones((2, 1)))
    with pytest.raises(ValueError, match=r"sigma has shape \(3,\), and u has 3 sets: it may be \(3, 1\)"):
        calibration(np.zeros((3, 1)), amplitude=1.0, lengthscale=1.0, sigma=np.ones(3))
    with pytest.raises(ValueError, match="the emulator returned shape"):
        Calibration(lambda p: p, x, y, [(0, 1)])([0.5], amplitude=1.0, lengthscale=1.0, sigma=0.1)
    with pytest.raises(TypeError, match="emulator must be"):
        Calibration(3.0, x, y, [(0, 1)])
