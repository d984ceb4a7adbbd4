"""What users hold, name by name with its signature, against `public.json`.

A name or a default that changes or goes breaks somebody's program, so it is to be seen in a diff. To write the file anew:
``python tests/test_public.py``.
"""

import functools
import importlib
import inspect
import json
from pathlib import Path

import pytest

import gpustats as gs
from gpustats.commands.cli import parser
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library
from gpustats.names.pymc import class_name

STORED = Path(__file__).with_name("public.json")
MODULES = [
    "gpustats", "gpustats.compat", "gpustats.errors", "gpustats.glm", "gpustats.gp", "gpustats.gp.local", "gpustats.linalg",
    "gpustats.parallel", "gpustats.pymc", "gpustats.pymc.linalg", "gpustats.scipy_stats", "gpustats.testing",
    "gpustats.transforms",
]  # fmt: skip


def signature(function):
    """Names, kinds and defaults of the parameters; annotations may change."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "built in"
    plain = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=found.empty))


def described(value):
    if inspect.isclass(value):
        members = {n: inspect.getattr_static(value, n) for n in dir(value) if not n.startswith("_")}
        own = {n: m for n, m in members.items() if not hasattr(Exception, n) and not hasattr(tuple, n)}
        return {
            "call": signature(value),
            **{n: signature(getattr(value, n)) if callable(getattr(value, n)) else "value" for n in sorted(own)},
        }
    return signature(value) if callable(value) else type(value).__name__


def names_of(module):
    """What a module offers: its ``__all__``, else the functions and classes that are defined in its package."""
    if hasattr(module, "__all__"):
        return module.__all__
    public = [n for n in dir(module) if not n.startswith("_")]
    own = module.__name__
    return [n for n in public if getattr(getattr(module, n), "__module__", "").startswith(own)]


def arguments_of(command):
    return {" ".join(a.option_strings) or a.dest: [repr(a.default), a.choices and sorted(a.choices)] for a in command._actions}


@functools.cache
def public():
    found = {}
    for name in MODULES:
        module = importlib.import_module(name)
        found[name] = {n: described(getattr(module, n)) for n in sorted(names_of(module))}
    of_users = {class_name(n) for n in {*gs.densities} - library.built_in(DENSITY)}  # that other tests have registered
    classes = {n for n in dir(importlib.import_module("gpustats.pymc")) if n[:1].isupper()}
    found["gpustats.pymc"]["classes"] = sorted(classes - of_users)
    found["densities"] = {n: gs.densities[n].domains for n in sorted(library.built_in(DENSITY))}
    found["covariances"] = {n: c.domains for n, c in sorted(gs.covariances.items())}
    found["series"] = {n: m.domains for n, m in sorted(gs.series.items())}
    commands = next(a for a in parser()._actions if a.choices)
    found["commands"] = {n: arguments_of(c) for n, c in commands.choices.items()}
    return json.loads(json.dumps(found))


@pytest.mark.parametrize("part", [*MODULES, "densities", "covariances", "series", "commands"])
def test_as_stored(part):
    assert public()[part] == json.loads(STORED.read_text(encoding="utf-8"))[part]


if __name__ == "__main__":
    STORED.write_text(json.dumps(public(), indent=1) + "\n", encoding="utf-8")
