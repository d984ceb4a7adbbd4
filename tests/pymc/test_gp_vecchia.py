"""gpustats.pymc.GPVecchia against GPMarginal, which it equals given all points before each."""

import cloudpickle
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from modes import AS_WRITTEN, QUICK
from thorough import THOROUGH

import gpustats as gs
import gpustats.pymc as gpm

rng = np.random.default_rng(5)
N = 30
X, Y, MEANS, SIGMAS = rng.normal(size=(N, 2)), rng.normal(size=N), rng.normal(size=N), rng.uniform(0.3, 0.6, N)


def model(by_row, distribution, **options):
    with pm.Model() as made:
        amplitude, lengthscale = pm.HalfNormal("amplitude"), pm.InverseGamma("lengthscale", 5, 5, shape=2)
        sigma, mean = pm.HalfNormal("sigma"), pm.Normal("mean")
        noise = (sigma * SIGMAS, mean * MEANS) if by_row else (sigma, mean)
        lengthscale = lengthscale if by_row else lengthscale[0]
        distribution("y", gs.matern32, X, *noise, amplitude=amplitude, lengthscale=lengthscale, observed=Y, **options)
    return made


@THOROUGH
@pytest.mark.parametrize("by_row", [False, True])
def test_equals_the_exact_density(by_row):
    ours, exact = model(by_row, gpm.GPVecchia, neighbours=N - 1), model(by_row, gpm.GPMarginal)
    points = [{n: v + rng.normal(size=np.shape(v)) / 3 for n, v in ours.initial_point().items()} for _ in range(3)]
    (value, gradient), (want, slopes) = (m.compile_fn([m.logp(), m.dlogp()], mode=QUICK)(points[0]) for m in (ours, exact))
    np.testing.assert_allclose(value, want, rtol=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10)
    if by_row:
        many = [gpm.batched(m).logp_dlogp({n: np.stack([p[n] for p in points]) for n in points[0]}) for m in (ours, exact)]
        np.testing.assert_allclose(many[0][0], many[1][0], rtol=1e-12)
        for name, slope in many[1][1].items():
            np.testing.assert_allclose(many[0][1][name], slope, rtol=1e-9)


def test_derivatives_in_random_observations():
    """Also where the mean is one number, and of several sets with weights."""

    def logp(y, mean, amplitude):
        rv = gpm.GPVecchia.dist(gs.rbf, X[:6], 0.4, mean, amplitude=amplitude, lengthscale=1.1, neighbours=3, ordering="random")
        return pm.logp(rv, y)

    for y in (Y[:6], np.stack([Y[:6], Y[6:12]])):
        weight = np.array([1.0, -2.0])[: y.ndim] if y.ndim > 1 else 1.0
        at = [y, np.array(0.2), np.array(1.2)]
        pytensor.gradient.verify_grad(
            lambda *a, weight=weight: (logp(*a) * weight).sum(), at, rng=np.random.default_rng(1), mode=AS_WRITTEN
        )


def test_invalid_parameters():
    amplitude, sigma = inputs = pt.dscalars("amplitude", "sigma")
    x = np.repeat(X, 2, axis=0)
    rv = gpm.GPVecchia.dist(gs.rbf, x, sigma, amplitude=amplitude, lengthscale=1.0, neighbours=4)
    value = pm.logp(rv, np.repeat(Y, 2))
    function = pm.compile(inputs, [value, *pt.grad(value, inputs)])
    assert np.isfinite(function(1.0, 0.1)).all()
    for point in ((-1.0, 0.1), (1.0, -0.1), (1.0, 0.0), (np.nan, 0.1)):
        assert function(*point) == [-np.inf, 0, 0]


@THOROUGH
def test_nuts():
    """A posterior like the exact one's, from the same draws of the sampler while nothing differs but rounding."""
    draws = []
    for made in (model(False, gpm.GPVecchia, neighbours=N - 1), model(False, gpm.GPMarginal)):
        options = dict(cores=1, chains=1, random_seed=1, progressbar=False, compute_convergence_checks=False)
        with made:
            draws.append(pm.sample(20, tune=30, **options).posterior["sigma"].values.ravel())
    np.testing.assert_allclose(draws[0][:5], draws[1][:5], rtol=1e-4)


def test_formulas_travel_and_differ():
    kept = dict(amplitude=1.0, lengthscale=1.0)
    order = np.arange(N)[::-1]
    makes = [dict(), dict(neighbours=5), dict(ordering="random"), dict(ordering=order), dict(scales=[1.0, 2.0])]
    ops = [gpm.GPVecchia.dist(gs.rbf, X, 0.4, **kept, **options).owner.op for options in makes]
    assert len(set(ops)) == len(ops)
    formula = cloudpickle.loads(cloudpickle.dumps(ops[3].formula))
    assert formula == ops[3].formula and (formula.ordering == order).all()


def test_errors():
    kept = dict(amplitude=1.0, lengthscale=1.0)
    with pytest.raises(ValueError, match="x is random, or shared.*take gpm.GPMarginal"):
        gpm.GPVecchia.dist(gs.rbf, pt.dmatrix(), 0.4, **kept)
    with pytest.raises(ValueError, match="rename it"):
        gpm.GPVecchia.dist(gs.rbf.rename(amplitude="scales"), X, 0.4, scales=1.0, lengthscale=1.0)
    with pytest.raises(ValueError, match="y has 5 elements, and x 30 rows"):
        pm.logp(gpm.GPVecchia.dist(gs.rbf, X, 0.4, **kept), Y[:5]).eval(mode=QUICK)
