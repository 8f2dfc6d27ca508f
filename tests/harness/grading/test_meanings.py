"""The words for outcomes and flags, compared with the page that lists them."""

import re
from pathlib import Path

import pytest

from assay.harness.domain import Outcome
from assay.harness.grading.meanings import FLAGS, OUTCOMES, get_meaning, say_reason
from tables import read_tables

TABLES = read_tables(__file__)

PAGE = (Path(__file__).parents[3] / "docs/outcomes.md").read_text(encoding="utf-8")


def flags_of_the_page() -> dict[str, str]:
    found = {}
    for line in PAGE[PAGE.index("| flag | meaning |") :].partition("\n\n")[0].splitlines():
        names, _, meaning = line.strip("| ").partition(" | ")
        plain = re.sub(r" \(\[[^]]*\]\([^)]*\)\)|`", "", meaning)
        for name in re.findall(r"`([a-z_]+:?)", names):
            found[name] = f"{plain[:1].upper()}{plain[1:]}."
    return found


def test_every_outcome_has_a_meaning() -> None:
    assert set(OUTCOMES) == set(Outcome)
    assert set(re.findall(r"^\| `(\w+)` ", PAGE.partition("| flag |")[0], re.MULTILINE)) == set(OUTCOMES)


def test_flags_mean_what_their_page_says() -> None:
    assert len(FLAGS) > 15
    assert flags_of_the_page() == FLAGS


def test_flag_with_a_name_behind_it_means_what_its_begin_means() -> None:
    assert get_meaning("service:redis") == FLAGS["service:"]
    assert get_meaning("flaky") == FLAGS["flaky"]
    assert get_meaning("unheard_of") == get_meaning("service") == ""


@pytest.mark.parametrize(("reason", "said"), TABLES["counts_become_a_sentence"])
def test_counts_become_a_sentence(reason: str, said: str) -> None:
    assert say_reason(reason) == said
