"""Every format keeps the promises of the Protocol."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.benchmarks import BENCHMARKS
from assay.harness.domain import Instance, PublishedImage, Recipe, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats import FORMATS, native, write
from samples import DATASET, PLAIN, read, rows

EVERY_ROW = [(name, number) for name in FORMATS for number in range(3)]


@pytest.mark.parametrize(("name", "number"), EVERY_ROW)
def test_a_row_that_is_read_and_written_keeps_its_columns(name: str, number: int) -> None:
    dialect, row = FORMATS[name], rows(name)[number]
    assert next(each for each in FORMATS if FORMATS[each].matches(row)) == name == dialect.NAME
    instance = dialect.to_instance(row, DATASET)
    assert instance.id == dialect.find_id(row)
    assert instance.rule in dialect.RULES
    written = json.loads(json.dumps(write(dialect, instance)))
    assert dialect.to_instance(written, DATASET) == instance
    lost = {key for key in row if key not in written}
    assert {key for key in lost if row[key] not in (None, "", [], False)} == set()
    assert native.to_instance(json.loads(json.dumps(write(native, instance))), DATASET) == instance


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
    """Leave out the columns that no field holds."""
    return instance.model_copy(update={"origin": None})


@pytest.mark.parametrize("field", CHANGES)
@pytest.mark.parametrize("name", FORMATS)
def test_a_field_that_rows_cannot_hold_is_named(name: str, field: str) -> None:
    """A changed field is written or named in the error; a parser's name stands for log format and test ids together."""
    changed = read(name).model_copy(update={field: CHANGES[field]})
    found = written_and_read(name, changed)
    if isinstance(found, DataError):
        parser = {"log_format", "test_id"}
        followed = {"language": {"environment"}}  # the command in a row's image may follow from the language
        assert found.field in (parser if field in parser else {field, *followed.get(field, ())})
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
    rule=st.sampled_from([each.name for each in BENCHMARKS if not each.staged]),
    dataset=st.just(DATASET),
)


@given(INSTANCES)
def test_any_instance_is_written_without_loss_or_refused_by_field(instance: Instance) -> None:
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


def test_a_published_environment_and_a_parser_survive_swebench_rows() -> None:
    fields = {"environment": PublishedImage(image="x/y:z", eval_script="run"), "rule": Rule.SWE_BENCH_FAIL_ONLY}
    fields |= {
        "language": "java",
        "log_format": "maven_text",
        "test_id": "method",
        "version": "1.2",
        "hints": "see there",
    }
    published = PLAIN.model_copy(update=fields)
    row = json.loads(json.dumps(write(FORMATS["swebench"], published)))
    assert (row["log_parser"], row["image"]) == ("parse_log_maven", "x/y:z")
    assert FORMATS["swebench"].to_instance(row, DATASET) == published
