"""Rules about what an instance hides: the gold patch, the hidden tests and their ids."""

import math
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from assay.harness import languages
from assay.harness.languages.base import is_manifest
from assay.harness.patches.diff import FileChange, MalformedPatchError, read_diff
from assay.instances.audit.code import is_distinctive
from assay.instances.audit.finding import Severity
from assay.instances.audit.patches import function_names
from assay.instances.audit.subject import is_source
from assay.instances.leaks import facts
from assay.instances.leaks.copies import Releases, is_packaged, is_standard, is_vendored
from assay.instances.leaks.facts import SHORTEST_LINE, SHORTEST_WORD, Hashes, KeptLayer
from assay.instances.leaks.finding import AuditedImage, HiddenAnswer, ImageFinding, ImageRule

ALONE = 40  # characters of a line that gives a hunk away by itself


@dataclass(frozen=True, slots=True)
class _Part:
    """A hunk as a file would hold it."""

    where: str
    lines: frozenset[bytes]
    """Distinctive lines that it adds."""
    block: tuple[bytes, ...]
    """All lines of its new side that are not empty."""
    by_lines: bool = True
    """Whether some of its lines give it away; other projects' manifests name the same packages in the same words."""

    def count_needed(self, left: frozenset[bytes]) -> int:
        """Return how many of the lines that are left make a leak; 0 for never."""
        if not self.by_lines:
            return 0
        if len(left) > 1:
            return max(2, math.ceil(len(left) / 2))
        return 1 if left and len(next(iter(left))) >= ALONE else 0

    def is_held(self, found: frozenset[bytes], known: frozenset[bytes], data: bytes) -> bool:
        """Return whether a file holds it, by the lines of it that were found."""
        left = self.lines - known
        if not found & left:
            return False
        return 0 < self.count_needed(left) <= len(found & left) or _holds(data, self.block)


def gold(image: AuditedImage, answer: HiddenAnswer) -> Iterator[ImageFinding]:
    """Find hunks of the gold patch, and files as it leaves them."""
    return _patch(image, answer, answer.instance.gold_patch, ImageRule.GOLD)


def tests(image: AuditedImage, answer: HiddenAnswer) -> Iterator[ImageFinding]:
    """Find hunks of the test patch, and files as it leaves them."""
    return _patch(image, answer, answer.instance.test_patch, ImageRule.TESTS)


PACKAGES = re.compile(r"opt/(?:cargo|go|maven|node|venv)/|.*/site-packages/")
"""Folders of packages, which name tests of all kinds; a later release in them is found by its files."""


def test_ids(image: AuditedImage, answer: HiddenAnswer) -> Iterator[ImageFinding]:
    """Find files that name a test which has to be fixed: by its id, or by a new name together with its file's."""
    wanted = answer.instance.fail_to_pass
    ids = frozenset(facts.normal(each.encode()) for each in wanted if len(each) >= SHORTEST_LINE)
    named = {name.encode() for each in wanted for name in function_names(each) if len(name) >= SHORTEST_WORD}
    stems = {PurePosixPath(path).stem.encode() for path in _paths(answer.instance.test_patch)}
    if not _find_layers(image, named, ids):
        return
    ids -= answer.find_in_trees(ids, _find_ids)
    new = frozenset(named) - answer.find_in_trees(named, facts.split_words)
    clear = frozenset(each for each in ids if re.search(rb"::|/|\(", each))
    allowed, parts = frozenset(answer.list_allowed()), facts.longest_parts(ids)
    for number in _find_layers(image, new, ids):
        for path, data in _others(image, number, allowed):
            held = ids.intersection(_find_ids(data)) if facts.may_hold(data, parts) else frozenset[bytes]()
            if what := _describe_hidden_test(path, data, held, clear, new, stems):
                severity = Severity.DOUBT if is_packaged(path) or PACKAGES.match(path) else Severity.FAULT
                yield image.finding(ImageRule.TEST_IDS, number, path, what, severity)


def _find_layers(image: AuditedImage, names: Collection[bytes], ids: Collection[bytes]) -> list[int]:
    words = {*names, *ids}
    return [n for n, layer in enumerate(image.layers) if _any(layer.words, words) or _any(layer.lines, ids)]


def _describe_hidden_test(
    path: str, data: bytes, held: frozenset[bytes], clear: frozenset[bytes], new: frozenset[bytes], stems: set[bytes]
) -> str:
    if held & clear or len(held) > 1:
        return f"names the hidden test {min(held).decode(errors='replace')}"
    whole = path.encode(errors="replace") + b"\n" + data
    if any(stem in whole for stem in stems) and facts.may_hold(data, new):
        names = new.intersection(facts.split_words(data, compiled=facts.is_binary(data)))
        return f"names the hidden test {min(names).decode(errors='replace')}" if names else ""
    return ""


def _find_ids(data: bytes) -> set[bytes]:
    return facts.split_ids(data) | facts.split_lines(data)


def _patch(image: AuditedImage, answer: HiddenAnswer, text: str, rule: ImageRule) -> Iterator[ImageFinding]:
    try:
        changes = read_diff(text)
    except MalformedPatchError as error:
        what = f"no file was compared with the patch, which cannot be read: {error}"
        yield ImageFinding(rule=rule, severity=Severity.DOUBT, path="(the row)", what=what)
        return
    reported: set[tuple[int, str]] = set()
    for found in (*_blobs(image, answer, changes, rule), *_hunks(image, answer, changes, rule)):
        if (found.layer or 0, found.path) not in reported:
            reported.add((found.layer or 0, found.path))
            yield found


def _blobs(
    image: AuditedImage, answer: HiddenAnswer, changes: Iterable[FileChange], rule: ImageRule
) -> Iterator[ImageFinding]:
    """Find the files themselves, as the patch leaves them."""
    made = {blob: path for path, blob in answer.trees.patch_tree(answer.ref, changes)}
    new = made.keys() - answer.list_allowed()
    for number, layer in enumerate(image.layers):
        places = [(path, blob) for path, blob in layer.facts.files.items() if blob in new]
        places += [(path, each) for path, ids in layer.facts.packed.items() for each in new.intersection(ids)]
        for path, blob in places:
            yield image.finding(rule, number, path, f"is {made[blob]} with the patch applied")


def _hunks(
    image: AuditedImage, answer: HiddenAnswer, changes: tuple[FileChange, ...], rule: ImageRule
) -> Iterator[ImageFinding]:
    parts = _parts(changes, answer.instance.language)
    lines = frozenset[bytes]().union(*(part.lines for part in parts))
    hits = [n for n, layer in enumerate(image.layers) if any(_may_hold(layer, part) for part in parts)]
    if not hits:
        return
    known = answer.find_in_trees(lines, facts.split_lines)
    left = [part for part in parts if part.lines - known]
    allowed = frozenset(answer.list_allowed())
    for number in hits:
        if not any(_may_hold(image.layers[number], part, known) for part in left):
            continue
        releases = Releases(image, number, answer)
        for path, data in _others(image, number, allowed):
            held = _find_held(data, left, known)
            if held and not releases.is_earlier(path):
                severity = Severity.DOUBT if is_vendored(path) or is_standard(path) else Severity.FAULT
                yield image.finding(rule, number, path, f"holds a hunk of {held.where}", severity)


def _find_held(data: bytes, parts: Iterable[_Part], known: frozenset[bytes]) -> _Part | None:
    lines = frozenset(facts.split_lines(data)) if not facts.is_binary(data) else frozenset[bytes]()
    return next((part for part in parts if part.is_held(lines & part.lines, known, data)), None)


def _parts(changes: Iterable[FileChange], language: str) -> list[_Part]:
    old = {facts.normal(line.encode()) for change in changes for hunk in change.hunks for line in hunk.old()}
    own = languages.find_or_none(language)
    manifests = own.MANIFESTS if own else ()
    found = []
    for change in changes:
        by_lines = is_source(change.path, language) or not is_manifest(change.path, manifests)
        for hunk in change.hunks:
            distinctive = (line for line in hunk.added() if is_distinctive(line, language))
            lines = frozenset(facts.normal(line.encode()) for line in distinctive) - old
            lines = frozenset(line for line in lines if len(line) >= SHORTEST_LINE)
            block = tuple(filter(None, (facts.normal(line.encode()) for line in hunk.new())))
            found.append(_Part(change.path, lines, block, by_lines))
    return [part for part in found if part.lines]


def _may_hold(layer: KeptLayer, part: _Part, known: frozenset[bytes] = frozenset()) -> bool:
    left = part.lines - known
    return sum(line in layer.lines for line in left) >= (part.count_needed(left) or 1) if left else False


def _holds(data: bytes, block: tuple[bytes, ...]) -> bool:
    """Return whether a text, or one side of a diff in it, has this block without a gap."""
    if len(block) < 3:
        return False
    joined = b"\n%s\n" % b"\n".join(block)
    for text in facts.views(data):
        rows = text.split(b"\n")
        after = [row.removeprefix(b"+") for row in rows if not row.startswith(b"-")]
        for each in (rows, after):
            if joined in b"\n%s\n" % b"\n".join(filter(None, map(facts.normal, each))):
                return True
    return False


def _others(image: AuditedImage, layer: int, allowed: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a layer that are not those of the base tree or of an ancestor's."""
    files = image.layers[layer].facts.files
    for path, data in image.read(layer):
        if files.get(path) not in allowed:
            yield path, data


def _paths(patch: str) -> list[str]:
    try:
        return [change.path for change in read_diff(patch)]
    except MalformedPatchError:
        return []


def _any(kept: Hashes, wanted: Iterable[bytes]) -> bool:
    return any(each in kept for each in wanted)
