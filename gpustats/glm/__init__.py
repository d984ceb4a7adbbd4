"""Generalised linear models: any density with a linear predictor, its likelihood and gradients in one pass over X."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import arrays
from ..broadcasting import Shape
from ..codegen import PER_ROW, PER_SET, VALUE, Operand
from ..placement import device_of, gather
from ..pointwise import deliver, output
from . import kernel
from .design_matrix import DesignMatrix
from .family import COEFFICIENTS, DESIGN, INTERCEPT, OBSERVATIONS, WEIGHTS, Family, predictor_alone
from .groups import Groups

if TYPE_CHECKING:
    from ..density import Density
    from ..runtime.base import Device, Runtime
    from .family import Codes


class _Argument(NamedTuple):
    """One of the numbers that a call takes, against the sets of coefficients and the rows."""

    value: Any
    lead: Shape  # batch axes without that of the rows
    by_row: bool
    core: Shape

    @property
    def batch(self) -> Shape:
        return tuple(self.value.shape[: len(self.value.shape) - len(self.core)]) if not isinstance(self.value, float) else ()


class _Task(NamedTuple):
    """What a call wants to know."""

    sums: tuple[str, ...] = ()  # arguments whose derivatives are summed; "" is the value
    rows: tuple[str, ...] = ()  # what is wanted for each row: "value", "eta", "slope", arguments
    gradient: bool = False
    slope_sums: bool = False


class GLM:
    """The log-likelihood of a generalised linear model whose data stay on a device.

    The observations have the density ``f(y[n]; eta[n], …)`` with the linear predictor ``eta[n] = X[n] @ beta + alpha +
    offset[n]``. The value and all derivatives come from one reading of X.

    Parameters
    ----------
    density : Density
        Built in, registered, or made by a transform, with a parameter that is the linear predictor: a number, or a vector with
        an element for each of C outcomes, as ``categorical_logit`` has.
    y : (N,) array_like
        Observations.
    X : (N, k) array_like
        The design matrix, float32 or float64 (everything is then computed in that type, sums in float64), in row- or
        column-major order. It is moved to the default device once; a device array in row-major order is used where it lies on
        a GPU.
    eta : str
        Name of the density's parameter that is the linear predictor.
    offset : (N,) array_like, optional
        Added to the linear predictor.
    weights : (N,) array_like, optional
        Nonnegative; how often each observation counts.
    groups : (N,) array_like of int, optional
        The group of each observation, from 0 to G - 1. Then the intercept ``alpha`` may have a value for each group.

    Raises
    ------
    ValueError
        Where shapes do not go together, or the density has no parameter `eta`.

    Notes
    -----
    All methods take ``beta``, (k,) or (S, k) for S sets of coefficients (several chains, say, that share the pass over X), the
    intercept ``alpha``, and the density's other parameters in their order or by name. Intercept and parameters are numbers,
    (S, 1) for S sets, (N,) or (S, N) with a value for each observation; ``alpha`` with groups is (G,) or (S, G). Where the
    linear predictor is a vector, ``beta`` is (k, C) or (S, k, C), and ``alpha`` a number or (C,), (S, 1, C), (N, C), (S, N, C).

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> X, y = np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]]), np.array([1, 0, 1])
    >>> glm = gs.GLM(gs.bernoulli_logit, y, X)
    >>> round(glm(np.array([0.3, -0.2]), alpha=0.1), 6)
    -1.546198
    >>> value, gradient = glm.value_and_grad(np.array([0.3, -0.2]), alpha=0.1)
    >>> gradient["beta"].round(4)
    array([ 0.7799, -0.9927])
    """

    def __init__(
        self, density: Density, y: Any, X: Any, *, eta: str = "eta", offset: Any = None, weights: Any = None, groups: Any = None
    ):
        self.density, self._family = density, Family(density, eta)
        given = {OBSERVATIONS: y, DESIGN: X, "offset": offset, WEIGHTS: weights}
        data = {n: arrays.as_array(v, n) for n, v in given.items() if v is not None}
        if len(getattr(data[DESIGN], "shape", ())) != 2:
            raise ValueError(f"X must be a matrix, (N, k); it has shape {getattr(data[DESIGN], 'shape', ())}")
        n, self._columns = data[DESIGN].shape
        if not self._columns:
            raise ValueError(f"X has shape {(n, 0)}: a GLM needs a column")
        for name, value in data.items():
            if name != DESIGN and getattr(value, "shape", ()) != (n,):
                raise ValueError(f"{name} has shape {getattr(value, 'shape', ())}, and X has {n} rows: it must be ({n},)")
        self._runtime = device_of(list(data.values()), list(data))
        self._dtype = arrays.result_dtype([data[DESIGN]])
        if self._dtype.itemsize == 8 and not self._runtime.device.double:
            raise ValueError(f"{self._runtime.device} computes in float32 only: pass X in float32")
        self.n_rows = n
        self._design = DesignMatrix(data[DESIGN], self._runtime, self._dtype)
        self._data = {name: self._moved(value) for name, value in data.items() if name != DESIGN}
        self._groups = None if groups is None else Groups(_group_numbers(groups, n, self._runtime), self._runtime)
        self._plans: dict[Any, tuple[kernel.Launch, list[str]]] = {}

    @property
    def device(self) -> Device:
        """Where the data lie."""
        return self._runtime.device

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what the methods take, in their order."""
        return (COEFFICIENTS, INTERCEPT, *self._family.parameters)

    def __repr__(self) -> str:
        return f"<GLM of {self.density.name} for X ({self.n_rows}, {self._columns}) {self._dtype} on {self.device.id}>"

    # -- what users call

    def __call__(self, beta: Any, alpha: Any = 0.0, *args: Any, **kwargs: Any) -> Any:
        """The summed log-density.

        Parameters
        ----------
        beta, alpha, *parameters : array_like
            See the notes of the class.

        Returns
        -------
        float or (S,) ndarray
            In float64.
        """
        call = _Call(self, beta, alpha, args, kwargs)
        return call.value(call.run(_Task(("",)), call._weights())[0])

    def value_and_grad(
        self, beta: Any, alpha: Any = None, *args: Any, wrt: str | Collection[str] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The summed log-density and its derivatives.

        Parameters
        ----------
        beta, alpha, *parameters : array_like
            See the notes of the class.
        wrt : str or collection of str, optional
            Of ``"beta"``, ``"alpha"``, names of the density's other parameters, ``"X"`` and ``"y"``. By default the
            coefficients, the intercept if it is given, and all parameters that are not whole numbers. Only what is asked for
            is computed.

        Returns
        -------
        value : float or (S,) ndarray
        gradient : dict
            Name -> derivative of the sum of all values, shaped like that argument; float64, but for those with a value for each
            observation and that in X, which have the type of X.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 2.5])
        >>> glm = gs.GLM(gs.normal, y, X, eta="mu")
        >>> glm.value_and_grad(np.array([1.0]), sigma=1.0, wrt=("beta", "sigma"))[1]
        {'beta': array([-1.5]), 'sigma': -2.75}
        """
        names = self._wrt(wrt, alpha is not None)
        return _Call(self, beta, 0.0 if alpha is None else alpha, args, kwargs).value_and_grad(names)

    def weighted_gradients(
        self, factors: Any, beta: Any, alpha: Any = 0.0, *args: Any, wrt: Collection[str], **kwargs: Any
    ) -> dict[str, Any]:
        """The derivatives of the sum of the log-densities times `factors`, (N,) or (S, N); otherwise as `value_and_grad`."""
        return _Call(self, beta, alpha, args, kwargs).value_and_grad(self._wrt(wrt, True), factors)[1]

    def logpdf(self, beta: Any, alpha: Any = 0.0, *args: Any, **kwargs: Any) -> Any:
        """The log-density of each observation; arguments as for a call.

        Returns
        -------
        (N,) or (S, N) ndarray, or a device array where beta is one
        """
        return _Call(self, beta, alpha, args, kwargs).by_rows("value")

    logpmf = logpdf

    def linear_predictor(self, beta: Any, alpha: Any = 0.0) -> Any:
        """``X @ beta + alpha + offset``.

        Returns
        -------
        (N,) or (S, N) ndarray, or a device array where beta is one
            With a last axis of outcomes where the linear predictor is a vector.
        """
        return _Call(self, beta, alpha, (), None).by_rows("eta")

    def rvs(self, beta: Any, alpha: Any = 0.0, *args: Any, rng: Any = None, **kwargs: Any) -> Any:
        """Draws of new observations at the rows of X.

        Parameters
        ----------
        beta, alpha, *parameters : array_like
            See the notes of the class.
        rng : int, gpustats.Generator, numpy.random.Generator or None
            As for `Density.rvs`.

        Returns
        -------
        (N,) or (S, N) ndarray, or a device array where beta is one
        """
        call = _Call(self, beta, alpha, args, kwargs)
        own = {a: call.arguments[a].value for a in self._family.parameters}
        return self.density.rvs(**own, **{self._family.eta: call.by_rows("eta")}, rng=rng)

    # -- the pieces of a call

    def _wrt(self, wrt: str | Collection[str] | None, intercept: bool) -> tuple[str, ...]:
        can = [n for n in self.parameters if n not in self._family.whole]
        if wrt is None:
            return tuple(n for n in can if n != INTERCEPT or intercept)
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        for name in names:
            if name not in (allowed := [*can, DESIGN, *{OBSERVATIONS} - self._family.whole]):
                raise ValueError(f"wrt: {name!r} is none of {', '.join(allowed)}")
            if names.count(name) > 1:
                raise ValueError(f"wrt names {name} twice")
        return names

    def _moved(self, value: Any) -> Any:
        """An array as kernels read it, on the device or in memory that it sees."""
        if arrays.is_device_array(value):
            same = value.dtype == self._dtype and arrays.is_contiguous(value)
            return value if same else gather(self._runtime, value, self._dtype)
        value = np.array(value, self._dtype, order="C")
        return value if self._runtime.host_visible else self._runtime.to_device(value)

    def _given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The density's parameters by their names."""
        names, defaults = self._family.parameters, self.density.defaults
        if len(args) > len(names):
            raise ValueError(
                f"beyond beta and alpha, the GLM takes {len(names)} parameters ({', '.join(names)}), not {len(args)}"
            )
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                raise ValueError(f"the GLM has no parameter {name!r}; its parameters are {', '.join(self.parameters)}")
            if name in given:
                raise ValueError(f"{name} is given twice")
            given[name] = value
        given = {**{n: defaults[n] for n in names if n in defaults}, **given}
        if lacking := [n for n in names if n not in given]:
            raise ValueError(f"the GLM needs {', '.join(lacking)}; its parameters are {', '.join(self.parameters)}")
        return {n: given[n] for n in names}


class _Call:
    """The arguments of one call, and what is computed from them; without `kwargs` the linear predictor alone."""

    def __init__(self, glm: GLM, beta: Any, alpha: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None):
        self.glm, self.family, self.runtime, self.dtype = glm, glm._family, glm._runtime, glm._dtype
        self.alone = kwargs is None
        given = {COEFFICIENTS: beta, INTERCEPT: alpha, **({} if kwargs is None else glm._given(args, kwargs))}
        self.values = {n: arrays.as_array(v, n) for n, v in given.items()}
        if len({id(device_of([v], [n], self.runtime)) for n, v in self.values.items()} | {id(self.runtime)}) > 1:
            raise ValueError(f"the data lie on {self.runtime.device.id}, and an argument on another device: move it")
        self.native = arrays.is_device_array(self.values[COEFFICIENTS])
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

    def _argument(self, name: str, value: Any) -> _Argument:
        """How an argument lies against the sets and the rows."""
        if isinstance(value, float):
            if self.family.ranks.get(name):
                raise ValueError(f"{name} must be a vector; it has shape ()")
            return _Argument(value, (), False, ())
        n, shape, groups = self.glm.n_rows, tuple(value.shape), self.glm._groups
        if name == COEFFICIENTS:
            rank = 1 + self.family.vector
            return _Argument(value, shape[:-rank], False, shape[-rank:])
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
            return _Argument(value, (), False, core)
        allowed = {1, n} | ({groups.n} if groups and name == INTERCEPT else set())
        if batch[-1] not in allowed:
            each = f"{n}, one for each row of X, "
            each += f"{groups.n}, one for each group, " if groups and name == INTERCEPT else ""
            raise ValueError(
                f"{name} has shape {shape}: its axis of length {batch[-1]} must have {each}or 1, as in (S, 1) for S sets"
            )
        return _Argument(value, batch[:-1], batch[-1] != 1, core)

    def _kind(self, name: str) -> str:
        """How an argument reaches the kernel."""
        a = self.arguments[name]
        if a.by_row:
            grouped = name == INTERCEPT and self.glm._groups is not None and a.batch[-1] == self.glm._groups.n
            return "group" if grouped else PER_ROW
        if isinstance(a.value, float) or (not a.core and math.prod(a.batch) == 1):
            return VALUE
        return PER_SET

    # -- running a kernel

    def run(self, task: _Task, weights: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """(the sums, [set][slot]; what is written for each row)."""
        glm, runtime = self.glm, self.runtime
        rows, written = self._rows(task)
        if not self.n_sets:
            columns = len(task.sums) + self.outcomes * (task.slope_sums + glm._columns * task.gradient)
            return np.zeros((0, columns)), rows
        kinds = {n: self._kind(n) for n in self.arguments if n != COEFFICIENTS}
        if isinstance(self.values[INTERCEPT], float) and self.values[INTERCEPT] == 0.0:
            kinds[INTERCEPT] = ""
        own = tuple(n for n, k in kinds.items() if k == PER_ROW and n != INTERCEPT and math.prod(self.arguments[n].lead) > 1)
        own += (WEIGHTS,) * (weights is not None and len(weights.shape) > 1)
        key = task, tuple(kinds.values()), own, self.n_sets, self.outcomes, weights is not None, self.alone
        if (plan := glm._plans.get(key)) is None:
            plan = glm._plans[key] = self._plan(task, kinds, own, weights is not None)
        launch, order = plan
        alive: list[Any] = [weights]
        packed, places = self._packed(kinds, alive)
        values: list[Any] = [*glm._design.values, *places[COEFFICIENTS][:2]]
        if kinds[INTERCEPT]:
            values += places[INTERCEPT]
        if kinds[INTERCEPT] == "group":
            values += glm._groups.values  # type: ignore[union-attr]
        if "offset" in glm._data:
            values += self._of(glm._data["offset"])
        values += written
        for name in order:
            if name == OBSERVATIONS:
                values += (*self._of(glm._data[OBSERVATIONS]), 0)
            elif name == WEIGHTS:
                values += (*self._of(weights), glm.n_rows * (WEIGHTS in own))
            else:
                values += places[name]
        if order and any(self.family.ranks.values()):
            values.append(next(a.core[0] for n, a in self.arguments.items() if a.core and n not in (COEFFICIENTS, INTERCEPT)))
        elif order and self.family.vector:
            values.append(self.outcomes)
        result = runtime.result(8 * max(launch.n_sums, 1))
        launch(values, result.handle, 0)
        if launch.n_sums:
            sums = runtime.fetch(result).view(np.float64).reshape(self.n_sets, -1).copy()
        else:
            sums = np.zeros((self.n_sets, 0))
            if runtime.host_visible:  # the kernel reads the arrays of this call where they lie
                runtime.synchronize()
        del alive, packed
        return sums, rows

    def _rows(self, task: _Task) -> tuple[dict[str, Any], list[Any]]:
        """What is to be written for each row, and what the kernel takes for it."""
        rows: dict[str, Any] = {}
        values: list[Any] = []
        for name in task.rows:
            native = self.native if name in ("value", "eta") else not self.runtime.host_visible
            extra = (self.outcomes,) if name in ("eta", "slope") else ()
            rows[name], *place = output(self.runtime, (self.n_sets, self.glm.n_rows, *extra), self.dtype, native)
            values += place
        return rows, values

    def _plan(self, task: _Task, kinds: Mapping[str, str], own: tuple[str, ...], weighted: bool) -> Any:
        glm = self.glm
        order: list[str] = []
        if self.alone:
            codes = predictor_alone(self.family.vector)
        else:
            codes, order = self._codes(task, kinds, weighted)
        names = dict(zip(self.family.term(weighted)._public, self.family.term(weighted)._names, strict=True))
        if weighted:
            names[WEIGHTS] = self.family.term(weighted)._names[-1]
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

    def _codes(self, task: _Task, kinds: Mapping[str, str], weighted: bool) -> tuple[Codes, list[str]]:
        """The device functions, and the names of their arguments in the kernel's order."""
        term = self.family.term(weighted)
        roles = {**kinds, OBSERVATIONS: PER_ROW, WEIGHTS: PER_ROW}
        operands: list[Operand] = []
        order: list[str] = []
        for argument, internal in zip(term.arguments, term._names, strict=True):
            if argument.name != self.family.eta:
                last = argument is term.arguments[-1]
                public = OBSERVATIONS if not order else WEIGHTS if weighted and last else argument.name
                operands.append(Operand(internal, roles[public], argument.rank))
                order.append(public)
        wrt = [n for n in (*task.sums, *task.rows) if n in (*self.family.parameters, OBSERVATIONS)]
        slopes = task.gradient or task.slope_sums or "slope" in task.rows
        return self.family.codes(weighted, operands, wrt, slopes), order

    def _of(self, array: Any) -> tuple[Any, int]:
        handle, offset = self.runtime.memory(array)
        return handle, offset // self.dtype.itemsize

    def _packed(self, kinds: Mapping[str, str], alive: list[Any]) -> tuple[Any, dict[str, tuple[Any, ...]]]:
        """What the kernel takes for each argument; those of the host that are small travel in one copy."""
        places: dict[str, tuple[Any, ...]] = {}
        parts, start = [], 0
        for name, a in self.arguments.items():
            kind = kinds.get(name, PER_SET)
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
                places[name] = (*self._of(value), stride)
                continue
            if value.shape != shape:
                value = np.broadcast_to(value, shape)
            if kind == PER_SET:
                parts.append(value.astype(self.dtype, copy=False).reshape(-1))
                places[name] = (None, start, stride)
                start += value.size
            else:
                value = np.ascontiguousarray(value, self.dtype)
                handle, offset = self._of(value)
                alive += [value, handle]
                places[name] = (handle, offset, stride)
        packed = np.ascontiguousarray(parts[0]) if len(parts) == 1 else np.concatenate(parts) if parts else None
        if packed is not None:
            handle, offset = self._of(packed)
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
        _, rows = self.run(_Task(rows=(name,)), self._weights() if name == "value" else None)
        extra = (self.outcomes,) if name == "eta" and self.family.vector else ()
        return deliver(self.runtime, rows[name].reshape(*self.lead, self.glm.n_rows, *extra), self.native)

    def value_and_grad(self, wrt: Sequence[str], factors: Any = None) -> tuple[Any, dict[str, Any]]:
        """`factors`, (N,) or (*lead, N), multiply the weights of the observations."""
        weights = self._weights(factors)
        kinds = {n: self._kind(n) for n in self.arguments if n != COEFFICIENTS}
        scalars = [n for n in wrt if n in self.family.parameters and not self.family.ranks[n]]
        by_row = [n for n in scalars if kinds[n] == PER_ROW] + [OBSERVATIONS] * (OBSERVATIONS in wrt)
        vectors = [n for n in wrt if n in self.family.parameters and self.family.ranks[n]]
        slopes = INTERCEPT in wrt and kinds[INTERCEPT] in (PER_ROW, "group") or DESIGN in wrt
        task = _Task(
            ("", *(n for n in scalars if n not in by_row)),
            (*["slope"] * slopes, *["eta"] * bool(vectors), *by_row),
            COEFFICIENTS in wrt, INTERCEPT in wrt and kinds[INTERCEPT] in (VALUE, PER_SET),
        )  # fmt: skip
        sums, rows = self.run(task, weights)
        column = {n: i for i, n in enumerate(task.sums)}
        n_terms = len(task.sums)
        n_sums = n_terms + self.outcomes * task.slope_sums
        gradients = {}
        for name in wrt:
            if name == COEFFICIENTS:
                found = sums[:, n_sums:].reshape(*self.lead, self.outcomes, self.glm._columns)
                found = found.swapaxes(-1, -2) if self.family.vector else found[..., 0, :]
                result = _to_lead(found, self.lead, self.arguments[name])
            elif name == INTERCEPT:
                result = self._intercept(kinds[name], sums[:, n_terms:n_sums], rows)
            elif name == DESIGN:
                result = self._of_design(rows["slope"])
            elif name in vectors:
                result = self._of_vector(name, rows["eta"], weights)
            elif name in by_row:
                one = _Argument(self.glm._data[OBSERVATIONS], (), True, ())
                result = self._by_row(rows[name], self.arguments.get(name, one))
            else:
                result = _to_lead(sums[:, column[name]].reshape(*self.lead, 1), self.lead, self.arguments[name])
            gradients[name] = self._delivered(name, result)
        return self.value(sums), gradients

    def _weights(self, factors: Any = None) -> Any:
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

    def _by_row(self, rows: Any, a: _Argument) -> Any:
        """What was written for each row, added up over the sets where they share the argument."""
        if math.prod(a.lead) == self.n_sets:
            return rows
        found = self._host(rows).reshape(*self.lead, self.glm.n_rows, *a.core)
        return _to_lead(found, self.lead, a).astype(self.dtype, copy=False)

    def _intercept(self, kind: str, sums: np.ndarray, rows: Mapping[str, Any]) -> Any:
        a, n_sets, C = self.arguments[INTERCEPT], self.n_sets, self.outcomes
        if kind == PER_ROW:
            return self._by_row(rows["slope"], a)
        if kind == "group":
            assert self.glm._groups is not None
            found = self.glm._groups.sums(rows["slope"], self.dtype, self.glm.n_rows, n_sets, C)
            return _to_lead(found.reshape(*self.lead, self.glm._groups.n, *a.core), self.lead, a)
        if not a.core:
            return _to_lead(sums.sum(1).reshape(*self.lead, 1), self.lead, a)
        return _to_lead(sums.reshape(*self.lead, 1, C), self.lead, a)

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
        return term.value_and_grad(values, (name,), self.runtime)[1][name]


def _to_lead(found: np.ndarray, lead: Shape, a: _Argument) -> np.ndarray:
    """Sums for each of the sets, (*lead, …), added up to those that the argument has."""
    missing = len(lead) - len(a.lead)
    found = found.sum(axis=tuple(range(missing)))
    axes = tuple(i for i, n in enumerate(a.lead) if n == 1 and lead[missing + i] != 1)
    return found.sum(axis=axes, keepdims=True) if axes else found


def _group_numbers(groups: Any, n: int, runtime: Runtime) -> np.ndarray:
    groups = arrays.as_array(groups, "groups")
    numbers = runtime.to_host(groups) if arrays.is_device_array(groups) else np.asarray(groups)
    if numbers.shape != (n,) or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"groups has shape {numbers.shape} and dtype {numbers.dtype}: it must be ({n},) whole numbers, one for each row"
        )
    if n and (numbers.min() < 0 or numbers.max() >= 2**31 - 1):
        raise ValueError("groups must be numbered from 0; numpy.unique(…, return_inverse=True) numbers them")
    return numbers

