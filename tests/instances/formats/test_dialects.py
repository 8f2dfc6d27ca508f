"""Every dialect keeps the promises of the Protocol; and what is particular to one."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from assay.harness.domain import Archive, DatasetRef, Instance, PublishedImage, Recipe, Rule
from assay.harness.errors import DataError
from assay.instances.formats import FORMATS, native, swebench

DATASET = DatasetRef(name="d", revision="r")

PLAIN = Instance(
    id="o__r-1",
    repo="o/r",
    base_commit="a" * 40,
    problem_statement="It breaks.",
    gold_patch="gold",
    test_patch="tests",
    fail_to_pass=("t.py::a[x, y]",),
    pass_to_pass=("t.py::b",),
    created_at=datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC),
    version="1.2",
    hints="see there",
    dataset=DATASET,
)
PUBLISHED = PLAIN.model_copy(
    update={
        "environment": PublishedImage(image="x/y:z", eval_script="run"),
        "language": "rust",
        "log_format": "parse_log_cargo",
        "rule": Rule.SWE_BENCH_FAIL_ONLY,
    }
)
RELEASED = PLAIN.model_copy(
    update={
        "base_commit": "",
        "archive": Archive(name="toy", version="1", sha256="0" * 64),
        "environment": Recipe(repo="o/r", python="3.9"),
    }
)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("instance", [PLAIN, PUBLISHED])
def test_rows_go_through_json_and_come_back_the_same(name: str, instance: Instance) -> None:
    dialect = FORMATS[name]
    row = json.loads(json.dumps(dialect.from_instance(instance)))
    assert next(each for each in FORMATS if FORMATS[each].matches(row)) == name
    assert dialect.to_instance(row, DATASET) == instance


@pytest.mark.parametrize("name", FORMATS)
def test_no_dialect_claims_a_foreign_row(name: str) -> None:
    assert name == FORMATS[name].NAME
    for row in ({}, {"instance_id": "x"}, {"org": "o", "number": 1, "fix_patch": "", "test_patch": ""}):
        assert not FORMATS[name].matches(row)


def test_only_the_native_dialect_holds_an_archive_and_a_recipe() -> None:
    row = json.loads(json.dumps(native.from_instance(RELEASED)))
    assert native.to_instance(row, DATASET) == RELEASED
    with pytest.raises(DataError, match="commit"):
        swebench.from_instance(RELEASED)


@pytest.mark.parametrize(
    "written",
    [
        "2020-01-02T03:04:05Z",
        "2020-01-02 03:04:05",
        "2020-01-02T04:04:05+01:00",
        1577934245000,
        datetime(2020, 1, 2, 4, 4, 5, tzinfo=timezone(timedelta(hours=1))),
    ],
)
def test_times(written: object) -> None:
    row = swebench.from_instance(PLAIN) | {"created_at": written}
    assert swebench.to_instance(row, DATASET).created_at == PLAIN.created_at


@pytest.mark.parametrize(
    ("parser", "log_format", "language"),
    [
        ("parse_log_pytest", "pytest_text", "python"),
        ("parse_log_xarray", "pytest_text", "python"),
        ("parse_log_django", "unittest_text", "python"),
        ("parse_log_sympy", "sympy_text", "python"),
        ("parse_log_gotest", "parse_log_gotest", "go"),
        ("parse_log_new", "parse_log_new", "python"),
        (None, "pytest_text", "python"),
    ],
)
def test_parser_names(parser: str | None, log_format: str, language: str) -> None:
    row = swebench.from_instance(PLAIN) | {"log_parser": parser, "language": None}
    read = swebench.to_instance(row, DATASET)
    assert (read.log_format, read.language) == (log_format, language)


def test_a_classic_row_without_parser_goes_by_its_repository() -> None:
    row = swebench.from_instance(PLAIN) | {"log_parser": None, "repo": "django/django"}
    assert swebench.to_instance(row, DATASET).log_format == "unittest_text"


def test_a_test_named_twice_counts_once() -> None:
    row = swebench.from_instance(PLAIN) | {"FAIL_TO_PASS": '["a", "a"]'}
    assert swebench.to_instance(row, DATASET).fail_to_pass == ("a",)


def test_labels_are_written_sorted_and_whole(tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "o__r-1"
    task.mkdir(parents=True)
    (task / "task.yaml").write_text("repo: o/r\n")
    path = native.write_labels(tmp_path, "o__r-1", ["b", "a"], ["ü"])
    assert json.loads(path.read_text()) == {"fail_to_pass": ["a", "b"], "pass_to_pass": ["ü"]}
    assert sorted(each.name for each in task.iterdir()) == ["task.yaml", "tests.json"]
    with pytest.raises(DataError, match="no task"):
        native.write_labels(tmp_path, "o__r-2", [], [])
