"""Algebra of covariance functions: sums, products, hyperparameters renamed or fixed, and the code of the result."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from ..display.html import Shown, code, table
from ..errors import DeviceFunctionError
from ..evaluation.arguments import elements_inside
from ..kernels.code import VALUE, KernelCode, Operand
from ..language.derived import resolve_in
from ..language.device_function import Argument, DeviceFunction, parse
from ..language.library import library
from ..language.nodes import Function
from ..rewriting.differentiate import derivative, derivative_name, gradient
from ..runtime.cached import cached_property
from .kind import INPUTS

#: The hyperparameter that may have a value for each column of the points, by which their coordinates are divided.
LENGTHSCALE = "lengthscale"


@dataclass(frozen=True)
class Input:
    """Distance or scalar product of two points, as a covariance function takes it."""

    name: str  # the function's parameter
    kind: str  # {"sqdist", "dot"}, their squared distance, or their scalar product
    columns: tuple[int, ...] | None = None  # the columns of the points that count; all, if None
    lengthscale: str = ""  # the hyperparameter that scales the coordinates where it is a vector; "" where there is none


class Expression(Shown):
    """Function of distances or scalar products of two points and of hyperparameters, composed of device functions.

    All that a covariance function is, but for its evaluation on a device: see `Covariance`.

    Parameters
    ----------
    inputs : sequence of Input
        Distances and scalar products of two points that the function takes.
    arguments : sequence of Argument
        Its hyperparameters.
    expression : str
        The function in C, where ``{name}`` stands for an input or a hyperparameter.
    functions : mapping
        Name -> function, of those that the expression calls, and those that they call.
    definition : DeviceFunction, optional
        The source that the function was read from, if it was not composed.
    """

    def __init__(
        self, name: str, inputs: Sequence[Input], arguments: Sequence[Argument], expression: str,
        functions: Mapping[str, Function], definition: DeviceFunction | None = None,
    ):  # fmt: skip
        self.name, self.inputs, self.functions = name, tuple(inputs), dict(functions)
        self.arguments, self.expression, self._definition = tuple(arguments), expression, definition
        self.parameters = tuple(a.name for a in arguments)
        self.domains = {a.name: a.domain for a in arguments}

    @classmethod
    def of(cls, definition: DeviceFunction) -> Self:
        """Covariance function of a source."""
        functions, function = library.closure(definition.functions.values()), definition.role("cov")
        assert function is not None
        inputs = [a for a in definition.arguments if a.name in INPUTS]
        arguments = definition.arguments[len(inputs) :]
        scale = LENGTHSCALE if any(a.name == LENGTHSCALE for a in arguments) else ""
        places = ", ".join(f"{{{a.name}}}" for a in definition.arguments)
        return cls(
            definition.name, [Input(a.name, a.name, None, scale) for a in inputs], arguments,
            f"{function.name}({places})", functions, definition,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}({', '.join(self.parameters)})>"

    def _title(self) -> str:
        return f"{self.name}: {self.description}" if self.description not in ("", self.name) else self.name

    def _facts(self) -> Mapping[str, object]:
        rows = [(a.name, a.domain, a.description) for a in self.arguments]
        return {
            "covariance": code(self.formula) if self.formula else "", "of": ", ".join(i.name for i in self.inputs),
            "hyperparameters": table(rows),
        }  # fmt: skip

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.inputs, self.arguments, self.expression, self.functions, self._definition)

    @property
    def description(self) -> str:
        return self._definition.description if self._definition else self.name

    @property
    def formula(self) -> str:
        """Formula in the comment of the source, in the notation that CONTRIBUTING.md explains, or ""."""
        return self._definition.formula if self._definition else ""

    @property
    def source(self) -> str:
        """C text of the function."""
        return self._parsed[0]

    @property
    def function(self) -> Function:
        return self._parsed[1]

    @property
    def _names(self) -> list[str]:
        """Names of the inputs, then of the hyperparameters: the arguments of `function`."""
        return [*(i.name for i in self.inputs), *self.parameters]

    @cached_property
    def _parsed(self) -> tuple[str, Function]:
        """C text, and the function that it defines."""
        if self._definition is not None:
            function = self._definition.role("cov")
            assert function is not None
            return self._definition.source, function
        text = f"({', '.join(f'real {n}' for n in self._names)})\n{{\n"
        text += f"    return {self.expression.format_map({n: n for n in self._names})};\n}}\n"
        name = f"composed_{hashlib.sha256(text.encode()).hexdigest()[:8]}"  # two may stand in one kernel
        text = f"// {self.name}\n__device__ real {name}{text}"
        (function,) = parse(text, resolve_in(self.functions), "composed").functions.values()
        return text, function

    # -- the algebra

    def __add__(self, other: Self) -> Self:
        return self._joined(other, "{} + {}")

    def __mul__(self, other: Self) -> Self:
        return self._joined(other, "({}) * ({})")

    def _joined(self, other: Self, form: str) -> Self:
        """Join two functions by a C expression: the inputs get new names, the hyperparameters keep theirs."""
        if not isinstance(other, Expression):
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
        if differing := [n for n, f in self.functions.items() if functions[n] != f]:
            raise ValueError(
                f"{self.name} and {other.name} have different functions {differing[0]}, as they were made in two processes: "
                "register one of them under another name"
            )
        shown = [f"({c.name})" if " + " in c.name and "*" in form else c.name for c in (self, other)]
        name = form.replace("(", "").replace(")", "").format(*shown)
        return type(self)(name, inputs, self.arguments + other.arguments, form.format(*sides), functions)

    def _written(self, texts: Mapping[str, str]) -> str:
        """Expression with other texts in the places of some names."""
        return self.expression.format_map({n: f"{{{n}}}" for n in self._names} | dict(texts))

    def rename(self, **names: str) -> Self:
        """Covariance function with other names of hyperparameters: ``rename(lengthscale="trend")``."""
        self._require_known(names)
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
        renamed = type(self)(self.name, inputs, arguments, written, self.functions)
        try:
            renamed.function  # noqa: B018  is parsed
        except DeviceFunctionError:
            listed = ", ".join(names.values())
            raise ValueError(f"a word of C cannot be the name of a hyperparameter: {listed}") from None
        return renamed

    def fix(self, **values: float) -> Self:
        """Covariance function with constants in the places of hyperparameters: ``fix(amplitude=1.0)``."""
        self._require_known(values)
        for name, value in values.items():
            require_inside(self.arguments[self.parameters.index(name)], value)
        arguments = [a for a in self.arguments if a.name not in values]
        inputs = [replace(i, lengthscale="") if i.lengthscale in values else i for i in self.inputs]
        written = self._written({n: f"({float(v)!r})" for n, v in values.items()})
        return type(self)(self.name, inputs, arguments, written, self.functions)

    def on(self, *columns: int) -> Self:
        """Covariance function of some columns of the points: ``gs.rbf.on(0, 1) * gs.periodic.on(2)``."""
        if not columns or any(type(c) is not int or c < 0 for c in columns) or len(set(columns)) < len(columns):
            raise ValueError(f"columns must be different numbers from 0 on, not {columns}")
        if any(i.columns is not None for i in self.inputs):
            raise ValueError(f"the columns of {self.name} are chosen already")
        inputs = [replace(i, columns=columns) for i in self.inputs]
        return type(self)(self.name, inputs, self.arguments, self.expression, self.functions, self._definition)

    def derivative(self, wrt: str | None = None) -> Self:
        """Derivative in a hyperparameter or an input, by default the first: see `gpustats.transforms.Grad`."""
        wrt, names = self.inputs[0].name if wrt is None else wrt, self._names
        if wrt not in names:
            raise ValueError(f"wrt: {self.name} has no argument {wrt!r}; its arguments are {', '.join(names)}")
        functions = {**self.functions, self.function.name: self.function}
        made = derivative(self.function, self.function.parameters[names.index(wrt)].name, functions)
        expression = f"{made.name}({', '.join(f'{{{n}}}' for n in names)})"
        return type(self)(f"d({self.name})/d({wrt})", self.inputs, self.arguments, expression, functions)

    def _require_known(self, names: Collection[str]) -> None:
        for name in names:
            if name not in self.parameters:
                raise ValueError(
                    f"{self.name} has no hyperparameter {name!r}; its hyperparameters are {', '.join(self.parameters)}"
                )

    # -- what kernels are made of

    def code(self, wrt: Sequence[str] = (), role: str = VALUE) -> tuple[KernelCode, dict[str, str]]:
        """Code of the function for a kernel that has the inputs in variables seen0, seen1, …

        Parameters
        ----------
        wrt : sequence of str
            Names of hyperparameters and inputs whose derivatives are among the results.
        role : str
            Route of the hyperparameters to the kernel: as numbers for all points, or for each set.

        Returns
        -------
        code : KernelCode
        results : dict
            The names of the derivatives among the results, by those in `wrt`.
        """
        internal = dict(zip(self._names, (p.name for p in self.function.parameters), strict=True))
        functions = {**self.functions, self.function.name: self.function}
        function = gradient(self.function, [internal[n] for n in wrt], functions) if wrt else self.function
        operands = [Operand(internal[n], role) for n in self.parameters]
        seen = {internal[i.name]: f"seen{k}" for k, i in enumerate(self.inputs)}
        code = KernelCode(function, operands, functions.get, list(seen))
        code.at_hand = seen
        return code, {n: derivative_name(internal[n]) for n in wrt}


def require_inside(argument: Argument, value: float) -> None:
    """Check of a hyperparameter's value: ValueError if it is outside the domain, or not finite."""
    if not (math.isfinite(value) and elements_inside(argument, value)):
        raise ValueError(f"{argument.name} is {value}: it must be {argument.domain}, and finite")
