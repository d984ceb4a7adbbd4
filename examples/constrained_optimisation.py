"""Optimisation of a costly model under costly constraints, in some dozens of runs.

First the toy problem of Gramacy et al. (2016, Modeling an augmented Lagrangian for blackbox constrained optimization): the
least sum of two coordinates, under a constraint whose valid region has two parts, and one that is met nearly everywhere.
Then the cheapest borehole of those through which enough water flows: the flow is that of the borehole function (Morris,
Mitchell & Ylvisaker 1993), which stands for a model that takes long to run, and the cost is known.

    pip install 'gpustats[cpu,demo]'
    python examples/constrained_optimisation.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy import optimize

import gpustats as gs

TOY_MINIMUM = 0.5998
#: Lowest and highest radius in m, potentiometric head of the upper aquifer in m, length in m, and conductivity in m per year.
BOUNDS = np.array([(0.05, 0.15), (990.0, 1110.0), (1120.0, 1680.0), (9855.0, 12045.0)])
LEAST_FLOW = 120.0  # m³ per year


def toy(x: np.ndarray) -> np.ndarray:
    """The constraints of the toy problem, at points (…, 2)."""
    a, b = x[..., 0], x[..., 1]
    wave = 1.5 - a - 2 * b - 0.5 * np.sin(2 * np.pi * (a**2 - 2 * b))
    return np.stack([wave, a**2 + b**2 - 1.5], axis=-1)


def flow(x: np.ndarray) -> np.ndarray:
    """Through boreholes (…, 4) that differ in what `BOUNDS` has; all else is as it is on average."""
    radius, head, length, conductivity = np.moveaxis(x, -1, 0)
    influence, upper, lower, lower_head = 25050.0, 89335.0, 89.55, 760.0
    reach = np.log(influence / radius)
    resistance = 1 + 2 * length * upper / (reach * radius**2 * conductivity) + upper / lower
    return 2 * np.pi * upper * (head - lower_head) / (reach * resistance)


def cost(x: np.ndarray) -> np.ndarray:
    """Of wide boreholes, raised heads, short ways and good conductivities, in units of that of a usual one."""
    unit = (x - BOUNDS[:, 0]) / np.ptp(BOUNDS, axis=1)
    return (x[..., 0] / 0.1) ** 2 + unit[..., 1] + 0.8 * (1 - unit[..., 2]) ** 2 + 0.6 * unit[..., 3] ** 1.5


def cheapest() -> float:
    """The least cost, by the formula of the flow, which the search does not know."""
    def outside(unit: np.ndarray) -> np.ndarray:
        return BOUNDS[:, 0] + unit * np.ptp(BOUNDS, axis=1)

    enough = {"type": "ineq", "fun": lambda unit: flow(outside(unit)) / LEAST_FLOW - 1}
    found = [
        optimize.minimize(lambda unit: cost(outside(unit)), start, method="SLSQP", bounds=[(0, 1)] * 4, constraints=enough)
        for start in np.random.default_rng(0).random((20, 4))
    ]
    return min(float(f.fun) for f in found if f.success)


def report(name: str, found: gs.gp.ConstrainedMinimum, best: float, seconds: float) -> None:
    if found.x is None:
        print(f"{name}: no run met the constraints")
        return
    at, near = ", ".join(f"{v:.4g}" for v in found.x), np.flatnonzero(found.progress < 1.01 * best)
    within = f", within 1% after {near[0] + 1}" if near.size else ""
    print(f"{name}: {found.fun:.4f} at ({at}); the minimum is {best:.4f}. {len(found.points)} runs{within}; {seconds:.1f} s")


def picture(on_toy: gs.gp.ConstrainedMinimum, boreholes: gs.gp.ConstrainedMinimum, best: float, start: int) -> Figure:
    """The runs of the toy problem, and how the best valid run of both problems came down."""
    one = np.linspace(0, 1, 200)
    grid = np.stack(np.meshgrid(one, one, indexing="ij"), axis=-1)
    valid = (toy(grid) <= 0).all(-1)
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(12, 4), layout="constrained")
        left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1.1, 1.1))
        left.contourf(one, one, valid.T, levels=[-0.5, 0.5, 1.5], colors=["#f3ddd6", "#e3eefb"])
        left.contour(one, one, grid.sum(-1).T, levels=np.arange(0.2, 2, 0.2), colors="#888888", linewidths=0.5)
        for at, color, label in ((slice(None, start), "#888888", "first runs"), (slice(start, None), "#12345b", "chosen runs")):
            left.scatter(*on_toy.points[at].T, s=14, color=color, label=label)
        if on_toy.x is not None:
            left.scatter(*on_toy.x, marker="*", s=140, color="#e4572e", label="best", zorder=3)
        left.set(xlabel="x₁", ylabel="x₂", title="least x₁ + x₂ in the blue regions", aspect="equal")
        left.legend(frameon=True, loc="upper right")
        problems = (middle, on_toy, TOY_MINIMUM, "toy problem"), (right, boreholes, best, "cost of a borehole")
        for axes, found, least, title in problems:
            axes.step(np.arange(1, len(found.progress) + 1), found.progress, where="post", color="#12345b")
            axes.axhline(least, color="#e4572e", linestyle=":", label="minimum")
            axes.axvline(start, color="#888888", linewidth=0.8)
            axes.set(xlabel="runs", title=f"best valid run: {title}")
            axes.legend(frameon=False)
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=60, help="of each model, in all (default: 60)")
    parser.add_argument("--candidates", type=int, default=1000, help="compared for each run (default: 1000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("constrained_optimisation.png"))
    args = parser.parse_args(argv)

    options, best = dict(end=args.runs, candidates=args.candidates, rng=args.seed), cheapest()
    begin = time.perf_counter()
    on_toy = gs.gp.minimize(toy, [(0, 1), (0, 1)], objective=lambda x: x.sum(-1), **options)
    report("toy problem", on_toy, TOY_MINIMUM, time.perf_counter() - begin)
    begin = time.perf_counter()
    boreholes = gs.gp.minimize(lambda x: 1 - flow(x) / LEAST_FLOW, BOUNDS, objective=cost, **options)
    report("cheapest borehole", boreholes, best, time.perf_counter() - begin)
    picture(on_toy, boreholes, best, 10).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
