"""Fit of a density of numbers to one data set that is read in pieces."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.expansion import expansion_of
from ..evaluation.results import as_host
from ..parallel.devices import example
from ..parallel.divide import divide
from ..parallel.pieces import Data, Options, in_memory, in_pieces
from ..parallel.remade import Remade
from ..parallel.rows import added, as_rows, total
from ..runtime import arrays, choose
from .bordered import Bordered
from .bound_density import samples_of, start_in
from .fit import ends_of, fit, told_apart
from .maximum import maximise
from .model import Model
from .problem import Expanded, Named, Problem

if TYPE_CHECKING:
    from ..language.device_function import Argument
    from ..parallel.pieces import Pieces
    from ..runtime.base import Runtime
    from ..runtime.host_memory import HostRows
    from ..runtime.types import Array, Doubles, Value, Values
    from .estimates import Estimates

WEIGHTS = "weights of observations"  # name of their column, which no parameter has


def fit_in_pieces(
    density: Any, x: Any, fixed: Mapping[str, Values] | None, start: Mapping[str, Values] | None, weights: Values | None,
    max_iterations: int, devices: Any, memory: int, progress: bool = False,
) -> Estimates:  # fmt: skip
    """Estimates by maximum likelihood: see `Density.fit`.

    Raises
    ------
    ValueError
        For several data sets, and for columns of another length.
    NotImplementedError
        For an end of the support, the outermost observation.
    """
    model = Model(density.log_density, density.definition)
    begin, known, free = told_apart(model, fixed, start, max_iterations)
    numbers = {n: float(np.asarray(v)) for n, v in known.items() if not np.ndim(v)}
    given = {model.log_density.arguments[0].name: x, **{n: v for n, v in known.items() if n not in numbers}}
    data = {n: as_rows(v, n) for n, v in given.items()} | ({} if weights is None else {WEIGHTS: as_rows(weights, "weights")})
    for name, column in data.items():
        shape, n = np.shape(column), np.shape(next(iter(data.values())))
        if len(shape) != 1 or shape != n or not shape[0]:
            raise ValueError(f"{name} has shape {shape}: with memory= one data set is read in pieces, x and all others (N,)")
    rows = DataSet(density, devices=devices, memory=memory, **data)
    sample, *others = samples_of(*data.values())
    of_rows = dict(zip(list(data)[1:], others, strict=True))
    its_weights = of_rows.pop(WEIGHTS, None)
    of_sample: dict[str, Values] = {**numbers, **of_rows}
    if ends := ends_of(model, sample, of_sample, free):
        name = next(iter(ends))
        raise NotImplementedError(
            f"{name} of {model.name} is an end of the support, estimated by the outermost observation, for which memory= does "
            f"not look: leave memory= out, or give it, fixed={{{name!r}: …}}"
        )
    first = fit(model, sample, of_sample, begin, its_weights, None, None, None, max_iterations)
    found = {n: float(first[n]) for n in free}
    found = {n: v if np.isfinite(v) else float(np.asarray(begin.get(n, start_in(free[n])))) for n, v in found.items()}
    n = float(rows.n_rows) if weights is None else total(data[WEIGHTS], "weights")
    return maximise(DataSetProblem(rows, n), found, numbers, None, None, max_iterations, progress)


class DataSet(Remade):
    """Observations of a density, with weights and known parameters of each, wherever they lie.

    Parameters
    ----------
    density : Density
    devices, client, memory, chunk : optional
        Division of the observations.
    **data : (N,) array
        Observations, parameters and `WEIGHTS`, by name.
    """

    _pieces: Pieces | None
    _data: Mapping[str, Array]

    def __init__(
        self, density: Any, *, devices: Any = None, client: Any = None, memory: int | None = None,
        chunk: int | None = None, **data: Array,
    ):  # fmt: skip
        self._density, self._function, self._names = density, density.log_density, tuple(data)
        self.dtype = arrays.result_dtype([v for v in data.values() if np.dtype(v.dtype).kind == "f"])
        options = self._options = Options(devices, client, memory, chunk)
        self.n_rows = next(iter(data.values())).shape[0]
        runtime = None if devices is not None or client is not None else choose.get()
        self._pieces = divide(self, Data(data, self.n_rows, len(data) * self.dtype.itemsize), options, runtime)
        if self._pieces is None:
            assert runtime is not None
            self._bind(in_memory(data), runtime)

    def _bind(self, data: Mapping[str, Any], runtime: Runtime) -> None:
        self._runtime, host = runtime, runtime.host_visible
        self._data = {n: np.array(v, self.dtype) if host else runtime.to_device(v, self.dtype) for n, v in data.items()}

    @property
    def name(self) -> str:
        """Name of the density."""
        return str(self._function.name)

    def __repr__(self) -> str:
        where = self._runtime.device.id if self._pieces is None else self._pieces.where
        return f"<{self.n_rows} observations of {self._function.name} in {self.dtype} on {where}>"

    @property
    def parameters(self) -> list[Argument]:
        """Parameters that are no data."""
        return [a for a in self._function.arguments if a.name not in self._names]

    @in_pieces(added)
    def value_and_grad(self, *numbers: float, wrt: Sequence[str] | None = None) -> Expanded:
        """Log-likelihood with its first and second derivatives, by default in all parameters that are no whole numbers."""
        known: dict[str, Any] = {**dict(zip([a.name for a in self.parameters], numbers, strict=True)), **self._data}
        values = [known[a.name] for a in self._function.arguments]
        names = [a.name for a in self.parameters if "integer" not in a.words] if wrt is None else wrt
        weighted = WEIGHTS in self._names
        expansion = expansion_of(self._function, names, weighted)
        found = expansion([*values, *([known[WEIGHTS]] if weighted else [])], self._runtime)
        return Expanded(float(found.value[0]), found.gradient[0], Bordered.dense(found.hessian[0]))

    # -- as a model that is evaluated in pieces: see `parallel.pieces.Divisible`

    def _start(self, method: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Callable[[], Any] | None:
        return None

    def _row_axes(
        self, method: str, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> tuple[Sequence[str], dict[str, int]]:
        return [a.name for a in self.parameters], {}

    def _recipe(self) -> Callable[..., DataSet]:
        return functools.partial(DataSet, self._density)

    def _held(self) -> dict[str, Array]:
        if self._pieces is not None:
            return self._pieces.held()
        return {n: as_host(self._runtime, v) for n, v in self._data.items()}

    def _piece(self, data: Mapping[str, np.ndarray | HostRows], runtime: Runtime) -> DataSet:
        piece = self.__copy__()
        piece._pieces = None
        piece._bind({n: np.asarray(v) for n, v in data.items()}, runtime)
        piece.n_rows = piece._data[self._names[0]].shape[0]
        return piece

    def _places(self) -> Mapping[str, Array] | None:
        return None if self._runtime.host_visible else self._data

    def _trial(self) -> tuple[Value, ...]:
        return tuple(example(a, 0) for a in self.parameters)


class DataSetProblem(Problem):
    """Data set as a fit maximises its likelihood."""

    def __init__(self, data: DataSet, n_observations: float):
        self.data, self.n_observations = data, n_observations
        self.name, self.single = data.name, data.dtype.itemsize == 4
        self.domains = {a.name: a.words for a in data.parameters}

    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {n: given[n] for n in self.domains}

    def expand(self, values: Named, wrt: Sequence[str], second: bool) -> Expanded:
        return self.data.value_and_grad(*(values[n] for n in self.domains), wrt=tuple(wrt))

    def score_sums(self, values: Named, wrt: Sequence[str], clusters: np.ndarray | None, n_clusters: int) -> Doubles:
        raise NotImplementedError(
            f"errors from single scores: fit gpustats.Likelihood(gpustats.{self.name}, x, memory=…), which has them"
        )
