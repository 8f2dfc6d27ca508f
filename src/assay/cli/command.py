"""Commands whose options may also be set in the file and in the environment."""

import sys
from contextlib import suppress
from typing import Any

from typer.core import TyperCommand
from typer.exceptions import TyperException

from assay.cli import config
from assay.cli.settings import get_settings
from assay.harness.errors import UserError


class ConfiguredCommand(TyperCommand):
    """A command whose options default to the settings; ``--no-<option>`` turns a switch off again."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the settings, unless only the help is wanted; raises DataError, UserError."""
        if ctx.resilient_parsing:  # the shell asks for completion, and wants no complaint
            with suppress(UserError):
                ctx.default_map = config.read_defaults(ctx.find_root().command, ctx.command_path.split()[1:])
        elif "--help" not in args:
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
