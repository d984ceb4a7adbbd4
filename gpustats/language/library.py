"""Library of device functions: the built-in files, parsed when first needed, and sources that users register."""

from __future__ import annotations

import functools
import itertools
import re
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..display import html
from ..errors import DeviceFunctionError
from ..names.near import did_you_mean
from . import nodes as lang
from .kinds import DENSITY, Kind, endings, kinds
from .special import SPECIAL, Entry, entries, folder

if TYPE_CHECKING:  # the parser is imported when first needed: importing it costs more than the rest of gpustats
    from .device_function import DeviceFunction

MOST_NESTED_CALLS = 40  # within one another: kernels are made function by function, each within the one that calls it


#: Headings of a list of densities, by words of the domain of what they are of; the first that fits counts.
VALUES = {
    "vectors": {"vector", "simplex", "ordered", "covariance"}, "whole numbers": {"integer"}, "the unit interval": {"unit"},
    "positive numbers": {"positive", "nonnegative"}, "real numbers": set[str](),
}  # fmt: skip
_OBSERVATION = re.compile(r"^//\s*x:\s*([a-z ]+)", re.MULTILINE)  # in the comments that gpustats ships


class Library:
    """Parsed sources by the name of their distribution."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._parsed: dict[str, DeviceFunction] = {}  # what a name stands for now
        self._built_in: dict[str, DeviceFunction] = {}  # what gpustats ships, also where a user has replaced it
        self._registered: dict[str, DeviceFunction] = {}  # by their texts
        # Of all sources there ever were, by their names in kernels, of which no two have one: those shipped, those registered.
        self._built_in_functions: dict[str, lang.Function] = {}
        self._functions: dict[str, lang.Function] = {}
        self._calls: dict[str, int] = {}  # of users' functions: how many calls they make within one another
        self._loading: list[str] = []

    @functools.cached_property
    def special(self) -> dict[str, Entry]:
        """The entries of the special functions, by their names."""
        found: dict[str, Entry] = {}
        for path in sorted((folder() / SPECIAL).glob("*.cu")):
            for entry in entries(path):
                if entry.name in found:
                    raise DeviceFunctionError(f"{entry.name} is defined in {found[entry.name].path.name} and in {path.name}")
                found[entry.name] = entry
        return found

    @functools.cached_property
    def _shipped(self) -> dict[str, tuple[Path, Kind]]:
        """The files that gpustats ships, and the kinds of what they define, by its names."""
        found: dict[str, tuple[Path, Kind]] = {}
        for path in folder().glob("*.cu"):
            kind = next((k for k in kinds() if k.file_ending and path.stem.endswith(k.file_ending)), DENSITY)
            found[path.stem.removesuffix(kind.file_ending)] = path, kind
        return found

    def built_in(self, kind: Kind) -> set[str]:
        """Names of the densities, or of the things of another kind, that gpustats ships."""
        return {name for name, (_, its_kind) in self._shipped.items() if kind.includes(its_kind)}

    def names(self, kind: Kind) -> list[str]:
        """Names of all things of a kind, in alphabetical order."""
        return [name for name in sorted({*self._shipped, *self._parsed}) if self.has(name, kind)]

    def has(self, name: object, kind: Kind) -> bool:
        """True if a thing of this kind and name is known."""
        if not isinstance(name, str):
            return False
        if name in self._parsed:
            return kind.includes(self._parsed[name].kind)
        return name in self._shipped and kind.includes(self._shipped[name][1])

    def get(self, name: str) -> DeviceFunction:
        """Parsed source of the distribution or covariance function `name`; KeyError where there is none."""
        with self._lock:
            if name not in self._parsed:
                self._parsed[name] = self._shipped_source(name)
            return self._parsed[name]

    def shipped(self, name: str) -> DeviceFunction | None:
        """Parsed source that gpustats ships under a name, whatever users have replaced it by."""
        with self._lock:
            return self._shipped_source(name) if name in self._shipped else None

    def _shipped_source(self, name: str) -> DeviceFunction:
        """Parsed source that gpustats ships under a name. It calls shipped ones only, whatever users have replaced."""
        from .device_function import parse

        if name not in self._shipped:
            raise KeyError(name)
        if name in self._loading:
            raise DeviceFunctionError(f"{' and '.join(self._loading)} call each other")
        if name not in self._built_in:
            self._loading.append(name)
            try:
                text = self._shipped[name][0].read_text(encoding="utf-8")
                parsed = parse(text, lambda called: self._find(called, self._shipped_source), name)
            finally:
                self._loading.remove(name)
            self._built_in[name] = parsed
            self._built_in_functions.update(parsed.functions)
        return self._built_in[name]

    def values(self, name: str) -> str:
        """Heading of `VALUES` under which a density belongs, by its comment: no source is parsed for that."""
        if name in self._parsed:
            words = self._parsed[name].arguments[0].words
        else:
            entry = _OBSERVATION.search(self._shipped[name][0].read_text(encoding="utf-8"))
            words = frozenset(entry[1].split() if entry else ())
        return next(heading for heading, of in VALUES.items() if not of or of & words)

    def register(self, source: str, replace: bool) -> DeviceFunction:
        """Parse a user's source and keep it; a refused source changes nothing."""
        from .device_function import parse

        with self._lock:
            before = self._registered.get(source) if isinstance(source, str) else None
            same = before is not None and all(self.resolve(name) is f for name, f in before.others.items())
            parsed = before if before is not None and same else parse(source, self.resolve, taken=self._taken, shipped=False)
            taken = parsed.name in self._parsed or parsed.name in self._shipped
            if parsed.name == SPECIAL or (taken and not replace):
                first = next(f for e in endings() if (f := parsed.role(e)))
                advice = "it is gpustats' own" if parsed.name == SPECIAL else "choose another, or say replace=True"
                raise DeviceFunctionError(f"the name {parsed.name} is taken: {advice}", first.line, first.column, source)
            self._calls.update(self._calls_within(parsed, source))
            self._parsed[parsed.name] = self._registered[source] = parsed
            self._functions.update(parsed.functions)
            return parsed

    def row_function(self, source: str) -> tuple[DeviceFunction, lang.Function]:
        """Parsed source that is not registered, and its last function: that of a row of a model."""
        from .device_function import parse_row_function

        with self._lock:
            return parse_row_function(source, self.resolve, self._taken)

    def _calls_within(self, parsed: DeviceFunction, source: str) -> dict[str, int]:
        """Depth of nested calls of each function of a source, those of gpustats' own functions aside."""
        found: dict[str, int] = {}
        for name, function in parsed.functions.items():  # callees first
            found[name] = 1 + max((found.get(n, self._calls.get(n, 0)) for n in lang.called(function)), default=0)
            if found[name] > MOST_NESTED_CALLS:
                message = f"more than {MOST_NESTED_CALLS} functions call one another here, each the next: make one of several"
                raise DeviceFunctionError(message, function.line, function.column, source)
        return found

    def _taken(self, printed: str) -> bool:
        """True if a function of another source, or of a replaced one, has this name in kernels."""
        for stem in _stems(printed):
            if stem in self._shipped:
                self._shipped_source(stem)
        special = printed.removeprefix(f"{SPECIAL}_") in self.special
        return special or printed in self._functions or printed in self._built_in_functions

    def _special(self, name: str) -> lang.Function | None:
        """The special function of a name, parsed with all others of its file."""
        from .device_function import parse

        path = self.special[name].path
        if (loading := f"{SPECIAL}/{path.stem}") in self._loading:
            return None  # of its own file only what stands above
        if f"{SPECIAL}_{name}" not in self._built_in_functions:
            self._loading.append(loading)
            try:
                text = path.read_text(encoding="utf-8")
                found = parse(text, lambda called: self._find(called, self._shipped_source), SPECIAL)
            finally:
                self._loading.remove(loading)
            self._built_in_functions.update(found.functions)
        return self._built_in_functions[f"{SPECIAL}_{name}"]

    def closure(self, functions: Iterable[lang.Function]) -> dict[str, lang.Function]:
        """Functions given, all functions that they call, and the derivatives that these bring of their own."""
        found: dict[str, lang.Function] = {}
        waiting = list(functions)
        while waiting:
            function = waiting.pop()
            found[function.name] = function
            derivatives = (f"{function.name}_grad_{p.written or p.name}" for p in function.parameters)
            names = itertools.chain(lang.called(function), derivatives)
            others = (self._functions.get(n) or self._built_in_functions.get(n) for n in names)
            waiting += [f for f in others if f is not None and f.name not in found]
        return found

    def resolve(self, name: str) -> lang.Function | None:
        """A function that any source may call: ``log1mexp``, ``poisson_logpmf``; no helper of a user's source."""
        return self._find(name, self.get)

    def helper(self, name: str) -> lang.Function | None:
        """Function of a registered source, by the names of both: ``mix_weight`` for ``weight`` beside ``mix_logpdf``."""
        sources = ((stem, self._parsed[stem]) for stem in _stems(name) if stem in self._parsed)
        found = (source.functions.get(source.prefix + name.removeprefix(stem)) for stem, source in sources)
        return next((function for function in found if function is not None), None)

    def _find(self, name: str, source: Callable[[str], DeviceFunction]) -> lang.Function | None:
        """A special function, one with a known ending of the source that a name stands for, or a shipped helper."""
        if name in lang.MATH or name in lang.DRAWS:
            return None
        with self._lock:
            if (special := name.removeprefix(f"{SPECIAL}_")) in self.special:  # also by its name in kernels
                return self._special(special)
            stem, _, ending = name.rpartition("_")
            if ending in endings() and stem not in self._loading and (stem in self._parsed or stem in self._shipped):
                return source(stem).role(ending)
            stems = (s for s in _stems(name) if s in self._shipped and s not in self._loading)
            return next((f for s in stems if (f := self._shipped_source(s).functions.get(name)) is not None), None)


def _stems(name: str) -> list[str]:
    """Candidates for the name of a source in the name of a function, before an underscore, the longest first."""
    words = name.split("_")
    return ["_".join(words[:i]) for i in range(len(words) - 1, 0, -1)]


library = Library()

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Things of one kind by their names; `make` makes them of their parsed sources when they are first asked for."""

    def __init__(self, kind: Kind, make: Callable[[DeviceFunction], T]):
        self._kind, self._make = kind, make
        self._made: dict[str, tuple[DeviceFunction, T]] = {}

    def __getitem__(self, name: str) -> T:
        if not library.has(name, self._kind):
            raise KeyError(self._unknown(name))
        definition = library.get(name)
        if name not in self._made or self._made[name][0] is not definition:
            self._made[name] = definition, self._make(definition)
        return self._made[name][1]

    def _unknown(self, name: object) -> str:
        """Message about a name that nothing has."""
        return f"no {self._kind.name} is called {name!r}{self._hint(str(name))}"

    def _hint(self, name: str) -> str:
        """Advice for somebody who looks for this name."""
        near = did_you_mean(name, self, shown=str)
        return f": {near}" if near else ""

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __iter__(self) -> Iterator[str]:
        return iter(library.names(self._kind))

    def __len__(self) -> int:
        return len(library.names(self._kind))

    def __contains__(self, name: object) -> bool:
        return library.has(name, self._kind)

    def _by_values(self) -> dict[str, list[str]]:
        """Names by heading: what densities are of, from the last of `VALUES` to the first; of other kinds there is none."""
        if self._kind is not DENSITY:
            return {"": list(self)}
        found: dict[str, list[str]] = {heading: [] for heading in reversed(VALUES)}
        for name in self:
            found[library.values(name)].append(name)
        return found

    def __repr__(self) -> str:
        groups = self._by_values()
        if len(groups) == 1:
            return f"<gpustats {self._kind.plural}: {', '.join(self)}>"
        lines = [f"of {heading}: {', '.join(names)}" for heading, names in groups.items()]
        wrapped = [textwrap.fill(line, 100, subsequent_indent="    ", break_long_words=False) for line in lines]
        return "\n".join([f"<gpustats {self._kind.plural}, {len(self)}:", *wrapped]) + ">"

    def _repr_html_(self) -> str:
        rows = [(f"of {heading}" if heading else "", ", ".join(names)) for heading, names in self._by_values().items()]
        return html.card(f"{len(self)} {self._kind.plural}", html.table(rows))
