"""Explanation of the terms of a model: where each is computed, and why."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.pytensorf import rewrite_pregrad
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors, toposort

from ...rows.leaves import stored
from ...rows.sparse_matrix import SparseMatrix
from ...runtime import choose
from .frozen import shared_data
from .last_steps import is_whole_sum, numbers_of_scans
from .program import Program, program_of
from .reader import Argument
from .regrouped import as_fused
from .rewrite import has_device
from .scalar_ops import NoData, UnknownLength, Unsupported
from .settings import fused, settings
from .sources import sources_of
from .where import FEWEST_UNREAD_ROWS, Decision, Estimate, decision, too_few

NO_DEVICE = "there is no device that computes in float64"


@dataclass(frozen=True)
class SumExplanation:
    """Sum over rows, where it is computed, and why."""

    n_rows: int  #: 0 where they could not be counted
    program: Program | None  #: of the sum, where there is one
    reason: str  #: why the sum is left to PyTensor; empty where it is not
    expected: Estimate | None = None  #: seconds that the sum and its gradients are expected to take, where these decide

    @property
    def bytes_per_row(self) -> int:
        """Bytes that are read and written for each row, with its gradients."""
        return 0 if self.program is None else sum(_bytes(a) for a in self.program.arguments)

    @property
    def leaves(self) -> list[str]:
        """Descriptions of the arguments of the function of a row."""
        return [] if self.program is None else [_described(a, self.program.computed) for a in self.program.arguments]


@dataclass(frozen=True)
class TermExplanation:
    """Term of a model: what an observed variable or a potential adds to the log-posterior."""

    name: str
    sums: list[SumExplanation]  #: sums that the term consists of
    other: str = ""  #: why there are none

    @property
    def is_fused(self) -> bool:
        """True if all of the term is computed on the device."""
        return bool(self.sums) and not any(s.reason for s in self.sums)

    @property
    def n_rows(self) -> int:
        return max((s.n_rows for s in self.sums), default=0)

    @property
    def reason(self) -> str:
        return self.other or next((s.reason for s in self.sums if s.reason), "")


@dataclass(frozen=True)
class Explanation:
    """Result of `explain`; it prints as text, and as a table in a notebook."""

    terms: list[TermExplanation]
    device: str = field(default="")

    def __str__(self) -> str:
        return "\n\n".join(_text(term, self.device) for term in self.terms) or "the model has no observed variables"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{h}</th>" for h in ("term", "rows", "bytes a row", "where", "arguments"))
        return f"<table><tr>{head}</tr>{''.join(_rows(t, self.device) for t in self.terms)}</table>"


def explain(model: pm.Model | None = None) -> Explanation:
    """Explanation which terms of a PyMC model the device computes where `fused` is in force, and what prevents the others.

    Parameters
    ----------
    model : pymc.Model, optional
        By default that of the context.

    Returns
    -------
    Explanation
        Of the observed variables and the potentials. It prints as text.

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats.pymc as gpm
    >>> rng = np.random.default_rng(1)
    >>> x = rng.uniform(1, 5, 5000)
    >>> with pm.Model() as model:
    ...     v, k, sigma = pm.HalfNormal("v", 3), pm.HalfNormal("k"), pm.HalfNormal("sigma")
    ...     _ = pm.Normal("y", v * x / (k + x), sigma, observed=rng.normal(x / (1 + x), 0.1))
    >>> gpm.explain(model).terms[0].n_rows
    5000
    """
    model = pm.modelcontext(model)
    variables = [*model.observed_RVs, *model.potentials]
    min_rows = settings().min_rows
    shapes = _shapes(model)
    with fused(False):
        terms = model.logp(vars=variables, sum=False, jacobian=False) if variables else []
        explanations = [_explained(v.name, term, shapes, min_rows) for v, term in zip(variables, terms, strict=True)]
    return Explanation(explanations, choose.get().device.name if has_device() else "")


def _shapes(model: pm.Model) -> dict[Variable, tuple[int, ...]]:
    """Shapes of the parameters whose types leave them open."""
    unknown = [v for v in model.value_vars if None in v.type.shape]
    of_name = model.eval_rv_shapes() if unknown else {}
    return {v: tuple(map(int, of_name[v.name])) for v in unknown if v.name in of_name}


def _explained(name: str, term: Variable, shapes: Mapping[Variable, tuple[int, ...]], min_rows: int | None) -> TermExplanation:
    graph = rewrite_pregrad(pt.sum(term))
    found, within, in_numbers = list[SumExplanation | None](), set[Variable](), set[Variable]()
    numbers, not_fused = set(numbers_of_scans([graph])), list[SumExplanation | None]()
    for node in reversed(list(toposort([graph]))):
        output = node.outputs[0]
        if output in in_numbers:
            continue
        if output in numbers:
            explained = _sum(output, shapes, min_rows)
            if explained is None or explained.reason or explained.program is None or not explained.program.is_loop:
                not_fused.append(explained)
            else:
                found.insert(0, explained)
                in_numbers |= set(ancestors([output]))
        elif is_whole_sum(node):
            explained = _sum(node.inputs[0], shapes, min_rows)
            if explained is not None and explained.reason and output in within:
                continue  # it is a part of a parameter of a sum that the device computes, such as the sum of a softmax
            found.insert(0, explained)
            if explained is not None and not explained.reason:
                within |= set(ancestors([node.inputs[0]]))
    found = found or not_fused
    sums = [s for s in found if s is not None]
    return TermExplanation(name, sums, "" if sums else "it is a sum without data" if found else "it is one number")


def _sum(term: Variable, shapes: Mapping[Variable, tuple[int, ...]], min_rows: int | None) -> SumExplanation | None:
    """Explanation of a sum; None for a sum over parameters alone."""
    term = as_fused(term)
    data = shared_data(term)
    expected = None
    try:
        try:
            program = program_of(term, data)
            reason, expected = decision(program, min_rows) if has_device() else Decision(NO_DEVICE)
        except UnknownLength:
            reason = too_few(sources_of(term, data)[1], min_rows, FEWEST_UNREAD_ROWS) if has_device() else NO_DEVICE
            program = program_of(term, data, shapes)
    except NoData:
        return None
    except Unsupported as unsupported:
        extents = term.type.shape
        return SumExplanation(0 if None in extents else int(np.prod(extents)), None, str(unsupported))
    return SumExplanation(program.n_rows, program, reason, expected)


def _bytes(argument: Argument) -> int:
    match argument.kind:
        case "data":
            return _type(argument).itemsize
        case "sequence":
            numbers, starts = argument.numbers
            return _type(argument).itemsize * math.ceil(numbers.size / (starts.size - 1))
        case "gather":
            return 4 * len(argument.numbers)
        case "dot" if isinstance(X := argument.numbers[0], SparseMatrix):
            return math.ceil(X.row_bytes(np.dtype(np.float64)).mean())
        case "dot":
            return 8 * argument.numbers[0].shape[1]
        case "row":
            shape = () if argument.source is None else argument.source.type.shape
            each = [extent or 1 for extent, p in zip(shape, argument.pick, strict=False) if isinstance(p, slice)][1:]
            return 16 * math.prod(each)  # its gradient is written
    return 0


def _type(argument: Argument) -> np.dtype:
    return stored(argument.name, argument.numbers[0][:1]).dtype


def _described(argument: Argument, computed: Mapping[Variable, str]) -> str:
    if argument.kind == "data":
        return f"{argument.name}: data, {_type(argument).name}"
    if argument.kind == "sequence":
        return f"{argument.name}: data of each step, {_type(argument).name}"
    assert argument.source is not None
    source = argument.source.name or "an expression of parameters"
    if argument.source in computed:
        source += f", which PyTensor computes, because there is no function of a row for {computed[argument.source]}"
    match argument.kind:
        case "gather":
            return f"{argument.name}: by index, of {source}"
        case "dot":
            X = argument.numbers[0]
            entries = f" with {X.n_entries} entries" if isinstance(X, SparseMatrix) else ""
            return f"{argument.name}: {X.shape[1]} columns of data{entries} @ {source}"
        case "row":
            return f"{argument.name}: each row's own, of {source}"
        case "each":
            return f"{argument.name}: for each alternative, {source}"
    return f"{argument.name}: a number, {source}"


def _text(term: TermExplanation, device: str) -> str:
    if not term.sums:
        return f"{term.name}: computed by PyTensor, because {term.other}"
    lines = []
    for row_sum in term.sums:
        if row_sum.program is None:
            rows = f"{row_sum.n_rows} rows, " if row_sum.n_rows else ""
            lines.append(f"{term.name}: {rows}computed by PyTensor, because there is no function of a row for {row_sum.reason}")
            continue
        where = f"by PyTensor: {row_sum.reason}" if row_sum.reason else f"on {device}"
        if row_sum.expected and not row_sum.reason:
            seconds = row_sum.expected
            where += f", in about {seconds.on_device * 1e6:.0f} µs (PyTensor: {seconds.by_pytensor * 1e6:.0f} µs)"
        rows = f"{row_sum.n_rows} {'row' if row_sum.n_rows == 1 else 'rows'} of {row_sum.bytes_per_row} bytes"
        steps = f", loops of {row_sum.program.n_steps} steps in all" if row_sum.program.is_loop else ""
        lines.append(f"{term.name}: {rows}{steps}, computed {where}")
        lines += [f"    {leaf}" for leaf in row_sum.leaves]
        lines += [f"    {line}" for line in row_sum.program.source.rstrip().splitlines()]
    return "\n".join(lines)


def _rows(term: TermExplanation, device: str) -> str:
    cells = [[term.name, "", "", f"PyTensor: {term.other}", ""]] if not term.sums else []
    for row_sum in term.sums:
        where = f"PyTensor: {row_sum.reason}" if row_sum.reason else device
        cells.append([term.name, str(row_sum.n_rows or ""), str(row_sum.bytes_per_row or ""), where, "; ".join(row_sum.leaves)])
    return "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in cells)
