"""What evaluates a model of rows: its passes over the data, and what becomes of their results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..language.nodes import VECTOR
from ..rewriting.unrolling import unrolled
from .leaves import Column, Dot, Gather, Leaf, PerRow
from .passes import Launched, Pass, Task
from .sheet import Sheet

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from .binding import Binding
    from .parameters import Packed

#: What tells an order of the rows: the indices of a table, by identity; () for the order in which the data came.
Key = tuple[int, ...]


class Evaluator:
    """Evaluates a model for vectors of one length.

    Parameters
    ----------
    bound : Binding
    length : int
        Of the function's vectors; 0 where it has none.
    runtime : Runtime
    """

    def __init__(self, bound: Binding, length: int, runtime: Runtime):
        self._bound, self._runtime = bound, runtime
        self._row, self._leaves, self._made_of = bound.row, dict[str, Leaf](), dict[str, str]()
        if bound.vectors:
            functions = dict(bound.row.functions)
            self._row = replace(bound.row, function=unrolled(bound.row.function, length, functions), functions=functions)
        names = iter(p.name for p in self._row.function.parameters)
        by_name = {c: argument for argument, c in bound.c_names.items()}
        for p in bound.row.function.parameters:
            if p.name == "dim":
                continue
            argument = by_name[p.name]
            leaf = bound.leaves[argument]
            elements = [_element(leaf, i, length) for i in range(length)] if p.type == VECTOR else [leaf]
            for element in elements:
                name = next(names)
                self._leaves[name] = element
                if not isinstance(leaf, Column):
                    self._made_of[name] = leaf.of or argument
        self._of_parameter = {n: [c for c, made_of in self._made_of.items() if made_of == n] for n in bound.parameters}
        self._types = {p.name: p.type for p in self._row.function.parameters}
        self._main = _main_order(self._leaves.values())
        self._sheets: dict[Key, Sheet] = {}
        self._passes: dict[tuple[Key, Task], Pass] = {}

    def value_and_derivatives(
        self, wrt: Collection[str], numbers: Packed, n_rows: int
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The sums, one for each set of parameters, and the derivatives in some parameters, (sets, …)."""
        n_sets = numbers.numbers.shape[0]
        found = {n: np.zeros((n_sets, *numbers.cores[n])) for n in wrt}
        if not n_rows * n_sets:
            return np.zeros(n_sets), found
        passes = [self._pass(key, task) for key, task in self._tasks(wrt).items()]
        results = self._run(passes, numbers, n_rows)
        for made, (sums, tables, rows) in zip(passes, results, strict=True):
            self._collect(made, sums, tables, rows, found)
        return results[0][0][:, 0], found

    def terms(self, numbers: Packed, n_rows: int) -> np.ndarray:
        """The value of each row, (sets, N)."""
        n_sets = numbers.numbers.shape[0]
        if not n_rows * n_sets:
            return np.zeros((n_sets, n_rows), self._bound.dtype)
        made = self._pass(self._main, Task(value=False, terms=True))
        (found,) = self._run([made], numbers, n_rows)[0][2].values()
        if (groups := made.sheet.groups) is not None:
            moved, found = found, np.empty_like(found)
            found[:, groups.segments.order] = moved
        return found

    def second(self, names: Sequence[str], numbers: Packed, n_rows: int) -> np.ndarray:
        """The second derivatives in parameters that are numbers, (sets, P, P)."""
        n_sets, size = numbers.numbers.shape[0], len(names)
        result = np.zeros((n_sets, size, size))
        if not n_rows * n_sets * size:
            return result
        arguments = tuple(c for n in names for c in self._of_parameter[n])
        made = self._pass(self._main, Task(value=False, sums=arguments, second=True))
        sums = self._run([made], numbers, n_rows)[0][0]
        places = [(i, j) for i in range(size) for j in range(i + 1)]
        for k, (i, j) in enumerate(places):
            result[:, i, j] = result[:, j, i] = sums[:, k]
        return result

    def source(self, wrt: Collection[str]) -> str:
        """The source of the kernels that compute the value and the derivatives."""
        return "\n".join(self._pass(key, task).source for key, task in self._tasks(wrt).items())

    # -- passes

    def _sheet(self, key: Key) -> Sheet:
        if key not in self._sheets:
            gathers = (leaf for leaf in self._leaves.values() if isinstance(leaf, Gather))
            indices = next((leaf.indices for leaf in gathers if _key(leaf) == key), ())
            self._sheets[key] = Sheet(
                self._leaves, self._made_of, self._types, self._bound.dtype, self._runtime, indices if key else ()
            )
        return self._sheets[key]

    def _pass(self, key: Key, task: Task) -> Pass:
        if (key, task) not in self._passes:
            self._passes[key, task] = Pass(self._row, self._leaves, self._sheet(key), task)
        return self._passes[key, task]

    def _tasks(self, wrt: Collection[str]) -> dict[Key, Task]:
        """The passes that derivatives in some parameters take: that of the sums, and one for each further order of the rows."""
        main = self._main
        tasks = {main: Task()}
        for name in (c for n in wrt for c in self._of_parameter[n]):
            match leaf := self._leaves[name]:
                case Gather():
                    task = tasks.get(_key(leaf), Task(value=False))
                    tasks[_key(leaf)] = replace(task, tables=(*task.tables, name))
                case Dot():
                    tasks[main] = replace(tasks[main], slopes=(*tasks[main].slopes, name))
                case PerRow():
                    tasks[main] = replace(tasks[main], rows=(*tasks[main].rows, name))
                case _:
                    tasks[main] = replace(tasks[main], sums=(*tasks[main].sums, name))
        return tasks

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

    def _collect(
        self, made: Pass, sums: np.ndarray, tables: np.ndarray, rows: Mapping[str, np.ndarray], found: dict[str, np.ndarray]
    ) -> None:
        """Add what a pass has found to the derivatives in the parameters."""
        task = made.task
        for i, name in enumerate(task.sums, int(task.value)):
            self._part(name, found)[...] += sums[:, i]
        for name, columns in made.slopes_of().items():
            self._part(name, found)[...] += sums[:, columns]
        for i, name in enumerate(task.tables):
            assert made.sheet.groups is not None
            self._part(name, found)[(slice(None), *made.sheet.groups.places)] += tables[:, :, i]
        for name, written in zip(task.rows, list(rows.values())[int(task.terms) :], strict=True):
            leaf, parameter = self._leaves[name], self._made_of[name]
            assert isinstance(leaf, PerRow)
            if found[parameter].shape == written.shape and len(self._of_parameter[parameter]) == 1:
                found[parameter] = written
            else:
                found[parameter][:, leaf.offset : leaf.offset + written.shape[1]] += written

    def _part(self, name: str, found: Mapping[str, np.ndarray]) -> np.ndarray:
        """The derivatives in the parameter of an argument: of a vector those in one element."""
        leaf, derivatives = self._leaves[name], found[self._made_of[name]]
        return derivatives[..., leaf.element] if leaf.elements else derivatives


def _element(leaf: Leaf, i: int, length: int) -> Leaf:
    """The leaf of an element of a vector."""
    if isinstance(leaf, Column):
        return Column(None, np.ascontiguousarray(leaf.numbers[:, i]))
    return replace(leaf, element=i, elements=length)


def _key(leaf: Gather) -> Key:
    return tuple(map(id, leaf.indices))


def _main_order(leaves: Collection[Leaf]) -> Key:
    """The order of the rows in which sums are taken: by the groups of the largest table, unless rows have their own numbers."""
    gathers = [leaf for leaf in leaves if isinstance(leaf, Gather)]
    if not gathers or any(isinstance(leaf, PerRow) for leaf in leaves):
        return ()
    return _key(max(gathers, key=lambda leaf: max(int(index.max(initial=0)) for index in leaf.indices)))
