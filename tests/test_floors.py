"""The floors of the package, as CONTRIBUTING shows them: nothing imports what stands above it, and there is no circle."""

import ast
import graphlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gpustats"


def name_of(path):
    """The dotted name of a module; a package has that of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py")}


def imported(source, name, is_package):
    """The modules of the package that a source imports, wherever in it: at the top, in functions, for types only."""
    folder = name.split(".") if is_package else name.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            base = ".".join([*base, *(node.module.split(".") if node.module else [])])
            inner = {f"{base}.{alias.name}" for alias in node.names}
            found |= (inner & MODULES.keys()) | ({base} if inner - MODULES.keys() else set())
    return {module for module in found if module in MODULES and module != name}


IMPORTS = {n: imported(p.read_text(encoding="utf-8"), n, p.name == "__init__.py") for n, p in MODULES.items()}


def floors():
    """Room -> the number of its floor, counted from the ground; a room is a folder of the package or a module beside them."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = re.search(r"```floors\n(.*?)```", text, re.DOTALL)[1]
    lines = [line.partition("#")[0].split() for line in block.strip().splitlines()]
    listed = {room: floor for floor, rooms in enumerate(reversed(lines)) for room in rooms}
    new = {room_of(module) for module in MODULES} - listed.keys()  # a folder may be added without an entry: below the root
    return listed | dict.fromkeys(new, listed["gpustats"] - 0.5)


def room_of(module):
    return (module.split(".") + ["gpustats"])[1]


def climbing(imports, floors):
    """The imports of a room that stands above, or beside on the same floor."""
    return sorted(
        f"{module} imports {other}"
        for module, others in imports.items()
        for other in others
        if room_of(module) != room_of(other) and floors[room_of(module)] <= floors[room_of(other)]
    )


def circle(imports):
    """The modules of a circle, if there is one."""
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_every_room_of_the_list_is_there():
    assert floors().keys() == {room_of(module) for module in MODULES}


def test_nothing_climbs():
    assert climbing(IMPORTS, floors()) == []


def test_no_circles():
    assert circle(IMPORTS) == []


@pytest.mark.parametrize(
    "line",
    [
        "from ..kernels import code",
        "from ..kernels.code import Operand",
        "def later():\n    import gpustats.kernels.code",
        "if TYPE_CHECKING:\n    from gpustats.kernels.code import Operand",
    ],
)
def test_an_import_that_climbs_is_found(line):
    imports = {"gpustats.language.nodes": imported(line, "gpustats.language.nodes", False)}
    assert climbing(imports, floors()) == ["gpustats.language.nodes imports gpustats.kernels.code"]


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})


def test_modules_are_short():
    """A longer module says in its docstring why it is one."""
    long = [p for p in MODULES.values() if p.read_text(encoding="utf-8").count("\n") > 400]
    without = [p for p in long if "one module" not in (ast.get_docstring(ast.parse(p.read_text(encoding="utf-8"))) or "")]
    assert without == []


def test_few_modules_lie_at_the_root():
    assert len(list(PACKAGE.glob("*.py"))) <= 8
