"""Reader of a row: from PyTensor's graph of all rows to an expression of C, and where its arguments come from."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from ...language.names import means_something
from ...language.nodes import CONSTANTS, DRAWS, MATH
from ...rows.binding import RESERVED_NAMES as NAMES_OF_ROWS
from .along import Along, At, Entry, Pick, axes_of, read
from .columns import key_of, narrowed, two
from .expression import Expression, body, operations, parts_of
from .frozen import Frozen
from .scalar_ops import C_FUNCTIONS, UnknownLength, Unsupported
from .simplify import Expressions

MOST_IN_ROW = 64  # elements of an axis inside a row, each of which is written out
IDENTITY_OPS = ("TensorFromScalar", "ScalarFromTensor", "SpecifyShape", "Assert", "DeepCopyOp", "ViewOp")  # give their input

_C_KEYWORDS = (
    "auto break case const continue default do else enum extern for goto if inline register restrict return signed sizeof "
    "static struct switch typedef union unsigned void volatile while offsetof"
)
#: Names that arguments must not have: in C, for the functions of a row, for `gpustats.Rows`, and for Python's methods.
_RESERVED_NAMES = {*_C_KEYWORDS.split(), "dim", *MATH, *DRAWS, *CONSTANTS, *C_FUNCTIONS.values(), *NAMES_OF_ROWS, "self"}
_STATEMENT_NAME = re.compile(r"t\d+")  # names of statements

E = TypeVar("E", bound=Entry | None)

#: Class of an operation -> what reads it: reader(reader, node, at, output).
_READERS: dict[str, Callable[..., Expression]] = {}


def reads(*names: str) -> Callable:
    """Decorator of the function that reads operations of classes with these names, or derived from such.

    It takes the `Reader`, the node of the operation, the positions of an element, and which of the node's outputs has it.
    """

    def declared(function: Callable[..., Expression]) -> Callable[..., Expression]:
        _READERS.update(dict.fromkeys(names, function))
        return function

    return declared


@dataclass(frozen=True, eq=False)
class Argument:
    """Argument of a row function."""

    name: str  #: in C
    kind: str  #: "data", "number", "gather", "dot" or "row"; "each" of numbers that alternatives have
    source: Variable | None = None  #: variable that it is made of, none for data
    pick: Pick = ()  #: part of that variable, with slices where the rows, or the columns of a design, run along
    #: the column of data; the index for each axis of a table; the matrix of a dot product; of a row's own number none
    numbers: tuple[Any, ...] = ()
    offset: int = 0  #: shift of a row's own number: row n has element n + offset


class Reader:
    """Reader of what a row computes below a sum: `frozen`, the graph of what is summed.

    Checks that are the same for all rows may be left to the caller if `hoist`.
    """

    has_designs = True  #: whether rows may have products with rows of a matrix

    def __init__(self, frozen: Frozen, hoist: bool = True):
        self.frozen = frozen
        term = frozen.variable
        shape = term.type.shape
        if any(s is None for s in shape):
            raise UnknownLength(f"a number of rows that only the call tells: {term.type}")
        self.n = self.n_rows = math.prod(shape)  # a row is an element of the summed variable
        if not self.n:
            raise Unsupported("no rows")
        self.rows = tuple(axes_of(shape))
        self.shape = tuple(shape)
        self.expressions = Expressions()
        self.arguments: dict[Argument, Expression] = {}
        self.no_loop = ""  # why rows have no loops through the steps of scans
        self.outermost = outermost(term) if hoist else set()
        self.hoisted: list[tuple[CheckParameterValue, list[Variable]]] = []
        self._required: list[Expression] = []
        self.is_checked_within = False  # whether steps of scans have checks
        #: variables of the original graph that rows read because there is no C for how they are computed -> why
        self.computed: dict[Variable, str] = {}
        self.memo: dict[tuple, list[Expression]] = {}  # what operations keep from one element to the next
        self.cost = 0, 0  # numbers of cheap operations and of calls of functions in a step
        self._alive: list[np.ndarray] = []
        self._keys: dict[tuple, Expression] = {}
        self._known: dict[tuple, Expression] = {}
        self._names: set[str] = set()

    def term(self) -> Expression:
        """Term of a row."""
        try:
            return self.expressions.real(self.visit(self.frozen.variable, self.rows))
        except RecursionError:
            raise Unsupported("a row of so many operations on one another") from None

    def text(self, name: str) -> str:
        """Function of a row in C."""
        result = self.term()
        for condition in self._required:
            result = self.expressions.choice(condition, result, self.expressions.number(-math.inf))
        self.used_by([result])
        self.cost = operations(parts_of(result))
        listed = ", ".join(f"real {a.name}" for a in self.arguments)
        return f"__device__ real {name}({listed})\n{{\n{body(result)}\n}}\n"

    def used_by(self, results: Sequence[Expression]) -> None:
        """Keep the arguments that results have."""
        used = {id(e) for result in results for e in parts_of(result)}
        self.arguments = {argument: e for argument, e in self.arguments.items() if id(e) in used}

    def require(self, condition: Expression) -> None:
        """Let rows that do not meet a condition be -inf."""
        if condition not in self._required:
            self._required.append(condition)

    @property
    def n_steps(self) -> int:
        """Number of steps of all rows that are loops."""
        return 0

    @property
    def checked_rows(self) -> bool:
        """Whether there are checks that rows make by themselves.

        A row that fails one is -inf, whatever becomes of that in the graph, and then PyTensor has to tell what the sum is.
        """
        return bool(self._required) or self.is_checked_within

    @property
    def checks(self) -> list[tuple[CheckParameterValue, list[Variable]]]:
        """Checks that are the same for all rows, with their conditions in the original graph: the sum is -inf if one fails."""
        return [(op, [self.frozen.original(c) for c in conditions]) for op, conditions in self.hoisted]

    # -- leaves

    def argument(self, key: tuple, name: str, make: Callable[[str], Argument]) -> Expression:
        """Argument that is known by a key; `make` gives a new one of a name like this."""
        if key not in self._keys:
            argument = make(self._fresh(name))
            self._keys[key] = self.arguments[argument] = self.expressions.make(argument.name)
        return self._keys[key]

    def _fresh(self, name: str | None) -> str:
        plain = plain_name(name)
        plain = plain if plain[:1].isalpha() else f"a_{plain}".rstrip("_")
        taken = plain in self._names or plain in _RESERVED_NAMES or means_something(plain)
        if not taken and not _STATEMENT_NAME.fullmatch(plain):
            self._names.add(plain)
            return plain
        numbered = next(f"{plain}_{i}" for i in itertools.count(1) if f"{plain}_{i}" not in self._names)
        self._names.add(numbered)
        return numbered

    def _data(self, constant: Constant, at: At) -> Expression:
        array = np.asarray(constant.data)
        numbers = read(array, at)
        if array.dtype in (np.int64, np.uint64) and np.size(numbers) and np.abs(numbers).max() > 2**53:
            raise Unsupported("whole numbers beyond 2**53")
        first = numbers.flat[0] if np.ndim(numbers) else numbers
        if np.ndim(numbers) == 0 or (numbers == first).all():
            return self.expressions.number(bool(first) if array.dtype == bool else float(first))
        key = ("data", id(constant.data), *(a if isinstance(a, int) else a.key for a in at))
        if key not in self._keys:
            of = self._truth if array.dtype == bool else self._column
            self._keys[key] = of(numbers, constant.name or "y")
        return self._keys[key]

    def _column(self, numbers: np.ndarray, name: str) -> Expression:
        """Column of numbers of which at least two differ; of floats with two values, rows read a truth value."""
        numbers = narrowed(numbers)
        if numbers.dtype.kind == "f" and (pair := two(numbers)) is not None:
            first, second, is_second = pair
            options = [self.expressions.number(number) for number in (second, first)]
            return self.expressions.choice(self._truth(is_second, "is"), *options)
        return self.argument(("data", *key_of(numbers)), name, lambda n: Argument(n, "data", numbers=(numbers,)))

    def _truth(self, numbers: np.ndarray, name: str) -> Expression:
        """Column of truth values, or of their opposites."""
        opposite = self._keys.get(("data", *key_of(narrowed(~numbers))))
        if opposite is not None:
            return self.expressions.make("{} == {}", opposite, self.expressions.number(0.0), whole=True)
        return self.expressions.truth(self._column(numbers, name))

    def _leaf(self, v: Variable, at: At) -> Expression:
        """Element of a variable that PyTensor computes."""
        if v.type.dtype.startswith("complex"):
            raise Unsupported("complex numbers")
        v, at = without_shuffles(v, at)
        source = self.frozen.original(v)
        long = [a for a in at if isinstance(a, Along)]
        key = (source, *(a if isinstance(a, int) else a.key for a in at))
        pick: Pick = tuple(slice(None) if isinstance(a, Along) else a for a in at)
        name = name_of(source)
        if not long:
            argument = self.argument(key, name, lambda n: Argument(n, "number", source, pick))
        elif at == self.rows and len(long) > 1 and all(a in (b, None) for a, b in zip(v.type.shape, self.shape, strict=True)):
            argument = self.argument(key, name, lambda n: Argument(n, "row", source, (...,)))
        elif len(long) == 1 and long[0].step == 1 and self._reaches(v, at, long[0]):
            offset = long[0].start
            argument = self.argument(key, name, lambda n: Argument(n, "row", source, pick, offset=offset or 0))
        else:
            argument = self.argument(key, name, lambda n: Argument(n, "gather", source, pick, tuple(a.places for a in long)))
        return self.expressions.truth(argument) if v.type.dtype == "bool" else argument

    def _reaches(self, v: Variable, at: At, along: Along) -> bool:
        """True if the rows take most of an axis, each its own element."""
        extent = v.type.shape[next(i for i, a in enumerate(at) if isinstance(a, Along))]
        start = along.start
        return start is not None and start >= 0 and (extent is None or start <= extent - self.n)

    # -- the graph

    def visit(self, v: Variable, at: At) -> Expression:
        """Element of a variable at these positions."""
        key = (v, at)
        if key not in self._known:
            self._known[key] = self._visited(v, at)
        return self._known[key]

    def _visited(self, v: Variable, at: At) -> Expression:
        at = tuple(0 if extent == 1 else a for a, extent in zip(at, v.type.shape, strict=True))
        if isinstance(v, Constant):
            return self._data(v, at)
        node = v.owner
        if node is None:
            return self._leaf(v, at)
        if self.is_small(v, at):
            if v.type.dtype != "bool" or self.is_alike(v) or not v.type.ndim:
                self._note_scans(v, at)
                return self._leaf(v, at)
        op = getattr(node.op, "core_op", None) or node.op
        try:
            for kind in type(op).__mro__:
                if kind.__name__ in _READERS:
                    return _READERS[kind.__name__](self, node, at, node.outputs.index(v))
            raise Unsupported(f"the operation {type(op).__name__}")
        except UnknownLength:
            raise
        except Unsupported as reason:
            is_condition = v.type.dtype == "bool" and type(op).__name__ != "All"
            if math.prod(extent or 0 for extent in v.type.shape) != self.n or is_condition:
                raise
            return self._instead(v, at, str(reason))

    def _instead(self, v: Variable, at: At, reason: str) -> Expression:
        """Number of each row that PyTensor computes, because a row cannot."""
        v, at = without_shuffles(v, at)
        self.computed[self.frozen.original(v)] = reason
        return self._leaf(v, at)

    def _note_scans(self, v: Variable, at: At) -> None:
        """Note why a variable that PyTensor computes has scans, where it has."""
        scans = [a.owner for a in ancestors([v]) if a.owner in self.frozen.scans] if self.frozen.scans else []
        if scans:
            self.computed[self.frozen.original(without_shuffles(v, at)[0])] = str(self.scan_reason(scans[0]))

    def of_scan(self, node: Apply, at: At, output: int) -> Expression:
        raise self.scan_reason(node)

    def scan_reason(self, node: Apply) -> Unsupported:
        """Reason why there is no loop through the steps of a scan."""
        if isinstance(found := self.frozen.scans.get(node), Unsupported):
            return found
        return Unsupported(self.no_loop if self.no_loop.startswith("a scan") else f"a scan beside {self.no_loop}")

    def is_within(self, v: Variable) -> bool:
        """True if a variable is part of a step of a scan."""
        return False

    def follows_from_steps(self, v: Variable) -> bool:
        """True if a variable is part of a step of a scan, or follows from its steps."""
        return False

    def array_of(self, index: Variable, at: Sequence[Entry]) -> tuple[np.ndarray, Sequence[Entry]] | None:
        """Array of data that an index is, and the positions in it; None of an index that is computed."""
        return (np.asarray(index.data), at) if isinstance(index, Constant) else None

    def is_small(self, v: Variable, at: Sequence[Entry | None]) -> bool:
        """True if a variable has fewer elements than there are rows, so that PyTensor computes it.

        An extent that is not known is that of the rows where these run along the axis, else that of some table.
        """
        extents = (extent or self._implied(a) for extent, a in zip(v.type.shape, at, strict=True))
        return not v.type.ndim or math.prod(extents) < self.n

    def _implied(self, entry: Entry | None) -> int:
        """Least length of an axis that is read at these positions."""
        if not isinstance(entry, Along):
            return 1
        if entry.is_row:
            return self.n
        return entry.key[2][entry.key[1]] if entry.key[0] == "axis" else 1

    def under(self, v: Variable, at: At) -> At:
        """Positions at which broadcasting reads a variable, for an element at `at`."""
        own = at[len(at) - v.type.ndim :]
        return tuple(0 if s == 1 else a for a, s in zip(own, v.type.shape, strict=True))

    def is_alike(self, condition: Variable) -> bool:
        """True if a condition follows from a few numbers, and so is met by all rows or by none."""
        stack, seen = [condition], set()
        while stack:
            v = stack.pop()
            if v in seen:
                continue
            seen.add(v)
            size = math.prod(s or self.n for s in v.type.shape) if hasattr(v.type, "shape") else 1
            if size >= max(self.n, 2):
                return False
            if v.owner is not None:
                stack += v.owner.inputs
        return not isinstance(condition, Constant)

    def short(self, v: Variable, axis: int) -> int:
        """Number of elements of an axis that is written out."""
        extent = v.type.shape[axis]
        if extent is None:
            raise UnknownLength(f"an axis within each row whose length only the call tells: {v.type}")
        if extent > MOST_IN_ROW:
            raise Unsupported(f"an axis of {extent} elements within each row; at most {MOST_IN_ROW} are written out")
        return extent

    def truth(self, key: tuple, numbers: np.ndarray) -> Expression:
        """Column of truth values, which is known by a key."""
        if key not in self._keys:
            self._keys[key] = self._truth(numbers, "is")
        return self._keys[key]

    def name_of(self, array: np.ndarray) -> int:
        """Number that no other array has, as long as this reader reads."""
        self._alive.append(array)
        return id(array)


def outermost(term: Variable) -> set[Apply]:
    """Checks around all of a term, or around something that is added to the rest: where they fail, the term is -inf."""
    checks: set[Apply] = set()
    stack = [term]
    while stack:
        node = stack.pop().owner
        if node is None:
            continue
        if isinstance(node.op, CheckParameterValue):
            checks.add(node)
            stack.append(node.inputs[0])
        elif isinstance(node.op, DimShuffle) or type(node.op).__name__ in IDENTITY_OPS:
            stack.append(node.inputs[0])
        elif isinstance(node.op, Elemwise) and type(node.op.scalar_op).__name__ in ("Add", "Cast"):
            stack += [v for v in node.inputs if v.type.ndim == 0 or v.type.shape == node.outputs[0].type.shape]
    return checks


def without_shuffles(v: Variable, at: Sequence[E]) -> tuple[Variable, tuple[E | int, ...]]:
    """Variable below the operations that only move axes, and the same positions in it."""
    entries: Sequence[E | int] = at
    while v.owner is not None and isinstance(v.owner.op, DimShuffle):
        entries = below_shuffle(v.owner, entries)
        v = v.owner.inputs[0]
    return v, tuple(entries)


def below_shuffle(node: Apply, at: Sequence[E]) -> tuple[E | int, ...]:
    """Positions in the input of an operation that only moves axes, from those in its output."""
    by_axis = dict(zip(node.op.new_order, at, strict=True))
    return tuple(by_axis.get(axis, 0) for axis in range(node.inputs[0].type.ndim))


def plain_name(name: str | None) -> str:
    """Name with underscores in place of what no name in C has."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name or "").strip("_").lower()


def name_of(v: Variable) -> str:
    """Name for a variable: its own, or that of the named variable that it is computed from."""
    while not v.name and v.owner is not None and len(v.owner.inputs) >= 1:
        inputs = [i for i in v.owner.inputs if not isinstance(i, Constant)]
        if len(inputs) != 1:
            break
        v = inputs[0]
    name = v.name or "p"
    for ending in ("_log__", "_logodds__", "_interval__", "_simplex__", "_ordered__", "_zerosum__"):
        name = name.removesuffix(ending)
    return name.rsplit("::", 1)[-1]
