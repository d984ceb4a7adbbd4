"""Formulas as MathML, which browsers draw by themselves, without a script or a network.

Braces and roots grow only by a font that says how, which many machines lack: the site brings the part of one that it needs.
"""

from __future__ import annotations

import importlib.resources
from pathlib import Path

from docutils import nodes
from fontTools import subset
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def inline(translator, node: nodes.math) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math-block">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


LETTERS = "".join(map(chr, [*range(0x20, 0x7F), *range(0x391, 0x3CA), *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]))
SIGNS = "ϕϵϑ±×·÷¬ℎℝℕℤ←↑→↓⊤" + "".join(map(chr, [*range(0x2010, 0x2070), *range(0x2200, 0x2300)]))


def font(app: Sphinx, error: Exception | None) -> None:
    """Write those letters and signs of STIX Two Math, which ziamath ships, beside the style sheet that names them."""
    if error or app.builder.format != "html":
        return
    options = subset.Options(layout_features=["ssty"], hinting=False, recalc_timestamp=False)
    with importlib.resources.as_file(importlib.resources.files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf") as path:
        whole = subset.load_font(str(path), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=LETTERS + SIGNS)
    subsetter.subset(whole)
    whole.flavor = "woff"
    whole.save(Path(app.outdir) / "_static" / "math.woff")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("build-finished", font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
