"""Marginal likelihoods beside lme4's: glmer.R has made the numbers."""

import numpy as np
import pytest

import gpustats as gs

HERD = np.repeat(np.arange(15), [4, 3, 4, 4, 4, 4, 4, 1, 4, 4, 4, 4, 4, 4, 4])
INCIDENCE = np.array([
    2, 3, 4, 0, 3, 1, 1, 8, 2, 0, 2, 2, 0, 2, 0, 5, 0, 0, 1, 3, 0, 0, 1, 8, 1, 3, 0, 12, 2, 0, 0, 0, 1, 1, 0, 2, 0, 5, 3, 1, 2,
    1, 0, 0, 1, 2, 0, 0, 11, 0, 0, 0, 1, 1, 1, 0.0,
])  # fmt: skip
SIZE = np.array([
    14, 12, 9, 5, 22, 18, 21, 22, 16, 16, 20, 10, 10, 9, 6, 18, 25, 24, 4, 17, 17, 18, 20, 16, 10, 9, 5, 34, 9, 6, 8, 6, 22, 22,
    18, 22, 25, 27, 22, 22, 10, 8, 6, 5, 21, 24, 19, 23, 19, 2, 3, 2, 19, 15, 15, 15.0,
])  # fmt: skip
PERIOD = np.concatenate([np.arange(3 if herd == 1 else 1 if herd == 7 else 4) for herd in range(15)])

N = np.arange(120)
G, H, X, Y = N % 7, N // 3 % 5, np.cos(N), np.floor(3 * np.abs(np.sin(1.7 * N)) + 2 * (N % 7 == 2))


@pytest.mark.parametrize(("tau", "deviance"), [(0.6, 184.127817720991), (0.0, 198.963923358739)])
def test_herds(tau, deviance):
    """Binomial counts with a scale of 0, too, where nothing is left to integrate."""
    design = np.eye(4)[PERIOD]
    design[:, 0] = 1
    rows = gs.Rows(
        """
        real herds(real ill, real cows, real linear, real tau, real u)
        { return binomial_logit_logpmf(ill, cows, linear + tau * u); }
        """,
        ill=INCIDENCE, cows=SIZE, u=gs.gather(HERD), linear=gs.dot(design, of="beta"),
    )  # fmt: skip
    marginal = gs.LaplaceMarginal(rows, {"u": gs.normal(0.0, 1.0)})
    assert marginal(beta=np.array([-1.4, -1, -1.1, -1.6]), tau=tau) == pytest.approx(-deviance / 2, abs=1e-7)


CROSSED = """
real crossed(real y, real x, real a, real b, const real *u, real v, real l11, real l21, real l22, real s, int dim)
{ return poisson_log_logpmf(y, a + l11 * u[0] + (b + l21 * u[0] + l22 * u[1]) * x + s * v); }
"""


@pytest.mark.parametrize(
    ("theta", "beta", "deviance"),
    [([0.5, -0.2, 0.3, 0.4], [0.2, 0.1], 358.995606905759), ([0.3, 0, 0, 0.2], [0.5, -0.1], 348.266679372469)],
)
def test_crossed(theta, beta, deviance):
    """Slopes of one grouping beside intercepts of another, also of a singular covariance."""
    rows = gs.Rows(CROSSED, y=Y, x=X, u=gs.gather(G), v=gs.gather(H))
    marginal = gs.LaplaceMarginal(rows, {"u": gs.normal(0.0, 1.0), "v": gs.normal(0.0, 1.0)}, start={"u": np.zeros((7, 2))})
    parameters = dict(zip(["l11", "l21", "l22", "s", "a", "b"], [*theta, *beta], strict=True))
    assert marginal(**parameters) == pytest.approx(-deviance / 2, abs=1e-7)


def test_fit():
    rows = gs.Rows(
        "real f(real y, real x, real a, real b, real u) { return poisson_log_logpmf(y, a + b * x + u); }",
        y=Y, x=X, u=gs.gather(G),
    )  # fmt: skip
    marginal = gs.LaplaceMarginal(rows, {"u": gs.normal(0.0, "tau")})
    fit = marginal.fit()
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(-171.434330150712, abs=1e-7)
    theirs = [0.312215034273172, 0.416719569255461, 0.00282775983093428]
    assert [fit["tau"], fit["a"], fit["b"]] == pytest.approx(theirs, abs=2e-4)
    assert fit.standard_errors["b"] == pytest.approx(0.101621918295994, rel=1e-3)
    modes = marginal.modes(**fit.parameters)["u"]
    assert modes == pytest.approx([
        -0.0909667118151097, -0.079510301849828, 0.648878668999974, -0.0796150546076979, -0.170464322597242,
        -0.0505338032273582, -0.10917621070702,
    ], abs=2e-4)  # fmt: skip
    spread = marginal.standard_errors(**fit.parameters)["u"]
    assert spread == pytest.approx([
        0.168569358442869, 0.171311319492095, 0.129529713731024, 0.171308618173837, 0.176756138586659, 0.16957164814693,
        0.173087316201514,
    ], rel=1e-3)  # fmt: skip
