"""Settings of Sphinx: the site is made of docs/*.md and the Markdown files of the root, each as it is.

``make docs`` builds it into build/docs. Nothing is fetched, while it is built or while it is read.
"""

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))

import assay  # noqa: E402 - before autodoc, which plays a type checker while it imports
import command_reference  # noqa: E402 - beside this file

PUBLIC = [getattr(assay, name) for name in assay.__all__]

project = "Assay"
author = "the Assay contributors"
project_copyright = f"2026, {author}"
release = assay.__version__
root_doc = "docs/index"
include_patterns = ["docs/*.md", "docs/*/*.md", "*.md"]
exclude_patterns = ["README.md", *(path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "docs")]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
nitpicky = False

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "exclude-members": "model_config"}
toc_object_entries = False
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = f"Assay {release}"
html_static_path = ["static"]
html_css_files = ["assay.css"]
html_extra_path = ["root"]
html_show_sphinx = False
html_copy_source = False


def _fill(_app: Any, page: str, source: list[str]) -> None:
    """Put the command reference, which is made from the command line itself, into its page."""
    if page == "docs/commands":
        source[0] += "\n" + command_reference.reference()


def _keep_sentences(_app: Any, what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Keep napoleon from taking what an attribute's docstring says before a colon for the attribute's type."""
    if what in {"attribute", "data", "property"}:
        lines.insert(0, "")


def setup(app: Any) -> None:
    """Connect to Sphinx's events."""
    app.connect("source-read", _fill)
    app.connect("autodoc-process-docstring", _keep_sentences, priority=400)  # napoleon comes at 500
