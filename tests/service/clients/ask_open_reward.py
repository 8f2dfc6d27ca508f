"""Asks a service as an environment of the Open Reward Standard; prints two rewards. Runs where ``openreward`` is."""

import asyncio
import json
import sys
from pathlib import Path

from openreward.api.environments.client import AsyncEnvironmentsAPI


async def rewards(url: str, token: str, gold: str) -> list[float]:
    """Return the rewards of the gold patch and of none."""
    found = []
    async with AsyncEnvironmentsAPI(url, token) as api:
        environment = api.get("assay", base_url=url)
        assert await environment.list_splits() == ["train"]
        assert await environment.num_tasks("train") == 3
        tasks = await environment.list_tasks("train")
        assert [tool.name for tool in await environment.list_tools()] == ["submit_patch"]
        for patch in (gold, ""):
            async with environment.session(task=tasks[0]) as session:
                assert "add subtracts" in (await session.get_prompt())[0].text
                output = await session.call_tool("submit_patch", {"patch": patch})
                assert output.finished
                found.append(output.reward)
    return found


sys.stdout.write(json.dumps(asyncio.run(rewards(sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_text()))))
