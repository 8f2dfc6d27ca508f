"""Commands with the options of another program, as its argparse reads them."""

import sys
from typing import Any

from assay.cli.command import ConfiguredCommand
from assay.harness.errors import UserError

IGNORED = {
    "swebench": {
        **dict.fromkeys(("--open_file_limit", "--force_rebuild", "--cache_level", "--clean"), ""),
        **dict.fromkeys(("-n", "--namespace"), "swebench none null"),
        **dict.fromkeys(("--instance_image_tag", "--env_image_tag"), "latest"),
        "--modal": "false f no n 0",
    },
    "sb-cli": dict.fromkeys(("--api_key", "--verify_submission", "--wait_for_evaluation", "--extra_arg", "-e"), ""),
}
"""Options that mean nothing here, each with the values that it may have, separated by blanks; empty for any."""


class CompatCommand(ConfiguredCommand):
    """Takes several values behind one option, and options that mean nothing here."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say in one line what is ignored; raises UserError for a value that cannot be honoured."""
        ignored = IGNORED.get(ctx.command_path.split()[1], {})
        many = {name for each in self.params if getattr(each, "multiple", False) for name in each.opts}
        kept: list[str] = []
        seen: list[str] = []
        option, words = "", iter(args)
        for word in words:
            name, given, value = word.partition("=")
            if word.startswith("-"):
                option = word if word in many else ""
            elif option and kept[-1] != option:
                kept.append(option)
            if name not in ignored:
                kept.append(word)
                continue
            value = value if given else next(words, "")
            if ignored[name] and value.lower() not in ignored[name].split():
                raise UserError(f"{name} {value} cannot be honoured here; leave it out")
            seen.append(name)
        if seen:
            print(f"assay: ignored, since they mean nothing here: {', '.join(dict.fromkeys(seen))}", file=sys.stderr)
        return super().parse_args(ctx, kept)
