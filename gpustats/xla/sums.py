"""Sums and their derivatives as arrays of JAX, for a function of a model's as for an operation of a graph."""

from __future__ import annotations

import functools
import itertools
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from . import on_cuda, on_host
from .python_calls import call_python

if TYPE_CHECKING:
    import jax

    from ..evaluation.by_code import Evaluation
    from ..runtime.types import DType, Shape
    from .calls import Program

#: Evaluation by compiled code for arrays of some shapes, with derivatives in those at some places, and, where a number of sets
#: is given, for stacks of such arrays; None where only Python can.
EvaluationFor: TypeAlias = "Callable[[tuple[Shape, ...], tuple[int, ...], int | None], Evaluation | None]"
#: Numbers and derivatives, by Python.
ByPython = Callable[[Sequence[np.ndarray], tuple[int, ...]], Sequence[Any]]


class Sums:
    """Sum, with its derivatives, of arrays of JAX.

    XLA calls the device, without Python: on the CPU it waits for it, and on a GPU puts the work on its own stream. Where
    compiled code cannot, it calls Python. What `jax.vmap` makes of a sum is one launch for all sets of arrays, where kernels
    take several.

    Parameters
    ----------
    evaluation : callable
        (shapes, wrt, n_sets) -> Evaluation or None. Its outputs are the values, of which the sum is the first, and then the
        derivatives in the arrays at the places `wrt`.
    by_python : callable
        (arrays of float64, wrt) -> the same outputs, one after another.
    values : sequence of tuple of int, optional
        Shapes of the values; by default the sum is the only one.
    copies : sequence of callable, optional
        As `evaluation`, of the same sum, each with its data on a further GPU.
    along : callable, optional
        Makes, for the places of some arrays, the sum's derivative in a direction with components in these, as `Sums` of all
        arrays and the components, or None.
    """

    def __init__(
        self, evaluation: EvaluationFor, by_python: ByPython, values: Sequence[Shape] = ((),),
        along: Callable[[tuple[int, ...]], Sums | None] = lambda places: None, copies: Sequence[EvaluationFor] = (),
    ):  # fmt: skip
        self._evaluation, self._python, self._values, self._copies = evaluation, by_python, values, copies
        self._along = functools.cache(along)
        self._calls: dict[tuple[object, ...], _Call | None] = {}
        self._lock = threading.RLock()

    def __call__(self, arrays: Sequence[jax.Array], wrt: Sequence[int]) -> list[jax.Array]:
        """Numbers, and derivatives in the arrays at some places."""
        import jax
        import jax.numpy as jnp

        places = tuple(wrt)

        @jax.custom_jvp
        def values(*arrays: jax.Array) -> list[jax.Array]:
            return self._of_stacks(places, 0)(*arrays)

        def along(arrays: Sequence[jax.Array], directions: Sequence[Any]) -> tuple[list[jax.Array], list[jax.Array]]:
            moving = {i: d for i, d in enumerate(directions) if type(d) is not jax.custom_derivatives.SymbolicZero}
            if (further := self._along(tuple(moving))) is None:
                raise TypeError(
                    "the sum is differentiated once more than it can be: take jax.lax.stop_gradient of its last derivatives"
                )
            found = self(arrays, places)
            slope, *products = further([*arrays, *moving.values()], places)
            return found, [slope, *[jnp.zeros_like(f) for f in found[1 : len(self._values)]], *products]

        values.defjvp(along, symbolic_zeros=True)
        found: list[jax.Array] = values(*arrays)
        return found

    def function(self, reject: Callable[[Sequence[int]], None]) -> Callable[..., list[jax.Array]]:
        """Function of the arrays to the numbers, of which the first can be differentiated.

        `reject` raises an error where there are no derivatives in the arrays at some places.
        """
        import jax
        import jax.numpy as jnp

        @jax.custom_jvp
        def values(*arrays: jax.Array) -> list[jax.Array]:
            return self(arrays, ())

        def along(arrays: Sequence[jax.Array], directions: Sequence[Any]) -> tuple[list[jax.Array], list[jax.Array]]:
            moving = {i: d for i, d in enumerate(directions) if type(d) is not jax.custom_derivatives.SymbolicZero}
            reject(list(moving))
            found = self(arrays, tuple(moving))
            numbers, slopes = found[: len(self._values)], found[len(self._values) :]
            change = sum(jnp.sum(s * d) for s, d in zip(slopes, moving.values(), strict=True))
            return numbers, [jnp.asarray(change, numbers[0].dtype), *[jnp.zeros_like(v) for v in numbers[1:]]]

        values.defjvp(along, symbolic_zeros=True)
        made: Callable[..., list[jax.Array]] = values
        return made

    def _of_stacks(self, wrt: tuple[int, ...], rank: int) -> Callable[..., list[jax.Array]]:
        """Function of stacks of arrays, of which all have so many leading axes of sets; `jax.vmap` adds one."""
        import jax
        import jax.numpy as jnp

        # What a call reads beside the arrays is an argument, since JAX maps no function that holds arrays where it chooses.
        @jax.custom_batching.custom_vmap
        def evaluated(held: Mapping[str, jax.Array], *arrays: jax.Array) -> list[jax.Array]:
            lead = arrays[0].shape[:rank] if rank else ()
            if not rank:
                return self._of_sets(held, arrays, wrt, None)
            n_sets = math.prod(lead)
            stacks = [a.reshape(n_sets, *a.shape[rank:]) for a in arrays]
            return [f.reshape(*lead, *f.shape[1:]) for f in self._of_sets(held, stacks, wrt, n_sets)]

        @evaluated.def_vmap
        def _further(
            size: int, mapped: Sequence[Any], held: Mapping[str, jax.Array], *arrays: jax.Array
        ) -> tuple[list[jax.Array], list[bool]]:
            stacks = [a if own else jnp.broadcast_to(a, (size, *a.shape)) for a, own in zip(arrays, mapped[1:], strict=True)]
            found = self._of_stacks(wrt, rank + 1)(*stacks)
            return found, [True] * len(found)

        def function(*arrays: jax.Array) -> list[jax.Array]:
            n_sets = math.prod(arrays[0].shape[:rank]) if rank else None
            call = self._call_of(tuple(a.shape[rank:] for a in arrays), wrt, n_sets)
            found: list[jax.Array] = evaluated({} if call is None else call.held(), *arrays)
            return found

        return function

    def _call_of(self, shapes: tuple[Shape, ...], wrt: tuple[int, ...], n_sets: int | None) -> _Call | None:
        """Call of XLA's for arrays of some shapes; None where only Python can make it, or for no sets."""
        import jax

        backend = jax.default_backend()
        with self._lock:
            kind = shapes, wrt, n_sets, backend
            if kind not in self._calls:
                make = {"cpu": self._on_host, "gpu": self._on_cuda}.get(backend)
                self._calls[kind] = make(shapes, wrt, n_sets) if make and n_sets != 0 else None
            return self._calls[kind]

    def _of_sets(
        self, held: Mapping[str, jax.Array], arrays: Sequence[jax.Array], wrt: tuple[int, ...], n_sets: int | None
    ) -> list[jax.Array]:
        """Numbers and derivatives, with a first axis of sets where the arrays have one."""
        import jax
        import jax.numpy as jnp

        lead = () if n_sets is None else (n_sets,)
        shapes = tuple(a.shape[len(lead) :] for a in arrays)
        out = [*self._values, *(shapes[i] for i in wrt)]
        if n_sets == 0:
            return [jnp.zeros((*lead, *shape), jnp.result_type(float)) for shape in out]
        if (call := self._call_of(shapes, wrt, n_sets)) is None:
            return self._by_python(arrays, wrt, n_sets)

        def called(held: Mapping[str, jax.Array], *arrays: jax.Array) -> list[jax.Array]:
            flat, ends = call(held, arrays, lead), list(itertools.accumulate(map(math.prod, out)))
            parts = zip([0, *ends], ends, out, strict=False)
            return [flat[..., start:end].reshape(*lead, *shape) for start, end, shape in parts]

        if jax.default_backend() == "cpu":
            return called(held, *arrays)
        either: list[jax.Array] = jax.lax.platform_dependent(
            held, *arrays, cuda=called, default=lambda held, *arrays: self._by_python(arrays, wrt, n_sets)
        )
        return either

    def _on_host(self, shapes: tuple[Shape, ...], wrt: tuple[int, ...], n_sets: int | None) -> _Call | None:
        stacks = [n_sets, None] if n_sets else [None]  # or set by set
        for of_stack in stacks:
            made = self._evaluation(shapes, wrt, of_stack)
            if made is not None and (replay := made.sum.replay) is not None:
                return _Call.of(made, shapes, on_host.program(replay), replay.given.size, replay.found.size)
        return None

    def _on_cuda(self, shapes: tuple[Shape, ...], wrt: tuple[int, ...], n_sets: int | None) -> _Call | None:
        for of_stack in dict.fromkeys((n_sets or 1, 1)):  # stacks alone, of which kernels take nothing by value
            made = [evaluation(shapes, wrt, of_stack) for evaluation in (self._evaluation, *self._copies)]
            works = [its.sum.work.enqueued() for its in made if its is not None]
            enqueued = [work for work in works if work is not None]
            if len(enqueued) < len(made) or (first := made[0]) is None:
                continue
            n_given, n_found, dtype = first.sum.work.n_given, first.sum.work.n_found, first.sum.work.dtype
            program = on_cuda.program(enqueued, n_given, n_found, np.dtype(dtype).itemsize)
            call, *others = [_Call.of(its, shapes, program, n_given, n_found, dtype) for its in made if its is not None]
            if not all(map(call.is_like, others)):
                raise ValueError("the copies differ in their rows, or their devices in kind: make all of the same data")
            return call
        return None

    def _by_python(self, arrays: Sequence[jax.Array], wrt: tuple[int, ...], n_sets: int | None) -> list[jax.Array]:
        import jax
        import jax.numpy as jnp

        dtype = jnp.result_type(float)

        def evaluated(*values: np.ndarray) -> list[Any]:
            try:
                return list(self._python([np.asarray(v, np.float64) for v in values], wrt))
            except (ValueError, np.linalg.LinAlgError):  # of the numbers alone: the shapes were right
                return [np.full(s.shape, np.nan, dtype) for s in shapes]

        def one(*arrays: jax.Array) -> list[jax.Array]:
            return call_python(evaluated, shapes, *arrays)

        first = [a if n_sets is None else a[0] for a in arrays]
        shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape in (*self._values, *(first[i].shape for i in wrt))]
        result: list[jax.Array] = (one if n_sets is None else jax.vmap(one))(*arrays)
        return [_spread_as(f, arrays) for f in result]


MOST_PIECES = 32  # of numbers that lie together, beyond which they are gathered one by one


class _Call(NamedTuple):
    """Evaluation as a call of XLA's, for lines of some sets of arrays, each of which is evaluated at once.

    What is given, and what is found, has a part of its own for each set of a line, or all sets of a line are one part.
    """

    program: Program
    evaluation: Evaluation
    dtype: DType | None  # of the numbers given, on the device; None where the platform's function converts all numbers
    n_found: int  # numbers that a line leaves
    given: _Parts  # numbers given, among those of all arrays, and behind them the constants
    constants: np.ndarray  # of a part
    found: _Parts  # outputs, among the numbers found
    target: np.ndarray | None  # places of the outputs, where they are added up; None where they are in their order

    @classmethod
    def of(
        cls, made: Evaluation, shapes: Sequence[Shape], program: Program, n_given: int, n_found: int, dtype: DType | None = None
    ) -> _Call:
        n_sets, sizes = made.sum.n_sets, [math.prod(shape) for shape in shapes]
        constants = np.zeros(n_given, np.float64 if dtype is None else dtype)
        made.sum.fill(constants)
        n_parts = _parts([p.device for _, p in made.inputs], n_sets, n_given)
        width, in_part = n_given // n_parts, n_sets // n_parts
        starts = np.cumsum([0, *(in_part * size for size in sizes)])
        order = starts[-1] + np.arange(width)
        for i, places in made.inputs:
            order[places.device[:in_part]] = starts[i] + sizes[i] * np.arange(in_part)[:, None] + places.own
        n_left = _parts([p.device for p in made.outputs], n_sets, n_found)
        source = np.concatenate([p.device[: n_sets // n_left] for p in made.outputs], axis=1)
        target = np.concatenate([p.own for p in made.outputs])
        sorts = np.argsort(target, kind="stable")
        in_order = np.array_equal(target[sorts], np.arange(made.n_out))
        found = _Parts(n_left, np.ravel(source[:, sorts] if in_order else source))
        given = _Parts(n_parts, order)
        return cls(program, made, dtype, n_found, given, constants[:width], found, None if in_order else target)

    def is_like(self, other: _Call) -> bool:
        """True if another evaluation takes and leaves the same numbers in the same places."""
        mine, its = ((c.given.order, c.found.order, c.constants) for c in (self, other))
        sizes = [(c.given.n, c.found.n, c.evaluation.sum.work.n_found, c.evaluation.n_out) for c in (self, other)]
        return sizes[0] == sizes[1] and all(map(np.array_equal, mine, its))

    def held(self) -> dict[str, jax.Array]:
        """What the call reads beside the arrays: the constants, and the places that are gathered, or to which is added.

        Empty arrays are left out, with which Shardy of jaxlib 0.11.2 crashes where `jax.shard_map` passes them to nobody.
        """
        import jax.numpy as jnp

        dtype = jnp.result_type(float) if self.dtype is None else self.dtype
        constants = jnp.asarray(self.constants, dtype) if self.constants.any() else jnp.zeros(self.constants.size, dtype)
        places = {"given": self.given.gathered, "found": self.found.gathered, "target": self.target}
        found = {"constants": constants} | {name: jnp.asarray(p) for name, p in places.items() if p is not None}
        return {name: array for name, array in found.items() if array.size}

    def __call__(self, held: Mapping[str, jax.Array], arrays: Sequence[jax.Array], lead: Shape) -> jax.Array:
        """All outputs of each set, one after another: (*lead, outputs)."""
        import jax.numpy as jnp

        made, dtype = self.evaluation, jnp.result_type(float)
        if np.dtype(made.sum.work.dtype).itemsize > dtype.itemsize:
            raise ValueError(
                "the sum is computed in float64 and JAX computes in float32: call jax.config.update('jax_enable_x64', True) "
                "first, or make a likelihood, a GLM or rows of data in float32"
            )
        n_sets = made.sum.n_sets
        parts = math.prod(lead) // n_sets, self.given.n
        constants = held.get("constants", jnp.zeros(0, dtype))
        given = [a.reshape(*parts, -1).astype(constants.dtype) for a in arrays]
        given.append(jnp.broadcast_to(constants, (*parts, constants.size)))
        found = self._found(self.given.taken(given, held.get("given")).reshape(-1), parts[0] * self.n_found)
        left = [found.reshape(parts[0], self.found.n, -1)]
        out = self.found.taken(left, held.get("found")).reshape(parts[0], n_sets, -1)
        if self.target is not None:
            out = jnp.zeros((*out.shape[:-1], made.n_out), dtype).at[..., held["target"]].add(out)
        if not made.sum.values.size:
            return out.reshape(*lead, -1)
        right = ~jnp.isnan(out[..., :1])
        if made.valid < 0:
            return jnp.where(right, out, jnp.nan).reshape(*lead, -1)
        out = jnp.where(right, out, 0.0).at[..., :1].set(jnp.where(right, out[..., :1], -jnp.inf))  # which does not change
        return out.at[..., made.valid : made.valid + 1].set(right.astype(dtype)).reshape(*lead, -1)

    def _found(self, given: jax.Array, n: int) -> jax.Array:
        """Numbers that the device leaves, in the type in which JAX computes."""
        import jax
        import jax.numpy as jnp

        dtype = jnp.result_type(float)
        if self.dtype is None or dtype.itemsize == 8:
            return self.program(given, jax.ShapeDtypeStruct((n,), dtype))
        halves = self.program(given, jax.ShapeDtypeStruct((2 * n,), np.dtype(np.uint32))).reshape(n, 2)
        return _to_single(halves[:, 0], halves[:, 1])


class _Parts(NamedTuple):
    """Numbers of the parts of a line, taken from arrays that stand one after another along their last axis."""

    n: int  # parts
    order: np.ndarray  # places of the numbers of a part, in their order

    @property
    def cuts(self) -> np.ndarray:
        """Places in the order behind which the next number is not the neighbour."""
        return np.flatnonzero(np.diff(self.order) != 1) + 1

    @property
    def gathered(self) -> np.ndarray:
        """The order, if its numbers are gathered one by one; of pieces of neighbours nothing, since these are copied."""
        return self.order if self.cuts.size >= MOST_PIECES else self.order[:0]

    def taken(self, arrays: Sequence[jax.Array], order: jax.Array | None) -> jax.Array:
        """Numbers of each part; `order` is that of numbers that are gathered, if they are.

        Pieces of neighbours are copied, which takes XLA a fraction of the time that it takes to gather them.
        """
        import jax.numpy as jnp

        if not self.order.size:
            return arrays[0][..., :0]
        if order is not None:
            return jnp.concatenate(arrays, axis=-1)[..., order]
        starts = np.cumsum([0, *(a.shape[-1] for a in arrays)])
        owner = np.searchsorted(starts, self.order, "right") - 1
        cuts = np.union1d(self.cuts, np.flatnonzero(np.diff(owner)) + 1).astype(int)
        pieces = []
        for i, piece in zip(owner[[0, *cuts]], np.split(self.order, cuts), strict=True):
            first = int(piece[0] - starts[i])
            pieces.append(arrays[i][..., first : first + piece.size])
        return jnp.concatenate(pieces, axis=-1)


def _parts(places: Sequence[np.ndarray], n_sets: int, size: int) -> int:
    """Number of parts of a line of numbers, of which each set has some: the sets, if all have parts that are alike, else 1."""
    width = size // n_sets
    steps = width * np.arange(n_sets)[:, None]
    alike = (len(p) == n_sets and np.array_equal(p, p[:1] + steps) and (p[0] < width).all() for p in places)
    return n_sets if size == n_sets * width and all(alike) else 1


def _spread_as(found: jax.Array, arrays: Sequence[jax.Array]) -> jax.Array:
    """Array that differs wherever some others do among the devices of `jax.shard_map`: results of Python count as the same."""
    import jax.numpy as jnp

    either = jnp.stack([jnp.isnan(a).any() for a in arrays]).any() if arrays else False
    return jnp.where(either, found, found)


def _to_single(low: jax.Array, high: jax.Array) -> jax.Array:
    """Numbers in single precision, from the halves of those in double precision, of which JAX may have none."""
    import jax
    import jax.numpy as jnp

    infinite, not_a_number, sign = map(np.uint32, (0x7F800000, 0x7FC00000, 0x80000000))
    exponent = ((high >> 20) & 0x7FF).astype(jnp.int32) - 896  # as single precision counts it
    rest = ((high & 0xFFFFF) << 3) | (low >> 29)
    bits = (jnp.clip(exponent, 0, 255).astype(jnp.uint32) << 23) + rest + ((low >> 28) & 1)  # rounded
    bits = jnp.where(exponent <= 0, np.uint32(0), jnp.where(exponent >= 255, infinite, bits))
    is_nan = (exponent == 0x7FF - 896) & (((high & 0xFFFFF) | low) != 0)
    found: jax.Array = jax.lax.bitcast_convert_type(jnp.where(is_nan, not_a_number, bits) | (high & sign), jnp.float32)
    return found
