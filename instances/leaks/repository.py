"""Rules about git: objects, refs and whatever else leads to another commit than the base."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from assay.harness.names import count
from assay.instances.audit.finding import Severity
from assay.instances.leaks.facts import LayerFacts
from assay.instances.leaks.finding import AuditedImage, HiddenAnswer, ImageFinding, ImageRule
from assay.instances.leaks.unpacked import OBJECT

SHARED = 3
"""Objects in common with the base tree from which on a repository is one of the project; licences are in many."""
SHOWN = 5  # files with strange objects that are listed one by one
_PACK = re.compile(r"(?P<folder>.*?)/?pack/[^/!]+\.(?:idx|pack)$")
_LEADS = re.compile(
    r"(?:ORIG_HEAD|FETCH_HEAD|MERGE_HEAD|CHERRY_PICK_HEAD|REVERT_HEAD|BISECT_HEAD|COMMIT_EDITMSG|shallow"
    r"|objects/info/(?:http-)?alternates|(?:modules|worktrees)/.+)$"
)
_REMOTE = re.compile(r"^\s*\[remote\b", re.M)
_MAIN = "refs/heads/main"
"""The branch of repositories that Assay makes."""
_BRANCH = re.compile(r"refs/heads/[^/].*")


@dataclass(slots=True)
class _Repository:
    """What one layer has of a git directory."""

    objects: dict[str, str] = field(default_factory=dict)
    """Id to the file that it is in."""
    files: dict[str, str] = field(default_factory=dict)
    """Path in the git directory to text."""


def objects(image: AuditedImage, answer: HiddenAnswer) -> Iterator[ImageFinding]:
    """Find objects that are not the base tree's; in lower layers, an ancestor's may be."""
    for ref in answer.trees.strangers(answer.ref, answer.below):
        what = f"a layer was made of commit {ref.commit[:12]}, which is no ancestor of the base commit"
        yield ImageFinding(rule=ImageRule.OBJECTS, severity=Severity.FAULT, path="(layers below)", what=what)
    allowed = answer.list_allowed()
    layers = [_repositories(layer.facts) for layer in image.layers]
    own = _own(image, layers, answer)
    for number, repositories in enumerate(layers):
        for folder in sorted(own & repositories.keys()):
            found = repositories[folder].objects
            strange = frozenset(found.keys() - allowed)
            if strange:
                yield from _strange(image, number, {name: found[name] for name in strange}, answer)
    yield from _find_visible(image, layers, own, answer)


def _strange(
    image: AuditedImage, layer: int, strange: Mapping[str, str], answer: HiddenAnswer
) -> Iterator[ImageFinding]:
    """Yield a finding for each file with such objects, but not for more than a few."""
    later = answer.trees.later_objects(answer.ref, strange)
    severity, whose = Severity.FAULT, "that the base tree does not need"
    if later:
        strange, whose = {name: strange[name] for name in later}, "that no ancestor of the base commit has"
    elif later is not None and not image.strict:
        severity, whose = Severity.DOUBT, "of earlier commits"
    files: defaultdict[str, list[str]] = defaultdict(list)
    for name, path in strange.items():
        files[path].append(name)
    for path in sorted(files)[:SHOWN]:
        what = f"{count(len(files[path]), 'object')} {whose}, such as {min(files[path])[:12]}"
        yield image.finding(ImageRule.OBJECTS, layer, path, what, severity)
    if len(files) > SHOWN:
        left = sum(len(files[path]) for path in sorted(files)[SHOWN:])
        yield image.finding(ImageRule.OBJECTS, layer, min(files), f"{count(left, 'object')} more {whose}", severity)


def _find_visible(
    image: AuditedImage, layers: list[dict[str, _Repository]], own: Collection[str], answer: HiddenAnswer
) -> Iterator[ImageFinding]:
    """Find what a container sees beyond the base tree, though it is an ancestor's."""
    if not image.strict:
        return
    for folder in sorted(own):
        seen = {
            name: (number, path)
            for number, repositories in enumerate(layers)
            for name, path in repositories.get(folder, _Repository()).objects.items()
            if image.seen.get(path) == number
        }
        if beyond := seen.keys() & answer.list_allowed() - answer.base.ids:
            number, path = seen[min(beyond)]
            what = f"a container sees {count(len(beyond), 'object')} of earlier commits"
            yield image.finding(ImageRule.OBJECTS, number, path, what)


def refs(image: AuditedImage, answer: HiddenAnswer | None) -> Iterator[ImageFinding]:
    """Find refs beyond one branch, tags of its commit apart, and other ways to another commit."""
    layers = [_repositories(layer.facts) for layer in image.layers]
    own = _own(image, layers, answer)
    root = image.config.workdir.strip("/")
    heads = {folder: [each[folder].files.get(_MAIN) for each in layers if folder in each] for folder in own}
    for number, repositories in enumerate(layers):
        for folder in sorted(own & repositories.keys()):
            prefix = f"{folder}/" if folder else ""
            for path, text in sorted(repositories[folder].files.items()):
                for what in _ways(path, text, heads[folder]):
                    yield image.finding(ImageRule.REFS, number, prefix + path, what)
        for path in sorted(repositories):
            if root and path.startswith(f"{root}/") and path != f"{root}/.git" and path.endswith("/.git"):
                yield image.finding(ImageRule.REFS, number, path, "a second repository inside of the tree")
    yield from _branches(image, layers, own)


def _ways(path: str, text: str, heads: Collection[str | None]) -> Iterator[str]:
    """Yield the faults of one of git's files; the path is relative to the git directory."""
    if _LEADS.match(path) and text.strip():
        yield f"{path} leads to other commits"
    elif path.startswith("logs/") and text.strip():
        yield "a reflog"
    elif path == "config" and _REMOTE.search(text):
        yield "a remote"
    elif path.startswith("refs/") and not _BRANCH.fullmatch(path) and text not in heads:
        yield f"the ref {path}"
    elif path == "packed-refs":
        yield from (f"the ref {name}" for name in _read_packed_refs(text) if not _BRANCH.fullmatch(name))


def _branches(
    image: AuditedImage, layers: list[dict[str, _Repository]], own: Collection[str]
) -> Iterator[ImageFinding]:
    for folder in sorted(own):
        found: dict[str, tuple[int, str]] = {}
        for number, repositories in enumerate(layers):
            files = repositories.get(folder, _Repository()).files
            names = [path for path in files if _BRANCH.fullmatch(path)]
            found |= {name: (number, f"{folder}/{name}") for name in names}
            packed = (name for name in _read_packed_refs(files.get("packed-refs", "")) if _BRANCH.fullmatch(name))
            found |= dict.fromkeys(packed, (number, f"{folder}/packed-refs"))
        for name in sorted(found)[1:]:
            yield image.finding(ImageRule.REFS, *found[name], f"more than one branch: {name}")


def _read_packed_refs(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line and line[0] not in "#^":
            yield line.partition(" ")[2]


def _own(image: AuditedImage, layers: list[dict[str, _Repository]], answer: HiddenAnswer | None) -> frozenset[str]:
    """Return the git directories of the project: the working folder's, and others that share its objects."""
    root = image.config.workdir.strip("/")
    own = {f"{root}/.git" if root else ".git"}
    if answer:
        known = answer.base.ids - {_EMPTY}
        for repositories in layers:
            own |= {
                folder
                for folder, each in repositories.items()
                if len(each.objects.keys() & known) >= min(SHARED, len(known))
            }
    return frozenset(own & {folder for repositories in layers for folder in repositories})


_EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"  # id of the empty file


def _repositories(facts: LayerFacts) -> dict[str, _Repository]:
    found: defaultdict[str, _Repository] = defaultdict(_Repository)
    for path in facts.files:
        if match := OBJECT.search(path):
            folder = path[: match.start()].removesuffix("/objects").removesuffix("objects")
            found[folder].objects[match[1] + match[2]] = path
    for path, ids in facts.packed.items():
        if match := _PACK.match(path):
            folder = match["folder"].removesuffix("/objects").removesuffix("objects")
            found[folder].objects |= dict.fromkeys(ids, path)
    folders = sorted(found, key=len, reverse=True)
    for path, text in facts.git.items():
        folder, inside = _split(path, folders)
        if inside:
            found[folder].files[inside] = text
    return dict(found)


def _split(path: str, folders: list[str]) -> tuple[str, str]:
    """Split the path of one of git's files after its git directory."""
    if path == ".git" or path.endswith("/.git"):
        return path, ""
    if match := re.match(r"(?:(.*)/)?(\.git|[^/!]+\.git)/(.+)", path):
        return path[: match.end(2)], match[3]
    folder = next((each for each in folders if path.startswith(f"{each}/")), "")
    return (folder, path[len(folder) + 1 :]) if folder else ("", "")
