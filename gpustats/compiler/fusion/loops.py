"""Rows that are loops: each goes through the steps of scans, and adds an element of the term at a step."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import toposort
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from .along import Along, At, Entry, Pick
from .expression import Expression
from .frozen import Frozen
from .joined import among
from .loop_text import Loop, State, loop_text
from .reader import IDENTITY_OPS, Argument, Reader, below_shuffle, name_of, without_shuffles
from .scalar_ops import UnknownLength, Unsupported
from .scans import Scanned
from .slots import Reading, Slots, slots_of

MOST_STATES = 32  # numbers that a row keeps from step to step
MOST_BY_STEP = 16  # elements of a table of which each step chooses one
NAMES = "t", "n", "total", "valid"  # in the text of a loop


class _OfScans(Reader):
    """Reader of a term in which nothing that follows from scans is left to PyTensor."""

    def __init__(self, frozen: Frozen, hoist: bool):
        super().__init__(frozen, hoist)
        self._scanned: set[Variable] = set()
        for node in toposort([frozen.variable]):
            if node in frozen.scans or any(v in self._scanned for v in node.inputs):
                self._scanned.update(node.outputs)

    def is_small(self, v: Variable, at: Sequence[Entry | None]) -> bool:
        return v not in self._scanned and super().is_small(v, at)

    def is_alike(self, condition: Variable) -> bool:
        return condition not in self._scanned and super().is_alike(condition)

    def follows_from_steps(self, v: Variable) -> bool:
        return v in self._scanned

    def _instead(self, v: Variable, at: At, reason: str) -> Expression:
        raise Unsupported(reason)

    def scan(self, node: Apply) -> Scanned:
        found = self.frozen.scans[node]
        if isinstance(found, Unsupported):
            raise found
        return found


class Readings(_OfScans):
    """Reader that lists what the elements of a term read of scans."""

    def __init__(self, frozen: Frozen, hoist: bool):
        super().__init__(frozen, hoist)
        self.readings: list[Reading] = []
        self.term()

    def of_scan(self, node: Apply, at: At, output: int) -> Expression:
        track = self.scan(node).tracks[output]
        if isinstance(at[0], int) and at[0] < track.n_first and track.buffer is not None:
            return self.visit(track.buffer, at)
        self.readings.append(Reading(at, track.n_first))
        return self.argument((node, output, at), "state", lambda name: Argument(name, "data"))


@dataclass(eq=False)
class _Kept:
    """What rows keep of an element of a scan's output: its last values."""

    node: Apply
    output: int
    at: At  #: behind the first axis
    names: list[str] = field(default_factory=list)  #: of the last value, of that before it, and so on


class LoopReader(_OfScans):
    """Reader of rows that are loops."""

    has_designs = False

    def __init__(self, frozen: Frozen, hoist: bool):
        super().__init__(frozen, hoist)
        self.slots: Slots = slots_of(Readings(frozen, hoist).readings, self.shape)
        self.n, self.n_rows, self.rows = self.slots.n, self.slots.n_rows, self.slots.rows
        self._names.update(NAMES)
        self._kept: dict[tuple, _Kept] = {}
        self._steps: dict[Variable, Callable[[At], Expression]] = {}  # variables of a step -> their elements
        self._alike: dict[bytes, Entry] = {}  # positions of the rows -> the first entry that has them
        self._sequences: dict[Variable, Variable] = {}
        self._within: set[Variable] = set()  # what a step computes
        for scan in frozen.scans.values():
            if isinstance(scan, Scanned):
                self._within.update(v for node in toposort([t.new for t in scan.tracks]) for v in node.outputs)
        self._within -= {v for node in toposort([frozen.variable]) for v in node.outputs}

    @property
    def n_steps(self) -> int:
        return self.slots.n

    def text(self, name: str) -> str:
        term, when = self.term(), self.slots.when
        live = self.truth(("live",), self.slots.live) if when == "?" else None
        states = self._states()
        data = [e for a, e in self.arguments.items() if a.kind == "sequence"]
        loop = Loop(term, list(self._required), states, "" if live is not None else when, live, data)
        self.used_by(loop.parts)
        self.cost = loop.cost()
        if not any(a.kind == "sequence" for a in self.arguments):  # which tell how many steps there are
            zeros = np.zeros(self.n, np.uint8)
            argument = Argument(self._fresh("step"), "sequence", numbers=(zeros, self.slots.starts))
            self.arguments = {argument: self.expressions.make(f"{argument.name}_t"), **self.arguments}
        return loop_text(name, loop, self.arguments)

    def _states(self) -> list[State]:
        """States with what they begin with and what a step makes of them, which may need further ones."""
        found: dict[tuple, tuple[_Kept, Expression]] = {}
        while missing := [key for key, kept in self._kept.items() if kept.names and key not in found]:
            for key in missing:
                found[key] = self._kept[key], self._new(self._kept[key])
        made = []
        for kept, new in found.values():
            track = self.scan(kept.node).tracks[kept.output]
            firsts = []
            for behind in range(len(kept.names)):
                place = max(track.n_first - 1 - behind, 0)
                first = self.expressions.number(0.0) if track.buffer is None else self.visit(track.buffer, (place, *kept.at))
                firsts.append(self.expressions.real(first))
            made.append(State(kept.names, firsts, new))
        return made

    # -- scans

    def of_scan(self, node: Apply, at: At, output: int) -> Expression:
        scan = self.scan(node)
        self._enter(scan, node)
        track = scan.tracks[output]
        place, *rest = at
        if isinstance(place, int) and place < track.n_first and track.buffer is not None:
            return self.visit(track.buffer, at)
        return self._element(node, output, tuple(rest), self.slots.lag(Reading(at, track.n_first)))

    def _enter(self, scan: Scanned, node: Apply) -> None:
        """Tell what the variables of a step are."""
        for v, outer in scan.sequences.items():
            self._sequences[v] = outer
            self._steps[v] = lambda at, outer=outer: self.visit(outer, (self._step_of(outer), *at))  # type: ignore[misc]
        for v, (output, behind) in scan.before.items():
            self._steps[v] = lambda at, o=output, b=behind: self._element(node, o, at, b)  # type: ignore[misc]

    def _step_of(self, outer: Variable) -> Entry:
        extent = outer.type.shape[0]
        if extent is None:
            raise UnknownLength(f"a sequence of a scan that is as long as only the call tells: {outer.type}")
        return self.slots.at_step(extent)

    def _element(self, node: Apply, output: int, at: At, lag: int) -> Expression:
        """Element of an output as it was made so many steps before."""
        for axis, a in enumerate(at):
            places = None if isinstance(a, int) else self.slots.of_row(a)
            if isinstance(a, Along) and places is None:
                extent = self.short(node.outputs[output], axis + 1)
                return self._one_of(a, extent, at, axis, lambda at: self._element(node, output, at, lag))
            if places is not None:
                known = self._alike.setdefault(places.tobytes(), a)
                at = (*at[:axis], int(places[0]) if (places == places[0]).all() else known, *at[axis + 1 :])
        key = (node, output, at)
        kept = self._kept.setdefault(key, _Kept(node, output, at))
        if len(self._kept) > MOST_STATES:
            raise Unsupported(f"a scan with more than {MOST_STATES} states that depend on one another")
        if lag == 0:
            return self._new(kept)
        while len(kept.names) < lag:
            track = self.scan(node).tracks[output]
            kept.names.append(self._fresh(node.outputs[output].name or track.new.name or "state"))
            self._names.add(f"{kept.names[-1]}_new")
        return self.expressions.make(kept.names[lag - 1])

    def _one_of(self, place: Along, extent: int, at: At, axis: int, of: Callable[[At], Expression]) -> Expression:
        """One of several elements along an axis, of which each step has its own."""
        return among(self, place, [functools.partial(of, (*at[:axis], i, *at[axis + 1 :])) for i in range(extent)])

    def _new(self, kept: _Kept) -> Expression:
        """What a step makes of a state."""
        track = self.scan(kept.node).tracks[kept.output]
        try:
            return self.expressions.real(self.visit(track.new, kept.at))
        except UnknownLength:
            raise
        except Unsupported as reason:
            said = str(reason)
            raise Unsupported(said if said.startswith("a scan") else f"a scan whose body has {said}") from None

    # -- the graph

    def _visited(self, v: Variable, at: At) -> Expression:
        if v in self._steps:
            return self._steps[v](tuple(0 if extent == 1 else a for a, extent in zip(at, v.type.shape, strict=True)))
        return super()._visited(v, at)

    def is_small(self, v: Variable, at: Sequence[Entry | None]) -> bool:
        if self.is_within(v) or not super().is_small(v, at):
            return False
        by_step = any(isinstance(a, Along) and self.slots.of_row(a) is None for a in at)
        return not by_step or math.prod(extent or MOST_BY_STEP + 1 for extent in v.type.shape) <= MOST_BY_STEP

    def is_alike(self, condition: Variable) -> bool:
        return not self.is_within(condition) and super().is_alike(condition)

    def is_within(self, v: Variable) -> bool:
        return v in self._within or v in self._steps

    def follows_from_steps(self, v: Variable) -> bool:
        return self.is_within(v) or super().follows_from_steps(v)

    def array_of(self, index: Variable, at: Sequence[Entry]) -> tuple[np.ndarray, Sequence[Entry]] | None:
        while index not in self._steps and (node := index.owner) is not None:
            if isinstance(node.op, DimShuffle):
                at = below_shuffle(node, at)
            elif type(node.op).__name__ not in IDENTITY_OPS and not _stays_whole(node):
                break
            index = node.inputs[0]
        if isinstance(outer := self._sequences.get(index), Constant):
            return np.asarray(outer.data), (self._step_of(outer), *at)
        return super().array_of(index, at)

    # -- leaves

    def argument(self, key: tuple, name: str, make: Callable[[str], Argument]) -> Expression:
        """Argument of a row, or a number of a sequence: what is the same in all steps is the row's."""
        if key in self._keys:
            return self._keys[key]
        its = make(self._fresh(name))
        form = its.name
        if its.kind == "data":
            by_row = self.slots.by_row(its.numbers[0])
            kind, numbers = ("sequence", its.numbers[0]) if by_row is None else ("data", by_row)
            its = Argument(its.name, kind, numbers=(numbers,) if by_row is not None else (numbers, self.slots.starts))
            if by_row is None:
                form = f"{its.name}_t"
                self._names.add(form)
        self._keys[key] = self.arguments[its] = self.expressions.make(form)
        return self._keys[key]

    def _leaf(self, v: Variable, at: At) -> Expression:
        if v.type.dtype.startswith("complex"):
            raise Unsupported("complex numbers")
        v, at = without_shuffles(v, at)
        places: list[np.ndarray] = []
        entries: list[Entry] = []
        for axis, a in enumerate(at):
            of_row = None if isinstance(a, int) else self.slots.of_row(a)
            if isinstance(a, Along) and of_row is None:
                extent = v.type.shape[axis]
                if extent is None:
                    raise UnknownLength(f"a table of a loop that is as long as only the call tells: {v.type}")
                if extent > MOST_BY_STEP:
                    raise Unsupported("a scan whose steps have parameters of their own")
                return self._one_of(a, extent, at, axis, lambda at: self._leaf(v, at))
            if of_row is not None and (of_row == of_row[0]).all():
                a = int(of_row[0])
            elif of_row is not None:
                places.append(of_row)
            entries.append(a)
        return self._of_row(v, tuple(entries), places)

    def _of_row(self, v: Variable, at: At, places: list[np.ndarray]) -> Expression:
        """Parameter of all rows, or of each."""
        source, name = self.frozen.original(v), name_of(v)
        pick: Pick = tuple(slice(None) if isinstance(a, Along) else a for a in at)
        key = (source, *(a if isinstance(a, int) else a.key for a in at))
        if not places:
            argument = self.argument(key, name, lambda n: Argument(n, "number", source, pick))
        elif len(places) == 1 and np.array_equal(places[0], np.arange(self.n_rows)):
            argument = self.argument(key, name, lambda n: Argument(n, "row", source, pick))
        else:
            argument = self.argument(key, name, lambda n: Argument(n, "gather", source, pick, tuple(places)))
        return self.expressions.truth(argument) if v.type.dtype == "bool" else argument


def _stays_whole(node: Apply) -> bool:
    """True if whole numbers become whole numbers of another type."""
    if not isinstance(node.op, Elemwise) or type(node.op.scalar_op).__name__ != "Cast":
        return False
    return all(np.dtype(v.type.dtype).kind in "iu" for v in (node.inputs[0], node.outputs[0]))
