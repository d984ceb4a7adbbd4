"""Kernel code: a separated device function, and the expressions by which a template calls its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..language import nodes as lang
from ..language.nodes import VECTOR, Function, Node, Resolve
from ..rewriting.reverse_mode import SWEEP
from ..rewriting.shared_logarithm import shared_logarithm
from ..rewriting.values_alone import value_alone, values_alone
from ..runtime.cached import cached_property
from .inlining import inlined_sizes
from .separate import separate
from .separated import BOTH, OWNER, ROW, SET, Separated

#: How an argument reaches a kernel: one value for all, an array over parameter sets, an array over observations.
VALUE, PER_SET, PER_ROW = "value", "set", "row"
#: What a kernel that draws passes to a sampler.
_KERNEL_ARGUMENTS = {lang.RNG: "&rng", lang.OUTPUT: "vector"}


@dataclass(frozen=True)
class Operand:
    """Argument of a device function as the kernel takes it."""

    name: str  # as printed in C
    role: str  # VALUE, PER_SET, PER_ROW
    rank: int = 0  # 1: a vector of length dim

    @property
    def level(self) -> int:
        return ROW if self.role == PER_ROW else SET

    @property
    def parameters(self) -> list[str]:
        """Parameters of the kernel for the operand, as C declares them."""
        if self.role == VALUE and not self.rank:
            return [f"real {self.name}_value"]
        # The stride is how far the next set's value, vector or rows lie away: 0 where all sets share them.
        array = f"GLOBAL const real *RESTRICT {self.name}_per_{self.role}"
        return [array, f"index_t {self.name}_offset", f"index_t {self.name}_stride"]


class KernelCode:
    """Separated device function together with the expressions by which a template calls its parts.

    `operands` are the arguments of the function, and `resolve` finds the functions that it calls. `computed` are parameters
    that the kernel itself computes, from observations and parameters; or a mapping, of their names to what they depend on. Of
    a function with several results, `sums` are those to be summed over the rows, and `rows` those to be written for each row.
    """

    def __init__(
        self, function: Function, operands: Sequence[Operand], resolve: Resolve,
        computed: Sequence[str] | Mapping[str, int] = (), sums: Sequence[str] = (), rows: Sequence[str] = (),
    ):  # fmt: skip
        function, resolve = value_alone(function), values_alone(resolve)
        self.function, self.operands, self.resolve = function, tuple(operands), resolve
        self.sums, self.rows = tuple(sums), tuple(rows)
        self.n_sums = len(sums) if function.results else 1
        self.by_name = {o.name: o for o in operands}
        levels = {o.name: o.level for o in operands}
        levels |= computed if isinstance(computed, Mapping) else dict.fromkeys(computed, BOTH)
        self.separated: Separated = separate(function, levels, resolve, _is_whole)
        stages = self.separated.stages
        self.set_type = stages[SET].struct if stages[SET].members else None
        self.row_type = stages[ROW].struct if stages[ROW].members else None
        self.row_operands = [o for o in operands if o.role == PER_ROW]
        self.observation = operands[0].name if operands else None
        self.stage_vectors = False
        self.at_hand: dict[str, str] = {}  # arguments that the template has in variables of its own: the C for them
        self.logarithm = ""  # of which each sum has a multiple, by these weights: see `with_shared_logarithm`
        self.weights: dict[str, str] = {}

    def with_shared_logarithm(self) -> KernelCode:
        """Code of the same sums as multiples of one logarithm plus rests, if that can be had; see `shared_logarithm`."""
        by_row = {o.name for o in self.row_operands}
        shared = shared_logarithm(self.function, by_row, self.resolve, self.rows)
        if shared is None:
            return self
        made = KernelCode(shared.function, self.operands, self.resolve, (), self.sums or shared.function.results[:1], self.rows)
        made.logarithm, made.weights = shared.logarithm, shared.weights
        return made

    @property
    def functions(self) -> list[Function]:
        """Functions that the kernel is made of, before they were separated."""
        return [*callees_first(self.function.body, self.resolve), self.function]

    @cached_property
    def whole_functions(self) -> list[Function]:
        """Functions that are called as they are, callees first."""
        parts: list[Node] = [part for separated in self.separated.all() for part in separated.parts()]
        return callees_first([*parts, lang.Call(self.logarithm, ())], self.resolve)

    @cached_property
    def struct_functions(self) -> list[Function]:
        """Functions with several results, whole or in parts."""
        functions = [*self.whole_functions, *(separated.source for separated in self.separated.all())]
        return list({f.name: f for f in functions if f.results}.values())

    @cached_property
    def bodies(self) -> list[tuple[str, Sequence[Node]]]:
        """Names and bodies of all functions that are printed, callees first."""
        whole = [(f.name, f.body) for f in self.whole_functions]
        return [*whole, *(part for separated in self.separated.all() for part in separated.functions())]

    @cached_property
    def mixed_cost(self) -> int:
        """Rough number of arithmetic operations of each entry of a table."""

        def cost(separated: Separated) -> int:
            nodes = [n for s in separated.body for n in lang.walk(s)]
            own = sum(1 if isinstance(n, lang.Binary) else 0 for n in nodes)
            functions = [n.function for n in nodes if isinstance(n, lang.Call)]
            calls = sum(20 for f in functions if not f.startswith("make_") and not f.endswith("_evaluate"))
            return own + calls + 20 * any(isinstance(n, lang.For) for n in nodes)

        return self._with_inner(cost)

    @property
    def set_cost(self) -> int:
        """Rough number of arithmetic operations to prepare one parameter set."""

        def cost(separated: Separated) -> int:
            calls = [n.function for part in separated.stages[SET].computed for n in lang.walk(part) if isinstance(n, lang.Call)]
            return sum(60 if self.resolve(c) else 20 for c in calls if c in lang.MATH or self.resolve(c))

        return self._with_inner(cost)

    @cached_property
    def row_size(self) -> int:
        """Nodes of the code that a template writes out for each row that it names, with all that is inlined in it."""
        sizes = inlined_sizes(self.bodies)
        return sizes[self.separated.evaluate] + sizes.get(self.separated.stages[ROW].function, 0)

    @property
    def row_calls(self) -> bool:
        """True if functions are called for a row alone."""
        computed = (s for separated in self.separated.all() for s in separated.stages[ROW].computed)
        return any(isinstance(n, lang.Call) and n.type == lang.REAL for s in computed for n in lang.walk(s))

    @cached_property
    def usual_row(self) -> str:
        """Condition, in C, that holds for usual rows; empty where no rows are known to be rare."""
        return " && ".join(dict.fromkeys("!" * (not holds) + name for name, holds in self.separated.usual(ROW, OWNER[ROW])))

    def branches(self, *sets: str) -> str:
        """Condition, in C, that holds where no statement branches off for these structs; empty where none ever branches."""
        found = dict.fromkeys(branch for owner in sets for branch in self.separated.branches(owner))
        return f"!({' || '.join(found)})" if found else ""

    def struct_bytes(self, level: int, itemsize: int) -> int:
        """Upper bound of the size of the struct of `level`."""
        return self.separated.stages[level].numbers * itemsize + 8 * len(self.separated.all())  # for alignment

    def _with_inner(self, cost: Callable[[Separated], int]) -> int:
        """Cost of the separated function and of the functions that it calls, once for each mention."""
        costs: dict[str, int] = {}
        for separated in self.separated.all():
            costs[separated.name] = cost(separated) + sum(costs[inner.name] for inner in separated.inner)
        return costs[self.separated.name]

    # -- pieces of text for the templates

    @cached_property
    def vectors_keep_their_names(self) -> bool:
        """True if all functions have the same names for the same vectors: then a name tells in which memory each lies."""
        for call in (n for f in self.functions for n in lang.walk(f) if isinstance(n, lang.Call)):
            if (called := self.resolve(call.function)) is not None:
                for p, given in zip(called.parameters, call.arguments, strict=True):
                    if p.type == VECTOR and given != lang.Name(p.name, VECTOR):
                        return False
        return True

    @property
    def parameters(self) -> str:
        declared = [f"GLOBAL real *RESTRICT {name}_rows, index_t {name}_first" for name in self.rows]
        declared += [parameter for o in self.operands for parameter in o.parameters]
        return ", ".join(declared + (["int dim"] if self.function.has_dim else []))

    def apply_offsets(self) -> str:
        lines = [
            f"{o.name}_per_row += {o.name}_offset + first_set * {o.name}_stride;" if o.role == PER_ROW
            else f"{o.name}_per_set += {o.name}_offset;"
            for o in self.operands if o.role != VALUE or o.rank
        ]  # fmt: skip
        return "\n    ".join(lines)

    def _value(self, p: lang.Parameter, k: str, n: str, component: str | None, tile_row: str | None) -> str:
        if p.name in self.at_hand:
            return self.at_hand[p.name]
        if p.name == "dim":
            return "dim"
        if p.type in _KERNEL_ARGUMENTS:
            return _KERNEL_ARGUMENTS[p.type]
        o = self.by_name.get(p.name)
        if o is None:
            return p.name
        if o.role == PER_ROW:
            if o.rank:
                staged = self.stage_vectors and tile_row and o.name == self.observation
                return f"vectors + ({tile_row}) * padded" if staged else f"{o.name}_per_row + ({n}) * dim"
            return f"{o.name}_wide.{component}" if component else f"{o.name}_per_row[{n}]"
        if o.rank:
            return f"{o.name}_per_set + ({k}) * {o.name}_stride"
        return f"{o.name}_value" if o.role == VALUE else f"{o.name}_per_set[({k}) * {o.name}_stride]"

    def prepare_set(self, k: str) -> str:
        values = (self._value(p, k, "", None, None) for p in self.separated.arguments[SET])
        return f"{self.separated.stages[SET].function}({', '.join(values)})"

    def prepare_row(self, n: str, component: str | None = None, tile_row: str | None = None) -> str:
        values = (self._value(p, "", n, component, tile_row) for p in self.separated.arguments[ROW])
        return f"{self.separated.stages[ROW].function}({', '.join(values)})"

    def evaluate(self, row: str, set: str, n: str, k: str, tile_row: str | None = None) -> str:
        structs = ([set] if self.set_type else []) + ([row] if self.row_type else [])
        values = (self._value(p, k, n, None, tile_row) for p in self.separated.arguments[BOTH])
        return f"{self.separated.evaluate}({', '.join([*structs, *values])})"


def _is_whole(function: str) -> bool:
    """True if a function, by its name, stays as it is where it is called."""
    return function.startswith("special_") or SWEEP in function


def callees_first(nodes: Sequence[lang.Node], resolve: Resolve) -> list[Function]:
    """Functions that are called in `nodes`, directly or through others, in an order in which C can read them."""
    found: dict[str, Function] = {}

    def visit(nodes: Sequence[lang.Node]) -> None:
        for node in nodes:
            for name in lang.called(node):
                function = resolve(name)
                if function is not None and name not in found:
                    visit(function.body)
                    found[name] = function

    visit(nodes)
    return list(found.values())
