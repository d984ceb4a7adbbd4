"""Evaluation of a model of rows: its passes over the data, and the results made of theirs."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ..evaluation.repeated import SumReplay
from ..evaluation.results import as_host
from ..evaluation.starter import Starter
from ..language.nodes import VECTOR
from ..rewriting.differentiate import directional
from ..rewriting.unrolling import unrolled
from ..runtime.arrays import is_device_array
from .launch import Launch, Left, Started
from .leaves import Column, Dot, Gather, Leaf, PerRow
from .parameters import along_of
from .passes import Pass, Sets, Task, runs
from .sheet import Groups, Sheet

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.replay import Replay
    from ..runtime.types import Array, Handle, Shape
    from .binding import Binding
    from .parameters import Packing, Sent

#: Key of an order of the rows: the indices of a table, by identity; () for the order in which the data came.
Key = tuple[int, ...]

Found = TypeVar("Found")
#: Takes the values of all parameters, in their order, and starts kernels; what it gives waits for what they find.
Evaluation = Callable[[Sequence[Any]], Callable[[], Any]]


class Evaluator:
    """Evaluator of a model for vectors of one length.

    Parameters
    ----------
    bound : Binding
    length : int
        Length of the function's vectors; 0 where it has none.
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
        self._passes: dict[tuple[Key, Task, Sets], Pass] = {}

    def value_and_derivatives(self, wrt: Sequence[str], packing: Packing, n_rows: int) -> Evaluation:
        """Evaluation of the sums, one for each set of parameters, and of the derivatives in some parameters, (sets, …).

        Derivatives in parameters that are on the device may be device arrays.
        """
        n_sets = packing.n_sets
        if not n_rows * n_sets:
            nothing = np.zeros(n_sets), {n: np.zeros((n_sets, *packing.cores[n])) for n in wrt}
            return lambda values: lambda: copy.deepcopy(nothing)
        tasks = self._tasks(wrt)
        passes = [self._pass(*t, Sets.of(packing)) for t in tasks.items()]
        call = Call(self._runtime, packing, n_rows, passes)
        parts = {n: list(self._parts(n, call)) for n in wrt}
        shapes = {n: packing.lead + packing.cores[n] for n in wrt}

        def found(left: Sequence[Left]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
            return left[0].sums[:, 0], {
                n: _derivative(self._runtime, of_name, left, shapes[n], (n_sets, *packing.cores[n]), n in packing.on_device)
                for n, of_name in parts.items()
            }

        return lambda values: call.start(values, found)

    def replay(self, wrt: Sequence[str], packing: Packing, n_rows: int) -> SumReplay | None:
        """Replay in compiled code of the sum of one set of parameters, and its derivatives; None where they need Python.

        The parameters travel together.
        """
        if not n_rows or (given := packing.places()) is None:
            return None
        passes = [self._pass(*t, Sets.of(packing)) for t in self._tasks(wrt).items()]
        if any(made.of_rows or made.kernel.endless for made in passes):
            return None
        call = Call(self._runtime, packing, n_rows, passes)
        if (replay := call.replay()) is None:
            return None
        left = call.left(np.arange(call.size, dtype=np.float64))  # in the place of each number where it lies
        found = {}
        for name in wrt:
            its = []
            for part in self._parts(name, call):
                places = np.full((1, *packing.cores[name]), -1.0)
                places[(slice(None), *part.elements)] = part.among(left)
                elements = np.flatnonzero(places >= 0)
                its.append((elements, places.reshape(-1)[elements].astype(np.int64)))
            found[name] = its
        return SumReplay(replay, given, found)

    def terms(self, names: Sequence[str], packing: Packing, n_rows: int) -> Evaluation:
        """Evaluation of the value of each row, (sets, N); `names` are not used."""
        if not n_rows * packing.n_sets:
            return lambda values: lambda: np.zeros((packing.n_sets, n_rows), self._bound.dtype)
        made = self._pass(self._main, Task(value=False, terms=True), Sets.of(packing))
        call = Call(self._runtime, packing, n_rows, [made])

        def found(left: Sequence[Left]) -> np.ndarray:
            terms = left[0].rows[0]
            if (groups := made.sheet.groups) is not None:
                moved, terms = terms, np.empty_like(terms)
                terms[:, groups.segments.order] = moved
            return terms

        return lambda values: call.start(values, found)

    def second(self, names: Sequence[str], packing: Packing, n_rows: int) -> Evaluation:
        """Evaluation of the second derivatives in parameters that are numbers, (sets, P, P)."""
        n_sets, size = packing.n_sets, len(names)
        if not n_rows * n_sets * size:
            return lambda values: lambda: np.zeros((n_sets, size, size))
        arguments = tuple(c for n in names for c in self._of_parameter[n])
        made = self._pass(self._main, Task(value=False, sums=arguments, second=True), Sets.of(packing))
        call, lower = Call(self._runtime, packing, n_rows, [made]), np.tril_indices(size)

        def found(left: Sequence[Left]) -> np.ndarray:
            result = np.empty((n_sets, size, size))
            result[:, *lower] = result[:, *lower[::-1]] = left[0].sums
            return result

        return lambda values: call.start(values, found)

    def along(self, names: Sequence[str]) -> Evaluator:
        """Evaluator of the derivative in a direction, whose components in some parameters are parameters behind the others.

        `along_of` names them. The derivatives of that are the product of the Hessian and the direction.
        """
        functions = dict(self._row.functions)
        wrt = [c for c, parameter in self._made_of.items() if parameter in names]
        function, twins = directional(self._row.function, wrt, functions)
        made = copy.copy(self)
        made._row = replace(self._row, function=function, functions=functions)
        made._leaves = {**self._leaves, **{twin: self._leaves[name] for name, twin in twins.items()}}
        made._made_of = {**self._made_of, **{twin: along_of(self._made_of[name]) for name, twin in twins.items()}}
        of_twins = {along_of(n): [twins[c] for c in its] for n, its in self._of_parameter.items() if n in names}
        made._of_parameter = {**self._of_parameter, **of_twins}
        made._types = {p.name: p.type for p in function.parameters}
        made._sheets, made._passes = {}, {}
        return made

    def source(self, wrt: Collection[str], sets: Sets) -> str:
        """Source of the kernels that compute the value and the derivatives."""
        return "\n".join(self._pass(key, task, sets).source for key, task in self._tasks(wrt).items())

    # -- passes

    def _sheet(self, key: Key) -> Sheet:
        if key not in self._sheets:
            gathers = (leaf for leaf in self._leaves.values() if isinstance(leaf, Gather))
            indices = next((leaf.varying for leaf in gathers if _key(leaf) == key), ())
            self._sheets[key] = Sheet(
                self._leaves, self._made_of, self._types, self._bound.dtype, self._runtime, indices if key else ()
            )
        return self._sheets[key]

    def _pass(self, key: Key, task: Task, sets: Sets) -> Pass:
        if (key, task, sets) not in self._passes:
            self._passes[key, task, sets] = Pass(self._row, self._leaves, self._made_of, self._sheet(key), task, sets)
        return self._passes[key, task, sets]

    def _tasks(self, wrt: Collection[str]) -> dict[Key, Task]:
        """Passes for derivatives in some parameters: one for the sums, and one for each further order of the rows."""
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

    def _parts(self, parameter: str, call: Call) -> Iterator[Part]:
        """Places of the derivatives in a parameter among the results of passes."""
        own = self._of_parameter[parameter]
        for i, made in enumerate(call.passes):
            task, place = made.task, int(made.task.value)
            for run in runs(task.sums, self._leaves):
                if run[0] in own:
                    of_vector = slice(place, place + len(run)) if self._leaves[run[0]].elements else place
                    yield Part(i, "sums", (slice(None), of_vector), (slice(None),) * self._is_vector(run))
                place += len(run)
            slopes = made.slopes_of()
            for name in task.slopes:
                if name in own:
                    leaf = self._leaves[name]
                    element = (leaf.element,) if leaf.elements else ()
                    yield Part(i, "sums", (slice(None), slopes[name]), (slice(None), *element))
            for place, run in enumerate(made.runs):
                if run[0] in own:
                    assert made.sheet.groups is not None
                    elements = _elements(self._leaves[run[0]], made.sheet.groups)
                    yield Part(i, "tables", place, (*elements, *(slice(None),) * self._is_vector(run)))
            if parameter in made.of_rows:
                yield Part(i, "rows", list(made.of_rows).index(parameter), (slice(None),))

    def _is_vector(self, run: Sequence[str]) -> bool:
        return self._leaves[run[0]].elements > 0


class Part(NamedTuple):
    """Part of the derivatives in a parameter.

    Attributes
    ----------
    launch : int
        The pass that finds them.
    kind, place : str, index
        Which of `Left`, and where in it.
    elements : tuple
        The elements of the parameter that they belong to, as NumPy's indexing takes them.
    """

    launch: int
    kind: str
    place: Any
    elements: tuple[Any, ...]

    def among(self, left: Sequence[Left]) -> Array:
        """Derivatives of this part, (sets, …)."""
        return getattr(left[self.launch], self.kind)[self.place]


def _derivative(
    runtime: Runtime, parts: Sequence[Part], left: Sequence[Left], shape: Shape, of_sets: Shape, native: bool
) -> Array:
    """Derivatives in a parameter, added up from parts; `native`: they may be a device array.

    `shape` and `of_sets` are that of the parameter with all axes of the sets, and with one axis for all sets.
    """
    if len(parts) == 1:
        found = parts[0].among(left)
        if tuple(found.shape) in (shape, of_sets) and all(isinstance(place, slice) for place in parts[0].elements):
            return found if native else as_host(runtime, found)
    result = np.zeros(of_sets)
    for part in parts:
        found = part.among(left)
        if is_device_array(found):
            found = as_host(runtime, found).reshape(of_sets[0], *found.shape[len(shape) - len(of_sets) + 1 :])
        with np.errstate(invalid="ignore"):  # infinities of both signs are nan, as in a kernel
            result[(slice(None), *part.elements)] += found
    return result


class Call:
    """Calls of one kind: passes that run one after another.

    Parameters
    ----------
    runtime : Runtime
    packing : Packing
    n_rows : int
    passes : sequence of Pass
    """

    def __init__(self, runtime: Runtime, packing: Packing, n_rows: int, passes: Sequence[Pass]):
        self.passes, self.n_rows, self._runtime, self._packing = passes, n_rows, runtime, packing
        self._launches = [Launch(made, packing, n_rows) for made in passes]
        self._offsets = [0, *itertools.accumulate(launch.size for launch in self._launches)]
        self._launch, self._starter = functools.partial(_launch, self._launches, self._offsets), None
        if not any(launch.writes_apart for launch in self._launches):
            self._starter = Starter(runtime, packing.dtype, _Sender(runtime, packing), self.size, self._launch)

    def start(self, values: Sequence[Any], found: Callable[[Sequence[Left]], Found]) -> Callable[[], Found]:
        """Start the passes, for values of the parameters; returns the wait for them, which applies `found` to their results."""
        runtime = self._runtime
        if self._starter is not None:
            wait = self._starter.start(values)
            return lambda: found(self.left(wait()))
        sent = self._packing.sent(runtime, values)
        result = runtime.result(8 * max(self._offsets[-1], 1))
        pairs = list(zip(self._launches, self._offsets, strict=False))
        started = [launch.start(sent, result.handle, offset) for launch, offset in pairs]

        def finish() -> Found:
            numbers = runtime.fetch(result).view(np.float64)
            sent.alive.clear()  # which the kernels were reading
            return found([launch.left(numbers[first:], s) for (launch, first), s in zip(pairs, started, strict=True)])

        return finish

    @property
    def size(self) -> int:
        """Size of the results of the passes in the memory that a call reads, in numbers."""
        return self._offsets[-1]

    def replay(self) -> Replay | None:
        """Replay of the passes in compiled code, with parameters that travel together."""

        packing = self._packing
        return self._runtime.replay(packing.width, self.size, lambda at, to: self._launch(to, packing.given(at)))

    def left(self, numbers: np.ndarray) -> list[Left]:
        """Results of the passes, if all of them lie among these numbers."""
        pairs = zip(self._launches, self._offsets, strict=False)
        return [launch.left(numbers[first:], Started([None] * len(launch.made.runs), [])) for launch, first in pairs]


class _Sender(NamedTuple):
    """Sender of parameters to passes, as a `starter.Sender`."""

    runtime: Runtime
    packing: Packing

    def of(self, arguments: Sequence[Any]) -> tuple[Sent, list[Any]]:
        sent = self.packing.sent(self.runtime, arguments)
        return sent, sent.alive

    def places(self, arguments: Sequence[Any]) -> Sequence[np.ndarray] | None:
        found = self.packing.places()
        return None if found is None else tuple(found.values())

    def given(self, handle: Handle, places: Sequence[np.ndarray]) -> Sent:
        return self.packing.given(handle)


def _launch(launches: Sequence[Launch], offsets: Sequence[int], out: Handle, sent: Sent) -> None:
    """Start passes whose results all lie in the memory that the call reads."""
    for launch, offset in zip(launches, offsets, strict=False):
        launch.start(sent, out, offset)


def _element(leaf: Leaf, i: int, length: int) -> Leaf:
    """Leaf of an element of a vector."""
    if isinstance(leaf, Column):
        return Column(None, np.ascontiguousarray(leaf.numbers[:, i]))
    return replace(leaf, element=i, elements=length)


def _elements(leaf: Leaf, groups: Groups) -> tuple[Any, ...]:
    """Elements of a table: places by the groups of rows, or the place that all rows share, for each axis."""
    assert isinstance(leaf, Gather)
    places = dict(zip(map(id, leaf.varying), groups.places, strict=True))
    return tuple(places[id(index)] if id(index) in places else int(index[0]) for index in leaf.indices)


def _key(leaf: Gather) -> Key:
    return tuple(map(id, leaf.varying))


def _main_order(leaves: Collection[Leaf]) -> Key:
    """Order of the rows in which sums are taken: by the groups of the largest table, unless rows have their own numbers."""
    gathers = [leaf for leaf in leaves if isinstance(leaf, Gather)]
    if not gathers or any(isinstance(leaf, PerRow) for leaf in leaves):
        return ()
    return _key(max(gathers, key=lambda leaf: max(int(index.max(initial=0)) for index in leaf.varying)))
