"""The first recipe of a project in Java or Kotlin."""

import re

from assay.harness.domain import Recipe
from assay.instances.setup.build_tools import fill_commands
from assay.instances.setup.jvm_manifests import (
    choose_tool,
    find_ant_target,
    find_release,
    names_artifact,
    read_version_files,
)
from assay.instances.setup.language_version import choose_version
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.providers import load_providers

LATEST_JDK = {5: 11, 6: 11, 7: 17}
"""The latest JDK of Debian's that still compiles for an old version of Java, by that version."""


def propose(facts: Facts, recipe: Recipe) -> Recipe:
    """Choose the JDK and the build tool, and leave out Maven's plug-ins that check a project's form."""
    skips, tool = load_providers().skips, choose_tool(facts.project)
    options = [skips[name] for name in skips if names_artifact(facts.project, name)]
    commands = fill_commands(tool, find_ant_target(facts.project)) if tool != "maven" else {}
    changes = {"toolchain": choose_jdk(facts), "options": tuple(dict.fromkeys(options)), **commands}
    return recipe.model_copy(update=changes)


def choose_jdk(facts: Facts) -> str:
    """Return the JDK that workflows test with, else the oldest that compiles for the version that is named."""
    release = find_release(facts.project)
    latest = LATEST_JDK.get(release, int(max(facts.available, key=int, default="0")))
    usable = [each for each in facts.available if int(each) <= latest]
    of_workflows = [re.sub(r"^1\.", "", each).partition(".")[0] for each in facts.versions]
    named = [each for each in of_workflows if each.isdigit() and int(each) >= release]
    named = named or [str(each) for each in read_version_files(facts.project) or [release] if each]
    requires = f">={release}" if release else ""
    day = facts.project.date.date()
    return choose_version(facts.project.language, usable, day, requires=requires, named=named)
