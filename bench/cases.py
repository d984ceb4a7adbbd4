"""Work of `bench.densities`: densities, observations, parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

PARAMETERS = {  # of set k in 0 .. 1
    "normal": lambda k: (k - 0.5, 0.5 + k),
    "gamma": lambda k: (1.5 + 2 * k, 0.5 + k),
    "student_t": lambda k: (3 + 4 * k, k - 0.5, 0.5 + k),
    "negative_binomial": lambda k: (2 + 2 * k, 0.5 + k),
}


@dataclass(frozen=True)
class Case:
    """Work of one row: N observations under K sets of parameters.

    Attributes
    ----------
    density : str
    kind : {"table", "sum", "gradient"}
        The N × K log-densities, their sum over the observations for each of the K sets, or the sum for one set together with
        its derivatives in all parameters.
    n, k : int
    dtype : str
    dim : int
        Length of an observation that is a vector; 0 for a number.
    goal : float, optional
        Time to reach on an NVIDIA H200, in µs.
    """

    density: str
    kind: str
    n: int
    k: int = 1
    dtype: str = "float64"
    dim: int = 0
    goal: float | None = None

    @property
    def title(self) -> str:
        sizes = f"N={self.n:.0e}".replace("e+0", "e") + (f" K={self.k}" if self.k > 1 else "")
        pattern = {"table": "N×K", "sum": "Σ", "gradient": "Σ+∇"}[self.kind]
        return f"{self.density} {pattern}, {sizes}{f' d={self.dim}' if self.dim else ''} f{self.dtype[-2:]}"

    @property
    def time(self) -> str:
        """Kind of time that counts: for a sum, that of a call with its result, which is a number that the caller needs."""
        return "enqueued_us" if self.kind == "table" else "waited_us"

    @property
    def bytes(self) -> int:
        """Bytes that must move: the observations in, a table out."""
        values = self.n * max(1, self.dim) + (self.n * self.k if self.kind == "table" else 0)
        return values * np.dtype(self.dtype).itemsize

    def data(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Observations, shape (N,) or (N, d), and parameters, each of shape (K,); of mvnormal (K, d) and (K, d, d).

        The second parameter of mvnormal is the lower triangular factor of its covariance.
        """
        rng = np.random.default_rng(11)
        k = np.linspace(0, 1, self.k) if self.k > 1 else np.array([0.5])
        if self.density == "mvnormal":
            x = rng.normal(size=(self.n, self.dim))
            factor = np.tril(rng.normal(size=(self.k, self.dim, self.dim)) / self.dim, -1) + np.eye(self.dim)
            parameters = [rng.normal(size=(self.k, self.dim)), factor]
        else:
            draw = {
                "normal": rng.standard_normal,
                "gamma": lambda n: rng.gamma(2.5, 1.0, n),
                "student_t": lambda n: rng.standard_t(5, n),
                "negative_binomial": lambda n: rng.negative_binomial(1, 0.25, n),
            }[self.density]
            x, parameters = draw(self.n), list(PARAMETERS[self.density](k))
        return x.astype(self.dtype), [p.astype(self.dtype) for p in parameters]


def cases(gpu: bool, quick: bool = False) -> list[Case]:
    """The work for a GPU or a CPU; `quick`: small, to see that everything runs."""
    n = 10**7 if gpu else 10**6
    both = {"float64": None, "float32": None}
    found: list[Case] = []

    def add(density, kind, n, goals, **sizes):
        found.extend(Case(density, kind, n, dtype=dtype, goal=goal, **sizes) for dtype, goal in goals.items())

    add("normal", "table", n, {"float64": 190, "float32": None}, k=8)
    add("gamma", "table", n, {"float64": 190, "float32": None}, k=8)
    for density in ("normal", "gamma", "student_t"):
        add(density, "sum", n, both)
    add("negative_binomial", "sum", n, {"float64": None})
    add("negative_binomial", "sum", 20_000, {"float64": None}, k=200)
    for density in ("normal", "gamma", "student_t"):
        add(density, "sum", 10_000, {"float64": 30})
    add("normal", "gradient", n, {"float64": 30, "float32": 20})
    add("gamma", "gradient", n, {"float64": 60, "float32": None})
    add("student_t", "gradient", n, {"float64": 60, "float32": None})
    add("negative_binomial", "gradient", n, {"float64": None})
    for density in ("normal", "gamma", "student_t"):
        add(density, "gradient", 10_000, {"float64": 30})
    add("mvnormal", "table", 10**6, {"float64": 180, "float32": 90}, k=8, dim=15)
    add("mvnormal", "table", 10**5, {"float64": 200, "float32": 120}, k=8, dim=64)
    if quick:
        found = [replace(c, n=c.n // 100) for c in found]
    return found if gpu and not quick else [replace(c, goal=None) for c in found]
