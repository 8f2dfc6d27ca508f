import re
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from assay.harness.domain import Recipe, Status
from assay.harness.errors import UserError
from assay.instances.setup.advice import Advice, Stuck
from assay.instances.setup.search import Search
from assay.instances.setup.setup_record import AdvisorCall, AppliedChange, SetupRecord
from assay.instances.setup.trial import NO_TESTS, UNAPPLIED, TriedRecipe

START = SetupRecord(repo="acme/calc", commit="a" * 40, date=datetime(2021, 6, 1, tzinfo=UTC), language="python")


def results(passed: int, failed: int = 0, output: str = "") -> TriedRecipe:
    tests = {f"t.py::p{n}": Status.PASSED for n in range(passed)} | {
        f"t.py::f{n}": Status.FAILED for n in range(failed)
    }
    return TriedRecipe(output=output, tests=tests)


class PlayedTrial:
    """Gives results that were written beforehand, one for each run."""

    def __init__(self, runs: Sequence[TriedRecipe]) -> None:
        self.runs = list(runs)
        self.recipes: list[Recipe] = []
        self.patches: list[str] = []

    def run(self, recipe: Recipe, seconds: float, patch: str = "") -> TriedRecipe:
        assert seconds > 0
        self.recipes.append(recipe)
        self.patches.append(patch)
        return self.runs.pop(0)


class PlayedAdvisor:
    """Answers with recipes in order, one question each, then with none."""

    name = "advisor"

    def __init__(self, *answers: Recipe) -> None:
        self.answers = list(answers)
        self.asked: list[Stuck] = []

    def can_ask(self, calls: Sequence[AdvisorCall]) -> bool:
        return len(calls) < 12

    def advise(self, stuck: Stuck) -> Advice:
        self.asked.append(stuck)
        answer = self.answers.pop(0) if self.answers else None
        return Advice(answer, "because" if answer else "knows no change", [AdvisorCall(result="asked")])


MISSING = "E   ModuleNotFoundError: No module named 'yaml'"


def test_a_recipe_is_accepted_after_two_runs_that_agree(facts) -> None:
    trial = PlayedTrial([results(19, 1), results(19, 1)])
    found = Search(facts({}), trial).find(START)
    assert (found.accepted, found.ended, found.share) == (True, True, 0.95)
    assert found.reason == "95.0% of 20 tests pass in two runs"
    assert trial.recipes[0] == trial.recipes[1] == found.recipe
    assert (found.attempts[0].passed, found.attempts[0].failed, found.unstable) == (19, 1, ())


def test_a_share_just_below_is_not_accepted(facts) -> None:
    found = Search(facts({}), PlayedTrial([results(94, 6)])).find(START)
    assert not found.accepted
    assert found.reason == "94.0% of the tests pass, 95% are wanted; no rule knows more"


def test_the_reason_names_the_last_error_that_was_printed(facts) -> None:
    run = TriedRecipe("image x could not be built", "a\nerror: first\nstrange.OddError: last\nexit code: 1")
    found = Search(facts({}), PlayedTrial([run])).find(START)
    assert found.reason == "image x could not be built; no rule knows more (last error: strange.OddError: last)"


def test_runs_that_do_not_agree_are_not_accepted(facts) -> None:
    one = TriedRecipe(tests={f"t.py::{n}": Status.FAILED if n == 0 else Status.PASSED for n in range(20)})
    two = TriedRecipe(tests={f"t.py::{n}": Status.FAILED if n == 1 else Status.PASSED for n in range(20)})
    found = Search(facts({}), PlayedTrial([one, two])).find(START)
    assert not found.accepted
    assert found.share == 0.9
    assert found.unstable == ("t.py::0", "t.py::1")
    assert "does not agree" in found.reason


def test_a_rule_leads_to_the_next_round(facts) -> None:
    saved: list[SetupRecord] = []
    trial = PlayedTrial([results(1, 9, MISSING), results(10), results(10)])
    found = Search(facts({}), trial, save=saved.append).find(START)
    assert found.accepted
    assert [recipe.packages for recipe in trial.recipes] == [("pytest",), ("pytest", "PyYAML"), ("pytest", "PyYAML")]
    assert [change.rule for change in found.attempts[0].changes] == ["missing-module"]
    assert found.attempts[0].changes[0].line == "No module named 'yaml"
    assert len(saved) == 2


def test_an_interrupted_search_resumes_where_it_was(facts) -> None:
    saved: list[SetupRecord] = []
    with pytest.raises(IndexError):  # the second run never comes
        Search(facts({}), PlayedTrial([results(1, 9, MISSING)]), save=saved.append).find(START)
    assert not saved[-1].ended
    trial = PlayedTrial([results(10), results(10)])
    found = Search(facts({}), trial).find(SetupRecord.model_validate_json(saved[-1].model_dump_json()))
    assert found.accepted
    assert len(found.attempts) == 2
    assert trial.recipes[0].packages == ("pytest", "PyYAML")


def test_rounds_and_seconds_are_limits(facts) -> None:
    endless = [results(1, 9, f"No module named 'mod{n}'") for n in range(9)]
    found = Search(facts({}), PlayedTrial(endless), rounds=3).find(START)
    assert len(found.attempts) == 3
    assert found.reason.endswith("no round is left")
    late = Search(facts({}), PlayedTrial([]), seconds=10).find(START.model_copy(update={"seconds": 11.0}))
    assert (late.reason, late.ended) == ("not within 10 s", True)


def test_no_advisor_is_asked_when_the_time_is_over(facts, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("assay.instances.setup.search.time.monotonic", lambda: now[0])

    class Slow(PlayedTrial):
        def run(self, recipe: Recipe, seconds: float, patch: str = "") -> TriedRecipe:
            now[0] = 10.0
            return super().run(recipe, seconds, patch)

    advisor = PlayedAdvisor(ADVISED)
    found = Search(facts({}), Slow([results(1, 9)]), seconds=10, advisor=advisor).find(START)
    assert (found.reason, len(found.attempts), advisor.asked) == ("not within 10 s", 1, [])


def test_a_failed_build_is_a_round_like_any_other(facts) -> None:
    failed = TriedRecipe("image x could not be built", "error: command 'gcc' failed: No such file or directory")
    found = Search(facts({}), PlayedTrial([failed, results(3), results(3)])).find(START)
    assert found.accepted
    assert found.attempts[0].problem == "image x could not be built"
    assert "gcc" in found.recipe.system_packages


ADVISED = Recipe(packages=("pytest", "special"))
OTHER = Recipe(packages=("pytest", "other"))


def test_the_advisor_is_asked_where_no_rule_knows_more_and_its_recipe_must_pass_twice_and_then_fail(facts) -> None:
    trial = PlayedTrial([results(1, 9, "strange"), results(10), results(10), results(0, 10)])
    found = Search(facts({"calc.py": "", "test_calc.py": ""}), trial, advisor=PlayedAdvisor(ADVISED)).find(START)
    assert (found.accepted, found.recipe, found.share) == (True, ADVISED, 1.0)
    assert found.attempts[0].changes == (AppliedChange(rule="advisor", reason="because"),)
    assert [call.result for call in found.calls] == ["asked"]
    assert trial.patches[:3] == ["", "", ""]
    assert re.findall("^rename .*", trial.patches[3], re.MULTILINE) == [
        "rename from calc.py",
        "rename to calc.py.moved",
    ]


@pytest.mark.parametrize(
    ("runs", "problem"),
    [
        ([results(10), results(10), results(10)], "every test passes without the project's sources, too"),
        ([results(10), results(10), TriedRecipe(UNAPPLIED)], "the sources cannot be taken away"),
        ([results(10), results(9, 1)], "the second run does not agree: 81.8% of 11 tests pass in two runs"),
        ([results(9)], ""),
    ],
    ids=["tests nothing", "sources stay", "unstable", "fewer tests than a rule's recipe"],
)
def test_an_advised_recipe_that_shows_nothing_is_refused_and_the_advisor_asked_again(facts, runs, problem) -> None:
    advisor = PlayedAdvisor(ADVISED)
    found = Search(facts({}), PlayedTrial([results(1, 9, "strange"), *runs]), advisor=advisor).find(START)
    assert (found.accepted, found.ended, len(advisor.asked)) == (False, True, 2)
    assert found.attempts[1].problem == advisor.asked[1].run.problem == problem
    assert found.attempts[1].share < 0.95
    again = PlayedTrial([results(1, 9, "strange"), *runs, results(10), results(10), results(0, 10)])
    found = Search(facts({}), again, advisor=PlayedAdvisor(ADVISED, OTHER)).find(START)
    assert (found.accepted, found.recipe) == (True, OTHER)


def test_an_advisor_goes_on_after_the_last_round_of_the_rules(facts) -> None:
    runs = [results(1, 9, f"No module named 'mod{n}'") for n in range(3)]
    advisor = PlayedAdvisor(ADVISED)
    trial = PlayedTrial([*runs, results(10), results(10), results(0, 10)])
    found = Search(facts({}), trial, rounds=3, advisor=advisor).find(START)
    assert (found.accepted, len(found.attempts), len(advisor.asked)) == (True, 4, 1)
    assert [each.packages for each in trial.recipes[:3]][-1] == ("pytest", "mod0", "mod1")


def test_a_search_that_rules_ended_goes_on_from_its_best_recipe_with_an_advisor(facts) -> None:
    ended = Search(facts({}), PlayedTrial([results(5, 5, MISSING), results(1, 9, "strange")])).find(START)
    assert (ended.ended, ended.accepted, len(ended.attempts)) == (True, False, 2)
    trial = PlayedTrial([results(5, 5, MISSING), results(10), results(10), results(0)])
    found = Search(facts({}), trial, advisor=PlayedAdvisor(ADVISED)).find(ended.reopened())
    assert (found.accepted, len(found.attempts)) == (True, 4)
    assert trial.recipes[0] == ended.attempts[0].recipe
    nothing = START.model_copy(update={"ended": True}).reopened()
    assert Search(facts({}), PlayedTrial([results(2), results(2)]), advisor=PlayedAdvisor()).find(nothing).accepted


def test_what_an_advised_recipe_breaks_is_a_round_and_what_a_rule_breaks_is_an_error(facts) -> None:
    class Refusing(PlayedTrial):
        def run(self, recipe: Recipe, seconds: float, patch: str = "") -> TriedRecipe:
            if len(self.recipes) == self.sound:
                raise UserError("no such format")
            return super().run(recipe, seconds, patch)

        sound = 1

    found = Search(facts({}), Refusing([results(1, 9)]), advisor=PlayedAdvisor(ADVISED)).find(START)
    assert found.attempts[1].problem == "no such format"
    assert found.reason.startswith("no such format; no rule knows more; advisor: knows no change")
    Refusing.sound = 0
    with pytest.raises(UserError):
        Search(facts({}), Refusing([]), advisor=PlayedAdvisor(ADVISED)).find(START)


def test_modules_that_cannot_be_collected_count_against_the_recipe() -> None:
    tests = {f"t{n}.py::a": Status.PASSED for n in range(9)} | {"bad.py": Status.ERROR}
    run = TriedRecipe(output="____ ERROR collecting bad.py ____\n", tests=tests)
    assert run.share == 0.9
    many = {f"t1.py::{n}": Status.PASSED for n in range(999)} | {"bad.py": Status.ERROR}
    assert TriedRecipe(output="ERROR collecting bad.py", tests=many).share == 0.5
    summed_up = "[INFO] Core .... SUCCESS [  1.2 s]\n[INFO] Web 2.1-SNAPSHOT . FAILURE [  0.1 s]\n[INFO] All SKIPPED\n"
    assert TriedRecipe(output=f"{summed_up}[INFO] BUILD FAILURE\n", tests=many).share == pytest.approx(1 / 3)


def test_skipped_tests_count_neither_way() -> None:
    run = TriedRecipe(tests={"a": Status.PASSED, "b": Status.SKIPPED, "c": Status.XFAIL, "d": Status.MISSING})
    assert (run.share, run.counted) == (1.0, frozenset({"a", "c"}))
    assert TriedRecipe(tests={"b": Status.SKIPPED}).share == 0.0


def test_a_suite_without_tests_is_looked_for_under_other_names(facts) -> None:
    none = TriedRecipe(NO_TESTS, "E   AssertionError: one of Assay's own")
    trial = PlayedTrial([none, results(10), results(10)])
    found = Search(facts({}, "calc/tests.py"), trial).find(START)
    assert found.accepted
    assert "python_files='test*.py" in trial.recipes[1].env["PYTEST_ADDOPTS"]
    found = Search(facts({}), PlayedTrial([none])).find(START)
    assert found.reason == "the runner found no test of the project; no rule knows more"


@pytest.mark.parametrize(
    ("texts", "options", "rules"),
    [
        ({}, "--timeout=60", ["hanging-test"]),
        (
            {"pytest.ini": "[pytest]\nmarkers =\n  network: asks a host\n  slow: takes long\n  fast: not\n"},
            "--timeout=60 -m 'not (network or slow)'",
            ["hanging-test", "slow-tests"],
        ),
    ],
)
def test_a_hanging_suite_gets_a_limit_for_each_test_and_leaves_out_slow_ones(facts, texts, options, rules) -> None:
    stuck = TriedRecipe("the tests did not end in time")
    found = Search(facts(texts), PlayedTrial([stuck, results(3), results(3)])).find(START)
    assert found.accepted
    assert found.recipe.env == {"PYTEST_ADDOPTS": options}
    assert "pytest-timeout" in found.recipe.packages
    assert [each.rule for each in found.attempts[0].changes] == rules


def test_packages_of_workflows_are_taken_without_the_project_itself_and_what_debian_lacks(facts) -> None:
    known = facts({".travis.yml": "script: [apt-get install -y calc nowhere libfoo-dev]\n"})
    lacking = TriedRecipe("image x could not be built", "E: Unable to locate package nowhere")
    trial = PlayedTrial([results(1, 1), lacking, results(1, 1)])
    found = Search(known, trial).find(START)
    assert [each.system_packages for each in trial.recipes] == [(), ("nowhere", "libfoo-dev"), ("libfoo-dev",)]
    assert not found.accepted
