"""What a program is worth: its tree is executed, with the meaning that C gives it, at one point after another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from . import tree
from .numbers import Arithmetic, Dual, Endless, Number, Undefined
from .tree import INT, REAL, VECTOR, Function, Program

CONSTANTS = {
    "PI": math.pi,
    "LOG_2PI": math.log(2 * math.pi),
    "HALF_LOG_2PI": math.log(2 * math.pi) / 2,
    "LOG_2": math.log(2),
    "LOG_PI": math.log(math.pi),
    "SQRT_2": math.sqrt(2),
    "SQRT_PI": math.sqrt(math.pi),
    "SQRT_2_OVER_PI": math.sqrt(2 / math.pi),
    "EULER_GAMMA": 0.57721566490153286061,
    "INFINITY": math.inf,
    "NAN": math.nan,
}
STEPS = 20_000  # that a run may take
REPLICATES = 7  # runs with noise: a tie that rounding decides goes the same way in all of them once in 128 times

Point = Mapping[str, Any]  #: the value of each argument: a number, or a sequence of them


class _Returned(Exception):
    pass


class Interpreter:
    """Runs one program once."""

    def __init__(self, program: Program, arithmetic: Arithmetic):
        self.functions = {f.name: f for f in program.functions}
        self.arithmetic, self.steps = arithmetic, 0

    def call(self, function: Function, arguments: list[Any], dim: int | None) -> Number:
        scope = {p.name: self.converted(a, p.type) for p, a in zip(function.parameters, arguments, strict=True)}
        if function.of_vectors:
            assert dim is not None
            scope["dim"] = dim
        before = getattr(self, "scopes", None), getattr(self, "type", None)
        self.scopes, self.type = [scope], function.type
        try:
            self.block(function.body)
        except _Returned as returned:
            return returned.args[0]
        finally:
            self.scopes, self.type = before
        raise Undefined("a function without a result")

    def converted(self, value: Any, type: str) -> Any:
        return self.arithmetic.real(value) if type == REAL else value

    # -- statements

    def block(self, statements: tuple) -> None:
        self.scopes.append({})
        try:
            for s in statements:
                self.statement(s)
        finally:
            self.scopes.pop()

    def statement(self, s: Any) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise Endless
        match s:
            case tree.Declare():
                self.scopes[-1][s.name] = None if s.value is None else self.converted(self.value(s.value), s.type)
            case tree.Assign():
                value = self.value(s.value)
                scope = self.scope_of(s.name)
                if s.operator:
                    value = self.arithmetic.binary(s.operator, scope[s.name], value)
                scope[s.name] = self.converted(value, s.type)
            case tree.If():
                self.block(s.then if self.holds(s.condition) else s.otherwise)
            case tree.For():
                self.scopes.append({s.name: self.value(s.start)})
                while self.holds(s.condition):
                    self.block(s.body)
                    self.statement(s.step)
                self.scopes.pop()
            case tree.While():
                while self.holds(s.condition):
                    self.block(s.body)
                    self.steps += 1
                    if self.steps > STEPS:
                        raise Endless
            case tree.Block():
                self.block(s.body)
            case tree.Return():
                raise _Returned(self.converted(self.value(s.value), self.type))

    def scope_of(self, name: str) -> dict[str, Any]:
        return next(scope for scope in reversed(self.scopes) if name in scope)

    # -- expressions

    def holds(self, condition: Any) -> bool:
        return self.arithmetic.truth(self.value(condition))

    def value(self, e: Any) -> Any:
        match e:
            case tree.Literal():
                return int(e.text) if e.type == INT else self.arithmetic.literal(e.text)
            case tree.Variable():
                if e.name in CONSTANTS:
                    return self.arithmetic.constant(CONSTANTS[e.name])
                return self.scope_of(e.name)[e.name]
            case tree.Element():
                vector = self.scope_of(e.vector)[e.vector]
                return vector[min(max(self.value(e.index), 0), len(vector) - 1)]
            case tree.Unary(operator="!"):
                return int(not self.holds(e.operand))
            case tree.Unary():
                return self.arithmetic.negative(self.value(e.operand))
            case tree.Binary(operator="&&"):
                return int(self.holds(e.left) and self.holds(e.right))
            case tree.Binary(operator="||"):
                return int(self.holds(e.left) or self.holds(e.right))
            case tree.Binary():
                return self.arithmetic.binary(e.operator, self.value(e.left), self.value(e.right))
            case tree.Conditional():
                return self.converted(self.value(e.then if self.holds(e.condition) else e.otherwise), e.type)
            case tree.Cast():
                value = self.value(e.operand)
                return self.arithmetic.cut(value) if e.type == INT else self.arithmetic.real(value)
            case tree.Call():
                arguments = [self.value(a) for a in e.arguments]
                if e.function not in self.functions:
                    return self.arithmetic.call(e.function, arguments)
                function = self.functions[e.function]
                return self.call(function, arguments, self.scope_of("dim")["dim"] if function.of_vectors else None)
        raise AssertionError(e)


# ---- a density at a point


@dataclass(frozen=True)
class Expected:
    """The log-density at one point.

    Attributes
    ----------
    value, tolerance : float
    slopes, slope_tolerances : dict
        Argument -> its derivatives, one for each element of a vector.
    decided, slopes_decided : bool
        Whether the value, and the derivatives, hang on nothing that rounding could turn.
    """

    value: float
    tolerance: float = 0.0
    slopes: Mapping[str, tuple[float, ...]] | None = None
    slope_tolerances: Mapping[str, tuple[float, ...]] | None = None
    decided: bool = True
    slopes_decided: bool = True


UNDECIDED = Expected(math.nan, decided=False, slopes_decided=False)

_INSIDE = {
    "positive": lambda v: v > 0,
    "nonnegative": lambda v: v >= 0,
    "unit": lambda v: 0 <= v <= 1,
    "integer": lambda v: v == math.floor(v),
}


def _lies_inside(parameter: tree.Parameter, value: Any) -> bool:
    values = value if parameter.type == VECTOR else [value]
    tests = [_INSIDE[word] for word in parameter.domain.split() if word in _INSIDE]
    return all(math.isfinite(v) and all(test(v) for test in tests) for v in values)


def expected(program: Program, point: Point, dtype: str = "float64", dim: int | None = None) -> Expected:
    """The log-density with the rules around it: nan for parameters outside their domains, -inf for such an observation.

    All arguments are finite, or nan. Raises `Endless` where the program does not end.
    """
    x, *parameters = program.density.parameters
    values = point[x.name] if x.type == VECTOR else [point[x.name]]
    if not all(_lies_inside(p, point[p.name]) for p in parameters) or any(map(math.isnan, values)):
        return Expected(math.nan, slopes_decided=False)
    if not _lies_inside(x, point[x.name]):
        return Expected(-math.inf, slopes_decided=False)
    try:
        runs = [_run(program, point, dtype, dim, Random(i) if i else None) for i in range(1 + REPLICATES)]
    except Endless:
        raise
    except Undefined:
        return UNDECIDED
    (result, arithmetic), *others = runs
    value = result.value
    if any(o.decisions != arithmetic.decisions for _, o in others) or any(a.out_of_range for _, a in runs):
        return UNDECIDED
    if any(math.isfinite(o.value) != math.isfinite(value) for o, _ in others):
        return UNDECIDED
    if not math.isfinite(value):
        return Expected(value, slopes_decided=False)
    floor = 64 * arithmetic.unit
    count = sum(len(point[p.name]) if p.type == VECTOR else 1 for p in program.density.parameters)
    slopes = [r.slopes or (0.0,) * count for r, _ in runs]
    spread = [max(abs(run[i] - slopes[0][i]) for run in slopes) * 4 + floor * abs(slopes[0][i]) for i in range(count)]
    smooth = not any(a.rough for _, a in runs) and all(map(math.isfinite, slopes[0] + tuple(spread)))
    tolerance = max(abs(o.value - value) for o, _ in others) * 4 + floor * abs(value)
    return Expected(
        value,
        tolerance,
        _by_argument(program, point, slopes[0]),
        _by_argument(program, point, tuple(spread)),
        True,
        smooth,
    )


def _by_argument(program: Program, point: Point, slopes: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    found, start = {}, 0
    for p in program.density.parameters:
        n = len(point[p.name]) if p.type == VECTOR else 1
        found[p.name], start = slopes[start : start + n], start + n
    return found


def _run(program: Program, point: Point, dtype: str, dim: int | None, noise: Random | None) -> tuple[Dual, Arithmetic]:
    arithmetic = Arithmetic(dtype, noise)
    directions = [(p.name, i) for p in program.density.parameters for i in range(_length(point[p.name]))]

    def seeded(name: str, i: int, value: float) -> Dual:
        return Dual(float(value), tuple(float((name, i) == d) for d in directions))

    arguments = []
    for p in program.density.parameters:
        given = point[p.name]
        arguments.append(
            [seeded(p.name, i, v) for i, v in enumerate(given)] if p.type == VECTOR else seeded(p.name, 0, given)
        )
    result = Interpreter(program, arithmetic).call(program.density, arguments, dim)
    assert isinstance(result, Dual)
    return result, arithmetic


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 1
