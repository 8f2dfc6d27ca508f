"""An instance as the rules of an audit look at it: both patches read, the statement cut into places. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.harness import languages
from assay.harness.domain import Instance
from assay.harness.patches.diff import FileChange, read_diff
from assay.instances.audit.code import says_something, tokens, without_docstrings


@dataclass(frozen=True, slots=True)
class Subject:
    """What the rules are about."""

    instance: Instance
    gold: tuple[FileChange, ...]
    tests: tuple[FileChange, ...]

    def fix(self) -> tuple[FileChange, ...]:
        """Return the gold patch's changes of source files; without any of those, of all files that are no tests."""
        language = self.instance.language
        chosen = [each for each in self.gold if not is_test_file(each.path, language)]
        sources = [each for each in chosen if is_source(each.path, language)]
        return tuple(sources or chosen)

    def telling(self) -> tuple[str, ...]:
        """Return the lines that a solution consists of, once each.

        Those are the added lines that say something and are new: what a hunk removes or shows around the change was in
        the file before, and an issue may well quote it.
        """
        known = {tokens(text) for change in self.gold for hunk in change.hunks for text in hunk.old()}
        found: dict[tuple[str, ...], str] = {}
        for line in self.added_code():
            if says_something(line, self.instance.language) and tokens(line) not in known:
                found.setdefault(tokens(line), line.strip())
        return tuple(found.values())

    def added_code(self) -> Iterator[str]:
        """Yield the lines that the fix adds, documentation within the code left out."""
        return (line for change in self.fix() for line in added_code(change, self.instance.language))


def subject(instance: Instance) -> Subject:
    """Read an instance's patches; raises MalformedPatchError."""
    return Subject(instance, read_diff(instance.gold_patch), read_diff(instance.test_patch))


def added_code(change: FileChange, language: str) -> Iterator[str]:
    """Yield the lines that come into a file, those of documentation strings left out."""
    for hunk in change.hunks:
        present = [line for line in hunk.lines if line.mark in " +"]
        code = without_docstrings([line.text for line in present], language)
        yield from (text for line, text in zip(present, code, strict=True) if line.mark == "+" and text.strip())


def is_test_file(path: str, language: str) -> bool:
    """Tell whether a file belongs to the tests; in a language that is not known, by any language's naming."""
    known = languages.find_or_none(language)
    return any(each.is_test_file(path) for each in ([known] if known else languages.LANGUAGES.values()))


def is_source(path: str, language: str) -> bool:
    """Tell whether a file is code in a language, or in one that is mixed with it."""
    return path.endswith(_suffixes(language))


def _suffixes(language: str) -> tuple[str, ...]:
    own = languages.find_or_none(language)
    kin = {each.NAME: each for each in languages.LANGUAGES.values() if not own or each.DOCKERFILES == own.DOCKERFILES}
    return tuple(suffix for each in kin.values() for suffix in each.SUFFIXES)


def plain(text: str) -> str:
    """Return a statement with plain line feeds and without the hidden comments of issue templates."""
    return re.sub(r"<!--.*?-->", "", text.replace("\r\n", "\n"), flags=re.DOTALL)
