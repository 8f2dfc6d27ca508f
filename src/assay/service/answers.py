"""What clients get: evaluations and rewards as JSON with an HTTP status, never a reward of 0 for a failure of ours."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from assay.harness.domain import Instance, Outcome
from assay.rewards import Rewarded
from assay.service.shared import SharedEvaluation, Stage

RETRY_AFTER = 10
"""Seconds after which an evaluation that the infrastructure ended should be asked for again."""
STATUSES = {Stage.QUEUED: 202, Stage.RUNNING: 202, Stage.FINISHED: 200, Stage.CANCELLED: 503}
CANCELLED = "it was cancelled: its clients had left, or the service is ending; ask again"


def answer(about: Mapping[str, Any], status: int) -> JSONResponse:
    """Return JSON with a status; what may be asked again says when."""
    headers = {"Retry-After": str(RETRY_AFTER)} if status == 503 else {}
    if status == 202:
        headers = {"Retry-After": "1", "Location": f"/v1/evaluations/{about['id']}"}
    return JSONResponse(dict(about), status_code=status, headers=headers)


def status_of(shared: SharedEvaluation) -> int:
    """Return the HTTP status of an evaluation: 503 where asking again may help, 202 where it is not finished."""
    if shared.verdict is not None and shared.verdict.outcome is Outcome.INFRA_ERROR:
        return 503
    return STATUSES[shared.stage]


def evaluation_as_json(shared: SharedEvaluation) -> dict[str, Any]:
    """Return an evaluation: how far it is, and the verdict once there is one."""
    about: dict[str, Any] = {"id": shared.id, "status": str(shared.stage)}
    if shared.stage is Stage.CANCELLED:
        return {**about, "reward": None, "error": CANCELLED}
    if shared.verdict is None:
        return about
    verdict = shared.verdict
    about |= {"reward": verdict.reward, "resolved": verdict.resolved, "seconds": round(shared.seconds, 3)}
    return about | verdict.model_dump(mode="json")


def reward_as_json(shared: SharedEvaluation, rewarded: Rewarded) -> dict[str, Any]:
    """Return a reward with the evaluation that it was made from."""
    return evaluation_as_json(shared) | rewarded_as_json(rewarded)


def rewarded_as_json(rewarded: Rewarded) -> dict[str, Any]:
    """Return a reward alone."""
    about: dict[str, Any] = {"reward": rewarded.reward, "components": rewarded.components}
    return about | ({"problem": rewarded.problem} if rewarded.problem else {})


def instance_as_json(instance: Instance, *, is_whole: bool = False) -> dict[str, Any]:
    """Return what a solver may know of an instance: neither patches nor names of tests."""
    about: dict[str, Any] = {
        "id": instance.id,
        "repo": instance.repo,
        "language": instance.language,
        "base_commit": instance.base_commit,
        "rule": str(instance.rule),
        "fail_to_pass": len(instance.fail_to_pass),
        "pass_to_pass": len(instance.pass_to_pass),
    }
    return about | ({"problem_statement": instance.problem_statement} if is_whole else {})
