from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from assay.harness.domain import Recipe, Status
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.search import Search
from assay.instances.setup.setup_record import SetupRecord
from assay.instances.setup.trial import NO_TESTS, TriedRecipe

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
        self.seconds: list[float] = []

    def run(self, recipe: Recipe, seconds: float) -> TriedRecipe:
        self.recipes.append(recipe)
        self.seconds.append(seconds)
        return self.runs.pop(0)


class PlayedAdvisor:
    name = "advisor"

    def __init__(self, answer: Recipe | None) -> None:
        self.answer = answer

    def advise(self, facts: Facts, recipe: Recipe, output: str) -> Recipe | None:
        return self.answer


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


def test_a_failed_build_is_a_round_like_any_other(facts) -> None:
    failed = TriedRecipe("image x could not be built", "error: command 'gcc' failed: No such file or directory")
    found = Search(facts({}), PlayedTrial([failed, results(3), results(3)])).find(START)
    assert found.accepted
    assert found.attempts[0].problem == "image x could not be built"
    assert "gcc" in found.recipe.system_packages


def test_the_advisor_is_asked_where_no_rule_knows_more(facts) -> None:
    advised = Recipe(packages=("pytest", "special"))
    trial = PlayedTrial([results(1, 9, "strange"), results(10), results(10)])
    found = Search(facts({}), trial, advisor=PlayedAdvisor(advised)).find(START)
    assert found.accepted
    assert (found.recipe, found.attempts[0].changes[0].rule) == (advised, "advisor")
    none = Search(facts({}), PlayedTrial([results(1, 9, "strange")]), advisor=PlayedAdvisor(None)).find(START)
    assert not none.accepted


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
