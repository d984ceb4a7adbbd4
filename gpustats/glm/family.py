"""Distribution of a GLM's observations: a density as a function of the linear predictor, with its derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ParamSpec

from ..density import Density
from ..distribution.given import check_density
from ..evaluation.pointwise import Pointwise
from ..kernels.code import KernelCode, Operand, callees_first
from ..kernels.separated import BOTH, ROW
from ..language.derived import resolve_in, with_argument
from ..language.device_function import Argument
from ..language.kinds import DENSITY
from ..language.library import library
from ..language.nodes import REAL, VECTOR, Function, Name, Parameter, Return
from ..rewriting.differentiate import derivative, derivative_name, gradient

P = ParamSpec("P")

#: Names in a GLM of its coefficients and its intercept.
COEFFICIENTS, INTERCEPT = "beta", "alpha"
#: Names in a GLM of its data.
OBSERVATIONS, DESIGN, OFFSET, WEIGHTS, GROUPS = "y", "X", "offset", "weights", "groups"
#: Densities of normal observations, and the parameter that is their mean.
NORMAL = {"normal": "mu", "normal_identity": "eta"}


def predictor_of(density: Density) -> str:
    """Name of the parameter that is a linear predictor unless a user says otherwise: ``eta``, or a location ``mu``."""
    check_density(density, "GLM.from_formula", "GLM.from_formula(formula, data, density)")
    arguments = {a.name: a for a in density.log_density.arguments}
    for name in ("eta", "mu"):
        if name in density.parameters and {"real", "vector"} & set(arguments[name].words):
            return name
    raise ValueError(
        f"no parameter of {density.name} can be any number for certain, as a linear predictor is: name one of "
        f"{', '.join(density.parameters)} by eta={_with_predictor(density)}"
    )


def knowing_formulas(init: Callable[P, None]) -> Callable[P, None]:
    """Method `__init__` of a GLM, with an error about formulas that says which other method takes them."""

    @functools.wraps(init)
    def advised(*args: P.args, **kwargs: P.kwargs) -> None:
        formula = next((v for v in (*args, *kwargs.values()) if isinstance(v, str) and "~" in v), None)
        if formula is not None:
            advice = f"gpustats.GLM.from_formula({formula!r}, data, density)"
            raise TypeError(f"GLM takes a density and arrays, and {formula!r} is a formula: {advice}")
        return init(*args, **kwargs)

    return advised


def _with_predictor(density: Density) -> str:
    """Advice of densities of the same kind that have a linear predictor, such as bernoulli_logit; "" where there is none."""
    names = [n for n in library.names(DENSITY) if n.startswith(f"{density.name}_")]
    found = [f"gpustats.{n}" for n in names if any(a.name == "eta" for a in library.get(n).arguments)]
    return f", or take {' or '.join(found)}" if found else ""


class Family:
    """The distribution of observations given their linear predictor.

    This is the parameter `eta` of a density of one number: a number, or a vector with an element for each outcome.
    """

    def __init__(self, density: Density, eta: str):
        check_density(density, "GLM", "GLM(density, y, X)")
        if type(density.log_density) is not Pointwise or density.log_density.arguments[0].rank:
            raise ValueError(f"{density.name} has vectors for observations: a GLM takes a density of numbers")
        if eta not in density.parameters:
            raise ValueError(
                f"{density.name} has no parameter {eta!r} for the linear predictor; its parameters are "
                f"{', '.join(density.parameters)}: name one of them by eta={_with_predictor(density)}"
            )
        self.density, self.eta = density, eta
        arguments = {a.name: a for a in density.log_density.arguments}
        self.vector = bool(arguments[eta].rank)  # whether the linear predictor is a vector
        self.normal = NORMAL.get(density.name) == eta  # whether observations are normal and the linear predictor is their mean
        self.parameters = tuple(n for n in density.parameters if n != eta)  # names of the density's other parameters
        self.ranks = {n: arguments[n].rank for n in self.parameters}  # number of axes of one value of each of these
        #: names of whole numbers, among these and the observations
        self.whole = {n for n in self.parameters if "integer" in arguments[n].words}
        if "integer" in density.log_density.arguments[0].words:
            self.whole.add(OBSERVATIONS)
        if taken := {COEFFICIENTS, INTERCEPT, OBSERVATIONS, DESIGN, WEIGHTS, "wrt", "rng"} & set(self.parameters):
            raise ValueError(
                f"{density.name} has a parameter called {taken.pop()!r}, as a GLM's own arguments are: rename it"
            )
        if self.vector and any(self.ranks.values()):
            raise ValueError(f"{density.name} has vectors beside {eta}, which is one itself: a GLM takes one or the other")
        self._terms: dict[bool, Pointwise] = {}

    def term(self, weighted: bool) -> Pointwise:
        """Log-density, if `weighted` times a weight, which is the last argument, a number for each row."""
        if weighted not in self._terms:
            inner = self.density.log_density
            if weighted:
                body = "    return weighted({argument}, {call});\n"
                made, weight = with_argument(inner.function, "times", "weight", body, resolve_in(inner.functions))
                functions = {**library.closure([made]), **inner.functions}
                inner = Pointwise(inner.name, made, [*inner.arguments, Argument(weight)], functions, inner.source)
            self._terms[weighted] = inner
        return self._terms[weighted]

    def names(self, weighted: bool) -> dict[str, str]:
        """Names in C of the arguments of `term`, by the names that a GLM has for them, without the linear predictor."""
        term = self.term(weighted)
        names = {n: c for n, c in zip(term.argument_names[1:], term.c_names[1:], strict=True) if n != self.eta}
        if weighted:
            names[WEIGHTS] = names.pop(term.argument_names[-1])
        return {OBSERVATIONS: term.c_names[0], **names}

    def codes(self, roles: Mapping[str, str], wrt: Sequence[str], slopes: bool) -> Codes:
        """Device functions that a kernel evaluates for a row and a set of parameters.

        `roles` are the routes to the kernel of the observations, the density's other parameters and, if there are any, the
        weights; `wrt` names scalar parameters, or "y"; `slopes` says whether the derivative in the linear predictor is wanted.
        """
        weighted = WEIGHTS in roles
        term, names = self.term(weighted), self.names(weighted)
        eta = term.c_names[term.argument_names.index(self.eta)]
        operands = [Operand(c, roles[n], self.ranks.get(n, 0)) for n, c in names.items()]
        functions = dict(term.functions)
        moving = [names[n] for n in wrt] + [eta] * (slopes and not self.vector)
        function = gradient(term.function, moving, functions) if moving else term.function
        computed = {eta: ROW, "component": BOTH} if self.vector else {eta: BOTH}
        at_hand = {eta: "eta", "component": "c"} if self.vector else {eta: "eta[0]"}
        made = [KernelCode(function, operands, functions.get, computed)]
        if slopes and self.vector:
            component = derivative(term.function, eta, functions)
            made.append(KernelCode(component, operands, functions.get, computed))
        for code in made:
            code.at_hand = dict(at_hand)
        space = {}
        if self.vector:  # it is in private memory, which has no name in OpenCL C 1.2
            called = [*functions.values(), *callees_first([function], functions.get)]
            space = {p.name: "" for f in called for p in f.parameters if p.type == VECTOR}
        derivatives = {n: derivative_name(names[n]) for n in wrt}
        return Codes(made, tuple(names), space, derivatives, derivative_name(eta))


@dataclass(frozen=True)
class Codes:
    """Device functions of a kernel."""

    #: the value with the derivatives; where the linear predictor is a vector, also the derivative in one of its elements
    codes: list[KernelCode]
    operands: tuple[str, ...]  # names in a GLM of their arguments but the linear predictor, in their order
    space: dict[str, str]  # address spaces of vectors
    derivatives: dict[str, str]  # names of derivatives among the results, by the arguments'
    slope: str = ""  # the name of the derivative in the linear predictor


def predictor_alone(vector: bool) -> Codes:
    """Device function that returns the linear predictor itself."""
    function = Function("linear_predictor", (Parameter("eta", REAL),), (Return(Name("eta", REAL)),))
    code = KernelCode(function, [], lambda name: None, ("eta",))
    code.at_hand = {"eta": "eta[0]"}
    return Codes([code], (), {}, {})
