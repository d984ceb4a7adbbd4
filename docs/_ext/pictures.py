"""Pictures of densities and covariance functions, of values that gpustats computes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

COLORS = ("#d1495b", "#2a6f97", "#5b8c5a")
STYLE = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none", "svg.hashsalt": "gpustats",
    "font.family": "sans-serif", "axes.edgecolor": "#777", "axes.linewidth": 0.8,
}  # fmt: skip

# Parameters of the three curves, by domain, by name, and by density where these do not suit it.
BY_DOMAIN = {
    "real": (0.0, 0.5, 1.0), "positive": (2.0, 1.0, 4.0), "nonnegative": (2.0, 1.0, 4.0), "unit": (0.3, 0.5, 0.7),
    "positive unit": (0.3, 0.5, 0.7), "nonnegative integer": (10, 10, 20), "positive integer": (5, 10, 20),
    "integer": (0, 2, 5),
}  # fmt: skip
BY_NAME = {
    "mu": (0.0, 0.0, 1.0), "sigma": (1.0, 2.0, 1.0), "lower": (0.0, -1.0, 0.5), "upper": (2.0, 3.0, 4.0),
    "psi": (0.7, 0.5, 0.9),
    "cutpoints": ([-1.0, 0.0, 1.5], [-2.0, -1.0, 0.5], [0.0, 0.5, 1.0]),
}  # fmt: skip
BY_DENSITY: dict[str, dict[str, tuple]] = {
    "bernoulli_cloglog": {"eta": (-1.0, 0.0, 0.5)},
    "beta": {"alpha": (2.0, 0.5, 5.0), "beta": (4.0, 0.5, 2.0)},
    "beta_logit": {"eta": (-1.0, 0.0, 1.0), "phi": (5.0, 10.0, 20.0)},
    "beta_proportion": {"mu": (0.3, 0.5, 0.7), "kappa": (4.0, 1.0, 10.0)},
    "binomial_logit": {"n": (20, 20, 20), "eta": (-1.0, 0.0, 1.0)},
    "borel": {"mu": (0.5, 0.2, 0.8)},
    "cardioid": {"mu": (0.0, 0.0, 1.0), "rho": (0.2, 0.5, -0.3)},
    "categorical": {"p": ([0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7])},
    "categorical_logit": {"eta": ([0.0, 1.0, 0.5], [1.0, 0.0, -1.0], [-1.0, 0.0, 1.0])},
    "crystal_ball": {"beta": (1.0, 2.0, 0.5), "m": (2.0, 3.0, 4.0)},
    "discrete_uniform": {"lower": (0, 2, -3), "upper": (5, 8, 3)},
    "double_pareto_log_normal": {"mu": (0.0, 0.5, 0.0), "sigma": (0.5, 0.5, 0.3)},
    "fisher_noncentral_hypergeometric": {"N": (50, 50, 50), "k": (20, 20, 20), "n": (15, 15, 15), "omega": (0.4, 1.0, 3.0)},
    "folded_normal": {"mu": (1.0, 0.0, 2.0), "sigma": (1.0, 1.0, 1.0)},
    "generalized_extreme_value": {"xi": (0.4, 0.0, -0.4), "mu": (0.0,) * 3, "sigma": (1.0,) * 3},
    "generalized_gamma": {"c": (1.0, 2.0, 1.5)},
    "generalized_pareto": {"xi": (0.5, 0.0, -0.4), "mu": (0.0,) * 3, "sigma": (1.0,) * 3},
    "hypergeometric": {"N": (50, 50, 50), "k": (20, 10, 30), "n": (15, 15, 15)},
    "interpolated": {
        "x_points": ([0.0, 1.0, 2.0, 3.0],) * 3,
        "pdf_points": ([0.0, 1.0, 0.4, 0.0], [1.0, 0.2, 0.2, 1.0], [0.0, 0.2, 1.0, 0.0]),
    },
    "kappa4": {"h": (0.0, 1.0, -1.0), "k": (0.1, 0.5, -0.2)},
    "log_series": {"p": (0.5, 0.8, 0.9)},
    "log_uniform": {"lower": (1.0, 0.5, 2.0), "upper": (4.0, 3.0, 5.0)},
    "negative_binomial_log": {"eta": (0.5, 1.0, 2.0)},
    "negative_hypergeometric": {"M": (50, 50, 50), "n": (20, 30, 20), "r": (5, 5, 12)},
    "noncentral_beta": {"alpha": (2.0, 2.0, 4.0), "beta": (4.0, 4.0, 2.0), "lam": (3.0, 0.0, 3.0)},
    "noncentral_f": {"d1": (4.0, 4.0, 10.0), "d2": (10.0, 10.0, 20.0), "lam": (3.0, 0.0, 3.0)},
    "noncentral_t": {"nu": (4.0, 4.0, 10.0), "delta": (2.0, 0.0, 1.0), "sigma": (1.0,) * 3},
    "pearson3": {"skew": (0.5, 1.5, -1.0), "sigma": (1.0,) * 3},
    "planck": {"lam": (0.5, 0.2, 1.0)},
    "poisson_log": {"eta": (0.5, 1.5, 2.5)},
    "poisson_binomial": {"p": ([0.1, 0.5, 0.7, 0.2], [0.9, 0.8, 0.9, 0.6, 0.7], [0.5] * 10)},
    "polya_gamma": {"z": (1.0, 0.0, 3.0)},
    "rice": {"nu": (2.0, 0.0, 4.0), "sigma": (1.0,) * 3},
    "reciprocal_inverse_gaussian": {"mu": (1.0, 1.0, 2.0), "lam": (1.0, 3.0, 3.0)},
    "skew_cauchy": {"a": (0.5, 0.0, -0.7), "sigma": (1.0,) * 3},
    "skew_normal": {"alpha": (4.0, 0.0, -2.0), "mu": (0.0,) * 3, "sigma": (1.0,) * 3},
    "stable": {"alpha": (1.5, 1.0, 1.8), "beta": (0.0, 0.5, -1.0), "mu": (0.0,) * 3, "sigma": (1.0,) * 3},
    "studentized_range": {"k": (2.0, 3.0, 10.0), "nu": (5.0, 10.0, 10.0)},
    "trapezoidal": {"c": (0.5, 0.0, 1.0), "d": (1.5, 1.0, 2.0)},
    "triangular": {"c": (0.5, 0.0, 3.0)},
    "truncated_normal": {"lower": (-1.0, 0.0, 0.5), "upper": (2.0, 3.0, 2.0)},
    "truncated_pareto": {"alpha": (2.0, 1.0, 3.0), "m": (1.0,) * 3, "upper": (4.0, 3.0, 5.0)},
    "truncated_weibull": {"alpha": (2.0, 1.0, 3.0), "beta": (1.0, 1.0, 2.0), "lower": (0.2, 0.1, 0.5)},
    "tukey_lambda": {"lam": (0.14, 0.0, -0.3), "sigma": (1.0,) * 3},
    "tweedie": {"mu": (1.0, 2.0, 3.0), "phi": (1.0, 1.0, 0.5), "p": (1.5, 1.2, 1.8)},
    "von_mises": {"mu": (0.0, 0.0, 1.0)},
    "wald": {"mu": (1.0, 1.0, 2.0), "lam": (1.0, 3.0, 3.0)},
    "wallenius_noncentral_hypergeometric": {
        "N": (50, 50, 50), "k": (20, 20, 20), "n": (15, 15, 15), "omega": (0.4, 1.0, 3.0),
    },
    "weibull_max": {"beta": (1.0, 1.0, 2.0)},
    "wrapped_cauchy": {"mu": (0.0,) * 3, "rho": (0.5, 0.2, 0.8)},
    "yule_simon": {"alpha": (2.0, 1.0, 3.0)},
    "zero_inflated_binomial": {"n": (10, 10, 20)},
    "zero_one_inflated_beta": {"mu": (0.3, 0.5, 0.7), "phi": (4.0, 10.0, 4.0), "zoi": (0.2, 0.3, 0.1), "coi": (0.5, 0.3, 0.5)},
    "zipf": {"a": (2.0, 1.5, 3.0)},
    "zipfian": {"a": (1.0, 0.0, 2.0), "n": (10, 10, 10)},
}
# Of densities of vectors: one set of parameters.
OF_VECTORS: dict[str, dict[str, Any]] = {
    "dirichlet": {"a": [2.0, 1.0, 4.0]},
    "dirichlet_multinomial": {"n": 10, "a": [2.0, 1.0, 4.0]},
    "garch11": {"omega": 0.1, "alpha_1": 0.2, "beta_1": 0.7, "initial_vol": 1.0},
    "multinomial": {"n": 10, "p": [0.2, 0.5, 0.3]},
    "multivariate_hypergeometric": {"n": 10, "m": [10, 20, 5]},
    "mv_student_t": {"nu": 4.0, "mu": [0.0, 1.0], "cov": [[2.0, 0.5], [0.5, 1.0]]},
    "mvnormal": {"mu": [0.0, 1.0], "cov": [[2.0, 0.5], [0.5, 1.0]]},
    "normal_inverse_gamma": {"mu": 0.0, "lam": 2.0, "alpha": 3.0, "beta": 1.0},
    "stick_breaking_weights": {"alpha": 2.0},
    "von_mises_fisher": {"mu": [0.0, 0.0, 1.0], "kappa": 4.0},
    "zero_sum_normal": {"sigma": 1.0},
}
# Of those that have a picture, the ends of two components, and what makes a vector of these.
PLANES: dict[str, tuple[tuple[float, float], tuple[float, float], Callable[..., tuple[Any, ...]]]] = {
    "dirichlet": ((0, 1), (0, 1), lambda x, y: (x, y, 1 - x - y)),
    "dirichlet_multinomial": ((0, 10), (0, 10), lambda x, y: (x, y, 10 - x - y)),
    "multinomial": ((0, 10), (0, 10), lambda x, y: (x, y, 10 - x - y)),
    "multivariate_hypergeometric": ((0, 10), (0, 10), lambda x, y: (x, y, 10 - x - y)),
    "mv_student_t": ((-4, 4), (-2.5, 4.5), lambda x, y: (x, y)),
    "mvnormal": ((-4, 4), (-2.5, 4.5), lambda x, y: (x, y)),
    "normal_inverse_gamma": ((-2, 2), (0.02, 1.5), lambda x, y: (x, y)),
    "von_mises_fisher": ((-1, 1), (-1, 1), lambda x, y: (x, y, np.sqrt(np.maximum(1 - x**2 - y**2, 0)))),
}


def example(density: Any) -> dict[str, Any]:
    """Parameters at which the density can be tried."""
    return OF_VECTORS.get(density.name) or parameters(density)[0]  # type: ignore[index]


def parameters(density: Any) -> list[dict[str, Any]] | None:
    """Three sets of parameters; None where the density is one of vectors, or has parameters of which nothing is known."""
    own = BY_DENSITY.get(density.name, {})
    sets = [
        {p: (own.get(p) or BY_NAME.get(p) or BY_DOMAIN[density.domains[p]])[i] for p in density.parameters}
        for i in range(3)
        if all(p in own or p in BY_NAME or density.domains[p] in BY_DOMAIN for p in density.parameters)
    ]
    if not sets or any(w in density.domains[next(iter(density.domains))] for w in ("vector", "simplex")):
        return None
    kept = []
    for one in sets:
        one = {p: max(v, 0.5) if density.domains[p] == "positive" and not isinstance(v, list) else v for p, v in one.items()}
        if density.domains.get("mu") == "nonnegative":
            one["mu"] = {0.0: 3.0, 1.0: 8.0}.get(one["mu"], one["mu"])
        if one not in kept:
            kept.append(one)
    return kept


def _grid(density: Any, sets: list[dict[str, Any]]) -> np.ndarray:
    """Points that span what the density does for all sets."""
    word = next(iter(density.domains.values()))
    if "periodic in x" in density.description:
        return np.linspace(-np.pi, np.pi, 301)
    if density.discrete:
        low = -30 if word == "integer" else 1 if word.startswith("positive") else 0
        wide = np.arange(low, 61.0)
    elif "unit" in word:
        return np.linspace(0, 1, 301)[1:-1]
    else:  # close together near 0, far apart far away
        wide = np.sinh(np.linspace(-5, 5, 1001) if word == "real" else np.linspace(1e-3, 5, 801)) * 0.5
    seen = np.zeros(len(wide), bool)
    for one in sets:
        values = density.pdf(wide, **one)
        if np.isnan(values).all():
            raise ValueError(f"{density.name} is nan everywhere at {one}: let BY_DENSITY name parameters that suit it")
        values = np.nan_to_num(values, posinf=0.0)
        mass = values * (np.gradient(wide) if not density.discrete else 1.0)
        below = np.cumsum(mass) / (mass.sum() or 1)
        before = below - mass / (mass.sum() or 1) if density.discrete else below
        seen |= (below > 0.004) & (before < 0.985) & (mass > 0)
    low, high = wide[seen][[0, -1]]
    if density.discrete:
        return np.arange(low, min(high, low + 40) + 1)
    room = 0.04 * (high - low)
    return np.linspace(max(low - room, 1e-3 if word == "nonnegative" else -np.inf), high + room, 301)


def _number(value: Any) -> str:
    return "(" + ", ".join(map(_number, value)) + ")" if isinstance(value, list) else f"{value:g}"


def _labels(place: Any, title: str, height: str) -> None:
    place.set_title(title, loc="left", fontsize=9)
    place.set_xlabel("x", fontsize=8)
    place.set_ylabel(height, fontsize=8)


def of_density(density: Any, sets: list[dict[str, Any]], path: Path) -> None:
    """Draw the density and its distribution function."""
    grid = _grid(density, sets)
    with_cdf = hasattr(density, "cdf")
    with matplotlib.rc_context(STYLE):
        labels = [", ".join(f"{p} = {_number(v)}" for p, v in one.items()) for one in sets]
        width = 7.2 if with_cdf else 4.2
        side_by_side = min(max(int(width / (0.5 + 0.065 * max(map(len, labels)))), 1), 3)  # in inches: a line, and letters
        figure = Figure(figsize=(width, 2.5 if side_by_side > 1 else 2.8), layout="constrained")
        places = figure.subplots(1, 2 if with_cdf else 1, squeeze=False)[0]
        for color, one, label in zip(COLORS, sets, labels, strict=False):
            pdf = density.pdf(grid, **one)
            if density.discrete:
                shift = 0.22 * (COLORS.index(color) - (len(sets) - 1) / 2)
                places[0].vlines(grid + shift, 0, pdf, color=color, linewidth=1.6)
                places[0].plot(grid + shift, pdf, "o", color=color, markersize=2.8, label=label)
            else:
                places[0].plot(grid, pdf, color=color, label=label)
            if with_cdf:
                wide = np.arange(grid[0] - 1, grid[-1] + 2) if density.discrete else grid
                drawn = {"drawstyle": "steps-post"} if density.discrete else {}
                places[1].plot(wide, density.cdf(wide, **one), color=color, **drawn)
        if not density.discrete:
            heights = [line.get_ydata()[np.isfinite(line.get_ydata())] for line in places[0].get_lines()]
            tallest = max(np.quantile(h, 0.985) for h in heights)  # peaks that are poles would hide all else
            places[0].set_ylim(0, 1.05 * min(max(h.max() for h in heights), 2.5 * tallest))
        else:
            places[0].set_ylim(bottom=0)
        _labels(places[0], "mass function" if density.discrete else "density", "P(X = x)" if density.discrete else "f(x)")
        if with_cdf:
            _labels(places[1], "distribution function", "P(X ≤ x)")
            places[1].set_ylim(0, 1.03)
        figure.legend(loc="outside lower center", ncols=side_by_side, frameon=False, fontsize=8)
        figure.savefig(path, metadata={"Date": None}, transparent=True)


def of_vector(density: Any, path: Path) -> None:
    """Draw the density over two components of its vectors."""
    across, up, vector = PLANES[density.name]
    ticks = [np.arange(a, b + 1.0) if density.discrete else np.linspace(a, b, 121) for a, b in (across, up)]
    x, y = np.meshgrid(*ticks)
    pdf = density.pdf(np.stack(np.broadcast_arrays(*vector(x, y)), -1), **OF_VECTORS[density.name])
    pdf = np.ma.masked_where(~(pdf > 0), pdf)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.0), layout="constrained")
        axes = figure.subplots()
        if density.discrete:
            drawn = axes.scatter(x, y, s=900 * pdf, c=pdf, cmap="Blues", vmin=0, edgecolors="#777", linewidths=0.4)
        else:
            drawn = axes.contourf(x, y, pdf, levels=10, cmap="Blues")
        axes.set_aspect("equal" if across == up else "auto")
        figure.colorbar(drawn, label="P(X = x)" if density.discrete else "f(x)")
        given = ", ".join(f"{p} = {_number(np.asarray(v).tolist())}" for p, v in OF_VECTORS[density.name].items())
        _labels(axes, given, "x[1]")
        axes.set_xlabel("x[0]", fontsize=8)
        figure.savefig(path, metadata={"Date": None}, transparent=True)


def of_covariance(covariance: Any, path: Path) -> dict[str, float]:
    """Draw a covariance as a function of the distance, and of a function that has it some draws; gives the parameters."""
    given = {p: {"lengthscale": 0.5, "period": 1.0, "alpha": 1.0, "offset": 0.5}.get(p, 1.0) for p in covariance.parameters}
    x = np.linspace(0, 3, 151)
    matrix = np.asarray(covariance(x[:, None], **given))
    factor = np.linalg.cholesky(matrix + 1e-8 * np.eye(len(x)))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 2.3), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot(x, matrix[:, 0] if "sqdist" in covariance.source else matrix[:, 50], color=COLORS[1])
        point = 0 if "sqdist" in covariance.source else 1
        _labels(left, f"covariance with the point {point}", f"k(x, {point})")
        right.plot(x, factor @ np.random.default_rng(3).normal(size=(len(x), 4)), linewidth=1.2)
        _labels(right, "draws of a process", "f(x)")
        figure.savefig(path, metadata={"Date": None}, transparent=True)
    return given


def draw(names: list[str], folder: Path) -> None:
    """Draw the pictures of these densities, but for those whose parameters are not known."""
    import gpustats as gs

    for name in names:
        if sets := parameters(gs.densities[name]):
            of_density(gs.densities[name], sets, folder / f"{name}.svg")
        elif name in PLANES:
            of_vector(gs.densities[name], folder / f"{name}.svg")


def shares(names: list[str], processes: int | None = None) -> Iterator[list[str]]:
    """The names in as many shares as there are processes to draw them."""
    many = min(processes or os.cpu_count() or 1, 4)
    return (names[i::many] for i in range(many))
