"""Where device functions are found: the built-in files, parsed when first needed, and what users register."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DeviceFunctionError
from . import nodes as lang

if TYPE_CHECKING:  # the parser is imported when first needed: importing it costs more than the rest of gpustats
    from .device_function import DeviceFunction

SPECIAL = "special"
#: What the file of a built-in covariance function ends in.
_COVARIANCE = "_cov"


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
    def _files(self) -> dict[str, Path]:
        """The files that gpustats ships, by the name of the distribution or covariance."""
        return {p.stem.removesuffix(_COVARIANCE): p for p in folder().glob("*.cu")}

    @functools.cached_property
    def built_in(self) -> frozenset[str]:
        """Names of the densities that gpustats ships."""
        return frozenset(n for n, p in self._files.items() if not p.stem.endswith(_COVARIANCE)) - {SPECIAL}

    @functools.cached_property
    def built_in_covariances(self) -> frozenset[str]:
        """Names of the covariance functions that gpustats ships."""
        return frozenset(self._files) - self.built_in - {SPECIAL}

    def names(self, covariances: bool = False) -> Iterator[str]:
        """Names of all densities, or of all covariance functions."""
        built_in = self.built_in_covariances if covariances else self.built_in
        yield from sorted(built_in | {n for n, d in self._parsed.items() if n != SPECIAL and d.covariance == covariances})

    def has(self, name: object, covariance: bool = False) -> bool:
        """Whether there is a density, or a covariance function, of this name."""
        if name in self._parsed:
            return name != SPECIAL and self._parsed[name].covariance == covariance
        return name in (self.built_in_covariances if covariance else self.built_in)

    def get(self, name: str) -> DeviceFunction:
        """The parsed source of the distribution or covariance function `name`; KeyError where there is none."""
        with self._lock:
            if name not in self._parsed:
                if name not in self._files:
                    raise KeyError(name)
                if name in self._loading:
                    raise DeviceFunctionError(f"{' and '.join(self._loading)} call each other")
                self._loading.append(name)
                try:
                    self._add(name, self._files[name].read_text(encoding="utf-8"))
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
            taken = parsed.name in self._parsed or parsed.name in self._files
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
        if stem in self._files and stem not in self._parsed and stem not in self._loading:
            self.get(stem)
        return self._functions.get(name)


library = Library()
