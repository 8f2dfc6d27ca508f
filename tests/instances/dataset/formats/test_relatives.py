"""Data sets whose rows are those of a dialect with columns of their own beside."""

from assay.harness.domain import Rule
from assay.instances.dataset.formats import FORMATS, write
from samples import DATASET, rows


def named(row: dict[str, object]) -> str:
    return next(name for name, each in FORMATS.items() if each.matches(row))


def test_swe_gym_has_classic_rows_with_lists() -> None:
    row = rows("swebench")[0] | {"FAIL_TO_PASS": ["t.py::a"], "PASS_TO_PASS": [], "environment_setup_commit": None}
    assert named(row) == "swebench"
    instance = FORMATS["swebench"].to_instance(row, DATASET)
    assert (instance.fail_to_pass, instance.rule) == (("t.py::a",), Rule.SWE_BENCH)


def test_swe_rebench_of_the_first_version_is_graded_by_swe_benchs_rule() -> None:
    row = rows("swe-rebench")[2] | {"FAIL_TO_FAIL": [], "PASS_TO_FAIL": ["t.py::old"]}
    row |= {"created_at": "2020-01-02 03:04:05"}
    row |= {"install_config": {"python": "3.9", "log_parser": "parse_log_pytest"}, "docker_image": "x/y"}
    row = {name: value for name, value in row.items() if name not in {"pr_description", "interface"}}
    assert named(row) == "swe-rebench"
    instance = FORMATS["swe-rebench"].to_instance(row, DATASET)
    assert (instance.rule, instance.log_format) == (Rule.SWE_BENCH, "pytest_text")
    written = write(FORMATS["swe-rebench"], instance)
    assert written["PASS_TO_FAIL"] == ["t.py::old"]
    written = write(FORMATS["swe-rebench"], instance.model_copy(update={"origin": None}))
    assert FORMATS["swe-rebench"].to_instance(written, DATASET).rule is Rule.SWE_BENCH


def test_multi_swe_rl_has_rows_of_multi_swe_bench_with_hints() -> None:
    row = rows("multi-swe-bench")[0] | {"hints": "Look at the gears.", "instance_id": "acme__gears-4"}
    assert named(row) == "multi-swe-bench"
    assert FORMATS["multi-swe-bench"].to_instance(row, DATASET).rule is Rule.MULTI_SWE_BENCH


def test_swe_bench_live_multilang_names_an_image_and_has_a_program_for_a_parser() -> None:
    row = rows("swebench-live")[0] | {
        "docker_image": "starryzhang/sweb.eval.x86_64.acme_1776_calc-1",
        "log_parser": "def parser(log):\n    return {}\n",
    }
    assert named(row) == "swebench-live"
    assert FORMATS["swebench-live"].to_instance(row, DATASET).log_format == ""
