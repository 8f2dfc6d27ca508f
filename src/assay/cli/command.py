"""Commands whose options may also be set in the file and in the environment, and how their help looks."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from inspect import cleandoc
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from assay.cli import config
from assay.cli.settings import get_settings
from assay.harness.errors import UserError

EXAMPLES = "\b\nExample"
MANY = 16
"""Options of a command from which they stand in panels."""


class CommandGroup(TyperGroup):
    """A group that says the whole sentence about each of its commands."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write name and first sentence of each command, over several lines where one is too short."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(1000)) for name, each in commands if each])


class ConfiguredCommand(TyperCommand):
    """A command whose options default to the settings; ``--no-<option>`` turns a switch off again."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what the command does; its examples come last."""
        whole, self.help = self.help, self._split_help()[0]
        super().format_help_text(ctx, formatter)
        self.help = whole

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options; many options in panels by what they decide."""
        if len(self.params) < MANY:
            super().format_options(ctx, formatter)
            return
        from assay.cli.options import PANELS

        rows = {
            str(each.name): (each.param_type_name, row) for each in self.params if (row := each.get_help_record(ctx))
        }
        arguments = [row for kind, row in rows.values() if kind == "argument"]
        panels = [(title, [rows[name][1] for name in names.split() if name in rows]) for title, names in PANELS.items()]
        placed = {name for names in PANELS.values() for name in names.split()}
        others = [row for name, (kind, row) in rows.items() if kind == "option" and name not in placed]
        _write_sections(formatter, (("Arguments", arguments), *panels, ("Other options", others)))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, and where options may be set."""
        examples = self._split_help()[1]
        if examples:
            formatter.write_paragraph()
            formatter.write_text(examples)
        super().format_epilog(ctx, formatter)

    def _split_help(self) -> tuple[str, str]:
        text, start, examples = cleandoc(self.help or "").partition(EXAMPLES)
        return text.strip(), start + examples

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the settings, unless only the help is wanted; raises DataError, UserError."""
        if ctx.resilient_parsing:  # the shell asks for completion, and wants no complaint
            with suppress(UserError):
                ctx.default_map = config.read_defaults(ctx.find_root().command, ctx.command_path.split()[1:])
        elif "--help" not in args[: args.index("--") if "--" in args else None]:
            root = ctx.find_root().command
            ctx.default_map = config.read_defaults(root, ctx.command_path.split()[1:])
            for sentence in config.odd_variables(root):
                print(f"assay: {sentence}", file=sys.stderr)
        rest = super().parse_args(ctx, args)
        # by name: the enumeration is in Typer's private copy of Click
        if not ctx.resilient_parsing and getattr(ctx.get_parameter_source("base_url"), "name", "") == "DEFAULT_MAP":
            config.refuse_address(ctx.params["base_url"], ctx.command_path.split()[1:])
        return rest

    def make_parser(self, ctx: Any) -> Any:
        """Add the opposite of each switch."""
        parser: Any = super().make_parser(ctx)
        for each in self.params:
            if getattr(each, "is_flag", False) and not each.secondary_opts and each.name != "help":
                off = f"--no-{max(each.opts, key=len).removeprefix('--')}"
                parser.add_option(obj=each, opts=[off], dest=each.name, action="store_const", const=False)
        return parser


def _write_sections(formatter: Any, sections: Iterable[tuple[str, list[tuple[str, str]]]]) -> None:
    for title, rows in sections:
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def usage_problem(error: TyperException) -> str:
    """Describe an error of a command line in one line that names the help."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    text = " ".join(error.format_message().split()).rstrip(".")
    if text.startswith("Invalid value") and parameter is not None and context is not None:
        wanted = [each.wanted for each in get_settings(context.command).values() if each.parameter == parameter.name]
        text = f"{' / '.join(parameter.opts)} takes {wanted[0]}" if wanted else text
    text = f"{text[:1].lower()}{text[1:]}"
    return f"{text} ({context.command_path} --help explains)" if context else text


def is_help(error: TyperException) -> bool:
    """Return whether an error is the help of a group without a command."""
    return "\n\n" in error.format_message()
