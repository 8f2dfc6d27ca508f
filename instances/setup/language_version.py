"""Chooses a project's version of its language among the available toolchains. Pure."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from assay.instances.toolchains.versions import load_versions

IN_USE = timedelta(days=120)  # time after which most packages run on a new version of a language


def choose_version(
    language: str, available: Sequence[str], day: date, *, requires: str = "", named: Iterable[str] = ()
) -> str:
    """Return the version to try first; empty for the language's usual one.

    It is the newest that the project names (in its workflows, or its classifiers) and that was in use on the ``day`` of
    the commit; else the nearest to those; always one that ``requires``, a PEP 440 specifier, allows. Names that are no
    versions are left out.
    """
    allowed = [each for each in sort_versions(available) if allows(requires, each)]
    if not allowed:
        return ""
    wanted = set(sort_versions(named))
    in_use = [each for each in allowed if get_release_date(language, each) + IN_USE <= day]
    matching = [each for each in allowed if minor(each) in {minor(name) for name in wanted}]
    timely = [each for each in matching if each in in_use]
    if timely or matching:
        return (timely or matching[:1])[-1]
    if wanted:
        newest = sort_versions(wanted)[-1]
        return next((each for each in allowed if Version(each) >= Version(newest)), allowed[-1])
    usual = load_versions(language).default
    return usual if usual in in_use else (in_use[-1] if in_use else allowed[0])


def allows(requires: str, version: str) -> bool:
    """Return whether a bound allows a version, with whatever patch release it has; a malformed bound allows all."""
    try:
        bound = SpecifierSet(requires)
    except InvalidSpecifier:
        return True
    return bound.contains(Version(version)) or bound.contains(Version(f"{minor(version)}.99"))


def get_release_date(language: str, version: str) -> date:
    known = load_versions(language).versions.get(version)
    return (known and known.released) or date.min


def minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def sort_versions(versions: Iterable[str]) -> list[str]:
    """Return versions from the oldest; what is none, such as ``3.x`` or ``pypy3``, is left out."""
    found = []
    for each in dict.fromkeys(versions):
        try:
            found.append((Version(each), each))
        except InvalidVersion:
            continue
    return [each for _, each in sorted(found)]
