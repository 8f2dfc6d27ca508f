"""The search for one patch's cause: whole hunks first, then lines, each tree evaluated once."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from assay.harness import languages
from assay.harness.causes.guessing import guess_hunks, guess_lines
from assay.harness.causes.minimise import leave_out_each, minimise
from assay.harness.causes.parts import Kept, PatchParts
from assay.harness.domain import Cause, CauseFlag, Instance
from assay.harness.names import count
from assay.harness.patches.diff import MalformedPatchError, read_diff

Judge = Callable[[str], bool]
"""Takes a part of a patch as a diff; returns whether it resolves, by a whole evaluation if it does."""


@dataclass(frozen=True, slots=True)
class CauseSettings:
    evaluations: int = 60
    """Limit of one call; the next one resumes."""
    lines: bool = True
    """Whether hunks are taken apart; without that, a cause consists of whole hunks."""

    def is_met(self, cause: Cause) -> bool:
        return cause.hunks_are_needed and (cause.lines_are_needed or not self.lines)


class BudgetSpentError(Exception):
    """No further evaluation may be made."""


@dataclass(slots=True)
class CauseSearch:
    """One call's search; ``tried`` and ``smallest`` grow with every evaluation."""

    instance: Instance
    parts: PatchParts
    judge: Judge
    settings: CauseSettings
    tried: dict[str, bool]
    """Name of a tree to whether it resolves; also of what earlier calls evaluated."""
    unread: Set[str] = frozenset()
    """Paths that are put back whatever a patch does to them."""
    remember: Callable[[], None] = lambda: None
    """Called after every evaluation."""
    asked: set[str] = field(default_factory=set)
    spent: int = 0
    smallest: Kept = frozenset()
    hunks_are_needed: bool = False
    lines_are_needed: bool = False
    hunk_evaluations: int = 0

    def __post_init__(self) -> None:
        self.smallest = self.parts.whole

    @property
    def whole_tree(self) -> str:
        return self.parts.hash_tree(self.parts.whole, self.unread)

    def find(self) -> bool:
        """Search until hunks, and lines, are all needed, or the budget is spent; raises as ``judge`` does.

        Return False where the whole patch does not resolve, written as this search writes its parts.
        """
        try:
            if not self._holds([self.parts.whole]):
                del self.tried[self.whole_tree]
                self.remember()
                return False
            self._find()
        except BudgetSpentError:
            pass
        if not self.hunks_are_needed:
            self.hunk_evaluations = len(self.asked)
        return True

    def _find(self) -> None:
        units = self.parts.split_hunks(self.smallest)
        guess = guess_hunks(self.parts, units, self.instance)
        minimise(guess.order, self._holds, guess.parts)
        self.hunks_are_needed, self.hunk_evaluations = True, len(self.asked)
        if not self.settings.lines:
            return
        leave_out_each(self.parts.split_blocks(self.smallest), self._holds)
        guess = guess_lines(self.parts, self.parts.split_lines(self.smallest), self.instance)
        minimise(guess.order, self._holds, guess.parts)
        before: Kept = frozenset()
        while before != self.smallest:  # a hunk with fewer lines may not be needed, and then other lines may not be
            before = self.smallest
            for split in (self.parts.split_hunks, self.parts.split_lines):
                leave_out_each(split(self.smallest), self._holds)
        self.lines_are_needed = True

    def describe(self, model: str, seconds: float) -> Cause:
        """Return the cause so far."""
        whole, hunks = self.parts.whole, self.parts.split_hunks(self.smallest)
        patch = self.parts.render(self.smallest)
        return Cause(
            instance_id=self.instance.id,
            model=model,
            patch=patch,
            lines=len(self.smallest),
            hunks=len(hunks),
            of_lines=len(whole),
            of_hunks=len(self.parts.split_hunks(whole)),
            hunks_are_needed=self.hunks_are_needed,
            lines_are_needed=self.lines_are_needed,
            evaluations=len(self.asked),
            hunk_evaluations=self.hunk_evaluations,
            flags=find_flags(patch, self.instance),
            seconds=round(seconds, 3),
        )

    def note(self) -> str:
        kept = len(self.parts.split_hunks(self.smallest))
        level = count(len(self.smallest), "line") if self.hunks_are_needed else count(kept, "hunk")
        return f"evaluation {self.spent} of at most {self.settings.evaluations}; {level} left"

    def _holds(self, units: Sequence[Kept]) -> bool:
        """Return whether a part of the patch resolves; one that changes nothing does not."""
        kept: Kept = frozenset().union(*units)
        tree = self.parts.hash_tree(kept, self.unread)
        if not tree:
            return False
        if tree != self.whole_tree:
            self.asked.add(tree)
        is_new = tree not in self.tried
        if is_new:
            if self.spent >= self.settings.evaluations:
                raise BudgetSpentError
            self.spent += 1
            self.tried[tree] = self.judge(self.parts.render(kept))
        if self.tried[tree] and len(kept) < len(self.smallest):
            self.smallest = kept
        if is_new:
            self.remember()
        return self.tried[tree]


MOST = 20  # flagged lines that are kept of a cause
SHORTEST = 8  # letters of a test's name that is no word of its own


def find_flags(patch: str, instance: Instance) -> tuple[CauseFlag, ...]:
    """Return the added lines of a part of an instance's patch that mention tests or what runs them."""
    language = languages.find_or_none(instance.language)
    known = {*_list_test_files(instance), *_list_tests(instance)}
    names = [re.escape(name) for name in sorted(known, key=lambda name: (-len(name), name))]
    patterns = [f"(?<!\\w)(?:{'|'.join(names)})(?!\\w)"] if names else []
    patterns += [language.LOOKS_AROUND] if language and language.LOOKS_AROUND else []
    found = (
        CauseFlag(path=change.path, text=text.strip(), word=match[0])
        for change in read_diff(patch)
        for text in change.added()
        if (match := next(filter(None, (re.search(each, text) for each in patterns)), None))
    )
    return tuple(found)[:MOST]


def _list_test_files(instance: Instance) -> Iterator[str]:
    try:
        changes = read_diff(instance.test_patch)
    except MalformedPatchError:
        return
    for path in (PurePosixPath(change.path) for change in changes):
        yield path.name
        if re.search("test|spec", path.stem, re.IGNORECASE) and len(path.stem) >= SHORTEST:
            yield path.stem


def _list_tests(instance: Instance) -> Iterator[str]:
    for label in instance.fail_to_pass:
        name = next(iter(re.findall(r"\w+", re.sub(r"\[.*", "", label))[::-1]), "")
        if re.match("test", name, re.IGNORECASE) and len(name) >= SHORTEST:
            yield name
