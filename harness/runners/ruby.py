"""Tripwires in Ruby: their sources, and where they are put. RSpec and minitest run all files in one process."""

import random
from collections.abc import Iterator, Sequence

from assay.harness.domain import Status
from assay.harness.runners.base import HAS_EXPECTED, draw_numbers

PLACING = (
    HAS_EXPECTED
    + r"""
place=0
for file do
  has_expected "$file" || grep -qsF -- "$file" "$TRIPWIRES/labels" || continue
  if grep -qsxE '__END__' "$file"; then continue; fi
  if grep -qE '\b(fit|fdescribe|fcontext|fspecify)\b|:focus\b|\bfocus: ' "$file"; then continue; fi
  place=$((place + 1))
  { echo; sed "s/@PLACE@/$place/g" "$TRIPWIRES"/*.rb; } >> "$file" && echo "$place"
done
for file in "$TRIPWIRES"/*.rb; do
  sed "s/@PLACE@/root/g" "$file" > "${file##*/}" && echo root
done
"""
)
"""Appends to the files with expected tests, unless only some of their tests run, and makes a file of its own."""


def fill(dice: random.Random, bodies: Sequence[tuple[Status, str]]) -> Iterator[tuple[Status, str]]:
    """Yield the status and the source of every body, in any order, with numbers of its own."""
    for status, body in dice.sample(bodies, len(bodies)):
        yield status, body.format(**draw_numbers(dice))
