"""Models by role on the command line and in assay.toml, with three endpoints."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from played_endpoint import Played, played_endpoint, said

NO_CALLS = said(json.dumps({"API_calls": [], "bug_locations": []}))
NO_EDIT = said("I cannot.")
SOLVE = ("solve", "rows.jsonl", "--agent", "ast_search", "--set", "rounds=1", "-i", "acme__calc-1", "--run-id", "r")
BY_ROLE = ("--model", "locator=small", "--model", "editor=big", "--model", "spare")


@pytest.fixture
def endpoints() -> Iterator[Callable[[], list[Played]]]:
    opened = ExitStack()

    def begin() -> list[Played]:
        played = [opened.enter_context(played_endpoint()) for _ in range(3)]
        played[0].plays(said("OK"), NO_EDIT)
        played[1].plays(said("OK"), NO_EDIT)
        played[2].plays(said("OK"), NO_CALLS)
        Path("assay.toml").write_text(
            f'[models.small]\nmodel = "acme/small"\nbase_url = "{played[0].url}"\nkey = "SMALL_KEY"\n'
            f'price = {{input = 1.0, output = 10.0}}\n[models.big]\nbase_url = "{played[1].url}"\ncalls = 3\n'
        )
        return played

    yield begin
    opened.close()


def test_each_role_asks_its_endpoint_and_the_report_has_its_cost(
    assay: Callable, rows: Path, endpoints: Callable[[], list[Played]]
) -> None:
    small, big, spare = endpoints()
    done = assay(*SOLVE, *BY_ROLE, "--base-url", spare.url, SMALL_KEY="s3", OPENAI_API_KEY="")
    assert done.code == 0, done.err
    assert [asked.body["model"] for asked in small.asked] == ["acme/small"] * 2
    assert {asked.headers["authorization"] for asked in small.asked} == {"Bearer s3"}
    assert [asked.body["model"] for asked in big.asked] == ["big"] * 4, "a question at first, then three calls"
    assert len(spare.asked) == 2, "a question at first, then the translator's"
    assert ["locator", "small", "1", "110", "0.0002"] in [line.split() for line in done.out.splitlines()]
    assert ["editor", "big", "3", "330", "?"] in [line.split() for line in done.out.splitlines()]
    about = json.loads(Path("runs/r/run.json").read_text())
    assert about["settings"]["models"] == "all=spare locator=acme/small editor=big"
    solution = json.loads(Path("runs/r/instances/acme__calc-1/0/solution.json").read_text())["solution"]
    assert solution["status"] == "limit_calls"
    calls = {role: each["calls"] for role, each in solution["usage"]["roles"].items()}
    assert calls == {"locator": 1, "translator": 1, "editor": 3}
    steps = json.loads(Path("runs/r/instances/acme__calc-1/0/trajectory.json").read_text())["steps"]
    asked = [step["extra"]["role"] for step in steps if step.get("llm_call_count")]
    assert asked == ["locator", "translator", *["editor"] * 3]
    again = assay(*SOLVE, *BY_ROLE, "--base-url", spare.url, SMALL_KEY="s3", OPENAI_API_KEY="")
    assert "known already" in again.err
    other = assay(*SOLVE, *BY_ROLE[:2], *BY_ROLE[4:], "--base-url", spare.url, SMALL_KEY="s3", OPENAI_API_KEY="")
    other.refuses("--model")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--model", "editr=m", "--model", "m"], "the agent ast_search has no role 'editr'; did you mean editor?"),
        (["--model", "value=m", "--model", "m"], "has no role 'value'; known are editor, locator, tester, translator"),
        (["--model", "editor=m"], "only editor of its roles have one, not locator, translator, tester"),
        (["--model", "m", "--model", "n"], "--model names two models for the whole run"),
    ],
)
def test_wrong_roles_are_one_line(assay: Callable, rows: Path, given: list[str], words: str) -> None:
    assay(*SOLVE, *given, "--base-url", "http://127.0.0.1:9/v1", OPENAI_API_KEY="").refuses(words)


def test_an_external_agent_has_no_roles(assay: Callable, rows: Path) -> None:
    given = ("--model", "editor=m", "--base-url", "http://127.0.0.1:9/v1")
    refused = assay("solve", "rows.jsonl", "--agent", "aider", *given, OPENAI_API_KEY="")
    refused.refuses("the agent aider has no role 'editor': it asks one model; write --model NAME")


FAR = "https://far.example/v1"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[models.m]\nprize = 1\n", "assay.toml: field models.m.prize: "),
        ("[models.m]\nprice = {input = -1, output = 1}\n", "assay.toml: field models.m.price.input: "),
        ('[models.m]\nkey = "MY_KEY"\n', "field models.m.key: is a key without an address; write base_url as well"),
        (
            f'[models.m]\nkey = "MY_KEY"\nbase_url = "{FAR}"\n',
            f"field models.m.key: would send MY_KEY to {FAR}; if you mean that, set ASSAY_KEY_ADDRESSES={FAR}",
        ),
        ('models = "m"\n', "assay.toml: field models: is no table; write [models.NAME]"),
    ],
)
def test_wrong_tables_are_one_line(assay: Callable, rows: Path, table: str, words: str) -> None:
    Path("assay.toml").write_text(table)
    assay(*SOLVE, "--model", "m", OPENAI_API_KEY="", MY_KEY="secret").refuses(words)


def test_a_limit_in_money_needs_the_price_of_every_role(assay: Callable, rows: Path) -> None:
    Path("assay.toml").write_text("[models.small]\nprice = {input = 1.0, output = 2.0}\n")
    given = ("--base-url", "http://127.0.0.1:9/v1", "--cost", "1")
    refused = assay(*SOLVE, *("--model", "small", "--model", "editor=big"), *given, OPENAI_API_KEY="")
    refused.refuses("the price of big is not known, so --cost would limit nothing")
