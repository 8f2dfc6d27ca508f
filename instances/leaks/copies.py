"""The rule about other versions of the project: second copies of its files, in package folders and in caches."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from packaging.version import InvalidVersion, Version

from assay.harness.names import count
from assay.instances.audit.finding import Severity
from assay.instances.audit.subject import is_source, is_test_file
from assay.instances.leaks.finding import AuditedImage, HiddenAnswer, ImageFinding, ImageRule

ALIKE = 0.5
"""Share of a package's files from which on a folder with files of the same names is a copy of it."""
FEWEST = 2  # files in common that make a copy; a smaller package needs all of its own
MANY = 10  # files; from this number on, a copy has some that are unchanged, whatever its version
_MEMBERS = re.compile(r"^(?:python|pkg|packages|crates)/")
"""Folders that hold the packages of one repository."""
_SOURCES = re.compile(r"^(?:src|lib)/")  # folders that hold packages in most languages
_MODULES_IN_SOURCES = frozenset({"go", "rust"})
"""Languages in which these folders hold modules of one package, such as ``src/de``."""
_WHOLE_ALONE = frozenset({"go"})
"""Languages that distribute a repository's packages together, so that one file of a part shows no copy."""
_VERSION = re.compile(
    r"[-@]v?(\d+(?:\.\d+)+[\w.+-]*?)(?:\.(?:dist-info|egg-info|tar|tgz|zip|whl|crate|gem|jar)|-py\d|$)"
)
_VENDORED = re.compile(
    r"[/!](?:_vendor|_vendored|vendor|vendored|externals|third_party|_bundled|usr/share/python-wheels)(?:/|$)"
)
_STANDARD = re.compile(
    r"(?:usr/(?:local/)?|opt/\w*conda\w*/(?:envs/[^/]+/)?)lib/python3[.\d]*/(?!(?:.*/)?(?:site|dist)-packages/)"
    r"|usr/(?:lib|share)/go-[\d.]+/|usr/local/go/src/"
)
_COMMON = frozenset(
    {"src", "lib", "test", "tests", "testing", "doc", "docs", "example", "examples", "tools", "scripts", "api", "cmd"}
    | {"common", "config", "benches", "core", "errors", "internal", "log", "tasks", "types", "util", "utils", "version"}
)
"""Names of folders that many projects have; the whole tree is still found under the repository's name."""


@dataclass(slots=True)
class _Copy:
    found: set[str] = field(default_factory=set)
    """Paths below the package."""
    other: dict[str, str] = field(default_factory=dict)
    """Path in the layer to id, of the files that differ from the base tree's."""

    def belongs_to(self, package: Collection[str]) -> bool:
        """Return whether this is a copy of a package: of its top files or, if it has few, of all, enough are there."""
        top = {path for path in package if "/" not in path}
        counted = top if len(top) >= FEWEST else set(package)
        return len(self.found & counted) >= max(min(FEWEST, len(counted)), ALIKE * len(counted))


def later_release(image: AuditedImage, answer: HiddenAnswer) -> Iterator[ImageFinding]:
    """Find copies of the project that neither the base commit nor an ancestor of it accounts for."""
    packages, wholes = _packages(answer), _list_wholes(answer)
    root = f"{image.config.workdir.strip('/')}/"
    allowed = answer.list_allowed()
    versions = {n: _versions(layer.facts.files, packages) for n, layer in enumerate(image.layers)}
    for number, layer in enumerate(image.layers):
        for (folder, name), copy in _copies(layer.facts.files, packages, root, allowed).items():
            if not copy.other or not copy.belongs_to(packages[name]):
                continue
            if name not in wholes and len(copy.other) == len(copy.found) >= MANY:
                continue  # another project's folder, such as one of languages
            if name not in wholes and len(copy.found) < FEWEST and answer.instance.language in _WHOLE_ALONE:
                continue  # another module's folder of a usual name, such as metrics/metrics.go
            version = _find_version(folder, versions[number])
            earlier = _is_earlier(version, answer)
            if not earlier and answer.trees.later_objects(answer.ref, copy.other.values()) != frozenset():
                first = min(copy.other)
                shown = f" {version}" if version else ""
                what = f"a copy{shown} of the project's {name}, in which {count(len(copy.other), 'file')} differ"
                severity = Severity.DOUBT if is_vendored(folder) or is_packaged(folder) else Severity.FAULT
                yield image.finding(ImageRule.RELEASE, number, first, what, severity)


class Releases:
    """What the paths of a layer say about releases of the project."""

    def __init__(self, image: AuditedImage, layer: int, answer: HiddenAnswer) -> None:
        self._answer = answer
        self._versions = _versions(image.layers[layer].facts.files, _packages(answer))

    def is_earlier(self, path: str) -> bool:
        return _is_earlier(_find_version(path, self._versions), self._answer)


def is_packaged(path: str) -> bool:
    """Return whether only a distribution's packages fill a path's folder: they name tests and modules of all kinds."""
    return re.match(r"(?:usr/)?(?:lib|share)/", path) is not None


def is_vendored(path: str) -> bool:
    """Return whether another package carries this file within itself, as package clients do with what they need."""
    return bool(_VENDORED.search(f"/{path}"))


def is_standard(path: str) -> bool:
    """Return whether a file is where an installed language has its standard library, and no package."""
    return _STANDARD.match(path) is not None


def _is_earlier(version: str, answer: HiddenAnswer) -> bool:
    archive = answer.instance.archive
    base = archive.version if archive else answer.instance.version
    try:
        found, own = Version(version), Version(base)
    except InvalidVersion:
        return False
    parts = len(own.release)
    return found <= own if archive else found.release[:parts] < own.release


def _packages(answer: HiddenAnswer) -> dict[str, dict[str, str]]:
    """Return the source files of each package of the project: path below the package to id, by the package's name.

    A package is a top folder with sources, and the whole tree under the names of the repository and of the release.
    """
    language = answer.instance.language
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    wholes = _list_wholes(answer)
    for path, blob in answer.base.files.items():
        if not is_source(path, language) or is_test_file(path, language):
            continue
        for whole in wholes:
            found[whole][path] = blob
        inner = path if language in _MODULES_IN_SOURCES else _SOURCES.sub("", path)
        top, _, rest = _MEMBERS.sub("", inner).partition("/")
        if rest and top.lower() not in _COMMON:
            found[_normal(top)][rest] = blob
    return {name: files for name, files in found.items() if name}


def _list_wholes(answer: HiddenAnswer) -> set[str]:
    archive = answer.instance.archive
    return {_normal(name.rpartition("/")[2]) for name in (answer.instance.repo, archive.name if archive else "")}


def _copies(
    files: Mapping[str, str], packages: Mapping[str, Mapping[str, str]], root: str, allowed: frozenset[str]
) -> dict[tuple[str, str], _Copy]:
    """Return the copies of packages in a layer by their folder and name."""
    found: defaultdict[tuple[str, str], _Copy] = defaultdict(_Copy)
    suffixes = {PurePosixPath(path).suffix for package in packages.values() for path in package}
    for path, blob in files.items():
        if path.startswith(root) or PurePosixPath(path).suffix not in suffixes:
            continue
        at = 0
        for part in re.split(r"[/!]", path)[:-1]:
            at += len(part) + 1
            name = _normal(_VERSION.sub("", part))
            if name in packages and path[at:] in packages[name]:
                copy = found[path[: at - 1], name]
                copy.found.add(path[at:])
                if blob not in allowed:
                    copy.other[path] = blob
    return dict(found)


def _versions(files: Mapping[str, str], packages: Mapping[str, object]) -> dict[str, str]:
    """Return versions that names of folders and files say, by the folder that holds the package."""
    found = {}
    for path in files:
        parts = re.split(r"[/!]", path)
        for number, part in enumerate(parts):
            match = _VERSION.search(part)
            if match and _normal(part[: match.start()]) in packages:
                found["/".join(parts[: number + 1])] = match[1]
                found.setdefault("/".join([*parts[:number], _normal(part[: match.start()])]), match[1])
    return found


def _find_version(folder: str, versions: Mapping[str, str]) -> str:
    parts = re.split(r"[/!]", folder)
    for end in range(len(parts), 0, -1):
        for name in (parts[end - 1], _normal(parts[end - 1])):
            if version := versions.get("/".join([*parts[: end - 1], name])):
                return version
    return ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
