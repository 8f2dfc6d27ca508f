import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.harness.domain import UNKNOWN_TIME, Instance, Rule
from assay.harness.errors import DataError, UserError
from assay.instances.dataset.convert import convert, convert_all, find_format, save
from assay.instances.dataset.formats import FORMATS
from assay.instances.dataset.load import load
from samples import SAMPLES


def sample(name: str) -> Sequence[Instance]:
    return load(str(SAMPLES / f"{name}.jsonl"), published_images=True).instances


@pytest.mark.parametrize("name", FORMATS)
def test_every_dialect_goes_to_native_and_back_without_loss(name: str, tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    save([each.row for each in convert_all(sample(name), FORMATS["native"])], there)
    instances = load(str(there), published_images=True).instances
    back = tmp_path / "back.json"
    save([each.row for each in convert_all(instances, FORMATS[name])], back)
    again = load(str(back), published_images=True).instances
    bare = [[each.model_dump(exclude={"dataset"}) for each in found] for found in (sample(name), again)]
    assert bare[0] == bare[1]


def test_a_loss_is_refused_unless_allowed_and_then_reported() -> None:
    (instance, *_) = sample("multi-swe-bench")
    with pytest.raises(DataError, match="is multi-swe-bench; rows of swebench are graded by swe-bench") as caught:
        convert(instance, FORMATS["swebench"])
    assert caught.value.field == "rule"
    converted = convert(instance, FORMATS["swebench"], lossy=True)
    assert [loss.split()[0] for loss in converted.losses] == ["rule", "environment", "stages"]
    read = FORMATS["swebench"].to_instance(converted.row, instance.dataset)
    assert (read.rule, read.stages, read.created_at) == (Rule.SWE_BENCH, None, UNKNOWN_TIME)
    assert (read.fail_to_pass, read.gold_patch) == (instance.fail_to_pass, instance.gold_patch)


@pytest.mark.parametrize(
    ("name", "to", "field"),
    [
        ("swe-smith", "swebench", "base_commit"),
        ("swebench", "swe-smith", "base"),
        ("swebench", "multi-swe-bench", "fix_patch_result"),
        ("swebench", "r2e", ""),
    ],
)
def test_a_field_that_rows_need_is_never_left_out(name: str, to: str, field: str) -> None:
    with pytest.raises(DataError) as caught:
        convert(sample(name)[0], FORMATS[to], lossy=True)
    assert caught.value.field == field


def test_a_csv_file_holds_the_same_rows_as_lines(tmp_path: Path) -> None:
    for name in ("swebench", "polybench", "multi-swe-bench", "swe-smith", "r2e"):
        path = tmp_path / f"{name}.csv"
        save([each.row for each in convert_all(sample(name), FORMATS[name])], path)
        read = load(str(path), published_images=True).instances
        kept = {"id", "gold_patch", "test_patch", "fail_to_pass", "pass_to_pass", "created_at", "stages", "rule"}
        assert [each.model_dump(include=kept) for each in read] == [
            each.model_dump(include=kept) for each in sample(name)
        ]


def test_many_unwritable_instances_are_reported_together() -> None:
    with pytest.raises(UserError, match="3 instances cannot be written as rows of swebench") as caught:
        convert_all(sample("multi-swe-bench"), FORMATS["swebench"])
    assert len(str(caught.value).splitlines()) == 4


def test_an_unknown_dialect_or_suffix_is_refused_with_a_hint() -> None:
    assert find_format("r2e") is FORMATS["r2e"]
    with pytest.raises(UserError, match=r"did you mean multi-swe-bench\?"):
        find_format("multi_swe_bench")
    with pytest.raises(UserError, match=f"known are {', '.join(sorted(FORMATS))}"):
        find_format("xml")
    with pytest.raises(UserError, match=r"\.jsonl, \.json, \.csv"):
        save([], Path("rows.xlsx"))


def test_text_is_written_without_escapes(tmp_path: Path) -> None:
    (instance, *_) = sample("swebench")
    changed = instance.model_copy(update={"problem_statement": "größer\r\n\u2028"})
    save([convert(changed, FORMATS["swebench"]).row], tmp_path / "rows.jsonl")
    line = (tmp_path / "rows.jsonl").read_bytes().decode()
    assert "größer" in line
    assert json.loads(line)["problem_statement"] == changed.problem_statement
