"""Parameters of distributions, from a user's call to PyTensor's variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pytensor
import pytensor.tensor as pt
from pymc.pytensorf import constant_fold
from pytensor.graph.basic import Constant, Variable

from ..compiler.evaluation.formula import Formula
from ..compiler.graph.types import TensorLike, TensorVariable
from ..density import Density
from ..elliptical.density import SCALES
from ..evaluation.arguments import match

V = TypeVar("V")

#: Keywords that PyMC takes itself, in `Distribution.dist` or in a call of the class.
RESERVED = frozenset(
    "name rng dims initval observed total_size transform default_transform shape size dtype return_next_rng".split()
)


def keyword_of(name: str) -> str:
    """Keyword of a parameter: its name, with an underscore where PyMC takes the name itself."""
    return f"{name}_" if name in RESERVED else name


def take_parameters(kwargs: dict[str, V]) -> dict[str, V]:
    """Remove the keywords that are not PyMC's own, and return them."""
    return {n: kwargs.pop(n) for n in list(kwargs) if n not in RESERVED}


def parameters_of(density: Density, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, Variable]:
    """Parameters of a density by the names that a call gives, of which a covariance matrix has several."""
    names: Sequence[str] = density.parameters
    if "cov" in names:
        scale = next((n for n in kwargs if n in SCALES), "cov")
        names = [scale if n == "cov" else n for n in names]
    values = match(density.name, names, args, kwargs, density.defaults, "parameters")
    return {n: as_parameter(v) for n, v in zip(names, values, strict=True)}


def as_parameter(value: TensorLike) -> TensorVariable:
    """Variable of a parameter.

    PyTensor makes a float16 of the constant 0.5, and would compute with that.
    """
    variable = pt.as_tensor_variable(value)
    if not isinstance(variable, Constant):
        return variable
    number = value.data if isinstance(value, Constant) else value
    return pt.constant(np.asarray(number, pytensor.config.floatX))


def as_float_constant(value: TensorLike) -> TensorVariable:
    """Constant array: float32 stays float32, all else becomes float64."""
    array = np.asarray(value)
    return pt.constant(array if array.dtype == np.float32 else array.astype(np.float64))


def sized_signature(formula: Formula, shape: Any) -> str:
    """Signature of a formula, with the length of observed vectors as a number where only `shape` tells it."""
    parameters, _, observation = formula.signature.partition("->")
    if "d" in parameters or observation == "()":
        return formula.signature
    try:
        (length,) = constant_fold([pt.as_tensor(shape).reshape((-1,))[-1]])
        return f"{parameters}->({int(length)})"
    except (ValueError, TypeError, NotImplementedError):
        raise ValueError(
            f"no parameter of {formula.name} tells the length of its vectors: pass shape=(…, length) with numbers"
        ) from None
