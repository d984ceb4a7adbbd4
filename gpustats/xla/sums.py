"""Sums and their derivatives as arrays of JAX, for a function of a model's as for an operation of a graph."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..runtime.foreign import from_any_thread
from .calls import Program

if TYPE_CHECKING:
    import jax

    from ..evaluation.by_code import Evaluation
    from ..runtime.types import Shape

#: Evaluation by compiled code for arrays of some shapes, with derivatives in those at some places; None where only Python can.
EvaluationFor: TypeAlias = "Callable[[tuple[Shape, ...], tuple[int, ...]], Evaluation | None]"
#: Numbers and derivatives, by Python.
ByPython = Callable[[Sequence[np.ndarray], tuple[int, ...]], Sequence[Any]]


class Sums:
    """Sum, with its derivatives, of arrays of JAX.

    Where JAX computes on the CPU, XLA calls the device, without Python; elsewhere, and where compiled code cannot, it calls
    Python.

    Parameters
    ----------
    evaluation : callable
        (shapes, wrt) -> Evaluation or None. Its outputs are `n_values` numbers, of which the sum is the first, and then the
        derivatives in the arrays at the places `wrt`.
    by_python : callable
        (arrays of float64, wrt) -> the same outputs, one after another.
    n_values : int, optional
    """

    def __init__(self, evaluation: EvaluationFor, by_python: ByPython, n_values: int = 1):
        self._evaluation, self._python, self._n_values = evaluation, by_python, n_values
        self._known: dict[tuple[tuple[Shape, ...], tuple[int, ...]], _Call | None] = {}
        self._lock = threading.Lock()

    def __call__(self, arrays: Sequence[jax.Array], wrt: Sequence[int]) -> list[jax.Array]:
        """Numbers, and derivatives in the arrays at some places, which are not differentiated again."""
        import jax

        places, shapes = tuple(wrt), tuple(a.shape for a in arrays)
        with self._lock:
            if (shapes, places) not in self._known:
                made = self._evaluation(shapes, places)
                self._known[shapes, places] = None if made is None else _Call.of(made, [math.prod(s) for s in shapes])
        if (call := self._known[shapes, places]) is None:
            return self._by_python(arrays, places)

        def called(*arrays: jax.Array) -> list[jax.Array]:
            flat, end = call(arrays), self._n_values
            found = [flat[i] for i in range(end)]
            for i in places:
                found.append(flat[end : end + math.prod(shapes[i])].reshape(shapes[i]))
                end += math.prod(shapes[i])
            return found

        if jax.default_backend() == "cpu":
            return called(*arrays)
        either: list[jax.Array] = jax.lax.platform_dependent(
            *arrays, cpu=called, default=lambda *arrays: self._by_python(arrays, places)
        )
        return either

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
            numbers, slopes = found[: self._n_values], found[self._n_values :]
            change = sum(jnp.sum(s * d) for s, d in zip(slopes, moving.values(), strict=True))
            changes = [change, *[0.0] * (self._n_values - 1)]
            return numbers, [jnp.asarray(c, v.dtype) for c, v in zip(changes, numbers, strict=True)]

        values.defjvp(along, symbolic_zeros=True)
        made: Callable[..., list[jax.Array]] = values
        return made

    def _by_python(self, arrays: Sequence[jax.Array], wrt: tuple[int, ...]) -> list[jax.Array]:
        import jax
        import jax.numpy as jnp

        dtype = jnp.result_type(float)

        @from_any_thread
        def evaluated(*values: Any) -> list[np.ndarray]:
            own = [np.asarray(v, np.float64) for v in values]
            return [np.asarray(f, dtype).reshape(s.shape) for f, s in zip(self._python(own, wrt), shapes, strict=True)]

        shapes = [jax.ShapeDtypeStruct((), dtype)] * self._n_values
        shapes += [jax.ShapeDtypeStruct(arrays[i].shape, dtype) for i in wrt]
        found: list[jax.Array] = jax.pure_callback(evaluated, shapes, *arrays, vmap_method="sequential")
        return found


MOST_PIECES = 32  # of numbers that lie together, beyond which they are gathered one by one


class _Call(NamedTuple):
    """Evaluation as a call of XLA's, for arrays of some lengths."""

    program: Program
    evaluation: Evaluation
    order: np.ndarray  # of the numbers given, among those of all arrays and behind them those that are constant
    source: np.ndarray  # places of the outputs among the numbers found
    target: np.ndarray | None  # and among the outputs, where they are added up; None where the outputs are in their order

    @classmethod
    def of(cls, evaluation: Evaluation, lengths: Sequence[int]) -> _Call:
        replay = evaluation.replay
        starts = np.cumsum([0, *lengths])
        order = starts[-1] + np.arange(replay.given.size)
        for i, run in evaluation.given:
            order[run.target : run.target + run.length] = starts[i] + run.source + np.arange(run.length)
        source, target = (
            np.concatenate([np.empty(0, int), *(start + np.arange(run.length) for start, run in each)])
            for each in ([(r.source, r) for r in evaluation.found], [(r.target, r) for r in evaluation.found])
        )
        sorts = np.argsort(target)
        if np.array_equal(target[sorts], np.arange(evaluation.n_out)):
            return cls(Program.of(replay), evaluation, order, source[sorts], None)
        return cls(Program.of(replay), evaluation, order, source, target)

    def __call__(self, arrays: Sequence[jax.Array]) -> jax.Array:
        """All outputs, one after another."""
        import jax.numpy as jnp

        replay, n_out, valid = self.evaluation.replay, self.evaluation.n_out, self.evaluation.valid
        dtype = jnp.result_type(float)
        if replay.given.dtype.itemsize > dtype.itemsize:
            raise ValueError(
                "the data are float64 and JAX computes in float32: call jax.config.update('jax_enable_x64', True) first, or "
                "make the likelihood of data in float32"
            )
        given = [*(jnp.ravel(a).astype(dtype) for a in arrays), jnp.asarray(replay.given, dtype)]
        found = self.program(_taken(given, self.order), replay.found.size)
        out = _taken([found], self.source)
        if self.target is not None:
            out = jnp.zeros(n_out, dtype).at[self.target].add(out)
        if valid < 0:
            return out
        right = ~jnp.isnan(found[0])  # else the sum is -inf, and does not change
        return jnp.where(right, out, 0.0).at[0].set(jnp.where(right, out[0], -jnp.inf)).at[valid].set(right.astype(dtype))


def _taken(arrays: Sequence[jax.Array], places: np.ndarray) -> jax.Array:
    """Numbers at some places of vectors that stand one after another.

    Pieces of neighbours are copied, which takes XLA a fraction of the time that it takes to gather them.
    """
    import jax.numpy as jnp

    if not places.size:
        return arrays[0][:0]
    starts = np.cumsum([0, *(a.size for a in arrays)])
    owner = np.searchsorted(starts, places, "right") - 1
    cuts = np.flatnonzero((np.diff(places) != 1) | (np.diff(owner) != 0)) + 1
    if cuts.size >= MOST_PIECES:
        return jnp.concatenate(arrays)[places]
    pieces = []
    for i, piece in zip(owner[[0, *cuts]], np.split(places, cuts), strict=True):
        first = int(piece[0] - starts[i])
        pieces.append(arrays[i][first : first + piece.size])
    return jnp.concatenate(pieces)
