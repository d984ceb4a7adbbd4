"""Device functions: parsing and checking the few lines of C that a user writes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from ..errors import DeviceFunctionError
from . import formula
from .domains import DOMAINS, domains_of, nearest, refusal
from .kinds import DISTRIBUTION_FUNCTIONS, NUMBERS, QUANTILES, Kind, distribution_name, endings, kinds
from .names import printed_names
from .nodes import OUTPUT, REAL, RNG, VECTOR, VOID, Function, Parameter, Resolve
from .outputs import without_outputs
from .recursion import deeply
from .syntax import COMMENT, deepest, fail, plain_text, syntax_tree
from .translate import Translator

_DEEP = 50_000  # calls


@dataclass(frozen=True)
class Argument:
    """Argument as the user sees it: an observation or a parameter."""

    name: str
    domain: str = "real"
    description: str = ""
    stated: bool = field(default=True, compare=False)  # whether a comment gives its domain

    @functools.cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.domain.split())

    @functools.cached_property
    def rank(self) -> int:
        """Number of trailing axes that belong to one value: 0 scalar, 1 vector, 2 matrix."""
        return max((domain.rank for domain in domains_of(self.words)), default=0)


@dataclass(frozen=True)
class DeviceFunction:
    """Parsed source: its functions, and the description of the arguments in its comment."""

    name: str  # name of the distribution: that of its functions without their ending, as `normal` for `normal_logpdf`
    source: str  # the text, as the user wrote it
    #: name as printed in a kernel -> parsed function, in the order of the text; without outputs by step
    functions: dict[str, Function] = field(repr=False)
    arguments: tuple[Argument, ...] = ()  # observation first, then the parameters in the order in which users pass them
    description: str = ""  # first line of the comment
    reference: str = ""  # its `source:` entry
    use: str = ""  # its `used for:` entry
    #: prefix of the names of its functions in kernels: `name`, unless functions of another source have names of its own then
    prefix: str = ""
    #: the functions of other sources that it calls, by the names under which it knows them
    others: dict[str, Function] = field(default_factory=dict, repr=False)
    formula: str = ""  # that the comment gives, as `formula.parse` takes it
    #: functions of sequences as they were written, by the names of those without their outputs by step
    with_outputs: dict[str, Function] = field(default_factory=dict, repr=False)
    outputs: tuple[Argument, ...] = ()  # by step, of the function that the arguments are those of

    def role(self, *endings: str) -> Function | None:
        """Function whose name ends in one of `endings`."""
        return next((f for e in endings if (f := self.functions.get(f"{self.prefix}_{e}"))), None)

    def written(self, function: Function) -> str:
        """Name of a function, as the user wrote it."""
        return self.name + function.name.removeprefix(self.prefix)

    def as_written(self, function: Function) -> Function:
        """Function of the source with its outputs by step, if it has any."""
        return self.with_outputs.get(function.name, function)

    @property
    def density(self) -> Function:
        function = self.role("logpdf", "logpmf")
        if function is None:
            raise DeviceFunctionError(f"{self.name} has no function named {self.name}_logpdf or {self.name}_logpmf")
        return function

    @property
    def discrete(self) -> bool:
        if self.role("logpdf", "logpmf") is None:  # a sampler alone
            return bool(self.arguments) and "integer" in self.arguments[0].words
        return self.role("logpmf") is not None

    @functools.cached_property
    def kind(self) -> Kind | None:
        """Kind of thing that the source defines; None where it holds only functions for others to call."""
        described = ((kind, self.role(*kind.endings)) for kind in kinds())
        return next((kind for kind, function in described if function is not None and kind.describes(function)), None)


def parse(
    source: str, resolve: Resolve = lambda name: None, name: str | None = None, taken: Callable[[str], bool] | None = None,
    shipped: bool = True,
) -> DeviceFunction:  # fmt: skip
    """Parse and check the source of a device function.

    It is one or several C functions and a comment that gives the domains; see CONTRIBUTING.md. `resolve` finds functions
    defined elsewhere, by their names; `name` is that of the distribution, where the functions' names do not tell it; `taken`
    says whether another function has a name in kernels; `shipped`, whether the source is gpustats' own. DeviceFunctionError
    with the line and column in `source` of what is wrong.
    """
    if not isinstance(source, str):
        raise TypeError(f"source must be a string of C, not {type(source).__name__}")
    source = plain_text(source)
    try:
        return deeply(lambda: _parsed(source, resolve, name, taken, shipped), _DEEP)
    except RecursionError:
        line, column = deepest(source)
        raise DeviceFunctionError("this is nested too deeply: make parts of it variables", line, column, source) from None


def parse_row_function(source: str, resolve: Resolve, taken: Callable[[str], bool]) -> tuple[DeviceFunction, Function]:
    """Parse the source of a function of a row: the last function in it, whatever its name.

    Parameters, errors
        As for `parse`.
    """
    if not isinstance(source, str):
        raise TypeError(f"source must be a string of C, not {type(source).__name__}")
    names = [node.decl.name for node in syntax_tree(plain_text(source)) if isinstance(node, c_ast.FuncDef)]
    if not names:
        raise DeviceFunctionError("there is no function of a row here", 1, 1, source)
    made = parse(source, resolve, names[-1], taken, shipped=False)
    function = list(made.functions.values())[-1]
    whole = made.as_written(function)
    if function.type != REAL or not function.parameters:
        fault = "takes no argument" if function.type == REAL else f"must return a `real`, not {function.type}"
        raise DeviceFunctionError(f"{names[-1]} {fault}", function.line, function.column, source)
    if stream := [p for p in function.parameters if p.type == RNG]:
        message = f"{names[-1]} draws random numbers: it may do so only for outputs by step, such as `real *drawn`"
        raise DeviceFunctionError(message, stream[0].line, stream[0].column, source)
    said = _comment(made.source, made.name)
    entries, known = said.entries, [p.written or p.name for p in whole.parameters]
    said.refuse_unknown(made.source, (), others=True)  # its comment may be prose
    for key, (_, _, line) in entries.items():
        if key not in known:
            message = f"the comment gives a domain for '{key}', which is not an argument of {names[-1]}({', '.join(known)})"
            raise DeviceFunctionError(message, line, 1, source)
    arguments = tuple(
        _argument(made.source, name, p.type, entries.get(name, ("", "", function.line)))
        for name, p in zip(known, whole.parameters, strict=True) if p.name != "dim" and p.type != RNG
    )  # fmt: skip
    return _with_arguments(made, function, arguments), function


def _parsed(
    source: str, resolve: Resolve, name: str | None, taken: Callable[[str], bool] | None, shipped: bool
) -> DeviceFunction:
    tree = syntax_tree(source)
    found = [node for node in tree if isinstance(node, c_ast.FuncDef)]
    name = name or distribution_name(source, [f.decl.name for f in found])
    printed = printed_names(name, [f.decl.name for f in found], endings(), taken)
    own: dict[str, Function] = {}  # by the names that the user gave them
    others: dict[str, Function] = {}
    names: dict[str, list[str]] = {}  # of the arguments, as the user wrote them
    with_outputs: dict[str, Function] = {}

    def known(called: str) -> Function | None:
        if called in own:
            return own[called]
        if (function := resolve(called)) is not None:
            others[called] = function
        return function

    for node in tree:
        if not isinstance(node, c_ast.FuncDef):
            fail(source, node, "only functions may stand at the top level")
        if node.decl.name in own:
            fail(source, node, f"function {node.decl.name} is defined twice")
        in_kernels = {function.name: function for function in own.values()}
        translator = Translator(source, printed[node.decl.name], known, lambda n: in_kernels.get(n) or resolve(n), shipped)  # noqa: B023
        function = translator.function(node)
        if function.type == REAL and any(p.type == OUTPUT for p in function.parameters):
            with_outputs[function.name] = function
            function = without_outputs(function, lambda at, message: fail(source, at, message))
        own |= {made.name: made for made in translator.made}
        own[node.decl.name] = function
        names[function.name] = list(translator.scopes[0])
    said = _comment(source, name)
    functions = {function.name: function for function in own.values()}
    made = DeviceFunction(
        name, source, functions, (), said.description, said.reference, said.use, printed[""], others, with_outputs=with_outputs
    )
    if not made.kind or not (defining := made.role(*made.kind.endings)):
        return made
    made = _with_arguments(made, defining, _arguments(made, names, said))
    return replace(made, formula=_formula(source, made.arguments, said.formula))


# ---- the comment

Entry = tuple[str, str, int]  # of an argument in the comment: its domain, its description, the line


@dataclass
class _Comment:
    """Contents of the comments before the first function: entries of the arguments, and lines of the formula."""

    description: str = ""
    reference: str = ""
    use: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)
    formula: list[tuple[str, int]] = field(default_factory=list)
    unknown: dict[str, tuple[list[str], int]] = field(default_factory=dict)  # what stands where a domain might, the line

    def refuse_unknown(self, source: str, arguments: Collection[str], others: bool = False) -> None:
        """Refuse unknown words in the place of an argument's domain; if `others`, near misses for other names, too."""
        for key, (words, line) in self.unknown.items():
            if key in arguments or (others and all(map(nearest, words))):
                word, message = refusal(words, key)
                text = source.split("\n")[line - 1]
                raise DeviceFunctionError(message, line, text.find(word, max(text.find(f"{key}:"), 0)) + 1, source)

    def add_formula(self, text: str, line: int) -> None:
        self.formula += [(part, line) for part in formula.in_lines(text)]


def _lines(comment: str) -> list[str]:
    """Lines of a comment, without the comment marks."""
    if comment.startswith("//"):
        return [comment.lstrip("/*").strip()]
    return [line.strip().lstrip("*").strip() for line in comment.removesuffix("*/").lstrip("/").split("\n")]


def _comment(source: str, name: str) -> _Comment:
    """Contents of the comments before the first function of the distribution `name`."""
    said = _Comment()
    for match in COMMENT.finditer(source):
        if "(" in COMMENT.sub("", source[: match.start()]):
            break  # comments inside and after the first function are the author's own
        line = source.count("\n", 0, match.start()) + 1
        for i, text in enumerate(_lines(match.group()), line):
            if said.formula and said.formula[-1][1] == i - 1 and formula.goes_on("\n".join(t for t, _ in said.formula), text):
                said.add_formula(text, i)
                continue
            for entry in re.split(r"\s{2,}(?=\w+:)", text):
                key, colon, rest = map(str.strip, entry.partition(":"))
                if key == "used for":
                    said.use = rest
                if not colon or not key.isidentifier():
                    continue
                domain, _, about = rest.partition(",")
                words = domain.split()
                if key == "source":
                    said.reference = rest
                elif words and set(words) <= DOMAINS.keys():
                    said.entries[key] = (" ".join(words), about.strip(), i)
                elif key in formula.FORMULA_KEYS and key != name:
                    said.add_formula(rest, i)
                elif key == name and not said.description:
                    said.description = rest
                elif words and key != "reference":
                    said.unknown[key] = words, i
                    said.description = said.description or rest
    return said


def _formula(source: str, arguments: tuple[Argument, ...], lines: list[tuple[str, int]]) -> str:
    """Text of the formula in the comment, checked against the arguments."""
    text = "\n".join(line for line, _ in lines)
    if lines:
        names = [a.name for a in arguments] + ["dim"] * any(a.rank for a in arguments)
        try:
            formula.parse(text, names)
        except formula.FormulaError as error:
            raise DeviceFunctionError(error.message, lines[error.line - 1][1], 1, source) from None
    return text


# ---- the arguments

def _arguments(made: DeviceFunction, names_of: dict[str, list[str]], said: _Comment) -> tuple[Argument, ...]:
    """Arguments as users pass them: those of the signature, with the domains that the comment gives.

    `made` is the source as parsed so far. `names_of` has the names of each function's arguments, as the user wrote them.
    """
    kind, entries = made.kind, said.entries
    assert kind is not None
    function, sampler = made.role(*kind.endings), made.role("sample")
    assert function is not None
    function = made.as_written(function)
    drawn = _drawn(made, sampler, names_of[sampler.name]) if sampler else {}
    if function is sampler:  # there are draws of it, but no density
        names, types = ["x", *drawn], {"x": VECTOR if sampler.type == VOID else REAL, **{n: p.type for n, p in drawn.items()}}
    else:
        names = names_of[function.name]
        types = dict(zip(names, (p.type for p in function.parameters), strict=True))
    if not names:
        raise DeviceFunctionError(f"{made.written(function)} takes no observation", function.line, function.column, made.source)
    said.refuse_unknown(made.source, names, bool(kind.public))
    for ending in ("logpdf", "logpmf", *DISTRIBUTION_FUNCTIONS, *QUANTILES, *NUMBERS, "cov", "loglik", "sample"):
        if (one := made.role(ending)) is not None and one.type not in (REAL, VOID):
            raise DeviceFunctionError(
                f"{made.written(one)} must return a `real`, not {one.type}", one.line, one.column, made.source
            )
    if kind.public:
        if sampler:
            _require_same(made, sampler, drawn, names[len(kind.inputs) :])
        return _of_comment(made, function, kind, entries)
    if kind.fault is not None and (fault := kind.fault(function)):
        raise DeviceFunctionError(fault, function.line, function.column, made.source)
    for ending in (*DISTRIBUTION_FUNCTIONS, *QUANTILES, *NUMBERS):
        if (other := made.role(ending)) is not None:
            _require_arguments(made, function, other, ending, names_of[other.name], names)
    if sampler:
        _require_same(made, sampler, drawn, names[1:])
        if (sampler.type == VOID) != (types[names[0]] == VECTOR):
            wanted = "write a vector, `real *`" if types[names[0]] == VECTOR else "return a number"
            raise DeviceFunctionError(
                f"{made.written(sampler)} must {wanted}, as {names[0]} of {made.written(function)} is",
                line=sampler.line, column=sampler.column, source=made.source,
            )  # fmt: skip
    for key, (_, _, line) in entries.items():
        if key not in names:
            raise DeviceFunctionError(
                f"the comment gives a domain for '{key}', which is not an argument of {made.written(function)}"
                f"({', '.join(names)})", line=line, column=1, source=made.source,
            )  # fmt: skip
    length = next((n for n, p in zip(names, function.parameters, strict=False) if p.name == "dim"), "dim")  # as it is written
    return tuple(
        _argument(made.source, n, types[n], entries.get(n, ("", "", function.line)))
        for n in names if n != length and types[n] != RNG
    )


def _with_arguments(made: DeviceFunction, function: Function, arguments: Sequence[Argument]) -> DeviceFunction:
    """Source with the arguments of its function, of which outputs by step are none."""
    parameters = made.with_outputs[function.name].parameters if function.name in made.with_outputs else ()
    outputs = [p.written for p in parameters if p.type == OUTPUT]
    of_user = tuple(a for a in arguments if a.name not in outputs)
    return replace(made, arguments=of_user, outputs=tuple(a for a in arguments if a.name in outputs))


def _require_arguments(
    made: DeviceFunction, function: Function, other: Function, ending: str, found: list[str], names: list[str]
) -> None:
    """Refuse a distribution function, a quantile or a number whose arguments do not fit the density's `names`."""
    message = f"{made.written(other)} must take the arguments of {made.written(function)}, ({', '.join(names)})"
    if ending in QUANTILES:
        message = f"{made.written(other)} must take a probability and the parameters of {made.written(function)}, "
        message += f"(q, {', '.join(names[1:])})"
        found, names = found[1:], names[1:] if found else [""]
    elif ending in NUMBERS:
        message = f"{made.written(other)} must take the parameters of {made.written(function)}, ({', '.join(names[1:])})"
        names = names[1:]
    if found != names:
        raise DeviceFunctionError(message, line=other.line, column=other.column, source=made.source)


def _of_comment(made: DeviceFunction, function: Function, kind: Kind, entries: dict[str, Entry]) -> tuple[Argument, ...]:
    """Arguments of a function whose own inputs are computed from them: all that the comment names, the observation first."""
    for needed in kind.public:
        if needed not in entries:
            raise DeviceFunctionError(
                f"the comment must give the domain of {needed} for a {(kind.base or kind).name} of {' and '.join(kind.inputs)}",
                line=function.line, source=made.source,
            )  # fmt: skip
    observation = kind.public[0]
    return tuple(Argument(n, *entries[n][:2]) for n in [observation, *(n for n in entries if n != observation)])


def _drawn(made: DeviceFunction, sampler: Function, names: list[str]) -> dict[str, Parameter]:
    """Parameters of the distribution that a sampler takes."""
    if not sampler.parameters or sampler.parameters[0].type != RNG:
        raise DeviceFunctionError(
            f"{made.written(sampler)} must take its stream first, `rng_t *rng`", sampler.line, sampler.column, made.source
        )
    own = zip(names, sampler.parameters, strict=True)
    return {n: p for n, p in own if p.type not in (RNG, OUTPUT) and n != "dim"}


def _require_same(made: DeviceFunction, sampler: Function, drawn: dict[str, Parameter], names: list[str]) -> None:
    """Refuse a sampler whose parameters are not those of the density, `names`."""
    wanted = [n for n in names if n != "dim"]
    if list(drawn) != wanted:
        raise DeviceFunctionError(
            f"{made.written(sampler)} must take the parameters ({', '.join(wanted)}) behind its stream, "
            f"not ({', '.join(drawn)})", sampler.line, sampler.column, made.source,
        )  # fmt: skip


def _argument(source: str, name: str, type: str, entry: Entry) -> Argument:
    """Argument of the signature, with the comment's domain and description."""
    domain, about, line = entry
    pointer = {VECTOR: "const real *", OUTPUT: "real *"}.get(type, "")
    argument = Argument(name, domain or ("vector" if pointer else "real"), about, bool(domain))
    if (argument.rank == 1) != bool(pointer):
        raise DeviceFunctionError(
            f"the comment calls {name} '{domain}', but the signature has it as {pointer or type}",
            line=line, column=1, source=source,
        )  # fmt: skip
    return argument
