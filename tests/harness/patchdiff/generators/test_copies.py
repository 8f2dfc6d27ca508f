"""Copies of tests that are run on the sides: what is made, what is left out, what is compared; the sides are played."""

import json
import re
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assay.harness import languages
from assay.harness.domain import PatchDiffFinding, TestPlan
from assay.harness.patchdiff.contract import Context, Contribution, Settings
from assay.harness.patchdiff.generators import copies
from assay.harness.patchdiff.generators.copies import describe_copy, generate, messages
from assay.harness.patchdiff.sides import Side, SideJob
from assay.harness.patchdiff.survey import Survey

PATH = "calc_test.go"
TEST = """package calc

import "testing"

func TestCount(t *testing.T) {
	for _, text := range []string{"one", "two.three"} {
		if Count(text) != 1 {
			t.Errorf("got %d", Count(text))
		}
	}
}

func TestOther(t *testing.T) {
	if Other("four", 5) {
		t.Fatal("other")
	}
}
"""
PATCH = "".join(
    [
        f"--- a/{PATH}\n+++ b/{PATH}\n@@ -5,1 +5,2 @@\n func TestCount(t *testing.T) {{\n",
        '+\tfor _, text := range []string{"one", "two.three"} {\n',
    ]
)
PLAN = TestPlan(command="go test -json > /report", report_path="/report", report_format="go_json", runner="go")
Shows = Callable[[Side, str], str]
"""What a side makes of a copy: a message, "" for a test that passes, "!" for one that ends all tests."""


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "COPIES", 400)


class Played:
    """Sides that act a runner out: each copy shows what a function makes of its text."""

    def __init__(self, shows: Shows, wrong: Callable[[str], bool]) -> None:
        self.shows, self.wrong, self.ran = shows, wrong, list[tuple[Side, list[str]]]()
        self.instance = SimpleNamespace(
            language="go", test_patch=PATCH, fail_to_pass=("TestCount",), pass_to_pass=("TestOther",)
        )

    def now(self) -> float:
        return time.monotonic()

    def map_sides(self, sides: Sequence[Side], work: Callable[[Side], Any]) -> list[Any]:
        return [work(side) for side in sides]

    def run(self, side: Side, job: SideJob) -> dict[str, bytes]:
        if not job.files:
            return {PATH: TEST.encode()}
        left: dict[str, bytes] = {}
        for path, content in job.files.items():
            text, name = content.decode(), path.rpartition("/")[2]
            report, log = self._report(side, text)
            left |= {f"{name}.report": report.encode(), f"{name}.log": log.encode(), f"{name}.end": b""}
        return left

    def _report(self, side: Side, text: str) -> tuple[str, str]:
        made = re.split(r"\n(?=func Test\w+Assay__)", text)
        self.ran.append((side, made[1:]))
        bad = [copy for copy in made[1:] if self.wrong(copy)]
        if bad:
            line = text[: text.index(bad[0])].count("\n") + 3
            return "", f"./{PATH}:{line}:2: too many values\n"
        events = []
        for copy in made[1:]:
            name = copy.partition("(")[0].removeprefix("func ")
            shown = self.shows(side, copy)
            events.append({"Action": "run", "Package": "calc", "Test": name})
            if shown == "!":
                break
            events.append({"Action": "output", "Package": "calc", "Test": name, "Output": f"    {shown}\n"})
            events.append({"Action": "fail" if shown else "pass", "Package": "calc", "Test": name})
        return "".join(json.dumps(event) + "\n" for event in events), ""


def played(
    shows: Shows, wrong: Callable[[str], bool] = lambda _copy: False, seed: int = 0
) -> tuple[Contribution, Played]:
    sides = Played(shows, wrong)
    context = Context(
        cast("Any", sides),
        Survey((), (PATH,), words=(".",)),
        Settings(("amplify",), seed=seed, confirmations=3),
        lambda _instance, _files: PLAN,
    )
    copying = languages.find("go").SYNTAX.copying
    assert copying
    return generate(context, copying), sides


def test_nothing_is_found_where_gold_and_the_patch_show_the_same() -> None:
    found, sides = played(lambda _side, copy: f"got {len(copy)}")
    assert found.result.reached == found.result.probes > 100
    assert (found.divergences, found.result.note) == ((), "")
    (first, *_) = [ran for side, ran in sides.ran if side is Side.GOLD]
    assert len({copy.replace(copy.partition("(")[0], "") for copy in first}) == len(first)
    about_the_change = [copy for copy in first if copy.startswith("func TestCount")]
    assert len(about_the_change) > len(first) * 0.7


def test_the_seed_alone_decides_what_is_copied() -> None:
    one, other, third = (played(lambda *_: "", seed=seed)[1].ran[0] for seed in (0, 0, 1))
    assert one == other
    assert one != third


def ends_in_a_mark(side: Side, copy: str) -> str:
    """A patch that is like base and takes a text that ends in a mark; gold does not."""
    texts = "".join(re.findall(r"range \[\]string\{(.*)\} \{", copy))
    taken = side in (Side.CANDIDATE, Side.BASE) or '.",' not in texts.replace('."', '.",')
    return "" if taken else "calc_test.go:31: got 0 after 15ms"


def test_a_difference_is_confirmed_and_has_a_test_file_that_shows_it_alone() -> None:
    found, sides = played(ends_in_a_mark)
    assert {each.finding for each in found.divergences} == {PatchDiffFinding.UNFIXED_LIKE_BASE}
    first = found.divergences[0]
    assert first.confirmed == 3
    assert re.match(r'\d+: calc_test\.go:6 "(one|two\.three)" -> ".*\."$', first.probe)
    assert (first.gold.text, first.candidate.type) == ("<>: got 0 after <>", "passed")
    text = found.files[first.reproduction]
    assert first.reproduction.endswith("_test.go")
    assert text.startswith(f"// In place of calc_test.go, copy {first.probe}\n// With gold: failed <>: got 0")
    assert text.count("Assay__") == 1
    assert any(ran == [text[text.index("func TestCountAssay") :]] for side, ran in sides.ran if side is Side.CANDIDATE)


def test_copies_that_do_not_compile_or_end_all_tests_cost_no_others() -> None:
    def shows(side: Side, copy: str) -> str:
        return "!" if '"four!' in copy or '"ffour' in copy else ends_in_a_mark(side, copy)

    found, _ = played(shows, lambda copy: "5, " in copy or 'Other("four", 4)' in copy)
    assert found.result.reached > 100
    assert found.divergences


def test_nothing_is_claimed_where_no_copy_ran() -> None:
    found, _ = played(lambda *_: "!", lambda _copy: True)
    assert (found.result.reached, found.result.note) == (0, "no copy of a test with another literal ran with gold")


def test_copies_that_do_not_end_with_the_patch_do_not_count() -> None:
    found, _ = played(lambda side, _copy: "!" if side is Side.CANDIDATE else "")
    assert (found.result.reached, found.divergences) == (0, ())
    assert found.result.note == "no probe reached a target on both sides"


@pytest.mark.parametrize(
    ("message", "seen"),
    [
        ("a_test.go:3: panic: runtime error: x", ("error", "panic", "")),
        ("TypeError: x is no function", ("error", "TypeError", "")),
        ("AssertionError: 1 is not 2", ("failure", "failed", "AssertionError: 1 is not 2")),
        ("Error: expect(received).toBe(expected)", ("failure", "failed", "Error: expect(received).toBe(expected)")),
        ("a_test.go:3: Error: 7", ("failure", "failed", "<>: Error: 7")),
    ],
)
def test_of_an_error_only_its_type_counts_and_of_a_failure_its_message(message: str, seen: tuple[str, ...]) -> None:
    go, script = (languages.find(name).SYNTAX.copying for name in ("go", "javascript"))
    assert go is not None
    assert script is not None
    raised = go.raised if "_test.go" in message else script.raised
    assert tuple(describe_copy(True, message, raised).values()) == seen
    assert describe_copy(False, message, raised) == {"kind": "value", "type": "passed", "text": ""}


def test_go_prints_line_by_line_and_its_own_lines_are_none() -> None:
    said = ["=== RUN   TestAdd\n", "    a_test.go:9: got 3\n", "--- FAIL: TestAdd (0.00s)\n"]
    report = "".join(json.dumps({"Action": "output", "Test": "TestAdd", "Output": line}) + "\n" for line in said)
    assert [each for each in messages("go_json", report, "") if each[1]] == [("TestAdd", "    a_test.go:9: got 3")]


def test_message_of_jest_has_no_frames_of_the_stack() -> None:
    case = {
        "ancestorTitles": ["calc"],
        "title": "adds",
        "failureMessages": [
            "Expected: 3\nReceived: 4\n    at Object.<anonymous> (/t/a.test.js:3:5)\n    at new Promise"
        ],
    }
    report = json.dumps({"testResults": [{"assertionResults": [case]}]})
    found = list(messages("jest_json", report, ""))
    assert [name for name, _ in found] == ["calc adds"]
    assert found[0][1].startswith("Expected: 3\nReceived: 4")
    assert "Object" not in found[0][1]


def test_log_of_mocha_is_read_where_the_report_has_no_message() -> None:
    report = json.dumps({"testResults": [{"assertionResults": [{"title": "adds", "status": "failed"}]}]})
    log = """\
  calc
    1) adds

  0 passing (5ms)
  2 failing

  1) calc
       adds:

      AssertionError: 3 is not 4
      + expected - actual
      at add (calc.js:1:2)

  2) other:

      AssertionError: x
"""
    found = list(messages("jest_json", report, log))
    assert found[0] == (
        "calc\n       adds",
        "\n".join(["      AssertionError: 3 is not 4", "      + expected - actual", ""]),
    )
    assert found[1][0] == "other"
