"""A submission to SWE-bench/experiments: predictions, logs as SWE-bench's own tools write them, trajectories.

    <model>.<run>.json                            the run report, schema 2; beside the submission, for scripts
    evaluation/<split>/<YYYYMMDD>_<system>/
        all_preds.jsonl  metadata.yaml  README.md  trajs/<id>.*  results/results.json
        logs/<id>/{patch.diff, run_instance.log, test_output.txt, report.json}

An instance that SWE-bench counts as an error (conflict, timeout) or as an infrastructure failure has no results, and so
its ``report.json`` has no ``tests_status``, or it has no ``report.json``.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from assay.harness.domain import GRADED, INFRASTRUCTURE, ApplyStatus, Outcome
from assay.harness.errors import UserError
from assay.harness.exports import submission
from assay.harness.exports.base import RunToExport
from assay.harness.exports.recompute import against
from assay.harness.exports.swebench_check import SIZES, check
from assay.harness.runs.report import ERRORS, Graded, RunReport

__all__ = ["LEADERBOARD", "NAME", "REQUIRED", "check", "files"]

NAME = "swebench"
LEADERBOARD = True
REQUIRED: tuple[str, ...] = ("name", "split", "authors", "site", "report", "model", "org", "os_model", "os_system")
OWN = tuple(RunReport.model_fields)[: tuple(RunReport.model_fields).index("failure_reasons") + 1]
NO_REPORT = (ERRORS - INFRASTRUCTURE) | {Outcome.EMPTY_PATCH}
"""Outcomes for which SWE-bench writes no report.json."""
START, END = b">>>>> Start Test Output", b">>>>> End Test Output"
APPLYING = {
    ApplyStatus.APPLIED: ">>>>> Applied Patch",
    ApplyStatus.CONFLICT: ">>>>> Patch Apply Failed",
    ApplyStatus.REJECTED: ">>>>> Patch Apply Failed",
}
BUCKET = "s3://swe-bench-experiments"


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    """Yield the submission and the run report; raises UserError for an unknown split or another benchmark."""
    folder = submission.folder_of_split(run, SIZES, "SWE-bench")
    yield f"{folder}/all_preds.jsonl", submission.lines(submission.prediction_rows(run))
    yield f"{folder}/metadata.yaml", submission.yaml_text(_metadata(run, folder))
    outcomes: dict[str, Outcome] = {}
    about: dict[str, tuple[str, int]] = {}
    for each in run.evaluations():
        submission.refuse_other_benchmarks(each.instance, NAME)
        outcomes[each.instance.id] = each.verdict.outcome
        about[each.instance.id] = (each.instance.repo, each.instance.created_at.year)
        if each.verdict.outcome is not Outcome.EMPTY_PATCH:
            yield from instance_files(run, each, f"{folder}/logs/{each.instance.id}")
    yield f"{folder}/results/results.json", submission.json_text(_results(run, outcomes))
    resolved = {name for name, outcome in outcomes.items() if outcome is Outcome.RESOLVED}
    yield f"{folder}/README.md", submission.readme(run, about, resolved=resolved)
    yield from submission.trajectories(run, f"{folder}/trajs")
    model, run_id = (flatten_name(name) for name in (run.report.model or "none", run.report.run_id or "run"))
    yield (
        f"{model}.{run_id}.json",
        submission.json_text(run.report.model_dump(mode="json", include={*OWN, "rules", "counter"})),
    )


def _metadata(run: RunToExport, folder: str) -> dict[str, Any]:
    """The maintainers put logs and trajectories into their bucket."""
    about = run.metadata
    where = f"{BUCKET}/{folder.removeprefix('evaluation/')}"
    return {
        "assets": {"logs": f"{where}/logs", "trajs": f"{where}/trajs"},
        "info": {
            "authors": about.authors,
            "logo": about.logo,
            "name": about.name,
            "report": about.report,
            "site": about.site,
        },
        "tags": {
            "checked": False,
            "model": list(about.model),
            "org": list(about.org),
            "os_model": about.os_model,
            "os_system": about.os_system,
            "system": {"attempts": about.attempts},
        },
    }


def instance_files(run: RunToExport, graded: Graded, folder: str) -> Iterator[tuple[str, bytes]]:
    name, verdict, evidence = graded.instance.id, graded.verdict, graded.evidence
    yield f"{folder}/patch.diff", run.patch(name)
    said = [APPLYING.get(evidence.apply.status, ""), evidence.apply.detail]
    said += [f"outcome: {verdict.outcome}", f"reason: {verdict.reason}"]
    said += [f"image: {evidence.image} {evidence.image_digest}", f"environment: {verdict.environment or 'unknown'}"]
    yield f"{folder}/run_instance.log", ("\n".join(line for line in said if line) + "\n").encode(errors="replace")
    output = run.output(name)
    if output:
        yield f"{folder}/test_output.txt", fence(output, evidence.exit_code, timed_out=evidence.timed_out)
    if verdict.outcome not in NO_REPORT:
        yield f"{folder}/report.json", submission.json_text({name: _report(graded, output.decode(errors="replace"))})


def fence(output: bytes, exit_code: int | None, *, timed_out: bool) -> bytes:
    """Put the markers around an output without which SWE-bench reads nothing from a log.

    The output of a row's own script has them already. What was cut short gets no end marker, as there.
    """
    if START in output:
        return output
    status = b"" if exit_code is None else b">>>>> Test Exit Code: %d\n" % exit_code
    return START + b"\n" + output + (b"\n" if timed_out else b"\n" + END + b"\n" + status)


def _report(graded: Graded, output: str) -> dict[str, Any]:
    verdict = graded.verdict
    report: dict[str, Any] = {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": verdict.outcome in GRADED,
        "resolved": verdict.resolved,
        "infra_failure": verdict.outcome in INFRASTRUCTURE,
    }
    if verdict.outcome in INFRASTRUCTURE:
        report["infra_failure_reason"] = verdict.reason
    if verdict.outcome in GRADED:
        report["tests_status"] = _tests_status(graded, output)
    return report


def _tests_status(graded: Graded, output: str) -> dict[str, dict[str, list[str]]]:
    instance = graded.instance
    unfixed, broken = against(graded, output)
    return {
        "FAIL_TO_PASS": _split(instance.fail_to_pass, set(unfixed)),
        "PASS_TO_PASS": _split(instance.pass_to_pass, set(broken)),
        "FAIL_TO_FAIL": _split((), set()),
        "PASS_TO_FAIL": _split((), set()),
    }


def _split(tests: Sequence[str], failed: set[str]) -> dict[str, list[str]]:
    return {
        "success": [test for test in tests if test not in failed],
        "failure": [test for test in tests if test in failed],
    }


def _results(run: RunToExport, outcomes: dict[str, Outcome]) -> dict[str, list[str]]:
    """Return the lists that analysis/get_results.py writes."""
    empty = {name for name, outcome in outcomes.items() if outcome is Outcome.EMPTY_PATCH}
    return {
        "no_generation": sorted({*run.missing, *empty}),
        "no_logs": sorted(name for name, outcome in outcomes.items() if outcome in NO_REPORT and name not in empty),
        "resolved": sorted(name for name, outcome in outcomes.items() if outcome is Outcome.RESOLVED),
    }


def flatten_name(name: str) -> str:
    """Return a name as SWE-bench writes it in those of files; raises UserError for one that cannot be there."""
    flat = name.replace("/", "__")
    if set(flat) <= {"."} or "\0" in flat:
        raise UserError(f"{name!r} cannot be part of a file's name")
    return flat
