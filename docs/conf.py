"""The site of the documentation: `make docs` builds it, without a network, into docs/_build/html."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]
os.environ.setdefault("GPUSTATS_OPTIMISE", "0")  # pictures need each kernel once: a third of the time to compile it

import gpustats  # noqa: E402

project = "gpustats"
author = "The gpustats developers"
copyright = author
release = version = gpustats.__version__

extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_copybutton", "sphinx_design",
    "cards", "commands", "distributions", "keywords", "mathml", "measurements", "notebooks", "repository",
]  # fmt: skip
myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
templates_path = ["_templates"]

autosummary_generate = sorted(str(page) for page in HERE.glob("api/*.md"))  # those of a new page at once, too
autodoc_typehints = "none"  # numpydoc's sections say what is taken
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
default_role = "py:obj"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "gpustats"
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["gpustats.css"]
html_js_files = ["accessibility.js", "pictures.js", "sidebar.js"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}  # the theme's script would complain of none
html_sidebars = {name: [] for name in ("index", "performance", "examples", "field", "scale", "glossary")}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "article_header_end": ["notebook"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "navigation_with_keys": False,
}


def escape_shapes(app, what, name, thing, options, lines):
    """Shapes such as (*size, n) in docstrings are no emphasis."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else line.replace("(*", r"(\*") for line in lines]


def setup(app):
    app.connect("autodoc-process-docstring", escape_shapes, priority=900)  # behind numpydoc
