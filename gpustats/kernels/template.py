"""Templates: a Mako file beside the module that renders it becomes the source of kernels, which are compiled once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..language import nodes as lang
from ..language.printer import WHOLE_NUMBERS
from ..runtime import cache
from ..runtime.base import Kernel, Runtime
from . import code as code_module
from .code import KernelCode
from .inlining import printer
from .layout import Layout
from .sines import kept_apart

PACKAGE = Path(__file__).parents[1]


class Template:
    """Mako template, at a path in the package, and the kernels that were compiled from it."""

    def __init__(self, path: str):
        self.path = path
        #: `_compiled`, whose results are kept: a sequence of small kernels must not wait for their being found
        self.kernel = functools.lru_cache(maxsize=None)(self._compiled)

    @classmethod
    def beside(cls, module: str, name: str) -> Template:
        """Template `name` in the folder of a module, which gives its own ``__file__``."""
        return cls((Path(module).parent / f"{name}.mako").relative_to(PACKAGE).as_posix())

    def __repr__(self) -> str:
        return f"<template {self.path}>"

    def _compiled(
        self, runtime: Runtime, name: str, threads: int, shared: int = 0, /, *, dtype: str, **constants: Any
    ) -> Kernel:
        """Kernel `name` of a source that calls no device function, compiled at most once for a runtime.

        `threads` are those of a block, `shared` the bytes of dynamic shared memory, `constants`, hashable, values for the
        template.
        """
        return runtime.kernel(self.source(dtype, runtime.dialect, **constants), name, threads, shared)

    def source(self, dtype: str, dialect: str, **constants: Any) -> str:
        """Source of kernels that call no device function; `constants` are values for the template."""

        def text() -> str:
            body: str = _loaded(self.path).render(dtype=dtype, dialect=dialect, **constants)
            return prelude(dtype, dialect, body) + body

        return _stored(text, self.path, dtype, dialect, repr(sorted(constants.items())))

    def source_of(
        self, code: KernelCode, name: str, layout: Layout, dtype: str, dialect: str, *, others: Sequence[KernelCode] = (),
        before: Sequence[Template] = (), space: Mapping[str, str] | None = None, stride: int = 1, **constants: Any,
    ) -> str:  # fmt: skip
        """Source of a kernel of device functions: prelude, the functions in their parts, and the template around them.

        The kernel, called `name`, evaluates `code`; `others` are further device functions of it. These call the blocks
        ``functions`` of the templates `before`. `space` has the address space of vector arguments, by name, where it is not
        that of global memory, and `stride` is the distance of a vector's elements. `constants` are further values for the
        template.
        """
        code.stage_vectors = bool(layout.stage_vectors)
        if code.stage_vectors and code.observation:
            space = {**(space or {}), code.observation: "SHARED"}
        codes, printed = (code, *others), set[str]()
        structs = dict.fromkeys(f for c in codes for f in c.struct_functions)
        whole = dict.fromkeys(f for c in codes for f in c.whole_functions)
        prints = printer((body for c in codes for body in c.bodies), dtype, space, stride)
        separated = [c.separated.print(prints, printed) for c in codes]
        functions = "\n".join([*map(prints.results, structs), *map(prints.function, whole), *separated])
        functions = kept_apart([f for c in codes for f in c.functions]) + functions
        width = layout.vector
        vector_type = ("double" if dtype == "float64" else "float") + (str(width) if width > 1 else "")
        constants |= dict(name=name, layout=layout, vector_type=vector_type, dtype=dtype, dialect=dialect)

        def text() -> str:
            head = prelude(dtype, dialect, functions) + "".join(t.functions(dtype, dialect) for t in before)
            return f"{head}\n{functions}{_loaded(self.path).render(code=code, codes=codes, **constants)}"

        said = [(c.operands, c.sums, c.rows, c.at_hand, c.usual_row, c.logarithm, c.weights) for c in codes]
        parts = repr(said), repr(sorted(constants.items()))
        return _stored(text, self.path, dtype, repr([t.path for t in before]), functions, *parts)

    def text(self, **constants: Any) -> str:
        """Text of a template that is no kernel."""
        made: str = _loaded(self.path).render(**constants)
        return made

    def functions(self, dtype: str, dialect: str) -> str:
        """Block ``functions`` of the template: C functions for other kernels."""
        text: str = _loaded(self.path).get_def("functions").render(dtype=dtype, dialect=dialect)
        return text


def prelude(dtype: str, dialect: str, functions: str = "") -> str:
    """Macros of a dialect, constants, and C functions that the printed functions need."""
    context = dict(dtype=dtype, constants=lang.CONSTANTS)
    files = [f"prelude_{dialect}", "prelude"]
    if any(f"{name}(" in functions for name in WHOLE_NUMBERS):
        files.append("whole_numbers")
    if "LARGE " in functions:
        files.append("large")
    return "".join(_loaded(f"kernels/{file}.mako").render(dialect=dialect, **context) for file in files)


@functools.cache
def _loaded(path: str) -> Any:
    """Template as Mako has it. Mako is imported here, which takes long."""
    from mako.lookup import TemplateLookup

    return TemplateLookup([str(PACKAGE)], strict_undefined=True).get_template(path)


def _stored(text: Callable[[], str], *parts: str) -> str:
    """Text that `parts` and all templates decide, from the disk where it was made before."""
    key = cache.key("source", _digest(), *parts)
    if (stored := cache.load(key)) is not None:
        return stored.decode()
    made = text()
    cache.store(key, made.encode())
    return made


@functools.cache
def _digest() -> str:
    """Digest of the texts of all templates, and of the modules that fill them in."""
    files = [*sorted(PACKAGE.rglob("*.mako")), Path(code_module.__file__), Path(__file__)]
    return cache.key(*(path.read_text(encoding="utf-8") for path in files))
