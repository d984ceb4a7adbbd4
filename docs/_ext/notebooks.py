"""Pages with code as notebooks: each lies beside its page, which links to it at its head.

A cell is a block of code, or what stands between two. What a block prints is not kept, for the reader will run it; a picture
that the code draws is shown by a cell, so that it is the reader's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nbformat.v4 as nb
from extras import HEAD, command, modules_of
from repository import LINK
from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
PAGES = ("start/*.md", "guides/*.md", "coming-from/*.md", "unmodified-models.md", "many-points.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"!\[[^\]]*\]\(([\w.-]+)\)")
# What only Sphinx shows: directives between backticks or colons, roles, and targets of links.
FENCED = re.compile(r"^(`{3,})\{([\w:-]+)\} *([^\n]*)\n(?::[\w-]+:[^\n]*\n)*(.*?)^\1\n?", re.DOTALL | re.MULTILINE)
OPENING = re.compile(r"^:{3,}\{[\w:-]+\} *(.*)\n(?::[\w-]+:.*\n)*", re.MULTILINE)
CLOSING = re.compile(r"^(?::{3,}|\([\w-]+\)=)(?:\n|$)", re.MULTILINE)
ROLE = re.compile(r"\{[\w:-]+\}`([^`<]*?)(?: *<[^`]*>)?`")


def code_of(page: str) -> list[str]:
    """The blocks of Python on a page, given as its text."""
    return BLOCK.findall(page)


def plain(words: str) -> str:
    """Text without links, which lead to other pages of the site, and of what only Sphinx shows the words."""
    words = FENCED.sub(lambda d: "" if d[2] == "toctree" else "\n\n".join(filter(None, (d[3] and f"**{d[3]}**", d[4]))), words)
    words = CLOSING.sub("", OPENING.sub(lambda d: f"**{d[1]}**\n\n" if d[1] else "", words))
    return LINK.sub(lambda link: link[1], ROLE.sub(lambda role: f"`{role[1]}`", words)).strip()


def cells(page: str) -> Iterator[Any]:
    """The cells of a page, its text and its code."""
    parts = BLOCK.split(page)
    for words, code in zip(parts[::2], [*parts[1::2], ""], strict=True):
        pieces = PICTURE.split(words)
        for text, picture in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
            yield from [nb.new_markdown_cell(plain(text))] if plain(text) else []
            yield from [nb.new_code_cell(f'from IPython.display import Image\n\nImage("{picture}")')] if picture else []
        yield from [nb.new_code_cell(code.strip())] if code else []


def notebook(page: str) -> Any:
    """A page, given as its text, as a notebook."""
    code = "\n".join(code_of(page))
    needs = command(code, ("ipywidgets",) if "pymc" in modules_of(code) else ())  # without them PyMC's bars complain
    if HEAD.search(page):
        made = [*cells(HEAD.sub(needs, page, count=1))]
    else:
        title, made = page.partition("\n")[0], [*cells(page)]
        made[0].source = made[0].source.replace(title, f"{title}\n\nThe code below needs `{needs}`.", 1)
    for number, cell in enumerate(made):
        cell.id = f"cell-{number}"  # nbformat's are random, and builds would differ
    return nb.new_notebook(cells=made, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


@cache
def pages() -> dict[str, str]:
    """Page -> its text, for those that have code."""
    found = {path.relative_to(DOCS).with_suffix("").as_posix(): path for at in PAGES for path in sorted(DOCS.glob(at))}
    texts = {name: path.read_text(encoding="utf-8") for name, path in found.items()}
    return {name: text for name, text in texts.items() if code_of(text)}


def write(app: Sphinx, error: Exception | None) -> None:
    for name, text in pages().items() if not error and app.builder.format == "html" else ():
        (Path(app.outdir) / f"{name}.ipynb").write_text(nb.writes(notebook(text)) + "\n", encoding="utf-8")


def link(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    context["notebook"] = f"{page}.ipynb" if page in pages() else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", link)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
