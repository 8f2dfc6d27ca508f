"""RSpec: tripwires are at the end of the files with expected tests, and in a file of their own, the last one."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import commands, ruby
from assay.harness.runners.base import (
    PLACE,
    Adapted,
    Tripwires,
    camel_name,
    no_siblings,
    read_sources,
    snake_name,
    title,
)
from assay.harness.runners.choosing import OPTIONS, read_choice

NAME = "rspec"
place_siblings = no_siblings
PRINTS = frozenset({Status.FAILED})
PLACING = ruby.PLACING

BODIES = read_sources(NAME)[1]["tests"]


OTHER_WORK = frozenset({"--init", "--version", "--bisect", "--dry-run"})
LEFT_OUT = frozenset({"-f", "--format", "-o", "--out", "--fail-fast", "--no-color", "--color"})


def tripwires(dice: random.Random) -> Tripwires:
    expected, examples = {}, ""
    for status, body in ruby.fill(dice, BODIES):
        name = f"{snake_name(dice)}_{PLACE}"
        examples += f'  it "{title(dice, name)}" do\n    {body}\n  end\n'
        expected[name] = status
    file = f"{snake_name(dice)}_spec.rb"
    text = f'RSpec.describe "{camel_name(dice)}{PLACE}" do\n{examples}end\n'
    return Tripwires(files={file: text}, expected=expected, argument=file)


def adapt(words: Sequence[str]) -> Adapted | None:
    """Adapt ``rspec`` and ``bundle exec rspec``; without files, the project's options decide."""
    command = commands.part(words, "rspec", OPTIONS[NAME].value_options)
    if not command or command.has(OTHER_WORK):
        return None
    choice = read_choice(NAME, [command.without(LEFT_OUT)])
    runs_tripwires = bool(command.targets) and choice.runs_tripwires
    options = "--no-color --no-fail-fast --format documentation --format json --out {report}"
    text = f"exec {shlex.join(command.without(LEFT_OUT))} {options}" + " {tripwires}" * runs_tripwires
    return Adapted(text, "rspec_json", command.targets, runs_tripwires)
