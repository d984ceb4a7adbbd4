"""Benches by their names: `gpustats bench` lists them, and runs one or all of them."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from gpustats.commands.tables import show
from gpustats.names.near import did_you_mean

FOLDER = Path(__file__).parent
NEED_MORE = ("catalogue", "versions")  # a folder, or a version, so that `all` cannot run them
HOW = """
gpustats bench NAME    runs one; --help behind the name lists its options
gpustats bench all     runs one after another, for hours

A bench measures the device of this machine and the libraries that are installed. That takes minutes, of some an hour, and with
--quick, of little work, a minute or two. It writes text, JSON and a chart to bench/results below the current folder, or to the
folder behind --out, and says so before it starts."""


def benches() -> dict[str, str]:
    """Names of the benches, and what each measures: the first sentence of its module."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        if path != Path(__file__) and any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in module.body):
            sentence = re.split(r"\.\s|\n\n", f"{ast.get_docstring(module)}\n\n", maxsplit=1)[0]
            found[path.stem] = " ".join(sentence.rpartition("`: ")[2].split()).removesuffix(".")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """List the benches, or run the one that is named, with the options behind its name; returns the exit status."""
    name, *options = (sys.argv[1:] if argv is None else argv) or ["--help"]
    found = benches()
    if name in ("-h", "--help"):
        show(["bench", "measures"], list(found.items()))
        print(HOW)
        return 0
    if name != "all" and name not in found:
        raise ValueError(f"no bench is called {name!r}: {did_you_mean(name, found) or '`gpustats bench` lists them'}")
    status = 0
    for each in [n for n in found if n not in NEED_MORE] if name == "all" else [name]:
        try:
            status |= importlib.import_module(f".{each}", __package__).main(options) or 0
        except ImportError as error:  # a bench may need what is not installed
            if name != "all":
                raise
            print(f"without {each}: {error}", file=sys.stderr)
    return status
