"""The page of troubles names every outcome, and messages that Assay really prints."""

from pathlib import Path

from assay.harness.domain import Outcome

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
FINE = {Outcome.RESOLVED, Outcome.EMPTY_PATCH}


def test_every_outcome_that_may_need_help_has_a_line() -> None:
    lines = [line for line in PAGE.partition("## By message")[0].splitlines() if line.startswith("| `")]
    assert {name for line in lines for name in line.split("|")[1].replace("`", "").replace(",", "").split()} == {
        str(outcome) for outcome in set(Outcome) - FINE
    }


def test_every_message_is_one_of_assays_own() -> None:
    folders = ("harness", "instances", "agents", "src/assay")
    code = "\n".join(
        path.read_text(encoding="utf-8") for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))
    )
    lines = [line for line in PAGE.partition("## By message")[2].splitlines() if line.startswith("| `")]
    messages = [line.split("`")[1] for line in lines]
    parts = [part.strip() for message in messages for part in message.split("...") if part.strip()]
    assert len(messages) > 10
    assert [part for part in parts if part not in code] == []
