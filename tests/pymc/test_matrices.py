"""Distributions of matrices under PyMC's names: against gpustats' own of NumPy arrays, and PyMC's."""

import numpy as np
import pytest
from matrices import positive_definite
from scipy import stats
from thorough import THOROUGH, some

pm = pytest.importorskip("pymc")
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import QUICK  # noqa: E402
from pymc.distributions.distribution import support_point  # noqa: E402
from pymc.logprob.utils import ParameterValueError  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402
from gpustats.pymc import matrices  # noqa: E402
from gpustats.pymc.matrix_transforms import Correlations, PositiveDefinite  # noqa: E402

PYMC_5 = pytest.mark.skipif(gpm.LKJCorr is pm.LKJCorr, reason="PyMC 6 has its own")


def ours(name):
    """Whether gpm does not hand on PyMC's class."""
    return getattr(gpm, name) is not getattr(pm, name, None)


def symmetric(a):
    """A derivative in a symmetric matrix, half of it for a_ij and half for a_ji."""
    return (a + a.swapaxes(-1, -2)) / 2


#: name -> parameters by the shape of a stack, and which arguments are symmetric
CASES = {
    "Wishart": (lambda rng, *s: (rng.uniform(4, 9, s), positive_definite(rng, *s, 3, 3)), (0, 2)),
    "InverseWishart": (lambda rng, *s: (rng.uniform(4, 9, s), positive_definite(rng, *s, 3, 3)), (0, 2)),
    "MatrixNormal": (
        lambda rng, *s: (rng.normal(size=(*s, 2, 3)), positive_definite(rng, *s, 2, 2), positive_definite(rng, *s, 3, 3)),
        (2, 3),
    ),
}
NUMPY = {"Wishart": gs.wishart, "InverseWishart": gs.inverse_wishart, "MatrixNormal": gs.matrix_normal}


@pytest.mark.parametrize("stack", some([((5,),), ((),), ((1,),)]), ids=str)
@pytest.mark.parametrize("name", some(CASES, 4))
def test_log_density_and_gradient(name, stack, rng, monkeypatch):
    """Of one matrix, of four with parameters in common, and of stacks with parameters each; small and as if it were large."""
    if not ours(name):
        pytest.skip("PyMC 6 has its own")
    make, places = CASES[name]
    values = make(rng, *stack)
    numpy, observed = NUMPY[name], make(rng, *(stack or (4,) * (name == "MatrixNormal")))[-1 if name != "MatrixNormal" else 0]
    want, slopes = numpy.loglik_and_grad(observed, *values, wrt=("x", *numpy.parameters))
    for large in (200, 1) if not stack else (200,):
        monkeypatch.setattr(matrices, "ROWS_OF_LARGE_MATRIX", large)
        arguments = [pt.tensor(shape=v.shape) for v in (observed, *values)]
        x, *parameters = arguments
        dist = getattr(gpm, name).dist
        rv = dist(parameters[0], rowcov=parameters[1], colcov=parameters[2]) if len(values) == 3 else dist(*parameters)
        value = pm.logp(rv, x).sum()
        found, *gradient = pytensor.function(arguments, [value, *pt.grad(value, arguments)], mode=QUICK)(observed, *values)
        assert found == pytest.approx(np.sum(want), rel=1e-12)
        for i, (got, name_of) in enumerate(zip(gradient, ("x", *numpy.parameters), strict=True)):
            got = symmetric(got) if i in places else got
            np.testing.assert_allclose(got, slopes[name_of], rtol=1e-9, atol=1e-9)


@PYMC_5
@pytest.mark.parametrize("n", some([2, 3, 5], 2))
def test_correlations(n, rng):
    """Many at once, with an eta that varies; PyMC's densities of one differ by a constant."""
    corr, factor = gs.lkj_corr.rvs(2.5, n=n, size=4, rng=1), gs.lkj_cholesky_cov.rvs(2.5, 1.3, n=n, size=4, rng=2)
    eta = pt.dscalar()

    def logp(d, name, x, eta, **kwargs):
        made = getattr(d, name).dist(n=n, eta=eta, **kwargs)
        return pm.logp(made, x)

    for name, x, numpy, more, kwargs in (
        ("LKJCorr", corr, gs.lkj_corr, (), {}),
        ("LKJCholeskyCov", factor, gs.lkj_cholesky_cov, (1.3,), {"sd_dist": pm.Exponential.dist(1.3), "compute_corr": False}),
    ):
        packed = x[(..., *(np.triu_indices(n, 1) if name == "LKJCorr" else np.tril_indices(n)))]
        value = logp(gpm, name, packed, eta, **kwargs)
        got, slope = pytensor.function([eta], [value, pt.grad(value.sum(), eta)], mode=QUICK)(2.5)
        want, slopes = numpy.loglik_and_grad(x, 2.5, *more, wrt=("x", "eta"))
        np.testing.assert_allclose(got, numpy.logpdf(x, 2.5, *more), rtol=1e-11)
        assert got.sum() == pytest.approx(want, rel=1e-11) and slope == pytest.approx(slopes["eta"], rel=1e-10)
        theirs = [logp(pm, name, packed[i], 2.5, **kwargs).eval(mode=QUICK) for i in range(2)]
        np.testing.assert_allclose(theirs - got[:2], theirs[0] - got[0], rtol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("kind", [Correlations, PositiveDefinite])
def test_transform(kind, n, rng):
    """There and back, also far out, and the determinant of the derivatives; of stacks, too."""
    if (kind, n) == (Correlations, 1):
        pytest.skip("there is nothing to transform")
    made, length = kind(n), n * (n - 1) // 2 if kind is Correlations else n * (n + 1) // 2
    y = pt.dvector()
    x = made.backward(y)
    free = x if kind is Correlations else x[np.tril_indices(n)]
    logdet = pt.linalg.slogdet(pytensor.gradient.jacobian(free, y))[1]
    function = pytensor.function([y], [x, made.forward(x), made.log_jac_det(y), logdet], mode=QUICK)
    at = rng.normal(size=length)
    value, back, got, want = function(at)
    np.testing.assert_allclose(back, at, atol=1e-12)
    assert got == pytest.approx(want, abs=1e-12)
    several = made.backward(pt.constant(np.stack([at, -at]))).eval(mode=QUICK)
    np.testing.assert_allclose(several[0], value, rtol=1e-14)
    far = function(np.full(length, -2.0))
    np.testing.assert_allclose(far[1], -2.0, rtol=1e-7)


SCALE = np.array([[2.0, 0.5], [0.5, 1.0]])


@THOROUGH
@pytest.mark.parametrize(
    "make, transform, mean_square",
    [
        pytest.param(lambda: gpm.LKJCorr.dist(n=4, eta=1.5), Correlations(4), np.full(6, 1 / 6), marks=PYMC_5),
        (lambda: gpm.Wishart.dist(7.5, SCALE), PositiveDefinite(2),
         7.5 * (SCALE**2 + np.outer(np.diag(SCALE), np.diag(SCALE))) + (7.5 * SCALE) ** 2),
    ],
)  # fmt: skip
def test_densities_of_what_a_sampler_moves(make, transform, mean_square, rng):
    """All numbers are those of a matrix, and with the transform the density of these integrates to 1: Student's draws tell."""
    rv = make()
    center = transform.forward(support_point(rv)).eval(mode=QUICK)
    y = center + 0.6 * rng.standard_t(5, size=(60_000, len(center)))
    log_drawn = stats.t(5, center, 0.6).logpdf(y).sum(-1)
    at = pt.constant(y)
    x = transform.backward(at)
    found, log_density = pytensor.function([], [x, pm.logp(rv, x) + transform.log_jac_det(at)], mode=QUICK)()
    weight = np.exp(log_density - log_drawn)
    assert np.isfinite(log_density).all()
    assert weight.mean() == pytest.approx(1, abs=5 * weight.std() / np.sqrt(len(y))) and weight.std() < 5
    squares = np.average(found**2, axis=0, weights=weight)
    np.testing.assert_allclose(squares, mean_square, rtol=0.15)


@pytest.mark.slow
@PYMC_5
def test_a_sampler_stays_inside():
    with pm.Model() as model:
        gpm.Wishart("cov", 7.5, SCALE)
        gpm.LKJCorr("corr", n=4, eta=1.5)
    found = pm.sample(600, tune=400, chains=1, cores=1, model=model, random_seed=3, progressbar=False)
    assert not found.sample_stats.diverging.values.any()
    np.testing.assert_allclose(found.posterior["cov"].values[0].mean(0), 7.5 * SCALE, rtol=0.2)
    np.testing.assert_allclose(found.posterior["corr"].values[0].var(0), 1 / 6, rtol=0.3)


def test_draws_and_starting_points():
    scale = np.array([[2.0, 0.5], [0.5, 1.0]])
    nu = np.array([3.5, 60.0])
    for name, mean in (("Wishart", nu[:, None, None] * scale), ("InverseWishart", None)):
        rv = getattr(gpm, name).dist(nu, scale, size=(4000, 2))
        draws = pm.draw(rv, random_seed=1, mode=QUICK)
        assert draws.shape == (4000, 2, 2, 2) == tuple(rv.shape.eval(mode=QUICK))
        assert np.linalg.eigvalsh(draws).min() > 0
        np.testing.assert_allclose(np.linalg.inv(draws).mean(0)[1] if mean is None else draws.mean(0)[1],
                                   60 * np.linalg.inv(scale) if mean is None else mean[1], rtol=0.05)  # fmt: skip
        point = support_point(rv).eval(mode=QUICK)
        assert point.shape == draws.shape and np.linalg.eigvalsh(point).min() > 0
    table = gpm.MatrixNormal.dist(np.ones((3, 1, 2)), rowcov=np.eye(1), colcov=scale, size=(2000, 3))
    draws = pm.draw(table, random_seed=1, mode=QUICK)
    assert draws.shape == (2000, 3, 1, 2)
    assert stats.kstest(draws[:, 1, 0, 0], stats.norm(1, np.sqrt(2)).cdf).pvalue > 1e-4


@THOROUGH
@PYMC_5
def test_factors_of_many_covariances():
    """compute_corr gives those of each, where PyMC's gives them of one only."""
    factor, corr, stds = gpm.LKJCholeskyCov.dist(2.0, 3, pm.Exponential.dist(1.0), size=(5,))
    factor, corr, stds = pm.draw([factor, corr, stds], random_seed=1, mode=QUICK)
    assert factor.shape == corr.shape == (5, 3, 3) and stds.shape == (5, 3)
    cov = factor @ factor.swapaxes(-1, -2)
    np.testing.assert_allclose(cov, corr * stds[:, :, None] * stds[:, None, :], rtol=1e-12)
    with pm.Model() as model:
        gpm.LKJCholeskyCov("many", 2.0, 3, gpm.HalfNormal.dist(1.0), shape=(5, 6))
        gpm.LKJCholeskyCov("packed", 2.0, 2, pm.LogNormal.dist(np.zeros(2)), compute_corr=False)
    assert {v.name for v in model.deterministics} == {"many_corr", "many_stds"}
    assert np.isfinite(model.compile_dlogp(mode=QUICK)(model.initial_point())).all()


@THOROUGH
def test_outside():
    """-inf where an observation is no such matrix, an error where a parameter is none."""
    ok, indefinite, skew = np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[1.0, 0.5], [0.4, 1.0]])

    def logp(rv, x):
        return pm.logp(rv, x).eval(mode=QUICK)

    for dist in (getattr(gpm, name).dist for name in ("Wishart", "InverseWishart") if ours(name)):
        assert np.isneginf(logp(dist(3.0, ok), indefinite)) and np.isneginf(logp(dist(3.0, ok), skew))
        assert np.isneginf(logp(dist(3.0, ok), np.stack([ok, indefinite]))).tolist() == [False, True]
        for nu, matrix in ((1.0, ok), (3.0, indefinite)):
            with pytest.raises(ParameterValueError, match="nu > n - 1"):
                logp(dist(nu, matrix), ok)
    with pytest.raises(ParameterValueError, match="rowcov and colcov symmetric"):
        logp(gpm.MatrixNormal.dist(0.0, rowcov=indefinite, colcov=ok), ok)
    with pytest.raises(ValueError, match="rowcov must be two dimensional, or have leading axes; it has 1"):
        gpm.MatrixNormal.dist(0.0, rowcov=np.ones(2), colcov=ok)
    if gpm.LKJCorr is not pm.LKJCorr:
        assert np.isneginf(logp(gpm.LKJCorr.dist(n=3, eta=2.0), np.array([0.9, 0.9, -0.9])))
        with pytest.raises(ParameterValueError, match="eta > 0"):
            logp(gpm.LKJCorr.dist(n=3, eta=-1.0), np.zeros(3))
