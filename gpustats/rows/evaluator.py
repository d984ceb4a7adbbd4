"""Evaluation of a model of rows: its passes over the data, and the results made of theirs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ..evaluation.pieces import Place, copy_pieces
from ..evaluation.repeated import Elements, Kept, KeptPlaces, RepeatedCall, Result, Results, Work, in_lines
from ..kernels.layout import MOST_BLOCKS_Y
from ..rewriting.stepwise import NotStepwise
from ..rewriting.terms_by_step import terms_by_step
from ..runtime.cached import cached_property
from .calls import Call, Unchanging
from .launch import Launch
from .leaves import Dot, Gather, Leaf, PerRow, SparseDot, StepGather
from .long_sequences import LongSequences
from .long_steps import LongSteps
from .number_arguments import NumberArguments
from .parts import reason_against
from .passes import Pass, Sets, Sweeps, runs
from .second_passes import SecondOfPairs, pairs_by_order
from .sheet import Sheet
from .tasks import Pairs, Task

if TYPE_CHECKING:
    from ..rewriting.stages import Stage
    from ..runtime.base import Runtime
    from ..runtime.types import Array, DType, Handle, KernelValue, Shape
    from .binding import RowFunction
    from .parameters import Packing

#: Key of an order of the rows: the indices of a table, by identity; () for the order in which the data came.
Key = tuple[int, ...]

R = TypeVar("R")
P = TypeVar("P", LongSequences, LongSteps)
_DOUBLE = np.dtype(np.float64)
MOST_STORED = 0.25  # of a device's memory, for reverse sweeps and for parts of long sequences


class Copy(NamedTuple):
    """Derivative that a kernel copies to an array on the device from the numbers that all kernels leave."""

    start: int  # of the numbers of the first set
    step: int  # from a set's numbers to the next one's
    size: int  # numbers of a set
    to: int  # place in the array


class Evaluator:
    """Evaluator of a model.

    Parameters
    ----------
    arguments : NumberArguments
    dtype : dtype
        Type of the computation.
    runtime : Runtime
    """

    def __init__(self, arguments: NumberArguments, dtype: DType, runtime: Runtime):
        self._arguments, self._dtype, self._runtime = arguments, dtype, runtime
        self._row, self._leaves, self._made_of = arguments.row, arguments.leaves, arguments.made_of
        self._types = {p.name: p.type for p in self._row.function.parameters}
        self._main = _main_order(self._leaves.values())
        self._sheets: dict[Key, Sheet] = {}
        self._passes: dict[tuple[Key, Task, Sets, Sweeps], Pass] = {}
        self._writing: dict[tuple[RowFunction, tuple[str, ...], Sets], Pass] = {}  # outputs by step
        self._long: dict[tuple[tuple[str, ...], bool], LongSequences | str] = {}
        self._long_steps: dict[tuple[RowFunction, bool], LongSteps | str] = {}

    def value_and_derivatives(self, wrt: Sequence[str], packing: Packing, n_rows: int) -> Call:
        """Repeated call of the sum, and of its derivatives in some parameters, (sets, …).

        Derivatives in parameters that are on the device may be device arrays.
        """
        n_sets, lead = packing.n_sets, packing.lead
        shapes = {n: (n_sets, *packing.cores[n]) for n in wrt}
        if not n_rows * n_sets:
            return Unchanging(lambda: (np.zeros(lead) if lead else 0.0, {n: np.zeros(shape) for n, shape in shapes.items()}))
        if not isinstance(long := self.in_parts(wrt, packing), str):
            return long.call(packing, wrt)
        passes = [self._swept_or_not(*t, packing) for t in self._tasks(wrt).items()]
        launches = _launches(passes, packing, n_rows)
        given = {n: own for n in wrt if math.prod(own := packing.shapes[n]) == math.prod(shapes[n])}
        results, copies = list[Result](), list[Copy]()
        n_kept, end = sum(len(launch.kept) for launch in launches), 0
        for n in wrt:
            parts = [
                Result(n, places, shapes[n], None if _is_all(places.shape, elements, shapes[n]) else elements, of_kept)
                for places, elements, of_kept in self._parts(n, launches)
            ]
            if n in packing.on_device and n in given and (found := in_lines(parts)) is not None:
                parts = [Result(n, np.broadcast_to(0, shapes[n]), shapes[n], kept=n_kept, first=end)]
                copies.append(Copy(*found, math.prod(packing.cores[n]), end))
                end += math.prod(shapes[n])
            results += parts
        read = Results(results, launches[0].sums[:, 0], lead or None, given)
        compiled = not any(made.of_rows or made.kernel.endless for made in passes)
        return _repeated(self._runtime, packing, launches, read, read if compiled else None, copies)

    def terms(self, names: Sequence[str], packing: Packing, n_rows: int) -> Call:
        """Repeated call of the value of each row, (sets, N); `names` are not used."""
        if not n_rows * packing.n_sets:
            return Unchanging(lambda: np.zeros((packing.n_sets, n_rows), self._dtype))
        n_sets, (launch, order) = packing.n_sets, self.launch_of_terms(packing, n_rows)

        def read(numbers: np.ndarray, kept: Sequence[Array]) -> Array:
            terms = kept[0]
            if order is not None:
                moved, terms = terms, np.empty_like(terms)
                terms[:, order] = moved
            return terms

        places = np.arange(n_sets * n_rows).reshape(n_sets, n_rows)
        own = Result("terms", places, places.shape, None if order is None else (order,), 0)
        results = None if launch.made.kernel.endless else Results([own], np.empty((n_sets, 0), int))
        return _repeated(self._runtime, packing, [launch], read, results)

    def launch_of_terms(self, packing: Packing, n_rows: int) -> tuple[Launch, np.ndarray | None]:
        """Launch whose one kept result is the value of each row, (sets, N), and the row of each; None: in their order."""
        made = self._pass(self._main, Task(value=False, terms=True), Sets.of(packing))
        groups = made.sheet.groups
        return Launch(made, packing, n_rows), None if groups is None else groups.segments.order

    def steps(
        self, row: RowFunction, names: Sequence[str], packing: Packing, n_rows: int, stream: Sequence[int] = (),
        only: Stage | None = None,
    ) -> Call:  # fmt: skip
        """Repeated call of outputs by step, (sets, T) each, of a row function that writes them, by their names in C.

        Where it draws, `stream` is the place of the first draw. `only` is the stage that it consists of, if that is known.
        """
        if not n_rows * packing.n_sets:
            return Unchanging(lambda: [np.zeros((packing.n_sets, self._sheet(self._main).n_steps), self._dtype)] * len(names))
        if not isinstance(long := self.steps_in_parts(row, packing, only), str):
            return long.call(packing, names, stream)
        kind = row, tuple(names), Sets.of(packing)
        if kind not in self._writing:
            leaves = self._leaves_of(row)
            task = Task(value=False, steps=tuple(names))
            self._writing[kind] = Pass(row, leaves, self._made_of, self._sheet(self._main), task, Sets.of(packing))
        launch = Launch(self._writing[kind], packing, n_rows, stream=stream)
        return _repeated(self._runtime, packing, [launch], lambda numbers, kept: kept)

    def terms_by_step(self, names: Sequence[str], packing: Packing, n_rows: int) -> Call:
        """Repeated call of what each step adds to the value of its row, (sets, T); `names` are not used.

        `NotStepwise` where the value is no sum over the steps.
        """
        row, stage = self._writing_terms
        return self.steps(row, [row.function.parameters[-1].name], packing, n_rows, only=stage)

    @cached_property
    def _writing_terms(self) -> tuple[RowFunction, Stage]:
        functions = dict(self._row.functions)
        made, stage = terms_by_step(self._row.function, functions)
        return replace(self._row, function=made, functions=functions), stage

    def second(self, names: Sequence[str], packing: Packing, n_rows: int) -> Call:
        """Repeated call of the second derivatives in parameters that are numbers, (sets, P, P)."""
        n_sets, size = packing.n_sets, len(names)
        if not n_rows * n_sets * size:
            return Unchanging(lambda: np.zeros((n_sets, size, size)))
        arguments = tuple(c for n in names for c in self._arguments.of_parameter(n))
        pairs = tuple((a, b) for i, a in enumerate(arguments) for b in arguments[: i + 1])
        made = self._pass(self._main, Task(value=False, second=Pairs(sums=pairs)), Sets.of(packing))
        lower = np.tril_indices(size)

        def read(numbers: np.ndarray, kept: Sequence[Array]) -> np.ndarray:
            result = np.empty((n_sets, size, size))
            result[:, *lower] = result[:, *lower[::-1]] = numbers.reshape(n_sets, -1)
            return result

        return _repeated(self._runtime, packing, _launches([made], packing, n_rows), read)

    def second_of_pairs(self, names: Sequence[str], packing: Packing, n_rows: int) -> Call:
        """Repeated call of the second derivatives in pairs of arguments that are made of parameters: see `SecondOfPairs`."""
        arguments = [c for n in names for c in self._arguments.of_parameter(n)]
        if not n_rows or not arguments:
            return Unchanging(dict)
        tables = {c: leaf for c in arguments if isinstance(leaf := self._leaves[c], Gather)}
        shapes = {c: packing.cores[self._made_of[c]][: len(leaf.indices)] for c, leaf in tables.items()}
        tasks = pairs_by_order(arguments, self._leaves, shapes, self._main)
        passes = [self._pass(order, Task(value=False, second=pairs), Sets.of(packing)) for order, pairs in tasks.items()]
        launches = _launches(passes, packing, n_rows)
        return _repeated(self._runtime, packing, launches, SecondOfPairs(launches, packing))

    def along(self, names: Sequence[str]) -> Evaluator:
        """Evaluator of the derivative in a direction: see `NumberArguments.along`.

        The derivatives of that are the product of the Hessian and the direction.
        """
        return Evaluator(self._arguments.along(names), self._dtype, self._runtime)

    def in_parts(self, wrt: Collection[str], packing: Packing) -> LongSequences | str:
        """Kernels that go through parts of long sequences side by side; or why there are none."""
        if why := reason_against(self._leaves, self._runtime.device.type):
            return why
        arguments = tuple(c for n in wrt for c in self._arguments.of_parameter(n))
        kind = arguments, packing.by_value
        if kind not in self._long:
            try:
                self._long[kind] = LongSequences(self._row, self._leaves, self._made_of, self._one_after_another, *kind)
            except NotStepwise as reason:
                self._long[kind] = str(reason)
        return self._if_room(self._long[kind], packing)

    def steps_in_parts(self, row: RowFunction, packing: Packing, only: Stage | None = None) -> LongSteps | str:
        """Kernels that go through parts of long sequences side by side for outputs by step; or why there are none."""
        leaves = self._leaves_of(row)
        if why := reason_against(leaves, self._runtime.device.type):
            return why
        kind = row, packing.by_value
        if kind not in self._long_steps:
            try:
                self._long_steps[kind] = LongSteps(row, leaves, self._one_after_another, packing.by_value, only)
            except NotStepwise as reason:
                self._long_steps[kind] = str(reason)
        return self._if_room(self._long_steps[kind], packing)

    def terms_in_parts(self, packing: Packing) -> LongSteps | str:
        """The same for terms by step."""
        row, stage = self._writing_terms
        return self.steps_in_parts(row, packing, stage)

    def _if_room(self, found: P | str, packing: Packing) -> P | str:
        """Kernels, or why there are none, which may be that they would take too much memory."""
        most = MOST_STORED * self._runtime.device.memory
        if not isinstance(found, str) and (packing.n_sets * found.stored > most or packing.n_sets > MOST_BLOCKS_Y):
            return f"parts of all {packing.n_sets} sets of parameters would take too much memory"
        return found

    @cached_property
    def _one_after_another(self) -> Sheet:
        """Data for sequences that are gone through in parts."""
        return Sheet(self._leaves, self._made_of, self._types, self._dtype, self._runtime, lanes=1)

    def _leaves_of(self, row: RowFunction) -> dict[str, Leaf]:
        """Leaves of the parameters of a function: without weights where it has none."""
        own = {p.name for p in row.function.parameters}
        return {n: leaf for n, leaf in self._leaves.items() if n in own}

    def source(self, wrt: Collection[str], sets: Sets) -> str:
        """Source of the kernels that compute the value and the derivatives."""
        tasks = self._tasks(wrt).items()
        sweeps = [Sweeps.NONE if self._sheet(key).dealt is None else Sweeps.OF_TURNS for key, _ in tasks]
        return "\n".join(self._pass(*t, sets, s).source for t, s in zip(tasks, sweeps, strict=True))

    # -- passes

    def _sheet(self, key: Key) -> Sheet:
        if key not in self._sheets:
            gathers = (leaf for leaf in self._leaves.values() if isinstance(leaf, Gather))
            indices = next((leaf.varying for leaf in gathers if leaf.order == key), ())
            self._sheets[key] = Sheet(
                self._leaves, self._made_of, self._types, self._dtype, self._runtime, indices if key else ()
            )
        return self._sheets[key]

    def _pass(self, key: Key, task: Task, sets: Sets, sweeps: Sweeps = Sweeps.NONE) -> Pass:
        kind = key, task, sets, sweeps
        if kind not in self._passes:
            self._passes[kind] = Pass(self._row, self._leaves, self._made_of, self._sheet(key), task, sets, sweeps)
        return self._passes[kind]

    def _swept_or_not(self, key: Key, task: Task, packing: Packing) -> Pass:
        """Pass with reverse sweeps through sequences, unless what they store of all sets is too much for the device."""
        sets = Sets.of(packing)
        for sweeps in (Sweeps.OF_TURNS, Sweeps.OF_CHECKPOINTS) if self._sheet(key).dealt is not None else ():
            made = self._pass(key, task, sets, sweeps)
            if (n_bytes := made.stored(packing.n_sets)) <= MOST_STORED * self._runtime.device.memory:
                return made
            if task.gathered and sweeps is Sweeps.OF_CHECKPOINTS:
                taken = f"derivatives in {task.gathered[0]} take {n_bytes} bytes for the steps"
                raise MemoryError(f"{taken}: give fewer sets at once")
        return self._pass(key, task, sets)

    def differentiated(self, wrt: Collection[str], packing: Packing) -> str:
        """Words for the way in which loops over sequences are differentiated."""
        passes = [self._swept_or_not(*task, packing) for task in self._tasks(wrt).items()]
        stored = {made.sweeps for made in passes if made.tapes or made.checkpoints}
        n_bytes = sum(made.stored(packing.n_sets) for made in passes)
        ways = [f"backwards, with {sweeps.value} stored in {n_bytes} bytes" for sweeps in stored]
        return "it is differentiated " + (" and ".join(ways) or "forwards")

    def _tasks(self, wrt: Collection[str]) -> dict[Key, Task]:
        """Passes for derivatives in some parameters: one for the sums, and one for each further order of the rows."""
        main = self._main
        tasks = {main: Task()}
        for name in (c for n in wrt for c in self._arguments.of_parameter(n)):
            match leaf := self._leaves[name]:
                case Gather():
                    task = tasks.get(leaf.order, Task(value=False))
                    tasks[leaf.order] = replace(task, tables=(*task.tables, name))
                case Dot():
                    tasks[main] = replace(tasks[main], slopes=(*tasks[main].slopes, name))
                case SparseDot():
                    tasks[main] = replace(tasks[main], products=(*tasks[main].products, name))
                case PerRow():
                    tasks[main] = replace(tasks[main], rows=(*tasks[main].rows, name))
                case StepGather():
                    tasks[main] = replace(tasks[main], gathered=(*tasks[main].gathered, name))
                case _:
                    tasks[main] = replace(tasks[main], sums=(*tasks[main].sums, name))
        return tasks

    def _parts(
        self, parameter: str, launches: Sequence[Launch]
    ) -> Iterator[tuple[np.ndarray, Elements, int | None]]:
        """Parts of the derivatives in a parameter: see `places`, `elements` and `kept` of `Result`."""
        own = self._arguments.of_parameter(parameter)
        for launch in launches:
            made = launch.made
            task, place = made.task, int(made.task.value)
            for run in runs(task.sums, self._leaves):
                if run[0] in own:
                    of_vector = slice(place, place + len(run)) if self._leaves[run[0]].elements else place
                    yield launch.sums[:, of_vector], (slice(None),) * self._is_vector(run), None
                place += len(run)
            slopes = made.slopes_of()
            for name in task.slopes:
                if name in own:
                    leaf = self._leaves[name]
                    element = (leaf.element,) if leaf.elements else ()
                    yield launch.sums[:, slopes[name]], (slice(None), *element), None
            for run, (places, of_kept) in zip(made.runs, launch.tables, strict=True):
                if run[0] in own:
                    leaf = self._leaves[run[0]]
                    assert made.sheet.groups is not None and isinstance(leaf, Gather)
                    elements = made.sheet.groups.elements(leaf)
                    yield places, (*elements, *(slice(None),) * self._is_vector(run)), of_kept
            for name, (places, of_kept) in zip(task.gathered, launch.gathered, strict=True):
                if name in own:
                    yield places, made.sheet.step_tables[name].groups.places, of_kept
            for name, (places, of_kept) in zip(task.products, launch.products, strict=True):
                if name in own:
                    leaf = self._leaves[name]
                    element = (leaf.element,) if leaf.elements else ()
                    yield places, (slice(None), *element), of_kept
            if parameter in made.of_rows:
                places, of_kept = launch.rows[list(made.of_rows).index(parameter)]
                yield places, (slice(None),), of_kept

    def _is_vector(self, run: Sequence[str]) -> bool:
        return self._leaves[run[0]].elements > 0


def _is_all(found: Shape, elements: Elements, shape: Shape) -> bool:
    """True if numbers of a shape, for some elements of a derivative, are all of it."""
    return found == shape and all(isinstance(place, slice) for place in elements)


def _launches(passes: Sequence[Pass], packing: Packing, n_rows: int) -> list[Launch]:
    """Launches of passes that run one after another, whose results lie one behind another."""
    launches: list[Launch] = []
    offset = n_kept = 0
    for made in passes:
        launches.append(Launch(made, packing, n_rows, offset, n_kept))
        offset, n_kept = offset + launches[-1].size, n_kept + len(launches[-1].kept)
    return launches


def _repeated(
    runtime: Runtime, packing: Packing, launches: Sequence[Launch], read: Callable[[np.ndarray, Sequence[Array]], R],
    results: Results | None = None, copies: Sequence[Copy] = (),
) -> RepeatedCall[R]:  # fmt: skip
    """Repeated call of launches: see `RepeatedCall`. The array of the `copies` is the last kept result."""
    kept, n_sets = list(itertools.chain(*(launch.kept for launch in launches))), packing.n_sets
    ends = [0, *itertools.accumulate(len(launch.kept) for launch in launches)]
    parts = [(launch, slice(*ends[i : i + 2])) for i, launch in enumerate(launches)]

    def start(found: Handle, taken: list[KernelValue], places: KeptPlaces) -> None:
        for launch, part in parts:
            launch.start(taken, found, places[part])
        pieces = [(Place(found, c.start, c.step), Place(places[-1][0], places[-1][1] + c.to, c.size), c.size) for c in copies]
        copy_pieces(runtime, _DOUBLE, pieces, n_sets)

    work = Work(sum(launch.size for launch in launches), start)
    if copies:
        kept.append(Kept((n_sets * sum(c.size for c in copies),), _DOUBLE, native=True))
    return RepeatedCall(packing.slots(runtime), work, read, tuple(packing.shapes), results=results, kept=kept)


def _main_order(leaves: Collection[Leaf]) -> Key:
    """Order of the rows in which sums are taken: by the groups of the largest table.

    As they came, where rows have numbers of their own, or products with sparse matrices.
    """
    gathers = [leaf for leaf in leaves if isinstance(leaf, Gather)]
    if not gathers or any(isinstance(leaf, PerRow | SparseDot) for leaf in leaves):
        return ()
    return max(gathers, key=lambda leaf: max(int(index.max(initial=0)) for index in leaf.varying)).order
