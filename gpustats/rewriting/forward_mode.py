"""Forward-mode differentiation of one device function, from source to source.

Beside each variable the result carries the variable's derivative in each wanted direction, which is a parameter or, for a
vector, the element of it that the new parameter ``component`` names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import replace
from fractions import Fraction

from ..errors import DeviceFunctionError
from ..language import nodes as lang
from ..language.names import numbered_name
from ..language.nodes import INT, REAL, Binary, Call, Conditional, Declare, Expression, Function, Name, Statement
from . import derivative_rules as rules
from .activity import Activity
from .common_parts import common_parts
from .derivative_rules import ONE, RULES, ZERO, add, choose, is_number, multiply, negated, negative, subtract
from .termination import Termination

_TINY, _HUGE = Fraction(1, 10**300), 10**300  # within these a product of literals is a `real`
VALUE = "value"  # the name of the result that was there before
_STEPS = "d_steps_of_"


def derivative_name(parameter: str, result: str = VALUE) -> str:
    """Name of the derivative of `result` with respect to `parameter`."""
    return f"d_{parameter}" if result == VALUE else f"{result}_d_{parameter}"


def results_of(function: Function, wrt: Sequence[str]) -> tuple[str, ...]:
    """Names of the results of the gradient of `function`: first derivatives need not be taken again."""
    own = function.results or (VALUE,)
    return tuple(dict.fromkeys([*own, *(derivative_name(w, r) for r in own for w in wrt)]))


def steps_name(vector: str) -> str:
    """Name of the parameter where the derivatives in the elements of a vector are stored, in reverse sweeps."""
    return f"{_STEPS}{vector}"


def vector_of(name: str) -> str:
    """Vector for which `steps_name` gives a name, "" where it gives the name for none."""
    return name.removeprefix(_STEPS) if name.startswith(_STEPS) else ""


def no_elements(function: Function, vector: str) -> str:
    """Message for a function that takes derivatives in elements of a vector in a form that a reverse sweep is not for."""
    return (
        f"{function.name}: derivatives in the elements of {vector} need it in one function alone, outside of loops within the "
        "loop over the steps, and that no loop over them returns"
    )


def component_of(function: Function) -> lang.Parameter:
    names = {p.name for p in function.parameters} | {n.name for n in lang.written(function) if isinstance(n, Declare)}
    return lang.Parameter(numbered_name("component", names), INT)


class Differentiator:
    """Maker of the function `name`, which returns the results of `function` and their derivatives.

    The directions are `wrt`, names of its parameters, in their order. `functions` are all that it calls, and those that the
    rules bring in; ``gradient(function, wrt, functions)`` differentiates a function that is called. `sweeps`: elements of
    vectors have derivatives in functions that are called alone, which store them: see `reverse_mode`.
    """

    def __init__(
        self, function: Function, wrt: tuple[str, ...], name: str, functions: MutableMapping[str, Function],
        gradient: Callable[[Function, Sequence[str], MutableMapping[str, Function]], Function], sweeps: bool = False,
    ):  # fmt: skip
        self.function, self.wrt, self.functions, self.gradient = function, wrt, functions, gradient
        self.activity = Activity(function, wrt)
        self.termination = Termination(functions.get)
        written = lang.written(function)
        self.used = {p.name for p in function.parameters} | {n.name for n in written} | set(lang.called(function))
        self.parameters = function.parameters
        self.component = None
        if not sweeps and any(p.type == lang.VECTOR and p.name in wrt for p in function.parameters):
            self.component = component_of(function)
            self.used.add(self.component.name)
            self.parameters += (self.component,)
        self.tapes: list[str] = []  # what functions with reverse sweeps take, in which it is passed on
        self.made = Function(name, self.parameters, (), f"{name}_results", results_of(function, wrt))
        self.terms: dict[Expression, defaultdict[str, list[tuple[str, Expression]]]] = {}  # of sums: direction -> (sign, term)
        self.numbers: dict[str, int] = {}  # the last one given to names that begin in the same way
        self.out: list[Statement] = []
        self.known: dict[tuple[str, str], Expression] = {}  # derivatives that need no variable: (variable, direction)
        #: variables with several results: the gradient that returned them, and for each direction the arguments that vary
        self.structs: dict[str, tuple[Function, defaultdict[str, list[tuple[str, Expression]]]]] = {}

    # -- names

    def directions(self, variable: str) -> list[str]:
        """Directions in which a variable has a derivative, in their order."""
        active = self.activity.directions.get(variable, ())
        return [w for w in self.wrt if w in active]

    def fresh(self, prefix: str) -> str:
        """Unused name: `prefix`, or `prefix` with the next free number."""
        name, number = prefix, self.numbers.get(prefix, 1)
        while name in self.used:
            name, number = f"{prefix}{number + 1}", number + 1
        self.numbers[prefix] = number
        self.used.add(name)
        return name

    def variable(self, name: str, w: str) -> str:
        """Variable that holds the derivative of a variable."""
        key = (name, w)
        if key not in self.known:
            self.known[key] = Name(self.fresh(f"d_{w}_{name}"), REAL)
        known = self.known[key]
        assert isinstance(known, Name)
        return known.name

    # -- derivatives of expressions

    def d(self, e: Expression, w: str) -> Expression:
        """Derivative of `e`, in which `lifted` has been at work, in direction `w`."""
        if w not in self.activity.of(e):
            return ZERO
        match e:
            case Name():
                if e.name in self.activity.constant or e.name == "NAN":
                    return e
                if e.name == w and e.name in self.activity.stable:
                    return ONE
                return self.known.get((e.name, w)) or Name(self.variable(e.name, w), REAL)
            case lang.Index():
                if self.component is None:
                    raise DeviceFunctionError(no_elements(self.function, e.array.name), e.line, e.column)
                here = Binary("==", e.subscript, Name(self.component.name, INT), INT)
                return Conditional(here, ONE, ZERO, INT)
            case lang.Member():
                assert isinstance(e.value, Name)
                function, arguments = self.structs[e.value.name]
                total: Expression = ZERO
                for p, derivative in arguments[w]:
                    partial = lang.Member(Name(e.value.name, function.type), derivative_name(p, e.name))
                    total = add(total, multiply(partial, derivative))
                return total
            case Conditional():
                return choose(e.condition, self.d(e.then, w), self.d(e.otherwise, w))
            case lang.Cast():
                return self.d(e.operand, w)
            case lang.Unary():
                return negative(self.d(e.operand, w))
            case Binary(operator="*"):
                return self.d_product(e, w)
            case Binary(operator="+" | "-"):
                return self.d_sum(e, w)
            case Binary(operator="/") if (exponent := rules.logistic_exponent(e.right)) is not None:
                return self.by_rule("/ (1 + exp)", (e.left, e.right, exponent), w)
            case Binary():
                return self.by_rule(e.operator, (e.left, e.right), w)
            case Call():
                return self.by_rule(e.function.removeprefix(rules.SPECIAL_PREFIX), e.arguments, w)
        raise AssertionError(e)

    def d_sum(self, e: Binary, w: str) -> Expression:
        """Derivative of a sum in direction `w`, from the terms that depend on `w` only."""
        if e not in self.terms:
            found = self.terms[e] = defaultdict(list)
            for sign, part in rules.terms(e):
                for direction in self.activity.of(part):
                    found[direction].append((sign, part))
        total: Expression = ZERO
        for sign, part in self.terms[e][w]:
            total = (add if sign == "+" else subtract)(total, self.d(part, w))
        return total

    def d_product(self, e: Expression, w: str) -> Expression:
        """Derivative of a product with repeated factors: d(z z) is 2 z dz."""
        factors = rules.factors(e)
        total: Expression = ZERO
        for f in dict.fromkeys(factors):
            derivative = self.d(f, w)
            if is_number(derivative, 0):
                continue
            rest = factors.copy()
            rest.remove(f)
            number = Fraction(factors.count(f))
            for other in [r for r in rest if isinstance(r, lang.Number)]:
                product = number * Fraction(other.text)
                if product == 0 or _TINY < product < _HUGE:
                    rest.remove(other)
                    number = product
            whole = number.denominator == 1 and number < 1000
            term: Expression = lang.Number(str(number) if whole else repr(float(number)), INT if whole else REAL)
            for r in rest:
                term = multiply(term, r)
            total = add(total, multiply(term, derivative))
        return total

    def by_rule(self, name: str, arguments: Sequence[Expression], w: str) -> Expression:
        if name not in RULES:
            raise DeviceFunctionError(f"{self.function.name}: the derivative of {name} is not known", self.function.line)
        given = {}
        for letter, a in zip(rules.RULE_ARGUMENTS, arguments, strict=False):
            given[letter], given[f"d{letter}"] = a, self.d(a, w)
        rule, functions = rules.rule(name, tuple(INT if name == "ldexp" and i else REAL for i in range(len(arguments))))
        self.functions.update(functions)
        return rules.filled(rule, given)

    # -- calls that have to be made ahead of an expression

    def lifted(self, e: Expression) -> Expression:
        """Expression `e` with calls of functions without a rule replaced by the results of their gradients."""
        if not self.activity.of(e):
            return e
        match e:
            case Call() if self.differentiable(e):
                return lang.Member(self.called(e, self.fresh("call")), VALUE)
            case Conditional():
                before = self.out
                sides = []
                for side in (e.then, e.otherwise):
                    self.out = []
                    sides.append((self.lifted(side), self.out))
                self.out = before
                if not sides[0][1] and not sides[1][1]:
                    return Conditional(e.condition, sides[0][0], sides[1][0], e.type)
                return self.branch(e, sides)
        return lang.rebuild(e, self.lifted)

    def differentiable(self, e: Expression) -> bool:
        """True if `e` is a call of a function that has to be differentiated."""
        return (
            isinstance(e, Call) and e.function in self.functions
            and not (e.function.startswith(rules.SPECIAL_PREFIX) and e.function.removeprefix(rules.SPECIAL_PREFIX) in RULES)
        )  # fmt: skip

    def called(self, e: Call, name: str) -> Name:
        """Declare `name` as the results of the gradient of the called function."""
        callee = self.functions[e.function]
        arguments = [a if isinstance(a, Name) and a.type == lang.VECTOR else self.lifted(a) for a in e.arguments]
        wanted: dict[str, dict[str, Expression]] = {}
        vectors = False
        for parameter, a in zip(callee.parameters, arguments, strict=True):
            directions = self.activity.of(a)
            if directions and parameter.type != INT:
                if parameter.type == lang.VECTOR:
                    vectors = True
                    wanted[parameter.name] = {w: ONE for w in self.wrt if w in directions}
                else:
                    wanted[parameter.name] = {w: self.d(a, w) for w in self.wrt if w in directions}
        derived = self.gradient(callee, tuple(wanted), self.functions)
        pairs = [(p, w) for p, derivatives in wanted.items() for w in derivatives]
        shared = self.shared([*arguments, *(wanted[p][w] for p, w in pairs)])
        given_derivatives: defaultdict[str, list[tuple[str, Expression]]] = defaultdict(list)
        for (p, w), derivative in zip(pairs, shared[len(arguments) :], strict=True):
            if not is_number(kept := self.kept(derivative, f"d_{w}_{p}"), 0):
                given_derivatives[w].append((p, kept))
        given = tuple(shared[: len(arguments)])
        if vectors and self.component is not None:
            given += (Name(self.component.name, INT),)
        passed = {p.name: a.name for p, a in zip(callee.parameters, arguments, strict=True) if isinstance(a, Name)}
        own = [p.name for p in derived.parameters if p.type == lang.OUTPUT]
        own = [steps_name(passed[vector]) if (vector := vector_of(name)) in passed else name for name in own]
        self.tapes += [tape for tape in own if tape not in self.tapes]
        given += tuple(Name(tape, lang.OUTPUT) for tape in own)
        self.out.append(Declare(derived.type, name, Call(derived.name, given, derived.type)))
        self.structs[name] = (derived, given_derivatives)
        self.activity.add(name, given_derivatives)
        return Name(name, derived.type)

    def kept(self, e: Expression, prefix: str) -> Expression:
        """Expression `e`, in a variable of its own unless it can be repeated anywhere at no cost."""
        plain = negated(e) or e
        if isinstance(plain, lang.Number):
            return e
        if isinstance(plain, Name) and (plain.name in self.activity.stable or plain.name in lang.CONSTANTS):
            return e
        name = self.fresh(prefix)
        self.activity.stable.add(name)
        self.out.append(Declare(REAL, name, e))
        return Name(name, REAL)

    def branch(self, e: Conditional, sides: Sequence[tuple[Expression, list[Statement]]]) -> Expression:
        """Conditional whose sides need statements of their own."""
        name, directions = self.fresh("either"), self.activity.of(e)
        self.activity.add(name, directions)
        variables = [(name, None), *((self.variable(name, w), w) for w in self.wrt if w in directions)]
        self.out += [Declare(REAL, variable, None) for variable, _ in variables]
        before, blocks = self.out, []
        for value, statements in sides:
            self.out = statements
            values = self.shared([value if w is None else self.d(value, w) for _, w in variables])
            self.out += [lang.Assign(v, REAL, x) for (v, _), x in zip(variables, values, strict=True)]
            blocks.append(tuple(self.out))
        self.out = before
        self.out.append(lang.If(e.condition, *blocks, shipped=False))
        return Name(name, REAL)

    def shared(self, expressions: Sequence[Expression]) -> list[Expression]:
        """Expressions with their common parts in variables of their own."""
        declarations, rewritten = common_parts(expressions, self.fresh, self.termination)
        self.activity.stable.update(d.name for d in declarations)
        self.out += declarations
        return rewritten

    # -- statements

    def run(self) -> Function:
        for p in self.function.parameters:
            if p.name not in self.activity.stable:
                for w in self.directions(p.name):
                    self.out.append(Declare(REAL, self.variable(p.name, w), ONE if p.name == w else ZERO))
        self.block(self.function.body)
        tapes = tuple(lang.Parameter(tape, lang.OUTPUT) for tape in self.tapes)
        return replace(self.made, parameters=(*self.parameters, *tapes), body=tuple(self.out))

    def block(self, statements: Sequence[Statement]) -> None:
        for s in statements:
            self.statement(s)

    def inner(self, statements: Sequence[Statement]) -> tuple[Statement, ...]:
        """Statements of a block of its own."""
        before, self.out = self.out, []
        self.block(statements)
        made, self.out = tuple(self.out), before
        return made

    def statement(self, s: Statement) -> None:
        match s:
            case Declare() if s.value is not None and s.type not in (REAL, INT):
                assert isinstance(s.value, Call)
                if self.activity.of(s.value):
                    self.called(s.value, s.name)
                else:
                    self.out.append(s)
            case Declare(value=None):
                self.out.append(s)
                if s.type == REAL and s.name not in self.activity.constant:
                    self.out += [Declare(REAL, self.variable(s.name, w), None) for w in self.directions(s.name)]
            case Declare() | lang.Assign():
                self.write(s)
            case lang.If():
                then = self.inner(s.then)
                self.out.append(replace(s, then=then, otherwise=self.inner(s.otherwise)))
            case lang.For():
                self.loop(s)
            case lang.Return():
                self.out.append(self.results(s.value))

    def write(self, s: Declare | lang.Assign) -> None:
        """Add an assignment and, before it, those of the variable's derivatives, which may need the old value."""
        assert s.value is not None
        directions = self.directions(s.name)
        if s.type == INT or s.name in self.activity.constant or not directions:
            self.out.append(s)
            return
        value = self.lifted(s.value)
        own = ("+", Name(s.name, s.type))
        if isinstance(s, lang.Assign) and own in (terms := rules.terms(value)):  # its other derivatives stay what they are
            terms.remove(own)
            active = frozenset[str]().union(*(self.activity.of(term) for _, term in terms))
            directions = [w for w in directions if w in active]
        *derivatives, value = self.shared([*(self.d(value, w) for w in directions), value])
        is_new = isinstance(s, Declare)
        for w, derivative in zip(directions, derivatives, strict=True):
            if is_new and s.name in self.activity.stable:
                self.known[s.name, w] = self.kept(derivative, f"d_{w}_{s.name}")
            elif is_new:
                self.out.append(Declare(REAL, self.variable(s.name, w), derivative))
            else:
                self.out.append(lang.Assign(self.variable(s.name, w), REAL, derivative))
        self.out.append(replace(s, value=value))

    def loop(self, s: lang.For) -> None:
        for part in (s.start, s.step):
            if part is not None and part.type == REAL and (directions := self.directions(part.name)):
                raise DeviceFunctionError(
                    f"{self.function.name}: the loop variable {part.name} depends on {', '.join(directions)}: "
                    "count with an int, so that the derivative can be taken", s.line, s.column,
                )  # fmt: skip
        self.out.append(replace(s, body=self.inner(s.body)))

    def results(self, value: Expression) -> lang.Return:
        """Return statement of a value, or of several, and of all derivatives."""
        own = self.function.results or (VALUE,)
        values = value.arguments if self.function.results and isinstance(value, Call) else (value,)
        results = {r: self.lifted(v) for r, v in zip(own, values, strict=True)}
        for r in own:
            for w in self.wrt:
                if (name := derivative_name(w, r)) not in results:
                    results[name] = self.d(results[r], w)
        shared = dict(zip(results, self.shared(list(results.values())), strict=True))
        returned = rules.flat_at_infinity(self.function, shared, VALUE)
        return lang.Return(Call(self.made.maker, tuple(returned.values()), self.made.type))
