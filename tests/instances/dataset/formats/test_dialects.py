"""Every dialect keeps the promises of the Protocol; and what is particular to one."""

import json
import subprocess
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import (
    STAGED,
    UNKNOWN_TIME,
    Archive,
    DatasetRef,
    Instance,
    PatchedCommit,
    PublishedImage,
    Recipe,
    Rule,
    Status,
)
from assay.harness.errors import DataError
from assay.harness.grading.rules import RULES
from assay.instances.dataset.formats import FORMATS, multi_swe_bench, native, r2e, swebench, write

DATASET = DatasetRef(name="d", revision="r")
SAMPLES = Path(__file__).parents[3] / "data/formats"

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
    dataset=DATASET,
)
PUBLISHED = PLAIN.model_copy(
    update={
        "environment": PublishedImage(image="x/y:z", eval_script="run"),
        "language": "java",
        "log_format": "maven_text",
        "test_id": "method",
        "version": "1.2",
        "hints": "see there",
        "rule": Rule.SWE_BENCH_FAIL_ONLY,
    }
)
RELEASED = PLAIN.model_copy(
    update={
        "base_commit": "",
        "archive": Archive(name="toy", version="1", sha256="0" * 64),
        "environment": Recipe(repo="o/r", toolchain="3.9"),
    }
)


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLES / f"{name}.jsonl").read_text().splitlines()]


def read(name: str, number: int = 0, **changes: object) -> Instance:
    return FORMATS[name].to_instance(rows(name)[number] | changes, DATASET)


EVERY_ROW = [(name, number) for name in FORMATS for number in range(3)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_dialect_says_its_name_and_the_rules_that_its_rows_are_graded_by(name: str) -> None:
    dialect = FORMATS[name]
    assert name == dialect.NAME
    assert dialect.RULES
    assert set(dialect.RULES) <= set(RULES)


@pytest.mark.parametrize(("name", "number"), EVERY_ROW)
def test_a_row_is_claimed_by_its_own_dialect_alone(name: str, number: int) -> None:
    row = rows(name)[number]
    assert next(each for each in FORMATS if FORMATS[each].matches(row)) == name


@pytest.mark.parametrize(("name", "number"), EVERY_ROW)
def test_rows_come_back_as_they_were(name: str, number: int) -> None:
    dialect, row = FORMATS[name], rows(name)[number]
    instance = dialect.to_instance(row, DATASET)
    assert instance.id == dialect.id_of(row)
    assert instance.rule in dialect.RULES
    written = json.loads(json.dumps(write(dialect, instance)))
    assert dialect.to_instance(written, DATASET) == instance
    lost = {key for key in row if key not in written}
    assert {key for key in lost if row[key] not in (None, "", [], False)} == set()


@pytest.mark.parametrize(("name", "number"), EVERY_ROW)
def test_the_native_dialect_holds_every_instance(name: str, number: int) -> None:
    instance = read(name, number)
    row = json.loads(json.dumps(write(native, instance)))
    assert native.to_instance(row, DATASET) == instance


@pytest.mark.parametrize("name", FORMATS)
def test_no_dialect_claims_a_foreign_row(name: str) -> None:
    for row in ({}, {"instance_id": "x"}, {"question": "1 + 1", "answer": "2"}):
        assert not FORMATS[name].matches(row)


CHANGES: dict[str, object] = {
    "version": "9.9",
    "hints": "other",
    "language": "ruby",
    "environment": Recipe(repo="o/r"),
    "created_at": datetime(1999, 1, 1, tzinfo=UTC),
    "problem_statement": "Other.",
    "log_format": "tap",
    "test_id": "dashed",
    "quarantined": ("x",),
    "rule": Rule.SWE_BENCH_FAIL_ONLY,
}


def written_and_read(name: str, instance: Instance) -> Instance | DataError:
    try:
        row = write(FORMATS[name], instance)
    except DataError as error:
        return error
    return same(FORMATS[name].to_instance(json.loads(json.dumps(row)), DATASET))


def same(instance: Instance) -> Instance:
    """Leave out what a row told beyond its instance."""
    return instance.model_copy(update={"origin": None})


@pytest.mark.parametrize("field", CHANGES)
@pytest.mark.parametrize("name", FORMATS)
def test_what_a_dialect_cannot_hold_is_said_by_field(name: str, field: str) -> None:
    """A written row tells a changed field, or the field is named; a parser's name tells format and ids together."""
    changed = read(name).model_copy(update={field: CHANGES[field]})
    found = written_and_read(name, changed)
    if isinstance(found, DataError):
        parser = {"log_format", "test_id"}
        assert found.field in (parser if field in parser else {field})
        assert found.instance == changed.id
    else:
        assert found == same(changed)
    assert isinstance(found, Instance) or name != "native"


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.lists(WORDS, max_size=4, unique=True).map(tuple)
INSTANCES = st.builds(
    Instance,
    id=st.just("o__r-1"),
    repo=st.sampled_from(["o/r", "o", "O/R.x"]),
    base_commit=st.sampled_from(["a" * 40, ""]),
    language=st.sampled_from(["python", "rust", "c", "cobol"]),
    problem_statement=WORDS,
    gold_patch=WORDS,
    test_patch=WORDS,
    fail_to_pass=NAMES.map(lambda names: tuple(f"f{name}" for name in names)),
    pass_to_pass=NAMES.map(lambda names: tuple(f"p{name}" for name in names)),
    created_at=st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
    version=WORDS,
    hints=WORDS,
    log_format=st.sampled_from(["", "pytest_text", "cargo_text", "parse_log_own"]),
    test_id=st.sampled_from(["", "node", "title"]),
    rule=st.sampled_from([rule for rule in Rule if rule not in STAGED]),
    dataset=st.just(DATASET),
)


@given(INSTANCES)
def test_a_written_row_reads_as_its_instance_or_is_refused_by_field(instance: Instance) -> None:
    for name in FORMATS:
        found = written_and_read(name, instance)
        if isinstance(found, DataError):
            assert found.field or name == "r2e"
        else:
            assert found == instance
        assert isinstance(found, Instance) or name != "native"


@pytest.mark.parametrize("name", ["swebench", "swebench-live", "swe-rebench", "polybench"])
def test_an_instance_without_a_row_can_be_written(name: str) -> None:
    changes = {"rule": FORMATS[name].RULES[0]}
    instance = PLAIN.model_copy(update=changes)
    row = json.loads(json.dumps(write(FORMATS[name], instance)))
    assert next(each for each in FORMATS if FORMATS[each].matches(row)) == name
    assert same(FORMATS[name].to_instance(row, DATASET)) == instance


def test_published_environments_and_parsers_go_through_swebench_rows() -> None:
    row = json.loads(json.dumps(write(swebench, PUBLISHED)))
    assert (row["log_parser"], row["image"]) == ("parse_log_maven", "x/y:z")
    assert swebench.to_instance(row, DATASET) == PUBLISHED


def test_only_the_native_dialect_holds_an_archive_and_a_recipe() -> None:
    row = json.loads(json.dumps(write(native, RELEASED)))
    assert native.to_instance(row, DATASET) == RELEASED
    with pytest.raises(DataError, match="commit"):
        write(swebench, RELEASED)


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
    assert read("swebench", created_at=written).created_at == PLAIN.created_at


def test_a_time_that_nobody_knows_is_null() -> None:
    assert read("swebench", created_at=None).created_at == UNKNOWN_TIME
    assert read("multi-swe-bench").created_at == UNKNOWN_TIME


@pytest.mark.parametrize(
    ("parser", "log_format", "language"),
    [
        ("parse_log_pytest", "pytest_text", "python"),
        ("parse_log_xarray", "pytest_text", "python"),
        ("parse_log_django", "unittest_text", "python"),
        ("parse_log_sympy", "sympy_text", "python"),
        ("parse_log_gotest", "go_text", "go"),
        ("parse_log_new", "parse_log_new", "python"),
        ("", "", "python"),
        (None, "pytest_text", "python"),
    ],
)
def test_parser_names(parser: str | None, log_format: str, language: str) -> None:
    instance = read("swebench", log_parser=parser, language=None)
    assert (instance.log_format, instance.language) == (log_format, language)


def test_a_parser_keeps_its_name() -> None:
    assert write(swebench, read("swebench", log_parser="parse_log_seaborn"))["log_parser"] == "parse_log_seaborn"


def test_a_classic_row_without_parser_goes_by_its_repository() -> None:
    assert read("swebench", log_parser=None, repo="django/django").log_format == "unittest_text"


def test_a_row_without_parser_or_language_goes_by_its_files() -> None:
    go = "--- a/x.go\n+++ b/x.go\n"
    instance = read("swebench", patch=go, test_patch=go)
    assert (instance.language, instance.log_format) == ("go", "")


def test_a_test_named_twice_counts_once() -> None:
    assert read("swebench", FAIL_TO_PASS='["a", "a"]').fail_to_pass == ("a",)


def test_binary_files_of_the_tests_are_assets() -> None:
    instance = read("swebench", 2)
    assert [(asset.path, asset.url) for asset in instance.assets] == [
        ("test/fixtures/thick.png", "https://images.example/thick.png")
    ]
    urls = {"problem_statement": [], "patch": [], "test_patch": ["https://images.example/a.png"]}
    assert read("swebench", 2, image_assets=urls).assets == ()


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ".git/config", "a//b", "c:/x", "", "a\\..\\b"])
def test_no_asset_leaves_the_tree(path: str) -> None:
    with pytest.raises(DataError) as caught:
        read("swebench", 2, image_assets={"test_patch": [{"path": path, "url": "https://images.example/a.png"}]})
    assert caught.value.field == "image_assets.test_patch.path"


def test_multi_swe_bench_ids_statements_and_sets() -> None:
    first, second, third = (read("multi-swe-bench", number) for number in range(3))
    assert [each.id for each in (first, second, third)] == ["acme__gears-4", "acme__Beans-15", "acme__routes-27"]
    assert [each.language for each in (first, second, third)] == ["c", "java", "go"]
    assert first.problem_statement == "gears turn back\n\nThey do."
    assert second.problem_statement == "no bean\n\nreally none\n\nnull"
    assert (first.fail_to_pass, first.pass_to_pass) == (("turn",), ("a", "b"))
    assert second.fail_to_pass == ("SlowTest", "BeanTest", "NewTest")
    assert second.hints == "look at Bean"
    assert third.stages is not None
    assert third.stages.run == {"TestOld/sub": Status.PASSED}


@pytest.mark.parametrize("number", [4, "4"])
def test_a_number_may_be_a_string(number: object) -> None:
    row = rows("multi-swe-bench")[0] | {"number": number}
    del row["instance_id"]
    instance = multi_swe_bench.to_instance(row, DATASET)
    assert (instance.id, multi_swe_bench.number_of(instance)) == ("acme__gears-4", 4)


def test_polybench_lists_are_python_literals() -> None:
    instance = read("polybench")
    assert instance.fail_to_pass == ('a.test.ts->a: it\'s "two"', "b")
    assert instance.language == "typescript"


def test_a_strangers_parser_is_never_run(tmp_path: Path) -> None:
    program = f"open({str(tmp_path / 'ran')!r}, 'w')\nparser = None\n"
    instance = read("swebench-live", log_parser=program)
    assert write(FORMATS["swebench-live"], instance)["log_parser"] == program
    assert instance.log_format == ""
    assert list(tmp_path.iterdir()) == []
    assert read("swebench-live", 1).log_format == "pytest_text"


def test_rebench_times_are_milliseconds() -> None:
    row = rows("swe-rebench")[0]
    assert write(FORMATS["swe-rebench"], read("swe-rebench"))["created_at"] == row["created_at"]


def test_the_patch_of_swe_smith_is_the_bug() -> None:
    instance = read("swe-smith")
    assert instance.base == PatchedCommit(commit="b" * 40, patch=rows("swe-smith")[0]["patch"])
    assert (instance.base_commit, instance.test_patch) == ("", "")
    assert "+return 12\n" in instance.gold_patch
    assert "-return 13\n" in instance.gold_patch


def test_r2e_commits_are_put_together_again(tmp_path: Path) -> None:
    instance = read("r2e")
    assert instance.id == "tiny-" + "c" * 40
    assert instance.base_commit == "b" * 40
    assert instance.problem_statement == "f gives 1"
    assert instance.created_at == datetime(2019, 8, 7, 6, 5, 4, tzinfo=UTC)
    assert instance.stages is not None
    assert instance.stages.fix == {"test_f": Status.PASSED, "TestG.test_h": Status.FAILED}
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/f.py").write_text("def f():\n    return 1\n")
    for patch in (instance.gold_patch, instance.test_patch):
        subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "lib/f.py").read_text() == "def f():\n    return 2"
    assert (tmp_path / "tests/test_f.py").read_text() == "def test_f(): ...\n"
    assert "logo.png" not in read("r2e", 1).gold_patch
    with pytest.raises(DataError, match="came from a row"):
        r2e.from_instance(PLAIN)


def test_labels_are_written_sorted_and_whole(tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "o__r-1"
    task.mkdir(parents=True)
    (task / "task.yaml").write_text("repo: o/r\n")
    path = native.write_labels(tmp_path, "o__r-1", ["b", "a"], ["ü"])
    assert json.loads(path.read_text()) == {"fail_to_pass": ["a", "b"], "pass_to_pass": ["ü"]}
    assert sorted(each.name for each in task.iterdir()) == ["task.yaml", "tests.json"]
    with pytest.raises(DataError, match="no task"):
        native.write_labels(tmp_path, "o__r-2", [], [])
