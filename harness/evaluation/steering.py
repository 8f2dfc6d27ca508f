"""Disputed files: the fix and the patch both change a file that steers the test runner. Pure.

A patch keeps its version if this steers the tests as the base commit does, or as the fix does. Otherwise the run uses
the fix's version, unless the fix consists of nothing but such files: then the patch's own version is used, with a
flag. A patch that leaves such a file alone is never given the fix's.
"""

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

from assay.harness import languages
from assay.harness.domain import Instance, TestPlan
from assay.harness.languages import Language
from assay.harness.patches.diff import FileChange, MalformedPatchError, apply_change, find_touched_paths, read_diff

FROM_GOLD, FROM_PATCH = "runner_configuration_from_gold", "runner_configuration_from_patch"


@dataclass(frozen=True, slots=True)
class Disputed:
    """A file that steers the runner, as three sides have it; None where it does not exist."""

    change: FileChange
    """The fix's."""
    base: str | None
    theirs: str | None
    """The patch's."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The end of all disputes."""

    refused: frozenset[str] = frozenset()
    """Paths that do not stay as the patch has them."""
    from_gold: Mapping[str, str] = field(default_factory=dict)
    """Content of the files that the run takes from the fix, by path."""
    flags: tuple[str, ...] = ()


def find_disputed_changes(instance: Instance, plan: TestPlan, changed: Iterable[str]) -> list[FileChange]:
    """Return the fix's changes of files that steer the runner, and that the patch changes too."""
    language = languages.find_or_none(instance.language)
    if language is None:
        return []
    steering = {path for path in changed if _steers(path, language, plan)}
    if not steering:
        return []
    steering.difference_update(find_touched_paths(instance.test_patch))
    return [change for change in read_diff(instance.gold_patch) if change.path in steering]


def settle_disputes(
    instance: Instance, plan: TestPlan, disputes: Iterable[Disputed], sources: Set[str] = frozenset()
) -> Settled:
    """Settle all disputes; ``sources`` are files of the patch that are sources although they look like tests."""
    language = languages.find(instance.language)
    fix = [path for path in find_touched_paths(instance.gold_patch) if not _steers(path, language, plan)]
    may_give = any(path.endswith(tuple(language.SUFFIXES)) and not language.is_test_file(path) for path in fix)
    refused, from_gold, flags = set[str](), dict[str, str](), set[str]()
    for dispute in disputes:
        path, gold = dispute.change.path, _apply_fix(dispute)
        ways = {_way(path, text, language, plan) for text in (dispute.base, gold)}
        if _way(path, _rename(dispute.theirs, sources), language, plan) in ways:
            continue
        if not may_give:
            flags.add(FROM_PATCH)
            continue
        refused.add(path)
        if gold is not None:
            from_gold[path] = gold
            flags.add(FROM_GOLD)
    return Settled(frozenset(refused), from_gold, tuple(sorted(flags)))


def _apply_fix(dispute: Disputed) -> str | None:
    """Return the file as the fix has it; None if the fix removes it, or is of another text."""
    try:
        return apply_change(dispute.base or "", dispute.change)
    except MalformedPatchError:
        return None


def _steers(path: str, language: Language, plan: TestPlan) -> bool:
    """Return whether a file steers the runner; the source of a project that is a runner does not."""
    return path in plan.runs or (language.runner_config(path) and not language.stands_in(path))


def _rename(text: str | None, sources: Set[str]) -> str | None:
    """Give these sources, where a file lists them, a name that no test has."""
    for name in {path.rpartition("/")[2] for path in sources}:
        text = text and re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", f"core.{name.rpartition('.')[2]}", text)
    return text


def _way(path: str, text: str | None, language: Language, plan: TestPlan) -> tuple[str, ...]:
    if text is None:
        return ()
    part = text if path in plan.runs else language.steering_part(path, text)
    names = sorted({restored.rpartition("/")[2] for restored in plan.restore})
    return (part, *(name for name in names for _ in range(text.count(name))))
