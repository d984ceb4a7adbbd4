"""PyMC model at many points at once: for samplers with many chains, walkers or particles."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.model import modelcontext
from pymc.pytensorf import rewrite_pregrad
from pytensor.compile.mode import optdb
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.rewriting.basic import GraphRewriter, in2out, node_rewriter
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.scan.op import Scan
from pytensor.tensor.basic import Split

from ...compiler.fusion.rewrite import fused
from ...compiler.graph.gradients import gradients
from ...compiler.graph.types import TensorVariable
from ...runtime.cached import cached_property
from .points import Points
from .with_jax import as_jax

if TYPE_CHECKING:
    from collections.abc import Callable

    import jax
    from numpy.typing import ArrayLike
    from pytensor.compile.function.types import Function

#: Rewrites of the graph of one point. Checks become -inf here, so that an invalid point makes no others invalid.
REWRITES_OF_ONE_POINT = (
    "canonicalize", "local_check_parameter_to_ninf_switch", "gpustats_one_evaluation", "gpustats_only_used",
    "gpustats_split_as_slices", "gpustats_own_loops",
)  # fmt: skip
MIN_ROWS = 0  # of a sum that the device computes: PyTensor would hold all rows of all points in memory


class Batched:
    """Log-posterior of a PyMC model, and its gradient, at many points at once.

    A point is what PyMC's samplers see: the values of all free variables, transformed to be unconstrained. Sums over rows are
    computed on the device, one launch for all points; PyTensor computes the rest, vectorised over the points.

    The parameters are those of `batched`.

    Attributes
    ----------
    points : Points
        The variables of a point and where they lie in an array.
    """

    def __init__(
        self, model: pm.Model | None = None, *, min_rows: int = MIN_ROWS, devices: str | Sequence[str] | None = None
    ):
        self.model = modelcontext(model)
        self.points = Points(self.model)
        self._fused = functools.partial(fused, min_rows=min_rows, devices=devices)
        self._lock = threading.Lock()  # PyTensor's functions serve one thread at a time

    def __repr__(self) -> str:
        return f"<the log-posterior of {', '.join(self.points.shapes)} at points of {self.points.size} numbers>"

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__ |= state
        self._lock = threading.Lock()

    def logp(self, points: ArrayLike | Mapping[str, ArrayLike]) -> np.ndarray:
        """Log-posteriors, up to the constant of the model.

        Parameters
        ----------
        points : (C, d) array_like, or dict of str to (C, …) array_like
            C points, each all variables one after another as in `points.shapes`; or the variables by name. Discrete variables
            are whole numbers.

        Returns
        -------
        (C,) ndarray of float64
        """
        array = self.points.as_array(points)
        with self._lock:
            (values,) = self._value(array)
        return values

    def logp_dlogp(self, points: ArrayLike | Mapping[str, ArrayLike]) -> tuple[np.ndarray, Any]:
        """Log-posteriors and their gradients.

        Parameters
        ----------
        points : as for `logp`

        Returns
        -------
        values : (C,) ndarray of float64
        gradients : (C, d) ndarray, or dict of str to (C, …) ndarray
            Gradients in the form in which the points were given.

        Raises
        ------
        TypeError
            Where variables are discrete, so that there is no gradient.
        """
        self.check_gradient()
        array = self.points.as_array(points)
        with self._lock:
            values, gradients = self._value_and_gradient(array)
        return values, self.points.as_dict(gradients) if isinstance(points, Mapping) else gradients

    def constrained(self, points: ArrayLike | Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
        """Free variables in their own domains, and the deterministic ones.

        Parameters
        ----------
        points : as for `logp`
            With further leading axes, such as those of steps and chains, where they are one array.

        Returns
        -------
        dict of str to ndarray
            With the leading axes of the points.
        """
        if isinstance(points, Mapping):
            array = self.points.as_array(points)
            lead: tuple[int, ...] = array.shape[:1]
        else:
            given: np.ndarray = np.asarray(points, np.float64)
            lead, array = given.shape[:-1], self.points.as_array(given.reshape(-1, *given.shape[-1:]))
        with self._lock:
            values = self._constrained(array)
        return {str(v.name): np.reshape(value, lead + value.shape[1:]) for v, value in zip(self._own, values, strict=True)}

    def as_jax(self) -> Callable[[jax.Array], jax.Array]:
        """Log-posterior of a point as a function of JAX, for samplers that are written in it, such as those of blackjax.

        The function takes a point (d,) and returns a number; it can be compiled and differentiated once, and what `jax.vmap`
        makes of it takes one launch a term for all points. With ``jax_enable_x64``, JAX computes the priors, and its programs
        call the device for the sums, without Python; changes of the model's data from here on are not seen. Else, and where
        the model has an operation that JAX does not know, JAX calls the host for all of it, and values and gradients are
        rounded to float32.

        Returns
        -------
        callable

        Raises
        ------
        ImportError
            Where JAX is not installed.
        TypeError
            Where variables are discrete.
        """
        self.check_gradient()

        def graph() -> tuple[Sequence[Variable], Variable]:
            own = self.points.variables()
            return own, _rewritten([self._of_one_point(self.model.logp(), own)], REWRITES_OF_ONE_POINT)[0]

        return as_jax(self.points, graph, lambda points: self.logp_dlogp(points))

    def check_gradient(self) -> None:
        """Raise a TypeError where variables are discrete."""
        if discrete := self.points.discrete:
            raise TypeError(f"{', '.join(discrete)} are discrete, so that the log-posterior has no gradient: call logp")

    @cached_property
    def _own(self) -> list[TensorVariable]:
        """Variables in their own domains, as expressions of those of a point."""
        names = {v.name for v in self.model.unobserved_RVs}
        return [v for v in self.model.unobserved_value_vars if v.name in names]

    @cached_property
    def _value(self) -> Function:
        return self.compiled(self.model.logp(), gradient=False)

    @cached_property
    def _value_and_gradient(self) -> Function:
        return self.compiled(self.model.logp(), gradient=True)

    @cached_property
    def _constrained(self) -> Function:
        matrix = pt.dmatrix("points")
        return pm.compile([matrix], self._at(matrix, self.model.value_vars, self._own), on_unused_input="ignore")

    def compiled(self, total: Variable, *, gradient: bool, **kwargs: Any) -> Function:
        """Compiled function from points (C, d) to the values (C,) of a scalar of the model, and its gradients (C, d).

        Parameters
        ----------
        total : Variable
            Such as ``model.logp()``.
        gradient : bool
        **kwargs
            For `pytensor.function`, such as ``mode``.
        """
        own = self.points.variables()
        total = self._of_one_point(total, own)
        slopes = gradients(total, own) if gradient else []
        outputs = _rewritten([total, *slopes], REWRITES_OF_ONE_POINT)
        matrix = pt.dmatrix("points")
        value, *parts = self._at(matrix, own, outputs)
        results = [value]
        if gradient:
            sizes = map(math.prod, self.points.shapes.values())
            flat = [part.reshape((matrix.shape[0], size)) for part, size in zip(parts, sizes, strict=True)]
            results.append(pt.concatenate(flat or [matrix], axis=1))
        return pm.compile([matrix], results, on_unused_input="ignore", **kwargs)

    def _of_one_point(self, total: Variable, variables: Sequence[Variable]) -> Variable:
        """Scalar of the model as an expression of the variables of one point, with the sums over rows on the device."""
        (total,) = clone_replace([total], dict(zip(self.model.value_vars, variables, strict=True)), rebuild_strict=False)
        if not self.model.check_bounds:
            (total,) = _rewritten([total], ("canonicalize", "local_remove_check_parameter"))
        with self._fused():
            found: Variable = rewrite_pregrad(total)
        return found

    def _at(
        self, matrix: TensorVariable, variables: Sequence[Variable], outputs: Sequence[Variable]
    ) -> list[TensorVariable]:
        """Outputs for each point, (C, …), from outputs that are functions of the variables of one point."""
        replacements = dict(zip(variables, self.points.split(matrix), strict=True))
        vectorised: Any = vectorize_graph(list(outputs), replacements)
        full = []
        for before, after in zip(outputs, vectorised, strict=True):
            if after.type.ndim == before.type.ndim:  # it is the same for all points
                after = pt.broadcast_to(after, (matrix.shape[0], *(after.shape[i] for i in range(after.type.ndim))))
            full.append(after)
        return full


def _rewritten(outputs: list[Variable], include: Sequence[str]) -> list[Variable]:
    found: Any = rewrite_graph(outputs, include=include)
    return found


@node_rewriter([Split])
def _split_as_slices(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Parts of an array as slices of it, whose lengths a graph of several points knows, too."""
    axis = node.op.axis if hasattr(node.op, "axis") else getattr(node.inputs[1], "data", None)  # an input in PyTensor 2
    if axis is None:
        return None
    array = pt.as_tensor_variable(node.inputs[0])
    axis = int(axis) % array.type.ndim
    lengths = [v.type.shape[axis] for v in node.outputs]
    if None in lengths:
        return None
    ends = np.cumsum([0, *lengths]).tolist()
    parts = [array[(slice(None),) * axis + (slice(*pair),)] for pair in pairwise(ends)]
    return [pt.specify_shape(part, v.type.shape) for part, v in zip(parts, node.outputs, strict=True)]


class OwnLoops(GraphRewriter):
    """Rewrite that copies loops.

    PyTensor changes them where it runs them for one point after another, and the model has the same ones.
    """

    def apply(self, fgraph: FunctionGraph) -> None:
        for node in fgraph.toposort():
            if isinstance(node.op, Scan):
                copies = node.op.clone().make_node(*node.inputs).outputs
                fgraph.replace_all(list(zip(node.outputs, copies, strict=True)), reason="loops of its own")


optdb.register("gpustats_own_loops", OwnLoops(), position=2.8)
optdb.register("gpustats_split_as_slices", in2out(_split_as_slices), position=2.7)  # without a tag: nothing else includes it


def batched(
    model: pm.Model | None = None, *, min_rows: int = MIN_ROWS, devices: str | Sequence[str] | None = None
) -> Batched:
    """Log-posterior of a PyMC model at many points at once: for samplers with many chains, walkers or particles.

    Parameters
    ----------
    model : pymc.Model, optional
        By default that of the context.
    min_rows : int
        Sums over fewer rows are left to PyTensor, which computes them for all points at once, with all rows of all points in
        memory.
    devices : "all" or sequence of str, optional
        Devices that share the rows of each sum, as for `gpustats.Rows`.

    Returns
    -------
    Batched

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats.pymc as gpm
    >>> y = np.random.default_rng(1).normal(3.0, 2.0, 1000)
    >>> with pm.Model() as model:
    ...     _ = pm.Normal("y", pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 5), observed=y)
    >>> many = gpm.batched(model)
    >>> many.points.shapes
    {'mu': (), 'sigma_log__': ()}
    >>> values, gradients = many.logp_dlogp(np.array([[3.0, 0.7], [2.9, 0.7], [0.0, 0.0]]))
    >>> values.round(2), gradients.shape
    (array([-2104.61, -2103.16, -7049.8 ]), (3, 2))
    """
    return Batched(model, min_rows=min_rows, devices=devices)
