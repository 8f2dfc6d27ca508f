"""Pairs of releases that follow each other in a package index, and the instances that they may become."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from assay.harness.domain import Archive, Instance, Origin, TreeRef
from assay.harness.errors import DataError, EnvironmentFailure
from assay.harness.files import read_yaml
from assay.harness.names import did_you_mean
from assay.instances.collect.pair import MANY, NOT_HERE
from assay.instances.collect.steps import Found, Paired, ReleasePair
from assay.instances.dataset.derive import Derivation, Release, Statement, derive, find_added_lines, read_text, section
from assay.instances.trees.content import TreeEntry, read_tar
from assay.instances.trees.indexes import INDEXES, IndexedRelease, WrongArchive, first_download
from assay.instances.trees.sources import Sources

BUNDLED_PACKAGES = Path(__file__).parent.parent / "releases" / "packages.yaml"
"""The packages that Assay lists."""
LOGS = ("*change*", "*history*", "*news*", "*release*", "*versions*")
"""Patterns of the names, in lower case, of files that may hold a log of changes."""
TEXTS = frozenset({"", ".md", ".rst", ".txt", ".markdown"})
LONGEST = 20_000  # characters of a statement; a longer one comes from a log without sections
MANIFESTS = {"pypi": "PKG-INFO", "crates": "Cargo.toml", "npm": "package.json"}
"""Files of an archive that name the repository of a package."""
FIRST_DAY = date(1970, 1, 1)
NEAR = timedelta(days=31)  # between the day that an index gives and the day that a change log gives
_DAY = re.compile(r"(?<!\d)20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d)(?!\d)")
NO_HASH = "0" * 64
NO_OWNERS = frozenset({"sponsors", "orgs"})
_REPOSITORY = re.compile(r"github\.com[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?(?=[/\"'#\s,>)]|$)")


@dataclass(frozen=True, slots=True)
class Package:
    index: str
    name: str

    def __str__(self) -> str:
        return f"{self.index}:{self.name}"


def parse_package(name: str) -> Package | None:
    """Read ``INDEX:NAME``; None for anything else, such as the name of a repository."""
    index, colon, package = name.partition(":")
    return Package(index, package) if colon and package and index in INDEXES else None


def read_packages(path: Path) -> list[str]:
    """Read lists of packages by index, as ``INDEX:NAME`` each; raises DataError if the file is something else."""
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise DataError("is no mapping of indexes to lists of packages", file=str(path))
    for index, names in content.items():
        if index not in INDEXES:
            raise DataError(f"is no package index{did_you_mean(str(index), INDEXES)}", file=str(path), field=str(index))
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise DataError("is no list of packages", file=str(path), field=str(index))
    return [f"{index}:{name}" for index, names in content.items() for name in names]


def find_releases(package: Package, sources: Sources, since: date | None, until: date | None) -> Iterator[Found]:
    """Yield a line for each release of a package between two dates, by version, with the one before it.

    A package without one has a line of its own, which says why.
    """
    name = _id(package)
    try:
        known = INDEXES[package.index].releases(package.name, since or FIRST_DAY, sources.cache, sources.toolchains)
    except EnvironmentFailure as error:
        yield Found(id=name, rule=NOT_HERE, reason=error.problem)
        return
    if not any(_is_between(each, since, until) for each in known):
        yield Found(id=name, rule="no release", reason="no final release came out between the dates")
    for number, new in enumerate(known):
        if _is_between(new, since, until):
            yield _describe_release(package, known, number)


def _describe_release(package: Package, known: Sequence[IndexedRelease], number: int) -> Found:
    """Return the line of one of the releases of a package."""
    new, name = known[number], _id(package, known[number].version)
    later = next((each for each in known[number + 1 :] if each.date and new.date and each.date < new.date - NEAR), None)
    if number == 0:
        return Found(id=name, rule="first", reason="the index has no release before it")
    if later is not None and not INDEXES[package.index].SURE_OF_DATES:
        return Found(id=name, rule="date", reason=f"the index gives a copy's day: {later.version} is older")
    pair = ReleasePair(index=package.index, name=package.name, old=known[number - 1], new=new)
    return Found(id=name, releases=pair)


def is_release_line(package: Package, line: Found) -> bool:
    if line.releases:
        return (line.releases.index, line.releases.name) == (package.index, package.name)
    return line.id.startswith(_id(package))


def _is_between(release: IndexedRelease, since: date | None, until: date | None) -> bool:
    day = release.date.astimezone(UTC).date() if release.date else None
    return day is not None and (since is None or day >= since) and (until is None or day <= until)


def pair_releases(found: Found, sources: Sources, stated: str = "") -> Paired:
    """Return the line of two releases: patches, repository and statement, or why there is no instance in them.

    The statement is ``stated``, or the part of the change log that the release adds, if it has such a file.
    """
    pair = found.releases
    assert pair is not None
    try:
        archives = [_archive(pair, each, sources) for each in (pair.old, pair.new)]
        old, new = (list(read_tar(sources.tree(TreeRef(pair.name, archive=each)))) for each in archives)
    except WrongArchive as error:
        return Paired(id=found.id, rule="archive", reason=error.problem)
    except EnvironmentFailure as error:
        return Paired(id=found.id, rule=NOT_HERE, reason=error.problem)
    spec = Derivation.model_validate(
        {
            "index": pair.index,
            "name": pair.name,
            "from": Release(version=archives[0].version, sha256=archives[0].sha256),
            "to": Release(version=archives[1].version, sha256=archives[1].sha256),
            "statement": None if stated else find_log(old, new, pair),
        }
    )
    return _make_pair(found.id, pair, spec, find_repository(pair, new), sources, stated)


def _make_pair(name: str, pair: ReleasePair, spec: Derivation, repo: str, sources: Sources, stated: str) -> Paired:
    language = INDEXES[pair.index].LANGUAGE
    try:
        derived = derive(spec, sources, language)
    except DataError as error:
        return Paired(id=name, rule="not text", reason=error.problem)
    changed = len(re.findall("^diff --git ", derived.gold_patch + derived.test_patch, re.MULTILINE))
    if changed > MANY:
        return Paired(id=name, rule="many files", reason=f"it changes {changed} files")
    source = "file" if stated else "change log"
    moment, reason = release_time(pair, derived.problem_statement)
    if reason:
        return Paired(id=name, rule="date", reason=reason)
    instance = Instance(
        id=name,
        repo=repo,
        archive=spec.archive(spec.old),
        language=language,
        problem_statement=stated or derived.problem_statement,
        gold_patch=derived.gold_patch,
        test_patch=derived.test_patch,
        fail_to_pass=(),
        pass_to_pass=(),
        created_at=moment,
        version=pair.old.version.removeprefix("v"),
        origin=Origin(dialect="collect", columns=(("statement_from", json.dumps(source)),)),
    )
    return Paired(id=name, instance=instance, derivation=spec, statement_from=source)


def find_log(old: Sequence[TreeEntry], new: Sequence[TreeEntry], pair: ReleasePair) -> Statement | None:
    """Return the section of a release's version in its change log, else the lines that it adds to the log."""
    logs = sorted((each.path for each in new if _is_log(each.path)), key=lambda path: (path.count("/"), path))
    texts = {path: (read_text(old, path), read_text(new, path)) for path in logs}
    for path, (_, text) in texts.items():
        found = section(text, pair.new.version, pair.old.version)
        if found and len(found) <= LONGEST and section(text, pair.old.version, ""):
            return Statement(file=path)
    for path, (before, text) in texts.items():
        found = find_added_lines(before, text)
        if pair.new.version.removeprefix("v") in found and len(found) <= LONGEST:
            return Statement(file=path, added=True)
    return None


def release_time(pair: ReleasePair, statement: str) -> tuple[datetime, str]:
    """Return when a release came out, and why that is not sure; empty if it is.

    A day at the top of the section of the change log has to be near the day that the index gives, and stands in its
    place if the index may give that of a copy.
    """
    told = pair.new.date
    assert told is not None
    logged = next(iter(_DAY.findall(statement.partition("\n")[0])), "")
    if not logged:
        unsure = not INDEXES[pair.index].SURE_OF_DATES
        return told, "the index may give the day of a copy, and the change log gives none" * unsure
    day = datetime.fromisoformat(logged).replace(tzinfo=UTC)
    if abs(told - day) > NEAR:
        return told, f"the index gives {told:%Y-%m-%d}, the change log {logged}"
    return (told if INDEXES[pair.index].SURE_OF_DATES else day), ""


def _is_log(path: str) -> bool:
    name = PurePosixPath(path.lower())
    return name.suffix in TEXTS and any(fnmatchcase(name.stem, pattern) for pattern in LOGS)


def find_repository(pair: ReleasePair, tree: Iterable[TreeEntry]) -> str:
    """Return ``owner/name`` of a package's repository, as its archive or its own name says, else index and name."""
    links = [pair.name] if pair.index == "go" else _links(pair.index, read_text(tree, MANIFESTS[pair.index]))
    matches = (_REPOSITORY.search(link) for link in links)
    found = next((match for match in matches if match and match[1] not in NO_OWNERS), None)
    return f"{found[1]}/{found[2]}" if found else f"{pair.index}/{_last(pair.name)}"


def _links(index: str, manifest: str) -> list[str]:
    try:
        if index == "npm":
            about = json.loads(manifest)
            return [json.dumps(about.get("repository", "")), str(about.get("homepage", ""))]
        if index == "crates":
            about = tomllib.loads(manifest).get("package", {})
            return [str(about.get("repository", "")), str(about.get("homepage", ""))]
    except (ValueError, AttributeError):
        return []
    heads = [line for line in manifest.partition("\n\n")[0].splitlines() if re.match("Project-URL|Home-page", line)]
    return sorted(
        heads, key=lambda line: not re.search("repo|source|code|home", line.partition("http")[0], re.IGNORECASE)
    )


def _archive(pair: ReleasePair, release: IndexedRelease, sources: Sources) -> Archive:
    """Return the archive of a release, fetched if the index does not say its hash."""
    fields = {"index": pair.index, "name": pair.name, "version": release.version, "sha256": release.sha256 or NO_HASH}
    archive = Archive.model_validate(fields)
    return archive if release.sha256 else first_download(archive, sources.cache, sources.toolchains)


def _id(package: Package, version: str = "") -> str:
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", package.name.removeprefix("github.com/"))
    return f"{package.index}__{name}" + (f"-{version.removeprefix('v')}" if version else "")


def _last(name: str) -> str:
    """Return the last part of a package's name that is no major version."""
    return next(part for part in reversed(name.split("/")) if not re.fullmatch(r"v\d+", part))
