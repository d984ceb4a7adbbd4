"""Functions that reverse sweeps go through, as values that never change."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import replace

from ..language import nodes as lang
from ..language.names import UnusedNames, numbered_name
from ..language.nodes import INT, REAL, VECTOR, Assign, Declare, Expression, For, Function, If, Name, Return, Statement
from .activity import Activity
from .forward_mode import steps_name
from .outlined import outlined
from .swept_items import Branch, Inner, Item, Let, Loop
from .turns import Turns


class NoSweep(Exception):
    """Function that a reverse sweep is not for."""


class Values:
    """Values of the variables of a function, each with a name of its own.

    Parameters
    ----------
    function : Function
    wrt : tuple of str
        Parameters in which it is differentiated.
    functions : dict
        All functions that it calls, by their names; those that its loops become are added.

    Attributes
    ----------
    types, origin : dict
        Variable -> its type, and the variable of the function that it is a value of.
    vectors : dict
        Vector with derivatives in its elements -> where these are stored.
    """

    def __init__(self, function: Function, wrt: tuple[str, ...], functions: MutableMapping[str, Function]):
        self.function, self.wrt, self.functions = function, wrt, functions
        self.activity = Activity(function, wrt)
        self.fresh = UnusedNames.within(function)
        self.types = {p.name: p.type for p in function.parameters}
        self.origin = {p.name: p.name for p in function.parameters}
        self.vectors = {p.name: steps_name(p.name) for p in function.parameters if p.type == VECTOR and p.name in wrt}

    def let(self, prefix: str, type: str, value: Expression, origin: str) -> Let:
        made = Let(self.fresh(prefix), type, value)
        self.types[made.name], self.origin[made.name] = type, origin
        return made

    def items(
        self, body: Sequence[Statement], names: dict[str, str], in_loop: bool = False
    ) -> tuple[list[Item], dict[str, str]]:
        """Items of statements, and what the names of variables stand for behind them; `names` is that before them."""
        found: list[Item] = []
        names = dict(names)
        for s in body:
            match s:
                case Declare(value=None):
                    self.types[s.name] = s.type
                    names.pop(s.name, None)
                case Declare(type="real" | "int") | Assign():
                    self.types.setdefault(s.name, s.type)
                    value = renamed(s.value, names)
                    made = self.let(s.name, s.type, self.with_elements(value, found) if s.type == REAL else value, s.name)
                    names[s.name] = made.name
                    found.append(made)
                case If():
                    found.append(self.branch(s, names, in_loop))
                case For():
                    turns = None if in_loop else Turns.of(s)
                    found.append(self.inner(s, names) if turns is None else self.loop(s, turns, names))
                case _:
                    raise NoSweep
        return found, names

    def with_elements(self, e: Expression, items: list[Item]) -> Expression:
        """Expression with variables in the place of the elements in which there are derivatives; `items` gets these."""
        match e:
            case lang.Index() if e.array.name in self.vectors:
                known = (i.name for i in items if isinstance(i, Let) and i.value == e)
                if (name := next(known, None)) is None:
                    made = self.let(f"{e.array.name}_element", REAL, e, "")
                    name = self.origin[made.name] = made.name
                    self.activity.add(name, {e.array.name})
                    items.append(made)
                return Name(name, REAL)
            case Name() if e.name in self.vectors:  # given to a function
                raise NoSweep
        return lang.rebuild(e, lambda part: self.with_elements(part, items))

    def branch(self, s: If, names: dict[str, str], in_loop: bool) -> Branch:
        made = Branch(renamed(s.condition, names), [], [])
        made.then, then = self.items(s.then, names, in_loop)
        made.otherwise, otherwise = self.items(s.otherwise, names, in_loop)
        outer = {n.name for n in lang.walk(s) if isinstance(n, Assign)}
        inner = {n.name for n in lang.walk(s) if isinstance(n, Declare)}
        for name in sorted(outer - inner):
            if name not in then or name not in otherwise:
                continue  # it has no value on one side, and is not read behind
            joined = self.fresh(name)
            self.types[joined], self.origin[joined] = self.types[name], name
            made.joined.append((joined, self.types[name], then[name], otherwise[name]))
            names[name] = joined
        return made

    def inner(self, s: For, names: dict[str, str]) -> Inner:
        """Loop that is not over elements, or stands in such a loop, as a function that is differentiated forward."""
        nodes = list(lang.walk(s))
        if any(isinstance(n, Return) or (isinstance(n, Name) and n.name in self.vectors) for n in nodes):
            raise NoSweep
        for n in nodes:
            if isinstance(n, Declare):
                self.types.setdefault(n.name, n.type)
        name = numbered_name(f"{self.function.name}_loop", self.functions, "_")
        function, arguments, results = outlined(s, names, self.types, name)
        self.functions[name] = function
        given = [Name(names[n], self.types[n]) for n in arguments]
        made = Inner(function, given, self.fresh("loop"), [])
        for variable, own in results.items():
            output = names[variable] = self.fresh(variable)
            self.types[output], self.origin[output] = self.types[variable], variable
            made.outputs.append((Name(output, self.types[variable]), own))
        return made

    def loop(self, s: For, turns: Turns, names: dict[str, str]) -> Loop:
        self.types[turns.here.name] = INT
        assigned = {n.name for part in s.body for n in lang.walk(part) if isinstance(n, Assign)}
        kept = sorted(name for name in assigned if name in names)
        inside, states = dict(names), []
        inside[turns.here.name] = turns.here.name
        for name in kept:
            state = self.fresh(name)
            self.types[state], self.origin[state] = self.types[name], name
            states.append((state, names[name]))
            inside[name] = state
        items, after = self.items(s.body, inside, in_loop=True)
        made = Loop(s, turns, items, [(state, first, after[n]) for n, (state, first) in zip(kept, states, strict=True)])
        for name, (state, _) in zip(kept, states, strict=True):
            names[name] = state
        return made


def renamed(e: Expression | None, names: dict[str, str]) -> Expression:
    """Expression with the values that names stand for."""
    assert e is not None

    def rename(node: Expression) -> Expression:
        if isinstance(node, Name):
            return replace(node, name=names.get(node.name, node.name))
        return lang.rebuild(node, rename)

    return rename(e)
