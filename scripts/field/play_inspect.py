"""Scores patches with inspect_evals' SWE-bench scorer; runs in an environment that has inspect-evals and swebench 4.

Reads a job (`rows`, `triples`, `folder`, `jobs`) from the file it is given and prints one outcome a line. Solver,
sandbox and scorer are those of inspect_evals. swebench's tables get entries for the rows' repository: without them the
scorer knows no test command. The check of the engine's version is left out: the images run on older engines, too.
"""

import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.util._sandbox.docker import prereqs
from inspect_evals.swe_bench.scorers import swe_bench_scorer
from inspect_evals.swe_bench.solvers import swe_bench_oracle_solver, swe_bench_record_start_commit
from inspect_evals.swe_bench.swe_bench import _create_docker_spec
from swebench.harness import constants
from swebench.harness.log_parsers import MAP_REPO_TO_PARSER
from swebench.harness.log_parsers.python import parse_log_django, parse_log_pytest

PARSERS = {"parse_log_pytest": parse_log_pytest, "parse_log_django": parse_log_django}
SECONDS = 180


def main(job: dict[str, Any]) -> None:
    """Score all triples and print their outcomes."""
    prereqs.validate_docker_engine = accept_engine
    for name, row in job["rows"].items():
        add_row(name, row)
    step = 4 * job["jobs"]
    for start in range(0, len(job["triples"]), step):  # a run that is stopped has printed some
        score(job, job["triples"][start : start + step])


def score(job: dict[str, Any], triples: list[dict[str, Any]]) -> None:
    """Score some triples and print their outcomes."""
    task = Task(
        dataset=[make_sample(each, job["rows"][each["row"]]) for each in triples],
        setup=[swe_bench_record_start_commit()],
        solver=swe_bench_oracle_solver(),
        scorer=swe_bench_scorer(),
        time_limit=SECONDS,
    )
    settings = {"fail_on_error": False, "display": "none", "max_samples": job["jobs"], "max_sandboxes": job["jobs"]}
    (log,) = evaluate(task, model="mockllm/model", log_dir=job["folder"], **settings)
    for sample in log.samples or ():
        found = (sample.scores or {}).get("swe_bench_scorer")
        error = sample.error.message if sample.error else ""
        verdict = "resolved" if found and found.value == 1.0 else "unresolved" if found else "error"
        if sample.limit or error.startswith("Time limit exceeded"):
            verdict = "not run"  # the limit is this script's own
        print(json.dumps({"id": sample.id, "outcome": verdict, "reason": error[:300]}), flush=True)


async def accept_engine(*_: str) -> None:
    """Stand in for the check that Docker is 24 or newer."""


def add_row(name: str, row: dict[str, Any]) -> None:
    """Enter a row's test command and parser into swebench's tables."""
    is_pytest = row["log_parser"] == "parse_log_pytest"
    # The scorer appends the files of the test patch; other runners than pytest take no files.
    command = "pytest -rA -v" if is_pytest else f"{row['test_command']} #"
    repo = make_repo(row)
    versions = constants.MAP_REPO_VERSION_TO_SPECS.setdefault(repo, {})
    versions[name] = {"test_cmd": command, "install": ":", "python": "3.11"}
    constants.MAP_REPO_TO_EXT[repo] = "py"
    MAP_REPO_TO_PARSER[repo] = PARSERS[row["log_parser"]]


def make_repo(row: dict[str, Any]) -> str:
    """Return a name of the repository for rows with one parser."""
    return f"{row['repo']}-{row['log_parser'].removeprefix('parse_log_')}"


def make_sample(triple: dict[str, Any], row: dict[str, Any]) -> Sample:
    """Return a sample as inspect_evals makes it; the oracle solver applies its patch."""
    facts = {"version": triple["row"], "repo": make_repo(row), "patch": triple["patch"]}
    metadata = {**row, **facts, "image_name": row["image"], "allow_internet": False}
    sample = Sample(id=triple["id"], input="the issue", metadata=metadata)
    sample.sandbox = _create_docker_spec("docker", sample)
    return sample


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="ascii")))
