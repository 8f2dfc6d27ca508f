"""Read a row's own script: which of its lines prepare the shell, install or build, and which test. Pure.

Such a script (SWE-bench 5.x) activates an environment, installs the project again, checks out and patches the test
files, runs the tests between two markers and cleans up. The harness delivers the test files itself and knows most
runners, so it takes from a script only what nothing else says.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from posixpath import normpath

from assay.instances.environments import shell
from assay.instances.environments.shell import ASSIGNMENTS, ShellStatement, UnreadableError

START, END = ">>>>> Start Test Output", ">>>>> End Test Output"
WORKDIR = "/testbed"  # folder of the repository if a script does not say


class ScriptPart(StrEnum):
    """The part of an evaluation that a statement belongs to."""

    NOTHING = "nothing"
    """Prints, or does nothing at all."""
    TREE = "tree"
    """Restores, patches, shows or cleans the repository: the harness does that itself."""
    SHELL = "shell"
    """Sets up the shell of all that follows."""
    SYSTEM = "system"
    """Changes the image outside of the repository, which takes root."""
    INSTALL = "install"
    """Installs the project, or packages of it."""
    BUILD = "build"
    """Anything else."""


PARTS = {
    ScriptPart.NOTHING: ": echo printf true false cat ls pwd which test [ [[ exit",
    ScriptPart.TREE: "git patch rm",
    ScriptPart.SHELL: "source . conda mamba micromamba nvm cd export unset set ulimit umask shopt alias eval hash",
    ScriptPart.SYSTEM: "apt apt-get dpkg locale-gen update-locale update-alternatives ldconfig",
    ScriptPart.INSTALL: "pip pip3",
}
"""Commands whose part their name says."""
_PART_OF = {name: part for part, names in PARTS.items() for name in names.split()}
INSTALLERS = frozenset({"npm", "yarn", "pnpm", "bundle", "composer", "poetry", "pdm", "uv", "hatch", "flit"})
INSTALLS = frozenset({"install", "i", "ci", "sync", "add", "develop", "build_ext"})
"""Words by which a command of ``INSTALLERS``, or a setup script, installs; without arguments, it does too."""
OWN_SHELL = frozenset({"cd", "export", "unset", "ulimit", "umask"})
WRAPPERS = frozenset({"sudo", "timeout", "env", "nice", "time", "command", "exec"})
INTERPRETERS = re.compile(r"source|\.|bash|sh|node|ruby|perl|php|python[\d.]*")
SYSTEM_FOLDERS = ("/etc/", "/usr/", "/var/", "/lib/", "/tests/", "/logs/")
STRONGEST = (ScriptPart.INSTALL, ScriptPart.BUILD, ScriptPart.SYSTEM, ScriptPart.TREE, ScriptPart.SHELL)
"""A statement of several commands belongs to the first of these that one of them belongs to."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script in parts. Each entry of a tuple is a whole statement of shell text."""

    workdir: str = WORKDIR
    """Folder of the repository."""
    system: tuple[str, ...] = ()
    """Changes to the image outside of the repository, for root."""
    install: tuple[str, ...] = ()
    """Installs the project, in a shell that is set up by the statements between; empty if nothing installs."""
    prepare: tuple[str, ...] = ()
    """Sets up the shell of the tests, and builds."""
    own_prepare: tuple[str, ...] = ()
    """What of ``prepare`` an image of Assay's own takes: it builds, or sets variables and the folder."""
    tests: str = ""
    """Runs the tests, as shell text."""
    commands: tuple[tuple[str, ...], ...] = ()
    """The same as commands of plain words, one after the other; empty if it is anything but that."""
    env: str = ""
    """Assignments in front of each of these commands, as shell text."""
    folder: str = ""
    """Folder that is entered before these commands."""
    runs: tuple[str, ...] = ()
    """Files that all this runs, relative to the repository; they may not be there."""


def read_script(text: str, *, filtered: bool = False) -> Script:
    """Part a script; one that no shell could read is all ``tests``.

    With ``filtered``, ``commands`` leaves out programs that only read what the tests print, such as jq.
    """
    try:
        found = shell.read_statements(text)
    except UnreadableError:
        return Script(tests=text)
    before, tests = _split_at_markers(found)
    parts = [(find_part(statement), statement) for statement in before]
    workdir = _find_workdir(before)
    installs = [number for number, (part, _) in enumerate(parts) if part is ScriptPart.INSTALL]
    until = installs[-1] + 1 if installs else 0
    env, commands, folder = _read_tests(tests, filtered=filtered)
    kept = [s for part, s in parts if part in {ScriptPart.SHELL, ScriptPart.INSTALL, ScriptPart.BUILD}]
    return Script(
        workdir=workdir,
        system=_select(parts, ScriptPart.SYSTEM),
        install=_select(parts[:until], ScriptPart.SHELL, ScriptPart.INSTALL),
        prepare=_select(parts, ScriptPart.SHELL, ScriptPart.BUILD),
        own_prepare=tuple(s.source for part, s in parts if part is ScriptPart.BUILD or _is_of_any_shell(part, s)),
        tests="\n".join(statement.source for statement in tests),
        commands=commands,
        env=env,
        folder=folder,
        runs=tuple(dict.fromkeys(path for s in (*kept, *tests) for path in _list_files_run(s, workdir))),
    )


def find_part(statement: ShellStatement) -> ScriptPart:
    found = {_find_command_part(command) for command in statement.commands} - {ScriptPart.NOTHING}
    for path in statement.files_written:
        if path != "/dev/null":
            found.add(ScriptPart.SYSTEM if path.startswith(SYSTEM_FOLDERS) else ScriptPart.BUILD)
    if any(node.type in ASSIGNMENTS for node in statement.nodes):
        found.add(ScriptPart.SHELL)
    return next((part for part in STRONGEST if part in found), ScriptPart.NOTHING)


def _is_of_any_shell(part: ScriptPart, statement: ShellStatement) -> bool:
    """Return whether a statement sets up a shell by nothing but itself and files of the tree."""
    own = (
        words[0] in OWN_SHELL or (words[0] in {"source", "."} and not words[1].startswith("/"))
        for words in statement.commands
    )
    return part is ScriptPart.SHELL and all(own)


def _split_at_markers(found: Sequence[ShellStatement]) -> tuple[list[ShellStatement], list[ShellStatement]]:
    """Return the statements before the tests, and the tests; without markers these are the last that build."""
    begin, end = _find_word(found, START), _find_word(found, END)
    if begin is None:
        acting = [number for number, each in enumerate(found) if find_part(each) is ScriptPart.BUILD]
        begin = acting[-1] - 1 if acting else len(found) - 1
        end = begin + 2
    tests = found[begin + 1 : end]
    return list(found[: begin + 1]), [s for s in tests if find_part(s) is not ScriptPart.NOTHING]


def _find_word(found: Sequence[ShellStatement], text: str) -> int | None:
    words = ([word for command in each.commands for word in command] for each in found)
    return next((number for number, each in enumerate(words) if any(text in word for word in each)), None)


def _find_workdir(found: Iterable[ShellStatement]) -> str:
    alone = (s.commands[0] for s in found if [node.type for node in s.nodes] == ["command"])
    entered = (words[1] for words in alone if words[0] == "cd" and len(words) == 2)
    return next((normpath(folder) for folder in entered if folder.startswith("/")), WORKDIR)


def _select(parts: Iterable[tuple[ScriptPart, ShellStatement]], *wanted: ScriptPart) -> tuple[str, ...]:
    return tuple(statement.source for part, statement in parts if part in wanted)


def _find_command_part(words: Sequence[str]) -> ScriptPart:
    texts = _skip_wrappers(words)
    name = texts[0].rpartition("/")[2] if texts[0].startswith("/") else texts[0]
    if any(text.startswith(SYSTEM_FOLDERS) for text in texts[1:]) and name not in {"source", ".", "export", "cd"}:
        return ScriptPart.SYSTEM
    if name == "git" and texts[1:2] == ["config"]:
        return ScriptPart.SHELL
    if name in INSTALLERS:
        return ScriptPart.INSTALL if len(texts) == 1 or not INSTALLS.isdisjoint(texts) else ScriptPart.BUILD
    if name.startswith("python"):
        runs_setup = any(text.endswith("setup.py") for text in texts) and not INSTALLS.isdisjoint(texts)
        return ScriptPart.INSTALL if texts[1:3] == ["-m", "pip"] or runs_setup else ScriptPart.BUILD
    return _PART_OF.get(name, ScriptPart.BUILD)


def _skip_wrappers(words: Sequence[str]) -> list[str]:
    """Return a command without one that only starts it, and that one's options."""
    rest = list(words)
    while len(rest) > 1 and rest[0] in WRAPPERS:
        rest.pop(0)
        while len(rest) > 1 and (rest[0].startswith("-") or rest[0][:1].isdigit() or "=" in rest[0]):
            rest.pop(0)
    return rest


def _read_tests(tests: Sequence[ShellStatement], *, filtered: bool) -> tuple[str, tuple[tuple[str, ...], ...], str]:
    """Return assignments, commands and folder of ``cd F && A=1 x y && A=1 x z``; nothing if it is anything else."""
    read = (
        [shell.read_command(node) for node in shell.list_commands(tests[0], filtered=filtered)]
        if len(tests) == 1
        else []
    )
    if not all(word.is_literal for assigned, words in read for word in (*assigned, *words)):
        return "", (), ""
    commands = [tuple(word.text for word in words) for _, words in read]
    enters = len(commands) > 1 and len(commands[0]) == 2 and commands[0][0] == "cd" and not read[0][0]
    folder = commands.pop(0)[1] if enters else ""
    fronts = {tuple(word.text for word in assigned) for assigned, _ in read[len(read) - len(commands) :]}
    if len(fronts) != 1:
        return "", (), ""
    pairs = (text.partition("=") for text in fronts.pop())
    return " ".join(f"{name}={shlex.quote(value)}" for name, _, value in pairs), tuple(commands), folder


def _list_files_run(statement: ShellStatement, workdir: str) -> list[str]:
    """Return the files of the repository that a statement's commands are, or that interpreters are given first."""
    found = []
    for command in statement.commands:
        texts = _skip_wrappers(command)
        inside = [text.removeprefix(f"{workdir}/") for text in texts]
        paths = [path for path in inside if re.search(r"[/.]\w", path) and not path.startswith(("/", "-"))]
        is_interpreter = INTERPRETERS.fullmatch(texts[0].rpartition("/")[2]) or texts[0] == "."
        found += [normpath(path) for path in paths[:1] if is_interpreter or path == inside[0]]
    return found
