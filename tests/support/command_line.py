"""The command line's own parser, asked about command lines that nothing runs."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import typer

from assay.cli.main import app
from command_reference import leaves

ROOT: Any = typer.main.get_command(app)
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


def problem_with(words: Sequence[str]) -> str:
    """Return what the parser objects to in the words after ``assay``; empty if it objects to nothing."""
    try:
        command, context = ROOT, ROOT.make_context("assay", list(words))
        while _below(command):
            name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
            context = command.make_context(name, rest, parent=context)
    except typer.Exit:
        return ""
    except Exception as error:  # the parser's own classes of errors have no public name
        return str(error) or type(error).__name__
    return ""


def named_in(synopsis: str) -> list[str]:
    """Return the commands that a synopsis such as ``assay images build | list`` names.

    Raises:
        LookupError: there is no such command.
    """
    path, group, words = "assay", _below(ROOT), synopsis.split()[1:]
    if words and _below(group.get(words[0])):
        path, group, words = f"assay {words[0]}", _below(group[words[0]]), words[1:]
    named = [part.split()[0] for part in " ".join(words).split("|") if part.split()]
    if named and not _below(group.get(named[0])) and path == "assay":
        named = named[:1]  # further bars part options
    unknown = [name for name in named if name not in group and re.fullmatch(r"[a-z]+", name)]
    if unknown:
        raise LookupError(f"{path} has no command {unknown[0]}")
    return [f"{path} {name}" for name in named if name in group]


def problems_in(synopsis: str) -> Iterator[str]:
    """Yield what a synopsis names that no command has."""
    try:
        commands = named_in(synopsis)
    except LookupError as error:
        yield str(error)
        return
    known = options_of(commands) if commands else ALL_OPTIONS
    yield from (f"{commands[0]} has no option {each}" for each in OPTION.findall(synopsis) if each not in known)


def options_of(commands: Sequence[str]) -> frozenset[str]:
    """Return every spelling of every option of some commands."""
    chosen = [ROOT, *(leaf for path, leaf in leaves() if path in commands)]
    params = [param for each in chosen for param in each.params]
    flags = {f"--no-{max(each.opts, key=len).removeprefix('--')}" for each in params if getattr(each, "is_flag", False)}
    return frozenset({"--help", *flags, *(spelling for each in params for spelling in each.opts)})


def _below(command: Any) -> dict[str, Any]:
    return getattr(command, "commands", None) or {}


ALL_OPTIONS = options_of([path for path, _ in leaves()])
