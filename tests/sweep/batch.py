"""A density's functions at many sets of parameters at once, in one kernel."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from together import Together

from gpustats.language.kinds import DISTRIBUTION_FUNCTIONS, NUMBERS, QUANTILES

OF_NUMBERS = ("logpdf", *DISTRIBUTION_FUNCTIONS, *QUANTILES, "lower", "upper")
OF_PARAMETERS = tuple(e for e in NUMBERS if e not in ("lower", "upper"))
SLOPE = "d/d"  # begins the names of derivatives of the log-density
DRAWN, DRAWS = "drawn", 20_000  # the share of so many draws that do not exceed x
FITTED, DATA = "fitted", 200  # the log-likelihood that a fit of so many draws tells; its first argument is their seed
FIRST_ROWS, MOST_ROWS = 4, 2**16  # that are evaluated at a time: as many as take a fraction of a second


class OutOfTime(Exception):
    """The time that a density may take is over."""


class Subject:
    """A density, and the kernels of its functions.

    Parameters
    ----------
    density : Density
    written : str
        What it is called on the command line, where that is not its name.
    """

    def __init__(self, density: Any, written: str = ""):
        self.density, self.name = density, written or density.name
        lacks = density._lack_of
        self.endings = ["logpdf", *(e for e in OF_NUMBERS[1:] if not lacks(e))]
        self.numbers = [e for e in OF_PARAMETERS if not lacks(e) and (e != "median" or density.definition.role(e) is not None)]
        self.smooth = [a.name for a in density.definition.arguments if "integer" not in a.words]
        self._kernels: dict[str, Any] = {}
        self.moving: dict[str, tuple[int, ...] | None] = {}  # see properties.equivariance
        self._fits: dict[Any, Any] = {}
        self._compiled: set[tuple[str, type]] = set()
        self.rows: dict[str, int] = {}  # that a function is evaluated at at a time

    def kernel(self, ending: str) -> Any:
        for endings in (self.endings, self.numbers):
            if ending in endings:
                made = self._kernels.get(endings[0]) or Together(self.density, endings)
                return self._kernels.setdefault(endings[0], made)
        raise KeyError(ending)

    def has(self, *endings: str) -> bool:
        return all(e in self.endings or e in self.numbers for e in endings)

    def compiled(self, ending: str, dtype: type) -> float:
        """Compiles the kernel of a function, and says how many seconds that took."""
        group = SLOPE if ending.startswith(SLOPE) else "numbers" if ending in self.numbers else "functions"
        if (group, dtype) in self._compiled:
            return 0.0
        begin = time.monotonic()
        self(ending, *[np.ones(2)] * (1 + len(self.density.parameters)), dtype=dtype)
        self._compiled.add((group, dtype))
        return time.monotonic() - begin

    def __call__(self, ending: str, first: Any, *parameters: Any, dtype: type) -> np.ndarray:
        """A function at arrays that broadcast; of what depends on parameters alone `first` is anything."""
        arrays = [np.asarray(a, dtype) for a in (first, *parameters)]
        with np.errstate(all="ignore"):
            if ending.startswith(SLOPE):
                shape = np.broadcast_shapes(*(a.shape for a in arrays))
                rows = [np.broadcast_to(a, shape).ravel() for a in arrays]
                found = self.density.loglik_and_grad(*rows, wrt=self.smooth)[1]
                return np.asarray(found[ending.removeprefix(SLOPE)]).reshape(shape)
            return np.asarray(self.kernel(ending)(ending, *arrays))

    def drawn(self, parameters: Any, dtype: type, seed: int, size: int = DRAWS) -> np.ndarray:
        """Draws of the same parameters."""
        with np.errstate(all="ignore"):
            own = None if self.density.discrete else dtype
            return np.asarray(self.density.rvs(*map(dtype, parameters), size=size, rng=seed, dtype=own)).astype(float)

    def fitted(self, point: Any) -> Any:
        """The fit of draws: a seed, and the parameters that they are of."""
        seed, *parameters = point
        if point not in self._fits:
            self._fits[point] = self.density.fit(self.drawn(parameters, np.float64, int(seed), DATA))
        return self._fits[point]

    def value(self, ending: str, point: Any, dtype: type) -> float:
        """A function at one point; that of a function of parameters alone has no first argument."""
        if ending == DRAWN:
            return float(np.mean(self.drawn(point[1:], dtype, 20110000) <= point[0]))
        if ending == FITTED:
            return self.fitted(point).log_likelihood
        first = (0.5,) if ending in OF_PARAMETERS else ()
        return float(self(ending, *(np.full(1, v) for v in (*first, *point)), dtype=dtype)[0])


@dataclass
class Batch:
    """Sets of parameters of a density, with probabilities for each, and the values of its functions there.

    Attributes
    ----------
    subject : Subject
    dtype : type
    parameters : tuple of arrays (K, 1)
    q : array (K, Q)
    end : float
        Of `time.monotonic`, when it has taken too long.
    rng : Generator
    """

    subject: Subject
    dtype: type
    parameters: tuple[np.ndarray, ...]
    q: np.ndarray
    end: float
    rng: np.random.Generator
    known: dict[Any, np.ndarray] = field(default_factory=dict)

    @property
    def eps(self) -> float:
        return float(np.finfo(self.dtype).eps)

    @property
    def tiny(self) -> float:
        return float(np.finfo(self.dtype).tiny)

    @property
    def tolerance(self) -> float:
        """Of values, relative to themselves, or absolute where they are logarithms near 0."""
        return 1e-12 if self.dtype == np.float64 else 1e-5

    @property
    def discrete(self) -> bool:
        return self.subject.density.discrete

    def __call__(self, ending: str, first: np.ndarray | float = 0.5) -> np.ndarray:
        """A function at (K, Q) numbers, or at (K, 1)."""
        first = np.broadcast_to(np.asarray(first, self.dtype), np.broadcast_shapes(np.shape(first), (len(self.q), 1)))
        of_parameters = ending in OF_PARAMETERS or ending in ("lower", "upper")
        key = ending, None if of_parameters else first.tobytes(), first.shape
        if key not in self.known:
            columns = [np.broadcast_to(a, first.shape).ravel() for a in (first, *self.parameters)]
            self.known[key] = self._in_parts(ending, columns).reshape(first.shape)
        return self.known[key]

    def _in_parts(self, ending: str, columns: list[np.ndarray]) -> np.ndarray:
        """A function at rows, as many at a time as take a fraction of a second: it may be slow, and nothing ends a kernel."""
        found, start, rows = [np.zeros(0, self.dtype)], 0, self.subject.rows
        self.end += self.subject.compiled(ending, self.dtype)
        while start < len(columns[0]):
            begin = time.monotonic()
            if begin > self.end:
                raise OutOfTime
            n = rows.get(ending, FIRST_ROWS)
            found.append(self.subject(ending, *(c[start : start + n] for c in columns), dtype=self.dtype))
            start, taken = start + n, time.monotonic() - begin
            factor = 8 if taken < 0.03 else 2 if taken < 0.2 else 1 if taken < 0.5 else 0.25
            rows[ending] = min(max(int(n * factor), 1), MOST_ROWS)
        return np.concatenate(found)

    def at(self, *parameters: np.ndarray) -> Batch:
        """Other sets of parameters, as many."""
        return replace(self, parameters=tuple(np.asarray(p, self.dtype) for p in parameters), known={})

    def wide(self, ending: str, first: np.ndarray | float = 0.5) -> np.ndarray:
        """The same as float64."""
        return self(ending, first).astype(float)
