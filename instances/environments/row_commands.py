"""The commands of a row's script as an environment of Assay's own starts them. Pure."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.harness import languages, runners
from assay.harness.domain import Instance, RowScript
from assay.harness.runners.base import Adapted
from assay.instances.environments import shell
from assay.instances.environments.row_script import END, START, Script, read_script

BINARIES = "node_modules/.bin/"
FINDERS = {("npx",): BINARIES, ("yarn",): BINARIES, ("yarn", "run"): BINARIES, ("pnpm", "exec"): BINARIES}
FINDERS |= {("pnpm",): BINARIES, ("bundle", "exec"): ""}
FINDERS |= {(tool, "run"): "" for tool in ("poetry", "pdm", "uv", "hatch", "pipenv")}
"""What finds a program among a project's packages, and where it is in Assay's environments; empty for the path."""
MANAGERS = frozenset({"npm", "yarn", "pnpm"})
OF_MANAGERS = frozenset({"test", "run", "start", "install", "exec", "build"})
"""Words behind a manager that name no program."""
PROGRAMS = dict.fromkeys(("mvn", "mvnd", "mvnw"), ("mvn", "-o"))
"""Programs of our images in place of wrappers, which would fetch them."""
PREPARED = frozenset({"phpunit"})
"""Runners that the language's own command prepares; it runs the same files."""


@dataclass(frozen=True, slots=True)
class RowCommands:
    """What a row's script runs in an environment of Assay's own."""

    script: Script
    runner: str
    """Empty for one that is not known; its output is then read as the row's own log."""
    adapted: Adapted | None
    prepare: tuple[str, ...]
    tests: str
    log_format: str


def read_commands(instance: Instance) -> RowCommands | None:
    """Return the commands of an instance's row; None if it brings none, or its language's own command runs the same."""
    if not isinstance(instance.environment, RowScript):
        return None
    row, language = instance.environment, languages.find(instance.language)
    script = read_script(row.eval_script, filtered=True)
    if not script.tests:
        return None
    runner, adapted = runners.adapt_commands([_localise(each, row.scripts) for each in script.commands]) or ("", None)
    if runner in PREPARED:
        return None
    prepare = tuple(_localise_text(each, row.scripts) for each in script.own_prepare)
    if adapted:
        own = language.DEFAULT_LOG if runner == language.DEFAULT_RUNNER else instance.log_format
        log_format = adapted.log_format or own or language.DEFAULT_LOG
        return RowCommands(script, runner, adapted, prepare, adapted.command, log_format)
    plain = [_localise(each, row.scripts) for each in read_script(row.eval_script).commands]
    tests = " && ".join(map(shlex.join, plain)) or f"set -o pipefail\n{script.tests}"
    return RowCommands(script, "", None, prepare, tests, instance.log_format or language.DEFAULT_LOG)


def _localise_text(text: str, scripts: Mapping[str, str]) -> str:
    """Return a statement with its commands as ``_localise`` has them; as it is if it is more than plain commands."""
    read = [shell.read_command(node) for node in shell.list_commands(shell.read_statements(text)[0])]
    if not read or any(assigned or not all(word.is_literal for word in words) for assigned, words in read):
        return text
    return " && ".join(shlex.join(_localise([word.text for word in words], scripts)) for _, words in read)


def _localise(words: Sequence[str], scripts: Mapping[str, str]) -> tuple[str, ...]:
    """Return a command without what finds or fetches its program, and with the package's in place of its name."""
    if words[0].rpartition("/")[2] == "tox" and "--" in words:
        return ("pytest", *words[list(words).index("--") + 1 :])
    words = _expand(words, scripts)
    for finder, folder in FINDERS.items():
        count = len(finder)
        if tuple(words[:count]) == finder and words[count:] and not _is_of_manager(words[count]):
            return (f"{folder}{words[count]}", *words[count + 1 :])
    return (*PROGRAMS.get(words[0].rpartition("/")[2], words[:1]), *words[1:])


def _is_of_manager(word: str) -> bool:
    return word.startswith("-") or word in OF_MANAGERS


def _expand(words: Sequence[str], scripts: Mapping[str, str]) -> Sequence[str]:
    manager, *rest = words
    rest = rest[1:] if rest[:1] == ["run"] else rest
    if manager not in MANAGERS or not rest or rest[0] not in scripts:
        return words
    commands = read_script(f": '{START}'\n{scripts[rest[0]]}\n: '{END}'\n").commands
    if len(commands) != 1:
        return words
    given = rest[2:] if rest[1:2] == ["--"] else rest[1:]
    return ("npx", *commands[0], *given)
