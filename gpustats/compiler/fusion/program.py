"""Sum over rows as a function of C, with the leaves of its arguments and the variables that they are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.op import RandomVariable

from ...rows.binding import Binding
from ...rows.leaves import dot, gather, per_row
from ...rows.model import Rows
from ...rows.sequences import sequences
from ...rows.sparse_matrix import SparseMatrix
from . import along_axes, checks, densities, elementwise, indexing, joined, triangular  # noqa: F401  (they declare what they read)
from .along import Pick
from .alternatives import SOURCE, ChoiceModel, Choices, choices_of
from .frozen import Frozen
from .loops import LoopReader
from .reader import Argument, Reader, plain_name
from .scalar_ops import NoData, UnknownLength, Unsupported
from .sparse_products import NOT_CONSTANT, is_sparse

MOST_ARGUMENTS = 400  # of a row function: CUDA passes 32,764 bytes to a kernel, and some arguments take 72


@dataclass(frozen=True)
class Parameter:
    """Parameter of `gpustats.Rows`, as a part of an input."""

    name: str
    input: int  #: place of the input among the program's inputs
    pick: Pick


class Work(NamedTuple):
    """Work of a sum, without its derivatives."""

    cheap: int  #: operations of a row,
    calls: int  #: its calls of functions,
    gathers: int  #: and the elements of tables that it reads
    elements: int  #: of all of these tables
    moved: int  #: bytes of arrays of parameters and of their derivatives


@dataclass(eq=False)
class Program:
    """Program of a sum over rows: the function of a row in C, and where its arguments come from."""

    name: str  #: of the function of a row,
    source: str  #: and its text, in C
    n_rows: int
    leaves: dict[str, Any]  #: as `gpustats.Rows` takes them
    parameters: list[Parameter]
    inputs: list[Variable]  #: variables that the parameters are parts of
    shapes: list[tuple[int | None, ...]]  #: of the inputs, with None for an extent that nothing tells
    #: checks that are the same for all rows, with the variables of their conditions
    checks: list[tuple[CheckParameterValue, list[Variable]]]
    #: whether the function gives -inf for rows whose parameters are invalid: where the sum is -inf, PyTensor tells what it is
    checked_rows: bool
    work: Work
    arguments: list[Argument] = field(repr=False)
    computed: dict[Variable, str] = field(default_factory=dict)  #: inputs that PyTensor computes -> why there is no C
    choices: Choices | None = None  #: of the rows, where the sum is that of a GLM
    n_steps: int = 0  #: steps of all rows that are loops

    @property
    def is_loop(self) -> bool:
        """True if rows go through the steps of scans."""
        return self.n_steps > 0

    @property
    def size(self) -> int:
        """Number of rows, or of the steps of all rows that are loops."""
        return max(self.n_rows, self.n_steps)

    @property
    def invalid_is_nan(self) -> bool:
        """True if the sum is nan where parameters are nan, for which PyMC has -inf."""
        return self.choices is not None and self.choices.checked

    def model(self, devices: Sequence[str] | None) -> Rows | ChoiceModel:
        """Model that evaluates the sum; several devices may share its rows."""
        if self.choices:
            return self.choices.model(devices)
        return Rows(self.source, devices=None if self.is_loop else devices, **self.leaves)  # loops lie on one device

    def reaches_within(self, shapes: Sequence[tuple[int, ...]]) -> bool:
        """True if inputs of these shapes have an element for each row where rows have numbers of their own."""
        for parameter in self.parameters:
            if parameter.pick == (...,) and math.prod(shapes[parameter.input]) != self.n_rows:
                return False
            for axis, place in enumerate(parameter.pick):
                if isinstance(place, slice) and place.stop is not None and shapes[parameter.input][axis] < place.stop:
                    return False
        return True


def program_of(
    term: Variable, data: Mapping[Variable, np.ndarray], shapes: Mapping[Variable, tuple[int, ...]] | None = None,
    hoist: bool = True,
) -> Program:  # fmt: skip
    """Program of the sum of a variable, the term of each row, which has no operations that are made of a graph.

    `data` has the arrays of variables that are data, `shapes` the shapes of further ones, where their types leave these open.
    Checks that are the same for all rows are left to the caller, as `Program.checks`, if `hoist`. Where there is none,
    `Unsupported` says why, in words for a user.
    """
    before = list(ancestors([term]))
    if any(v.owner is not None and isinstance(v.owner.op, RandomVariable) for v in before):
        raise Unsupported("random draws in each call, as those of a Minibatch")
    if any(is_sparse(v) and v.owner is None and not isinstance(v, Constant) for v in before):
        raise Unsupported(NOT_CONSTANT)
    word = plain_name(term.name)
    name = f"{word if word[:1].isalpha() else 'term'}_row"
    try:
        frozen = Frozen(term, data, shapes)
        if (choices := choices_of(frozen)) is not None:
            return _program_of_choices(choices, frozen)
        reader, source = _read(frozen, hoist, name)
    except Unsupported:
        raise
    except Exception as error:  # a model that nobody foresaw runs as it did
        raise Unsupported(f"what could not be read: {type(error).__name__}: {error}") from error
    arguments = list(reader.arguments)
    computed = {a.source: reader.computed[a.source] for a in arguments if a.source in reader.computed}
    if not any(a.kind in ("data", "sequence", "gather", "dot") for a in arguments):
        raise Unsupported(next(iter(computed.values()))) if computed else NoData("a sum without data")
    if all(a.kind in ("data", "sequence") for a in arguments):
        raise Unsupported("a sum without parameters")
    if len(arguments) > MOST_ARGUMENTS:
        raise Unsupported(f"{len(arguments)} numbers of each row, of which kernels take {MOST_ARGUMENTS} at most")
    parameters, leaves, inputs = _bound(arguments, reader.n_rows)
    try:
        Binding(source, None, leaves)
    except Exception as error:
        raise Unsupported(f"what could not be written in C: {type(error).__name__}: {error}") from error
    return Program(
        name, source, reader.n_rows, leaves, parameters, inputs, [frozen.shape(v) for v in inputs], reader.checks,
        reader.checked_rows, _work(reader), arguments, computed, n_steps=reader.n_steps,
    )  # fmt: skip


def _read(frozen: Frozen, hoist: bool, name: str) -> tuple[Reader, str]:
    """Reader of a row, and the function of a row: a loop where the term follows from the steps of scans."""
    no_loop = ""
    if frozen.scans:
        try:
            loop = LoopReader(frozen, hoist)
            return loop, loop.text(name)
        except UnknownLength:
            raise
        except Unsupported as reason:
            no_loop = str(reason)
    reader = Reader(frozen, hoist)
    reader.no_loop = no_loop
    return reader, reader.text(name)


def _program_of_choices(choices: Choices, frozen: Frozen) -> Program:
    arguments = [a for a in choices.arguments if a.source is not None]
    inputs = [a.source for a in arguments if a.source is not None]
    parameters = [Parameter(a.name, i, a.pick) for i, a in enumerate(arguments)]
    shapes = [frozen.shape(v) for v in inputs]
    moved = 16 * sum(math.prod(extent or 1 for extent in shape) for shape in shapes)
    return Program(
        "choice", SOURCE, choices.y.size, {}, parameters, inputs, shapes, [], True, Work(*choices.cost, 0, 0, moved),
        list(choices.arguments), choices.computed, choices,
    )  # fmt: skip


def _work(reader: Reader) -> Work:
    cheap, calls = reader.cost
    arguments, frozen = reader.arguments, reader.frozen
    designs = [a.numbers[0] for a in arguments if a.kind == "dot"]
    entries = sum(X.n_entries if isinstance(X, SparseMatrix) else X.size for X in designs)
    cheap += 2 * entries // max(reader.n_rows, 1)
    arrays = {a.source: a for a in arguments if a.source is not None and a.kind != "number"}
    sizes = {v: reader.n_rows if a.kind == "row" else math.prod(e or 1 for e in frozen.shape(v)) for v, a in arrays.items()}
    tables = [a for a in arguments if a.kind == "gather"]
    elements = sum(sizes[v] for v in {a.source for a in tables} if v is not None)
    return Work(cheap, calls, len(tables), elements, 16 * sum(sizes.values()))


def _bound(arguments: Sequence[Argument], n: int) -> tuple[list[Parameter], dict[str, Any], list[Variable]]:
    """Parameters, the leaves of all arguments that have one, and the variables that the parameters are parts of."""
    inputs: list[Variable] = []
    parameters: dict[tuple, Parameter] = {}
    leaves: dict[str, Any] = {}
    reach: dict[tuple, tuple[int, int]] = {}
    for a in arguments:
        if a.kind == "row":
            low, high = reach.get(_part(a), (a.offset, a.offset))
            reach[_part(a)] = min(low, a.offset), max(high, a.offset)
    for a in arguments:
        if a.kind == "data":
            leaves[a.name] = a.numbers[0]
            continue
        if a.kind == "sequence":
            leaves[a.name] = sequences(*a.numbers, missing=True)
            continue
        assert a.source is not None
        if a.source not in inputs:
            inputs.append(a.source)
        pick, key = a.pick, (*_part(a), a.kind)
        if a.kind == "row":
            low, high = reach[_part(a)]
            pick = pick if pick == (...,) else tuple(slice(low, high + n) if isinstance(p, slice) else p for p in pick)
        parameter = parameters.setdefault(key, Parameter(a.name, inputs.index(a.source), pick))
        if a.kind == "gather":
            leaves[a.name] = gather(*a.numbers, of=parameter.name)
        elif a.kind == "dot":
            leaves[a.name] = dot(a.numbers[0], of=parameter.name)
        elif a.kind == "row":
            leaves[a.name] = per_row(of=parameter.name, offset=a.offset - reach[_part(a)][0])
    return list(parameters.values()), leaves, inputs


def _part(a: Argument) -> tuple:
    return a.source, tuple("all" if isinstance(p, slice) else p for p in a.pick)
