"""Emulation of a slow computer model: tens of thousands of runs, and predictions with their uncertainty everywhere else.

The surface is that of Gramacy & Apley (2015, Local Gaussian process approximation for large computer experiments), known on
a grid over [-2, 2]². Each prediction comes from a Gaussian process for a small design of its own, chosen from the points near
it, with a lengthscale of its own. The runs in a disk are left out: there the emulator has to say that it does not know.

    pip install 'gpustats[cpu,demo]'
    python examples/emulation.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import gpustats as gs

LOW, HIGH = -2.0, 2.0
HOLE = 0.45  # radius of what is left out, about MIDDLE
MIDDLE = np.array([0.4, -0.6])


def surface(x: np.ndarray) -> np.ndarray:
    """The "herbtooth" function of points (n, 2)."""
    bumps = np.exp(-((x - 1) ** 2)) + np.exp(-0.8 * (x + 1) ** 2) - 0.05 * np.sin(8 * (x + 0.1))
    return -bumps.prod(axis=1)


def grid(points: int, margin: float = 0.0) -> np.ndarray:
    """(points², 2) points, `margin` away from the border."""
    one = np.linspace(LOW + margin, HIGH - margin, points)
    return np.stack(np.meshgrid(one, one, indexing="ij"), axis=-1).reshape(-1, 2)


def runs(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the computer model was run, and what it gave."""
    x = grid(points)
    x = x[((x - MIDDLE) ** 2).sum(axis=1) > HOLE**2]
    return x, surface(x)


def picture(x: np.ndarray, mean: np.ndarray, scale: np.ndarray, truth: np.ndarray) -> Figure:
    """The surface, its standard deviation, and a cut through the hole."""
    side = int(len(mean) ** 0.5)
    shaped = [a.reshape(side, side) for a in (mean, scale, truth)]
    one = x[:: side, 0]
    row = int(np.abs(one - MIDDLE[1]).argmin())
    options = {"origin": "lower", "extent": (one[0], one[-1]) * 2, "aspect": "equal"}
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(12, 3.6), layout="constrained")
        left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 1.3))
        shown = left.imshow(shaped[0].T, cmap="viridis", **options)
        figure.colorbar(shown, ax=left)
        left.set_title("predicted")
        shown = middle.imshow(np.log10(shaped[1].T), cmap="magma", **options)
        figure.colorbar(shown, ax=middle)
        middle.set_title("standard deviation, log₁₀")
        for axes in (left, middle):
            axes.axhline(one[row], color="white", linewidth=0.8, linestyle=":")
            axes.set_xlabel("x₁")
        left.set_ylabel("x₂")
        cut, spread, true = (a[:, row] for a in shaped)
        right.fill_between(one, cut - 2 * spread, cut + 2 * spread, color="#3b7dd8", alpha=0.3, label="± 2 standard deviations")
        right.plot(one, cut, color="#12345b", label="predicted")
        right.plot(one, true, ":", color="#e4572e", label="true")
        right.set_xlabel("x₁")
        right.set_title(f"at x₂ = {one[row]:.2f}, through what was left out")
        right.legend(frameon=False)
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=201, help="of the grid of runs, along a side (default: 201)")
    parser.add_argument("--predict", type=int, default=99, help="of the grid of predictions, along a side (default: 99)")
    parser.add_argument("--end", type=int, default=50, help="points of a design (default: 50)")
    parser.add_argument("--close", type=int, default=500, help="candidates for it (default: 500)")
    parser.add_argument("--out", type=Path, default=Path("emulation.png"))
    args = parser.parse_args(argv)

    X, y = runs(args.points)
    XX = grid(args.predict, margin=0.02)
    truth = surface(XX)
    emulator = gs.LocalGP(X, y)
    print(f"{len(X):,} runs, {len(XX):,} predictions on {emulator.device.name}")
    found = {}
    for method in ("nn", "alc"):
        start = time.perf_counter()
        found[method] = emulator.predict(XX, end=args.end, close=args.close, method=method)
        seconds, error = time.perf_counter() - start, found[method].mean - truth
        inside = np.mean(np.abs(error) <= found[method].interval(0.95)[1] - found[method].mean)
        accuracy = f"root mean squared error {np.sqrt(np.mean(error**2)):.2e}, {inside:.1%} within 95% intervals"
        print(f"{method:>4}: {seconds:6.2f} s, {accuracy}")
    picture(XX, found["alc"].mean, found["alc"].scale, truth).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
