"""RSpec: tripwires are at the end of the files with expected tests, and in a file of their own, the last one."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import commands, ruby
from assay.harness.runners.base import PLACE, Adapted, Tripwires, camel_name, no_siblings, snake_name, title
from assay.harness.runners.choosing import OPTIONS, read_choice

NAME = "rspec"
place_siblings = no_siblings
PRINTS = frozenset({Status.FAILED})
PLACING = ruby.PLACING

BODIES = (
    (Status.PASSED, "raise '{number}' unless (0...{number}).sum == {sum}"),
    (Status.PASSED, "expect((0...{number}).sum).to eq({sum})"),
    (Status.PASSED, "expect {{ raise KeyError, '{number}' }}.to raise_error(KeyError)"),
    (Status.FAILED, "expect({number}).to eq({other})"),
    (Status.FAILED, "expect({number}).not_to eq({number})"),
    (Status.FAILED, "expect({number}).to be({other})"),
    (Status.FAILED, "expect({number} == {other}).to be_truthy"),
    (Status.FAILED, "expect({number}).to be_nil"),
    (Status.FAILED, "expect([{number}]).to be_empty"),
    (Status.FAILED, "expect([{number}]).to include({other})"),
    (Status.FAILED, "expect('{number}').to match(/{other}x/)"),
    (Status.FAILED, "expect([{number}]).to contain_exactly({other})"),
    (Status.FAILED, "expect {{ {number} }}.to raise_error(KeyError)"),
    (Status.FAILED, "raise ArgumentError, '{number}'"),
    (Status.FAILED, "Object.new.send(:number_{number})"),
    (Status.FAILED, "expect(Object.new).to receive(:to_s).and_return('{number}')"),
)
"""Status that each test must have, and its body."""


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
