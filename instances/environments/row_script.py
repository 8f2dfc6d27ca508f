"""Read a row's own script: which of its lines prepare the shell, install or build, and which test. Pure.

Such a script (SWE-bench 5.x) activates an environment, installs the project again, checks out and patches the test
files, runs the tests between two markers and cleans up. The harness delivers the test files itself and knows most
runners, so it takes from a script only what nothing else says.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from posixpath import normpath

from assay.instances.environments.shell import ShellStatement, ShellWord, UnreadableError, assignments, statements

START, END = ">>>>> Start Test Output", ">>>>> End Test Output"
WORKDIR = "/testbed"
"""Folder of the repository if a script does not say."""


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
    ScriptPart.NOTHING: ": echo printf true false cat ls pwd which test [ exit",
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


def read_script(text: str) -> Script:
    """Part a script; one that no shell could read is all ``tests``."""
    try:
        found = statements(text)
    except UnreadableError:
        return Script(tests=text)
    before, tests = _around_markers(found)
    parts = [(part_of(statement), statement) for statement in before]
    workdir = _workdir(before)
    installs = [number for number, (part, _) in enumerate(parts) if part is ScriptPart.INSTALL]
    until = installs[-1] + 1 if installs else 0
    core, folder = _unwrapped(tests)
    env, commands = _plain(core)
    kept = [s for part, s in parts if part in {ScriptPart.SHELL, ScriptPart.INSTALL, ScriptPart.BUILD}]
    return Script(
        workdir=workdir,
        system=_sources(parts, ScriptPart.SYSTEM),
        install=_sources(parts[:until], ScriptPart.SHELL, ScriptPart.INSTALL),
        prepare=_sources(parts, ScriptPart.SHELL, ScriptPart.BUILD),
        tests="\n".join(statement.source for statement in tests),
        commands=commands,
        env=env,
        folder=folder if commands else "",
        runs=tuple(dict.fromkeys(path for s in (*kept, *tests) for path in _files_run(s, workdir))),
    )


def part_of(statement: ShellStatement) -> ScriptPart:
    """Return the part that a statement belongs to."""
    written = _files_written(statement)
    found = {_part_of_command(command) for command in statement.commands} - {ScriptPart.NOTHING}
    found |= {ScriptPart.SYSTEM if path.startswith(SYSTEM_FOLDERS) else ScriptPart.BUILD for path in written}
    assigns = bool(statement.words) and assignments(statement.words) == len(statement.words)
    return next((part for part in STRONGEST if part in found), ScriptPart.SHELL if assigns else ScriptPart.NOTHING)


def _around_markers(found: Sequence[ShellStatement]) -> tuple[list[ShellStatement], list[ShellStatement]]:
    """Return the statements before the tests, and the tests; without markers these are the last that build."""
    begin, end = _with_word(found, START), _with_word(found, END)
    if begin is None:
        acting = [number for number, each in enumerate(found) if part_of(each) is ScriptPart.BUILD]
        begin = acting[-1] - 1 if acting else len(found) - 1
        end = begin + 2
    tests = found[begin + 1 : end]
    return list(found[: begin + 1]), [s for s in tests if part_of(s) is not ScriptPart.NOTHING]


def _with_word(found: Sequence[ShellStatement], text: str) -> int | None:
    return next((n for n, each in enumerate(found) if any(text in word.text for word in each.words)), None)


def _workdir(found: Sequence[ShellStatement]) -> str:
    entered = (s.words[1].text for s in found if s.simple and len(s.words) == 2 and s.words[0].text == "cd")
    return next((normpath(folder) for folder in entered if folder.startswith("/")), WORKDIR)


def _sources(parts: Sequence[tuple[ScriptPart, ShellStatement]], *wanted: ScriptPart) -> tuple[str, ...]:
    return tuple(statement.source for part, statement in parts if part in wanted)


def _part_of_command(words: Sequence[ShellWord]) -> ScriptPart:
    texts = _without_wrappers([word.text for word in words])
    name = texts[0].rpartition("/")[2] if texts[0].startswith("/") else texts[0]
    if any(text.startswith(SYSTEM_FOLDERS) for text in texts[1:]) and name not in {"source", ".", "export", "cd"}:
        return ScriptPart.SYSTEM
    if name == "git" and texts[1:2] == ["config"]:
        return ScriptPart.SHELL
    if name in INSTALLERS:
        return ScriptPart.INSTALL if len(texts) == 1 or not INSTALLS.isdisjoint(texts) else ScriptPart.BUILD
    if name.startswith("python"):
        return ScriptPart.INSTALL if _installs(texts) else ScriptPart.BUILD
    return _PART_OF.get(name, ScriptPart.BUILD)


def _without_wrappers(texts: list[str]) -> list[str]:
    """Return a command without one that only starts it, and that one's options."""
    rest = list(texts)
    while len(rest) > 1 and rest[0] in WRAPPERS:
        rest.pop(0)
        while len(rest) > 1 and (rest[0].startswith("-") or rest[0][0].isdigit() or "=" in rest[0]):
            rest.pop(0)
    return rest


def _installs(texts: Sequence[str]) -> bool:
    return texts[1:3] == ["-m", "pip"] or (
        any(t.endswith("setup.py") for t in texts) and not INSTALLS.isdisjoint(texts)
    )


def _files_written(statement: ShellStatement) -> list[str]:
    pairs = zip(statement.words, statement.words[1:], strict=False)
    into = [b.text for a, b in pairs if a.operator and a.text in {">", ">>", ">|", "&>"}]
    return [path for path in into if path != "/dev/null"]


def _unwrapped(tests: Sequence[ShellStatement]) -> tuple[tuple[ShellWord, ...], str]:
    """Return the words of a single test command without what changes nothing in it, and the folder it enters first."""
    words = tests[0].words if len(tests) == 1 else ()
    folder = ""
    while (inner := _inner(words)) != words:
        words = inner
    texts = [word.text for word in words]
    if texts[:1] == ["cd"] and texts[2:3] == ["&&"] and words[1].literal:
        folder, words = texts[1], words[3:]
    return words, folder


def _inner(words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
    """Take one layer off: ``( ... )``, ``... | cat``, ``... 2>&1``, line ends."""
    if words and words[-1].text == "\n":
        return words[:-1]
    if words and words[0].text == "\n":
        return words[1:]
    texts = [word.text if word.operator or word.literal else "" for word in words]
    if texts[-2:] == ["|", "cat"]:
        return words[:-2]
    if texts[-3:] == ["2", ">&", "1"]:
        return words[:-3]
    if texts[:1] == ["("] and texts[-1:] == [")"] and texts.count("(") == texts.count(")") == 1:
        return words[1:-1]
    return words


def _plain(words: Sequence[ShellWord]) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return assignments and commands of ``A=1 x y && A=1 x z``; nothing if it is anything else."""
    commands: list[list[ShellWord]] = [[]]
    for word in words:
        if word.operator and word.text == "&&":
            commands.append([])
        else:
            commands[-1].append(word)
    fronts = {tuple(word.text for word in each[: assignments(each)]) for each in commands}
    rest = [each[assignments(each) :] for each in commands]
    if len(fronts) != 1 or not all(rest) or any(w.operator or not w.literal for each in commands for w in each):
        return "", ()
    pairs = (text.partition("=") for text in fronts.pop())
    env = " ".join(f"{name}={shlex.quote(value)}" for name, _, value in pairs)
    return env, tuple(tuple(word.text for word in each) for each in rest)


def _files_run(statement: ShellStatement, workdir: str) -> list[str]:
    """Return the files of the repository that a statement's commands are, or that interpreters are given first."""
    found = []
    for command in statement.commands:
        texts = _without_wrappers([word.text for word in command])
        inside = [text.removeprefix(f"{workdir}/") for text in texts]
        paths = [path for path in inside if re.search(r"[/.]\w", path) and not path.startswith(("/", "-"))]
        is_interpreter = INTERPRETERS.fullmatch(texts[0].rpartition("/")[2]) or texts[0] == "."
        found += [normpath(path) for path in paths[:1] if is_interpreter or path == inside[0]]
    return found
