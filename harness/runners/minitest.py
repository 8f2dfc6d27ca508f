"""minitest: tripwires are at the end of the files with expected tests, and in a file of their own.

/opt/assay/minitest.rb loads that file last.
"""

import random

from assay.harness.domain import Status
from assay.harness.runners import ruby
from assay.harness.runners.base import PLACE, Tripwires, camel_name, no_siblings, not_known, read_sources, snake_name

NAME = "minitest"
PRINTS = frozenset({Status.PASSED, Status.FAILED})
PLACING = ruby.PLACING

BODIES = read_sources(NAME)[1]["tests"]

adapt = not_known
place_siblings = no_siblings


def tripwires(dice: random.Random, base: str = "Minitest::Test") -> Tripwires:
    expected, methods = {}, ""
    for status, body in ruby.fill(dice, BODIES):
        name = f"test_{snake_name(dice)}_{PLACE}"
        methods += f"  def {name}\n    {body}\n  end\n"
        expected[name] = status
    file = f"{snake_name(dice)}_test.rb"
    text = f"class {camel_name(dice)}{PLACE}Test < {base}\n{methods}end\n"
    return Tripwires(files={file: text}, expected=expected, argument=file)
