"""Plug-ins by name: a short name, an entry point or a ``module:attribute`` path, imported only when used."""

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from assay.harness.errors import PluginError


def resolve(kind: str, name: str, known: Mapping[str, str]) -> Any:
    """Return the object that the name of a plug-in stands for.

    Args:
        kind: the seam in the singular, e.g. ``engine``; third parties register under ``assay.<kind>s``.
        name: a known short name, a registered entry point or a ``module:attribute`` path.
        known: short name to ``module:attribute``; a registered path may also name a whole module.

    Raises:
        PluginError: the name is unknown or its module cannot be imported.
    """
    path = known.get(name) or _registered(kind).get(name) or (name if ":" in name else "")
    if not path:
        names = ", ".join(sorted({*known, *_registered(kind)}))
        raise PluginError(f"unknown {kind} {name!r}; known are {names}, or give module:attribute")
    module, _, attribute = path.partition(":")
    try:
        loaded = import_module(module)
        return getattr(loaded, attribute) if attribute else loaded
    except (ImportError, AttributeError) as error:
        raise PluginError(f"{kind} {name!r} cannot be loaded: {error}") from error


def _registered(kind: str) -> dict[str, str]:
    return {point.name: point.value for point in entry_points(group=f"assay.{kind}s")}
