"""Logistic regression on many observations: likelihood and gradient in one reading of the data, which stay on the device.

Data and model are those of section 4.1 of Češnovar et al. (GPU-based parallel computation support for Stan): of `--k` standard
normal variables the first two decide, with the log-odds 3 x₁ - 2 x₂ + 1, the others are noise, and priors are flat. `--plain`
leaves the likelihood to PyMC, for comparison.

    pip install 'gpustats[cpu,pymc,demo]'
    python examples/logistic_regression.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import arviz as az
import matplotlib
import numpy as np
import pymc as pm
from matplotlib.figure import Figure
from scipy import special

import gpustats as gs
import gpustats.pymc as gpm

INTERCEPT, SLOPES = 1.0, (3.0, -2.0)


def toy_data(n: int, k: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X (n, k), y (n,), and the coefficients (k,) that made them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k))
    beta = np.zeros(k)
    beta[: len(SLOPES)] = SLOPES[:k]
    y = rng.random(n) < special.expit(X @ beta + INTERCEPT)
    return X, y.astype(int), beta


def model(X: np.ndarray, y: np.ndarray, on_device: bool = True) -> pm.Model:
    """The model with its likelihood on the device, or, for comparison, PyMC's own."""
    with pm.Model() as made:
        beta, alpha = pm.Flat("beta", shape=X.shape[1]), pm.Flat("alpha")
        if on_device:
            gpm.GLM("y", gs.bernoulli_logit, X=X, beta=beta, alpha=alpha, observed=y)
        else:
            pm.Bernoulli("y", logit_p=X @ beta + alpha, observed=y)
    return made


def picture(fit, beta: np.ndarray) -> Figure:
    """The intercept and the coefficients with the middle 95% of their posteriors, about the truth."""
    draws = {name: fit.posterior[name].stack(draw_=("chain", "draw")) for name in ("alpha", "beta")}
    values = np.vstack([draws["alpha"].to_numpy(), draws["beta"].transpose(..., "draw_").to_numpy()])
    truth = np.append(INTERCEPT, beta)
    low, high = np.quantile(values, [0.025, 0.975], axis=1) - truth
    covered = np.mean((low <= 0) & (high >= 0))
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        axes = figure.subplots()
        axes.axhline(0, color="#8d99ae", linewidth=1)
        axes.vlines(range(len(truth)), low, high, color="#3b7dd8")
        axes.plot(values.mean(1) - truth, "o", color="#12345b", markersize=4)
        axes.set_xlabel("0: the intercept; 1, 2, …: coefficients")
        axes.set_ylabel("posterior minus truth")
        axes.set_title(f"95% intervals, {covered:.0%} of which hold the truth")
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=20_000, help="observations (default: 20000)")
    parser.add_argument("--k", type=int, default=20, help="variables, two at least (default: 20)")
    parser.add_argument("--draws", type=int, default=500, help="of each of 2 chains (default: 500)")
    parser.add_argument("--plain", action="store_true", help="with PyMC's likelihood")
    parser.add_argument("--out", type=Path, default=Path("logistic_regression.png"))
    args = parser.parse_args(argv)
    if args.k < len(SLOPES):
        parser.error(f"--k must be {len(SLOPES)} at least")

    X, y, beta = toy_data(args.n, args.k)
    start = time.perf_counter()
    with model(X, y, on_device=not args.plain):
        fit = pm.sample(args.draws, tune=args.draws, chains=2, random_seed=1)
    print(f"{2 * args.draws} draws from {args.n:,} observations of {args.k} variables: {time.perf_counter() - start:.1f} s")
    print(az.summary(fit).to_string())
    picture(fit, beta).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
