"""Model of rows on one device: calls that differ in their numbers only are planned once."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..evaluation.compiled import RepeatedSum
from ..evaluation.gradient import reduced
from ..evaluation.kinds import Plans
from ..evaluation.results import as_host, on_device
from ..runtime import arrays, choose
from .calls import Call, Columns
from .evaluator import Evaluator
from .number_arguments import NumberArguments
from .parameters import shape_of

if TYPE_CHECKING:
    from ..draws.generator import Generator
    from ..runtime.base import Runtime
    from ..runtime.types import Array, DType, Handle, Shape, Value
    from .binding import Binding
    from .parameters import Packing


class ResidentTerms(NamedTuple):
    """Terms of rows for all sets of parameters, (sets, N), on a device."""

    handle: Handle
    offset: int  # behind it, in numbers
    dtype: DType
    order: np.ndarray | None  # row of each term of a set; None: as they came
    alive: object = None  # owner of the memory


class OnDevice:
    """Model whose rows are all evaluated by one device. Threads may share it.

    Parameters
    ----------
    bound : Binding
    runtime : Runtime
    """

    def __init__(self, bound: Binding, runtime: Runtime):
        if bound.dtype.itemsize == 8 and not runtime.device.double:
            raise ValueError(f"{runtime.device} computes in float32 only: pass float32 arrays")
        self.runtime, self._bound = runtime, bound
        self._evaluators: dict[int, Evaluator] = {}
        self._calls: Plans[tuple[Call, Packing]] = Plans()

    def reads(self, array: Array) -> bool:
        """True if kernels read a device array, given for a parameter, where it lies."""
        return (
            not self.runtime.host_visible
            and choose.for_array(array) is self.runtime
            and array.dtype == self._bound.dtype
            and arrays.is_contiguous(array)
        )

    def evaluator(self, length: int) -> Evaluator:
        """Evaluator of the function for vectors of a length."""
        if length not in self._evaluators:
            arguments = NumberArguments.of(self._bound, length)
            self._evaluators[length] = Evaluator(arguments, self._bound.dtype, self.runtime)
        return self._evaluators[length]

    def repeated(
        self, what: str, names: Sequence[str], values: Sequence[Value]
    ) -> tuple[Call, Packing]:
        """Repeated call of a method of `Evaluator`, by its name, for values like these, and the packing of the parameters."""
        kind = what, tuple(names), tuple(
            [() if type(v) is float else v.shape if type(v) is np.ndarray else _kind(v) for v in values]
        )  # fmt: skip
        return self._calls.plan(kind, self._new_repeated, what, names, values)

    def _new_repeated(
        self, what: str, names: Sequence[str], values: Sequence[Value]
    ) -> tuple[Call, Packing]:
        bound = self._bound
        packing, n_rows = bound.packing(values, names if what == "product" else ())
        evaluator = self.evaluator(bound.length(packing.shapes))
        if what == "second" and (columns := self._columns(evaluator, names, values)) is not None:
            return columns, packing
        if what == "product":
            return evaluator.along(names).value_and_derivatives(tuple(bound.parameters), packing, n_rows), packing
        if what == "steps":
            return evaluator.steps(bound.writing(names), [bound.outputs[n] for n in names], packing, n_rows), packing
        return getattr(evaluator, what)(names, packing, n_rows), packing

    def _columns(self, evaluator: Evaluator, names: Sequence[str], values: Sequence[Value]) -> Columns | None:
        """Second derivatives of long sequences, if one set of parameters is given, and parts of them are gone through."""
        if isinstance(evaluator.in_parts((), self._bound.packing(values)[0]), str):
            return None
        packing, _ = self._bound.packing([*values, *[0.0] * len(names)], names)
        along = evaluator.along(names)
        if packing.lead or not names or isinstance(long := along.in_parts(names, packing), str):
            return None
        return Columns(long.call(packing, names), names)

    def found(self, what: str, names: Sequence[str], values: Sequence[Value]) -> tuple[Value, Packing]:
        """Result of a method of `Evaluator`, by its name, and the packing of the parameters."""
        repeated, packing = self.repeated(what, names, values)
        return repeated.start(values)(), packing

    def draws(self, names: Sequence[str], values: Sequence[Value], generator: Generator) -> Value:
        """Outputs by step of which some are drawn; each call has draws of its own."""
        bound = self._bound
        packing, n_rows = bound.packing(values)
        evaluator, in_c = self.evaluator(bound.length(packing.shapes)), [bound.outputs[n] for n in names]
        stream = generator.take(packing.n_sets * n_rows)
        return evaluator.steps(bound.writing(names), in_c, packing, n_rows, stream).start(values)()

    def compiled(self, wrt: Sequence[str], values: Sequence[Value]) -> RepeatedSum | None:
        """Sum and its derivatives for compiled code, for values of these shapes; None where they need Python."""
        if any(map(arrays.is_device_array, values)):
            return None
        return self.repeated("value_and_derivatives", wrt, values)[0].compiled(values)

    def compiled_terms(self, values: Sequence[Value]) -> RepeatedSum | None:
        """Terms for compiled code, as `compiled`."""
        return self.repeated("terms", (), values)[0].compiled(values)

    def compiled_product(self, along: Sequence[str], values: Sequence[Value]) -> RepeatedSum | None:
        """Derivative in a direction and its derivatives for compiled code: the values are as for `product`."""
        return self.repeated("product", along, values)[0].compiled(values)

    def resident_terms(self, values: Sequence[Value]) -> ResidentTerms:
        """Terms of the rows, which stay on the device."""
        packing, n_rows = self._bound.packing(values)
        launch, order = self.evaluator(self._bound.length(packing.shapes)).launch_of_terms(packing, n_rows)
        handle = self.runtime.scratch(max(packing.n_sets * n_rows, 1) * self._bound.dtype.itemsize)
        taken, alive = packing.slots(self.runtime).of(values)
        launch.start(taken, handle, [(handle, 0)])
        if self.runtime.host_visible:
            self.runtime.synchronize()
        del alive  # which the kernels may have been reading
        return ResidentTerms(handle, 0, self._bound.dtype, order)

    def start_sum(
        self, wrt: Sequence[str], values: Sequence[Value], native: Collection[str]
    ) -> Callable[[], tuple[Value, dict[str, Value]]]:
        """Start the sum; returns the wait for it and its derivatives in some parameters; those in `native` as device arrays."""
        repeated, packing = self.repeated("value_and_derivatives", wrt, values)
        wait = repeated.start(values)

        def finish() -> tuple[Value, dict[str, Value]]:
            value, found = wait()
            return value, self._shaped(found, packing, native)

        return finish

    def product(self, along: Sequence[str], values: Sequence[Value], native: Collection[str]) -> dict[str, Value]:
        """The product of the Hessian and a vector, whose components in the parameters `along` are the last of the values."""
        (_, found), packing = self.found("product", along, values)
        return self._shaped(found, packing, native)

    def _shaped(self, found: dict[str, Value], packing: Packing, native: Collection[str]) -> dict[str, Value]:
        """Derivatives, (sets, …) or already as they are wanted, in the shapes of their parameters: the same dict."""
        for name, derivative in found.items():
            if type(derivative) is not float and derivative.shape != (shape := packing.shapes[name]):
                if not shape:
                    found[name] = derivative.item() if derivative.size == 1 else float(derivative.sum())
                elif derivative.size == math.prod(shape):
                    found[name] = derivative.reshape(shape)
                else:
                    derivative = as_host(self.runtime, derivative)
                    found[name] = reduced(derivative.reshape(packing.lead + packing.cores[name]), shape)
        if names := [name for name in native if name in found]:
            found |= zip(names, on_device(self.runtime, [found[name] for name in names]), strict=True)
        return found


def _kind(value: Value) -> Shape | tuple[str, Shape]:
    """Key of calls that differ in their numbers only."""
    return ("on the device", shape_of(value)) if arrays.is_device_array(value) else shape_of(value)
