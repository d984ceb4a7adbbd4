"""A model whose log-likelihood is a sum over rows: a function of a row, and where its arguments have their values from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.arguments import check_wrt_among, match
from ..evaluation.gradient import reduced
from ..runtime import choose
from .binding import Binding, Key, key_of
from .leaves import Dot, Gather, PerRow, Scalar
from .parameters import Packed, packed
from .passes import Launched, Pass, Task
from .sheet import Sheet

if TYPE_CHECKING:
    from ..density import Density
    from ..runtime.base import Device

class Rows:
    """The sum over N rows of a function of a row, with its derivatives: a log-likelihood of any model.

    An argument of the function is a column of data, a number, an element of a table (`gather`), a dot product (`dot`) or a
    number of the row's own (`per_row`). The data stay on the device; a call takes the parameters.

    Parameters
    ----------
    function : str or Density
        The function of a row in C: a `real` function, the last one of the text, which may call the others, registered densities
        (``normal_logpdf(y, mu, sigma)``) and their distribution functions. Or a density, whose logarithm it is.
    weights : (N,) array_like, optional
        How often each row counts.
    **leaves
        For arguments of the function, by their names: a column of data, (N,), which is kept as float64, float32, int32 or
        uint8; or what `gather`, `dot` and `per_row` give. All other arguments are numbers, which a call gives.

    Attributes
    ----------
    parameters : tuple of str
        What a call takes, by name.
    n_rows : int or None
        None where only the parameters tell.

    Raises
    ------
    ValueError
        Where an argument is unknown, or a column, an index or a matrix does not fit, with its name.
    DeviceFunctionError
        Where the C is not right, with the line.

    Notes
    -----
    A parameter is a number, a table of the shape that its indices go through, (k,) coefficients, or (N,) numbers of the rows.
    Leading axes are sets of parameters, by NumPy's rules of broadcasting: several chains share a call, and the bits of each are
    those of a call of its own. Sums are in float64 and always in the same order.

    Examples
    --------
    Growth curves of plants:

    >>> import numpy as np, gpustats as gs
    >>> y, t, plant = np.array([0.4, 0.9, 0.3]), np.array([0.0, 2.0, 1.0]), np.array([0, 0, 1])
    >>> rows = gs.Rows('''
    ... __device__ real growth(real y, real t, real a, real b, real sigma)
    ... { return normal_logpdf(y, a / (1 + exp(-b * t)), sigma); }
    ... ''', y=y, t=t, a=gs.gather(plant), b=gs.gather(plant))
    >>> a, b = np.array([1.0, 0.8]), np.array([0.9, 0.5])
    >>> round(rows(a=a, b=b, sigma=0.1), 4)
    1.6038
    >>> value, gradient = rows.value_and_grad(a=a, b=b, sigma=0.1)
    >>> gradient["b"].round(4)
    array([ 1.0189, -3.7218])
    """

    def __init__(self, function: str | Density, /, *, weights: Any = None, **leaves: Any):
        self._given = function, weights, leaves
        self._bound = bound = Binding(function, weights, leaves)
        self.parameters, self.n_rows = tuple(bound.parameters), bound.n_rows
        self._runtime = choose.get()
        if bound.dtype.itemsize == 8 and not self._runtime.device.double:
            raise ValueError(f"{self._runtime.device} computes in float32 only: pass float32 arrays")
        self._sheets: dict[Key, Sheet] = {}
        self._passes: dict[tuple[Key, Task], Pass] = {}

    @property
    def device(self) -> Device:
        """Where the data lie."""
        return self._runtime.device

    def __repr__(self) -> str:
        n = "rows of its parameters" if self.n_rows is None else f"{self.n_rows} rows"
        return f"<{self._bound.row.name}({', '.join(self._bound.c_names)}) over {n} in {self._bound.dtype} on {self.device.id}>"

    def __reduce__(self) -> Any:
        function, weights, leaves = self._given
        return _made, (function, weights, leaves)

    # -- evaluation

    def __call__(self, **parameters: Any) -> Any:
        """The sum over all rows.

        Parameters
        ----------
        **parameters : array_like
            All of them by name: see the class.

        Returns
        -------
        float or ndarray
            In float64; of the shape of the sets of parameters, where there are several.
        """
        return self._evaluated((), parameters)[0]

    def value_and_grad(self, wrt: str | Collection[str] | None = None, **parameters: Any) -> tuple[Any, dict[str, Any]]:
        """The sum over all rows, and its derivatives.

        Parameters
        ----------
        wrt : str or collection of str, optional
            Names of parameters; by default all.
        **parameters : array_like
            All of them by name: see the class.

        Returns
        -------
        value : float or ndarray
        gradient : dict
            Name -> derivative of the sum of all values, shaped like that parameter.
        """
        names = self.parameters if wrt is None else check_wrt_among(wrt, self.parameters)
        return self._evaluated(names, parameters)

    def terms(self, **parameters: Any) -> np.ndarray:
        """The function's value in each row.

        Parameters
        ----------
        **parameters : array_like
            All of them by name: see the class.

        Returns
        -------
        (N,) ndarray, or (*sets, N)
        """
        values, n_rows = self._values(parameters)
        numbers = packed(self._bound.parameters, values, n_rows, self._bound.dtype)
        n_sets = numbers.numbers.shape[0]
        if not n_rows * n_sets:
            return np.zeros((*numbers.lead, n_rows), self._bound.dtype)
        made = self._pass(self._bound.main, Task(value=False, terms=True))
        _, _, rows = self._run([made], numbers, n_rows)[0]
        (found,) = rows.values()
        if (groups := made.sheet.groups) is not None:
            moved, found = found, np.empty_like(found)
            found[:, groups.segments.order] = moved
        return found.reshape(*numbers.lead, n_rows)

    def hessian(self, wrt: str | Collection[str] | None = None, **parameters: Any) -> np.ndarray:
        """The matrix of second derivatives in parameters that are numbers.

        Parameters
        ----------
        wrt : str or collection of str, optional
            Their names, in the order of the rows of the matrix; by default all.
        **parameters : array_like
            All parameters by name: see the class.

        Returns
        -------
        (P, P) ndarray, or (*sets, P, P)
        """
        numbers_only = [n for n, p in self._bound.parameters.items() if isinstance(p.leaf, Scalar)]
        names = tuple(numbers_only) if wrt is None else check_wrt_among(wrt, numbers_only)
        values, n_rows = self._values(parameters)
        numbers = packed(self._bound.parameters, values, n_rows, self._bound.dtype)
        n_sets, size = numbers.numbers.shape[0], len(names)
        result = np.zeros((n_sets, size, size))
        if n_rows * n_sets * size:
            arguments = [(n, self._bound.c_names[a]) for n in names for a in self._bound.parameters[n].leaves]
            made = self._pass(self._bound.main, Task(value=False, sums=tuple(c for _, c in arguments), second=True))
            sums = self._run([made], numbers, n_rows)[0][0]
            places = [(i, j) for i in range(len(arguments)) for j in range(i + 1)]
            for k, (i, j) in enumerate(places):
                a, b = names.index(arguments[i][0]), names.index(arguments[j][0])
                result[:, a, b] += sums[:, k]
                if i != j:
                    result[:, b, a] += sums[:, k]
        return result.reshape(*numbers.lead, size, size)

    def kernel_source(self, wrt: str | Collection[str] | None = None) -> str:
        """The source of the kernels that compute the value and the derivatives, one for each order in which they take the rows.

        Parameters
        ----------
        wrt : str or collection of str, optional
            Names of parameters; by default all.
        """
        names = self.parameters if wrt is None else check_wrt_among(wrt, self.parameters)
        return "\n".join(self._pass(key, task).source for key, task in self._tasks(names).items())

    # -- how it is done

    def _sheet(self, key: Key) -> Sheet:
        if key not in self._sheets:
            gathers = (leaf for leaf in self._bound.leaves.values() if isinstance(leaf, Gather))
            indices = next((leaf.indices for leaf in gathers if key_of(leaf) == key), ())
            self._sheets[key] = Sheet(self._bound, self._runtime, indices)
        return self._sheets[key]

    def _pass(self, key: Key, task: Task) -> Pass:
        if (key, task) not in self._passes:
            self._passes[key, task] = Pass(self._bound.row, self._bound.leaves, self._sheet(key), task)
        return self._passes[key, task]

    def _tasks(self, wrt: Collection[str]) -> dict[Key, Task]:
        """The passes that derivatives in some parameters take: that of the sums, and one for each further order of the rows."""
        main = self._bound.main
        tasks = {main: Task()}
        for name in wrt:
            for argument, leaf in self._bound.parameters[name].leaves.items():
                c_name = self._bound.c_names[argument]
                match leaf:
                    case Gather():
                        key = key_of(leaf)
                        task = tasks.get(key, Task(value=False))
                        tasks[key] = replace(task, tables=(*task.tables, c_name))
                    case Dot():
                        tasks[main] = replace(tasks[main], slopes=(*tasks[main].slopes, c_name))
                    case PerRow():
                        tasks[main] = replace(tasks[main], rows=(*tasks[main].rows, c_name))
                    case _:
                        tasks[main] = replace(tasks[main], sums=(*tasks[main].sums, c_name))
        return tasks

    def _values(self, parameters: Mapping[str, Any]) -> tuple[list[Any], int]:
        """The parameters of a call in their order, and the number of rows."""
        defaults = {n: v for n, v in self._bound.row.defaults.items() if n in self.parameters}
        values = match(self._bound.row.name, self.parameters, (), parameters, defaults, "parameters")
        if self.n_rows is not None:
            return values, self.n_rows
        for parameter, value in zip(self._bound.parameters.values(), values, strict=True):
            if isinstance(parameter.leaf, PerRow) and np.ndim(value):
                return values, max(np.shape(value)[-1] - parameter.length(0), 0)
        raise ValueError(f"{self._bound.row.name} has no data, and no parameter tells the number of rows")

    def _run(
        self, passes: Sequence[Pass], numbers: Packed, n_rows: int
    ) -> list[tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]]:
        """For each pass its sums, the elements of tables, and what it writes for each row."""
        runtime, n_sets = self._runtime, numbers.numbers.shape[0]
        sizes = [sum(p.numbers(n_sets)) for p in passes]
        array = numbers.numbers if numbers.numbers.size else np.zeros(1, self._bound.dtype)
        handle, offset = runtime.memory(array)
        result = runtime.result(8 * max(sum(sizes), 1))
        launched: list[Launched] = []
        for i, made in enumerate(passes):
            place = handle, offset // array.itemsize
            launched.append(made.launch(numbers, place, n_rows, result.handle, sum(sizes[:i])))
        fetched = runtime.fetch(result).view(np.float64).copy()
        del handle  # which the kernels were reading
        on_host: Callable[[Any], np.ndarray] = np.asarray if runtime.host_visible else runtime.to_host
        return [
            (*p.split(its, fetched, n_sets), {n: on_host(a) for n, a in its.rows.items()})
            for p, its in zip(passes, launched, strict=True)
        ]

    def _evaluated(self, wrt: Collection[str], parameters: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The value, and the derivatives in some parameters."""
        values, n_rows = self._values(parameters)
        numbers = packed(self._bound.parameters, values, n_rows, self._bound.dtype)
        n_sets = numbers.numbers.shape[0]
        found = {n: np.zeros((n_sets, *numbers.cores[n])) for n in wrt}
        value = np.zeros(n_sets)
        if n_rows * n_sets:
            passes = [self._pass(key, task) for key, task in self._tasks(wrt).items()]
            results = self._run(passes, numbers, n_rows)
            value = results[0][0][:, 0]
            for made, (sums, tables, rows) in zip(passes, results, strict=True):
                self._collect(made, sums, tables, rows, found)
        gradients: dict[str, Any] = {}
        for name in wrt:
            summed = reduced(found[name].reshape((*numbers.lead, *numbers.cores[name])), numbers.shapes[name])
            gradients[name] = float(summed) if not numbers.shapes[name] else summed
        return (value.reshape(numbers.lead) if numbers.lead else float(value[0])), gradients

    def _collect(
        self, made: Pass, sums: np.ndarray, tables: np.ndarray, rows: Mapping[str, np.ndarray], found: dict[str, np.ndarray]
    ) -> None:
        """Add what a pass has found to the derivatives in the parameters."""
        made_of, task = self._bound.made_of, made.task
        for i, name in enumerate(task.sums, int(task.value)):
            found[made_of[name]] += sums[:, i]
        for name, columns in made.slopes_of().items():
            found[made_of[name]] += sums[:, columns]
        for i, name in enumerate(task.tables):
            assert made.sheet.groups is not None
            found[made_of[name]][(slice(None), *made.sheet.groups.places)] += tables[:, :, i]
        for name, written in zip(task.rows, list(rows.values())[int(task.terms) :], strict=True):
            leaf = self._bound.leaves[name]
            assert isinstance(leaf, PerRow)
            if found[made_of[name]].shape == written.shape and len(self._bound.parameters[made_of[name]].leaves) == 1:
                found[made_of[name]] = written
                continue
            found[made_of[name]][:, leaf.offset : leaf.offset + written.shape[1]] += written


def _made(function: Any, weights: Any, leaves: Mapping[str, Any]) -> Rows:
    return Rows(function, weights=weights, **leaves)
