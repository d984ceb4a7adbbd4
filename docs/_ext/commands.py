"""What `gpustats COMMAND --help` prints, for the page on the command line: ```{usage} source```."""

from __future__ import annotations

import argparse
import os

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from gpustats.commands.cli import parser


class Usage(SphinxDirective):
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        os.environ["COLUMNS"] = "100"  # argparse breaks lines where the terminal ends
        found = parser()
        if self.arguments:
            (commands,) = (a for a in found._actions if isinstance(a, argparse._SubParsersAction))
            found = commands.choices[self.arguments[0]]
        return [nodes.literal_block(found.format_help(), found.format_help(), language="text")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("usage", Usage)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
