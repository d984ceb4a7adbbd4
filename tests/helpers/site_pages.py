"""What the pages of a built site contain, read from their HTML."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


@dataclass
class Page(HTMLParser):
    """The anchors of a page, where it links to, and what it shows."""

    path: Path
    title: str = ""
    headings: int = 0  # of the first order
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)  # of a and area
    images: list[tuple[str, str | None]] = field(default_factory=list)  # address and alternative text
    parts: list[str] = field(default_factory=list)  # scripts, styles, icons, images: what a browser loads by itself

    def __post_init__(self):
        super().__init__()
        self._in_title = False
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        self.headings += tag == "h1"
        self._in_title = self._in_title or tag == "title"
        if tag in ("a", "area") and given.get("href"):
            self.links.append(given["href"])
        if tag == "img":
            self.images.append((given.get("src", ""), given.get("alt")))
        loaded = given.get("src") or (given.get("href") if tag == "link" else given.get("data") if tag == "object" else None)
        if loaded:
            self.parts.append(loaded)

    def handle_endtag(self, tag):
        self._in_title = self._in_title and tag != "title"

    def handle_data(self, data):
        if self._in_title:
            self.title += data


def leads_outside(link):
    """Whether it has a scheme or a host: of these, only the form is known here."""
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def target(page, link):
    """The file that a link within the site leads to, and the anchor in it or ""."""
    address, anchor = urldefrag(link)
    path = unquote(urlsplit(address).path)
    file = (page.path.parent / path).resolve() if path else page.path
    return (file / "index.html" if file.is_dir() else file), unquote(anchor)
