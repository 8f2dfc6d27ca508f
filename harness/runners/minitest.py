"""minitest: tripwires are at the end of the files with expected tests, and in a file of their own.

/opt/assay/minitest.rb loads that file last.
"""

import random

from assay.harness.domain import Status
from assay.harness.runners import ruby
from assay.harness.runners.base import PLACE, Tripwires, camel_name, no_siblings, not_known, snake_name

NAME = "minitest"
PRINTS = frozenset({Status.PASSED, Status.FAILED})
PLACING = ruby.PLACING

BODIES = (
    (Status.PASSED, "raise '{number}' unless (0...{number}).inject(:+) == {sum}"),
    (Status.PASSED, "assert_equal {sum}, (0...{number}).inject(:+)"),
    (Status.PASSED, "assert_raises(KeyError) {{ raise KeyError, '{number}' }}"),
    (Status.FAILED, "assert {number} == {other}"),
    (Status.FAILED, "refute {number} == {number}"),
    (Status.FAILED, "assert_equal {number}, {other}"),
    (Status.FAILED, "refute_equal {number}, {number}"),
    (Status.FAILED, "assert_nil {number}"),
    (Status.FAILED, "assert_empty [{number}]"),
    (Status.FAILED, "assert_includes [{number}], {other}"),
    (Status.FAILED, "assert_match(/{other}x/, '{number}')"),
    (Status.FAILED, "assert_instance_of String, {number}"),
    (Status.FAILED, "assert_raises(KeyError) {{ {number} }}"),
    (Status.FAILED, "flunk '{number}'"),
    (Status.FAILED, "raise ArgumentError, '{number}'"),
    (Status.FAILED, "Object.new.send(:number_{number})"),
)
"""Status that each test must have, and its body."""

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
