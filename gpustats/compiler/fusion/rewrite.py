"""Rewrite that puts sums over rows on the device before a log-posterior is differentiated."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import pytensor.tensor as pt
from pytensor.compile.mode import optdb
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import GraphRewriter
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.op import RandomVariable

from ...errors import NoDeviceError
from ...runtime import choose
from . import numba_link  # noqa: F401
from .frozen import shared_data
from .last_steps import is_whole_sum, numbers_of_scans
from .op import OfRows, sum_by, sum_later
from .program import program_of
from .regrouped import as_fused
from .scalar_ops import UnknownLength, Unsupported
from .settings import fuse as fuse  # whoever sets it needs the rewrites
from .settings import fused as fused
from .settings import settings
from .sources import sources_of
from .where import FEWEST_UNREAD_ROWS, decision, too_few

PREGRAD = "canonicalize", "stabilize"  # rewrites before a log-posterior is differentiated
REWRITES_OF_CHECKS = "local_check_parameter_to_ninf_switch", "local_remove_check_parameter"


class FuseSums(GraphRewriter):
    """Rewrite that puts a `Fused` in the place of every sum over rows for which there is a program."""

    def apply(self, fgraph: FunctionGraph) -> None:
        now = settings()
        if not now.on or not has_device():
            return
        for number in numbers_of_scans(fgraph.outputs):
            self._fuse(fgraph, number.owner, number, now.min_rows, now.devices)
        for node in list(fgraph.toposort()):
            if node in fgraph.apply_nodes and is_whole_sum(node):
                extents = node.inputs[0].type.shape
                if None in extents or not too_few(math.prod(extents), now.min_rows) or has_scans(node.inputs[0]):
                    self._fuse(fgraph, node, node.inputs[0], now.min_rows, now.devices)

    def _fuse(
        self, fgraph: FunctionGraph, node: Apply, summed: Variable, min_rows: int | None, devices: Sequence[str] | None
    ) -> None:
        term = as_fused(summed)
        data = shared_data(term)
        try:
            try:
                program = program_of(term, data)
                if decision(program, min_rows).reason or (not summed.type.ndim and not program.is_loop):
                    return
                total = sum_by(program, term, list(data), devices)
            except UnknownLength:
                sources, n_rows = sources_of(term, data)
                if too_few(n_rows, min_rows, FEWEST_UNREAD_ROWS):
                    return
                total = sum_later(sources, term, list(data), devices)
        except Unsupported:
            return
        total = pt.cast(total, node.outputs[0].type.dtype)
        fgraph.replace(node.outputs[0], total, reason="rows on the device", import_missing=True)


def has_device() -> bool:
    """True if there is a device that computes in float64."""
    try:
        return choose.get().device.double
    except NoDeviceError:
        return False
    except ValueError as error:  # what GPUSTATS_DEVICE names is no device
        warnings.warn(f"no sum over rows is computed on a device: {error}", RuntimeWarning, stacklevel=2)
        return False


def has_scans(variable: Variable) -> bool:
    """True if a variable follows from scans."""
    return any(v.owner is not None and type(v.owner.op).__name__ == "Scan" for v in ancestors([variable]))


def _has_elements(variable: Variable) -> bool:
    return getattr(variable.type, "ndim", 0) > 0 and variable.type.shape != (1,) * variable.type.ndim


class FuseValues(GraphRewriter):
    """Rewrite of a log-posterior that PyMC compiles without its derivatives, as for Metropolis or SMC.

    It becomes what is differentiated elsewhere, so that a value is the same with its gradient and without.
    """

    def apply(self, fgraph: FunctionGraph) -> None:
        if not settings().on or len(fgraph.outputs) != 1 or not has_device():
            return
        (total,) = fgraph.outputs
        if total.type.ndim or not total.type.dtype.startswith("float"):
            return
        if any(isinstance(node.op, OfRows | RandomVariable) for node in fgraph.apply_nodes):
            return
        if not any(isinstance(v, Constant | SharedVariable) and _has_elements(v) for v in fgraph.variables):
            return  # without data, as the graph of which PyTensor makes an operation: it may be rewritten to that operation
        optdb.query(RewriteDatabaseQuery(include=PREGRAD)).rewrite(fgraph)


class ForJAX(FuseSums):
    """The same rewrite of a graph that JAX compiles and differentiates, which learns to compile our operations."""

    def apply(self, fgraph: FunctionGraph) -> None:
        from . import jax_link  # it imports JAX

        if jax_link.in_double():  # else JAX computes all in float32, and the sums here are of float64
            super().apply(fgraph)


class OnlyUsed(GraphRewriter):
    """Rewrite that leaves out the gradients of sums over rows that nothing uses."""

    def apply(self, fgraph: FunctionGraph) -> None:
        for node in fgraph.toposort():
            if not isinstance(node.op, OfRows):
                continue
            used = [i for i, v in zip(node.op.wrt, node.outputs[1:], strict=True) if fgraph.clients[v]]
            if len(used) < len(node.op.wrt):
                outputs = type(node.op)(node.op.evaluator, used).make_node(*node.inputs).outputs
                new = dict(zip(used, outputs[1:], strict=True))
                pairs = [(node.outputs[0], outputs[0])]
                pairs += [(v, new[i]) for i, v in zip(node.op.wrt, node.outputs[1:], strict=True) if i in new]
                fgraph.replace_all(pairs, reason="only the gradients that are used")


class BackToPyTensor(GraphRewriter):
    """Rewrite of sums over rows to sums as PyTensor computes them, for compilers that know no other operations."""

    def apply(self, fgraph: FunctionGraph) -> None:
        while nodes := [node for node in fgraph.toposort() if isinstance(node.op, OfRows)]:
            pairs = list(zip(nodes[0].outputs, nodes[0].op.as_graph(nodes[0].inputs), strict=True))
            fgraph.replace_all(pairs, reason="rows on the device", import_missing=True)


# PyMC and nutpie apply "stabilize" before they differentiate. Without a tag, no ordinary compilation does. All that PyMC
# compiles has one of the rewrites of checks, which would hide what the checks are: values are fused before.
optdb["stabilize"].register("gpustats_fuse_sums", FuseSums(), final_rewriter=True)
optdb.register("gpustats_fuse_values", FuseValues(), *REWRITES_OF_CHECKS, position=0.5)
optdb.register("gpustats_back", BackToPyTensor(), "pytorch", "mlx", position=0)
optdb.register("gpustats_for_jax", ForJAX(), "jax", position=1.6)  # where JAX differentiates, nothing is fused before
optdb.register("gpustats_only_used", OnlyUsed(), "fast_run", "fast_compile", position=2.6)
