"""What a model knows of instances: models that remember, guess, and fail."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.chat import Request
from assay.agents.llm.errors import RunBudgetExceeded
from assay.agents.llm.scripted import Scripted
from assay.harness.domain import Instance
from assay.harness.metrics.comparison import compare_rates
from assay.instances.audit.subject import subject
from assay.jobs.contamination import (
    ModelProbe,
    ProbeSettings,
    cut_patch,
    find_unstated,
    open_model,
    probe_instance,
    probe_model,
)
from changes import change
from played_endpoint import Played, Reply, played_endpoint, said
from toy import make_instance

FIX = [f"    total_{number} = combine(left, right, {number})" for number in range(6)]
GOLD = change("src/shop/cart.py", adds=FIX)
SETTINGS = ProbeSettings(model="toy", jobs=1)


def make(number: int, year: int, **changes: object) -> Instance:
    day = datetime(year, 3, 1, tzinfo=UTC)
    fields = {"id": f"acme__shop-{number}", "repo": f"acme/shop{number}", "gold_patch": GOLD, "created_at": day}
    return make_instance(**{**fields, **changes})


def ask(instance: Instance, answer: object) -> tuple[bool | None, bool | None]:
    found = probe_instance(instance, SETTINGS, Scripted(answer))  # type: ignore[arg-type]
    return found.named, found.completed


def remember(request: Request) -> str:
    is_patch = "Continue it" in str(request.messages[0].content)
    return "\n".join(f"+{line}" for line in FIX) if is_patch else "- ./src/shop/cart.py\n- src/shop/tax.py"


def test_a_model_that_remembers_knows_both_and_one_that_guesses_neither() -> None:
    assert ask(make(1, 2020), remember) == (True, True)
    assert ask(make(1, 2020), lambda _request: "src/shop/basket.py") == (False, False)


def test_the_sixth_path_and_what_was_shown_count_for_nothing() -> None:
    row, six = make(1, 2020), ["a.py", "b.py", "c.py", "d.py", "e.py", "src/shop/cart.py"]
    assert ask(row, lambda _request: "\n".join(six)) == (False, False)
    assert ask(row, lambda _request: "\n".join(six[1:])) == (True, False)
    assert ask(row, lambda _request: "\n".join(FIX[:3])) == (False, False)
    assert ask(row, lambda _request: "\n".join(FIX[3:4])) == (False, False), "one of three is less than half"
    assert ask(row, lambda _request: "\n".join(FIX[3:5])) == (False, True)


@pytest.mark.parametrize("statement", ["see cart.py", "in shop.cart it fails", "src/shop/cart.py:3"])
def test_a_file_that_the_issue_names_is_not_asked_for(statement: str) -> None:
    assert find_unstated(subject(make(1, 2020, problem_statement=statement))) == frozenset()
    assert ask(make(1, 2020, problem_statement=statement), remember) == (None, True)


def test_the_question_shows_half_of_the_fix_and_hides_the_rest() -> None:
    asked = cut_patch(subject(make(1, 2020)))
    assert asked is not None
    assert asked.hidden == tuple(line.strip() for line in FIX[3:])
    assert all((line in asked.begin) is (line in FIX[:3]) for line in FIX)
    short = make_instance(gold_patch=change("a.py", adds=FIX[:1]))
    assert cut_patch(subject(short)) is None, "too few lines would be left"


@pytest.fixture
def endpoint() -> Iterator[Played]:
    with played_endpoint() as played:
        yield played


def probe(played: Played, cutoff: date | None = None, **changes: object) -> ModelProbe:
    """Ask a model behind HTTP about six instances; it knows those before 2022."""
    rows = [make(number, 2019 + number) for number in range(6)]
    known, unknown = said("src/shop/cart.py\n" + "\n".join(FIX)), said("I do not know.")
    played.plays(*[each for number in range(6) for each in [known if number < 3 else unknown] * 2])
    settings = ProbeSettings(model="toy", base_url=played.url, jobs=1, **changes)  # type: ignore[arg-type]
    with open_model(settings) as stack:
        return probe_model(rows, settings, stack, cutoff)


def test_a_model_that_knows_rows_before_a_date_is_found(endpoint: Played) -> None:
    found = probe(endpoint, date(2021, 12, 31))
    for rates in (found.files, found.patches):
        assert rates.before is not None
        assert rates.after is not None
        assert (rates.all.known, rates.before.known, rates.after.known) == (3, 3, 0)
        assert (rates.before.asked, rates.after.asked) == (3, 3)
        assert rates.difference == compare_rates(3, 3, 0, 3)
        assert rates.difference is not None
        assert rates.difference.low > 0
    assert (found.failed, found.spent.calls) == (0, 12)
    assert all("a - b" not in str(asked.body) and "def test" not in str(asked.body) for asked in endpoint.asked)


def test_a_recording_is_asked_again_without_an_endpoint(endpoint: Played, tmp_path: Path) -> None:
    tape = tmp_path / "answers.jsonl"
    live = probe(endpoint, cassette=tape)
    asked = len(endpoint.asked)
    again = probe(endpoint, cassette=tape)
    assert (again.files, again.patches) == (live.files, live.patches)
    assert len(endpoint.asked) == asked
    assert again.files.before is None, "without a date there is no comparison"


def test_a_limit_ends_the_probe_and_a_refusal_is_no_answer(endpoint: Played) -> None:
    with pytest.raises(RunBudgetExceeded):
        probe(endpoint, limits=BudgetLimits(calls=3))
    endpoint.plays(Reply(status=400, body={"error": {"message": "no"}}))
    settings = ProbeSettings(model="toy", base_url=endpoint.url)
    with open_model(settings) as stack:
        found = probe_model([make(1, 2020)], settings, stack, None)
    assert (found.failed, found.files.all.asked) == (1, 0)
    assert "no" in found.instances[0].problem


def test_the_interval_of_a_difference_is_newcombes() -> None:
    found = compare_rates(56, 70, 48, 80)
    assert [round(each, 4) for each in (found.estimate, found.low, found.high)] == [0.2, 0.0524, 0.3339]
