"""One call of a GLM: from its arguments to a kernel's launch, and from the sums to results."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..evaluation.broadcasting import Shape
from ..evaluation.gradient import gradient_of, reduced
from ..evaluation.placement import device_of, gather
from ..evaluation.results import deliver, output
from ..kernels.code import PER_ROW, PER_SET, VALUE, Operand
from ..runtime import arrays
from . import kernel
from .family import COEFFICIENTS, DESIGN, INTERCEPT, OBSERVATIONS, WEIGHTS, predictor_alone

if TYPE_CHECKING:
    from .family import Codes
    from .model import GLM


class Argument(NamedTuple):
    """One of the numbers that a call takes, against the sets of coefficients and the rows."""

    value: Any
    lead: Shape  # batch axes without that of the rows
    by_row: bool
    core: Shape

    @property
    def batch(self) -> Shape:
        return tuple(self.value.shape[: len(self.value.shape) - len(self.core)]) if not isinstance(self.value, float) else ()


class Task(NamedTuple):
    """What a call wants to know."""

    sums: tuple[str, ...] = ()  # arguments whose derivatives are summed; "" is the value
    rows: tuple[str, ...] = ()  # what is wanted for each row: "value", "eta", "slope", arguments
    gradient: bool = False
    slope_sums: bool = False


class Call:
    """The arguments of one call, and what is computed from them.

    Parameters
    ----------
    glm : GLM
    beta, alpha
        Coefficients and intercept; the latter may be None.
    args, kwargs
        The density's other parameters; without `kwargs`, the linear predictor alone is computed.
    """

    def __init__(self, glm: GLM, beta: Any, alpha: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None):
        self.glm, self.family, self.runtime, self.dtype = glm, glm._family, glm._runtime, glm._dtype
        self.alone = kwargs is None
        self.without_intercept = alpha is None
        given = {COEFFICIENTS: beta, INTERCEPT: 0.0 if alpha is None else alpha}
        if kwargs is not None:
            given |= glm._given(args, kwargs)
        self.values = {n: arrays.as_array(v, n) for n, v in given.items()}
        native = {n: v for n, v in self.values.items() if arrays.is_device_array(v)}
        if any(device_of([v], [n]) is not self.runtime for n, v in native.items()):
            raise ValueError(f"the data lie on {self.runtime.device.id}, and an argument on another device: move it")
        self.native = COEFFICIENTS in native
        self.outcomes = self._outcomes()
        self.arguments = {n: self._argument(n, v) for n, v in self.values.items()}
        try:
            self.lead = np.broadcast_shapes(*(a.lead for a in self.arguments.values()))
        except ValueError:
            listed = ", ".join(f"{n} {a.batch + a.core}" for n, a in self.arguments.items())
            raise ValueError(f"the sets of coefficients and parameters do not go together: {listed}") from None
        self.n_sets = math.prod(self.lead)

    def _outcomes(self) -> int:
        k = self.glm._columns
        shape: Shape = getattr(self.values[COEFFICIENTS], "shape", ())
        wanted = "(k, C) or (S, k, C)" if self.family.vector else "(k,) or (S, k)"
        rank = 1 + self.family.vector
        if len(shape) < rank or shape[len(shape) - rank] != k:
            raise ValueError(f"beta has shape {tuple(shape)}, and X has k = {k} columns: it must be {wanted}")
        if self.family.vector and not shape[-1]:
            raise ValueError(f"beta has shape {tuple(shape)}: there is no outcome")
        return shape[-1] if self.family.vector else 1

    def _argument(self, name: str, value: Any) -> Argument:
        """How an argument lies against the sets and the rows."""
        if isinstance(value, float):
            if self.family.ranks.get(name):
                raise ValueError(f"{name} must be a vector; it has shape ()")
            return Argument(value, (), False, ())
        n, shape, n_groups = self.glm.n_rows, tuple(value.shape), self.glm.n_groups
        if name == COEFFICIENTS:
            rank = 1 + self.family.vector
            return Argument(value, shape[:-rank], False, shape[-rank:])
        if name == INTERCEPT:
            core = shape[-1:] if self.family.vector else ()
            if core and core[0] != self.outcomes:
                raise ValueError(f"alpha has shape {shape}: its last axis must be beta's {self.outcomes} outcomes")
        else:
            core = shape[len(shape) - self.family.ranks[name] :]
            if len(shape) < self.family.ranks[name]:
                raise ValueError(f"{name} must be a vector; it has shape {shape}")
        batch = shape[: len(shape) - len(core)]
        if not batch:
            return Argument(value, (), False, core)
        grouped = n_groups is not None and name == INTERCEPT
        allowed = {1, n} | ({n_groups} if grouped else set())
        if batch[-1] not in allowed:
            each = f"{n}, one for each row of X, "
            each += f"{n_groups}, one for each group, " if grouped else ""
            raise ValueError(
                f"{name} has shape {shape}: its axis of length {batch[-1]} must have {each}or 1, as in (S, 1) for S sets"
            )
        return Argument(value, batch[:-1], batch[-1] != 1, core)

    @functools.cached_property
    def kinds(self) -> dict[str, str]:
        """How each argument but the coefficients reaches the kernel."""
        found = {n: self._kind(n, a) for n, a in self.arguments.items() if n != COEFFICIENTS}
        return {**found, INTERCEPT: ""} if self.without_intercept else found

    def _kind(self, name: str, a: Argument) -> str:
        if a.by_row:
            grouped = name == INTERCEPT and a.batch[-1] == self.glm.n_groups
            return "group" if grouped else PER_ROW
        if isinstance(a.value, float) or (not a.core and math.prod(a.batch) == 1):
            return VALUE
        return PER_SET

    # -- running a kernel

    def run(self, task: Task, weights: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """(the sums, [set][slot]; what is written for each row)."""
        glm = self.glm
        rows, written = self._rows(task)
        if not self.n_sets:
            columns = len(task.sums) + self.outcomes * (task.slope_sums + glm._columns * task.gradient)
            return np.zeros((0, columns)), rows
        launch, order = self.plan(task, weights)
        alive: list[Any] = [weights]
        packed, places = self._packed(alive)
        values = self.kernel_values(order, places, written, weights)
        sums = launch.fetch(values)[0].reshape(self.n_sets, -1).copy()
        del alive, packed  # which the kernel may have been reading
        return sums, rows

    def kernel_values(
        self, order: Sequence[str], places: Mapping[str, Sequence[Any]], written: Sequence[Any], weights: Any
    ) -> list[Any]:
        """What the kernel takes, in its order.

        Parameters
        ----------
        order : sequence of str
            Names of the arguments of the device function.
        places : mapping
            What it takes for each argument of the call.
        written : sequence
            What it takes for what it writes for each row.
        weights : array or None
        """
        data = self.glm._data
        values: list[Any] = [*self.glm._design.values, *places[COEFFICIENTS][:2]]
        if self.kinds[INTERCEPT]:
            values += places[INTERCEPT]
        if self.kinds[INTERCEPT] == "group":
            assert self.glm._groups is not None
            values += self.glm._groups.values
        if "offset" in data:
            values += self._place(data["offset"])
        values += written
        for name in order:
            if name == OBSERVATIONS:
                values += (*self._place(data[OBSERVATIONS]), 0)
            elif name == WEIGHTS:
                values += (*self._place(weights), self.glm.n_rows * (len(weights.shape) > 1))
            else:
                values += places[name]
        if order and any(self.family.ranks.values()):  # the length of vectors
            values.append(next(a.core[0] for n, a in self.arguments.items() if a.core and n not in (COEFFICIENTS, INTERCEPT)))
        elif order and self.family.vector:
            values.append(self.outcomes)
        return values

    def _rows(self, task: Task) -> tuple[dict[str, Any], list[Any]]:
        """What is to be written for each row, and what the kernel takes for it."""
        rows: dict[str, Any] = {}
        values: list[Any] = []
        for name in task.rows:
            native = self.native if name in ("value", "eta") else not self.runtime.host_visible
            extra = (self.outcomes,) if name in ("eta", "slope") else ()
            rows[name], *place = output(self.runtime, (self.n_sets, self.glm.n_rows, *extra), self.dtype, native)
            values += place
        return rows, values

    def plan(self, task: Task, weights: Any) -> tuple[kernel.Launch, list[str]]:
        """How to start the kernel, and the names of the arguments of its device function in their order."""
        weighted, kinds = weights is not None, self.kinds
        own = tuple(n for n, k in kinds.items() if k == PER_ROW and n != INTERCEPT and math.prod(self.arguments[n].lead) > 1)
        own += (WEIGHTS,) * (weighted and len(weights.shape) > 1)
        key = task, tuple(kinds.values()), own, self.n_sets, self.outcomes, weighted, self.alone
        if key not in self.glm._plans:
            self.glm._plans[key] = self._planned(task, own, weighted)
        return self.glm._plans[key]

    def _planned(self, task: Task, own: tuple[str, ...], weighted: bool) -> tuple[kernel.Launch, list[str]]:
        glm, kinds = self.glm, self.kinds
        order: list[str] = []
        if self.alone:
            codes = predictor_alone(self.family.vector)
        else:
            codes, order = self._codes(task, weighted)
        names = dict(zip(self.family.term(weighted).argument_names, self.family.term(weighted).c_names, strict=True))
        if weighted:
            names[WEIGHTS] = self.family.term(weighted).c_names[-1]
        shape = kernel.Shape(
            glm._columns, self.outcomes, self.family.vector and not self.alone, kinds[INTERCEPT], "offset" in glm._data,
            tuple(codes.derivatives[n] if n else codes.value for n in task.sums),
            tuple(codes.derivatives.get(n, n) if n not in ("value", "eta", "slope") else n for n in task.rows),
            "" if self.alone else codes.derivatives[self.family.eta], task.slope_sums, task.gradient,
            tuple(names[n] for n in own),
        )  # fmt: skip
        name = f"{self.glm.density.name}_glm"
        design = glm._design
        return kernel.launch(self.runtime, self.dtype, name, shape, codes, glm.n_rows, self.n_sets, design.aligned), order

    def _codes(self, task: Task, weighted: bool) -> tuple[Codes, list[str]]:
        """The device functions, and the names of their arguments in the kernel's order."""
        term = self.family.term(weighted)
        roles = {**self.kinds, OBSERVATIONS: PER_ROW, WEIGHTS: PER_ROW}
        operands: list[Operand] = []
        order: list[str] = []
        for argument, internal in zip(term.arguments, term.c_names, strict=True):
            if argument.name != self.family.eta:
                last = argument is term.arguments[-1]
                public = OBSERVATIONS if not order else WEIGHTS if weighted and last else argument.name
                operands.append(Operand(internal, roles[public], argument.rank))
                order.append(public)
        wrt = [n for n in (*task.sums, *task.rows) if n in (*self.family.parameters, OBSERVATIONS)]
        slopes = task.gradient or task.slope_sums or "slope" in task.rows
        return self.family.codes(weighted, operands, wrt, slopes), order

    def _place(self, array: Any) -> tuple[Any, int]:
        handle, offset = self.runtime.memory(array)
        return handle, offset // self.dtype.itemsize

    def _packed(self, alive: list[Any]) -> tuple[Any, dict[str, tuple[Any, ...]]]:
        """What the kernel takes for each argument; those of the host that are small travel in one copy."""
        places: dict[str, tuple[Any, ...]] = {}
        parts, start = [], 0
        for name, a in self.arguments.items():
            kind = self.kinds.get(name, PER_SET)
            if kind in ("", VALUE):
                places[name] = (a.value if isinstance(a.value, float) else float(self._host(a.value).reshape(())),)
                continue
            several = name == COEFFICIENTS or math.prod(a.lead) > 1
            shape = ((*self.lead, *a.batch[len(a.lead) :]) if several else a.batch) + a.core
            stride = math.prod(shape) // self.n_sets if several and self.n_sets else 0
            value = a.value
            if name == COEFFICIENTS and self.family.vector:  # an outcome's coefficients side by side
                value, shape = self._host(value).swapaxes(-1, -2), (*shape[:-2], *shape[:-3:-1])
            if arrays.is_device_array(value):
                if value.dtype != self.dtype or tuple(value.shape) != shape or not arrays.is_contiguous(value):
                    value = gather(self.runtime, value, self.dtype, shape)
                alive.append(value)
                places[name] = (*self._place(value), stride)
                continue
            if value.shape != shape:
                value = np.broadcast_to(value, shape)
            if kind == PER_SET:
                parts.append(value.astype(self.dtype, copy=False).reshape(-1))
                places[name] = (None, start, stride)
                start += value.size
            else:
                value = np.ascontiguousarray(value, self.dtype)
                handle, offset = self._place(value)
                alive += [value, handle]
                places[name] = (handle, offset, stride)
        packed = np.ascontiguousarray(parts[0]) if len(parts) == 1 else np.concatenate(parts) if parts else None
        if packed is not None:
            handle, offset = self._place(packed)
            alive += [packed, handle]
            places = {n: (handle, offset + p[1], p[2]) if p[0] is None else p for n, p in places.items()}
        return packed, places

    def _host(self, value: Any) -> np.ndarray:
        return self.runtime.to_host(value) if arrays.is_device_array(value) else value

    # -- results

    def value(self, sums: np.ndarray) -> Any:
        value = sums[:, 0]
        return value.reshape(self.lead).copy() if self.lead else float(value[0])

    def by_rows(self, name: str) -> Any:
        """The value or the linear predictor of each row."""
        _, rows = self.run(Task(rows=(name,)), self.weights() if name == "value" else None)
        extra = (self.outcomes,) if name == "eta" and self.family.vector else ()
        return deliver(self.runtime, rows[name].reshape(*self.lead, self.glm.n_rows, *extra), self.native)

    def value_and_grad(self, wrt: Sequence[str], factors: Any = None) -> tuple[Any, dict[str, Any]]:
        """`factors`, (N,) or (*lead, N), multiply the weights of the observations."""
        weights, task, kinds = self.weights(factors), self.task(wrt), self.kinds
        sums, rows = self.run(task, weights)
        column = {n: i for i, n in enumerate(task.sums)}
        n_terms = len(task.sums)
        n_sums = n_terms + self.outcomes * task.slope_sums
        gradients = {}
        for name in wrt:
            if name == COEFFICIENTS:
                found = sums[:, n_sums:].reshape(*self.lead, self.outcomes, self.glm._columns)
                found = found.swapaxes(-1, -2) if self.family.vector else found[..., 0, :]
                result = self._to_lead(found, self.arguments[name])
            elif name == INTERCEPT:
                result = self._intercept(kinds[name], sums[:, n_terms:n_sums], rows)
            elif name == DESIGN:
                result = self._of_design(rows["slope"])
            elif self.family.ranks.get(name):
                result = self._of_vector(name, rows["eta"], weights)
            elif name in rows:
                one = Argument(self.glm._data[OBSERVATIONS], (), True, ())
                result = self._by_row(rows[name], self.arguments.get(name, one))
            else:
                result = self._to_lead(sums[:, column[name]].reshape(*self.lead, 1), self.arguments[name])
            gradients[name] = self._delivered(name, result)
        return self.value(sums), gradients

    def task(self, wrt: Sequence[str]) -> Task:
        """What there is to compute for the value and these derivatives."""
        kinds, ranks = self.kinds, self.family.ranks
        scalars = [n for n in wrt if n in ranks and not ranks[n]]
        by_row = [n for n in scalars if kinds[n] == PER_ROW] + [OBSERVATIONS] * (OBSERVATIONS in wrt)
        slopes = INTERCEPT in wrt and kinds[INTERCEPT] in (PER_ROW, "group") or DESIGN in wrt
        return Task(
            ("", *(n for n in scalars if n not in by_row)),
            (*["slope"] * slopes, *["eta"] * any(ranks.get(n) for n in wrt), *by_row),
            COEFFICIENTS in wrt, INTERCEPT in wrt and kinds[INTERCEPT] in ("", VALUE, PER_SET),
        )  # fmt: skip

    def weights(self, factors: Any = None) -> Any:
        weights = self.glm._data.get(WEIGHTS)
        if factors is None:
            return weights
        factors = np.asarray(factors if weights is None else factors * self._host(weights), self.dtype)
        if factors.ndim > 1:
            factors = np.broadcast_to(factors, (*self.lead, self.glm.n_rows)).reshape(self.n_sets, -1)
        return self.glm._moved(factors)

    def _delivered(self, name: str, result: Any) -> Any:
        value = self.values.get(name, self.values[COEFFICIENTS])
        if isinstance(value, float):
            return float(self._host(result).reshape(()))
        native = arrays.is_device_array(value)
        if name not in (DESIGN, OBSERVATIONS):
            result = result.reshape(value.shape)
        elif name == OBSERVATIONS:
            result = result.reshape(-1)
        if native != arrays.is_device_array(result):
            return self.runtime.to_device(np.ascontiguousarray(result)) if native else self.runtime.to_host(result)
        return result

    def _to_lead(self, found: np.ndarray, a: Argument) -> np.ndarray:
        """Sums for each of the sets, (*lead, …), added up to those that the argument has."""
        return reduced(found, (*a.lead, *found.shape[len(self.lead) :]))

    def _by_row(self, rows: Any, a: Argument) -> Any:
        """What was written for each row, added up over the sets where they share the argument."""
        if math.prod(a.lead) == self.n_sets:
            return rows
        found = self._host(rows).reshape(*self.lead, self.glm.n_rows, *a.core)
        return self._to_lead(found, a).astype(self.dtype, copy=False)

    def _intercept(self, kind: str, sums: np.ndarray, rows: Mapping[str, Any]) -> Any:
        a, n_sets, C = self.arguments[INTERCEPT], self.n_sets, self.outcomes
        if kind == PER_ROW:
            return self._by_row(rows["slope"], a)
        if kind == "group":
            assert self.glm._groups is not None
            found = self.glm._groups.sums(rows["slope"], self.dtype, self.glm.n_rows, n_sets, C)
            return self._to_lead(found.reshape(*self.lead, self.glm._groups.n, *a.core), a)
        if not a.core:
            return self._to_lead(sums.sum(1).reshape(*self.lead, 1), a)
        return self._to_lead(sums.reshape(*self.lead, 1, C), a)

    def _of_design(self, slopes: Any) -> Any:
        """The derivative in X: the slopes of all sets and outcomes times their coefficients."""
        from .. import linalg

        n_rows, k = self.glm.n_rows, self.glm._columns
        beta = self.values[COEFFICIENTS]
        if not n_rows * self.n_sets:
            return np.zeros((n_rows, k), self.dtype)
        native = arrays.is_device_array(slopes)
        host = np.broadcast_to(self._host(beta), (*self.lead, *self.arguments[COEFFICIENTS].core)).astype(self.dtype)
        host = np.ascontiguousarray(host.swapaxes(-1, -2) if self.family.vector else host).reshape(-1, k)
        if native and self.n_sets > 1:
            slopes = gather(self.runtime, slopes.reshape(self.n_sets, n_rows, self.outcomes).transpose((1, 0, 2)), self.dtype)
        elif not native:
            slopes = slopes.reshape(self.n_sets, n_rows, self.outcomes).transpose((1, 0, 2))
        slopes = slopes.reshape(n_rows, -1)
        return linalg.matmul(slopes, self.runtime.to_device(host) if native else host)

    def _of_vector(self, name: str, eta: Any, weights: Any) -> np.ndarray:
        """The derivative in a vector parameter of the density, at the linear predictor that the kernel has written."""
        term = self.family.term(weights is not None)
        eta = eta.reshape(*self.lead, self.glm.n_rows)
        own = {n: a.value for n, a in self.arguments.items() if n in self.family.parameters}
        values = [self.glm._data[OBSERVATIONS], *(eta if n == self.family.eta else own[n] for n in self.glm.density.parameters)]
        if weights is not None:
            values.append(weights if len(weights.shape) == 1 else weights.reshape(*self.lead, -1))
        return gradient_of(term, (name,))(values, self.runtime)[1][name]
