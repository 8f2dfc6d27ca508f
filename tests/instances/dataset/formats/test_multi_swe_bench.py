import pytest
from samples import DATASET, read, rows

from assay.harness.domain import (
    Status,
)
from assay.instances.dataset.formats import multi_swe_bench


def test_rows_give_ids_statements_and_label_sets() -> None:
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
def test_a_pull_requests_number_may_be_a_string(number: object) -> None:
    row = rows("multi-swe-bench")[0] | {"number": number}
    del row["instance_id"]
    instance = multi_swe_bench.to_instance(row, DATASET)
    assert (instance.id, multi_swe_bench.number_of(instance)) == ("acme__gears-4", 4)
