"""Observed choices among many alternatives, by logits: the sum of a GLM, which has loops over the alternatives.

A row function writes out each element of an axis. The kernels of a GLM do not: they have all logits of a row in an array.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from ...density import Density
from ...errors import NoDeviceError
from ...evaluation.compiled import RepeatedSum
from ...glm import GLM
from ...glm.family import COEFFICIENTS, INTERCEPT
from ...glm.layout import fits
from ...language.device_function import parse
from ...runtime import choose, thresholds
from .along import Pick
from .frozen import Frozen, axis_of_softmax
from .indexing import index_of
from .reader import IDENTITY_OPS, MOST_IN_ROW, Argument, without_shuffles
from .scalar_ops import Unsupported
from .sparse_products import is_sparse

#: Alternatives from which the kernels of a GLM are faster than a row function in which all are written out.
FEWEST_ALTERNATIVES = thresholds.COMPILER_FEWEST_ALTERNATIVES.value
MOST_ALTERNATIVES = 512  # of a kernel that compiles in seconds
CHECKED = "0<=p<=1,sum(p)=1"  # message of PyMC's check of the probabilities, without spaces

SOURCE = """// choice: one of dim alternatives, numbered from 0, by logits; -inf where their sum is no number
// x: nonnegative integer    eta: vector, logits
__device__ real choice_logpmf(real x, const real *eta, int dim)
{
    real largest = -INFINITY, sum = 0;
    for (int i = 0; i < dim; i++)
        largest = fmax(largest, eta[i]);
    for (int i = 0; i < dim; i++)
        sum += exp(eta[i] - largest);
    real log_sum = log(sum);
    if (isnan(sum) || x >= dim) return -INFINITY;
    return eta[(int)x] - largest - log_sum;
}

__device__ real choice_logpmf_grad_eta(real x, const real *eta, int dim, int component)
{
    real largest = -INFINITY, sum = 0;
    for (int i = 0; i < dim; i++)
        largest = fmax(largest, eta[i]);
    for (int i = 0; i < dim; i++)
        sum += exp(eta[i] - largest);
    real scale = 1 / sum;
    return (x == component) - exp(eta[component] - largest) * scale;
}
"""


@dataclass(frozen=True, eq=False)
class Choices:
    """Choices of all rows: the logits are X @ beta + alpha.

    X and beta may be absent, or alpha, which has a number for each alternative, for these in each of `groups`, or in each row.
    """

    y: np.ndarray = field(repr=False)  #: numbers of the alternatives that were chosen, (N,)
    n_alternatives: int
    X: np.ndarray | None = field(default=None, repr=False)
    groups: np.ndarray | None = field(default=None, repr=False)
    n_groups: int | None = None
    rank: int = 1  #: of alpha
    checked: bool = False  #: whether PyMC checks the probabilities
    arguments: tuple[Argument, ...] = ()  #: as `explain` shows them, the parameters by their names in a GLM
    computed: dict[Variable, str] = field(default_factory=dict)  #: logits that PyTensor computes -> why

    def model(self, devices: Sequence[str] | None) -> ChoiceModel:
        return ChoiceModel(self, devices)

    @property
    def cost(self) -> tuple[int, int]:
        """Numbers of cheap operations and of calls of functions in a row."""
        return self.n_alternatives * (4 + 2 * (0 if self.X is None else self.X.shape[1])), 2 * self.n_alternatives


class ChoiceModel:
    """GLM of choices, which takes its parameters as `gpustats.Rows` does."""

    def __init__(self, choices: Choices, devices: Sequence[str] | None):
        X = np.zeros((choices.y.size, 1)) if choices.X is None else choices.X
        density = Density(parse(SOURCE))
        self.glm = GLM(density, choices.y, X, groups=choices.groups, n_groups=choices.n_groups, devices=devices)
        self._rank = choices.rank
        #: coefficients where the logits have none
        self.fixed = {} if choices.X is not None else {COEFFICIENTS: np.zeros((1, choices.n_alternatives))}

    @property
    def parameters(self) -> tuple[str, ...]:
        return COEFFICIENTS, INTERCEPT

    def __call__(self, **values: Any) -> Any:
        return self.glm(**self._given(values))

    def value_and_grad(self, wrt: Collection[str], **values: Any) -> tuple[Any, dict[str, Any]]:
        value, gradients = self.glm.value_and_grad(wrt=wrt, **self._given(values))
        return value, {name: np.reshape(gradient, np.shape(values[name])) for name, gradient in gradients.items()}

    def compiled(self, values: Mapping[str, Any], wrt: Sequence[str], n_sets: int | None = None) -> RepeatedSum | None:
        made = self.glm.compiled(self._given(values), wrt, n_sets)
        return made.fix(self.fixed) if made is not None and self.fixed else made

    def _given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters as a GLM takes them: sets of intercepts that all rows share have an axis for the rows."""
        given = {**self.fixed, **values}
        if INTERCEPT in given and self._rank == 1 and given[INTERCEPT].ndim > 1:
            given[INTERCEPT] = given[INTERCEPT][..., None, :]
        return given


def choices_of(frozen: Frozen) -> Choices | None:
    """Choices whose log-probabilities a variable has; None where it has not, or where the alternatives are few.

    `Unsupported` where they are too many.
    """
    v, checks = frozen.variable, list[Apply]()
    while v.owner is not None and (_is_check(v.owner) or _is_moved(v.owner) or _chooses_last(v.owner)):
        checks += [v.owner] if _is_check(v.owner) else []
        v = v.owner.inputs[-1 if _chooses_last(v.owner) else 0]
    node = v.owner
    if node is None or type(node.op).__name__ != "AdvancedSubtensor" or (n := _size(frozen.variable)) is None:
        return None
    logits, chosen = _logits(node.inputs[0].owner), index_of(node)
    if logits is None or logits.type.shape[0] != n or not all(_is_of(c, logits) for c in checks):
        return None
    if len(chosen) != 2 or not all(isinstance(i, Constant) for i in chosen):
        return None
    rows, y = (np.broadcast_to(i.data, v.type.shape).reshape(-1) for i in chosen)  # type: ignore[union-attr]
    count = logits.type.shape[1]
    if count is None or count < FEWEST_ALTERNATIVES or not np.array_equal(rows, np.arange(n)):
        return None
    y = np.where(y < 0, y + count, y)
    if (y < 0).any() or (y >= count).any():
        return None
    if count > MOST_ALTERNATIVES:
        raise Unsupported(f"a choice among {count} alternatives; there are kernels for {MOST_ALTERNATIVES} at most")
    found = _linear(frozen, logits, y)
    if count <= MOST_IN_ROW and (found is None or not _fits(found)):
        return None  # a row function has them, too
    found = found or _of_each_row(frozen, logits, y)
    if not _fits(found):
        raise Unsupported(f"a choice among {count} alternatives, which do not fit into the shared memory of the device")
    return replace(found, checked=bool(checks))


def _fits(choices: Choices) -> bool:
    columns = 1 if choices.X is None else choices.X.shape[1]
    try:
        return fits(choose.get().device, columns, choices.n_alternatives, 8)
    except NoDeviceError:
        return True


def _size(v: Variable) -> int | None:
    return v.type.shape[0] if v.type.ndim == 1 else None


def _is_moved(node: Apply) -> bool:
    return isinstance(node.op, DimShuffle) or type(node.op).__name__ in IDENTITY_OPS


def _is_check(node: Apply) -> bool:
    return isinstance(node.op, CheckParameterValue)


def _chooses_last(node: Apply) -> bool:
    """True if a node chooses its last input for all rows."""
    if not isinstance(node.op, Elemwise) or type(node.op.scalar_op).__name__ not in ("Switch", "Where"):
        return False
    condition = node.inputs[0]
    return isinstance(condition, Constant) and not np.any(condition.data)


def _logits(node: Apply | None) -> Variable | None:
    """Logits, (N, K), of which a node makes logarithms of probabilities."""
    if node is None or type(node.op).__name__ != "LogSoftmax" or node.inputs[0].type.ndim != 2:
        return None
    return node.inputs[0] if axis_of_softmax(node) == 1 else None


def _is_of(check: Apply, logits: Variable) -> bool:
    """True if a check is that of the probabilities, which is met unless the sum of their exponentials is no number."""
    stack = check.inputs[1:]
    while stack:
        v = stack.pop()
        if isinstance(v, Constant):
            continue
        if v.owner is None:
            return False
        if type(v.owner.op).__name__ == "Softmax" and v.owner.inputs[0] is logits and axis_of_softmax(v.owner) == 1:
            continue
        stack += v.owner.inputs
    return check.op.msg.replace(" ", "") == CHECKED


def _linear(frozen: Frozen, logits: Variable, y: np.ndarray) -> Choices | None:
    """Choices by logits that are a product with data, a table's rows by group, intercepts, or a product and one of these."""
    node = logits.owner
    is_sum = node is not None and isinstance(node.op, Elemwise) and type(node.op.scalar_op).__name__ == "Add"
    found: dict[str, Any] = {}
    arguments = [Argument("y", "data", numbers=(y,))]
    for v in node.inputs if node is not None and is_sum else [logits]:
        part = _product(frozen, v) or _by_group(frozen, v) or _intercepts(frozen, v)
        if part is None:
            return None
        argument, data = part
        if any(a.name == argument.name for a in arguments):
            return None
        arguments.append(argument)
        found |= data
    return Choices(y, logits.type.shape[1], **found, arguments=tuple(arguments)) if found else None


Part = tuple[Argument, dict[str, Any]]


def _product(frozen: Frozen, v: Variable) -> Part | None:
    if v.owner is None or type(getattr(v.owner.op, "core_op", v.owner.op)).__name__ not in ("Dot", "MatMul"):
        return None
    X, beta = v.owner.inputs
    if not isinstance(X, Constant) or isinstance(beta, Constant) or X.type.ndim != 2 or beta.type.ndim != 2:
        return None
    if is_sparse(X):
        return None
    matrix = np.ascontiguousarray(X.data, np.float64)
    return Argument(COEFFICIENTS, "dot", frozen.original(beta), (slice(None),) * 2, (matrix,)), {"X": matrix}


def _by_group(frozen: Frozen, v: Variable) -> Part | None:
    if v.owner is None or type(v.owner.op).__name__ not in ("AdvancedSubtensor", "AdvancedSubtensor1"):
        return None
    table, where = v.owner.inputs[0], index_of(v.owner)
    is_index = isinstance(where[0], Constant) and where[0].type.ndim == 1 and all(i == slice(None) for i in where[1:])
    if not is_index or isinstance(table, Constant) or table.type.ndim != 2 or (n_groups := table.type.shape[0]) is None:
        return None
    groups = np.asarray(where[0].data)  # type: ignore[union-attr]
    groups = np.where(groups < 0, groups + n_groups, groups)
    data = {"groups": groups, "n_groups": n_groups, "rank": 2}
    return Argument(INTERCEPT, "gather", frozen.original(table), (slice(None),) * 2, (groups,)), data


def _of_each_row(frozen: Frozen, logits: Variable, y: np.ndarray) -> Choices:
    """Choices by logits that PyTensor computes."""
    source = frozen.original(logits)
    own = Argument(INTERCEPT, "row", source, (slice(None),) * 2)
    arguments = Argument("y", "data", numbers=(y,)), own
    why = {source: "logits that are no products with data"} if source.owner is not None else {}
    return Choices(y, logits.type.shape[1], rank=2, arguments=arguments, computed=why)


def _intercepts(frozen: Frozen, v: Variable) -> Part | None:
    if v.type.ndim != 2 or v.type.shape[0] != 1 or isinstance(v, Constant):
        return None
    vector, at = without_shuffles(v, (0, None))
    pick: Pick = tuple(slice(None) if e is None else e for e in at)
    return Argument(INTERCEPT, "each", frozen.original(vector), pick), {}
