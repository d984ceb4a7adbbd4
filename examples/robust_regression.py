"""Robust regression with a density of one's own: skewed, with heavy tails, in ten lines of C.

Engel's households (1857): expenditure on food by income. A few rich households lie far off, and with a normal likelihood they
turn the line for all. Here residuals have a Student t distribution with a scale of its own on either side (Fernández & Steel,
1998), so that the line follows the many.

    pip install 'gpustats[cpu,pymc,demo]'
    python examples/robust_regression.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import arviz as az
import matplotlib
import numpy as np
import pymc as pm
from matplotlib.figure import Figure
from statsmodels.datasets import engel

import gpustats as gs
import gpustats.pymc as gpm

SKEW_T = """\
// skew_t: Student's t distribution, stretched by gamma above the mode and by 1 / gamma below
// x: real    nu: positive, degrees of freedom    mu: real, mode    sigma: positive, scale    gamma: positive, skewness
// source: Fernández & Steel (1998), On Bayesian modeling of fat tails and skewness, eq. 1
__device__ real skew_t_logpdf(real x, real nu, real mu, real sigma, real gamma)
{
    real z = (x - mu) * (1 / sigma);
    real stretched = z * (z < 0 ? gamma : 1 / gamma);
    return LOG_2 - log(gamma + 1 / gamma) - log(sigma) + student_t_logpdf(stretched, nu, 0, 1);
}
"""


def draws(rng: np.random.Generator, nu, mu, sigma, gamma, size) -> np.ndarray:
    """Random numbers of the density, for predictions."""
    above = rng.random(size) < gamma**2 / (1 + gamma**2)
    return mu + sigma * np.abs(rng.standard_t(nu, size)) * np.where(above, gamma, -1 / gamma)


def model(income: np.ndarray, food: np.ndarray, robust: bool) -> pm.Model:
    """Food expenditure as a straight line in income, both in 1,000 francs."""
    SkewT = gpm.distribution(gs.register(SKEW_T, replace=True), random=draws)
    with pm.Model() as made:
        intercept, slope = pm.Normal("intercept", 0, 1), pm.Normal("slope", 0.5, 1)
        mu, sigma = intercept + slope * income, pm.HalfNormal("sigma", 0.5)
        if robust:
            nu, gamma = pm.Gamma("nu", 2, 0.1), pm.LogNormal("gamma", 0, 0.5)
            SkewT("food", nu, mu, sigma, gamma, observed=food)
        else:
            gpm.Normal("food", mu, sigma, observed=food)
    return made


def picture(income: np.ndarray, food: np.ndarray, fits: dict) -> Figure:
    """The data with the line and the range of predictions of each fit."""
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(7.5, 4.8), layout="constrained")
        axes = figure.subplots()
        axes.scatter(income, food, s=14, color="#8d99ae", label=f"{len(food)} households")
        order = np.argsort(income)
        for (name, data), color in zip(fits.items(), ("#e4572e", "#3b7dd8"), strict=True):
            predicted = data.posterior_predictive["food"].stack(draw_=("chain", "draw")).to_numpy()
            low, high = np.quantile(predicted[order], [0.025, 0.975], axis=-1)
            posterior = data.posterior.mean(("chain", "draw"))
            line = float(posterior["intercept"]) + float(posterior["slope"]) * income[order]
            axes.plot(income[order], line, color=color, label=name)
            axes.fill_between(income[order], low, high, color=color, alpha=0.15, linewidth=0)
        axes.set_xlabel("income / 1,000 francs")
        axes.set_ylabel("food / 1,000 francs")
        axes.set_title("Line and 95% of the predictions")
        axes.legend(frameon=False)
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000, help="of each of 2 chains (default: 1000)")
    parser.add_argument("--out", type=Path, default=Path("robust_regression.png"))
    args = parser.parse_args(argv)

    data = engel.load_pandas().data / 1000
    income, food = data["income"].to_numpy(), data["foodexp"].to_numpy()
    fits = {}
    for name, robust in (("skewed Student t", True), ("normal", False)):
        with model(income, food, robust):
            fit = pm.sample(args.draws, tune=args.draws, chains=2, random_seed=1)
            pm.sample_posterior_predictive(fit, extend_inferencedata=True, random_seed=1, progressbar=False)
            pm.compute_log_likelihood(fit, progressbar=False)
        print(f"\n{name}\n{az.summary(fit).to_string()}\n\n{az.loo(fit)}")
        fits[name] = fit
    picture(income, food, fits).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
