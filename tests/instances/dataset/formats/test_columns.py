from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import UNKNOWN_TIME, Asset, PatchedCommit, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats import FORMATS, write
from assay.instances.dataset.formats.columns import origin
from samples import DATASET, PLAIN, read, rows

GO = "--- a/x.go\n+++ b/x.go\n"
URLS = {"problem_statement": [], "patch": [], "test_patch": ["https://images.example/a.png"]}
REBENCH_1 = {
    "FAIL_TO_FAIL": [],
    "PASS_TO_FAIL": ["t.py::old"],
    "created_at": "2020-01-02 03:04:05",
    "docker_image": "x",
}


def name_parser(name: str) -> dict[str, Any]:
    return {"install_config": {"log_parser": name}}


def make_maven_row(parser: str, *labels: str) -> dict[str, Any]:
    return {"language": "java", **name_parser(parser), "FAIL_TO_PASS": list(labels), "PASS_TO_PASS": []}


CLASSES = {"log_format": "maven_classes_text", "test_id": "class_of"}
METHODS = {"log_format": "maven_text", "test_id": "method"}
PARSED: list[tuple[str, int, dict[str, Any], dict[str, Any]]] = [
    *(
        ("swebench", 0, {"created_at": written}, {"created_at": PLAIN.created_at})
        for written in (
            *("2020-01-02T03:04:05Z", "2020-01-02 03:04:05", "2020-01-02T04:04:05+01:00", 1577934245000),
            datetime(2020, 1, 2, 4, 4, 5, tzinfo=timezone(timedelta(hours=1))),
        )
    ),
    ("swebench", 0, {"created_at": None}, {"created_at": UNKNOWN_TIME}),
    ("multi-swe-bench", 0, {}, {"created_at": UNKNOWN_TIME}),
    ("swebench", 0, {"FAIL_TO_PASS": '["a", "a"]'}, {"fail_to_pass": ("a",)}),
    # SWE-Gym's rows
    ("swebench", 0, {"FAIL_TO_PASS": ["a"], "environment_setup_commit": None}, {"fail_to_pass": ("a",)}),
    ("swebench", 0, {"FAIL_TO_PASS": ["t.py::a"], "PASS_TO_PASS": []}, {"rule": Rule.SWE_BENCH}),
    *(
        ("swebench", 0, {"log_parser": parser, "language": None}, {"log_format": log_format, "language": language})
        for parser, log_format, language in (
            ("parse_log_pytest", "pytest_text", "python"),
            ("parse_log_xarray", "pytest_text", "python"),
            ("parse_log_django", "unittest_text", "python"),
            ("parse_log_sympy", "sympy_text", "python"),
            ("parse_log_gotest", "go_text", "go"),
            ("parse_log_new", "parse_log_new", "python"),
            ("", "", "python"),
            (None, "pytest_text", "python"),
        )
    ),
    ("swebench", 0, {"log_parser": None, "repo": "django/django"}, {"log_format": "unittest_text"}),
    ("swebench", 0, {"patch": GO, "test_patch": GO}, {"language": "go", "log_format": ""}),
    ("swebench", 2, {}, {"assets": (Asset(path="test/fixtures/thick.png", url="https://images.example/thick.png"),)}),
    ("swebench", 2, {"image_assets": URLS}, {"assets": ()}),
    ("swebench-live", 1, {}, {"log_format": "pytest_text"}),
    # of SWE-bench-Live's MultiLang
    ("swebench-live", 0, {"docker_image": "x", "log_parser": "def parser(log):\n    return {}\n"}, {"log_format": ""}),
    ("swe-rebench", 0, name_parser("parse_log_cargo"), {"log_format": "cargo_text", "test_id": "node"}),
    ("swe-rebench", 0, name_parser("parse_log_pytest_v2"), {"log_format": "pytest_text", "test_id": ""}),
    ("swe-rebench", 0, name_parser("parse_log_ruby_v2"), {"log_format": "minitest_text", "test_id": "method"}),
    ("swe-rebench", 0, name_parser("parse_log_kotlin_junit"), CLASSES),
    ("swe-rebench", 0, name_parser("parse_log_new"), {"log_format": "parse_log_new", "test_id": ""}),
    ("swe-rebench", 0, make_maven_row("parse_log_maven", "org.shop.CartTest"), CLASSES),
    ("swe-rebench", 0, make_maven_row("parse_java_mvn", "org.shop.CartTest"), CLASSES),
    ("swe-rebench", 0, make_maven_row("parse_log_maven", "CartTest#adds", "CartTest"), METHODS),
    ("swe-rebench", 0, make_maven_row("parse_java_mvn", "CartTest#adds", "CartTest"), METHODS),
    (
        "swe-rebench",
        2,
        REBENCH_1 | name_parser("parse_log_pytest"),
        {"rule": Rule.SWE_BENCH, "log_format": "pytest_text"},
    ),
    ("nocode-bench", 0, {}, {"problem_statement": "+`add` adds."}),
    ("nocode-bench", 1, {}, {"problem_statement": "+`sub` subtracts."}),
    ("nocode-bench", 2, {}, {"problem_statement": "Add `mul`."}),
    ("nocode-bench", 0, {"repo": "sympy/sympy"}, {"log_format": "sympy_text", "test_id": "function"}),
    ("nocode-bench", 0, {"repo": "django/django"}, {"log_format": "unittest_text", "test_id": ""}),
    ("nocode-bench", 0, {"repo": "acme/calc"}, {"log_format": "pytest_text", "test_id": ""}),
    ("polybench", 0, {}, {"language": "typescript", "fail_to_pass": ('a.test.ts->a: it\'s "two"', "b")}),
    *(
        (dialect, 0, {"version": value}, {"version": ""})
        for dialect in ("polybench", "swebench-pro")
        for value in ("1", 3)
    ),
    *(
        ("polybench", 0, {"language": language, "F2P": [label], "P2P": []}, {"test_id": style})
        for language, label, style in (
            ("Python", "tests/test_a.py:TestA:test_one", "colons"),
            ("Python", "tests/test_a.py:None:test_one[1]", "colons"),
            ("Python", "tests.test_a.TestA:test_one:", "colons"),
            ("Python", "tests/test_a.py::test_one", ""),
            ("Java", "org.shop.CartTest.adds", "dot"),
            ("Java", "org.shop.CartTest#adds", ""),
            ("TypeScript", "/testbed/src/a.test.ts->Cart adds", "file_arrow"),
            ("JavaScript", "Cart adds ", "padded"),
        )
    ),
    ("swebench-pro", 0, {}, {"fail_to_pass": ("tests/test_add.py::test_add[it's]",)}),
    ("swebench-pro", 1, {}, {"fail_to_pass": ("TestTurn", "TestTurn/twice")}),
    ("swebench-pro", 2, {}, {"fail_to_pass": ("test/post.js | Post keeps | it",)}),
    ("swebench-pro", 1, {}, {"problem_statement": "The wheel does not turn."}),
    (
        *("swebench-pro", 0, {}),
        {
            "problem_statement": "`add` subtracts.\n\nRequirements:\n- `add` must add.\n\n"
            "New interfaces introduced:\nNo new interfaces are introduced."
        },
    ),
    ("swe-smith", 0, {}, {"base": PatchedCommit(commit="b" * 40, patch=rows("swe-smith")[0]["patch"])}),
    ("swe-smith", 0, {}, {"base_commit": "", "test_patch": ""}),
    ("multi-swe-bench", 1, {}, {"fail_to_pass": ("SlowTest", "BeanTest", "NewTest"), "hints": "look at Bean"}),
    # Multi-SWE-RL's rows
    ("multi-swe-bench", 0, {"hints": "Look.", "instance_id": "acme__gears-4"}, {"rule": Rule.MULTI_SWE_BENCH}),
]


@pytest.mark.parametrize(("dialect", "number", "changes", "fields"), PARSED)
def test_columns_give_fields(dialect: str, number: int, changes: dict[str, Any], fields: dict[str, Any]) -> None:
    row = rows(dialect)[number] | changes
    assert next(name for name, each in FORMATS.items() if each.matches(row)) == dialect
    instance = read(dialect, number, **changes)
    assert {name: getattr(instance, name) for name in fields} == fields
    assert FORMATS[dialect].to_instance(write(FORMATS[dialect], instance), DATASET) == instance


@pytest.mark.parametrize(
    ("dialect", "number", "columns", "language"),
    [
        ("swebench", 0, {"language": "C++"}, "cpp"),
        ("swebench-live", 0, {"language": "C++"}, "cpp"),
        ("swe-rebench", 0, {"language": "js"}, "javascript"),
        ("swe-smith", 0, {"language": "Python"}, "python"),
        ("nocode-bench", 0, {"language": "Python"}, "python"),
        ("polybench", 0, {"language": "Typescript"}, "typescript"),
        ("multi-swe-bench", 0, {"lang": "ts"}, "typescript"),
        ("swebench", 0, {"log_parser": "parse_log_seaborn"}, "python"),
        ("swe-rebench", 2, REBENCH_1 | name_parser("parse_log_pytest") | {"created_at": 1577934245000}, "python"),
        *(
            ("swe-rebench", 0, {"language": "go"} | name_parser(f"parse_log_{name}"), "go")
            for name in ("cargo", "pytest_v2", "ruby_v2", "kotlin_junit", "something_new")
        ),
    ],
)
def test_columns_are_written_as_they_were(dialect: str, number: int, columns: dict[str, Any], language: str) -> None:
    instance = read(dialect, number, **columns)
    assert instance.language == language
    written = write(FORMATS[dialect], instance)
    assert {name: written[name] for name in columns} == columns


def test_a_row_of_the_first_swe_rebench_needs_no_columns_of_its_own_to_keep_its_rule() -> None:
    instance = read("swe-rebench", 2, **REBENCH_1, **name_parser("parse_log_pytest"))
    written = write(FORMATS["swe-rebench"], instance.model_copy(update={"origin": None}))
    assert FORMATS["swe-rebench"].to_instance(written, DATASET).rule is Rule.SWE_BENCH


def test_the_gold_patch_of_swe_smith_is_the_reverse_of_the_bug() -> None:
    gold = read("swe-smith").gold_patch
    assert ("+return 12\n" in gold, "-return 13\n" in gold) == (True, True)


def test_a_parser_that_is_a_program_is_kept_and_never_run(tmp_path: Path) -> None:
    program = f"open({str(tmp_path / 'ran')!r}, 'w')\nparser = None\n"
    instance = read("swebench-live", log_parser=program)
    assert write(FORMATS["swebench-live"], instance)["log_parser"] == program
    assert (instance.log_format, list(tmp_path.iterdir())) == ("", [])


def test_a_column_that_holds_itself_is_named() -> None:
    column: list[object] = []
    column.append(column)
    with pytest.raises(DataError, match="a-1: field tags: holds itself; write it out"):
        origin("swebench", {"instance_id": "a-1", "tags": column}, {"instance_id"})
