"""What the tests of an instance ask for: the names that they use, and the literals that their assertions expect. Pure.

Where an assertion's expected operand stands, the room of counter-tests knows.
"""

import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.harness import languages
from assay.harness.counters.assertions import spell, walk
from assay.harness.counters.twins import AssertedFile
from assay.harness.patches.diff import FileChange, MalformedPatchError, apply_change
from assay.instances.audit.code import is_import, names_defined
from assay.instances.audit.subject import Subject, is_source, is_test_file

if TYPE_CHECKING:
    from tree_sitter import Node

_ASSIGNED = re.compile(r"\s*(?:const |let |var |final |auto )?(\w+)(?:, \w+)*\s*(?::=|=(?!=))")
_TITLE = re.compile(
    r"\s*(?:await )?(?:\w+\.)?(?:x?describe|x?it|test|context|Describe|Context|It|When|Entry|Run)\(|\s*\w*[nN]ame:"
)
"""The start of a line with a title of a test."""
_QUOTED = re.compile(r"""[A-Za-z@$]*#*(\"\"\"|'''|["'`])(?P<text>.*)\1#*""", re.DOTALL)
_NAME = re.compile("identifier|constant|name")


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What the added lines of the tests use, each with the place where it is first: ``path:line``."""

    names: dict[str, str] = field(default_factory=dict)
    imported: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    """Names that the tests define, assign or have."""
    expected: dict[str, str] = field(default_factory=dict)
    """Literals, without their quotes, that an assertion expects."""
    others: dict[str, str] = field(default_factory=dict)
    """Other literals, without titles and what is imported."""


def read_tests(subject: Subject) -> AskedFor:
    """Read what the test patch adds to files of tests; raises EnvironmentFailure if the tree cannot be read."""
    asked, language = AskedFor(), subject.instance.language
    labels = (*subject.instance.fail_to_pass, *subject.instance.pass_to_pass)
    asked.own.update(re.split(r"::|[./]", label)[-1] for label in labels)
    for change in subject.tests if languages.find_or_none(language) else ():
        if change.new is not None and is_source(change.path, language) and is_test_file(change.path, language):
            text, added = _read_after(subject, change)
            lines = text.split("\n")
            for line in lines:
                assigned = _ASSIGNED.match(line)
                asked.own.update(names_defined(line, language), [assigned[1]] if assigned else ())
            file = AssertedFile.read(language, change.path, text, random.Random(0))
            if file is not None:
                _read_nodes(asked, file, lines, {row: f"{change.path}:{number}" for row, number in added.items()})
    return asked


def _read_nodes(asked: AskedFor, file: AssertedFile, lines: list[str], places: dict[int, str]) -> None:
    """Take the names and literals of a file on the rows, from 0, that have a place."""
    expected = {node.id for node in file.list_expected([row + 1 for row in places])}
    imported = {inner.id for node in walk(file.root) if "import" in node.type for inner in walk(node)}
    for node in walk(file.root):
        row = node.start_point.row
        place = next((places[at] for at in range(row, node.end_point.row + 1) if at in places), None)
        is_imported = node.id in imported or is_import(lines[row])
        if place is None:
            continue
        if node.type in file.asserting.literals:
            if not is_imported and not _TITLE.match(lines[row]):
                (asked.expected if node.id in expected else asked.others).setdefault(_unquote(node), place)
        elif not node.named_child_count and _NAME.search(node.type):
            asked.names.setdefault(spell(node), place)
            if is_imported:
                asked.imported.add(spell(node))


def _read_after(subject: Subject, change: FileChange) -> tuple[str, dict[int, int]]:
    """Return a file after a change, or what the change shows, and the numbers of added lines by row, from 0."""
    old = "" if change.old is None else subject.tree.read(change.old) if subject.tree else None
    try:
        whole = None if old is None else apply_change(old, change)
    except MalformedPatchError:  # the row's own images may have another base
        whole = None
    shown, added = list[str](), dict[int, int]()
    for hunk in change.hunks:
        for number, line in enumerate((each for each in hunk.lines if each.mark in " +"), hunk.new_start):
            if line.mark == "+":
                added[number - 1 if whole else len(shown)] = number
            shown.append(line.text)
    return whole or "\n".join(shown), added


def _unquote(node: "Node") -> str:
    found = _QUOTED.fullmatch(spell(node))
    return found["text"] if found else spell(node)
