"""Covariance functions of Gaussian processes: device functions of what is seen of two points, their sums and products."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import DeviceFunctionError
from ..evaluation.arguments import elements_inside
from ..kernels.code import VALUE, KernelCode, Operand
from ..language.derived import resolve_in
from ..language.device_function import COVARIANCE_INPUTS, Argument, DeviceFunction, parse
from ..language.library import library
from ..rewriting.differentiate import derivative, derivative_name, gradient

if TYPE_CHECKING:
    from ..language.nodes import Function

#: The hyperparameter that may have a value for each column of the points, by which their coordinates are divided.
LENGTHSCALE = "lengthscale"
#: What `Covariance.kernel_source` shows.
COVARIANCE_SHAPES = ("covariance", "covariance_gradient", "local_design", "local_fit")


@dataclass(frozen=True)
class Input:
    """What a covariance function sees of two points.

    Attributes
    ----------
    name : str
        The function's parameter.
    kind : {"sqdist", "dot"}
        Their squared distance, or their scalar product.
    columns : tuple of int or None
        The columns of the points that count; all, if None.
    lengthscale : str
        The hyperparameter that scales the coordinates where it is a vector; "" where there is none.
    """

    name: str
    kind: str
    columns: tuple[int, ...] | None = None
    lengthscale: str = ""


class Covariance:
    """A covariance function k(x, x') made of device functions.

    Sums and products of covariance functions are covariance functions, too. Where both have a hyperparameter of the same name,
    `rename` one of them, or `fix` it at a number.

    Attributes
    ----------
    name, source, description : str
    parameters : tuple of str
        Names of the hyperparameters.
    domains : dict
        Hyperparameter -> domain.
    inputs : tuple of Input
        What the function sees of two points.
    function : Function
        Of the inputs, then the hyperparameters.

    Notes
    -----
    The lengthscale of a function of ``sqdist / lengthscale**2`` may be a vector with a value for each column of the points
    (automatic relevance determination): they are divided by it before their distance is taken. The same holds for ``dot``.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x = np.array([[0.0], [1.0], [3.0]])
    >>> gs.rbf(x, amplitude=1.0, lengthscale=2.0).round(4)
    array([[1.    , 0.8825, 0.3247],
           [0.8825, 1.    , 0.6065],
           [0.3247, 0.6065, 1.    ]])
    >>> seasonal = gs.rbf + gs.periodic.rename(amplitude="season", lengthscale="roughness").fix(period=1.0)
    >>> seasonal
    <gpustats.rbf + periodic(amplitude, lengthscale, season, roughness)>
    """

    def __init__(
        self, name: str, inputs: Sequence[Input], arguments: Sequence[Argument], expression: str,
        functions: Mapping[str, Function], definition: DeviceFunction | None = None,
    ):  # fmt: skip
        self.name, self.inputs, self.functions = name, tuple(inputs), dict(functions)
        self.expression = expression  # C, in which {name} stands for an input or a hyperparameter
        self.arguments, self._definition = tuple(arguments), definition
        self.parameters = tuple(a.name for a in arguments)
        self.domains = {a.name: a.domain for a in arguments}

    @classmethod
    def of(cls, definition: DeviceFunction) -> Covariance:
        """The covariance function of a source."""
        functions = library.closure(definition.functions.values())
        inputs = [a for a in definition.arguments if a.name in COVARIANCE_INPUTS]
        arguments = definition.arguments[len(inputs) :]
        scale = LENGTHSCALE if any(a.name == LENGTHSCALE for a in arguments) else ""
        given = ", ".join(f"{{{a.name}}}" for a in definition.arguments)
        return cls(
            definition.name, [Input(a.name, a.name, None, scale) for a in inputs], arguments, f"{definition.name}_cov({given})",
            functions, definition,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}({', '.join(self.parameters)})>"

    def __reduce__(self) -> Any:
        return _rebuilt, (self.name, self.inputs, self.arguments, self.expression, self.functions, self._definition)

    @property
    def description(self) -> str:
        return self._definition.description if self._definition else self.name

    @property
    def source(self) -> str:
        """The C text."""
        return self._parsed[0]

    @property
    def function(self) -> Function:
        return self._parsed[1]

    @functools.cached_property
    def _parsed(self) -> tuple[str, Function]:
        if self._definition is not None:
            function = self._definition.role("cov")
            assert function is not None
            return self._definition.source, function
        names = [*(i.name for i in self.inputs), *self.parameters]
        text = f"// {self.name}\n__device__ real composed({', '.join(f'real {n}' for n in names)})\n{{\n"
        text += f"    return {self.expression.format_map({n: n for n in names})};\n}}\n"
        (function,) = parse(text, resolve_in(self.functions), "composed").functions.values()
        return text, function

    # -- what users make of it

    def __add__(self, other: Covariance) -> Covariance:
        return self._joined(other, "{} + {}")

    def __mul__(self, other: Covariance) -> Covariance:
        return self._joined(other, "({}) * ({})")

    def _joined(self, other: Covariance, form: str) -> Covariance:
        if not isinstance(other, Covariance):
            raise TypeError(f"{self.name} can be added to and multiplied by covariance functions, not {type(other).__name__}")
        if both := [n for n in self.parameters if n in other.parameters]:
            raise ValueError(
                f"{self.name} and {other.name} both have a hyperparameter {both[0]!r}: name one of them anew, as in "
                f"cov.rename({both[0]}='{both[0]}_2'), or give it a value by cov.fix({both[0]}=1.0)"
            )
        sides: list[str] = []
        inputs: list[Input] = []
        for side in (self, other):
            names = {i.name: f"{i.kind}_{len(inputs) + k + 1}" for k, i in enumerate(side.inputs)}
            inputs += [replace(i, name=names[i.name]) for i in side.inputs]
            sides.append(side._written({n: f"{{{to}}}" for n, to in names.items()}))
        functions = {**self.functions, **other.functions}
        shown = [f"({c.name})" if " + " in c.name and "*" in form else c.name for c in (self, other)]
        name = form.replace("(", "").replace(")", "").format(*shown)
        return Covariance(name, inputs, self.arguments + other.arguments, form.format(*sides), functions)

    def _written(self, texts: Mapping[str, str]) -> str:
        """The expression with other texts in the places of some names."""
        names = [*(i.name for i in self.inputs), *self.parameters]
        return self.expression.format_map({n: f"{{{n}}}" for n in names} | dict(texts))

    def rename(self, **names: str) -> Covariance:
        """The same function with other names of hyperparameters: ``rename(lengthscale="trend")``."""
        self._know(names)
        for name in names.values():
            if not isinstance(name, str) or not name.isidentifier():
                raise ValueError(f"{name!r} cannot be the name of a hyperparameter")
        arguments = [replace(a, name=names.get(a.name, a.name)) for a in self.arguments]
        if len({a.name for a in arguments} | {i.name for i in self.inputs}) < len(arguments) + len(self.inputs):
            raise ValueError(
                f"two arguments of {self.name} would have the same name: {', '.join(a.name for a in arguments)}"
            )
        inputs = [replace(i, lengthscale=names.get(i.lengthscale, i.lengthscale)) for i in self.inputs]
        written = self._written({n: f"{{{to}}}" for n, to in names.items()})
        renamed = Covariance(self.name, inputs, arguments, written, self.functions)
        try:
            renamed.function  # noqa: B018  is parsed
        except DeviceFunctionError:
            listed = ", ".join(names.values())
            raise ValueError(f"a word of C cannot be the name of a hyperparameter: {listed}") from None
        return renamed

    def fix(self, **values: float) -> Covariance:
        """The same function with constants in the places of hyperparameters: ``fix(amplitude=1.0)``."""
        self._know(values)
        for name, value in values.items():
            check(self.arguments[self.parameters.index(name)], value)
        arguments = [a for a in self.arguments if a.name not in values]
        inputs = [replace(i, lengthscale="") if i.lengthscale in values else i for i in self.inputs]
        written = self._written({n: f"({float(v)!r})" for n, v in values.items()})
        return Covariance(self.name, inputs, arguments, written, self.functions)

    def on(self, *columns: int) -> Covariance:
        """The same function of some columns of the points: ``gs.rbf.on(0, 1) * gs.periodic.on(2)``."""
        if not columns or any(type(c) is not int or c < 0 for c in columns) or len(set(columns)) < len(columns):
            raise ValueError(f"columns must be different numbers from 0 on, not {columns}")
        if any(i.columns is not None for i in self.inputs):
            raise ValueError(f"the columns of {self.name} are chosen already")
        inputs = [replace(i, columns=columns) for i in self.inputs]
        return Covariance(self.name, inputs, self.arguments, self.expression, self.functions, self._definition)

    def derivative(self, wrt: str | None = None) -> Covariance:
        """The function's derivative in a hyperparameter or an input, by default the first: see `gpustats.transforms.Grad`."""
        wrt = self.inputs[0].name if wrt is None else wrt
        names = [*(i.name for i in self.inputs), *self.parameters]
        if wrt not in names:
            raise ValueError(f"wrt: {self.name} has no argument {wrt!r}; its arguments are {', '.join(names)}")
        functions = {**self.functions, self.function.name: self.function}
        made = derivative(self.function, self.function.parameters[names.index(wrt)].name, functions)
        expression = f"{made.name}({', '.join(f'{{{n}}}' for n in names)})"
        return Covariance(f"d({self.name})/d({wrt})", self.inputs, self.arguments, expression, functions)

    def _know(self, names: Mapping[str, Any]) -> None:
        for name in names:
            if name not in self.parameters:
                raise ValueError(
                    f"{self.name} has no hyperparameter {name!r}; its hyperparameters are {', '.join(self.parameters)}"
                )

    def __call__(self, x: Any, x2: Any = None, **hyperparameters: Any) -> Any:
        """The matrix of covariances.

        Parameters
        ----------
        x : (n, p) or (n,) array_like
            Points in rows; numbers are points of one column.
        x2 : (m, p) or (m,) array_like, optional
            By default x.
        **hyperparameters : float, or (p,) array_like for a lengthscale

        Returns
        -------
        (n, m) ndarray, or a device array where x is one
            float32 where x is, else float64.
        """
        from .matrix import covariance_matrix

        return covariance_matrix(self, x, x2, hyperparameters)

    def kernel_source(self, shape: str, dtype: str = "float64", dialect: str = "cuda") -> str:
        """The source of a kernel of this function, for points of 8 columns and a number for each hyperparameter.

        Parameters
        ----------
        shape : {"covariance", "covariance_gradient", "local_design", "local_fit"}
            The matrix of covariances with a number added to its diagonal; the sums that the derivatives of a marginal
            likelihood are made of; the search for a `LocalGP`'s designs, and its estimates and predictions.
        dtype : {"float64", "float32"}
            Local Gaussian processes are always computed in float64.
        dialect : {"cuda", "opencl"}
        """
        allowed_values = COVARIANCE_SHAPES, ("float64", "float32"), ("cuda", "opencl")
        for value, allowed in zip((shape, dtype, dialect), allowed_values, strict=True):
            if value not in allowed:
                raise ValueError(f"{value!r} is none of {', '.join(allowed)}")
        if shape.startswith("local"):
            from .local import design, fit
            from .local.correlation import Correlation

            return (design if shape == "local_design" else fit).kernel_source(Correlation(self), dialect)
        from .matrix import kernel_source

        return kernel_source(self, shape, dtype, dialect)

    # -- what kernels are made of

    def code(self, wrt: Sequence[str] = ()) -> tuple[KernelCode, dict[str, str]]:
        """The function for a kernel that has the inputs in variables seen0, seen1, …

        Hyperparameters are numbers for all points.

        Parameters
        ----------
        wrt : sequence of str
            Names of hyperparameters and inputs whose derivatives are among the results.

        Returns
        -------
        code : KernelCode
        results : dict
            The names of the derivatives among the results, by those in `wrt`.
        """
        names = [*(i.name for i in self.inputs), *self.parameters]
        internal = dict(zip(names, (p.name for p in self.function.parameters), strict=True))
        functions = {**self.functions, self.function.name: self.function}
        function = gradient(self.function, [internal[n] for n in wrt], functions) if wrt else self.function
        operands = [Operand(internal[n], VALUE) for n in self.parameters]
        seen = {internal[i.name]: f"seen{k}" for k, i in enumerate(self.inputs)}
        code = KernelCode(function, operands, functions.get, list(seen))
        code.at_hand = seen
        return code, {n: derivative_name(internal[n]) for n in wrt}


def _rebuilt(*parts: Any) -> Covariance:
    return Covariance(*parts)


def check(argument: Argument, value: Any) -> None:
    """ValueError where a number is outside the domain of a hyperparameter, or not finite."""
    if not (math.isfinite(value) and elements_inside(argument, value)):
        raise ValueError(f"{argument.name} is {value}: it must be {argument.domain}, and finite")


class Covariances(Mapping[str, Covariance]):
    """Every registered covariance function by its name; built-in ones are parsed when first asked for."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[DeviceFunction, Covariance]] = {}

    def __getitem__(self, name: str) -> Covariance:
        if not library.has(name, covariance=True):
            raise KeyError(name)
        definition = library.get(name)
        if name not in self._made or self._made[name][0] is not definition:
            self._made[name] = definition, Covariance.of(definition)
        return self._made[name][1]

    def __iter__(self) -> Iterator[str]:
        return library.names(covariances=True)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return library.has(name, covariance=True)

    def __repr__(self) -> str:
        return f"<gpustats covariance functions: {', '.join(self)}>"


covariances = Covariances()
