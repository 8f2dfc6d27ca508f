"""SkyRL-gym: ``register(id="assay", entry_point="assay.rewards.skyrl:AssayEnv")``. Needs ``skyrl-gym``."""

from collections.abc import Mapping
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from assay.rewards.client import RewardClient


class AssayEnv(BaseTextEnv):  # type: ignore[misc]
    """An episode of one instance, whose only turn is an answer with a patch.

    ``extras`` has ``instance_id`` (or ``reward_spec.ground_truth`` is it), ``env_config`` fields of ``RewardClient``.
    """

    def __init__(self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        about, options = extras or {}, env_config or {}
        self._instance_id = str(about.get("instance_id") or about["reward_spec"]["ground_truth"])
        self._client = RewardClient(**{name: options[name] for name in RewardClient.__slots__ if name in options})
        self._metrics: dict[str, Any] = {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Evaluate the patch in an answer.

        Raises NoReward: nothing can be said about the patch; the sample has to be left out.
        """
        self.turns += 1
        found = self._client.ask(self._instance_id, action)
        self._metrics = {"resolved": float(bool(found.get("resolved")))}
        about = {name: found.get(name) for name in ("outcome", "reason", "components", "id")}
        return BaseTextEnvStepOutput(observations=[], reward=float(found["reward"]), done=True, metadata=about)

    def get_metrics(self) -> dict[str, Any]:
        return self._metrics
