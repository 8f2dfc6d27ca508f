import pytest

from assay.harness.domain import Stages, Status
from assay.instances.dataset.formats import multi_swe_bench
from samples import DATASET, read, rows


def test_rows_give_ids_statements_and_label_sets() -> None:
    first, second, third = (read("multi-swe-bench", number) for number in range(3))
    assert [each.id for each in (first, second, third)] == ["acme__gears-4", "acme__Beans-15", "acme__routes-27"]
    assert [each.language for each in (first, second, third)] == ["c", "java", "go"]
    assert first.problem_statement == "gears turn back\n\nThey do."
    assert second.problem_statement == "no bean\n\nreally none\n\nnull"
    assert (first.fail_to_pass, first.pass_to_pass) == (("turn",), ("a", "b"))
    assert third.stages is not None
    assert third.stages.run == {"TestOld/sub": Status.PASSED}


@pytest.mark.parametrize("number", [4, "4"])
def test_a_pull_requests_number_may_be_a_string(number: object) -> None:
    row = rows("multi-swe-bench")[0] | {"number": number}
    del row["instance_id"]
    instance = multi_swe_bench.to_instance(row, DATASET)
    assert (instance.id, multi_swe_bench.get_number(instance)) == ("acme__gears-4", 4)


@pytest.mark.parametrize(
    ("language", "labels", "style"),
    [
        ("javascript", ("test/a.test.js:adds", "test/b.test.js"), "file_title"),
        ("typescript", ("src/a.spec.ts:all of it",), "file_title"),
        ("javascript", ("adds", "says: js"), ""),
        ("go", ("TestA/b",), "subtest"),
        ("java", ("a.BTest",), ""),
    ],
)
def test_labels_show_how_they_name_tests(language: str, labels: tuple[str, ...], style: str) -> None:
    passed, failed = (dict.fromkeys(labels, status) for status in (Status.PASSED, Status.FAILED))
    stages = Stages(run=failed, test=failed, fix=passed)
    changed = read("multi-swe-bench", 0).model_copy(update={"stages": stages, "language": language})
    row = multi_swe_bench.from_instance(changed)
    assert multi_swe_bench.to_instance(row, DATASET).test_id == style
