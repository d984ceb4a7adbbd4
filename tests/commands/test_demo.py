"""The demo, on a coarse grid."""

import numpy as np
import pytest
from thorough import THOROUGH

import gpustats as gs
from gpustats.commands import demo
from gpustats.commands.cli import main

pytest.importorskip("matplotlib")
pytest.importorskip("statsmodels")


def test_demo_agrees_with_scipy_and_is_centred_on_the_data(tmp_path, capsys):
    assert main(["demo", "--points", "24", "--draws", "0", "--out", str(tmp_path / "new" / "folder")]) == 0
    printed = capsys.readouterr().out
    assert "doctor_visits_logpmf" in printed
    assert "times as fast" in printed
    assert (tmp_path / "new" / "folder" / "posterior.png").stat().st_size > 10_000


@THOROUGH
def test_posterior_of_the_visits():
    x = demo.visits()
    assert (len(x), x.min(), x.max()) == (20190, 0, 77)
    lik = gs.Likelihood(gs.register(demo.SNIPPET, replace=True), x)
    posterior = demo.evaluate(lik, demo.locate(lik, x), 40)
    mean, intervals = posterior.mean(), posterior.interval()
    assert mean[0] == pytest.approx(x.mean(), rel=2e-3)
    assert all(low < m < high for m, (low, high) in zip(mean, intervals, strict=True))
    assert posterior.weights[[0, -1]].sum() + posterior.weights[:, [0, -1]].sum() < 1e-3
    expected = demo.with_scipy(x, posterior.mu[::9], posterior.alpha[::9])
    np.testing.assert_allclose(posterior.loglik[::9, ::9].diagonal(), expected, rtol=1e-12)


def test_margins_mean_and_interval():
    mu, alpha = np.linspace(2, 14, 241), np.linspace(0, 4, 101)
    logp = -0.5 * (mu[:, None] - 8) ** 2 - 0.5 * ((alpha - 2) / 0.4) ** 2
    posterior = demo.Posterior(mu, alpha, logp, logp)
    np.testing.assert_allclose(posterior.mean(), [8, 2], atol=1e-9)
    np.testing.assert_allclose(posterior.interval(), [[8 - 1.96, 8 + 1.96], [2 - 0.784, 2 + 0.784]], atol=2e-3)
    np.testing.assert_allclose(posterior.window(4), [(4, 12), (0.4, 3.6)], atol=1e-3)


def test_too_few_points_is_an_error(tmp_path, capsys):
    assert main(["demo", "--points", "3", "--out", str(tmp_path)]) == 1
    assert "--points" in capsys.readouterr().err


@THOROUGH
@pytest.mark.optimised
def test_the_model_agrees_with_maximum_likelihood(tmp_path, capsys):
    """statsmodels' estimates of the same regression, whose priors are weak for 20,190 observations."""
    pytest.importorskip("pymc")
    from rich.console import Console
    from statsmodels.discrete.discrete_model import NegativeBinomial

    from gpustats.commands import demo_data, demo_model

    result = demo_model.run(Console(), tmp_path, draws=60)
    printed = capsys.readouterr().out
    assert "beta[disea]" in printed and "visits: 20190 rows" in printed and "computed on" in printed
    for name in ("trace", "predictive"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    x = demo_data.data_frame()[demo_model.COVARIATES].to_numpy(float)
    x = np.column_stack([np.ones(len(x)), (x - x.mean(0)) / x.std(0)])
    mle = NegativeBinomial(demo.visits(), x).fit(disp=0)
    posterior = np.r_[result.posterior["intercept"].mean(), result.posterior["beta"].mean(("chain", "draw"))]
    assert np.abs((posterior - mle.params[:-1]) / mle.bse[:-1]).max() < 1
    assert float(result.posterior["alpha"].mean()) == pytest.approx(1 / mle.params[-1], rel=0.02)
