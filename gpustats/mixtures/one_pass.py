"""Log-likelihood of a mixture with its derivatives in one reading of the data, where the components are few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.parcel import Parcel
from ..evaluation.pointwise import Source
from ..evaluation.repeated import RepeatedCall, Result, Results, Work
from ..evaluation.slots import Number, Packed, Slots
from ..evaluation.sums import SumLaunch, adder_of
from ..kernels.code import PER_ROW, PER_SET, VALUE, KernelCode, Operand
from ..kernels.layout import MOST_REPEATED_NODES, Layout, power_of_two, row_blocks
from ..kernels.template import Template
from ..rewriting.differentiate import VALUE as TOTAL
from ..rewriting.differentiate import derivative_name, gradient
from ..runtime import thresholds

if TYPE_CHECKING:
    from ..evaluation.pointwise import Pointwise
    from ..runtime.base import Device, Runtime
    from ..runtime.types import Value

MOST_COMPONENTS = 64  # of a mixture in one pass
WEIGHTS = "log_weights"  # the last argument of a call
#: Numbers of its components, of one row, that a thread of a GPU has registers for.
_HELD_NUMBERS = thresholds.MIXTURES_HELD_NUMBERS.value
_THREAD_ROWS = 8  # of a thread, one after another: 64 to the power of 8 is far from the largest float32
_ONE_PASS = Template.beside(__file__, "one_pass")


@dataclass(frozen=True)
class OnePassLayout(Layout):
    """The constants of the template."""

    components: int = 1  # number of components of the mixture
    lanes: int = 1  # threads that share a row
    per: int = 1  # how many components each of them takes


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


def one_pass(
    terms: Pointwise, runtime: Runtime, x: Value, arguments: Sequence[Value], wrt: Sequence[str], n_sets: int | None = None
) -> RepeatedCall[tuple[Value, dict[str, Value]]] | None:
    """Repeated call of the sum over the observations and its derivatives, that in the log-weights first.

    None where the kernel would be too long to be worth its compilation.

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
        Number of sets of parameters of a call: then all arguments are arrays of (sets, K), and each set has results of its own.
    """
    shared = [type(a) is not np.ndarray for a in arguments]
    names, k = (*terms.argument_names[1:-1], WEIGHTS), arguments[-1].shape[-1]
    in_c, functions = [terms.c_name(n) for n in names if n in wrt], dict(terms.functions)
    function = gradient(terms.function, in_c or terms.c_names[-1:], functions)
    slopes = tuple(map(derivative_name, in_c))
    operands = [Operand(terms.c_names[0], PER_ROW)]
    operands += [Operand(n, VALUE if one else PER_SET) for n, one in zip(terms.c_names[1:], shared, strict=True)]
    code = KernelCode(function, operands, functions.get, (), (TOTAL, *slopes))
    layout = layout_for(runtime.device, x.dtype.itemsize, k, 1 + len(slopes))
    if layout.per * code.row_size > 4 * MOST_REPEATED_NODES:
        return None
    name = f"{terms.function.name}_one_pass"
    text = _ONE_PASS.source_of(code, name, layout, x.dtype.name, runtime.dialect, slopes=slopes)
    kernel, _ = terms.compiled(runtime, Source(text, name, layout))
    lines, n_sums = n_sets or 1, 1 + k * (1 + len(slopes))
    blocks = row_blocks(runtime.device, layout, x.shape[0], 1, kernel.registers)
    adder = adder_of(runtime, layout.threads, blocks, lines * n_sums)
    sums = SumLaunch(runtime, kernel, adder, (lines, blocks), x.shape[0], lines, n_sums, ())
    handle, offset = runtime.memory(x)
    taken, parcel = [handle, offset, 0], Parcel(x.dtype)
    for i, one in enumerate(shared):
        taken += [Number(i)] if one else [Packed(), parcel.add(i, lines * k), 1]
    places = np.arange(lines * n_sums).reshape(lines, n_sums)
    results = []
    for i, (name, one) in enumerate([(WEIGHTS, False), *((n, s) for n, s in zip(names, shared, strict=True) if n in wrt)]):
        shape = None if one else (k,) if n_sets is None else (n_sets, k)
        results.append(Result(name, places[:, 1 + i * k : 1 + (i + 1) * k], shape))
    read = Results(results, places[:, 0], None if n_sets is None else (n_sets,))
    slots = Slots(runtime, x.dtype, taken, parcel, () if n_sets is None else range(len(arguments)))
    work = Work(lines * n_sums, lambda found, values, _: sums.launch(found, 0, values))
    return RepeatedCall(slots, work, read, names, results=read, alive=(x, handle))
