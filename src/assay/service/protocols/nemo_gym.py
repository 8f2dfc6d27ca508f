"""The routes of a NeMo Gym resources server: a rollout's patch comes in, the same body with its reward goes out.

A reward has to be a number there, so the answer is 503 where there is none, which makes the rollout fail.
"""

import statistics
from typing import Any

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from assay.service.bodies import EvaluateBody, read_body
from assay.service.core import RewardService
from assay.service.routes import HttpRoute, answer_always


class VerifyBody(BaseModel, frozen=True, extra="allow"):
    """A rollout; further columns of its row come back unchanged."""

    instance_id: str = Field(description="Id of an instance of the data set.")
    model_patch: str | None = Field(default=None, description="The patch; else the last message has to hold it.")
    response: dict[str, Any] = Field(default_factory=dict, description="The model's response (OpenAI Responses).")


class AggregateBody(BaseModel, frozen=True, extra="allow"):
    """Answers of ``/verify``."""

    verify_responses: list[dict[str, Any]]


def routes(service: RewardService) -> list[HttpRoute]:
    async def verify(request: Request) -> Response:
        given = read_body(VerifyBody, await request.body())
        answer = last_text(given.response) if given.model_patch is None else None
        body = EvaluateBody(instance_id=given.instance_id, patch=given.model_patch, answer=answer)
        wanted = await service.make_request(body, service.mixture)
        rewarded, verdict = await service.judge(request, wanted)
        answered = {"reward": rewarded.reward, "reward_components": rewarded.components, "mask_sample": False}
        about: dict[str, Any] = {}
        if verdict is not None:
            about = {"outcome": verdict.outcome, "resolved": verdict.resolved, "evaluation_completed": True}
            about["reason"] = verdict.reason
        return JSONResponse({**given.model_dump(), "model_patch": wanted.patch, **answered, **about})

    async def aggregate_metrics(request: Request) -> Response:
        return JSONResponse(aggregate(read_body(AggregateBody, await request.body()).verify_responses))

    return [
        HttpRoute("POST", "/seed_session", answer_always({}), "NeMo Gym: begin a rollout; nothing is kept."),
        HttpRoute("POST", "/verify", verify, "NeMo Gym: reward a rollout.", VerifyBody),
        HttpRoute("POST", "/aggregate_metrics", aggregate_metrics, "NeMo Gym: means of rewards.", AggregateBody),
        HttpRoute("GET", "/reverify_mode", answer_always("stateless"), "NeMo Gym: a rollout may be verified again."),
    ]


def last_text(response: dict[str, Any]) -> str:
    """Return the text of a response's last message; "" if it has none."""
    items = response.get("output")
    for item in reversed(items if isinstance(items, list) else []):
        content = item.get("content") if isinstance(item, dict) and item.get("type", "message") == "message" else None
        if isinstance(content, str):
            return content
        if isinstance(content, list):
            return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def aggregate(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the means of the numbers in answers, by task and in all; masked answers are left out."""
    by_task: dict[str, list[dict[str, Any]]] = {}
    for each in answers:
        if not each.get("mask_sample"):
            by_task.setdefault(str(each.get("instance_id", each.get("_ng_task_index", ""))), []).append(each)
    groups = [{"task": name, **_means(group)} for name, group in by_task.items()]
    whole = _means([each for group in by_task.values() for each in group])
    return {"group_level_metrics": groups, "agent_metrics": whole, "key_metrics": whole}


def _means(answers: list[dict[str, Any]]) -> dict[str, float]:
    names = sorted({name for each in answers for name, value in each.items() if isinstance(value, int | float)})
    values = {
        name: [float(each[name]) for each in answers if isinstance(each.get(name), int | float)] for name in names
    }
    return {f"mean/{name}": statistics.fmean(found) for name, found in values.items() if not name.startswith("_")}
