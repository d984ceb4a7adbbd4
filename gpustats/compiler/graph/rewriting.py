"""Graph rewrite by which a log-likelihood and all of its gradients come from one evaluation."""

from __future__ import annotations

import pytensor.tensor as pt
from pytensor.compile.mode import optdb
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import GraphRewriter
from pytensor.scalar.basic import Add
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Sum

from .guard import is_log_density, sum_of_checked, switches
from .ops import LogDensity, LogLikelihood


class OneEvaluation(GraphRewriter):
    """Rewrite that evaluates a density once for the same arguments.

    The sum of a `LogDensity` and the gradients of the `LogLikelihood` of the same inputs become the outputs of one
    `LogLikelihood`, which has the gradients that something uses, and holds the inputs that are constants: so they need not
    pass through the compiled graph, and stay on the device.
    """

    def apply(self, fgraph: FunctionGraph) -> None:
        _split_sums(fgraph)
        _check_sums(fgraph)
        groups: dict[tuple, list] = {}
        for node in fgraph.toposort():
            if isinstance(node.op, LogDensity) or (isinstance(node.op, LogLikelihood) and not node.op.known):
                groups.setdefault((node.op.formula, tuple(node.inputs)), []).append(node)
        for (formula, _), nodes in groups.items():
            inputs = nodes[0].inputs  # as they are now: another group's replacements may have changed them
            totals: list[Variable] = []
            conditions: list[Variable] = []
            gradients: list[tuple[int, Variable]] = []
            for node in nodes:
                if isinstance(node.op, LogDensity):
                    totals += _totals(fgraph, *node.outputs)
                else:
                    totals += _used(fgraph, node.outputs[:1])
                    gradients += [(i, g) for i, g in zip(node.op.wrt, node.outputs[2:], strict=True) if fgraph.clients[g]]
                conditions.append(node.outputs[1])
            if not totals and not gradients:
                continue
            wrt = sorted({i for i, _ in gradients})
            known = [(i, v) for i, v in enumerate(inputs) if isinstance(v, Constant) and i not in wrt]
            free = [v for i, v in enumerate(inputs) if i not in dict(known)]
            total, valid, *new = LogLikelihood(formula, wrt, known).make_node(*free).outputs
            replaced = [(old, total) for old in totals] + [(old, new[wrt.index(i)]) for i, old in gradients]
            if totals:
                replaced += [(old, valid) for old in _used(fgraph, conditions)]
            fgraph.replace_all(replaced, reason="one evaluation of a density")


def _used(fgraph: FunctionGraph, variables: list[Variable]) -> list[Variable]:
    return [v for v in variables if fgraph.clients[v]]


def _is_whole_sum(op: Op, ndim: int) -> bool:
    return isinstance(op, Sum) and (op.axis is None or len(op.axis) == ndim)


def _is_total(node: Apply, ndim: int) -> bool:
    """True if a node has the sum of all elements of its input, or the only element without its axes."""
    alone = isinstance(node.op, DimShuffle) and not node.outputs[0].type.ndim
    return alone or _is_whole_sum(node.op, ndim)


def _totals(fgraph: FunctionGraph, terms: Variable, valid: Variable) -> list[Variable]:
    """Variables that are the sum of all `terms`, also those that are -inf instead where the parameters are invalid."""
    if not terms.type.ndim:
        totals = _used(fgraph, [terms])
    else:
        totals = [client.outputs[0] for client, _ in fgraph.clients[terms] if _is_total(client, terms.type.ndim)]
    return [v for total in totals for v in (*switches(fgraph, total, valid), total)]


def _split_sums(fgraph: FunctionGraph) -> None:
    """Split Sum(log-density + other) = Sum(log-density) + Sum(other): a transform adds its Jacobian to every term."""
    for node in fgraph.toposort():
        added = node.inputs[0] if isinstance(node.op, Sum) else None
        if added is None or not _is_whole_sum(node.op, added.type.ndim):
            continue
        if added.owner is None or not (isinstance(added.owner.op, Elemwise) and isinstance(added.owner.op.scalar_op, Add)):
            continue
        terms = added.owner.inputs
        if not any(map(is_log_density, terms)) or any(t.type.broadcastable != added.type.broadcastable for t in terms):
            continue
        total = pt.add(*(node.op(t) for t in terms))
        fgraph.replace(node.outputs[0], total, reason="split the sum of a density")


def _check_sums(fgraph: FunctionGraph) -> None:
    """Check the sum, not its terms: parameters are valid for all observations or for none."""
    for node in fgraph.toposort():
        terms = node.inputs[0] if isinstance(node.op, Sum) else None
        if terms is None or not _is_whole_sum(node.op, terms.type.ndim) or not is_log_density(terms):
            continue
        if not isinstance(terms.owner.op, LogDensity):
            total = pt.cast(sum_of_checked(terms), node.outputs[0].type.dtype)
            fgraph.replace(node.outputs[0], total, reason="check the sum of a density")


# After `specialize`, when equal subgraphs are merged and sums are bare, and before Elemwise are fused.
class ForJAX(GraphRewriter):
    """Rewrite that changes nothing: before JAX compiles a graph, PyTensor learns how JAX calls our operations.

    That imports JAX, which takes a second, and which not everybody has.
    """

    def apply(self, fgraph: FunctionGraph) -> None:
        from . import jax_link  # noqa: F401


optdb.register("gpustats_jax_link", ForJAX(), "jax", position=0)
optdb.register("gpustats_one_evaluation", OneEvaluation(), "fast_run", "fast_compile", position=2.5)
