"""Run by a Python that has Harbor: read a folder of jobs with Harbor's own models and its viewer's server.

Prints one JSON object: what Harbor sees. Fails where Harbor would refuse or skip a file.
"""

import json
import sys
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from harbor.models.job.config import JobConfig
from harbor.models.job.lock import TrialLock
from harbor.models.job.result import JobResult, JobStats
from harbor.models.trajectories import Trajectory
from harbor.models.trial.config import TrialConfig
from harbor.models.trial.result import TrialResult
from harbor.viewer.server import create_app


def read(folder: Path) -> dict[str, object]:
    [job] = folder.iterdir()
    JobConfig.model_validate_json((job / "config.json").read_text())
    result = JobResult.model_validate_json((job / "result.json").read_text())
    trials = []
    for trial in sorted(path for path in job.iterdir() if path.is_dir()):
        TrialConfig.model_validate_json((trial / "config.json").read_text())
        TrialLock.model_validate_json((trial / "lock.json").read_text())
        trials.append(TrialResult.model_validate_json((trial / "result.json").read_text()))
        if (trial / "agent/trajectory.json").is_file():
            Trajectory.model_validate_json((trial / "agent/trajectory.json").read_text())
    counted = JobStats.from_trial_results(trials, n_total_trials=result.n_total_trials)
    ours, theirs = (stats.model_dump(mode="json") for stats in (result.stats, counted))
    metrics = [each.pop("metrics") for each in ours["evals"].values()]
    for each in theirs["evals"].values():
        each.pop("metrics")
    assert ours == theirs, f"{ours} is not {theirs}"
    return {
        "trials": {each.task_name: each.verifier_result.rewards if each.verifier_result else None for each in trials},
        "metrics": metrics,
        **viewed(folder, job.name),
    }


def viewed(folder: Path, job: str) -> dict[str, object]:
    """Return what the viewer's pages ask its server for."""
    client = TestClient(create_app(folder, mode="jobs"))
    of_job = f"/api/jobs/{job}"

    def get(address: str) -> Any:
        answer = client.get(address)
        assert answer.status_code == 200, (address, answer.text)
        return answer.json()

    trials = get(f"{of_job}/trials?page_size=100")["items"]
    names = [each["name"] for each in trials]
    return {
        "jobs": get("/api/jobs")["items"],
        "tasks": get(f"{of_job}/tasks?page_size=100")["items"],
        "summaries": trials,
        "compared": get(f"/api/compare?job={job}"),
        "trajectories": {name: get(f"{of_job}/trials/{name}/trajectory") for name in names},
        "verifier": {name: get(f"{of_job}/trials/{name}/verifier-output") for name in names},
        "artifacts": {name: get(f"{of_job}/trials/{name}/artifacts") for name in names},
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(read(Path(sys.argv[1])), default=str))
