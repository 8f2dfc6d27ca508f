"""Test files tried beside the project's own, and test files that are run although others cannot be."""

from collections.abc import Callable
from typing import Any

CODE = "def half(number):\n    return number / 2\n"
TESTS = "from shop import half\n\n\ndef test_half():\n    assert half(4) == 2\n"
TRIAL = """\
import pytest
from shop import half


@pytest.mark.parametrize("plus", [0, 1], ids=["a", "b"])
@pytest.mark.parametrize("number, name", [(2, "x"), pytest.param(4, "y", id="four"), (4, "z")])
def test_trial(number, name, plus):
    assay_check((name, str(plus), str(half(number))))


def assay_check(shown):
    assert shown[2] != "2.0"
"""
Make = Callable[..., Any]


def tried(make: Make, *trials: dict[str, str], **more: Any) -> Any:
    told = [{"name": str(n), "path": "tests/test_new.py", "only": "", **each} for n, each in enumerate(trials)]
    return make("gold", CODE, TESTS).run("standalone", trials=told, limit=10, **more)


def test_a_trial_tells_what_its_check_was_given_and_whether_that_failed(make_project: Make) -> None:
    ran = tried(make_project, {"text": TRIAL, "only": "[four-b]"}, {"text": TRIAL, "only": "[2-x-a]"})
    bad, good, end = ran.rows
    assert bad["shown"] == [["y", "1", "2.0"]]
    assert (bad["items"], bad["passed"], bad["differs"], bad["status"]) == (1, False, True, 1)
    assert good["shown"] == [["x", "0", "1.0"]]
    assert (good["items"], good["passed"], good["differs"], good["status"]) == (1, True, False, 0)
    assert end == {"end": "done"}


def test_a_trial_tells_its_row_of_each_parametrization(make_project: Make) -> None:
    (row, _) = tried(make_project, {"text": TRIAL, "only": "[four-b]"}).rows
    assert row["rows"] == {"number": 1, "name": 1, "plus": 1}


def test_each_trial_has_a_process_of_its_own_and_the_next_one_runs_whatever_becomes_of_it(make_project: Make) -> None:
    counted = "import shop\n\n\ndef test_a():\n    shop.count = getattr(shop, 'count', 0) + 1\n"
    shows = counted + "    assay_check((str(shop.count),))\n\n\ndef assay_check(shown):\n    pass\n"
    dies = "import os\nos._exit(3)\n"
    first, dead, second, _ = tried(make_project, {"text": shows}, {"text": dies}, {"text": shows}).rows
    assert first["shown"] == second["shown"] == [["1"]]
    assert dead["kind"] == "died"


def test_nothing_of_a_trial_stays_in_the_tree(make_project: Make) -> None:
    project = make_project("clean", CODE, TESTS)
    trial = {"name": "0", "path": "tests/test_new.py", "text": TRIAL, "only": ""}
    project.run("standalone", trials=[trial], limit=10)
    assert {path.name for path in (project.root / "tests").rglob("*.py")} == {"test_shop.py"}


def test_the_text_of_files_is_told_by_their_own_encoding(make_project: Make) -> None:
    project = make_project("read", CODE, TESTS)
    (project.root / "tests/test_old.py").write_bytes("# coding: latin-1\nNAME = 'é'\n".encode("latin-1"))
    told = project.run("standalone", read=["tests/test_old.py", "tests/test_absent.py"], limit=1).rows
    assert [row.get("source") for row in told[:2]] == ["# coding: latin-1\nNAME = 'é'\n", ""]


def test_a_conftest_that_cannot_be_imported_takes_only_its_own_folder_along(make_project: Make) -> None:
    files = {
        "tests/bad/conftest.py": "import absent\n",
        "tests/bad/test_bad.py": TESTS,
        "tests/good/test_good.py": TESTS,
        "tests/broken/test_broken.py": "import shop\n\nshop.absent\n",
    }
    project = make_project("folders", CODE, TESTS, **files)
    wanted = ["tests/test_shop.py", "tests/bad/test_bad.py", "tests/broken/test_broken.py", "tests/good/test_good.py"]
    ran = project.run("amplify", files=wanted, targets=project.targets("half"), mutants=2)
    assert {row["test"].partition("::")[0] for row in ran.seen.values() if row["kind"] == "value"} == {
        "tests/test_shop.py",
        "tests/good/test_good.py",
    }
    failed = {row["test"]: (row["kind"], row["type"]) for row in ran.seen.values() if row["key"].endswith("import#1")}
    assert failed == {
        "tests/bad/test_bad.py": ("error", "UsageError"),
        "tests/broken/test_broken.py": ("error", "AttributeError"),
    }


def test_files_without_tests_are_asked_one_by_one_and_give_nothing(make_project: Make) -> None:
    project = make_project("none", CODE, "VALUE = 1\n", **{"tests/test_more.py": "OTHER = 2\n"})
    ran = project.run("amplify", files=["tests/test_shop.py", "tests/test_more.py"], targets=project.targets("half"))
    assert ran.rows == [{"end": "done"}]
