"""Derivatives of device functions: functions in, functions out, in the same language.

`gradient` makes of a function another one that returns the value and its derivatives (see `forward_mode`). Functions that are
called are differentiated in turn; those of `derivative_rules` have their derivatives there. As the result is a device
function, it can be differentiated again.
"""

from __future__ import annotations

import functools
from collections.abc import MutableMapping, Sequence
from dataclasses import replace

from ..errors import DeviceFunctionError
from ..language import nodes as lang
from ..language.names import fresh_name, unlike_others
from ..language.nodes import INT, OUTPUT, REAL, VECTOR, Call, Declare, Expression, Function, Name, Number, Statement
from .derivative_rules import ONE, SPECIAL_PREFIX, ZERO, add, flat_at_infinity, multiply
from .forward_mode import VALUE, Differentiator, component_of, derivative_name, no_elements, results_of, steps_name
from .reverse_mode import CHECKPOINT, SWEEP, sweep
from .swept_values import NoSweep
from .turns import numbers_of_checkpoints

__all__ = [
    "CHECKPOINT", "VALUE", "curved", "derivative", "derivative_name", "directional", "expansion", "gradient",
    "numbers_of_checkpoints", "product_name", "steps_name", "swept",
]


def gradient(function: Function, wrt: Sequence[str], functions: MutableMapping[str, Function]) -> Function:
    """Function that returns the value and the derivatives of `function`.

    The function has one `real` result, or several: then all of them are differentiated. For a vector in `wrt` the result has
    another parameter ``int component``, last: the derivative is with respect to that element. The `results` are ``value`` and
    ``d_<parameter>``; derivatives of other results have names by `derivative_name`.

    `functions` are all that it calls, by their names; those that are made on the way are added. A function that is called
    ``<function>_grad_<parameter>``, takes the same parameters (and ``component``, for a vector) and returns a `real` is the
    derivative of ``<function>``, which then is not derived. If it takes a ``value``, last, it is given that of ``<function>``.
    """
    wrt = tuple(p.name for p in function.parameters if p.name in wrt)
    own = {w: g for w in wrt if (g := _own_derivative(function, w, functions))}
    name = f"{function.name}_grad_{'_'.join(wrt)}"
    while name in functions and functions[name].results != results_of(function, wrt):
        name += "_"  # parameters a_b and (a, b), or the name of the function's own derivative
    if name not in functions:
        if own:
            functions[name] = _with_own(function, wrt, own, name, functions)
        else:
            functions[name] = Differentiator(function, wrt, name, functions, gradient).run()
    return functions[name]


def swept_gradient(
    function: Function, wrt: Sequence[str], functions: MutableMapping[str, Function], checkpoints: bool = False
) -> Function:
    """Function as `gradient` makes it, but that loops over sequences are gone through forth and back: see `reverse_mode`.

    It takes tapes behind the parameters, if there is such a loop; else it is what `gradient` makes. With `checkpoints`, the
    tapes have few numbers: see `turns`.
    """
    inner = functools.partial(swept_gradient, checkpoints=checkpoints)
    wrt = tuple(p.name for p in function.parameters if p.name in wrt)
    if any(_own_derivative(function, w, functions) for w in wrt):
        return gradient(function, wrt, functions)
    try:
        return sweep(function, wrt, functions, inner, checkpoints)
    except NoSweep:
        for p in function.parameters:
            if p.type == VECTOR and p.name in wrt and _times_given(function, p.name) != 1:
                raise DeviceFunctionError(no_elements(function, p.name), function.line, function.column) from None
        trial = {**functions}
        name = f"{function.name}_with_sweeps_{'_'.join(wrt)}" + "_and_checkpoints" * checkpoints
        made = Differentiator(function, wrt, name, trial, inner, sweeps=True).run()
        if not any(p.type == OUTPUT for p in made.parameters):
            return gradient(function, wrt, functions)
        functions.update(trial)
        functions[made.name] = made
        return made


def _times_given(function: Function, vector: str) -> int:
    """Number of times that a function gives a vector of its own to others."""
    calls = [n for s in function.body for n in lang.walk(s) if isinstance(n, Call)]
    return sum(a == Name(vector, VECTOR) for call in calls for a in call.arguments)


def swept(
    function: Function, wrt: Sequence[str], functions: MutableMapping[str, Function], checkpoints: bool = False
) -> Function | None:
    """Gradient with sweeps, which stay whole in it, and tapes as parameters; None where there is nothing to sweep.

    With `checkpoints`, the names of tapes begin with `CHECKPOINT`, and these have `numbers_of_checkpoints`.
    Derivatives in the elements of vectors in `wrt` are stored in parameters by `steps_name`.
    """
    made = swept_gradient(function, wrt, functions, checkpoints)
    if not any(p.type == OUTPUT for p in made.parameters):
        return None
    known = Name(fresh_name("known", {p.name for p in made.parameters}), made.type)
    values: dict[str, Expression] = {r: lang.Member(known, r) for r in made.results}
    for p in function.parameters:
        if p.type == VECTOR and p.name in wrt:
            scaled, r = _scaled(functions), derivative_name(p.name)
            values[r] = Call(scaled.name, (values[r], Name(steps_name(p.name), OUTPUT), Name("dim", INT)))
    around = replace(made, name=f"{made.name}_around", type=f"{made.name}_around_results")
    body = Declare(made.type, known.name, _call(made)), lang.Return(Call(around.maker, tuple(values.values()), around.type))
    return replace(around, body=body)


def _scaled(functions: MutableMapping[str, Function]) -> Function:
    """Function that multiplies the numbers stored for the elements of a vector by a factor, which it returns."""
    name = f"scaled{SWEEP}steps"
    factor, steps, here, one = Name("factor", REAL), Name("steps", OUTPUT), Name("t", INT), Number("1", INT)
    product = lang.Conditional(lang.Binary("!=", factor, ZERO, INT), multiply(factor, lang.Index(steps, here)), ZERO, REAL)
    step = lang.Assign("t", INT, lang.Binary("+", here, one, INT))
    below = lang.Binary("<", here, Name("dim", INT), INT)
    loop = lang.For(Declare(INT, "t", Number("0", INT)), below, step, (lang.Store(steps, here, product),))
    body = lang.If(lang.Binary("!=", factor, ONE, INT), (loop,), ()), lang.Return(factor)
    parameters = lang.Parameter("factor", REAL), lang.Parameter("steps", OUTPUT), lang.Parameter("dim", INT)
    return functions.setdefault(name, Function(name, parameters, body))


def derivative(function: Function, wrt: str, functions: MutableMapping[str, Function]) -> Function:
    """Derivative of `function` with respect to one parameter, as a function with one result."""
    both = gradient(function, (wrt,), functions)
    name = f"{function.name}_d_{wrt}"
    results = Name("results", both.type)
    body: tuple[Statement, ...] = (
        Declare(both.type, "results", _call(both)), lang.Return(lang.Member(results, derivative_name(wrt)))
    )  # fmt: skip
    made = unlike_others(Function(name, both.parameters, body), functions.get)
    functions[made.name] = made
    return made


def directional(
    function: Function, wrt: Sequence[str], functions: MutableMapping[str, Function]
) -> tuple[Function, dict[str, str]]:
    """Derivative of `function` in a direction, whose components in some `real` parameters follow its parameters.

    With it comes a dict: parameter of `function` -> that of the component.
    """
    both, taken = gradient(function, wrt, functions), {p.name for p in function.parameters}
    along: dict[str, str] = {}
    for name in wrt:
        along[name] = fresh_name(f"{name}_along", taken)
        taken.add(along[name])
    results = Name(fresh_name("results", taken), both.type)
    value: Expression = Number("0", REAL)
    for name, component in along.items():
        value = add(value, multiply(lang.Member(results, derivative_name(name)), Name(component, REAL)))
    parameters = [*function.parameters, *(lang.Parameter(component, REAL) for component in along.values())]
    body: tuple[Statement, ...] = Declare(both.type, results.name, _call(both)), lang.Return(value)
    made = unlike_others(Function(f"{function.name}_along", tuple(parameters), body), functions.get)
    functions[made.name] = made
    return made, along


def curved(
    function: Function, wrt: Sequence[str], functions: MutableMapping[str, Function], stopped: bool = False
) -> tuple[Function, dict[tuple[str, str], str]]:
    """Sum of `function` and its second derivatives, each pair of `real` parameters in `wrt` with a weight.

    The weights follow its parameters. With it comes a dict: pair, in one of the two orders -> parameter of the weight.
    Derivatives in weights are the second derivatives; with `stopped`, those in other parameters are of `function` alone.
    """
    twice, taken = gradient(gradient(function, wrt, functions), wrt, functions), {p.name for p in function.parameters}
    wrt = [p.name for p in function.parameters if p.name in wrt]
    weights: dict[tuple[str, str], str] = {}
    for i, first in enumerate(wrt):
        for second in wrt[: i + 1]:
            weights[first, second] = fresh_name(f"{first}_{second}_weight", taken)
            taken.add(weights[first, second])
    results = Name(fresh_name("results", taken), twice.type)
    own: list[Expression] = [Name(p.name, p.type) for p in function.parameters]
    given = [Call("stop_gradient", (a,), REAL) if stopped and a.type == REAL else a for a in own]
    value: Expression = Call(function.name, tuple(own), function.type) if stopped else lang.Member(results, VALUE)
    for (first, second), weight in weights.items():
        second_derivative = lang.Member(results, derivative_name(second, derivative_name(first)))
        value = add(value, multiply(second_derivative, Name(weight, REAL)))
    parameters = [*function.parameters, *(lang.Parameter(weight, REAL) for weight in weights.values())]
    body: tuple[Statement, ...] = (
        Declare(twice.type, results.name, Call(twice.name, tuple(given), twice.type)), lang.Return(value)
    )  # fmt: skip
    made = unlike_others(Function(f"{function.name}_curved", tuple(parameters), body), functions.get)
    functions.update({function.name: function, made.name: made})
    return made, weights


def product_name(first: str, second: str) -> str:
    """Name of the product of the derivatives with respect to two parameters."""
    return f"{derivative_name(first)}_times_{derivative_name(second)}"


def expansion(function: Function, wrt: Sequence[str], functions: MutableMapping[str, Function], weight: str = "") -> Function:
    """Function that returns the value, the first and second derivatives, and the products of first ones.

    The function has one result, of numbers only. Of `functions`, all that it calls, those that are made on the way are added.
    `weight` is a name for one more parameter, by which all results are multiplied. The `results` are ``value``, ``d_<a>``,
    ``d_<a>_d_<b>`` and ``d_<a>_times_d_<b>``; the last two for b up to a in `wrt`.
    """
    twice = gradient(gradient(function, wrt, functions), wrt, functions)
    known = Name(fresh_name("known", {weight, *(p.name for p in function.parameters)}), twice.type)
    pairs = [(a, b) for i, a in enumerate(wrt) for b in wrt[: i + 1]]
    names = [VALUE, *map(derivative_name, wrt), *(derivative_name(b, derivative_name(a)) for a, b in pairs)]
    values: dict[str, Expression] = {name: lang.Member(known, name) for name in names}
    for a, b in pairs:
        values[product_name(a, b)] = multiply(values[derivative_name(a)], values[derivative_name(b)])
    parameters = function.parameters
    if weight:
        parameters += (lang.Parameter(weight, REAL),)
        times = SPECIAL_PREFIX + "weighted"
        values = {name: Call(times, (Name(weight, REAL), value)) for name, value in values.items()}
    name = f"{function.name}_expansion"
    made = Function(name, parameters, (), f"{name}_results", tuple(values))
    body = Declare(twice.type, known.name, _call(twice)), lang.Return(Call(made.maker, tuple(values.values()), made.type))
    return replace(made, body=body)


def _call(function: Function) -> Call:
    """Call of `function` by one with parameters of the same names."""
    return Call(function.name, tuple(Name(p.name, p.type) for p in function.parameters), function.type)


def _own_derivative(function: Function, wrt: str, functions: MutableMapping[str, Function]) -> Function | None:
    parameter = next(p for p in function.parameters if p.name == wrt)
    name = f"{function.name}_grad_{parameter.written or wrt}"
    found = functions.get(name)
    if found is None or found.results:
        return None
    wanted = [p.type for p in function.parameters]
    if parameter.type == VECTOR:
        wanted.append(INT)
    if _takes_value(found, function):
        wanted.append(REAL)
    taken = [w if (p.type, w) == (INT, REAL) else p.type for p, w in zip(found.parameters, wanted, strict=False)]
    if taken != wanted or len(found.parameters) != len(wanted) or found.type != REAL:
        extra = ", int component" if parameter.type == VECTOR else ""
        raise DeviceFunctionError(
            f"{found.name} must return a real and take what {function.name} takes: "
            f"({', '.join(p.name for p in function.parameters)}{extra})", found.line, found.column,
        )  # fmt: skip
    return found


def _takes_value(own: Function, function: Function) -> bool:
    """True if the function's own derivative takes the function's value, last."""
    last = own.parameters[-1]
    return last.type == REAL and (last.written or last.name) == VALUE and len(own.parameters) > len(function.parameters)


def _with_own(
    function: Function, wrt: tuple[str, ...], own: dict[str, Function], name: str, functions: MutableMapping[str, Function]
) -> Function:
    """Gradient where `own` functions give some of the derivatives."""
    rest = tuple(w for w in wrt if w not in own)
    parameters = function.parameters
    if any(p.type == VECTOR and p.name in wrt for p in parameters):
        parameters += (component_of(function),)
    values: dict[str, Expression] = {VALUE: _call(function)}
    body: list[Statement] = []
    if rest:
        derived = gradient(function, rest, functions)
        call = _call(replace(derived, parameters=parameters[: len(derived.parameters)]))
        body.append(Declare(derived.type, "derived", call))
        values = {r: lang.Member(Name("derived", derived.type), r) for r in derived.results}
    elif any(_takes_value(g, function) for g in own.values()):
        kept = fresh_name("found", {p.name for p in parameters})
        body.append(Declare(REAL, kept, values[VALUE]))
        values[VALUE] = Name(kept, REAL)
    for w, g in own.items():
        given: list[Expression] = [Name(p.name, p.type) for p in parameters]
        if _takes_value(g, function):
            given = [*given[: len(g.parameters) - 1], values[VALUE]]
        cast = (lang.Cast(INT, a) if (p.type, a.type) == (INT, REAL) else a for p, a in zip(g.parameters, given, strict=False))
        values[derivative_name(w)] = Call(g.name, tuple(cast), g.type)
    values = flat_at_infinity(function, values, VALUE)
    made = Function(name, parameters, (), f"{name}_results", results_of(function, wrt))
    body.append(lang.Return(Call(made.maker, tuple(values[r] for r in made.results), made.type)))
    return replace(made, body=tuple(body))
