"""Pages to HTML: templates with everything escaped, and the few helpers that return markup.

Nothing of a run is markup. A template may use ``code``, ``json_block`` and the result of ``markdown``, which escape all
that they are given; any other text is made readable (``text.readable``) and escaped by Jinja2. Data for scripts is JSON
in a ``<script type="application/json">`` block: no browser runs it, it needs no request (so it works from ``file://``),
and no other site can read it as a script.
"""

import json
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from assay.version import __version__
from assay.viewer.figures import FILTERS
from assay.viewer.groups import find_group
from assay.viewer.highlight import highlight
from assay.viewer.live import describe, read_live
from assay.viewer.page import Keys, PageKind
from assay.viewer.runs import Viewer
from assay.viewer.text import cut_lines, readable

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; object-src 'none'"
)
"""Content-Security-Policy of every page: own script and style files only; nothing inline, nothing from elsewhere."""

SERVED = f"{CSP}; connect-src 'self'"  # for the events of a live run
CONTROLLING = SERVED.replace("form-action 'none'", "form-action 'self'")

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_IN_JSON = str.maketrans(_ESCAPES)


class Renderer:
    """Renders pages of some kinds."""

    def __init__(
        self, kinds: Iterable[PageKind], viewer: Viewer, *, is_served: bool, control: bool = False, token: str = ""
    ) -> None:
        self._kinds = {kind.name: kind for kind in kinds}
        self._environment = make_environment()
        self._environment.globals |= {
            "viewer": viewer,
            "csp": CONTROLLING if token else SERVED if is_served else CSP,
            "version": __version__,
            "is_served": is_served,
            "control": control,
            "token": token,
            "read_live": read_live if is_served else lambda _run: None,
            "describe": describe,
            "find_group": partial(find_group, viewer),
        }

    def render(self, kind: PageKind, keys: Keys, view: object) -> str:
        """Return a page's HTML. Its links are relative, so that it works at any place."""
        root = "../" * kind.path.count("/")
        template = self._environment.get_template(kind.template)
        return template.render(view=view, page=kind.name, keys=keys, root=root, link=partial(self._link, root))

    def _link(self, _root: str, _kind: str, **keys: str) -> str:
        return _root + self._kinds[_kind].make_url(keys)


def make_environment() -> "Environment":
    """Return the Jinja2 environment of all templates: autoescape on, unknown names are errors."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("assay.viewer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_fit,
    )
    environment.globals |= {"json_block": json_block}
    environment.filters |= {"code": code, "breakable": breakable, **FILTERS}
    return environment


def _fit(value: object) -> object:
    """Make plain text readable before it is escaped; markup stays."""
    return readable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def json_block(name: str, data: object) -> "Markup":
    """Return data as a block that a script reads by its id ``name``, which must be ours, not a run's."""
    from markupsafe import Markup

    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_IN_JSON)
    return Markup('<script type="application/json" id="{}">{}</script>').format(name, Markup(text))


def code(text: str, lexer: str = "", path: str = "") -> "Markup":
    """Return text with the classes of Pygments' tokens, without a ``<pre>``; arguments as ``highlight`` has."""
    return highlight(cut_lines(readable(text)), lexer=lexer, path=path)


def breakable(name: str) -> "Markup":
    """Return a name whose line may break behind dots."""
    from markupsafe import Markup, escape

    return Markup(".<wbr>").join(escape(part) for part in readable(name).split("."))
