"""Log-likelihood of a mixture with its derivatives in one reading of the data, where the components are few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.placement import at
from ..evaluation.pointwise import Source
from ..evaluation.repeated import KernelValues, Number, Packed, Part, SumReplay
from ..evaluation.starter import Starter
from ..evaluation.sums import SumPlan, adder_of
from ..kernels.code import PER_ROW, PER_SET, VALUE, KernelCode, Operand
from ..kernels.layout import MOST_REPEATED_NODES, Layout, power_of_two, row_blocks
from ..kernels.template import Template
from ..rewriting.differentiate import VALUE as TOTAL
from ..rewriting.differentiate import derivative_name, gradient

if TYPE_CHECKING:
    from ..evaluation.pointwise import Pointwise
    from ..runtime.base import Device, Runtime

MOST_COMPONENTS = 64  # of a mixture in one pass
WEIGHTS = "log_weights"  # the last argument of a call
_HELD_NUMBERS = 24  # numbers of its components, of one row, that a thread of a GPU has registers for
_THREAD_ROWS = 8  # of a thread, one after another: 64 to the power of 8 is far from the largest float32
_ONE_PASS = Template.beside(__file__, "one_pass")


@dataclass(frozen=True)
class OnePassLayout(Layout):
    """The constants of the template.

    Attributes
    ----------
    components : int
        Number of components of the mixture.
    lanes, per : int
        Threads that share a row, and how many components each of them takes.
    """

    components: int = 1
    lanes: int = 1
    per: int = 1


def layout_for(device: Device, itemsize: int, components: int, results: int) -> OnePassLayout:
    """The layout for so many components with so many results each."""
    if device.type == "cpu":
        threads = min(64 // itemsize, device.max_threads)
        return OnePassLayout(
            threads, tile=threads * _THREAD_ROWS, unroll=_THREAD_ROWS, resident=1024, components=components, per=components
        )
    threads = min(128, device.max_threads)
    most = max(_HELD_NUMBERS // results, 1)
    lanes = min(power_of_two(-(-components // most)), device.warp, threads)
    per = -(-components // lanes)
    tile = threads // lanes * _THREAD_ROWS
    return OnePassLayout(threads, tile=tile, unroll=_THREAD_ROWS, resident=1024, components=components, lanes=lanes, per=per)


class OnePass:
    """Sum over the observations and its derivatives in calls of one kind. Threads may share it.

    Parameters
    ----------
    terms : Pointwise
        The weighted densities of the components: of numbers only.
    runtime : Runtime
    x : ndarray or device array
        The observations, (N,), as kernels read them.
    arguments : sequence
        The parameters and log_weights of one of the calls: numbers, which all components share, and arrays of (K,).
    wrt : sequence of str
        Names of the parameters in which derivatives are wanted.
    n_sets : int, optional
        Number of sets of parameters of a call: then all arguments are arrays of (sets, K).

    Attributes
    ----------
    long : bool
        Whether the kernel would be too long to be worth its compilation: then it must not be called.
    """

    def __init__(
        self, terms: Pointwise, runtime: Runtime, x: Any, arguments: Sequence[Any], wrt: Sequence[str], n_sets: int = 1
    ):
        shared = [type(a) is not np.ndarray for a in arguments]
        k = self._components = arguments[-1].shape[-1]
        self._wrt = [(n, own) for n, own in zip(terms.argument_names[1:], shared, strict=True) if n in wrt]
        in_c, functions = [terms.c_name(n) for n, _ in self._wrt], dict(terms.functions)
        function = gradient(terms.function, in_c or terms.c_names[-1:], functions)
        slopes = tuple(map(derivative_name, in_c))
        operands = [Operand(terms.c_names[0], PER_ROW)]
        operands += [Operand(n, VALUE if own else PER_SET) for n, own in zip(terms.c_names[1:], shared, strict=True)]
        code = KernelCode(function, operands, functions.get, (), (TOTAL, *slopes))
        layout = layout_for(runtime.device, x.dtype.itemsize, k, 1 + len(slopes))
        self.long = layout.per * code.row_size > 4 * MOST_REPEATED_NODES
        if self.long:
            return
        name = f"{terms.function.name}_one_pass"
        text = _ONE_PASS.source_of(code, name, layout, x.dtype.name, runtime.dialect, slopes=slopes)
        kernel, _ = terms.compiled(runtime, Source(text, name, layout))
        n_sums = 1 + k * (1 + len(slopes))
        blocks = row_blocks(runtime.device, layout, x.shape[0], 1, kernel.registers)
        adder = adder_of(runtime, layout.threads, blocks, n_sets * n_sums)
        self._plan = SumPlan(runtime, kernel, adder, (n_sets, blocks), x.shape[0], n_sets, n_sums, ())
        handle, offset = at(runtime, x)
        self._alive = x, handle
        self._names = (*terms.argument_names[1:-1], WEIGHTS)
        taken, parts = [handle, offset, 0], list[Part]()
        for i, own in enumerate(shared):
            start = n_sets * k * len(parts)
            taken += [Number(i)] if own else [Packed(), start, 1]
            parts += [] if own else [Part(i, start, start + n_sets * k, False)]
        self._values, plan = KernelValues(runtime, x.dtype, taken, parts), self._plan
        self._starter = Starter(
            runtime, x.dtype, self._values, n_sets * n_sums, lambda to, taken: plan.launch(to, 0, taken)
        )

    def of_sets(self, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Sum for each set of parameters, and the terms of the derivatives by component."""
        sums = self._starter.start(arguments)().copy().reshape(self._plan.n_sets, -1)
        of_components = sums[:, 1:].reshape(len(sums), -1, self._components)
        return sums[:, 0], {n: of_components[:, i] for i, n in enumerate((WEIGHTS, *(n for n, _ in self._wrt)))}

    def __call__(self, arguments: Sequence[Any]) -> tuple[float, np.ndarray, dict[str, Any]]:
        """The sum, the sums of the components' shares, and the derivatives."""
        sums = self._starter.start(arguments)().copy()
        counts, *found = sums[1:].reshape(-1, self._components)
        pairs = zip(self._wrt, found, strict=True)
        return sums.item(0), counts, {n: float(its.sum()) if own else its for (n, own), its in pairs}

    def replay(self, arguments: Sequence[Any]) -> SumReplay | None:
        """Replay of such calls in compiled code."""
        k, derivatives, first = self._components, {}, 1
        for name, own in ((WEIGHTS, False), *self._wrt):
            derivatives[name] = [(np.zeros(k, int) if own else np.arange(k), first + np.arange(k))]
            first += k
        return self._values.replay(
            self._names, arguments, self._plan.n_sums, lambda found, taken: self._plan.launch(found, 0, taken), derivatives
        )
