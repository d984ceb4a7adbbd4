"""Pages of each kind by axe: words for pictures and buttons, contrast, the order of headings, all that is reached by keys."""

import importlib.resources

import pytest

PAGES = (
    "index", "guides/index", "guides/glm", "distributions/index", "distributions/crystal_ball", "performance", "examples",
    "api/index", "api/random", "api/_generated/gpustats.box_probability", "coming-from/scipy", "field", "search",
)  # fmt: skip
PLAIN = """
const style = document.createElement("style");  // axe measures no contrast above a gradient, and colors as they pass
style.textContent = ".bd-article * { background-image: none !important; } * { transition: none !important; }";
document.head.append(style);
"""
FOUND = """
const [done] = arguments;
axe.run(document).then(({passes, violations}) => done([
  passes.length, violations.flatMap(({id, nodes}) => nodes.map(node => `${id}: ${node.html}: ${node.failureSummary}`)),
]));
"""


@pytest.fixture(scope="session")
def axe(lacking):
    try:
        return (importlib.resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    except ImportError:
        lacking("axe-core-python is not installed: pip install '.[docs-test]'")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_has_nothing_to_say(screen, address, axe, theme):
    screen.get(f"{address}/index.html")
    screen.execute_script("localStorage.setItem('mode', arguments[0])", theme)
    found = {}
    for name in PAGES:
        screen.get(f"{address}/{name}.html")
        assert screen.execute_script("return document.documentElement.dataset.theme") == theme
        screen.execute_script(PLAIN + axe)
        passed, said = screen.execute_async_script(FOUND)
        assert passed > 20
        found |= {name: said} if said else {}
    screen.execute_script("localStorage.clear()")
    assert found == {}
