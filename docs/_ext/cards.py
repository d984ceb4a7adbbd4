"""Cards that lead to pages or show examples, each with a line about it; a table of contents is made of them as well.

````
```{cards}
using | What every density can do.
```
```{cards}
:pictures:
guides/mixtures | Cultivars of wine.
../examples/emulation.py | Emulation | Predictions over a square
```
````

The heading of a card is that of its page. With pictures, a card has its page's first one, and no table of contents is made.
The card of a script has a heading, the first line of its docstring, and a picture of its name, which the third part describes.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).resolve().parents[1]
PICTURE = re.compile(r"!\[([^\]]+)\]\(([\w./-]+\.(?:png|svg))\)")


def card(title: str, options: dict[str, str], text: str) -> list[str]:
    return [f":::{{grid-item-card}} {title}", *(f":{key}: {value}" for key, value in options.items()), text, ":::"]


def of_page(page: Path, about: str, pictures: bool) -> list[str]:
    """The card of a page."""
    text = page.read_text(encoding="utf-8")
    options = {"link": f"/{page.relative_to(DOCS).with_suffix('')}", "link-type": "doc"}
    if pictures and (shown := PICTURE.search(text)):
        options |= {"img-top": f"/{(page.parent / shown[2]).resolve().relative_to(DOCS)}", "img-alt": shown[1]}
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    assert title, page
    return card(title[1], options, about)


def of_script(script: Path, title: str, about: str) -> list[str]:
    """The card of an example, with its picture."""
    said = (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    options = {"img-top": f"/examples/{script.stem}.png", "img-alt": about}
    link = f"{{download}}`{script.name} </{Path('..') / script.relative_to(DOCS.parent)}>`"
    return card(title, options, f"{said}\n\n{link}")


class Cards(SphinxDirective):
    has_content = True
    option_spec = {"pictures": directives.flag}

    def run(self) -> list[nodes.Node]:
        folder, pictures = Path(self.env.doc2path(self.env.docname)).parent, "pictures" in self.options
        lines, listed = ["::::{grid} 1 2 3 3", ":gutter: 3", ""], []
        for entry in filter(None, map(str.strip, self.content)):
            name, _, about = (part.strip() for part in entry.partition(" | "))
            file = (folder / name).resolve() if name.endswith(".py") else (folder / f"{name}.md").resolve()
            self.env.note_dependency(str(file))
            lines += of_script(file, *about.split(" | ")) if file.suffix == ".py" else of_page(file, about, pictures)
            listed.append(name)
        lines.append("::::")
        if not pictures:
            lines += ["", "```{toctree}", ":hidden:", "", *listed, "```"]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("cards", Cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
