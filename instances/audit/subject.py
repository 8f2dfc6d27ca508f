"""An instance prepared for the rules of an audit, with both patches read. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.harness import languages
from assay.harness.domain import Instance
from assay.harness.patches.diff import FileChange, read_diff
from assay.instances.audit.code import drop_docstrings, is_distinctive, tokens
from assay.instances.audit.finding import AuditFinding, AuditKind, Severity
from assay.instances.trees.search import SearchedTree


@dataclass(frozen=True, slots=True)
class Subject:
    """An instance with its gold patch and test patch read."""

    instance: Instance
    gold: tuple[FileChange, ...]
    tests: tuple[FileChange, ...]
    tree: SearchedTree | None = None

    def fix(self) -> tuple[FileChange, ...]:
        """Return the gold patch's changes of source files; if there are none, of all files that are not tests."""
        language = self.instance.language
        chosen = [each for each in self.gold if not is_test_file(each.path, language)]
        sources = [each for each in chosen if is_source(each.path, language)]
        return tuple(sources or chosen)

    def solution_lines(self) -> tuple[str, ...]:
        """Return the distinctive lines of the solution, once each.

        These are distinctive added lines that are new: removed and context lines were in the file before, and an issue
        may quote them.
        """
        known = {tokens(text) for change in self.gold for hunk in change.hunks for text in hunk.old()}
        found: dict[tuple[str, ...], str] = {}
        for line in self.find_added_code():
            if is_distinctive(line, self.instance.language) and tokens(line) not in known:
                found.setdefault(tokens(line), line.strip())
        return tuple(found.values())

    def make_finding(
        self, kind: AuditKind, severity: Severity, summary: str, evidence: Iterable[str] = ()
    ) -> AuditFinding:
        return AuditFinding(
            instance_id=self.instance.id, kind=kind, severity=severity, summary=summary, evidence=tuple(evidence)
        )

    def find_added_code(self) -> Iterator[str]:
        return (line for change in self.fix() for line in find_added_code(change, self.instance.language))


def subject(instance: Instance, tree: SearchedTree | None = None) -> Subject:
    """Read an instance's patches; raises MalformedPatchError."""
    return Subject(instance, read_diff(instance.gold_patch), read_diff(instance.test_patch), tree)


def find_added_code(change: FileChange, language: str) -> Iterator[str]:
    for hunk in change.hunks:
        present = [line for line in hunk.lines if line.mark in " +"]
        code = drop_docstrings([line.text for line in present], language)
        yield from (text for line, text in zip(present, code, strict=True) if line.mark == "+" and text.strip())


def is_test_file(path: str, language: str) -> bool:
    """Return whether a file belongs to the tests; for an unknown language, by the naming of any language."""
    known = languages.find_or_none(language)
    return any(each.is_test_file(path) for each in ([known] if known else languages.LANGUAGES.values()))


def is_source(path: str, language: str) -> bool:
    """Return whether a file is code in a language, or in another one of the same toolchain."""
    own = languages.find_or_none(language)
    kin = {each.NAME: each for each in languages.LANGUAGES.values() if not own or each.DOCKERFILES == own.DOCKERFILES}
    return path.endswith(tuple(suffix for each in kin.values() for suffix in each.SUFFIXES))


def plain(text: str) -> str:
    """Return a statement with line feeds only and without the hidden comments of issue templates."""
    return re.sub(r"<!--.*?-->", "", text.replace("\r\n", "\n"), flags=re.DOTALL)
