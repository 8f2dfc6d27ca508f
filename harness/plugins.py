"""Parts by name: one typed registry for every seam, with entry points for other distributions."""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, TypeVar

from assay.harness.errors import PluginError
from assay.harness.names import did_you_mean

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """The parts of one seam by name: ours, in their order, then those of other distributions that were found.

    A light part stands in the registry itself, and mypy checks it against the Protocol at that line. A heavy part is
    the text ``module:attribute`` and is imported when it is used.
    """

    def __init__(self, kind: str, group: str, parts: Mapping[str, T | str], *, needs: type | None = None) -> None:
        """Hold the parts of a seam.

        Args:
            kind: the seam in the singular, for errors.
            group: the entry-point group in which other distributions register parts; empty if there is none.
            parts: parts, or the paths of parts.
            needs: the Protocol whose members a part that mypy cannot see must have, or the class that it must be of.
        """
        self.kind, self.group, self.needs = kind, group, needs
        self.parts = dict(parts)

    def __getitem__(self, name: str) -> T:
        part = self.parts[name]
        return self._load(name, part) if isinstance(part, str) else part

    def __contains__(self, name: object) -> bool:
        return name in self.parts

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def find(self, name: str) -> T:
        """Return the part of a name in data, which may import no module of its own; raises PluginError."""
        if name not in self:
            path = self._read_group().get(name)
            if path is None:
                raise PluginError(self._describe_unknown(name))
            self.parts[name] = self._load(name, path)
        return self[name]

    def resolve(self, name: str, others: Iterable[str] = ()) -> T:
        """Return the part that a person names, or gives as ``module:attribute``; PluginError names ``others``, too."""
        if name in self or name in self._read_group():
            return self.find(name)
        if ":" not in name:
            raise PluginError(f"{self._describe_unknown(name, others)} (or give module:attribute)")
        return self._load(name, name)

    def load_group(self) -> None:
        """Load every part of other distributions now, and put them before ours; raises PluginError."""
        loaded: dict[str, T | str] = {}
        for name, path in sorted(self._read_group().items()):
            part = self._load(name, path)
            own_name = getattr(part, "NAME", name)
            if other := loaded.get(own_name, self.parts.get(own_name)):
                raise PluginError(f"two {self.kind}s are called {own_name}: {other!r} and {part!r}")
            loaded[own_name] = part
        self.parts = loaded | self.parts

    def _load(self, name: str, path: str) -> T:
        module, _, attribute = path.partition(":")
        try:
            loaded: Any = import_module(module)
            part: T = getattr(loaded, attribute) if attribute else loaded
        except (ImportError, AttributeError) as error:
            raise PluginError(f"{self.kind} {name!r} cannot be loaded: {error}") from error
        if self.needs:
            check_part(f"{self.kind} {getattr(part, '__name__', repr(name))}", self.needs, part)
        return part

    def _read_group(self) -> dict[str, str]:
        return {point.name: point.value for point in entry_points(group=self.group)} if self.group else {}

    def _describe_unknown(self, name: str, others: Iterable[str] = ()) -> str:
        return f"unknown {self.kind} {name!r}{did_you_mean(name, {*self, *self._read_group(), *others})}"


def check_part(what: str, needs: type, part: object) -> None:
    """Raise PluginError if an object, often a module, lacks a member of a Protocol or is not of a class.

    No property is read: it may ask an engine, or have no answer here.
    """
    if not getattr(needs, "_is_protocol", False):
        if not isinstance(part, needs):
            raise PluginError(f"{what} is no {needs.__module__}.{needs.__name__} but {part!r}")
        return
    members = {name for each in needs.__mro__ for name in (*getattr(each, "__annotations__", ()), *vars(each))}
    missing = sorted(n for n in members if n[0] != "_" and not (hasattr(type(part), n) or hasattr(part, n)))
    if missing:
        problem = f"{what} lacks {', '.join(missing)}"
        raise PluginError(f"{problem}; it needs all members of {needs.__name__} in {needs.__module__}")
