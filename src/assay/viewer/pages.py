"""Every kind of page, and the way from a path to its HTML."""

from assay.viewer import annotate, beside, compare, findings, home, instance, instances, overview, trajectories
from assay.viewer.page import Keys, PageKind
from assay.viewer.rendering import Renderer
from assay.viewer.runs import Viewer

KINDS: tuple[PageKind, ...] = (
    home.PAGE,
    compare.PAGE,
    beside.PAGE,
    overview.PAGE,
    instances.PAGE,
    instance.PAGE,
    findings.RUN_PAGE,
    findings.PAGE,
    trajectories.PAGE,
    annotate.LIST,
    annotate.GRADE,
    annotate.JUDGE,
)
"""A path belongs to the first kind that it fits."""


class Pages:
    """The pages of some runs."""

    def __init__(self, viewer: Viewer, *, is_served: bool = False, control: bool = False, token: str = "") -> None:
        """``is_served``: pages that no list names, such as any choice of runs, are there too.

        ``control``: there are buttons that control runs at work. ``token`` is in every form.
        """
        self.viewer = viewer
        self._renderer = Renderer(KINDS, viewer, is_served=is_served, control=control, token=token)

    def find_html(self, path: str) -> str | None:
        """Return the page at a path below the root (not quoted); None if there is none."""
        for kind in KINDS:
            if (keys := kind.parse_path(path)) is not None:
                return self.html(kind, keys)
        return None

    def html(self, kind: PageKind, keys: Keys) -> str | None:
        """Return one page; None if there is none with these keys."""
        view = kind.view(self.viewer, keys)
        return None if view is None else self._renderer.render(kind, keys, view)
