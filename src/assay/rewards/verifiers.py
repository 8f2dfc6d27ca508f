"""verifiers: a taskset of a service's instances. Needs ``verifiers`` 0.4 or newer.

Its loader takes names of top-level modules, so a package of one's own exports it: ``__all__ = ["AssayTaskset"]``.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import verifiers.v1 as vf

from assay.rewards.client import RewardClient

if TYPE_CHECKING:
    import httpx

PROMPT = "Resolve this issue of {repo} (commit {commit}). Answer with a unified diff in a fenced block.\n\n{issue}"


class AssayTasksetConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The service, and the function that rewards."""

    url: str = ""
    """Address of the service; ``ASSAY_SERVICE`` if empty."""
    reward: str = ""
    """Name of a reward function; the service's own choice if empty."""


class AssayTaskData(vf.TaskData):  # type: ignore[misc]
    """One instance."""

    instance_id: str
    url: str = ""
    reward: str = ""


class AssayTask(vf.Task[AssayTaskData]):  # type: ignore[misc]
    """Rewards the patch in the last reply."""

    @vf.reward(weight=1.0)  # type: ignore[untyped-decorator]
    async def assay(self, trace: vf.Trace) -> float:
        """Return the service's reward; raises NoReward, an error of the rollout, where there is none."""
        client = RewardClient(self.data.url, reward=self.data.reward or None)
        found = await client.ask_async(self.data.instance_id, trace.last_reply)
        return float(found["reward"])


class AssayTaskset(vf.Taskset[AssayTask, AssayTasksetConfig]):  # type: ignore[misc]
    """All instances of a service."""

    def load(self) -> Iterator[AssayTask]:
        """Yield a task for each instance, with its issue as the prompt."""
        import httpx

        config = self.config
        service = RewardClient(config.url)
        with httpx.Client(base_url=service.address, headers=service.headers, timeout=60, trust_env=False) as client:
            for name in self._names(client):
                about = client.get(f"/v1/instances/{name}").raise_for_status().json()
                prompt = PROMPT.format(
                    repo=about["repo"], commit=about["base_commit"], issue=about["problem_statement"]
                )
                known = {"instance_id": name, "url": config.url, "reward": config.reward}
                yield AssayTask(AssayTaskData(id=name, name=name, prompt=prompt, **known), config.task)

    @staticmethod
    def _names(client: "httpx.Client") -> Iterator[str]:
        offset, total = 0, 1
        while offset < total:
            page = client.get("/v1/instances", params={"offset": offset, "limit": 1000}).raise_for_status().json()
            yield from (each["id"] for each in page["instances"])
            offset, total = offset + 1000, page["total"]


__all__ = ["AssayTask", "AssayTaskData", "AssayTaskset", "AssayTasksetConfig"]
