"""Generalised linear model as a sum over rows: on a CPU, `rows` reads narrow designs and groups faster than `glm`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.compiled import RepeatedSum
from ..evaluation.pointwise import Pointwise
from ..language.derived import resolve_in
from ..language.device_function import Argument, parse
from ..language.names import unlike_others
from ..language.nodes import VECTOR
from ..rows.along import Along, Linear, OverRows
from ..rows.leaves import MOST_COLUMNS as MOST_COLUMNS_OF_ROWS
from ..rows.leaves import Leaf, dot, gather, per_row
from ..rows.model import Rows, rows_on
from ..runtime import thresholds
from ..runtime.base import Runtime
from ..runtime.types import Array, Shape, Value
from .arguments import Arguments, Route
from .data import GLMData, Named
from .family import COEFFICIENTS, DESIGN, INTERCEPT, OBSERVATIONS, OFFSET, WEIGHTS, Family

#: Rows from which on a CPU is faster on rows, and columns of X up to which it is. Below, a call's way through Python takes
#: longer.
FEWEST_ROWS, MOST_COLUMNS = thresholds.GLM_FEWEST_ROWS.value, thresholds.GLM_MOST_COLUMNS.value
#: The columns where an intercept is that of the row's group: groups of many rows each, and of a few.
MOST_COLUMNS_BY_GROUP = thresholds.GLM_MOST_COLUMNS_BY_GROUP.value
MOST_COLUMNS_OF_SMALL_GROUPS = thresholds.GLM_MOST_COLUMNS_OF_SMALL_GROUPS.value
#: The rows up to which a group has a few, on average.
SMALL_GROUP = thresholds.GLM_SMALL_GROUP.value
#: Name, in the function of a row, of the product of a row of X and the coefficients.
PRODUCT = "product"


def parameter(name: str) -> str:
    """Name of a parameter of the density in the function of a row."""
    return f"its_{name}"


class Term(NamedTuple):
    """Term of a group in a row's linear predictor, for the function of a row."""

    tables: tuple[str, ...]  # its arguments that are elements of tables: an intercept, or a coefficient for each of `columns`
    columns: tuple[str, ...] = ()  # its arguments that are columns of data; () for an intercept
    factors: tuple[str, ...] = ()  # lower triangle, row by row, of a matrix that multiplies the tables' elements, if any

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of all its arguments."""
        return (*self.tables, *self.columns, *self.factors)

    def __str__(self) -> str:
        effects, each = list(self.tables), iter(self.factors)
        if self.factors:
            effects = [" + ".join(f"{next(each)} * {t}" for t in self.tables[: i + 1]) for i in range(len(self.tables))]
        return " + ".join(f"({e}) * {c}" for e, c in zip(effects, self.columns, strict=True)) if self.columns else effects[0]


def row_function(family: Family, offset: bool, terms: Sequence[Term] = (), density: bool = True) -> Pointwise:
    """The function of a row of a GLM: the log-density, or else the linear predictor.

    Its arguments are "y", `PRODUCT`, "alpha", "offset", those of the terms, and the density's parameters: see `parameter`.
    """
    term = family.density.log_density
    key = family.eta, offset, tuple(terms), density
    if key not in term.made["glm rows"]:
        numbers = [PRODUCT, INTERCEPT, *[OFFSET] * offset, *(n for t in terms for n in t.arguments)]
        predictor = " + ".join([PRODUCT, INTERCEPT, *[OFFSET] * offset, *map(str, terms)])
        arguments, functions = [Argument(n) for n in numbers], dict(term.functions) if density else {}
        name, declared, value = "linear", [f"real {n}" for n in numbers], predictor
        if density:
            name = term.function.name
            others = {n: c for n, c in zip(term.argument_names[1:], term.c_names[1:], strict=True) if n != family.eta}
            types = {p.name: p.type for p in term.function.parameters}
            arguments = [Argument(OBSERVATIONS), *arguments]
            arguments += [Argument(parameter(n), "vector" if family.ranks[n] else "real") for n in others]
            declared = [f"real {OBSERVATIONS}", *declared]
            declared += [("const real *" if types[c] == VECTOR else "real ") + parameter(n) for n, c in others.items()]
            given = {term.c_names[0]: OBSERVATIONS, term.c_name(family.eta): predictor, "dim": "dim"}
            given |= {c: parameter(n) for n, c in others.items()}
            declared += ["int dim"] * ("dim" in types)
            value = f"{term.function.name}({', '.join(given[p.name] for p in term.function.parameters)})"
        resolve = resolve_in(functions)
        text = f"real {name}_glm({', '.join(declared)})\n{{\n    return {value};\n}}\n"
        made = unlike_others(parse(text, resolve, name=name).functions[f"{name}_glm"], resolve)
        term.made["glm rows"][key] = Pointwise(term.name, made, arguments, functions, term.source)
    found: Pointwise = term.made["glm rows"][key]
    return found


def rows_of(
    family: Family, runtime: Runtime, data: Mapping[str, Array], terms: Sequence[tuple[Named, Term]] = (),
    leaves: Mapping[str, Array | Leaf] | None = None, density: bool = True,
) -> Rows:  # fmt: skip
    """Sum over the rows of a GLM's data: see `row_function`.

    `leaves` are those of arguments that are not as the data have them: of the product, of an intercept that is the group's,
    of parameters with a number for each row.
    """
    own = dict(leaves or {})
    found: dict[str, Array | Leaf] = {n: data[n] for n in (OBSERVATIONS, OFFSET) if n in data and (density or n == OFFSET)}
    if PRODUCT not in own:
        found[PRODUCT] = dot(data[DESIGN])
    for named, term in terms:
        found |= {t: gather(data[named.index_name]) for t in term.tables}
        found |= {c: data[named.columns_name][:, i] for i, c in enumerate(term.columns)}
    function = row_function(family, OFFSET in data, [term for _, term in terms], density)
    return rows_on(runtime, function, data.get(WEIGHTS) if density else None, found | own)


def term_of(i: int, named: Named) -> Term:
    """Named term in the function of a row, as number `i` of the terms."""
    if named.columns is None:
        return Term((f"table{i}",))
    each = range(named.columns)
    return Term(tuple(f"table{i}_{c}" for c in each), tuple(f"column{i}_{c}" for c in each))


class Delegate:
    """Maker of calls of a GLM that run on rows, where they are faster. Threads may share it.

    The rows of the data are copied, once for intercepts that groups have and once for those that all share, at the first such
    call.
    """

    def __init__(self, family: Family, data: GLMData):
        self._family, self._data, self._rows = family, data, dict[tuple[bool, tuple[str, ...]], Rows]()

    def call(self, arguments: Arguments, wrt: Sequence[str], names: Sequence[str]) -> RowsCall | None:
        """Call on rows for `repeatable` arguments like these; None where the kernels of this folder are faster."""
        if not self._faster(arguments):
            return None
        return RowsCall(arguments, wrt, names, self._bound(arguments.kinds[INTERCEPT] is Route.GROUP))

    def along(self, names: Collection[str]) -> Along | None:
        """Derivative of the sum in a direction; None where rows cannot be those of this density.

        Columns beyond those that a row function takes are multiplied on the host.
        """
        family, sizes = self._family, self._data.sizes
        if family.vector or any(family.ranks.values()):
            return None
        numbers = INTERCEPT, *family.parameters
        in_rows = {COEFFICIENTS: PRODUCT, INTERCEPT: INTERCEPT} | {n: parameter(n) for n in family.parameters}
        narrow = sizes.columns <= MOST_COLUMNS_OF_ROWS

        def rows(shapes: Mapping[str, Shape]) -> OverRows:
            by_group = sizes.n_groups is not None and shapes[INTERCEPT] == (sizes.n_groups,)
            by_row = [n for n in numbers if shapes[n] and not (by_group and n == INTERCEPT)]
            return self._bound(by_group, *by_row) if narrow else wide(self._bound(by_group, PRODUCT, *by_row))

        def wide(rows: Rows) -> Linear:
            design = self._data.on_host()[DESIGN]

            def forward(given: Mapping[str, Any]) -> dict[str, Value]:
                return {in_rows[n]: design @ v if n == COEFFICIENTS else v for n, v in given.items()}

            def backward(found: Mapping[str, Any]) -> dict[str, Value]:
                of_row = {r: n for n, r in in_rows.items()}
                return {of_row[r]: v @ design if r == PRODUCT else v for r, v in found.items()}

            return Linear(rows, forward, backward)

        return Along(rows, names, in_rows if narrow else dict(zip(in_rows, in_rows, strict=True)), numbers)

    def _faster(self, arguments: Arguments) -> bool:
        family, data = self._family, self._data
        n_rows, columns, n_groups, *_ = data.sizes
        if data.runtime.device.type != "cpu" or n_rows < FEWEST_ROWS or family.vector or any(family.ranks.values()):
            return False
        if arguments.kinds[INTERCEPT] is Route.GROUP:
            small = n_rows < SMALL_GROUP * (n_groups or 1)
            return columns <= (MOST_COLUMNS_OF_SMALL_GROUPS if small else MOST_COLUMNS_BY_GROUP)
        return columns <= MOST_COLUMNS

    def _bound(self, by_group: bool, *by_row: str) -> Rows:
        """Rows with an intercept of each group, or of all; parameters `by_row`, or the product, have a number for each row."""
        kind = by_group, by_row
        if kind not in self._rows:
            leaves: dict[str, Array | Leaf] = {n if n in (INTERCEPT, PRODUCT) else parameter(n): per_row() for n in by_row}
            if by_group:
                assert self._data.groups is not None
                leaves[INTERCEPT] = gather(self._data.groups.on_host())
            self._rows[kind] = rows_of(self._family, self._data.runtime, self._data.on_host(), (), leaves)
        return self._rows[kind]


class RowsCall:
    """Sum and derivatives for other numbers in arguments of the same shapes. Threads may share it.

    `arguments`, `wrt` and `names` are as for `repeatable`.
    """

    def __init__(self, arguments: Arguments, wrt: Sequence[str], names: Sequence[str], rows: Rows):
        self._rows, self._lead, self._names = rows, arguments.lead, names
        names_in_rows = {n: parameter(n) for n in arguments.family.parameters}
        names_in_rows |= {COEFFICIENTS: PRODUCT, INTERCEPT: INTERCEPT}
        self._fixed = {names_in_rows[n]: a.value for n, a in arguments.by_name.items() if n not in names}
        self._taken: list[tuple[str, int, Shape | None]] = []
        for i, name in enumerate(names):
            argument = arguments[name]
            if argument.kind is Route.ABSENT:
                self._fixed[names_in_rows[name]] = 0.0
            elif argument.kind is Route.VALUE:
                self._taken.append((names_in_rows[name], i, None))
            else:
                shape = argument.value.shape
                in_rows = shape if name == COEFFICIENTS or argument.kind is Route.GROUP else argument.lead
                self._taken.append((names_in_rows[name], i, in_rows))
        self._wrt = tuple(names_in_rows[n] for n in wrt)
        values = ((n, arguments[n].value) for n in wrt)
        self._results = [(n, names_in_rows[n], None if isinstance(v, float) else v.shape) for n, v in values]

    def start(self, values: Sequence[Value]) -> Callable[[], tuple[Value, dict[str, Value]]]:
        """Start a call with other numbers; returns the wait for value and derivatives."""
        wait = self._rows.start(self._wrt, self._given(values))

        def finish() -> tuple[Value, dict[str, Value]]:
            value, found = wait()
            gradients = {n: found[r] if shape is None else np.reshape(found[r], shape) for n, r, shape in self._results}
            return (np.reshape(value, self._lead) if self._lead else value), gradients

        return finish

    def compiled(self, values: Sequence[Value]) -> RepeatedSum | None:
        """Such calls for compiled code; None where they need Python."""
        if (found := self._rows.compiled(self._given(values), self._wrt)) is None:
            return None
        arguments = {in_rows: self._names[i] for in_rows, i, _ in self._taken}
        return found.fix(self._fixed).renamed(arguments, {r: n for n, r, _ in self._results})

    def _given(self, values: Sequence[Value]) -> dict[str, Value]:
        """Parameters of the rows, by name."""
        given: dict[str, Value] = self._fixed.copy()
        for name, i, shape in self._taken:
            value = values[i]
            if shape is None:
                given[name] = value.item() if type(value) is np.ndarray else float(value)
            else:
                given[name] = value.reshape(shape)
        return given
