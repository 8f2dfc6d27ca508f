"""What amplification shows of a project, and of wrong versions of it that pass the project's own tests."""

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from probed import SHOP as GOLD
from tables import read_tables

pytestmark = pytest.mark.slow

PROGRAMS = read_tables(__file__)
TESTS = PROGRAMS["usual"]
HARD_CODED = GOLD.replace("count >= 10", "(count, each) == (10, 10)")
PARTIAL = GOLD.replace("if count < 0", "if count == -1")
NEIGHBOUR = GOLD.replace("name[:width].ljust(width)", "name.ljust(width)")
BROAD = GOLD.replace("count >= 10", "count >= 5")
SAME = GOLD.replace("total = total - total // 10", "total -= total // 10").replace("count < 0", "0 > count")
Make = Callable[..., Any]


def amplified(make: Make, name: str, code: str, target: str = "price", tests: str = TESTS, **job: Any) -> Any:
    project = make(name, code, tests)
    return project.run("amplify", targets=project.targets(target), **{"mutants": 80, **job})


def different(gold: Any, other: Any) -> list[str]:
    mine, theirs = gold.observations(), other.observations()
    return [key for key in mine if key in theirs and mine[key] != theirs[key] and gold.seen[key]["target"]]


def test_every_operand_of_an_assertion_is_observed_with_what_redoes_it(make_project: Make) -> None:
    ran = amplified(make_project, "gold", GOLD)
    assert ran.end == "done"
    row = ran.seen["tests/test_shop.py::test_price|m0|s0#1"]
    assert (row["kind"], row["type"], row["text"]) == ("value", "int", "100")
    assert row["target"] == "price"
    assert row["literal"] == {
        "test": "tests/test_shop.py::test_price",
        "line": 6,
        "expression": "price(2, 50)",
        "mode": "operand",
        "mutations": [],
    }


def test_changed_copy_reports_its_edits_of_the_file(make_project: Make) -> None:
    rows = [row for row in amplified(make_project, "gold", GOLD).seen.values() if row["mutated"]]
    assert rows
    lines = TESTS.splitlines()
    for row in rows:
        for (line, column), (end_line, end_column), old, new in row["literal"]["mutations"]:
            assert line == end_line
            assert lines[line - 1][column:end_column] == old != new


def test_expected_exception_is_observed_by_its_type(make_project: Make) -> None:
    row = amplified(make_project, "gold", GOLD).seen["tests/test_shop.py::test_negative|m0|s0#1"]
    assert (row["kind"], row["type"], row["text"]) == ("error", "ValueError", "")


@pytest.mark.parametrize(
    ("code", "target"),
    [(HARD_CODED, "price"), (PARTIAL, "price"), (BROAD, "price"), (NEIGHBOUR, "label")],
    ids=["hard-coded", "partial", "over-broad", "neighbour"],
)
def test_wrong_version_that_passes_differs_in_changed_copies_only(make_project: Make, code: str, target: str) -> None:
    gold = amplified(make_project, "gold", GOLD, target)
    found = different(gold, amplified(make_project, "wrong", code, target))
    assert found
    assert all(gold.seen[key]["mutated"] for key in found)


def test_the_same_behaviour_written_otherwise_differs_nowhere(make_project: Make) -> None:
    gold, other = amplified(make_project, "gold", GOLD), amplified(make_project, "other", SAME)
    assert not different(gold, other)
    assert gold.observations().keys() == other.observations().keys()


def test_the_same_job_gives_the_same_observations_whatever_the_hash_seed(make_project: Make) -> None:
    assert (
        amplified(make_project, "a", GOLD, hash_seed=1).observations()
        == amplified(make_project, "b", GOLD, hash_seed=77).observations()
    )


def test_other_seed_chooses_other_changes(make_project: Make) -> None:
    one, two = (amplified(make_project, f"gold{seed}", GOLD, mutants=6, seed=seed) for seed in (1, 2))
    assert one.observations() != two.observations()


@pytest.mark.parametrize(
    "more", ["", "Any.__name__ = Any.__qualname__ = 'int'\nAny.__module__ = 'builtins'\n"], ids=["named", "disguised"]
)
def test_object_that_equals_everything_differs_whatever_its_name(make_project: Make, more: str) -> None:
    always = "class Any(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n" + more
    wrong = always + GOLD.replace("return total\n", "return Any(total)\n" if more else "return Any(7)\n")
    found = different(amplified(make_project, "gold", GOLD), amplified(make_project, "wrong", wrong))
    assert "tests/test_shop.py::test_price|m0|s0#1" in found
    assert "tests/test_shop.py::test_price|m0|s1#1" not in found  # that is what the comparison itself says: True


def test_set_order_is_hidden_and_list_order_is_not(make_project: Make) -> None:
    code = "def letters(word):\n    return set(word)\n\n\ndef listed(word):\n    return list(set(word))\n"
    tests = PROGRAMS["sets"]
    project = make_project("sets", code, tests)
    runs = [project.run("amplify", hash_seed=seed, mutants=0).observations() for seed in range(4)]
    name = "tests/test_shop.py::test_letters|m0|s"
    assert len({run[f"{name}0#1"] for run in runs}) == 1
    assert len({run[f"{name}4#1"] for run in runs}) > 1


def test_only_tests_that_reach_a_target_get_changed_copies(make_project: Make) -> None:
    ran = amplified(make_project, "gold", GOLD)
    copied = {row["test"].rpartition("::")[2] for row in ran.seen.values() if row["mutated"]}
    assert copied == {"test_price", "test_negative"}
    unreached = [row for row in ran.seen.values() if row["test"].endswith("test_label")]
    assert unreached
    assert not any(row["target"] for row in unreached)


def test_only_runs_what_is_asked_for(make_project: Make) -> None:
    gold = amplified(make_project, "gold", GOLD)
    wanted = sorted(key for key, row in gold.seen.items() if row["mutated"])[:3]
    again = amplified(make_project, "again", GOLD, only=wanted)
    assert sorted(again.seen) == wanted
    assert again.observations() == {key: shown for key, shown in gold.observations().items() if key in wanted}


def test_hanging_and_dying_tests_are_observations_and_the_rest_runs(make_project: Make) -> None:
    code = (
        GOLD + "\n\ndef spin():\n    while True:\n        try:\n            pass\n"
        "        except BaseException:\n            pass\n"
    )
    tests = PROGRAMS["bad"]
    ran = make_project("bad", code, tests).run("amplify", mutants=0, limit=0.3)
    kinds = {row["test"].rpartition("::")[2]: row["kind"] for row in ran.seen.values()}
    assert kinds == {"test_a": "timeout", "test_b": "died", "test_c": "value"}
    assert ran.end == "done"


def test_uninterruptible_test_is_killed_from_outside(make_project: Make) -> None:
    tests = PROGRAMS["stuck"]
    ran = make_project("stuck", GOLD, tests).run("amplify", mutants=0, limit=0.2)
    kinds = {row["test"].rpartition("::")[2]: row["kind"] for row in ran.seen.values()}
    assert kinds == {"test_a": "timeout", "test_b": "value"}


def test_a_spent_budget_ends_the_run_cleanly(make_project: Make) -> None:
    slow = "import time\n" + GOLD.replace("    total = count", "    time.sleep(1)\n    total = count")
    ran = amplified(make_project, "slow", slow, budget=5)
    assert ran.end == "budget"
    assert ran.seen


def test_end_of_all_time_is_kept_even_in_the_middle_of_a_test_and_is_no_observation(make_project: Make) -> None:
    tests = TESTS + "\n\ndef test_sleeps():\n    import time\n    time.sleep(60)\n    assert price(1, 1) == 1\n"
    began = time.monotonic()
    ran = amplified(make_project, "sleeps", GOLD, tests=tests, mutants=0, limit=100.0, seconds=15.0)
    assert time.monotonic() - began < 25
    assert ran.end == "late"
    assert ran.observations()["tests/test_shop.py::test_price|m0|s0#1"] == ("value", "int", "100")
    assert not any("test_sleeps" in key for key in ran.seen)


def test_fixtures_parametrizations_and_unittest_classes_work_in_changed_copies(make_project: Make) -> None:
    tests = PROGRAMS["full"]
    ran = amplified(make_project, "full", GOLD, tests=tests, mutants=8)
    copies = {row["test"].partition("[")[0].rpartition("::")[2] for row in ran.seen.values() if row["mutated"]}
    assert copies == {"test_rows", "test_method"}
    rows = [row for row in ran.seen.values() if row["mutated"] and "test_rows" in row["test"]]
    assert {edit[0][0] for row in rows for edit in row["literal"]["mutations"]} >= {11}, "the parametrization too"
    assert not [row for row in ran.seen.values() if row["key"].endswith("|import#1")]


def test_missing_name_fails_only_the_tests_that_use_it(make_project: Make) -> None:
    tests = (
        TESTS.replace("import label, price", "import label, new, price") + "\n\ndef test_new():\n    assert new(1)\n"
    )
    ran = make_project("base", GOLD, tests).run("amplify", mutants=0)
    shown = ran.observations()
    assert shown["tests/test_shop.py::test_new|m0|s0#1"][:2] == ("error", "NameError")
    assert shown["tests/test_shop.py::test_price|m0|s0#1"] == ("value", "int", "100")


def test_import_error_of_a_test_file_is_an_observation(make_project: Make) -> None:
    ran = make_project("broken", GOLD, "import shop\n\nshop.absent\n").run("amplify")
    (row,) = ran.seen.values()
    assert (row["kind"], row["type"]) == ("error", "AttributeError")


def test_project_settings_do_not_break_the_run(make_project: Make) -> None:
    ini = "[pytest]\naddopts = --cov=shop -n 4\nfilterwarnings = error\nxfail_strict = true\n"
    conftest = "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n"
    tests = PROGRAMS["strict"]
    project = make_project("strict", GOLD, tests, **{"pytest.ini": ini, "tests/conftest.py": conftest})
    shown = project.run("amplify", mutants=0).observations()
    assert shown["tests/test_shop.py::test_a|m0|s2#1"] == ("value", "int", "6")


def test_tree_is_left_clean(make_project: Make) -> None:
    project = make_project("clean", GOLD, TESTS)
    project.run("amplify")
    left = {os.path.relpath(path, project.root) for path in project.root.rglob("*") if path.is_file()}
    assert left == {"shop/__init__.py", "tests/test_shop.py", "job.json", "out.jsonl", "probe.pyz"}


def test_argument_of_a_tests_own_check_is_observed(make_project: Make) -> None:
    tests = PROGRAMS["check"]
    gold = amplified(make_project, "gold", GOLD, tests=tests)
    wrong = amplified(make_project, "wrong", GOLD.replace("10:", "10 and each < 90:"), tests=tests)
    given = gold.seen["tests/test_shop.py::test_price|m0|s0#1"]
    assert (given["text"], given["literal"]["expression"]) == ("90", "price(10, 10)")
    assert any("|s0#" in key for key in different(gold, wrong))


def test_fail_to_pass_tests_get_their_own_number_of_copies(make_project: Make) -> None:
    ran = amplified(make_project, "own", GOLD, mutants=2, own=["tests/test_shop.py::test_price"], own_mutants=30)
    copies = {key.partition("|s")[0] for key in ran.seen if "|m0|" not in key}
    assert len({each for each in copies if "test_price" in each}) > 20
    assert len({each for each in copies if "test_negative" in each}) <= 2


def test_endless_changed_copy_loses_only_itself(make_project: Make) -> None:
    code = GOLD.replace("    total = count * each\n", "    while each == 0:\n        pass\n    total = count * each\n")
    ran = amplified(make_project, "loops", code)
    kinds = {row["kind"] for row in ran.seen.values() if row["mutated"]}
    assert {"timeout", "value"} <= kinds
    assert ran.end == "done"


def test_text_inside_what_a_check_is_given_is_observed(make_project: Make) -> None:
    code = (
        "class Page:\n    def __init__(self, text): self.content = text.encode()\n    __repr__ = lambda self: 'page'\n"
    )
    gold = code + "def render(name): return Page(f'hello {name}')\n"
    other = gold.replace("hello {name}", "hello {name or 1}")
    tests = PROGRAMS["page"]
    both = (("gold", gold), ("other", other))
    seen = [amplified(make_project, name, text, "render", tests, mutants=30) for name, text in both]
    found = different(*seen)
    assert found
    assert "hello " in {seen[0].seen[key]["text"] for key in found}


def test_state_of_what_an_assertion_looks_into_is_observed(make_project: Make) -> None:
    code = "class Page:\n    def __init__(self, text, status): self.text, self.status = text, status\n"
    gold = code + "def render(name): return Page('hello ' + name, 200)\n"
    tests = PROGRAMS["state"]
    both = (("gold", gold), ("other", gold.replace("200", "404")))
    ran = [amplified(make_project, name, text, "render", tests, mutants=0) for name, text in both]
    (key,) = different(*ran)
    row = ran[0].seen[key]
    assert (row["text"], row["literal"]["expression"]) == (", status=200, text='hello Ann'", "page")


def test_exception_of_an_assignment_is_a_difference(make_project: Make) -> None:
    tests = "from shop import price\n\n\ndef test_price():\n    found = price(3, 5)\n    assert found == 15\n"
    gold = amplified(make_project, "gold", GOLD, tests=tests)
    partial = amplified(make_project, "partial", PARTIAL, tests=tests)
    found = [partial.seen[key] for key in different(gold, partial)]
    assert {row["literal"]["mode"] for row in found} == {"whole"}


def test_own_tests_run_first_wherever_they_stand(make_project: Make) -> None:
    tests = TESTS + "\n\ndef test_last():\n    assert price(2, 3) == 6\n"
    rows = amplified(make_project, "first", GOLD, tests=tests, mutants=0, own=["test_last"], own_mutants=0).rows
    assert next(row["test"] for row in rows if "key" in row) == "tests/test_shop.py::test_last"


def test_tests_near_the_own_get_their_copies_sooner(make_project: Make) -> None:
    tests = TESTS + "\n\nclass TestOwn:\n    def test_own(self):\n        assert price(2, 3) == 6\n"
    rows = amplified(make_project, "gold", GOLD, tests=tests, mutants=6, own=["test_own"], own_mutants=6).rows
    runs = list(dict.fromkeys(row["key"].rpartition("|")[0] for row in rows if row.get("mutated")))
    own = [place for place, run in enumerate(runs) if "test_own" in run]
    assert own[3] < runs.index(next(run for run in runs if "test_price|m2" in run))


def test_tests_that_classes_inherit_from_a_module_beside_are_changed_as_well(make_project: Make) -> None:
    mixin = "from shop import price\n\n\nclass Prices:\n    def test_price(self):\n        assert price(2, 3) == 6\n"
    tests = "import unittest\nfrom tests import Prices\n\n\nclass TestIt(Prices, unittest.TestCase):\n    pass\n"
    project = make_project("gold", GOLD, tests, **{"tests/__init__.py": mixin})
    rows = project.run("amplify", targets=project.targets("price"), mutants=6).seen
    mutated = [key for key, row in rows.items() if row["mutated"] and row["target"]]
    assert mutated
    assert all(key.startswith("tests/test_shop.py::TestIt::test_price|m") for key in mutated)
