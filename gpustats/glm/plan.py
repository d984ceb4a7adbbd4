"""Plans of calls of a GLM: from the task of a call to the kernel that computes it."""

from __future__ import annotations

from typing import NamedTuple

from ..evaluation.kinds import Plans
from . import kernel
from .arguments import Arguments
from .computation import Computation, Route
from .data import Column, GLMData
from .family import INTERCEPT, OBSERVATIONS, WEIGHTS, Codes, predictor_alone
from .task import Quantity, Task


class Plan(NamedTuple):
    """Compiled kernel of a task.

    Attributes
    ----------
    launch : Launch
    operands : tuple of str
        The arguments of its device function but the linear predictor, in their order.
    """

    launch: kernel.Launch
    operands: tuple[str, ...]


def plan_of(plans: Plans[Plan], task: Task, arguments: Arguments, data: GLMData, weights: Column | None) -> Plan:
    """Kernel for a task; pieces of a model with as many rows on the same device share kernels, in `plans`."""
    own = _with_own_rows(arguments, weights)
    kind = (
        data.runtime, data.sizes.n_rows, data.design.aligned, task, *arguments.kinds.values(), own, arguments.n_sets,
        bool(arguments.lead), arguments.outcomes, weights is None,
    )  # fmt: skip
    return plans.plan(kind, _planned, task, arguments, data, weights is not None, own)


def _with_own_rows(arguments: Arguments, weights: Column | None) -> tuple[str, ...]:
    """Arguments of the density with values for each row that differ between sets."""
    own = [n for n, a in arguments.by_name.items() if a.kind is Route.ROW and a.lead and n != INTERCEPT]
    if weights is not None and weights.by_set:
        own.append(WEIGHTS)
    return tuple(own)


def _planned(task: Task, arguments: Arguments, data: GLMData, weighted: bool, own: tuple[str, ...]) -> Plan:
    family, sizes = arguments.family, data.sizes
    codes = _codes(task, arguments, weighted)
    names = family.names(weighted)
    computation = Computation(
        sizes.columns,
        arguments.outcomes,
        family.vector and task.of_density,
        arguments.kinds[INTERCEPT],
        data.offset is not None,
        sums=tuple(_in_c(q, codes) for q in task.sums),
        rows=tuple(_in_c(q, codes) for q in task.rows),
        slope=codes.slope,
        slope_sums=task.slope_sums,
        gradient=task.gradient,
        own_rows=tuple(names[n] for n in own),
    )
    launch = kernel.launch(
        data.runtime, data.dtype, f"{family.density.name}_glm", computation, codes, sizes.n_rows, arguments.n_sets,
        bool(arguments.lead), data.design.aligned,
    )  # fmt: skip
    return Plan(launch, codes.operands)


def _in_c(quantity: Quantity | str, codes: Codes) -> str:
    return quantity.value if isinstance(quantity, Quantity) else codes.derivatives[quantity]


def _codes(task: Task, arguments: Arguments, weighted: bool) -> Codes:
    """Device functions that the kernel evaluates for each row and set."""
    family = arguments.family
    if not task.of_density:
        return predictor_alone(family.vector)
    roles = {n: arguments.kinds[n].value for n in family.parameters} | {OBSERVATIONS: Route.ROW.value}
    if weighted:
        roles[WEIGHTS] = Route.ROW.value
    wrt = [q for q in (*task.sums, *task.rows) if isinstance(q, str)]
    return family.codes(roles, wrt, task.slopes)
