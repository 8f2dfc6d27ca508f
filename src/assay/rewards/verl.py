"""verl: ``custom_reward_function.path=pkg://assay.rewards.verl``, ``name=compute_score``."""

from collections.abc import Mapping
from typing import Any

from assay.rewards.client import NoReward, RewardClient


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str | Mapping[str, Any],
    extra_info: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Score a model's answer for verl's reward managers.

    Args:
        data_source: not looked at.
        solution_str: the answer, with a patch in it.
        ground_truth: the instance's id, or an object with ``instance_id``; else ``extra_info`` has it.
        extra_info: not looked at otherwise.
        options: ``reward_kwargs``: fields of ``RewardClient``, and ``when_failed``, the score of a sample without a
            reward. Others, verl's own, are not looked at.

    Raises:
        NoReward: nothing can be said about the patch, and there is no ``when_failed``.
    """
    del data_source
    known = {name: options[name] for name in RewardClient.__slots__ if name in options}
    name = _instance_id(ground_truth) or _instance_id(extra_info or {})
    try:
        found = await RewardClient(**known).ask_async(name, solution_str)
    except NoReward as failure:
        if "when_failed" not in options:
            raise
        return {"score": options["when_failed"], "outcome": "no_reward", "reason": str(failure)}
    return {"score": found["reward"], "outcome": found.get("outcome", ""), "reason": found.get("reason", "")}


def _instance_id(found: str | Mapping[str, Any]) -> str:
    return found if isinstance(found, str) else str(found.get("instance_id", ""))
