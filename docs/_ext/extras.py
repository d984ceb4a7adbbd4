"""What the code of a page needs to be installed: one command, with the extras of gpustats that bring what it imports."""

from __future__ import annotations

import re
import sys

#: Extras by the modules that they bring along, in the order of commands.
EXTRAS = {
    "pymc": ("pymc", "pytensor", "arviz", "nutpie"),
    "jax": ("jax",),
    "dask": ("dask", "distributed"),
    "formula": ("formulaic",),
    "demo": ("matplotlib", "sklearn", "statsmodels"),
}
#: Modules that come with gpustats, or with what any of these extras brings.
THERE = {"gpustats", "numpy", "scipy", "pandas"}
IMPORTED = re.compile(r"^(?:import|from) ([\w.]+)", re.MULTILINE)
#: The command at the head of a page, behind its title.
HEAD = re.compile(r"(?<=\n\nNeeds `)pip install [^`]*(?=`)")


def modules_of(code: str) -> set[str]:
    """Modules of other projects that code uses."""
    names = IMPORTED.findall(code)
    found = {name.partition(".")[0] for name in names} | ({"pymc"} if "gpustats.pymc" in names else set())
    return found | ({"formulaic"} if ".from_formula(" in code else set())


def command(code: str, more: tuple[str, ...] = ()) -> str:
    """Command of pip that installs what code needs, and more packages."""
    used = modules_of(code) - THERE - {*sys.stdlib_module_names}
    extras = ["cpu", *(extra for extra, brought in EXTRAS.items() if used & {*brought})]
    others = sorted(used.difference(*EXTRAS.values()) | {*more})
    return " ".join([f"pip install 'gpustats[{','.join(extras)}]'", *others])
