"""Calibration of a computer model by field data: what is unknown of an aquifer, from flows through boreholes.

The borehole function (Morris, Mitchell & Ylvisaker 1993) stands for a model that takes long to run. Its runs are emulated: a
few hundred by an exact Gaussian process, thousands by local ones. Flows were measured at boreholes of known radius, length and
upper head; the lower head and the conductivity are the same at all of them and unknown; and reality differs from the model.
Both are inferred together with that discrepancy (Kennedy & O'Hagan 2001, in the modular form of Gramacy et al. 2015).

    pip install 'gpustats[cpu,demo]'
    python examples/calibration.py
    python examples/calibration.py --runs 10000 --steps 0   # local processes, and the maximum alone
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import qmc

import gpustats as gs

#: Lowest and highest of what is known: radius, upper head and length, in m; and of what is not: lower head in m,
#: conductivity in m per year.
KNOWN = np.array([(0.05, 0.15), (990.0, 1110.0), (1120.0, 1680.0)])
UNKNOWN = np.array([(700.0, 820.0), (9855.0, 12045.0)])
NAMES = "lower head, m", "conductivity, m/yr"
TRUTH = np.array([745.0, 11200.0])
NOISE = 1.0  # m³ per year
#: Runs of which an exact Gaussian process is made; of more, local ones.
EXACT = 1000


def flow(points: np.ndarray) -> np.ndarray:
    """In m³ per year, through boreholes (n, 5) that differ in what `KNOWN` and `UNKNOWN` have."""
    radius, head, length, lower_head, conductivity = points.T
    influence, upper, lower = 25050.0, 89335.0, 89.55
    reach = np.log(influence / radius)
    resistance = 1 + 2 * length * upper / (reach * radius**2 * conductivity) + upper / lower
    return 2 * np.pi * upper * (head - lower_head) / (reach * resistance)


def discrepancy(x: np.ndarray) -> np.ndarray:
    """What the model does not know: flows through boreholes of middle length are smaller, and those through others larger."""
    return 4 * np.cos(2 * np.pi * (x[:, 2] - KNOWN[2, 0]) / np.ptp(KNOWN[2]))


def hypercube(n: int, bounds: np.ndarray, seed: int) -> np.ndarray:
    return bounds[:, 0] + np.ptp(bounds, axis=1) * qmc.LatinHypercube(len(bounds), rng=seed).random(n)


def in_unit(points: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    return (points - bounds[:, 0]) / np.ptp(bounds, axis=1)


def emulator(n: int, seed: int) -> gs.gp.Emulator | gs.gp.LocalGP:
    """Of n runs, for points of the unit cube."""
    bounds = np.vstack([KNOWN, UNKNOWN])
    runs = hypercube(n, bounds, seed)
    unit, found = in_unit(runs, bounds), flow(runs)
    if n > EXACT:
        return gs.LocalGP(unit, found, prescale=True)
    ml = gs.gp.MarginalLikelihood(gs.rbf, unit, found, mean=float(found.mean()))
    fit = ml.fit({"amplitude": 100.0, "lengthscale": np.ones(5), "sigma": 0.05}, fixed=["sigma"])
    return gs.gp.Emulator(ml, **fit.values)


def picture(
    fit: gs.gp.CalibrationFit, draws: gs.gp.CalibrationDraws | None, x: np.ndarray, predictions: dict[str, gs.gp.Prediction],
    truth: np.ndarray,
) -> Figure:  # fmt: skip
    """Draws of what was unknown, and predictions at other boreholes."""
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(11, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        scale = UNKNOWN[:, 0], np.ptp(UNKNOWN, axis=1)
        if draws is not None:
            left.scatter(*(scale[0] + scale[1] * draws.u.reshape(-1, 2)[::5]).T, s=3, color="#3b7dd8", alpha=0.3, label="draws")
        left.scatter(*(scale[0] + scale[1] * fit.u), color="#12345b", label="largest density")
        left.scatter(*TRUTH, marker="+", s=150, color="#e4572e", label="true")
        left.set(xlabel=NAMES[0], ylabel=NAMES[1], title="unknown of the aquifer")
        left.legend(frameon=False)
        for (name, p), color in zip(predictions.items(), ("#12345b", "#e4a02e"), strict=True):
            low, high = p.interval(0.95)
            right.vlines(x[:, 2], low - truth, high - truth, color=color, alpha=0.3)
            right.scatter(x[:, 2], p.mean - truth, s=8, color=color, label=name)
        right.axhline(0, color="#888888", linewidth=0.8)
        right.set(xlabel="length of the borehole, m", title="error of predicted flows at new boreholes, m³/yr")
        right.legend(frameon=False)
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300, help="of the model (default: 300)")
    parser.add_argument("--boreholes", type=int, default=60, help="with measured flows (default: 60)")
    parser.add_argument("--steps", type=int, default=400, help="of each of 40 walkers, half of them dropped (default: 400)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("calibration.png"))
    args = parser.parse_args(argv)

    model, rng = emulator(args.runs, args.seed), np.random.default_rng(args.seed)
    x = hypercube(args.boreholes, KNOWN, args.seed + 1)
    there = np.tile(TRUTH, (args.boreholes, 1))
    y = flow(np.c_[x, there]) + discrepancy(x) + NOISE * rng.normal(size=args.boreholes)
    unit = in_unit(x, KNOWN)
    new = hypercube(100, KNOWN, args.seed + 2)
    truth = flow(np.c_[new, np.tile(TRUTH, (100, 1))]) + discrepancy(new)
    print(f"{args.runs:,} runs, {args.boreholes} boreholes on {model.device.name}")
    predictions = {}
    for name, allowed in (("without discrepancy", False), ("with discrepancy", True)):
        calibration = gs.gp.Calibration(model, unit, y, [(0, 1), (0, 1)], allowed)
        start = time.perf_counter()
        fit = calibration.fit(rng=args.seed)
        found = UNKNOWN[:, 0] + np.ptp(UNKNOWN, axis=1) * fit.u
        p = predictions[name] = calibration.predict(in_unit(new, KNOWN), fit.u, **fit.values)
        seconds, error = time.perf_counter() - start, np.sqrt(np.mean((p.mean - truth) ** 2))
        print(f"{name}: {found[0]:.1f} m, {found[1]:.0f} m/yr, error of flows {error:.2f} m³/yr; {seconds:.1f} s")
    draws = None
    if args.steps:
        draws = calibration.sample(args.steps - args.steps // 2, tune=args.steps // 2, walkers=40, start=fit, rng=args.seed)
        drawn = UNKNOWN[:, 0] + np.ptp(UNKNOWN, axis=1) * draws.u.reshape(-1, 2)
        for name, values, true in zip(NAMES, drawn.T, TRUTH, strict=True):
            low, high = np.quantile(values, [0.025, 0.975])
            print(f"{name}: {values.mean():.1f}, in [{low:.1f}, {high:.1f}] with 95%; it is {true:.1f}")
    picture(fit, draws, new, predictions, truth).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
