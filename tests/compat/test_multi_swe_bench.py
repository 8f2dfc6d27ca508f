"""``assay multi-swe-bench run_evaluation`` on an engine that acts instances out, and the real program's report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.compat.multi_swe_bench import make_report
from assay.harness.domain import Outcome
from other_tools import run_with
from samples import SAMPLES

CALL = ("multi-swe-bench", "run_evaluation", "--config", "config.json")
PROGRAM = """
import json, pathlib, sys
from multi_swe_bench.harness.gen_report import CliArgs
work, rows = pathlib.Path(sys.argv[1]), sys.argv[2]
again = work / "again"
again.mkdir()
CliArgs("evaluation", work, again, None, None, None, [rows], 1, again, "ERROR", False, regen=False).run()
"""
Write = Callable[..., dict[str, Any]]


def read(path: str) -> Any:
    return json.loads(Path(path).read_text())


@pytest.fixture
def write(in_folder: Path) -> Write:
    """Write rows, a wrong, an empty and the right patch for them, and a configuration; return that."""

    def make(**changes: object) -> dict[str, Any]:
        lines = (SAMPLES / "multi-swe-bench.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        wrong = rows[0]["fix_patch"].replace("+turn(1)", "+turn(2)")
        patches = [wrong, "", rows[2]["fix_patch"]]
        named = [
            {"org": row["org"], "repo": row["repo"], "number": int(row["number"]), "fix_patch": patch}
            for row, patch in zip(rows, patches, strict=True)
        ]
        Path("patches.jsonl").write_text("".join(json.dumps(each) + "\n" for each in named))
        Path("clones").mkdir(exist_ok=True)
        config = {
            "mode": "evaluation",
            "workdir": "work",
            "patch_files": ["patch*.jsonl"],
            "dataset_files": ["rows.jsonl"],
            "force_build": False,
            "output_dir": "out",
            "specifics": [],
            "repo_dir": "clones",
            "global_env": None,
            "max_workers_run_instance": 2,
            "log_dir": "log",
            "log_level": "INFO",
            **changes,
        }
        Path("config.json").write_text(json.dumps(config))
        return config

    return make


GEARS, BEANS, ROUTES = "acme/gears:pr-4", "acme/Beans:pr-15", "acme/routes:pr-27"


def test_it_leaves_the_final_report_and_the_logs(assay: Callable, write: Write) -> None:
    write()
    done = assay(*CALL)
    assert done.code == 0, done.err
    assert "ignored, since they mean nothing here: force_build, log_dir, log_level" in done.err
    report = read("out/final_report.json")
    assert (report["resolved_ids"], report["unresolved_ids"]) == ([ROUTES], [BEANS, GEARS])
    assert (report["total_instances"], report["submitted_instances"], report["empty_patch_ids"]) == (3, 3, [])
    assert "resolved_instances: 1" in done.out.splitlines()
    evaluated = Path("work/acme/gears/evals/pr-4")
    assert {path.name for path in evaluated.iterdir()} == {"fix.patch", "fix-patch-run.log", "report.json"}
    assert "turn(2)" in (evaluated / "fix.patch").read_text()
    assert read("work/acme/routes/evals/pr-27/report.json")["valid"] is True


def test_specifics_choose_and_skips_leave_out(assay: Callable, write: Write) -> None:
    write(specifics=["acme/gears", "acme/routes:pr-27"], skips=["acme/gears"])
    assert assay(*CALL).code == 0
    assert read("out/final_report.json")["submitted_ids"] == [ROUTES]


@pytest.mark.parametrize(("stops", "code"), [(True, 1), (False, 0)])
def test_what_could_not_be_tested_is_an_error(
    assay: Callable, write: Write, lacking: Callable, *, stops: bool, code: int
) -> None:
    write(stop_on_error=stops)
    assert assay(*CALL, ASSAY_ENGINE=lacking("acme__routes-27")).code == code
    report = read("out/final_report.json")
    assert (report["error_ids"], report["incomplete_ids"], report["resolved_ids"]) == ([ROUTES], [ROUTES], [])
    assert not Path("work/acme/routes/evals/pr-27/report.json").exists()


def test_the_same_configuration_resumes_and_other_patches_are_another_run(assay: Callable, write: Write) -> None:
    write()
    for _ in range(2):
        assert assay(*CALL).code == 0
    assert len(list(Path("runs").glob("multi-swe-bench.*"))) == 1
    Path("patches.jsonl").write_text(Path("patches.jsonl").read_text().replace("turn(2)", "turn(3)"))
    assert assay(*CALL).code == 0
    assert len(list(Path("runs").glob("multi-swe-bench.*"))) == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mode": "image"}, ("mode", "evaluation")),
        ({"global_env": ["A=1"]}, ("global_env",)),
        ({"fix_patch_run_cmd": "make"}, ("fix_patch_run_cmd",)),
        ({"workdirs": "work"}, ("workdirs", "unknown")),
        ({"dataset_files": ["none*.jsonl"]}, ("none*.jsonl", "no such file")),
        ({"specifics": ["none"]}, ("no patch of",)),
    ],
)
def test_what_cannot_be_honoured_ends_with_one(
    assay: Callable, write: Write, changes: dict[str, object], words: tuple[str, ...]
) -> None:
    write(**changes)
    done = assay(*CALL)
    assert done.code == 1
    assert all(word in done.err for word in words), done.err


@pytest.mark.parametrize("line", ["[]", "{", '{"org": "a", "repo": "b", "number": 1, "fix_patch": null}'])
def test_a_line_that_is_no_patch_is_named(assay: Callable, write: Write, line: str) -> None:
    write()
    Path("patches.jsonl").write_text(f"\n{line}\n")
    done = assay(*CALL)
    assert (done.code, "patches.jsonl:2" in done.err) == (1, True)


def test_a_configuration_may_be_toml_and_nothing_else_that_is_unknown(assay: Callable, write: Write) -> None:
    write()
    files = 'patch_files = ["patches.jsonl"]\ndataset_files = ["rows.jsonl"]\n'
    Path("config.toml").write_text(f'workdir = "work"\noutput_dir = "out"\n{files}')
    assert assay(*CALL[:3], "config.toml").code == 0
    for name, text in (("config.ini", ""), ("other.json", "{"), ("list.json", "[]")):
        Path(name).write_text(text)
        done = assay(*CALL[:3], name)
        assert (done.code, name in done.err) == (1, True)


def test_every_outcome_is_counted_once() -> None:
    report = make_report({outcome.value: outcome for outcome in Outcome})
    assert report["error_ids"] == ["env_error", "infra_error"]
    assert report["resolved_ids"] == ["resolved"]
    assert report["completed_instances"] + report["error_instances"] == report["total_instances"] == len(Outcome)


@pytest.mark.network
def test_the_real_program_makes_the_same_report_of_the_logs(assay: Callable, write: Write) -> None:
    """Its own reader of reports, rule and final report, over the files that were left."""
    write()
    assert assay(*CALL).code == 0
    run_with(["multi-swe-bench==1.1.2"], "python", "-c", PROGRAM, "work", "rows.jsonl")
    theirs, ours = read("work/again/final_report.json"), read("out/final_report.json")
    assert list(theirs) == list(ours)
    assert {name: sorted(value) if isinstance(value, list) else value for name, value in theirs.items()} == ours
