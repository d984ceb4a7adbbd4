"""Time series, neighbouring areas and grids: log-densities and gradients are those of PyMC; what draws is PyMC's own."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy import stats
from thorough import THOROUGH, some

pm = pytest.importorskip("pymc")
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import QUICK  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402
from gpustats.compiler.graph.ops import LogDensity, LogLikelihood, Weighted  # noqa: E402

Y = np.random.default_rng(1).normal(size=30).cumsum()
PLANE = np.random.default_rng(2).normal(size=(12, 2)).cumsum(0)
SEVERAL = np.random.default_rng(3).normal(size=(3, 9))
COV = np.array([[2.0, 0.3], [0.3, 1.0]])
W = np.zeros((6, 6), int)
for _i, _j in ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (1, 4)):
    W[_i, _j] = W[_j, _i] = 1


def start(d):
    return d.MvNormal.dist(np.zeros(2), np.eye(2))


def sde(x, rate, level):
    return rate * (level - x), 0.5 + 0.1 * x**2


#: how many evaluations a model takes, and it: a function of `gpm` or `pm`, and of free numbers a (real) and s (positive)
MODELS = {
    "walk": (1, lambda d, a, s: d.GaussianRandomWalk("y", a, s, init_dist=d.Normal.dist(0.0, 3.0), observed=Y)),
    "free_walk": (2, lambda d, a, s: d.GaussianRandomWalk("y", a, s, init_dist=d.Laplace.dist(a, 3.0), steps=7)),
    "walk_of_another": (
        1, lambda d, a, s: d.RandomWalk(
            "y", init_dist=pm.Normal.dist(0.0, 3.0), innovation_dist=d.StudentT.dist(3.0, a, sigma=s), observed=Y
        ),
    ),
    "walks": (
        None, lambda d, a, s: d.GaussianRandomWalk(
            "y", a, s * np.array([1.0, 2.0, 0.5]), init_dist=d.Normal.dist(0.0, 3.0), observed=SEVERAL
        ),
    ),
    "vectors": (
        1, lambda d, a, s: d.MvGaussianRandomWalk("y", pt.stack([a, -a]), cov=COV * s, init_dist=start(d), observed=PLANE)
    ),
    "free_vectors": (
        2, lambda d, a, s: d.MvStudentTRandomWalk(
            "y", nu=4.5, mu=pt.stack([a, -a]), scale=COV * s, init_dist=start(d), shape=(5, 2)
        ),
    ),
    "ar": (
        1, lambda d, a, s: d.AR(
            "y", pt.stack([a, 0.2 * a, 0.1]), s, constant=True, init_dist=d.Normal.dist(0.0, 3.0), observed=Y
        ),
    ),
    "free_ar": (1, lambda d, a, s: d.AR("y", pt.stack([a, 0.2 * a]), tau=s, init_dist=pm.Normal.dist(0.0, 3.0), steps=6)),
    "ars": (
        None, lambda d, a, s: d.AR(
            "y", pt.stack([a, a / 2, -a])[:, None], s, init_dist=d.Normal.dist(0.0, 3.0), observed=SEVERAL
        ),
    ),
    "free_garch": (1, lambda d, a, s: d.GARCH11("y", s, 0.2 * s, 0.3 * pt.sigmoid(a), s, steps=5)),
    "sde": (
        1, lambda d, a, s: d.EulerMaruyama("y", 0.1, sde, (s, a), init_dist=d.Normal.dist(0.0, 3.0), observed=Y)
    ),
    "areas": (1, lambda d, a, s: d.CAR("y", a * np.ones(6), W, pt.tanh(a), s, observed=Y[:6])),
    "free_areas": (1, lambda d, a, s: d.CAR("y", a * np.ones(6), scipy.sparse.csr_matrix(W), 0.3, s)),
    "intrinsic": (1, lambda d, a, s: d.ICAR("y", W, s)),
}  # fmt: skip


@pytest.mark.parametrize("name", some(MODELS, 16))
def test_model(name):
    """Value and gradient at several points, the starting point, and the number of evaluations."""
    evaluations, make = MODELS[name]
    results = []
    for distributions in (gpm, pm):
        with pytensor.config.change_flags(cast_policy="numpy+floatX"), pm.Model() as model:
            make(distributions, pm.Normal("a"), pm.HalfNormal("s"))
        mode = Mode("py", "fast_run") if distributions is gpm else QUICK
        function = model.compile_fn([model.logp(), model.dlogp()], mode=mode)
        initial = model.initial_point()
        rng = np.random.default_rng(4)
        points = [{n: 0.7 * rng.normal(size=v.shape) for n, v in initial.items()} for _ in range(3)]
        results.append((initial, *(v for p in points for v in function(p))))
        if distributions is gpm and evaluations is not None:
            ops = [type(n.op) for n in function.f.maker.fgraph.apply_nodes]
            assert ops.count(LogLikelihood) == evaluations and LogDensity not in ops and Weighted not in ops
    (ours, *found), (theirs, *wanted) = results
    assert set(ours) == set(theirs)
    for n, value in theirs.items():
        np.testing.assert_allclose(ours[n], value, atol=1e-12)
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def test_draws():
    """Shapes, and moments that follow from the parameters."""
    zero = gpm.Normal.dist(0.0, 1e-9)
    made = {
        "walk": gpm.GaussianRandomWalk.dist(0.5, 2.0, init_dist=zero, steps=4, size=(4000,)),
        "vectors": gpm.MvGaussianRandomWalk.dist(np.array([0.5, -1.0]), cov=COV, init_dist=start(gpm), shape=(4000, 3, 2)),
        "ar": gpm.AR.dist(np.array([0.5]), 2.0, init_dist=zero, steps=3, shape=(4000, 4)),
        "garch": gpm.GARCH11.dist(1.0, 0.3, 0.2, 2.0, steps=2, size=(4000,)),
        "garches": gpm.GARCH11.dist([1.0, 100.0], 0.3, 0.2, 2.0, steps=2),
    }
    x = dict(zip(made, pytensor.function([], list(made.values()), mode=QUICK)(), strict=True))
    assert [v.shape for v in x.values()] == [(4000, 5), (4000, 3, 2), (4000, 4), (4000, 3), (2, 3)]
    k = np.arange(1, 5)
    np.testing.assert_allclose(x["walk"][:, 1:].mean(0), 0.5 * k, atol=0.3)
    np.testing.assert_allclose(x["walk"][:, 1:].var(0), 4.0 * k, rtol=0.12)
    assert stats.kstest(x["walk"][:, 4], stats.norm(2.0, 4.0).cdf).pvalue > 1e-4
    np.testing.assert_allclose(np.cov(np.diff(x["vectors"], axis=1)[:, 0].T), COV, atol=0.25)
    np.testing.assert_allclose(x["ar"][:, 1:].var(0), 4 * np.array([1, 1.25, 1.3125]), rtol=0.12)
    np.testing.assert_allclose((x["garch"] ** 2).mean(0), [4.0, 3.0, 2.5], rtol=0.12)


def test_lengths_by_dims_and_by_data_that_may_change():
    with pm.Model(coords={"day": np.arange(5)}) as model:
        data = pm.Data("data", Y[:5], dims="day")
        gpm.GaussianRandomWalk("walk", 0.1, 1.0, init_dist=gpm.Normal.dist(), dims="day")
        gpm.GARCH11("by_dims", 1.0, 0.1, 0.1, 1.0, dims="day", observed=data)
        gpm.GARCH11("by_steps", 1.0, 0.1, 0.1, 1.0, steps=4)
    assert model.initial_point()["walk"].shape == model.initial_point()["by_steps"].shape == (5,)
    found = model.compile_logp(mode=QUICK, sum=False)({"walk": Y[:5], "by_steps": Y[:5]})
    walk = stats.norm.logpdf(np.append(Y[0], np.diff(Y[:5]) - 0.1)).sum()
    garch = gs.garch11.logpdf(Y[:5], 1.0, 0.1, 0.1, 1.0)
    np.testing.assert_allclose([v.sum() for v in found], [walk, garch, garch], rtol=1e-12)


def test_an_adjacency_matrix_that_changes():
    """PyMC's own log-density."""
    neighbours = pt.dmatrix()
    found = [
        pm.logp(d.CAR.dist(np.zeros(6), neighbours, 0.3, 2.0), Y[:6]).sum().eval({neighbours: W.astype(float)}, mode=QUICK)
        for d in (gpm, pm)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_areas_several_at_once():
    rv, x = gpm.CAR.dist(np.arange(6.0), W, 0.3, 2.0, shape=(3, 6)), np.random.default_rng(5).normal(size=(3, 6))
    precision = 2.0 * (np.diag(W.sum(0)) - 0.3 * W)
    found, drawn = pytensor.function([], [pm.logp(rv, x), rv], mode=QUICK)()
    want = stats.multivariate_normal(np.arange(6.0), np.linalg.inv(precision)).logpdf(x)
    constant = 3 * np.log(2 * np.pi) - 0.5 * np.log(W.sum(0)).sum()  # PyMC leaves out what depends on no parameter
    np.testing.assert_allclose(found, want + constant, rtol=1e-10)
    assert drawn.shape == (3, 6)


@THOROUGH
def test_a_grid():
    """The log-density of a Kronecker product, with and without noise; derivatives also where eigenvalues are equal."""
    grid, noise, share = np.random.default_rng(6).normal(size=(2, 6)), pt.dscalar(), pt.dscalar()
    found = []
    for d in (gpm, pm):
        first, second = COV + share * np.eye(2), np.diag([1.0, 1.0, 2.0]) + 0.3 * share * (1 + np.eye(3) * [0, 1, 2])
        rv = d.KroneckerNormal.dist(0.1 * share * np.arange(6.0), covs=[first, second], sigma=noise)
        logp = pm.logp(rv, grid)
        function = pytensor.function([share, noise], [logp, *pt.grad(logp.sum(), [share, noise])], mode=QUICK)
        found.append([v for point in ((0.3, 0.5), (0.7, 0.0), (0.0, 0.4)) for v in function(*point)])
    for got, want in zip(found[0][:6], found[1][:6], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
    at = [
        stats.multivariate_normal(
            0.1 * h * np.arange(6.0),
            np.kron(COV + h * np.eye(2), np.diag([1.0, 1.0, 2.0]) + 0.3 * h * (1 + np.eye(3) * [0, 1, 2])) + 0.16 * np.eye(6),
        ).logpdf(grid) for h in (-1e-5, 0, 1e-5)
    ]  # fmt: skip
    np.testing.assert_allclose(found[0][6], at[1], rtol=1e-12)
    assert found[0][7] == pytest.approx((at[2] - at[0]).sum() / 2e-5, rel=1e-7)
    chols = [np.linalg.cholesky(COV), np.eye(3)]
    rv = gpm.KroneckerNormal.dist(np.zeros(6), chols=chols, shape=(5000, 6))
    drawn, value = pytensor.function([], [rv, pm.logp(rv, grid[0])], mode=QUICK)()
    np.testing.assert_allclose(np.cov(drawn.T), np.kron(COV, np.eye(3)), atol=0.2)
    assert value == pytest.approx(stats.multivariate_normal(np.zeros(6), np.kron(COV, np.eye(3))).logpdf(grid[0]), rel=1e-12)


def test_errors():
    """PyMC's."""
    normal, another = gpm.Normal.dist(), gpm.Normal.dist()
    for call, error, message in (
        (lambda d: d.RandomWalk.dist(init_dist=1.0, innovation_dist=normal, steps=3), TypeError, "init_dist must be a dist"),
        (lambda d: d.RandomWalk.dist(init_dist=normal, innovation_dist=another), ValueError, "Must specify steps or shape"),
        (lambda d: d.GARCH11.dist(1.0, 0.1, 0.1, 1.0), ValueError, "Must specify steps or shape"),
        (lambda d: d.MvGaussianRandomWalk.dist(np.zeros(2), init_dist=start(d), steps=3), ValueError, "Incompatible param"),
        (lambda d: d.AR.dist([0.1], sigma=1.0, tau=1.0, steps=3), ValueError, "both tau and sigma"),
        (lambda d: d.ICAR.dist(W[:3]), ValueError, "W must be a square matrix"),
        (lambda d: d.EulerMaruyama.dist(0.1, sde, (1.0, 0.0), init_dist=1.0, steps=2), ValueError, "Init dist must be"),
    ):
        for distributions in (gpm, pm):
            with warnings.catch_warnings(), pytest.raises(error, match=message):
                warnings.simplefilter("ignore")
                call(distributions)
    for distributions in (gpm, pm):
        with pytest.warns(UserWarning, match="Initial distribution not specified"):
            distributions.GaussianRandomWalk.dist(steps=3)
        rv = distributions.CAR.dist(np.zeros(6), W, 1.5, 2.0)
        with pytest.raises(pm.logprob.utils.ParameterValueError):
            pm.logp(rv, Y[:6]).eval(mode=QUICK)
