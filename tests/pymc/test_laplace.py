"""Marginal likelihoods in PyMC models."""

import cloudpickle
import numpy as np
import pymc as pm
import pytensor
import pytest
from modes import QUICK

import gpustats as gs
import gpustats.pymc as gpm

Y, GROUP = np.array([3.0, 5.0, 0.0, 1.0, 2.0]), np.array([0, 0, 1, 1, 2])
ROWS = gs.Rows(
    "real counts(real y, real tau, real e, real u) { return poisson_log_logpmf(y, e + tau * u); }",
    y=Y, u=gs.gather(GROUP), e=gs.dot(np.column_stack([np.ones(5), [0.1, -0.2, 0.3, 0.0, 0.5]]), of="beta"),
)  # fmt: skip
MARGINAL = gs.LaplaceMarginal(ROWS, {"u": gs.normal(0.0, 1.0)})
BETA, TAU = np.array([0.4, -0.3]), 0.7


def model():
    with pm.Model() as made:
        beta, tau = pm.Normal("beta", shape=2), pm.HalfNormal("tau")
        pm.Potential("counts", gpm.laplace_marginal(MARGINAL, beta=beta, tau=tau))
    return made


@pytest.mark.parametrize("mode", [QUICK, *(pytest.param(m, marks=pytest.mark.thorough) for m in ("NUMBA", "JAX"))])
def test_value_and_gradient(mode):
    """A model's density and gradient are those of priors and of the marginal likelihood."""
    if mode != QUICK:
        pytest.importorskip(mode.lower())
    made, point = model(), {"beta": BETA, "tau_log__": np.log(TAU)}
    alone = pm.Model()
    with alone:
        pm.Normal("beta", shape=2), pm.HalfNormal("tau")
    (logp, dlogp), (prior, slopes) = (m.compile_fn([m.logp(), m.dlogp()], mode=mode)(point) for m in (made, alone))
    value, own = MARGINAL.value_and_grad(beta=BETA, tau=TAU)
    assert logp - prior == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(np.asarray(dlogp) - slopes, [*own["beta"], TAU * own["tau"]], rtol=1e-11)


def test_graphs_travel():
    function = cloudpickle.loads(cloudpickle.dumps(model())).compile_logp(mode=QUICK)
    point = {"beta": BETA, "tau_log__": np.log(TAU)}
    assert function(point) == pytest.approx(model().compile_logp(mode=QUICK)(point), rel=1e-13)


def test_there_is_no_mode():
    """Where there is no value, a sampler rejects the step."""
    found = gpm.laplace_marginal(MARGINAL, beta=BETA, tau=np.nan)
    assert pytensor.function([], found, mode=QUICK)() == -np.inf


def test_bad_input():
    with pytest.raises(ValueError, match="laplace_marginal needs tau"):
        gpm.laplace_marginal(MARGINAL, beta=BETA)
    with pytest.raises(ValueError, match="beta has 0 dimensions, and must have 1"):
        gpm.laplace_marginal(MARGINAL, beta=1.0, tau=TAU)
    with pytest.raises(TypeError, match="marginal must be a gs.LaplaceMarginal, not Rows"):
        gpm.laplace_marginal(ROWS, beta=BETA, tau=TAU)
