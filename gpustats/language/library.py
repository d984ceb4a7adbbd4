"""Where device functions are found: the built-in files, parsed when first needed, and what users register."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..errors import DeviceFunctionError
from . import nodes as lang
from .kinds import DENSITY, Kind, kinds

if TYPE_CHECKING:  # the parser is imported when first needed: importing it costs more than the rest of gpustats
    from .device_function import DeviceFunction

SPECIAL = "special"


@functools.cache
def folder() -> Path:
    """The folder of the built-in device functions: beside the modules when installed, beside the package in a checkout."""
    here = Path(__file__).parents[1]
    installed = here / "device_functions"
    return installed if installed.is_dir() else here.parent / "device_functions"


class Library:
    """Parsed sources by the name of their distribution."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._parsed: dict[str, DeviceFunction] = {}
        self._functions: dict[str, lang.Function] = {}
        self._loading: list[str] = []

    @functools.cached_property
    def _shipped(self) -> dict[str, tuple[Path, Kind | None]]:
        """The files that gpustats ships, and the kinds of what they define, by its names."""
        found: dict[str, tuple[Path, Kind | None]] = {}
        for path in folder().glob("*.cu"):
            kind = next((k for k in kinds() if k.file_ending and path.stem.endswith(k.file_ending)), DENSITY)
            found[path.stem.removesuffix(kind.file_ending)] = path, None if path.stem == SPECIAL else kind
        return found

    def built_in(self, kind: Kind) -> set[str]:
        """Names of the densities, or of the things of another kind, that gpustats ships."""
        return {name for name, (_, its_kind) in self._shipped.items() if kind.includes(its_kind)}

    def names(self, kind: Kind) -> list[str]:
        """Names of all things of a kind, in alphabetical order."""
        return [name for name in sorted({*self._shipped, *self._parsed}) if self.has(name, kind)]

    def has(self, name: object, kind: Kind) -> bool:
        """Whether there is a thing of this kind and name."""
        if not isinstance(name, str):
            return False
        if name in self._parsed:
            return kind.includes(self._parsed[name].kind)
        return name in self._shipped and kind.includes(self._shipped[name][1])

    def get(self, name: str) -> DeviceFunction:
        """The parsed source of the distribution or covariance function `name`; KeyError where there is none."""
        with self._lock:
            if name not in self._parsed:
                if name not in self._shipped:
                    raise KeyError(name)
                if name in self._loading:
                    raise DeviceFunctionError(f"{' and '.join(self._loading)} call each other")
                self._loading.append(name)
                try:
                    self._add(name, self._shipped[name][0].read_text(encoding="utf-8"))
                finally:
                    self._loading.remove(name)
            return self._parsed[name]

    def _add(self, name: str | None, source: str) -> DeviceFunction:
        from .device_function import parse

        parsed = parse(source, self.resolve, name)
        self._parsed[parsed.name] = parsed
        self._functions.update(parsed.functions)
        return parsed

    def register(self, source: str, replace: bool) -> DeviceFunction:
        """Parse a user's source and keep it; nothing changes where it is refused."""
        from .device_function import parse

        with self._lock:
            parsed = parse(source, self.resolve)
            taken = parsed.name in self._parsed or parsed.name in self._shipped
            if parsed.name == SPECIAL or (taken and not replace):
                first = next(f for f in parsed.functions.values() if f.name.startswith(parsed.name + "_"))
                advice = "it is gpustats' own" if parsed.name == SPECIAL else "choose another, or say replace=True"
                raise DeviceFunctionError(f"the name {parsed.name} is taken: {advice}", first.line, first.column, source)
            self._parsed[parsed.name] = parsed
            self._functions.update(parsed.functions)
            return parsed

    def closure(self, functions: Iterable[lang.Function]) -> dict[str, lang.Function]:
        """These functions and all that they call, as they are now: a density stays what it is if another replaces it."""
        found: dict[str, lang.Function] = {}
        waiting = list(functions)
        while waiting:
            function = waiting.pop()
            found[function.name] = function
            calls = (self._functions.get(name) for name in lang.called(function))
            waiting += [f for f in calls if f is not None and f.name not in found]
        return found

    def resolve(self, name: str) -> lang.Function | None:
        """A function by its name, loading the file that it is in: ``log1mexp`` of special.cu, ``poisson_logpmf``."""
        if name in lang.MATH or name in lang.DRAWS:
            return None
        if name in self._functions:
            return self._functions[name]
        if SPECIAL not in self._parsed and SPECIAL not in self._loading:
            self.get(SPECIAL)
        if (special := self._functions.get(f"{SPECIAL}_{name}")) is not None:
            return special
        stem = name.rpartition("_")[0]
        if stem in self._shipped and stem not in self._parsed and stem not in self._loading:
            self.get(stem)
        return self._functions.get(name)


library = Library()

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """All things of one kind by their names, made of their sources when first asked for.

    Parameters
    ----------
    kind : Kind
    make : callable
        Makes the thing of its parsed source.
    """

    def __init__(self, kind: Kind, make: Callable[[DeviceFunction], T]):
        self._kind, self._make = kind, make
        self._made: dict[str, tuple[DeviceFunction, T]] = {}

    def __getitem__(self, name: str) -> T:
        if not library.has(name, self._kind):
            raise KeyError(name)
        definition = library.get(name)
        if name not in self._made or self._made[name][0] is not definition:
            self._made[name] = definition, self._make(definition)
        return self._made[name][1]

    def __iter__(self) -> Iterator[str]:
        return iter(library.names(self._kind))

    def __len__(self) -> int:
        return len(library.names(self._kind))

    def __contains__(self, name: object) -> bool:
        return library.has(name, self._kind)

    def __repr__(self) -> str:
        return f"<gpustats {self._kind.plural}: {', '.join(self)}>"
