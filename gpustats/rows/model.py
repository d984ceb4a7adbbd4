"""Model whose log-likelihood is a sum over rows: a function of a row, and the sources of its arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..display.html import code, table
from ..evaluation.arguments import check_wrt_among, match
from ..evaluation.compiled import RepeatedSum, Replayable
from ..parallel.devices import TRIAL_ROWS, example
from ..parallel.divide import divide
from ..parallel.pieces import Data, Options, Pieces, in_pieces
from ..parallel.ragged import Ragged
from ..parallel.remade import Remade
from ..parallel.rows import added, added_gradients, added_with_gradients, is_stored, joined, read
from ..runtime import arrays, choose
from ..runtime.base import Device, Runtime
from ..runtime.host_memory import HostRows
from ..runtime.transfers import to_hosts
from ..runtime.types import Array, Value
from .along import Along
from .binding import Binding, GivenFunction
from .by_step import BySteps
from .explained import Explained
from .fitting import Fitting
from .leaf_data import put_together, taken_apart
from .leaves import Leaf, PerRow
from .on_device import OnDevice, ResidentTerms
from .parameters import along_of, shape_of
from .passes import Sets


class Rows(Remade, Replayable, BySteps, Explained, Fitting):
    """Sum over N rows of a function of a row, with its derivatives: a log-likelihood of any model.

    An argument of the function is a column of data, a number, an element of a table (`gather`), a dot product (`dot`) or a
    number of the row's own (`per_row`). The data stay on the device; a call takes the parameters.

    Parameters
    ----------
    function : str, Density or SequenceModel
        The function of a row in C: a `real` function, the last one of the text, which may call the others, registered densities
        (``normal_logpdf(y, mu, sigma)``) and their distribution functions. Or a density, whose logarithm it is, or a model of
        `series`.
    weights : (N,) array_like, optional
        Weight of each row in the sum.
    devices, client, memory, chunk : optional
        Division of the rows where one device is not enough: see `gpustats.parallel`.
    **leaves
        For arguments of the function, by their names: a column of data, (N,), which is kept as float64, float32, int32 or
        uint8; or what `gather`, `dot` and `per_row` give. All other arguments are numbers, which a call gives. Arrays in files,
        memory maps, HDF5 data sets, Zarr and Dask arrays are read by slices: see `gpustats.parallel`.

    Attributes
    ----------
    parameters : tuple of str
        Names of the arguments of a call.
    n_rows : int or None
        None where only the parameters tell.

    Raises
    ------
    ValueError
        Where an argument is unknown, or a column, an index or a matrix does not fit, with its name.
    DeviceFunctionError
        Where the C is not right, with the line.

    Notes
    -----
    A parameter is a number, a table of the shape that its indices go through, (k,) coefficients, or (N,) numbers of the rows.
    Where the argument is a vector, ``const real *``, of at most 64 elements, it is (d,), a table with a last axis of d, or
    (k, d); data are (N, d). All vectors of a function have the same length d, its last argument ``int dim``; beside
    `sequences`, whose length stands there, a function knows d.

    Leading axes are sets of parameters, by NumPy's rules of broadcasting: several chains share a call, and the bits of each do
    not depend on the others. Where a device multiplies matrices for all sets at once, one set without such an axis may have
    other last digits than in a stack, be it of one. Sums are in float64 and always in the same order.

    Examples
    --------
    Growth curves of plants:

    >>> import numpy as np, gpustats as gs
    >>> y, t, plant = np.array([0.4, 0.9, 0.3]), np.array([0.0, 2.0, 1.0]), np.array([0, 0, 1])
    >>> rows = gs.Rows('''
    ... __device__ real growth(real y, real t, real a, real b, real sigma)
    ... { return normal_logpdf(y, a / (1 + exp(-b * t)), sigma); }
    ... ''', y=y, t=t, a=gs.gather(plant), b=gs.gather(plant))
    >>> a, b = np.array([1.0, 0.8]), np.array([0.9, 0.5])
    >>> round(rows(a=a, b=b, sigma=0.1), 4)
    1.6038
    >>> value, gradient = rows.value_and_grad(a=a, b=b, sigma=0.1)
    >>> gradient["b"].round(4)
    array([ 1.0189, -3.7218])
    """

    _pieces: Pieces | None

    def __init__(
        self, function: GivenFunction, /, *, weights: ArrayLike | None = None, devices: Any = None,
        client: Any = None, memory: int | None = None, chunk: int | None = None, **leaves: ArrayLike | Leaf,
    ):  # fmt: skip
        self._bind(Binding(function, weights, leaves))
        options = self._options = Options(devices, client, memory, chunk)
        runtime = None if devices is not None or client is not None else choose.get()
        data, _ = taken_apart(self._bound.leaves)
        if self.n_rows is not None:
            self._pieces = divide(self, Data(data, self.n_rows, self._bound.row_bytes), options, runtime)
        elif options != Options():
            raise ValueError("without data there are no rows to divide: leave out devices, client, memory and chunk")
        if self._pieces is None:
            assert runtime is not None
            if any(map(is_stored, data.values())):
                self._bind(self._bound.over({n: read(v, 0, v.shape[0], n) for n, v in data.items()}))
            self._own = OnDevice(self._bound, runtime)
        else:
            for parameter in self._bound.parameters.values():
                if isinstance(parameter.leaf, PerRow) and parameter.length(0):
                    raise ValueError(f"rows that share elements of {parameter.name} with other rows cannot be divided")

    def _bind(self, bound: Binding) -> None:
        self._bound, self._pieces = bound, None
        self._names, self.n_rows = tuple(bound.parameters), bound.n_rows
        self._known = frozenset(self._names)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the methods take, in their order."""
        return self._names

    @property
    def device(self) -> Device:
        """Device of the data, if they lie on one device."""
        if self._pieces is not None:
            raise AttributeError(f"the data lie in pieces: {self._pieces.where}")
        return self._own.runtime.device

    @property
    def defaults(self) -> Mapping[str, Value]:
        """Values of the parameters that a call may leave out."""
        return {n: v for n, v in self._bound.row.defaults.items() if n in self.parameters}

    def _facts(self) -> Mapping[str, object]:
        rows = "those of its parameters" if self.n_rows is None else f"{self.n_rows:,}"
        leaves = [(n, leaf.kind, "" if leaf.of in (n, None) else f"of {leaf.of}") for n, leaf in self._bound.leaves.items()]
        return {
            "function": code(f"{self._bound.row.name}({', '.join(self._bound.c_names)})"), "rows": rows,
            "arguments": table(leaves), "computed in": self._bound.dtype, "parameters": ", ".join(self.parameters),
            "data": self._place(),
        }  # fmt: skip

    def __repr__(self) -> str:
        n = "rows of its parameters" if self.n_rows is None else f"{self.n_rows} rows"
        where = self._own.runtime.device.id if self._pieces is None else self._pieces.where
        return f"<{self._bound.row.name}({', '.join(self._bound.c_names)}) over {n} in {self._bound.dtype} on {where}>"

    # -- evaluation

    @in_pieces(added)
    def __call__(self, *args: ArrayLike, **kwargs: ArrayLike) -> Value:
        """The sum over all rows.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: see the class.

        Returns
        -------
        float or ndarray
            In float64; of the shape of the sets of parameters, where there are several.
        """
        return self._own.start_sum((), *self._values(args, kwargs))()[0]

    @in_pieces(added_with_gradients)
    def value_and_grad(
        self, *args: ArrayLike, wrt: str | Collection[str] | None = None, **kwargs: ArrayLike
    ) -> tuple[Value, dict[str, Value]]:
        """The sum over all rows, and its derivatives.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: see the class.
        wrt : str or collection of str, optional
            Names of parameters; by default all.

        Returns
        -------
        value : float or ndarray
        gradient : dict
            Name -> derivative of the sum of all values, shaped like that parameter, and a device array where that is one.
        """
        return self._start_value_and_grad(*args, wrt=wrt, **kwargs)()

    @in_pieces(joined("terms"))
    def terms(self, *args: ArrayLike, **kwargs: ArrayLike) -> np.ndarray:
        """The function's value in each row.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: see the class.

        Returns
        -------
        (N,) ndarray, or (*sets, N)
        """
        found, packing = self._own.found("terms", (), self._values(args, kwargs)[0])
        terms: np.ndarray = found.reshape(*packing.lead, found.shape[-1])
        return terms

    def hessp(self, direction: Mapping[str, Value], *args: ArrayLike, **kwargs: ArrayLike) -> dict[str, Value]:
        """The product of the matrix of second derivatives and a vector, in one reading of the data.

        Parameters
        ----------
        direction : mapping
            The vector: name of a parameter -> components, shaped like that parameter. Others are 0.
        *parameters : array_like
            In their order, or by name: see the class.

        Returns
        -------
        dict
            Name of each parameter -> the product's components in it, shaped like that parameter.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> rows = gs.Rows(gs.normal, x=np.array([-1.0, 0.0, 2.0]))
        >>> rows.hessp({"mu": 1.0}, mu=0.0, sigma=1.0)
        {'mu': -3.0, 'sigma': -2.0}
        """
        if not isinstance(direction, Mapping):
            raise TypeError(
                f"direction is {type(direction).__name__}: it must be a dict, name of a parameter -> components, and the "
                "parameters come behind it: hessp({'mu': 1.0}, **parameters)"
            )
        names = check_wrt_among(tuple(direction), self.parameters)
        values, _ = self._values(args, kwargs)
        of_name = dict(zip(self.parameters, values, strict=True))
        components, _ = self._as_read(names, list(direction.values()))
        for name, component in zip(names, components, strict=True):
            if (given := shape_of(component)) != (wanted := shape_of(of_name[name])):
                raise ValueError(f"direction: {name} has shape {given}, and the parameter {wanted}")
        return self._product(*values, *components, wrt=names)

    def kernel_source(self, wrt: str | Collection[str] | None = None, length: int = 0, sets: int | None = None) -> str:
        """The source of the kernels that compute the value and the derivatives, one for each order in which they take the rows.

        Parameters
        ----------
        wrt : str or collection of str, optional
            Names of parameters; by default all.
        length : int
            Length of the function's vectors, where it has any.
        sets : int, optional
            Number of sets of parameters of a call; by default one, without an axis.
        """
        names = self.parameters if wrt is None else check_wrt_among(wrt, self.parameters)
        if bool(length) != bool(self._bound.vectors):
            raise ValueError(f"length is {length}, and {self._bound.row.name} has the vectors {self._bound.vectors}")
        return self._own.evaluator(length).source(names, Sets.BY_VALUE if sets is None else Sets.of_stack(sets))

    def compiled(self, arguments: Mapping[str, Value], wrt: Sequence[str], n_sets: int | None = None) -> RepeatedSum | None:
        return None if self._pieces is not None else self._own.compiled(wrt, self._values((), arguments)[0])

    def n_terms(self, arguments: Mapping[str, Value]) -> int:
        return self._bound.packing(self._values((), arguments)[0])[1]

    def compiled_terms(self, arguments: Mapping[str, Value], n_sets: int | None = None) -> RepeatedSum | None:
        return None if self._pieces is not None else self._own.compiled_terms(self._values((), arguments)[0])

    def resident_terms(self, arguments: Mapping[str, Value]) -> ResidentTerms:
        """Terms of rows that lie on one device, which stay there: see `terms`."""
        return self._own.resident_terms(self._values((), arguments)[0])

    def along(self, names: Collection[str]) -> Along | None:
        return None if self._pieces is not None else Along(lambda shapes: self, names, {n: n for n in self.parameters})

    def compiled_product(self, arguments: Mapping[str, Value], direction: Mapping[str, Value]) -> RepeatedSum | None:
        """Derivative in a direction, of components by `along_of` of their names, and its derivatives: see `compiled`."""
        names = [n for n in self.parameters if along_of(n) in direction]
        values = self._values((), arguments)[0]
        return self._own.compiled_product(names, [*values, *(direction[along_of(n)] for n in names)])

    def start(self, wrt: Collection[str], arguments: Mapping[str, Value]) -> Callable[[], tuple[Value, dict[str, Value]]]:
        """Start of `value_and_grad` of rows that lie on one device; the function returned waits for its result."""
        return self._start_value_and_grad(wrt=wrt, **arguments)

    # -- how it is done

    def _values(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[list[Value], Sequence[str]]:
        """The values of all parameters in a call, in their order, and the names of those that came as device arrays.

        Device arrays that kernels do not read where they lie have become NumPy arrays.
        """
        if not args and kwargs.keys() == self._known:
            values = [kwargs[n] for n in self._names]  # at once, as samplers call it
        else:
            values = match(self._bound.row.name, self._names, args, kwargs, self.defaults, "parameters")
        return self._as_read(self._names, values)

    def _as_read(self, names: Sequence[str], values: list[Value]) -> tuple[list[Value], Sequence[str]]:
        """The same list, with values as calls take them, and the names of those that came as device arrays."""
        others = [i for i, v in enumerate(values) if not (type(v) is float or type(v) is np.ndarray and v.dtype.char in "fd")]
        native, away = list[str](), list[int]()
        for i in others:
            values[i] = array = arrays.as_array(values[i], names[i])
            if arrays.is_device_array(array):
                native.append(names[i])
                if self._pieces is not None or not self._own.reads(array):
                    away.append(i)
        for i, host in zip(away, to_hosts([values[i] for i in away]) if away else (), strict=True):
            values[i] = host
        return values, native

    @in_pieces(added_gradients)
    def _product(self, *values: Value, wrt: Sequence[str]) -> dict[str, Value]:
        """Product of the Hessian and a vector, whose components in the parameters `wrt` are the last of the values."""
        names = [n for n, v in zip(self.parameters, values, strict=False) if arrays.is_device_array(v)]
        return self._own.product(wrt, values, names)

    def _start_value_and_grad(
        self, *args: Value, wrt: str | Collection[str] | None = None, **kwargs: Value
    ) -> Callable[[], tuple[Value, dict[str, Value]]]:
        """Start `value_and_grad` on the one device that evaluates all rows; returns the wait for its result."""
        names = self.parameters if wrt is None else tuple(check_wrt_among(wrt, self.parameters))
        return self._own.start_sum(names, *self._values(args, kwargs))

    # -- as a model that is evaluated in pieces: see `parallel.pieces.Divisible`

    def _start(self, method: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Callable[[], object] | None:
        if method == "__call__":
            finish = self._own.start_sum((), *self._values(args, kwargs))
            return lambda: finish()[0]
        return self._start_value_and_grad(*args, **kwargs) if method == "value_and_grad" else None

    def _row_axes(
        self, method: str, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> tuple[Sequence[str], dict[str, int]]:
        wrt = kwargs.get("wrt") if method == "_product" else ()
        args, components = args[: len(self.parameters)], [along_of(n) for n in wrt or ()]
        packing, _ = self._bound.packing(self._values(args, {n: v for n, v in kwargs.items() if n not in NOT_PARAMETERS})[0])
        self._bound.length(packing.shapes)
        by_row = [n for n, p in self._bound.parameters.items() if isinstance(p.leaf, PerRow)]
        return (*self.parameters, *components), dict.fromkeys([*by_row, *map(along_of, by_row), "terms", "clusters"], -1)

    def _recipe(self) -> Callable[..., Rows]:
        return functools.partial(_made, self._bound.function, taken_apart(self._bound.leaves)[1])

    def _held(self) -> dict[str, Value]:
        return taken_apart(self._bound.leaves)[0]

    def _piece(self, data: Mapping[str, Array | HostRows], runtime: Runtime) -> Rows:
        return _placed(self._bound.over({n: v if isinstance(v, Ragged) else np.asarray(v) for n, v in data.items()}), runtime)

    def _places(self) -> None:
        return None  # rows may lie in another order

    def _trial(self) -> tuple[Value, ...]:
        points = {a.name: example(a, 2) for a in self._bound.arguments}
        n_rows, found = min(TRIAL_ROWS, self.n_rows or 0), []
        for parameter in self._bound.parameters.values():
            point = np.ravel(points[next(iter(parameter.leaves))])[0]
            found.append(np.full(parameter.example_shape(n_rows, self._bound.example_length), point))
        return tuple(found)


#: Arguments of methods beside the parameters.
NOT_PARAMETERS = "wrt", "blocks", "clusters", "n_clusters", "starts", "layout", "matrix"


def rows_on(
    runtime: Runtime, function: GivenFunction, weights: Array | None, leaves: Mapping[str, Array | Leaf]
) -> Rows:
    """Model all of whose rows a device evaluates, whichever is the default."""
    return _placed(Binding(function, weights, leaves), runtime)


def _placed(bound: Binding, runtime: Runtime) -> Rows:
    model = Rows.__new__(Rows)
    model._bind(bound)
    model._own = OnDevice(bound, runtime)
    return model


def _made(
    function: GivenFunction, leaves: Mapping[str, Leaf], /, *, devices: Any = None, client: Any = None,
    memory: int | None = None, chunk: int | None = None, **data: Value,
) -> Rows:  # fmt: skip
    """Model of other rows, or of the same rows elsewhere."""
    given = put_together(leaves, data)
    return Rows(function, devices=devices, client=client, memory=memory, chunk=chunk, **given)
