"""Gradle: the tripwires of Maven.

A test command needs ``--continue``, and ``--tests {tripwires}`` if it selects classes.
"""

import re
import shlex
from collections.abc import Sequence

from assay.harness.runners.base import PLACEHOLDER, Adapted, no_siblings
from assay.harness.runners.choosing import OPTIONS, read_choice
from assay.harness.runners.commands import part
from assay.harness.runners.jvm import PLACING_GRADLE as PLACING
from assay.harness.runners.jvm import tripwires
from assay.harness.runners.maven import PRINTS, class_names

__all__ = ["NAME", "PLACING", "PRINTS", "adapt", "place_siblings", "tripwires"]

NAME = "gradle"
place_siblings = no_siblings

PROGRAMS = frozenset({"gradle", "gradlew"})
LEFT_OUT = frozenset({"--offline", "--continue", "--fail-fast", "--no-continue"})
RUN = """\
find . -path '*/test-results/*/TEST-*.xml' -delete
%s --offline --continue %s
status=$?
mkdir -p {reports}
find . -path '*/test-results/*/TEST-*.xml' -exec cp --parents -t {reports} {} +
exit "$status"
"""
"""Every project writes its own reports; older ones are deleted first, so that no task of tests is up to date."""


def adapt(words: Sequence[str]) -> Adapted | None:
    """Adapt ``gradle test``, of a wrapper and of single projects too; where it selects tests, it selects tripwires."""
    if not words or words[0].rpartition("/")[2] not in PROGRAMS:
        return None
    command = part(words, re.escape(words[0].rpartition("/")[2]), OPTIONS[NAME].value_options)
    if command is None or {task.rpartition(":")[2] for task in command.targets} != {"test"}:
        return None
    patterns = [each[1] for each in command.arguments if each[0] == "--tests" and len(each) > 1]
    patterns += [each[0].partition("=")[2] for each in command.arguments if each[0].startswith("--tests=")]
    selected = ("--tests", f"*{PLACEHOLDER}") if patterns else ()  # a package precedes it
    run = RUN % (words[0], shlex.join([*command.without(LEFT_OUT)[1:], *selected]))
    chosen = read_choice(NAME, [words]).chosen
    return Adapted(run, "junit_xml", (*chosen, *class_names(map(_get_class, patterns))))


def _get_class(pattern: str) -> str:
    """Return the class of a pattern such as ``org.acme.AddTest.adds``: the first part with a capital letter."""
    return next((part for part in pattern.split(".") if part[:1].isupper()), pattern)
