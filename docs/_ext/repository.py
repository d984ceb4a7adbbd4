"""What the pages link to in the repository: files are handed on as downloads, folders named, and its own pages are pages here.

The pages can so be read in the repository, too, where the same links lead to what lies there.
"""

from __future__ import annotations

import re
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
PAGES = {  # of the repository's top, by where they are taken in
    "README.md": "index", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog", "SECURITY.md": "security",
}  # fmt: skip
INCLUDED = re.compile(r"```\{include\} \.\./(\w+\.md)\n```")  # a page that is one of the repository's top
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s:]+)(#[^)]*)?\)")


def within(text: str, folder: Path) -> str:
    """The text of a page that lies in `folder`, with links that lead somewhere on the site."""

    def followed(found: re.Match) -> str:
        words, link, anchor = found[1], found[2], found[3] or ""
        target = DOCS / link[1:] if link.startswith("/") else (folder / link).resolve()
        if target.is_relative_to(DOCS):
            return f"[{words}](/{target.relative_to(DOCS)}{anchor})" if folder == ROOT else found[0]
        name = str(target.relative_to(ROOT)) if target.is_relative_to(ROOT) else ""
        if name in PAGES:
            return f"[{words}](/{PAGES[name]}.md{anchor})"
        return found[0] if target.is_file() and folder != ROOT else f"[{words}](/../{name})" if target.is_file() else words

    return LINK.sub(followed, text)


def read(app: Sphinx, document: str, content: list[str]) -> None:
    folder = Path(app.env.doc2path(document)).resolve().parent
    if taken := INCLUDED.fullmatch(content[0].strip()):
        app.env.note_dependency(str(ROOT / taken[1]), docname=document)
        content[0], folder = (ROOT / taken[1]).read_text(encoding="utf-8"), ROOT
    content[0] = within(content[0], folder)
    if document == "decisions/README":  # which lists its pages in a table: the repository shows no toctree
        others = sorted(page.stem for page in folder.glob("*.md") if page.stem != "README")
        content[0] += "\n".join(["", "```{toctree}", ":hidden:", "", *others, "```", ""])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read)
    app.add_lexer("floors", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
