"""Function with all functions that it calls written out in its own body, which returns at its end only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..language import nodes as lang
from ..language.names import UnusedNames
from ..language.nodes import Assign, Call, Declare, Expression, Function, If, Name, Resolve, Return, Statement

MOST_INLINED_CALLS = 50  # that are written out: helpers that each call the last one twice would double with each of them

_Leave = Callable[[Expression, dict[str, Expression]], list[Statement]]  # what a return becomes, given what names mean


class NotInlined(Exception):
    """Function that returns from a loop or in another way that its caller could not, or calls others many times."""


def inlined(function: Function, resolve: Resolve) -> Function:
    """Function without calls of functions that `resolve` finds, but where a condition decides whether they are called.

    NotInlined where inlining is impossible, or would be long.
    """
    return _Inliner(function, resolve).run()


class _Inliner:
    def __init__(self, function: Function, resolve: Resolve):
        self.function, self.resolve = function, resolve
        self.fresh = UnusedNames({p.name for p in function.parameters}, "")
        self.left = MOST_INLINED_CALLS
        self.structs: dict[str, dict[str, Expression]] = {}  # variable that is one -> its members

    def run(self) -> Function:
        f = self.function
        names: dict[str, Expression] = {p.name: Name(p.name, p.type) for p in f.parameters}
        body, returned = self.body(f, names)
        value = Call(f.maker, tuple(returned[r] for r in f.results), f.type) if f.results else returned[""]
        return replace(f, body=(*body, Return(value)))

    def variable(self, name: str, value: Expression, out: list[Statement], kind: str = lang.REAL) -> Name:
        """New variable of this value, declared in `out`."""
        made = Name(self.fresh(name), kind)
        out.append(Declare(kind, made.name, value))
        return made

    def body(self, f: Function, names: dict[str, Expression]) -> tuple[list[Statement], dict[str, Expression]]:
        """Statements of a function, and the expressions that it returns, by the names of its results."""
        results = f.results or ("",)
        if f.body and isinstance(f.body[-1], Return) and not any(map(_returns, f.body[:-1])):
            out = self.block(f.body[:-1], names, _nowhere)
            return out, self.returned(f, f.body[-1].value, names, out)
        kinds = dict.fromkeys(results, lang.REAL if f.results else f.type)
        variables = {r: Name(self.fresh(r or "value"), kinds[r]) for r in results}

        def leave(value: Expression, known: dict[str, Expression]) -> list[Statement]:
            out: list[Statement] = []
            given = self.returned(f, value, known, out)
            return [*out, *(Assign(v.name, v.type, given[r]) for r, v in variables.items())]

        declared: list[Statement] = [Declare(v.type, v.name, None) for v in variables.values()]
        return [*declared, *self.block(f.body, names, leave)], dict(variables)

    def returned(
        self, f: Function, value: Expression, names: dict[str, Expression], out: list[Statement]
    ) -> dict[str, Expression]:
        if not f.results:
            return {"": self.expression(value, names, out)}
        if isinstance(value, Call) and value.function == f.maker:
            return {r: self.expression(a, names, out) for r, a in zip(f.results, value.arguments, strict=True)}
        if isinstance(value, Call) and (members := self.call(value, names, out)) is not None:
            return members
        raise NotInlined

    def block(self, statements: Sequence[Statement], names: dict[str, Expression], leave: _Leave) -> list[Statement]:
        out: list[Statement] = []
        for i, s in enumerate(statements):
            rest = statements[i + 1 :]
            match s:
                case Return():
                    return out + leave(s.value, names)
                case If() if _returns(s):
                    if not (_always_returns(s.then) or _always_returns(s.otherwise)):
                        raise NotInlined
                    condition = self.expression(s.condition, names, out)
                    then = s.then if _always_returns(s.then) else (*s.then, *rest)
                    otherwise = s.otherwise if _always_returns(s.otherwise) else (*s.otherwise, *rest)
                    blocks = (tuple(self.block(b, names.copy(), leave)) for b in (then, otherwise))
                    return [*out, If(condition, *blocks, shipped=s.shipped)]
                case If():
                    condition = self.expression(s.condition, names, out)
                    blocks = (tuple(self.block(b, names.copy(), leave)) for b in (s.then, s.otherwise))
                    out.append(If(condition, *blocks, shipped=s.shipped))
                case Declare() if isinstance(s.value, Call) and s.type not in (lang.REAL, lang.INT):
                    members = self.call(s.value, names, out)
                    if members is None:
                        raise NotInlined
                    self.structs[s.name] = {r: self.variable(f"{s.name}_{r}", e, out) for r, e in members.items()}
                case Declare():
                    value = None if s.value is None else self.expression(s.value, names, out)
                    made = Name(self.fresh(s.name), s.type)
                    names[s.name] = made
                    out.append(Declare(s.type, made.name, value))
                case Assign():
                    value = self.expression(s.value, names, out)
                    target = names[s.name]
                    if not isinstance(target, Name):
                        raise NotInlined
                    out.append(Assign(target.name, s.type, value))
                case lang.Store():
                    out.append(lang.rebuild(s, lambda part: self.expression(part, names, out)))
                case lang.For() if not _returns(s):
                    inner = names.copy()
                    start = self.block([s.start] if s.start else [], inner, leave)
                    condition, step = self.renamed(s.condition, inner), self.block([s.step] if s.step else [], inner, leave)
                    if len(start) > 1 or len(step) > 1:
                        raise NotInlined
                    body = tuple(self.block(s.body, inner, leave))
                    first, next_turn = start[0] if start else None, step[0] if step else None
                    assert first is None or isinstance(first, (Declare, Assign))
                    assert next_turn is None or isinstance(next_turn, Assign)
                    out.append(replace(s, start=first, condition=condition, step=next_turn, body=body))
                case _:
                    raise NotInlined
        return out

    def renamed(self, e: Expression, names: dict[str, Expression]) -> Expression:
        """Expression `e` in the variables of the whole, with its calls."""
        match e:
            case Name():
                return names.get(e.name, e)
            case lang.Member(value=Name(name=name)) if name in self.structs:
                return self.structs[name][e.name]
        rebuilt: Expression = lang.rebuild(e, lambda part: self.renamed(part, names))
        return rebuilt

    def expression(self, e: Expression, names: dict[str, Expression], out: list[Statement]) -> Expression:
        """Expression `e` in the variables of the whole; the bodies of called functions go ahead, into `out`."""
        match e:
            case Name():
                return names.get(e.name, e)
            case lang.Conditional():
                condition = self.expression(e.condition, names, out)
                then, otherwise = self.renamed(e.then, names), self.renamed(e.otherwise, names)
                return replace(e, condition=condition, then=then, otherwise=otherwise)
            case lang.Binary(operator="&&" | "||"):
                return replace(e, left=self.expression(e.left, names, out), right=self.renamed(e.right, names))
            case lang.Member(value=Name(name=name)) if name in self.structs:
                return self.structs[name][e.name]
            case Call() if (members := self.call(e, names, out)) is not None:
                return members[""]
        rebuilt: Expression = lang.rebuild(e, lambda part: self.expression(part, names, out))
        return rebuilt

    def call(self, e: Call, names: dict[str, Expression], out: list[Statement]) -> dict[str, Expression] | None:
        """Results of a call, whose statements go into `out`; None where the function stays as it is."""
        callee = self.resolve(e.function)
        if callee is None:
            return None
        if not self.left:
            raise NotInlined
        self.left -= 1
        written = Counter(s.name for s in lang.written(*callee.body))
        given: dict[str, Expression] = {}
        for p, a in zip(callee.parameters, e.arguments, strict=True):
            argument = self.expression(a, names, out)
            if not isinstance(argument, Name) or argument.type != p.type or p.name in written:
                if p.type not in (lang.REAL, lang.INT):
                    raise NotInlined
                argument = self.variable(p.name, argument, out, p.type)
            given[p.name] = argument
        structs, self.structs = self.structs, {}
        statements, returned = self.body(callee, given)
        self.structs = structs
        out += statements
        return returned


def _nowhere(value: Expression, names: dict[str, Expression]) -> list[Statement]:
    raise NotInlined


def _returns(s: Statement) -> bool:
    return any(isinstance(n, Return) for n in lang.statements(s))


def _always_returns(statements: Sequence[Statement]) -> bool:
    if not statements:
        return False
    last = statements[-1]
    return isinstance(last, Return) or (
        isinstance(last, If) and _always_returns(last.then) and _always_returns(last.otherwise)
    )
