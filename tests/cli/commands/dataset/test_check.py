import json
from collections.abc import Callable
from pathlib import Path

from samples import SAMPLES


def test_label_sets_that_contradict_the_three_results_are_found(assay: Callable, in_folder: Path) -> None:
    lines = (SAMPLES / "multi-swe-bench.jsonl").read_text().splitlines()
    wrong = json.loads(lines[2])
    wrong["n2p_tests"]["TestSub"] = {"run": "NONE", "test": "NONE", "fix": "PASS"}
    Path("multi.jsonl").write_text("\n".join([*lines[:2], json.dumps(wrong)]))
    done = assay("dataset", "check", "multi.jsonl")
    assert done.code == 2
    assert "multi.jsonl:3: acme__routes-27: field n2p_tests: has 'TestSub', which does not belong there" in done.out
    assert "2 good instances (1 c, 1 java), 1 wrong row" in done.out


def test_wrong_rows_that_are_left_out_are_told(assay: Callable, rows: Path) -> None:
    with rows.open("a") as file:
        file.write('{"instance_id": "acme__calc-4", "FAIL_TO_PASS": []}\n')
    for command in (("show",), ("convert", "--to", "native")):
        done = assay("dataset", command[0], "rows.jsonl", *command[1:], "--skip-bad-rows")
        assert done.code == 0
        assert "skipped: rows.jsonl:4: acme__calc-4" in done.err


def test_a_log_parser_that_nobody_knows_is_a_wrong_row(assay: Callable, rows: Path) -> None:
    first, *others = rows.read_text().splitlines()
    row = json.loads(first) | {"log_parser": "parse_log_pytset"}
    rows.write_text("\n".join([json.dumps(row), *others]))
    done = assay("dataset", "check", "rows.jsonl")
    assert done.code == 2
    place = f"rows.jsonl: {row['instance_id']}: field log_parser: 'parse_log_pytset' is no log parser that Assay knows"
    assert f"{place}; write one that it has, such as parse_log_pytest" in done.out
    assert f"{len(others)} good instance" in done.out
