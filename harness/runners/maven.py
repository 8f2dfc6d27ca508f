"""Maven: tripwires are test classes in every module, in the language and for the framework of the module's tests."""

import re
import shlex
from collections.abc import Iterable, Sequence

from assay.harness.domain import Status
from assay.harness.languages.java import RUN_MAVEN
from assay.harness.runners.base import PLACEHOLDER, Adapted
from assay.harness.runners.choosing import OPTIONS, read_choice
from assay.harness.runners.commands import part
from assay.harness.runners.jvm import PLACING_MAVEN as PLACING
from assay.harness.runners.jvm import place_siblings, tripwires

__all__ = ["NAME", "PLACING", "PRINTS", "adapt", "place_siblings", "tripwires"]

NAME = "maven"
PRINTS = frozenset({Status.FAILED})

SELECTED = "-Dtest="
PROGRAMS = frozenset({"mvn", "mvnd", "mvnw"})
SAID = frozenset({"-B", "--batch-mode", "-o", "--offline", "-fae", "--fail-at-end", "-ff", "--fail-fast"})
"""Options that a command has already, or that contradict them."""


def adapt(words: Sequence[str]) -> Adapted | None:
    """Adapt ``mvn test``, of a daemon or a wrapper too; where it selects classes, it selects the tripwires', too."""
    if not words or words[0].rpartition("/")[2] not in PROGRAMS:
        return None
    command = part(words, re.escape(words[0].rpartition("/")[2]), OPTIONS[NAME].value_options)
    if command is None or set(command.targets) - {"clean"} != {"test"}:
        return None
    selected = [word.removeprefix(SELECTED) for word in words if word.startswith(SELECTED)]
    classes = [pattern for value in selected for pattern in value.split(",")]
    runs_tripwires = not any(set(pattern) & set("!%") for pattern in classes)
    kept = command.without({"test", "clean", "-Dtest", *SAID})[1:]
    test = [f"{SELECTED}{','.join([*selected, PLACEHOLDER] if runs_tripwires else selected)}"] if selected else []
    run = RUN_MAVEN.replace("@MAVEN@", words[0])
    targets = (*read_choice(NAME, [words]).chosen, *class_names(classes))
    return Adapted(f"set -- {shlex.join([*kept, *test])}\n{run}", "junit_xml", targets, runs_tripwires)


def join_commands(commands: Sequence[Sequence[str]]) -> list[str] | None:
    """Return one command that runs the classes of several; None if these differ in anything else."""
    selected = [[word for word in words if word.startswith(SELECTED)] for words in commands]
    others = {tuple(word for word in words if not word.startswith(SELECTED)) for words in commands}
    if len(others) != 1 or not all(len(each) == 1 for each in selected):
        return None
    return [*others.pop(), SELECTED + ",".join(word.removeprefix(SELECTED) for (word,) in selected)]


def class_names(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the simple names of classes that patterns select; none if one of them is not plain."""
    names = [re.fullmatch(r"(?:[\w./]+[./])?(\w+)(?:\.java|\.kt|\.class)?(?:#.*)?", pattern) for pattern in patterns]
    return tuple(dict.fromkeys(name[1] for name in names if name)) if all(names) else ()
