"""A hierarchical model in which the likelihood alone runs on the device.

Which of 6,366 married women had an affair (Fair, 1978), by a logistic regression with an intercept of its own for each pair of
her and her husband's occupation. Priors and the linear predictor are ordinary PyMC; the likelihood, where the data are, is a
gpustats density. It takes one log-odds for each woman and returns its gradient with respect to each of them, which PyTensor
carries back through the model. `--copies` repeats the data, to see what that gains.

    pip install 'gpustats[cpu,pymc,demo]'
    python examples/hierarchical.py
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
from statsmodels.datasets import fair

import gpustats.pymc as gpm

COVARIATES = ["rate_marriage", "age", "yrs_married", "children", "religious", "educ"]


def survey(copies: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Had an affair (N,), standardised covariates (N, 6), number of the pair of occupations (N,), the pairs (G, 2)."""
    data = fair.load_pandas().data
    x = data[COVARIATES].to_numpy()
    x = (x - x.mean(0)) / x.std(0)
    pairs, group = np.unique(data[["occupation", "occupation_husb"]].to_numpy(int), axis=0, return_inverse=True)
    y = (data["affairs"].to_numpy() > 0).astype(int)
    return np.tile(y, copies), np.tile(x, (copies, 1)), np.tile(group.ravel(), copies), pairs


def model(y: np.ndarray, x: np.ndarray, group: np.ndarray, pairs: np.ndarray, on_device: bool = True) -> pm.Model:
    """The model with its likelihood on the device, or, for comparison, PyMC's own."""
    coords = {"covariate": COVARIATES, "pair": [f"{a}, {b}" for a, b in pairs]}
    with pm.Model(coords=coords) as made:
        beta = pm.Normal("beta", 0, 1, dims="covariate")
        mean, spread = pm.Normal("mean", 0, 2), pm.HalfNormal("spread", 1)
        intercept = pm.Deterministic("intercept", mean + spread * pm.Normal("z", 0, 1, dims="pair"), dims="pair")
        eta = intercept[group] + x @ beta
        if on_device:
            gpm.BernoulliLogit("affair", eta, observed=y)
        else:
            pm.Bernoulli("affair", logit_p=eta, observed=y)
    return made


def seconds_per_gradient(made: pm.Model) -> float:
    """Of the compiled log-posterior with its gradient."""
    function = made.logp_dlogp_function(ravel_inputs=True)
    function.set_extra_values({})
    point = pm.blocking.DictToArrayBijection.map(made.initial_point())
    function(point)
    start, calls = time.perf_counter(), 50
    for _ in range(calls):
        function(point)
    return (time.perf_counter() - start) / calls


def picture(fit) -> Figure:
    """The intercepts, in order, with the middle 90% of their posteriors."""
    draws = fit.posterior["intercept"].stack(draw_=("chain", "draw"))
    values = draws.transpose("pair", "draw_").to_numpy()
    order = np.argsort(values.mean(1))
    low, high = np.quantile(values[order], [0.05, 0.95], axis=1)
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(6.5, 7), layout="constrained")
        axes = figure.subplots()
        axes.hlines(range(len(order)), low, high, color="#3b7dd8")
        axes.plot(values[order].mean(1), range(len(order)), "o", color="#12345b", markersize=4)
        axes.set_yticks(range(len(order)), draws["pair"].to_numpy()[order], fontsize=8)
        axes.set_xlabel("intercept: log-odds of an affair")
        axes.set_ylabel("occupation of the woman, of her husband")
        axes.set_title("Pairs of occupations, 90% intervals")
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--copies", type=int, default=1, help="repeat the data (default: 1)")
    parser.add_argument("--draws", type=int, default=500, help="of each of 2 chains (default: 500)")
    parser.add_argument("--out", type=Path, default=Path("hierarchical.png"))
    args = parser.parse_args(argv)

    data = survey(args.copies)
    made = model(*data)
    ours, plain = seconds_per_gradient(made), seconds_per_gradient(model(*data, on_device=False))
    print(f"One gradient for {len(data[0]):,} observations: {1e3 * ours:.2f} ms, with PyMC's likelihood {1e3 * plain:.2f} ms")
    with made:
        fit = pm.sample(args.draws, tune=args.draws, chains=2, random_seed=1)
    print(az.summary(fit, var_names=["beta", "mean", "spread"]).to_string())
    picture(fit).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
