"""A kind of page: its path, its pages, and the content of each."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from assay.viewer.runs import Viewer

Keys = Mapping[str, str]  # values of the names in a kind's path, such as ``run`` and ``instance``

_NAME = re.compile(r"\{(\w+)\}")


def list_runs(viewer: Viewer) -> Iterator[Keys]:
    yield from ({"run": key} for key in viewer.runs)


@dataclass(frozen=True, slots=True)
class PageKind:
    """One kind of page. Server and static writer find pages in no other way."""

    name: str
    """Used in templates: ``link("instance", run=..., instance=...)``."""
    path: str
    """Path below the root, with names in braces; each stands for one part of a path."""
    template: str
    """File in ``templates/``; it gets the result of ``view`` under that name."""
    view: Callable[[Viewer, Keys], object | None]
    """Returns the content of a page; None if there is no such page."""
    pages: Callable[[Viewer], Iterable[Keys]]
    """Yields the keys of every page of this kind, for the static writer."""

    def make_path(self, keys: Keys) -> str:
        return _NAME.sub(lambda name: keys[name[1]], self.path)

    def make_url(self, keys: Keys) -> str:
        return quote(self.make_path(keys))

    def parse_path(self, path: str) -> Keys | None:
        """Return the keys of the page at a path (not quoted); None if the path is of another kind."""
        pattern = "".join(
            f"(?P<{part}>[^/]+)" if number % 2 else re.escape(part)
            for number, part in enumerate(_NAME.split(self.path))
        )
        found = re.fullmatch(pattern, path)
        return found.groupdict() if found else None
