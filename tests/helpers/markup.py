"""HTML that objects show in notebooks, read by the parser of the standard library."""

from html.parser import HTMLParser

MOST_BYTES = 20_000  # of a representation, as it is stored in notebooks


class Markup(HTMLParser):
    """Reader of a piece of HTML, which has to be well formed: each element that begins ends in its place."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"{self.open} is not closed"

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> stands where {self.open} is open"

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(self.texts)


def shown(thing):
    """Markup of what a notebook shows of an object."""
    text = thing._repr_html_()
    assert len(text.encode()) < MOST_BYTES
    return Markup(text)
