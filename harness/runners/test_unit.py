"""test-unit: tripwires as in minitest, whose assertions it knows; /opt/assay/test_unit.rb loads their file last."""

import random

from assay.harness.runners import minitest
from assay.harness.runners.base import Tripwires, no_siblings, not_known

NAME = "test_unit"
PRINTS = minitest.PRINTS
PLACING = minitest.PLACING
adapt = not_known
place_siblings = no_siblings


def tripwires(dice: random.Random) -> Tripwires:
    return minitest.tripwires(dice, "Test::Unit::TestCase")
